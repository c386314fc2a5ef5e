/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops_scalar.c - primitives of MindIR that compute with numbers, not tensors: what networks do with the sizes of tensors.
 *
 * A number is known when the model is applied to arguments of known shapes, and then computed at once; a number that only a run tells is a tensor
 * without dimensions, and the operator of the same name is applied. */
#include <math.h>
#include <string.h>

#include "base/parts.h"
#include "formats/mindir/mindir_ops.h"

static double as_float(const sp_mindir_value *v) { return v->kind == SP_MINDIR_FLOAT ? v->f : (double)v->i; }

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

/* x to the power of a whole number that is not negative; the low bits where it is too large, as in MindSpore. */
static int64_t whole_power(int64_t x, int64_t n)
{
    uint64_t result = 1, base = (uint64_t)x;
    for (; n > 0; n >>= 1, base *= base)
        if (n & 1) result *= base;
    return (int64_t)result;
}

typedef struct scalar_result {
    sp_mindir_kind kind;
    int64_t i;
    double d;
} scalar_result;

static sp_status compute_whole(const char *op, int64_t x, int64_t y, scalar_result *r)
{
    SP_CHECK(y != 0 || (strcmp(op, "floor_div") && strcmp(op, "floor_mod")), SP_FORMAT, "division by zero");
    r->kind = SP_MINDIR_INT;
    if (!strcmp(op, "add")) r->i = (int64_t)((uint64_t)x + (uint64_t)y);
    else if (!strcmp(op, "sub")) r->i = (int64_t)((uint64_t)x - (uint64_t)y);
    else if (!strcmp(op, "mul")) r->i = (int64_t)((uint64_t)x * (uint64_t)y);
    else if (!strcmp(op, "floor_div")) r->i = y == -1 ? (int64_t)(0 - (uint64_t)x) : floor_div(x, y);
    else if (!strcmp(op, "floor_mod")) r->i = y == -1 ? 0 : x - y * floor_div(x, y);
    else if (!strcmp(op, "maximum")) r->i = x > y ? x : y;
    else if (!strcmp(op, "minimum")) r->i = x < y ? x : y;
    else if (!strcmp(op, "pow") && y >= 0) r->i = whole_power(x, y);
    else if (!strcmp(op, "bitwise_and")) r->i = x & y;
    else if (!strcmp(op, "bitwise_or")) r->i = x | y;
    else return SP_DECLINED;
    return SP_OK;
}

static sp_status compute(const sp_mindir_rule *rule, const sp_mindir_value *x, const sp_mindir_value *y,
                         scalar_result *r)
{
    const char *op = rule->op;
    const double a = as_float(x), b = as_float(y);
    if (x->kind != SP_MINDIR_FLOAT && y->kind != SP_MINDIR_FLOAT) {
        sp_status status = compute_whole(op, x->i, y->i, r);
        if (status != SP_DECLINED) return status;
    }
    r->kind = SP_MINDIR_FLOAT;
    if (!strcmp(op, "add")) r->d = a + b;
    else if (!strcmp(op, "sub")) r->d = a - b;
    else if (!strcmp(op, "mul")) r->d = a * b;
    else if (!strcmp(op, "div")) r->d = a / b;
    else if (!strcmp(op, "floor_div")) r->d = floor(a / b);
    else if (!strcmp(op, "floor_mod")) r->d = a - b * floor(a / b);
    else if (!strcmp(op, "maximum")) r->d = a > b ? a : b;
    else if (!strcmp(op, "minimum")) r->d = a < b ? a : b;
    else if (!strcmp(op, "pow")) r->d = pow(a, b);
    else {
        r->kind = SP_MINDIR_BOOL;
        if (!strcmp(op, "less")) r->i = a < b;
        else if (!strcmp(op, "less_equal")) r->i = a <= b;
        else if (!strcmp(op, "greater")) r->i = a > b;
        else if (!strcmp(op, "greater_equal")) r->i = a >= b;
        else if (!strcmp(op, "equal")) r->i = a == b;
        else if (!strcmp(op, "not_equal")) r->i = a != b;
        else if (!strcmp(op, "logical_and")) r->i = a != 0 && b != 0;
        else if (!strcmp(op, "logical_or")) r->i = a != 0 || b != 0;
        else return sp__fail(SP_FORMAT, "%s of numbers is not supported", rule->mindir);
    }
    return SP_OK;
}

