/* SPDX-License-Identifier: Apache-2.0 */
/* conv_phases.c - gradient by input of a convolution with a stride.
 *
 * Along a dimension with stride s, inputs i = s a + r with the same r (a phase) are met by every s-th tap only: k = k0 + s t with
 * k0 = (r + pad) mod s, in the window at o = a + e - t, e = (r + pad) / s. So the gradient of a phase is a forward convolution of dout with those
 * taps, mirrored, and unit stride; phases without a tap are zeros. Phases are computed one behind the other and then laid into each other. */
#include "device/cpu/conv_job.h"

enum {
    STRIDE_MAX = 64,
    PHASES_MAX = 8,    /* that have taps */
    TAPS_MAX = 256,    /* of one of them */
    CHANNELS_MIN = 16, /* of dx: with fewer, lanes of a convolution stay idle, and its products are better scattered */
};

typedef struct phase {
    sp__conv_geometry g;
    int64_t first[SP_SPATIAL]; /* of dx */
    int64_t tap[SP_SPATIAL];   /* its first one */
} phase;

typedef struct phases {
    const sp__conv_job *job; /* weight, out and the geometry of the whole */
    int n;
    phase all[PHASES_MAX];
    /* of the one in work */
    const phase *now;
    char *taps;
    /* all of them */
    const char *from[PHASES_MAX];
    const char *zeros; /* a row of a phase without taps */
} phases;

/* Along dimension d: how many taps and inputs the phase has, and the padding of dout. */
static bool measure_along(const sp__window *w, int d, int64_t first, phase *p)
{
    const int64_t s = w->stride[d], shift = first + w->pad[d], tap = shift % s;
    const int64_t taps = tap < w->kernel[d] ? ceil_div(w->kernel[d] - tap, s) : 0;
    const int64_t n = first < w->in[d] ? ceil_div(w->in[d] - first, s) : 0, reach = w->dilation[d] * (taps - 1);
    sp__window *o = &p->g.w;
    p->first[d] = first;
    p->tap[d] = tap;
    o->stride[d] = 1;
    o->kernel[d] = taps;
    o->in[d] = w->out[d];
    o->out[d] = n;
    o->pad[d] = reach - shift / s;
    o->pad_end[d] = n + reach - o->in[d] - o->pad[d];
    return taps > 0 && n > 0;
}

/* Phases that have taps. False: they are too many, or windows of dout are left out. */
static bool find_phases(const sp__conv_geometry *g, phases *out)
{
    const sp__window *w = &g->w;
    out->n = 0;
    for (int d = 0; d < SP_SPATIAL; d++)
        if ((w->stride[d] != 1 && w->dilation[d] != 1) || w->stride[d] > STRIDE_MAX) return false;
    const int64_t total = w->stride[0] * w->stride[1] * w->stride[2];
    for (int64_t r = 0; r < total; r++) {
        const int64_t first[SP_SPATIAL] = {r / w->stride[2] / w->stride[1], r / w->stride[2] % w->stride[1],
                                           r % w->stride[2]};
        phase p = {.g = *g};
        bool any = true;
        for (int d = 0; d < SP_SPATIAL; d++) any &= measure_along(w, d, first[d], &p);
        if (!any) continue;
        for (int d = 0; d < SP_SPATIAL; d++)
            if (p.g.w.pad[d] < 0 || p.g.w.pad_end[d] < 0) return false;
        if (out->n == PHASES_MAX || sp__window_taps(&p.g.w) > TAPS_MAX) return false;
        p.g.in_channels = g->out_channels;
        p.g.out_channels = g->in_channels;
        out->all[out->n++] = p;
    }
    return true;
}

bool sp__conv_has_phases(const sp__conv_geometry *g)
{
    phases p;
    const bool strided = g->w.stride[0] != 1 || g->w.stride[1] != 1 || g->w.stride[2] != 1;
    return strided && (g->in_channels / g->group >= CHANNELS_MIN || sp__window_taps(&g->w) == 1) && find_phases(g, &p);
}

static sp__conv_job job_of(const phase *p, sp_dtype dtype)
{
    sp__conv_job job = {.g = p->g, .mirrored = true};
    sp__conv_plan(dtype, &job);
    return job;
}

/* A phase of all taps takes the weights as they are. */
static bool has_all_taps(const sp__conv_job *job, const phase *p)
{
    return sp__window_taps(&p->g.w) == sp__window_taps(&job->g.w);
}

static size_t taps_bytes(const sp__conv_job *job, const phase *p)
{
    return has_all_taps(job, p)
               ? 0
               : aligned((size_t)(job->g.out_channels * job->ic_g * sp__window_taps(&p->g.w) * job->size));
}

static size_t out_bytes(const sp__conv_job *job, const phase *p)
{
    return aligned((size_t)(p->g.batch * p->g.out_channels * sp__window_positions(&p->g.w) * job->size));
}

static size_t zeros_bytes(const sp__conv_job *job)
{
    return aligned((size_t)(ceil_div(job->g.w.in[2], job->g.w.stride[2]) * job->size));
}

