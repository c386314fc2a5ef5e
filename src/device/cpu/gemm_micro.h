/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_micro.h - the inner kernels of the matrix product, written once over a few vector macros and included per
 * instruction set and dtype:
 *
 *   ISA                 what people call the instructions (stays defined)
 *   MICRO_NAME(x)       name with the suffix of this instance     T, V, LANES     element, vector, elements of a vector
 *   ROWS                rows of the register block (two vectors wide)              K_BLOCK
 *   BLOCKS              1: also instances that know the distances of positions in blocks of 16 channels, and of strides; 0: no
 *   POINTS              rows of the register block of convolution, whose other operand needs no register
 *   V_TURN(p, step, to) optional: a square of LANES rows, `step` apart, transposed into rows 2 * LANES apart
 *   V_STORE_PART(p, v, n) optional: the first n < LANES elements
 *   V_LOAD(p) V_STORE(p, v) V_SPLAT(x) V_ZERO() V_FMA(a, b, c)  a * b + c         V_LOAD_PART(p, n) zeros behind n < LANES
 *
 * Each row block has its own instance because the accumulators must live in registers: indices have to be constants. */
#include <string.h>

#include "device/cpu/winograd.h"

#ifndef V_STORE_PART
static inline void MICRO_NAME(store_part)(T *p, V v, int64_t n)
{
    T lane[LANES];
    V_STORE(lane, v);
    for (int64_t l = 0; l < n; l++) p[l] = lane[l];
}
#define V_STORE_PART(p, v, n) MICRO_NAME(store_part)(p, v, n)
#endif

/* Statements for each row of the register block. Written out, because loops over rows are unrolled only after the compiler has decided what lives in
 * registers: sums then went to the stack and back around the loop over K, which took as long as some steps of it. */
#define EACH_ROW(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11)
#define EACH_POINT(x) EACH_ROW(x) x(12) x(13)
#define ROW_CLEAR(i)                                                                                                   \
    if (i < rows) {                                                                                                    \
        acc[i][0] = V_ZERO();                                                                                          \
        if (vectors == 2) acc[i][1] = V_ZERO();                                                                        \
    }
#define ROW_ASK(i) /* C is wanted at the end only: ask for it at the beginning */                                      \
    if (i < rows) {                                                                                                    \
        __builtin_prefetch(c + (i) * c_row, 1);                                                                        \
        if (vectors == 2) __builtin_prefetch(c + (i) * c_row + LANES, 1);                                              \
    }
#define ROW_FMA(i, value)                                                                                              \
    if (i < rows) {                                                                                                    \
        const V av = V_SPLAT(value);                                                                                   \
        acc[i][0] = V_FMA(av, bv[0], acc[i][0]);                                                                       \
        if (vectors == 2) acc[i][1] = V_FMA(av, bv[1], acc[i][1]);                                                     \
    }
#define ROW_ADD(i)                                                                                                     \
    if (i < rows) {                                                                                                    \
        acc[i][0] = V_ADD(V_LOAD(c + (i) * c_row), acc[i][0]);                                                         \
        if (vectors == 2) acc[i][1] = V_ADD(V_LOAD(c + (i) * c_row + LANES), acc[i][1]);                               \
    }
#define ROW_STORE(i)                                                                                                   \
    if (i < rows) {                                                                                                    \
        V_STORE(c + (i) * c_row, acc[i][0]);                                                                           \
        if (vectors == 2) V_STORE(c + (i) * c_row + LANES, acc[i][1]);                                                 \
    }
#define ROW_STORE_PART(i) /* the last vector has `last` elements */                                                    \
    if (i < rows) {                                                                                                    \
        T *to = c + (i) * c_row + (vectors - 1) * LANES;                                                               \
        if (vectors == 2)                                                                                              \
            V_STORE(c + (i) * c_row, accumulate ? V_ADD(V_LOAD(c + (i) * c_row), acc[i][0]) : acc[i][0]);              \
        V_STORE_PART(to, accumulate ? V_ADD(V_LOAD_PART(to, last), acc[i][vectors - 1]) : acc[i][vectors - 1], last);  \
    }

static inline __attribute__((always_inline)) void MICRO_NAME(block)(const int rows, const int vectors, const bool part,
                                                                    int64_t k, const T *a, int64_t a_row, int64_t a_col,
                                                                    const T *b, int64_t b_row, const int64_t *offsets,
                                                                    T *c, int64_t c_row, int64_t n, bool accumulate)
{
    V acc[SP_GEMM_ROWS][2];
    EACH_ROW(ROW_CLEAR)
    EACH_ROW(ROW_ASK)
    const int64_t last = n - (vectors - 1) * LANES; /* valid elements of the last vector */
#pragma GCC unroll 4
    for (int64_t p = 0; p < k; p++) {
        V bv[2];
        const T *row = offsets ? b + offsets[p] : b;
        bv[0] = part && vectors == 1 ? V_LOAD_PART(row, last) : V_LOAD(row);
        if (vectors == 2) bv[1] = part ? V_LOAD_PART(row + LANES, last) : V_LOAD(row + LANES);
#define STEP(i) ROW_FMA(i, a[(i) * a_row])
        EACH_ROW(STEP)
#undef STEP
        a += a_col;
        b += b_row;
    }
    if (last < LANES) {
        EACH_ROW(ROW_STORE_PART)
        return;
    }
    if (accumulate) {
        EACH_ROW(ROW_ADD)
    }
    EACH_ROW(ROW_STORE)
}

