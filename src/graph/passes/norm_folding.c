/* SPDX-License-Identifier: Apache-2.0 */
/* norm_folding.c - normalisation with kept statistics becomes part of the convolution before it (fast numerics).
 *
 *     channel_affine(conv(x, w, b), scale, shift)   ->   conv(x, w * scale, b * scale + shift)
 *
 * The products are rounded in another place, so this is done only when it was asked for, and of weights that are constants: scaled ones are computed while
 * compiling (fold). Those of variables would have to be made and packed in every run, for two instructions less per vector of results. */
#include "graph/passes/passes.h"
#include "ops/ops_impl.h"

/* The convolution that a node scales, if the two can be one. */
static sp_node *scaled_conv(const sp_node *n)
{
    if (n->kind != SP_NODE_OP || n->op != &sp_op_channel_affine || !n->in[1] || !n->in[2]) return NULL;
    sp_node *conv = n->in[0]->origin == SP_VALUE_NODE ? n->in[0]->node : NULL;
    if (!conv || conv->kind != SP_NODE_OP || conv->op->family != SP_FAMILY_CONV || conv->owner != n->owner) return NULL;
    const sp_value *w = conv->in[1];
    if (w->origin != SP_VALUE_CONSTANT || sp__function_uses(n->owner, conv->out[0]) != 1) return NULL;
    for (int i = 1; i < 3; i++) /* half types are scaled in float by channel_affine */
        if (n->in[i]->meta.dtype != w->meta.dtype || n->in[i]->meta.rank != 1) return NULL;
    return conv;
}

static sp_status scaled(sp_node *at, sp_value *x, sp_value *scale, sp_value **out)
{
    sp_node *n;
    SP_TRY(sp__node_op(at->owner, at, &sp_op_mul, NULL, 2, (sp_value *const[]){x, scale}, &n));
    *out = n->out[0];
    return SP_OK;
}

static sp_status fold_into(sp_node *conv, sp_node *n)
{
    sp_value *w = conv->in[1], *bias = conv->n_in > 2 ? conv->in[2] : NULL, *scale = n->in[1], *shift = n->in[2];
    int64_t dims[SP_RANK_MAX] = {w->meta.dims[0]};
    for (int i = 1; i < w->meta.rank; i++) dims[i] = 1;
    const sp_ints column = {.n = w->meta.rank, .v = dims};
    sp_node *shaped, *sum, *made;
    SP_TRY(sp__node_op(n->owner, n, &sp_op_reshape, &column, 1, &scale, &shaped));
    SP_TRY(scaled(n, w, shaped->out[0], &w));
    if (bias) {
        SP_TRY(scaled(n, bias, scale, &bias));
        SP_TRY(sp__node_op(n->owner, n, &sp_op_add, NULL, 2, (sp_value *const[]){bias, shift}, &sum));
        shift = sum->out[0];
    }
    SP_TRY(sp__node_op(n->owner, n, conv->op, conv->attrs, 3, (sp_value *const[]){conv->in[0], w, shift}, &made));
    made->place = conv->place;
    n->out[0]->mark = made->out[0];
    sp__node_remove(n);
    return SP_OK;
}

static sp_status norm_run(sp_graph *g, int *count)
{
    sp__marks_clear(g);
    sp__recorded_mark(g);
    for (sp_function *f = g->first; f; f = f->next) {
        if (f->mark) continue; /* its operators may be recorded for a gradient */
        for (sp_node *n = f->first, *next; n; n = next) {
            next = n->next;
            sp__node_forward(n);
            sp_node *conv = scaled_conv(n);
            if (!conv) continue;
            SP_TRY(fold_into(conv, n));
            ++*count;
        }
    }
    sp__values_forward(g);
    sp__marks_clear(g);
    return SP_OK;
}

const sp_pass sp_pass_norm = {
    .name = "norm",
    .what = "normalisations",
    .doc = "Normalisation with kept statistics becomes part of the convolution before it.",
    .fast = true,
    .run = norm_run,
};
