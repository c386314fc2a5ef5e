/* SPDX-License-Identifier: Apache-2.0 */
/* dead.c - nodes whose results nobody uses are removed, last ones first, so that what only they used goes with them; and
 * functions that cannot be reached from the entry. */
#include "graph/passes/passes.h"

static bool is_used(const sp_node *n)
{
    if (n->owner->tail == n) return true;
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i]->mark) return true;
    return false;
}

/* Functions reached from f are put in front of the list that starts there; marks say who is in it. */
static void reach(sp_function *f, sp_function **list)
{
    if (f->mark) return;
    f->mark = *list ? (void *)*list : (void *)f; /* the end points to itself */
    *list = f;
}

static void reach_value(const sp_value *v, sp_function **list)
{
    if (v && v->origin == SP_VALUE_FUNCTION) reach(v->target, list);
}

static void drop_functions(sp_graph *g)
{
    sp_function *list = NULL, *kept = NULL, *last = NULL;
    for (sp_function *f = g->first; f; f = f->next) f->mark = NULL;
    reach(g->entry, &list);
    while (list) {
        sp_function *f = list;
        list = f->mark == f ? NULL : f->mark;
        f->mark = f; /* visited */
        for (const sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++) reach_value(n->in[i], &list);
        for (int i = 0; i < f->n_results; i++) reach_value(f->results[i], &list);
    }
    for (sp_function *f = g->first, *next; f; f = next) {
        next = f->next;
        if (!f->mark) continue; /* its memory goes with the graph's */
        if (last) last->next = f;
        else kept = f;
        last = f;
        f->next = NULL;
    }
    g->first = kept;
    g->last = last;
}

static sp_status dead_run(sp_graph *g, int *count)
{
    sp__marks_clear(g);
    for (sp_function *f = g->first; f; f = f->next) {
        for (int i = 0; i < f->n_results; i++) f->results[i]->mark = f;
        for (sp_node *n = f->last, *before; n; n = before) {
            before = n->prev;
            if ((sp__node_pure(n) || n->kind == SP_NODE_READ) && !is_used(n)) {
                sp__node_remove(n);
                ++*count;
                continue;
            }
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i]) n->in[i]->mark = f;
        }
    }
    drop_functions(g);
    sp__marks_clear(g);
    return SP_OK;
}

const sp_pass sp_pass_dead = {
    .name = "dead", .what = "nodes removed", .doc = "Nodes whose results nobody uses are removed.", .run = dead_run,
};
