/* SPDX-License-Identifier: Apache-2.0 */
/* conv_blocks.c - convolution, and pooling, of images in blocks of channels (device/blocked.h): the same sums in the same order as conv_forward.c,
 * conv_pointwise.c, conv_winograd.c and cpu_depthwise.c make, with channels across.
 *
 *   points       the kernels that broadcast positions (gemm.h) read blocked images as they read plain ones: offsets and steps say where an element
 *                lies. Plain images may be read, too, and plain results written.
 *   Winograd     win_blocks.h
 *   depthwise    a block is a vector
 *
 * Weights are packed in panels of two vectors of output channels. A task takes some positions and some panels. */
#include "device/cpu/blocks.h"
#include "device/cpu/bytes_turn.h"
#include "device/cpu/conv_job.h"
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/rows.h"
#include "device/cpu/win_blocks.h"

enum {
    TASKS_WANTED = 16,
    NEAR_BYTES = 320 * 1024, /* of x for a task: they stay in the second cache */
    LARGEST_EXPONENT = 56,   /* as in conv_winograd.c */
    PREPARED_HEAD = 64,
};

typedef struct block_job {
    sp__conv_job conv;
    const sp_blocked *b;
    const sp__block_kernels *kernels;
    bool depthwise, winograd, bias_first;
    int64_t k_step;                     /* block of the sum */
    int64_t unit, plane;                /* floats of a position; positions of a plane of x, padded */
    int64_t x_image, out_image;         /* floats of an image */
    int64_t rows, width;                /* of results: a flat image is one row */
    int64_t columns, panels;            /* of a panel of weights */
    int64_t chunks, units;              /* parts of a row; of an image */
    int64_t band, bands, slice, slices; /* units and panels of a task */
    size_t offsets_bytes, padded_bytes, panels_bytes, blocked_bytes;
    /* operands */
    const float *x, *weights;
    float *padded_x, *panels_to;
    int64_t *offsets;
    sp__block_tail tail;
    const float *residual;
    float *out;
    const sp_epilogue *epilogue;
    const float *weight; /* as it comes */
} block_job;

/* --- plan ---------------------------------------------------------------------------------------------------------- */

static bool is_depthwise(const sp__conv_geometry *g)
{
    return g->group > 1 && g->in_channels == g->group && g->out_channels == g->group;
}

/* Tasks: by positions where the image is larger than the weights, else by panels first. */
static void plan_tasks(block_job *j)
{
    const int64_t batch = j->conv.g.batch;
    const double x_floats = (double)(j->conv.g.in_channels * j->plane),
                 w_floats = (double)(j->conv.g.out_channels * j->conv.k);
    j->band = j->units;
    j->slice = j->panels;
    const int64_t wanted =
        max_i64(1, min_i64(ceil_div(TASKS_WANTED, batch), (int64_t)(j->conv.flops / (double)batch / 4e5)));
    if (w_floats > x_floats) {
        j->slice = max_i64(1, j->panels / wanted);
        j->slices = ceil_div(j->panels, j->slice);
        j->band = max_i64(1, ceil_div(j->units * j->slices, wanted));
    } else {
        const int64_t near = max_i64(1, (int64_t)(NEAR_BYTES / 4 / (x_floats / (double)j->units + 1)));
        j->band = max_i64(1, min_i64(j->units / wanted, near));
        j->bands = ceil_div(j->units, j->band);
        if (j->bands < wanted) j->slice = max_i64(1, ceil_div(j->panels * j->bands, wanted));
    }
    j->band = min_i64(j->band, j->units);
    j->bands = ceil_div(j->units, j->band);
    j->slices = ceil_div(j->panels, j->slice);
}

