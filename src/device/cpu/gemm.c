/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - matrix product: which kernel, which blocks, which thread.
 *
 * K is cut into blocks whose column panel (k_block x columns) stays in a near cache. Operands that are read often are
 * first copied into panels in the order in which the kernel wants them, which also straightens any strides; small ones, and an A whose rows
 * lie along K, are read where they are. C is cut into tiles, the unit of work for threads; all of K belongs to one tile, so an element is
 * always summed by one thread, in one order:
 *
 *     for each block of columns, of K, of rows:   pack B panels, pack A panels   (both in parallel)
 *         for each tile (in parallel):            for each column panel: for each row panel: micro-kernel
 *
 * The inner kernels run at 97 % of the peak from the second cache; what a product loses it loses by copying. With few rows of A an element of B is
 * copied for little, so then
 *   - a tile holds all rows and packs the column panels it needs itself, on its stack, just before they are used: each is copied once, nobody waits for
 *     the copies of others, and its memory was asked for while the panel before it was worked with. Rows of A may then come from the third cache.
 *     Rows of B that lie along the panel are stored by the kernel that multiplies them with the first rows of A;
 *   - or, where columns of B lie along K, sides are exchanged: A is packed, once, B is read where it is, and the tile is turned when it is final.
 * With many columns rows of A that lie along K are copied into panels, too, for all of K at once where they are few, if the kernel has so few rows that
 * their addresses cost time. A transposed A with many rows is stored in panels in the same way by the kernels of a tile's first columns; the tile then has all columns.
 * All ways sum in the same order: they give the same bits.
 *
 * Vectors (m or n is 1) have kernels of their own, because there each element of the matrix is used once. bfloat16, int8 and, on CPUs with
 * AMX, larger products of float32 go to tiles.h. */
#include "base/parts.h"
#include "device/cpu/gemm.h"

#include <string.h>

#include "base/scratch.h"
#include "device/cpu/tiles.h"
#include "device/device.h"

enum {
    TILE_ROW_PANELS = 8, /* at least */
    TILE_A_BYTES =
        512 * 1024, /* rows of A that a tile reads again for each column panel: they stay in the second cache */
    TILE_COLUMN_PANELS = 16,
    BLOCK_ROWS = 1536,    /* of A packed at a time; a common multiple of 4, 6 and 12 */
    BLOCK_COLUMNS = 2048, /* of B packed at a time */
    PACK_COLUMNS =
        384, /* from so many columns on rows along K are worth panels: an address for all of them, not one each */
    WHOLE_A_BYTES = 4 << 20,     /* of an A that is packed for all of K */
    PACK_ROWS = 16,              /* of an operand copied into several panels at a time */
    GROUPS_MAX = 32,             /* parts of a batch that have scratch of their own */
    HERE_ROWS = 768,             /* up to so many rows a tile has all of them and packs its part of B itself */
    TILES_WANTED = 12,           /* at least, for threads to share evenly */
    WHOLE_ROWS = 4096,           /* up to so many a tile may have all columns and pack its rows itself */
    WHOLE_B_BYTES = 16 << 20,    /* of a B that is packed for all of K */
    TURN_ROWS = 128,             /* up to so many sides may be exchanged */
    TURN_TILE_BYTES = 64 * 1024, /* of a tile that is turned when it is final */
    WAYS_BYTES = 4096,           /* lines so far apart compete for a place in the first cache */
    WAYS = 8,                    /* so many have one */
};
#define TILES_NEAR_BYTES (1 << 20) /* of panels that the second cache keeps beside all else */
#define PARALLEL_FLOPS 3e6         /* below this a product stays on one thread */
#define GROUP_FLOPS 2e6            /* a part of a batch has at least so much to do */
#define LARGE_FLOPS 6e7            /* from here on a batch is worked off one item after the other */

typedef struct gemm_job {
    const sp__gemm_kernels *kernels;
    sp__gemm_shape s;
    size_t size; /* of an element */
    bool pack_a, pack_b, parallel;
    bool here;      /* tiles pack B themselves */
    bool rows_here; /* tiles have all columns and pack their rows of A themselves */
    bool whole_a;   /* A is packed for all of K, tiles go through K themselves */
    bool turned;    /* sides are exchanged: s is that of C transposed */
    int64_t k_step; /* block of K */
    int64_t block_m, block_n;
    int64_t tile_m, tile_n;
    /* the part in work */
    const char *a, *b;
    char *c;
    char *a_panels, *b_panels;
    bool accumulate;
    int64_t i0, i1, j0, j1, p0, p1;
    int64_t n_a_panels, n_b_panels;
    int64_t tiles_m;
    const char *packed_b; /* all panels of B, or NULL */
    const sp_epilogue *epilogue;
    int64_t start; /* number of C's first element, for the epilogue */
} gemm_job;

