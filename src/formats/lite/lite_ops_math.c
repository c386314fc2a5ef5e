/* SPDX-License-Identifier: Apache-2.0 */
/* lite_ops_math.c - operators of MindSpore Lite element by element, and those that reduce. */
#include <math.h>
#include <string.h>

#include "formats/lite/lite_model.h"

static sp_status same(sp_tflite_call *c) { return sp__tflite_return(c, sp_identity(c->b, c->in[0])); }

/* Activation(activation_type alpha min_val max_val approximate) */
static sp_status activation(sp_tflite_call *c)
{
    const int64_t kind = sp__lite_int(c, 0);
    if (kind == 19 && sp__lite_int(c, 4)) return sp__tflite_return(c, SP_TFLITE_OP1(c, "gelu_tanh", c->in[0], NULL));
    if (kind == 16) {
        sp_tensor *x = c->in[0], *low = sp__const(c->b, sp__lite_float(c, 2), x),
                  *high = sp__const(c->b, sp__lite_float(c, 3), x);
        return sp__tflite_return(c, sp_minimum(c->b, sp_maximum(c->b, x, low), high));
    }
    sp_tensor *y = sp__lite_activate(c, c->in[0], kind, sp__lite_float(c, 1));
    return sp__tflite_return(c, y == c->in[0] ? sp_identity(c->b, y) : y);
}

static sp_status elu(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "elu", c->in[0], "alpha=%.9g", sp__lite_float(c, 0)));
}

static sp_status leaky_relu(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "leaky_relu", c->in[0], "alpha=%.9g", sp__lite_float(c, 0)));
}

/* Clip(max min), or both as inputs: min, max. */
static sp_status clip(sp_tflite_call *c)
{
    sp_tensor *x = c->in[0], *low = c->n_in > 1 ? c->in[1] : sp__const(c->b, sp__lite_float(c, 1), x);
    sp_tensor *high = c->n_in > 2 ? c->in[2] : sp__const(c->b, sp__lite_float(c, 0), x);
    return sp__tflite_return(c, sp_minimum(c->b, sp_maximum(c->b, x, low), high));
}

/* ExpFusion(base scale shift): base^(scale x + shift), base -1 standing for e. */
static sp_status exponential(sp_tflite_call *c)
{
    const double base = sp__lite_float(c, 0), scale = sp__lite_float(c, 1), shift = sp__lite_float(c, 2),
                 factor = base == -1 ? 1 : log(base);
    sp_tensor *x = c->in[0];
    SP_CHECK(base == -1 || base > 0, SP_FORMAT, "base %g", base);
    if (scale * factor != 1) x = sp__mul_number(c->b, x, scale * factor);
    if (shift != 0) x = sp__add_number(c->b, x, shift * factor);
    return sp__tflite_return(c, sp_exp(c->b, x));
}

/* PowFusion(scale shift): (shift + scale x)^y. */
static sp_status power(sp_tflite_call *c)
{
    const double scale = sp__lite_float(c, 0), shift = sp__lite_float(c, 1);
    sp_tensor *x = c->in[0];
    if (scale != 1) x = sp__mul_number(c->b, x, scale);
    if (shift != 0) x = sp__add_number(c->b, x, shift);
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "pow", x, c->in[1], NULL));
}

/* --- two operands ------------------------------------------------------------------------------------------------ */

/* AddFusion(activation_type) and its kin. */
static sp_status binary(sp_tflite_call *c)
{
    sp_tensor *y = SP_TFLITE_OP2(c, c->node->handler->detail, c->in[0], c->in[1], NULL);
    return sp__tflite_return(c, sp__lite_activate(c, y, sp__lite_int(c, 0), 0));
}

/* Integers are divided towards zero. */
static sp_status divide(sp_tflite_call *c)
{
    const bool real = sp_dtype_kind(sp_tensor_dtype(c->in[0])) == 'f';
    sp_tensor *y = SP_TFLITE_OP2(c, real ? "div" : "trunc_div", c->in[0], c->in[1], NULL);
    return sp__tflite_return(c, sp__lite_activate(c, y, c->node->handler->code == 47 ? sp__lite_int(c, 0) : 0, 0));
}

