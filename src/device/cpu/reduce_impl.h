/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_impl.h - the part of rows_impl.h that reduces dtypes other than float32, and products.
 *
 * float64, integers and all products go through vectors of eight bytes a lane: doubles, or int64 for integers, which wrap as the narrower type
 * would when they are stored. Half precision is widened a block at a time and takes the kernels of float32. */
#include "base/scratch.h"

enum { REDUCE_CHUNK = 8192, HALF_BLOCK = 1024, HALF_ROWS = 16, HALF_COLUMNS = SP_REDUCE_HALF_COLUMNS };

static inline vl vl_set(int64_t x) { return (vl){0} + x; }
static inline vl vl_load(const int64_t *p)
{
    vl v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void vl_store(int64_t *p, vl v) { memcpy(p, &v, sizeof v); }
typedef int32_t vi_half __attribute__((vector_size(sizeof(vl) / 2)));
static inline vl vl_load_i32(const int32_t *p)
{
    vi_half v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, vl);
}
typedef float vf_half __attribute__((vector_size(sizeof(vd) / 2)));
static inline vd vd_load_f32(const float *p)
{
    vf_half v;
    memcpy(&v, p, sizeof v);
    return (vd) __builtin_convertvector(v, vd);
}

/* How two are joined, in vectors and alone; NaN wins, once it is there. */
static inline vd vd_plus(vd a, vd x) { return a + x; }
static inline vd vd_times(vd a, vd x) { return a * x; }
static inline vd vd_most(vd a, vd x) { return vd_select(vdm_lt(a, x) | (vdm)~vdm_eq(x, x), x, a); }
static inline vd vd_least(vd a, vd x) { return vd_select(vdm_lt(x, a) | (vdm)~vdm_eq(x, x), x, a); }
static inline vl vl_plus(vl a, vl x) { return a + x; }
static inline vl vl_times(vl a, vl x) { return a * x; }
static inline vl vl_choose(vl mask, vl a, vl b) { return (a & mask) | (b & ~mask); }
static inline vl vl_most(vl a, vl x) { return vl_choose(x > a, x, a); }
static inline vl vl_least(vl a, vl x) { return vl_choose(x < a, x, a); }
static inline double d_plus(double a, double x) { return a + x; }
static inline double d_times(double a, double x) { return a * x; }
static inline double d_most(double a, double x) { return x > a || x != x ? x : a; }
static inline double d_least(double a, double x) { return x < a || x != x ? x : a; }
static inline int64_t l_plus(int64_t a, int64_t x) { return a + x; }
static inline int64_t l_times(int64_t a, int64_t x) { return a * x; }
static inline int64_t l_most(int64_t a, int64_t x) { return x > a ? x : a; }
static inline int64_t l_least(int64_t a, int64_t x) { return x < a ? x : a; }

/* A: double or int64_t, as `v` (vd or vl) holds them and `s` (d or l) joins them; T: what lies in memory. */
#define WIDE_REDUCE(name, T, A, v, s, load, join, start)                                                               \
    static void name##_wide_row(int64_t n, sp__reduced *out, const void *from)                                         \
    {                                                                                                                  \
        const T *x = from;                                                                                             \
        A total = start;                                                                                               \
        for (int64_t end; n > 0; n -= end, x += end) {                                                                 \
            end = n < REDUCE_CHUNK ? n : REDUCE_CHUNK;                                                                 \
            v s0 = v##_set(start), s1 = s0, s2 = s0, s3 = s0;                                                          \
            int64_t i = 0;                                                                                             \
            for (; i + 4 * DOUBLES <= end; i += 4 * DOUBLES) {                                                         \
                s0 = v##_##join(s0, load(x + i));                                                                      \
                s1 = v##_##join(s1, load(x + i + DOUBLES));                                                            \
                s2 = v##_##join(s2, load(x + i + 2 * DOUBLES));                                                        \
                s3 = v##_##join(s3, load(x + i + 3 * DOUBLES));                                                        \
            }                                                                                                          \
            for (; i + DOUBLES <= end; i += DOUBLES) s0 = v##_##join(s0, load(x + i));                                 \
            A lanes[DOUBLES];                                                                                          \
            v##_store(lanes, v##_##join(v##_##join(s0, s1), v##_##join(s2, s3)));                                      \
            for (int k = 0; k < DOUBLES; k++) total = s##_##join(total, lanes[k]);                                     \
            for (; i < end; i++) total = s##_##join(total, (A)x[i]);                                                   \
        }                                                                                                              \
        memcpy(out, &total, sizeof total);                                                                             \
    }                                                                                                                  \
    static void name##_wide_columns(int64_t rows, int64_t step, int64_t w, void *to, const void *from)                 \
    {                                                                                                                  \
        A *out = to;                                                                                                   \
        const T *x = from;                                                                                             \
        for (int64_t k = 0; k < w; k++) out[k] = (A)x[k];                                                              \
        for (int64_t r = 1, few; r < rows; r += few) { /* up to four rows on the way through */                        \
            const T *p = x + r * step;                                                                                 \
            few = rows - r < 4 ? 1 : 4;                                                                                \
            int64_t k = 0;                                                                                             \
            for (; k + DOUBLES <= w; k += DOUBLES) {                                                                   \
                v sum = v##_##join(v##_load(out + k), load(p + k));                                                    \
                if (few == 4) {                                                                                        \
                    sum = v##_##join(sum, load(p + step + k));                                                         \
                    sum = v##_##join(sum, load(p + 2 * step + k));                                                     \
                    sum = v##_##join(sum, load(p + 3 * step + k));                                                     \
                }                                                                                                      \
                v##_store(out + k, sum);                                                                               \
            }                                                                                                          \
            for (; k < w; k++)                                                                                         \
                for (int64_t i = 0; i < few; i++) out[k] = s##_##join(out[k], (A)p[i * step + k]);                     \
        }                                                                                                              \
    }
