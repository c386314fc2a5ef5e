/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_impl.h - the kernels of blocks.h, made for the instruction set of the file that includes this one. BLOCKS_TABLE is the name of
 * the table it defines. A block of 16 channels is PARTS vectors; all loops over channels are loops over these. */
#include "device/cpu/blocks.h"
#include "device/cpu/vec.h"
#if defined(__AVX512F__)
#include "device/cpu/tiles_turn.h"
#endif

/* Whether products have panels of whole blocks here, so that convolutions of blocks are made. */
#if defined(__AVX512F__) || defined(__AVX2__)
#define LANES_WIDE 1
#else
#define LANES_WIDE 0
#endif

enum { PARTS = SP_BLOCK / LANES, GROUP = 7, DEPTH_SIZE = 5 };
#define INLINE static inline __attribute__((always_inline))

/* LANES channels from `at` on of a row of n; zeros behind the last. */
INLINE vf channels_load(const float *p, int64_t n, int64_t at)
{
    if (n - at >= LANES) return vf_load(p + at);
    return n > at ? vf_load_n(p + at, n - at) : vf_set(0);
}

/* --- what is done to sums ------------------------------------------------------------------------------------------- */

/* The tail of one vector of channels, in registers. */
typedef struct sp__block_tail_part {
    vf bias, scale, shift, slope;
} sp__block_tail_part;

INLINE sp__block_tail_part tail_load(const sp__block_tail *t, int64_t n, int64_t at)
{
    const vf zero = vf_set(0);
    return (sp__block_tail_part){.bias = t->bias ? channels_load(t->bias, n, at) : zero,
                                 .scale = t->scale ? channels_load(t->scale, n, at) : zero,
                                 .shift = t->shift ? channels_load(t->shift, n, at) : zero,
                                 .slope = t->slope ? channels_load(t->slope, n, at) : zero};
}

/* The formulas of loops_impl.h and of channel_affine, which rounds twice. */
INLINE vf tail_apply(const sp__block_tail *t, const sp__block_tail_part *p, vf v, const float *residual)
{
    const vf zero = vf_set(0), six = vf_set(6);
    if (t->bias) v = v + p->bias;
    if (t->scale) v = v * p->scale + p->shift;
    if (residual) v = v + vf_load(residual);
    if (t->activation == SP_BLOCKED_AS_IT_IS) return v;
    if (t->activation == SP_BLOCKED_PRELU) return vf_select(vm_lt(zero, v), v, v * p->slope);
    if (t->activation == SP_BLOCKED_PRELU_BELOW) return vf_select(vm_lt(v, zero), v * p->slope, v);
    if (t->activation == SP_BLOCKED_RELU6) v = vf_min(six, v); /* NaN stays */
    return vf_select((vm)~vm_le(v, zero), v, zero);            /* and here; both zeros become the positive one */
}

/* Which parts a tail has is known outside of the loops: a copy of the code for each common kind. */
#define WITH_TAIL(t, residual, call)                                                                                   \
    do {                                                                                                               \
        const sp__block_tail with_ = *(t);                                                                             \
        if (!with_.bias && with_.scale && !(residual) && !with_.slope) {                                               \
            sp__block_tail known_ = {.scale = with_.scale, .shift = with_.shift};                                      \
            if (with_.activation == SP_BLOCKED_AS_IT_IS) {                                                             \
                known_.activation = SP_BLOCKED_AS_IT_IS;                                                               \
                call(&known_, NULL);                                                                                   \
            } else if (with_.activation == SP_BLOCKED_RELU) {                                                          \
                known_.activation = SP_BLOCKED_RELU;                                                                   \
                call(&known_, NULL);                                                                                   \
            } else {                                                                                                   \
                known_.activation = SP_BLOCKED_RELU6;                                                                  \
                call(&known_, NULL);                                                                                   \
            }                                                                                                          \
        } else {                                                                                                       \
            call(&with_, residual);                                                                                    \
        }                                                                                                              \
    } while (0)

#if LANES_WIDE
#include "device/cpu/blocks_points.h"
#endif

/* --- depthwise ------------------------------------------------------------------------------------------------------ */

static const float zeros[(2 * GROUP + DEPTH_SIZE) * SP_BLOCK];

/* `n` neighbouring outputs of a window of size x size: rows[a] is row a of the windows from column `from` of the image on; a row of zeros where there is
 * none. With `check`, columns outside of the image count as zeros. */
