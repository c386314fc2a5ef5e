/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h - matrix product on the CPU: C = A B, or C += A B, for float32 and float64; C = A B for bfloat16 and int8 (wrapping) where
 * the CPU has dot products for them.
 *
 * Any strides for A and B (a transposed or sliced operand needs no copy), rows of C contiguous. The order in which one
 * element of C is summed is a function of shapes, strides, dtype and CPU alone: any number of threads gives the same bits. */
#ifndef SPORE_CPU_GEMM_H
#define SPORE_CPU_GEMM_H

#include "base/base.h"
#include "spore/tensor.h"

/* One product. Strides count elements. */
typedef struct sp__gemm_shape {
    sp_dtype dtype; /* of A, B and C */
    int64_t m, n, k;
    int64_t a_row, a_col;
    int64_t b_row, b_col;
    int64_t c_row;
} sp__gemm_shape;

/* Whether there are products of this dtype here. */
bool sp__gemm_takes(sp_dtype dtype);
/* Whether this product goes to tiles of AMX (unless its numbers do not fit them). */
bool sp__gemm_is_tiled(const sp__gemm_shape *s, double share);
#define SP_GEMM_TILES_SHARE                                                                                            \
    0.97 /* of plain products; weights that are kept are packed once, which the count leaves out */
/* Bytes of scratch that sp__gemm needs for this product; 0 for small ones. */
size_t sp__gemm_work(const sp__gemm_shape *s);
/* work: 64-byte aligned, sp__gemm_work bytes (NULL when that is 0). Fails only when interrupted. */
sp_status sp__gemm(const sp__gemm_shape *s, const void *a, const void *b, void *c, bool accumulate, void *work);

/* What a product may bring along. */
typedef struct sp__gemm_extra {
    const struct sp_epilogue
        *epilogue;        /* NULL: none. Called for blocks of C when they are final; see device/device.h */
    int64_t start;        /* number of C's first element, for the epilogue */
    const void *packed_b; /* B as sp__gemm_pack_b made it, NULL: none; the same bits either way */
} sp__gemm_extra;
sp_status sp__gemm_with(const sp__gemm_shape *s, const void *a, const void *b, void *c, bool accumulate, void *work,
                        const sp__gemm_extra *extra);
/* B once and for all in the form the kernels want; 0 bytes: it would be read as it is. `to` is 64-byte aligned. */
size_t sp__gemm_packed_bytes(const sp__gemm_shape *s);
sp_status sp__gemm_pack_b(const sp__gemm_shape *s, const void *b, void *to);

/* A batch: operands of item i start at a + a_offset[i] and so on (in elements; NULL: item i at i * stride). */
typedef struct sp__gemm_batch {
    int64_t n;
    const int64_t *a_offset, *b_offset;
    int64_t a_step, b_step, c_step;     /* used where the offsets are NULL; C always uses its step */
    const struct sp_epilogue *epilogue; /* NULL: none; element 0 is the first of item 0's C */
} sp__gemm_batch;
size_t sp__gemm_batch_work(const sp__gemm_shape *s, int64_t n);
sp_status sp__gemm_batched(const sp__gemm_shape *s, const sp__gemm_batch *batch, const void *a, const void *b, void *c,
                           bool accumulate, void *work);

/* --- micro-kernels ----------------------------------------------------------------------------------------------- */

/* c[i][j] (+)= sum_p a[i * a_row + p * a_col] * b[p * b_row + j], i < rows of the kernel, j < n. */
typedef void (*sp__gemm_micro)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b, int64_t b_row,
                               void *c, int64_t c_row, int64_t n, bool accumulate);
/* The same for whole rows of C, asking for what comes next: a line of memory a step, at ahead + p * ahead_step bytes, and, when rows of A lie
 * along K, these some lines on. */
typedef void (*sp__gemm_ahead)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b, int64_t b_row,
                               void *c, int64_t c_row, bool accumulate, const char *ahead, int64_t ahead_step);
/* The same, and one operand is stored in the form of a panel on the way, for the calls that come after: keep_b the `columns` columns of B,
 * keep_a the rows of A, which lie side by side (a_row = 1) and are all there. Storing what was loaded anyway costs nothing beside the sums. */
typedef void (*sp__gemm_keep)(int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b, int64_t b_row,
                              void *c, int64_t c_row, bool accumulate, const char *ahead, int64_t ahead_step,
                              void *kept);
/* y[j * y_step] (+)= sum_p x[p] * b[j * b_col + p], j < n: rows of the matrix contiguous. */
typedef void (*sp__gemm_dots)(int64_t n, int64_t k, const void *x, const void *b, int64_t b_col, void *y,
                              int64_t y_step, bool accumulate);
/* y[j] (+)= sum_p x[p * x_step] * b[p * b_row + j], j < n. */
typedef void (*sp__gemm_sums)(int64_t n, int64_t k, const void *x, int64_t x_step, const void *b, int64_t b_row,
                              void *y, bool accumulate);
/* Column panels for the packed kernel: dst[p * width + j] = b[p * b_row + j * b_col], j < n, zeros up to width. */
typedef void (*sp__gemm_pack)(int64_t k, int64_t n, int64_t width, const void *b, int64_t b_row, int64_t b_col,
                              void *dst);

/* For convolution: rows of B are windows into one block of memory, at x + offsets[p]. A in panels of `rows`. */
typedef void (*sp__gemm_taps)(int64_t k, const void *a, const void *x, const int64_t *offsets, void *c, int64_t c_row,
                              int64_t n, bool accumulate);
/* tile[i][j] (+)= sum_p x[offsets[p] + i * step] * w[p][j]; w and tile in rows of `columns`. */
typedef void (*sp__gemm_points)(int64_t k, const void *x, int64_t step, const int64_t *offsets, const void *w,
                                void *tile, bool accumulate);
