/* SPDX-License-Identifier: Apache-2.0 */
/* count.c - counts, histograms, the trace, and comparison within a tolerance. */
#include "ir/refuse.h"
#include "ops/kernels.h"
#include "ops/reduced.h"

/* --- counts ------------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(count_attr_table, sp_count_nonzero_attrs, (INTS_EMPTY, axis), (BOOL, keepdims, False),
              (DTYPE, dtype, int32));
static sp_status count_nonzero_compose(sp_builder *b, const sp_call *c)
{
    const sp_count_nonzero_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *hit = sp_cast(b, sp_not_equal(b, x, sp__const(b, 0, x)), SP_DTYPE_I64);
    const sp_dtype to = a->dtype == SP_DTYPE_NONE ? SP_DTYPE_I32 : a->dtype;
    c->out[0] = sp_cast(b, sp__sum_axes(b, hit, a->axis, a->keepdims), to);
    return SP_OK;
}
static sp_status count_nonzero_infer(const sp_call *c, sp_meta *out)
{
    const sp_count_nonzero_attrs *a = c->attrs;
    SP_TRY(sp__infer_reduced(c->in[0], a->axis, a->keepdims, out));
    out->dtype = a->dtype == SP_DTYPE_NONE ? SP_DTYPE_I32 : a->dtype;
    return SP_OK;
}
const sp_op sp_op_count_nonzero = {
    .name = "count_nonzero",
    .inputs = "x",
    SP_ATTRS(count_attr_table, sp_count_nonzero_attrs),
    .compose = count_nonzero_compose,
    .infer = count_nonzero_infer,
    .python = "ops.count_nonzero(x, axis=(), keep_dims:keepdims=False, dtype=int32); "
              "mint.count_nonzero(input, dim:axis=None, .dtype=int64); "
              "Tensor.count_nonzero(axis=(), keep_dims:keepdims=False, dtype=None); "
              "Tensor.count_nonzero(dim:axis=None, .dtype=int64)",
    .doc = "How many elements over axes are not zero.",
    .samples = "[2,3]; [2,3] axis=1 keepdims=True",
};

static sp_status equal_count_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *hit = sp_cast(b, sp_equal(b, c->in[0], c->in[1]), SP_DTYPE_I64);
    sp_tensor *n = sp__sum_axes(b, hit, (sp_ints){-1, NULL}, false);
    c->out[0] = sp_reshape(b, sp_cast(b, n, (sp_dtype)c->in[0]->dtype), 1, (const int64_t[]){1});
    return SP_OK;
}
const sp_op sp_op_equal_count = {
    .name = "equal_count",
    .inputs = "x, y",
    .compose = equal_count_compose,
    .mindir = "EqualCount",
    .python = "ops.EqualCount()(x, y)",
    .doc = "How many elements of two tensors are equal, as one element of their dtype.",
    .samples = "[2,3] [2,3]; [4] [4]",
};

/* --- histograms -------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(bincount_attr_table, sp_bincount_attrs, (INT, minlength, 0));
static sp_status bincount_infer(const sp_call *c, sp_meta *out)
{
    char x[SP_SHAPE_TEXT], w[SP_SHAPE_TEXT];
    const sp_tensor *t = c->in[0], *weights = c->in[1];
    SP_CHECK(t->rank == 1, SP_VALUE, "input must have 1 dimension, but its shape is %s",
             sp__shape_text(t->rank, t->dims, x));
    SP_CHECK(!weights || sp__tensor_same_shape(t, weights), SP_VALUE,
             "weights has shape %s, it must be that of input, %s", sp__shape_text(weights->rank, weights->dims, w),
             sp__shape_text(t->rank, t->dims, x));
    SP_CHECK(((const sp_bincount_attrs *)c->attrs)->minlength >= 0, SP_VALUE,
             "minlength is %lld, it must not be negative", (long long)((const sp_bincount_attrs *)c->attrs)->minlength);
    *out = (sp_meta){
        .dtype = weights && weights->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32, .rank = 1, .dims = {-1}};
    return SP_OK;
}
static sp_status bincount_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0], *weights = c->in[1];
    sp_meta meta;
    SP_TRY(bincount_infer(c, &meta));
    meta.dims[0] = ((const sp_bincount_attrs *)c->attrs)->minlength;
    const sp_loop_fn load = sp__cast_loop((sp_dtype)x->dtype, SP_DTYPE_I64);
    const sp_loop_fn load_weight = weights ? sp__cast_loop((sp_dtype)weights->dtype, SP_DTYPE_F64) : NULL;
    const size_t x_bytes = sp_dtype_bytes((sp_dtype)x->dtype);
    const size_t w_bytes = weights ? sp_dtype_bytes((sp_dtype)weights->dtype) : 0;
    static const int64_t steps[2] = {0, 0};
    for (int64_t i = 0; i < x->count; i++) {
        int64_t k;
        load(1, (char *const[]){(char *)&k, x->data + (size_t)i * x_bytes}, steps, NULL);
        SP_CHECK(k >= 0, SP_VALUE, "input[%lld] is %lld, it must not be negative", (long long)i, (long long)k);
        if (k >= meta.dims[0]) meta.dims[0] = k + 1;
    }
    SP_TRY(sp_tensor_create_zeros(meta.dtype, 1, meta.dims, &c->out[0]));
    for (int64_t i = 0; i < x->count; i++) {
        int64_t k;
        double w = 1;
        load(1, (char *const[]){(char *)&k, x->data + (size_t)i * x_bytes}, steps, NULL);
        if (weights) load_weight(1, (char *const[]){(char *)&w, weights->data + (size_t)i * w_bytes}, steps, NULL);
        if (meta.dtype == SP_DTYPE_F64) ((double *)(void *)c->out[0]->data)[k] += w;
        else ((float *)(void *)c->out[0]->data)[k] += (float)w;
    }
    return SP_OK;
}
/* Every weight has a share in one sum. */
static sp_status bincount_vjp(sp_builder *b, const sp_vjp *v)
{
    static const struct {
        int64_t axis;
    } along = {0};
    if (v->needs[1])
        v->din[1] = sp_builder_apply(b, &sp_op_gather_elements, &along, 2,
                                     (sp_tensor *const[]){v->dout[0], sp_cast(b, v->in[0], SP_DTYPE_I64)});
    return SP_OK;
}
const sp_op sp_op_bincount = {
    .name = "bincount",
    .inputs = "x, weights?",
    SP_ATTRS(bincount_attr_table, sp_bincount_attrs),
    .dtypes = SP_DT_INTS | SP_DT(BOOL),
    .infer = bincount_infer,
    .open = true,
    .reference = bincount_reference,
    .vjp = bincount_vjp,
    .saves = SP_SAVE_IN(0),
    .mindir = "Bincount",
    .python = "ops.bincount(input, weights=None, minlength=0); Tensor.bincount(weights=None, minlength=0); "
              "mint.bincount(input, weights=None, minlength=0)",
    .doc = "How often each number from zero on occurs, or the sum of its weights.",
    .samples = "[6]i<4 _; [6]i<4 _ minlength=8; [5]i<3 [5]",
};

