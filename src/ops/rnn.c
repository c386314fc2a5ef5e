/* SPDX-License-Identifier: Apache-2.0 */
/* rnn.c - recurrent layers: the loop over time as one operator.
 *
 * The products with the input do not depend on the state: they are done before, for all times at once, by matmul, and
 * come in as gx [time, batch, gates * hidden]. rnn_scan does the rest: gh = h W' + b and the cell. Gates in their order:
 *   lstm  input, forget, cell, output     gru  reset, update, new     rnn_tanh, rnn_relu  one
 * It keeps what the gradient needs per step in `kept`: lstm the four gates and the new cell state, gru the three gates
 * and gh of the third. Samples are independent, so they are spread over threads; the gradient of the weights is summed in
 * the order of time and batch, by rows of the weights. With lengths, a sample's state stands still outside its length
 * and its output there is zero; `reverse` runs from a sample's last step to its first.
 * The gradient is a kernel too. When it is to be differentiated itself, the rule is composed of elementary operators,
 * step by step, from the results y and kept; kept is therefore a result like y, with a gradient. */
#include "ir/refuse.h"
#include "ops/norm.h"

SP_ATTR_TABLE(rnn_attr_table, sp_rnn_attrs, (TEXT, mode, "lstm"), (BOOL, reverse, False));

typedef enum { LSTM, GRU, TANH, RELU } rnn_mode;

typedef struct {
    rnn_mode mode;
    bool reverse;
    int64_t time, batch, hidden, gates, kept; /* kept: vectors of `hidden` kept per step */
} rnn_shape;

/* From the shapes of gx (time, batch, gates * hidden), h0 and the weights of the state. */
static sp_status rnn_measure(const sp_call *c, const int64_t *gx, const sp_tensor *h0, const sp_tensor *weight,
                             rnn_shape *s)
{
    static const char *const names[] = {"lstm", "gru", "rnn_tanh", "rnn_relu"};
    static const int gates[] = {4, 3, 1, 1}, kept[] = {5, 4, 0, 0};
    const sp_rnn_attrs *a = c->attrs;
    int mode = 0;
    while (mode < 4 && strcmp(a->mode, names[mode])) mode++;
    SP_CHECK(mode < 4, SP_VALUE, "mode is '%s', it must be lstm, gru, rnn_tanh or rnn_relu", a->mode);
    SP_CHECK(c->in[0]->rank == 3 && h0->rank == 2 && weight->rank == 2, SP_VALUE,
             "%s, h0 and weight have ranks %d, %d and %d, they must be 3, 2 and 2", sp__op_inputs(c->op)->names[0],
             c->in[0]->rank, h0->rank, weight->rank);
    *s = (rnn_shape){(rnn_mode)mode, a->reverse, gx[0], gx[1], h0->dims[1], gates[mode], kept[mode]};
    SP_CHECK(h0->dims[0] == s->batch && gx[2] == s->gates * s->hidden && weight->dims[0] == gx[2] &&
                 weight->dims[1] == s->hidden,
             SP_VALUE, "a batch of %lld with %lld hidden units needs gx [time, %lld, %lld] and weight [%lld, %lld]",
             (long long)h0->dims[0], (long long)s->hidden, (long long)h0->dims[0], (long long)(s->gates * s->hidden),
             (long long)(s->gates * s->hidden), (long long)s->hidden);
    return SP_OK;
}

/* Inputs: gx, h0, c0?, weight, bias?, lengths?. Results: y, last h, last c, kept. */
static sp_status scan_infer(const sp_call *c, sp_meta *out)
{
    rnn_shape s = {.time = 0};
    SP_TRY(rnn_measure(c, c->in[0]->dims, c->in[1], c->in[3], &s));
    SP_CHECK(s.mode != LSTM || (c->in[2] && sp__tensor_same_shape(c->in[1], c->in[2])), SP_VALUE,
             "lstm needs c0 of the shape of h0");
    SP_CHECK(!c->in[4] || c->in[4]->count == s.gates * s.hidden, SP_VALUE, "bias must have %lld elements",
             (long long)(s.gates * s.hidden));
    SP_CHECK(!c->in[5] || (c->in[5]->count == s.batch && c->in[5]->dtype == SP_DTYPE_I64), SP_VALUE,
             "lengths must be int64, one per sample (%lld)", (long long)s.batch);
    for (int i = 1; i < 5; i++)
        SP_CHECK(!c->in[i] || c->in[i]->dtype == c->in[0]->dtype, SP_TYPE, "%s has dtype %s, but gx has %s",
                 sp__op_inputs(c->op)->names[i], sp_dtype_name((sp_dtype)c->in[i]->dtype),
                 sp_dtype_name((sp_dtype)c->in[0]->dtype));
    const sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    out[0] = (sp_meta){.dtype = dtype, .rank = 3, .dims = {s.time, s.batch, s.hidden}};
    for (int k = 1; k < 3; k++) out[k] = (sp_meta){.dtype = dtype, .rank = 2, .dims = {s.batch, s.hidden}};
    out[3] = (sp_meta){.dtype = dtype, .rank = 3, .dims = {s.time, s.batch, s.kept * s.hidden}};
    return SP_OK;
}

