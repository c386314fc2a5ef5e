/* SPDX-License-Identifier: Apache-2.0 */
/* bbox.c - images changed together with the boxes drawn on them.
 *
 * The row is an image and a float32 matrix of boxes: x, y, width, height, and what else belongs to a box. Boxes that a
 * crop leaves outside are dropped, those it cuts are cut. */
#include "data/transform.h"

typedef struct pair {
    sp_image image;
    sp_tensor *copy;  /* of the image, if one was needed */
    sp_tensor *boxes; /* own copy, to be changed */
    int n, step;
    float *at;
} pair;

static sp_status check_boxes(const char *who, const pair *p)
{
    for (int i = 0; i < p->n; i++) {
        const float *b = p->at + (int64_t)i * p->step;
        SP_CHECK(b[0] + b[2] <= (float)p->image.w && b[1] + b[3] <= (float)p->image.h && b[0] >= 0 && b[1] >= 0,
                 SP_RUNTIME, "BoundingBox: %s: %s: box %d (x %g, y %g, width %g, height %g), image height %d, width %d",
                 b[0] < 0 || b[1] < 0 ? "the coordinates of the bounding boxes has negative value"
                                      : "bounding boxes is out of bounds of the image",
                 who, i, b[0], b[1], b[2], b[3], p->image.h, p->image.w);
    }
    return SP_OK;
}

static void pair_close(pair *p)
{
    sp_tensor_release(p->copy);
    sp_tensor_release(p->boxes);
}

static sp_status pair_open(const sp_transform_call *c, pair *p)
{
    const char *who = c->t->op->name;
    char text[SP_SHAPE_TEXT];
    memset(p, 0, sizeof *p);
    SP_CHECK(c->n_in == 2, SP_RUNTIME,
             "BoundingBox: invalid input, size of input data should be 2 (including image and bounding box), "
             "but got: %d (%s)",
             c->n_in, who);
    const sp_tensor *boxes = c->in[1];
    SP_CHECK(boxes->rank == 2 && boxes->dims[1] >= 4 && boxes->dims[0] < INT32_MAX && boxes->dims[1] < 65536,
             SP_RUNTIME,
             "BoundingBox: bounding boxes should be have at least 4 features: %s takes a matrix, but got shape %s", who,
             sp__shape_text(boxes->rank, boxes->dims, text));
    SP_CHECK(boxes->dtype == SP_DTYPE_F32, SP_RUNTIME, "%s: the boxes must be float32, but got %s", who,
             sp_dtype_name((sp_dtype)boxes->dtype));
    SP_TRY(sp__image_view(who, c->in[0], &p->image, &p->copy));
    sp_status status = sp_tensor_copy(boxes, &p->boxes);
    if (status == SP_OK) {
        p->n = (int)boxes->dims[0];
        p->step = (int)boxes->dims[1];
        p->at = (float *)(void *)p->boxes->data;
        status = check_boxes(who, p);
    }
    if (status != SP_OK) pair_close(p);
    return status;
}

/* Hand over the image, whose reference is taken, and the boxes. */
static sp_status pair_give(sp_transform_call *c, pair *p, sp_tensor *image)
{
    const sp_status status = sp__give(c, image);
    if (status != SP_OK) return status;
    sp_tensor *boxes = p->boxes;
    p->boxes = NULL;
    return sp__give(c, boxes);
}

static void boxes_scale(pair *p, int h, int w)
{
    const float fx = (float)((double)w / p->image.w), fy = (float)((double)h / p->image.h);
    for (int i = 0; i < p->n; i++) {
        float *b = p->at + (int64_t)i * p->step;
        b[0] *= fx, b[1] *= fy, b[2] *= fx, b[3] *= fy;
    }
}