static void plan(const sp_blocked *b, block_job *j)
{
    const sp__conv_geometry *g = &b->g;
    const sp__window *w = &g->w;
    *j = (block_job){.b = b, .kernels = sp__blocks_find(), .conv = {.g = *g}, .unit = b->in ? SP_BLOCK : 1};
    sp__conv_job *c = &j->conv;
    sp__conv_plan(SP_DTYPE_F32, c);
    j->depthwise = is_depthwise(g);
    j->columns = c->kernels->columns;
    j->panels = ceil_div(g->out_channels, j->columns);
    j->out_image = (b->out ? sp__blocks_of(g->out_channels) * SP_BLOCK : g->out_channels) * c->positions;
    if (j->depthwise) {
        j->x_image = sp__blocks_of(g->in_channels) * SP_BLOCK * w->in[1] * w->in[2];
        j->panels_bytes = aligned((size_t)(sp__blocks_of(g->group) * SP_BLOCK * sp__window_taps(w)) * 4);
        return;
    }
    sp__conv_plan_forward(c);
    j->winograd = c->winograd;
    j->plane = c->plane;
    const bool flat = c->pointwise;
    j->rows = flat ? 1 : w->out[1];
    j->width = flat ? c->positions : w->out[2];
    j->k_step = flat ? ceil_div(c->k, ceil_div(c->k, c->kernels->k_block)) : c->kernels->k_block;
    j->bias_first = flat || (c->form != FORM_CHANNELS && !c->winograd);
    j->chunks = ceil_div(j->width, c->kernels->points_max);
    j->units = j->rows * j->chunks;
    j->x_image = (b->in ? sp__blocks_of(g->in_channels) * SP_BLOCK : g->in_channels) * j->plane;
    j->offsets_bytes = aligned((size_t)c->k * sizeof(int64_t));
    j->padded_bytes = c->copies ? aligned((size_t)(g->batch * j->x_image) * 4) : 0;
    j->panels_bytes =
        j->winograd ? sp__winograd_blocks_weights_bytes(c) : aligned((size_t)(j->panels * j->columns * c->k) * 4);
    plan_tasks(j);
}

/* By plain images: does the blocked form give the same bits, and is there a kernel? */
static bool takes(const sp_call *c)
{
    sp__conv_geometry g;
    if (c->in[0]->dtype != SP_DTYPE_F32 || c->in[0]->rank != 4 || !c->in[0]->count || !c->in[1]->count ||
        !c->out[0]->count)
        return false;
    if (sp__conv_measure(c->op->name, c->in[0], c->in[1], c->attrs, &g) != SP_OK) return false;
    if (sp__gemm_find(SP_DTYPE_F32)->columns % SP_BLOCK != 0) return false;
    if (is_depthwise(&g)) return sp__cpu_depthwise_takes(c);
    if (g.group != 1) return false;
    sp__conv_job job = {.g = g};
    sp__conv_plan(SP_DTYPE_F32, &job);
    if (sp__conv_is_product(&g)) return sp__conv_is_pointwise(&job);
    sp__conv_plan_forward(&job);
    return !sp__conv_is_tiled(&job);
}

/* --- weights -------------------------------------------------------------------------------------------------------- */

static void pack_tasks(void *context, int64_t begin, int64_t end)
{
    const block_job *j = context;
    const sp__conv_job *c = &j->conv;
    for (int64_t i = begin; i < end; i++)
        c->kernels->pack(c->k, min_i64(j->columns, c->oc_g - i * j->columns), j->columns,
                         j->weight + i * j->columns * c->k, 1, c->k, j->panels_to + i * j->columns * c->k);
}

/* [block][tap][16]. */
static void pack_depthwise(const block_job *j)
{
    const int64_t taps = sp__window_taps(&j->conv.g.w), channels = j->conv.g.group;
    memset(j->panels_to, 0, j->panels_bytes);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t t = 0; t < taps; t++)
            j->panels_to[(c / SP_BLOCK * taps + t) * SP_BLOCK + c % SP_BLOCK] = j->weight[c * taps + t];
}

static sp_status pack_direct(block_job *j, float *to)
{
    j->panels_to = to;
    return sp__conv_share(&j->conv, j->panels, max_i64(1, 32768 / (j->conv.k * j->columns)), pack_tasks, j);
}