/* The full width, with an eye on memory: see sp__gemm_ahead. The same sums in the same order. `along`: rows of A lie along K. No prefetcher follows that
 * many rows at once, so each of them is asked for some lines on, one row a step, and at their ends the rows below them. `keep`: what comes by of A or B
 * is stored in panels at `kept`, see sp__gemm_keep; it is asked for some steps before, as its rows are far apart. */
enum { MICRO_NAME(KEEP_NONE), MICRO_NAME(KEEP_A), MICRO_NAME(KEEP_B) };
static inline __attribute__((always_inline)) void MICRO_NAME(watchful)(const int rows, const bool along, const int keep,
                                                                       int64_t k, const T *a, int64_t a_row,
                                                                       int64_t a_col, const T *b, int64_t b_row, T *c,
                                                                       int64_t c_row, bool accumulate,
                                                                       const char *ahead, int64_t ahead_step, T *kept)
{
    enum { LINE = 64 / sizeof(T), LOOK = 3 * LINE, STEPS = 24 };
    enum { vectors = 2 };
    V acc[SP_GEMM_ROWS][2];
    EACH_ROW(ROW_CLEAR)
    EACH_ROW(ROW_ASK)
    /* Three rows to a pointer: one register of strides then serves all. */
    const T *group[4] = {a, a + 3 * a_row, a + 6 * a_row, a + 9 * a_row}, *soon = a + LOOK;
    int64_t turn = 0;
#pragma GCC unroll 4
    for (int64_t p = 0; p < k; p++) {
        __builtin_prefetch(ahead);
        if (along && rows > 2) {
            __builtin_prefetch(soon + p + turn);
            turn = p % LINE == LINE - 1 ? 0 : p % LINE < rows - 1 ? turn + a_row : turn;
            soon += p == k - LOOK ? rows * a_row - k : 0;
        }
        const V bv[2] = {V_LOAD(b), V_LOAD(b + LANES)};
        if (keep == MICRO_NAME(KEEP_B)) {
            V_STORE(kept, bv[0]);
            V_STORE(kept + LANES, bv[1]);
            kept += 2 * LANES;
            __builtin_prefetch(b + STEPS * b_row);
            __builtin_prefetch(b + STEPS * b_row + LANES);
        }
        if (keep == MICRO_NAME(KEEP_A)) {
            memcpy(kept, group[0], ROWS * sizeof(T));
            kept += ROWS;
            __builtin_prefetch(group[0] +
                               (p < k - STEPS ? STEPS * a_col + ROWS - 1 : (STEPS - k) * a_col + 2 * ROWS - 1));
        }
#define STEP(i) ROW_FMA(i, group[(i) / 3][(i) % 3 * a_row])
        EACH_ROW(STEP)
#undef STEP
        group[0] += a_col, group[1] += a_col, group[2] += a_col, group[3] += a_col;
        b += b_row;
        ahead += ahead_step;
    }
    if (accumulate) {
        EACH_ROW(ROW_ADD)
    }
    EACH_ROW(ROW_STORE)
}

#define AHEAD_ONE(r)                                                                                                   \
    static void MICRO_NAME(ahead_##r)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b,           \
                                      int64_t b_row, void *c, int64_t c_row, bool accumulate, const char *ahead,       \
                                      int64_t ahead_step)                                                              \
    {                                                                                                                  \
        const int none = MICRO_NAME(KEEP_NONE);                                                                        \
        if (a_row == 1 && a_col == ROWS && b_row == 2 * LANES)                                                         \
            MICRO_NAME(watchful)(r, false, none, k, a, 1, ROWS, b, 2 * LANES, c, c_row, accumulate, ahead, ahead_step, \
                                 NULL);                                                                                \
        else if (a_col == 1)                                                                                           \
            MICRO_NAME(watchful)(r, true, none, k, a, a_row, 1, b, b_row, c, c_row, accumulate, ahead, ahead_step,     \
                                 NULL);                                                                                \
        else                                                                                                           \
            MICRO_NAME(watchful)(r, false, none, k, a, a_row, a_col, b, b_row, c, c_row, accumulate, ahead,            \
                                 ahead_step, NULL);                                                                    \
    }                                                                                                                  \
    static void MICRO_NAME(keep_b_##r)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b,          \
                                       int64_t b_row, void *c, int64_t c_row, bool accumulate, const char *ahead,      \
                                       int64_t ahead_step, void *kept)                                                 \
    {                                                                                                                  \
        const int keep = MICRO_NAME(KEEP_B);                                                                           \
        if (a_col == 1)                                                                                                \
            MICRO_NAME(watchful)(r, true, keep, k, a, a_row, 1, b, b_row, c, c_row, accumulate, ahead, ahead_step,     \
                                 kept);                                                                                \
        else                                                                                                           \
            MICRO_NAME(watchful)(r, false, keep, k, a, a_row, a_col, b, b_row, c, c_row, accumulate, ahead,            \
                                 ahead_step, kept);                                                                    \
    }

