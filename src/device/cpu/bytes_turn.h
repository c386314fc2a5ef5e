/* SPDX-License-Identifier: Apache-2.0 */
/* bytes_turn.h - planes of bytes to blocks of channels (device/blocked.h) and back, squares of 16 x 16 at a time. */
#ifndef SPORE_CPU_BYTES_TURN_H
#define SPORE_CPU_BYTES_TURN_H

#include <string.h>

#include "device/blocked.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* to[i][j] = from[j][i] */
static inline void sp__turn_bytes(const uint8_t *from, uint8_t *to)
{
#if defined(__SSE2__)
    __m128i a[16], b[16];
    for (int i = 0; i < 16; i++) a[i] = _mm_loadu_si128((const void *)(from + 16 * i));
    for (int round = 0; round < 4;
         round++) { /* each puts one more bit of the row's number behind those of the column's */
        for (int i = 0; i < 8; i++) {
            b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
        }
        memcpy(a, b, sizeof a);
    }
    for (int i = 0; i < 16; i++) _mm_storeu_si128((void *)(to + 16 * i), a[i]);
#else
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) to[16 * i + j] = from[16 * j + i];
#endif
}

/* to[i][c] = from[c * plane + i] for n channels, zeros for the others; and back. */
static inline void sp__bytes_gather(int64_t positions, int64_t n, const uint8_t *from, int64_t plane, uint8_t *to)
{
    uint8_t square[256] = {0}, turned[256];
    for (int64_t i = 0; i < positions; i += 16) {
        const int64_t here = positions - i < 16 ? positions - i : 16;
        for (int64_t c = 0; c < n; c++) {
            if (here == 16) memcpy(square + 16 * c, from + c * plane + i, 16);
            else memcpy(square + 16 * c, from + c * plane + i, (size_t)here);
        }
        sp__turn_bytes(square, turned);
        memcpy(to + 16 * i, turned, (size_t)here * 16);
    }
}

static inline void sp__bytes_scatter(int64_t positions, int64_t n, const uint8_t *from, uint8_t *to, int64_t plane)
{
    uint8_t square[256] = {0}, turned[256];
    for (int64_t i = 0; i < positions; i += 16) {
        const int64_t here = positions - i < 16 ? positions - i : 16;
        memcpy(square, from + 16 * i, (size_t)here * 16);
        sp__turn_bytes(square, turned);
        for (int64_t c = 0; c < n; c++) {
            if (here == 16) memcpy(to + c * plane + i, turned + 16 * c, 16);
            else memcpy(to + c * plane + i, turned + 16 * c, (size_t)here);
        }
    }
}

#endif
