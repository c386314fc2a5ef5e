/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_rnn.c - ONNX's recurrent layers RNN, GRU and LSTM.
 *
 * Layers as other frameworks make them go to the operator rnn_layer, with their gates in its order; the rest (other
 * activations, peepholes, clipping, the GRU that applies its reset before the product) is composed step by step. */
#include "formats/onnx/onnx_model.h"

enum { RNN_ONE, RNN_GRU, RNN_LSTM };

typedef struct layer {
    int kind, gates;
    int64_t time, batch, hidden;
    bool plain;           /* what rnn_layer computes */
    const char *names[3]; /* activations of one direction */
    double alphas[3], betas[3];
    sp_tensor *w, *r, *wb, *rb,
        *p; /* one direction: [gates * hidden, in], [gates * hidden, hidden], [gates * hidden], [3 * hidden] */
    sp_tensor *h, *cell; /* [batch, hidden] */
    sp_tensor *lengths;
    bool reverse, linear_before, couple;
    bool quantised; /* com.microsoft: what weights are multiplied with is rounded to bytes first */
    double clip;
} layer;

/* x rounded to 256 steps between its smallest and greatest value. */
static sp_tensor *in_bytes(sp_onnx_call *c, sp_tensor *x)
{
    sp_tensor *parts[3] = {NULL};
    if (sp_builder_status(c->b) != SP_OK) return NULL;
    const sp_status status = sp__onnx_again(c, "DynamicQuantizeLinear", 1, &x, 3, parts);
    if (status != SP_OK) return sp__builder_fail(c->b, status);
    sp_tensor *wide = sp_sub(c->b, sp_cast(c->b, parts[0], SP_DTYPE_F32), sp_cast(c->b, parts[2], SP_DTYPE_F32));
    return sp_mul(c->b, wide, parts[1]);
}

/* One direction of a tensor whose first axis is directions. */
static sp_tensor *direction_of(sp_onnx_call *c, sp_tensor *t, int d)
{
    return t == NULL ? NULL
                     : sp_reshape(c->b, sp__take_range(c->b, t, 0, d, 1), sp_tensor_rank(t) - 1, sp_tensor_dims(t) + 1);
}

static sp_tensor *gate(sp_onnx_call *c, sp_tensor *t, int axis, int k, int64_t hidden)
{
    return sp__take_range(c->b, t, axis, k * hidden, hidden);
}

