/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - pixels mixed with their neighbours: sharpness and Gaussian blur. */
#include "data/transform.h"
#include "data/transforms/pixel_rows.h"

/* --- sharpness ---------------------------------------------------------------------------------------------------- */

/* Rows of a float image, or of a uint8 image as floats: row y is kept in slot y % 3 of memory. */
static const float *float_row(const sp_image *in, int y, float *memory)
{
    if (in->dtype == SP_DTYPE_F32) return sp__image_row(in, y);
    float *row = memory + (int64_t)(y % 3) * in->w * in->c;
    sp__rows()->scale(sp__image_row(in, y), 1, 0, (int64_t)in->w * in->c, row);
    return row;
}

static void sharpen_f32(const float *const rows[3], int step, int n, float factor, float *dst)
{
    const float side = (float)(1.0 / 13.0), middle = 5.f / 13.f, rest = (float)(1.0 - factor);
    for (int i = step; i < n - step; i++) {
        float sum = 0;
        for (int r = 0; r < 3; r++)
            for (int s = -step; s <= step; s += step) sum += rows[r][i + s] * (r == 1 && s == 0 ? middle : side);
        dst[i] = rows[1][i] * factor + sum * rest;
    }
}

/* The image and its smoothed self (3 x 3, the middle counts five times) blended; the rim stays as it is. */
sp_status sp__image_sharpness(const sp_image *in, double factor, sp_image *out)
{
    SP_TRY(sp__need_numbers("AdjustSharpness", in));
    const int n = in->w * in->c;
    SP_TRY(sp__image_copy(in, out));
    float *memory = sp__alloc((size_t)n * 3 * sizeof *memory);
    if (!memory) return SP_NOMEM;
    const float *rows[3] = {memory, memory, memory};
    for (int y = 0; y < in->h; y++) {
        rows[0] = rows[1];
        rows[1] = rows[2];
        rows[2] = float_row(in, y, memory);
        if (y < 2 || in->w < 3) continue;
        if (in->dtype == SP_DTYPE_U8) sp__rows()->sharpen(rows, in->c, n, (float)factor, sp__image_row(out, y - 1));
        else sharpen_f32(rows, in->c, n, (float)factor, sp__image_row(out, y - 1));
    }
    sp__free(memory);
    return SP_OK;
}

static sp_status sharpness_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return sp__image_sharpness(in, sp__arg(c, 0, 0), out);
}
static sp_status sharpness_run(sp_transform_call *c) { return sp__run_image(c, sharpness_kernel); }

const sp_transform_op sp_transform_AdjustSharpness = {
    .name = "AdjustSharpness", .attrs = {{"sharpness_factor", 1, 1, 0, 16777216, SP_NEED, {0}}}, .run = sharpness_run};

static sp_status random_sharpness_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return sp__image_sharpness(in, sp__draw_uniform(c->stream, sp__arg(c, 0, 0), sp__arg(c, 0, 1)), out);
}
static sp_status random_sharpness_run(sp_transform_call *c) { return sp__run_image(c, random_sharpness_kernel); }

const sp_transform_op sp_transform_RandomSharpness = {.name = "RandomSharpness",
                                                      .random = true,
                                                      .attrs = {{"degrees", 2, 2, 0, 16777216, 2, {0.1, 1.9}}},
                                                      .run = random_sharpness_run};

static sp_status random_adjust_sharpness_run(sp_transform_call *c)
{
    if (sp__draw_unit(c->stream) < sp__arg(c, 1, 0)) return sharpness_run(c);
    return sp__give(c, sp_tensor_retain(c->in[0]));
}

const sp_transform_op sp_transform_RandomAdjustSharpness = {
    .name = "RandomAdjustSharpness",
    .random = true,
    .attrs = {{"degree", 1, 1, 0, 16777216, SP_NEED, {0}}, {"prob", 1, 1, 0, 1, 1, {0.5}}},
    .run = random_adjust_sharpness_run};

/* --- Gaussian blur ------------------------------------------------------------------------------------------------ */

enum { BLUR_BITS = 8 };

/* Weights of one direction as numbers and, for uint8, as 8-bit fractions whose rounding errors are carried along so that
 * they sum to one. */
static void gauss_weights(int n, double sigma, float *f, int32_t *fixed_point, double *exact)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double x = i - (n - 1) * 0.5;
        sum += exact[i] = exp(-0.5 / (sigma * sigma) * x * x);
    }
    double carry = 0;
    int32_t used = 0;
    for (int i = 0; i < n; i++) {
        exact[i] /= sum;
        f[i] = (float)exact[i];
        if (i >= n / 2) continue;
        const double v = exact[i] * (1 << BLUR_BITS) + carry;
        fixed_point[i] = fixed_point[n - 1 - i] = (int32_t)rint(v);
        carry = v - rint(v);
        used += fixed_point[i];
    }
    fixed_point[n / 2] = (1 << BLUR_BITS) - 2 * used;
}

static int reflect(int64_t i, int n)
{
    if (n == 1) return 0;
    const int64_t period = 2 * ((int64_t)n - 1);
    i = (i % period + period) % period;
    return (int)(i < n ? i : period - i);
}

typedef struct blur {
    int n[2]; /* taps across and down */
    float *f[2];
    int32_t *w[2];
} blur;

