/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_cast.c - ONNX operators that change the type of elements, carried types and texts among them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plain.h"
#include "formats/onnx/onnx_model.h"
#include "ir/builder_keep.h"

sp_tensor *sp__onnx_to_type(sp_onnx_call *c, sp_tensor *x, int type, bool saturate, const char *mode)
{
    const sp_onnx_type *t = sp__onnx_type((uint64_t)type);
    if (t == NULL || t->bits == 0)
        return sp__builder_fail(c->b, sp__fail(SP_DECLINED, "type %d is not supported here", type));
    if (t->format != NULL)
        return SP_ONNX_OP1(c, "minifloat", sp_cast(c->b, x, SP_DTYPE_F32), "format=%s, saturate=%s, mode=%s", t->format,
                           saturate ? "True" : "False", mode);
    /* The low bits, as C does it for smaller integers; then the sign. */
    sp_tensor *wide = sp_cast(c->b, x, SP_DTYPE_I32), *sign = sp__onnx_scalar(c, SP_DTYPE_I32, 1 << (t->bits - 1));
    wide = SP_ONNX_OP2(c, "bitwise_and", wide, sp__onnx_scalar(c, SP_DTYPE_I32, (1 << t->bits) - 1), NULL);
    if (t->carrier == SP_DTYPE_I8) wide = sp_sub(c->b, SP_ONNX_OP2(c, "bitwise_xor", wide, sign, NULL), sign);
    return sp_cast(c->b, wide, t->carrier);
}

/* --- texts ------------------------------------------------------------------------------------------------------- */

static sp_status number_to_text(sp_onnx_call *c, const sp_tensor *wide, sp_dtype dtype, int64_t i, int64_t *code)
{
    char text[64];
    const void *data = sp_tensor_data(wide);
    if (sp_dtype_kind(dtype) != 'f') {
        int64_t v = ((const int64_t *)data)[i];
        snprintf(text, sizeof text, dtype == SP_DTYPE_U64 ? "%llu" : "%lld", (long long)v);
    } else {
        double v = ((const double *)data)[i];
        if (isnan(v)) snprintf(text, sizeof text, "NaN");
        else if (isinf(v)) snprintf(text, sizeof text, v > 0 ? "INF" : "-INF");
        else sp__snprintf(text, sizeof text, "%.*g", dtype == SP_DTYPE_F64 ? 17 : 8, v);
    }
    return sp__onnx_text_code(c->texts, text, strlen(text), code);
}

static sp_status cast_to_texts(sp_onnx_call *c, sp_tensor *x)
{
    sp_dtype dtype = sp_tensor_dtype(x);
    SP_CHECK(sp_dtype_kind(dtype) != 'c', SP_DECLINED, "complex numbers cannot become texts");
    SP_TRY(sp__tensor_need_value(x));
    sp_tensor *wide = NULL, *codes = NULL;
    SP_TRY(sp_tensor_create(sp_dtype_kind(dtype) == 'f' ? SP_DTYPE_F64 : SP_DTYPE_I64, sp_tensor_rank(x),
                            sp_tensor_dims(x), &wide));
    SP_TRY(sp__builder_keep(c->b, &wide));
    SP_TRY(sp_tensor_assign(wide, x));
    SP_TRY(sp_tensor_create(SP_DTYPE_I64, sp_tensor_rank(x), sp_tensor_dims(x), &codes));
    SP_TRY(sp__builder_keep(c->b, &codes));
    for (int64_t i = 0; i < sp_tensor_count(x); i++)
        SP_TRY(number_to_text(c, wide, dtype, i, (int64_t *)sp_tensor_data(codes) + i));
    c->out_type[0] = SP_ONNX_STRING;
    return sp__onnx_return(c, codes);
}

