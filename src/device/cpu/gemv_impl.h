/* SPDX-License-Identifier: Apache-2.0 */
/* gemv_impl.h - the kernels of gemv.h, made for the instruction set of the file that includes this one, which defines GEMV_TABLE and GEMV_NAME.
 *
 * A register block is rows of x by columns of B, each with one sum: so many that the sums need not wait for each other. More than four rows go through the
 * same part of B a second time, out of a near cache. */
#include "device/cpu/gemv.h"
#include "device/cpu/vec.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")
enum {
    AT_A_TIME = 4,       /* rows of x */
    COLUMNS = 8,         /* the most that a block of dots has */
    VECTORS = 4,         /* and a block of sums */
    DEPTH = 8,           /* rows of B that are added at a time */
    DOTS_COLUMNS = 12,   /* columns, */
    SUMS_DEPTH = 16,     /* and rows of B, that all rows of x go through before the next */
    AHEAD_BYTES = 2048,  /* so far ahead memory is asked for, */
    FAR_BYTES = 1 << 17, /* if the next block is further away */
    SECOND_CACHE = 2,    /* where it is wanted */
};

/* Elements between a column and what is asked for when it is read: the columns behind this block, or, if they are far away, its own. */
INLINE int64_t ask_ahead(int64_t next, size_t size)
{
    return next * (int64_t)size <= FAR_BYTES ? next : AHEAD_BYTES / (int64_t)size;
}

/* DEPTH columns of x. */
static __attribute__((noinline)) void gather(int rows, int depth, const float *x, int64_t x_row, int64_t x_step,
                                             float to[AT_A_TIME][DEPTH])
{
    for (int i = 0; i < rows; i++)
        for (int d = 0; d < depth; d++) to[i][d] = x[i * x_row + d * x_step];
}

/* --- floats --------------------------------------------------------------------------------------------------------- */

#define T float
#define NAME(x) x##_f32
#define LOAD(p) vf_load(p)
#define LOAD_N(p, n) vf_load_n(p, n)
#include "device/cpu/gemv_floats.h"

INLINE vf load_some_f16(const sp_f16 *p, int64_t n)
{
    sp_f16 some[LANES];
    memset(some, 0, sizeof some);
    memcpy(some, p, (size_t)n * sizeof *p);
    return vf_load_f16(some);
}
#define T sp_f16
#define NAME(x) x##_f16
#define LOAD(p) vf_load_f16(p)
#define LOAD_N(p, n) load_some_f16(p, n)
#include "device/cpu/gemv_floats.h"

INLINE vf load_some_bf16(const sp_bf16 *p, int64_t n)
{
    sp_bf16 some[LANES];
    memset(some, 0, sizeof some);
    memcpy(some, p, (size_t)n * sizeof *p);
    return vf_load_bf16(some);
}
#define T sp_bf16
#define NAME(x) x##_bf16
#define LOAD(p) vf_load_bf16(p)
#define LOAD_N(p, n) load_some_bf16(p, n)
#include "device/cpu/gemv_floats.h"

/* --- bytes ---------------------------------------------------------------------------------------------------------- */

#if defined(__AVX2__)
INLINE int32_t sum_i32(__m256i v)
{
    __m128i x = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xB1)));
}

static __attribute__((noinline)) void dots_tail_bytes(int rows, int columns, int64_t k, const int16_t *x, int64_t x_row,
                                                      const int8_t *b, int64_t b_step, int32_t *y, int64_t y_row)
{
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            uint32_t sum = (uint32_t)y[i * y_row + j];
            for (int64_t p = 0; p < k; p++) sum += (uint32_t)(x[i * x_row + p] * b[j * b_step + p]);
            y[i * y_row + j] = (int32_t)sum;
        }
}

/* Pairs of 16 bits: 2^15 * 2^7 * 2 fits in 32. */
INLINE void dots_bytes(const int rows, const int columns, int64_t k, const int16_t *x, int64_t x_row, const int8_t *b,
                       int64_t b_step, int32_t *y, int64_t y_row)
{
    const int64_t ahead = ask_ahead(columns * b_step, 1);
    __m256i sum[AT_A_TIME][COLUMNS];
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < columns; j++) sum[i][j] = _mm256_setzero_si256();
    int64_t p = 0;
    for (; p + 16 <= k; p += 16) {
        if (p % 64 == 0)
            UNROLL for (int j = 0; j < columns; j++) __builtin_prefetch(b + j * b_step + p + ahead, 0, SECOND_CACHE);
        UNROLL for (int j = 0; j < columns; j++)
        {
            const __m256i w = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)(b + j * b_step + p)));
            UNROLL for (int i = 0; i < rows; i++) sum[i][j] = _mm256_add_epi32(
                sum[i][j], _mm256_madd_epi16(_mm256_loadu_si256((const void *)(x + i * x_row + p)), w));
        }
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < columns; j++) y[i * y_row + j] =
        sum_i32(sum[i][j]);
    if (p < k) dots_tail_bytes(rows, columns, k - p, x + p, x_row, b + p, b_step, y, y_row);
}
#else
INLINE void dots_bytes(const int rows, const int columns, int64_t k, const int16_t *x, int64_t x_row, const int8_t *b,
                       int64_t b_step, int32_t *y, int64_t y_row)
{
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            uint32_t sum = 0;
            for (int64_t p = 0; p < k; p++) sum += (uint32_t)(x[i * x_row + p] * b[j * b_step + p]);
            y[i * y_row + j] = (int32_t)sum;
        }
}
#endif

