/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_math.c - ONNX operators that work element by element or reduce: arithmetic, comparisons, activations, sums. */
#include <math.h>

#include "formats/onnx/onnx_model.h"
#include "spore/graph.h"

/* --- element-wise ------------------------------------------------------------------------------------------------ */

static sp_status unary(sp_onnx_call *c)
{
    return sp__onnx_return(c, SP_ONNX_OP1(c, c->node->handler->detail, c->in[0], NULL));
}

/* Opset 1 to 6: the second operand starts at `axis` of the first. */
static sp_tensor *old_broadcast(sp_onnx_call *c, sp_tensor *x, sp_tensor *y)
{
    if (c->opset >= 7 || !sp__onnx_attr_int(c, "broadcast", 0) || sp__onnx_attr(c, "axis") == NULL) return y;
    int64_t dims[SP_RANK_MAX], axis = sp__onnx_attr_int(c, "axis", 0);
    int rank = sp_tensor_rank(y), total = sp_tensor_rank(x);
    if (axis < 0) axis += total;
    if (axis < 0 || axis + rank > total) return y;
    for (int i = 0; i < rank; i++) dims[i] = sp_tensor_dims(y)[i];
    int n = rank;
    for (; axis + n < total && n < SP_RANK_MAX; n++) dims[n] = 1;
    return sp_reshape(c->b, y, n, dims);
}

static sp_status binary(sp_onnx_call *c)
{
    return sp__onnx_return(
        c, SP_ONNX_OP2(c, c->node->handler->detail, c->in[0], old_broadcast(c, c->in[0], c->in[1]), NULL));
}

static sp_status divide(sp_onnx_call *c)
{
    bool whole = strchr("iu", sp_dtype_kind(sp_tensor_dtype(c->in[0]))) != NULL;
    return sp__onnx_return(
        c, SP_ONNX_OP2(c, whole ? "trunc_div" : "div", c->in[0], old_broadcast(c, c->in[0], c->in[1]), NULL));
}

static sp_status power(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *y = c->in[1];
    bool mixed = sp_tensor_dtype(x) != sp_tensor_dtype(y);
    if (mixed && sp_dtype_kind(sp_tensor_dtype(x)) == 'f') y = sp_cast(c->b, y, sp_tensor_dtype(x));
    return sp__onnx_return(c,
                           sp_cast(c->b, SP_ONNX_OP2(c, "pow", x, old_broadcast(c, x, y), NULL), sp_tensor_dtype(x)));
}

static sp_status modulo(sp_onnx_call *c)
{
    return sp__onnx_return(
        c, SP_ONNX_OP2(c, sp__onnx_attr_int(c, "fmod", 0) ? "trunc_mod" : "floor_mod", c->in[0], c->in[1], NULL));
}

static sp_status shift(sp_onnx_call *c)
{
    bool left = strcmp(sp__onnx_attr_text(c, "direction", "LEFT"), "LEFT") == 0;
    sp_tensor *by = c->in[1];
    if (sp_dtype_kind(sp_tensor_dtype(by)) == 'i') /* a negative shift is a very large one: only the sign is left */
        by = sp_select(c->b, sp_less(c->b, by, sp__const(c->b, 0, by)), sp__const(c->b, 127, by), by);
    return sp__onnx_return(c, SP_ONNX_OP2(c, left ? "bitwise_left_shift" : "bitwise_right_shift", c->in[0], by, NULL));
}

/* Any number of operands, combined one after the other. */
static sp_status many(sp_onnx_call *c)
{
    const char *op = c->node->handler->detail;
    sp_tensor *sum = c->in[0];
    for (int i = 1; i < c->n_in; i++) sum = SP_ONNX_OP2(c, op[0] == '/' ? "add" : op, sum, c->in[i], NULL);
    if (op[0] == '/') sum = SP_ONNX_OP2(c, "div", sum, sp__const(c->b, c->n_in, c->in[0]), NULL);
    else if (c->n_in == 1) sum = sp_identity(c->b, sum);
    return sp__onnx_return(c, sum);
}

static sp_status is_infinite(sp_onnx_call *c)
{
    bool plus = sp__onnx_attr_int(c, "detect_positive", 1), minus = sp__onnx_attr_int(c, "detect_negative", 1);
    if (!plus && !minus)
        return sp__onnx_return(c, sp__full(c->b, 0, SP_DTYPE_BOOL, sp_tensor_rank(c->in[0]), sp_tensor_dims(c->in[0])));
    return sp__onnx_return(c, SP_ONNX_OP1(c, plus && minus ? "isinf" : plus ? "isposinf" : "isneginf", c->in[0], NULL));
}

