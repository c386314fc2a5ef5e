/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_math.c - how element-wise operators and activations are written to ONNX. */
#include <string.h>

#include "formats/onnx/onnx_out.h"

static bool is_int(ox_out *o) { return sp_dtype_kind(sp__ox_meta(o, 0)->dtype) != 'f'; }

/* Rounding leaves integers alone. */
static void write_round(ox_out *o)
{
    const char *name = o->node->op->name;
    if (is_int(o)) o->out[0] = o->in[0];
    else
        sp__ox_write_text(o, !strcmp(name, "floor")   ? "Floor(x)"
                             : !strcmp(name, "ceil")  ? "Ceil(x)"
                             : !strcmp(name, "round") ? "Round(x)"
                                                      : "Sign(x) * Floor(Abs(x))");
}

/* -0 counts; there is none among integers. */
static void write_signbit(ox_out *o) { sp__ox_write_text(o, is_int(o) ? "x < 0" : "Or(x < 0, 1 / x < 0)"); }

static void write_frac(ox_out *o) { sp__ox_write_text(o, is_int(o) ? "x - x" : "x - Sign(x) * Floor(Abs(x))"); }

static void write_identity(ox_out *o) { o->out[0] = o->in[0]; }
static void write_second(ox_out *o) { o->out[0] = o->in[1]; }

static void write_cast(ox_out *o)
{
    sp_dtype to = sp__ox_result(o, 0)->dtype;
    /* ONNX Runtime takes a truth value from a float as it is; NaN is true here and there. */
    o->out[0] = sp__ox_cast(o, o->in[0], to);
}

static void write_floor_div(ox_out *o)
{
    if (sp__ox_meta(o, 0)->dtype == SP_DTYPE_BOOL)
        sp__ox_write_text(o, "And(x, Or(y, Not(y)))"); /* x, of the common shape */
    else if (!is_int(o)) sp__ox_write_text(o, "Floor(x / y)");
    else sp__ox_write_text(o, "s = Where(y == 0, 1, y); (x - Mod(x, s)) / s"); /* Mod has the sign of the divisor */
}

static void write_trunc_div(ox_out *o)
{
    if (sp__ox_meta(o, 0)->dtype == SP_DTYPE_BOOL) sp__ox_write_text(o, "And(x, Or(y, Not(y)))");
    else if (!is_int(o)) sp__ox_write_text(o, "q = x / y; Sign(q) * Floor(Abs(q))");
    else sp__ox_write_text(o, "x / Where(y == 0, 1, y)");
}

/* fmod of floats has the sign of x; of integers Mod has that of y. */
static void write_mod(ox_out *o)
{
    bool truncates = !strcmp(o->node->op->name, "trunc_mod");
    if (sp__ox_meta(o, 0)->dtype == SP_DTYPE_BOOL) sp__ox_write_text(o, "And(And(x, Not(x)), y)"); /* nothing is left */
    else if (is_int(o))
        sp__ox_write_text(o, truncates ? "s = Where(y == 0, 1, y); Mod(x, s, fmod=1)" : "Mod(x, Where(y == 0, 1, y))");
    else
        sp__ox_write_text(o, truncates ? "Mod(x, y, fmod=1)"
                                       : "r = Mod(x, y, fmod=1); Where(And(Not(r == 0), Xor(r < 0, y < 0)), r + y, r)");
}

