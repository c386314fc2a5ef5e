/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - a small matrix product on the calling thread, for kernels that have products inside: over the register kernels of
 * gemm.h, with a right operand that is packed once and used often, or read where it lies. */
#ifndef SPORE_CPU_PRODUCT_H
#define SPORE_CPU_PRODUCT_H

#include "device/cpu/gemm.h"

typedef struct sp__product {
    const sp__gemm_kernels *g;
    int64_t m, n, k;
    int64_t a_row, a_col, c_row;
    int64_t b_row; /* of a row-major B; 0: B is packed by sp__product_pack */
    bool accumulate;
} sp__product;

static inline int64_t sp__product_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Floats that B [k, n] takes when packed. */
static inline int64_t sp__product_packed(const sp__gemm_kernels *g, int64_t n, int64_t k)
{
    return (n + g->columns - 1) / g->columns * g->columns * k;
}

/* Panels [begin, end) of B, of `columns` columns each. */
static inline void sp__product_pack(const sp__gemm_kernels *g, int64_t n, int64_t k, const float *b, int64_t b_row,
                                    int64_t b_col, float *to, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        g->pack(k, sp__product_least(g->columns, n - i * g->columns), g->columns, b + i * g->columns * b_col, b_row,
                b_col, to + i * g->columns * k);
}

/* C = A B or C += A B. Rows are taken in parts of nearly the same height, so that none is thin. */
static inline void sp__product_run(const sp__product *p, const float *a, const float *b, float *c)
{
    const sp__gemm_kernels *g = p->g;
    const int64_t parts = (p->m + g->rows - 1) / g->rows, height = (p->m + parts - 1) / parts;
    for (int64_t at = 0; at < p->k; at += g->k_block) {
        const int64_t depth = sp__product_least(g->k_block, p->k - at);
        for (int64_t col = 0; col < p->n; col += g->columns) {
            const int64_t w = sp__product_least(g->columns, p->n - col), b_row = p->b_row ? p->b_row : g->columns;
            const float *right = p->b_row ? b + at * p->b_row + col : b + col * p->k + at * g->columns;
            const sp__gemm_micro *micro =
                w == g->columns || w == g->lanes ? g->direct[w > g->lanes] : g->edge[w > g->lanes];
            for (int64_t r = 0, turn = 0; r < p->m; r += height, turn++) {
                const int64_t rows = sp__product_least(height, p->m - r);
                const float *left = a + r * p->a_row + at * p->a_col;
                float *to = c + r * p->c_row + col;
                if (w < g->columns) {
                    micro[rows - 1](depth, left, p->a_row, p->a_col, right, b_row, to, p->c_row, w,
                                    p->accumulate || at > 0);
                    continue;
                }
                /* The next columns' lines are asked for meanwhile, one of each row in a part's time. */
                const bool asks = col + w < p->n && turn * 16 < w;
                const float *next = right + (p->b_row ? w : w * p->k) + turn * 16;
                g->ahead[rows - 1](depth, left, p->a_row, p->a_col, right, b_row, to, p->c_row, p->accumulate || at > 0,
                                   (const char *)(asks ? next : to), asks ? b_row * (int64_t)sizeof(float) : 0);
            }
        }
    }
}

#endif
