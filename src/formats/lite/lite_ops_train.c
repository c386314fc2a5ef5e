/* SPDX-License-Identifier: Apache-2.0 */
/* lite_ops_train.c - operators of training models of MindSpore Lite: gradients, losses, optimizers. */
#include <string.h>

#include "formats/lite/lite_train.h"

/* --- gradients --------------------------------------------------------------------------------------------------- */

/* ActivationGrad(activation_type alpha): dy, y. */
static sp_status activation_grad(sp_tflite_call *c)
{
    const int64_t kind = sp__lite_int(c, 0);
    sp_tensor *dy = c->in[0], *y = c->in[1], *slope = NULL;
    sp_tensor *zero = sp__const(c->b, 0, y), *one = sp__const(c->b, 1, y);
    switch (kind) {
    case 1: return sp__tflite_return(c, SP_TFLITE_OP2(c, "relu_grad", dy, y, NULL));
    case 2: slope = sp_mul(c->b, y, sp_sub(c->b, one, y)); break;
    case 3: {
        sp_tensor *inside = sp_logical_and(c->b, sp_greater(c->b, y, zero), sp_less(c->b, y, sp__const(c->b, 6, y)));
        return sp__tflite_return(c, sp_select(c->b, inside, dy, sp__zeros_like(c->b, dy)));
    }
    case 5:
        return sp__tflite_return(
            c, sp_select(c->b, sp_greater(c->b, y, zero), dy, sp__mul_number(c->b, dy, sp__lite_float(c, 1))));
    case 10: slope = sp_sub(c->b, one, sp_square(c->b, y)); break;
    case 12: return sp__tflite_return(c, SP_TFLITE_OP2(c, "hardswish_grad", dy, y, NULL));
    case 13: return sp__tflite_return(c, SP_TFLITE_OP2(c, "hardsigmoid_grad", dy, y, NULL));
    case 19: return sp__tflite_return(c, SP_TFLITE_OP2(c, "gelu_grad", dy, y, NULL));
    default: return sp__fail(SP_DECLINED, "the gradient of activation %lld is not supported", (long long)kind);
    }
    return sp__tflite_return(c, sp_mul(c->b, dy, slope));
}

static sp_status abs_grad(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp_mul(c->b, c->in[1], sp_sign(c->b, c->in[0])));
}
static sp_status log_grad(sp_tflite_call *c) { return sp__tflite_return(c, sp_div(c->b, c->in[1], c->in[0])); }
static sp_status neg_grad(sp_tflite_call *c) { return sp__tflite_return(c, sp_neg(c->b, c->in[c->n_in - 1])); }
/* Of the result y: dy / 2y, and -dy y^3 / 2. */
static sp_status sqrt_grad(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp_div(c->b, sp__mul_number(c->b, c->in[1], 0.5), c->in[0]));
}
static sp_status rsqrt_grad(sp_tflite_call *c)
{
    sp_tensor *y = c->in[0];
    return sp__tflite_return(c,
                             sp_mul(c->b, sp__mul_number(c->b, c->in[1], -0.5), sp_mul(c->b, y, sp_square(c->b, y))));
}

/* AddGrad and its kin: dy, x1, x2 give both gradients, each in the shape of its operand. */
static sp_status binary_grad(sp_tflite_call *c)
{
    sp_tensor *dy = c->in[0], *x = c->in[1], *y = c->in[2], *dx = dy, *dz = dy;
    const char op = c->node->handler->detail[0];
    if (op == '-') dz = sp_neg(c->b, dy);
    if (op == '*') {
        dx = sp_mul(c->b, dy, y);
        dz = sp_mul(c->b, dy, x);
    }
    if (op == '/') {
        dx = sp_div(c->b, dy, y);
        dz = sp_neg(c->b, sp_div(c->b, sp_mul(c->b, dy, x), sp_square(c->b, y)));
    }
    if (op == '>' || op == '<') {
        sp_tensor *first = op == '>' ? sp_greater_equal(c->b, x, y) : sp_less_equal(c->b, x, y),
                  *zero = sp__zeros_like(c->b, dy);
        dx = sp_select(c->b, first, dy, zero);
        dz = sp_select(c->b, first, zero, dy);
    }
    SP_TRY(sp_builder_status(c->b));
    c->out[0] = sp_identity(c->b, sp__unbroadcast(c->b, dx, x));
    if (c->n_out > 1) c->out[1] = sp_identity(c->b, sp__unbroadcast(c->b, dz, y));
    return sp_builder_status(c->b);
}

