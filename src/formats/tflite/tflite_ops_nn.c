/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops_nn.c - TensorFlow Lite's convolutions, products, pools and their kin.
 *
 * Weights: CONV_2D [out, height, width, in / groups], DEPTHWISE_CONV_2D [1, height, width, out], TRANSPOSE_CONV [out, height, width, in],
 * FULLY_CONNECTED [out, in]. Of integers the sums (x - zero)(w - zero) + bias are made in float32, which holds them up to 2^24 and is
 * wrong in the last of 24 bits beyond; then they are multiplied by the three scales and rounded to 8 bits, once, ties to even. So a
 * result is the interpreter's, or its neighbour where the interpreter rounds twice. Products of int16 are made in float64.
 *
 * Weights of integers under inputs of floats ("dynamic range"): the interpreter rounds the input, each row or picture by itself, to 8 bits
 * first. So does this, because the model was judged that way. */
#include <math.h>
#include <stdio.h>

#include "formats/tflite/tflite_model.h"

/* --- products of integers ---------------------------------------------------------------------------------------- */

/* What a product is made of, whatever its kind. */
typedef struct product {
    sp_tensor *x, *w, *bias; /* numbers ready to be multiplied */
    bool integers;           /* the result is to be scaled and rounded */
    float *scales;           /* of x times of w, divided by that of the result: one, or one for each channel of the result */
    int n_scales;
} product;

/* Elements less their zero point. */
static sp_tensor *centred(sp_tfl_call *c, sp_tensor *x, const sp_tfl_tensor *face, sp_dtype wide)
{
    x = sp_cast(c->b, x, wide);
    return face->scale.zero[0] != 0 ? sp_sub(c->b, x, sp__tfl_scalar(c, wide, (double)face->scale.zero[0])) : x;
}

/* Floats rounded to 8 bits over the range of each row: axes [first, rank) together. */
static sp_tensor *rounded_input(sp_tfl_call *c, sp_tensor *x, int first, bool symmetric)
{
    int64_t axes[SP_RANK_MAX];
    const int n = sp_tensor_rank(x) - first;
    sp_tfl_text text;
    for (int k = 0; k < n; k++) axes[k] = first + k;
    sp__tfl_list(&text, n, axes);
    sp_tensor *zero = sp__const(c->b, 0, x), *one = sp__tfl_scalar(c, SP_DTYPE_F32, 1);
    if (symmetric) {
        sp_tensor *most = SP_TFL_OP1(c, "reduce_max", sp_abs(c->b, x), "axis=%s, keepdims=True", text.text);
        sp_tensor *scale = sp__mul_number(c->b, most, 1 / 127.0);
        scale = sp_select(c->b, sp_equal(c->b, scale, zero), one, scale);
        return sp_mul(c->b, sp_round(c->b, sp_div(c->b, x, scale)), scale);
    }
    sp_tensor *low = sp_minimum(c->b, SP_TFL_OP1(c, "reduce_min", x, "axis=%s, keepdims=True", text.text), zero);
    sp_tensor *high = sp_maximum(c->b, SP_TFL_OP1(c, "reduce_max", x, "axis=%s, keepdims=True", text.text), zero);
    sp_tensor *scale = sp__mul_number(c->b, sp_sub(c->b, high, low), 1 / 255.0);
    scale = sp_select(c->b, sp_equal(c->b, scale, zero), one, scale);
    /* The zero point from the end of the range where it is the more exact one. */
    sp_tensor *below = sp_div(c->b, low, scale), *above = sp_div(c->b, high, scale);
    sp_tensor *by_low = sp__add_number(c->b, sp_neg(c->b, below), -128), *by_high = sp__add_number(c->b, sp_neg(c->b, above), 127);
    sp_tensor *nearer = sp_less(c->b, sp__add_number(c->b, sp_abs(c->b, below), 128), sp__add_number(c->b, sp_abs(c->b, above), 127));
    sp_tensor *shift = sp_round(c->b, sp_select(c->b, nearer, by_low, by_high));
    sp_tensor *from = sp__tfl_scalar(c, SP_DTYPE_F32, -128), *to = sp__tfl_scalar(c, SP_DTYPE_F32, 127);
    shift = sp_minimum(c->b, sp_maximum(c->b, shift, from), to);
    sp_tensor *q = sp_round(c->b, sp_add(c->b, sp_div(c->b, x, scale), shift));
    q = sp_minimum(c->b, sp_maximum(c->b, q, from), to);
    return sp_mul(c->b, sp_sub(c->b, q, shift), scale);
}

