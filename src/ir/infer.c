/* SPDX-License-Identifier: Apache-2.0 */
/* infer.c - inference rules that many operators share. */
#include "ir/like.h"

#include <stdio.h>

sp_status sp__infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(c->op->infer(c, out));
    for (int i = 0; i < c->n_out; i++) {
        const sp_meta *m = &out[i];
        int64_t n = 1;
        bool fits = m->rank <= SP_RANK_MAX;
        for (int k = 0; fits && k < m->rank; k++)
            fits =
                m->dims[k] > 0 ? sp__mul_i64(n, m->dims[k], &n) : m->dims[k] == 0 || (m->dims[k] == -1 && c->op->open);
        if (__builtin_expect(fits, 1)) continue;
        SP_TRY(sp__shape_count(m->rank, m->dims, &n)); /* says what is wrong, or that an empty one is fine */
    }
    return SP_OK;
}

sp_status sp__infer_same(const sp_call *c, sp_meta *out)
{
    sp__meta_of(c->in[0], out);
    return SP_OK;
}

static const char *input_name(const sp_call *c, int i)
{
    const sp_inputs *names = sp__op_inputs(c->op);
    return names->names[i < names->n ? i : names->n - 1];
}

sp_status sp__input_shaped(const sp_call *c, int i, int rank, const int64_t *dims, const char *what)
{
    const sp_tensor *t = i < c->n_in ? c->in[i] : NULL;
    if (!t || sp__shape_equal(t->rank, t->dims, rank, dims)) return SP_OK;
    char found[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    return sp__fail(SP_VALUE, "%s has shape %s, it must be %s%s%s", input_name(c, i),
                    sp__shape_text(t->rank, t->dims, found), sp__shape_text(rank, dims, wanted), what ? ": " : "",
                    what ? what : "");
}

sp_status sp__input_shaped_like(const sp_call *c, int i, int k)
{
    const sp_tensor *like = c->in[k];
    char what[64];
    snprintf(what, sizeof what, "that of %s", input_name(c, k));
    return sp__input_shaped(c, i, like->rank, like->dims, what);
}

sp_status sp__input_like(const sp_call *c, int i, int k)
{
    const sp_tensor *t = i < c->n_in ? c->in[i] : NULL, *like = c->in[k];
    SP_CHECK(!t || t->dtype == like->dtype, SP_TYPE, "%s has dtype %s, it must be %s, that of %s", input_name(c, i),
             sp_dtype_name((sp_dtype)t->dtype), sp_dtype_name((sp_dtype)like->dtype), input_name(c, k));
    return sp__input_shaped_like(c, i, k);
}

sp_status sp__inputs_alike(const sp_call *c)
{
    for (int i = 1; i < c->n_in; i++) SP_TRY(sp__input_like(c, i, 0));
    return SP_OK;
}

sp_status sp__infer_alike(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__inputs_alike(c));
    return sp__infer_same(c, out);
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
