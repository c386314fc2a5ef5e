/* SPDX-License-Identifier: Apache-2.0 */
/* attention.c - softmax(scale query key' + mask) value as one operator: no result and no gradient needs the whole matrix of scores.
 *
 * query is [..., length, size], key [..., source, size], value [..., source, width], with the same leading dimensions; mask, if
 * given, is added to the scores and broadcasts to [..., length, source]. With `causal` position i sees positions up to i. The fused
 * gradient computes the scores again. When that is to be differentiated, or the mask's gradient is wanted, the rule is composed. */
#include <tgmath.h>

#include "ir/attention_geometry.h"
#include "ir/refuse.h"
#include "ops/nn.h"

SP_ATTR_TABLE(attention_attr_table, sp_attention_attrs, (FLOAT, scale, 1.0), (BOOL, causal, False));

static sp_status attention_measure(const sp_call *c, sp__attention_shape *s)
{
    char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
    const sp_tensor *q = c->in[0], *k = c->in[1], *v = c->in[2], *mask = c->in[3];
    const sp_inputs *names = sp__op_inputs(c->op);
    SP_CHECK(q->rank >= 2, SP_VALUE, "query has shape %s, it must have at least 2 dimensions",
             sp__shape_text(q->rank, q->dims, a));
    for (int i = 1; i < 3; i++) {
        const sp_tensor *t = c->in[i];
        SP_CHECK(t->rank == q->rank && memcmp(t->dims, q->dims, (size_t)(q->rank - 2) * sizeof *t->dims) == 0, SP_VALUE,
                 "%s has shape %s, its leading dimensions must be those of query, %s", names->names[i],
                 sp__shape_text(t->rank, t->dims, a), sp__shape_text(q->rank, q->dims, b));
        SP_CHECK(t->dtype == q->dtype, SP_TYPE, "%s has dtype %s, it must be that of query, %s", names->names[i],
                 sp_dtype_name((sp_dtype)t->dtype), sp_dtype_name((sp_dtype)q->dtype));
    }
    const int r = q->rank;
    SP_CHECK(k->dims[r - 1] == q->dims[r - 1], SP_VALUE, "query has %lld features, key %lld, they must be equal",
             (long long)q->dims[r - 1], (long long)k->dims[r - 1]);
    SP_CHECK(v->dims[r - 2] == k->dims[r - 2], SP_VALUE, "key has %lld positions, value %lld, they must be equal",
             (long long)k->dims[r - 2], (long long)v->dims[r - 2]);
    sp__attention_measure(c, s);
    if (!mask) return SP_OK;
    SP_CHECK(mask->dtype == q->dtype, SP_TYPE, "mask has dtype %s, it must be that of query, %s",
             sp_dtype_name((sp_dtype)mask->dtype), sp_dtype_name((sp_dtype)q->dtype));
    bool fits = mask->rank >= 2 && mask->rank <= r;
    for (int i = 0; fits && i < mask->rank; i++) {
        const int at = r - mask->rank + i;
        const int64_t want = at == r - 1 ? s->source : q->dims[at];
        fits = mask->dims[i] == want || (mask->dims[i] == 1 && at < r - 2);
    }
    SP_CHECK(
        fits, SP_VALUE,
        "mask has shape %s, it must end in (%lld, %lld) and otherwise broadcast to the leading dimensions of query, %s",
        sp__shape_text(mask->rank, mask->dims, a), (long long)s->length, (long long)s->source,
        sp__shape_text(r, q->dims, b));
    return SP_OK;
}

