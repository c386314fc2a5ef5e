/* SPDX-License-Identifier: Apache-2.0 */
/* binary.c - element-wise arithmetic of two operands, broadcast and promoted. */
#include "ops/kernels.h"

/* clang-format off */
#define ARITH(M, name, expr)                                                                                           \
    SP_EACH_BOOL(M, name, expr) SP_EACH_REAL(M, name, expr) SP_EACH_COMPLEX(M, name, expr)
/* clang-format on */

#define ENTRY(name_, ...)                                                                                              \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x, y",                                                                     \
                                 .infer = sp__infer_broadcast,                                                         \
                                 .reference = name_##_reference,                                                       \
                                 .loop = name_##_loop,                                                                 \
                                 .strided = true,                                                                      \
                                 __VA_ARGS__}

/* --- add, sub, mul ----------------------------------------------------------------------------------------------- */

ARITH(SP_BINARY_LOOP, add, x + y)
static const sp_loop_fn add_loops[SP_DTYPE_COUNT] = {ARITH(SP_LOOP_ROW, add, )};
SP_LOOP_KERNEL(add, 4)

static sp_status add_vjp(sp_builder *b, const sp_vjp *v)
{
    for (int i = 0; i < 2; i++)
        if (v->needs[i]) v->din[i] = sp__unbroadcast(b, v->dout[0], v->in[i]);
    return SP_OK;
}
ENTRY(add, .numbers_alone = true, .promote = SP_PROMOTE_ALL, .vjp = add_vjp, .mindir = "Add", .onnx = "Add",
      .python = "ops.add(input, other); ops.Add()(x, y); ops.TensorAdd()(x, y); ops.tensor_add(input, other); "
                "Tensor.add(other); mint.add(input, other)",
      .doc = "Sum of two tensors, element by element.", .samples = "[2,3] [2,3]; [2,3] [3]; [] [4]; [2,1,3] [4,1]");

ARITH(SP_BINARY_LOOP, sub, x - y)
static const sp_loop_fn sub_loops[SP_DTYPE_COUNT] = {ARITH(SP_LOOP_ROW, sub, )};
SP_LOOP_KERNEL(sub, 4)

static sp_status sub_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0]) v->din[0] = sp__unbroadcast(b, v->dout[0], v->in[0]);
    if (v->needs[1]) v->din[1] = sp_neg(b, sp__unbroadcast(b, v->dout[0], v->in[1]));
    return SP_OK;
}
ENTRY(sub, .numbers_alone = true, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_ALL, .vjp = sub_vjp, .mindir = "Sub",
      .onnx = "Sub",
      .python = "ops.sub(input, other); ops.Sub()(x, y); ops.tensor_sub(input, other); Tensor.sub(other); "
                "Tensor.sub(y); mint.sub(input, other)",
      .doc = "Difference of two tensors, element by element.", .samples = "[2,3] [2,3]; [2,3] [3]; [] [4]");

ARITH(SP_BINARY_LOOP, mul, x *y)
static const sp_loop_fn mul_loops[SP_DTYPE_COUNT] = {ARITH(SP_LOOP_ROW, mul, )};
SP_LOOP_KERNEL(mul, 4)

static sp_status mul_vjp(sp_builder *b, const sp_vjp *v)
{
    for (int i = 0; i < 2; i++)
        if (v->needs[i]) v->din[i] = sp__unbroadcast(b, sp_mul(b, v->dout[0], sp__conj(b, v->in[1 - i])), v->in[i]);
    return SP_OK;
}
ENTRY(mul, .numbers_alone = true, .promote = SP_PROMOTE_ALL, .vjp = mul_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1) | SP_SAVE_CROSS, .mindir = "Mul", .onnx = "Mul",
      .python = "ops.mul(input, other); ops.Mul()(x, y); ops.tensor_mul(input, other); mint.mul(input, other); "
                "Tensor.mul(other); Tensor.multiply(value); ops.multiply(input, other)",
      .doc = "Product of two tensors, element by element.", .samples = "[2,3] [2,3]; [2,3] [3]; [] [4]");

/* --- division ---------------------------------------------------------------------------------------------------- */

