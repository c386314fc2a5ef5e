/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - operators on symbols become nodes of the function being recorded.
 *
 * A symbol is a tensor handle that stands for a value. sp_apply treats it like any tensor until it comes to computing; there
 * it calls sp__record instead. So gradients, compositions, promotion and Python all work on symbols without knowing it.
 *
 * Variables: a tensor with SP_TENSOR_PARAMETER or SP_TENSOR_VARIABLE is not a constant but a place. Its first use in a function
 * becomes a READ, whose value serves until something is stored or a function is called. An operator that writes to it
 * gives a new value, which a STORE puts back. Histories keep symbols of the values that were read, not the place, so that
 * a gradient taken after a store still uses what the forward pass has seen.
 *
 * An operator that writes to any other tensor gives that handle a new symbol. These changes are undone when the function ends:
 * a tensor from outside shows its own contents again. */
#include <stdio.h>

#include "base/handle.h"
#include "ir/written.h"
#include "spore/grad.h"

_Thread_local sp_function *sp__recorder;
_Thread_local const sp_place *sp__place;

/* What a handle was before it got another value. */
typedef struct undo {
    sp_tensor *handle;
    sp_storage *storage;
    char *data;
    sp_value *symbol;
} undo;
static _Thread_local undo *undo_log;
static _Thread_local int n_undo, undo_capacity;

/* --- handles that change ----------------------------------------------------------------------------------------- */

static sp_status rebind(sp_tensor *t, sp_value *v)
{
    if (n_undo == undo_capacity) {
        int more = undo_capacity ? 2 * undo_capacity : 16;
        undo *u = sp__realloc(undo_log, (size_t)undo_capacity * sizeof *u, (size_t)more * sizeof *u);
        if (!u) return SP_NOMEM;
        undo_log = u;
        undo_capacity = more;
    }
    /* The log takes over the references of the handle. */
    undo_log[n_undo++] = (undo){sp_tensor_retain(t), t->storage, t->data, t->symbol};
    sp__symbol_hook(v, 1);
    t->symbol = v;
    t->storage = NULL;
    t->data = NULL;
    return SP_OK;
}

static void undo_to(int n)
{
    while (n_undo > n) {
        undo u = undo_log[--n_undo];
        if (u.handle->node) sp__grad_node_release_hook(u.handle->node);
        u.handle->node = NULL;
        sp__symbol_hook(u.handle->symbol, -1);
        u.handle->symbol = u.symbol;
        u.handle->storage = u.storage;
        u.handle->data = u.data;
        sp_tensor_release(u.handle);
    }
    if (n == 0) {
        sp__free(undo_log);
        undo_log = NULL;
        undo_capacity = 0;
    }
}

sp_tensor *sp__function_written(const sp_function *f, int i)
{
    for (int k = f->undo_start; k < n_undo; k++) {
        const sp_value *before = undo_log[k].symbol;
        if ((!before || before->owner != f) && i-- == 0) return undo_log[k].handle;
    }
    return NULL;
}

sp_status sp__symbol_rebind(sp_tensor *t, sp_tensor *value)
{
    sp_value *v;
    SP_TRY(sp__value_of(sp__recorder, value, &v));
    return rebind(t, v);
}

sp_mark sp__function_mark(const sp_function *f) { return (sp_mark){f->last, n_undo}; }

