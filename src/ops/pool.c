/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - maximum and mean over sliding or adaptive windows in one to three spatial dimensions.
 *
 * The last one, two or three dimensions are spatial, all before them are planes of their own. Windows become tables first:
 * for every output index the input indices it covers, for every input index the outputs that cover it; kernels then know
 * nothing of strides, padding or adaptive sizes. float16 and bfloat16 are summed in float.
 *
 * A maximum goes with the position it came from: the first in row-major order when several are equal; NaN loses against
 * any number. The gradient puts dout there (pool_max_grad), and the gradient of that reads from there (pool_max_pick), so
 * gradients can be taken any number of times. The mean is linear: its gradient's gradient is the mean. */

#include "base/plain.h"
#include "ir/window.h"
#include "ops/kernels.h"
#include "ops/pool.h"
#include "ops/pool_separable.h"

#define POOL_WINDOW                                                                                                    \
    (INTS, kernel_size, 1), (INTS_OR_NONE, stride), (TEXT, pad_mode, "pad"), (INTS, pad, 0), (BOOL, ceil_mode, False), \
        (TEXT_OR_NONE, data_format)
#define POOL_MEAN (BOOL, count_include_pad, False), (INT, divisor_override, 0)
#define POOL_MAX (INTS, dilation, 1)
#define POOL_SIZE (INTS_OR_NONE, output_size)
#define POOL_SPATIAL (INT, spatial, 2)
SP_ATTR_TABLE(max_attrs, sp_pool_attrs, POOL_WINDOW, POOL_MAX);
SP_ATTR_TABLE(mean_attrs, sp_pool_attrs, POOL_WINDOW, POOL_MEAN);
SP_ATTR_TABLE(adaptive_attrs, sp_pool_attrs, (INTS_NEEDED, output_size));
SP_ATTR_TABLE(max_helper_attrs, sp_pool_attrs, POOL_WINDOW, POOL_MAX, POOL_SIZE, POOL_SPATIAL);
SP_ATTR_TABLE(mean_helper_attrs, sp_pool_attrs, POOL_WINDOW, POOL_MEAN, POOL_SIZE, POOL_SPATIAL,
              (INTS_NEEDED, input_size));

/* --- geometry ---------------------------------------------------------------------------------------------------- */

typedef struct pool_geometry {
    sp__window w;
    bool adaptive;
    int64_t divisor; /* 0: count */
    bool include_pad;
    int64_t planes;
} pool_geometry;

static bool is_max(const sp_op *op) { return op->attrs == max_attrs || op->attrs == max_helper_attrs; }
static bool is_adaptive(const sp_op *op) { return op->attrs == adaptive_attrs; }

/* Number of spatial dimensions: an attribute of helpers. 0: not a possible one. */
static int spatial_of(const sp_op *op, const sp_pool_attrs *a)
{
    if (op->attrs == max_helper_attrs || op->attrs == mean_helper_attrs)
        return a->spatial >= 1 && a->spatial <= SP_SPATIAL ? (int)a->spatial : 0;
    return op->spatial;
}

/* Input indices of sliding window o along dimension d, in steps of the dilation. */
static void window_range(const sp__window *w, int d, int64_t o, int64_t *begin, int64_t *end)
{
    *begin = o * w->stride[d] - w->pad[d];
    *end = *begin + w->dilation[d] * (w->kernel[d] - 1) + 1;
    if (*begin < 0) *begin += (-*begin + w->dilation[d] - 1) / w->dilation[d] * w->dilation[d];
    if (*end > w->in[d]) *end = w->in[d];
}

/* dims: of the tensor the windows slide over. */
static sp_status measure(const sp_op *op, const sp_pool_attrs *a, int rank, const int64_t *dims, pool_geometry *g)
{
    const char *name = op->name;
    int n = spatial_of(op, a), first = SP_SPATIAL - n;
    char text[SP_SHAPE_TEXT];
    SP_CHECK(n >= 1 && n <= SP_SPATIAL, SP_VALUE, "%s: spatial must be 1, 2 or 3, found %d", name, n);
    SP_CHECK(rank == n + 1 || rank == n + 2, SP_VALUE, "%s: the input must have %d or %d dimensions, found shape %s",
             name, n + 1, n + 2, sp__shape_text(rank, dims, text));
    sp__window_init(&g->w, n);
    g->planes = 1;
    for (int i = 0; i < rank - n; i++) g->planes *= dims[i];
    for (int d = 0; d < n; d++) {
        g->w.in[first + d] = dims[rank - n + d];
        SP_CHECK(dims[rank - n + d] > 0, SP_VALUE, "%s: the spatial dimensions of %s are empty", name,
                 sp__shape_text(rank, dims, text));
    }
    SP_CHECK(sp__window_inputs(&g->w) <= INT32_MAX, SP_VALUE,
             "%s: the spatial dimensions of %s hold more than 2^31 elements", name, sp__shape_text(rank, dims, text));
    /* Windows of an adaptive operator, and of helpers that serve one, are given by their number. */
    g->adaptive =
        is_adaptive(op) || ((op->attrs == max_helper_attrs || op->attrs == mean_helper_attrs) && a->output_size.n > 0);
    g->divisor = 0;
    g->include_pad = false;
    if (g->adaptive) {
        SP_CHECK(a->output_size.n == 1 || a->output_size.n == n, SP_VALUE,
                 "%s: output_size must be one number or %d, found %d", name, n,
                 a->output_size.n < 0 ? 0 : a->output_size.n);
        for (int d = 0; d < n; d++) {
            int64_t size = a->output_size.v[a->output_size.n == 1 ? 0 : d];
            if (size == -1 || size == SP_INT_NONE) size = g->w.in[first + d];
            SP_CHECK(size >= 1, SP_VALUE, "%s: output_size must be at least 1, found %lld", name, (long long)size);
            g->w.out[first + d] = size;
        }
        return SP_OK;
    }
    SP_CHECK(!a->data_format || sp__same_letters(a->data_format, "NCHW") || sp__same_letters(a->data_format, "NCDHW") ||
                 sp__same_letters(a->data_format, "NCL"),
             SP_VALUE, "%s: data_format must be 'NCHW' or 'NCDHW', found '%s'", name, a->data_format);
    SP_TRY(sp__window_list(name, "kernel_size", a->kernel_size, n, g->w.kernel));
    SP_TRY(sp__window_list(name, "stride", a->stride.n > 0 ? a->stride : a->kernel_size, n, g->w.stride));
    if (is_max(op)) {
        SP_TRY(sp__window_list(name, "dilation", a->dilation, n, g->w.dilation));
    } else {
        g->include_pad = a->count_include_pad;
        g->divisor = a->divisor_override == SP_INT_NONE ? 0 : a->divisor_override;
    }
    SP_TRY(sp__window_pads(name, a->pad_mode, a->pad, &g->w));
    for (int d = first; d < SP_SPATIAL; d++) {
        int64_t reach = g->w.dilation[d] * (g->w.kernel[d] - 1) + 1;
        SP_CHECK(g->w.pad[d] * 2 <= reach && g->w.pad_end[d] * 2 <= reach + 1, SP_VALUE,
                 "%s: pad must be at most half of the window's %lld elements, found %lld", name, (long long)reach,
                 (long long)(g->w.pad[d] > g->w.pad_end[d] ? g->w.pad[d] : g->w.pad_end[d]));
    }
    SP_TRY(sp__window_outputs(name, a->ceil_mode, &g->w));
    for (int d = first; d < SP_SPATIAL; d++)
        for (int64_t o = 0; g->w.dilation[d] > 1 && o < g->w.out[d]; o++) {
            int64_t begin, end;
            window_range(&g->w, d, o, &begin, &end);
            SP_CHECK(begin < end, SP_VALUE, "%s: a window with dilation %lld holds padding only", name,
                     (long long)g->w.dilation[d]);
        }
    return SP_OK;
}

