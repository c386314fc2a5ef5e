/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_control.c - ONNX operators that run graphs (If, Loop, Scan), and those on sequences and optional values.
 *
 * The number of turns and the branch are read from tensors. Where they are not known while compiling, both branches, or one turn, are
 * recorded as functions of the program; that needs results of the same dtypes and shapes in both branches, and a state whose shapes do
 * not change from turn to turn. Otherwise SP_SYMBOL leads the model to be run on tensors. */
#include <stdio.h>

#include "formats/onnx/onnx_model.h"
#include "ir/graph_impl.h"

enum {
    RECORDED_MAX = 64,    /* values that recorded functions take and give */
    SPELLED_OUT_MAX = 16, /* turns that are recorded one after the other */
};

static sp_status fetch_flag(sp_onnx_value *v, bool *out)
{
    double number = 0;
    SP_CHECK(v != NULL && v->tensor != NULL, SP_FORMAT, "a condition is missing");
    SP_TRY(sp__onnx_number(v->tensor, &number));
    *out = number != 0;
    return SP_OK;
}

static sp_status graph_of(sp_onnx_call *c, const char *name, const sp_onnx_graph **out)
{
    const sp_onnx_attr *a = sp__onnx_attr(c, name);
    SP_CHECK(a != NULL && a->graph != NULL, SP_FORMAT, "attribute '%s' with a graph is missing", name);
    *out = a->graph;
    return SP_OK;
}

/* What the run alone tells; a number that follows from sizes at hand is known. */
static bool is_symbol(const sp_onnx_value *v)
{
    sp_tensor *known = NULL;
    return v != NULL && v->tensor != NULL && sp_tensor_is_symbol(v->tensor) &&
           (sp__symbol_known(v->tensor, &known) != SP_OK || known == NULL);
}

/* --- recorded control flow --------------------------------------------------------------------------------------- */

/* What cannot be part of a program is run on tensors, where it may do, or fail with a message of its own. */
static sp_status as_symbol(sp_status status)
{
    if (status == SP_OK || status == SP_NOMEM || status == SP_SYMBOL) return status;
    char why[512];
    snprintf(why, sizeof why, "%s", sp_error_message());
    return sp__fail(SP_SYMBOL, "%s", why);
}

static sp_status no_program(const char *what) { return sp__fail(SP_SYMBOL, "%s that depends on contents", what); }

/* A function that is being recorded around others: what it was given, and what it gives. */
typedef struct recorded {
    sp_function *f;
    int n;
    sp_tensor *results[RECORDED_MAX];
    int types[RECORDED_MAX]; /* what they carry */
} recorded;

/* End r's recording with these values; only tensors can be results. Releases the values. */
static sp_status recorded_end(recorded *r, sp_status status, int n, sp_onnx_value **values)
{
    r->n = n;
    for (int i = 0; i < n && status == SP_OK; i++) {
        if (values[i] == NULL || values[i]->tensor == NULL) status = no_program("a value that is no tensor");
        else {
            r->results[i] = values[i]->tensor;
            r->types[i] = values[i]->type;
        }
    }
    if (status == SP_OK) status = sp_function_end(r->f, n, r->results);
    else sp_function_abandon(r->f);
    for (int i = 0; i < n; i++) sp__onnx_value_release(values[i]);
    return status;
}

static sp_status record_branch(sp_onnx_call *c, const char *name, recorded *r)
{
    const sp_onnx_graph *branch = NULL;
    sp_onnx_value *values[RECORDED_MAX] = {NULL};
    SP_TRY(graph_of(c, name, &branch));
    SP_CHECK(branch->n_outputs == c->n_out, SP_FORMAT, "a branch has %d outputs, the node %d", branch->n_outputs,
             c->n_out);
    if (c->n_out > RECORDED_MAX) return no_program("more than 64 results of a branch");
    SP_TRY(sp_function_begin(sp_function_recording()->graph, name, 0, NULL, &r->f, NULL));
    return recorded_end(r, sp__onnx_run(branch, c->texts, c->caller, c->frame, 0, NULL, values), c->n_out, values);
}

static bool same_meta(const sp_meta *a, const sp_meta *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

/* A branch that does not fit the shapes at hand fails when it is taken, as it would on tensors. */
static sp_status fail_late(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)n_in, (void)in, (void)n_out, (void)out;
    return sp__fail(SP_VALUE, "%s", (const char *)context);
}

