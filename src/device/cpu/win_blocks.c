/* SPDX-License-Identifier: Apache-2.0 */
/* win_blocks.c - see win_blocks.h. The tiles of all images, numbered row by row, are cut into parts. Of a part, B' d B is [point][block of in channels][tile][16]: its rows are
 * broadcast against weights [point][panel of out channels][in channel][columns], and A' m A of the sums is stored while these are in the first cache.
 *
 *   many parts   a task takes some, one after the other, in scratch of its own
 *   few          all are transformed first; a task multiplies one part with one panel, so that there is enough to share
 *
 * An element is summed by one thread over in channels in their order: the sums of conv_winograd.c. */
#include <stdatomic.h>

#include "base/scratch.h"
#include "device/cpu/win_blocks.h"

enum {
    PATCH_BYTES = 320 * 1024, /* of transformed tiles that a task keeps at a time: they stay in the second cache */
    SLOTS_MAX = 16,           /* pieces of such scratch */
    TILE_FLOATS = SP_GEMM_POINTS * 32,
    RUN_TILES = 2 * SP_GEMM_POINTS,
    CHANNELS_STEP = 16,    /* channels whose weights a task transforms */
    LARGEST_EXPONENT = 56, /* as in conv_winograd.c */
};

typedef struct win_job {
    const sp__winograd_blocks *b;
    const sp__conv_job *conv;
    const sp__block_kernels *kernels;
    int64_t columns, panels, blocks;
    int64_t tiles_y, tiles_x, tiles, part, parts; /* of an image; of all images; tiles of a part */
    int64_t point_step, tile_step, patch_floats;
    int64_t x_image, out_image;
    int64_t *offsets;
    float *patches, *weights_to;
    atomic_bool unfit;
} win_job;

static void plan(const sp__conv_job *conv, win_job *j)
{
    const sp__window *w = &conv->g.w;
    const int64_t points = conv->kernels->points_max;
    *j = (win_job){.conv = conv,
                   .kernels = sp__blocks_find(),
                   .columns = conv->kernels->columns,
                   .blocks = sp__blocks_of(conv->ic_g)};
    j->panels = ceil_div(conv->oc_g, j->columns);
    j->tiles_y = ceil_div(w->out[1], 2);
    j->tiles_x = ceil_div(w->out[2], 2);
    const int64_t tile_bytes = SP_WIN_POINTS * j->blocks * SP_BLOCK * 4;
    j->tiles = conv->g.batch * j->tiles_y * j->tiles_x;
    j->part = max_i64(points, min_i64(PATCH_BYTES / tile_bytes, ceil_div(j->tiles, SLOTS_MAX)) / points * points);
    if (j->tiles < 4 * j->part)
        j->part = ceil_div(j->tiles, max_i64(1, j->tiles / j->part)); /* none with a few tiles only */
    j->parts = ceil_div(j->tiles, j->part);
    j->point_step = j->blocks * j->part * SP_BLOCK;
    j->tile_step = SP_BLOCK;
    j->patch_floats = SP_WIN_POINTS * j->point_step;
}

bool sp__winograd_blocks_takes(const sp__conv_job *conv)
{
    return conv->dtype == SP_DTYPE_F32 && conv->kernels->columns % SP_BLOCK == 0;
}

/* --- weights -------------------------------------------------------------------------------------------------------- */

/* A task: a panel of out channels with some in channels. */
static void weight_tasks(void *context, int64_t begin, int64_t end)
{
    const win_job *j = context;
    const sp__conv_job *c = j->conv;
    const int64_t columns = j->columns, steps = ceil_div(c->ic_g, CHANNELS_STEP);
    float *const taps = sp__scratch_take(9 * CHANNELS_STEP * 32 * sizeof *taps);
    for (int64_t t = begin; t < end; t++) {
        const int64_t row = t / steps * columns, m = min_i64(columns, c->oc_g - row);
        const int64_t c0 = t % steps * CHANNELS_STEP, n = min_i64(CHANNELS_STEP, c->ic_g - c0);
        const float *weight = (const float *)(const void *)c->weight;
        if (!c->mirrored) {
            c->kernels->pack(9 * n, m, columns, weight + row * c->k + 9 * c0, 1, c->k, taps);
        } else { /* weight is [ic, oc, taps] from here; taps backwards */
            for (int64_t i = 0; i < n; i++)
                c->kernels->pack(9, m, columns, weight + ((c0 + i) * c->oc_g + row) * 9 + 8, -1, 9,
                                 taps + i * 9 * columns);
        }
        j->kernels->win_weight(n, columns, taps, j->weights_to + (t / steps * c->ic_g + c0) * columns,
                               j->panels * columns * c->ic_g);
    }
    sp__scratch_give(taps);
}