/* A tensor of one element whose contents are known is a number. */
static sp_status number_of(sp_mindir_call *c, sp_mindir_value *v, sp_mindir_value **out)
{
    double d;
    *out = v;
    if (v->kind != SP_MINDIR_TENSOR || !v->t || sp_tensor_is_symbol(v->t) || sp_tensor_count(v->t) != 1 ||
        sp_tensor_item_f64(v->t, &d) != SP_OK)
        return SP_OK;
    const char kind = sp_dtype_kind(sp_tensor_dtype(v->t));
    if (kind == 'c') return SP_OK;
    return sp__mindir_number(c,
                             kind == 'f'   ? SP_MINDIR_FLOAT
                             : kind == 'b' ? SP_MINDIR_BOOL
                                           : SP_MINDIR_INT,
                             (int64_t)d, d, out);
}

/* a op b */
static sp_status run_scalar(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    SP_CHECK(c->n_in >= 2, SP_FORMAT, "%s has %d inputs, it needs 2", rule->mindir, c->n_in);
    sp_mindir_value *x, *y;
    scalar_result r = {0};
    SP_TRY(number_of(c, c->in[0], &x));
    SP_TRY(number_of(c, c->in[1], &y));
    if (x->kind != SP_MINDIR_TENSOR && y->kind != SP_MINDIR_TENSOR) {
        SP_TRY(compute(rule, x, y, &r));
        return sp__mindir_number(c, r.kind, r.i, r.d, out);
    }
    sp_tensor *in[2];
    for (int k = 0; k < 2; k++) SP_TRY(sp__mindir_operand(c, k, &in[k]));
    return sp__mindir_apply_text(c, rule->op, "", 2, in, out);
}

/* op a */
static sp_status run_scalar_of_one(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    SP_CHECK(c->n_in >= 1, SP_FORMAT, "%s has no input", rule->mindir);
    const char *op = rule->op;
    sp_mindir_value *x;
    SP_TRY(number_of(c, c->in[0], &x));
    if (x->kind == SP_MINDIR_TENSOR) {
        sp_tensor *t;
        SP_TRY(sp__mindir_operand(c, 0, &t));
        return sp__mindir_apply_text(c, op, "", 1, &t, out);
    }
    const bool whole = x->kind != SP_MINDIR_FLOAT;
    const double a = as_float(x);
    if (!strcmp(op, "neg"))
        return sp__mindir_number(c, whole ? SP_MINDIR_INT : SP_MINDIR_FLOAT, (int64_t)(0 - (uint64_t)x->i), -a, out);
    if (!strcmp(op, "abs"))
        return sp__mindir_number(c, whole ? SP_MINDIR_INT : SP_MINDIR_FLOAT,
                                 x->i < 0 ? (int64_t)(0 - (uint64_t)x->i) : x->i, fabs(a), out);
    if (!strcmp(op, "identity")) return sp__mindir_number(c, whole ? SP_MINDIR_INT : SP_MINDIR_FLOAT, x->i, a, out);
    if (!strcmp(op, "logical_not")) return sp__mindir_number(c, SP_MINDIR_BOOL, a == 0, 0, out);
    if (!strcmp(op, "trunc") || !strcmp(op, "floor"))
        return sp__mindir_number(c, SP_MINDIR_INT, (int64_t)(op[0] == 't' ? trunc(a) : floor(a)), 0, out);
    return sp__mindir_number(c, SP_MINDIR_FLOAT, 0,
                             !strcmp(op, "log")   ? log(a)
                             : !strcmp(op, "exp") ? exp(a)
                             : !strcmp(op, "sin") ? sin(a)
                             : !strcmp(op, "cos") ? cos(a)
                                                  : tan(a),
                             out);
}

