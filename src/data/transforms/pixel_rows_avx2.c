/* SPDX-License-Identifier: Apache-2.0 */
/* pixel_rows_avx2.c - inner loops with 128- and 256-bit integers.
 *
 * Across: the two neighbouring RGB pixels are six consecutive bytes; a byte shuffle pairs each channel of one with that of
 * the other as 16-bit numbers, and one multiply-add gives the three sums. Down: both products are the high halves of
 * 16-bit multiplications. Planes: three shuffles take every third byte. */
#include <immintrin.h>

#include "data/codecs/codec.h"
#include "data/transforms/pixel_rows.h"

static inline __m256i whole(const float *p)
{
    const __m256 v = _mm256_min_ps(_mm256_max_ps(_mm256_loadu_ps(p), _mm256_setzero_ps()), _mm256_set1_ps(255));
    return _mm256_cvtps_epi32(v); /* to the nearest, ties to even */
}

static void to_bytes(const float *restrict src, int n, uint8_t *restrict dst)
{
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i a = _mm256_packs_epi32(whole(src + i), whole(src + i + 8));
        const __m256i b = _mm256_packs_epi32(whole(src + i + 16), whole(src + i + 24));
        /* Packing works on halves of 128 bits: put their quarters in order. */
        const __m256i bytes =
            _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256((__m256i *)(void *)(dst + i), bytes);
    }
    for (; i < n; i++) dst[i] = sp__u8_from_float(src[i]);
}

#include "data/transforms/pixel_rows_plain.h"

/* Bytes 0..5 of a pixel pair as (a0, b0), (a1, b1), (a2, b2) of 16 bits, zero beyond. */
static inline __m128i pair_of(const uint8_t *p)
{
    const __m128i order = _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    return _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)(const void *)p), order);
}

static inline __m128i weighed(const uint8_t *p, const int16_t *weights)
{
    int32_t both;
    __builtin_memcpy(&both, weights, sizeof both);
    return _mm_srai_epi32(_mm_madd_epi16(pair_of(p), _mm_set1_epi32(both)), 4);
}

static void across_rgb(const uint8_t *src, int w_src, const int *first, const int16_t *weights, int w, int16_t *dst)
{
    int x = 0;
    /* 8 bytes are read and 8 written at a time: as long as both stay inside. Two pixels a turn. */
    for (; x + 3 < w && 3 * first[x + 1] + 8 <= 3 * w_src; x += 2) {
        const __m128i a = weighed(src + 3 * first[x], weights + 2 * x);
        const __m128i b = weighed(src + 3 * first[x + 1], weights + 2 * x + 2);
        const __m128i ab = _mm_packs_epi32(a, b); /* a0 a1 a2 0 b0 b1 b2 0 */
        _mm_storel_epi64((__m128i *)(void *)(dst + 3 * x), ab);
        _mm_storel_epi64((__m128i *)(void *)(dst + 3 * x + 3), _mm_srli_si128(ab, 8));
    }
    for (; x < w; x++) {
        const uint8_t *a = src + 3 * first[x], *b = first[x] + 1 < w_src ? a + 3 : a;
        for (int k = 0; k < 3; k++)
            dst[3 * x + k] = (int16_t)((a[k] * weights[2 * x] + b[k] * weights[2 * x + 1]) >> 4);
    }
}

static void across(const uint8_t *src, int w_src, const int *first, const int16_t *weights, int w, int c, int16_t *dst)
{
    if (c == 3) {
        across_rgb(src, w_src, first, weights, w, dst);
        return;
    }
    for (int x = 0; x < w; x++) {
        const uint8_t *a = src + (int64_t)first[x] * c, *b = first[x] + 1 < w_src ? a + c : a;
        for (int k = 0; k < c; k++)
            dst[x * c + k] = (int16_t)((a[k] * weights[2 * x] + b[k] * weights[2 * x + 1]) >> 4);
    }
}

static inline __m256i mixed(const int16_t *a, const int16_t *b, __m256i wa, __m256i wb)
{
    const __m256i va = _mm256_loadu_si256((const __m256i *)(const void *)a);
    const __m256i vb = _mm256_loadu_si256((const __m256i *)(const void *)b);
    const __m256i sum = _mm256_add_epi16(_mm256_mulhi_epi16(va, wa), _mm256_mulhi_epi16(vb, wb));
    return _mm256_srai_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
}

