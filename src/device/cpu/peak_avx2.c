/* SPDX-License-Identifier: Apache-2.0 */
/* peak_avx2.c - fused multiply and add of AVX2. */
#include "device/cpu/peak.h"

#include <immintrin.h>

static void f32(int64_t turns)
{
    __m256 acc[12], x = _mm256_set1_ps(sp__peak_one);
    for (int i = 0; i < 12; i++) acc[i] = _mm256_setzero_ps();
    for (int64_t t = 0; t < turns; t++)
#pragma GCC unroll 16 /* registers need constant numbers */
        for (int i = 0; i < 12; i++) acc[i] = _mm256_fmadd_ps(x, x, acc[i]);
    for (int i = 0; i < 12; i++) SP_PEAK_USE(acc[i]);
}

static void f64(int64_t turns)
{
    __m256d acc[12], x = _mm256_set1_pd((double)sp__peak_one);
    for (int i = 0; i < 12; i++) acc[i] = _mm256_setzero_pd();
    for (int64_t t = 0; t < turns; t++)
#pragma GCC unroll 16 /* registers need constant numbers */
        for (int i = 0; i < 12; i++) acc[i] = _mm256_fmadd_pd(x, x, acc[i]);
    for (int i = 0; i < 12; i++) SP_PEAK_USE(acc[i]);
}

const sp__peak sp__peaks_avx2[2] = {{"avx2 float32", SP_CPU_AVX2, SP_DTYPE_F32, 12 * 16, f32},
                                    {"avx2 float64", SP_CPU_AVX2, SP_DTYPE_F64, 12 * 8, f64}};
