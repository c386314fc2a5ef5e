/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.h - matrix product from tiles of 16 rows of 64 bytes: bfloat16, int8, and float32 as three bfloat16 terms.
 *
 * This is the shape that AMX computes with. The same panels also feed the AVX-512 dot products (BF16, VNNI), and an emulation of
 * AMX in plain C that has its exact arithmetic, so that everything but the instructions themselves is tested on any machine.
 * AVX2 multiplies pairs of int16, which bytes are widened to (sp__tiles_pairs).
 *
 * A word is what one step of a dot product takes: two bfloat16 or int16, or four int8, 32 bits. A tile is 16 words by 16:
 *   A   tile[row][word]       16 rows, 16 words of K
 *   B   tile[word][column]    16 words of K, 16 columns
 * A panel is 32 rows (or columns) wide and holds all of K, block of K by block, in each the terms, in each the steps (16 words of K), in each
 * the two tiles. What lies behind the last row, column or element of K is zero.
 *
 * float32: x = x0 + x1 + x2 with bfloat16 terms, exact as long as nothing underflows; of the nine products of terms the three smallest
 * (below 2^-23 of the whole together) are left out, the others added smallest first. docs/inside/kernels.md has the error bound. What this cannot
 * do as well as an FMA chain - infinities, NaN, numbers near the ends of the range - is found while packing, and the product declines. */
#ifndef SPORE_CPU_TILES_H
#define SPORE_CPU_TILES_H

#include "base/base.h"
#include "spore/tensor.h"

enum { SP_TILE = 16, SP_TILE_BYTES = 1024, SP_TILES_PANEL = 32, SP_TILES_TERMS = 3 };

/* Where the elements of an operand are: data[outer_at(i) + k_at(p)], in elements. With tables these are outer_table[i] and
 * k_table[p], else i * outer and p * k. */
typedef struct sp__tiles_source {
    sp_dtype dtype; /* F32, BF16, I8 or I16 */
    const void *data;
    int64_t n, n_k; /* rows of A or columns of B; K */
    int64_t outer, k;
    const int64_t *outer_table, *k_table;
} sp__tiles_source;

/* Range of what was packed: bits of the largest and of the smallest magnitude that is not zero (UINT32_MAX: all are). */
typedef struct sp__tiles_range {
    _Atomic uint32_t largest, smallest;
} sp__tiles_range;

/* 32 rows of A as a block reads them: a packed panel, or rows where they lie. Bytes from row to row, from step to step. */
typedef struct sp__tiles_rows {
    const char *data;
    int64_t row, step;
} sp__tiles_rows;

typedef struct sp__tiles_kernels {
    const char *name;
    bool f32, bf16, i8, i16; /* which products it offers */
    bool always;             /* float32 of any shape, whatever a count of cycles says: for tests */
    bool in_place;           /* reads rows of bfloat16 and int8 that lie along K where they are */
    /* Once per thread around calls of block: tile registers are state of the thread. May be NULL. */
    void (*begin)(void);
    void (*end)(void);
    /* What the sums of 32 rows start from, all of K, where that is not zero: NULL, or for int8 only. */
    void (*start)(int64_t steps, const sp__tiles_rows *a, int32_t *from);
    /* acc[32][32] += A B over `steps` steps of one block of K. half: only the first 16 rows, or columns, matter. from: acc holds nothing yet,
     * int8's row i starts from from[i], the others' from zero. */
    void (*block)(sp_dtype dtype, int64_t steps, const sp__tiles_rows *a, const char *b, bool half_rows,
                  bool half_columns, void *acc, const int32_t *from);
    /* Panels one behind the other, of 32 outer elements each, from `first` on, all of K. turned: tile[word][outer] (B), else tile[outer][word] (A). */
    void (*pack)(const sp__tiles_source *s, int64_t first, int64_t panels, bool turned, char *to,
                 sp__tiles_range *range);
    /* `rows` rows of n sums, 32 apart, to bfloat16 or int8, `to_row` elements apart. */
    void (*round)(sp_dtype dtype, int64_t rows, int64_t n, void *to, int64_t to_row, const void *sums);
} sp__tiles_kernels;

