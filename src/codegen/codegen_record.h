/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_record.h - models for codegen.c: recorded, and run for the test vector. Apart from codegen.h, because models and programs
 * have types of one name. */
#ifndef SPORE_CODEGEN_RECORD_H
#define SPORE_CODEGEN_RECORD_H

#include "spore/codegen.h"

struct sp_codegen_vector;
struct sp_codegen_shared;
struct sp_codegen;
struct sp__arena;
/* The model's weights for a recording: constants, but for those that are shared. The caller's. */
sp_status sp__codegen_weights(const sp_model *m, const struct sp_codegen_shared *shared, sp_bundle **out);
/* Weights that the options name, retained. */
sp_status sp__codegen_trained(const sp_model *m, const sp_codegen_options *options, struct sp_codegen_shared *out);
/* A step of training: a function of the inputs, labels and the rate that gives the loss, and stores what the weights become. What the optimizer keeps is added to
 * `shared`. */
sp_status sp__codegen_record_step(const sp_model *m, const sp_codegen_options *options,
                                  struct sp_codegen_shared *shared, struct sp__arena *places, sp_graph **graph,
                                  sp_function **out);
/* Noise, labels and a rate, and the losses of some steps with them. */
sp_status sp__codegen_step_vector(sp_model *m, struct sp_codegen *g, struct sp_codegen_vector *out);
/* The model as a function of its inputs, weights as constants where the kind allows it, but for those that are shared. Names of the file's nodes are kept in
 * `places`, which must live as long as the graph and what is made of it. The graph is the caller's. */
sp_status sp__codegen_record(const sp_model *m, const struct sp_codegen_shared *shared, struct sp__arena *places,
                             sp_graph **graph, sp_function **out);
/* Noise for its inputs, and what the engine makes of it. */
sp_status sp__codegen_vector_make(sp_model *m, struct sp_codegen_vector *out);
void sp__codegen_vector_free(struct sp_codegen_vector *v);

#endif