#define DIVIDE(M, name, expr) SP_EACH_FLOAT(M, name, expr) SP_EACH_COMPLEX(M, name, expr)
DIVIDE(SP_BINARY_LOOP, div, x / y)
static const sp_loop_fn div_loops[SP_DTYPE_COUNT] = {DIVIDE(SP_LOOP_ROW, div, )};
SP_LOOP_KERNEL(div, 4)

static sp_status div_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *g = sp_div(b, v->dout[0], sp__conj(b, v->in[1]));
    if (v->needs[0]) v->din[0] = sp__unbroadcast(b, g, v->in[0]);
    if (v->needs[1]) v->din[1] = sp__unbroadcast(b, sp_neg(b, sp_mul(b, g, sp__conj(b, v->out[0]))), v->in[1]);
    return SP_OK;
}
ENTRY(div, .numbers_alone = true, .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX, .vjp = div_vjp,
      .saves = SP_SAVE_IN(1) | SP_SAVE_OUT(0), .mindir = "RealDiv", .onnx = "Div",
      .python =
          "ops.Div()(x, y); ops.tensor_div(x, y); ops.true_divide(dividend, divisor); "
          "Tensor.true_divide(other); Tensor.true_divide(value); ops.div(input, other); ops.divide(input, other); "
          "Tensor.div(other); Tensor.divide(other); "
          "mint.div(input, other); mint.divide(input, other)",
      .doc = "Quotient of two tensors, element by element; integers are divided as float32.",
      .samples = "[2,3] [2,3]>0; [2,3] [3]>0; [] [4]>0");

/* --- larger and smaller ------------------------------------------------------------------------------------------ */

/* NaN in either operand gives NaN, as in numpy and MindSpore. */
#define ORDERED(M, name, expr) SP_EACH_BOOL(M, name, expr) SP_EACH_REAL(M, name, expr)
ORDERED(SP_BINARY_LOOP, maximum, (x > y || x != x ? x : y))
static const sp_loop_fn maximum_loops[SP_DTYPE_COUNT] = {ORDERED(SP_LOOP_ROW, maximum, )};
SP_LOOP_KERNEL(maximum, 4)
ORDERED(SP_BINARY_LOOP, minimum, (x < y || x != x ? x : y))
static const sp_loop_fn minimum_loops[SP_DTYPE_COUNT] = {ORDERED(SP_LOOP_ROW, minimum, )};
SP_LOOP_KERNEL(minimum, 4)

/* The gradient goes to the operand that was chosen; the first one when they are equal. */
static sp_status choose_vjp(sp_builder *b, const sp_vjp *v, sp_tensor *first)
{
    sp_tensor *zero = sp__const(b, 0, v->in[0]);
    if (v->needs[0]) v->din[0] = sp__unbroadcast(b, sp_select(b, first, v->dout[0], zero), v->in[0]);
    if (v->needs[1]) v->din[1] = sp__unbroadcast(b, sp_select(b, first, zero, v->dout[0]), v->in[1]);
    return SP_OK;
}
static sp_status maximum_vjp(sp_builder *b, const sp_vjp *v)
{
    return choose_vjp(b, v, sp_greater_equal(b, v->in[0], v->in[1]));
}
static sp_status minimum_vjp(sp_builder *b, const sp_vjp *v)
{
    return choose_vjp(b, v, sp_less_equal(b, v->in[0], v->in[1]));
}
ENTRY(maximum, .numbers_alone = true, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_REAL_BOOL, .vjp = maximum_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1), .mindir = "Maximum", .onnx = "Max",
      .python = "ops.maximum(input, other); ops.Maximum()(x, y); Tensor.maximum(other); mint.maximum(input, other)",
      .doc = "The larger of two tensors, element by element.", .samples = "[2,3] [2,3]; [2,3] [3]; [] [4]");
ENTRY(minimum, .numbers_alone = true, .promote = SP_PROMOTE_ALL, .dtypes = SP_DT_REAL_BOOL, .vjp = minimum_vjp,
      .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1), .mindir = "Minimum", .onnx = "Min",
      .python = "ops.minimum(input, other); ops.Minimum()(x, y); Tensor.minimum(other); mint.minimum(input, other)",
      .doc = "The smaller of two tensors, element by element.", .samples = "[2,3] [2,3]; [2,3] [3]; [] [4]");
