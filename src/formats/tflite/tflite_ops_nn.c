/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops_nn.c - TensorFlow Lite's convolutions, products, pools and their kin.
 *
 * Weights: CONV_2D [out, height, width, in / groups], DEPTHWISE_CONV_2D [1, height, width, out], TRANSPOSE_CONV [out, height, width, in],
 * FULLY_CONNECTED [out, in]. How sums are rounded is told in tflite_product.c. */
#include <math.h>
#include <stdio.h>

#include "formats/tflite/tflite_product.h"

/* --- convolutions ------------------------------------------------------------------------------------------------ */

static sp_status conv_2d(sp_tflite_call *c)
{
    const bool depthwise = c->node->handler->code == 4;
    const int shift = depthwise ? 1 : 0; /* depth_multiplier stands before the activation */
    sp_tensor *x = sp__tflite_planes(c, 0),
              *w = sp__tflite_weights(c, 0, 1, 4, depthwise ? (int64_t[]){3, 0, 1, 2} : (int64_t[]){0, 3, 1, 2});
    SP_TRY(sp__tflite_check_weights(c, x, w, 4));
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w), channels = sp_tensor_dims(x)[1];
    sp_tflite_window win = {.n = 2,
                            .kernel = {k[2], k[3]},
                            .stride = {sp__tflite_int(c, 2, 0), sp__tflite_int(c, 1, 0)},
                            .dilation = {sp__tflite_int(c, 5 + shift, 1), sp__tflite_int(c, 4 + shift, 1)}};
    SP_TRY(sp__tflite_window_fill(&win, sp_tensor_dims(x) + 2, sp__tflite_byte(c, 0, SP_TFLITE_PAD_SAME)));
    SP_CHECK(k[1] > 0 && channels % k[1] == 0, SP_FORMAT, "%lld channels for weights of %lld", (long long)channels,
             (long long)k[1]);
    sp_tflite_product p;
    sp_tensor *y = NULL;
    sp_status status = sp__tflite_prepare(c, 0, 1, 2, x, w, 1, false, &p);
    if (status == SP_OK) status = sp__tflite_convolve(c, &p, &win, channels / k[1], &y);
    if (status == SP_OK) status = sp__tflite_finish(c, &p, y, 1, sp__tflite_byte(c, 3 + shift, 0), true);
    sp__tflite_product_free(&p);
    return status;
}

static sp_status conv_3d(sp_tflite_call *c)
{
    sp_tensor *x = sp__tflite_plain(c, 0), *w = sp__tflite_weights(c, 0, 1, 5, (int64_t[]){4, 3, 0, 1, 2}), *y = NULL;
    SP_TRY(sp__tflite_check_weights(c, x, w, 5));
    x = sp_transpose(c->b, x, 5, (int64_t[]){0, 4, 1, 2, 3});
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2;
    sp_tflite_window win = {.n = 3,
                            .kernel = {k[0], k[1], k[2]},
                            .stride = {sp__tflite_int(c, 1, 0), sp__tflite_int(c, 3, 0), sp__tflite_int(c, 2, 0)},
                            .dilation = {sp__tflite_int(c, 5, 1), sp__tflite_int(c, 7, 1), sp__tflite_int(c, 6, 1)}};
    SP_TRY(sp__tflite_window_fill(&win, sp_tensor_dims(x) + 2, sp__tflite_byte(c, 0, SP_TFLITE_PAD_SAME)));
    sp_tflite_product p;
    sp_status status = sp__tflite_prepare(c, 0, 1, 2, x, w, 1, false, &p);
    if (status == SP_OK) status = sp__tflite_convolve(c, &p, &win, 1, &y);
    if (status == SP_OK) y = sp_transpose(c->b, y, 5, (int64_t[]){0, 2, 3, 4, 1});
    if (status == SP_OK) status = sp__tflite_finish(c, &p, y, 4, sp__tflite_byte(c, 4, 0), false);
    sp__tflite_product_free(&p);
    return status;
}

