/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_softmax.c - softmax, its logarithm and their gradients for float32, over rows.h. A row, or a block of columns, is one
 * thread's work from beginning to end; the cuts depend on the shape only. Rows of float16 and bfloat16 are widened one by one, computed in
 * float32 and rounded once. */
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/rows.h"
#include "ir/nn_attrs.h"

enum { COLUMNS = 64, WIDE_MOST = 8192 /* elements of a row that is widened */ };

typedef struct {
    const sp__row_kernels *rows;
    int64_t outer, n, inner;
    bool is_log;
    const float *x, *g;
    float *out;
    sp_dtype dtype; /* half precision: x, g and out hold that */
} softmax_job;

/* The axes are checked by inference: one, or neighbours. */
static void split(const sp_tensor *x, sp_ints axis, softmax_job *j)
{
    uint32_t mask = 0;
    j->outer = j->n = j->inner = 1;
    for (int i = 0; i < axis.n; i++) mask |= 1u << (axis.v[i] < 0 ? axis.v[i] + x->rank : axis.v[i]);
    if (axis.n <= 0) mask = (1u << x->rank) - 1;
    const int first = mask ? __builtin_ctz(mask) : 0;
    for (int i = 0; i < x->rank; i++) *(mask >> i & 1 ? &j->n : i < first ? &j->outer : &j->inner) *= x->dims[i];
}

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const softmax_job *j = context;
    for (int64_t at = begin * j->n; at < end * j->n; at += j->n) {
        if (j->g) (j->is_log ? j->rows->log_softmax_grad : j->rows->softmax_grad)(j->n, j->out + at, j->x + at, j->g + at);
        else (j->is_log ? j->rows->log_softmax : j->rows->softmax)(j->n, j->out + at, j->x + at);
    }
}

static void run_half_rows(void *context, int64_t begin, int64_t end)
{
    const softmax_job *j = context;
    float x[WIDE_MOST], g[WIDE_MOST];
    const softmax_job row = {.rows = j->rows, .n = j->n, .is_log = j->is_log, .x = x, .g = j->g ? g : NULL, .out = x};
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = i * j->n * 2;
        sp__cpu_convert(j->dtype, SP_DTYPE_F32, j->n, x, (const char *)j->x + at);
        if (j->g) sp__cpu_convert(j->dtype, SP_DTYPE_F32, j->n, g, (const char *)j->g + at);
        run_rows((void *)(uintptr_t)&row, 0, 1);
        sp__cpu_convert(SP_DTYPE_F32, j->dtype, j->n, (char *)j->out + at, x);
    }
}

static void run_columns(void *context, int64_t begin, int64_t end)
{
    const softmax_job *j = context;
    const int64_t blocks = (j->inner + COLUMNS - 1) / COLUMNS;
    for (int64_t part = begin; part < end; part++) {
        const int64_t column = part % blocks * COLUMNS, at = part / blocks * j->n * j->inner + column;
        const int64_t w = j->inner - column < COLUMNS ? j->inner - column : COLUMNS;
        if (j->g)
            (j->is_log ? j->rows->log_softmax_grad_columns : j->rows->softmax_grad_columns)(j->n, j->inner, w, j->out + at,
                                                                                            j->x + at, j->g + at);
        else (j->is_log ? j->rows->log_softmax_columns : j->rows->softmax_columns)(j->n, j->inner, w, j->out + at, j->x + at);
    }
}

static sp_status run(const sp_call *c, bool is_log)
{
    const sp_tensor *x = c->in[0];
    softmax_job j = {.rows = sp__float_rows(), .is_log = is_log, .x = (const float *)(const void *)x->data,
                     .g = c->n_in > 1 ? (const float *)(const void *)c->in[1]->data : NULL, .out = (float *)(void *)c->out[0]->data};
    if (x->count == 0) return SP_OK;
    split(x, ((const sp__softmax_attrs *)c->attrs)->axis, &j);
    const int64_t part = 32768; /* elements, some 15 microseconds */
    j.dtype = (sp_dtype)x->dtype;
    if (j.dtype != SP_DTYPE_F32) return sp__parallel_for(j.outer, part / j.n > 0 ? part / j.n : 1, run_half_rows, &j);
    if (j.inner == 1) return sp__parallel_for(j.outer, part / j.n > 0 ? part / j.n : 1, run_rows, &j);
    const int64_t blocks = (j.inner + COLUMNS - 1) / COLUMNS, each = j.n * (j.inner < COLUMNS ? j.inner : COLUMNS);
    return sp__parallel_for(j.outer * blocks, part / each > 0 ? part / each : 1, run_columns, &j);
}

bool sp__cpu_softmax_takes(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    if (x->rank == 0 || (c->n_in > 1 && c->in[1]->dtype != x->dtype)) return false;
    if (x->dtype == SP_DTYPE_F32) return true;
    softmax_job j;
    split(x, ((const sp__softmax_attrs *)c->attrs)->axis, &j);
    return (x->dtype == SP_DTYPE_F16 || x->dtype == SP_DTYPE_BF16) && j.inner == 1 && j.n <= WIDE_MOST;
}
sp_status sp__cpu_softmax(const sp_call *c) { return run(c, false); }
sp_status sp__cpu_log_softmax(const sp_call *c) { return run(c, true); }
