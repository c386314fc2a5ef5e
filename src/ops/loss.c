/* SPDX-License-Identifier: Apache-2.0 */
/* loss.c - losses. Almost all are compositions; what picks the score of a class (nll_terms) is a kernel of its own.
 *
 * reduction: 'mean' (over all elements unless said otherwise), 'sum', 'none', and 'batchmean' where it means something. */
#include "ops/nn.h"

SP_ATTR_TABLE(mean_attr_table, sp_reduction_attrs, (TEXT, reduction, "mean"));

static bool is(const char *reduction, const char *name) { return reduction && strcmp(reduction, name) == 0; }

sp_tensor *sp__reduce_loss(sp_builder *b, sp_tensor *loss, const char *reduction, int64_t batch)
{
    if (!loss || is(reduction, "none")) return loss;
    if (is(reduction, "sum")) return sp_reduce_sum(b, loss, 0, NULL, false);
    if (is(reduction, "mean")) return sp_reduce_mean(b, loss, 0, NULL, false);
    if (is(reduction, "batchmean") && batch > 0)
        return sp__mul_number(b, sp_reduce_sum(b, loss, 0, NULL, false), 1 / (double)batch);
    return sp__builder_fail(b, sp__fail(SP_VALUE, "reduction is '%s', it must be 'none', 'mean'%s or 'sum'",
                                        reduction ? reduction : "None", batch > 0 ? ", 'batchmean'" : ""));
}

/* Helpers of the compositions. */
static sp_tensor *number(sp_builder *b, double v, const sp_tensor *like) { return sp__const(b, v, like); }
static sp_tensor *plus(sp_builder *b, sp_tensor *x, double v) { return sp__add_number(b, x, v); }
static sp_tensor *times(sp_builder *b, sp_tensor *x, double v) { return sp__mul_number(b, x, v); }
static sp_tensor *log_at_least(sp_builder *b, sp_tensor *x, double least)
{
    return sp_log(b, sp_maximum(b, x, number(b, least, x)));
}
static sp_tensor *sum_axis(sp_builder *b, sp_tensor *x, int64_t axis, bool keep)
{
    return sp_reduce_sum(b, x, 1, &axis, keep);
}

static sp_status same_shape(const sp_call *c, int i, int k)
{
    char first[SP_SHAPE_TEXT], second[SP_SHAPE_TEXT];
    const sp_inputs *names = sp__op_inputs(c->op);
    SP_CHECK(sp__tensor_same_shape(c->in[i], c->in[k]), SP_VALUE, "%s has shape %s but %s has %s, they must be equal",
             names->names[i], sp__shape_text(c->in[i]->rank, c->in[i]->dims, first), names->names[k],
             sp__shape_text(c->in[k]->rank, c->in[k]->dims, second));
    return SP_OK;
}

/* --- differences ------------------------------------------------------------------------------------------------- */

#define LOSS(name_, inputs_, table, type, ...)                                                                         \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = inputs_,                                                                    \
                                 SP_ATTRS(table, type),                                                                \
                                 .dtypes = SP_DT_FLOATS,                                                               \
                                 .compose = name_##_compose,                                                           \
                                 __VA_ARGS__}

static sp_status mse_loss_compose(sp_builder *b, const sp_call *c)
{
    const sp_reduction_attrs *a = c->attrs;
    c->out[0] = sp__reduce_loss(b, sp_square(b, sp_sub(b, c->in[0], c->in[1])), a->reduction, 0);
    return SP_OK;
}
LOSS(mse_loss, "input, target", mean_attr_table, sp_reduction_attrs, .promote = SP_PROMOTE_FLOAT,
     .python =
         "ops.mse_loss(input, target, reduction='mean'); mint.nn.functional.mse_loss(input, target, reduction='mean')",
     .doc = "Square of the difference.", .samples = "[2,3] [2,3]; [2,3] [3] reduction=none; [2,3] [2,3] reduction=sum");

static sp_status l1_loss_compose(sp_builder *b, const sp_call *c)
{
    const sp_reduction_attrs *a = c->attrs;
    c->out[0] = sp__reduce_loss(b, sp_abs(b, sp_sub(b, c->in[0], c->in[1])), a->reduction, 0);
    return SP_OK;
}
LOSS(l1_loss, "input, target", mean_attr_table, sp_reduction_attrs, .promote = SP_PROMOTE_FLOAT,
     .python =
         "ops.l1_loss(input, target, reduction='mean'); mint.nn.functional.l1_loss(input, target, reduction='mean')",
     .doc = "Absolute value of the difference.", .samples = "[2,3] [2,3]; [2,3] [2,3] reduction=none");