static sp_status modulo(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "trunc_mod", c->in[0], c->in[1], NULL));
}

/* Eltwise(mode): products, sums, maxima of all inputs. */
static sp_status eltwise(sp_tflite_call *c)
{
    static const char *const ops[] = {"mul", "add", "maximum"};
    const int64_t mode = sp__lite_int(c, 0);
    SP_CHECK(mode >= 0 && mode < 3, SP_FORMAT, "mode %lld; it must be 0 (product), 1 (sum) or 2 (maximum)",
             (long long)mode);
    sp_tensor *y = c->in[0];
    for (int i = 1; i < c->n_in; i++) y = SP_TFLITE_OP2(c, ops[mode], y, c->in[i], NULL);
    return sp__tflite_return(c, y);
}

static sp_status ones_like(sp_tflite_call *c)
{
    return sp__tflite_return(
        c, sp_broadcast_to(c->b, sp__const(c->b, 1, c->in[0]), sp__tflite_rank(c, 0), sp_tensor_dims(c->in[0])));
}

/* --- along axes -------------------------------------------------------------------------------------------------- */

/* The axis of a list of one, in the layout at hand. */
static sp_status listed_axis(sp_tflite_call *c, int field, int64_t missing, int *out)
{
    const sp_tflite_longs list = sp__lite_list(c, field);
    return sp__tflite_axis(c, list.n > 0 ? list.v[0] : missing, sp__tflite_rank(c, 0), out);
}

static sp_status softmax(sp_tflite_call *c)
{
    int axis = 0;
    SP_TRY(listed_axis(c, 0, -1, &axis));
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "softmax", c->in[0], "axis=(%d,)", axis));
}

static sp_status log_softmax(sp_tflite_call *c)
{
    int axis = 0;
    SP_TRY(sp__tflite_axis(c, sp__lite_int(c, 0), sp__tflite_rank(c, 0), &axis));
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "log_softmax", c->in[0], "axis=(%d,)", axis));
}

/* GLU(axis): the first half times the sigmoid of the second. */
static sp_status glu(sp_tflite_call *c)
{
    int axis = 0;
    SP_TRY(sp__tflite_axis(c, sp__lite_int(c, 0), sp__tflite_rank(c, 0), &axis));
    const int64_t n = sp__tflite_dim(c, 0, axis) / 2;
    SP_CHECK(2 * n == sp__tflite_dim(c, 0, axis), SP_VALUE, "axis %d has %lld elements, an even number is needed", axis,
             (long long)sp__tflite_dim(c, 0, axis));
    sp_tensor *gate = sp_sigmoid(c->b, sp__take_range(c->b, c->in[0], axis, n, n));
    return sp__tflite_return(c, sp_mul(c->b, sp__take_range(c->b, c->in[0], axis, 0, n), gate));
}

/* L2NormalizeFusion(axis epsilon activation_type): x / sqrt(max(sum of squares, epsilon)). */
static sp_status l2_normalize(sp_tflite_call *c)
{
    int64_t axes[SP_RANK_MAX];
    const sp_tflite_longs list = sp__lite_list(c, 0);
    const int rank = sp__tflite_rank(c, 0), n = list.n > 0 ? list.n : rank > 0 ? 1 : 0;
    SP_CHECK(n <= rank, SP_FORMAT, "%d axes of a tensor of rank %d", n, rank);
    for (int i = 0; i < n; i++) {
        int axis = 0;
        SP_TRY(sp__tflite_axis(c, list.n > 0 ? list.v[i] : -1, rank, &axis));
        axes[i] = axis;
    }
    sp_tensor *x = c->in[0], *sum = sp_reduce_sum(c->b, sp_square(c->b, x), n, axes, true);
    sp_tensor *y = sp_mul(c->b, x, sp_rsqrt(c->b, sp_maximum(c->b, sum, sp__const(c->b, sp__lite_float(c, 1), x))));
    return sp__tflite_return(c, sp__lite_activate(c, y, sp__lite_int(c, 2), 0));
}

