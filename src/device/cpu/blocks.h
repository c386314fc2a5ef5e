/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - vector kernels for images in blocks of channels (device/blocked.h), for every instruction set: what convolutions do besides
 * multiplying, and depthwise convolution. */
#ifndef SPORE_CPU_BLOCKS_H
#define SPORE_CPU_BLOCKS_H

#include "device/blocked.h"

/* What is done to a sum before it is stored. Pointers to the first channel; NULL: nothing of the kind. */
typedef struct sp__block_tail {
    const float *bias, *scale, *shift, *slope;
    sp_blocked_activation activation;
} sp__block_tail;

/* Neighbouring positions of a convolution with n <= 32 channels: out = tail(begun + sums over k). */
typedef struct sp__block_points {
    int64_t k, step, n; /* of the sum, 0: nothing to add; between positions in x: 2, 16 or 32; channels */
    const float *x;
    const int64_t *offsets; /* of the k elements, from x */
    const float *weights;   /* [k][two vectors] */
    const float *begun;     /* NULL: nothing; else sums of what was in front, [positions][two vectors] */
    const sp__block_tail *tail;
    const float *residual; /* NULL: none; else as out */
    float *out;            /* position r of block b at out + b * block_step + r * 16 */
    int64_t block_step;
} sp__block_points;

/* A depthwise convolution of one block of channels. */
typedef struct sp__block_depth {
    const sp__window *w;
    const float *x, *weight; /* a plane of blocks; [taps][16] */
    float *out;
    const float *residual; /* NULL: none; else as out */
    sp__block_tail tail;
    int64_t n; /* channels, at most 16 */
} sp__block_depth;

/* Tiles of Winograd's 2 x 2 outputs in one row of tiles of an image; winograd.h says what is computed. */
typedef struct sp__block_run {
    int64_t y, x, n; /* the first tile's place in the output; tiles */
} sp__block_run;

typedef struct sp__block_kernels {
    /* At most points_max (gemm.h) positions; NULL where products have no panels of whole blocks. */
    void (*points)(int64_t positions, const sp__block_points *p);
    /* Rows [r0, r1) of the result. */
    void (*depth)(const sp__block_depth *d, int64_t r0, int64_t r1);
    /* Rows [r0, r1) of the maxima over windows, of one block. */
    void (*max_pool)(const sp__window *w, const float *x, float *out, int64_t r0, int64_t r1);
    /* One row of their means. */
    void (*mean_pool)(const sp_blocked_means *m, const float *x, float *out, int64_t row);
    /* Channels of a block times n numbers. */
    void (*scale)(int64_t positions, int64_t n, const float *x, const float *factors, float *out);
    /* B' d B of the tiles of a run for one block: points `step` floats apart, tiles `tile_step`. x is the plane of the block. */
    void (*win_input)(const sp__block_run *run, const sp__window *w, const float *x, float *points, int64_t step,
                      int64_t tile_step);
    /* A y A' of n tiles side by side, two rows of 2 n positions. */
    void (*win_dout)(int64_t n, const float *y, float *points, int64_t step, int64_t tile_step);
    /* A' m A of the tiles of a run: sums of a point `step` apart, tiles `tile_row`; n <= 32 channels, out is the plane of the first block. */
    void (*win_output)(const sp__block_run *run, const sp__window *w, int64_t n, const float *sums, int64_t step,
                       int64_t tile_row, const sp__block_tail *tail, const float *residual, float *out,
                       int64_t block_step);
    /* G g G' of n channels: [n][9][columns] to points, `step` apart, of [n][columns]. */
    void (*win_weight)(int64_t n, int64_t columns, const float *taps, float *points, int64_t step);
    /* A block of n channels of a plane: to[i][c] = from[c * plane + i], zeros for the other channels; and back. */
    void (*gather)(int64_t positions, int64_t n, const float *from, int64_t plane, float *to);
    void (*scatter)(int64_t positions, int64_t n, const float *from, float *to, int64_t plane);
} sp__block_kernels;

extern const sp__block_kernels sp__blocks_portable;
#if SP_HAVE_X86
extern const sp__block_kernels sp__blocks_avx2, sp__blocks_avx512;
#endif

static inline const sp__block_kernels *sp__blocks_find(void)
{
#if SP_HAVE_X86
    const unsigned features = sp__cpu_features();
    if (features & SP_CPU_AVX512) return &sp__blocks_avx512;
    if (features & SP_CPU_AVX2) return &sp__blocks_avx2;
#endif
    return &sp__blocks_portable;
}

#endif
