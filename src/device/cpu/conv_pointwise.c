/* SPDX-License-Identifier: Apache-2.0 */
/* conv_pointwise.c - convolution with a window of one element: for every image the product of the weights, [out channels, k], with
 * its planes, [k, positions].
 *
 * The weights are packed once for all images (or ahead, when they are constant). A task takes some columns of an image and some rows of weights:
 * it packs its columns, a panel and a block of k at a time, into scratch of its own and multiplies them while they are in its cache, and the next panel's
 * memory comes. Nobody waits for anybody but at the end. An element is summed by one thread in blocks of k, so tasks do not change results.
 *
 * Small images would leave lanes of their last panel idle: their positions are taken as columns of one matrix, panels reach from one image into the next,
 * and a task makes its results in scratch, from where they go to their images. */
#include "device/cpu/conv_job.h"

enum {
    TILE_PANELS = 4,  /* columns of a task, in panels */
    SLICE_PANELS = 8, /* rows of a task at least, in panels */
    TASKS_WANTED = 24,
    SLOTS_MAX = 32, /* pieces of scratch */
    POSITIONS_MIN = 16,
};

/* Tiles must win by far: their images are plain, those around them may lie in blocks of channels (conv_blocks.c), and bringing an image from one
 * form into the other costs as much as a small layer. */
#define TILES_SHARE 0.6

typedef struct point_job {
    sp__conv_job *job;
    sp__gemm_shape s;
    int64_t rows, columns, size;
    int64_t k_step, m_panels;
    int64_t images; /* matrices of s.n columns: one when images are joined */
    bool joined;
    int64_t tile, tiles, slice, slices, tasks,
        per_slot; /* columns of a task, tasks of an image; panels of weights of a task */
    size_t columns_bytes, slot_bytes, weights_bytes;
    const char *weights;
    char *slots;
} point_job;

bool sp__conv_is_pointwise(const sp__conv_job *job)
{
    sp__gemm_shape s = sp__conv_product_shape(job);
    return sp__conv_is_product(&job->g) && job->positions >= POSITIONS_MIN && !sp__gemm_is_tiled(&s, TILES_SHARE);
}

/* Positions of one image that lie side by side in a panel. */
typedef struct piece {
    int64_t image, position, n;
} piece;

/* The piece at column j of joined images, up to `end`. */
static piece piece_at(const point_job *w, int64_t j, int64_t end)
{
    const int64_t positions = w->job->positions, position = j % positions;
    return (piece){.image = j / positions, .position = position, .n = min_i64(positions - position, end - j)};
}

static bool joins(const sp__conv_job *job)
{
    const int64_t lanes = job->kernels->lanes;
    return job->g.batch > 1 && ceil_div(job->positions, lanes) * lanes * 100 > job->positions * 103;
}

static void measure(sp__conv_job *job, point_job *w)
{
    const sp__gemm_kernels *kernels = job->kernels;
    *w = (point_job){.job = job,
                     .s = sp__conv_product_shape(job),
                     .rows = kernels->rows,
                     .columns = kernels->columns,
                     .size = job->size};
    w->k_step = ceil_div(w->s.k, ceil_div(w->s.k, kernels->k_block));
    w->m_panels = ceil_div(w->s.m, w->rows);
    w->joined = joins(job);
    w->images = w->joined ? 1 : job->g.batch;
    if (w->joined) w->s.n = job->g.batch * job->positions;
    w->tiles = ceil_div(w->s.n, TILE_PANELS * w->columns);
    w->tile = ceil_div(ceil_div(w->s.n, w->tiles), w->columns) * w->columns;
    w->tiles = ceil_div(w->s.n, w->tile);
    w->slices = 1;
    while (w->images * w->tiles * w->slices < TASKS_WANTED && w->m_panels / (2 * w->slices) >= SLICE_PANELS)
        w->slices *= 2;
    w->slice = ceil_div(w->m_panels, w->slices);
    w->slices = ceil_div(w->m_panels, w->slice);
    w->tasks = w->images * w->tiles * w->slices;
    w->per_slot = ceil_div(w->tasks, SLOTS_MAX);
    w->columns_bytes = aligned((size_t)(w->columns * w->k_step * w->size));
    w->slot_bytes = w->columns_bytes + (w->joined ? aligned((size_t)(w->slice * w->rows * w->tile * w->size)) : 0);
    w->weights_bytes = aligned((size_t)(w->m_panels * w->rows * w->s.k * w->size));
}

