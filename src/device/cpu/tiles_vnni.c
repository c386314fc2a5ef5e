/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_vnni.c - the panels of tiles.h multiplied by AVX-512 dot products: VDPBF16PS and VPDPBUSD. Eight rows by two vectors at a time.
 *
 * VPDPBUSD takes unsigned times signed: panels of A hold elements with 128 added, and 128 times the column's sum of B is taken away again, all in
 * wrapping 32-bit arithmetic, so the result is exact. */
#include "device/cpu/tiles.h"

#include <immintrin.h>

enum { ROWS = 8 };

static inline __m512i load(const char *p) { return _mm512_load_si512((const void *)p); }

static inline __attribute__((always_inline)) void rows_bf16(const int columns, int64_t steps, const char *a, const char *b, float *acc)
{
    __m512 c[ROWS][2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < columns; j++) c[i][j] = _mm512_load_ps(acc + i * SP_TILES_PANEL + j * SP_TILE);
    for (int64_t s = 0; s < steps; s++, a += 2 * SP_TILE_BYTES, b += 2 * SP_TILE_BYTES) {
#pragma GCC unroll 2
        for (int k = 0; k < SP_TILE; k++) {
            __m512i y[2];
            for (int j = 0; j < columns; j++) y[j] = load(b + j * SP_TILE_BYTES + k * 64);
            for (int i = 0; i < ROWS; i++) {
                __m512i x = _mm512_set1_epi32(((const int *)(const void *)a)[i * SP_TILE + k]);
                for (int j = 0; j < columns; j++) c[i][j] = _mm512_dpbf16_ps(c[i][j], (__m512bh)x, (__m512bh)y[j]);
            }
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < columns; j++) _mm512_store_ps(acc + i * SP_TILES_PANEL + j * SP_TILE, c[i][j]);
}

static inline __attribute__((always_inline)) void rows_i8(const int columns, int64_t steps, const char *a, const char *b, int32_t *acc)
{
    __m512i c[ROWS][2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < columns; j++) c[i][j] = _mm512_load_si512((const void *)(acc + i * SP_TILES_PANEL + j * SP_TILE));
    for (int64_t s = 0; s < steps; s++, a += 2 * SP_TILE_BYTES, b += 2 * SP_TILE_BYTES) {
#pragma GCC unroll 2
        for (int k = 0; k < SP_TILE; k++) {
            __m512i y[2];
            for (int j = 0; j < columns; j++) y[j] = load(b + j * SP_TILE_BYTES + k * 64);
            for (int i = 0; i < ROWS; i++) {
                __m512i x = _mm512_set1_epi32(((const int *)(const void *)a)[i * SP_TILE + k]);
                for (int j = 0; j < columns; j++) c[i][j] = _mm512_dpbusd_epi32(c[i][j], x, y[j]);
            }
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < columns; j++) _mm512_store_si512((void *)(acc + i * SP_TILES_PANEL + j * SP_TILE), c[i][j]);
}

/* 128 times the sums of columns, taken away ahead. */
static void start(int64_t steps, const char *b, int32_t *row)
{
    enum { CHAINS = 4 }; /* of sums a column, to hide their latency */
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    __m512i sum[CHAINS][2];
    for (int c = 0; c < CHAINS; c++) sum[c][0] = sum[c][1] = _mm512_setzero_si512();
    for (int64_t s = 0; s < steps; s++, b += 2 * SP_TILE_BYTES)
        for (int k = 0; k < SP_TILE; k += CHAINS)
            for (int c = 0; c < CHAINS; c++)
                for (int j = 0; j < 2; j++)
                    sum[c][j] = _mm512_dpbusd_epi32(sum[c][j], flip, load(b + j * SP_TILE_BYTES + (k + c) * 64));
    for (int j = 0; j < 2; j++) {
        const __m512i all = _mm512_add_epi32(_mm512_add_epi32(sum[0][j], sum[1][j]), _mm512_add_epi32(sum[2][j], sum[3][j]));
        _mm512_storeu_si512((void *)(row + j * SP_TILE), _mm512_sub_epi32(_mm512_setzero_si512(), all));
    }
}

static void block(sp_dtype dtype, int64_t steps, const char *a, const char *b, bool half_rows, bool half_columns, void *acc)
{
    int rows = half_rows ? SP_TILE : SP_TILES_PANEL;
    for (int i = 0; i < rows; i += ROWS) {
        const char *x = a + i / SP_TILE * SP_TILE_BYTES + i % SP_TILE * 64;
        char *c = (char *)acc + i * SP_TILES_PANEL * 4;
        if (dtype == SP_DTYPE_BF16) {
            if (half_columns) rows_bf16(1, steps, x, b, (float *)(void *)c);
            else rows_bf16(2, steps, x, b, (float *)(void *)c);
        } else {
            if (half_columns) rows_i8(1, steps, x, b, (int32_t *)(void *)c);
            else rows_i8(2, steps, x, b, (int32_t *)(void *)c);
        }
    }
}

#define TILES_NAME(x) x##_vnni
#include "device/cpu/tiles_turn.h"
#define TILES_TURN(from, to) sp__tiles_turn(&(from)[0][0], to)
#define TILES_NATIVE 1
#include "device/cpu/tiles_pack.h"

static void pack(const sp__tiles_source *s, int64_t first, bool turned, char *to, sp__tiles_range *range)
{
    pack_vnni(s, first, turned, to, range);
    if (turned || s->dtype != SP_DTYPE_I8) return;
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    for (int64_t i = 0, n = sp__tiles_panel_bytes(s->dtype, s->n_k); i < n; i += 64)
        _mm512_store_si512((void *)(to + i), _mm512_xor_si512(load(to + i), flip));
}

const sp__tiles_kernels sp__tiles_vnni = {.name = "avx512 dot products", .bf16 = true, .i8 = true, .start = start, .block = block,
                                          .pack = pack, .round = round_vnni};
