/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_run.c - MindIR models applied to arguments.
 *
 * A function is evaluated node by node in an environment of its own; a function value remembers the environment it was mentioned
 * in, because it may use values of it. With tensors this computes; with symbols (graph.h) it records. Then a call is written
 * out in place, but for two cases, which become functions of the graph being recorded: a function that calls itself, and the
 * alternatives of a Switch whose condition is a symbol. A call that ends a function is not nested, so a loop runs as long as
 * it likes.
 *
 * Effects need little care: the file lists nodes after those whose effects they wait for, so Load, UpdateState and Depend are
 * nothing but names for other values. A weight that a function gets as an argument, to write to it, is that weight inside too: such
 * arguments are none of the recorded functions. */
#include <string.h>

#include "base/parts.h"
#include "base/stack.h"
#include "formats/mindir/mindir.h"
#include "formats/mindir/mindir_record.h"
#include "ir/builder_keep.h"
#include "ir/op_impl.h"

enum { MAX_DEPTH = 500 };

typedef struct sp_mindir_env {
    const sp_mindir_function *fn;
    struct sp_mindir_env *up;
    sp_mindir_value **values;
    uint8_t *busy;   /* nodes being evaluated: a node that needs itself is found out */
    sp_function *ir; /* what its nodes are recorded into, NULL: nothing */
} sp_mindir_env;

/* A function of the graph made of one of the model. */
typedef struct made {
    struct made *next;
    const sp_mindir_function *fn;
    const sp_mindir_env *up;
    sp_function *ir;
    sp_mindir_value *result; /* NULL while it is being made */
} made;

typedef struct {
    const sp_mindir_model *m;
    sp__arena arena;
    sp_builder *b;
    made *made;
    int depth;
} run;

static sp_status value_of(run *r, sp_mindir_env *env, const sp_mindir_name *name, sp_mindir_value **out);
static sp_status call_value(run *r, sp_mindir_value *callee, int n, sp_mindir_value **args, const sp_mindir_value *type,
                            sp_mindir_value **out);
static sp_status symbol_of(run *r, sp_mindir_value *callee, sp_tensor **out);

static sp_mindir_value *new_value(run *r, sp_mindir_kind kind, int n)
{
    sp_mindir_value *v = sp__arena_alloc(&r->arena, sizeof *v);
    if (!v || (n && !(v->items = sp__arena_alloc(&r->arena, (size_t)n * sizeof *v->items)))) return NULL;
    v->kind = kind;
    v->n = n;
    return v;
}

static sp_status keep(run *r, sp_tensor **t) { return sp__builder_keep(r->b, t); }

/* All of them; those that stand for functions are marked. */
static sp_status keep_all(run *r, int n, sp_tensor **ts, const bool *functions)
{
    sp_status status = SP_OK;
    for (int i = 0; i < n; i++) {
        const sp_status kept = keep(r, &ts[i]);
        if (kept != SP_OK) status = kept;
        else if (functions[i]) sp__mindir_mark_function(ts[i]);
    }
    return status;
}

/* --- values as lists of tensors ---------------------------------------------------------------------------------- */

static int flat_count(const sp_mindir_value *v)
{
    int n = 0;
    switch (v->kind) {
    case SP_MINDIR_NONE:
    case SP_MINDIR_MONAD:
    case SP_MINDIR_TEXT:
    case SP_MINDIR_DTYPE: return 0;
    case SP_MINDIR_TUPLE:
        for (int i = 0; i < v->n; i++) n += flat_count(v->items[i]);
        return n;
    default: return 1;
    }
}

static void flat_specs(const sp_mindir_value *type, sp_spec *specs, bool *functions, int *n)
{
    if (type->kind == SP_MINDIR_TUPLE) {
        for (int i = 0; i < type->n; i++) flat_specs(type->items[i], specs, functions, n);
        return;
    }
    if (!flat_count(type)) return;
    functions[*n] = type->kind != SP_MINDIR_TENSOR;
    if (type->kind != SP_MINDIR_TENSOR) specs[*n] = (sp_spec){.dtype = SP_DTYPE_BOOL};
    else if (type->t) sp__meta_of(type->t, &specs[*n]);
    else specs[*n] = *type->meta;
    ++*n;
}

