/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops_math.c - TensorFlow Lite operators element by element, of one operand and of several, and casts between scales. */
#include <math.h>

#include "formats/tflite/tflite_product.h"

sp_status sp__tflite_unary(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP1(c, c->node->handler->detail, c->in[0], NULL));
}

static sp_status same(sp_tflite_call *c) { return sp__tflite_return(c, sp_identity(c->b, c->in[0])); }

static sp_status leaky_relu(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "leaky_relu", c->in[0], "alpha=%.9g", sp__tflite_float(c, 0, 0)));
}

static sp_status gelu(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP1(c, sp__tflite_byte(c, 0, 0) ? "gelu_tanh" : "gelu", c->in[0], NULL));
}

static sp_status relu_n1(sp_tflite_call *c) { return sp__tflite_return(c, sp__tflite_activate(c, c->in[0], 2)); }

static sp_status relu_01(sp_tflite_call *c)
{
    sp_tensor *x = c->in[0];
    return sp__tflite_return(c, sp_maximum(c->b, sp_minimum(c->b, x, sp__const(c->b, 1, x)), sp__const(c->b, 0, x)));
}

/* For alpha of any sign: what is left of zero is multiplied. */
sp_status sp__tflite_prelu(sp_tflite_call *c)
{
    sp_tensor *x = c->in[0], *below = sp_less(c->b, x, sp__const(c->b, 0, x));
    return sp__tflite_return(c, sp_select(c->b, below, sp_mul(c->b, x, c->in[1]), x));
}

static sp_status zeros_like(sp_tflite_call *c) { return sp__tflite_return(c, sp__zeros_like(c->b, c->in[0])); }

static sp_status cast(sp_tflite_call *c)
{
    sp_dtype to = sp__tflite_out_face(c, 0)->meta.dtype;
    SP_CHECK(to != SP_DTYPE_NONE, SP_DECLINED, "a cast to type %d is not supported", sp__tflite_out_face(c, 0)->type);
    return sp__tflite_return(c, sp_cast(c->b, c->in[0], to));
}

/* The numbers that integers stand for, or halves as floats: of weights once. */
static sp_status dequantize(sp_tflite_call *c)
{
    sp_tensor *from = sp__tflite_plain(c, 0), *t;
    if (sp__tflite_kept(c, from, &t)) return sp__tflite_return(c, t);
    return sp__tflite_return(c, sp__tflite_keep(c, from, sp_cast(c->b, c->in[0], SP_DTYPE_F32)));
}

/* Rounded as training with simulated quantisation does it: zero is one of the values. */
static sp_status fake_quant(sp_tflite_call *c)
{
    const double least = sp__tflite_float(c, 0, 0), most = sp__tflite_float(c, 1, 0);
    const int64_t bits = sp__tflite_int(c, 2, 0), low = sp__tflite_byte(c, 3, 0) ? 1 : 0;
    SP_CHECK(bits >= 2 && bits <= 16 && least < most, SP_FORMAT, "%lld bits from %g to %g", (long long)bits, least,
             most);
    const float high = (float)((1 << bits) - 1), scale = (float)((most - least) / ((double)high - (double)low));
    const double exact = (double)low - least / (double)scale,
                 zero = exact<(double)low ? (double)low : exact>(double) high ? (double)high : round(exact);
    const double from = ((double)low - zero) * (double)scale, to = ((double)high - zero) * (double)scale;
    sp_tensor *x =
        sp_minimum(c->b, sp_maximum(c->b, c->in[0], sp__const(c->b, from, c->in[0])), sp__const(c->b, to, c->in[0]));
    x = sp__mul_number(c->b, sp__add_number(c->b, x, -from), 1 / (double)scale);
    x = sp_floor(c->b, sp__add_number(c->b, x, 0.5));
    return sp__tflite_return(c, sp__add_number(c->b, sp__mul_number(c->b, x, (double)scale), from));
}

/* --- two operands ------------------------------------------------------------------------------------------------ */

static sp_status binary(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP2(c, c->node->handler->detail, c->in[0], c->in[1], NULL));
}

static sp_status with_activation(sp_tflite_call *c)
{
    return sp__tflite_return(
        c, sp__tflite_activate(c, SP_TFLITE_OP2(c, c->node->handler->detail, c->in[0], c->in[1], NULL),
                               sp__tflite_byte(c, 0, 0)));
}

