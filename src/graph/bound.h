/* SPDX-License-Identifier: Apache-2.0 */
/* bound.h - a program bound to shapes and to one block of memory: its runs take and give buffers of the caller's and allocate nothing.
 *
 * Programs that are one straight stretch of operators can be bound. The block holds all that a run writes to besides the results:
 *
 *     head of an arena | instance: handles, calls | arena of values between operators | results that nobody gets as they are
 *
 * Plan, program and weights are not in it: they are made before, and shared. */
#ifndef SPORE_BOUND_H
#define SPORE_BOUND_H

#include "ir/graph_impl.h"

typedef struct sp_bound sp_bound;

enum { SP_BOUND_ALIGN = 64 };

/* Bytes of the block for arguments of these shapes (contents do not matter, row-major order). SP_DECLINED: the program cannot be bound; the
 * message says why. */
sp_status sp__bound_bytes(sp_program *p, sp_tensor *const *args, size_t *bytes);
/* The block is aligned to SP_BOUND_ALIGN and lives longer than what is bound to it. The program is retained. */
sp_status sp__bound_create(sp_program *p, sp_tensor *const *args, void *block, size_t bytes, sp_bound **out);
void sp__bound_free(sp_bound *b); /* NULL is fine */
/* Arguments and results in row-major order, each aligned to its elements, results apart from everything else. One run at a time. */
sp_status sp__bound_run(sp_bound *b, const void *const *in, void *const *out);
/* Geometry of a result. */
const sp_tensor *sp__bound_result(const sp_bound *b, int i);

#endif
