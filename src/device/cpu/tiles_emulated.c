/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_emulated.c - AMX in plain C, for tests: the same block over the same tile operations, with the arithmetic that the
 * instructions are defined to have.
 *
 * TDPBF16PS: per element of C two sums, over the first and over the second halves of the words, each term added in turn by a fused multiply-add, rounded to
 * nearest; then the two are added, then their sum to C. Denormal operands count as zero, denormal results become zero, whatever the control
 * register says. Products of two bfloat16 are exact in float32 unless they leave its range. */
#include "device/cpu/tiles.h"

#include <math.h>
#include <string.h>

typedef uint32_t tile_register[SP_TILE][SP_TILE];

static void tile_load(tile_register t, const char *p, int64_t stride)
{
    for (int i = 0; i < SP_TILE; i++) memcpy(t[i], p + i * stride, 64);
}

static void tile_store(tile_register t, char *p, int64_t stride)
{
    for (int i = 0; i < SP_TILE; i++) memcpy(p + i * stride, t[i], 64);
}

static inline float flushed(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    u = (u & 0x7F800000u) == 0 ? u & 0x80000000u : u;
    memcpy(&x, &u, 4);
    return x;
}

static inline float wide(uint32_t half)
{
    float x;
    uint32_t u = half << 16;
    memcpy(&x, &u, 4);
    return flushed(x);
}

/* sum += x y, fused. Where all products are zeros or normal numbers they are exact: multiplied and added, which is the same and much faster. */
static inline void add_products(float x, const float *y, float *sum)
{
    float product[SP_TILE];
    bool exact = true;
    for (int n = 0; n < SP_TILE; n++) {
        product[n] = x * y[n];
        const bool zero = (x == 0) | (y[n] == 0),
                   normal = (fabsf(product[n]) >= 0x1p-126f) & (fabsf(product[n]) < INFINITY);
        exact &= zero | normal;
    }
    for (int n = 0; n < SP_TILE; n++) sum[n] = flushed(exact ? sum[n] + product[n] : fmaf(x, y[n], sum[n]));
}

static void tile_bf16(tile_register c, tile_register a, tile_register b)
{
    float even_b[SP_TILE][SP_TILE], odd_b[SP_TILE][SP_TILE];
    for (int k = 0; k < SP_TILE; k++)
        for (int n = 0; n < SP_TILE; n++) {
            even_b[k][n] = wide(b[k][n] & 0xFFFF);
            odd_b[k][n] = wide(b[k][n] >> 16);
        }
    for (int m = 0; m < SP_TILE; m++) {
        float even[SP_TILE] = {0}, odd[SP_TILE] = {0}, sum[SP_TILE];
        for (int k = 0; k < SP_TILE; k++) {
            float x = wide(a[m][k] & 0xFFFF), y = wide(a[m][k] >> 16);
            add_products(x, even_b[k], even);
            add_products(y, odd_b[k], odd);
        }
        memcpy(sum, c[m], 64);
        for (int n = 0; n < SP_TILE; n++) sum[n] = flushed(flushed(sum[n]) + flushed(even[n] + odd[n]));
        memcpy(c[m], sum, 64);
    }
}

static void tile_i8(tile_register c, tile_register a, tile_register b)
{
    for (int m = 0; m < SP_TILE; m++)
        for (int k = 0; k < SP_TILE; k++)
            for (int n = 0; n < SP_TILE; n++)
                for (int l = 0; l < 32; l += 8) c[m][n] += (uint32_t)((int8_t)(a[m][k] >> l) * (int8_t)(b[k][n] >> l));
}

#define TILES_NAME(x) x##_emulated
#define TILE_REGISTERS tile_register *const r = sp__scratch_take(8 * sizeof *r);
#define TILE_REGISTERS_END sp__scratch_give(r);
#define TILE_LOAD(t, p, stride) tile_load(r[t], p, stride)
#define TILE_LOAD_A(t, p, stride) TILE_LOAD(t, p, stride)
#define TILE_STORE(t, p, stride) tile_store(r[t], p, stride)
#define TILE_ZERO(t) memset(r[t], 0, sizeof r[t])
#define TILE_ADD(block, sum, first)                                                                                    \
    for (int i = 0; i < SP_TILES_PANEL * SP_TILES_PANEL; i++) (sum)[i] = ((first) ? 0 : (sum)[i]) + (block)[i];
#define TILE_BF16(c, a, b) tile_bf16(r[c], r[a], r[b])
#define TILE_I8(c, a, b) tile_i8(r[c], r[a], r[b])
#include "device/cpu/tiles_block.h"
#define TILES_NATIVE 0
#define TILES_FLIP 0
#include "device/cpu/tiles_pack.h"

const sp__tiles_kernels sp__tiles_emulated = {.name = "emulated",
                                              .f32 = true,
                                              .bf16 = true,
                                              .i8 = true,
                                              .always = true,
                                              .block = block_emulated,
                                              .pack = pack_emulated,
                                              .round = round_emulated};