static void MICRO_NAME(keep_a)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b, int64_t b_row,
                               void *c, int64_t c_row, bool accumulate, const char *ahead, int64_t ahead_step,
                               void *kept)
{
    (void)a_row;
    MICRO_NAME(watchful)(ROWS, false, MICRO_NAME(KEEP_A), k, a, 1, a_col, b, b_row, c, c_row, accumulate, ahead,
                         ahead_step, kept);
}

/* Gradient of the weights: positions are summed over, so they are the inner loop, one broadcast per row. */
static inline __attribute__((always_inline)) void MICRO_NAME(correlate)(const int rows, const int vectors,
                                                                        const sp__gemm_span *span, const T *x,
                                                                        const int64_t *offsets, const T *b, T *tile)
{
    V acc[SP_GEMM_ROWS][2];
    const T *from[ROWS];
    for (int i = 0; i < rows; i++) from[i] = x + offsets[i];
    EACH_ROW(ROW_CLEAR)
    for (int64_t d = 0; d < span->n[0]; d++) {
        for (int64_t h = 0; h < span->n[1]; h++) {
            int64_t at = d * span->step[0] + h * span->step[1], step = span->step[2], n = span->n[2];
#pragma GCC unroll 2
            for (int64_t w = 0; w < n; w++, at += step, b += 2 * LANES) {
                V bv[2];
                bv[0] = V_LOAD(b);
                if (vectors == 2) bv[1] = V_LOAD(b + LANES);
#define STEP(i) ROW_FMA(i, from[(i) % ROWS][at])
                EACH_ROW(STEP)
#undef STEP
            }
        }
    }
    T *c = tile;
    const int64_t c_row = 2 * LANES;
    EACH_ROW(ROW_ADD)
    EACH_ROW(ROW_STORE)
}

#define MICRO_ONE(r, v)                                                                                                \
    static void MICRO_NAME(packed_##r##_##v)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b,    \
                                             int64_t b_row, void *c, int64_t c_row, int64_t n, bool accumulate)        \
    {                                                                                                                  \
        (void)a_row, (void)a_col, (void)b_row;                                                                         \
        MICRO_NAME(block)(r, v, false, k, a, 1, ROWS, b, 2 * LANES, NULL, c, c_row, n, accumulate);                    \
    }                                                                                                                  \
    static void MICRO_NAME(direct_##r##_##v)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b,    \
                                             int64_t b_row, void *c, int64_t c_row, int64_t n, bool accumulate)        \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        MICRO_NAME(block)(r, v, false, k, a, a_row, a_col, b, b_row, NULL, c, c_row, v * LANES, accumulate);           \
    }                                                                                                                  \
    static void MICRO_NAME(edge_##r##_##v)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b,      \
                                           int64_t b_row, void *c, int64_t c_row, int64_t n, bool accumulate)          \
    {                                                                                                                  \
        MICRO_NAME(block)(r, v, true, k, a, a_row, a_col, b, b_row, NULL, c, c_row, n, accumulate);                    \
    }                                                                                                                  \
    static void MICRO_NAME(taps_##r##_##v)(int64_t k, const void *a, const void *x, const int64_t *offsets, void *c,   \
                                           int64_t c_row, int64_t n, bool accumulate)                                  \
    {                                                                                                                  \
        MICRO_NAME(block)(r, v, false, k, a, 1, ROWS, x, 0, offsets, c, c_row, n, accumulate);                         \
    }                                                                                                                  \
    static void MICRO_NAME(taps_edge_##r##_##v)(int64_t k, const void *a, const void *x, const int64_t *offsets,       \
                                                void *c, int64_t c_row, int64_t n, bool accumulate)                    \
    {                                                                                                                  \
        MICRO_NAME(block)(r, v, true, k, a, 1, ROWS, x, 0, offsets, c, c_row, n, accumulate);                          \
    }                                                                                                                  \
    static void MICRO_NAME(correlate_##r##_##v)(const sp__gemm_span *span, const void *x, const int64_t *offsets,      \
                                                const void *b, void *tile)                                             \
    {                                                                                                                  \
        MICRO_NAME(correlate)(r, v, span, x, offsets, b, tile);                                                        \
    }
