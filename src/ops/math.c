/* SPDX-License-Identifier: Apache-2.0 */
/* math.c - element-wise functions of one operand that are not needed to write rules: inverse and hyperbolic functions,
 * other bases of exp and log, the error and gamma families, rounding to decimals, repair of NaN. */
#include "ops/math.h"
#include "ops/unary.h"

static sp_tensor *one_minus_square(sp_builder *b, sp_tensor *x)
{
    return sp_sub(b, sp__const(b, 1, x), sp_square(b, x));
}

/* --- inverse trigonometry and hyperbolic functions ---------------------------------------------------------------- */

COMPLEX_FUNCTION(asin, asinf(x), asin(x), casinf(x), casin(x), 100)
RULE(asin, sp_div(b, g, sp_sqrt(b, one_minus_square(b, x))))
ENTRY(asin, FLOATING_COMPLEX, .vjp = asin_vjp, .saves = SP_SAVE_IN(0), .mindir = "Asin", .onnx = "Asin",
      .python = "ops.asin(input); ops.arcsin(x); ops.Asin()(x); Tensor.asin(); Tensor.arcsin(); mint.asin(input); "
                "mint.arcsin(x)",
      .doc = "The inverse sine of each element.", .samples = "[2,3](-0.9,0.9); [](-0.5,0.5)");
COMPLEX_FUNCTION(acos, acosf(x), acos(x), cacosf(x), cacos(x), 100)
RULE(acos, sp_neg(b, sp_div(b, g, sp_sqrt(b, one_minus_square(b, x)))))
ENTRY(acos, FLOATING_COMPLEX, .vjp = acos_vjp, .saves = SP_SAVE_IN(0), .mindir = "ACos", .onnx = "Acos",
      .python = "ops.acos(input); ops.arccos(input); ops.ACos()(x); Tensor.acos(); Tensor.arccos(); mint.acos(input); "
                "mint.arccos(input)",
      .doc = "The inverse cosine of each element.", .samples = "[2,3](-0.9,0.9); [](-0.5,0.5)");
COMPLEX_FUNCTION(atan, atanf(x), atan(x), catanf(x), catan(x), 100)
RULE(atan, sp_div(b, g, sp__add_number(b, sp_square(b, x), 1)))
ENTRY(atan, FLOATING_COMPLEX, .vjp = atan_vjp, .saves = SP_SAVE_IN(0), .mindir = "Atan", .onnx = "Atan",
      .python = "ops.atan(input); ops.arctan(input); ops.Atan()(x); Tensor.atan(); Tensor.arctan(); mint.atan(input); "
                "mint.arctan(input)",
      .doc = "The inverse tangent of each element.", .samples = "[2,3]; []");
COMPLEX_FUNCTION(sinh, sinhf(x), sinh(x), csinhf(x), csinh(x), 100)
RULE(sinh, sp_mul(b, g, SP_APPLY1(b, sp_op_cosh, x)))
ENTRY(sinh, FLOATING_COMPLEX, .vjp = sinh_vjp, .saves = SP_SAVE_IN(0), .mindir = "Sinh", .onnx = "Sinh",
      .python = "ops.sinh(input); ops.Sinh()(x); Tensor.sinh(); mint.sinh(input)",
      .doc = "The hyperbolic sine of each element.", .samples = "[2,3]; []");
COMPLEX_FUNCTION(cosh, coshf(x), cosh(x), ccoshf(x), ccosh(x), 100)
RULE(cosh, sp_mul(b, g, SP_APPLY1(b, sp_op_sinh, x)))
ENTRY(cosh, FLOATING_COMPLEX, .vjp = cosh_vjp, .saves = SP_SAVE_IN(0), .mindir = "Cosh", .onnx = "Cosh",
      .python = "ops.cosh(input); ops.Cosh()(x); Tensor.cosh(); mint.cosh(input)",
      .doc = "The hyperbolic cosine of each element.", .samples = "[2,3]; []");