static sp_status cast_from_texts(sp_onnx_call *c, sp_tensor *x, sp_dtype dtype)
{
    sp_tensor *rows = NULL, *wide = NULL;
    bool real = sp_dtype_kind(dtype) == 'f';
    SP_CHECK(dtype != SP_DTYPE_NONE && sp_dtype_kind(dtype) != 'c', SP_DECLINED,
             "casting texts to this type is not supported");
    SP_TRY(sp__tensor_need_value(x));
    SP_TRY(sp_tensor_contiguous(x, &rows));
    SP_TRY(sp__builder_keep(c->b, &rows));
    SP_TRY(sp_tensor_create(real ? SP_DTYPE_F64 : SP_DTYPE_I64, sp_tensor_rank(x), sp_tensor_dims(x), &wide));
    SP_TRY(sp__builder_keep(c->b, &wide));
    for (int64_t i = 0; i < sp_tensor_count(x); i++) {
        const char *text = sp__onnx_text_at(c->texts, ((const int64_t *)sp_tensor_data(rows))[i]);
        char *end = NULL;
        if (real) ((double *)sp_tensor_data(wide))[i] = sp__strtod(text, &end);
        else ((int64_t *)sp_tensor_data(wide))[i] = strtoll(text, &end, 10);
        char shown[SP_NAME_SHOWN];
        SP_CHECK(end != text, SP_VALUE, "the text '%s' is no number", sp__name_shown(text, strlen(text), shown));
    }
    return sp__onnx_return(c, sp_cast(c->b, wide, dtype));
}

/* --- casts ------------------------------------------------------------------------------------------------------- */

static sp_status cast_to(sp_onnx_call *c, int type, sp_dtype dtype)
{
    sp_tensor *x = c->in[0];
    int from = sp__onnx_in_type(c, 0);
    if (type == from && sp_tensor_dtype(x) == dtype) {
        c->out_type[0] = type;
        return sp__onnx_return(c, sp_identity(c->b, x));
    }
    if (from == SP_ONNX_STRING) return cast_from_texts(c, x, type == 0 ? dtype : SP_DTYPE_NONE);
    if (type == SP_ONNX_STRING) return cast_to_texts(c, x);
    SP_CHECK(dtype != SP_DTYPE_NONE, SP_DECLINED, "casting to this data type is not supported");
    if (type == 0) return sp__onnx_return(c, sp_cast(c->b, x, dtype));
    c->out_type[0] = type;
    return sp__onnx_return(c, sp__onnx_to_type(c, x, type, sp__onnx_attr_int(c, "saturate", 1) != 0,
                                               sp__onnx_attr_text(c, "round_mode", type == 24 ? "up" : "nearest")));
}

static sp_status cast(sp_onnx_call *c)
{
    int type = 0;
    sp_dtype dtype = sp__onnx_carrier((uint64_t)sp__onnx_attr_int(c, "to", 0), &type);
    return cast_to(c, type, dtype);
}

static sp_status cast_like(sp_onnx_call *c)
{
    SP_CHECK(sp__onnx_in(c, 1) != NULL, SP_FORMAT, "the second input is missing");
    return cast_to(c, sp__onnx_in_type(c, 1), sp_tensor_dtype(c->in[1]));
}

static sp_status bit_cast(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *rows = NULL, *y = NULL;
    sp_dtype dtype = sp__onnx_dtype((uint64_t)sp__onnx_attr_int(c, "to", 0));
    SP_CHECK(dtype != SP_DTYPE_NONE && sp__onnx_in_type(c, 0) == 0, SP_DECLINED, "this data type is not supported");
    SP_TRY(sp__tensor_need_value(x));
    SP_CHECK(sp_dtype_bytes(dtype) == sp_dtype_bytes(sp_tensor_dtype(x)), SP_VALUE,
             "elements of %zu bytes cannot be seen as ones of %zu", sp_dtype_bytes(sp_tensor_dtype(x)),
             sp_dtype_bytes(dtype));
    SP_TRY(sp_tensor_contiguous(x, &rows));
    sp_status status = sp_tensor_create_from(dtype, sp_tensor_rank(x), sp_tensor_dims(x), sp_tensor_data(rows), &y);
    sp_tensor_release(rows);
    SP_TRY(status);
    return sp__onnx_return(c, sp_builder_take_tensor(c->b, y));
}

const sp_onnx_handler sp__onnx_cast[] = {
    {"Cast", 1, cast, NULL, SP_ONNX_TYPED},
    {"CastLike", 15, cast_like, NULL, SP_ONNX_TYPED},
    {"BitCast", 26, bit_cast, NULL, SP_ONNX_TYPED},
    {NULL, 0, NULL, NULL, 0},
};
