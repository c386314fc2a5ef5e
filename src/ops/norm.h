/* SPDX-License-Identifier: Apache-2.0 */
/* norm.h - sums that normalisations need, and helpers of their gradients. */
#ifndef SPORE_OPS_NORM_H
#define SPORE_OPS_NORM_H

#include "ops/nn.h"

/* Blocks of 256 elements are added in eight lanes, blocks in double: exact enough for any length, and fast. */
#define SP_NORM_SUM(D, T, C, LOAD, STORE, name, params, term)                                                          \
    static inline double name##_##D params                                                                             \
    {                                                                                                                  \
        double total = 0;                                                                                              \
        for (int64_t at = 0; at < n; at += 256) {                                                                      \
            const int64_t stop = at + 256 < n ? at + 256 : n;                                                          \
            C lane[8] = {0};                                                                                           \
            int64_t i = at;                                                                                            \
            for (; i + 8 <= stop; i += 8)                                                                              \
                for (int k = 0; k < 8; k++) lane[k] += term(LOAD, i + k);                                              \
            for (; i < stop; i++) lane[i % 8] += term(LOAD, i);                                                        \
            total += (double)(((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7])));\
        }                                                                                                              \
        return total;                                                                                                  \
    }
#define SP_TERM_X(LOAD, i) LOAD(x[i])
#define SP_TERM_SPREAD(LOAD, i) ((LOAD(x[i]) - mean) * (LOAD(x[i]) - mean))
#define SP_TERM_DOT(LOAD, i) (LOAD(g[i]) * (LOAD(x[i]) - mean))
/* Sum of x; of (x - mean)^2; of g (x - mean). */
#define SP_NORM_SUMS(D, T, C, LOAD, STORE, ...)                                                                        \
    SP_NORM_SUM(D, T, C, LOAD, STORE, sp__total, (const T *x, int64_t n), SP_TERM_X)                                   \
    SP_NORM_SUM(D, T, C, LOAD, STORE, sp__spread, (const T *x, int64_t n, C mean), SP_TERM_SPREAD)                     \
    SP_NORM_SUM(D, T, C, LOAD, STORE, sp__dot, (const T *g, const T *x, int64_t n, C mean), SP_TERM_DOT)
SP_EACH_FLOAT(SP_NORM_SUMS, , )

/* Is this rule being recorded, so that it must consist of operators that have gradients themselves? */
bool sp__vjp_again(const sp_vjp *v);
/* The n elements of t converted to dtype, or n times `fill` when t is NULL. */
void sp__params_read(const sp_tensor *t, double fill, sp_dtype dtype, int64_t n, char *out);
/* x + y, where either may be NULL. */
sp_tensor *sp__add_some(sp_builder *b, sp_tensor *x, sp_tensor *y);

#endif
