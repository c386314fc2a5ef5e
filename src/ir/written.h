/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - handles that operators of a recording have written to, for branches and loops: what both ways leave in a handle is joined like
 * everything else that they change. */
#ifndef SPORE_IR_WRITTEN_H
#define SPORE_IR_WRITTEN_H

#include "ir/graph_impl.h"

/* The i-th handle that was there before f, the function being recorded, and that f wrote to; borrowed. NULL behind the last one. A handle may come
 * several times. */
sp_tensor *sp__function_written(const sp_function *f, int i);
/* Give a handle the value of another one, until the function being recorded ends. */
sp_status sp__symbol_rebind(sp_tensor *t, sp_tensor *value);

#endif
