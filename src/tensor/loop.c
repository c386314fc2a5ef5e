/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - one loop over any number of broadcast, strided operands: merged where possible, split over threads. */
#include "tensor/tensor_impl.h"

/* A short last dimension changes places with a longer one: starting a row costs as much as some elements. Only where each element of the
 * result has a place of its own, so that the order does not matter, and where lines are still near when the next of their elements is due. */
enum { ROW_SHORT = 8, ROW_NEAR = 256 };
static void lengthen_rows(sp_loop *loop)
{
    const int last = loop->rank - 1, longer = last - 1;
    if (last == 0 || loop->dims[last] >= ROW_SHORT || loop->dims[longer] < 2 * ROW_SHORT) return;
    for (int i = 0; i <= last; i++)
        if (loop->steps[0][i] == 0) return;
    for (int k = 0; k < loop->n_operands; k++)
        if (loop->steps[k][longer] > ROW_NEAR || loop->steps[k][longer] < -ROW_NEAR) return;
    const int64_t n = loop->dims[last];
    loop->dims[last] = loop->dims[longer];
    loop->dims[longer] = n;
    for (int k = 0; k < loop->n_operands; k++) {
        const int64_t step = loop->steps[k][last];
        loop->steps[k][last] = loop->steps[k][longer];
        loop->steps[k][longer] = step;
    }
}

void sp__loop_init(sp_loop *loop, int rank, const int64_t *dims, int n, const sp_tensor *const *operands)
{
    loop->n_operands = n;
    int64_t step[SP_LOOP_MAX][SP_RANK_MAX];
    for (int k = 0; k < n; k++) {
        const sp_tensor *t = operands[k];
        const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)t->dtype);
        loop->ptr[k] = t->data;
        int lead = rank - t->rank;
        for (int i = 0; i < rank; i++)
            step[k][i] = i < lead || t->dims[i - lead] == 1 ? 0 : t->strides[i - lead] * size;
    }
    /* Merge dimension i into the previous kept one when every operand walks both as one. */
    int r = 0;
    for (int i = 0; i < rank; i++) {
        if (dims[i] == 1) continue;
        bool merge = r > 0;
        for (int k = 0; merge && k < n; k++) merge = loop->steps[k][r - 1] == dims[i] * step[k][i];
        if (merge) {
            loop->dims[r - 1] *= dims[i];
            for (int k = 0; k < n; k++) loop->steps[k][r - 1] = step[k][i];
        } else {
            loop->dims[r] = dims[i];
            for (int k = 0; k < n; k++) loop->steps[k][r] = step[k][i];
            r++;
        }
    }
    if (r == 0) {
        loop->dims[0] = 1;
        for (int k = 0; k < n; k++) loop->steps[k][0] = 0;
        r = 1;
    }
    loop->rank = r;
    lengthen_rows(loop);
}

/* Rows [begin, end) of the loop, counted over all dimensions but the last, restricted to columns [from, to). */
static void run_rows(const sp_loop *l, sp_loop_fn fn, const void *context, int64_t begin, int64_t end, int64_t from,
                     int64_t to)
{
    const int last = l->rank - 1;
    int64_t at[SP_RANK_MAX];
    int64_t rest = begin;
    for (int i = last - 1; i >= 0; i--) {
        at[i] = rest % l->dims[i];
        rest /= l->dims[i];
    }
    char *ptr[SP_LOOP_MAX];
    int64_t step[SP_LOOP_MAX];
    for (int k = 0; k < l->n_operands; k++) {
        step[k] = l->steps[k][last];
        ptr[k] = l->ptr[k] + from * step[k];
        for (int i = 0; i < last; i++) ptr[k] += at[i] * l->steps[k][i];
    }
    for (int64_t row = begin;;) {
        fn(to - from, ptr, step, context);
        if (++row >= end) return;
        for (int i = last - 1; i >= 0; i--) {
            if (++at[i] < l->dims[i]) {
                for (int k = 0; k < l->n_operands; k++) ptr[k] += l->steps[k][i];
                break;
            }
            at[i] = 0;
            for (int k = 0; k < l->n_operands; k++) ptr[k] -= (l->dims[i] - 1) * l->steps[k][i];
        }
    }
}

typedef struct {
    const sp_loop *loop;
    sp_loop_fn fn;
    const void *context;
    bool by_column; /* few long rows: cut along the last dimension instead */
    int64_t n_cols, col_grain, n_rows;
} loop_job;

static void run_part(void *context, int64_t begin, int64_t end)
{
    const loop_job *j = context;
    if (!j->by_column) {
        run_rows(j->loop, j->fn, j->context, begin, end, 0, j->n_cols);
        return;
    }
    for (int64_t p = begin; p < end; p++) {
        int64_t from = p * j->col_grain;
        int64_t to = from + j->col_grain < j->n_cols ? from + j->col_grain : j->n_cols;
        run_rows(j->loop, j->fn, j->context, 0, j->n_rows, from, to);
    }
}

sp_status sp__loop_run(const sp_loop *loop, sp_loop_fn fn, const void *context, int cost)
{
    const int last = loop->rank - 1;
    int64_t rows = 1;
    for (int i = 0; i < last; i++) rows *= loop->dims[i];
    const int64_t cols = loop->dims[last];
    if (rows == 0 || cols == 0) return SP_OK;
    /* A part is worth about 30 microseconds; below two parts a second thread costs more than it brings. */
    const int64_t part = 30000 * 16 / (cost > 0 ? cost : 1);
    if (rows * cols < 2 * part) {
        run_rows(loop, fn, context, 0, rows, 0, cols);
        return SP_OK;
    }
    loop_job job = {.loop = loop, .fn = fn, .context = context, .n_cols = cols, .n_rows = rows};
    if (cols >= part || rows < 4) {
        job.by_column = true;
        job.col_grain = part / rows > 64 ? part / rows / 64 * 64 : 64;
        return sp__parallel_for((cols + job.col_grain - 1) / job.col_grain, 1, run_part, &job);
    }
    int64_t grain = part / cols;
    return sp__parallel_for(rows, grain > 0 ? grain : 1, run_part, &job);
}
