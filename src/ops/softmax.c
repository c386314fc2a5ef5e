/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.c - exp(x) normalised over axes, its logarithm, and the fused gradients of both.
 *
 * The maximum is subtracted first, so exp cannot overflow. A tensor is seen as outer x n x inner around the axes. With
 * inner = 1 a row is one run of memory; otherwise BLOCK neighbouring columns are taken together, so that memory is read
 * along its order. Parts depend on the shape only: the result does not depend on the number of threads. */
#include <tgmath.h>

#include "ir/like.h"
#include "ops/nn.h"

enum { BLOCK = 64 };

SP_ATTR_TABLE(softmax_attr_table, sp_softmax_attrs, (INTS, axis, -1));

/* The axes, checked: one, or several that are neighbours. */
static sp_status softmax_split(const sp_tensor *x, const sp_softmax_attrs *a, sp__split *out)
{
    uint32_t mask;
    if (x->rank == 0) {
        *out = (sp__split){1, 1, 1};
        return SP_OK;
    }
    SP_TRY(sp__axes_mask(a->axis, x->rank, &mask));
    int first = __builtin_ctz(mask), n = __builtin_popcount(mask);
    SP_CHECK(mask >> first == (1u << n) - 1, SP_VALUE, "the %d axes must be neighbours", n);
    *out = sp__split_at(x, first, n);
    return SP_OK;
}

static sp_status softmax_infer(const sp_call *c, sp_meta *out)
{
    sp__split s;
    SP_TRY(softmax_split(c->in[0], c->attrs, &s));
    return sp__infer_same(c, out);
}
static sp_status softmax_grad_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__inputs_alike(c));
    return softmax_infer(c, out);
}

typedef struct {
    sp__split s;
    const char *x, *g;
    char *out;
} softmax_job;

/* --- forward ----------------------------------------------------------------------------------------------------- */

