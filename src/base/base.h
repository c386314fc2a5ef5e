/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - errors, memory, threads: what every other folder stands on. Includes nothing of ours but public headers. */
#ifndef SPORE_BASE_H
#define SPORE_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spore/runtime.h"
#include "spore/status.h"

/* --- errors ------------------------------------------------------------------------------------------------------ */

/* Set this thread's message and return `status`. */
sp_status sp__fail(sp_status status, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Put "context: " in front of this thread's message; call it right after a failure, returns nothing to lose. */
void sp__error_context(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

#define SP_CHECK(cond, status, ...)                                                                                    \
    do {                                                                                                               \
        if (__builtin_expect(!(cond), 0)) return sp__fail((status), __VA_ARGS__);                                      \
    } while (0)
#define SP_GOTO(label, expr)                                                                                           \
    do {                                                                                                               \
        status = (expr);                                                                                               \
        if (status != SP_OK) goto label;                                                                               \
    } while (0)

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* All memory of the library. Blocks are 64-byte aligned, cached by size class after free, contents undefined.
 * Returns NULL when there is none (and sets the error message): callers return SP_NOMEM. bytes may be 0. */
void *sp__alloc(size_t bytes);
void *sp__alloc_zero(size_t bytes);
/* Grow keeping contents; on failure the old block stays valid and NULL is returned. old_bytes as given to sp__alloc. */
void *sp__realloc(void *block, size_t old_bytes, size_t bytes);
void sp__free(void *block); /* NULL is fine */
char *sp__strdup(const char *text);
/* Tests: the n-th allocation from now fails (1 = the next), once. 0 switches off. */
void sp__alloc_fail_at(int64_t n);

/* a * b (+ c) without overflow; false when it does not fit. */
static inline bool sp__mul_size(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool sp__add_size(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool sp__mul_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }

/* --- threads ----------------------------------------------------------------------------------------------------- */

/* Call fn(context, begin, end) for disjoint ranges that cover [0, n), on several threads when n is more than `grain`.
 * Ranges never depend on the number of threads: each is [k*grain, (k+1)*grain). fn must not fail and must not call
 * into code that can; nested calls run on the calling thread. Polls for interruption: SP_INTERRUPTED, else SP_OK. */
sp_status sp__parallel_for(int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end),
                           void *context);
/* For loops outside of sp__parallel_for: asks for interruption if it is time to. Costs a look at the clock. */
sp_status sp__interrupt_check(void);

/* --- CPU --------------------------------------------------------------------------------------------------------- */

enum { SP_CPU_AVX2 = 1, SP_CPU_AVX512 = 2, SP_CPU_VNNI = 4, SP_CPU_BF16 = 8, SP_CPU_AMX = 16, SP_CPU_NEON = 32 };
/* Features of this machine (AVX2 implies FMA and F16C), capped by SPORE_ISA=portable|avx2|avx512|amx|neon. */
unsigned sp__cpu_features(void);

#endif
