/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - vector kernels over a row of floats, for every instruction set. An implementation adds in an order of its own that
 * depends on the length alone. */
#ifndef SPORE_CPU_ROWS_H
#define SPORE_CPU_ROWS_H

#include <stdint.h>

#include "base/base.h"

typedef enum {
    SP_REDUCE_SUM,
    SP_REDUCE_PRODUCT,
    SP_REDUCE_MOST,
    SP_REDUCE_LEAST,
    SP_REDUCE_SQUARES, /* sum of squares, of float32 and half precision by rows only */
    SP_REDUCTIONS
} sp__reduction;
typedef enum {
    SP_REDUCE_F32,
    SP_REDUCE_F16,
    SP_REDUCE_BF16,
    SP_REDUCE_F64,
    SP_REDUCE_I64,
    SP_REDUCE_I32,
    SP_REDUCE_KINDS
} sp__reduce_kind;
typedef union sp__reduced {
    double d;  /* of floats */
    int64_t i; /* of integers */
} sp__reduced;
enum { SP_REDUCE_HALF_COLUMNS = 512 };

/* Elements of a row of float32 that are summed in float, before these sums are added in double. */
enum { SP_SUM_BLOCK = 4096 };

/* Of a row, into one number; of `rows` rows that lie `step` elements apart, column by column, w columns (of half precision at most
 * SP_REDUCE_HALF_COLUMNS). Columns of float32 and half precision give floats, but for products; all others sp__reduced. */
typedef struct sp__reduce_kernel {
    void (*row)(int64_t n, sp__reduced *out, const void *x);
    void (*columns)(int64_t rows, int64_t step, int64_t w, void *out, const void *x);
} sp__reduce_kernel;

typedef struct sp__row_kernels {
    /* One row; y may be x. NaN anywhere makes all of it NaN. */
    void (*softmax)(int64_t n, float *y, const float *x);
    void (*log_softmax)(int64_t n, float *y, const float *x);
    /* exp(x - largest x), not divided by its sum, which is the result; the same of two to that power. */
    float (*powers)(int64_t n, float *y, const float *x);
    float (*powers_of_two)(int64_t n, float *y, const float *x);
    void (*softmax_grad)(int64_t n, float *d, const float *y, const float *g);     /* y (g - sum(g y)) */
    void (*log_softmax_grad)(int64_t n, float *d, const float *y, const float *g); /* g - exp(y) sum(g) */
    /* The same over columns: n rows that lie `inner` apart, w neighbouring columns of them. */
    void (*softmax_columns)(int64_t n, int64_t inner, int64_t w, float *y, const float *x);
    void (*log_softmax_columns)(int64_t n, int64_t inner, int64_t w, float *y, const float *x);
    void (*softmax_grad_columns)(int64_t n, int64_t inner, int64_t w, float *d, const float *y, const float *g);
    void (*log_softmax_grad_columns)(int64_t n, int64_t inner, int64_t w, float *d, const float *y, const float *g);
    /* Sum of a row: blocks of SP_SUM_BLOCK elements in float, blocks in double. Largest and smallest; NaN if there is one. */
    double (*sum)(int64_t n, const float *x);
    float (*most)(int64_t n, const float *x);
    float (*least)(int64_t n, const float *x);
    /* Column by column over `rows` rows that lie `step` elements apart, w columns: the sum in float; extrema as above. */
    void (*sum_columns)(int64_t rows, int64_t step, int64_t w, float *out, const float *x);
    void (*most_columns)(int64_t rows, int64_t step, int64_t w, float *out, const float *x);
    void (*least_columns)(int64_t rows, int64_t step, int64_t w, float *out, const float *x);
    sp__reduce_kernel reduce[SP_REDUCTIONS][SP_REDUCE_KINDS];
    /* (x - mean) / sqrt(variance + epsilon) * gamma + beta; without `center` the mean counts as zero. gamma, beta: NULL for 1 and 0.
     * Gives the mean, the variance (mean square without `center`) and one over the root. */
    void (*norm)(int64_t n, float *y, const float *x, const float *gamma, const float *beta, bool center,
                 double epsilon, float *moments);
    /* dx of a row; adds its share to dgamma and dbeta. */
    void (*norm_grad)(int64_t n, float *dx, const float *x, const float *g, const float *gamma, bool center,
                      double epsilon, float *dgamma, float *dbeta);
    /* One step of a recurrent cell for one sample: gates from gx + gh, new state h. kept, cell as src/ops/rnn.c says. */
    void (*lstm)(int64_t n, const float *gx, const float *gh, float *cell, float *h, float *kept);
    void (*gru)(int64_t n, const float *gx, const float *gh, const float *before, float *h, float *kept);
    /* Back through it: d is dh + dy, kept that of the step, c_before the cell state before; dgates [gates * n]; dc and dh are
     * replaced. dkept: NULL, or gradients of what was kept. */
    void (*lstm_grad)(int64_t n, const float *dy, const float *kept, const float *c_before, const float *dkept,
                      float *dh, float *dc, float *dgates);
    void (*gru_grad)(int64_t n, const float *dy, const float *kept, const float *before, const float *dkept, float *dh,
                     float *dgx, float *dgh);
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
