/* SPDX-License-Identifier: Apache-2.0 */
/* stat.c - sums and means with their dtypes, spread, norms, positions of extrema.
 *
 * Most are compositions over the reductions of reduce.c. Kernels here see a row-major tensor as [outer][n][inner] and
 * answer one value per (outer, inner). */
#include "base/wide.h"
#include "ops/kernels.h"
#include "ops/pick.h"
#include "ops/reduced.h"

static sp_tensor *reduce(sp_builder *b, const sp_op *op, sp_tensor *x, sp_ints axis, bool keepdims)
{
    const sp_logsumexp_attrs a = {axis, keepdims};
    return sp_builder_apply(b, op, &a, 1, &x);
}
static bool is_floating(const sp_tensor *x)
{
    const char kind = sp_dtype_kind((sp_dtype)x->dtype);
    return kind == 'f' || kind == 'c';
}

/* --- sums, products and means ------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(sum_attr_table, sp_sum_attrs, (INTS_OR_NONE, axis), (BOOL, keepdims, False), (DTYPE_OR_NONE, dtype),
              (NUMBER_OR_NONE, initial));

/* Integers are added and multiplied as int64 unless a dtype is asked for. */
static sp_tensor *widened(sp_builder *b, sp_tensor *x, sp_dtype dtype)
{
    if (!x || dtype != SP_DTYPE_NONE) return sp_cast(b, x, dtype);
    return is_floating(x) ? x : sp_cast(b, x, SP_DTYPE_I64);
}
/* The wide unsigned ones stay, since int64 could not hold them. */
static sp_tensor *widened_signed(sp_builder *b, sp_tensor *x, sp_dtype dtype)
{
    const bool wide = x && sp_dtype_kind((sp_dtype)x->dtype) == 'u' && x->dtype != SP_DTYPE_U8;
    return dtype == SP_DTYPE_NONE && wide ? x : widened(b, x, dtype);
}
/* Narrow integers over axes that do not lie side by side: those behind first, which a kernel adds up as int64 without a wide copy of x; what is left is
 * smaller. NULL: nothing to gain. Whole numbers add up to the same in any order. */