#define MICRO_BOTH(r) MICRO_ONE(r, 1) MICRO_ONE(r, 2) AHEAD_ONE(r)
MICRO_BOTH(1)
MICRO_BOTH(2)
MICRO_BOTH(3)
MICRO_BOTH(4)
#if ROWS > 4
MICRO_BOTH(5)
MICRO_BOTH(6)
#endif
#if ROWS > 6
MICRO_BOTH(7)
MICRO_BOTH(8)
MICRO_BOTH(9)
MICRO_BOTH(10)
MICRO_BOTH(11)
MICRO_BOTH(12)
#endif

/* Convolution with output channels across: positions are broadcast from where they are, `step` apart. */
static inline __attribute__((always_inline)) void MICRO_NAME(points)(const int rows, const int vectors, int64_t k,
                                                                     const T *x, const int64_t step,
                                                                     const int64_t *offsets, const T *w, T *tile,
                                                                     bool accumulate)
{
    enum { LINES = 2 * LANES * sizeof(T) / 64 }; /* of a row of weights */
    V acc[SP_GEMM_POINTS][2];
    EACH_POINT(ROW_CLEAR)
    for (int64_t p = 0; p < k; p++, w += 2 * LANES) {
        const T *from = x + offsets[p];
        V bv[2];
        __builtin_prefetch(w + 16 * 2 * LANES); /* large weights come from far away */
        bv[0] = V_LOAD(w);
        if (vectors == 2) {
            if (LINES > 1) __builtin_prefetch(w + 16 * 2 * LANES + LANES);
            bv[1] = V_LOAD(w + LANES);
        }
        if (LINES == 1) __builtin_prefetch(w + 512 * 2 * LANES, 0, 2); /* and the next panel's from memory */
#define STEP(i) ROW_FMA(i, from[(i) * step])
        EACH_POINT(STEP)
#undef STEP
    }
    T *c = tile;
    const int64_t c_row = 2 * LANES;
    if (accumulate) {
        EACH_POINT(ROW_ADD)
    }
    EACH_POINT(ROW_STORE)
}

#define POINTS_ONE(r, v)                                                                                               \
    static void MICRO_NAME(points_##r##_##v)(int64_t k, const void *x, int64_t step, const int64_t *offsets,           \
                                             const void *w, void *tile, bool accumulate)                               \
    {                                                                                                                  \
        if (step == 1) MICRO_NAME(points)(r, v, k, x, 1, offsets, w, tile, accumulate);                                \
        else if (BLOCKS && step == 2) MICRO_NAME(points)(r, v, k, x, 2, offsets, w, tile, accumulate);                 \
        else if (BLOCKS && step == 16) MICRO_NAME(points)(r, v, k, x, 16, offsets, w, tile, accumulate);               \
        else if (BLOCKS && step == 32) MICRO_NAME(points)(r, v, k, x, 32, offsets, w, tile, accumulate);               \
        else MICRO_NAME(points)(r, v, k, x, step, offsets, w, tile, accumulate);                                       \
    }
#define POINTS_BOTH(r) POINTS_ONE(r, 1) POINTS_ONE(r, 2)
POINTS_BOTH(1)
POINTS_BOTH(2)
POINTS_BOTH(3)
POINTS_BOTH(4)
#if POINTS > 4
POINTS_BOTH(5)
POINTS_BOTH(6)
#endif
#if POINTS > 6
POINTS_BOTH(7)
POINTS_BOTH(8)
POINTS_BOTH(9)
POINTS_BOTH(10)
POINTS_BOTH(11)
POINTS_BOTH(12)
POINTS_BOTH(13)
POINTS_BOTH(14)
#endif

/* The tile of `points` to rows of channels. */
static void MICRO_NAME(settle)(int64_t rows, int64_t n, const void *tile, const void *bias, void *out, int64_t out_row)
{
    const T *from = tile, *add = bias;
    T *to = out;
#if POINTS <= LANES && defined(V_TURN)
    _Alignas(64) T turned[LANES * 2 * LANES];
    for (int64_t j0 = 0; j0 < n; j0 += LANES) {
        V_TURN(from + j0, 2 * LANES, turned);
        for (int64_t j = j0; j < n && j < j0 + LANES; j++) {
            V v = V_LOAD(turned + (j - j0) * 2 * LANES);
            if (add) v = V_ADD(V_SPLAT(add[j]), v);
            if (rows == LANES) V_STORE(to + j * out_row, v);
            else V_STORE_PART(to + j * out_row, v, rows);
        }
    }
#else
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < rows; i++)
            to[j * out_row + i] = add ? add[j] + from[i * 2 * LANES + j] : from[i * 2 * LANES + j];
#endif
}

