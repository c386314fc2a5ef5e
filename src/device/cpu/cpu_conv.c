/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_conv.c - convolution and its gradients for float32 and float64, without ever writing the windows out.
 *
 * The input is copied once with its padding around it (or used in place when there is none). After that the element under
 * tap p of the window at position q is x[offsets[p] + q], and a convolution is the matrix product of the weights,
 * [out channels, taps], with rows of x that start at offsets[p]:
 *
 *   forward      many output channels: they are the vectors, positions are broadcast from where they are. Few: positions are the
 *                vectors; with unit stride the micro-kernel reads rows of x in place, else a panel of positions is gathered first.
 *                A window of one element is the plain matrix product. On a CPU with AMX: a product from tiles (tiles.h) whose
 *                columns are the positions of all images.
 *   by input     unit stride: the forward convolution of dout with mirrored weights; else products of weights and dout
 *                that are added into dx, channel by channel.
 *   by weight    positions are summed over: x is broadcast, the output channels of dout (turned once) are the vectors.
 *                With one or two output channels per group: vectors along the row instead.
 *
 * Work is cut by shapes alone, an element is always summed by one thread in one order. float16 and bfloat16 are widened
 * to float and rounded once at the end. */
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/gemm.h"
#include "device/cpu/tiles.h"
#include "ir/window.h"

enum { SCATTER_ROWS = 128, SCATTER_BYTES = 64 * 1024, CORRELATE_PANELS = 8 };
#define PARALLEL_FLOPS 2e6 /* below this everything stays on one thread */
#define TASK_FLOPS 1e6     /* what one task should have to do */

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* What the vectors of a forward convolution are. */
typedef enum { FORM_CHANNELS, FORM_ROWS, FORM_PANELS } conv_form;

typedef struct conv_job {
    const sp__gemm_kernels *kernels;
    sp_dtype dtype;
    int64_t size;            /* of an element */
    sp__conv_geometry g;     /* of the convolution as it is computed: for the gradient by input, the mirrored one */
    int64_t ic_g, oc_g, k;   /* channels per group; taps times in channels per group */
    int64_t padded[SP_SPATIAL], plane, positions;
    bool copies, mirrored;
    double flops;
    /* scratch */
    size_t offsets_bytes, padded_bytes, panels_bytes;
    int64_t *offsets;        /* k of them: where the element under each tap lies */
    int64_t *starts;         /* where the window of each position begins, when panels are gathered */
    char *padded_x, *panels;
    /* operands */
    const char *x, *weight, *bias, *dout;
    char *out;
    /* tasks */
    conv_form form;
    int64_t width;           /* of a panel of weights: rows or columns of the register block */
    int64_t band, bands;     /* output rows, or positions, of a task; tasks per image and group */
    int64_t per_task, n_panels, m_panels;
    int64_t slice, slices;   /* FORM_CHANNELS: panels of weights of a task; tasks per band */
    const sp_epilogue *epilogue;
    const char *prepared;    /* panels of weights made ahead, or NULL */
    const sp__tiles_kernels *tiles; /* NULL: by vectors */
    size_t tables_bytes, tiles_bytes;
    sp__tiles_range x_range;
} conv_job;

static void plan_common(sp_dtype dtype, conv_job *job)
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
    job->padded_bytes =
        job->copies ? aligned((size_t)(g->batch * g->in_channels * job->plane) * (size_t)job->size) : 0;
}

static sp_status share(conv_job *job, int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t))
{
    if (n == 0) return SP_OK;
    if (job->flops >= PARALLEL_FLOPS) return sp__parallel_for(n, grain, fn, job);
    fn(job, 0, n);
    return SP_OK;
}

/* --- preparation ------------------------------------------------------------------------------------------------- */

static void fill_offsets(const conv_job *job)
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

static void fill_starts(conv_job *job)
{
    const sp__window *w = &job->g.w;
    int64_t q = 0;
    job->starts = job->offsets + job->k;
    for (int64_t a = 0; a < w->out[0]; a++)
        for (int64_t b = 0; b < w->out[1]; b++)
            for (int64_t c = 0; c < w->out[2]; c++)
                job->starts[q++] = (a * w->stride[0] * job->padded[1] + b * w->stride[1]) * job->padded[2] + c * w->stride[2];
}