static sp_status pack(block_job *j, float *to)
{
    j->panels_to = to;
    if (j->winograd) return sp__winograd_blocks_weights(&j->conv, to);
    if (!j->depthwise) return pack_direct(j, to);
    pack_depthwise(j);
    return SP_OK;
}

static bool weights_fit(const block_job *j)
{
    return j->conv.kernels->win_fits(j->conv.oc_g * j->conv.k, j->weight, LARGEST_EXPONENT);
}

static size_t prepared_bytes(const sp_call *c)
{
    block_job j;
    plan(c->attrs, &j);
    return PREPARED_HEAD + j.panels_bytes;
}

static sp_prepared_form form_of_weights(const sp_call *c)
{
    block_job j;
    plan(c->attrs, &j);
    return (sp_prepared_form){{j.depthwise  ? 1
                               : j.winograd ? 2
                                            : 3,
                               j.conv.g.group, j.conv.g.in_channels, sp__window_taps(&j.conv.g.w)}};
}

/* In front: whether Winograd's transforms may have them. */
static sp_status prepare(const sp_call *c, void *to)
{
    block_job j;
    plan(c->attrs, &j);
    j.weight = (const float *)(const void *)c->in[SP_BLOCKED_WEIGHT]->data;
    j.conv.weight = c->in[SP_BLOCKED_WEIGHT]->data;
    memset(to, 0, PREPARED_HEAD);
    *(char *)to = !j.winograd || weights_fit(&j);
    return pack(&j, (float *)(void *)((char *)to + PREPARED_HEAD));
}

/* --- points --------------------------------------------------------------------------------------------------------- */

static void fill_offsets(const block_job *j)
{
    const sp__window *w = &j->conv.g.w;
    int64_t p = 0;
    for (int64_t c = 0; c < j->conv.ic_g; c++)
        for (int64_t a = 0; a < w->kernel[1]; a++)
            for (int64_t b = 0; b < w->kernel[2]; b++) {
                const int64_t at = (a * w->dilation[1] * j->conv.padded[2] + b * w->dilation[2]) * j->unit;
                j->offsets[p++] = at + (j->b->in ? c / SP_BLOCK * j->plane * SP_BLOCK + c % SP_BLOCK : c * j->plane);
            }
}

/* Rows of padded planes. */
static void pad_tasks(void *context, int64_t begin, int64_t end)
{
    const block_job *j = context;
    const sp__window *w = &j->conv.g.w;
    const int64_t row = w->in[2] * j->unit, wide = j->conv.padded[2] * j->unit, high = j->conv.padded[1];
    for (int64_t i = begin; i < end; i++) {
        const int64_t h = i % high - w->pad[1];
        float *to = j->padded_x + i * wide;
        if (h < 0 || h >= w->in[1]) {
            memset(to, 0, (size_t)wide * 4);
            continue;
        }
        memset(to, 0, (size_t)(w->pad[2] * j->unit) * 4);
        memcpy(to + w->pad[2] * j->unit, j->x + (i / high * w->in[1] + h) * row, (size_t)row * 4);
        memset(to + w->pad[2] * j->unit + row, 0, (size_t)(w->pad_end[2] * j->unit) * 4);
    }
}

static sp__block_tail tail_from(const block_job *j, int64_t channel)
{
    sp__block_tail t = j->tail;
    if (t.bias) t.bias += channel;
    if (t.scale) t.scale += channel, t.shift += channel;
    if (t.slope) t.slope += channel;
    return t;
}

