/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_nn.c - ONNX operators of networks: convolution, pooling, normalisation, resizing, attention's parts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/onnx/onnx_model.h"
#include "spore/graph.h"

/* --- windows ----------------------------------------------------------------------------------------------------- */

typedef sp_onnx_window window;

sp_status sp__onnx_ints_or(sp_onnx_call *c, const char *name, int n, int64_t missing, int64_t *out)
{
    sp_onnx_ints list;
    bool found = false;
    SP_TRY(sp__onnx_ints_of(c, name, -1, &list, &found));
    SP_CHECK(!found || list.n == n, SP_VALUE, "%s has %d entries, there must be %d", name, list.n, n);
    for (int i = 0; i < n; i++) out[i] = found ? list.v[i] : missing;
    return SP_OK;
}

sp_status sp__onnx_window_of(sp_onnx_call *c, const sp_tensor *x, const int64_t *kernel, sp_onnx_window *w)
{
    w->n = sp_tensor_rank(x) - 2;
    SP_CHECK(w->n >= 1 && w->n <= 3, SP_VALUE, "x has rank %d, 3 to 5 are possible", sp_tensor_rank(x));
    const int64_t *in = sp_tensor_dims(x) + 2;
    sp_onnx_ints pads;
    bool found = false;
    if (kernel != NULL) memcpy(w->kernel, kernel, sizeof(int64_t) * (size_t)w->n);
    else SP_TRY(sp__onnx_ints_or(c, "kernel_shape", w->n, 1, w->kernel));
    SP_TRY(sp__onnx_ints_or(c, "strides", w->n, 1, w->stride));
    SP_TRY(sp__onnx_ints_or(c, "dilations", w->n, 1, w->dilation));
    SP_TRY(sp__onnx_ints_of(c, "pads", -1, &pads, &found));
    SP_CHECK(!found || pads.n == 2 * w->n, SP_VALUE, "pads has %d entries, there must be %d", pads.n, 2 * w->n);
    const char *mode = sp__onnx_attr_text(c, "auto_pad", "NOTSET");
    bool upper = strcmp(mode, "SAME_UPPER") == 0, lower = strcmp(mode, "SAME_LOWER") == 0;
    for (int i = 0; i < w->n; i++) {
        SP_CHECK(w->kernel[i] > 0 && w->stride[i] > 0 && w->dilation[i] > 0, SP_VALUE,
                 "kernel, stride and dilation must be positive");
        int64_t out = (in[i] + w->stride[i] - 1) / w->stride[i];
        int64_t total = (out - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - in[i];
        if (total < 0) total = 0;
        bool plain = found && strcmp(mode, "NOTSET") == 0;
        w->pads[2 * i] = plain ? pads.v[i] : upper ? total / 2 : lower ? total - total / 2 : 0;
        w->pads[2 * i + 1] = plain ? pads.v[w->n + i] : upper ? total - total / 2 : lower ? total / 2 : 0;
    }
    return SP_OK;
}

typedef struct window_text {
    sp_onnx_text kernel, stride, dilation, pads;
} window_text;

static void window_print(const window *w, window_text *t)
{
    sp__onnx_list(&t->kernel, w->n, w->kernel);
    sp__onnx_list(&t->stride, w->n, w->stride);
    sp__onnx_list(&t->dilation, w->n, w->dilation);
    sp__onnx_list(&t->pads, 2 * w->n, w->pads);
}

static sp_tensor *with_bias(sp_onnx_call *c, sp_tensor *y, sp_tensor *bias)
{
    if (bias == NULL || y == NULL) return y;
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < sp_tensor_rank(y); i++) dims[i] = i == 1 ? -1 : 1;
    return sp_add(c->b, y, sp_reshape(c->b, bias, sp_tensor_rank(y), dims));
}

/* A constant of the program that is being recorded. */
static bool is_fixed(const sp_tensor *t)
{
    return t != NULL && t->symbol == NULL && !(t->flags & (SP_TENSOR_PARAMETER | SP_TENSOR_VARIABLE)) &&
           t->dtype == SP_DTYPE_F32;
}