/* A vector of K contiguous elements times rows of K contiguous elements: four rows share the loads of x. */
static inline __attribute__((always_inline)) void MICRO_NAME(dot_rows)(const int rows, int64_t k, const T *x,
                                                                       const T *b, int64_t b_col, T *y, int64_t y_step,
                                                                       bool accumulate)
{
    V acc[4][2];
    for (int i = 0; i < rows; i++) acc[i][0] = acc[i][1] = V_ZERO();
    int64_t p = 0;
    for (; p + 2 * LANES <= k; p += 2 * LANES) {
        V x0 = V_LOAD(x + p), x1 = V_LOAD(x + p + LANES);
        for (int i = 0; i < rows; i++) {
            acc[i][0] = V_FMA(x0, V_LOAD(b + i * b_col + p), acc[i][0]);
            acc[i][1] = V_FMA(x1, V_LOAD(b + i * b_col + p + LANES), acc[i][1]);
        }
    }
    for (; p + LANES <= k; p += LANES) {
        V x0 = V_LOAD(x + p);
        for (int i = 0; i < rows; i++) acc[i][0] = V_FMA(x0, V_LOAD(b + i * b_col + p), acc[i][0]);
    }
    if (p < k) {
        V x0 = V_LOAD_PART(x + p, k - p);
        for (int i = 0; i < rows; i++) acc[i][1] = V_FMA(x0, V_LOAD_PART(b + i * b_col + p, k - p), acc[i][1]);
    }
    for (int i = 0; i < rows; i++) {
        T lane[LANES];
        V_STORE(lane, V_ADD(acc[i][0], acc[i][1]));
        for (int width = LANES / 2; width > 0; width /= 2)
            for (int l = 0; l < width; l++) lane[l] += lane[l + width];
        y[i * y_step] = accumulate ? y[i * y_step] + lane[0] : lane[0];
    }
}

static void MICRO_NAME(dots)(int64_t n, int64_t k, const void *x, const void *b, int64_t b_col, void *y, int64_t y_step,
                             bool accumulate)
{
    const T *from = b;
    T *to = y;
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        MICRO_NAME(dot_rows)(4, k, x, from + j * b_col, b_col, to + j * y_step, y_step, accumulate);
    for (; j < n; j++) MICRO_NAME(dot_rows)(1, k, x, from + j * b_col, b_col, to + j * y_step, y_step, accumulate);
}

/* A vector times a matrix with contiguous rows: eight rows at a time into sums that stay in the first cache, so that memory is read in long
 * runs. The last rows of a strip are as many as there are. */
static inline __attribute__((always_inline)) void
MICRO_NAME(sum_rows)(const int rows, int64_t n, const T *x, int64_t x_step, const T *b, int64_t b_row, T *y, bool add)
{
    V xv[8];
    for (int i = 0; i < rows; i++) xv[i] = V_SPLAT(x[i * x_step]);
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        V acc = add ? V_LOAD(y + j) : V_ZERO();
        for (int i = 0; i < rows; i++) acc = V_FMA(xv[i], V_LOAD(b + i * b_row + j), acc);
        V_STORE(y + j, acc);
    }
    if (j < n) {
        V acc = add ? V_LOAD_PART(y + j, n - j) : V_ZERO();
        for (int i = 0; i < rows; i++) acc = V_FMA(xv[i], V_LOAD_PART(b + i * b_row + j, n - j), acc);
        V_STORE_PART(y + j, acc, n - j);
    }
}

static void MICRO_NAME(sums)(int64_t n, int64_t k, const void *x, int64_t x_step, const void *b, int64_t b_row, void *y,
                             bool accumulate)
{
    const T *xs = x, *from = b;
    int64_t p = 0;
    for (; p + 8 <= k; p += 8)
        MICRO_NAME(sum_rows)(8, n, xs + p * x_step, x_step, from + p * b_row, b_row, y, accumulate || p > 0);
    for (; p < k; p++)
        MICRO_NAME(sum_rows)(1, n, xs + p * x_step, x_step, from + p * b_row, b_row, y, accumulate || p > 0);
}

/* A full panel of rows, as pack says. Element by element this took as long as a tenth of the product. */
static void MICRO_NAME(pack_rows)(int64_t k, const T *from, int64_t b_row, int64_t b_col, T *to)
{
    if (b_col == 1) {
        for (int64_t p = 0; p < k; p++, from += b_row, to += ROWS) memcpy(to, from, ROWS * sizeof(T));
        return;
    }
#if defined(V_TURN) && ROWS <= LANES
    if (b_row == 1) {
        /* The square is filled up with zeros: there may be no rows of the source below the panel. */
        _Alignas(64) T square[LANES * LANES] = {0}, turned[LANES * 2 * LANES];
        for (; k >= LANES; k -= LANES, from += LANES) {
            for (int j = 0; j < ROWS; j++) V_STORE(square + j * LANES, V_LOAD(from + j * b_col));
            V_TURN(square, LANES, turned);
            for (int p = 0; p < LANES; p++, to += ROWS) memcpy(to, turned + p * 2 * LANES, ROWS * sizeof(T));
        }
    }
#endif
    for (int64_t p = 0; p < k; p++, from += b_row, to += ROWS)
        for (int j = 0; j < ROWS; j++) to[j] = from[j * b_col];
}

