/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_graph.c - a recorded function as the nodes of an ONNX graph.
 *
 * ONNX has no functions as values, so the function is run on values of the model being written: calls are followed, a choice between
 * functions becomes an If, and a function that leads back to itself a Loop. Its body gives the arguments of the next turn or, when it
 * does not lead back, the results:
 *
 *     go, state, results = Loop(body, true, state, nothing)
 *     body(go, state, results): ... If(c): (true, next state, results) else: (false, state, found)
 *
 * Sizes that are free at run time are known by a second recording with other sizes: its nodes are walked beside the first one's,
 * and what differs depends on the free sizes. */
#include "formats/onnx/onnx_out_graph.h"

#include <stdio.h>
#include <string.h>

#include "formats/model_impl.h"
#include "formats/twins.h"
#include "ops/ops_impl.h"

/* A value of the recorded program, known here: a value of the model, a function with bound arguments, or a choice of these. */
typedef struct known {
    enum { VALUE, CLOSURE, CHOICE } kind;
    sp_onnx_id v; /* VALUE; CHOICE: the condition */
    sp_function *fn;
    int n;
    struct known **bound;
    struct known *yes, *no;
} known;

typedef struct loop {
    sp_function *fn;
    int n_state, n_results;
    sp_onnx_id *state, *results; /* of the turn being written */
    struct loop *outer;
} loop;

typedef struct sp_onnx_out_walk {
    sp_onnx_out *o;
    sp_function *entry;
    sp_onnx_id *variables; /* by id */
    loop *loops;           /* being written, the innermost first */
    sp_onnx_id holds;      /* conditions that must hold of the function being written, 0: none */
} walk;

static void run_function(walk *w, sp_function *fn, int n, known *const *args, int n_out, sp_onnx_id *out);

static void *alloc(walk *w, size_t bytes)
{
    void *p = sp__arena_alloc(&w->o->arena, bytes + 1);
    return p ? p : sp__onnx_out_fail(w->o, SP_NOMEM);
}

static known *known_value(walk *w, sp_onnx_id v)
{
    known *k = alloc(w, sizeof *k);
    if (k) *k = (known){.kind = VALUE, .v = v};
    return k;
}

