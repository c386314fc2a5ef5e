/* SPDX-License-Identifier: Apache-2.0 */
/* lite_file.h - what lies where in a file of MindSpore Lite (.ms); both readers, that of weights and that of models, and the writer use it.
 *
 * A flatbuffer (formats/tflite/flatbuffer.h) with "MSL2" at byte 4; files of Lite 1.0 have no mark there and other operators (lite_old.c).
 *
 *   MetaGraph   0 name | 1 version | 2 origin | 3 inputs | 4 outputs | 5 memory | 6 nodes | 7 tensors | 8 subgraphs | 9 obfuscated
 *   CNode       0 name | 2 primitive | 3 inputs | 4 outputs | 5 quantisation | 6 device
 *   Primitive   0 number of the operator | 1 its fields (lite_schema.c)
 *   SubGraph    0 name | 1 inputs | 2 outputs | 3 nodes | 4 tensors
 *   Tensor      0 kind | 1 dtype | 2 shape | 3 layout | 6 contents | 7 scales | 8 centroids | 9 name | 10 Huffman | 11 packing | 12 contents elsewhere
 *   QuantParam  0 scale | 1 zero point | 5 bits | 6 in use | 7 factor | 8 shift
 *   External    0 check sum | 1 file | 2 offset | 3 bytes
 *   Vec         0 numbers, of 64 bits; Vec2D: 0 Vecs
 *
 * All indices are places in the one list of tensors, which all subgraphs share. */
#ifndef SPORE_LITE_FILE_H
#define SPORE_LITE_FILE_H

#include "formats/tflite/flatbuffer.h"
#include "formats/tflite/tflite_file.h"

enum { SP_LITE_ROOT_NODES = 6, SP_LITE_ROOT_TENSORS = 7, SP_LITE_ROOT_GRAPHS = 8 };

typedef struct sp_lite_file {
    sp_tflite_file t; /* its flatbuffer; model: the MetaGraph */
    sp_flat_list nodes, tensors, graphs;
    bool old;    /* the schema of Lite 1.0 */
    int version; /* 105 for "MindSpore Lite 1.5.0"; 0: it does not say */
} sp_lite_file;

bool sp__lite_probe(const sp_source *s);
sp_status sp__lite_open(const sp_source *s, sp_lite_file *out);
/* Our dtype of a number of theirs, SP_DTYPE_NONE: there is none; and the other way round, 0. */
sp_dtype sp__lite_dtype(uint64_t type);
int sp__lite_type(sp_dtype dtype);

/* How integers stand for numbers, of one channel. */
typedef struct sp_lite_quant {
    double scale, factor, shift;
    int zero, bits;
} sp_lite_quant;

/* A tensor of the file. */
typedef struct sp_lite_tensor {
    size_t table;
    sp_meta meta;
    uint64_t type;
    int n_quant; /* scales that are in use: none, one, or one for each channel */
    sp_flat_list quant, clusters;
    int packing; /* weightQuantCompressType; -1: Huffman */
    const uint8_t *data;
    size_t bytes; /* 0: it has no contents here */
    bool outside; /* they lie in a file beside it */
} sp_lite_tensor;

sp_status sp__lite_tensor(const sp_lite_file *t, size_t table, sp_lite_tensor *out);
sp_status sp__lite_quant(const sp_lite_file *t, const sp_lite_tensor *x, int i, sp_lite_quant *out);
/* Its contents as entry `name`, which must be new, unpacked: integers, or floats where the packing holds floats. *added false: it has none. */
sp_status sp__lite_add(const sp_source *s, const sp_lite_file *t, const sp_lite_tensor *x, sp_bundle *bundle,
                       const char *name, bool *added);
/* Packed contents (lite_packed.c) into a tensor of int8, int16 or float32. */
sp_status sp__lite_unpack(const sp_lite_file *t, const sp_lite_tensor *x, sp_tensor *out);
/* The dtype of contents when they are unpacked. */
sp_dtype sp__lite_unpacked(const sp_lite_tensor *x);

/* --- the schema -------------------------------------------------------------------------------------------------- */

/* An operator: letters for its fields in order. l 64 bits, i 32 bits, b and c one byte, f float32; lists: L of 64 bits, I of 32 bits, F of
 * float32; s text, V list of lists of 64 bits, A attributes. "=x": what a missing one is; then commas stand between fields. */
typedef struct sp_lite_op {
    int tag;
    const char *name, *fields;
} sp_lite_op;

extern const sp_lite_op sp__lite_schema[], sp__lite_old_schema[]; /* they end with a NULL name */
const sp_lite_op *sp__lite_op(bool old, uint64_t tag);            /* NULL: not known */
/* The next field of `fields`: its letter, and what a missing one is; 0 at the end. */
char sp__lite_field_next(const char **fields, double *missing);

#endif