static sp_status attention_infer(const sp_call *c, sp_meta *out)
{
    sp__attention_shape s;
    SP_TRY(attention_measure(c, &s));
    sp__meta_of(c->in[0], out);
    out->dims[out->rank - 1] = s.width;
    return SP_OK;
}
static sp_status attention_grad_infer(const sp_call *c, sp_meta *out)
{
    sp__attention_shape s;
    SP_TRY(attention_measure(c, &s));
    SP_CHECK(c->in[4]->count == s.n * s.length * s.width && c->in[4]->dtype == c->in[0]->dtype, SP_VALUE,
             "dout must be as the result of attention");
    for (int i = 0; i < 3; i++) sp__meta_of(c->in[i], &out[i]);
    return SP_OK;
}

/* --- plain kernels ----------------------------------------------------------------------------------------------------- */

typedef struct {
    sp__attention_shape s;
    const sp_call *c;
    char *
        work; /* per item: one row of probabilities, one of their gradients; then, for the gradient, sums of dk and dv */
} attention_job;

static int64_t work_of_item(const sp__attention_shape *s, bool gradient)
{
    return 2 * s->source + (gradient ? s->source * (s->size + s->width) : 0);
}

#define ATTENTION(D, T, C, LOAD, STORE, ...)                                                                           \
    /* The probabilities of row i of item n. */                                                                        \
    static void attention_row_##D(const attention_job *j, int64_t n, int64_t i, C *p)                                  \
    {                                                                                                                  \
        const sp__attention_shape *s = &j->s;                                                                          \
        const sp_attention_attrs *a = j->c->attrs;                                                                     \
        const T *q = (const T *)(const void *)j->c->in[0]->data + (n * s->length + i) * s->size;                       \
        const T *k = (const T *)(const void *)j->c->in[1]->data + n * s->source * s->size;                             \
        const T *m = j->c->in[3]                                                                                       \
                         ? (const T *)(const void *)j->c->in[3]->data + sp__attention_mask(j->c, n) + i * s->source    \
                         : NULL;                                                                                       \
        C top = -(C)INFINITY, sum = 0;                                                                                 \
        for (int64_t t = 0; t < s->source; t++) {                                                                      \
            C dot = 0;                                                                                                 \
            for (int64_t e = 0; e < s->size; e++) dot += LOAD(q[e]) * LOAD(k[t * s->size + e]);                        \
            p[t] = a->causal && t > i ? -(C)INFINITY : (C)a->scale * dot + (m ? LOAD(m[t]) : 0);                       \
            top = p[t] > top ? p[t] : top;                                                                             \
        }                                                                                                              \
        for (int64_t t = 0; t < s->source; t++) sum += p[t] = exp(p[t] - top);                                         \
        for (int64_t t = 0; t < s->source; t++) p[t] /= sum;                                                           \
    }                                                                                                                  \
    static void attention_##D(void *context, int64_t begin, int64_t end)                                               \
    {                                                                                                                  \
        const attention_job *j = context;                                                                              \
        const sp__attention_shape *s = &j->s;                                                                          \
        for (int64_t n = begin; n < end; n++) {                                                                        \
            C *p = (C *)(void *)j->work + n * work_of_item(s, false);                                                  \
            const T *v = (const T *)(const void *)j->c->in[2]->data + n * s->source * s->width;                        \
            for (int64_t i = 0; i < s->length; i++) {                                                                  \
                T *out = (T *)(void *)j->c->out[0]->data + (n * s->length + i) * s->width;                             \
                attention_row_##D(j, n, i, p);                                                                         \
                for (int64_t e = 0; e < s->width; e++) {                                                               \
                    C sum = 0;                                                                                         \
                    for (int64_t t = 0; t < s->source; t++) sum += p[t] * LOAD(v[t * s->width + e]);                   \
                    out[e] = STORE(sum);                                                                               \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void attention_grad_##D(void *context, int64_t begin, int64_t end)                                          \
    {                                                                                                                  \
        const attention_job *j = context;                                                                              \
        const sp__attention_shape *s = &j->s;                                                                          \
        const C scale = (C)((const sp_attention_attrs *)j->c->attrs)->scale;                                           \
        for (int64_t n = begin; n < end; n++) {                                                                        \
            C *p = (C *)(void *)j->work + n * work_of_item(s, true), *dp = p + s->source;                              \
            C *dk = dp + s->source, *dv = dk + s->source * s->size;                                                    \
            const T *k = (const T *)(const void *)j->c->in[1]->data + n * s->source * s->size;                         \
            const T *v = (const T *)(const void *)j->c->in[2]->data + n * s->source * s->width;                        \
            for (int64_t e = 0; e < s->source * (s->size + s->width); e++) dk[e] = 0;                                  \
            for (int64_t i = 0; i < s->length; i++) {                                                                  \
                const T *q = (const T *)(const void *)j->c->in[0]->data + (n * s->length + i) * s->size;               \
                const T *g = (const T *)(const void *)j->c->in[4]->data + (n * s->length + i) * s->width;              \
                T *dq = (T *)(void *)j->c->out[0]->data + (n * s->length + i) * s->size;                               \
                C sum = 0;                                                                                             \
                attention_row_##D(j, n, i, p);                                                                         \
                for (int64_t t = 0; t < s->source; t++) {                                                              \
                    dp[t] = 0;                                                                                         \
                    for (int64_t e = 0; e < s->width; e++) {                                                           \
                        dp[t] += LOAD(g[e]) * LOAD(v[t * s->width + e]);                                               \
                        dv[t * s->width + e] += p[t] * LOAD(g[e]);                                                     \
                    }                                                                                                  \
                    sum += dp[t] * p[t];                                                                               \
                }                                                                                                      \
                for (int64_t t = 0; t < s->source; t++) dp[t] = p[t] * (dp[t] - sum) * scale;                          \
                for (int64_t e = 0; e < s->size; e++) {                                                                \
                    C dot = 0;                                                                                         \
                    for (int64_t t = 0; t < s->source; t++) {                                                          \
                        dot += dp[t] * LOAD(k[t * s->size + e]);                                                       \
                        dk[t * s->size + e] += dp[t] * LOAD(q[e]);                                                     \
                    }                                                                                                  \
                    dq[e] = STORE(dot);                                                                                \
                }                                                                                                      \
            }                                                                                                          \
            T *k_out = (T *)(void *)j->c->out[1]->data + n * s->source * s->size;                                      \
            T *v_out = (T *)(void *)j->c->out[2]->data + n * s->source * s->width;                                     \
            for (int64_t e = 0; e < s->source * s->size; e++) k_out[e] = STORE(dk[e]);                                 \
            for (int64_t e = 0; e < s->source * s->width; e++) v_out[e] = STORE(dv[e]);                                \
        }                                                                                                              \
    }
SP_EACH_FLOAT(ATTENTION, , )

static size_t attention_bytes(const sp_call *c, bool gradient)
{
    sp__attention_shape s;
    sp__attention_measure(c, &s);
    return (size_t)(s.n * work_of_item(&s, gradient)) *
           (c->in[0]->dtype == SP_DTYPE_F64 ? sizeof(double) : sizeof(float));
}
static size_t attention_workspace(const sp_call *c) { return attention_bytes(c, false); }
static size_t attention_grad_workspace(const sp_call *c) { return attention_bytes(c, true); }

static sp_status attention_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, attention, )};
    attention_job j = {.c = c, .work = c->work};
    sp__attention_measure(c, &j.s);
    return sp__parallel_for(j.s.n, 1, fns[c->in[0]->dtype], &j);
}
static sp_status attention_grad_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t,
                                             int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, attention_grad, )};
    attention_job j = {.c = c, .work = c->work};
    sp__attention_measure(c, &j.s);
    return sp__parallel_for(j.s.n, 1, fns[c->in[0]->dtype], &j);
}

