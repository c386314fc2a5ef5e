/* SPDX-License-Identifier: Apache-2.0 */
/* vmap.c - what the rules of vmap.h share, and the two rules for operators that have none: element by element, slice by slice. */
#include "ops/kernels.h"

sp_tensor *sp__batch_spread(sp_builder *b, const sp_batch *v, int i)
{
    sp_tensor *x = v->in[i];
    if (!x || v->batched[i]) return x;
    int64_t dims[SP_RANK_MAX + 1] = {v->size};
    if (x->rank == SP_RANK_MAX)
        return sp__builder_fail(b,
                                sp__fail(SP_VALUE, "a batch of tensors of rank %d has too many dimensions", x->rank));
    for (int k = 0; k < x->rank; k++) dims[k + 1] = x->dims[k];
    return sp_broadcast_to(b, x, x->rank + 1, dims);
}

sp_tensor *sp__batch_lift(sp_builder *b, const sp_batch *v, int i, int rank)
{
    sp_tensor *x = v->in[i];
    const int own = x ? sp__batch_rank(v, i) : rank;
    if (!x || !v->batched[i] || own >= rank) return x;
    int64_t dims[SP_RANK_MAX + 1] = {v->size};
    if (rank >= SP_RANK_MAX)
        return sp__builder_fail(b, sp__fail(SP_VALUE, "a batch of tensors of rank %d has too many dimensions", rank));
    for (int k = 1; k <= rank; k++) dims[k] = k <= rank - own ? 1 : x->dims[k - (rank - own)];
    return sp_reshape(b, x, rank + 1, dims);
}

sp_tensor *sp__batch_fill(sp_builder *b, const sp_batch *v, int i, int rank)
{
    sp_tensor *x = sp__batch_spread(b, v, i);
    const sp_batch spread = {.size = v->size, .in = &x, .batched = (const bool[]){true}};
    return x ? sp__batch_lift(b, &spread, 0, rank) : NULL;
}

sp_status sp__batch_apply(sp_builder *b, const sp_batch *v, const void *attrs, sp_tensor *const *in)
{
    if (b->status != SP_OK) return sp__builder_status(b); /* some input is missing then */
    sp_tensor *own[SP_IN_MAX];
    if (v->op->writes) { /* in eager mode it would write to what others use */
        for (int i = 0; i < v->n_in; i++)
            own[i] = i < 8 && v->op->writes >> i & 1 ? SP_APPLY1(b, sp_op_copy, in[i]) : in[i];
        SP_TRY(sp__builder_status(b));
        in = own;
    }
    int n;
    return sp_builder_apply_many(b, v->op, attrs ? attrs : v->attrs, v->n_in, in, v->n_out, v->out, &n);
}

sp_tensor *sp__batch_merge(sp_builder *b, sp_tensor *x, int first, int n)
{
    if (!x) return NULL;
    int64_t dims[SP_RANK_MAX];
    int rank = 0;
    for (int k = 0; k < x->rank; k++) {
        if (k > first && k < first + n) dims[rank - 1] *= x->dims[k];
        else dims[rank++] = x->dims[k];
    }
    return sp_reshape(b, x, rank, dims);
}

sp_tensor *sp__batch_unmerge(sp_builder *b, sp_tensor *x, int at, int64_t outer)
{
    if (!x) return NULL;
    int64_t dims[SP_RANK_MAX + 1];
    if (x->rank == SP_RANK_MAX)
        return sp__builder_fail(b,
                                sp__fail(SP_VALUE, "a batch of tensors of rank %d has too many dimensions", x->rank));
    for (int k = 0; k < x->rank; k++) dims[k + (k >= at)] = x->dims[k];
    dims[at] = outer;
    dims[at + 1] = outer ? x->dims[at] / outer : 0;
    return sp_reshape(b, x, x->rank + 1, dims);
}

sp_tensor *sp__batch_move(sp_builder *b, sp_tensor *x, int from, int to)
{
    if (!x || from == to) return x;
    int64_t perm[SP_RANK_MAX];
    for (int k = 0, next = 0; k < x->rank; k++) {
        if (next == from) next++;
        perm[k] = k == to ? from : next++;
    }
    return sp_transpose(b, x, x->rank, perm);
}

void *sp__batch_field(const sp_batch *v, const char *name)
{
    for (int i = 0; i < v->op->n_attrs; i++)
        if (strcmp(v->op->attrs[i].name, name) == 0) return (char *)v->own_attrs + v->op->attrs[i].offset;
    return NULL;
}

/* --- element by element ------------------------------------------------------------------------------------------ */