/* One unit: neighbouring positions from `from` on with a panel of n channels. at: its first position among the results. */
static void run_unit(const block_job *j, const float *from, int64_t step, int64_t rows, int64_t channel, int64_t n,
                     int64_t image, int64_t at, const sp__block_tail *whole_tail)
{
    const sp__conv_job *c = &j->conv;
    const sp__gemm_kernels *kernels = c->kernels;
    const float *weights = j->weights + channel * c->k;
    const bool registers = j->b->out && (step == 2 || step == SP_BLOCK || step == 2 * SP_BLOCK);
    const int64_t last = registers ? (c->k - 1) / j->k_step * j->k_step
                                   : c->k; /* from here on sums stay in registers until they are final */
    sp__block_tail tail = *whole_tail;
    _Alignas(64) float tile[32 * 32];
    const float *first = j->bias_first && last > 0 ? tail.bias : NULL;
    if (first) tail.bias = NULL;
    for (int64_t t = 0; first && t < rows; t++) {
        memset(tile + t * j->columns, 0, (size_t)j->columns * 4); /* no channel may have a number that is not its own */
        memcpy(tile + t * j->columns, first, (size_t)n * 4);
    }
    for (int64_t p = 0; p < last; p += j->k_step)
        kernels->points[n > kernels->lanes][rows - 1](min_i64(j->k_step, c->k - p), from, step, j->offsets + p,
                                                      weights + p * j->columns, tile, p > 0 || first);
    if (!j->b->out) {
        kernels->settle(rows, n, tile, tail.bias, j->out + image * j->out_image + channel * c->positions + at,
                        c->positions);
        return;
    }
    const int64_t to = image * j->out_image + channel * c->positions + at * SP_BLOCK;
    j->kernels->points(rows, &(sp__block_points){.k = c->k - last,
                                                 .step = registers ? step : SP_BLOCK,
                                                 .n = n,
                                                 .x = from,
                                                 .offsets = j->offsets + last,
                                                 .weights = weights + last * j->columns,
                                                 .begun = last > 0 ? tile : NULL,
                                                 .tail = &tail,
                                                 .residual = j->residual ? j->residual + to : NULL,
                                                 .out = j->out + to,
                                                 .block_step = c->positions * SP_BLOCK});
}

/* Units [u0, u1) of one image with panels [c0, c1). */
static void run_units(const block_job *j, int64_t image, int64_t u0, int64_t u1, int64_t c0, int64_t c1)
{
    const sp__conv_job *c = &j->conv;
    const sp__window *w = &c->g.w;
    const int64_t step = (c->pointwise ? 1 : w->stride[2]) * j->unit, row_step = w->stride[1] * c->padded[2] * j->unit;
    const float *x = j->x + image * j->x_image;
    for (int64_t panel = c0; panel < c1; panel++) {
        const int64_t channel = panel * j->columns, n = min_i64(j->columns, c->oc_g - channel);
        const sp__block_tail tail = tail_from(j, channel);
        int64_t r = u0 / j->chunks, i = u0 % j->chunks, q = i * j->width / j->chunks;
        for (int64_t u = u0; u < u1; u++) {
            const int64_t end = (i + 1) * j->width / j->chunks;
            run_unit(j, x + r * row_step + q * step, step, end - q, channel, n, image, r * j->width + q, &tail);
            q = end;
            if (++i == j->chunks) i = q = 0, r++;
        }
    }
}

static void points_tasks(void *context, int64_t begin, int64_t end)
{
    const block_job *j = context;
    const sp__conv_job *c = &j->conv;
    for (int64_t t = begin; t < end; t++) {
        const int64_t image = t / (j->bands * j->slices), slice = t / j->bands % j->slices, band = t % j->bands;
        const int64_t u0 = band * j->band, u1 = min_i64(u0 + j->band, j->units), c0 = slice * j->slice,
                      c1 = min_i64(c0 + j->slice, j->panels);
        run_units(j, image, u0, u1, c0, c1);
        if (!j->epilogue) continue;
        const int64_t q0 = u0 / j->chunks * j->width + u0 % j->chunks * j->width / j->chunks;
        const int64_t q1 = u1 / j->chunks * j->width + u1 % j->chunks * j->width / j->chunks;
        const int64_t channel = c0 * j->columns, n = min_i64(c1 * j->columns, c->oc_g) - channel,
                      start = image * j->out_image + channel * c->positions;
        if (j->b->out)
            j->epilogue->fn(j->epilogue->context, start + q0 * SP_BLOCK, sp__blocks_of(n), c->positions * SP_BLOCK,
                            (q1 - q0) * SP_BLOCK);
        else j->epilogue->fn(j->epilogue->context, start + q0, n, c->positions, q1 - q0);
    }
}

