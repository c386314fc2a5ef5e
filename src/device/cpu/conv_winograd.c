/* SPDX-License-Identifier: Apache-2.0 */
/* conv_winograd.c - 3x3 convolutions by winograd.h: which, in which blocks, on which threads.
 *
 * Tiles of all images are numbered row by row; `columns` of them are a panel. Of a panel, B' d B is [point][in channel][tile], sixteen right
 * operands of products with the weights, [point][panel of out channels][in channel][row]. Sums of all points of some channels stay in the first cache until
 * they are transformed back.
 *
 *   forward      many panels: a task takes several, one after the other, in scratch of its own. Few: all are transformed first, and a task
 *                multiplies one panel with some channels, so that there is enough to share.
 *   by weight    a block of tiles at a time: transform x and dout, then add the products of every pair of panels of channels to its
 *                sums. Every element is added up in one order, block by block.
 *   float32 with AVX-512: win_blocks.h, the same sums with channels across, which needs fewer instructions for the transforms. */
#include <stdatomic.h>

#include "base/scratch.h"
#include "device/cpu/win_blocks.h"

enum {
    TASKS_MAX = 32, /* parts of a forward convolution that have scratch of their own */
    PANELS_FEW = 32,
    CHANNELS_STEP = 16, /* channels that a task transforms */
    LARGEST_EXPONENT = 56,
    BLOCK_TILES = 256, /* of the gradient by weight */
    BLOCK_BYTES = 4 << 20,
    PREPARED_HEAD = 64, /* bytes in front of prepared weights: whether they are in range */
};

typedef struct win_job {
    sp__conv_job *job;
    int64_t rows, columns, size;
    int64_t tiles_y, tiles_x, tiles, panels, m_panels;
    int64_t panel_bytes; /* of transformed input */
    sp__winograd_picture in, out;
    const char *weights; /* transformed */
    char *weights_to, *points;
    atomic_bool unfit;
    /* by weight */
    int64_t n_panels, block, first, n, sums_bytes;            /* tiles of a block; of this block */
    int64_t a_row, a_col, a_point, a_bytes, b_point, b_bytes; /* distances of dout's channels and tiles; of points */
    char *a, *b, *sums;
} win_job;

static bool fits_geometry(const sp__conv_job *job)
{
    const sp__window *w = &job->g.w;
    return job->g.group == 1 && w->kernel[0] == 1 && w->in[0] == 1 && w->out[0] == 1 && w->kernel[1] == 3 &&
           w->kernel[2] == 3 && w->stride[1] == 1 && w->stride[2] == 1 && w->dilation[1] == 1 && w->dilation[2] == 1 &&
           w->pad[0] == 0 && w->pad_end[0] == 0;
}

static void measure(sp__conv_job *job, win_job *w)
{
    const sp__window *win = &job->g.w;
    *w = (win_job){.job = job, .rows = job->kernels->rows, .columns = job->kernels->columns, .size = job->size};
    w->tiles_y = ceil_div(win->out[1], 2);
    w->tiles_x = ceil_div(win->out[2], 2);
    w->tiles = job->g.batch * w->tiles_y * w->tiles_x;
    w->panels = ceil_div(w->tiles, w->columns);
    w->m_panels = ceil_div(job->oc_g, w->rows);
    w->n_panels = ceil_div(job->ic_g, w->columns);
    w->panel_bytes = SP_WIN_POINTS * job->ic_g * w->columns * w->size;
    w->in = (sp__winograd_picture){.size = {win->in[1], win->in[2]},
                                   .pad = {win->pad[1], win->pad[2]},
                                   .image_step = job->g.in_channels * win->in[1] * win->in[2]};
    w->out =
        (sp__winograd_picture){.size = {win->out[1], win->out[2]}, .image_step = job->g.out_channels * job->positions};
}

