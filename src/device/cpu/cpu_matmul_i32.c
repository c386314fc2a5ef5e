/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_matmul_i32.c - matmul_i32 on tiles of int8, of int16 where the CPU has no dot products of bytes, or on float32 where it has neither.
 *
 * uint8 is shifted by 128 into int8, and so is its zero point. With a and b the shifted bytes, za and zb the shifted zero points:
 *     sum (a - za)(b - zb) = sum a b - za sum b - zb (sum a - K za)
 * The first sum is the product; the others are one number per column and row. All of it wraps in 32 bits, so it is exact.
 *
 * Up to seven rows read int8 weights once, where they lie (gemv.h); a further row, of ones, makes the sums of columns on the way.
 *
 * float32 holds sums of 1024 products of int8 exactly (2^24), in any order: K is cut into such parts. */
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/gemm.h"
#include "device/cpu/gemv.h"
#include "device/cpu/tiles.h"
#include "ir/matmul_geometry.h"
#include "spore/ops_attrs.h"

enum { EXACT_K = 1024, GRAIN_BYTES = 65536, ROWS_WEIGHTS_MIN = 4096, ROWS_COLUMNS_MIN = 32, ROWS_STRIP = 512 };

typedef struct i32_plan {
    sp__matmul_geometry g;
    const sp__tiles_kernels *tiles; /* NULL: in float32 */
    sp_dtype tiles_dtype;           /* of the operands there: int8, or int16 */
    bool x_u8, y_u8;
    bool by_rows; /* gemv.h */
    size_t rows, columns,
        zeros;               /* bytes of the scratch, in this order: sums of rows, of columns, zero points of columns */
    size_t a, b, c, product; /* operands, result in float32; what the product needs */
} i32_plan;

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }
static int64_t grain_of(int64_t row) { return row >= GRAIN_BYTES ? 1 : GRAIN_BYTES / (row + 1); }

static sp__gemm_shape part_of(const sp__matmul_geometry *g, int64_t k)
{
    return (sp__gemm_shape){.dtype = SP_DTYPE_F32,
                            .m = g->m,
                            .n = g->n,
                            .k = k,
                            .a_row = k,
                            .a_col = 1,
                            .b_row = g->n,
                            .b_col = 1,
                            .c_row = g->n};
}

static bool is_by_rows(const i32_plan *p)
{
    const sp__matmul_geometry *g = &p->g;
    if (p->y_u8 || g->n_batch != 1 || g->m < 1 || g->m >= SP_GEMV_ROWS || g->n * g->k < ROWS_WEIGHTS_MIN) return false;
    return g->b_row == 1 || (g->b_col == 1 && g->n >= ROWS_COLUMNS_MIN);
}

static sp_status plan(const sp_call *c, i32_plan *p)
{
    static const sp_matmul_attrs plain = {false, false};
    *p = (i32_plan){.tiles = sp__tiles_find(SP_DTYPE_I8),
                    .tiles_dtype = SP_DTYPE_I8,
                    .x_u8 = c->in[0]->dtype == SP_DTYPE_U8,
                    .y_u8 = c->in[1]->dtype == SP_DTYPE_U8};
    sp__matmul_geometry *g = &p->g;
    SP_TRY(sp__matmul_measure(c->in[0], c->in[1], &plain, g));
    if (g->n_batch > 1 && sp__matmul_is_tall(g)) {
        g->m *= g->n_batch;
        g->n_batch = 1;
        g->batch_rank = 0;
    }
    if (!p->tiles) {
        p->tiles = sp__tiles_pairs();
        p->tiles_dtype = SP_DTYPE_I16;
    }
    if (g->k == 0 || g->n == 0) p->tiles = NULL;
    p->rows = aligned((size_t)g->m * 4);
    p->columns = p->zeros = aligned((size_t)g->n * 4);
    p->by_rows = is_by_rows(p);
    if (p->by_rows) {
        p->a = aligned((size_t)((g->m + 1) * g->k) * 2);
        p->c = aligned((size_t)((g->m + 1) * g->n) * 4);
        return SP_OK;
    }
    if (p->tiles) {
        const bool wide = p->tiles_dtype == SP_DTYPE_I16;
        const size_t size = wide ? 2 : 1;
        p->a = wide || p->x_u8 ? aligned((size_t)(g->m * g->k) * size) : 0;
        p->b = wide || p->y_u8 ? aligned((size_t)(g->k * g->n) * size) : 0;
        p->product = aligned(sp__tiles_work(p->tiles_dtype, g->m, g->n, g->k, false));
        return SP_OK;
    }
    int64_t k = g->k < EXACT_K ? g->k : EXACT_K, rest = g->k % EXACT_K;
    if (g->m == 0 || g->n == 0 || k == 0) return SP_OK;
    sp__gemm_shape whole = part_of(g, k), last = part_of(g, rest > 0 ? rest : k);
    size_t work = sp__gemm_work(&whole), other = sp__gemm_work(&last);
    p->a = aligned((size_t)(g->m * k) * 4);
    p->b = aligned((size_t)(k * g->n) * 4);
    p->c = aligned((size_t)(g->m * g->n) * 4);
    p->product = aligned(work > other ? work : other);
    return SP_OK;
}

