/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_depthwise.c - convolution with one input channel per group, and its gradients, for planes of one or two dimensions.
 *
 * There is little arithmetic per element, so memory decides: each plane is read once. A band of its rows is copied, with padding, into a
 * buffer in the first cache, where columns lie by their remainder modulo the stride: then all columns under one tap, whatever the stride, are
 * side by side:
 *
 *   buffer[row][remainder][column / stride]        element of tap (a, b) for output column j:
 *                                                  row a * dilation, remainder and column of b * dilation, plus j
 *
 *   by input     the buffer holds dout with stride - 1 zeros between its elements; a plain row of taps then, backwards
 *   by weight    rows of dout times the same buffer, a vector of sums per tap
 *
 * A small plane with unit stride is one long row: rows of the buffer follow each other without a gap, sums are made across their borders, too,
 * and those that stand for no result are left out when rows are copied to the output.
 *
 * 3x3 windows of float32 over sixteen channels and more, with AVX-512: bands of rows are turned into blocks of channels in cache (blocks.h), vectors lie across channels, and
 * results are turned back.
 *
 * An element is summed by one thread in one order, the same in all of these. */
#include <string.h>

#include "base/parts.h"
#include "base/scratch.h"
#include "device/cpu/blocks.h"
#include "device/cpu/cpu_kernels.h"
#include "device/cpu/gemm.h"
#include "ir/window.h"
#include "spore/ops_attrs.h"

/* MULTIPLIER_MAX: with more output channels per group, an input element is better shared among them, as cpu_conv.c does.
 * SLACK: two of the largest vectors, in elements. */
enum { MULTIPLIER_MAX = 2, BUFFER_BYTES = 32 * 1024, TAPS_MAX = 64, SLACK = 32, FLAT_COLUMNS = 24 };
#define TASK_FLOPS 2e5 /* memory decides, not arithmetic */

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

typedef struct depth_job {
    const sp__gemm_kernels *kernels;
    sp__conv_geometry g;
    int64_t size, oc_g, taps;
    int64_t rows, columns; /* of the result's plane (forward, by weight: of dout) */
    int64_t reach;         /* rows of the buffer that a row of results needs, less one */
    int64_t step;          /* rows of the buffer from one row of results to the next */
    int64_t part, row;     /* elements of a remainder, of a row of the buffer */
    int64_t band;          /* rows of results per buffer */
    bool flat;             /* a plane is one row */
    int64_t offsets[TAPS_MAX];
    const char *x, *weight, *bias, *dout;
    char *out;
    const sp_epilogue *epilogue;
} depth_job;

typedef enum { FORWARD, BY_INPUT, BY_WEIGHT } depth_kind;

/* Geometry of the buffer; false when it is too small for a band of one row. */
static bool plan(const sp__conv_geometry *g, sp_dtype dtype, depth_kind kind, depth_job *job)
{
    const bool by_input = kind == BY_INPUT;
    const sp__window *w = &g->w;
    *job = (depth_job){.kernels = sp__gemm_find(dtype), .g = *g, .size = (int64_t)sp_dtype_bytes(dtype)};
    if (w->in[0] != 1 || w->kernel[0] != 1 || w->pad[0] || w->pad_end[0] || g->in_channels != g->group) return false;
    job->oc_g = g->out_channels / g->group;
    job->taps = sp__window_taps(w);
    if (job->taps > TAPS_MAX) return false;
    int64_t high = (w->kernel[1] - 1) * w->dilation[1], wide = (w->kernel[2] - 1) * w->dilation[2];
    int64_t stride = by_input ? 1 : w->stride[2];
    job->rows = by_input ? w->in[1] : w->out[1];
    job->columns = by_input ? w->in[2] : w->out[2];
    job->reach = high;
    job->step = by_input ? 1 : w->stride[1];
    job->flat = kind == FORWARD && stride == 1 && job->step == 1 && job->columns + wide <= FLAT_COLUMNS &&
                ((job->rows + high) * (job->columns + wide) + SLACK) * job->size <= BUFFER_BYTES;
    job->part = job->columns + wide / stride + (job->flat ? 0 : 1 + SLACK);
    job->row = job->part * stride;
    int64_t fit =
        (BUFFER_BYTES - (job->flat ? SLACK * job->size : 0)) / (job->row * job->size); /* rows of the buffer */
    if (fit < job->reach + 1 || job->rows == 0 || job->columns == 0) return false;
    job->band = min_i64(job->rows, (fit - job->reach - 1) / job->step + 1);
    int64_t p = 0;
    for (int64_t a = 0; a < w->kernel[1]; a++)
        for (int64_t b = 0; b < w->kernel[2]; b++) {
            int64_t down = a * w->dilation[1], right = b * w->dilation[2];
            job->offsets[p++] = by_input ? (high - down) * job->row + wide - right
                                         : down * job->row + right % stride * job->part + right / stride;
        }
    return true;
}