/* Inputs `x` and `w`, which have been brought into the layout of the product; the channels of the result are at `axis` of the weights in
 * the file. rows: first axis of what is rounded together when only the weights are integers. */
static sp_status prepare(sp_tfl_call *c, int i_x, int i_w, int i_bias, sp_tensor *x, sp_tensor *w, int rows, bool symmetric, product *p)
{
    const sp_tfl_tensor *fx = sp__tfl_in_face(c, i_x), *fw = sp__tfl_in_face(c, i_w), *fy = sp__tfl_out_face(c, 0);
    const sp_tfl_tensor *fb = i_bias >= 0 ? sp__tfl_in_face(c, i_bias) : NULL;
    *p = (product){.x = x, .w = w, .bias = i_bias >= 0 ? sp__tfl_plain(c, i_bias) : NULL};
    SP_TRY(sp_builder_status(c->b));
    if (fw->scale.n == 0 || fx->scale.n == 0) {
        if (sp_dtype_kind(sp_tensor_dtype(w)) == 'f' && sp_tensor_dtype(w) != SP_DTYPE_F32) p->w = sp_cast(c->b, w, SP_DTYPE_F32);
        SP_CHECK(sp_dtype_kind(sp_tensor_dtype(p->w)) == 'f' || fw->scale.n > 0, SP_DECLINED, "weights of %s without a scale are not supported",
                 sp_dtype_name(sp_tensor_dtype(w)));
        if (fx->scale.n > 0) p->x = sp__tfl_real(c, x, fx, false);
        else if (fw->scale.n > 0) p->x = rounded_input(c, x, rows, symmetric);
        if (p->bias != NULL && fb->scale.n > 0) p->bias = sp__tfl_real(c, p->bias, fb, false);
        return sp_builder_status(c->b);
    }
    const sp_dtype wide = fx->meta.dtype == SP_DTYPE_I16 ? SP_DTYPE_F64 : SP_DTYPE_F32;
    SP_CHECK(fx->scale.n == 1 && fy->scale.n <= 1, SP_DECLINED, "inputs and results with a scale for each channel are not supported");
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

/* The weights of a product of floats by their scales; those that are rounded (see prepare) as well. */
static sp_tensor *real_weights(sp_tfl_call *c, int i_x, int i_w)
{
    const sp_tfl_tensor *fw = sp__tfl_in_face(c, i_w), *fx = sp__tfl_in_face(c, i_x);
    sp_tensor *w = sp__tfl_plain(c, i_w);
    return fw->scale.n > 0 && fx->scale.n == 0 ? sp__tfl_real(c, w, fw, false) : w;
}

/* The sums y to results: scaled, with its activation, rounded. channel: axis of the channels in y. */
static sp_status finish(sp_tfl_call *c, product *p, sp_tensor *y, int channel, int64_t activation, bool planes)
{
    const sp_tfl_tensor *face = sp__tfl_out_face(c, 0);
    int64_t dims[SP_RANK_MAX];
    SP_TRY(sp_builder_status(c->b));
    if (!p->integers) {
        y = sp__tfl_activate(c, y, activation);
        return sp__tfl_put(c, 0, sp__tfl_rounded(c, y, 0), planes);
    }
    const int rank = sp_tensor_rank(y);
    for (int k = 0; k < rank; k++) dims[k] = k == channel ? p->n_scales : 1;
    sp_tensor *scale = sp__tfl_floats(c, p->n_scales, p->scales);
    if (p->n_scales == 1) scale = sp_reshape(c->b, scale, 0, NULL);
    else scale = sp_reshape(c->b, scale, rank, dims);
    if (sp_tensor_dtype(y) != SP_DTYPE_F32) scale = sp_cast(c->b, scale, sp_tensor_dtype(y));
    y = sp_mul(c->b, y, scale);
    if (y != NULL && sp_tensor_dtype(y) != SP_DTYPE_F32) y = sp_cast(c->b, y, SP_DTYPE_F32);
    if (face->scale.n == 0) return sp__tfl_put(c, 0, sp__tfl_activate(c, y, activation), planes);
    return sp__tfl_put(c, 0, sp__tfl_to_quanta(c, y, face, activation), planes);
}

static void product_free(product *p) { sp__free(p->scales); }

/* --- windows ----------------------------------------------------------------------------------------------------- */

enum { SAME = 0, VALID = 1 }; /* Padding */

typedef struct window {
    int n; /* spatial dimensions */
    int64_t kernel[3], stride[3], dilation[3], pads[6];
} window;

typedef struct window_text {
    sp_tfl_text kernel, stride, dilation, pads;
} window_text;

static sp_status window_fill(window *w, const int64_t *in, int64_t padding)
{
    SP_CHECK(padding == SAME || padding == VALID, SP_FORMAT, "padding is %lld; it must be %d (SAME) or %d (VALID)", (long long)padding, SAME, VALID);
    for (int i = 0; i < w->n; i++) {
        SP_CHECK(w->kernel[i] > 0 && w->stride[i] > 0 && w->dilation[i] > 0, SP_FORMAT, "kernel, stride and dilation must be positive");
        /* So far apart, all taps but the middle one always lie in the padding: any such distance gives the same, large ones slowly. */
        if (padding == SAME && w->dilation[i] > 2 * in[i] + 1) w->dilation[i] = 2 * in[i] + (w->dilation[i] & 1);
        int64_t out = (in[i] + w->stride[i] - 1) / w->stride[i];
        int64_t total = (out - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - in[i];
        if (total < 0 || padding != SAME) total = 0;
        w->pads[2 * i] = total / 2;
        w->pads[2 * i + 1] = total - total / 2;
    }
    return SP_OK;
}

static void window_print(const window *w, window_text *t)
{
    sp__tfl_list(&t->kernel, w->n, w->kernel);
    sp__tfl_list(&t->stride, w->n, w->stride);
    sp__tfl_list(&t->dilation, w->n, w->dilation);
    sp__tfl_list(&t->pads, 2 * w->n, w->pads);
}

/* Weights [out, .., in] as [out, in, ..]; of depthwise ones [1, .., out] as [out, 1, ..]. */
static sp_status check_weights(sp_tfl_call *c, sp_tensor *x, sp_tensor *w, int rank)
{
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(x) == rank && sp_tensor_rank(w) == rank, SP_FORMAT, "input and weights have ranks %d and %d, they must have %d",
             sp_tensor_rank(x), sp_tensor_rank(w), rank);
    return SP_OK;
}

static sp_status convolve(sp_tfl_call *c, product *p, const window *w, int64_t groups, sp_tensor **out)
{
    window_text t;
    char op[16];
    window_print(w, &t);
    snprintf(op, sizeof op, "conv%dd", w->n);
    *out = sp__tfl_op(c, op, 3, (sp_tensor *[]){p->x, p->w, p->bias}, "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=%lld", t.stride.text,
                      t.pads.text, t.dilation.text, (long long)groups);
    return sp_builder_status(c->b);
}

static sp_status conv_2d(sp_tfl_call *c)
{
    const bool depthwise = c->node->handler->code == 4;
    const int shift = depthwise ? 1 : 0; /* depth_multiplier stands before the activation */
    sp_tensor *x = sp__tfl_planes(c, 0), *w = real_weights(c, 0, 1);
    SP_TRY(check_weights(c, x, w, 4));
    w = sp_transpose(c->b, w, 4, depthwise ? (int64_t[]){3, 0, 1, 2} : (int64_t[]){0, 3, 1, 2});
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w), channels = sp_tensor_dims(x)[1];
    window win = {.n = 2, .kernel = {k[2], k[3]}, .stride = {sp__tfl_int(c, 2, 0), sp__tfl_int(c, 1, 0)},
                  .dilation = {sp__tfl_int(c, 5 + shift, 1), sp__tfl_int(c, 4 + shift, 1)}};
    SP_TRY(window_fill(&win, sp_tensor_dims(x) + 2, sp__tfl_byte(c, 0, SAME)));
    SP_CHECK(k[1] > 0 && channels % k[1] == 0, SP_FORMAT, "%lld channels for weights of %lld", (long long)channels, (long long)k[1]);
    product p;
    sp_tensor *y = NULL;
    sp_status status = prepare(c, 0, 1, 2, x, w, 1, false, &p);
    if (status == SP_OK) status = convolve(c, &p, &win, channels / k[1], &y);
    if (status == SP_OK) status = finish(c, &p, y, 1, sp__tfl_byte(c, 3 + shift, 0), true);
    product_free(&p);
    return status;
}