/* Into the coordinates of a crop. */
static sp_status boxes_crop(pair *p, sp_rect r)
{
    int kept = 0;
    const float x0 = (float)r.x, y0 = (float)r.y, x1 = (float)(r.x + r.w), y1 = (float)(r.y + r.h);
    for (int i = 0; i < p->n; i++) {
        const float *b = p->at + (int64_t)i * p->step;
        const float left = b[0], top = b[1], right = b[0] + b[2], bottom = b[1] + b[3];
        if (left > x1 || top > y1 || right < x0 || bottom < y0) continue;
        float *to = p->at + (int64_t)kept++ * p->step;
        memmove(to, b, (size_t)p->step * sizeof *to);
        to[0] = fmaxf(left, x0) - x0;
        to[1] = fmaxf(top, y0) - y0;
        to[2] = fminf(right, x1) - x0 - to[0];
        to[3] = fminf(bottom, y1) - y0 - to[1];
    }
    if (kept == p->n) return SP_OK;
    sp_tensor *fewer = NULL;
    SP_TRY(sp_tensor_create_from(SP_DTYPE_F32, 2, (int64_t[]){kept, p->step}, p->at, &fewer));
    sp_tensor_release(p->boxes);
    p->boxes = fewer;
    p->n = kept;
    p->at = (float *)(void *)fewer->data;
    return SP_OK;
}

/* --- flips -------------------------------------------------------------------------------------------------------- */

static sp_status flip(sp_transform_call *c, bool horizontal)
{
    pair p;
    sp_image out = {.owner = NULL};
    SP_TRY(pair_open(c, &p));
    sp_status status = SP_OK;
    if (sp__draw_unit(c->stream) < sp__arg(c, 0, 0)) {
        for (int i = 0; i < p.n; i++) {
            float *b = p.at + (int64_t)i * p.step;
            if (horizontal) b[0] = (float)p.image.w - b[0] - b[2];
            else b[1] = (float)p.image.h - b[1] - b[3];
        }
        status = sp__image_flip(&p.image, horizontal, &out);
    } else {
        out.owner = sp_tensor_retain(c->in[0]);
    }
    if (status == SP_OK) status = pair_give(c, &p, out.owner);
    pair_close(&p);
    return status;
}
static sp_status flip_h_run(sp_transform_call *c) { return flip(c, true); }
static sp_status flip_v_run(sp_transform_call *c) { return flip(c, false); }

#define PROB {"prob", 1, 1, 0, 1, 1, {0.5}}
const sp_transform_op sp_transform_RandomHorizontalFlipWithBBox = {
    .name = "RandomHorizontalFlipWithBBox", .random = true, .whole_row = true, .attrs = {PROB}, .run = flip_h_run};
const sp_transform_op sp_transform_RandomVerticalFlipWithBBox = {
    .name = "RandomVerticalFlipWithBBox", .random = true, .whole_row = true, .attrs = {PROB}, .run = flip_v_run};

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static sp_status resize_pair(sp_transform_call *c, sp_inter mode)
{
    pair p;
    sp_image out = {.owner = NULL};
    SP_TRY(pair_open(c, &p));
    int h = sp__arg_int(c, 0, 0), w = h;
    if (sp__arg_n(c, 0) == 2) w = sp__arg_int(c, 0, 1);
    else if (p.image.h < p.image.w) w = sp__follow(p.image.w, p.image.h, h);
    else h = sp__follow(p.image.h, p.image.w, w);
    boxes_scale(&p, h, w);
    sp_status status = sp__image_resize(&p.image, h, w, mode, &out);
    if (status == SP_OK) status = pair_give(c, &p, out.owner);
    else sp_tensor_release(out.owner);
    pair_close(&p);
    return status;
}
static sp_status resize_run(sp_transform_call *c) { return resize_pair(c, (sp_inter)sp__arg_int(c, 1, 0)); }
static sp_status random_resize_run(sp_transform_call *c)
{
    static const sp_inter modes[] = {SP_INTER_LINEAR, SP_INTER_NEAREST, SP_INTER_CUBIC, SP_INTER_AREA};
    return resize_pair(c, modes[sp__draw_below(c->stream, 4)]);
}

#define SIZE {"size", 1, 2, 1, INT32_MAX, SP_NEED, {0}}
#define INTER                                                                                                          \
    {                                                                                                                  \
        "interpolation", 1, 1, 0, 5, 1, { SP_INTER_LINEAR }                                                            \
    }
const sp_transform_op sp_transform_ResizeWithBBox = {
    .name = "ResizeWithBBox", .whole_row = true, .attrs = {SIZE, INTER}, .run = resize_run};
