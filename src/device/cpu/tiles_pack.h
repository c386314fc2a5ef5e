/* SPDX-License-Identifier: Apache-2.0 */
/* tiles_pack.h - packing of panels for tiles.h, in plain loops over 16 lanes that compilers turn into vectors; included per
 * instruction set with TILES_NAME(x), the name of this instance.
 *
 * A tile is made of 16 rows of 16 words. "Across": 16 outer elements side by side, each word from two (four) elements of K above each
 * other: rows of B. "Along": K side by side: rows of A. Operands come either way round; the result is turned where the other one is
 * wanted. TILES_NATIVE: written with AVX-512, for float32 with BF16, which rounds pairs of vectors at once; the same bytes. TILES_FLIP: bits of a byte of B to
 * change. Rounding of sums to C's dtype is here as well. */
#include <string.h>

typedef uint32_t TILES_NAME(words)[SP_TILE][SP_TILE];
typedef uint32_t TILES_NAME(lanes) __attribute__((vector_size(64)));
typedef uint16_t TILES_NAME(halves) __attribute__((vector_size(64)));
typedef float TILES_NAME(floats) __attribute__((vector_size(64)));

/* What was seen, a lane each. */
typedef struct TILES_NAME(seen) {
    TILES_NAME(lanes) largest, less; /* less: of the smallest, less one, so that zero is the largest */
} TILES_NAME(seen);

#if TILES_NATIVE
static inline __attribute__((always_inline)) void TILES_NAME(look)(__m512 x, TILES_NAME(seen) * s)
{
    __m512i u = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7FFFFFFF));
    s->largest = (TILES_NAME(lanes))_mm512_max_epu32((__m512i)s->largest, u);
    s->less = (TILES_NAME(lanes))_mm512_min_epu32((__m512i)s->less, _mm512_sub_epi32(u, _mm512_set1_epi32(1)));
}

/* Words of a (low halves) and b (high halves), term after term; what is left of each is exact. */
static inline __attribute__((always_inline)) void
TILES_NAME(split_across)(const float *x, const float *y, uint32_t *const *w, int row, TILES_NAME(seen) * seen)
{
    const __m512i pairs = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                           21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(y);
    TILES_NAME(look)(a, seen);
    TILES_NAME(look)(b, seen);
    for (int t = 0; t < SP_TILES_TERMS; t++) {
        __m512i word = _mm512_permutexvar_epi16(pairs, (__m512i)_mm512_cvtne2ps_pbh(b, a));
        _mm512_storeu_si512((void *)(w[t] + row * SP_TILE), word);
        a = _mm512_sub_ps(a, _mm512_castsi512_ps(_mm512_slli_epi32(word, 16)));
        b = _mm512_sub_ps(b, _mm512_castsi512_ps(_mm512_and_si512(word, _mm512_set1_epi32((int)0xFFFF0000))));
    }
}

/* 32 elements of one row, in order. */
static inline __attribute__((always_inline)) void TILES_NAME(split_along)(const float *x, uint32_t *const *w, int row,
                                                                          TILES_NAME(seen) * seen)
{
    __m512 a = _mm512_loadu_ps(x), b = _mm512_loadu_ps(x + SP_TILE);
    TILES_NAME(look)(a, seen);
    TILES_NAME(look)(b, seen);
    for (int t = 0; t < SP_TILES_TERMS; t++) {
        __m512i word = (__m512i)_mm512_cvtne2ps_pbh(b, a);
        _mm512_storeu_si512((void *)(w[t] + row * SP_TILE), word);
        a = _mm512_sub_ps(
            a, _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(word)), 16)));
        b = _mm512_sub_ps(
            b, _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(word, 1)), 16)));
    }
}
#else
static inline __attribute__((always_inline)) void TILES_NAME(look)(const TILES_NAME(floats) * x, TILES_NAME(seen) * s)
{
    TILES_NAME(lanes) u = (TILES_NAME(lanes)) * x & 0x7FFFFFFFu, less = u - 1;
    TILES_NAME(lanes) above = (TILES_NAME(lanes))(u > s->largest), below = (TILES_NAME(lanes))(less < s->less);
    s->largest = (u & above) | (s->largest & ~above);
    s->less = (less & below) | (s->less & ~below);
}

/* Take the nearest bfloat16, ties to even, from x; *top has it as the float of the same value, x what is left, exactly. Not for NaN and what
 * rounds to infinity: those are found by their magnitude. */