/* LpNormalization(axis p) */
static sp_status lp_normalize(sp_tflite_call *c)
{
    int axis = 0;
    const int64_t p = sp__lite_int(c, 1);
    SP_TRY(sp__tflite_axis(c, sp__lite_int(c, 0), sp__tflite_rank(c, 0), &axis));
    SP_CHECK(p == 1 || p == 2, SP_FORMAT, "p is %lld; it must be 1 or 2", (long long)p);
    sp_tensor *x = c->in[0],
              *norm = sp_reduce_sum(c->b, p == 1 ? sp_abs(c->b, x) : sp_square(c->b, x), 1, (int64_t[]){axis}, true);
    return sp__tflite_return(c, sp_div(c->b, x, p == 1 ? norm : sp_sqrt(c->b, norm)));
}

enum {
    REDUCE_MEAN,
    REDUCE_MAX,
    REDUCE_MIN,
    REDUCE_PROD,
    REDUCE_SUM,
    REDUCE_SQUARES,
    REDUCE_ABS,
    REDUCE_ALL,
    REDUCE_L2,
    REDUCE_MODES
};

/* ReduceFusion(keep_dims mode reduce_to_end coeff), axes as input 1; none: all. */
static sp_status reduce(sp_tflite_call *c)
{
    static const char *const ops[REDUCE_MODES] = {"reduce_mean", "reduce_max", "reduce_min",
                                                  "reduce_prod", "reduce_sum", "reduce_sum",
                                                  "reduce_sum",  "reduce_all", "reduce_sum"};
    sp_tflite_ints axes = {.n = 0};
    sp_tflite_text text;
    const int rank = sp__tflite_rank(c, 0);
    const int64_t mode = sp__lite_int(c, 1);
    const double coeff = sp__lite_float(c, 3);
    uint32_t gone = 0;
    int axis = 0;
    SP_CHECK(mode >= 0 && mode < REDUCE_MODES, SP_FORMAT, "mode %lld; 0 to %d are possible", (long long)mode,
             REDUCE_MODES - 1);
    SP_TRY(sp__lite_ints(c, 1, -1, &axes));
    for (int i = 0; i < axes.n; i++) {
        SP_TRY(sp__shape_axis(axes.v[i], rank, "axis", &axis));
        gone |= 1u << axis;
    }
    if (axes.n == 0) gone = (1u << rank) - 1;
    if (sp__lite_int(c, 2) && axes.n == 1) gone = ((1u << rank) - 1) & ~((1u << axis) - 1);
    for (int k = axes.n = 0; k < rank; k++)
        if (gone >> k & 1) axes.v[axes.n++] = k;
    sp_tensor *x = c->in[0];
    if (mode == REDUCE_SQUARES || mode == REDUCE_L2) x = sp_square(c->b, x);
    if (mode == REDUCE_ABS) x = sp_abs(c->b, x);
    sp_tensor *y = axes.n == 0
                       ? sp_identity(c->b, x)
                       : SP_TFLITE_OP1(c, ops[mode], x, "axis=%s, keepdims=%s", sp__tflite_list(&text, axes.n, axes.v),
                                       sp__lite_int(c, 0) ? "True" : "False");
    if (mode == REDUCE_L2) y = sp_sqrt(c->b, y);
    if (y != NULL && mode != REDUCE_ALL && sp_tensor_dtype(y) != sp_tensor_dtype(c->in[0]))
        y = sp_cast(c->b, y, sp_tensor_dtype(c->in[0]));
    if (coeff != 1 && coeff != 0 && sp_dtype_kind(sp_tensor_dtype(c->in[0])) == 'f') y = sp__mul_number(c->b, y, coeff);
    return sp__tflite_return(c, y);
}

