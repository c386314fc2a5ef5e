/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - comparisons and logic: results are bool, gradients are zero. */
#include "ops/kernels.h"

#define EVERY(M, name, expr) SP_EACH_BOOL(M, name, expr) SP_EACH_REAL(M, name, expr) SP_EACH_COMPLEX(M, name, expr)
#define ORDERED(M, name, expr) SP_EACH_BOOL(M, name, expr) SP_EACH_REAL(M, name, expr)

#define COMPARE(name_, KIND, expr, DTYPES, ...)                                                                        \
    KIND(SP_COMPARE_LOOP, name_, expr)                                                                                 \
    static const sp_loop_fn name_##_loops[SP_DTYPE_COUNT] = {KIND(SP_LOOP_ROW, name_, )};                              \
    SP_LOOP_KERNEL(name_, 4)                                                                                           \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x, y",                                                                     \
                                 .promote = SP_PROMOTE_ALL,                                                            \
                                 .dtypes = DTYPES,                                                                     \
                                 .infer = sp__infer_broadcast_bool,                                                    \
                                 .reference = name_##_reference,                                                       \
                                 .loop = name_##_loop,                                                                 \
                                 .strided = true,                                                                      \
                                 .no_vjp = "bool result",                                                              \
                                 .samples = "[2,3] [2,3]; [2,3] [3]; [] [4]",                                          \
                                 __VA_ARGS__};

COMPARE(
    equal, EVERY, x == y, SP_DT_ALL, .mindir = "Equal", .onnx = "Equal",
    .python =
        "ops.equal(input, other); ops.Equal()(x, y); ops.eq(input, other); mint.eq(input, other); Tensor.eq(other); "
        "Tensor.equal(other)",
    .doc = "Whether elements are equal.")
COMPARE(not_equal, EVERY, x != y, SP_DT_ALL, .numbers_alone = true, .mindir = "NotEqual", .onnx = "Not(Equal)",
        .python = "ops.not_equal(input, other); ops.NotEqual()(x, y); ops.ne(input, other); mint.ne(input, other); "
                  "mint.not_equal(input, other); Tensor.ne(other); Tensor.not_equal(other)",
        .doc = "Whether elements differ.")
COMPARE(
    less, ORDERED, x < y, SP_DT_REAL_BOOL, .mindir = "Less", .onnx = "Less",
    .python =
        "ops.less(input, other); ops.tensor_lt(input, other); ops.Less()(x, y); ops.lt(input, other); mint.less(input, other); "
        "mint.lt(input, other); Tensor.less(other); Tensor.lt(other)",
    .doc = "Whether elements of the first are smaller.")
COMPARE(
    less_equal, ORDERED, x <= y, SP_DT_REAL_BOOL, .numbers_alone = true, .mindir = "LessEqual", .onnx = "LessOrEqual",
    .python =
        "ops.less_equal(input, other); ops.tensor_le(input, other); ops.LessEqual()(x, y); ops.le(input, other); mint.less_equal(input, other); "
        "mint.le(input, other); Tensor.less_equal(other); Tensor.le(other)",
    .doc = "Whether elements of the first are smaller or equal.")
COMPARE(
    greater, ORDERED, x > y, SP_DT_REAL_BOOL, .numbers_alone = true, .mindir = "Greater", .onnx = "Greater",
    .python =
        "ops.greater(input, other); ops.tensor_gt(input, other); ops.Greater()(x, y); ops.gt(input, other); mint.greater(input, other); "
        "mint.gt(input, other); Tensor.greater(other); Tensor.gt(other)",
    .doc = "Whether elements of the first are larger.")
COMPARE(
    greater_equal, ORDERED, x >= y, SP_DT_REAL_BOOL, .numbers_alone = true, .mindir = "GreaterEqual",
    .onnx = "GreaterOrEqual",
    .python =
        "ops.greater_equal(input, other); ops.tensor_ge(input, other); ops.GreaterEqual()(x, y); ops.ge(input, other); "
        "mint.greater_equal(input, other); mint.ge(input, other); Tensor.greater_equal(other); Tensor.ge(other)",
    .doc = "Whether elements of the first are larger or equal.")
COMPARE(
    logical_and, EVERY, x != 0 && y != 0, SP_DT_ALL, .truths_alone = true, .mindir = "LogicalAnd", .onnx = "And",
    .python =
        "ops.logical_and(input, other); ops.LogicalAnd()(x, y); mint.logical_and(input, other); Tensor.logical_and(other)",
    .doc = "Whether both elements are true (not zero).")
COMPARE(
    logical_or, EVERY, x != 0 || y != 0, SP_DT_ALL, .truths_alone = true, .mindir = "LogicalOr", .onnx = "Or",
    .python =
        "ops.logical_or(input, other); ops.LogicalOr()(x, y); mint.logical_or(input, other); Tensor.logical_or(other)",
    .doc = "Whether one of the elements is true (not zero).")
COMPARE(
    logical_xor, EVERY, (x != 0) != (y != 0), SP_DT_ALL, .truths_alone = true, .mindir = "LogicalXor", .onnx = "Xor",
    .python =
        "ops.logical_xor(input, other); ops.LogicalXor()(x, y); mint.logical_xor(input, other); Tensor.logical_xor(other)",
    .doc = "Whether exactly one of the elements is true (not zero).")