static inline __attribute__((always_inline)) void TILES_NAME(take)(TILES_NAME(floats) * x, TILES_NAME(lanes) * top)
{
    TILES_NAME(lanes) u = (TILES_NAME(lanes)) * x;
    *top = (u + 0x7FFFu + ((u >> 16) & 1u)) & 0xFFFF0000u;
    *x -= (TILES_NAME(floats)) * top;
}

/* Two rows, each word from one of either: low half x, high half y. */
static inline __attribute__((always_inline)) void
TILES_NAME(split_across)(const float *x, const float *y, uint32_t *const *w, int row, TILES_NAME(seen) * seen)
{
    TILES_NAME(floats) a, b;
    TILES_NAME(lanes) first, second;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    TILES_NAME(look)(&a, seen);
    TILES_NAME(look)(&b, seen);
    for (int t = 0; t < SP_TILES_TERMS; t++) {
        TILES_NAME(take)(&a, &first);
        TILES_NAME(take)(&b, &second);
        first = first >> 16 | second;
        memcpy(w[t] + row * SP_TILE, &first, sizeof first);
    }
}

/* 32 elements of one row: the words are their upper halves, in order. */
static inline __attribute__((always_inline)) void TILES_NAME(split_along)(const float *x, uint32_t *const *w, int row,
                                                                          TILES_NAME(seen) * seen)
{
    TILES_NAME(floats) a, b;
    TILES_NAME(lanes) first, second;
    memcpy(&a, x, sizeof a);
    memcpy(&b, x + SP_TILE, sizeof b);
    TILES_NAME(look)(&a, seen);
    TILES_NAME(look)(&b, seen);
    for (int t = 0; t < SP_TILES_TERMS; t++) {
        TILES_NAME(take)(&a, &first);
        TILES_NAME(take)(&b, &second);
        /* the odd halves of both; __builtin_shuffle is not known to clang */
        TILES_NAME(halves)
        both = __builtin_shufflevector((TILES_NAME(halves))first, (TILES_NAME(halves))second, 1, 3, 5, 7, 9, 11, 13, 15,
                                       17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55,
                                       57, 59, 61, 63);
        memcpy(w[t] + row * SP_TILE, &both, sizeof both);
    }
}
#endif

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
            memcpy((char *)to + j * size, from + TILES_NAME(place)(s->outer_table, s->outer, first + j) * size,
                   (size_t)size);
    }
}

/* Words across: w[term][word][outer]. */
static void TILES_NAME(across)(const sp__tiles_source *s, int64_t first, int64_t n, int64_t k, uint32_t *const *w,
                               TILES_NAME(seen) * seen)
{
    bool run =
        n == SP_TILE &&
        (s->outer_table ? s->outer_table[first + SP_TILE - 1] - s->outer_table[first] == SP_TILE - 1 : s->outer == 1);
    const int64_t start = TILES_NAME(place)(s->outer_table, s->outer, first);
    const float *from = (const float *)s->data + start;
    /* Rows far apart are asked for a step ahead: the processor does not foresee them. Behind the last row that is in vain. */
    const int64_t ahead = s->k_table ? 0 : sp__tiles_step(s->dtype) * s->k;
    for (int i = 0; i < SP_TILE; i++) {
        if (s->dtype == SP_DTYPE_F32) {
            int64_t p = k + 2 * i;
            if (run && p + 1 < s->n_k) { /* a full pair of contiguous rows, the common case, is read in place */
                TILES_NAME(split_across)(from + TILES_NAME(place)(s->k_table, s->k, p),
                                         from + TILES_NAME(place)(s->k_table, s->k, p + 1), w, i, seen);
                continue;
            }
            float x[2][SP_TILE];
            for (int l = 0; l < 2; l++)
                if (p + l < s->n_k) TILES_NAME(fetch)(s, first, n, p + l, 4, x[l]);
                else memset(x[l], 0, sizeof x[l]);
            TILES_NAME(split_across)(x[0], x[1], w, i, seen);
        } else if (sp__tiles_size(s->dtype) == 2) {
            const uint16_t *row[2];
            uint16_t x[2][SP_TILE];
            for (int l = 0; l < 2; l++) {
                int64_t p = k + 2 * i + l;
                row[l] = x[l];
                if (p >= s->n_k) memset(x[l], 0, sizeof x[l]);
                else if (run) {
                    row[l] = (const uint16_t *)s->data + start + TILES_NAME(place)(s->k_table, s->k, p);
                    if (ahead) __builtin_prefetch(row[l] + ahead);
                } else TILES_NAME(fetch)(s, first, n, p, 2, x[l]);
            }
            for (int j = 0; j < SP_TILE; j++) w[0][i * SP_TILE + j] = (uint32_t)row[1][j] << 16 | row[0][j];
        } else {
            const uint8_t *row[4];
            uint8_t x[4][SP_TILE];
            for (int l = 0; l < 4; l++) {
                int64_t p = k + 4 * i + l;
                row[l] = x[l];
                if (p >= s->n_k) memset(x[l], 0, sizeof x[l]);
                else if (run) {
                    row[l] = (const uint8_t *)s->data + start + TILES_NAME(place)(s->k_table, s->k, p);
                    if (ahead) __builtin_prefetch(row[l] + ahead);
                } else TILES_NAME(fetch)(s, first, n, p, 1, x[l]);
            }
            for (int j = 0; j < SP_TILE; j++)
                w[0][i * SP_TILE + j] =
                    (uint32_t)row[3][j] << 24 | (uint32_t)row[2][j] << 16 | (uint32_t)row[1][j] << 8 | row[0][j];
        }
    }
}

