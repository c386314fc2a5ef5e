/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_shape.c - ONNX operators that move elements: shapes, slices, gathering and scattering, padding, constants. */
#include <math.h>
#include <stdio.h>

#include "formats/onnx/onnx_model.h"
#include "ir/graph_impl.h"
#include "ir/builder_keep.h"

/* --- shapes ------------------------------------------------------------------------------------------------------ */

bool sp__onnx_keeps_sizes(const sp_tensor *x)
{
    const sp_function *f = sp_function_recording();
    return f != NULL && f->graph->keeps_sizes && sp_tensor_is_symbol(x);
}

sp_tensor *sp__onnx_size_symbol(sp_onnx_call *c, sp_tensor *x, int axis)
{
    sp_tensor *t = NULL;
    const sp_status status = sp__function_size(x, axis, &t);
    if (status != SP_OK) return sp__builder_fail(c->b, status);
    return sp_reshape(c->b, sp_builder_take_tensor(c->b, t), 1, (int64_t[]){1});
}

static sp_status shape(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    int64_t rank = sp_tensor_rank(x), start = sp__onnx_attr_int(c, "start", 0), end = sp__onnx_attr_int(c, "end", rank);
    if (start < 0) start += rank;
    if (end < 0) end += rank;
    start = start < 0 ? 0 : start > rank ? rank : start;
    end = end < start ? start : end > rank ? rank : end;
    if (sp__onnx_keeps_sizes(x) && end > start) {
        sp_tensor *sizes[SP_RANK_MAX];
        for (int64_t i = start; i < end; i++) sizes[i - start] = sp__onnx_size_symbol(c, x, (int)i);
        return sp__onnx_return(c, sp__concat(c->b, 0, (int)(end - start), sizes));
    }
    return sp__onnx_return(c, sp__onnx_tensor_ints(c, (int)(end - start), sp_tensor_dims(x) + start));
}

static sp_status size(sp_onnx_call *c)
{
    sp_tensor *t = NULL;
    if (sp__onnx_keeps_sizes(c->in[0]) && sp_tensor_rank(c->in[0]) > 0) {
        sp_tensor *product = sp__onnx_size_symbol(c, c->in[0], 0);
        for (int i = 1; i < sp_tensor_rank(c->in[0]); i++)
            product = sp_mul(c->b, product, sp__onnx_size_symbol(c, c->in[0], i));
        return sp__onnx_return(c, sp_reshape(c->b, product, 0, NULL));
    }
    SP_TRY(sp_tensor_create_i64(SP_DTYPE_I64, sp_tensor_count(c->in[0]), &t));
    return sp__onnx_return(c, sp_builder_take_tensor(c->b, t));
}

static sp_status reshape(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints to;
    bool found = false, zero = sp__onnx_attr_int(c, "allowzero", 0) != 0;
    SP_TRY(sp__onnx_ints_of(c, "shape", 1, &to, &found));
    SP_CHECK(to.n <= SP_RANK_MAX, SP_VALUE, "%d dimensions, at most %d are possible", to.n, SP_RANK_MAX);
    for (int i = 0; i < to.n; i++)
        if (to.v[i] == 0 && !zero) {
            SP_CHECK(i < sp_tensor_rank(x), SP_VALUE, "dimension %d of the shape is 0 (kept), but rank is %d", i,
                     sp_tensor_rank(x));
            to.v[i] = sp_tensor_dims(x)[i];
        }
    return sp__onnx_return(c, sp_reshape(c->b, x, to.n, to.v));
}

static sp_status flatten(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    int64_t axis = sp__onnx_attr_int(c, "axis", 1), outer = 1, inner = 1;
    const int rank = sp_tensor_rank(x);
    SP_CHECK(axis >= -rank && axis <= rank, SP_VALUE, "axis is %lld; for rank %d it must be in [%d, %d]",
             (long long)axis, rank, -rank, rank);
    if (axis < 0) axis += rank;
    for (int i = 0; i < rank; i++) *(i < axis ? &outer : &inner) *= sp_tensor_dims(x)[i];
    return sp__onnx_return(c, sp_reshape(c->b, x, 2, (int64_t[]){outer, inner}));
}

static sp_status squeeze(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints axes;
    bool found = false;
    uint32_t mask = 0;
    int64_t dims[SP_RANK_MAX];
    int n = 0;
    SP_TRY(sp__onnx_ints_of(c, "axes", 1, &axes, &found));
    for (int i = 0; i < axes.n; i++) {
        int at = 0;
        SP_TRY(sp__shape_axis(axes.v[i], sp_tensor_rank(x), "axes", &at));
        mask |= 1u << at;
    }
    for (int i = 0; i < sp_tensor_rank(x); i++) {
        bool drop = found ? mask >> i & 1 : sp_tensor_dims(x)[i] == 1;
        SP_CHECK(!drop || sp_tensor_dims(x)[i] == 1, SP_VALUE, "axis %d has %lld elements, it must have one", i,
                 (long long)sp_tensor_dims(x)[i]);
        if (!drop) dims[n++] = sp_tensor_dims(x)[i];
    }
    return sp__onnx_return(c, sp_reshape(c->b, x, n, dims));
}

