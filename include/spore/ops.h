/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - operators as functions over a builder: sp_add(b, x, y). Each returns a tensor owned by the builder, or NULL
 * after a failure (then sp_builder_status tells).
 *
 * ops_typed.h has all of them, those with attributes take a struct of ops_attrs.h. Here are shorter forms of the most common, with
 * attributes one by one. The table is reachable through op.h, too, by name. */
#ifndef SPORE_OPS_H
#define SPORE_OPS_H

#include "spore/ops_typed.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number as a tensor of rank 0. */
SP_API sp_tensor *sp_scalar(sp_builder *b, sp_dtype dtype, double value);
SP_API sp_tensor *sp_cast(sp_builder *b, sp_tensor *x, sp_dtype dtype);

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
