/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_math.c - how element-wise operators and activations are written to ONNX. */
#include <string.h>

#include "formats/onnx/onnx_out.h"

static bool is_int(sp_onnx_out *o) { return sp_dtype_kind(sp__onnx_out_meta(o, 0)->dtype) != 'f'; }

/* Rounding leaves integers alone. */
static void write_round(sp_onnx_out *o)
{
    const sp_op *op = o->node->op;
    if (is_int(o)) o->out[0] = o->in[0];
    else
        sp__onnx_out_write_text(o, op == &sp_op_floor   ? "Floor(x)"
                                   : op == &sp_op_ceil  ? "Ceil(x)"
                                   : op == &sp_op_round ? "Round(x)"
                                                        : "Sign(x) * Floor(Abs(x))");
}

/* -0 counts; there is none among integers. */
static void write_signbit(sp_onnx_out *o) { sp__onnx_out_write_text(o, is_int(o) ? "x < 0" : "Or(x < 0, 1 / x < 0)"); }

static void write_frac(sp_onnx_out *o)
{
    sp__onnx_out_write_text(o, is_int(o) ? "x - x" : "x - Sign(x) * Floor(Abs(x))");
}

static void write_identity(sp_onnx_out *o) { o->out[0] = o->in[0]; }
static void write_second(sp_onnx_out *o) { o->out[0] = o->in[1]; }

static void write_cast(sp_onnx_out *o)
{
    sp_dtype to = sp__onnx_out_result(o, 0)->dtype;
    /* ONNX Runtime takes a truth value from a float as it is; NaN is true here and there. */
    o->out[0] = sp__onnx_out_cast(o, o->in[0], to);
}

static void write_floor_div(sp_onnx_out *o)
{
    if (sp__onnx_out_meta(o, 0)->dtype == SP_DTYPE_BOOL)
        sp__onnx_out_write_text(o, "And(x, Or(y, Not(y)))"); /* x, of the common shape */
    else if (!is_int(o)) sp__onnx_out_write_text(o, "Floor(x / y)");
    else
        sp__onnx_out_write_text(o,
                                "s = Where(y == 0, 1, y); (x - Mod(x, s)) / s"); /* Mod has the sign of the divisor */
}

static void write_trunc_div(sp_onnx_out *o)
{
    if (sp__onnx_out_meta(o, 0)->dtype == SP_DTYPE_BOOL) sp__onnx_out_write_text(o, "And(x, Or(y, Not(y)))");
    else if (!is_int(o)) sp__onnx_out_write_text(o, "q = x / y; Sign(q) * Floor(Abs(q))");
    else sp__onnx_out_write_text(o, "x / Where(y == 0, 1, y)");
}

/* fmod of floats has the sign of x; of integers Mod has that of y. */
static void write_mod(sp_onnx_out *o)
{
    bool truncates = o->node->op == &sp_op_trunc_mod;
    if (sp__onnx_out_meta(o, 0)->dtype == SP_DTYPE_BOOL)
        sp__onnx_out_write_text(o, "And(And(x, Not(x)), y)"); /* nothing is left */
    else if (is_int(o))
        sp__onnx_out_write_text(o, truncates ? "s = Where(y == 0, 1, y); Mod(x, s, fmod=1)"
                                             : "Mod(x, Where(y == 0, 1, y))");
    else
        sp__onnx_out_write_text(o, truncates
                                       ? "Mod(x, y, fmod=1)"
                                       : "r = Mod(x, y, fmod=1); Where(And(Not(r == 0), Xor(r < 0, y < 0)), r + y, r)");
}

