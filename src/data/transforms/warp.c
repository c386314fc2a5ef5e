/* SPDX-License-Identifier: Apache-2.0 */
/* warp.c - images turned, sheared and seen from aside.
 *
 * Every pixel of the result is looked up in the source at a place given by an inverse map. Places are whole multiples of
 * 1/32 of a pixel, as in OpenCV, whose results these are: a table holds the weights of each of the 32 x 32 offsets, for
 * uint8 as 15-bit integers that sum to exactly one. Outside of the source is the fill colour. */
#include "data/transform.h"

#include "base/lock.h"

enum { PLACE_BITS = 5, PLACES = 1 << PLACE_BITS, WEIGHT_BITS = 15, WEIGHT_ONE = 1 << WEIGHT_BITS };

/* --- weights ------------------------------------------------------------------------------------------------------ */

static struct {
    float linear_f[PLACES * PLACES][4], cubic_f[PLACES * PLACES][16];
    int32_t linear[PLACES * PLACES][4], cubic[PLACES * PLACES][16];
} weights;
static sp_once weights_once = SP_ONCE_INIT;

/* What rounding took from or gave to the sum is put on the largest or smallest of the middle weights. */
static void balance(int32_t *w, int k)
{
    int sum = 0, least = k / 2 * k + k / 2, most = least;
    for (int i = 0; i < k * k; i++) sum += w[i];
    if (sum == WEIGHT_ONE) return;
    for (int i = k / 2; i < k / 2 + 2 && i < k; i++)
        for (int j = k / 2; j < k / 2 + 2 && j < k; j++) {
            if (w[i * k + j] < w[least]) least = i * k + j;
            else if (w[i * k + j] > w[most]) most = i * k + j;
        }
    w[sum < WEIGHT_ONE ? most : least] -= sum - WEIGHT_ONE;
}

static void weights_make(void)
{
    float line[PLACES][4];
    for (int i = 0; i < PLACES; i++) sp__cubic_weights((float)i / PLACES, line[i]);
    for (int y = 0; y < PLACES; y++)
        for (int x = 0; x < PLACES; x++) {
            const int at = y * PLACES + x;
            const float fy = (float)y / PLACES, fx = (float)x / PLACES;
            const float f[4] = {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx};
            for (int k = 0; k < 4; k++) {
                weights.linear_f[at][k] = f[k];
                weights.linear[at][k] = (int32_t)rintf(f[k] * WEIGHT_ONE);
            }
            for (int k = 0; k < 16; k++) {
                const float v = line[y][k / 4] * line[x][k % 4];
                weights.cubic_f[at][k] = v;
                const float scaled = rintf(v * WEIGHT_ONE);
                weights.cubic[at][k] = (int32_t)(scaled > 32767 ? 32767 : scaled);
            }
            balance(weights.cubic[at], 4);
        }
}

/* --- looking up --------------------------------------------------------------------------------------------------- */

typedef struct lookup {
    const sp_image *in;
    sp_inter mode;                 /* NEAREST, LINEAR or CUBIC */
    _Alignas(16) uint8_t fill[32]; /* one pixel of up to 4 channels */
    float fill_f[4];
} lookup;

static inline bool inside(const sp_image *m, int x, int y)
{
    return (unsigned)x < (unsigned)m->w && (unsigned)y < (unsigned)m->h;
}