/* Arguments are lifted above 9 by the recurrence, then the asymptotic series. */
static void write_gamma(ox_out *o)
{
    bool log_gamma = !strcmp(o->node->op->name, "lgamma");
    sp_dtype d = sp__ox_meta(o, 0)->dtype;
    ox x = o->in[0], lifted = x, sum = 0, product = 0;
    if (is_int(o)) x = lifted = sp__ox_cast(o, x, SP_DTYPE_F32);
    /* below a half by reflection, whose argument is 1 - x */
    ox low = SP_OX(o, "Less", NULL, x, sp__ox_number(o, 0.5));
    ox z = lifted = sp__ox_where(o, low, sp__ox_sub(o, sp__ox_number(o, 1), x), x);
    for (int k = 0; k < 9; k++) {
        ox term = k ? sp__ox_add(o, z, sp__ox_number(o, k)) : z;
        if (log_gamma) product = product ? sp__ox_mul(o, product, term) : term;
        else {
            ox part = SP_OX(o, "Reciprocal", NULL, term);
            sum = sum ? sp__ox_add(o, sum, part) : part;
        }
    }
    lifted = sp__ox_add(o, z, sp__ox_number(o, 9));
    ox inverse = SP_OX(o, "Reciprocal", NULL, lifted), square = sp__ox_mul(o, inverse, inverse),
       logarithm = SP_OX(o, "Log", NULL, lifted), value;
    (void)d;
    if (log_gamma) {
        ox series = sp__ox_mul(o, inverse,
                               sp__ox_sub(o, sp__ox_number(o, 1.0 / 12),
                                          sp__ox_mul(o, square,
                                                     sp__ox_sub(o, sp__ox_number(o, 1.0 / 360),
                                                                sp__ox_mul(o, square, sp__ox_number(o, 1.0 / 1260))))));
        value = sp__ox_sub(o, sp__ox_mul(o, sp__ox_sub(o, lifted, sp__ox_number(o, 0.5)), logarithm),
                           sp__ox_sub(o, lifted, sp__ox_number(o, 0.91893853320467274)));
        value = sp__ox_sub(o, sp__ox_add(o, value, series), SP_OX(o, "Log", NULL, product));
    } else {
        ox series = sp__ox_mul(o, square,
                               sp__ox_sub(o, sp__ox_number(o, 1.0 / 12),
                                          sp__ox_mul(o, square,
                                                     sp__ox_sub(o, sp__ox_number(o, 1.0 / 120),
                                                                sp__ox_mul(o, square, sp__ox_number(o, 1.0 / 252))))));
        value = sp__ox_sub(o, sp__ox_sub(o, logarithm, sp__ox_mul(o, inverse, sp__ox_number(o, 0.5))),
                           sp__ox_add(o, series, sum));
    }
    ox turned = sp__ox_mul(o, x, sp__ox_number(o, 3.14159265358979324)), mirrored;
    if (log_gamma)
        mirrored = sp__ox_sub(o,
                              sp__ox_sub(o, sp__ox_number(o, 1.14472988584940017),
                                         SP_OX(o, "Log", NULL, SP_OX(o, "Abs", NULL, SP_OX(o, "Sin", NULL, turned)))),
                              value);
    else
        mirrored =
            sp__ox_sub(o, value, sp__ox_div(o, sp__ox_number(o, 3.14159265358979324), SP_OX(o, "Tan", NULL, turned)));
    o->out[0] = sp__ox_where(o, low, mirrored, value);
}

/* Sum over k of 1 / (k + q)^s: ten terms, then Euler and Maclaurin. */
static ox hurwitz(ox_out *o, ox s, ox q)
{
    static const double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30};
    ox minus = SP_OX(o, "Neg", NULL, s), sum = 0;
    for (int k = 0; k < 10; k++) {
        ox term = SP_OX(o, "Pow", NULL, k ? sp__ox_add(o, q, sp__ox_number(o, k)) : q, minus);
        sum = sum ? sp__ox_add(o, sum, term) : term;
    }
    ox x = sp__ox_add(o, q, sp__ox_number(o, 10)), one = sp__ox_number(o, 1);
    ox power = SP_OX(o, "Pow", NULL, x, minus);
    sum = sp__ox_add(o, sum, sp__ox_div(o, sp__ox_mul(o, power, x), sp__ox_sub(o, s, one)));
    sum = sp__ox_add(o, sum, sp__ox_mul(o, power, sp__ox_number(o, 0.5)));
    ox rising = s, p = sp__ox_div(o, power, x), xx = sp__ox_mul(o, x, x);
    double factorial = 2;
    for (int k = 0; k < 4; k++) {
        sum = sp__ox_add(o, sum, sp__ox_mul(o, sp__ox_mul(o, rising, p), sp__ox_number(o, bernoulli[k] / factorial)));
        rising = sp__ox_mul(o, rising,
                            sp__ox_mul(o, sp__ox_add(o, s, sp__ox_number(o, 2 * k + 1)),
                                       sp__ox_add(o, s, sp__ox_number(o, 2 * k + 2))));
        p = sp__ox_div(o, p, xx);
        factorial *= (2 * k + 3) * (2 * k + 4);
    }
    return sum;
}

static void write_zeta(ox_out *o) { o->out[0] = hurwitz(o, o->in[0], o->in[1]); }

static void write_polygamma(ox_out *o)
{
    int64_t n = sp__ox_int(o, "n");
    double factorial = n % 2 ? 1 : -1;
    if (n == 0) {
        write_gamma(o);
        return;
    }
    for (int64_t k = 2; k <= n; k++) factorial *= (double)k;
    ox x = is_int(o) ? sp__ox_cast(o, o->in[0], SP_DTYPE_F32) : o->in[0];
    ox s = sp__ox_scalar(o, sp__ox_dtype(o, x), (double)n + 1);
    o->out[0] = sp__ox_mul(o, hurwitz(o, s, x), sp__ox_number(o, factorial));
}

