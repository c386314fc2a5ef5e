/* SPDX-License-Identifier: Apache-2.0 */
/* activation.c - element-wise activation functions, each with a fused gradient.
 *
 * An activation is three formulas: the function, its slope (as kernels, with x in sight), and its curvature (as a
 * composition, for derivatives of the gradient). ACTIVATION makes two operators of them: f(x) and f_grad(x, dout). The
 * curvature of a piecewise linear function is zero and left out. Formulas are type-generic: float stays float. */
#include <tgmath.h>

#include "ir/like.h"
#include "ops/nn.h"

/* A constant of the type the loop computes in. */
#define K(v) ((__typeof__(+x))(v))
#define SIGMOID(v) (1 / (1 + exp(-(v))))
#define ATTR(type, field) ((__typeof__(+x))((const type *)attrs)->field)

SP_ATTR_TABLE(slope_attr_table, sp_alpha_attrs, (FLOAT, alpha, 0.2));
SP_ATTR_TABLE(alpha_attr_table, sp_alpha_attrs, (FLOAT, alpha, 1.0));
SP_ATTR_TABLE(lambd_attr_table, sp_lambd_attrs, (FLOAT, lambd, 0.5));
SP_ATTR_TABLE(softplus_attr_table, sp_softplus_attrs, (FLOAT, beta, 1.0), (FLOAT, threshold, 20.0));
SP_ATTR_TABLE(hardtanh_attr_table, sp_hardtanh_attrs, (FLOAT, min_val, -1.0), (FLOAT, max_val, 1.0));
SP_ATTR_TABLE(threshold_attr_table, sp_threshold_attrs, (FLOAT_NEEDED, threshold), (FLOAT_NEEDED, value));

typedef sp_tensor *(*curve_fn)(sp_builder *b, sp_tensor *x, const void *attrs);

/* d(f) = f_grad(x, dout). */
static sp_status function_vjp(sp_builder *b, const sp_vjp *v, const sp_op *grad)
{
    v->din[0] = sp_builder_apply(b, grad, v->attrs, 2, (sp_tensor *const[]){v->in[0], v->dout[0]});
    return SP_OK;
}
/* f_grad(x, g) = f'(x) g: towards g it is itself again, towards x the curvature. */
static sp_status slope_vjp(sp_builder *b, const sp_vjp *v, curve_fn curve)
{
    if (v->needs[0] && curve) v->din[0] = sp_mul(b, sp_mul(b, v->dout[0], v->in[1]), curve(b, v->in[0], v->attrs));
    if (v->needs[1]) v->din[1] = sp_builder_apply(b, v->op, v->attrs, 2, (sp_tensor *const[]){v->in[0], v->dout[0]});
    return SP_OK;
}

/* Floats, and besides them whole numbers and truths, computed as whole numbers: constants such as slopes are cut off, too. That is
 * what MindSpore's compositions of such functions give. */
/* clang-format off */
#define EACH_ALL_REAL(M, ...)                                                                                          \
    SP_EACH_FLOAT(M, __VA_ARGS__)                                                                                      \
    M(BOOL, uint8_t, int64_t, (int64_t), SP_TRUTH, __VA_ARGS__)                                                        \
    M(I8, int8_t, int64_t, (int64_t), (int8_t), __VA_ARGS__)                                                           \
    M(I16, int16_t, int64_t, (int64_t), (int16_t), __VA_ARGS__)                                                        \
    M(I32, int32_t, int64_t, (int64_t), (int32_t), __VA_ARGS__)                                                        \
    M(I64, int64_t, int64_t, SP_KEEP, (int64_t), __VA_ARGS__)                                                          \
    M(U8, uint8_t, int64_t, (int64_t), (uint8_t), __VA_ARGS__)                                                         \
    M(U16, uint16_t, int64_t, (int64_t), (uint16_t), __VA_ARGS__)                                                      \
    M(U32, uint32_t, int64_t, (int64_t), (uint32_t), __VA_ARGS__)                                                      \
    M(U64, uint64_t, int64_t, (int64_t), (uint64_t), __VA_ARGS__)