/* n elements, `step` apart, side by side. */
static void every(const char *from, int64_t step, int64_t n, char *to, int64_t size)
{
    if (size == 4)
        for (int64_t i = 0; i < n; i++) memcpy(to + i * 4, from + i * step * 4, 4);
    else
        for (int64_t i = 0; i < n; i++) memcpy(to + i * 8, from + i * step * 8, 8);
}

/* Rows of the plane for results [h0, h1), padded. */
static void fill_input(const depth_job *job, const char *plane, int64_t h0, int64_t h1, char *buffer)
{
    const sp__window *w = &job->g.w;
    int64_t n = (h1 - h0 - 1) * job->step + job->reach + 1, size = job->size, stride = w->stride[2], pad = w->pad[2];
    memset(buffer, 0, (size_t)(n * job->row * size));
    for (int64_t r = 0; r < n; r++) {
        int64_t h = h0 * job->step - w->pad[1] + r;
        if (h < 0 || h >= w->in[1]) continue;
        const char *from = plane + h * w->in[2] * size;
        char *to = buffer + r * job->row * size;
        int64_t end = min_i64(w->in[2], job->row - (job->flat ? 0 : SLACK * stride) -
                                            pad); /* columns behind the last window are not looked at */
        if (stride == 1) {
            if (end > 0) memcpy(to + pad * size, from, (size_t)(end * size));
        } else if (stride == 2) {
            char *even = to + (pad % 2 * job->part + pad / 2) * size,
                 *odd = to + ((1 + pad) % 2 * job->part + (1 + pad) / 2) * size;
            if (end > 0) job->kernels->split(end, from, even, odd);
        } else {
            for (int64_t c = 0; c < stride && c < end; c++) /* every stride-th column from c on goes to one part */
                every(from + c * size, stride, (end - c + stride - 1) / stride,
                      to + ((c + pad) % stride * job->part + (c + pad) / stride) * size, size);
        }
    }
}

/* Rows of dout around the rows [h0, h1) of dx, spread by the stride: buffer[b][c] is dout at (h0 + b - reach + pad) / stride and so on. */
static void fill_dout(const depth_job *job, const char *plane, int64_t h0, int64_t h1, char *buffer)
{
    const sp__window *w = &job->g.w;
    int64_t n = h1 - h0 + job->reach, size = job->size, wide = (w->kernel[2] - 1) * w->dilation[2];
    memset(buffer, 0, (size_t)(n * job->row * size));
    for (int64_t r = 0; r < n; r++) {
        int64_t v = h0 + r - job->reach + w->pad[1];
        if (v < 0 || v % w->stride[1] != 0 || v / w->stride[1] >= w->out[1]) continue;
        const char *from = plane + v / w->stride[1] * w->out[2] * size;
        char *to = buffer + r * job->row * size;
        int64_t shift = wide - w->pad[2], limit = job->columns + wide; /* column of dout's first element */
        for (int64_t c = shift < 0 ? (-shift + w->stride[2] - 1) / w->stride[2] : 0; c < w->out[2]; c++) {
            int64_t at = c * w->stride[2] + shift;
            if (at >= limit) break;
            if (w->stride[2] == 1) {
                memcpy(to + at * size, from + c * size, (size_t)(min_i64(w->out[2] - c, limit - at) * size));
                break;
            }
            memcpy(to + at * size, from + c * size, (size_t)size);
        }
    }
}

