/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops_control.c - TensorFlow Lite operators that run graphs, and variables.
 *
 * Conditions are read from tensors. Where they are not known while compiling, SP_SYMBOL leads the model to be run on tensors; where they
 * are (a counter that starts at a constant), the loop becomes part of the program, turn by turn. */
#include "formats/tflite/tflite_model.h"

enum { TURNS_RECORDED = 2000 }; /* of a loop in a program; longer ones are run on tensors */

static void values_release(sp_tflite_value *v, int n)
{
    for (int i = 0; v != NULL && i < n; i++) sp__tflite_value_release(&v[i]);
}

static sp_tflite_value value_of(sp_tflite_call *c, int i)
{
    return c->node->in[i] >= 0 ? sp__tflite_value_retain(c->frame[c->node->in[i]]) : (sp_tflite_value){NULL, NULL, -1};
}

static sp_status fetch_flag(const sp_tflite_value *v, bool *out)
{
    SP_CHECK(v->plain != NULL && sp_tensor_count(v->plain) == 1 && sp_tensor_dtype(v->plain) == SP_DTYPE_BOOL,
             SP_FORMAT, "a condition must be one bool");
    SP_TRY(sp__tensor_need_value(v->plain));
    sp_tensor *rows = NULL;
    SP_TRY(sp_tensor_contiguous(v->plain, &rows));
    *out = *(const bool *)sp_tensor_data(rows);
    sp_tensor_release(rows);
    return SP_OK;
}

/* Results of the node; the values are handed over. */
static sp_status hand_over(sp_tflite_call *c, sp_tflite_value *values, int n)
{
    SP_CHECK(n == c->node->n_out, SP_FORMAT, "a graph with %d outputs for a node with %d", n, c->node->n_out);
    for (int i = 0; i < n; i++) {
        if (c->node->out[i] < 0) continue;
        sp_tflite_value *to = &c->frame[c->node->out[i]];
        sp__tflite_value_release(to);
        *to = values[i];
        values[i] = (sp_tflite_value){NULL, NULL, -1};
    }
    return SP_OK;
}

/* Input 0 is the condition, the others are the arguments. */
static sp_status if_else(sp_tflite_call *c)
{
    bool yes = false;
    const int n = c->node->n_in - 1;
    sp_tflite_value flag = value_of(c, 0);
    sp_status status = fetch_flag(&flag, &yes);
    sp__tflite_value_release(&flag);
    SP_TRY(status);
    const sp_tflite_graph *g = &c->run->model->graphs[sp__tflite_int(c, yes ? 0 : 1, 0)];
    sp_tflite_value *values = sp__alloc_zero((size_t)(n + g->n_outputs + 1) * sizeof *values);
    if (values == NULL) return SP_NOMEM;
    for (int i = 0; i < n; i++) values[i] = value_of(c, i + 1);
    status = sp__tflite_run_graph(c->run, g, n, values, values + n);
    if (status == SP_OK) status = hand_over(c, values + n, g->n_outputs);
    values_release(values, n + g->n_outputs);
    sp__free(values);
    return status;
}

static bool any_symbol(const sp_tflite_value *v, int n)
{
    for (int i = 0; i < n; i++)
        if ((v[i].plain != NULL && sp_tensor_is_symbol(v[i].plain)) ||
            (v[i].planes != NULL && sp_tensor_is_symbol(v[i].planes)))
            return true;
    return false;
}

static sp_status loop_turns(sp_tflite_call *c, const sp_tflite_graph *condition, const sp_tflite_graph *body, int n,
                            sp_tflite_value *state, sp_tflite_value *next)
{
    for (int64_t turn = 0;; turn++) {
        sp_tflite_value flag = {NULL, NULL, -1};
        bool go = false;
        SP_TRY(sp__interrupt_check());
        SP_CHECK(turn < TURNS_RECORDED || !any_symbol(state, n), SP_SYMBOL, "a long loop");
        sp_status status = sp__tflite_run_graph(c->run, condition, n, state, &flag);
        if (status == SP_OK) status = fetch_flag(&flag, &go);
        sp__tflite_value_release(&flag);
        SP_TRY(status);
        if (!go) return SP_OK;
        SP_TRY(sp__tflite_run_graph(c->run, body, n, state, next));
        values_release(state, n);
        for (int i = 0; i < n; i++) {
            state[i] = next[i];
            next[i] = (sp_tflite_value){NULL, NULL, -1};
        }
    }
}

