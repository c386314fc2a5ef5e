/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_reduce.c - sums, means, products and extrema over neighbouring axes, at the speed of memory.
 *
 * The tensor is outer x n x inner around the axes. With inner = 1 an output is the sum of a row, cut into blocks of ROW_BLOCK
 * elements when rows are few and long; otherwise rows of neighbouring outputs are added to one another, blocks of up to BLOCK_ROWS
 * of them, and the blocks' sums in double. Cuts depend on the shape only, and so does the result. */
#include <math.h>
#include <string.h>

#include "base/scratch.h"
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/rows.h"
#include "spore/ops_attrs.h"
#include "tensor/half.h"

enum {
    PART_NS = 30000,
    ROW_BLOCK = 65536,
    BLOCK_ROWS = 128,
    BLOCK_ROWS_LEAST = 16,
    COLUMNS = 4096,
    WIDE_COLUMNS = 1024,
    PART = 65536
};

typedef struct {
    sp__reduce_kernel kernel;
    sp__reduction what;
    bool mean;
    sp_dtype dtype;
    bool single; /* columns are summed in floats, else in sp__reduced */
    int64_t outer, n, inner;
    int64_t blocks, block;   /* of n */
    int64_t pieces, columns; /* of inner: how many, how wide */
    const char *x;
    int64_t size; /* of an element */
    void *out;
    const sp_prologue *prologue; /* makes x; NULL: it is there */
    char *partial;               /* [outer][blocks] (inner = 1), or [outer][blocks][inner] results; NULL: one block */
} reduce_job;

static int kind_of(sp_dtype dtype)
{
    switch (dtype) {
    case SP_DTYPE_F32: return SP_REDUCE_F32;
    case SP_DTYPE_F16: return SP_REDUCE_F16;
    case SP_DTYPE_BF16: return SP_REDUCE_BF16;
    case SP_DTYPE_F64: return SP_REDUCE_F64;
    case SP_DTYPE_I64: return SP_REDUCE_I64;
    case SP_DTYPE_I32: return SP_REDUCE_I32;
    default: return -1;
    }
}

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

static bool is_norm(const sp_call *c) { return c->op->family == SP_FAMILY_REDUCE_NORM; }
static sp_ints axis_of(const sp_call *c)
{
    return is_norm(c) ? ((const sp_vector_norm_attrs *)c->attrs)->axis : ((const sp_reduce_attrs *)c->attrs)->axis;
}

/* What the operator and the dtype say, and the cuts. */
static void plan(reduce_job *j, const sp_call *c)
{
    const int kind = kind_of((sp_dtype)c->in[0]->dtype);
    j->dtype = (sp_dtype)c->in[0]->dtype;
    j->size = (int64_t)sp_dtype_bytes(j->dtype);
    j->mean = c->op->family == SP_FAMILY_REDUCE_MEAN;
    switch (c->op->family) {
    case SP_FAMILY_REDUCE_NORM: j->what = SP_REDUCE_SQUARES; break;
    case SP_FAMILY_REDUCE_PROD: j->what = SP_REDUCE_PRODUCT; break;
    case SP_FAMILY_REDUCE_MAX: j->what = SP_REDUCE_MOST; break;
    case SP_FAMILY_REDUCE_MIN: j->what = SP_REDUCE_LEAST; break;
    default: j->what = SP_REDUCE_SUM;
    }
    j->kernel = sp__float_rows()->reduce[j->what][kind];
    j->single = kind <= SP_REDUCE_BF16 && j->what != SP_REDUCE_PRODUCT;
    j->columns = kind == SP_REDUCE_F16 || kind == SP_REDUCE_BF16 ? SP_REDUCE_HALF_COLUMNS
                 : j->single                                     ? COLUMNS
                                                                 : WIDE_COLUMNS;
    if (j->n == 1) j->inner *= j->outer, j->outer = 1; /* a copy: columns are wider than rows of one element */
    j->blocks = 1;
    j->block = j->n;
    j->pieces = ceil_div(j->inner, j->columns);
    if (j->inner == 1) {
        if (j->outer < 16 && j->n >= 2 * ROW_BLOCK) j->blocks = ceil_div(j->n, ROW_BLOCK), j->block = ROW_BLOCK;
        return;
    }
    j->block = ceil_div(j->n, 32);
    if (j->block > BLOCK_ROWS) j->block = BLOCK_ROWS;
    if (j->block < BLOCK_ROWS_LEAST) j->block = BLOCK_ROWS_LEAST;
    j->blocks = ceil_div(j->n, j->block);
}