/* Integers are divided towards zero. */
static sp_status divide(sp_tflite_call *c)
{
    bool real = sp_dtype_kind(sp_tensor_dtype(c->in[0])) == 'f';
    return sp__tflite_return(
        c, sp__tflite_activate(c, SP_TFLITE_OP2(c, real ? "div" : "trunc_div", c->in[0], c->in[1], NULL),
                               sp__tflite_byte(c, 0, 0)));
}

/* By 0 to all bits but one; other numbers are brought to the nearer end. */
static sp_status right_shift(sp_tflite_call *c)
{
    sp_tensor *by = c->in[1], *most = sp__const(c->b, 8 * (double)sp_dtype_bytes(sp_tensor_dtype(by)) - 1, by);
    by = sp_minimum(c->b, sp_maximum(c->b, by, sp__const(c->b, 0, by)), most);
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "bitwise_right_shift", c->in[0], by, NULL));
}

static sp_status add_n(sp_tflite_call *c)
{
    sp_tensor *sum = c->in[0];
    for (int i = 1; i < c->n_in; i++) sum = sp_add(c->b, sum, c->in[i]);
    return sp__tflite_return(c, c->n_in > 1 ? sum : sp_identity(c->b, sum));
}

static sp_status choose(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp_select(c->b, c->in[0], c->in[1], c->in[2]));
}

/* The old one: a condition of rank 1 chooses whole rows. */
static sp_status choose_rows(sp_tflite_call *c)
{
    int rank = sp__tflite_rank(c, 1);
    int64_t dims[SP_RANK_MAX] = {-1};
    for (int k = 1; k < rank; k++) dims[k] = 1;
    if (sp__tflite_rank(c, 0) == 1 && rank > 1 && sp_tensor_count(c->in[0]) > 1)
        c->in[0] = sp_reshape(c->b, c->in[0], rank, dims);
    return choose(c);
}

/* --- one row at a time ------------------------------------------------------------------------------------------- */

static sp_status softmax(sp_tflite_call *c)
{
    double beta = sp__tflite_float(c, 0, 1);
    int axis = 0, rank = sp__tflite_rank(c, 0);
    sp_tensor *x = beta == 1 ? c->in[0] : sp__mul_number(c->b, c->in[0], beta);
    SP_TRY(sp__tflite_axis(c, -1, rank, &axis));
    return sp__tflite_return(c, SP_TFLITE_OP1(c, c->node->handler->detail, x, "axis=(%d,)", axis));
}

static sp_status log_softmax(sp_tflite_call *c)
{
    int axis = 0;
    SP_TRY(sp__tflite_axis(c, -1, sp__tflite_rank(c, 0), &axis));
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "log_softmax", c->in[0], "axis=(%d,)", axis));
}

static sp_status l2_norm(sp_tflite_call *c)
{
    int axis = 0;
    SP_TRY(sp__tflite_axis(c, -1, sp__tflite_rank(c, 0), &axis));
    sp_tensor *norm = sp_sqrt(c->b, sp_reduce_sum(c->b, sp_square(c->b, c->in[0]), 1, (int64_t[]){axis}, true));
    sp_tensor *y = sp_div(c->b, c->in[0], sp_maximum(c->b, norm, sp__tflite_scalar(c, SP_DTYPE_F32, 1e-6)));
    return sp__tflite_return(c, sp__tflite_activate(c, y, sp__tflite_byte(c, 0, 0)));
}

