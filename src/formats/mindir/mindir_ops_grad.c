/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops_grad.c - primitives of MindIR that files of training steps hold: gradients, and normalisation by the statistics of a batch. */
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_ops.h"

static sp_tensor *op2(sp_mindir_call *c, const char *op, sp_tensor *x, sp_tensor *y)
{
    return sp_builder_call(c->b, op, "", 2, (sp_tensor *[]){x, y});
}

static sp_tensor *number(sp_mindir_call *c, const sp_tensor *like, double v)
{
    sp_tensor *t;
    if (sp_tensor_create_f64(sp_tensor_dtype(like), v, &t) != SP_OK) return sp__builder_fail(c->b, SP_NOMEM);
    return sp_builder_take_tensor(c->b, t);
}

static sp_status zeros_like(sp_mindir_call *c, const sp_tensor *x, int rank, const int64_t *dims, sp_tensor **out)
{
    sp_mindir_text a = {.used = 0};
    sp__mindir_put(&a, "dtype=%s, shape=(", sp_dtype_name(sp_tensor_dtype(x)));
    for (int i = 0; i < rank; i++) sp__mindir_put(&a, "%lld,", (long long)dims[i]);
    sp__mindir_put(&a, ")");
    *out = sp_builder_call(c->b, "full", a.text, 0, NULL);
    return sp__builder_status(c->b);
}

/* The rule's operator on inputs k and l, in this order: its `inputs` are "kl", and attributes behind. */
sp_status sp__mindir_run_turned(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[2];
    int64_t axis;
    for (int i = 0; i < 2; i++) SP_TRY(sp__mindir_operand(c, rule->inputs[i] - '0', &in[i]));
    if (rule->inputs[2] == '\0') return sp__mindir_apply_text(c, rule->op, "", 2, in, out);
    SP_TRY(sp__mindir_int_argument(c, 2, rule->inputs + 3, -1, &axis)); /* "10 axis": input 2, or the attribute */
    return sp__mindir_call(c, rule->op, 2, in, out, "axis=(%lld,)", (long long)axis);
}

/* Slopes by the result: y, dy. */
sp_status sp__mindir_run_slope(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *y, *dy, *r = NULL;
    SP_TRY(sp__mindir_operand(c, 0, &y));
    SP_TRY(sp__mindir_operand(c, 1, &dy));
    const char *type = rule->mindir;
    if (!strcmp(type, "SigmoidGrad")) r = op2(c, "mul", dy, op2(c, "mul", y, op2(c, "sub", number(c, y, 1), y)));
    else if (!strcmp(type, "TanhGrad")) r = op2(c, "mul", dy, op2(c, "sub", number(c, y, 1), op2(c, "mul", y, y)));
    else if (!strcmp(type, "SqrtGrad")) r = op2(c, "div", op2(c, "mul", dy, number(c, y, 0.5)), y);
    else if (!strcmp(type, "RsqrtGrad"))
        r = op2(c, "mul", op2(c, "mul", dy, number(c, y, -0.5)), op2(c, "mul", y, op2(c, "mul", y, y)));
    else r = op2(c, "mul", op2(c, "mul", dy, number(c, y, -1)), op2(c, "mul", y, y)); /* ReciprocalGrad */
    return sp__mindir_give(c, r, out);
}

/* The sum over all but the channels: the second axis, or the last. */
sp_status sp__mindir_run_bias_add_grad(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    sp_mindir_text a = {.used = 0};
    const sp_mindir_value *format = sp__mindir_argument(c, 1, sp__mindir_attr(c, "format") ? "format" : "data_format");
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    int last = 0;
    if (format && format->kind != SP_MINDIR_NONE)
        SP_TRY(sp__mindir_word(format, "data_format", "NCHW NHWC NCDHW", &last));
    last = last == 1;
    int rank = sp_tensor_rank(x), channels = last ? rank - 1 : 1;
    sp__mindir_put(&a, "axis=(");
    for (int i = 0; i < rank; i++)
        if (i != channels) sp__mindir_put(&a, "%d,", i);
    sp__mindir_put(&a, ")");
    return sp__mindir_apply_text(c, "reduce_sum", a.text, 1, &x, out);
}