/* clang-format on */
#define DTYPES_ALL_REAL SP_DT_REAL_BOOL
#define EACH_FLOATS SP_EACH_FLOAT
#define DTYPES_FLOATS SP_DT_FLOATS
/* Floats, and complex numbers by the expression name_of_complex. Slopes are of floats alone. */
#define EACH_FLOATS_COMPLEX(M, name, expr) SP_EACH_FLOAT(M, name, expr) SP_EACH_COMPLEX(M, name, name##_of_complex)
#define DTYPES_FLOATS_COMPLEX (SP_DT_FLOATS | SP_DT_COMPLEX)
#define COMPLEX_CALL(function, x) _Generic((x), sp_c64: function##f, default: function)(x)

#define ACTIVATION(kind, name_, function, slope, curve, cost, attributes, samples_, ...)                               \
    EACH_##kind(SP_UNARY_LOOP, name_, function) SP_EACH_FLOAT(                                                         \
        SP_BINARY_LOOP, name_##_grad,                                                                                  \
        (slope) * y) static const sp_loop_fn name_##_loops[SP_DTYPE_COUNT] = {EACH_##kind(SP_LOOP_ROW, name_, )};      \
    static const sp_loop_fn name_##_grad_loops[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_LOOP_ROW, name_##_grad, )};         \
    SP_LOOP_KERNEL(name_, cost)                                                                                        \
    SP_LOOP_KERNEL(name_##_grad, cost)                                                                                 \
    static sp_status name_##_vjp(sp_builder *b, const sp_vjp *v) { return function_vjp(b, v, &sp_op_##name_##_grad); } \
    static sp_status name_##_grad_vjp(sp_builder *b, const sp_vjp *v) { return slope_vjp(b, v, curve); }               \
    const sp_op sp_op_##name_##_grad = {.name = #name_ "_grad",                                                        \
                                        .inputs = "x, dout",                                                           \
                                        attributes.dtypes = SP_DT_FLOATS,                                              \
                                        .infer = sp__infer_alike,                                                      \
                                        .reference = name_##_grad_reference,                                           \
                                        .loop = name_##_grad_loop,                                                     \
                                        .strided = true,                                                               \
                                        .vjp = name_##_grad_vjp,                                                       \
                                        .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),                                        \
                                        .doc = "Slope of " #name_ " at x, times dout.",                                \
                                        .samples = "[2,3] [2,3]" samples_};                                            \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x",                                                                        \
                                 attributes.dtypes = DTYPES_##kind,                                                    \
                                 .infer = sp__infer_same,                                                              \
                                 .reference = name_##_reference,                                                       \
                                 .loop = name_##_loop,                                                                 \
                                 .strided = true,                                                                      \
                                 .vjp = name_##_vjp,                                                                   \
                                 .saves = SP_SAVE_IN(0),                                                               \
                                 .samples = "[2,3]" samples_ "; []" samples_,                                          \
                                 __VA_ARGS__};
#define NO_ATTRIBUTES
#define ATTRIBUTES(table, type) SP_ATTRS(table, type),

/* --- the smooth ones --------------------------------------------------------------------------------------------- */

/* Shorthand of the curvatures. */
static sp_tensor *one_minus(sp_builder *b, sp_tensor *x) { return sp__add_number(b, sp_neg(b, x), 1); }
static sp_tensor *times(sp_builder *b, double k, sp_tensor *x) { return sp__mul_number(b, x, k); }

/* Normal distribution: P(x) = (1 + erf(x / sqrt 2)) / 2, density exp(-x^2 / 2) / sqrt(2 pi). */
#define NORMAL_P (K(0.5) * (1 + erf(x * K(0.70710678118654752))))
#define NORMAL_DENSITY (K(0.39894228040143268) * exp(K(-0.5) * x * x))
/* f'' = density (2 - x^2) */
static sp_tensor *gelu_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    sp_tensor *xx = sp_square(b, x), *density = times(b, 0.39894228040143268, sp_exp(b, times(b, -0.5, xx)));
    return sp_mul(b, density, sp__add_number(b, sp_neg(b, xx), 2));
}
ACTIVATION(FLOATS, gelu, x *NORMAL_P, NORMAL_P + x * NORMAL_DENSITY, gelu_curve, 120, NO_ATTRIBUTES, "", .onnx = "Gelu",
           .doc = "x times the probability that a standard normal variable is below x.")

