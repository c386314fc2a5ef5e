/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_math.c - element-wise operators as C expressions.
 *
 * In a row of the table $0 to $3 are operands, {name} an attribute, @1.5 a number of the result's dtype and ~ behind a name the
 * letter that C's functions of that dtype end with: exp~ is expf or exp. Expressions are those of the operators' own loops.
 *
 * exp, tanh, and what is made of them, are functions of the generated file where the dtype is float32: whole programs then give the same
 * bits with every C library. C's floorf and the like are exact in all of them. */
#include "base/plain.h"
#include "codegen/codegen.h"
#include "ops/ops_impl.h"

typedef struct math_row {
    const sp_op *op;
    const char *floats;   /* of float32 and float64; NULL: not of them */
    const char *integers; /* of whole numbers and truth values */
    bool dear;
} math_row;

#define SIGMOID_TEXT(x) "spore_sigmoid~(" x ")"
#define SOFTPLUS_TEXT(x) "((" x " > 0 ? " x " : @0) + log1p~(spore_exp~(-fabs~(" x "))))"

static const math_row rows[] = {
    {&sp_op_add, "$0 + $1", "$0 + $1", false},
    {&sp_op_sub, "$0 - $1", "$0 - $1", false},
    {&sp_op_mul, "$0 * $1", "$0 * $1", false},
    {&sp_op_div, "$0 / $1", NULL, true},
    {&sp_op_real_div, "$0 / $1", NULL, true},
    {&sp_op_maximum, "$0 > $1 || $0 != $0 ? $0 : $1", "$0 > $1 ? $0 : $1", false},
    {&sp_op_minimum, "$0 < $1 || $0 != $0 ? $0 : $1", "$0 < $1 ? $0 : $1", false},
    {&sp_op_squared_difference, "($0 - $1) * ($0 - $1)", "($0 - $1) * ($0 - $1)", false},
    {&sp_op_pow, "pow~($0, $1)", NULL, true},
    {&sp_op_equal, "$0 == $1", "$0 == $1", false},
    {&sp_op_not_equal, "$0 != $1", "$0 != $1", false},
    {&sp_op_less, "$0 < $1", "$0 < $1", false},
    {&sp_op_less_equal, "$0 <= $1", "$0 <= $1", false},
    {&sp_op_greater, "$0 > $1", "$0 > $1", false},
    {&sp_op_greater_equal, "$0 >= $1", "$0 >= $1", false},
    {&sp_op_logical_and, "$0 != 0 && $1 != 0", "$0 != 0 && $1 != 0", false},
    {&sp_op_logical_or, "$0 != 0 || $1 != 0", "$0 != 0 || $1 != 0", false},
    {&sp_op_logical_xor, "($0 != 0) != ($1 != 0)", "($0 != 0) != ($1 != 0)", false},
    {&sp_op_logical_not, "$0 == 0", "$0 == 0", false},
    {&sp_op_isnan, "$0 != $0", "0", false},
    {&sp_op_isfinite, "$0 - $0 == 0", "1", false},
    {&sp_op_isinf, "$0 - $0 != $0 - $0 && $0 == $0", "0", false},
    {&sp_op_neg, "-$0", "-$0", false},
    {&sp_op_abs, "fabs~($0)", "$0 < 0 ? -$0 : $0", false},
    {&sp_op_sign, "$0 > 0 ? @1 : $0 < 0 ? -@1 : $0", "($0 > 0) - ($0 < 0)", false},
    {&sp_op_square, "$0 * $0", "$0 * $0", false},
    {&sp_op_exp, "spore_exp~($0)", NULL, true},
    {&sp_op_log, "log~($0)", NULL, true},
    {&sp_op_log1p, "log1p~($0)", NULL, true},
    {&sp_op_expm1, "expm1~($0)", NULL, true},
    {&sp_op_sqrt, "sqrt~($0)", NULL, true},
    {&sp_op_rsqrt, "@1 / sqrt~($0)", NULL, true},
    {&sp_op_reciprocal, "@1 / $0", NULL, true},
    {&sp_op_sin, "sin~($0)", NULL, true},
    {&sp_op_cos, "cos~($0)", NULL, true},
    {&sp_op_tan, "tan~($0)", NULL, true},
    {&sp_op_atan, "atan~($0)", NULL, true},
    {&sp_op_erf, "erf~($0)", NULL, true},
    {&sp_op_tanh, "spore_tanh~($0)", NULL, true},
    {&sp_op_sigmoid, SIGMOID_TEXT("$0"), NULL, true},
    {&sp_op_floor, "floor~($0)", "$0", false},
    {&sp_op_ceil, "ceil~($0)", "$0", false},
    {&sp_op_trunc, "trunc~($0)", "$0", false},
    {&sp_op_round, "spore_round~($0)", "$0", false},
    {&sp_op_relu, "$0 > 0 || $0 != $0 ? $0 : @0", "$0 > 0 ? $0 : 0", false},
    {&sp_op_relu_grad, "$1 > 0 ? $0 : @0", "$1 > 0 ? $0 : 0", false},
    {&sp_op_relu6, "$0 > 0 || $0 != $0 ? ($0 < 6 || $0 != $0 ? $0 : @6) : @0", NULL, false},
    {&sp_op_relu6_grad, "$0 > 0 && $0 < 6 ? $1 : @0", NULL, false},
    {&sp_op_leaky_relu, "$0 > 0 ? $0 : {alpha} * $0", NULL, false},
    {&sp_op_elu, "$0 > 0 ? $0 : {alpha} * expm1~($0)", NULL, true},
    {&sp_op_celu, "$0 > 0 ? $0 : {alpha} * expm1~($0 / {alpha})", NULL, true},
    {&sp_op_selu, "@1.0507009873554805 * ($0 > 0 ? $0 : @1.6732632423543772 * expm1~($0))", NULL, true},
    {&sp_op_gelu, "$0 * (@0.5 * (1 + erf~($0 * @0.70710678118654752)))", NULL, true},
    {&sp_op_gelu_tanh, "@0.5 * $0 * (1 + spore_tanh~(@0.79788456080286536 * ($0 + @0.044715 * $0 * $0 * $0)))", NULL,
     true},
    {&sp_op_silu, "$0 * " SIGMOID_TEXT("$0"), NULL, true},
    {&sp_op_mish, "$0 * spore_tanh~(" SOFTPLUS_TEXT("$0") ")", NULL, true},
    {&sp_op_softplus, "$0 * {beta} > {threshold} ? $0 : " SOFTPLUS_TEXT("($0 * {beta})") " / {beta}", NULL, true},
    {&sp_op_logsigmoid, "($0 < 0 ? $0 : @0) - log1p~(spore_exp~(-fabs~($0)))", NULL, true},
    {&sp_op_softsign, "$0 / (1 + fabs~($0))", NULL, true},
    {&sp_op_hardswish, "$0 <= -3 ? @0 : $0 >= 3 ? $0 : $0 * ($0 + 3) / 6", NULL, true},
    {&sp_op_hardsigmoid, "$0 <= -3 ? @0 : $0 >= 3 ? @1 : $0 / 6 + @0.5", NULL, true},
    {&sp_op_hardtanh, "$0 < {min_val} ? {min_val} : $0 > {max_val} ? {max_val} : $0", NULL, false},
    {&sp_op_threshold, "$0 > {threshold} ? $0 : {value}", NULL, false},
    {&sp_op_channel_affine, "$0 * $1 + $2", NULL, false},
    {&sp_op_select, "$0 != 0 ? $1 : $2", "$0 != 0 ? $1 : $2", false},
    {&sp_op_select_same, "$0 != 0 ? $1 : $2", "$0 != 0 ? $1 : $2", false},
    {&sp_op_cast, "$0", "$0", false},
    {&sp_op_copy, "$0", "$0", false},
    {&sp_op_stop_gradient, "$0", "$0", false},
};