static sp_status conv_3d(sp_tfl_call *c)
{
    sp_tensor *x = sp__tfl_plain(c, 0), *w = real_weights(c, 0, 1), *y = NULL;
    SP_TRY(check_weights(c, x, w, 5));
    x = sp_transpose(c->b, x, 5, (int64_t[]){0, 4, 1, 2, 3});
    w = sp_transpose(c->b, w, 5, (int64_t[]){4, 3, 0, 1, 2});
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2;
    window win = {.n = 3, .kernel = {k[0], k[1], k[2]}, .stride = {sp__tfl_int(c, 1, 0), sp__tfl_int(c, 3, 0), sp__tfl_int(c, 2, 0)},
                  .dilation = {sp__tfl_int(c, 5, 1), sp__tfl_int(c, 7, 1), sp__tfl_int(c, 6, 1)}};
    SP_TRY(window_fill(&win, sp_tensor_dims(x) + 2, sp__tfl_byte(c, 0, SAME)));
    product p;
    sp_status status = prepare(c, 0, 1, 2, x, w, 1, false, &p);
    if (status == SP_OK) status = convolve(c, &p, &win, 1, &y);
    if (status == SP_OK) y = sp_transpose(c->b, y, 5, (int64_t[]){0, 2, 3, 4, 1});
    if (status == SP_OK) status = finish(c, &p, y, 4, sp__tfl_byte(c, 4, 0), false);
    product_free(&p);
    return status;
}