static sp_status clip(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *low = sp__onnx_in(c, 1), *high = sp__onnx_in(c, 2);
    if (c->opset < 11) {
        const sp_onnx_attr *a = sp__onnx_attr(c, "min"), *b = sp__onnx_attr(c, "max");
        low = a != NULL ? sp__const(c->b, a->f, x) : NULL;
        high = b != NULL ? sp__const(c->b, b->f, x) : NULL;
    }
    double from = -1, to = -1; /* the limits that mobile networks have are one operator */
    bool known = low != NULL && high != NULL && sp_dtype_kind(sp_tensor_dtype(x)) == 'f' && !sp_tensor_is_symbol(low) &&
                 !sp_tensor_is_symbol(high);
    if (known) SP_TRY(sp__onnx_number(low, &from));
    if (known) SP_TRY(sp__onnx_number(high, &to));
    if (known && from == 0 && to == 6) return sp__onnx_return(c, SP_ONNX_OP1(c, "relu6", x, NULL));
    if (low != NULL) x = sp_maximum(c->b, x, low);
    if (high != NULL) x = sp_minimum(c->b, x, high);
    return sp__onnx_return(c, x == c->in[0] ? sp_identity(c->b, x) : x);
}

static sp_status where(sp_onnx_call *c) { return sp__onnx_return(c, sp_select(c->b, c->in[0], c->in[1], c->in[2])); }

/* --- activations ------------------------------------------------------------------------------------------------- */

/* Computed in float32 when the kernel has no smaller floats, and brought back. */
static sp_status with_alpha(sp_onnx_call *c)
{
    static const struct {
        const char *op;
        double alpha;
    } initial[] = {{"leaky_relu", 0.01}, {"elu", 1}, {"celu", 1}};
    double alpha = 1;
    for (int i = 0; i < 3; i++)
        if (strcmp(initial[i].op, c->node->handler->detail) == 0) alpha = initial[i].alpha;
    alpha = sp__onnx_attr_float(c, "alpha", alpha);
    return sp__onnx_return(c, SP_ONNX_OP1(c, c->node->handler->detail, c->in[0], "alpha=%.17g", alpha));
}

static sp_status selu(sp_onnx_call *c)
{
    double alpha = sp__onnx_attr_float(c, "alpha", 1.67326319217681884765625);
    double gamma = sp__onnx_attr_float(c, "gamma", 1.05070102214813232421875);
    return sp__onnx_return(c, sp__mul_number(c->b, SP_ONNX_OP1(c, "elu", c->in[0], "alpha=%.17g", alpha), gamma));
}

static sp_tensor *clamped(sp_onnx_call *c, sp_tensor *x, double low, double high)
{
    return sp_minimum(c->b, sp_maximum(c->b, x, sp__const(c->b, low, x)), sp__const(c->b, high, x));
}

static sp_status hard_sigmoid(sp_onnx_call *c)
{
    double alpha = sp__onnx_attr_float(c, "alpha", 0.2), beta = sp__onnx_attr_float(c, "beta", 0.5);
    return sp__onnx_return(c, clamped(c, sp__add_number(c->b, sp__mul_number(c->b, c->in[0], alpha), beta), 0, 1));
}

static sp_status hard_swish(sp_onnx_call *c)
{
    return sp__onnx_return(c, sp_builder_call(c->b, "hardswish", NULL, 1, c->in));
}

static sp_status gelu(sp_onnx_call *c)
{
    bool tanh_form = strcmp(sp__onnx_attr_text(c, "approximate", "none"), "tanh") == 0;
    return sp__onnx_return(c, SP_ONNX_OP1(c, tanh_form ? "gelu_tanh" : "gelu", c->in[0], NULL));
}

static sp_status swish(sp_onnx_call *c)
{
    double alpha = sp__onnx_attr_float(c, "alpha", 1);
    return sp__onnx_return(c, sp_mul(c->b, c->in[0], sp_sigmoid(c->b, sp__mul_number(c->b, c->in[0], alpha))));
}

static sp_status softplus(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0]; /* max(x, 0) + log(1 + exp(-|x|)) cannot overflow */
    return sp__onnx_return(c,
                           sp_add(c->b, sp_relu(c->b, x), sp_log1p(c->b, sp_exp(c->b, sp_neg(c->b, sp_abs(c->b, x))))));
}

