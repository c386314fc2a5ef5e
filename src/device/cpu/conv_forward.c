/* SPDX-License-Identifier: Apache-2.0 */
/* conv_forward.c - convolution and its gradients for float32 and float64, without ever writing the windows out.
 *
 * The input is copied once with its padding around it (or used in place when there is none). After that the element under
 * tap p of the window at position q is x[offsets[p] + q], and a convolution is the matrix product of the weights,
 * [out channels, taps], with rows of x that start at offsets[p]:
 *
 *   forward      many output channels: they are the vectors, positions are broadcast from where they are. Few: positions are the
 *                vectors; with unit stride the micro-kernel reads rows of x in place, else a panel of positions is gathered first.
 *                A window of one element is the plain matrix product (conv_pointwise.c), one of 3x3 goes by winograd.h where that pays. On a
 *                CPU with AMX: a product from tiles (tiles.h) whose columns are the positions of all images.
 *   by input     unit stride: the forward convolution of dout with mirrored weights; else one for every phase of the stride (conv_phases.c), or,
 *                with few channels, products of weights and dout that are added into dx, channel by channel.
 *   by weight    positions are summed over: x is broadcast, the output channels of dout (turned once) are the vectors.
 *                With one or two output channels per group: vectors along the row instead. For a window of one element the input may be turned.
 *
 * Work is cut by shapes alone, an element is always summed by one thread in one order. float16 and bfloat16 are widened
 * to float and rounded once at the end. */
#include "base/parts.h"
#include "base/scratch.h"
#include "device/cpu/conv_job.h"

#define HAVE_TILES (SP_HAVE_BLOCKS || SP_HAVE_X86) /* a small build for other machines has none */

#define PARALLEL_FLOPS 2e6 /* below this everything stays on one thread */

void sp__conv_plan(sp_dtype dtype, sp__conv_job *job)
{
    const sp__conv_geometry *g = &job->g;
    job->kernels = sp__gemm_find(dtype);
    job->dtype = dtype;
    job->size = dtype == SP_DTYPE_F32 ? 4 : 8;
    job->ic_g = g->in_channels / g->group;
    job->oc_g = g->out_channels / g->group;
    job->k = job->ic_g * sp__window_taps(&g->w);
    job->copies = false;
    job->plane = 1;
    for (int d = 0; d < SP_SPATIAL; d++) {
        job->padded[d] = g->w.in[d] + g->w.pad[d] + g->w.pad_end[d];
        job->plane *= job->padded[d];
        job->copies |= g->w.pad[d] != 0 || g->w.pad_end[d] != 0;
    }
    job->positions = sp__window_positions(&g->w);
    job->flops = 2.0 * (double)g->batch * (double)g->out_channels * (double)job->k * (double)job->positions;
    job->offsets_bytes = aligned((size_t)job->k * sizeof(int64_t));
    job->padded_bytes = job->copies ? aligned((size_t)(g->batch * g->in_channels * job->plane) * (size_t)job->size) : 0;
}

sp_status sp__conv_share(const sp__conv_job *job, int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t),
                         void *context)
{
    if (n == 0) return SP_OK;
    if (job->flops >= PARALLEL_FLOPS) return sp__parallel_for(n, grain, fn, context);
    SP_TRY(sp__scratch_ready());
    fn(context, 0, n);
    return SP_OK;
}

/* --- preparation ------------------------------------------------------------------------------------------------- */

static void fill_offsets(const sp__conv_job *job)
{
    const sp__window *w = &job->g.w;
    int64_t p = 0;
    for (int64_t ic = 0; ic < job->ic_g; ic++)
        for (int64_t a = 0; a < w->kernel[0]; a++)
            for (int64_t b = 0; b < w->kernel[1]; b++)
                for (int64_t c = 0; c < w->kernel[2]; c++)
                    job->offsets[p++] = ic * job->plane + a * w->dilation[0] * job->padded[1] * job->padded[2] +
                                        b * w->dilation[1] * job->padded[2] + c * w->dilation[2];
}

static void fill_starts(sp__conv_job *job)
{
    const sp__window *w = &job->g.w;
    int64_t q = 0;
    job->starts = job->offsets + job->k;
    for (int64_t a = 0; a < w->out[0]; a++)
        for (int64_t b = 0; b < w->out[1]; b++)
            for (int64_t c = 0; c < w->out[2]; c++)
                job->starts[q++] =
                    (a * w->stride[0] * job->padded[1] + b * w->stride[1]) * job->padded[2] + c * w->stride[2];
}

