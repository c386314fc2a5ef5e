/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - element loops written once and made for every dtype.
 *
 * A list macro calls M(DTYPE, storage type, compute type, load, store, ...) for each dtype of a kind. float16 and bfloat16
 * compute in float and round once at the end; bool computes in int and stores "is not zero". Loops treat the row-major
 * case apart so that the compiler can vectorise it. Signed overflow wraps (-fwrapv). */
#ifndef SPORE_KERNELS_H
#define SPORE_KERNELS_H

#include <complex.h>
#include <math.h>

#include "ops/ops_impl.h"
#include "tensor/half.h"

typedef float complex sp_c64;
typedef double complex sp_c128;

#define SP_KEEP(x) (x)
#define SP_TRUTH(x) ((uint8_t)((x) != 0))

#define SP_EACH_HALF(M, ...)                                                                                           \
    M(F16, sp_f16, float, sp__f16_f32, sp__f32_f16, __VA_ARGS__)                                                       \
    M(BF16, sp_bf16, float, sp__bf16_f32, sp__f32_bf16, __VA_ARGS__)
#define SP_EACH_SINGLE(M, ...) M(F32, float, float, SP_KEEP, SP_KEEP, __VA_ARGS__)
#define SP_EACH_DOUBLE(M, ...) M(F64, double, double, SP_KEEP, SP_KEEP, __VA_ARGS__)
/* Everything that computes in float, apart from double: lets an expression use expf and exp where they belong. */
#define SP_EACH_FLOAT32(M, ...) SP_EACH_HALF(M, __VA_ARGS__) SP_EACH_SINGLE(M, __VA_ARGS__)
#define SP_EACH_FLOAT(M, ...) SP_EACH_FLOAT32(M, __VA_ARGS__) SP_EACH_DOUBLE(M, __VA_ARGS__)
/* clang-format off */
#define SP_EACH_SIGNED(M, ...)                                                                                         \
    M(I8, int8_t, int8_t, SP_KEEP, (int8_t), __VA_ARGS__)                                                              \
    M(I16, int16_t, int16_t, SP_KEEP, (int16_t), __VA_ARGS__)                                                          \
    M(I32, int32_t, int32_t, SP_KEEP, (int32_t), __VA_ARGS__)                                                          \
    M(I64, int64_t, int64_t, SP_KEEP, (int64_t), __VA_ARGS__)
/* clang-format on */
/* clang-format off */
#define SP_EACH_UNSIGNED(M, ...)                                                                                       \
    M(U8, uint8_t, uint8_t, SP_KEEP, (uint8_t), __VA_ARGS__)                                                           \
    M(U16, uint16_t, uint16_t, SP_KEEP, (uint16_t), __VA_ARGS__)                                                       \
    M(U32, uint32_t, uint32_t, SP_KEEP, (uint32_t), __VA_ARGS__)                                                       \
    M(U64, uint64_t, uint64_t, SP_KEEP, (uint64_t), __VA_ARGS__)
/* clang-format on */
#define SP_EACH_INT(M, ...) SP_EACH_SIGNED(M, __VA_ARGS__) SP_EACH_UNSIGNED(M, __VA_ARGS__)
#define SP_EACH_BOOL(M, ...) M(BOOL, uint8_t, int, SP_KEEP, SP_TRUTH, __VA_ARGS__)
#define SP_EACH_COMPLEX(M, ...)                                                                                        \
    M(C64, sp_c64, sp_c64, SP_KEEP, SP_KEEP, __VA_ARGS__) M(C128, sp_c128, sp_c128, SP_KEEP, SP_KEEP, __VA_ARGS__)
#define SP_EACH_REAL(M, ...) SP_EACH_INT(M, __VA_ARGS__) SP_EACH_FLOAT(M, __VA_ARGS__)

