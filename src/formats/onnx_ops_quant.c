/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_quant.c - ONNX operators on quantised numbers: x = (q - zero) * scale. Products of small integers are summed in
 * int32, as the standard wants. */
#include "formats/onnx_model.h"

/* Scale or zero point brought to the shape of x: one number, one per element of an axis, or one per block of an axis. */
static sp_tensor *spread(sp_onnx_call *c, sp_tensor *x, sp_tensor *scale, int64_t axis, int64_t block)
{
    if (scale == NULL || sp_tensor_rank(scale) == 0) return scale;
    int rank = sp_tensor_rank(x);
    if (sp_tensor_count(scale) == 1 && block == 0) return sp_reshape(c->b, scale, 0, NULL);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return scale;
    if (sp_tensor_rank(scale) == 1) {
        int64_t dims[SP_RANK_MAX];
        for (int i = 0; i < rank; i++) dims[i] = i == axis ? -1 : 1;
        return sp_reshape(c->b, scale, rank, dims);
    }
    int64_t n = sp_tensor_dims(x)[axis];
    if (block <= 0 || sp_tensor_rank(scale) != rank) return scale;
    sp_tensor *at = SP_ONNX_OP2(c, "floor_div", sp__positions(c->b, 1, 0, n), sp__onnx_scalar(c, SP_DTYPE_I64, (double)block), NULL);
    return SP_ONNX_OP2(c, "gather", scale, at, "axis=%lld", (long long)axis);
}

static void limits(int type, sp_dtype dtype, double *low, double *high)
{
    const sp_onnx_type *t = sp__onnx_type((uint64_t)type);
    int bits = t != NULL ? t->bits : 8 * (int)sp_dtype_bytes(dtype);
    bool sign = sp_dtype_kind(dtype) == 'i';
    *low = sign ? -(double)(1 << (bits - 1)) : 0;
    *high = (double)(1 << (sign ? bits - 1 : bits)) - 1;
}

/* Rounded to the nearest, ties to even, and cut to what the type holds. */
static sp_tensor *quantised(sp_onnx_call *c, sp_tensor *x, sp_tensor *scale, sp_tensor *zero, int type, sp_dtype dtype)
{
    double low, high;
    limits(type, dtype, &low, &high);
    sp_tensor *q = sp_round(c->b, sp_div(c->b, x, scale));
    q = sp_cast(c->b, q, SP_DTYPE_F32);
    if (zero != NULL) q = sp_add(c->b, q, sp_cast(c->b, zero, SP_DTYPE_F32));
    if (q == NULL) return NULL;
    q = sp_minimum(c->b, sp_maximum(c->b, q, sp__const(c->b, low, q)), sp__const(c->b, high, q));
    return sp_cast(c->b, q, dtype);
}

static sp_status quantize(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *zero = sp__onnx_in(c, 2);
    int64_t axis = sp__onnx_attr_int(c, "axis", 1), block = sp__onnx_attr_int(c, "block_size", 0);
    int64_t wanted = sp__onnx_attr_int(c, "output_dtype", 0), precision = sp__onnx_attr_int(c, "precision", 0);
    int type = zero != NULL ? sp__onnx_in_type(c, 2) : 0;
    sp_dtype dtype = zero != NULL ? sp_tensor_dtype(zero) : wanted != 0 ? sp__onnx_carrier((uint64_t)wanted, &type) : SP_DTYPE_U8;
    const sp_onnx_type *t = sp__onnx_type((uint64_t)type);
    sp_dtype in_type = sp_tensor_dtype(c->in[1]);
    if (sp_tensor_dtype(x) == SP_DTYPE_I32) x = sp_cast(c->b, x, SP_DTYPE_F32);
    sp_tensor *scale = spread(c, x, c->in[1], axis, block);
    if (precision != 0) in_type = sp__onnx_dtype((uint64_t)precision);
    if (precision != 0 && in_type != SP_DTYPE_NONE) {
        x = sp_cast(c->b, x, in_type);
        scale = sp_cast(c->b, scale, in_type);
    }
    c->out_type[0] = type;
    if (t != NULL && t->format != NULL) {
        sp_tensor *y = sp_cast(c->b, sp_div(c->b, x, scale), SP_DTYPE_F32);
        if (zero != NULL) y = sp_add(c->b, y, spread(c, x, zero, axis, block));
        return sp__onnx_return(c, sp__onnx_to_type(c, y, type, sp__onnx_attr_int(c, "saturate", 1) != 0, "nearest"));
    }
    SP_CHECK(dtype != SP_DTYPE_NONE && strchr("iu", sp_dtype_kind(dtype)) != NULL && sp_dtype_bytes(dtype) <= 2, SP_DECLINED,
             "quantising to this data type is not supported");
    return sp__onnx_return(c, quantised(c, x, scale, spread(c, x, zero, axis, block), type, dtype));
}