/* Rows [begin, end) of n elements. For half types exp is taken twice rather than rounded in between. */
#define SOFTMAX_ROWS(D, T, C, LOAD, STORE, name, is_log)                                                               \
    static void name##_rows_##D(void *context, int64_t begin, int64_t end)                                             \
    {                                                                                                                  \
        const softmax_job *j = context;                                                                                \
        const int64_t n = j->s.n;                                                                                      \
        for (int64_t r = begin; r < end; r++) {                                                                        \
            const T *x = (const T *)(const void *)j->x + r * n;                                                        \
            T *y = (T *)(void *)j->out + r * n;                                                                        \
            C top = LOAD(x[0]), sum = 0;                                                                               \
            for (int64_t i = 1; i < n; i++) top = LOAD(x[i]) > top || LOAD(x[i]) != LOAD(x[i]) ? LOAD(x[i]) : top;     \
            if (is_log || sizeof(T) != sizeof(C)) {                                                                    \
                for (int64_t i = 0; i < n; i++) sum += exp(LOAD(x[i]) - top);                                          \
                const C shift = is_log ? top + log(sum) : top, scale = 1 / sum;                                        \
                for (int64_t i = 0; i < n; i++)                                                                        \
                    y[i] = is_log ? STORE(LOAD(x[i]) - shift) : STORE(exp(LOAD(x[i]) - shift) * scale);                \
            } else {                                                                                                   \
                for (int64_t i = 0; i < n; i++) {                                                                      \
                    const C e = exp(LOAD(x[i]) - top);                                                                 \
                    y[i] = STORE(e);                                                                                   \
                    sum += e;                                                                                          \
                }                                                                                                      \
                const C scale = 1 / sum;                                                                               \
                for (int64_t i = 0; i < n; i++) y[i] = STORE(LOAD(y[i]) * scale);                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
/* Blocks of columns. */
#define SOFTMAX_COLUMNS(D, T, C, LOAD, STORE, name, is_log)                                                            \
    static void name##_columns_##D(void *context, int64_t begin, int64_t end)                                          \
    {                                                                                                                  \
        const softmax_job *j = context;                                                                                \
        const int64_t n = j->s.n, inner = j->s.inner, blocks = (inner + BLOCK - 1) / BLOCK;                            \
        C top[BLOCK], sum[BLOCK];                                                                                      \
        for (int64_t part = begin; part < end; part++) {                                                               \
            const int64_t at = part / blocks * n * inner + part % blocks * BLOCK;                                      \
            const int64_t w = inner - part % blocks * BLOCK < BLOCK ? inner - part % blocks * BLOCK : BLOCK;           \
            const T *x = (const T *)(const void *)j->x + at;                                                           \
            T *y = (T *)(void *)j->out + at;                                                                           \
            for (int64_t k = 0; k < w; k++) top[k] = LOAD(x[k]), sum[k] = 0;                                           \
            for (int64_t i = 1; i < n; i++)                                                                            \
                for (int64_t k = 0; k < w; k++) {                                                                      \
                    const C v = LOAD(x[i * inner + k]);                                                                \
                    top[k] = v > top[k] || v != v ? v : top[k];                                                        \
                }                                                                                                      \
            for (int64_t i = 0; i < n; i++)                                                                            \
                for (int64_t k = 0; k < w; k++) sum[k] += exp(LOAD(x[i * inner + k]) - top[k]);                        \
            for (int64_t k = 0; k < w; k++) {                                                                          \
                if (is_log) top[k] += log(sum[k]);                                                                     \
                else sum[k] = 1 / sum[k];                                                                              \
            }                                                                                                          \
            for (int64_t i = 0; i < n; i++)                                                                            \
                for (int64_t k = 0; k < w; k++) {                                                                      \
                    const C v = LOAD(x[i * inner + k]) - top[k];                                                       \
                    y[i * inner + k] = is_log ? STORE(v) : STORE(exp(v) * sum[k]);                                     \
                }                                                                                                      \
        }                                                                                                              \
    }

/* --- gradient ---------------------------------------------------------------------------------------------------- */

/* softmax: y * (g - sum(g * y)); log_softmax: g - exp(y) * sum(g). */
#define GRAD_ROWS(D, T, C, LOAD, STORE, name, is_log)                                                                  \
    static void name##_grad_rows_##D(void *context, int64_t begin, int64_t end)                                        \
    {                                                                                                                  \
        const softmax_job *j = context;                                                                                \
        const int64_t n = j->s.n;                                                                                      \
        for (int64_t r = begin; r < end; r++) {                                                                        \
            const T *y = (const T *)(const void *)j->x + r * n, *g = (const T *)(const void *)j->g + r * n;            \
            T *d = (T *)(void *)j->out + r * n;                                                                        \
            C sum = 0;                                                                                                 \
            for (int64_t i = 0; i < n; i++) sum += is_log ? LOAD(g[i]) : LOAD(g[i]) * LOAD(y[i]);                      \
            for (int64_t i = 0; i < n; i++)                                                                            \
                d[i] = is_log ? STORE(LOAD(g[i]) - exp(LOAD(y[i])) * sum) : STORE(LOAD(y[i]) * (LOAD(g[i]) - sum));    \
        }                                                                                                              \
    }
#define GRAD_COLUMNS(D, T, C, LOAD, STORE, name, is_log)                                                               \
    static void name##_grad_columns_##D(void *context, int64_t begin, int64_t end)                                     \
    {                                                                                                                  \
        const softmax_job *j = context;                                                                                \
        const int64_t n = j->s.n, inner = j->s.inner, blocks = (inner + BLOCK - 1) / BLOCK;                            \
        C sum[BLOCK];                                                                                                  \
        for (int64_t part = begin; part < end; part++) {                                                               \
            const int64_t at = part / blocks * n * inner + part % blocks * BLOCK;                                      \
            const int64_t w = inner - part % blocks * BLOCK < BLOCK ? inner - part % blocks * BLOCK : BLOCK;           \
            const T *y = (const T *)(const void *)j->x + at, *g = (const T *)(const void *)j->g + at;                  \
            T *d = (T *)(void *)j->out + at;                                                                           \
            for (int64_t k = 0; k < w; k++) sum[k] = 0;                                                                \
            for (int64_t i = 0; i < n * inner; i += inner)                                                             \
                for (int64_t k = i; k < i + w; k++) sum[k - i] += is_log ? LOAD(g[k]) : LOAD(g[k]) * LOAD(y[k]);       \
            for (int64_t i = 0; i < n * inner; i += inner)                                                             \
                for (int64_t k = i; k < i + w; k++)                                                                    \
                    d[k] = is_log ? STORE(LOAD(g[k]) - exp(LOAD(y[k])) * sum[k - i])                                   \
                                  : STORE(LOAD(y[k]) * (LOAD(g[k]) - sum[k - i]));                                     \
        }                                                                                                              \
    }

typedef void (*part_fn)(void *context, int64_t begin, int64_t end);
static sp_status softmax_run(const sp_call *c, const part_fn *rows, const part_fn *columns)
{
    const sp_tensor *x = c->in[0];
    softmax_job j = {.x = x->data, .g = c->n_in > 1 ? c->in[1]->data : NULL, .out = c->out[0]->data};
    SP_TRY(softmax_split(x, c->attrs, &j.s));
    if (x->count == 0) return SP_OK;
    if (j.s.inner == 1) return sp__parallel_for(j.s.outer, sp__grain(4 * j.s.n), rows[x->dtype], &j);
    const int64_t blocks = (j.s.inner + BLOCK - 1) / BLOCK, width = j.s.inner < BLOCK ? j.s.inner : BLOCK;
    return sp__parallel_for(j.s.outer * blocks, sp__grain(4 * j.s.n * width), columns[x->dtype], &j);
}

#define KERNELS(name_, is_log)                                                                                         \
    SP_EACH_FLOAT(SOFTMAX_ROWS, name_, is_log)                                                                         \
    SP_EACH_FLOAT(SOFTMAX_COLUMNS, name_, is_log)                                                                      \
    SP_EACH_FLOAT(GRAD_ROWS, name_, is_log)                                                                            \
    SP_EACH_FLOAT(GRAD_COLUMNS, name_, is_log)                                                                         \
    static sp_status name_##_reference(const sp_call *c)                                                               \
    {                                                                                                                  \
        static const part_fn rows[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_KERNEL_ROW, name_##_rows, )};                    \
        static const part_fn columns[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_KERNEL_ROW, name_##_columns, )};              \
        return softmax_run(c, rows, columns);                                                                          \
    }                                                                                                                  \
    static sp_status name_##_grad_reference(const sp_call *c)                                                          \
    {                                                                                                                  \
        static const part_fn rows[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_KERNEL_ROW, name_##_grad_rows, )};               \
        static const part_fn columns[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_KERNEL_ROW, name_##_grad_columns, )};         \
        return softmax_run(c, rows, columns);                                                                          \
    }                                                                                                                  \
    static sp_status name_##_vjp(sp_builder *b, const sp_vjp *v)                                                       \
    {                                                                                                                  \
        v->din[0] =                                                                                                    \
            sp_builder_apply(b, &sp_op_##name_##_grad, v->attrs, 2, (sp_tensor *const[]){v->out[0], v->dout[0]});      \
        return SP_OK;                                                                                                  \
    }
KERNELS(softmax, false)
KERNELS(log_softmax, true)

static sp_tensor *sum_over(sp_builder *b, const sp_vjp *v, sp_tensor *x)
{
    const sp_softmax_attrs *a = v->attrs;
    return x && x->rank ? sp__sum_axes(b, x, a->axis, true) : x;
}

/* r = y (g - sum(g y)): towards g it is its own transpose. */
static sp_status softmax_grad_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *y = v->in[0], *g = v->in[1], *d = v->dout[0];
    if (v->needs[0]) {
        sp_tensor *left = sp_mul(b, d, sp_sub(b, g, sum_over(b, v, sp_mul(b, g, y))));
        v->din[0] = sp_sub(b, left, sp_mul(b, g, sum_over(b, v, sp_mul(b, d, y))));
    }
    if (v->needs[1]) v->din[1] = sp_builder_apply(b, &sp_op_softmax_grad, v->attrs, 2, (sp_tensor *const[]){y, d});
    return SP_OK;
}

/* r = g - exp(y) sum(g). */
static sp_status log_softmax_grad_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *g = v->in[1], *d = v->dout[0], *de = sp_mul(b, d, sp_exp(b, v->in[0]));
    if (v->needs[0]) v->din[0] = sp_neg(b, sp_mul(b, de, sum_over(b, v, g)));
    if (v->needs[1]) v->din[1] = sp_sub(b, d, sum_over(b, v, de));
    return SP_OK;
}

#define SOFTMAX(name_, grad_doc_, ...)                                                                                 \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .shard = "same; axis whole",                                                          \
                                 .inputs = "x",                                                                        \
                                 SP_ATTRS(softmax_attr_table, sp_softmax_attrs),                                       \
                                 .dtypes = SP_DT_FLOATS,                                                               \
                                 .infer = softmax_infer,                                                               \
                                 .reference = name_##_reference,                                                       \
                                 .batch = sp__batch_reduce,                                                            \
                                 .vjp = name_##_vjp,                                                                   \
                                 .saves = SP_SAVE_OUT(0),                                                              \
                                 .samples = "[2,3]; [2,3,4] axis=(1,); [3,70] axis=(0,); [2,3,4] axis=(1,2); []",      \
                                 __VA_ARGS__};                                                                         \
    const sp_op sp_op_##name_##_grad = {.name = #name_ "_grad",                                                        \
                                        .shard = "same; axis whole",                                                   \
                                        .inputs = "y, dout",                                                           \
                                        SP_ATTRS(softmax_attr_table, sp_softmax_attrs),                                \
                                        .dtypes = SP_DT_FLOATS,                                                        \
                                        .infer = softmax_grad_infer,                                                   \
                                        .reference = name_##_grad_reference,                                           \
                                        .batch = sp__batch_reduce,                                                     \
                                        .vjp = name_##_grad_vjp,                                                       \
                                        .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),                                        \
                                        .doc = grad_doc_,                                                              \
                                        .samples = "[2,3] [2,3]; [2,3,4] [2,3,4] axis=(1,)"};

SOFTMAX(softmax, "Gradient of softmax from its result and the gradient of that.", .mindir = "Softmax",
        .onnx = "Softmax", .python = "ops.Softmax(axis=-1)(input)",
        .doc = "exp(x) divided by its sum over an axis (or neighbouring axes).")
SOFTMAX(log_softmax, "Gradient of log_softmax from its result and the gradient of that.", .mindir = "LogSoftmax",
        .onnx = "LogSoftmax", .python = "ops.log_softmax(logits, axis=-1); ops.LogSoftmax(axis=-1)(logits)",
        .doc = "The logarithm of softmax, computed without taking the logarithm of small numbers.")
