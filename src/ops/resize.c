/* SPDX-License-Identifier: Apache-2.0 */
/* resize.c - resampling of images and sequences, one axis at a time.
 *
 * Every interpolation here is separable: along one axis, each result is a weighted sum of a few elements. resample_axis
 * holds these sums as rows of a sparse matrix (first[row], then index and weight), made anew for each call in the
 * workspace; the gradient is the transposed matrix, so it is the same operator with `transposed` set, and derivatives of
 * any order exist. */
#include "base/wide.h"
#include "ops/nn.h"

SP_ATTR_TABLE(resample_attr_table, sp_resample_axis_attrs, (INT_NEEDED, axis), (INT_NEEDED, in_size),
              (INT_NEEDED, out_size), (TEXT, mode, "linear"), (TEXT, coordinates, "half_pixel"), (FLOAT, scale, 0.0),
              (FLOAT, cubic, -0.75), (BOOL, inside, False), (INT, steps, 0), (BOOL, transposed, False));

static sp_status resample_infer(const sp_call *c, sp_meta *out)
{
    const sp_resample_axis_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    int axis;
    SP_TRY(sp__shape_axis(a->axis, x->rank, "axis", &axis));
    SP_CHECK(a->in_size > 0 && a->out_size > 0, SP_VALUE, "sizes are %lld and %lld, they must be positive",
             (long long)a->in_size, (long long)a->out_size);
    const int64_t from = a->transposed ? a->out_size : a->in_size;
    SP_CHECK(x->dims[axis] == from, SP_VALUE, "axis %d has %lld elements, it must have %lld", axis,
             (long long)x->dims[axis], (long long)from);
    const char *modes[] = {"nearest", "linear", "cubic", "area"},
               *places[] = {"half_pixel", "align_corners", "asymmetric"};
    bool mode = false, place = false;
    for (int i = 0; i < 4; i++) mode |= strcmp(a->mode, modes[i]) == 0;
    for (int i = 0; i < 3; i++) place |= strcmp(a->coordinates, places[i]) == 0;
    SP_CHECK(mode, SP_VALUE, "mode is '%s', it must be nearest, linear, cubic or area", a->mode);
    SP_CHECK(place, SP_VALUE, "coordinates is '%s', it must be half_pixel, align_corners or asymmetric",
             a->coordinates);
    sp__meta_of(x, out);
    out->dims[axis] = a->transposed ? a->in_size : a->out_size;
    return SP_OK;
}

/* --- the matrix -------------------------------------------------------------------------------------------------- */

static int64_t taps_max(const sp_resample_axis_attrs *a)
{
    if (strcmp(a->mode, "area") == 0) return (a->in_size + a->out_size - 1) / a->out_size + 1;
    return strcmp(a->mode, "nearest") == 0 ? 1 : strcmp(a->mode, "linear") == 0 ? 2 : 4;
}

typedef struct {
    int64_t *first, *index; /* first: rows + 1 */
    double *weight;
} matrix;

static double cubic_near(double d, double a) { return ((a + 2) * d - (a + 3)) * d * d + 1; }
static double cubic_far(double d, double a) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; }