/* --- the rule ------------------------------------------------------------------------------------------------------------ */

/* Scores with everything added, as operators. */
static sp_tensor *scores_of(sp_builder *b, const sp_vjp *v)
{
    const sp_attention_attrs *a = v->attrs;
    sp_tensor *scores = sp__mul_number(b, sp_matmul(b, v->in[0], v->in[1], false, true), a->scale);
    if (v->in[3]) scores = sp_add(b, scores, v->in[3]);
    if (!a->causal || !scores) return scores;
    const int r = scores->rank;
    sp_tensor *hidden =
        sp_greater(b, sp__positions(b, r, r - 1, scores->dims[r - 1]), sp__positions(b, r, r - 2, scores->dims[r - 2]));
    return sp_select(b, hidden, sp__const(b, -INFINITY, scores), scores);
}

static sp_status attention_composed(sp_builder *b, const sp_vjp *v)
{
    const sp_attention_attrs *a = v->attrs;
    const int64_t last = -1;
    const sp_softmax_attrs along = {{1, &last}};
    sp_tensor *g = v->dout[0], *scores = scores_of(b, v);
    sp_tensor *p = sp_builder_apply(b, &sp_op_softmax, &along, 1, &scores),
              *dp = sp_matmul(b, g, v->in[2], false, true);
    sp_tensor *mean = sp_reduce_sum(b, sp_mul(b, dp, p), 1, &last, true), *ds = sp_mul(b, p, sp_sub(b, dp, mean));
    if (v->needs[0]) v->din[0] = sp__mul_number(b, sp_matmul(b, ds, v->in[1], false, false), a->scale);
    if (v->needs[1]) v->din[1] = sp__mul_number(b, sp_matmul(b, ds, v->in[0], true, false), a->scale);
    if (v->needs[2]) v->din[2] = sp_matmul(b, p, g, true, false);
    if (v->in[3] && v->needs[3]) v->din[3] = sp__unbroadcast(b, ds, v->in[3]);
    return SP_OK;
}