SP_ATTR_TABLE(smooth_attr_table, sp_smooth_l1_loss_attrs, (FLOAT, beta, 1.0), (TEXT, reduction, "none"));
/* Quadratic within `width` of zero, linear outside, times `scale`: both losses below are this. */
static sp_tensor *bowl(sp_builder *b, sp_tensor *d, double width, double scale)
{
    sp_tensor *size = sp_abs(b, d);
    if (width == 0) return size;
    sp_tensor *near_zero = times(b, sp_square(b, d), 0.5 / width * scale),
              *far = times(b, plus(b, size, -0.5 * width), scale);
    return sp_select(b, sp_less(b, size, number(b, width, size)), near_zero, far);
}
static sp_status smooth_l1_loss_compose(sp_builder *b, const sp_call *c)
{
    const sp_smooth_l1_loss_attrs *a = c->attrs;
    SP_TRY(same_shape(c, 0, 1));
    SP_CHECK(a->beta >= 0, SP_VALUE, "beta is %g, it must not be negative", a->beta);
    c->out[0] = sp__reduce_loss(b, bowl(b, sp_sub(b, c->in[0], c->in[1]), a->beta, 1), a->reduction, 0);
    return SP_OK;
}
LOSS(smooth_l1_loss, "input, target", smooth_attr_table, sp_smooth_l1_loss_attrs, .promote = SP_PROMOTE_FLOAT,
     .mindir = "SmoothL1Loss",
     .python = "ops.smooth_l1_loss(input, target, beta=1.0, reduction='none'); "
               "ops.SmoothL1Loss(beta=1.0, reduction='none')(prediction:input, target)",
     .doc = "Absolute difference, rounded to a parabola below beta.",
     .samples = "[2,3] [2,3]; [2,3] [2,3] beta=0.5 reduction=mean; [2,3] [2,3] beta=0.0 reduction=sum");

SP_ATTR_TABLE(huber_attr_table, sp_huber_loss_attrs, (TEXT, reduction, "mean"), (FLOAT, delta, 1.0));
static sp_status huber_loss_compose(sp_builder *b, const sp_call *c)
{
    const sp_huber_loss_attrs *a = c->attrs;
    SP_CHECK(a->delta > 0, SP_VALUE, "delta is %g, it must be positive", a->delta);
    c->out[0] = sp__reduce_loss(b, bowl(b, sp_sub(b, c->in[0], c->in[1]), a->delta, a->delta), a->reduction, 0);
    return SP_OK;
}
LOSS(huber_loss, "input, target", huber_attr_table, sp_huber_loss_attrs, .promote = SP_PROMOTE_FLOAT,
     .python = "ops.huber_loss(input, target, reduction='mean', delta=1.0)",
     .doc = "Half the squared difference up to delta, linear beyond.",
     .samples = "[2,3] [2,3]; [2,3] [2,3] delta=0.7 reduction=none");

/* --- probabilities ----------------------------------------------------------------------------------------------- */

static sp_status binary_cross_entropy_compose(sp_builder *b, const sp_call *c)
{
    const sp_reduction_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *y = c->in[1], *w = c->in[2];
    SP_TRY(same_shape(c, 0, 1));
    sp_tensor *yes = sp_mul(b, y, log_at_least(b, x, 1e-12));
    sp_tensor *no = sp_mul(b, plus(b, sp_neg(b, y), 1), log_at_least(b, plus(b, sp_neg(b, x), 1), 1e-12));
    sp_tensor *loss = sp_neg(b, sp_add(b, yes, no));
    c->out[0] = sp__reduce_loss(b, w ? sp_mul(b, loss, w) : loss, a->reduction, 0);
    return SP_OK;
}
LOSS(binary_cross_entropy, "logits, labels, weight?", mean_attr_table, sp_reduction_attrs,
     .mindir = "BinaryCrossEntropy",
     .python = "ops.binary_cross_entropy(logits, labels, weight=None, reduction='mean'); "
               "ops.BinaryCrossEntropy(reduction='mean')(logits, labels, weight=None); "
               "mint.nn.functional.binary_cross_entropy(input:logits, target:labels, weight=None, reduction='mean')",
     .doc = "-(y log x + (1 - y) log(1 - x)) of probabilities x, with the logarithms bounded from below.",
     .samples = "[2,3](0.1,0.9) [2,3](0.1,0.9) _; [2,3](0.1,0.9) [2,3](0.1,0.9) [2,3]>0 reduction=none");