void sp__function_rollback(sp_function *f, sp_mark mark)
{
    while (f->last && f->last != mark.last) sp__node_remove(f->last);
    undo_to(mark.n_undo);
    f->n_current = 0;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

bool sp_tensor_is_symbol(const sp_tensor *t) { return t && t->symbol != NULL; }
void sp_graph_variable_mark(sp_tensor *t)
{
    if (t) t->flags |= SP_TENSOR_VARIABLE;
}

bool sp__is_variable(const sp_tensor *t)
{
    return !t->symbol && t->flags & (SP_TENSOR_PARAMETER | SP_TENSOR_VARIABLE) && t->storage;
}

sp_status sp__symbol_create(sp_value *v, sp_tensor **out)
{
    const int64_t *dims = v->meta.dims;
    SP_TRY(sp__tensor_handle(v->meta.dtype, v->meta.rank, dims, NULL, NULL, NULL, out));
    if (v->weak) (*out)->flags |= SP_TENSOR_WEAK;
    sp__tensor_set_symbol(*out, v);
    return SP_OK;
}

/* The value that holds a variable's contents at this point of f; NULL when none does. */
static sp_value *current_of(const sp_function *f, const sp_variable *variable)
{
    return variable->id < f->n_current ? f->current[variable->id] : NULL;
}

static sp_status set_current(sp_function *f, sp_variable *variable, sp_value *value)
{
    if (variable->id >= f->current_capacity) {
        const int more = variable->id + 1 < 16 ? 16 : 2 * (variable->id + 1);
        sp_value **bigger =
            sp__realloc(f->current, (size_t)f->current_capacity * sizeof *bigger, (size_t)more * sizeof *bigger);
        if (!bigger) return SP_NOMEM;
        f->current = bigger;
        f->current_capacity = more;
    }
    while (f->n_current <= variable->id) f->current[f->n_current++] = NULL;
    f->current[variable->id] = value;
    return SP_OK;
}

static sp_status read_variable(sp_function *f, sp_tensor *t, sp_value **out)
{
    sp_variable *variable = sp__graph_variable(f->graph, t);
    if (!variable) return SP_NOMEM;
    *out = current_of(f, variable);
    if (*out) return SP_OK;
    sp_node *n = sp__node_append(f, SP_NODE_READ, 0, NULL, 1);
    if (!n) return SP_NOMEM;
    n->variable = variable;
    sp__meta_of(t, &n->out[0]->meta);
    if (t->flags & SP_TENSOR_SPLIT && sp__whole_meta_hook) sp__whole_meta_hook(t, &n->out[0]->meta);
    *out = n->out[0];
    return set_current(f, variable, *out);
}

static sp_status store_variable(sp_function *f, sp_tensor *t, sp_value *value)
{
    sp_variable *variable = sp__graph_variable(f->graph, t);
    sp_node *n = variable ? sp__node_append(f, SP_NODE_STORE, 1, &value, 0) : NULL;
    if (!n) return SP_NOMEM;
    n->variable = variable;
    variable->written = true;
    return set_current(f, variable, value);
}

sp_status sp__value_of(sp_function *f, sp_tensor *t, sp_value **out)
{
    if (t->symbol) {
        SP_CHECK(t->symbol->owner->graph == f->graph, SP_RUNTIME,
                 "a Tensor of one function that was being compiled is used in another one");
        *out = t->symbol;
        return f->keeps_outside && t->symbol->owner != f ? sp__function_note_outside(f, *out, t) : SP_OK;
    }
    if (sp__is_variable(t)) return read_variable(f, t, out);
    *out = sp__value_constant(f, t);
    if (!*out) return SP_NOMEM;
    return f->keeps_outside ? sp__function_note_outside(f, *out, t) : SP_OK;
}

sp_status sp__constant_symbol(sp_tensor *t, sp_tensor **out)
{
    sp_value *v = sp__value_constant(sp__recorder, t);
    return v ? sp__symbol_create(v, out) : SP_NOMEM;
}

sp_status sp__record_read(sp_tensor *t, sp_tensor **symbol)
{
    *symbol = NULL;
    if (!sp__is_variable(t)) return SP_OK;
    sp_value *v;
    SP_TRY(read_variable(sp__recorder, t, &v));
    SP_TRY(sp__symbol_create(v, symbol));
    (*symbol)->flags |= t->flags & SP_TENSOR_PARAMETER;
    return SP_OK;
}

/* --- operators --------------------------------------------------------------------------------------------------- */

bool sp__must_record(const sp_call *c)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i] && c->in[i]->symbol) return true;
    return c->n_in == 0 && sp__recorder->graph->keeps_sources;
}

static sp_status values_of(sp_function *f, int n, sp_tensor *const *t, sp_value **out)
{
    for (int i = 0; i < n; i++) {
        out[i] = NULL;
        if (t[i]) SP_TRY(sp__value_of(f, t[i], &out[i]));
    }
    return SP_OK;
}

/* Handles written in place keep being what the caller holds: a variable is stored to, another one gets a new value. */
static sp_status give_back_written(sp_call *c, sp_tensor *const *originals, const sp_node *n)
{
    int k = 0;
    for (int i = 0; i < c->n_in; i++) {
        if (!(c->op->writes >> i & 1)) continue;
        sp_tensor *t = originals[i];
        if (sp__is_variable(t)) SP_TRY(store_variable(sp__recorder, t, n->out[k]));
        else SP_TRY(rebind(t, n->out[k]));
        c->out[k++] = sp_tensor_retain(t);
    }
    return SP_OK;
}

