/* SPDX-License-Identifier: Apache-2.0 */
/* loops_impl.h - the loops of loops.h, made for the instruction set of the file that includes this one. LOOPS_TABLE is the name of
 * the table it defines.
 *
 * A formula is written once, over vectors. Row-major float32 is computed where it lies; anything else (strides, half precision,
 * one number for all) goes through blocks of floats, so an element's result does not depend on how it lies in memory. */
#include "device/cpu/loops.h"
#include "device/cpu/vec_double.h"
#include "device/cpu/vec_math.h"
#include "spore/ops_attrs.h"

enum { LOOP_BLOCK = 512, MANY_BLOCK = 256 /* of up to four operands: together no more than 8 KB of the stack */ };
typedef enum { KIND_F32, KIND_F16, KIND_BF16 } loop_kind;
static inline int64_t kind_bytes(loop_kind kind) { return kind == KIND_F32 ? 4 : 2; }

/* n elements, `step` bytes apart, as floats. */
static inline void block_read(loop_kind kind, int64_t n, float *to, const char *from, int64_t step)
{
    if (step == 0) { /* one number for all; blocks have room for whole vectors */
        const vf all = vf_set(kind == KIND_F32   ? *(const float *)(const void *)from
                              : kind == KIND_F16 ? sp__f16_f32(*(const sp_f16 *)(const void *)from)
                                                 : sp__bf16_f32(*(const sp_bf16 *)(const void *)from));
        for (int64_t i = 0; i < n; i += LANES) vf_store(to + i, all);
        return;
    }
    if (kind == KIND_F32) {
        if (step == 4) memcpy(to, from, (size_t)n * 4);
        else
            for (int64_t i = 0; i < n; i++) to[i] = *(const float *)(const void *)(from + i * step);
    } else if (kind == KIND_F16) {
        if (step == 2) vec_from_f16(n, to, (const sp_f16 *)(const void *)from);
        else
            for (int64_t i = 0; i < n; i++) to[i] = sp__f16_f32(*(const sp_f16 *)(const void *)(from + i * step));
    } else {
        if (step == 2) vec_from_bf16(n, to, (const sp_bf16 *)(const void *)from);
        else
            for (int64_t i = 0; i < n; i++) to[i] = sp__bf16_f32(*(const sp_bf16 *)(const void *)(from + i * step));
    }
}

static inline void block_write(loop_kind kind, int64_t n, char *to, int64_t step, const float *from)
{
    if (kind == KIND_F32) {
        if (step == 4) memcpy(to, from, (size_t)n * 4);
        else
            for (int64_t i = 0; i < n; i++) *(float *)(void *)(to + i * step) = from[i];
    } else if (kind == KIND_F16) {
        if (step == 2) vec_to_f16(n, (sp_f16 *)(void *)to, from);
        else
            for (int64_t i = 0; i < n; i++) *(sp_f16 *)(void *)(to + i * step) = sp__f32_f16(from[i]);
    } else {
        if (step == 2) vec_to_bf16(n, (sp_bf16 *)(void *)to, from);
        else
            for (int64_t i = 0; i < n; i++) *(sp_bf16 *)(void *)(to + i * step) = sp__f32_bf16(from[i]);
    }
}

typedef void (*unary_row)(int64_t n, float *o, const float *x, const void *attrs);
typedef void (*binary_row)(int64_t n, float *o, const float *x, const float *y, const void *attrs);

static inline void unary_loop(loop_kind kind, unary_row row, int64_t n, char *const *ptr, const int64_t *step,
                              const void *attrs)
{
    if (kind == KIND_F32 && step[0] == 4 && step[1] == 4) {
        row(n, (float *)(void *)ptr[0], (const float *)(const void *)ptr[1], attrs);
        return;
    }
    float block[LOOP_BLOCK];
    for (int64_t at = 0; at < n; at += LOOP_BLOCK) {
        const int64_t m = n - at < LOOP_BLOCK ? n - at : LOOP_BLOCK;
        block_read(kind, m, block, ptr[1] + at * step[1], step[1]);
        row(m, block, block, attrs);
        block_write(kind, m, ptr[0] + at * step[0], step[0], block);
    }
}

