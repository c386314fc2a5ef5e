/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - operators as functions over a builder: sp_add(b, x, y). Each returns a tensor owned by the builder, or NULL
 * after a failure (then sp_builder_status tells). The full table is reachable through op.h by name. */
#ifndef SPORE_OPS_H
#define SPORE_OPS_H

#include "spore/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element-wise, one input. One list declares, defines and names them. */
/* clang-format off */
#define SP_UNARY_FUNCTIONS(X)                                                                                          \
    X(neg) X(abs) X(sign) X(exp) X(log) X(sqrt) X(rsqrt) X(square) X(reciprocal) X(sin) X(cos) X(tan) X(tanh)          \
    X(sigmoid) X(relu) X(erf) X(floor) X(ceil) X(round) X(trunc) X(logical_not) X(log1p) X(expm1) X(isnan)
/* clang-format on */
/* Element-wise, two inputs, broadcast and promoted. */
/* clang-format off */
#define SP_BINARY_FUNCTIONS(X)                                                                                         \
    X(add) X(sub) X(mul) X(div) X(maximum) X(minimum) X(equal) X(not_equal) X(less) X(less_equal) X(greater)    \
    X(greater_equal) X(logical_and) X(logical_or)
/* clang-format on */
#define X(name) SP_API sp_tensor *sp_##name(sp_builder *b, sp_tensor *x);
SP_UNARY_FUNCTIONS(X)
#undef X
#define X(name) SP_API sp_tensor *sp_##name(sp_builder *b, sp_tensor *x, sp_tensor *y);
SP_BINARY_FUNCTIONS(X)
#undef X

SP_API sp_tensor *sp_cast(sp_builder *b, sp_tensor *x, sp_dtype dtype);
SP_API sp_tensor *sp_identity(sp_builder *b, sp_tensor *x);
SP_API sp_tensor *sp_select(sp_builder *b, sp_tensor *condition, sp_tensor *x, sp_tensor *y);

/* Geometry. One dimension of a reshape may be -1. */
SP_API sp_tensor *sp_reshape(sp_builder *b, sp_tensor *x, int rank, const int64_t *dims);
SP_API sp_tensor *sp_transpose(sp_builder *b, sp_tensor *x, int rank, const int64_t *perm);
SP_API sp_tensor *sp_broadcast_to(sp_builder *b, sp_tensor *x, int rank, const int64_t *dims);
SP_API sp_tensor *sp_swap_axes(sp_builder *b, sp_tensor *x, int64_t axis1, int64_t axis2);

/* Reductions over axes (n_axes 0: all). */
SP_API sp_tensor *sp_reduce_sum(sp_builder *b, sp_tensor *x, int n_axes, const int64_t *axes, bool keepdims);
SP_API sp_tensor *sp_reduce_mean(sp_builder *b, sp_tensor *x, int n_axes, const int64_t *axes, bool keepdims);
SP_API sp_tensor *sp_reduce_max(sp_builder *b, sp_tensor *x, int n_axes, const int64_t *axes, bool keepdims);

/* Matrix product with numpy's rules for rank and batch; the flags transpose the last two dimensions first. */
SP_API sp_tensor *sp_matmul(sp_builder *b, sp_tensor *x, sp_tensor *y, bool transpose_x, bool transpose_y);

#ifdef __cplusplus
}
#endif
#endif
