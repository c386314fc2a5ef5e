/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_avx2.c - matrix product kernels for AVX2 with FMA: 12 accumulators of 8 floats (or 4 doubles) and room for B. */
#include "device/cpu/gemm.h"

#include <immintrin.h>

static inline __m256 load_part_f32(const float *p, int64_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane));
}

static inline __m256d load_part_f64(const double *p, int64_t n)
{
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), lane));
}

/* Eight rows of eight, transposed into rows of sixteen. */
static inline void turn_f32(const float *p, int64_t step, float *to)
{
    __m256 r[8], s[8];
    /* Rows i and i + 4 share a register half each, so that the last step of a transposition is done by the loads. */
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + i * step)),
                                    _mm_loadu_ps(p + (i + 4) * step), 1);
        r[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + i * step + 4)),
                                        _mm_loadu_ps(p + (i + 4) * step + 4), 1);
    }
    for (int i = 0; i < 8; i += 4) {
        s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
        s[i + 2] = _mm256_unpacklo_ps(r[i + 2], r[i + 3]);
        s[i + 3] = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
        _mm256_storeu_ps(to + (i + 0) * 16, _mm256_shuffle_ps(s[i], s[i + 2], 0x44));
        _mm256_storeu_ps(to + (i + 1) * 16, _mm256_shuffle_ps(s[i], s[i + 2], 0xEE));
        _mm256_storeu_ps(to + (i + 2) * 16, _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44));
        _mm256_storeu_ps(to + (i + 3) * 16, _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xEE));
    }
}

/* Pairs of a and b that a shuffle left in turn, in their order. */
static inline __m256 every_other_f32(__m256 v)
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xD8));
}

#define ISA "avx2"
#define MICRO_NAME(x) x##_f32_avx2
#define V_TURN(p, step, to) turn_f32(p, step, to)
#define T float
#define V __m256
#define LANES 8
#define ROWS 6
#define POINTS 6
#define BLOCKS 1
#define K_BLOCK 256
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, v) _mm256_storeu_ps(p, v)
#define V_SPLAT(x) _mm256_set1_ps(x)
#define V_ZERO() _mm256_setzero_ps()
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_LOAD_PART(p, n) load_part_f32(p, n)
#define V_EVEN(a, b) every_other_f32(_mm256_shuffle_ps(a, b, 0x88))
#define V_ODD(a, b) every_other_f32(_mm256_shuffle_ps(a, b, 0xDD))
#define V_ZIP_LOW(a, b) _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20)
#define V_ZIP_HIGH(a, b) _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31)
#include "device/cpu/gemm_micro.h"

#define MICRO_NAME(x) x##_f64_avx2
#define T double
#define V __m256d
#define LANES 4
#define ROWS 6
#define POINTS 6
#define BLOCKS 0
#define K_BLOCK 256
#define V_LOAD(p) _mm256_loadu_pd(p)
#define V_STORE(p, v) _mm256_storeu_pd(p, v)
#define V_SPLAT(x) _mm256_set1_pd(x)
#define V_ZERO() _mm256_setzero_pd()
#define V_ADD(a, b) _mm256_add_pd(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define V_LOAD_PART(p, n) load_part_f64(p, n)
#define V_EVEN(a, b) _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xD8)
#define V_ODD(a, b) _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), 0xD8)
#define V_ZIP_LOW(a, b) _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x20)
#define V_ZIP_HIGH(a, b) _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x31)
#include "device/cpu/gemm_micro.h"
