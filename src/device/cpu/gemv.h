/* SPDX-License-Identifier: Apache-2.0 */
/* gemv.h - products of up to eight rows with a matrix (GEMV, and what is nearly that): each weight is used a few times only, so the matrix is read once, where
 * it lies, in its own dtype, and the product takes as long as memory needs. float16 and bfloat16 are widened in registers, bytes multiplied as pairs of 16 bits.
 *
 * Two forms of the matrix: `dots`, columns lie along K (weights of a Dense layer), and `sums`, rows lie along N. An element is summed in an order that
 * follows from K alone: lanes of a vector and then their halves for dots, one after the other for sums. Sums of bytes wrap in 32 bits. */
#ifndef SPORE_CPU_GEMV_H
#define SPORE_CPU_GEMV_H

#include "base/base.h"
#include "spore/tensor.h"

enum { SP_GEMV_ROWS = 8 };

typedef enum sp__gemv_kind { SP_GEMV_F32, SP_GEMV_F16, SP_GEMV_BF16, SP_GEMV_I8, SP_GEMV_KINDS } sp__gemv_kind;

/* y[i * y_row + j] = sum over p < k of x[i * x_row + p * x_step] * B[p][j], i < rows, j < n. B[p][j] lies at b + j * b_step + p (dots; x_step is 1) or
 * b + p * b_step + j (sums), in elements. Of bytes x is int16 and y int32, else both are float. */
typedef struct sp__gemv_part {
    int rows;
    int64_t n, k;
    const void *x, *b;
    int64_t x_row, x_step, b_step, y_row;
    void *y;
} sp__gemv_part;

typedef struct sp__gemv_kernels {
    const char *name;
    void (*dots[SP_GEMV_KINDS])(const sp__gemv_part *part);
    void (*sums[SP_GEMV_KINDS])(const sp__gemv_part *part);
} sp__gemv_kernels;

extern const sp__gemv_kernels sp__gemv_portable;
#if SP_HAVE_X86
extern const sp__gemv_kernels sp__gemv_avx2, sp__gemv_avx512;
#endif

/* Those of this machine. */
static inline const sp__gemv_kernels *sp__gemv_find(void)
{
#if SP_HAVE_X86
    const unsigned features = sp__cpu_features();
    if (features & SP_CPU_AVX512) return &sp__gemv_avx512;
    if (features & SP_CPU_AVX2) return &sp__gemv_avx2;
#endif
    return &sp__gemv_portable;
}

#endif
