/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_turn.h - 16 x 16 words transposed, with AVX-512. The loads put four rows, four apart, into the quarters of a register; then
 * only the 4 x 4 squares inside are left to turn. */
#ifndef SPORE_CPU_TILES_TURN_H
#define SPORE_CPU_TILES_TURN_H

#include <immintrin.h>
#include <stdint.h>

/* to[i][j] = from[j][i]; rows `from_step` and `to_step` words apart. */
static inline void sp__turn_16(const void *from, int64_t from_step, void *to, int64_t to_step)
{
    const float *p = from;
    float *q = to;
    for (int c = 0; c < 16; c += 4, p += 4, q += 4 * to_step) {
        __m512 r[4];
        for (int i = 0; i < 4; i++) {
            __m512 x = _mm512_castps128_ps512(_mm_loadu_ps(p + i * from_step));
            x = _mm512_mask_broadcast_f32x4(x, 0x00F0, _mm_loadu_ps(p + (i + 4) * from_step));
            x = _mm512_mask_broadcast_f32x4(x, 0x0F00, _mm_loadu_ps(p + (i + 8) * from_step));
            r[i] = _mm512_mask_broadcast_f32x4(x, 0xF000, _mm_loadu_ps(p + (i + 12) * from_step));
        }
        __m512 s0 = _mm512_unpacklo_ps(r[0], r[1]), s1 = _mm512_unpackhi_ps(r[0], r[1]);
        __m512 s2 = _mm512_unpacklo_ps(r[2], r[3]), s3 = _mm512_unpackhi_ps(r[2], r[3]);
        _mm512_storeu_ps(q, _mm512_shuffle_ps(s0, s2, 0x44));
        _mm512_storeu_ps(q + to_step, _mm512_shuffle_ps(s0, s2, 0xEE));
        _mm512_storeu_ps(q + 2 * to_step, _mm512_shuffle_ps(s1, s3, 0x44));
        _mm512_storeu_ps(q + 3 * to_step, _mm512_shuffle_ps(s1, s3, 0xEE));
    }
}

static inline void sp__tiles_turn(const uint32_t *from, uint32_t *to) { sp__turn_16(from, 16, to, 16); }

#endif