/* Panels of weights: block of k by block, in each panel by panel. */
static void pack_tasks(void *context, int64_t begin, int64_t end)
{
    const point_job *w = context;
    const sp__gemm_shape *s = &w->s;
    for (int64_t t = begin; t < end; t++) {
        int64_t p = t / w->m_panels * w->k_step, k = min_i64(w->k_step, s->k - p), row = t % w->m_panels * w->rows;
        char *to = (char *)(uintptr_t)w->weights + (p * w->m_panels * w->rows + row * k) * w->size;
        w->job->kernels->pack(k, min_i64(w->rows, s->m - row), w->rows,
                              w->job->weight + (row * s->a_row + p * s->a_col) * w->size, s->a_col, s->a_row, to);
    }
}

static sp_status pack(point_job *w, char *to)
{
    int64_t n = ceil_div(w->s.k, w->k_step) * w->m_panels;
    w->weights = to;
    return sp__conv_share(w->job, n, max_i64(1, 65536 / (w->k_step * w->rows)), pack_tasks, w);
}

/* A panel of columns [j, j + n) of joined images, rows [p, p + k). */
static void pack_pieces(const point_job *w, int64_t p, int64_t k, int64_t j, int64_t n, char *to)
{
    const int64_t positions = w->job->positions, size = w->size;
    const size_t row_bytes = (size_t)(w->columns * size);
    if (n < w->columns) memset(to, 0, (size_t)k * row_bytes);
    for (int64_t at = 0; at < n;) {
        const piece one = piece_at(w, j + at, j + n);
        const char *from = w->job->x + ((one.image * w->s.k + p) * positions + one.position) * size;
        for (int64_t q = 0; q < k; q++)
            memcpy(to + (size_t)q * row_bytes + at * size, from + q * positions * size, (size_t)(one.n * size));
        at += one.n;
    }
}

/* Where columns from j on, row p, begin. */
static const char *columns_at(const point_job *w, int64_t image, int64_t p, int64_t j)
{
    const int64_t positions = w->job->positions;
    const int64_t from = w->joined ? j / positions : image, position = w->joined ? j % positions : j;
    return w->job->x + ((from * w->s.k + p) * positions + position) * w->size;
}

/* A panel of columns [j, j + n) of an image, or of joined ones, rows [p, p + k). A complete one that lies in one piece is stored by the kernel
 * that multiplies it first: then false. */
static bool pack_columns(const point_job *w, int64_t image, int64_t p, int64_t k, int64_t j, int64_t n, char *to)
{
    const bool pieces = w->joined && piece_at(w, j, j + n).n < n;
    if (pieces) pack_pieces(w, p, k, j, n, to);
    else if (n < w->columns)
        w->job->kernels->pack(k, n, w->columns, columns_at(w, image, p, j), w->job->positions, 1, to);
    return pieces || n < w->columns;
}

/* Rows [i0, i1) of columns [j0, j1) of joined images, [row][tile], to their places. */
static void put_pieces(const point_job *w, const char *sums, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    const sp__conv_job *job = w->job;
    for (int64_t j = j0; j < j1;) {
        const piece one = piece_at(w, j, j1);
        const int64_t start = (one.image * w->s.m + i0) * job->positions + one.position;
        for (int64_t i = 0; i < i1 - i0; i++)
            memcpy(job->out + (start + i * job->positions) * w->size, sums + (i * w->tile + j - j0) * w->size,
                   (size_t)(one.n * w->size));
        if (job->epilogue && one.n == job->positions)
            job->epilogue->fn(job->epilogue->context, start, 1, 0, (i1 - i0) * job->positions);
        else if (job->epilogue) job->epilogue->fn(job->epilogue->context, start, i1 - i0, job->positions, one.n);
        j += one.n;
    }
}

/* Rows of sums begin with the bias. */
static void begin_with_bias(const point_job *w, char *sums, int64_t i0, int64_t i1)
{
    for (int64_t i = i0; i < i1; i++) {
        if (w->size == 4) {
            float *row = (float *)(void *)sums + (i - i0) * w->tile;
            for (int64_t j = 0; j < w->tile; j++) row[j] = ((const float *)(const void *)w->job->bias)[i];
        } else {
            double *row = (double *)(void *)sums + (i - i0) * w->tile;
            for (int64_t j = 0; j < w->tile; j++) row[j] = ((const double *)(const void *)w->job->bias)[i];
        }
    }
}

