/* SPDX-License-Identifier: Apache-2.0 */
/* lite_ops_nn.c - convolutions, products, pools and their kin of MindSpore Lite.
 *
 * Weights: Conv2DFusion [out, height, width, in / groups], depthwise ones too; Conv2dTransposeFusion [in, height, width, out / groups]; FullConnection [out, in].
 * Strides and dilations may have four entries: the last two are those of height and width. */
#include <string.h>

#include "formats/lite/lite_train.h"

/* --- windows ----------------------------------------------------------------------------------------------------- */

/* The last two of a list. */
static void last_two(sp_tflite_longs list, int64_t missing, int64_t out[3])
{
    for (int i = 0; i < 2; i++) out[i] = list.n >= 2 ? list.v[list.n - 2 + i] : list.n == 1 ? list.v[0] : missing;
}

sp_status sp__lite_window(sp_tflite_call *c, const int64_t *kernel, int stride, int dilation, int64_t mode, int pads,
                          const int64_t *in, sp_tflite_window *w)
{
    const sp_tflite_longs given = pads >= 0 ? sp__lite_list(c, pads) : (sp_tflite_longs){0, NULL};
    *w = (sp_tflite_window){.n = 2, .kernel = {kernel[0], kernel[1]}, .dilation = {1, 1}};
    last_two(sp__lite_list(c, stride), 1, w->stride);
    if (dilation >= 0) last_two(sp__lite_list(c, dilation), 1, w->dilation);
    SP_CHECK(mode >= 0 && mode <= 2, SP_FORMAT, "padding is %lld; it must be 0 (as listed), 1 (same) or 2 (valid)",
             (long long)mode);
    SP_TRY(sp__tflite_window_fill(w, in, mode == 1 ? SP_TFLITE_PAD_SAME : SP_TFLITE_PAD_VALID));
    if (mode != 0 || given.n == 0) return SP_OK;
    SP_CHECK(given.n >= 4, SP_FORMAT, "%d paddings, four are wanted: up, down, left, right", given.n);
    for (int i = 0; i < 4; i++) {
        SP_CHECK(given.v[i] >= 0 && given.v[i] < 1 << 20, SP_FORMAT, "padding %lld", (long long)given.v[i]);
        w->pads[i] = given.v[i];
    }
    return SP_OK;
}

/* The end of a product: floats take any activation, integers those that cut. */
static sp_status finish(sp_tflite_call *c, sp_tflite_product *p, sp_tensor *y, int channel, int64_t activation,
                        bool planes)
{
    if (!p->integers) return sp__tflite_finish(c, p, sp__lite_activate(c, y, activation, 0), channel, 0, planes);
    SP_CHECK(activation == 0 || activation == 1 || activation == 3, SP_DECLINED,
             "activation %lld of integers is not supported", (long long)activation);
    return sp__tflite_finish(c, p, y, channel, activation, planes);
}

/* Conv2DFusion(format kernel_size stride dilation pad_mode pad_list mode group in_channel out_channel activation_type) */
static sp_status conv(sp_tflite_call *c)
{
    sp_tensor *x = sp__tflite_planes(c, 0), *w = sp__tflite_weights(c, 0, 1, 4, (int64_t[]){0, 3, 1, 2}), *y = NULL;
    sp_tflite_window win;
    SP_TRY(sp__tflite_check_weights(c, x, w, 4));
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w), channels = sp_tensor_dims(x)[1];
    SP_TRY(sp__lite_window(c, k + 2, 2, 3, sp__lite_int(c, 4), 5, sp_tensor_dims(x) + 2, &win));
    SP_CHECK(k[1] > 0 && channels % k[1] == 0, SP_FORMAT, "%lld channels for weights of %lld", (long long)channels,
             (long long)k[1]);
    sp_tflite_product p;
    sp_status status = sp__tflite_prepare(c, 0, 1, 2, x, w, 1, false, &p);
    if (status == SP_OK) status = sp__tflite_convolve(c, &p, &win, channels / k[1], &y);
    if (status == SP_OK) status = finish(c, &p, y, 1, sp__lite_int(c, 10), true);
    sp__tflite_product_free(&p);
    return status;
}

