/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_quant.c - ONNX operators on quantised numbers: x = (q - zero) * scale. Products of small integers are summed in
 * int32, as the standard wants. */
#include <math.h>

#include "formats/onnx/onnx_model.h"

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
    sp_tensor *at = SP_ONNX_OP2(c, "floor_div", sp__positions(c->b, 1, 0, n),
                                sp__onnx_scalar(c, SP_DTYPE_I64, (double)block), NULL);
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

/* Rounded to the nearest, ties to even, and cut to what the type holds. Cut first: then adding and taking away 1.5 * 2^23 rounds
 * float32 just so, in vectors; the zero point is part of what is taken away, all of it in whole numbers. scale NULL: 1. */
static sp_tensor *quantised(sp_onnx_call *c, sp_tensor *x, sp_tensor *scale, sp_tensor *zero, int type, sp_dtype dtype)
{
    double low, high;
    limits(type, dtype, &low, &high);
    sp_tensor *q = scale != NULL ? sp_div(c->b, x, scale) : x;
    if (q == NULL) return NULL;
    if (sp_tensor_dtype(q) != SP_DTYPE_F32) q = sp_cast(c->b, sp_round(c->b, q), SP_DTYPE_F32);
    sp_tensor *from = sp__onnx_scalar(c, SP_DTYPE_F32, low), *to = sp__onnx_scalar(c, SP_DTYPE_F32, high);
    sp_tensor *shift = zero != NULL ? sp_cast(c->b, zero, SP_DTYPE_F32) : NULL,
              *large = sp__onnx_scalar(c, SP_DTYPE_F32, 12582912);
    if (shift != NULL) {
        from = sp_sub(c->b, from, shift);
        to = sp_sub(c->b, to, shift);
    }
    q = sp_minimum(c->b, sp_maximum(c->b, q, from), to);
    q = sp_sub(c->b, sp_add(c->b, q, large), shift != NULL ? sp_sub(c->b, large, shift) : large);
    return sp_cast(c->b, q, dtype);
}

static sp_status quantize(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *zero = sp__onnx_in(c, 2);
    int64_t axis = sp__onnx_attr_int(c, "axis", 1), block = sp__onnx_attr_int(c, "block_size", 0);
    int64_t wanted = sp__onnx_attr_int(c, "output_dtype", 0), precision = sp__onnx_attr_int(c, "precision", 0);
    int type = zero != NULL ? sp__onnx_in_type(c, 2) : 0;
    sp_dtype dtype = zero != NULL  ? sp_tensor_dtype(zero)
                     : wanted != 0 ? sp__onnx_carrier((uint64_t)wanted, &type)
                                   : SP_DTYPE_U8;
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
    SP_CHECK(dtype != SP_DTYPE_NONE && strchr("iu", sp_dtype_kind(dtype)) != NULL && sp_dtype_bytes(dtype) <= 2,
             SP_DECLINED, "quantising to this data type is not supported");
    return sp__onnx_return(c, quantised(c, x, scale, spread(c, x, zero, axis, block), type, dtype));
}

static sp_status dequantize(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *zero = sp__onnx_in(c, 2), *scale = c->in[1];
    int64_t axis = sp__onnx_attr_int(c, "axis", 1), block = sp__onnx_attr_int(c, "block_size", 0);
    int64_t wanted = sp__onnx_attr_int(c, "output_dtype", 0);
    /* Differences of elements of up to 16 bits are exact in float32; those of int32 are made in int32. */
    sp_dtype dtype = sp_tensor_dtype(scale), inner = sp_tensor_dtype(x) == SP_DTYPE_I32 ? SP_DTYPE_I32 : SP_DTYPE_F32;
    sp_dtype to = wanted != 0 ? sp__onnx_dtype((uint64_t)wanted) : dtype;
    SP_CHECK(to != SP_DTYPE_NONE && sp__onnx_in_type(c, 1) == 0, SP_DECLINED,
             "scales or results of this type are not supported");
    sp_tensor *wide = sp_cast(c->b, x, inner);
    if (zero != NULL) wide = sp_sub(c->b, wide, sp_cast(c->b, spread(c, x, zero, axis, block), inner));
    return sp__onnx_return(
        c, sp_cast(c->b, sp_mul(c->b, sp_cast(c->b, wide, dtype), spread(c, x, scale, axis, block)), to));
}