/* Arguments are lifted above 9 by the recurrence, then the asymptotic series. */
static void write_gamma(sp_onnx_out *o)
{
    bool log_gamma = o->node->op == &sp_op_lgamma;
    sp_dtype d = sp__onnx_out_meta(o, 0)->dtype;
    sp_onnx_id x = o->in[0], lifted = x, sum = 0, product = 0;
    if (is_int(o)) x = lifted = sp__onnx_out_cast(o, x, SP_DTYPE_F32);
    /* below a half by reflection, whose argument is 1 - x */
    sp_onnx_id low = SP_ONNX_OUT(o, "Less", NULL, x, sp__onnx_out_number(o, 0.5));
    sp_onnx_id z = lifted = sp__onnx_out_where(o, low, sp__onnx_out_sub(o, sp__onnx_out_number(o, 1), x), x);
    for (int k = 0; k < 9; k++) {
        sp_onnx_id term = k ? sp__onnx_out_add(o, z, sp__onnx_out_number(o, k)) : z;
        if (log_gamma) product = product ? sp__onnx_out_mul(o, product, term) : term;
        else {
            sp_onnx_id part = SP_ONNX_OUT(o, "Reciprocal", NULL, term);
            sum = sum ? sp__onnx_out_add(o, sum, part) : part;
        }
    }
    lifted = sp__onnx_out_add(o, z, sp__onnx_out_number(o, 9));
    sp_onnx_id inverse = SP_ONNX_OUT(o, "Reciprocal", NULL, lifted), square = sp__onnx_out_mul(o, inverse, inverse),
               logarithm = SP_ONNX_OUT(o, "Log", NULL, lifted), value;
    (void)d;
    if (log_gamma) {
        sp_onnx_id series = sp__onnx_out_mul(
            o, inverse,
            sp__onnx_out_sub(
                o, sp__onnx_out_number(o, 1.0 / 12),
                sp__onnx_out_mul(o, square,
                                 sp__onnx_out_sub(o, sp__onnx_out_number(o, 1.0 / 360),
                                                  sp__onnx_out_mul(o, square, sp__onnx_out_number(o, 1.0 / 1260))))));
        value = sp__onnx_out_sub(
            o, sp__onnx_out_mul(o, sp__onnx_out_sub(o, lifted, sp__onnx_out_number(o, 0.5)), logarithm),
            sp__onnx_out_sub(o, lifted, sp__onnx_out_number(o, 0.91893853320467274)));
        value = sp__onnx_out_sub(o, sp__onnx_out_add(o, value, series), SP_ONNX_OUT(o, "Log", NULL, product));
    } else {
        sp_onnx_id series = sp__onnx_out_mul(
            o, square,
            sp__onnx_out_sub(
                o, sp__onnx_out_number(o, 1.0 / 12),
                sp__onnx_out_mul(o, square,
                                 sp__onnx_out_sub(o, sp__onnx_out_number(o, 1.0 / 120),
                                                  sp__onnx_out_mul(o, square, sp__onnx_out_number(o, 1.0 / 252))))));
        value = sp__onnx_out_sub(
            o, sp__onnx_out_sub(o, logarithm, sp__onnx_out_mul(o, inverse, sp__onnx_out_number(o, 0.5))),
            sp__onnx_out_add(o, series, sum));
    }
    sp_onnx_id turned = sp__onnx_out_mul(o, x, sp__onnx_out_number(o, 3.14159265358979324)), mirrored;
    if (log_gamma)
        mirrored = sp__onnx_out_sub(
            o,
            sp__onnx_out_sub(
                o, sp__onnx_out_number(o, 1.14472988584940017),
                SP_ONNX_OUT(o, "Log", NULL, SP_ONNX_OUT(o, "Abs", NULL, SP_ONNX_OUT(o, "Sin", NULL, turned)))),
            value);
    else
        mirrored = sp__onnx_out_sub(
            o, value,
            sp__onnx_out_div(o, sp__onnx_out_number(o, 3.14159265358979324), SP_ONNX_OUT(o, "Tan", NULL, turned)));
    o->out[0] = sp__onnx_out_where(o, low, mirrored, value);
}

/* Sum over k of 1 / (k + q)^s: ten terms, then Euler and Maclaurin. */
static sp_onnx_id hurwitz(sp_onnx_out *o, sp_onnx_id s, sp_onnx_id q)
{
    static const double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30};
    sp_onnx_id minus = SP_ONNX_OUT(o, "Neg", NULL, s), sum = 0;
    for (int k = 0; k < 10; k++) {
        sp_onnx_id term = SP_ONNX_OUT(o, "Pow", NULL, k ? sp__onnx_out_add(o, q, sp__onnx_out_number(o, k)) : q, minus);
        sum = sum ? sp__onnx_out_add(o, sum, term) : term;
    }
    sp_onnx_id x = sp__onnx_out_add(o, q, sp__onnx_out_number(o, 10)), one = sp__onnx_out_number(o, 1);
    sp_onnx_id power = SP_ONNX_OUT(o, "Pow", NULL, x, minus);
    sum = sp__onnx_out_add(o, sum, sp__onnx_out_div(o, sp__onnx_out_mul(o, power, x), sp__onnx_out_sub(o, s, one)));
    sum = sp__onnx_out_add(o, sum, sp__onnx_out_mul(o, power, sp__onnx_out_number(o, 0.5)));
    sp_onnx_id rising = s, p = sp__onnx_out_div(o, power, x), xx = sp__onnx_out_mul(o, x, x);
    double factorial = 2;
    for (int k = 0; k < 4; k++) {
        sum = sp__onnx_out_add(
            o, sum,
            sp__onnx_out_mul(o, sp__onnx_out_mul(o, rising, p), sp__onnx_out_number(o, bernoulli[k] / factorial)));
        rising = sp__onnx_out_mul(o, rising,
                                  sp__onnx_out_mul(o, sp__onnx_out_add(o, s, sp__onnx_out_number(o, 2 * k + 1)),
                                                   sp__onnx_out_add(o, s, sp__onnx_out_number(o, 2 * k + 2))));
        p = sp__onnx_out_div(o, p, xx);
        factorial *= (2 * k + 3) * (2 * k + 4);
    }
    return sum;
}

static void write_zeta(sp_onnx_out *o) { o->out[0] = hurwitz(o, o->in[0], o->in[1]); }