COMPLEX_FUNCTION(asinh, asinhf(x), asinh(x), casinhf(x), casinh(x), 100)
RULE(asinh, sp_div(b, g, sp_sqrt(b, sp__add_number(b, sp_square(b, x), 1))))
ENTRY(asinh, FLOATING_COMPLEX, .vjp = asinh_vjp, .saves = SP_SAVE_IN(0), .mindir = "Asinh", .onnx = "Asinh",
      .python = "ops.asinh(input); ops.arcsinh(input); ops.Asinh()(x); Tensor.asinh(); Tensor.arcsinh(); "
                "mint.asinh(input); mint.arcsinh(input)",
      .doc = "The inverse hyperbolic sine of each element.", .samples = "[2,3]; []");
COMPLEX_FUNCTION(acosh, acoshf(x), acosh(x), cacoshf(x), cacosh(x), 100)
RULE(acosh, sp_div(b, g, sp_sqrt(b, sp__add_number(b, sp_square(b, x), -1))))
ENTRY(acosh, FLOATING_COMPLEX, .vjp = acosh_vjp, .saves = SP_SAVE_IN(0), .mindir = "Acosh", .onnx = "Acosh",
      .python = "ops.acosh(input); ops.arccosh(input); ops.Acosh()(x); Tensor.acosh(); Tensor.arccosh(); "
                "mint.acosh(input); mint.arccosh(input)",
      .doc = "The inverse hyperbolic cosine of each element.", .samples = "[2,3](1.2,3); [](1.5,2)");
COMPLEX_FUNCTION(atanh, atanhf(x), atanh(x), catanhf(x), catanh(x), 100)
RULE(atanh, sp_div(b, g, one_minus_square(b, x)))
ENTRY(atanh, FLOATING_COMPLEX, .vjp = atanh_vjp, .saves = SP_SAVE_IN(0), .mindir = "Atanh", .onnx = "Atanh",
      .python = "ops.atanh(input); ops.arctanh(input); ops.Atanh()(x); Tensor.atanh(); Tensor.arctanh(); "
                "mint.atanh(input); mint.arctanh(input)",
      .doc = "The inverse hyperbolic tangent of each element.", .samples = "[2,3](-0.9,0.9); [](-0.5,0.5)");

/* --- other bases -------------------------------------------------------------------------------------------------- */

static const double LN2 = 0.69314718055994531, LN10 = 2.3025850929940457;

COMPLEX_FUNCTION(exp2, exp2f(x), exp2(x), cexpf(x *(float)LN2), cexp(x *LN2), 60)
RULE(exp2, sp_mul(b, sp__mul_number(b, g, LN2), y))
ENTRY(exp2, FLOATING_COMPLEX, .vjp = exp2_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Exp2", .onnx = "Pow",
      .python = "ops.exp2(input); mint.exp2(input); mint.special.exp2(input)", .doc = "2 to the power of each element.",
      .samples = "[2,3]; []");
COMPLEX_FUNCTION(log2, log2f(x), log2(x), clogf(x) / (float)LN2, clog(x) / LN2, 60)
RULE(log2, sp_div(b, sp__mul_number(b, g, 1 / LN2), x))
ENTRY(log2, FLOATING_COMPLEX, .vjp = log2_vjp, .saves = SP_SAVE_IN(0), .mindir = "Log2", .onnx = "Div(Log)",
      .python = "ops.log2(input); Tensor.log2(); mint.log2(input)", .doc = "The logarithm of each element to base 2.",
      .samples = "[2,3]>0; []>0");
COMPLEX_FUNCTION(log10, log10f(x), log10(x), clogf(x) / (float)LN10, clog(x) / LN10, 60)
RULE(log10, sp_div(b, sp__mul_number(b, g, 1 / LN10), x))
ENTRY(log10, FLOATING_COMPLEX, .vjp = log10_vjp, .saves = SP_SAVE_IN(0), .mindir = "Log10", .onnx = "Div(Log)",
      .python = "ops.log10(input); Tensor.log10(); mint.log10(input)",
      .doc = "The logarithm of each element to base 10.", .samples = "[2,3]>0; []>0");

