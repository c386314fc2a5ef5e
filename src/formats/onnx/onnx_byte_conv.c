/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_byte_conv.c - convolutions of quantised tensors by the operator conv_bytes. */
#include <stdio.h>

#include "formats/onnx/onnx_model.h"

static bool is_bytes(const sp_tensor *t)
{
    return sp_tensor_dtype(t) == SP_DTYPE_I8 || sp_tensor_dtype(t) == SP_DTYPE_U8;
}

static bool is_one(const sp_tensor *t)
{
    return sp_tensor_rank(t) == 0 || (sp_tensor_rank(t) == 1 && sp_tensor_dims(t)[0] == 1);
}

/* A number of the dtype of `of`, or one for each of n channels; NULL is fine. */
static bool is_zero_of(const sp_tensor *zero, const sp_tensor *of, int64_t n)
{
    if (zero == NULL) return true;
    return sp_tensor_dtype(zero) == sp_tensor_dtype(of) &&
           (is_one(zero) || (n > 1 && sp_tensor_rank(zero) == 1 && sp_tensor_dims(zero)[0] == n));
}

static bool fits(const sp_onnx_byte_conv *v)
{
    const int rank = sp_tensor_rank(v->w);
    if (!is_bytes(v->x) || !is_bytes(v->w) || rank < 3 || rank > 5 || sp_tensor_rank(v->x) != rank) return false;
    if (sp_tensor_count(v->w) == 0 || sp_tensor_count(v->x) == 0) return false;
    const int64_t n = sp_tensor_dims(v->w)[0];
    if (!is_zero_of(v->x_zero, v->x, 1) || !is_zero_of(v->w_zero, v->w, n)) return false;
    if (v->bias != NULL &&
        (sp_tensor_dtype(v->bias) != SP_DTYPE_I32 || sp_tensor_rank(v->bias) != 1 || sp_tensor_dims(v->bias)[0] != n))
        return false;
    if (v->y_zero != NULL && (!is_bytes(v->y_zero) || !is_one(v->y_zero))) return false;
    return v->scale == NULL ||
           (sp_tensor_dtype(v->scale) == SP_DTYPE_F32 &&
            (is_one(v->scale) || (sp_tensor_rank(v->scale) == 1 && sp_tensor_dims(v->scale)[0] == n)));
}

sp_status sp__onnx_byte_conv_make(sp_onnx_call *c, const sp_onnx_byte_conv *v, sp_tensor **out)
{
    sp_onnx_window win;
    sp_onnx_text stride, dilation, pads;
    char attrs[512];
    SP_TRY(sp_builder_status(c->b));
    *out = NULL;
    if (!fits(v)) return SP_OK;
    SP_TRY(sp__onnx_window_of(c, v->x, sp_tensor_dims(v->w) + 2, &win));
    for (int i = 0; i < 2 * win.n; i++)
        if (win.pads[i] < 0) return SP_OK; /* the other way cuts */
    snprintf(attrs, sizeof attrs, "stride=%s, dilation=%s, pad=%s, group=%lld",
             sp__onnx_list(&stride, win.n, win.stride), sp__onnx_list(&dilation, win.n, win.dilation),
             sp__onnx_list(&pads, 2 * win.n, win.pads), (long long)sp__onnx_attr_int(c, "group", 1));
    sp_tensor *in[7] = {v->x, v->w, v->x_zero, v->w_zero, v->bias, v->scale, v->y_zero};
    *out = sp_builder_call(c->b, "conv_bytes", attrs, 7, in);
    return sp_builder_status(c->b);
}
