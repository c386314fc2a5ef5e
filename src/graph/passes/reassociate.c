/* SPDX-License-Identifier: Apache-2.0 */
/* reassociate.c - numbers that are applied one after the other are brought together (fast numerics):
 * (x * a) * b becomes x * (a * b), (x + a) + b becomes x + (a + b), where a and b are single
 * constants of a floating dtype. What is rounded changes, so this is done only when it was asked for. */
#include "graph/passes/passes.h"
#include "ops/ops_impl.h"

static bool is_single(const sp_value *v, sp_dtype dtype)
{
    return v && v->origin == SP_VALUE_CONSTANT && v->constant->count == 1 && v->meta.dtype == dtype;
}

/* The constant operand of x op a; x receives the other one. */
static sp_value *constant_of(const sp_node *n, const sp_op *op, sp_value **x)
{
    if (n->kind != SP_NODE_OP || n->op != op || n->n_in != 2) return NULL;
    const sp_dtype dtype = n->out[0]->meta.dtype;
    if (dtype != SP_DTYPE_F32 && dtype != SP_DTYPE_F64) return NULL;
    for (int i = 0; i < 2; i++) {
        sp_value *other = n->in[1 - i];
        if (!is_single(n->in[i], dtype) || !other || other->origin == SP_VALUE_CONSTANT || other->meta.dtype != dtype)
            continue;
        /* The constant must not be what gives the result its shape. */
        if (n->in[i]->meta.rank > other->meta.rank || other->meta.rank < 0) continue;
        *x = other;
        return n->in[i];
    }
    return NULL;
}

static sp_status join(sp_node *n, const sp_op *op, int *count)
{
    sp_value *x, *y, *b = constant_of(n, op, &x);
    if (!b || x->origin != SP_VALUE_NODE || x->owner != n->owner) return SP_OK;
    sp_value *a = constant_of(x->node, op, &y);
    if (!a) return SP_OK;
    sp_node *both;
    SP_TRY(sp__node_op(n->owner, n, op, NULL, 2, (sp_value *const[]){a, b}, &both));
    n->in[0] = y;
    n->in[1] = both->out[0]; /* fold computes it */
    ++*count;
    return SP_OK;
}

static sp_status reassociate_run(sp_graph *g, int *count)
{
    sp__marks_clear(g);
    sp__recorded_mark(g);
    for (sp_function *f = g->first; f; f = f->next) {
        if (f->mark) continue;
        for (sp_node *n = f->first, *next; n; n = next) {
            next = n->next;
            SP_TRY(join(n, &sp_op_mul, count));
            SP_TRY(join(n, &sp_op_add, count));
        }
    }
    sp__marks_clear(g);
    return SP_OK;
}

const sp_pass sp_pass_reassociate = {
    .name = "reassociate",
    .what = "constants joined",
    .doc = "Constants that are applied one after the other are brought together.",
    .fast = true,
    .run = reassociate_run,
};
