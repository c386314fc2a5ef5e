/* SPDX-License-Identifier: Apache-2.0 */
/* wide.h - a loop in plain C once more for the wider vectors that this CPU may have.
 *
 * SP_WIDE(fn) compiles the static part function fn(context, begin, end), with everything it calls, for AVX2 and AVX-512; SP_WIDEST(fn)
 * is the one to run here, under SPORE_ISA. Nothing is contracted or reordered, so all of them give the same bits. */
#ifndef SPORE_WIDE_H
#define SPORE_WIDE_H

#include "base/base.h"

typedef void (*sp__part_fn)(void *context, int64_t begin, int64_t end);

#if SP_HAVE_X86 && defined(__GNUC__) && !defined(__clang__)
#define SP_WIDE(fn)                                                                                                    \
    __attribute__((target("avx2"), flatten)) static void fn##_avx2(void *context, int64_t begin, int64_t end)          \
    {                                                                                                                  \
        fn(context, begin, end);                                                                                       \
    }                                                                                                                  \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"), flatten)) static void         \
    fn##_avx512(void *context, int64_t begin, int64_t end)                                                             \
    {                                                                                                                  \
        fn(context, begin, end);                                                                                       \
    }
#define SP_WIDEST(fn) sp__widest(fn, fn##_avx2, fn##_avx512)
static inline sp__part_fn sp__widest(sp__part_fn plain, sp__part_fn avx2, sp__part_fn avx512)
{
    const unsigned features = sp__cpu_features();
    return features & SP_CPU_AVX512 ? avx512 : features & SP_CPU_AVX2 ? avx2 : plain;
}
#else
#define SP_WIDE(fn)
#define SP_WIDEST(fn) (fn)
#endif

/* name_DTYPE for all floats (kernels.h), and the one to run here by dtype: name_widest. */
#define SP_WIDE_EACH(D, T, C, LOAD, STORE, name, ...) SP_WIDE(name##_##D)
#define SP_WIDE_CASE(D, T, C, LOAD, STORE, name, ...)                                                                  \
    case SP_DTYPE_##D: return SP_WIDEST(name##_##D);
#define SP_WIDE_FLOATS(name)                                                                                           \
    SP_EACH_FLOAT(SP_WIDE_EACH, name, )                                                                                \
    static sp__part_fn name##_widest(int dtype)                                                                        \
    {                                                                                                                  \
        switch (dtype) {                                                                                               \
            SP_EACH_FLOAT(SP_WIDE_CASE, name, )                                                                        \
        default: return NULL;                                                                                          \
        }                                                                                                              \
    }

#endif