/* (1 - y) x + (1 + (p - 1) y) log(1 + exp(-x)) */
static sp_tensor *logits_loss(sp_builder *b, sp_tensor *x, sp_tensor *y, sp_tensor *pos_weight)
{
    sp_tensor *less = sp_neg(b, SP_APPLY1(b, sp_op_logsigmoid, x));
    if (pos_weight) less = sp_mul(b, less, plus(b, sp_mul(b, plus(b, pos_weight, -1), y), 1));
    return sp_add(b, sp_mul(b, plus(b, sp_neg(b, y), 1), x), less);
}
static sp_status binary_cross_entropy_with_logits_compose(sp_builder *b, const sp_call *c)
{
    const sp_reduction_attrs *a = c->attrs;
    SP_TRY(same_shape(c, 0, 1));
    sp_tensor *loss = logits_loss(b, c->in[0], c->in[1], c->in[3]);
    c->out[0] = sp__reduce_loss(b, c->in[2] ? sp_mul(b, loss, c->in[2]) : loss, a->reduction, 0);
    return SP_OK;
}
LOSS(
    binary_cross_entropy_with_logits, "input, target, weight?, pos_weight?", mean_attr_table, sp_reduction_attrs,
    .promote = SP_PROMOTE_FLOAT, .mindir = "BCEWithLogitsLoss",
    .python =
        "ops.binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction='mean'); "
        "ops.BCEWithLogitsLoss(reduction='mean')(input, target, weight=None, pos_weight=None); "
        "mint.nn.functional.binary_cross_entropy_with_logits(input, target, weight=None, reduction='mean', pos_weight=None)",
    .doc = "Cross entropy of sigmoid(input) and target, stable for any input.",
    .samples = "[2,3] [2,3](0,1) _ _; [2,3] [2,3](0,1) [3]>0 [3]>0 reduction=none; [2,3] [2,3](0,1) _ [1]>0 "
               "reduction=sum");

static sp_status sigmoid_cross_entropy_compose(sp_builder *b, const sp_call *c)
{
    SP_TRY(same_shape(c, 0, 1));
    c->out[0] = logits_loss(b, c->in[0], c->in[1], NULL);
    return SP_OK;
}
const sp_op sp_op_sigmoid_cross_entropy = {
    .name = "sigmoid_cross_entropy",
    .inputs = "logits, label",
    .dtypes = SP_DT_FLOATS,
    .compose = sigmoid_cross_entropy_compose,
    .mindir = "SigmoidCrossEntropyWithLogits",
    .python = "ops.SigmoidCrossEntropyWithLogits()(logits, label)",
    .doc = "Cross entropy of sigmoid(logits) and label, element by element.",
    .samples = "[2,3] [2,3](0,1)",
};

SP_ATTR_TABLE(kl_attr_table, sp_kl_div_attrs, (TEXT, reduction, "mean"), (BOOL, log_target, False));
/* Where the target is zero its term is zero, not 0 log 0. */
static sp_status kl_div_compose(sp_builder *b, const sp_call *c)
{
    const sp_kl_div_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *y = c->in[1], *loss;
    if (a->log_target) {
        loss = sp_mul(b, sp_exp(b, y), sp_sub(b, y, x));
    } else {
        sp_tensor *positive = sp_greater(b, y, number(b, 0, y)), *one = number(b, 1, y);
        loss = sp_mul(b, y, sp_sub(b, sp_log(b, sp_select(b, positive, y, one)), x));
        loss = sp_select(b, positive, loss, number(b, 0, y));
    }
    c->out[0] = sp__reduce_loss(b, loss, a->reduction, x->rank ? x->dims[0] : 1);
    return SP_OK;
}
LOSS(kl_div, "logits, labels", kl_attr_table, sp_kl_div_attrs, .promote = SP_PROMOTE_FLOAT, .mindir = "KLDivLoss",
     .python = "ops.kl_div(logits, labels, reduction='mean'); ops.KLDivLoss(reduction='mean')(logits, labels); "
               "mint.nn.functional.kl_div(input:logits, target:labels, reduction='mean', log_target=False)",
     .doc = "labels (log(labels) - logits): Kullback-Leibler divergence, logits being logarithms.",
     .samples = "[2,3] [2,3]>0; [2,3] [2,3]>0 reduction=none; [2,3] [2,3] reduction=batchmean log_target=True");

