/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_conv_bytes.c - conv_bytes without a copy of its windows: images lie in blocks of channels (device/blocked.h), each kernel element of each four
 * channels is one step of dots.h, and sums become bytes before they leave the cache.
 *
 * With x and w as dots.h reads them (x unsigned, w signed, zero points shifted likewise), K products a sum:
 *     sum (x - zx)(w - zw) = sum x w - zx sum w - zw (sum x - K zx)
 * The second term is part of the bias. The third is there for zero points of weights only: a tile of ones gives the sum of x.
 *
 * Plain images are brought into blocks, and results back; padding is filled with the zero point in the same copy. */
#include "device/cpu/blocks.h"
#include "device/cpu/bytes_turn.h"
#include "device/cpu/conv_job.h"
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/dots.h"

enum { TASKS_WANTED = 16, NEAR_BYTES = 320 * 1024 };
#define TASK_PRODUCTS 2e6 /* what is worth a task of its own */

typedef struct bytes_plan {
    const sp__dots_kernels *kernels;
    sp__conv_geometry g;
    bool in, out; /* blocked? */
    bool depthwise;
    int64_t ic_g, oc_g, in_blocks, out_blocks; /* of a group; of all channels of a depthwise one */
    int64_t groups, steps, taps, fours;
    int64_t padded[SP_SPATIAL], plane, positions;
    bool copies, flat;
    int64_t rows, width, chunks, units, panels; /* a flat image is one row */
    int64_t band, bands, slice, slices;
    size_t weights, sums;                      /* prepared: bytes of panels, of their sums */
    size_t x, results, offsets, numbers, ones; /* scratch */
} bytes_plan;

/* --- plan ------------------------------------------------------------------------------------------------------------ */

static bool is_depthwise(const sp__conv_geometry *g)
{
    return g->group > 1 && g->in_channels == g->group && g->out_channels == g->group && g->w.in[0] == 1 &&
           g->w.kernel[0] == 1 && g->w.out[0] == 1;
}

static bool is_flat(const sp__window *w)
{
    bool flat = true;
    for (int d = 0; d < SP_SPATIAL; d++)
        flat &= w->kernel[d] == 1 && w->stride[d] == 1 && w->pad[d] == 0 && w->pad_end[d] == 0;
    return flat;
}

/* Tasks: by positions where the image is larger than the weights, else by panels first. */
static void plan_tasks(bytes_plan *p)
{
    const int64_t images = p->g.batch * p->groups;
    const double products = (double)p->positions * (double)p->oc_g * (double)p->steps * 4,
                 x_bytes = (double)(p->in_blocks * SP_BLOCK * p->plane);
    const int64_t wanted = max_i64(1, min_i64(ceil_div(TASKS_WANTED, images), (int64_t)(products / TASK_PRODUCTS)));
    p->band = p->units;
    p->slice = p->panels;
    if ((double)p->weights / (double)p->groups > x_bytes) {
        p->slice = max_i64(1, p->panels / wanted);
        p->slices = ceil_div(p->panels, p->slice);
        p->band = ceil_div(p->units * p->slices, wanted);
    } else {
        const int64_t near = max_i64(1, (int64_t)(NEAR_BYTES / (x_bytes / (double)p->units + 1)));
        p->band = min_i64(ceil_div(p->units, wanted), near);
    }
    p->band = max_i64(1, min_i64(p->band, p->units));
    p->bands = ceil_div(p->units, p->band);
    p->slices = ceil_div(p->panels, p->slice);
}

