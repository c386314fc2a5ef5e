/* SPDX-License-Identifier: Apache-2.0 */
/* winograd_micro.h - part of gemm_micro.h: the transforms of winograd.h, for a panel of 2 * LANES tiles at a time. Vectors lie across
 * tiles, so that the panel of a point is what the kernels of the product read. Besides the macros of gemm_micro.h:
 *
 *   V_EVEN(a, b) V_ODD(a, b)    optional: the elements of a and b, one behind the other, with even and with odd numbers
 *   V_ZIP_LOW(a, b) V_ZIP_HIGH(a, b)   optional: a0 b0 a1 b1 ..., its first and its second half */

#define WIDE (2 * LANES)
#define STAGE (3 * LANES) /* a row of the stage: whole vectors may be written at any tile */

#ifndef V_EVEN
static inline V MICRO_NAME(every_other)(V a, V b, int first)
{
    T from[2 * LANES], to[LANES];
    V_STORE(from, a);
    V_STORE(from + LANES, b);
    for (int i = 0; i < LANES; i++) to[i] = from[2 * i + first];
    return V_LOAD(to);
}
static inline V MICRO_NAME(zipped)(V a, V b, int first)
{
    T x[LANES], y[LANES], to[2 * LANES];
    V_STORE(x, a);
    V_STORE(y, b);
    for (int i = 0; i < LANES; i++) to[2 * i] = x[i], to[2 * i + 1] = y[i];
    return V_LOAD(to + first * LANES);
}
#define V_EVEN(a, b) MICRO_NAME(every_other)(a, b, 0)
#define V_ODD(a, b) MICRO_NAME(every_other)(a, b, 1)
#define V_ZIP_LOW(a, b) MICRO_NAME(zipped)(a, b, 0)
#define V_ZIP_HIGH(a, b) MICRO_NAME(zipped)(a, b, 1)
#endif

/* For windows that move by two. */
static void MICRO_NAME(split)(int64_t n, const void *x, void *even, void *odd)
{
    const T *from = x;
    T *to_even = even, *to_odd = odd;
    int64_t i = 0;
    for (; 2 * (i + LANES) <= n; i += LANES) {
        V low = V_LOAD(from + 2 * i), high = V_LOAD(from + 2 * i + LANES);
        V_STORE(to_even + i, V_EVEN(low, high));
        V_STORE(to_odd + i, V_ODD(low, high));
    }
    for (; 2 * i < n; i++) {
        to_even[i] = from[2 * i];
        if (2 * i + 1 < n) to_odd[i] = from[2 * i + 1];
    }
}

/* Column `j` of a run of patches: no patch has an element of the picture there. */
static inline void MICRO_NAME(win_blank)(const int size, int64_t n, int64_t j, T *to)
{
    for (int b = (int)(j % 2); b < size; b += 2) {
        int64_t tile = (j - b) / 2;
        if (j >= b && tile < n) to[b * STAGE + tile] = 0;
    }
}

/* Patches of size x size, two apart, of all tiles of the panel: stage[element][tile]. Outside of the picture there are zeros. */
static inline __attribute__((always_inline)) void MICRO_NAME(win_gather)(const int size,
                                                                         const sp__winograd_panel *panel,
                                                                         const sp__winograd_picture *pic, const T *x,
                                                                         T *stage)
{
    for (int i = 0; i < panel->n_runs; i++) {
        const sp__winograd_run *run = &panel->runs[i];
        int64_t n = run->n, column = run->x - pic->pad[1], last = column + 2 * n + size - 2;
        for (int a = 0; a < size; a++) {
            T *to = stage + a * size * STAGE + run->at;
            int64_t y = run->y + a - pic->pad[0], from = run->image * pic->image_step + y * pic->size[1] + column;
            if (y < 0 || y >= pic->size[0]) {
                for (int b = 0; b < size; b++)
                    for (int64_t t = 0; t < n; t += LANES) V_STORE(to + b * STAGE + t, V_ZERO());
                continue;
            }
            if (from < pic->begin ||
                from + (n + LANES - 1) / LANES * WIDE + size - 2 > pic->end) { /* vectors would leave the memory */
                for (int b = 0; b < size; b++)
                    for (int64_t t = 0; t < n; t++) {
                        int64_t c = column + 2 * t + b;
                        to[b * STAGE + t] = c >= 0 && c < pic->size[1] ? x[from + 2 * t + b] : 0;
                    }
                continue;
            }
            for (int64_t t = 0; t < n; t += LANES)
                for (int b = 0; b < size; b += 2) {
                    V low = V_LOAD(x + from + 2 * t + b), high = V_LOAD(x + from + 2 * t + b + LANES);
                    V_STORE(to + b * STAGE + t, V_EVEN(low, high));
                    V_STORE(to + (b + 1) * STAGE + t, V_ODD(low, high));
                }
            for (int64_t c = column; c < 0 && c < last; c++) MICRO_NAME(win_blank)(size, n, c - column, to);
            for (int64_t c = column > pic->size[1] ? column : pic->size[1]; c < last; c++)
                MICRO_NAME(win_blank)(size, n, c - column, to);
        }
    }
    for (int64_t t = panel->n; t < WIDE; t++)
        for (int e = 0; e < size * size; e++) stage[e * STAGE + t] = 0;
}

