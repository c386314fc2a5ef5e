/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - what symbols hold that follow from sizes alone, in a graph that is recorded for sizes at hand (keeps_sizes). */
#include <string.h>

#include "ir/graph_impl.h"
#include "spore/grad.h"

enum { ELEMENTS_MAX = 1024, DEPTH_MAX = 200 };

static sp_status known_of(sp_value *v, int depth, sp_tensor **out);

static sp_status keep(sp_graph *g, const sp_value *v, sp_tensor *t)
{
    if (v->id >= g->n_known) {
        const int more = g->next_value + 64;
        sp_tensor **bigger = sp__realloc(g->known, (size_t)g->n_known * sizeof *bigger, (size_t)more * sizeof *bigger);
        if (!bigger) {
            sp_tensor_release(t);
            return SP_NOMEM;
        }
        memset(bigger + g->n_known, 0, (size_t)(more - g->n_known) * sizeof *bigger);
        g->known = bigger;
        g->n_known = more;
    }
    g->known[v->id] = t;
    return SP_OK;
}

/* The operator on what its operands hold, outside the recording. */
static sp_status compute(const sp_node *n, sp_tensor *const *in, sp_tensor **out)
{
    sp_function *recorder = sp__recorder;
    const int depth = sp_grad_pause();
    int n_made = 0;
    sp__recorder = NULL;
    sp_status status = sp_apply(n->op, n->attrs, n->n_in, in, 1, out, &n_made);
    sp__recorder = recorder;
    sp_grad_resume(depth);
    return status;
}

static sp_status known_of(sp_value *v, int depth, sp_tensor **out)
{
    sp_graph *g = v->owner->graph;
    sp_tensor *in[SP_IN_MAX], *t = NULL;
    int axis;
    *out = NULL;
    if (v->origin == SP_VALUE_CONSTANT) {
        *out = v->constant;
        return SP_OK;
    }
    if (v->id < g->n_known && g->known[v->id]) {
        *out = g->known[v->id];
        return SP_OK;
    }
    int64_t count;
    if (v->origin != SP_VALUE_NODE || depth == 0 || !sp__meta_known(&v->meta) ||
        sp__shape_count(v->meta.rank, v->meta.dims, &count) != SP_OK || count > ELEMENTS_MAX)
        return SP_OK;
    const sp_node *n = v->node;
    if (sp__node_is_size(n, &axis)) {
        const int64_t none = 0;
        SP_TRY(sp_tensor_create_from(SP_DTYPE_I64, 0, &none, &n->in[0]->meta.dims[axis], &t));
    } else {
        if (n->kind != SP_NODE_OP || n->n_out != 1 || n->n_in > SP_IN_MAX || n->op->writes) return SP_OK;
        for (int i = 0; i < n->n_in; i++) {
            in[i] = NULL;
            if (!n->in[i]) continue;
            SP_TRY(known_of(n->in[i], depth - 1, &in[i]));
            if (!in[i]) return SP_OK;
        }
        SP_TRY(compute(n, in, &t));
    }
    SP_TRY(keep(g, v, t));
    *out = t;
    return SP_OK;
}

sp_status sp__value_known(sp_value *v, sp_tensor **out) { return known_of(v, DEPTH_MAX, out); }

sp_status sp__symbol_known(const sp_tensor *t, sp_tensor **out)
{
    *out = NULL;
    return t && t->symbol && t->symbol->owner->graph->keeps_sizes ? known_of(t->symbol, DEPTH_MAX, out) : SP_OK;
}

void sp__graph_forget_known(sp_graph *g)
{
    for (int i = 0; i < g->n_known; i++) sp_tensor_release(g->known[i]);
    sp__free(g->known);
    g->known = NULL;
    g->n_known = 0;
}