static sp_status unsqueeze(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints axes;
    bool found = false;
    uint32_t mask = 0;
    int64_t dims[SP_RANK_MAX];
    SP_TRY(sp__onnx_ints_of(c, "axes", 1, &axes, &found));
    int rank = sp_tensor_rank(x) + axes.n, from = 0;
    SP_CHECK(rank <= SP_RANK_MAX, SP_VALUE, "%d dimensions, at most %d are possible", rank, SP_RANK_MAX);
    for (int i = 0; i < axes.n; i++) {
        int at = 0;
        SP_TRY(sp__shape_axis(axes.v[i], rank, "axes", &at));
        SP_CHECK(!(mask >> at & 1), SP_VALUE, "axis %d is given twice", at);
        mask |= 1u << at;
    }
    for (int i = 0; i < rank; i++) dims[i] = mask >> i & 1 ? 1 : sp_tensor_dims(x)[from++];
    return sp__onnx_return(c, sp_reshape(c->b, x, rank, dims));
}

static sp_status transpose(sp_onnx_call *c)
{
    sp_onnx_ints perm;
    bool found = false;
    int rank = sp_tensor_rank(c->in[0]);
    SP_TRY(sp__onnx_ints_of(c, "perm", -1, &perm, &found));
    if (!found)
        for (perm.n = 0; perm.n < rank; perm.n++) perm.v[perm.n] = rank - 1 - perm.n;
    return sp__onnx_return(c, sp_transpose(c->b, c->in[0], perm.n, perm.v));
}

static sp_status expand(sp_onnx_call *c)
{
    sp_onnx_ints to;
    int64_t dims[SP_RANK_MAX];
    int rank = 0;
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 1), &to));
    SP_CHECK(to.n <= SP_RANK_MAX, SP_VALUE, "%d dimensions, at most %d are possible", to.n, SP_RANK_MAX);
    SP_TRY(sp__shape_broadcast(sp_tensor_rank(c->in[0]), sp_tensor_dims(c->in[0]), to.n, to.v, &rank, dims));
    return sp__onnx_return(c, sp_broadcast_to(c->b, c->in[0], rank, dims));
}

static sp_status tile(sp_onnx_call *c)
{
    sp_onnx_ints by;
    sp_onnx_text text;
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 1), &by));
    if (c->opset < 6) { /* a number of copies along one axis */
        sp_onnx_ints axis;
        SP_TRY(sp__onnx_ints(sp__onnx_in(c, 2), &axis));
        SP_CHECK(by.n == 1 && axis.n == 1 && axis.v[0] >= 0 && axis.v[0] < sp_tensor_rank(c->in[0]), SP_VALUE,
                 "one axis is wanted");
        int64_t tiles = by.v[0];
        by.n = sp_tensor_rank(c->in[0]);
        for (int i = 0; i < by.n; i++) by.v[i] = i == axis.v[0] ? tiles : 1;
    }
    int64_t dims[SP_RANK_MAX];
    bool none = false;
    for (int i = 0; i < by.n && i < sp_tensor_rank(c->in[0]); i++) {
        SP_CHECK(by.v[i] >= 0 && sp__mul_i64(sp_tensor_dims(c->in[0])[i], by.v[i], &dims[i]), SP_VALUE,
                 "%lld copies of %lld elements along axis %d", (long long)by.v[i],
                 (long long)sp_tensor_dims(c->in[0])[i], i);
        none = none || dims[i] == 0;
    }
    if (none) return sp__onnx_return(c, sp__full(c->b, 0, sp_tensor_dtype(c->in[0]), sp_tensor_rank(c->in[0]), dims));
    return sp__onnx_return(c, SP_ONNX_OP1(c, "tile", c->in[0], "dims=%s", sp__onnx_list(&text, by.n, by.v)));
}

/* --- parts and wholes -------------------------------------------------------------------------------------------- */

static sp_status concat(sp_onnx_call *c)
{
    return sp__onnx_return(c, sp__concat(c->b, sp__onnx_attr_int(c, "axis", 1), c->n_in, c->in));
}

static sp_status split(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints sizes;
    sp_onnx_text text;
    bool found = false;
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", 0), sp_tensor_rank(x), "axis", &axis));
    SP_TRY(sp__onnx_ints_of(c, "split", 1, &sizes, &found));
    if (!found) {
        int64_t n = sp__onnx_attr_int(c, "num_outputs", c->n_out), all = sp_tensor_dims(x)[axis];
        SP_CHECK(n > 0 && n <= 64, SP_VALUE, "%lld parts, there must be 1 to 64", (long long)n);
        int64_t part = (all + n - 1) / n;
        for (sizes.n = 0; sizes.n < n; sizes.n++) {
            sizes.v[sizes.n] = part < all ? part : all;
            all -= sizes.v[sizes.n];
        }
    }
    sp_tensor *parts[64] = {NULL};
    SP_TRY(sp__onnx_op_many(c, "split", 1, &x, 64, parts, "sizes=%s, axis=%d", sp__onnx_list(&text, sizes.n, sizes.v),
                            axis));
    for (int i = 0; i < c->n_out && i < 64; i++) c->out[i] = parts[i];
    return SP_OK;
}

