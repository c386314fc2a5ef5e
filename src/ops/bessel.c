/* SPDX-License-Identifier: Apache-2.0 */
/* bessel.c - Bessel functions of order 0 and 1, the incomplete gamma and beta functions, the zeta function.
 *
 * J and Y are the C library's. I comes from its power series, all of whose terms are positive, and from the asymptotic one
 * far out. K is an integral, exp(-x cosh t) over t, which the trapezoidal rule gives to full precision: the integrand is
 * analytic in a strip and falls off doubly exponentially. All in double precision. */
#include "ir/refuse.h"
#include "ops/math.h"
#include "ops/norm.h"
#include "ops/unary.h"

#define PI 3.14159265358979323846

/* exp(-|x|) I_n(x), n 0 or 1. */
static double scaled_i(int n, double x)
{
    const double a = fabs(x), sign = n && x < 0 ? -1 : 1;
    double sum = 1, term = 1;
    if (isnan(x)) return x;
    if (a <= 40) {
        const double q = a * a / 4;
        for (int k = 1; term > sum * 1e-17; k++) sum += term *= q / ((double)k * (k + n));
        return sign * exp(-a) * sum * (n ? a / 2 : 1);
    }
    if (isinf(a)) return 0;
    for (int k = 1; k < 30; k++) {
        const double odd = 2 * k - 1, next = -term * (4 * n * n - odd * odd) / (8 * k * a);
        if (fabs(next) >= fabs(term) || fabs(next) < 1e-17) break;
        sum += term = next;
    }
    return sign * sum / sqrt(2 * PI * a);
}
static double plain_i(int n, double x)
{
    return isinf(x) ? (n && x < 0 ? -INFINITY : INFINITY) : scaled_i(n, x) * exp(fabs(x));
}
/* exp(x) K_n(x), n 0 or 1: the integral of exp(-x (cosh t - 1)) cosh(n t) over positive t. */
static double scaled_k(int n, double x)
{
    if (isnan(x) || x < 0) return NAN;
    if (x == 0) return INFINITY;
    if (isinf(x)) return 0;
    /* Where x is large, the integrand is a bell of width 1 / sqrt(x): the step follows it. */
    const double h = x > 1 ? 0.25 / sqrt(x) : 0.25;
    double sum = 0.5;
    for (int i = 1; i < 2000; i++) {
        const double t = i * h, s = sinh(t / 2), drop = 2 * x * s * s;
        if (drop > 750) break;
        sum += exp(-drop) * (n ? cosh(t) : 1);
    }
    return h * sum;
}

/* g times the derivative away from zero, and half of it at zero, where the quotient by x has no value. */
static sp_tensor *with_half_at_zero(sp_builder *b, sp_tensor *x, sp_tensor *derivative)
{
    sp_tensor *zero = sp__zeros_like(b, x), *in[2] = {x, zero};
    return sp_select(b, sp_builder_apply(b, &sp_op_equal, NULL, 2, in), sp__add_number(b, zero, 0.5), derivative);
}
#define OF(op, t) SP_APPLY1(b, sp_op_bessel_##op, t)

