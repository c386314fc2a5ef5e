/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_block.h - the inner block of tiles.h for AMX, over a few tile operations; included once with the instructions and once with their
 * emulation:
 *
 *   TILES_NAME(x)                name of this instance
 *   TILE_REGISTERS               their declaration, for the emulation; TILE_REGISTERS_END gives them back
 *   TILE_LOAD(t, p, stride)      tile register t from 16 rows of 64 bytes, `stride` bytes apart
 *   TILE_LOAD_A(t, p, stride)    the same of what is read once: it need not stay in the first cache
 *   TILE_STORE(t, p, stride)     and back
 *   TILE_ZERO(t)                 all zeros
 *   TILE_BF16(c, a, b)           c += a b, float32 from pairs of bfloat16
 *   TILE_I8(c, a, b)             c += a b, int32 from fours of int8
 *   TILE_ADD(block, sum, first)  32 x 32 floats added to sums, or, if they are the first, in their place
 *
 * Registers 0 to 3 hold two by two tiles of C, 4 and 5 of A, 6 and 7 of B: four products for four loads. */

#include "base/scratch.h"

/* Pairs of terms, smallest products first; the last pair is all there is for one term. */
static const unsigned char TILES_NAME(pairs)[6][2] = {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};
enum { TILES_NAME(acc_row) = SP_TILES_PANEL * 4 };

/* All steps of one pair of terms: no branches between the products. A passes by once, B is read again for the next rows. */
#define TILES_STEPS(TILE_PRODUCT)                                                                                      \
    for (int64_t i = 0; i < steps; i++, x += a->step, y += 2 * SP_TILE_BYTES) {                                        \
        TILE_LOAD_A(4, x, a->row);                                                                                     \
        TILE_LOAD(6, y, 64);                                                                                           \
        TILE_LOAD(7, y + SP_TILE_BYTES, 64);                                                                           \
        TILE_LOAD_A(5, x + SP_TILE * a->row, a->row);                                                                  \
        TILE_PRODUCT(0, 4, 6);                                                                                         \
        TILE_PRODUCT(1, 4, 7);                                                                                         \
        TILE_PRODUCT(2, 5, 6);                                                                                         \
        TILE_PRODUCT(3, 5, 7);                                                                                         \
    }

/* The same with a second half of rows or columns that nobody asks for. */
#define TILES_PART                                                                                                     \
    for (int64_t i = 0; i < steps; i++, x += a->step, y += 2 * SP_TILE_BYTES) {                                        \
        TILE_LOAD_A(4, x, a->row);                                                                                     \
        TILE_LOAD(6, y, 64);                                                                                           \
        if (!half_columns) TILE_LOAD(7, y + SP_TILE_BYTES, 64);                                                        \
        if (!half_rows) TILE_LOAD_A(5, x + SP_TILE * a->row, a->row);                                                  \
        if (dtype == SP_DTYPE_I8) {                                                                                    \
            TILE_I8(0, 4, 6);                                                                                          \
            if (!half_columns) TILE_I8(1, 4, 7);                                                                       \
            if (!half_rows) TILE_I8(2, 5, 6);                                                                          \
        } else {                                                                                                       \
            TILE_BF16(0, 4, 6);                                                                                        \
            if (!half_columns) TILE_BF16(1, 4, 7);                                                                     \
            if (!half_rows) TILE_BF16(2, 5, 6);                                                                        \
        }                                                                                                              \
    }

static void TILES_NAME(block)(sp_dtype dtype, int64_t steps, const sp__tiles_rows *a, const char *b, bool half_rows,
                              bool half_columns, void *acc, const int32_t *from)
{
    TILE_REGISTERS
    char *c = acc;
    const int64_t row = TILES_NAME(acc_row);
    /* float32: the block by itself, smallest products first, then once into the sum. Each product alone into the sum would round it six times as
     * often, by what is small against it. */
    bool f32 = dtype == SP_DTYPE_F32;
    float *const block = f32 ? sp__scratch_take(SP_TILES_PANEL * SP_TILES_PANEL * sizeof *block) : NULL;
    if (f32 || from) {
        TILE_ZERO(0);
        TILE_ZERO(1);
        TILE_ZERO(2);
        TILE_ZERO(3);
    } else {
        TILE_LOAD(0, c, row);
        TILE_LOAD(1, c + 64, row);
        TILE_LOAD(2, c + SP_TILE * row, row);
        TILE_LOAD(3, c + SP_TILE * row + 64, row);
    }
    int n_pairs = f32 ? 6 : 1;
    for (int t = 6 - n_pairs; t < 6; t++) {
        const char *x = a->data + TILES_NAME(pairs)[t][0] * steps * 2 * SP_TILE_BYTES;
        const char *y = b + TILES_NAME(pairs)[t][1] * steps * 2 * SP_TILE_BYTES;
        if (half_rows || half_columns) TILES_PART
        else if (dtype == SP_DTYPE_I8) TILES_STEPS(TILE_I8)
        else TILES_STEPS(TILE_BF16)
    }
    char *to = f32 ? (char *)block : c;
    TILE_STORE(0, to, row);
    TILE_STORE(1, to + 64, row);
    TILE_STORE(2, to + SP_TILE * row, row);
    TILE_STORE(3, to + SP_TILE * row + 64, row);
    if (f32) {
        float *sum = acc;
        TILE_ADD(block, sum, from != NULL);
        sp__scratch_give(block);
    }
    TILE_REGISTERS_END
}
