/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_avx2.c - the panels of tiles.h with bytes widened to int16, for AVX2: VPMADDWD multiplies pairs and adds the two products, 2 * 2^14 at most, without saturation.
 * Four rows by two vectors at a time: eight sums, two vectors of B, one word of A. Widening when panels are made leaves two instructions for each 16 products. */
#include "device/cpu/tiles.h"

#include <immintrin.h>
#include <string.h>

enum { ROWS = 4, LANES = 8 };

static inline __m256i word(const char *p)
{
    int32_t x;
    memcpy(&x, p, 4);
    return _mm256_set1_epi32(x);
}

/* Sums of ROWS rows from `first` on by 16 columns, those of one tile. */
static void rows(int64_t steps, const sp__tiles_rows *a, int64_t first, const char *b, int32_t *acc,
                 const int32_t *from)
{
    const int64_t row = a->row;
    const char *x = a->data + first * row;
    __m256i c[ROWS][2];
    acc += first * SP_TILES_PANEL;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 2; j++)
            c[i][j] = from ? _mm256_set1_epi32(from[first + i])
                           : _mm256_loadu_si256((const void *)(acc + i * SP_TILES_PANEL + j * LANES));
    for (int64_t s = 0; s < steps; s++, x += a->step, b += 2 * SP_TILE_BYTES) {
#pragma GCC unroll 2
        for (int k = 0; k < SP_TILE; k++) {
            const __m256i y0 = _mm256_load_si256((const void *)(b + k * 64)),
                          y1 = _mm256_load_si256((const void *)(b + k * 64 + 32));
            for (int i = 0; i < ROWS; i++) {
                const __m256i w = word(x + i * row + k * 4);
                c[i][0] = _mm256_add_epi32(c[i][0], _mm256_madd_epi16(w, y0));
                c[i][1] = _mm256_add_epi32(c[i][1], _mm256_madd_epi16(w, y1));
            }
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 2; j++) _mm256_storeu_si256((void *)(acc + i * SP_TILES_PANEL + j * LANES), c[i][j]);
}

static void block(sp_dtype dtype, int64_t steps, const sp__tiles_rows *a, const char *b, bool half_rows,
                  bool half_columns, void *acc, const int32_t *from)
{
    (void)dtype; /* int16 */
    for (int i = 0, n = half_rows ? SP_TILE : SP_TILES_PANEL; i < n; i += ROWS) {
        rows(steps, a, i, b, acc, from);
        if (!half_columns) rows(steps, a, i, b + SP_TILE_BYTES, (int32_t *)acc + SP_TILE, from);
    }
}

#define TILES_NAME(x) x##_avx2
#define TILES_NATIVE 0
#define TILES_FLIP 0
#include "device/cpu/tiles_pack.h"

const sp__tiles_kernels sp__tiles_avx2 = {
    .name = "avx2 pairs", .i16 = true, .in_place = true, .block = block, .pack = pack_avx2, .round = round_avx2};