/* out[j * out_row + i] = tile[i][j] (+ bias[j]), i < rows, j < n. The tile has `columns` rows, whatever is in those not asked for. */
typedef void (*sp__gemm_settle)(int64_t rows, int64_t n, const void *tile, const void *bias, void *out,
                                int64_t out_row);
/* Positions visited by three nested loops; `step` is how far they move in x. */
typedef struct sp__gemm_span {
    int64_t n[3], step[3];
} sp__gemm_span;
/* tile[i][j] += sum over positions q of x[offsets[i] + q] * b[q][j]; b and tile in rows of `columns`. */
typedef void (*sp__gemm_correlate)(const sp__gemm_span *span, const void *x, const int64_t *offsets, const void *b,
                                   void *tile);
/* *sum += sum over positions q of x[q] * y[q]; y without gaps. */
typedef void (*sp__gemm_correlate_one)(const sp__gemm_span *span, const void *x, const void *y, void *sum);
/* y[j] = sum_p w[p] * x[offsets[p] + j] (+ *bias), j < n. Reads x up to two vectors behind the last element. */
typedef void (*sp__gemm_depth_row)(int64_t n, int64_t k, const void *x, const int64_t *offsets, const void *w,
                                   const void *bias, void *y);
/* sums[p] += sum over rows r and j < n of y[r * y_step + j] * x[r * x_step + offsets[p] + j]. Reads x up to a vector behind. */
typedef void (*sp__gemm_depth_taps)(int64_t n_rows, int64_t x_step, int64_t y_step, int64_t n, int64_t k, const void *x,
                                    const int64_t *offsets, const void *y, void *sums);
/* even[i] = x[2 i] and odd[i] = x[2 i + 1] for the n elements of x. */
typedef void (*sp__gemm_split)(int64_t n, const void *x, void *even, void *odd);
/* dst[p * columns + j] = x[offsets[p] + positions[j]], j < n, zeros up to columns. */
typedef void (*sp__gemm_gather)(int64_t k, const int64_t *offsets, int64_t n, const int64_t *positions, const void *x,
                                void *dst);
/* to[i * step] += from[i] */
typedef void (*sp__gemm_add)(int64_t n, const void *from, void *to, int64_t step);

/* Transforms of winograd.h, for a panel of `columns` tiles (winograd_micro.h). */
struct sp__winograd_panel;
struct sp__winograd_picture;
typedef void (*sp__winograd_gather)(const struct sp__winograd_panel *panel, const struct sp__winograd_picture *picture,
                                    const void *x, void *points, int64_t step);
typedef void (*sp__winograd_output)(const struct sp__winograd_panel *panel, const struct sp__winograd_picture *picture,
                                    int64_t rows, const void *sums, const void *bias, void *out);
typedef void (*sp__winograd_weight_loop)(int64_t n, const void *taps, void *points, int64_t step);
typedef void (*sp__winograd_taps)(int64_t rows, int64_t columns, const void *sums, void *out, int64_t out_row);
typedef bool (*sp__winograd_fits)(int64_t n, const void *x, int exponent);

#define SP_GEMM_ROWS 12
#define SP_GEMM_POINTS 14
#define SP_GEMM_PANEL_BYTES (64 * 1024) /* the largest column panel: columns * k_block elements */
typedef struct sp__gemm_kernels {
    const char *name;
    int rows, columns, lanes; /* of the register block; lanes: of one vector */
    int k_block;              /* so that a column panel stays in a near cache; C is read and written once per block */
    sp__gemm_micro packed[2][SP_GEMM_ROWS]; /* A in panels of `rows`, B in panels of `columns`; [0]: one vector wide */
    sp__gemm_micro direct[2][SP_GEMM_ROWS]; /* strides as given, n a multiple of lanes */
    sp__gemm_micro edge[2][SP_GEMM_ROWS];   /* strides as given, the last vector of B and C incomplete */
    sp__gemm_ahead ahead[SP_GEMM_ROWS];     /* strides as given, n = columns */
    sp__gemm_keep keep_b[SP_GEMM_ROWS], keep_a;
    sp__gemm_dots dots;
    sp__gemm_sums sums;
    sp__gemm_pack pack;
    sp__gemm_taps taps[2][SP_GEMM_ROWS];      /* reads whole vectors of x, also behind the last column */
    sp__gemm_taps taps_edge[2][SP_GEMM_ROWS]; /* reads no further than the last column */
    int points_max;                           /* rows of the tile of points */
    sp__gemm_points points[2][SP_GEMM_POINTS];
    sp__gemm_settle settle;
    sp__gemm_correlate correlate[2][SP_GEMM_ROWS];
    sp__gemm_correlate_one correlate_one;
    sp__gemm_depth_row depth_row;
    sp__gemm_depth_taps depth_taps;
    sp__gemm_split split;
    sp__gemm_gather gather;
    sp__gemm_add add;
    sp__winograd_gather win_input, win_dout;
    sp__winograd_output win_output;
    sp__winograd_weight_loop win_weight;
    sp__winograd_taps win_taps;
    sp__winograd_fits win_fits;
} sp__gemm_kernels;

/* The best for this machine. dtype: float32 or float64. */
const sp__gemm_kernels *sp__gemm_find(sp_dtype dtype);

extern const sp__gemm_kernels sp__gemm_f32_portable, sp__gemm_f64_portable;
#if SP_HAVE_X86
extern const sp__gemm_kernels sp__gemm_f32_avx2, sp__gemm_f64_avx2;
extern const sp__gemm_kernels sp__gemm_f32_avx512, sp__gemm_f64_avx512;
#endif

#endif