/* MaximumGrad, MinimumGrad: x1, x2, dy. */
static sp_status extreme_grad(sp_tflite_call *c)
{
    sp_tensor *in[3] = {c->in[2], c->in[0], c->in[1]};
    sp_tflite_call inner = *c;
    inner.in = in;
    return binary_grad(&inner);
}

/* The sum over all axes but the last, in the shape that the file says. */
static sp_status bias_add_grad(sp_tflite_call *c)
{
    const int rank = sp__tflite_rank(c, 0);
    int64_t axes[SP_RANK_MAX];
    const sp_meta *wanted = &sp__tflite_out_face(c, 0)->meta;
    for (int k = 0; k + 1 < rank; k++) axes[k] = k;
    SP_CHECK(rank > 0, SP_FORMAT, "a gradient of rank 0");
    sp_tensor *y = rank > 1 ? sp_reduce_sum(c->b, c->in[0], rank - 1, axes, false) : sp_identity(c->b, c->in[0]);
    int64_t dims[SP_RANK_MAX];
    for (int k = 0; k < wanted->rank; k++) dims[k] = k + 1 == wanted->rank ? sp__tflite_dim(c, 0, rank - 1) : 1;
    return sp__tflite_return(c, wanted->rank > 0 ? sp_reshape(c->b, y, wanted->rank, dims) : y);
}

/* Conv2DBackpropInputFusion(format kernel_size stride dilation pad_mode pad pad_list mode group ..): dy, weights, shape. */
static sp_status conv_input_grad(sp_tflite_call *c)
{
    sp_tensor *dy = sp__tflite_planes(c, 0), *w = sp__tflite_plain(c, 1);
    const sp_meta *shape = &sp__tflite_out_face(c, 0)->meta;
    sp_tflite_window win;
    sp_tflite_window_text t;
    SP_TRY(sp__tflite_check_weights(c, dy, w, 4));
    SP_CHECK(shape->rank == 4, SP_FORMAT, "a gradient of rank %d, it must be 4", shape->rank);
    w = sp_transpose(c->b, w, 4, (int64_t[]){0, 3, 1, 2});
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(sp__lite_window(c, sp_tensor_dims(w) + 2, 2, 3, sp__lite_int(c, 4), 6, shape->dims + 1, &win));
    sp__tflite_window_print(&win, &t);
    const int64_t group = sp__lite_int(c, 8) > 0 ? sp__lite_int(c, 8) : 1;
    return sp__tflite_put(
        c, 0,
        SP_TFLITE_OP2(c, "conv2d_input_grad", dy, w,
                      "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=%lld, input_size=(%lld,%lld)", t.stride.text,
                      t.pads.text, t.dilation.text, (long long)group, (long long)shape->dims[1],
                      (long long)shape->dims[2]),
        true);
}

/* Conv2DBackpropFilterFusion(format kernel_size stride dilation pad_mode pad_list mode group ..): dy, x, shape. */
static sp_status conv_filter_grad(sp_tflite_call *c)
{
    sp_tensor *dy = sp__tflite_planes(c, 0), *x = sp__tflite_planes(c, 1);
    const sp_meta *shape = &sp__tflite_out_face(c, 0)->meta;
    sp_tflite_window win;
    sp_tflite_window_text t;
    SP_TRY(sp__tflite_check_weights(c, dy, x, 4));
    SP_CHECK(shape->rank == 4, SP_FORMAT, "weights of rank %d, it must be 4", shape->rank);
    SP_TRY(sp__lite_window(c, shape->dims + 1, 2, 3, sp__lite_int(c, 4), 5, sp_tensor_dims(x) + 2, &win));
    sp__tflite_window_print(&win, &t);
    const int64_t group = sp__lite_int(c, 7) > 0 ? sp__lite_int(c, 7) : 1;
    sp_tensor *dw = SP_TFLITE_OP2(c, "conv2d_weight_grad", x, dy,
                                  "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=%lld, kernel_size=%s",
                                  t.stride.text, t.pads.text, t.dilation.text, (long long)group, t.kernel.text);
    return sp__tflite_put(c, 0, sp_transpose(c->b, dw, 4, (int64_t[]){0, 2, 3, 1}), false);
}