INLINE void depth_group(const int n, const int size, const int stride, const bool check, const sp__block_tail *t,
                        const float *const *rows, int64_t from, int64_t width, const float *w,
                        const sp__block_tail_part *p, float *out, const float *residual)
{
    vf acc[GROUP], x[2 * GROUP + DEPTH_SIZE];
    for (int j = 0; j < n; j++) acc[j] = vf_set(0);
    for (int a = 0; a < size; a++) {
        for (int i = 0; i < (n - 1) * stride + size; i++)
            x[i] = check && (from + i < 0 || from + i >= width) ? vf_set(0) : vf_load(rows[a] + i * SP_BLOCK);
        for (int b = 0; b < size; b++) {
            const vf tap = vf_load(w + (a * size + b) * SP_BLOCK);
            for (int j = 0; j < n; j++) acc[j] = vf_fma(tap, x[j * stride + b], acc[j]);
        }
    }
    for (int j = 0; j < n; j++)
        vf_store(out + j * SP_BLOCK, tail_apply(t, p, acc[j], residual ? residual + j * SP_BLOCK : NULL));
}

INLINE void depth_square(const int size, const int stride, const sp__block_depth *d, const sp__block_tail *t,
                         const float *residual, int64_t r0, int64_t r1)
{
    const sp__window *win = d->w;
    const int64_t width = win->in[2], columns = win->out[2];
    for (int at = 0; at < SP_BLOCK; at += LANES) {
        const float *w = d->weight + at;
        const sp__block_tail_part p = tail_load(t, d->n, at);
        for (int64_t r = r0; r < r1; r++) {
            float *out = d->out + r * columns * SP_BLOCK + at;
            const float *more = residual ? residual + r * columns * SP_BLOCK + at : NULL;
            int64_t j = 0;
            for (int n = GROUP; j < columns; j += n) {
                if (columns - j < GROUP) n = 1;
                const int64_t from = j * stride - win->pad[2];
                const float *rows[DEPTH_SIZE];
                for (int a = 0; a < size; a++) {
                    const int64_t y = r * win->stride[1] - win->pad[1] + a;
                    rows[a] = y < 0 || y >= win->in[1] ? zeros : d->x + (y * width + from) * SP_BLOCK + at;
                }
                const bool inside = from >= 0 && from + (n - 1) * stride + size <= width;
                float *o = out + j * SP_BLOCK;
                const float *m = more ? more + j * SP_BLOCK : NULL;
                if (n == GROUP && inside) depth_group(GROUP, size, stride, false, t, rows, from, width, w, &p, o, m);
                else if (n == GROUP) depth_group(GROUP, size, stride, true, t, rows, from, width, w, &p, o, m);
                else depth_group(1, size, stride, true, t, rows, from, width, w, &p, o, m);
            }
        }
    }
}

/* Any window: one output at a time. */
static void depth_any(const sp__block_depth *d, int64_t r0, int64_t r1)
{
    const sp__window *win = d->w;
    for (int at = 0; at < SP_BLOCK; at += LANES) {
        const sp__block_tail_part p = tail_load(&d->tail, d->n, at);
        for (int64_t r = r0; r < r1; r++)
            for (int64_t j = 0; j < win->out[2]; j++) {
                const float *w = d->weight + at;
                vf acc = vf_set(0);
                for (int64_t a = 0; a < win->kernel[1]; a++)
                    for (int64_t b = 0; b < win->kernel[2]; b++, w += SP_BLOCK) {
                        const int64_t y = r * win->stride[1] - win->pad[1] + a * win->dilation[1];
                        const int64_t x = j * win->stride[2] - win->pad[2] + b * win->dilation[2];
                        const bool inside = y >= 0 && y < win->in[1] && x >= 0 && x < win->in[2];
                        acc = vf_fma(vf_load(w),
                                     inside ? vf_load(d->x + (y * win->in[2] + x) * SP_BLOCK + at) : vf_set(0), acc);
                    }
                const int64_t to = (r * win->out[2] + j) * SP_BLOCK + at;
                vf_store(d->out + to, tail_apply(&d->tail, &p, acc, d->residual ? d->residual + to : NULL));
            }
    }
}