static sp_tensor *activate(sp_onnx_call *c, const layer *l, int k, sp_tensor *x)
{
    static const struct {
        const char *name, *op;
    } simple[] = {
        {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Relu", "relu"}, {"Softsign", "softsign"}, {"Softplus", "softplus"}};
    if (x == NULL) return NULL;
    if (l->clip > 0)
        x = sp_minimum(c->b, sp_maximum(c->b, x, sp__const(c->b, -l->clip, x)), sp__const(c->b, l->clip, x));
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (strcmp(simple[i].name, l->names[k]) == 0) return SP_ONNX_OP1(c, simple[i].op, x, NULL);
    if (strcmp(l->names[k], "HardSigmoid") == 0) {
        x = sp__add_number(c->b, sp__mul_number(c->b, x, l->alphas[k]), l->betas[k]);
        return x == NULL ? NULL : sp_minimum(c->b, sp_relu(c->b, x), sp__const(c->b, 1, x));
    }
    if (strcmp(l->names[k], "LeakyRelu") == 0) return SP_ONNX_OP1(c, "leaky_relu", x, "alpha=%.17g", l->alphas[k]);
    if (strcmp(l->names[k], "Elu") == 0) return SP_ONNX_OP1(c, "elu", x, "alpha=%.17g", l->alphas[k]);
    if (strcmp(l->names[k], "Affine") == 0)
        return sp__add_number(c->b, sp__mul_number(c->b, x, l->alphas[k]), l->betas[k]);
    return sp__builder_fail(c->b, sp__fail(SP_DECLINED, "activation '%s' is not supported", l->names[k]));
}

static sp_tensor *plus(sp_onnx_call *c, sp_tensor *x, sp_tensor *y) { return y == NULL ? x : sp_add(c->b, x, y); }

/* New state of an LSTM from the sums of its gates i, o, f, c. */
static void lstm_step(sp_onnx_call *c, layer *l, sp_tensor *sum)
{
    int64_t n = l->hidden;
    sp_tensor *i = gate(c, sum, 1, 0, n), *o = gate(c, sum, 1, 1, n), *f = gate(c, sum, 1, 2, n),
              *g = gate(c, sum, 1, 3, n);
    if (l->p != NULL) {
        i = sp_add(c->b, i, sp_mul(c->b, gate(c, l->p, 0, 0, n), l->cell));
        f = sp_add(c->b, f, sp_mul(c->b, gate(c, l->p, 0, 2, n), l->cell));
    }
    i = activate(c, l, 0, i);
    f = l->couple && i != NULL ? sp_sub(c->b, sp__const(c->b, 1, i), i) : activate(c, l, 0, f);
    l->cell = sp_add(c->b, sp_mul(c->b, f, l->cell), sp_mul(c->b, i, activate(c, l, 1, g)));
    if (l->p != NULL) o = sp_add(c->b, o, sp_mul(c->b, gate(c, l->p, 0, 1, n), l->cell));
    l->h = sp_mul(c->b, activate(c, l, 0, o), activate(c, l, 2, l->cell));
}

/* Of a GRU: x, the input's part of the gates z, r, h. */
static void gru_step(sp_onnx_call *c, layer *l, sp_tensor *x)
{
    int64_t n = l->hidden;
    sp_tensor *state = plus(c, sp_matmul(c->b, l->h, sp__take_range(c->b, l->r, 0, 0, 2 * n), false, true),
                            l->rb != NULL ? sp__take_range(c->b, l->rb, 0, 0, 2 * n) : NULL);
    sp_tensor *z = activate(c, l, 0, sp_add(c->b, gate(c, x, 1, 0, n), gate(c, state, 1, 0, n)));
    sp_tensor *r = activate(c, l, 0, sp_add(c->b, gate(c, x, 1, 1, n), gate(c, state, 1, 1, n)));
    sp_tensor *weight = gate(c, l->r, 0, 2, n), *bias = l->rb != NULL ? gate(c, l->rb, 0, 2, n) : NULL;
    sp_tensor *part = l->linear_before ? sp_mul(c->b, r, plus(c, sp_matmul(c->b, l->h, weight, false, true), bias))
                                       : plus(c, sp_matmul(c->b, sp_mul(c->b, r, l->h), weight, false, true), bias);
    sp_tensor *new_state = activate(c, l, 1, sp_add(c->b, gate(c, x, 1, 2, n), part));
    if (new_state == NULL || z == NULL) return;
    l->h = sp_add(c->b, sp_mul(c->b, sp_sub(c->b, sp__const(c->b, 1, z), z), new_state), sp_mul(c->b, z, l->h));
}

/* Step by step; y receives [time, batch, hidden]. */
static sp_status run_steps(sp_onnx_call *c, layer *l, sp_tensor *x, sp_tensor **y)
{
    sp_tensor **out = sp__alloc_zero(sizeof *out * (size_t)(l->time + 1));
    if (out == NULL) return SP_NOMEM;
    sp_tensor *all = plus(c, sp_matmul(c->b, l->quantised ? in_bytes(c, x) : x, l->w, false, true), l->wb);
    for (int64_t i = 0; i < l->time && sp_builder_status(c->b) == SP_OK; i++) {
        int64_t t = l->reverse ? l->time - 1 - i : i;
        sp_tensor *h = l->h, *cell = l->cell;
        sp_tensor *now =
            sp_reshape(c->b, sp__take_range(c->b, all, 0, t, 1), 2, (int64_t[]){l->batch, l->gates * l->hidden});
        if (l->kind == RNN_GRU) gru_step(c, l, now);
        else {
            sp_tensor *state = l->quantised ? in_bytes(c, l->h) : l->h;
            sp_tensor *sum = plus(c, sp_add(c->b, now, sp_matmul(c->b, state, l->r, false, true)), l->rb);
            if (l->kind == RNN_LSTM) lstm_step(c, l, sum);
            else l->h = activate(c, l, 0, sum);
        }
        out[t] = l->h;
        if (l->lengths != NULL) { /* behind its end a sample's state stands still and its output is zero */
            sp_tensor *on =
                sp_less(c->b, sp__onnx_scalar(c, SP_DTYPE_I64, (double)t), sp_cast(c->b, l->lengths, SP_DTYPE_I64));
            on = sp_reshape(c->b, on, 2, (int64_t[]){l->batch, 1});
            if (l->h == NULL) break;
            out[t] = sp_select(c->b, on, l->h, sp__zeros_like(c->b, l->h));
            l->h = sp_select(c->b, on, l->h, h);
            if (cell != NULL) l->cell = sp_select(c->b, on, l->cell, cell);
        }
    }
    if (sp_builder_status(c->b) == SP_OK) *y = sp__stack(c->b, 0, (int)l->time, out);
    sp__free(out);
    return sp_builder_status(c->b);
}

/* Rows of gates in another order. */
static sp_tensor *reorder(sp_onnx_call *c, const layer *l, sp_tensor *t, const int *order)
{
    sp_tensor *parts[4];
    if (t == NULL) return NULL;
    for (int k = 0; k < l->gates; k++) parts[k] = gate(c, t, 0, order[k], l->hidden);
    return sp__concat(c->b, 0, l->gates, parts);
}

static sp_status run_layer(sp_onnx_call *c, layer *l, sp_tensor *x, sp_tensor **y)
{
    static const int lstm[] = {0, 2, 3, 1}, gru[] = {1, 0, 2}, one[] = {0};
    const int *order = l->kind == RNN_LSTM ? lstm : l->kind == RNN_GRU ? gru : one;
    const char *mode = l->kind == RNN_LSTM                ? "lstm"
                       : l->kind == RNN_GRU               ? "gru"
                       : strcmp(l->names[0], "Relu") == 0 ? "rnn_relu"
                                                          : "rnn_tanh";
    sp_tensor *out[3];
    SP_TRY(sp__onnx_op_many(c, "rnn_layer", 8,
                            (sp_tensor *[]){x, l->h, l->cell, reorder(c, l, l->w, order), reorder(c, l, l->r, order),
                                            reorder(c, l, l->wb, order), reorder(c, l, l->rb, order), l->lengths},
                            3, out, "mode=%s, reverse=%s", mode, l->reverse ? "True" : "False"));
    *y = out[0];
    l->h = out[1];
    if (l->kind == RNN_LSTM) l->cell = out[2];
    return SP_OK;
}

static void set_activations(sp_onnx_call *c, layer *l, int d)
{
    static const char *const initial[3][3] = {
        {"Tanh", "Tanh", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}};
    const sp_onnx_attr *names = sp__onnx_attr(c, "activations"), *alphas = sp__onnx_attr(c, "activation_alpha"),
                       *betas = sp__onnx_attr(c, "activation_beta");
    int each = l->kind == RNN_ONE ? 1 : l->kind == RNN_GRU ? 2 : 3;
    l->plain = true;
    for (int k = 0; k < 3; k++) {
        int at = d * each + k;
        l->names[k] = names != NULL && k < each && at < names->n ? names->strings[at] : initial[l->kind][k];
        bool hard = strcmp(l->names[k], "HardSigmoid") == 0;
        l->alphas[k] = alphas != NULL && at < alphas->n && alphas->floats != NULL ? alphas->floats[at]
                       : hard                                                     ? 0.2
                       : strcmp(l->names[k], "LeakyRelu") == 0                    ? 0.01
                                                                                  : 1;
        l->betas[k] = betas != NULL && at < betas->n && betas->floats != NULL ? betas->floats[at] : hard ? 0.5 : 0;
        bool relu = l->kind == RNN_ONE && strcmp(l->names[k], "Relu") == 0;
        l->plain = l->plain && (k >= each || relu || strcmp(l->names[k], initial[l->kind][k]) == 0);
    }
}

static sp_tensor *state_or_zero(sp_onnx_call *c, const layer *l, int input, int d, bool batch_first, sp_tensor *x)
{
    sp_tensor *t = sp__onnx_in(c, input);
    if (t == NULL) return sp__full(c->b, 0, sp_tensor_dtype(x), 2, (int64_t[]){l->batch, l->hidden});
    if (batch_first) t = sp_transpose(c->b, t, 3, (int64_t[]){1, 0, 2});
    return t == NULL ? NULL : direction_of(c, t, d);
}

/* What the node says and what its weights have: W is [directions, gates * hidden, input], R [directions, gates * hidden, hidden]. */
static sp_status check_sizes(const sp_onnx_call *c, const layer *l, int64_t input)
{
    const int64_t *w = sp_tensor_dims(c->in[1]), *r = sp_tensor_dims(c->in[2]), rows = l->gates * l->hidden;
    const int64_t given = sp__onnx_attr_int(c, "hidden_size", l->hidden);
    if (strcmp(c->node->op, "DynamicQuantizeLSTM") != 0) { /* its weights are transposed */
        SP_CHECK(given == l->hidden, SP_VALUE, "hidden_size is %lld, but R has %lld columns", (long long)given,
                 (long long)l->hidden);
        SP_CHECK(w[1] == rows && r[1] == rows, SP_VALUE,
                 "W and R have %lld and %lld rows; %d times hidden_size are %lld", (long long)w[1], (long long)r[1],
                 l->gates, (long long)rows);
        SP_CHECK(w[2] == input, SP_VALUE, "W has %lld columns, x %lld features", (long long)w[2], (long long)input);
    }
    return SP_OK;
}

static sp_status recurrent(sp_onnx_call *c)
{
    const char *name = c->node->handler->detail;
    layer l = {.kind = name[0] == 'l' ? RNN_LSTM : name[0] == 'g' ? RNN_GRU : RNN_ONE};
    l.gates = l.kind == RNN_LSTM ? 4 : l.kind == RNN_GRU ? 3 : 1;
    sp_tensor *x = c->in[0], *bias = sp__onnx_in(c, 3), *y[2], *h[2], *cell[2];
    SP_CHECK(sp_tensor_rank(x) == 3 && sp_tensor_rank(c->in[1]) == 3 && sp_tensor_rank(c->in[2]) == 3, SP_VALUE,
             "x, W and R must have rank 3");
    bool batch_first = sp__onnx_attr_int(c, "layout", 0) != 0;
    const char *direction = sp__onnx_attr_text(c, "direction", "forward");
    int n = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
    SP_CHECK(sp_tensor_dims(c->in[1])[0] == n && sp_tensor_dims(c->in[2])[0] == n, SP_VALUE,
             "weights of %d directions are wanted", n);
    if (batch_first) x = sp_transpose(c->b, x, 3, (int64_t[]){1, 0, 2});
    SP_TRY(sp_builder_status(c->b));
    l.time = sp_tensor_dims(x)[0];
    l.batch = sp_tensor_dims(x)[1];
    l.hidden = sp_tensor_dims(c->in[2])[2];
    SP_TRY(check_sizes(c, &l, sp_tensor_dims(x)[2]));
    l.linear_before = sp__onnx_attr_int(c, "linear_before_reset", 0) != 0;
    l.couple = sp__onnx_attr_int(c, "input_forget", 0) != 0;
    l.clip = sp__onnx_attr_float(c, "clip", 0);
    l.quantised = strcmp(c->node->op, "DynamicQuantizeLSTM") == 0;
    l.lengths = sp__onnx_in(c, 4);
    for (int d = 0; d < n; d++) {
        layer one = l;
        set_activations(c, &one, d);
        one.reverse = d == 1 || strcmp(direction, "reverse") == 0;
        one.w = direction_of(c, c->in[1], d);
        one.r = direction_of(c, c->in[2], d);
        sp_tensor *b = direction_of(c, bias, d);
        one.wb = b != NULL ? sp__take_range(c->b, b, 0, 0, one.gates * one.hidden) : NULL;
        one.rb = b != NULL ? sp__take_range(c->b, b, 0, one.gates * one.hidden, one.gates * one.hidden) : NULL;
        one.p = one.kind == RNN_LSTM ? direction_of(c, sp__onnx_in(c, 7), d) : NULL;
        one.h = state_or_zero(c, &one, 5, d, batch_first, x);
        if (one.kind == RNN_LSTM) one.cell = state_or_zero(c, &one, 6, d, batch_first, x);
        SP_TRY(sp_builder_status(c->b));
        bool fast = one.plain && !one.quantised && one.clip == 0 && one.p == NULL && !one.couple &&
                    (one.kind != RNN_GRU || one.linear_before);
        SP_TRY(fast ? run_layer(c, &one, x, &y[d]) : run_steps(c, &one, x, &y[d]));
        h[d] = one.h;
        cell[d] = one.cell;
    }
    int64_t first[] = {2, 0, 1, 3}, swap[] = {1, 0, 2};
    if (c->n_out > 0) {
        sp_tensor *all = sp__stack(c->b, 1, n, y); /* [time, directions, batch, hidden] */
        c->out[0] = batch_first ? sp_transpose(c->b, all, 4, first) : all;
    }
    for (int k = 1; k < c->n_out && k < 3; k++) {
        sp_tensor *all = sp__stack(c->b, 0, n, k == 1 ? h : cell);
        c->out[k] = batch_first ? sp_transpose(c->b, all, 3, swap) : all;
    }
    return sp_builder_status(c->b);
}

const sp_onnx_handler sp__onnx_rnn[] = {
    {"RNN", 7, recurrent, "rnn", 0},
    {"GRU", 7, recurrent, "gru", 0},
    {"LSTM", 7, recurrent, "lstm", 0},
    {NULL, 0, NULL, NULL, 0},
};