/* Conv2dTransposeFusion(format kernel_size stride dilation pad_mode pad pad_list mode group in_channel out_channel activation_type output_paddings) */
static sp_status conv_transpose(sp_tflite_call *c)
{
    sp_tensor *x = sp__tflite_planes(c, 0), *w = sp__tflite_weights(c, 0, 1, 4, (int64_t[]){0, 3, 1, 2}), *y = NULL;
    sp_tflite_window win;
    sp_tflite_window_text t;
    int64_t size[3], extra[3];
    SP_TRY(sp__tflite_check_weights(c, x, w, 4));
    SP_TRY(sp_builder_status(c->b));
    const int64_t *k = sp_tensor_dims(w) + 2, *in = sp_tensor_dims(x) + 2, mode = sp__lite_int(c, 4),
                  group = sp__lite_int(c, 8) > 0 ? sp__lite_int(c, 8) : 1;
    SP_TRY(sp__lite_window(c, k, 2, 3, mode, 6, in, &win));
    last_two(sp__lite_list(c, 12), 0, extra);
    for (int i = 0; i < 2; i++) {
        size[i] = mode == 1 ? in[i] * win.stride[i]
                            : (in[i] - 1) * win.stride[i] + (k[i] - 1) * win.dilation[i] + 1 - win.pads[2 * i] -
                                  win.pads[2 * i + 1] + extra[i];
        SP_CHECK(size[i] > 0 && size[i] < 1 << 24, SP_FORMAT, "the result would have %lld elements along an axis",
                 (long long)size[i]);
    }
    if (mode == 1) SP_TRY(sp__tflite_window_fill(&win, size, SP_TFLITE_PAD_SAME));
    sp__tflite_window_print(&win, &t);
    sp_tflite_product p;
    sp_status status = sp__tflite_prepare(c, 0, 1, 2, x, w, 1, false, &p);
    if (status == SP_OK) {
        y = SP_TFLITE_OP2(c, "conv2d_input_grad", p.x, p.w,
                          "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=%lld, input_size=(%lld,%lld)",
                          t.stride.text, t.pads.text, t.dilation.text, (long long)group, (long long)size[0],
                          (long long)size[1]);
        if (p.bias != NULL) y = sp_add(c->b, y, sp_reshape(c->b, p.bias, 4, (int64_t[]){1, -1, 1, 1}));
        status = finish(c, &p, y, 1, sp__lite_int(c, 11), true);
    }
    sp__tflite_product_free(&p);
    return status;
}

/* --- products ---------------------------------------------------------------------------------------------------- */

/* MatMulFusion(transpose_a transpose_b activation_type), bias as input 2. */
static sp_status mat_mul(sp_tflite_call *c)
{
    sp_tensor *x = c->in[0], *y = c->in[1];
    bool turned = sp__lite_int(c, 1) != 0;
    if (sp_dtype_kind(sp_tensor_dtype(x)) != 'f')
        SP_CHECK(sp_tensor_dtype(x) == sp_tensor_dtype(y), SP_FORMAT, "operands of two types");
    sp_tensor *z = sp_matmul(c->b, x, y, sp__lite_int(c, 0) != 0, turned);
    if (c->n_in > 2 && c->in[2] != NULL) z = sp_add(c->b, z, c->in[2]);
    return sp__tflite_return(c, sp__lite_activate(c, z, sp__lite_int(c, 2), 0));
}