static void pad_planes(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
    const sp__window *w = &job->g.w;
    size_t row_bytes = (size_t)(w->in[2] * job->size);
    for (int64_t i = begin; i < end; i++) {
        const char *from = job->x + i * sp__window_inputs(w) * job->size;
        char *to = job->padded_x + i * job->plane * job->size;
        memset(to, 0, (size_t)(job->plane * job->size));
        for (int64_t d = 0; d < w->in[0]; d++)
            for (int64_t h = 0; h < w->in[1]; h++, from += row_bytes)
                memcpy(to + (((d + w->pad[0]) * job->padded[1] + h + w->pad[1]) * job->padded[2] + w->pad[2]) *
                                job->size,
                       from, row_bytes);
    }
}

/* x with its padding; afterwards x is read without checks. */
sp_status sp__conv_pad(sp__conv_job *job)
{
    fill_offsets(job);
    if (!job->copies) return SP_OK;
    int64_t planes = job->g.batch * job->g.in_channels;
    SP_TRY(sp__conv_share(job, planes, max_i64(1, 32768 / job->plane), pad_planes, job));
    job->x = job->padded_x;
    return SP_OK;
}

/* Weights in panels of `width` output channels, [k][width] each, per group. */
static void pack_weights(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
    int64_t width = job->width, taps = sp__window_taps(&job->g.w), size = job->size;
    for (int64_t i = begin; i < end; i++) {
        int64_t group = i / job->m_panels, row = i % job->m_panels * width, m = min_i64(width, job->oc_g - row);
        char *to = job->panels + i * width * job->k * size;
        if (!job->mirrored) {
            job->kernels->pack(job->k, m, width, job->weight + (group * job->oc_g + row) * job->k * size, 1, job->k,
                               to);
            continue;
        }
        /* weight is [ic, oc, taps] from here; taps backwards. */
        for (int64_t ic = 0; ic < job->ic_g; ic++) {
            const char *from = job->weight + (((group * job->ic_g + ic) * job->oc_g + row) * taps + taps - 1) * size;
            job->kernels->pack(taps, m, width, from, -1, taps, to + ic * taps * width * size);
        }
    }
}

/* --- forward ----------------------------------------------------------------------------------------------------- */

/* The share of lanes that do work, for each form. Rows read in place leave lanes of each row's last vector idle, and rows of one vector keep
 * only half of the accumulators busy; gathering costs about as much as 16 rows of weights. Channels lose by what is left of the last
 * vector, and by rows too short to hide the latency of their sums. */
static conv_form form_of(const sp__conv_job *job)
{
    const sp__window *w = &job->g.w;
    double lanes = job->kernels->lanes, width = (double)w->out[2], n = (double)job->positions, m = (double)job->oc_g;
    double rows = width / (double)ceil_div(w->out[2], job->kernels->points_max),
           half = (double)job->kernels->points_max / 2;
    double channels = m / (lanes * (double)ceil_div(job->oc_g, job->kernels->lanes)) * (rows < half ? rows / half : 1) *
                      (m <= lanes ? 0.8 : 1);
    double in_place = width / (lanes * (double)ceil_div(w->out[2], job->kernels->lanes)) * (width <= lanes ? 0.7 : 1);
    double gathered = n / (lanes * (double)ceil_div(job->positions, job->kernels->lanes)) * m / (m + 16);
    if (w->stride[2] != 1) in_place = 0;
    if (channels >= in_place && channels >= gathered) return FORM_CHANNELS;
    return in_place >= gathered ? FORM_ROWS : FORM_PANELS;
}

bool sp__conv_is_product(const sp__conv_geometry *g)
{
    bool plain = g->group == 1 && sp__window_taps(&g->w) == 1;
    for (int d = 0; d < SP_SPATIAL; d++) plain &= g->w.stride[d] == 1 && g->w.pad[d] == 0 && g->w.pad_end[d] == 0;
    return plain;
}

sp__gemm_shape sp__conv_product_shape(const sp__conv_job *job)
{
    bool turn = job->mirrored; /* then weight is [k, m] */
    return (sp__gemm_shape){.dtype = job->dtype,
                            .m = job->oc_g,
                            .n = job->positions,
                            .k = job->k,
                            .a_row = turn ? 1 : job->k,
                            .a_col = turn ? job->oc_g : 1,
                            .b_row = job->positions,
                            .b_col = 1,
                            .c_row = job->positions};
}