/* What this machine has for a dtype, or NULL. */
const sp__tiles_kernels *sp__tiles_find(sp_dtype dtype);
/* For tests: use these instead (NULL: what the machine has). Not while products run. */
void sp__tiles_override(const sp__tiles_kernels *kernels);
extern const sp__tiles_kernels sp__tiles_emulated; /* AMX in plain C */
#if SP_HAVE_X86
extern const sp__tiles_kernels sp__tiles_avx2, sp__tiles_vnni, sp__tiles_amx;
#endif
/* Kernels for operands of int16 that hold bytes (sums of int32 are exact then), where there are none for int8; or NULL. */
const sp__tiles_kernels *sp__tiles_pairs(void);

/* Sizes that follow from dtype and K. */
static inline int64_t sp__tiles_terms(sp_dtype dtype) { return dtype == SP_DTYPE_F32 ? SP_TILES_TERMS : 1; }
static inline int sp__tiles_size(sp_dtype dtype) /* bytes of an element of the source */
{
    return dtype == SP_DTYPE_F32 ? 4 : dtype == SP_DTYPE_I8 ? 1 : 2;
}
static inline int64_t sp__tiles_step(sp_dtype dtype) { return dtype == SP_DTYPE_I8 ? 64 : 32; } /* elements of K */
static inline int64_t sp__tiles_steps(sp_dtype dtype, int64_t k)
{
    return (k + sp__tiles_step(dtype) - 1) / sp__tiles_step(dtype);
}
/* Steps of a block of K: panels of B for one block stay in the first cache, with all terms, or (float32 apart) come from the second one fast enough. */
static inline int64_t sp__tiles_block(sp_dtype dtype) { return dtype == SP_DTYPE_F32 ? 4 : 16; }
static inline int64_t sp__tiles_panel_bytes(sp_dtype dtype, int64_t k)
{
    return sp__tiles_steps(dtype, k) * sp__tiles_terms(dtype) * 2 * SP_TILE_BYTES;
}

/* One product C = A B, or C += A B (float32 only). C is float32, bfloat16 or int8 like the operands (int8 wraps), or int32 for int8. */
typedef struct sp__tiles_product {
    sp__tiles_source a, b;
    const char *packed_b; /* B as sp__tiles_pack made it, or NULL */
    void *c;
    sp_dtype c_dtype;
    int64_t c_row;
    int64_t c_columns,
        c_step; /* convolution: columns of one image, elements from image to image; 0: all columns are side by side */
    const float *bias; /* a number per row, in front of the sums; float32 only, may be NULL */
    bool accumulate;
    const struct sp_epilogue *epilogue;       /* may be NULL */
    int64_t start;                            /* number of C's first element, for the epilogue */
    const sp__tiles_range *a_range, *b_range; /* what the caller knows already; both or none */
} sp__tiles_product;

/* Scratch, 64-byte aligned. */
size_t sp__tiles_work(sp_dtype dtype, int64_t m, int64_t n, int64_t k, bool packed_b);
/* SP_DECLINED, with C untouched, when the numbers are out of range for the split of float32. */
sp_status sp__tiles_multiply(const sp__tiles_kernels *kernels, const sp__tiles_product *p, void *work);
/* The range of n floats, added to what is in *range. */
void sp__tiles_measure(const float *x, int64_t n, sp__tiles_range *range);
void sp__tiles_range_start(sp__tiles_range *range);
void sp__tiles_widen(sp__tiles_range *range, uint32_t largest, uint32_t smallest);
/* B packed ahead: a header with its range, then the panels. */
size_t sp__tiles_packed_bytes(sp_dtype dtype, int64_t n, int64_t k);
sp_status sp__tiles_pack(const sp__tiles_kernels *kernels, const sp__tiles_source *b, void *to);

#endif