/* The tensors of v in order; numbers become tensors, of the dtype that `type` (NULL: not known) wants. */
static sp_status flatten(run *r, sp_mindir_value *v, const sp_mindir_value *type, sp_tensor **out, int *n)
{
    sp_mindir_call c = {.arena = &r->arena, .b = r->b};
    switch (v->kind) {
    case SP_MINDIR_NONE:
    case SP_MINDIR_MONAD:
    case SP_MINDIR_TEXT:
    case SP_MINDIR_DTYPE: return SP_OK;
    case SP_MINDIR_TUPLE:
        for (int i = 0; i < v->n; i++)
            SP_TRY(flatten(r, v->items[i], type && type->kind == SP_MINDIR_TUPLE && i < type->n ? type->items[i] : NULL,
                           out, n));
        return SP_OK;
    case SP_MINDIR_CLOSURE:
    case SP_MINDIR_CHOICE:
    case SP_MINDIR_SYMBOL: return symbol_of(r, v, &out[(*n)++]);
    case SP_MINDIR_INT:
    case SP_MINDIR_FLOAT:
    case SP_MINDIR_BOOL:
        if (type && type->kind == SP_MINDIR_TENSOR && type->meta && type->meta->dtype != SP_DTYPE_NONE) {
            sp_tensor *t;
            if (v->kind == SP_MINDIR_FLOAT) SP_TRY(sp_tensor_create_f64(type->meta->dtype, v->f, &t));
            else SP_TRY(sp_tensor_create_i64(type->meta->dtype, v->i, &t));
            SP_TRY(keep(r, &t));
            out[(*n)++] = t;
            return SP_OK;
        }
        /* fall through */
    default: return sp__mindir_as_tensor(&c, v, &out[(*n)++]);
    }
}

/* The value of the form of `type` that these tensors make. */
static sp_status unflatten(run *r, const sp_mindir_value *type, sp_tensor *const *in, int *n, sp_mindir_value **out)
{
    sp_mindir_value *v;
    if (type->kind == SP_MINDIR_TUPLE) {
        if (!(v = new_value(r, SP_MINDIR_TUPLE, type->n))) return SP_NOMEM;
        for (int i = 0; i < type->n; i++) SP_TRY(unflatten(r, type->items[i], in, n, &v->items[i]));
    } else if (!flat_count(type)) {
        if (!(v = new_value(r, type->kind, 0))) return SP_NOMEM;
        *v = *type;
    } else {
        if (!(v = new_value(r, type->kind == SP_MINDIR_TENSOR || !type->is_type ? SP_MINDIR_TENSOR : SP_MINDIR_SYMBOL,
                            0)))
            return SP_NOMEM;
        if (type->kind == SP_MINDIR_CLOSURE || type->kind == SP_MINDIR_CHOICE || type->kind == SP_MINDIR_SYMBOL)
            v->kind = SP_MINDIR_SYMBOL;
        v->t = in[(*n)++];
    }
    *out = v;
    return SP_OK;
}

/* The weight that argument i of f is; -1: it is a value. Only where something is written does it matter. */
static int64_t weight_passed(const run *r, const sp_mindir_function *f, int i)
{
    return r->m->writes && f->index ? f->inputs[i].passed : -1;
}

/* Arguments of a call, the first one being number `from` of the function, as tensors. */
static sp_status flat_arguments(run *r, const sp_mindir_value *callee, int from, int n, sp_mindir_value **args,
                                sp_tensor ***out, int *n_out)
{
    int total = 0;
    for (int i = 0; i < n; i++) total += flat_count(args[i]);
    if (!(*out = sp__arena_alloc(&r->arena, (size_t)(total + 1) * sizeof **out))) return SP_NOMEM;
    *n_out = 0;
    for (int i = 0; i < n; i++) {
        const sp_mindir_function *fn =
            callee->kind == SP_MINDIR_CLOSURE && from + i < callee->fn->n_args ? callee->fn : NULL;
        if (fn ? weight_passed(r, fn, from + i) >= 0 : r->m->writes && args[i]->is_weight) continue;
        SP_TRY(flatten(r, args[i], fn ? fn->inputs[from + i].type : NULL, *out, n_out));
    }
    return SP_OK;
}

/* --- environments ------------------------------------------------------------------------------------------------ */

static sp_mindir_env *new_env(run *r, const sp_mindir_function *fn, sp_mindir_env *up, sp_function *ir)
{
    sp_mindir_env *e = sp__arena_alloc(&r->arena, sizeof *e);
    size_t slots = (size_t)(fn->n_inputs + fn->n_nodes);
    if (!e) return NULL;
    *e = (sp_mindir_env){fn, up, sp__arena_alloc(&r->arena, slots * sizeof *e->values + 1),
                         sp__arena_alloc(&r->arena, slots + 1), ir};
    return e->values && e->busy ? e : NULL;
}

/* The innermost environment a function called from here may use. */
static sp_mindir_env *up_for(const run *r, sp_mindir_env *env, const sp_mindir_function *fn)
{
    const uint64_t *needs = sp__mindir_needs_row(r->m, fn);
    while (env && !(needs[env->fn->index / 64] >> env->fn->index % 64 & 1)) env = env->up;
    return env;
}

