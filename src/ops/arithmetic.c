/* SPDX-License-Identifier: Apache-2.0 */
/* arithmetic.c - functions of two operands beyond the four rules: powers, division with a remainder, quotients that avoid
 * NaN, and small compositions such as lerp and clamp.
 *
 * Division of integers by zero has no value. As in MindSpore the quotient is then the largest or smallest integer by
 * the sign of the dividend (as if an infinity had been converted), and zero for 0 / 0; the remainder is zero. */
#include "ops/kernels.h"
#include "ops/math.h"

#define ENTRY(name_, ...)                                                                                              \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x, y",                                                                     \
                                 .infer = sp__infer_broadcast,                                                         \
                                 .reference = name_##_reference,                                                       \
                                 .loop = name_##_loop,                                                                 \
                                 .strided = true,                                                                      \
                                 __VA_ARGS__}
#define LOOPS(name_, KIND, cost)                                                                                       \
    static const sp_loop_fn name_##_loops[SP_DTYPE_COUNT] = {KIND};                                                    \
    SP_LOOP_KERNEL(name_, cost)
/* clang-format off */
#define FLOAT_FUNCTION(name_, single, twice, cost)                                                                     \
    SP_EACH_FLOAT32(SP_BINARY_LOOP, name_, single)                                                                     \
    SP_EACH_DOUBLE(SP_BINARY_LOOP, name_, twice)                                                                       \
    LOOPS(name_, SP_EACH_FLOAT(SP_LOOP_ROW, name_, ), cost)
/* clang-format on */
#define BOTH "[2,3] [2,3]; [2,3] [3]; [] [4]"

static sp_tensor *is_zero(sp_builder *b, sp_tensor *x) { return sp_equal(b, x, sp__const(b, 0, x)); }

/* --- powers ------------------------------------------------------------------------------------------------------ */

/* Integers wrap; a negative exponent gives what is left of the reciprocal: 1, -1 or 0. */
static uint64_t power(uint64_t base, uint64_t n)
{
    uint64_t result = 1;
    for (; n; n >>= 1, base *= base)
        if (n & 1) result *= base;
    return result;
}
static int64_t signed_power(int64_t base, int64_t n)
{
    if (n < 0) return base == 1 ? 1 : base == -1 ? (n % 2 ? -1 : 1) : 0;
    return (int64_t)power((uint64_t)base, (uint64_t)n);
}
SP_EACH_SIGNED(SP_BINARY_LOOP, pow, signed_power(x, y))
SP_EACH_UNSIGNED(SP_BINARY_LOOP, pow, power(x, y))
/* Squares and cubes, by far the most frequent powers, by multiplication: the product in double is rounded once to float, so the error is that of
 * one rounding. By the exponent's value, not by how it lies in memory: the same in both modes. */
static inline float float_power(float x, float y)
{
    const double wide = (double)x;
    return y == 2 ? x * x : y == 3 ? (float)(wide * wide * wide) : powf(x, y);
}
static inline double double_power(double x, double y) { return y == 2 ? x * x : pow(x, y); }
SP_EACH_FLOAT32(SP_BINARY_LOOP, pow, float_power(x, y))
SP_EACH_DOUBLE(SP_BINARY_LOOP, pow, double_power(x, y))
SP_BINARY_LOOP(C64, sp_c64, sp_c64, SP_KEEP, SP_KEEP, pow, cpowf(x, y))
SP_BINARY_LOOP(C128, sp_c128, sp_c128, SP_KEEP, SP_KEEP, pow, cpow(x, y))
LOOPS(pow, SP_EACH_REAL(SP_LOOP_ROW, pow, ) SP_EACH_COMPLEX(SP_LOOP_ROW, pow, ), 120)