static const math_row *row_of(const sp_op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == op) return &rows[i];
    return NULL;
}

static bool is_float(sp_dtype dtype) { return dtype == SP_DTYPE_F32 || dtype == SP_DTYPE_F64; }

/* The dtype that an expression computes in: that of its operands; of a selection, what is chosen. */
static sp_dtype dtype_of(const sp_node *n)
{
    const bool chosen = n->op == &sp_op_select || n->op == &sp_op_select_same;
    return n->in[chosen ? 1 : 0]->meta.dtype;
}

static const char *text_of(const sp_node *n)
{
    const math_row *row = row_of(n->op);
    if (row == NULL) return NULL;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] == NULL || sp__codegen_type(n->in[i]->meta.dtype) == NULL) return NULL;
    if (sp__codegen_type(n->out[0]->meta.dtype) == NULL) return NULL;
    return is_float(dtype_of(n)) ? row->floats : row->integers;
}

bool sp__codegen_is_math(const sp_node *n)
{
    return n->kind == SP_NODE_OP && n->n_out == 1 && n->n_in >= 1 && text_of(n) != NULL;
}

bool sp__codegen_is_dear(const sp_node *n) { return row_of(n->op) != NULL && row_of(n->op)->dear; }

/* --- expressions ------------------------------------------------------------------------------------------------- */