static sp_status dynamic_quantize(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *none = sp__const(c->b, 0, x);
    sp_tensor *high = sp_maximum(c->b, SP_ONNX_OP1(c, "reduce_max", x, NULL), none);
    sp_tensor *low = sp_minimum(c->b, SP_ONNX_OP1(c, "reduce_min", x, NULL), none);
    sp_tensor *scale = sp_div(c->b, sp_sub(c->b, high, low), sp__onnx_scalar(c, SP_DTYPE_F32, 255));
    sp_tensor *nothing = sp__onnx_scalar(c, SP_DTYPE_F32, 0), *one = sp__onnx_scalar(c, SP_DTYPE_F32, 1);
    scale = sp_select(c->b, sp_equal(c->b, scale, nothing), one, scale); /* all elements are zero */
    sp_tensor *zero = sp_round(c->b, sp_div(c->b, sp_neg(c->b, low), scale));
    SP_TRY(sp_builder_status(c->b));
    zero = sp_minimum(c->b, sp_maximum(c->b, zero, sp__const(c->b, 0, zero)), sp__const(c->b, 255, zero));
    c->out[0] = quantised(c, x, scale, zero, 0, SP_DTYPE_U8);
    if (c->n_out > 1) c->out[1] = scale;
    if (c->n_out > 2) c->out[2] = sp_cast(c->b, zero, SP_DTYPE_U8);
    return sp_builder_status(c->b);
}

/* --- products of integers ---------------------------------------------------------------------------------------- */

/* Zero points and scales of one row or column each stand along that axis; rows: of the first operand. */
static sp_tensor *along(sp_onnx_call *c, sp_tensor *t, bool rows)
{
    if (t == NULL || sp_tensor_rank(t) != 1) return t;
    if (sp_tensor_count(t) == 1) return sp_reshape(c->b, t, 0, NULL);
    return rows ? sp_reshape(c->b, t, 2, (int64_t[]){-1, 1}) : t;
}

/* x - zero as float32, which holds all differences of small integers. */
static sp_tensor *centred(sp_onnx_call *c, sp_tensor *x, sp_tensor *zero, bool rows)
{
    sp_tensor *wide = sp_cast(c->b, x, SP_DTYPE_F32);
    if (zero == NULL) return wide;
    return sp_sub(c->b, wide, sp_cast(c->b, along(c, zero, rows), SP_DTYPE_F32));
}

/* In how many parts a sum of products must be made so that float32 holds each part exactly: sums up to 2^24. `weights` are the
 * second factors, [outer, inner] with the sum over inner; of the first ones only the dtype is known. */
typedef struct factors {
    const float *w;
    int64_t outer, inner, step; /* [inner, outer] with step 1, else [outer, inner] */
} factors;

/* The greatest sum of absolute values when the inner axis is cut into parts of this size. */
static double greatest_sum(const factors *f, int64_t size)
{
    double most = 0;
    for (int64_t o = 0; o < f->outer; o++)
        for (int64_t from = 0; from < f->inner; from += size) {
            double sum = 0;
            int64_t end = from + size < f->inner ? from + size : f->inner;
            for (int64_t i = from; i < end; i++)
                sum += fabs((double)f->w[f->step == 1 ? i * f->outer + o : o * f->inner + i]);
            if (sum > most) most = sum;
        }
    return most;
}

static int64_t exact_parts(const sp_tensor *weights, int64_t outer, int64_t inner, int64_t step)
{
    const double most = 16777216.0 / 255;     /* a difference of bytes is at most 255 */
    if (inner <= 258 || outer <= 0) return 1; /* 258 * 255 * 255 < 2^24 */
    if (sp_tensor_is_symbol(weights) || !sp_tensor_is_contiguous(weights)) return (inner + 257) / 258;
    factors f = {sp_tensor_data(weights), outer, inner, step};
    int64_t parts = (int64_t)ceil(greatest_sum(&f, inner) / most);
    while (parts < inner && greatest_sum(&f, (inner + parts - 1) / (parts > 0 ? parts : 1)) > most) parts++;
    return parts < 1 ? 1 : parts;
}