/* Whether an exponent is known to be 2: then the first power need not be computed. */
static bool is_two(const sp_tensor *y)
{
    double value;
    return y->count == 1 && !y->symbol && y->data && sp_dtype_kind((sp_dtype)y->dtype) == 'f' &&
           sp_tensor_item_f64(y, &value) == SP_OK && value == 2;
}
static sp_status pow_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *x = sp__conj(b, v->in[0]), *y = sp__conj(b, v->in[1]), *g = v->dout[0], *zero = sp__const(b, 0, g);
    if (v->needs[0]) { /* x^0 is constant, even at x = 0 where the formula is 0 times infinity */
        sp_tensor *less = sp_select(b, is_zero(b, y), sp__const(b, 0, y), sp__add_number(b, y, -1));
        sp_tensor *slope = sp_mul(b, y, is_two(v->in[1]) ? x : SP_APPLY2(b, sp_op_pow, x, less));
        v->din[0] = sp__unbroadcast(b, sp_mul(b, g, slope), v->in[0]);
    }
    if (v->needs[1]) { /* likewise 0^y */
        sp_tensor *none = is_zero(b, x);
        sp_tensor *slope = sp_mul(b, sp__conj(b, v->out[0]), sp_log(b, sp_select(b, none, sp__const(b, 1, x), x)));
        v->din[1] = sp__unbroadcast(b, sp_mul(b, g, sp_select(b, none, zero, slope)), v->in[1]);
    }
    return SP_OK;
}
ENTRY(pow, .numbers_alone = true, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_NUMBERS, .vjp = pow_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1) | SP_SAVE_OUT(0), .mindir = "Pow", .onnx = "Pow",
      .python = "ops.pow(input, exponent); ops.Pow()(x, y); ops.tensor_pow(input, exponent); Tensor.pow(exponent); "
                "mint.pow(input, exponent)",
      .doc = "The first operand to the power of the second, element by element.",
      .samples = "[2,3]>0 [2,3]; [2,3]>0 [3]; []>0 [4]");

static sp_status float_power_compose(sp_builder *b, const sp_call *c)
{
    bool complex_any =
        sp_dtype_kind((sp_dtype)c->in[0]->dtype) == 'c' || sp_dtype_kind((sp_dtype)c->in[1]->dtype) == 'c';
    sp_dtype to = complex_any ? SP_DTYPE_C128 : SP_DTYPE_F64;
    c->out[0] = SP_APPLY2(b, sp_op_pow, sp_cast(b, c->in[0], to), sp_cast(b, c->in[1], to));
    return SP_OK;
}
const sp_op sp_op_float_power = {
    .name = "float_power",
    .inputs = "x, y",
    .compose = float_power_compose,
    .python = "ops.float_power(input, exponent); Tensor.float_power(other); mint.float_power(input, exponent)",
    .doc = "The power, computed and given in double precision.",
    .samples = "[2,3]>0 [2,3]; [2,3]>0 [3]",
};

static sp_status ldexp_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *power = SP_APPLY1(b, sp_op_exp2, c->in[1]);
    c->out[0] = sp_mul(b, c->in[0], power);
    return SP_OK;
}
const sp_op sp_op_ldexp = {
    .name = "ldexp",
    .inputs = "x, y",
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX,
    .compose = ldexp_compose,
    .python = "ops.ldexp(x, other); Tensor.ldexp(other)",
    .doc = "x times 2 to the power of y.",
    .samples = BOTH,
};

/* --- division with a remainder ----------------------------------------------------------------------------------- */