static bool is_integer(const reduce_job *j) { return j->dtype == SP_DTYPE_I64 || j->dtype == SP_DTYPE_I32; }

/* Of a sum that is rounded to its dtype first. */
static double root(sp_dtype dtype, double sum)
{
    const float rounded = dtype == SP_DTYPE_F16    ? sp__f16_f32(sp__f32_f16((float)sum))
                          : dtype == SP_DTYPE_BF16 ? sp__bf16_f32(sp__f32_bf16((float)sum))
                                                   : (float)sum;
    return (double)sqrtf(rounded);
}

static void finish(const reduce_job *j, int64_t o, sp__reduced total)
{
    if (j->mean) total.d /= (double)j->n;
    if (j->what == SP_REDUCE_SQUARES) total.d = root(j->dtype, total.d);
    switch (j->dtype) {
    case SP_DTYPE_F32: ((float *)j->out)[o] = (float)total.d; break;
    case SP_DTYPE_F16: ((sp_f16 *)j->out)[o] = sp__f32_f16((float)total.d); break;
    case SP_DTYPE_BF16: ((sp_bf16 *)j->out)[o] = sp__f32_bf16((float)total.d); break;
    case SP_DTYPE_F64: ((double *)j->out)[o] = total.d; break;
    case SP_DTYPE_I64: ((int64_t *)j->out)[o] = total.i; break;
    default: ((int32_t *)j->out)[o] = (int32_t)total.i;
    }
}

/* Where the part of x lies that begins at an element: worked out now, or there already. */
static const char *part_at(const reduce_job *j, int64_t start, int64_t n_rows, int64_t row_step, int64_t n)
{
    return j->prologue ? j->prologue->make(j->prologue->context, start, n_rows, row_step, n) : j->x + start * j->size;
}

static void part_done(const reduce_job *j, const char *part)
{
    if (j->prologue) j->prologue->done(j->prologue->context, part);
}

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    for (int64_t t = begin; t < end; t++) {
        const int64_t o = t / j->blocks, at = t % j->blocks * j->block, n = j->n - at < j->block ? j->n - at : j->block;
        const char *x = part_at(j, o * j->n + at, 1, n, n);
        sp__reduced r;
        j->kernel.row(n, &r, x);
        part_done(j, x);
        if (j->partial) ((sp__reduced *)(void *)j->partial)[t] = r;
        else finish(j, o, r);
    }
}

/* Result i of columns. */
static sp__reduced column_at(const reduce_job *j, const void *results, int64_t i)
{
    return j->single ? (sp__reduced){.d = (double)((const float *)results)[i]} : ((const sp__reduced *)results)[i];
}

static void run_columns(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    sp__reduced *const room = sp__scratch_take(COLUMNS / 2 * sizeof *room);
    _Static_assert(WIDE_COLUMNS <= COLUMNS / 2, "the room holds COLUMNS floats, or WIDE_COLUMNS results");
    const int64_t result_bytes = j->single ? 4 : 8;
    const bool direct =
        !j->partial && j->dtype == SP_DTYPE_F32 && j->single && !j->mean; /* results are what is asked for */
    for (int64_t t = begin; t < end; t++) {
        const int64_t piece = t % j->pieces, block = t / j->pieces % j->blocks, o = t / j->pieces / j->blocks;
        const int64_t column = piece * j->columns, w = j->inner - column < j->columns ? j->inner - column : j->columns;
        const int64_t row = block * j->block, rows = j->n - row < j->block ? j->n - row : j->block;
        void *to = j->partial ? (void *)(j->partial + ((o * j->blocks + block) * j->inner + column) * result_bytes)
                   : direct   ? (void *)((float *)j->out + o * j->inner + column)
                              : room;
        const char *x = part_at(j, (o * j->n + row) * j->inner + column, rows, j->inner, w);
        j->kernel.columns(rows, j->inner, w, to, x);
        part_done(j, x);
        for (int64_t k = 0; !j->partial && !direct && k < w; k++)
            finish(j, o * j->inner + column + k, column_at(j, to, k));
    }
    sp__scratch_give(room);
}