/* Operand k of a block: in place when it is a run of floats, else copied into `room`; one number for all only the first time. */
static inline const float *block_operand(loop_kind kind, int64_t n, int64_t at, const char *from, int64_t step,
                                         float *room)
{
    if (kind == KIND_F32 && step == 4) return (const float *)(const void *)(from + at * 4);
    if (step != 0 || at == 0) block_read(kind, n, room, from + at * step, step);
    return room;
}

static inline void binary_loop(loop_kind kind, binary_row row, int64_t n, char *const *ptr, const int64_t *step,
                               const void *attrs)
{
    if (kind == KIND_F32 && step[0] == 4 && step[1] == 4 && step[2] == 4) {
        row(n, (float *)(void *)ptr[0], (const float *)(const void *)ptr[1], (const float *)(const void *)ptr[2],
            attrs);
        return;
    }
    float xs[LOOP_BLOCK], ys[LOOP_BLOCK], os[LOOP_BLOCK];
    for (int64_t at = 0; at < n; at += LOOP_BLOCK) {
        const int64_t m = n - at < LOOP_BLOCK ? n - at : LOOP_BLOCK;
        const float *x = block_operand(kind, m, at, ptr[1], step[1], xs),
                    *y = block_operand(kind, m, at, ptr[2], step[2], ys);
        const bool place = kind == KIND_F32 && step[0] == 4;
        float *o = place ? (float *)(void *)(ptr[0] + at * 4) : os;
        row(m, o, x, y, attrs);
        if (!place) block_write(kind, m, ptr[0] + at * step[0], step[0], o);
    }
}

#define LOOP_KINDS(name, shape)                                                                                        \
    static void name##_f32(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        shape##_loop(KIND_F32, name##_row, n, ptr, step, attrs);                                                       \
    }                                                                                                                  \
    static void name##_f16(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        shape##_loop(KIND_F16, name##_row, n, ptr, step, attrs);                                                       \
    }                                                                                                                  \
    static void name##_bf16(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                       \
    {                                                                                                                  \
        shape##_loop(KIND_BF16, name##_row, n, ptr, step, attrs);                                                      \
    }

/* The last argument prepares constants from the attributes. */
#define UNARY_ROW(name, expr, ...)                                                                                     \
    static void name##_row(int64_t n, float *o, const float *x_, const void *attrs)                                    \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
        int64_t i = 0;                                                                                                 \
        for (; i + LANES <= n; i += LANES) {                                                                           \
            const vf x = vf_load(x_ + i);                                                                              \
            vf_store(o + i, expr);                                                                                     \
        }                                                                                                              \
        if (i < n) {                                                                                                   \
            const vf x = vf_load_n(x_ + i, n - i);                                                                     \
            vf_store_n(o + i, expr, n - i);                                                                            \
        }                                                                                                              \
    }
#define UNARY_WITH(name, before, expr)                                                                                 \
    UNARY_ROW(name, expr, before)                                                                                      \
    LOOP_KINDS(name, unary)
#define BINARY_ROW(name, expr, ...)                                                                                    \
    static void name##_row(int64_t n, float *o, const float *x_, const float *y_, const void *attrs)                   \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
        int64_t i = 0;                                                                                                 \
        for (; i + LANES <= n; i += LANES) {                                                                           \
            const vf x = vf_load(x_ + i), y = vf_load(y_ + i);                                                         \
            vf_store(o + i, expr);                                                                                     \
        }                                                                                                              \
        if (i < n) {                                                                                                   \
            const vf x = vf_load_n(x_ + i, n - i), y = vf_load_n(y_ + i, n - i);                                       \
            vf_store_n(o + i, expr, n - i);                                                                            \
        }                                                                                                              \
    }
#define BINARY_WITH(name, before, expr)                                                                                \
    BINARY_ROW(name, expr, before)                                                                                     \
    LOOP_KINDS(name, binary)
#define UNARY(name, expr) UNARY_WITH(name, (void)0, expr)
#define BINARY(name, expr) BINARY_WITH(name, (void)0, expr)