/* Multiplications of both ways, and what else there is to do in the same unit: transforms of tiles, and of weights. */
static double share_of_direct(const sp__conv_job *job, int64_t ic_whole, double per_weight)
{
    double ic = (double)ic_whole, oc = (double)job->oc_g;
    double tiles = (double)(job->g.batch * ceil_div(job->g.w.out[1], 2) * ceil_div(job->g.w.out[2], 2));
    double here = 16 * ic * oc * tiles + 150 * tiles * (ic + oc) + per_weight * ic * oc;
    return here / (9 * (double)job->ic_g * oc * (double)(job->g.batch * job->positions));
}

static bool is_large(const sp__conv_job *job, double flops)
{
    return job->ic_g >= 16 && job->oc_g >= 16 && job->flops >= flops;
}

/* Programs keep transformed weights, where they cost nothing any more; alone they take some 300 multiplications each. The choice must be one for both (the same
 * bits), so they count as 100: 512 channels of 7 x 7 take 0.67 of the direct way's time in programs, 1.2 times alone. */
bool sp__winograd_takes(const sp__conv_job *job)
{
    return fits_geometry(job) && is_large(job, 2.4e7) && share_of_direct(job, job->ic_g, 100) < 0.85;
}

/* Transforms go through memory: a fifth more than operations say (docs/inside/kernels.md has the measured shares). */
double sp__winograd_share(const sp__conv_job *job) { return 1.2 * share_of_direct(job, job->ic_g, 400); }

