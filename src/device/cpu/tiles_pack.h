/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_pack.h - packing of panels for tiles.h, in plain loops over 16 lanes that compilers turn into vectors; included per
 * instruction set with TILES_NAME(x), the name of this instance.
 *
 * A tile is made of 16 rows of 16 words. "Across": 16 outer elements side by side, each word from two (four) elements of K above each
 * other: rows of B. "Along": K side by side: rows of A. Operands come either way round; the result is turned where the other one is
 * wanted. */
#include <string.h>

typedef uint32_t TILES_NAME(words)[SP_TILE][SP_TILE];

static inline uint32_t TILES_NAME(bits)(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

static inline float TILES_NAME(number)(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}

/* The nearest bfloat16, ties to even, as the float of the same value. Not for NaN and what rounds to infinity: those are found by
 * their magnitude. */
static inline uint32_t TILES_NAME(nearest)(uint32_t u) { return (u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000u; }

/* Two rows of floats to a row of words per term: low half the first, high half the second. */
static inline void TILES_NAME(split)(const float *x, const float *y, TILES_NAME(words) * w, int row)
{
    for (int j = 0; j < SP_TILE; j++) {
        float a = x[j], b = y[j];
        for (int t = 0; t < SP_TILES_TERMS; t++) {
            uint32_t first = TILES_NAME(nearest)(TILES_NAME(bits)(a)), second = TILES_NAME(nearest)(TILES_NAME(bits)(b));
            w[t][row][j] = first >> 16 | second;
            a -= TILES_NAME(number)(first); /* exact */
            b -= TILES_NAME(number)(second);
        }
    }
}

static inline void TILES_NAME(measure)(const float *x, int n, uint32_t *largest, uint32_t *smallest)
{
    uint32_t high = *largest, low = *smallest;
    for (int j = 0; j < n; j++) {
        uint32_t u = TILES_NAME(bits)(x[j]) & 0x7FFFFFFFu, less = u - 1; /* zero becomes the largest */
        high = u > high ? u : high;
        low = less < low ? less : low;
    }
    *largest = high;
    *smallest = low;
}

static int64_t TILES_NAME(place)(const int64_t *table, int64_t step, int64_t i) { return table ? table[i] : i * step; }

/* 16 elements of size `size` with the outer index running, at one k; zeros behind the last. */
static inline void TILES_NAME(fetch)(const sp__tiles_source *s, int64_t first, int64_t n, int64_t p, int size, void *to)
{
    const char *from = (const char *)s->data + TILES_NAME(place)(s->k_table, s->k, p) * size;
    memset(to, 0, (size_t)(SP_TILE * size));
    if (p >= s->n_k) return;
    bool run = s->outer_table ? s->outer_table[first + n - 1] - s->outer_table[first] == n - 1 : s->outer == 1;
    if (run) {
        memcpy(to, from + TILES_NAME(place)(s->outer_table, 1, first) * size, (size_t)(n * size));
    } else if (size == 4) {
        for (int64_t j = 0; j < n; j++)
            memcpy((char *)to + j * 4, from + TILES_NAME(place)(s->outer_table, s->outer, first + j) * 4, 4);
    } else {
        for (int64_t j = 0; j < n; j++)
            memcpy((char *)to + j * size, from + TILES_NAME(place)(s->outer_table, s->outer, first + j) * size, (size_t)size);
    }
}

/* Words across: w[term][word][outer]. */
static void TILES_NAME(across)(const sp__tiles_source *s, int64_t first, int64_t n, int64_t k, TILES_NAME(words) * w,
                               uint32_t *largest, uint32_t *smallest)
{
    bool run = n == SP_TILE &&
               (s->outer_table ? s->outer_table[first + SP_TILE - 1] - s->outer_table[first] == SP_TILE - 1 : s->outer == 1);
    const float *from = (const float *)s->data + TILES_NAME(place)(s->outer_table, s->outer, first);
    for (int i = 0; i < SP_TILE; i++) {
        if (s->dtype == SP_DTYPE_F32) {
            float x[SP_TILE], y[SP_TILE];
            int64_t p = k + 2 * i;
            /* A full pair of contiguous rows, the common case, is read in place. */
            if (run && p + 1 < s->n_k) {
                const float *one = from + TILES_NAME(place)(s->k_table, s->k, p), *two = from + TILES_NAME(place)(s->k_table, s->k, p + 1);
                memcpy(x, one, sizeof x);
                memcpy(y, two, sizeof y);
            } else {
                TILES_NAME(fetch)(s, first, n, p < s->n_k ? p : 0, 4, x);
                TILES_NAME(fetch)(s, first, n, p + 1 < s->n_k ? p + 1 : 0, 4, y);
                if (p >= s->n_k) memset(x, 0, sizeof x);
                if (p + 1 >= s->n_k) memset(y, 0, sizeof y);
            }
            TILES_NAME(measure)(x, SP_TILE, largest, smallest);
            TILES_NAME(measure)(y, SP_TILE, largest, smallest);
            TILES_NAME(split)(x, y, w, i);
        } else if (s->dtype == SP_DTYPE_BF16) {
            uint16_t x[2][SP_TILE];
            for (int l = 0; l < 2; l++) {
                int64_t p = k + 2 * i + l;
                if (p < s->n_k) TILES_NAME(fetch)(s, first, n, p, 2, x[l]);
                else memset(x[l], 0, sizeof x[l]);
            }
            for (int j = 0; j < SP_TILE; j++) w[0][i][j] = (uint32_t)x[1][j] << 16 | x[0][j];
        } else {
            uint8_t x[4][SP_TILE];
            for (int l = 0; l < 4; l++) {
                int64_t p = k + 4 * i + l;
                if (p < s->n_k) TILES_NAME(fetch)(s, first, n, p, 1, x[l]);
                else memset(x[l], 0, sizeof x[l]);
            }
            for (int j = 0; j < SP_TILE; j++)
                w[0][i][j] = (uint32_t)x[3][j] << 24 | (uint32_t)x[2][j] << 16 | (uint32_t)x[1][j] << 8 | x[0][j];
        }
    }
}

/* Words along: w[term][outer][word]; K is contiguous. */
static void TILES_NAME(along)(const sp__tiles_source *s, int64_t first, int64_t n, int64_t k, TILES_NAME(words) * w,
                              uint32_t *largest, uint32_t *smallest)
{
    int64_t left = s->n_k - k;
    int size = s->dtype == SP_DTYPE_F32 ? 4 : s->dtype == SP_DTYPE_BF16 ? 2 : 1;
    int64_t step = sp__tiles_step(s->dtype), count = left < step ? left : step;
    for (int i = 0; i < SP_TILE; i++) {
        if (i >= n) {
            for (int t = 0; t < sp__tiles_terms(s->dtype); t++) memset(w[t][i], 0, sizeof w[t][i]);
            continue;
        }
        const char *from = (const char *)s->data + (TILES_NAME(place)(s->outer_table, s->outer, first + i) + k) * size;
        if (s->dtype != SP_DTYPE_F32) {
            if (count < step) memset(w[0][i], 0, sizeof w[0][i]);
            memcpy(w[0][i], from, (size_t)(count * size));
            continue;
        }
        float both[2 * SP_TILE], x[SP_TILE], y[SP_TILE];
        if (count < step) memset(both, 0, sizeof both);
        memcpy(both, from, (size_t)count * 4);
        TILES_NAME(measure)(both, 2 * SP_TILE, largest, smallest);
        for (int j = 0; j < SP_TILE; j++) {
            x[j] = both[2 * j];
            y[j] = both[2 * j + 1];
        }
        TILES_NAME(split)(x, y, w, i);
    }
}

#ifndef TILES_TURN
static inline void TILES_NAME(turn)(TILES_NAME(words) from, uint32_t *to)
{
    for (int i = 0; i < SP_TILE; i++)
        for (int j = 0; j < SP_TILE; j++) to[i * SP_TILE + j] = from[j][i];
}
#define TILES_TURN(from, to) TILES_NAME(turn)(from, to)
#endif

static void TILES_NAME(pack)(const sp__tiles_source *s, int64_t first, bool turned, char *to, sp__tiles_range *range)
{
    int64_t steps = sp__tiles_steps(s->dtype, s->n_k), terms = sp__tiles_terms(s->dtype), block = sp__tiles_block(s->dtype);
    int64_t step = sp__tiles_step(s->dtype);
    bool along = s->k == 1 && !s->k_table;
    uint32_t largest = 0, smallest = UINT32_MAX;
    for (int64_t b = 0; b < steps; b += block) {
        int64_t n_steps = steps - b < block ? steps - b : block;
        for (int64_t i = 0; i < n_steps; i++) {
            for (int half = 0; half < 2; half++) {
                int64_t outer = first + half * SP_TILE, n = s->n - outer < SP_TILE ? s->n - outer : SP_TILE;
                char *tile = to + (b * terms * 2 + i * 2 + half) * SP_TILE_BYTES;
                if (n <= 0) {
                    for (int64_t t = 0; t < terms; t++) memset(tile + t * n_steps * 2 * SP_TILE_BYTES, 0, SP_TILE_BYTES);
                    continue;
                }
                _Alignas(64) TILES_NAME(words) w[SP_TILES_TERMS];
                if (along) TILES_NAME(along)(s, outer, n, (b + i) * step, w, &largest, &smallest);
                else TILES_NAME(across)(s, outer, n, (b + i) * step, w, &largest, &smallest);
                for (int64_t t = 0; t < terms; t++) {
                    char *place = tile + t * n_steps * 2 * SP_TILE_BYTES;
                    if (along == turned) TILES_TURN(w[t], (uint32_t *)(void *)place);
                    else memcpy(place, w[t], SP_TILE_BYTES);
                }
            }
        }
    }
    if (s->dtype != SP_DTYPE_F32) return;
    uint32_t seen = atomic_load_explicit(&range->largest, memory_order_relaxed);
    while (largest > seen && !atomic_compare_exchange_weak(&range->largest, &seen, largest)) {}
    if (smallest != UINT32_MAX) smallest++;
    seen = atomic_load_explicit(&range->smallest, memory_order_relaxed);
    while (smallest < seen && !atomic_compare_exchange_weak(&range->smallest, &seen, smallest)) {}
}