/* All(keep_dims), axes as input 1. */
static sp_status all(sp_tflite_call *c)
{
    sp_tflite_ints axes = {.n = 0};
    sp_tflite_text text;
    SP_TRY(sp__lite_ints(c, 1, -1, &axes));
    if (axes.n == 0)
        return sp__tflite_return(
            c, SP_TFLITE_OP1(c, "reduce_all", c->in[0], "keepdims=%s", sp__lite_int(c, 0) ? "True" : "False"));
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "reduce_all", c->in[0], "axis=%s, keepdims=%s",
                                              sp__tflite_list(&text, axes.n, axes.v),
                                              sp__lite_int(c, 0) ? "True" : "False"));
}

/* ArgMaxFusion(axis top_k keep_dims out_max_value) */
static sp_status arg(sp_tflite_call *c)
{
    int axis = 0;
    int64_t dims[SP_RANK_MAX];
    const int rank = sp__tflite_rank(c, 0);
    const int64_t k = sp__lite_int(c, 1) > 0 ? sp__lite_int(c, 1) : 1;
    const bool largest = strcmp(c->node->handler->detail, "max") == 0, value = sp__lite_int(c, 3) != 0;
    sp_tensor *both[2] = {NULL};
    SP_TRY(sp__shape_axis(sp__lite_int(c, 0), rank, "axis", &axis));
    SP_TRY(sp__tflite_op_many(c, "topk", 1, c->in, 2, both, "k=%lld, axis=%d, largest=%s, indices=int32", (long long)k,
                              axis, largest ? "True" : "False"));
    int n = 0;
    for (int i = 0; i < rank; i++)
        if (i != axis || sp__lite_int(c, 2) || k > 1) dims[n++] = i == axis ? k : sp__tflite_dim(c, 0, i);
    for (int i = 0; i < c->n_out && i < 2; i++) c->out[i] = sp_reshape(c->b, both[(value ? 0 : 1) ^ (i > 0)], n, dims);
    return sp_builder_status(c->b);
}

/* TopKFusion(sorted axis largest), k as input 1. */
static sp_status top_k(sp_tflite_call *c)
{
    int64_t k = 0;
    int axis = 0;
    sp_tensor *both[2] = {NULL};
    SP_TRY(sp__tflite_one_int(c, 1, &k));
    const int64_t at = sp__lite_int(c, 1) != 0 ? sp__lite_int(c, 1) : -1; /* files that do not say it mean the last */
    SP_TRY(sp__shape_axis(at, sp__tflite_rank(c, 0), "axis", &axis));
    SP_TRY(sp__tflite_op_many(c, "topk", 1, c->in, 2, both, "k=%lld, axis=%d, indices=int32", (long long)k, axis));
    c->out[0] = both[0];
    if (c->n_out > 1) c->out[1] = both[1];
    return sp_builder_status(c->b);
}

/* --- quantisation ------------------------------------------------------------------------------------------------ */

/* DynamicQuant(symmetric dst_type activation_channel ..): what the integers that it makes stand for. Products of them are computed with these numbers. */
static sp_status dynamic_quant(sp_tflite_call *c)
{
    sp_tensor *x = c->in[0], *zero = sp__const(c->b, 0, x);
    SP_CHECK(!sp__lite_int(c, 2), SP_DECLINED,
             "quantisation with a scale for each channel of the input is not supported");
    sp_tensor *one = sp__tflite_scalar(c, SP_DTYPE_F32, 1), *low, *high, *scale, *q;
    if (sp__lite_int(c, 0)) {
        scale = sp__mul_number(c->b, sp_reduce_max(c->b, sp_abs(c->b, x), 0, NULL, false), 1 / 127.0);
        scale = sp_select(c->b, sp_equal(c->b, scale, zero), one, scale);
        return sp__tflite_return(c, sp_mul(c->b, sp_round(c->b, sp_div(c->b, x, scale)), scale));
    }
    low = sp_minimum(c->b, SP_TFLITE_OP1(c, "reduce_min", x, NULL), zero);
    high = sp_maximum(c->b, SP_TFLITE_OP1(c, "reduce_max", x, NULL), zero);
    scale = sp__mul_number(c->b, sp_sub(c->b, high, low), 1 / 255.0);
    scale = sp_select(c->b, sp_equal(c->b, scale, zero), one, scale);
    sp_tensor *shift = sp_round(c->b, sp__add_number(c->b, sp_neg(c->b, sp_div(c->b, low, scale)), -128));
    q = sp_add(c->b, sp_round(c->b, sp_div(c->b, x, scale)), shift);
    q = sp_minimum(c->b, sp_maximum(c->b, q, sp__const(c->b, -128, x)), sp__const(c->b, 127, x));
    return sp__tflite_return(c, sp_mul(c->b, sp_sub(c->b, q, shift), scale));
}

