/* SPDX-License-Identifier: Apache-2.0 */
/* mix.c - batches whose images are mixed with each other: MixUpBatch and CutMixBatch.
 *
 * The row is a batch of images (uint8 or float32, four dimensions) and their labels in one-hot form; labels come out as
 * float32. */
#include "data/transform.h"

typedef struct batch {
    sp_tensor *images, *labels; /* dense inputs */
    sp_tensor *out_images, *out_labels;
    int64_t n, per_image, per_label; /* elements */
    int *partner;
} batch;

static void batch_close(batch *b)
{
    sp_tensor_release(b->images);
    sp_tensor_release(b->labels);
    sp_tensor_release(b->out_images);
    sp_tensor_release(b->out_labels);
    sp__free(b->partner);
}

static sp_status check_batch(const sp_transform_call *c)
{
    const char *who = c->t->op->name;
    char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
    SP_CHECK(c->n_in == 2, SP_RUNTIME, "%s: two columns are wanted, images and labels, but got %d", who, c->n_in);
    const sp_tensor *x = c->in[0], *y = c->in[1];
    SP_CHECK(
        x->rank == 4 && x->dims[0] > 0 && x->dims[0] < INT32_MAX && x->count > 0, SP_RUNTIME,
        "%s: rank of image shape should be: 4, make sure image shape are <H,W,C> or <C,H,W> and batched before calling it, but got "
        "shape %s",
        who, sp__shape_text(x->rank, x->dims, a));
    SP_CHECK(
        (y->rank == 2 || y->rank == 3) && y->dims[0] == x->dims[0], SP_RUNTIME,
        "%s: labels must be a batch in one-hot form, of shape (N, classes) or (N, rows, classes), but got shape %s "
        "for images of shape %s",
        who, sp__shape_text(y->rank, y->dims, b), sp__shape_text(x->rank, x->dims, a));
    SP_CHECK(x->dtype == SP_DTYPE_U8 || x->dtype == SP_DTYPE_F32, SP_RUNTIME,
             "%s: images must be uint8 or float32, but got %s", who, sp_dtype_name((sp_dtype)x->dtype));
    return SP_OK;
}

static sp_status batch_open(sp_transform_call *c, batch *b)
{
    memset(b, 0, sizeof *b);
    SP_TRY(check_batch(c));
    sp_status status;
    SP_GOTO(failed, sp_tensor_contiguous(c->in[0], &b->images));
    SP_GOTO(failed, sp_tensor_create(SP_DTYPE_F32, c->in[1]->rank, c->in[1]->dims, &b->labels));
    SP_GOTO(failed, sp_tensor_assign(b->labels, c->in[1]));
    SP_GOTO(failed, sp_tensor_copy(b->images, &b->out_images));
    SP_GOTO(failed, sp_tensor_copy(b->labels, &b->out_labels));
    b->n = b->images->dims[0];
    b->per_image = b->images->count / b->n;
    b->per_label = b->labels->count / b->n;
    b->partner = sp__alloc((size_t)b->n * sizeof *b->partner);
    if (!b->partner) {
        status = SP_NOMEM;
        goto failed;
    }
    sp__draw_order(c->stream, (int)b->n, b->partner);
    return SP_OK;
failed:
    batch_close(b);
    return status;
}

static sp_status batch_give(sp_transform_call *c, batch *b)
{
    sp_tensor *x = b->out_images, *y = b->out_labels;
    b->out_images = b->out_labels = NULL;
    const sp_status status = sp__give(c, x);
    if (status != SP_OK) {
        sp_tensor_release(y);
        return status;
    }
    return sp__give(c, y);
}

static void mix_labels(batch *b, int64_t i, float own)
{
    const float *x = (const float *)(const void *)b->labels->data + i * b->per_label;
    const float *y = (const float *)(const void *)b->labels->data + b->partner[i] * b->per_label;
    float *out = (float *)(void *)b->out_labels->data + i * b->per_label;
    for (int64_t k = 0; k < b->per_label; k++) out[k] = own * x[k] + (1 - own) * y[k];
}

/* --- MixUpBatch ------------------------------------------------------------------------------------------------------- */

