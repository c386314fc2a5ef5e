/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_record.h - models for codegen.c: recorded, and run for the test vector. Apart from codegen.h, because models and programs
 * have types of one name. */
#ifndef SPORE_CODEGEN_RECORD_H
#define SPORE_CODEGEN_RECORD_H

#include "spore/codegen.h"

struct sp_codegen_vector;
/* The model as a function of its inputs, weights as constants where the kind allows it. The graph is the caller's. */
sp_status sp__codegen_record(const sp_model *m, sp_graph **graph, sp_function **out);
/* Noise for its inputs, and what the engine makes of it. */
sp_status sp__codegen_vector_make(sp_model *m, struct sp_codegen_vector *out);
void sp__codegen_vector_free(struct sp_codegen_vector *v);

#endif