static sp_status run_points(block_job *j)
{
    const sp__conv_geometry *g = &j->conv.g;
    fill_offsets(j);
    if (j->conv.copies) {
        const int64_t planes = g->batch * (j->b->in ? sp__blocks_of(g->in_channels) : g->in_channels);
        SP_TRY(sp__conv_share(&j->conv, planes * j->conv.padded[1], max_i64(1, 16384 / (j->conv.padded[2] * j->unit)),
                              pad_tasks, j));
        j->x = j->padded_x;
    }
    return sp__conv_share(&j->conv, g->batch * j->bands * j->slices, 1, points_tasks, j);
}

/* --- depthwise ------------------------------------------------------------------------------------------------------ */

static void depth_tasks(void *context, int64_t begin, int64_t end)
{
    const block_job *j = context;
    const sp__window *w = &j->conv.g.w;
    const int64_t blocks = sp__blocks_of(j->conv.g.group), taps = sp__window_taps(w);
    for (int64_t i = begin; i < end; i++) {
        const int64_t item = i / j->bands, block = item % blocks, r0 = i % j->bands * j->band,
                      r1 = min_i64(r0 + j->band, w->out[1]);
        sp__block_depth d = {
            .w = w, .n = min_i64(SP_BLOCK, j->conv.g.group - block * SP_BLOCK), .tail = tail_from(j, block * SP_BLOCK)};
        d.x = j->x + item * w->in[1] * w->in[2] * SP_BLOCK;
        d.weight = j->weights + block * taps * SP_BLOCK;
        d.out = j->out + item * j->conv.positions * SP_BLOCK;
        d.residual = j->residual ? j->residual + item * j->conv.positions * SP_BLOCK : NULL;
        j->kernels->depth(&d, r0, r1);
        if (j->epilogue)
            j->epilogue->fn(j->epilogue->context, (item * j->conv.positions + r0 * w->out[2]) * SP_BLOCK, 1, 0,
                            (r1 - r0) * w->out[2] * SP_BLOCK);
    }
}

static sp_status run_depthwise(block_job *j)
{
    const sp__conv_geometry *g = &j->conv.g;
    const int64_t items = g->batch * sp__blocks_of(g->group), per_row = g->w.out[2] * sp__window_taps(&g->w) * SP_BLOCK;
    j->band = max_i64(1, min_i64(g->w.out[1], 100000 / per_row));
    j->bands = ceil_div(g->w.out[1], j->band);
    const int64_t grain = max_i64(1, 50000 / (j->band * per_row));
    return sp__parallel_for(items * j->bands, grain, depth_tasks, j);
}

/* --- calls ---------------------------------------------------------------------------------------------------------- */

typedef struct reorder_job {
    sp_reorder r;
    const void *from;
    void *to;
    bool bytes;
} reorder_job;

static void reorder_tasks(void *context, int64_t begin, int64_t end)
{
    const reorder_job *j = context;
    const sp__block_kernels *kernels = sp__blocks_find();
    const int64_t blocks = sp__blocks_of(j->r.channels);
    for (int64_t i = begin; i < end; i++) {
        const int64_t block = i % blocks, n = min_i64(SP_BLOCK, j->r.channels - block * SP_BLOCK);
        const int64_t plain = (i / blocks * j->r.channels + block * SP_BLOCK) * j->r.positions,
                      blocked = i * j->r.positions * SP_BLOCK;
        const uint8_t *from_bytes = j->from;
        const float *from = j->from;
        if (j->bytes && j->r.block)
            sp__bytes_gather(j->r.positions, n, from_bytes + plain, j->r.positions, (uint8_t *)j->to + blocked);
        else if (j->bytes)
            sp__bytes_scatter(j->r.positions, n, from_bytes + blocked, (uint8_t *)j->to + plain, j->r.positions);
        else if (j->r.block) kernels->gather(j->r.positions, n, from + plain, j->r.positions, (float *)j->to + blocked);
        else kernels->scatter(j->r.positions, n, from + blocked, (float *)j->to + plain, j->r.positions);
    }
}