static void plan(const sp__conv_geometry *g, bool in, bool out, size_t size, bytes_plan *p)
{
    const sp__window *w = &g->w;
    *p = (bytes_plan){.kernels = sp__dots_find(),
                      .g = *g,
                      .in = in,
                      .out = out,
                      .depthwise = is_depthwise(g),
                      .taps = sp__window_taps(w),
                      .positions = sp__window_positions(w)};
    p->groups = p->depthwise ? 1 : g->group;
    p->ic_g = g->in_channels / p->groups;
    p->oc_g = g->out_channels / p->groups;
    p->in_blocks = sp__blocks_of(p->ic_g);
    p->out_blocks = sp__blocks_of(p->oc_g);
    p->flat = is_flat(w);
    p->plane = 1;
    for (int d = 0; d < SP_SPATIAL; d++) {
        const bool pads = !p->depthwise && (w->pad[d] || w->pad_end[d]);
        p->padded[d] = pads ? w->pad[d] + w->in[d] + w->pad_end[d] : w->in[d];
        p->copies |= pads;
        p->plane *= p->padded[d];
    }
    p->x = !in || p->copies ? aligned((size_t)(g->batch * p->groups * p->in_blocks * p->plane * SP_BLOCK)) : 0;
    p->results = out ? 0 : aligned((size_t)(g->batch * p->groups * p->out_blocks * p->positions * SP_BLOCK) * size);
    p->sums = aligned((size_t)(p->groups * p->out_blocks * SP_BLOCK) * 4);
    p->numbers = 3 * p->sums; /* bias, zero points of weights, scales */
    p->fours = ceil_div(w->kernel[2], 4);
    if (p->depthwise) {
        p->steps = w->kernel[1] * p->fours;
        p->weights = aligned((size_t)(p->in_blocks * p->steps * SP_BLOCK) * 4);
        p->ones = aligned((size_t)(p->steps * SP_BLOCK) * 4);
        return;
    }
    p->steps = p->taps * ceil_div(p->ic_g, 4);
    p->weights = aligned((size_t)(p->groups * p->out_blocks * p->steps * SP_BLOCK) * 4);
    p->ones = aligned((size_t)(p->steps * SP_BLOCK) * 4);
    p->offsets = aligned((size_t)p->steps * 4);
    p->rows = p->flat ? 1 : w->out[0] * w->out[1];
    p->width = p->flat ? p->positions : w->out[2];
    p->chunks = ceil_div(p->width, p->kernels->rows);
    p->units = p->rows * p->chunks;
    p->panels = ceil_div(p->out_blocks, 2);
    plan_tasks(p);
}

static bool plan_plain(const sp_call *c, bytes_plan *p)
{
    sp__conv_geometry g;
    if (sp__conv_measure("conv_bytes", c->in[SP_BYTES_X], c->in[SP_BYTES_WEIGHT], c->attrs, &g) != SP_OK) return false;
    plan(&g, false, false, c->in[SP_BYTES_SCALE] ? 1 : 4, p);
    return true;
}

static void plan_blocked(const sp_call *c, bytes_plan *p)
{
    const sp_blocked *b = c->attrs;
    plan(&b->g, b->in, b->out, 1, p);
}

/* Offsets are int32. */
static bool is_small(const bytes_plan *p)
{
    return p->in_blocks * p->plane * SP_BLOCK < INT32_MAX && p->steps < INT32_MAX / 64;
}

bool sp__cpu_conv_bytes_takes(const sp_call *c)
{
    bytes_plan p;
    return c->in[SP_BYTES_X]->count && c->in[SP_BYTES_WEIGHT]->count && c->out[0]->count && plan_plain(c, &p) &&
           is_small(&p);
}

/* --- weights --------------------------------------------------------------------------------------------------------- */

typedef struct pack_job {
    const bytes_plan *p;
    const uint8_t *from;
    uint8_t flip;
    int8_t *to;
    uint32_t *sums;
} pack_job;