static sp_status slice(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints from, to, axes, steps;
    bool found = false, has_axes = false, has_steps = false;
    int rank = sp_tensor_rank(x);
    int64_t start[SP_RANK_MAX], stop[SP_RANK_MAX], step[SP_RANK_MAX];
    sp_onnx_text t[3];
    SP_TRY(sp__onnx_ints_of(c, "starts", 1, &from, &found));
    SP_TRY(sp__onnx_ints_of(c, "ends", 2, &to, &found));
    SP_TRY(sp__onnx_ints_of(c, "axes", 3, &axes, &has_axes));
    SP_TRY(sp__onnx_ints_of(c, NULL, 4, &steps, &has_steps));
    SP_CHECK(from.n == to.n && (!has_axes || axes.n == from.n) && (!has_steps || steps.n == from.n), SP_VALUE,
             "starts, ends, axes and steps have different lengths");
    for (int i = 0; i < rank; i++) {
        start[i] = 0;
        stop[i] = sp_tensor_dims(x)[i];
        step[i] = 1;
    }
    for (int i = 0; i < from.n; i++) {
        int at = 0;
        SP_TRY(sp__shape_axis(has_axes ? axes.v[i] : i, rank, "axes", &at));
        int64_t n = sp_tensor_dims(x)[at];
        start[at] = from.v[i];
        stop[at] = to.v[i];
        step[at] = has_steps ? steps.v[i] : 1;
        if (step[at] >= 0) continue;
        if (start[at] < 0)
            start[at] = start[at] < -n ? -1 : start[at] + n; /* backwards our slices take -1 as before the first */
        if (stop[at] < 0) stop[at] = stop[at] < -n ? -1 : stop[at] + n;
    }
    return sp__onnx_return(c,
                           SP_ONNX_OP1(c, "slice", x, "start=%s, stop=%s, step=%s", sp__onnx_list(&t[0], rank, start),
                                       sp__onnx_list(&t[1], rank, stop), sp__onnx_list(&t[2], rank, step)));
}

/* --- gathering and scattering ------------------------------------------------------------------------------------ */

/* Negative indices count from the end. */
static sp_tensor *positive(sp_onnx_call *c, sp_tensor *index, int64_t n)
{
    index = sp_cast(c->b, index, SP_DTYPE_I64);
    if (index == NULL) return NULL;
    sp_tensor *zero = sp__onnx_scalar(c, SP_DTYPE_I64, 0), *all = sp__onnx_scalar(c, SP_DTYPE_I64, (double)n);
    return sp_select(c->b, sp_less(c->b, index, zero), sp_add(c->b, index, all), index);
}

static sp_status gather(sp_onnx_call *c)
{
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", 0), sp_tensor_rank(c->in[0]), "axis", &axis));
    sp_tensor *index = positive(c, c->in[1], sp_tensor_dims(c->in[0])[axis]);
    return sp__onnx_return(c, SP_ONNX_OP2(c, "gather", c->in[0], index, "axis=%d", axis));
}

static sp_status gather_elements(sp_onnx_call *c)
{
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", 0), sp_tensor_rank(c->in[0]), "axis", &axis));
    sp_tensor *index = positive(c, c->in[1], sp_tensor_dims(c->in[0])[axis]);
    return sp__onnx_return(c, SP_ONNX_OP2(c, "gather_elements", c->in[0], index, "dim=%d", axis));
}

/* Indices along the last axis made positive, each by its own dimension. */
static sp_tensor *positive_nd(sp_onnx_call *c, sp_tensor *x, sp_tensor *index, int skip)
{
    int64_t n = sp_tensor_dims(index)[sp_tensor_rank(index) - 1];
    sp_tensor *all = sp__onnx_tensor_ints(c, (int)n, sp_tensor_dims(x) + skip);
    index = sp_cast(c->b, index, SP_DTYPE_I64);
    if (index == NULL || all == NULL) return NULL;
    return sp_select(c->b, sp_less(c->b, index, sp__onnx_scalar(c, SP_DTYPE_I64, 0)), sp_add(c->b, index, all), index);
}

static sp_status check_nd(sp_tensor *x, sp_tensor *index, int64_t batch)
{
    int rank = sp_tensor_rank(index);
    SP_CHECK(rank > 0 && batch >= 0 && batch < rank && batch < sp_tensor_rank(x) &&
                 sp_tensor_dims(index)[rank - 1] + batch <= sp_tensor_rank(x),
             SP_VALUE, "indices do not fit the data");
    return SP_OK;
}

static sp_status gather_nd(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *index = c->in[1];
    int64_t batch = sp__onnx_attr_int(c, "batch_dims", 0);
    SP_TRY(check_nd(x, index, batch));
    index = positive_nd(c, x, index, (int)batch);
    SP_TRY(sp_builder_status(c->b));
    int rank = sp_tensor_rank(index);
    for (int k = (int)batch - 1; k >= 0; k--) { /* positions along the axes both have stand in front */
        int64_t dims[SP_RANK_MAX];
        for (int i = 0; i < rank; i++) dims[i] = i == rank - 1 ? 1 : sp_tensor_dims(index)[i];
        sp_tensor *at = sp__positions(c->b, rank, k, sp_tensor_dims(x)[k]);
        at = sp_broadcast_to(c->b, at, rank, dims);
        index = sp__concat(c->b, rank - 1, 2, (sp_tensor *[]){at, index});
        SP_TRY(sp_builder_status(c->b));
    }
    return sp__onnx_return(c, SP_ONNX_OP2(c, "gather_nd", x, index, NULL));
}

