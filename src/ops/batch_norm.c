/* SPDX-License-Identifier: Apache-2.0 */
/* batch_norm.c - normalisation of channels over a batch, and other operators along the channel axis (1).
 *
 * batch_norm is a composition: in training the fused batch_norm_train and two moving averages updated in place, in use
 * channel_affine with scale and shift computed from the kept statistics. A tensor is seen as batch x channels x inner.
 * With inner > 1 every channel is a unit of work, from its statistics to its results: what is read again is still in a near cache. With
 * inner = 1 (after a dense layer) BLOCK neighbouring channels are, so that memory is read in its order, and results are a second round. */
#include "base/wide.h"
#include "ir/like.h"
#include "ir/refuse.h"
#include "ops/norm.h"

enum { BLOCK = 64, EPILOGUE_RUN = 512 };

static sp_dtype stats_dtype(const sp_tensor *x) { return x->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32; }

static sp_status channels_check(const sp_call *c, int first, int last)
{
    char text[SP_SHAPE_TEXT], text_x[SP_SHAPE_TEXT];
    const sp_tensor *x = c->in[0];
    SP_CHECK(x->rank >= 2, SP_VALUE, "x has rank %d, it must be at least 2", x->rank);
    for (int i = first; i <= last; i++)
        SP_CHECK(
            !c->in[i] || (c->in[i]->rank == 1 && c->in[i]->dims[0] == x->dims[1]), SP_VALUE,
            "%s must be a vector of %lld elements, one per channel of x (dimension 1 of its shape %s), but its shape is %s",
            sp__op_inputs(c->op)->names[i], (long long)x->dims[1], sp__shape_text(x->rank, x->dims, text_x),
            sp__shape_text(c->in[i]->rank, c->in[i]->dims, text));
    return SP_OK;
}

/* Axes of x but the channels. */
static int other_axes(const sp_tensor *x, int64_t *axes)
{
    int n = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != 1) axes[n++] = i;
    return n;
}

typedef struct {
    sp__split s; /* batch x channels x inner */
    double epsilon;
    const char *x, *g;
    char *out;
    void *a, *b, *mean, *variance; /* one number of the type computed in per channel */
    const void *scale;
    void *dscale, *dbias;        /* gradients */
    const sp_epilogue *epilogue; /* when inner > 1 */
} channel_job;

/* --- channel_affine ---------------------------------------------------------------------------------------------- */

#define AFFINE(D, T, C, LOAD, STORE, ...)                                                                              \
    static inline void affine_run_##D(const T *x, T *y, int64_t n, C scale, C shift)                                   \
    {                                                                                                                  \
        for (int64_t k = 0; k < n; k++) y[k] = STORE(LOAD(x[k]) * scale + shift);                                      \
    }                                                                                                                  \
    static void affine_##D(void *context, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        const channel_job *j = context;                                                                                \
        const C *a = j->a, *b = j->b;                                                                                  \
        const int64_t inner = j->s.inner, channels = j->s.n;                                                           \
        if (inner == 1) { /* a unit is a sample */                                                                     \
            for (int64_t u = begin; u < end; u++) {                                                                    \
                const T *x = (const T *)(const void *)j->x + u * channels;                                             \
                T *y = (T *)(void *)j->out + u * channels;                                                             \
                for (int64_t k = 0; k < channels; k++) y[k] = STORE(LOAD(x[k]) * a[k] + b[k]);                         \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t u = begin; u < end; u++) { /* a unit is one channel of one sample */                              \
            const T *x = (const T *)(const void *)j->x + u * inner;                                                    \
            affine_run_##D(x, (T *)(void *)j->out + u * inner, inner, a[u % channels], b[u % channels]);               \
        }                                                                                                              \
    }
SP_EACH_FLOAT(AFFINE, , )
SP_WIDE_FLOATS(affine)

static sp_status affine_run(const channel_job *j, int dtype)
{
    const int64_t units = j->s.inner == 1 ? j->s.outer : j->s.outer * j->s.n;
    return sp__parallel_for(units, sp__grain(j->s.inner == 1 ? j->s.n : j->s.inner), affine_widest(dtype), (void *)j);
}
static size_t two_per_channel(const sp_call *c)
{
    return c->in[0]->rank > 1 ? (size_t)c->in[0]->dims[1] * 2 * sp_dtype_bytes(stats_dtype(c->in[0])) : 0;
}