static void pad_planes(void *context, int64_t begin, int64_t end)
{
    const conv_job *job = context;
    const sp__window *w = &job->g.w;
    size_t row_bytes = (size_t)(w->in[2] * job->size);
    for (int64_t i = begin; i < end; i++) {
        const char *from = job->x + i * sp__window_inputs(w) * job->size;
        char *to = job->padded_x + i * job->plane * job->size;
        memset(to, 0, (size_t)(job->plane * job->size));
        for (int64_t d = 0; d < w->in[0]; d++)
            for (int64_t h = 0; h < w->in[1]; h++, from += row_bytes)
                memcpy(to + (((d + w->pad[0]) * job->padded[1] + h + w->pad[1]) * job->padded[2] + w->pad[2]) * job->size,
                       from, row_bytes);
    }
}

/* x with its padding; afterwards x is read without checks. */
static sp_status prepare_x(conv_job *job)
{
    fill_offsets(job);
    if (!job->copies) return SP_OK;
    int64_t planes = job->g.batch * job->g.in_channels;
    SP_TRY(share(job, planes, max_i64(1, 32768 / job->plane), pad_planes));
    job->x = job->padded_x;
    return SP_OK;
}

/* Weights in panels of `width` output channels, [k][width] each, per group. */
static void pack_weights(void *context, int64_t begin, int64_t end)
{
    const conv_job *job = context;
    int64_t width = job->width, taps = sp__window_taps(&job->g.w), size = job->size;
    for (int64_t i = begin; i < end; i++) {
        int64_t group = i / job->m_panels, row = i % job->m_panels * width, m = min_i64(width, job->oc_g - row);
        char *to = job->panels + i * width * job->k * size;
        if (!job->mirrored) {
            job->kernels->pack(job->k, m, width, job->weight + (group * job->oc_g + row) * job->k * size, 1, job->k, to);
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
static conv_form form_of(const conv_job *job)
{
    const sp__window *w = &job->g.w;
    double lanes = job->kernels->lanes, width = (double)w->out[2], n = (double)job->positions, m = (double)job->oc_g;
    double rows = width / (double)ceil_div(w->out[2], job->kernels->points_max), half = (double)job->kernels->points_max / 2;
    double channels = m / (lanes * (double)ceil_div(job->oc_g, job->kernels->lanes)) * (rows < half ? rows / half : 1) * (m <= lanes ? 0.8 : 1);
    double in_place = width / (lanes * (double)ceil_div(w->out[2], job->kernels->lanes)) * (width <= lanes ? 0.7 : 1);
    double gathered = n / (lanes * (double)ceil_div(job->positions, job->kernels->lanes)) * m / (m + 16);
    if (w->stride[2] != 1) in_place = 0;
    if (channels >= in_place && channels >= gathered) return FORM_CHANNELS;
    return in_place >= gathered ? FORM_ROWS : FORM_PANELS;
}

static bool is_plain_product(const sp__conv_geometry *g)
{
    bool plain = g->group == 1 && sp__window_taps(&g->w) == 1;
    for (int d = 0; d < SP_SPATIAL; d++) plain &= g->w.stride[d] == 1 && g->w.pad[d] == 0 && g->w.pad_end[d] == 0;
    return plain;
}

static sp__gemm_shape product_shape(const conv_job *job)
{
    bool turn = job->mirrored; /* then weight is [k, m] */
    return (sp__gemm_shape){.dtype = job->dtype, .m = job->oc_g, .n = job->positions, .k = job->k,
                            .a_row = turn ? 1 : job->k, .a_col = turn ? job->oc_g : 1, .b_row = job->positions,
                            .b_col = 1, .c_row = job->positions};
}

/* Panels of weights that one task goes through: about what the second cache holds beside the input. */
enum { SLICE_BYTES = 512 * 1024 };
#define LARGE_TASK_FLOPS 8e6

static void plan_forward(conv_job *job)
{
    const sp__window *w = &job->g.w;
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
    double want = (job->slices > 1 ? LARGE_TASK_FLOPS : TASK_FLOPS) / unit_flops; /* weights that are read anew want more rows */
    job->band = want < 1 ? 1 : want > (double)units ? max_i64(units, 1) : (int64_t)want;
    job->bands = ceil_div(units, job->band);
    double tasks = TASK_FLOPS / (unit_flops * (double)job->band);
    job->per_task = tasks < 1 ? 1 : tasks > 1e6 ? 1000000 : (int64_t)tasks;
}

static void fill_bias(const conv_job *job, int64_t channel, int64_t n_channels, int64_t from, int64_t n, char *out)
{
    for (int64_t i = 0; i < n_channels; i++) {
        if (job->size == 4) {
            float *to = (float *)(void *)out + i * job->positions + from, v = ((const float *)(const void *)job->bias)[channel + i];
            for (int64_t j = 0; j < n; j++) to[j] = v;
        } else {
            double *to = (double *)(void *)out + i * job->positions + from, v = ((const double *)(const void *)job->bias)[channel + i];
            for (int64_t j = 0; j < n; j++) to[j] = v;
        }
    }
}

/* Rows [r0, r1) of one image and group, windows read in place. */
static void forward_rows(const conv_job *job, const char *x, const char *panels, char *out, int64_t r0, int64_t r1)
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
                bool inside = row + (j + job->offsets[job->k - 1] + (two ? kernels->columns : kernels->lanes)) * size <= x_end;
                const sp__gemm_taps *micro = inside ? kernels->taps[two] : kernels->taps_edge[two];
                for (int64_t i = 0; i < job->oc_g; i += rows)
                    micro[min_i64(rows, job->oc_g - i) - 1](k, panels + (i * job->k + p * rows) * size, row + j * size,
                                                            job->offsets + p, out + (i * job->positions + r * width + j) * size,
                                                            job->positions, n, p > 0 || job->bias);
            }
        }
    }
}