static sp_status reorder(const sp_reorder *r, bool bytes, const void *from, void *to)
{
    reorder_job j = {.r = *r, .from = from, .to = to, .bytes = bytes};
    return sp__parallel_for(r->batch * sp__blocks_of(r->channels), max_i64(1, 16384 / (r->positions * SP_BLOCK + 1)),
                            reorder_tasks, &j);
}

sp_status sp__blocked_reorder(const sp_call *c)
{
    return reorder(c->attrs, c->in[0]->dtype != SP_DTYPE_F32, c->in[0]->data, c->out[0]->data);
}

typedef struct pool_job {
    const sp__window *w;
    const char *x;
    char *out;
    sp_dtype dtype;
    const sp_blocked_means *means;
} pool_job;

/* Row r of the maxima of bytes; flip: 0x80 for int8, whose order is then that of the unsigned. */
static void pool_bytes(const sp__window *w, uint8_t flip, const uint8_t *x, uint8_t *out, int64_t r)
{
    typedef uint8_t block __attribute__((vector_size(SP_BLOCK)));
    const int64_t top = r * w->stride[1] - w->pad[1], y0 = max_i64(0, top), y1 = min_i64(w->in[1], top + w->kernel[1]);
    const block flips = (block){0} + flip;
    for (int64_t j = 0; j < w->out[2]; j++) {
        const int64_t left = j * w->stride[2] - w->pad[2], x0 = max_i64(0, left),
                      x1 = min_i64(w->in[2], left + w->kernel[2]);
        block most = {0};
        for (int64_t y = y0; y < y1; y++)
            for (int64_t at = x0; at < x1; at++) {
                block v;
                memcpy(&v, x + (y * w->in[2] + at) * SP_BLOCK, sizeof v);
                v ^= flips;
                const block more = (block)(v > most);
                most = (v & more) | (most & ~more);
            }
        most ^= flips;
        memcpy(out + (r * w->out[2] + j) * SP_BLOCK, &most, sizeof most);
    }
}

static void pool_tasks(void *context, int64_t begin, int64_t end)
{
    const pool_job *j = context;
    const sp__window *w = j->w;
    for (int64_t i = begin; i < end; i++) { /* a row of a block */
        const int64_t block = i / w->out[1], r = i % w->out[1], from = block * w->in[1] * w->in[2] * SP_BLOCK,
                      to = block * w->out[1] * w->out[2] * SP_BLOCK;
        if (j->dtype == SP_DTYPE_F32)
            sp__blocks_find()->max_pool(w, (const float *)(const void *)j->x + from, (float *)(void *)j->out + to, r,
                                        r + 1);
        else pool_bytes(w, j->dtype == SP_DTYPE_I8 ? 0x80 : 0, (const uint8_t *)j->x + from, (uint8_t *)j->out + to, r);
    }
}

sp_status sp__blocked_max_pool(const sp_call *c)
{
    const sp__window *w = c->attrs;
    pool_job j = {.w = w, .x = c->in[0]->data, .out = c->out[0]->data, .dtype = (sp_dtype)c->in[0]->dtype};
    const int64_t rows = c->out[0]->count / (w->out[2] * SP_BLOCK), cost = w->out[2] * w->kernel[1] * w->kernel[2];
    return sp__parallel_for(rows, max_i64(1, 20000 / cost), pool_tasks, &j);
}

static void mean_pool_tasks(void *context, int64_t begin, int64_t end)
{
    const pool_job *j = context;
    const sp__window *w = j->w;
    for (int64_t i = begin; i < end; i++) { /* a row of a block */
        const int64_t block = i / w->out[1], from = block * w->in[1] * w->in[2] * SP_BLOCK,
                      to = block * w->out[1] * w->out[2] * SP_BLOCK;
        sp__blocks_find()->mean_pool(j->means, (const float *)(const void *)j->x + from, (float *)(void *)j->out + to,
                                     i % w->out[1]);
    }
}