static sp_status record_failure(sp_onnx_call *c, const char *why, const recorded *other, recorded *r)
{
    sp_spec *specs = sp__alloc(RECORDED_MAX * sizeof *specs);
    sp_tensor *out[RECORDED_MAX] = {NULL};
    char *message = sp__strdup(why);
    if (message == NULL || specs == NULL) {
        sp__free(message);
        sp__free(specs);
        return SP_NOMEM;
    }
    for (int i = 0; i < other->n; i++) specs[i] = other->f->results[i]->meta;
    sp_status status = sp_function_begin(sp_function_recording()->graph, "failure", 0, NULL, &r->f, NULL);
    if (status != SP_OK) {
        sp__free(message);
        sp__free(specs);
        return status;
    }
    status = sp_function_host(SP_HOST_FAILURE, fail_late, sp__free, message, 1, &c->value_in[0]->tensor, other->n,
                              specs, out);
    if (status == SP_OK) status = sp_function_end(r->f, other->n, out);
    else {
        sp__free(message); /* not taken over */
        sp_function_abandon(r->f);
    }
    for (int i = 0; i < other->n; i++) sp_tensor_release(out[i]);
    sp__free(specs);
    r->n = other->n;
    memcpy(r->types, other->types, sizeof r->types);
    return as_symbol(status);
}

/* Both branches become functions of the program. */
static sp_status record_if(sp_onnx_call *c)
{
    recorded branch[2] = {{0}, {0}}, *yes = &branch[0], *no = &branch[1];
    sp_tensor *out[RECORDED_MAX] = {NULL};
    sp_status found[2];
    char why[2][512];
    for (int i = 0; i < 2; i++) {
        found[i] = record_branch(c, i == 0 ? "then_branch" : "else_branch", &branch[i]);
        snprintf(why[i], sizeof why[i], "%s", found[i] != SP_OK ? sp_error_message() : "");
    }
    for (int i = 0; i < 2; i++)
        if (found[i] == SP_NOMEM || found[i] == SP_SYMBOL || (found[i] != SP_OK && found[1 - i] != SP_OK))
            return as_symbol(sp__fail(found[i], "%s", why[i]));
    for (int i = 0; i < 2; i++)
        if (found[i] != SP_OK) SP_TRY(record_failure(c, why[i], &branch[1 - i], &branch[i]));
    for (int i = 0; i < yes->n; i++)
        if (yes->types[i] != no->types[i] || !same_meta(&yes->f->results[i]->meta, &no->f->results[i]->meta))
            return no_program("branches with results of different shapes");
    SP_TRY(as_symbol(sp_function_if(c->value_in[0]->tensor, yes->f, no->f, 0, NULL, yes->n, out)));
    sp_status status = SP_OK;
    for (int i = 0; i < yes->n; i++) {
        if (!(c->value_out[i] = sp__onnx_value_typed(out[i], yes->types[i]))) status = SP_NOMEM;
        sp_tensor_release(out[i]);
    }
    return status;
}

static sp_status if_else(sp_onnx_call *c)
{
    const sp_onnx_graph *branch = NULL;
    bool yes = false;
    if (is_symbol(c->value_in[0])) return record_if(c);
    SP_TRY(fetch_flag(c->value_in[0], &yes));
    SP_TRY(graph_of(c, yes ? "then_branch" : "else_branch", &branch));
    SP_CHECK(branch->n_outputs == c->n_out, SP_FORMAT, "a branch has %d outputs, the node %d", branch->n_outputs,
             c->n_out);
    return sp__onnx_run(branch, c->texts, c->caller, c->frame, 0, NULL, c->value_out);
}

/* --- loops ------------------------------------------------------------------------------------------------------- */

/* Tensors collected turn by turn. */
typedef struct pile {
    int n, capacity;
    int type; /* what they carry */
    sp_tensor **items;
} pile;

static sp_status pile_add(pile *p, sp_tensor *t, int type)
{
    p->type = type;
    if (p->n == p->capacity) {
        int more = p->capacity == 0 ? 16 : 2 * p->capacity;
        sp_tensor **bigger =
            sp__realloc(p->items, (size_t)p->capacity * sizeof *p->items, (size_t)more * sizeof *p->items);
        if (bigger == NULL) return SP_NOMEM;
        p->items = bigger;
        p->capacity = more;
    }
    p->items[p->n++] = sp_tensor_retain(t);
    return SP_OK;
}

static void piles_free(pile *p, int n)
{
    for (int k = 0; p != NULL && k < n; k++) {
        for (int i = 0; i < p[k].n; i++) sp_tensor_release(p[k].items[i]);
        sp__free(p[k].items);
    }
    sp__free(p);
}

/* Joined along a new axis; nothing at all is an empty tensor. */
static sp_status pile_stack(sp_onnx_call *c, const pile *p, int64_t axis, sp_onnx_value **out)
{
    sp_tensor *t =
        p->n > 0 ? sp__stack(c->b, axis, p->n, p->items) : sp__full(c->b, 0, SP_DTYPE_F32, 1, (int64_t[]){0});
    SP_TRY(sp_builder_status(c->b));
    *out = sp__onnx_value_typed(t, p->type);
    return *out != NULL ? SP_OK : SP_NOMEM;
}

static void values_release(sp_onnx_value **v, int n)
{
    for (int i = 0; i < n; i++) {
        sp__onnx_value_release(v[i]);
        v[i] = NULL;
    }
}