const sp__gemm_kernels *sp__gemm_find(sp_dtype dtype)
{
    bool f32 = dtype == SP_DTYPE_F32 || !SP_HAVE_F64;
#if SP_HAVE_X86
    unsigned features = sp__cpu_features();
    if (features & SP_CPU_AVX512) return f32 ? &sp__gemm_f32_avx512 : &sp__gemm_f64_avx512;
    if (features & SP_CPU_AVX2) return f32 ? &sp__gemm_f32_avx2 : &sp__gemm_f64_avx2;
#endif
    return f32 ? &sp__gemm_f32_portable : &sp__gemm_f64_portable;
}

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
static double flops_of(const sp__gemm_shape *s) { return 2.0 * (double)s->m * (double)s->n * (double)s->k; }

/* Vectors read the matrix once: nothing to pack. */
typedef enum { FORM_GENERAL, FORM_DOTS, FORM_SUMS } vector_form;

static vector_form form_of(const sp__gemm_shape *s)
{
    if (s->m == 1) {
        if (s->b_col == 1) return FORM_SUMS;
        if (s->b_row == 1 && s->a_col == 1) return FORM_DOTS;
    } else if (s->n == 1) {
        if (s->k == 1 && s->a_row == 1 && s->c_row == 1) return FORM_SUMS; /* a vector times a number */
        if (s->a_col == 1 && s->b_row == 1) return FORM_DOTS;
        if (s->a_row == 1 && s->c_row == 1) return FORM_SUMS;
    }
    return FORM_GENERAL;
}

/* Whether any number of rows `row` elements apart can be gone through side by side: not if their lines push each other out of the first cache. */
static bool rows_fit(int64_t row, size_t size)
{
    int64_t apart = row * (int64_t)size % WAYS_BYTES;
    if (apart < 0) apart += WAYS_BYTES;
    return apart >= 64 && apart <= WAYS_BYTES - 64;
}

/* Exchanged sides save packing B, an operation for each of its elements, and cost turning C: about the same. */
static bool is_turned(const sp__gemm_shape *s)
{
    return form_of(s) == FORM_GENERAL && s->b_row == 1 && s->b_col != 1 && s->m > 1 && s->m <= TURN_ROWS &&
           s->n >= s->m && s->k >= s->m && s->k >= 64 && rows_fit(s->b_col, sp_dtype_bytes(s->dtype));
}

/* Row panels to a tile with which threads come to an end together, or nearly so: eight, if that makes no difference. */
static int64_t even_height(int64_t panels)
{
    static const int64_t heights[] = {8, 9, 10, 11, 12, 7, 6, 5, 4};
    int64_t best = heights[0], least = INT64_MAX;
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        int64_t longest = ceil_div(ceil_div(panels, heights[i]), sp_threads()) * heights[i];
        if (longest < least) best = heights[i], least = longest;
    }
    return best;
}