INLINE void dots_some_bytes(const int rows, const int columns, const sp__gemv_part *part, int first, int64_t from,
                            int64_t to)
{
    const int16_t *x = (const int16_t *)part->x + first * part->x_row;
    const int8_t *b = part->b;
    int32_t *y = (int32_t *)part->y + first * part->y_row;
    int64_t j = from;
    for (; j + columns <= to; j += columns)
        dots_bytes(rows, columns, part->k, x, part->x_row, b + j * part->b_step, part->b_step, y + j, part->y_row);
    for (; j < to; j++) dots_bytes(rows, 1, part->k, x, part->x_row, b + j * part->b_step, 0, y + j, part->y_row);
}

static void dots_i8(const sp__gemv_part *part)
{
    const int64_t step = part->rows > AT_A_TIME ? DOTS_COLUMNS : part->n;
    for (int64_t from = 0; from < part->n; from += step) {
        const int64_t to = part->n - from < step ? part->n : from + step;
        for (int first = 0; first < part->rows; first += AT_A_TIME) switch (part->rows - first) {
            case 1: dots_some_bytes(1, 8, part, first, from, to); break;
            case 2: dots_some_bytes(2, 4, part, first, from, to); break;
            case 3: dots_some_bytes(3, 3, part, first, from, to); break;
            default: dots_some_bytes(4, 3, part, first, from, to);
            }
    }
}

/* Rows of B [from, to), one after the other, columns from j on. */
static void sums_plain(const sp__gemv_part *part, int64_t from, int64_t to, int64_t j)
{
    const int16_t *x = part->x;
    for (int64_t p = from; p < to; p++) {
        const int8_t *restrict b = (const int8_t *)part->b + p * part->b_step;
        for (int i = 0; i < part->rows; i++) {
            const int32_t v = x[i * part->x_row + p * part->x_step];
            uint32_t *restrict y = (uint32_t *)part->y + i * part->y_row;
            for (int64_t at = j; at < part->n; at++) y[at] += (uint32_t)(v * b[at]);
        }
    }
}

#if defined(__AVX2__)
/* DEPTH rows of B from p on, two at a time, for `rows` rows of x from `first` on. Tells how many columns it did: sixteens. */
INLINE int64_t sums_bytes(const int rows, const sp__gemv_part *part, int first, int64_t p)
{
    const int64_t step = part->b_step;
    const int8_t *b = (const int8_t *)part->b + p * step;
    int32_t xs[AT_A_TIME][DEPTH / 2];
    for (int i = 0; i < rows; i++)
        for (int d = 0; d < DEPTH / 2; d++) {
            const int16_t *x = (const int16_t *)part->x + (first + i) * part->x_row + (p + 2 * d) * part->x_step,
                          pair[2] = {x[0], x[part->x_step]};
            memcpy(&xs[i][d], pair, 4);
        }
    int64_t j = 0;
    for (; j + 16 <= part->n; j += 16) {
        int32_t *y = (int32_t *)part->y + first * part->y_row + j;
        __m256i low[AT_A_TIME], high[AT_A_TIME];
        UNROLL for (int i = 0; i < rows; i++)
        {
            low[i] = _mm256_loadu_si256((const void *)(y + i * part->y_row));
            high[i] = _mm256_loadu_si256((const void *)(y + i * part->y_row + 8));
        }
        UNROLL for (int d = 0; d < DEPTH / 2; d++)
        {
            const __m128i even = _mm_loadu_si128((const void *)(b + 2 * d * step + j)),
                          odd = _mm_loadu_si128((const void *)(b + (2 * d + 1) * step + j));
            const __m256i w[2] = {_mm256_cvtepi8_epi16(_mm_unpacklo_epi8(even, odd)),
                                  _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(even, odd))};
            UNROLL for (int i = 0; i < rows; i++)
            {
                const __m256i x = _mm256_set1_epi32(xs[i][d]);
                low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(x, w[0]));
                high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(x, w[1]));
            }
        }
        UNROLL for (int i = 0; i < rows; i++)
        {
            _mm256_storeu_si256((void *)(y + i * part->y_row), low[i]);
            _mm256_storeu_si256((void *)(y + i * part->y_row + 8), high[i]);
        }
    }
    return j;
}

static int64_t sums_deep(const sp__gemv_part *part, int64_t p)
{
    int64_t done = 0;
    for (int first = 0; first < part->rows; first += AT_A_TIME) switch (part->rows - first) {
        case 1: done = sums_bytes(1, part, first, p); break;
        case 2: done = sums_bytes(2, part, first, p); break;
        case 3: done = sums_bytes(3, part, first, p); break;
        default: done = sums_bytes(4, part, first, p);
        }
    return done;
}
#else
static int64_t sums_deep(const sp__gemv_part *part, int64_t p)
{
    (void)part, (void)p;
    return 0;
}
#endif

static void sums_i8(const sp__gemv_part *part)
{
    int64_t p = 0;
    for (int i = 0; i < part->rows; i++) memset((int32_t *)part->y + i * part->y_row, 0, (size_t)part->n * 4);
    for (; p + DEPTH <= part->k; p += DEPTH) {
        const int64_t done = sums_deep(part, p);
        if (done < part->n) sums_plain(part, p, p + DEPTH, done);
    }
    sums_plain(part, p, part->k, 0);
}

const sp__gemv_kernels GEMV_TABLE = {
    .name = GEMV_NAME,
    .dots = {dots_f32, dots_f16, dots_bf16, dots_i8},
    .sums = {sums_f32, sums_f16, sums_bf16, sums_i8},
};
