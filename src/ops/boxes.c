/* SPDX-License-Identifier: Apache-2.0 */
/* boxes.c - rectangles (x1, y1, x2, y2) of detection networks: overlap, suppression, coding, validity. Right and bottom
 * edges belong to a box, so its width is x2 - x1 + 1. */
#include <stdlib.h>

#include "ir/refuse.h"
#include "ops/nn.h"

static sp_status check_boxes(const sp_call *c, int i, int64_t width)
{
    char text[SP_SHAPE_TEXT];
    SP_CHECK(c->in[i]->rank == 2 && c->in[i]->dims[1] == width, SP_VALUE, "%s has shape %s, it must be [n, %lld]",
             sp__op_inputs(c->op)->names[i], sp__shape_text(c->in[i]->rank, c->in[i]->dims, text), (long long)width);
    SP_CHECK(c->in[i]->dtype == c->in[0]->dtype, SP_TYPE, "%s has dtype %s, it must be %s",
             sp__op_inputs(c->op)->names[i], sp_dtype_name((sp_dtype)c->in[i]->dtype),
             sp_dtype_name((sp_dtype)c->in[0]->dtype));
    return SP_OK;
}
#define TABLE(name) {SP_EACH_FLOAT(SP_KERNEL_ROW, name, )}
typedef void (*boxes_fn)(const sp_call *c);
#define KERNEL(name)                                                                                                   \
    static sp_status name##_reference(const sp_call *c)                                                                \
    {                                                                                                                  \
        static const boxes_fn fns[SP_DTYPE_COUNT] = TABLE(name);                                                       \
        fns[c->in[0]->dtype](c);                                                                                       \
        return SP_OK;                                                                                                  \
    }