sp_status sp__record(sp_call *c, sp_tensor *const *originals)
{
    sp_value *few[SP_IN_MAX], **in = few;
    sp_node *n = NULL;
    sp_status status;
    if (c->n_in > SP_IN_MAX && !(in = sp__alloc((size_t)c->n_in * sizeof *in))) return SP_NOMEM;
    SP_GOTO(done, values_of(sp__recorder, c->n_in, c->in, in));
    SP_GOTO(done, sp__node_op(sp__recorder, NULL, c->op, c->attrs, c->n_in, in, &n));
    if (c->op->writes) {
        status = give_back_written(c, originals, n);
        goto done;
    }
    for (int i = 0; i < c->n_out; i++) SP_GOTO(done, sp__symbol_create(n->out[i], &c->out[i]));
done:
    if (in != few) sp__free(in);
    return status;
}

sp_status sp__record_source(const sp_op *op, const void *attrs, sp_tensor **out)
{
    sp_node *n;
    SP_TRY(sp__node_op(sp__recorder, NULL, op, attrs, 0, NULL, &n));
    return sp__symbol_create(n->out[0], out);
}

/* --- functions --------------------------------------------------------------------------------------------------- */

sp_function *sp_function_recording(void) { return sp__recorder; }

/* What cannot be a dtype or a rank; sizes below 0 are free, a function has no dtype. */
sp_status sp__specs_check(const char *what, int n, const sp_spec *specs)
{
    for (int i = 0; i < n; i++) {
        SP_CHECK(specs[i].rank >= -1 && specs[i].rank <= SP_RANK_MAX, SP_VALUE,
                 "%s %d has rank %d, it must be in [0, %d]", what, i, specs[i].rank, SP_RANK_MAX);
        SP_CHECK((int)specs[i].dtype >= SP_DTYPE_NONE && (int)specs[i].dtype < SP_DTYPE_COUNT, SP_TYPE,
                 "%s %d has dtype %d, which there is not", what, i, (int)specs[i].dtype);
    }
    return SP_OK;
}

sp_status sp_function_begin(sp_graph *g, const char *name, int n_params, const sp_spec *specs, sp_function **out,
                            sp_tensor **params)
{
    SP_HANDLE(g);
    SP_CHECK(!sp__recorder || sp__recorder->graph == g, SP_RUNTIME,
             "a function of another graph is being recorded on this thread");
    SP_TRY(sp__specs_check("parameter", n_params, specs));
    sp_function *f = sp__function_create(g, sp__recorder, name);
    if (!f) return SP_NOMEM;
    int made = 0;
    sp_status status = SP_OK;
    for (; made < n_params; made++) {
        sp_value *v = sp__function_add_param(f, &specs[made], false);
        status = v ? sp__symbol_create(v, &params[made]) : SP_NOMEM;
        if (status != SP_OK) {
            while (made > 0) sp_tensor_release(params[--made]);
            return status;
        }
    }
    f->outer = sp__recorder;
    f->undo_start = n_undo;
    sp__recorder = f;
    *out = f;
    return SP_OK;
}

static void stop_recording(sp_function *f)
{
    undo_to(f->undo_start);
    sp__free(f->current);
    f->current = NULL;
    f->n_current = f->current_capacity = 0;
    sp__recorder = f->outer;
}

void sp_function_abandon(sp_function *f)
{
    if (!f) return;
    sp__function_forget_outside(f);
    if (f->finished) return;
    while (sp__recorder && sp__recorder != f) stop_recording(sp__recorder);
    if (sp__recorder) stop_recording(f);
    f->finished = true;
    f->n_results = 0;
    f->tail = NULL;
    while (f->last) sp__node_remove(f->last);
}

static sp_status check_innermost(const sp_function *f)
{
    SP_CHECK(sp__recorder == f && !f->finished, SP_RUNTIME, "function %s is not the one being recorded on this thread",
             f->name);
    return SP_OK;
}