static sp_onnx_id declined(walk *w, const char *what)
{
    sp__onnx_out_fail(w->o, sp__fail(SP_DECLINED, "%s has no counterpart in ONNX", what));
    return 0;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

static known *find(walk *w, sp_value *v)
{
    if (v->origin == SP_VALUE_FUNCTION) {
        known *k = alloc(w, sizeof *k);
        if (k) *k = (known){.kind = CLOSURE, .fn = v->target};
        return k;
    }
    if (v->origin == SP_VALUE_CONSTANT && !v->mark)
        v->mark = known_value(w, sp__onnx_out_take_tensor(w->o, sp_tensor_retain(v->constant), NULL));
    if (!v->mark) sp__onnx_out_fail(w->o, sp__fail(SP_RUNTIME, "value %%%d is used before it is made", v->id));
    return v->mark;
}

/* Operand i is a constant that is another one with other sizes of the inputs. */
static bool varies(const sp_onnx_out *o, int i)
{
    const sp_node *t = o->node->mark;
    const sp_value *x = o->node->in[i];
    if (!x || x->origin != SP_VALUE_CONSTANT) return false;
    for (int k = 1; k < o->sizes.n; k++, t = t->mark)
        if (!sp__constant_equal(x, t->in[i])) return true;
    return false;
}

/* Then it is one number, spread, or counts, or is itself a size. */
static sp_onnx_id varying_constant(sp_onnx_out *o, int i)
{
    sp_tensor *one;
    const sp_value *x = o->node->in[i];
    const int rank = x->meta.rank;
    int64_t at[SP_RANK_MAX + 1][SP_TRIALS_MAX], start, step;
    const int64_t none[SP_RANK_MAX] = {0};
    if (sp__constant_numbers(&o->sizes, o->node, i, at[0])) {
        sp_onnx_id number = sp__onnx_out_cast(o, sp__onnx_out_size(o, at[0]), x->meta.dtype);
        return sp__onnx_out_reshape(o, number, rank, x->meta.dims);
    }
    if (x->constant->count == 1) {
        sp__onnx_out_fail(
            o, sp__fail(
                   SP_DECLINED,
                   "%s takes a number that depends on sizes that are free in the file, in a way that cannot be written",
                   o->node->op->name));
        return 0;
    }
    for (int k = 0; k < rank; k++) sp__sizes_operand(&o->sizes, o->node, i, k, at[k]);
    sp_onnx_id shape = sp__onnx_out_size_list(o, rank, at);
    if (sp__constant_counts(x->constant, &start, &step)) {
        const sp_node *t = o->node;
        for (int k = 0; k < o->sizes.n; k++, t = t->mark) at[rank][k] = t->in[i]->constant->count;
        sp_onnx_id count = sp__onnx_out_reshape(o, sp__onnx_out_size(o, at[rank]), 0, none);
        sp_onnx_id from = sp__onnx_out_whole(o, SP_DTYPE_I64, start), by = sp__onnx_out_whole(o, SP_DTYPE_I64, step);
        return SP_ONNX_OUT(
            o, "Reshape", NULL,
            SP_ONNX_OUT(o, "Range", NULL, from, sp__onnx_out_add(o, from, sp__onnx_out_mul(o, count, by)), by), shape);
    }
    sp_status status = sp_tensor_create_from((sp_dtype)x->constant->dtype, 0, none, x->constant->data, &one);
    if (status != SP_OK) return sp__onnx_out_fail(o, status), 0;
    return SP_ONNX_OUT(o, "Expand", NULL, sp__onnx_out_take_tensor(o, one, NULL), shape);
}

static sp_onnx_id find_tensor(walk *w, sp_value *v)
{
    if (!v) return 0;
    const known *k = find(w, v);
    if (k && k->kind != VALUE) return declined(w, "a function as an operand");
    return k ? k->v : 0;
}

static sp_onnx_id find_variable(walk *w, const sp_variable *v)
{
    const sp_model_names *names = w->o->names;
    for (int i = 0; i < names->n_parameters && !w->variables[v->id]; i++) {
        if (names->parameters[i] != v->tensor) continue;
        w->variables[v->id] = sp__onnx_out_take_tensor(w->o, sp_tensor_retain(v->tensor), names->parameter_names[i]);
        if (w->variables[v->id]) w->o->values[w->variables[v->id]].is_parameter = true;
    }
    if (!w->variables[v->id]) return declined(w, "a Parameter that the network does not list");
    return w->variables[v->id];
}

/* --- operators --------------------------------------------------------------------------------------------------- */

static bool is_plain(const sp_op *op)
{
    return op->onnx && !op->n_attrs && op->n_out >= 0 && !op->writes && !strpbrk(op->onnx, "( ");
}

static bool is_written(const sp_node *n, int opset)
{
    return sp__onnx_out_rule(n, opset) || (is_plain(n->op) && !sp__onnx_out_touches_complex(n));
}

sp_onnx_id sp__onnx_out_find(sp_onnx_out *o, sp_value *v) { return find_tensor(o->walk, v); }

/* Up to the last '.' or '/'. */
static const char *parent(walk *w, const char *name)
{
    char *kept = sp__arena_text(&w->o->arena, name), *end = kept ? strrchr(kept, '/') : NULL;
    if (!kept) return "";
    for (char *p = kept; *p; p++)
        if (*p == '.') *p = '/', end = p;
    *(end ? end : kept) = '\0';
    return kept;
}

/* The layer a node belongs to: that of its weights; without any, the one around the layer it takes its operands from. */
static void set_scope(walk *w, int n_in)
{
    sp_onnx_out *o = w->o;
    o->has_weights = false;
    for (int i = 0; i < n_in && i < 64; i++)
        if (o->in[i] && o->values[o->in[i]].is_parameter) {
            o->scope = parent(w, o->values[o->in[i]].name);
            o->has_weights = true;
            return;
        }
    o->scope = "";
    for (int i = 0; i < n_in && i < 64; i++) {
        const sp_onnx_out_value *v = o->in[i] ? &o->values[o->in[i]] : NULL;
        if (!v || !v->scope || v->constant) continue;
        o->scope = v->has_weights ? parent(w, v->scope) : v->scope;
        return;
    }
}

/* Attributes that rules write as they follow from sizes. */
static const char *open_attrs(const sp_op *op)
{
    static const struct {
        const sp_op *op;
        const char *attrs;
    } written[] = {{&sp_op_reshape, " shape "},
                   {&sp_op_broadcast_to, " shape "},
                   {&sp_op_full, " shape value "},
                   {&sp_op_arange, " start end step "},
                   {&sp_op_slice, " start stop "},
                   {&sp_op_slice_put, " start stop "},
                   {&sp_op_resample_axis, " in_size out_size "},
                   {&sp_op_conv1d_input_grad, " input_size "},
                   {&sp_op_conv2d_input_grad, " input_size "},
                   {&sp_op_conv3d_input_grad, " input_size "}};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (op == written[i].op) return written[i].attrs;
    return "";
}

/* Is operand i a frame that is not written by itself? */
static bool is_hidden_frame(const sp_onnx_out *o, const sp_node *n, int i)
{
    const sp_value *v = n->in[i];
    return o->other && i == 0 && n->op == &sp_op_slice_put && v->origin == SP_VALUE_NODE &&
           sp__sizes_only_frames(&o->sizes, v->node);
}

static void write_op(walk *w, const sp_node *n)
{
    sp_onnx_out *o = w->o;
    const sp_onnx_out_rule *rule = sp__onnx_out_rule(n, o->opset);
    o->node = n;
    o->other = n->mark;
    if (n->n_in > 64 || n->n_out > 64) {
        o->more_in = alloc(w, (size_t)n->n_in * sizeof *o->more_in);
        for (int i = 0; o->more_in && i < n->n_in; i++) o->more_in[i] = find_tensor(w, n->in[i]);
    }
    for (int i = 0; i < n->n_in && i < 64; i++)
        o->in[i] = n->in[i] && !is_hidden_frame(o, n, i) ? find_tensor(w, n->in[i]) : 0;
    o->sizes.n_sources = 0;
    if (o->other && sp__sizes_only_frames(&o->sizes, n)) { /* Pad needs its number alone */
        n->out[0]->mark = NULL;
        return;
    }
    for (int i = 0; i < n->n_in && i < 64 && o->other; i++)
        if (varies(o, i)) o->in[i] = varying_constant(o, i);
    if (o->other) {
        sp_status status = sp__sizes_check_attrs(&o->sizes, n, open_attrs(n->op));
        if (status != SP_OK) sp__onnx_out_fail(o, status);
    }
    for (int i = 0; i < 64; i++) o->out[i] = 0;
    if (!sp__onnx_out_ok(o)) return;
    set_scope(w, n->n_in);
    if (n->n_out > 64) declined(w, "an operator with more than 64 results");
    else if (rule && rule->text) sp__onnx_out_write_text(o, rule->text);
    else if (rule) rule->write(o);
    else if (is_written(n, o->opset)) o->out[0] = sp__onnx_out_op(o, n->op->onnx, n->n_in, o->in, NULL);
    else declined(w, n->op->name);
    if (!sp__onnx_out_ok(o)) return;
    for (int i = 0; i < n->n_out; i++) {
        sp_onnx_id v = o->out[i] ? sp__onnx_out_cast(o, o->out[i], n->out[i]->meta.dtype) : 0;
        n->out[i]->mark = v ? known_value(w, v) : NULL; /* NULL: a result that only gradients use; find() complains */
    }
}

/* --- loops and branches ------------------------------------------------------------------------------------------ */

/* Does f lead to `to` without entering a loop that is being written? */
static bool leads(walk *w, const sp_function *f, const sp_function *to, uint8_t *seen)
{
    for (const sp_node *n = f->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++) {
            const sp_function *t = n->in[i] && n->in[i]->origin == SP_VALUE_FUNCTION ? n->in[i]->target : NULL;
            if (!t) continue;
            if (t == to) return true;
            bool active = seen[t->id];
            for (const loop *l = w->loops; l; l = l->outer) active |= l->fn == t;
            seen[t->id] = 1;
            if (!active && leads(w, t, to, seen)) return true;
        }
    return false;
}

static bool leads_to(walk *w, const sp_function *f, const sp_function *to)
{
    uint8_t *seen = alloc(w, (size_t)f->graph->n_functions + 1);
    return seen && leads(w, f, to, seen);
}

/* Arguments: those bound first. */
static known **join(walk *w, const known *callee, int n, known *const *args)
{
    known **all = alloc(w, (size_t)(callee->n + n) * sizeof *all);
    for (int i = 0; all && i < callee->n + n; i++) all[i] = i < callee->n ? callee->bound[i] : args[i - callee->n];
    return all;
}

static known **call_args(walk *w, const sp_node *call)
{
    known **args = alloc(w, (size_t)call->n_in * sizeof *args);
    for (int i = 1; args && i < call->n_in && sp__onnx_out_ok(w->o); i++) args[i - 1] = find(w, call->in[i]);
    return args;
}

static void run_callee(walk *w, const known *callee, int n, known *const *args, int n_out, sp_onnx_id *out)
{
    sp_onnx_out *o = w->o;
    if (!sp__onnx_out_ok(o)) return;
    if (callee->kind == CLOSURE) {
        known **all = join(w, callee, n, args);
        if (all) run_function(w, callee->fn, callee->n + n, all, n_out, out);
        return;
    }
    if (callee->kind == VALUE) {
        declined(w, "a function that is known at run time only");
        return;
    }
    sp_onnx_out_graph *graphs[2];
    for (int i = 0; i < 2; i++) {
        graphs[i] = sp__onnx_out_begin(o, i ? "else" : "then", 0);
        run_callee(w, i ? callee->no : callee->yes, n, args, n_out, out);
        sp__onnx_out_end(o, graphs[i], n_out, out);
    }
    sp__onnx_out_branch(o, callee->v, graphs[0], graphs[1], n_out, out);
}

/* What fails when it is run: one element more than the shape of the result takes. */
static void write_failure(walk *w, sp_node *n)
{
    sp_onnx_out *o = w->o;
    sp_onnx_id any = find_tensor(w, n->in[0]);
    for (int i = 0; i < n->n_out && sp__onnx_out_ok(o); i++) {
        const sp_meta *m = &n->out[i]->meta;
        int64_t count = 1;
        for (int k = 0; k < m->rank; k++) count *= m->dims[k];
        sp_onnx_id many =
            SP_ONNX_OUT(o, "Expand", NULL, SP_ONNX_OUT_RESHAPE(o, any, 1), SP_ONNX_OUT_INTS(o, count + 1));
        n->out[i]->mark =
            known_value(w, sp__onnx_out_cast(o, sp__onnx_out_reshape(o, many, m->rank, m->dims), m->dtype));
    }
}

/* Conditions that must hold are kept until a result can depend on them. */
static void write_assert(walk *w, const sp_node *n)
{
    sp_onnx_id condition =
        SP_ONNX_OUT_RESHAPE(w->o, sp__onnx_out_cast(w->o, find_tensor(w, n->in[0]), SP_DTYPE_BOOL), 1);
    if (w->loops) declined(w, "a condition that must hold in each turn of a loop");
    w->holds = w->holds ? SP_ONNX_OUT(w->o, "And", NULL, w->holds, condition) : condition;
}

/* x, or a failure: one element more than there is. */
static sp_onnx_id guarded(sp_onnx_out *o, sp_onnx_id condition, sp_onnx_id x)
{
    sp_onnx_id flat = SP_ONNX_OUT_RESHAPE(o, x, -1), count = SP_ONNX_OUT(o, "Shape", NULL, flat);
    sp_onnx_id wanted = sp__onnx_out_where(o, condition, count, sp__onnx_out_add(o, count, SP_ONNX_OUT_INTS(o, 1)));
    return SP_ONNX_OUT(o, "Reshape", NULL, SP_ONNX_OUT(o, "Reshape", NULL, flat, wanted),
                       SP_ONNX_OUT(o, "Shape", NULL, x));
}

static void run_node(walk *w, sp_node *n)
{
    sp_onnx_out *o = w->o;
    known *k;
    int axis;
    switch (n->kind) {
    case SP_NODE_OP: write_op(w, n); break;
    case SP_NODE_READ: n->out[0]->mark = known_value(w, find_variable(w, n->variable)); break;
    case SP_NODE_PARTIAL: {
        const known *callee = find(w, n->in[0]);
        known **args = call_args(w, n);
        if (!callee || !args || !(k = alloc(w, sizeof *k))) return;
        if (callee->kind != CLOSURE) {
            declined(w, "binding arguments of a chosen function");
            return;
        }
        *k = (known){.kind = CLOSURE,
                     .fn = callee->fn,
                     .n = callee->n + n->n_in - 1,
                     .bound = join(w, callee, n->n_in - 1, args)};
        n->out[0]->mark = k;
        break;
    }
    case SP_NODE_SWITCH: {
        sp_onnx_id cond = find_tensor(w, n->in[0]);
        known *yes = find(w, n->in[1]), *no = find(w, n->in[2]);
        if (!sp__onnx_out_ok(o) || !(k = alloc(w, sizeof *k))) return;
        int64_t one = 1; /* a condition has one element, in ONNX Runtime a scalar */
        if (n->in[0]->meta.rank != 0) cond = sp__onnx_out_reshape(o, cond, 0, &one);
        *k = (known){.kind = CHOICE, .v = cond, .yes = yes, .no = no};
        n->out[0]->mark = k;
        break;
    }
    case SP_NODE_CALL: {
        sp_onnx_id *out = alloc(w, (size_t)n->n_out * sizeof *out);
        const known *callee = find(w, n->in[0]);
        known **args = call_args(w, n);
        if (!out || !callee || !args || !n->n_out) return; /* without results it does nothing */
        run_callee(w, callee, n->n_in - 1, args, n->n_out, out);
        for (int i = 0; i < n->n_out; i++) n->out[i]->mark = known_value(w, out[i]);
        break;
    }
    case SP_NODE_STORE: declined(w, "writing to a Parameter (is the network in training mode?)"); break;
    case SP_NODE_HOST:
        if (!strcmp(n->host->name, SP_HOST_FAILURE)) write_failure(w, n);
        else if (!strcmp(n->host->name, SP_HOST_ASSERT)) write_assert(w, n);
        else if (sp__node_is_size(n, &axis)) {
            sp_onnx_id shape = SP_ONNX_OUT(o, "Shape", NULL, find_tensor(w, n->in[0]));
            n->out[0]->mark =
                known_value(w, SP_ONNX_OUT(o, "Gather", NULL, shape, sp__onnx_out_whole(o, SP_DTYPE_I64, axis)));
        } else if (!strcmp(n->host->name, SP_HOST_RANDOM))
            n->out[0]->mark = known_value(w, SP_ONNX_OUT_INTS(o, 0, 0)); /* generators of ONNX take none */
        else declined(w, "Python code");
        break;
    case SP_NODE_GRAD: declined(w, "a gradient"); break;
    }
    if (!sp__onnx_out_ok(o) && n->place && n->place->file && !o->placed) {
        o->placed = true;
        sp_error_raise(&o->error);
        sp__error_context("%s:%d", n->place->file, n->place->line);
        sp_error_capture(o->status, &o->error);
    }
}

/* Parameters bound, nodes written; the tail call or the results are left to the caller. */
static void enter(walk *w, sp_function *fn, int n, known *const *args)
{
    if (n != fn->n_params) {
        sp__onnx_out_fail(
            w->o, sp__fail(SP_RUNTIME, "%s is called with %d arguments instead of %d", fn->name, n, fn->n_params));
        return;
    }
    for (int i = 0; i < n; i++) fn->params[i]->mark = args[i];
    for (sp_node *node = fn->first; node && sp__onnx_out_ok(w->o); node = node->next)
        if (node != fn->tail) run_node(w, node);
}

/* What a turn ends in: go, state, results. */
static void end_turn(walk *w, loop *l, const known *callee, int n, known *const *args, sp_onnx_id *out)
{
    sp_onnx_out *o = w->o;
    int n_all = 1 + l->n_state + l->n_results;
    if (!sp__onnx_out_ok(o)) return;
    if (callee->kind == CHOICE) {
        sp_onnx_out_graph *graphs[2];
        for (int i = 0; i < 2; i++) {
            graphs[i] = sp__onnx_out_begin(o, i ? "else" : "then", 0);
            end_turn(w, l, i ? callee->no : callee->yes, n, args, out);
            sp__onnx_out_end(o, graphs[i], n_all, out);
        }
        sp__onnx_out_branch(o, callee->v, graphs[0], graphs[1], n_all, out);
        return;
    }
    if (callee->kind != CLOSURE) {
        declined(w, "a function that is known at run time only");
        return;
    }
    known **all = join(w, callee, n, args);
    if (!all) return;
    if (callee->fn == l->fn) { /* the next turn */
        out[0] = sp__onnx_out_whole(o, SP_DTYPE_BOOL, 1);
        for (int i = 0; i < l->n_state; i++) {
            if (all[i]->kind != VALUE) declined(w, "a function as the state of a loop");
            out[1 + i] = all[i]->v;
        }
        for (int i = 0; i < l->n_results; i++) out[1 + l->n_state + i] = l->results[i];
        return;
    }
    out[0] = sp__onnx_out_whole(o, SP_DTYPE_BOOL, 0);
    for (int i = 0; i < l->n_state; i++) out[1 + i] = l->state[i];
    if (leads_to(w, callee->fn, callee->fn)) { /* a loop inside, whose results are this one's */
        run_function(w, callee->fn, callee->n + n, all, l->n_results, out + 1 + l->n_state);
        return;
    }
    enter(w, callee->fn, callee->n + n, all);
    if (!sp__onnx_out_ok(o)) return;
    const sp_node *tail = callee->fn->tail;
    if (tail) end_turn(w, l, find(w, tail->in[0]), tail->n_in - 1, call_args(w, tail), out);
    else
        for (int i = 0; i < l->n_results && i < callee->fn->n_results; i++)
            out[1 + l->n_state + i] = find_tensor(w, callee->fn->results[i]);
}

/* Something of the results' kinds, for the turns before there are any. */
static void start_results(walk *w, const sp_function *fn, int n, sp_onnx_id *out)
{
    sp_meta *metas = alloc(w, (size_t)n * sizeof *metas);
    if (!metas) return;
    if (sp__function_metas(fn, n, metas) != n) declined(w, "a loop whose results are not known");
    for (int i = 0; i < n && sp__onnx_out_ok(w->o); i++) {
        sp_tensor *t;
        for (int k = 0; k < metas[i].rank; k++)
            if (metas[i].dims[k] < 0) metas[i].dims[k] = 1;
        sp_status status =
            sp_tensor_create_zeros(metas[i].dtype, metas[i].rank < 0 ? 0 : metas[i].rank, metas[i].dims, &t);
        out[i] = status == SP_OK ? sp__onnx_out_take_tensor(w->o, t, NULL) : (sp__onnx_out_fail(w->o, status), 0);
    }
}

static void run_loop(walk *w, sp_function *fn, int n, known *const *args, int n_out, sp_onnx_id *out)
{
    sp_onnx_out *o = w->o;
    loop l = {.fn = fn, .n_state = n, .n_results = n_out, .outer = w->loops};
    int n_all = n + n_out;
    sp_onnx_id *start = alloc(w, (size_t)(n_all + 1) * sizeof *start),
               *end = alloc(w, (size_t)(n_all + 1) * sizeof *end);
    known **inner = alloc(w, (size_t)n * sizeof *inner);
    if (!start || !end || !inner) return;
    for (int i = 0; i < n; i++) {
        if (args[i]->kind != VALUE) declined(w, "a function as the state of a loop");
        start[i] = args[i]->v;
    }
    start_results(w, fn, n_out, start + n);
    sp_onnx_out_graph *body = sp__onnx_out_begin(o, fn->name, n_all + 2);
    if (!body || !sp__onnx_out_ok(o)) return;
    body->in[0] = sp__onnx_out_value(o, NULL, SP_DTYPE_I64);
    body->in[1] = sp__onnx_out_value(o, NULL, SP_DTYPE_BOOL);
    for (int i = 0; i < n_all; i++) body->in[i + 2] = sp__onnx_out_value(o, NULL, sp__onnx_out_dtype(o, start[i]));
    l.state = body->in + 2;
    l.results = l.state + n;
    for (int i = 0; i < n; i++) inner[i] = known_value(w, l.state[i]);
    w->loops = &l;
    enter(w, fn, n, inner);
    if (sp__onnx_out_ok(o) && fn->tail)
        end_turn(w, &l, find(w, fn->tail->in[0]), fn->tail->n_in - 1, call_args(w, fn->tail), end);
    w->loops = l.outer;
    sp__onnx_out_end(o, body, n_all + 1, end);
    if (!sp__onnx_out_ok(o)) return;
    sp__onnx_out_loop(o, 0, sp__onnx_out_whole(o, SP_DTYPE_BOOL, 1), n_all, start, body, end);
    for (int i = 0; i < n_out; i++) out[i] = end[n + i];
}

static void run_function(walk *w, sp_function *fn, int n, known *const *args, int n_out, sp_onnx_id *out)
{
    if (!sp__onnx_out_ok(w->o)) return;
    for (const loop *l = w->loops; l; l = l->outer)
        if (l->fn == fn) {
            declined(w, "recursion that is no loop");
            return;
        }
    if (leads_to(w, fn, fn)) {
        if (fn->tail) run_loop(w, fn, n, args, n_out, out);
        else declined(w, "recursion that is no loop");
        return;
    }
    sp_onnx_id around = w->holds;
    w->holds = 0;
    enter(w, fn, n, args);
    if (!sp__onnx_out_ok(w->o)) return;
    if (fn->tail) run_callee(w, find(w, fn->tail->in[0]), fn->tail->n_in - 1, call_args(w, fn->tail), n_out, out);
    else
        for (int i = 0; i < n_out && i < fn->n_results; i++) out[i] = find_tensor(w, fn->results[i]);
    if (w->holds && n_out > 0) out[0] = guarded(w->o, w->holds, out[0]);
    w->holds = around;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static const char *unsupported(const sp_node *n, int opset)
{
    switch (n->kind) {
    case SP_NODE_OP: return is_written(n, opset) ? NULL : n->op->name;
    case SP_NODE_STORE: return "writing to a Parameter (is the network in training mode?)";
    case SP_NODE_HOST: {
        static const char *const names[] = {SP_HOST_FAILURE, SP_HOST_ASSERT, SP_HOST_RANDOM, SP_HOST_SIZE};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strcmp(n->host->name, names[i])) return NULL;
        return "Python code";
    }
    case SP_NODE_GRAD: return "a gradient";
    default: return NULL;
    }
}

static void reach(const sp_function *f, uint8_t *reached)
{
    if (reached[f->id]) return;
    reached[f->id] = 1;
    for (const sp_node *n = f->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] && n->in[i]->origin == SP_VALUE_FUNCTION) reach(n->in[i]->target, reached);
}