size_t sp__cpu_matmul_i32_work(const sp_call *c)
{
    i32_plan p;
    return plan(c, &p) == SP_OK ? p.rows + p.columns + p.zeros + p.a + p.b + p.c + p.product : 0;
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

/* A matrix of bytes; flip: 0x80 for uint8. */
typedef struct bytes {
    const uint8_t *data;
    int64_t rows, columns, row, column;
    uint8_t flip;
} bytes;

static inline int8_t shifted(uint8_t x, uint8_t flip) { return (int8_t)(x ^ flip); }

typedef struct bytes_job {
    bytes from;
    int8_t *to_i8; /* one of the four */
    int16_t *to_i16;
    float *to_f32;
    int32_t *sums;
} bytes_job;

/* What a loop needs is in locals: bytes that are written may be any object, so the compiler would read the rest anew for each. */
static void copy_rows(void *context, int64_t begin, int64_t end)
{
    const bytes_job *job = context;
    const int64_t n = job->from.columns, row = job->from.row, step = job->from.column;
    const uint8_t flip = job->from.flip;
    for (int64_t i = begin; i < end; i++) {
        const uint8_t *restrict from = job->from.data + i * row;
        int8_t *restrict i8 = job->to_i8 ? job->to_i8 + i * n : NULL;
        int16_t *restrict i16 = job->to_i16 ? job->to_i16 + i * n : NULL;
        float *restrict f32 = job->to_f32 ? job->to_f32 + i * n : NULL;
        if (i16 && step == 1)
            for (int64_t j = 0; j < n; j++) i16[j] = shifted(from[j], flip);
        else if (i16)
            for (int64_t j = 0; j < n; j++) i16[j] = shifted(from[j * step], flip);
        else if (i8 && step == 1)
            for (int64_t j = 0; j < n; j++) i8[j] = shifted(from[j], flip);
        else if (i8)
            for (int64_t j = 0; j < n; j++) i8[j] = shifted(from[j * step], flip);
        else if (step == 1)
            for (int64_t j = 0; j < n; j++) f32[j] = shifted(from[j], flip);
        else
            for (int64_t j = 0; j < n; j++) f32[j] = shifted(from[j * step], flip);
    }
}

static void sum_rows(void *context, int64_t begin, int64_t end)
{
    const bytes_job *job = context;
    const int64_t n = job->from.columns, step = job->from.column;
    const uint8_t flip = job->from.flip;
    for (int64_t i = begin; i < end; i++) {
        const uint8_t *from = job->from.data + i * job->from.row;
        uint32_t sum = 0;
        if (step == 1)
            for (int64_t j = 0; j < n; j++) sum += (uint32_t)shifted(from[j], flip);
        else
            for (int64_t j = 0; j < n; j++) sum += (uint32_t)shifted(from[j * step], flip);
        job->sums[i] = (int32_t)sum;
    }
}

/* Sums over rows, for columns [begin, end): row by row, as they lie in memory. */
static void sum_columns(void *context, int64_t begin, int64_t end)
{
    const bytes_job *job = context;
    const int64_t rows = job->from.rows, row = job->from.row, step = job->from.column;
    const uint8_t flip = job->from.flip;
    uint32_t *restrict sums = (uint32_t *)job->sums;
    memset(sums + begin, 0, (size_t)(end - begin) * 4);
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *restrict from = job->from.data + i * row;
        if (step == 1)
            for (int64_t j = begin; j < end; j++) sums[j] += (uint32_t)shifted(from[j], flip);
        else
            for (int64_t j = begin; j < end; j++) sums[j] += (uint32_t)shifted(from[j * step], flip);
    }
}