sp_status sp_function_end(sp_function *f, int n_results, sp_tensor *const *results)
{
    SP_HANDLE(f);
    SP_TRY(check_innermost(f));
    for (int i = 0; i < n_results; i++)
        SP_CHECK(results[i], SP_VALUE,
                 "result %d of function %s is NULL: the expression that should have made it has failed", i, f->name);
    f->results = sp__arena_alloc(&f->graph->arena, (size_t)(n_results ? n_results : 1) * sizeof *f->results);
    if (!f->results) return SP_NOMEM;
    SP_TRY(values_of(f, n_results, results, f->results));
    f->n_results = n_results;
    f->finished = true;
    stop_recording(f);
    return SP_OK;
}

/* A call node over tensors; the callee must stand for a function. */
static sp_status call_node(sp_function *f, sp_node_kind kind, sp_tensor *callee, int n_args, sp_tensor *const *args,
                           int n_out, sp_node **out)
{
    SP_CHECK(f, SP_RUNTIME, "functions are called while a function is being recorded, but none is on this thread");
    SP_CHECK(callee && callee->symbol && callee->symbol->is_function, SP_TYPE,
             "what is called is not a function value");
    sp_value *few[SP_IN_MAX], **in = few;
    if (n_args + 1 > SP_IN_MAX && !(in = sp__alloc((size_t)(n_args + 1) * sizeof *in))) return SP_NOMEM;
    in[0] = callee->symbol;
    sp_status status = values_of(f, n_args, args, in + 1);
    if (status == SP_OK && !(*out = sp__node_append(f, kind, n_args + 1, in, n_out))) status = SP_NOMEM;
    if (in != few) sp__free(in);
    return status;
}

sp_status sp_function_end_call(sp_function *f, sp_tensor *callee, int n_args, sp_tensor *const *args)
{
    SP_HANDLE(f);
    SP_HANDLE(callee);
    SP_TRY(check_innermost(f));
    SP_TRY(call_node(f, SP_NODE_CALL, callee, n_args, args, 0, &f->tail));
    f->finished = true;
    stop_recording(f);
    return SP_OK;
}

/* A symbol that holds a function. */
static sp_status function_symbol(sp_value *v, sp_tensor **out)
{
    v->is_function = true;
    v->meta = (sp_meta){.dtype = SP_DTYPE_BOOL};
    return sp__symbol_create(v, out);
}

sp_status sp_function_value(sp_function *f, sp_tensor **out)
{
    SP_HANDLE(f);
    sp_value *v = sp__value_function(f, f);
    return v ? function_symbol(v, out) : SP_NOMEM;
}

/* Results of what a value may hold; -1: cannot be told. `depth` ends the search in a function that only calls itself. */
static int callee_metas(const sp_value *callee, int max, sp_meta *metas, int depth)
{
    if (depth > 100) return -1;
    if (callee->origin == SP_VALUE_FUNCTION) {
        const sp_function *f = callee->target;
        if (!f->finished) return -1;
        if (f->tail) return callee_metas(f->tail->in[0], max, metas, depth + 1);
        for (int i = 0; i < f->n_results && i < max; i++) metas[i] = f->results[i]->meta;
        return f->n_results;
    }
    if (callee->origin != SP_VALUE_NODE) return -1;
    const sp_node *n = callee->node;
    if (n->kind == SP_NODE_PARTIAL) return callee_metas(n->in[0], max, metas, depth + 1);
    if (n->kind != SP_NODE_SWITCH) return -1;
    int found = callee_metas(n->in[1], max, metas, depth + 1);
    return found >= 0 ? found : callee_metas(n->in[2], max, metas, depth + 1);
}

int sp__function_metas(const sp_function *f, int max, sp_meta *metas)
{
    const sp_value v = {.origin = SP_VALUE_FUNCTION, .target = (sp_function *)(uintptr_t)f};
    return callee_metas(&v, max, metas, 0);
}

/* A gradient that is recorded operator by operator does not see what happens inside a call. */
static const char called[] = "the call of a function inside the graph (sp_function_grad differentiates the whole)";

