/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_gemv.c - matmul with up to eight rows (or as few columns: then sides are exchanged) on the kernels of gemv.h.
 *
 *     the rows as float32 (bytes: int16), where they are not that and in place already
 *     for each strip of the matrix's columns (in parallel): sums of all rows, rounded once, then the epilogue
 *
 * A strip holds all of K, and an element's order of summation follows from K alone: neither strips nor threads change a bit. */
#include "base/scratch.h"
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/gemv.h"
#include "ir/matmul_geometry.h"

enum {
    WEIGHTS_MIN = 4096,      /* of a smaller matrix the general product is as quick */
    NARROW = 32,             /* fewer columns are no rows to go along */
    STRIP_BYTES = 32 * 1024, /* of the matrix, with columns along K */
    STRIP_SUMS = 4096,       /* of all rows, with rows along N: they stay in the first cache */
    STRIP_MAX = 1024,
    PART_BYTES = 128 * 1024, /* of the matrix that a thread is woken for */
};

typedef struct gemv_job {
    const sp__gemv_kernels *kernels;
    const sp_call *c;
    sp__matmul_geometry g;
    sp__gemv_kind kind;
    bool exchanged;      /* rows are columns of B, the matrix is A */
    bool dots, in_place; /* in_place: rows are read where they are */
    int rows;
    int64_t n, k;                  /* columns of the matrix */
    int64_t x_row, x_step, b_step; /* of the operands as they are given */
    int64_t size, x_size;          /* bytes of their elements, and of those that kernels read */
    int64_t strip, strips;         /* columns of one; number to an item of the batch */
} gemv_job;

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static bool kind_of(sp_dtype dtype, sp__gemv_kind *kind)
{
    switch (dtype) {
    case SP_DTYPE_F32: *kind = SP_GEMV_F32; return true;
    case SP_DTYPE_F16: *kind = SP_GEMV_F16; return true;
    case SP_DTYPE_BF16: *kind = SP_GEMV_BF16; return true;
    case SP_DTYPE_I8:
    case SP_DTYPE_U8:
        *kind = SP_GEMV_I8;
        return true; /* eight bits of a sum are the same whatever the sign of its terms */
    default: return false;
    }
}

/* Columns of a strip, all of about the same width. */
static void cut(gemv_job *j)
{
    int64_t most = STRIP_SUMS / j->rows < STRIP_MAX ? STRIP_SUMS / j->rows : STRIP_MAX;
    if (j->dots) {
        const int64_t columns = STRIP_BYTES / (j->k * j->size) / 24 * 24;
        most = columns < 24 ? 24 : columns < most ? columns : most;
    } else if (j->n * j->k * j->size >= 2 * PART_BYTES && most > ceil_div(j->n, 4)) {
        most = (ceil_div(j->n, 4) + 63) / 64 * 64; /* something for every thread */
    }
    j->strips = ceil_div(j->n, most);
    j->strip = most;
}

/* Whether this product is one of these; looks at geometry only. */
static bool plan(const sp_call *c, gemv_job *j)
{
    *j = (gemv_job){.kernels = sp__gemv_find(), .c = c};
    sp__matmul_geometry *g = &j->g;
    if (!kind_of((sp_dtype)c->in[0]->dtype, &j->kind) || sp__matmul_measure(c->in[0], c->in[1], c->attrs, g) != SP_OK)
        return false;
    if (g->n_batch > 1 && sp__matmul_is_tall(g)) {
        g->m *= g->n_batch;
        g->n_batch = 1;
        g->batch_rank = 0;
    }
    const bool rows = g->m <= SP_GEMV_ROWS && (g->b_row == 1 || g->b_col == 1);
    j->exchanged = !rows;
    if (!rows && !(g->n <= SP_GEMV_ROWS && (g->a_row == 1 || g->a_col == 1))) return false;
    j->rows = (int)(rows ? g->m : g->n);
    j->n = rows ? g->n : g->m;
    j->k = g->k;
    if (j->rows == 0 || j->n * j->k < WEIGHTS_MIN || j->n < j->rows) return false;
    const int64_t along_k = rows ? g->b_row : g->a_col, along_n = rows ? g->b_col : g->a_row;
    j->dots = along_k == 1 && !(along_n == 1 && j->n > 1);
    if (!j->dots && j->n < NARROW) return false;
    j->b_step = j->dots ? along_n : along_k;
    j->x_row = rows ? g->a_row : g->b_col;
    j->x_step = rows ? g->a_col : g->b_row;
    j->size = (int64_t)sp_dtype_bytes((sp_dtype)c->in[0]->dtype);
    j->x_size = j->kind == SP_GEMV_I8 ? 2 : 4;
    j->in_place = j->kind == SP_GEMV_F32 && (j->x_step == 1 || !j->dots);
    cut(j);
    return true;
}

bool sp__cpu_gemv_takes(const sp_call *c)
{
    gemv_job j;
    return plan(c, &j);
}

