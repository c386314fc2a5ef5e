/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_reduce.c - sums, means and extrema of float32 over neighbouring axes, at the speed of memory.
 *
 * The tensor is outer x n x inner around the axes. With inner = 1 an output is the sum of a row, cut into blocks of ROW_BLOCK
 * elements when rows are few and long; otherwise rows of neighbouring outputs are added to one another, blocks of up to BLOCK_ROWS
 * of them, and the blocks' sums in double. Cuts depend on the shape only, and so does the result. */
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/rows.h"
#include "ir/nn_attrs.h"

enum { PART_NS = 30000, ROW_BLOCK = 65536, BLOCK_ROWS = 128, BLOCK_ROWS_LEAST = 16, COLUMNS = 4096, PART = 65536 };
typedef enum { SUM, MEAN, MOST, LEAST } reduction;

typedef struct {
    const sp__row_kernels *rows;
    reduction what;
    int64_t outer, n, inner;
    int64_t blocks, block;       /* of n */
    int64_t pieces;              /* of inner, COLUMNS wide */
    const float *x;
    float *out;
    const sp_prologue *prologue; /* makes x; NULL: it is there */
    char *partial;               /* [outer][blocks] doubles (inner = 1), or [outer][blocks][inner] floats; NULL: one block */
} reduce_job;

static bool split(const sp_tensor *x, sp_ints axis, reduce_job *j)
{
    uint32_t mask = 0;
    for (int i = 0; i < axis.n; i++) mask |= 1u << (axis.v[i] < 0 ? axis.v[i] + x->rank : axis.v[i]);
    if (axis.n <= 0) mask = (1u << x->rank) - 1;
    j->outer = j->n = j->inner = 1;
    int last = -1; /* the reduced dimensions, apart from those of one element, must be neighbours */
    for (int i = 0; i < x->rank; i++) {
        if (x->dims[i] == 1) continue;
        const bool reduced = mask >> i & 1;
        if (reduced && last == 2) return false;
        if (!reduced) last = last < 1 ? 0 : 2;
        else last = 1;
        *(last == 0 ? &j->outer : last == 1 ? &j->n : &j->inner) *= x->dims[i];
    }
    return true;
}

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void plan(reduce_job *j)
{
    j->blocks = 1;
    j->block = j->n;
    j->pieces = ceil_div(j->inner, COLUMNS);
    if (j->inner == 1) {
        if (j->outer < 16 && j->n >= 2 * ROW_BLOCK) j->blocks = ceil_div(j->n, ROW_BLOCK), j->block = ROW_BLOCK;
        return;
    }
    j->block = ceil_div(j->n, 32);
    if (j->block > BLOCK_ROWS) j->block = BLOCK_ROWS;
    if (j->block < BLOCK_ROWS_LEAST) j->block = BLOCK_ROWS_LEAST;
    j->blocks = ceil_div(j->n, j->block);
}

static void finish(const reduce_job *j, int64_t o, double total)
{
    j->out[o] = j->what == MEAN ? (float)(total / (double)j->n) : (float)total;
}

static double row_result(const reduce_job *j, int64_t n, const float *x)
{
    switch (j->what) {
    case MOST: return (double)j->rows->most(n, x);
    case LEAST: return (double)j->rows->least(n, x);
    default: return j->rows->sum(n, x);
    }
}

/* Where the part of x lies that begins at an element: worked out now, or there already. */
static const float *part_at(const reduce_job *j, int64_t start, int64_t n_rows, int64_t row_step, int64_t n)
{
    return j->prologue ? j->prologue->make(j->prologue->context, start, n_rows, row_step, n) : j->x + start;
}

static void part_done(const reduce_job *j, const float *part)
{
    if (j->prologue) j->prologue->done(j->prologue->context, part);
}

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    for (int64_t t = begin; t < end; t++) {
        const int64_t o = t / j->blocks, at = t % j->blocks * j->block, n = j->n - at < j->block ? j->n - at : j->block;
        const float *x = part_at(j, o * j->n + at, 1, n, n);
        const double r = row_result(j, n, x);
        part_done(j, x);
        if (j->partial) ((double *)(void *)j->partial)[t] = r;
        else finish(j, o, r);
    }
}

static double joined(reduction what, double a, double b)
{
    return what == MOST ? b > a || b != b ? b : a : what == LEAST ? b < a || b != b ? b : a : a + b;
}