/* The gradient of a convolution by its input, of the wanted size. x planes, w [in, out, ..]. */
static sp_status deconvolve(sp_tflite_call *c, sp_tflite_product *p, sp_tflite_window *w, const int64_t *size,
                            int64_t padding, sp_tensor **out)
{
    sp_tflite_window_text t;
    sp_tflite_text wanted;
    char op[32];
    int64_t dims[SP_RANK_MAX] = {1, -1, 1, 1, 1};
    for (int i = 0; i < w->n; i++)
        SP_CHECK(size[i] > 0, SP_FORMAT, "the size of the result is %lld", (long long)size[i]);
    SP_TRY(sp__tflite_window_fill(w, size, padding));
    if (padding != SP_TFLITE_PAD_SAME) /* what the last window does not reach is zero */
        for (int i = 0; i < w->n; i++)
            SP_CHECK((sp_tensor_dims(p->x)[i + 2] - 1) * w->stride[i] + w->kernel[i] <= size[i] + w->stride[i],
                     SP_FORMAT, "a result of size %lld does not fit", (long long)size[i]);
    sp__tflite_window_print(w, &t);
    snprintf(op, sizeof op, "conv%dd_input_grad", w->n);
    *out = SP_TFLITE_OP2(c, op, p->x, p->w, "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=1, input_size=%s",
                         t.stride.text, t.pads.text, t.dilation.text, sp__tflite_list(&wanted, w->n, size));
    if (p->bias != NULL) *out = sp_add(c->b, *out, sp_reshape(c->b, p->bias, w->n + 2, dims));
    return sp_builder_status(c->b);
}

/* Inputs: shape of the result, weights, x, bias. */
static sp_status transpose_conv(sp_tflite_call *c)
{
    sp_tflite_ints shape;
    c->in[0] = sp__tflite_plain(c, 0);
    SP_TRY(sp__tflite_ints(c, 0, &shape));
    sp_tensor *x = sp__tflite_planes(c, 2), *w = sp__tflite_weights(c, 2, 1, 4, (int64_t[]){3, 0, 1, 2}), *y = NULL;
    SP_CHECK(shape.n == 4, SP_FORMAT, "the shape of the result has %d dimensions", shape.n);
    SP_TRY(sp__tflite_check_weights(c, x, w, 4));
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2;
    sp_tflite_window win = {.n = 2,
                            .kernel = {k[0], k[1]},
                            .stride = {sp__tflite_int(c, 2, 0), sp__tflite_int(c, 1, 0)},
                            .dilation = {1, 1}};
    sp_tflite_product p;
    sp_status status = sp__tflite_prepare(c, 2, 1, 3, x, w, 1, false, &p);
    if (status == SP_OK)
        status =
            deconvolve(c, &p, &win, (int64_t[]){shape.v[1], shape.v[2]}, sp__tflite_byte(c, 0, SP_TFLITE_PAD_SAME), &y);
    if (status == SP_OK) status = sp__tflite_finish(c, &p, y, 1, sp__tflite_byte(c, 3, 0), true);
    sp__tflite_product_free(&p);
    return status;
}

static sp_status conv_3d_transpose(sp_tflite_call *c)
{
    sp_tflite_ints shape;
    c->in[0] = sp__tflite_plain(c, 0);
    SP_TRY(sp__tflite_ints(c, 0, &shape));
    sp_tensor *x = sp__tflite_plain(c, 2), *w = sp__tflite_weights(c, 2, 1, 5, (int64_t[]){4, 3, 0, 1, 2}), *y = NULL;
    SP_CHECK(shape.n == 5, SP_FORMAT, "the shape of the result has %d dimensions", shape.n);
    SP_TRY(sp__tflite_check_weights(c, x, w, 5));
    x = sp_transpose(c->b, x, 5, (int64_t[]){0, 4, 1, 2, 3}); /* the file has [.., out, in] */
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2;
    sp_tflite_window win = {.n = 3,
                            .kernel = {k[0], k[1], k[2]},
                            .stride = {sp__tflite_int(c, 1, 0), sp__tflite_int(c, 3, 0), sp__tflite_int(c, 2, 0)},
                            .dilation = {sp__tflite_int(c, 5, 1), sp__tflite_int(c, 7, 1), sp__tflite_int(c, 6, 1)}};
    sp_tflite_product p;
    sp_status status = sp__tflite_prepare(c, 2, 1, 3, x, w, 1, false, &p);
    if (status == SP_OK) status = deconvolve(c, &p, &win, shape.v + 1, sp__tflite_byte(c, 0, SP_TFLITE_PAD_SAME), &y);
    if (status == SP_OK) y = sp_transpose(c->b, y, 5, (int64_t[]){0, 2, 3, 4, 1});
    if (status == SP_OK) status = sp__tflite_finish(c, &p, y, 4, sp__tflite_byte(c, 4, 0), false);
    sp__tflite_product_free(&p);
    return status;
}