static sp_tensor *sum_of_last(sp_builder *b, sp_tensor *x, const sp_sum_attrs *a, sp_sum_attrs *rest,
                              int64_t axes[SP_RANK_MAX])
{
    uint32_t mask;
    if (is_floating(x) || sp_dtype_bytes((sp_dtype)x->dtype) > 2 || a->dtype != SP_DTYPE_NONE ||
        x->dtype == SP_DTYPE_U16 || sp__axes_mask(a->axis, x->rank, &mask) != SP_OK || !mask)
        return NULL;
    const int last = 31 - __builtin_clz(mask);
    int first = last;
    while (first > 0 && mask >> (first - 1) & 1) first--;
    const uint32_t before = mask & ((1u << first) - 1);
    if (!before) return NULL;
    int64_t behind[SP_RANK_MAX];
    for (int i = first; i <= last; i++) behind[i - first] = i;
    int n = 0;
    for (int i = 0; i < first; i++)
        if (before >> i & 1) axes[n++] = i;
    *rest = *a;
    rest->axis = (sp_ints){n, axes};
    const sp_sum_attrs part = {
        .axis = {last - first + 1, behind}, .keepdims = a->keepdims, .dtype = SP_DTYPE_NONE, .initial = {.kind = 'n'}};
    return sp_builder_apply(b, &sp_op_sum, &part, 1, &x);
}
static sp_status sum_compose(sp_builder *b, const sp_call *c)
{
    const sp_sum_attrs *a = c->attrs;
    sp_sum_attrs rest;
    int64_t axes[SP_RANK_MAX];
    sp_tensor *part = sum_of_last(b, c->in[0], a, &rest, axes);
    if (part) {
        c->out[0] = sp_builder_apply(b, &sp_op_sum, &rest, 1, &part);
        return SP_OK;
    }
    sp_tensor *y = widened_signed(b, c->in[0], a->dtype);
    if (y && y->dtype == SP_DTYPE_BOOL) y = reduce(b, &sp_op_reduce_any, y, a->axis, a->keepdims);
    else y = reduce(b, &sp_op_reduce_sum, y, a->axis, a->keepdims);
    if (a->initial.kind != 'n') y = sp__add_number(b, y, a->initial.f);
    c->out[0] = y;
    return SP_OK;
}
static sp_status sum_infer(const sp_call *c, sp_meta *out)
{
    const sp_sum_attrs *a = c->attrs;
    const char kind = sp_dtype_kind((sp_dtype)c->in[0]->dtype);
    SP_TRY(sp__infer_reduced(c->in[0], a->axis, a->keepdims, out));
    if (a->dtype != SP_DTYPE_NONE) out->dtype = a->dtype;
    else if (kind == 'i' || kind == 'b' || c->in[0]->dtype == SP_DTYPE_U8) out->dtype = SP_DTYPE_I64;
    return SP_OK;
}
static sp_status mean_infer(const sp_call *c, sp_meta *out)
{
    const sp_sum_attrs *a = c->attrs;
    SP_TRY(sp__infer_reduced(c->in[0], a->axis, a->keepdims, out));
    if (a->dtype != SP_DTYPE_NONE) out->dtype = a->dtype;
    return SP_OK;
}
static sp_status nansum_compose(sp_builder *b, const sp_call *c)
{
    const sp_sum_attrs *a = c->attrs;
    sp_tensor *x = c->in[0];
    if (is_floating(x)) x = sp_select(b, sp_isnan(b, x), sp__const(b, 0, x), x);
    if (a->dtype != SP_DTYPE_NONE || (x && x->dtype == SP_DTYPE_BOOL))
        x = widened(b, x, a->dtype); /* integers keep their dtype */
    c->out[0] = reduce(b, &sp_op_reduce_sum, x, a->axis, a->keepdims);
    return SP_OK;
}
static sp_status nanmean_compose(sp_builder *b, const sp_call *c)
{
    const sp_sum_attrs *a = c->attrs;
    sp_tensor *x = a->dtype == SP_DTYPE_NONE ? c->in[0] : sp_cast(b, c->in[0], a->dtype), *bad = sp_isnan(b, x);
    sp_tensor *total = reduce(b, &sp_op_reduce_sum, sp_select(b, bad, sp__const(b, 0, x), x), a->axis, a->keepdims);
    sp_tensor *good = sp_cast(b, sp_logical_not(b, bad), x ? (sp_dtype)x->dtype : SP_DTYPE_F32);
    c->out[0] = sp_div(b, total, reduce(b, &sp_op_reduce_sum, good, a->axis, a->keepdims));
    return SP_OK;
}
static sp_status prod_compose(sp_builder *b, const sp_call *c)
{
    const sp_sum_attrs *a = c->attrs;
    c->out[0] = reduce(b, &sp_op_reduce_prod, widened_signed(b, c->in[0], a->dtype), a->axis, a->keepdims);
    return SP_OK;
}
/* Means of integers are cut off to the integer's dtype, as MindSpore does. */
static sp_status mean_compose(sp_builder *b, const sp_call *c)
{
    const sp_sum_attrs *a = c->attrs;
    sp_tensor *x = a->dtype == SP_DTYPE_NONE ? c->in[0] : sp_cast(b, c->in[0], a->dtype);
    if (!x) return sp__builder_status(b);
    sp_sum_attrs rest;
    int64_t axes[SP_RANK_MAX];
    sp_tensor *part = x->count ? sum_of_last(b, x,
                                             &(sp_sum_attrs){.axis = a->axis,
                                                             .keepdims = a->keepdims,
                                                             .dtype = SP_DTYPE_NONE,
                                                             .initial = {.kind = 'n'}},
                                             &rest, axes)
                               : NULL;
    if (part) { /* exact in float64, too: the same mean */
        sp_meta out;
        SP_TRY(sp__infer_reduced(x, a->axis, a->keepdims, &out));
        int64_t kept = 1;
        for (int i = 0; i < out.rank; i++) kept *= out.dims[i];
        sp_tensor *total = sp_cast(b, sp_builder_apply(b, &sp_op_sum, &rest, 1, &part), SP_DTYPE_F64);
        c->out[0] = sp_cast(b, sp_div(b, total, sp__const(b, (double)(x->count / kept), total)), (sp_dtype)x->dtype);
        return SP_OK;
    }
    sp_tensor *y =
        reduce(b, &sp_op_reduce_mean, is_floating(x) ? x : sp_cast(b, x, SP_DTYPE_F64), a->axis, a->keepdims);
    c->out[0] = sp_cast(b, y, (sp_dtype)x->dtype);
    return SP_OK;
}
#define SUM_ENTRY(name_, ...)                                                                                          \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x",                                                                        \
                                 SP_ATTRS(sum_attr_table, sp_sum_attrs),                                               \
                                 .compose = name_##_compose,                                                           \
                                 __VA_ARGS__}
#define REDUCE_SAMPLES "[2,3,4]; [2,3,4] axis=1; [2,3,4] axis=(0,2) keepdims=True; []"
#define DIM_KEEP "dim:axis=None, keepdim:keepdims=False, *, dtype=None"
SUM_ENTRY(sum,
          .python = "ops.sum(input, " DIM_KEEP "); mint.sum(input, " DIM_KEEP "); "
                    "Tensor.sum(axis=None, dtype=None, keepdims=False, initial=None); Tensor.sum(" DIM_KEEP ")",
          .infer = sum_infer, .doc = "Sum over axes (all when none are given); integers are added as int64.",
          .samples = REDUCE_SAMPLES);