static void write_polygamma(sp_onnx_out *o)
{
    int64_t n = sp__onnx_out_int(o, "n");
    double factorial = n % 2 ? 1 : -1;
    if (n == 0) {
        write_gamma(o);
        return;
    }
    for (int64_t k = 2; k <= n; k++) factorial *= (double)k;
    sp_onnx_id x = is_int(o) ? sp__onnx_out_cast(o, o->in[0], SP_DTYPE_F32) : o->in[0];
    sp_onnx_id s = sp__onnx_out_scalar(o, sp__onnx_out_dtype(o, x), (double)n + 1);
    o->out[0] = sp__onnx_out_mul(o, hurwitz(o, s, x), sp__onnx_out_number(o, factorial));
}

/* The next float: bits are not to be had in ONNX, so by the size of the last place, 2^(floor(log2 |x|) - digits). */
static void write_nextafter(sp_onnx_out *o)
{
    if (sp__onnx_out_meta(o, 0)->dtype != SP_DTYPE_F32) {
        sp__onnx_out_fail(o, sp__fail(SP_DECLINED, "nextafter is written to ONNX for float32 only"));
        return;
    }
    sp__onnx_out_write_text(
        o, "a = Abs(cast(x, float64)); up = Xor(x < y, x < 0);"
           "e = Floor(Log(Max(a, 0.0000000000000000000000000000000000000117549435082228751)) / 0.693147180559945309);"
           "p0 = Pow(2 + 0 * a, e); p1 = Where(p0 > a, p0 / 2, p0); p = Where(p1 * 2 <= a, p1 * 2, p1);"
           "t = Where(And(Not(up), a == p), p / 2, p) / 8388608;"
           "t2 = Max(t, 0.00000000000000000000000000000000000000000000140129846432481707);"
           "z = Where(a == 0, t2 * cast(Sign(y), float64), cast(Sign(x), float64) * Where(up, a + t2, a - t2));"
           "Where(x == y, y, cast(z, float32))");
}

/* --- bits -------------------------------------------------------------------------------------------------------- */

static void write_bits(sp_onnx_out *o)
{
    const sp_op *op = o->node->op;
    const bool is_and = op == &sp_op_bitwise_and, is_or = op == &sp_op_bitwise_or;
    sp_dtype d = sp__onnx_out_meta(o, 0)->dtype;
    if (d == SP_DTYPE_BOOL) {
        sp__onnx_out_write_text(o, is_and                     ? "And(x, y)"
                                   : is_or                    ? "Or(x, y)"
                                   : op == &sp_op_bitwise_xor ? "Xor(x, y)"
                                                              : "Not(x)");
        return;
    }
    if (op == &sp_op_bitwise_not) {
        sp__onnx_out_write_text(o, sp_dtype_kind(d) == 'u' ? "cast(-1 - cast(x, int64), x)" : "-1 - x");
        return;
    }
    if (o->opset >= 18) {
        sp__onnx_out_write_text(o, is_and ? "BitwiseAnd(x, y)" : is_or ? "BitwiseOr(x, y)" : "BitwiseXor(x, y)");
        return;
    }
    /* x & y bit by bit: 2^k where both have it. x | y = x + y - (x & y), x ^ y = x + y - 2 (x & y). */
    int bits = (int)sp_dtype_bytes(d) * 8;
    sp_onnx_id x = sp__onnx_out_cast(o, o->in[0], SP_DTYPE_I64), y = sp__onnx_out_cast(o, o->in[1], SP_DTYPE_I64),
               both = 0, two = sp__onnx_out_whole(o, SP_DTYPE_I64, 2);
    sp_onnx_id a = x, b = y;
    for (int k = 0; k < bits; k++) {
        sp_onnx_id bit_a = SP_ONNX_OUT(o, "Mod", NULL, a, two),
                   bit_b = SP_ONNX_OUT(o, "Mod", NULL, b, two); /* 0 or 1, also of negative numbers */
        int64_t weight = k == 63                                    ? INT64_MIN
                         : k == bits - 1 && sp_dtype_kind(d) != 'u' ? -((int64_t)1 << k)
                                                                    : (int64_t)1 << k;
        sp_onnx_id part =
            sp__onnx_out_mul(o, sp__onnx_out_mul(o, bit_a, bit_b), sp__onnx_out_whole(o, SP_DTYPE_I64, weight));
        both = both ? sp__onnx_out_add(o, both, part) : part;
        a = sp__onnx_out_div(o, sp__onnx_out_sub(o, a, bit_a), two);
        b = sp__onnx_out_div(o, sp__onnx_out_sub(o, b, bit_b), two);
    }
    if (!is_and) both = sp__onnx_out_sub(o, sp__onnx_out_add(o, x, y), is_or ? both : sp__onnx_out_add(o, both, both));
    o->out[0] = sp__onnx_out_cast(o, both, d);
}

