/* SPDX-License-Identifier: Apache-2.0 */
/* unary.c - element-wise functions of one operand, the ones gradients and compositions are built of. */
#include "ops/unary.h"

/* --- sign and size ----------------------------------------------------------------------------------------------- */

#define ARITH(M, name, expr) SP_EACH_REAL(M, name, expr) SP_EACH_COMPLEX(M, name, expr)
ARITH(SP_UNARY_LOOP, neg, -x)
LOOPS(neg, ARITH(SP_LOOP_ROW, neg, ), 4)
RULE(neg, sp_neg(b, g))
ENTRY(neg, .dtypes = SP_DT_NUMBERS, .vjp = neg_vjp, .mindir = "Neg", .onnx = "Neg",
      .python = "ops.neg(input); ops.Neg()(x); Tensor.neg(); Tensor.negative(); mint.neg(input); ops.negative(input); "
                "mint.negative(input)",
      .doc = "The negative of each element.", .samples = "[2,3]; []");

SP_EACH_SIGNED(SP_UNARY_LOOP, abs, (x < 0 ? -x : x))
SP_EACH_UNSIGNED(SP_UNARY_LOOP, abs, x)
SP_EACH_BOOL(SP_UNARY_LOOP, abs, x)
SP_EACH_FLOAT32(SP_UNARY_LOOP, abs, fabsf(x))
SP_EACH_DOUBLE(SP_UNARY_LOOP, abs, fabs(x))
LOOPS(abs, SP_EACH_BOOL(SP_LOOP_ROW, abs, ) SP_EACH_REAL(SP_LOOP_ROW, abs, ), 4)
RULE(abs, sp_mul(b, g, sp_sign(b, x)))
ENTRY(abs, .dtypes = SP_DT_REAL_BOOL, .vjp = abs_vjp, .saves = SP_SAVE_IN(0), .mindir = "Abs", .onnx = "Abs",
      .python = "ops.abs(input); ops.Abs()(x); Tensor.abs(); Tensor.absolute(); mint.abs(input); ops.absolute(input)",
      .doc = "The absolute value of each element.", .samples = "[2,3]; []");

SP_EACH_SIGNED(SP_UNARY_LOOP, sign, ((x > 0) - (x < 0)))
SP_EACH_UNSIGNED(SP_UNARY_LOOP, sign, x > 0)
SP_EACH_FLOAT(SP_UNARY_LOOP, sign, (x > 0 ? 1 : x < 0 ? -1 : x))
SP_UNARY_LOOP(C64, sp_c64, sp_c64, SP_KEEP, SP_KEEP, sign, (x == 0 ? x : x / cabsf(x)))
SP_UNARY_LOOP(C128, sp_c128, sp_c128, SP_KEEP, SP_KEEP, sign, (x == 0 ? x : x / cabs(x)))
LOOPS(sign, SP_EACH_REAL(SP_LOOP_ROW, sign, ) SP_EACH_COMPLEX(SP_LOOP_ROW, sign, ), 4)
RULE(sign, sp__zeros_like(b, g))
ENTRY(sign, .dtypes = SP_DT_NUMBERS, .vjp = sign_vjp, .mindir = "Sign", .onnx = "Sign",
      .python = "ops.sign(input); ops.Sign()(x); Tensor.sign(); mint.sign(input)",
      .doc = "-1, 0 or 1 by the sign of each element; of a complex number the number of size 1 in its direction.",
      .samples = "[2,3]; []");

/* --- powers, exponentials ---------------------------------------------------------------------------------------- */

COMPLEX_FUNCTION(exp, expf(x), exp(x), cexpf(x), cexp(x), 60)
RULE(exp, sp_mul(b, g, y))
ENTRY(exp, FLOATING_COMPLEX, .vjp = exp_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Exp", .onnx = "Exp",
      .python = "ops.exp(input); ops.tensor_exp(input); ops.Exp()(x); Tensor.exp(); mint.exp(input)",
      .doc = "e to the power of each element.", .samples = "[2,3]; []");

COMPLEX_FUNCTION(log, logf(x), log(x), clogf(x), clog(x), 60)
RULE(log, sp_div(b, g, x))
ENTRY(log, FLOATING_COMPLEX, .vjp = log_vjp, .saves = SP_SAVE_IN(0), .mindir = "Log", .onnx = "Log",
      .python = "ops.log(input); ops.Log()(x); Tensor.log(); mint.log(input)",
      .doc = "The natural logarithm of each element.", .samples = "[2,3]>0; []>0");