/* numbers: scale, shift, mean and variance. */
static void fold_numbers(sp_onnx_call *c, double epsilon, sp_tensor *const *numbers, sp_tensor **weight,
                         sp_tensor **bias)
{
    sp_tensor *p[4];
    for (int i = 0; i < 4; i++) p[i] = sp_cast(c->b, numbers[i], SP_DTYPE_F64);
    sp_tensor *scale = sp_div(c->b, p[0], sp_sqrt(c->b, sp__add_number(c->b, p[3], epsilon)));
    sp_tensor *shift = *bias != NULL ? sp_sub(c->b, sp_cast(c->b, *bias, SP_DTYPE_F64), p[2]) : sp_neg(c->b, p[2]);
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < sp_tensor_rank(*weight); i++) dims[i] = i == 0 ? -1 : 1;
    sp_tensor *w =
        sp_mul(c->b, sp_cast(c->b, *weight, SP_DTYPE_F64), sp_reshape(c->b, scale, sp_tensor_rank(*weight), dims));
    *weight = sp_cast(c->b, w, SP_DTYPE_F32);
    *bias = sp_cast(c->b, sp_add(c->b, sp_mul(c->b, shift, scale), p[1]), SP_DTYPE_F32);
}

/* Weights and bias of a convolution with the normalisation behind it multiplied in; false: it cannot be. Only while compiling:
 * otherwise it would be done in every run. */
static bool fold_norm(sp_onnx_call *c, sp_tensor **weight, sp_tensor **bias)
{
    const sp_onnx_node *norm = c->node->norm;
    sp_tensor *from[6] = {*weight, *bias}, *folded[SP_DERIVED_MAX];
    if (norm == NULL || sp_function_recording() == NULL || !is_fixed(*weight) || (*bias != NULL && !is_fixed(*bias)))
        return false;
    sp_onnx_call behind = {.node = norm, .caller = c->caller};
    if (sp__onnx_attr_int(&behind, "training_mode", 0)) return false;
    for (int i = 0; i < 4; i++) {
        const sp_onnx_value *v = norm->in[i + 1] >= 0 ? c->frame[norm->in[i + 1]] : NULL;
        if (v == NULL || !is_fixed(v->tensor) || sp_tensor_rank(v->tensor) != 1 ||
            sp_tensor_count(v->tensor) != sp_tensor_dims(*weight)[0])
            return false;
        from[2 + i] = v->tensor;
    }
    if (sp__derived_find(c->node, 6, from, folded)) {
        *weight = folded[0];
        *bias = folded[1];
        return true;
    }
    fold_numbers(c, sp__onnx_attr_float(&behind, "epsilon", 1e-5), from + 2, weight, bias);
    if (sp_builder_status(c->b) != SP_OK) return false;
    sp__derived_keep(c->node, 6, from, 2, (sp_tensor *const[]){*weight, *bias});
    return true;
}

static sp_status conv(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *weight = c->in[1], *bias = sp__onnx_in(c, 2);
    bool folded = fold_norm(c, &weight, &bias);
    SP_TRY(sp_builder_status(c->b));
    window w;
    window_text t;
    char op[16];
    SP_CHECK(sp_tensor_rank(weight) == sp_tensor_rank(x), SP_VALUE, "x has rank %d, the weights %d", sp_tensor_rank(x),
             sp_tensor_rank(weight));
    SP_TRY(sp__onnx_window_of(c, x, sp_tensor_dims(weight) + 2, &w));
    window_print(&w, &t);
    snprintf(op, sizeof op, "conv%dd", w.n);
    sp_tensor *y = sp__onnx_op(c, op, 3, (sp_tensor *[]){x, weight, bias},
                               "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=%lld", t.stride.text, t.pads.text,
                               t.dilation.text, (long long)sp__onnx_attr_int(c, "group", 1));
    if (!folded) return sp__onnx_return(c, y);
    SP_TRY(sp_builder_status(c->b));
    c->frame[c->node->norm->out[0]] =
        sp__onnx_value_tensor(y); /* the normalisation's result; our own has no other use */
    return c->frame[c->node->norm->out[0]] != NULL ? SP_OK : SP_NOMEM;
}

