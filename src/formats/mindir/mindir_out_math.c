/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out_math.c - rules of operators that work on elements, and of reductions. */
#include <math.h>
#include <string.h>

#include "formats/mindir/mindir_out.h"

/* x * 0.5 * (1 + erf(x / sqrt(2))) */
static void write_gelu(sp_mindir_out *o)
{
    const sp_meta *m = sp__mindir_out_result(o);
    sp_mindir_id x = sp__mindir_out_in(o, 0), root = sp__mindir_out_scalar(o, m->dtype, 0.70710678118654752),
                 one = sp__mindir_out_scalar(o, m->dtype, 1);
    sp_mindir_id e = SP_MINDIR_OUT(o, "Erf", NULL, m, SP_MINDIR_OUT(o, "Mul", NULL, m, x, root));
    sp_mindir_id sum = SP_MINDIR_OUT(o, "Add", NULL, m, e, one),
                 part = SP_MINDIR_OUT(o, "Mul", NULL, m, x, sp__mindir_out_scalar(o, m->dtype, 0.5));
    SP_MINDIR_OUT_GIVE(o, "Mul", NULL, part, sum);
}

/* The larger of x and alpha * x; the smaller when the slope is steeper than 1. */
static void write_leaky_relu(sp_mindir_out *o)
{
    const sp_meta *m = sp__mindir_out_result(o);
    double alpha = sp__mindir_out_attr_float(o->node, "alpha");
    sp_mindir_id x = sp__mindir_out_in(o, 0),
                 scaled = SP_MINDIR_OUT(o, "Mul", NULL, m, x, sp__mindir_out_scalar(o, m->dtype, alpha));
    SP_MINDIR_OUT_GIVE(o, alpha <= 1 ? "Maximum" : "Minimum", NULL, scaled, x);
}

/* MindSpore's Elu has the slope 1 only: max(x, 0) + alpha * (exp(min(x, 0)) - 1) */
static void write_elu(sp_mindir_out *o)
{
    const sp_meta *m = sp__mindir_out_result(o);
    sp_mindir_id x = sp__mindir_out_in(o, 0), zero = sp__mindir_out_scalar(o, m->dtype, 0),
                 alpha = sp__mindir_out_scalar(o, m->dtype, sp__mindir_out_attr_float(o->node, "alpha"));
    sp_mindir_id below = SP_MINDIR_OUT(o, "Expm1", NULL, m, SP_MINDIR_OUT(o, "Minimum", NULL, m, x, zero));
    SP_MINDIR_OUT_GIVE(o, "Add", NULL, SP_MINDIR_OUT(o, "Maximum", NULL, m, x, zero),
                       SP_MINDIR_OUT(o, "Mul", NULL, m, below, alpha));
}

static void write_is_infinite(sp_mindir_out *o)
{
    bool positive = o->node->op == &sp_op_isposinf;
    SP_MINDIR_OUT_GIVE(o, "Equal", NULL, sp__mindir_out_in(o, 0),
                       sp__mindir_out_scalar(o, sp__mindir_out_meta(o, 0)->dtype, positive ? INFINITY : -INFINITY));
}

static bool slope_1(const sp_node *n) { return sp__mindir_out_attr_float(n, "alpha") == 1; }
static bool beta_1(const sp_node *n) { return sp__mindir_out_attr_float(n, "beta") == 1; }

static void write_softmax(sp_mindir_out *o)
{
    bool log = o->node->op == &sp_op_log_softmax;
    sp_ints axis = sp__mindir_out_attr_list(o->node, "axis");
    sp_meta m;
    sp_mindir_id in[2] = {sp__mindir_out_lift(o, &m)};
    in[1] = log ? sp__mindir_out_int(o, axis.n > 0 ? axis.v[0] : -1) : sp__mindir_out_ints(o, axis.n, axis.v);
    sp__mindir_out_give_lifted(o, log ? "LogSoftmax" : "Softmax", NULL, 2, in);
}

/* Not normalised, either way: 0 stands for "backward", 1 for "forward". */
static void write_fft(sp_mindir_out *o)
{
    bool inverse = sp__mindir_out_attr_int(o->node, "inverse");
    SP_MINDIR_OUT_GIVE(o, inverse ? "IFFT" : "FFT", NULL, sp__mindir_out_in(o, 0), sp__mindir_out_none(o),
                       sp__mindir_out_attr(o, "axis"), sp__mindir_out_int(o, inverse ? 1 : 0));
}

/* Operands in the shape of the result, for primitives that do not broadcast. */
static void write_broadcast(sp_mindir_out *o)
{
    const sp_meta *m = sp__mindir_out_result(o);
    sp_mindir_id in[2];
    for (int i = 0; i < 2; i++) {
        sp_meta spread = *m;
        spread.dtype = sp__mindir_out_meta(o, i)->dtype;
        in[i] = sp__mindir_out_in(o, i);
        if (!sp__shape_equal(m->rank, m->dims, sp__mindir_out_meta(o, i)->rank, sp__mindir_out_meta(o, i)->dims))
            in[i] = SP_MINDIR_OUT(o, "BroadcastTo", NULL, &spread, in[i], sp__mindir_out_ints(o, m->rank, m->dims));
    }
    sp__mindir_out_give(o, o->node->op->mindir, NULL, 2, in);
}

static bool is_fixed(const sp_node *n) { return sp__meta_known(&n->out[0]->meta); }

static bool one_axis(const sp_node *n) { return sp__mindir_out_attr_list(n, "axis").n <= 1; }

/* --- random numbers ---------------------------------------------------------------------------------------------- */