/* Taps of output o; returns how many. */
static int64_t taps_of(const sp_resample_axis_attrs *a, int64_t o, int64_t *index, double *weight)
{
    const int64_t n = a->in_size, last = n - 1;
    const bool corners = strcmp(a->coordinates, "align_corners") == 0, half = strcmp(a->coordinates, "half_pixel") == 0;
    double scale = a->scale > 0 ? a->scale : (double)n / (double)a->out_size;
    if (corners) scale = a->out_size > 1 ? (double)last / (double)(a->out_size - 1) : 0;
    if (strcmp(a->mode, "area") == 0) {
        const int64_t from = o * n / a->out_size, to = ((o + 1) * n + a->out_size - 1) / a->out_size;
        for (int64_t i = from; i < to; i++) index[i - from] = i, weight[i - from] = 1 / (double)(to - from);
        return to - from;
    }
    if (strcmp(a->mode, "nearest") == 0) {
        /* float, as images are resized elsewhere: the same pixel is chosen when a position falls on a border. */
        const float at =
            corners ? roundf((float)o * (float)scale) : floorf((half ? (float)o + 0.5f : (float)o) * (float)scale);
        index[0] = at < 0 ? 0 : (int64_t)at > last ? last : (int64_t)at;
        weight[0] = 1;
        return 1;
    }
    double at = half ? ((double)o + 0.5) * scale - 0.5 : (double)o * scale;
    if (strcmp(a->mode, "linear") == 0) {
        if (at < 0) at = 0;
        int64_t left = (int64_t)at;
        if (left > last) left = last;
        const double w = at - (double)left;
        index[0] = left;
        index[1] = left < last ? left + 1 : last;
        weight[0] = 1 - (index[1] == left ? 0 : w);
        weight[1] = index[1] == left ? 0 : w;
        return 2;
    }
    const double base = floor(at);
    double t = at - base;
    if (a->steps > 0) t = nearbyint(t * (double)a->steps) / (double)a->steps;
    const double w[4] = {cubic_far(t + 1, a->cubic), cubic_near(t, a->cubic), cubic_near(1 - t, a->cubic),
                         cubic_far(2 - t, a->cubic)};
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        const int64_t i = (int64_t)base - 1 + k;
        index[k] = i < 0 ? 0 : i > last ? last : i;
        weight[k] = a->inside && i != index[k] ? 0 : w[k];
        sum += weight[k];
    }
    for (int k = 0; a->inside && k < 4; k++) weight[k] /= sum;
    return 4;
}

static size_t resample_workspace(const sp_call *c)
{
    const sp_resample_axis_attrs *a = c->attrs;
    const size_t taps = (size_t)(taps_max(a) * a->out_size), rows = (size_t)(a->in_size + a->out_size + 2);
    return (rows + 2 * taps) * (sizeof(int64_t) + sizeof(double));
}

/* Rows of the matrix in m, or of its transpose; `spare` holds as much again. */
static void matrix_fill(const sp_resample_axis_attrs *a, matrix *m, matrix *spare)
{
    matrix *plain = a->transposed ? spare : m;
    plain->first[0] = 0;
    for (int64_t o = 0, at = 0; o < a->out_size; o++) {
        at += taps_of(a, o, plain->index + at, plain->weight + at);
        plain->first[o + 1] = at;
    }
    if (!a->transposed) return;
    const int64_t taps = plain->first[a->out_size];
    memset(m->first, 0, (size_t)(a->in_size + 1) * sizeof *m->first);
    for (int64_t k = 0; k < taps; k++) m->first[plain->index[k] + 1]++;
    for (int64_t i = 0; i < a->in_size; i++) m->first[i + 1] += m->first[i];
    for (int64_t o = 0; o < a->out_size; o++)
        for (int64_t k = plain->first[o]; k < plain->first[o + 1]; k++) {
            const int64_t at = m->first[plain->index[k]]++;
            m->index[at] = o;
            m->weight[at] = plain->weight[k];
        }
    for (int64_t i = a->in_size; i > 0; i--) m->first[i] = m->first[i - 1];
    m->first[0] = 0;
}

/* --- the product ------------------------------------------------------------------------------------------------- */

typedef struct {
    matrix m;
    int64_t n, rows, inner;
    const char *x;
    char *out;
    bool pairs; /* each row has two taps */
} resample_job;

/* Images in blocks of 16 channels (device/blocked.h), along their columns. */
enum { RESAMPLE_BLOCK = 16 };
typedef float resample_vector __attribute__((vector_size(RESAMPLE_BLOCK * sizeof(float)), aligned(4)));

static inline void resample_block(const resample_job *j, int64_t begin, int64_t end)
{
    for (int64_t u = begin; u < end; u++) {
        const float *x = (const float *)(const void *)j->x + u / j->rows * j->n * RESAMPLE_BLOCK;
        const int64_t row = u % j->rows;
        resample_vector sum = {0};
        for (int64_t k = j->m.first[row]; k < j->m.first[row + 1]; k++)
            sum += (float)j->m.weight[k] * *(const resample_vector *)(const void *)(x + j->m.index[k] * RESAMPLE_BLOCK);
        *(resample_vector *)(void *)((float *)(void *)j->out + u * RESAMPLE_BLOCK) = sum;
    }
}

