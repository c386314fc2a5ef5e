/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops_rnn.c - TensorFlow Lite's recurrent layers. Their states are tensors of the file that are kept from run to run: read at the
 * start of a layer, written at its end.
 *
 * All compute with the numbers that integers stand for; states of integers are rounded when they are written. */
#include <math.h>
#include <string.h>

#include "formats/tflite/tflite_model.h"

enum { TANH = 4 }; /* ActivationFunctionType */

/* Input i as numbers; NULL: left out. */
static sp_tensor *number_in(sp_tflite_call *c, int i)
{
    const sp_tflite_tensor *face = i >= 0 ? sp__tflite_in_face(c, i) : NULL;
    sp_tensor *t = face != NULL ? sp__tflite_plain(c, i) : NULL;
    if (t == NULL) return NULL;
    t = sp__tflite_real(c, t, face, false);
    return t != NULL && sp_tensor_dtype(t) != SP_DTYPE_F32 ? sp_cast(c->b, t, SP_DTYPE_F32) : t;
}

/* What a state holds now; a copy, because it is written later. */
static sp_tensor *state_in(sp_tflite_call *c, int i)
{
    const sp_tflite_tensor *face = sp__tflite_in_face(c, i);
    sp_tensor *t = face != NULL ? sp__tflite_plain(c, i) : NULL;
    if (t == NULL) return sp__builder_fail(c->b, sp__fail(SP_FORMAT, "input %d, a state, is missing", i));
    return sp__tflite_real(c, SP_TFLITE_OP1(c, "copy", t, NULL), face, false);
}

static sp_status state_out(sp_tflite_call *c, int i, sp_tensor *x)
{
    const sp_tflite_tensor *face = sp__tflite_in_face(c, i);
    SP_TRY(sp_builder_status(c->b));
    if (face->state < 0) return SP_OK; /* an ordinary input */
    if (face->scale.n == 1)
        x = sp__tflite_to_quanta(c, sp__mul_number(c->b, x, 1 / (double)face->scale.scale[0]), face, 0);
    return sp__tflite_write_state(c, &c->run->model->states[face->state], x);
}

static sp_tensor *clipped(sp_tflite_call *c, sp_tensor *x, double most)
{
    if (most <= 0 || x == NULL) return x;
    return sp_maximum(c->b, sp_minimum(c->b, x, sp__const(c->b, most, x)), sp__const(c->b, -most, x));
}

static sp_tensor *plus(sp_tflite_call *c, sp_tensor *x, sp_tensor *y)
{
    return y == NULL ? x : x == NULL ? y : sp_add(c->b, x, y);
}

/* Step t of [time, batch, n] as [batch, n]. */
static sp_tensor *step_of(sp_tflite_call *c, sp_tensor *x, int64_t t)
{
    if (x == NULL) return NULL;
    return sp_reshape(c->b, sp__take_range(c->b, x, 0, t, 1), 2, sp_tensor_dims(x) + 1);
}

/* --- LSTM -------------------------------------------------------------------------------------------------------- */

enum { GATE_I, GATE_F, GATE_C, GATE_O };

typedef struct lstm {
    sp_tensor *w[4], *r[4], *bias[4], *norm[4]; /* norm: coefficients of layer normalisation */
    sp_tensor *peep[4];                         /* of the cell; there is none for GATE_C */
    sp_tensor *project, *project_bias, *aux[4], *extra;
    double cell_clip, project_clip;
    int64_t activation;
    sp_tensor *h, *cell;
} lstm;

/* The sum of a gate before its function. x: the input's part. */
static sp_tensor *gate_sum(sp_tflite_call *c, const lstm *l, int k, sp_tensor *x, sp_tensor *cell)
{
    sp_tensor *sum = sp_add(c->b, x, sp_matmul(c->b, l->h, l->r[k], false, true));
    if (l->peep[k] != NULL) sum = sp_add(c->b, sum, sp_mul(c->b, cell, l->peep[k]));
    if (l->norm[k] == NULL) return plus(c, sum, l->bias[k]);
    sp_tensor *off = sp_sub(c->b, sum, sp_reduce_mean(c->b, sum, 1, (int64_t[]){1}, true));
    sp_tensor *spread = sp_reduce_mean(c->b, sp_square(c->b, off), 1, (int64_t[]){1}, true);
    off = sp_mul(c->b, off, sp_rsqrt(c->b, sp__add_number(c->b, spread, 1e-8)));
    return plus(c, sp_mul(c->b, off, l->norm[k]), l->bias[k]);
}

