/* SPDX-License-Identifier: Apache-2.0 */
/* nn.h - what the operators of neural networks share: a tensor seen as outer x n x inner, grains, reductions of losses. */
#ifndef SPORE_OPS_NN_H
#define SPORE_OPS_NN_H

#include "ops/kernels.h"

/* A row-major tensor around a group of neighbouring axes. */
typedef struct sp__split {
    int64_t outer, n, inner;
} sp__split;

static inline sp__split sp__split_at(const sp_tensor *x, int first, int n_axes)
{
    sp__split s = {1, 1, 1};
    for (int i = 0; i < x->rank; i++) *(i < first ? &s.outer : i < first + n_axes ? &s.n : &s.inner) *= x->dims[i];
    return s;
}

/* Items per part of a parallel loop so that one part holds about 16384 elements. */
static inline int64_t sp__grain(int64_t elements_per_item)
{
    int64_t grain = 16384 / (elements_per_item > 0 ? elements_per_item : 1);
    return grain > 0 ? grain : 1;
}

/* reduction is none, mean or sum; batchmean where `batch` is positive. Defined in loss.c. */
sp_tensor *sp__reduce_loss(sp_builder *b, sp_tensor *loss, const char *reduction, int64_t batch);
/* x as [1, ..., n, ..., 1] of `rank` dimensions with its n elements along `axis`; NULL stays NULL. Defined in norm.c. */
sp_tensor *sp__along(sp_builder *b, sp_tensor *x, int rank, int axis);

/* Kernel tables by dtype: SP_KERNEL_ROW makes [SP_DTYPE_F32] = name_F32. */
#define SP_KERNEL_ROW(D, T, C, LOAD, STORE, name, ...) [SP_DTYPE_##D] = name##_##D,

#endif