/* The gradient of a convolution by its input, with the wanted size. */
static sp_status conv_transpose(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *weight = c->in[1];
    window w;
    window_text t;
    char op[32];
    int64_t extra[SP_RANK_MAX], shape[SP_RANK_MAX];
    sp_onnx_ints wanted;
    bool has_shape = false;
    SP_CHECK(sp_tensor_rank(weight) == sp_tensor_rank(x), SP_VALUE, "x has rank %d, the weights %d", sp_tensor_rank(x),
             sp_tensor_rank(weight));
    SP_TRY(sp__onnx_window_of(c, x, sp_tensor_dims(weight) + 2, &w));
    SP_TRY(sp__onnx_ints_or(c, "output_padding", w.n, 0, extra));
    SP_TRY(sp__onnx_ints_of(c, "output_shape", -1, &wanted, &has_shape));
    const char *mode = sp__onnx_attr_text(c, "auto_pad", "NOTSET");
    bool same = strncmp(mode, "SAME", 4) == 0;
    SP_CHECK(!has_shape || wanted.n == w.n || wanted.n == w.n + 2, SP_VALUE, "output_shape has %d entries", wanted.n);
    for (int i = 0; i < w.n; i++) {
        int64_t full = (sp_tensor_dims(x)[i + 2] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 + extra[i];
        if (has_shape || same) {
            shape[i] = has_shape ? wanted.v[wanted.n - w.n + i] : sp_tensor_dims(x)[i + 2] * w.stride[i];
            if (full < shape[i]) { /* the rest stands behind */
                extra[i] += shape[i] - full;
                full = shape[i];
            }
            int64_t total = full - shape[i];
            bool upper = strcmp(mode, "SAME_UPPER") == 0;
            w.pads[2 * i] = upper ? total / 2 : total - total / 2;
            w.pads[2 * i + 1] = total - w.pads[2 * i];
        }
        shape[i] = full - w.pads[2 * i] - w.pads[2 * i + 1];
        w.pads[2 * i + 1] -= extra[i]; /* more elements behind are what a smaller padding leaves */
    }
    /* The operator wants paddings that are not negative: what is missing is cut or added after it. */
    int64_t inner[SP_RANK_MAX], missing[2 * SP_RANK_MAX + 4] = {0};
    bool grown = false;
    for (int i = 0; i < w.n; i++) {
        inner[i] = shape[i];
        if (w.pads[2 * i + 1] < 0) {
            missing[2 * (i + 2) + 1] = -w.pads[2 * i + 1];
            inner[i] += w.pads[2 * i + 1];
            w.pads[2 * i + 1] = 0;
            grown = true;
        }
    }
    window_print(&w, &t);
    snprintf(op, sizeof op, "conv%dd_input_grad", w.n);
    sp_tensor *y =
        SP_ONNX_OP2(c, op, x, weight, "stride=%s, pad_mode=pad, pad=%s, dilation=%s, group=%lld, input_size=%s",
                    t.stride.text, t.pads.text, t.dilation.text, (long long)sp__onnx_attr_int(c, "group", 1),
                    sp__onnx_list(&t.kernel, w.n, inner));
    if (grown) y = SP_ONNX_OP1(c, "pad", y, "pads=%s", sp__onnx_list(&t.kernel, 2 * (w.n + 2), missing));
    return sp__onnx_return(c, with_bias(c, y, sp__onnx_in(c, 2)));
}

/* --- pooling ----------------------------------------------------------------------------------------------------- */

/* Pooling takes padding up to half a window; more is put around x before, as numbers that never win. */
static sp_tensor *pad_lowest(sp_onnx_call *c, sp_tensor *x, window *w)
{
    int64_t pads[2 * SP_RANK_MAX] = {0};
    sp_onnx_text text;
    bool wide = false;
    for (int i = 0; i < 2 * w->n; i++) wide = wide || 2 * w->pads[i] > w->kernel[i / 2];
    if (!wide) return x;
    memcpy(pads + 4, w->pads, sizeof(int64_t) * 2 * (size_t)w->n);
    memset(w->pads, 0, sizeof w->pads);
    bool real = sp_dtype_kind(sp_tensor_dtype(x)) == 'f';
    return SP_ONNX_OP1(c, "pad", x, "pads=%s, value=%s", sp__onnx_list(&text, 2 * (w->n + 2), pads),
                       real                                ? "-inf"
                       : sp_tensor_dtype(x) == SP_DTYPE_I8 ? "-128"
                                                           : "0");
}

static sp_status max_pool(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *both[2] = {NULL};
    window w;
    window_text t;
    char op[32];
    SP_TRY(sp__onnx_window_of(c, x, NULL, &w));
    bool index = c->n_out > 1;
    if (!index) x = pad_lowest(c, x, &w);
    SP_TRY(sp_builder_status(c->b));
    window_print(&w, &t);
    snprintf(op, sizeof op, index ? "max_pool%dd_indices" : "max_pool%dd", w.n);
    SP_TRY(sp__onnx_op_many(c, op, 1, &x, 2, both,
                            "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s, dilation=%s, ceil_mode=%s", t.kernel.text,
                            t.stride.text, t.pads.text, t.dilation.text,
                            sp__onnx_attr_int(c, "ceil_mode", 0) ? "True" : "False"));
    c->out[0] = both[0];
    if (!index) return SP_OK;
    /* Ours count inside a plane, theirs over the whole tensor, rows or columns first. */
    int64_t plane = 1, planes = sp_tensor_dims(x)[0] * sp_tensor_dims(x)[1], dims[SP_RANK_MAX];
    for (int i = 0; i < w.n; i++) plane *= sp_tensor_dims(x)[i + 2];
    sp_tensor *at = sp_cast(c->b, both[1], SP_DTYPE_I64);
    if (sp__onnx_attr_int(c, "storage_order", 0) && w.n == 2) {
        sp_tensor *columns = sp__onnx_scalar(c, SP_DTYPE_I64, (double)sp_tensor_dims(x)[3]);
        sp_tensor *rows = sp__onnx_scalar(c, SP_DTYPE_I64, (double)sp_tensor_dims(x)[2]);
        sp_tensor *row = SP_ONNX_OP2(c, "floor_div", at, columns, NULL),
                  *column = SP_ONNX_OP2(c, "floor_mod", at, columns, NULL);
        at = sp_add(c->b, sp_mul(c->b, column, rows), row);
    }
    for (int i = 0; i < w.n + 2; i++) dims[i] = i < 2 ? sp_tensor_dims(x)[i] : 1;
    sp_tensor *base = sp_mul(c->b, sp__positions(c->b, 1, 0, planes), sp__onnx_scalar(c, SP_DTYPE_I64, (double)plane));
    c->out[1] = sp_add(c->b, at, sp_reshape(c->b, base, w.n + 2, dims));
    return sp_builder_status(c->b);
}

/* Sums over windows by a convolution of every channel alone with ones: takes dilation and any padding. */
static sp_tensor *window_sum(sp_onnx_call *c, sp_tensor *x, const window *w, const int64_t *pads)
{
    window_text t;
    char op[16];
    int64_t dims[SP_RANK_MAX], flat[SP_RANK_MAX];
    window own = *w;
    memcpy(own.pads, pads, sizeof own.pads);
    window_print(&own, &t);
    flat[0] = sp_tensor_dims(x)[0] * sp_tensor_dims(x)[1];
    flat[1] = dims[0] = dims[1] = 1;
    for (int i = 0; i < w->n; i++) {
        dims[i + 2] = w->kernel[i];
        flat[i + 2] = sp_tensor_dims(x)[i + 2];
    }
    snprintf(op, sizeof op, "conv%dd", w->n);
    sp_tensor *ones = sp__full(c->b, 1, sp_tensor_dtype(x), w->n + 2, dims);
    sp_tensor *y =
        sp__onnx_op(c, op, 3, (sp_tensor *[]){sp_reshape(c->b, x, w->n + 2, flat), ones, NULL},
                    "stride=%s, pad_mode=pad, pad=%s, dilation=%s", t.stride.text, t.pads.text, t.dilation.text);
    if (y == NULL) return NULL;
    for (int i = 0; i < w->n + 2; i++) flat[i] = i < 2 ? sp_tensor_dims(x)[i] : sp_tensor_dims(y)[i];
    return sp_reshape(c->b, y, w->n + 2, flat);
}

/* With ceil_mode the last window may reach behind the padding: so much more padding, which never counts. */
static void ceil_pads(const sp_tensor *x, const window *w, int64_t *pads)
{
    memcpy(pads, w->pads, sizeof w->pads);
    for (int i = 0; i < w->n; i++) {
        int64_t all = sp_tensor_dims(x)[i + 2] + w->pads[2 * i] + w->pads[2 * i + 1], s = w->stride[i];
        int64_t room = all - ((w->kernel[i] - 1) * w->dilation[i] + 1), out = (room + s - 1) / s + 1;
        if ((out - 1) * s >= sp_tensor_dims(x)[i + 2] + w->pads[2 * i]) out--;
        int64_t more = (out - 1) * s - room;
        if (more > 0) pads[2 * i + 1] += more;
    }
}

static sp_status average_pool(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    window w;
    int64_t pads[2 * SP_RANK_MAX], dims[SP_RANK_MAX];
    SP_TRY(sp__onnx_window_of(c, x, NULL, &w));
    bool ceil_mode = sp__onnx_attr_int(c, "ceil_mode", 0) != 0,
         padded = sp__onnx_attr_int(c, "count_include_pad", 0) != 0;
    bool plain = !ceil_mode && sp_dtype_kind(sp_tensor_dtype(x)) == 'f'; /* what the operator of the table does */
    for (int i = 0; i < 2 * w.n; i++) plain = plain && w.dilation[i / 2] == 1 && 2 * w.pads[i] <= w.kernel[i / 2];
    if (plain) {
        window_text t;
        char op[16];
        window_print(&w, &t);
        snprintf(op, sizeof op, "avg_pool%dd", w.n);
        return sp__onnx_return(c, SP_ONNX_OP1(c, op, x,
                                              "kernel_size=%s, stride=%s, pad_mode=pad, pad=%s, count_include_pad=%s",
                                              t.kernel.text, t.stride.text, t.pads.text, padded ? "True" : "False"));
    }
    memcpy(pads, w.pads, sizeof pads);
    if (ceil_mode) ceil_pads(x, &w, pads);
    sp_tensor *sum = window_sum(c, x, &w, pads);
    /* How many elements each window has: the same sum over ones, where padding that counts is ones too. */
    dims[0] = dims[1] = 1;
    for (int i = 0; i < w.n; i++)
        dims[i + 2] = sp_tensor_dims(x)[i + 2] + (padded ? w.pads[2 * i] + w.pads[2 * i + 1] : 0);
    sp_tensor *ones = sp__full(c->b, 1, sp_tensor_dtype(x), w.n + 2, dims);
    for (int i = 0; i < 2 * w.n && padded; i++) pads[i] -= w.pads[i];
    SP_TRY(sp_builder_status(c->b));
    return sp__onnx_return(c, sp_div(c->b, sum, window_sum(c, ones, &w, pads)));
}

/* A float in the first version, an int since. */
static double order_of(const sp_onnx_call *c)
{
    const sp_onnx_attr *a = sp__onnx_attr(c, "p");
    return a == NULL ? 2 : a->type == 1 ? a->f : (double)a->i;
}

static sp_status lp_pool(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    window w;
    int64_t pads[2 * SP_RANK_MAX];
    double p = order_of(c);
    SP_TRY(sp__onnx_window_of(c, x, NULL, &w));
    memcpy(pads, w.pads, sizeof pads);
    if (sp__onnx_attr_int(c, "ceil_mode", 0)) ceil_pads(x, &w, pads);
    sp_tensor *power = SP_ONNX_OP2(c, "pow", sp_abs(c->b, x), sp__const(c->b, p, x), NULL);
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *sum = window_sum(c, power, &w, pads);
    return sp__onnx_return(c, SP_ONNX_OP2(c, "pow", sum, sp__const(c->b, 1 / p, x), NULL));
}

static sp_status global_pool(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    int64_t axes[SP_RANK_MAX];
    sp_onnx_text text;
    int n = 0;
    for (int i = 2; i < sp_tensor_rank(x); i++) axes[n++] = i;
    const char *op = c->node->handler->detail;
    double p = order_of(c);
    bool lp = strcmp(op, "lp") == 0;
    if (lp) x = SP_ONNX_OP2(c, "pow", sp_abs(c->b, x), sp__const(c->b, p, x), NULL);
    sp_tensor *y = SP_ONNX_OP1(c, lp ? "reduce_sum" : op, x, "axis=%s, keepdims=True", sp__onnx_list(&text, n, axes));
    if (lp && y != NULL) y = SP_ONNX_OP2(c, "pow", y, sp__const(c->b, 1 / p, y), NULL);
    return sp__onnx_return(c, y);
}

/* --- normalisation ----------------------------------------------------------------------------------------------- */

static sp_tensor *per_channel(sp_onnx_call *c, sp_tensor *t, int rank)
{
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) dims[i] = i == 1 ? -1 : 1;
    return sp_reshape(c->b, t, rank, dims);
}

