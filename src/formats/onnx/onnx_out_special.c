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

static ox number(ox_out *o, double v) { return sp__ox_scalar(o, SP_DTYPE_F64, v); }
static ox wide(ox_out *o, int i) { return sp__ox_cast(o, o->in[i], SP_DTYPE_F64); }
static ox below(ox_out *o, ox x, ox y) { return SP_OX(o, "Less", NULL, x, y); }

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

static ox last_sum(ox_out *o, ox x)
{
    int64_t last = -1;
    return sp__ox_reduce(o, "ReduceSum", x, 1, &last, false);
}

/* Sum over k < n of at(order, k) x^k. */
static ox polynomial(ox_out *o, ox x, int64_t n, double (*at)(int order, int64_t k), int order)
{
    series s = {at, order};
    ox powers =
        SP_OX(o, "Pow", NULL, sp__ox_unsqueeze(o, x, -1), sp__ox_table(o, SP_DTYPE_F64, 1, &n, sp__ox_count, NULL));
    return last_sum(o, sp__ox_mul(o, powers, sp__ox_table(o, SP_DTYPE_F64, 1, &n, coefficient, &s)));
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

static void write_j_y(ox_out *o)
{
    const char *name = o->node->op->name; /* bessel_j0 */
    bool is_y = name[7] == 'y';
    int order = name[8] - '0';
    ox x = wide(o, 0), size = SP_OX(o, "Abs", NULL, x), limit = number(o, NEAR), zero = number(o, 0);
    ox small = SP_OX(o, "Min", NULL, size, limit), large = SP_OX(o, "Max", NULL, size, limit);
    ox half = sp__ox_mul(o, small, number(o, 0.5)), q = sp__ox_mul(o, half, half),
       j = polynomial(o, q, NEAR_TERMS, j_term, order);
    if (order) j = sp__ox_mul(o, j, half);
    ox near = j;
    if (is_y) { /* 2 / pi ((log(x / 2) + gamma) J - sum / 2 of the harmonic series) - for order 1 also 2 / (pi x) */
        ox sum = polynomial(o, q, NEAR_TERMS, y_term, order);
        if (order) sum = sp__ox_mul(o, sum, half);
        ox log_half = sp__ox_add(o, SP_OX(o, "Log", NULL, half), number(o, 0.57721566490153286));
        near = sp__ox_sub(o, sp__ox_mul(o, log_half, j), sp__ox_mul(o, sum, number(o, 0.5)));
        if (order) near = sp__ox_sub(o, near, SP_OX(o, "Reciprocal", NULL, small));
        near = sp__ox_mul(o, near, number(o, 2 / PI));
    }
    ox inverse = SP_OX(o, "Reciprocal", NULL, large), p = polynomial(o, inverse, FAR_TERMS, hankel_p, order);
    ox r = polynomial(o, inverse, FAR_TERMS, hankel_q, order),
       angle = sp__ox_sub(o, large, number(o, PI * (2 * order + 1) / 4));
    ox sine = SP_OX(o, "Sin", NULL, angle), cosine = SP_OX(o, "Cos", NULL, angle);
    ox wave = is_y ? sp__ox_add(o, sp__ox_mul(o, p, sine), sp__ox_mul(o, r, cosine))
                   : sp__ox_sub(o, sp__ox_mul(o, p, cosine), sp__ox_mul(o, r, sine));
    ox far = sp__ox_mul(o, wave, SP_OX(o, "Sqrt", NULL, sp__ox_mul(o, inverse, number(o, 2 / PI))));
    ox y = sp__ox_where(o, below(o, size, limit), near, far);
    if (is_y) y = sp__ox_where(o, below(o, x, zero), number(o, NAN), y);
    else if (order) y = sp__ox_mul(o, y, SP_OX(o, "Sign", NULL, x));
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

static void write_i(ox_out *o)
{
    const char *name = o->node->op->name; /* bessel_i0, bessel_i0e: times exp(-|x|) */
    int order = name[8] - '0';
    bool scaled = name[9] == 'e';
    ox x = wide(o, 0), size = SP_OX(o, "Abs", NULL, x), limit = number(o, 20);
    ox small = SP_OX(o, "Min", NULL, size, limit), large = SP_OX(o, "Max", NULL, size, limit),
       half = sp__ox_mul(o, small, number(o, 0.5));
    ox near = polynomial(o, sp__ox_mul(o, half, half), 80, i_term, order),
       inverse = SP_OX(o, "Reciprocal", NULL, large);
    if (order) near = sp__ox_mul(o, near, half);
    near = sp__ox_mul(o, near, SP_OX(o, "Exp", NULL, SP_OX(o, "Neg", NULL, small)));
    ox far = sp__ox_mul(o, polynomial(o, inverse, 18, i_far, order),
                        SP_OX(o, "Sqrt", NULL, sp__ox_mul(o, inverse, number(o, 0.5 / PI))));
    ox y = sp__ox_where(o, below(o, size, limit), near, far);
    if (!scaled) y = sp__ox_mul(o, y, SP_OX(o, "Exp", NULL, size));
    o->out[0] = order ? sp__ox_mul(o, y, SP_OX(o, "Sign", NULL, x)) : y;
}

/* exp(x) K(x) is the integral of exp(-2 x sinh(t / 2)^2) cosh(n t); steps become smaller where it is a narrow bell. */
static void write_k(ox_out *o)
{
    const char *name = o->node->op->name;
    int order = name[8] - '0';
    bool scaled = name[9] == 'e';
    int64_t n = 400;
    ox x = wide(o, 0),
       step = sp__ox_div(o, number(o, 0.25), SP_OX(o, "Sqrt", NULL, SP_OX(o, "Max", NULL, x, number(o, 1))));
    ox t = sp__ox_mul(o, sp__ox_unsqueeze(o, step, -1), sp__ox_table(o, SP_DTYPE_F64, 1, &n, sp__ox_count, NULL));
    ox half = SP_OX(o, "Exp", NULL, sp__ox_mul(o, t, number(o, 0.5))), minus = SP_OX(o, "Reciprocal", NULL, half),
       sine = sp__ox_sub(o, half, minus);
    ox part =
        SP_OX(o, "Exp", NULL,
              sp__ox_mul(o, sp__ox_mul(o, sine, sine), sp__ox_mul(o, sp__ox_unsqueeze(o, x, -1), number(o, -0.5))));
    if (order)
        part = sp__ox_mul(
            o, part,
            sp__ox_mul(o, sp__ox_add(o, sp__ox_mul(o, half, half), sp__ox_mul(o, minus, minus)), number(o, 0.5)));
    ox sum = sp__ox_sub(o, last_sum(o, part), number(o, 0.5)); /* the first point counts half */
    ox y = sp__ox_mul(o, sum, step), zero = number(o, 0);
    if (!scaled) y = sp__ox_mul(o, y, SP_OX(o, "Exp", NULL, SP_OX(o, "Neg", NULL, x)));
    y = sp__ox_where(o, SP_OX(o, "Equal", NULL, x, zero), number(o, INFINITY), y);
    o->out[0] = sp__ox_where(o, below(o, x, zero), number(o, NAN), y);
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

static ox log_gamma(ox_out *o, ox x, bool derivative)
{
    int64_t nine = 9, last = -1;
    ox steps = sp__ox_add(o, sp__ox_unsqueeze(o, x, -1), sp__ox_table(o, SP_DTYPE_F64, 1, &nine, sp__ox_count, NULL));
    ox z = sp__ox_add(o, x, number(o, 9)), inverse = SP_OX(o, "Reciprocal", NULL, z),
       square = sp__ox_mul(o, inverse, inverse), log_z = SP_OX(o, "Log", NULL, z);
    ox lifted =
        sp__ox_reduce(o, "ReduceSum", SP_OX(o, derivative ? "Reciprocal" : "Log", NULL, steps), 1, &last, false);
    if (derivative) {
        ox tail = sp__ox_sub(o, polynomial(o, square, 5, shift_digamma, 0), sp__ox_mul(o, inverse, number(o, 0.5)));
        return sp__ox_sub(o, sp__ox_add(o, log_z, tail), lifted);
    }
    ox main = sp__ox_sub(o, sp__ox_mul(o, sp__ox_sub(o, z, number(o, 0.5)), log_z),
                         sp__ox_sub(o, z, number(o, 0.91893853320467274)));
    return sp__ox_sub(o, sp__ox_add(o, main, sp__ox_mul(o, inverse, polynomial(o, square, 4, shift_log, 0))), lifted);
}

/* The power series, whose terms are all positive: sum over k of x^(a + k) exp(-x) / gamma(a + k + 1). Two thousand terms reach x of about 1,700.
 * Towards the order: each term times log x minus digamma of a + k + 1. */
static void write_igamma(ox_out *o)
{
    const char *name = o->node->op->name; /* igamma, igammac, igamma_slope */
    bool slope = name[6] == '_', rest = name[6] == 'c';
    ox zero = number(o, 0), one = number(o, 1), a = wide(o, 0), x = wide(o, 1), out[4], end[3];
    a = sp__ox_add(o, a, sp__ox_mul(o, x, zero)); /* broadcast */
    x = sp__ox_add(o, x, sp__ox_mul(o, a, zero));
    ox next = sp__ox_add(o, a, one), log_x = SP_OX(o, "Log", NULL, x);
    ox first =
        SP_OX(o, "Exp", NULL, sp__ox_sub(o, sp__ox_sub(o, sp__ox_mul(o, a, log_x), x), log_gamma(o, next, false)));
    ox factor = slope ? sp__ox_sub(o, log_x, log_gamma(o, next, true)) : sp__ox_add(o, sp__ox_mul(o, a, zero), one);
    ox start[3] = {first, factor, sp__ox_mul(o, first, factor)};
    ox_graph *body = sp__ox_begin(o, "series", 5);
    if (!body || !sp__ox_ok(o)) return;
    ox turn = body->in[0] = sp__ox_value(o, NULL, SP_DTYPE_I64);
    body->in[1] = sp__ox_value(o, NULL, SP_DTYPE_BOOL);
    for (int k = 0; k < 3; k++) body->in[2 + k] = sp__ox_value(o, NULL, SP_DTYPE_F64);
    ox order = sp__ox_add(o, sp__ox_add(o, sp__ox_cast(o, turn, SP_DTYPE_F64), one), a);
    out[0] = body->in[1];
    out[1] = sp__ox_mul(o, body->in[2], sp__ox_div(o, x, order));
    out[2] = slope ? sp__ox_sub(o, body->in[3], SP_OX(o, "Reciprocal", NULL, order))
                   : SP_OX(o, "Identity", NULL, body->in[3]);
    out[3] = sp__ox_add(o, body->in[4], sp__ox_mul(o, out[1], out[2]));
    sp__ox_end(o, body, 4, out);
    sp__ox_loop(o, sp__ox_whole(o, SP_DTYPE_I64, 2000), sp__ox_whole(o, SP_DTYPE_BOOL, 1), 3, start, body, end);
    ox sum = sp__ox_where(o, SP_OX(o, "Equal", NULL, x, zero), zero, end[2]);
    o->out[0] = rest ? sp__ox_sub(o, one, sum) : sum;
}

/* --- small floats ------------------------------------------------------------------------------------------------ */

/* 2^floor(log2 x) of positive x: the logarithm may be off by one near powers of two. */
static ox power_below(ox_out *o, ox x)
{
    ox e = SP_OX(o, "Floor", NULL, sp__ox_mul(o, SP_OX(o, "Log", NULL, x), number(o, 1.44269504088896341))),
       two = number(o, 2);
    ox p = SP_OX(o, "Pow", NULL, two, e);
    p = sp__ox_where(o, below(o, x, p), sp__ox_div(o, p, two), p);
    return sp__ox_where(o, below(o, x, sp__ox_mul(o, p, two)), p, sp__ox_mul(o, p, two));
}

static void write_minifloat(ox_out *o)
{
    const sp_minifloat_format *f = sp__minifloat_find(sp__ox_text(o, "format"));
    bool saturate = sp__ox_int(o, "saturate") != 0;
    char mode = sp__ox_text(o, "mode")[0];
    ox x = wide(o, 0), size = SP_OX(o, "Abs", NULL, x), zero = number(o, 0), nan = SP_OX(o, "IsNaN", NULL, x),
       inf = SP_OX(o, "IsInf", NULL, x);
    double least = ldexp(1, 1 - f->bias);
    ox p = power_below(o, SP_OX(o, "Max", NULL, size, number(o, f->exponent_bits == 8 ? ldexp(1, -149) : least)));
    if (f->exponent_bits == 8) { /* a power of two, from the bits of the float alone */
        ox smallest = number(o, ldexp(1, -127)), normal = number(o, ldexp(1, -126)),
           half = sp__ox_mul(o, p, number(o, 1.5));
        ox up = mode == 'u'   ? below(o, p, size)
                : mode == 'n' ? SP_OX(o, "Not", NULL, below(o, size, half))
                              : below(o, size, zero);
        ox low =
            mode == 'd' ? smallest : sp__ox_where(o, below(o, mode == 'u' ? zero : smallest, size), normal, smallest);
        ox y = sp__ox_where(o, up, sp__ox_mul(o, p, number(o, 2)), p);
        y = sp__ox_where(o, below(o, size, normal), low, y);
        ox most = number(o, ldexp(1, 127));
        y = sp__ox_where(o, below(o, most, y), saturate ? most : number(o, NAN), y);
        o->out[0] = sp__ox_where(o, SP_OX(o, "Or", NULL, nan, inf), number(o, NAN), y);
        return;
    }
    ox step = sp__ox_mul(o, p, number(o, ldexp(1, -f->mantissa_bits)));
    ox y = sp__ox_mul(o, SP_OX(o, "Round", NULL, sp__ox_div(o, size, step)), step), most = number(o, f->max);
    ox beyond = saturate || !f->has_nan ? most : number(o, f->has_inf ? INFINITY : NAN);
    y = sp__ox_where(o, SP_OX(o, "Or", NULL, inf, below(o, most, y)), beyond, y);
    y = sp__ox_where(o, below(o, x, zero), SP_OX(o, "Neg", NULL, y), y);
    o->out[0] = sp__ox_where(o, nan, f->has_nan ? x : zero, y);
}

#define BESSEL(name, rule) SP_OX_CODE("bessel_" name, rule)
const ox_rule sp__ox_special[] = {
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
    SP_OX_CODE("igamma", write_igamma),
    SP_OX_CODE("igammac", write_igamma),
    SP_OX_CODE("igamma_slope", write_igamma),
    SP_OX_CODE("minifloat", write_minifloat),
    {.op = NULL},
};