static void meta_with(const sp_tensor *like, const sp__window *w, const int64_t *spatial, sp_meta *out)
{
    sp__meta_of(like, out);
    for (int d = 0; d < w->n; d++) out->dims[like->rank - w->n + d] = spatial[SP_SPATIAL - w->n + d];
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

typedef struct pool_tables {
    int64_t *begin[SP_SPATIAL], *end[SP_SPATIAL];  /* per output index: input indices, in steps of the dilation */
    int64_t *counted[SP_SPATIAL];                  /* per output index: elements the mean divides by */
    int64_t *first[SP_SPATIAL], *stop[SP_SPATIAL]; /* per input index: outputs whose windows hold it (dilation 1) */
} pool_tables;

static size_t tables_bytes(const sp__window *w)
{
    size_t n = 0;
    for (int d = 0; d < SP_SPATIAL; d++) n += 3 * (size_t)w->out[d] + 2 * (size_t)w->in[d];
    return n * sizeof(int64_t);
}

static void fill_tables(const pool_geometry *g, void *work, pool_tables *t)
{
    const sp__window *w = &g->w;
    int64_t *at = work;
    for (int d = 0; d < SP_SPATIAL; d++) {
        t->begin[d] = at, at += w->out[d];
        t->end[d] = at, at += w->out[d];
        t->counted[d] = at, at += w->out[d];
        t->first[d] = at, at += w->in[d];
        t->stop[d] = at, at += w->in[d];
        for (int64_t i = 0; i < w->in[d]; i++) {
            t->first[d][i] = w->out[d];
            t->stop[d][i] = 0;
        }
        for (int64_t o = 0; o < w->out[d]; o++) {
            int64_t begin, end, counted;
            if (g->adaptive) {
                begin = o * w->in[d] / w->out[d];
                end = ((o + 1) * w->in[d] + w->out[d] - 1) / w->out[d];
                counted = end - begin;
            } else {
                int64_t start = o * w->stride[d] - w->pad[d], room = w->in[d] + w->pad_end[d] - start;
                window_range(w, d, o, &begin, &end);
                counted = !g->include_pad ? end - begin : room < w->kernel[d] ? room : w->kernel[d];
            }
            t->begin[d][o] = begin;
            t->end[d][o] = end;
            t->counted[d][o] = counted;
            for (int64_t i = begin; i < end; i++) {
                if (o < t->first[d][i]) t->first[d][i] = o;
                t->stop[d][i] = o + 1;
            }
        }
    }
}

/* --- kernels ----------------------------------------------------------------------------------------------------- */

typedef struct pool_job {
    pool_geometry g;
    pool_tables t;
    const void *x;      /* the tensor the windows slide over; mean gradient: unused */
    const void *values; /* max gradient: dout; max pick: the tensor to pick from; mean gradient: dout */
    void *out;
    int64_t *indices; /* where the maxima are, optional */
} pool_job;

/* Windows are worked on a part of an output row at a time: tap by tap over the whole part when they slide (no branch
 * depends on the data), window by window when they are adaptive. */
enum { PART = SP_POOL_PART };
#define POOL_EACH_PART                                                                                                 \
    for (int64_t a = 0; a < w->out[0]; a++)                                                                            \
        for (int64_t b = 0; b < w->out[1]; b++)                                                                        \
            for (int64_t c0 = 0, n = 0; c0 < w->out[2]; c0 += n, o += n)                                               \
                if ((n = w->out[2] - c0 < PART ? w->out[2] - c0 : PART))
/* Taps of row part (a, b, c0, n): `row` the input row, `l` tap along it, [c1, c2) the outputs of the part it belongs to. */
#define POOL_EACH_TAP                                                                                                  \
    for (int64_t i = t->begin[0][a]; i < t->end[0][a]; i += w->dilation[0])                                            \
        for (int64_t j = t->begin[1][b]; j < t->end[1][b]; j += w->dilation[1])                                        \
            for (int64_t l = 0, row = (i * w->in[1] + j) * w->in[2], c1, c2; l < w->kernel[2]; l++)                    \
                if (part_range(w, l, c0, n, &c1, &c2))

/* Outputs [*from, *to), counted from c0, whose tap l along the row lies inside the input. */
static inline bool part_range(const sp__window *w, int64_t l, int64_t c0, int64_t n, int64_t *from, int64_t *to)
{
    sp__window_range(w, 2, l, from, to);
    *from = *from > c0 ? *from - c0 : 0;
    *to = *to - c0 < n ? *to - c0 : n;
    return *from < *to;
}

/* Place in the plane where window (a, b, c) begins, padding included, so perhaps before the plane; 0 for adaptive ones. */
static inline int64_t window_start(const pool_geometry *g, int64_t a, int64_t b, int64_t c)
{
    const sp__window *w = &g->w;
    if (g->adaptive) return 0;
    return ((a * w->stride[0] - w->pad[0]) * w->in[1] + b * w->stride[1] - w->pad[1]) * w->in[2] + c * w->stride[2] -
           w->pad[2];
}

/* best[c] and at[c]: the maximum of window (a, b, c0 + c) of plane x, and its place counted from window_start: 32 bits, as
 * wide as a float, so that both can be chosen together. NaN as the start loses against any number; integers start with
 * their least value. */
#define POOL_TAKE(C, LOAD, step)                                                                                       \
    for (int64_t c = c1; c < c2; c++) {                                                                                \
        const C v = LOAD(x[first + c * (step)]);                                                                       \
        const bool take = (v > best[c]) | (best[c] != best[c]);                                                        \
        best[c] = take ? v : best[c];                                                                                  \
        if (places) at[c] = take ? here : at[c];                                                                       \
    }
#define POOL_FIND_MAX(D, T, C, LOAD, START)                                                                            \
    static inline __attribute__((always_inline)) void pool_find_##D(const pool_job *job, const T *x, int64_t a,        \
                                                                    int64_t b, int64_t c0, int64_t n, C *best,         \
                                                                    int32_t *at, const bool places)                    \
    {                                                                                                                  \
        const sp__window *w = &job->g.w;                                                                               \
        const pool_tables *t = &job->t;                                                                                \
        for (int64_t c = 0; c < n; c++) {                                                                              \
            best[c] = START;                                                                                           \
            if (places)                                                                                                \
                at[c] = (int32_t)((t->begin[0][a] * w->in[1] + t->begin[1][b]) * w->in[2] + t->begin[2][c0 + c] -      \
                                  window_start(&job->g, a, b, c0 + c));                                                \
        }                                                                                                              \
        if (job->g.adaptive) {                                                                                         \
            for (int64_t c = 0; c < n; c++)                                                                            \
                for (int64_t i = t->begin[0][a]; i < t->end[0][a]; i++)                                                \
                    for (int64_t j = t->begin[1][b]; j < t->end[1][b]; j++) {                                          \
                        int64_t row = (i * w->in[1] + j) * w->in[2];                                                   \
                        for (int64_t l = row + t->begin[2][c0 + c]; l < row + t->end[2][c0 + c]; l++) {                \
                            const C v = LOAD(x[l]);                                                                    \
                            bool take = (v > best[c]) | (best[c] != best[c]);                                          \
                            best[c] = take ? v : best[c];                                                              \
                            if (places) at[c] = take ? (int32_t)l : at[c];                                             \
                        }                                                                                              \
                    }                                                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        POOL_EACH_TAP                                                                                                  \
        {                                                                                                              \
            int64_t first = row + c0 * w->stride[2] - w->pad[2] + l * w->dilation[2];                                  \
            const int32_t here = (int32_t)(first - window_start(&job->g, a, b, c0));                                   \
            /* Strides of one and two are constants here, so that the compiler makes vectors of them. */               \
            if (w->stride[2] == 1) POOL_TAKE(C, LOAD, 1)                                                               \
            else if (w->stride[2] == 2) POOL_TAKE(C, LOAD, 2)                                                          \
            else POOL_TAKE(C, LOAD, w->stride[2])                                                                      \
        }                                                                                                              \
    }

/* The most frequent windows by far, 2 x 2 side by side: one look at each element, no tables, no branches on the data. The
 * first of equal elements is chosen, as by POOL_TAKE; a plane with a NaN in it is left to the general loops (false). */
static bool is_halving(const pool_geometry *g)
{
    const sp__window *w = &g->w;
    if (g->adaptive || w->n != 2 || w->out[0] != 1) return false;
    for (int d = SP_SPATIAL - 2; d < SP_SPATIAL; d++)
        if (w->kernel[d] != 2 || w->stride[d] != 2 || w->dilation[d] != 1 || w->pad[d] || 2 * w->out[d] > w->in[d])
            return false;
    return true;
}
#define POOL_HALVES(D, T, C, LOAD, STORE)                                                                              \
    static bool pool_halve_##D(const sp__window *w, const T *x, T *out)                                                \
    {                                                                                                                  \
        int odd = 0; /* NaN seen */                                                                                    \
        for (int64_t b = 0; b < w->out[1]; b++, out += w->out[2]) {                                                    \
            const T *r0 = x + 2 * b * w->in[2], *r1 = r0 + w->in[2];                                                   \
            for (int64_t c = 0; c < w->out[2]; c++) {                                                                  \
                const C v0 = LOAD(r0[2 * c]), v1 = LOAD(r0[2 * c + 1]), v2 = LOAD(r1[2 * c]),                          \
                        v3 = LOAD(r1[2 * c + 1]);                                                                      \
                C best = v1 > v0 ? v1 : v0;                                                                            \
                best = v2 > best ? v2 : best;                                                                          \
                best = v3 > best ? v3 : best;                                                                          \
                odd |= (v0 != v0) | (v1 != v1) | (v2 != v2) | (v3 != v3);                                              \
                out[c] = STORE(best);                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        return !odd;                                                                                                   \
    }                                                                                                                  \
    /* All four get their number, three of them zero: nothing branches, and vectors can do it. */                      \
    static bool pool_halve_grad_##D(const sp__window *w, const T *x, const T *dout, T *dx)                             \
    {                                                                                                                  \
        int odd = 0;                                                                                                   \
        const int64_t in = w->in[2], n = w->out[2];                                                                    \
        for (int64_t b = 0; b < w->out[1]; b++, dout += n) {                                                           \
            const T *restrict r0 = x + 2 * b * in, *restrict r1 = r0 + in;                                             \
            T *restrict d0 = dx + 2 * b * in, *restrict d1 = d0 + in;                                                  \
            for (int64_t c = 0; c < n; c++) {                                                                          \
                const C v0 = LOAD(r0[2 * c]), v1 = LOAD(r0[2 * c + 1]), v2 = LOAD(r1[2 * c]),                          \
                        v3 = LOAD(r1[2 * c + 1]);                                                                      \
                const C g = (C)(0 + LOAD(dout[c])), top = v1 > v0 ? v1 : v0, low = v2 > top ? v2 : top;                \
                odd |= (v0 != v0) | (v1 != v1) | (v2 != v2) | (v3 != v3);                                              \
                const C first = v1 > v0 ? (C)0 : g, second = v1 > v0 ? g : (C)0; /* if it lies in the first row */     \
                const C upper0 = v2 > top ? (C)0 : first, upper1 = v2 > top ? (C)0 : second,                           \
                        third = v2 > top ? g : (C)0;                                                                   \
                d0[2 * c] = STORE(v3 > low ? (C)0 : upper0);                                                           \
                d0[2 * c + 1] = STORE(v3 > low ? (C)0 : upper1);                                                       \
                d1[2 * c] = STORE(v3 > low ? (C)0 : third);                                                            \
                d1[2 * c + 1] = STORE(v3 > low ? g : (C)0);                                                            \
            }                                                                                                          \
            memset(d0 + 2 * n, 0, (size_t)(in - 2 * n) * sizeof(T));                                                   \
            memset(d1 + 2 * n, 0, (size_t)(in - 2 * n) * sizeof(T));                                                   \
        }                                                                                                              \
        memset(dx + 2 * w->out[1] * in, 0, (size_t)((w->in[1] - 2 * w->out[1]) * in) * sizeof(T));                     \
        return !odd;                                                                                                   \
    }

#define POOL_LEAST(START) ((START) != (START) ? -INFINITY : (START))
#define POOL_MAX_KERNELS(D, T, C, LOAD, STORE, START)                                                                  \
    POOL_FIND_MAX(D, T, C, LOAD, START)                                                                                \
    SP_POOL_SEPARABLE(D, T, C, LOAD, POOL_LEAST(START))                                                                \
    POOL_HALVES(D, T, C, LOAD, STORE)                                                                                  \
    static void pool_max_##D(void *context, int64_t from, int64_t to)                                                  \
    {                                                                                                                  \
        const pool_job *job = context;                                                                                 \
        const sp__window *w = &job->g.w;                                                                               \
        C best[PART];                                                                                                  \
        int32_t at[PART];                                                                                              \
        const bool separable = !job->indices && !job->g.adaptive && sp__pool_is_separable(w);                          \
        for (int64_t plane = from; plane < to; plane++) {                                                              \
            const T *x = (const T *)job->x + plane * sp__window_inputs(w);                                             \
            int64_t o = plane * sp__window_positions(w);                                                               \
            if (!job->indices && is_halving(&job->g) && pool_halve_##D(w, x, (T *)job->out + o)) continue;             \
            POOL_EACH_PART                                                                                             \
            {                                                                                                          \
                T *out = (T *)job->out + o;                                                                            \
                if (job->indices) pool_find_##D(job, x, a, b, c0, n, best, at, true);                                  \
                else if (!separable || !pool_separable_##D(w, x, b, c0, n, best))                                      \
                    pool_find_##D(job, x, a, b, c0, n, best, at, false);                                               \
                for (int64_t c = 0; c < n; c++) out[c] = STORE(best[c]);                                               \
                for (int64_t c = 0; job->indices && c < n; c++)                                                        \
                    job->indices[o + c] = window_start(&job->g, a, b, c0 + c) + at[c];                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void pool_max_pick_##D(void *context, int64_t from, int64_t to)                                             \
    {                                                                                                                  \
        const pool_job *job = context;                                                                                 \
        const sp__window *w = &job->g.w;                                                                               \
        C best[PART];                                                                                                  \
        int32_t at[PART];                                                                                              \
        for (int64_t plane = from; plane < to; plane++) {                                                              \
            int64_t at_plane = plane * sp__window_inputs(w), o = plane * sp__window_positions(w);                      \
            const T *values = (const T *)job->values + at_plane;                                                       \
            POOL_EACH_PART                                                                                             \
            {                                                                                                          \
                pool_find_##D(job, (const T *)job->x + at_plane, a, b, c0, n, best, at, true);                         \
                for (int64_t c = 0; c < n; c++)                                                                        \
                    ((T *)job->out)[o + c] = values[window_start(&job->g, a, b, c0 + c) + at[c]];                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void pool_max_grad_##D(void *context, int64_t from, int64_t to)                                             \
    {                                                                                                                  \
        const pool_job *job = context;                                                                                 \
        const sp__window *w = &job->g.w;                                                                               \
        C best[PART];                                                                                                  \
        int32_t at[PART];                                                                                              \
        for (int64_t plane = from; plane < to; plane++) {                                                              \
            int64_t at_plane = plane * sp__window_inputs(w), o = plane * sp__window_positions(w);                      \
            T *dx = (T *)job->out + at_plane;                                                                          \
            if (is_halving(&job->g) &&                                                                                 \
                pool_halve_grad_##D(w, (const T *)job->x + at_plane, (const T *)job->values + o, dx))                  \
                continue;                                                                                              \
            memset(dx, 0, (size_t)sp__window_inputs(w) * sizeof(T));                                                   \
            POOL_EACH_PART                                                                                             \
            {                                                                                                          \
                const T *dout = (const T *)job->values + o;                                                            \
                pool_find_##D(job, (const T *)job->x + at_plane, a, b, c0, n, best, at, true);                         \
                for (int64_t c = 0; c < n; c++) {                                                                      \
                    T *put = dx + window_start(&job->g, a, b, c0 + c) + at[c];                                         \
                    *put = STORE(LOAD(*put) + LOAD(dout[c]));                                                          \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#define POOL_COUNT(a, b, c) (job->g.divisor ? job->g.divisor : t->counted[0][a] * t->counted[1][b] * t->counted[2][c])

/* Whether an element of the plane lies in the same windows as its neighbour before it: large windows have few different sums. */
static inline bool same_windows(const pool_tables *t, int axis, int64_t i)
{
    return t->first[axis][i] == t->first[axis][i - 1] && t->stop[axis][i] == t->stop[axis][i - 1];
}

#define POOL_MEAN_KERNELS(D, T, C, LOAD, STORE, _)                                                                     \
    static void pool_mean_##D(void *context, int64_t from, int64_t to)                                                 \
    {                                                                                                                  \
        const pool_job *job = context;                                                                                 \
        const sp__window *w = &job->g.w;                                                                               \
        const pool_tables *t = &job->t;                                                                                \
        C sum[PART];                                                                                                   \
        for (int64_t plane = from; plane < to; plane++) {                                                              \
            const T *x = (const T *)job->x + plane * sp__window_inputs(w);                                             \
            int64_t o = plane * sp__window_positions(w), size = sp__window_inputs(w);                                  \
            if (job->g.adaptive && sp__window_positions(w) == 1) { /* the whole plane: eight chains of additions */    \
                C chain[8] = {0};                                                                                      \
                int64_t i = 0;                                                                                         \
                for (; i + 8 <= size; i += 8)                                                                          \
                    for (int64_t l = 0; l < 8; l++) chain[l] += LOAD(x[i + l]);                                        \
                for (; i < size; i++) chain[i % 8] += LOAD(x[i]);                                                      \
                for (int64_t l = 1; l < 8; l++) chain[0] += chain[l];                                                  \
                ((T *)job->out)[o] = STORE(chain[0] / (C)size);                                                        \
                continue;                                                                                              \
            }                                                                                                          \
            POOL_EACH_PART                                                                                             \
            {                                                                                                          \
                for (int64_t c = 0; c < n; c++) sum[c] = 0;                                                            \
                if (job->g.adaptive) {                                                                                 \
                    for (int64_t c = 0; c < n; c++)                                                                    \
                        for (int64_t i = t->begin[0][a]; i < t->end[0][a]; i++)                                        \
                            for (int64_t j = t->begin[1][b]; j < t->end[1][b]; j++) {                                  \
                                int64_t row = (i * w->in[1] + j) * w->in[2];                                           \
                                for (int64_t l = row + t->begin[2][c0 + c]; l < row + t->end[2][c0 + c]; l++)          \
                                    sum[c] += LOAD(x[l]);                                                              \
                            }                                                                                          \
                } else {                                                                                               \
                    POOL_EACH_TAP                                                                                      \
                    {                                                                                                  \
                        int64_t first = row + c0 * w->stride[2] - w->pad[2] + l, step = w->stride[2];                  \
                        for (int64_t c = c1; c < c2; c++) sum[c] += LOAD(x[first + c * step]);                         \
                    }                                                                                                  \
                }                                                                                                      \
                for (int64_t c = 0; c < n; c++) ((T *)job->out)[o + c] = STORE(sum[c] / (C)POOL_COUNT(a, b, c0 + c));  \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    /* Each input collects from the windows that hold it. */                                                           \
    static void pool_mean_gather_##D(const pool_job *job, const T *dout, T *dx)                                        \
    {                                                                                                                  \
        const sp__window *w = &job->g.w;                                                                               \
        const pool_tables *t = &job->t;                                                                                \
        for (int64_t i = 0; i < w->in[0]; i++)                                                                         \
            for (int64_t j = 0; j < w->in[1]; j++)                                                                     \
                for (int64_t l = 0; l < w->in[2]; l++, dx++) {                                                         \
                    if (l == 0 && j > 0 && same_windows(t, 1, j)) { /* the whole row again */                          \
                        memcpy(dx, dx - w->in[2], (size_t)w->in[2] * sizeof(T));                                       \
                        dx += w->in[2];                                                                                \
                        break;                                                                                         \
                    }                                                                                                  \
                    if (l > 0 && same_windows(t, 2, l)) {                                                              \
                        *dx = dx[-1];                                                                                  \
                        continue;                                                                                      \
                    }                                                                                                  \
                    C sum = 0;                                                                                         \
                    for (int64_t a = t->first[0][i]; a < t->stop[0][i]; a++)                                           \
                        for (int64_t b = t->first[1][j]; b < t->stop[1][j]; b++)                                       \
                            for (int64_t c = t->first[2][l]; c < t->stop[2][l]; c++)                                   \
                                sum += LOAD(dout[(a * w->out[1] + b) * w->out[2] + c]) / (C)POOL_COUNT(a, b, c);       \
                    *dx = STORE(sum);                                                                                  \
                }                                                                                                      \
    }                                                                                                                  \
    static void pool_mean_grad_##D(void *context, int64_t from, int64_t to)                                            \
    {                                                                                                                  \
        const pool_job *job = context;                                                                                 \
        const sp__window *w = &job->g.w;                                                                               \
        const pool_tables *t = &job->t;                                                                                \
        C share[PART];                                                                                                 \
        for (int64_t plane = from; plane < to; plane++) {                                                              \
            const T *dout = (const T *)job->values + plane * sp__window_positions(w);                                  \
            T *dx = (T *)job->out + plane * sp__window_inputs(w);                                                      \
            if (job->g.adaptive || sizeof(T) != sizeof(C)) { /* half: a sum is rounded once, so it is kept apart */    \
                pool_mean_gather_##D(job, dout, dx);                                                                   \
                continue;                                                                                              \
            }                                                                                                          \
            memset(dx, 0, (size_t)sp__window_inputs(w) * sizeof(T));                                                   \
            int64_t o = 0;                                                                                             \
            POOL_EACH_PART                                                                                             \
            {                                                                                                          \
                for (int64_t c = 0; c < n; c++) share[c] = LOAD(dout[o + c]) / (C)POOL_COUNT(a, b, c0 + c);            \
                POOL_EACH_TAP                                                                                          \
                {                                                                                                      \
                    int64_t first = row + c0 * w->stride[2] - w->pad[2] + l, step = w->stride[2];                      \
                    for (int64_t c = c1; c < c2; c++)                                                                  \
                        dx[first + c * step] = STORE(LOAD(dx[first + c * step]) + share[c]);                           \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

SP_EACH_FLOAT(POOL_MAX_KERNELS, NAN)
#define POOL_MAX_SIGNED(D, T, C, LOAD, STORE, bits) POOL_MAX_KERNELS(D, T, C, LOAD, STORE, INT##bits##_MIN)
POOL_MAX_SIGNED(I8, int8_t, int8_t, SP_KEEP, SP_KEEP, 8)
POOL_MAX_SIGNED(I16, int16_t, int16_t, SP_KEEP, SP_KEEP, 16)
POOL_MAX_SIGNED(I32, int32_t, int32_t, SP_KEEP, SP_KEEP, 32)
POOL_MAX_SIGNED(I64, int64_t, int64_t, SP_KEEP, SP_KEEP, 64)
SP_EACH_UNSIGNED(POOL_MAX_KERNELS, 0)
SP_EACH_FLOAT(POOL_MEAN_KERNELS, )

typedef void (*pool_loop)(void *context, int64_t begin, int64_t end);
#define POOL_ROW(D, T, C, LOAD, STORE, name) [SP_DTYPE_##D] = name##_##D,
static const pool_loop max_loops[SP_DTYPE_COUNT] = {SP_EACH_REAL(POOL_ROW, pool_max)};
static const pool_loop max_grad_loops[SP_DTYPE_COUNT] = {SP_EACH_REAL(POOL_ROW, pool_max_grad)};
static const pool_loop max_pick_loops[SP_DTYPE_COUNT] = {SP_EACH_REAL(POOL_ROW, pool_max_pick)};
static const pool_loop mean_loops[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(POOL_ROW, pool_mean)};
static const pool_loop mean_grad_loops[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(POOL_ROW, pool_mean_grad)};

static sp_status run(const sp_call *c, pool_job *job, const pool_loop *loops)
{
    if (c->out[0]->count == 0) return SP_OK;
    fill_tables(&job->g, c->work, &job->t);
    int64_t cost = sp__window_positions(&job->g.w) * sp__window_taps(&job->g.w) + sp__window_inputs(&job->g.w);
    return sp__parallel_for(job->g.planes, cost >= 65536 ? 1 : 65536 / cost, loops[c->in[0]->dtype], job);
}

/* --- operators over x -------------------------------------------------------------------------------------------- */

static sp_status pool_infer(const sp_call *c, sp_meta *out)
{
    pool_geometry g;
    SP_TRY(measure(c->op, c->attrs, c->in[0]->rank, c->in[0]->dims, &g));
    meta_with(c->in[0], &g.w, g.w.out, out);
    if (c->n_out == 2) {
        out[1] = out[0];
        out[1].dtype = SP_DTYPE_I64;
    }
    return SP_OK;
}

static size_t pool_workspace(const sp_call *c)
{
    pool_geometry g;
    return measure(c->op, c->attrs, c->in[0]->rank, c->in[0]->dims, &g) == SP_OK ? tables_bytes(&g.w) : 0;
}

static sp_status max_reference(const sp_call *c)
{
    pool_job job = {.x = c->in[0]->data,
                    .out = c->out[0]->data,
                    .indices = c->n_out == 2 ? (int64_t *)(void *)c->out[1]->data : NULL};
    SP_TRY(measure(c->op, c->attrs, c->in[0]->rank, c->in[0]->dims, &job.g));
    return run(c, &job, max_loops);
}

static sp_status mean_reference(const sp_call *c)
{
    pool_job job = {.x = c->in[0]->data, .out = c->out[0]->data};
    SP_TRY(measure(c->op, c->attrs, c->in[0]->rank, c->in[0]->dims, &job.g));
    return run(c, &job, mean_loops);
}

/* Attributes of the helper that goes with an operator; those the operator does not have get values without effect. */
static sp_pool_attrs helper_attrs(const sp_op *op, const sp_pool_attrs *from)
{
    static const int64_t one[] = {1}, zero[] = {0};
    sp_pool_attrs a = {.kernel_size = {1, one},
                       .stride = {.n = -1},
                       .pad_mode = "pad",
                       .pad = {1, zero},
                       .dilation = {1, one},
                       .output_size = {.n = -1},
                       .input_size = {.n = -1}};
    if (is_adaptive(op)) {
        a.output_size = from->output_size;
    } else {
        a.kernel_size = from->kernel_size;
        a.stride = from->stride;
        a.pad_mode = from->pad_mode;
        a.pad = from->pad;
        a.ceil_mode = from->ceil_mode;
        a.data_format = from->data_format;
        if (is_max(op)) {
            a.dilation = from->dilation;
        } else {
            a.count_include_pad = from->count_include_pad;
            a.divisor_override = from->divisor_override;
        }
        if (op->attrs == max_helper_attrs || op->attrs == mean_helper_attrs) a.output_size = from->output_size;
    }
    a.spatial = spatial_of(op, from);
    return a;
}

static sp_status max_vjp(sp_builder *b, const sp_vjp *v)
{
    if (!v->dout[0]) return SP_OK;
    const sp_pool_attrs a = helper_attrs(v->op, v->attrs);
    v->din[0] = sp_builder_apply(b, &sp_op_pool_max_grad, &a, 2, (sp_tensor *const[]){v->in[0], v->dout[0]});
    return sp__builder_status(b);
}

static sp_status mean_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_pool_attrs a = helper_attrs(v->op, v->attrs);
    int n = (int)a.spatial;
    a.input_size = (sp_ints){n, v->in[0]->dims + v->in[0]->rank - n};
    v->din[0] = sp_builder_apply(b, &sp_op_pool_mean_grad, &a, 1, (sp_tensor *const[]){v->dout[0]});
    return sp__builder_status(b);
}

/* --- helpers ----------------------------------------------------------------------------------------------------- */

static sp_status check_outputs(const sp_call *c, const pool_geometry *g, const sp_tensor *dout, const sp_tensor *like)
{
    sp_meta wanted;
    char text[SP_SHAPE_TEXT], text_wanted[SP_SHAPE_TEXT];
    meta_with(like, &g->w, g->w.out, &wanted);
    SP_CHECK(sp__shape_equal(dout->rank, dout->dims, wanted.rank, wanted.dims) && dout->dtype == like->dtype, SP_VALUE,
             "%s: the gradient must be %s %s, found %s %s", c->op->name, sp_dtype_name(wanted.dtype),
             sp__shape_text(wanted.rank, wanted.dims, text_wanted), sp_dtype_name((sp_dtype)dout->dtype),
             sp__shape_text(dout->rank, dout->dims, text));
    return SP_OK;
}

static sp_status max_grad_infer(const sp_call *c, sp_meta *out)
{
    pool_geometry g;
    SP_TRY(measure(c->op, c->attrs, c->in[0]->rank, c->in[0]->dims, &g));
    SP_TRY(check_outputs(c, &g, c->in[1], c->in[0]));
    sp__meta_of(c->in[0], out);
    return SP_OK;
}

static sp_status max_pick_infer(const sp_call *c, sp_meta *out)
{
    pool_geometry g;
    SP_TRY(measure(c->op, c->attrs, c->in[0]->rank, c->in[0]->dims, &g));
    SP_CHECK(sp__tensor_same_shape(c->in[0], c->in[1]) && c->in[0]->dtype == c->in[1]->dtype, SP_VALUE,
             "%s: both inputs must have the same shape and dtype", c->op->name);
    meta_with(c->in[0], &g.w, g.w.out, out);
    return SP_OK;
}

static sp_status max_helper_reference(const sp_call *c)
{
    pool_job job = {.x = c->in[0]->data, .values = c->in[1]->data, .out = c->out[0]->data};
    SP_TRY(measure(c->op, c->attrs, c->in[0]->rank, c->in[0]->dims, &job.g));
    return run(c, &job, c->op == &sp_op_pool_max_grad ? max_grad_loops : max_pick_loops);
}

/* Linear in the second input; the first only says where the maxima are. */
static sp_status max_helper_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_op *other = v->op == &sp_op_pool_max_grad ? &sp_op_pool_max_pick : &sp_op_pool_max_grad;
    if (v->needs[1]) v->din[1] = sp_builder_apply(b, other, v->attrs, 2, (sp_tensor *const[]){v->in[0], v->dout[0]});
    return sp__builder_status(b);
}

static sp_status mean_grad_measure(const sp_call *c, pool_geometry *g, int64_t *dims)
{
    const sp_pool_attrs *a = c->attrs;
    const sp_tensor *dout = c->in[0];
    int n = spatial_of(c->op, a);
    SP_CHECK(n >= 1 && a->input_size.n == n && dout->rank > n, SP_VALUE,
             "%s: input_size must be %d numbers, fewer than the dimensions of the gradient; found %d", c->op->name, n,
             a->input_size.n < 0 ? 0 : a->input_size.n);
    for (int i = 0; i < dout->rank - n; i++) dims[i] = dout->dims[i];
    for (int d = 0; d < n; d++) dims[dout->rank - n + d] = a->input_size.v[d];
    return measure(c->op, a, dout->rank, dims, g);
}

static sp_status mean_grad_infer(const sp_call *c, sp_meta *out)
{
    pool_geometry g;
    SP_TRY(mean_grad_measure(c, &g, out->dims));
    out->rank = c->in[0]->rank;
    out->dtype = (sp_dtype)c->in[0]->dtype;
    return check_outputs(c, &g, c->in[0], c->in[0]);
}

static size_t mean_grad_workspace(const sp_call *c)
{
    pool_geometry g;
    int64_t dims[SP_RANK_MAX];
    return mean_grad_measure(c, &g, dims) == SP_OK ? tables_bytes(&g.w) : 0;
}

static sp_status mean_grad_reference(const sp_call *c)
{
    pool_job job = {.values = c->in[0]->data, .out = c->out[0]->data};
    int64_t dims[SP_RANK_MAX];
    SP_TRY(mean_grad_measure(c, &job.g, dims));
    return run(c, &job, mean_grad_loops);
}

static sp_status mean_grad_vjp(sp_builder *b, const sp_vjp *v)
{
    static const sp_op *const means[] = {&sp_op_avg_pool1d, &sp_op_avg_pool2d, &sp_op_avg_pool3d};
    static const sp_op *const adaptive[] = {&sp_op_adaptive_avg_pool1d, &sp_op_adaptive_avg_pool2d,
                                            &sp_op_adaptive_avg_pool3d};
    const sp_pool_attrs *a = v->attrs;
    const sp_op *op = a->output_size.n > 0 ? adaptive[a->spatial - 1] : means[a->spatial - 1];
    v->din[0] = sp_builder_apply(b, op, a, 1, (sp_tensor *const[]){v->dout[0]});
    return sp__builder_status(b);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

const sp_op sp_op_pool_max_grad = {
    .batch = sp__batch_fold,
    .name = "pool_max_grad",
    .family = SP_FAMILY_MAX_POOL,
    .shard = "n ..., n ... -> n ...; ... whole",
    .inputs = "x, dout",
    SP_ATTRS(max_helper_attrs, sp_pool_attrs),
    .dtypes = SP_DT_REAL,
    .infer = max_grad_infer,
    .reference = max_helper_reference,
    .workspace = pool_workspace,
    .vjp = max_helper_vjp,
    .saves = SP_SAVE_IN(0),
    .doc = "Gradient of max pooling: each element of dout goes to where the maximum was.",
    .samples = "[2,2,4,4] [2,2,2,2] kernel_size=2; [1,1,5,5] [1,1,3,2] output_size=(3,2)",
};
const sp_op sp_op_pool_max_pick = {
    .batch = sp__batch_fold,
    .name = "pool_max_pick",
    .family = SP_FAMILY_MAX_POOL,
    .inputs = "x, values",
    SP_ATTRS(max_helper_attrs, sp_pool_attrs),
    .dtypes = SP_DT_REAL,
    .infer = max_pick_infer,
    .reference = max_helper_reference,
    .workspace = pool_workspace,
    .vjp = max_helper_vjp,
    .saves = SP_SAVE_IN(0),
    .doc = "Elements of values at the places where max pooling of x finds its maxima.",
    .samples = "[2,2,4,4] [2,2,4,4] kernel_size=2",
};
const sp_op sp_op_pool_mean_grad = {
    .batch = sp__batch_fold,
    .name = "pool_mean_grad",
    .family = SP_FAMILY_MEAN_POOL,
    .shard = "n ... -> n ...; ... whole",
    .inputs = "dout",
    SP_ATTRS(mean_helper_attrs, sp_pool_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = mean_grad_infer,
    .reference = mean_grad_reference,
    .workspace = mean_grad_workspace,
    .vjp = mean_grad_vjp,
    .doc = "Gradient of average pooling; input_size is the spatial size of the result.",
    .samples = "[2,2,2,2] kernel_size=2, input_size=(4,5); [1,1,3,2] output_size=(3,2), input_size=(5,5)",
};

#define POOL_ENTRY(name_, attrs_, dtypes_, n_out_, reference_, vjp_, saves_, ...)                                      \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x",                                                                        \
                                 .n_out = n_out_,                                                                      \
                                 SP_ATTRS(attrs_, sp_pool_attrs),                                                      \
                                 .batch = sp__batch_fold,                                                              \
                                 .dtypes = dtypes_,                                                                    \
                                 .infer = pool_infer,                                                                  \
                                 .reference = reference_,                                                              \
                                 .workspace = pool_workspace,                                                          \
                                 .vjp = vjp_,                                                                          \
                                 .saves = saves_,                                                                      \
                                 __VA_ARGS__}
#define MAX_ENTRY(name_, attrs_, n_out_, ...)                                                                          \
    POOL_ENTRY(name_, attrs_, SP_DT_REAL, n_out_, max_reference, max_vjp, SP_SAVE_IN(0), .family = SP_FAMILY_MAX_POOL, \
               __VA_ARGS__)
#define MEAN_ENTRY(name_, attrs_, ...)                                                                                 \
    POOL_ENTRY(name_, attrs_, SP_DT_FLOATS, 1, mean_reference, mean_vjp, 0, .family = SP_FAMILY_MEAN_POOL, __VA_ARGS__)

sp_status sp__max_pool2d_window(const sp_tensor *x, const void *attrs, sp__window *out)
{
    pool_geometry g;
    SP_TRY(measure(&sp_op_max_pool2d, attrs, x->rank, x->dims, &g));
    *out = g.w;
    return SP_OK;
}

sp_status sp__mean_pool2d_window(const sp_tensor *x, const void *attrs, sp__window *out, bool *include_pad,
                                 int64_t *divisor)
{
    pool_geometry g;
    SP_TRY(measure(&sp_op_avg_pool2d, attrs, x->rank, x->dims, &g));
    *out = g.w;
    *include_pad = g.include_pad;
    *divisor = g.divisor;
    return SP_OK;
}

#define MAX_DOC(n) "Maximum over sliding windows in the last " n "."
#define INDICES_DOC(n) "Maximum over windows in the last " n ", and its place in the flattened spatial dimensions."
#define MEAN_DOC(n) "Mean over sliding windows in the last " n "; padding counts when count_include_pad."

MAX_ENTRY(max_pool1d, max_attrs, 1, .spatial = 1, .shard = "n c * -> n c *; c whole if data_format",
          .doc = MAX_DOC("dimension"), .samples = "[2,3,8] kernel_size=2; [2,9] kernel_size=3, stride=2, pad=1");
MAX_ENTRY(max_pool2d, max_attrs, 1, .spatial = 2, .shard = "n c * * -> n c * *; c whole if data_format",
          .mindir = "MaxPool", .onnx = "MaxPool",
          .python = "ops.MaxPool(kernel_size=1, strides:stride=1, pad_mode='valid', data_format='NCHW')(x)",
          .doc = MAX_DOC("two dimensions"),
          .samples =
              "[2,3,6,6] kernel_size=2; [1,2,7,5] kernel_size=3, stride=2, pad_mode=same; "
              "[1,1,8,8] kernel_size=(2,3), stride=1, pad=1, dilation=2; [1,1,5,5] kernel_size=2, ceil_mode=True");
MAX_ENTRY(max_pool3d, max_attrs, 1, .spatial = 3, .shard = "n c * * * -> n c * * *; c whole if data_format",
          .mindir = "MaxPool3D", .onnx = "MaxPool",
          .python = "ops.MaxPool3D(kernel_size=1, strides:stride=1, pad_mode='VALID', pad_list:pad=0, "
                    "ceil_mode=False, data_format='NCDHW')(x)",
          .doc = MAX_DOC("three dimensions"),
          .samples = "[1,2,4,4,4] kernel_size=2; [1,1,3,5,4] kernel_size=3, stride=2, pad=1");
MAX_ENTRY(max_pool1d_indices, max_attrs, 2, .spatial = 1, .shard = "n c * -> n c *, n c *; c whole if data_format",
          .doc = INDICES_DOC("dimension"), .samples = "[2,3,8] kernel_size=2");
MAX_ENTRY(max_pool2d_indices, max_attrs, 2, .spatial = 2,
          .shard = "n c * * -> n c * *, n c * *; c whole if data_format", .mindir = "MaxPoolWithArgmaxV2",
          .python = "ops.MaxPoolWithArgmaxV2(kernel_size, strides:stride=None, pads:pad=0, dilation=(1, 1), "
                    "ceil_mode=False)(x)",
          .doc = INDICES_DOC("two dimensions"), .samples = "[2,3,6,6] kernel_size=2");
MAX_ENTRY(max_pool3d_indices, max_attrs, 2, .spatial = 3,
          .shard = "n c * * * -> n c * * *, n c * * *; c whole if data_format", .mindir = "MaxPool3DWithArgmax",
          .doc = INDICES_DOC("three dimensions"), .samples = "[1,2,4,4,4] kernel_size=2");

MEAN_ENTRY(avg_pool1d, mean_attrs, .spatial = 1,
           .python = "ops.avg_pool1d(input_x, kernel_size=1, stride=1, padding:pad=0, ceil_mode=False, "
                     "count_include_pad=True); mint.nn.functional.avg_pool1d(input, kernel_size, stride=None, "
                     "padding:pad=0, ceil_mode=False, count_include_pad=True)",
           .doc = MEAN_DOC("dimension"), .samples = "[2,3,8] kernel_size=2; [2,9] kernel_size=3, stride=2, pad=1");
MEAN_ENTRY(avg_pool2d, mean_attrs, .spatial = 2, .shard = "n c * * -> n c * *; c whole if data_format",
           .mindir = "AvgPool", .onnx = "AveragePool",
           .python = "ops.AvgPool(kernel_size=1, strides:stride=1, pad_mode='VALID', data_format='NCHW')(x); "
                     "ops.avg_pool2d(input_x, kernel_size=1, stride=1, padding:pad=0, ceil_mode=False, "
                     "count_include_pad=True, divisor_override=0); mint.nn.functional.avg_pool2d(input, kernel_size, "
                     "stride=None, padding:pad=0, ceil_mode=False, count_include_pad=True, divisor_override=None)",
           .doc = MEAN_DOC("two dimensions"),
           .samples = "[2,3,6,6] kernel_size=2; [1,2,7,5] kernel_size=3, stride=2, pad_mode=same; "
                      "[1,1,7,8] kernel_size=(2,3), stride=1, pad=1, count_include_pad=True; "
                      "[1,1,5,5] kernel_size=2, ceil_mode=True; [1,1,5,5] kernel_size=2, divisor_override=3");
MEAN_ENTRY(avg_pool3d, mean_attrs, .spatial = 3, .shard = "n c * * * -> n c * * *; c whole if data_format",
           .mindir = "AvgPool3D", .onnx = "AveragePool",
           .python = "ops.AvgPool3D(kernel_size=1, strides:stride=1, pad_mode='valid', pad=0, ceil_mode=False, "
                     "count_include_pad=True, divisor_override=0, data_format='NCDHW')(x); "
                     "ops.avg_pool3d(input_x, kernel_size=1, stride=1, padding:pad=0, ceil_mode=False, "
                     "count_include_pad=True, divisor_override=0); mint.nn.functional.avg_pool3d(input, kernel_size, "
                     "stride=None, padding:pad=0, ceil_mode=False, count_include_pad=True, divisor_override=None)",
           .doc = MEAN_DOC("three dimensions"),
           .samples = "[1,2,4,4,4] kernel_size=2; [1,1,3,5,4] kernel_size=3, stride=2, pad=1");

#define ADAPTIVE_FACES(name) "ops." name "(input, output_size); mint.nn.functional." name "(input, output_size)"
MEAN_ENTRY(adaptive_avg_pool1d, adaptive_attrs, .spatial = 1, .shard = "n c * -> n c *",
           .python = ADAPTIVE_FACES("adaptive_avg_pool1d"),
           .doc = "Mean over as many windows as asked for, of nearly equal size.",
           .samples = "[2,3,7] output_size=(3,)");
MEAN_ENTRY(adaptive_avg_pool2d, adaptive_attrs, .spatial = 2, .shard = "n c * * -> n c * *",
           .mindir = "AdaptiveAvgPool2D",
           .python = ADAPTIVE_FACES("adaptive_avg_pool2d") "; ops.AdaptiveAvgPool2D(output_size)(x); "
                                                           "ops.adaptive_avg_pool2d_ext(input, output_size)",
           .doc = "Mean over as many windows as asked for, of nearly equal size; -1 keeps a dimension.",
           .samples = "[2,3,7,5] output_size=(3,2); [1,2,4,4] output_size=(1,); [1,2,4,5] output_size=(-1,7)");
MEAN_ENTRY(adaptive_avg_pool3d, adaptive_attrs, .spatial = 3, .shard = "n c * * * -> n c * * *",
           .mindir = "AdaptiveAvgPool3D",
           .python = ADAPTIVE_FACES("adaptive_avg_pool3d") "; ops.AdaptiveAvgPool3D(output_size)(x)",
           .doc = "Mean over as many windows as asked for, of nearly equal size; -1 keeps a dimension.",
           .samples = "[1,2,5,4,3] output_size=(2,3,1)");

MAX_ENTRY(adaptive_max_pool1d, adaptive_attrs, 2, .spatial = 1, .doc = INDICES_DOC("dimension"),
          .samples = "[2,3,7] output_size=(3,)");
MAX_ENTRY(adaptive_max_pool2d, adaptive_attrs, 2, .spatial = 2, .mindir = "AdaptiveMaxPool2D",
          .python = "ops.AdaptiveMaxPool2D(output_size)(x)", .doc = INDICES_DOC("two dimensions"),
          .samples = "[2,3,7,5] output_size=(3,2); [1,2,4,5] output_size=(-1,7)");
MAX_ENTRY(adaptive_max_pool3d, adaptive_attrs, 2, .spatial = 3, .mindir = "AdaptiveMaxPool3D",
          .doc = INDICES_DOC("three dimensions"), .samples = "[1,2,5,4,3] output_size=(2,3,1)");