static sp_tensor *mean_over(sp_onnx_call *c, sp_tensor *x, int n, const int64_t *axes)
{
    return sp_reduce_mean(c->b, x, n, axes, true);
}

/* (x - mean) / sqrt(variance + epsilon) over axes. */
static sp_tensor *standardise(sp_onnx_call *c, sp_tensor *x, int n, const int64_t *axes, double epsilon,
                              sp_tensor **mean, sp_tensor **inverse)
{
    *mean = mean_over(c, x, n, axes);
    sp_tensor *centred = sp_sub(c->b, x, *mean);
    sp_tensor *variance = mean_over(c, sp_square(c->b, centred), n, axes);
    if (variance == NULL) return NULL;
    *inverse = sp_reciprocal(c->b, sp_sqrt(c->b, sp__add_number(c->b, variance, epsilon)));
    return sp_mul(c->b, centred, *inverse);
}

static sp_status batch_norm(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *mean = c->in[3], *variance = c->in[4];
    int rank = sp_tensor_rank(x), n = 0;
    double epsilon = sp__onnx_attr_float(c, "epsilon", 1e-5), momentum = sp__onnx_attr_float(c, "momentum", 0.9);
    int64_t axes[SP_RANK_MAX];
    if (!sp__onnx_attr_int(c, "training_mode", 0)) {
        sp_tensor *out[3];
        if (rank == 1) x = sp_reshape(c->b, x, 2, (int64_t[]){-1, 1});
        SP_TRY(sp_builder_status(c->b));
        if (sp_tensor_dtype(x) == sp_tensor_dtype(mean) && rank > 1) {
            SP_TRY(sp__onnx_op_many(c, "batch_norm", 5, (sp_tensor *[]){x, c->in[1], c->in[2], mean, variance}, 3, out,
                                    "epsilon=%.17g", epsilon));
            c->out[0] = out[0];
            return SP_OK;
        }
        sp_tensor *y = sp_sub(c->b, x, per_channel(c, mean, 2 > rank ? 2 : rank));
        y = sp_mul(c->b, y,
                   per_channel(c, sp_rsqrt(c->b, sp__add_number(c->b, variance, epsilon)), 2 > rank ? 2 : rank));
        y = sp_mul(c->b, y, per_channel(c, c->in[1], 2 > rank ? 2 : rank));
        y = sp_add(c->b, y, per_channel(c, c->in[2], 2 > rank ? 2 : rank));
        return sp__onnx_return(c, sp_reshape(c->b, y, rank, sp_tensor_dims(c->in[0])));
    }
    for (int i = 0; i < rank; i++)
        if (i != 1) axes[n++] = i;
    sp_tensor *m = mean_over(c, x, n, axes), *centred = sp_sub(c->b, x, m),
              *v = mean_over(c, sp_square(c->b, centred), n, axes);
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *y = sp_div(c->b, centred, sp_sqrt(c->b, sp__add_number(c->b, v, epsilon)));
    c->out[0] = sp_add(c->b, sp_mul(c->b, y, per_channel(c, c->in[1], rank)), per_channel(c, c->in[2], rank));
    sp_tensor *now[2] = {m, v};
    for (int k = 0; k < 2 && k + 1 < c->n_out; k++) {
        sp_tensor *flat = sp_reshape(c->b, now[k], 1, (int64_t[]){-1});
        c->out[k + 1] =
            sp_add(c->b, sp__mul_number(c->b, c->in[3 + k], momentum), sp__mul_number(c->b, flat, 1 - momentum));
    }
    return sp_builder_status(c->b);
}