#define GELU_A 0.79788456080286536 /* sqrt(2 / pi) */
#define GELU_B 0.044715
#define GELU_T tanh(K(GELU_A) * (x + K(GELU_B) * x * x * x))
/* t = tanh(u): f'' = (1 - t^2) (u' + x (u'' - 2 t u'^2) / 2) */
static sp_tensor *gelu_tanh_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    sp_tensor *xx = sp_square(b, x);
    sp_tensor *t = sp_tanh(b, times(b, GELU_A, sp_add(b, x, times(b, GELU_B, sp_mul(b, xx, x)))));
    sp_tensor *u1 = times(b, GELU_A, sp__add_number(b, times(b, 3 * GELU_B, xx), 1));
    sp_tensor *u2 = times(b, 6 * GELU_A * GELU_B, x);
    sp_tensor *bend = sp_sub(b, u2, times(b, 2, sp_mul(b, t, sp_square(b, u1))));
    return sp_mul(b, one_minus(b, sp_square(b, t)), sp_add(b, u1, sp_mul(b, times(b, 0.5, x), bend)));
}
ACTIVATION(FLOATS, gelu_tanh, K(0.5) * x * (1 + GELU_T),
           K(0.5) * (1 + GELU_T) + K(0.5) * x * (1 - GELU_T * GELU_T) * K(GELU_A) * (1 + 3 * K(GELU_B) * x * x),
           gelu_tanh_curve, 120, NO_ATTRIBUTES, "", .mindir = "GeLU", .onnx = "Gelu(approximate=tanh)",
           .python = "ops.GeLU()(x)", .doc = "The approximation of gelu by a hyperbolic tangent.")

/* s = sigmoid(x): f'' = s (1 - s) (2 + x (1 - 2 s)) */
static sp_tensor *silu_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    sp_tensor *s = sp_sigmoid(b, x), *bend = sp_mul(b, x, one_minus(b, times(b, 2, s)));
    return sp_mul(b, sp_sub(b, s, sp_square(b, s)), sp__add_number(b, bend, 2));
}
#define silu_of_complex (x / (1 + COMPLEX_CALL(cexp, -x)))
ACTIVATION(FLOATS_COMPLEX, silu, x *SIGMOID(x), SIGMOID(x) * (1 + x * (1 - SIGMOID(x))), silu_curve, 70, NO_ATTRIBUTES,
           "", .mindir = "SiLU", .onnx = "Mul(Sigmoid)", .python = "ops.silu(input); ops.SiLU()(x)",
           .doc = "x times sigmoid(x).")

#define SOFTPLUS(v) ((v > 0 ? v : 0) + log1p(exp(-fabs(v))))
/* t = tanh(softplus(x)), t' = (1 - t^2) s: f'' = 2 t' + x ((1 - t^2) s (1 - s) - 2 t t' s) */
static sp_tensor *mish_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    sp_tensor *s = sp_sigmoid(b, x);
    sp_tensor *softplus = sp_sub(b, sp_relu(b, x), sp_log(b, sp_sigmoid(b, sp_abs(b, x))));
    sp_tensor *t = sp_tanh(b, softplus), *t1 = sp_mul(b, one_minus(b, sp_square(b, t)), s);
    sp_tensor *bend = sp_sub(b, sp_mul(b, t1, one_minus(b, s)), times(b, 2, sp_mul(b, t, sp_mul(b, t1, s))));
    return sp_add(b, times(b, 2, t1), sp_mul(b, x, bend));
}
ACTIVATION(FLOATS, mish, x *tanh(SOFTPLUS(x)),
           tanh(SOFTPLUS(x)) + x * (1 - tanh(SOFTPLUS(x)) * tanh(SOFTPLUS(x))) * SIGMOID(x), mish_curve, 200,
           NO_ATTRIBUTES, "", .mindir = "Mish", .onnx = "Mish", .python = "ops.mish(x); ops.Mish()(x)",
           .doc = "x times the hyperbolic tangent of softplus(x).")

