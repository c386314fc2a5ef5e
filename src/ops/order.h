/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - rows of keys in order, for sort.c. */
#ifndef SPORE_ORDER_H
#define SPORE_ORDER_H

#include "base/base.h"

/* Rows up to this long are ordered by one thread, longer ones by all, in pieces of this size: between two of them
 * an interruption is noticed. */
enum { SP__ORDER_BLOCK = 1 << 15 };

/* Bytes of scratch for a row of n keys below 2^bits; false when they do not fit into a size. */
bool sp__order_bytes(int64_t n, int bits, size_t *bytes);
/* work: as sp__order_bytes says for the bits of these keys. at[0..n) = the positions 0..n-1 in the order of their keys; positions of equal keys stay in order.
 * Fails by interruption only, and only when the row is longer than a block. */
sp_status sp__order(int64_t n, const uint64_t *keys, int64_t *at, void *work);

#endif