/* The gradient of a convolution by its input, of the wanted size. x planes, w [in, out, ..]. */
static sp_status deconvolve(sp_tfl_call *c, product *p, window *w, const int64_t *size, int64_t padding, sp_tensor **out)
{
    window_text t;
    sp_tfl_text wanted;
    char op[32];
    int64_t dims[SP_RANK_MAX] = {1, -1, 1, 1, 1};
    for (int i = 0; i < w->n; i++) SP_CHECK(size[i] > 0, SP_FORMAT, "the size of the result is %lld", (long long)size[i]);
    SP_TRY(window_fill(w, size, padding));
    if (padding != SAME) /* what the last window does not reach is zero */
        for (int i = 0; i < w->n; i++) SP_CHECK((sp_tensor_dims(p->x)[i + 2] - 1) * w->stride[i] + w->kernel[i] <= size[i] + w->stride[i], SP_FORMAT,
                                                "a result of size %lld does not fit", (long long)size[i]);
    window_print(w, &t);
    snprintf(op, sizeof op, "conv%dd_input_grad", w->n);
    *out = SP_TFL_OP2(c, op, p->x, p->w, "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=1, input_size=%s", t.stride.text, t.pads.text,
                      t.dilation.text, sp__tfl_list(&wanted, w->n, size));
    if (p->bias != NULL) *out = sp_add(c->b, *out, sp_reshape(c->b, p->bias, w->n + 2, dims));
    return sp_builder_status(c->b);
}

