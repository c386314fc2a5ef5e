/* SPDX-License-Identifier: Apache-2.0 */
/* pixel_rows.h - inner loops over rows of pixels. One table for every instruction set; all give the same bits. */
#ifndef SPORE_DATA_ROWS_H
#define SPORE_DATA_ROWS_H

#include <stdint.h>

typedef struct sp_rows {
    /* Resize one row of w_src pixels of c channels: dst[x] = (src[first[x]] * weights[2x] + next pixel * weights[2x+1])
     * >> 4, 11-bit weights. first[x] + 1 may be w_src; its weight is 0 then. */
    void (*across)(const uint8_t *src, int w_src, const int *first, const int16_t *weights, int w, int c, int16_t *dst);
    /* Mix two such rows of n numbers by 11-bit weights. */
    void (*down)(const int16_t *a, const int16_t *b, int wa, int wb, int n, uint8_t *dst);
    /* n pixels of RGB: dst[k][i] = (src[3 i + k] - mean[k]) / std[k]. */
    void (*planes)(const uint8_t *src, int64_t n, const float *mean, const float *std, float *const dst[3]);
    /* Rounded to the nearest level, ties to even, clamped. */
    void (*to_bytes)(const float *src, int n, uint8_t *dst);
    /* n pixels of RGB as gray. */
    void (*gray)(const uint8_t *src, int n, uint8_t *dst);
    /* dst = src * factor + other * share, of which only the first product is rounded before the sum; then rounded and clamped. */
    void (*blend)(const uint8_t *src, float factor, const float *other, float share, int n, uint8_t *dst);
    /* dst = src * mul + add */
    void (*scale)(const uint8_t *src, float mul, float add, int64_t n, float *dst);
    /* dst[i] = sum over j of src[i + j * step] * w[j]; weights of 8 bits that sum to one */
    void (*taps_across)(const uint8_t *src, const int32_t *w, int taps, int step, int n, uint16_t *dst);
    /* The same over rows, and back to 8 bits; sum: room for n. */
    void (*taps_down)(const uint16_t *const *rows, const int32_t *w, int taps, int n, uint32_t *sum, uint8_t *dst);
    /* A row and its neighbours above and below, smoothed over 3 x 3 and blended; all but the first and last pixel. */
    void (*sharpen)(const float *const rows[3], int step, int n, float factor, uint8_t *dst);
} sp_rows;

extern const sp_rows sp__rows_avx2; /* where there is x86 */
const sp_rows *sp__rows(void);      /* the best for this machine */

#endif