static sp_status dequantize(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *zero = sp__onnx_in(c, 2), *scale = c->in[1];
    int64_t axis = sp__onnx_attr_int(c, "axis", 1), block = sp__onnx_attr_int(c, "block_size", 0);
    int64_t wanted = sp__onnx_attr_int(c, "output_dtype", 0);
    sp_dtype dtype = sp_tensor_dtype(scale), inner = sp_dtype_kind(sp_tensor_dtype(x)) == 'f' ? SP_DTYPE_F32 : SP_DTYPE_I32;
    sp_dtype to = wanted != 0 ? sp__onnx_dtype((uint64_t)wanted) : dtype;
    SP_CHECK(to != SP_DTYPE_NONE && sp__onnx_in_type(c, 1) == 0, SP_DECLINED, "scales or results of this type are not supported");
    sp_tensor *wide = sp_cast(c->b, x, inner);
    if (zero != NULL) wide = sp_sub(c->b, wide, sp_cast(c->b, spread(c, x, zero, axis, block), inner));
    return sp__onnx_return(c, sp_cast(c->b, sp_mul(c->b, sp_cast(c->b, wide, dtype), spread(c, x, scale, axis, block)), to));
}

static sp_status dynamic_quantize(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *none = sp__const(c->b, 0, x);
    sp_tensor *high = sp_maximum(c->b, SP_ONNX_OP1(c, "reduce_max", x, NULL), none);
    sp_tensor *low = sp_minimum(c->b, SP_ONNX_OP1(c, "reduce_min", x, NULL), none);
    sp_tensor *scale = sp_div(c->b, sp_sub(c->b, high, low), sp__onnx_scalar(c, SP_DTYPE_F32, 255));
    sp_tensor *zero = sp_round(c->b, sp_div(c->b, sp_neg(c->b, low), scale));
    SP_TRY(sp_builder_status(c->b));
    zero = sp_minimum(c->b, sp_maximum(c->b, zero, sp__const(c->b, 0, zero)), sp__const(c->b, 255, zero));
    c->out[0] = quantised(c, x, scale, zero, 0, SP_DTYPE_U8);
    if (c->n_out > 1) c->out[1] = scale;
    if (c->n_out > 2) c->out[2] = sp_cast(c->b, zero, SP_DTYPE_U8);
    return sp_builder_status(c->b);
}

/* x - zero in int32; a zero point of rank 1 belongs to rows (first operand) or columns of matrices. */
static sp_tensor *centred(sp_onnx_call *c, sp_tensor *x, sp_tensor *zero, bool rows)
{
    sp_tensor *wide = sp_cast(c->b, x, SP_DTYPE_I32);
    if (zero == NULL) return wide;
    sp_tensor *z = sp_cast(c->b, zero, SP_DTYPE_I32);
    if (sp_tensor_rank(zero) == 1 && sp_tensor_count(zero) == 1) z = sp_reshape(c->b, z, 0, NULL);
    else if (sp_tensor_rank(zero) == 1 && rows) z = sp_reshape(c->b, z, 2, (int64_t[]){-1, 1});
    return sp_sub(c->b, wide, z);
}

static sp_status matmul_integer(sp_onnx_call *c)
{
    sp_tensor *x = centred(c, c->in[0], sp__onnx_in(c, 2), true), *y = centred(c, c->in[1], sp__onnx_in(c, 3), false);
    return sp__onnx_return(c, sp_matmul(c->b, x, y, false, false));
}