/* y = -1 is apart because the hardware traps on lowest / -1. */
static int64_t trunc_rest(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }
static int64_t trunc_quotient(int64_t x, int64_t y, size_t bytes)
{
    const int64_t highest = (int64_t)(UINT64_MAX >> (65 - 8 * bytes));
    if (y == 0) return x > 0 ? highest : x < 0 ? -highest - 1 : 0;
    return y == -1 ? -x : x / y;
}
static bool crosses(int64_t rest, int64_t y) { return rest != 0 && (rest < 0) != (y < 0); }
static int64_t floor_rest(int64_t x, int64_t y)
{
    int64_t rest = trunc_rest(x, y);
    return crosses(rest, y) ? rest + y : rest;
}
static int64_t floor_quotient(int64_t x, int64_t y, size_t bytes)
{
    return trunc_quotient(x, y, bytes) - crosses(trunc_rest(x, y), y);
}
SP_EACH_SIGNED(SP_BINARY_LOOP, floor_div, (floor_quotient(x, y, sizeof x)))
SP_EACH_SIGNED(SP_BINARY_LOOP, floor_mod, (floor_rest(x, y)))
SP_EACH_SIGNED(SP_BINARY_LOOP, trunc_div, (trunc_quotient(x, y, sizeof x)))
SP_EACH_SIGNED(SP_BINARY_LOOP, trunc_mod, (trunc_rest(x, y)))
/* For unsigned types floor and trunc are one. */
/* clang-format off */
#define UINT_DIVIDE(D, T, C, LOAD, STORE, ...)                                                                         \
    SP_BINARY_LOOP(D, T, C, LOAD, STORE, floor_div, (y ? x / y : x ? (T)-1 : 0))                                       \
    SP_BINARY_LOOP(D, T, C, LOAD, STORE, floor_mod, (y ? x % y : 0))                                                   \
    SP_BINARY_LOOP(D, T, C, LOAD, STORE, trunc_div, (y ? x / y : x ? (T)-1 : 0))                                       \
    SP_BINARY_LOOP(D, T, C, LOAD, STORE, trunc_mod, (y ? x % y : 0))
/* clang-format on */
SP_EACH_UNSIGNED(UINT_DIVIDE, )
/* A bool is divided by true or, like the integers, saturates at itself; nothing is left over. */
SP_EACH_BOOL(SP_BINARY_LOOP, floor_div, ((void)y, x))
SP_EACH_BOOL(SP_BINARY_LOOP, floor_mod, ((void)y, x - x))
SP_EACH_BOOL(SP_BINARY_LOOP, trunc_div, ((void)y, x))
SP_EACH_BOOL(SP_BINARY_LOOP, trunc_mod, ((void)y, x - x))