/* Shifts by less than the width; a negative or larger one gives what is left: nothing, or the sign. */
static void write_shift(sp_onnx_out *o)
{
    sp_dtype d = sp__onnx_out_meta(o, 0)->dtype;
    bool left = o->node->op == &sp_op_bitwise_left_shift;
    int bits = (int)sp_dtype_bytes(d) * 8;
    sp_onnx_id x = sp__onnx_out_cast(o, o->in[0], SP_DTYPE_I64), y = sp__onnx_out_cast(o, o->in[1], SP_DTYPE_I64),
               width = sp__onnx_out_whole(o, SP_DTYPE_I64, bits - 1);
    sp_onnx_id zero = sp__onnx_out_whole(o, SP_DTYPE_I64, 0);
    sp_onnx_id outside =
        SP_ONNX_OUT(o, "Or", NULL, SP_ONNX_OUT(o, "Less", NULL, y, zero), SP_ONNX_OUT(o, "Greater", NULL, y, width));
    sp_onnx_id by = sp__onnx_out_where(o, outside, left ? zero : width, y);
    /* 2^by by squaring would be long; a table is short. */
    sp_tensor *t;
    int64_t n = 64;
    if (!sp__onnx_out_ok(o)) return;
    sp_status status = sp_tensor_create(SP_DTYPE_I64, 1, &n, &t);
    if (status != SP_OK) {
        sp__onnx_out_fail(o, status);
        return;
    }
    for (int k = 0; k < 64; k++) ((int64_t *)sp_tensor_data(t))[k] = (int64_t)((uint64_t)1 << k);
    sp_onnx_id power = SP_ONNX_OUT(o, "Gather", "axis=0", sp__onnx_out_take_tensor(o, t, NULL), by);
    if (left) o->out[0] = sp__onnx_out_cast(o, sp__onnx_out_where(o, outside, zero, sp__onnx_out_mul(o, x, power)), d);
    else {
        sp_onnx_id shifted = sp__onnx_out_div(o, sp__onnx_out_sub(o, x, SP_ONNX_OUT(o, "Mod", NULL, x, power)), power);
        sp_onnx_id nothing = sp_dtype_kind(d) == 'u' ? outside : SP_ONNX_OUT(o, "Less", NULL, y, zero);
        o->out[0] = sp__onnx_out_cast(o, sp__onnx_out_where(o, nothing, zero, shifted), d);
    }
}

/* Euclid's algorithm, as many turns as the numbers can need. */
static void write_gcd(sp_onnx_out *o)
{
    bool lcm = o->node->op == &sp_op_lcm;
    sp_dtype d = sp__onnx_out_meta(o, 0)->dtype;
    sp_onnx_id x = SP_ONNX_OUT(o, "Abs", NULL, sp__onnx_out_cast(o, o->in[0], SP_DTYPE_I64)),
               y = SP_ONNX_OUT(o, "Abs", NULL, sp__onnx_out_cast(o, o->in[1], SP_DTYPE_I64));
    sp_onnx_id zero = sp__onnx_out_whole(o, SP_DTYPE_I64, 0), one = sp__onnx_out_whole(o, SP_DTYPE_I64, 1), start[2],
               end[2], out[3];
    start[0] = sp__onnx_out_add(o, x, sp__onnx_out_mul(o, y, zero)); /* broadcast */
    start[1] = sp__onnx_out_add(o, y, sp__onnx_out_mul(o, x, zero));
    sp_onnx_out_graph *body = sp__onnx_out_begin(o, "euclid", 4);
    if (!body || !sp__onnx_out_ok(o)) return;
    body->in[0] = sp__onnx_out_value(o, NULL, SP_DTYPE_I64);
    body->in[1] = sp__onnx_out_value(o, NULL, SP_DTYPE_BOOL);
    sp_onnx_id a = body->in[2] = sp__onnx_out_value(o, NULL, SP_DTYPE_I64),
               b = body->in[3] = sp__onnx_out_value(o, NULL, SP_DTYPE_I64);
    sp_onnx_id done = SP_ONNX_OUT(o, "Equal", NULL, b, zero);
    out[0] = body->in[1];
    out[1] = sp__onnx_out_where(o, done, a, b);
    out[2] = sp__onnx_out_where(o, done, b, SP_ONNX_OUT(o, "Mod", NULL, a, sp__onnx_out_where(o, done, one, b)));
    sp__onnx_out_end(o, body, 3, out);
    sp__onnx_out_loop(o, sp__onnx_out_whole(o, SP_DTYPE_I64, 96), sp__onnx_out_whole(o, SP_DTYPE_BOOL, 1), 2, start,
                      body, end);
    sp_onnx_id g = end[0];
    if (lcm) {
        sp_onnx_id none = SP_ONNX_OUT(o, "Equal", NULL, g, zero);
        g = sp__onnx_out_mul(o, sp__onnx_out_div(o, x, sp__onnx_out_where(o, none, one, g)), y);
    }
    o->out[0] = sp__onnx_out_cast(o, g, d);
}

static void write_relu(sp_onnx_out *o) { sp__onnx_out_write_text(o, is_int(o) ? "Max(x, 0)" : "Relu(x)"); }

/* --- the table --------------------------------------------------------------------------------------------------- */

#define T0 "0.7978845608028654 * (x + 0.044715 * x * x * x)"