static sp_status affine_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(channels_check(c, 1, 2));
    return sp__infer_same(c, out);
}
static sp_status affine_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    const sp_dtype real = stats_dtype(x);
    channel_job j = {.s = sp__split_at(x, 1, 1), .x = x->data, .out = c->out[0]->data, .a = c->work};
    j.b = (char *)c->work + (size_t)x->dims[1] * sp_dtype_bytes(real);
    sp__params_read(c->in[1], 1, real, x->dims[1], j.a);
    sp__params_read(c->in[2], 0, real, x->dims[1], j.b);
    return x->count ? affine_run(&j, x->dtype) : SP_OK;
}
/* The same for plans, which do it together with what comes before and behind: the loop gets scale and shift along the axis. */
#define AFFINE_LOOP(D, T)                                                                                              \
    static void affine_loop_##D(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                   \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        T *y = (T *)(void *)ptr[0];                                                                                    \
        const T *x = (const T *)(const void *)ptr[1], *a = (const T *)(const void *)ptr[2],                            \
                *b = (const T *)(const void *)ptr[3];                                                                  \
        const int64_t size = (int64_t)sizeof(T);                                                                       \
        if (step[0] == size && step[1] == size && step[2] == 0 && step[3] == 0) {                                      \
            const T scale = *a, shift = *b;                                                                            \
            for (int64_t i = 0; i < n; i++) y[i] = x[i] * scale + shift;                                               \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                                                \
            y[i * (step[0] / size)] = x[i * (step[1] / size)] * a[i * (step[2] / size)] + b[i * (step[3] / size)];     \
    }
AFFINE_LOOP(F32, float)
AFFINE_LOOP(F64, double)
static sp_inner_loop affine_loop(const sp_call *c)
{
    const int dtype = c->in[0]->dtype;
    const bool plain = dtype == SP_DTYPE_F32 || dtype == SP_DTYPE_F64; /* half types are scaled in float */
    for (int i = 1; i < 3; i++)
        if (!plain || !c->in[i] || c->in[i]->dtype != dtype) return (sp_inner_loop){.fn = NULL};
    return (sp_inner_loop){.fn = dtype == SP_DTYPE_F32 ? affine_loop_F32 : affine_loop_F64, .cost = 8};
}
static sp_status affine_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *x = v->in[0], *a = v->in[1], *g = v->dout[0];
    int64_t axes[SP_RANK_MAX];
    const int n = other_axes(x, axes);
    if (v->needs[0])
        v->din[0] =
            sp_builder_apply(b, &sp_op_channel_affine, NULL, 3, (sp_tensor *const[]){g, a, sp__zeros_like(b, a)});
    if (v->needs[1]) v->din[1] = sp_cast(b, sp_reduce_sum(b, sp_mul(b, g, x), n, axes, false), (sp_dtype)a->dtype);
    if (v->needs[2]) v->din[2] = sp_cast(b, sp_reduce_sum(b, g, n, axes, false), (sp_dtype)v->in[2]->dtype);
    return SP_OK;
}
const sp_op sp_op_channel_affine = {
    .name = "channel_affine",
    .inputs = "x, scale, shift",
    .dtypes = SP_DT_FLOATS,
    .infer = affine_infer,
    .reference = affine_reference,
    .loop = affine_loop,
    .loop_axis = 1,
    .workspace = two_per_channel,
    .vjp = affine_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .doc = "x * scale + shift with one scale and shift per channel (axis 1).",
    .samples = "[2,3,4] [3] [3]; [4,3] [3] [3]",
};

/* --- batch_norm_train -------------------------------------------------------------------------------------------- */

#define FOLD(D, T, C, LOAD, STORE, ...)                                                                                \
    /* a = scale / sqrt(variance + epsilon), b = bias - mean a, of channels [begin, end). */                           \
    static inline void fold_##D(const channel_job *j, int64_t begin, int64_t end)                                      \
    {                                                                                                                  \
        C *a = j->a, *b = j->b;                                                                                        \
        const C *mean = j->mean, *variance = j->variance;                                                              \
        for (int64_t k = begin; k < end; k++) {                                                                        \
            a[k] *= (C)(1 / sqrt((double)variance[k] + j->epsilon));                                                   \
            b[k] -= mean[k] * a[k];                                                                                    \
        }                                                                                                              \
    }
SP_EACH_FLOAT(FOLD, , )

