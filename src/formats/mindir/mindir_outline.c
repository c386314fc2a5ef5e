/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_outline.c - a MindIR model as nodes and names for people and tools (sp_model_node_at): what computes, not what keeps order.
 *
 * - Load, Depend and UpdateState pass a value on or order effects; Partial binds arguments. They are left out, and so is what is only kept
 *   alive by them: a name that stands for their result stands for what they pass on.
 * - A function that is called is listed where it is first called, in front of the call; its arguments are called what is given there. A call takes
 *   the results of all functions that it may call (both branches of a Switch), and of one that is under way, a loop, its arguments. */
#include <stdio.h>
#include <string.h>

#include "base/stack.h"
#include "formats/mindir/mindir.h"

enum { TARGETS_MAX = 16, DEPTH_MAX = 64 };

typedef struct {
    const sp_mindir_function *fn;
    const sp_mindir_node *partial; /* binds its first arguments; NULL: none are bound */
    const char *branch;            /* "then", "else", "" */
} target;

typedef struct {
    sp_model *m;
    const sp_mindir_model *mi;
    const char ***arguments; /* by function and input: what is given; NULL: not known */
    bool *listed;            /* by function: listed, or being so */
    int n_room, n_calls;
} outline;

static const sp_mindir_node *node_of(const sp_mindir_name *at)
{
    return at && at->where == SP_MINDIR_AT_VALUE && at->owner->node_of_slot ? at->owner->node_of_slot[at->slot] : NULL;
}

static bool is_type(const sp_mindir_node *n, const char *type)
{
    return n->primitive && strcmp(n->primitive->type, type) == 0;
}

/* Does the node only order effects or pass a value on? */
static bool passes_on(const sp_mindir_node *n)
{
    return is_type(n, "Load") || is_type(n, "Depend") || is_type(n, "UpdateState");
}

static const char *argument_of(const outline *o, const sp_mindir_name *at)
{
    return at->slot < at->owner->n_args && o->arguments[at->owner->index] ? o->arguments[at->owner->index][at->slot]
                                                                          : NULL;
}

/* What a name stands for to people: weights by their names, what is passed on by what it was, arguments by what is given. */
static const char *shown_name(const outline *o, const char *name)
{
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        const sp_mindir_name *at = sp__mindir_find(o->mi, name);
        if (!at || at->where != SP_MINDIR_AT_VALUE) break;
        const sp_mindir_node *n = node_of(at);
        const char *next = n ? passes_on(n) && n->n_in ? n->in_names[0] : NULL : argument_of(o, at);
        if (!next) break;
        name = next;
    }
    const char *colon = strchr(name, ':');
    if (colon && sp_bundle_find(o->mi->weights, colon + 1) >= 0) return colon + 1;
    for (int i = 0; i < o->m->n_inputs; i++) /* inputs lose the name of the function */
        if (colon && !strcmp(o->m->inputs[i].name, colon + 1)) return colon + 1;
    return name;
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

static void add_targets(const outline *o, const sp_mindir_name *at, const sp_mindir_node *partial, const char *branch,
                        int depth, target *out, int *n)
{
    if (!at || depth > DEPTH_MAX || *n == TARGETS_MAX) return;
    if (at->where == SP_MINDIR_AT_FUNCTION) {
        out[(*n)++] = (target){at->fn, partial, branch};
        return;
    }
    const sp_mindir_node *node = node_of(at);
    if (at->where == SP_MINDIR_AT_VALUE && !node) {
        const char *given = argument_of(o, at);
        if (given) add_targets(o, sp__mindir_find(o->mi, given), partial, branch, depth + 1, out, n);
    } else if (node && node->n_in > 0 && (passes_on(node) || is_type(node, "Partial"))) {
        add_targets(o, node->in[0], is_type(node, "Partial") ? node : partial, branch, depth + 1, out, n);
    } else if (node && is_type(node, "Switch")) {
        for (int i = 1; i < node->n_in; i++)
            add_targets(o, node->in[i], partial, i == 1 ? "then" : "else", depth + 1, out, n);
    } else if (node && (is_type(node, "SwitchLayer") || is_type(node, "MakeTuple"))) {
        for (int i = is_type(node, "SwitchLayer"); i < node->n_in; i++)
            add_targets(o, node->in[i], partial, branch, depth + 1, out, n);
    }
}

/* Remember what the function is given here. */
static sp_status give_arguments(outline *o, const target *t, const sp_mindir_node *call)
{
    const sp_mindir_function *f = t->fn;
    const char **given = sp__arena_alloc(&o->m->arena, (size_t)(f->n_inputs + 1) * sizeof *given);
    if (!given) return SP_NOMEM;
    int n_bound = t->partial ? t->partial->n_in - 1 : 0;
    for (int i = 0; i < f->n_args; i++) {
        const sp_mindir_node *from = i < n_bound ? t->partial : call;
        int k = i < n_bound ? i + 1 : i - n_bound;
        given[i] = k < from->n_in ? shown_name(o, from->in_names[k]) : NULL;
    }
    o->arguments[f->index] = given;
    return SP_OK;
}