/* Words along: w[term][outer][word]; K is contiguous. */
static void TILES_NAME(along)(const sp__tiles_source *s, int64_t first, int64_t n, int64_t k, uint32_t *const *w,
                              TILES_NAME(seen) * seen)
{
    int64_t left = s->n_k - k;
    int size = sp__tiles_size(s->dtype);
    int64_t step = sp__tiles_step(s->dtype), count = left < step ? left : step;
    for (int i = 0; i < SP_TILE; i++) {
        if (i >= n) {
            for (int t = 0; t < sp__tiles_terms(s->dtype); t++) memset(w[t] + i * SP_TILE, 0, 64);
            continue;
        }
        const char *from = (const char *)s->data + (TILES_NAME(place)(s->outer_table, s->outer, first + i) + k) * size;
        if (s->dtype != SP_DTYPE_F32) {
            if (count == step) {
                memcpy(w[0] + i * SP_TILE, from, 64);
                __builtin_prefetch(from + 256);
                continue;
            }
            memset(w[0] + i * SP_TILE, 0, 64);
            memcpy(w[0] + i * SP_TILE, from, (size_t)(count * size));
            continue;
        }
        if (count == step) {
            TILES_NAME(split_along)((const float *)(const void *)from, w, i, seen);
            continue;
        }
        float both[2 * SP_TILE] = {0};
        memcpy(both, from, (size_t)count * 4);
        TILES_NAME(split_along)(both, w, i, seen);
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

/* A row of words of either tile, from 32 columns of two rows of bfloat16, or of four rows of bytes. */
#if TILES_NATIVE
static inline void TILES_NAME(join_2)(const char *x, int64_t row, char *w)
{
    const __m512i pairs = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6,
                                           37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i r0 = _mm512_loadu_si512((const void *)x), r1 = _mm512_loadu_si512((const void *)(x + row));
    _mm512_store_si512((void *)w, _mm512_permutex2var_epi16(r0, pairs, r1));
    _mm512_store_si512((void *)(w + SP_TILE_BYTES),
                       _mm512_permutex2var_epi16(r0, _mm512_add_epi16(pairs, _mm512_set1_epi16(16)), r1));
}

/* Four columns of all rows come into each quarter, where bytes change places. */
static inline void TILES_NAME(join_4)(const char *x, int64_t row, char *w)
{
    const __m512i fours = _mm512_set_epi32(27, 19, 11, 3, 26, 18, 10, 2, 25, 17, 9, 1, 24, 16, 8, 0);
    const __m512i bytes = _mm512_set4_epi32(0x0F0B0703, 0x0E0A0602, 0x0D090501, 0x0C080400),
                  flip = _mm512_set1_epi8((char)TILES_FLIP);
    __m512i r01 = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)x)),
            r23 = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)(x + 2 * row)));
    r01 = _mm512_inserti64x4(r01, _mm256_loadu_si256((const void *)(x + row)), 1);
    r23 = _mm512_inserti64x4(r23, _mm256_loadu_si256((const void *)(x + 3 * row)), 1);
    const __m512i one = _mm512_permutex2var_epi32(r01, fours, r23);
    const __m512i two = _mm512_permutex2var_epi32(r01, _mm512_add_epi32(fours, _mm512_set1_epi32(4)), r23);
    _mm512_store_si512((void *)w, _mm512_xor_si512(_mm512_shuffle_epi8(one, bytes), flip));
    _mm512_store_si512((void *)(w + SP_TILE_BYTES), _mm512_xor_si512(_mm512_shuffle_epi8(two, bytes), flip));
}
#else
static inline void TILES_NAME(join)(const char *x, int64_t row, int size, char *w)
{
    for (int j = 0; j < SP_TILES_PANEL; j++)
        for (int l = 0; l < 4 / size; l++)
            memcpy(w + j / SP_TILE * SP_TILE_BYTES + j % SP_TILE * 4 + l * size, x + l * row + j * size, (size_t)size);
}
static inline void TILES_NAME(join_2)(const char *x, int64_t row, char *w) { TILES_NAME(join)(x, row, 2, w); }
static inline void TILES_NAME(join_4)(const char *x, int64_t row, char *w) { TILES_NAME(join)(x, row, 1, w); }
#endif