size_t sp__winograd_blocks_weights_bytes(const sp__conv_job *conv)
{
    return aligned(
        (size_t)(SP_WIN_POINTS * ceil_div(conv->oc_g, conv->kernels->columns) * conv->kernels->columns * conv->ic_g) *
        4);
}

sp_status sp__winograd_blocks_weights(const sp__conv_job *conv, void *to)
{
    win_job j;
    plan(conv, &j);
    j.weights_to = to;
    return sp__parallel_for(j.panels * ceil_div(conv->ic_g, CHANNELS_STEP), 4, weight_tasks, &j);
}

/* --- one part ------------------------------------------------------------------------------------------------------- */

/* Tiles from t on that lie in one row of tiles of an image, before `end`, not too many. */
static int64_t next_run(const win_job *j, int64_t t, int64_t end, int64_t *image, sp__block_run *run)
{
    const int64_t row = t / j->tiles_x, x = t % j->tiles_x;
    *image = row / j->tiles_y;
    *run = (sp__block_run){
        .y = 2 * (row % j->tiles_y), .x = 2 * x, .n = min_i64(min_i64(j->tiles_x - x, end - t), RUN_TILES)};
    return t + run->n;
}

/* The tiles of a run from a plain image: what they see of a block of channels is put into blocks first. */
static void transform_plain(const win_job *j, const sp__block_run *run, const float *x, int64_t channels, float *points)
{
    const sp__window *w = &j->conv->g.w;
    float *const seen = sp__scratch_take(4 * (2 * RUN_TILES + 2) * SP_BLOCK * sizeof *seen);
    const int64_t x0 = run->x - w->pad[2], y0 = run->y - w->pad[1], from = max_i64(x0, 0),
                  n = min_i64(w->in[2], x0 + 2 * run->n + 2) - from;
    const int64_t above = max_i64(-y0, 0), below = min_i64(w->in[1] - y0, 4),
                  plane = w->in[1] * w->in[2]; /* rows of the image */
    if (n > 0 && (above > 0 || below < 4)) memset(seen, 0, (size_t)(4 * n * SP_BLOCK) * 4);
    if (n == w->in[2] && below > above) { /* whole rows lie together */
        j->kernels->gather((below - above) * n, channels, x + (y0 + above) * n, plane, seen + above * n * SP_BLOCK);
    } else {
        for (int64_t a = above; n > 0 && a < below; a++)
            j->kernels->gather(n, channels, x + (y0 + a) * w->in[2] + from, plane, seen + a * n * SP_BLOCK);
    }
    sp__window local = *w;
    local.in[1] = 4;
    local.in[2] = max_i64(n, 0);
    local.pad[1] = 0;
    local.pad[2] = from - x0;
    j->kernels->win_input(&(sp__block_run){.n = run->n}, &local, seen, points, j->point_step, j->tile_step);
    sp__scratch_give(seen);
}

static void transform_part(const win_job *j, int64_t t0, int64_t t1, int64_t block, float *patch)
{
    const sp__window *w = &j->conv->g.w;
    const int64_t plane = w->in[1] * w->in[2], channels = min_i64(SP_BLOCK, j->conv->ic_g - block * SP_BLOCK);
    sp__block_run run;
    for (int64_t t = t0, next, image; t < t1; t = next) {
        next = next_run(j, t, t1, &image, &run);
        const float *x = j->b->x + image * j->x_image + block * SP_BLOCK * plane;
        float *points = patch + (block * j->part + t - t0) * SP_BLOCK;
        if (j->b->in) j->kernels->win_input(&run, w, x, points, j->point_step, j->tile_step);
        else transform_plain(j, &run, x, channels, points);
    }
}

/* The results of a run in a plain image, `n` channels from `channel` on. */
static void store_plain(const win_job *j, const sp__block_run *run, int64_t image, int64_t channel, int64_t n,
                        const float *sums, const sp__block_tail *tail)
{
    const sp__window *w = &j->conv->g.w;
    const int64_t positions = j->conv->positions, first = image * j->out_image + channel * positions;
    float *const made = sp__scratch_take(32 * 2 * 2 * RUN_TILES * sizeof *made);
    sp__window local = *w;
    local.out[1] = min_i64(2, w->out[1] - run->y);
    local.out[2] = min_i64(2 * run->n, w->out[2] - run->x);
    const int64_t block_step = local.out[1] * local.out[2] * SP_BLOCK;
    j->kernels->win_output(&(sp__block_run){.n = run->n}, &local, n, sums, 2 * TILE_FLOATS, j->columns, tail, NULL,
                           made, block_step);
    const bool whole = local.out[2] == w->out[2]; /* rows lie together */
    const int64_t rows = whole ? 1 : local.out[1], length = whole ? local.out[1] * local.out[2] : local.out[2];
    for (int64_t y = 0; y < rows; y++) {
        const int64_t at = (run->y + y) * w->out[2] + run->x;
        for (int64_t c = 0; c < n; c += SP_BLOCK)
            j->kernels->scatter(length, min_i64(SP_BLOCK, n - c),
                                made + c / SP_BLOCK * block_step + y * length * SP_BLOCK,
                                j->b->result + first + c * positions + at, positions);
        if (j->b->epilogue) j->b->epilogue->fn(j->b->epilogue->context, first + at, n, positions, length);
    }
    sp__scratch_give(made);
}