static inline float floor_mod_f(float x, float y)
{
    float r = fmodf(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static inline double floor_mod_d(double x, double y)
{
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
SP_EACH_FLOAT32(SP_BINARY_LOOP, floor_div, floorf(x / y))
SP_EACH_DOUBLE(SP_BINARY_LOOP, floor_div, floor(x / y))
/* Complex numbers have no order to round down in; as in MindSpore, what counts is the real part. */
SP_BINARY_LOOP(C64, sp_c64, sp_c64, SP_KEEP, SP_KEEP, floor_div, floorf(crealf(x / y)))
SP_BINARY_LOOP(C128, sp_c128, sp_c128, SP_KEEP, SP_KEEP, floor_div, floor(creal(x / y)))
SP_EACH_FLOAT32(SP_BINARY_LOOP, floor_mod, floor_mod_f(x, y))
SP_EACH_DOUBLE(SP_BINARY_LOOP, floor_mod, floor_mod_d(x, y))
SP_EACH_FLOAT32(SP_BINARY_LOOP, trunc_div, truncf(x / y))
SP_EACH_DOUBLE(SP_BINARY_LOOP, trunc_div, trunc(x / y))
SP_EACH_FLOAT32(SP_BINARY_LOOP, trunc_mod, fmodf(x, y))
SP_EACH_DOUBLE(SP_BINARY_LOOP, trunc_mod, fmod(x, y))
LOOPS(floor_div,
      SP_EACH_BOOL(SP_LOOP_ROW, floor_div, ) SP_EACH_REAL(SP_LOOP_ROW, floor_div, )
          SP_EACH_COMPLEX(SP_LOOP_ROW, floor_div, ),
      16)
LOOPS(floor_mod, SP_EACH_BOOL(SP_LOOP_ROW, floor_mod, ) SP_EACH_REAL(SP_LOOP_ROW, floor_mod, ), 60)
LOOPS(trunc_div, SP_EACH_BOOL(SP_LOOP_ROW, trunc_div, ) SP_EACH_REAL(SP_LOOP_ROW, trunc_div, ), 16)
LOOPS(trunc_mod, SP_EACH_BOOL(SP_LOOP_ROW, trunc_mod, ) SP_EACH_REAL(SP_LOOP_ROW, trunc_mod, ), 60)

/* r = x - y q, q constant between its steps. */
static sp_status rest_vjp(sp_builder *b, const sp_vjp *v, const sp_op *quotient)
{
    sp_tensor *g = v->dout[0];
    if (v->needs[0]) v->din[0] = sp__unbroadcast(b, g, v->in[0]);
    if (v->needs[1])
        v->din[1] = sp__unbroadcast(b, sp_neg(b, sp_mul(b, g, SP_APPLY2(b, *quotient, v->in[0], v->in[1]))), v->in[1]);
    return SP_OK;
}
static sp_status floor_mod_vjp(sp_builder *b, const sp_vjp *v) { return rest_vjp(b, v, &sp_op_floor_div); }
static sp_status trunc_mod_vjp(sp_builder *b, const sp_vjp *v) { return rest_vjp(b, v, &sp_op_trunc_div); }

#define WHOLE .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_REAL_BOOL
ENTRY(floor_div, .numbers_alone = true, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_REAL_BOOL | SP_DT_COMPLEX,
      .no_vjp = "piecewise constant", .mindir = "FloorDiv", .onnx = "Floor(Div)",
      .python = "ops.floor_div(x, y); ops.FloorDiv()(x, y); ops.floor_divide(input, other); "
                "ops.floordiv(input, other); "
                "ops.tensor_floordiv(input, other); Tensor.floor_divide(other); mint.floor_divide(input, other)",
      .doc = "The quotient rounded down; of complex numbers, its real part rounded down.",
      .samples = "[2,3] [2,3]>0; [2,3] [3]>0; [] [4]>0");
ENTRY(floor_mod, WHOLE, .numbers_alone = true, .vjp = floor_mod_vjp, .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
      .mindir = "FloorMod", .onnx = "Mod",
      .python = "ops.floor_mod(x, y); ops.FloorMod()(x, y); ops.floormod(x, y); ops.tensor_mod(x, y); "
                "ops.remainder(input, other); "
                "Tensor.remainder(other); Tensor.remainder(divisor); mint.remainder(input, other)",
      .doc = "The remainder of a division rounded down; it has the sign of the divisor.",
      .samples = "[2,3](0.6,0.9) [2,3](1.1,2); [2,3](2.1,2.4) [3](0.95,1.04); [](0.6,0.9) [4](1.1,2)");
ENTRY(trunc_div, WHOLE, .no_vjp = "piecewise constant", .mindir = "TruncateDiv",
      .python = "ops.truncate_div(x, y); ops.TruncateDiv()(x, y)", .doc = "The quotient rounded towards zero.",
      .samples = "[2,3] [2,3]>0; [2,3] [3]>0; [] [4]>0");
ENTRY(trunc_mod, WHOLE, .vjp = trunc_mod_vjp, .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1), .mindir = "TruncateMod",
      .onnx = "Mod",
      .python = "ops.truncate_mod(x, y); ops.TruncateMod()(x, y); ops.Mod()(x, y); ops.fmod(input, other); "
                "Tensor.fmod(other); "
                "mint.fmod(input, other)",
      .doc = "The remainder of a division rounded towards zero; it has the sign of the dividend.",
      .samples = "[2,3](0.6,0.9) [2,3](1.1,2); [2,3](2.1,2.4) [3](0.95,1.04); [](0.6,0.9) [4](1.1,2)");

SP_ATTR_TABLE(mode_attr_table, sp_div_mode_attrs, (TEXT_OR_NONE, rounding_mode));
static sp_status div_mode_compose(sp_builder *b, const sp_call *c)
{
    const char *mode = ((const sp_div_mode_attrs *)c->attrs)->rounding_mode;
    SP_CHECK(!mode || !strcmp(mode, "floor") || !strcmp(mode, "trunc"), SP_VALUE,
             "rounding_mode is '%s', it must be None, 'floor' or 'trunc'", mode);
    const sp_op *op = !mode ? &sp_op_div : *mode == 'f' ? &sp_op_floor_div : &sp_op_trunc_div;
    c->out[0] = SP_APPLY2(b, *op, c->in[0], c->in[1]);
    return SP_OK;
}
const sp_op sp_op_div_mode = {
    .name = "div_mode",
    .numbers_alone = true,
    .inputs = "x, y",
    SP_ATTRS(mode_attr_table, sp_div_mode_attrs),
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT_REAL,
    .compose = div_mode_compose,
    .python = "ops.div(input, other, *, rounding_mode=None); ops.divide(input, other, *, rounding_mode=None); "
              "Tensor.div(other, *, rounding_mode=None); Tensor.divide(other, *, rounding_mode=None); "
              "mint.div(input, other, *, rounding_mode=None); mint.divide(input, other, *, rounding_mode=None)",
    .doc = "The quotient, rounded down ('floor') or towards zero ('trunc') if asked.",
    .samples = "[2,3] [2,3]>0; [2,3] [3]>0 rounding_mode=floor; [2,3] [3]>0 rounding_mode=trunc",
};

/* The primitive divides integers as integers. */
static sp_status real_div_compose(sp_builder *b, const sp_call *c)
{
    const char kind = sp_dtype_kind((sp_dtype)c->in[0]->dtype);
    c->out[0] = SP_APPLY2(b, *(kind == 'i' || kind == 'u' ? &sp_op_trunc_div : &sp_op_div), c->in[0], c->in[1]);
    return SP_OK;
}
const sp_op sp_op_real_div = {
    .name = "real_div",
    .inputs = "x, y",
    .promote = SP_PROMOTE_ALL,
    .compose = real_div_compose,
    .mindir = "RealDiv",
    .python = "ops.RealDiv()(x, y)",
    .doc = "The quotient in the dtype of the operands.",
    .samples = "[2,3] [2,3]>0; [2,3] [3]>0; [] [4]>0",
};

/* --- quotients and products that avoid NaN ------------------------------------------------------------------------ */

static sp_status div_no_nan_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *y = c->in[1], *none = is_zero(b, y);
    sp_tensor *q = sp_div(b, c->in[0], sp_select(b, none, sp__const(b, 1, y), y));
    q = sp_select(b, none, sp__const(b, 0, q), q);
    c->out[0] = sp_cast(b, q, (sp_dtype)c->in[0]->dtype);
    return SP_OK;
}
static sp_status mul_no_nan_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *y = c->in[1], *none = is_zero(b, y);
    c->out[0] = sp_select(b, none, sp__const(b, 0, x), sp_mul(b, x, y));
    return SP_OK;
}
/* x * log(y) and x / y, zero where x is zero, whatever y is (but NaN). */
static sp_tensor *safe_where_zero(sp_builder *b, sp_tensor *x, sp_tensor *y)
{
    sp_tensor *none = sp_logical_and(b, is_zero(b, x), sp_logical_not(b, sp_isnan(b, y)));
    return sp_select(b, none, sp__const(b, 1, y), y);
}
static sp_status xlogy_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_mul(b, c->in[0], sp_log(b, safe_where_zero(b, c->in[0], c->in[1])));
    return SP_OK;
}
static sp_status xdivy_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_div(b, c->in[0], safe_where_zero(b, c->in[0], c->in[1]));
    return SP_OK;
}
static sp_status squared_difference_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_square(b, sp_sub(b, c->in[0], c->in[1]));
    return SP_OK;
}
static sp_status heaviside_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *positive = sp_greater(b, x, sp__const(b, 0, x));
    c->out[0] = sp_select(b, is_zero(b, x), c->in[1], sp_cast(b, positive, (sp_dtype)x->dtype));
    return SP_OK;
}
#define COMPOSED(name_, ...)                                                                                           \
    const sp_op sp_op_##name_ = {.name = #name_, .inputs = "x, y", .compose = name_##_compose, __VA_ARGS__}
