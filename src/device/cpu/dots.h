/* SPDX-License-Identifier: Apache-2.0 */
/* dots.h - sums of products of bytes in 32-bit lanes, four products a lane and step: unsigned numbers that are broadcast times signed weights, sixteen
 * channels (a block, device/blocked.h) to a vector. What convolutions of bytes are made of, for every instruction set.
 *
 * int8 numbers are read with 128 added, which whoever calls takes away with the zero point. Everything wraps in 32 bits, so sums are exact. */
#ifndef SPORE_CPU_DOTS_H
#define SPORE_CPU_DOTS_H

#include "device/blocked.h"
#include "ir/conv_bytes.h"

enum { SP_DOTS_ROWS = 12, SP_DOTS_COLUMNS = 2 * SP_BLOCK };

/* Sums for up to SP_DOTS_ROWS positions and one or two blocks of channels. Position i reads four bytes at x + offsets[s] + i * step for each of `steps`;
 * weights are [steps][blocks][16][4], sums [rows][SP_DOTS_COLUMNS]. */
typedef struct sp__dots_tile {
    const uint8_t *x;
    int64_t step, steps;
    const int32_t *offsets;
    const int8_t *weights;
    int32_t *sums;
} sp__dots_tile;

/* What becomes of sums, by channel; arrays are filled up to whole blocks. */
typedef struct sp__dots_tail {
    const int32_t *bias;   /* added: what zero points of x take away, too */
    const int32_t *w_zero; /* NULL: all are zero; else taken away times window[position] */
    const float *scale;    /* NULL: results are int32 */
    sp__bytes_range range;
} sp__dots_tail;

/* One block of channels of a depthwise convolution. Weights are [kernel row][fours][16][4], kernel columns in fours, filled up with zeros. */
typedef struct sp__dots_depth {
    const sp__window *w;
    const uint8_t *x; /* plane of the block */
    uint8_t flip;     /* 0x80: x is int8 */
    uint8_t x_zero;   /* as it is in x */
    int32_t x_shift;  /* the same as a number, of the unsigned x */
    const int8_t *weights;
    const int8_t *ones; /* with tail.w_zero: 1 for every tap, in the order of the weights */
    sp__dots_tail tail;
    void *out; /* plane of the block */
} sp__dots_depth;

typedef struct sp__dots_kernels {
    const char *name;
    int rows; /* the most that a tile may have */
    /* By blocks - 1 and whether x is int8. */
    void (*tile[2][2])(int rows, const sp__dots_tile *t);
    /* Sums finished and stored: element [r][b][c] of the results at out + (r * SP_BLOCK + b * block_step + c) elements, n blocks.
     * window: by row, the sum of x under the window less what its zero point makes of it; NULL without tail->w_zero. */
    void (*finish)(int rows, int n, const int32_t *sums, const sp__dots_tail *tail, const int32_t *window, void *out,
                   int64_t block_step);
    /* Rows [r0, r1) of the result. */
    void (*depth)(const sp__dots_depth *d, int64_t r0, int64_t r1);
} sp__dots_kernels;

extern const sp__dots_kernels sp__dots_portable;
#if SP_HAVE_X86
extern const sp__dots_kernels sp__dots_avx2, sp__dots_vnni;
#endif

const sp__dots_kernels *sp__dots_find(void);
void sp__dots_override(const sp__dots_kernels *kernels); /* for tests; NULL: the CPU's own */

#endif