/* The same in blocks; to: the number of their first element. */
static void store_blocked(const win_job *j, const sp__block_run *run, int64_t to, int64_t n, const float *sums,
                          const sp__block_tail *tail)
{
    const sp__window *w = &j->conv->g.w;
    const int64_t block_step = j->conv->positions * SP_BLOCK,
                  length = min_i64(2 * run->n, w->out[2] - run->x) * SP_BLOCK;
    j->kernels->win_output(run, w, n, sums, 2 * TILE_FLOATS, j->columns, tail,
                           j->b->residual ? j->b->residual + to : NULL, j->b->result + to, block_step);
    for (int64_t y = run->y; j->b->epilogue && y < min_i64(run->y + 2, w->out[1]); y++)
        j->b->epilogue->fn(j->b->epilogue->context, to + (y * w->out[2] + run->x) * SP_BLOCK, sp__blocks_of(n),
                           block_step, length);
}

static sp__block_tail tail_from(const win_job *j, int64_t channel)
{
    sp__block_tail t = j->b->tail;
    if (t.bias) t.bias += channel;
    if (t.scale) t.scale += channel, t.shift += channel;
    if (t.slope) t.slope += channel;
    return t;
}

static void multiply_part(const win_job *j, int64_t t0, int64_t t1, const float *patch, int64_t panel)
{
    const sp__conv_job *c = j->conv;
    const sp__gemm_kernels *kernels = c->kernels;
    const int64_t n_tiles = t1 - t0, chunks = ceil_div(n_tiles, kernels->points_max),
                  step = j->panels * j->columns * c->ic_g;
    const int64_t channel = panel * j->columns, n = min_i64(j->columns, c->oc_g - channel);
    const sp__block_tail tail = tail_from(j, channel);
    float *const sums = sp__scratch_take(SP_WIN_POINTS * 2 * TILE_FLOATS * sizeof *sums);
    for (int64_t i = 0; i < chunks; i += 2) { /* two at a time: they share the weights of a point */
        const int64_t end = min_i64(i + 2, chunks), q0 = i * n_tiles / chunks, q1 = end * n_tiles / chunks;
        for (int64_t f = 0; f < SP_WIN_POINTS; f++)
            for (int64_t h = i; h < end; h++) {
                const int64_t q = h * n_tiles / chunks, rows = (h + 1) * n_tiles / chunks - q;
                for (int64_t p = 0; p < c->ic_g; p += kernels->k_block)
                    kernels->points[n > kernels->lanes][rows - 1](
                        min_i64(kernels->k_block, c->ic_g - p), patch + f * j->point_step + q * SP_BLOCK, SP_BLOCK,
                        j->offsets + p, j->b->weights + f * step + (panel * c->ic_g + p) * j->columns,
                        sums + 2 * f * TILE_FLOATS + (q - q0) * j->columns, p > 0);
            }
        sp__block_run run;
        for (int64_t t = t0 + q0, next, image; t < t0 + q1; t = next) {
            next = next_run(j, t, t0 + q1, &image, &run);
            const int64_t to = image * j->out_image + channel * c->positions;
            const float *from = sums + (t - t0 - q0) * j->columns;
            if (j->b->out) store_blocked(j, &run, to, n, from, &tail);
            else store_plain(j, &run, image, channel, n, from, &tail);
        }
    }
    sp__scratch_give(sums);
}

/* --- for the gradient by weight ------------------------------------------------------------------------------------- */

void sp__winograd_blocks_input(const sp__conv_job *conv, int64_t t0, int64_t t1, int64_t channel, int64_t n,
                               float *points, int64_t step, int64_t tile_step)
{
    win_job j;
    plan(conv, &j);
    j.point_step = step;
    j.tile_step = tile_step;
    const int64_t plane = conv->g.w.in[1] * conv->g.w.in[2];
    const float *x = (const float *)(const void *)conv->x + channel * plane;
    sp__block_run run;
    for (int64_t t = t0, next, image; t < t1; t = next) {
        next = next_run(&j, t, t1, &image, &run);
        transform_plain(&j, &run, x + image * conv->ic_g * plane, n, points + (t - t0) * tile_step);
    }
}