/* --- overlap ----------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(iou_attr_table, sp_iou_attrs, (TEXT, mode, "iou"));
static sp_status iou_infer(const sp_call *c, sp_meta *out)
{
    const char *mode = ((const sp_iou_attrs *)c->attrs)->mode;
    SP_CHECK(strcmp(mode, "iou") == 0 || strcmp(mode, "iof") == 0, SP_VALUE, "mode is '%s', it must be 'iou' or 'iof'",
             mode);
    SP_TRY(check_boxes(c, 0, 4));
    SP_TRY(check_boxes(c, 1, 4));
    *out = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype, .rank = 2, .dims = {c->in[1]->dims[0], c->in[0]->dims[0]}};
    return SP_OK;
}
#define IOU(D, T, C, LOAD, STORE, ...)                                                                                 \
    static C least_##D(C a, C b) { return a < b ? a : b; }                                                             \
    static C most_##D(C a, C b) { return a > b ? a : b; }                                                              \
    static void iou_##D(const sp_call *c)                                                                              \
    {                                                                                                                  \
        const T *a = (const T *)(const void *)c->in[0]->data, *g = (const T *)(const void *)c->in[1]->data;            \
        const bool part = strcmp(((const sp_iou_attrs *)c->attrs)->mode, "iof") == 0;                                  \
        const int64_t n = c->in[0]->dims[0];                                                                           \
        for (int64_t i = 0; i < c->in[1]->dims[0]; i++)                                                                \
            for (int64_t k = 0; k < n; k++) {                                                                          \
                const T *p = a + 4 * k, *q = g + 4 * i;                                                                \
                const C w = most_##D(least_##D(LOAD(p[2]), LOAD(q[2])) - most_##D(LOAD(p[0]), LOAD(q[0])) + 1, 0);     \
                const C h = most_##D(least_##D(LOAD(p[3]), LOAD(q[3])) - most_##D(LOAD(p[1]), LOAD(q[1])) + 1, 0);     \
                const C mine = (LOAD(p[2]) - LOAD(p[0]) + 1) * (LOAD(p[3]) - LOAD(p[1]) + 1);                          \
                const C theirs = (LOAD(q[2]) - LOAD(q[0]) + 1) * (LOAD(q[3]) - LOAD(q[1]) + 1);                        \
                ((T *)(void *)c->out[0]->data)[i * n + k] = STORE(w * h / (part ? theirs : mine + theirs - w * h));    \
            }                                                                                                          \
    }
SP_EACH_FLOAT(IOU, , )
KERNEL(iou)
const sp_op sp_op_iou = {
    .name = "iou",
    .inputs = "anchor_boxes, gt_boxes",
    SP_ATTRS(iou_attr_table, sp_iou_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = iou_infer,
    .reference = iou_reference,
    .no_vjp = "used to choose boxes; zero, as in MindSpore",
    .mindir = "IOU",
    .python = "ops.iou(anchor_boxes, gt_boxes, mode='iou'); ops.IOU(mode='iou')(anchor_boxes, gt_boxes)",
    .doc = "Common area of boxes over their union (iou), or over the second box (iof), for all pairs.",
    .samples = "[3,4]>0 [2,4]>0; [3,4]>0 [2,4]>0 mode=iof",
};

/* --- suppression ------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(nms_attr_table, sp_nms_with_mask_attrs, (FLOAT, iou_threshold, 0.5));
static sp_status nms_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(check_boxes(c, 0, 5));
    const int64_t n = c->in[0]->dims[0];
    sp__meta_of(c->in[0], &out[0]);
    out[1] = (sp_meta){.dtype = SP_DTYPE_I32, .rank = 1, .dims = {n}};
    out[2] = (sp_meta){.dtype = SP_DTYPE_BOOL, .rank = 1, .dims = {n}};
    return SP_OK;
}
/* Scores and places, best first; equal scores keep their order. */
typedef struct {
    double score;
    int64_t at;
} scored;
static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score ? 1 : (x->at > y->at) - (x->at < y->at);
}
static size_t nms_workspace(const sp_call *c)
{
    return c->in[0]->rank ? (size_t)c->in[0]->dims[0] * sizeof(scored) : 0;
}
#define NMS(D, T, C, LOAD, STORE, ...)                                                                                 \
    static void nms_##D(const sp_call *c)                                                                              \
    {                                                                                                                  \
        const T *x = (const T *)(const void *)c->in[0]->data;                                                          \
        T *boxes = (T *)(void *)c->out[0]->data;                                                                       \
        int32_t *index = (int32_t *)(void *)c->out[1]->data;                                                           \
        uint8_t *keep = (uint8_t *)c->out[2]->data;                                                                    \
        const int64_t n = c->in[0]->dims[0];                                                                           \
        const C threshold = (C)((const sp_nms_with_mask_attrs *)c->attrs)->iou_threshold;                              \
        scored *order = c->work;                                                                                       \
        for (int64_t i = 0; i < n; i++) order[i] = (scored){(double)LOAD(x[5 * i + 4]), i};                            \
        if (n) qsort(order, (size_t)n, sizeof *order, by_score);                                                       \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            memcpy(boxes + 5 * i, x + 5 * order[i].at, 5 * sizeof(T));                                                 \
            index[i] = (int32_t)i;                                                                                     \
            keep[i] = 1;                                                                                               \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                                                \
            for (int64_t k = i + 1; keep[i] && k < n; k++) {                                                           \
                const T *p = boxes + 5 * i, *q = boxes + 5 * k;                                                        \
                const C w = most_##D(least_##D(LOAD(p[2]), LOAD(q[2])) - most_##D(LOAD(p[0]), LOAD(q[0])), 0);         \
                const C h = most_##D(least_##D(LOAD(p[3]), LOAD(q[3])) - most_##D(LOAD(p[1]), LOAD(q[1])), 0);         \
                const C mine = (LOAD(p[2]) - LOAD(p[0])) * (LOAD(p[3]) - LOAD(p[1]));                                  \
                const C theirs = (LOAD(q[2]) - LOAD(q[0])) * (LOAD(q[3]) - LOAD(q[1]));                                \
                if (w * h > threshold * (mine + theirs - w * h)) keep[k] = 0;                                          \
            }                                                                                                          \
    }