static sp_status sums_of_columns(const bytes *b, int32_t *sums)
{
    bytes_job job = {.from = *b, .sums = sums};
    if (b->row == 1 && b->column != 1) { /* columns lie in one piece */
        job.from = (bytes){b->data, b->columns, b->rows, b->column, b->row, b->flip};
        return sp__parallel_for(b->columns, grain_of(b->rows), sum_rows, &job);
    }
    int64_t grain = grain_of(b->rows);
    return sp__parallel_for(b->columns, grain < 64 ? 64 : grain, sum_columns, &job);
}

static bytes left(const i32_plan *p, const sp_call *c, int64_t at)
{
    const sp__matmul_geometry *g = &p->g;
    return (bytes){(const uint8_t *)c->in[0]->data + at, g->m, g->k, g->a_row, g->a_col, p->x_u8 ? 0x80 : 0};
}

static bytes right(const i32_plan *p, const sp_call *c, int64_t at)
{
    const sp__matmul_geometry *g = &p->g;
    return (bytes){(const uint8_t *)c->in[1]->data + at, g->k, g->n, g->b_row, g->b_col, p->y_u8 ? 0x80 : 0};
}

static int32_t zero_of(const sp_tensor *zero, int64_t i, bool u8)
{
    if (!zero) return u8 ? -128 : 0;
    int64_t at = zero->rank == 1 && zero->dims[0] > 1 ? i * zero->strides[0] : 0;
    return u8 ? ((const uint8_t *)zero->data)[at] - 128 : ((const int8_t *)zero->data)[at];
}

/* --- what zero points take away ---------------------------------------------------------------------------------- */

/* An epilogue: parts of the product are corrected while they are in cache, then handed on. */
typedef struct correction {
    uint32_t *c;             /* of this item of the batch */
    int64_t n, start;        /* start: number of c[0] in the whole result */
    uint32_t all;            /* K za */
    bool any_a, any_b;       /* zero points that are not zero */
    const uint32_t *columns; /* za sum b */
    const uint32_t *rows, *zeros;
    const sp_epilogue *then;
} correction;

static void correct(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n)
{
    const correction *f = context;
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t at = start + r * row_step, i = at / f->n, j = at % f->n;
        uint32_t *c = f->c + at, row = f->any_b ? f->rows[i] - f->all : 0;
        if (f->any_a && f->any_b)
            for (int64_t k = 0; k < n; k++) c[k] -= f->columns[j + k] + f->zeros[j + k] * row;
        else if (f->any_b)
            for (int64_t k = 0; k < n; k++) c[k] -= f->zeros[j + k] * row;
        else if (f->any_a)
            for (int64_t k = 0; k < n; k++) c[k] -= f->columns[j + k];
    }
    if (f->then) f->then->fn(f->then->context, f->start + start, n_rows, row_step, n);
}

/* --- products ---------------------------------------------------------------------------------------------------- */

static sp__tiles_source source_of(sp_dtype dtype, const bytes *b, bool turned)
{
    return turned
               ? (sp__tiles_source){.dtype = dtype,
                                    .data = b->data,
                                    .n = b->columns,
                                    .n_k = b->rows,
                                    .outer = b->column,
                                    .k = b->row}
               : (sp__tiles_source){
                     .dtype = dtype, .data = b->data, .n = b->rows, .n_k = b->columns, .outer = b->row, .k = b->column};
}

/* m as int8 or int16, in `to` if it is not that already. Its numbers are elements of that dtype from then on. */
static sp_status as_tiles(sp_dtype dtype, bytes *m, void *to)
{
    if (!m->flip && dtype == SP_DTYPE_I8) return SP_OK;
    bytes_job job = {
        .from = *m, .to_i8 = dtype == SP_DTYPE_I8 ? to : NULL, .to_i16 = dtype == SP_DTYPE_I16 ? to : NULL};
    SP_TRY(sp__parallel_for(m->rows, grain_of(m->columns), copy_rows, &job));
    *m = (bytes){to, m->rows, m->columns, m->columns, 1, 0};
    return SP_OK;
}