/* f'' = beta s (1 - s), s = sigmoid(beta x); zero in the linear part. */
static sp_tensor *softplus_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    const sp_softplus_attrs *a = attrs;
    sp_tensor *u = times(b, a->beta, x), *s = sp_sigmoid(b, u);
    sp_tensor *linear = sp_greater(b, u, sp__const(b, a->threshold, u));
    return sp_select(b, linear, sp__const(b, 0, x), times(b, a->beta, sp_sub(b, s, sp_square(b, s))));
}
#define BETA ATTR(sp_softplus_attrs, beta)
#define LINEAR (x * BETA > ATTR(sp_softplus_attrs, threshold))
ACTIVATION(FLOATS, softplus, LINEAR ? x : SOFTPLUS((x * BETA)) / BETA, LINEAR ? 1 : SIGMOID(x *BETA), softplus_curve,
           120, ATTRIBUTES(softplus_attr_table, sp_softplus_attrs), " beta=2.0 threshold=1.0", .mindir = "Softplus",
           .onnx = "Softplus", .python = "ops.Softplus()(x)",
           .doc = "log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold.")

static sp_tensor *logsigmoid_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    sp_tensor *s = sp_sigmoid(b, x);
    return sp_sub(b, sp_square(b, s), s);
}
ACTIVATION(FLOATS, logsigmoid, (x < 0 ? x : 0) - log1p(exp(-fabs(x))), SIGMOID(-x), logsigmoid_curve, 120,
           NO_ATTRIBUTES, "", .mindir = "LogSigmoid", .onnx = "Log(Sigmoid)",
           .python = "ops.logsigmoid(x); mint.nn.functional.logsigmoid(input)",
           .doc = "The logarithm of sigmoid(x), exact for large negative x.")

/* f'' = -2 sign(x) / (1 + |x|)^3 */
static sp_tensor *softsign_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    sp_tensor *d = sp__add_number(b, sp_abs(b, x), 1);
    return sp_div(b, times(b, -2, sp_sign(b, x)), sp_mul(b, d, sp_square(b, d)));
}
ACTIVATION(FLOATS, softsign, x / (1 + fabs(x)), 1 / ((1 + fabs(x)) * (1 + fabs(x))), softsign_curve, 12, NO_ATTRIBUTES,
           "", .mindir = "Softsign", .onnx = "Softsign", .python = "ops.softsign(x); ops.Softsign()(x)",
           .doc = "x / (1 + |x|).")

/* f' = t^2 with t = tanh(x): f'' = 2 t (1 - t^2) */
static sp_tensor *tanhshrink_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    sp_tensor *t = sp_tanh(b, x);
    return sp_mul(b, times(b, 2, t), one_minus(b, sp_square(b, t)));
}
#define tanhshrink_of_complex x - COMPLEX_CALL(ctanh, x)
ACTIVATION(FLOATS_COMPLEX, tanhshrink, x - tanh(x), tanh(x) * tanh(x), tanhshrink_curve, 100, NO_ATTRIBUTES, "",
           .promote = SP_PROMOTE_FLOAT, .python = "ops.tanhshrink(input)", .doc = "x minus its hyperbolic tangent.")

/* --- exponential below zero -------------------------------------------------------------------------------------- */

/* Below zero scale * exp(x / width); the exponent is capped so that the branch not taken stays finite. */
static sp_tensor *exp_curve(sp_builder *b, sp_tensor *x, double scale, double width)
{
    sp_tensor *zero = sp__const(b, 0, x), *e = sp_exp(b, times(b, 1 / width, sp_minimum(b, x, zero)));
    return sp_select(b, sp_greater(b, x, zero), zero, times(b, scale, e));
}
static sp_tensor *elu_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    return exp_curve(b, x, ((const sp_alpha_attrs *)attrs)->alpha, 1);
}
static sp_tensor *celu_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    const sp_alpha_attrs *a = attrs;
    return exp_curve(b, x, 1 / a->alpha, a->alpha);
}
#define SELU_SCALE 1.0507009873554805
#define SELU_ALPHA 1.6732632423543772
static sp_tensor *selu_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    return exp_curve(b, x, SELU_SCALE * SELU_ALPHA, 1);
}
#define ALPHA ATTR(sp_alpha_attrs, alpha)
ACTIVATION(FLOATS, elu, x > 0 ? x : ALPHA * expm1(x), x > 0 ? 1 : ALPHA * exp(x), elu_curve, 80,
           ATTRIBUTES(alpha_attr_table, sp_alpha_attrs), " alpha=1.5", .mindir = "Elu", .onnx = "Elu",
           .python = "ops.elu(input_x, alpha=1.0); ops.Elu(alpha=1.0)(input_x)",
           .doc = "x above zero, alpha (exp(x) - 1) below.")