sp_status sp_function_call(sp_tensor *callee, int n_args, sp_tensor *const *args, int n_out, const sp_spec *specs,
                           sp_tensor **out)
{
    sp_meta few[SP_OUT_MAX], *metas = few;
    sp_node *n = NULL;
    sp_status status = SP_OK;
    int made = 0;
    if (specs) SP_TRY(sp__specs_check("result", n_out, specs));
    if (!specs) {
        if (n_out > SP_OUT_MAX && !(metas = sp__alloc((size_t)n_out * sizeof *metas))) return SP_NOMEM;
        int found = callee && callee->symbol ? callee_metas(callee->symbol, n_out, metas, 0) : -1;
        if (found != n_out) {
            status = found < 0 ? sp__fail(SP_RUNTIME,
                                          "the results of the function that is called are not known yet: give their "
                                          "dtypes and shapes")
                               : sp__fail(SP_VALUE, "the function that is called has %d results, but %d are asked for",
                                          found, n_out);
            goto done;
        }
        specs = metas;
    }
    SP_GOTO(done, call_node(sp__recorder, SP_NODE_CALL, callee, n_args, args, n_out, &n));
    sp__recorder->n_current = 0; /* what was called may have stored to variables */
    for (; made < n_out; made++) {
        n->out[made]->meta = specs[made];
        SP_GOTO(done, sp__symbol_create(n->out[made], &out[made]));
    }
    status = sp_grad_opaque(called, n_args, args, n_out, out);
done:
    if (status != SP_OK)
        while (made > 0) sp_tensor_release(out[--made]);
    if (metas != few) sp__free(metas);
    return status;
}

sp_status sp_function_partial(sp_tensor *callee, int n_args, sp_tensor *const *args, sp_tensor **out)
{
    sp_node *n = NULL;
    SP_TRY(call_node(sp__recorder, SP_NODE_PARTIAL, callee, n_args, args, 1, &n));
    return function_symbol(n->out[0], out);
}

sp_status sp_function_switch(sp_tensor *cond, sp_tensor *yes, sp_tensor *no, sp_tensor **out)
{
    SP_CHECK(sp__recorder, SP_RUNTIME,
             "functions are chosen while a function is being recorded, but none is on this thread");
    SP_CHECK(yes && yes->symbol && yes->symbol->is_function && no && no->symbol && no->symbol->is_function, SP_TYPE,
             "what is chosen between must be functions");
    SP_CHECK(cond, SP_VALUE, "the tensor is NULL: an expression that should have made it has failed");
    SP_CHECK(cond->count == 1 || cond->count == -1, SP_VALUE,
             "the truth value of an array with more than one element is ambiguous: the condition has %lld elements",
             (long long)cond->count);
    sp_tensor *inputs[3] = {cond, yes, no};
    sp_value *in[3];
    SP_TRY(values_of(sp__recorder, 3, inputs, in));
    sp_node *n = sp__node_append(sp__recorder, SP_NODE_SWITCH, 3, in, 1);
    return n ? function_symbol(n->out[0], out) : SP_NOMEM;
}

sp_status sp_function_if(sp_tensor *cond, sp_function *yes, sp_function *no, int n_args, sp_tensor *const *args,
                         int n_out, sp_tensor **out)
{
    SP_HANDLE(cond);
    SP_HANDLE(yes);
    SP_HANDLE(no);
    sp_tensor *a = NULL, *b = NULL, *chosen = NULL;
    sp_status status;
    SP_GOTO(done, sp_function_value(yes, &a));
    SP_GOTO(done, sp_function_value(no, &b));
    SP_GOTO(done, sp_function_switch(cond, a, b, &chosen));
    status = sp_function_call(chosen, n_args, args, n_out, NULL, out);
done:
    sp_tensor_release(a);
    sp_tensor_release(b);
    sp_tensor_release(chosen);
    return status;
}