static sp_status qlinear_matmul(sp_onnx_call *c)
{
    sp_tensor *x = centred(c, c->in[0], c->in[2], true), *y = centred(c, c->in[3], c->in[5], false);
    sp_tensor *sum = sp_cast(c->b, sp_matmul(c->b, x, y, false, false), SP_DTYPE_F32);
    sp_tensor *scale_x = sp_cast(c->b, c->in[1], SP_DTYPE_F32), *scale_y = sp_cast(c->b, c->in[4], SP_DTYPE_F32);
    SP_TRY(sp_builder_status(c->b));
    if (sp_tensor_rank(scale_x) == 1 && sp_tensor_count(scale_x) > 1) scale_x = sp_reshape(c->b, scale_x, 2, (int64_t[]){-1, 1});
    sp_tensor *scale = sp_div(c->b, sp_mul(c->b, scale_x, scale_y), sp_cast(c->b, c->in[6], SP_DTYPE_F32));
    sp_tensor *one = sp__onnx_scalar(c, SP_DTYPE_F32, 1);
    return sp__onnx_return(c, quantised(c, sp_mul(c->b, sum, scale), one, c->in[7], 0, sp_tensor_dtype(c->in[7])));
}

/* Convolution of integers in float64, where sums of their products are exact. */
static sp_status integer_conv(sp_onnx_call *c, sp_tensor *x, sp_tensor *x_zero, sp_tensor *w, sp_tensor *w_zero, sp_tensor **out)
{
    sp_tensor *dx = sp_cast(c->b, centred(c, x, x_zero, false), SP_DTYPE_F64), *wide = sp_cast(c->b, w, SP_DTYPE_I32);
    if (w_zero != NULL) wide = sp_sub(c->b, wide, sp_cast(c->b, spread(c, w, w_zero, 0, 0), SP_DTYPE_I32));
    sp_tensor *dw = sp_cast(c->b, wide, SP_DTYPE_F64), *inputs[2] = {dx, dw}, *result = NULL;
    SP_TRY(sp_builder_status(c->b));
    sp_onnx_call inner = *c;
    inner.n_in = 2;
    inner.n_out = 1;
    inner.in = inputs;
    inner.out = &result;
    for (const sp_onnx_handler *h = sp__onnx_nn; h->name != NULL; h++)
        if (strcmp(h->name, "Conv") == 0) SP_TRY(h->apply(&inner));
    *out = sp_cast(c->b, result, SP_DTYPE_I32);
    return sp_builder_status(c->b);
}

static sp_status conv_integer(sp_onnx_call *c)
{
    return integer_conv(c, c->in[0], sp__onnx_in(c, 2), c->in[1], sp__onnx_in(c, 3), &c->out[0]);
}

static sp_status qlinear_conv(sp_onnx_call *c)
{
    sp_tensor *sum = NULL, *scale;
    SP_TRY(integer_conv(c, c->in[0], c->in[2], c->in[3], c->in[5], &sum));
    if (sp__onnx_in(c, 8) != NULL) sum = sp_add(c->b, sum, spread(c, sum, c->in[8], 1, 0));
    scale = sp_div(c->b, sp_mul(c->b, c->in[1], c->in[4]), c->in[6]);
    SP_TRY(sp_builder_status(c->b));
    scale = spread(c, sum, scale, 1, 0);
    sp_tensor *y = sp_mul(c->b, sp_cast(c->b, sum, SP_DTYPE_F32), scale);
    return sp__onnx_return(c, quantised(c, y, sp__onnx_scalar(c, SP_DTYPE_F32, 1), c->in[7], 0, sp_tensor_dtype(c->in[7])));
}

const sp_onnx_handler sp__onnx_quant[] = {
    {"QuantizeLinear", 10, quantize, NULL, SP_ONNX_TYPED}, {"DequantizeLinear", 10, dequantize, NULL, SP_ONNX_TYPED},
    {"DynamicQuantizeLinear", 11, dynamic_quantize, NULL, 0}, {"MatMulInteger", 10, matmul_integer, NULL, 0},
    {"QLinearMatMul", 10, qlinear_matmul, NULL, 0}, {"ConvInteger", 10, conv_integer, NULL, 0},
    {"QLinearConv", 10, qlinear_conv, NULL, 0}, {NULL, 0, NULL, NULL, 0},
};