/* A plane in one row; the buffer is filled. */
static void forward_flat(const depth_job *job, const char *buffer, const char *weight, const char *bias, char *out)
{
    char *const flat = sp__scratch_take(BUFFER_BYTES);
    job->kernels->depth_row((job->rows - 1) * job->row + job->columns, job->taps, buffer, job->offsets, weight, bias,
                            flat);
    for (int64_t h = 0; h < job->rows; h++)
        memcpy(out + h * job->columns * job->size, flat + h * job->row * job->size, (size_t)(job->columns * job->size));
    sp__scratch_give(flat);
}

/* Planes [begin, end) of x and the results made of them. */
static void forward_planes(void *context, int64_t begin, int64_t end)
{
    const depth_job *job = context;
    const sp__window *w = &job->g.w;
    int64_t size = job->size, plane = job->rows * job->columns;
    char *const buffer = sp__scratch_take(BUFFER_BYTES);
    for (int64_t i = begin; i < end; i++) {
        int64_t group = i % job->g.group;
        for (int64_t h0 = 0; h0 < job->rows; h0 += job->band) {
            int64_t h1 = min_i64(h0 + job->band, job->rows);
            fill_input(job, job->x + i * w->in[1] * w->in[2] * size, h0, h1, buffer);
            for (int64_t o = 0; o < job->oc_g; o++) {
                int64_t channel = group * job->oc_g + o;
                char *out = job->out + ((i * job->oc_g + o) * plane + h0 * job->columns) * size;
                if (job->flat) {
                    forward_flat(job, buffer, job->weight + channel * job->taps * size,
                                 job->bias ? job->bias + channel * size : NULL, out);
                    continue;
                }
                for (int64_t h = h0; h < h1; h++, out += job->columns * size)
                    job->kernels->depth_row(job->columns, job->taps, buffer + (h - h0) * job->step * job->row * size,
                                            job->offsets, job->weight + channel * job->taps * size,
                                            job->bias ? job->bias + channel * size : NULL, out);
            }
        }
        if (job->epilogue) job->epilogue->fn(job->epilogue->context, i * job->oc_g * plane, 1, 0, job->oc_g * plane);
    }
    sp__scratch_give(buffer);
}

/* Rows of results whose input and output fit a buffer each, in blocks; 0: not this way. */
static int64_t band_of_blocks(const depth_job *job)
{
    const sp__window *w = &job->g.w;
    if (job->size != 4 || job->oc_g != 1 || job->g.group < SP_BLOCK || job->kernels->lanes != SP_BLOCK) return 0;
    if (w->kernel[1] != 3 || w->kernel[2] != 3 || w->dilation[1] != 1 || w->dilation[2] != 1 || w->stride[2] > 2)
        return 0;
    int64_t fit = BUFFER_BYTES / (w->in[2] * SP_BLOCK * 4), band = fit < 3 ? 0 : (fit - 3) / w->stride[1] + 1;
    return min_i64(min_i64(band, BUFFER_BYTES / (w->out[2] * SP_BLOCK * 4)), w->out[1]);
}

