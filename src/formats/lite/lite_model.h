/* SPDX-License-Identifier: Apache-2.0 */
/* lite_model.h - a MindSpore Lite model in memory. Read this one.
 *
 * 1. The file (lite_file.h) becomes graphs of formats/tflite/tflite_model.h, whose runner looks after layouts and scales: pictures are [batch, height, width,
 *    channels] in both, and integers stand for numbers in the same way. All graphs of a file share one list of tensors.
 * 2. An operator is its row in lite_schema.c, which says what fields it has, and a handler: one of TensorFlow Lite's where the meaning is the same (lite_ops.c says
 *    which field becomes which option), or one of the lite_ops_*.c.
 * 3. Constants that only save room become what they stand for when the file is read: packed weights, weights of integers under float inputs, halves under floats.
 *    Weights of nodes that compute with integers stay integers.
 * 4. A file with optimizer nodes is a training model (lite_train.c): its outputs are those that no optimizer gives, each run is a step, and what optimizers read
 *    and write - weights, moments, the learning rate - are its parameters. Beside the whole graph it has the one for predictions, up to where the loss begins.
 * 5. Files of Lite 1.0 (lite_old.c) are translated node by node into those of today; attributes that are inputs now become constants. */
#ifndef SPORE_LITE_MODEL_H
#define SPORE_LITE_MODEL_H

#include "formats/lite/lite_file.h"
#include "formats/tflite/tflite_product.h"

typedef struct sp_lite_model {
    sp_tflite_model runs; /* first: the runner sees this alone */
    bool trains;
    uint8_t *
        file; /* of a training model: the file, and where the contents of its tensors are in it (0: elsewhere, or packed) */
    size_t file_bytes, *places;
    sp_model *base; /* of predictions of a training model: that one */
} sp_lite_model;

/* A node of Lite 1.0, whose fields were read, as one of today: its number, and fields that are inputs now (lite_old.c). */
sp_status sp__lite_translate(sp__arena *arena, int old_tag, sp_tflite_node *n, int *tag, int *n_extra,
                             sp_tflite_longs extra[3]);
/* Inputs and outputs of a model: those of the graph. */
sp_status sp__lite_faces(sp_model *m, const sp_tflite_graph *g);

/* Numbers of operators that the reader knows by name. */
enum {
    SP_LITE_ADAM = 4,
    SP_LITE_APPLY_MOMENTUM = 10,
    SP_LITE_ASSIGN = 14,
    SP_LITE_ASSIGN_ADD = 15,
    SP_LITE_CONV_TRANSPOSE = 36,
    SP_LITE_GATHER = 69,
    SP_LITE_MATMUL = 89,
    SP_LITE_SGD = 129,
    SP_LITE_ADAM_WEIGHT_DECAY = 220
};

/* Handlers: tables end with a NULL name. */
extern const sp_tflite_handler sp__lite_math[], sp__lite_nn[], sp__lite_shape_table[], sp__lite_train[];
/* The handler of an operator, NULL: there is none. It may be one of TensorFlow Lite's: then *map says which field its options are (lite_ops.c). */
const sp_tflite_handler *sp__lite_handler_find(int tag, const char **map);
/* Whether it writes its first input; and those after it that are states of it or numbers of the step. */
bool sp__lite_is_update(int tag);

/* --- for handlers: fields, by their place in the schema ---------------------------------------------------------- */

static inline int64_t sp__lite_int(const sp_tflite_call *c, int field) { return (int64_t)c->node->option[field]; }
static inline double sp__lite_float(const sp_tflite_call *c, int field) { return sp__tflite_float(c, field, 0); }
static inline sp_tflite_longs sp__lite_list(const sp_tflite_call *c, int field)
{
    return c->node->lists != NULL ? c->node->lists[field] : (sp_tflite_longs){0, NULL};
}
/* Input i as a list of numbers where it is there, else the field. */
sp_status sp__lite_ints(sp_tflite_call *c, int i, int field, sp_tflite_ints *out);
/* An activation by its number, 0: none. */
sp_tensor *sp__lite_activate(sp_tflite_call *c, sp_tensor *x, int64_t kind, double alpha);

#endif