static void depth(const sp__block_depth *d, int64_t r0, int64_t r1)
{
    const sp__window *w = d->w;
    const int64_t size = w->kernel[1], stride = w->stride[2];
    const bool square = w->kernel[2] == size && (size == 3 || size == 5) && w->dilation[1] == 1 && w->dilation[2] == 1;
    if (!square || stride > 2) {
        depth_any(d, r0, r1);
        return;
    }
#define DEPTH_3_1(t, r) depth_square(3, 1, d, t, r, r0, r1)
#define DEPTH_3_2(t, r) depth_square(3, 2, d, t, r, r0, r1)
    if (size == 5 && stride == 1) depth_square(5, 1, d, &d->tail, d->residual, r0, r1);
    else if (size == 5) depth_square(5, 2, d, &d->tail, d->residual, r0, r1);
    else if (stride == 1) WITH_TAIL(&d->tail, d->residual, DEPTH_3_1);
    else WITH_TAIL(&d->tail, d->residual, DEPTH_3_2);
#undef DEPTH_3_1
#undef DEPTH_3_2
}

/* Elements that the mean divides by, along dimension d of window i: as in src/ops/pool.c. */
static int64_t counted(const sp_blocked_means *m, int d, int64_t i)
{
    const sp__window *w = &m->w;
    const int64_t start = i * w->stride[d] - w->pad[d], end = start + w->kernel[d],
                  last = m->include_pad ? w->in[d] + w->pad_end[d] : w->in[d];
    return (end < last ? end : last) - (start < 0 && !m->include_pad ? 0 : start);
}

/* Sums in the order of src/ops/pool.c: rows of the window, then columns. */
static void mean_pool(const sp_blocked_means *m, const float *x, float *out, int64_t row)
{
    const sp__window *w = &m->w;
    const int64_t y = row * w->stride[1] - w->pad[1], y0 = y < 0 ? 0 : y,
                  y1 = y + w->kernel[1] < w->in[1] ? y + w->kernel[1] : w->in[1], high = counted(m, 1, row);
    for (int64_t j = 0; j < w->out[2]; j++) {
        const int64_t c = j * w->stride[2] - w->pad[2], c0 = c < 0 ? 0 : c,
                      c1 = c + w->kernel[2] < w->in[2] ? c + w->kernel[2] : w->in[2];
        const vf divisor = vf_set((float)(m->divisor ? m->divisor : high * counted(m, 2, j)));
        for (int at = 0; at < SP_BLOCK; at += LANES) {
            vf sum = vf_set(0);
            for (int64_t a = y0; a < y1; a++)
                for (int64_t b = c0; b < c1; b++) sum = sum + vf_load(x + (a * w->in[2] + b) * SP_BLOCK + at);
            vf_store(out + (row * w->out[2] + j) * SP_BLOCK + at, sum / divisor);
        }
    }
}

/* NaN, and what comes first among equals: as in src/ops/pool.c. */
static void max_pool(const sp__window *w, const float *x, float *out, int64_t r0, int64_t r1)
{
    for (int64_t r = r0; r < r1; r++) {
        const int64_t y = r * w->stride[1] - w->pad[1], y0 = y < 0 ? 0 : y,
                      y1 = y + w->kernel[1] < w->in[1] ? y + w->kernel[1] : w->in[1];
        for (int64_t j = 0; j < w->out[2]; j++) {
            const int64_t c = j * w->stride[2] - w->pad[2], c0 = c < 0 ? 0 : c,
                          c1 = c + w->kernel[2] < w->in[2] ? c + w->kernel[2] : w->in[2];
            for (int at = 0; at < SP_BLOCK; at += LANES) {
                vf best = vf_set(NAN);
                for (int64_t a = y0; a < y1; a++)
                    for (int64_t b = c0; b < c1; b++) {
                        const vf v = vf_load(x + (a * w->in[2] + b) * SP_BLOCK + at);
                        best = vf_select(vm_lt(best, v) | vm_nan(best), v, best);
                    }
                vf_store(out + (r * w->out[2] + j) * SP_BLOCK + at, best);
            }
        }
    }
}

static void scale(int64_t positions, int64_t n, const float *x, const float *factors, float *out)
{
    for (int at = 0; at < SP_BLOCK; at += LANES) {
        const vf by = channels_load(factors, n, at);
        for (int64_t i = at; i < positions * SP_BLOCK; i += SP_BLOCK) vf_store(out + i, vf_load(x + i) * by);
    }
}

/* --- Winograd ------------------------------------------------------------------------------------------------------- */