static void run_columns(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    float room[COLUMNS];
    for (int64_t t = begin; t < end; t++) {
        const int64_t piece = t % j->pieces, block = t / j->pieces % j->blocks, o = t / j->pieces / j->blocks;
        const int64_t column = piece * COLUMNS, w = j->inner - column < COLUMNS ? j->inner - column : COLUMNS;
        const int64_t row = block * j->block, rows = j->n - row < j->block ? j->n - row : j->block;
        float *to = j->partial ? (float *)(void *)j->partial + (o * j->blocks + block) * j->inner + column : room;
        const float *x = part_at(j, (o * j->n + row) * j->inner + column, rows, j->inner, w);
        (j->what == MOST ? j->rows->most_columns : j->what == LEAST ? j->rows->least_columns
                                                                    : j->rows->sum_columns)(rows, j->inner, w, to, x);
        part_done(j, x);
        for (int64_t k = 0; !j->partial && k < w; k++) finish(j, o * j->inner + column + k, (double)to[k]);
    }
}

static void merge(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    for (int64_t i = begin; i < end; i++) {
        const int64_t o = i / j->inner, k = i % j->inner;
        double total = 0;
        for (int64_t b = 0; b < j->blocks; b++) {
            const int64_t at = (o * j->blocks + b) * j->inner + k;
            const double v = j->inner == 1 ? ((const double *)(const void *)j->partial)[at]
                                           : (double)((const float *)(const void *)j->partial)[at];
            total = b ? joined(j->what, total, v) : v;
        }
        finish(j, i, total);
    }
}

size_t sp__cpu_reduce_work(const sp_call *c)
{
    reduce_job j = {0};
    if (!split(c->in[0], ((const sp__reduce_attrs *)c->attrs)->axis, &j)) return 0;
    plan(&j);
    return j.blocks > 1 ? (size_t)(j.outer * j.blocks * j.inner) * (j.inner == 1 ? 8 : 4) : 0;
}

int64_t sp__cpu_reduce_part(const sp_call *c)
{
    reduce_job j = {0};
    if (!split(c->in[0], ((const sp__reduce_attrs *)c->attrs)->axis, &j)) return 0;
    plan(&j);
    return j.pieces > 1 ? 0 : j.block * j.inner;
}

bool sp__cpu_reduce_takes(const sp_call *c)
{
    reduce_job j;
    const sp_tensor *x = c->in[0];
    /* The extrema's reference takes strided inputs as they are; sums get row-major ones. */
    if (c->op->strided && !(x->flags & SP_TENSOR_CONTIGUOUS)) return false;
    return x->dtype == SP_DTYPE_F32 && x->count > 0 && split(x, ((const sp__reduce_attrs *)c->attrs)->axis, &j);
}

static sp_status run(const sp_call *c, reduction what)
{
    reduce_job j = {.rows = sp__float_rows(), .what = what, .x = (const float *)(const void *)c->in[0]->data,
                    .out = (float *)(void *)c->out[0]->data, .partial = c->work, .prologue = c->prologue};
    split(c->in[0], ((const sp__reduce_attrs *)c->attrs)->axis, &j);
    plan(&j);
    if (j.blocks == 1) j.partial = NULL;
    const int64_t width = j.inner < COLUMNS ? j.inner : COLUMNS, each = j.block * width;
    int64_t grain = PART / each > 0 ? PART / each : 1;
    if (j.prologue && (int64_t)PART_NS * 16 / j.prologue->cost / each < grain) {
        grain = (int64_t)PART_NS * 16 / j.prologue->cost / each;
        if (grain < 1) grain = 1;
    }
    SP_TRY(sp__parallel_for(j.outer * j.blocks * j.pieces, grain, j.inner == 1 ? run_rows : run_columns, &j));
    if (!j.partial) return SP_OK;
    return sp__parallel_for(j.outer * j.inner, PART / j.blocks > 0 ? PART / j.blocks : 1, merge, &j);
}

sp_status sp__cpu_reduce_sum(const sp_call *c) { return run(c, SUM); }
sp_status sp__cpu_reduce_mean(const sp_call *c) { return run(c, MEAN); }
sp_status sp__cpu_reduce_max(const sp_call *c) { return run(c, MOST); }
sp_status sp__cpu_reduce_min(const sp_call *c) { return run(c, LEAST); }