/* Statistics and results of channels [begin, end); when inner is 1, statistics of blocks of them. */
#define BATCH_STATS(D, T, C, LOAD, STORE, ...)                                                                         \
    static void batch_stats_##D(void *context, int64_t begin, int64_t end)                                             \
    {                                                                                                                  \
        const channel_job *j = context;                                                                                \
        const int64_t inner = j->s.inner, channels = j->s.n, batch = j->s.outer;                                       \
        const double count = (double)(batch * inner);                                                                  \
        const T *x = (const T *)(const void *)j->x;                                                                    \
        C *means = j->mean, *variances = j->variance;                                                                  \
        if (inner == 1) {                                                                                              \
            for (int64_t u = begin; u < end; u++) {                                                                    \
                const int64_t at = u * BLOCK, w = channels - at < BLOCK ? channels - at : BLOCK;                       \
                double sum[BLOCK] = {0}, spread[BLOCK] = {0};                                                          \
                for (int64_t i = 0; i < batch; i++)                                                                    \
                    for (int64_t k = 0; k < w; k++) sum[k] += (double)LOAD(x[i * channels + at + k]);                  \
                for (int64_t k = 0; k < w; k++) sum[k] /= count;                                                       \
                for (int64_t i = 0; i < batch; i++)                                                                    \
                    for (int64_t k = 0; k < w; k++) {                                                                  \
                        const double d = (double)LOAD(x[i * channels + at + k]) - sum[k];                              \
                        spread[k] += d * d;                                                                            \
                    }                                                                                                  \
                for (int64_t k = 0; k < w; k++) means[at + k] = (C)sum[k], variances[at + k] = (C)(spread[k] / count); \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            double sum = 0, spread = 0;                                                                                \
            for (int64_t i = 0; i < batch; i++) sum += sp__total_##D(x + (i * channels + u) * inner, inner);           \
            const C mean = (C)(sum / count);                                                                           \
            for (int64_t i = 0; i < batch; i++) spread += sp__spread_##D(x + (i * channels + u) * inner, inner, mean); \
            means[u] = mean;                                                                                           \
            variances[u] = (C)(spread / count);                                                                        \
            fold_##D(j, u, u + 1);                                                                                     \
            for (int64_t i = 0; i < batch; i++) {                                                                      \
                const int64_t at = (i * channels + u) * inner;                                                         \
                affine_run_##D(x + at, (T *)(void *)j->out + at, inner, ((C *)j->a)[u], ((C *)j->b)[u]);               \
                if (j->epilogue) j->epilogue->fn(j->epilogue->context, at, 1, 0, inner);                               \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(BATCH_STATS, , )

static int64_t channel_units(const sp__split *s, int64_t *grain)
{
    *grain = sp__grain(s->outer * (s->inner == 1 ? BLOCK : s->inner));
    return s->inner == 1 ? (s->n + BLOCK - 1) / BLOCK : s->n;
}

SP_ATTR_TABLE(epsilon_attr_table, sp_batch_norm_train_attrs, (FLOAT, epsilon, 1e-05));

static sp_status train_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(channels_check(c, 1, 2));
    sp__meta_of(c->in[0], &out[0]);
    for (int k = 1; k < 3; k++)
        out[k] = (sp_meta){.dtype = stats_dtype(c->in[0]), .rank = 1, .dims = {c->in[0]->dims[1]}};
    return SP_OK;
}

SP_WIDE_FLOATS(batch_stats)
/* Short runs are dearer to hand over than to read once more. */
static int64_t train_epilogue(const sp_call *c)
{
    const int64_t inner = c->in[0]->rank > 1 ? sp__split_at(c->in[0], 1, 1).inner : 0;
    return inner >= EPILOGUE_RUN ? inner : 0;
}
static sp_status train_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    const sp_dtype real = stats_dtype(x);
    channel_job j = {.s = sp__split_at(x, 1, 1),
                     .x = x->data,
                     .out = c->out[0]->data,
                     .a = c->work,
                     .epsilon = ((const sp_batch_norm_train_attrs *)c->attrs)->epsilon,
                     .mean = c->out[1]->data,
                     .variance = c->out[2]->data,
                     .epilogue = c->epilogue};
    j.b = (char *)c->work + (size_t)x->dims[1] * sp_dtype_bytes(real);
    if (!x->count) { /* the mean of nothing */
        for (int k = 1; k < 3; k++)
            for (int64_t i = 0; i < x->dims[1]; i++) {
                if (real == SP_DTYPE_F64) ((double *)(void *)c->out[k]->data)[i] = NAN;
                else ((float *)(void *)c->out[k]->data)[i] = NAN;
            }
        return SP_OK;
    }
    int64_t grain;
    const int64_t units = channel_units(&j.s, &grain);
    sp__params_read(c->in[1], 1, real, x->dims[1], j.a);
    sp__params_read(c->in[2], 0, real, x->dims[1], j.b);
    SP_TRY(sp__parallel_for(units, grain, batch_stats_widest(x->dtype), &j));
    if (j.s.inner > 1) return SP_OK; /* results are there */
    if (real == SP_DTYPE_F64) fold_F64(&j, 0, j.s.n);
    else fold_F32(&j, 0, j.s.n);
    return affine_run(&j, x->dtype);
}

/* dx = s (g - mean(g) - h mean(g h)), h = (x - mean) k, s = scale k: collected by g, x and 1. Of channels [begin, end): from sums of g and of
 * g (x - mean), in a and b, to what g, x and 1 are multiplied by, in b, variance and a. */
#define BATCH_COEFFICIENTS(D, T, C, LOAD, STORE, ...)                                                                  \
    static inline void coefficients_##D(const channel_job *j, int64_t begin, int64_t end)                              \
    {                                                                                                                  \
        const double count = (double)(j->s.outer * j->s.inner);                                                        \
        C *sum = j->a, *dot = j->b, *variance = j->variance, *dscale = j->dscale, *dbias = j->dbias;                   \
        const C *mean = j->mean, *scale = j->scale;                                                                    \
        for (int64_t k = begin; k < end; k++) {                                                                        \
            const double rstd = 1 / sqrt((double)variance[k] + j->epsilon), s = (double)scale[k] * rstd;               \
            dbias[k] = sum[k];                                                                                         \
            dscale[k] = (C)((double)dot[k] * rstd);                                                                    \
            const double slope = -s * rstd * rstd * (double)dot[k] / count;                                            \
            const double shift = -s * (double)sum[k] / count - slope * (double)mean[k];                                \
            dot[k] = (C)s;                                                                                             \
            variance[k] = (C)slope;                                                                                    \
            sum[k] = (C)shift;                                                                                         \
        }                                                                                                              \
    }
SP_EACH_FLOAT(BATCH_COEFFICIENTS, , )

#define BATCH_GRAD(D, T, C, LOAD, STORE, ...)                                                                          \
    /* Gradients of channels [begin, end); when inner is 1, sums of blocks of them. */                                 \
    static void batch_sums_##D(void *context, int64_t begin, int64_t end)                                              \
    {                                                                                                                  \
        const channel_job *j = context;                                                                                \
        const int64_t inner = j->s.inner, channels = j->s.n, batch = j->s.outer;                                       \
        const T *x = (const T *)(const void *)j->x, *g = (const T *)(const void *)j->g;                                \
        const C *means = j->mean;                                                                                      \
        C *a = j->a, *b = j->b;                                                                                        \
        if (inner == 1) {                                                                                              \
            for (int64_t u = begin; u < end; u++) {                                                                    \
                const int64_t at = u * BLOCK, w = channels - at < BLOCK ? channels - at : BLOCK;                       \
                double sum[BLOCK] = {0}, dot[BLOCK] = {0};                                                             \
                for (int64_t i = 0; i < batch; i++)                                                                    \
                    for (int64_t k = 0; k < w; k++) {                                                                  \
                        const C gk = LOAD(g[i * channels + at + k]);                                                   \
                        sum[k] += (double)gk;                                                                          \
                        dot[k] += (double)(gk * (LOAD(x[i * channels + at + k]) - means[at + k]));                     \
                    }                                                                                                  \
                for (int64_t k = 0; k < w; k++) a[at + k] = (C)sum[k], b[at + k] = (C)dot[k];                          \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            double sum = 0, dot = 0;                                                                                   \
            for (int64_t i = 0; i < batch; i++) {                                                                      \
                const int64_t at = (i * channels + u) * inner;                                                         \
                sum += sp__total_##D(g + at, inner);                                                                   \
                dot += sp__dot_##D(g + at, x + at, inner, means[u]);                                                   \
            }                                                                                                          \
            a[u] = (C)sum;                                                                                             \
            b[u] = (C)dot;                                                                                             \
            coefficients_##D(j, u, u + 1);                                                                             \
            const C pu = b[u], qu = ((const C *)j->variance)[u], ru = a[u];                                            \
            for (int64_t i = 0; i < batch; i++) {                                                                      \
                const T *xs = x + (i * channels + u) * inner, *gs = g + (i * channels + u) * inner;                    \
                T *dx = (T *)(void *)j->out + (i * channels + u) * inner;                                              \
                for (int64_t k = 0; k < inner; k++) dx[k] = STORE(LOAD(gs[k]) * pu + LOAD(xs[k]) * qu + ru);           \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    /* dx of samples, when inner is 1. */                                                                              \
    static void batch_dx_##D(void *context, int64_t begin, int64_t end)                                                \
    {                                                                                                                  \
        const channel_job *j = context;                                                                                \
        const int64_t channels = j->s.n;                                                                               \
        const C *p = j->b, *q = j->variance, *r = j->a;                                                                \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            const T *x = (const T *)(const void *)j->x + u * channels,                                                 \
                    *g = (const T *)(const void *)j->g + u * channels;                                                 \
            T *dx = (T *)(void *)j->out + u * channels;                                                                \
            for (int64_t k = 0; k < channels; k++) dx[k] = STORE(LOAD(g[k]) * p[k] + LOAD(x[k]) * q[k] + r[k]);        \
        }                                                                                                              \
    }
SP_EACH_FLOAT(BATCH_GRAD, , )

static sp_status train_grad_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(channels_check(c, 1, 3));
    SP_TRY(sp__input_like(c, 4, 0));
    sp__meta_of(c->in[0], &out[0]);
    for (int k = 1; k < 3; k++)
        out[k] = (sp_meta){.dtype = stats_dtype(c->in[0]), .rank = 1, .dims = {c->in[0]->dims[1]}};
    return SP_OK;
}
static size_t train_grad_workspace(const sp_call *c) { return two_per_channel(c) / 2 * 5; }
SP_WIDE_FLOATS(batch_sums)
SP_WIDE_FLOATS(batch_dx)
static sp_status train_grad_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    const sp_dtype real = stats_dtype(x);
    const size_t bytes = (size_t)x->dims[1] * sp_dtype_bytes(real);
    char *work = c->work;
    channel_job j = {.s = sp__split_at(x, 1, 1),
                     .x = x->data,
                     .g = c->in[4]->data,
                     .out = c->out[0]->data,
                     .epsilon = ((const sp_batch_norm_train_attrs *)c->attrs)->epsilon,
                     .a = work,
                     .b = work + bytes,
                     .mean = work + 2 * bytes,
                     .variance = work + 3 * bytes,
                     .scale = work + 4 * bytes,
                     .dscale = c->out[1]->data,
                     .dbias = c->out[2]->data};
    sp__params_read(c->in[1], 1, real, x->dims[1], work + 4 * bytes);
    sp__params_read(c->in[2], 0, real, x->dims[1], j.mean);
    sp__params_read(c->in[3], 0, real, x->dims[1], j.variance);
    if (!x->count) {
        for (int k = 1; k < 3; k++) memset(c->out[k]->data, 0, bytes);
        return SP_OK;
    }
    int64_t grain;
    const int64_t units = channel_units(&j.s, &grain);
    SP_TRY(sp__parallel_for(units, grain, batch_sums_widest(x->dtype), &j));
    if (j.s.inner > 1) return SP_OK; /* dx is there */
    if (real == SP_DTYPE_F64) coefficients_F64(&j, 0, j.s.n);
    else coefficients_F32(&j, 0, j.s.n);
    return sp__parallel_for(j.s.outer, sp__grain(j.s.n), batch_dx_widest(x->dtype), &j);
}

static sp_status train_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_batch_norm_train_attrs *a = v->attrs;
    sp_tensor *x = v->in[0], *scale = v->in[1], *bias = v->in[2], *g = v->dout[0];
    int64_t axes[SP_RANK_MAX];
    const int n = other_axes(x, axes);
    const double count = x->dims[1] ? (double)(x->count / x->dims[1]) : 1;
    sp_tensor *ds = NULL, *db = NULL;
    const bool again = sp__vjp_again(v);
    sp_tensor *d = NULL;
    if ((g && again) || v->dout[2]) d = sp_sub(b, x, sp_reduce_mean(b, x, n, axes, true));
    if (g && again) {
        sp_tensor *variance = sp_reduce_mean(b, sp_square(b, d), n, axes, true);
        sp_tensor *k = sp_rsqrt(b, sp__add_number(b, variance, a->epsilon)), *h = sp_mul(b, d, k);
        sp_tensor *dh = scale ? sp_mul(b, g, sp_cast(b, sp__along(b, scale, x->rank, 1), (sp_dtype)x->dtype)) : g;
        sp_tensor *inside = sp_sub(b, dh, sp_reduce_mean(b, dh, n, axes, true));
        inside = sp_sub(b, inside, sp_mul(b, h, sp_reduce_mean(b, sp_mul(b, dh, h), n, axes, true)));
        v->din[0] = sp_mul(b, k, inside);
        ds = sp_reduce_sum(b, sp_mul(b, g, h), n, axes, false);
        db = sp_reduce_sum(b, g, n, axes, false);
    } else if (g) {
        sp_tensor *out[3];
        int n_out;
        sp_tensor *in[5] = {x, scale, v->out[1], v->out[2], g};
        SP_TRY(sp_builder_apply_many(b, &sp_op_batch_norm_train_grad, a, 5, in, 3, out, &n_out));
        v->din[0] = out[0];
        ds = out[1];
        db = out[2];
    }
    if (scale && ds) v->din[1] = sp_cast(b, ds, (sp_dtype)scale->dtype);
    if (bias && db) v->din[2] = sp_cast(b, db, (sp_dtype)bias->dtype);
    if (v->dout[1]) {
        sp_tensor *dm =
            sp_cast(b, sp__along(b, sp__mul_number(b, v->dout[1], 1 / count), x->rank, 1), (sp_dtype)x->dtype);
        v->din[0] = sp__add_some(b, v->din[0], sp_broadcast_to(b, dm, x->rank, x->dims));
    }
    if (v->dout[2]) {
        sp_tensor *dv =
            sp_cast(b, sp__along(b, sp__mul_number(b, v->dout[2], 2 / count), x->rank, 1), (sp_dtype)x->dtype);
        v->din[0] = sp__add_some(b, v->din[0], sp_mul(b, dv, d));
    }
    return SP_OK;
}

const sp_op sp_op_batch_norm_train = {
    .batch = sp__batch_channels,
    .name = "batch_norm_train",
    .shard = "n c ..., c, c -> n c ..., c, c; n whole, ... whole",
    .inputs = "x, scale?, bias?",
    .n_out = 3,
    SP_ATTRS(epsilon_attr_table, sp_batch_norm_train_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = train_infer,
    .reference = train_reference,
    .workspace = two_per_channel,
    .epilogue = train_epilogue,
    .vjp = train_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1) | SP_SAVE_OUT(1) | SP_SAVE_OUT(2),
    .doc =
        "Normalise every channel by mean and variance over batch and pixels, scale and shift; also gives both statistics.",
    .samples = "[4,3,2] [3] [3] epsilon=0.001; [5,3] [3] [3] epsilon=0.001; [3,2,2,2] _ _ epsilon=0.001",
};
const sp_op sp_op_batch_norm_train_grad = {
    .batch = sp__batch_channels,
    .name = "batch_norm_train_grad",
    .shard = "n c ..., c, c, c, n c ... -> n c ..., c, c; n whole, ... whole",
    .inputs = "x, scale?, mean, variance, dout",
    .n_out = 3,
    SP_ATTRS(epsilon_attr_table, sp_batch_norm_train_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = train_grad_infer,
    .reference = train_grad_reference,
    .workspace = train_grad_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "batch_norm_train composes its gradient when that is differentiated",
    .doc = "Gradients of batch_norm_train towards x, scale and bias.",
    .samples = "[4,3,2] [3] [3] [3]>0 [4,3,2] epsilon=0.001",
};

/* --- moving averages --------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(average_attr_table, sp_moving_average_update_attrs, (FLOAT, momentum, 0.1), (FLOAT, factor, 1.0));
static sp_status average_infer(const sp_call *c, sp_meta *out)
{
    sp__meta_of(c->in[0], out);
    return SP_OK;
}
#define AVERAGE(D, T, C, LOAD, STORE, ...)                                                                             \
    static void average_##D(int64_t n, char *const *ptr, const int64_t *step, const void *context)                     \
    {                                                                                                                  \
        const double *f = context;                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            T *x = (T *)(void *)(ptr[0] + i * step[0]);                                                                \
            const C value = LOAD(*(const T *)(const void *)(ptr[1] + i * step[1]));                                    \
            *x = STORE((C)f[0] * LOAD(*x) + (C)f[1] * value);                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(AVERAGE, , )
static sp_status average_reference(const sp_call *c)
{
    static const sp_loop_fn fns[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_KERNEL_ROW, average, )};
    const sp_moving_average_update_attrs *a = c->attrs;
    const double factors[2] = {1 - a->momentum, a->momentum * a->factor};
    SP_CHECK(sp__tensor_same_shape(c->in[0], c->in[1]) && c->in[0]->dtype == c->in[1]->dtype, SP_VALUE,
             "the average and the new value differ in shape or dtype");
    const sp_tensor *const operands[2] = {c->in[0], c->in[1]};
    sp_loop loop;
    sp__loop_init(&loop, c->in[0]->rank, c->in[0]->dims, 2, operands);
    return sp__loop_run(&loop, fns[c->in[0]->dtype], factors, 4);
}
const sp_op sp_op_moving_average_update = {
    .name = "moving_average_update",
    .shard = "same",
    .inputs = "average, value",
    SP_ATTRS(average_attr_table, sp_moving_average_update_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = average_infer,
    .reference = average_reference,
    .strided = true,
    .writes = 1,
    .no_vjp = "updates in place",
    .doc = "average = (1 - momentum) * average + momentum * factor * value, in place.",
    .samples = "[3] [3]; [2,3] [2,3] momentum=0.3 factor=1.5",
};

/* --- batch_norm -------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(batch_attr_table, sp_batch_norm_attrs, (BOOL, is_training, False), (FLOAT, epsilon, 1e-05),
              (FLOAT, momentum, 0.1), (TEXT, data_format, "NCHW"));

/* The last axis to place 1, or back. */
static sp_tensor *move_channels(sp_builder *b, sp_tensor *x, bool to_front)
{
    if (!x) return NULL;
    int64_t perm[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++)
        perm[i] = i == 0 ? 0 : to_front ? (i == 1 ? x->rank - 1 : i - 1) : (i == x->rank - 1 ? 1 : i + 1);
    return sp_transpose(b, x, x->rank, perm);
}

static sp_status batch_compose(sp_builder *b, const sp_call *c)
{
    const sp_batch_norm_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *scale = c->in[1], *bias = c->in[2], *mean = c->in[3], *variance = c->in[4];
    SP_CHECK(strcmp(a->data_format, "NCHW") == 0 || strcmp(a->data_format, "NHWC") == 0 ||
                 strcmp(a->data_format, "NCDHW") == 0,
             SP_VALUE, "data_format is '%s', it must be 'NCHW', 'NHWC' or 'NCDHW'", a->data_format);
    SP_CHECK(x->rank >= 2, SP_VALUE, "x has rank %d, it must be at least 2", x->rank);
    const bool last = strcmp(a->data_format, "NHWC") == 0;
    if (last) x = move_channels(b, x, true);
    sp_tensor *out[3] = {NULL, mean, variance};
    if (a->is_training) {
        const sp_batch_norm_train_attrs e = {a->epsilon};
        int n;
        SP_TRY(
            sp_builder_apply_many(b, &sp_op_batch_norm_train, &e, 3, (sp_tensor *const[]){x, scale, bias}, 3, out, &n));
        const double count = x->dims[1] ? (double)(x->count / x->dims[1]) : 0;
        for (int k = 0; k < 2; k++) {
            sp_tensor *kept = k ? variance : mean;
            if (!kept) continue;
            /* The kept variance is the unbiased one. */
            const sp_moving_average_update_attrs to = {a->momentum, k && count > 1 ? count / (count - 1) : 1};
            sp_tensor *now = sp_cast(b, out[1 + k], (sp_dtype)kept->dtype);
            sp_builder_apply(b, &sp_op_moving_average_update, &to, 2, (sp_tensor *const[]){kept, now});
        }
    } else {
        SP_CHECK(mean && variance, SP_VALUE, "mean and variance must be given when is_training is false");
        sp_tensor *s = sp_rsqrt(b, sp__add_number(b, variance, a->epsilon));
        if (scale) s = sp_mul(b, s, scale);
        sp_tensor *shift = sp_neg(b, sp_mul(b, mean, s));
        if (bias) shift = sp_add(b, shift, bias);
        out[0] = sp_builder_apply(b, &sp_op_channel_affine, NULL, 3, (sp_tensor *const[]){x, s, shift});
    }
    c->out[0] = last ? move_channels(b, out[0], false) : out[0];
    c->out[1] = out[1];
    c->out[2] = out[2];
    return SP_OK;
}
const sp_op sp_op_batch_norm = {
    .name = "batch_norm",
    .inputs = "x, scale?, bias?, mean?, variance?",
    .n_out = 3,
    SP_ATTRS(batch_attr_table, sp_batch_norm_attrs),
    .dtypes = SP_DT_FLOATS,
    .compose = batch_compose,
    .mindir = "BatchNorm",
    .onnx = "BatchNormalization",
    .doc =
        "Normalise channels: in training by the statistics of this batch, which also move the kept ones; else by the "
        "kept ones. Gives y and the statistics used.",
    .samples = "[4,3,2] [3] [3] [3] [3]>0; [2,2,2,3] [3] [3] [3] [3]>0 data_format=NHWC; [4,3] _ _ [3] [3]>0",
};

/* --- sums over neighbouring channels ----------------------------------------------------------------------------- */

SP_ATTR_TABLE(window_attr_table, sp_channel_window_sum_attrs, (INT_NEEDED, before), (INT_NEEDED, after));

typedef struct {
    sp__split s;
    sp_channel_window_sum_attrs w;
    const char *x;
    char *out;
} window_job;
#define WINDOW(D, T, C, LOAD, STORE, ...)                                                                              \
    static void window_##D(void *context, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        const window_job *j = context;                                                                                 \
        const int64_t inner = j->s.inner, n = j->s.n;                                                                  \
        for (int64_t u = begin; u < end; u++) {                                                                        \
            const T *x = (const T *)(const void *)j->x + u / n * n * inner;                                            \
            T *y = (T *)(void *)j->out + u * inner;                                                                    \
            const int64_t at = u % n, from = at > j->w.before ? at - j->w.before : 0;                                  \
            const int64_t to = j->w.after < n - at - 1 ? at + j->w.after + 1 : n;                                      \
            for (int64_t k = 0; k < inner; k++) {                                                                      \
                C sum = 0;                                                                                             \
                for (int64_t i = from; i < to; i++) sum += LOAD(x[i * inner + k]);                                     \
                y[k] = STORE(sum);                                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(WINDOW, , )
static sp_status window_infer(const sp_call *c, sp_meta *out)
{
    const sp_channel_window_sum_attrs *a = c->attrs;
    SP_CHECK(a->before >= 0 && a->after >= 0, SP_VALUE, "before and after are %lld and %lld, they must not be negative",
             (long long)a->before, (long long)a->after);
    SP_TRY(channels_check(c, 1, 0));
    return sp__infer_same(c, out);
}
static sp_status window_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, window, )};
    window_job j = {.s = sp__split_at(c->in[0], 1, 1),
                    .w = *(const sp_channel_window_sum_attrs *)c->attrs,
                    .x = c->in[0]->data,
                    .out = c->out[0]->data};
    const int64_t n = j.s.n, before = j.w.before < n ? j.w.before : n, after = j.w.after < n ? j.w.after : n;
    return sp__parallel_for(j.s.outer * n, sp__grain(j.s.inner * (before + after + 1)), fns[c->in[0]->dtype], &j);
}
static sp_status window_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_channel_window_sum_attrs *a = v->attrs, back = {a->after, a->before};
    v->din[0] = sp_builder_apply(b, &sp_op_channel_window_sum, &back, 1, &v->dout[0]);
    return SP_OK;
}
const sp_op sp_op_channel_window_sum = {
    .batch = sp__batch_fold,
    .name = "channel_window_sum",
    .inputs = "x",
    SP_ATTRS(window_attr_table, sp_channel_window_sum_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = window_infer,
    .reference = window_reference,
    .vjp = window_vjp,
    .doc = "Sum of each channel with those `before` and `after` it.",
    .samples = "[2,5,3] before=1 after=2; [1,4] before=0 after=1",
};

SP_ATTR_TABLE(lrn_attr_table, sp_lrn_attrs, (INT, depth_radius, 5), (FLOAT, bias, 1.0), (FLOAT, alpha, 1.0),
              (FLOAT, beta, 0.5), (TEXT, norm_region, "ACROSS_CHANNELS"));
static sp_status lrn_compose(sp_builder *b, const sp_call *c)
{
    const sp_lrn_attrs *a = c->attrs;
    const sp_channel_window_sum_attrs w = {a->depth_radius, a->depth_radius};
    SP_CHECK(strcmp(a->norm_region, "ACROSS_CHANNELS") == 0, SP_VALUE,
             "norm_region is '%s', it must be 'ACROSS_CHANNELS'", a->norm_region);
    sp_tensor *square = sp_square(b, c->in[0]), *sum = sp_builder_apply(b, &sp_op_channel_window_sum, &w, 1, &square);
    sp_tensor *base = sp__add_number(b, sp__mul_number(b, sum, a->alpha), a->bias);
    c->out[0] = sp_mul(b, c->in[0], sp_exp(b, sp__mul_number(b, sp_log(b, base), -a->beta)));
    return SP_OK;
}
const sp_op sp_op_lrn = {
    .name = "lrn",
    .inputs = "x",
    SP_ATTRS(lrn_attr_table, sp_lrn_attrs),
    .dtypes = SP_DT_FLOATS,
    .compose = lrn_compose,
    .mindir = "LRN",
    .onnx = "LRN",
    .python = "ops.lrn(x, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region='ACROSS_CHANNELS'); "
              "ops.LRN(depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region='ACROSS_CHANNELS')(x)",
    .doc = "Divide by (bias + alpha * sum of squares of the neighbouring channels) to the power of beta.",
    .samples = "[2,5,3,2]; [2,5,3,2] depth_radius=1 bias=2.0 alpha=0.5 beta=0.75",
};
