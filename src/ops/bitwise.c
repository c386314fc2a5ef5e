/* SPDX-License-Identifier: Apache-2.0 */
/* bitwise.c - logic on the bits of integers. On bool these are the logical operators. A shift by the width of the type or
 * more leaves zero (or the sign, to the right); a negative shift leaves zero. */
#include "ops/kernels.h"

#define BITS(M, name, expr) SP_EACH_BOOL(M, name, expr) SP_EACH_INT(M, name, expr)
#define ENTRY(name_, DTYPES, ...)                                                                                      \
    SP_LOOP_KERNEL(name_, 4)                                                                                           \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x, y",                                                                     \
                                 .promote = SP_PROMOTE_ALL,                                                            \
                                 .dtypes = DTYPES,                                                                     \
                                 .loop = name_##_loop,                                                                 \
                                 .infer = sp__infer_broadcast,                                                         \
                                 .reference = name_##_reference,                                                       \
                                 .strided = true,                                                                      \
                                 .no_vjp = "integer result",                                                           \
                                 .samples = "[2,3] [2,3]; [2,3] [3]; [] [4]",                                          \
                                 __VA_ARGS__}

BITS(SP_BINARY_LOOP, bitwise_and, (x & y))
static const sp_loop_fn bitwise_and_loops[SP_DTYPE_COUNT] = {BITS(SP_LOOP_ROW, bitwise_and, )};
ENTRY(bitwise_and, SP_DT_INTS | SP_DT(BOOL), .mindir = "BitwiseAnd", .onnx = "BitwiseAnd",
      .python = "ops.bitwise_and(input, other); ops.BitwiseAnd()(x, y); Tensor.bitwise_and(other); "
                "mint.bitwise_and(input, other)",
      .doc = "The bits set in both operands.");

BITS(SP_BINARY_LOOP, bitwise_or, (x | y))
static const sp_loop_fn bitwise_or_loops[SP_DTYPE_COUNT] = {BITS(SP_LOOP_ROW, bitwise_or, )};
ENTRY(bitwise_or, SP_DT_INTS | SP_DT(BOOL), .mindir = "BitwiseOr", .onnx = "BitwiseOr",
      .python = "ops.bitwise_or(input, other); ops.BitwiseOr()(x, y); Tensor.bitwise_or(other); "
                "mint.bitwise_or(input, other)",
      .doc = "The bits set in one of the operands.");

BITS(SP_BINARY_LOOP, bitwise_xor, (x ^ y))
static const sp_loop_fn bitwise_xor_loops[SP_DTYPE_COUNT] = {BITS(SP_LOOP_ROW, bitwise_xor, )};
ENTRY(bitwise_xor, SP_DT_INTS | SP_DT(BOOL), .mindir = "BitwiseXor", .onnx = "BitwiseXor",
      .python = "ops.bitwise_xor(input, other); ops.BitwiseXor()(x, y); Tensor.bitwise_xor(other); "
                "mint.bitwise_xor(input, other)",
      .doc = "The bits that differ.");

/* The type's own width counts, not that of the int it is computed in; the shift itself is done unsigned. */
#define IN_RANGE ((uint64_t)y < 8 * sizeof x)
SP_EACH_INT(SP_BINARY_LOOP, bitwise_left_shift, (IN_RANGE ? (uint64_t)x << (uint64_t)y : 0))
static const sp_loop_fn bitwise_left_shift_loops[SP_DTYPE_COUNT] = {SP_EACH_INT(SP_LOOP_ROW, bitwise_left_shift, )};
ENTRY(bitwise_left_shift, SP_DT_INTS, .mindir = "LeftShift", .onnx = "BitShift",
      .python = "ops.bitwise_left_shift(input, other); ops.LeftShift()(x1, x2); Tensor.bitwise_left_shift(other)",
      .doc = "The bits moved towards the high end.");

SP_EACH_SIGNED(SP_BINARY_LOOP, bitwise_right_shift, (IN_RANGE ? x >> y : y > 0 && x < 0 ? -1 : 0))
SP_EACH_UNSIGNED(SP_BINARY_LOOP, bitwise_right_shift, (IN_RANGE ? x >> y : 0))
static const sp_loop_fn bitwise_right_shift_loops[SP_DTYPE_COUNT] = {SP_EACH_INT(SP_LOOP_ROW, bitwise_right_shift, )};
ENTRY(bitwise_right_shift, SP_DT_INTS, .mindir = "RightShift", .onnx = "BitShift",
      .python = "ops.bitwise_right_shift(input, other); ops.RightShift()(input_x, input_y); "
                "Tensor.bitwise_right_shift(other)",
      .doc = "The bits moved towards the low end; the sign stays.");

SP_EACH_INT(SP_UNARY_LOOP, bitwise_not, ~x)
SP_EACH_BOOL(SP_UNARY_LOOP, bitwise_not, !x)
static const sp_loop_fn bitwise_not_loops[SP_DTYPE_COUNT] = {BITS(SP_LOOP_ROW, bitwise_not, )};
SP_LOOP_KERNEL(bitwise_not, 4)
const sp_op sp_op_bitwise_not = {
    .name = "bitwise_not",
    .inputs = "x",
    .dtypes = SP_DT_INTS | SP_DT(BOOL),
    .infer = sp__infer_same,
    .reference = bitwise_not_reference,
    .loop = bitwise_not_loop,
    .strided = true,
    .no_vjp = "integer result",
    .mindir = "Invert",
    .onnx = "BitwiseNot",
    .python = "ops.bitwise_not(input); ops.invert(x); ops.Invert()(x); Tensor.bitwise_not(); Tensor.invert(); "
              "mint.bitwise_not(input)",
    .doc = "The bits reversed.",
    .samples = "[2,3]; []",
};