typedef struct loop {
    const sp_onnx_graph *body;
    int n_state, n_piles;
    sp_onnx_value **args, **results; /* of the body */
    pile *piles;
} loop;

static sp_status loop_turn(sp_onnx_call *c, loop *l, int n_skip)
{
    SP_TRY(sp__interrupt_check());
    SP_TRY(sp__onnx_run(l->body, c->texts, c->caller, c->frame, l->body->n_inputs, l->args, l->results));
    for (int i = 0; i < l->n_piles; i++) {
        sp_onnx_value *v = l->results[n_skip + l->n_state + i];
        SP_CHECK(v != NULL && v->tensor != NULL, SP_TYPE, "a value collected by a loop is no tensor");
        SP_TRY(pile_add(&l->piles[i], v->tensor, v->type));
    }
    return SP_OK;
}

static sp_status loop_make(const sp_onnx_graph *body, int n_state, int n_piles, loop *l)
{
    *l = (loop){.body = body, .n_state = n_state, .n_piles = n_piles};
    l->args = sp__alloc_zero((size_t)(body->n_inputs + 1) * sizeof *l->args);
    l->results = sp__alloc_zero((size_t)(body->n_outputs + 1) * sizeof *l->results);
    l->piles = sp__alloc_zero((size_t)(n_piles + 1) * sizeof *l->piles);
    return l->args != NULL && l->results != NULL && l->piles != NULL ? SP_OK : SP_NOMEM;
}

static void loop_free(loop *l)
{
    if (l->args != NULL) values_release(l->args, l->body->n_inputs);
    if (l->results != NULL) values_release(l->results, l->body->n_outputs);
    piles_free(l->piles, l->n_piles);
    sp__free(l->args);
    sp__free(l->results);
}

static sp_status loop_run(sp_onnx_call *c, loop *l, int64_t turns, bool go)
{
    for (int64_t i = 0; i < turns && go; i++) {
        sp_tensor *t = NULL;
        sp__onnx_value_release(l->args[0]);
        l->args[0] = NULL;
        SP_TRY(sp_tensor_create_i64(SP_DTYPE_I64, i, &t));
        l->args[0] = sp__onnx_value_tensor(t);
        sp_tensor_release(t);
        if (l->args[0] == NULL) return SP_NOMEM;
        sp__onnx_value_release(l->args[1]);
        l->args[1] = NULL;
        SP_TRY(sp_tensor_create_i64(SP_DTYPE_BOOL, 1, &t));
        l->args[1] = sp__onnx_value_tensor(t);
        sp_tensor_release(t);
        SP_TRY(loop_turn(c, l, 1));
        SP_TRY(fetch_flag(l->results[0], &go));
        for (int k = 0; k < l->n_state; k++) {
            sp__onnx_value_release(l->args[2 + k]);
            l->args[2 + k] = sp__onnx_value_retain(l->results[1 + k]);
        }
        values_release(l->results, l->body->n_outputs);
    }
    return SP_OK;
}

/* State of a recorded loop: number of the turn, whether to go on, what the node carries along. */
typedef struct recorded_loop {
    sp_tensor *state[RECORDED_MAX];
    sp_spec specs[RECORDED_MAX];
    int types[RECORDED_MAX];
    int n;
} recorded_loop;

/* Go on and, where a number of turns is given, not all are done. */
static sp_status record_test(sp_onnx_call *c, const recorded_loop *l, sp_function **out)
{
    sp_tensor *params[RECORDED_MAX], *turns = c->value_in[0] != NULL ? c->value_in[0]->tensor : NULL;
    SP_TRY(sp_function_begin(sp_function_recording()->graph, "test", l->n, l->specs, out, params));
    sp_tensor *go = params[1];
    if (turns != NULL) {
        turns = sp_reshape(c->b, sp_cast(c->b, turns, SP_DTYPE_I64), 0, NULL);
        go = SP_ONNX_OP2(c, "logical_and", go, sp_less(c->b, params[0], turns), NULL);
    }
    sp_status status = sp_builder_status(c->b);
    if (status == SP_OK) status = sp_function_end(*out, 1, &go);
    else sp_function_abandon(*out);
    for (int i = 0; i < l->n; i++) sp_tensor_release(params[i]);
    return as_symbol(status);
}