static void MICRO_NAME(pack)(int64_t k, int64_t n, int64_t width, const void *b, int64_t b_row, int64_t b_col,
                             void *dst)
{
    const T *from = b;
    T *to = dst;
    if (b_col == 1 && n == width && width == 2 * LANES) {
        for (int64_t p = 0; p < k; p++, from += b_row, to += 2 * LANES) {
            V_STORE(to, V_LOAD(from));
            V_STORE(to + LANES, V_LOAD(from + LANES));
        }
        return;
    }
    if (n == ROWS && width == ROWS) {
        MICRO_NAME(pack_rows)(k, from, b_row, b_col, to);
        return;
    }
    if (b_row == 1 && n == width && width == 2 * LANES) {
#ifdef V_TURN
        for (; k >= LANES; k -= LANES, from += LANES, to += 2 * LANES * LANES) {
            V_TURN(from, b_col, to);
            V_TURN(from + LANES * b_col, b_col, to + LANES);
        }
#endif
        for (int64_t p = 0; p < k; p++, from++, to += 2 * LANES)
            for (int j = 0; j < 2 * LANES; j++) to[j] = from[j * b_col];
        return;
    }
    for (int64_t p = 0; p < k; p++, from += b_row, to += width) {
        for (int64_t j = 0; j < n; j++) to[j] = from[j * b_col];
        for (int64_t j = n; j < width; j++) to[j] = 0;
    }
}

static void MICRO_NAME(correlate_one)(const sp__gemm_span *span, const void *x, const void *y, void *sum)
{
    const T *ys = y;
    V acc = V_ZERO();
    T sums[4] = {0}; /* for strides: four chains, an addition waits for the one before it */
    for (int64_t d = 0; d < span->n[0]; d++) {
        for (int64_t h = 0; h < span->n[1]; h++) {
            const T *xs = (const T *)x + d * span->step[0] + h * span->step[1];
            int64_t w = 0, n = span->n[2];
            if (span->step[2] == 1) {
                for (; w + LANES <= n; w += LANES) acc = V_FMA(V_LOAD(xs + w), V_LOAD(ys + w), acc);
                if (w < n) acc = V_FMA(V_LOAD_PART(xs + w, n - w), V_LOAD_PART(ys + w, n - w), acc);
            } else {
                for (; w + 4 <= n; w += 4)
                    for (int64_t l = 0; l < 4; l++) sums[l] += xs[(w + l) * span->step[2]] * ys[w + l];
                for (; w < n; w++) sums[0] += xs[w * span->step[2]] * ys[w];
            }
            ys += n;
        }
    }
    T lane[LANES];
    V_STORE(lane, acc);
    T total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int l = 0; l < LANES; l++) total += lane[l];
    *(T *)sum += total;
}

/* Depthwise convolution: four vectors of a row at a time, so that their sums do not wait for each other. */
static inline __attribute__((always_inline)) void MICRO_NAME(depth_vectors)(const int vectors, int64_t k, const T *x,
                                                                            const int64_t *offsets, const T *w, V *acc)
{
    for (int l = 0; l < vectors; l++) acc[l] = V_ZERO();
    for (int64_t p = 0; p < k; p++) {
        V wv = V_SPLAT(w[p]);
        for (int l = 0; l < vectors; l++) acc[l] = V_FMA(wv, V_LOAD(x + offsets[p] + l * LANES), acc[l]);
    }
}

static void MICRO_NAME(depth_row)(int64_t n, int64_t k, const void *x, const int64_t *offsets, const void *w,
                                  const void *bias, void *y)
{
    const T *from = x;
    T *to = y;
    V acc[4], add = bias ? V_SPLAT(*(const T *)bias) : V_ZERO();
    int64_t j = 0;
    for (; j + 4 * LANES <= n; j += 4 * LANES) {
        MICRO_NAME(depth_vectors)(4, k, from + j, offsets, w, acc);
        for (int l = 0; l < 4; l++) V_STORE(to + j + l * LANES, bias ? V_ADD(add, acc[l]) : acc[l]);
    }
    for (; j < n; j += 2 * LANES) {
        int64_t left = n - j;
        MICRO_NAME(depth_vectors)(2, k, from + j, offsets, w, acc);
        for (int l = 0; l < 2; l++) {
            V v = bias ? V_ADD(add, acc[l]) : acc[l];
            if (left - l * LANES >= LANES) V_STORE(to + j + l * LANES, v);
            else if (left > l * LANES) V_STORE_PART(to + j + l * LANES, v, left - l * LANES);
        }
    }
}

