/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_product.c - see tflite_product.h.
 *
 * Of integers the sums (x - zero)(w - zero) + bias are made in float32, which holds them up to 2^24 and is
 * wrong in the last of 24 bits beyond; then they are multiplied by the three scales and rounded to 8 bits, once, ties to even. So a
 * result is the interpreter's, or its neighbour where the interpreter rounds twice. Products of int16 are made in float64.
 *
 * Weights of integers under inputs of floats ("dynamic range"): the interpreter rounds the input, each row or picture by itself, to 8 bits
 * first. So does this, because the model was judged that way. */
#include <math.h>
#include <stdio.h>

#include "formats/tflite/tflite_product.h"
#include "ir/builder_keep.h"

/* --- products of integers ---------------------------------------------------------------------------------------- */

/* Elements less their zero point. */
static sp_tensor *centred(sp_tflite_call *c, sp_tensor *x, const sp_tflite_tensor *face, sp_dtype wide)
{
    x = sp_cast(c->b, x, wide);
    return face->scale.zero[0] != 0 ? sp_sub(c->b, x, sp__tflite_scalar(c, wide, (double)face->scale.zero[0])) : x;
}

/* Floats rounded to 8 bits over the range of each row: axes [first, rank) together. */
static sp_tensor *rounded_input(sp_tflite_call *c, sp_tensor *x, int first, bool symmetric)
{
    int64_t axes[SP_RANK_MAX];
    const int n = sp_tensor_rank(x) - first;
    sp_tflite_text text;
    for (int k = 0; k < n; k++) axes[k] = first + k;
    sp__tflite_list(&text, n, axes);
    sp_tensor *zero = sp__const(c->b, 0, x), *one = sp__tflite_scalar(c, SP_DTYPE_F32, 1);
    if (symmetric) {
        sp_tensor *most = SP_TFLITE_OP1(c, "reduce_max", sp_abs(c->b, x), "axis=%s, keepdims=True", text.text);
        sp_tensor *scale = sp__mul_number(c->b, most, 1 / 127.0);
        scale = sp_select(c->b, sp_equal(c->b, scale, zero), one, scale);
        return sp_mul(c->b, sp_round(c->b, sp_div(c->b, x, scale)), scale);
    }
    sp_tensor *low = sp_minimum(c->b, SP_TFLITE_OP1(c, "reduce_min", x, "axis=%s, keepdims=True", text.text), zero);
    sp_tensor *high = sp_maximum(c->b, SP_TFLITE_OP1(c, "reduce_max", x, "axis=%s, keepdims=True", text.text), zero);
    sp_tensor *scale = sp__mul_number(c->b, sp_sub(c->b, high, low), 1 / 255.0);
    scale = sp_select(c->b, sp_equal(c->b, scale, zero), one, scale);
    /* The zero point from the end of the range where it is the more exact one. */
    sp_tensor *below = sp_div(c->b, low, scale), *above = sp_div(c->b, high, scale);
    sp_tensor *by_low = sp__add_number(c->b, sp_neg(c->b, below), -128),
              *by_high = sp__add_number(c->b, sp_neg(c->b, above), 127);
    sp_tensor *nearer =
        sp_less(c->b, sp__add_number(c->b, sp_abs(c->b, below), 128), sp__add_number(c->b, sp_abs(c->b, above), 127));
    sp_tensor *shift = sp_round(c->b, sp_select(c->b, nearer, by_low, by_high));
    sp_tensor *from = sp__tflite_scalar(c, SP_DTYPE_F32, -128), *to = sp__tflite_scalar(c, SP_DTYPE_F32, 127);
    shift = sp_minimum(c->b, sp_maximum(c->b, shift, from), to);
    sp_tensor *q = sp_round(c->b, sp_add(c->b, sp_div(c->b, x, scale), shift));
    q = sp_minimum(c->b, sp_maximum(c->b, q, from), to);
    return sp_mul(c->b, sp_sub(c->b, q, shift), scale);
}

/* Inputs `x` and `w`, which have been brought into the layout of the product; the channels of the result are at `axis` of the weights in
 * the file. rows: first axis of what is rounded together when only the weights are integers. */