COMPLEX_FUNCTION(sqrt, sqrtf(x), sqrt(x), csqrtf(x), csqrt(x), 16)
RULE(sqrt, sp_div(b, sp__mul_number(b, g, 0.5), y))
ENTRY(sqrt, FLOATING_COMPLEX, .vjp = sqrt_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Sqrt", .onnx = "Sqrt",
      .python = "ops.sqrt(x); ops.Sqrt()(x); Tensor.sqrt(); mint.sqrt(input)",
      .doc = "The square root of each element.", .samples = "[2,3]>0; []>0");

COMPLEX_FUNCTION(rsqrt, 1.0f / sqrtf(x), 1.0 / sqrt(x), 1.0f / csqrtf(x), 1.0 / csqrt(x), 24)
RULE(rsqrt, sp_mul(b, sp__mul_number(b, g, -0.5), sp_mul(b, y, sp_mul(b, y, y))))
ENTRY(rsqrt, FLOATING_COMPLEX, .vjp = rsqrt_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Rsqrt", .onnx = "Reciprocal(Sqrt)",
      .python = "ops.rsqrt(input); ops.Rsqrt()(x); Tensor.rsqrt(); mint.rsqrt(input)",
      .doc = "One over the square root of each element.", .samples = "[2,3]>0; []>0");

#define SQUARE(M, name, expr) SP_EACH_BOOL(M, name, expr) SP_EACH_REAL(M, name, expr) SP_EACH_COMPLEX(M, name, expr)
SQUARE(SP_UNARY_LOOP, square, x *x)
LOOPS(square, SQUARE(SP_LOOP_ROW, square, ), 4)
RULE(square, sp_mul(b, sp__mul_number(b, g, 2), x))
ENTRY(square, .vjp = square_vjp, .saves = SP_SAVE_IN(0), .mindir = "Square", .onnx = "Mul",
      .python = "ops.square(input); ops.Square()(x); Tensor.square(); mint.square(input)",
      .doc = "Each element times itself.", .samples = "[2,3]; []");

COMPLEX_FUNCTION(reciprocal, 1.0f / x, 1.0 / x, 1.0f / x, 1.0 / x, 8)
RULE(reciprocal, sp_neg(b, sp_mul(b, g, sp_square(b, y))))
ENTRY(reciprocal, FLOATING_COMPLEX, .vjp = reciprocal_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Reciprocal",
      .onnx = "Reciprocal",
      .python = "ops.reciprocal(input); ops.Reciprocal()(x); Tensor.reciprocal(); mint.reciprocal(input); ops.inv(x); "
                "ops.Inv()(x)",
      .doc = "One over each element.", .samples = "[2,3]>0; []>0");

COMPLEX_FUNCTION(log1p, log1pf(x), log1p(x), clogf(1.0f + x), clog(1.0 + x), 80)
RULE(log1p, sp_div(b, g, sp__add_number(b, x, 1)))
ENTRY(log1p, FLOATING_COMPLEX, .vjp = log1p_vjp, .saves = SP_SAVE_IN(0), .mindir = "Log1p", .onnx = "Log(Add)",
      .python = "ops.log1p(input); ops.Log1p()(x); Tensor.log1p(); mint.log1p(input); mint.special.log1p(input)",
      .doc = "The natural logarithm of 1 + x, exact near zero.", .samples = "[2,3]>0; []>0");

COMPLEX_FUNCTION(expm1, expm1f(x), expm1(x), cexpf(x) - 1.0f, cexp(x) - 1.0, 80)
RULE(expm1, sp_mul(b, g, sp__add_number(b, y, 1)))
ENTRY(expm1, FLOATING_COMPLEX, .vjp = expm1_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Expm1", .onnx = "Sub(Exp)",
      .python = "ops.expm1(input); ops.tensor_expm1(input); ops.Expm1()(x); Tensor.expm1(); mint.expm1(input); "
                "mint.special.expm1(input)",
      .doc = "e to the power of x minus 1, exact near zero.", .samples = "[2,3]; []");

/* --- trigonometry ------------------------------------------------------------------------------------------------ */

COMPLEX_FUNCTION(sin, sinf(x), sin(x), csinf(x), csin(x), 80)
RULE(sin, sp_mul(b, g, sp_cos(b, x)))
ENTRY(sin, FLOATING_COMPLEX, .vjp = sin_vjp, .saves = SP_SAVE_IN(0), .mindir = "Sin", .onnx = "Sin",
      .python = "ops.sin(input); ops.Sin()(x); Tensor.sin(); mint.sin(input)", .doc = "The sine of each element.",
      .samples = "[2,3]; []");
