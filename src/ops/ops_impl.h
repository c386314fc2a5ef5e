/* SPDX-License-Identifier: Apache-2.0 */
/* ops_impl.h - what operator files share: the entries of all operators and helpers for rules and compositions. */
#ifndef SPORE_OPS_IMPL_H
#define SPORE_OPS_IMPL_H

#include "ir/op_impl.h"
#include "ops/vmap.h"
#include "spore/ops.h"

#define SP_OP(name) extern const sp_op sp_op_##name;
#include "ops/ops.def"
#undef SP_OP

/* Sum grad over the dimensions that broadcasting added or stretched, so that it has the shape of `like`. */
sp_tensor *sp__unbroadcast(sp_builder *b, sp_tensor *grad, const sp_tensor *like);
/* A rank-0 tensor of like's dtype that yields in promotion: constants in rules and compositions. */
sp_tensor *sp__const(sp_builder *b, double value, const sp_tensor *like);
sp_inner_loop sp__cast_inner(const sp_call *c);   /* converts the first input */
sp_tensor *sp__conj(sp_builder *b, sp_tensor *t); /* of a real one: itself */
sp_tensor *sp__zeros_like(sp_builder *b, const sp_tensor *like);
sp_tensor *sp__full(sp_builder *b, double value, sp_dtype dtype, int rank, const int64_t *dims);

/* x op number, without making the caller build the constant. */
static inline sp_tensor *sp__add_number(sp_builder *b, sp_tensor *x, double v)
{
    return sp_add(b, x, sp__const(b, v, x));
}
static inline sp_tensor *sp__mul_number(sp_builder *b, sp_tensor *x, double v)
{
    return sp_mul(b, x, sp__const(b, v, x));
}

/* x[..., from : from + n, ...] along an axis, and parts joined along one they have or a new one. */
sp_tensor *sp__take_range(sp_builder *b, sp_tensor *x, int axis, int64_t from, int64_t n);
sp_tensor *sp__concat(sp_builder *b, int64_t axis, int n, sp_tensor *const *parts);
sp_tensor *sp__stack(sp_builder *b, int64_t axis, int n, sp_tensor *const *parts);

/* 0, 1, 2 ... n - 1 along `axis` of a tensor of that rank, int64: to be compared with an index. */
sp_tensor *sp__positions(sp_builder *b, int rank, int axis, int64_t n);

/* Reduction over axes as most rules need it. axes n = -1 or 0: all. */
sp_tensor *sp__sum_axes(sp_builder *b, sp_tensor *x, sp_ints axes, bool keepdims);

/* For the typed functions of ops_typed.h. Several results: their number, 0 after a failure. Inputs before those of any number. */
int sp__typed_many(sp_builder *b, const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in, int max_out,
                   sp_tensor **out);
sp_tensor *sp__typed_rest(sp_builder *b, const sp_op *op, const void *attrs, int n_first, sp_tensor *const *first,
                          int n_rest, sp_tensor *const *rest);

/* The bit set of axes, checked, for reductions: all when axes.n <= 0. */
sp_status sp__axes_mask(sp_ints axes, int rank, uint32_t *mask);

#endif
