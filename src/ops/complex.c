/* SPDX-License-Identifier: Apache-2.0 */
/* complex.c - complex numbers and their parts. The gradient with respect to a complex tensor is the one with respect to
 * its real part plus i times the one with respect to its imaginary part. */
#include "ops/kernels.h"

static bool is_complex(const sp_tensor *t) { return sp_dtype_kind((sp_dtype)t->dtype) == 'c'; }
static sp_dtype part_dtype(const sp_tensor *t) { return t->dtype == SP_DTYPE_C128 ? SP_DTYPE_F64 : SP_DTYPE_F32; }
static sp_status part_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__infer_same(c, out));
    out->dtype = part_dtype(c->in[0]);
    return SP_OK;
}

#define PART_LOOP(D, T, R, name, expr)                                                                                 \
    static void name##_##D(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                        \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const T x = *(const T *)(void *)(ptr[1] + i * step[1]);                                                    \
            *(R *)(void *)(ptr[0] + i * step[0]) = expr;                                                               \
        }                                                                                                              \
    }
#define PART(name, single, twice)                                                                                      \
    PART_LOOP(C64, sp_c64, float, name, single)                                                                        \
    PART_LOOP(C128, sp_c128, double, name, twice)                                                                      \
    static const sp_loop_fn name##_loops[SP_DTYPE_COUNT] = {                                                           \
        [SP_DTYPE_C64] = name##_C64, [SP_DTYPE_C128] = name##_C128};                                                   \
    SP_LOOP_KERNEL(name, 4)
PART(complex_real, crealf(x), creal(x))
PART(complex_imag, cimagf(x), cimag(x))
PART(complex_abs, cabsf(x), cabs(x))

/* --- from two real tensors ------------------------------------------------------------------------------------------ */

#define JOIN_LOOP(D, R)                                                                                                \
    static void complex_##D(int64_t n, char *const *ptr, const int64_t *step, const void *attrs)                       \
    {                                                                                                                  \
        (void)attrs;                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            R *to = (R *)(void *)(ptr[0] + i * step[0]); /* a complex number is its two parts in memory */             \
            to[0] = *(const R *)(void *)(ptr[1] + i * step[1]);                                                        \
            to[1] = *(const R *)(void *)(ptr[2] + i * step[2]);                                                        \
        }                                                                                                              \
    }
JOIN_LOOP(F32, float)
JOIN_LOOP(F64, double)
static const sp_loop_fn complex_loops[SP_DTYPE_COUNT] = {[SP_DTYPE_F32] = complex_F32, [SP_DTYPE_F64] = complex_F64};
SP_LOOP_KERNEL(complex, 4)
static sp_status complex_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__infer_broadcast(c, out));
    out->dtype = c->in[0]->dtype == SP_DTYPE_F64 ? SP_DTYPE_C128 : SP_DTYPE_C64;
    return SP_OK;
}
static sp_status complex_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0]) v->din[0] = sp__unbroadcast(b, SP_APPLY1(b, sp_op_complex_real, v->dout[0]), v->in[0]);
    if (v->needs[1]) v->din[1] = sp__unbroadcast(b, SP_APPLY1(b, sp_op_complex_imag, v->dout[0]), v->in[1]);
    return SP_OK;
}
const sp_op sp_op_complex = {
    .name = "complex",
    .inputs = "real, imag",
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT(F32) | SP_DT(F64),
    .infer = complex_infer,
    .reference = complex_reference,
    .loop = complex_loop,
    .strided = true,
    .vjp = complex_vjp,
    .mindir = "Complex",
    .python = "ops.Complex()(real, imag)",
    .doc = "Complex numbers from their real and imaginary parts.",
    .samples = "[2,3] [2,3]; [2,3] [3]; [] [2]",
};

/* --- parts ------------------------------------------------------------------------------------------------------- */