/* Formulas so short that the way through blocks would take longer than they do: runs of half precision stay in registers. */
#define HALF_RUN(name, half, shape, KIND, operands, loads, expr)                                                       \
    static void name##_##half(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                     \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        if (runs_of_two_bytes(operands, step)) {                                                                       \
            for (; i + LANES <= n; i += LANES) {                                                                       \
                loads(half);                                                                                           \
                vf_store_##half((sp_##half *)(void *)ptr[0] + i, expr);                                                \
            }                                                                                                          \
        }                                                                                                              \
        char *const rest[3] = {ptr[0] + i * step[0], ptr[1] + i * step[1],                                             \
                               operands > 2 ? ptr[2] + i * step[2] : NULL};                                            \
        if (i < n) shape##_loop(KIND, name##_row, n - i, rest, step, attrs);                                           \
    }
static inline bool runs_of_two_bytes(int operands, const int64_t *step)
{
    return step[0] == 2 && step[1] == 2 && (operands < 3 || step[2] == 2);
}
#define LOAD_X(half) const vf x = vf_load_##half((const sp_##half *)(const void *)ptr[1] + i)
#define LOAD_XY(half) LOAD_X(half), y = vf_load_##half((const sp_##half *)(const void *)ptr[2] + i)
#define F32_ONLY(name, shape)                                                                                          \
    static void name##_f32(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        shape##_loop(KIND_F32, name##_row, n, ptr, step, attrs);                                                       \
    }
/* clang-format off */
#define UNARY_SHORT(name, expr)                                                                                        \
    UNARY_ROW(name, expr, (void)0)                                                                                     \
    F32_ONLY(name, unary)                                                                                              \
    HALF_RUN(name, f16, unary, KIND_F16, 2, LOAD_X, expr)                                                              \
    HALF_RUN(name, bf16, unary, KIND_BF16, 2, LOAD_X, expr)
/* clang-format on */
/* clang-format off */
#define BINARY_SHORT(name, expr)                                                                                       \
    BINARY_ROW(name, expr, (void)0)                                                                                    \
    F32_ONLY(name, binary)                                                                                             \
    HALF_RUN(name, f16, binary, KIND_F16, 3, LOAD_XY, expr)                                                            \
    HALF_RUN(name, bf16, binary, KIND_BF16, 3, LOAD_XY, expr)
/* clang-format on */

/* --- arithmetic: the same bits as the reference ------------------------------------------------------------------------ */

#define K(v) vf_set((float)(v))
#define ZERO vf_set(0)
BINARY_SHORT(add, x + y)
BINARY_SHORT(sub, x - y)
BINARY_SHORT(mul, x *y)
BINARY_SHORT(div, x / y)
BINARY_SHORT(maximum, vf_select(vm_lt(y, x) | vm_nan(x), x, y))
BINARY_SHORT(minimum, vf_select(vm_lt(x, y) | vm_nan(x), x, y))
UNARY_SHORT(neg, vf_neg(x))
UNARY_SHORT(abs, vf_abs(x))
UNARY_SHORT(square, x *x)
UNARY_SHORT(sqrt, vf_sqrt(x))
UNARY(rsqrt, K(1) / vf_sqrt(x))
UNARY(reciprocal, K(1) / x)
UNARY_SHORT(floor, vf_floor(x))
UNARY_SHORT(ceil, vf_neg(vf_floor(vf_neg(x))))
UNARY_SHORT(round, vf_round(x))
BINARY(floor_div, vf_floor(x / y))
static inline vf float_trunc(vf x) { return vf_copysign(vf_floor(vf_abs(x)), x); }
UNARY_SHORT(trunc, float_trunc(x))
BINARY(trunc_div, float_trunc(x / y))
UNARY(sign, vf_select(vm_eq(x, ZERO) | vm_nan(x), x, vf_copysign(K(1), x)))
UNARY_SHORT(relu, vf_select(vm_lt(ZERO, x) | vm_nan(x), x, ZERO))
BINARY_SHORT(relu_grad, vf_select(vm_lt(ZERO, y), x, ZERO))

/* --- several operands: the same bits as the reference's composition, which rounds after each step ------------------------- */