/* Along the last axis: elements one by one, row after row. */
#define RESAMPLE_LAST(D, T, C, LOAD, STORE, ...)                                                                       \
    static void resample_last_##D(const resample_job *j, int64_t begin, int64_t end)                                   \
    {                                                                                                                  \
        const int64_t *first = j->m.first, *index = j->m.index;                                                        \
        const double *weight = j->m.weight;                                                                            \
        for (int64_t u = begin; u < end;) {                                                                            \
            const int64_t row = u / j->rows, o0 = u - row * j->rows,                                                   \
                          o1 = end - row * j->rows < j->rows ? end - row * j->rows : j->rows;                          \
            const T *x = (const T *)(const void *)j->x + row * j->n;                                                   \
            T *y = (T *)(void *)j->out + row * j->rows;                                                                \
            if (j->pairs) { /* the most frequent sums: vectors can do them */                                          \
                for (int64_t o = o0; o < o1; o++) {                                                                    \
                    const C sum = 0 + (C)weight[2 * o] * LOAD(x[index[2 * o]]);                                        \
                    y[o] = STORE((C)(sum + (C)weight[2 * o + 1] * LOAD(x[index[2 * o + 1]])));                         \
                }                                                                                                      \
            }                                                                                                          \
            for (int64_t o = o0; !j->pairs && o < o1; o++) {                                                           \
                C sum = 0;                                                                                             \
                for (int64_t k = first[o]; k < first[o + 1]; k++) sum += (C)weight[k] * LOAD(x[index[k]]);             \
                y[o] = STORE(sum);                                                                                     \
            }                                                                                                          \
            u += o1 - o0;                                                                                              \
        }                                                                                                              \
    }
SP_EACH_FLOAT(RESAMPLE_LAST, , )

#define RESAMPLE(D, T, C, LOAD, STORE, ...)                                                                            \
    static void resample_##D(void *context, int64_t begin, int64_t end)                                                \
    {                                                                                                                  \
        const resample_job *j = context;                                                                               \
        const int64_t inner = j->inner;                                                                                \
        if (inner == 1) {                                                                                              \
            resample_last_##D(j, begin, end);                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        if (sizeof(T) == 4 && inner == RESAMPLE_BLOCK) {                                                               \
            resample_block(j, begin, end);                                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        C sum[128];                                                                                                    \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            const T *x = (const T *)(const void *)j->x + u / j->rows * j->n * inner;                                   \
            T *y = (T *)(void *)j->out + u * inner;                                                                    \
            const int64_t from = j->m.first[u % j->rows], to = j->m.first[u % j->rows + 1];                            \
            for (int64_t at = 0; at < inner; at += 128) {                                                              \
                const int64_t w = inner - at < 128 ? inner - at : 128;                                                 \
                for (int64_t i = 0; i < w; i++) sum[i] = 0;                                                            \
                for (int64_t k = from; k < to; k++) {                                                                  \
                    const T *row = x + j->m.index[k] * inner + at;                                                     \
                    const C weight = (C)j->m.weight[k];                                                                \
                    for (int64_t i = 0; i < w; i++) sum[i] += weight * LOAD(row[i]);                                   \
                }                                                                                                      \
                for (int64_t i = 0; i < w; i++) y[at + i] = STORE(sum[i]);                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(RESAMPLE, , )
SP_WIDE_FLOATS(resample)
/* Whole numbers have no weighted sums; the nearest element is copied. */
#define RESAMPLE_COPY(D, T, C, LOAD, STORE, ...)                                                                       \
    static void resample_##D(void *context, int64_t begin, int64_t end)                                                \
    {                                                                                                                  \
        const resample_job *j = context;                                                                               \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            const int64_t from = j->m.index[j->m.first[u % j->rows]];                                                  \
            const T *x = (const T *)(const void *)j->x + (u / j->rows * j->n + from) * j->inner;                       \
            memcpy((T *)(void *)j->out + u * j->inner, x, (size_t)j->inner * sizeof(T));                               \
        }                                                                                                              \
    }
SP_EACH_INT(RESAMPLE_COPY, , )

static sp_status resample_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_REAL(SP_KERNEL_ROW, resample, )};
    const sp_resample_axis_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    int axis;
    SP_TRY(sp__shape_axis(a->axis, x->rank, "axis", &axis));
    SP_CHECK(SP_DT_FLOATS >> x->dtype & 1 || (strcmp(a->mode, "nearest") == 0 && !a->transposed), SP_TYPE,
             "x has dtype %s, mode %s needs a float", sp_dtype_name((sp_dtype)x->dtype), a->mode);
    const sp__split s = sp__split_at(x, axis, 1);
    const size_t taps = (size_t)(taps_max(a) * a->out_size);
    resample_job j = {.n = s.n, .rows = c->out[0]->dims[axis], .inner = s.inner, .x = x->data, .out = c->out[0]->data};
    matrix spare;
    j.m.first = c->work;
    spare.first = j.m.first + a->in_size + 1;
    j.m.index = spare.first + a->out_size + 1;
    if (!a->transposed) j.m.first = spare.first;
    spare.index = (int64_t *)c->work + a->in_size + a->out_size + 2 + taps;
    j.m.weight = (double *)(void *)(spare.index + taps);
    spare.weight = j.m.weight + taps;
    matrix_fill(a, &j.m, &spare);
    j.pairs = !a->transposed && strcmp(a->mode, "linear") == 0;
    const sp__part_fn wide = resample_widest(x->dtype);
    return sp__parallel_for(s.outer * j.rows, sp__grain(4 * s.inner), wide ? wide : fns[x->dtype], &j);
}
static sp_status resample_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_resample_axis_attrs back = *(const sp_resample_axis_attrs *)v->attrs;
    back.transposed = !back.transposed;
    v->din[0] = sp_builder_apply(b, &sp_op_resample_axis, &back, 1, &v->dout[0]);
    return SP_OK;
}
const sp_op sp_op_resample_axis = {
    .batch = sp__batch_axis,
    .name = "resample_axis",
    .inputs = "x",
    SP_ATTRS(resample_attr_table, sp_resample_axis_attrs),
    .dtypes = SP_DT_REAL,
    .infer = resample_infer,
    .reference = resample_reference,
    .workspace = resample_workspace,
    .vjp = resample_vjp,
    .doc = "Resample one axis to out_size elements by interpolation (transposed: the adjoint of that).",
    .samples =
        "[2,5,3] axis=1 in_size=5 out_size=8 mode=nearest; [2,5] axis=1 in_size=5 out_size=3 mode=nearest coordinates=asymmetric",
};