/* Panels [u0, u1) of positions of one image and group, windows gathered. */
static void forward_panels(const conv_job *job, const char *x, const char *panels, char *out, int64_t u0, int64_t u1)
{
    const sp__gemm_kernels *kernels = job->kernels;
    int64_t size = job->size, rows = kernels->rows, columns = kernels->columns;
    _Alignas(64) char panel[SP_GEMM_PANEL_BYTES];
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
}

/* Rows [r0, r1) of one image and group, channels of panels [c0, c1): channels across, positions broadcast. */
static void forward_points(const conv_job *job, const char *x, const char *panels, const char *bias, char *out, int64_t r0, int64_t r1,
                           int64_t c0, int64_t c1)
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
                kernels->settle(rows, n, tile, bias ? bias + channel * size : NULL, out + (channel * job->positions + r * width + q) * size,
                                job->positions);
            }
        }
    }
}

static void forward_tasks(void *context, int64_t begin, int64_t end)
{
    const conv_job *job = context;
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
            forward_points(job, x, panels, job->bias ? job->bias + group * job->oc_g * job->size : NULL, out, u0, u1, c0, c1);
        } else {
            if (job->bias) fill_bias(job, group * job->oc_g, job->oc_g, q0, n, out);
            if (job->form == FORM_ROWS) forward_rows(job, x, panels, out, u0, u1);
            else forward_panels(job, x, panels, out, u0, u1);
        }
        if (job->epilogue)
            job->epilogue->fn(job->epilogue->context, (item * job->oc_g + channel) * job->positions + q0, n_channels, job->positions, n);
    }
}

static void bias_tasks(void *context, int64_t begin, int64_t end)
{
    const conv_job *job = context;
    for (int64_t i = begin; i < end; i++)
        fill_bias(job, i % job->g.out_channels, 1, 0, job->positions, job->out + i * job->positions * job->size);
}

/* --- forward, by tiles ------------------------------------------------------------------------------------------- */

/* Cycles of either way on a CPU with AMX, as in gemm.c; windows are packed once for each of their elements, dearer with a stride. */
static const sp__tiles_kernels *tiles_for(const conv_job *job)
{
    const sp__tiles_kernels *tiles = job->dtype == SP_DTYPE_F32 ? sp__tiles_find(SP_DTYPE_F32) : NULL;
    if (!tiles || job->flops == 0) return NULL;
    double m = (double)job->oc_g, k = (double)job->k, n = (double)(job->g.batch * job->positions);
    double padded = (double)(ceil_div(job->oc_g, SP_TILE) * SP_TILE) * n * (double)(ceil_div(job->k, 32) * 32);
    double by_tiles = padded * 12 / 1024 * 1.25 + m * k + n * k * (job->g.w.stride[2] == 1 ? 0.8 : 1.6);
    return by_tiles < 0.85 * (2 * m * n * k / (64 * 0.85)) ? tiles : NULL;
}

static void plan_tiles(conv_job *job)
{
    int64_t n = job->g.batch * job->positions;
    job->tiles = tiles_for(job);
    if (!job->tiles) return;
    job->tables_bytes = aligned((size_t)(n + job->k) * sizeof(int64_t));
    job->tiles_bytes = sp__tiles_work(SP_DTYPE_F32, job->oc_g, n, job->k, false);
}

