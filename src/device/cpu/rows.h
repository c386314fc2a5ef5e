/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - vector kernels over a row of floats, for every instruction set. An implementation adds in an order of its own that
 * depends on the length alone. */
#ifndef SPORE_CPU_ROWS_H
#define SPORE_CPU_ROWS_H

#include <stdint.h>

#include "base/base.h"

typedef struct sp__row_kernels {
    /* One row; y may be x. NaN anywhere makes all of it NaN. */
    void (*softmax)(int64_t n, float *y, const float *x);
    void (*log_softmax)(int64_t n, float *y, const float *x);
    void (*softmax_grad)(int64_t n, float *d, const float *y, const float *g);     /* y (g - sum(g y)) */
    void (*log_softmax_grad)(int64_t n, float *d, const float *y, const float *g); /* g - exp(y) sum(g) */
    /* The same over columns: n rows that lie `inner` apart, w neighbouring columns of them. */
    void (*softmax_columns)(int64_t n, int64_t inner, int64_t w, float *y, const float *x);
    void (*log_softmax_columns)(int64_t n, int64_t inner, int64_t w, float *y, const float *x);
    void (*softmax_grad_columns)(int64_t n, int64_t inner, int64_t w, float *d, const float *y, const float *g);
    void (*log_softmax_grad_columns)(int64_t n, int64_t inner, int64_t w, float *d, const float *y, const float *g);
    /* Sum of a row: blocks of BLOCK elements in float, blocks in double. Largest and smallest; NaN if there is one. */
    double (*sum)(int64_t n, const float *x);
    float (*most)(int64_t n, const float *x);
    float (*least)(int64_t n, const float *x);
    /* Column by column over `rows` rows that lie `step` elements apart, w columns: the sum in float; extrema as above. */
    void (*sum_columns)(int64_t rows, int64_t step, int64_t w, float *out, const float *x);
    void (*most_columns)(int64_t rows, int64_t step, int64_t w, float *out, const float *x);
    void (*least_columns)(int64_t rows, int64_t step, int64_t w, float *out, const float *x);
} sp__row_kernels;

extern const sp__row_kernels sp__float_rows_portable;
#if SP_HAVE_X86
extern const sp__row_kernels sp__float_rows_avx2, sp__float_rows_avx512;
#endif

/* Those of this machine. */
static inline const sp__row_kernels *sp__float_rows(void)
{
#if SP_HAVE_X86
    const unsigned features = sp__cpu_features();
    if (features & SP_CPU_AVX512) return &sp__float_rows_avx512;
    if (features & SP_CPU_AVX2) return &sp__float_rows_avx2;
#endif
    return &sp__float_rows_portable;
}

#endif