/* clang-format off */
#define BESSEL(name_, shown, value, samples_, ...)                                                                     \
    FLOAT_FUNCTION(bessel_##name_, (float)(value), value, 800)                                                         \
    RULE(bessel_##name_, sp_mul(b, g, __VA_ARGS__))                                                                    \
    ENTRY(bessel_##name_, FLOATING, .vjp = bessel_##name_##_vjp, .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0),              \
          .mindir = "Bessel" shown, .doc = "The Bessel function " shown " of each element.", .samples = samples_,      \
          .python = "ops.bessel_" #name_ "(x); ops.Bessel" shown "()(x)")
/* clang-format on */
#define ANYWHERE "[2,3]; []; [4](3,60)"
#define POSITIVE "[2,3]>0; []>0; [4](3,60)"

BESSEL(j0, "J0", j0(x), ANYWHERE, sp_neg(b, OF(j1, x)));
BESSEL(j1, "J1", j1(x), ANYWHERE, with_half_at_zero(b, x, sp_sub(b, OF(j0, x), sp_div(b, y, x))));
BESSEL(y0, "Y0", y0(x), POSITIVE, sp_neg(b, OF(y1, x)));
BESSEL(y1, "Y1", y1(x), POSITIVE, sp_sub(b, OF(y0, x), sp_div(b, y, x)));
BESSEL(i0, "I0", plain_i(0, x), "[2,3]; []; [4](3,6)", OF(i1, x));
BESSEL(i1, "I1", plain_i(1, x), "[2,3]; []; [4](3,6)", with_half_at_zero(b, x, sp_sub(b, OF(i0, x), sp_div(b, y, x))));
BESSEL(i0e, "I0e", scaled_i(0, x), ANYWHERE, sp_sub(b, OF(i1e, x), sp_mul(b, sp_sign(b, x), y)));
BESSEL(i1e, "I1e", scaled_i(1, x), ANYWHERE,
       with_half_at_zero(b, x, sp_sub(b, OF(i0e, x), sp_mul(b, y, sp_add(b, sp_sign(b, x), sp_reciprocal(b, x))))));
BESSEL(k0, "K0", scaled_k(0, x) * exp(-x), "[2,3]>0; []>0; [4](3,6)", sp_neg(b, OF(k1, x)));
BESSEL(k1, "K1", scaled_k(1, x) * exp(-x), "[2,3]>0; []>0; [4](3,6)", sp_neg(b, sp_add(b, OF(k0, x), sp_div(b, y, x))));
BESSEL(k0e, "K0e", scaled_k(0, x), POSITIVE, sp_sub(b, y, OF(k1e, x)));
BESSEL(k1e, "K1e", scaled_k(1, x), POSITIVE,
       sp_sub(b, sp_mul(b, y, sp__add_number(b, sp_neg(b, sp_reciprocal(b, x)), 1)), OF(k0e, x)));

/* --- incomplete gamma and beta functions ------------------------------------------------------------------------- */

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}
/* P(a, x), the share of the gamma function below x: the power series, or one minus the continued fraction of the rest. */
static double gamma_share(double a, double x, bool rest)
{
    if (isnan(a) || isnan(x) || a < 0 || x < 0 || (a == 0 && x == 0)) return NAN;
    if (x == 0 || isinf(a)) return rest;
    if (isinf(x) || a == 0) return !rest;
    const double scale = exp(a * log(x) - x - log_gamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int k = 1; k < 100000 && term > sum * 1e-17; k++) sum += term *= x / (a + k);
        return rest ? 1 - scale * sum : scale * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, f = d; /* Lentz's way to sum a continued fraction */
    for (int k = 1; k < 100000; k++) {
        const double an = -k * (k - a);
        b += 2;
        d = an * d + b;
        c = b + an / c;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        if (fabs(c) < 1e-300) c = 1e-300;
        f *= d * c;
        if (fabs(d * c - 1) < 1e-16) break;
    }
    return rest ? scale * f : 1 - scale * f;
}
/* dP/da by the series, whose terms are all positive before the factor: log x minus digamma of a + k + 1. */
static double gamma_share_slope(double a, double x)
{
    if (!(a > 0) || !(x > 0) || isinf(a) || isinf(x)) return a > 0 && x >= 0 ? 0 : NAN;
    double psi = 0, y = a + 1, term = exp(a * log(x) - x - log_gamma(a + 1)), sum = 0;
    for (; y < 10; y++) psi -= 1 / y;
    const double z = 1 / (y * y);
    psi += log(y) - 0.5 / y - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z / 132))));
    const double peak = x > a ? x - a : 0;
    for (int k = 0; k < 1000000; k++) {
        const double part = term * (log(x) - psi);
        sum += part;
        if (k > peak && term < 1e-18) break;
        psi += 1 / (a + k + 1);
        term *= x / (a + k + 1);
    }
    return sum;
}
#define BINARY_FLOAT(name_, expr, cost)                                                                                \
    SP_EACH_FLOAT(SP_BINARY_LOOP, name_, expr)                                                                         \
    static const sp_loop_fn name_##_loops[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_LOOP_ROW, name_, )};                     \
    SP_LOOP_KERNEL(name_, cost)