/* One turn: the body of the node, with the number of the next turn in front. */
static sp_status record_turn(sp_onnx_call *c, const sp_onnx_graph *body, const recorded_loop *l, sp_function **out)
{
    sp_tensor *params[RECORDED_MAX];
    sp_onnx_value *args[RECORDED_MAX] = {NULL}, *values[RECORDED_MAX] = {NULL};
    recorded r = {0};
    SP_TRY(sp_function_begin(sp_function_recording()->graph, "body", l->n, l->specs, &r.f, params));
    sp_status status = SP_OK;
    for (int i = 0; i < l->n; i++)
        if (!(args[i] = sp__onnx_value_typed(params[i], l->types[i]))) status = SP_NOMEM;
    if (status == SP_OK) status = sp__onnx_run(body, c->texts, c->caller, c->frame, l->n, args, values + 1);
    if (status == SP_OK) {
        sp_tensor *next = sp_add(c->b, params[0], sp__onnx_scalar(c, SP_DTYPE_I64, 1));
        status = sp_builder_status(c->b);
        if (status == SP_OK && !(values[0] = sp__onnx_value_tensor(next))) status = SP_NOMEM;
    }
    if (status == SP_OK && values[1] != NULL && values[1]->tensor != NULL) { /* of any shape with one element */
        sp_tensor *go = sp_reshape(c->b, values[1]->tensor, 0, NULL);
        sp__onnx_value_release(values[1]);
        status = sp_builder_status(c->b);
        values[1] = status == SP_OK ? sp__onnx_value_tensor(go) : NULL;
    }
    status = as_symbol(recorded_end(&r, status, l->n, values));
    for (int i = 0; i < l->n; i++) sp__onnx_value_release(args[i]);
    for (int i = 0; i < l->n && status == SP_OK; i++)
        if (r.types[i] != l->types[i] || !same_meta(&r.f->results[i]->meta, &l->specs[i]))
            status = no_program("a loop that changes the shape of its state");
    for (int i = 0; i < l->n; i++) sp_tensor_release(params[i]);
    *out = r.f;
    return status;
}

/* A loop of the program. What is collected turn by turn has a size that only the run knows. */
static sp_status record_state(sp_onnx_call *c, const sp_onnx_graph *body, int n_state, recorded_loop *l)
{
    sp_function *test = NULL, *turn = NULL;
    sp_tensor *out[RECORDED_MAX] = {NULL}, *go = c->value_in[1] != NULL ? c->value_in[1]->tensor : NULL;
    l->state[0] = sp__onnx_scalar(c, SP_DTYPE_I64, 0);
    l->state[1] = go != NULL ? sp_reshape(c->b, go, 0, NULL) : sp__onnx_scalar(c, SP_DTYPE_BOOL, 1);
    SP_TRY(as_symbol(sp_builder_status(c->b)));
    for (int i = 0; i < n_state; i++) {
        const sp_onnx_value *v = c->value_in[2 + i];
        if (v == NULL || v->tensor == NULL) return no_program("a state that is no tensor");
        l->state[2 + i] = v->tensor;
        l->types[2 + i] = v->type;
    }
    for (int i = 0; i < l->n; i++) sp__meta_of(l->state[i], &l->specs[i]);
    SP_TRY(record_test(c, l, &test));
    SP_TRY(record_turn(c, body, l, &turn));
    SP_TRY(as_symbol(sp_function_while(test, turn, l->n, l->state, out)));
    sp_status status = SP_OK;
    for (int i = 0; i < l->n; i++) {
        if (i >= 2 && !(c->value_out[i - 2] = sp__onnx_value_typed(out[i], l->types[i]))) status = SP_NOMEM;
        sp_tensor_release(out[i]);
    }
    return status;
}

static sp_status record_loop(sp_onnx_call *c, const sp_onnx_graph *body, int n_state, int n_piles)
{
    if (n_piles > 0 || n_state + 2 > RECORDED_MAX)
        return no_program("a loop that collects values over a number of turns");
    recorded_loop *l = sp__alloc_zero(sizeof *l); /* loops lie in loops, and a stack is small */
    if (!l) return SP_NOMEM;
    l->n = n_state + 2;
    sp_status status = record_state(c, body, n_state, l);
    sp__free(l);
    return status;
}

static sp_status loop_node(sp_onnx_call *c)
{
    const sp_onnx_graph *body = NULL;
    SP_TRY(graph_of(c, "body", &body));
    int n_state = c->n_in - 2, n_piles = body->n_outputs - 1 - n_state;
    SP_CHECK(n_state >= 0 && body->n_inputs == n_state + 2 && n_piles >= 0 && c->n_out == n_state + n_piles, SP_FORMAT,
             "the body of the loop has %d inputs and %d outputs, the node %d and %d", body->n_inputs, body->n_outputs,
             c->n_in, c->n_out);
    int64_t turns = INT64_MAX;
    bool go = true;
    sp_onnx_ints most = {.n = 0};
    if (is_symbol(c->value_in[0]) || is_symbol(c->value_in[1])) return record_loop(c, body, n_state, n_piles);
    if (c->value_in[0] != NULL && c->value_in[0]->tensor != NULL) {
        SP_TRY(sp__onnx_ints(c->value_in[0]->tensor, &most));
        SP_CHECK(most.n == 1, SP_VALUE, "the number of turns must be one number");
        turns = most.v[0];
    }
    if (c->value_in[1] != NULL && c->value_in[1]->tensor != NULL) SP_TRY(fetch_flag(c->value_in[1], &go));
    if (sp_function_recording() != NULL && turns > SPELLED_OUT_MAX && go &&
        n_piles == 0) { /* as a loop, if it can be one */
        sp_status found = record_loop(c, body, n_state, n_piles);
        if (found != SP_SYMBOL) return found;
    }
    loop l;
    sp_status status = loop_make(body, n_state, n_piles, &l);
    if (status == SP_OK) {
        for (int k = 0; k < n_state; k++) l.args[2 + k] = sp__onnx_value_retain(c->value_in[2 + k]);
        status = loop_run(c, &l, turns, go);
    }
    if (status == SP_SYMBOL && sp_function_recording() != NULL) { /* a later turn decides whether to go on */
        loop_free(&l);
        return record_loop(c, body, n_state, n_piles);
    }
    for (int k = 0; k < n_state && status == SP_OK; k++) c->value_out[k] = sp__onnx_value_retain(l.args[2 + k]);
    for (int k = 0; k < n_piles && status == SP_OK; k++)
        status = pile_stack(c, &l.piles[k], 0, &c->value_out[n_state + k]);
    loop_free(&l);
    return status;
}