/* --- what is used ------------------------------------------------------------------------------------------------ */

/* Nodes of f that its results come from, and those with effects that are waited for. */
typedef struct {
    const sp_mindir_function *f;
    bool *used;                   /* by node */
    const sp_mindir_node **stack; /* to be looked at */
    bool *seen_effect;
    int n;
} marker;

static void mark(marker *k, const sp_mindir_name *at)
{
    const sp_mindir_node *n = node_of(at);
    if (!n || at->owner != k->f || k->used[n - k->f->nodes]) return;
    k->used[n - k->f->nodes] = true;
    k->stack[k->n++] = n;
}

/* Waiting for a Load, or for several things together, is no use of them. */
static void mark_effects(marker *k, const sp_mindir_name *at, int depth)
{
    const sp_mindir_node *n = node_of(at);
    if (!n || at->owner != k->f || depth > DEPTH_MAX || is_type(n, "Load") || k->seen_effect[n - k->f->nodes]) return;
    k->seen_effect[n - k->f->nodes] = true;
    if (!is_type(n, "UpdateState") && !is_type(n, "MakeTuple")) {
        mark(k, at);
        return;
    }
    for (int i = 0; i < n->n_in; i++) mark_effects(k, n->in[i], depth + 1);
}

static void mark_used(marker *k)
{
    for (int i = 0; i < k->f->n_outputs; i++) mark(k, k->f->outputs[i]);
    while (k->n > 0) {
        const sp_mindir_node *n = k->stack[--k->n];
        bool depends = is_type(n, "Depend"), orders = is_type(n, "UpdateState");
        if (!n->primitive) mark(k, n->callee);
        for (int i = 0; i < n->n_in; i++) {
            const sp_mindir_node *from = node_of(n->in[i]);
            if (orders || (depends && i > 0) || (from && is_type(from, "UpdateState"))) mark_effects(k, n->in[i], 0);
            else mark(k, n->in[i]);
        }
    }
}

static sp_status find_used(outline *o, const sp_mindir_function *f, bool **out)
{
    marker k = {.f = f};
    size_t room = (size_t)f->n_nodes + 1;
    k.used = sp__arena_alloc(&o->m->arena, room * sizeof *k.used);
    k.seen_effect = sp__arena_alloc(&o->m->arena, room * sizeof *k.seen_effect);
    k.stack = sp__arena_alloc(&o->m->arena, room * sizeof *k.stack);
    if (!k.used || !k.seen_effect || !k.stack) return SP_NOMEM;
    memset(k.used, 0, room * sizeof *k.used);
    memset(k.seen_effect, 0, room * sizeof *k.seen_effect);
    mark_used(&k);
    *out = k.used;
    return SP_OK;
}

/* --- the list ---------------------------------------------------------------------------------------------------- */

static sp_status list_function(outline *o, const sp_mindir_function *f, const char *scope, int depth);

/* "if_2/then": where the nodes of a function that is called belong. Its text is not to lie on the stack of every level. */
__attribute__((noinline)) static const char *scope_of_call(outline *o, const char *outer, const target *t)
{
    char text[256];
    const char *kind = t->fn->recursive ? "loop" : t->branch[0] ? "if" : "call";
    snprintf(text, sizeof text, "%s%s%s_%d%s%s", outer, outer[0] ? "/" : "", kind, o->n_calls, t->branch[0] ? "/" : "",
             t->branch);
    return sp__arena_text(&o->m->arena, text);
}

/* The functions that the node may call, in front of it; its operands are their results. */
static sp_status list_call(outline *o, const sp_mindir_node *n, const char *scope, int depth, const char **names,
                           int *n_names)
{
    target *targets = sp__arena_alloc(&o->m->arena, TARGETS_MAX * sizeof *targets);
    int n_targets = 0;
    if (!targets) return SP_NOMEM;
    bool again = false;
    add_targets(o, n->callee, NULL, "", 0, targets, &n_targets);
    if (n_targets > 0) o->n_calls++;
    int number = o->n_calls;
    for (int i = 0; i < n_targets; i++) {
        const sp_mindir_function *f = targets[i].fn;
        bool under_way = o->listed[f->index];
        again |= under_way;
        if (!under_way && depth < DEPTH_MAX) {
            SP_TRY(give_arguments(o, &targets[i], n));
            int now = o->n_calls;
            o->n_calls = number;
            const char *inside = scope_of_call(o, scope, &targets[i]);
            o->n_calls = now;
            if (!inside) return SP_NOMEM;
            SP_TRY(list_function(o, f, inside, depth + 1));
        }
        for (int k = 0; k < f->n_outputs && !under_way; k++) names[(*n_names)++] = shown_name(o, f->output_names[k]);
    }
    const sp_mindir_node *value = node_of(n->callee);
    if (value && is_type(value, "Switch")) names[(*n_names)++] = value->name;
    for (int k = 0; k < n->n_in && (again || n_targets == 0); k++) {
        const char *given = shown_name(o, n->in_names[k]);
        const sp_mindir_name *at = sp__mindir_find(o->mi, n->in_names[k]);
        bool fed = at && at->where == SP_MINDIR_AT_VALUE &&
                   sp_bundle_find(o->mi->weights, given) < 0; /* weights are used inside */
        if (fed) names[(*n_names)++] = given;
    }
    return SP_OK;
}

