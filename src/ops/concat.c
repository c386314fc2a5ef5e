/* SPDX-License-Identifier: Apache-2.0 */
/* concat.c - joining tensors along an axis and cutting them apart. Pieces of a split are views. */
#include "ops/kernels.h"

SP_ATTR_TABLE(axis_attr_table, sp_concat_attrs, (INT, axis, 0));

/* --- concat ------------------------------------------------------------------------------------------------------ */

static sp_status concat_infer(const sp_call *c, sp_meta *out)
{
    char a[SP_SHAPE_TEXT], t[SP_SHAPE_TEXT];
    SP_CHECK(c->n_in > 0, SP_VALUE, "there is nothing to join, at least one tensor is needed");
    const sp_tensor *x = c->in[0];
    SP_CHECK(x->rank > 0, SP_VALUE, "tensors without dimensions cannot be joined");
    int axis;
    SP_TRY(sp__shape_axis(((const sp_concat_attrs *)c->attrs)->axis, x->rank, "axis", &axis));
    sp__meta_of(x, out);
    for (int i = 1; i < c->n_in; i++) {
        const sp_tensor *y = c->in[i];
        bool fits = y->rank == x->rank;
        for (int k = 0; fits && k < x->rank; k++) fits = k == axis || y->dims[k] == x->dims[k];
        SP_CHECK(fits, SP_VALUE, "tensor %d of shape %s cannot be joined along axis %d to one of shape %s", i,
                 sp__shape_text(y->rank, y->dims, t), axis, sp__shape_text(x->rank, x->dims, a));
        out->dims[axis] += y->dims[axis];
    }
    return SP_OK;
}

/* What input i covers of `whole` along axis, starting at `from`. */
static sp_tensor piece(const sp_tensor *whole, int axis, int64_t from, int64_t n)
{
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < whole->rank; i++) dims[i] = i == axis ? n : whole->dims[i];
    const int64_t skip = from * whole->strides[axis] * (int64_t)sp_dtype_bytes((sp_dtype)whole->dtype);
    return sp__tensor_window(whole, whole->rank, dims, whole->strides, whole->data + skip);
}

static sp_status concat_reference(const sp_call *c)
{
    int axis;
    int64_t from = 0;
    SP_TRY(sp__shape_axis(((const sp_concat_attrs *)c->attrs)->axis, c->in[0]->rank, "axis", &axis));
    for (int i = 0; i < c->n_in; i++) {
        sp_tensor to = piece(c->out[0], axis, from, c->in[i]->dims[axis]);
        SP_TRY(sp_tensor_assign(&to, c->in[i]));
        from += c->in[i]->dims[axis];
    }
    return SP_OK;
}

static sp_status concat_vjp(sp_builder *b, const sp_vjp *v)
{
    int axis;
    int64_t from = 0;
    SP_TRY(sp__shape_axis(((const sp_concat_attrs *)v->attrs)->axis, v->in[0]->rank, "axis", &axis));
    for (int i = 0; i < v->n_in; i++) {
        if (v->needs[i]) v->din[i] = sp__take_range(b, v->dout[0], axis, from, v->in[i]->dims[axis]);
        from += v->in[i]->dims[axis];
    }
    return SP_OK;
}

const sp_op sp_op_concat = {
    .batch = sp__batch_axis,
    .name = "concat",
    .shard = "same; axis whole",
    .inputs = "tensors...",
    SP_ATTRS(axis_attr_table, sp_concat_attrs),
    .promote = SP_PROMOTE_ALL,
    .infer = concat_infer,
    .reference = concat_reference,
    .strided = true,
    .vjp = concat_vjp,
    .mindir = "Concat",
    .onnx = "Concat",
    .doc = "Tensors joined along an axis they have already; the other dimensions must agree.",
    .samples = "[2,3] [2,3]; [2,3] [2,1] [2,2] axis=1; [3] [2] axis=-1; [2,0] [2,2] axis=1",
};

/* --- stack ------------------------------------------------------------------------------------------------------- */