static sp_status softsign(sp_onnx_call *c)
{
    return sp__onnx_return(c, sp_div(c->b, c->in[0], sp__add_number(c->b, sp_abs(c->b, c->in[0]), 1)));
}

static sp_status thresholded_relu(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    double alpha = sp__onnx_attr_float(c, "alpha", 1);
    return sp__onnx_return(c,
                           sp_select(c->b, sp_greater(c->b, x, sp__const(c->b, alpha, x)), x, sp__zeros_like(c->b, x)));
}

static sp_status shrink(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *zero = sp__zeros_like(c->b, x);
    double bias = sp__onnx_attr_float(c, "bias", 0), lambd = sp__onnx_attr_float(c, "lambd", 0.5);
    sp_dtype dtype = sp_tensor_dtype(x);
    sp_tensor *low = sp_less(c->b, x, sp__onnx_scalar(c, SP_DTYPE_F64, -lambd));
    sp_tensor *high = sp_greater(c->b, x, sp__onnx_scalar(c, SP_DTYPE_F64, lambd));
    sp_tensor *shift_by = sp__onnx_scalar(c, SP_DTYPE_F64, bias);
    sp_tensor *up = sp_cast(c->b, sp_add(c->b, x, shift_by), dtype),
              *down = sp_cast(c->b, sp_sub(c->b, x, shift_by), dtype);
    return sp__onnx_return(c, sp_select(c->b, low, up, sp_select(c->b, high, down, zero)));
}

static sp_status prelu(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *slope = c->in[1];
    if (c->opset < 7 && sp_tensor_rank(slope) == 1 && sp_tensor_rank(x) > 2) {
        int64_t dims[SP_RANK_MAX];
        for (int i = 0; i < sp_tensor_rank(x) - 1; i++) dims[i] = i == 0 ? sp_tensor_dims(slope)[0] : 1;
        slope = sp_reshape(c->b, slope, sp_tensor_rank(x) - 1, dims);
    }
    return sp__onnx_return(c, sp_select(c->b, sp_less(c->b, x, sp__const(c->b, 0, x)), sp_mul(c->b, x, slope), x));
}

/* --- softmax and its like ---------------------------------------------------------------------------------------- */

/* Before opset 13 everything from `axis` on was one row. */
static sp_tensor *on_rows(sp_onnx_call *c, sp_tensor *x, int64_t axis)
{
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < sp_tensor_rank(x); i++) *(i < axis ? &outer : &inner) *= sp_tensor_dims(x)[i];
    return sp_reshape(c->b, x, 2, (int64_t[]){outer, inner});
}

static sp_tensor *hardmax_rows(sp_onnx_call *c, sp_tensor *x, int64_t axis)
{
    sp_tensor *best = SP_ONNX_OP1(c, "argmax", x, "axis=%lld, keepdims=True", (long long)axis);
    if (best == NULL) return NULL;
    sp_tensor *at = sp__positions(c->b, sp_tensor_rank(x), (int)axis, sp_tensor_dims(x)[axis]);
    return sp_cast(c->b, sp_equal(c->b, at, sp_cast(c->b, best, SP_DTYPE_I64)), sp_tensor_dtype(x));
}

static sp_status softmax(sp_onnx_call *c)
{
    const char *op = c->node->handler->detail;
    sp_tensor *x = c->in[0];
    int rank = sp_tensor_rank(x);
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", c->opset < 13 ? 1 : -1), rank, "axis", &axis));
    sp_tensor *rows = c->opset < 13 ? on_rows(c, x, axis) : x;
    if (c->opset < 13) axis = 1;
    sp_tensor *y =
        strcmp(op, "hardmax") == 0 ? hardmax_rows(c, rows, axis) : SP_ONNX_OP1(c, op, rows, "axis=(%d,)", axis);
    return sp__onnx_return(c, c->opset < 13 ? sp_reshape(c->b, y, rank, sp_tensor_dims(x)) : y);
}

/* --- reductions -------------------------------------------------------------------------------------------------- */

static sp_tensor *reduce_by(sp_onnx_call *c, const char *op, sp_tensor *x, const char *axes, bool keep)
{
    return SP_ONNX_OP1(c, op, x, "axis=%s, keepdims=%s", axes, keep ? "True" : "False");
}

