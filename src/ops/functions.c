/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c - operators as C functions (ops.h), and the helpers that rules and compositions share. */
#include "ir/graph_impl.h"
#include "ops/kernels.h"
#include "tensor/remote.h"

sp_tensor *sp_scalar(sp_builder *b, sp_dtype dtype, double value)
{
    sp_tensor *t = NULL;
    if (b && b->status != SP_OK) return NULL;
    const sp_status status = sp_tensor_create_f64(dtype, value, &t);
    return status == SP_OK ? sp_builder_take_tensor(b, t) : sp__builder_fail(b, status);
}

sp_tensor *sp_cast(sp_builder *b, sp_tensor *x, sp_dtype dtype)
{
    if (!x || x->dtype == (int)dtype) return x;
    return sp_cast_with(b, x, &(sp_cast_attrs){.dtype = dtype});
}

sp_tensor *sp_reshape(sp_builder *b, sp_tensor *x, int rank, const int64_t *dims)
{
    return sp_reshape_with(b, x, &(sp_reshape_attrs){.shape = {rank, dims}});
}
sp_tensor *sp_transpose(sp_builder *b, sp_tensor *x, int rank, const int64_t *perm)
{
    return sp_transpose_with(b, x, &(sp_transpose_attrs){.perm = {rank, perm}});
}
sp_tensor *sp_broadcast_to(sp_builder *b, sp_tensor *x, int rank, const int64_t *dims)
{
    return sp_broadcast_to_with(b, x, &(sp_broadcast_to_attrs){.shape = {rank, dims}});
}

sp_tensor *sp_swap_axes(sp_builder *b, sp_tensor *x, int64_t axis1, int64_t axis2)
{
    if (!x) return NULL;
    int first, second;
    sp_status status = sp__shape_axis(axis1, x->rank, "axis", &first);
    if (status == SP_OK) status = sp__shape_axis(axis2, x->rank, "axis", &second);
    if (status != SP_OK) return sp__builder_fail(b, status);
    int64_t perm[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) perm[i] = i == first ? second : i == second ? first : i;
    return sp_transpose(b, x, x->rank, perm);
}

sp_tensor *sp_reduce_sum(sp_builder *b, sp_tensor *x, int n, const int64_t *axes, bool keepdims)
{
    return sp_reduce_sum_with(b, x, &(sp_reduce_sum_attrs){.axis = {n, axes}, .keepdims = keepdims});
}
sp_tensor *sp_reduce_mean(sp_builder *b, sp_tensor *x, int n, const int64_t *axes, bool keepdims)
{
    return sp_reduce_mean_with(b, x, &(sp_reduce_mean_attrs){.axis = {n, axes}, .keepdims = keepdims});
}
sp_tensor *sp_reduce_max(sp_builder *b, sp_tensor *x, int n, const int64_t *axes, bool keepdims)
{
    return sp_reduce_max_with(b, x, &(sp_reduce_max_attrs){.axis = {n, axes}, .keepdims = keepdims});
}
sp_tensor *sp__sum_axes(sp_builder *b, sp_tensor *x, sp_ints axes, bool keepdims)
{
    return sp_reduce_sum_with(b, x, &(sp_reduce_sum_attrs){.axis = axes, .keepdims = keepdims});
}

sp_tensor *sp__take_range(sp_builder *b, sp_tensor *x, int axis, int64_t from, int64_t n)
{
    if (!x) return NULL;
    int64_t start[SP_RANK_MAX] = {0}, stop[SP_RANK_MAX];
    for (int i = 0; i < axis; i++) stop[i] = x->dims[i];
    start[axis] = from;
    stop[axis] = from + n;
    return sp_slice(b, x, &(sp_slice_attrs){.start = {axis + 1, start}, .stop = {axis + 1, stop}, .step = {-1, NULL}});
}