/* Here in channels fill whole panels, and weights are written only. */
bool sp__winograd_takes_weight(const sp__conv_job *job)
{
    int64_t columns = job->kernels->columns;
    return fits_geometry(job) && is_large(job, 8e6) &&
           share_of_direct(job, ceil_div(job->ic_g, columns) * columns, 100) < 0.85;
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

static void panel_of(const win_job *w, int64_t first, sp__winograd_panel *panel)
{
    int64_t per_image = w->tiles_y * w->tiles_x, end = min_i64(first + w->columns, w->tiles);
    panel->n_runs = 0;
    panel->n = end - first;
    for (int64_t t = first; t < end;) {
        int64_t in_image = t % per_image, x = in_image % w->tiles_x, n = min_i64(w->tiles_x - x, end - t);
        panel->runs[panel->n_runs++] = (sp__winograd_run){
            .image = t / per_image, .y = in_image / w->tiles_x * 2, .x = x * 2, .n = n, .at = t - first};
        t += n;
    }
}

/* One channel of a panel; `points` of it `step` elements apart. */
static void transform(const win_job *w, sp__winograd_gather gather, const sp__winograd_panel *panel,
                      const sp__winograd_picture *picture, const char *data, int64_t channel, char *points,
                      int64_t step)
{
    sp__winograd_picture here = *picture;
    int64_t at = channel * picture->size[0] * picture->size[1];
    here.begin = -at;
    here.end = w->job->g.batch * picture->image_step - at;
    gather(panel, &here, data + at * w->size, points, step);
}

static void transform_channels(const win_job *w, int64_t panel_at, int64_t c0, int64_t c1, char *points)
{
    sp__winograd_panel panel;
    panel_of(w, panel_at * w->columns, &panel);
    for (int64_t c = c0; c < c1; c++)
        transform(w, w->job->kernels->win_input, &panel, &w->in, w->job->x, c, points + c * w->columns * w->size,
                  w->job->ic_g * w->columns);
}

/* --- weights ----------------------------------------------------------------------------------------------------- */

static int64_t weights_bytes(const win_job *w)
{
    return SP_WIN_POINTS * w->m_panels * w->rows * w->job->ic_g * w->size;
}

/* A task: a panel of out channels with some in channels. */
static void weight_tasks(void *context, int64_t begin, int64_t end)
{
    const win_job *w = context;
    const sp__conv_job *job = w->job;
    int64_t rows = w->rows, size = w->size, steps = ceil_div(job->ic_g, CHANNELS_STEP);
    char *const taps = sp__scratch_take((9 * CHANNELS_STEP * SP_GEMM_ROWS + 32) * 8);
    for (int64_t t = begin; t < end; t++) {
        int64_t row = t / steps * rows, m = min_i64(rows, job->oc_g - row);
        int64_t c0 = t % steps * CHANNELS_STEP, n = min_i64(CHANNELS_STEP, job->ic_g - c0);
        if (!job->mirrored) {
            job->kernels->pack(9 * n, m, rows, job->weight + (row * job->k + 9 * c0) * size, 1, job->k, taps);
        } else { /* weight is [ic, oc, taps] from here; taps backwards */
            for (int64_t c = 0; c < n; c++)
                job->kernels->pack(9, m, rows, job->weight + (((c0 + c) * job->oc_g + row) * 9 + 8) * size, -1, 9,
                                   taps + c * 9 * rows * size);
        }
        memset(taps + n * 9 * rows * size, 0, 32 * (size_t)size);
        job->kernels->win_weight(n, taps, w->weights_to + (row * job->ic_g + c0 * rows) * size,
                                 w->m_panels * rows * job->ic_g);
    }
    sp__scratch_give(taps);
}

static sp_status make_weights(win_job *w, char *to)
{
    int64_t steps = ceil_div(w->job->ic_g, CHANNELS_STEP);
    w->weights_to = to;
    w->weights = to;
    return sp__parallel_for(w->m_panels * steps, 8, weight_tasks, w);
}

static bool weights_fit(const sp__conv_job *job)
{
    return job->kernels->win_fits(job->oc_g * job->k, job->weight, LARGEST_EXPONENT);
}

/* Plain images are turned by squares of 16 x 16, which AVX-512 alone does quickly. */
static bool by_blocks(const sp__conv_job *job)
{
    return sp__winograd_blocks_takes(job) && job->kernels->lanes == SP_BLOCK;
}

size_t sp__winograd_prepared_bytes(const sp__conv_job *job)
{
    win_job w;
    if (by_blocks(job)) return PREPARED_HEAD + sp__winograd_blocks_weights_bytes(job);
    measure((sp__conv_job *)(uintptr_t)job, &w);
    return PREPARED_HEAD + aligned((size_t)weights_bytes(&w));
}

sp_status sp__winograd_prepare(sp__conv_job *job, void *to)
{
    win_job w;
    measure(job, &w);
    memset(to, 0, PREPARED_HEAD);
    *(char *)to = weights_fit(job);
    if (by_blocks(job)) return sp__winograd_blocks_weights(job, (char *)to + PREPARED_HEAD);
    return make_weights(&w, (char *)to + PREPARED_HEAD);
}

/* --- forward ----------------------------------------------------------------------------------------------------- */

/* Channels of row panels [m0, m1) for the tiles of one panel. */
static void multiply(const win_job *w, int64_t panel_at, const char *points, int64_t m0, int64_t m1)
{
    const sp__conv_job *job = w->job;
    const sp__gemm_kernels *kernels = job->kernels;
    int64_t rows = w->rows, columns = w->columns, size = w->size, point_step = w->m_panels * rows * job->ic_g;
    const size_t sums_bytes = SP_WIN_POINTS * SP_GEMM_ROWS * 128; /* rows of two vectors: 128 bytes at most */
    char *const sums = sp__scratch_take(sums_bytes);
    sp__winograd_panel panel;
    panel_of(w, panel_at * columns, &panel);
    bool two = panel.n > kernels->lanes;
    if (!two) memset(sums, 0, sums_bytes);
    for (int64_t i = m0; i < m1; i++) {
        int64_t channel = i * rows, m = min_i64(rows, job->oc_g - channel);
        for (int64_t f = 0; f < SP_WIN_POINTS; f++)
            for (int64_t p = 0; p < job->ic_g; p += kernels->k_block)
                kernels->packed[two][m - 1](min_i64(kernels->k_block, job->ic_g - p),
                                            w->weights + (f * point_step + i * rows * job->ic_g + p * rows) * size, 1,
                                            rows, points + (f * job->ic_g + p) * columns * size, columns,
                                            sums + f * rows * columns * size, columns, two ? columns : kernels->lanes,
                                            p > 0);
        kernels->win_output(&panel, &w->out, m, sums, job->bias ? job->bias + channel * size : NULL,
                            job->out + channel * job->positions * size);
        for (int r = 0; job->epilogue && r < panel.n_runs; r++) {
            const sp__winograd_run *run = &panel.runs[r];
            int64_t n = min_i64(2 * run->n, w->out.size[1] - run->x), height = min_i64(2, w->out.size[0] - run->y);
            int64_t start =
                run->image * w->out.image_step + channel * job->positions + run->y * w->out.size[1] + run->x;
            if (n == w->out.size[1]) n *= height, height = 1; /* whole rows lie together */
            for (int64_t y = 0; y < height; y++)
                job->epilogue->fn(job->epilogue->context, start + y * w->out.size[1], m, job->positions, n);
        }
    }
    sp__scratch_give(sums);
}

static int64_t task_panels(const win_job *w) { return ceil_div(w->panels, TASKS_MAX); }

static void many_tasks(void *context, int64_t begin, int64_t end)
{
    const win_job *w = context;
    for (int64_t t = begin; t < end; t++) {
        char *points = w->points + t * w->panel_bytes;
        for (int64_t p = t * task_panels(w); p < min_i64((t + 1) * task_panels(w), w->panels); p++) {
            transform_channels(w, p, 0, w->job->ic_g, points);
            multiply(w, p, points, 0, w->m_panels);
        }
    }
}

static void few_transform(void *context, int64_t begin, int64_t end)
{
    const win_job *w = context;
    int64_t steps = ceil_div(w->job->ic_g, CHANNELS_STEP);
    for (int64_t t = begin; t < end; t++)
        transform_channels(w, t / steps, t % steps * CHANNELS_STEP,
                           min_i64((t % steps + 1) * CHANNELS_STEP, w->job->ic_g),
                           w->points + t / steps * w->panel_bytes);
}

static void few_multiply(void *context, int64_t begin, int64_t end)
{
    const win_job *w = context;
    for (int64_t t = begin; t < end; t++) {
        int64_t panel = t / w->m_panels, i = t % w->m_panels;
        multiply(w, panel, w->points + panel * w->panel_bytes, i, i + 1);
    }
}

typedef struct scan {
    const win_job *w;
    const char *data;
    atomic_bool *unfit;
} scan;

static void scan_tasks(void *context, int64_t begin, int64_t end)
{
    const scan *s = context;
    if (!s->w->job->kernels->win_fits(end - begin, s->data + begin * s->w->size, LARGEST_EXPONENT))
        atomic_store(s->unfit, true);
}

static sp_status scan_for_range(win_job *w, const char *data, int64_t n)
{
    scan s = {.w = w, .data = data, .unfit = &w->unfit};
    SP_TRY(sp__parallel_for(n, 1 << 16, scan_tasks, &s));
    return atomic_load(&w->unfit) ? SP_DECLINED : SP_OK;
}

size_t sp__winograd_work(const sp__conv_job *job)
{
    win_job w;
    if (by_blocks(job))
        return (job->prepared ? 0 : sp__winograd_blocks_weights_bytes(job)) + sp__winograd_blocks_work(job);
    measure((sp__conv_job *)(uintptr_t)job, &w);
    int64_t slots = w.panels <= PANELS_FEW ? w.panels : ceil_div(w.panels, task_panels(&w));
    return (job->prepared ? 0 : aligned((size_t)weights_bytes(&w))) + (size_t)(slots * w.panel_bytes);
}

static sp_status forward_blocks(sp__conv_job *job, char *work)
{
    sp__winograd_blocks b = {.conv = job,
                             .x = (const float *)(const void *)job->x,
                             .result = (float *)(void *)job->out,
                             .epilogue = job->epilogue,
                             .tail.bias = (const float *)(const void *)job->bias};
    if (job->prepared) {
        b.weights = (const float *)(const void *)(job->prepared + PREPARED_HEAD);
    } else {
        SP_TRY(sp__winograd_blocks_weights(job, work));
        b.weights = (const float *)(const void *)work;
        work += sp__winograd_blocks_weights_bytes(job);
    }
    return sp__winograd_blocks_forward(&b, work);
}

sp_status sp__winograd_forward(sp__conv_job *job, char *work)
{
    win_job w;
    measure(job, &w);
    if (job->prepared ? !job->prepared[0] : !weights_fit(job)) return SP_DECLINED;
    if (by_blocks(job)) return forward_blocks(job, work);
    SP_TRY(scan_for_range(&w, job->x, job->g.batch * w.in.image_step));
    w.points = work;
    if (job->prepared) {
        w.weights = job->prepared + PREPARED_HEAD;
    } else {
        SP_TRY(make_weights(&w, work));
        w.points += aligned((size_t)weights_bytes(&w));
    }
    if (w.panels > PANELS_FEW) return sp__parallel_for(ceil_div(w.panels, task_panels(&w)), 1, many_tasks, &w);
    SP_TRY(sp__parallel_for(w.panels * ceil_div(job->ic_g, CHANNELS_STEP), 2, few_transform, &w));
    double flops = 2.0 * SP_WIN_POINTS * (double)(w.rows * w.columns * job->ic_g);
    return sp__parallel_for(w.panels * w.m_panels,
                            flops >= SP_CONV_TASK_FLOPS ? 1 : (int64_t)(SP_CONV_TASK_FLOPS / flops) + 1, few_multiply,
                            &w);
}

/* --- gradient by weight ------------------------------------------------------------------------------------------ */

static void measure_weight(sp__conv_job *job, win_job *w)
{
    measure(job, w);
    int64_t bytes = SP_WIN_POINTS * w->size * (job->ic_g + job->oc_g);
    int64_t block = min_i64(max_i64(BLOCK_BYTES / bytes, w->columns), BLOCK_TILES) / w->columns * w->columns;
    w->block = min_i64(block, w->panels * w->columns);
    /* 16 elements more: not a power of two apart, else rows and points would fall onto each other in the cache */
    w->a_row = by_blocks(job) ? 1 : w->block + 16;
    w->a_col = by_blocks(job) ? SP_BLOCK : 1;
    w->a_point = by_blocks(job) ? w->block * SP_BLOCK + 16 : w->rows * w->a_row;
    w->a_bytes = SP_WIN_POINTS * w->a_point * w->size;
    w->b_point = w->block * w->columns + 16;
    w->b_bytes = SP_WIN_POINTS * w->b_point * w->size;
    w->sums_bytes = SP_WIN_POINTS * w->rows * w->columns * w->size;
}

/* The same with channels across: nothing is left to turn. */
static void gather_blocks(const win_job *w, int64_t item, int64_t at)
{
    const sp__conv_job *job = w->job;
    const int64_t t0 = w->first + at, t1 = min_i64(t0 + w->columns, w->first + w->n);
    if (item >= w->n_panels) {
        const int64_t first = (item - w->n_panels) * w->rows;
        float *to = (float *)(void *)(w->a + (item - w->n_panels) * w->a_bytes) + at * SP_BLOCK;
        sp__winograd_blocks_dout(job, t0, t1, first, min_i64(w->rows, job->oc_g - first), to, w->a_point, SP_BLOCK);
        return;
    }
    for (int64_t c = 0; c < w->columns; c += SP_BLOCK) {
        const int64_t first = item * w->columns + c;
        float *to = (float *)(void *)(w->b + item * w->b_bytes) + at * w->columns + c;
        if (first < job->ic_g)
            sp__winograd_blocks_input(job, t0, t1, first, min_i64(SP_BLOCK, job->ic_g - first), to, w->b_point,
                                      w->columns);
    }
}

/* One panel of tiles: an item is a panel of in channels, turned so that these lie side by side, or one of out channels as it comes. */
static void gather_tasks(void *context, int64_t begin, int64_t end)
{
    const win_job *w = context;
    const sp__conv_job *job = w->job;
    int64_t size = w->size, columns = w->columns, items = w->n_panels + w->m_panels, square = columns * columns;
    char *const turned =
        sp__scratch_take(SP_WIN_POINTS * SP_WIN_TILES * SP_WIN_TILES * 4); /* fewer tiles where elements are larger */
    for (int64_t t = begin; t < end; t++) {
        int64_t item = t % items, at = t / items * columns;
        if (by_blocks(job)) {
            gather_blocks(w, item, at);
            continue;
        }
        sp__winograd_panel panel;
        panel_of(w, w->first + at, &panel);
        if (item < w->n_panels) {
            int64_t first = item * columns, n = min_i64(columns, job->ic_g - first);
            for (int64_t c = 0; c < n; c++)
                transform(w, job->kernels->win_input, &panel, &w->in, job->x, first + c, turned + c * columns * size,
                          square);
            for (int64_t f = 0; f < SP_WIN_POINTS; f++)
                job->kernels->pack(columns, n, columns, turned + f * square * size, 1, columns,
                                   w->b + item * w->b_bytes + (f * w->b_point + at * columns) * size);
        } else {
            int64_t first = (item - w->n_panels) * w->rows, n = min_i64(w->rows, job->oc_g - first);
            for (int64_t c = 0; c < n; c++)
                transform(w, job->kernels->win_dout, &panel, &w->out, job->dout, first + c,
                          w->a + (item - w->n_panels) * w->a_bytes + (c * w->a_row + at) * size, w->a_point);
        }
    }
    sp__scratch_give(turned);
}

/* A task: a panel of in channels with one of out channels. */
static void sum_tasks(void *context, int64_t begin, int64_t end)
{
    const win_job *w = context;
    const sp__conv_job *job = w->job;
    int64_t size = w->size, rows = w->rows, columns = w->columns;
    bool whole = w->n == w->tiles, last = w->first + w->n == w->tiles;
    char *const here = sp__scratch_take(SP_WIN_POINTS * SP_GEMM_ROWS * 128);
    for (int64_t t = begin; t < end; t++) {
        int64_t i = t % w->m_panels, j = t / w->m_panels, m = min_i64(rows, job->oc_g - i * rows),
                n = min_i64(columns, job->ic_g - j * columns);
        char *sums = whole ? here : w->sums + t * w->sums_bytes;
        for (int64_t f = 0; f < SP_WIN_POINTS; f++)
            job->kernels->direct[1][m - 1](w->n, w->a + i * w->a_bytes + f * w->a_point * size, w->a_row, w->a_col,
                                           w->b + j * w->b_bytes + f * w->b_point * size, columns,
                                           sums + f * rows * columns * size, columns, columns, w->first > 0);
        if (last) job->kernels->win_taps(m, n, sums, job->out + (i * rows * job->k + j * columns * 9) * size, job->k);
    }
    sp__scratch_give(here);
}

size_t sp__winograd_weight_work(const sp__conv_job *job)
{
    win_job w;
    measure_weight((sp__conv_job *)(uintptr_t)job, &w);
    int64_t sums = w.block >= w.tiles ? 0 : w.m_panels * w.n_panels * w.sums_bytes;
    return (size_t)(w.m_panels * w.a_bytes + w.n_panels * w.b_bytes + sums);
}

sp_status sp__winograd_weight(sp__conv_job *job, char *work)
{
    win_job w;
    measure_weight(job, &w);
    SP_TRY(scan_for_range(&w, job->x, job->g.batch * w.in.image_step));
    SP_TRY(scan_for_range(&w, job->dout, job->g.batch * w.out.image_step));
    w.a = work;
    w.b = w.a + w.m_panels * w.a_bytes;
    w.sums = w.b + w.n_panels * w.b_bytes;
    for (w.first = 0; w.first < w.tiles; w.first += w.block) {
        w.n = min_i64(w.block, w.tiles - w.first);
        SP_TRY(sp__parallel_for(ceil_div(w.n, w.columns) * (w.n_panels + w.m_panels), 1, gather_tasks, &w));
        SP_TRY(sp__parallel_for(w.m_panels * w.n_panels, 1, sum_tasks, &w));
    }
    return SP_OK;
}