static void measure_x(void *context, int64_t begin, int64_t end)
{
    conv_job *job = context;
    sp__tiles_measure((const float *)(const void *)job->x + begin, end - begin, &job->x_range);
}

/* SP_DECLINED: numbers out of range, nothing was written. */
static sp_status forward_tiles(conv_job *job, char *work)
{
    const sp__conv_geometry *g = &job->g;
    const sp__window *w = &g->w;
    int64_t taps = sp__window_taps(w), n = g->batch * job->positions, image = g->in_channels * job->plane;
    int64_t *starts = (int64_t *)(void *)work, *weight_at = starts + n;
    sp__tiles_range weight_range;
    sp__tiles_range_start(&job->x_range);
    sp__tiles_range_start(&weight_range);
    sp__tiles_measure((const float *)(const void *)job->weight, g->out_channels * job->k, &weight_range);
    SP_TRY(share(job, g->batch * image, 1 << 16, measure_x));
    int64_t q = 0;
    for (int64_t b = 0; b < g->batch; b++)
        for (int64_t d = 0; d < w->out[0]; d++)
            for (int64_t h = 0; h < w->out[1]; h++)
                for (int64_t i = 0; i < w->out[2]; i++)
                    starts[q++] = b * image + (d * w->stride[0] * job->padded[1] + h * w->stride[1]) * job->padded[2] + i * w->stride[2];
    for (int64_t p = 0; job->mirrored && p < job->k; p++) /* weight is [ic, oc, taps], taps backwards */
        weight_at[p] = p / taps * job->oc_g * taps + taps - 1 - p % taps;
    for (int64_t group = 0; group < g->group; group++) {
        int64_t first = group * job->oc_g * job->positions; /* of C */
        sp__tiles_product p = {
            .a = {.dtype = SP_DTYPE_F32, .data = job->weight + group * job->oc_g * job->k * 4, .n = job->oc_g, .n_k = job->k,
                  .outer = job->mirrored ? taps : job->k, .k = 1, .k_table = job->mirrored ? weight_at : NULL},
            .b = {.dtype = SP_DTYPE_F32, .data = job->x + group * job->ic_g * job->plane * 4, .n = n, .n_k = job->k,
                  .outer_table = starts, .k_table = job->offsets},
            .c = job->out + first * 4, .c_dtype = SP_DTYPE_F32, .c_row = job->positions, .c_columns = job->positions,
            .c_step = g->out_channels * job->positions, .epilogue = job->epilogue, .start = first,
            .bias = job->bias ? (const float *)(const void *)job->bias + group * job->oc_g : NULL,
            .a_range = &weight_range, .b_range = &job->x_range};
        SP_TRY(sp__tiles_multiply(job->tiles, &p, work + job->tables_bytes));
    }
    return SP_OK;
}

/* ----------------------------------------------------------------------------------------------------------------- */

static size_t forward_work(conv_job *job)
{
    if (is_plain_product(&job->g)) {
        sp__gemm_shape s = product_shape(job);
        return sp__gemm_batch_work(&s, job->g.batch);
    }
    plan_forward(job);
    plan_tiles(job);
    size_t panels = job->prepared ? 0 : job->panels_bytes, tiles = job->tiles ? job->tables_bytes + job->tiles_bytes : 0;
    return job->offsets_bytes + job->padded_bytes + (panels > tiles ? panels : tiles);
}

static void place(conv_job *job, char *work)
{
    job->offsets = (int64_t *)(void *)work;
    job->padded_x = work + job->offsets_bytes;
    job->panels = job->padded_x + job->padded_bytes;
}

static sp_status pack_all(conv_job *job)
{
    return share(job, job->g.group * job->m_panels, max_i64(1, 32768 / (job->k * job->width)), pack_weights);
}

static sp_status forward_run(conv_job *job, char *work)
{
    const sp__conv_geometry *g = &job->g;
    if (is_plain_product(g)) {
        sp__gemm_shape s = product_shape(job);
        sp__gemm_batch batch = {.n = g->batch, .b_step = job->k * job->positions, .c_step = job->oc_g * job->positions};
        batch.epilogue = job->epilogue;
        if (job->bias) SP_TRY(share(job, g->batch * g->out_channels, max_i64(1, 32768 / job->positions), bias_tasks));
        return sp__gemm_batched(&s, &batch, job->weight, job->x, job->out, job->bias != NULL, work);
    }
    plan_forward(job);
    place(job, work);
    SP_TRY(prepare_x(job));
    plan_tiles(job);
    if (job->tiles) {
        sp_status status = forward_tiles(job, job->panels);
        if (status != SP_DECLINED) return status;
    }
    if (job->form == FORM_PANELS) fill_starts(job);
    if (job->prepared) job->panels = (char *)(uintptr_t)job->prepared;
    else SP_TRY(pack_all(job));
    return share(job, g->batch * g->group * job->slices * job->bands, job->per_task, forward_tasks);
}