/* The next float: bits are not to be had in ONNX, so by the size of the last place, 2^(floor(log2 |x|) - digits). */
static void write_nextafter(ox_out *o)
{
    if (sp__ox_meta(o, 0)->dtype != SP_DTYPE_F32) {
        sp__ox_fail(o, sp__fail(SP_DECLINED, "nextafter is written to ONNX for float32 only"));
        return;
    }
    sp__ox_write_text(
        o, "a = Abs(cast(x, float64)); up = Xor(x < y, x < 0);"
           "e = Floor(Log(Max(a, 0.0000000000000000000000000000000000000117549435082228751)) / 0.693147180559945309);"
           "p0 = Pow(2 + 0 * a, e); p1 = Where(p0 > a, p0 / 2, p0); p = Where(p1 * 2 <= a, p1 * 2, p1);"
           "t = Where(And(Not(up), a == p), p / 2, p) / 8388608;"
           "t2 = Max(t, 0.00000000000000000000000000000000000000000000140129846432481707);"
           "z = Where(a == 0, t2 * cast(Sign(y), float64), cast(Sign(x), float64) * Where(up, a + t2, a - t2));"
           "Where(x == y, y, cast(z, float32))");
}

/* --- bits -------------------------------------------------------------------------------------------------------- */

static void write_bits(ox_out *o)
{
    const char *name = o->node->op->name;
    char which = name[8]; /* bitwise_[a]nd, [o]r, [x]or, [n]ot */
    sp_dtype d = sp__ox_meta(o, 0)->dtype;
    if (d == SP_DTYPE_BOOL) {
        sp__ox_write_text(o, which == 'a'   ? "And(x, y)"
                             : which == 'o' ? "Or(x, y)"
                             : which == 'x' ? "Xor(x, y)"
                                            : "Not(x)");
        return;
    }
    if (which == 'n') {
        sp__ox_write_text(o, sp_dtype_kind(d) == 'u' ? "cast(-1 - cast(x, int64), x)" : "-1 - x");
        return;
    }
    if (o->opset >= 18) {
        sp__ox_write_text(o, which == 'a' ? "BitwiseAnd(x, y)" : which == 'o' ? "BitwiseOr(x, y)" : "BitwiseXor(x, y)");
        return;
    }
    /* x & y bit by bit: 2^k where both have it. x | y = x + y - (x & y), x ^ y = x + y - 2 (x & y). */
    int bits = (int)sp_dtype_bytes(d) * 8;
    ox x = sp__ox_cast(o, o->in[0], SP_DTYPE_I64), y = sp__ox_cast(o, o->in[1], SP_DTYPE_I64), both = 0,
       two = sp__ox_whole(o, SP_DTYPE_I64, 2);
    ox a = x, b = y;
    for (int k = 0; k < bits; k++) {
        ox bit_a = SP_OX(o, "Mod", NULL, a, two),
           bit_b = SP_OX(o, "Mod", NULL, b, two); /* 0 or 1, also of negative numbers */
        int64_t weight = k == 63                                    ? INT64_MIN
                         : k == bits - 1 && sp_dtype_kind(d) != 'u' ? -((int64_t)1 << k)
                                                                    : (int64_t)1 << k;
        ox part = sp__ox_mul(o, sp__ox_mul(o, bit_a, bit_b), sp__ox_whole(o, SP_DTYPE_I64, weight));
        both = both ? sp__ox_add(o, both, part) : part;
        a = sp__ox_div(o, sp__ox_sub(o, a, bit_a), two);
        b = sp__ox_div(o, sp__ox_sub(o, b, bit_b), two);
    }
    if (which != 'a') both = sp__ox_sub(o, sp__ox_add(o, x, y), which == 'o' ? both : sp__ox_add(o, both, both));
    o->out[0] = sp__ox_cast(o, both, d);
}