static void win_input(const sp__block_run *run, const sp__window *w, const float *x, float *points, int64_t step,
                      int64_t tile_step)
{
    const int64_t width = w->in[2], y0 = run->y - w->pad[1];
    for (int64_t tile = 0; tile < run->n; tile++, points += tile_step) {
        const int64_t x0 = run->x + 2 * tile - w->pad[2];
        const bool inside = x0 >= 0 && x0 + 4 <= width && y0 >= 0 && y0 + 4 <= w->in[1];
        const float *from = x + (y0 * width + x0) * SP_BLOCK;
        for (int at = 0; at < SP_BLOCK; at += LANES) {
            vf d[4][4], t[4][4];
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++) {
                    const bool here = inside || (y0 + a >= 0 && y0 + a < w->in[1] && x0 + b >= 0 && x0 + b < width);
                    d[a][b] = here ? vf_load(from + (a * width + b) * SP_BLOCK + at) : vf_set(0);
                }
            for (int b = 0; b < 4; b++) {
                t[0][b] = d[0][b] - d[2][b];
                t[1][b] = d[1][b] + d[2][b];
                t[2][b] = d[2][b] - d[1][b];
                t[3][b] = d[1][b] - d[3][b];
            }
            float *to = points + at;
            for (int a = 0; a < 4; a++, to += 4 * step) {
                vf_store(to, t[a][0] - t[a][2]);
                vf_store(to + step, t[a][1] + t[a][2]);
                vf_store(to + 2 * step, t[a][2] - t[a][1]);
                vf_store(to + 3 * step, t[a][1] - t[a][3]);
            }
        }
    }
}

static void win_dout(int64_t n, const float *y, float *points, int64_t step, int64_t tile_step)
{
    for (int64_t tile = 0; tile < n; tile++, points += tile_step)
        for (int at = 0; at < SP_BLOCK; at += LANES) {
            vf t[4][2];
            for (int b = 0; b < 2; b++) {
                const vf y0 = vf_load(y + (2 * tile + b) * SP_BLOCK + at),
                         y1 = vf_load(y + (2 * n + 2 * tile + b) * SP_BLOCK + at);
                t[0][b] = y0;
                t[1][b] = y0 + y1;
                t[2][b] = y0 - y1;
                t[3][b] = vf_set(0) - y1;
            }
            float *to = points + at;
            for (int a = 0; a < 4; a++, to += 4 * step) {
                vf_store(to, t[a][0]);
                vf_store(to + step, t[a][0] + t[a][1]);
                vf_store(to + 2 * step, t[a][0] - t[a][1]);
                vf_store(to + 3 * step, vf_set(0) - t[a][1]);
            }
        }
}

INLINE void win_output_as(const sp__block_run *run, const sp__window *w, int64_t n, const float *sums, int64_t step,
                          int64_t tile_row, const sp__block_tail *tail, const float *residual, float *out,
                          int64_t block_step)
{
    const int64_t width = w->out[2];
    for (int64_t c = 0; c < n; c += SP_BLOCK, out += block_step) {
        for (int at = 0; at < SP_BLOCK; at += LANES) {
            const sp__block_tail_part p = tail_load(tail, n, c + at);
            for (int64_t tile = 0; tile < run->n; tile++) {
                const float *m = sums + tile * tile_row + c + at;
                vf t[2][4];
                for (int b = 0; b < 4; b++) {
                    const vf m0 = vf_load(m + b * step), m1 = vf_load(m + (4 + b) * step);
                    const vf m2 = vf_load(m + (8 + b) * step), m3 = vf_load(m + (12 + b) * step);
                    t[0][b] = (m0 + m1) + m2;
                    t[1][b] = (m1 - m2) - m3;
                }
                const int64_t y = run->y, x = run->x + 2 * tile;
                for (int a = 0; a < 2 && y + a < w->out[1]; a++) {
                    const int64_t to = ((y + a) * width + x) * SP_BLOCK + at;
                    const vf even = (t[a][0] + t[a][1]) + t[a][2], odd = (t[a][1] - t[a][2]) - t[a][3];
                    vf_store(out + to, tail_apply(tail, &p, even, residual ? residual + to : NULL));
                    if (x + 1 < width)
                        vf_store(out + to + SP_BLOCK,
                                 tail_apply(tail, &p, odd, residual ? residual + to + SP_BLOCK : NULL));
                }
            }
        }
        if (residual) residual += block_step;
    }
}

static void win_output(const sp__block_run *run, const sp__window *w, int64_t n, const float *sums, int64_t step,
                       int64_t tile_row, const sp__block_tail *tail, const float *residual, float *out,
                       int64_t block_step)
{
#define WIN_OUTPUT(t, r) win_output_as(run, w, n, sums, step, tile_row, t, r, out, block_step)
    WITH_TAIL(tail, residual, WIN_OUTPUT);
#undef WIN_OUTPUT
}

