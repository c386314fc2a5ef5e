/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c - normalisation over rows: layer, group and root-mean-square normalisation; batch_norm.c has the one over a batch.
 *
 * All three are one kernel. A row-major tensor is cut into rows of n elements; each row is normalised by its own mean and
 * variance (or mean square), then scaled and shifted by m parameters: element f (counted over the whole tensor) has
 * parameter f / inner % m. Layer norm has inner = 1 and m = n, group norm inner = pixels and m = channels.
 * Sums run over blocks of 256 elements in the dtype computed in and over blocks in double. Gradients of the parameters
 * are summed per chunk of rows, then over chunks; chunks depend on the shape only.
 * When a gradient is itself being recorded, rules compose elementary operators instead of the fused gradient, so
 * derivatives of any order exist. */
#include "base/wide.h"
#include "ir/like.h"
#include "ir/refuse.h"
#include "ops/norm.h"

sp_tensor *sp__along(sp_builder *b, sp_tensor *x, int rank, int axis)
{
    if (!x) return NULL;
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? x->count : 1;
    return sp_reshape(b, x, rank, dims);
}

bool sp__vjp_again(const sp_vjp *v)
{
    if (!v->again) return false;
    for (int i = 0; i < v->n_in; i++)
        if (v->in[i] && v->in[i]->node) return true;
    for (int i = 0; i < v->n_out; i++)
        if (v->dout[i] && v->dout[i]->node) return true;
    return false;
}

void sp__params_read(const sp_tensor *t, double fill, sp_dtype dtype, int64_t n, char *out)
{
    const int64_t size = (int64_t)sp_dtype_bytes(dtype),
                  step[2] = {size, t ? (int64_t)sp_dtype_bytes((sp_dtype)t->dtype) : 0};
    char *ptr[2] = {out, t ? t->data : (char *)&fill};
    sp__cast_loop(t ? (sp_dtype)t->dtype : SP_DTYPE_F64, dtype)(n, ptr, step, NULL);
}

sp_tensor *sp__add_some(sp_builder *b, sp_tensor *x, sp_tensor *y) { return !x ? y : !y ? x : sp_add(b, x, y); }

/* --- geometry ---------------------------------------------------------------------------------------------------- */

enum { CHUNKS_MAX = 64 };

typedef struct {
    int64_t rows, n, m, inner;
} norm_shape;

typedef struct {
    norm_shape s;
    bool center;
    double epsilon;
    const char *x, *g;
    char *out, *mean, *variance;
    const void *gamma, *beta; /* m numbers of the type computed in */
    char *partial;            /* chunks x 2 x m sums of the parameters' gradients */
    int64_t chunk_rows;
} norm_job;

static sp_dtype compute_dtype(const sp_tensor *x) { return x->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32; }

static int64_t chunk_rows(const norm_shape *s)
{
    int64_t rows = (s->rows + CHUNKS_MAX - 1) / CHUNKS_MAX, least = sp__grain(s->n);
    return rows > least ? rows : least;
}

/* --- kernels ----------------------------------------------------------------------------------------------------- */

/* Elements [i, i + length) of row r share a run of parameters starting at p (all the same one when inner > 1). */
static int64_t run_at(const norm_shape *s, int64_t r, int64_t i, int64_t *p)
{
    const int64_t flat = r * s->n + i, left = s->n - i;
    *p = flat / s->inner % s->m;
    const int64_t length = s->inner == 1 ? s->m - *p : s->inner - flat % s->inner;
    return length < left ? length : left;
}