/* x y for integers held in float32; the result is float32, or int32 where it was summed up from parts. */
static sp_status exact_matmul(sp_onnx_call *c, sp_tensor *x, sp_tensor *y, sp_tensor **out)
{
    SP_TRY(sp_builder_status(c->b));
    int rx = sp_tensor_rank(x), ry = sp_tensor_rank(y);
    int64_t parts = 1, inner = rx > 0 ? sp_tensor_dims(x)[rx - 1] : 1;
    bool matrix = ry == 2 && rx >= 1;
    if (matrix) parts = exact_parts(y, sp_tensor_dims(y)[1], inner, 1);
    else parts = inner > 258 ? (inner + 257) / 258 : 1;
    if (parts == 1) {
        *out = sp_matmul(c->b, x, y, false, false);
        return sp_builder_status(c->b);
    }
    if (!matrix) { /* the whole in float64 */
        *out = sp_matmul(c->b, sp_cast(c->b, x, SP_DTYPE_F64), sp_cast(c->b, y, SP_DTYPE_F64), false, false);
        return sp_builder_status(c->b);
    }
    int64_t size = (inner + parts - 1) / parts;
    sp_tensor *sum = NULL;
    for (int64_t from = 0; from < inner; from += size) {
        int64_t n = from + size < inner ? size : inner - from;
        sp_tensor *part = sp_matmul(c->b, sp__take_range(c->b, x, rx - 1, from, n), sp__take_range(c->b, y, 0, from, n),
                                    false, false);
        part = sp_cast(c->b, part, SP_DTYPE_I32);
        sum = sum == NULL ? part : sp_add(c->b, sum, part);
    }
    *out = sum;
    return sp_builder_status(c->b);
}

static bool is_bytes(const sp_tensor *t)
{
    return sp_tensor_dtype(t) == SP_DTYPE_I8 || sp_tensor_dtype(t) == SP_DTYPE_U8;
}

/* Whether matmul_i32 takes this zero point of x. */
static bool is_plain_zero(const sp_tensor *zero, const sp_tensor *x, int64_t columns)
{
    if (zero == NULL) return true;
    int rank = sp_tensor_rank(zero);
    return sp_tensor_dtype(zero) == sp_tensor_dtype(x) &&
           (rank == 0 || (rank == 1 && sp_tensor_dims(zero)[0] == columns));
}

/* (x - x_zero)(y - y_zero): bytes as they are where there is one zero point for x and at most one per column for y. */
static sp_status integer_matmul(sp_onnx_call *c, sp_tensor *x, sp_tensor *x_zero, sp_tensor *y, sp_tensor *y_zero,
                                sp_tensor **out)
{
    SP_TRY(sp_builder_status(c->b));
    x_zero = along(c, x_zero, true);
    y_zero = along(c, y_zero, false);
    SP_TRY(sp_builder_status(c->b));
    int ry = sp_tensor_rank(y);
    int64_t columns = ry > 1 ? sp_tensor_dims(y)[ry - 1] : 1;
    if (!is_bytes(x) || !is_bytes(y) || !is_plain_zero(x_zero, x, 1) || !is_plain_zero(y_zero, y, columns))
        return exact_matmul(c, centred(c, x, x_zero, true), centred(c, y, y_zero, false), out);
    *out = sp_builder_call(c->b, "matmul_i32", NULL, 4, (sp_tensor *[]){x, y, x_zero, y_zero});
    return sp_builder_status(c->b);
}

static sp_status matmul_integer(sp_onnx_call *c)
{
    sp_tensor *sum = NULL;
    SP_TRY(integer_matmul(c, c->in[0], sp__onnx_in(c, 2), c->in[1], sp__onnx_in(c, 3), &sum));
    return sp__onnx_return(c, sp_cast(c->b, sum, SP_DTYPE_I32));
}

