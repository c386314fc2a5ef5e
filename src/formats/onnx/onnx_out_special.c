/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_special.c - how Bessel and incomplete gamma functions and small floats are written to ONNX, which has no operators for them.
 *
 * Series with a fixed number of terms are sums over one more axis: Pow with a list of exponents, times the list of coefficients. All is
 * computed in float64 and rounded once, as the kernels do. */
#include <math.h>
#include <string.h>

#include "formats/onnx/onnx_out_run.h"
#include "ops/minifloat.h"

#define PI 3.14159265358979324

static sp_onnx_id number(sp_onnx_out *o, double v) { return sp__onnx_out_scalar(o, SP_DTYPE_F64, v); }
static sp_onnx_id wide(sp_onnx_out *o, int i) { return sp__onnx_out_cast(o, o->in[i], SP_DTYPE_F64); }
static sp_onnx_id below(sp_onnx_out *o, sp_onnx_id x, sp_onnx_id y) { return SP_ONNX_OUT(o, "Less", NULL, x, y); }

/* --- sums over one more axis ------------------------------------------------------------------------------------- */

typedef struct {
    double (*at)(int order, int64_t k);
    int order;
} series;

static double coefficient(const void *context, int64_t k)
{
    const series *s = context;
    return s->at(s->order, k);
}

static sp_onnx_id last_sum(sp_onnx_out *o, sp_onnx_id x)
{
    int64_t last = -1;
    return sp__onnx_out_reduce(o, "ReduceSum", x, 1, &last, false);
}

/* Sum over k < n of at(order, k) x^k. */
static sp_onnx_id polynomial(sp_onnx_out *o, sp_onnx_id x, int64_t n, double (*at)(int order, int64_t k), int order)
{
    series s = {at, order};
    sp_onnx_id powers = SP_ONNX_OUT(o, "Pow", NULL, sp__onnx_out_unsqueeze(o, x, -1),
                                    sp__onnx_out_table(o, SP_DTYPE_F64, 1, &n, sp__onnx_out_count, NULL));
    return last_sum(o, sp__onnx_out_mul(o, powers, sp__onnx_out_table(o, SP_DTYPE_F64, 1, &n, coefficient, &s)));
}

/* --- J and Y: power series up to 12, Hankel's asymptotic one beyond ---------------------------------------------- */

enum { NEAR = 12, NEAR_TERMS = 44, FAR_TERMS = 12 };

/* Of (x / 2)^order J: (-1)^k / (k! (k + order)!), in (x / 2)^2. */
static double j_term(int order, int64_t k)
{
    return (k % 2 ? -1 : 1) * exp(-lgamma((double)k + 1) - lgamma((double)(k + order) + 1));
}

/* The same times the harmonic numbers H(k) + H(k + order), for Y. */
static double y_term(int order, int64_t k)
{
    double h = 0;
    for (int64_t i = 1; i <= k; i++) h += 1 / (double)i;
    for (int64_t i = 1; i <= k + order; i++) h += 1 / (double)i;
    return h * j_term(order, k);
}

/* Terms of Hankel's series in 1 / x, which P and Q take in turn, with their signs. */
static double hankel(int order, int64_t k)
{
    double product = 1;
    for (int64_t i = 1; i <= k; i++)
        product *= (4.0 * order * order - (double)((2 * i - 1) * (2 * i - 1))) / (8.0 * (double)i);
    return k / 2 % 2 ? -product : product;
}
static double hankel_p(int order, int64_t k) { return k % 2 ? 0 : hankel(order, k); }
static double hankel_q(int order, int64_t k) { return k % 2 ? hankel(order, k) : 0; }