#define NORM_ROWS(D, T, C, LOAD, STORE, ...)                                                                           \
    static void norm_rows_##D(void *context, int64_t begin, int64_t end)                                               \
    {                                                                                                                  \
        const norm_job *j = context;                                                                                   \
        const C *gamma = j->gamma, *beta = j->beta;                                                                    \
        for (int64_t r = begin; r < end; r++) {                                                                        \
            const T *x = (const T *)(const void *)j->x + r * j->s.n;                                                   \
            T *y = (T *)(void *)j->out + r * j->s.n;                                                                   \
            const C mean = j->center ? (C)(sp__total_##D(x, j->s.n) / (double)j->s.n) : 0;                             \
            const double variance = sp__spread_##D(x, j->s.n, mean) / (double)j->s.n;                                  \
            const C scale = (C)(1 / sqrt(variance + j->epsilon));                                                      \
            if (j->mean) ((T *)(void *)j->mean)[r] = STORE(mean);                                                      \
            ((T *)(void *)j->variance)[r] = STORE((C)(j->center ? variance : (double)scale));                          \
            for (int64_t i = 0, p, length; i < j->s.n; i += length) {                                                  \
                length = run_at(&j->s, r, i, &p);                                                                      \
                const T *xi = x + i;                                                                                   \
                T *yi = y + i;                                                                                         \
                if (j->s.inner == 1)                                                                                   \
                    for (int64_t k = 0; k < length; k++)                                                               \
                        yi[k] = STORE((LOAD(xi[k]) - mean) * scale * gamma[p + k] + beta[p + k]);                      \
                else                                                                                                   \
                    for (int64_t k = 0; k < length; k++)                                                               \
                        yi[k] = STORE((LOAD(xi[k]) - mean) * scale * gamma[p] + beta[p]);                              \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(NORM_ROWS, , )
SP_WIDE_FLOATS(norm_rows)

/* With a = gamma g and h the normalised x: dx = scale (a - mean(a) - h mean(a h)); without centring no mean(a). */
#define NORM_GRAD_CHUNKS(D, T, C, LOAD, STORE, ...)                                                                    \
    static void norm_grad_##D(void *context, int64_t begin, int64_t end)                                               \
    {                                                                                                                  \
        const norm_job *j = context;                                                                                   \
        const int64_t n = j->s.n, m = j->s.m;                                                                          \
        const C *gamma = j->gamma;                                                                                     \
        for (int64_t chunk = begin; chunk < end; chunk++) {                                                            \
            C *dgamma = (C *)(void *)j->partial + chunk * 2 * m, *dbeta = dgamma + m;                                  \
            for (int64_t k = 0; k < 2 * m; k++) dgamma[k] = 0;                                                         \
            const int64_t stop = (chunk + 1) * j->chunk_rows < j->s.rows ? (chunk + 1) * j->chunk_rows : j->s.rows;    \
            for (int64_t r = chunk * j->chunk_rows; r < stop; r++) {                                                   \
                const T *x = (const T *)(const void *)j->x + r * n, *g = (const T *)(const void *)j->g + r * n;        \
                T *dx = (T *)(void *)j->out + r * n;                                                                   \
                const C mean = j->center ? (C)(sp__total_##D(x, n) / (double)n) : 0;                                   \
                const C scale = (C)(1 / sqrt(sp__spread_##D(x, n, mean) / (double)n + j->epsilon));                    \
                double sum = 0, dot = 0;                                                                               \
                for (int64_t i = 0, p, length; i < n; i += length) {                                                   \
                    length = run_at(&j->s, r, i, &p);                                                                  \
                    if (j->s.inner == 1) {                                                                             \
                        C part = 0, part_dot = 0;                                                                      \
                        for (int64_t k = 0; k < length; k++) {                                                         \
                            const C gk = LOAD(g[i + k]), h = (LOAD(x[i + k]) - mean) * scale, a = gk * gamma[p + k];   \
                            dgamma[p + k] += gk * h;                                                                   \
                            dbeta[p + k] += gk;                                                                        \
                            part += a;                                                                                 \
                            part_dot += a * h;                                                                         \
                            if (k % 256 == 255) sum += (double)part, dot += (double)part_dot, part = part_dot = 0;     \
                        }                                                                                              \
                        sum += (double)part;                                                                           \
                        dot += (double)part_dot;                                                                       \
                    } else {                                                                                           \
                        const double gs = sp__total_##D(g + i, length);                                                \
                        const double gd = sp__dot_##D(g + i, x + i, length, mean) * (double)scale;                     \
                        dgamma[p] += (C)gd;                                                                            \
                        dbeta[p] += (C)gs;                                                                             \
                        sum += gs * (double)gamma[p];                                                                  \
                        dot += gd * (double)gamma[p];                                                                  \
                    }                                                                                                  \
                }                                                                                                      \
                const C shift = j->center ? (C)(sum / (double)n) : 0, slope = (C)(dot / (double)n);                    \
                for (int64_t i = 0, p, length; i < n; i += length) {                                                   \
                    length = run_at(&j->s, r, i, &p);                                                                  \
                    const T *gi = g + i, *xi = x + i;                                                                  \
                    T *di = dx + i;                                                                                    \
                    const int64_t step = j->s.inner == 1;                                                              \
                    for (int64_t k = 0; k < length; k++) {                                                             \
                        const C h = (LOAD(xi[k]) - mean) * scale;                                                      \
                        di[k] = STORE(scale * (LOAD(gi[k]) * gamma[p + k * step] - shift - h * slope));                \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_FLOAT(NORM_GRAD_CHUNKS, , )
SP_WIDE_FLOATS(norm_grad)
#define NORM_PARAMS(D, T, C, LOAD, STORE, ...)                                                                         \
    static void norm_params_##D(const norm_job *j, int64_t chunks, C *sum)                                             \
    {                                                                                                                  \
        for (int64_t k = 0; k < 2 * j->s.m; k++) {                                                                     \
            double total = 0;                                                                                          \
            for (int64_t chunk = 0; chunk < chunks; chunk++)                                                           \
                total += (double)((const C *)(const void *)j->partial)[chunk * 2 * j->s.m + k];                        \
            sum[k] = (C)total;                                                                                         \
        }                                                                                                              \
    }
SP_EACH_SINGLE(NORM_PARAMS, , )
SP_EACH_DOUBLE(NORM_PARAMS, , )

/* --- drivers ----------------------------------------------------------------------------------------------------- */

/* Workspace: gamma and beta as computed with, then the partial sums and their total. */
static size_t params_bytes(const sp_call *c, const norm_shape *s)
{
    return (size_t)s->m * 2 * sp_dtype_bytes(compute_dtype(c->in[0]));
}

/* Rows without elements: mean and variance of nothing are no numbers, as reduce_mean says. */
static sp_status no_statistics(const sp_call *c)
{
    const double nothing = NAN;
    for (int k = 1; k < c->n_out; k++) {
        const sp_dtype dtype = (sp_dtype)c->out[k]->dtype;
        const int64_t step[2] = {(int64_t)sp_dtype_bytes(dtype), 0};
        char *ptr[2] = {c->out[k]->data, (char *)&nothing};
        sp__cast_loop(SP_DTYPE_F64, dtype)(c->out[k]->count, ptr, step, NULL);
    }
    return SP_OK;
}

static sp_status norm_run(const sp_call *c, const norm_shape *s, bool center, double epsilon, const sp_tensor *gamma,
                          const sp_tensor *beta)
{
    const sp_tensor *x = c->in[0];
    const sp_dtype real = compute_dtype(x);
    char *second = (char *)c->work + params_bytes(c, s) / 2;
    sp__params_read(gamma, 1, real, s->m, c->work);
    sp__params_read(beta, 0, real, s->m, second);
    norm_job j = {.s = *s,
                  .center = center,
                  .epsilon = epsilon,
                  .x = x->data,
                  .out = c->out[0]->data,
                  .gamma = c->work,
                  .beta = second,
                  .mean = c->n_out > 2 ? c->out[1]->data : NULL,
                  .variance = c->out[c->n_out - 1]->data};
    if (s->n == 0) return no_statistics(c);
    return sp__parallel_for(s->rows, sp__grain(s->n), norm_rows_widest(x->dtype), &j);
}

static sp_status norm_grad_run(const sp_call *c, const norm_shape *s, bool center, double epsilon,
                               const sp_tensor *gamma, const sp_tensor *dout)
{
    const sp_tensor *x = c->in[0];
    const sp_dtype real = compute_dtype(x);
    const size_t bytes = params_bytes(c, s);
    sp__params_read(gamma, 1, real, s->m, c->work);
    norm_job j = {.s = *s,
                  .center = center,
                  .epsilon = epsilon,
                  .x = x->data,
                  .g = dout->data,
                  .out = c->out[0]->data,
                  .gamma = c->work,
                  .partial = (char *)c->work + 2 * bytes,
                  .chunk_rows = chunk_rows(s)};
    const int64_t chunks = s->n ? (s->rows + j.chunk_rows - 1) / j.chunk_rows : 0;
    SP_TRY(sp__parallel_for(chunks, 1, norm_grad_widest(x->dtype), &j));
    char *total = (char *)c->work + bytes;
    if (real == SP_DTYPE_F64) norm_params_F64(&j, chunks, (double *)(void *)total);
    else norm_params_F32(&j, chunks, (float *)(void *)total);
    for (int k = 1; k < c->n_out; k++) {
        const int64_t step[2] = {(int64_t)sp_dtype_bytes((sp_dtype)c->out[k]->dtype), (int64_t)sp_dtype_bytes(real)};
        char *ptr[2] = {c->out[k]->data, total + (k == 1 ? 0 : bytes / 2)};
        sp__cast_loop(real, (sp_dtype)c->out[k]->dtype)(s->m, ptr, step, NULL);
    }
    return SP_OK;
}

static size_t norm_grad_bytes(const sp_call *c, const norm_shape *s)
{
    return params_bytes(c, s) * (size_t)(CHUNKS_MAX + 2);
}

/* dx, and the gradients of the parameters with their dtype, m elements each. */
static void grad_metas(const sp_call *c, const norm_shape *s, const sp_tensor *gamma, sp_meta *out)
{
    sp__meta_of(c->in[0], &out[0]);
    for (int k = 1; k < c->n_out; k++) {
        out[k].dtype = gamma ? (sp_dtype)gamma->dtype : (sp_dtype)c->in[0]->dtype;
        out[k].rank = 1;
        out[k].dims[0] = s->m;
    }
}

/* The composed form of y towards h = (x - mean) scale, so that it can be differentiated again: dx from dh. */
static sp_tensor *rows_dx(sp_builder *b, sp_tensor *x, sp_tensor *dh, int first, bool center, double epsilon)
{
    if (!x || !dh) return NULL;
    int64_t axes[SP_RANK_MAX];
    for (int i = first; i < x->rank; i++) axes[i - first] = i;
    const int n = x->rank - first;
    sp_tensor *d = center ? sp_sub(b, x, sp_reduce_mean(b, x, n, axes, true)) : x;
    sp_tensor *scale = sp_rsqrt(b, sp__add_number(b, sp_reduce_mean(b, sp_square(b, d), n, axes, true), epsilon));
    sp_tensor *h = sp_mul(b, d, scale);
    sp_tensor *inside = sp_sub(b, dh, sp_mul(b, h, sp_reduce_mean(b, sp_mul(b, dh, h), n, axes, true)));
    if (center) inside = sp_sub(b, inside, sp_reduce_mean(b, dh, n, axes, true));
    return sp_mul(b, scale, inside);
}
static sp_tensor *rows_h(sp_builder *b, sp_tensor *x, int first, bool center, double epsilon)
{
    int64_t axes[SP_RANK_MAX];
    if (!x) return NULL;
    for (int i = first; i < x->rank; i++) axes[i - first] = i;
    const int n = x->rank - first;
    sp_tensor *d = center ? sp_sub(b, x, sp_reduce_mean(b, x, n, axes, true)) : x;
    return sp_mul(b, d, sp_rsqrt(b, sp__add_number(b, sp_reduce_mean(b, sp_square(b, d), n, axes, true), epsilon)));
}

/* --- layer_norm -------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(layer_attr_table, sp_layer_norm_attrs, (INT, begin_norm_axis, 1), (INT, begin_params_axis, 1),
              (FLOAT, epsilon, 1e-07));

static sp_status layer_measure(const sp_call *c, int *first, norm_shape *s)
{
    const sp_layer_norm_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    int params;
    char found[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    SP_CHECK(x->rank > 0, SP_VALUE, "x has no dimensions, it needs one to be normalised along");
    SP_TRY(sp__shape_axis(a->begin_norm_axis, x->rank, "begin_norm_axis", first));
    SP_TRY(sp__shape_axis(a->begin_params_axis, x->rank, "begin_params_axis", &params));
    const sp__split rows = sp__split_at(x, *first, x->rank), tail = sp__split_at(x, params, x->rank);
    *s = (norm_shape){.rows = rows.outer, .n = rows.n, .m = tail.n, .inner = 1};
    for (int i = 1; i < (c->op == &sp_op_layer_norm ? 3 : 2); i++) {
        const sp_tensor *p = c->in[i];
        SP_CHECK(!p || sp__shape_equal(p->rank, p->dims, x->rank - params, x->dims + params), SP_VALUE,
                 "%s has shape %s, it must be %s, the shape of x from axis %d", i == 1 ? "gamma" : "beta",
                 sp__shape_text(p->rank, p->dims, found), sp__shape_text(x->rank - params, x->dims + params, wanted),
                 params);
    }
    return SP_OK;
}
static sp_status layer_infer(const sp_call *c, sp_meta *out)
{
    int first;
    norm_shape s;
    SP_TRY(layer_measure(c, &first, &s));
    for (int k = 0; k < 3; k++) {
        sp__meta_of(c->in[0], &out[k]);
        for (int i = first; k && i < c->in[0]->rank; i++) out[k].dims[i] = 1;
    }
    return SP_OK;
}
static sp_status layer_reference(const sp_call *c)
{
    int first;
    norm_shape s;
    SP_TRY(layer_measure(c, &first, &s));
    return norm_run(c, &s, true, ((const sp_layer_norm_attrs *)c->attrs)->epsilon, c->in[1], c->in[2]);
}
static size_t layer_workspace(const sp_call *c)
{
    int first;
    norm_shape s;
    return layer_measure(c, &first, &s) == SP_OK ? params_bytes(c, &s) : 0;
}
static sp_status layer_grad_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__input_like(c, 2, 0));
    int first;
    norm_shape s;
    SP_TRY(layer_measure(c, &first, &s));
    grad_metas(c, &s, c->in[1], out);
    return SP_OK;
}
static sp_status layer_grad_reference(const sp_call *c)
{
    int first;
    norm_shape s;
    SP_TRY(layer_measure(c, &first, &s));
    return norm_grad_run(c, &s, true, ((const sp_layer_norm_attrs *)c->attrs)->epsilon, c->in[1], c->in[2]);
}
static size_t layer_grad_workspace(const sp_call *c)
{
    int first;
    norm_shape s;
    return layer_measure(c, &first, &s) == SP_OK ? norm_grad_bytes(c, &s) : 0;
}

static sp_status layer_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_layer_norm_attrs *a = v->attrs;
    sp_tensor *x = v->in[0], *gamma = v->in[1], *g = v->dout[0];
    int first, params;
    SP_TRY(sp__shape_axis(a->begin_norm_axis, x->rank, "begin_norm_axis", &first));
    SP_TRY(sp__shape_axis(a->begin_params_axis, x->rank, "begin_params_axis", &params));
    int64_t outer[SP_RANK_MAX], inner[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) outer[i] = inner[i] = i;
    if (g && sp__vjp_again(v)) {
        if (v->needs[0]) v->din[0] = rows_dx(b, x, gamma ? sp_mul(b, g, gamma) : g, first, true, a->epsilon);
        if (gamma && v->needs[1]) {
            sp_tensor *h = sp_mul(b, g, rows_h(b, x, first, true, a->epsilon));
            v->din[1] = params ? sp_reduce_sum(b, h, params, outer, false) : h;
        }
        if (v->in[2] && v->needs[2]) v->din[2] = params ? sp_reduce_sum(b, g, params, outer, false) : g;
    } else if (g) {
        sp_tensor *out[3];
        int n;
        SP_TRY(sp_builder_apply_many(b, &sp_op_layer_norm_grad, a, 3, (sp_tensor *const[]){x, gamma, g}, 3, out, &n));
        v->din[0] = out[0];
        if (gamma) v->din[1] = sp_reshape(b, out[1], gamma->rank, gamma->dims);
        if (v->in[2])
            v->din[2] = sp_reshape(b, sp_cast(b, out[2], (sp_dtype)v->in[2]->dtype), v->in[2]->rank, v->in[2]->dims);
    }
    /* The statistics as results of their own: mean moves with x / n, variance with 2 (x - mean) / n. */
    const double n = (double)sp__split_at(x, first, x->rank).n;
    if (v->dout[1])
        v->din[0] =
            sp__add_some(b, v->din[0], sp_broadcast_to(b, sp__mul_number(b, v->dout[1], 1 / n), x->rank, x->dims));
    if (v->dout[2]) {
        sp_tensor *d = sp_sub(b, x, sp_reduce_mean(b, x, x->rank - first, inner + first, true));
        v->din[0] = sp__add_some(b, v->din[0], sp_mul(b, sp__mul_number(b, v->dout[2], 2 / n), d));
    }
    return SP_OK;
}

const sp_op sp_op_layer_norm = {
    .batch = sp__batch_layer_norm,
    .name = "layer_norm",
    .family = SP_FAMILY_LAYER_NORM,
    .shard = "same; from begin_norm_axis",
    .inputs = "x, gamma?, beta?",
    .n_out = 3,
    SP_ATTRS(layer_attr_table, sp_layer_norm_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = layer_infer,
    .reference = layer_reference,
    .workspace = layer_workspace,
    .vjp = layer_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .mindir = "LayerNorm",
    .onnx = "LayerNormalization",
    .python = "ops.LayerNorm(begin_norm_axis=1, begin_params_axis=1, epsilon=1e-07)(input_x:x, gamma, beta)",
    .doc =
        "Normalise by mean and variance over the last axes, scale by gamma, shift by beta; also gives both statistics.",
    .samples = "[2,3,4] [4] [4] begin_norm_axis=-1 begin_params_axis=-1 epsilon=0.001; [2,6] [6] [6] epsilon=0.001; "
               "[2,3,4] [3,4] [3,4] epsilon=0.001; [2,3,4] _ _ begin_norm_axis=2 begin_params_axis=2 epsilon=0.001; "
               "[2,3,4] [4] [4] begin_norm_axis=1 begin_params_axis=2 epsilon=0.001",
};
const sp_op sp_op_layer_norm_grad = {
    .batch = sp__batch_layer_norm_grad,
    .name = "layer_norm_grad",
    .family = SP_FAMILY_LAYER_NORM,
    .shard = "same; from begin_norm_axis",
    .inputs = "x, gamma?, dout",
    .n_out = 3,
    SP_ATTRS(layer_attr_table, sp_layer_norm_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = layer_grad_infer,
    .reference = layer_grad_reference,
    .workspace = layer_grad_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "layer_norm composes its gradient when that is differentiated",
    .doc = "Gradients of layer_norm towards x, gamma and beta.",
    .samples = "[2,6] [6] [2,6] epsilon=0.001",
};

/* --- rms_norm ---------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(rms_attr_table, sp_rms_norm_attrs, (FLOAT, epsilon, 1e-06));

/* gamma has the shape of the last axes of x; these are normalised. */
static sp_status rms_measure(const sp_call *c, norm_shape *s)
{
    const sp_tensor *x = c->in[0], *gamma = c->in[1];
    char found[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    SP_CHECK(gamma->rank <= x->rank &&
                 sp__shape_equal(gamma->rank, gamma->dims, gamma->rank, x->dims + x->rank - gamma->rank),
             SP_VALUE, "gamma has shape %s, it must be that of the last axes of x, %s",
             sp__shape_text(gamma->rank, gamma->dims, found), sp__shape_text(x->rank, x->dims, wanted));
    const sp__split rows = sp__split_at(x, x->rank - gamma->rank, gamma->rank);
    *s = (norm_shape){.rows = rows.outer, .n = rows.n, .m = rows.n, .inner = 1};
    return SP_OK;
}
static sp_status rms_infer(const sp_call *c, sp_meta *out)
{
    norm_shape s;
    SP_TRY(rms_measure(c, &s));
    for (int k = 0; k < 2; k++) sp__meta_of(c->in[0], &out[k]);
    for (int i = c->in[0]->rank - c->in[1]->rank; i < c->in[0]->rank; i++) out[1].dims[i] = 1;
    return SP_OK;
}
static sp_status rms_reference(const sp_call *c)
{
    norm_shape s;
    SP_TRY(rms_measure(c, &s));
    return norm_run(c, &s, false, ((const sp_rms_norm_attrs *)c->attrs)->epsilon, c->in[1], NULL);
}
static size_t rms_workspace(const sp_call *c)
{
    norm_shape s;
    return rms_measure(c, &s) == SP_OK ? params_bytes(c, &s) : 0;
}
static sp_status rms_grad_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__input_like(c, 2, 0));
    norm_shape s;
    SP_TRY(rms_measure(c, &s));
    grad_metas(c, &s, c->in[1], out);
    return SP_OK;
}
static sp_status rms_grad_reference(const sp_call *c)
{
    norm_shape s;
    SP_TRY(rms_measure(c, &s));
    return norm_grad_run(c, &s, false, ((const sp_rms_norm_attrs *)c->attrs)->epsilon, c->in[1], c->in[2]);
}
static size_t rms_grad_workspace(const sp_call *c)
{
    norm_shape s;
    return rms_measure(c, &s) == SP_OK ? norm_grad_bytes(c, &s) : 0;
}
static sp_status rms_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_rms_norm_attrs *a = v->attrs;
    sp_tensor *x = v->in[0], *gamma = v->in[1], *g = v->dout[0];
    const int first = x->rank - gamma->rank;
    int64_t axes[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) axes[i] = i;
    if (g && sp__vjp_again(v)) {
        if (v->needs[0]) v->din[0] = rows_dx(b, x, sp_mul(b, g, gamma), first, false, a->epsilon);
        if (v->needs[1]) {
            sp_tensor *h = sp_mul(b, g, rows_h(b, x, first, false, a->epsilon));
            v->din[1] = first ? sp_reduce_sum(b, h, first, axes, false) : h;
        }
    } else if (g) {
        sp_tensor *out[2];
        int n;
        SP_TRY(sp_builder_apply_many(b, &sp_op_rms_norm_grad, a, 3, (sp_tensor *const[]){x, gamma, g}, 2, out, &n));
        v->din[0] = out[0];
        v->din[1] = sp_reshape(b, out[1], gamma->rank, gamma->dims);
    }
    /* r = (mean(x^2) + epsilon)^(-1/2) moves with -r^3 x / n. */
    if (v->dout[1]) {
        const double n = (double)gamma->count;
        sp_tensor *square = sp_reduce_mean(b, sp_square(b, x), gamma->rank, axes + first, true);
        sp_tensor *r = sp_rsqrt(b, sp__add_number(b, square, a->epsilon));
        sp_tensor *slope = sp_mul(b, sp__mul_number(b, v->dout[1], -1 / n), sp_mul(b, r, sp_square(b, r)));
        v->din[0] = sp__add_some(b, v->din[0], sp_mul(b, slope, x));
    }
    return SP_OK;
}
const sp_op sp_op_rms_norm = {
    .batch = sp__batch_rms_norm,
    .name = "rms_norm",
    .shard = "... h, h -> ... h, ... *; h whole",
    .inputs = "x, gamma",
    .n_out = 2,
    SP_ATTRS(rms_attr_table, sp_rms_norm_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = rms_infer,
    .reference = rms_reference,
    .workspace = rms_workspace,
    .vjp = rms_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .mindir = "RmsNorm",
    .onnx = "RMSNormalization",
    .python = "ops.rms_norm(x, gamma, epsilon=1e-06); ops.RmsNorm(epsilon=1e-06)(x, gamma)",
    .doc =
        "Divide by the root of the mean square over the last axes and scale by gamma; also gives one over that root.",
    .samples = "[2,3,4] [4] epsilon=0.001; [2,3,4] [3,4] epsilon=0.001; [5] [5] epsilon=0.001",
};
const sp_op sp_op_rms_norm_grad = {
    .batch = sp__batch_rms_norm_grad,
    .name = "rms_norm_grad",
    .shard = "... h, h, ... h -> ... h, h; h whole",
    .inputs = "x, gamma, dout",
    .n_out = 2,
    SP_ATTRS(rms_attr_table, sp_rms_norm_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = rms_grad_infer,
    .reference = rms_grad_reference,
    .workspace = rms_grad_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "rms_norm composes its gradient when that is differentiated",
    .doc = "Gradients of rms_norm towards x and gamma.",
    .samples = "[2,6] [6] [2,6] epsilon=0.001",
};

/* --- group_norm -------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(group_attr_table, sp_group_norm_attrs, (INT_NEEDED, num_groups), (FLOAT, epsilon, 1e-05));

static sp_status group_measure(const sp_call *c, norm_shape *s)
{
    char text[SP_SHAPE_TEXT];
    const sp_group_norm_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    SP_CHECK(x->rank >= 2, SP_VALUE, "x has rank %d, it must be at least 2", x->rank);
    SP_CHECK(a->num_groups > 0 && x->dims[1] % a->num_groups == 0, SP_VALUE,
             "num_groups is %lld, it must divide the %lld channels of x", (long long)a->num_groups,
             (long long)x->dims[1]);
    for (int i = 1; i < (c->op == &sp_op_group_norm ? 3 : 2); i++)
        SP_CHECK(!c->in[i] || (c->in[i]->rank == 1 && c->in[i]->dims[0] == x->dims[1]), SP_VALUE,
                 "%s must be a vector of %lld elements, one per channel of x, but its shape is %s",
                 i == 1 ? "weight" : "bias", (long long)x->dims[1],
                 sp__shape_text(c->in[i]->rank, c->in[i]->dims, text));
    const sp__split pixels = sp__split_at(x, 1, 1);
    const int64_t n = x->dims[1] / a->num_groups * pixels.inner;
    *s = (norm_shape){.rows = x->dims[0] * a->num_groups, .n = n, .m = x->dims[1], .inner = pixels.inner};
    return SP_OK;
}
static sp_status group_infer(const sp_call *c, sp_meta *out)
{
    norm_shape s;
    SP_TRY(group_measure(c, &s));
    sp__meta_of(c->in[0], &out[0]);
    for (int k = 1; k < 3; k++)
        out[k] = (sp_meta){.dtype = out[0].dtype,
                           .rank = 2,
                           .dims = {c->in[0]->dims[0], ((const sp_group_norm_attrs *)c->attrs)->num_groups}};
    return SP_OK;
}
static sp_status group_reference(const sp_call *c)
{
    norm_shape s;
    SP_TRY(group_measure(c, &s));
    return norm_run(c, &s, true, ((const sp_group_norm_attrs *)c->attrs)->epsilon, c->in[1], c->in[2]);
}
static size_t group_workspace(const sp_call *c)
{
    norm_shape s;
    return group_measure(c, &s) == SP_OK ? params_bytes(c, &s) : 0;
}
static sp_status group_grad_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__input_like(c, 2, 0));
    norm_shape s;
    SP_TRY(group_measure(c, &s));
    grad_metas(c, &s, c->in[1], out);
    return SP_OK;
}
static sp_status group_grad_reference(const sp_call *c)
{
    norm_shape s;
    SP_TRY(group_measure(c, &s));
    return norm_grad_run(c, &s, true, ((const sp_group_norm_attrs *)c->attrs)->epsilon, c->in[1], c->in[2]);
}
static size_t group_grad_workspace(const sp_call *c)
{
    norm_shape s;
    return group_measure(c, &s) == SP_OK ? norm_grad_bytes(c, &s) : 0;
}
static sp_status group_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_group_norm_attrs *a = v->attrs;
    sp_tensor *x = v->in[0], *weight = v->in[1], *g = v->dout[0];
    const int64_t rows[3] = {x->dims[0], a->num_groups, -1};
    int64_t axes[SP_RANK_MAX];
    int n = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != 1) axes[n++] = i;
    if (g && sp__vjp_again(v)) {
        sp_tensor *dh = weight ? sp_mul(b, g, sp__along(b, weight, x->rank, 1)) : g;
        sp_tensor *x3 = sp_reshape(b, x, 3, rows);
        if (v->needs[0])
            v->din[0] =
                sp_reshape(b, rows_dx(b, x3, sp_reshape(b, dh, 3, rows), 2, true, a->epsilon), x->rank, x->dims);
        if (weight && v->needs[1]) {
            sp_tensor *h = sp_reshape(b, rows_h(b, x3, 2, true, a->epsilon), x->rank, x->dims);
            v->din[1] = sp_reduce_sum(b, sp_mul(b, g, h), n, axes, false);
        }
        if (v->in[2] && v->needs[2]) v->din[2] = sp_reduce_sum(b, g, n, axes, false);
    } else if (g) {
        sp_tensor *out[3];
        int count;
        SP_TRY(
            sp_builder_apply_many(b, &sp_op_group_norm_grad, a, 3, (sp_tensor *const[]){x, weight, g}, 3, out, &count));
        v->din[0] = out[0];
        if (weight) v->din[1] = out[1];
        if (v->in[2]) v->din[2] = sp_cast(b, out[2], (sp_dtype)v->in[2]->dtype);
    }
    if (v->dout[1] || v->dout[2]) {
        sp_tensor *x3 = sp_reshape(b, x, 3, rows), *sum = NULL;
        if (!x3) return SP_OK;
        const double count = (double)x3->dims[2];
        const int64_t last[1] = {2}, stats[3] = {rows[0], rows[1], 1};
        if (v->dout[1])
            sum = sp_broadcast_to(b, sp_reshape(b, sp__mul_number(b, v->dout[1], 1 / count), 3, stats), 3, x3->dims);
        if (v->dout[2]) {
            sp_tensor *d = sp_sub(b, x3, sp_reduce_mean(b, x3, 1, last, true));
            sum = sp__add_some(b, sum, sp_mul(b, sp_reshape(b, sp__mul_number(b, v->dout[2], 2 / count), 3, stats), d));
        }
        v->din[0] = sp__add_some(b, v->din[0], sp_reshape(b, sum, x->rank, x->dims));
    }
    return SP_OK;
}
const sp_op sp_op_group_norm = {
    .batch = sp__batch_group_norm,
    .name = "group_norm",
    .inputs = "x, weight?, bias?",
    .n_out = 3,
    SP_ATTRS(group_attr_table, sp_group_norm_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = group_infer,
    .reference = group_reference,
    .workspace = group_workspace,
    .vjp = group_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .mindir = "GroupNorm",
    .onnx = "GroupNormalization",
    .doc = "Normalise every group of channels of every sample, then scale and shift per channel; also gives mean and "
           "variance per group.",
    .samples = "[2,4,3] [4] [4] num_groups=2 epsilon=0.001; [2,4,2,3] _ _ num_groups=1 epsilon=0.001; "
               "[2,4,5] [4] [4] num_groups=4 epsilon=0.001; [3,4] [4] [4] num_groups=2 epsilon=0.1",
};
const sp_op sp_op_group_norm_grad = {
    .batch = sp__batch_group_norm_grad,
    .name = "group_norm_grad",
    .inputs = "x, weight?, dout",
    .n_out = 3,
    SP_ATTRS(group_attr_table, sp_group_norm_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = group_grad_infer,
    .reference = group_grad_reference,
    .workspace = group_grad_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "group_norm composes its gradient when that is differentiated",
    .doc = "Gradients of group_norm towards x, weight and bias.",
    .samples = "[2,4,3] [4] [2,4,3] num_groups=2 epsilon=0.001",
};