/* MediaPipe's: x, weights [out, height, width, in], bias; options are padding, stride_width, stride_height as 4-byte numbers. */
static sp_status transpose_conv_bias(sp_tflite_call *c)
{
    int64_t option[3] = {0, 2, 2}, size[2];
    for (int i = 0; i < 3 && (size_t)(4 * i + 4) <= c->node->custom_bytes; i++)
        option[i] = (int64_t)c->node->custom[4 * i] | (int64_t)c->node->custom[4 * i + 1] << 8;
    sp_tensor *x = sp__tflite_planes(c, 0), *w = sp__tflite_weights(c, 0, 1, 4, (int64_t[]){3, 0, 1, 2}), *y = NULL;
    SP_TRY(sp__tflite_check_weights(c, x, w, 4));
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2;
    const int64_t padding =
        option[0] == 1 ? SP_TFLITE_PAD_SAME : 1; /* here 1 is SP_TFLITE_PAD_SAME and 2 SP_TFLITE_PAD_VALID */
    sp_tflite_window win = {.n = 2, .kernel = {k[0], k[1]}, .stride = {option[2], option[1]}, .dilation = {1, 1}};
    for (int i = 0; i < 2; i++)
        size[i] = padding == SP_TFLITE_PAD_SAME ? sp_tensor_dims(x)[2 + i] * win.stride[i]
                                                : (sp_tensor_dims(x)[2 + i] - 1) * win.stride[i] + k[i];
    sp_tflite_product p;
    sp_status status = sp__tflite_prepare(c, 0, 1, 2, x, w, 1, false, &p);
    if (status == SP_OK) status = deconvolve(c, &p, &win, size, padding, &y);
    if (status == SP_OK) status = sp__tflite_finish(c, &p, y, 1, 0, true);
    sp__tflite_product_free(&p);
    return status;
}

/* --- products ---------------------------------------------------------------------------------------------------- */

static sp_status fully_connected(sp_tflite_call *c)
{
    sp_tensor *x = sp__tflite_plain(c, 0), *w = sp__tflite_real_weights(c, 0, 1), *y = NULL;
    int64_t dims[SP_RANK_MAX];
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(w) == 2 && sp__tflite_byte(c, 1, 0) == 0, SP_DECLINED,
             "weights in this order are not supported");
    const int rank = sp_tensor_rank(x);
    const int64_t in = sp_tensor_dims(w)[1], out = sp_tensor_dims(w)[0];
    SP_CHECK(in > 0 && sp_tensor_count(x) % in == 0, SP_FORMAT, "%lld elements for rows of %lld",
             (long long)sp_tensor_count(x), (long long)in);
    const bool keep = sp__tflite_byte(c, 2, 0) && rank > 0 && sp_tensor_dims(x)[rank - 1] == in;
    for (int k = 0; k < rank; k++) dims[k] = sp_tensor_dims(x)[k];
    if (keep) dims[rank - 1] = out;
    if (rank != 2 || sp_tensor_dims(x)[1] != in) x = sp_reshape(c->b, x, 2, (int64_t[]){-1, in});
    sp_tflite_product p;
    sp_status status = sp__tflite_prepare(c, 0, 1, 2, x, w, 1, !sp__tflite_byte(c, 3, 0), &p);
    if (status == SP_OK) y = sp__tflite_op(c, "dense", 3, (sp_tensor *[]){p.x, p.w, p.bias}, NULL);
    if (status == SP_OK && keep && rank != 2) y = sp_reshape(c->b, y, rank, dims);
    if (status == SP_OK) status = sp__tflite_finish(c, &p, y, keep ? rank - 1 : 1, sp__tflite_byte(c, 0, 0), false);
    sp__tflite_product_free(&p);
    return status;
}

static sp_status batch_matmul(sp_tflite_call *c)
{
    return sp__tflite_return(
        c, sp_matmul(c->b, c->in[0], c->in[1], sp__tflite_byte(c, 0, 0) != 0, sp__tflite_byte(c, 1, 0) != 0));
}

/* --- pools ------------------------------------------------------------------------------------------------------- */

