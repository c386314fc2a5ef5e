/* SPDX-License-Identifier: Apache-2.0 */
/* inline.c - calls of known functions are replaced by the functions' nodes, so that whole networks become one segment.
 *
 * Callees come first, so that a function is copied with what it calls already inside. A function that can reach itself is
 * left alone: it is a loop or a recursion, and one turn more of it outside would gain nothing. A function that is mentioned
 * once is always taken; others while they are small or the program has not grown too much. */
#include "graph/passes/passes.h"

enum { SMALL_NODES = 200, GROWTH_MAX = 100000 };

typedef struct {
    int n_mentions;
    bool recursive, done;
    int seen; /* stamp of the last search that came here */
} info;

typedef struct {
    sp_graph *g;
    info *infos; /* by id */
    int stamp, grown, count;
    sp_function **stack;
    sp_value **map; /* by value id: what a value of the callee is in the caller */
    int map_size;
} inliner;

static void push_targets(inliner *l, const sp_value *v, int *n)
{
    if (!v || v->origin != SP_VALUE_FUNCTION) return;
    info *i = &l->infos[v->target->id];
    if (i->seen == l->stamp) return;
    i->seen = l->stamp;
    l->stack[(*n)++] = v->target;
}

static bool reaches_itself(inliner *l, sp_function *f)
{
    int n = 0;
    l->stamp++;
    l->stack[n++] = f; /* not stamped: to be found again */
    while (n) {
        const sp_function *at = l->stack[--n];
        for (const sp_node *m = at->first; m; m = m->next)
            for (int i = 0; i < m->n_in; i++) push_targets(l, m->in[i], &n);
        for (int i = 0; i < at->n_results; i++) push_targets(l, at->results[i], &n);
        if (l->infos[f->id].seen == l->stamp) return true;
    }
    return false;
}

static void count_mentions(inliner *l)
{
    for (sp_function *f = l->g->first; f; f = f->next) {
        for (sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i] && n->in[i]->origin == SP_VALUE_FUNCTION) l->infos[n->in[i]->target->id].n_mentions++;
        for (int i = 0; i < f->n_results; i++)
            if (f->results[i]->origin == SP_VALUE_FUNCTION) l->infos[f->results[i]->target->id].n_mentions += 2;
    }
    l->infos[l->g->entry->id].n_mentions += 2;
}

/* call(partial(f, a), b) is call(f, a, b). */
static sp_status unbind(sp_node *n)
{
    while (n->in[0]->origin == SP_VALUE_NODE && n->in[0]->node->kind == SP_NODE_PARTIAL) {
        const sp_node *p = n->in[0]->node;
        int n_in = p->n_in + n->n_in - 1;
        sp_value **in = sp__arena_alloc(&n->owner->graph->arena, (size_t)n_in * sizeof *in);
        if (!in) return SP_NOMEM;
        for (int i = 0; i < p->n_in; i++) in[i] = p->in[i];
        for (int i = 1; i < n->n_in; i++) in[p->n_in + i - 1] = n->in[i];
        n->in = in;
        n->n_in = n_in;
    }
    return SP_OK;
}

static sp_value *mapped(const inliner *l, sp_value *v)
{
    return v && (v->origin == SP_VALUE_NODE || v->origin == SP_VALUE_PARAM) ? l->map[v->id] : v;
}

static sp_status copy_node(inliner *l, const sp_node *m, sp_node *at, int n_out, sp_node **out)
{
    sp_node *n = sp__node_insert(at, m->kind, m->n_in, m->in, n_out);
    if (!n) return SP_NOMEM;
    for (int i = 0; i < m->n_in; i++) n->in[i] = mapped(l, m->in[i]);
    n->place = m->place;
    n->variable = m->variable;
    n->grad = m->grad; /* not changed after closing: shared */
    if (m->op) SP_TRY(sp__node_set_op(n, m->op, m->attrs));
    if (m->host) SP_TRY(sp__node_set_host(n, m->host));
    for (int i = 0; i < m->n_out; i++) {
        n->out[i]->meta = m->out[i]->meta;
        n->out[i]->is_function = m->out[i]->is_function;
        n->out[i]->weak = m->out[i]->weak;
        l->map[m->out[i]->id] = n->out[i];
    }
    *out = n;
    return SP_OK;
}