/* FullConnection(has_bias use_axis axis activation_type): rows from `axis` on. */
static sp_status full_connection(sp_tflite_call *c)
{
    sp_tensor *x = c->in[0], *w = c->in[1];
    SP_CHECK(sp_tensor_rank(w) == 2, SP_FORMAT, "weights of rank %d, it must be 2", sp_tensor_rank(w));
    const int64_t in = sp_tensor_dims(w)[1], axis = sp__lite_int(c, 1) ? sp__lite_int(c, 2) : 1;
    int64_t dims[SP_RANK_MAX + 1];
    SP_CHECK(in > 0 && sp_tensor_count(x) % in == 0 && axis >= 0 && axis <= sp_tensor_rank(x), SP_FORMAT,
             "%lld elements from axis %lld on for rows of %lld", (long long)sp_tensor_count(x), (long long)axis,
             (long long)in);
    for (int k = 0; k < axis; k++) dims[k] = sp_tensor_dims(x)[k];
    dims[axis] = sp_tensor_dims(w)[0];
    x = sp_reshape(c->b, x, 2, (int64_t[]){-1, in});
    sp_tensor *y = sp__tflite_op(c, "dense", 3, (sp_tensor *[]){x, w, c->n_in > 2 ? c->in[2] : NULL}, NULL);
    if (axis != 1) y = sp_reshape(c->b, y, (int)axis + 1, dims);
    return sp__tflite_return(c, sp__lite_activate(c, y, sp__lite_int(c, 3), 0));
}

/* --- pools ------------------------------------------------------------------------------------------------------- */

/* Windows that reach beyond the end, where sizes are rounded up. */
static void pool_ceil(sp_tflite_window *w, const int64_t *in)
{
    for (int i = 0; i < 2; i++) {
        const int64_t room = in[i] + w->pads[2 * i] + w->pads[2 * i + 1] - w->kernel[i];
        if (room > 0 && room % w->stride[i] != 0) w->pads[2 * i + 1] += w->stride[i] - room % w->stride[i];
    }
}

/* AvgPoolFusion, MaxPoolFusion(kernel_size strides pad pad_mode round_mode format global activation_type) */
static sp_status pool(sp_tflite_call *c)
{
    const sp_tflite_tensor *face = sp__tflite_out_face(c, 0);
    sp_tensor *x = sp__tflite_planes(c, 0);
    sp_tflite_window w;
    sp_tflite_window_text t;
    int64_t kernel[3];
    SP_TRY(sp_builder_status(c->b));
    const int64_t *in = sp_tensor_dims(x) + 2;
    last_two(sp__lite_list(c, 0), 1, kernel);
    if (sp__lite_int(c, 6)) memcpy(kernel, in, 2 * sizeof *kernel);
    SP_TRY(sp__lite_window(c, kernel, 1, -1, sp__lite_int(c, 6) ? 2 : sp__lite_int(c, 3), 2, in, &w));
    if (sp__lite_int(c, 4) == 1 && sp__lite_int(c, 3) == 0) pool_ceil(&w, in);
    sp__tflite_window_print(&w, &t);
    x = sp__tflite_real(c, x, sp__tflite_in_face(c, 0), true);
    sp_tensor *y = SP_TFLITE_OP1(c, c->node->handler->detail, x, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s",
                                 t.kernel.text, t.stride.text, t.pads.text);
    y = sp__lite_activate(c, y, sp__lite_int(c, 7), 0);
    return sp__tflite_put(c, 0, face->scale.n > 0 ? sp__tflite_rounded(c, y, 0) : y, true);
}

/* --- normalisation ----------------------------------------------------------------------------------------------- */

/* A number for each channel, next to x in the layout at hand. */
static sp_tensor *by_channel(sp_tflite_call *c, sp_tensor *v)
{
    const int rank = sp__tflite_rank(c, 0);
    int64_t dims[SP_RANK_MAX];
    int axis = 0;
    if (v == NULL || rank == 0 || sp__tflite_axis(c, -1, rank, &axis) != SP_OK) return v;
    for (int k = 0; k < rank; k++) dims[k] = k == axis ? -1 : 1;
    return sp_reshape(c->b, v, rank, dims);
}