/* Panels of weights that one task goes through: about what the second cache holds beside the input. */
enum { SLICE_BYTES = 512 * 1024 };
#define LARGE_TASK_FLOPS 8e6

void sp__conv_plan_forward(sp__conv_job *job)
{
    const sp__window *w = &job->g.w;
    job->pointwise = sp__conv_is_pointwise(job);
    job->winograd = SP_HAVE_BLOCKS && sp__winograd_takes(job);
    job->form = form_of(job);
    bool by_rows = job->form != FORM_PANELS;
    if (!by_rows) job->offsets_bytes = aligned((size_t)(job->k + job->positions) * sizeof(int64_t));
    job->width = job->form == FORM_CHANNELS ? job->kernels->columns : job->kernels->rows;
    job->m_panels = ceil_div(job->oc_g, job->width);
    job->panels_bytes = aligned((size_t)(job->g.group * job->m_panels * job->width * job->k * job->size));
    job->slice = job->m_panels;
    if (job->form == FORM_CHANNELS)
        job->slice = max_i64(1, min_i64(job->m_panels, SLICE_BYTES / (job->width * job->k * job->size)));
    job->slices = ceil_div(job->m_panels, job->slice);
    int64_t unit = by_rows ? w->out[2] : job->kernels->columns; /* positions that belong together */
    int64_t units = by_rows ? w->out[0] * w->out[1] : ceil_div(job->positions, unit);
    double channels = (double)min_i64(job->oc_g, job->slice * job->width);
    double unit_flops = 2.0 * channels * (double)unit * (double)job->k + 1;
    double want = (job->slices > 1 ? LARGE_TASK_FLOPS : SP_CONV_TASK_FLOPS) /
                  unit_flops; /* weights that are read anew want more rows */
    job->band = want<1 ? 1 : want>(double) units ? max_i64(units, 1) : (int64_t)want;
    job->bands = ceil_div(units, job->band);
    double tasks = SP_CONV_TASK_FLOPS / (unit_flops * (double)job->band);
    job->per_task = tasks < 1 ? 1 : tasks > 1e6 ? 1000000 : (int64_t)tasks;
}

void sp__conv_fill_bias(const sp__conv_job *job, int64_t channel, int64_t n_channels, int64_t from, int64_t n,
                        char *out)
{
    for (int64_t i = 0; i < n_channels; i++) {
        if (job->size == 4) {
            float *to = (float *)(void *)out + i * job->positions + from,
                  v = ((const float *)(const void *)job->bias)[channel + i];
            for (int64_t j = 0; j < n; j++) to[j] = v;
        } else {
            double *to = (double *)(void *)out + i * job->positions + from,
                   v = ((const double *)(const void *)job->bias)[channel + i];
            for (int64_t j = 0; j < n; j++) to[j] = v;
        }
    }
}

/* Rows [r0, r1) of one image and group, windows read in place. */
static void forward_rows(const sp__conv_job *job, const char *x, const char *panels, char *out, int64_t r0, int64_t r1)
{
    const sp__gemm_kernels *kernels = job->kernels;
    const sp__window *w = &job->g.w;
    int64_t size = job->size, rows = kernels->rows, width = w->out[2];
    const char *x_end = job->x + job->g.batch * job->g.in_channels * job->plane * size;
    for (int64_t p = 0; p < job->k; p += kernels->k_block) {
        int64_t k = min_i64(kernels->k_block, job->k - p);
        for (int64_t r = r0; r < r1; r++) {
            int64_t d = r / w->out[1], h = r % w->out[1];
            const char *row = x + (d * w->stride[0] * job->padded[1] + h * w->stride[1]) * job->padded[2] * size;
            for (int64_t j = 0; j < width; j += kernels->columns) {
                int64_t n = min_i64(kernels->columns, width - j);
                bool two = n > kernels->lanes;
                /* Lanes behind the last column compute nonsense that is not stored; they must not leave the memory. */
                bool inside =
                    row + (j + job->offsets[job->k - 1] + (two ? kernels->columns : kernels->lanes)) * size <= x_end;
                const sp__gemm_taps *micro = inside ? kernels->taps[two] : kernels->taps_edge[two];
                for (int64_t i = 0; i < job->oc_g; i += rows)
                    micro[min_i64(rows, job->oc_g - i) - 1](
                        k, panels + (i * job->k + p * rows) * size, row + j * size, job->offsets + p,
                        out + (i * job->positions + r * width + j) * size, job->positions, n, p > 0 || job->bias);
            }
        }
    }
}