/* The result of the model under its own name, too: that of what passes it on. */
static int outputs_of(const outline *o, const sp_mindir_function *f, const sp_mindir_node *n, const char **names)
{
    int n_out = 0;
    names[n_out++] = n->name;
    for (int i = 0; f->index == 0 && i < f->n_outputs && n_out < 2; i++)
        if (strcmp(f->output_names[i], n->name) != 0 && strcmp(shown_name(o, f->output_names[i]), n->name) == 0)
            names[n_out++] = f->output_names[i];
    return n_out;
}

__attribute__((noinline)) static const char *joined_scope(outline *o, const char *outer, const char *own)
{
    char text[512];
    snprintf(text, sizeof text, "%s/%s", outer, own);
    return sp__arena_text(&o->m->arena, text);
}

static sp_status list_node(outline *o, const sp_mindir_function *f, const sp_mindir_node *n, const char *scope,
                           int depth)
{
    size_t n_results = 0;
    for (int i = 0; !n->primitive && i < o->mi->n_functions; i++) n_results += (size_t)o->mi->functions[i].n_outputs;
    const char **names = sp__arena_alloc(&o->m->arena, ((size_t)n->n_in + n_results + 4) * sizeof *names);
    const char *own = sp__model_scope(&o->m->arena, n->scope);
    if (!names || !own) return SP_NOMEM;
    int n_in = 0;
    if (!n->primitive) SP_TRY(list_call(o, n, scope, depth, names, &n_in));
    for (int k = 0; n->primitive && k < n->n_in; k++) {
        const sp_mindir_name *at = sp__mindir_find(o->mi, n->in_names[k]);
        const sp_mindir_node *from = node_of(at);
        bool value = at && at->where == SP_MINDIR_AT_VALUE &&
                     !(from && (is_type(from, "UpdateState") || is_type(from, "Partial")));
        if (value) names[n_in++] = shown_name(o, n->in_names[k]);
    }
    if (own[0]) scope = scope[0] ? joined_scope(o, scope, own) : own;
    if (!scope) return SP_NOMEM;
    int n_out = outputs_of(o, f, n, names + n_in);
    if (o->m->n_nodes < o->n_room)
        o->m->nodes[o->m->n_nodes++] = (sp_model_node){
            n->name, n->primitive ? n->primitive->type : "call", scope, n_in, n_out, names, names + n_in};
    return SP_OK;
}

static sp_status list_function(outline *o, const sp_mindir_function *f, const char *scope, int depth)
{
    bool *used = NULL;
    SP_TRY(sp__stack_check());
    o->listed[f->index] = true;
    SP_TRY(find_used(o, f, &used));
    for (int i = 0; i < f->n_nodes; i++) {
        const sp_mindir_node *n = &f->nodes[i];
        if (used[i] && !n->constant && !passes_on(n) && !is_type(n, "Partial"))
            SP_TRY(list_node(o, f, n, scope, depth));
    }
    return SP_OK;
}

sp_status sp__mindir_outline(sp_model *m, const sp_mindir_model *mi)
{
    outline o = {.m = m, .mi = mi};
    for (int i = 0; i < mi->n_functions; i++) o.n_room += mi->functions[i].n_nodes;
    m->nodes = sp__arena_alloc(&m->arena, (size_t)(o.n_room + 1) * sizeof *m->nodes);
    o.arguments = sp__arena_alloc(&m->arena, (size_t)(mi->n_functions + 1) * sizeof *o.arguments);
    o.listed = sp__arena_alloc(&m->arena, (size_t)(mi->n_functions + 1) * sizeof *o.listed);
    if (!m->nodes || !o.arguments || !o.listed) return SP_NOMEM;
    memset(o.arguments, 0, (size_t)(mi->n_functions + 1) * sizeof *o.arguments);
    memset(o.listed, 0, (size_t)(mi->n_functions + 1) * sizeof *o.listed);
    return list_function(&o, &mi->functions[0], "", 0);
}