/* --- gradient by input ------------------------------------------------------------------------------------------- */

/* The gradient as a forward convolution: dout, padded so that every window of it exists, with mirrored weights. Not
 * possible when the padding was larger than the kernel's reach. */
static bool mirror(const sp__conv_geometry *g, sp__conv_geometry *out)
{
    *out = *g;
    for (int d = 0; d < SP_SPATIAL; d++) {
        if (g->w.stride[d] != 1) return false;
        int64_t reach = g->w.dilation[d] * (g->w.kernel[d] - 1);
        out->w.in[d] = g->w.out[d];
        out->w.out[d] = g->w.in[d];
        out->w.pad[d] = reach - g->w.pad[d];
        out->w.pad_end[d] = reach - g->w.pad_end[d];
        if (out->w.pad[d] < 0 || out->w.pad_end[d] < 0) return false;
    }
    out->in_channels = g->out_channels;
    out->out_channels = g->in_channels;
    return true;
}

/* Channels [begin, end) of all images: products of weights and dout for a block of taps and positions, added into dx. */
static void scatter_tasks(void *context, int64_t begin, int64_t end)
{
    const conv_job *job = context;
    const sp__gemm_kernels *kernels = job->kernels;
    const sp__window *w = &job->g.w;
    int64_t size = job->size, taps = sp__window_taps(w), in_plane = sp__window_inputs(w), oc_g = job->oc_g;
    int64_t rows = kernels->rows, columns = kernels->columns, q_step = SCATTER_BYTES / SCATTER_ROWS / size;
    _Alignas(64) char tile[SCATTER_BYTES];
    for (int64_t t = begin; t < end; t++) {
        int64_t n = t / job->g.in_channels, channel = t % job->g.in_channels, group = channel / job->ic_g;
        char *dx = job->out + t * in_plane * size;
        memset(dx, 0, (size_t)(in_plane * size));
        const char *dout = job->dout + (n * job->g.out_channels + group * oc_g) * job->positions * size;
        const char *weight = job->weight + (group * oc_g * job->ic_g + channel % job->ic_g) * taps * size;
        for (int64_t q0 = 0; q0 < job->positions; q0 += q_step) {
            int64_t q1 = min_i64(q0 + q_step, job->positions);
            for (int64_t p0 = 0; p0 < taps; p0 += SCATTER_ROWS) {
                int64_t p1 = min_i64(p0 + SCATTER_ROWS, taps);
                for (int64_t q = q0; q < q1; q += columns) {
                    int64_t width = min_i64(columns, q1 - q);
                    bool two = width > kernels->lanes, whole = width % kernels->lanes == 0;
                    const sp__gemm_micro *micro = whole ? kernels->direct[two] : kernels->edge[two];
                    for (int64_t p = p0; p < p1; p += rows)
                        micro[min_i64(rows, p1 - p) - 1](oc_g, weight + p * size, 1, job->k, dout + q * size,
                                                         job->positions, tile + ((p - p0) * q_step + q - q0) * size,
                                                         q_step, width, false);
                }
                for (int64_t p = p0; p < p1; p++) {
                    int64_t kd = p / (w->kernel[1] * w->kernel[2]), kh = p / w->kernel[2] % w->kernel[1], kw = p % w->kernel[2];
                    int64_t d0, d1, h0, h1, w0, w1;
                    sp__window_range(w, 0, kd, &d0, &d1);
                    sp__window_range(w, 1, kh, &h0, &h1);
                    sp__window_range(w, 2, kw, &w0, &w1);
                    for (int64_t r = q0 / w->out[2]; r * w->out[2] < q1; r++) {
                        int64_t d = r / w->out[1], h = r % w->out[1], start = r * w->out[2];
                        if (d < d0 || d >= d1 || h < h0 || h >= h1) continue;
                        int64_t from = max_i64(start + w0, q0), to = min_i64(start + w1, q1);
                        if (from >= to) continue;
                        int64_t i = d * w->stride[0] - w->pad[0] + kd * w->dilation[0];
                        int64_t j = h * w->stride[1] - w->pad[1] + kh * w->dilation[1];
                        int64_t l = (from - start) * w->stride[2] - w->pad[2] + kw * w->dilation[2];
                        kernels->add(to - from, tile + ((p - p0) * q_step + from - q0) * size,
                                     dx + ((i * w->in[1] + j) * w->in[2] + l) * size, w->stride[2]);
                    }
                }
            }
        }
    }
}