/* BiasAdd(format) */
static sp_status bias_add(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp_add(c->b, c->in[0], by_channel(c, c->in[1])));
}

static sp_tensor *normalised(sp_tflite_call *c, sp_tensor *mean, sp_tensor *variance, double epsilon)
{
    sp_tensor *factor = sp_rsqrt(c->b, sp__add_number(c->b, variance, epsilon));
    return sp_mul(c->b, sp_sub(c->b, c->in[0], by_channel(c, mean)), by_channel(c, factor));
}

/* BatchNorm(epsilon format is_training): x, mean, variance; or as FusedBatchNorm. */
static sp_status batch_norm(sp_tflite_call *c)
{
    if (c->n_in < 5) {
        SP_CHECK(c->n_in == 3, SP_FORMAT, "%d inputs, 3 or 5 are wanted", c->n_in);
        return sp__tflite_return(c, normalised(c, c->in[1], c->in[2], sp__lite_float(c, 0)));
    }
    sp_tensor *y = normalised(c, c->in[3], c->in[4], sp__lite_float(c, 0));
    c->out[0] = sp_add(c->b, sp_mul(c->b, y, by_channel(c, c->in[1])), by_channel(c, c->in[2]));
    for (int i = 1; i < c->n_out && i < 5; i++) c->out[i] = sp_identity(c->b, c->in[i]);
    for (int i = 5; i < c->n_out; i++) c->out[i] = sp_identity(c->b, c->in[4]);
    return sp_builder_status(c->b);
}

/* ScaleFusion(axis activation_type): x * scale + shift, both from axis on. */
static sp_status scale(sp_tflite_call *c)
{
    const int rank = sp__tflite_rank(c, 0), inner = sp__tflite_rank(c, 1);
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__lite_int(c, 0), rank, "axis", &axis));
    int64_t dims[SP_RANK_MAX];
    SP_CHECK(axis + inner <= rank, SP_FORMAT, "a scale of rank %d from axis %d on for rank %d", inner, axis, rank);
    for (int k = 0; k < rank; k++) dims[k] = k >= axis && k < axis + inner ? sp__tflite_dim(c, 1, k - axis) : 1;
    sp_tensor *y = sp_mul(c->b, c->in[0], sp_reshape(c->b, c->in[1], rank, dims));
    if (c->n_in > 2 && c->in[2] != NULL) y = sp_add(c->b, y, sp_reshape(c->b, c->in[2], rank, dims));
    return sp__tflite_return(c, sp__lite_activate(c, y, sp__lite_int(c, 1), 0));
}

/* LayerNormFusion(begin_norm_axis epsilon elementwise_affine begin_params_axis) */
static sp_status layer_norm(sp_tflite_call *c)
{
    int norm = 0, params = 0;
    sp_tensor *all[3] = {NULL};
    SP_TRY(sp__shape_axis(sp__lite_int(c, 0), sp__tflite_rank(c, 0), "begin_norm_axis", &norm));
    SP_TRY(sp__shape_axis(sp__lite_int(c, 3), sp__tflite_rank(c, 0), "begin_params_axis", &params));
    if (c->n_in < 3) params = norm;
    SP_TRY(sp__tflite_op_many(
        c, "layer_norm", 3, (sp_tensor *[]){c->in[0], c->n_in > 1 ? c->in[1] : NULL, c->n_in > 2 ? c->in[2] : NULL}, 3,
        all, "begin_norm_axis=%d, begin_params_axis=%d, epsilon=%.9g", norm, params, sp__lite_float(c, 1)));
    for (int i = 0; i < c->n_out && i < 3; i++) c->out[i] = all[i];
    return sp_builder_status(c->b);
}