/* Channels of one block of outputs: [step][blocks of the panel][16][4]. */
static void pack_block(const pack_job *j, int64_t group, int64_t block)
{
    const bytes_plan *p = j->p;
    const int64_t fours = ceil_div(p->ic_g, 4), panel = block / 2, wide = min_i64(2, p->out_blocks - 2 * panel);
    int8_t *to = j->to + (group * p->out_blocks + 2 * panel) * p->steps * 64 + block % 2 * 64;
    uint32_t *sums = j->sums + (group * p->out_blocks + block) * SP_BLOCK;
    for (int64_t o = 0; o < SP_BLOCK; o++) {
        const int64_t channel = block * SP_BLOCK + o;
        const uint8_t *from = j->from + (group * p->oc_g + channel) * p->ic_g * p->taps;
        sums[o] = 0;
        for (int64_t tap = 0; tap < p->taps; tap++)
            for (int64_t c = 0; c < fours * 4; c++) {
                const bool real = channel < p->oc_g && c < p->ic_g;
                const int8_t w = real ? (int8_t)(from[c * p->taps + tap] ^ j->flip) : 0;
                to[((c / 4 * p->taps + tap) * wide) * 64 + o * 4 + c % 4] = w;
                sums[o] += (uint32_t)(int32_t)w;
            }
    }
}

static void pack_tasks(void *context, int64_t begin, int64_t end)
{
    const pack_job *j = context;
    for (int64_t i = begin; i < end; i++) pack_block(j, i / j->p->out_blocks, i % j->p->out_blocks);
}

/* [block][kernel row][fours][16][4] */
static void pack_depthwise(const pack_job *j)
{
    const bytes_plan *p = j->p;
    const int64_t across = p->g.w.kernel[2];
    memset(j->to, 0, p->weights);
    memset(j->sums, 0, p->sums);
    for (int64_t c = 0; c < p->g.group; c++)
        for (int64_t tap = 0; tap < p->taps; tap++) {
            const int8_t w = (int8_t)(j->from[c * p->taps + tap] ^ j->flip);
            const int64_t step = tap / across * p->fours + tap % across / 4;
            j->to[((c / SP_BLOCK * p->steps + step) * SP_BLOCK + c % SP_BLOCK) * 4 + tap % across % 4] = w;
            j->sums[c] += (uint32_t)(int32_t)w;
        }
}

static sp_status pack(const bytes_plan *p, const sp_tensor *weight, char *to)
{
    pack_job j = {.p = p,
                  .from = (const uint8_t *)weight->data,
                  .flip = weight->dtype == SP_DTYPE_U8 ? 0x80 : 0,
                  .to = (int8_t *)to,
                  .sums = (uint32_t *)(void *)(to + p->weights)};
    if (p->depthwise) {
        pack_depthwise(&j);
        return SP_OK;
    }
    return sp__parallel_for(p->groups * p->out_blocks, max_i64(1, 65536 / (p->steps * 64)), pack_tasks, &j);
}

/* --- images ---------------------------------------------------------------------------------------------------------- */

typedef struct image_job {
    const bytes_plan *p;
    const char *from;
    char *to;
    uint8_t fill;
    int64_t size; /* of an element of the result */
} image_job;

/* Plane i (of blocks) of x as the tiles read it: in blocks, with its padding. */
static void fill_tasks(void *context, int64_t begin, int64_t end)
{
    const image_job *j = context;
    const bytes_plan *p = j->p;
    const sp__window *w = &p->g.w;
    const int64_t plane = sp__window_inputs(w), wide = p->padded[2] * SP_BLOCK;
    for (int64_t i = begin; i < end; i++) {
        const int64_t image = i / p->in_blocks, block = i % p->in_blocks,
                      n = min_i64(SP_BLOCK, p->ic_g - block * SP_BLOCK);
        const uint8_t *from =
            (const uint8_t *)j->from + (p->in ? i * plane * SP_BLOCK : (image * p->ic_g + block * SP_BLOCK) * plane);
        uint8_t *to = (uint8_t *)j->to + i * p->plane * SP_BLOCK;
        if (p->copies) memset(to, j->fill, (size_t)(p->plane * SP_BLOCK));
        for (int64_t r = 0; r < w->in[0] * w->in[1]; r++) {
            const int64_t pads[2] = {p->copies ? w->pad[1] : 0, p->copies ? w->pad[2] : 0},
                          front = p->copies ? w->pad[0] : 0;
            uint8_t *row =
                to + ((r / w->in[1] + front) * p->padded[1] + r % w->in[1] + pads[0]) * wide + pads[1] * SP_BLOCK;
            if (p->in) memcpy(row, from + r * w->in[2] * SP_BLOCK, (size_t)(w->in[2] * SP_BLOCK));
            else sp__bytes_gather(w->in[2], n, from + r * w->in[2], plane, row);
        }
    }
}