/* Input: B' d B, points `step` apart. */
static void MICRO_NAME(win_input)(const sp__winograd_panel *panel, const sp__winograd_picture *pic, const void *x,
                                  void *points, int64_t step)
{
    _Alignas(64) T stage[16 * STAGE];
    MICRO_NAME(win_gather)(4, panel, pic, x, stage);
    for (int half = 0; half < WIDE; half += LANES) {
        V t[4][4];
        for (int b = 0; b < 4; b++) {
            V d0 = V_LOAD(stage + b * STAGE + half), d1 = V_LOAD(stage + (4 + b) * STAGE + half);
            V d2 = V_LOAD(stage + (8 + b) * STAGE + half), d3 = V_LOAD(stage + (12 + b) * STAGE + half);
            t[0][b] = d0 - d2;
            t[1][b] = d1 + d2;
            t[2][b] = d2 - d1;
            t[3][b] = d1 - d3;
        }
        T *to = (T *)points + half;
        for (int a = 0; a < 4; a++, to += 4 * step) {
            V_STORE(to, t[a][0] - t[a][2]);
            V_STORE(to + step, t[a][1] + t[a][2]);
            V_STORE(to + 2 * step, t[a][2] - t[a][1]);
            V_STORE(to + 3 * step, t[a][1] - t[a][3]);
        }
    }
}

/* The output's gradient: A y A'. */
static void MICRO_NAME(win_dout)(const sp__winograd_panel *panel, const sp__winograd_picture *pic, const void *x,
                                 void *points, int64_t step)
{
    _Alignas(64) T stage[4 * STAGE];
    MICRO_NAME(win_gather)(2, panel, pic, x, stage);
    for (int half = 0; half < WIDE; half += LANES) {
        V t[4][2];
        for (int b = 0; b < 2; b++) {
            V y0 = V_LOAD(stage + b * STAGE + half), y1 = V_LOAD(stage + (2 + b) * STAGE + half);
            t[0][b] = y0;
            t[1][b] = y0 + y1;
            t[2][b] = y0 - y1;
            t[3][b] = V_ZERO() - y1;
        }
        T *to = (T *)points + half;
        for (int a = 0; a < 4; a++, to += 4 * step) {
            V_STORE(to, t[a][0]);
            V_STORE(to + step, t[a][0] + t[a][1]);
            V_STORE(to + 2 * step, t[a][0] - t[a][1]);
            V_STORE(to + 3 * step, V_ZERO() - t[a][1]);
        }
    }
}

static void MICRO_NAME(win_copy)(int64_t n, const T *from, T *to)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) V_STORE(to + i, V_LOAD(from + i));
    if (i < n) V_STORE_PART(to + i, V_LOAD(from + i), n - i);
}

/* Output: A' m A (+ bias) of `rows` channels, sums[point][ROWS][tile]. */
static void MICRO_NAME(win_output)(const sp__winograd_panel *panel, const sp__winograd_picture *pic, int64_t rows,
                                   const void *sums, const void *bias, void *out)
{
    _Alignas(64) T line[2][2 * WIDE + LANES];
    const T *add = bias;
    T *channel = out;
    for (int64_t r = 0; r < rows; r++, channel += pic->size[0] * pic->size[1]) {
        const T *m = (const T *)sums + r * WIDE;
        V shift = add ? V_SPLAT(add[r]) : V_ZERO();
        for (int half = 0; half < WIDE; half += LANES) {
            V t[2][4];
            for (int b = 0; b < 4; b++) {
                V m0 = V_LOAD(m + b * ROWS * WIDE + half), m1 = V_LOAD(m + (4 + b) * ROWS * WIDE + half);
                V m2 = V_LOAD(m + (8 + b) * ROWS * WIDE + half), m3 = V_LOAD(m + (12 + b) * ROWS * WIDE + half);
                t[0][b] = (m0 + m1) + m2;
                t[1][b] = (m1 - m2) - m3;
            }
            for (int a = 0; a < 2; a++) {
                V even = (t[a][0] + t[a][1]) + t[a][2], odd = (t[a][1] - t[a][2]) - t[a][3];
                if (add) {
                    even = even + shift;
                    odd = odd + shift;
                }
                V_STORE(line[a] + 2 * half, V_ZIP_LOW(even, odd));
                V_STORE(line[a] + 2 * half + LANES, V_ZIP_HIGH(even, odd));
            }
        }
        for (int i = 0; i < panel->n_runs; i++) {
            const sp__winograd_run *run = &panel->runs[i];
            int64_t n = 2 * run->n < pic->size[1] - run->x ? 2 * run->n : pic->size[1] - run->x;
            for (int a = 0; a < 2 && run->y + a < pic->size[0]; a++)
                MICRO_NAME(win_copy)(n, line[a] + 2 * run->at,
                                     channel + run->image * pic->image_step + (run->y + a) * pic->size[1] + run->x);
        }
    }
}

