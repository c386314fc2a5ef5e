/* SPDX-License-Identifier: Apache-2.0 */
/* row_order.h - random orders of rows, drawn as MindSpore draws them, so that a seed gives the same rows in the same order.
 *
 * Its generators are those of the C++ library (mt19937, mt19937_64, minstd_rand0), its permutation is that library's std::shuffle as GNU writes
 * it: two places from one number while their product fits. */
#ifndef SPORE_DATA_ORDER_H
#define SPORE_DATA_ORDER_H

#include <stdint.h>

typedef enum {
    SP_MIX_TWISTER, /* mt19937: samplers */
    SP_MIX_MINSTD,  /* minstd_rand0: records */
} sp__mixer;

/* Permute ids, by a generator that starts from this seed. */
void sp__mix_ids(sp__mixer mixer, uint32_t seed, int64_t *ids, int64_t n);

/* mt19937_64, for the buffers of shuffle; `used` counts the numbers that were drawn. */
typedef struct {
    uint64_t word[312];
    int at;
    int64_t used;
} sp__twister64;
void sp__twister64_start(sp__twister64 *t, uint64_t seed);
uint64_t sp__twister64_next(sp__twister64 *t);

#endif