/* MaxPoolGrad, AvgPoolGrad(kernel_size strides pad_mode format): x, y, dy. */
static sp_status pool_grad(sp_tflite_call *c)
{
    sp_tensor *x = sp__tflite_planes(c, 0), *dy = sp__tflite_planes(c, 2), *dx = NULL;
    const sp_tflite_longs kernel = sp__lite_list(c, 0);
    sp_tflite_window w;
    sp_tflite_window_text t;
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(kernel.n >= 2, SP_FORMAT, "a window of %d dimensions", kernel.n);
    SP_TRY(sp__lite_window(c, kernel.v + kernel.n - 2, 1, -1, sp__lite_int(c, 2), -1, sp_tensor_dims(x) + 2, &w));
    sp__tflite_window_print(&w, &t);
    const char *op = c->node->handler->detail;
    if (strcmp(op, "pool_max_grad") == 0)
        dx = SP_TFLITE_OP2(c, op, x, dy, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s", t.kernel.text,
                           t.stride.text, t.pads.text);
    else
        dx = SP_TFLITE_OP1(c, op, dy, "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s, input_size=(%lld,%lld)",
                           t.kernel.text, t.stride.text, t.pads.text, (long long)sp_tensor_dims(x)[2],
                           (long long)sp_tensor_dims(x)[3]);
    return sp__tflite_put(c, 0, dx, true);
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

/* Logits and labels give the loss of each row and the gradient of their mean towards the logits. */
static sp_status softmax_cross_entropy(sp_tflite_call *c)
{
    sp_tensor *both[2] = {NULL};
    const sp_meta *wanted = &sp__tflite_out_face(c, 0)->meta;
    SP_TRY(sp__tflite_op_many(c, "softmax_cross_entropy", 2, c->in, 2, both, NULL));
    c->out[0] = wanted->rank == 2 ? sp_reshape(c->b, both[0], 2, (int64_t[]){-1, 1}) : both[0];
    const int64_t rows = sp__tflite_dim(c, 0, 0);
    if (c->n_out > 1) c->out[1] = sp__mul_number(c->b, both[1], 1.0 / (double)(rows > 0 ? rows : 1));
    return sp_builder_status(c->b);
}

/* SparseSoftmaxCrossEntropyWithLogits(is_grad): logits and classes. */
static sp_status sparse_cross_entropy(sp_tflite_call *c)
{
    for (int i = 0; i < c->n_out && i < 2; i++) {
        const bool grad = sp__lite_int(c, 0) ? i == 0 : i == 1;
        c->out[i] =
            SP_TFLITE_OP2(c, "sparse_softmax_cross_entropy", c->in[0], c->in[1], "is_grad=%s", grad ? "True" : "False");
    }
    return sp_builder_status(c->b);
}

static sp_status sigmoid_cross_entropy(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "sigmoid_cross_entropy", c->in[0], c->in[1], NULL));
}

/* Logits, labels, dy. */
static sp_status sigmoid_cross_entropy_grad(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp_mul(c->b, sp_sub(c->b, sp_sigmoid(c->b, c->in[0]), c->in[1]), c->in[2]));
}

static const char *reduction_name(int64_t kind) { return kind == 0 ? "sum" : kind == 1 ? "mean" : "none"; }

/* BinaryCrossEntropy(reduction): x, labels, weight. */
static sp_status binary_cross_entropy(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp__tflite_op(c, "binary_cross_entropy", 3,
                                              (sp_tensor *[]){c->in[0], c->in[1], c->n_in > 2 ? c->in[2] : NULL},
                                              "reduction=%s", reduction_name(sp__lite_int(c, 0))));
}

/* BinaryCrossEntropyGrad(reduction): x, labels, dy, weight. */
static sp_status binary_cross_entropy_grad(sp_tflite_call *c)
{
    sp_tensor *x = c->in[0], *y = c->in[1], *one = sp__const(c->b, 1, x);
    sp_tensor *below = sp_maximum(c->b, sp_mul(c->b, x, sp_sub(c->b, one, x)), sp__const(c->b, 1e-12, x));
    sp_tensor *dx = sp_mul(c->b, sp_div(c->b, sp_sub(c->b, x, y), below), c->in[2]);
    if (c->n_in > 3) dx = sp_mul(c->b, dx, c->in[3]);
    if (sp__lite_int(c, 0) == 1)
        dx = sp__mul_number(c->b, dx, 1.0 / (double)(sp_tensor_count(x) > 0 ? sp_tensor_count(x) : 1));
    return sp__tflite_return(c, dx);
}

/* SmoothL1Loss(beta) and its gradient: x, target, dy. */
static sp_status smooth_l1(sp_tflite_call *c)
{
    return sp__tflite_return(c,
                             SP_TFLITE_OP2(c, "smooth_l1_loss", c->in[0], c->in[1], "beta=%.9g", sp__lite_float(c, 0)));
}