/* Panels [u0, u1) of positions of one image and group, windows gathered. */
static void forward_panels(const sp__conv_job *job, const char *x, const char *panels, char *out, int64_t u0,
                           int64_t u1)
{
    const sp__gemm_kernels *kernels = job->kernels;
    int64_t size = job->size, rows = kernels->rows, columns = kernels->columns;
    char *const panel = sp__scratch_take(SP_GEMM_PANEL_BYTES);
    for (int64_t u = u0; u < u1; u++) {
        int64_t q = u * columns, n = min_i64(columns, job->positions - q);
        bool two = n > kernels->lanes;
        for (int64_t p = 0; p < job->k; p += kernels->k_block) {
            int64_t k = min_i64(kernels->k_block, job->k - p);
            kernels->gather(k, job->offsets + p, n, job->starts + q, x, panel);
            for (int64_t i = 0; i < job->oc_g; i += rows)
                kernels->packed[two][min_i64(rows, job->oc_g - i) - 1](
                    k, panels + (i * job->k + p * rows) * size, 1, rows, panel, columns,
                    out + (i * job->positions + q) * size, job->positions, n, p > 0 || job->bias);
        }
    }
    sp__scratch_give(panel);
}

/* Rows [r0, r1) of one image and group, channels of panels [c0, c1): channels across, positions broadcast. */
static void forward_points(const sp__conv_job *job, const char *x, const char *panels, const char *bias, char *out,
                           int64_t r0, int64_t r1, int64_t c0, int64_t c1)
{
    const sp__gemm_kernels *kernels = job->kernels;
    const sp__window *w = &job->g.w;
    int64_t size = job->size, columns = kernels->columns, width = w->out[2], step = w->stride[2];
    int64_t chunks = ceil_div(width, kernels->points_max);
    _Alignas(64) char tile[32 * 128]; /* as many rows as columns, of two vectors of 64 bytes at most */
    memset(tile, 0, sizeof tile);
    for (int64_t c = c0; c < c1; c++) {
        int64_t channel = c * columns, n = min_i64(columns, job->oc_g - channel);
        const char *panel = panels + channel * job->k * size;
        for (int64_t r = r0; r < r1; r++) {
            int64_t d = r / w->out[1], h = r % w->out[1];
            const char *row = x + (d * w->stride[0] * job->padded[1] + h * w->stride[1]) * job->padded[2] * size;
            for (int64_t i = 0; i < chunks; i++) {
                int64_t q = i * width / chunks, rows = (i + 1) * width / chunks - q; /* about equal parts */
                sp__gemm_points points = kernels->points[n > kernels->lanes][rows - 1];
                for (int64_t p = 0; p < job->k; p += kernels->k_block)
                    points(min_i64(kernels->k_block, job->k - p), row + q * step * size, step, job->offsets + p,
                           panel + p * columns * size, tile, p > 0);
                kernels->settle(rows, n, tile, bias ? bias + channel * size : NULL,
                                out + (channel * job->positions + r * width + q) * size, job->positions);
            }
        }
    }
}

static void forward_tasks(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
    const sp__window *w = &job->g.w;
    bool by_rows = job->form != FORM_PANELS;
    int64_t unit = by_rows ? w->out[2] : job->kernels->columns;
    int64_t units = by_rows ? w->out[0] * w->out[1] : ceil_div(job->positions, unit);
    for (int64_t t = begin; t < end; t++) {
        int64_t item = t / (job->slices * job->bands), slice = t / job->bands % job->slices;
        int64_t u0 = t % job->bands * job->band, u1 = min_i64(u0 + job->band, units), group = item % job->g.group;
        int64_t c0 = slice * job->slice, c1 = min_i64(c0 + job->slice, job->m_panels);
        int64_t channel = c0 * job->width, n_channels = min_i64(c1 * job->width, job->oc_g) - channel;
        int64_t q0 = u0 * unit, n = min_i64(u1 * unit, job->positions) - q0;
        const char *x = job->x + item * job->ic_g * job->plane * job->size;
        const char *panels = job->panels + group * job->m_panels * job->width * job->k * job->size;
        char *out = job->out + item * job->oc_g * job->positions * job->size;
        if (job->form == FORM_CHANNELS) {
            forward_points(job, x, panels, job->bias ? job->bias + group * job->oc_g * job->size : NULL, out, u0, u1,
                           c0, c1);
        } else {
            if (job->bias) sp__conv_fill_bias(job, group * job->oc_g, job->oc_g, q0, n, out);
            if (job->form == FORM_ROWS) forward_rows(job, x, panels, out, u0, u1);
            else forward_panels(job, x, panels, out, u0, u1);
        }
        if (job->epilogue)
            job->epilogue->fn(job->epilogue->context, (item * job->oc_g + channel) * job->positions + q0, n_channels,
                              job->positions, n);
    }
}