static size_t input_work(const sp__conv_geometry *g, sp_dtype dtype, bool prepared)
{
    conv_job job = {.mirrored = true, .prepared = prepared ? "" : NULL};
    if (!mirror(g, &job.g)) return 0;
    plan_common(dtype, &job);
    return forward_work(&job);
}

static sp_status input_run(const sp__conv_geometry *g, sp_dtype dtype, const void *dout, const void *weight, void *out,
                           const void *prepared, char *work)
{
    conv_job job = {.weight = weight, .out = out, .prepared = prepared};
    if (mirror(g, &job.g)) {
        job.mirrored = true;
        job.x = dout;
        plan_common(dtype, &job);
        return forward_run(&job, work);
    }
    job.g = *g;
    job.dout = dout;
    plan_common(dtype, &job);
    double task = job.flops / ((double)(g->batch * g->in_channels) + 1) + 1;
    int64_t grain = task >= TASK_FLOPS ? 1 : (int64_t)min_i64(g->batch * g->in_channels, (int64_t)(TASK_FLOPS / task));
    return share(&job, g->batch * g->in_channels, max_i64(1, grain), scatter_tasks);
}

/* --- gradient by weight ------------------------------------------------------------------------------------------ */

/* One product of two planes per weight, and nothing to gain from turning dout. */
static bool is_thin(const conv_job *job) { return job->oc_g <= 2; }

static void plan_weight(conv_job *job)
{
    job->n_panels = ceil_div(job->oc_g, job->kernels->columns);
    job->m_panels = ceil_div(job->k, job->kernels->rows);
    job->panels_bytes = is_thin(job) ? 0
                                     : aligned((size_t)(job->g.batch * job->g.group * job->n_panels *
                                                        job->kernels->columns * job->positions * job->size));
    int64_t total = job->g.group * job->n_panels * job->m_panels;
    job->per_task = min_i64(CORRELATE_PANELS, max_i64(1, total / 16));
    job->bands = ceil_div(job->m_panels, job->per_task);
}

/* dout in panels of output channels, [positions][columns] each, per image and group. */
static void turn_dout(void *context, int64_t begin, int64_t end)
{
    const conv_job *job = context;
    int64_t columns = job->kernels->columns, size = job->size;
    for (int64_t i = begin; i < end; i++) {
        int64_t item = i / job->n_panels, channel = i % job->n_panels * columns;
        job->kernels->pack(job->positions, min_i64(columns, job->oc_g - channel), columns,
                           job->dout + (item * job->oc_g + channel) * job->positions * size, 1, job->positions,
                           job->panels + i * columns * job->positions * size);
    }
}

static sp__gemm_span span_of(const conv_job *job)
{
    const sp__window *w = &job->g.w;
    return (sp__gemm_span){.n = {w->out[0], w->out[1], w->out[2]},
                           .step = {w->stride[0] * job->padded[1] * job->padded[2], w->stride[1] * job->padded[2],
                                    w->stride[2]}};
}

/* A task: some panels of taps with one panel of output channels, over all images. */
static void weight_tasks(void *context, int64_t begin, int64_t end)
{
    const conv_job *job = context;
    const sp__gemm_kernels *kernels = job->kernels;
    int64_t size = job->size, rows = kernels->rows, columns = kernels->columns;
    sp__gemm_span span = span_of(job);
    _Alignas(64) char tile[CORRELATE_PANELS * SP_GEMM_ROWS * 128]; /* rows of two vectors: 128 bytes at most */
    for (int64_t t = begin; t < end; t++) {
        int64_t group = t / (job->bands * job->n_panels), panel = t / job->bands % job->n_panels;
        int64_t p0 = t % job->bands * job->per_task * rows, p1 = min_i64(p0 + job->per_task * rows, job->k);
        int64_t channel = panel * columns, n = min_i64(columns, job->oc_g - channel);
        memset(tile, 0, (size_t)((p1 - p0) * columns * size));
        for (int64_t image = 0; image < job->g.batch; image++) {
            int64_t item = image * job->g.group + group;
            const char *x = job->x + item * job->ic_g * job->plane * size;
            const char *dout = job->panels + (item * job->n_panels + panel) * columns * job->positions * size;
            for (int64_t p = p0; p < p1; p += rows)
                kernels->correlate[n > kernels->lanes][min_i64(rows, p1 - p) - 1](&span, x, job->offsets + p, dout,
                                                                                  tile + (p - p0) * columns * size);
        }
        for (int64_t i = 0; i < n; i++) {
            char *to = job->out + ((group * job->oc_g + channel + i) * job->k + p0) * size;
            for (int64_t p = 0; p < p1 - p0; p++) memcpy(to + p * size, tile + (p * columns + i) * size, (size_t)size);
        }
    }
}