static sp_tensor *log_sum_exp(sp_onnx_call *c, sp_tensor *x, const char *axes, bool keep)
{
    if (sp_tensor_count(x) == 0) return sp_log(c->b, reduce_by(c, "reduce_sum", sp_exp(c->b, x), axes, keep));
    sp_tensor *top = reduce_by(c, "reduce_max", x, axes, true);
    if (top == NULL) return NULL;
    sp_tensor *finite = SP_ONNX_OP1(c, "isfinite", top, NULL);
    top = sp_select(c->b, finite, top, sp__zeros_like(c->b, top));
    sp_tensor *sum = reduce_by(c, "reduce_sum", sp_exp(c->b, sp_sub(c->b, x, top)), axes, true);
    sp_tensor *y = sp_add(c->b, sp_log(c->b, sum), top);
    return keep ? y : reduce_by(c, "reduce_sum", y, axes, false);
}

static sp_tensor *reduce_with(sp_onnx_call *c, const char *op, sp_tensor *x, const char *axes, bool keep)
{
    if (strcmp(op, "l1") == 0) return reduce_by(c, "reduce_sum", sp_abs(c->b, x), axes, keep);
    if (strcmp(op, "square") == 0) return reduce_by(c, "reduce_sum", sp_square(c->b, x), axes, keep);
    if (strcmp(op, "l2") == 0) return sp_sqrt(c->b, reduce_by(c, "reduce_sum", sp_square(c->b, x), axes, keep));
    if (strcmp(op, "log_sum") == 0) return sp_log(c->b, reduce_by(c, "reduce_sum", x, axes, keep));
    if (strcmp(op, "log_sum_exp") == 0) return log_sum_exp(c, x, axes, keep);
    return reduce_by(c, op, x, axes, keep);
}

/* An empty set has the greatest and smallest values of the dtype as its minimum and maximum. */
static sp_status reduce_nothing(sp_onnx_call *c, bool is_max, const sp_onnx_ints *axes, bool keep, sp_tensor **out)
{
    sp_tensor *x = c->in[0];
    int64_t dims[SP_RANK_MAX];
    int rank = 0;
    uint32_t mask;
    SP_TRY(sp__axes_mask((sp_ints){axes->n, axes->v}, sp_tensor_rank(x), &mask));
    for (int i = 0; i < sp_tensor_rank(x); i++)
        if (!(mask >> i & 1)) dims[rank++] = sp_tensor_dims(x)[i];
        else if (keep) dims[rank++] = 1;
    sp_dtype dtype = sp_tensor_dtype(x);
    char kind = sp_dtype_kind(dtype);
    double bits = 8.0 * (double)sp_dtype_bytes(dtype);
    double most = kind == 'f'   ? HUGE_VAL
                  : kind == 'b' ? 1
                  : kind == 'u' ? ldexp(1, (int)bits) - 1
                                : ldexp(1, (int)bits - 1) - 1;
    double least = kind == 'f' ? -HUGE_VAL : kind == 'i' ? -ldexp(1, (int)bits - 1) : 0;
    *out = sp__full(c->b, is_max ? least : most, dtype, rank, dims);
    return SP_OK;
}

static sp_status reduce(sp_onnx_call *c)
{
    const char *op = c->node->handler->detail;
    sp_tensor *x = c->in[0];
    sp_onnx_ints axes;
    sp_onnx_text text;
    bool found = false, keep = sp__onnx_attr_int(c, "keepdims", 1) != 0;
    SP_TRY(sp__onnx_ints_of(c, "axes", 1, &axes, &found));
    bool extreme = strcmp(op, "reduce_max") == 0 || strcmp(op, "reduce_min") == 0;
    if (axes.n == 0 && sp__onnx_attr_int(c, "noop_with_empty_axes", 0)) {
        if (strcmp(op, "l1") == 0 || strcmp(op, "l2") == 0) return sp__onnx_return(c, sp_abs(c->b, x));
        if (strcmp(op, "square") == 0) return sp__onnx_return(c, sp_square(c->b, x));
        if (strcmp(op, "log_sum") == 0) return sp__onnx_return(c, sp_log(c->b, x));
        return sp__onnx_return(c, sp_identity(c->b, x));
    }
    if (extreme && sp_tensor_count(x) == 0) {
        SP_TRY(reduce_nothing(c, op[7] == 'm' && op[8] == 'a', &axes, keep, &c->out[0]));
        return sp_builder_status(c->b);
    }
    const char *list = axes.n == 0 ? "None" : sp__onnx_list(&text, axes.n, axes.v);
    if (extreme && sp_tensor_dtype(x) == SP_DTYPE_BOOL)
        return sp__onnx_return(c, reduce_by(c, op[8] == 'a' ? "reduce_any" : "reduce_all", x, list, keep));
    if (sp_tensor_rank(x) == 0) list = "None";
    return sp__onnx_return(c, sp_cast(c->b, reduce_with(c, op, x, list, keep), sp_tensor_dtype(x)));
}