BINARY_FLOAT(igamma, gamma_share(x, y, false), 1000)
BINARY_FLOAT(igammac, gamma_share(x, y, true), 1000)
BINARY_FLOAT(igamma_slope, gamma_share_slope(x, y), 3000)

/* x with one more dimension behind the others. */
static sp_tensor *deeper(sp_builder *b, sp_tensor *x)
{
    int64_t dims[SP_RANK_MAX + 1];
    memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
    dims[x->rank] = 1;
    return sp_reshape(b, x, x->rank + 1, dims);
}
/* The derivative towards the order of elementary operators, for those who differentiate it again: a sum over the series'
 * terms x^(a + k) exp(-x) / gamma(a + k + 1), of which 256 suffice for x up to 150 or so. */
static sp_tensor *slope_composed(sp_builder *b, sp_tensor *a, sp_tensor *x)
{
    const int64_t terms = 256, last = -1;
    sp_tensor *k;
    sp_status status = sp_tensor_create(SP_DTYPE_F64, 1, &terms, &k);
    if (status != SP_OK) return sp__builder_fail(b, status);
    for (int64_t i = 0; i < terms; i++) ((double *)(void *)k->data)[i] = (double)i;
    k = sp_cast(b, sp_builder_take_tensor(b, k), (sp_dtype)x->dtype);
    sp_tensor *order = sp_add(b, deeper(b, a), k), *wide = deeper(b, x), *log_x = sp_log(b, wide),
              *next = sp__add_number(b, order, 1);
    sp_tensor *term = sp_exp(b, sp_sub(b, sp_sub(b, sp_mul(b, order, log_x), wide), SP_APPLY1(b, sp_op_lgamma, next)));
    return sp_reduce_sum(b, sp_mul(b, term, sp_sub(b, log_x, SP_APPLY1(b, sp_op_digamma, next))), 1, &last, false);
}
static sp_status igamma_grad(sp_builder *b, const sp_vjp *v, double sign)
{
    sp_tensor *a = v->in[0], *x = v->in[1], *g = sp__mul_number(b, v->dout[0], sign);
    if (v->needs[0]) {
        sp_tensor *slope = sp__vjp_again(v) ? slope_composed(b, a, x) : SP_APPLY2(b, sp_op_igamma_slope, a, x);
        v->din[0] = sp__unbroadcast(b, sp_mul(b, g, slope), a);
    }
    if (v->needs[1]) { /* x^(a - 1) exp(-x) / gamma(a) */
        sp_tensor *log_density =
            sp_sub(b, sp_sub(b, sp_mul(b, sp__add_number(b, a, -1), sp_log(b, x)), x), SP_APPLY1(b, sp_op_lgamma, a));
        v->din[1] = sp__unbroadcast(b, sp_mul(b, g, sp_exp(b, log_density)), x);
    }
    return SP_OK;
}
static sp_status igamma_vjp(sp_builder *b, const sp_vjp *v) { return igamma_grad(b, v, 1); }
static sp_status igammac_vjp(sp_builder *b, const sp_vjp *v) { return igamma_grad(b, v, -1); }
#define IGAMMA_ENTRY(name_, ...)                                                                                       \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "a, x",                                                                     \
                                 .infer = sp__infer_broadcast,                                                         \
                                 .strided = true,                                                                      \
                                 .reference = name_##_reference,                                                       \
                                 .loop = name_##_loop,                                                                 \
                                 .promote = SP_PROMOTE_FLOAT,                                                          \
                                 .dtypes = SP_DT_FLOATS,                                                               \
                                 .samples = "[2,3]>0 [2,3]>0; [3]>0 []>0; [2](3,9) [2](3,20)",                         \
                                 __VA_ARGS__}
IGAMMA_ENTRY(igamma, .vjp = igamma_vjp, .saves = SP_SAVE_ALL_IN, .mindir = "Igamma",
             .python = "ops.igamma(input, other); ops.Igamma()(a, x); Tensor.igamma(other)",
             .doc = "The lower incomplete gamma function of order a at x, as a share of the gamma function.");