static void bias_tasks(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
    for (int64_t i = begin; i < end; i++)
        sp__conv_fill_bias(job, i % job->g.out_channels, 1, 0, job->positions,
                           job->out + i * job->positions * job->size);
}

/* --- forward, by tiles ------------------------------------------------------------------------------------------- */

/* Cycles of either way on a CPU with AMX, as in gemm.c; windows are packed once for each of their elements, dearer with a stride. */
static const sp__tiles_kernels *tiles_for(const sp__conv_job *job)
{
    const sp__tiles_kernels *tiles = job->dtype == SP_DTYPE_F32 ? sp__tiles_find(SP_DTYPE_F32) : NULL;
    if (!tiles || job->flops == 0) return NULL;
    if (tiles->always) return tiles;
    double m = (double)job->oc_g, k = (double)job->k, n = (double)(job->g.batch * job->positions);
    double padded = (double)(ceil_div(job->oc_g, SP_TILE) * SP_TILE) * n * (double)(ceil_div(job->k, 32) * 32);
    double by_tiles = padded * 12 / 1024 * 1.9 + 2.2 * m * k + n * k * (job->g.w.stride[2] == 1 ? 1.8 : 2.6) + m * n;
    double by_vectors = 2 * m * n * k / 48 * (SP_HAVE_BLOCKS && job->winograd ? sp__winograd_share(job) : 1);
    return by_tiles < 0.85 * by_vectors ? tiles : NULL;
}

bool sp__conv_is_tiled(const sp__conv_job *job) { return tiles_for(job) != NULL; }

static void plan_tiles(sp__conv_job *job)
{
    int64_t n = job->g.batch * job->positions;
    job->tiles = tiles_for(job);
    if (!job->tiles) return;
    job->tables_bytes = aligned((size_t)(n + job->k) * sizeof(int64_t));
    job->tiles_bytes = sp__tiles_work(SP_DTYPE_F32, job->oc_g, n, job->k, false);
}

static void measure_x(void *context, int64_t begin, int64_t end)
{
    sp__conv_job *job = context;
    sp__tiles_measure((const float *)(const void *)job->x + begin, end - begin, &job->x_range);
}

/* SP_DECLINED: numbers out of range, nothing was written. */
static sp_status forward_tiles(sp__conv_job *job, char *work)
{
    const sp__conv_geometry *g = &job->g;
    const sp__window *w = &g->w;
    int64_t taps = sp__window_taps(w), n = g->batch * job->positions, image = g->in_channels * job->plane;
    int64_t *starts = (int64_t *)(void *)work, *weight_at = starts + n;
    sp__tiles_range weight_range;
    sp__tiles_range_start(&job->x_range);
    sp__tiles_range_start(&weight_range);
    sp__tiles_measure((const float *)(const void *)job->weight, g->out_channels * job->k, &weight_range);
    SP_TRY(sp__conv_share(job, g->batch * image, 1 << 16, measure_x, job));
    int64_t q = 0;
    for (int64_t b = 0; b < g->batch; b++)
        for (int64_t d = 0; d < w->out[0]; d++)
            for (int64_t h = 0; h < w->out[1]; h++)
                for (int64_t i = 0; i < w->out[2]; i++)
                    starts[q++] = b * image + (d * w->stride[0] * job->padded[1] + h * w->stride[1]) * job->padded[2] +
                                  i * w->stride[2];
    for (int64_t p = 0; job->mirrored && p < job->k; p++) /* weight is [ic, oc, taps], taps backwards */
        weight_at[p] = p / taps * job->oc_g * taps + taps - 1 - p % taps;
    for (int64_t group = 0; group < g->group; group++) {
        int64_t first = group * job->oc_g * job->positions; /* of C */
        sp__tiles_product p = {.a = {.dtype = SP_DTYPE_F32,
                                     .data = job->weight + group * job->oc_g * job->k * 4,
                                     .n = job->oc_g,
                                     .n_k = job->k,
                                     .outer = job->mirrored ? taps : job->k,
                                     .k = 1,
                                     .k_table = job->mirrored ? weight_at : NULL},
                               .b = {.dtype = SP_DTYPE_F32,
                                     .data = job->x + group * job->ic_g * job->plane * 4,
                                     .n = n,
                                     .n_k = job->k,
                                     .outer_table = starts,
                                     .k_table = job->offsets},
                               .c = job->out + first * 4,
                               .c_dtype = SP_DTYPE_F32,
                               .c_row = job->positions,
                               .c_columns = job->positions,
                               .c_step = g->out_channels * job->positions,
                               .epilogue = job->epilogue,
                               .start = first,
                               .bias = job->bias ? (const float *)(const void *)job->bias + group * job->oc_g : NULL,
                               .a_range = &weight_range,
                               .b_range = &job->x_range};
        SP_TRY(sp__tiles_multiply(job->tiles, &p, work + job->tables_bytes));
    }
    return SP_OK;
}

