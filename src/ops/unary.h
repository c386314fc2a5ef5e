/* SPDX-License-Identifier: Apache-2.0 */
/* unary.h - how a file says an element-wise function of one operand: FLOAT_FUNCTION (or loops of its own and LOOPS), RULE
 * for the gradient, ENTRY for the table. docs/inside/adding-an-operator.md walks through one. */
#ifndef SPORE_OPS_UNARY_H
#define SPORE_OPS_UNARY_H

#include "ops/kernels.h"

#define ENTRY(name_, ...)                                                                                              \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x",                                                                        \
                                 .infer = sp__infer_same,                                                              \
                                 .reference = name_##_reference,                                                       \
                                 .loop = name_##_loop,                                                                 \
                                 .strided = true,                                                                      \
                                 __VA_ARGS__}
#define LOOPS(name_, KIND, cost)                                                                                       \
    static const sp_loop_fn name_##_loops[SP_DTYPE_COUNT] = {KIND};                                                    \
    SP_LOOP_KERNEL(name_, cost)

/* A function of floats: one expression with float functions, one with double functions, perhaps one for complex. */
/* clang-format off */
#define FLOAT_FUNCTION(name_, single, twice, cost)                                                                     \
    SP_EACH_FLOAT32(SP_UNARY_LOOP, name_, single)                                                                      \
    SP_EACH_DOUBLE(SP_UNARY_LOOP, name_, twice)                                                                        \
    LOOPS(name_, SP_EACH_FLOAT(SP_LOOP_ROW, name_, ), cost)
/* clang-format on */
/* clang-format off */
#define COMPLEX_FUNCTION(name_, single, twice, csingle, ctwice, cost)                                                  \
    SP_EACH_FLOAT32(SP_UNARY_LOOP, name_, single)                                                                      \
    SP_EACH_DOUBLE(SP_UNARY_LOOP, name_, twice)                                                                        \
    SP_UNARY_LOOP(C64, sp_c64, sp_c64, SP_KEEP, SP_KEEP, name_, csingle)                                               \
    SP_UNARY_LOOP(C128, sp_c128, sp_c128, SP_KEEP, SP_KEEP, name_, ctwice)                                             \
    LOOPS(name_, SP_EACH_FLOAT(SP_LOOP_ROW, name_, ) SP_EACH_COMPLEX(SP_LOOP_ROW, name_, ), cost)
/* clang-format on */
#define FLOATING .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS
#define FLOATING_COMPLEX .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX
/* Conjugate of a saved tensor; geometry without memory (not saved) passes untouched. */
static inline sp_tensor *sp__conj_saved(sp_builder *b, sp_tensor *t)
{
    return t && sp__tensor_has_value(t) && sp_dtype_kind((sp_dtype)t->dtype) == 'c' ? SP_APPLY1(b, sp_op_conj, t) : t;
}

/* din = expr, where x, y, g are in sight; complex operands are conjugated already. */
#define RULE(name_, expr)                                                                                              \
    static sp_status name_##_vjp(sp_builder *b, const sp_vjp *v)                                                       \
    {                                                                                                                  \
        sp_tensor *x = sp__conj_saved(b, v->in[0]), *y = sp__conj_saved(b, v->out[0]), *g = v->dout[0];                \
        (void)x, (void)y;                                                                                              \
        v->din[0] = expr;                                                                                              \
        return SP_OK;                                                                                                  \
    }

/* A bool for each element: an expression for floats, for signed and for unsigned integers (and bool). */
#define TRUTH_LOOP(D, T, C, LOAD, STORE, name, expr)                                                                   \
    static void name##_##D(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        /* gcc 12 cannot make vectors of two-byte numbers here: it breaks down. */                                     \
        if (step[0] == 1 && step[1] == (int64_t)sizeof(T) && sizeof(T) != 2) {                                         \
            const T *x_ = (const T *)(void *)ptr[1];                                                                   \
            uint8_t *o_ = (uint8_t *)ptr[0];                                                                           \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                const C x = LOAD(x_[i]);                                                                               \
                (void)x;                                                                                               \
                o_[i] = (expr);                                                                                        \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const C x = LOAD(*(const T *)(void *)(ptr[1] + i * step[1]));                                              \
            (void)x;                                                                                                   \
            *(uint8_t *)(ptr[0] + i * step[0]) = (expr);                                                               \
        }                                                                                                              \
    }
/* clang-format off */
#define QUESTION_LOOPS(name_, float_expr, int_expr, uint_expr)                                                         \
    SP_EACH_FLOAT(TRUTH_LOOP, name_, float_expr)                                                                       \
    SP_EACH_SIGNED(TRUTH_LOOP, name_, int_expr)                                                                        \
    SP_EACH_UNSIGNED(TRUTH_LOOP, name_, uint_expr)                                                                     \
    SP_EACH_BOOL(TRUTH_LOOP, name_, uint_expr)
/* clang-format on */
#define QUESTION_ENTRY(name_, dtypes_, ...)                                                                            \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x",                                                                        \
                                 .dtypes = dtypes_,                                                                    \
                                 .infer = sp__infer_same_bool,                                                         \
                                 .reference = name_##_reference,                                                       \
                                 .loop = name_##_loop,                                                                 \
                                 .strided = true,                                                                      \
                                 .no_vjp = "bool result",                                                              \
                                 .samples = "[2,3]; []",                                                               \
                                 __VA_ARGS__}
/* clang-format off */
#define QUESTION(name_, float_expr, int_expr, uint_expr, ...)                                                          \
    QUESTION_LOOPS(name_, float_expr, int_expr, uint_expr)                                                             \
    LOOPS(name_, SP_EACH_BOOL(SP_LOOP_ROW, name_, ) SP_EACH_REAL(SP_LOOP_ROW, name_, ), 4)                             \
    QUESTION_ENTRY(name_, SP_DT_REAL_BOOL, __VA_ARGS__)
/* clang-format on */
/* One that complex numbers answer, too. */
/* clang-format off */
#define COMPLEX_QUESTION(name_, complex_expr, float_expr, int_expr, uint_expr, ...)                                    \
    QUESTION_LOOPS(name_, float_expr, int_expr, uint_expr)                                                             \
    SP_EACH_COMPLEX(TRUTH_LOOP, name_, complex_expr)                                                                   \
    LOOPS(name_, SP_EACH_BOOL(SP_LOOP_ROW, name_, ) SP_EACH_REAL(SP_LOOP_ROW, name_, )                                 \
          SP_EACH_COMPLEX(SP_LOOP_ROW, name_, ), 4)                                                                    \
    QUESTION_ENTRY(name_, SP_DT_REAL_BOOL | SP_DT_COMPLEX, __VA_ARGS__)
/* clang-format on */

#endif