SUM_ENTRY(nansum,
          .python = "ops.nansum(input, axis=None, keepdims=False, *, dtype=None); "
                    "mint.nansum(input, " DIM_KEEP "); "
                    "Tensor.nansum(axis=None, keepdims=False, *, dtype=None); Tensor.nansum(" DIM_KEEP ")",
          .dtypes = SP_DT_REAL_BOOL, .doc = "Sum over axes of what is not NaN.", .samples = REDUCE_SAMPLES);
SUM_ENTRY(nanmean, .dtypes = SP_DT_FLOATS,
          .python = "ops.nanmean(input, axis=None, keepdims=False, *, dtype=None); "
                    "Tensor.nanmean(axis=None, keepdims=False, *, dtype=None)",
          .doc = "Mean over axes of what is not NaN.", .samples = REDUCE_SAMPLES);
SUM_ENTRY(prod,
          .python = "ops.prod(input, axis=None, keep_dims:keepdims=False, dtype=None); "
                    "Tensor.prod(axis=None, keep_dims:keepdims=False, dtype=None); "
                    "Tensor.prod(dim:axis=None, keepdim:keepdims=False, dtype=None); "
                    "mint.prod(input, " DIM_KEEP ")",
          .doc = "Product over axes (all when none are given); integers are multiplied as int64.",
          .samples = "[2,3,2]; [2,3,4] axis=1; [2,3,4] axis=(0,2) keepdims=True; []");
SUM_ENTRY(mean,
          .python = "ops.mean(x, axis=None, keep_dims:keepdims=False); "
                    "ops.ReduceMean(keep_dims:keepdims=False)(x, axis=()); "
                    "ops.reduce_mean(x, axis=()); Tensor.mean(axis=None, keep_dims:keepdims=False); "
                    "Tensor.mean(" DIM_KEEP "); "
                    "mint.mean(input, " DIM_KEEP ")",
          .infer = mean_infer, .doc = "Mean over axes (all when none are given).", .samples = REDUCE_SAMPLES);

/* The primitive keeps the dtype; with skip_mode no axes mean no reduction. */
SP_ATTR_TABLE(sum_same_attr_table, sp_sum_same_attrs, (INTS_EMPTY, axis), (BOOL, keepdims, False),
              (BOOL, skip_mode, False));
static sp_status sum_same_compose(sp_builder *b, const sp_call *c)
{
    const sp_sum_same_attrs *a = c->attrs;
    sp_tensor *x = c->in[0];
    if (a->skip_mode && a->axis.n == 0) c->out[0] = sp_identity(b, x);
    else if (x->dtype == SP_DTYPE_BOOL) c->out[0] = reduce(b, &sp_op_reduce_any, x, a->axis, a->keepdims);
    else c->out[0] = reduce(b, &sp_op_reduce_sum, x, a->axis, a->keepdims);
    return SP_OK;
}
const sp_op sp_op_sum_same = {
    .name = "sum_same",
    .inputs = "x",
    SP_ATTRS(sum_same_attr_table, sp_sum_same_attrs),
    .compose = sum_same_compose,
    .python = "ops.ReduceSum(keep_dims:keepdims=False, skip_mode=False)(x, axis=()); ops.reduce_sum(x, axis=())",
    .doc = "Sum over axes in the dtype of the input.",
    .samples = "[2,3,4]; [2,3,4] axis=1; "
               "[2,3] axis=(0,) keepdims=True; [2,3] skip_mode=True",
};