static sp__reduced joined(const reduce_job *j, sp__reduced a, sp__reduced b)
{
    const bool integer = is_integer(j);
    switch (j->what) {
    case SP_REDUCE_MOST: return (integer ? b.i > a.i : b.d > a.d || b.d != b.d) ? b : a;
    case SP_REDUCE_LEAST: return (integer ? b.i < a.i : b.d < a.d || b.d != b.d) ? b : a;
    case SP_REDUCE_PRODUCT: return integer ? (sp__reduced){.i = a.i * b.i} : (sp__reduced){.d = a.d * b.d};
    default: return integer ? (sp__reduced){.i = a.i + b.i} : (sp__reduced){.d = a.d + b.d};
    }
}

static void merge(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    for (int64_t i = begin; i < end; i++) {
        const int64_t o = i / j->inner, k = i % j->inner;
        sp__reduced total = {.i = 0};
        for (int64_t b = 0; b < j->blocks; b++) {
            const int64_t at = (o * j->blocks + b) * j->inner + k;
            const sp__reduced v =
                j->inner == 1 ? ((const sp__reduced *)(const void *)j->partial)[at] : column_at(j, j->partial, at);
            total = b ? joined(j, total, v) : v;
        }
        finish(j, i, total);
    }
}

size_t sp__cpu_reduce_work(const sp_call *c)
{
    reduce_job j = {0};
    if (!split(c->in[0], axis_of(c), &j)) return 0;
    plan(&j, c);
    return j.blocks > 1 ? (size_t)(j.outer * j.blocks * j.inner) * (j.inner == 1 || !j.single ? 8 : 4) : 0;
}

int64_t sp__cpu_reduce_part(const sp_call *c)
{
    reduce_job j = {0};
    if (!split(c->in[0], axis_of(c), &j)) return 0;
    plan(&j, c);
    return j.pieces > 1 ? 0 : j.block * j.inner;
}

bool sp__cpu_reduce_takes(const sp_call *c)
{
    reduce_job j;
    const sp_tensor *x = c->in[0];
    /* The extrema's reference takes strided inputs as they are; sums get row-major ones. */
    if (c->op->strided && !(x->flags & SP_TENSOR_CONTIGUOUS)) return false;
    return kind_of((sp_dtype)x->dtype) >= 0 && x->count > 0 && split(x, axis_of(c), &j);
}

/* The root of a sum of squares, by rows. */
bool sp__cpu_vector_norm_takes(const sp_call *c)
{
    reduce_job j;
    const int kind = kind_of((sp_dtype)c->in[0]->dtype);
    return ((const sp_vector_norm_attrs *)c->attrs)->ord == 2 && kind >= 0 && kind <= SP_REDUCE_BF16 &&
           c->in[0]->count > 0 && split(c->in[0], axis_of(c), &j) && j.n > 1 && j.inner == 1;
}

sp_status sp__cpu_reduce(const sp_call *c)
{
    reduce_job j = {.x = c->in[0]->data, .out = c->out[0]->data, .partial = c->work, .prologue = c->prologue};
    split(c->in[0], axis_of(c), &j);
    plan(&j, c);
    if (j.blocks == 1) j.partial = NULL;
    const int64_t width = j.inner < j.columns ? j.inner : j.columns, each = j.block * width;
    int64_t grain = PART / each > 0 ? PART / each : 1;
    if (j.prologue && (int64_t)PART_NS * 16 / j.prologue->cost / each < grain) {
        grain = (int64_t)PART_NS * 16 / j.prologue->cost / each;
        if (grain < 1) grain = 1;
    }
    SP_TRY(sp__parallel_for(j.outer * j.blocks * j.pieces, grain, j.inner == 1 ? run_rows : run_columns, &j));
    if (!j.partial) return SP_OK;
    return sp__parallel_for(j.outer * j.inner, PART / j.blocks > 0 ? PART / j.blocks : 1, merge, &j);
}