/* Panels of B, the common case: columns that lie side by side. Rows are read across all panels; down a single one every row is another line and soon another page.
 * Returns how many steps are done; a last one that is not whole is left. */
static int64_t TILES_NAME(rows_of_b)(const sp__tiles_source *s, int64_t first, int64_t panels, char *to)
{
    const int64_t size = sp__tiles_size(s->dtype), row = s->k * size,
                  panel_bytes = sp__tiles_panel_bytes(s->dtype, s->n_k);
    const int64_t steps = s->n_k / sp__tiles_step(s->dtype);
    const char *from = (const char *)s->data + first * size;
    for (int64_t i = 0; i < steps * SP_TILE; i++, from += 4 / size * row) {
        char *w = to + i / SP_TILE * 2 * SP_TILE_BYTES + i % SP_TILE * 64;
        for (int64_t j = 0; j < panels; j++, w += panel_bytes) {
            const char *x = from + j * SP_TILES_PANEL * size;
            if (size == 2) TILES_NAME(join_2)(x, row, w);
            else TILES_NAME(join_4)(x, row, w);
        }
    }
    return steps;
}

static inline void TILES_NAME(flip)(char *tile)
{
    for (int i = 0; i < SP_TILE_BYTES; i++) tile[i] = (char)(tile[i] ^ TILES_FLIP);
}

/* Step b of K of one panel. */
static void TILES_NAME(pack_step)(const sp__tiles_source *s, int64_t first, bool turned, int64_t b, char *to,
                                  TILES_NAME(seen) * seen)
{
    const int64_t steps = sp__tiles_steps(s->dtype, s->n_k), terms = sp__tiles_terms(s->dtype),
                  block = sp__tiles_block(s->dtype), step = sp__tiles_step(s->dtype);
    const bool along = s->k == 1 && !s->k_table, turns = along == turned;
    const int64_t start = b - b % block, n_steps = steps - start < block ? steps - start : block;
    for (int half = 0; half < 2; half++) {
        int64_t outer = first + half * SP_TILE, n = s->n - outer < SP_TILE ? s->n - outer : SP_TILE;
        char *tile = to + (start * terms * 2 + b % block * 2 + half) * SP_TILE_BYTES;
        if (n <= 0) {
            for (int64_t t = 0; t < terms; t++) memset(tile + t * n_steps * 2 * SP_TILE_BYTES, 0, SP_TILE_BYTES);
            continue;
        }
        /* Straight into the panel, or first beside it to be turned. */
        _Alignas(64) TILES_NAME(words) beside[SP_TILES_TERMS];
        uint32_t *w[SP_TILES_TERMS] = {NULL};
        for (int64_t t = 0; t < terms; t++)
            w[t] = turns ? &beside[t][0][0] : (uint32_t *)(void *)(tile + t * n_steps * 2 * SP_TILE_BYTES);
        if (along) TILES_NAME(along)(s, outer, n, b * step, w, seen);
        else TILES_NAME(across)(s, outer, n, b * step, w, seen);
        for (int64_t t = 0; turns && t < terms; t++)
            TILES_TURN(beside[t], (uint32_t *)(void *)(tile + t * n_steps * 2 * SP_TILE_BYTES));
        if (TILES_FLIP && turned && s->dtype == SP_DTYPE_I8) TILES_NAME(flip)(tile);
    }
}