#define KEEP_F32(v) (v)
#define MANY_KIND(name, kind, KIND, OF, operands, expr)                                                                \
    static inline vf name##_of_##kind(vf x, vf y, vf z, vf w)                                                          \
    {                                                                                                                  \
        (void)w;                                                                                                       \
        return expr(OF);                                                                                               \
    }                                                                                                                  \
    static void name##_##kind(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                     \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        float room[operands + 1][MANY_BLOCK];                                                                          \
        const float *in[4] = {room[0], room[0], room[0], room[0]};                                                     \
        const bool place = KIND == KIND_F32 && step[0] == 4;                                                           \
        for (int64_t at = 0; at < n; at += MANY_BLOCK) {                                                               \
            const int64_t m = n - at < MANY_BLOCK ? n - at : MANY_BLOCK;                                               \
            for (int k = 0; k < operands; k++) in[k] = block_operand(KIND, m, at, ptr[k + 1], step[k + 1], room[k]);   \
            float *o = place ? (float *)(void *)(ptr[0] + at * 4) : room[operands];                                    \
            int64_t i = 0;                                                                                             \
            for (; i + LANES <= m; i += LANES)                                                                         \
                vf_store(o + i, name##_of_##kind(vf_load(in[0] + i), vf_load(in[1] + i), vf_load(in[2] + i),           \
                                                 vf_load(in[3] + i)));                                                 \
            const int64_t rest = m - i;                                                                                \
            if (rest)                                                                                                  \
                vf_store_n(o + i,                                                                                      \
                           name##_of_##kind(vf_load_n(in[0] + i, rest), vf_load_n(in[1] + i, rest),                    \
                                            vf_load_n(in[2] + i, rest), vf_load_n(in[3] + i, rest)),                   \
                           rest);                                                                                      \
            if (!place) block_write(KIND, m, ptr[0] + at * step[0], step[0], o);                                       \
        }                                                                                                              \
    }
/* expr(R) is the formula of x, y, z, w with R around what is rounded on the way. */
/* clang-format off */
#define MANY(name, operands, expr)                                                                                     \
    MANY_KIND(name, f32, KIND_F32, KEEP_F32, operands, expr)                                                           \
    MANY_KIND(name, f16, KIND_F16, vf_round_f16, operands, expr)                                                       \
    MANY_KIND(name, bf16, KIND_BF16, vf_round_bf16, operands, expr)
/* clang-format on */
static inline vf larger_of(vf x, vf y) { return vf_select(vm_lt(y, x) | vm_nan(x), x, y); }
static inline vf smaller_of(vf x, vf y) { return vf_select(vm_lt(x, y) | vm_nan(x), x, y); }
#define CLAMP(R) smaller_of(larger_of(x, y), z)
MANY(clamp, 3, CLAMP)
#define LERP(R) x + R(z *R(y - x))
MANY(lerp, 3, LERP)
#define ADDCMUL(R) x + R(w *R(y *z))
MANY(addcmul, 4, ADDCMUL)
#define ADDCDIV(R) x + R(w *R(y / z))
MANY(addcdiv, 4, ADDCDIV)
BINARY(prelu, vf_select(vm_lt(ZERO, x), x, x *y))

/* --- truths of half precision ------------------------------------------------------------------------------------------- */

#define TRUTH_KIND(name, kind, KIND, operands, test)                                                                   \
    static void name##_##kind(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                     \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        float room[2][LOOP_BLOCK];                                                                                     \
        uint8_t found[LOOP_BLOCK];                                                                                     \
        for (int64_t at = 0; at < n; at += LOOP_BLOCK) {                                                               \
            const int64_t m = n - at < LOOP_BLOCK ? n - at : LOOP_BLOCK;                                               \
            const float *a = block_operand(KIND, m, at, ptr[1], step[1], room[0]);                                     \
            const float *b = operands > 1 ? block_operand(KIND, m, at, ptr[2], step[2], room[1]) : a;                  \
            for (int64_t i = 0; i < m; i += LANES) { /* rooms hold whole vectors */                                    \
                const vf x = vf_load(a + i), y = vf_load(b + i);                                                       \
                (void)y;                                                                                               \
                vm_store_bool(found + i, test);                                                                        \
            }                                                                                                          \
            char *to = ptr[0] + at * step[0];                                                                          \
            if (step[0] == 1) memcpy(to, found, (size_t)m);                                                            \
            else                                                                                                       \
                for (int64_t i = 0; i < m; i++) to[i * step[0]] = (char)found[i];                                      \
        }                                                                                                              \
    }
