/* SPDX-License-Identifier: Apache-2.0 */
/* norm.h - sums that normalisations need, and helpers of their gradients. */
#ifndef SPORE_OPS_NORM_H
#define SPORE_OPS_NORM_H

#include "ops/nn.h"

/* Blocks of 256 elements are added in eight lanes, blocks in double: exact enough for any length, and fast. Lanes are said to the compiler where
 * elements are float: it took them apart when it was left to find them. */
typedef float sp__eight __attribute__((vector_size(32), aligned(4), may_alias));
#define SP_EIGHT_AT(at) (*(const sp__eight *)(const void *)(at))
#define SP_NORM_LANES_F32(i, stop, lane, term)                                                                         \
    sp__eight lanes_ = {0};                                                                                            \
    for (; i + 8 <= stop; i += 8) lanes_ += term(SP_EIGHT_AT, &, i);                                                   \
    memcpy(lane, &lanes_, sizeof lanes_)
#define SP_NORM_LANES(i, stop, lane, term, LOAD)                                                                       \
    for (; i + 8 <= stop; i += 8)                                                                                      \
        for (int k = 0; k < 8; k++) lane[k] += term(LOAD, , i + k)
#define SP_NORM_SUM(D, T, C, LOAD, STORE, name, params, term, ...)                                                     \
    static inline double name##_##D params                                                                             \
    {                                                                                                                  \
        double total = 0;                                                                                              \
        for (int64_t at = 0; at < n; at += 256) {                                                                      \
            const int64_t stop = at + 256 < n ? at + 256 : n;                                                          \
            C lane[8] = {0};                                                                                           \
            int64_t i = at;                                                                                            \
            __VA_ARGS__;                                                                                               \
            for (; i < stop; i++) lane[i % 8] += term(LOAD, , i);                                                      \
            total +=                                                                                                   \
                (double)(((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7])));   \
        }                                                                                                              \
        return total;                                                                                                  \
    }
#define SP_TERM_X(LOAD, AT, i) LOAD(AT x[i])
#define SP_TERM_SPREAD(LOAD, AT, i) ((LOAD(AT x[i]) - mean) * (LOAD(AT x[i]) - mean))
#define SP_TERM_DOT(LOAD, AT, i) (LOAD(AT g[i]) * (LOAD(AT x[i]) - mean))
/* Sum of x; of (x - mean)^2; of g (x - mean). */
#define SP_NORM_TOTAL(D, T, C, LOAD, STORE, ...)                                                                       \
    SP_NORM_SUM(D, T, C, LOAD, STORE, sp__total, (const T *x, int64_t n), SP_TERM_X, __VA_ARGS__)
#define SP_NORM_SPREAD(D, T, C, LOAD, STORE, ...)                                                                      \
    SP_NORM_SUM(D, T, C, LOAD, STORE, sp__spread, (const T *x, int64_t n, C mean), SP_TERM_SPREAD, __VA_ARGS__)
#define SP_NORM_DOT(D, T, C, LOAD, STORE, ...)                                                                         \
    SP_NORM_SUM(D, T, C, LOAD, STORE, sp__dot, (const T *g, const T *x, int64_t n, C mean), SP_TERM_DOT, __VA_ARGS__)
/* clang-format off */
#define SP_NORM_SUMS(D, T, C, LOAD, STORE, ...)                                                                        \
    SP_NORM_TOTAL(D, T, C, LOAD, STORE, SP_NORM_LANES(i, stop, lane, SP_TERM_X, LOAD))                                 \
    SP_NORM_SPREAD(D, T, C, LOAD, STORE, SP_NORM_LANES(i, stop, lane, SP_TERM_SPREAD, LOAD))                           \
    SP_NORM_DOT(D, T, C, LOAD, STORE, SP_NORM_LANES(i, stop, lane, SP_TERM_DOT, LOAD))
/* clang-format on */
SP_EACH_HALF(SP_NORM_SUMS, , )
SP_EACH_DOUBLE(SP_NORM_SUMS, , )
SP_EACH_SINGLE(SP_NORM_TOTAL, SP_NORM_LANES_F32(i, stop, lane, SP_TERM_X))
SP_EACH_SINGLE(SP_NORM_SPREAD, SP_NORM_LANES_F32(i, stop, lane, SP_TERM_SPREAD))
SP_EACH_SINGLE(SP_NORM_DOT, SP_NORM_LANES_F32(i, stop, lane, SP_TERM_DOT))

/* Is this rule being recorded, so that it must consist of operators that have gradients themselves? */
bool sp__vjp_again(const sp_vjp *v);
/* The n elements of t converted to dtype, or n times `fill` when t is NULL. */
void sp__params_read(const sp_tensor *t, double fill, sp_dtype dtype, int64_t n, char *out);
/* x + y, where either may be NULL. */
sp_tensor *sp__add_some(sp_builder *b, sp_tensor *x, sp_tensor *y);

#endif