sp_tensor *sp__positions(sp_builder *b, int rank, int axis, int64_t n)
{
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? n : 1;
    sp_tensor *t;
    if (sp__recorder && sp__recorder->graph->keeps_sizes) { /* n may be free in a file */
        const sp_number zero = {.kind = 'i'}, one = {.kind = 'i', .i = 1}, end = {.kind = 'i', .i = n};
        const sp_arange_attrs attrs = {.start = zero, .end = end, .step = one, .dtype = SP_DTYPE_I64};
        const sp_status recorded = sp__record_source(&sp_op_arange, &attrs, &t);
        if (recorded != SP_OK) return sp__builder_fail(b, recorded);
        t = sp_builder_take_tensor(b, t);
        return rank == 1 ? t : sp_reshape(b, t, rank, dims);
    }
    sp_status status = sp_tensor_create(SP_DTYPE_I64, rank, dims, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    for (int64_t i = 0; i < n; i++) ((int64_t *)(void *)t->data)[i] = i;
    return sp_builder_take_tensor(b, t);
}

sp_tensor *sp__concat(sp_builder *b, int64_t axis, int n, sp_tensor *const *parts)
{
    if (b->status != SP_OK) return NULL; /* some part is missing then */
    return sp_concat(b, n, parts, &(sp_concat_attrs){.axis = axis});
}
sp_tensor *sp__stack(sp_builder *b, int64_t axis, int n, sp_tensor *const *parts)
{
    if (b->status != SP_OK) return NULL;
    return sp_stack(b, n, parts, &(sp_stack_attrs){.axis = axis});
}

sp_tensor *sp__unbroadcast(sp_builder *b, sp_tensor *grad, const sp_tensor *like)
{
    if (!grad || sp__tensor_same_shape(grad, like)) return grad;
    int64_t axes[SP_RANK_MAX];
    int n = 0, lead = grad->rank - like->rank;
    for (int i = 0; i < grad->rank; i++)
        if (i < lead || (like->dims[i - lead] == 1 && grad->dims[i] != 1)) axes[n++] = i;
    if (n) grad = sp_reduce_sum(b, grad, n, axes, true);
    return lead > 0 ? sp_reshape(b, grad, like->rank, like->dims) : grad;
}

sp_tensor *sp__const(sp_builder *b, double value, const sp_tensor *like)
{
    if (!like) return NULL;
    sp_tensor *t;
    sp_status status = sp_tensor_create_f64((sp_dtype)like->dtype, value, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    t->flags |= SP_TENSOR_WEAK;
    return sp_builder_take_tensor(b, t);
}

/* More elements than this are filled when the program runs, not kept in it. */
enum { FULL_KEPT = 16 };

sp_tensor *sp__full(sp_builder *b, double value, sp_dtype dtype, int rank, const int64_t *dims)
{
    sp_tensor *t;
    int64_t count;
    if (sp__recorder && sp__shape_count(rank, dims, &count) == SP_OK &&
        (count > FULL_KEPT || sp__recorder->graph->keeps_sources)) {
        const sp_full_attrs attrs = {.shape = {rank, dims}, .value = {.kind = 'f', .f = value}, .dtype = dtype};
        sp_status recorded = sp__record_source(&sp_op_full, &attrs, &t);
        return recorded == SP_OK ? sp_builder_take_tensor(b, t) : sp__builder_fail(b, recorded);
    }
    sp_status status = SP_OK;
    t = NULL;
    if (sp__remote && !sp__recorder) status = sp__remote->full(value, dtype, rank, dims, &t);
    if (status == SP_OK && t) return sp_builder_take_tensor(b, t);
    if (status == SP_OK)
        status = value == 0 ? sp_tensor_create_zeros(dtype, rank, dims, &t) : sp_tensor_create(dtype, rank, dims, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    if (value != 0) {
        char *ptr[2] = {t->data, (char *)&value};
        const int64_t step[2] = {(int64_t)sp_dtype_bytes(dtype), 0};
        sp__cast_loop(SP_DTYPE_F64, dtype)(t->count, ptr, step, NULL);
    }
    return sp_builder_take_tensor(b, t);
}

sp_tensor *sp__zeros_like(sp_builder *b, const sp_tensor *like)
{
    return like ? sp__full(b, 0, (sp_dtype)like->dtype, like->rank, like->dims) : NULL;
}

/* --- what the typed functions stand on (ops_typed.h) --------------------------------------------------------------- */

int sp__typed_many(sp_builder *b, const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in, int max_out,
                   sp_tensor **out)
{
    int n = 0;
    for (int i = 0; i < max_out; i++) out[i] = NULL;
    return sp_builder_apply_many(b, op, attrs, n_in, in, max_out, out, &n) == SP_OK ? n : 0;
}

sp_tensor *sp__typed_rest(sp_builder *b, const sp_op *op, const void *attrs, int n_first, sp_tensor *const *first,
                          int n_rest, sp_tensor *const *rest)
{
    sp_tensor *in[SP_IN_MAX];
    if (b && b->status != SP_OK) return NULL;
    if (n_rest < 0 || n_rest > SP_IN_MAX - n_first)
        return sp__builder_fail(b, sp__fail(SP_VALUE, "%s takes 0 to %d of its last inputs, found %d", op->name,
                                            SP_IN_MAX - n_first, n_rest));
    for (int i = 0; i < n_first; i++) in[i] = first[i];
    for (int i = 0; i < n_rest; i++) in[n_first + i] = rest[i];
    return sp_builder_apply(b, op, attrs, n_first + n_rest, in);
}