static void empty_tasks(void *context, int64_t begin, int64_t end)
{
    const image_job *j = context;
    const bytes_plan *p = j->p;
    for (int64_t i = begin; i < end; i++) {
        const int64_t image = i / p->out_blocks, block = i % p->out_blocks,
                      n = min_i64(SP_BLOCK, p->oc_g - block * SP_BLOCK);
        const char *from = j->from + i * p->positions * SP_BLOCK * j->size;
        char *to = j->to + (image * p->oc_g + block * SP_BLOCK) * p->positions * j->size;
        if (j->size == 1) sp__bytes_scatter(p->positions, n, (const uint8_t *)from, (uint8_t *)to, p->positions);
        else
            sp__blocks_find()->scatter(p->positions, n, (const float *)(const void *)from, (float *)(void *)to,
                                       p->positions);
    }
}

/* --- products -------------------------------------------------------------------------------------------------------- */

typedef struct bytes_job {
    const bytes_plan *p;
    const uint8_t *x;
    const int8_t *weights, *ones;
    const int32_t *offsets;
    char *out;
    int64_t size; /* of an element of the result */
    bool flip;
    uint8_t x_zero;
    int32_t x_shift;
    sp__dots_tail tail;
} bytes_job;

static sp__dots_tail tail_from(const bytes_job *j, int64_t channel)
{
    sp__dots_tail t = j->tail;
    t.bias += channel;
    if (t.w_zero) t.w_zero += channel;
    if (t.scale) t.scale += channel;
    return t;
}

static void fill_offsets(const bytes_plan *p, int32_t *offsets)
{
    const sp__window *w = &p->g.w;
    for (int64_t f = 0; f < ceil_div(p->ic_g, 4); f++)
        for (int64_t tap = 0; tap < p->taps; tap++) {
            const int64_t a = tap / (w->kernel[1] * w->kernel[2]) * w->dilation[0],
                          b = tap / w->kernel[2] % w->kernel[1] * w->dilation[1];
            const int64_t at = (a * p->padded[1] + b) * p->padded[2] + tap % w->kernel[2] * w->dilation[2];
            *offsets++ = (int32_t)((f / 4 * p->plane + at) * SP_BLOCK + f % 4 * 4);
        }
}

/* [step][16][4]: 1 where there is a channel; for a depthwise convolution, where there is a tap. */
static void fill_ones(const bytes_plan *p, int8_t *ones)
{
    const int64_t across = p->g.w.kernel[2];
    for (int64_t s = 0; s < p->steps; s++)
        for (int64_t i = 0; i < 64; i++) {
            const int64_t number = p->depthwise ? s % p->fours * 4 + i % 4 : s / p->taps * 4 + i % 4;
            ones[s * 64 + i] = number < (p->depthwise ? across : p->ic_g);
        }
}