/* The most frequent case: 2 x 2 pixels of RGB inside of the image. */
static inline void blend_rgb(const sp_image *m, int x, int y, const int32_t *w, uint8_t *dst)
{
    const uint8_t *a = (const uint8_t *)sp__image_row(m, y) + (int64_t)x * 3, *b = a + m->stride;
    for (int i = 0; i < 3; i++) {
        const int sum = a[i] * w[0] + a[i + 3] * w[1] + b[i] * w[2] + b[i + 3] * w[3];
        dst[i] = (uint8_t)((sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS);
    }
}

/* Weighted sums of k x k pixels from (x, y) on. */
static void blend_u8(const lookup *l, int x, int y, int k, const int32_t *w, uint8_t *dst)
{
    const sp_image *m = l->in;
    const int c = m->c;
    if (x >= 0 && y >= 0 && x + k <= m->w && y + k <= m->h) {
        const uint8_t *p = (const uint8_t *)sp__image_row(m, y) + (int64_t)x * c;
        for (int i = 0; i < c; i++) {
            int sum = 1 << (WEIGHT_BITS - 1);
            for (int r = 0; r < k; r++)
                for (int s = 0; s < k; s++) sum += p[r * m->stride + s * c + i] * w[r * k + s];
            dst[i] = sp__u8_from_int(sum >> WEIGHT_BITS);
        }
        return;
    }
    for (int i = 0; i < c; i++) {
        int sum = 1 << (WEIGHT_BITS - 1);
        for (int r = 0; r < k; r++)
            for (int s = 0; s < k; s++) {
                const bool in = inside(m, x + s, y + r);
                const int v =
                    in ? ((const uint8_t *)sp__image_row(m, y + r))[(int64_t)(x + s) * c + i] : l->fill[i < 4 ? i : 3];
                sum += v * w[r * k + s];
            }
        dst[i] = sp__u8_from_int(sum >> WEIGHT_BITS);
    }
}

static void blend_f32(const lookup *l, int x, int y, int k, const float *w, float *dst)
{
    const sp_image *m = l->in;
    for (int i = 0; i < m->c; i++) {
        float sum = 0;
        for (int r = 0; r < k; r++)
            for (int s = 0; s < k; s++) {
                const bool in = inside(m, x + s, y + r);
                const float v = in ? ((const float *)sp__image_row(m, y + r))[(int64_t)(x + s) * m->c + i]
                                   : l->fill_f[i < 4 ? i : 3];
                sum += v * w[r * k + s];
            }
        dst[i] = sum;
    }
}

/* One row of the result. px, py: places, in whole pixels for NEAREST and 1/32 otherwise. */
static void look_row(const lookup *l, int n, const int *px, const int *py, uint8_t *dst)
{
    const sp_image *m = l->in;
    const int pb = m->pixel_bytes;
    if (l->mode == SP_INTER_NEAREST) {
        for (int i = 0; i < n; i++, dst += pb) {
            const bool in = inside(m, px[i], py[i]);
            const uint8_t *from = in ? (const uint8_t *)sp__image_row(m, py[i]) + (int64_t)px[i] * pb : l->fill;
            if (pb == 3) memcpy(dst, from, 3);
            else memcpy(dst, from, (size_t)pb);
        }
        return;
    }
    const bool cubic = l->mode == SP_INTER_CUBIC;
    const int k = cubic ? 4 : 2, back = cubic ? 1 : 0;
    for (int i = 0; i < n; i++, dst += pb) {
        const int x = (px[i] >> PLACE_BITS) - back, y = (py[i] >> PLACE_BITS) - back;
        const int at = (py[i] & (PLACES - 1)) * PLACES + (px[i] & (PLACES - 1));
        if (m->dtype == SP_DTYPE_U8 && m->c == 3 && !cubic && x >= 0 && y >= 0 && x + 2 <= m->w && y + 2 <= m->h)
            blend_rgb(m, x, y, weights.linear[at], dst);
        else if (m->dtype == SP_DTYPE_U8) blend_u8(l, x, y, k, cubic ? weights.cubic[at] : weights.linear[at], dst);
        else blend_f32(l, x, y, k, cubic ? weights.cubic_f[at] : weights.linear_f[at], (float *)(void *)dst);
    }
}

static sp_status lookup_make(const char *who, const sp_image *in, sp_inter mode, const double fill[4], lookup *l)
{
    SP_CHECK(in->c <= 4, SP_RUNTIME, "%s: an image of up to 4 channels is wanted, but this one has %d", who, in->c);
    SP_CHECK(mode != SP_INTER_ANTIALIAS, SP_TYPE, "%s: ANTIALIAS works on Pillow images only", who);
    /* Area and Pillow's cubic have no meaning here: linear. */
    *l = (lookup){.in = in, .mode = mode == SP_INTER_NEAREST || mode == SP_INTER_CUBIC ? mode : SP_INTER_LINEAR};
    SP_CHECK(l->mode == SP_INTER_NEAREST || in->dtype == SP_DTYPE_U8 || in->dtype == SP_DTYPE_F32, SP_RUNTIME,
             "%s: images of dtype %s can be looked up by NEAREST only", who, sp_dtype_name(in->dtype));
    sp_loop_fn convert = sp__cast_loop(SP_DTYPE_F64, in->dtype);
    SP_CHECK(convert && in->pixel_bytes <= (int)sizeof l->fill, SP_RUNTIME, "%s: images of dtype %s are not known", who,
             sp_dtype_name(in->dtype));
    for (int i = 0; i < 4; i++) {
        double v = fill[i];
        char *ptr[2] = {(char *)l->fill + (size_t)i * sp_dtype_bytes(in->dtype), (char *)&v};
        const int64_t step[2] = {0, 0};
        if (i < in->c) convert(1, ptr, step, NULL);
        l->fill_f[i] = (float)v;
    }
    sp__once(&weights_once, weights_make);
    return SP_OK;
}

static int rounded(double v) { return v <= -2147483648.0 ? INT32_MIN : v >= 2147483647.0 ? INT32_MAX : (int)rint(v); }

/* --- affine ------------------------------------------------------------------------------------------------------- */

/* Places are counted in 1/1024 first; the sum of a part that depends on x and one that depends on y. */
enum { FINE_BITS = 10, FINE = 1 << FINE_BITS };

sp_status sp__image_warp_affine(const sp_image *in, const double matrix[6], int h, int w, sp_inter mode,
                                const double fill[4], sp_image *out)
{
    lookup l;
    double m[6];
    memcpy(m, matrix, sizeof m);
    SP_TRY(lookup_make("warp", in, mode, fill, &l));
    double d = m[0] * m[4] - m[1] * m[3];
    d = d != 0 ? 1. / d : 0;
    const double a11 = m[4] * d, a22 = m[0] * d;
    m[0] = a11;
    m[1] *= -d;
    m[3] *= -d;
    m[4] = a22;
    const double b1 = -m[0] * m[2] - m[1] * m[5], b2 = -m[3] * m[2] - m[4] * m[5];
    m[2] = b1;
    m[5] = b2;
    SP_TRY(sp__image_create(in->dtype, in->rank, h, w, in->c, out));
    int *px = sp__alloc((size_t)w * 4 * sizeof *px);
    if (!px) return SP_NOMEM;
    int *column = px + 2 * w;
    for (int x = 0; x < w; x++) { /* the part that depends on x */
        column[x] = rounded(m[0] * x * FINE);
        column[w + x] = rounded(m[3] * x * FINE);
    }
    const bool near = l.mode == SP_INTER_NEAREST;
    const int half = near ? FINE / 2 : FINE / PLACES / 2, shift = near ? FINE_BITS : FINE_BITS - PLACE_BITS;
    for (int y = 0; y < h; y++) {
        const int64_t x0 = (int64_t)rounded((m[1] * y + m[2]) * FINE) + half;
        const int64_t y0 = (int64_t)rounded((m[4] * y + m[5]) * FINE) + half;
        for (int x = 0; x < w; x++) {
            px[x] = (int)((x0 + column[x]) >> shift);
            px[w + x] = (int)((y0 + column[w + x]) >> shift);
        }
        look_row(&l, w, px, px + w, sp__image_row(out, y));
    }
    sp__free(px);
    return SP_OK;
}

#define PI 3.14159265358979323846

sp_status sp__image_rotate(const sp_image *in, double degrees, sp_inter mode, bool expand, const double *center,
                           const double fill[4], sp_image *out)
{
    const float cx = center ? (float)center[0] : (float)((in->w - 1) / 2.0);
    const float cy = center ? (float)center[1] : (float)((in->h - 1) / 2.0);
    const double angle = (float)degrees * PI / 180, a = cos(angle), b = sin(angle);
    double m[6] = {a, b, (1 - a) * cx - b * cy, -b, a, b * cx + (1 - a) * cy};
    if (!expand) return sp__image_warp_affine(in, m, in->h, in->w, mode, fill, out);
    /* The box around the turned rectangle, in the arithmetic of its corners. */
    const float fb = (float)cos(angle) * 0.5f, fa = (float)sin(angle) * 0.5f, fh = (float)in->h, fw = (float)in->w;
    const float x0 = cx - fa * fh - fb * fw, y0 = cy + fb * fh - fa * fw, x1 = cx + fa * fh - fb * fw,
                y1 = cy - fb * fh - fa * fw, x2 = 2 * cx - x0, y2 = 2 * cy - y0, x3 = 2 * cx - x1, y3 = 2 * cy - y1;
    const float bw = fmaxf(fmaxf(x0, x1), fmaxf(x2, x3)) - fminf(fminf(x0, x1), fminf(x2, x3));
    const float bh = fmaxf(fmaxf(y0, y1), fmaxf(y2, y3)) - fminf(fminf(y0, y1), fminf(y2, y3));
    m[2] += bw / 2.0 - in->w / 2.0;
    m[5] += bh / 2.0 - in->h / 2.0;
    return sp__image_warp_affine(in, m, rounded(bh), rounded(bw), mode, fill, out);
}

/* Rotation, scale and two shears about the middle, then a translation in pixels. */
sp_status sp__image_affine(const sp_image *in, double degrees, const double translate[2], double scale,
                           const double shear[2], sp_inter mode, const double fill[4], sp_image *out)
{
    const float angle = (float)(PI * (float)degrees / 180.0), sx = (float)(PI * (float)shear[0] / 180.0),
                sy = (float)(PI * -(float)shear[1] / 180.0), s = (float)scale;
    const float cx = (float)((in->w - 1) / 2.0), cy = (float)((in->h - 1) / 2.0);
    SP_CHECK(cosf(sy) != 0, SP_RUNTIME, "Affine: a shear of %g degrees flattens the image", shear[1]);
    const double turn = cosf(angle + sy), lift = sinf(angle + sy), flat = cosf(sy);
    const float m0 = (float)(s * turn / flat), m1 = (float)(s * (-turn * tanf(sx) / flat - sinf(angle)));
    const float m3 = (float)(s * lift / flat), m4 = (float)(s * (-lift * tanf(sx) / flat + cosf(angle)));
    const double m[6] = {m0, m1, (1 - m0) * cx - m1 * cy + (float)translate[0],
                         m3, m4, (1 - m4) * cy - m3 * cx + (float)translate[1]};
    return sp__image_warp_affine(in, m, in->h, in->w, mode, fill, out);
}

/* --- perspective -------------------------------------------------------------------------------------------------- */

/* Solve a x = b by elimination with pivots; false if there is no answer. a: 8 rows of 9. */
static bool solve8(double a[8][9])
{
    for (int i = 0; i < 8; i++) {
        int p = i;
        for (int r = i + 1; r < 8; r++)
            if (fabs(a[r][i]) > fabs(a[p][i])) p = r;
        if (fabs(a[p][i]) < 1e-300) return false;
        for (int k = 0; k < 9; k++) {
            const double t = a[i][k];
            a[i][k] = a[p][k];
            a[p][k] = t;
        }
        for (int r = 0; r < 8; r++) {
            if (r == i) continue;
            const double f = a[r][i] / a[i][i];
            for (int k = i; k < 9; k++) a[r][k] -= f * a[i][k];
        }
    }
    return true;
}

/* The map that takes the four points `from` to `to`. */
static bool homography(const double *from, const double *to, double m[9])
{
    double a[8][9] = {{0}};
    for (int i = 0; i < 4; i++) {
        const double x = from[2 * i], y = from[2 * i + 1], u = to[2 * i], v = to[2 * i + 1];
        const double row_u[9] = {x, y, 1, 0, 0, 0, -x * u, -y * u, u}, row_v[9] = {0, 0, 0, x, y, 1, -x * v, -y * v, v};
        memcpy(a[i], row_u, sizeof row_u);
        memcpy(a[i + 4], row_v, sizeof row_v);
    }
    if (!solve8(a)) return false;
    for (int i = 0; i < 8; i++) m[i] = a[i][8] / a[i][i];
    m[8] = 1;
    return true;
}

static void invert3(const double m[9], double out[9])
{
    const double c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
    double d = m[0] * c0 + m[1] * c1 + m[2] * c2;
    d = d != 0 ? 1 / d : 0;
    out[0] = c0 * d;
    out[1] = (m[2] * m[7] - m[1] * m[8]) * d;
    out[2] = (m[1] * m[5] - m[2] * m[4]) * d;
    out[3] = c1 * d;
    out[4] = (m[0] * m[8] - m[2] * m[6]) * d;
    out[5] = (m[2] * m[3] - m[0] * m[5]) * d;
    out[6] = c2 * d;
    out[7] = (m[1] * m[6] - m[0] * m[7]) * d;
    out[8] = (m[0] * m[4] - m[1] * m[3]) * d;
}

enum { PERSPECTIVE_START, PERSPECTIVE_END, PERSPECTIVE_INTER };
static sp_status perspective_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    static const double black[4];
    lookup l;
    double forward[9], m[9];
    SP_TRY(lookup_make("Perspective", in, (sp_inter)sp__arg_int(c, PERSPECTIVE_INTER, 0), black, &l));
    SP_CHECK(homography(c->t->attr[PERSPECTIVE_START].v, c->t->attr[PERSPECTIVE_END].v, forward), SP_RUNTIME,
             "Perspective: no map takes start_points to end_points; three of them are on one line");
    invert3(forward, m);
    SP_TRY(sp__image_create(in->dtype, in->rank, in->h, in->w, in->c, out));
    int *px = sp__alloc((size_t)in->w * 2 * sizeof *px);
    if (!px) return SP_NOMEM;
    const double unit = l.mode == SP_INTER_NEAREST ? 1 : PLACES;
    for (int y = 0; y < in->h; y++) {
        for (int x = 0; x < in->w; x++) {
            double z = m[6] * x + m[7] * y + m[8];
            z = z != 0 ? unit / z : 0;
            px[x] = rounded((m[0] * x + m[1] * y + m[2]) * z);
            px[in->w + x] = rounded((m[3] * x + m[4] * y + m[5]) * z);
        }
        look_row(&l, in->w, px, px + in->w, sp__image_row(out, y));
    }
    sp__free(px);
    return SP_OK;
}
static sp_status perspective_run(sp_transform_call *c) { return sp__run_image(c, perspective_kernel); }