/* Its gradient by weight: one vector of sums a tap, over all rows. */
static inline __attribute__((always_inline)) void MICRO_NAME(depth_some)(const int taps, int64_t n_rows, int64_t x_step,
                                                                         int64_t y_step, int64_t n, const T *x,
                                                                         const int64_t *offsets, const T *y, T *sums)
{
    V acc[9];
    for (int p = 0; p < taps; p++) acc[p] = V_ZERO();
    for (int64_t r = 0; r < n_rows; r++, x += x_step, y += y_step)
        for (int64_t j = 0; j < n; j += LANES) {
            V yv = n - j >= LANES ? V_LOAD(y + j) : V_LOAD_PART(y + j, n - j);
            for (int p = 0; p < taps; p++) acc[p] = V_FMA(yv, V_LOAD(x + offsets[p] + j), acc[p]);
        }
    for (int p = 0; p < taps; p++) {
        T lane[LANES];
        V_STORE(lane, acc[p]);
        for (int width = LANES / 2; width > 0; width /= 2)
            for (int l = 0; l < width; l++) lane[l] += lane[l + width];
        sums[p] += lane[0];
    }
}

static void MICRO_NAME(depth_taps)(int64_t n_rows, int64_t x_step, int64_t y_step, int64_t n, int64_t k, const void *x,
                                   const int64_t *offsets, const void *y, void *sums)
{
    T *to = sums;
    for (; k >= 9; k -= 9, offsets += 9, to += 9)
        MICRO_NAME(depth_some)(9, n_rows, x_step, y_step, n, x, offsets, y, to);
    for (; k >= 3; k -= 3, offsets += 3, to += 3)
        MICRO_NAME(depth_some)(3, n_rows, x_step, y_step, n, x, offsets, y, to);
    for (; k > 0; k--, offsets++, to++) MICRO_NAME(depth_some)(1, n_rows, x_step, y_step, n, x, offsets, y, to);
}

static void MICRO_NAME(gather)(int64_t k, const int64_t *offsets, int64_t n, const int64_t *positions, const void *x,
                               void *dst)
{
    T *to = dst;
    for (int64_t p = 0; p < k; p++, to += 2 * LANES) {
        const T *from = (const T *)x + offsets[p];
        if (n == 2 * LANES) {
            for (int j = 0; j < 2 * LANES; j++) to[j] = from[positions[j]];
        } else {
            for (int64_t j = 0; j < n; j++) to[j] = from[positions[j]];
            for (int64_t j = n; j < 2 * LANES; j++) to[j] = 0;
        }
    }
}

static void MICRO_NAME(add)(int64_t n, const void *from, void *to, int64_t step)
{
    const T *x = from;
    T *y = to;
    if (step == 1)
        for (int64_t i = 0; i < n; i++) y[i] += x[i];
    else
        for (int64_t i = 0; i < n; i++) y[i * step] += x[i];
}

#include "device/cpu/winograd_micro.h"

