/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.c - the driver of tiles.h: panels, regions of C, threads.
 *
 *     for each block of columns, of rows:    pack panels of B and A, all of K    (in parallel)
 *         for each region of C (in parallel): for each block of K: for each column panel: for each row panel: block
 *
 * A region is up to 8 x 8 panels; its sums stay with the thread until K is through, so C is written once, rounded to its dtype. K is never
 * divided among threads. A panel's block of B stays in the first cache while those of A pass by, from the second one. */
#include "device/cpu/tiles.h"

#include <string.h>

#include "base/scratch.h"
#include "device/device.h"

enum {
    REGION = 8,        /* panels each way, at most */
    PACK_PANELS = 8,   /* packed at a time */
    BLOCK_MAX = 2048,  /* rows or columns packed at a time */
    HEADER_BYTES = 64, /* in front of a B packed ahead */
};
#define PANELS_BYTES_MAX ((int64_t)32 << 20)
#define PARALLEL_FLOPS 6e6 /* below this a product stays on one thread */

/* Numbers that the split takes: terms and products of terms must neither overflow nor come near the denormals. Exponents are biased by
 * 127. The third term of x is at least 2^-24 of it, unless it is zero, so a product of first and third terms stays normal; what is flushed to
 * zero beyond that, below 2^-126, is less than 2^-34 of any product of elements that is not zero: a thousandth of a rounding. */
enum { LARGEST_EXPONENT = 250, SMALLEST_EXPONENT = 26, LARGEST_SUM = 2 * 127 + 100, SMALLEST_SUM = 2 * 127 - 92 };

static const sp__tiles_kernels *override;
void sp__tiles_override(const sp__tiles_kernels *kernels) { override = kernels; }

const sp__tiles_kernels *sp__tiles_find(sp_dtype dtype)
{
    const sp__tiles_kernels *found = override;
#if SP_HAVE_X86
    unsigned features = sp__cpu_features(), both = SP_CPU_VNNI | SP_CPU_BF16;
    if (!found && features & SP_CPU_AMX) found = &sp__tiles_amx;
    else if (!found && (features & both) == both) found = &sp__tiles_vnni;
#endif
    if (!found) return NULL;
    bool has = dtype == SP_DTYPE_F32    ? found->f32
               : dtype == SP_DTYPE_BF16 ? found->bf16
                                        : dtype == SP_DTYPE_I8 && found->i8;
    return has ? found : NULL;
}

const sp__tiles_kernels *sp__tiles_pairs(void)
{
    if (sp__tiles_find(SP_DTYPE_I8)) return NULL;
    const sp__tiles_kernels *found = override;
#if SP_HAVE_X86
    if (!found && sp__cpu_features() & SP_CPU_AVX2) found = &sp__tiles_avx2;
#endif
    return found && found->i16 ? found : NULL;
}

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

typedef struct tiles_job {
    const sp__tiles_kernels *kernels;
    const sp__tiles_product *p;
    int64_t m, n, k, panel_bytes;
    int64_t block_m, block_n; /* rows, columns packed at a time */
    bool in_place;            /* whole panels of A are read where they are */
    bool parallel;
    char *a_panels;
    const char *b_panels;
    char *b_to;
    int32_t *starts;                /* what sums of rows start from */
    int64_t i0, i1, j0, j1;         /* the part in work */
    int64_t n_a_panels, n_b_panels; /* to pack */
    int64_t region_m, region_n;     /* rows, columns of a region */
    int64_t regions_m;
    sp__tiles_range a_range, b_range;
} tiles_job;

static int64_t padded(int64_t n) { return ceil_div(n, SP_TILES_PANEL) * SP_TILES_PANEL; }

/* Rows and columns packed at a time: all of them if that is not too much memory. */
static void plan(sp_dtype dtype, int64_t m, int64_t n, int64_t k, bool packed_b, tiles_job *job)
{
    job->m = m;
    job->n = n;
    job->k = k;
    job->panel_bytes = sp__tiles_panel_bytes(dtype, k);
    job->block_m = min_i64(padded(m), BLOCK_MAX);
    job->block_n = packed_b ? padded(n) : min_i64(padded(n), BLOCK_MAX);
    int64_t unit = job->panel_bytes / SP_TILES_PANEL;
    while (job->block_m > 256 && (job->block_m + (packed_b ? 0 : job->block_n)) * unit > PANELS_BYTES_MAX) {
        if (job->block_n > job->block_m && !packed_b) job->block_n = padded(job->block_n / 2);
        else job->block_m = padded(job->block_m / 2);
    }
    job->parallel = 2.0 * (double)m * (double)n * (double)k >= PARALLEL_FLOPS;
}