static const char *reduction(sp_onnx_call *c) { return sp__onnx_attr_text(c, "reduction", "none"); }

static sp_status scatter_elements(sp_onnx_call *c)
{
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", 0), sp_tensor_rank(c->in[0]), "axis", &axis));
    sp_tensor *index = positive(c, c->in[1], sp_tensor_dims(c->in[0])[axis]);
    return sp__onnx_return(c, sp__onnx_op(c, "scatter_elements", 3, (sp_tensor *[]){c->in[0], index, c->in[2]},
                                          "axis=%d, reduce=%s", axis, reduction(c)));
}

static sp_status scatter_nd(sp_onnx_call *c)
{
    SP_TRY(check_nd(c->in[0], c->in[1], 0));
    sp_tensor *index = positive_nd(c, c->in[0], c->in[1], 0);
    return sp__onnx_return(
        c, sp__onnx_op(c, "tensor_scatter", 3, (sp_tensor *[]){c->in[0], index, c->in[2]}, "reduce=%s", reduction(c)));
}

static sp_status one_hot(sp_onnx_call *c)
{
    double depth = 0;
    SP_TRY(sp__onnx_number(c->in[1], &depth));
    sp_tensor *values = c->in[2];
    sp_tensor *off = sp_reshape(c->b, sp__take_range(c->b, values, 0, 0, 1), 0, NULL);
    sp_tensor *on = sp_reshape(c->b, sp__take_range(c->b, values, 0, 1, 1), 0, NULL);
    sp_tensor *index = positive(c, c->in[0], (int64_t)depth);
    SP_TRY(sp_builder_status(c->b));
    int axis = 0, rank = sp_tensor_rank(index) + 1;
    int64_t dims[SP_RANK_MAX];
    SP_CHECK(rank <= SP_RANK_MAX, SP_VALUE, "%d dimensions, at most %d are possible", rank, SP_RANK_MAX);
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", -1), rank, "axis", &axis));
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? 1 : sp_tensor_dims(index)[i < axis ? i : i - 1];
    index = sp_reshape(c->b, index, rank, dims);
    return sp__onnx_return(
        c, sp_select(c->b, sp_equal(c->b, index, sp__positions(c->b, rank, axis, (int64_t)depth)), on, off));
}

static sp_status nonzero(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    SP_TRY(sp__tensor_need_value(x));
    if (sp_tensor_rank(x) == 0) x = sp_reshape(c->b, x, 1, (int64_t[]){1});
    return sp__onnx_return(
        c, sp_transpose(c->b, sp_cast(c->b, SP_ONNX_OP1(c, "nonzero", x, NULL), SP_DTYPE_I64), 2, (int64_t[]){1, 0}));
}

static sp_status compress(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *keep = c->in[1];
    SP_TRY(sp__tensor_need_value(keep));
    int axis = 0;
    if (sp__onnx_attr(c, "axis") == NULL) x = sp_reshape(c->b, x, 1, (int64_t[]){-1});
    else SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", 0), sp_tensor_rank(x), "axis", &axis));
    sp_tensor *at = SP_ONNX_OP1(c, "nonzero", keep, NULL);
    return sp__onnx_return(c, SP_ONNX_OP2(c, "gather", x, sp_reshape(c->b, at, 1, (int64_t[]){-1}), "axis=%d", axis));
}

/* --- making ------------------------------------------------------------------------------------------------------ */

static sp_status constant(sp_onnx_call *c)
{
    const sp_onnx_attr *a;
    sp_tensor *t = NULL;
    if (((a = sp__onnx_attr(c, "value")) != NULL || (a = sp__onnx_attr(c, "sparse_value")) != NULL) &&
        a->tensor != NULL) {
        t = sp_tensor_retain(a->tensor);
        c->out_type[0] = a->tensor_type;
    } else if ((a = sp__onnx_attr(c, "value_string")) != NULL || (a = sp__onnx_attr(c, "value_strings")) != NULL) {
        int rank = strcmp(a->name, "value_strings") == 0;
        SP_TRY(sp_tensor_create(SP_DTYPE_I64, rank, (int64_t[]){a->n}, &t));
        SP_TRY(sp__builder_keep(c->b, &t));
        for (int i = 0; i < (rank == 0 ? 1 : a->n); i++) {
            const char *text = rank == 0 ? a->s : a->strings[i];
            if (text != NULL)
                SP_TRY(sp__onnx_text_code(c->texts, text, strlen(text), (int64_t *)sp_tensor_data(t) + i));
        }
        c->out_type[0] = SP_ONNX_STRING;
        return sp__onnx_return(c, t);
    } else if ((a = sp__onnx_attr(c, "value_int")) != NULL) SP_TRY(sp_tensor_create_i64(SP_DTYPE_I64, a->i, &t));
    else if ((a = sp__onnx_attr(c, "value_float")) != NULL) SP_TRY(sp_tensor_create_f64(SP_DTYPE_F32, a->f, &t));
    else if ((a = sp__onnx_attr(c, "value_ints")) != NULL)
        SP_TRY(sp_tensor_create_from(SP_DTYPE_I64, 1, (int64_t[]){a->n}, a->ints, &t));
    else if ((a = sp__onnx_attr(c, "value_floats")) != NULL) {
        SP_TRY(sp_tensor_create(SP_DTYPE_F32, 1, (int64_t[]){a->n}, &t));
        for (int i = 0; i < a->n; i++) ((float *)sp_tensor_data(t))[i] = (float)a->floats[i];
    } else return sp__fail(SP_FORMAT, "a constant without a value");
    return sp__onnx_return(c, sp_builder_take_tensor(c->b, t));
}