COMPLEX_FUNCTION(cos, cosf(x), cos(x), ccosf(x), ccos(x), 80)
RULE(cos, sp_neg(b, sp_mul(b, g, sp_sin(b, x))))
ENTRY(cos, FLOATING_COMPLEX, .vjp = cos_vjp, .saves = SP_SAVE_IN(0), .mindir = "Cos", .onnx = "Cos",
      .python = "ops.cos(input); ops.Cos()(x); Tensor.cos(); mint.cos(input)", .doc = "The cosine of each element.",
      .samples = "[2,3]; []");
COMPLEX_FUNCTION(tan, tanf(x), tan(x), ctanf(x), ctan(x), 100)
RULE(tan, sp_mul(b, g, sp__add_number(b, sp_square(b, y), 1)))
ENTRY(tan, FLOATING_COMPLEX, .vjp = tan_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Tan", .onnx = "Tan",
      .python = "ops.tan(input); ops.Tan()(x); Tensor.tan(); mint.tan(input)", .doc = "The tangent of each element.",
      .samples = "[2,3]; []");

/* --- activations that rules and losses need ---------------------------------------------------------------------- */

COMPLEX_FUNCTION(tanh, tanhf(x), tanh(x), ctanhf(x), ctanh(x), 90)
RULE(tanh, sp_sub(b, g, sp_mul(b, g, sp_square(b, y))))
ENTRY(tanh, FLOATING_COMPLEX, .vjp = tanh_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Tanh", .onnx = "Tanh",
      .python = "ops.tanh(input); ops.Tanh()(x); Tensor.tanh(); mint.tanh(input); mint.nn.functional.tanh(input)",
      .doc = "The hyperbolic tangent of each element.", .samples = "[2,3]; []");

/* exp of a negative number only: no overflow on either side. */
COMPLEX_FUNCTION(sigmoid, (x >= 0 ? 1.0f / (1.0f + expf(-x)) : expf(x) / (1.0f + expf(x))),
                 (x >= 0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x))),
                 (crealf(x) >= 0 ? 1.0f / (1.0f + cexpf(-x)) : cexpf(x) / (1.0f + cexpf(x))),
                 (creal(x) >= 0 ? 1.0 / (1.0 + cexp(-x)) : cexp(x) / (1.0 + cexp(x))), 70)
RULE(sigmoid, sp_mul(b, g, sp_sub(b, y, sp_square(b, y))))
ENTRY(sigmoid, FLOATING_COMPLEX, .vjp = sigmoid_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Sigmoid", .onnx = "Sigmoid",
      .python = "ops.sigmoid(input); ops.Sigmoid()(x); Tensor.sigmoid(); mint.sigmoid(input); "
                "mint.nn.functional.sigmoid(input)",
      .doc = "1 / (1 + exp(-x)) of each element.", .samples = "[2,3]; []");

SP_EACH_REAL(SP_UNARY_LOOP, relu, (x > 0 || x != x ? x : 0))
SP_EACH_BOOL(SP_UNARY_LOOP, relu, x)
LOOPS(relu, SP_EACH_BOOL(SP_LOOP_ROW, relu, ) SP_EACH_REAL(SP_LOOP_ROW, relu, ), 4)
RULE(relu, SP_APPLY2(b, sp_op_relu_grad, g, y))
ENTRY(relu, .dtypes = SP_DT_REAL_BOOL, .vjp = relu_vjp, .saves = SP_SAVE_OUT(0), .mindir = "ReLU", .onnx = "Relu",
      .python = "ops.relu(input); ops.ReLU()(x); mint.nn.functional.relu(input)",
      .doc = "The larger of zero and each element.", .samples = "[2,3]; []");

/* One pass over gradient and result: this is the most frequent gradient of all. Linear in the gradient; the result only
 * says where it passes, so its own slope is zero. */
SP_EACH_REAL(SP_BINARY_LOOP, relu_grad, (y > 0 ? x : 0))
static const sp_loop_fn relu_grad_loops[SP_DTYPE_COUNT] = {SP_EACH_REAL(SP_LOOP_ROW, relu_grad, )};
SP_LOOP_KERNEL(relu_grad, 4)

