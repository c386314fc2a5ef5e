/* SPDX-License-Identifier: Apache-2.0 */
/* resample.c - images of another size.
 *
 * MindSpore resizes with OpenCV, so its rules are followed to the last bit where that is possible:
 *   nearest  the pixel at floor(x * scale)
 *   linear, cubic  separable; uint8 in fixed point with weights of 11 bits, rows first. Pixel centres are aligned.
 *   area     mean of the covered rectangle when shrinking in both directions; else linear with the weights of an area
 *   linear by exactly one half is the mean of 2 x 2 pixels
 * PILCUBIC is Pillow's: a cubic of a = -1/2 widened by the scale when shrinking, 22 bits, uint8 between the passes.
 *
 * A separable pass keeps the horizontally resized source rows in a ring of ksize rows, so every source row is read
 * once and the working set is a few rows. */
#include "data/transform.h"
#include "data/transforms/pixel_rows.h"

enum { COEF_BITS = 11, COEF_ONE = 1 << COEF_BITS };

typedef struct taps { /* of one direction */
    int ksize;        /* 2 or 4 */
    int *first;       /* first source index of each destination index; may be outside */
    float *f;         /* ksize weights each */
    int16_t *s;       /* the same in fixed point */
} taps;

static void taps_free(taps *t)
{
    sp__free(t->first);
    sp__free(t->f);
    sp__free(t->s);
}

void sp__cubic_weights(float x, float *w)
{
    const float A = -0.75f;
    w[0] = ((A * (x + 1) - 5 * A) * (x + 1) + 8 * A) * (x + 1) - 4 * A;
    w[1] = ((A + 2) * x - (A + 3)) * x * x + 1;
    w[2] = ((A + 2) * (1 - x) - (A + 3)) * (1 - x) * (1 - x) + 1;
    w[3] = 1.f - w[0] - w[1] - w[2];
}