/* Tasks: a band of rows of a block of channels of an image. */
static void forward_blocks(void *context, int64_t begin, int64_t end)
{
    const depth_job *job = context;
    const sp__block_kernels *kernels = sp__blocks_find();
    const sp__window *w = &job->g.w;
    const int64_t bands = (w->out[1] + job->band - 1) / job->band, blocks = sp__blocks_of(job->g.group);
    const int64_t in_plane = w->in[1] * w->in[2], out_plane = w->out[1] * w->out[2];
    _Alignas(64) float weight[9 * SP_BLOCK];
    float *const seen = sp__scratch_take(2 * BUFFER_BYTES), *const made = seen + BUFFER_BYTES / 4;
    for (int64_t i = begin; i < end; i++) {
        const int64_t image = i / (bands * blocks), first = i / bands % blocks * SP_BLOCK,
                      n = min_i64(SP_BLOCK, job->g.group - first);
        const int64_t r0 = i % bands * job->band, r1 = min_i64(r0 + job->band, w->out[1]),
                      top = r0 * w->stride[1] - w->pad[1];
        const int64_t y0 = max_i64(top, 0), y1 = max_i64(y0, min_i64(w->in[1], (r1 - 1) * w->stride[1] - w->pad[1] +
                                                                                   3)); /* rows of the image */
        const int64_t channel = image * job->g.group + first;
        const float *x = (const float *)(const void *)job->x + channel * in_plane,
                    *taps = (const float *)(const void *)job->weight + first * 9;
        kernels->gather((y1 - y0) * w->in[2], n, x + y0 * w->in[2], in_plane, seen);
        kernels->gather(9, n, taps, 9, weight);
        sp__window local = *w;
        local.in[1] = y1 - y0;
        local.pad[1] = y0 - top;
        const sp__block_depth d = {.w = &local,
                                   .x = seen,
                                   .weight = weight,
                                   .out = made,
                                   .n = n,
                                   .tail.bias = job->bias ? (const float *)(const void *)job->bias + first : NULL};
        kernels->depth(&d, 0, r1 - r0);
        kernels->scatter((r1 - r0) * w->out[2], n, made,
                         (float *)(void *)job->out + channel * out_plane + r0 * w->out[2], out_plane);
        if (job->epilogue)
            job->epilogue->fn(job->epilogue->context, channel * out_plane + r0 * w->out[2], n, out_plane,
                              (r1 - r0) * w->out[2]);
    }
    sp__scratch_give(seen);
}

static void input_planes(void *context, int64_t begin, int64_t end)
{
    const depth_job *job = context;
    const sp__window *w = &job->g.w;
    int64_t size = job->size;
    char *const buffer = sp__scratch_take(BUFFER_BYTES);
    for (int64_t i = begin; i < end; i++)
        for (int64_t h0 = 0; h0 < job->rows; h0 += job->band) {
            int64_t h1 = min_i64(h0 + job->band, job->rows);
            fill_dout(job, job->dout + i * w->out[1] * w->out[2] * size, h0, h1, buffer);
            for (int64_t h = h0; h < h1; h++)
                job->kernels->depth_row(job->columns, job->taps, buffer + (h - h0) * job->row * size, job->offsets,
                                        job->weight + i % job->g.group * job->taps * size, NULL,
                                        job->out + (i * job->rows + h) * job->columns * size);
        }
    sp__scratch_give(buffer);
}