/* InstanceNorm(epsilon): planes [batch, channels, ..], scale, shift. */
static sp_status instance_norm(sp_tflite_call *c)
{
    const int rank = sp__tflite_rank(c, 0);
    int64_t axes[SP_RANK_MAX], dims[SP_RANK_MAX];
    SP_CHECK(rank >= 3, SP_FORMAT, "rank %d, it must be 3 or more", rank);
    for (int k = 0; k < rank; k++) dims[k] = k == 1 ? -1 : 1;
    for (int k = 2; k < rank; k++) axes[k - 2] = k;
    sp_tensor *x = c->in[0], *less = sp_sub(c->b, x, sp_reduce_mean(c->b, x, rank - 2, axes, true));
    sp_tensor *variance = sp_reduce_mean(c->b, sp_square(c->b, less), rank - 2, axes, true);
    sp_tensor *y = sp_mul(c->b, less, sp_rsqrt(c->b, sp__add_number(c->b, variance, sp__lite_float(c, 0))));
    y = sp_mul(c->b, y, sp_reshape(c->b, c->in[1], rank, dims));
    return sp__tflite_return(c, sp_add(c->b, y, sp_reshape(c->b, c->in[2], rank, dims)));
}

/* GroupNormFusion(num_groups epsilon affine): planes, scale, shift. */
static sp_status group_norm(sp_tflite_call *c)
{
    sp_tensor *all[3] = {NULL};
    SP_TRY(sp__tflite_op_many(
        c, "group_norm", 3, (sp_tensor *[]){c->in[0], c->n_in > 1 ? c->in[1] : NULL, c->n_in > 2 ? c->in[2] : NULL}, 3,
        all, "num_groups=%lld, epsilon=%.9g", (long long)sp__lite_int(c, 0), sp__lite_float(c, 1)));
    return sp__tflite_return(c, all[0]);
}

/* LRN(depth_radius bias alpha beta norm_region) */
static sp_status local_response(sp_tflite_call *c)
{
    sp_tensor *y =
        SP_TFLITE_OP1(c, "lrn", sp__tflite_planes(c, 0), "depth_radius=%lld, bias=%.9g, alpha=%.9g, beta=%.9g",
                      (long long)sp__lite_int(c, 0), sp__lite_float(c, 1), sp__lite_float(c, 2), sp__lite_float(c, 3));
    return sp__tflite_put(c, 0, y, true);
}

/* --- sizes of pictures ------------------------------------------------------------------------------------------- */

/* Height and width that are wanted: fields, or input 1, which is a size or, of floats, a factor; of all four axes or of these two. */
static sp_status resize_size(sp_tflite_call *c, const int64_t *in, int64_t size[2])
{
    size[0] = sp__lite_int(c, 2);
    size[1] = sp__lite_int(c, 3);
    if (c->node->n_in > 1) {
        double v[4] = {0};
        sp_tensor *t = sp__tflite_plain(c, 1), *wide = NULL;
        SP_TRY(sp_builder_status(c->b));
        SP_TRY(sp__tensor_need_value(t));
        const int64_t n = sp_tensor_count(t);
        const bool factors = sp_dtype_kind(sp_tensor_dtype(t)) == 'f';
        SP_CHECK(n == 2 || n == 4, SP_FORMAT, "input 1 has %lld numbers, 2 or 4 are wanted", (long long)n);
        SP_TRY(sp_tensor_create(SP_DTYPE_F64, sp_tensor_rank(t), sp_tensor_dims(t), &wide));
        sp_status status = sp_tensor_assign(wide, t);
        if (status == SP_OK) memcpy(v, sp_tensor_data(wide), (size_t)n * sizeof *v);
        sp_tensor_release(wide);
        SP_TRY(status);
        for (int i = 0; i < 2; i++) {
            const double one = v[n == 4 ? 1 + i : i], wanted = factors ? one * (double)in[i] : one;
            SP_CHECK(wanted >= 1 && wanted < 1 << 24, SP_VALUE, "a size of %g", wanted);
            size[i] = (int64_t)wanted;
        }
    }
    SP_CHECK(size[0] > 0 && size[1] > 0 && size[0] < 1 << 24 && size[1] < 1 << 24, SP_VALUE,
             "the size must be two positive numbers");
    return SP_OK;
}