/* --- several axes ------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(resize_attr_table, sp_resize_attrs, (INTS_NEEDED, size), (TEXT, mode, "linear"),
              (TEXT, coordinates, "half_pixel"), (FLOATS_OR_NONE, scales), (FLOAT, cubic, -0.75), (BOOL, inside, False),
              (INT, steps, 0));
/* The last size.n axes, the last of them first: then later passes work on longer runs of smaller data. */
static sp_status resize_compose(sp_builder *b, const sp_call *c)
{
    const sp_resize_attrs *a = c->attrs;
    sp_tensor *x = c->in[0];
    SP_CHECK(a->size.n > 0 && a->size.n <= x->rank, SP_VALUE, "size has %d elements, but x has rank %d", a->size.n,
             x->rank);
    SP_CHECK(a->scales.n <= 0 || a->scales.n == a->size.n, SP_VALUE, "there are %d scales for %d axes", a->scales.n,
             a->size.n);
    for (int k = a->size.n - 1; k >= 0 && x; k--) {
        const int axis = x->rank - a->size.n + k;
        const sp_resample_axis_attrs r = {.axis = axis,
                                          .in_size = x->dims[axis],
                                          .out_size = a->size.v[k],
                                          .mode = a->mode,
                                          .coordinates = a->coordinates,
                                          .scale = a->scales.n > 0 ? a->scales.v[k] : 0,
                                          .cubic = a->cubic,
                                          .inside = a->inside,
                                          .steps = a->steps};
        if (r.in_size == r.out_size && r.scale == 0) continue;
        x = sp_builder_apply(b, &sp_op_resample_axis, &r, 1, &x);
    }
    c->out[0] = x == c->in[0] ? sp_identity(b, x) : x;
    return SP_OK;
}
const sp_op sp_op_resize = {
    .name = "resize",
    .inputs = "x",
    SP_ATTRS(resize_attr_table, sp_resize_attrs),
    .dtypes = SP_DT_REAL,
    .compose = resize_compose,
    .onnx = "Resize",
    .doc = "Resample the last axes to the given sizes.",
    .samples = "[1,2,4,5] size=(3,7) mode=nearest; [1,2,4] size=(6,) mode=nearest",
};

