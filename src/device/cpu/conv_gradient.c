/* SPDX-License-Identifier: Apache-2.0 */
/* conv_gradient.c - gradients of convolution; conv_forward.c says how they are computed. */
#include "base/scratch.h"
#include "device/cpu/conv_job.h"

enum { SCATTER_ROWS = 128, SCATTER_BYTES = 64 * 1024, CORRELATE_PANELS = 8 };

/* --- gradient by input ------------------------------------------------------------------------------------------- */

/* The gradient as a forward convolution: dout, padded so that every window of it exists, with mirrored weights. Not
 * possible when the padding was larger than the kernel's reach. */
bool sp__conv_mirror(const sp__conv_geometry *g, sp__conv_geometry *out)
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
    const sp__conv_job *job = context;
    const sp__gemm_kernels *kernels = job->kernels;
    const sp__window *w = &job->g.w;
    int64_t size = job->size, taps = sp__window_taps(w), in_plane = sp__window_inputs(w), oc_g = job->oc_g;
    int64_t rows = kernels->rows, columns = kernels->columns, q_step = SCATTER_BYTES / SCATTER_ROWS / size;
    char *const tile = sp__scratch_take(SCATTER_BYTES);
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
                    int64_t kd = p / (w->kernel[1] * w->kernel[2]), kh = p / w->kernel[2] % w->kernel[1],
                            kw = p % w->kernel[2];
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
    sp__scratch_give(tile);
}

size_t sp__conv_input_work(const sp__conv_geometry *g, sp_dtype dtype, bool prepared)
{
    sp__conv_job job = {.mirrored = true, .prepared = prepared ? "" : NULL};
    bool mirrors = sp__conv_mirror(g, &job.g);
    if (!mirrors) job.g = *g;
    sp__conv_plan(dtype, &job);
    if (mirrors) return sp__conv_forward_work(&job);
    return sp__conv_has_phases(g) ? sp__conv_phases_work(&job) : 0;
}

sp_status sp__conv_input(const sp__conv_geometry *g, sp_dtype dtype, const void *dout, const void *weight, void *out,
                         const void *prepared, char *work)
{
    sp__conv_job job = {.weight = weight, .out = out, .prepared = prepared};
    if (sp__conv_mirror(g, &job.g)) {
        job.mirrored = true;
        job.x = dout;
        sp__conv_plan(dtype, &job);
        return sp__conv_forward(&job, work);
    }
    job.g = *g;
    job.dout = dout;
    sp__conv_plan(dtype, &job);
    if (sp__conv_has_phases(g)) return sp__conv_phases_run(&job, work);
    double task = job.flops / ((double)(g->batch * g->in_channels) + 1) + 1;
    int64_t grain = task >= SP_CONV_TASK_FLOPS
                        ? 1
                        : (int64_t)min_i64(g->batch * g->in_channels, (int64_t)(SP_CONV_TASK_FLOPS / task));
    return sp__conv_share(&job, g->batch * g->in_channels, max_i64(1, grain), scatter_tasks, &job);
}

/* --- gradient by weight ------------------------------------------------------------------------------------------ */

/* One product of two planes per weight, and nothing to gain from turning dout. */
static bool is_thin(const sp__conv_job *job) { return job->oc_g <= 2; }

/* Panels of rows to a task: many, since each task reads a panel of columns of all images, but some tasks for every thread. */
static int64_t panels_per_task(int64_t total)
{
    return min_i64(CORRELATE_PANELS, max_i64(1, total / (4 * sp_threads())));
}

static void plan_weight(sp__conv_job *job)
{
    job->n_panels = ceil_div(job->oc_g, job->kernels->columns);
    job->m_panels = ceil_div(job->k, job->kernels->rows);
    job->panels_bytes = is_thin(job) ? 0
                                     : aligned((size_t)(job->g.batch * job->g.group * job->n_panels *
                                                        job->kernels->columns * job->positions * job->size));
    int64_t total = job->g.group * job->n_panels * job->m_panels;
    job->per_task = panels_per_task(total);
    job->bands = ceil_div(job->m_panels, job->per_task);
}