/* head(state): test(state) ? turn(state) : leave(state); turn calls body, then head, as tail calls. */
sp_status sp_function_while(sp_function *test, sp_function *body, int n, sp_tensor *const *state, sp_tensor **out)
{
    SP_CHECK(sp__recorder, SP_RUNTIME, "a loop is made while a function is being recorded, but none is on this thread");
    sp_function *fs[3] = {NULL}; /* head, turn, leave */
    static const char *const names[3] = {"loop", "turn", "leave"};
    size_t count = (size_t)(n ? n : 1);
    sp_spec *specs = sp__alloc(count * sizeof *specs);
    sp_tensor **params = sp__alloc_zero(2 * count * sizeof *params), **next = params ? params + count : NULL;
    sp_tensor *values[5] = {NULL}; /* of head, turn, leave, test or body, the choice */
    sp_tensor *go = NULL;
    sp_status status = specs && params ? SP_OK : SP_NOMEM;
    for (int i = 0; status == SP_OK && i < n; i++) sp__meta_of(state[i], &specs[i]);
    sp_graph *g = sp__recorder->graph;
    for (int i = 0; status == SP_OK && i < 3; i++) {
        fs[i] = sp__function_create(g, sp__recorder, names[i]);
        status = fs[i] ? sp_function_value(fs[i], &values[i]) : SP_NOMEM;
    }
    for (int i = 0; status == SP_OK && i < 3; i++) {
        sp_function *f = fs[i];
        for (int k = 0; status == SP_OK && k < n; k++) {
            sp_value *v = sp__function_add_param(f, &specs[k], false);
            status = v ? sp__symbol_create(v, &params[k]) : SP_NOMEM;
        }
        if (status != SP_OK) break;
        f->outer = sp__recorder;
        f->undo_start = n_undo;
        sp__recorder = f;
        if (i < 2) {
            sp_tensor_release(values[3]);
            values[3] = NULL;
            status = sp_function_value(i == 0 ? test : body, &values[3]);
        }
        if (status == SP_OK && i == 0) {
            status = sp_function_call(values[3], n, params, 1, NULL, &go);
            if (status == SP_OK) status = sp_function_switch(go, values[1], values[2], &values[4]);
            if (status == SP_OK) status = sp_function_end_call(f, values[4], n, params);
        } else if (status == SP_OK && i == 1) {
            status = sp_function_call(values[3], n, params, n, NULL, next);
            if (status == SP_OK) status = sp_function_end_call(f, values[0], n, next);
        } else if (status == SP_OK) {
            status = sp_function_end(f, n, params);
        }
        if (status != SP_OK) sp_function_abandon(f);
        for (int k = 0; k < 2 * n; k++) {
            sp_tensor_release(params[k]);
            params[k] = NULL;
        }
    }
    if (status == SP_OK) status = sp_function_call(values[0], n, state, n, specs, out);
    for (int i = 0; i < 5; i++) sp_tensor_release(values[i]);
    for (size_t k = 0; params && k < 2 * count; k++) sp_tensor_release(params[k]);
    sp_tensor_release(go);
    sp__free(params);
    sp__free(specs);
    return status;
}

sp_status sp__function_grad(sp_function *callee, int n_args, sp_tensor *const *args, const sp_grad_spec *spec,
                            sp_tensor **out)
{
    sp_function *f = sp__recorder;
    int n_out = spec->n_results + spec->n_positions + spec->n_variables, made = 0;
    sp_tensor *value = NULL;
    sp_node *n = NULL;
    sp_status status;
    sp_meta *metas = sp__alloc((size_t)(spec->n_results + 1) * sizeof *metas);
    if (!metas) return SP_NOMEM;
    int found = sp__function_metas(callee, spec->n_results, metas);
    if (found != spec->n_results) {
        status = sp__fail(SP_RUNTIME, "the function to differentiate has %d results, but %d are asked for", found,
                          spec->n_results);
        goto done;
    }
    SP_GOTO(done, sp_function_value(callee, &value));
    SP_GOTO(done, call_node(f, SP_NODE_GRAD, value, n_args, args, n_out, &n));
    f->n_current = 0;
    sp_grad_spec *kept = sp__arena_alloc(&f->graph->arena, sizeof *kept);
    int *positions = sp__arena_alloc(&f->graph->arena, (size_t)(spec->n_positions + 1) * sizeof *positions);
    sp_variable **variables = sp__arena_alloc(&f->graph->arena, (size_t)(spec->n_variables + 1) * sizeof *variables);
    if (!kept || !positions || !variables) {
        status = SP_NOMEM;
        goto done;
    }
    for (int i = 0; i < spec->n_positions; i++) positions[i] = spec->positions[i];
    for (int i = 0; i < spec->n_variables; i++) variables[i] = spec->variables[i];
    *kept = *spec;
    kept->positions = positions;
    kept->variables = variables;
    n->grad = kept;
    for (; made < n_out; made++) {
        sp_meta *m = &n->out[made]->meta;
        int k = made - spec->n_results;
        if (k < 0) *m = metas[made];
        else if (k < spec->n_positions) sp__meta_of(args[positions[k]], m);
        else sp__meta_of(variables[k - spec->n_positions]->tensor, m);
        SP_GOTO(done, sp__symbol_create(n->out[made], &out[made]));
    }
    status = sp_grad_opaque(called, n_args, args, n_out, out);
done:
    if (status != SP_OK)
        while (made > 0) sp_tensor_release(out[--made]);
    sp_tensor_release(value);
    sp__free(metas);
    return status;
}

