/* SPDX-License-Identifier: Apache-2.0 */
/* infer.c - inference rules that many operators share. */
#include "ir/op_impl.h"

sp_status sp__infer_same(const sp_call *c, sp_meta *out)
{
    sp__meta_of(c->in[0], out);
    return SP_OK;
}

sp_status sp__infer_same_bool(const sp_call *c, sp_meta *out)
{
    sp__meta_of(c->in[0], out);
    out->dtype = SP_DTYPE_BOOL;
    return SP_OK;
}

sp_status sp__infer_broadcast(const sp_call *c, sp_meta *out)
{
    sp__meta_of(c->in[0], out);
    for (int i = 1; i < c->n_in; i++) {
        const sp_tensor *t = c->in[i];
        if (!t || sp__shape_equal(out->rank, out->dims, t->rank, t->dims)) continue;
        SP_TRY(sp__shape_broadcast(out->rank, out->dims, t->rank, t->dims, &out->rank, out->dims));
    }
    return SP_OK;
}

sp_status sp__infer_broadcast_bool(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__infer_broadcast(c, out));
    out->dtype = SP_DTYPE_BOOL;
    return SP_OK;
}

sp_status sp__call_loop(const sp_call *c, sp_loop_fn fn, const void *context, int cost)
{
    const sp_tensor *operands[SP_LOOP_MAX];
    int n = 0;
    for (int i = 0; i < c->n_out; i++) operands[n++] = c->out[i];
    for (int i = 0; i < c->n_in; i++) operands[n++] = c->in[i];
    const sp_tensor *o = c->out[0];
    sp_loop loop;
    sp__loop_init(&loop, o->rank, o->dims, n, operands);
    return sp__loop_run(&loop, fn, context, cost);
}