/* dout in panels of output channels, [positions][columns] each, per image and group. */
static void turn_dout(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
    int64_t columns = job->kernels->columns, size = job->size;
    for (int64_t i = begin; i < end; i++) {
        int64_t item = i / job->n_panels, channel = i % job->n_panels * columns;
        job->kernels->pack(job->positions, min_i64(columns, job->oc_g - channel), columns,
                           job->dout + (item * job->oc_g + channel) * job->positions * size, 1, job->positions,
                           job->panels + i * columns * job->positions * size);
    }
}

static sp__gemm_span span_of(const sp__conv_job *job)
{
    const sp__window *w = &job->g.w;
    return (sp__gemm_span){
        .n = {w->out[0], w->out[1], w->out[2]},
        .step = {w->stride[0] * job->padded[1] * job->padded[2], w->stride[1] * job->padded[2], w->stride[2]}};
}

/* A task: some panels of taps with one panel of output channels, over all images. */
static void weight_tasks(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
    const sp__gemm_kernels *kernels = job->kernels;
    int64_t size = job->size, rows = kernels->rows, columns = kernels->columns;
    sp__gemm_span span = span_of(job);
    char *const tile =
        sp__scratch_take(CORRELATE_PANELS * SP_GEMM_ROWS * 128); /* rows of two vectors: 128 bytes at most */
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
        char *to = job->out + ((group * job->oc_g + channel) * job->k + p0) * size;
        for (int64_t p = 0; p < p1 - p0; p += kernels->lanes)
            kernels->settle(min_i64(kernels->lanes, p1 - p0 - p), n, tile + p * columns * size, NULL, to + p * size,
                            job->k);
    }
    sp__scratch_give(tile);
}

/* --- of a window of one element: x is turned instead of dout, sums come out in the order of the weights ------------- */

/* Turning costs about as much for every element that is turned; sums in the other order have to be turned, too. */
static bool turns_x(const sp__conv_job *job)
{
    const double positions = (double)(job->g.batch * job->positions), ic = (double)job->ic_g, oc = (double)job->oc_g;
    return job->g.group == 1 && sp__window_taps(&job->g.w) == 1 && !job->copies && !is_thin(job) &&
           job->ic_g >= job->kernels->lanes && ic * positions <= oc * positions + ic * oc / 2;
}

static void plan_turned(sp__conv_job *job)
{
    const int64_t columns = job->kernels->columns;
    job->n_panels = ceil_div(job->ic_g, columns);
    job->m_panels = ceil_div(job->oc_g, job->kernels->rows);
    job->panels_bytes = aligned((size_t)(job->g.batch * job->n_panels * columns * job->positions * job->size));
    job->offsets_bytes = aligned((size_t)job->oc_g * sizeof(int64_t));
    job->per_task = panels_per_task(job->n_panels * job->m_panels);
    job->bands = ceil_div(job->m_panels, job->per_task);
}

/* x in panels of input channels, [positions][columns] each, per image. */
static void turn_x(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
    const sp__window *w = &job->g.w;
    const int64_t columns = job->kernels->columns, size = job->size, row = w->out[2];
    for (int64_t i = begin; i < end; i++) {
        const int64_t channel = i % job->n_panels * columns, n = min_i64(columns, job->ic_g - channel);
        const char *x = job->x + (i / job->n_panels * job->ic_g + channel) * job->plane * size;
        char *to = job->panels + i * columns * job->positions * size;
        if (job->plane == job->positions) { /* unit stride */
            job->kernels->pack(job->positions, n, columns, x, 1, job->plane, to);
            continue;
        }
        for (int64_t r = 0; r < w->out[0] * w->out[1]; r++) {
            const int64_t at =
                (r / w->out[1] * w->stride[0] * job->padded[1] + r % w->out[1] * w->stride[1]) * job->padded[2];
            job->kernels->pack(row, n, columns, x + at * size, w->stride[2], job->plane, to + r * row * columns * size);
        }
    }
}