static sp_status constant_of_shape(sp_onnx_call *c)
{
    sp_onnx_ints dims;
    const sp_onnx_attr *a = sp__onnx_attr(c, "value");
    SP_TRY(sp__onnx_ints(sp__onnx_in(c, 0), &dims));
    SP_CHECK(dims.n <= SP_RANK_MAX, SP_VALUE, "%d dimensions, at most %d are possible", dims.n, SP_RANK_MAX);
    if (a == NULL || a->tensor == NULL) return sp__onnx_return(c, sp__full(c->b, 0, SP_DTYPE_F32, dims.n, dims.v));
    c->out_type[0] = a->tensor_type;
    sp_tensor *one = sp_reshape(c->b, a->tensor, 0, NULL);
    if (sp__onnx_keeps_sizes(c->in[0]) && one != NULL) {
        SP_TRY(sp__constant_symbol(one, &one));
        one = sp_builder_take_tensor(c->b, one);
    }
    return sp__onnx_return(c, sp_broadcast_to(c->b, one, dims.n, dims.v));
}

static sp_status range(sp_onnx_call *c)
{
    double from = 0, to = 0, by = 0;
    SP_TRY(sp__onnx_number(c->in[0], &from));
    SP_TRY(sp__onnx_number(c->in[1], &to));
    SP_TRY(sp__onnx_number(c->in[2], &by));
    SP_CHECK(by != 0, SP_VALUE, "a step of 0");
    double n = ceil((to - from) / by);
    SP_CHECK(n < 1e12, SP_VALUE, "a range of %g numbers", n);
    sp_dtype dtype = sp_tensor_dtype(c->in[0]);
    sp_tensor *at = sp__positions(c->b, 1, 0, n > 0 ? (int64_t)n : 0);
    at = sp_add(c->b, sp_mul(c->b, sp_cast(c->b, at, dtype), c->in[2]), c->in[0]);
    return sp__onnx_return(c, at);
}

/* A diagonal farther out holds nothing, like the first one outside; which can be added to a row. */
static int64_t diagonal_within(const int64_t dims[2], int64_t k)
{
    return k > dims[1] ? dims[1] : k < -dims[0] ? -dims[0] : k;
}

static sp_status eye_like(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    SP_CHECK(sp_tensor_rank(x) == 2, SP_VALUE, "rank %d, it must be 2", sp_tensor_rank(x));
    const sp_onnx_attr *a = sp__onnx_attr(c, "dtype");
    sp_dtype dtype = a != NULL ? sp__onnx_dtype((uint64_t)a->i) : sp_tensor_dtype(x);
    int64_t k = diagonal_within(sp_tensor_dims(x), sp__onnx_attr_int(c, "k", 0));
    sp_tensor *row = sp__positions(c->b, 2, 0, sp_tensor_dims(x)[0]),
              *column = sp__positions(c->b, 2, 1, sp_tensor_dims(x)[1]);
    sp_tensor *on = sp_equal(c->b, sp_add(c->b, row, sp__onnx_scalar(c, SP_DTYPE_I64, (double)k)), column);
    return sp__onnx_return(c, sp_cast(c->b, on, dtype));
}

static sp_status triangle(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    sp_onnx_ints k = {.n = 0};
    if (sp__onnx_in(c, 1) != NULL) SP_TRY(sp__onnx_ints(c->in[1], &k));
    int rank = sp_tensor_rank(x);
    SP_CHECK(rank >= 2, SP_VALUE, "rank %d, it must be 2 or more", rank);
    sp_tensor *row = sp__positions(c->b, rank, rank - 2, sp_tensor_dims(x)[rank - 2]);
    sp_tensor *column = sp__positions(c->b, rank, rank - 1, sp_tensor_dims(x)[rank - 1]);
    int64_t diagonal = diagonal_within(sp_tensor_dims(x) + rank - 2, k.n > 0 ? k.v[0] : 0);
    row = sp_add(c->b, row, sp__onnx_scalar(c, SP_DTYPE_I64, (double)diagonal));
    sp_tensor *keep =
        sp__onnx_attr_int(c, "upper", 1) ? sp_greater_equal(c->b, column, row) : sp_less_equal(c->b, column, row);
    return sp__onnx_return(c, sp_select(c->b, keep, x, sp__zeros_like(c->b, x)));
}