static sp_status smooth_l1_grad(sp_tflite_call *c)
{
    const double beta = sp__lite_float(c, 0);
    sp_tensor *d = sp_sub(c->b, c->in[0], c->in[1]), *small = sp_less(c->b, sp_abs(c->b, d), sp__const(c->b, beta, d));
    sp_tensor *slope = sp_select(c->b, small, sp__mul_number(c->b, d, beta > 0 ? 1 / beta : 0), sp_sign(c->b, d));
    return sp__tflite_return(c, sp_mul(c->b, slope, c->in[2]));
}

/* --- optimizers -------------------------------------------------------------------------------------------------- */

/* What an update gives: files have a place for it, nothing uses it. */
static sp_status give_nothing(sp_tflite_call *c)
{
    const sp_tflite_tensor *face = c->node->n_out > 0 ? sp__tflite_out_face(c, 0) : NULL;
    SP_TRY(sp_builder_status(c->b));
    for (int i = 0; i < c->node->n_in; i++) { /* the other layout of what was written is not that any more */
        sp_tflite_value *v = &c->frame[c->node->in[i]];
        if (v->plain == NULL || v->planes == NULL) continue;
        sp_tensor_release(v->planes);
        v->planes = NULL;
    }
    return face != NULL ? sp__tflite_put(c, 0, sp__tflite_scalar(c, SP_DTYPE_F32, 0), false) : SP_OK;
}

/* Input i as the weight has it: a gradient may come in another shape of as many elements. */
static sp_tensor *like_weight(sp_tflite_call *c, int i)
{
    sp_tensor *w = sp__tflite_plain(c, 0), *x = sp__tflite_plain(c, i);
    if (w == NULL || x == NULL) return x;
    bool same = sp_tensor_rank(w) == sp_tensor_rank(x);
    for (int k = 0; same && k < sp_tensor_rank(w); k++) same = sp_tensor_dims(w)[k] == sp_tensor_dims(x)[k];
    return same ? x : sp_reshape(c->b, x, sp_tensor_rank(w), sp_tensor_dims(w));
}

/* A number of the step. */
static sp_tensor *number(sp_tflite_call *c, int i)
{
    sp_tensor *x = sp__tflite_plain(c, i);
    return x != NULL && sp_tensor_rank(x) > 0 ? sp_reshape(c->b, x, 0, NULL) : x;
}

/* Weights and states of a step are tensors of the file: a result of a node cannot be written. */
static sp_status check_variables(sp_tflite_call *c, int n)
{
    for (int i = 0; i < n; i++) {
        const sp_tflite_tensor *t = sp__tflite_in_face(c, i);
        SP_CHECK(t != NULL && t->parameter >= 0, SP_FORMAT,
                 "input %d ('%s') is written, but is no float32 weight of the file", i, t != NULL ? t->name : "");
    }
    return SP_OK;
}

/* Adam(use_locking use_nesterov): weight, m, v, powers of the betas, rate, betas, epsilon, gradient. */
static sp_status adam(sp_tflite_call *c)
{
    sp_tensor *in[10], *none[3];
    SP_TRY(check_variables(c, 3));
    for (int i = 0; i < 10; i++) in[i] = i < 3 ? sp__tflite_plain(c, i) : i == 9 ? like_weight(c, i) : number(c, i);
    SP_TRY(sp__tflite_op_many(c, "adam_update", 10, in, 3, none, "use_nesterov=%s",
                              sp__lite_int(c, 1) ? "True" : "False"));
    return give_nothing(c);
}

/* AdamWeightDecay: weight, m, v, rate, betas, epsilon, decay, gradient. */
static sp_status adam_weight_decay(sp_tflite_call *c)
{
    sp_tensor *in[9], *none[3];
    SP_TRY(check_variables(c, 3));
    for (int i = 0; i < 9; i++) in[i] = i < 3 ? sp__tflite_plain(c, i) : i == 8 ? like_weight(c, i) : number(c, i);
    SP_TRY(sp__tflite_op_many(c, "adam_weight_decay_update", 9, in, 3, none, NULL));
    return give_nothing(c);
}

/* ApplyMomentum(use_nesterov use_locking gradient_scale): weight, accumulator, rate, gradient, momentum. */
static sp_status apply_momentum(sp_tflite_call *c)
{
    sp_tensor *none[2];
    SP_TRY(check_variables(c, 2));
    sp_tensor *in[5] = {sp__tflite_plain(c, 0), sp__tflite_plain(c, 1), number(c, 2), like_weight(c, 3), number(c, 4)};
    const double scale = sp__lite_float(c, 2);
    SP_TRY(sp__tflite_op_many(c, "momentum_update", 5, in, 2, none, "use_nesterov=%s, gradient_scale=%.9g",
                              sp__lite_int(c, 0) ? "True" : "False", scale != 0 ? scale : 1));
    return give_nothing(c);
}