/* Shifts by less than the width; a negative or larger one gives what is left: nothing, or the sign. */
static void write_shift(ox_out *o)
{
    sp_dtype d = sp__ox_meta(o, 0)->dtype;
    bool left = !strcmp(o->node->op->name, "bitwise_left_shift");
    int bits = (int)sp_dtype_bytes(d) * 8;
    ox x = sp__ox_cast(o, o->in[0], SP_DTYPE_I64), y = sp__ox_cast(o, o->in[1], SP_DTYPE_I64),
       width = sp__ox_whole(o, SP_DTYPE_I64, bits - 1);
    ox zero = sp__ox_whole(o, SP_DTYPE_I64, 0);
    ox outside = SP_OX(o, "Or", NULL, SP_OX(o, "Less", NULL, y, zero), SP_OX(o, "Greater", NULL, y, width));
    ox by = sp__ox_where(o, outside, left ? zero : width, y);
    /* 2^by by squaring would be long; a table is short. */
    sp_tensor *t;
    int64_t n = 64;
    if (!sp__ox_ok(o)) return;
    sp_status status = sp_tensor_create(SP_DTYPE_I64, 1, &n, &t);
    if (status != SP_OK) {
        sp__ox_fail(o, status);
        return;
    }
    for (int k = 0; k < 64; k++) ((int64_t *)sp_tensor_data(t))[k] = (int64_t)((uint64_t)1 << k);
    ox power = SP_OX(o, "Gather", "axis=0", sp__ox_take_tensor(o, t, NULL), by);
    if (left) o->out[0] = sp__ox_cast(o, sp__ox_where(o, outside, zero, sp__ox_mul(o, x, power)), d);
    else {
        ox shifted = sp__ox_div(o, sp__ox_sub(o, x, SP_OX(o, "Mod", NULL, x, power)), power);
        ox nothing = sp_dtype_kind(d) == 'u' ? outside : SP_OX(o, "Less", NULL, y, zero);
        o->out[0] = sp__ox_cast(o, sp__ox_where(o, nothing, zero, shifted), d);
    }
}

/* Euclid's algorithm, as many turns as the numbers can need. */
static void write_gcd(ox_out *o)
{
    bool lcm = !strcmp(o->node->op->name, "lcm");
    sp_dtype d = sp__ox_meta(o, 0)->dtype;
    ox x = SP_OX(o, "Abs", NULL, sp__ox_cast(o, o->in[0], SP_DTYPE_I64)),
       y = SP_OX(o, "Abs", NULL, sp__ox_cast(o, o->in[1], SP_DTYPE_I64));
    ox zero = sp__ox_whole(o, SP_DTYPE_I64, 0), one = sp__ox_whole(o, SP_DTYPE_I64, 1), start[2], end[2], out[3];
    start[0] = sp__ox_add(o, x, sp__ox_mul(o, y, zero)); /* broadcast */
    start[1] = sp__ox_add(o, y, sp__ox_mul(o, x, zero));
    ox_graph *body = sp__ox_begin(o, "euclid", 4);
    if (!body || !sp__ox_ok(o)) return;
    body->in[0] = sp__ox_value(o, NULL, SP_DTYPE_I64);
    body->in[1] = sp__ox_value(o, NULL, SP_DTYPE_BOOL);
    ox a = body->in[2] = sp__ox_value(o, NULL, SP_DTYPE_I64), b = body->in[3] = sp__ox_value(o, NULL, SP_DTYPE_I64);
    ox done = SP_OX(o, "Equal", NULL, b, zero);
    out[0] = body->in[1];
    out[1] = sp__ox_where(o, done, a, b);
    out[2] = sp__ox_where(o, done, b, SP_OX(o, "Mod", NULL, a, sp__ox_where(o, done, one, b)));
    sp__ox_end(o, body, 3, out);
    sp__ox_loop(o, sp__ox_whole(o, SP_DTYPE_I64, 96), sp__ox_whole(o, SP_DTYPE_BOOL, 1), 2, start, body, end);
    ox g = end[0];
    if (lcm) {
        ox none = SP_OX(o, "Equal", NULL, g, zero);
        g = sp__ox_mul(o, sp__ox_div(o, x, sp__ox_where(o, none, one, g)), y);
    }
    o->out[0] = sp__ox_cast(o, g, d);
}

static void write_relu(ox_out *o) { sp__ox_write_text(o, is_int(o) ? "Max(x, 0)" : "Relu(x)"); }

/* --- the table --------------------------------------------------------------------------------------------------- */

#define T0 "0.7978845608028654 * (x + 0.044715 * x * x * x)"