size_t sp__tiles_work(sp_dtype dtype, int64_t m, int64_t n, int64_t k, bool packed_b)
{
    tiles_job job;
    plan(dtype, m, n, k, packed_b, &job);
    int64_t panels = (job.block_m + (packed_b ? 0 : job.block_n)) / SP_TILES_PANEL;
    return (size_t)(panels * job.panel_bytes + job.block_m * (int64_t)sizeof(int32_t));
}

static sp_status share(tiles_job *job, int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t))
{
    return sp__for(job->parallel, n, grain, fn, job);
}

/* --- packing ----------------------------------------------------------------------------------------------------- */

/* Rows of A from i on, a panel of them, from step s of K on. */
static bool is_in_place(const tiles_job *job, int64_t i) { return job->in_place && i + SP_TILES_PANEL <= job->m; }

static sp__tiles_rows rows_from(const tiles_job *job, int64_t i, int64_t s)
{
    const sp__tiles_source *a = &job->p->a;
    const int64_t row = a->outer * (int64_t)sp_dtype_bytes(a->dtype);
    if (is_in_place(job, i))
        return (sp__tiles_rows){.data = (const char *)a->data + i * row + s * 64, .row = row, .step = 64};
    const char *panel = job->a_panels + (i - job->i0) / SP_TILES_PANEL * job->panel_bytes;
    return (sp__tiles_rows){
        .data = panel + s * sp__tiles_terms(a->dtype) * 2 * SP_TILE_BYTES, .row = 64, .step = 2 * SP_TILE_BYTES};
}

static bool has_starts(const tiles_job *job) { return job->kernels->start && job->p->a.dtype == SP_DTYPE_I8; }

static void pack_panels(void *context, int64_t begin, int64_t end)
{
    tiles_job *job = context;
    const int64_t n_b = job->n_b_panels;
    if (begin < n_b)
        job->kernels->pack(&job->p->b, job->j0 + begin * SP_TILES_PANEL, min_i64(end, n_b) - begin, true,
                           job->b_to + begin * job->panel_bytes, &job->b_range);
    for (int64_t panel = begin > n_b ? begin - n_b : 0; panel < end - n_b; panel++) {
        const int64_t first = job->i0 + panel * SP_TILES_PANEL;
        if (!is_in_place(job, first))
            job->kernels->pack(&job->p->a, first, 1, false, job->a_panels + panel * job->panel_bytes, &job->a_range);
        if (has_starts(job)) {
            const sp__tiles_rows a = rows_from(job, first, 0);
            job->kernels->start(sp__tiles_steps(SP_DTYPE_I8, job->k), &a, job->starts + panel * SP_TILES_PANEL);
        }
    }
}

/* Several panels at a time, but enough parts for all threads. */
static int64_t pack_grain(int64_t panels) { return panels >= 8 * PACK_PANELS ? PACK_PANELS : 1 + (panels - 1) / 8; }

void sp__tiles_range_start(sp__tiles_range *range)
{
    atomic_init(&range->largest, 0);
    atomic_init(&range->smallest, UINT32_MAX);
}

void sp__tiles_widen(sp__tiles_range *range, uint32_t largest, uint32_t smallest)
{
    uint32_t seen = atomic_load(&range->largest);
    while (largest > seen && !atomic_compare_exchange_weak(&range->largest, &seen, largest)) {}
    seen = atomic_load(&range->smallest);
    while (smallest < seen && !atomic_compare_exchange_weak(&range->smallest, &seen, smallest)) {}
}

void sp__tiles_measure(const float *x, int64_t n, sp__tiles_range *range)
{
    uint32_t largest = 0, smallest = UINT32_MAX;
    for (int64_t i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, x + i, 4);
        u &= 0x7FFFFFFFu;
        largest = u > largest ? u : largest;
        uint32_t less = u - 1; /* zero becomes the largest */
        smallest = less < smallest ? less : smallest;
    }
    sp__tiles_widen(range, largest, smallest == UINT32_MAX ? smallest : smallest + 1);
}

/* The range of an operand that is packed in several parts, before any of C is written: strides only. */
typedef struct measure_job {
    const sp__tiles_source *source;
    sp__tiles_range *range;
    int64_t row_step, n, step; /* of its rows, or of its columns where these are the ones side by side */
} measure_job;