/* A number in another dtype, by MindSpore's number of it: 30 bool, up to 41 whole, then floats. */
static sp_status run_scalar_cast(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    int64_t type;
    sp_mindir_value *x;
    SP_CHECK(c->n_in >= 1, SP_FORMAT, "%s has no input", rule->mindir);
    SP_TRY(number_of(c, c->in[0], &x));
    if (x->kind == SP_MINDIR_TENSOR) return sp__mindir_run_text(c, rule, out);
    SP_TRY(sp__mindir_int_argument(c, 1, "dtype", 43, &type));
    const double a = as_float(x);
    if (type == 30) return sp__mindir_number(c, SP_MINDIR_BOOL, a != 0, 0, out);
    if (type > 30 && type < 42)
        return sp__mindir_number(c, SP_MINDIR_INT, x->kind == SP_MINDIR_FLOAT ? (int64_t)a : x->i, 0, out);
    return sp__mindir_number(c, SP_MINDIR_FLOAT, 0, a, out);
}

/* A tensor of one element as a number; still a tensor, of no dimensions, where a run tells it. */
static sp_status run_to_scalar(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    (void)rule;
    SP_CHECK(c->n_in >= 1, SP_FORMAT, "%s has no input", rule->mindir);
    SP_TRY(number_of(c, c->in[0], out));
    if ((*out)->kind != SP_MINDIR_TENSOR) return SP_OK;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    return sp_tensor_rank(x) == 0 ? sp__mindir_give(c, x, out) : sp__mindir_reshape(c, x, 0, NULL, out);
}

#define TWO(mindir_, op_) {.mindir = mindir_, .op = op_, .run = SP_WANTS_PRIMITIVE(mindir_) ? run_scalar : NULL}
#define ONE(mindir_, op_) {.mindir = mindir_, .op = op_, .run = SP_WANTS_PRIMITIVE(mindir_) ? run_scalar_of_one : NULL}

const sp_mindir_rule sp__mindir_scalar_rules[] = {
    TWO("ScalarAdd", "add"),
    TWO("ScalarSub", "sub"),
    TWO("ScalarMul", "mul"),
    TWO("ScalarDiv", "div"),
    TWO("ScalarFloorDiv", "floor_div"),
    TWO("ScalarMod", "floor_mod"),
    TWO("ScalarPow", "pow"),
    TWO("ScalarMax", "maximum"),
    TWO("ScalarMin", "minimum"),
    TWO("ScalarBitwiseAnd", "bitwise_and"),
    TWO("ScalarBitwiseOr", "bitwise_or"),
    TWO("ScalarLt", "less"),
    TWO("ScalarLe", "less_equal"),
    TWO("ScalarGt", "greater"),
    TWO("ScalarGe", "greater_equal"),
    TWO("ScalarEq", "equal"),
    TWO("ScalarNe", "not_equal"),
    TWO("scalar_add", "add"),
    TWO("scalar_sub", "sub"),
    TWO("scalar_mul", "mul"),
    TWO("scalar_lt", "less"),
    TWO("scalar_gt", "greater"),
    TWO("scalar_eq", "equal"),
    TWO("bool_and", "logical_and"),
    TWO("bool_or", "logical_or"),
    TWO("BoolAnd", "logical_and"),
    TWO("BoolOr", "logical_or"),
    ONE("ScalarUsub", "neg"),
    ONE("ScalarUadd", "identity"),
    ONE("ScalarLog", "log"),
    ONE("ScalarExp", "exp"),
    ONE("ScalarAbs", "abs"),
    ONE("ScalarTrunc", "trunc"),
    ONE("ScalarFloor", "floor"),
    ONE("ScalarSin", "sin"),
    ONE("ScalarCos", "cos"),
    ONE("ScalarTan", "tan"),
    ONE("bool_not", "logical_not"),
    {.mindir = "ScalarCast", .op = "cast", .inputs = "_ dtype", .run = run_scalar_cast},
    {.mindir = "ScalarBool", .op = "cast", .inputs = "_ dtype=bool", .run = sp__mindir_run_text},
    {.mindir = "ScalarToTensor", .op = "cast", .inputs = "_ dtype", .run = sp__mindir_run_text},
    {.mindir = "TensorToScalar", .run = run_to_scalar},
    {.mindir = NULL},
};