typedef struct {
    rnn_shape s;
    const char *gx, *h0, *c0, *weight, *bias, *y, *kept_in, *dy, *dh, *dc, *dkept;
    const int64_t *lengths;
    char *out, *hn, *cn, *kept, *dgx, *dgh, *dh0, *dc0;
    char *work; /* per sample: what the functions below say */
} rnn_job;

/* Steps of a sample: how many, and which time comes n-th. */
static int64_t steps_of(const rnn_job *j, int64_t sample)
{
    if (!j->lengths) return j->s.time;
    const int64_t n = j->lengths[sample];
    return n < 0 ? 0 : n > j->s.time ? j->s.time : n;
}

/* The gradient that a kept vector was given from above. */
#define GIVEN(LOAD, k) (dkept ? LOAD(dkept[(k) * H + i]) : 0)

/* out[k] = sum_i h[i] W[k][i] with the weights transposed, so that the loop over k runs along memory. */
#define SCAN(D, T, C, LOAD, STORE, EXP_, TANH_)                                                                        \
    static C sigm_##D(C x) { return 1 / (1 + EXP_(-x)); }                                                              \
    /* work: gates * hidden sums, hidden h, hidden c; before all of them the transposed weights. */                    \
    static void scan_##D(void *context, int64_t begin, int64_t end)                                                    \
    {                                                                                                                  \
        const rnn_job *j = context;                                                                                    \
        const int64_t H = j->s.hidden, G = j->s.gates * H, B = j->s.batch, K = j->s.kept * H;                          \
        const C *w = (const C *)(const void *)j->work;                                                                 \
        const T *bias = (const T *)(const void *)j->bias;                                                              \
        for (int64_t n = begin; n < end; n++) {                                                                        \
            C *gh = (C *)(void *)j->work + H * G + n * (G + 2 * H), *h = gh + G, *cell = h + H;                        \
            const int64_t steps = steps_of(j, n);                                                                      \
            for (int64_t i = 0; i < H; i++) {                                                                          \
                h[i] = LOAD(((const T *)(const void *)j->h0)[n * H + i]);                                              \
                cell[i] = j->c0 ? LOAD(((const T *)(const void *)j->c0)[n * H + i]) : 0;                               \
            }                                                                                                          \
            for (int64_t t = steps; t < j->s.time; t++) {                                                              \
                memset((T *)(void *)j->out + (t * B + n) * H, 0, (size_t)H * sizeof(T));                               \
                memset((T *)(void *)j->kept + (t * B + n) * K, 0, (size_t)K * sizeof(T));                              \
            }                                                                                                          \
            for (int64_t step = 0; step < steps; step++) {                                                             \
                const int64_t t = j->s.reverse ? steps - 1 - step : step;                                              \
                const T *gx = (const T *)(const void *)j->gx + (t * B + n) * G;                                        \
                T *y = (T *)(void *)j->out + (t * B + n) * H, *kept = (T *)(void *)j->kept + (t * B + n) * K;          \
                for (int64_t k = 0; k < G; k++) gh[k] = bias ? LOAD(bias[k]) : 0;                                      \
                for (int64_t i = 0; i < H; i++) {                                                                      \
                    const C hi = h[i];                                                                                 \
                    const C *row = w + i * G;                                                                          \
                    for (int64_t k = 0; k < G; k++) gh[k] += hi * row[k];                                              \
                }                                                                                                      \
                for (int64_t i = 0; i < H; i++) {                                                                      \
                    if (j->s.mode == LSTM) {                                                                           \
                        const C in = sigm_##D(LOAD(gx[i]) + gh[i]), keep = sigm_##D(LOAD(gx[H + i]) + gh[H + i]);      \
                        const C new_ = TANH_(LOAD(gx[2 * H + i]) + gh[2 * H + i]);                                     \
                        const C show = sigm_##D(LOAD(gx[3 * H + i]) + gh[3 * H + i]);                                  \
                        cell[i] = keep * cell[i] + in * new_;                                                          \
                        h[i] = show * TANH_(cell[i]);                                                                  \
                        kept[i] = STORE(in), kept[H + i] = STORE(keep), kept[2 * H + i] = STORE(new_);                 \
                        kept[3 * H + i] = STORE(show), kept[4 * H + i] = STORE(cell[i]);                               \
                    } else if (j->s.mode == GRU) {                                                                     \
                        const C reset = sigm_##D(LOAD(gx[i]) + gh[i]), hold = sigm_##D(LOAD(gx[H + i]) + gh[H + i]);   \
                        const C new_ = TANH_(LOAD(gx[2 * H + i]) + reset * gh[2 * H + i]);                             \
                        h[i] = new_ + hold * (h[i] - new_);                                                            \
                        kept[i] = STORE(reset), kept[H + i] = STORE(hold), kept[2 * H + i] = STORE(new_);              \
                        kept[3 * H + i] = STORE(gh[2 * H + i]);                                                        \
                    } else {                                                                                           \
                        const C x = LOAD(gx[i]) + gh[i];                                                               \
                        h[i] = j->s.mode == TANH ? TANH_(x) : x > 0 ? x : 0;                                           \
                    }                                                                                                  \
                    y[i] = STORE(h[i]);                                                                                \
                }                                                                                                      \
            }                                                                                                          \
            for (int64_t i = 0; i < H; i++) {                                                                          \
                ((T *)(void *)j->hn)[n * H + i] = STORE(h[i]);                                                         \
                ((T *)(void *)j->cn)[n * H + i] = STORE(cell[i]);                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void scan_turn_##D(const rnn_job *j, C *out)                                                                \
    {                                                                                                                  \
        const int64_t H = j->s.hidden, G = j->s.gates * H;                                                             \
        const T *w = (const T *)(const void *)j->weight;                                                               \
        for (int64_t k = 0; k < G; k++)                                                                                \
            for (int64_t i = 0; i < H; i++) out[i * G + k] = LOAD(w[k * H + i]);                                       \
    }                                                                                                                  \
    /* work: the weights, then per sample: G gradients, H of dh, H of dc. */                                           \
    static void scan_grad_##D(void *context, int64_t begin, int64_t end)                                               \
    {                                                                                                                  \
        const rnn_job *j = context;                                                                                    \
        const int64_t H = j->s.hidden, G = j->s.gates * H, B = j->s.batch, K = j->s.kept * H;                          \
        const C *w = (const C *)(const void *)j->work;                                                                 \
        const T *h0 = (const T *)(const void *)j->h0, *c0 = (const T *)(const void *)j->c0;                            \
        const T *ys = (const T *)(const void *)j->y, *all = (const T *)(const void *)j->kept_in;                       \
        for (int64_t n = begin; n < end; n++) {                                                                        \
            C *dgh = (C *)(void *)j->work + H * G + n * (G + 2 * H), *dh = dgh + G, *dc = dh + H;                      \
            const int64_t steps = steps_of(j, n);                                                                      \
            for (int64_t i = 0; i < H; i++) {                                                                          \
                dh[i] = j->dh ? LOAD(((const T *)(const void *)j->dh)[n * H + i]) : 0;                                 \
                dc[i] = j->dc ? LOAD(((const T *)(const void *)j->dc)[n * H + i]) : 0;                                 \
            }                                                                                                          \
            for (int64_t t = steps; t < j->s.time; t++) {                                                              \
                memset((T *)(void *)j->dgx + (t * B + n) * G, 0, (size_t)G * sizeof(T));                               \
                memset((T *)(void *)j->dgh + (t * B + n) * G, 0, (size_t)G * sizeof(T));                               \
            }                                                                                                          \
            for (int64_t step = steps - 1; step >= 0; step--) {                                                        \
                const int64_t t = j->s.reverse ? steps - 1 - step : step, before = j->s.reverse ? t + 1 : t - 1;       \
                const T *hp = step ? ys + (before * B + n) * H : h0 + n * H;                                           \
                const T *kept = all + (t * B + n) * K, *y = ys + (t * B + n) * H;                                      \
                const T *kept_before = step ? all + (before * B + n) * K : NULL;                                       \
                const T *dkept = j->dkept ? (const T *)(const void *)j->dkept + (t * B + n) * K : NULL;                \
                T *dgx = (T *)(void *)j->dgx + (t * B + n) * G;                                                        \
                for (int64_t i = 0; i < H; i++) {                                                                      \
                    C d = dh[i] + (j->dy ? LOAD(((const T *)(const void *)j->dy)[(t * B + n) * H + i]) : 0);           \
                    if (j->s.mode == LSTM) {                                                                           \
                        const C in = LOAD(kept[i]), keep = LOAD(kept[H + i]), new_ = LOAD(kept[2 * H + i]);            \
                        const C show = LOAD(kept[3 * H + i]), th = TANH_(LOAD(kept[4 * H + i]));                       \
                        const C cp = step ? LOAD(kept_before[4 * H + i]) : LOAD(c0[n * H + i]);                        \
                        const C dcell = dc[i] + d * show * (1 - th * th) + GIVEN(LOAD, 4);                             \
                        dgh[i] = (dcell * new_ + GIVEN(LOAD, 0)) * in * (1 - in);                                      \
                        dgh[H + i] = (dcell * cp + GIVEN(LOAD, 1)) * keep * (1 - keep);                                \
                        dgh[2 * H + i] = (dcell * in + GIVEN(LOAD, 2)) * (1 - new_ * new_);                            \
                        dgh[3 * H + i] = (d * th + GIVEN(LOAD, 3)) * show * (1 - show);                                \
                        dc[i] = dcell * keep;                                                                          \
                        dh[i] = 0;                                                                                     \
                        for (int g = 0; g < 4; g++) dgx[g * H + i] = STORE(dgh[g * H + i]);                            \
                    } else if (j->s.mode == GRU) {                                                                     \
                        const C reset = LOAD(kept[i]), hold = LOAD(kept[H + i]), new_ = LOAD(kept[2 * H + i]);         \
                        const C ghn = LOAD(kept[3 * H + i]);                                                           \
                        const C dn = (d * (1 - hold) + GIVEN(LOAD, 2)) * (1 - new_ * new_);                            \
                        dgh[i] = (dn * ghn + GIVEN(LOAD, 0)) * reset * (1 - reset);                                    \
                        dgh[H + i] = (d * (LOAD(hp[i]) - new_) + GIVEN(LOAD, 1)) * hold * (1 - hold);                  \
                        dgh[2 * H + i] = dn * reset + GIVEN(LOAD, 3);                                                  \
                        dh[i] = d * hold;                                                                              \
                        dgx[i] = STORE(dgh[i]), dgx[H + i] = STORE(dgh[H + i]), dgx[2 * H + i] = STORE(dn);            \
                    } else {                                                                                           \
                        const C yi = LOAD(y[i]);                                                                       \
                        dgh[i] = j->s.mode == TANH ? d * (1 - yi * yi) : yi > 0 ? d : 0;                               \
                        dh[i] = 0;                                                                                     \
                        dgx[i] = STORE(dgh[i]);                                                                        \
                    }                                                                                                  \
                }                                                                                                      \
                T *all_dgh = (T *)(void *)j->dgh + (t * B + n) * G;                                                    \
                for (int64_t k = 0; k < G; k++) {                                                                      \
                    all_dgh[k] = STORE(dgh[k]);                                                                        \
                    const C *row = w + k * H;                                                                          \
                    for (int64_t i = 0; i < H; i++) dh[i] += dgh[k] * row[i];                                          \
                }                                                                                                      \
            }                                                                                                          \
            for (int64_t i = 0; i < H; i++) {                                                                          \
                ((T *)(void *)j->dh0)[n * H + i] = STORE(dh[i]);                                                       \
                ((T *)(void *)j->dc0)[n * H + i] = STORE(dc[i]);                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    /* Rows of the gradient of the weights: sums over steps of dgh times the state before. Result in out and hn. */    \
    static void scan_weight_##D(void *context, int64_t begin, int64_t end)                                             \
    {                                                                                                                  \
        const rnn_job *j = context;                                                                                    \
        const int64_t H = j->s.hidden, G = j->s.gates * H, B = j->s.batch;                                             \
        const T *h0 = (const T *)(const void *)j->h0, *ys = (const T *)(const void *)j->y;                             \
        for (int64_t k = begin; k < end; k++) {                                                                        \
            C *row = (C *)(void *)j->work + k * H, sum = 0;                                                            \
            for (int64_t i = 0; i < H; i++) row[i] = 0;                                                                \
            for (int64_t t = 0; t < j->s.time; t++)                                                                    \
                for (int64_t n = 0; n < B; n++) {                                                                      \
                    const int64_t steps = steps_of(j, n);                                                              \
                    if (t >= steps) continue;                                                                          \
                    const bool first = j->s.reverse ? t == steps - 1 : t == 0;                                         \
                    const T *hp = first ? h0 + n * H : ys + ((j->s.reverse ? t + 1 : t - 1) * B + n) * H;              \
                    const C d = LOAD(((const T *)(const void *)j->dgh)[(t * B + n) * G + k]);                          \
                    sum += d;                                                                                          \
                    for (int64_t i = 0; i < H; i++) row[i] += d * LOAD(hp[i]);                                         \
                }                                                                                                      \
            for (int64_t i = 0; i < H; i++) ((T *)(void *)j->out)[k * H + i] = STORE(row[i]);                          \
            ((T *)(void *)j->hn)[k] = STORE(sum);                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static void scan_plain_##D(const rnn_job *j, C *out)                                                               \
    {                                                                                                                  \
        const T *w = (const T *)(const void *)j->weight;                                                               \
        for (int64_t k = 0; k < j->s.gates * j->s.hidden * j->s.hidden; k++) out[k] = LOAD(w[k]);                      \
    }
SP_EACH_FLOAT32(SCAN, expf, tanhf)
SP_EACH_DOUBLE(SCAN, exp, tanh)

static const char *data_of(const sp_tensor *t) { return t ? t->data : NULL; }
static size_t scan_bytes(const rnn_shape *s)
{
    const int64_t G = s->gates * s->hidden;
    return (size_t)(s->hidden * G + s->batch * (G + 2 * s->hidden)) * sizeof(double);
}
static size_t scan_workspace(const sp_call *c)
{
    rnn_shape s = {.time = 0};
    return rnn_measure(c, c->in[0]->dims, c->in[1], c->in[3], &s) == SP_OK ? scan_bytes(&s) : 0;
}
#define CALL(name, dtype, ...)                                                                                         \
    switch (dtype) {                                                                                                   \
    case SP_DTYPE_F16: name##_F16(__VA_ARGS__); break;                                                                 \
    case SP_DTYPE_BF16: name##_BF16(__VA_ARGS__); break;                                                               \
    case SP_DTYPE_F64: name##_F64(__VA_ARGS__); break;                                                                 \
    default: name##_F32(__VA_ARGS__);                                                                                  \
    }

static sp_status scan_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, scan, )};
    rnn_job j = {.gx = c->in[0]->data,
                 .h0 = c->in[1]->data,
                 .c0 = data_of(c->in[2]),
                 .weight = c->in[3]->data,
                 .bias = data_of(c->in[4]),
                 .out = c->out[0]->data,
                 .hn = c->out[1]->data,
                 .cn = c->out[2]->data,
                 .kept = c->out[3]->data,
                 .work = c->work};
    if (c->in[5]) j.lengths = (const int64_t *)(const void *)c->in[5]->data;
    SP_TRY(rnn_measure(c, c->in[0]->dims, c->in[1], c->in[3], &j.s));
    CALL(scan_turn, c->in[0]->dtype, &j, c->work)
    return sp__parallel_for(j.s.batch, 1, fns[c->in[0]->dtype], &j);
}

/* --- the rule, composed ------------------------------------------------------------------------------------------ */

/* Gradient d through y = sigmoid(x) and y = tanh(x), from y. */
static sp_tensor *through_sigmoid(sp_builder *b, sp_tensor *d, sp_tensor *y)
{
    return sp_mul(b, d, sp_sub(b, y, sp_square(b, y)));
}
static sp_tensor *through_tanh(sp_builder *b, sp_tensor *d, sp_tensor *y)
{
    return sp_sub(b, d, sp_mul(b, d, sp_square(b, y)));
}

typedef struct {
    sp_builder *b;
    const sp_vjp *v;
    rnn_shape s;
    sp_tensor *dh, *dc;          /* towards the state after a step, then before it */
    sp_tensor **dgx, **dgh, **h; /* per time; h is the state before */
} rnn_tape;

static sp_tensor *at_time(rnn_tape *r, sp_tensor *x, int64_t t)
{
    if (!x) return NULL;
    return sp_reshape(r->b, sp__take_range(r->b, x, 0, t, 1), 2, (const int64_t[]){x->dims[1], x->dims[2]});
}
/* Vector k of those that are kept at time t, or of their gradients. */
static sp_tensor *kept_at(rnn_tape *r, sp_tensor *all, int64_t t, int64_t k)
{
    return sp__take_range(r->b, at_time(r, all, t), 1, k * r->s.hidden, r->s.hidden);
}
/* d plus the gradient that vector k was given from above. */
static sp_tensor *with_given(rnn_tape *r, sp_tensor *d, int64_t t, int64_t k)
{
    return sp__add_some(r->b, d, kept_at(r, r->v->dout[3], t, k));
}
/* Which samples have a step at time t: [batch, 1]; NULL: all. */
static sp_tensor *running_at(rnn_tape *r, int64_t t)
{
    if (!r->v->in[5]) return NULL;
    sp_tensor *lengths = sp_reshape(r->b, r->v->in[5], 2, (const int64_t[]){r->s.batch, 1});
    return sp_greater(r->b, lengths, sp__full(r->b, (double)t, SP_DTYPE_I64, 0, NULL));
}
static sp_tensor *choose(rnn_tape *r, sp_tensor *running, sp_tensor *x, sp_tensor *otherwise)
{
    return running ? sp_select(r->b, running, x, otherwise) : x;
}
/* What was before time t: at the beginning `first`, else `before` (of the neighbouring time). */
static sp_tensor *state_before(rnn_tape *r, int64_t t, sp_tensor *first, bool cell)
{
    const int64_t before = r->s.reverse ? t + 1 : t - 1;
    if (before < 0 || before == r->s.time) return first;
    sp_tensor *x = cell ? kept_at(r, r->v->out[3], before, 4) : at_time(r, r->v->out[0], before);
    return r->s.reverse ? choose(r, running_at(r, before), x, first) : x;
}

static void lstm_step(rnn_tape *r, int64_t t, sp_tensor *d)
{
    sp_builder *b = r->b;
    sp_tensor *gate[5], *part[4];
    for (int k = 0; k < 5; k++) gate[k] = kept_at(r, r->v->out[3], t, k);
    sp_tensor *bounded = sp_tanh(b, gate[4]);
    r->dc = with_given(r, sp__add_some(b, r->dc, through_tanh(b, sp_mul(b, d, gate[3]), bounded)), t, 4);
    part[0] = through_sigmoid(b, with_given(r, sp_mul(b, r->dc, gate[2]), t, 0), gate[0]);
    part[1] = through_sigmoid(b, with_given(r, sp_mul(b, r->dc, state_before(r, t, r->v->in[2], true)), t, 1), gate[1]);
    part[2] = through_tanh(b, with_given(r, sp_mul(b, r->dc, gate[0]), t, 2), gate[2]);
    part[3] = through_sigmoid(b, with_given(r, sp_mul(b, d, bounded), t, 3), gate[3]);
    r->dgx[t] = r->dgh[t] = sp__concat(b, 1, 4, part);
    r->dc = sp_mul(b, r->dc, gate[1]);
    r->dh = NULL;
}
static void gru_step(rnn_tape *r, int64_t t, sp_tensor *d)
{
    sp_builder *b = r->b;
    sp_tensor *gate[4], *part[3];
    for (int k = 0; k < 4; k++) gate[k] = kept_at(r, r->v->out[3], t, k);
    sp_tensor *dn = through_tanh(b, with_given(r, sp_sub(b, d, sp_mul(b, d, gate[1])), t, 2), gate[2]);
    part[0] = through_sigmoid(b, with_given(r, sp_mul(b, dn, gate[3]), t, 0), gate[0]);
    part[1] = through_sigmoid(b, with_given(r, sp_mul(b, d, sp_sub(b, r->h[t], gate[2])), t, 1), gate[1]);
    part[2] = dn;
    r->dgx[t] = sp__concat(b, 1, 3, part);
    part[2] = with_given(r, sp_mul(b, dn, gate[0]), t, 3);
    r->dgh[t] = sp__concat(b, 1, 3, part);
    r->dh = sp_mul(b, d, gate[1]);
}
static void plain_step(rnn_tape *r, int64_t t, sp_tensor *d)
{
    sp_tensor *y = at_time(r, r->v->out[0], t);
    if (r->s.mode == TANH) r->dgx[t] = through_tanh(r->b, d, y);
    else r->dgx[t] = sp_select(r->b, sp_greater(r->b, y, sp__const(r->b, 0, y)), d, sp__const(r->b, 0, d));
    r->dgh[t] = r->dgx[t];
    r->dh = NULL;
}

static void composed_step(rnn_tape *r, int64_t t)
{
    sp_builder *b = r->b;
    sp_tensor *dh = r->dh, *dc = r->dc, *running = running_at(r, t), *dy = at_time(r, r->v->dout[0], t);
    sp_tensor *d = sp__add_some(b, dh, dy);
    r->h[t] = state_before(r, t, r->v->in[1], false);
    if (!d) d = sp__zeros_like(b, r->v->in[1]);
    (r->s.mode == LSTM ? lstm_step : r->s.mode == GRU ? gru_step : plain_step)(r, t, d);
    r->dh = sp__add_some(b, r->dh, sp_matmul(b, r->dgh[t], r->v->in[3], false, false));
    if (!running || b->status != SP_OK) return;
    sp_tensor *none = sp__const(b, 0, d);
    r->dgx[t] = choose(r, running, r->dgx[t], none);
    r->dgh[t] = choose(r, running, r->dgh[t], none);
    r->dh = choose(r, running, r->dh, dh ? dh : none);
    if (r->dc) r->dc = choose(r, running, r->dc, dc ? dc : none);
}

/* The gradients of rnn_scan as rnn_scan_grad makes them, of operators that have gradients. */
static sp_status scan_composed(sp_builder *b, const sp_vjp *v, const rnn_shape *s, sp_tensor **out)
{
    sp_tensor **lists = sp__alloc_zero((size_t)(3 * s->time) * sizeof *lists);
    if (!lists) return SP_NOMEM;
    rnn_tape r = {b, v, *s, v->dout[1], v->dout[2], lists, lists + s->time, lists + 2 * s->time};
    for (int64_t step = s->time - 1; step >= 0; step--) composed_step(&r, s->reverse ? s->time - 1 - step : step);
    const int64_t rows[2] = {s->time * s->batch, s->gates * s->hidden}, states[2] = {rows[0], s->hidden}, first = 0;
    sp_tensor *dgh = sp_reshape(b, sp__concat(b, 0, (int)s->time, r.dgh), 2, rows);
    sp_tensor *h = sp_reshape(b, sp__concat(b, 0, (int)s->time, r.h), 2, states);
    out[0] = sp__stack(b, 0, (int)s->time, r.dgx);
    out[1] = r.dh;
    out[2] = r.dc ? r.dc : sp__zeros_like(b, v->in[1]);
    out[3] = sp_matmul(b, dgh, h, true, false);
    out[4] = sp_reduce_sum(b, dgh, 1, &first, false);
    sp__free(lists);
    return SP_OK;
}

static sp_status scan_fused(sp_builder *b, const sp_vjp *v, sp_tensor **out)
{
    int n;
    sp_tensor *dy = v->dout[0] ? v->dout[0] : sp__full(b, 0, (sp_dtype)v->out[0]->dtype, 3, v->out[0]->dims);
    return sp_builder_apply_many(b, &sp_op_rnn_scan_grad, v->attrs, 10,
                                 (sp_tensor *const[]){dy, v->in[1], v->in[2], v->in[3], v->in[5], v->out[0], v->out[3],
                                                      v->dout[1], v->dout[2], v->dout[3]},
                                 5, out, &n);
}

static sp_status scan_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_call call = {.op = v->op, .attrs = v->attrs, .n_in = v->n_in, .in = v->in};
    sp_tensor *out[5];
    rnn_shape s = {.time = 0};
    SP_TRY(rnn_measure(&call, v->in[0]->dims, v->in[1], v->in[3], &s));
    SP_TRY(sp__vjp_again(v) && s.time ? scan_composed(b, v, &s, out) : scan_fused(b, v, out));
    v->din[0] = out[0];
    v->din[1] = out[1];
    if (v->in[2]) v->din[2] = out[2];
    v->din[3] = out[3];
    if (v->in[4]) v->din[4] = sp_reshape(b, out[4], v->in[4]->rank, v->in[4]->dims);
    return SP_OK;
}
const sp_op sp_op_rnn_scan = {
    .name = "rnn_scan",
    .inputs = "gx, h0, c0?, weight, bias?, lengths?",
    .n_out = 4,
    SP_ATTRS(rnn_attr_table, sp_rnn_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = scan_infer,
    .reference = scan_reference,
    .workspace = scan_workspace,
    .vjp = scan_vjp,
    .saves = SP_SAVE_IN(1) | SP_SAVE_IN(2) | SP_SAVE_IN(3) | SP_SAVE_IN(5) | SP_SAVE_OUT(0) | SP_SAVE_OUT(3),
    .doc =
        "A recurrent layer over time, from the input's share of the gates: outputs, last states, and what the gradient needs.",
    .samples = "[3,2,8] [2,2] [2,2] [8,2] [8] _; [3,2,6] [2,2] _ [6,2] [6] _ mode=gru; "
               "[3,2,2] [2,2] _ [2,2] _ _ mode=rnn_tanh reverse=True; [3,2,8] [2,2] [2,2] [8,2] _ [2]i<4 reverse=True; "
               "[3,2,6] [2,2] _ [6,2] [6] [2]i<4 mode=gru; [2,2,2] [2,2] _ [2,2] [2] _ mode=rnn_relu",
};

/* Inputs: dy, h0, c0?, weight, lengths?, y, kept, dh?, dc?, dkept?. Results: dgx, dh0, dc0, dweight, dbias. */
static sp_status scan_grad_measure(const sp_call *c, rnn_shape *s)
{
    /* gx has the shape of dy with gates * hidden at the end. */
    const int64_t gx[3] = {c->in[0]->dims[0], c->in[0]->dims[1], c->in[3]->dims[0]};
    return rnn_measure(c, gx, c->in[1], c->in[3], s);
}
static sp_status scan_grad_infer(const sp_call *c, sp_meta *out)
{
    rnn_shape s = {.time = 0};
    SP_CHECK(c->in[0]->rank == 3 && c->in[3]->rank == 2, SP_VALUE, "dy must have rank 3 and weight rank 2");
    SP_TRY(scan_grad_measure(c, &s));
    const sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    const int64_t n = s.time * s.batch * s.hidden, states = s.batch * s.hidden;
    SP_CHECK(c->in[0]->dims[2] == s.hidden && c->in[5]->count == n && c->in[5]->dtype == dtype &&
                 c->in[6]->dtype == dtype && c->in[6]->count == n * s.kept &&
                 (!c->in[9] || (c->in[9]->dtype == dtype && c->in[9]->count == n * s.kept)),
             SP_VALUE,
             "dy, y, kept and dkept must be as rnn_scan makes them for %lld steps, %lld samples and %lld hidden units",
             (long long)s.time, (long long)s.batch, (long long)s.hidden);
    for (int i = 1; i < 4; i += 2)
        SP_CHECK(c->in[i]->dtype == (int)dtype, SP_TYPE, "%s has dtype %s, but dy has %s",
                 sp__op_inputs(c->op)->names[i], sp_dtype_name((sp_dtype)c->in[i]->dtype), sp_dtype_name(dtype));
    SP_CHECK((s.mode != LSTM || c->in[2]) &&
                 (!c->in[4] || (c->in[4]->count == s.batch && c->in[4]->dtype == SP_DTYPE_I64)),
             SP_VALUE, "lstm needs c0, and lengths must be int64, one per sample");
    for (int i = 1; i < 9; i++)
        SP_CHECK(!c->in[i] || (i != 2 && i < 7) || (c->in[i]->count == states && c->in[i]->dtype == dtype), SP_VALUE,
                 "%s must have the shape and dtype of h0", sp__op_inputs(c->op)->names[i]);
    out[0] = (sp_meta){.dtype = dtype, .rank = 3, .dims = {s.time, s.batch, s.gates * s.hidden}};
    out[1] = (sp_meta){.dtype = dtype, .rank = 2, .dims = {s.batch, s.hidden}};
    out[2] = out[1];
    out[3] = (sp_meta){.dtype = dtype, .rank = 2, .dims = {s.gates * s.hidden, s.hidden}};
    out[4] = (sp_meta){.dtype = dtype, .rank = 1, .dims = {s.gates * s.hidden}};
    return SP_OK;
}
static size_t scan_grad_workspace(const sp_call *c)
{
    rnn_shape s = {.time = 0};
    if (scan_grad_measure(c, &s) != SP_OK) return 0;
    return scan_bytes(&s) + (size_t)(s.time * s.batch * s.gates * s.hidden) * sp_dtype_bytes((sp_dtype)c->in[0]->dtype);
}
static sp_status scan_grad_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, scan_grad, )};
    static void (*const sums[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, scan_weight, )};
    rnn_job j = {.dy = c->in[0]->data,
                 .h0 = c->in[1]->data,
                 .c0 = data_of(c->in[2]),
                 .weight = c->in[3]->data,
                 .y = c->in[5]->data,
                 .kept_in = c->in[6]->data,
                 .dh = data_of(c->in[7]),
                 .dc = data_of(c->in[8]),
                 .dkept = data_of(c->in[9]),
                 .dgx = c->out[0]->data,
                 .dh0 = c->out[1]->data,
                 .dc0 = c->out[2]->data,
                 .out = c->out[3]->data,
                 .hn = c->out[4]->data,
                 .work = c->work};
    if (c->in[4]) j.lengths = (const int64_t *)(const void *)c->in[4]->data;
    SP_TRY(scan_grad_measure(c, &j.s));
    j.dgh = (char *)c->work + scan_bytes(&j.s);
    CALL(scan_plain, c->in[0]->dtype, &j, c->work)
    SP_TRY(sp__parallel_for(j.s.batch, 1, fns[c->in[0]->dtype], &j));
    return sp__parallel_for(j.s.gates * j.s.hidden, sp__grain(j.s.time * j.s.batch * j.s.hidden), sums[c->in[0]->dtype],
                            &j);
}
const sp_op sp_op_rnn_scan_grad = {
    .name = "rnn_scan_grad",
    .inputs = "dy, h0, c0?, weight, lengths?, y, kept, dh?, dc?, dkept?",
    .n_out = 5,
    SP_ATTRS(rnn_attr_table, sp_rnn_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = scan_grad_infer,
    .reference = scan_grad_reference,
    .workspace = scan_grad_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "rnn_scan composes its gradient when that is differentiated",
    .doc = "Gradients of rnn_scan.",
    .samples = "[3,2,2] [2,2] _ [2,2] _ [3,2,2] [3,2,0] _ _ _ mode=rnn_tanh",
};

/* --- a whole layer ----------------------------------------------------------------------------------------------- */

/* The input's share of the gates. One product for all times: an x of another order (batch first) is copied once, here, and the gradient of
 * the weights finds it in that order; as a stack of products, one for each time, the weights would be packed for each. */
static sp_tensor *input_share(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *weight = c->in[3];
    if (x->rank != 3 || weight->rank != 2)
        return sp_builder_apply(b, &sp_op_dense, NULL, 3, (sp_tensor *const[]){x, weight, c->in[5]});
    const int64_t rows[2] = {x->dims[0] * x->dims[1], x->dims[2]}, all[3] = {x->dims[0], x->dims[1], weight->dims[0]};
    sp_tensor *flat = sp_reshape(b, x, 2, rows);
    return sp_reshape(b, sp_builder_apply(b, &sp_op_dense, NULL, 3, (sp_tensor *const[]){flat, weight, c->in[5]}), 3,
                      all);
}

/* y, h, c of x [time, batch, features] with weights [gates * hidden, features] and [gates * hidden, hidden]. */
static sp_status layer_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *gx = input_share(b, c);
    if (gx && gx->dtype != c->in[1]->dtype) gx = sp_cast(b, gx, (sp_dtype)c->in[1]->dtype); /* mixed precision */
    sp_tensor *lengths = c->in[7], *out[4];
    int n;
    if (lengths) lengths = sp_cast(b, lengths, SP_DTYPE_I64);
    SP_TRY(sp_builder_apply_many(b, &sp_op_rnn_scan, c->attrs, 6,
                                 (sp_tensor *const[]){gx, c->in[1], c->in[2], c->in[4], c->in[6], lengths}, 4, out,
                                 &n));
    for (int i = 0; i < 3; i++) c->out[i] = out[i];
    return SP_OK;
}
const sp_op sp_op_rnn_layer = {
    .name = "rnn_layer",
    .inputs = "x, h0, c0?, w_ih, w_hh, b_ih?, b_hh?, lengths?",
    .n_out = 3,
    SP_ATTRS(rnn_attr_table, sp_rnn_attrs),
    .dtypes = SP_DT_FLOATS,
    .compose = layer_compose,
    .doc =
        "One recurrent layer (lstm, gru, rnn_tanh or rnn_relu) in one direction: outputs, last state, last cell state.",
    .samples = "[3,2,3] [2,2] [2,2] [8,3] [8,2] [8] [8] _; [3,2,3] [2,2] _ [6,3] [6,2] [6] [6] _ mode=gru; "
               "[3,2,3] [2,2] _ [2,3] [2,2] _ _ [2]i<4 mode=rnn_tanh",
};