/* All that cannot be written, in one message. */
static sp_status check(walk *w)
{
    sp__text t = {0};
    int n_bad = 0;
    uint8_t *reached = alloc(w, (size_t)w->entry->graph->n_functions + 1);
    if (!reached) return SP_NOMEM;
    reach(w->entry, reached);
    for (const sp_function *f = w->entry->graph->first; f; f = f->next)
        for (const sp_node *n = reached[f->id] ? f->first : NULL; n; n = n->next) {
            const char *what = unsupported(n, w->o->opset);
            if (!what || ++n_bad >= 100) continue;
            sp__text_put(&t, "; %s", what);
            if (n->place && n->place->file) sp__text_put(&t, " (%s:%d)", n->place->file, n->place->line);
        }
    if (!n_bad) return SP_OK;
    sp_status status =
        t.failed ? SP_NOMEM : sp__fail(SP_DECLINED, "the network holds what is not written to ONNX: %s", t.data + 2);
    sp__free(t.data);
    return status;
}

static void clear_marks(sp_graph *g)
{
    for (sp_function *f = g->first; f; f = f->next) {
        for (int i = 0; i < f->n_params; i++) f->params[i]->mark = NULL;
        for (sp_node *n = f->first; n; n = n->next) {
            n->mark = NULL;
            for (int i = 0; i < n->n_out; i++) n->out[i]->mark = NULL;
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i]) n->in[i]->mark = NULL;
        }
        for (int i = 0; i < f->n_results; i++) f->results[i]->mark = NULL;
    }
}