static sp_status pool_window(sp_tflite_call *c, const sp_tensor *x, sp_tflite_window_text *t)
{
    SP_TRY(sp_builder_status(c->b));
    sp_tflite_window w = {.n = 2,
                          .kernel = {sp__tflite_int(c, 4, 0), sp__tflite_int(c, 3, 0)},
                          .stride = {sp__tflite_int(c, 2, 0), sp__tflite_int(c, 1, 0)},
                          .dilation = {1, 1}};
    SP_TRY(sp__tflite_window_fill(&w, sp_tensor_dims(x) + 2, sp__tflite_byte(c, 0, SP_TFLITE_PAD_SAME)));
    sp__tflite_window_print(&w, t);
    return SP_OK;
}

/* Whether one window sees the whole picture: its mean is then that of each channel, which kernels know better. */
static bool sees_all(const sp_tflite_call *c, const sp_tensor *x)
{
    return x != NULL && sp__tflite_byte(c, 0, SP_TFLITE_PAD_SAME) == SP_TFLITE_PAD_VALID &&
           sp__tflite_int(c, 4, 0) == sp_tensor_dims(x)[2] && sp__tflite_int(c, 3, 0) == sp_tensor_dims(x)[3];
}

/* Of integers the mean of the integers, ties away from zero; the scale is the same on both sides. */
static sp_status average_pool(sp_tflite_call *c)
{
    const sp_tflite_tensor *face = sp__tflite_out_face(c, 0);
    sp_tensor *x = sp__tflite_planes(c, 0);
    sp_tflite_window_text t;
    SP_TRY(pool_window(c, x, &t));
    if (face->scale.n > 0) x = sp_cast(c->b, x, SP_DTYPE_F32);
    if (face->scale.n == 0 && sees_all(c, x))
        return sp__tflite_put(c, 0,
                              sp__tflite_activate(c, SP_TFLITE_OP1(c, "reduce_mean", x, "axis=(2,3), keepdims=True"),
                                                  sp__tflite_byte(c, 5, 0)),
                              true);
    sp_tensor *y = SP_TFLITE_OP1(c, "avg_pool2d", x, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s", t.kernel.text,
                                 t.stride.text, t.pads.text);
    if (face->scale.n == 0) return sp__tflite_put(c, 0, sp__tflite_activate(c, y, sp__tflite_byte(c, 5, 0)), true);
    y = sp_mul(c->b, sp_sign(c->b, y), sp_floor(c->b, sp__add_number(c->b, sp_abs(c->b, y), 0.5)));
    y = sp__add_number(c->b, y, -(double)face->scale.zero[0]);
    return sp__tflite_put(c, 0, sp__tflite_to_quanta(c, y, face, sp__tflite_byte(c, 5, 0)), true);
}

static sp_status max_pool(sp_tflite_call *c)
{
    const sp_tflite_tensor *face = sp__tflite_out_face(c, 0);
    sp_tensor *x = sp__tflite_planes(c, 0);
    sp_tflite_window_text t;
    SP_TRY(pool_window(c, x, &t));
    if (face->scale.n > 0) x = sp_cast(c->b, x, SP_DTYPE_F32);
    sp_tensor *y = SP_TFLITE_OP1(c, "max_pool2d", x, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s", t.kernel.text,
                                 t.stride.text, t.pads.text);
    if (face->scale.n == 0) return sp__tflite_put(c, 0, sp__tflite_activate(c, y, sp__tflite_byte(c, 5, 0)), true);
    y = sp__add_number(c->b, y, -(double)face->scale.zero[0]);
    return sp__tflite_put(c, 0, sp__tflite_to_quanta(c, y, face, sp__tflite_byte(c, 5, 0)), true);
}

static sp_status l2_pool(sp_tflite_call *c)
{
    sp_tensor *x = sp_square(c->b, sp__tflite_planes(c, 0));
    sp_tflite_window_text t;
    SP_TRY(pool_window(c, x, &t));
    sp_tensor *y = SP_TFLITE_OP1(c, "avg_pool2d", x, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s", t.kernel.text,
                                 t.stride.text, t.pads.text);
    return sp__tflite_put(c, 0, sp__tflite_activate(c, sp_sqrt(c->b, y), sp__tflite_byte(c, 5, 0)), true);
}

static sp_status local_response(sp_tflite_call *c)
{
    sp_tensor *y =
        SP_TFLITE_OP1(c, "lrn", sp__tflite_planes(c, 0), "depth_radius=%lld, bias=%.9g, alpha=%.9g, beta=%.9g",
                      (long long)sp__tflite_int(c, 0, 0), sp__tflite_float(c, 1, 0), sp__tflite_float(c, 2, 0),
                      sp__tflite_float(c, 3, 0));
    return sp__tflite_put(c, 0, y, true);
}