static void plan(const sp__gemm_shape *s, bool turned, gemm_job *job)
{
    const sp__gemm_kernels *kernels = sp__gemm_find(s->dtype);
    int64_t rows = kernels->rows, columns = kernels->columns;
    *job = (gemm_job){.kernels = kernels, .s = *s, .turned = turned};
    job->size = s->dtype == SP_DTYPE_F32 ? 4 : 8;
    int64_t size = (int64_t)job->size;
    job->k_step = ceil_div(s->k, ceil_div(s->k, kernels->k_block));
    job->parallel = flops_of(s) >= PARALLEL_FLOPS;
    if (turned) {
        job->s = (sp__gemm_shape){.dtype = s->dtype,
                                  .m = s->n,
                                  .n = s->m,
                                  .k = s->k,
                                  .a_row = s->b_col,
                                  .a_col = 1,
                                  .b_row = s->a_col,
                                  .b_col = s->a_row,
                                  .c_row = s->c_row};
        job->pack_b = true;
        job->block_n = job->tile_n = round_up(s->m, columns);
        job->tile_m = min_i64(TURN_TILE_BYTES / (job->tile_n * size) / rows, TILE_ROW_PANELS) * rows;
        if (job->parallel && ceil_div(s->n, job->tile_m) < 8 && s->n >= 8 * rows) job->tile_m = ceil_div(s->n, 8);
        return;
    }
    bool b_small = s->m <= 2 * rows || (s->n * s->k * size <= 64 * 1024 && s->b_row * size <= 2048);
    job->pack_b = s->b_col != 1 || !b_small;
    /* Twelve rows a block leave time for their addresses. */
    const bool along = s->a_col == 1 && (s->n < PACK_COLUMNS || rows >= 12 || !job->pack_b || s->m <= 2 * rows);
    job->pack_a = s->n > 3 * columns && s->m * s->k > 2048 && !along;
    int64_t most = TILE_A_BYTES / (job->k_step * size);
    if (most < TILE_ROW_PANELS * rows) most = TILE_ROW_PANELS * rows;
    job->here = job->pack_b && s->m <= HERE_ROWS;
    if (job->here) most = s->m;
    job->whole_a = job->pack_a && job->here && s->a_col == 1 && round_up(s->m, rows) * s->k * size <= WHOLE_A_BYTES;
    job->block_m = min_i64(round_up(s->m, rows), BLOCK_ROWS);
    job->block_n = min_i64(round_up(s->n, columns), BLOCK_COLUMNS);
    job->tile_m = round_up(ceil_div(job->block_m, ceil_div(job->block_m, most)), rows);
    job->tile_n = min_i64(TILE_COLUMN_PANELS * columns, job->block_n);
    /* Few rows: make tiles narrower, or there is nothing to share. Does not change results. */
    while (job->parallel && job->tile_n > 2 * columns &&
           ceil_div(s->m, job->tile_m) * ceil_div(s->n, job->tile_n) < TILES_WANTED)
        job->tile_n = round_up(job->tile_n / 2, columns);
    job->rows_here = job->pack_a && job->pack_b && !job->here && s->a_row == 1 && s->m <= WHOLE_ROWS &&
                     s->n <= BLOCK_COLUMNS && job->block_n * s->k * size <= WHOLE_B_BYTES;
    if (job->rows_here) {
        job->block_m = round_up(s->m, rows);
        job->tile_m = even_height(job->block_m / rows) * rows;
        job->tile_n = job->block_n;
    }
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

static bool has_vectors(sp_dtype dtype) { return dtype == SP_DTYPE_F32 || dtype == SP_DTYPE_F64; }

bool sp__gemm_takes(sp_dtype dtype) { return has_vectors(dtype) || sp__tiles_find(dtype) != NULL; }

/* The kernels for a product by tiles that takes at most `share` of the vectors' time; NULL: by vectors. float32 counts cycles of either way as they were
 * measured on a processor with AMX: six products of 1024 operations a cycle (half of that is lost to slower clocks and to the second cache), packing, which takes
 * twice as long where three terms leave the second cache, and writing C, against 48 operations. Bits depend on the way, so it follows from the shape alone. */
static const sp__tiles_kernels *tiles_within(const sp__gemm_shape *s, double share)
{
    if (s->dtype == SP_DTYPE_F64 || s->m == 0 || s->n == 0 || s->k == 0) return NULL;
    const sp__tiles_kernels *tiles = sp__tiles_find(s->dtype);
    if (s->dtype != SP_DTYPE_F32 || !tiles || tiles->always) return tiles;
    double elements = (double)(s->m + s->n) * (double)s->k;
    double padded = (double)round_up(s->m, SP_TILE) * (double)round_up(s->n, SP_TILE) * (double)round_up(s->k, 32);
    double packing = elements * (elements * 6 <= TILES_NEAR_BYTES ? 1.2 : 2.2);
    double by_tiles = padded * 12 / 1024 * 1.9 + packing + (double)s->m * (double)s->n,
           by_vectors = flops_of(s) / 48 + elements / 2;
    return by_tiles < share * by_vectors ? tiles : NULL;
}

static const sp__tiles_kernels *tiles_for(const sp__gemm_shape *s) { return tiles_within(s, SP_GEMM_TILES_SHARE); }

bool sp__gemm_is_tiled(const sp__gemm_shape *s, double share) { return tiles_within(s, share) != NULL; }

static sp__tiles_source source_of(const sp__gemm_shape *s, const void *data, bool is_b)
{
    return is_b ? (sp__tiles_source){.dtype = s->dtype,
                                     .data = data,
                                     .n = s->n,
                                     .n_k = s->k,
                                     .outer = s->b_col,
                                     .k = s->b_row}
                : (sp__tiles_source){
                      .dtype = s->dtype, .data = data, .n = s->m, .n_k = s->k, .outer = s->a_row, .k = s->a_col};
}

/* SP_DECLINED: numbers out of range, C is untouched. */
static sp_status run_by_tiles(const sp__tiles_kernels *tiles, const sp__gemm_shape *s, const void *a, const void *b,
                              void *c, bool accumulate, void *work, const sp__gemm_extra *extra)
{
    sp__tiles_product p = {.a = source_of(s, a, false),
                           .b = source_of(s, b, true),
                           .c = c,
                           .c_dtype = s->dtype,
                           .c_row = s->c_row,
                           .accumulate = accumulate};
    if (extra) {
        p.packed_b = extra->packed_b;
        p.epilogue = extra->epilogue;
        p.start = extra->start;
    }
    return sp__tiles_multiply(tiles, &p, work);
}

static size_t work_of(const gemm_job *job)
{
    if (job->turned) return (size_t)(job->block_n * job->s.k) * job->size;
    int64_t columns = job->pack_b && !job->packed_b && !job->here ? job->block_n : 0,
            rows = job->pack_a ? job->block_m : 0;
    return (size_t)(columns * (job->rows_here ? job->s.k : job->k_step) +
                    rows * (job->whole_a ? job->s.k : job->k_step)) *
           job->size;
}

size_t sp__gemm_work(const sp__gemm_shape *s)
{
    const sp__tiles_kernels *tiles = tiles_for(s);
    size_t by_tiles = tiles ? sp__tiles_work(s->dtype, s->m, s->n, s->k, false) : 0, by_vectors = 0;
    if (!has_vectors(s->dtype)) return by_tiles;
    if (s->m != 0 && s->n != 0 && s->k != 0 && form_of(s) == FORM_GENERAL) {
        gemm_job job;
        plan(s, is_turned(s), &job);
        by_vectors = work_of(&job);
        if (job.turned) { /* with a B that is packed ahead they are not */
            plan(s, false, &job);
            job.packed_b = "";
            if (work_of(&job) > by_vectors) by_vectors = work_of(&job);
        }
        by_vectors = (by_vectors + 63) / 64 * 64;
    }
    return by_tiles > by_vectors ? by_tiles : by_vectors;
}

/* --- packing ----------------------------------------------------------------------------------------------------- */

/* Rows [p, p + k) of panel i of those in work: of B first, then of A. */
static void pack_part(const gemm_job *job, int64_t i, int64_t p, int64_t k)
{
    const sp__gemm_shape *s = &job->s;
    const int64_t size = (int64_t)job->size, depth = job->p1 - job->p0;
    if (i < job->n_b_panels) {
        int64_t width = job->kernels->columns, j = job->j0 + i * width;
        job->kernels->pack(k, min_i64(width, job->j1 - j), width,
                           job->b + ((job->p0 + p) * s->b_row + j * s->b_col) * size, s->b_row, s->b_col,
                           job->b_panels + (i * depth + p) * width * size);
    } else {
        int64_t width = job->kernels->rows, panel = i - job->n_b_panels, row = job->i0 + panel * width;
        job->kernels->pack(k, min_i64(width, job->i1 - row), width,
                           job->a + (row * s->a_row + (job->p0 + p) * s->a_col) * size, s->a_col, s->a_row,
                           job->a_panels + (panel * depth + p) * width * size);
    }
}

/* An operand that lies along its panels is read some rows at a time across all of them: down a single panel every row is another page, and
 * rows a power of two apart push each other out of the cache before the next panel comes for the rest of their lines. */
static void pack_along(const gemm_job *job, int64_t begin, int64_t end, bool across)
{
    const int64_t depth = job->p1 - job->p0, step = across && end - begin > 1 ? PACK_ROWS : depth;
    for (int64_t p = 0; p < depth; p += step)
        for (int64_t i = begin; i < end; i++) pack_part(job, i, p, min_i64(step, depth - p));
}

static void pack_panels(void *context, int64_t begin, int64_t end)
{
    const gemm_job *job = context;
    const int64_t n_b = job->n_b_panels;
    pack_along(job, begin, min_i64(end, n_b), job->s.b_col == 1);
    pack_along(job, begin > n_b ? begin : n_b, end, job->s.a_row == 1);
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

/* Rows [i0, i1) and columns [j0, j1) of the product over [p0, p1), to c, whose rows are c_row apart. */
static void run_tile(const gemm_job *job, int64_t i0, int64_t i1, int64_t j0, int64_t j1, int64_t p0, int64_t p1,
                     char *c, int64_t c_row, bool accumulate)
{
    const sp__gemm_kernels *kernels = job->kernels;
    const sp__gemm_shape *s = &job->s;
    int64_t rows = kernels->rows, columns = kernels->columns, k = p1 - p0, size = (int64_t)job->size;
    bool packed = job->pack_a && job->pack_b;
    /* Rows that need not come in panels are taken in parts of nearly the same height, so that none is thin, and no higher than the first cache has
     * room for, where lines of C (or A) compete for it. */
    const bool compete = !rows_fit(c_row, job->size) || !rows_fit(s->a_row, job->size);
    const int64_t most = compete ? min_i64(rows, WAYS) : rows,
                  height = job->pack_a ? rows : ceil_div(i1 - i0, ceil_div(i1 - i0, most));
    char *const panel = job->here ? sp__scratch_take(SP_GEMM_PANEL_BYTES) : NULL;
    for (int64_t j = j0; j < j1; j += columns) {
        int64_t n = min_i64(columns, j1 - j);
        bool two = n > kernels->lanes;
        bool whole = n == columns || n == kernels->lanes;
        const char *b =
            job->pack_b
                ? job->b_panels + ((j - job->j0) * k + (p0 - job->p0) * round_up(job->j1 - job->j0, columns)) * size
                : job->b + (p0 * s->b_row + j) * size;
        const char *b_source = job->b + (p0 * s->b_row + j * s->b_col) * size;
        const bool keeps_b = job->here && s->b_col == 1 && n == columns,
                   keeps_a = job->rows_here && j == j0 && n == columns;
        if (job->here && !keeps_b) kernels->pack(k, n, columns, b_source, s->b_row, s->b_col, panel);
        if (job->here) b = panel;
        int64_t b_row = job->pack_b ? columns : s->b_row;
        /* Panels of B are complete (zeros behind the last column), so only the store has an edge there. */
        const sp__gemm_micro *micro = packed ? kernels->packed[two] : whole ? kernels->direct[two] : kernels->edge[two];
        /* While this panel is worked with, the lines of the next one are asked for: one of each of its rows in a row panel's time, or all of
         * a column that lies along K. */
        const bool by_column = job->here && s->b_col != 1;
        const int64_t turn_elements = by_column ? 1 : 64 / size, turn_bytes = by_column ? s->b_col * size : 64;
        const int64_t next_row = job->here || !job->pack_b ? s->b_row : columns;
        const char *next =
            job->here ? b_source + columns * s->b_col * size : b + (job->pack_b ? columns * k : columns) * size;
        if (j + columns >= j1) next = job->here && p1 < s->k ? job->b + (p1 * s->b_row + j0 * s->b_col) * size : NULL;
        for (int64_t i = i0; i < i1; i += height) {
            int64_t m = min_i64(height, i1 - i), turn = (i - i0) / height;
            const char *a_source = job->a + (i * s->a_row + p0 * s->a_col) * size;
            char *a_panel = job->a_panels + (job->rows_here ? (i - job->i0) * job->k_step
                                                            : (p0 - job->p0) * job->block_m + (i - job->i0) * k) *
                                                size;
            const char *a = job->pack_a ? a_panel : a_source;
            int64_t a_row = job->pack_a ? 1 : s->a_row, a_col = job->pack_a ? rows : s->a_col;
            char *to = c + ((i - i0) * c_row + j - j0) * size;
            if (job->rows_here && j == j0 && !(keeps_a && m == rows))
                kernels->pack(k, m, rows, a_source, s->a_col, 1, a_panel);
            if (n == columns) {
                const bool asks = next && turn * turn_elements < columns;
                const char *ahead = asks ? next + turn * turn_bytes : to;
                const int64_t step = asks ? next_row * size : 0;
                if (keeps_b && i == i0)
                    kernels->keep_b[m - 1](k, a, a_row, a_col, b_source, s->b_row, to, c_row, accumulate, ahead, step,
                                           panel);
                else if (keeps_a && m == rows)
                    kernels->keep_a(k, a_source, 1, s->a_col, b, b_row, to, c_row, accumulate, ahead, step, a_panel);
                else kernels->ahead[m - 1](k, a, a_row, a_col, b, b_row, to, c_row, accumulate, ahead, step);
            } else {
                micro[m - 1](k, a, a_row, a_col, b, b_row, to, c_row, n, accumulate);
            }
        }
    }
    if (panel) sp__scratch_give(panel);
}

/* The elements of C in this block are final. */
static void finish(const gemm_job *job, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    int64_t step = job->s.c_row, start = job->start + i0 * step + j0;
    if (!job->epilogue) return;
    if (j1 - j0 == step) job->epilogue->fn(job->epilogue->context, start, 1, 0, (i1 - i0) * step);
    else job->epilogue->fn(job->epilogue->context, start, i1 - i0, step, j1 - j0);
}

static void run_tiles(void *context, int64_t begin, int64_t end)
{
    const gemm_job *job = context;
    for (int64_t t = begin; t < end; t++) {
        int64_t i0 = job->i0 + t % job->tiles_m * job->tile_m, i1 = min_i64(i0 + job->tile_m, job->i1);
        int64_t j0 = job->j0 + t / job->tiles_m * job->tile_n, j1 = min_i64(j0 + job->tile_n, job->j1);
        char *c = job->c + (i0 * job->s.c_row + j0) * (int64_t)job->size;
        for (int64_t p = job->p0; p < job->p1; p += job->k_step)
            run_tile(job, i0, i1, j0, j1, p, min_i64(p + job->k_step, job->p1), c, job->s.c_row,
                     job->accumulate || p > 0);
        if (job->p1 == job->s.k) finish(job, i0, i1, j0, j1);
    }
}

/* The tile [n, m], rows of `row` elements, to m rows of C. */
static void turn_tile(const gemm_job *job, int64_t n, int64_t m, const char *tile, int64_t row, char *c)
{
    const int64_t columns = job->kernels->columns, size = (int64_t)job->size;
    _Alignas(64) char square[32 * 32 * 4];
    for (int64_t i = 0; i < n; i += columns)
        for (int64_t j = 0; j < m; j += columns) {
            const int64_t width = min_i64(columns, n - i), height = min_i64(columns, m - j);
            job->kernels->pack(height, width, columns, tile + (i * row + j) * size, 1, row, square);
            for (int64_t r = 0; r < height; r++) {
                char *to = c + ((j + r) * job->s.c_row + i) * size;
                if (job->accumulate) job->kernels->add(width, square + r * columns * size, to, 1);
                else memcpy(to, square + r * columns * size, (size_t)(width * size));
            }
        }
}

/* Sides exchanged: rows of the tile are columns of C. */
static void run_turned(void *context, int64_t begin, int64_t end)
{
    const gemm_job *job = context;
    const sp__gemm_shape *s = &job->s;
    char *const tile = sp__scratch_take(TURN_TILE_BYTES);
    for (int64_t t = begin; t < end; t++) {
        int64_t i0 = t * job->tile_m, i1 = min_i64(i0 + job->tile_m, s->m);
        for (int64_t p = 0; p < s->k; p += job->k_step)
            run_tile(job, i0, i1, 0, s->n, p, min_i64(p + job->k_step, s->k), tile, job->tile_n, p > 0);
        turn_tile(job, i1 - i0, s->n, tile, job->tile_n, job->c + i0 * (int64_t)job->size);
        finish(job, 0, s->n, i0, i1);
    }
    sp__scratch_give(tile);
}

static sp_status share(gemm_job *job, int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t))
{
    return sp__for(job->parallel, n, grain, fn, job);
}

/* --- vectors ----------------------------------------------------------------------------------------------------- */

static void run_vector(void *context, int64_t begin, int64_t end)
{
    const gemm_job *job = context;
    const sp__gemm_shape *s = &job->s;
    int64_t size = (int64_t)job->size, n = end - begin;
    bool row = s->m == 1; /* else one column: the same with A and B exchanged */
    const char *x = row ? job->a : job->b, *matrix = row ? job->b : job->a;
    int64_t x_step = row ? s->a_col : s->b_row;
    int64_t along_k = row ? s->b_row : s->a_col, along_n = row ? s->b_col : s->a_row;
    int64_t y_step = row ? 1 : s->c_row;
    matrix += begin * along_n * size;
    char *y = job->c + begin * y_step * size;
    if (form_of(s) == FORM_DOTS) job->kernels->dots(n, s->k, x, matrix, along_n, y, y_step, job->accumulate);
    else job->kernels->sums(n, s->k, x, x_step, matrix, along_k, y, job->accumulate);
    if (row) finish(job, 0, 1, begin, end);
    else finish(job, begin, end, 0, 1);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

static void clear(const sp__gemm_shape *s, char *c)
{
    size_t size = sp_dtype_bytes(s->dtype);
    for (int64_t i = 0; i < s->m; i++) memset(c + (size_t)(i * s->c_row) * size, 0, (size_t)s->n * size);
}

/* Where the panels of columns [j0, j1) and of K from p0 on lie in a B that was packed as a whole. */
static char *packed_panels(const gemm_job *job, const char *packed)
{
    int64_t width = round_up(job->j1 - job->j0, job->kernels->columns);
    return (char *)(uintptr_t)packed + (size_t)(job->j0 * job->s.k + job->p0 * width) * job->size;
}

/* A is packed for all of K, B read where it is. */
static sp_status multiply_turned(gemm_job *job, void *work)
{
    const sp__gemm_shape *s = &job->s;
    job->j1 = s->n;
    job->n_b_panels = ceil_div(s->n, job->kernels->columns);
    for (job->p0 = 0; job->p0 < s->k; job->p0 += job->k_step) {
        job->p1 = min_i64(job->p0 + job->k_step, s->k);
        job->b_panels = (char *)work + (size_t)(job->p0 * job->block_n) * job->size;
        SP_TRY(share(job, job->n_b_panels, 1, pack_panels));
    }
    job->b_panels = work;
    job->p0 = 0;
    return share(job, ceil_div(s->m, job->tile_m), 1, run_turned);
}

/* B is packed for all of K, tiles pack A. */
static sp_status multiply_whole_rows(gemm_job *job, void *work)
{
    const sp__gemm_shape *s = &job->s;
    char *panels = job->packed_b ? (char *)(uintptr_t)job->packed_b : work;
    job->a_panels = (char *)work + (job->packed_b ? 0 : (size_t)(job->block_n * s->k) * job->size);
    job->j1 = s->n;
    job->i1 = s->m;
    job->n_b_panels = ceil_div(s->n, job->kernels->columns);
    for (job->p0 = 0; job->p0 < s->k && !job->packed_b; job->p0 += job->k_step) {
        job->p1 = min_i64(job->p0 + job->k_step, s->k);
        job->b_panels = panels + (size_t)(job->p0 * job->block_n) * job->size;
        SP_TRY(share(job, job->n_b_panels, 8, pack_panels));
    }
    job->b_panels = panels;
    job->p0 = 0;
    job->p1 = s->k;
    job->tiles_m = ceil_div(s->m, job->tile_m);
    return share(job, job->tiles_m, 1, run_tiles);
}

/* A is packed for all of K; B was, or tiles do it. */
static sp_status multiply_whole_a(gemm_job *job, void *work)
{
    const sp__gemm_shape *s = &job->s;
    job->i1 = s->m;
    job->n_a_panels = ceil_div(s->m, job->kernels->rows);
    for (job->p0 = 0; job->p0 < s->k; job->p0 += job->k_step) {
        job->p1 = min_i64(job->p0 + job->k_step, s->k);
        job->a_panels = (char *)work + (size_t)(job->p0 * job->block_m) * job->size;
        SP_TRY(share(job, job->n_a_panels, 8, pack_panels));
    }
    job->a_panels = work;
    job->p0 = 0;
    job->p1 = s->k;
    job->tiles_m = ceil_div(s->m, job->tile_m);
    const int64_t step = job->packed_b ? job->block_n : s->n;
    for (job->j0 = 0; job->j0 < s->n; job->j0 += step) {
        job->j1 = min_i64(job->j0 + step, s->n);
        if (job->packed_b) job->b_panels = packed_panels(job, job->packed_b);
        SP_TRY(share(job, job->tiles_m * ceil_div(job->j1 - job->j0, job->tile_n), 1, run_tiles));
    }
    return SP_OK;
}

sp_status sp__gemm_with(const sp__gemm_shape *s, const void *a, const void *b, void *c, bool accumulate, void *work,
                        const sp__gemm_extra *extra)
{
    if (s->m == 0 || s->n == 0) return SP_OK;
    const sp__tiles_kernels *tiles = tiles_for(s);
    if (tiles) {
        sp_status status = run_by_tiles(tiles, s, a, b, c, accumulate, work, extra);
        if (status != SP_DECLINED) return status;
    }
    gemm_job job;
    if (s->k == 0) {
        job = (gemm_job){.s = *s};
        if (!accumulate) clear(s, c);
    } else {
        bool packed_b = extra && extra->packed_b && !tiles; /* tiles declined: their panels are of no use here */
        plan(s, is_turned(s) && !packed_b, &job);
    }
    job.a = job.turned ? b : a;
    job.b = job.turned ? a : b;
    job.c = c;
    job.accumulate = accumulate;
    if (extra) {
        job.epilogue = extra->epilogue;
        job.start = extra->start;
        job.packed_b = job.pack_b && !job.turned && !tiles ? extra->packed_b : NULL;
        if (job.packed_b) job.here = false;
    }
    if (s->k == 0) {
        finish(&job, 0, s->m, 0, s->n);
        return SP_OK;
    }
    if (form_of(s) != FORM_GENERAL)
        return share(&job, s->m == 1 ? s->n : s->m, form_of(s) == FORM_SUMS ? 1024 : 256, run_vector);
    if (job.turned) return multiply_turned(&job, work);
    if (job.rows_here) return multiply_whole_rows(&job, work);
    if (job.whole_a) return multiply_whole_a(&job, work);

    job.b_panels = work;
    job.a_panels =
        (char *)work + (job.pack_b && !job.packed_b && !job.here ? (size_t)(job.block_n * job.k_step) * job.size : 0);
    bool packs = job.pack_a || (job.pack_b && !job.here);
    int64_t k_step = packs ? job.k_step : s->k; /* without panels the tiles go through K themselves */
    int64_t m_step = job.pack_a ? job.block_m : s->m, n_step = job.pack_b && !job.here ? job.block_n : s->n;
    for (job.j0 = 0; job.j0 < s->n; job.j0 += n_step) {
        job.j1 = min_i64(job.j0 + n_step, s->n);
        for (job.p0 = 0; job.p0 < s->k; job.p0 += k_step) {
            job.p1 = min_i64(job.p0 + k_step, s->k);
            if (job.packed_b) job.b_panels = packed_panels(&job, job.packed_b);
            for (job.i0 = 0; job.i0 < s->m; job.i0 += m_step) {
                job.i1 = min_i64(job.i0 + m_step, s->m);
                bool pack_b = job.pack_b && !job.packed_b && !job.here && job.i0 == 0;
                job.n_b_panels = pack_b ? ceil_div(job.j1 - job.j0, job.kernels->columns) : 0;
                job.n_a_panels = job.pack_a ? ceil_div(job.i1 - job.i0, job.kernels->rows) : 0;
                SP_TRY(share(&job, job.n_b_panels + job.n_a_panels, 8, pack_panels));
                job.tiles_m = ceil_div(job.i1 - job.i0, job.tile_m);
                SP_TRY(share(&job, job.tiles_m * ceil_div(job.j1 - job.j0, job.tile_n), 1, run_tiles));
            }
        }
    }
    return SP_OK;
}

sp_status sp__gemm(const sp__gemm_shape *s, const void *a, const void *b, void *c, bool accumulate, void *work)
{
    return sp__gemm_with(s, a, b, c, accumulate, work, NULL);
}

size_t sp__gemm_packed_bytes(const sp__gemm_shape *s)
{
    if (tiles_for(s)) return sp__tiles_packed_bytes(s->dtype, s->n, s->k);
    if (!has_vectors(s->dtype) || s->m == 0 || s->n == 0 || s->k == 0 || form_of(s) != FORM_GENERAL) return 0;
    gemm_job job;
    plan(s, false, &job);
    return job.pack_b ? (size_t)(round_up(s->n, job.kernels->columns) * s->k) * job.size : 0;
}

sp_status sp__gemm_pack_b(const sp__gemm_shape *s, const void *b, void *to)
{
    const sp__tiles_kernels *tiles = tiles_for(s);
    if (tiles) {
        sp__tiles_source source = source_of(s, b, true);
        return sp__tiles_pack(tiles, &source, to);
    }
    gemm_job job;
    plan(s, false, &job);
    job.b = b;
    for (job.j0 = 0; job.j0 < s->n; job.j0 += job.block_n) {
        job.j1 = min_i64(job.j0 + job.block_n, s->n);
        for (job.p0 = 0; job.p0 < s->k; job.p0 += job.k_step) {
            job.p1 = min_i64(job.p0 + job.k_step, s->k);
            job.b_panels = packed_panels(&job, to);
            job.n_b_panels = ceil_div(job.j1 - job.j0, job.kernels->columns);
            SP_TRY(share(&job, job.n_b_panels, 8, pack_panels));
        }
    }
    return SP_OK;
}

typedef struct batch_job {
    const sp__gemm_shape *s;
    const sp__gemm_batch *batch;
    const char *a, *b;
    char *c, *work;
    size_t size, work_bytes;
    int64_t grain;
    bool accumulate;
} batch_job;

/* Items of one part. The product of an item runs on this thread: calls inside a part do not fork. */
static sp_status run_item(const batch_job *job, int64_t i, char *work)
{
    const sp__gemm_batch *batch = job->batch;
    int64_t a = batch->a_offset ? batch->a_offset[i] : i * batch->a_step;
    int64_t b = batch->b_offset ? batch->b_offset[i] : i * batch->b_step;
    int64_t size = (int64_t)job->size;
    const sp__gemm_extra extra = {.epilogue = batch->epilogue, .start = i * batch->c_step};
    return sp__gemm_with(job->s, job->a + a * size, job->b + b * size, job->c + i * batch->c_step * size,
                         job->accumulate, work, &extra);
}

static void run_items(void *context, int64_t begin, int64_t end)
{
    const batch_job *job = context;
    char *work = job->work_bytes == 0 ? NULL : job->work + (size_t)(begin / job->grain) * job->work_bytes;
    for (int64_t i = begin; i < end; i++) (void)run_item(job, i, work);
}

static int64_t batch_grain(const sp__gemm_shape *s, int64_t n, size_t work_bytes)
{
    double items = GROUP_FLOPS / (flops_of(s) + 1);
    int64_t grain = items<1 ? 1 : items>(double) n ? n : (int64_t)items;
    if (work_bytes > 0 && ceil_div(n, grain) > GROUPS_MAX) grain = ceil_div(n, GROUPS_MAX);
    return grain > 0 ? grain : 1;
}

size_t sp__gemm_batch_work(const sp__gemm_shape *s, int64_t n)
{
    size_t one = sp__gemm_work(s);
    if (n == 0 || one == 0 || flops_of(s) >= LARGE_FLOPS) return one;
    return one * (size_t)ceil_div(n, batch_grain(s, n, one));
}

sp_status sp__gemm_batched(const sp__gemm_shape *s, const sp__gemm_batch *batch, const void *a, const void *b, void *c,
                           bool accumulate, void *work)
{
    batch_job job = {.s = s, .batch = batch, .a = a, .b = b, .c = c, .work = work, .accumulate = accumulate};
    job.size = sp_dtype_bytes(s->dtype);
    if (batch->n == 1 || flops_of(s) >= LARGE_FLOPS) {
        for (int64_t i = 0; i < batch->n; i++) SP_TRY(run_item(&job, i, work));
        return SP_OK;
    }
    job.work_bytes = sp__gemm_work(s);
    job.grain = batch_grain(s, batch->n, job.work_bytes);
    return sp__parallel_for(batch->n, job.grain, run_items, &job);
}