/* y, the statistics twice: as MindSpore keeps them, and as the gradient takes them. In training kept ones, which are Parameters, move. */
sp_status sp__mindir_run_batch_norm(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    static const int order[] = {0, 1, 2, 1, 2};
    sp_mindir_value *v;
    SP_TRY(sp__mindir_run_text(c, rule, &v));
    SP_CHECK(v->kind == SP_MINDIR_TUPLE && v->n >= 3, SP_FORMAT, "batch normalisation gives other results than three");
    if (!(*out = sp__mindir_value(c, SP_MINDIR_TUPLE, 5))) return SP_NOMEM;
    for (int i = 0; i < 5; i++) (*out)->items[i] = v->items[order[i]];
    return SP_OK;
}

/* dout, x, scale, mean, variance (of the batch), reserve, is_training, epsilon. */
sp_status sp__mindir_run_batch_norm_grad(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    static const int order[] = {1, 2, 3, 4, 0};
    sp_tensor *in[5];
    double epsilon = 1e-5;
    int64_t training;
    (void)rule;
    SP_TRY(sp__mindir_int_argument(c, 6, "is_training", 0, &training));
    SP_CHECK(training, SP_FORMAT, "the gradient of batch normalisation by kept statistics is not supported");
    for (int i = 0; i < 5; i++) SP_TRY(sp__mindir_operand(c, order[i], &in[i]));
    const sp_mindir_value *x = sp__mindir_argument(c, 7, "epsilon");
    if (x && x->kind != SP_MINDIR_NONE) SP_TRY(sp__mindir_real(x, "epsilon", &epsilon));
    return sp__mindir_call(c, "batch_norm_train_grad", 5, in, out, "epsilon=%.9g", epsilon);
}

/* x, dy, variance, mean, gamma, begin_norm_axis, begin_params_axis. */
sp_status sp__mindir_run_layer_norm_grad(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[3];
    int64_t norm, params;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &in[0]));
    SP_TRY(sp__mindir_operand(c, 4, &in[1]));
    SP_TRY(sp__mindir_operand(c, 1, &in[2]));
    SP_TRY(sp__mindir_int_argument(c, 5, "begin_norm_axis", 1, &norm));
    SP_TRY(sp__mindir_int_argument(c, 6, "begin_params_axis", 1, &params));
    return sp__mindir_call(c, "layer_norm_grad", 3, in, out,
                           "begin_norm_axis=%lld, begin_params_axis=%lld, epsilon=1e-12", (long long)norm,
                           (long long)params);
}

/* x, dim, index, dout. */
sp_status sp__mindir_run_gather_grad(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x, *in[3];
    int64_t dim;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, 1, "dim", 0, &dim));
    SP_TRY(sp__mindir_operand(c, 2, &in[1]));
    SP_TRY(sp__mindir_operand(c, 3, &in[2]));
    SP_TRY(zeros_like(c, in[2], sp_tensor_rank(x), sp_tensor_dims(x), &in[0]));
    return sp__mindir_call(c, "scatter_elements", 3, in, out, "axis=%lld, reduce=add", (long long)dim);
}

/* x, ids, number of segments: sums of rows of one id. */
sp_status sp__mindir_run_segment_sum(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x, *ids, *in[3];
    int64_t n, dims[SP_RANK_MAX], width[SP_RANK_MAX] = {-1};
    sp_mindir_value *v;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_operand(c, 1, &ids));
    SP_TRY(sp__mindir_int_argument(c, 2, "num_segments", 0, &n));
    int lead = sp_tensor_rank(ids), rank = sp_tensor_rank(x) - lead + 1;
    SP_CHECK(lead >= 1 && rank >= 1, SP_FORMAT, "segments of rank %d for rank %d", lead, sp_tensor_rank(x));
    dims[0] = n;
    for (int i = 1; i < rank; i++) dims[i] = width[i] = sp_tensor_dims(x)[lead - 1 + i];
    SP_TRY(sp__mindir_reshape(c, x, rank, width, &v));
    in[1] = v->t;
    SP_TRY(sp__mindir_reshape(c, ids, 1, width, &v));
    in[2] = v->t;
    SP_TRY(zeros_like(c, x, rank, dims, &in[0]));
    return sp__mindir_apply_text(c, "index_put", "axes=(0,), accumulate=True", 3, in, out);
}