const ox_rule sp__ox_math[] = {
    SP_OX_TEXT("maximum", 0, "Max(x, y)"),
    SP_OX_TEXT("minimum", 0, "Min(x, y)"),
    SP_OX_TEXT("div", 0, "x / y"),
    SP_OX_TEXT("not_equal", 0, "Not(x == y)"),
    SP_OX_TEXT("rsqrt", 0, "Reciprocal(Sqrt(x))"),
    SP_OX_TEXT("square", 0, "x * x"),
    SP_OX_TEXT("log1p", 0, "u = 1 + x; Where(u == 1, x, Log(u) * x / (u - 1))"),
    SP_OX_TEXT("expm1", 0, "h = Tanh(x / 2); Where(Abs(x) < 1, 2 * h / (1 - h), Exp(x) - 1)"),
    SP_OX_CODE("floor", write_round),
    SP_OX_CODE("ceil", write_round),
    SP_OX_CODE("round", write_round),
    SP_OX_CODE("trunc", write_round),
    SP_OX_CODE("frac", write_frac),
    SP_OX_TEXT("isfinite", 0, "Not(Or(IsInf(x), IsNaN(x)))"),
    SP_OX_CODE("cast", write_cast),
    SP_OX_CODE("identity", write_identity),
    SP_OX_CODE("copy", write_identity),
    SP_OX_CODE("after", write_identity),
    SP_OX_CODE("stop_gradient", write_identity),
    SP_OX_CODE("conj", write_identity),
    SP_OX_TEXT("select", 0, "Where(condition, x, y)"),
    SP_OX_TEXT("select_same", 0, "Where(condition, x, y)"),
    SP_OX_CODE("relu", write_relu),
    SP_OX_TEXT("relu_grad", 0, "Where(y > 0, dout, 0)"),
    SP_OX_TEXT("exp2", 0, "Exp(x * 0.69314718055994531)"),
    SP_OX_TEXT("log2", 0, "Log(x) / 0.69314718055994531"),
    SP_OX_TEXT("log10", 0, "Log(x) / 2.3025850929940457"),
    SP_OX_TEXT("sinc", 0, "t = x * 3.14159265358979324; s = Where(t == 0, 1, t); Where(t == 0, 1, Sin(s) / s)"),
    SP_OX_TEXT("erfc", 0, "1 - Erf(x)"),
    SP_OX_TEXT(
        "erfinv", 0,
        "l = Log(1 - x * x); t = 4.330746750799873 + l / 2; y = Sign(x) * Sqrt(Sqrt(t * t - l / 0.147) - t);"
        "a = y - (Erf(y) - x) * 0.88622692545275801 * Exp(y * y); b = a - (Erf(a) - x) * 0.88622692545275801 * Exp(a * a);"
        "c = b - (Erf(b) - x) * 0.88622692545275801 * Exp(b * b); Where(x == 0, 0, c)"),
    SP_OX_CODE("lgamma", write_gamma),
    SP_OX_CODE("digamma", write_gamma),
    SP_OX_CODE("polygamma", write_polygamma),
    SP_OX_CODE("zeta", write_zeta),
    SP_OX_CODE("signbit", write_signbit),
    SP_OX_TEXT("isposinf", 0, "IsInf(x, detect_negative=0)"),
    SP_OX_TEXT("isneginf", 0, "IsInf(x, detect_positive=0)"),
    SP_OX_CODE("floor_div", write_floor_div),
    SP_OX_CODE("trunc_div", write_trunc_div),
    SP_OX_CODE("floor_mod", write_mod),
    SP_OX_CODE("trunc_mod", write_mod),
    SP_OX_TEXT(
        "atan2", 0,
        "p = 3.14159265358979324; q = Atan(x / y); Where(y > 0, q, Where(y < 0, Where(x >= 0, q + p, q - p), Sign(x) * (p / 2)))"),
    SP_OX_TEXT(
        "hypot", 0,
        "a = Abs(x); b = Abs(y); m = Max(a, b); n = Min(a, b); s = Where(m == 0, 1, m); m * Sqrt(1 + (n / s) * (n / s))"),
    SP_OX_TEXT("copysign", 0, "Where(Or(y < 0, 1 / y < 0), -Abs(x), Abs(x))"),
    SP_OX_CODE("nextafter", write_nextafter),
    SP_OX_TEXT("logaddexp", 0, "Max(x, y) + Log(1 + Exp(-Abs(x - y)))"),
    SP_OX_TEXT("logaddexp2", 0, "Max(x, y) + Log(1 + Exp(-0.69314718055994531 * Abs(x - y))) / 0.69314718055994531"),
    SP_OX_TEXT("fmax", 0, "Where(IsNaN(x), y, Where(IsNaN(y), x, Max(x, y)))"),
    SP_OX_TEXT("fmin", 0, "Where(IsNaN(x), y, Where(IsNaN(y), x, Min(x, y)))"),
    SP_OX_CODE("gcd", write_gcd),
    SP_OX_CODE("lcm", write_gcd),
    SP_OX_CODE("bitwise_and", write_bits),
    SP_OX_CODE("bitwise_or", write_bits),
    SP_OX_CODE("bitwise_xor", write_bits),
    SP_OX_CODE("bitwise_not", write_bits),
    SP_OX_CODE("bitwise_left_shift", write_shift),
    SP_OX_CODE("bitwise_right_shift", write_shift),
    /* activations and their slopes */
    SP_OX_TEXT("gelu", 20, "Gelu(x)"),
    SP_OX_TEXT("gelu", 0, "x * 0.5 * (1 + Erf(x * 0.70710678118654752))"),
    SP_OX_TEXT("gelu_grad", 0,
               "dout * (0.5 * (1 + Erf(x * 0.70710678118654752)) + x * 0.39894228040143268 * Exp(-0.5 * x * x))"),
    SP_OX_TEXT("gelu_tanh", 20, "Gelu(x, approximate='tanh')"),
    SP_OX_TEXT("gelu_tanh", 0, "0.5 * x * (1 + Tanh(" T0 "))"),
    SP_OX_TEXT("gelu_tanh_grad", 0,
               "t = Tanh(" T0
               "); dout * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 0.134145 * x * x))"),
    SP_OX_TEXT("silu", 0, "x * Sigmoid(x)"),
    SP_OX_TEXT("silu_grad", 0, "s = Sigmoid(x); dout * s * (1 + x * (1 - s))"),
    SP_OX_TEXT("mish", 18, "Mish(x)"),
    SP_OX_TEXT("mish", 0, "x * Tanh(Softplus(x))"),
    SP_OX_TEXT("mish_grad", 0, "t = Tanh(Softplus(x)); dout * (t + x * (1 - t * t) * Sigmoid(x))"),
    SP_OX_TEXT("softplus", 0, "u = x * beta; Where(u > threshold, x, Softplus(u) / beta)"),
    SP_OX_TEXT("softplus_grad", 0, "u = x * beta; dout * Where(u > threshold, 1, Sigmoid(u))"),
    SP_OX_TEXT("logsigmoid", 0, "-Softplus(-x)"),
    SP_OX_TEXT("logsigmoid_grad", 0, "dout * Sigmoid(-x)"),
    SP_OX_TEXT("softsign_grad", 0, "d = 1 + Abs(x); dout / (d * d)"),
    SP_OX_TEXT("tanhshrink", 0, "x - Tanh(x)"),
    SP_OX_TEXT("tanhshrink_grad", 0, "t = Tanh(x); dout * t * t"),
    SP_OX_TEXT("elu", 0, "Elu(x, alpha=alpha)"),
    SP_OX_TEXT("elu_grad", 0, "dout * Where(x > 0, 1, alpha * Exp(Min(x, 0)))"),
    SP_OX_TEXT("celu", 0, "Celu(x, alpha=alpha)"),
    SP_OX_TEXT("celu_grad", 0, "dout * Where(x > 0, 1, Exp(Min(x, 0) / alpha))"),
    SP_OX_TEXT("selu", 0, "Selu(x)"),
    SP_OX_TEXT("selu_grad", 0, "dout * 1.0507009873554805 * Where(x > 0, 1, 1.6732632423543772 * Exp(Min(x, 0)))"),
    SP_OX_TEXT("leaky_relu", 0, "LeakyRelu(x, alpha=alpha)"),
    SP_OX_TEXT("leaky_relu_grad", 0, "dout * Where(x > 0, 1, alpha + 0 * x)"),
    SP_OX_TEXT("relu6", 0, "Min(Max(x, 0), 6)"),
    SP_OX_TEXT("relu6_grad", 0, "Where(And(x > 0, x < 6), dout, 0)"),
    SP_OX_TEXT("hardswish", 14, "HardSwish(x)"),
    SP_OX_TEXT("hardswish", 0, "x * Min(Max(x / 6 + 0.5, 0), 1)"),
    SP_OX_TEXT("hardswish_grad", 0, "dout * Where(x <= -3, 0, Where(x >= 3, 1, (2 * x + 3) / 6))"),
    SP_OX_TEXT("hardsigmoid", 0, "HardSigmoid(x, alpha=0.16666666666, beta=0.5)"),
    SP_OX_TEXT("hardsigmoid_grad", 0, "Where(And(x > -3, x < 3), dout / 6, 0)"),
    SP_OX_TEXT("hardtanh", 0, "Min(Max(x, min_val), max_val)"),
    SP_OX_TEXT("hardtanh_grad", 0, "Where(And(x > min_val, x < max_val), dout, 0)"),
    SP_OX_TEXT("hardshrink", 0, "Where(And(x >= -lambd, x <= lambd), 0, x)"),
    SP_OX_TEXT("hardshrink_grad", 0, "Where(And(x >= -lambd, x <= lambd), 0, dout)"),
    SP_OX_TEXT("softshrink", 0, "Where(x > lambd, x - lambd, Where(x < -lambd, x + lambd, 0 * x))"),
    SP_OX_TEXT("softshrink_grad", 0, "Where(And(x >= -lambd, x <= lambd), 0, dout)"),
    SP_OX_TEXT("threshold", 0, "Where(x > threshold, x, value)"),
    SP_OX_TEXT("threshold_grad", 0, "Where(x > threshold, dout, 0)"),
    SP_OX_CODE("assign", write_second),
    SP_OX_TEXT("assign_add", 0, "variable + cast(value, variable)"),
    SP_OX_TEXT("assign_sub", 0, "variable - cast(value, variable)"),
    SP_OX_TEXT("moving_average_update", 0, "average + (cast(value, average) * factor - average) * momentum"),
    {.op = NULL},
};