static sp_status attention_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->again || (v->in[3] && v->needs[3])) return attention_composed(b, v);
    sp_tensor *out[3];
    int n;
    SP_TRY(sp_builder_apply_many(b, &sp_op_attention_grad, v->attrs, 5,
                                 (sp_tensor *const[]){v->in[0], v->in[1], v->in[2], v->in[3], v->dout[0]}, 3, out, &n));
    for (int i = 0; i < 3; i++) v->din[i] = out[i];
    return SP_OK;
}

const sp_op sp_op_attention = {
    .batch = sp__batch_trailing,
    .name = "attention",
    .shard = "... l d, ... s d, ... s v, ... l s -> ... l v; s whole, d whole, l whole if causal",
    .inputs = "query, key, value, mask?",
    SP_ATTRS(attention_attr_table, sp_attention_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = attention_infer,
    .reference = attention_reference,
    .workspace = attention_workspace,
    .vjp = attention_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1) | SP_SAVE_IN(2) | SP_SAVE_IN(3),
    .doc = "softmax(scale query key' + mask) value, without keeping the scores.",
    .samples = "[2,3,4] [2,5,4] [2,5,2] _ scale=0.5; [3,4] [3,4] [3,4] _ scale=0.5 causal=True; "
               "[2,2,3,4] [2,2,5,4] [2,2,5,4] [2,1,3,5]",
};
const sp_op sp_op_attention_grad = {
    .batch = sp__batch_trailing,
    .name = "attention_grad",
    .shard =
        "... l d, ... s d, ... s v, ... l s, ... l v -> ... l d, ... s d, ... s v; l whole, s whole, d whole, v whole",
    .inputs = "query, key, value, mask?, dout",
    .n_out = 3,
    SP_ATTRS(attention_attr_table, sp_attention_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = attention_grad_infer,
    .reference = attention_grad_reference,
    .workspace = attention_grad_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "attention composes its gradient when that is differentiated",
    .doc = "Gradients of attention towards query, key and value.",
    .samples = "[2,3,4] [2,5,4] [2,5,2] _ [2,3,2] scale=0.5",
};