/* A task: one output channel. */
static void thin_tasks(void *context, int64_t begin, int64_t end)
{
    const conv_job *job = context;
    int64_t size = job->size;
    sp__gemm_span span = span_of(job);
    for (int64_t oc = begin; oc < end; oc++) {
        int64_t group = oc / job->oc_g;
        char *out = job->out + oc * job->k * size;
        memset(out, 0, (size_t)(job->k * size));
        for (int64_t image = 0; image < job->g.batch; image++) {
            const char *x = job->x + (image * job->g.group + group) * job->ic_g * job->plane * size;
            const char *dout = job->dout + (image * job->g.out_channels + oc) * job->positions * size;
            for (int64_t p = 0; p < job->k; p++)
                job->kernels->correlate_one(&span, x + job->offsets[p] * size, dout, out + p * size);
        }
    }
}

static sp_status weight_run(conv_job *job, char *work)
{
    plan_weight(job);
    place(job, work);
    SP_TRY(prepare_x(job));
    if (is_thin(job)) return share(job, job->g.out_channels, 1, thin_tasks);
    SP_TRY(share(job, job->g.batch * job->g.group * job->n_panels,
                 max_i64(1, 16384 / (job->positions * job->kernels->columns + 1)), turn_dout));
    return share(job, job->g.group * job->n_panels * job->bands, 1, weight_tasks);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

typedef enum { FORWARD, BY_INPUT, BY_WEIGHT } conv_kind;

static sp_status measure(conv_kind kind, const sp_call *c, sp__conv_geometry *g)
{
    const char *name = c->op->name;
    switch (kind) {
    case FORWARD: return sp__conv_measure(name, c->in[0], c->in[1], c->attrs, g);
    case BY_INPUT: return sp__conv_measure_input(name, c->in[0], c->in[1], c->attrs, g);
    default: return sp__conv_measure_weight(name, c->in[0], c->in[1], c->attrs, g);
    }
}

static bool is_half(sp_dtype dtype) { return dtype == SP_DTYPE_F16 || dtype == SP_DTYPE_BF16; }

/* Nothing to add up: the plans divide by these sizes, and the reference writes the zeros (or biases) as well. */
bool sp__cpu_conv_takes(const sp_call *c)
{
    return sp_dtype_kind((sp_dtype)c->in[0]->dtype) == 'f' && c->in[0]->count && c->in[1]->count;
}

static size_t kernel_work(conv_kind kind, const sp__conv_geometry *g, sp_dtype dtype, bool prepared)
{
    if (kind == BY_INPUT) return input_work(g, dtype, prepared);
    conv_job job = {.g = *g, .prepared = prepared ? "" : NULL};
    plan_common(dtype, &job);
    if (kind == FORWARD) return forward_work(&job);
    plan_weight(&job);
    return job.offsets_bytes + job.padded_bytes + job.panels_bytes;
}

static size_t call_work(conv_kind kind, const sp_call *c)
{
    sp__conv_geometry g;
    sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    if (measure(kind, c, &g) != SP_OK) return 0;
    if (!is_half(dtype)) return kernel_work(kind, &g, dtype, c->prepared != NULL);
    size_t bytes = kernel_work(kind, &g, SP_DTYPE_F32, false) + aligned((size_t)c->out[0]->count * 4);
    for (int i = 0; i < c->n_in; i++) bytes += c->in[i] ? aligned((size_t)c->in[i]->count * 4) : 0;
    return bytes;
}

static sp_status convert(int64_t n, sp_dtype from_dtype, const void *from, sp_dtype to_dtype, void *to)
{
    sp_loop loop = {.n_operands = 2, .rank = 1, .dims = {n}};
    loop.ptr[0] = to;
    loop.ptr[1] = (char *)(uintptr_t)from;
    loop.steps[0][0] = (int64_t)sp_dtype_bytes(to_dtype);
    loop.steps[1][0] = (int64_t)sp_dtype_bytes(from_dtype);
    return sp__loop_run(&loop, sp__cast_loop(from_dtype, to_dtype), NULL, 16);
}

static sp_status call_run(conv_kind kind, const sp_call *c)
{
    sp_dtype dtype = (sp_dtype)c->in[0]->dtype, wide = is_half(dtype) ? SP_DTYPE_F32 : dtype;
    sp__conv_geometry g;
    SP_TRY(measure(kind, c, &g));
    if (c->out[0]->count == 0) return SP_OK;
    char *work = c->work;
    const void *in[3] = {NULL, NULL, NULL};
    void *out = c->out[0]->data;
    for (int i = 0; i < c->n_in; i++) {
        if (!c->in[i]) continue;
        in[i] = c->in[i]->data;
        if (wide == dtype) continue;
        SP_TRY(convert(c->in[i]->count, dtype, in[i], wide, work));
        in[i] = work;
        work += aligned((size_t)c->in[i]->count * 4);
    }
    if (wide != dtype) {
        out = work;
        work += aligned((size_t)c->out[0]->count * 4);
    }
    if (kind == BY_INPUT) {
        SP_TRY(input_run(&g, wide, in[0], in[1], out, c->prepared, work));
    } else {
        conv_job job = {.g = g, .x = in[0], .out = out};
        plan_common(wide, &job);
        if (kind == FORWARD) {
            job.weight = in[1];
            job.bias = in[2];
            job.prepared = c->prepared;
            job.epilogue = wide == dtype ? c->epilogue : NULL; /* half: results are rounded at the end */
            SP_TRY(forward_run(&job, work));
        } else {
            job.dout = in[1];
            SP_TRY(weight_run(&job, work));
        }
    }
    if (wide != dtype) SP_TRY(convert(c->out[0]->count, wide, out, dtype, c->out[0]->data));
    bool owed = kind == BY_INPUT || (kind == FORWARD && wide != dtype); /* the list says who runs it: not the gradient by weight */
    if (c->epilogue && owed) c->epilogue->fn(c->epilogue->context, 0, 1, 0, c->out[0]->count);
    return SP_OK;
}

/* Panels of constant weights. The plain product has none: there the weights are the operand that is read in place or packed in parts. */
static bool prepare_plan(conv_kind kind, const sp_call *c, conv_job *job)
{
    sp_dtype dtype = (sp_dtype)c->in[0]->dtype;
    sp__conv_geometry g;
    *job = (conv_job){.mirrored = kind == BY_INPUT};
    if (is_half(dtype) || measure(kind, c, &g) != SP_OK) return false;
    if (kind == BY_INPUT ? !mirror(&g, &job->g) : (job->g = g, false)) return false;
    if (is_plain_product(&job->g)) return false;
    plan_common(dtype, job);
    plan_forward(job);
    return true;
}

static size_t call_prepared(conv_kind kind, const sp_call *c)
{
    conv_job job;
    return prepare_plan(kind, c, &job) ? job.panels_bytes : 0;
}

static sp_status call_prepare(conv_kind kind, const sp_call *c, void *to)
{
    conv_job job;
    SP_CHECK(prepare_plan(kind, c, &job), SP_RUNTIME, "%s: nothing to prepare", c->op->name);
    job.weight = c->in[1]->data;
    job.panels = to;
    return pack_all(&job);
}

size_t sp__cpu_conv_work(const sp_call *c) { return call_work(FORWARD, c); }
size_t sp__cpu_conv_input_grad_work(const sp_call *c) { return call_work(BY_INPUT, c); }
size_t sp__cpu_conv_weight_grad_work(const sp_call *c) { return call_work(BY_WEIGHT, c); }
size_t sp__cpu_conv_prepared(const sp_call *c) { return call_prepared(FORWARD, c); }
size_t sp__cpu_conv_input_grad_prepared(const sp_call *c) { return call_prepared(BY_INPUT, c); }
sp_status sp__cpu_conv_prepare(const sp_call *c, void *to) { return call_prepare(FORWARD, c, to); }
sp_status sp__cpu_conv_input_grad_prepare(const sp_call *c, void *to) { return call_prepare(BY_INPUT, c, to); }
sp_status sp__cpu_conv(const sp_call *c) { return call_run(FORWARD, c); }
sp_status sp__cpu_conv_input_grad(const sp_call *c) { return call_run(BY_INPUT, c); }
sp_status sp__cpu_conv_weight_grad(const sp_call *c) { return call_run(BY_WEIGHT, c); }