/* A task: some panels of output channels with one panel of input channels, over all images. */
static void turned_tasks(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
    const sp__gemm_kernels *kernels = job->kernels;
    const int64_t size = job->size, rows = kernels->rows, columns = kernels->columns;
    const sp__gemm_span span = {.n = {1, 1, job->positions}, .step = {0, 0, 1}};
    char *const tile =
        sp__scratch_take(CORRELATE_PANELS * SP_GEMM_ROWS * 128); /* rows of two vectors: 128 bytes at most */
    for (int64_t t = begin; t < end; t++) {
        const int64_t panel = t / job->bands, channel = panel * columns, n = min_i64(columns, job->ic_g - channel);
        const int64_t p0 = t % job->bands * job->per_task * rows, p1 = min_i64(p0 + job->per_task * rows, job->oc_g);
        memset(tile, 0, (size_t)((p1 - p0) * columns * size));
        for (int64_t image = 0; image < job->g.batch; image++) {
            const char *dout = job->dout + image * job->oc_g * job->positions * size;
            const char *x = job->panels + (image * job->n_panels + panel) * columns * job->positions * size;
            for (int64_t p = p0; p < p1; p += rows)
                kernels->correlate[n > kernels->lanes][min_i64(rows, p1 - p) - 1](&span, dout, job->offsets + p, x,
                                                                                  tile + (p - p0) * columns * size);
        }
        for (int64_t p = p0; p < p1; p++)
            memcpy(job->out + (p * job->ic_g + channel) * size, tile + (p - p0) * columns * size, (size_t)(n * size));
    }
    sp__scratch_give(tile);
}

static sp_status turned_run(sp__conv_job *job, char *work)
{
    plan_turned(job);
    sp__conv_place(job, work);
    for (int64_t i = 0; i < job->oc_g; i++) job->offsets[i] = i * job->positions;
    SP_TRY(sp__conv_share(job, job->g.batch * job->n_panels,
                          max_i64(1, 16384 / (job->positions * job->kernels->columns + 1)), turn_x, job));
    return sp__conv_share(job, job->n_panels * job->bands, 1, turned_tasks, job);
}

/* A task: one output channel. */
static void thin_tasks(void *context, int64_t begin, int64_t end)
{
    const sp__conv_job *job = context;
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

/* A window of one element, on a CPU with AMX: dout times x turned, image after image, where an image is long enough to pay for reading and
 * writing the sums. */
static bool is_tiled_product(const sp__conv_job *job, sp__gemm_shape *s)
{
    *s = (sp__gemm_shape){.dtype = job->dtype,
                          .m = job->oc_g,
                          .n = job->k,
                          .k = job->positions,
                          .a_row = job->positions,
                          .a_col = 1,
                          .b_row = 1,
                          .b_col = job->positions,
                          .c_row = job->k};
    return sp__conv_is_product(&job->g) && job->positions >= 128 && sp__gemm_is_tiled(s, SP_GEMM_TILES_SHARE);
}

size_t sp__conv_weight_work(sp__conv_job *job)
{
    sp__gemm_shape s;
    if (is_tiled_product(job, &s)) return sp__gemm_work(&s);
    if (turns_x(job)) {
        plan_turned(job);
        return job->offsets_bytes + job->panels_bytes;
    }
    plan_weight(job);
    size_t direct = job->offsets_bytes + job->padded_bytes + job->panels_bytes;
    size_t winograd = sp__winograd_takes_weight(job) ? sp__winograd_weight_work(job) : 0;
    return direct > winograd ? direct : winograd;
}

sp_status sp__conv_weight(sp__conv_job *job, char *work)
{
    sp__gemm_shape s;
    if (is_tiled_product(job, &s)) {
        for (int64_t i = 0; i < job->g.batch; i++)
            SP_TRY(sp__gemm(&s, job->dout + i * s.m * s.k * job->size, job->x + i * s.n * s.k * job->size, job->out,
                            i > 0, work));
        return SP_OK;
    }
    if (turns_x(job)) return turned_run(job, work);
    if (sp__winograd_takes_weight(job)) {
        sp_status status = sp__winograd_weight(job, work);
        if (status != SP_DECLINED) return status;
    }
    plan_weight(job);
    sp__conv_place(job, work);
    SP_TRY(sp__conv_pad(job));
    if (is_thin(job)) return sp__conv_share(job, job->g.out_channels, 1, thin_tasks, job);
    SP_TRY(sp__conv_share(job, job->g.batch * job->g.group * job->n_panels,
                          max_i64(1, 16384 / (job->positions * job->kernels->columns + 1)), turn_dout, job));
    return sp__conv_share(job, job->g.group * job->n_panels * job->bands, 1, weight_tasks, job);
}