/* name_DTYPE: out = expr(x), with `attrs` in sight. */
#define SP_UNARY_LOOP(D, T, C, LOAD, STORE, name, expr)                                                                \
    static void name##_##D(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        if (step[0] == (int64_t)sizeof(T) && step[1] == (int64_t)sizeof(T)) {                                          \
            T *o_ = (T *)(void *)ptr[0];                                                                               \
            const T *x_ = (const T *)(void *)ptr[1];                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                const C x = LOAD(x_[i]);                                                                               \
                o_[i] = STORE(expr);                                                                                   \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const C x = LOAD(*(const T *)(void *)(ptr[1] + i * step[1]));                                              \
            *(T *)(void *)(ptr[0] + i * step[0]) = STORE(expr);                                                        \
        }                                                                                                              \
    }

/* name_DTYPE: out = expr(x, y); the cases row-major op row-major and row-major op scalar are vectorised. */
#define SP_BINARY_LOOP_TO(D, T, C, LOAD, TO, STORE, name, expr)                                                        \
    static void name##_##D(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        if (step[0] == (int64_t)sizeof(TO) && step[1] == (int64_t)sizeof(T) &&                                         \
            (step[2] == (int64_t)sizeof(T) || step[2] == 0)) {                                                         \
            TO *o_ = (TO *)(void *)ptr[0];                                                                             \
            const T *x_ = (const T *)(void *)ptr[1], *y_ = (const T *)(void *)ptr[2];                                  \
            if (step[2]) {                                                                                             \
                for (int64_t i = 0; i < n; i++) {                                                                      \
                    const C x = LOAD(x_[i]), y = LOAD(y_[i]);                                                          \
                    o_[i] = STORE(expr);                                                                               \
                }                                                                                                      \
            } else {                                                                                                   \
                const C y = LOAD(y_[0]);                                                                               \
                for (int64_t i = 0; i < n; i++) {                                                                      \
                    const C x = LOAD(x_[i]);                                                                           \
                    o_[i] = STORE(expr);                                                                               \
                }                                                                                                      \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const C x = LOAD(*(const T *)(void *)(ptr[1] + i * step[1]));                                              \
            const C y = LOAD(*(const T *)(void *)(ptr[2] + i * step[2]));                                              \
            *(TO *)(void *)(ptr[0] + i * step[0]) = STORE(expr);                                                       \
        }                                                                                                              \
    }
#define SP_BINARY_LOOP(D, T, C, LOAD, STORE, name, expr) SP_BINARY_LOOP_TO(D, T, C, LOAD, T, STORE, name, expr)
/* Comparison: the result is bool. */
#define SP_COMPARE_LOOP(D, T, C, LOAD, STORE, name, expr)                                                              \
    SP_BINARY_LOOP_TO(D, T, C, LOAD, uint8_t, SP_TRUTH, name, expr)
/* A row of a dispatch table: [SP_DTYPE_F32] = name_F32. */
#define SP_LOOP_ROW(D, T, C, LOAD, STORE, name, expr) [SP_DTYPE_##D] = name##_##D,

/* Kernel over a table `name_loops` indexed by the dtype of in[0], and the loop itself for those who fuse. */
#define SP_LOOP_KERNEL(name, cost_)                                                                                    \
    static sp_inner_loop name##_loop(const sp_call *c)                                                                 \
    {                                                                                                                  \
        return (sp_inner_loop){.fn = name##_loops[c->in[0]->dtype], .context = c->attrs, .cost = cost_};               \
    }                                                                                                                  \
    static sp_status name##_reference(const sp_call *c)                                                                \
    {                                                                                                                  \
        return sp__call_loop(c, name##_loops[c->in[0]->dtype], c->attrs, cost_);                                       \
    }

/* Builder shorthand inside gradient rules. */
#define SP_APPLY1(b, op, x) sp_builder_apply((b), &(op), NULL, 1, (sp_tensor *const[]){(x)})
#define SP_APPLY2(b, op, x, y) sp_builder_apply((b), &(op), NULL, 2, (sp_tensor *const[]){(x), (y)})

#endif