static sp_status differentiate(bool strict, sp_function *callee, int n_args, sp_tensor *const *args, int n_positions,
                               const int *positions, sp_tensor **out)
{
    sp_meta metas[SP_OUT_MAX];
    int n = sp__function_metas(callee, SP_OUT_MAX, metas);
    SP_CHECK(n >= 0, SP_RUNTIME, "the results of function %s are not known yet", callee->name);
    for (int i = 0; i < n_positions; i++)
        SP_CHECK(positions[i] >= 0 && positions[i] < n_args, SP_VALUE,
                 "position %d is out of range, the function gets %d arguments", positions[i], n_args);
    const sp_grad_spec spec = {
        .n_results = n, .n_differentiated = -1, .n_positions = n_positions, .positions = positions, .strict = strict};
    return sp__function_grad(callee, n_args, args, &spec, out);
}

sp_status sp_function_grad(sp_function *callee, int n_args, sp_tensor *const *args, int n_positions,
                           const int *positions, sp_tensor **out)
{
    SP_HANDLE(callee);
    return differentiate(true, callee, n_args, args, n_positions, positions, out);
}

sp_status sp_function_grad_allow_unused(sp_function *callee, int n_args, sp_tensor *const *args, int n_positions,
                                        const int *positions, sp_tensor **out)
{
    SP_HANDLE(callee);
    return differentiate(false, callee, n_args, args, n_positions, positions, out);
}

sp_status sp_function_host(const char *name, sp_host_fn run, void (*release)(void *context), void *context, int n_in,
                           sp_tensor *const *in, int n_out, const sp_spec *specs, sp_tensor **out)
{
    return sp__function_host(name, run, release, context, false, n_in, in, n_out, specs, out);
}

sp_status sp__host_opaque(const sp_host *host, int n_in, sp_tensor *const *in, int n_out, sp_tensor *const *out)
{
    char what[160];
    snprintf(what, sizeof what, "the host function '%s'", host->name);
    return sp_grad_opaque(what, n_in, in, n_out, out);
}

sp_status sp__function_host(const char *name, sp_host_fn run, void (*release)(void *context), void *context, bool pure,
                            int n_in, sp_tensor *const *in, int n_out, const sp_spec *specs, sp_tensor **out)
{
    sp_function *f = sp__recorder;
    SP_CHECK(f, SP_RUNTIME, "code outside the graph is put into a function being recorded, but none is on this thread");
    SP_TRY(sp__specs_check("result", n_out, specs));
    sp_value *few[SP_IN_MAX], **values = few;
    sp_host *host = NULL;
    sp_node *n = NULL;
    int made = 0;
    sp_status status = SP_OK;
    if (n_in > SP_IN_MAX && !(values = sp__alloc((size_t)n_in * sizeof *values))) return SP_NOMEM;
    SP_GOTO(done, values_of(f, n_in, in, values));
    n = sp__node_append(f, SP_NODE_HOST, n_in, values, n_out);
    const char *text = sp__arena_text(&f->graph->arena, name);
    host = sp__alloc_zero(sizeof *host);
    if (!n || !text || !host) {
        sp__free(host);
        host = NULL;
        status = SP_NOMEM;
        goto done;
    }
    /* The context is taken over with the last step that can fail, so that a failure leaves it to the caller. */
    *host = (sp_host){.name = text, .run = run, .context = context, .pure = pure};
    atomic_init(&host->refs, 1);
    for (; made < n_out; made++) {
        n->out[made]->meta = specs[made];
        SP_GOTO(done, sp__symbol_create(n->out[made], &out[made]));
    }
    SP_GOTO(done, sp__host_opaque(host, n_in, in, n_out, out));
    SP_GOTO(done, sp__node_set_host(n, host));
    host->release = release;
done:
    if (status != SP_OK)
        while (made > 0) sp_tensor_release(out[--made]);
    sp__host_release(host);
    if (values != few) sp__free(values);
    return status;
}
