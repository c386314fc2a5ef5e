/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_run.h - operators run while a model is written: where elements come from, and what a linear operator's matrix is. */
#ifndef SPORE_ONNX_OUT_RUN_H
#define SPORE_ONNX_OUT_RUN_H

#include <math.h>

#include "formats/onnx/onnx_out.h"

/* For sp__onnx_out_table: 0 everywhere; the number of the element. */
double sp__onnx_out_zero(const void *context, int64_t i);
double sp__onnx_out_count(const void *context, int64_t i);
/* The elements of operand i numbered, from `from` on, as int64. NULL after a failure; its sizes must not be free. */
sp_tensor *sp__onnx_out_iota(sp_onnx_out *o, int i, int64_t from);
/* The operator being written on these operands (int64 or, where it takes floats only, in float64): result k, as int64. NULL after a failure. */
sp_tensor *sp__onnx_out_run(sp_onnx_out *o, sp_tensor *const *in, int n_in, int k);
/* Matrix (elements of the last `in_rank` dimensions of operand 0, those of the last out_rank of the result) of an operator that is linear
 * in operand 0 and works on each plane alike. */
sp_onnx_id sp__onnx_out_matrix(sp_onnx_out *o, int in_rank, int out_rank, sp_dtype dtype);
/* Matrix (n, columns) of an operator that is linear along one axis, the one that its attribute `axis` names. */
sp_onnx_id sp__onnx_out_axis_matrix(sp_onnx_out *o, const char *axis, int64_t n, int64_t columns, sp_dtype dtype);
/* Operand 0 times that matrix. */
sp_onnx_id sp__onnx_out_linear(sp_onnx_out *o, int in_rank, int out_rank);

#endif
