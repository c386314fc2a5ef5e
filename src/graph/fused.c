/* SPDX-License-Identifier: Apache-2.0 */
/* fused.c - running element-wise operators together: block by block, each block through all of them while it is in cache. */
#include "base/scratch.h"
#include "graph/fused.h"

enum { PART_NS = 30000 }; /* what is worth a thread: as in src/tensor/loop.c */

typedef struct {
    const sp_fused *f;
    sp_tensor *const *operands;
    bool by_column;
    int64_t grain;
} fused_job;

static inline void run_block(const sp_fused *f, int64_t n, char *const *at)
{
    for (int k = 0; k < f->n_parts; k++) {
        const sp_fused_part *p = &f->parts[k];
        char *ptr[SP_LOOP_MAX];
        for (int i = 0; i < p->n; i++) ptr[i] = at[p->operand[i]];
        p->fn(n, ptr, p->step, p->context);
    }
}

/* Where the operands of row r begin. */
static void find_row(const sp_fused *f, sp_tensor *const *operands, int64_t r, char **row)
{
    for (int k = 0; k < f->n_memory; k++) row[k] = operands[k]->data;
    for (int i = f->rank - 2; i >= 0; i--) {
        const int64_t index = r % f->dims[i];
        r /= f->dims[i];
        for (int k = 0; k < f->n_memory; k++) row[k] += index * f->steps[k][i];
    }
}

/* Rows [begin, end) and of them columns [from, to). */
static void run_rows(const sp_fused *f, sp_tensor *const *operands, int64_t begin, int64_t end, int64_t from,
                     int64_t to)
{
    char *const buffers = sp__scratch_take((size_t)f->n_buffers * f->buffer_bytes);
    char *row[SP_FUSED_OPERANDS], *at[SP_FUSED_OPERANDS];
    for (int k = 0; k < f->n_buffers; k++) at[f->n_memory + k] = buffers + (size_t)k * f->buffer_bytes;
    find_row(f, operands, begin, row);
    for (int64_t r = begin; r < end; r++) {
        for (int64_t col = from; col < to; col += f->block) {
            for (int k = 0; k < f->n_memory; k++) at[k] = row[k] + col * f->inner[k];
            run_block(f, to - col < f->block ? to - col : f->block, at);
        }
        if (r + 1 == end) break;
        if ((r + 1) % f->dims[f->rank - 2]) {
            for (int k = 0; k < f->n_memory; k++) row[k] += f->steps[k][f->rank - 2];
        } else {
            find_row(f, operands, r + 1, row);
        }
    }
    sp__scratch_give(buffers);
}

/* One row of a group that walks everything as one: a tile of it is runs at a distance. */
static void run_tile(const sp_fused *f, sp_tensor *const *operands, int64_t start, int64_t n_rows, int64_t row_step,
                     int64_t n)
{
    char *const buffers = sp__scratch_take((size_t)f->n_buffers * f->buffer_bytes);
    char *at[SP_FUSED_OPERANDS];
    for (int k = 0; k < f->n_buffers; k++) at[f->n_memory + k] = buffers + (size_t)k * f->buffer_bytes;
    for (int64_t r = 0; r < n_rows; r++, start += row_step)
        for (int64_t col = 0; col < n; col += f->block) {
            for (int k = 0; k < f->n_memory; k++) at[k] = operands[k]->data + (start + col) * f->inner[k];
            run_block(f, n - col < f->block ? n - col : f->block, at);
        }
    sp__scratch_give(buffers);
}

static void run_range(const sp_fused *f, sp_tensor *const *operands, int64_t from, int64_t to)
{
    const int64_t cols = f->dims[f->rank - 1];
    while (from < to) {
        const int64_t row = from / cols, col = from % cols;
        if (col == 0 && to - from >= cols) { /* whole rows */
            const int64_t n = (to - from) / cols;
            run_rows(f, operands, row, row + n, 0, cols);
            from += n * cols;
        } else {
            const int64_t end = to - from < cols - col ? col + (to - from) : cols;
            run_rows(f, operands, row, row + 1, col, end);
            from += end - col;
        }
    }
}

void sp__fused_tile(const sp_fused *f, sp_tensor *const *operands, int64_t start, int64_t n_rows, int64_t row_step,
                    int64_t n)
{
    const int64_t cols = f->dims[f->rank - 1], col = start % cols;
    if (f->rank == 1) run_tile(f, operands, start, n_rows, row_step, n);
    else if (row_step == cols && col + n <= cols)
        run_rows(f, operands, start / cols, start / cols + n_rows, col, col + n);
    else
        for (int64_t r = 0; r < n_rows; r++) run_range(f, operands, start + r * row_step, start + r * row_step + n);
}

static void run_chunk(void *context, int64_t begin, int64_t end)
{
    const fused_job *j = context;
    const int64_t cols = j->f->dims[j->f->rank - 1];
    if (!j->by_column) {
        run_rows(j->f, j->operands, begin, end, 0, cols);
        return;
    }
    int64_t rows = 1;
    for (int i = 0; i < j->f->rank - 1; i++) rows *= j->f->dims[i];
    for (int64_t k = begin; k < end; k++) {
        int64_t from = k * j->grain, to = from + j->grain < cols ? from + j->grain : cols;
        run_rows(j->f, j->operands, 0, rows, from, to);
    }
}

sp_status sp__fused_run(const sp_call *c)
{
    const sp_fused *f = c->attrs;
    const int64_t cols = f->dims[f->rank - 1];
    int64_t rows = 1;
    for (int i = 0; i < f->rank - 1; i++) rows *= f->dims[i];
    const int64_t worth = (int64_t)PART_NS * 16 / f->cost;
    if (rows * cols < 2 * worth) {
        SP_TRY(sp__scratch_ready());
        run_rows(f, c->in, 0, rows, 0, cols);
        return SP_OK;
    }
    fused_job job = {.f = f, .operands = c->in, .by_column = cols >= worth || rows < 4};
    if (!job.by_column) return sp__parallel_for(rows, worth / cols > 0 ? worth / cols : 1, run_chunk, &job);
    job.grain = worth / rows > 64 ? worth / rows / 64 * 64 : 64;
    return sp__parallel_for((cols + job.grain - 1) / job.grain, 1, run_chunk, &job);
}