sp_status sp__blocked_mean_pool(const sp_call *c)
{
    const sp_blocked_means *m = c->attrs;
    pool_job j = {.w = &m->w, .means = m, .x = c->in[0]->data, .out = c->out[0]->data};
    const int64_t rows = c->out[0]->count / (m->w.out[2] * SP_BLOCK),
                  cost = m->w.out[2] * m->w.kernel[1] * m->w.kernel[2];
    return sp__parallel_for(rows, max_i64(1, 20000 / cost), mean_pool_tasks, &j);
}

/* --- per channel ---------------------------------------------------------------------------------------------------- */

typedef struct channel_job {
    sp_reorder r;
    const float *x, *factors;
    float *out, *room;
} channel_job;

static int64_t mean_room(const sp_reorder *r) { return SP_BLOCK * min_i64(r->positions, SP_SUM_BLOCK); }
size_t sp__blocked_mean_work(const sp_reorder *r)
{
    return (size_t)(r->batch * sp__blocks_of(r->channels) * mean_room(r)) * 4;
}

/* A task is a block: its channels are laid out as rows, a part that is summed in float at a time. */
static void mean_tasks(void *context, int64_t begin, int64_t end)
{
    const channel_job *j = context;
    const int64_t blocks = sp__blocks_of(j->r.channels), positions = j->r.positions;
    for (int64_t i = begin; i < end; i++) {
        const int64_t channel = i % blocks * SP_BLOCK, n = min_i64(SP_BLOCK, j->r.channels - channel);
        float *room = j->room + i * mean_room(&j->r), *out = j->out + i / blocks * j->r.channels + channel;
        double total[SP_BLOCK] = {0};
        for (int64_t at = 0, count; at < positions; at += count) {
            count = min_i64(SP_SUM_BLOCK, positions - at);
            sp__blocks_find()->scatter(count, n, j->x + (i * positions + at) * SP_BLOCK, room, count);
            for (int64_t c = 0; c < n; c++) total[c] += sp__float_rows()->sum(count, room + c * count);
        }
        for (int64_t c = 0; c < n; c++) out[c] = (float)(total[c] / (double)positions);
    }
}

static void scale_tasks(void *context, int64_t begin, int64_t end)
{
    const channel_job *j = context;
    const int64_t blocks = sp__blocks_of(j->r.channels), step = j->r.positions * SP_BLOCK;
    for (int64_t i = begin; i < end; i++) {
        const int64_t channel = i % blocks * SP_BLOCK, n = min_i64(SP_BLOCK, j->r.channels - channel);
        sp__blocks_find()->scale(j->r.positions, n, j->x + i * step, j->factors + i / blocks * j->r.channels + channel,
                                 j->out + i * step);
    }
}

static sp_status by_channel(const sp_call *c, void (*tasks)(void *, int64_t, int64_t))
{
    channel_job j = {.r = *(const sp_reorder *)c->attrs,
                     .x = (const float *)(const void *)c->in[0]->data,
                     .out = (float *)(void *)c->out[0]->data,
                     .factors = c->n_in > 1 ? (const float *)(const void *)c->in[1]->data : NULL,
                     .room = c->work};
    return sp__parallel_for(j.r.batch * sp__blocks_of(j.r.channels), max_i64(1, 32768 / (j.r.positions * SP_BLOCK)),
                            tasks, &j);
}

sp_status sp__blocked_mean(const sp_call *c) { return by_channel(c, mean_tasks); }
sp_status sp__blocked_scale(const sp_call *c) { return by_channel(c, scale_tasks); }

/* Depthwise wants blocks: a plain x is brought into them first. */
static bool wants_blocks(const block_job *j) { return !j->b->in && j->depthwise; }

/* Scratch: for a depthwise one x in blocks and weights, for points offsets, padded x and panels, for Winograd its own and weights. Winograd may find
 * numbers out of range, and points come next. */