const sp_transform_op sp_transform_RandomResizeWithBBox = {
    .name = "RandomResizeWithBBox", .random = true, .whole_row = true, .attrs = {SIZE}, .run = random_resize_run};

/* --- crops -------------------------------------------------------------------------------------------------------- */

enum { CROP_SIZE, CROP_PADDING, CROP_IF_NEEDED, CROP_FILL, CROP_MODE };
static sp_status crop_run(sp_transform_call *c)
{
    pair p;
    sp_image padded = {.owner = NULL};
    sp_tensor *out = NULL;
    SP_TRY(pair_open(c, &p));
    const int h = sp__arg_int(c, CROP_SIZE, 0), w = (int)sp__arg_or_first(c, CROP_SIZE, 1),
              n = sp__arg_n(c, CROP_PADDING);
    int pad[4]; /* left, top, right, bottom */
    double fill[4];
    sp__fill_of(c, CROP_FILL, fill);
    for (int i = 0; i < 4; i++) pad[i] = sp__arg_int(c, CROP_PADDING, n == 4 ? i : n == 2 ? i / 2 : 0);
    if (sp__arg_int(c, CROP_IF_NEEDED, 0)) {
        const int less_h = h - (p.image.h + pad[1] + pad[3]), less_w = w - (p.image.w + pad[0] + pad[2]);
        if (less_h > 0) pad[1] += less_h, pad[3] += less_h;
        if (less_w > 0) pad[0] += less_w, pad[2] += less_w;
    }
    sp_status status;
    SP_GOTO(done, sp__image_pad(&p.image, pad[1], pad[3], pad[0], pad[2], (sp_border)sp__arg_int(c, CROP_MODE, 0), fill,
                                &padded));
    if (h > padded.h || w > padded.w) {
        status = sp__fail(
            SP_RUNTIME,
            "RandomCropWithBBox: invalid crop size, crop size is bigger than the image dimensions: (%d, %d) of "
            "an image of (%d, %d)",
            h, w, padded.h, padded.w);
        goto done;
    }
    for (int i = 0; i < p.n; i++) {
        p.at[(int64_t)i * p.step] += (float)pad[0];
        p.at[(int64_t)i * p.step + 1] += (float)pad[1];
    }
    const int y = (int)sp__draw_below(c->stream, padded.h - h + 1),
              x = (int)sp__draw_below(c->stream, padded.w - w + 1);
    SP_GOTO(done, boxes_crop(&p, (sp_rect){y, x, h, w}));
    SP_GOTO(done, sp__image_crop(&padded, y, x, h, w, &out));
    status = pair_give(c, &p, out);
done:
    sp_tensor_release(padded.owner);
    pair_close(&p);
    return status;
}

const sp_transform_op sp_transform_RandomCropWithBBox = {.name = "RandomCropWithBBox",
                                                         .random = true,
                                                         .whole_row = true,
                                                         .attrs = {SIZE,
                                                                   {"padding", 1, 4, 0, INT32_MAX / 4, 1, {0}},
                                                                   {"pad_if_needed", 1, 1, 0, 1, 1, {0}},
                                                                   {"fill_value", 1, 3, 0, 255, 1, {0}},
                                                                   {"padding_mode", 1, 1, 0, 3, 1, {0}}},
                                                         .run = crop_run};

/* A rectangle of the image as an image of its own, which borrows the memory. */
static sp_image part_of(const sp_image *m, sp_rect r)
{
    sp_image part = *m;
    part.data = m->data + r.y * m->stride + (int64_t)r.x * m->pixel_bytes;
    part.h = r.h;
    part.w = r.w;
    return part;
}