static sp_status instance_norm(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *mean, *inverse = NULL;
    int64_t axes[SP_RANK_MAX];
    int n = 0, rank = sp_tensor_rank(x);
    for (int i = 2; i < rank; i++) axes[n++] = i;
    sp_tensor *y = standardise(c, x, n, axes, sp__onnx_attr_float(c, "epsilon", 1e-5), &mean, &inverse);
    y = sp_mul(c->b, y, per_channel(c, c->in[1], rank));
    return sp__onnx_return(c, sp_add(c->b, y, per_channel(c, c->in[2], rank)));
}

/* Statistics in float32 for smaller floats, as the standard's stash_type says. */
static sp_status layer_norm(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *mean, *inverse = NULL;
    sp_dtype dtype = sp_tensor_dtype(x);
    int axis = 0, n = 0, rank = sp_tensor_rank(x);
    int64_t axes[SP_RANK_MAX];
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", -1), rank, "axis", &axis));
    for (int i = axis; i < rank; i++) axes[n++] = i;
    double epsilon = sp__onnx_attr_float(c, "epsilon", 1e-5);
    bool whole = sp_tensor_rank(c->in[1]) == n && (sp__onnx_in(c, 2) == NULL || sp_tensor_rank(c->in[2]) == n);
    if (c->n_out == 1 && sp_dtype_bytes(dtype) >= 4 && whole && sp_tensor_dtype(c->in[1]) == dtype)
        return sp__onnx_return(c, sp__onnx_op(c, "layer_norm", 3, (sp_tensor *[]){x, c->in[1], sp__onnx_in(c, 2)},
                                              "begin_norm_axis=%d, begin_params_axis=%d, epsilon=%.17g", axis, axis,
                                              epsilon));
    if (sp_dtype_bytes(dtype) < 4) x = sp_cast(c->b, x, SP_DTYPE_F32);
    sp_tensor *y = standardise(c, x, n, axes, epsilon, &mean, &inverse);
    y = sp_mul(c->b, sp_cast(c->b, y, dtype), c->in[1]);
    if (sp__onnx_in(c, 2) != NULL) y = sp_add(c->b, y, c->in[2]);
    c->out[0] = y;
    if (c->n_out > 1) c->out[1] = mean;
    if (c->n_out > 2) c->out[2] = inverse;
    return sp_builder_status(c->b);
}