/* parts: the input's part of the sums, one for each gate; NULL for a gate that is coupled. */
static void lstm_step(sp_tflite_call *c, lstm *l, sp_tensor *const parts[4])
{
    sp_tensor *f = sp_sigmoid(c->b, gate_sum(c, l, GATE_F, parts[GATE_F], l->cell));
    sp_tensor *i = parts[GATE_I] != NULL ? sp_sigmoid(c->b, gate_sum(c, l, GATE_I, parts[GATE_I], l->cell))
                   : f != NULL           ? sp_sub(c->b, sp__const(c->b, 1, f), f)
                                         : NULL;
    sp_tensor *g = sp__tflite_activate(c, gate_sum(c, l, GATE_C, parts[GATE_C], NULL), l->activation);
    sp_tensor *cell = clipped(c, sp_add(c->b, sp_mul(c->b, f, l->cell), sp_mul(c->b, i, g)), l->cell_clip);
    sp_tensor *o = sp_sigmoid(c->b, gate_sum(c, l, GATE_O, parts[GATE_O], cell));
    sp_tensor *h = sp_mul(c->b, o, sp__tflite_activate(c, cell, l->activation));
    if (l->project != NULL)
        h = clipped(c, plus(c, sp_matmul(c->b, h, l->project, false, true), l->project_bias), l->project_clip);
    l->cell = cell;
    l->h = h;
}

/* Weights of one direction: inputs from `at` on are in the order input, forget, cell, output, three times over; see the table below. */
static void lstm_weights(sp_tflite_call *c, int at, int norm_at, lstm *l)
{
    for (int k = 0; k < 4; k++) {
        l->w[k] = number_in(c, at + k);
        l->r[k] = number_in(c, at + 4 + k);
        l->bias[k] = number_in(c, at + 11 + k);
        l->norm[k] = norm_at >= 0 ? number_in(c, norm_at + k) : NULL;
    }
    l->peep[GATE_I] = number_in(c, at + 8);
    l->peep[GATE_F] = number_in(c, at + 9);
    l->peep[GATE_O] = number_in(c, at + 10);
    l->project = number_in(c, at + 15);
    l->project_bias = number_in(c, at + 16);
}

static sp_status lstm_check(sp_tflite_call *c, const lstm *l)
{
    SP_TRY(sp_builder_status(c->b));
    for (int k = 0; k < 4; k++) {
        const bool coupled = k == GATE_I && l->w[k] == NULL;
        SP_CHECK(coupled || (l->w[k] != NULL && l->r[k] != NULL && sp_tensor_rank(l->w[k]) == 2 &&
                             sp_tensor_rank(l->r[k]) == 2),
                 SP_FORMAT, "weights of gate %d are missing or no matrices", k);
    }
    return SP_OK;
}

/* The plain kind, which has an operator of its own. */
static bool lstm_is_plain(const lstm *l)
{
    bool plain =
        l->w[GATE_I] != NULL && l->project == NULL && l->cell_clip <= 0 && l->activation == TANH && l->extra == NULL;
    for (int k = 0; k < 4; k++) plain = plain && l->peep[k] == NULL && l->norm[k] == NULL && l->bias[k] != NULL;
    return plain;
}

/* x [time, batch, in] to y [time, batch, out]. */
static sp_status lstm_run(sp_tflite_call *c, lstm *l, sp_tensor *x, bool backward, sp_tensor **y)
{
    SP_TRY(lstm_check(c, l));
    const int64_t time = sp_tensor_dims(x)[0];
    SP_CHECK(sp_tensor_rank(x) == 3 && time > 0 && l->h != NULL && l->cell != NULL, SP_FORMAT, "input of rank %d",
             sp_tensor_rank(x));
    if (lstm_is_plain(l)) {
        sp_tensor *w = sp__concat(c->b, 0, 4, l->w), *r = sp__concat(c->b, 0, 4, l->r),
                  *bias = sp__concat(c->b, 0, 4, l->bias), *out[3] = {NULL};
        SP_TRY(sp__tflite_op_many(c, "rnn_layer", 8,
                                  (sp_tensor *[]){x, l->h, l->cell, w, r, bias, sp__zeros_like(c->b, bias), NULL}, 3,
                                  out, "mode=lstm, reverse=%s", backward ? "True" : "False"));
        *y = out[0];
        l->h = out[1];
        l->cell = out[2];
        return sp_builder_status(c->b);
    }
    sp_tensor *all[4] = {NULL}, **steps = sp__alloc_zero((size_t)time * sizeof *steps);
    if (steps == NULL) return SP_NOMEM;
    for (int k = 0; k < 4; k++) {
        if (l->w[k] == NULL) continue;
        all[k] = sp_matmul(c->b, x, l->w[k], false, true);
        if (l->extra != NULL && l->aux[k] != NULL)
            all[k] = sp_add(c->b, all[k], sp_matmul(c->b, l->extra, l->aux[k], false, true));
    }
    for (int64_t i = 0; i < time && sp_builder_status(c->b) == SP_OK; i++) {
        const int64_t t = backward ? time - 1 - i : i;
        sp_tensor *parts[4];
        for (int k = 0; k < 4; k++) parts[k] = step_of(c, all[k], t);
        lstm_step(c, l, parts);
        steps[t] = l->h;
    }
    if (sp_builder_status(c->b) == SP_OK) *y = sp__stack(c->b, 0, (int)time, steps);
    sp__free(steps);
    return sp_builder_status(c->b);
}

