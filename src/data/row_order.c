/* SPDX-License-Identifier: Apache-2.0 */
/* row_order.c - the generators of C++'s library and its permutation; Matsumoto and Nishimura 1998, Park and Miller 1988. */
#include "data/row_order.h"

#include "spore/pipeline.h"

/* --- mt19937 and minstd_rand0 behind one face --------------------------------------------------------------------------- */

enum { WORDS = 624, APART = 397 };

typedef struct {
    sp__mixer mixer;
    uint64_t range; /* numbers are 0 .. range */
    uint32_t word[WORDS];
    int at;
} source;

static void start(source *s, sp__mixer mixer, uint32_t seed)
{
    s->mixer = mixer;
    s->range = mixer == SP_MIX_TWISTER ? UINT32_MAX : 2147483645u;
    s->at = WORDS;
    s->word[0] = seed;
    if (mixer == SP_MIX_MINSTD) {
        s->word[0] = seed % 2147483647u ? seed % 2147483647u : 1;
        return;
    }
    for (uint32_t i = 1; i < WORDS; i++) s->word[i] = 1812433253u * (s->word[i - 1] ^ s->word[i - 1] >> 30) + i;
}

static void refill(source *s)
{
    for (int i = 0; i < WORDS; i++) {
        const uint32_t x = (s->word[i] & 0x80000000u) | (s->word[(i + 1) % WORDS] & 0x7fffffffu);
        s->word[i] = s->word[(i + APART) % WORDS] ^ x >> 1 ^ (x & 1 ? 0x9908b0dfu : 0);
    }
    s->at = 0;
}

static uint64_t next(source *s)
{
    if (s->mixer == SP_MIX_MINSTD) {
        s->word[0] = (uint32_t)((uint64_t)s->word[0] * 16807 % 2147483647u);
        return s->word[0] - 1;
    }
    if (s->at == WORDS) refill(s);
    uint32_t x = s->word[s->at++];
    x ^= x >> 11;
    x ^= x << 7 & 0x9d2c5680u;
    x ^= x << 15 & 0xefc60000u;
    return x ^ x >> 18;
}

/* 0 .. most, each as likely: numbers beyond the last whole multiple are drawn again. */
static uint64_t below(source *s, uint64_t most)
{
    if (s->range > most) {
        const uint64_t part = s->range / (most + 1);
        uint64_t x;
        do x = next(s);
        while (x >= (most + 1) * part);
        return x / part;
    }
    if (s->range == most) return next(s);
    for (;;) { /* more rows than the generator has numbers: a high and a low digit */
        const uint64_t high = below(s, most / (s->range + 1)) * (s->range + 1), x = high + next(s);
        if (x <= most && x >= high) return x;
    }
}

static void swap(int64_t *a, int64_t *b)
{
    const int64_t x = *a;
    *a = *b;
    *b = x;
}

void sp__mix_ids(sp__mixer mixer, uint32_t seed, int64_t *ids, int64_t n)
{
    source s;
    start(&s, mixer, seed);
    if (n < 2) return;
    if (s.range / (uint64_t)n < (uint64_t)n) {
        for (int64_t i = 1; i < n; i++) swap(&ids[i], &ids[below(&s, (uint64_t)i)]);
        return;
    }
    int64_t i = 1;
    if (n % 2 == 0) {
        swap(&ids[1], &ids[below(&s, 1)]);
        i = 2;
    }
    for (; i < n; i += 2) { /* places 0 .. i and 0 .. i + 1 */
        const uint64_t wide = (uint64_t)i + 2, x = below(&s, (wide - 1) * wide - 1);
        swap(&ids[i], &ids[x / wide]);
        swap(&ids[i + 1], &ids[x % wide]);
    }
}

void sp_order_mix(uint32_t seed, int64_t *ids, int64_t n) { sp__mix_ids(SP_MIX_TWISTER, seed, ids, n); }

/* --- mt19937_64 ---------------------------------------------------------------------------------------------------------- */

void sp__twister64_start(sp__twister64 *t, uint64_t seed)
{
    t->word[0] = seed;
    for (uint64_t i = 1; i < 312; i++) t->word[i] = 6364136223846793005u * (t->word[i - 1] ^ t->word[i - 1] >> 62) + i;
    t->at = 312;
    t->used = 0;
}

uint64_t sp__twister64_next(sp__twister64 *t)
{
    if (t->at == 312) {
        for (int i = 0; i < 312; i++) {
            const uint64_t x = (t->word[i] & 0xffffffff80000000u) | (t->word[(i + 1) % 312] & 0x7fffffffu);
            t->word[i] = t->word[(i + 156) % 312] ^ x >> 1 ^ (x & 1 ? 0xb5026f5aa96619e9u : 0);
        }
        t->at = 0;
    }
    t->used++;
    uint64_t x = t->word[t->at++];
    x ^= x >> 29 & 0x5555555555555555u;
    x ^= x << 17 & 0x71d67fffeda60000u;
    x ^= x << 37 & 0xfff7eee000000000u;
    return x ^ x >> 43;
}
