/* SPDX-License-Identifier: Apache-2.0 */
/* constant_folding.c - operators on constants are computed now, by the same kernels; choices by constants are made.
 *
 * Results larger than a limit stay computations: a program should not carry megabytes that a kernel makes in a moment. */
#include "base/parts.h"
#include "eager/eager.h"
#include "graph/passes/passes.h"
#include "ops/ops_impl.h"

enum { FOLD_BYTES_MAX = 1 << 18 };

static bool all_constant(const sp_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->origin != SP_VALUE_CONSTANT) return false;
    return true;
}

static bool small(const sp_node *n)
{
    for (int i = 0; i < n->n_out; i++) {
        const sp_meta *m = &n->out[i]->meta;
        int64_t count;
        if (!sp__meta_known(m)) continue; /* looked at again when it is there */
        if (sp__shape_count(m->rank, m->dims, &count) != SP_OK || count > FOLD_BYTES_MAX / 8) return false;
    }
    return true;
}

/* Operators only the run may refuse: an error stays where it would happen, in case nobody gets there. */
static sp_status fold_op(sp_node *n, int *count)
{
    sp_tensor *in[SP_IN_MAX], *out[SP_OUT_MAX] = {NULL};
    int got = 0;
    if (n->n_in > SP_IN_MAX || n->n_out > SP_OUT_MAX) return SP_OK;
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] ? n->in[i]->constant : NULL;
    sp_status status = sp_apply(n->op, n->attrs, n->n_in, in, n->n_out, out, &got);
    if (status == SP_NOMEM || status == SP_INTERRUPTED) return status;
    if (status != SP_OK) return SP_OK;
    bool fits = got == n->n_out;
    for (int i = 0; i < got; i++) fits = fits && sp_tensor_bytes(out[i]) <= FOLD_BYTES_MAX;
    for (int i = 0; i < got; i++) {
        if (fits && status == SP_OK) {
            sp_value *v = sp__value_constant(n->owner, out[i]);
            if (v) n->out[i]->mark = v;
            else status = SP_NOMEM;
        }
        sp_tensor_release(out[i]);
    }
    if (fits && status == SP_OK) {
        sp__node_remove(n);
        ++*count;
    }
    return status;
}

static sp_status fold_switch(sp_node *n, int *count)
{
    const sp_tensor *t = n->in[0]->constant;
    double v;
    if (t->count != 1 || sp_dtype_kind((sp_dtype)t->dtype) == 'c') return SP_OK;
    SP_TRY(sp_tensor_item_f64(t, &v));
    n->out[0]->mark = n->in[v != 0 ? 1 : 2];
    sp__node_remove(n);
    ++*count;
    return SP_OK;
}

static sp_status fold_run(sp_graph *g, int *count)
{
    sp__marks_clear(g);
    sp_status status = SP_OK;
    const int depth = sp_grad_pause();
    const sp_precision precision = sp__precision;
    sp_function *recorder = sp__recorder;
    sp__precision = SP_PRECISION_PLAIN;
    sp__recorder = NULL;
    for (sp_function *f = g->first; f; f = f->next)
        for (sp_node *n = f->first, *next; n; n = next) {
            next = n->next;
            sp__node_forward(n);
            if (n->kind == SP_NODE_SWITCH && n->in[0]->origin == SP_VALUE_CONSTANT)
                SP_GOTO(done, fold_switch(n, count));
            if (n->kind == SP_NODE_OP && !n->op->writes && !n->op->collective &&
                !(SP_HAVE_PLUGINS && n->op == &sp_op_device_copy) && all_constant(n) && small(n))
                SP_GOTO(done, fold_op(n, count));
        }
    sp__values_forward(g);
done:
    sp_grad_resume(depth);
    sp__precision = precision;
    sp__recorder = recorder;
    sp__marks_clear(g);
    return status;
}

const sp_pass sp_pass_fold = {
    .name = "fold",
    .what = "nodes computed",
    .doc = "Operators on constants are computed while compiling.",
    .run = fold_run,
};