static size_t workspace(const sp_call *c)
{
    block_job j;
    plan(c->attrs, &j);
    const size_t panels = c->prepared ? 0 : j.panels_bytes;
    if (j.depthwise) return panels + (wants_blocks(&j) ? aligned((size_t)(j.conv.g.batch * j.x_image) * 4) : 0);
    const size_t direct = aligned((size_t)(j.panels * j.columns * j.conv.k) * 4);
    const size_t points = j.offsets_bytes + j.padded_bytes + (j.winograd || !c->prepared ? direct : 0);
    const size_t winograd = j.winograd ? sp__winograd_blocks_work(&j.conv) + panels : 0;
    return points > winograd ? points : winograd;
}

static const float *floats_of(const sp_tensor *t) { return t ? (const float *)(const void *)t->data : NULL; }
static const float *prepared_of(const sp_call *c)
{
    return (const float *)(const void *)((const char *)c->prepared + PREPARED_HEAD);
}

/* SP_DECLINED: numbers out of range. */
static sp_status run_winograd(block_job *j, const sp_call *c)
{
    char *work = c->work;
    if (c->prepared ? !*(const char *)c->prepared : !weights_fit(j)) return SP_DECLINED;
    sp__winograd_blocks w = {.conv = &j->conv,
                             .x = j->x,
                             .in = j->b->in,
                             .out = j->b->out,
                             .tail = j->tail,
                             .residual = j->residual,
                             .result = j->out,
                             .epilogue = j->epilogue};
    if (c->prepared) {
        w.weights = prepared_of(c);
    } else {
        SP_TRY(sp__winograd_blocks_weights(&j->conv, work));
        w.weights = (const float *)(const void *)work;
        work += j->panels_bytes;
    }
    return sp__winograd_blocks_forward(&w, work);
}

static sp_status run(const sp_call *c)
{
    block_job j;
    plan(c->attrs, &j);
    char *work = c->work;
    j.x = floats_of(c->in[SP_BLOCKED_X]);
    j.weight = floats_of(c->in[SP_BLOCKED_WEIGHT]);
    j.conv.weight = c->in[SP_BLOCKED_WEIGHT]->data;
    j.tail = (sp__block_tail){.bias = floats_of(c->in[SP_BLOCKED_BIAS]),
                              .scale = floats_of(c->in[SP_BLOCKED_SCALE]),
                              .shift = floats_of(c->in[SP_BLOCKED_SHIFT]),
                              .slope = floats_of(c->in[SP_BLOCKED_SLOPE]),
                              .activation = j.b->activation};
    j.residual = floats_of(c->in[SP_BLOCKED_RESIDUAL]);
    j.out = (float *)(void *)c->out[0]->data;
    j.epilogue = c->epilogue;
    if (j.winograd) {
        const sp_status status = run_winograd(&j, c);
        if (status != SP_DECLINED) return status;
    }
    if (wants_blocks(&j)) {
        const sp__window *w = &j.conv.g.w;
        const sp_reorder r = {
            .batch = j.conv.g.batch, .channels = j.conv.g.in_channels, .positions = w->in[1] * w->in[2], .block = true};
        SP_TRY(reorder(&r, false, j.x, work));
        j.x = (const float *)(const void *)work;
        work += aligned((size_t)(j.conv.g.batch * j.x_image) * 4);
    } else if (!j.depthwise) {
        j.offsets = (int64_t *)(void *)work;
        j.padded_x = (float *)(void *)(work + j.offsets_bytes);
        work += j.offsets_bytes + j.padded_bytes;
    }
    if (c->prepared && !j.winograd) {
        j.weights = prepared_of(c);
    } else {
        SP_TRY(j.depthwise ? pack(&j, (float *)(void *)work) : pack_direct(&j, (float *)(void *)work));
        j.weights = (const float *)(const void *)work;
    }
    return j.depthwise ? run_depthwise(&j) : run_points(&j);
}

static bool writes_plain(const sp_call *c)
{
    block_job j;
    plan(c->attrs, &j);
    return !j.depthwise;
}

const struct sp_blocked_kernel sp__cpu_conv_blocks = {
    .takes = takes,
    .writes_plain = writes_plain,
    .workspace = workspace,
    .prepared_bytes = prepared_bytes,
    .prepare = prepare,
    .prepared_form = form_of_weights,
    .run = run,
};