/* Scratch: a row of zeros, what each phase makes, the taps of one of them, what its convolution needs. */
size_t sp__conv_phases_work(const sp__conv_job *job)
{
    phases p;
    size_t outs = zeros_bytes(job), most = 0;
    find_phases(&job->g, &p);
    for (int i = 0; i < p.n; i++) {
        sp__conv_job part = job_of(&p.all[i], job->dtype);
        const size_t bytes = taps_bytes(job, &p.all[i]) + sp__conv_forward_work(&part);
        outs += out_bytes(job, &p.all[i]);
        most = bytes > most ? bytes : most;
    }
    return outs + most;
}

/* Taps of the phase in work: [out channels, in channels of the group, taps], as the weights. */
static void gather_taps(void *context, int64_t begin, int64_t end)
{
    const phases *p = context;
    const sp__window *w = &p->job->g.w, *o = &p->now->g.w;
    const int64_t all = sp__window_taps(w), some = sp__window_taps(o);
    int64_t at[TAPS_MAX], n = 0;
    for (int64_t a = 0; a < o->kernel[0]; a++)
        for (int64_t b = 0; b < o->kernel[1]; b++)
            for (int64_t c = 0; c < o->kernel[2]; c++)
                at[n++] = ((p->now->tap[0] + a * w->stride[0]) * w->kernel[1] + p->now->tap[1] + b * w->stride[1]) *
                              w->kernel[2] +
                          p->now->tap[2] + c * w->stride[2];
    for (int64_t i = begin; i < end; i++) {
        if (p->job->size == 4) {
            const float *from = (const float *)(const void *)p->job->weight + i * all;
            float *to = (float *)(void *)p->taps + i * some;
            for (int64_t t = 0; t < some; t++) to[t] = from[at[t]];
        } else {
            const double *from = (const double *)(const void *)p->job->weight + i * all;
            double *to = (double *)(void *)p->taps + i * some;
            for (int64_t t = 0; t < some; t++) to[t] = from[at[t]];
        }
    }
}

/* to[i * step + k] = from[k][i], i < n[k] */
#define LAY(name, T)                                                                                                   \
    static void name(int64_t step, const char *const *from, const int64_t *n, char *row)                               \
    {                                                                                                                  \
        T *to = (T *)(void *)row;                                                                                      \
        if (step == 2) {                                                                                               \
            const T *even = (const T *)(const void *)from[0], *odd = (const T *)(const void *)from[1];                 \
            for (int64_t i = 0; i < n[1]; i++) to[2 * i] = even[i], to[2 * i + 1] = odd[i];                            \
            if (n[0] > n[1]) to[2 * n[1]] = even[n[1]];                                                                \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t k = 0; k < step; k++)                                                                             \
            for (int64_t i = 0; i < n[k]; i++) to[i * step + k] = ((const T *)(const void *)from[k])[i];               \
    }
LAY(lay_4, float)
LAY(lay_8, double)

/* Planes of dx out of those of the phases. */
static void lay_planes(void *context, int64_t begin, int64_t end)
{
    const phases *p = context;
    const sp__window *w = &p->job->g.w;
    const int64_t size = p->job->size, step = w->stride[2];
    const char *from[STRIDE_MAX];
    int64_t n[STRIDE_MAX];
    for (int64_t k = 0; k < step; k++) n[k] = k < w->in[2] ? ceil_div(w->in[2] - k, step) : 0;
    for (int64_t i = begin; i < end; i++) {
        char *to = p->job->out + i * sp__window_inputs(w) * size;
        for (int64_t row = 0; row < w->in[0] * w->in[1]; row++, to += w->in[2] * size) {
            const int64_t d = row / w->in[1], h = row % w->in[1];
            for (int64_t k = 0; k < step; k++) from[k] = p->zeros;
            for (int m = 0; m < p->n; m++) {
                const phase *one = &p->all[m];
                if (one->first[0] != d % w->stride[0] || one->first[1] != h % w->stride[1]) continue;
                const int64_t at = (i * one->g.w.out[0] + d / w->stride[0]) * one->g.w.out[1] + h / w->stride[1];
                from[one->first[2]] = p->from[m] + at * one->g.w.out[2] * size;
            }
            if (size == 4) lay_4(step, from, n, to);
            else lay_8(step, from, n, to);
        }
    }
}

sp_status sp__conv_phases_run(const sp__conv_job *job, char *work)
{
    phases p = {.job = job};
    find_phases(&job->g, &p);
    memset(work, 0, zeros_bytes(job));
    p.zeros = work;
    work += zeros_bytes(job);
    for (int i = 0; i < p.n; i++) {
        p.from[i] = work;
        work += out_bytes(job, &p.all[i]);
    }
    for (int i = 0; i < p.n; i++) {
        sp__conv_job part = job_of(&p.all[i], job->dtype);
        part.weight = job->weight;
        part.x = job->dout;
        part.out = (char *)(uintptr_t)p.from[i];
        if (!has_all_taps(job, &p.all[i])) {
            p.now = &p.all[i];
            part.weight = p.taps = work;
            SP_TRY(sp__conv_share(job, job->g.out_channels * job->ic_g, 16384, gather_taps, &p));
        }
        SP_TRY(sp__conv_forward(&part, work + taps_bytes(job, &p.all[i])));
    }
    const int64_t inputs = sp__window_inputs(&job->g.w);
    return sp__conv_share(job, job->g.batch * job->g.in_channels, max_i64(1, 32768 / (inputs + 1)), lay_planes, &p);
}