#define EACH (SP_TFLITE_REAL | SP_TFLITE_ANY)
#define RAW_EACH (SP_TFLITE_MOVE | SP_TFLITE_ANY)
#define BEST (SP_TFLITE_REAL | SP_TFLITE_ANY | SP_TFLITE_SAME)
const sp_tflite_handler sp__tflite_math[] = {
    {101, "ABS", sp__tflite_unary, "abs", EACH, 1, -1},
    {47, "EXP", sp__tflite_unary, "exp", EACH, 1, -1},
    {73, "LOG", sp__tflite_unary, "log", EACH, 1, -1},
    {75, "SQRT", sp__tflite_unary, "sqrt", EACH, 1, -1},
    {76, "RSQRT", sp__tflite_unary, "rsqrt", EACH, 1, -1},
    {66, "SIN", sp__tflite_unary, "sin", EACH, 1, -1},
    {108, "COS", sp__tflite_unary, "cos", EACH, 1, -1},
    {59, "NEG", sp__tflite_unary, "neg", EACH, 1, -1},
    {8, "FLOOR", sp__tflite_unary, "floor", EACH, 1, -1},
    {104, "CEIL", sp__tflite_unary, "ceil", EACH, 1, -1},
    {116, "ROUND", sp__tflite_unary, "round", EACH, 1, -1},
    {92, "SQUARE", sp__tflite_unary, "square", EACH, 1, -1},
    {158, "SIGN", sp__tflite_unary, "sign", EACH, 1, -1},
    {87, "LOGICAL_NOT", sp__tflite_unary, "logical_not", EACH, 1, -1},
    {28, "TANH", sp__tflite_unary, "tanh", EACH, 1, -1},
    {14, "LOGISTIC", sp__tflite_unary, "sigmoid", EACH, 1, -1},
    {111, "ELU", sp__tflite_unary, "elu", EACH, 1, -1},
    {117, "HARD_SWISH", sp__tflite_unary, "hardswish", EACH, 1, -1},
    {19, "RELU", sp__tflite_unary, "relu", EACH, 1, -1},
    {21, "RELU6", sp__tflite_unary, "relu6", EACH, 1, -1},
    {20, "RELU_N1_TO_1", relu_n1, NULL, EACH, 1, -1},
    {152, "RELU_0_TO_1", relu_01, NULL, EACH, 1, -1},
    {98, "LEAKY_RELU", leaky_relu, NULL, EACH, 1, -1},
    {150, "GELU", gelu, NULL, EACH, 1, -1},
    {54, "PRELU", sp__tflite_prelu, NULL, EACH, 2, -1},
    {93, "ZEROS_LIKE", zeros_like, NULL, RAW_EACH, 1, -1},
    {53, "CAST", cast, NULL, RAW_EACH, 1, -1},
    {6, "DEQUANTIZE", dequantize, NULL, EACH, 1, -1},
    {114, "QUANTIZE", same, NULL, EACH, 1, -1},
    {124, "DENSIFY", same, NULL, RAW_EACH, 1, -1},
    {80, "FAKE_QUANT", fake_quant, NULL, EACH, 1, -1},
    {0, "ADD", with_activation, "add", EACH, 2, -1},
    {41, "SUB", with_activation, "sub", EACH, 2, -1},
    {18, "MUL", with_activation, "mul", EACH, 2, -1},
    {42, "DIV", divide, NULL, EACH, 2, -1},
    {90, "FLOOR_DIV", binary, "floor_div", EACH, 2, -1},
    {95, "FLOOR_MOD", binary, "floor_mod", EACH, 2, -1},
    {78, "POW", binary, "pow", EACH, 2, -1},
    {55, "MAXIMUM", binary, "maximum", BEST, 2, -1},
    {57, "MINIMUM", binary, "minimum", BEST, 2, -1},
    {99, "SQUARED_DIFFERENCE", binary, "squared_difference", EACH, 2, -1},
    {156, "ATAN2", binary, "atan2", EACH, 2, -1},
    {160, "BITWISE_XOR", binary, "bitwise_xor", RAW_EACH, 2, -1},
    {161, "RIGHT_SHIFT", right_shift, NULL, RAW_EACH, 2, -1},
    {58, "LESS", binary, "less", EACH, 2, -1},
    {61, "GREATER", binary, "greater", EACH, 2, -1},
    {62, "GREATER_EQUAL", binary, "greater_equal", EACH, 2, -1},
    {63, "LESS_EQUAL", binary, "less_equal", EACH, 2, -1},
    {71, "EQUAL", binary, "equal", EACH, 2, -1},
    {72, "NOT_EQUAL", binary, "not_equal", EACH, 2, -1},
    {84, "LOGICAL_OR", binary, "logical_or", EACH, 2, -1},
    {86, "LOGICAL_AND", binary, "logical_and", EACH, 2, -1},
    {106, "ADD_N", add_n, NULL, EACH, 1, -1},
    {64, "SELECT", choose_rows, NULL, SP_TFLITE_REAL | SP_TFLITE_SAME, 3, -1},
    {123, "SELECT_V2", choose, NULL, BEST, 3, -1},
    {25, "SOFTMAX", softmax, "softmax", SP_TFLITE_REAL | SP_TFLITE_AXES, 1, -1},
    {50, "LOG_SOFTMAX", log_softmax, NULL, SP_TFLITE_REAL | SP_TFLITE_AXES, 1, -1},
    {11, "L2_NORMALIZATION", l2_norm, NULL, SP_TFLITE_REAL | SP_TFLITE_AXES, 1, -1},
    {134, "REAL", sp__tflite_unary, "real", 0, 1, -1},
    {133, "IMAG", sp__tflite_unary, "imag", 0, 1, -1},
    {135, "COMPLEX_ABS", sp__tflite_unary, "complex_abs", 0, 1, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
