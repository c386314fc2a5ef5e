/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_tensor.h - the tensors in ONNX files, for the reader of weights and the reader of models. */
#ifndef SPORE_ONNX_TENSOR_H
#define SPORE_ONNX_TENSOR_H

#include "formats/format_impl.h"

/* Our dtype for a number of TensorProto.DataType; SP_DTYPE_NONE where there is none. */
sp_dtype sp__onnx_dtype(uint64_t number);
int sp__onnx_dtype_number(sp_dtype dtype); /* the other way */
/* The TensorProto in w as an entry, called `as` (NULL: its own name). index (may be NULL): the entry, -1 for texts. */
sp_status sp__onnx_tensor_add(const sp_source *source, sp_bundle *bundle, sp_wire w, const char *as, int64_t *index);

#endif