/* --- padding ----------------------------------------------------------------------------------------------------- */

#define PAD_MAX (INT64_MAX / 8) /* a size and two of them can be added */

/* Which elements of an axis stand in the padded one, for modes that repeat. */
static int64_t source_of(const char *mode, int64_t i, int64_t n)
{
    if (strcmp(mode, "edge") == 0) return i < 0 ? 0 : i >= n ? n - 1 : i;
    if (strcmp(mode, "wrap") == 0) return ((i % n) + n) % n;
    if (n == 1) return 0;
    int64_t period = 2 * (n - 1), at = ((i % period) + period) % period;
    return at < n ? at : period - at;
}

/* `count` elements of axis k from `from` on. */
static sp_tensor *part(sp_onnx_call *c, sp_tensor *x, int k, int64_t from, int64_t count)
{
    return sp__take_range(c->b, x, k, from, count);
}

static sp_tensor *backwards(sp_onnx_call *c, sp_tensor *x, int k)
{
    int64_t start[SP_RANK_MAX], stop[SP_RANK_MAX], step[SP_RANK_MAX];
    sp_onnx_text t[3];
    if (x == NULL) return NULL;
    const int rank = sp_tensor_rank(x);
    for (int i = 0; i < rank; i++) {
        start[i] = i == k ? sp_tensor_dims(x)[i] - 1 : 0;
        stop[i] = i == k ? -1 : sp_tensor_dims(x)[i];
        step[i] = i == k ? -1 : 1;
    }
    return SP_ONNX_OP1(c, "slice", x, "start=%s, stop=%s, step=%s", sp__onnx_list(&t[0], rank, start),
                       sp__onnx_list(&t[1], rank, stop), sp__onnx_list(&t[2], rank, step));
}

static sp_tensor *repeated(sp_onnx_call *c, sp_tensor *row, int k, int64_t count)
{
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; row != NULL && i < sp_tensor_rank(row); i++) dims[i] = i == k ? count : sp_tensor_dims(row)[i];
    return row != NULL ? sp_broadcast_to(c->b, row, sp_tensor_rank(row), dims) : NULL;
}

/* The same out of slices, whose places follow from the size of the axis, as far as each side is no longer than the axis. */
static sp_tensor *pad_with_slices(sp_onnx_call *c, const char *mode, sp_tensor *x, int k, int64_t before, int64_t after)
{
    const int64_t n = sp_tensor_dims(x)[k], cut = before < 0 ? -before : 0;
    sp_tensor *parts[3];
    int n_parts = 0;
    const bool edge = strcmp(mode, "edge") == 0, wrap = strcmp(mode, "wrap") == 0;
    if (before > 0)
        parts[n_parts++] = edge   ? repeated(c, part(c, x, k, 0, 1), k, before)
                           : wrap ? part(c, x, k, n - before, before)
                                  : backwards(c, part(c, x, k, 1, before), k);
    parts[n_parts++] = before < 0 || after < 0 ? part(c, x, k, cut, n - cut - (after < 0 ? -after : 0)) : x;
    if (after > 0)
        parts[n_parts++] = edge   ? repeated(c, part(c, x, k, n - 1, 1), k, after)
                           : wrap ? part(c, x, k, 0, after)
                                  : backwards(c, part(c, x, k, n - 1 - after, after), k);
    return n_parts > 1 ? sp__concat(c->b, k, n_parts, parts) : parts[0];
}

static sp_status pad_repeating(sp_onnx_call *c, const char *mode, const int64_t *before, const int64_t *after)
{
    sp_tensor *x = c->in[0];
    for (int k = 0; k < sp_tensor_rank(c->in[0]); k++) {
        if (before[k] == 0 && after[k] == 0) continue;
        int64_t n = sp_tensor_dims(c->in[0])[k], all = n + before[k] + after[k];
        SP_CHECK(n > 0 && all >= 0 && all < INT32_MAX, SP_VALUE, "axis %d of %lld elements cannot be padded", k,
                 (long long)n);
        const int64_t most = strcmp(mode, "edge") == 0 ? INT64_MAX : strcmp(mode, "wrap") == 0 ? n : n - 1;
        SP_CHECK(strcmp(mode, "reflect") != 0 || (before[k] <= most && after[k] <= most), SP_VALUE,
                 "axis %d of %lld elements is reflected by %lld and %lld, which must be at most %lld", k, (long long)n,
                 (long long)before[k], (long long)after[k], (long long)most);
        if (sp__onnx_keeps_sizes(x) && before[k] <= most && after[k] <= most) {
            x = pad_with_slices(c, mode, x, k, before[k], after[k]);
            SP_TRY(sp_builder_status(c->b));
            continue;
        }
        sp_tensor *at = NULL;
        SP_TRY(sp_tensor_create(SP_DTYPE_I64, 1, &all, &at));
        for (int64_t i = 0; i < all; i++) ((int64_t *)sp_tensor_data(at))[i] = source_of(mode, i - before[k], n);
        x = SP_ONNX_OP2(c, "gather", x, sp_builder_take_tensor(c->b, at), "axis=%d", k);
    }
    return sp__onnx_return(c, x == c->in[0] ? sp_identity(c->b, x) : x);
}