const sp_transform_op sp_transform_Perspective = {.name = "Perspective",
                                                  .attrs = {{"start_points", 8, 8, 0, 0, SP_NEED, {0}},
                                                            {"end_points", 8, 8, 0, 0, SP_NEED, {0}},
                                                            {"interpolation", 1, 1, 0, 5, 1, {SP_INTER_LINEAR}}},
                                                  .run = perspective_run};

/* --- Rotate, Affine and their random kin ----------------------------------------------------------------------------- */

enum { ROTATE_DEGREES, ROTATE_INTER, ROTATE_EXPAND, ROTATE_CENTER, ROTATE_FILL };
static sp_status rotate_by(sp_transform_call *c, const sp_image *in, double degrees, sp_image *out)
{
    double given[4];
    sp__fill_of(c, ROTATE_FILL, given);
    const double fill[4] = {given[2], given[1], given[0], 0}; /* MindSpore fills with blue, green, red */
    return sp__image_rotate(in, degrees, (sp_inter)sp__arg_int(c, ROTATE_INTER, 0), sp__arg_int(c, ROTATE_EXPAND, 0),
                            sp__arg_n(c, ROTATE_CENTER) == 2 ? c->t->attr[ROTATE_CENTER].v : NULL, fill, out);
}
static sp_status rotate_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return rotate_by(c, in, sp__arg(c, ROTATE_DEGREES, 0), out);
}
static sp_status rotate_run(sp_transform_call *c) { return sp__run_image(c, rotate_kernel); }