/* sin(pi x) / (pi x); the slope near zero is taken from the series, where the quotient would lose all digits. */
static double sinc_of(double x)
{
    double t = 3.14159265358979324 * x;
    return t == 0 ? 1 : sin(t) / t;
}
static sp_c128 sinc_of_complex(sp_c128 x)
{
    sp_c128 t = 3.14159265358979324 * x;
    return t == 0 ? 1 : csin(t) / t;
}
COMPLEX_FUNCTION(sinc, (float)sinc_of(x), sinc_of(x), (sp_c64)sinc_of_complex(x), sinc_of_complex(x), 100)
static sp_status sinc_vjp(sp_builder *b, const sp_vjp *v)
{
    const double pi = 3.14159265358979324;
    sp_tensor *x = sp__conj_saved(b, v->in[0]);
    sp_tensor *size = sp_dtype_kind((sp_dtype)x->dtype) == 'c' ? SP_APPLY1(b, sp_op_complex_abs, x) : sp_abs(b, x);
    sp_tensor *small = sp_less(b, size, sp__const(b, 1e-3, size));
    sp_tensor *safe = sp_select(b, small, sp__const(b, 1, x), x), *t = sp__mul_number(b, safe, pi);
    sp_tensor *far = sp_div(b, sp_sub(b, sp_cos(b, t), sp_div(b, sp_sin(b, t), t)), safe);
    sp_tensor *near = sp__mul_number(b, x, -pi * pi / 3);
    v->din[0] = sp_mul(b, v->dout[0], sp_select(b, small, near, far));
    return SP_OK;
}
ENTRY(sinc, FLOATING_COMPLEX, .vjp = sinc_vjp, .saves = SP_SAVE_IN(0), .mindir = "Sinc",
      .python = "ops.sinc(input); ops.Sinc()(x); Tensor.sinc(); mint.sinc(input); mint.special.sinc(input)",
      .doc = "sin(pi x) / (pi x), and 1 at zero.", .samples = "[2,3]; []>0");

/* --- error functions --------------------------------------------------------------------------------------------- */

FLOAT_FUNCTION(erfc, erfcf(x), erfc(x), 90)
RULE(erfc, sp_mul(b, sp__mul_number(b, g, -1.1283791670955126), sp_exp(b, sp_neg(b, sp_square(b, x)))))
ENTRY(erfc, FLOATING, .vjp = erfc_vjp, .saves = SP_SAVE_IN(0), .mindir = "Erfc",
      .python = "ops.erfc(input); ops.Erfc()(x); Tensor.erfc(); mint.erfc(input); mint.special.erfc(input)",
      .doc = "One minus the error function of each element, exact where that is small.", .samples = "[2,3]; []");

/* A first guess (Winitzki's closed form) improved by Newton steps on erf, or on erfc in the tail where erf is flat. */
static double erfinv_of(double x)
{
    if (x <= -1 || x >= 1) return x == 1 ? INFINITY : x == -1 ? -INFINITY : NAN;
    if (x == 0) return x;
    const double a = 0.147, pi = 3.14159265358979324, l = log1p(-x * x);
    double t = 2 / (pi * a) + l / 2, y = copysign(sqrt(sqrt(t * t - l / a) - t), x);
    for (int i = 0; i < 4; i++) {
        double error = y > 1 ? -(erfc(y) - (1 - x)) : y < -1 ? erfc(-y) - (1 + x) : erf(y) - x;
        y -= error * sqrt(pi) / 2 * exp(y * y);
    }
    return y;
}
FLOAT_FUNCTION(erfinv, (float)erfinv_of(x), erfinv_of(x), 600)
RULE(erfinv, sp_mul(b, sp__mul_number(b, g, 0.88622692545275801), sp_exp(b, sp_square(b, y))))
ENTRY(erfinv, FLOATING, .vjp = erfinv_vjp, .saves = SP_SAVE_OUT(0), .mindir = "Erfinv",
      .python = "ops.erfinv(input); ops.Erfinv()(x); Tensor.erfinv(); mint.erfinv(input)",
      .doc = "The inverse of the error function, for elements in (-1, 1).", .samples = "[2,3](-0.9,0.9); [](-0.5,0.5)");