/* The i-th part of t along an axis, without that axis. */
static sp_tensor *part_of(sp_onnx_call *c, sp_tensor *t, int axis, int64_t i)
{
    int64_t dims[SP_RANK_MAX];
    int n = 0;
    sp_tensor *part = sp__take_range(c->b, t, axis, i, 1);
    for (int k = 0; k < sp_tensor_rank(t); k++)
        if (k != axis) dims[n++] = sp_tensor_dims(t)[k];
    return sp_reshape(c->b, part, n, dims);
}

static sp_status flag_at(sp_onnx_call *c, const char *name, int i, int64_t *out)
{
    sp_onnx_ints list;
    bool found;
    SP_TRY(sp__onnx_ints_of(c, name, -1, &list, &found));
    *out = found && i < list.n ? list.v[i] : 0;
    return SP_OK;
}

static sp_status scan_turns(sp_onnx_call *c, loop *l, int n_scan, sp_onnx_value **state, sp_onnx_value **scanned)
{
    int64_t turns = -1;
    for (int k = 0; k < l->n_state; k++) l->args[k] = sp__onnx_value_retain(state[k]);
    for (int64_t i = 0; turns < 0 || i < turns; i++) {
        for (int k = 0; k < n_scan; k++) {
            int axis = 0;
            int64_t from = 0, back = 0;
            sp_tensor *t = scanned[k] != NULL ? scanned[k]->tensor : NULL;
            SP_CHECK(t != NULL, SP_TYPE, "input %d of a scan is no tensor", k);
            SP_TRY(flag_at(c, "scan_input_axes", k, &from));
            SP_TRY(flag_at(c, "scan_input_directions", k, &back));
            SP_TRY(sp__shape_axis(from, sp_tensor_rank(t), "scan_input_axes", &axis));
            turns = sp_tensor_dims(t)[axis];
            if (i >= turns) return SP_OK;
            sp_tensor *part = part_of(c, t, axis, back ? turns - 1 - i : i);
            SP_TRY(sp_builder_status(c->b));
            sp__onnx_value_release(l->args[l->n_state + k]);
            if (!(l->args[l->n_state + k] = sp__onnx_value_typed(part, scanned[k]->type))) return SP_NOMEM;
        }
        SP_TRY(loop_turn(c, l, 0));
        for (int k = 0; k < l->n_state; k++) {
            sp__onnx_value_release(l->args[k]);
            l->args[k] = sp__onnx_value_retain(l->results[k]);
        }
        values_release(l->results, l->body->n_outputs);
    }
    return SP_OK;
}

static sp_status scan(sp_onnx_call *c)
{
    const sp_onnx_graph *body = NULL;
    SP_TRY(graph_of(c, "body", &body));
    int64_t n_scan = sp__onnx_attr_int(c, "num_scan_inputs", 1);
    int n_state = c->n_in - (int)n_scan, n_piles = body->n_outputs - n_state;
    SP_CHECK(n_scan > 0 && n_scan <= c->n_in && body->n_inputs == c->n_in && n_piles >= 0 &&
                 c->n_out == body->n_outputs,
             SP_FORMAT, "the body of the scan has %d inputs and %d outputs, the node %d and %d", body->n_inputs,
             body->n_outputs, c->n_in, c->n_out);
    loop l;
    sp_status status = loop_make(body, n_state, n_piles, &l);
    if (status == SP_OK) status = scan_turns(c, &l, (int)n_scan, c->value_in, c->value_in + n_state);
    for (int k = 0; k < n_state && status == SP_OK; k++) c->value_out[k] = sp__onnx_value_retain(l.args[k]);
    for (int k = 0; k < n_piles && status == SP_OK; k++) {
        int64_t axis = 0, back = 0;
        status = flag_at(c, "scan_output_axes", k, &axis);
        if (status == SP_OK) status = flag_at(c, "scan_output_directions", k, &back);
        pile *p = &l.piles[k];
        for (int i = 0; status == SP_OK && back && i < p->n / 2; i++) {
            sp_tensor *t = p->items[i];
            p->items[i] = p->items[p->n - 1 - i];
            p->items[p->n - 1 - i] = t;
        }
        if (status == SP_OK) status = pile_stack(c, p, axis, &c->value_out[n_state + k]);
    }
    loop_free(&l);
    return status;
}