static sp_status pad(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *fill = sp__onnx_in(c, 2);
    sp_onnx_ints pads, axes;
    bool found = false, has_axes = false;
    int rank = sp_tensor_rank(x);
    int64_t before[SP_RANK_MAX] = {0}, after[SP_RANK_MAX] = {0};
    const char *mode = sp__onnx_attr_text(c, "mode", "constant");
    SP_TRY(sp__onnx_ints_of(c, sp__onnx_attr(c, "paddings") != NULL ? "paddings" : "pads", 1, &pads, &found));
    SP_TRY(sp__onnx_ints_of(c, NULL, 3, &axes, &has_axes));
    int n = has_axes ? axes.n : rank;
    SP_CHECK(pads.n == 2 * n, SP_VALUE, "%d pads for %d axes, there must be two for each", pads.n, n);
    for (int i = 0; i < n; i++) {
        int at = 0;
        SP_TRY(sp__shape_axis(has_axes ? axes.v[i] : i, rank, "axes", &at));
        before[at] = pads.v[i];
        after[at] = pads.v[n + i];
        SP_CHECK(before[at] >= -PAD_MAX && before[at] <= PAD_MAX && after[at] >= -PAD_MAX && after[at] <= PAD_MAX,
                 SP_VALUE, "padding axis %d by %lld and %lld, %lld is the most", at, (long long)before[at],
                 (long long)after[at], (long long)PAD_MAX);
    }
    int64_t start[SP_RANK_MAX], stop[SP_RANK_MAX];
    sp_onnx_text t[2];
    for (int i = 0; i < rank; i++) { /* negative pads cut first */
        start[i] = before[i] < 0 ? -before[i] : 0;
        stop[i] = sp_tensor_dims(x)[i] + (after[i] < 0 ? after[i] : 0);
        SP_CHECK(start[i] <= stop[i], SP_VALUE, "axis %d of %lld elements cannot be cut so far", i,
                 (long long)sp_tensor_dims(x)[i]);
    }
    if (strcmp(mode, "constant") != 0) return pad_repeating(c, mode, before, after);
    bool cut = false;
    int64_t around[2 * SP_RANK_MAX];
    for (int i = 0; i < rank; i++) {
        cut = cut || start[i] != 0 || stop[i] != sp_tensor_dims(x)[i];
        around[2 * i] = before[i] > 0 ? before[i] : 0;
        around[2 * i + 1] = after[i] > 0 ? after[i] : 0;
    }
    if (cut)
        x = SP_ONNX_OP1(c, "slice", x, "start=%s, stop=%s", sp__onnx_list(&t[0], rank, start),
                        sp__onnx_list(&t[1], rank, stop));
    sp_dtype dtype = sp_tensor_dtype(c->in[0]);
    double number = sp__onnx_attr_float(c, "value", 0);
    bool known =
        sp_dtype_kind(dtype) == 'f' && sp_dtype_bytes(dtype) <= 4 && (fill == NULL || !sp_tensor_is_symbol(fill));
    if (known && fill != NULL) SP_TRY(sp__onnx_number(fill, &number));
    if (known)
        return sp__onnx_return(
            c, SP_ONNX_OP1(c, "pad", x, "pads=%s, value=%.17g", sp__onnx_list(&t[0], 2 * rank, around), number));
    if (fill == NULL) fill = sp__onnx_scalar(c, dtype, sp__onnx_attr_float(c, "value", 0));
    else fill = sp_reshape(c->b, fill, 0, NULL);
    for (int i = 0; i < rank && x != NULL; i++) {
        sp_tensor *parts[3];
        int k = 0;
        int64_t dims[SP_RANK_MAX];
        for (int d = 0; d < rank; d++) dims[d] = sp_tensor_dims(x)[d];
        dims[i] = before[i];
        if (before[i] > 0) parts[k++] = sp_broadcast_to(c->b, fill, rank, dims);
        parts[k++] = x;
        dims[i] = after[i];
        if (after[i] > 0) parts[k++] = sp_broadcast_to(c->b, fill, rank, dims);
        if (k > 1) x = sp__concat(c->b, i, k, parts);
    }
    return sp__onnx_return(c, x);
}

/* --- other ------------------------------------------------------------------------------------------------------- */

static sp_status identity(sp_onnx_call *c)
{
    if (c->value_in[0] == NULL) return SP_OK;
    c->value_out[0] = sp__onnx_value_retain(c->value_in[0]);
    return SP_OK;
}

static sp_status depth_to_space(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    const int64_t *d = sp_tensor_dims(x);
    int64_t k = sp__onnx_attr_int(c, "blocksize", 1);
    SP_CHECK(sp_tensor_rank(x) == 4 && k > 0 && k <= INT32_MAX && d[1] % (k * k) == 0, SP_VALUE,
             "%lld channels cannot be divided by %lld squared", (long long)d[1], (long long)k);
    bool crd = strcmp(sp__onnx_attr_text(c, "mode", "DCR"), "CRD") == 0;
    int64_t dcr_dims[] = {d[0], k, k, d[1] / (k * k), d[2], d[3]},
            crd_dims[] = {d[0], d[1] / (k * k), k, k, d[2], d[3]};
    sp_tensor *y = sp_reshape(c->b, x, 6, crd ? crd_dims : dcr_dims);
    y = crd ? sp_transpose(c->b, y, 6, (int64_t[]){0, 1, 4, 2, 5, 3})
            : sp_transpose(c->b, y, 6, (int64_t[]){0, 3, 4, 1, 5, 2});
    return sp__onnx_return(c, sp_reshape(c->b, y, 4, (int64_t[]){d[0], d[1] / (k * k), d[2] * k, d[3] * k}));
}

