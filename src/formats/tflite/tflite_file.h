/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_file.h - what lies where in a TensorFlow Lite file; both readers, that of weights and that of models, use it.
 *
 * A flatbuffer (flatbuffer.h) with "TFL3" at byte 4.
 *
 *   Model         0 version | 1 operator codes | 2 subgraphs | 3 description | 4 buffers
 *   OperatorCode  0 operator (old, 1 byte) | 1 name of a custom one | 2 version | 3 operator
 *   SubGraph      0 tensors | 1 inputs | 2 outputs | 3 operators | 4 name
 *   Operator      0 index of its code | 1 inputs | 2 outputs | 4 options | 5 custom options | 12 options of newer operators
 *   Tensor        0 shape | 1 type | 2 buffer | 3 name | 4 quantization | 5 is variable | 6 sparsity | 7 shape with free dimensions
 *   Buffer        0 data | 1 offset | 2 bytes (data beyond 2 GB, behind the flatbuffer)
 *   Quantization  2 scale | 3 zero point | 6 axis
 *   Sparsity      0 order of traversal | 1 blocks | 2 dimensions
 *   Dimension     0 format | 1 dense size | 2, 3 segments | 4, 5 indices
 */
#ifndef SPORE_TFLITE_FILE_H
#define SPORE_TFLITE_FILE_H

#include "formats/tflite/flatbuffer.h"

enum { SP_TFLITE_NAME_MAX = 4096 }; /* bytes of a name */

/* TensorType */
enum { SP_TFLITE_STRING = 5, SP_TFLITE_RESOURCE = 13, SP_TFLITE_VARIANT = 14, SP_TFLITE_INT4 = 17 };

typedef struct sp_tflite_file {
    sp_flat f;
    size_t model;
    sp_flat_list buffers, graphs;
} sp_tflite_file;

bool sp__tflite_probe(const sp_source *s);
/* The outermost table and its lists. */
sp_status sp__tflite_open(const sp_source *s, sp_tflite_file *out);
/* Our dtype of a TensorType; SP_DTYPE_NONE: there is none. */
sp_dtype sp__tflite_dtype(uint64_t type);
/* Contents of buffer `index`; *bytes 0: it has none. */
sp_status sp__tflite_contents(const sp_tflite_file *t, uint64_t index, const uint8_t **data, size_t *bytes);
/* A text in a field, "" when it is missing. */
sp_status sp__tflite_text(const sp_tflite_file *t, size_t table, unsigned number, char out[SP_TFLITE_NAME_MAX]);
/* A shape: field 0 of a tensor, or field 7. */
sp_status sp__tflite_shape(const sp_tflite_file *t, size_t tensor, unsigned number, sp_meta *meta);

/* The contents of a tensor as entry `name` of a bundle, which must be new: views of the file where they lie there row by row, sparse
 * tensors filled up, integers of 4 bits as int8. *added false: it has no contents, or texts, which are no weights. */
sp_status sp__tflite_add(const sp_source *s, const sp_tflite_file *t, size_t tensor, const sp_meta *meta, uint64_t type,
                         sp_bundle *bundle, const char *name, bool *added);

#endif