static sp_status stack_compose(sp_builder *b, const sp_call *c)
{
    char a[SP_SHAPE_TEXT], t[SP_SHAPE_TEXT];
    SP_CHECK(c->n_in > 0, SP_VALUE, "there is nothing to stack, at least one tensor is needed");
    const sp_tensor *x = c->in[0];
    int axis;
    SP_CHECK(x->rank < SP_RANK_MAX, SP_VALUE, "the result would have %d dimensions, at most %d are possible",
             x->rank + 1, SP_RANK_MAX);
    SP_TRY(sp__shape_axis(((const sp_concat_attrs *)c->attrs)->axis, x->rank + 1, "axis", &axis));
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i <= x->rank; i++) dims[i] = i < axis ? x->dims[i] : i == axis ? 1 : x->dims[i - 1];
    sp_tensor **in = sp__alloc((size_t)c->n_in * sizeof *in);
    if (!in) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int i = 0; i < c->n_in && status == SP_OK; i++) {
        if (!sp__tensor_same_shape(c->in[i], x))
            status =
                sp__fail(SP_VALUE, "tensor %d has shape %s, but tensor 0 has %s; stacked tensors must have one shape",
                         i, sp__shape_text(c->in[i]->rank, c->in[i]->dims, t), sp__shape_text(x->rank, x->dims, a));
        else in[i] = sp_reshape(b, c->in[i], x->rank + 1, dims);
    }
    const sp_concat_attrs attrs = {axis};
    if (status == SP_OK && sp__builder_status(b) == SP_OK)
        c->out[0] = sp_builder_apply(b, &sp_op_concat, &attrs, c->n_in, in);
    sp__free(in);
    return status;
}

const sp_op sp_op_stack = {
    .name = "stack",
    .inputs = "tensors...",
    SP_ATTRS(axis_attr_table, sp_concat_attrs),
    .promote = SP_PROMOTE_ALL,
    .compose = stack_compose,
    .mindir = "Stack",
    .doc = "Tensors of one shape joined along a new axis.",
    .samples = "[2,3] [2,3]; [3] [3] [3] axis=1; [] [] axis=-1",
};

/* --- split ------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(split_attr_table, sp_split_attrs, (INTS_NEEDED, sizes), (INT, axis, 0));

static int split_count(const sp_call *c) { return ((const sp_split_attrs *)c->attrs)->sizes.n; }

static sp_status split_axis(const sp_tensor *x, const sp_split_attrs *a, int *axis)
{
    SP_CHECK(x->rank > 0, SP_VALUE, "a tensor without dimensions cannot be split");
    SP_TRY(sp__shape_axis(a->axis, x->rank, "axis", axis));
    int64_t sum = 0;
    for (int i = 0; i < a->sizes.n; i++) {
        SP_CHECK(a->sizes.v[i] >= 0, SP_VALUE, "size %d of the pieces is %lld, it must not be negative", i,
                 (long long)a->sizes.v[i]);
        sum += a->sizes.v[i];
    }
    SP_CHECK(sum == x->dims[*axis], SP_VALUE,
             "the pieces have %lld elements along axis %d together, but the tensor has %lld", (long long)sum, *axis,
             (long long)x->dims[*axis]);
    return SP_OK;
}

static sp_status split_infer(const sp_call *c, sp_meta *out)
{
    const sp_split_attrs *a = c->attrs;
    int axis;
    SP_TRY(split_axis(c->in[0], a, &axis));
    for (int i = 0; i < a->sizes.n; i++) {
        sp__meta_of(c->in[0], &out[i]);
        out[i].dims[axis] = a->sizes.v[i];
    }
    return SP_OK;
}

static sp_status split_view(const sp_call *c)
{
    const sp_split_attrs *a = c->attrs;
    int axis;
    int64_t from = 0;
    SP_TRY(split_axis(c->in[0], a, &axis));
    for (int i = 0; i < a->sizes.n; i++) {
        const sp_tensor part = piece(c->in[0], axis, from, a->sizes.v[i]);
        SP_TRY(sp__tensor_alias(&part, &c->out[i]));
        c->out[i]->flags |= SP_TENSOR_VIEW;
        from += a->sizes.v[i];
    }
    return SP_OK;
}

static sp_status split_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_split_attrs *a = v->attrs;
    sp_tensor **parts = sp__alloc((size_t)v->n_out * sizeof *parts);
    if (!parts) return SP_NOMEM;
    sp_dtype dtype = (sp_dtype)v->in[0]->dtype;
    for (int i = 0; i < v->n_out; i++)
        parts[i] = v->dout[i] ? v->dout[i] : sp__full(b, 0, dtype, v->out[i]->rank, v->out[i]->dims);
    const sp_concat_attrs attrs = {a->axis};
    if (sp__builder_status(b) == SP_OK) v->din[0] = sp_builder_apply(b, &sp_op_concat, &attrs, v->n_out, parts);
    sp__free(parts);
    return SP_OK;
}

const sp_op sp_op_split = {
    .batch = sp__batch_axis,
    .name = "split",
    .shard = "same; axis whole",
    .inputs = "x",
    .n_out = -1,
    .count = split_count,
    SP_ATTRS(split_attr_table, sp_split_attrs),
    .infer = split_infer,
    .view = split_view,
    .vjp = split_vjp,
    .mindir = "SplitV",
    .onnx = "Split",
    .doc = "The tensor cut along an axis into pieces of the given sizes, as views.",
    .samples = "[4,3] sizes=(1,3); [4,3] sizes=(1,1,1) axis=-1; [5] sizes=(5,)",
};

/* --- unstack ----------------------------------------------------------------------------------------------------- */