static sp_status space_to_depth(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    const int64_t *d = sp_tensor_dims(x);
    int64_t k = sp__onnx_attr_int(c, "blocksize", 1);
    SP_CHECK(sp_tensor_rank(x) == 4 && k > 0 && k <= INT32_MAX && d[2] % k == 0 && d[3] % k == 0, SP_VALUE,
             "height and width cannot be divided by %lld", (long long)k);
    sp_tensor *y = sp_reshape(c->b, x, 6, (int64_t[]){d[0], d[1], d[2] / k, k, d[3] / k, k});
    bool crd = strcmp(sp__onnx_attr_text(c, "mode", "DCR"), "CRD") == 0;
    y = crd ? sp_transpose(c->b, y, 6, (int64_t[]){0, 1, 3, 5, 2, 4})
            : sp_transpose(c->b, y, 6, (int64_t[]){0, 3, 5, 1, 2, 4});
    return sp__onnx_return(c, sp_reshape(c->b, y, 4, (int64_t[]){d[0], d[1] * k * k, d[2] / k, d[3] / k}));
}

static sp_status topk(sp_onnx_call *c)
{
    sp_onnx_ints k = {1, {sp__onnx_attr_int(c, "k", 0)}};
    if (c->opset >= 10) SP_TRY(sp__onnx_ints(sp__onnx_in(c, 1), &k));
    SP_CHECK(k.n == 1, SP_VALUE, "K must be one number");
    int axis = 0, n_out = c->n_out < 2 ? c->n_out : 2;
    sp_tensor *both[2];
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", -1), sp_tensor_rank(c->in[0]), "axis", &axis));
    SP_TRY(sp__onnx_op_many(c, "topk", 1, c->in, 2, both, "k=%lld, axis=%d, largest=%s, sorted=True", (long long)k.v[0],
                            axis, sp__onnx_attr_int(c, "largest", 1) ? "True" : "False"));
    for (int i = 0; i < n_out; i++) c->out[i] = both[i];
    return SP_OK;
}

const sp_onnx_handler sp__onnx_shape[] = {
    {"Shape", 1, shape, NULL, SP_ONNX_TYPED},
    {"Size", 1, size, NULL, SP_ONNX_TYPED},
    {"Reshape", 1, reshape, NULL, SP_ONNX_KEEPS},
    {"Flatten", 1, flatten, NULL, SP_ONNX_KEEPS},
    {"Squeeze", 1, squeeze, NULL, SP_ONNX_KEEPS},
    {"Unsqueeze", 1, unsqueeze, NULL, SP_ONNX_KEEPS},
    {"Transpose", 1, transpose, NULL, SP_ONNX_KEEPS},
    {"Expand", 8, expand, NULL, SP_ONNX_KEEPS},
    {"Tile", 1, tile, NULL, SP_ONNX_KEEPS},
    {"Concat", 1, concat, NULL, SP_ONNX_KEEPS},
    {"Split", 1, split, NULL, SP_ONNX_KEEPS_ALL},
    {"Slice", 1, slice, NULL, SP_ONNX_KEEPS},
    {"Gather", 1, gather, NULL, SP_ONNX_KEEPS},
    {"GatherElements", 11, gather_elements, NULL, SP_ONNX_KEEPS},
    {"GatherND", 11, gather_nd, NULL, SP_ONNX_KEEPS},
    {"ScatterElements", 11, scatter_elements, NULL, SP_ONNX_KEEPS},
    {"Scatter", 9, scatter_elements, NULL, SP_ONNX_KEEPS},
    {"ScatterND", 11, scatter_nd, NULL, SP_ONNX_KEEPS},
    {"OneHot", 9, one_hot, NULL, 0},
    {"NonZero", 9, nonzero, NULL, 0},
    {"Compress", 9, compress, NULL, SP_ONNX_KEEPS},
    {"Constant", 1, constant, NULL, SP_ONNX_TYPED},
    {"ConstantOfShape", 9, constant_of_shape, NULL, SP_ONNX_TYPED},
    {"Range", 11, range, NULL, 0},
    {"EyeLike", 9, eye_like, NULL, 0},
    {"Trilu", 14, triangle, NULL, SP_ONNX_KEEPS},
    {"Pad", 1, pad, NULL, SP_ONNX_KEEPS},
    {"Identity", 1, identity, NULL, SP_ONNX_VALUES},
    {"DepthToSpace", 1, depth_to_space, NULL, SP_ONNX_KEEPS},
    {"SpaceToDepth", 1, space_to_depth, NULL, SP_ONNX_KEEPS},
    {"TopK", 1, topk, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