static void write_j_y(sp_onnx_out *o)
{
    const sp_op *op = o->node->op;
    bool is_y = op == &sp_op_bessel_y0 || op == &sp_op_bessel_y1;
    int order = op == &sp_op_bessel_j1 || op == &sp_op_bessel_y1;
    sp_onnx_id x = wide(o, 0), size = SP_ONNX_OUT(o, "Abs", NULL, x), limit = number(o, NEAR), zero = number(o, 0);
    sp_onnx_id small = SP_ONNX_OUT(o, "Min", NULL, size, limit), large = SP_ONNX_OUT(o, "Max", NULL, size, limit);
    sp_onnx_id half = sp__onnx_out_mul(o, small, number(o, 0.5)), q = sp__onnx_out_mul(o, half, half),
               j = polynomial(o, q, NEAR_TERMS, j_term, order);
    if (order) j = sp__onnx_out_mul(o, j, half);
    sp_onnx_id near = j;
    if (is_y) { /* 2 / pi ((log(x / 2) + gamma) J - sum / 2 of the harmonic series) - for order 1 also 2 / (pi x) */
        sp_onnx_id sum = polynomial(o, q, NEAR_TERMS, y_term, order);
        if (order) sum = sp__onnx_out_mul(o, sum, half);
        sp_onnx_id log_half = sp__onnx_out_add(o, SP_ONNX_OUT(o, "Log", NULL, half), number(o, 0.57721566490153286));
        near = sp__onnx_out_sub(o, sp__onnx_out_mul(o, log_half, j), sp__onnx_out_mul(o, sum, number(o, 0.5)));
        if (order) near = sp__onnx_out_sub(o, near, SP_ONNX_OUT(o, "Reciprocal", NULL, small));
        near = sp__onnx_out_mul(o, near, number(o, 2 / PI));
    }
    sp_onnx_id inverse = SP_ONNX_OUT(o, "Reciprocal", NULL, large),
               p = polynomial(o, inverse, FAR_TERMS, hankel_p, order);
    sp_onnx_id r = polynomial(o, inverse, FAR_TERMS, hankel_q, order),
               angle = sp__onnx_out_sub(o, large, number(o, PI * (2 * order + 1) / 4));
    sp_onnx_id sine = SP_ONNX_OUT(o, "Sin", NULL, angle), cosine = SP_ONNX_OUT(o, "Cos", NULL, angle);
    sp_onnx_id wave = is_y ? sp__onnx_out_add(o, sp__onnx_out_mul(o, p, sine), sp__onnx_out_mul(o, r, cosine))
                           : sp__onnx_out_sub(o, sp__onnx_out_mul(o, p, cosine), sp__onnx_out_mul(o, r, sine));
    sp_onnx_id far =
        sp__onnx_out_mul(o, wave, SP_ONNX_OUT(o, "Sqrt", NULL, sp__onnx_out_mul(o, inverse, number(o, 2 / PI))));
    sp_onnx_id y = sp__onnx_out_where(o, below(o, size, limit), near, far);
    if (is_y) y = sp__onnx_out_where(o, below(o, x, zero), number(o, NAN), y);
    else if (order) y = sp__onnx_out_mul(o, y, SP_ONNX_OUT(o, "Sign", NULL, x));
    o->out[0] = y;
}

/* --- I: power series up to 20, asymptotic beyond; K: an integral by the trapezoidal rule -------------------------- */

static double i_term(int order, int64_t k) { return exp(-lgamma((double)k + 1) - lgamma((double)(k + order) + 1)); }
static double i_far(int order, int64_t k)
{
    double product = 1;
    for (int64_t i = 1; i <= k; i++)
        product *= -(4.0 * order * order - (double)((2 * i - 1) * (2 * i - 1))) / (8.0 * (double)i);
    return product;
}

static void write_i(sp_onnx_out *o)
{
    const sp_op *op = o->node->op;
    int order = op == &sp_op_bessel_i1 || op == &sp_op_bessel_i1e;
    bool scaled = op == &sp_op_bessel_i0e || op == &sp_op_bessel_i1e; /* times exp(-|x|) */
    sp_onnx_id x = wide(o, 0), size = SP_ONNX_OUT(o, "Abs", NULL, x), limit = number(o, 20);
    sp_onnx_id small = SP_ONNX_OUT(o, "Min", NULL, size, limit), large = SP_ONNX_OUT(o, "Max", NULL, size, limit),
               half = sp__onnx_out_mul(o, small, number(o, 0.5));
    sp_onnx_id near = polynomial(o, sp__onnx_out_mul(o, half, half), 80, i_term, order),
               inverse = SP_ONNX_OUT(o, "Reciprocal", NULL, large);
    if (order) near = sp__onnx_out_mul(o, near, half);
    near = sp__onnx_out_mul(o, near, SP_ONNX_OUT(o, "Exp", NULL, SP_ONNX_OUT(o, "Neg", NULL, small)));
    sp_onnx_id far = sp__onnx_out_mul(o, polynomial(o, inverse, 18, i_far, order),
                                      SP_ONNX_OUT(o, "Sqrt", NULL, sp__onnx_out_mul(o, inverse, number(o, 0.5 / PI))));
    sp_onnx_id y = sp__onnx_out_where(o, below(o, size, limit), near, far);
    if (!scaled) y = sp__onnx_out_mul(o, y, SP_ONNX_OUT(o, "Exp", NULL, size));
    o->out[0] = order ? sp__onnx_out_mul(o, y, SP_ONNX_OUT(o, "Sign", NULL, x)) : y;
}