static sp_status qlinear_matmul(sp_onnx_call *c)
{
    sp_tensor *sum = NULL;
    SP_TRY(integer_matmul(c, c->in[0], c->in[2], c->in[3], c->in[5], &sum));
    sp_tensor *scale_x = along(c, sp_cast(c->b, c->in[1], SP_DTYPE_F32), true),
              *scale_y = along(c, sp_cast(c->b, c->in[4], SP_DTYPE_F32), false);
    sp_tensor *scale = sp_div(c->b, sp_mul(c->b, scale_x, scale_y), sp_cast(c->b, c->in[6], SP_DTYPE_F32));
    sum = sp_mul(c->b, sp_cast(c->b, sum, SP_DTYPE_F32), scale);
    return sp__onnx_return(c, quantised(c, sum, NULL, c->in[7], 0, sp_tensor_dtype(c->in[7])));
}

/* Whether float32 holds the sums with a bias of int32, too. */
static bool sums_hold_bias(const sp_tensor *weights, int64_t outer, int64_t inner, const sp_tensor *bias)
{
    if (sp_tensor_is_symbol(weights) || !sp_tensor_is_contiguous(weights) || sp_tensor_is_symbol(bias) ||
        sp_tensor_dtype(bias) != SP_DTYPE_I32 || !sp_tensor_is_contiguous(bias) || sp_tensor_rank(bias) != 1)
        return false;
    const factors f = {sp_tensor_data((sp_tensor *)weights), outer, inner, 0};
    double most = 0;
    for (int64_t i = 0; i < sp_tensor_count(bias); i++)
        most = fmax(most, fabs((double)((const int32_t *)sp_tensor_data((sp_tensor *)bias))[i]));
    return most + 255 * greatest_sum(&f, inner) <= 16777216.0;
}

/* Convolution of integers: in float32, in parts of the channels where the sums ask for it. A bias (may be NULL) is taken along, and set to
 * NULL, where the sums leave room for it. */
static sp_status integer_conv(sp_onnx_call *c, sp_tensor *x, sp_tensor *x_zero, sp_tensor *w, sp_tensor *w_zero,
                              sp_tensor **bias, sp_tensor **out)
{
    sp_tensor *dx = centred(c, x, x_zero, false), *dw = sp_cast(c->b, w, SP_DTYPE_F32), *sum = NULL;
    if (w_zero != NULL) dw = sp_sub(c->b, dw, sp_cast(c->b, spread(c, w, w_zero, 0, 0), SP_DTYPE_F32));
    SP_TRY(sp_builder_status(c->b));
    int64_t parts = 1, channels = sp_tensor_dims(w)[1], filters = sp_tensor_dims(w)[0];
    int64_t taps = filters > 0 && channels > 0 ? sp_tensor_count(w) / filters : 1;
    parts = exact_parts(dw, filters, taps, 0);
    bool grouped = sp__onnx_attr_int(c, "group", 1) != 1, grouped_wide = grouped && parts > 1;
    if (grouped_wide) { /* rare: whole in float64 */
        dx = sp_cast(c->b, dx, SP_DTYPE_F64);
        dw = sp_cast(c->b, dw, SP_DTYPE_F64);
        parts = 1;
    }
    if (bias != NULL && *bias != NULL && parts == 1 && !grouped_wide && sums_hold_bias(dw, filters, taps, *bias)) {
        sp_tensor *in[3] = {dx, dw, sp_cast(c->b, *bias, SP_DTYPE_F32)};
        SP_TRY(sp_builder_status(c->b));
        *bias = NULL;
        return sp__onnx_again(c, "Conv", 3, in, 1, out);
    }
    if (parts > channels) parts = channels;
    int64_t size = (channels + parts - 1) / (parts > 0 ? parts : 1);
    for (int64_t from = 0; from < channels; from += size) {
        int64_t n = from + size < channels ? size : channels - from;
        sp_tensor *in[2] = {parts > 1 ? sp__take_range(c->b, dx, 1, from, n) : dx,
                            parts > 1 ? sp__take_range(c->b, dw, 1, from, n) : dw};
        sp_tensor *part = NULL;
        SP_TRY(sp_builder_status(c->b));
        SP_TRY(sp__onnx_again(c, "Conv", 2, in, 1, &part));
        if (parts > 1) part = sp_cast(c->b, part, SP_DTYPE_I32);
        sum = sum == NULL ? part : sp_add(c->b, sum, part);
    }
    *out = sum;
    return sp_builder_status(c->b);
}

