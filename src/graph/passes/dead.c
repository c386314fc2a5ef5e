/* SPDX-License-Identifier: Apache-2.0 */
/* dead.c - nodes whose results nobody uses are removed, last ones first, so that what only they used goes with them;
 * then functions that cannot be reached any more. */
#include "graph/passes/passes.h"

static bool is_used(const sp_node *n)
{
    if (n->owner->tail == n) return true;
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i]->mark) return true;
    return false;
}

/* Other ranks wait for a collective, whether its result is used here or not. */
static bool is_collective(const sp_node *n) { return n->kind == SP_NODE_OP && n->op->collective; }

static sp_status dead_run(sp_graph *g, int *count)
{
    sp__marks_clear(g);
    for (sp_function *f = g->first; f; f = f->next) {
        for (int i = 0; i < f->n_results; i++) f->results[i]->mark = f;
        for (sp_node *n = f->last, *before; n; n = before) {
            before = n->prev;
            if ((sp__node_pure(n) || n->kind == SP_NODE_READ) && !is_used(n) && !is_collective(n)) {
                sp__node_remove(n);
                ++*count;
                continue;
            }
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i]) n->in[i]->mark = f;
        }
    }
    sp__functions_drop(g);
    sp__marks_clear(g);
    return SP_OK;
}

const sp_pass sp_pass_dead = {
    .name = "dead",
    .what = "nodes removed",
    .doc = "Nodes whose results nobody uses are removed.",
    .run = dead_run,
};