/* Down the panels one by one where their elements lie along K; else step by step across all of them: rows of the next panel are in the same pages. */
static void TILES_NAME(pack)(const sp__tiles_source *s, int64_t first, int64_t panels, bool turned, char *to,
                             sp__tiles_range *range)
{
    const int64_t panel_bytes = sp__tiles_panel_bytes(s->dtype, s->n_k), whole = (s->n - first) / SP_TILES_PANEL;
    const bool plain =
        turned && s->outer == 1 && s->k != 1 && !s->k_table && !s->outer_table && s->dtype != SP_DTYPE_F32;
    const int64_t across = !plain ? 0 : whole < panels ? whole : panels;
    const int64_t done = across > 0 ? TILES_NAME(rows_of_b)(s, first, across, to) : 0;
    const int64_t steps = sp__tiles_steps(s->dtype, s->n_k), group = s->k == 1 && !s->k_table ? 1 : panels;
    TILES_NAME(seen) seen = {.less = ~(TILES_NAME(lanes)){0}};
    for (int64_t from = 0; from < panels; from += group)
        for (int64_t b = from < across && from + group <= across ? done : 0; b < steps; b++)
            for (int64_t i = from; i < from + group; i++)
                if (b >= (i < across ? done : 0))
                    TILES_NAME(pack_step)(s, first + i * SP_TILES_PANEL, turned, b, to + i * panel_bytes, &seen);
    if (s->dtype != SP_DTYPE_F32) return;
    uint32_t largest = 0, less = UINT32_MAX;
    for (int j = 0; j < SP_TILE; j++) {
        largest = seen.largest[j] > largest ? seen.largest[j] : largest;
        less = seen.less[j] < less ? seen.less[j] : less;
    }
    sp__tiles_widen(range, largest, less == UINT32_MAX ? less : less + 1);
}

/* 16 sums: to bfloat16, nearest, ties to even, NaN as casts write it; to int8, wrapping. */
static inline __attribute__((always_inline)) void TILES_NAME(round_16)(sp_dtype dtype, void *to, const void *sums)
{
    TILES_NAME(lanes) u;
    memcpy(&u, sums, sizeof u);
    if (dtype == SP_DTYPE_BF16) {
#if TILES_NATIVE
        const __m512i x = (__m512i)u, half = _mm512_srli_epi32(x, 16);
        const __m512i near = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(x, _mm512_set1_epi32(0x7FFF)),
                                                                _mm512_and_si512(half, _mm512_set1_epi32(1))),
                                               16);
        const __m512i nan =
            _mm512_or_si512(_mm512_and_si512(half, _mm512_set1_epi32(0x8000)), _mm512_set1_epi32(0x7FC0));
        const __mmask16 is_nan =
            _mm512_cmpgt_epu32_mask(_mm512_and_si512(x, _mm512_set1_epi32(0x7FFFFFFF)), _mm512_set1_epi32(0x7F800000));
        _mm256_storeu_si256(to, _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(near, is_nan, nan)));
#else
        typedef uint16_t narrow __attribute__((vector_size(32)));
        const TILES_NAME(lanes) top = u >> 16, near = (u + 0x7FFFu + (top & 1u)) >> 16, nan = (top & 0x8000u) | 0x7FC0u;
        const TILES_NAME(lanes) is_nan = (TILES_NAME(lanes))((u & 0x7FFFFFFFu) > 0x7F800000u);
        const narrow v = __builtin_convertvector((nan & is_nan) | (near & ~is_nan), narrow);
        memcpy(to, &v, sizeof v);
#endif
    } else {
        typedef uint8_t bytes __attribute__((vector_size(16)));
        const bytes v = __builtin_convertvector(u & 0xFFu, bytes);
        memcpy(to, &v, sizeof v);
    }
}

static void TILES_NAME(round_row)(sp_dtype dtype, int64_t n, void *to, const void *sums)
{
    const int64_t size = dtype == SP_DTYPE_BF16 ? 2 : 1;
    int64_t i = 0;
    for (; i + SP_TILE <= n; i += SP_TILE)
        TILES_NAME(round_16)(dtype, (char *)to + i * size, (const char *)sums + i * 4);
    if (i == n) return;
    uint32_t rest[SP_TILE] = {0};
    uint16_t made[SP_TILE];
    memcpy(rest, (const char *)sums + i * 4, (size_t)(n - i) * 4);
    TILES_NAME(round_16)(dtype, made, rest);
    memcpy((char *)to + i * size, made, (size_t)((n - i) * size));
}

static void TILES_NAME(round)(sp_dtype dtype, int64_t rows, int64_t n, void *to, int64_t to_row, const void *sums)
{
    const int64_t bytes = to_row * (dtype == SP_DTYPE_BF16 ? 2 : 1);
    if (n == SP_TILES_PANEL && dtype == SP_DTYPE_BF16) { /* the common case, without questions in between */
        for (int64_t i = 0; i < rows; i++)
            for (int j = 0; j < 2; j++)
                TILES_NAME(round_16)(SP_DTYPE_BF16, (char *)to + i * bytes + j * 32,
                                     (const char *)sums + i * SP_TILES_PANEL * 4 + j * 64);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        TILES_NAME(round_row)(dtype, n, (char *)to + i * bytes, (const char *)sums + i * SP_TILES_PANEL * 4);
}