typedef struct expression {
    char *out;
    size_t n, room;
} expression;

static void add(expression *e, const char *text, size_t bytes)
{
    if (e->n + bytes + 1 > e->room) {
        e->n = e->room; /* too long: told at the end */
        return;
    }
    memcpy(e->out + e->n, text, bytes);
    e->n += bytes;
    e->out[e->n] = '\0';
}

static void add_number(expression *e, sp_dtype dtype, double value)
{
    char text[48];
    sp__codegen_literal(dtype, value, text, sizeof text);
    add(e, text, strlen(text));
}

static void note_helpers(sp_codegen *g, const char *text, sp_dtype dtype)
{
    if (dtype != SP_DTYPE_F32) return;
    if (strstr(text, "spore_sigmoid") != NULL) g->helpers |= SP_HELPER_SIGMOID | SP_HELPER_EXP;
    if (strstr(text, "spore_tanh") != NULL) g->helpers |= SP_HELPER_TANH | SP_HELPER_EXP;
    if (strstr(text, "spore_exp") != NULL) g->helpers |= SP_HELPER_EXP;
    if (strstr(text, "spore_round") != NULL) g->helpers |= SP_HELPER_ROUND;
}

/* One mark of the row's text; behind it. */
static const char *put_mark(expression *e, const sp_node *n, const char *at, sp_dtype dtype,
                            const char *const *operands)
{
    char *end;
    if (*at == '$') {
        const char *operand = operands[at[1] - '0'];
        if (operand != NULL) add(e, operand, strlen(operand));
        return at + 2;
    }
    if (*at == '@') {
        const double value = sp__strtod(at + 1, &end);
        add_number(e, dtype, value);
        return end;
    }
    if (*at == '{') {
        char name[32] = "";
        const size_t length = strcspn(at, "}");
        if (length <= sizeof name) memcpy(name, at + 1, length - 1);
        add_number(e, dtype, sp__codegen_number(n, name));
        return at + length + 1;
    }
    if (dtype == SP_DTYPE_F32) add(e, "f", 1);
    return at + 1;
}

/* Functions of the generated file exist for float32; those of float64 are the C library's. */
static const char *put_name(expression *e, const char *at, sp_dtype dtype)
{
    static const char own[] = "spore_";
    if (dtype == SP_DTYPE_F64 && strncmp(at, own, sizeof own - 1) == 0 && strncmp(at, "spore_sigmoid", 13) != 0) {
        at += sizeof own - 1;
        if (strncmp(at, "round", 5) == 0) {
            add(e, "nearbyint", 9);
            return at + 5;
        }
    }
    const size_t length = strcspn(at, "$@{~ ");
    add(e, at, length ? length : 1);
    return at + (length ? length : 1);
}