/* --- spread ------------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(var_attr_table, sp_var_attrs, (INTS_OR_NONE, axis), (BOOL, keepdims, False), (NUMBER, correction, 0));

static sp_tensor *variance(sp_builder *b, const sp_call *c, sp_tensor **mean)
{
    const sp_var_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *middle = reduce(b, &sp_op_reduce_mean, x, a->axis, true);
    if (!middle) return NULL;
    double n = middle->count ? (double)x->count / (double)middle->count : 0,
           rest = n - (a->correction.kind == 'n' ? 0 : a->correction.f);
    sp_tensor *square = sp_square(b, sp_sub(b, x, middle));
    sp_tensor *result =
        sp__mul_number(b, reduce(b, &sp_op_reduce_mean, square, a->axis, a->keepdims), n / (rest > 0 ? rest : 0));
    if (mean && result) *mean = sp_reshape(b, middle, result->rank, result->dims);
    return result;
}
static sp_status var_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = variance(b, c, NULL);
    return SP_OK;
}
static sp_status std_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_sqrt(b, variance(b, c, NULL));
    return SP_OK;
}
static sp_status var_mean_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = variance(b, c, &c->out[1]);
    return SP_OK;
}
static sp_status std_mean_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_sqrt(b, variance(b, c, &c->out[1]));
    return SP_OK;
}
#define DDOF "axis=None, ddof:correction=0, keepdims=False"
#define CORRECTION "dim:axis=None, *, correction=1, keepdim:keepdims=False"
#define VAR_ENTRY(name_, n, python_, doc_)                                                                             \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x",                                                                        \
                                 .n_out = n,                                                                           \
                                 SP_ATTRS(var_attr_table, sp_var_attrs),                                               \
                                 .promote = SP_PROMOTE_FLOAT,                                                          \
                                 .dtypes = SP_DT_FLOATS,                                                               \
                                 .compose = name_##_compose,                                                           \
                                 .python = "ops." #name_ "(input, " DDOF "); "                                         \
                                           "mint." #name_ "(input, "                                                   \
                                           "" CORRECTION ")" python_,                                                  \
                                 .doc = doc_,                                                                          \
                                 .samples = "[2,3,4]; [2,3,4] axis=1; "                                                \
                                            "[2,3,4] axis=(0,2) keepdims=True correction=1"};
VAR_ENTRY(var, 1, "; Tensor.var(" DDOF "); Tensor.var(" CORRECTION ")",
          "Variance over axes: the mean of squared distances from the mean.")
VAR_ENTRY(std, 1, "; Tensor.std(" DDOF "); Tensor.std(" CORRECTION ")", "Standard deviation over axes.")
VAR_ENTRY(var_mean, 2, "", "Variance and mean over axes.")
VAR_ENTRY(std_mean, 2, "", "Standard deviation and mean over axes.")

static sp_status logsumexp_compose(sp_builder *b, const sp_call *c)
{
    const sp_logsumexp_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *top;
    if (x->count == 0) { /* the logarithm of an empty sum */
        c->out[0] = sp_log(b, reduce(b, &sp_op_reduce_sum, sp_exp(b, x), a->axis, a->keepdims));
        return SP_OK;
    }
    top = reduce(b, &sp_op_reduce_max, x, a->axis, true);
    /* An infinite maximum is not subtracted: infinity minus itself is NaN. */
    if (!top) return sp__builder_status(b);
    top = SP_APPLY1(b, sp_op_stop_gradient, sp_select(b, SP_APPLY1(b, sp_op_isfinite, top), top, sp__const(b, 0, top)));
    sp_tensor *y = sp_log(b, reduce(b, &sp_op_reduce_sum, sp_exp(b, sp_sub(b, x, top)), a->axis, a->keepdims));
    if (y) c->out[0] = sp_add(b, y, sp_reshape(b, top, y->rank, y->dims));
    return SP_OK;
}
SP_ATTR_TABLE(reduce_attr_table, sp_logsumexp_attrs, (INTS_OR_NONE, axis), (BOOL, keepdims, False));
const sp_op sp_op_logsumexp = {
    .name = "logsumexp",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_logsumexp_attrs),
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS,
    .compose = logsumexp_compose,
    .mindir = "LogSumExp",
    .onnx = "ReduceLogSumExp",
    .python = "ops.logsumexp(input, dim:axis, keepdim:keepdims=False); "
              "ops.logsumexp(input, axis, keep_dims:keepdims=False); " /* as before MindSpore 2.5 */
              "Tensor.logsumexp(dim:axis, keepdim:keepdims=False); "
              "mint.logsumexp(input, dim:axis, keepdim:keepdims=False)",
    .doc = "The logarithm of the sum of exponentials over axes, without overflow on the way.",
    .samples = REDUCE_SAMPLES,
};

/* --- norms ------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(norm_attr_table, sp_vector_norm_attrs, (FLOAT, ord, 2), (INTS_OR_NONE, axis), (BOOL, keepdims, False));

/* A root whose slope at zero is zero instead of infinite: the length of a zero vector has gradient zero. */
static sp_tensor *gentle_root(sp_builder *b, sp_tensor *sum, double ord)
{
    if (!sum) return NULL;
    sp_tensor *zero = sp_equal(b, sum, sp__const(b, 0, sum)), *safe = sp_select(b, zero, sp__const(b, 1, sum), sum);
    sp_tensor *root = ord == 2 ? sp_sqrt(b, safe) : SP_APPLY2(b, sp_op_pow, safe, sp__const(b, 1 / ord, safe));
    return sp_select(b, zero, sp__const(b, ord > 0 ? 0 : INFINITY, sum), root);
}
static sp_status vector_norm_compose(sp_builder *b, const sp_call *c)
{
    const sp_vector_norm_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *size, *y;
    if (a->ord == 2) {
        c->out[0] = gentle_root(b, reduce(b, &sp_op_reduce_sum, sp_square(b, x), a->axis, a->keepdims), 2);
        return SP_OK;
    }
    if (a->ord == 0) {
        sp_tensor *hit = sp_cast(b, sp_not_equal(b, x, sp__const(b, 0, x)), (sp_dtype)x->dtype);
        c->out[0] = reduce(b, &sp_op_reduce_sum, hit, a->axis, a->keepdims);
        return SP_OK;
    }
    size = sp_abs(b, x);
    if (isinf(a->ord)) y = reduce(b, a->ord > 0 ? &sp_op_reduce_max : &sp_op_reduce_min, size, a->axis, a->keepdims);
    else if (a->ord == 1) y = reduce(b, &sp_op_reduce_sum, size, a->axis, a->keepdims);
    else {
        sp_tensor *powers = SP_APPLY2(b, sp_op_pow, size, sp__const(b, a->ord, size));
        y = gentle_root(b, reduce(b, &sp_op_reduce_sum, powers, a->axis, a->keepdims), a->ord);
    }
    c->out[0] = y;
    return SP_OK;
}
static sp_status vector_norm_infer(const sp_call *c, sp_meta *out)
{
    const sp_vector_norm_attrs *a = c->attrs;
    const sp_logsumexp_attrs sum = {a->axis, a->keepdims};
    sp_call call = *c;
    call.attrs = &sum;
    return sp_op_reduce_sum.infer(&call, out);
}
const sp_op sp_op_vector_norm = {
    .name = "vector_norm",
    .family = SP_FAMILY_REDUCE_NORM,
    .inputs = "x",
    SP_ATTRS(norm_attr_table, sp_vector_norm_attrs),
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS,
    .compose = vector_norm_compose,
    .infer = vector_norm_infer,
    .onnx = "ReduceL2",
    .doc = "The norm of vectors over axes: the root of order ord of the sum of powers; "
           "0 counts, infinities take the extremum.",
    .samples = "[2,3]; [2,3] axis=1; [2,3,2] axis=(0,2) keepdims=True ord=3; [3,4]>0 ord=1 axis=0; [5]d ord=inf; "
               "[4]>0 ord=-2",
};

