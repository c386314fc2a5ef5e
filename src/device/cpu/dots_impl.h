/* SPDX-License-Identifier: Apache-2.0 */
/* dots_impl.h - the kernels of dots.h, made for the instruction set of the file that includes this one. It defines before:
 *   DOTS_TABLE, DOTS_NAME    the table, and what people call it
 *   DOTS_ROWS, DOTS_BLOCKS   positions and blocks of a register tile
 *   dx, dw                   four unsigned bytes for all lanes; LANES times four signed ones
 *   dots_x, dots_w, dots_dot make them from memory (dots_x: xor `flip`); add their products to sums
 *   DOTS_DEPTH               1: it has depth_row, else the plain one serves */
#include "device/cpu/dots.h"
#include "device/cpu/vec.h"

enum { PARTS = SP_BLOCK / LANES };
#define INLINE static inline __attribute__((always_inline))
#define FLIP 0x80808080u

/* --- tiles ---------------------------------------------------------------------------------------------------------- */

/* Blocks [0, blocks) of `all` that the weights have. */
INLINE void tile_as(const int rows, const int blocks, const int all, const uint32_t flip, const int64_t step,
                    const uint8_t *x, const int32_t *offsets, int64_t steps, const int8_t *weights, int32_t *sums)
{
    vi acc[DOTS_ROWS][DOTS_BLOCKS * PARTS];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < blocks * PARTS; j++) acc[i][j] = vi_set(0);
    for (int64_t s = 0; s < steps; s++, weights += all * SP_BLOCK * 4) {
        const uint8_t *from = x + offsets[s];
        dw w[DOTS_BLOCKS * PARTS];
        for (int j = 0; j < blocks * PARTS; j++) w[j] = dots_w(weights + j * LANES * 4);
        for (int i = 0; i < rows; i++) {
            const dx v = dots_x(from + i * step, flip);
            for (int j = 0; j < blocks * PARTS; j++) acc[i][j] = dots_dot(acc[i][j], v, w[j]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < blocks * PARTS; j++)
            memcpy(sums + i * SP_DOTS_COLUMNS + j * LANES, &acc[i][j], sizeof acc[i][j]);
}

INLINE void tile_rows(const int rows, const int all, const uint32_t flip, const sp__dots_tile *t)
{
    for (int b = 0; b < all; b += DOTS_BLOCKS) {
        const int blocks = all - b < DOTS_BLOCKS ? all - b : DOTS_BLOCKS;
        const int8_t *w = t->weights + b * SP_BLOCK * 4;
        int32_t *sums = t->sums + b * SP_BLOCK;
        if (t->step == SP_BLOCK) tile_as(rows, blocks, all, flip, SP_BLOCK, t->x, t->offsets, t->steps, w, sums);
        else tile_as(rows, blocks, all, flip, t->step, t->x, t->offsets, t->steps, w, sums);
    }
}

/* The number of rows is known inside of each case. */
#define TILE_CASE(n, all, flip)                                                                                        \
    case n:                                                                                                            \
        if (n <= DOTS_ROWS) tile_rows(n <= DOTS_ROWS ? n : 1, all, flip, t);                                           \
        break;
/* clang-format off */
#define TILE(name, all, flip)                                                                                          \
    static void name(int rows, const sp__dots_tile *t)                                                                 \
    {                                                                                                                  \
        switch (rows) {                                                                                                \
            TILE_CASE(1, all, flip) TILE_CASE(2, all, flip) TILE_CASE(3, all, flip) TILE_CASE(4, all, flip)            \
            TILE_CASE(5, all, flip) TILE_CASE(6, all, flip) TILE_CASE(7, all, flip) TILE_CASE(8, all, flip)            \
            TILE_CASE(9, all, flip) TILE_CASE(10, all, flip) TILE_CASE(11, all, flip) TILE_CASE(12, all, flip)         \
        }                                                                                                              \
    }
/* clang-format on */
TILE(tile_1_u8, 1, 0)
TILE(tile_1_i8, 1, FLIP)
TILE(tile_2_u8, 2, 0)
TILE(tile_2_i8, 2, FLIP)

/* --- what becomes of sums --------------------------------------------------------------------------------------------- */

INLINE vi ints_load(const int32_t *p)
{
    vi v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store_bytes(uint8_t *p, vi v)
{
#if defined(__AVX512F__)
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8((__m512i)v));
#else
    for (int i = 0; i < LANES; i++) p[i] = (uint8_t)v[i];
#endif
}

/* Cut to less than 2^22, so that adding 1.5 * 2^23 rounds to a whole number, whose bits are then the last ones. */
INLINE vi scaled(vi sum, vf scale, vf low, vf high, vi zero)
{
    const vf large = vf_set(12582912);
    const vf q = vf_min(vf_max((vf) __builtin_convertvector(sum, vf) * scale, low), high);
    return (vi)(q + large) - (vi)large + zero;
}

INLINE void finish_as(const bool zeros, const bool bytes, int rows, int n, const int32_t *sums, const sp__dots_tail *t,
                      const int32_t *window, void *out, int64_t block_step)
{
    const vf low = vf_set(t->range.low), high = vf_set(t->range.high);
    const vi zero = vi_set(t->range.zero);
    for (int b = 0; b < n; b++)
        for (int at = 0; at < SP_BLOCK; at += LANES) {
            const int c = b * SP_BLOCK + at;
            const vi bias = ints_load(t->bias + c), w_zero = zeros ? ints_load(t->w_zero + c) : vi_set(0);
            const vf scale = bytes ? vf_load(t->scale + c) : vf_set(0);
            for (int r = 0; r < rows; r++) {
                vi v = ints_load(sums + r * SP_DOTS_COLUMNS + c) + bias;
                const int64_t to = r * SP_BLOCK + b * block_step + at;
                if (zeros) v = v - w_zero * window[r];
                if (bytes) store_bytes((uint8_t *)out + to, scaled(v, scale, low, high, zero));
                else memcpy((int32_t *)out + to, &v, sizeof v);
            }
        }
}

static void finish(int rows, int n, const int32_t *sums, const sp__dots_tail *t, const int32_t *window, void *out,
                   int64_t block_step)
{
    if (t->w_zero && t->scale) finish_as(true, true, rows, n, sums, t, window, out, block_step);
    else if (t->w_zero) finish_as(true, false, rows, n, sums, t, window, out, block_step);
    else if (t->scale) finish_as(false, true, rows, n, sums, t, window, out, block_step);
    else finish_as(false, false, rows, n, sums, t, window, out, block_step);
}

/* --- depthwise -------------------------------------------------------------------------------------------------------- */

/* Sums of outputs [j, j + n) of row r, one after the other: any window. */
static inline void depth_plain(const sp__dots_depth *d, int64_t r, int64_t j, int n, int32_t *sums)
{
    const sp__window *w = d->w;
    const int64_t fours = (w->kernel[2] + 3) / 4;
    for (int i = 0; i < n; i++, sums += SP_DOTS_COLUMNS) {
        int32_t acc[SP_BLOCK] = {0};
        for (int64_t a = 0; a < w->kernel[1]; a++)
            for (int64_t b = 0; b < w->kernel[2]; b++) {
                const int64_t y = r * w->stride[1] - w->pad[1] + a * w->dilation[1],
                              x = (j + i) * w->stride[2] - w->pad[2] + b * w->dilation[2];
                const int8_t *k = d->weights + ((a * fours + b / 4) * SP_BLOCK) * 4 + b % 4;
                if (y < 0 || y >= w->in[1] || x < 0 || x >= w->in[2]) {
                    for (int c = 0; c < SP_BLOCK; c++) acc[c] += d->x_shift * k[c * 4];
                } else {
                    const uint8_t *from = d->x + (y * w->in[2] + x) * SP_BLOCK;
                    for (int c = 0; c < SP_BLOCK; c++) acc[c] += (from[c] ^ d->flip) * k[c * 4];
                }
            }
        memcpy(sums, acc, sizeof acc);
    }
}

#if DOTS_DEPTH
static void depth_row(const sp__dots_depth *d, int64_t r, int64_t j, int n, int32_t *sums);
#endif

static void depth_sums(const sp__dots_depth *d, int64_t r, int64_t j, int n, int32_t *sums)
{
#if DOTS_DEPTH
    if (d->w->dilation[2] == 1) {
        depth_row(d, r, j, n, sums);
        return;
    }
#endif
    depth_plain(d, r, j, n, sums);
}

/* What zero points of weights take away: times the sum under the window, of each channel. */
static void depth_zeros(const sp__dots_depth *d, int64_t r, int64_t j, int n, int32_t *sums)
{
    _Alignas(64) int32_t window[SP_DOTS_ROWS * SP_DOTS_COLUMNS];
    sp__dots_depth all = *d;
    all.weights = d->ones;
    depth_sums(&all, r, j, n, window);
    const uint32_t none = (uint32_t)(d->x_shift * sp__window_taps(d->w));
    for (int i = 0; i < n; i++)
        for (int c = 0; c < SP_BLOCK; c++) {
            const int at = i * SP_DOTS_COLUMNS + c;
            sums[at] = (int32_t)((uint32_t)sums[at] - (uint32_t)d->tail.w_zero[c] * ((uint32_t)window[at] - none));
        }
}

static void depth(const sp__dots_depth *d, int64_t r0, int64_t r1)
{
    const sp__window *w = d->w;
    const int64_t size = d->tail.scale ? 1 : 4;
    sp__dots_tail tail = d->tail;
    tail.w_zero = NULL;
    _Alignas(64) int32_t sums[SP_DOTS_ROWS * SP_DOTS_COLUMNS];
    for (int64_t r = r0; r < r1; r++)
        for (int64_t j = 0; j < w->out[2]; j += SP_DOTS_ROWS) {
            const int n = (int)(w->out[2] - j < SP_DOTS_ROWS ? w->out[2] - j : SP_DOTS_ROWS);
            depth_sums(d, r, j, n, sums);
            if (d->tail.w_zero) depth_zeros(d, r, j, n, sums);
            finish(n, 1, sums, &tail, NULL, (char *)d->out + (r * w->out[2] + j) * SP_BLOCK * size, 0);
        }
}

const sp__dots_kernels DOTS_TABLE = {
    .name = DOTS_NAME,
    .rows = DOTS_ROWS,
    .tile = {{tile_1_u8, tile_1_i8}, {tile_2_u8, tile_2_i8}},
    .finish = finish,
    .depth = depth,
};
