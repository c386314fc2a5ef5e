/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the inner loops of what every training pipeline does to every image: linear resizing of uint8, and uint8 RGB
 * to normalised float planes. One table for every instruction set; all give the same bits. */
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
} sp_rows;

extern const sp_rows sp__rows_avx2; /* where there is x86 */
const sp_rows *sp__rows(void);      /* the best for this machine */

#endif