/* Resize(format method new_height new_width preserve_aspect_ratio coordinate_transform_mode cubic_coeff exclude_outside ..) */
static sp_status resize(sp_tflite_call *c)
{
    static const char *const places[] = {"asymmetric", "align_corners", "half_pixel"};
    sp_tensor *x = sp__tflite_planes(c, 0);
    int64_t size[2];
    const int64_t method = sp__lite_int(c, 1), mode = sp__lite_int(c, 5);
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(resize_size(c, sp_tensor_dims(x) + 2, size));
    SP_CHECK(mode >= 0 && mode <= 2 && method >= 0 && method <= 2, SP_DECLINED,
             "resizing by method %lld with positions of kind %lld is not supported", (long long)method,
             (long long)mode);
    if (method == 1) {
        for (int i = 0; i < 2; i++) {
            SP_TRY(sp_builder_status(c->b));
            SP_CHECK(sp_tensor_dims(x)[2 + i] > 0, SP_VALUE, "axis %d is empty", i + 1);
            x = sp__tflite_nearest(c, x, 2 + i, size[i], mode == 1, mode == 2);
        }
        return sp__tflite_put(c, 0, x, true);
    }
    x = sp__tflite_real(c, x, sp__tflite_in_face(c, 0), true);
    SP_TRY(sp_builder_status(c->b));
    if (size[0] == sp_tensor_dims(x)[2] && size[1] == sp_tensor_dims(x)[3]) x = sp_identity(c->b, x);
    else if (method == 0)
        x = SP_TFLITE_OP1(c, "resize", x, "size=(%lld,%lld), mode=linear, coordinates=%s", (long long)size[0],
                          (long long)size[1], places[mode]);
    else
        x = SP_TFLITE_OP1(c, "resize", x, "size=(%lld,%lld), mode=cubic, coordinates=%s, cubic=%.9g",
                          (long long)size[0], (long long)size[1], places[mode], sp__lite_float(c, 6));
    return sp__tflite_put(c, 0, sp__tflite_rounded(c, x, 0), true);
}

/* --- recurrent layers -------------------------------------------------------------------------------------------- */

enum { LSTM_GATES = 4 };

/* Gates i, o, f, c of one direction in the order of our operator: i, f, c, o. v: rows of a gate follow each other along axis 0. */
static sp_tensor *lstm_gates(sp_tflite_call *c, sp_tensor *v, int64_t hidden)
{
    static const int order[LSTM_GATES] = {0, 2, 3, 1};
    sp_tensor *parts[LSTM_GATES];
    for (int g = 0; g < LSTM_GATES; g++) parts[g] = sp__take_range(c->b, v, 0, order[g] * hidden, hidden);
    return sp__concat(c->b, 0, LSTM_GATES, parts);
}

/* Part `direction` of a tensor with a leading axis of directions, without it. */
static sp_tensor *of_direction(sp_tflite_call *c, sp_tensor *x, int direction)
{
    if (x == NULL) return NULL;
    return sp_reshape(c->b, sp__take_range(c->b, x, 0, direction, 1), sp_tensor_rank(x) - 1, sp_tensor_dims(x) + 1);
}