/* --- gamma functions --------------------------------------------------------------------------------------------- */

static double lgamma_of(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}
FLOAT_FUNCTION(lgamma, (float)lgamma_of(x), lgamma_of(x), 150)
RULE(lgamma, sp_mul(b, g, SP_APPLY1(b, sp_op_digamma, x)))
ENTRY(lgamma, FLOATING, .vjp = lgamma_vjp, .saves = SP_SAVE_IN(0), .mindir = "Lgamma",
      .python = "ops.lgamma(input); ops.Lgamma()(x); Tensor.lgamma()",
      .doc = "The logarithm of the absolute value of the gamma function.", .samples = "[2,3]>0; []>0");

/* Up by recurrence to 10, then the asymptotic series; negative arguments by reflection. */
static double digamma_of(double x)
{
    const double pi = 3.14159265358979324;
    if (x == 0) return copysign(INFINITY, -x);
    if (x < 0) return x == floor(x) ? NAN : digamma_of(1 - x) - pi / tan(pi * x);
    double sum = 0;
    for (; x < 10; x++) sum -= 1 / x;
    double z = 1 / (x * x);
    return sum + log(x) - 0.5 / x -
           z * (1.0 / 12 -
                z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
}
FLOAT_FUNCTION(digamma, (float)digamma_of(x), digamma_of(x), 300)
static sp_tensor *polygamma(sp_builder *b, sp_tensor *x, int64_t n)
{
    const sp_polygamma_attrs attrs = {n};
    return sp_builder_apply(b, &sp_op_polygamma, &attrs, 1, &x);
}
RULE(digamma, sp_mul(b, g, polygamma(b, x, 1)))
ENTRY(digamma, FLOATING, .vjp = digamma_vjp, .saves = SP_SAVE_IN(0), .mindir = "Digamma",
      .python = "ops.digamma(input); ops.Digamma()(x); Tensor.digamma()",
      .doc = "The derivative of the logarithm of the gamma function.", .samples = "[2,3]>0; []>0");

/* Sum over k of 1 / (k + q)^s, s > 1: at least ten terms, up to q = 9, then Euler and Maclaurin. Very negative q
 * would take as many terms as they are large: those are not computed. */
double sp__zeta(double s, double q)
{
    static const double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                       5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
    if (s == 1) return INFINITY;
    if (s < 1 || (q <= 0 && s != floor(s))) return NAN;
    if (q <= 0 && q == floor(q)) return INFINITY;
    if (q < -1e5) return NAN;
    double sum = 0, x = q;
    for (int k = 0; k < 10 || x < 9; k++, x++) sum += pow(x, -s);
    sum += pow(x, 1 - s) / (s - 1) + 0.5 * pow(x, -s);
    double rising = s, power = pow(x, -s - 1), factorial = 2;
    for (int k = 0; k < 8; k++) {
        sum += bernoulli[k] * rising * power / factorial;
        rising *= (s + 2 * k + 1) * (s + 2 * k + 2);
        power /= x * x;
        factorial *= (2 * k + 3) * (2 * k + 4);
    }
    return sum;
}
SP_ATTR_TABLE(polygamma_attr_table, sp_polygamma_attrs, (INT, n, 1));
static double polygamma_of(double x, const void *attrs)
{
    const int64_t n = ((const sp_polygamma_attrs *)attrs)->n;
    if (n == 0) return digamma_of(x);
    return (n % 2 ? 1 : -1) * tgamma((double)n + 1) * sp__zeta((double)n + 1, x);
}
FLOAT_FUNCTION(polygamma, (float)polygamma_of(x, attrs), polygamma_of(x, attrs), 2000)
RULE(polygamma, sp_mul(b, g, polygamma(b, x, ((const sp_polygamma_attrs *)v->attrs)->n + 1)))
static sp_status polygamma_infer(const sp_call *c, sp_meta *out)
{
    const int64_t n = ((const sp_polygamma_attrs *)c->attrs)->n;
    SP_CHECK(n >= 0, SP_VALUE, "n is %lld, it must not be negative", (long long)n);
    return sp__infer_same(c, out);
}
const sp_op sp_op_polygamma = {
    .name = "polygamma",
    .inputs = "x",
    SP_ATTRS(polygamma_attr_table, sp_polygamma_attrs),
    FLOATING,
    .infer = polygamma_infer,
    .reference = polygamma_reference,
    .loop = polygamma_loop,
    .strided = true,
    .vjp = polygamma_vjp,
    .saves = SP_SAVE_IN(0),
    .mindir = "Polygamma",
    .python = "ops.polygamma(n, input:x); ops.Polygamma()(n, x)",
    .doc = "The n-th derivative of digamma.",
    .samples = "[2,3]>0; []>0 n=2; [3]>0 n=0",
};

/* --- signs and parts --------------------------------------------------------------------------------------------- */

SP_EACH_FLOAT32(SP_UNARY_LOOP, frac, x - truncf(x))
SP_EACH_DOUBLE(SP_UNARY_LOOP, frac, x - trunc(x))
SP_EACH_INT(SP_UNARY_LOOP, frac, (x - x))
LOOPS(frac, SP_EACH_REAL(SP_LOOP_ROW, frac, ), 12)
RULE(frac, sp_identity(b, g))
ENTRY(frac, .dtypes = SP_DT_REAL, .vjp = frac_vjp, .mindir = "Frac",
      .python = "ops.frac(x); Tensor.frac(); "
                "mint.frac(input)",
      .doc = "The fractional part of each element, with its sign.", .samples = "[2,3](0.1,0.9); [](0.1,0.9)");

QUESTION(signbit, signbit(x) != 0, x < 0, 0, .python = "ops.signbit(input); Tensor.signbit()",
         .doc = "Whether the sign bit of each element is set.");
QUESTION(isposinf, x == (float)INFINITY, 0, 0, .python = "ops.isposinf(input); Tensor.isposinf()",
         .doc = "Whether each element is plus infinity.");
QUESTION(isneginf, x == (float)-INFINITY, 0, 0,
         .python = "ops.isneginf(input); Tensor.isneginf(); mint.isneginf(input)",
         .doc = "Whether each element is minus infinity.");

static sp_status scale_compose(sp_builder *b, const sp_call *c, double factor)
{
    c->out[0] = sp__mul_number(b, c->in[0], factor);
    return SP_OK;
}
static sp_status deg2rad_compose(sp_builder *b, const sp_call *c) { return scale_compose(b, c, 0.017453292519943296); }
static sp_status rad2deg_compose(sp_builder *b, const sp_call *c) { return scale_compose(b, c, 57.295779513082321); }
const sp_op sp_op_deg2rad = {
    .name = "deg2rad",
    .inputs = "x",
    FLOATING,
    .compose = deg2rad_compose,
    .python = "ops.deg2rad(x); Tensor.deg2rad()",
    .doc = "Degrees to radians.",
    .samples = "[2,3]; []",
};
const sp_op sp_op_rad2deg = {
    .name = "rad2deg",
    .inputs = "x",
    FLOATING,
    .compose = rad2deg_compose,
    .python = "ops.rad2deg(x); Tensor.rad2deg()",
    .doc = "Radians to degrees.",
    .samples = "[2,3]; []",
};

/* --- rounding to decimals ---------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(decimals_attr_table, sp_round_decimals_attrs, (INT, decimals, 0));

static sp_status round_decimals_compose(sp_builder *b, const sp_call *c)
{
    const int64_t decimals = ((const sp_round_decimals_attrs *)c->attrs)->decimals;
    sp_tensor *x = c->in[0];
    const char kind = sp_dtype_kind((sp_dtype)x->dtype);
    if (decimals == 0 || (kind != 'f' && decimals > 0)) {
        c->out[0] = sp_round(b, x);
    } else {
        /* Integers with negative decimals are rounded in float64 and come back. */
        sp_tensor *wide = kind == 'f' ? x : sp_cast(b, x, SP_DTYPE_F64);
        double scale = pow(10, (double)(decimals < 0 ? -decimals : decimals));
        sp_tensor *by = sp__const(b, scale, wide);
        sp_tensor *y = decimals > 0 ? sp_div(b, sp_round(b, sp_mul(b, wide, by)), by)
                                    : sp_mul(b, sp_round(b, sp_div(b, wide, by)), by);
        c->out[0] = kind == 'f' ? y : sp_cast(b, y, (sp_dtype)x->dtype);
    }
    return SP_OK;
}
const sp_op sp_op_round_decimals = {
    .name = "round_decimals",
    .inputs = "x",
    SP_ATTRS(decimals_attr_table, sp_round_decimals_attrs),
    .dtypes = SP_DT_REAL,
    .compose = round_decimals_compose,
    .python = "ops.round(input, *, decimals=0); Tensor.round(decimals=0); mint.round(input, *, decimals=0); "
              "mint.special.round(input, *, decimals=0)",
    .doc = "Each element rounded to a number of decimals, halves to even.",
    .samples = "[2,3]; [4] decimals=1; [3] decimals=-1",
};