IGAMMA_ENTRY(igammac, .vjp = igammac_vjp, .saves = SP_SAVE_ALL_IN, .mindir = "Igammac",
             .python = "ops.igammac(input, other); ops.Igammac()(a, x); Tensor.igammac(other)",
             .doc = "The upper incomplete gamma function of order a at x, as a share of the gamma function.");
IGAMMA_ENTRY(igamma_slope, .vjp = sp__vjp_refuse, .no_vjp = "igamma composes its gradient when that is differentiated",
             .doc = "The derivative of igamma towards its order.");

/* --- zeta ---------------------------------------------------------------------------------------------------------- */

BINARY_FLOAT(zeta, sp__zeta(x, y), 2000)

/* Towards the exponent: the derivative of the sum of 30 terms and of what Euler and Maclaurin say of the others, each (q + k)^-s times a
 * logarithm. Of elementary operators, so that it can be differentiated again. */
static sp_tensor *zeta_slope(sp_builder *b, sp_tensor *s, sp_tensor *q)
{
    enum { N_TERMS = 30, N_CORRECTIONS = 3 };
    static const double bernoulli_over_factorial[N_CORRECTIONS] = {1.0 / 12, -1.0 / 720, 1.0 / 30240};
    const int64_t last = -1;
    sp_tensor *x = sp_add(b, deeper(b, q), sp_cast(b, sp__positions(b, 1, 0, N_TERMS), (sp_dtype)q->dtype));
    sp_tensor *terms = sp_mul(b, sp_log(b, x), SP_APPLY2(b, sp_op_pow, x, sp_neg(b, deeper(b, s))));
    sp_tensor *sum = sp_neg(b, sp_reduce_sum(b, terms, 1, &last, false));
    sp_tensor *a = sp__add_number(b, q, N_TERMS), *log_a = sp_log(b, a),
              *power = SP_APPLY2(b, sp_op_pow, a, sp_neg(b, s));
    sp_tensor *less = sp_reciprocal(b, sp__add_number(b, s, -1));
    sum = sp_sub(b, sum, sp_mul(b, sp_mul(b, sp_mul(b, a, power), less), sp_add(b, log_a, less)));
    sum = sp_sub(b, sum, sp__mul_number(b, sp_mul(b, log_a, power), 0.5));
    sp_tensor *rising = s, *slopes = sp_sub(b, sp_reciprocal(b, s), log_a);
    for (int j = 0; j < N_CORRECTIONS; j++) {
        power = sp_div(b, power, j == 0 ? a : sp_square(b, a));
        sum =
            sp_add(b, sum, sp__mul_number(b, sp_mul(b, sp_mul(b, rising, power), slopes), bernoulli_over_factorial[j]));
        for (int i = 1; i <= 2; i++) {
            sp_tensor *next = sp__add_number(b, s, 2 * j + i);
            rising = sp_mul(b, rising, next);
            slopes = sp_add(b, slopes, sp_reciprocal(b, next));
        }
    }
    return sum;
}
static sp_status zeta_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *s = v->in[0], *q = v->in[1], *g = v->dout[0];
    if (v->needs[0]) {
        const sp_dtype wide = s->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32;
        v->din[0] = sp__unbroadcast(
            b, sp_mul(b, g, sp_cast(b, zeta_slope(b, sp_cast(b, s, wide), sp_cast(b, q, wide)), (sp_dtype)s->dtype)),
            s);
    }
    if (v->needs[1]) {
        sp_tensor *slope = sp_neg(b, sp_mul(b, s, SP_APPLY2(b, sp_op_zeta, sp__add_number(b, s, 1), q)));
        v->din[1] = sp__unbroadcast(b, sp_mul(b, g, slope), q);
    }
    return SP_OK;
}
const sp_op sp_op_zeta = {
    .name = "zeta",
    .inputs = "x, y",
    .infer = sp__infer_broadcast,
    .strided = true,
    .reference = zeta_reference,
    .loop = zeta_loop,
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS,
    .vjp = zeta_vjp,
    .saves = SP_SAVE_ALL_IN,
    .mindir = "Zeta",
    .python = "ops.zeta(input, other); ops.Zeta()(x, q)",
    .doc = "The Hurwitz zeta function of x at y.",
    .samples = "[2,3](1.5,3) [2,3]>0; [2,3](1.5,3) [3]>0",
};
