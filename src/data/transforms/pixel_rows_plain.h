/* SPDX-License-Identifier: Apache-2.0 */
/* pixel_rows_plain.h - inner loops in plain C that the compiler makes vectors of. Included by the file of every instruction set,
 * so each has them compiled for its own; it has defined to_bytes before. */
#ifndef SPORE_DATA_ROWS_PLAIN_H
#define SPORE_DATA_ROWS_PLAIN_H

#include <math.h>

#include "data/codecs/codec.h"

enum { BLOCK = 256 }; /* numbers that are computed before they are rounded: a loop for each is easily made vectors of */

/* fmaf, here and below: a sum that falls between two levels is rounded as MindSpore's, which multiplies and adds in one step. */
static void blend(const uint8_t *restrict src, float factor, const float *restrict other, float share, int n,
                  uint8_t *restrict dst)
{
    float sum[BLOCK];
    for (int at = 0; at < n; at += BLOCK) {
        const int m = n - at < BLOCK ? n - at : BLOCK;
        for (int i = 0; i < m; i++) sum[i] = fmaf(other[at + i], share, (float)src[at + i] * factor);
        to_bytes(sum, m, dst + at);
    }
}

static void scale(const uint8_t *restrict src, float mul, float add, int64_t n, float *restrict dst)
{
    for (int64_t i = 0; i < n; i++) dst[i] = (float)src[i] * mul + add;
}

static void taps_across(const uint8_t *restrict src, const int32_t *w, int taps, int step, int n,
                        uint16_t *restrict dst)
{
    memset(dst, 0, (size_t)n * sizeof *dst);
    for (int j = 0; j < taps; j++) {
        const uint8_t *p = src + (int64_t)j * step;
        const uint16_t v = (uint16_t)w[j];
        for (int i = 0; i < n; i++) dst[i] = (uint16_t)(dst[i] + p[i] * v);
    }
}

static void taps_down(const uint16_t *const *rows, const int32_t *w, int taps, int n, uint32_t *restrict sum,
                      uint8_t *restrict dst)
{
    for (int i = 0; i < n; i++) sum[i] = 1u << 15;
    for (int j = 0; j < taps; j++) {
        const uint16_t *p = rows[j];
        const uint32_t v = (uint32_t)w[j];
        for (int i = 0; i < n; i++) sum[i] += p[i] * v;
    }
    for (int i = 0; i < n; i++) dst[i] = (uint8_t)(sum[i] >> 16);
}

static void sharpen(const float *const rows[3], int step, int n, float factor, uint8_t *restrict dst)
{
    const float side = (float)(1.0 / 13.0), middle = 5.f / 13.f, rest = (float)(1.0 - factor);
    for (int at = step; at < n - step; at += BLOCK) {
        const float *restrict a = rows[0] + at, *restrict b = rows[1] + at, *restrict c = rows[2] + at;
        const int m = n - step - at < BLOCK ? n - step - at : BLOCK;
        float sum[BLOCK];
        uint8_t smooth[BLOCK];
        for (int i = 0; i < m; i++) {
            const float above = a[i - step] * side + a[i] * side + a[i + step] * side;
            const float beside = above + b[i - step] * side + b[i] * middle + b[i + step] * side;
            sum[i] = beside + c[i - step] * side + c[i] * side + c[i + step] * side;
        }
        to_bytes(sum, m, smooth);
        for (int i = 0; i < m; i++) sum[i] = fmaf(b[i], factor, (float)smooth[i] * rest);
        to_bytes(sum, m, dst + at);
    }
}

#endif