/* ----------------------------------------------------------------------------------------------------------------- */

/* Whether the weights made ahead are panels. */
static bool has_panels(const sp__conv_job *job) { return job->prepared && !job->winograd; }

size_t sp__conv_forward_work(sp__conv_job *job)
{
    if (sp__conv_is_pointwise(job)) return sp__pointwise_work(job);
    if (sp__conv_is_product(&job->g)) {
        sp__gemm_shape s = sp__conv_product_shape(job);
        return sp__gemm_batch_work(&s, job->g.batch);
    }
    sp__conv_plan_forward(job);
    plan_tiles(job);
    /* Whatever goes first, it may find numbers that it cannot take and leave them to the direct way. */
    size_t panels = has_panels(job) ? 0 : job->panels_bytes,
           tiles = job->tiles ? job->tables_bytes + job->tiles_bytes : 0;
    size_t direct = job->offsets_bytes + job->padded_bytes + (panels > tiles ? panels : tiles);
    size_t winograd = SP_HAVE_BLOCKS && job->winograd ? sp__winograd_work(job) : 0;
    return direct > winograd ? direct : winograd;
}

void sp__conv_place(sp__conv_job *job, char *work)
{
    job->offsets = (int64_t *)(void *)work;
    job->padded_x = work + job->offsets_bytes;
    job->panels = job->padded_x + job->padded_bytes;
}

static sp_status pack_panels(sp__conv_job *job)
{
    return sp__conv_share(job, job->g.group * job->m_panels, max_i64(1, 32768 / (job->k * job->width)), pack_weights,
                          job);
}

size_t sp__conv_prepared_bytes(const sp__conv_job *job)
{
    if (job->pointwise) return sp__pointwise_prepared_bytes(job);
    return SP_HAVE_BLOCKS && job->winograd ? sp__winograd_prepared_bytes(job) : job->panels_bytes;
}

sp_status sp__conv_prepare(sp__conv_job *job, void *to)
{
    if (job->pointwise) return sp__pointwise_prepare(job, to);
    if (SP_HAVE_BLOCKS && job->winograd) return sp__winograd_prepare(job, to);
    job->panels = to;
    return pack_panels(job);
}

sp_status sp__conv_forward(sp__conv_job *job, char *work)
{
    const sp__conv_geometry *g = &job->g;
    if (sp__conv_is_pointwise(job)) return sp__pointwise_forward(job, work);
    if (sp__conv_is_product(g)) {
        sp__gemm_shape s = sp__conv_product_shape(job);
        sp__gemm_batch batch = {.n = g->batch, .b_step = job->k * job->positions, .c_step = job->oc_g * job->positions};
        batch.epilogue = job->epilogue;
        if (job->bias)
            SP_TRY(
                sp__conv_share(job, g->batch * g->out_channels, max_i64(1, 32768 / job->positions), bias_tasks, job));
        return sp__gemm_batched(&s, &batch, job->weight, job->x, job->out, job->bias != NULL, work);
    }
    sp__conv_plan_forward(job);
    plan_tiles(job);
    if (SP_HAVE_BLOCKS && job->winograd && !job->tiles) {
        sp_status status = sp__winograd_forward(job, work);
        if (status != SP_DECLINED) return status;
    }
    sp__conv_place(job, work);
    SP_TRY(sp__conv_pad(job));
    if (HAVE_TILES && job->tiles) {
        sp_status status = forward_tiles(job, job->panels);
        if (status != SP_DECLINED) return status;
    }
    if (job->form == FORM_PANELS) fill_starts(job);
    if (has_panels(job)) job->panels = (char *)(uintptr_t)job->prepared;
    else SP_TRY(pack_panels(job));
    return sp__conv_share(job, g->batch * g->group * job->slices * job->bands, job->per_task, forward_tasks, job);
}
