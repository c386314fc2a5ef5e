/* SPDX-License-Identifier: Apache-2.0 */
/* apart.c - results that eager mode computes apart stay apart.
 *
 * Passes find that x * 1 is x, and that two results are one. What a program gives back may be written to by whoever gets it,
 * and in eager mode such a write would not reach the argument or the other result. So the values that results show are marked
 * before the passes; where a pass would have a marked value replaced by one that something else shows, it makes a copy. */
#include "graph/passes/passes.h"
#include "ops/ops_impl.h"

/* What a value shows in eager mode, through views; NULL when only the run tells (it came out of a call). */
static sp_value *shown(sp_value *v)
{
    while (v && v->origin == SP_VALUE_NODE) {
        const sp_node *n = v->node;
        if (n->kind != SP_NODE_OP) return n->kind == SP_NODE_READ ? v : NULL;
        if (!n->op->view || !n->n_in) return v;
        v = n->in[0];
    }
    return v;
}

static bool is_computed(const sp_value *v) { return v && v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_OP; }

void sp__results_mark(sp_graph *g)
{
    const sp_function *f = g->entry;
    for (int i = 0; i < f->n_results; i++) {
        sp_value *v = shown(f->results[i]);
        if (is_computed(v)) v->apart = true;
    }
}

sp_status sp__value_stand_in(sp_node *n, sp_value *v, sp_value **out)
{
    *out = v;
    if (!n->out[0]->apart) return SP_OK;
    sp_value *root = shown(v);
    if (is_computed(root) && !root->apart) { /* nobody else shows it: it becomes the result's */
        root->apart = true;
        return SP_OK;
    }
    sp_node *copy;
    SP_TRY(sp__node_op(n->owner, n, &sp_op_copy, NULL, 1, &v, &copy));
    copy->out[0]->apart = true;
    *out = copy->out[0];
    return SP_OK;
}
