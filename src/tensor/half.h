/* SPDX-License-Identifier: Apache-2.0 */
/* half.h - float16 and bfloat16 as bits, and their conversion to and from float (round to nearest even). */
#ifndef SPORE_HALF_H
#define SPORE_HALF_H

#include <stdint.h>
#include <string.h>

typedef struct {
    uint16_t bits;
} sp_f16;
typedef struct {
    uint16_t bits;
} sp_bf16;

static inline float sp__bits_f32(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline uint32_t sp__f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static inline float sp__bf16_f32(sp_bf16 h) { return sp__bits_f32((uint32_t)h.bits << 16); }

static inline sp_bf16 sp__f32_bf16(float f)
{
    uint32_t u = sp__f32_bits(f);
    uint32_t rounded = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16;
    uint32_t nan = (u >> 16) | 0x40u; /* quiet; rounding could carry a NaN into infinity */
    return (sp_bf16){(uint16_t)((u & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded)};
}

/* Branch-free in the common path so that the compiler can vectorise loops over it. */
static inline float sp__f16_f32(sp_f16 h)
{
    uint32_t sign = (uint32_t)(h.bits & 0x8000u) << 16;
    uint32_t rest = (uint32_t)(h.bits & 0x7FFFu) << 13;
    /* Multiplying by 2^112 moves the exponent and normalises subnormals; infinity and NaN need the full exponent. */
    float scaled = sp__bits_f32(rest) * 0x1p112f;
    uint32_t u = sp__f32_bits(scaled);
    uint32_t special = rest | 0x7F800000u;
    u = rest >= 0x0F800000u ? special : u;
    return sp__bits_f32(u | sign);
}

/* All cases are computed and one is taken, for the same reason. */
static inline sp_f16 sp__f32_f16(float f)
{
    uint32_t u = sp__f32_bits(f);
    uint32_t sign = (u >> 16) & 0x8000u;
    uint32_t a = u & 0x7FFFFFFFu;
    uint32_t normal = (a + 0xC8000FFFu + ((a >> 13) & 1u)) >> 13;
    uint32_t small =
        sp__f32_bits(sp__bits_f32(a) + 0.5f) - 0x3F000000u; /* the float adder rounds to multiples of 2^-24 */
    uint32_t nan = 0x7E00u | ((a >> 13) & 0x3FFu);
    uint32_t out = a < 0x38800000u ? small : normal; /* below the smallest normal, or not */
    out = a >= 0x477FF000u ? 0x7C00u : out;          /* rounds to 65536 or more */
    out = a > 0x7F800000u ? nan : out;
    return (sp_f16){(uint16_t)(out | sign)};
}

#endif