ACTIVATION(FLOATS, celu, x > 0 ? x : ALPHA * expm1(x / ALPHA), x > 0 ? 1 : exp(x / ALPHA), celu_curve, 80,
           ATTRIBUTES(alpha_attr_table, sp_alpha_attrs), " alpha=1.5", .mindir = "CeLU", .onnx = "Celu",
           .python = "ops.celu(x, alpha=1.0); ops.CeLU(alpha=1.0)(x)",
           .doc = "x above zero, alpha (exp(x / alpha) - 1) below.")
ACTIVATION(ALL_REAL, selu, K(SELU_SCALE) * (x > 0 ? x : K(SELU_ALPHA) * expm1(x)),
           K(SELU_SCALE) * (x > 0 ? 1 : K(SELU_ALPHA) * exp(x)), selu_curve, 80, NO_ATTRIBUTES, "", .mindir = "SeLU",
           .onnx = "Selu", .python = "ops.selu(input_x); ops.SeLU()(input_x)",
           .doc = "elu with the scale and alpha that keep mean 0 and variance 1.")

/* --- the piecewise linear ones ----------------------------------------------------------------------------------- */

/* hardswish is a parabola in the middle. */
static sp_tensor *hardswish_curve(sp_builder *b, sp_tensor *x, const void *attrs)
{
    (void)attrs;
    sp_tensor *inside = sp_less(b, sp_abs(b, x), sp__const(b, 3, x));
    return sp_select(b, inside, sp__const(b, 1.0 / 3, x), sp__const(b, 0, x));
}
ACTIVATION(
    ALL_REAL, leaky_relu, x > 0 ? x : ALPHA * x, x > 0 ? 1 : ALPHA, NULL, 4,
    ATTRIBUTES(slope_attr_table, sp_alpha_attrs), " alpha=0.1", .mindir = "LeakyReLU", .onnx = "LeakyRelu",
    .python = "ops.leaky_relu(input, alpha=0.2); mint.nn.functional.leaky_relu(input, negative_slope:alpha=0.01)",
    .doc = "x above zero, alpha times x below.")
ACTIVATION(FLOATS, relu6, (x > 0 || x != x ? x < 6 || x != x ? x : 6 : 0), x > 0 && x < 6 ? 1 : 0, NULL, 4,
           NO_ATTRIBUTES, "", .mindir = "ReLU6", .onnx = "Clip", .python = "ops.relu6(x); ops.ReLU6()(x)",
           .doc = "x kept between 0 and 6.")
ACTIVATION(ALL_REAL, hardswish,
           (x <= -3  ? 0
            : x >= 3 ? x
                     : x * (x + 3) / 6),
           (x <= -3  ? 0
            : x >= 3 ? 1
                     : (2 * x + 3) / 6),
           hardswish_curve, 4, NO_ATTRIBUTES, "", .mindir = "HSwish", .onnx = "HardSwish",
           .python = "ops.hardswish(input); ops.HSwish()(x)", .doc = "x times hardsigmoid(x).")
ACTIVATION(ALL_REAL, hardsigmoid,
           (x <= -3  ? 0
            : x >= 3 ? 1
                     : x / 6 + K(0.5)),
           (x > -3 && x < 3 ? K(1.0 / 6) : 0), NULL, 4, NO_ATTRIBUTES, "", .mindir = "HSigmoid", .onnx = "HardSigmoid",
           .python = "ops.hardsigmoid(input); ops.HSigmoid()(input)", .doc = "x / 6 + 1 / 2 kept between 0 and 1.")
#define LOW ATTR(sp_hardtanh_attrs, min_val)
#define HIGH ATTR(sp_hardtanh_attrs, max_val)
ACTIVATION(ALL_REAL, hardtanh,
           (x < LOW    ? LOW
            : x > HIGH ? HIGH
                       : x),
           (x > LOW && x < HIGH ? 1 : 0), NULL, 4, ATTRIBUTES(hardtanh_attr_table, sp_hardtanh_attrs),
           " min_val=-0.5 max_val=2.5", .onnx = "Clip", .python = "ops.hardtanh(input, min_val=-1.0, max_val=1.0)",
           .doc = "x kept between min_val and max_val.")