COMPOSED(div_no_nan, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_NUMBERS, .mindir = "DivNoNan",
         .python = "ops.DivNoNan()(x1, x2); ops.div_no_nan(x, y)",
         .doc = "The quotient, and zero where the divisor is zero.", .samples = "[2,3] [2,3]>0; [2,3] [3]>0; [] [4]>0");
COMPOSED(mul_no_nan, .promote = SP_PROMOTE_ALL, .mindir = "MulNoNan", .python = "ops.MulNoNan()(x, y)",
         .doc = "The product, and zero where the second operand is zero, whatever the first.", .samples = BOTH);
COMPOSED(xlogy, .numbers_alone = true, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX,
         .mindir = "Xlogy",
         .python = "ops.xlogy(input, other); ops.Xlogy()(x, y); Tensor.xlogy(other); mint.xlogy(input, other)",
         .doc = "x times the logarithm of y, and zero where x is zero.",
         .samples = "[2,3] [2,3]>0; [2,3] [3]>0; "
                    "[] [4]>0");
COMPOSED(xdivy, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX, .mindir = "Xdivy",
         .python = "ops.xdivy(x, y); ops.Xdivy()(x, y); Tensor.xdivy(y)", .doc = "x over y, and zero where x is zero.",
         .samples = "[2,3] [2,3]>0; [2,3] [3]>0; [] [4]>0");