/* [batch, time, n] and [time, batch, n] into each other. */
static sp_tensor *swapped(sp_tflite_call *c, sp_tensor *x, bool time_major)
{
    return time_major ? x : sp_swap_axes(c->b, x, 0, 1);
}

static sp_status give(sp_tflite_call *c, int i, sp_tensor *y)
{
    return sp__tflite_put(c, i, sp__tflite_rounded(c, y, i), false);
}

/* Inputs: x; 1 to 4, 5 to 8 weights; 9 to 11 peepholes; 12 to 15 biases; 16, 17 projection; 18, 19 states; 20 to 23 normalisation. */
static sp_status sequence_lstm(sp_tflite_call *c)
{
    const bool time_major = sp__tflite_byte(c, 3, 0) != 0;
    lstm l = {.activation = sp__tflite_byte(c, 0, 0),
              .cell_clip = sp__tflite_float(c, 1, 0),
              .project_clip = sp__tflite_float(c, 2, 0)};
    SP_CHECK(c->node->n_in >= 20, SP_FORMAT, "%d inputs, there must be 20 or 24", c->node->n_in);
    lstm_weights(c, 1, c->node->n_in >= 24 ? 20 : -1, &l);
    l.h = state_in(c, 18);
    l.cell = state_in(c, 19);
    sp_tensor *y = NULL, *x = number_in(c, 0);
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(x) == 3, SP_FORMAT, "the input has rank %d, it must have 3", sp_tensor_rank(x));
    SP_TRY(lstm_run(c, &l, swapped(c, x, time_major), false, &y));
    SP_TRY(state_out(c, 18, l.h));
    SP_TRY(state_out(c, 19, l.cell));
    return give(c, 0, swapped(c, y, time_major));
}

/* Inputs: x; 1 to 17 forward, 18 to 34 backward, as above; 35, 36 and 37, 38 states; 39 a second input, 40 to 47 its weights. */
static sp_status bidirectional_lstm(sp_tflite_call *c)
{
    const bool merge = sp__tflite_byte(c, 3, 0) != 0, time_major = sp__tflite_byte(c, 4, 1) != 0;
    sp_tensor *y[2] = {NULL}, *x = number_in(c, 0);
    SP_CHECK(c->node->n_in >= 39, SP_FORMAT, "%d inputs, there must be 48", c->node->n_in);
    SP_CHECK(number_in(c, 39) == NULL, SP_DECLINED, "a second input is not supported");
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(x) == 3, SP_FORMAT, "the input has rank %d, it must have 3", sp_tensor_rank(x));
    x = swapped(c, x, time_major);
    for (int d = 0; d < 2; d++) {
        lstm l = {.activation = sp__tflite_byte(c, 0, 0),
                  .cell_clip = sp__tflite_float(c, 1, 0),
                  .project_clip = sp__tflite_float(c, 2, 0)};
        lstm_weights(c, 1 + 17 * d, -1, &l);
        l.h = state_in(c, 35 + 2 * d);
        l.cell = state_in(c, 36 + 2 * d);
        SP_TRY(lstm_run(c, &l, x, d == 1, &y[d]));
        SP_TRY(state_out(c, 35 + 2 * d, l.h));
        SP_TRY(state_out(c, 36 + 2 * d, l.cell));
        y[d] = swapped(c, y[d], time_major);
    }
    if (merge) return give(c, 0, sp__concat(c->b, 2, 2, y));
    SP_CHECK(c->node->n_out == 2, SP_FORMAT, "%d results, there must be 2", c->node->n_out);
    SP_TRY(give(c, 0, y[0]));
    return give(c, 1, y[1]);
}

