/* SPDX-License-Identifier: Apache-2.0 */
/* byte_order.h - numbers in files and messages: their bytes in a fixed order, at any address. */
#ifndef SPORE_BYTE_ORDER_H
#define SPORE_BYTE_ORDER_H

#include <stdint.h>

/* Least significant byte first. */
static inline uint32_t sp__le16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static inline uint32_t sp__le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t sp__le64(const uint8_t *p) { return sp__le32(p) | (uint64_t)sp__le32(p + 4) << 32; }
static inline uint64_t sp__le(const uint8_t *p, int bytes) /* of 0 to 8 bytes */
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

/* Most significant byte first. */
static inline uint32_t sp__be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

#endif