static void run_task(const point_job *w, int64_t task, char *panel)
{
    const sp__conv_job *job = w->job;
    const sp__gemm_kernels *kernels = job->kernels;
    const sp__gemm_shape *s = &w->s;
    int64_t size = w->size, image = task / (w->tiles * w->slices), slice = task % w->slices;
    int64_t j0 = task / w->slices % w->tiles * w->tile, j1 = min_i64(j0 + w->tile, s->n);
    int64_t i0 = slice * w->slice * w->rows, i1 = min_i64(i0 + w->slice * w->rows, s->m);
    char *sums = panel + w->columns_bytes,
         *out = w->joined ? sums : job->out + ((image * s->m + i0) * s->n + j0) * size;
    const int64_t out_row = w->joined ? w->tile : s->n;
    if (job->bias && w->joined) begin_with_bias(w, sums, i0, i1);
    else if (job->bias) sp__conv_fill_bias(job, i0, i1 - i0, j0, j1 - j0, job->out + (image * s->m + i0) * s->n * size);
    for (int64_t p = 0; p < s->k; p += w->k_step) {
        int64_t k = min_i64(w->k_step, s->k - p);
        const char *weights = w->weights + p * w->m_panels * w->rows * size;
        for (int64_t j = j0; j < j1; j += w->columns) {
            const int64_t n = min_i64(w->columns, j1 - j);
            /* While this panel is worked with, the lines of the next one are asked for: one of each of its rows in a row panel's time. */
            const char *next = j + w->columns < j1 ? columns_at(w, image, p, j + w->columns)
                               : p + k < s->k      ? columns_at(w, image, p + k, j0)
                                                   : NULL;
            const bool packed = pack_columns(w, image, p, k, j, n, panel);
            for (int64_t i = i0, turn = 0; i < i1; i += w->rows, turn++) {
                const int64_t m = min_i64(w->rows, i1 - i);
                char *to = out + ((i - i0) * out_row + j - j0) * size;
                const bool asks =
                    next && turn * 64 < (w->columns + 1) * size; /* a row of a panel may begin anywhere in a line */
                const char *ahead = asks ? next + turn * 64 : to;
                const int64_t step = asks ? job->positions * size : 0;
                if (!packed && i == i0)
                    kernels->keep_b[m - 1](k, weights + i * k * size, 1, w->rows, columns_at(w, image, p, j),
                                           job->positions, to, out_row, p > 0 || job->bias, ahead, step, panel);
                else if (n == w->columns)
                    kernels->ahead[m - 1](k, weights + i * k * size, 1, w->rows, panel, w->columns, to, out_row,
                                          p > 0 || job->bias, ahead, step);
                else
                    kernels->packed[n > kernels->lanes][m - 1](k, weights + i * k * size, 1, w->rows, panel, w->columns,
                                                               to, out_row, n, p > 0 || job->bias);
            }
        }
    }
    if (w->joined) {
        put_pieces(w, sums, i0, i1, j0, j1);
    } else if (job->epilogue) {
        int64_t start = (image * s->m + i0) * s->n + j0;
        if (j1 - j0 == s->n) job->epilogue->fn(job->epilogue->context, start, 1, 0, (i1 - i0) * s->n);
        else job->epilogue->fn(job->epilogue->context, start, i1 - i0, s->n, j1 - j0);
    }
}

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    const point_job *w = context;
    for (int64_t slot = begin; slot < end; slot++)
        for (int64_t t = slot * w->per_slot; t < min_i64((slot + 1) * w->per_slot, w->tasks); t++)
            run_task(w, t, w->slots + (size_t)slot * w->slot_bytes);
}

size_t sp__pointwise_prepared_bytes(const sp__conv_job *job)
{
    point_job w;
    measure((sp__conv_job *)(uintptr_t)job, &w);
    return w.weights_bytes;
}

sp_status sp__pointwise_prepare(sp__conv_job *job, void *to)
{
    point_job w;
    measure(job, &w);
    return pack(&w, to);
}

size_t sp__pointwise_work(const sp__conv_job *job)
{
    point_job w;
    measure((sp__conv_job *)(uintptr_t)job, &w);
    return (job->prepared ? 0 : w.weights_bytes) + (size_t)ceil_div(w.tasks, w.per_slot) * w.slot_bytes;
}

sp_status sp__pointwise_forward(sp__conv_job *job, char *work)
{
    point_job w;
    measure(job, &w);
    w.slots = work;
    if (job->prepared) {
        w.weights = job->prepared;
    } else {
        SP_TRY(pack(&w, work));
        w.slots += w.weights_bytes;
    }
    return sp__conv_share(job, ceil_div(w.tasks, w.per_slot), 1, run_tasks, &w);
}