void sp__winograd_blocks_dout(const sp__conv_job *conv, int64_t t0, int64_t t1, int64_t channel, int64_t n,
                              float *points, int64_t step, int64_t tile_step)
{
    const sp__window *w = &conv->g.w;
    win_job j;
    plan(conv, &j);
    const float *dout = (const float *)(const void *)conv->dout + channel * conv->positions;
    _Alignas(64) float seen[2 * 2 * RUN_TILES * SP_BLOCK];
    sp__block_run run;
    for (int64_t t = t0, next, image; t < t1; t = next) {
        next = next_run(&j, t, t1, &image, &run);
        const int64_t length = 2 * run.n, height = min_i64(2, w->out[1] - run.y),
                      width = min_i64(length, w->out[2] - run.x);
        const float *from = dout + image * conv->oc_g * conv->positions + run.y * w->out[2] + run.x;
        if (height < 2 || width < length) memset(seen, 0, (size_t)(2 * length * SP_BLOCK) * 4);
        if (width == w->out[2] && width == length) { /* whole rows lie together */
            j.kernels->gather(height * width, n, from, conv->positions, seen);
        } else {
            for (int64_t y = 0; y < height; y++)
                j.kernels->gather(width, n, from + y * w->out[2], conv->positions, seen + y * length * SP_BLOCK);
        }
        j.kernels->win_dout(run.n, seen, points + (t - t0) * tile_step, step, tile_step);
    }
}

/* --- all of them ---------------------------------------------------------------------------------------------------- */

static int64_t part_end(const win_job *j, int64_t part) { return min_i64((part + 1) * j->part, j->tiles); }

static void many_tasks(void *context, int64_t begin, int64_t end)
{
    const win_job *j = context;
    for (int64_t task = begin; task < end; task++) {
        float *patch = j->patches + task * j->patch_floats;
        for (int64_t part = task * j->parts / SLOTS_MAX; part < (task + 1) * j->parts / SLOTS_MAX; part++) {
            for (int64_t b = 0; b < j->blocks; b++) transform_part(j, part * j->part, part_end(j, part), b, patch);
            for (int64_t p = 0; p < j->panels; p++) multiply_part(j, part * j->part, part_end(j, part), patch, p);
        }
    }
}

static void few_transform(void *context, int64_t begin, int64_t end)
{
    const win_job *j = context;
    for (int64_t i = begin; i < end; i++) {
        const int64_t part = i / j->blocks;
        transform_part(j, part * j->part, part_end(j, part), i % j->blocks, j->patches + part * j->patch_floats);
    }
}

static void few_multiply(void *context, int64_t begin, int64_t end)
{
    const win_job *j = context;
    for (int64_t i = begin; i < end; i++) {
        const int64_t part = i % j->parts;
        multiply_part(j, part * j->part, part_end(j, part), j->patches + part * j->patch_floats, i / j->parts);
    }
}

static void scan_tasks(void *context, int64_t begin, int64_t end)
{
    win_job *j = context;
    if (!j->conv->kernels->win_fits(end - begin, j->b->x + begin, LARGEST_EXPONENT)) atomic_store(&j->unfit, true);
}

size_t sp__winograd_blocks_work(const sp__conv_job *conv)
{
    win_job j;
    plan(conv, &j);
    return aligned((size_t)conv->ic_g * sizeof(int64_t)) +
           aligned((size_t)(min_i64(j.parts, SLOTS_MAX) * j.patch_floats) * 4);
}

sp_status sp__winograd_blocks_forward(const sp__winograd_blocks *b, void *work)
{
    const sp__conv_job *c = b->conv;
    win_job j;
    plan(c, &j);
    j.b = b;
    j.x_image = (b->in ? j.blocks * SP_BLOCK : c->ic_g) * c->g.w.in[1] * c->g.w.in[2];
    j.out_image = (b->out ? sp__blocks_of(c->oc_g) * SP_BLOCK : c->oc_g) * c->positions;
    SP_TRY(sp__parallel_for(c->g.batch * j.x_image, 1 << 14, scan_tasks, &j));
    if (atomic_load(&j.unfit)) return SP_DECLINED;
    j.offsets = work;
    j.patches = (float *)(void *)((char *)work + aligned((size_t)c->ic_g * sizeof(int64_t)));
    for (int64_t p = 0; p < c->ic_g; p++) j.offsets[p] = p / SP_BLOCK * j.part * SP_BLOCK + p % SP_BLOCK;
    if (j.parts > SLOTS_MAX) return sp__parallel_for(SLOTS_MAX, 1, many_tasks, &j);
    SP_TRY(sp__parallel_for(j.parts * j.blocks, 2, few_transform, &j));
    return sp__parallel_for(j.parts * j.panels, 1, few_multiply, &j);
}