sp_status sp__tflite_prepare(sp_tflite_call *c, int i_x, int i_w, int i_bias, sp_tensor *x, sp_tensor *w, int rows,
                             bool symmetric, sp_tflite_product *p)
{
    const sp_tflite_tensor *fx = sp__tflite_in_face(c, i_x), *fw = sp__tflite_in_face(c, i_w),
                           *fy = sp__tflite_out_face(c, 0);
    const sp_tflite_tensor *fb = i_bias >= 0 ? sp__tflite_in_face(c, i_bias) : NULL;
    *p = (sp_tflite_product){.x = x, .w = w, .bias = i_bias >= 0 ? sp__tflite_plain(c, i_bias) : NULL};
    SP_TRY(sp_builder_status(c->b));
    if (fw->scale.n == 0 || fx->scale.n == 0) {
        if (sp_dtype_kind(sp_tensor_dtype(w)) == 'f' && sp_tensor_dtype(w) != SP_DTYPE_F32)
            p->w = sp_cast(c->b, w, SP_DTYPE_F32);
        SP_CHECK(sp_dtype_kind(sp_tensor_dtype(p->w)) == 'f' || fw->scale.n > 0, SP_DECLINED,
                 "weights of %s without a scale are not supported", sp_dtype_name(sp_tensor_dtype(w)));
        if (fx->scale.n > 0) p->x = sp__tflite_real(c, x, fx, false);
        else if (fw->scale.n > 0) p->x = rounded_input(c, x, rows, symmetric);
        if (p->bias != NULL && fb->scale.n > 0) p->bias = sp__tflite_real(c, p->bias, fb, false);
        return sp_builder_status(c->b);
    }
    const sp_dtype wide = fx->meta.dtype == SP_DTYPE_I16 ? SP_DTYPE_F64 : SP_DTYPE_F32;
    SP_CHECK(fx->scale.n == 1 && fy->scale.n <= 1, SP_DECLINED,
             "inputs and results with a scale for each channel are not supported");
    p->integers = true;
    p->x = centred(c, x, fx, wide);
    p->w = centred(c, w, fw, wide);
    if (p->bias != NULL) p->bias = sp_cast(c->b, p->bias, wide);
    p->n_scales = fw->scale.n;
    p->scales = sp__alloc((size_t)p->n_scales * sizeof *p->scales);
    if (p->scales == NULL) return SP_NOMEM;
    for (int k = 0; k < p->n_scales; k++) {
        p->scales[k] = fx->scale.scale[0] * fw->scale.scale[k];
        if (fy->scale.n == 1) p->scales[k] /= fy->scale.scale[0];
    }
    return sp_builder_status(c->b);
}

sp_tensor *sp__tflite_real_weights(sp_tflite_call *c, int i_x, int i_w)
{
    const sp_tflite_tensor *fw = sp__tflite_in_face(c, i_w), *fx = sp__tflite_in_face(c, i_x);
    sp_tensor *w = sp__tflite_plain(c, i_w);
    return fw->scale.n > 0 && fx->scale.n == 0 ? sp__tflite_real(c, w, fw, false) : w;
}

/* A constant of the program that is being recorded. */
static bool is_fixed(const sp_tensor *t)
{
    return sp_function_recording() != NULL && t != NULL && t->symbol == NULL && t->data != NULL &&
           !(t->flags & (SP_TENSOR_PARAMETER | SP_TENSOR_VARIABLE));
}

bool sp__tflite_kept(sp_tflite_call *c, sp_tensor *from, sp_tensor **t)
{
    sp_tensor *kept[SP_DERIVED_MAX];
    if (!is_fixed(from) || !sp__derived_find(c->node, 1, &from, kept)) return false;
    *t = kept[0];
    return true;
}

sp_tensor *sp__tflite_keep(sp_tflite_call *c, sp_tensor *from, sp_tensor *t)
{
    sp_tensor *one = NULL;
    if (t == NULL || !is_fixed(from) || !is_fixed(t)) return t;
    sp_status status = sp_tensor_contiguous(t, &one);
    if (status == SP_OK) status = sp__builder_keep(c->b, &one);
    if (status != SP_OK) return sp__builder_fail(c->b, status);
    sp__derived_keep(c->node, 1, &from, 1, &one);
    return one;
}

sp_tensor *sp__tflite_weights(sp_tflite_call *c, int i_x, int i_w, int rank, const int64_t *perm)
{
    sp_tensor *from = sp__tflite_plain(c, i_w), *t;
    if (from != NULL && sp_tensor_rank(from) != rank)
        return sp__builder_fail(
            c->b, sp__fail(SP_FORMAT, "the weights have rank %d, it must be %d", sp_tensor_rank(from), rank));
    if (sp__tflite_kept(c, from, &t)) return t;
    return sp__tflite_keep(c, from, sp_transpose(c->b, sp__tflite_real_weights(c, i_x, i_w), rank, perm));
}

