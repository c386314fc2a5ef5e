/* SPDX-License-Identifier: Apache-2.0 */
/* simplify.c - nodes that give back one of their inputs, bit for bit, are replaced by it.
 *
 * Only what is exact for every number: x * 1, x / 1, x - 0 and, for integers, x + 0, but not x + 0 of floats (which makes
 * 0 of -0). A change of dtype, shape or order that changes nothing; two changes of order that undo each other. All of these are
 * exact for gradients that are recorded from the result, too; stop_gradient is not, and stays. */
#include "graph/passes/passes.h"
#include "ops/ops_impl.h"

static bool same_meta(const sp_meta *a, const sp_meta *b)
{
    return sp__meta_known(a) && sp__meta_known(b) && a->dtype == b->dtype &&
           sp__shape_equal(a->rank, a->dims, b->rank, b->dims);
}

/* Is v a constant all of whose elements are `number`? One element suffices to look at: larger ones are rare. */
static bool is_number(const sp_value *v, double number)
{
    double found;
    if (!v || v->origin != SP_VALUE_CONSTANT || v->constant->count != 1) return false;
    if (sp_dtype_kind((sp_dtype)v->constant->dtype) == 'c' || v->constant->dtype == SP_DTYPE_BOOL) return false;
    return sp_tensor_item_f64(v->constant, &found) == SP_OK && memcmp(&found, &number, sizeof found) == 0;
}

static bool is_integer(const sp_value *v)
{
    char kind = sp_dtype_kind(v->meta.dtype);
    return kind == 'i' || kind == 'u';
}

static sp_value *arithmetic(const sp_node *n)
{
    sp_value *x = n->in[0], *y = n->in[1];
    if (n->op == &sp_op_mul) return is_number(y, 1) ? x : is_number(x, 1) ? y : NULL;
    if (n->op == &sp_op_div) return is_number(y, 1) ? x : NULL;
    if (n->op == &sp_op_sub) return is_number(y, 0) ? x : NULL;
    if (n->op == &sp_op_assign) return y; /* the new contents are the value */
    if (n->op == &sp_op_add && is_integer(n->out[0])) return is_number(y, 0) ? x : is_number(x, 0) ? y : NULL;
    return NULL;
}

/* A transpose of a transpose that gives the first input's order back. */
static sp_value *undone(const sp_node *n)
{
    const sp_node *m = n->in[0]->origin == SP_VALUE_NODE ? n->in[0]->node : NULL;
    if (!m || m->kind != SP_NODE_OP) return NULL;
    if (n->op == &sp_op_neg && m->op == &sp_op_neg) return m->in[0];
    if (n->op != &sp_op_transpose || m->op != &sp_op_transpose) return NULL;
    const int rank = n->out[0]->meta.rank;
    const sp_ints *p = n->attrs, *q = m->attrs;
    if (rank < 0 || p->n != rank || q->n != rank) return NULL;
    for (int i = 0; i < rank; i++) {
        int64_t via = p->v[i] < 0 ? p->v[i] + rank : p->v[i];
        int64_t from = q->v[via] < 0 ? q->v[via] + rank : q->v[via];
        if (from != i) return NULL;
    }
    return m->in[0];
}

static sp_value *replacement(const sp_node *n)
{
    sp_value *x = n->n_in ? n->in[0] : NULL;
    if (n->kind != SP_NODE_OP || !x || n->n_out != 1) return NULL;
    sp_value *v = n->n_in == 2 && n->in[1] ? arithmetic(n) : NULL;
    if (!v && n->n_in == 1 && (n->op == &sp_op_cast || n->op == &sp_op_reshape || n->op == &sp_op_broadcast_to)) v = x;
    if (!v && n->n_in == 1 && n->op == &sp_op_identity) return x;
    if (!v && n->n_in == 1) v = undone(n);
    return v && same_meta(&v->meta, &n->out[0]->meta) ? v : NULL;
}

static sp_status simplify_run(sp_graph *g, int *count)
{
    sp__marks_clear(g);
    for (sp_function *f = g->first; f; f = f->next)
        for (sp_node *n = f->first, *next; n; n = next) {
            next = n->next;
            sp__node_forward(n);
            sp_value *v = replacement(n);
            if (!v) continue;
            SP_TRY(sp__value_stand_in(n, v, &v));
            n->out[0]->mark = v;
            sp__node_remove(n);
            ++*count;
        }
    sp__values_forward(g);
    sp__marks_clear(g);
    return SP_OK;
}

const sp_pass sp_pass_simplify = {
    .name = "simplify",
    .what = "nodes replaced",
    .doc = "Nodes that give back an input unchanged are replaced by it.",
    .run = simplify_run,
};