/* Inputs: shape of the result, weights, x, bias. */
static sp_status transpose_conv(sp_tfl_call *c)
{
    sp_tfl_ints shape;
    c->in[0] = sp__tfl_plain(c, 0);
    SP_TRY(sp__tfl_ints(c, 0, &shape));
    sp_tensor *x = sp__tfl_planes(c, 2), *w = real_weights(c, 2, 1), *y = NULL;
    SP_CHECK(shape.n == 4, SP_FORMAT, "the shape of the result has %d dimensions", shape.n);
    SP_TRY(check_weights(c, x, w, 4));
    w = sp_transpose(c->b, w, 4, (int64_t[]){3, 0, 1, 2});
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2;
    window win = {.n = 2, .kernel = {k[0], k[1]}, .stride = {sp__tfl_int(c, 2, 0), sp__tfl_int(c, 1, 0)}, .dilation = {1, 1}};
    product p;
    sp_status status = prepare(c, 2, 1, 3, x, w, 1, false, &p);
    if (status == SP_OK) status = deconvolve(c, &p, &win, (int64_t[]){shape.v[1], shape.v[2]}, sp__tfl_byte(c, 0, SAME), &y);
    if (status == SP_OK) status = finish(c, &p, y, 1, sp__tfl_byte(c, 3, 0), true);
    product_free(&p);
    return status;
}

static sp_status conv_3d_transpose(sp_tfl_call *c)
{
    sp_tfl_ints shape;
    c->in[0] = sp__tfl_plain(c, 0);
    SP_TRY(sp__tfl_ints(c, 0, &shape));
    sp_tensor *x = sp__tfl_plain(c, 2), *w = real_weights(c, 2, 1), *y = NULL;
    SP_CHECK(shape.n == 5, SP_FORMAT, "the shape of the result has %d dimensions", shape.n);
    SP_TRY(check_weights(c, x, w, 5));
    x = sp_transpose(c->b, x, 5, (int64_t[]){0, 4, 1, 2, 3});
    w = sp_transpose(c->b, w, 5, (int64_t[]){4, 3, 0, 1, 2}); /* the file has [.., out, in] */
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2;
    window win = {.n = 3, .kernel = {k[0], k[1], k[2]}, .stride = {sp__tfl_int(c, 1, 0), sp__tfl_int(c, 3, 0), sp__tfl_int(c, 2, 0)},
                  .dilation = {sp__tfl_int(c, 5, 1), sp__tfl_int(c, 7, 1), sp__tfl_int(c, 6, 1)}};
    product p;
    sp_status status = prepare(c, 2, 1, 3, x, w, 1, false, &p);
    if (status == SP_OK) status = deconvolve(c, &p, &win, shape.v + 1, sp__tfl_byte(c, 0, SAME), &y);
    if (status == SP_OK) y = sp_transpose(c->b, y, 5, (int64_t[]){0, 2, 3, 4, 1});
    if (status == SP_OK) status = finish(c, &p, y, 4, sp__tfl_byte(c, 4, 0), false);
    product_free(&p);
    return status;
}