static sp_status conv_integer(sp_onnx_call *c)
{
    sp_tensor *sum = NULL;
    SP_TRY(sp__onnx_byte_conv_make(
        c, &(sp_onnx_byte_conv){.x = c->in[0], .x_zero = sp__onnx_in(c, 2), .w = c->in[1], .w_zero = sp__onnx_in(c, 3)},
        &sum));
    if (sum != NULL) return sp__onnx_return(c, sum);
    SP_TRY(integer_conv(c, c->in[0], sp__onnx_in(c, 2), c->in[1], sp__onnx_in(c, 3), NULL, &sum));
    return sp__onnx_return(c, sp_cast(c->b, sum, SP_DTYPE_I32));
}

/* Sums of products below 2^24 are whole numbers in float32; a bias beyond is added in int32. */
static sp_status qlinear_conv(sp_onnx_call *c)
{
    sp_tensor *sum = NULL, *scale, *bias = sp__onnx_in(c, 8);
    bool last = sp__onnx_attr_int(c, "channels_last", 0) != 0;
    sp_tensor *x = c->in[0];
    int rank = sp_tensor_rank(x);
    int64_t forth[SP_RANK_MAX] = {0, rank - 1}, back[SP_RANK_MAX] = {0};
    for (int i = 2; i < rank; i++) forth[i] = i - 1;
    for (int i = 1; i < rank; i++) back[i] = i == rank - 1 ? 1 : i + 1;
    if (last) x = sp_transpose(c->b, x, rank, forth);
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *y = NULL;
    scale = sp_div(c->b, sp_mul(c->b, c->in[1], c->in[4]), c->in[6]);
    SP_TRY(
        sp__onnx_byte_conv_make(c, &(sp_onnx_byte_conv){x, c->in[2], c->in[3], c->in[5], bias, scale, c->in[7]}, &y));
    if (y == NULL) {
        SP_TRY(integer_conv(c, x, c->in[2], c->in[3], c->in[5], &bias, &sum));
        if (bias != NULL) sum = sp_add(c->b, sp_cast(c->b, sum, SP_DTYPE_I32), spread(c, sum, bias, 1, 0));
        y = sp_mul(c->b, sp_cast(c->b, sum, SP_DTYPE_F32), spread(c, sum, scale, 1, 0));
        y = quantised(c, y, NULL, c->in[7], 0, sp_tensor_dtype(c->in[7]));
    }
    return sp__onnx_return(c, last ? sp_transpose(c->b, y, rank, back) : y);
}

/* --- com.microsoft ----------------------------------------------------------------------------------------------- */

/* Input i as numbers: its scale and zero point follow it. */
static sp_tensor *real_in(sp_onnx_call *c, int i)
{
    sp_tensor *x = centred(c, c->in[i], sp__onnx_in(c, i + 2), false);
    return sp_mul(c->b, x, along(c, c->in[i + 1], false));
}

/* y with the scale and zero point at inputs i and i + 1, of the dtype of the first input. */
static sp_status quantised_out(sp_onnx_call *c, sp_tensor *y, int i)
{
    sp_tensor *zero = sp__onnx_in(c, i + 1);
    return sp__onnx_return(c, quantised(c, y, along(c, c->in[i], false), along(c, zero, false), 0,
                                        sp_tensor_dtype(zero != NULL ? zero : c->in[0])));
}

static sp_status qlinear_binary(sp_onnx_call *c)
{
    return quantised_out(c, SP_ONNX_OP2(c, c->node->handler->detail, real_in(c, 0), real_in(c, 3), NULL), 6);
}

static sp_status qlinear_unary(sp_onnx_call *c)
{
    const char *op = c->node->handler->detail;
    sp_tensor *x = real_in(c, 0);
    if (strcmp(op, "leaky_relu") == 0) x = SP_ONNX_OP1(c, op, x, "alpha=%.17g", sp__onnx_attr_float(c, "alpha", 0.01));
    else if (strcmp(op, "softmax") == 0)
        x = SP_ONNX_OP1(c, op, x, "axis=(%lld,)", (long long)sp__onnx_attr_int(c, "axis", -1));
    else x = SP_ONNX_OP1(c, op, x, NULL);
    return quantised_out(c, x, 3);
}

