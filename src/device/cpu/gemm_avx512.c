/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_avx512.c - matrix product kernels for AVX-512: 24 accumulators of 16 floats (or 8 doubles). */
#include "device/cpu/gemm.h"

#include <immintrin.h>

#include "device/cpu/tiles_turn.h"

/* Every other element of two vectors, and their elements in turn. */
static inline __m512 pick_f32(__m512 a, __m512 b, int first, int step, int turn)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i at = _mm512_add_epi32(_mm512_mullo_epi32(lane, _mm512_set1_epi32(step)), _mm512_set1_epi32(first));
    if (turn)
        at = _mm512_or_epi32(_mm512_srli_epi32(at, 1),
                             _mm512_slli_epi32(_mm512_and_epi32(lane, _mm512_set1_epi32(1)), 4));
    return _mm512_permutex2var_ps(a, at, b);
}

static inline __m512d pick_f64(__m512d a, __m512d b, int first, int step, int turn)
{
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __m512i at = _mm512_add_epi64(_mm512_slli_epi64(lane, step - 1), _mm512_set1_epi64(first));
    if (turn)
        at = _mm512_or_epi64(_mm512_srli_epi64(at, 1),
                             _mm512_slli_epi64(_mm512_and_epi64(lane, _mm512_set1_epi64(1)), 3));
    return _mm512_permutex2var_pd(a, at, b);
}

#define ISA "avx512"
#define MICRO_NAME(x) x##_f32_avx512
#define V_TURN(p, step, to) sp__turn_16(p, step, to, 32)
#define V_STORE_PART(p, v, n) _mm512_mask_storeu_ps(p, (__mmask16)((1u << (n)) - 1), v)
#define T float
#define V __m512
#define LANES 16
#define ROWS 12
#define POINTS 14
#define BLOCKS 1
#define K_BLOCK 512
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#define V_SPLAT(x) _mm512_set1_ps(x)
#define V_ZERO() _mm512_setzero_ps()
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_LOAD_PART(p, n) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), p)
#define V_EVEN(a, b) pick_f32(a, b, 0, 2, 0)
#define V_ODD(a, b) pick_f32(a, b, 1, 2, 0)
#define V_ZIP_LOW(a, b) pick_f32(a, b, 0, 1, 1)
#define V_ZIP_HIGH(a, b) pick_f32(a, b, LANES, 1, 1)
#include "device/cpu/gemm_micro.h"

#define MICRO_NAME(x) x##_f64_avx512
#define V_STORE_PART(p, v, n) _mm512_mask_storeu_pd(p, (__mmask8)((1u << (n)) - 1), v)
#define T double
#define V __m512d
#define LANES 8
#define ROWS 12
#define POINTS 14
#define BLOCKS 0
#define K_BLOCK 512
#define V_LOAD(p) _mm512_loadu_pd(p)
#define V_STORE(p, v) _mm512_storeu_pd(p, v)
#define V_SPLAT(x) _mm512_set1_pd(x)
#define V_ZERO() _mm512_setzero_pd()
#define V_ADD(a, b) _mm512_add_pd(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define V_LOAD_PART(p, n) _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1), p)
#define V_EVEN(a, b) pick_f64(a, b, 0, 2, 0)
#define V_ODD(a, b) pick_f64(a, b, 1, 2, 0)
#define V_ZIP_LOW(a, b) pick_f64(a, b, 0, 1, 1)
#define V_ZIP_HIGH(a, b) pick_f64(a, b, LANES, 1, 1)
#include "device/cpu/gemm_micro.h"
