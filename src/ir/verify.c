/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - the invariants of graph_impl.h, checked. */
#include "ir/graph_impl.h"

static sp_status bad(const sp_function *f, const sp_node *n, const char *what)
{
    if (!n) return sp__fail(SP_FORMAT, "function %s#%d: %s", f->name, f->id, what);
    return sp__fail(SP_FORMAT, "function %s#%d, node %d (%s): %s", f->name, f->id, n->order,
                    n->op ? n->op->name : "control", what);
}

/* Made before it is used, in this function or, as a free variable, in another one. */
static sp_status check_use(const sp_function *f, const sp_node *n, const sp_value *v)
{
    switch (v->origin) {
    case SP_VALUE_CONSTANT: return v->constant ? SP_OK : bad(f, n, "a constant has no contents");
    case SP_VALUE_FUNCTION: return v->target ? SP_OK : bad(f, n, "a function value has no function");
    case SP_VALUE_PARAM:
        if (v->index >= v->owner->n_params || v->owner->params[v->index] != v)
            return bad(f, n, "a parameter is not its owner's");
        return SP_OK;
    case SP_VALUE_NODE:
        if (v->node->out[v->index] != v) return bad(f, n, "a value is not the result of its node");
        if (v->node->owner == f && n && v->node->order >= n->order)
            return bad(f, n, "a value is used before it is made");
        return SP_OK;
    }
    return bad(f, n, "a value has an unknown origin");
}

static sp_status check_node(const sp_function *f, const sp_node *n)
{
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i]) {
            if (n->kind != SP_NODE_OP) return bad(f, n, "an input is missing");
            continue;
        }
        SP_TRY(check_use(f, n, n->in[i]));
        bool wants_function =
            n->kind == SP_NODE_SWITCH
                ? i > 0
                : i == 0 && (n->kind == SP_NODE_CALL || n->kind == SP_NODE_PARTIAL || n->kind == SP_NODE_GRAD);
        if (wants_function && !n->in[i]->is_function) return bad(f, n, "what is called is no function");
        if (n->kind == SP_NODE_OP && n->in[i]->is_function) return bad(f, n, "an operator gets a function");
    }
    for (int i = 0; i < n->n_out; i++)
        if (!n->out[i] || n->out[i]->node != n || n->out[i]->index != i) return bad(f, n, "a result is not the node's");
    switch (n->kind) {
    case SP_NODE_OP: return n->op ? SP_OK : bad(f, n, "there is no operator");
    case SP_NODE_READ: return n->variable && n->n_out == 1 && n->n_in == 0 ? SP_OK : bad(f, n, "a read is malformed");
    case SP_NODE_STORE: return n->variable && n->n_in == 1 && n->n_out == 0 ? SP_OK : bad(f, n, "a store is malformed");
    case SP_NODE_SWITCH: return n->n_in == 3 && n->n_out == 1 ? SP_OK : bad(f, n, "a switch is malformed");
    case SP_NODE_PARTIAL: return n->n_in >= 1 && n->n_out == 1 ? SP_OK : bad(f, n, "a partial is malformed");
    case SP_NODE_CALL: return n->n_in >= 1 ? SP_OK : bad(f, n, "a call calls nothing");
    case SP_NODE_HOST: return n->host ? SP_OK : bad(f, n, "there is no host code");
    case SP_NODE_GRAD: break;
    }
    const sp_grad_spec *g = n->grad;
    if (!g || n->n_in < 1 || n->n_out != g->n_results + g->n_positions + g->n_variables || g->n_seeds > n->n_in - 1)
        return bad(f, n, "a gradient is malformed");
    for (int i = 0; i < g->n_positions; i++)
        if (g->positions[i] >= n->n_in - 1 - g->n_seeds)
            return bad(f, n, "a gradient is asked for an argument that is not there");
    return SP_OK;
}

static sp_status check_function(const sp_function *f)
{
    int count = 0;
    const sp_node *before = NULL;
    for (const sp_node *n = f->first; n; before = n, n = n->next, count++) {
        if (n->owner != f || n->prev != before) return bad(f, n, "the list of nodes is broken");
        SP_TRY(check_node(f, n));
    }
    if (count != f->n_nodes || f->last != before) return bad(f, NULL, "the list of nodes is broken");
    if (f->tail && (f->tail != f->last || f->n_results)) return bad(f, NULL, "the tail call is not the end");
    for (int i = 0; i < f->n_results; i++) {
        if (!f->results[i]) return bad(f, NULL, "a result is missing");
        SP_TRY(check_use(f, NULL, f->results[i]));
    }
    return SP_OK;
}

sp_status sp__graph_verify(const sp_graph *g)
{
    for (sp_function *f = g->first; f; f = f->next) {
        sp__function_number(f);
        if (f->finished) SP_TRY(check_function(f));
    }
    return SP_OK;
}
