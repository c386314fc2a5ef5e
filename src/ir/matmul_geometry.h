/* SPDX-License-Identifier: Apache-2.0 */
/* matmul_geometry.h - attributes and index arithmetic of matmul, shared by the operator and the kernels of devices. */
#ifndef SPORE_MATMUL_GEOMETRY_H
#define SPORE_MATMUL_GEOMETRY_H

#include "ir/op_impl.h"
#include "spore/ops_attrs.h"

/* A product per batch index: [m, k] times [k, n]. Strides in elements; a batch stride of 0 stands for broadcasting. */
typedef struct sp__matmul_geometry {
    int64_t m, n, k;
    int64_t a_row, a_col, b_row, b_col;
    int batch_rank;
    int64_t n_batch;
    int64_t batch[SP_RANK_MAX], a_batch[SP_RANK_MAX], b_batch[SP_RANK_MAX];
} sp__matmul_geometry;

/* From two inputs. Fails with a message when the shapes do not fit together. */
sp_status sp__matmul_measure(const sp_tensor *a, const sp_tensor *b, const sp_matmul_attrs *attrs,
                             sp__matmul_geometry *out);
/* Offsets of batch item i into a and b. */
void sp__matmul_offsets(const sp__matmul_geometry *g, int64_t i, int64_t *a, int64_t *b);
/* Whether the batch is one product of all its rows with one B: its dimensions and the rows of A are one run. */
bool sp__matmul_is_tall(const sp__matmul_geometry *g);

#endif