/* One step. The basic kernel has one matrix for the input and the last output together, with the gates i, c, f, o. */
static sp_status basic_lstm(sp_tflite_call *c)
{
    sp_tensor *x = number_in(c, 0), *h = number_in(c, 1), *w = number_in(c, 2), *bias = number_in(c, 3),
              *cell = number_in(c, 4);
    SP_CHECK(c->node->n_out >= 2, SP_FORMAT, "%d results, there must be at least 2", c->node->n_out);
    sp_tensor *sum =
        sp__tflite_op(c, "dense", 3, (sp_tensor *[]){sp__concat(c->b, 1, 2, (sp_tensor *[]){x, h}), w, bias}, NULL);
    SP_TRY(sp_builder_status(c->b));
    const int64_t n = sp_tensor_dims(sum)[1] / 4;
    sp_tensor *g[4];
    for (int k = 0; k < 4; k++) g[k] = sp__take_range(c->b, sum, 1, k * n, n);
    cell = sp_add(c->b, sp_mul(c->b, sp_sigmoid(c->b, g[2]), cell),
                  sp_mul(c->b, sp_sigmoid(c->b, g[0]), sp_tanh(c->b, g[1])));
    SP_TRY(give(c, 0, sp_mul(c->b, sp_sigmoid(c->b, g[3]), sp_tanh(c->b, cell))));
    SP_TRY(give(c, 1, cell));
    for (int i = 2; i < c->node->n_out; i++)
        SP_TRY(sp__tflite_put(c, i, sp__full(c->b, 0, SP_DTYPE_F32, 1, (int64_t[]){0}), false)); /* scratch */
    return SP_OK;
}

static sp_status lstm_node(sp_tflite_call *c)
{
    const int64_t kernel = sp__tflite_byte(c, 3, 0);
    SP_CHECK(kernel == 0 || kernel == 1, SP_FORMAT, "kernel_type is %lld; it must be 0 (FULL) or 1 (BASIC)",
             (long long)kernel);
    if (kernel == 1 || c->node->n_in == 5) return basic_lstm(c);
    lstm l = {.activation = sp__tflite_byte(c, 0, 0),
              .cell_clip = sp__tflite_float(c, 1, 0),
              .project_clip = sp__tflite_float(c, 2, 0)};
    SP_CHECK(c->node->n_in >= 20, SP_FORMAT, "%d inputs, there must be 5, 20 or 24", c->node->n_in);
    lstm_weights(c, 1, c->node->n_in >= 24 ? 20 : -1, &l);
    l.h = state_in(c, 18);
    l.cell = state_in(c, 19);
    sp_tensor *x = number_in(c, 0), *y = NULL;
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(x) == 2, SP_FORMAT, "the input has rank %d, it must have 2", sp_tensor_rank(x));
    SP_TRY(
        lstm_run(c, &l, sp_reshape(c->b, x, 3, (int64_t[]){1, sp_tensor_dims(x)[0], sp_tensor_dims(x)[1]}), false, &y));
    SP_TRY(state_out(c, 18, l.h));
    SP_TRY(state_out(c, 19, l.cell));
    return give(c, c->node->n_out - 1, l.h);
}

/* --- plain recurrence -------------------------------------------------------------------------------------------- */

/* Inputs from `at` on: weights, recurrent weights, bias, state. */
static sp_status rnn_run(sp_tflite_call *c, int at, sp_tensor *x, int64_t activation, bool backward, sp_tensor **y)
{
    sp_tensor *w = number_in(c, at), *r = number_in(c, at + 1), *bias = number_in(c, at + 2), *h = state_in(c, at + 3);
    sp_tensor *all = plus(c, sp_matmul(c->b, x, w, false, true), bias);
    SP_TRY(sp_builder_status(c->b));
    const int64_t time = sp_tensor_dims(x)[0];
    SP_CHECK(time > 0 && r != NULL, SP_FORMAT, "no steps, or no recurrent weights");
    sp_tensor **steps = sp__alloc_zero((size_t)time * sizeof *steps);
    if (steps == NULL) return SP_NOMEM;
    for (int64_t i = 0; i < time && sp_builder_status(c->b) == SP_OK; i++) {
        const int64_t t = backward ? time - 1 - i : i;
        h = steps[t] =
            sp__tflite_activate(c, sp_add(c->b, step_of(c, all, t), sp_matmul(c->b, h, r, false, true)), activation);
    }
    if (sp_builder_status(c->b) == SP_OK) *y = sp__stack(c->b, 0, (int)time, steps);
    sp__free(steps);
    SP_TRY(sp_builder_status(c->b));
    return state_out(c, at + 3, h);
}