static sp_status by_tiles(const i32_plan *p, bytes a, bytes b, const char *packed, char *work, correction *f)
{
    SP_TRY(as_tiles(p->tiles_dtype, &a, work));
    if (!packed) SP_TRY(as_tiles(p->tiles_dtype, &b, work + p->a));
    const sp_epilogue epilogue = {.fn = correct, .context = f};
    const sp__tiles_product product = {.a = source_of(p->tiles_dtype, &a, false),
                                       .b = source_of(p->tiles_dtype, &b, true),
                                       .packed_b = packed,
                                       .c = f->c,
                                       .c_dtype = SP_DTYPE_I32,
                                       .c_row = p->g.n,
                                       .epilogue = &epilogue};
    return sp__tiles_multiply(p->tiles, &product, work + p->a + p->b);
}

static void add_floats(void *context, int64_t begin, int64_t end)
{
    void *const *pair = context;
    uint32_t *to = pair[0];
    const float *from = pair[1];
    for (int64_t i = begin; i < end; i++) to[i] += (uint32_t)(int32_t)from[i];
}

static sp_status by_floats(const i32_plan *p, const bytes *a, const bytes *b, char *work, correction *f)
{
    const sp__matmul_geometry *g = &p->g;
    float *wide_a = (void *)work, *wide_b = (void *)(work + p->a), *sums = (void *)(work + p->a + p->b);
    memset(f->c, 0, (size_t)(g->m * g->n) * 4);
    for (int64_t from = 0; from < g->k; from += EXACT_K) {
        int64_t k = g->k - from < EXACT_K ? g->k - from : EXACT_K;
        bytes_job of_a = {.from = *a, .to_f32 = wide_a}, of_b = {.from = *b, .to_f32 = wide_b};
        of_a.from.data += from * a->column;
        of_a.from.columns = k;
        of_b.from.data += from * b->row;
        of_b.from.rows = k;
        SP_TRY(sp__parallel_for(g->m, grain_of(k), copy_rows, &of_a));
        SP_TRY(sp__parallel_for(k, grain_of(g->n), copy_rows, &of_b));
        sp__gemm_shape shape = part_of(g, k);
        SP_TRY(sp__gemm(&shape, wide_a, wide_b, sums, false, work + p->a + p->b + p->c));
        SP_TRY(sp__parallel_for(g->m * g->n, GRAIN_BYTES, add_floats, (void *[]){f->c, sums}));
    }
    correct(f, 0, g->m, g->n, g->n);
    return SP_OK;
}

typedef struct rows_job {
    const i32_plan *p;
    const uint8_t *b;
    const int16_t *x; /* the rows, then ones */
    int32_t *sums;
    uint32_t za;
    uint32_t *columns;
    correction *f;
} rows_job;

/* Strips [begin, end) of ROWS_STRIP columns. */
static void rows_strips(void *context, int64_t begin, int64_t end)
{
    const rows_job *job = context;
    const sp__matmul_geometry *g = &job->p->g;
    const sp__gemv_kernels *kernels = sp__gemv_find();
    const bool dots = g->b_row == 1;
    for (int64_t from = begin * ROWS_STRIP, n; begin < end; begin++, from += n) {
        n = g->n - from < ROWS_STRIP ? g->n - from : ROWS_STRIP;
        const sp__gemv_part part = {.rows = (int)g->m + 1,
                                    .n = n,
                                    .k = g->k,
                                    .x = job->x,
                                    .x_row = g->k,
                                    .x_step = 1,
                                    .b = job->b + from * g->b_col,
                                    .b_step = dots ? g->b_col : g->b_row,
                                    .y = job->sums + from,
                                    .y_row = g->n};
        (dots ? kernels->dots : kernels->sums)[SP_GEMV_I8](&part);
        for (int64_t j = from; j < from + n; j++) job->columns[j] = job->za * (uint32_t)job->sums[g->m * g->n + j];
        for (int64_t i = 0; i < g->m; i++)
            memcpy(job->f->c + i * g->n + from, job->sums + i * g->n + from, (size_t)n * 4);
        correct(job->f, from, g->m, g->n, n);
    }
}