/* Opset 8: a batch axis in front of everything, and lengths that nobody writes. */
static sp_status scan_batch(sp_onnx_call *c, const sp_onnx_graph *body, int n_state, int64_t b, pile *all)
{
    int n_in = c->n_in - 1, n_scan = n_in - n_state, n_piles = body->n_outputs - n_state;
    sp_onnx_value *args[64] = {NULL};
    loop l;
    SP_CHECK(n_in <= 64, SP_VALUE, "%d inputs, at most 64 are possible", n_in);
    sp_status status = SP_OK;
    for (int k = 0; k < n_in && status == SP_OK; k++) {
        const sp_onnx_value *v = c->value_in[k + 1];
        if (v == NULL || v->tensor == NULL) {
            status = sp__fail(SP_TYPE, "input %d of a scan is no tensor", k + 1);
            break;
        }
        sp_tensor *part = part_of(c, v->tensor, 0, b);
        status = sp_builder_status(c->b);
        if (status == SP_OK && !(args[k] = sp__onnx_value_typed(part, v->type))) status = SP_NOMEM;
    }
    if (status == SP_OK) {
        status = loop_make(body, n_state, n_piles, &l);
        if (status == SP_OK) status = scan_turns(c, &l, n_scan, args, args + n_state);
        for (int k = 0; k < n_state && status == SP_OK; k++)
            status = pile_add(&all[k], l.args[k]->tensor, l.args[k]->type);
        for (int k = 0; k < n_piles && status == SP_OK; k++) {
            sp_tensor *t = sp__stack(c->b, 0, l.piles[k].n, l.piles[k].items);
            status = sp_builder_status(c->b);
            if (status == SP_OK) status = pile_add(&all[n_state + k], t, l.piles[k].type);
        }
        loop_free(&l);
    }
    values_release(args, n_in);
    return status;
}

static sp_status scan_8(sp_onnx_call *c)
{
    const sp_onnx_graph *body = NULL;
    SP_TRY(graph_of(c, "body", &body));
    int n_state = c->n_in - 1 - (int)sp__onnx_attr_int(c, "num_scan_inputs", 1);
    SP_CHECK(n_state >= 0 && body->n_inputs == c->n_in - 1 && c->n_out == body->n_outputs && c->value_in[1] != NULL &&
                 c->value_in[1]->tensor != NULL && sp_tensor_rank(c->value_in[1]->tensor) > 0,
             SP_FORMAT, "the body does not fit the node");
    pile *all = sp__alloc_zero((size_t)(c->n_out + 1) * sizeof *all);
    if (all == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int64_t b = 0; b < sp_tensor_dims(c->value_in[1]->tensor)[0] && status == SP_OK; b++)
        status = scan_batch(c, body, n_state, b, all);
    for (int k = 0; k < c->n_out && status == SP_OK; k++) status = pile_stack(c, &all[k], 0, &c->value_out[k]);
    piles_free(all, c->n_out);
    return status;
}

/* --- sequences --------------------------------------------------------------------------------------------------- */

static sp_status sequence_in(sp_onnx_call *c, int i, sp_onnx_value **out)
{
    *out = i < c->n_in ? c->value_in[i] : NULL;
    SP_CHECK(*out != NULL && (*out)->is_sequence, SP_TYPE, "input %d is no sequence", i);
    return SP_OK;
}

static sp_status tensor_in(sp_onnx_call *c, int i, sp_tensor **out)
{
    *out = i < c->n_in && c->value_in[i] != NULL ? c->value_in[i]->tensor : NULL;
    SP_CHECK(*out != NULL, SP_TYPE, "input %d is no tensor", i);
    return SP_OK;
}

static sp_status sequence_construct(sp_onnx_call *c)
{
    if (!(c->value_out[0] = sp__onnx_value_sequence(c->n_in))) return SP_NOMEM;
    for (int i = 0; i < c->n_in; i++) c->value_out[0]->items[i] = sp__onnx_value_retain(c->value_in[i]);
    return SP_OK;
}

static sp_status sequence_empty(sp_onnx_call *c)
{
    return (c->value_out[0] = sp__onnx_value_sequence(0)) != NULL ? SP_OK : SP_NOMEM;
}

static sp_status position_in(sp_onnx_call *c, int i, int64_t n, int64_t missing, int64_t *out)
{
    *out = missing;
    if (i < c->n_in && c->value_in[i] != NULL) {
        sp_onnx_ints at = {.n = 0};
        sp_tensor *t = NULL;
        SP_TRY(tensor_in(c, i, &t));
        SP_TRY(sp__onnx_ints(t, &at));
        SP_CHECK(at.n == 1, SP_VALUE, "a position must be one number");
        *out = at.v[0] < 0 ? at.v[0] + n : at.v[0];
    }
    return SP_OK;
}