/* Groups [begin, end), all images. */
static void weight_groups(void *context, int64_t begin, int64_t end)
{
    const depth_job *job = context;
    const sp__window *w = &job->g.w;
    int64_t size = job->size, plane = job->rows * job->columns;
    char *const buffer = sp__scratch_take(BUFFER_BYTES);
    memset(job->out + begin * job->oc_g * job->taps * size, 0, (size_t)((end - begin) * job->oc_g * job->taps * size));
    for (int64_t group = begin; group < end; group++)
        for (int64_t image = 0; image < job->g.batch; image++) {
            int64_t i = image * job->g.group + group;
            for (int64_t h0 = 0; h0 < job->rows; h0 += job->band) {
                int64_t h1 = min_i64(h0 + job->band, job->rows);
                fill_input(job, job->x + i * w->in[1] * w->in[2] * size, h0, h1, buffer);
                for (int64_t o = 0; o < job->oc_g; o++)
                    job->kernels->depth_taps(h1 - h0, job->step * job->row, job->columns, job->columns, job->taps,
                                             buffer, job->offsets,
                                             job->dout + ((i * job->oc_g + o) * plane + h0 * job->columns) * size,
                                             job->out + (group * job->oc_g + o) * job->taps * size);
            }
        }
    sp__scratch_give(buffer);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

static sp_status share(depth_job *job, int64_t n, void (*fn)(void *, int64_t, int64_t))
{
    double all = 2.0 * (double)(job->g.batch * job->g.out_channels) * (double)(job->rows * job->columns * job->taps);
    double each = all / (double)max_i64(n, 1) + 1;
    return sp__parallel_for(n, max_i64(1, (int64_t)(TASK_FLOPS / each)), fn, job);
}

static bool fits(const sp_call *c,
                 sp_status (*measure)(const char *, const sp_tensor *, const sp_tensor *, const sp_conv_attrs *,
                                      sp__conv_geometry *),
                 depth_kind kind)
{
    sp__conv_geometry g;
    depth_job job;
    if (!c->in[0]->count || !c->in[1]->count || measure(c->op->name, c->in[0], c->in[1], c->attrs, &g) != SP_OK)
        return false;
    if (g.in_channels != g.group || !plan(&g, (sp_dtype)c->in[0]->dtype, kind, &job)) return false;
    return job.oc_g <= (kind == BY_INPUT ? 1 : MULTIPLIER_MAX);
}

bool sp__cpu_depthwise_takes(const sp_call *c) { return fits(c, sp__conv_measure, FORWARD); }
bool sp__cpu_depthwise_input_takes(const sp_call *c) { return fits(c, sp__conv_measure_input, BY_INPUT); }
bool sp__cpu_depthwise_weight_takes(const sp_call *c) { return fits(c, sp__conv_measure_weight, BY_WEIGHT); }

sp_status sp__cpu_depthwise(const sp_call *c)
{
    sp__conv_geometry g;
    depth_job job;
    SP_TRY(sp__conv_measure(c->op->name, c->in[0], c->in[1], c->attrs, &g));
    SP_CHECK(plan(&g, (sp_dtype)c->in[0]->dtype, FORWARD, &job), SP_RUNTIME, "%s: not a depthwise convolution",
             c->op->name);
    job.x = c->in[0]->data;
    job.weight = c->in[1]->data;
    job.bias = c->in[2] ? c->in[2]->data : NULL;
    job.out = c->out[0]->data;
    job.epilogue = c->epilogue;
    const int64_t band = SP_HAVE_BLOCKS ? band_of_blocks(&job) : 0;
    if (!band) return share(&job, g.batch * g.group, forward_planes);
    job.band = band;
    return share(&job, g.batch * sp__blocks_of(g.group) * ((job.rows + band - 1) / band), forward_blocks);
}

sp_status sp__cpu_depthwise_input(const sp_call *c)
{
    sp__conv_geometry g;
    depth_job job;
    SP_TRY(sp__conv_measure_input(c->op->name, c->in[0], c->in[1], c->attrs, &g));
    SP_CHECK(plan(&g, (sp_dtype)c->in[0]->dtype, BY_INPUT, &job), SP_RUNTIME, "%s: not a depthwise convolution",
             c->op->name);
    job.dout = c->in[0]->data;
    job.weight = c->in[1]->data;
    job.out = c->out[0]->data;
    return share(&job, g.batch * g.group, input_planes);
}

sp_status sp__cpu_depthwise_weight(const sp_call *c)
{
    sp__conv_geometry g;
    depth_job job;
    SP_TRY(sp__conv_measure_weight(c->op->name, c->in[0], c->in[1], c->attrs, &g));
    SP_CHECK(plan(&g, (sp_dtype)c->in[0]->dtype, BY_WEIGHT, &job), SP_RUNTIME, "%s: not a depthwise convolution",
             c->op->name);
    job.x = c->in[0]->data;
    job.dout = c->in[1]->data;
    job.out = c->out[0]->data;
    return share(&job, g.group, weight_groups);
}