SP_EACH_FLOAT(NMS, , )
KERNEL(nms)
const sp_op sp_op_nms_with_mask = {
    .name = "nms_with_mask",
    .inputs = "bboxes",
    .n_out = 3,
    SP_ATTRS(nms_attr_table, sp_nms_with_mask_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = nms_infer,
    .reference = nms_reference,
    .workspace = nms_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "it chooses boxes",
    .mindir = "NMSWithMask",
    .python = "ops.NMSWithMask(iou_threshold=0.5)(bboxes)",
    .doc =
        "Boxes with scores, best first, their places in that order, and which remain when those that overlap a better one "
        "are dropped.",
    .samples = "[6,5]>0; [4,5]>0 iou_threshold=0.1",
};

/* --- coding ------------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(encode_attr_table, sp_bounding_box_attrs, (FLOATS, means, 0.0, 0.0, 0.0, 0.0),
              (FLOATS, stds, 1.0, 1.0, 1.0, 1.0));
SP_ATTR_TABLE(decode_attr_table, sp_bounding_box_attrs, (FLOATS, means, 0.0, 0.0, 0.0, 0.0),
              (FLOATS, stds, 1.0, 1.0, 1.0, 1.0), (INTS_NEEDED, max_shape), (FLOAT, wh_ratio_clip, 0.016));
static sp_status code_infer(const sp_call *c, sp_meta *out)
{
    const sp_bounding_box_attrs *a = c->attrs;
    SP_TRY(check_boxes(c, 0, 4));
    SP_TRY(check_boxes(c, 1, 4));
    SP_CHECK(c->in[0]->dims[0] == c->in[1]->dims[0], SP_VALUE, "there are %lld and %lld boxes, they must be as many",
             (long long)c->in[0]->dims[0], (long long)c->in[1]->dims[0]);
    SP_CHECK(a->means.n == 4 && a->stds.n == 4, SP_VALUE, "means and stds must have 4 elements, they have %d and %d",
             a->means.n, a->stds.n);
    SP_CHECK(c->op != &sp_op_bounding_box_decode || a->max_shape.n == 2, SP_VALUE,
             "max_shape has %d elements, it must have 2", a->max_shape.n);
    return sp__infer_same(c, out);
}
#define CODE(D, T, C, LOAD, STORE, EXP, LOG)                                                                           \
    static void encode_##D(const sp_call *c)                                                                           \
    {                                                                                                                  \
        const sp_bounding_box_attrs *at = c->attrs;                                                                    \
        for (int64_t i = 0; i < c->in[0]->dims[0]; i++) {                                                              \
            const T *a = (const T *)(const void *)c->in[0]->data + 4 * i,                                              \
                    *g = (const T *)(const void *)c->in[1]->data + 4 * i;                                              \
            C d[4];                                                                                                    \
            for (int k = 0; k < 2; k++) {                                                                              \
                const C size = LOAD(a[k + 2]) - LOAD(a[k]) + 1, to = LOAD(g[k + 2]) - LOAD(g[k]) + 1;                  \
                d[k] = ((LOAD(g[k]) + LOAD(g[k + 2])) / 2 - (LOAD(a[k]) + LOAD(a[k + 2])) / 2) / size;                 \
                d[k + 2] = LOG(to / size);                                                                             \
            }                                                                                                          \
            for (int k = 0; k < 4; k++)                                                                                \
                ((T *)(void *)c->out[0]->data)[4 * i + k] = STORE((d[k] - (C)at->means.v[k]) / (C)at->stds.v[k]);      \
        }                                                                                                              \
    }                                                                                                                  \
    static void decode_##D(const sp_call *c)                                                                           \
    {                                                                                                                  \
        const sp_bounding_box_attrs *at = c->attrs;                                                                    \
        const C bound = (C)fabs(log(at->wh_ratio_clip));                                                               \
        for (int64_t i = 0; i < c->in[0]->dims[0]; i++) {                                                              \
            const T *a = (const T *)(const void *)c->in[0]->data + 4 * i,                                              \
                    *d = (const T *)(const void *)c->in[1]->data + 4 * i;                                              \
            for (int k = 0; k < 2; k++) {                                                                              \
                const C shift = LOAD(d[k]) * (C)at->stds.v[k] + (C)at->means.v[k];                                     \
                C grow = LOAD(d[k + 2]) * (C)at->stds.v[k + 2] + (C)at->means.v[k + 2];                                \
                grow = grow < -bound ? -bound : grow > bound ? bound : grow;                                           \
                const C size = LOAD(a[k + 2]) - LOAD(a[k]) + 1, half = size * EXP(grow) / 2;                           \
                const C middle = (LOAD(a[k]) + LOAD(a[k + 2])) / 2 + size * shift, last = (C)at->max_shape.v[1 - k];   \
                const C low = middle - half + (C)0.5, high = middle + half - (C)0.5;                                   \
                T *out = (T *)(void *)c->out[0]->data + 4 * i;                                                         \
                out[k] = STORE(low < 0 ? 0 : low > last ? last : low);                                                 \
                out[k + 2] = STORE(high < 0 ? 0 : high > last ? last : high);                                          \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT32(CODE, expf, logf)
SP_EACH_DOUBLE(CODE, exp, log)
KERNEL(encode)
KERNEL(decode)
const sp_op sp_op_bounding_box_encode = {
    .name = "bounding_box_encode",
    .inputs = "anchor_box, groundtruth_box",
    SP_ATTRS(encode_attr_table, sp_bounding_box_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = code_infer,
    .reference = encode_reference,
    .vjp = sp__vjp_refuse,
    .no_vjp = "it prepares targets, which are constants of training",
    .mindir = "BoundingBoxEncode",
    .python =
        "ops.bounding_box_encode(anchor_box, groundtruth_box, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0)); "
        "ops.BoundingBoxEncode(means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0))(anchor_box, groundtruth_box)",
    .doc = "Shifts and growths that turn anchors into boxes, normalised by means and stds.",
    .samples = "[3,4](0,0.5) [3,4](0,0.5); [3,4](0,0.5) [3,4](0,0.5) means=(0.1,0.2,0.3,0.4) stds=(0.5,0.5,0.5,0.5)",
};
const sp_op sp_op_bounding_box_decode = {
    .name = "bounding_box_decode",
    .inputs = "anchor_box, deltas",
    SP_ATTRS(decode_attr_table, sp_bounding_box_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = code_infer,
    .reference = decode_reference,
    .vjp = sp__vjp_refuse,
    .no_vjp = "it prepares proposals, which are constants of training",
    .mindir = "BoundingBoxDecode",
    .python =
        "ops.bounding_box_decode(anchor_box, deltas, max_shape, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0), "
        "wh_ratio_clip=0.016); ops.BoundingBoxDecode(max_shape, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0), "
        "wh_ratio_clip=0.016)(anchor_box, deltas)",
    .doc = "Anchors shifted and grown by deltas, kept inside an image of max_shape (height, width).",
    .samples = "[3,4](0,4) [3,4] max_shape=(20,30)",
};

/* img_metas: height, width, ratio; a box is valid when it lies inside height * ratio and width * ratio. */
static sp_status valid_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(check_boxes(c, 0, 4));
    SP_CHECK(c->in[1]->rank == 1 && c->in[1]->dims[0] == 3, SP_VALUE,
             "img_metas must be a vector of height, width and ratio");
    *out = (sp_meta){.dtype = SP_DTYPE_BOOL, .rank = 1, .dims = {c->in[0]->dims[0]}};
    return SP_OK;
}
#define VALID(D, T, C, LOAD, STORE, ...)                                                                               \
    static void valid_##D(const sp_call *c)                                                                            \
    {                                                                                                                  \
        const T *m = (const T *)(const void *)c->in[1]->data;                                                          \
        const C height = LOAD(m[0]) * LOAD(m[2]), width = LOAD(m[1]) * LOAD(m[2]);                                     \
        for (int64_t i = 0; i < c->in[0]->dims[0]; i++) {                                                              \
            const T *b = (const T *)(const void *)c->in[0]->data + 4 * i;                                              \
            ((uint8_t *)c->out[0]->data)[i] =                                                                          \
                LOAD(b[0]) >= 0 && LOAD(b[1]) >= 0 && LOAD(b[2]) <= width - 1 && LOAD(b[3]) <= height - 1;             \
        }                                                                                                              \
    }
SP_EACH_FLOAT(VALID, , )
KERNEL(valid)
const sp_op sp_op_check_valid = {
    .name = "check_valid",
    .inputs = "bboxes, img_metas",
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS,
    .infer = valid_infer,
    .reference = valid_reference,
    .no_vjp = "bool result",
    .mindir = "CheckValid",
    .python = "ops.check_valid(bboxes, img_metas); ops.CheckValid()(bboxes, img_metas)",
    .doc = "Whether boxes lie inside an image of height * ratio and width * ratio.",
    .samples = "[3,4] [3]>0",
};
