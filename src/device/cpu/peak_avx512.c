/* SPDX-License-Identifier: Apache-2.0 */
/* peak_avx512.c - fused multiply and add of AVX-512; reading with whole cache lines. */
#include "device/cpu/peak.h"

#include <immintrin.h>

static void f32(int64_t turns)
{
    __m512 acc[16], x = _mm512_set1_ps(sp__peak_one);
    for (int i = 0; i < 16; i++) acc[i] = _mm512_setzero_ps();
    for (int64_t t = 0; t < turns; t++)
#pragma GCC unroll 16 /* registers need constant numbers */
        for (int i = 0; i < 16; i++) acc[i] = _mm512_fmadd_ps(x, x, acc[i]);
    for (int i = 0; i < 16; i++) SP_PEAK_USE(acc[i]);
}

static void f64(int64_t turns)
{
    __m512d acc[16], x = _mm512_set1_pd((double)sp__peak_one);
    for (int i = 0; i < 16; i++) acc[i] = _mm512_setzero_pd();
    for (int64_t t = 0; t < turns; t++)
#pragma GCC unroll 16 /* registers need constant numbers */
        for (int i = 0; i < 16; i++) acc[i] = _mm512_fmadd_pd(x, x, acc[i]);
    for (int i = 0; i < 16; i++) SP_PEAK_USE(acc[i]);
}

const sp__peak sp__peaks_avx512[2] = {{"avx512 float32", SP_CPU_AVX512, SP_DTYPE_F32, 16 * 32, f32},
                                      {"avx512 float64", SP_CPU_AVX512, SP_DTYPE_F64, 16 * 16, f64}};

void sp__peak_read_avx512(const void *memory, size_t bytes)
{
    const char *p = memory;
    __m512i acc[8];
    for (int l = 0; l < 8; l++) acc[l] = _mm512_setzero_si512();
    for (size_t i = 0; i + 512 <= bytes; i += 512)
#pragma GCC unroll 8
        for (int l = 0; l < 8; l++)
            acc[l] = _mm512_or_si512(acc[l], _mm512_loadu_si512((const void *)(p + i + l * 64)));
    for (int l = 0; l < 8; l++) SP_PEAK_USE(acc[l]);
}
