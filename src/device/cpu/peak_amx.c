/* SPDX-License-Identifier: Apache-2.0 */
/* peak_amx.c - tile products of AMX, on tiles that stay in their registers. */
#include "device/cpu/peak.h"

#include <immintrin.h>

#include "device/cpu/tiles.h"

static void bf16(int64_t turns)
{
    sp__tiles_amx.begin(); /* all zeros */
    for (int64_t t = 0; t < turns; t++) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    sp__tiles_amx.end();
}

static void i8(int64_t turns)
{
    sp__tiles_amx.begin(); /* all zeros */
    for (int64_t t = 0; t < turns; t++) {
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    sp__tiles_amx.end();
}

/* A tile product: 16 x 16 x 32 multiplications and additions, or 64 deep. */
const sp__peak sp__peaks_amx[2] = {{"amx bfloat16", SP_CPU_AMX, SP_DTYPE_BF16, 4.0 * 16 * 16 * 64, bf16},
                                   {"amx int8", SP_CPU_AMX, SP_DTYPE_I8, 4.0 * 16 * 16 * 128, i8}};