/* The first, or with select_last_index the last of equal ones. */
static sp_status arg_extreme(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", 0), sp_tensor_rank(x), "axis", &axis));
    bool keep = sp__onnx_attr_int(c, "keepdims", 1) != 0, last = sp__onnx_attr_int(c, "select_last_index", 0) != 0;
    int64_t n = sp_tensor_dims(x)[axis];
    if (last) {
        int64_t start[SP_RANK_MAX] = {0}, stop[SP_RANK_MAX], step[SP_RANK_MAX];
        sp_onnx_text t[3];
        for (int i = 0; i < sp_tensor_rank(x); i++) {
            stop[i] = sp_tensor_dims(x)[i];
            step[i] = 1;
        }
        start[axis] = n - 1;
        stop[axis] = -n - 1;
        step[axis] = -1;
        x = SP_ONNX_OP1(
            c, "slice", x, "start=%s, stop=%s, step=%s", sp__onnx_list(&t[0], sp_tensor_rank(c->in[0]), start),
            sp__onnx_list(&t[1], sp_tensor_rank(c->in[0]), stop), sp__onnx_list(&t[2], sp_tensor_rank(c->in[0]), step));
    }
    sp_tensor *at = SP_ONNX_OP1(c, c->node->handler->detail, x, "axis=%d, keepdims=%s", axis, keep ? "True" : "False");
    at = sp_cast(c->b, at, SP_DTYPE_I64);
    if (last) at = sp_sub(c->b, sp__onnx_scalar(c, SP_DTYPE_I64, (double)(n - 1)), at);
    return sp__onnx_return(c, at);
}

static sp_status cumulate(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints axis;
    int at = 0;
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 1), &axis));
    SP_CHECK(axis.n == 1, SP_VALUE, "%d axes, there must be one", axis.n);
    SP_TRY(sp__shape_axis(axis.v[0], sp_tensor_rank(x), "axis", &at));
    return sp__onnx_return(c, SP_ONNX_OP1(c, c->node->handler->detail, x, "axis=%d, exclusive=%s, reverse=%s", at,
                                          sp__onnx_attr_int(c, "exclusive", 0) ? "True" : "False",
                                          sp__onnx_attr_int(c, "reverse", 0) ? "True" : "False"));
}

/* --- products ---------------------------------------------------------------------------------------------------- */

static sp_status gemm(sp_onnx_call *c)
{
    double alpha = sp__onnx_attr_float(c, "alpha", 1), beta = sp__onnx_attr_float(c, "beta", 1);
    sp_tensor *y = sp_matmul(c->b, c->in[0], c->in[1], sp__onnx_attr_int(c, "transA", 0) != 0,
                             sp__onnx_attr_int(c, "transB", 0) != 0);
    if (alpha != 1 && y != NULL) y = sp__mul_number(c->b, y, alpha);
    sp_tensor *bias = sp__onnx_in(c, 2);
    if (bias != NULL && y != NULL) y = sp_add(c->b, y, beta != 1 ? sp__mul_number(c->b, bias, beta) : bias);
    return sp__onnx_return(c, y);
}

static sp_status matmul(sp_onnx_call *c)
{
    return sp__onnx_return(c, sp_matmul(c->b, c->in[0], c->in[1], false, false));
}
static sp_status det(sp_onnx_call *c) { return sp__onnx_return(c, SP_ONNX_OP1(c, "det", c->in[0], NULL)); }