/* Inputs of rank 1 that lie along `axis` of the result, as tensors that broadcast against the batch. */
static sp_tensor *along(sp_builder *b, const sp_batch *v, int i, int axis, int rank)
{
    int64_t dims[SP_RANK_MAX + 1];
    const int lead = v->batched[i];
    for (int k = 0; k <= rank; k++) dims[k] = 1;
    if (lead) dims[0] = v->size;
    dims[axis + 1] = v->in[i]->dims[lead];
    return sp_reshape(b, v->in[i], rank + 1, dims);
}

/* channel_affine with a batch of scales or shifts is written out: its vectors have no place for the slices. */
static sp_status along_axis(sp_builder *b, const sp_batch *v)
{
    const int rank = sp__batch_rank(v, 0);
    if (v->op != &sp_op_channel_affine) return SP_DECLINED;
    sp_tensor *in[3] = {v->in[0]};
    if (v->batched[0] && !v->batched[1] && !v->batched[2]) {
        for (int i = 1; i < 3; i++) in[i] = v->in[i];
        in[0] = sp__batch_merge(b, v->in[0], 0, 2);
        SP_TRY(sp__batch_apply(b, v, NULL, in));
        v->out[0] = sp__batch_unmerge(b, v->out[0], 0, v->size);
        return sp__builder_status(b);
    }
    for (int i = 1; i < 3; i++) in[i] = along(b, v, i, v->op->loop_axis, rank);
    sp_tensor *y = sp_add(b, sp_mul(b, in[0], in[1]), in[2]);
    v->out[0] = y ? sp_cast(b, y, (sp_dtype)v->in[0]->dtype) : NULL;
    return sp__builder_status(b);
}

sp_status sp__batch_elementwise(sp_builder *b, const sp_batch *v)
{
    if (v->op->loop_axis) return along_axis(b, v);
    sp_tensor *few[SP_IN_MAX], **in = few;
    int rank = 0;
    if (v->n_in > SP_IN_MAX) return SP_DECLINED;
    for (int i = 0; i < v->n_in; i++)
        if (v->in[i] && sp__batch_rank(v, i) > rank) rank = sp__batch_rank(v, i);
    /* Numbers of an update are attributes that change: its kernel takes one of each. */
    for (int i = 0; i < v->n_in; i++)
        if (v->op->writes && v->batched[i] && rank && !sp__batch_rank(v, i)) return SP_DECLINED;
    /* Shapes of results that are not simply broadcast may come from any input: all of full rank are made batches. */
    const bool broadcasts = v->op->infer == sp__infer_broadcast || v->op->infer == sp__infer_broadcast_bool;
    for (int i = 0; i < v->n_in; i++) {
        const bool written = i < 8 && v->op->writes >> i & 1;
        const bool whole = v->in[i] && (written || (!broadcasts && sp__batch_rank(v, i) == rank));
        in[i] = v->batched[i] || !whole ? sp__batch_lift(b, v, i, rank) : sp__batch_spread(b, v, i);
    }
    return sp__batch_apply(b, v, NULL, in);
}

/* --- slice by slice ---------------------------------------------------------------------------------------------- */

static sp_tensor *slice_of(sp_builder *b, const sp_batch *v, int i, int64_t at)
{
    sp_tensor *x = v->in[i];
    if (!x || !v->batched[i]) return x;
    return sp_reshape(b, sp__take_range(b, x, 0, at, 1), x->rank - 1, x->dims + 1);
}

sp_status sp__batch_slices(sp_builder *b, const sp_batch *v)
{
    const size_t n = (size_t)v->size;
    sp_tensor **parts = sp__alloc((n * (size_t)v->n_out + (size_t)v->n_in + (size_t)v->n_out + 1) * sizeof *parts);
    if (!parts) return SP_NOMEM;
    sp_tensor **in = parts + n * (size_t)v->n_out, **out = in + v->n_in;
    sp_status status = SP_OK;
    for (int64_t at = 0; status == SP_OK && at < v->size; at++) {
        for (int i = 0; i < v->n_in; i++) {
            in[i] = slice_of(b, v, i, at);
            if (i < 8 && v->op->writes >> i & 1) in[i] = SP_APPLY1(b, sp_op_copy, in[i]);
        }
        int found;
        status = sp__builder_status(b);
        if (status == SP_OK) status = sp_builder_apply_many(b, v->op, v->attrs, v->n_in, in, v->n_out, out, &found);
        for (int k = 0; status == SP_OK && k < v->n_out; k++) parts[(size_t)k * n + (size_t)at] = out[k];
    }
    for (int k = 0; status == SP_OK && k < v->n_out; k++) {
        v->out[k] = sp__stack(b, 0, (int)v->size, parts + (size_t)k * n);
        status = sp__builder_status(b);
    }
    sp__free(parts);
    return status;
}