static sp_status rnn_node(sp_tflite_call *c)
{
    sp_tensor *x = number_in(c, 0), *y = NULL;
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(x) == 2, SP_FORMAT, "the input has rank %d, it must have 2", sp_tensor_rank(x));
    SP_TRY(rnn_run(c, 1, sp_reshape(c->b, x, 3, (int64_t[]){1, sp_tensor_dims(x)[0], sp_tensor_dims(x)[1]}),
                   sp__tflite_byte(c, 0, 0), false, &y));
    return give(c, 0, sp_reshape(c->b, y, 2, sp_tensor_dims(y) + 1));
}

/* Also of both directions, which have inputs 5 to 8 for the second one. */
static sp_status sequence_rnn(sp_tflite_call *c)
{
    const bool time_major = sp__tflite_byte(c, 0, 0) != 0, both = c->node->handler->code == 46;
    sp_tensor *x = number_in(c, 0), *y[2] = {NULL};
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(x) == 3, SP_FORMAT, "the input has rank %d, it must have 3", sp_tensor_rank(x));
    SP_CHECK(!both || number_in(c, 9) == NULL, SP_DECLINED, "a second input is not supported");
    x = swapped(c, x, time_major);
    for (int d = 0; d < (both ? 2 : 1); d++) {
        SP_TRY(rnn_run(c, 1 + 4 * d, x, sp__tflite_byte(c, 1, 0), d == 1, &y[d]));
        y[d] = swapped(c, y[d], time_major);
    }
    if (both && sp__tflite_byte(c, 2, 0)) return give(c, 0, sp__concat(c->b, 2, 2, y));
    SP_CHECK(!both || c->node->n_out == 2, SP_FORMAT, "%d results, there must be 2", c->node->n_out);
    SP_TRY(give(c, 0, y[0]));
    return both ? give(c, 1, y[1]) : SP_OK;
}

/* Inputs: x [batch, in]; weights of features [filters, in] and of time [filters, memory]; bias; state [batch, filters * memory]. */
static sp_status svdf(sp_tflite_call *c)
{
    sp_tensor *x = number_in(c, 0), *feature = number_in(c, 1), *over_time = number_in(c, 2), *bias = number_in(c, 3),
              *state = state_in(c, 4);
    const int64_t each = sp__tflite_int(c, 0, 1);
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(x) == 2 && sp_tensor_rank(over_time) == 2 && each > 0, SP_FORMAT,
             "input and weights must be matrices");
    const int64_t batch = sp_tensor_dims(x)[0], filters = sp_tensor_dims(over_time)[0],
                  memory = sp_tensor_dims(over_time)[1];
    SP_CHECK(memory > 0 && filters % each == 0 && sp_tensor_count(state) == batch * filters * memory, SP_FORMAT,
             "a state of %lld elements", (long long)sp_tensor_count(state));
    sp_tensor *now = sp_reshape(c->b, sp_matmul(c->b, x, feature, false, true), 3, (int64_t[]){batch, filters, 1});
    sp_tensor *kept =
        sp__take_range(c->b, sp_reshape(c->b, state, 3, (int64_t[]){batch, filters, memory}), 2, 1, memory - 1);
    state = sp__concat(c->b, 2, 2, (sp_tensor *[]){kept, now});
    sp_tensor *y = sp_reduce_sum(c->b, sp_mul(c->b, state, over_time), 1, (int64_t[]){2}, false);
    y = sp_reduce_sum(c->b, sp_reshape(c->b, y, 3, (int64_t[]){batch, filters / each, each}), 1, (int64_t[]){2}, false);
    y = sp__tflite_activate(c, plus(c, y, bias), sp__tflite_byte(c, 1, 0));
    SP_TRY(state_out(c, 4, sp_reshape(c->b, state, 2, (int64_t[]){batch, filters * memory})));
    return give(c, 0, y);
}

const sp_tflite_handler sp__tflite_rnn[] = {
    {16, "LSTM", lstm_node, NULL, SP_TFLITE_RAW, 1, -1},
    {44, "UNIDIRECTIONAL_SEQUENCE_LSTM", sequence_lstm, NULL, SP_TFLITE_RAW, 1, -1},
    {52, "BIDIRECTIONAL_SEQUENCE_LSTM", bidirectional_lstm, NULL, SP_TFLITE_RAW, 1, -1},
    {24, "RNN", rnn_node, NULL, SP_TFLITE_RAW, 5, -1},
    {35, "UNIDIRECTIONAL_SEQUENCE_RNN", sequence_rnn, NULL, SP_TFLITE_RAW, 5, -1},
    {46, "BIDIRECTIONAL_SEQUENCE_RNN", sequence_rnn, NULL, SP_TFLITE_RAW, 9, -1},
    {27, "SVDF", svdf, NULL, SP_TFLITE_RAW, 3, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