COMPOSED(squared_difference, .promote = SP_PROMOTE_ALL, .mindir = "SquaredDifference",
         .python = "ops.SquaredDifference()(x, y)", .doc = "The square of the difference.", .samples = BOTH);
COMPOSED(heaviside, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_REAL, .mindir = "Heaviside",
         .python = "ops.heaviside(input, values); ops.Heaviside()(x, values); Tensor.heaviside(values)",
         .doc = "0 for negative elements, 1 for positive ones, the second operand at zero.", .samples = BOTH);

/* --- angles and lengths ------------------------------------------------------------------------------------------- */

FLOAT_FUNCTION(atan2, atan2f(x, y), atan2(x, y), 150)
static sp_status atan2_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *x = v->in[0], *y = v->in[1];
    sp_tensor *g = sp_div(b, v->dout[0], sp_add(b, sp_square(b, x), sp_square(b, y)));
    if (v->needs[0]) v->din[0] = sp__unbroadcast(b, sp_mul(b, g, y), x);
    if (v->needs[1]) v->din[1] = sp__unbroadcast(b, sp_neg(b, sp_mul(b, g, x)), y);
    return SP_OK;
}
ENTRY(atan2, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS, .vjp = atan2_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1), .mindir = "Atan2",
      .python = "ops.atan2(input, other); ops.arctan2(input, other); ops.Atan2()(x, y); Tensor.atan2(other); "
                "Tensor.arctan2(other); "
                "mint.atan2(input, other); mint.arctan2(input, other)",
      .doc = "The angle of the point (y, x), in (-pi, pi].", .samples = "[2,3] [2,3]>0; [2,3] [3]>0; []>0 [4]>0");