/* --- blocks of pixels and channels ------------------------------------------------------------------------------- */

SP_ATTR_TABLE(factor_attr_table, sp_pixel_attrs, (INT_NEEDED, factor));

static sp_status shuffle_compose(sp_builder *b, const sp_call *c)
{
    const int64_t r = ((const sp_pixel_attrs *)c->attrs)->factor;
    sp_tensor *x = c->in[0];
    SP_CHECK(r > 0 && r <= INT32_MAX, SP_VALUE, "upscale_factor is %lld, it must be positive and less than 2^31",
             (long long)r);
    SP_CHECK(x->rank >= 3 && x->dims[x->rank - 3] % (r * r) == 0, SP_VALUE,
             "x must have at least 3 dimensions, and a number of channels that %lld divides", (long long)(r * r));
    const int64_t *d = x->dims + x->rank - 3, batch = sp__split_at(x, x->rank - 3, 3).outer;
    const int64_t in[6] = {batch, d[0] / (r * r), r, r, d[1], d[2]}, perm[6] = {0, 1, 4, 2, 5, 3};
    int64_t out[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) out[i] = x->dims[i];
    out[x->rank - 3] = d[0] / (r * r);
    out[x->rank - 2] = d[1] * r;
    out[x->rank - 1] = d[2] * r;
    c->out[0] = sp_reshape(b, sp_transpose(b, sp_reshape(b, x, 6, in), 6, perm), x->rank, out);
    return SP_OK;
}
const sp_op sp_op_pixel_shuffle = {
    .name = "pixel_shuffle",
    .inputs = "x",
    SP_ATTRS(factor_attr_table, sp_pixel_attrs),
    .compose = shuffle_compose,
    .python =
        "ops.pixel_shuffle(input, upscale_factor:factor); mint.nn.functional.pixel_shuffle(input, upscale_factor:factor)",
    .doc = "Channels of groups of factor * factor become blocks of pixels.",
    .samples = "[2,8,2,3] factor=2; [4,1,1] factor=2",
};
static sp_status unshuffle_compose(sp_builder *b, const sp_call *c)
{
    const int64_t r = ((const sp_pixel_attrs *)c->attrs)->factor;
    sp_tensor *x = c->in[0];
    SP_CHECK(r > 0 && r <= INT32_MAX, SP_VALUE, "downscale_factor is %lld, it must be positive and less than 2^31",
             (long long)r);
    SP_CHECK(x->rank >= 3 && x->dims[x->rank - 2] % r == 0 && x->dims[x->rank - 1] % r == 0, SP_VALUE,
             "x must have at least 3 dimensions, the last two divisible by %lld", (long long)r);
    const int64_t *d = x->dims + x->rank - 3, batch = sp__split_at(x, x->rank - 3, 3).outer;
    const int64_t in[6] = {batch, d[0], d[1] / r, r, d[2] / r, r}, perm[6] = {0, 1, 3, 5, 2, 4};
    int64_t out[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) out[i] = x->dims[i];
    out[x->rank - 3] = d[0] * r * r;
    out[x->rank - 2] = d[1] / r;
    out[x->rank - 1] = d[2] / r;
    c->out[0] = sp_reshape(b, sp_transpose(b, sp_reshape(b, x, 6, in), 6, perm), x->rank, out);
    return SP_OK;
}
const sp_op sp_op_pixel_unshuffle = {
    .name = "pixel_unshuffle",
    .inputs = "x",
    SP_ATTRS(factor_attr_table, sp_pixel_attrs),
    .compose = unshuffle_compose,
    .python = "ops.pixel_unshuffle(input, downscale_factor:factor)",
    .doc = "Blocks of pixels become channels: pixel_shuffle undone.",
    .samples = "[2,2,4,6] factor=2; [1,2,2] factor=2",
};