static sp_status qlinear_pool(sp_onnx_call *c)
{
    sp_tensor *x = real_in(c, 0), *y = NULL;
    SP_TRY(sp_builder_status(c->b));
    int rank = sp_tensor_rank(x);
    bool last = sp__onnx_attr_int(c, "channels_last", 0) != 0;
    int64_t forth[SP_RANK_MAX] = {0, rank - 1}, back[SP_RANK_MAX] = {0};
    for (int i = 2; i < rank; i++) forth[i] = i - 1;
    for (int i = 1; i < rank; i++) back[i] = i == rank - 1 ? 1 : i + 1;
    if (last) x = sp_transpose(c->b, x, rank, forth);
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(sp__onnx_again(c, c->node->handler->detail, 1, &x, 1, &y));
    return quantised_out(c, last ? sp_transpose(c->b, y, rank, back) : y, 3);
}

static sp_status nhwc_max_pool(sp_onnx_call *c)
{
    sp_tensor *x = sp_transpose(c->b, c->in[0], 4, (int64_t[]){0, 3, 1, 2}), *y = NULL;
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(sp__onnx_again(c, "MaxPool", 1, &x, 1, &y));
    return sp__onnx_return(c, sp_transpose(c->b, y, 4, (int64_t[]){0, 2, 3, 1}));
}

/* Inputs: scale and zero point of the result, then tensor, scale, zero point of each part. */
static sp_status qlinear_concat(sp_onnx_call *c)
{
    int n = (c->n_in - 2) / 3;
    sp_tensor *parts[64];
    SP_CHECK(n >= 1 && n <= 64 && c->n_in == 2 + 3 * n, SP_FORMAT, "%d inputs", c->n_in);
    for (int i = 0; i < n; i++) parts[i] = real_in(c, 2 + 3 * i);
    sp_tensor *y = sp__concat(c->b, sp__onnx_attr_int(c, "axis", 1), n, parts);
    return sp__onnx_return(
        c, quantised(c, y, along(c, c->in[0], false), along(c, c->in[1], false), 0, sp_tensor_dtype(c->in[1])));
}

static sp_status q_gemm(sp_onnx_call *c)
{
    bool ta = sp__onnx_attr_int(c, "transA", 0) != 0, tb = sp__onnx_attr_int(c, "transB", 0) != 0;
    sp_tensor *x = c->in[0], *w = c->in[3], *sum = NULL;
    if (tb) w = sp_transpose(c->b, w, 2, (int64_t[]){1, 0});
    if (ta) x = sp_transpose(c->b, x, 2, (int64_t[]){1, 0});
    SP_TRY(integer_matmul(c, x, c->in[2], w, c->in[5], &sum));
    if (sp__onnx_in(c, 6) != NULL) sum = sp_add(c->b, sp_cast(c->b, sum, SP_DTYPE_I32), c->in[6]);
    sp_tensor *scale = sp_mul(c->b, along(c, c->in[1], false), along(c, c->in[4], false));
    sp_tensor *y =
        sp__mul_number(c->b, sp_mul(c->b, sp_cast(c->b, sum, SP_DTYPE_F32), scale), sp__onnx_attr_float(c, "alpha", 1));
    return sp__onnx_in(c, 7) != NULL ? quantised_out(c, y, 7) : sp__onnx_return(c, y);
}

/* (x - zx)(w - zw) sx sw + bias as float. */
static sp_status to_float(sp_onnx_call *c, sp_tensor *x, sp_tensor *x_scale, sp_tensor *x_zero, int w_scale, int w_zero,
                          int bias)
{
    sp_tensor *sum = NULL;
    SP_TRY(integer_matmul(c, x, x_zero, c->in[1], sp__onnx_in(c, w_zero), &sum));
    sp_tensor *scale = sp_mul(c->b, along(c, x_scale, true), along(c, c->in[w_scale], false));
    sp_tensor *y = sp_mul(c->b, sp_cast(c->b, sum, SP_DTYPE_F32), scale);
    if (sp__onnx_in(c, bias) != NULL) y = sp_add(c->b, y, c->in[bias]);
    return sp__onnx_return(c, y);
}

