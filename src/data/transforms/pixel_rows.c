/* SPDX-License-Identifier: Apache-2.0 */
/* pixel_rows.c - the portable inner loops, and the choice between them and others. */
#include "data/codecs/codec.h"
#include "data/transforms/pixel_rows.h"

static void to_bytes(const float *restrict src, int n, uint8_t *restrict dst)
{
    for (int i = 0; i < n; i++) dst[i] = sp__u8_from_float(src[i]);
}

#include "data/transforms/pixel_rows_plain.h"

#define ACROSS(C)                                                                                                      \
    for (int x = 0; x < w; x++) {                                                                                      \
        const uint8_t *a = src + (int64_t)first[x] * (C), *b = first[x] + 1 < w_src ? a + (C) : a;                     \
        const int wa = weights[2 * x], wb = weights[2 * x + 1];                                                        \
        for (int k = 0; k < (C); k++) dst[x * (C) + k] = (int16_t)((a[k] * wa + b[k] * wb) >> 4);                      \
    }

static void across(const uint8_t *src, int w_src, const int *first, const int16_t *weights, int w, int c, int16_t *dst)
{
    if (c == 3) {
        ACROSS(3)
    } else if (c == 1) {
        ACROSS(1)
    } else {
        ACROSS(c)
    }
}

static void down(const int16_t *a, const int16_t *b, int wa, int wb, int n, uint8_t *dst)
{
    for (int i = 0; i < n; i++) dst[i] = (uint8_t)((((wa * a[i]) >> 16) + ((wb * b[i]) >> 16) + 2) >> 2);
}

static void planes(const uint8_t *src, int64_t n, const float *mean, const float *std, float *const dst[3])
{
    for (int k = 0; k < 3; k++) {
        float *to = dst[k];
        const float m = mean[k], s = std[k];
        for (int64_t i = 0; i < n; i++) to[i] = ((float)src[3 * i + k] - m) / s;
    }
}

static void gray(const uint8_t *restrict src, int n, uint8_t *restrict dst)
{
    for (int i = 0; i < n; i++) dst[i] = sp__gray(src[3 * i], src[3 * i + 1], src[3 * i + 2]);
}

static const sp_rows portable = {across, down, planes, to_bytes, gray, blend, scale, taps_across, taps_down, sharpen};

const sp_rows *sp__rows(void)
{
#if SP_HAVE_X86
    if (sp__cpu_features() & SP_CPU_AVX2) return &sp__rows_avx2;
#endif
    return &portable;
}
