/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_avx512.c - matrix product kernels for AVX-512: 24 accumulators of 16 floats (or 8 doubles). */
#include "device/cpu/gemm.h"

#include <immintrin.h>

#include "device/cpu/tiles_turn.h"

#define ISA "avx512"
#define MICRO_NAME(x) x##_f32_avx512
#define V_TURN(p, step, to) sp__turn_16(p, step, to, 32)
#define V_STORE_PART(p, v, n) _mm512_mask_storeu_ps(p, (__mmask16)((1u << (n)) - 1), v)
#define T float
#define V __m512
#define LANES 16
#define ROWS 12
#define POINTS 14
#define K_BLOCK 512
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#define V_SPLAT(x) _mm512_set1_ps(x)
#define V_ZERO() _mm512_setzero_ps()
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_LOAD_PART(p, n) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), p)
#include "device/cpu/gemm_micro.h"

#define MICRO_NAME(x) x##_f64_avx512
#define V_STORE_PART(p, v, n) _mm512_mask_storeu_pd(p, (__mmask8)((1u << (n)) - 1), v)
#define T double
#define V __m512d
#define LANES 8
#define ROWS 12
#define POINTS 14
#define K_BLOCK 512
#define V_LOAD(p) _mm512_loadu_pd(p)
#define V_STORE(p, v) _mm512_storeu_pd(p, v)
#define V_SPLAT(x) _mm512_set1_pd(x)
#define V_ZERO() _mm512_setzero_pd()
#define V_ADD(a, b) _mm512_add_pd(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define V_LOAD_PART(p, n) _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1), p)
#include "device/cpu/gemm_micro.h"