SP_ATTR_TABLE(normalize_attr_table, sp_l2_normalize_attrs, (INTS, axis, 0), (FLOAT, epsilon, 0.0001));
static sp_status l2_normalize_compose(sp_builder *b, const sp_call *c)
{
    const sp_l2_normalize_attrs *a = c->attrs;
    sp_tensor *sum = reduce(b, &sp_op_reduce_sum, sp_square(b, c->in[0]), a->axis, true);
    c->out[0] = sp_div(b, c->in[0], sp_sqrt(b, sp_maximum(b, sum, sp__const(b, a->epsilon, sum))));
    return SP_OK;
}
const sp_op sp_op_l2_normalize = {
    .name = "l2_normalize",
    .inputs = "x",
    SP_ATTRS(normalize_attr_table, sp_l2_normalize_attrs),
    .dtypes = SP_DT_FLOATS,
    .compose = l2_normalize_compose,
    .mindir = "L2Normalize",
    .onnx = "LpNormalization",
    .python = "ops.L2Normalize(axis=0, epsilon=0.0001)(input_x)",
    .doc = "x divided by its Euclidean length along an axis.",
    .samples = "[2,3]>0; [2,3]>0 axis=1; [4]>0 epsilon=0.01",
};
static sp_status l2_loss_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] =
        sp__mul_number(b, reduce(b, &sp_op_reduce_sum, sp_square(b, c->in[0]), (sp_ints){-1, NULL}, false), 0.5);
    return SP_OK;
}
const sp_op sp_op_l2_loss = {
    .name = "l2_loss",
    .inputs = "x",
    .dtypes = SP_DT_FLOATS,
    .compose = l2_loss_compose,
    .mindir = "L2Loss",
    .python = "ops.L2Loss()(input_x)",
    .doc = "Half the sum of squares.",
    .samples = "[2,3]; []",
};

SP_ATTR_TABLE(cosine_attr_table, sp_cosine_similarity_attrs, (INT, dim, 1), (FLOAT, eps, 1e-08));
static sp_status cosine_similarity_compose(sp_builder *b, const sp_call *c)
{
    const sp_cosine_similarity_attrs *a = c->attrs;
    const sp_ints axis = {1, &a->dim};
    sp_tensor *length[2];
    int64_t dims[SP_RANK_MAX];
    int rank;
    SP_TRY(sp__shape_broadcast(c->in[0]->rank, c->in[0]->dims, c->in[1]->rank, c->in[1]->dims, &rank, dims));
    for (int i = 0; i < 2; i++) {
        sp_tensor *x = sp_broadcast_to(b, c->in[i], rank, dims);
        sp_tensor *n = gentle_root(b, reduce(b, &sp_op_reduce_sum, sp_square(b, x), axis, true), 2);
        length[i] = sp_div(b, x, sp_maximum(b, n, sp__const(b, a->eps, n)));
    }
    c->out[0] = reduce(b, &sp_op_reduce_sum, sp_mul(b, length[0], length[1]), axis, false);
    return SP_OK;
}
const sp_op sp_op_cosine_similarity = {
    .name = "cosine_similarity",
    .inputs = "x, y",
    SP_ATTRS(cosine_attr_table, sp_cosine_similarity_attrs),
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS,
    .compose = cosine_similarity_compose,
    .python = "ops.cosine_similarity(x1, x2, dim=1, eps=1e-08); mint.nn.functional.cosine_similarity(x1, x2, dim=1, "
              "eps=1e-08)",
    .doc = "The cosine of the angle between vectors along a dimension.",
    .samples = "[2,3] [2,3]; [2,3,4] [3,4] dim=2",
};