static void win_weight(int64_t n, int64_t columns, const float *taps, float *points, int64_t step)
{
    const vf half = vf_set(0.5f);
    for (int64_t c = 0; c < n; c++, taps += 9 * columns, points += columns)
        for (int64_t at = 0; at < columns; at += LANES) {
            vf t[4][3];
            for (int b = 0; b < 3; b++) {
                const vf g0 = vf_load(taps + b * columns + at), g1 = vf_load(taps + (3 + b) * columns + at),
                         g2 = vf_load(taps + (6 + b) * columns + at);
                const vf ends = g0 + g2;
                t[0][b] = g0;
                t[1][b] = (ends + g1) * half;
                t[2][b] = (ends - g1) * half;
                t[3][b] = g2;
            }
            float *to = points + at;
            for (int a = 0; a < 4; a++, to += 4 * step) {
                const vf ends = t[a][0] + t[a][2];
                vf_store(to, t[a][0]);
                vf_store(to + step, (ends + t[a][1]) * half);
                vf_store(to + 2 * step, (ends - t[a][1]) * half);
                vf_store(to + 3 * step, t[a][2]);
            }
        }
}

/* --- to blocks and back --------------------------------------------------------------------------------------------- */

#if defined(__AVX512F__)
/* Squares of 16 channels and 16 positions are turned; the last one lies over the one before, fewer positions or channels in a square of their own. */
static void gather(int64_t positions, int64_t n, const float *from, int64_t plane, float *to)
{
    _Alignas(64) float square[SP_BLOCK * SP_BLOCK], turned[SP_BLOCK * SP_BLOCK];
    for (int64_t i = 0; i < positions; i += SP_BLOCK) {
        if (n == SP_BLOCK && positions >= SP_BLOCK) {
            if (i + SP_BLOCK > positions) i = positions - SP_BLOCK;
            sp__turn_16(from + i, plane, to + i * SP_BLOCK, SP_BLOCK);
            continue;
        }
        const int64_t m = positions - i < SP_BLOCK ? positions - i : SP_BLOCK;
        for (int64_t c = 0; c < SP_BLOCK; c++)
            vf_store(square + c * SP_BLOCK, c < n ? vf_load_n(from + c * plane + i, m) : vf_set(0));
        sp__turn_16(square, SP_BLOCK, turned, SP_BLOCK);
        memcpy(to + i * SP_BLOCK, turned, (size_t)(m * SP_BLOCK) * 4);
    }
}

static void scatter(int64_t positions, int64_t n, const float *from, float *to, int64_t plane)
{
    _Alignas(64) float square[SP_BLOCK * SP_BLOCK], turned[SP_BLOCK * SP_BLOCK];
    for (int64_t i = 0; i < positions; i += SP_BLOCK) {
        if (n == SP_BLOCK && positions >= SP_BLOCK) {
            if (i + SP_BLOCK > positions) i = positions - SP_BLOCK;
            sp__turn_16(from + i * SP_BLOCK, SP_BLOCK, to + i, plane);
            continue;
        }
        const int64_t m = positions - i < SP_BLOCK ? positions - i : SP_BLOCK;
        for (int64_t k = 0; k < SP_BLOCK; k++)
            vf_store(square + k * SP_BLOCK, k < m ? vf_load(from + (i + k) * SP_BLOCK) : vf_set(0));
        sp__turn_16(square, SP_BLOCK, turned, SP_BLOCK);
        for (int64_t c = 0; c < n; c++) vf_store_n(to + c * plane + i, vf_load(turned + c * SP_BLOCK), m);
    }
}
#else
static void gather(int64_t positions, int64_t n, const float *from, int64_t plane, float *to)
{
    for (int64_t i = 0; i < positions; i++)
        for (int64_t c = 0; c < SP_BLOCK; c++) to[i * SP_BLOCK + c] = c < n ? from[c * plane + i] : 0;
}

static void scatter(int64_t positions, int64_t n, const float *from, float *to, int64_t plane)
{
    for (int64_t c = 0; c < n; c++)
        for (int64_t i = 0; i < positions; i++) to[c * plane + i] = from[i * SP_BLOCK + c];
}
#endif

const sp__block_kernels BLOCKS_TABLE = {
#if LANES_WIDE
    .points = points,
#endif
    .depth = depth,
    .max_pool = max_pool,
    .mean_pool = mean_pool,
    .scale = scale,
    .win_input = win_input,
    .win_dout = win_dout,
    .win_output = win_output,
    .win_weight = win_weight,
    .gather = gather,
    .scatter = scatter,
};