#define ROTATE_REST                                                                                                    \
    {"resample", 1, 1, 0, 5, 1, {0}}, {"expand", 1, 1, 0, 1, 1, {0}}, {"center", 0, 2, 0, 0, 0, {0}},                  \
    {                                                                                                                  \
        "fill_value", 1, 3, 0, 255, 1, {0}                                                                             \
    }

const sp_transform_op sp_transform_Rotate = {.name = "Rotate",
                                             .batched = true,
                                             .attrs = {{"degrees", 1, 1, 0, 0, SP_NEED, {0}}, ROTATE_REST},
                                             .run = rotate_run};

static sp_status random_rotation_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    return rotate_by(c, in, sp__draw_uniform(c->stream, sp__arg(c, 0, 0), sp__arg(c, 0, 1)), out);
}
static sp_status random_rotation_run(sp_transform_call *c) { return sp__run_image(c, random_rotation_kernel); }

const sp_transform_op sp_transform_RandomRotation = {.name = "RandomRotation",
                                                     .random = true,
                                                     .batched = true,
                                                     .attrs = {{"degrees", 2, 2, 0, 0, SP_NEED, {0}}, ROTATE_REST},
                                                     .run = random_rotation_run};

enum { AFFINE_DEGREES, AFFINE_TRANSLATE, AFFINE_SCALE, AFFINE_SHEAR, AFFINE_INTER, AFFINE_FILL };
static sp_status affine_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    double fill[4];
    sp__fill_of(c, AFFINE_FILL, fill);
    const double move[2] = {(float)sp__arg(c, AFFINE_TRANSLATE, 0) * (float)in->w,
                            (float)sp__arg(c, AFFINE_TRANSLATE, 1) * (float)in->h};
    return sp__image_affine(in, sp__arg(c, AFFINE_DEGREES, 0), move, sp__arg(c, AFFINE_SCALE, 0),
                            c->t->attr[AFFINE_SHEAR].v, (sp_inter)sp__arg_int(c, AFFINE_INTER, 0), fill, out);
}
static sp_status affine_run(sp_transform_call *c) { return sp__run_image(c, affine_kernel); }

