/* SPDX-License-Identifier: Apache-2.0 */
/* lite_out.h - MindSpore Lite models being written from recorded functions.
 *
 * Convolutions of the file want pictures [batch, height, width, channels], ours planes. So a value has a tensor in either form or in both, made when it is asked
 * for, as the runner has it that reads them; element by element operators go on in the form there is. Rules are a table (lite_out_rules.c); operators without a rule
 * are told all at once. */
#ifndef SPORE_LITE_OUT_H
#define SPORE_LITE_OUT_H

#include "base/arena.h"
#include "base/text.h"
#include "formats/lite/flat_out.h"
#include "formats/lite/lite_file.h"
#include "formats/mindir/mindir_out.h"
#include "formats/tflite/tflite_model.h"

typedef struct sp_lite_form {
    int plain, picture; /* tensors of the file, -1: there is none yet */
} sp_lite_form;

typedef struct sp_lite_out {
    sp_flat_out flat;
    sp_graph *graph;
    const sp_model_names *names;
    int n_tensors, n_nodes, tensor_room, node_room;
    uint32_t *tensors, *nodes; /* things of flat */
    sp_lite_form *forms;       /* of values, by id */
    const char **titles;       /* of values that have names in the file, by id */
    const sp_node *node;       /* being written */
    bool pictured;             /* the next result is a picture */
    int n_bad;
    sp__text bad;
    sp_status status;
} sp_lite_out;

/* Fields of an operator by their places; those that are 0 are left out where 0 is what a missing one is. */
typedef struct sp_lite_fields {
    int64_t number[SP_TFLITE_OPTIONS];
    double real[SP_TFLITE_OPTIONS];
    sp_tflite_longs list[SP_TFLITE_OPTIONS];
} sp_lite_fields;

/* The tensor of operand i in a form; constants are written when they are first used. */
int sp__lite_out_plain(sp_lite_out *o, const sp_value *v);
int sp__lite_out_picture(sp_lite_out *o, const sp_value *v);
/* Is it a weight in small integers, with its scales (dequantize_linear of constants)? It is written so, and has no node. */
bool sp__lite_out_is_packed(const sp_value *v);
int sp__lite_out_ints(sp_lite_out *o, int n, const int64_t *v); /* a constant of int32 */
/* A node; the tensor that it makes, of this type; title NULL: its name is made up. */
int sp__lite_out_emit(sp_lite_out *o, int tag, const sp_lite_fields *f, int n, const int *in, const sp_meta *meta,
                      const char *title);
/* Result 0 of the operator being written. */
void sp__lite_out_give(sp_lite_out *o, int tag, const sp_lite_fields *f, int n, const int *in, bool picture);
sp_meta sp__lite_out_turned(const sp_meta *m); /* of planes: that of pictures */
void sp__lite_out_refuse(sp_lite_out *o, const char *why);
bool sp__lite_out_rule(sp_lite_out *o, const sp_node *n); /* false: there is none */

sp_status sp__lite_save(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options);

#endif
