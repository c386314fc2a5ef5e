/* SPDX-License-Identifier: Apache-2.0 */
/* peak_vnni.c - dot products of AVX-512: pairs of bfloat16, fours of int8. */
#include "device/cpu/peak.h"

#include <immintrin.h>

static void bf16(int64_t turns)
{
    __m512 acc[16];
    __m512i x = _mm512_set1_epi16(0x3F80);
    for (int i = 0; i < 16; i++) acc[i] = _mm512_setzero_ps();
    for (int64_t t = 0; t < turns; t++)
#pragma GCC unroll 16 /* registers need constant numbers */
        for (int i = 0; i < 16; i++) acc[i] = _mm512_dpbf16_ps(acc[i], (__m512bh)x, (__m512bh)x);
    for (int i = 0; i < 16; i++) SP_PEAK_USE(acc[i]);
}

static void i8(int64_t turns)
{
    __m512i acc[16], x = _mm512_set1_epi8(1);
    for (int i = 0; i < 16; i++) acc[i] = _mm512_setzero_si512();
    for (int64_t t = 0; t < turns; t++)
#pragma GCC unroll 16 /* registers need constant numbers */
        for (int i = 0; i < 16; i++) acc[i] = _mm512_dpbusd_epi32(acc[i], x, x);
    for (int i = 0; i < 16; i++) SP_PEAK_USE(acc[i]);
}

const sp__peak sp__peaks_vnni[2] = {{"avx512 bfloat16", SP_CPU_BF16, SP_DTYPE_BF16, 16 * 64, bf16},
                                    {"avx512 int8", SP_CPU_VNNI, SP_DTYPE_I8, 16 * 128, i8}};
