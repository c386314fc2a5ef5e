/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_record.h - what reading a model with functions of functions needs of a recording beyond graph.h. */
#ifndef SPORE_MINDIR_RECORD_H
#define SPORE_MINDIR_RECORD_H

#include "spore/graph.h"

/* From now on this thread records into f, which must be unfinished; returns what it recorded into before. */
sp_function *sp__mindir_record_into(sp_function *f);
sp_graph *sp__mindir_graph(const sp_function *f);
/* The symbol stands for a function: a parameter or result of which the file says so. */
void sp__mindir_mark_function(sp_tensor *symbol);

#endif
