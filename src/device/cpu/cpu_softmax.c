/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_softmax.c - softmax, its logarithm and their gradients for float32, over rows.h. A row, or a block of columns, is one
 * thread's work from beginning to end; the cuts depend on the shape only. Rows of float16 and bfloat16, or blocks of columns, are widened one by one, computed in
 * float32 and rounded once; columns in scratch of their own for each of up to SLOTS parts. */
#include "base/scratch.h"
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/rows.h"
#include "spore/ops_attrs.h"

enum {
    COLUMNS = 64,
    WIDE_MOST = 8192 /* elements of a row that is widened */,
    BLOCK_MOST = 1 << 18 /* of a block of columns */,
    SLOTS = 8
};

typedef struct {
    const sp__row_kernels *rows;
    int64_t outer, n, inner;
    bool is_log;
    const float *x, *g;
    float *out;
    sp_dtype dtype; /* half precision: x, g and out hold that */
    float *wide;    /* then, of columns: scratch, half_block() for each slot */
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
        if (j->g)
            (j->is_log ? j->rows->log_softmax_grad : j->rows->softmax_grad)(j->n, j->out + at, j->x + at, j->g + at);
        else (j->is_log ? j->rows->log_softmax : j->rows->softmax)(j->n, j->out + at, j->x + at);
    }
}

static void run_half_rows(void *context, int64_t begin, int64_t end)
{
    const softmax_job *j = context;
    float *const x = sp__scratch_take(2 * WIDE_MOST * sizeof *x), *const g = x + WIDE_MOST;
    const softmax_job row = {.rows = j->rows, .n = j->n, .is_log = j->is_log, .x = x, .g = j->g ? g : NULL, .out = x};
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = i * j->n * 2;
        sp__cpu_convert(j->dtype, SP_DTYPE_F32, j->n, x, (const char *)j->x + at);
        if (j->g) sp__cpu_convert(j->dtype, SP_DTYPE_F32, j->n, g, (const char *)j->g + at);
        run_rows((void *)(uintptr_t)&row, 0, 1);
        sp__cpu_convert(SP_DTYPE_F32, j->dtype, j->n, (char *)j->out + at, x);
    }
    sp__scratch_give(x);
}

static void run_columns(void *context, int64_t begin, int64_t end)
{
    const softmax_job *j = context;
    const int64_t blocks = (j->inner + COLUMNS - 1) / COLUMNS;
    for (int64_t part = begin; part < end; part++) {
        const int64_t column = part % blocks * COLUMNS, at = part / blocks * j->n * j->inner + column;
        const int64_t w = j->inner - column < COLUMNS ? j->inner - column : COLUMNS;
        if (j->g)
            (j->is_log ? j->rows->log_softmax_grad_columns
                       : j->rows->softmax_grad_columns)(j->n, j->inner, w, j->out + at, j->x + at, j->g + at);
        else
            (j->is_log ? j->rows->log_softmax_columns : j->rows->softmax_columns)(j->n, j->inner, w, j->out + at,
                                                                                  j->x + at);
    }
}

/* Columns of half precision: how wide a block is, how many floats it takes, how many parts there are. */
static int64_t half_width(const softmax_job *j)
{
    const int64_t fit = BLOCK_MOST / j->n / 16 * 16, w = fit < COLUMNS ? fit : COLUMNS;
    return j->inner < w ? j->inner : w;
}
static int64_t half_tasks(const softmax_job *j) { return j->outer * ((j->inner + half_width(j) - 1) / half_width(j)); }
static int64_t half_slots(const softmax_job *j) { return half_tasks(j) < SLOTS ? half_tasks(j) : SLOTS; }
static int64_t half_block(const softmax_job *j, bool gradient)
{
    return (j->n * half_width(j) * (gradient ? 2 : 1) + 15) / 16 * 16;
}

static void run_half_columns(void *context, int64_t begin, int64_t end)
{
    const softmax_job *j = context;
    const int64_t width = half_width(j), blocks = (j->inner + width - 1) / width, tasks = half_tasks(j),
                  slots = half_slots(j);
    for (int64_t slot = begin; slot < end; slot++)
        for (int64_t t = slot * tasks / slots; t < (slot + 1) * tasks / slots; t++) {
            const int64_t column = t % blocks * width, w = j->inner - column < width ? j->inner - column : width;
            const int64_t at = (t / blocks * j->n * j->inner + column) * 2, row = j->inner * 2;
            float *x = j->wide + slot * half_block(j, j->g != NULL), *g = x + j->n * w;
            for (int64_t i = 0; i < j->n; i++) {
                sp__cpu_convert(j->dtype, SP_DTYPE_F32, w, x + i * w, (const char *)j->x + at + i * row);
                if (j->g) sp__cpu_convert(j->dtype, SP_DTYPE_F32, w, g + i * w, (const char *)j->g + at + i * row);
            }
            const softmax_job block = {.rows = j->rows,
                                       .outer = 1,
                                       .n = j->n,
                                       .inner = w,
                                       .is_log = j->is_log,
                                       .x = x,
                                       .g = j->g ? g : NULL,
                                       .out = x};
            run_columns((void *)(uintptr_t)&block, 0, 1);
            for (int64_t i = 0; i < j->n; i++)
                sp__cpu_convert(SP_DTYPE_F32, j->dtype, w, (char *)j->out + at + i * row, x + i * w);
        }
}

static sp_status run(const sp_call *c, bool is_log)
{
    const sp_tensor *x = c->in[0];
    softmax_job j = {.rows = sp__float_rows(),
                     .is_log = is_log,
                     .x = (const float *)(const void *)x->data,
                     .g = c->n_in > 1 ? (const float *)(const void *)c->in[1]->data : NULL,
                     .out = (float *)(void *)c->out[0]->data};
    if (x->count == 0) return SP_OK;
    split(x, ((const sp_softmax_attrs *)c->attrs)->axis, &j);
    const int64_t part = 32768; /* elements, some 15 microseconds */
    j.dtype = (sp_dtype)x->dtype;
    if (j.dtype != SP_DTYPE_F32 && j.inner > 1) {
        j.wide = c->work;
        return sp__parallel_for(half_slots(&j), 1, run_half_columns, &j);
    }
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
    split(x, ((const sp_softmax_attrs *)c->attrs)->axis, &j);
    return (x->dtype == SP_DTYPE_F16 || x->dtype == SP_DTYPE_BF16) &&
           (j.inner == 1 ? j.n <= WIDE_MOST : j.n * 16 <= BLOCK_MOST);
}

size_t sp__cpu_softmax_work(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    softmax_job j;
    split(x, ((const sp_softmax_attrs *)c->attrs)->axis, &j);
    if (x->dtype == SP_DTYPE_F32 || j.inner <= 1 || x->count == 0) return 0;
    return (size_t)(half_slots(&j) * half_block(&j, c->n_in > 1)) * sizeof(float);
}
sp_status sp__cpu_softmax(const sp_call *c) { return run(c, false); }
sp_status sp__cpu_log_softmax(const sp_call *c) { return run(c, true); }