static sp_status mixup_run(sp_transform_call *c)
{
    batch b;
    SP_TRY(batch_open(c, &b));
    const float lam = (float)sp__draw_beta(c->stream, sp__arg(c, 0, 0)), rest = 1 - lam;
    for (int64_t i = 0; i < b.n; i++) {
        mix_labels(&b, i, lam);
        const int64_t from = i * b.per_image, other = b.partner[i] * b.per_image;
        if (b.images->dtype == SP_DTYPE_U8) {
            const uint8_t *x = (const uint8_t *)b.images->data;
            uint8_t *out = (uint8_t *)b.out_images->data;
            for (int64_t k = 0; k < b.per_image; k++)
                out[from + k] = sp__u8_from_float((float)x[from + k] * lam + (float)x[other + k] * rest);
        } else {
            const float *x = (const float *)(const void *)b.images->data;
            float *out = (float *)(void *)b.out_images->data;
            for (int64_t k = 0; k < b.per_image; k++) out[from + k] = x[from + k] * lam + x[other + k] * rest;
        }
    }
    const sp_status status = batch_give(c, &b);
    batch_close(&b);
    return status;
}

const sp_transform_op sp_transform_MixUpBatch = {.name = "MixUpBatch",
                                                 .random = true,
                                                 .whole_row = true,
                                                 .attrs = {{"alpha", 1, 1, 1e-12, 1e9, 1, {1}}},
                                                 .run = mixup_run};

/* --- CutMixBatch ------------------------------------------------------------------------------------------------------ */

enum { CUTMIX_FORMAT, CUTMIX_ALPHA, CUTMIX_PROB };

static int limited(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

/* A box whose share of each side is 1 - lam, about a point anywhere, clipped; never empty where there is room. */
static sp_rect cutmix_box(sp_stream *s, int h, int w, float lam)
{
    const int cut_w = (int)((float)w * (1 - lam)), cut_h = (int)((float)h * (1 - lam));
    const int cx = (int)sp__draw_below(s, w + 1), cy = (int)sp__draw_below(s, h + 1);
    const int x = limited(cx - cut_w / 2, 0, w - 1), y = limited(cy - cut_h / 2, 0, h - 1);
    const int x2 = limited(cx + cut_w / 2, 0, w - 1), y2 = limited(cy + cut_h / 2, 0, h - 1);
    return (sp_rect){y, x, limited(y2 - y, 1, h > 1 ? h - 1 : 1), limited(x2 - x, 1, w > 1 ? w - 1 : 1)};
}

static void paste(batch *b, int64_t i, sp_rect r, bool nchw)
{
    const int64_t *d = b->images->dims;
    const int64_t element = (int64_t)sp_dtype_bytes((sp_dtype)b->images->dtype);
    const int64_t planes = nchw ? d[1] : 1, h = nchw ? d[2] : d[1], w = nchw ? d[3] : d[2], c = nchw ? 1 : d[3];
    for (int64_t p = 0; p < planes; p++)
        for (int y = r.y; y < r.y + r.h; y++) {
            const int64_t at = ((p * h + y) * w + r.x) * c * element, image = b->per_image * element;
            memcpy(b->out_images->data + i * image + at, b->images->data + b->partner[i] * image + at,
                   (size_t)(r.w * c * element));
        }
}

static sp_status cutmix_run(sp_transform_call *c)
{
    batch b;
    SP_TRY(batch_open(c, &b));
    const bool nchw = sp__arg(c, CUTMIX_FORMAT, 0) != 0;
    const int64_t *d = b.images->dims, channels = nchw ? d[1] : d[3];
    const int h = (int)(nchw ? d[2] : d[1]), w = (int)(nchw ? d[3] : d[2]);
    sp_status status = SP_OK;
    if (channels != 1 && channels != 3)
        status = sp__fail(SP_RUNTIME, "CutMixBatch: the images have %lld channels, which is not %s",
                          (long long)channels, nchw ? "NCHW" : "NHWC");
    for (int64_t i = 0; i < b.n && status == SP_OK; i++) {
        const float lam = (float)sp__draw_beta(c->stream, sp__arg(c, CUTMIX_ALPHA, 0));
        if (sp__draw_unit(c->stream) >= sp__arg(c, CUTMIX_PROB, 0)) continue;
        const sp_rect r = cutmix_box(c->stream, h, w, lam);
        paste(&b, i, r, nchw);
        mix_labels(&b, i, 1 - (float)(r.h * r.w) / (float)((int64_t)h * w));
    }
    if (status == SP_OK) status = batch_give(c, &b);
    batch_close(&b);
    return status;
}

const sp_transform_op sp_transform_CutMixBatch = {.name = "CutMixBatch",
                                                  .random = true,
                                                  .whole_row = true,
                                                  .attrs = {{"image_batch_format", 1, 1, 0, 1, SP_NEED, {0}},
                                                            {"alpha", 1, 1, 1e-12, 1e9, 1, {1}},
                                                            {"prob", 1, 1, 0, 1, 1, {1}}},
                                                  .run = cutmix_run};