/* MediaPipe's: x, weights [out, height, width, in], bias; options are padding, stride_width, stride_height as 4-byte numbers. */
static sp_status transpose_conv_bias(sp_tfl_call *c)
{
    int64_t option[3] = {0, 2, 2}, size[2];
    for (int i = 0; i < 3 && (size_t)(4 * i + 4) <= c->node->custom_bytes; i++)
        option[i] = (int64_t)c->node->custom[4 * i] | (int64_t)c->node->custom[4 * i + 1] << 8;
    sp_tensor *x = sp__tfl_planes(c, 0), *w = real_weights(c, 0, 1), *y = NULL;
    SP_TRY(check_weights(c, x, w, 4));
    w = sp_transpose(c->b, w, 4, (int64_t[]){3, 0, 1, 2});
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2;
    const int64_t padding = option[0] == 1 ? SAME : 1; /* here 1 is SAME and 2 VALID */
    window win = {.n = 2, .kernel = {k[0], k[1]}, .stride = {option[2], option[1]}, .dilation = {1, 1}};
    for (int i = 0; i < 2; i++)
        size[i] = padding == SAME ? sp_tensor_dims(x)[2 + i] * win.stride[i] : (sp_tensor_dims(x)[2 + i] - 1) * win.stride[i] + k[i];
    product p;
    sp_status status = prepare(c, 0, 1, 2, x, w, 1, false, &p);
    if (status == SP_OK) status = deconvolve(c, &p, &win, size, padding, &y);
    if (status == SP_OK) status = finish(c, &p, y, 1, 0, true);
    product_free(&p);
    return status;
}

/* --- products ---------------------------------------------------------------------------------------------------- */

static sp_status fully_connected(sp_tfl_call *c)
{
    sp_tensor *x = sp__tfl_plain(c, 0), *w = real_weights(c, 0, 1), *y = NULL;
    int64_t dims[SP_RANK_MAX];
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(w) == 2 && sp__tfl_byte(c, 1, 0) == 0, SP_DECLINED, "weights in this order are not supported");
    const int rank = sp_tensor_rank(x);
    const int64_t in = sp_tensor_dims(w)[1], out = sp_tensor_dims(w)[0];
    SP_CHECK(in > 0 && sp_tensor_count(x) % in == 0, SP_FORMAT, "%lld elements for rows of %lld", (long long)sp_tensor_count(x), (long long)in);
    const bool keep = sp__tfl_byte(c, 2, 0) && rank > 0 && sp_tensor_dims(x)[rank - 1] == in;
    for (int k = 0; k < rank; k++) dims[k] = sp_tensor_dims(x)[k];
    if (keep) dims[rank - 1] = out;
    if (rank != 2 || sp_tensor_dims(x)[1] != in) x = sp_reshape(c->b, x, 2, (int64_t[]){-1, in});
    product p;
    sp_status status = prepare(c, 0, 1, 2, x, w, 1, !sp__tfl_byte(c, 3, 0), &p);
    if (status == SP_OK) y = sp__tfl_op(c, "dense", 3, (sp_tensor *[]){p.x, p.w, p.bias}, NULL);
    if (status == SP_OK && keep && rank != 2) y = sp_reshape(c->b, y, rank, dims);
    if (status == SP_OK) status = finish(c, &p, y, keep ? rank - 1 : 1, sp__tfl_byte(c, 0, 0), false);
    product_free(&p);
    return status;
}

static sp_status batch_matmul(sp_tfl_call *c)
{
    return sp__tfl_return(c, sp_matmul(c->b, c->in[0], c->in[1], sp__tfl_byte(c, 0, 0) != 0, sp__tfl_byte(c, 1, 0) != 0));
}

/* --- pools ------------------------------------------------------------------------------------------------------- */

static sp_status pool_window(sp_tfl_call *c, const sp_tensor *x, window_text *t)
{
    SP_TRY(sp_builder_status(c->b));
    window w = {.n = 2, .kernel = {sp__tfl_int(c, 4, 0), sp__tfl_int(c, 3, 0)}, .stride = {sp__tfl_int(c, 2, 0), sp__tfl_int(c, 1, 0)},
                .dilation = {1, 1}};
    SP_TRY(window_fill(&w, sp_tensor_dims(x) + 2, sp__tfl_byte(c, 0, SAME)));
    window_print(&w, t);
    return SP_OK;
}