static sp_status weight_value(run *r, int64_t weight, sp_mindir_value **out)
{
    sp_tensor *t = sp_bundle_tensor_at(r->m->weights, weight);
    if (!t || !(*out = sp__mindir_tensor(&r->arena, t))) return SP_NOMEM;
    (*out)->is_weight = true;
    return SP_OK;
}

static sp_status bind(run *r, sp_mindir_env *env, int n, sp_mindir_value **args)
{
    const sp_mindir_function *f = env->fn;
    SP_CHECK(n == f->n_args, SP_FORMAT, "function '%s' takes %d arguments, but %d are given", f->name, f->n_args, n);
    for (int i = 0; i < f->n_inputs; i++) {
        int64_t weight = i < n ? weight_passed(r, f, i) : f->inputs[i].weight;
        if (weight < 0) env->values[i] = args[i];
        else SP_TRY(weight_value(r, weight, &env->values[i]));
    }
    return SP_OK;
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static sp_status get_item(run *r, sp_mindir_value *seq, const sp_mindir_value *index, sp_mindir_value **out)
{
    int64_t i = index->i;
    (void)r;
    SP_CHECK(index->kind == SP_MINDIR_INT || index->kind == SP_MINDIR_BOOL || index->kind == SP_MINDIR_TENSOR,
             SP_FORMAT, "the index into a tuple is not an integer");
    SP_CHECK(seq->kind == SP_MINDIR_TUPLE, SP_FORMAT, "an item is taken of a value that is not a tuple");
    if (index->kind == SP_MINDIR_TENSOR) {
        SP_CHECK(!sp_tensor_is_symbol(index->t), SP_FORMAT,
                 "the index into a tuple is not known before the model runs");
        SP_TRY(sp_tensor_item_i64(index->t, &i));
    }
    if (i < 0) i += seq->n;
    SP_CHECK(i >= 0 && i < seq->n, SP_FORMAT, "item %lld of a tuple of %d", (long long)i, seq->n);
    *out = seq->items[i];
    return SP_OK;
}

static sp_status eval_switch(run *r, sp_mindir_value **in, sp_mindir_value **out)
{
    SP_CHECK(in[0]->kind == SP_MINDIR_FLOAT || in[0]->kind == SP_MINDIR_INT || in[0]->kind == SP_MINDIR_BOOL ||
                 in[0]->kind == SP_MINDIR_TENSOR,
             SP_FORMAT, "the condition of Switch is not a number");
    double truth = in[0]->kind == SP_MINDIR_FLOAT ? in[0]->f : (double)in[0]->i;
    if (in[0]->kind == SP_MINDIR_TENSOR) {
        if (sp_tensor_is_symbol(in[0]->t)) {
            if (!(*out = new_value(r, SP_MINDIR_CHOICE, 3))) return SP_NOMEM;
            memcpy((*out)->items, in, 3 * sizeof *in);
            return SP_OK;
        }
        SP_TRY(sp_tensor_item_f64(in[0]->t, &truth));
    }
    *out = truth != 0 ? in[1] : in[2];
    return SP_OK;
}

/* items[index](...): when the index is a symbol, a chain of choices. */
static sp_status eval_switch_layer(run *r, sp_mindir_value *index, sp_mindir_value *items, sp_mindir_value **out)
{
    int64_t i = index->i;
    SP_CHECK(index->kind == SP_MINDIR_INT || index->kind == SP_MINDIR_BOOL || index->kind == SP_MINDIR_TENSOR,
             SP_FORMAT, "the index of SwitchLayer is not an integer");
    SP_CHECK(items->kind == SP_MINDIR_TUPLE && items->n > 0, SP_FORMAT, "SwitchLayer needs a tuple of functions");
    if (index->kind == SP_MINDIR_TENSOR && sp_tensor_is_symbol(index->t)) {
        *out = items->items[items->n - 1];
        for (int k = items->n - 2; k >= 0; k--) {
            sp_tensor *number, *pair[2];
            SP_TRY(sp_tensor_create_i64(sp_tensor_dtype(index->t), k, &number));
            SP_TRY(keep(r, &number));
            pair[0] = index->t;
            pair[1] = number;
            sp_tensor *same = sp_builder_call(r->b, "equal", "", 2, pair);
            sp_mindir_value *v = new_value(r, SP_MINDIR_CHOICE, 3);
            if (!same) return sp__builder_status(r->b);
            if (!v || !(v->items[0] = sp__mindir_tensor(&r->arena, same))) return SP_NOMEM;
            v->items[1] = items->items[k];
            v->items[2] = *out;
            *out = v;
        }
        return SP_OK;
    }
    if (index->kind == SP_MINDIR_TENSOR) SP_TRY(sp_tensor_item_i64(index->t, &i));
    if (i < 0) i += items->n;
    SP_CHECK(i >= 0 && i < items->n, SP_INDEX, "function %lld is chosen of %d", (long long)i, items->n);
    *out = items->items[i];
    return SP_OK;
}

static sp_status eval_partial(run *r, int n, sp_mindir_value **in, sp_mindir_value **out)
{
    if (in[0]->kind == SP_MINDIR_CLOSURE) {
        sp_mindir_value *v = new_value(r, SP_MINDIR_CLOSURE, in[0]->n + n - 1);
        if (!v) return SP_NOMEM;
        v->fn = in[0]->fn;
        v->env = in[0]->env;
        if (in[0]->n) memcpy(v->items, in[0]->items, (size_t)in[0]->n * sizeof *v->items);
        if (n > 1) memcpy(v->items + in[0]->n, in + 1, (size_t)(n - 1) * sizeof *v->items);
        *out = v;
        return SP_OK;
    }
    sp_tensor *callee, *bound, **args;
    int at;
    SP_TRY(symbol_of(r, in[0], &callee));
    SP_TRY(flat_arguments(r, in[0], 0, n - 1, in + 1, &args, &at));
    SP_TRY(sp_function_partial(callee, at, args, &bound));
    SP_TRY(keep(r, &bound));
    if (!(*out = new_value(r, SP_MINDIR_SYMBOL, 0))) return SP_NOMEM;
    (*out)->t = bound;
    return SP_OK;
}

/* Its first input; of a weight that is written to later, the contents that it has now. */
static sp_status eval_first(run *r, const sp_mindir_node *n, sp_mindir_value *x, sp_mindir_value **out)
{
    *out = x;
    if (!r->m->writes || x->kind != SP_MINDIR_TENSOR || strcmp(n->primitive->type, "Load")) return SP_OK;
    sp_tensor *now = sp_builder_call(r->b, "copy", "", 1, &x->t);
    if (!now) return sp__builder_status(r->b);
    return (*out = sp__mindir_tensor(&r->arena, now)) ? SP_OK : SP_NOMEM;
}

static sp_status eval_primitive(run *r, const sp_mindir_node *n, sp_mindir_value **in, sp_mindir_value **out)
{
    static const uint8_t least[] = {0, 0, 2, 1, 0, 1, 3, 2};
    sp_mindir_control control = sp__mindir_control(n->primitive->rule);
    SP_CHECK(n->n_in >= least[control], SP_FORMAT, "%s has %d inputs, it needs %d", n->primitive->type, n->n_in,
             least[control]);
    switch (control) {
    case SP_MINDIR_MAKE_TUPLE:
        if (!(*out = new_value(r, SP_MINDIR_TUPLE, n->n_in))) return SP_NOMEM;
        if (n->n_in) memcpy((*out)->items, in, (size_t)n->n_in * sizeof *in);
        return SP_OK;
    case SP_MINDIR_GET_ITEM: return get_item(r, in[0], in[1], out);
    case SP_MINDIR_FIRST: return eval_first(r, n, in[0], out);
    case SP_MINDIR_STATE: return (*out = new_value(r, SP_MINDIR_MONAD, 0)) ? SP_OK : SP_NOMEM;
    case SP_MINDIR_PARTIAL: return eval_partial(r, n->n_in, in, out);
    case SP_MINDIR_SWITCH: return eval_switch(r, in, out);
    case SP_MINDIR_SWITCH_LAYER: return eval_switch_layer(r, in[0], in[1], out);
    default: break;
    }
    sp_mindir_call c = {&r->arena, r->b, n->primitive, n, n->n_in, in, n->shape};
    return sp__mindir_apply(&c, n->primitive->rule, out);
}

static sp_status inputs_of(run *r, sp_mindir_env *env, const sp_mindir_node *n, sp_mindir_value ***out)
{
    *out = sp__arena_alloc(&r->arena, (size_t)(n->n_in + 1) * sizeof **out);
    if (!*out) return SP_NOMEM;
    for (int i = 0; i < n->n_in; i++) SP_TRY(value_of(r, env, n->in[i], &(*out)[i]));
    return SP_OK;
}

static sp_status eval(run *r, sp_mindir_env *env, const sp_mindir_node *n)
{
    sp_mindir_value **in, *callee, *v = NULL;
    SP_TRY(inputs_of(r, env, n, &in));
    if (n->primitive) {
        SP_CHECK(!env->fn->index || !n->n_in || in[0]->is_weight || !sp__mindir_writes_first(n->primitive->rule),
                 SP_FORMAT, "%s writes to an argument of function '%s', which the file does not call a Parameter",
                 n->primitive->type, env->fn->name);
        SP_TRY(eval_primitive(r, n, in, &v));
    } else {
        SP_TRY(value_of(r, env, n->callee, &callee));
        SP_TRY(call_value(r, callee, n->n_in, in, n->shape, &v));
    }
    env->values[n->slot] = v;
    return SP_OK;
}

static sp_status eval_node(run *r, sp_mindir_env *env, const sp_mindir_node *n)
{
    char shown[SP_NAME_SHOWN];
    SP_CHECK(!env->busy[n->slot], SP_FORMAT, "node '%s' needs its own result",
             sp__name_shown(n->name, strlen(n->name), shown));
    SP_CHECK(r->depth < MAX_DEPTH, SP_FORMAT,
             "node '%s' lies more than %d values deep in others that come later in the file",
             sp__name_shown(n->name, strlen(n->name), shown), MAX_DEPTH);
    /* A function inside may ask for a value of the one around it. */
    sp_function *outer = env->ir ? sp__mindir_record_into(env->ir) : NULL;
    env->busy[n->slot] = 1;
    SP_TRY(sp__stack_check());
    r->depth++;
    const struct sp_place *before = sp__model_node_enter(n->name, NULL);
    sp_status status = eval(r, env, n);
    sp__model_node_leave(before);
    r->depth--;
    env->busy[n->slot] = 0;
    if (env->ir) sp__mindir_record_into(outer);
    if (status != SP_OK) sp__error_context("node '%s'", sp__name_shown(n->name, strlen(n->name), shown));
    return status;
}

static sp_status value_of(run *r, sp_mindir_env *env, const sp_mindir_name *name, sp_mindir_value **out)
{
    if (name->where == SP_MINDIR_AT_CONSTANT) {
        *out = name->constant;
        return SP_OK;
    }
    if (name->where == SP_MINDIR_AT_FUNCTION) {
        sp_mindir_value *v = new_value(r, SP_MINDIR_CLOSURE, 0);
        if (!v) return SP_NOMEM;
        v->fn = name->fn;
        v->env = up_for(r, env, name->fn);
        *out = v;
        return SP_OK;
    }
    while (env && env->fn != name->owner) env = env->up;
    SP_CHECK(env, SP_FORMAT, "'%s' is used outside the function that makes it", name->text);
    if (!env->values[name->slot]) SP_TRY(eval_node(r, env, env->fn->node_of_slot[name->slot]));
    *out = env->values[name->slot];
    return SP_OK;
}

/* --- functions --------------------------------------------------------------------------------------------------- */

/* All nodes but the call that ends the function and what waits for it. */
static sp_status eval_body(run *r, sp_mindir_env *env)
{
    const sp_mindir_function *f = env->fn;
    for (int i = 0; i < f->n_nodes; i++) {
        const sp_mindir_node *n = &f->nodes[i];
        if (n->constant || env->values[n->slot] || n == f->tail || (f->tail && f->after_tail[i])) continue;
        SP_TRY(eval_node(r, env, n));
    }
    return SP_OK;
}

static sp_status result_of(run *r, sp_mindir_env *env, sp_mindir_value **out)
{
    const sp_mindir_function *f = env->fn;
    if (f->n_outputs == 1) return value_of(r, env, f->outputs[0], out);
    if (!(*out = new_value(r, SP_MINDIR_TUPLE, f->n_outputs))) return SP_NOMEM;
    for (int i = 0; i < f->n_outputs; i++) SP_TRY(value_of(r, env, f->outputs[i], &(*out)->items[i]));
    return SP_OK;
}

/* Is a call of this written as a call, instead of its nodes? */
static bool is_recorded(const sp_mindir_value *callee)
{
    return callee->kind != SP_MINDIR_CLOSURE || (sp_function_recording() && callee->fn->recursive);
}

static sp_status bound_arguments(run *r, const sp_mindir_value *callee, int *n, sp_mindir_value ***args)
{
    if (!callee->n) return SP_OK;
    sp_mindir_value **all = sp__arena_alloc(&r->arena, (size_t)(callee->n + *n + 1) * sizeof *all);
    if (!all) return SP_NOMEM;
    if (callee->n) memcpy(all, callee->items, (size_t)callee->n * sizeof *all);
    if (*n) memcpy(all + callee->n, *args, (size_t)*n * sizeof *all);
    *args = all;
    *n += callee->n;
    return SP_OK;
}

/* Evaluate a closure here; calls at its end replace it instead of nesting. */
static sp_status run_here(run *r, sp_mindir_value *callee, int n, sp_mindir_value **args, sp_mindir_value **out)
{
    for (;;) {
        SP_TRY(bound_arguments(r, callee, &n, &args));
        sp_mindir_env *env = new_env(r, callee->fn, callee->env, sp_function_recording());
        if (!env) return SP_NOMEM;
        SP_TRY(bind(r, env, n, args));
        SP_TRY(eval_body(r, env));
        const sp_mindir_node *tail = callee->fn->tail;
        if (!tail) return result_of(r, env, out);
        SP_TRY(value_of(r, env, tail->callee, &callee));
        SP_TRY(inputs_of(r, env, tail, &args));
        n = tail->n_in;
        if (is_recorded(callee)) return call_value(r, callee, n, args, tail->shape, out);
    }
}

static sp_status end_recording(run *r, sp_mindir_env *env, made *f)
{
    sp_tensor **results;
    sp_mindir_value *v;
    int n = 0;
    const sp_mindir_function *fn = env->fn;
    const sp_mindir_node *tail = fn->tail;
    SP_TRY(eval_body(r, env));
    if (tail) {
        sp_mindir_value *callee, **args;
        sp_tensor *symbol, **flat;
        SP_TRY(value_of(r, env, tail->callee, &callee));
        SP_TRY(inputs_of(r, env, tail, &args));
        SP_TRY(symbol_of(r, callee, &symbol));
        SP_TRY(flat_arguments(r, callee, callee->n, tail->n_in, args, &flat, &n));
        return sp_function_end_call(f->ir, symbol, n, flat);
    }
    SP_TRY(result_of(r, env, &v));
    if (!(results = sp__arena_alloc(&r->arena, (size_t)(flat_count(v) + 1) * sizeof *results))) return SP_NOMEM;
    SP_TRY(flatten(r, v, fn->n_outputs == 1 ? fn->output_types[0] : NULL, results, &n));
    SP_TRY(sp_function_end(f->ir, n, results));
    f->result = v;
    n = 0;
    return unflatten(r, v, results, &n, &f->result);
}

static sp_status make_function(run *r, const sp_mindir_value *callee, made *f)
{
    const sp_mindir_function *fn = callee->fn;
    int n = 0, at = 0;
    for (int i = 0; i < fn->n_args; i++) {
        SP_CHECK(fn->inputs[i].type, SP_FORMAT, "the file does not say what input '%s' is", fn->inputs[i].name);
        if (weight_passed(r, fn, i) < 0) n += flat_count(fn->inputs[i].type);
    }
    sp_spec *specs = sp__arena_alloc(&r->arena, (size_t)(n + 1) * sizeof *specs);
    bool *functions = sp__arena_alloc(&r->arena, (size_t)(n + 1) * sizeof *functions);
    sp_tensor **params = sp__arena_alloc(&r->arena, (size_t)(n + 1) * sizeof *params);
    sp_mindir_value **args = sp__arena_alloc(&r->arena, (size_t)(fn->n_args + 1) * sizeof *args);
    if (!specs || !functions || !params || !args) return SP_NOMEM;
    for (int i = 0; i < fn->n_args; i++)
        if (weight_passed(r, fn, i) < 0) flat_specs(fn->inputs[i].type, specs, functions, &at);
    SP_TRY(sp_function_begin(sp__mindir_graph(sp_function_recording()), fn->name, n, specs, &f->ir, params));
    sp_status status = keep_all(r, n, params, functions);
    at = 0;
    for (int i = 0; i < fn->n_args && status == SP_OK; i++)
        if (weight_passed(r, fn, i) < 0) status = unflatten(r, fn->inputs[i].type, params, &at, &args[i]);
    sp_mindir_env *env = new_env(r, fn, callee->env, f->ir);
    if (status == SP_OK && !env) status = SP_NOMEM;
    if (status == SP_OK) status = bind(r, env, fn->n_args, args);
    if (status == SP_OK) status = end_recording(r, env, f);
    if (status != SP_OK) sp_function_abandon(f->ir);
    return status;
}

static sp_status made_of(run *r, const sp_mindir_value *callee, made **out)
{
    for (made *f = r->made; f; f = f->next)
        if (f->fn == callee->fn && f->up == callee->env) return *out = f, SP_OK;
    made *f = sp__arena_alloc(&r->arena, sizeof *f);
    if (!f) return SP_NOMEM;
    *f = (made){r->made, callee->fn, callee->env, NULL, NULL};
    r->made = f;
    *out = f;
    SP_CHECK(r->depth < MAX_DEPTH, SP_FORMAT, "functions nested deeper than %d", MAX_DEPTH);
    SP_TRY(sp__stack_check());
    r->depth++;
    sp_status status = make_function(r, callee, f);
    r->depth--;
    return status;
}

/* A symbol that holds the function. */
static sp_status symbol_of(run *r, sp_mindir_value *callee, sp_tensor **out)
{
    sp_tensor *t, *yes, *no, **args;
    made *f;
    int n;
    switch (callee->kind) {
    case SP_MINDIR_SYMBOL: *out = callee->t; return SP_OK;
    case SP_MINDIR_CHOICE:
        SP_TRY(symbol_of(r, callee->items[1], &yes));
        SP_TRY(symbol_of(r, callee->items[2], &no));
        SP_TRY(sp_function_switch(callee->items[0]->t, yes, no, &t));
        break;
    case SP_MINDIR_CLOSURE:
        SP_CHECK(sp_function_recording(), SP_FORMAT, "a function is given where a tensor is expected");
        SP_TRY(made_of(r, callee, &f));
        SP_TRY(sp_function_value(f->ir, &t));
        if (!callee->n) break;
        SP_TRY(keep(r, &t));
        yes = t;
        SP_TRY(flat_arguments(r, callee, 0, callee->n, callee->items, &args, &n));
        if (!n) {
            *out = yes;
            return SP_OK;
        }
        SP_TRY(sp_function_partial(yes, n, args, &t));
        break;
    default: return sp__fail(SP_FORMAT, "a value that is not a function is called");
    }
    SP_TRY(keep(r, &t));
    *out = t;
    return SP_OK;
}

/* The form of what a function value returns: from one that is finished, else as the file says. */
static const sp_mindir_value *result_form(run *r, const sp_mindir_value *callee)
{
    if (callee->kind == SP_MINDIR_CHOICE) {
        const sp_mindir_value *form = result_form(r, callee->items[1]);
        return form ? form : result_form(r, callee->items[2]);
    }
    for (made *f = callee->kind == SP_MINDIR_CLOSURE ? r->made : NULL; f; f = f->next)
        if (f->fn == callee->fn && f->up == callee->env) return f->result;
    return NULL;
}

static sp_status call_symbol(run *r, sp_mindir_value *callee, int n, sp_mindir_value **args,
                             const sp_mindir_value *type, sp_mindir_value **out)
{
    sp_tensor *symbol, **flat, **results;
    int n_args, n_out = 0;
    SP_TRY(symbol_of(r, callee, &symbol));
    SP_TRY(flat_arguments(r, callee, callee->n, n, args, &flat, &n_args));
    const sp_mindir_value *form = result_form(r, callee);
    if (!form) form = type;
    if (!form && callee->kind == SP_MINDIR_CLOSURE && callee->fn->n_outputs == 1) form = callee->fn->output_types[0];
    SP_CHECK(form, SP_FORMAT, "the file does not say what a function that is called returns");
    int total_out = flat_count(form);
    sp_spec *specs = sp__arena_alloc(&r->arena, (size_t)(total_out + 1) * sizeof *specs);
    bool *functions = sp__arena_alloc(&r->arena, (size_t)(total_out + 1) * sizeof *functions);
    if (!specs || !functions || !(results = sp__arena_alloc(&r->arena, (size_t)(total_out + 1) * sizeof *results)))
        return SP_NOMEM;
    flat_specs(form, specs, functions, &n_out);
    SP_TRY(sp_function_call(symbol, n_args, flat, n_out, specs, results));
    SP_TRY(keep_all(r, n_out, results, functions));
    n_out = 0;
    return unflatten(r, form, results, &n_out, out);
}

static sp_status call_value(run *r, sp_mindir_value *callee, int n, sp_mindir_value **args, const sp_mindir_value *type,
                            sp_mindir_value **out)
{
    SP_CHECK(callee->kind == SP_MINDIR_CLOSURE || callee->kind == SP_MINDIR_CHOICE || callee->kind == SP_MINDIR_SYMBOL,
             SP_FORMAT, "a value that is not a function is called");
    if (is_recorded(callee)) return call_symbol(r, callee, n, args, type, out);
    SP_CHECK(r->depth < MAX_DEPTH, SP_RUNTIME, "more than %d calls are nested", MAX_DEPTH);
    SP_TRY(sp__stack_check());
    r->depth++;
    sp_status status = run_here(r, callee, n, args, out);
    r->depth--;
    return status;
}

/* --- the kind of model ------------------------------------------------------------------------------------------- */

static sp_status describe(sp_model *m, const sp_mindir_model *mi)
{
    const sp_mindir_function *f = &mi->functions[0];
    int n = 0;
    m->inputs = sp__arena_alloc(&m->arena, (size_t)(f->n_args + 1) * sizeof *m->inputs);
    if (!m->inputs) return SP_NOMEM;
    for (int i = 0; i < f->n_args; i++) {
        const char *colon = strchr(f->inputs[i].name, ':');
        const sp_mindir_value *type = f->inputs[i].type;
        SP_CHECK(type && type->kind == SP_MINDIR_TENSOR && type->meta, SP_FORMAT,
                 "input '%s' is not a tensor, which is not supported", f->inputs[i].name);
        m->inputs[i].name = colon && colon[1] ? colon + 1 : f->inputs[i].name;
        m->inputs[i].spec = *type->meta;
    }
    m->n_inputs = f->n_args;
    for (int i = 0; i < f->n_outputs; i++) {
        SP_CHECK(f->output_types[i], SP_FORMAT, "the file does not say what output '%s' is", f->output_names[i]);
        n += flat_count(f->output_types[i]);
    }
    sp_spec *specs = sp__arena_alloc(&m->arena, (size_t)(n + 1) * sizeof *specs);
    bool *functions = sp__arena_alloc(&m->arena, (size_t)(n + 1) * sizeof *functions);
    m->outputs = sp__arena_alloc(&m->arena, (size_t)(n + 1) * sizeof *m->outputs);
    if (!m->outputs || !specs || !functions) return SP_NOMEM;
    for (int i = 0; i < f->n_outputs; i++) {
        int from = m->n_outputs;
        flat_specs(f->output_types[i], specs, functions, &m->n_outputs);
        for (int k = from; k < m->n_outputs; k++) {
            SP_CHECK(!functions[k], SP_FORMAT, "output '%s' is a function, which is not supported", f->output_names[i]);
            m->outputs[k] = (sp_model_value){.name = f->output_names[i], .spec = specs[k]};
        }
    }
    return sp__mindir_form(f, &m->arena, &m->form);
}

static void release(void *data) { sp__mindir_free(data); }

static sp_status load(const sp_source *s, sp_model *m)
{
    sp_mindir_model *mi = sp__arena_alloc(&m->arena, sizeof *mi);
    if (!mi) return SP_NOMEM;
    m->data = mi;
    SP_TRY(sp__source_read(s, m->parameters));
    mi->weights = m->parameters;
    for (int64_t i = 0; i < sp_bundle_count(mi->weights); i++) {
        sp_tensor *t = sp_bundle_tensor_at(mi->weights, i);
        if (!t) return SP_NOMEM;
        sp_graph_variable_mark(t);
    }
    SP_TRY(sp__mindir_parse(s, m, mi));
    SP_TRY(describe(m, mi));
    m->sized = mi->n_functions > 1;
    return SP_HAVE_TEXTS ? sp__mindir_outline(m, mi) : SP_OK; /* nodes are listed for tools */
}

static sp_status apply_in(run *r, const sp_model *m, sp_tensor *const *in, sp_tensor **out)
{
    const sp_mindir_function *f = &r->m->functions[0];
    sp_mindir_value **args = sp__arena_alloc(&r->arena, (size_t)(m->n_inputs + 1) * sizeof *args), *result;
    sp_tensor **flat;
    int n = 0;
    if (!args) return SP_NOMEM;
    for (int i = 0; i < m->n_inputs; i++) {
        SP_CHECK(in[i], SP_VALUE, "input '%s' is missing", m->inputs[i].name);
        if (!(args[i] = sp__mindir_tensor(&r->arena, in[i]))) return SP_NOMEM;
    }
    sp_mindir_value main = {.kind = SP_MINDIR_CLOSURE, .fn = (sp_mindir_function *)(uintptr_t)f};
    SP_TRY(run_here(r, &main, m->n_inputs, args, &result));
    SP_CHECK(flat_count(result) == m->n_outputs, SP_FORMAT, "has %d results, the file says %d", flat_count(result),
             m->n_outputs);
    if (!(flat = sp__arena_alloc(&r->arena, (size_t)(m->n_outputs + 1) * sizeof *flat))) return SP_NOMEM;
    SP_TRY(flatten(r, result, f->n_outputs == 1 ? f->output_types[0] : NULL, flat, &n));
    for (int i = 0; i < n; i++) out[i] = sp_tensor_retain(flat[i]);
    return SP_OK;
}

static sp_status apply(const sp_model *m, sp_tensor *const *in, sp_tensor **out)
{
    run r = {.m = m->data};
    SP_TRY(sp_builder_create(&r.b));
    sp_status status = apply_in(&r, m, in, out);
    sp_builder_release(r.b);
    sp__arena_free(&r.arena);
    return status;
}

const sp_model_kind sp__model_mindir = {
    .format = "mindir", .load = load, .release = release, .apply = apply, .any_size = true};