FLOAT_FUNCTION(hypot, hypotf(x, y), hypot(x, y), 80)
static sp_status hypot_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *g = sp_div(b, v->dout[0], v->out[0]);
    for (int i = 0; i < 2; i++)
        if (v->needs[i]) v->din[i] = sp__unbroadcast(b, sp_mul(b, g, v->in[i]), v->in[i]);
    return SP_OK;
}
ENTRY(hypot, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS, .vjp = hypot_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1) | SP_SAVE_OUT(0), .mindir = "Hypot",
      .python = "ops.hypot(input, other); ops.Hypot()(x1, x2); Tensor.hypot(other)",
      .doc = "The square root of x squared plus y squared, without overflow on the way.",
      .samples = "[2,3] [2,3]>0; [2,3] [3]>0; [] [4]>0");

FLOAT_FUNCTION(copysign, copysignf(x, y), copysign(x, y), 4)
static sp_status copysign_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0])
        v->din[0] =
            sp__unbroadcast(b, sp_mul(b, v->dout[0], sp_mul(b, sp_sign(b, v->in[0]), sp_sign(b, v->out[0]))), v->in[0]);
    return SP_OK;
}
ENTRY(copysign, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS, .vjp = copysign_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0), .python = "ops.copysign(x, other); Tensor.copysign(other)",
      .doc = "The size of x with the sign of y.", .samples = "[2,3]>0 [2,3]>0; [2,3]>0 [3]>0; []>0 [4]>0");

FLOAT_FUNCTION(nextafter, nextafterf(x, y), nextafter(x, y), 16)
/* A step away from x: as MindSpore has it, the gradient is x's. */
static sp_status nextafter_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0]) v->din[0] = sp__unbroadcast(b, v->dout[0], v->in[0]);
    return SP_OK;
}
ENTRY(nextafter, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT(F32) | SP_DT(F64), .vjp = nextafter_vjp,
      .mindir = "NextAfter", .python = "ops.nextafter(input, other); ops.NextAfter()(x1, x2); Tensor.nextafter(other)",
      .doc = "The next number of the dtype after x in the direction of y.", .samples = BOTH);

/* --- logarithms of sums ------------------------------------------------------------------------------------------- */

static double log_add(double x, double y, double unit)
{
    if (x == y) return x + unit * log(2.0); /* infinities of one sign too */
    double top = x > y ? x : y, gap = x > y ? y - x : x - y;
    return x != x || y != y ? x + y : top + unit * log1p(exp(gap / unit));
}
FLOAT_FUNCTION(logaddexp, (float)log_add(x, y, 1), log_add(x, y, 1), 150)
static sp_status logaddexp_vjp(sp_builder *b, const sp_vjp *v)
{
    for (int i = 0; i < 2; i++)
        if (v->needs[i])
            v->din[i] =
                sp__unbroadcast(b, sp_mul(b, v->dout[0], sp_sigmoid(b, sp_sub(b, v->in[i], v->in[1 - i]))), v->in[i]);
    return SP_OK;
}
ENTRY(logaddexp, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS, .vjp = logaddexp_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
      .python = "ops.logaddexp(input, other); Tensor.logaddexp(other); mint.logaddexp(input, other)",
      .doc = "log(exp(x) + exp(y)), without overflow on the way.", .samples = BOTH);
#define UNIT2 1.4426950408889634 /* 1 / log 2: 2^x = exp(x / UNIT2) */
FLOAT_FUNCTION(logaddexp2, (float)log_add(x, y, UNIT2), log_add(x, y, UNIT2), 150)
static sp_status logaddexp2_vjp(sp_builder *b, const sp_vjp *v)
{
    for (int i = 0; i < 2; i++)
        if (v->needs[i]) {
            sp_tensor *gap = sp__mul_number(b, sp_sub(b, v->in[i], v->in[1 - i]), 1 / UNIT2);
            v->din[i] = sp__unbroadcast(b, sp_mul(b, v->dout[0], sp_sigmoid(b, gap)), v->in[i]);
        }
    return SP_OK;
}
ENTRY(logaddexp2, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS, .vjp = logaddexp2_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
      .python = "ops.logaddexp2(input, other); Tensor.logaddexp2(other); mint.logaddexp2(input, other)",
      .doc = "The same to base 2.", .samples = BOTH);