static sp_status relu_grad_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0]) v->din[0] = SP_APPLY2(b, sp_op_relu_grad, v->dout[0], v->in[1]);
    return SP_OK;
}

const sp_op sp_op_relu_grad = {
    .name = "relu_grad",
    .inputs = "dout, y",
    .dtypes = SP_DT_REAL,
    .infer = sp__infer_broadcast,
    .reference = relu_grad_reference,
    .loop = relu_grad_loop,
    .strided = true,
    .promote = SP_PROMOTE_ALL,
    .vjp = relu_grad_vjp,
    .saves = SP_SAVE_IN(1),
    .mindir = "ReluGrad",
    .doc = "The gradient where the result of relu is positive, zero elsewhere.",
    .samples = "[2,3] [2,3]; [] []",
};

FLOAT_FUNCTION(erf, erff(x), erf(x), 90)
RULE(erf, sp_mul(b, sp__mul_number(b, g, 1.1283791670955126), sp_exp(b, sp_neg(b, sp_square(b, x)))))
ENTRY(erf, FLOATING, .vjp = erf_vjp, .saves = SP_SAVE_IN(0), .mindir = "Erf", .onnx = "Erf",
      .python = "ops.erf(input); ops.Erf()(x); Tensor.erf(); mint.erf(input)",
      .doc = "The error function of each element.", .samples = "[2,3]; []");

/* --- rounding: gradients are zero -------------------------------------------------------------------------------- */

#define ROUNDING(name_, single, twice, mindir_, python_, doc_)                                                         \
    SP_EACH_FLOAT32(SP_UNARY_LOOP, name_, single)                                                                      \
    SP_EACH_DOUBLE(SP_UNARY_LOOP, name_, twice)                                                                        \
    SP_EACH_INT(SP_UNARY_LOOP, name_, x)                                                                               \
    LOOPS(name_, SP_EACH_REAL(SP_LOOP_ROW, name_, ), 12)                                                               \
    RULE(name_, sp__zeros_like(b, g))                                                                                  \
    ENTRY(name_, .dtypes = SP_DT_REAL, .vjp = name_##_vjp, .mindir = mindir_, .onnx = mindir_, .python = python_,      \
          .doc = doc_, .samples = "[2,3]; []");
ROUNDING(floor, floorf(x), floor(x), "Floor", "ops.floor(input); ops.Floor()(x); Tensor.floor(); mint.floor(input)",
         "The largest integer not above each element.")
ROUNDING(ceil, ceilf(x), ceil(x), "Ceil", "ops.ceil(input); ops.Ceil()(x); Tensor.ceil(); mint.ceil(input)",
         "The smallest integer not below each element.")
ROUNDING(round, nearbyintf(x), nearbyint(x), "Round", "ops.Round()(x)",
         "The nearest integer to each element, halves to the even one.")
ROUNDING(trunc, truncf(x), trunc(x), "Trunc", "ops.trunc(input); ops.Trunc()(x); Tensor.trunc(); mint.trunc(input)",
         "The integer part of each element.")

/* --- questions --------------------------------------------------------------------------------------------------- */

COMPLEX_QUESTION(logical_not, x == 0, x == 0, x == 0, x == 0, .mindir = "LogicalNot", .onnx = "Not",
                 .python = "ops.logical_not(input); ops.LogicalNot()(x); Tensor.logical_not(); mint.logical_not(input)",
                 .doc = "Whether each element is false (zero).");
COMPLEX_QUESTION(isnan, x != x, x != x, 0, 0, .mindir = "IsNan", .onnx = "IsNaN",
                 .python = "ops.isnan(input); ops.IsNan()(x); Tensor.isnan(); mint.isnan(tensor)",
                 .doc = "Whether each element is not a number.");
COMPLEX_QUESTION(isinf, isinf(creal(x)) || isinf(cimag(x)), x - x != x - x && x == x, 0, 0, .mindir = "IsInf",
                 .onnx = "IsInf", .python = "ops.isinf(input); ops.IsInf()(x); Tensor.isinf(); mint.isinf(input)",
                 .doc = "Whether each element is infinite.");
COMPLEX_QUESTION(isfinite, isfinite(creal(x)) && isfinite(cimag(x)), x - x == 0, 1, 1, .mindir = "IsFinite",
                 .python = "ops.isfinite(input); ops.IsFinite()(x); Tensor.isfinite(); mint.isfinite(input)",
                 .doc = "Whether each element is finite.");