/* Distance of every row of x to every row of y. */
SP_ATTR_TABLE(p_attr_table, sp_cdist_attrs, (FLOAT, p, 2));
static sp_tensor *with_dim(sp_builder *b, sp_tensor *x, int at)
{
    int64_t dims[SP_RANK_MAX + 1];
    for (int i = 0; i < at; i++) dims[i] = x->dims[i];
    dims[at] = 1;
    for (int i = at; i < x->rank; i++) dims[i + 1] = x->dims[i];
    return sp_reshape(b, x, x->rank + 1, dims);
}
static sp_status cdist_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *y = c->in[1];
    SP_CHECK(x->rank >= 2 && y->rank >= 2 && x->rank < SP_RANK_MAX && y->rank < SP_RANK_MAX, SP_VALUE,
             "both inputs must have at least 2 dimensions, but have %d and %d", x->rank, y->rank);
    const double p = ((const sp_cdist_attrs *)c->attrs)->p;
    SP_CHECK(p >= 0, SP_VALUE, "p is %g, it must not be negative", p);
    const sp_vector_norm_attrs norm = {p, {1, (const int64_t[]){-1}}, false};
    sp_tensor *gap = sp_sub(b, with_dim(b, x, x->rank - 1), with_dim(b, y, y->rank - 2));
    c->out[0] = sp_builder_apply(b, &sp_op_vector_norm, &norm, 1, &gap);
    return SP_OK;
}
const sp_op sp_op_cdist = {
    .name = "cdist",
    .inputs = "x, y",
    SP_ATTRS(p_attr_table, sp_cdist_attrs),
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS,
    .compose = cdist_compose,
    .mindir = "Cdist",
    .python = "ops.cdist(x1, x2, p=2.0); "
              "ops.Cdist(p=2.0)(input_x, input_y)",
    .doc = "The distance of every row of x to every row of y.",
    .samples = "[2,3] [4,3]>0; [2,3,2] [2,4,2]>0 p=3; "
               "[2,3] [4,3]>0 p=1",
};

/* --- positions of extrema ----------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(pick_attr_table, sp_with_index_attrs, (INT, axis, 0), (BOOL, keepdims, False));
typedef struct {
    int64_t n, inner;
    const void *x;
    int64_t *index;
    void *value;
} pick_job;
typedef void (*pick_fn)(void *job, int64_t begin, int64_t end);

sp_status sp__pick_measure(const sp_tensor *x, int64_t axis, sp__pick *p)
{
    *p = (sp__pick){.n = 1, .inner = 1};
    if (x->rank || (axis != 0 && axis != -1)) SP_TRY(sp__shape_axis(axis, x->rank, "axis", &p->axis));
    if (x->rank) p->n = x->dims[p->axis];
    for (int i = p->axis + 1; i < x->rank; i++) p->inner *= x->dims[i];
    return SP_OK;
}
sp_status sp__pick_infer(const sp_tensor *x, int64_t axis, bool keepdims, sp_meta *out)
{
    sp__pick p;
    char text[SP_SHAPE_TEXT];
    SP_TRY(sp__pick_measure(x, axis, &p));
    SP_CHECK(p.n > 0, SP_VALUE, "axis %d of a tensor of shape %s has no elements to choose from", p.axis,
             sp__shape_text(x->rank, x->dims, text));
    out->rank = 0;
    for (int i = 0; i < x->rank; i++) {
        if (i != p.axis) out->dims[out->rank++] = x->dims[i];
        else if (keepdims) out->dims[out->rank++] = 1;
    }
    return SP_OK;
}
sp_status sp__pick_vjp(sp_builder *b, const sp_vjp *v, int64_t axis, sp_tensor *index, sp_tensor *g)
{
    const sp_tensor *x = v->in[0];
    sp__pick p;
    if (!g) return SP_OK;
    SP_TRY(sp__pick_measure(x, axis, &p));
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) dims[i] = i == p.axis ? 1 : x->dims[i];
    sp_tensor *chosen = sp_equal(b, sp_reshape(b, index, x->rank, dims), sp__positions(b, x->rank, p.axis, p.n));
    v->din[0] = sp_select(b, chosen, sp_reshape(b, g, x->rank, dims), sp__const(b, 0, g));
    return SP_OK;
}

/* Index first, value second. */
static sp_status pick_infer(const sp_call *c, sp_meta *out)
{
    const sp_with_index_attrs *a = c->attrs;
    SP_TRY(sp__pick_infer(c->in[0], a->axis, a->keepdims, out));
    out[1] = out[0];
    out[0].dtype = SP_DTYPE_I64;
    out[1].dtype = (sp_dtype)c->in[0]->dtype;
    return SP_OK;
}
static sp_status pick_run(const sp_call *c, pick_fn fn)
{
    sp__pick p;
    SP_TRY(sp__pick_measure(c->in[0], ((const sp_with_index_attrs *)c->attrs)->axis, &p));
    pick_job j = {.n = p.n,
                  .inner = p.inner,
                  .x = c->in[0]->data,
                  .index = (int64_t *)(void *)c->out[0]->data,
                  .value = c->out[1]->data};
    const int64_t grain = 16384 / j.n;
    return sp__parallel_for(c->out[0]->count, grain > 0 ? grain : 1, fn, &j);
}