#define EACH (SP_TFLITE_REAL | SP_TFLITE_ANY)
#define AXES (SP_TFLITE_REAL | SP_TFLITE_AXES)
const sp_tflite_handler sp__lite_math[] = {
    {2, "Activation", activation, NULL, EACH, 1, -1},
    {5, "AddFusion", binary, "add", EACH, 2, -1},
    {99, "MulFusion", binary, "mul", EACH, 2, -1},
    {152, "SubFusion", binary, "sub", EACH, 2, -1},
    {47, "DivFusion", divide, NULL, EACH, 2, -1},
    {117, "RealDiv", divide, NULL, EACH, 2, -1},
    {98, "Mod", modulo, NULL, EACH, 2, -1},
    {52, "Eltwise", eltwise, NULL, EACH, 1, -1},
    {51, "Elu", elu, NULL, EACH, 1, -1},
    {76, "LeakyRelu", leaky_relu, NULL, EACH, 1, -1},
    {112, "PReLUFusion", sp__tflite_prelu, NULL, EACH, 2, -1},
    {30, "Clip", clip, NULL, EACH, 1, -1},
    {55, "ExpFusion", exponential, NULL, EACH, 1, -1},
    {110, "PowFusion", power, NULL, EACH, 2, -1},
    {116, "Reciprocal", sp__tflite_unary, "reciprocal", EACH, 1, -1},
    {178, "Erf", sp__tflite_unary, "erf", EACH, 1, -1},
    {180, "IsFinite", sp__tflite_unary, "isfinite", EACH, 1, -1},
    {212, "Log1p", sp__tflite_unary, "log1p", EACH, 1, -1},
    {106, "OnesLike", ones_like, NULL, SP_TFLITE_MOVE | SP_TFLITE_ANY, 1, -1},
    {113, "QuantDTypeCast", same, NULL, EACH, 1, -1},
    {44, "Depend", same, NULL, SP_TFLITE_MOVE | SP_TFLITE_ANY, 1, -1},
    {49, "Dropout", same, NULL, EACH, 1, -1},
    {203, "DynamicQuant", dynamic_quant, NULL, SP_TFLITE_MOVE, 1, -1},
    {138, "Softmax", softmax, NULL, AXES, 1, -1},
    {189, "LogSoftmax", log_softmax, NULL, AXES, 1, -1},
    {196, "GLU", glu, NULL, AXES, 1, -1},
    {88, "L2NormalizeFusion", l2_normalize, NULL, AXES, 1, -1},
    {84, "LpNormalization", lp_normalize, NULL, AXES, 1, -1},
    {118, "ReduceFusion", reduce, NULL, SP_TFLITE_REAL, 1, -1},
    {9, "All", all, NULL, SP_TFLITE_MOVE, 1, -1},
    {11, "ArgMaxFusion", arg, "max", SP_TFLITE_MOVE, 1, -1},
    {12, "ArgMinFusion", arg, "min", SP_TFLITE_MOVE, 1, -1},
    {161, "TopKFusion", top_k, NULL, SP_TFLITE_MOVE, 2, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