enum { RRC_SIZE, RRC_SCALE, RRC_RATIO, RRC_INTER, RRC_ATTEMPTS };
static sp_status resized_crop_run(sp_transform_call *c)
{
    pair p;
    sp_image out = {.owner = NULL};
    sp_tensor *view = NULL;
    SP_TRY(pair_open(c, &p));
    const int h = sp__arg_int(c, RRC_SIZE, 0), w = (int)sp__arg_or_first(c, RRC_SIZE, 1);
    const sp_rect r = sp__draw_resized_crop(c->stream, p.image.h, p.image.w, c->t->attr[RRC_SCALE].v,
                                            c->t->attr[RRC_RATIO].v, sp__arg_int(c, RRC_ATTEMPTS, 0));
    sp_status status;
    SP_GOTO(done, boxes_crop(&p, r));
    SP_GOTO(done, sp__image_crop(&p.image, r.y, r.x, r.h, r.w, &view));
    sp_image part = part_of(&p.image, r);
    part.owner = view;
    p.image = part; /* what the boxes belong to now */
    boxes_scale(&p, h, w);
    SP_GOTO(done, sp__image_resize(&part, h, w, (sp_inter)sp__arg_int(c, RRC_INTER, 0), &out));
    status = pair_give(c, &p, out.owner);
    out.owner = NULL;
done:
    sp_tensor_release(out.owner);
    sp_tensor_release(view);
    pair_close(&p);
    return status;
}

const sp_transform_op sp_transform_RandomResizedCropWithBBox = {
    .name = "RandomResizedCropWithBBox",
    .random = true,
    .whole_row = true,
    .attrs = {SIZE,
              {"scale", 2, 2, 0, 1e9, 2, {0.08, 1.0}},
              {"ratio", 2, 2, 1e-9, 1e9, 2, {3. / 4., 4. / 3.}},
              INTER,
              {"max_attempts", 1, 1, 1, INT32_MAX, 1, {10}}},
    .run = resized_crop_run};

/* --- what is in the box --------------------------------------------------------------------------------------------- */

/* The child's result for one box, resized to fit, put in its place. */
static sp_status augment_box(sp_transform_call *c, sp_image *whole, sp_rect r)
{
    sp_tensor *view = NULL, *made = NULL, *copy = NULL;
    sp_image result, fit = {.owner = NULL};
    sp_status status;
    SP_TRY(sp__image_crop(whole, r.y, r.x, r.h, r.w, &view));
    SP_GOTO(done, sp_transform_run(c->t->children[0], c->stream, 1, &view, 1, &made, NULL));
    SP_GOTO(done, sp__image_view("BoundingBoxAugment", made, &result, &copy));
    if (result.c != whole->c || result.dtype != whole->dtype) {
        status = sp__fail(SP_RUNTIME, "BoundingBoxAugment: %s changes dtype or channels", c->t->children[0]->op->name);
        goto done;
    }
    if (result.h != r.h || result.w != r.w) {
        SP_GOTO(done, sp__image_resize(&result, r.h, r.w, SP_INTER_LINEAR, &fit));
        result = fit;
    }
    const sp_image place = part_of(whole, r);
    for (int y = 0; y < r.h; y++)
        memmove(sp__image_row(&place, y), sp__image_row(&result, y), (size_t)r.w * (size_t)whole->pixel_bytes);
done:
    sp_tensor_release(fit.owner);
    sp_tensor_release(copy);
    sp_tensor_release(made);
    sp_tensor_release(view);
    return status;
}

static sp_status augment_run(sp_transform_call *c)
{
    pair p;
    sp_image out = {.owner = NULL};
    SP_TRY(pair_open(c, &p));
    sp_status status = sp__image_copy(&p.image, &out);
    for (int i = 0; i < p.n && status == SP_OK; i++) {
        const float *b = p.at + (int64_t)i * p.step;
        const sp_rect r = {(int)b[1], (int)b[0], (int)b[3], (int)b[2]};
        if (sp__draw_unit(c->stream) < sp__arg(c, 0, 0) && r.h > 0 && r.w > 0) status = augment_box(c, &out, r);
    }
    if (status == SP_OK) status = pair_give(c, &p, out.owner);
    else sp_tensor_release(out.owner);
    pair_close(&p);
    return status;
}

static sp_status augment_check(const sp_transform *t)
{
    SP_CHECK(t->n_children == 1, SP_VALUE, "BoundingBoxAugment: one transform is wanted, but got %d", t->n_children);
    return SP_OK;
}

const sp_transform_op sp_transform_BoundingBoxAugment = {.name = "BoundingBoxAugment",
                                                         .random = true,
                                                         .compound = true,
                                                         .whole_row = true,
                                                         .attrs = {{"ratio", 1, 1, 0, 1, 1, {0.3}}},
                                                         .check = augment_check,
                                                         .run = augment_run};
