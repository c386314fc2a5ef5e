/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - pixels mixed with their neighbours: sharpness and Gaussian blur. */
#include "data/transform.h"

static sp_status need_numbers(const char *who, const sp_image *in)
{
    SP_CHECK(in->dtype == SP_DTYPE_U8 || in->dtype == SP_DTYPE_F32, SP_RUNTIME,
             "%s: images of uint8 and float32 are possible, but this one is %s", who, sp_dtype_name(in->dtype));
    return SP_OK;
}

static inline float value(const sp_image *m, int y, int64_t i)
{
    return m->dtype == SP_DTYPE_U8 ? ((const uint8_t *)sp__image_row(m, y))[i]
                                   : ((const float *)sp__image_row(m, y))[i];
}

static inline void store(sp_image *m, int y, int64_t i, float v)
{
    if (m->dtype == SP_DTYPE_U8) ((uint8_t *)sp__image_row(m, y))[i] = sp__u8_from_float(v);
    else ((float *)sp__image_row(m, y))[i] = v;
}

/* --- sharpness ---------------------------------------------------------------------------------------------------- */

/* The image and its smoothed self (3 x 3, the middle counts five times) blended; the rim stays as it is. */
sp_status sp__image_sharpness(const sp_image *in, double factor, sp_image *out)
{
    SP_TRY(need_numbers("AdjustSharpness", in));
    const float side = (float)(1.0 / 13.0), middle = 5.f / 13.f, alpha = (float)factor, beta = (float)(1.0 - (float)factor);
    const int c = in->c;
    SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    for (int y = 0; y < in->h; y++)
        for (int64_t i = 0; i < (int64_t)in->w * c; i++) {
            const float own = value(in, y, i);
            float smooth = own;
            if (y > 0 && y < in->h - 1 && i >= c && i < (int64_t)(in->w - 1) * c) {
                smooth = 0;
                for (int r = -1; r <= 1; r++)
                    for (int s = -1; s <= 1; s++)
                        smooth += value(in, y + r, i + s * c) * (r == 0 && s == 0 ? middle : side);
                if (in->dtype == SP_DTYPE_U8) smooth = sp__u8_from_float(smooth);
            }
            store(out, y, i, own * alpha + smooth * beta);
        }
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
    int64_t *across; /* offsets of the neighbours of every column */
    void *rows;      /* the image after the first pass: uint16 or float */
} blur;

static void blur_across(const sp_image *in, blur *b)
{
    const int c = in->c, n = b->n[0];
    for (int y = 0; y < in->h; y++) {
        const void *src = sp__image_row(in, y);
        for (int x = 0; x < in->w; x++) {
            const int64_t *at = b->across + (int64_t)x * n;
            for (int k = 0; k < c; k++) {
                const int64_t to = ((int64_t)y * in->w + x) * c + k;
                if (in->dtype == SP_DTYPE_U8) {
                    int32_t sum = 0;
                    for (int j = 0; j < n; j++) sum += ((const uint8_t *)src)[at[j] + k] * b->w[0][j];
                    ((uint16_t *)b->rows)[to] = (uint16_t)(sum > 65535 ? 65535 : sum);
                } else {
                    float sum = 0;
                    for (int j = 0; j < n; j++) sum += ((const float *)src)[at[j] + k] * b->f[0][j];
                    ((float *)b->rows)[to] = sum;
                }
            }
        }
    }
}

static void blur_down(const sp_image *in, const blur *b, sp_image *out)
{
    const int64_t row = (int64_t)in->w * in->c;
    const int n = b->n[1];
    for (int y = 0; y < in->h; y++)
        for (int64_t i = 0; i < row; i++) {
            uint64_t sum = 1u << (2 * BLUR_BITS - 1);
            float sum_f = 0;
            for (int j = 0; j < n; j++) {
                const int64_t at = reflect(y + j - n / 2, in->h) * row + i;
                if (in->dtype == SP_DTYPE_U8) sum += (uint64_t)((const uint16_t *)b->rows)[at] * (uint32_t)b->w[1][j];
                else sum_f += ((const float *)b->rows)[at] * b->f[1][j];
            }
            if (in->dtype == SP_DTYPE_U8)
                ((uint8_t *)sp__image_row(out, y))[i] = (uint8_t)((sum >> (2 * BLUR_BITS)) > 255 ? 255 : sum >> (2 * BLUR_BITS));
            else ((float *)sp__image_row(out, y))[i] = sum_f;
        }
}

enum { BLUR_KERNEL, BLUR_SIGMA };
static sp_status blur_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    SP_TRY(need_numbers("GaussianBlur", in));
    blur b;
    memset(&b, 0, sizeof b);
    for (int i = 0; i < 2; i++) b.n[i] = (int)sp__arg_or_first(c, BLUR_KERNEL, i);
    const size_t n = (size_t)(b.n[0] + b.n[1]), element = in->dtype == SP_DTYPE_U8 ? 2 : 4;
    double *exact = sp__alloc(n * sizeof *exact);
    b.f[0] = sp__alloc(n * sizeof(float));
    b.w[0] = sp__alloc(n * sizeof(int32_t));
    b.across = sp__alloc((size_t)in->w * (size_t)b.n[0] * sizeof *b.across);
    b.rows = sp__alloc((size_t)in->h * (size_t)in->w * (size_t)in->c * element);
    sp_status status = SP_NOMEM;
    if (!exact || !b.f[0] || !b.w[0] || !b.across || !b.rows) goto done;
    b.f[1] = b.f[0] + b.n[0];
    b.w[1] = b.w[0] + b.n[0];
    for (int i = 0; i < 2; i++) {
        const float given = (float)sp__arg_or_first(c, BLUR_SIGMA, i);
        gauss_weights(b.n[i], given > 0 ? given : (float)(b.n[i] * 0.15 + 0.35), b.f[i], b.w[i], exact);
    }
    for (int x = 0; x < in->w; x++)
        for (int j = 0; j < b.n[0]; j++)
            b.across[(int64_t)x * b.n[0] + j] = (int64_t)reflect(x + j - b.n[0] / 2, in->w) * in->c;
    SP_GOTO(done, sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    blur_across(in, &b);
    blur_down(in, &b, out);
done:
    sp__free(exact);
    sp__free(b.f[0]);
    sp__free(b.w[0]);
    sp__free(b.across);
    sp__free(b.rows);
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