static sp_status rms_norm(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_dtype dtype = sp_tensor_dtype(x);
    int axis = 0, n = 0, rank = sp_tensor_rank(x);
    int64_t axes[SP_RANK_MAX];
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", -1), rank, "axis", &axis));
    for (int i = axis; i < rank; i++) axes[n++] = i;
    if (sp_dtype_bytes(dtype) < 4) x = sp_cast(c->b, x, SP_DTYPE_F32);
    sp_tensor *square = mean_over(c, sp_square(c->b, x), n, axes);
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *y =
        sp_mul(c->b, x, sp_rsqrt(c->b, sp__add_number(c->b, square, sp__onnx_attr_float(c, "epsilon", 1e-5))));
    return sp__onnx_return(c, sp_mul(c->b, sp_cast(c->b, y, dtype), c->in[1]));
}

static sp_status group_norm(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *mean, *inverse = NULL;
    int64_t groups = sp__onnx_attr_int(c, "num_groups", 1), channels = sp_tensor_dims(x)[1];
    int rank = sp_tensor_rank(x);
    SP_CHECK(groups > 0 && channels % groups == 0, SP_VALUE, "%lld channels in %lld groups", (long long)channels,
             (long long)groups);
    sp_tensor *rows = sp_reshape(c->b, x, 3, (int64_t[]){sp_tensor_dims(x)[0], groups, -1});
    sp_tensor *y = standardise(c, rows, 1, (int64_t[]){2}, sp__onnx_attr_float(c, "epsilon", 1e-5), &mean, &inverse);
    sp_tensor *scale = c->in[1], *bias = c->in[2];
    if (c->opset < 21 && sp_tensor_count(scale) == groups && groups != channels) {
        y = sp_add(c->b, sp_mul(c->b, y, per_channel(c, scale, 3)), per_channel(c, bias, 3));
        return sp__onnx_return(c, sp_reshape(c->b, y, rank, sp_tensor_dims(x)));
    }
    y = sp_reshape(c->b, y, rank, sp_tensor_dims(x));
    return sp__onnx_return(c, sp_add(c->b, sp_mul(c->b, y, per_channel(c, scale, rank)), per_channel(c, bias, rank)));
}