/* Of integers the mean of the integers, ties away from zero; the scale is the same on both sides. */
static sp_status average_pool(sp_tfl_call *c)
{
    const sp_tfl_tensor *face = sp__tfl_out_face(c, 0);
    sp_tensor *x = sp__tfl_planes(c, 0);
    window_text t;
    SP_TRY(pool_window(c, x, &t));
    if (face->scale.n > 0) x = sp_cast(c->b, x, SP_DTYPE_F32);
    sp_tensor *y = SP_TFL_OP1(c, "avg_pool2d", x, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s", t.kernel.text, t.stride.text, t.pads.text);
    if (face->scale.n == 0) return sp__tfl_put(c, 0, sp__tfl_activate(c, y, sp__tfl_byte(c, 5, 0)), true);
    y = sp_mul(c->b, sp_sign(c->b, y), sp_floor(c->b, sp__add_number(c->b, sp_abs(c->b, y), 0.5)));
    y = sp__add_number(c->b, y, -(double)face->scale.zero[0]);
    return sp__tfl_put(c, 0, sp__tfl_to_quanta(c, y, face, sp__tfl_byte(c, 5, 0)), true);
}

static sp_status max_pool(sp_tfl_call *c)
{
    const sp_tfl_tensor *face = sp__tfl_out_face(c, 0);
    sp_tensor *x = sp__tfl_planes(c, 0);
    window_text t;
    SP_TRY(pool_window(c, x, &t));
    if (face->scale.n > 0) x = sp_cast(c->b, x, SP_DTYPE_F32);
    sp_tensor *y = SP_TFL_OP1(c, "max_pool2d", x, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s", t.kernel.text, t.stride.text, t.pads.text);
    if (face->scale.n == 0) return sp__tfl_put(c, 0, sp__tfl_activate(c, y, sp__tfl_byte(c, 5, 0)), true);
    y = sp__add_number(c->b, y, -(double)face->scale.zero[0]);
    return sp__tfl_put(c, 0, sp__tfl_to_quanta(c, y, face, sp__tfl_byte(c, 5, 0)), true);
}

static sp_status l2_pool(sp_tfl_call *c)
{
    sp_tensor *x = sp_square(c->b, sp__tfl_planes(c, 0));
    window_text t;
    SP_TRY(pool_window(c, x, &t));
    sp_tensor *y = SP_TFL_OP1(c, "avg_pool2d", x, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s", t.kernel.text, t.stride.text, t.pads.text);
    return sp__tfl_put(c, 0, sp__tfl_activate(c, sp_sqrt(c->b, y), sp__tfl_byte(c, 5, 0)), true);
}

static sp_status local_response(sp_tfl_call *c)
{
    sp_tensor *y = SP_TFL_OP1(c, "lrn", sp__tfl_planes(c, 0), "depth_radius=%lld, bias=%.9g, alpha=%.9g, beta=%.9g", (long long)sp__tfl_int(c, 0, 0),
                              sp__tfl_float(c, 1, 0), sp__tfl_float(c, 2, 0), sp__tfl_float(c, 3, 0));
    return sp__tfl_put(c, 0, y, true);
}

/* --- sizes of pictures ------------------------------------------------------------------------------------------- */

static sp_status wanted_size(sp_tfl_call *c, int64_t size[2])
{
    sp_tfl_ints list = {.n = 0};
    c->in[1] = sp__tfl_plain(c, 1);
    SP_TRY(sp__tfl_ints(c, 1, &list));
    SP_CHECK(list.n == 2 && list.v[0] > 0 && list.v[1] > 0, SP_VALUE, "the size must be two positive numbers");
    size[0] = list.v[0];
    size[1] = list.v[1];
    return SP_OK;
}

static sp_status resize_bilinear(sp_tfl_call *c)
{
    int64_t size[2];
    SP_TRY(wanted_size(c, size));
    sp_tensor *x = sp__tfl_real(c, sp__tfl_planes(c, 0), sp__tfl_in_face(c, 0), true);
    const char *places = sp__tfl_byte(c, 2, 0) ? "align_corners" : sp__tfl_byte(c, 3, 0) ? "half_pixel" : "asymmetric";
    SP_TRY(sp_builder_status(c->b));
    if (size[0] == sp_tensor_dims(x)[2] && size[1] == sp_tensor_dims(x)[3]) x = sp_identity(c->b, x);
    else x = SP_TFL_OP1(c, "resize", x, "size=(%lld,%lld), mode=linear, coordinates=%s", (long long)size[0], (long long)size[1], places);
    return sp__tfl_put(c, 0, sp__tfl_rounded(c, x, 0), true);
}

/* Positions as the interpreter computes them, in float32. */
static sp_tensor *nearest(sp_tfl_call *c, sp_tensor *x, int axis, int64_t out, bool corners, bool half)
{
    const int64_t in = sp_tensor_dims(x)[axis];
    int64_t *at = sp__alloc((size_t)out * sizeof *at);
    if (at == NULL) return sp__builder_fail(c->b, SP_NOMEM);
    const float scale = corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    for (int64_t i = 0; i < out; i++) {
        const float place = ((float)i + (half ? 0.5f : 0)) * scale;
        at[i] = (int64_t)(corners ? roundf(place) : floorf(place));
        if (at[i] > in - 1) at[i] = in - 1;
    }
    sp_tensor *t = NULL;
    sp_status status = sp_tensor_create_from(SP_DTYPE_I64, 1, &out, at, &t);
    sp__free(at);
    if (status != SP_OK) return sp__builder_fail(c->b, status);
    return SP_TFL_OP2(c, "gather", x, sp_builder_take_tensor(c->b, t), "axis=%d", axis);
}

static sp_status resize_nearest(sp_tfl_call *c)
{
    int64_t size[2];
    SP_TRY(wanted_size(c, size));
    sp_tensor *x = sp__tfl_planes(c, 0);
    const bool corners = sp__tfl_byte(c, 0, 0) != 0, half = sp__tfl_byte(c, 1, 0) != 0;
    for (int i = 0; i < 2; i++) {
        SP_TRY(sp_builder_status(c->b));
        SP_CHECK(sp_tensor_dims(x)[2 + i] > 0, SP_VALUE, "axis %d is empty", i + 1);
        x = nearest(c, x, 2 + i, size[i], corners, half);
    }
    return sp__tfl_put(c, 0, x, true);
}

const sp_tfl_handler sp__tfl_nn[] = {
    {3, "CONV_2D", conv_2d, NULL, SP_TFL_RAW, 2, -1}, {4, "DEPTHWISE_CONV_2D", conv_2d, NULL, SP_TFL_RAW, 2, -1},
    {132, "CONV_3D", conv_3d, NULL, SP_TFL_RAW, 2, -1}, {67, "TRANSPOSE_CONV", transpose_conv, NULL, SP_TFL_RAW, 3, -1},
    {141, "CONV_3D_TRANSPOSE", conv_3d_transpose, NULL, SP_TFL_RAW, 3, -1},
    {32, "Convolution2DTransposeBias", transpose_conv_bias, NULL, SP_TFL_RAW, 3, -1},
    {9, "FULLY_CONNECTED", fully_connected, NULL, SP_TFL_RAW, 2, -1}, {126, "BATCH_MATMUL", batch_matmul, NULL, SP_TFL_REAL, 2, -1},
    {1, "AVERAGE_POOL_2D", average_pool, NULL, SP_TFL_RAW, 1, -1}, {17, "MAX_POOL_2D", max_pool, NULL, SP_TFL_RAW, 1, -1},
    {12, "L2_POOL_2D", l2_pool, NULL, SP_TFL_RAW, 1, -1}, {13, "LOCAL_RESPONSE_NORMALIZATION", local_response, NULL, SP_TFL_RAW, 1, -1},
    {23, "RESIZE_BILINEAR", resize_bilinear, NULL, SP_TFL_RAW, 2, -1}, {97, "RESIZE_NEAREST_NEIGHBOR", resize_nearest, NULL, SP_TFL_RAW, 2, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