/* The first of equal elements; NaN is passed over unless there is nothing else. Both ways give the same, so it does not matter which lines of a
 * part are taken how.
 *
 * Along a row: the best of a block in several lanes; where it is, is looked up in the blocks only that are better than all before. Across: the best
 * of neighbouring lines side by side, row after row. */
enum { PICK_LANES = 32, PICK_BLOCK = 512, PICK_LINES = 64 };
#define PICK(D, T, C, LOAD, STORE, name, better)                                                                       \
    static inline int64_t name##_along_##D(int64_t n, const T *p)                                                      \
    {                                                                                                                  \
        int64_t best = 0, i = 0;                                                                                       \
        C y = LOAD(p[0]);                                                                                              \
        for (; y != y && i + 1 < n; i++) y = LOAD(p[i + 1]), best = y == y ? i + 1 : 0;                                \
        for (; i + PICK_BLOCK <= n; i += PICK_BLOCK) {                                                                 \
            C lane[PICK_LANES], top = y;                                                                               \
            for (int k = 0; k < PICK_LANES; k++) lane[k] = y;                                                          \
            for (int64_t at = i; at < i + PICK_BLOCK; at += PICK_LANES)                                                \
                for (int k = 0; k < PICK_LANES; k++) {                                                                 \
                    const C x = LOAD(p[at + k]);                                                                       \
                    y = lane[k];                                                                                       \
                    lane[k] = (better) ? x : y;                                                                        \
                }                                                                                                      \
            y = top;                                                                                                   \
            for (int k = 0; k < PICK_LANES; k++) {                                                                     \
                const C x = lane[k];                                                                                   \
                y = (better) ? x : y;                                                                                  \
            }                                                                                                          \
            if (y != top)                                                                                              \
                for (best = i; LOAD(p[best]) != y;) best++;                                                            \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            const C x = LOAD(p[i]);                                                                                    \
            if (better) y = x, best = i;                                                                               \
        }                                                                                                              \
        return best;                                                                                                   \
    }                                                                                                                  \
    static inline void name##_across_##D(int64_t n, int64_t inner, int64_t lines, const T *p, int64_t *to)             \
    {                                                                                                                  \
        C top[PICK_LINES];                                                                                             \
        int64_t at[PICK_LINES];                                                                                        \
        for (int64_t k = 0; k < lines; k++) top[k] = LOAD(p[k]), at[k] = 0;                                            \
        for (int64_t i = 1; i < n; i++)                                                                                \
            for (int64_t k = 0; k < lines; k++) {                                                                      \
                const C x = LOAD(p[i * inner + k]), y = top[k];                                                        \
                const bool wins = (better) || (y != y && x == x);                                                      \
                top[k] = wins ? x : y;                                                                                 \
                at[k] = wins ? i : at[k];                                                                              \
            }                                                                                                          \
        for (int64_t k = 0; k < lines; k++) to[k] = at[k];                                                             \
    }                                                                                                                  \
    static void name##_##D(void *job, int64_t begin, int64_t end)                                                      \
    {                                                                                                                  \
        const pick_job *j = job;                                                                                       \
        for (int64_t line = begin, lines; line < end; line += lines) {                                                 \
            const int64_t column = line % j->inner;                                                                    \
            const T *p = (const T *)j->x + line / j->inner * j->n * j->inner + column;                                 \
            lines = end - line < j->inner - column ? end - line : j->inner - column;                                   \
            if (lines > PICK_LINES) lines = PICK_LINES;                                                                \
            if (j->inner == 1) j->index[line] = name##_along_##D(j->n, p);                                             \
            else name##_across_##D(j->n, j->inner, lines, p, j->index + line);                                         \
            for (int64_t k = 0; k < lines; k++) ((T *)j->value)[line + k] = p[j->index[line + k] * j->inner + k];      \
        }                                                                                                              \
    }                                                                                                                  \
    SP_WIDE(name##_##D)
SP_EACH_REAL(PICK, pick_max, x > y)
SP_EACH_BOOL(PICK, pick_max, x > y)
SP_EACH_REAL(PICK, pick_min, x < y)
SP_EACH_BOOL(PICK, pick_min, x < y)
static pick_fn max_pick(sp_dtype dtype)
{
    switch (dtype) {
        SP_EACH_REAL(SP_WIDE_CASE, pick_max, )
        SP_EACH_BOOL(SP_WIDE_CASE, pick_max, )
    default: return NULL;
    }
}
static pick_fn min_pick(sp_dtype dtype)
{
    switch (dtype) {
        SP_EACH_REAL(SP_WIDE_CASE, pick_min, )
        SP_EACH_BOOL(SP_WIDE_CASE, pick_min, )
    default: return NULL;
    }
}
static sp_status max_with_index_reference(const sp_call *c) { return pick_run(c, max_pick((sp_dtype)c->in[0]->dtype)); }
static sp_status min_with_index_reference(const sp_call *c) { return pick_run(c, min_pick((sp_dtype)c->in[0]->dtype)); }

static sp_status pick_vjp(sp_builder *b, const sp_vjp *v)
{
    return sp__pick_vjp(b, v, ((const sp_with_index_attrs *)v->attrs)->axis, v->out[0], v->dout[1]);
}
#define PICK_ENTRY(name_, ...)                                                                                         \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = "x",                                                                        \
                                 .n_out = 2,                                                                           \
                                 SP_ATTRS(pick_attr_table, sp_with_index_attrs),                                       \
                                 .infer = pick_infer,                                                                  \
                                 .reference = name_##_reference,                                                       \
                                 .vjp = pick_vjp,                                                                      \
                                 .batch = sp__batch_axis,                                                              \
                                 .saves = SP_SAVE_OUT(0),                                                              \
                                 __VA_ARGS__}