static sp_status lrn(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    int64_t size = sp__onnx_attr_int(c, "size", 1);
    double alpha = sp__onnx_attr_float(c, "alpha", 1e-4), beta = sp__onnx_attr_float(c, "beta", 0.75),
           bias = sp__onnx_attr_float(c, "bias", 1);
    sp_tensor *sum = SP_ONNX_OP1(c, "channel_window_sum", sp_square(c->b, x), "before=%lld, after=%lld",
                                 (long long)((size - 1) / 2), (long long)(size - 1 - (size - 1) / 2));
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *scale = sp__add_number(c->b, sp__mul_number(c->b, sum, alpha / (double)size), bias);
    return sp__onnx_return(c, sp_mul(c->b, x, SP_ONNX_OP2(c, "pow", scale, sp__const(c->b, -beta, x), NULL)));
}

static sp_status lp_norm(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    int64_t axis = sp__onnx_attr_int(c, "axis", -1), p = sp__onnx_attr_int(c, "p", 2);
    sp_tensor *norm = p == 1 ? sp_reduce_sum(c->b, sp_abs(c->b, x), 1, &axis, true)
                             : sp_sqrt(c->b, sp_reduce_sum(c->b, sp_square(c->b, x), 1, &axis, true));
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *zero = sp__const(c->b, 0, norm);
    norm = sp_select(c->b, sp_equal(c->b, norm, zero), sp__onnx_scalar(c, sp_tensor_dtype(x), 1), norm);
    return sp__onnx_return(c, sp_div(c->b, x, norm));
}