static void measure_rows(void *context, int64_t begin, int64_t end)
{
    const measure_job *job = context;
    for (int64_t i = begin; i < end; i++) {
        const float *row = (const float *)job->source->data + i * job->row_step;
        if (job->step == 1) {
            sp__tiles_measure(row, job->n, job->range);
            continue;
        }
        float some[64];
        for (int64_t j = 0; j < job->n; j += 64) {
            int64_t count = min_i64(64, job->n - j);
            for (int64_t l = 0; l < count; l++) some[l] = row[(j + l) * job->step];
            sp__tiles_measure(some, count, job->range);
        }
    }
}

static sp_status measure(const sp__tiles_source *s, sp__tiles_range *range)
{
    bool along = s->k == 1;
    measure_job job = {.source = s,
                       .range = range,
                       .row_step = along ? s->outer : s->k,
                       .n = along ? s->n_k : s->n,
                       .step = along ? 1 : s->outer};
    return sp__parallel_for(along ? s->n : s->n_k, 1 + (1 << 16) / (job.n + 1), measure_rows, &job);
}

static bool range_is_fit(const sp__tiles_range *a, const sp__tiles_range *b)
{
    uint32_t a_low = atomic_load(&a->smallest), b_low = atomic_load(&b->smallest);
    if (a_low == UINT32_MAX || b_low == UINT32_MAX) { /* one is all zeros: fit unless the other has infinities or NaN */
        return (atomic_load(&a->largest) >> 23) < 255 && (atomic_load(&b->largest) >> 23) < 255;
    }
    int a_high = (int)(atomic_load(&a->largest) >> 23), b_high = (int)(atomic_load(&b->largest) >> 23);
    int a_least = (int)(a_low >> 23), b_least = (int)(b_low >> 23);
    return a_high <= LARGEST_EXPONENT && b_high <= LARGEST_EXPONENT && a_high + b_high <= LARGEST_SUM &&
           a_least >= SMALLEST_EXPONENT && b_least >= SMALLEST_EXPONENT && a_least + b_least >= SMALLEST_SUM;
}

/* --- regions ----------------------------------------------------------------------------------------------------- */

typedef float region_sums[REGION][REGION]
                         [SP_TILES_PANEL * SP_TILES_PANEL]; /* [column panel][row panel]; int32 for int8 */

static void store_run(const sp__tiles_kernels *kernels, const sp__tiles_product *p, const void *sums, int64_t i_row,
                      int64_t at, int64_t n)
{
    const float *f = sums;
    if (p->c_dtype == SP_DTYPE_F32) {
        float *to = (float *)p->c + at;
        if (p->accumulate)
            for (int64_t j = 0; j < n; j++) to[j] += f[j];
        else if (p->bias)
            for (int64_t j = 0; j < n; j++) to[j] = p->bias[i_row] + f[j];
        else memcpy(to, f, (size_t)n * 4);
    } else if (p->c_dtype == SP_DTYPE_I32) {
        memcpy((int32_t *)p->c + at, sums, (size_t)n * 4);
    } else {
        kernels->round(p->c_dtype, 1, n, (char *)p->c + at * (int64_t)sp_dtype_bytes(p->c_dtype), 0, sums);
    }
}

/* Columns [j, j + n) of row i are final: to C, in runs that belong to one image. */
static void store_row(const sp__tiles_kernels *kernels, const sp__tiles_product *p, const float *sums, int64_t i,
                      int64_t j, int64_t n)
{
    if (!p->c_columns) {
        store_run(kernels, p, sums, i, i * p->c_row + j, n);
        return;
    }
    for (int64_t end = j + n; j < end;) {
        int64_t image = j / p->c_columns, inside = j % p->c_columns, run = min_i64(end - j, p->c_columns - inside);
        store_run(kernels, p, sums, i, image * p->c_step + i * p->c_row + inside, run);
        sums += run;
        j += run;
    }
}

/* A panel's square of C is final. */
static void store_square(const tiles_job *job, int64_t i, int64_t rows, int64_t j, int64_t n, const float *sums)
{
    const sp__tiles_product *p = job->p;
    if (!p->c_columns && (p->c_dtype == SP_DTYPE_BF16 || p->c_dtype == SP_DTYPE_I8)) {
        char *to = (char *)p->c + (i * p->c_row + j) * (int64_t)sp_dtype_bytes(p->c_dtype);
        job->kernels->round(p->c_dtype, rows, n, to, p->c_row, sums);
        return;
    }
    for (int64_t r = 0; r < rows; r++) store_row(job->kernels, p, sums + r * SP_TILES_PANEL, i + r, j, n);
}

