/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_amx.c - tiles by the AMX instructions. Permission for the tile registers was asked for when the features were found
 * (base/cpu.c); a child of fork inherits it. */
#include "device/cpu/tiles.h"

#include <immintrin.h>

/* Palette 1: eight tiles of 16 rows of 64 bytes. Constant, not filled in by begin(): gcc's _tile_loadconfig (12, until PR 114098) tells the
 * compiler of the first eight bytes only, and stores to the others would be dropped. */
static const _Alignas(64) struct {
    uint8_t palette, start_row, zero[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} eight_tiles = {.palette = 1,
                 .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                 .rows = {SP_TILE, SP_TILE, SP_TILE, SP_TILE, SP_TILE, SP_TILE, SP_TILE, SP_TILE}};
_Static_assert(sizeof eight_tiles == 64, "as ldtilecfg reads it");

static void begin(void) { _tile_loadconfig(&eight_tiles); }

/* Back to the initial state: the kernel then has no tiles to save. */
static void end(void) { _tile_release(); }

/* A panel's square of sums into those of the blocks before, or, first, in their place (added to zero: what -0 becomes is the same). */
static inline __attribute__((always_inline)) void add_square(const float *block, float *sum, bool first)
{
    for (int i = 0; i < SP_TILES_PANEL * SP_TILES_PANEL; i += 64) {
        __m512 s[4];
        for (int j = 0; j < 4; j++) s[j] = first ? _mm512_setzero_ps() : _mm512_load_ps(sum + i + j * 16);
        for (int j = 0; j < 4; j++)
            _mm512_store_ps(sum + i + j * 16, _mm512_add_ps(s[j], _mm512_load_ps(block + i + j * 16)));
    }
}

#define TILES_NAME(x) x##_amx
#define TILE_REGISTERS /* the thread's */
#define TILE_REGISTERS_END
#define TILE_LOAD(t, p, stride) _tile_loadd(t, p, stride)
#define TILE_LOAD_A(t, p, stride) _tile_stream_loadd(t, p, stride)
#define TILE_STORE(t, p, stride) _tile_stored(t, p, stride)
#define TILE_ZERO(t) _tile_zero(t)
#define TILE_ADD(block, sum, first) add_square(block, sum, first)
#define TILE_BF16(c, a, b) _tile_dpbf16ps(c, a, b)
#define TILE_I8(c, a, b) _tile_dpbssd(c, a, b)
#include "device/cpu/tiles_block.h"

#include "device/cpu/tiles_turn.h"
#define TILES_TURN(from, to) sp__tiles_turn(&(from)[0][0], to)
#define TILES_NATIVE 1
#define TILES_FLIP 0
#include "device/cpu/tiles_pack.h"

const sp__tiles_kernels sp__tiles_amx = {.name = "amx",
                                         .f32 = true,
                                         .bf16 = true,
                                         .i8 = true,
                                         .begin = begin,
                                         .end = end,
                                         .block = block_amx,
                                         .pack = pack_amx,
                                         .round = round_amx};
