/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_vnni.c - the panels of tiles.h multiplied by AVX-512 dot products: VDPBF16PS and VPDPBUSD. Eight rows by two vectors at a time.
 *
 * VPDPBUSD takes unsigned times signed: panels of B hold elements with 128 added, and 128 times the row's sum of A is taken away ahead, all in
 * wrapping 32-bit arithmetic, so the result is exact. Elements of A are broadcast one word at a time, so its rows may lie anywhere: they
 * are packed only where K does not end with a step. */
#include "device/cpu/tiles.h"

#include <immintrin.h>
#include <string.h>

enum { ROWS = 8 };

static inline __m512i load(const char *p) { return _mm512_load_si512((const void *)p); }

static inline __m512i word(const char *p)
{
    int32_t x;
    memcpy(&x, p, 4);
    return _mm512_set1_epi32(x);
}

static inline __attribute__((always_inline)) __m512i dot(const bool bf16, __m512i c, __m512i a, __m512i b)
{
    return bf16 ? _mm512_castps_si512(_mm512_dpbf16_ps(_mm512_castsi512_ps(c), (__m512bh)a, (__m512bh)b))
                : _mm512_dpbusd_epi32(c, b, a);
}

static inline __attribute__((always_inline)) void rows(const bool bf16, const int columns, int64_t steps,
                                                       const sp__tiles_rows *a, int64_t first, const char *b,
                                                       int32_t *acc, const int32_t *from)
{
    const int64_t row = a->row;
    const char *x = a->data + first * row;
    __m512i c[ROWS][2];
    acc += first * SP_TILES_PANEL;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < columns; j++) {
            if (from) c[i][j] = bf16 ? _mm512_setzero_si512() : _mm512_set1_epi32(from[first + i]);
            else c[i][j] = _mm512_load_si512((const void *)(acc + i * SP_TILES_PANEL + j * SP_TILE));
        }
    for (int64_t s = 0; s < steps; s++, x += a->step, b += 2 * SP_TILE_BYTES) {
#pragma GCC unroll 2
        for (int k = 0; k < SP_TILE; k++) {
            __m512i y[2];
            for (int j = 0; j < columns; j++) y[j] = load(b + j * SP_TILE_BYTES + k * 64);
            for (int i = 0; i < ROWS; i++) {
                const __m512i w = word(x + i * row + k * 4);
                for (int j = 0; j < columns; j++) c[i][j] = dot(bf16, c[i][j], w, y[j]);
            }
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < columns; j++) _mm512_store_si512((void *)(acc + i * SP_TILES_PANEL + j * SP_TILE), c[i][j]);
}

static void block(sp_dtype dtype, int64_t steps, const sp__tiles_rows *a, const char *b, bool half_rows,
                  bool half_columns, void *acc, const int32_t *from)
{
    for (int i = 0, n = half_rows ? SP_TILE : SP_TILES_PANEL; i < n; i += ROWS) {
        if (dtype == SP_DTYPE_BF16) {
            if (half_columns) rows(true, 1, steps, a, i, b, acc, from);
            else rows(true, 2, steps, a, i, b, acc, from);
        } else {
            if (half_columns) rows(false, 1, steps, a, i, b, acc, from);
            else rows(false, 2, steps, a, i, b, acc, from);
        }
    }
}

/* 128 times the sums of rows, taken away ahead. */
static void start(int64_t steps, const sp__tiles_rows *a, int32_t *from)
{
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    for (int i = 0; i < SP_TILES_PANEL; i++) {
        const char *x = a->data + i * a->row;
        __m512i sum = _mm512_setzero_si512();
        for (int64_t s = 0; s < steps; s++, x += a->step)
            sum = _mm512_dpbusd_epi32(sum, flip, _mm512_loadu_si512((const void *)x));
        from[i] = -_mm512_reduce_add_epi32(sum);
    }
}

#define TILES_NAME(x) x##_vnni
#include "device/cpu/tiles_turn.h"
#define TILES_TURN(from, to) sp__tiles_turn(&(from)[0][0], to)
#define TILES_NATIVE 1
#define TILES_FLIP 0x80 /* of bytes of B: unsigned, 128 more */
#include "device/cpu/tiles_pack.h"

const sp__tiles_kernels sp__tiles_vnni = {.name = "avx512 dot products",
                                          .bf16 = true,
                                          .i8 = true,
                                          .in_place = true,
                                          .start = start,
                                          .block = block,
                                          .pack = pack_vnni,
                                          .round = round_vnni};