#if ROWS == 12
#define AHEAD_ALL(kind)                                                                                                \
    {MICRO_NAME(kind##_1), MICRO_NAME(kind##_2),  MICRO_NAME(kind##_3),  MICRO_NAME(kind##_4),                         \
     MICRO_NAME(kind##_5), MICRO_NAME(kind##_6),  MICRO_NAME(kind##_7),  MICRO_NAME(kind##_8),                         \
     MICRO_NAME(kind##_9), MICRO_NAME(kind##_10), MICRO_NAME(kind##_11), MICRO_NAME(kind##_12)}
#define MICRO_ALL(kind, v)                                                                                             \
    {MICRO_NAME(kind##_1_##v), MICRO_NAME(kind##_2_##v),  MICRO_NAME(kind##_3_##v),  MICRO_NAME(kind##_4_##v),         \
     MICRO_NAME(kind##_5_##v), MICRO_NAME(kind##_6_##v),  MICRO_NAME(kind##_7_##v),  MICRO_NAME(kind##_8_##v),         \
     MICRO_NAME(kind##_9_##v), MICRO_NAME(kind##_10_##v), MICRO_NAME(kind##_11_##v), MICRO_NAME(kind##_12_##v)}
#elif ROWS == 6
#define AHEAD_ALL(kind)                                                                                                \
    {MICRO_NAME(kind##_1), MICRO_NAME(kind##_2), MICRO_NAME(kind##_3),                                                 \
     MICRO_NAME(kind##_4), MICRO_NAME(kind##_5), MICRO_NAME(kind##_6)}
#define MICRO_ALL(kind, v)                                                                                             \
    {MICRO_NAME(kind##_1_##v), MICRO_NAME(kind##_2_##v), MICRO_NAME(kind##_3_##v),                                     \
     MICRO_NAME(kind##_4_##v), MICRO_NAME(kind##_5_##v), MICRO_NAME(kind##_6_##v)}
#else
#define AHEAD_ALL(kind) {MICRO_NAME(kind##_1), MICRO_NAME(kind##_2), MICRO_NAME(kind##_3), MICRO_NAME(kind##_4)}
#define MICRO_ALL(kind, v)                                                                                             \
    {MICRO_NAME(kind##_1_##v), MICRO_NAME(kind##_2_##v), MICRO_NAME(kind##_3_##v), MICRO_NAME(kind##_4_##v)}
#endif

#if POINTS == 14
#define POINTS_ALL(v)                                                                                                  \
    {MICRO_NAME(points_1_##v),  MICRO_NAME(points_2_##v),  MICRO_NAME(points_3_##v),  MICRO_NAME(points_4_##v),        \
     MICRO_NAME(points_5_##v),  MICRO_NAME(points_6_##v),  MICRO_NAME(points_7_##v),  MICRO_NAME(points_8_##v),        \
     MICRO_NAME(points_9_##v),  MICRO_NAME(points_10_##v), MICRO_NAME(points_11_##v), MICRO_NAME(points_12_##v),       \
     MICRO_NAME(points_13_##v), MICRO_NAME(points_14_##v)}
#elif POINTS == 6
#define POINTS_ALL(v)                                                                                                  \
    {MICRO_NAME(points_1_##v), MICRO_NAME(points_2_##v), MICRO_NAME(points_3_##v),                                     \
     MICRO_NAME(points_4_##v), MICRO_NAME(points_5_##v), MICRO_NAME(points_6_##v)}
#else
#define POINTS_ALL(v)                                                                                                  \
    {MICRO_NAME(points_1_##v), MICRO_NAME(points_2_##v), MICRO_NAME(points_3_##v), MICRO_NAME(points_4_##v)}
#endif

const sp__gemm_kernels MICRO_NAME(sp__gemm) = {
    .name = ISA,
    .rows = ROWS,
    .points_max = POINTS,
    .points = {POINTS_ALL(1), POINTS_ALL(2)},
    .settle = MICRO_NAME(settle),
    .columns = 2 * LANES,
    .lanes = LANES,
    .k_block = K_BLOCK,
    .packed = {MICRO_ALL(packed, 1), MICRO_ALL(packed, 2)},
    .direct = {MICRO_ALL(direct, 1), MICRO_ALL(direct, 2)},
    .edge = {MICRO_ALL(edge, 1), MICRO_ALL(edge, 2)},
    .ahead = AHEAD_ALL(ahead),
    .keep_b = AHEAD_ALL(keep_b),
    .keep_a = MICRO_NAME(keep_a),
    .dots = MICRO_NAME(dots),
    .sums = MICRO_NAME(sums),
    .pack = MICRO_NAME(pack),
    .taps = {MICRO_ALL(taps, 1), MICRO_ALL(taps, 2)},
    .taps_edge = {MICRO_ALL(taps_edge, 1), MICRO_ALL(taps_edge, 2)},
    .correlate = {MICRO_ALL(correlate, 1), MICRO_ALL(correlate, 2)},
    .correlate_one = MICRO_NAME(correlate_one),
    .depth_row = MICRO_NAME(depth_row),
    .depth_taps = MICRO_NAME(depth_taps),
    .split = MICRO_NAME(split),
    .gather = MICRO_NAME(gather),
    .add = MICRO_NAME(add),
    .win_input = MICRO_NAME(win_input),
    .win_dout = MICRO_NAME(win_dout),
    .win_output = MICRO_NAME(win_output),
    .win_weight = MICRO_NAME(win_weight),
    .win_taps = MICRO_NAME(win_taps),
    .win_fits = MICRO_NAME(win_fits),
};

#undef MICRO_NAME
#undef MICRO_ONE
#undef MICRO_BOTH
#undef MICRO_ALL
#undef AHEAD_ONE
#undef EACH_ROW
#undef EACH_POINT
#undef ROW_CLEAR
#undef ROW_ASK
#undef ROW_FMA
#undef ROW_ADD
#undef ROW_STORE
#undef ROW_STORE_PART
#undef AHEAD_ALL
#undef POINTS_ONE
#undef POINTS_BOTH
#undef POINTS_ALL
#undef POINTS
#undef BLOCKS
#undef V_STORE_PART
#undef T
#undef V
#undef LANES
#undef ROWS
#undef K_BLOCK
#undef V_LOAD
#undef V_STORE
#undef V_SPLAT
#undef V_ZERO
#undef V_ADD
#undef V_FMA
#undef V_LOAD_PART
#undef V_TURN
#undef V_EVEN
#undef V_ODD
#undef V_ZIP_LOW
#undef V_ZIP_HIGH
#undef WIDE
#undef STAGE