/* --- extrema that ignore NaN ---------------------------------------------------------------------------------------- */

#define ORDERED(M, name, expr) SP_EACH_INT(M, name, expr) SP_EACH_FLOAT(M, name, expr)
ORDERED(SP_BINARY_LOOP, fmax, (x >= y || y != y ? x : y))
ORDERED(SP_BINARY_LOOP, fmin, (x <= y || y != y ? x : y))
LOOPS(fmax, ORDERED(SP_LOOP_ROW, fmax, ), 4)
LOOPS(fmin, ORDERED(SP_LOOP_ROW, fmin, ), 4)
static sp_status chosen_vjp(sp_builder *b, const sp_vjp *v, sp_tensor *first)
{
    sp_tensor *zero = sp__const(b, 0, v->dout[0]);
    first = sp_logical_or(b, first, sp_isnan(b, v->in[1]));
    if (v->needs[0]) v->din[0] = sp__unbroadcast(b, sp_select(b, first, v->dout[0], zero), v->in[0]);
    if (v->needs[1]) v->din[1] = sp__unbroadcast(b, sp_select(b, first, zero, v->dout[0]), v->in[1]);
    return SP_OK;
}
static sp_status fmax_vjp(sp_builder *b, const sp_vjp *v)
{
    return chosen_vjp(b, v, sp_greater_equal(b, v->in[0], v->in[1]));
}
static sp_status fmin_vjp(sp_builder *b, const sp_vjp *v)
{
    return chosen_vjp(b, v, sp_less_equal(b, v->in[0], v->in[1]));
}
ENTRY(fmax, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_REAL, .vjp = fmax_vjp, .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
      .mindir = "Fmax", .python = "ops.fmax(input, other); ops.Fmax()(x1, x2); Tensor.fmax(other)",
      .doc = "The larger of two tensors; a number where one of them is NaN.", .samples = BOTH);
ENTRY(fmin, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_REAL, .vjp = fmin_vjp, .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
      .mindir = "Fmin", .python = "ops.fmin(input, other); ops.Fmin()(x1, x2); Tensor.fmin(other)",
      .doc = "The smaller of two tensors; a number where one of them is NaN.", .samples = BOTH);

/* --- divisors ---------------------------------------------------------------------------------------------------- */

static uint64_t magnitude(int64_t x) { return x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x; }
static uint64_t gcd_of(uint64_t x, uint64_t y)
{
    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x;
}
static uint64_t lcm_of(uint64_t x, uint64_t y) { return x && y ? x / gcd_of(x, y) * y : 0; }
SP_EACH_SIGNED(SP_BINARY_LOOP, gcd, (gcd_of(magnitude(x), magnitude(y))))
SP_EACH_UNSIGNED(SP_BINARY_LOOP, gcd, (gcd_of(x, y)))
SP_EACH_SIGNED(SP_BINARY_LOOP, lcm, (lcm_of(magnitude(x), magnitude(y))))
SP_EACH_UNSIGNED(SP_BINARY_LOOP, lcm, (lcm_of(x, y)))
LOOPS(gcd, SP_EACH_INT(SP_LOOP_ROW, gcd, ), 200)
LOOPS(lcm, SP_EACH_INT(SP_LOOP_ROW, lcm, ), 200)
#define DIVISORS .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_INTS, .no_vjp = "integer result"
ENTRY(gcd, DIVISORS, .mindir = "Gcd",
      .python = "ops.gcd(input, other); ops.Gcd()(x1, x2); Tensor.gcd(other); "
                "mint.gcd(input, other)",
      .doc = "The greatest common divisor, never negative.", .samples = BOTH);
ENTRY(lcm, DIVISORS, .mindir = "Lcm", .python = "ops.lcm(input, other); ops.Lcm()(x1, x2); Tensor.lcm(other)",
      .doc = "The least common multiple, never negative.", .samples = BOTH);