sp_status sp__onnx_out_write_function(sp_onnx_out *o, sp_function *f, sp_onnx_out_graph **out)
{
    walk w = {.o = o, .entry = f};
    sp_meta metas[64];
    int n_out = sp__function_metas(f, 64, metas);
    SP_CHECK(n_out >= 0 && n_out <= 64, SP_DECLINED, "the number of the network's results is not known, or beyond 64");
    SP_CHECK(f->n_params <= 64, SP_DECLINED, "a network with more than 64 inputs is not written to ONNX");
    SP_TRY(check(&w));
    SP_TRY(sp__graph_close(f->graph));
    for (int k = 1; k < sp__sizes_trials(o->names); k++)
        SP_TRY(sp__graph_close((k == 1 ? o->names->other : o->names->more[k - 2])->graph));
    clear_marks(f->graph);
    SP_TRY(sp__sizes_begin(&o->sizes, f, o->names));
    sp_onnx_id results[64] = {0}; /* stays so after a failure */
    known *args[64];
    o->walk = &w;
    sp_onnx_out_graph *g = sp__onnx_out_begin(o, f->name, f->n_params);
    w.variables = alloc(&w, (size_t)(f->graph->n_variables + 1) * sizeof *w.variables);
    if (!g || !w.variables) return SP_NOMEM;
    for (int i = 0; i < f->n_params; i++) {
        g->in[i] = sp__onnx_out_value(o, o->names->inputs[i], f->params[i]->meta.dtype);
        args[i] = known_value(&w, g->in[i]);
    }
    run_function(&w, f, f->n_params, args, n_out, results);
    o->node = NULL;
    sp__onnx_out_end(o, g, n_out, results);
    clear_marks(f->graph);
    *out = g;
    return sp__onnx_out_ok(o) ? SP_OK : sp_error_raise(&o->error);
}