/* Units [u0, u1) of one image with panels [c0, c1). */
static void run_units(const bytes_job *j, int64_t image, int64_t u0, int64_t u1, int64_t c0, int64_t c1)
{
    const bytes_plan *p = j->p;
    const sp__window *w = &p->g.w;
    const int64_t group = image % p->groups, step = (p->flat ? 1 : w->stride[2]) * SP_BLOCK;
    const uint8_t *x = j->x + image * p->in_blocks * p->plane * SP_BLOCK;
    char *out = j->out + image * p->out_blocks * p->positions * SP_BLOCK * j->size;
    _Alignas(64) int32_t sums[SP_DOTS_ROWS * SP_DOTS_COLUMNS];
    int32_t window[SP_DOTS_ROWS];
    for (int64_t panel = c0; panel < c1; panel++) {
        const int blocks = (int)min_i64(2, p->out_blocks - 2 * panel);
        const sp__dots_tail tail = tail_from(j, (group * p->out_blocks + 2 * panel) * SP_BLOCK);
        sp__dots_tile t = {.step = step, .steps = p->steps, .offsets = j->offsets, .sums = sums};
        for (int64_t u = u0; u < u1; u++) {
            const int64_t r = u / p->chunks, i = u % p->chunks, q = i * p->width / p->chunks;
            const int rows = (int)((i + 1) * p->width / p->chunks - q);
            const int64_t top =
                p->flat ? 0
                        : (r / w->out[1] * w->stride[0] * p->padded[1] + r % w->out[1] * w->stride[1]) * p->padded[2];
            t.x = x + top * SP_BLOCK + q * step;
            if (tail.w_zero) {
                t.weights = j->ones;
                p->kernels->tile[0][j->flip](rows, &t);
                for (int k = 0; k < rows; k++)
                    window[k] = (int32_t)((uint32_t)sums[k * SP_DOTS_COLUMNS] -
                                          (uint32_t)j->x_shift * (uint32_t)(p->taps * p->ic_g));
            }
            t.weights = j->weights + (group * p->out_blocks + 2 * panel) * p->steps * 64;
            p->kernels->tile[blocks - 1][j->flip](rows, &t);
            p->kernels->finish(rows, blocks, sums, &tail, window,
                               out + (2 * panel * p->positions + r * p->width + q) * SP_BLOCK * j->size,
                               p->positions * SP_BLOCK);
        }
    }
}

static void unit_tasks(void *context, int64_t begin, int64_t end)
{
    const bytes_job *j = context;
    const bytes_plan *p = j->p;
    for (int64_t t = begin; t < end; t++) {
        const int64_t image = t / (p->bands * p->slices), slice = t / p->bands % p->slices, band = t % p->bands;
        run_units(j, image, band * p->band, min_i64((band + 1) * p->band, p->units), slice * p->slice,
                  min_i64((slice + 1) * p->slice, p->panels));
    }
}

static void depth_tasks(void *context, int64_t begin, int64_t end)
{
    const bytes_job *j = context;
    const bytes_plan *p = j->p;
    const sp__window *w = &p->g.w;
    for (int64_t i = begin; i < end; i++) {
        const int64_t item = i / p->bands, block = item % p->in_blocks, r0 = i % p->bands * p->band,
                      r1 = min_i64(r0 + p->band, w->out[1]);
        const sp__dots_depth d = {.w = w,
                                  .x = j->x + item * p->plane * SP_BLOCK,
                                  .flip = j->flip ? 0x80 : 0,
                                  .x_zero = j->x_zero,
                                  .x_shift = j->x_shift,
                                  .weights = j->weights + block * p->steps * 64,
                                  .ones = j->ones,
                                  .tail = tail_from(j, block * SP_BLOCK),
                                  .out = j->out + item * p->positions * SP_BLOCK * j->size};
        p->kernels->depth(&d, r0, r1);
    }
}

static sp_status multiply(bytes_plan *p, bytes_job *j)
{
    if (!p->depthwise) return sp__parallel_for(p->g.batch * p->groups * p->bands * p->slices, 1, unit_tasks, j);
    const int64_t per_row = p->g.w.out[2] * p->steps * SP_BLOCK; /* a step of a vector is about a nanosecond */
    p->band = max_i64(1, min_i64(p->g.w.out[1], 100000 / per_row));
    p->bands = ceil_div(p->g.w.out[1], p->band);
    return sp__parallel_for(p->g.batch * p->in_blocks * p->bands, max_i64(1, 60000 / (p->band * per_row)), depth_tasks,
                            j);
}

/* --- calls ----------------------------------------------------------------------------------------------------------- */

