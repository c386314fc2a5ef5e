/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out_math.c - rules of operators that work on elements, and of reductions. */
#include <math.h>
#include <string.h>

#include "formats/mindir/mindir_out.h"

/* x * 0.5 * (1 + erf(x / sqrt(2))) */
static void write_gelu(mo_out *o)
{
    const sp_meta *m = sp__mo_result(o);
    mo x = sp__mo_in(o, 0), root = sp__mo_scalar(o, m->dtype, 0.70710678118654752), one = sp__mo_scalar(o, m->dtype, 1);
    mo e = SP_MO(o, "Erf", NULL, m, SP_MO(o, "Mul", NULL, m, x, root));
    mo sum = SP_MO(o, "Add", NULL, m, e, one), part = SP_MO(o, "Mul", NULL, m, x, sp__mo_scalar(o, m->dtype, 0.5));
    SP_MO_GIVE(o, "Mul", NULL, part, sum);
}

/* The larger of x and alpha * x; the smaller when the slope is steeper than 1. */
static void write_leaky_relu(mo_out *o)
{
    const sp_meta *m = sp__mo_result(o);
    double alpha = sp__mo_attr_float(o->node, "alpha");
    mo x = sp__mo_in(o, 0), scaled = SP_MO(o, "Mul", NULL, m, x, sp__mo_scalar(o, m->dtype, alpha));
    SP_MO_GIVE(o, alpha <= 1 ? "Maximum" : "Minimum", NULL, scaled, x);
}

/* MindSpore's Elu has the slope 1 only: max(x, 0) + alpha * (exp(min(x, 0)) - 1) */
static void write_elu(mo_out *o)
{
    const sp_meta *m = sp__mo_result(o);
    mo x = sp__mo_in(o, 0), zero = sp__mo_scalar(o, m->dtype, 0),
       alpha = sp__mo_scalar(o, m->dtype, sp__mo_attr_float(o->node, "alpha"));
    mo below = SP_MO(o, "Expm1", NULL, m, SP_MO(o, "Minimum", NULL, m, x, zero));
    SP_MO_GIVE(o, "Add", NULL, SP_MO(o, "Maximum", NULL, m, x, zero), SP_MO(o, "Mul", NULL, m, below, alpha));
}

static void write_is_infinite(mo_out *o)
{
    bool positive = !strcmp(o->node->op->name, "isposinf");
    SP_MO_GIVE(o, "Equal", NULL, sp__mo_in(o, 0),
               sp__mo_scalar(o, sp__mo_meta(o, 0)->dtype, positive ? INFINITY : -INFINITY));
}

static bool slope_1(const sp_node *n) { return sp__mo_attr_float(n, "alpha") == 1; }
static bool beta_1(const sp_node *n) { return sp__mo_attr_float(n, "beta") == 1; }

static void write_softmax(mo_out *o)
{
    bool log = !strcmp(o->node->op->name, "log_softmax");
    sp_ints axis = sp__mo_attr_list(o->node, "axis");
    sp_meta m;
    mo in[2] = {sp__mo_lift(o, &m)};
    in[1] = log ? sp__mo_int(o, axis.n > 0 ? axis.v[0] : -1) : sp__mo_ints(o, axis.n, axis.v);
    sp__mo_give_lifted(o, log ? "LogSoftmax" : "Softmax", NULL, 2, in);
}

/* Not normalised, either way: 0 stands for "backward", 1 for "forward". */
static void write_fft(mo_out *o)
{
    bool inverse = sp__mo_attr_int(o->node, "inverse");
    SP_MO_GIVE(o, inverse ? "IFFT" : "FFT", NULL, sp__mo_in(o, 0), sp__mo_none(o), sp__mo_attr(o, "axis"),
               sp__mo_int(o, inverse ? 1 : 0));
}

/* Operands in the shape of the result, for primitives that do not broadcast. */
static void write_broadcast(mo_out *o)
{
    const sp_meta *m = sp__mo_result(o);
    mo in[2];
    for (int i = 0; i < 2; i++) {
        sp_meta spread = *m;
        spread.dtype = sp__mo_meta(o, i)->dtype;
        in[i] = sp__mo_in(o, i);
        if (!sp__shape_equal(m->rank, m->dims, sp__mo_meta(o, i)->rank, sp__mo_meta(o, i)->dims))
            in[i] = SP_MO(o, "BroadcastTo", NULL, &spread, in[i], sp__mo_ints(o, m->rank, m->dims));
    }
    sp__mo_give(o, o->node->op->mindir, NULL, 2, in);
}

static bool is_fixed(const sp_node *n) { return sp__meta_known(&n->out[0]->meta); }

static bool one_axis(const sp_node *n) { return sp__mo_attr_list(n, "axis").n <= 1; }

/* --- random numbers ---------------------------------------------------------------------------------------------- */