/* The sums y to results: scaled, with its activation, rounded. channel: axis of the channels in y. */
sp_status sp__tflite_finish(sp_tflite_call *c, sp_tflite_product *p, sp_tensor *y, int channel, int64_t activation,
                            bool planes)
{
    const sp_tflite_tensor *face = sp__tflite_out_face(c, 0);
    int64_t dims[SP_RANK_MAX];
    SP_TRY(sp_builder_status(c->b));
    if (!p->integers) {
        y = sp__tflite_activate(c, y, activation);
        return sp__tflite_put(c, 0, sp__tflite_rounded(c, y, 0), planes);
    }
    const int rank = sp_tensor_rank(y);
    for (int k = 0; k < rank; k++) dims[k] = k == channel ? p->n_scales : 1;
    sp_tensor *scale = sp__tflite_floats(c, p->n_scales, p->scales);
    if (p->n_scales == 1) scale = sp_reshape(c->b, scale, 0, NULL);
    else scale = sp_reshape(c->b, scale, rank, dims);
    if (sp_tensor_dtype(y) != SP_DTYPE_F32) scale = sp_cast(c->b, scale, sp_tensor_dtype(y));
    y = sp_mul(c->b, y, scale);
    if (y != NULL && sp_tensor_dtype(y) != SP_DTYPE_F32) y = sp_cast(c->b, y, SP_DTYPE_F32);
    if (face->scale.n == 0) return sp__tflite_put(c, 0, sp__tflite_activate(c, y, activation), planes);
    return sp__tflite_put(c, 0, sp__tflite_to_quanta(c, y, face, activation), planes);
}

void sp__tflite_product_free(sp_tflite_product *p) { sp__free(p->scales); }

/* --- windows ----------------------------------------------------------------------------------------------------- */

sp_status sp__tflite_window_fill(sp_tflite_window *w, const int64_t *in, int64_t padding)
{
    SP_CHECK(padding == SP_TFLITE_PAD_SAME || padding == SP_TFLITE_PAD_VALID, SP_FORMAT,
             "padding is %lld; it must be %d (SAME) or %d (VALID)", (long long)padding, SP_TFLITE_PAD_SAME,
             SP_TFLITE_PAD_VALID);
    for (int i = 0; i < w->n; i++) {
        SP_CHECK(w->kernel[i] > 0 && w->stride[i] > 0 && w->dilation[i] > 0, SP_FORMAT,
                 "kernel, stride and dilation must be positive");
        /* So far apart, all taps but the middle one always lie in the padding: any such distance gives the same, large ones slowly. */
        if (padding == SP_TFLITE_PAD_SAME && w->dilation[i] > 2 * in[i] + 1)
            w->dilation[i] = 2 * in[i] + (w->dilation[i] & 1);
        int64_t out = (in[i] + w->stride[i] - 1) / w->stride[i];
        int64_t total = (out - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - in[i];
        if (total < 0 || padding != SP_TFLITE_PAD_SAME) total = 0;
        w->pads[2 * i] = total / 2;
        w->pads[2 * i + 1] = total - total / 2;
    }
    return SP_OK;
}

void sp__tflite_window_print(const sp_tflite_window *w, sp_tflite_window_text *t)
{
    sp__tflite_list(&t->kernel, w->n, w->kernel);
    sp__tflite_list(&t->stride, w->n, w->stride);
    sp__tflite_list(&t->dilation, w->n, w->dilation);
    sp__tflite_list(&t->pads, 2 * w->n, w->pads);
}

sp_status sp__tflite_check_weights(sp_tflite_call *c, sp_tensor *x, sp_tensor *w, int rank)
{
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(x) == rank && sp_tensor_rank(w) == rank, SP_FORMAT,
             "input and weights have ranks %d and %d, they must have %d", sp_tensor_rank(x), sp_tensor_rank(w), rank);
    return SP_OK;
}

sp_status sp__tflite_convolve(sp_tflite_call *c, sp_tflite_product *p, const sp_tflite_window *w, int64_t groups,
                              sp_tensor **out)
{
    sp_tflite_window_text t;
    char op[16];
    sp__tflite_window_print(w, &t);
    snprintf(op, sizeof op, "conv%dd", w->n);
    *out = sp__tflite_op(c, op, 3, (sp_tensor *[]){p->x, p->w, p->bias},
                         "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=%lld", t.stride.text, t.pads.text,
                         t.dilation.text, (long long)groups);
    return sp_builder_status(c->b);
}
