/* SPDX-License-Identifier: Apache-2.0 */
/* dots_avx2.c - products of bytes with AVX2: even and odd bytes as pairs of 16 bits, which VPMADDWD multiplies without saturation. */
#include <immintrin.h>

#include "device/cpu/vec.h"

#define DOTS_TABLE sp__dots_avx2
#define DOTS_NAME "AVX2"
#define DOTS_DEPTH 0
enum { DOTS_ROWS = 4, DOTS_BLOCKS = 1 };

typedef struct {
    __m256i even, odd;
} dx;
typedef dx dw;

static inline dx dots_x(const uint8_t *p, uint32_t flip)
{
    uint32_t bytes;
    memcpy(&bytes, p, 4);
    bytes ^= flip;
    return (dx){_mm256_set1_epi32((int)(bytes & 0x00FF00FFu)), _mm256_set1_epi32((int)(bytes >> 8 & 0x00FF00FFu))};
}
static inline dw dots_w(const int8_t *p)
{
    const __m256i w = _mm256_loadu_si256((const void *)p);
    return (dw){_mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8), _mm256_srai_epi16(w, 8)};
}
static inline vi dots_dot(vi sum, dx x, dw w)
{
    return sum + (vi)_mm256_madd_epi16(x.even, w.even) + (vi)_mm256_madd_epi16(x.odd, w.odd);
}

#include "device/cpu/dots_impl.h"