/* exp(x) K(x) is the integral of exp(-2 x sinh(t / 2)^2) cosh(n t); steps become smaller where it is a narrow bell. */
static void write_k(sp_onnx_out *o)
{
    const sp_op *op = o->node->op;
    int order = op == &sp_op_bessel_k1 || op == &sp_op_bessel_k1e;
    bool scaled = op == &sp_op_bessel_k0e || op == &sp_op_bessel_k1e;
    int64_t n = 400;
    sp_onnx_id x = wide(o, 0),
               step = sp__onnx_out_div(o, number(o, 0.25),
                                       SP_ONNX_OUT(o, "Sqrt", NULL, SP_ONNX_OUT(o, "Max", NULL, x, number(o, 1))));
    sp_onnx_id t = sp__onnx_out_mul(o, sp__onnx_out_unsqueeze(o, step, -1),
                                    sp__onnx_out_table(o, SP_DTYPE_F64, 1, &n, sp__onnx_out_count, NULL));
    sp_onnx_id half = SP_ONNX_OUT(o, "Exp", NULL, sp__onnx_out_mul(o, t, number(o, 0.5))),
               minus = SP_ONNX_OUT(o, "Reciprocal", NULL, half), sine = sp__onnx_out_sub(o, half, minus);
    sp_onnx_id part =
        SP_ONNX_OUT(o, "Exp", NULL,
                    sp__onnx_out_mul(o, sp__onnx_out_mul(o, sine, sine),
                                     sp__onnx_out_mul(o, sp__onnx_out_unsqueeze(o, x, -1), number(o, -0.5))));
    if (order)
        part = sp__onnx_out_mul(
            o, part,
            sp__onnx_out_mul(o, sp__onnx_out_add(o, sp__onnx_out_mul(o, half, half), sp__onnx_out_mul(o, minus, minus)),
                             number(o, 0.5)));
    sp_onnx_id sum = sp__onnx_out_sub(o, last_sum(o, part), number(o, 0.5)); /* the first point counts half */
    sp_onnx_id y = sp__onnx_out_mul(o, sum, step), zero = number(o, 0);
    if (!scaled) y = sp__onnx_out_mul(o, y, SP_ONNX_OUT(o, "Exp", NULL, SP_ONNX_OUT(o, "Neg", NULL, x)));
    y = sp__onnx_out_where(o, SP_ONNX_OUT(o, "Equal", NULL, x, zero), number(o, INFINITY), y);
    o->out[0] = sp__onnx_out_where(o, below(o, x, zero), number(o, NAN), y);
}

/* --- the incomplete gamma function ------------------------------------------------------------------------------- */

/* log of gamma, or its derivative, of positive numbers: lifted by nine, then the asymptotic series. */
static double shift_log(int order, int64_t k)
{
    static const double terms[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680};
    (void)order;
    return terms[k];
}
static double shift_digamma(int order, int64_t k)
{
    static const double terms[] = {0, -1.0 / 12, 1.0 / 120, -1.0 / 252, 1.0 / 240};
    (void)order;
    return terms[k];
}

static sp_onnx_id log_gamma(sp_onnx_out *o, sp_onnx_id x, bool derivative)
{
    int64_t nine = 9, last = -1;
    sp_onnx_id steps = sp__onnx_out_add(o, sp__onnx_out_unsqueeze(o, x, -1),
                                        sp__onnx_out_table(o, SP_DTYPE_F64, 1, &nine, sp__onnx_out_count, NULL));
    sp_onnx_id z = sp__onnx_out_add(o, x, number(o, 9)), inverse = SP_ONNX_OUT(o, "Reciprocal", NULL, z),
               square = sp__onnx_out_mul(o, inverse, inverse), log_z = SP_ONNX_OUT(o, "Log", NULL, z);
    sp_onnx_id lifted = sp__onnx_out_reduce(
        o, "ReduceSum", SP_ONNX_OUT(o, derivative ? "Reciprocal" : "Log", NULL, steps), 1, &last, false);
    if (derivative) {
        sp_onnx_id tail = sp__onnx_out_sub(o, polynomial(o, square, 5, shift_digamma, 0),
                                           sp__onnx_out_mul(o, inverse, number(o, 0.5)));
        return sp__onnx_out_sub(o, sp__onnx_out_add(o, log_z, tail), lifted);
    }
    sp_onnx_id main = sp__onnx_out_sub(o, sp__onnx_out_mul(o, sp__onnx_out_sub(o, z, number(o, 0.5)), log_z),
                                       sp__onnx_out_sub(o, z, number(o, 0.91893853320467274)));
    return sp__onnx_out_sub(
        o, sp__onnx_out_add(o, main, sp__onnx_out_mul(o, inverse, polynomial(o, square, 4, shift_log, 0))), lifted);
}