/* Weights of `n` channels: G g G', from panels [n][9][ROWS] to points of [n][ROWS]. Reads a vector behind the last. */
static void MICRO_NAME(win_weight)(int64_t n, const void *taps, void *points, int64_t step)
{
    const T *from = taps;
    const V half = V_SPLAT((T)0.5);
    for (int64_t c = 0; c < n; c++, from += 9 * ROWS)
        for (int r = 0; r < ROWS; r += LANES) {
            V t[4][3];
            for (int b = 0; b < 3; b++) {
                V g0 = V_LOAD(from + b * ROWS + r), g1 = V_LOAD(from + (3 + b) * ROWS + r),
                  g2 = V_LOAD(from + (6 + b) * ROWS + r);
                V ends = g0 + g2;
                t[0][b] = g0;
                t[1][b] = (ends + g1) * half;
                t[2][b] = (ends - g1) * half;
                t[3][b] = g2;
            }
            T *to = (T *)points + c * ROWS + r;
            for (int a = 0; a < 4; a++, to += 4 * step) {
                V ends = t[a][0] + t[a][2];
                V u[4] = {t[a][0], (ends + t[a][1]) * half, (ends - t[a][1]) * half, t[a][2]};
                for (int b = 0; b < 4; b++) {
                    if (ROWS - r >= LANES) V_STORE(to + b * step, u[b]);
                    else V_STORE_PART(to + b * step, u[b], ROWS - r);
                }
            }
        }
}

/* The gradient by weight: G' m G, sums[point][ROWS][column] to out[row][column][9]. */
static void MICRO_NAME(win_taps)(int64_t rows, int64_t columns, const void *sums, void *out, int64_t out_row)
{
    const V half = V_SPLAT((T)0.5);
    _Alignas(64) T taps[9][WIDE];
    for (int64_t r = 0; r < rows; r++) {
        const T *m = (const T *)sums + r * WIDE;
        for (int at = 0; at < WIDE; at += LANES) {
            V t[3][4];
            for (int b = 0; b < 4; b++) {
                V m0 = V_LOAD(m + b * ROWS * WIDE + at), m1 = V_LOAD(m + (4 + b) * ROWS * WIDE + at);
                V m2 = V_LOAD(m + (8 + b) * ROWS * WIDE + at), m3 = V_LOAD(m + (12 + b) * ROWS * WIDE + at);
                V both = (m1 + m2) * half;
                t[0][b] = m0 + both;
                t[1][b] = (m1 - m2) * half;
                t[2][b] = both + m3;
            }
            for (int a = 0; a < 3; a++) {
                V both = (t[a][1] + t[a][2]) * half;
                V_STORE(taps[3 * a] + at, t[a][0] + both);
                V_STORE(taps[3 * a + 1] + at, (t[a][1] - t[a][2]) * half);
                V_STORE(taps[3 * a + 2] + at, both + t[a][3]);
            }
        }
        T *to = (T *)out + r * out_row;
        for (int64_t c = 0; c < columns; c++)
            for (int p = 0; p < 9; p++) to[c * 9 + p] = taps[p][c];
    }
}

/* Whether no magnitude is above 2^exponent, NaN counting as above. */
static bool MICRO_NAME(win_fits)(int64_t n, const void *x, int exponent)
{
    const T *from = x;
    T limit = 1;
    for (int i = 0; i < exponent; i++) limit *= 2;
    int bad = 0;
    for (int64_t i = 0; i < n; i++) bad |= !(from[i] <= limit) | !(from[i] >= -limit);
    return !bad;
}