/* The callee's nodes in front of the call. A callee that ends in a call of its own passes that one on. */
static sp_status splice(inliner *l, sp_node *call)
{
    sp_function *f = call->owner, *callee = call->in[0]->target;
    const bool is_tail = f->tail == call;
    SP_CHECK(call->n_in - 1 == callee->n_params, SP_TYPE, "function %s takes %d arguments, but got %d", callee->name,
             callee->n_params, call->n_in - 1);
    for (int i = 0; i < callee->n_params; i++) l->map[callee->params[i]->id] = call->in[1 + i];
    for (const sp_node *m = callee->first; m; m = m->next) {
        sp_node *n;
        bool ends = m == callee->tail;
        SP_TRY(copy_node(l, m, call, ends ? call->n_out : m->n_out, &n));
        if (!ends) continue;
        if (is_tail) f->tail = n;
        for (int i = 0; i < call->n_out; i++) {
            n->out[i]->meta = call->out[i]->meta;
            n->out[i]->is_function = call->out[i]->is_function;
            call->out[i]->mark = n->out[i];
        }
    }
    if (!callee->tail) {
        SP_CHECK(is_tail || callee->n_results == call->n_out, SP_RUNTIME, "function %s gives %d results, %d are used",
                 callee->name, callee->n_results, call->n_out);
        for (int i = 0; i < call->n_out; i++) call->out[i]->mark = mapped(l, callee->results[i]);
        if (is_tail) {
            sp_value **results = sp__arena_alloc(&l->g->arena, (size_t)(callee->n_results + 1) * sizeof *results);
            if (!results) return SP_NOMEM;
            for (int i = 0; i < callee->n_results; i++) results[i] = mapped(l, callee->results[i]);
            f->results = results;
            f->n_results = callee->n_results;
            f->tail = NULL;
        }
    }
    sp__node_remove(call);
    l->count++;
    return SP_OK;
}

static bool wanted(inliner *l, const sp_function *callee)
{
    const info *i = &l->infos[callee->id];
    if (i->recursive) return false;
    return i->n_mentions == 1 || callee->n_nodes <= SMALL_NODES || l->grown + callee->n_nodes < GROWTH_MAX;
}

/* Values made by splicing are newer than the map; it is made larger before the next function. */
static sp_status reserve_map(inliner *l)
{
    if (l->g->next_value <= l->map_size) return SP_OK;
    int size = 2 * l->g->next_value;
    sp_value **map = sp__realloc(l->map, (size_t)l->map_size * sizeof *map, (size_t)size * sizeof *map);
    if (!map) return SP_NOMEM;
    l->map = map;
    l->map_size = size;
    return SP_OK;
}

static sp_status inline_into(inliner *l, sp_function *f)
{
    for (sp_node *n = f->first, *next; n; n = next) {
        next = n->next;
        sp__node_forward(n);
        if (n->kind != SP_NODE_CALL) continue;
        SP_TRY(unbind(n));
        if (n->in[0]->origin != SP_VALUE_FUNCTION || !wanted(l, n->in[0]->target)) continue;
        l->grown += n->in[0]->target->n_nodes;
        SP_TRY(reserve_map(l));
        SP_TRY(splice(l, n));
    }
    for (int i = 0; i < f->n_results; i++) f->results[i] = sp__value_forwarded(f->results[i]);
    return SP_OK;
}

/* Callees before callers, on a stack of our own: chains of functions may be long. */
static sp_status inline_all(inliner *l)
{
    for (sp_function *root = l->g->first; root; root = root->next) {
        int n = 0;
        if (l->infos[root->id].done) continue;
        l->stack[n++] = root;
        while (n) {
            sp_function *f = l->stack[n - 1];
            int before = n;
            if (l->infos[f->id].seen != -1) { /* first visit: what it calls goes first */
                l->infos[f->id].seen = -1;
                for (sp_node *m = f->first; m; m = m->next)
                    for (int i = 0; i < m->n_in; i++) {
                        if (!m->in[i] || m->in[i]->origin != SP_VALUE_FUNCTION) continue;
                        sp_function *t = m->in[i]->target;
                        if (l->infos[t->id].seen != -1) {
                            bool waiting = false;
                            for (int k = before; k < n && !waiting; k++) waiting = l->stack[k] == t;
                            if (!waiting && n < 2 * l->g->n_functions) l->stack[n++] = t;
                        }
                    }
                if (n > before) continue;
            }
            n--;
            if (l->infos[f->id].done) continue;
            l->infos[f->id].done = true;
            SP_TRY(inline_into(l, f));
        }
    }
    return SP_OK;
}

static sp_status inline_run(sp_graph *g, int *count)
{
    sp__marks_clear(g);
    inliner l = {.g = g};
    sp_status status = SP_NOMEM;
    l.infos = sp__alloc_zero((size_t)g->n_functions * sizeof *l.infos);
    l.stack = sp__alloc((size_t)(4 * g->n_functions + 4) * sizeof(sp_function *));
    if (!l.infos || !l.stack) goto done;
    count_mentions(&l);
    for (sp_function *f = g->first; f; f = f->next) l.infos[f->id].recursive = reaches_itself(&l, f);
    SP_GOTO(done, inline_all(&l));
    sp__values_forward(g);
    sp__functions_drop(g);
    *count = l.count;
done:
    sp__free(l.infos);
    sp__free(l.stack);
    sp__free(l.map);
    sp__marks_clear(g);
    return status;
}

const sp_pass sp_pass_inline = {
    .name = "inline",
    .what = "calls replaced",
    .doc = "Calls of known functions are replaced by the functions' nodes.",
    .run = inline_run,
};