const sp_onnx_out_rule sp__onnx_out_math[] = {
    SP_ONNX_OUT_TEXT("maximum", 0, "Max(x, y)"),
    SP_ONNX_OUT_TEXT("minimum", 0, "Min(x, y)"),
    SP_ONNX_OUT_TEXT("div", 0, "x / y"),
    SP_ONNX_OUT_TEXT("not_equal", 0, "Not(x == y)"),
    SP_ONNX_OUT_TEXT("rsqrt", 0, "Reciprocal(Sqrt(x))"),
    SP_ONNX_OUT_TEXT("square", 0, "x * x"),
    SP_ONNX_OUT_TEXT("log1p", 0, "u = 1 + x; Where(u == 1, x, Log(u) * x / (u - 1))"),
    SP_ONNX_OUT_TEXT("expm1", 0, "h = Tanh(x / 2); Where(Abs(x) < 1, 2 * h / (1 - h), Exp(x) - 1)"),
    SP_ONNX_OUT_CODE("floor", write_round),
    SP_ONNX_OUT_CODE("ceil", write_round),
    SP_ONNX_OUT_CODE("round", write_round),
    SP_ONNX_OUT_CODE("trunc", write_round),
    SP_ONNX_OUT_CODE("frac", write_frac),
    SP_ONNX_OUT_TEXT("isfinite", 0, "Not(Or(IsInf(x), IsNaN(x)))"),
    SP_ONNX_OUT_CODE("cast", write_cast),
    SP_ONNX_OUT_CODE("identity", write_identity),
    SP_ONNX_OUT_CODE("copy", write_identity),
    SP_ONNX_OUT_CODE("after", write_identity),
    SP_ONNX_OUT_CODE("stop_gradient", write_identity),
    SP_ONNX_OUT_CODE("conj", write_identity),
    SP_ONNX_OUT_TEXT("select", 0, "Where(condition, x, y)"),
    SP_ONNX_OUT_TEXT("select_same", 0, "Where(condition, x, y)"),
    SP_ONNX_OUT_CODE("relu", write_relu),
    SP_ONNX_OUT_TEXT("relu_grad", 0, "Where(y > 0, dout, 0)"),
    SP_ONNX_OUT_TEXT("exp2", 0, "Exp(x * 0.69314718055994531)"),
    SP_ONNX_OUT_TEXT("log2", 0, "Log(x) / 0.69314718055994531"),
    SP_ONNX_OUT_TEXT("log10", 0, "Log(x) / 2.3025850929940457"),
    SP_ONNX_OUT_TEXT("sinc", 0, "t = x * 3.14159265358979324; s = Where(t == 0, 1, t); Where(t == 0, 1, Sin(s) / s)"),
    SP_ONNX_OUT_TEXT("erfc", 0, "1 - Erf(x)"),
    SP_ONNX_OUT_TEXT("ndtr", 0, "0.5 + 0.5 * Erf(x * 0.70710678118654752)"),
    SP_ONNX_OUT_TEXT(
        "erfinv", 0,
        "l = Log(1 - x * x); t = 4.330746750799873 + l / 2; y = Sign(x) * Sqrt(Sqrt(t * t - l / 0.147) - t);"
        "a = y - (Erf(y) - x) * 0.88622692545275801 * Exp(y * y); b = a - (Erf(a) - x) * 0.88622692545275801 * Exp(a * a);"
        "c = b - (Erf(b) - x) * 0.88622692545275801 * Exp(b * b); Where(x == 0, 0, c)"),
    SP_ONNX_OUT_CODE("lgamma", write_gamma),
    SP_ONNX_OUT_CODE("digamma", write_gamma),
    SP_ONNX_OUT_CODE("polygamma", write_polygamma),
    SP_ONNX_OUT_CODE("zeta", write_zeta),
    SP_ONNX_OUT_CODE("signbit", write_signbit),
    SP_ONNX_OUT_TEXT("isposinf", 0, "IsInf(x, detect_negative=0)"),
    SP_ONNX_OUT_TEXT("isneginf", 0, "IsInf(x, detect_positive=0)"),
    SP_ONNX_OUT_CODE("floor_div", write_floor_div),
    SP_ONNX_OUT_CODE("trunc_div", write_trunc_div),
    SP_ONNX_OUT_CODE("floor_mod", write_mod),
    SP_ONNX_OUT_CODE("trunc_mod", write_mod),
    SP_ONNX_OUT_TEXT(
        "atan2", 0,
        "p = 3.14159265358979324; q = Atan(x / y); Where(y > 0, q, Where(y < 0, Where(x >= 0, q + p, q - p), Sign(x) * (p / 2)))"),
    SP_ONNX_OUT_TEXT(
        "hypot", 0,
        "a = Abs(x); b = Abs(y); m = Max(a, b); n = Min(a, b); s = Where(m == 0, 1, m); m * Sqrt(1 + (n / s) * (n / s))"),
    SP_ONNX_OUT_TEXT("copysign", 0, "Where(Or(y < 0, 1 / y < 0), -Abs(x), Abs(x))"),
    SP_ONNX_OUT_CODE("nextafter", write_nextafter),
    SP_ONNX_OUT_TEXT("logaddexp", 0, "Max(x, y) + Log(1 + Exp(-Abs(x - y)))"),
    SP_ONNX_OUT_TEXT("logaddexp2", 0,
                     "Max(x, y) + Log(1 + Exp(-0.69314718055994531 * Abs(x - y))) / 0.69314718055994531"),
    SP_ONNX_OUT_TEXT("fmax", 0, "Where(IsNaN(x), y, Where(IsNaN(y), x, Max(x, y)))"),
    SP_ONNX_OUT_TEXT("fmin", 0, "Where(IsNaN(x), y, Where(IsNaN(y), x, Min(x, y)))"),
    SP_ONNX_OUT_CODE("gcd", write_gcd),
    SP_ONNX_OUT_CODE("lcm", write_gcd),
    SP_ONNX_OUT_CODE("bitwise_and", write_bits),
    SP_ONNX_OUT_CODE("bitwise_or", write_bits),
    SP_ONNX_OUT_CODE("bitwise_xor", write_bits),
    SP_ONNX_OUT_CODE("bitwise_not", write_bits),
    SP_ONNX_OUT_CODE("bitwise_left_shift", write_shift),
    SP_ONNX_OUT_CODE("bitwise_right_shift", write_shift),
    /* activations and their slopes */
    SP_ONNX_OUT_TEXT("gelu", 20, "Gelu(x)"),
    SP_ONNX_OUT_TEXT("gelu", 0, "x * 0.5 * (1 + Erf(x * 0.70710678118654752))"),
    SP_ONNX_OUT_TEXT("gelu_grad", 0,
                     "dout * (0.5 * (1 + Erf(x * 0.70710678118654752)) + x * 0.39894228040143268 * Exp(-0.5 * x * x))"),
    SP_ONNX_OUT_TEXT("gelu_tanh", 20, "Gelu(x, approximate='tanh')"),
    SP_ONNX_OUT_TEXT("gelu_tanh", 0, "0.5 * x * (1 + Tanh(" T0 "))"),
    SP_ONNX_OUT_TEXT("gelu_tanh_grad", 0,
                     "t = Tanh(" T0
                     "); dout * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 0.134145 * x * x))"),
    SP_ONNX_OUT_TEXT("silu", 0, "x * Sigmoid(x)"),
    SP_ONNX_OUT_TEXT("silu_grad", 0, "s = Sigmoid(x); dout * s * (1 + x * (1 - s))"),
    SP_ONNX_OUT_TEXT("mish", 18, "Mish(x)"),
    SP_ONNX_OUT_TEXT("mish", 0, "x * Tanh(Softplus(x))"),
    SP_ONNX_OUT_TEXT("mish_grad", 0, "t = Tanh(Softplus(x)); dout * (t + x * (1 - t * t) * Sigmoid(x))"),
    SP_ONNX_OUT_TEXT("softplus", 0, "u = x * beta; Where(u > threshold, x, Softplus(u) / beta)"),
    SP_ONNX_OUT_TEXT("softplus_grad", 0, "u = x * beta; dout * Where(u > threshold, 1, Sigmoid(u))"),
    SP_ONNX_OUT_TEXT("logsigmoid", 0, "-Softplus(-x)"),
    SP_ONNX_OUT_TEXT("logsigmoid_grad", 0, "dout * Sigmoid(-x)"),
    SP_ONNX_OUT_TEXT("softsign_grad", 0, "d = 1 + Abs(x); dout / (d * d)"),
    SP_ONNX_OUT_TEXT("tanhshrink", 0, "x - Tanh(x)"),
    SP_ONNX_OUT_TEXT("tanhshrink_grad", 0, "t = Tanh(x); dout * t * t"),
    SP_ONNX_OUT_TEXT("elu", 0, "Elu(x, alpha=alpha)"),
    SP_ONNX_OUT_TEXT("elu_grad", 0, "dout * Where(x > 0, 1, alpha * Exp(Min(x, 0)))"),
    SP_ONNX_OUT_TEXT("celu", 0, "Celu(x, alpha=alpha)"),
    SP_ONNX_OUT_TEXT("celu_grad", 0, "dout * Where(x > 0, 1, Exp(Min(x, 0) / alpha))"),
    SP_ONNX_OUT_TEXT("selu", 0, "Selu(x)"),
    SP_ONNX_OUT_TEXT("selu_grad", 0,
                     "dout * 1.0507009873554805 * Where(x > 0, 1, 1.6732632423543772 * Exp(Min(x, 0)))"),
    SP_ONNX_OUT_TEXT("leaky_relu", 0, "LeakyRelu(x, alpha=alpha)"),
    SP_ONNX_OUT_TEXT("leaky_relu_grad", 0, "dout * Where(x > 0, 1, alpha + 0 * x)"),
    SP_ONNX_OUT_TEXT("relu6", 0, "Min(Max(x, 0), 6)"),
    SP_ONNX_OUT_TEXT("relu6_grad", 0, "Where(And(x > 0, x < 6), dout, 0)"),
    SP_ONNX_OUT_TEXT("hardswish", 14, "HardSwish(x)"),
    SP_ONNX_OUT_TEXT("hardswish", 0, "x * Min(Max(x / 6 + 0.5, 0), 1)"),
    SP_ONNX_OUT_TEXT("hardswish_grad", 0, "dout * Where(x <= -3, 0, Where(x >= 3, 1, (2 * x + 3) / 6))"),
    SP_ONNX_OUT_TEXT("hardsigmoid", 0, "HardSigmoid(x, alpha=0.16666666666, beta=0.5)"),
    SP_ONNX_OUT_TEXT("hardsigmoid_grad", 0, "Where(And(x > -3, x < 3), dout / 6, 0)"),
    SP_ONNX_OUT_TEXT("hardtanh", 0, "Min(Max(x, min_val), max_val)"),
    SP_ONNX_OUT_TEXT("hardtanh_grad", 0, "Where(And(x > min_val, x < max_val), dout, 0)"),
    SP_ONNX_OUT_TEXT("hardshrink", 0, "Where(And(x >= -lambd, x <= lambd), 0, x)"),
    SP_ONNX_OUT_TEXT("hardshrink_grad", 0, "Where(And(x >= -lambd, x <= lambd), 0, dout)"),
    SP_ONNX_OUT_TEXT("softshrink", 0, "Where(x > lambd, x - lambd, Where(x < -lambd, x + lambd, 0 * x))"),
    SP_ONNX_OUT_TEXT("softshrink_grad", 0, "Where(And(x >= -lambd, x <= lambd), 0, dout)"),
    SP_ONNX_OUT_TEXT("threshold", 0, "Where(x > threshold, x, value)"),
    SP_ONNX_OUT_TEXT("threshold_grad", 0, "Where(x > threshold, dout, 0)"),
    SP_ONNX_OUT_CODE("assign", write_second),
    SP_ONNX_OUT_TEXT("assign_add", 0, "variable + cast(value, variable)"),
    SP_ONNX_OUT_TEXT("assign_sub", 0, "variable - cast(value, variable)"),
    SP_ONNX_OUT_TEXT("moving_average_update", 0, "average + (cast(value, average) * factor - average) * momentum"),
    {.op = NULL},
};