const sp_transform_op sp_transform_Affine = {.name = "Affine",
                                             .attrs = {{"degrees", 1, 1, 0, 0, SP_NEED, {0}},
                                                       {"translate", 2, 2, -1, 1, SP_NEED, {0}},
                                                       {"scale", 1, 1, 0, 1e9, SP_NEED, {0}},
                                                       {"shear", 2, 2, 0, 0, SP_NEED, {0}},
                                                       {"resample", 1, 1, 0, 5, 1, {0}},
                                                       {"fill_value", 1, 3, 0, 255, 1, {0}}},
                                             .run = affine_run};

/* translate and shear: the ranges of x, then of y */
static sp_status random_affine_kernel(sp_transform_call *c, const sp_image *in, sp_image *out)
{
    double fill[4];
    sp__fill_of(c, AFFINE_FILL, fill);
    sp_stream *s = c->stream;
    const double *t = c->t->attr[AFFINE_TRANSLATE].v, *k = c->t->attr[AFFINE_SHEAR].v;
    const double degrees = sp__draw_uniform(s, sp__arg(c, AFFINE_DEGREES, 0), sp__arg(c, AFFINE_DEGREES, 1));
    const double dx = sp__draw_uniform(s, t[0] * in->w, t[1] * in->w),
                 dy = sp__draw_uniform(s, t[2] * in->h, t[3] * in->h);
    const double scale = sp__draw_uniform(s, sp__arg(c, AFFINE_SCALE, 0), sp__arg(c, AFFINE_SCALE, 1));
    const double sx = sp__draw_uniform(s, k[0], k[1]), sy = sp__draw_uniform(s, k[2], k[3]);
    return sp__image_affine(in, fmod(degrees, 360), (double[2]){dx, dy}, scale, (double[2]){sx, sy},
                            (sp_inter)sp__arg_int(c, AFFINE_INTER, 0), fill, out);
}
static sp_status random_affine_run(sp_transform_call *c) { return sp__run_image(c, random_affine_kernel); }

const sp_transform_op sp_transform_RandomAffine = {.name = "RandomAffine",
                                                   .random = true,
                                                   .attrs = {{"degrees", 2, 2, 0, 0, SP_NEED, {0}},
                                                             {"translate", 4, 4, -1, 1, 4, {0, 0, 0, 0}},
                                                             {"scale", 2, 2, 0, 1e9, 2, {1, 1}},
                                                             {"shear", 4, 4, 0, 0, 4, {0, 0, 0, 0}},
                                                             {"resample", 1, 1, 0, 5, 1, {0}},
                                                             {"fill_value", 1, 3, 0, 255, 1, {0}}},
                                                   .run = random_affine_run};