/* --- steps of optimizers ----------------------------------------------------------------------------------------- */

#define MOMENTS "m1 = m + (g - m) * (1 - beta1); v1 = v + (g * g - v) * (1 - beta2);"

static void write_sgd(ox_out *o)
{
    bool nesterov = sp__ox_int(o, "nesterov");
    sp__ox_write_text(
        o, nesterov ? "g = cast(gradient, parameters) + weight_decay * parameters; f = stat > 0; on = momentum > 0;"
                      "a1 = Where(on, Where(f, g, accum * momentum + (1 - dampening) * g), accum);"
                      "parameters - learning_rate * Where(on, g + a1 * momentum, g) | a1 | Where(And(on, f), 0, stat)"
                    : "g = cast(gradient, parameters) + weight_decay * parameters; f = stat > 0; on = momentum > 0;"
                      "a1 = Where(on, Where(f, g, accum * momentum + (1 - dampening) * g), accum);"
                      "parameters - learning_rate * Where(on, a1, g) | a1 | Where(And(on, f), 0, stat)");
}

static void write_momentum(ox_out *o)
{
    sp__ox_write_text(
        o,
        sp__ox_int(o, "use_nesterov")
            ? "g = cast(gradient, variable) * gradient_scale; a = accumulation * momentum + g;"
              "variable - (g * learning_rate + a * momentum * learning_rate) | a"
            : "g = cast(gradient, variable) * gradient_scale; a = accumulation * momentum + g; variable - a * learning_rate | a");
}

