/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h - a second stack of every thread, for buffers that are too large for the first: an engine inside of another
 * program runs on threads of 64 KB, too, where one large array reaches past the guard page without touching it. No function
 * has a frame of more than 8 KB (the build checks that); larger buffers of kernels lie here, as cheap as on the stack. */
#ifndef SPORE_SCRATCH_H
#define SPORE_SCRATCH_H

#include "base/base.h"

/* After this, the calling thread can take up to SP_SCRATCH_BYTES without failing. Kernels of operators and functions that
 * sp__parallel_for calls need not ask: it was done for them. SP_NOMEM: there is none. */
sp_status sp__scratch_ready(void);
/* All of 0..n by fn: shared among threads, or here. */
sp_status sp__for(bool parallel, int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end),
                  void *context);

enum { SP_SCRATCH_BYTES = 1 << 20 };
/* 64-byte aligned, contents undefined. What is taken last is given back first. */
void *sp__scratch_take(size_t bytes);
void sp__scratch_give(void *block);

#endif