SP_ATTR_TABLE(histc_attr_table, sp_histc_attrs, (INT, bins, 100), (FLOAT, min, 0), (FLOAT, max, 0));
static sp_status histc_infer(const sp_call *c, sp_meta *out)
{
    const sp_histc_attrs *a = c->attrs;
    SP_CHECK(a->bins > 0, SP_VALUE, "bins is %lld, it must be positive", (long long)a->bins);
    SP_CHECK(a->min <= a->max, SP_VALUE, "min is %g, it must not be above max, which is %g", a->min, a->max);
    *out = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype, .rank = 1, .dims = {a->bins}};
    return SP_OK;
}
enum { HISTC_BLOCK = 4096 };
static size_t histc_workspace(const sp_call *c)
{
    return (HISTC_BLOCK + (size_t)((const sp_histc_attrs *)c->attrs)->bins) * sizeof(double);
}
/* Elements from `at` on as doubles, at most a block of them; returns how many. */
static int64_t histc_block(const sp_tensor *x, int64_t at, double *values)
{
    const sp_dtype dtype = (sp_dtype)x->dtype;
    const int64_t bytes = (int64_t)sp_dtype_bytes(dtype), n = x->count - at < HISTC_BLOCK ? x->count - at : HISTC_BLOCK;
    sp__cast_loop(dtype, SP_DTYPE_F64)(n, (char *const[]){(char *)values, (char *)x->data + at * bytes},
                                       (const int64_t[]){sizeof(double), bytes}, NULL);
    return n;
}
/* Elements outside [min, max] and NaN are not counted; equal bounds stand for the range of the data. */
static sp_status histc_reference(const sp_call *c)
{
    const sp_histc_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    double *counts = c->work, *values = counts + a->bins, low = a->min, high = a->max;
    const sp_dtype dtype = (sp_dtype)x->dtype;
    const int64_t bytes = (int64_t)sp_dtype_bytes(dtype);
    if (low == high && x->count) {
        histc_block(x, 0, values);
        low = high = values[0];
        for (int64_t at = 0; at < x->count; at += HISTC_BLOCK) {
            const int64_t n = histc_block(x, at, values);
            for (int64_t i = 0; i < n; i++) {
                if (values[i] < low) low = values[i];
                if (values[i] > high) high = values[i];
            }
        }
    }
    SP_CHECK(isfinite(low) && isfinite(high), SP_VALUE, "the range of the bins must be finite, but it is %g to %g", low,
             high);
    if (low == high) low -= 1, high += 1;
    for (int64_t i = 0; i < a->bins; i++) counts[i] = 0;
    for (int64_t at = 0; at < x->count; at += HISTC_BLOCK) {
        const int64_t n = histc_block(x, at, values);
        for (int64_t i = 0; i < n; i++) {
            if (!(values[i] >= low && values[i] <= high)) continue;
            int64_t k = (int64_t)((values[i] - low) / (high - low) * (double)a->bins);
            counts[k < a->bins ? k : a->bins - 1] += 1;
        }
    }
    sp__cast_loop(SP_DTYPE_F64, dtype)(a->bins, (char *const[]){c->out[0]->data, (char *)counts},
                                       (const int64_t[]){bytes, sizeof(double)}, NULL);
    return SP_OK;
}
const sp_op sp_op_histc = {
    .name = "histc",
    .inputs = "x",
    SP_ATTRS(histc_attr_table, sp_histc_attrs),
    .dtypes = SP_DT_REAL,
    .infer = histc_infer,
    .reference = histc_reference,
    .workspace = histc_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "counts change in steps, at the edges of bins",
    .mindir = "Histogram",
    .python = "ops.histc(input, bins=100, min=0.0, max=0.0); Tensor.histc(bins=100, min=0, max=0); "
              "mint.histc(input, bins=100, min=0, max=0); "
              "ops.Histogram(bins=100, min=0.0, max=0.0)(x)",
    .doc = "How many elements fall into each of the bins between min and max.",
    .samples = "[2,3] bins=4; [8] bins=3 min=-1 max=1",
};