#define PICK_SAMPLES "[5]d; [2,4]d axis=1; [3,2,2]d axis=-2 keepdims=True; []"
PICK_ENTRY(max_with_index, .shard = "fold; axis whole", .dtypes = SP_DT_REAL_BOOL, .mindir = "ArgMaxWithValue",
           .python = "ops.ArgMaxWithValue(axis=0, keep_dims:keepdims=False)(input)",
           .doc = "Where the maximum along an axis is, and the maximum.", .samples = PICK_SAMPLES);
PICK_ENTRY(min_with_index, .shard = "fold; axis whole", .dtypes = SP_DT_REAL_BOOL, .mindir = "ArgMinWithValue",
           .python = "ops.ArgMinWithValue(axis=0, keep_dims:keepdims=False)(input)",
           .doc = "Where the minimum along an axis is, and the minimum.", .samples = PICK_SAMPLES);

SP_ATTR_TABLE(arg_attr_table, sp_arg_attrs, (INT_OR_NONE, axis), (BOOL, keepdims, False), (DTYPE, dtype, int64));
static sp_status arg_compose(sp_builder *b, const sp_call *c, const sp_op *op)
{
    const sp_arg_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *out[2];
    sp_with_index_attrs pick = {a->axis, a->keepdims};
    int n;
    if (a->axis == SP_INT_NONE) {
        x = sp_reshape(b, x, 1, (const int64_t[]){-1});
        pick = (sp_with_index_attrs){0, false};
    }
    SP_TRY(sp_builder_apply_many(b, op, &pick, 1, &x, 2, out, &n));
    c->out[0] = sp_cast(b, out[0], a->dtype);
    return SP_OK;
}
static sp_status argmax_compose(sp_builder *b, const sp_call *c) { return arg_compose(b, c, &sp_op_max_with_index); }
static sp_status argmin_compose(sp_builder *b, const sp_call *c) { return arg_compose(b, c, &sp_op_min_with_index); }
const sp_op sp_op_argmax = {
    .name = "argmax",
    .inputs = "x",
    SP_ATTRS(arg_attr_table, sp_arg_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .compose = argmax_compose,
    .mindir = "Argmax",
    .onnx = "ArgMax",
    .python = "ops.argmax(input, dim:axis=None, keepdim:keepdims=False); "
              "mint.argmax(input, dim:axis=None, keepdim:keepdims=False); "
              "Tensor.argmax(axis=None, keepdims=False); Tensor.argmax(dim:axis=None, keepdim:keepdims=False); "
              "ops.Argmax(axis=-1, output_type:dtype=int32)(input)",
    .doc = "Where the maximum is: along an axis, or of all elements in row-major order.",
    .samples = "[5]d; [2,4]d axis=1 keepdims=True; [2,3]d",
};
const sp_op sp_op_argmin = {
    .name = "argmin",
    .inputs = "x",
    SP_ATTRS(arg_attr_table, sp_arg_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .compose = argmin_compose,
    .mindir = "Argmin",
    .onnx = "ArgMin",
    .python = "ops.argmin(input, axis=None, keepdims=False, .dtype=int32); "
              "mint.argmin(input, dim:axis=None, keepdim:keepdims=False); "
              "Tensor.argmin(axis=None, keepdims=False, .dtype=int32); "
              "Tensor.argmin(dim:axis=None, keepdim:keepdims=False, .dtype=int32); "
              "ops.Argmin(axis=-1, output_type:dtype=int32)(x)",
    .doc = "Where the minimum is: along an axis, or of all elements in row-major order.",
    .samples = "[5]d; [2,4]d axis=1 keepdims=True; [2,3]d",
};