/* Numbers of a generator, times a factor, plus a number; MindSpore's generators make float32. */
static void write_random(sp_mindir_out *o, const char *type, double factor, double plus)
{
    const sp_meta *m = sp__mindir_out_result(o);
    sp_meta wide = *m;
    wide.dtype = SP_DTYPE_F32;
    sp_mindir_id x = SP_MINDIR_OUT(o, type, "seed=0, seed2=0, side_effect_hidden=True", &wide, sp__mindir_out_sizes(o));
    x = SP_MINDIR_OUT(o, "Mul", NULL, &wide, x, sp__mindir_out_scalar(o, SP_DTYPE_F32, factor));
    if (m->dtype == SP_DTYPE_F32) {
        SP_MINDIR_OUT_GIVE(o, "Add", NULL, x, sp__mindir_out_scalar(o, SP_DTYPE_F32, plus));
        return;
    }
    x = SP_MINDIR_OUT(o, "Add", NULL, &wide, x, sp__mindir_out_scalar(o, SP_DTYPE_F32, plus));
    SP_MINDIR_OUT_GIVE(o, "Cast", NULL, x, sp__mindir_out_int(o, sp__mindir_out_type_number(m->dtype)));
}

static void write_random_uniform(sp_mindir_out *o)
{
    const double low = sp__mindir_out_attr_float(o->node, "low");
    write_random(o, "UniformReal", sp__mindir_out_attr_float(o->node, "high") - low, low);
}

static void write_random_normal(sp_mindir_out *o)
{
    write_random(o, "StandardNormal", sp__mindir_out_attr_float(o->node, "std"),
                 sp__mindir_out_attr_float(o->node, "mean"));
}

const sp_mindir_out_rule sp__mindir_out_math[] = {
    SP_MINDIR_OUT_CODE("random_uniform", write_random_uniform),
    SP_MINDIR_OUT_CODE("random_normal", write_random_normal),
    SP_MINDIR_OUT_TEXT("div", "Div(x, y)"),
    SP_MINDIR_OUT_TEXT("cast", "Cast(x, dtype)"),
    SP_MINDIR_OUT_TEXT("select", "Select(condition, x, y)"),
    SP_MINDIR_OUT_TEXT("select_same", "Select(condition, x, y)"),
    SP_MINDIR_OUT_TEXT("gelu_tanh", "GeLU(x)"),
    SP_MINDIR_OUT_CODE("gelu", write_gelu),
    SP_MINDIR_OUT_CODE("leaky_relu", write_leaky_relu),
    SP_MINDIR_OUT_TEXT_IF("elu", "Elu(x, alpha)", slope_1),
    SP_MINDIR_OUT_CODE("elu", write_elu),
    SP_MINDIR_OUT_TEXT("celu", "CeLU(x, alpha)"),
    SP_MINDIR_OUT_CODE_IF("isposinf", write_is_infinite, sp__mindir_out_floats),
    SP_MINDIR_OUT_CODE_IF("isneginf", write_is_infinite, sp__mindir_out_floats),
    SP_MINDIR_OUT_TEXT_IF("softplus", "Softplus(x)", beta_1),
    SP_MINDIR_OUT_CODE_IF("softmax", write_softmax, one_axis),
    SP_MINDIR_OUT_CODE_IF("log_softmax", write_softmax, one_axis),
    SP_MINDIR_OUT_CODE_IF("complex", write_broadcast, is_fixed),
    SP_MINDIR_OUT_CODE("fft", write_fft),
    SP_MINDIR_OUT_CODE_IF("nextafter", write_broadcast, is_fixed),
    SP_MINDIR_OUT_TEXT("round", "Round(x, 0)"),
    SP_MINDIR_OUT_TEXT_IF("floor", "Floor(x)", sp__mindir_out_floats),
    SP_MINDIR_OUT_TEXT_IF("ceil", "Ceil(x)", sp__mindir_out_floats),
    SP_MINDIR_OUT_TEXT_IF("isinf", "IsInf(x)", sp__mindir_out_floats),
    SP_MINDIR_OUT_NEVER("logsigmoid"),
    SP_MINDIR_OUT_NEVER("exp2"),
    SP_MINDIR_OUT_NEVER("log2"),
    SP_MINDIR_OUT_NEVER("log10"),
    SP_MINDIR_OUT_NEVER("fmin"),
    SP_MINDIR_OUT_NEVER("frac"),
    SP_MINDIR_OUT_NEVER("zeta"),
    SP_MINDIR_OUT_NEVER("bitwise_left_shift"),
    SP_MINDIR_OUT_NEVER("bitwise_right_shift"),
    SP_MINDIR_OUT_TEXT("reduce_mean", "ReduceMean(x, axis, keepdims)"),
    SP_MINDIR_OUT_TEXT("reduce_sum", "ReduceSum(x, axis, keepdims, False)"),
    SP_MINDIR_OUT_TEXT("reduce_max", "ReduceMax(x, axis, keepdims)"),
    SP_MINDIR_OUT_TEXT("reduce_min", "ReduceMin(x, axis, keepdims)"),
    SP_MINDIR_OUT_TEXT("reduce_prod", "ReduceProd(x, axis, keepdims)"),
    SP_MINDIR_OUT_TEXT("reduce_all", "ReduceAll(x, axis, keepdims)"),
    SP_MINDIR_OUT_TEXT("reduce_any", "ReduceAny(x, axis, keepdims)"),
    SP_MINDIR_OUT_TEXT("argmax", "Argmax(x, axis, dtype)"),
    SP_MINDIR_OUT_TEXT("argmin", "Argmin(x, axis, dtype)"),
    SP_MINDIR_OUT_TEXT("max_with_index", "ArgMaxWithValue(x, axis, keepdims)"),
    SP_MINDIR_OUT_TEXT("min_with_index", "ArgMinWithValue(x, axis, keepdims)"),
    {.op = NULL},
};