#define LAMBD ATTR(sp_lambd_attrs, lambd)
ACTIVATION(FLOATS, hardshrink, (x >= -LAMBD && x <= LAMBD ? 0 : x), (x >= -LAMBD && x <= LAMBD ? 0 : 1), NULL, 4,
           ATTRIBUTES(lambd_attr_table, sp_lambd_attrs), " lambd=0.3", .mindir = "HShrink", .onnx = "Shrink",
           .python = "ops.hardshrink(input, lambd=0.5); ops.HShrink(lambd=0.5)(input_x); Tensor.hardshrink(lambd=0.5); "
                     "mint.nn.functional.hardshrink(input, lambd=0.5)",
           .doc = "x, and zero where |x| is at most lambd.")
ACTIVATION(FLOATS, softshrink,
           (x > LAMBD    ? x - LAMBD
            : x < -LAMBD ? x + LAMBD
                         : 0 * x),
           (x >= -LAMBD && x <= LAMBD ? 0 : 1), NULL, 4, ATTRIBUTES(lambd_attr_table, sp_lambd_attrs), " lambd=0.3",
           .mindir = "SoftShrink", .onnx = "Shrink",
           .python = "ops.softshrink(input, lambd=0.5); ops.SoftShrink(lambd=0.5)(input_x); "
                     "mint.nn.functional.softshrink(input, lambd=0.5)",
           .doc = "x moved towards zero by lambd, and zero where |x| is at most lambd.")
#define LIMIT ATTR(sp_threshold_attrs, threshold)
ACTIVATION(ALL_REAL, threshold, (x > LIMIT ? x : ATTR(sp_threshold_attrs, value)), (x > LIMIT ? 1 : 0), NULL, 4,
           ATTRIBUTES(threshold_attr_table, sp_threshold_attrs), " threshold=0.1 value=3.0",
           .python = "ops.threshold(input, thr:threshold, value)", .doc = "x above the threshold, value elsewhere.")

/* --- with a second operand --------------------------------------------------------------------------------------- */

/* weight has one element or one per channel (axis 1; axis 0 of a vector). */
static sp_status prelu_check(const sp_call *c, int *axis)
{
    const sp_tensor *x = c->in[0], *w = c->in[1];
    *axis = x->rank > 1 ? 1 : 0;
    SP_CHECK(w->rank == 1 && (w->dims[0] == 1 || (x->rank && w->dims[0] == x->dims[*axis])), SP_VALUE,
             "prelu: weight has %lld elements, it must be a vector of one, or one per channel", (long long)w->count);
    return SP_OK;
}
static sp_status prelu_infer(const sp_call *c, sp_meta *out)
{
    int axis;
    SP_TRY(prelu_check(c, &axis));
    sp__meta_of(c->in[0], out);
    return SP_OK;
}
static sp_status prelu_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *w = c->in[1];
    int axis;
    SP_TRY(prelu_check(c, &axis));
    sp_tensor *alpha = w->dims[0] == 1 ? sp_reshape(b, w, 0, NULL) : sp__along(b, w, x->rank, axis);
    sp_tensor *zero = sp__const(b, 0, x);
    c->out[0] = sp_select(b, sp_greater(b, x, zero), x, sp_mul(b, x, alpha));
    return SP_OK;
}
const sp_op sp_op_prelu = {
    .name = "prelu",
    .inputs = "x, weight",
    .dtypes = SP_DT_FLOATS,
    .compose = prelu_compose,
    .infer = prelu_infer,
    .mindir = "PReLU",
    .onnx = "PRelu",
    .python = "ops.prelu(input, weight); ops.PReLU()(x, weight); mint.nn.functional.prelu(input, weight)",
    .doc = "x above zero, weight times x below, with one weight or one per channel.",
    .samples = "[2,3] [3]; [2,3,4] [1]; [2,3,4] [3]; [4] [4]",
};

/* x sigmoid(1.702 x), another approximation of gelu. */
static sp_status fast_gelu_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_mul(b, c->in[0], sp_sigmoid(b, sp__mul_number(b, c->in[0], 1.702)));
    return SP_OK;
}
const sp_op sp_op_fast_gelu = {
    .name = "fast_gelu",
    .inputs = "x",
    .dtypes = SP_DT_FLOATS,
    .compose = fast_gelu_compose,
    .mindir = "FastGeLU",
    .python = "ops.fast_gelu(x); ops.FastGeLU()(x)",
    .doc = "x sigmoid(1.702 x), an approximation of gelu.",
    .samples = "[2,3]; []",
};