/* --- score of a class -------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(ignore_attr_table, sp_nll_terms_attrs, (INT, ignore_index, -100));
SP_ATTR_TABLE(terms_grad_attr_table, sp_nll_terms_grad_attrs, (INT, ignore_index, -100), (INT_NEEDED, classes),
              (INT_NEEDED, axis));

/* Element i of an index tensor of any integer type. */
static int64_t index_at(const sp_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case SP_DTYPE_I32: return ((const int32_t *)(const void *)t->data)[i];
    case SP_DTYPE_I64: return ((const int64_t *)(const void *)t->data)[i];
    case SP_DTYPE_I8: return ((const int8_t *)(const void *)t->data)[i];
    case SP_DTYPE_I16: return ((const int16_t *)(const void *)t->data)[i];
    case SP_DTYPE_U16: return ((const uint16_t *)(const void *)t->data)[i];
    case SP_DTYPE_U32: return ((const uint32_t *)(const void *)t->data)[i];
    case SP_DTYPE_U64: return (int64_t)((const uint64_t *)(const void *)t->data)[i];
    default: return ((const uint8_t *)(const void *)t->data)[i];
    }
}
static sp_status check_target(const sp_tensor *target, int64_t classes, int64_t ignore)
{
    SP_CHECK(SP_DT_INTS >> target->dtype & 1, SP_TYPE, "target has dtype %s, it must be an integer one",
             sp_dtype_name((sp_dtype)target->dtype));
    for (int64_t i = 0; i < target->count; i++) {
        const int64_t t = index_at(target, i);
        SP_CHECK(t == ignore || (t >= 0 && t < classes), SP_VALUE,
                 "target %lld at position %lld is not a class: there are %lld classes, 0 to %lld", (long long)t,
                 (long long)i, (long long)classes, (long long)classes - 1);
    }
    return SP_OK;
}
static sp_status check_weight(const sp_tensor *weight, int64_t classes, sp_dtype dtype)
{
    SP_CHECK(!weight || (weight->rank == 1 && weight->dims[0] == classes && weight->dtype == (int)dtype), SP_VALUE,
             "weight must be a %s vector of %lld elements, one per class", sp_dtype_name(dtype), (long long)classes);
    return SP_OK;
}