/* As dots.h reads them: unsigned x, signed weights. */
static int32_t x_shift_of(const sp_call *c)
{
    const sp_tensor *zero = c->in[SP_BYTES_X_ZERO];
    if (c->in[SP_BYTES_X]->dtype == SP_DTYPE_U8) return zero ? *(const uint8_t *)zero->data : 0;
    return (zero ? *(const int8_t *)zero->data : 0) + 128;
}

static int32_t w_shift_of(const sp_call *c, int64_t channel)
{
    const sp_tensor *zero = c->in[SP_BYTES_W_ZERO];
    const int64_t at = zero && zero->count > 1 ? channel : 0;
    if (c->in[SP_BYTES_WEIGHT]->dtype == SP_DTYPE_I8) return zero ? ((const int8_t *)zero->data)[at] : 0;
    return (zero ? ((const uint8_t *)zero->data)[at] : 0) - 128;
}

/* Numbers by channel, each group filled up to whole blocks: bias with what x's zero point takes away, zero points of weights, scales. */
static void fill_tail(const bytes_plan *p, const sp_call *c, const uint32_t *sums, char *numbers, bytes_job *j)
{
    const sp_tensor *bias = c->in[SP_BYTES_BIAS], *scale = c->in[SP_BYTES_SCALE], *zero = c->in[SP_BYTES_ZERO];
    uint32_t *to_bias = (void *)numbers;
    int32_t *to_zero = (void *)(numbers + p->sums);
    float *to_scale = (void *)(numbers + 2 * p->sums);
    bool any = false;
    for (int64_t i = 0; i < p->groups * p->out_blocks * SP_BLOCK; i++) {
        const int64_t group = i / (p->out_blocks * SP_BLOCK), within = i % (p->out_blocks * SP_BLOCK),
                      channel = group * p->oc_g + within;
        const bool real = within < p->oc_g;
        to_bias[i] =
            (real && bias ? (uint32_t)((const int32_t *)(const void *)bias->data)[bias->count > 1 ? channel : 0] : 0) -
            (uint32_t)j->x_shift * sums[i];
        to_zero[i] = real ? w_shift_of(c, channel) : 0;
        to_scale[i] = real && scale ? ((const float *)(const void *)scale->data)[scale->count > 1 ? channel : 0] : 0;
        any |= to_zero[i] != 0;
    }
    const int32_t y_zero = !zero                        ? 0
                           : zero->dtype == SP_DTYPE_U8 ? *(const uint8_t *)zero->data
                                                        : *(const int8_t *)zero->data;
    j->tail = (sp__dots_tail){.bias = (int32_t *)to_bias,
                              .w_zero = any ? to_zero : NULL,
                              .scale = scale ? to_scale : NULL,
                              .range = sp__bytes_range_of((sp_dtype)c->out[0]->dtype, y_zero)};
}

static sp_status run(bytes_plan *p, const sp_call *c)
{
    char *work = c->work, *numbers = work, *offsets = numbers + p->numbers, *ones = offsets + p->offsets,
         *x = ones + p->ones, *results = x + p->x;
    const char *weights = c->prepared;
    bytes_job j = {.p = p,
                   .flip = c->in[SP_BYTES_X]->dtype == SP_DTYPE_I8,
                   .x_shift = x_shift_of(c),
                   .offsets = (int32_t *)(void *)offsets,
                   .ones = (int8_t *)ones,
                   .size = c->in[SP_BYTES_SCALE] ? 1 : 4};
    j.x_zero = (uint8_t)(j.flip ? j.x_shift ^ 0x80 : j.x_shift);
    if (!weights) {
        SP_TRY(pack(p, c->in[SP_BYTES_WEIGHT], results + p->results));
        weights = results + p->results;
    }
    j.weights = (const int8_t *)weights;
    fill_tail(p, c, (const uint32_t *)(const void *)(weights + p->weights), numbers, &j);
    if (!p->depthwise) fill_offsets(p, (int32_t *)(void *)offsets);
    if (j.tail.w_zero) fill_ones(p, (int8_t *)ones);
    j.x = (const uint8_t *)c->in[SP_BYTES_X]->data;
    if (p->x) {
        image_job fill = {.p = p, .from = c->in[SP_BYTES_X]->data, .to = x, .fill = j.x_zero};
        SP_TRY(sp__parallel_for(p->g.batch * p->groups * p->in_blocks, max_i64(1, 65536 / (p->plane * SP_BLOCK)),
                                fill_tasks, &fill));
        j.x = (const uint8_t *)x;
    }
    j.out = p->out ? c->out[0]->data : results;
    SP_TRY(multiply(p, &j));
    if (p->out) return SP_OK;
    image_job empty = {.p = p, .from = results, .to = c->out[0]->data, .size = j.size};
    return sp__parallel_for(p->g.batch * p->groups * p->out_blocks, max_i64(1, 32768 / (p->positions * SP_BLOCK)),
                            empty_tasks, &empty);
}