static sp_status by_rows(const i32_plan *p, const bytes *a, const bytes *b, char *work, uint32_t za, uint32_t *columns,
                         correction *f)
{
    const sp__matmul_geometry *g = &p->g;
    int16_t *x = (void *)work;
    bytes_job widen = {.from = *a, .to_i16 = x};
    SP_TRY(sp__parallel_for(g->m, grain_of(g->k), copy_rows, &widen));
    for (int64_t i = 0; i < g->k; i++) x[g->m * g->k + i] = 1;
    rows_job job = {.p = p, .b = b->data, .x = x, .sums = (void *)(work + p->a), .za = za, .columns = columns, .f = f};
    return sp__parallel_for((g->n + ROWS_STRIP - 1) / ROWS_STRIP, grain_of(g->k * ROWS_STRIP), rows_strips, &job);
}

sp_status sp__cpu_matmul_i32(const sp_call *c)
{
    i32_plan p;
    SP_TRY(plan(c, &p));
    if (c->out[0]->count == 0) return SP_OK;
    const sp__matmul_geometry *g = &p.g;
    char *work = c->work;
    int32_t *rows = (void *)work, *columns = (void *)(work + p.rows), *zeros = (void *)(work + p.rows + p.columns);
    const int32_t *known = c->prepared; /* sums of columns, then panels */
    const char *packed = c->prepared ? (const char *)c->prepared + p.columns : NULL;
    const uint32_t za = (uint32_t)zero_of(c->in[2], 0, p.x_u8);
    correction f = {.n = g->n,
                    .any_a = za != 0,
                    .all = za * (uint32_t)g->k,
                    .columns = (uint32_t *)columns,
                    .rows = (uint32_t *)rows,
                    .zeros = (uint32_t *)zeros,
                    .then = c->epilogue};
    for (int64_t j = 0; j < g->n; j++) {
        zeros[j] = zero_of(c->in[3], j, p.y_u8);
        f.any_b = f.any_b || zeros[j] != 0;
    }
    for (int64_t i = 0; i < g->n_batch; i++) {
        int64_t a_at, b_at;
        sp__matmul_offsets(g, i, &a_at, &b_at);
        bytes a = left(&p, c, a_at), b = right(&p, c, b_at);
        f.start = i * g->m * g->n;
        f.c = (uint32_t *)c->out[0]->data + f.start;
        bytes_job of_rows = {.from = a, .sums = rows};
        if (f.any_b) SP_TRY(sp__parallel_for(g->m, grain_of(g->k), sum_rows, &of_rows));
        char *rest = work + p.rows + p.columns + p.zeros;
        if (p.by_rows) return by_rows(&p, &a, &b, rest, za, (uint32_t *)columns, &f);
        if (f.any_a && !known) SP_TRY(sums_of_columns(&b, columns));
        for (int64_t j = 0; f.any_a && j < g->n; j++)
            columns[j] = (int32_t)(za * (uint32_t)(known ? known : columns)[j]);
        SP_TRY(p.tiles ? by_tiles(&p, a, b, packed, rest, &f) : by_floats(&p, &a, &b, rest, &f));
    }
    return SP_OK;
}

/* --- constant weights -------------------------------------------------------------------------------------------- */

size_t sp__cpu_matmul_i32_prepared(const sp_call *c)
{
    i32_plan p;
    if (plan(c, &p) != SP_OK || p.by_rows || !p.tiles || p.g.n_batch != 1) return 0;
    return p.columns + sp__tiles_packed_bytes(p.tiles_dtype, p.g.n, p.g.k);
}

sp_prepared_form sp__cpu_matmul_i32_form(const sp_call *c)
{
    i32_plan p;
    if (plan(c, &p) != SP_OK) return (sp_prepared_form){{0}};
    return (sp_prepared_form){{1 + p.y_u8, p.g.n, p.g.b_row, p.g.b_col}};
}

sp_status sp__cpu_matmul_i32_prepare(const sp_call *c, void *to)
{
    i32_plan p;
    SP_TRY(plan(c, &p));
    bytes b = right(&p, c, 0);
    SP_TRY(sums_of_columns(&b, to));
    void *copy = NULL;
    if (p.b > 0) {
        copy = sp__alloc(p.b);
        if (!copy) return SP_NOMEM;
    }
    sp_status status = as_tiles(p.tiles_dtype, &b, copy);
    sp__tiles_source source = source_of(p.tiles_dtype, &b, true);
    if (status == SP_OK) status = sp__tiles_pack(p.tiles, &source, (char *)to + p.columns);
    sp__free(copy);
    return status;
}