static sp_status complex_real_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = SP_APPLY2(b, sp_op_complex, v->dout[0], sp__zeros_like(b, v->dout[0]));
    return SP_OK;
}
static sp_status complex_imag_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = SP_APPLY2(b, sp_op_complex, sp__zeros_like(b, v->dout[0]), v->dout[0]);
    return SP_OK;
}
/* The direction of the number; zero has none. */
static sp_status complex_abs_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *size = v->out[0], *zero = sp_equal(b, size, sp__const(b, 0, size));
    sp_tensor *scale = sp_div(b, v->dout[0], sp_select(b, zero, sp__const(b, 1, size), size));
    v->din[0] = sp_mul(b, SP_APPLY2(b, sp_op_complex, scale, sp__zeros_like(b, scale)), v->in[0]);
    return SP_OK;
}
#define PART_ENTRY(name_, ...)                                                                                         \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x",                                                                        \
                                 .dtypes = SP_DT_COMPLEX,                                                              \
                                 .infer = part_infer,                                                                  \
                                 .loop = name_##_loop,                                                                 \
                                 .reference = name_##_reference,                                                       \
                                 .strided = true,                                                                      \
                                 .vjp = name_##_vjp,                                                                   \
                                 .samples = "[2,3]; []",                                                               \
                                 __VA_ARGS__}
PART_ENTRY(complex_real, .mindir = "Real", .doc = "The real part of complex numbers.");
PART_ENTRY(complex_imag, .mindir = "Imag", .doc = "The imaginary part of complex numbers.");
PART_ENTRY(complex_abs, .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0), .mindir = "ComplexAbs",
           .python = "ops.ComplexAbs()(x); ops.abs(input); ops.Abs()(x); Tensor.abs(); Tensor.absolute(); "
                     "mint.abs(input); ops.absolute(input)",
           .doc = "The distance of complex numbers from zero.");

static sp_status real_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = is_complex(c->in[0]) ? SP_APPLY1(b, sp_op_complex_real, c->in[0]) : SP_APPLY1(b, sp_op_copy, c->in[0]);
    return SP_OK;
}
static sp_status imag_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = is_complex(c->in[0]) ? SP_APPLY1(b, sp_op_complex_imag, c->in[0]) : sp__zeros_like(b, c->in[0]);
    return SP_OK;
}
static sp_status angle_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *re = x, *im;
    if (is_complex(x)) {
        re = SP_APPLY1(b, sp_op_complex_real, x);
        im = SP_APPLY1(b, sp_op_complex_imag, x);
    } else {
        im = sp__zeros_like(b, x);
    }
    c->out[0] = SP_APPLY2(b, sp_op_atan2, im, re);
    return SP_OK;
}
static sp_status polar_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *size = c->in[0], *turn = c->in[1];
    c->out[0] = SP_APPLY2(b, sp_op_complex, sp_mul(b, size, sp_cos(b, turn)), sp_mul(b, size, sp_sin(b, turn)));
    return SP_OK;
}
const sp_op sp_op_real = {
    .name = "real",
    .inputs = "x",
    .compose = real_compose,
    .python = "ops.real(input); ops.Real()(input); "
              "Tensor.real(); mint.real(input)",
    .doc = "The real part.",
    .samples = "[2,3]; []",
};
const sp_op sp_op_imag = {
    .name = "imag",
    .inputs = "x",
    .compose = imag_compose,
    .python = "ops.imag(input); ops.Imag()(input); "
              "Tensor.imag(); mint.imag(input)",
    .doc = "The imaginary part; zero for real numbers.",
    .samples = "[2,3]; []",
};
const sp_op sp_op_angle = {
    .name = "angle",
    .inputs = "x",
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX,
    .compose = angle_compose,
    .python = "ops.angle(input); ops.Angle()(input); Tensor.angle()",
    .doc = "The angle of numbers in the complex plane.",
    .samples = "[2,3]>0; []>0",
};
const sp_op sp_op_polar = {
    .name = "polar",
    .inputs = "abs, angle",
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT(F32) | SP_DT(F64),
    .compose = polar_compose,
    .mindir = "Polar",
    .python = "ops.polar(abs, angle); ops.Polar()(abs, angle); mint.polar(abs, angle)",
    .doc = "Complex numbers from their distance and angle.",
    .samples = "[2,3]>0 [2,3]; [2,3]>0 [3]",
};