/* Have the lines of a panel's square of C fetched while its last sums are made. */
static void ask_for(const sp__tiles_product *p, int64_t i0, int64_t i1, int64_t j, int64_t j1)
{
    const int64_t size = (int64_t)sp_dtype_bytes(p->c_dtype), last = min_i64(SP_TILES_PANEL, j1 - j) * size - 1;
    if (p->c_columns) return;
    for (int64_t i = i0; i < min_i64(i0 + SP_TILES_PANEL, i1); i++) {
        const char *row = (const char *)p->c + (i * p->c_row + j) * size;
        for (int64_t at = 0; at < last; at += 64) __builtin_prefetch(row + at, 1);
        __builtin_prefetch(row + last, 1);
    }
}

static void region(const tiles_job *job, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    const sp__tiles_product *p = job->p;
    sp_dtype dtype = p->a.dtype;
    int64_t steps = sp__tiles_steps(dtype, job->k), block = sp__tiles_block(dtype), terms = sp__tiles_terms(dtype);
    const int64_t n_i = ceil_div(i1 - i0, SP_TILES_PANEL), n_j = ceil_div(j1 - j0, SP_TILES_PANEL);
    float (*const sums)[REGION][SP_TILES_PANEL * SP_TILES_PANEL] = sp__scratch_take(sizeof(region_sums));
    static const int32_t zeros[SP_TILES_PANEL];
    for (int64_t s = 0; s < steps; s += block) {
        int64_t n_steps = min_i64(block, steps - s), at = s * terms * 2 * SP_TILE_BYTES;
        const bool last = s + block >= steps;
        for (int64_t j_panel = 0; j_panel < n_j; j_panel++) {
            const int64_t j = j0 + j_panel * SP_TILES_PANEL;
            const char *b = job->b_panels + (j - job->j0) / SP_TILES_PANEL * job->panel_bytes + at;
            for (int64_t i_panel = 0; i_panel < n_i; i_panel++) {
                const int64_t i = i0 + i_panel * SP_TILES_PANEL;
                const int32_t *from = s > 0 ? NULL : has_starts(job) ? job->starts + (i - job->i0) : zeros;
                const sp__tiles_rows a = rows_from(job, i, s);
                float *square = sums[j_panel][i_panel];
                if (last) ask_for(p, i, i1, j, j1);
                job->kernels->block(dtype, n_steps, &a, b, i1 - i <= SP_TILE, j1 - j <= SP_TILE, square, from);
                if (last)
                    store_square(job, i, min_i64(SP_TILES_PANEL, i1 - i), j, min_i64(SP_TILES_PANEL, j1 - j), square);
            }
        }
    }
    sp__scratch_give(sums);
    if (!p->epilogue) return;
    int64_t columns = p->c_columns ? p->c_columns : j1;
    for (int64_t j = j0; j < j1;) {
        int64_t image = j / columns, inside = j % columns, run = min_i64(j1 - j, columns - inside);
        p->epilogue->fn(p->epilogue->context, p->start + image * p->c_step + i0 * p->c_row + inside, i1 - i0, p->c_row,
                        run);
        j += run;
    }
}

/* Regions with which threads come to an end together, nearly: a block each, and half of one for each panel that is fetched. Bits do not depend on it: an
 * element's sum is made in one region. */
static void size_regions(tiles_job *job)
{
    static const int64_t sides[] = {8, 7, 6, 5, 4, 3, 2};
    const int64_t threads = job->parallel ? sp_threads() : 1, m = ceil_div(job->i1 - job->i0, SP_TILES_PANEL),
                  n = ceil_div(job->j1 - job->j0, SP_TILES_PANEL);
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (size_t j = 0; j < sizeof sides / sizeof *sides; j++) {
            const int64_t rows = min_i64(sides[i], m), columns = min_i64(sides[j], n);
            const int64_t each = ceil_div(ceil_div(m, rows) * ceil_div(n, columns), threads);
            const int64_t cost = each * (2 * rows * columns + rows + columns);
            if (cost >= least) continue;
            least = cost;
            job->region_m = rows * SP_TILES_PANEL;
            job->region_n = columns * SP_TILES_PANEL;
        }
    job->regions_m = ceil_div(m * SP_TILES_PANEL, job->region_m);
}