sp_status sp__codegen_math(sp_codegen_out *o, const sp_node *n, const char *const *operands, char *out, size_t room)
{
    const char *at = text_of(n);
    const sp_dtype dtype = dtype_of(n);
    expression e = {.out = out, .room = room};
    SP_CHECK(at != NULL, SP_DECLINED, "operator %s of %s has no C expression", n->op->name, sp_dtype_name(dtype));
    out[0] = '\0';
    if (n->op == &sp_op_cast) {
        /* What C leaves open of floats beyond an integer's range does not occur in models; truth values are 0 or 1. */
        const bool truth = n->out[0]->meta.dtype == SP_DTYPE_BOOL;
        const char *type = sp__codegen_type(n->out[0]->meta.dtype);
        sp__snprintf(out, room, truth ? "%s%s != 0" : "(%s)%s", truth ? "" : type, operands[0]);
        return SP_OK;
    }
    note_helpers(o->g, at, dtype);
    if (dtype == SP_DTYPE_F64 && strstr(at, "spore_sigmoid") != NULL)
        return sp__fail(SP_DECLINED, "operator %s of float64 has no C expression", n->op->name);
    while (*at != '\0')
        at = strchr("$@{~", *at) != NULL ? put_mark(&e, n, at, dtype, operands) : put_name(&e, at, dtype);
    SP_CHECK(e.n < e.room, SP_RUNTIME, "the C expression of operator %s is longer than %zu characters", n->op->name,
             room);
    return SP_OK;
}

/* --- functions of the generated file ----------------------------------------------------------------------------- */

static const char exp_text[] =
    "/* e to the power of x, to one unit in the last place; the same bits on every machine. */\n"
    "static float spore_expf(float x)\n"
    "{\n"
    "    if (x != x) return x;\n"
    "    if (x > 88.7228394f) return INFINITY;\n"
    "    if (x < -103.972084f) return 0.0f;\n"
    "    const int n = (int)(x * 1.44269504f + (x < 0.0f ? -0.5f : 0.5f));\n"
    "    const int a = n / 2, b = n - a; /* twice a factor that is a normal number */\n"
    "    const uint32_t bits[2] = {(uint32_t)(a + 127) << 23, (uint32_t)(b + 127) << 23};\n"
    "    float two[2], p = 1.98756915e-4f;\n"
    "    memcpy(two, bits, sizeof two);\n"
    "    x -= (float)n * 0.693359375f;\n"
    "    x -= (float)n * -2.12194440e-4f;\n"
    "    p = p * x + 1.39819995e-3f;\n"
    "    p = p * x + 8.33345191e-3f;\n"
    "    p = p * x + 4.16657959e-2f;\n"
    "    p = p * x + 1.66666655e-1f;\n"
    "    p = p * x + 5.00000012e-1f;\n"
    "    p = p * x * x + x + 1.0f;\n"
    "    return p * two[0] * two[1];\n"
    "}\n\n";

static const char tanh_text[] =
    "static float spore_tanhf(float x)\n"
    "{\n"
    "    const float size = x < 0.0f ? -x : x, z = x * x;\n"
    "    if (size < 0.625f)\n"
    "        return ((((-5.70498873e-3f * z + 2.06390888e-2f) * z - 5.37397155e-2f) * z + 1.33314422e-1f) * z - 3.33332819e-1f) * z * x + x;\n"
    "    const float y = size > 9.1f ? 1.0f : 1.0f - 2.0f / (spore_expf(2.0f * size) + 1.0f);\n"
    "    return x != x ? x : x < 0.0f ? -y : y;\n"
    "}\n\n";

static const char sigmoid_text[] = "static float spore_sigmoidf(float x)\n"
                                   "{\n"
                                   "    const float e = spore_expf(x < 0.0f ? x : -x);\n"
                                   "    return x < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e);\n"
                                   "}\n\n";

static const char round_text[] = "/* The nearest whole number, halves to the even one. */\n"
                                 "static float spore_roundf(float x)\n"
                                 "{\n"
                                 "    if (x >= 0.0f) return x < 8388608.0f ? x + 8388608.0f - 8388608.0f : x;\n"
                                 "    return x > -8388608.0f ? x - 8388608.0f + 8388608.0f : x;\n"
                                 "}\n\n";

void sp__codegen_math_helpers(sp__text *t, unsigned helpers)
{
    if (helpers & SP_HELPER_EXP) sp__text_put(t, "%s", exp_text);
    if (helpers & SP_HELPER_TANH) sp__text_put(t, "%s", tanh_text);
    if (helpers & SP_HELPER_SIGMOID) sp__text_put(t, "%s", sigmoid_text);
    if (helpers & SP_HELPER_ROUND) sp__text_put(t, "%s", round_text);
}