static sp_status mean_variance_norm(sp_onnx_call *c)
{
    sp_onnx_ints axes;
    bool found = false;
    sp_tensor *x = c->in[0], *mean;
    SP_TRY(sp__onnx_ints_of(c, "axes", -1, &axes, &found));
    if (!found) axes = (sp_onnx_ints){3, {0, 2, 3}};
    mean = mean_over(c, x, axes.n, axes.v);
    sp_tensor *centred = sp_sub(c->b, x, mean),
              *deviation = sp_sqrt(c->b, mean_over(c, sp_square(c->b, centred), axes.n, axes.v));
    SP_TRY(sp_builder_status(c->b));
    return sp__onnx_return(c, sp_div(c->b, centred, sp__add_number(c->b, deviation, 1e-9)));
}

const sp_onnx_handler sp__onnx_nn[] = {
    {"Conv", 1, conv, NULL, 0},
    {"ConvTranspose", 1, conv_transpose, NULL, 0},
    {"MaxPool", 1, max_pool, NULL, 0},
    {"AveragePool", 1, average_pool, NULL, 0},
    {"LpPool", 1, lp_pool, NULL, 0},
    {"GlobalAveragePool", 1, global_pool, "reduce_mean", 0},
    {"GlobalMaxPool", 1, global_pool, "reduce_max", 0},
    {"GlobalLpPool", 1, global_pool, "lp", 0},
    {"BatchNormalization", 1, batch_norm, NULL, 0},
    {"InstanceNormalization", 1, instance_norm, NULL, 0},
    {"LayerNormalization", 1, layer_norm, NULL, 0},
    {"RMSNormalization", 23, rms_norm, NULL, 0},
    {"GroupNormalization", 18, group_norm, NULL, 0},
    {"LRN", 1, lrn, NULL, 0},
    {"LpNormalization", 1, lp_norm, NULL, 0},
    {"MeanVarianceNormalization", 9, mean_variance_norm, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