/* The power series, whose terms are all positive: sum over k of x^(a + k) exp(-x) / gamma(a + k + 1). Two thousand terms reach x of about 1,700.
 * Towards the order: each term times log x minus digamma of a + k + 1. */
static void write_igamma(sp_onnx_out *o)
{
    bool slope = o->node->op == &sp_op_igamma_slope, rest = o->node->op == &sp_op_igammac;
    sp_onnx_id zero = number(o, 0), one = number(o, 1), a = wide(o, 0), x = wide(o, 1), out[4], end[3];
    a = sp__onnx_out_add(o, a, sp__onnx_out_mul(o, x, zero)); /* broadcast */
    x = sp__onnx_out_add(o, x, sp__onnx_out_mul(o, a, zero));
    sp_onnx_id next = sp__onnx_out_add(o, a, one), log_x = SP_ONNX_OUT(o, "Log", NULL, x);
    sp_onnx_id first = SP_ONNX_OUT(
        o, "Exp", NULL,
        sp__onnx_out_sub(o, sp__onnx_out_sub(o, sp__onnx_out_mul(o, a, log_x), x), log_gamma(o, next, false)));
    sp_onnx_id factor = slope ? sp__onnx_out_sub(o, log_x, log_gamma(o, next, true))
                              : sp__onnx_out_add(o, sp__onnx_out_mul(o, a, zero), one);
    sp_onnx_id start[3] = {first, factor, sp__onnx_out_mul(o, first, factor)};
    sp_onnx_out_graph *body = sp__onnx_out_begin(o, "series", 5);
    if (!body || !sp__onnx_out_ok(o)) return;
    sp_onnx_id turn = body->in[0] = sp__onnx_out_value(o, NULL, SP_DTYPE_I64);
    body->in[1] = sp__onnx_out_value(o, NULL, SP_DTYPE_BOOL);
    for (int k = 0; k < 3; k++) body->in[2 + k] = sp__onnx_out_value(o, NULL, SP_DTYPE_F64);
    sp_onnx_id order = sp__onnx_out_add(o, sp__onnx_out_add(o, sp__onnx_out_cast(o, turn, SP_DTYPE_F64), one), a);
    out[0] = body->in[1];
    out[1] = sp__onnx_out_mul(o, body->in[2], sp__onnx_out_div(o, x, order));
    out[2] = slope ? sp__onnx_out_sub(o, body->in[3], SP_ONNX_OUT(o, "Reciprocal", NULL, order))
                   : SP_ONNX_OUT(o, "Identity", NULL, body->in[3]);
    out[3] = sp__onnx_out_add(o, body->in[4], sp__onnx_out_mul(o, out[1], out[2]));
    sp__onnx_out_end(o, body, 4, out);
    sp__onnx_out_loop(o, sp__onnx_out_whole(o, SP_DTYPE_I64, 2000), sp__onnx_out_whole(o, SP_DTYPE_BOOL, 1), 3, start,
                      body, end);
    sp_onnx_id sum = sp__onnx_out_where(o, SP_ONNX_OUT(o, "Equal", NULL, x, zero), zero, end[2]);
    o->out[0] = rest ? sp__onnx_out_sub(o, one, sum) : sum;
}

/* --- small floats ------------------------------------------------------------------------------------------------ */

