/* SPDX-License-Identifier: Apache-2.0 */
/* pool_separable.h - maxima of sliding windows, rows first: the maximum of each input column over the window's rows, then of these along the row. A window of 3 x 3 looks at
 * each element once down and three times along, in whole vectors, in place of nine taps.
 *
 * The order of looking changes nothing but which of two zeros, and which NaN, is met first: parts with a NaN or a negative zero are left to the loops of
 * pool.c, so that bits do not depend on the way. */
#ifndef SPORE_OPS_POOL_SEPARABLE_H
#define SPORE_OPS_POOL_SEPARABLE_H

#include <math.h>
#include <string.h>

#include "ir/window.h"

enum { SP_POOL_PART = 64, SP_POOL_KERNEL_MAX = 16, SP_POOL_SPAN = 2 * SP_POOL_PART + SP_POOL_KERNEL_MAX };

static inline bool sp__pool_is_separable(const sp__window *w)
{
    return w->in[0] == 1 && w->out[0] == 1 && w->kernel[0] == 1 && w->kernel[1] > 1 && w->kernel[2] > 1 &&
           w->kernel[2] <= SP_POOL_KERNEL_MAX && w->dilation[1] == 1 && w->dilation[2] == 1 && w->stride[2] <= 2;
}

/* Whether the order of looking may be seen: of NaN, or of a negative zero. */
static inline int sp__pool_odd_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (v != v) | (bits == 0x80000000u);
}
static inline int sp__pool_odd_f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (v != v) | (bits == UINT64_C(1) << 63);
}
static inline int sp__pool_odd_whole(int64_t v)
{
    (void)v;
    return 0;
}
#define SP_POOL_ODD(v) _Generic((v), float: sp__pool_odd_f32, double: sp__pool_odd_f64, default: sp__pool_odd_whole)(v)

#define SP_POOL_LARGER(a, b) ((a) > (b) ? (a) : (b))

/* best[c], c < n: maxima of the windows of outputs [c0, c0 + n) of row b of plane x, LEAST for padding; false: not done. A NaN loses against everything, so what may be
 * odd is a result that is zero or LEAST: only then the elements are looked at. */
/* clang-format off */
#define SP_POOL_SEPARABLE(D, T, C, LOAD, LEAST)                                                                        \
    static bool pool_is_odd_##D(const sp__window *w, const T *x, int64_t y0, int64_t y1, int64_t from, int64_t to)      \
    {                                                                                                                  \
        int odd = 0;                                                                                                   \
        for (int64_t r = y0; r < y1; r++)                                                                              \
            for (int64_t i = from; i < to; i++) odd |= SP_POOL_ODD(LOAD(x[r * w->in[2] + i]));                          \
        return odd;                                                                                                    \
    }                                                                                                                  \
    static bool pool_separable_##D(const sp__window *w, const T *x, int64_t b, int64_t c0, int64_t n, C *best)         \
    {                                                                                                                  \
        const int64_t step = w->stride[2], taps = w->kernel[2], start = c0 * step - w->pad[2],                         \
                      span = (n - 1) * step + taps, from = start < 0 ? -start : 0,                                     \
                      to = span < w->in[2] - start ? span : w->in[2] - start, y = b * w->stride[1] - w->pad[1],        \
                      y0 = y < 0 ? 0 : y, y1 = y + w->kernel[1] < w->in[1] ? y + w->kernel[1] : w->in[1];              \
        C columns[SP_POOL_SPAN];                                                                                       \
        for (int64_t i = 0; i < from; i++) columns[i] = LEAST;                                                         \
        for (int64_t i = to; i < span; i++) columns[i] = LEAST;                                                        \
        x += start;                                                                                                    \
        int64_t r = y0 + 1;                                                                                            \
        for (int64_t i = from; i < to; i++) columns[i] = SP_POOL_LARGER((C)LOAD(x[y0 * w->in[2] + i]), (C)LEAST);      \
        for (; r + 1 < y1; r += 2) { /* two at a time: fewer loads and stores of the columns */                        \
            const T *r0 = x + r * w->in[2], *r1 = r0 + w->in[2];                                                       \
            for (int64_t i = from; i < to; i++) {                                                                      \
                const C v0 = LOAD(r0[i]), v1 = SP_POOL_LARGER(v0, columns[i]), v2 = LOAD(r1[i]);                       \
                columns[i] = SP_POOL_LARGER(v2, v1);                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        for (; r < y1; r++)                                                                                            \
            for (int64_t i = from; i < to; i++) {                                                                      \
                const C v = LOAD(x[r * w->in[2] + i]);                                                                 \
                columns[i] = SP_POOL_LARGER(v, columns[i]);                                                            \
            }                                                                                                          \
        int64_t l = 2; /* taps done */                                                                                 \
        if (step == 1) {                                                                                               \
            for (int64_t c = 0; c < n; c++) best[c] = SP_POOL_LARGER(columns[c], columns[c + 1]);                      \
            for (; l < taps; l++)                                                                                      \
                for (int64_t c = 0; c < n; c++) best[c] = SP_POOL_LARGER(columns[c + l], best[c]);                     \
        } else {                                                                                                       \
            for (int64_t c = 0; c < n; c++) best[c] = SP_POOL_LARGER(columns[2 * c], columns[2 * c + 1]);              \
            for (; l < taps; l++)                                                                                      \
                for (int64_t c = 0; c < n; c++) best[c] = SP_POOL_LARGER(columns[2 * c + l], best[c]);                 \
        }                                                                                                              \
        int zero = 0;                                                                                                  \
        for (int64_t c = 0; c < n; c++) zero |= (best[c] == 0) | (best[c] == (C)LEAST);                                \
        return !zero || !pool_is_odd_##D(w, x, y0, y1, from, to);                                                      \
    }
/* clang-format on */

#endif