/* --- trace ------------------------------------------------------------------------------------------------------- */

static sp_status trace_compose(sp_builder *b, const sp_call *c)
{
    char text[SP_SHAPE_TEXT];
    sp_tensor *x = c->in[0];
    SP_CHECK(x->rank == 2, SP_VALUE, "input must have 2 dimensions, but its shape is %s",
             sp__shape_text(x->rank, x->dims, text));
    sp_tensor *diagonal = sp_equal(b, sp__positions(b, 2, 0, x->dims[0]), sp__positions(b, 2, 1, x->dims[1]));
    c->out[0] = sp__sum_axes(b, sp_select(b, diagonal, x, sp__const(b, 0, x)), (sp_ints){-1, NULL}, false);
    return SP_OK;
}
const sp_op sp_op_trace = {
    .name = "trace",
    .inputs = "x",
    .dtypes = SP_DT_NUMBERS,
    .compose = trace_compose,
    .mindir = "Trace",
    .python = "ops.trace(input); ops.Trace()(x); Tensor.trace(); mint.trace(input)",
    .doc = "The sum of the diagonal of a matrix.",
    .samples = "[3,3]; [2,4]; [4,2]",
};

/* --- within a tolerance ------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(close_attr_table, sp_isclose_attrs, (FLOAT, rtol, 1e-05), (FLOAT, atol, 1e-08), (BOOL, equal_nan, False));
static sp_status isclose_compose(sp_builder *b, const sp_call *c)
{
    const sp_isclose_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *y = c->in[1];
    SP_CHECK(a->rtol >= 0 && a->atol >= 0, SP_VALUE, "rtol is %g and atol is %g, they must not be negative", a->rtol,
             a->atol);
    sp_tensor *same = sp_equal(b, x, y);
    if (sp_dtype_kind((sp_dtype)x->dtype) != 'f') { /* integers and bool: compared as float64 */
        x = sp_cast(b, x, SP_DTYPE_F64);
        y = sp_cast(b, y, SP_DTYPE_F64);
    }
    sp_tensor *room = sp__add_number(b, sp__mul_number(b, sp_abs(b, y), a->rtol), a->atol);
    sp_tensor *gap = sp_abs(b, sp_sub(b, x, y));
    /* An infinite y allows an infinite gap: only a finite one counts. */
    sp_tensor *near = sp_logical_and(b, sp_less_equal(b, gap, room), SP_APPLY1(b, sp_op_isfinite, gap));
    same = sp_logical_or(b, same, near);
    if (a->equal_nan) same = sp_logical_or(b, same, sp_logical_and(b, sp_isnan(b, x), sp_isnan(b, y)));
    c->out[0] = same;
    return SP_OK;
}
const sp_op sp_op_isclose = {
    .name = "isclose",
    .inputs = "x, y",
    SP_ATTRS(close_attr_table, sp_isclose_attrs),
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT_REAL_BOOL,
    .compose = isclose_compose,
    .mindir = "IsClose",
    .python = "ops.isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False); "
              "mint.isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False); "
              "Tensor.isclose(other, rtol=1e-05, atol=1e-08, equal_nan=False); "
              "Tensor.isclose(x2, rtol=1e-05, atol=1e-08, equal_nan=False); "
              "ops.IsClose(rtol=1e-05, atol=1e-08, equal_nan=False)(input, other)",
    .doc = "Whether |x - y| <= atol + rtol |y|, element by element.",
    .samples = "[2,3] [2,3]; [2,3] [3] equal_nan=True",
};

SP_ATTR_TABLE(near_attr_table, sp_approximate_equal_attrs, (FLOAT, tolerance, 1e-05));
static sp_status approximate_equal_compose(sp_builder *b, const sp_call *c)
{
    const double tolerance = ((const sp_approximate_equal_attrs *)c->attrs)->tolerance;
    sp_tensor *gap = sp_abs(b, sp_sub(b, c->in[0], c->in[1]));
    c->out[0] = sp_less(b, gap, sp__const(b, tolerance, gap));
    return SP_OK;
}
const sp_op sp_op_approximate_equal = {
    .name = "approximate_equal",
    .inputs = "x, y",
    SP_ATTRS(near_attr_table, sp_approximate_equal_attrs),
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS,
    .compose = approximate_equal_compose,
    .mindir = "ApproximateEqual",
    .python = "ops.approximate_equal(x, y, tolerance=1e-05); ops.ApproximateEqual(tolerance=1e-05)(x, y); "
              "Tensor.approximate_equal(other, tolerance=1e-05)",
    .doc = "Whether |x - y| < tolerance, element by element.",
    .samples = "[2,3] [2,3]; [4] [4] tolerance=2",
};