static sp_status sequence_at(sp_onnx_call *c)
{
    sp_onnx_value *s = NULL;
    int64_t at = 0;
    SP_TRY(sequence_in(c, 0, &s));
    SP_TRY(position_in(c, 1, s->n, 0, &at));
    SP_CHECK(at >= 0 && at < s->n, SP_INDEX, "position %lld of a sequence of %d", (long long)at, s->n);
    c->value_out[0] = sp__onnx_value_retain(s->items[at]);
    return SP_OK;
}

static sp_status sequence_insert(sp_onnx_call *c)
{
    sp_onnx_value *s = NULL;
    int64_t at = 0;
    SP_TRY(sequence_in(c, 0, &s));
    SP_TRY(position_in(c, 2, s->n, s->n, &at));
    SP_CHECK(at >= 0 && at <= s->n, SP_INDEX, "position %lld of a sequence of %d", (long long)at, s->n);
    if (!(c->value_out[0] = sp__onnx_value_sequence(s->n + 1))) return SP_NOMEM;
    for (int i = 0; i <= s->n; i++)
        c->value_out[0]->items[i] = sp__onnx_value_retain(i == at ? c->value_in[1] : s->items[i < at ? i : i - 1]);
    return SP_OK;
}

static sp_status sequence_erase(sp_onnx_call *c)
{
    sp_onnx_value *s = NULL;
    int64_t at = 0;
    SP_TRY(sequence_in(c, 0, &s));
    SP_TRY(position_in(c, 1, s->n, s->n - 1, &at));
    SP_CHECK(at >= 0 && at < s->n, SP_INDEX, "position %lld of a sequence of %d", (long long)at, s->n);
    if (!(c->value_out[0] = sp__onnx_value_sequence(s->n - 1))) return SP_NOMEM;
    for (int i = 0; i < s->n - 1; i++) c->value_out[0]->items[i] = sp__onnx_value_retain(s->items[i < at ? i : i + 1]);
    return SP_OK;
}

static sp_status give_tensor(sp_onnx_call *c, sp_tensor *t)
{
    SP_TRY(sp_builder_status(c->b));
    c->value_out[0] = sp__onnx_value_tensor(t);
    return c->value_out[0] != NULL ? SP_OK : SP_NOMEM;
}

static sp_status sequence_length(sp_onnx_call *c)
{
    sp_onnx_value *s = NULL;
    SP_TRY(sequence_in(c, 0, &s));
    return give_tensor(c, sp__onnx_scalar(c, SP_DTYPE_I64, s->n));
}

static sp_status concat_from_sequence(sp_onnx_call *c)
{
    sp_onnx_value *s = NULL;
    pile p = {0};
    SP_TRY(sequence_in(c, 0, &s));
    sp_status status = s->n > 0 ? SP_OK : sp__fail(SP_VALUE, "the sequence is empty");
    for (int i = 0; i < s->n && status == SP_OK; i++)
        status = s->items[i] != NULL && s->items[i]->tensor != NULL
                     ? pile_add(&p, s->items[i]->tensor, s->items[i]->type)
                     : sp__fail(SP_TYPE, "item %d is no tensor", i);
    int64_t axis = sp__onnx_attr_int(c, "axis", 0);
    bool fresh = sp__onnx_attr_int(c, "new_axis", 0) != 0;
    if (status == SP_OK)
        status = give_tensor(c, fresh ? sp__stack(c->b, axis, p.n, p.items) : sp__concat(c->b, axis, p.n, p.items));
    if (status == SP_OK) c->value_out[0]->type = p.type;
    for (int i = 0; i < p.n; i++) sp_tensor_release(p.items[i]);
    sp__free(p.items);
    return status;
}