/* LSTM(bidirectional has_bias ..): x [steps, batch, in], weights, recurrent weights, bias, h, c, each with a leading axis of directions. */
static sp_status lstm(sp_tflite_call *c)
{
    const int directions = sp__lite_int(c, 0) ? 2 : 1;
    sp_tensor *y[2], *h[2], *state[2], *all[3];
    for (int i = 0; i < 6; i++)
        SP_CHECK(sp__tflite_rank(c, i) >= (i == 3 ? 2 : 3) && sp__tflite_dim(c, i, 0) >= (i == 0 ? 0 : directions),
                 SP_FORMAT, "input %d has rank %d", i, sp__tflite_rank(c, i));
    SP_CHECK(sp__lite_int(c, 4) <= 1 && sp__lite_int(c, 9) == 0, SP_DECLINED,
             "several layers, or projections, in one LSTM are not supported");
    const int64_t hidden = sp__tflite_dim(c, 2, 2);
    SP_CHECK(sp__tflite_dim(c, 1, 1) == LSTM_GATES * hidden && sp__tflite_dim(c, 2, 1) == LSTM_GATES * hidden &&
                 sp__tflite_dim(c, 3, 1) == 2 * LSTM_GATES * hidden,
             SP_FORMAT, "weights do not fit %lld hidden units", (long long)hidden);
    for (int d = 0; d < directions; d++) {
        sp_tensor *bias = of_direction(c, c->in[3], d);
        sp_tensor *in[8] = {
            c->in[0],
            of_direction(c, c->in[4], d),
            of_direction(c, c->in[5], d),
            lstm_gates(c, of_direction(c, c->in[1], d), hidden),
            lstm_gates(c, of_direction(c, c->in[2], d), hidden),
            lstm_gates(c, sp__take_range(c->b, bias, 0, 0, LSTM_GATES * hidden), hidden),
            lstm_gates(c, sp__take_range(c->b, bias, 0, LSTM_GATES * hidden, LSTM_GATES * hidden), hidden),
            NULL};
        SP_TRY(sp__tflite_op_many(c, "rnn_layer", 8, in, 3, all, "mode=lstm, reverse=%s", d == 1 ? "True" : "False"));
        y[d] = all[0];
        h[d] = all[1];
        state[d] = all[2];
    }
    sp_tensor *const results[3] = {sp__stack(c->b, 1, directions, y), sp__stack(c->b, 0, directions, h),
                                   sp__stack(c->b, 0, directions, state)};
    for (int i = 0; i < c->n_out && i < 3; i++) c->out[i] = results[i];
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(c->n_out <= 3, SP_DECLINED, "an LSTM with %d results is not supported", c->n_out);
    return SP_OK;
}

#define AXES (SP_TFLITE_REAL | SP_TFLITE_AXES)
const sp_tflite_handler sp__lite_nn[] = {
    {35, "Conv2DFusion", conv, NULL, SP_TFLITE_RAW, 2, -1},
    {36, "Conv2dTransposeFusion", conv_transpose, NULL, SP_TFLITE_RAW, 2, -1},
    {89, "MatMulFusion", mat_mul, NULL, SP_TFLITE_REAL, 2, -1},
    {67, "FullConnection", full_connection, NULL, SP_TFLITE_REAL, 2, -1},
    {17, "AvgPoolFusion", pool, "avg_pool2d", SP_TFLITE_RAW, 1, -1},
    {92, "MaxPoolFusion", pool, "max_pool2d", SP_TFLITE_RAW, 1, -1},
    {23, "BiasAdd", bias_add, NULL, AXES, 2, -1},
    {19, "BatchNorm", batch_norm, NULL, AXES, 3, -1},
    {68, "FusedBatchNorm", batch_norm, NULL, AXES, 5, -1},
    {127, "ScaleFusion", scale, NULL, SP_TFLITE_REAL, 2, -1},
    {75, "LayerNormFusion", layer_norm, NULL, SP_TFLITE_REAL, 1, -1},
    {74, "InstanceNorm", instance_norm, NULL, SP_TFLITE_REAL, 3, -1},
    {211, "GroupNormFusion", group_norm, NULL, SP_TFLITE_REAL, 1, -1},
    {85, "LRN", local_response, NULL, SP_TFLITE_RAW, 1, -1},
    {120, "Resize", resize, NULL, SP_TFLITE_RAW, 1, -1},
    {87, "LSTM", lstm, NULL, SP_TFLITE_REAL, 6, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