const sp_onnx_handler sp__onnx_math[] = {
    {"Abs", 1, unary, "abs", 0},
    {"Acos", 7, unary, "acos", 0},
    {"Acosh", 9, unary, "acosh", 0},
    {"Asin", 7, unary, "asin", 0},
    {"Asinh", 9, unary, "asinh", 0},
    {"Atan", 7, unary, "atan", 0},
    {"Atanh", 9, unary, "atanh", 0},
    {"Ceil", 1, unary, "ceil", 0},
    {"Cos", 7, unary, "cos", 0},
    {"Cosh", 9, unary, "cosh", 0},
    {"Erf", 9, unary, "erf", 0},
    {"Exp", 1, unary, "exp", 0},
    {"Floor", 1, unary, "floor", 0},
    {"IsNaN", 9, unary, "isnan", 0},
    {"Log", 1, unary, "log", 0},
    {"Neg", 1, unary, "neg", 0},
    {"Not", 1, unary, "logical_not", 0},
    {"Reciprocal", 1, unary, "reciprocal", 0},
    {"Relu", 1, unary, "relu", 0},
    {"Round", 11, unary, "round", 0},
    {"Sigmoid", 1, unary, "sigmoid", 0},
    {"Sign", 9, unary, "sign", 0},
    {"Sin", 7, unary, "sin", 0},
    {"Sinh", 9, unary, "sinh", 0},
    {"Sqrt", 1, unary, "sqrt", 0},
    {"Tan", 7, unary, "tan", 0},
    {"Tanh", 1, unary, "tanh", 0},
    {"Mish", 18, unary, "mish", 0},
    {"BitwiseNot", 18, unary, "bitwise_not", 0},
    {"Add", 1, binary, "add", 0},
    {"Sub", 1, binary, "sub", 0},
    {"Mul", 1, binary, "mul", 0},
    {"Div", 1, divide, NULL, 0},
    {"Pow", 1, power, NULL, 0},
    {"Mod", 10, modulo, NULL, 0},
    {"And", 1, binary, "logical_and", 0},
    {"Or", 1, binary, "logical_or", 0},
    {"Xor", 1, binary, "logical_xor", 0},
    {"Equal", 1, binary, "equal", SP_ONNX_TYPED},
    {"Less", 1, binary, "less", 0},
    {"LessOrEqual", 12, binary, "less_equal", 0},
    {"Greater", 1, binary, "greater", 0},
    {"GreaterOrEqual", 12, binary, "greater_equal", 0},
    {"BitwiseAnd", 18, binary, "bitwise_and", 0},
    {"BitwiseOr", 18, binary, "bitwise_or", 0},
    {"BitwiseXor", 18, binary, "bitwise_xor", 0},
    {"BitShift", 11, shift, NULL, 0},
    {"Max", 1, many, "maximum", 0},
    {"Min", 1, many, "minimum", 0},
    {"Sum", 1, many, "add", 0},
    {"Mean", 1, many, "/", 0},
    {"IsInf", 10, is_infinite, NULL, 0},
    {"Clip", 1, clip, NULL, 0},
    {"Where", 9, where, NULL, SP_ONNX_KEEPS_OTHER},
    {"LeakyRelu", 1, with_alpha, "leaky_relu", 0},
    {"Elu", 1, with_alpha, "elu", 0},
    {"Celu", 12, with_alpha, "celu", 0},
    {"Selu", 1, selu, NULL, 0},
    {"HardSigmoid", 1, hard_sigmoid, NULL, 0},
    {"HardSwish", 14, hard_swish, NULL, 0},
    {"Gelu", 20, gelu, NULL, 0},
    {"com.microsoft:Gelu", 1, gelu, NULL, 0},
    {"Swish", 24, swish, NULL, 0},
    {"Softplus", 1, softplus, NULL, 0},
    {"Softsign", 1, softsign, NULL, 0},
    {"ThresholdedRelu", 10, thresholded_relu, NULL, 0},
    {"Shrink", 9, shrink, NULL, 0},
    {"PRelu", 1, prelu, NULL, 0},
    {"Softmax", 1, softmax, "softmax", 0},
    {"LogSoftmax", 1, softmax, "log_softmax", 0},
    {"Hardmax", 1, softmax, "hardmax", 0},
    {"ReduceSum", 1, reduce, "reduce_sum", 0},
    {"ReduceMean", 1, reduce, "reduce_mean", 0},
    {"ReduceProd", 1, reduce, "reduce_prod", 0},
    {"ReduceMax", 1, reduce, "reduce_max", 0},
    {"ReduceMin", 1, reduce, "reduce_min", 0},
    {"ReduceL1", 1, reduce, "l1", 0},
    {"ReduceL2", 1, reduce, "l2", 0},
    {"ReduceSumSquare", 1, reduce, "square", 0},
    {"ReduceLogSum", 1, reduce, "log_sum", 0},
    {"ReduceLogSumExp", 1, reduce, "log_sum_exp", 0},
    {"ArgMax", 1, arg_extreme, "argmax", 0},
    {"ArgMin", 1, arg_extreme, "argmin", 0},
    {"CumSum", 11, cumulate, "scan_sum", 0},
    {"CumProd", 26, cumulate, "scan_prod", 0},
    {"Gemm", 1, gemm, NULL, 0},
    {"MatMul", 1, matmul, NULL, 0},
    {"Det", 11, det, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