static int16_t fixed(float w)
{
    const float v = rintf(w * COEF_ONE);
    return (int16_t)(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
}

/* Weights for going from n_src to n_dst. area: the weights that area resampling uses for enlarging. clamp: pull linear
 * weights at the borders inside, as is done in the direction of the row. */
static sp_status taps_make(int n_src, int n_dst, sp_inter mode, bool area, bool clamp, taps *t)
{
    const double inverse = (double)n_dst / n_src, scale = 1. / inverse;
    t->ksize = mode == SP_INTER_CUBIC ? 4 : 2;
    t->first = sp__alloc((size_t)n_dst * sizeof *t->first);
    t->f = sp__alloc((size_t)n_dst * (size_t)t->ksize * sizeof *t->f);
    t->s = sp__alloc((size_t)n_dst * (size_t)t->ksize * sizeof *t->s);
    if (!t->first || !t->f || !t->s) return SP_NOMEM;
    for (int i = 0; i < n_dst; i++) {
        float f;
        int at;
        if (area) {
            at = (int)floor(i * scale);
            f = (float)((i + 1) - (at + 1) * inverse);
            f = f <= 0 ? 0.f : f - floorf(f);
        } else {
            f = (float)((i + 0.5) * scale - 0.5);
            at = (int)floorf(f);
            f -= (float)at;
        }
        if (clamp && t->ksize == 2) {
            if (at < 0) f = 0, at = 0;
            if (at >= n_src - 1) f = 0, at = n_src - 1;
        }
        float *w = t->f + (size_t)i * (size_t)t->ksize;
        if (t->ksize == 4) {
            sp__cubic_weights(f, w);
        } else {
            w[0] = 1.f - f;
            w[1] = f;
        }
        for (int k = 0; k < t->ksize; k++) t->s[(size_t)i * (size_t)t->ksize + (size_t)k] = fixed(w[k]);
        t->first[i] = at - (t->ksize == 4 ? 1 : 0);
    }
    return SP_OK;
}

static inline int clip(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/* --- one row ------------------------------------------------------------------------------------------------------ */

static void row_cubic_u8(const uint8_t *src, int n_src, const taps *t, int w, int c, int32_t *dst)
{
    for (int x = 0; x < w; x++) {
        const int16_t *s = t->s + 4 * x;
        const uint8_t *p[4];
        for (int k = 0; k < 4; k++) p[k] = src + (int64_t)clip(t->first[x] + k, n_src) * c;
        for (int k = 0; k < c; k++) dst[x * c + k] = p[0][k] * s[0] + p[1][k] * s[1] + p[2][k] * s[2] + p[3][k] * s[3];
    }
}

static void row_f32(const float *src, int n_src, const taps *t, int w, int c, float *dst)
{
    for (int x = 0; x < w; x++) {
        const float *f = t->f + t->ksize * x;
        for (int k = 0; k < c; k++) {
            float sum = src[(int64_t)clip(t->first[x], n_src) * c + k] * f[0];
            for (int j = 1; j < t->ksize; j++) sum += src[(int64_t)clip(t->first[x] + j, n_src) * c + k] * f[j];
            dst[x * c + k] = sum;
        }
    }
}

static void column_cubic_u8(int32_t *const *r, const int16_t *s, int n, uint8_t *dst)
{
    const float scale = 1.f / (COEF_ONE * COEF_ONE);
    const float w0 = s[0] * scale, w1 = s[1] * scale, w2 = s[2] * scale, w3 = s[3] * scale;
    const int32_t *a = r[0], *b = r[1], *c = r[2], *d = r[3];
    float sum[256];
    for (int at = 0; at < n; at += 256) {
        const int m = n - at < 256 ? n - at : 256;
        for (int i = 0; i < m; i++)
            sum[i] = (float)a[at + i] * w0 + ((float)b[at + i] * w1 + ((float)c[at + i] * w2 + (float)d[at + i] * w3));
        sp__rows()->to_bytes(sum, m, dst + at);
    }
}

static void column_f32(float *const *r, const float *f, int ksize, int n, float *dst)
{
    if (ksize == 2) {
        for (int i = 0; i < n; i++) dst[i] = r[0][i] * f[0] + r[1][i] * f[1];
        return;
    }
    for (int i = 0; i < n; i++) dst[i] = r[0][i] * f[0] + r[1][i] * f[1] + r[2][i] * f[2] + r[3][i] * f[3];
}

/* --- separable ---------------------------------------------------------------------------------------------------- */

/* Rows resized horizontally (int16 for linear uint8, else 4 bytes a number); slot of source row y is y % ksize. */
typedef struct ring {
    char *memory;
    size_t row_bytes;
    int held[4];
} ring;

static void *ring_row(ring *r, const sp_rows *rows, const sp_image *in, const taps *x, int w, int y, int ksize)
{
    void *row = r->memory + (size_t)(y % ksize) * r->row_bytes;
    if (r->held[y % ksize] == y) return row;
    if (in->dtype == SP_DTYPE_U8 && ksize == 2)
        rows->across(sp__image_row(in, y), in->w, x->first, x->s, w, in->c, row);
    else if (in->dtype == SP_DTYPE_U8) row_cubic_u8(sp__image_row(in, y), in->w, x, w, in->c, row);
    else row_f32(sp__image_row(in, y), in->w, x, w, in->c, row);
    r->held[y % ksize] = y;
    return row;
}

/* out is the part at (top, left) of the image resized to h x w: all of it, or what a crop will leave. */
static sp_status separable(const sp_image *in, int h, int w, int top, int left, sp_inter mode, bool area, sp_image *out)
{
    const sp_rows *loops = sp__rows();
    taps x = {0}, y = {0}, part;
    ring r = {.row_bytes = (size_t)out->w * (size_t)out->c * 4, .held = {-1, -1, -1, -1}};
    sp_status status;
    SP_GOTO(done, taps_make(in->w, w, mode, area, true, &x));
    SP_GOTO(done, taps_make(in->h, h, mode, area, false, &y));
    part = (taps){x.ksize, x.first + left, x.f + (ptrdiff_t)left * x.ksize, x.s + (ptrdiff_t)left * x.ksize};
    r.memory = sp__alloc(r.row_bytes * 4);
    if (!r.memory) {
        status = SP_NOMEM;
        goto done;
    }
    for (int i = 0; i < out->h; i++) {
        void *row[4];
        for (int k = 0; k < y.ksize; k++)
            row[k] = ring_row(&r, loops, in, &part, out->w, clip(y.first[top + i] + k, in->h), y.ksize);
        const int n = out->w * out->c;
        const size_t at = (size_t)(top + i) * (size_t)y.ksize;
        if (in->dtype != SP_DTYPE_U8) column_f32((float *const *)row, y.f + at, y.ksize, n, sp__image_row(out, i));
        else if (y.ksize == 2) loops->down(row[0], row[1], y.s[at], y.s[at + 1], n, sp__image_row(out, i));
        else column_cubic_u8((int32_t *const *)row, y.s + at, n, sp__image_row(out, i));
    }
done:
    taps_free(&x);
    taps_free(&y);
    sp__free(r.memory);
    return status;
}

/* --- nearest ------------------------------------------------------------------------------------------------------ */

static sp_status nearest(const sp_image *in, sp_image *out)
{
    const double sx = 1. / ((double)out->w / in->w), sy = 1. / ((double)out->h / in->h);
    int64_t *offset = sp__alloc((size_t)out->w * sizeof *offset);
    if (!offset) return SP_NOMEM;
    const int pb = in->pixel_bytes;
    for (int x = 0; x < out->w; x++) offset[x] = (int64_t)clip((int)floor(x * sx), in->w) * pb;
    for (int y = 0; y < out->h; y++) {
        const uint8_t *src = sp__image_row(in, clip((int)floor(y * sy), in->h));
        uint8_t *dst = sp__image_row(out, y);
        if (pb == 3)
            for (int x = 0; x < out->w; x++) memcpy(dst + 3 * x, src + offset[x], 3);
        else
            for (int x = 0; x < out->w; x++) memcpy(dst + (int64_t)pb * x, src + offset[x], (size_t)pb);
    }
    sp__free(offset);
    return SP_OK;
}

/* --- area --------------------------------------------------------------------------------------------------------- */

typedef struct cover { /* source pixel `from` covers a share of destination pixel `to` */
    int from, to;
    float share;
} cover;

static int cover_make(int n_src, int n_dst, cover *tab)
{
    const double scale = 1. / ((double)n_dst / n_src);
    int n = 0;
    for (int i = 0; i < n_dst; i++) {
        const double a = i * scale, b = a + scale, cell = fmin(scale, n_src - a);
        int first = (int)ceil(a), last = (int)floor(b);
        if (last > n_src - 1) last = n_src - 1;
        if (first > last) first = last;
        if (first - a > 1e-3) tab[n++] = (cover){first - 1, i, (float)((first - a) / cell)};
        for (int s = first; s < last; s++) tab[n++] = (cover){s, i, (float)(1.0 / cell)};
        if (b - last > 1e-3) tab[n++] = (cover){last, i, (float)(fmin(fmin(b - last, 1.), cell) / cell)};
    }
    return n;
}

static void store_row(const float *sum, sp_image *out, int y)
{
    const int n = out->w * out->c;
    if (out->dtype == SP_DTYPE_U8) sp__rows()->to_bytes(sum, n, sp__image_row(out, y));
    else memcpy(sp__image_row(out, y), sum, (size_t)n * 4);
}

/* One source row gathered into destination columns. */
#define GATHER(T)                                                                                                      \
    for (int k = 0; k < n_x; k++) {                                                                                    \
        const T *p = (const T *)src + (int64_t)x[k].from * c;                                                          \
        float *to = row + (int64_t)x[k].to * c;                                                                        \
        const float share = x[k].share;                                                                                \
        for (int i = 0; i < c; i++) to[i] += (float)p[i] * share;                                                      \
    }

static void gather_columns(const void *src, bool bytes, const cover *x, int n_x, int c, float *row)
{
    if (bytes) {
        GATHER(uint8_t)
    } else {
        GATHER(float)
    }
}

static sp_status area_any(const sp_image *in, sp_image *out)
{
    const int n = out->w * out->c, c = in->c;
    cover *x = sp__alloc((size_t)(in->w + 2 * out->w) * sizeof *x),
          *y = sp__alloc((size_t)(in->h + 2 * out->h) * sizeof *y);
    float *row = sp__alloc((size_t)n * 8);
    if (!x || !y || !row) {
        sp__free(x);
        sp__free(y);
        sp__free(row);
        return SP_NOMEM;
    }
    float *sum = row + n;
    const int n_x = cover_make(in->w, out->w, x), n_y = cover_make(in->h, out->h, y);
    for (int j = 0; j < n_y; j++) {
        const void *src = sp__image_row(in, y[j].from);
        memset(row, 0, (size_t)n * 4);
        gather_columns(src, in->dtype == SP_DTYPE_U8, x, n_x, c, row);
        const float share = y[j].share;
        if (j == 0 || y[j].to != y[j - 1].to) {
            if (j) store_row(sum, out, y[j - 1].to);
            for (int i = 0; i < n; i++) sum[i] = share * row[i];
        } else {
            for (int i = 0; i < n; i++) sum[i] += share * row[i];
        }
    }
    store_row(sum, out, out->h - 1);
    sp__free(x);
    sp__free(y);
    sp__free(row);
    return SP_OK;
}

/* Shrinking uint8 by exactly one half. */
static void area_halves(const sp_image *in, sp_image *out)
{
    const int c = in->c;
    for (int y = 0; y < out->h; y++) {
        const uint8_t *a = sp__image_row(in, 2 * y), *b = sp__image_row(in, 2 * y + 1);
        uint8_t *dst = sp__image_row(out, y);
        for (int x = 0; x < out->w; x++, a += 2 * c, b += 2 * c, dst += c)
            for (int k = 0; k < c; k++) dst[k] = (uint8_t)((a[k] + a[k + c] + b[k] + b[k + c] + 2) >> 2);
    }
}

/* Shrinking by whole numbers: means of blocks. */
static void area_blocks(const sp_image *in, int fx, int fy, sp_image *out)
{
    const int c = in->c;
    const float scale = 1.f / (float)(fx * fy);
    if (in->dtype == SP_DTYPE_U8 && fx == 2 && fy == 2) {
        area_halves(in, out);
        return;
    }
    for (int y = 0; y < out->h; y++)
        for (int x = 0; x < out->w; x++)
            for (int k = 0; k < c; k++) {
                int whole = 0;
                float sum = 0;
                for (int j = 0; j < fy; j++) {
                    const void *row = sp__image_row(in, y * fy + j);
                    const int64_t at = (int64_t)x * fx * c + k;
                    if (in->dtype == SP_DTYPE_U8)
                        for (int i = 0; i < fx; i++) whole += ((const uint8_t *)row)[at + i * c];
                    else
                        for (int i = 0; i < fx; i++) sum += ((const float *)row)[at + i * c];
                }
                const int64_t to = (int64_t)x * c + k;
                if (in->dtype != SP_DTYPE_U8) ((float *)sp__image_row(out, y))[to] = sum * scale;
                else ((uint8_t *)sp__image_row(out, y))[to] = sp__u8_from_float((float)whole * scale);
            }
}

/* --- Pillow's cubic ----------------------------------------------------------------------------------------------- */

typedef struct wide_taps { /* any number of weights for each index */
    int ksize;
    int *first, *count;
    int32_t *w;
} wide_taps;

enum { PIL_BITS = 32 - 8 - 2 };

static double pil_cubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
}

static sp_status wide_make(int n_src, int n_dst, wide_taps *t)
{
    const double scale = (double)n_src / n_dst, wide = scale < 1 ? 1 : scale, support = 2.0 * wide;
    t->ksize = (int)ceil(support) * 2 + 1;
    t->first = sp__alloc((size_t)n_dst * 2 * sizeof *t->first);
    t->w = sp__alloc((size_t)n_dst * (size_t)t->ksize * sizeof *t->w);
    double *weight = sp__alloc((size_t)t->ksize * sizeof *weight);
    if (!t->first || !t->w || !weight) {
        sp__free(weight);
        return SP_NOMEM;
    }
    t->count = t->first + n_dst;
    for (int i = 0; i < n_dst; i++) {
        const double center = (i + 0.5) * scale;
        int lo = (int)(center - support + 0.5), hi = (int)(center + support + 0.5);
        lo = lo < 0 ? 0 : lo;
        hi = hi > n_src ? n_src : hi;
        double sum = 0;
        for (int k = 0; k < hi - lo; k++) sum += weight[k] = pil_cubic((k + lo - center + 0.5) / wide);
        for (int k = 0; k < hi - lo; k++) {
            const double v = (sum != 0 ? weight[k] / sum : weight[k]) * (1 << PIL_BITS);
            t->w[(size_t)i * (size_t)t->ksize + (size_t)k] = (int32_t)(v < 0 ? v - 0.5 : v + 0.5);
        }
        t->first[i] = lo;
        t->count[i] = hi - lo;
    }
    sp__free(weight);
    return SP_OK;
}

static sp_status pil_pass(const sp_image *in, bool horizontal, sp_image *out)
{
    wide_taps t = {0};
    const int c = in->c;
    sp_status status;
    SP_GOTO(done, horizontal ? wide_make(in->w, out->w, &t) : wide_make(in->h, out->h, &t));
    for (int y = 0; y < out->h; y++) {
        uint8_t *dst = sp__image_row(out, y);
        for (int x = 0; x < out->w; x++) {
            const int i = horizontal ? x : y;
            const int32_t *w = t.w + (size_t)i * (size_t)t.ksize;
            const uint8_t *src = horizontal ? (uint8_t *)sp__image_row(in, y) + (int64_t)t.first[i] * c
                                            : (uint8_t *)sp__image_row(in, t.first[i]) + (int64_t)x * c;
            const int64_t step = horizontal ? c : in->stride;
            for (int k = 0; k < c; k++) {
                int32_t sum = 1 << (PIL_BITS - 1);
                for (int j = 0; j < t.count[i]; j++) sum += src[j * step + k] * w[j];
                dst[x * c + k] = sp__u8_from_int(sum >> PIL_BITS);
            }
        }
    }
done:
    sp__free(t.first);
    sp__free(t.w);
    return status;
}

static sp_status pil_resize(const sp_image *in, sp_image *out)
{
    SP_CHECK(in->dtype == SP_DTYPE_U8 && in->c == 3, SP_RUNTIME,
             "Resize: PILCUBIC works on uint8 images of 3 channels, but this one is %s of %d", sp_dtype_name(in->dtype),
             in->c);
    sp_image between = {.owner = NULL};
    SP_TRY(sp__image_create(in->dtype, in->rank, in->h, out->w, in->c, &between));
    sp_status status = pil_pass(in, true, &between);
    if (status == SP_OK) status = pil_pass(&between, false, out);
    sp_tensor_release(between.owner);
    return status;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

/* Other number types take the way through float32: OpenCV does so for its own. */
static sp_status resize_as_float(const sp_image *in, int h, int w, sp_inter mode, sp_image *out)
{
    SP_CHECK(sp__cast_loop(in->dtype, SP_DTYPE_F32) && sp_dtype_kind(in->dtype) != 'c' && in->dtype != SP_DTYPE_STR,
             SP_RUNTIME, "Resize: images of dtype %s cannot be resized", sp_dtype_name(in->dtype));
    sp_image wide = {.owner = NULL}, made = {.owner = NULL};
    sp_status status;
    SP_GOTO(done, sp__image_create(SP_DTYPE_F32, in->rank, in->h, in->w, in->c, &wide));
    SP_GOTO(done, sp_tensor_assign(wide.owner, in->owner));
    SP_GOTO(done, sp__image_resize(&wide, h, w, mode, &made));
    const bool whole = sp_dtype_kind(in->dtype) != 'f';
    const double top = whole ? ldexp(1, (int)sp_dtype_bytes(in->dtype) * 8 - (sp_dtype_kind(in->dtype) == 'i')) - 1 : 0;
    const double least = sp_dtype_kind(in->dtype) == 'i' ? -top - 1 : 0;
    float *p = (float *)(void *)made.data;
    for (int64_t i = 0; whole && i < (int64_t)h * w * in->c; i++) p[i] = (float)fmin(fmax(rint(p[i]), least), top);
    SP_GOTO(done, sp__image_create(in->dtype, in->rank, h, w, in->c, out));
    SP_GOTO(done, sp_tensor_assign(out->owner, made.owner));
done:
    sp_tensor_release(wide.owner);
    sp_tensor_release(made.owner);
    return status;
}

sp_status sp__image_resize(const sp_image *in, int h, int w, sp_inter mode, sp_image *out)
{
    SP_CHECK(h > 0 && w > 0, SP_RUNTIME, "Resize: the size (%d, %d) is not above 0", h, w);
    SP_CHECK(
        h <= (int64_t)in->h * 1000 && w <= (int64_t)in->w * 1000 && h < SP_IMAGE_SIDE_MAX && w < SP_IMAGE_SIDE_MAX,
        SP_RUNTIME,
        "Resize: the resizing width or height is too big, it's 1000 times bigger than the original image, got output "
        "(%d, %d) of an image of (%d, %d)",
        h, w, in->h, in->w);
    SP_CHECK(mode != SP_INTER_ANTIALIAS, SP_TYPE, "Resize: ANTIALIAS works on Pillow images only");
    if (h == in->h && w == in->w && mode != SP_INTER_PILCUBIC) return sp__image_copy(in, out);
    if (mode != SP_INTER_NEAREST && in->dtype != SP_DTYPE_U8 && in->dtype != SP_DTYPE_F32)
        return resize_as_float(in, h, w, mode, out);
    SP_TRY(sp__image_create(in->dtype, in->rank, h, w, in->c, out));
    if (mode == SP_INTER_PILCUBIC) return pil_resize(in, out);
    if (mode == SP_INTER_NEAREST) return nearest(in, out);
    const bool shrink = h <= in->h && w <= in->w, whole = in->h % h == 0 && in->w % w == 0;
    if (whole && (mode == SP_INTER_AREA || (mode == SP_INTER_LINEAR && in->h == 2 * h && in->w == 2 * w))) {
        area_blocks(in, in->w / w, in->h / h, out);
        return SP_OK;
    }
    if (mode == SP_INTER_AREA && shrink) return area_any(in, out);
    return separable(in, h, w, 0, 0, mode == SP_INTER_AREA ? SP_INTER_LINEAR : mode, mode == SP_INTER_AREA, out);
}

sp_status sp__image_resize_part(const sp_image *in, int h, int w, const sp_rect *part, sp_inter mode, sp_image *out)
{
    const bool same = h == in->h && w == in->w, half = in->h == 2 * h && in->w == 2 * w;
    if ((mode != SP_INTER_LINEAR && mode != SP_INTER_CUBIC) ||
        (in->dtype != SP_DTYPE_U8 && in->dtype != SP_DTYPE_F32) || same || half || h < part->y + part->h ||
        w < part->x + part->w || h > (int64_t)in->h * 1000 || w > (int64_t)in->w * 1000)
        return SP_DECLINED;
    SP_TRY(sp__image_create(in->dtype, in->rank, part->h, part->w, in->c, out));
    return separable(in, h, w, part->y, part->x, mode, false, out);
}