/* Numbers of a generator, times a factor, plus a number; MindSpore's generators make float32. */
static void write_random(mo_out *o, const char *type, double factor, double plus)
{
    const sp_meta *m = sp__mo_result(o);
    sp_meta wide = *m;
    wide.dtype = SP_DTYPE_F32;
    mo x = SP_MO(o, type, "seed=0, seed2=0, side_effect_hidden=True", &wide, sp__mo_sizes(o));
    x = SP_MO(o, "Mul", NULL, &wide, x, sp__mo_scalar(o, SP_DTYPE_F32, factor));
    if (m->dtype == SP_DTYPE_F32) {
        SP_MO_GIVE(o, "Add", NULL, x, sp__mo_scalar(o, SP_DTYPE_F32, plus));
        return;
    }
    x = SP_MO(o, "Add", NULL, &wide, x, sp__mo_scalar(o, SP_DTYPE_F32, plus));
    SP_MO_GIVE(o, "Cast", NULL, x, sp__mo_int(o, sp__mo_type_number(m->dtype)));
}

static void write_random_uniform(mo_out *o)
{
    const double low = sp__mo_attr_float(o->node, "low");
    write_random(o, "UniformReal", sp__mo_attr_float(o->node, "high") - low, low);
}

static void write_random_normal(mo_out *o)
{
    write_random(o, "StandardNormal", sp__mo_attr_float(o->node, "std"), sp__mo_attr_float(o->node, "mean"));
}

const mo_rule sp__mo_math[] = {
    SP_MO_CODE("random_uniform", write_random_uniform),
    SP_MO_CODE("random_normal", write_random_normal),
    SP_MO_TEXT("div", "Div(x, y)"),
    SP_MO_TEXT("cast", "Cast(x, dtype)"),
    SP_MO_TEXT("select", "Select(condition, x, y)"),
    SP_MO_TEXT("select_same", "Select(condition, x, y)"),
    SP_MO_TEXT("gelu_tanh", "GeLU(x)"),
    SP_MO_CODE("gelu", write_gelu),
    SP_MO_CODE("leaky_relu", write_leaky_relu),
    SP_MO_TEXT_IF("elu", "Elu(x, alpha)", slope_1),
    SP_MO_CODE("elu", write_elu),
    SP_MO_TEXT("celu", "CeLU(x, alpha)"),
    SP_MO_CODE_IF("isposinf", write_is_infinite, sp__mo_floats),
    SP_MO_CODE_IF("isneginf", write_is_infinite, sp__mo_floats),
    SP_MO_TEXT_IF("softplus", "Softplus(x)", beta_1),
    SP_MO_CODE_IF("softmax", write_softmax, one_axis),
    SP_MO_CODE_IF("log_softmax", write_softmax, one_axis),
    SP_MO_CODE_IF("complex", write_broadcast, is_fixed),
    SP_MO_CODE("fft", write_fft),
    SP_MO_CODE_IF("nextafter", write_broadcast, is_fixed),
    SP_MO_TEXT("round", "Round(x, 0)"),
    SP_MO_TEXT_IF("floor", "Floor(x)", sp__mo_floats),
    SP_MO_TEXT_IF("ceil", "Ceil(x)", sp__mo_floats),
    SP_MO_TEXT_IF("isinf", "IsInf(x)", sp__mo_floats),
    SP_MO_NEVER("logsigmoid"),
    SP_MO_NEVER("exp2"),
    SP_MO_NEVER("log2"),
    SP_MO_NEVER("log10"),
    SP_MO_NEVER("fmin"),
    SP_MO_NEVER("frac"),
    SP_MO_NEVER("zeta"),
    SP_MO_NEVER("bitwise_left_shift"),
    SP_MO_NEVER("bitwise_right_shift"),
    SP_MO_TEXT("reduce_mean", "ReduceMean(x, axis, keepdims)"),
    SP_MO_TEXT("reduce_sum", "ReduceSum(x, axis, keepdims, False)"),
    SP_MO_TEXT("reduce_max", "ReduceMax(x, axis, keepdims)"),
    SP_MO_TEXT("reduce_min", "ReduceMin(x, axis, keepdims)"),
    SP_MO_TEXT("reduce_prod", "ReduceProd(x, axis, keepdims)"),
    SP_MO_TEXT("reduce_all", "ReduceAll(x, axis, keepdims)"),
    SP_MO_TEXT("reduce_any", "ReduceAny(x, axis, keepdims)"),
    SP_MO_TEXT("argmax", "Argmax(x, axis, dtype)"),
    SP_MO_TEXT("argmin", "Argmin(x, axis, dtype)"),
    SP_MO_TEXT("max_with_index", "ArgMaxWithValue(x, axis, keepdims)"),
    SP_MO_TEXT("min_with_index", "ArgMinWithValue(x, axis, keepdims)"),
    {.op = NULL},
};