/* x is [batch, classes, ...] and target [batch, ...]; or [classes] and []. */
static sp_status terms_infer(const sp_call *c, sp_meta *out)
{
    const sp_tensor *x = c->in[0], *target = c->in[1];
    char found[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    SP_CHECK(x->rank >= 1, SP_VALUE, "the scores have rank 0, they need a dimension of classes");
    const int axis = x->rank == 1 ? 0 : 1;
    out[0].dtype = (sp_dtype)x->dtype;
    out[0].rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != axis) out[0].dims[out[0].rank++] = x->dims[i];
    SP_CHECK(sp__shape_equal(target->rank, target->dims, out[0].rank, out[0].dims), SP_VALUE,
             "target has shape %s, it must be %s, that of the scores without classes",
             sp__shape_text(target->rank, target->dims, found), sp__shape_text(out[0].rank, out[0].dims, wanted));
    out[1] = out[0];
    return check_weight(c->in[2], x->dims[axis], (sp_dtype)x->dtype);
}
#define TERMS(D, T, C, LOAD, STORE, ...)                                                                               \
    static void terms_##D(const sp_call *c, const sp__split *s, int64_t ignore)                                        \
    {                                                                                                                  \
        const T *x = (const T *)(const void *)c->in[0]->data;                                                          \
        const T *w = c->in[2] ? (const T *)(const void *)c->in[2]->data : NULL;                                        \
        T *loss = (T *)(void *)c->out[0]->data, *weight = (T *)(void *)c->out[1]->data;                                \
        for (int64_t i = 0; i < s->outer * s->inner; i++) {                                                            \
            const int64_t t = index_at(c->in[1], i);                                                                   \
            const C wt = t == ignore ? 0 : w ? LOAD(w[t]) : 1;                                                         \
            loss[i] =                                                                                                  \
                t == ignore ? STORE(0) : STORE(-wt * LOAD(x[(i / s->inner * s->n + t) * s->inner + i % s->inner]));    \
            weight[i] = STORE(wt);                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void terms_grad_##D(const sp_call *c, const sp__split *s, int64_t ignore)                                   \
    {                                                                                                                  \
        const T *g = (const T *)(const void *)c->in[0]->data;                                                          \
        const T *w = c->in[2] ? (const T *)(const void *)c->in[2]->data : NULL;                                        \
        T *dx = (T *)(void *)c->out[0]->data;                                                                          \
        memset(dx, 0, sp_tensor_bytes(c->out[0]));                                                                     \
        for (int64_t i = 0; i < s->outer * s->inner; i++) {                                                            \
            const int64_t t = index_at(c->in[1], i);                                                                   \
            if (t == ignore) continue;                                                                                 \
            dx[(i / s->inner * s->n + t) * s->inner + i % s->inner] = STORE(-(w ? LOAD(w[t]) : 1) * LOAD(g[i]));       \
        }                                                                                                              \
    }
SP_EACH_FLOAT(TERMS, , )
typedef void (*terms_fn)(const sp_call *c, const sp__split *s, int64_t ignore);

static sp_status nll_terms_reference(const sp_call *c)
{
    static const terms_fn fns[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_KERNEL_ROW, terms, )};
    const int64_t ignore = ((const sp_nll_terms_attrs *)c->attrs)->ignore_index;
    const sp__split s = sp__split_at(c->in[0], c->in[0]->rank == 1 ? 0 : 1, 1);
    SP_TRY(check_target(c->in[1], s.n, ignore));
    fns[c->in[0]->dtype](c, &s, ignore);
    return SP_OK;
}
static sp_status nll_terms_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_tensor *x = v->in[0];
    const int axis = x->rank == 1 ? 0 : 1;
    const sp_nll_terms_grad_attrs a = {((const sp_nll_terms_attrs *)v->attrs)->ignore_index, x->dims[axis], axis};
    if (v->dout[0] && v->needs[0])
        v->din[0] =
            sp_builder_apply(b, &sp_op_nll_terms_grad, &a, 3, (sp_tensor *const[]){v->dout[0], v->in[1], v->in[2]});
    return SP_OK;
}
const sp_op sp_op_nll_terms = {
    .batch = sp__batch_fold_rows,
    .name = "nll_terms",
    .shard = "n c ..., n ..., c -> n ..., n ...; c whole",
    .inputs = "x, target, weight?",
    .n_out = 2,
    SP_ATTRS(ignore_attr_table, sp_nll_terms_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = terms_infer,
    .reference = nll_terms_reference,
    .vjp = nll_terms_vjp,
    .saves = SP_SAVE_IN(1) | SP_SAVE_IN(2),
    .doc = "Minus weight times score of the target class, and that weight; zero where the target is ignore_index. The "
           "weights of classes are constants.",
    .samples = "[3,4] [3]i<4 _; [2,4,3] [2,3]i<4 _",
};
static sp_status terms_grad_infer(const sp_call *c, sp_meta *out)
{
    const sp_nll_terms_grad_attrs *a = c->attrs;
    const sp_tensor *g = c->in[0];
    SP_CHECK(sp__tensor_same_shape(g, c->in[1]), SP_VALUE, "target and gradient differ in shape");
    SP_CHECK(a->axis >= 0 && a->axis <= g->rank && g->rank < SP_RANK_MAX && a->classes >= 0, SP_VALUE,
             "axis %lld is out of range for rank %d", (long long)a->axis, g->rank + 1);
    out->dtype = (sp_dtype)g->dtype;
    out->rank = g->rank + 1;
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = i < a->axis ? g->dims[i] : i == a->axis ? a->classes : g->dims[i - 1];
    return check_weight(c->in[2], a->classes, (sp_dtype)g->dtype);
}
static sp_status terms_grad_reference(const sp_call *c)
{
    static const terms_fn fns[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SP_KERNEL_ROW, terms_grad, )};
    const sp_nll_terms_grad_attrs *a = c->attrs;
    const sp__split s = sp__split_at(c->out[0], (int)a->axis, 1);
    SP_TRY(check_target(c->in[1], s.n, a->ignore_index));
    fns[c->in[0]->dtype](c, &s, a->ignore_index);
    return SP_OK;
}
static sp_status terms_grad_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_nll_terms_attrs a = {((const sp_nll_terms_grad_attrs *)v->attrs)->ignore_index};
    sp_tensor *out[2];
    int n;
    if (!v->needs[0]) return SP_OK;
    SP_TRY(sp_builder_apply_many(b, &sp_op_nll_terms, &a, 3, (sp_tensor *const[]){v->dout[0], v->in[1], v->in[2]}, 2,
                                 out, &n));
    v->din[0] = out[0];
    return SP_OK;
}
const sp_op sp_op_nll_terms_grad = {
    .batch = sp__batch_fold_rows,
    .name = "nll_terms_grad",
    .shard = "n ..., n ..., c -> n c ...; c whole, none if axis",
    .inputs = "dout, target, weight?",
    SP_ATTRS(terms_grad_attr_table, sp_nll_terms_grad_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = terms_grad_infer,
    .reference = terms_grad_reference,
    .vjp = terms_grad_vjp,
    .saves = SP_SAVE_IN(1) | SP_SAVE_IN(2),
    .doc = "Gradient of nll_terms towards the scores.",
    .samples = "[3] [3]i<4 _ classes=4 axis=1; [2,3] [2,3]i<4 _ classes=4 axis=1",
};

/* --- negative log likelihood and cross entropy -------------------------------------------------------------------- */

SP_ATTR_TABLE(nll_attr_table, sp_nll_loss_attrs, (INT, ignore_index, -100), (TEXT, reduction, "mean"),
              (FLOAT, label_smoothing, 0.0));

static sp_status nll_check(const sp_nll_loss_attrs *a)
{
    SP_CHECK(is(a->reduction, "none") || is(a->reduction, "mean") || is(a->reduction, "sum"), SP_VALUE,
             "reduction is '%s', it must be 'none', 'mean' or 'sum'", a->reduction ? a->reduction : "None");
    SP_CHECK(a->label_smoothing >= 0 && a->label_smoothing <= 1, SP_VALUE,
             "label_smoothing is %g, it must be between 0 and 1", a->label_smoothing);
    return SP_OK;
}

/* Mean is over the weights of the targets. Smoothing takes a share from every class. out: loss, sum of the weights. */
static sp_status nll(sp_builder *b, sp_tensor *x, sp_tensor *target, sp_tensor *weight, const sp_nll_loss_attrs *a,
                     sp_tensor **out)
{
    SP_TRY(nll_check(a));
    if (!x) return SP_OK;
    const sp_nll_terms_attrs ignore = {a->ignore_index};
    const int axis = x->rank == 1 ? 0 : 1;
    sp_tensor *terms[2];
    int n;
    if (weight && weight->dtype != x->dtype && (SP_DT_FLOATS >> weight->dtype & 1)) { /* the wider dtype of the two */
        const sp_dtype both = sp_dtype_promote((sp_dtype)x->dtype, (sp_dtype)weight->dtype);
        x = sp_cast(b, x, both);
        weight = sp_cast(b, weight, both);
        if (!x || !weight) return SP_OK;
    }
    SP_TRY(
        sp_builder_apply_many(b, &sp_op_nll_terms, &ignore, 3, (sp_tensor *const[]){x, target, weight}, 2, terms, &n));
    sp_tensor *loss = terms[0];
    if (a->label_smoothing > 0) {
        sp_tensor *scaled = weight ? sp_mul(b, x, sp__along(b, weight, x->rank, axis)) : x;
        sp_tensor *all = sp_neg(b, sum_axis(b, scaled, axis, false));
        sp_tensor *ignored = sp_equal(b, target, sp__const(b, (double)a->ignore_index, target));
        all = sp_select(b, ignored, number(b, 0, all), all);
        loss = sp_add(b, times(b, loss, 1 - a->label_smoothing),
                      times(b, all, a->label_smoothing / (double)x->dims[axis]));
    }
    out[1] = sp_reduce_sum(b, terms[1], 0, NULL, false);
    if (is(a->reduction, "none")) out[0] = loss;
    else out[0] = sp_reduce_sum(b, loss, 0, NULL, false);
    if (is(a->reduction, "mean")) out[0] = sp_div(b, out[0], out[1]);
    return SP_OK;
}
static sp_status nll_loss_compose(sp_builder *b, const sp_call *c)
{
    return nll(b, c->in[0], c->in[1], c->in[2], c->attrs, c->out);
}
LOSS(nll_loss, "inputs, target, weight?", nll_attr_table, sp_nll_loss_attrs, .n_out = 2, .mindir = "NLLLoss",
     .onnx = "NegativeLogLikelihoodLoss",
     .doc = "Minus the log probability of the target class; the second result is the sum of the weights.",
     .samples = "[3,4] [3]i<4 _; [2,4,3] [2,3]i<4 _ reduction=none; [3,4] [3]i<4 _ reduction=sum "
                "label_smoothing=0.1; [3,4] [3]i<4 _ ignore_index=2 label_smoothing=0.2");

/* The target is a class per position, or probabilities of the shape of input. */
static sp_status cross_entropy_compose(sp_builder *b, const sp_call *c)
{
    const sp_nll_loss_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *target = c->in[1], *weight = c->in[2], *out[2] = {NULL, NULL};
    SP_TRY(nll_check(a));
    SP_CHECK(x->rank >= 1, SP_VALUE, "input has rank 0, it needs a dimension of classes");
    const int64_t axis = x->rank == 1 ? 0 : 1;
    const sp_log_softmax_attrs along = {{1, &axis}};
    sp_tensor *logp = sp_builder_apply(b, &sp_op_log_softmax, &along, 1, &x);
    if (!(SP_DT_FLOATS >> target->dtype & 1)) {
        SP_TRY(nll(b, logp, target, weight, a, out));
        c->out[0] = out[0];
        return SP_OK;
    }
    SP_TRY(same_shape(c, 0, 1));
    if (a->label_smoothing > 0)
        target = plus(b, times(b, target, 1 - a->label_smoothing), a->label_smoothing / (double)x->dims[axis]);
    sp_tensor *loss = sp_neg(b, sp_mul(b, logp, target));
    if (weight) loss = sp_mul(b, loss, sp__along(b, weight, x->rank, (int)axis));
    if (is(a->reduction, "none")) c->out[0] = sum_axis(b, loss, axis, false);
    else c->out[0] = sp_reduce_sum(b, loss, 0, NULL, false);
    if (is(a->reduction, "mean")) c->out[0] = times(b, c->out[0], (double)x->dims[axis] / (double)x->count);
    return SP_OK;
}
LOSS(cross_entropy, "input, target, weight?", nll_attr_table, sp_nll_loss_attrs, .onnx = "SoftmaxCrossEntropyLoss",
     .python =
         "ops.cross_entropy(input, target, weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0); "
         "mint.nn.functional.cross_entropy(input, target, weight=None, ignore_index=-100, reduction='mean', "
         "label_smoothing=0.0)",
     .doc = "Minus the log probability, by softmax over the classes, of a target class or a distribution over classes.",
     .samples = "[3,4] [3]i<4 _; [2,4,3] [2,3]i<4 _ reduction=none; [3,4] [3,4](0,1) _ label_smoothing=0.1; "
                "[3,4] [3]i<4 _ ignore_index=1 label_smoothing=0.2; [3,4] [3,4](0,1) _ reduction=none");

/* The gradient towards the logits is taken as softmax - labels, which it is when every row of labels sums to one. */
static sp_status softmax_cross_entropy_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(same_shape(c, 0, 1));
    SP_CHECK(c->in[0]->rank == 2, SP_VALUE, "logits have rank %d, it must be 2", c->in[0]->rank);
    SP_CHECK(c->in[0]->dtype == c->in[1]->dtype, SP_TYPE, "logits and labels must have one dtype");
    sp__meta_of(c->in[0], &out[1]);
    out[0] = out[1];
    out[0].rank = 1;
    return SP_OK;
}
typedef struct {
    int64_t n;
    const char *x, *labels;
    char *loss, *dx;
} entropy_job;
#define ENTROPY(D, T, C, LOAD, STORE, EXP, LOG)                                                                        \
    static void entropy_##D(void *context, int64_t begin, int64_t end)                                                 \
    {                                                                                                                  \
        const entropy_job *j = context;                                                                                \
        for (int64_t r = begin; r < end; r++) {                                                                        \
            const T *x = (const T *)(const void *)j->x + r * j->n, *y = (const T *)(const void *)j->labels + r * j->n; \
            T *dx = (T *)(void *)j->dx + r * j->n;                                                                     \
            C top = LOAD(x[0]), sum = 0, loss = 0;                                                                     \
            for (int64_t i = 1; i < j->n; i++) top = LOAD(x[i]) > top ? LOAD(x[i]) : top;                              \
            for (int64_t i = 0; i < j->n; i++) sum += EXP(LOAD(x[i]) - top);                                           \
            const C shift = top + LOG(sum);                                                                            \
            for (int64_t i = 0; i < j->n; i++) {                                                                       \
                const C logp = LOAD(x[i]) - shift, label = LOAD(y[i]);                                                 \
                loss -= label * logp;                                                                                  \
                dx[i] = STORE(EXP(logp) - label);                                                                      \
            }                                                                                                          \
            ((T *)(void *)j->loss)[r] = STORE(loss);                                                                   \
        }                                                                                                              \
    }