#define TRUTH(name, operands, test)                                                                                    \
    TRUTH_KIND(name, f16, KIND_F16, operands, test)                                                                    \
    TRUTH_KIND(name, bf16, KIND_BF16, operands, test)
TRUTH(equal, 2, vm_eq(x, y))
TRUTH(not_equal, 2, (vm)~vm_eq(x, y))
TRUTH(less, 2, vm_lt(x, y))
TRUTH(less_equal, 2, vm_le(x, y))
TRUTH(greater, 2, vm_lt(y, x))
TRUTH(greater_equal, 2, vm_le(y, x))
TRUTH(isnan, 1, vm_nan(x))
TRUTH(isfinite, 1, vm_lt(vf_abs(x), K(INFINITY)))
TRUTH(isinf, 1, vm_eq(vf_abs(x), K(INFINITY)))

/* --- functions --------------------------------------------------------------------------------------------------------- */

UNARY(exp, vec_exp(x))
UNARY(exp2, vec_exp2(x))
UNARY(expm1, vec_expm1(x))
UNARY(log, vec_log(x))
UNARY(log2, vec_log2(x))
UNARY(log10, vec_log10(x))
UNARY(log1p, vec_log1p(x))
UNARY(tanh, vec_tanh(x))
UNARY(sigmoid, vec_sigmoid(x))
UNARY(erf, vec_erf(x))
#if VEC_FMA
UNARY(sin, vec_sin(x))
UNARY(cos, vec_cos(x))
#else
#define sin_f32 NULL
#define sin_f16 NULL
#define sin_bf16 NULL
#define cos_f32 NULL
#define cos_f16 NULL
#define cos_bf16 NULL
#define tan_f32 NULL
#define tan_f16 NULL
#define tan_bf16 NULL
#endif

/* --- activations and their gradients: y is the gradient that comes in ---------------------------------------------------- */

UNARY(gelu, x *vec_normal_p(x))
BINARY(gelu_grad, (vec_normal_p(x) + x * (K(0.39894228040143268) * vec_exp(K(-0.5) * x * x))) * y)

static inline vf gelu_t(vf x) { return vec_tanh(K(0.79788456080286536) * (x + K(0.044715) * x * x * x)); }
UNARY(gelu_tanh, K(0.5) * x * (K(1) + gelu_t(x)))
static inline vf gelu_tanh_slope(vf x)
{
    const vf t = gelu_t(x);
    return K(0.5) * (K(1) + t) +
           K(0.5) * x * (K(1) - t * t) * K(0.79788456080286536) * (K(1) + K(3 * 0.044715) * x * x);
}
BINARY(gelu_tanh_grad, gelu_tanh_slope(x) * y)

UNARY(silu, x *vec_sigmoid(x))
static inline vf silu_slope(vf x)
{
    const vf s = vec_sigmoid(x);
    return s * (K(1) + x * (K(1) - s));
}
BINARY(silu_grad, silu_slope(x) * y)

static inline vf positive(vf x) { return vf_select(vm_lt(ZERO, x) | vm_nan(x), x, ZERO); }
static inline vf softplus_of(vf x) { return positive(x) + vec_softplus_rest(x); }
UNARY(mish, x *vec_tanh(softplus_of(x)))
static inline vf mish_slope(vf x)
{
    const vf t = vec_tanh(softplus_of(x));
    return t + x * (K(1) - t * t) * vec_sigmoid(x);
}
BINARY(mish_grad, mish_slope(x) * y)

#define SOFTPLUS_ATTRS                                                                                                 \
    const sp_softplus_attrs *a = attrs;                                                                                \
    const vf beta = K(a->beta), threshold = K(a->threshold)
UNARY_WITH(softplus, SOFTPLUS_ATTRS, vf_select(vm_lt(threshold, x *beta), x, softplus_of(x *beta) / beta))
BINARY_WITH(softplus_grad, SOFTPLUS_ATTRS, vf_select(vm_lt(threshold, x *beta), K(1), vec_sigmoid(x *beta)) * y)
UNARY(logsigmoid, vf_select(vm_lt(x, ZERO) | vm_nan(x), x, ZERO) - vec_softplus_rest(x))
BINARY(logsigmoid_grad, vec_sigmoid(vf_neg(x)) * y)