/* --- steps of optimizers ----------------------------------------------------------------------------------------- */

#define MOMENTS "m1 = m + (g - m) * (1 - beta1); v1 = v + (g * g - v) * (1 - beta2);"

static void write_sgd(sp_onnx_out *o)
{
    bool nesterov = sp__onnx_out_int(o, "nesterov");
    sp__onnx_out_write_text(
        o, nesterov ? "g = cast(gradient, parameters) + weight_decay * parameters; f = stat > 0; on = momentum > 0;"
                      "a1 = Where(on, Where(f, g, accum * momentum + (1 - dampening) * g), accum);"
                      "parameters - learning_rate * Where(on, g + a1 * momentum, g) | a1 | Where(And(on, f), 0, stat)"
                    : "g = cast(gradient, parameters) + weight_decay * parameters; f = stat > 0; on = momentum > 0;"
                      "a1 = Where(on, Where(f, g, accum * momentum + (1 - dampening) * g), accum);"
                      "parameters - learning_rate * Where(on, a1, g) | a1 | Where(And(on, f), 0, stat)");
}

static void write_momentum(sp_onnx_out *o)
{
    sp__onnx_out_write_text(
        o,
        sp__onnx_out_int(o, "use_nesterov")
            ? "g = cast(gradient, variable) * gradient_scale; a = accumulation * momentum + g;"
              "variable - (g * learning_rate + a * momentum * learning_rate) | a"
            : "g = cast(gradient, variable) * gradient_scale; a = accumulation * momentum + g; variable - a * learning_rate | a");
}