size_t sp__cpu_gemv_work(const sp_call *c)
{
    gemv_job j;
    return plan(c, &j) && !j.in_place ? (size_t)(j.g.n_batch * j.rows * j.k * j.x_size) : 0;
}

static const char *row_of(const gemv_job *j, int64_t item, int row)
{
    int64_t a, b;
    sp__matmul_offsets(&j->g, item, &a, &b);
    const char *data = j->exchanged ? j->c->in[1]->data : j->c->in[0]->data;
    return data + ((j->exchanged ? b : a) + row * j->x_row) * j->size;
}

/* Rows [begin, end) of all items, as kernels read them. */
static void widen_rows(void *context, int64_t begin, int64_t end)
{
    const gemv_job *j = context;
    const sp_dtype dtype = (sp_dtype)j->c->in[0]->dtype, wide = j->kind == SP_GEMV_I8 ? SP_DTYPE_I16 : SP_DTYPE_F32;
    const sp_loop_fn convert = sp__cast_loop(dtype, wide);
    const int64_t step[2] = {j->x_size, j->x_step * j->size};
    for (int64_t i = begin; i < end; i++) {
        char *const ptr[2] = {(char *)j->c->work + i * j->k * j->x_size,
                              (char *)(uintptr_t)row_of(j, i / j->rows, (int)(i % j->rows))};
        convert(j->k, ptr, step, NULL);
    }
}

/* Sums of columns [from, from + n), as they come from the kernels, to the result. */
static void store(const gemv_job *j, int64_t item, int64_t from, int64_t n, const char *sums)
{
    const sp_dtype dtype = (sp_dtype)j->c->in[0]->dtype, wide = j->kind == SP_GEMV_I8 ? SP_DTYPE_I32 : SP_DTYPE_F32;
    const sp_loop_fn convert = sp__cast_loop(wide, dtype);
    char *c = j->c->out[0]->data + item * j->g.m * j->g.n * j->size;
    const int64_t row = (j->exchanged ? 1 : j->g.n) * j->size, column = (j->exchanged ? j->g.n : 1) * j->size,
                  step[2] = {column, 4};
    for (int i = 0; i < j->rows; i++) {
        char *const ptr[2] = {c + i * row + from * column, (char *)(uintptr_t)sums + i * n * 4};
        convert(n, ptr, step, NULL);
    }
}

static void finish(const gemv_job *j, int64_t item, int64_t from, int64_t n)
{
    const sp_epilogue *e = j->c->epilogue;
    const int64_t start = item * j->g.m * j->g.n;
    if (!e) return;
    if (j->exchanged) e->fn(e->context, start + from * j->g.n, 1, 0, n * j->g.n);
    else e->fn(e->context, start + from, j->rows, j->g.n, n);
}

static void run_strips(void *context, int64_t begin, int64_t end)
{
    const gemv_job *j = context;
    const bool direct = j->kind == SP_GEMV_F32 && !j->exchanged; /* kernels write the result itself */
    char *const sums = direct ? NULL : sp__scratch_take((size_t)(j->rows * j->strip * 4));
    for (int64_t s = begin; s < end; s++) {
        const int64_t item = s / j->strips, from = s % j->strips * j->strip,
                      n = j->n - from < j->strip ? j->n - from : j->strip;
        int64_t a, b;
        sp__matmul_offsets(&j->g, item, &a, &b);
        const char *matrix = (j->exchanged ? j->c->in[0]->data + a * j->size : j->c->in[1]->data + b * j->size);
        float *c = (float *)(void *)j->c->out[0]->data + item * j->g.m * j->g.n + from;
        const sp__gemv_part part = {
            .rows = j->rows,
            .n = n,
            .k = j->k,
            .b = matrix + from * (j->dots ? j->b_step : 1) * j->size,
            .b_step = j->b_step,
            .x = j->in_place ? row_of(j, item, 0) : (char *)j->c->work + item * j->rows * j->k * j->x_size,
            .x_row = j->in_place ? j->x_row : j->k,
            .x_step = j->in_place ? j->x_step : 1,
            .y = direct ? (void *)c : sums,
            .y_row = direct ? j->g.n : n,
        };
        (j->dots ? j->kernels->dots : j->kernels->sums)[j->kind](&part);
        if (!direct) store(j, item, from, n, sums);
        finish(j, item, from, n);
    }
    if (sums) sp__scratch_give(sums);
}

sp_status sp__cpu_gemv(const sp_call *c)
{
    gemv_job j;
    if (!plan(c, &j)) return SP_DECLINED;
    if (c->out[0]->count == 0) return SP_OK;
    if (!j.in_place)
        SP_TRY(sp__parallel_for(j.g.n_batch * j.rows, ceil_div(PART_BYTES, j.k * j.x_size), widen_rows, &j));
    const int64_t bytes = j.k * j.strip * j.size;
    return sp__parallel_for(j.g.n_batch * j.strips, ceil_div(PART_BYTES, bytes), run_strips, &j);
}