SP_EACH_FLOAT32(ENTROPY, expf, logf)
SP_EACH_DOUBLE(ENTROPY, exp, log)
static sp_status softmax_cross_entropy_reference(const sp_call *c)
{
    static void (*const fns[SP_DTYPE_COUNT])(void *, int64_t, int64_t) = {SP_EACH_FLOAT(SP_KERNEL_ROW, entropy, )};
    const sp_tensor *x = c->in[0];
    entropy_job j = {x->dims[1], x->data, c->in[1]->data, c->out[0]->data, c->out[1]->data};
    return x->count ? sp__parallel_for(x->dims[0], sp__grain(4 * j.n), fns[x->dtype], &j) : SP_OK;
}
static sp_status softmax_cross_entropy_vjp(sp_builder *b, const sp_vjp *v)
{
    const int64_t column[2] = {v->in[0]->dims[0], 1};
    sp_tensor *logp = sp_builder_apply(b, &sp_op_log_softmax, NULL, 1, &v->in[0]), *p = sp_exp(b, logp);
    if (v->dout[0]) {
        sp_tensor *g = sp_reshape(b, v->dout[0], 2, column);
        if (v->needs[0]) v->din[0] = sp_mul(b, g, sp_sub(b, p, v->in[1]));
        if (v->needs[1]) v->din[1] = sp_neg(b, sp_mul(b, g, logp));
    }
    if (!v->dout[1]) return SP_OK;
    /* dlogits = softmax - labels */
    sp_tensor *d = v->dout[1], *dot = sum_axis(b, sp_mul(b, d, p), 1, true), *dx = sp_mul(b, p, sp_sub(b, d, dot));
    if (v->needs[0]) v->din[0] = v->din[0] ? sp_add(b, v->din[0], dx) : dx;
    if (v->needs[1]) v->din[1] = v->din[1] ? sp_sub(b, v->din[1], d) : sp_neg(b, d);
    return SP_OK;
}
const sp_op sp_op_softmax_cross_entropy = {
    .batch = sp__batch_fold,
    .name = "softmax_cross_entropy",
    .shard = "n c, n c -> n, n c; c whole",
    .inputs = "logits, labels",
    .n_out = 2,
    .dtypes = SP_DT_FLOATS,
    .infer = softmax_cross_entropy_infer,
    .reference = softmax_cross_entropy_reference,
    .vjp = softmax_cross_entropy_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1),
    .mindir = "SoftmaxCrossEntropyWithLogits",
    .python = "ops.SoftmaxCrossEntropyWithLogits()(logits, labels)",
    .doc = "Cross entropy of softmax(logits) and labels per row, and its gradient towards the logits.",
    .samples = "[3,2] [3,2](0.5,0.5); [2,4] [2,4](0.25,0.25)",
};