/* --- sizes of pictures ------------------------------------------------------------------------------------------- */

static sp_status wanted_size(sp_tflite_call *c, int64_t size[2])
{
    sp_tflite_ints list = {.n = 0};
    c->in[1] = sp__tflite_plain(c, 1);
    SP_TRY(sp__tflite_ints(c, 1, &list));
    SP_CHECK(list.n == 2 && list.v[0] > 0 && list.v[1] > 0, SP_VALUE, "the size must be two positive numbers");
    size[0] = list.v[0];
    size[1] = list.v[1];
    return SP_OK;
}

static sp_status resize_bilinear(sp_tflite_call *c)
{
    int64_t size[2];
    SP_TRY(wanted_size(c, size));
    sp_tensor *x = sp__tflite_real(c, sp__tflite_planes(c, 0), sp__tflite_in_face(c, 0), true);
    const char *places = sp__tflite_byte(c, 2, 0)   ? "align_corners"
                         : sp__tflite_byte(c, 3, 0) ? "half_pixel"
                                                    : "asymmetric";
    SP_TRY(sp_builder_status(c->b));
    if (size[0] == sp_tensor_dims(x)[2] && size[1] == sp_tensor_dims(x)[3]) x = sp_identity(c->b, x);
    else
        x = SP_TFLITE_OP1(c, "resize", x, "size=(%lld,%lld), mode=linear, coordinates=%s", (long long)size[0],
                          (long long)size[1], places);
    return sp__tflite_put(c, 0, sp__tflite_rounded(c, x, 0), true);
}

sp_tensor *sp__tflite_nearest(sp_tflite_call *c, sp_tensor *x, int axis, int64_t out, bool corners, bool half)
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
    return SP_TFLITE_OP2(c, "gather", x, sp_builder_take_tensor(c->b, t), "axis=%d", axis);
}

static sp_status resize_nearest(sp_tflite_call *c)
{
    int64_t size[2];
    SP_TRY(wanted_size(c, size));
    sp_tensor *x = sp__tflite_planes(c, 0);
    const bool corners = sp__tflite_byte(c, 0, 0) != 0, half = sp__tflite_byte(c, 1, 0) != 0;
    for (int i = 0; i < 2; i++) {
        SP_TRY(sp_builder_status(c->b));
        SP_CHECK(sp_tensor_dims(x)[2 + i] > 0, SP_VALUE, "axis %d is empty", i + 1);
        x = sp__tflite_nearest(c, x, 2 + i, size[i], corners, half);
    }
    return sp__tflite_put(c, 0, x, true);
}

const sp_tflite_handler sp__tflite_nn[] = {
    {3, "CONV_2D", conv_2d, NULL, SP_TFLITE_RAW, 2, -1},
    {4, "DEPTHWISE_CONV_2D", conv_2d, NULL, SP_TFLITE_RAW, 2, -1},
    {132, "CONV_3D", conv_3d, NULL, SP_TFLITE_RAW, 2, -1},
    {67, "TRANSPOSE_CONV", transpose_conv, NULL, SP_TFLITE_RAW, 3, -1},
    {141, "CONV_3D_TRANSPOSE", conv_3d_transpose, NULL, SP_TFLITE_RAW, 3, -1},
    {32, "Convolution2DTransposeBias", transpose_conv_bias, NULL, SP_TFLITE_RAW, 3, -1},
    {9, "FULLY_CONNECTED", fully_connected, NULL, SP_TFLITE_RAW, 2, -1},
    {126, "BATCH_MATMUL", batch_matmul, NULL, SP_TFLITE_REAL, 2, -1},
    {1, "AVERAGE_POOL_2D", average_pool, NULL, SP_TFLITE_RAW, 1, -1},
    {17, "MAX_POOL_2D", max_pool, NULL, SP_TFLITE_RAW, 1, -1},
    {12, "L2_POOL_2D", l2_pool, NULL, SP_TFLITE_RAW, 1, -1},
    {13, "LOCAL_RESPONSE_NORMALIZATION", local_response, NULL, SP_TFLITE_RAW, 1, -1},
    {23, "RESIZE_BILINEAR", resize_bilinear, NULL, SP_TFLITE_RAW, 2, -1},
    {97, "RESIZE_NEAREST_NEIGHBOR", resize_nearest, NULL, SP_TFLITE_RAW, 2, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