static sp_status while_loop(sp_tflite_call *c)
{
    const int n = c->node->n_in;
    const sp_tflite_graph *condition = &c->run->model->graphs[sp__tflite_int(c, 0, 0)],
                          *body = &c->run->model->graphs[sp__tflite_int(c, 1, 0)];
    SP_CHECK(condition->n_outputs == 1 && body->n_outputs == n && c->node->n_out == n, SP_FORMAT,
             "a loop over %d values with a condition of %d and a body of %d results", n, condition->n_outputs,
             body->n_outputs);
    sp_tflite_value *state = sp__alloc_zero((size_t)(2 * n + 1) * sizeof *state);
    if (state == NULL) return SP_NOMEM;
    for (int i = 0; i < n; i++) state[i] = value_of(c, i);
    sp_status status = loop_turns(c, condition, body, n, state, state + n);
    if (status == SP_OK) status = hand_over(c, state, n);
    values_release(state, 2 * n);
    sp__free(state);
    return status;
}

/* Done before the first run; see begin in tflite_model.c. */
static sp_status call_once(sp_tflite_call *c)
{
    (void)c;
    return SP_OK;
}

/* --- variables --------------------------------------------------------------------------------------------------- */

static sp_status var_handle(sp_tflite_call *c)
{
    sp_tflite_value *v = &c->frame[c->node->out[0]];
    sp__tflite_value_release(v);
    v->state = c->node->state;
    return SP_OK;
}

static sp_status state_of(sp_tflite_call *c, const sp_tflite_state **out)
{
    const int i = c->frame[c->node->in[0]].state;
    SP_CHECK(i >= 0 && c->run->model->states[i].tensor != NULL, SP_FORMAT, "input 0 is no variable");
    *out = &c->run->model->states[i];
    return SP_OK;
}

/* A copy: a later write to the variable must not change what was read. */
static sp_status read_variable(sp_tflite_call *c)
{
    const sp_tflite_state *s = NULL;
    SP_TRY(state_of(c, &s));
    return sp__tflite_put(c, 0, SP_TFLITE_OP1(c, "copy", s->tensor, NULL), false);
}

sp_status sp__tflite_write_state(sp_tflite_call *c, const sp_tflite_state *s, sp_tensor *value)
{
    SP_TRY(sp_builder_status(c->b));
    bool fits = sp_tensor_dtype(value) == s->meta.dtype && sp_tensor_rank(value) == s->meta.rank;
    for (int k = 0; k < s->meta.rank && fits; k++) fits = sp_tensor_dims(value)[k] == s->meta.dims[k];
    SP_CHECK(fits, SP_FORMAT, "variable '%s' is written with another dtype or shape", s->name);
    if (!c->run->model->ready) return sp_tensor_assign(s->tensor, value); /* it is no variable of programs yet */
    SP_TFLITE_OP2(c, "assign", s->tensor, value, NULL);
    return sp_builder_status(c->b);
}

static sp_status assign_variable(sp_tflite_call *c)
{
    const sp_tflite_state *s = NULL;
    SP_TRY(state_of(c, &s));
    sp_tensor *value = sp__tflite_plain(c, 1);
    SP_CHECK(value != NULL, SP_FORMAT, "there is no value");
    return sp__tflite_write_state(c, s, value);
}

const sp_tflite_handler sp__tflite_control[] = {
    {118, "IF", if_else, NULL, SP_TFLITE_RAW, 1, -1},
    {119, "WHILE", while_loop, NULL, SP_TFLITE_RAW, 0, -1},
    {129, "CALL_ONCE", call_once, NULL, SP_TFLITE_RAW, 0, -1},
    {142, "VAR_HANDLE", var_handle, NULL, SP_TFLITE_RAW, 0, -1},
    {143, "READ_VARIABLE", read_variable, NULL, SP_TFLITE_RAW, 1, -1},
    {144, "ASSIGN_VARIABLE", assign_variable, NULL, SP_TFLITE_RAW, 2, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