/* dy, shape of x, begin, end, strides, masks. */
sp_status sp__mindir_run_slice_grad(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    static const char *const names[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};
    int64_t spec[4][SP_RANK_MAX], mask[5], dims[SP_RANK_MAX];
    int n[4];
    sp_tensor *in[2];
    sp_mindir_slice s = {.n = 0};
    sp_mindir_value *v;
    SP_CHECK(c->n_in >= 5, SP_FORMAT, "%s has %d inputs, it needs 5", rule->mindir, c->n_in);
    SP_TRY(sp__mindir_operand(c, 0, &in[1]));
    for (int i = 0; i < 4; i++) SP_TRY(sp__mindir_ints(c->in[i + 1], SP_RANK_MAX, spec[i], &n[i]));
    for (int i = 0; i < 5; i++) SP_TRY(sp__mindir_int_argument(c, 5 + i, names[i], 0, &mask[i]));
    SP_CHECK(!mask[2] && !mask[3] && n[1] == n[2] && n[2] == n[3] && n[1] <= n[0], SP_FORMAT,
             "a slice with new axes or an ellipsis is not supported here");
    for (int i = 0; i < n[0]; i++) {
        int64_t size = spec[0][i], from = 0, to = size, by = 1;
        if (i < n[1]) {
            by = spec[3][i];
            SP_CHECK(by > 0, SP_FORMAT, "a stride is %lld, which is not supported here", (long long)by);
            if (!(mask[0] >> i & 1)) from = spec[1][i] < 0 ? spec[1][i] + size : spec[1][i];
            if (!(mask[1] >> i & 1)) to = spec[2][i] < 0 ? spec[2][i] + size : spec[2][i] > size ? size : spec[2][i];
            if (mask[4] >> i & 1) to = from + 1;
        }
        sp__mindir_slice_add(&s, from, to, by);
        dims[i] = to > from ? (to - from + by - 1) / by : 0;
    }
    SP_TRY(sp__mindir_reshape(c, in[1], n[0], dims, &v));
    in[1] = v->t;
    SP_TRY(zeros_like(c, in[1], n[0], spec[0], &in[0]));
    return sp__mindir_slice(c, "slice_put", &s, 2, in, out);
}

/* x, mask, value. */
sp_status sp__mindir_run_masked_fill(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    static const int order[] = {1, 2, 0};
    sp_tensor *in[3];
    (void)rule;
    for (int i = 0; i < 3; i++) SP_TRY(sp__mindir_operand(c, order[i], &in[i]));
    SP_TRY(sp__mindir_call(c, "cast", 1, &in[1], out, "dtype=%s", sp_dtype_name(sp_tensor_dtype(in[2]))));
    in[1] = (*out)->t;
    return sp__mindir_apply_text(c, "select", "", 3, in, out);
}

/* x + alpha * y, also in place: the result is what is used afterwards. */
sp_status sp__mindir_run_add_ext(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[2];
    for (int i = 0; i < 2; i++) SP_TRY(sp__mindir_operand(c, i, &in[i]));
    const sp_mindir_value *alpha = c->n_in > 2 ? c->in[2] : NULL;
    double a = 1;
    SP_CHECK(!alpha || alpha->kind != SP_MINDIR_TENSOR, SP_FORMAT, "a factor that is a tensor is not supported");
    if (alpha && alpha->kind != SP_MINDIR_NONE && alpha->kind != SP_MINDIR_MONAD)
        SP_TRY(sp__mindir_real(alpha, "alpha", &a));
    if (a != 1) {
        sp_tensor *factor;
        SP_TRY(sp__mindir_as_tensor(c, alpha, &factor));
        if (!(in[1] = op2(c, "mul", in[1], factor))) return sp__builder_status(c->b);
    }
    return sp__mindir_apply_text(c, rule->op, "", 2, in, out);
}