/* SGD(nesterov dampening weight_decay): weight, gradient, rate, accumulator, momentum, stat. */
static sp_status sgd(sp_tflite_call *c)
{
    sp_tensor *none[3];
    SP_TRY(check_variables(c, 1));
    sp_tensor *in[6] = {sp__tflite_plain(c, 0), like_weight(c, 1), number(c, 2),
                        like_weight(c, 3),      number(c, 4),      like_weight(c, 5)};
    SP_TRY(sp__tflite_op_many(c, "sgd_update", 6, in, 3, none, "dampening=%.9g, weight_decay=%.9g, nesterov=%s",
                              sp__lite_float(c, 1), sp__lite_float(c, 2), sp__lite_int(c, 0) ? "True" : "False"));
    return give_nothing(c);
}

/* Assign, AssignAdd: weight, value. */
static sp_status assign(sp_tflite_call *c)
{
    SP_TRY(check_variables(c, 1));
    SP_TFLITE_OP2(c, c->node->handler->detail, sp__tflite_plain(c, 0), like_weight(c, 1), NULL);
    return give_nothing(c);
}

#define EACH (SP_TFLITE_REAL | SP_TFLITE_ANY)
#define RAW SP_TFLITE_RAW
const sp_tflite_handler sp__lite_train[] = {
    {3, "ActivationGrad", activation_grad, NULL, EACH, 2, -1},
    {183, "AbsGrad", abs_grad, NULL, EACH, 2, -1},
    {80, "LogGrad", log_grad, NULL, EACH, 2, -1},
    {102, "NegGrad", neg_grad, NULL, EACH, 1, -1},
    {185, "SqrtGrad", sqrt_grad, NULL, EACH, 2, -1},
    {184, "RsqrtGrad", rsqrt_grad, NULL, EACH, 2, -1},
    {7, "AddGrad", binary_grad, "+", SP_TFLITE_REAL, 3, -1},
    {153, "SubGrad", binary_grad, "-", SP_TFLITE_REAL, 3, -1},
    {100, "MulGrad", binary_grad, "*", SP_TFLITE_REAL, 3, -1},
    {48, "DivGrad", binary_grad, "/", SP_TFLITE_REAL, 3, -1},
    {91, "MaximumGrad", extreme_grad, ">", SP_TFLITE_REAL, 3, -1},
    {97, "MinimumGrad", extreme_grad, "<", SP_TFLITE_REAL, 3, -1},
    {26, "BiasAddGrad", bias_add_grad, NULL, SP_TFLITE_REAL, 1, -1},
    {34, "Conv2DBackpropInputFusion", conv_input_grad, NULL, RAW, 2, -1},
    {33, "Conv2DBackpropFilterFusion", conv_filter_grad, NULL, RAW, 2, -1},
    {93, "MaxPoolGrad", pool_grad, "pool_max_grad", RAW, 3, -1},
    {18, "AvgPoolGrad", pool_grad, "pool_mean_grad", RAW, 3, -1},
    {139, "SoftmaxCrossEntropyWithLogits", softmax_cross_entropy, NULL, SP_TFLITE_REAL, 2, -1},
    {143, "SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy, NULL, SP_TFLITE_REAL, 2, -1},
    {131, "SigmoidCrossEntropyWithLogits", sigmoid_cross_entropy, NULL, EACH, 2, -1},
    {132, "SigmoidCrossEntropyWithLogitsGrad", sigmoid_cross_entropy_grad, NULL, EACH, 3, -1},
    {24, "BinaryCrossEntropy", binary_cross_entropy, NULL, SP_TFLITE_REAL, 2, -1},
    {25, "BinaryCrossEntropyGrad", binary_cross_entropy_grad, NULL, SP_TFLITE_REAL, 3, -1},
    {136, "SmoothL1Loss", smooth_l1, NULL, EACH, 2, -1},
    {137, "SmoothL1LossGrad", smooth_l1_grad, NULL, EACH, 3, -1},
    {SP_LITE_ADAM, "Adam", adam, NULL, RAW, 10, -1},
    {SP_LITE_ADAM_WEIGHT_DECAY, "AdamWeightDecay", adam_weight_decay, NULL, RAW, 9, -1},
    {SP_LITE_APPLY_MOMENTUM, "ApplyMomentum", apply_momentum, NULL, RAW, 5, -1},
    {SP_LITE_SGD, "SGD", sgd, NULL, RAW, 6, -1},
    {SP_LITE_ASSIGN, "Assign", assign, "assign", RAW, 2, -1},
    {SP_LITE_ASSIGN_ADD, "AssignAdd", assign, "assign_add", RAW, 2, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