/* 2^floor(log2 x) of positive x: the logarithm may be off by one near powers of two. */
static sp_onnx_id power_below(sp_onnx_out *o, sp_onnx_id x)
{
    sp_onnx_id e = SP_ONNX_OUT(o, "Floor", NULL,
                               sp__onnx_out_mul(o, SP_ONNX_OUT(o, "Log", NULL, x), number(o, 1.44269504088896341))),
               two = number(o, 2);
    sp_onnx_id p = SP_ONNX_OUT(o, "Pow", NULL, two, e);
    p = sp__onnx_out_where(o, below(o, x, p), sp__onnx_out_div(o, p, two), p);
    return sp__onnx_out_where(o, below(o, x, sp__onnx_out_mul(o, p, two)), p, sp__onnx_out_mul(o, p, two));
}

static void write_minifloat(sp_onnx_out *o)
{
    const sp_minifloat_format *f = sp__minifloat_find(sp__onnx_out_text(o, "format"));
    bool saturate = sp__onnx_out_int(o, "saturate") != 0;
    char mode = sp__onnx_out_text(o, "mode")[0];
    sp_onnx_id x = wide(o, 0), size = SP_ONNX_OUT(o, "Abs", NULL, x), zero = number(o, 0),
               nan = SP_ONNX_OUT(o, "IsNaN", NULL, x), inf = SP_ONNX_OUT(o, "IsInf", NULL, x);
    double least = ldexp(1, 1 - f->bias);
    sp_onnx_id p =
        power_below(o, SP_ONNX_OUT(o, "Max", NULL, size, number(o, f->exponent_bits == 8 ? ldexp(1, -149) : least)));
    if (f->exponent_bits == 8) { /* a power of two, from the bits of the float alone */
        sp_onnx_id smallest = number(o, ldexp(1, -127)), normal = number(o, ldexp(1, -126)),
                   half = sp__onnx_out_mul(o, p, number(o, 1.5));
        sp_onnx_id up = mode == 'u'   ? below(o, p, size)
                        : mode == 'n' ? SP_ONNX_OUT(o, "Not", NULL, below(o, size, half))
                                      : below(o, size, zero);
        sp_onnx_id low = mode == 'd'
                             ? smallest
                             : sp__onnx_out_where(o, below(o, mode == 'u' ? zero : smallest, size), normal, smallest);
        sp_onnx_id y = sp__onnx_out_where(o, up, sp__onnx_out_mul(o, p, number(o, 2)), p);
        y = sp__onnx_out_where(o, below(o, size, normal), low, y);
        sp_onnx_id most = number(o, ldexp(1, 127));
        y = sp__onnx_out_where(o, below(o, most, y), saturate ? most : number(o, NAN), y);
        o->out[0] = sp__onnx_out_where(o, SP_ONNX_OUT(o, "Or", NULL, nan, inf), number(o, NAN), y);
        return;
    }
    sp_onnx_id step = sp__onnx_out_mul(o, p, number(o, ldexp(1, -f->mantissa_bits)));
    sp_onnx_id y = sp__onnx_out_mul(o, SP_ONNX_OUT(o, "Round", NULL, sp__onnx_out_div(o, size, step)), step),
               most = number(o, f->max);
    sp_onnx_id beyond = saturate || !f->has_nan ? most : number(o, f->has_inf ? INFINITY : NAN);
    y = sp__onnx_out_where(o, SP_ONNX_OUT(o, "Or", NULL, inf, below(o, most, y)), beyond, y);
    y = sp__onnx_out_where(o, below(o, x, zero), SP_ONNX_OUT(o, "Neg", NULL, y), y);
    o->out[0] = sp__onnx_out_where(o, nan, f->has_nan ? x : zero, y);
}

#define BESSEL(name, rule) SP_ONNX_OUT_CODE("bessel_" name, rule)
const sp_onnx_out_rule sp__onnx_out_special[] = {
    BESSEL("j0", write_j_y),
    BESSEL("j1", write_j_y),
    BESSEL("y0", write_j_y),
    BESSEL("y1", write_j_y),
    BESSEL("i0", write_i),
    BESSEL("i1", write_i),
    BESSEL("i0e", write_i),
    BESSEL("i1e", write_i),
    BESSEL("k0", write_k),
    BESSEL("k1", write_k),
    BESSEL("k0e", write_k),
    BESSEL("k1e", write_k),
    SP_ONNX_OUT_CODE("igamma", write_igamma),
    SP_ONNX_OUT_CODE("igammac", write_igamma),
    SP_ONNX_OUT_CODE("igamma_slope", write_igamma),
    SP_ONNX_OUT_CODE("minifloat", write_minifloat),
    {.op = NULL},
};
