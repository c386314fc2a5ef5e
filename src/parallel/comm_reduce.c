/* SPDX-License-Identifier: Apache-2.0 */
/* comm_reduce.c - values of several ranks become one, in the order of ranks: a job gives the same bits however its messages travel.
 * float16 and bfloat16 are added in float32 and rounded once. */
#include <string.h>

#include "base/wide.h"
#include "ops/kernels.h"
#include "parallel/parallel_impl.h"

typedef struct {
    const void *in;
    void *out;
    int64_t stride;
    int n_ranks;
} reduce_job;

enum { BLOCK = 256 }; /* elements whose partial results stay in the first cache */

/* name_DTYPE(job, begin, end): a is what has been reduced, x the next rank's value. */
#define REDUCE_LOOP(D, T, C, LOAD, STORE, name, expr, last)                                                            \
    static void name##_##D(void *context, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        const reduce_job *j = context;                                                                                 \
        const T *in = j->in;                                                                                           \
        T *out = j->out;                                                                                               \
        C part[BLOCK];                                                                                                 \
        for (int64_t at = begin; at < end; at += BLOCK) {                                                              \
            const int n = (int)(end - at < BLOCK ? end - at : BLOCK);                                                  \
            for (int i = 0; i < n; i++) part[i] = LOAD(in[at + i]);                                                    \
            for (int r = 1; r < j->n_ranks; r++) {                                                                     \
                const T *from = in + (int64_t)r * j->stride + at;                                                      \
                for (int i = 0; i < n; i++) {                                                                          \
                    const C a = part[i], x = LOAD(from[i]);                                                            \
                    part[i] = (C)(expr);                                                                               \
                }                                                                                                      \
            }                                                                                                          \
            for (int i = 0; i < n; i++) {                                                                              \
                const C a = part[i];                                                                                   \
                out[at + i] = STORE(last);                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    SP_WIDE(name##_##D)
#define REDUCE_CASE(D, T, C, LOAD, STORE, name, expr, last)                                                            \
    case SP_DTYPE_##D: return SP_WIDEST(name##_##D);
#define REDUCE_CHOICE(LIST, name)                                                                                      \
    static sp__part_fn name##_of(sp_dtype dtype)                                                                       \
    {                                                                                                                  \
        switch ((int)dtype) {                                                                                          \
            LIST(REDUCE_CASE, name, , )                                                                                \
        default: return NULL;                                                                                          \
        }                                                                                                              \
    }

#define EACH_NUMBER(M, ...) SP_EACH_REAL(M, __VA_ARGS__) SP_EACH_COMPLEX(M, __VA_ARGS__)
#define EACH_ORDERED(M, ...) SP_EACH_REAL(M, __VA_ARGS__) SP_EACH_BOOL(M, __VA_ARGS__)
#define EACH_BITS(M, ...) SP_EACH_INT(M, __VA_ARGS__) SP_EACH_BOOL(M, __VA_ARGS__)
#define EACH_MEAN(M, ...) SP_EACH_FLOAT(M, __VA_ARGS__) SP_EACH_COMPLEX(M, __VA_ARGS__)
#define EACH_SUM(M, ...) EACH_NUMBER(M, __VA_ARGS__) SP_EACH_BOOL(M, __VA_ARGS__)

EACH_SUM(REDUCE_LOOP, sum, a + x, a)
REDUCE_CHOICE(EACH_SUM, sum)
EACH_SUM(REDUCE_LOOP, prod, a *x, a)
REDUCE_CHOICE(EACH_SUM, prod)
/* A NaN of any rank stays. */
EACH_ORDERED(REDUCE_LOOP, max, a > x || a != a ? a : x, a)
REDUCE_CHOICE(EACH_ORDERED, max)
EACH_ORDERED(REDUCE_LOOP, min, a < x || a != a ? a : x, a)
REDUCE_CHOICE(EACH_ORDERED, min)
EACH_BITS(REDUCE_LOOP, and, a &x, a)
REDUCE_CHOICE(EACH_BITS, and)
EACH_BITS(REDUCE_LOOP, or, a | x, a)
REDUCE_CHOICE(EACH_BITS, or)
EACH_MEAN(REDUCE_LOOP, mean, a + x, a / (float)j->n_ranks)
REDUCE_CHOICE(EACH_MEAN, mean)

static sp__part_fn loop_of(sp_dtype dtype, sp_reduce how)
{
    switch (how) {
    case SP_REDUCE_SUM: return sum_of(dtype);
    case SP_REDUCE_PROD: return prod_of(dtype);
    case SP_REDUCE_MAX: return max_of(dtype);
    case SP_REDUCE_MIN: return min_of(dtype);
    case SP_REDUCE_AND: return and_of(dtype);
    case SP_REDUCE_OR: return or_of(dtype);
    case SP_REDUCE_MEAN: return mean_of(dtype);
    default: return NULL;
    }
}

sp_status sp__reduce_check(sp_dtype dtype, sp_reduce how)
{
    SP_CHECK((unsigned)how < SP_REDUCE_COUNT, SP_VALUE, "reduction %d is unknown", (int)how);
    SP_CHECK(loop_of(dtype, how), SP_TYPE, "'%s' of %s between ranks is not defined", sp_reduce_name(how),
             sp_dtype_name(dtype));
    return SP_OK;
}

void sp__reduce_ranks(sp_dtype dtype, sp_reduce how, int n_ranks, const void *in, int64_t stride, int64_t n, void *out)
{
    reduce_job j = {.in = in, .out = out, .stride = stride, .n_ranks = n_ranks};
    loop_of(dtype, how)(&j, 0, n);
}

static const char *const reduce_names[] = {
#define X(name, text) text,
    SP_REDUCE_LIST(X)
#undef X
};

const char *sp_reduce_name(sp_reduce how) { return (unsigned)how < SP_REDUCE_COUNT ? reduce_names[how] : "?"; }

sp_status sp_reduce_parse(const char *name, sp_reduce *out)
{
    SP_CHECK(name && out, SP_VALUE, "the name of a reduction is NULL");
    if (strcmp(name, "mean") == 0) name = "avg";
    for (int i = 0; i < SP_REDUCE_COUNT; i++)
        if (strcmp(name, reduce_names[i]) == 0) {
            *out = (sp_reduce)i;
            return SP_OK;
        }
    return sp__fail(SP_VALUE, "reduction '%s' is unknown; there are sum, prod, max, min, and, or, avg (mean)", name);
}