static void write_keras_momentum(ox_out *o)
{
    sp__ox_write_text(o, sp__ox_int(o, "use_nesterov")
                             ? "g = cast(grad, var) * lr; a = accum * momentum - g; var + a * momentum - g | a"
                             : "a = accum * momentum - cast(grad, var) * lr; var + a | a");
}

static void write_adam(ox_out *o)
{
    sp__ox_write_text(o, sp__ox_int(o, "use_nesterov")
                             ? "g = cast(gradient, var); r = lr * Sqrt(1 - beta2_power) / (1 - beta1_power);" MOMENTS
                               "var - r * (m1 * beta1 + (1 - beta1) * g) / (Sqrt(v1) + epsilon) | m1 | v1"
                             : "g = cast(gradient, var); r = lr * Sqrt(1 - beta2_power) / (1 - beta1_power);" MOMENTS
                               "var - r * m1 / (Sqrt(v1) + epsilon) | m1 | v1");
}

#define SHRINK(p, bound)                                                                                               \
    "Where(" p " > " bound ", " p " - " bound ", Where(" p " < -" bound ", " p " + " bound ", 0 * " p "))"

const ox_rule sp__ox_train[] = {
    SP_OX_TEXT("gradient_descent_update", 0, "var - alpha * cast(delta, var)"),
    SP_OX_CODE("sgd_update", write_sgd),
    SP_OX_CODE("momentum_update", write_momentum),
    SP_OX_CODE("keras_momentum_update", write_keras_momentum),
    SP_OX_TEXT("weight_scale_momentum_update", 0,
               "a = accumulation * momentum + (cast(gradient, variable) * loss_scale + variable * weight_decay);"
               "variable - a * learning_rate | a"),
    SP_OX_CODE("adam_update", write_adam),
    SP_OX_TEXT("adam_weight_decay_update", 0,
               "g = cast(gradient, var);" MOMENTS "var - lr * (m1 / (Sqrt(v1) + epsilon) + decay * var) | m1 | v1"),
    SP_OX_TEXT("cast_adam_weight_decay_update", 0,
               "g = cast(gradient, var) / cast(global_norm, var);" MOMENTS
               "var - lr * (m1 / (Sqrt(v1) + epsilon) + decay * var) | m1 | v1"),
    SP_OX_TEXT("amsgrad_update", 0,
               "g = cast(grad, var); r = lr * Sqrt(1 - beta2_power) / (1 - beta1_power);" MOMENTS "h = Max(vhat, v1);"
               "var - r * m1 / (Sqrt(h) + epsilon) | m1 | v1 | h"),
    SP_OX_TEXT("adamax_update", 0,
               "g = cast(grad, var); m1 = m + (g - m) * (1 - beta1); v1 = Max(v * beta2, Abs(g));"
               "var - lr / (1 - beta1_power) * m1 / (v1 + epsilon) | m1 | v1"),
    SP_OX_TEXT("rmsprop_update", 0,
               "g = cast(grad, var); s = mean_square + (g * g - mean_square) * (1 - decay);"
               "a = moment * momentum + learning_rate * g / Sqrt(s + epsilon); var - a | s | a"),
    SP_OX_TEXT("centered_rmsprop_update", 0,
               "g = cast(grad, var); c = mean_gradient + (g - mean_gradient) * (1 - decay);"
               "s = mean_square + (g * g - mean_square) * (1 - decay);"
               "a = moment * momentum + learning_rate * g / Sqrt(s - c * c + epsilon); var - a | c | s | a"),
    SP_OX_TEXT("adagrad_update", 0,
               "g = cast(grad, var); a = accum + update_slots * g * g; var - lr * g / (Sqrt(a) + epsilon) | a"),
    SP_OX_TEXT(
        "adadelta_update", 0,
        "g = cast(grad, var); a = rho * accum + (1 - rho) * g * g; u = Sqrt(accum_update + epsilon) / Sqrt(a + epsilon) * g;"
        "var - lr * u | a | rho * accum_update + (1 - rho) * u * u"),
    SP_OX_TEXT("proximal_gradient_descent_update", 0,
               "to = var - alpha * cast(delta, var); b = l1 * alpha; " SHRINK("to", "b") " / (1 + l2 * alpha)"),
    SP_OX_TEXT("proximal_adagrad_update", 0,
               "g = cast(grad, var); a = accum + g * g; r = lr / Sqrt(a); to = var - r * g; b = l1 * r;" SHRINK(
                   "to", "b") " / (1 + l2 * r) | a"),
    SP_OX_TEXT(
        "adagrad_da_update", 0,
        "g = cast(grad, var); gs = gradient_sum + g; ss = square_sum + g * g; n = cast(global_step, var); b = l1 * n;"
        "-lr * " SHRINK("gs", "b") " / (l2 * n * lr + Sqrt(ss)) | gs | ss"),
    SP_OX_TEXT(
        "ftrl_update", 0,
        "g = cast(grad, var); sum = accum + g * g; to = Pow(sum, -lr_power); l = linear + g - (to - Pow(accum, -lr_power)) / lr * var;"
        "Where(Abs(l) > l1, (l1 - l) / (to / lr + 2 * l2), 0) | sum | l"),
    SP_OX_TEXT(
        "add_sign_update", 0,
        "g = cast(grad, var); a = m + (g - m) * (1 - beta); var - lr * (alpha + sign_decay * Sign(g) * Sign(a)) * g | a"),
    SP_OX_TEXT(
        "power_sign_update", 0,
        "g = cast(grad, var); a = m + (g - m) * (1 - beta); var - lr * Exp(logbase * sign_decay * Sign(g) * Sign(a)) * g | a"),
    SP_OX_TEXT("rprop_update", 0,
               "g = cast(grad, var); a = g * prev; z = step_size * Where(a > 0, etaplus, Where(a < 0, etaminus, 1));"
               "s = Min(Max(z, step_min), step_max); p = Where(a < 0, 0, g); var - Sign(p) * s | p | s"),
    SP_OX_TEXT("asgd_update", 0,
               "w = var * (1 - lambd * eta) - eta * cast(grad, var); w | Where(mu == 1, w, ax + (w - ax) * mu)"),
    {.op = NULL},
};