static sp_status matmul_to_float(sp_onnx_call *c)
{
    return to_float(c, c->in[0], c->in[2], sp__onnx_in(c, 4), 3, 5, 6);
}

static sp_status dynamic_matmul(sp_onnx_call *c)
{
    sp_tensor *parts[3] = {NULL};
    SP_TRY(sp__onnx_again(c, "DynamicQuantizeLinear", 1, c->in, 3, parts));
    return to_float(c, parts[0], parts[1], parts[2], 2, 3, 4);
}

/* Weights come as [directions, in, gates * hidden], with a scale for each direction or each column. */
static sp_tensor *lstm_weights(sp_onnx_call *c, sp_tensor *w, sp_tensor *scale, sp_tensor *zero)
{
    int64_t n = sp_tensor_dims(w)[0];
    int64_t dims[3] = {n, 1, sp_tensor_count(scale) == n ? 1 : -1};
    sp_tensor *x = sp_cast(c->b, w, SP_DTYPE_F32);
    if (zero != NULL)
        x = sp_sub(c->b, x,
                   sp_reshape(c->b, sp_cast(c->b, zero, SP_DTYPE_F32), 3,
                              (int64_t[]){n, 1, sp_tensor_count(zero) == n ? 1 : -1}));
    return sp_transpose(c->b, sp_mul(c->b, x, sp_reshape(c->b, scale, 3, dims)), 3, (int64_t[]){0, 2, 1});
}

static sp_status dynamic_lstm(sp_onnx_call *c)
{
    sp_tensor *in[8] = {c->in[0], lstm_weights(c, c->in[1], c->in[8], sp__onnx_in(c, 9)),
                        lstm_weights(c, c->in[2], c->in[10], sp__onnx_in(c, 11))};
    for (int i = 3; i < 8; i++) in[i] = sp__onnx_in(c, i);
    SP_TRY(sp_builder_status(c->b));
    return sp__onnx_again(c, "LSTM", 8, in, c->n_out, c->out);
}

const sp_onnx_handler sp__onnx_quant[] = {
    {"QuantizeLinear", 10, quantize, NULL, SP_ONNX_TYPED},
    {"DequantizeLinear", 10, dequantize, NULL, SP_ONNX_TYPED},
    {"com.microsoft:QuantizeLinear", 1, quantize, NULL, SP_ONNX_TYPED},
    {"com.microsoft:DequantizeLinear", 1, dequantize, NULL, SP_ONNX_TYPED},
    {"DynamicQuantizeLinear", 11, dynamic_quantize, NULL, 0},
    {"MatMulInteger", 10, matmul_integer, NULL, 0},
    {"QLinearMatMul", 10, qlinear_matmul, NULL, 0},
    {"ConvInteger", 10, conv_integer, NULL, 0},
    {"QLinearConv", 10, qlinear_conv, NULL, 0},
    {"com.microsoft:QLinearConv", 1, qlinear_conv, NULL, 0},
    {"com.microsoft:QLinearAdd", 1, qlinear_binary, "add", 0},
    {"com.microsoft:QLinearMul", 1, qlinear_binary, "mul", 0},
    {"com.microsoft:QLinearSigmoid", 1, qlinear_unary, "sigmoid", 0},
    {"com.microsoft:QLinearLeakyRelu", 1, qlinear_unary, "leaky_relu", 0},
    {"com.microsoft:QLinearSoftmax", 1, qlinear_unary, "softmax", 0},
    {"com.microsoft:QLinearGlobalAveragePool", 1, qlinear_pool, "GlobalAveragePool", 0},
    {"com.microsoft:QLinearAveragePool", 1, qlinear_pool, "AveragePool", 0},
    {"com.microsoft:NhwcMaxPool", 1, nhwc_max_pool, NULL, 0},
    {"com.microsoft:QLinearConcat", 1, qlinear_concat, NULL, 0},
    {"com.microsoft:QGemm", 1, q_gemm, NULL, 0},
    {"com.microsoft:MatMulIntegerToFloat", 1, matmul_to_float, NULL, 0},
    {"com.microsoft:DynamicQuantizeMatMul", 1, dynamic_matmul, NULL, 0},
    {"com.microsoft:DynamicQuantizeLSTM", 1, dynamic_lstm, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