static size_t work_of(const bytes_plan *p, bool prepared)
{
    return p->numbers + p->offsets + p->ones + p->x + p->results + (prepared ? 0 : p->weights + p->sums);
}

size_t sp__cpu_conv_bytes_work(const sp_call *c)
{
    bytes_plan p;
    return plan_plain(c, &p) ? work_of(&p, c->prepared) : 0;
}

size_t sp__cpu_conv_bytes_prepared(const sp_call *c)
{
    bytes_plan p;
    return plan_plain(c, &p) ? p.weights + p.sums : 0;
}

/* Whether images are in blocks does not matter to weights. */
static sp_prepared_form form_of(const bytes_plan *p)
{
    return (sp_prepared_form){{1 + p->depthwise, p->groups, p->g.group, p->steps}};
}

sp_prepared_form sp__cpu_conv_bytes_form(const sp_call *c)
{
    bytes_plan p;
    return plan_plain(c, &p) ? form_of(&p) : (sp_prepared_form){{0}};
}

sp_status sp__cpu_conv_bytes_prepare(const sp_call *c, void *to)
{
    bytes_plan p;
    return plan_plain(c, &p) ? pack(&p, c->in[SP_BYTES_WEIGHT], to) : SP_RUNTIME;
}

sp_status sp__cpu_conv_bytes(const sp_call *c)
{
    bytes_plan p;
    return plan_plain(c, &p) ? run(&p, c) : SP_RUNTIME;
}

/* Images in blocks; only results of bytes. */
static bool blocked_takes(const sp_call *c)
{
    bytes_plan p;
    return c->in[SP_BYTES_X]->rank == 4 && c->in[SP_BYTES_SCALE] && sp__cpu_conv_bytes_takes(c) && plan_plain(c, &p) &&
           p.groups == 1;
}

static bool blocked_writes_plain(const sp_call *c)
{
    (void)c;
    return true;
}

static size_t blocked_work(const sp_call *c)
{
    bytes_plan p;
    plan_blocked(c, &p);
    return work_of(&p, c->prepared);
}

static size_t blocked_prepared(const sp_call *c)
{
    bytes_plan p;
    plan_blocked(c, &p);
    return p.weights + p.sums;
}

static sp_prepared_form blocked_form(const sp_call *c)
{
    bytes_plan p;
    plan_blocked(c, &p);
    return form_of(&p);
}

static sp_status blocked_prepare(const sp_call *c, void *to)
{
    bytes_plan p;
    plan_blocked(c, &p);
    return pack(&p, c->in[SP_BYTES_WEIGHT], to);
}

static sp_status blocked_run(const sp_call *c)
{
    bytes_plan p;
    plan_blocked(c, &p);
    return run(&p, c);
}

const struct sp_blocked_kernel sp__cpu_conv_bytes_blocks = {
    .takes = blocked_takes,
    .writes_plain = blocked_writes_plain,
    .workspace = blocked_work,
    .prepared_bytes = blocked_prepared,
    .prepare = blocked_prepare,
    .prepared_form = blocked_form,
    .run = blocked_run,
    .own_inputs = true,
};
