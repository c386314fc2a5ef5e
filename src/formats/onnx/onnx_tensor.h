/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_tensor.h - the tensors in ONNX files, for the reader of weights and the reader of models.
 *
 * Element types without a dtype of ours are carried by one that holds their values: floats of 8 bits and fewer by float32,
 * integers of 4 and 2 bits by int8 or uint8, texts by int64 (numbers of a table of texts, see onnx_model.h). */
#ifndef SPORE_ONNX_TENSOR_H
#define SPORE_ONNX_TENSOR_H

#include "formats/format_impl.h"

enum { SP_ONNX_FLOAT = 1, SP_ONNX_STRING = 8 };

/* A type that is carried. */
typedef struct sp_onnx_type {
    int number;       /* of TensorProto.DataType */
    const char *name; /* "float8e4m3fn" */
    sp_dtype carrier;
    int bits;           /* of an element in a file; 0: texts */
    const char *format; /* of floats: for the operator minifloat; NULL: integers */
} sp_onnx_type;

/* Our dtype for a number of TensorProto.DataType; SP_DTYPE_NONE where there is none. */
sp_dtype sp__onnx_dtype(uint64_t number);
int sp__onnx_dtype_number(sp_dtype dtype); /* the other way */
/* The type that is carried under this number; NULL: it has a dtype of its own, or is not known. */
const sp_onnx_type *sp__onnx_type(uint64_t number);
/* Dtype, or that of the carrier; type (may be NULL) receives the number of a carried type, else 0. */
sp_dtype sp__onnx_carrier(uint64_t number, int *type);
/* The TensorProto in w as an entry, called `as` (NULL: its own name). index (may be NULL): the entry, -1 for texts. type (may be
 * NULL): of what the entry is the carrier, 0: none. */
sp_status sp__onnx_tensor_add(const sp_source *source, sp_bundle *bundle, sp_wire w, const char *as, int64_t *index,
                              int *type);
/* The same for the SparseTensorProto in w, made dense. */
sp_status sp__onnx_sparse_add(const sp_source *source, sp_bundle *bundle, sp_wire w, const char *as, int64_t *index,
                              int *type);

#endif
