/* SPDX-License-Identifier: Apache-2.0 */
/* dots_vnni.c - products of bytes with AVX-512's dot products (VPDPBUSD). Twelve positions by two blocks are 24 sums in registers. */
#include <immintrin.h>

#include "device/cpu/vec.h"

#define DOTS_TABLE sp__dots_vnni
#define DOTS_NAME "avx512 dot products"
#define DOTS_DEPTH 1
enum { DOTS_ROWS = 12, DOTS_BLOCKS = 2 };

typedef __m512i dx, dw;

static inline dx dots_x(const uint8_t *p, uint32_t flip)
{
    int32_t bytes;
    memcpy(&bytes, p, 4);
    const __m512i x = _mm512_set1_epi32(bytes);
    return flip ? _mm512_xor_si512(x, _mm512_set1_epi32((int32_t)flip)) : x;
}
static inline dw dots_w(const int8_t *p) { return _mm512_loadu_si512((const void *)p); }
static inline vi dots_dot(vi sum, dx x, dw w) { return (vi)_mm512_dpbusd_epi32((__m512i)sum, x, w); }

#include "device/cpu/dots_impl.h"

/* --- depthwise -------------------------------------------------------------------------------------------------------- */

/* Four pixels of a block, [4][16], to [16][4]: four products of a channel in one lane. First the same quarter of all pixels into one part of the
 * register, then 4 x 4 bytes turned inside of each. */
static inline __m512i turned(__m512i pixels)
{
    const __m512i quarters = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i square = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(quarters, pixels), square);
}

/* Pixels [x, x + 4) of row y; what lies outside is the zero point. */
static inline __m512i pixels_at(const sp__dots_depth *d, int64_t y, int64_t x)
{
    const sp__window *w = d->w;
    if (y < 0 || y >= w->in[1]) return _mm512_set1_epi8((char)d->x_zero);
    const uint8_t *row = d->x + (y * w->in[2] + x) * SP_BLOCK;
    if (x >= 0 && x + 4 <= w->in[2]) return _mm512_loadu_si512((const void *)row);
    __m512i v = _mm512_set1_epi8((char)d->x_zero);
    for (int i = 0; i < 4; i++)
        if (x + i >= 0 && x + i < w->in[2])
            v = _mm512_mask_broadcast_i32x4(v, (__mmask16)(15u << 4 * i),
                                            _mm_loadu_si128((const void *)(row + i * SP_BLOCK)));
    return v;
}

/* One output. */
static inline __m512i depth_one(const sp__dots_depth *d, __m512i flip, int64_t r, int64_t j)
{
    const sp__window *w = d->w;
    const int8_t *weights = d->weights;
    __m512i sum = _mm512_setzero_si512();
    for (int64_t a = 0; a < w->kernel[1]; a++)
        for (int64_t b = 0; b < w->kernel[2]; b += 4, weights += 64) {
            const __m512i x =
                pixels_at(d, r * w->stride[1] - w->pad[1] + a * w->dilation[1], j * w->stride[2] - w->pad[2] + b);
            sum = _mm512_dpbusd_epi32(sum, turned(_mm512_xor_si512(x, flip)), dots_w(weights));
        }
    return sum;
}

/* Windows of three columns: `n` outputs from one inside on, whose rows are rows[0] and its like; a missing row is NULL. With unit stride four pixels hold the windows of two. */
INLINE void depth_three(const int stride, const __m512i *w, __m512i flip, __m512i zero, const uint8_t *const *rows,
                        int n, int32_t *sums)
{
    for (int j = 0; j < n; j += stride == 1 ? 2 : 1) {
        __m512i first = _mm512_setzero_si512(), second = first;
        for (int a = 0; a < 3; a++) {
            const __m512i raw = rows[a] ? _mm512_loadu_si512((const void *)(rows[a] + j * stride * SP_BLOCK)) : zero;
            const __m512i x = turned(_mm512_xor_si512(raw, flip));
            first = _mm512_dpbusd_epi32(first, x, w[a]);
            if (stride == 1) second = _mm512_dpbusd_epi32(second, x, _mm512_slli_epi32(w[a], 8));
        }
        _mm512_storeu_si512((void *)(sums + j * SP_DOTS_COLUMNS), first);
        if (stride == 1) _mm512_storeu_si512((void *)(sums + (j + 1) * SP_DOTS_COLUMNS), second);
    }
}

static void depth_row(const sp__dots_depth *d, int64_t r, int64_t j, int n, int32_t *sums)
{
    const sp__window *w = d->w;
    const __m512i flip = _mm512_set1_epi8((char)d->flip), zero = _mm512_set1_epi8((char)d->x_zero);
    const int64_t stride = w->stride[2];
    const bool fast = w->kernel[1] == 3 && w->kernel[2] == 3 && stride <= 2;
    __m512i weights[3];
    for (int a = 0; fast && a < 3; a++) weights[a] = dots_w(d->weights + a * 64);
    for (int i = 0; i < n;) {
        const int64_t x = (j + i) * stride - w->pad[2];
        /* How many outputs from here on read whole fours of pixels inside; with unit stride, pairs of them. */
        int64_t inside = fast && x >= 0 && x + 4 <= w->in[2] ? (w->in[2] - 4 - x) / stride + 1 : 0;
        if (stride == 1 && inside > 0)
            inside = (inside + 1) / 2 * 2; /* the second of a pair has its window in the same four */
        int m = (int)(inside < n - i ? inside : n - i);
        if (stride == 1) m -= m % 2;
        if (m <= 0) {
            _mm512_storeu_si512((void *)(sums + i * SP_DOTS_COLUMNS), depth_one(d, flip, r, j + i));
            i++;
            continue;
        }
        const uint8_t *rows[3];
        for (int a = 0; a < 3; a++) {
            const int64_t y = r * w->stride[1] - w->pad[1] + a * w->dilation[1];
            rows[a] = y < 0 || y >= w->in[1] ? NULL : d->x + (y * w->in[2] + x) * SP_BLOCK;
        }
        if (stride == 1) depth_three(1, weights, flip, zero, rows, m, sums + i * SP_DOTS_COLUMNS);
        else depth_three(2, weights, flip, zero, rows, m, sums + i * SP_DOTS_COLUMNS);
        i += m;
    }
}
