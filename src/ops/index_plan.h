/* SPDX-License-Identifier: Apache-2.0 */
/* index_plan.h - how index tensors address a tensor: shared by reading, writing and combining. */
#ifndef SPORE_INDEX_PLAN_H
#define SPORE_INDEX_PLAN_H

#include "ops/ops_impl.h"

/* A row-major x under n index tensors is seen as [n_pre] x [n_b] x [n_rest]: leading dimensions that stay in front, the
 * positions the index tensors name, and what remains, which may lie apart in memory (rest_dims, rest_strides). */
typedef struct sp_index_plan {
    int n;
    int axes[SP_RANK_MAX];
    int place; /* where the dimensions of the index tensors stand in the result */
    int rank;  /* result */
    int64_t dims[SP_RANK_MAX];
    int b_rank; /* index tensors, broadcast together */
    int64_t b_dims[SP_RANK_MAX];
    int64_t n_pre, n_b, n_rest;
    int64_t pre_stride; /* elements */
    int rest_rank;      /* merged, without dimensions of size 1 */
    int64_t rest_dims[SP_RANK_MAX], rest_strides[SP_RANK_MAX];
} sp_index_plan;

sp_status sp__index_plan(const sp_tensor *x, int n, sp_tensor *const *indices, sp_ints axes, sp_index_plan *p);
/* offsets[0..n_b): element offset of each position, checked. The block given must have sp__index_offsets_bytes. */
sp_status sp__index_offsets(const sp_tensor *x, sp_tensor *const *indices, const sp_index_plan *p, int64_t *offsets);
size_t sp__index_offsets_bytes(const sp_index_plan *p);

/* dst[i * stride] = combine(dst[i * stride], src[i]). Tables are indexed by dtype. */
typedef void (*sp_combine_fn)(int64_t n, char *dst, int64_t stride, const char *src);
/* Table for "add", "sub", "mul", "div", "max" or "min"; NULL for another name. */
const sp_combine_fn *sp__combine_table(const char *name);
/* Write value (broadcast, converted) to the positions of x, which is row-major; combine NULL: overwrite. Writes to one
 * element happen in row-major order of the value, whatever the number of threads. */
sp_status sp__index_write(sp_tensor *x, const sp_tensor *value, int n, sp_tensor *const *indices, sp_ints axes,
                          const sp_combine_fn *combine);

/* Write value over what target shows: broadcast, converted, safe when both share memory. */
sp_status sp__write_broadcast(const sp_tensor *target, const sp_tensor *value);
/* The gradient of a value that was broadcast (leading ones dropped) to g's shape; NULL for integers. */
sp_tensor *sp__value_grad(sp_builder *b, sp_tensor *g, const sp_tensor *value);

/* One position along an axis per element (gather_elements, scatter_elements): checks, and offsets into a row-major x
 * for a row-major index; offsets has room for index->count. */
sp_status sp__elements_check(const sp_tensor *x, const sp_tensor *index, int64_t axis_given, int *axis);
sp_status sp__elements_offsets(const sp_tensor *x, const sp_tensor *index, int axis, int64_t *offsets);
/* Coordinates along the last dimension as one index tensor each; their number. */
sp_status sp__coordinates_check(const sp_tensor *x, const sp_tensor *indices);
int sp__coordinates(sp_builder *b, sp_tensor *indices, sp_tensor **out);

#endif