/* One row with its mirror image at both ends: n / 2 pixels more on each side. */
static void extend(const sp_image *in, int y, int taps, uint8_t *dst)
{
    const uint8_t *src = sp__image_row(in, y);
    const size_t pb = (size_t)in->pixel_bytes;
    const int side = taps / 2;
    memcpy(dst + (size_t)side * pb, src, (size_t)in->w * pb);
    for (int i = 1; i <= side; i++) {
        memcpy(dst + (size_t)(side - i) * pb, src + (size_t)reflect(-i, in->w) * pb, pb);
        memcpy(dst + (size_t)(side + in->w - 1 + i) * pb, src + (size_t)reflect((int64_t)in->w - 1 + i, in->w) * pb,
               pb);
    }
}

static void across_f32(const float *src, const blur *b, int step, int n, float *dst)
{
    for (int i = 0; i < n; i++) dst[i] = 0;
    for (int j = 0; j < b->n[0]; j++)
        for (int i = 0; i < n; i++) dst[i] += src[i + j * step] * b->f[0][j];
}

static void down_f32(const float *const *rows, const blur *b, int n, float *dst)
{
    for (int i = 0; i < n; i++) dst[i] = 0;
    for (int j = 0; j < b->n[1]; j++)
        for (int i = 0; i < n; i++) dst[i] += rows[j][i] * b->f[1][j];
}

/* Both passes; the image between them is kept whole: it is as small as the others. */
static sp_status blur_image(const sp_image *in, const blur *b, sp_image *out)
{
    const int n = in->w * in->c;
    const bool bytes = in->dtype == SP_DTYPE_U8;
    const size_t element = bytes ? 2 : 4, row_bytes = (size_t)n * element;
    char *between = sp__alloc((size_t)in->h * row_bytes);
    uint8_t *wide = sp__alloc(((size_t)in->w + (size_t)b->n[0]) * (size_t)in->pixel_bytes);
    const void **rows = sp__alloc((size_t)b->n[1] * sizeof *rows);
    uint32_t *sum = sp__alloc((size_t)n * sizeof *sum);
    sp_status status = between && wide && rows && sum ? SP_OK : SP_NOMEM;
    for (int y = 0; y < in->h && status == SP_OK; y++) {
        extend(in, y, b->n[0], wide);
        void *to = between + (size_t)y * row_bytes;
        if (bytes) sp__rows()->taps_across(wide, b->w[0], b->n[0], in->c, n, to);
        else across_f32((const float *)(const void *)wide, b, in->c, n, to);
    }
    for (int y = 0; y < in->h && status == SP_OK; y++) {
        for (int j = 0; j < b->n[1]; j++)
            rows[j] = between + (size_t)reflect((int64_t)y + j - b->n[1] / 2, in->h) * row_bytes;
        if (bytes)
            sp__rows()->taps_down((const uint16_t *const *)rows, b->w[1], b->n[1], n, sum, sp__image_row(out, y));
        else down_f32((const float *const *)rows, b, n, sp__image_row(out, y));
    }
    sp__free(between);
    sp__free(wide);
    sp__free(rows);
    sp__free(sum);
    return status;
}

enum { BLUR_KERNEL, BLUR_SIGMA };
static sp_status blur_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    SP_TRY(sp__need_numbers("GaussianBlur", in));
    blur b;
    memset(&b, 0, sizeof b);
    for (int i = 0; i < 2; i++) b.n[i] = (int)sp__arg_or_first(c, BLUR_KERNEL, i);
    const size_t n = (size_t)(b.n[0] + b.n[1]);
    double *exact = sp__alloc(n * sizeof *exact);
    b.f[0] = sp__alloc(n * sizeof(float));
    b.w[0] = sp__alloc(n * sizeof(int32_t));
    sp_status status = SP_NOMEM;
    if (!exact || !b.f[0] || !b.w[0]) goto done;
    b.f[1] = b.f[0] + b.n[0];
    b.w[1] = b.w[0] + b.n[0];
    for (int i = 0; i < 2; i++) {
        const float given = (float)sp__arg_or_first(c, BLUR_SIGMA, i);
        gauss_weights(b.n[i], given > 0 ? given : (float)(b.n[i] * 0.15 + 0.35), b.f[i], b.w[i], exact);
    }
    SP_GOTO(done, sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    status = blur_image(in, &b, out);
done:
    sp__free(exact);
    sp__free(b.f[0]);
    sp__free(b.w[0]);
    return status;
}
static sp_status blur_run(sp_transform_call *c) { return sp__run_image(c, blur_kernel); }

static sp_status blur_check(const sp_transform *t)
{
    for (int i = 0; i < t->attr[BLUR_KERNEL].n; i++)
        SP_CHECK((int)t->attr[BLUR_KERNEL].v[i] % 2 == 1, SP_VALUE, "GaussianBlur: kernel_size must be odd, but got %d",
                 (int)t->attr[BLUR_KERNEL].v[i]);
    return SP_OK;
}

const sp_transform_op sp_transform_GaussianBlur = {
    .name = "GaussianBlur",
    .attrs = {{"kernel_size", 1, 2, 1, 65535, SP_NEED, {0}}, {"sigma", 1, 2, 0, 1e6, 1, {0}}},
    .check = blur_check,
    .run = blur_run};
