/* SPDX-License-Identifier: Apache-2.0 */
/* philox.h - Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a key and a 128-bit counter become four 32-bit words by ten rounds of
 * multiplications. */
#ifndef SPORE_PHILOX_H
#define SPORE_PHILOX_H

#include <stdint.h>

typedef struct {
    uint32_t w[4];
} sp__philox_block;

static inline sp__philox_block sp__philox(uint64_t seed, uint64_t low, uint64_t high)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32), c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        const uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (sp__philox_block){{c0, c1, c2, c3}};
}

#endif