SP_ATTR_TABLE(is_grad_attr_table, sp_sparse_softmax_cross_entropy_attrs, (BOOL, is_grad, False));
static sp_status sparse_softmax_cross_entropy_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *labels = c->in[1];
    SP_CHECK(x->rank == 2, SP_VALUE, "logits have rank %d, it must be 2", x->rank);
    if (!((const sp_sparse_softmax_cross_entropy_attrs *)c->attrs)->is_grad) {
        const sp_nll_loss_attrs plain = {-100, "mean", 0};
        c->out[0] = sp_builder_apply(b, &sp_op_cross_entropy, &plain, 3, (sp_tensor *const[]){x, labels, NULL});
        return SP_OK;
    }
    /* (softmax - one hot) / batch */
    const sp_nll_terms_grad_attrs hot = {-100, x->dims[1], 1};
    sp_tensor *ones = sp__full(b, 1, (sp_dtype)x->dtype, 1, x->dims);
    sp_tensor *minus = sp_builder_apply(b, &sp_op_nll_terms_grad, &hot, 3, (sp_tensor *const[]){ones, labels, NULL});
    sp_tensor *sum = sp_add(b, sp_builder_apply(b, &sp_op_softmax, NULL, 1, &x), minus);
    c->out[0] = times(b, sum, 1 / (double)x->dims[0]);
    return SP_OK;
}
LOSS(sparse_softmax_cross_entropy, "logits, labels", is_grad_attr_table, sp_sparse_softmax_cross_entropy_attrs,
     .mindir = "SparseSoftmaxCrossEntropyWithLogits",
     .python = "ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=False)(logits, labels)",
     .doc = "Mean cross entropy of softmax(logits) and classes, or its gradient.",
     .samples = "[3,4] [3]i<4; [3,4] [3]i<4 is_grad=True");