static void down(const int16_t *a, const int16_t *b, int wa, int wb, int n, uint8_t *dst)
{
    const __m256i va = _mm256_set1_epi16((int16_t)wa), vb = _mm256_set1_epi16((int16_t)wb);
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i lo = mixed(a + i, b + i, va, vb), hi = mixed(a + i + 16, b + i + 16, va, vb);
        const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(lo, hi), 0xD8);
        _mm256_storeu_si256((__m256i *)(void *)(dst + i), bytes);
    }
    for (; i < n; i++) dst[i] = (uint8_t)((((wa * a[i]) >> 16) + ((wb * b[i]) >> 16) + 2) >> 2);
}

/* Every third byte of 48, from byte k on. */
static inline __m128i every_third(const __m128i v[3], int k)
{
    static const int8_t order[3][3][16] = {{{0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
                                            {-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1},
                                            {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13}},
                                           {{1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
                                            {-1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1},
                                            {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14}},
                                           {{2, 5, 8, 11, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
                                            {-1, -1, -1, -1, -1, 1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1},
                                            {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15}}};
    __m128i out = _mm_setzero_si128();
    for (int j = 0; j < 3; j++)
        out = _mm_or_si128(out, _mm_shuffle_epi8(v[j], _mm_loadu_si128((const __m128i *)(const void *)order[k][j])));
    return out;
}

static inline void store8(__m128i bytes, __m256 m, __m256 s, float *dst)
{
    const __m256 x = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    _mm256_storeu_ps(dst, _mm256_div_ps(_mm256_sub_ps(x, m), s));
}

static void planes(const uint8_t *src, int64_t n, const float *mean, const float *std, float *const dst[3])
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i v[3];
        for (int j = 0; j < 3; j++) v[j] = _mm_loadu_si128((const __m128i *)(const void *)(src + 3 * i + 16 * j));
        for (int k = 0; k < 3; k++) {
            const __m128i bytes = every_third(v, k);
            const __m256 m = _mm256_set1_ps(mean[k]), s = _mm256_set1_ps(std[k]);
            store8(bytes, m, s, dst[k] + i);
            store8(_mm_srli_si128(bytes, 8), m, s, dst[k] + i + 8);
        }
    }
    for (int k = 0; k < 3; k++)
        for (int64_t j = i; j < n; j++) dst[k][j] = ((float)src[3 * j + k] - mean[k]) / std[k];
}

static inline __m128i gray8(__m128i r, __m128i g, __m128i b)
{
    const __m128i zero = _mm_setzero_si128(),
                  red_green = _mm_setr_epi16(9798, 19235, 9798, 19235, 9798, 19235, 9798, 19235);
    const __m128i blue_half = _mm_setr_epi16(3735, 16384, 3735, 16384, 3735, 16384, 3735, 16384);
    const __m128i one = _mm_set1_epi16(1), wide_r = _mm_unpacklo_epi8(r, zero), wide_g = _mm_unpacklo_epi8(g, zero),
                  wide_b = _mm_unpacklo_epi8(b, zero);
    const __m128i lo = _mm_add_epi32(_mm_madd_epi16(_mm_unpacklo_epi16(wide_r, wide_g), red_green),
                                     _mm_madd_epi16(_mm_unpacklo_epi16(wide_b, one), blue_half));
    const __m128i hi = _mm_add_epi32(_mm_madd_epi16(_mm_unpackhi_epi16(wide_r, wide_g), red_green),
                                     _mm_madd_epi16(_mm_unpackhi_epi16(wide_b, one), blue_half));
    return _mm_packs_epi32(_mm_srai_epi32(lo, 15), _mm_srai_epi32(hi, 15));
}

static void gray(const uint8_t *restrict src, int n, uint8_t *restrict dst)
{
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i v[3];
        for (int j = 0; j < 3; j++) v[j] = _mm_loadu_si128((const __m128i *)(const void *)(src + 3 * i + 16 * j));
        const __m128i r = every_third(v, 0), g = every_third(v, 1), b = every_third(v, 2);
        const __m128i lo = gray8(r, g, b);
        const __m128i hi = gray8(_mm_srli_si128(r, 8), _mm_srli_si128(g, 8), _mm_srli_si128(b, 8));
        _mm_storeu_si128((__m128i *)(void *)(dst + i), _mm_packus_epi16(lo, hi));
    }
    for (; i < n; i++) dst[i] = sp__gray(src[3 * i], src[3 * i + 1], src[3 * i + 2]);
}

const sp_rows sp__rows_avx2 = {across, down, planes, to_bytes, gray, blend, scale, taps_across, taps_down, sharpen};