#define ALPHA_ATTRS const vf alpha = K(((const sp_alpha_attrs *)attrs)->alpha)
UNARY_WITH(elu, ALPHA_ATTRS, vf_select(vm_lt(ZERO, x), x, alpha *vec_expm1(x)))
BINARY_WITH(elu_grad, ALPHA_ATTRS, vf_select(vm_lt(ZERO, x), K(1), alpha *vec_exp(x)) * y)
#define SELU_SCALE K(1.0507009873554805)
#define SELU_ALPHA K(1.6732632423543772)
UNARY(selu, SELU_SCALE *vf_select(vm_lt(ZERO, x), x, SELU_ALPHA *vec_expm1(x)))
BINARY(selu_grad, SELU_SCALE *vf_select(vm_lt(ZERO, x), K(1), SELU_ALPHA *vec_exp(x)) * y)
UNARY_WITH(leaky_relu, ALPHA_ATTRS, vf_select(vm_lt(ZERO, x), x, alpha *x))
BINARY_WITH(leaky_relu_grad, ALPHA_ATTRS, vf_select(vm_lt(ZERO, x), K(1), alpha) * y)
UNARY(hardswish, vf_select(vm_le(x, K(-3)), ZERO, vf_select(vm_le(K(3), x), x, x *(x + K(3)) / K(6))))
BINARY(hardswish_grad, vf_select(vm_le(x, K(-3)), ZERO, vf_select(vm_le(K(3), x), K(1), (K(2) * x + K(3)) / K(6))) * y)
UNARY(relu6, vf_select(vm_lt(ZERO, x) | vm_nan(x), vf_select(vm_lt(x, K(6)) | vm_nan(x), x, K(6)), ZERO))
BINARY(relu6_grad, vf_select(vm_lt(ZERO, x) & vm_lt(x, K(6)), K(1), ZERO) * y)
UNARY(hardsigmoid, vf_select(vm_le(x, K(-3)), ZERO, vf_select(vm_le(K(3), x), K(1), x / K(6) + K(0.5))))
BINARY(hardsigmoid_grad, vf_select(vm_lt(K(-3), x) & vm_lt(x, K(3)), K(1.0 / 6), ZERO) * y)
#define HARDTANH_ATTRS                                                                                                 \
    const sp_hardtanh_attrs *a = attrs;                                                                                \
    const vf low = K(a->min_val), high = K(a->max_val)
UNARY_WITH(hardtanh, HARDTANH_ATTRS, vf_select(vm_lt(x, low), low, vf_select(vm_lt(high, x), high, x)))
BINARY_WITH(hardtanh_grad, HARDTANH_ATTRS, vf_select(vm_lt(low, x) & vm_lt(x, high), K(1), ZERO) * y)
#define SHRINK_ATTRS const vf lambd = K(((const sp_lambd_attrs *)attrs)->lambd), minus = vf_neg(lambd)
#define INSIDE (vm_le(minus, x) & vm_le(x, lambd))
UNARY_WITH(hardshrink, SHRINK_ATTRS, vf_select(INSIDE, ZERO, x))
BINARY_WITH(hardshrink_grad, SHRINK_ATTRS, vf_select(INSIDE, ZERO, K(1)) * y)
UNARY_WITH(softshrink, SHRINK_ATTRS,
           vf_select(vm_lt(lambd, x), x - lambd, vf_select(vm_lt(x, minus), x + lambd, ZERO *x)))
BINARY_WITH(softshrink_grad, SHRINK_ATTRS, vf_select(INSIDE, ZERO, K(1)) * y)

#include "device/cpu/loops_double.h"

const sp__cpu_loop_row LOOPS_TABLE[SP_CPU_LOOPS] = {
#define LOOP(name, cost) [SP_CPU_LOOP_##name] = {name##_f32, name##_f16, name##_bf16, NULL},
#define LOOP64(name, cost) [SP_CPU_LOOP_##name] = {name##_f32, name##_f16, name##_bf16, name##_f64},
#define LOOP_HALF(name, cost) [SP_CPU_LOOP_##name] = {NULL, name##_f16, name##_bf16, NULL},
#include "device/cpu/loops.def"
#undef LOOP
};
