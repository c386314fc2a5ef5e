/* SPDX-License-Identifier: Apache-2.0 */
/* fused.h - several element-wise operators as one step of a plan. plan_fuse.c finds them, fused.c runs them. */
#ifndef SPORE_FUSED_H
#define SPORE_FUSED_H

#include "graph/plan.h"

enum {
    SP_FUSED_PARTS = 48,
    SP_FUSED_OPERANDS = 48,       /* memory and buffers */
    SP_FUSED_BUFFERS = 24 * 1024, /* bytes of all buffers: scratch of whoever runs a block */
    SP_FUSED_BLOCK = 2048         /* elements of a block, at most */
};

/* One operator: its own inner loop. */
typedef struct sp_fused_part {
    sp_loop_fn fn;
    const void *context;
    int n;
    uint8_t operand[SP_LOOP_MAX];
    int64_t step[SP_LOOP_MAX]; /* of its operands: bytes from one element of a run to the next */
} sp_fused_part;

/* Operands are numbered: those in memory, which are the call's inputs and results, then buffers. */
struct sp_fused {
    int n_parts, n_memory, n_buffers, cost;
    int rank;
    int64_t dims[SP_RANK_MAX];
    int64_t block;
    size_t buffer_bytes;
    sp_fused_part *parts;
    int64_t (*steps)[SP_RANK_MAX]; /* by operand in memory, bytes */
    int64_t *inner;                /* by operand: bytes from one element of a run to the next */
};

/* The kernel of a fused step; c->attrs is the sp_fused. */
sp_status sp__fused_run(const sp_call *c);
/* n_rows runs of n elements, numbered in row-major order, row_step apart from each other; on this thread. operands: those in
 * memory. */
void sp__fused_tile(const sp_fused *f, sp_tensor *const *operands, int64_t start, int64_t n_rows, int64_t row_step,
                    int64_t n);

#endif