WIDE_REDUCE(times_f32, float, double, vd, d, vd_load_f32, times, 1)
/* clang-format off */
#define WIDE_REDUCES(kind, T, A, v, s, load, low, high)                                                                \
    WIDE_REDUCE(plus_##kind, T, A, v, s, load, plus, 0)                                                                \
    WIDE_REDUCE(times_##kind, T, A, v, s, load, times, 1)                                                              \
    WIDE_REDUCE(most_##kind, T, A, v, s, load, most, low)                                                              \
    WIDE_REDUCE(least_##kind, T, A, v, s, load, least, high)
/* clang-format on */
#define AS_DOUBLE(x) vd_load(x)
WIDE_REDUCES(f64, double, double, vd, d, AS_DOUBLE, -INFINITY, INFINITY)
WIDE_REDUCES(i64, int64_t, int64_t, vl, l, vl_load, INT64_MIN, INT64_MAX)
WIDE_REDUCES(i32, int32_t, int64_t, vl, l, vl_load_i32, INT64_MIN, INT64_MAX)

/* float32, with the kernels that are there. */
static void plus_f32_row(int64_t n, sp__reduced *out, const void *x) { out->d = sum(n, x); }
static void most_f32_row(int64_t n, sp__reduced *out, const void *x) { out->d = (double)most(n, x); }
static void least_f32_row(int64_t n, sp__reduced *out, const void *x) { out->d = (double)least(n, x); }
static void plus_f32_columns(int64_t rows, int64_t step, int64_t w, void *out, const void *x)
{
    sum_columns(rows, step, w, out, x);
}
static void most_f32_columns(int64_t rows, int64_t step, int64_t w, void *out, const void *x)
{
    most_columns(rows, step, w, out, x);
}
static void least_f32_columns(int64_t rows, int64_t step, int64_t w, void *out, const void *x)
{
    least_columns(rows, step, w, out, x);
}

/* Half precision: R is what the columns of float32's kernel hold. */
#define HALF_REDUCE(half, T, join, R, f32_row, f32_columns)                                                            \
    static void join##_##half##_row(int64_t n, sp__reduced *out, const void *from)                                     \
    {                                                                                                                  \
        float block[HALF_BLOCK];                                                                                       \
        const T *x = from;                                                                                             \
        for (int64_t at = 0; at < n; at += HALF_BLOCK) {                                                               \
            const int64_t m = n - at < HALF_BLOCK ? n - at : HALF_BLOCK;                                               \
            sp__reduced part;                                                                                          \
            vec_from_##half(m, block, x + at);                                                                         \
            f32_row(m, &part, block);                                                                                  \
            out->d = at == 0 ? part.d : d_##join(out->d, part.d);                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static void join##_##half##_columns(int64_t rows, int64_t step, int64_t w, void *to, const void *from)             \
    {                                                                                                                  \
        float *const block = sp__scratch_take(HALF_ROWS * HALF_COLUMNS * sizeof *block);                               \
        R *const part = sp__scratch_take(HALF_COLUMNS * sizeof *part), *out = to;                                      \
        for (int64_t r = 0; r < rows; r += HALF_ROWS) {                                                                \
            const int64_t m = rows - r < HALF_ROWS ? rows - r : HALF_ROWS;                                             \
            for (int64_t i = 0; i < m; i++) vec_from_##half(w, block + i * w, (const T *)from + (r + i) * step);       \
            f32_columns(m, w, w, r ? part : out, block);                                                               \
            for (int64_t k = 0; r && k < w; k++) out[k] = (R)d_##join((double)out[k], (double)part[k]);                \
        }                                                                                                              \
        sp__scratch_give(block);                                                                                       \
    }
/* clang-format off */
#define HALF_REDUCES(half, T)                                                                                          \
    HALF_REDUCE(half, T, plus, float, plus_f32_row, plus_f32_columns)                                                  \
    HALF_REDUCE(half, T, most, float, most_f32_row, most_f32_columns)                                                  \
    HALF_REDUCE(half, T, least, float, least_f32_row, least_f32_columns)                                               \
    HALF_REDUCE(half, T, times, double, times_f32_wide_row, times_f32_wide_columns)
/* clang-format on */
HALF_REDUCES(f16, sp_f16)
HALF_REDUCES(bf16, sp_bf16)

/* Squares, rounded to the dtype as the operator does, and summed as the sum of the dtype does. */
static void squares_f32_row(int64_t n, sp__reduced *out, const void *from)
{
    float *const block = sp__scratch_take(SUM_BLOCK * sizeof *block);
    const float *x = from;
    out->d = 0;
    for (int64_t at = 0; at < n; at += SUM_BLOCK) {
        const int64_t m = n - at < SUM_BLOCK ? n - at : SUM_BLOCK;
        int64_t i = 0;
        for (; i + LANES <= m; i += LANES) vf_store(block + i, vf_load(x + at + i) * vf_load(x + at + i));
        for (; i < m; i++) block[i] = x[at + i] * x[at + i];
        out->d += sum(m, block);
    }
    sp__scratch_give(block);
}
#define HALF_SQUARES(half, T)                                                                                          \
    static void squares_##half##_row(int64_t n, sp__reduced *out, const void *from)                                    \
    {                                                                                                                  \
        float block[HALF_BLOCK];                                                                                       \
        const T *x = from;                                                                                             \
        out->d = 0;                                                                                                    \
        for (int64_t at = 0; at < n; at += HALF_BLOCK) {                                                               \
            const int64_t m = n - at < HALF_BLOCK ? n - at : HALF_BLOCK;                                               \
            memset(block + m / LANES * LANES, 0, (size_t)(HALF_BLOCK - m / LANES * LANES) * sizeof *block);            \
            vec_from_##half(m, block, x + at);                                                                         \
            for (int64_t i = 0; i < m; i += LANES)                                                                     \
                vf_store(block + i, vf_round_##half(vf_load(block + i) * vf_load(block + i)));                         \
            out->d += sum(m, block);                                                                                   \
        }                                                                                                              \
    }
HALF_SQUARES(f16, sp_f16)
HALF_SQUARES(bf16, sp_bf16)

#define REDUCE_KERNELS(join)                                                                                           \
    {                                                                                                                  \
        [SP_REDUCE_F16] = {join##_f16_row, join##_f16_columns},                                                        \
        [SP_REDUCE_BF16] = {join##_bf16_row, join##_bf16_columns},                                                     \
        [SP_REDUCE_F64] = {join##_f64_wide_row, join##_f64_wide_columns},                                              \
        [SP_REDUCE_I64] = {join##_i64_wide_row, join##_i64_wide_columns},                                              \
        [SP_REDUCE_I32] = {join##_i32_wide_row, join##_i32_wide_columns}, [SP_REDUCE_F32] =
#define REDUCE_TABLE                                                                                                   \
    {[SP_REDUCE_SUM] = REDUCE_KERNELS(plus){plus_f32_row, plus_f32_columns}}, [SP_REDUCE_PRODUCT] =                    \
                                                                                  REDUCE_KERNELS(times)                \
    {                                                                                                                  \
        times_f32_wide_row, times_f32_wide_columns                                                                     \
    }                                                                                                                  \
    }                                                                                                                  \
    , [SP_REDUCE_MOST] = REDUCE_KERNELS(most) { most_f32_row, most_f32_columns }                                       \
    }                                                                                                                  \
    , [SP_REDUCE_LEAST] = REDUCE_KERNELS(least) { least_f32_row, least_f32_columns }                                   \
    }                                                                                                                  \
    ,                                                                                                                  \
        [SP_REDUCE_SQUARES] = {[SP_REDUCE_F32] = {squares_f32_row, NULL},                                              \
                               [SP_REDUCE_F16] = {squares_f16_row, NULL},                                              \
                               [SP_REDUCE_BF16] = {squares_bf16_row, NULL}},                                           \
    }