static void run_regions(void *context, int64_t begin, int64_t end)
{
    const tiles_job *job = context;
    if (job->kernels->begin) job->kernels->begin();
    for (int64_t t = begin; t < end; t++) {
        int64_t i0 = job->i0 + t % job->regions_m * job->region_m, j0 = job->j0 + t / job->regions_m * job->region_n;
        region(job, i0, min_i64(i0 + job->region_m, job->i1), j0, min_i64(j0 + job->region_n, job->j1));
    }
    if (job->kernels->end) job->kernels->end();
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

sp_status sp__tiles_multiply(const sp__tiles_kernels *kernels, const sp__tiles_product *p, void *work)
{
    tiles_job job = {.kernels = kernels, .p = p};
    bool packed = p->packed_b != NULL, f32 = p->a.dtype == SP_DTYPE_F32;
    plan(p->a.dtype, p->a.n, p->b.n, p->a.n_k, packed, &job);
    sp__tiles_range_start(&job.a_range);
    sp__tiles_range_start(&job.b_range);
    if (packed) {
        const uint32_t *range = (const uint32_t *)(const void *)p->packed_b;
        atomic_init(&job.b_range.largest, range[0]);
        atomic_init(&job.b_range.smallest, range[1]);
    }
    bool parts = job.block_m < job.m || job.block_n < job.n;
    if (f32 && p->a_range) {
        if (!range_is_fit(p->a_range, p->b_range)) return SP_DECLINED;
        parts = true; /* nothing left to ask */
    } else if (f32 && parts) {
        SP_TRY(measure(&p->a, &job.a_range));
        if (!packed) SP_TRY(measure(&p->b, &job.b_range));
        if (!range_is_fit(&job.a_range, &job.b_range)) return SP_DECLINED;
    }
    job.b_to = work;
    job.b_panels = packed ? p->packed_b + HEADER_BYTES : work;
    job.a_panels = (char *)work + (packed ? 0 : job.block_n / SP_TILES_PANEL * job.panel_bytes);
    job.starts = (int32_t *)(void *)(job.a_panels + job.block_m / SP_TILES_PANEL * job.panel_bytes);
    job.in_place = kernels->in_place && !f32 && p->a.k == 1 && !p->a.k_table && !p->a.outer_table &&
                   job.k % sp__tiles_step(p->a.dtype) == 0;
    for (job.j0 = 0; job.j0 < job.n; job.j0 += job.block_n) {
        job.j1 = min_i64(job.j0 + job.block_n, job.n);
        for (job.i0 = 0; job.i0 < job.m; job.i0 += job.block_m) {
            job.i1 = min_i64(job.i0 + job.block_m, job.m);
            job.n_b_panels = packed || job.i0 > 0 ? 0 : ceil_div(job.j1 - job.j0, SP_TILES_PANEL);
            job.n_a_panels = ceil_div(job.i1 - job.i0, SP_TILES_PANEL);
            SP_TRY(
                share(&job, job.n_b_panels + job.n_a_panels, pack_grain(job.n_b_panels + job.n_a_panels), pack_panels));
            if (f32 && !parts && !range_is_fit(&job.a_range, &job.b_range)) return SP_DECLINED;
            size_regions(&job);
            SP_TRY(share(&job, job.regions_m * ceil_div(job.j1 - job.j0, job.region_n), 1, run_regions));
        }
    }
    return SP_OK;
}

size_t sp__tiles_packed_bytes(sp_dtype dtype, int64_t n, int64_t k)
{
    return HEADER_BYTES + (size_t)(padded(n) / SP_TILES_PANEL * sp__tiles_panel_bytes(dtype, k));
}

sp_status sp__tiles_pack(const sp__tiles_kernels *kernels, const sp__tiles_source *b, void *to)
{
    const sp__tiles_product p = {.b = *b};
    tiles_job job = {
        .kernels = kernels, .p = &p, .panel_bytes = sp__tiles_panel_bytes(b->dtype, b->n_k), .parallel = true};
    sp__tiles_range_start(&job.b_range);
    job.b_to = (char *)to + HEADER_BYTES;
    job.n_b_panels = ceil_div(b->n, SP_TILES_PANEL);
    SP_TRY(share(&job, job.n_b_panels, 1, pack_panels));
    uint32_t *range = to;
    memset(range, 0, HEADER_BYTES);
    range[0] = atomic_load(&job.b_range.largest);
    range[1] = atomic_load(&job.b_range.smallest);
    return SP_OK;
}