static void write_keras_momentum(sp_onnx_out *o)
{
    sp__onnx_out_write_text(o, sp__onnx_out_int(o, "use_nesterov")
                                   ? "g = cast(grad, var) * lr; a = accum * momentum - g; var + a * momentum - g | a"
                                   : "a = accum * momentum - cast(grad, var) * lr; var + a | a");
}

static void write_adam(sp_onnx_out *o)
{
    sp__onnx_out_write_text(o,
                            sp__onnx_out_int(o, "use_nesterov")
                                ? "g = cast(gradient, var); r = lr * Sqrt(1 - beta2_power) / (1 - beta1_power);" MOMENTS
                                  "var - r * (m1 * beta1 + (1 - beta1) * g) / (Sqrt(v1) + epsilon) | m1 | v1"
                                : "g = cast(gradient, var); r = lr * Sqrt(1 - beta2_power) / (1 - beta1_power);" MOMENTS
                                  "var - r * m1 / (Sqrt(v1) + epsilon) | m1 | v1");
}

#define SHRINK(p, bound)                                                                                               \
    "Where(" p " > " bound ", " p " - " bound ", Where(" p " < -" bound ", " p " + " bound ", 0 * " p "))"

const sp_onnx_out_rule sp__onnx_out_train[] = {
    SP_ONNX_OUT_TEXT("gradient_descent_update", 0, "var - alpha * cast(delta, var)"),
    SP_ONNX_OUT_CODE("sgd_update", write_sgd),
    SP_ONNX_OUT_CODE("momentum_update", write_momentum),
    SP_ONNX_OUT_CODE("keras_momentum_update", write_keras_momentum),
    SP_ONNX_OUT_TEXT("weight_scale_momentum_update", 0,
                     "a = accumulation * momentum + (cast(gradient, variable) * loss_scale + variable * weight_decay);"
                     "variable - a * learning_rate | a"),
    SP_ONNX_OUT_CODE("adam_update", write_adam),
    SP_ONNX_OUT_TEXT("adam_weight_decay_update", 0,
                     "g = cast(gradient, var);" MOMENTS
                     "var - lr * (m1 / (Sqrt(v1) + epsilon) + decay * var) | m1 | v1"),
    SP_ONNX_OUT_TEXT("cast_adam_weight_decay_update", 0,
                     "g = cast(gradient, var) / cast(global_norm, var);" MOMENTS
                     "var - lr * (m1 / (Sqrt(v1) + epsilon) + decay * var) | m1 | v1"),
    SP_ONNX_OUT_TEXT("amsgrad_update", 0,
                     "g = cast(grad, var); r = lr * Sqrt(1 - beta2_power) / (1 - beta1_power);" MOMENTS
                     "h = Max(vhat, v1);"
                     "var - r * m1 / (Sqrt(h) + epsilon) | m1 | v1 | h"),
    SP_ONNX_OUT_TEXT("adamax_update", 0,
                     "g = cast(grad, var); m1 = m + (g - m) * (1 - beta1); v1 = Max(v * beta2, Abs(g));"
                     "var - lr / (1 - beta1_power) * m1 / (v1 + epsilon) | m1 | v1"),
    SP_ONNX_OUT_TEXT("rmsprop_update", 0,
                     "g = cast(grad, var); s = mean_square + (g * g - mean_square) * (1 - decay);"
                     "a = moment * momentum + learning_rate * g / Sqrt(s + epsilon); var - a | s | a"),
    SP_ONNX_OUT_TEXT("centered_rmsprop_update", 0,
                     "g = cast(grad, var); c = mean_gradient + (g - mean_gradient) * (1 - decay);"
                     "s = mean_square + (g * g - mean_square) * (1 - decay);"
                     "a = moment * momentum + learning_rate * g / Sqrt(s - c * c + epsilon); var - a | c | s | a"),
    SP_ONNX_OUT_TEXT("adagrad_update", 0,
                     "g = cast(grad, var); a = accum + update_slots * g * g; var - lr * g / (Sqrt(a) + epsilon) | a"),
    SP_ONNX_OUT_TEXT(
        "adadelta_update", 0,
        "g = cast(grad, var); a = rho * accum + (1 - rho) * g * g; u = Sqrt(accum_update + epsilon) / Sqrt(a + epsilon) * g;"
        "var - lr * u | a | rho * accum_update + (1 - rho) * u * u"),
    SP_ONNX_OUT_TEXT("proximal_gradient_descent_update", 0,
                     "to = var - alpha * cast(delta, var); b = l1 * alpha; " SHRINK("to", "b") " / (1 + l2 * alpha)"),
    SP_ONNX_OUT_TEXT("proximal_adagrad_update", 0,
                     "g = cast(grad, var); a = accum + g * g; r = lr / Sqrt(a); to = var - r * g; b = l1 * r;" SHRINK(
                         "to", "b") " / (1 + l2 * r) | a"),
    SP_ONNX_OUT_TEXT(
        "adagrad_da_update", 0,
        "g = cast(grad, var); gs = gradient_sum + g; ss = square_sum + g * g; n = cast(global_step, var); b = l1 * n;"
        "-lr * " SHRINK("gs", "b") " / (l2 * n * lr + Sqrt(ss)) | gs | ss"),
    SP_ONNX_OUT_TEXT(
        "ftrl_update", 0,
        "g = cast(grad, var); sum = accum + g * g; to = Pow(sum, -lr_power); l = linear + g - (to - Pow(accum, -lr_power)) / lr * var;"
        "Where(Abs(l) > l1, (l1 - l) / (to / lr + 2 * l2), 0) | sum | l"),
    SP_ONNX_OUT_TEXT(
        "add_sign_update", 0,
        "g = cast(grad, var); a = m + (g - m) * (1 - beta); var - lr * (alpha + sign_decay * Sign(g) * Sign(a)) * g | a"),
    SP_ONNX_OUT_TEXT(
        "power_sign_update", 0,
        "g = cast(grad, var); a = m + (g - m) * (1 - beta); var - lr * Exp(logbase * sign_decay * Sign(g) * Sign(a)) * g | a"),
    SP_ONNX_OUT_TEXT(
        "rprop_update", 0,
        "g = cast(grad, var); a = g * prev; z = step_size * Where(a > 0, etaplus, Where(a < 0, etaminus, 1));"
        "s = Min(Max(z, step_min), step_max); p = Where(a < 0, 0, g); var - Sign(p) * s | p | s"),
    SP_ONNX_OUT_TEXT("asgd_update", 0,
                     "w = var * (1 - lambd * eta) - eta * cast(grad, var); w | Where(mu == 1, w, ax + (w - ax) * mu)"),
    {.op = NULL},
};