static int unstack_count(const sp_call *c)
{
    int axis;
    const int64_t given = ((const sp_concat_attrs *)c->attrs)->axis;
    if (c->in[0]->rank == 0 || sp__shape_axis(given, c->in[0]->rank, "axis", &axis) != SP_OK) return -1;
    return (int)c->in[0]->dims[axis];
}

static sp_status unstack_infer(const sp_call *c, sp_meta *out)
{
    int axis;
    const sp_tensor *x = c->in[0];
    SP_TRY(sp__shape_axis(((const sp_concat_attrs *)c->attrs)->axis, x->rank, "axis", &axis));
    for (int k = 0; k < c->n_out; k++) {
        out[k].dtype = (sp_dtype)x->dtype;
        out[k].rank = x->rank - 1;
        for (int i = 0; i < x->rank - 1; i++) out[k].dims[i] = x->dims[i < axis ? i : i + 1];
    }
    return SP_OK;
}

static sp_status unstack_view(const sp_call *c)
{
    int axis;
    const sp_tensor *x = c->in[0];
    SP_TRY(sp__shape_axis(((const sp_concat_attrs *)c->attrs)->axis, x->rank, "axis", &axis));
    int64_t dims[SP_RANK_MAX], strides[SP_RANK_MAX];
    for (int i = 0; i < x->rank - 1; i++) {
        dims[i] = x->dims[i < axis ? i : i + 1];
        strides[i] = x->strides[i < axis ? i : i + 1];
    }
    const int64_t step = x->strides[axis] * (int64_t)sp_dtype_bytes((sp_dtype)x->dtype);
    for (int k = 0; k < c->n_out; k++) {
        SP_TRY(sp__tensor_handle((sp_dtype)x->dtype, x->rank - 1, dims, strides, x->storage, x->data + k * step,
                                 &c->out[k]));
        c->out[k]->flags |= SP_TENSOR_VIEW;
    }
    return SP_OK;
}

static sp_status unstack_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_dtype dtype = (sp_dtype)v->in[0]->dtype;
    sp_tensor **parts = sp__alloc((size_t)v->n_out * sizeof *parts);
    if (!parts) return SP_NOMEM;
    for (int i = 0; i < v->n_out; i++)
        parts[i] = v->dout[i] ? v->dout[i] : sp__full(b, 0, dtype, v->out[i]->rank, v->out[i]->dims);
    if (sp__builder_status(b) == SP_OK) v->din[0] = sp_builder_apply(b, &sp_op_stack, v->attrs, v->n_out, parts);
    sp__free(parts);
    return SP_OK;
}

const sp_op sp_op_unstack = {
    .batch = sp__batch_axis,
    .name = "unstack",
    .shard = "fold; axis whole",
    .inputs = "input_x",
    .n_out = -1,
    .count = unstack_count,
    SP_ATTRS(axis_attr_table, sp_concat_attrs),
    .infer = unstack_infer,
    .view = unstack_view,
    .vjp = unstack_vjp,
    .mindir = "Unstack",
    .doc = "The slices along an axis, each without it, as views.",
    .samples = "[2,3]; [2,3] axis=-1; [3,2,2] axis=1",
};