static sp_status split_to_sequence(sp_onnx_call *c)
{
    sp_tensor *x = NULL, *by = NULL;
    int axis = 0;
    SP_TRY(tensor_in(c, 0, &x));
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", 0), sp_tensor_rank(x), "axis", &axis));
    int64_t all = sp_tensor_dims(x)[axis], step = 1, n, at = 0;
    bool keep = sp__onnx_attr_int(c, "keepdims", 1) != 0, given = c->n_in > 1 && c->value_in[1] != NULL;
    sp_onnx_ints sizes = {.n = 0};
    if (given) {
        SP_TRY(tensor_in(c, 1, &by));
        SP_TRY(sp__onnx_ints(by, &sizes));
        bool one = sp_tensor_rank(by) == 0;
        SP_CHECK(!one || sizes.v[0] > 0, SP_VALUE, "the split is %lld, it must be positive", (long long)sizes.v[0]);
        step = one ? sizes.v[0] : 1;
        n = sp_tensor_rank(by) == 0 ? (all + step - 1) / step : sizes.n;
    } else n = all;
    bool even = !given || sp_tensor_rank(c->value_in[1]->tensor) == 0;
    SP_CHECK(n < INT32_MAX, SP_VALUE, "too many parts");
    if (!(c->value_out[0] = sp__onnx_value_sequence((int)n))) return SP_NOMEM;
    for (int i = 0; i < n; i++) {
        int64_t size = even ? (at + step <= all ? step : all - at) : sizes.v[i];
        SP_CHECK(size >= 0 && at + size <= all, SP_VALUE, "the parts are more than the %lld elements", (long long)all);
        sp_tensor *part = !given && !keep ? part_of(c, x, axis, at) : sp__take_range(c->b, x, axis, at, size);
        SP_TRY(sp_builder_status(c->b));
        if (!(c->value_out[0]->items[i] = sp__onnx_value_typed(part, c->value_in[0]->type))) return SP_NOMEM;
        at += size;
    }
    return SP_OK;
}

static sp_status sequence_map(sp_onnx_call *c)
{
    const sp_onnx_graph *body = NULL;
    sp_onnx_value *first = NULL, *args[64] = {NULL}, *results[64] = {NULL};
    SP_TRY(graph_of(c, "body", &body));
    SP_TRY(sequence_in(c, 0, &first));
    SP_CHECK(c->n_in <= 64 && c->n_out <= 64 && body->n_inputs == c->n_in && body->n_outputs == c->n_out, SP_FORMAT,
             "the body does not fit");
    for (int k = 0; k < c->n_out; k++)
        if (!(c->value_out[k] = sp__onnx_value_sequence(first->n))) return SP_NOMEM;
    for (int i = 0; i < first->n; i++) {
        for (int k = 0; k < c->n_in; k++) {
            sp_onnx_value *v = c->value_in[k];
            SP_CHECK(v != NULL && (!v->is_sequence || v->n == first->n), SP_VALUE, "sequences of different lengths");
            args[k] = v->is_sequence ? v->items[i] : v;
        }
        SP_TRY(sp__onnx_run(body, c->texts, c->caller, c->frame, c->n_in, args, results));
        for (int k = 0; k < c->n_out; k++) c->value_out[k]->items[i] = results[k];
    }
    return SP_OK;
}

/* --- optional values --------------------------------------------------------------------------------------------- */

static sp_status optional(sp_onnx_call *c)
{
    c->value_out[0] =
        c->n_in > 0 && c->value_in[0] != NULL ? sp__onnx_value_retain(c->value_in[0]) : sp__onnx_value_tensor(NULL);
    return c->value_out[0] != NULL ? SP_OK : SP_NOMEM;
}

static bool is_there(const sp_onnx_value *v) { return v != NULL && (v->tensor != NULL || v->is_sequence); }

static sp_status optional_has(sp_onnx_call *c)
{
    return give_tensor(c, sp__onnx_scalar(c, SP_DTYPE_BOOL, c->n_in > 0 && is_there(c->value_in[0])));
}

static sp_status optional_get(sp_onnx_call *c)
{
    SP_CHECK(c->n_in > 0 && is_there(c->value_in[0]), SP_VALUE, "the optional value is empty");
    c->value_out[0] = sp__onnx_value_retain(c->value_in[0]);
    return SP_OK;
}

const sp_onnx_handler sp__onnx_control[] = {
    {"If", 1, if_else, NULL, SP_ONNX_VALUES},
    {"Loop", 1, loop_node, NULL, SP_ONNX_VALUES},
    {"Scan", 9, scan, NULL, SP_ONNX_VALUES},
    {"Scan", 8, scan_8, NULL, SP_ONNX_VALUES},
    {"SequenceConstruct", 11, sequence_construct, NULL, SP_ONNX_VALUES},
    {"SequenceEmpty", 11, sequence_empty, NULL, SP_ONNX_VALUES},
    {"SequenceAt", 11, sequence_at, NULL, SP_ONNX_VALUES},
    {"SequenceInsert", 11, sequence_insert, NULL, SP_ONNX_VALUES},
    {"SequenceErase", 11, sequence_erase, NULL, SP_ONNX_VALUES},
    {"SequenceLength", 11, sequence_length, NULL, SP_ONNX_VALUES},
    {"ConcatFromSequence", 11, concat_from_sequence, NULL, SP_ONNX_VALUES},
    {"SplitToSequence", 11, split_to_sequence, NULL, SP_ONNX_VALUES},
    {"SequenceMap", 17, sequence_map, NULL, SP_ONNX_VALUES},
    {"Optional", 15, optional, NULL, SP_ONNX_VALUES},
    {"OptionalHasElement", 15, optional_has, NULL, SP_ONNX_VALUES},
    {"OptionalGetElement", 15, optional_get, NULL, SP_ONNX_VALUES},
    {NULL, 0, NULL, NULL, 0},
};