/* --- NaN and infinity --------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(repair_attr_table, sp_nan_to_num_attrs, (NUMBER_OR_NONE, nan), (NUMBER_OR_NONE, posinf),
              (NUMBER_OR_NONE, neginf));

static double largest(const sp_tensor *x)
{
    return x->dtype == SP_DTYPE_F16    ? 65504
           : x->dtype == SP_DTYPE_BF16 ? 3.3895313892515355e38
           : x->dtype == SP_DTYPE_F32  ? 3.4028234663852886e38
                                       : 1.7976931348623157e308;
}

static sp_status nan_to_num_compose(sp_builder *b, const sp_call *c)
{
    const sp_nan_to_num_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *y = x;
    if (sp_dtype_kind((sp_dtype)x->dtype) == 'f') {
        double top = largest(x);
        y = sp_select(b, sp_isnan(b, x), sp__const(b, a->nan.kind == 'n' ? 0 : a->nan.f, x), y);
        y = sp_select(b, SP_APPLY1(b, sp_op_isposinf, x), sp__const(b, a->posinf.kind == 'n' ? top : a->posinf.f, x),
                      y);
        y = sp_select(b, SP_APPLY1(b, sp_op_isneginf, x), sp__const(b, a->neginf.kind == 'n' ? -top : a->neginf.f, x),
                      y);
    }
    c->out[0] = y;
    return SP_OK;
}
const sp_op sp_op_nan_to_num = {
    .name = "nan_to_num",
    .inputs = "x",
    SP_ATTRS(repair_attr_table, sp_nan_to_num_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .compose = nan_to_num_compose,
    .mindir = "NanToNum",
    .python = "ops.nan_to_num(input, nan=None, posinf=None, neginf=None); Tensor.nan_to_num(nan=None, posinf=None, "
              "neginf=None); "
              "mint.nan_to_num(input, nan=None, posinf=None, neginf=None); ops.NanToNum(nan=None, posinf=None, "
              "neginf=None)(x)",
    .doc = "NaN replaced by zero and infinities by the largest finite numbers, or by the values given.",
    .samples = "[2,3]; []",
};

/* --- no gradient from here ---------------------------------------------------------------------------------------- */

static sp_status stop_view(const sp_call *c) { return sp__tensor_alias(c->in[0], &c->out[0]); }
const sp_op sp_op_stop_gradient = {
    .batch = sp__batch_elementwise,
    .name = "stop_gradient",
    .shard = "same",
    .inputs = "x",
    .infer = sp__infer_same,
    .view = stop_view,
    .no_vjp = "it is what ends the flow of gradients",
    .mindir = "StopGradient",
    .python = "ops.StopGradient()(x)",
    .doc = "The same tensor, a constant to gradients.",
    .samples = "[2,3]; []",
};
