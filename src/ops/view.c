/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - operators that only look at memory differently: reshape, transpose, broadcast_to. No copies unless the
 * strides cannot express the result. */
#include "ops/kernels.h"

/* Row-major copy of in[0] into out[0], which has the same elements in the same order. */
static sp_status copy_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    int64_t strides[SP_RANK_MAX];
    sp__shape_strides(x->rank, x->dims, strides);
    sp_tensor o = sp__tensor_window(c->out[0], x->rank, x->dims, strides, c->out[0]->data);
    return sp_tensor_assign(&o, x);
}

static sp_status make_view(const sp_call *c, int rank, const int64_t *dims, const int64_t *strides, int64_t offset)
{
    const sp_tensor *x = c->in[0];
    SP_TRY(sp__tensor_handle((sp_dtype)x->dtype, rank, dims, strides, x->storage,
                             x->data + offset * (int64_t)sp_dtype_bytes((sp_dtype)x->dtype), &c->out[0]));
    c->out[0]->flags |= SP_TENSOR_VIEW;
    return SP_OK;
}

/* --- reshape ----------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(shape_attr_table, sp_shape_attrs, (INTS_NEEDED, shape));

static sp_status reshape_infer(const sp_call *c, sp_meta *out)
{
    const sp_ints shape = ((const sp_shape_attrs *)c->attrs)->shape;
    const sp_tensor *x = c->in[0];
    char from[SP_SHAPE_TEXT], to[SP_SHAPE_TEXT];
    SP_CHECK(shape.n >= 0 && shape.n <= SP_RANK_MAX, SP_VALUE,
             "the new shape has %d dimensions, at most %d are possible", shape.n, SP_RANK_MAX);
    int free_axis = -1;
    int64_t known = 1;
    for (int i = 0; i < shape.n; i++) {
        SP_CHECK(shape.v[i] >= -1, SP_VALUE, "dimension %d of the new shape is %lld, it must be positive, 0 or -1", i,
                 (long long)shape.v[i]);
        SP_CHECK(shape.v[i] != -1 || free_axis < 0, SP_VALUE, "the new shape %s has more than one -1",
                 sp__shape_text(shape.n, shape.v, to));
        if (shape.v[i] == -1) free_axis = i;
        else
            SP_CHECK(sp__mul_i64(known, shape.v[i], &known), SP_VALUE, "the new shape %s has too many elements",
                     sp__shape_text(shape.n, shape.v, to));
    }
    bool fits = free_axis < 0 ? known == x->count : known != 0 && x->count % known == 0;
    SP_CHECK(fits, SP_VALUE, "a tensor of shape %s (%lld elements) cannot get the shape %s",
             sp__shape_text(x->rank, x->dims, from), (long long)x->count, sp__shape_text(shape.n, shape.v, to));
    out->dtype = (sp_dtype)x->dtype;
    out->rank = shape.n;
    for (int i = 0; i < shape.n; i++) out->dims[i] = i == free_axis ? x->count / known : shape.v[i];
    return SP_OK;
}

static sp_status reshape_view(const sp_call *c)
{
    sp_meta m;
    SP_TRY(reshape_infer(c, &m));
    int64_t strides[SP_RANK_MAX];
    if (!sp__shape_reshape_strides(c->in[0]->rank, c->in[0]->dims, c->in[0]->strides, m.rank, m.dims, strides))
        return SP_DECLINED;
    return make_view(c, m.rank, m.dims, strides, 0);
}

static sp_status reshape_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_reshape(b, v->dout[0], v->in[0]->rank, v->in[0]->dims);
    return SP_OK;
}

const sp_op sp_op_reshape = {
    .batch = sp__batch_reshape,
    .name = "reshape",
    .shard = "reshape; sizes shape",
    .inputs = "x",
    SP_ATTRS(shape_attr_table, sp_shape_attrs),
    .infer = reshape_infer,
    .view = reshape_view,
    .reference = copy_reference,
    .strided = true,
    .vjp = reshape_vjp,
    .mindir = "Reshape",
    .onnx = "Reshape",
    .python = "ops.reshape(input, shape); ops.Reshape()(input_x, input_shape:shape); Tensor.reshape(*shape); "
              "Tensor.view(*shape); mint.reshape(input, shape)",
    .doc = "The same elements in the same order under another shape; one dimension may be -1.",
    .samples = "[2,3] shape=(3,2); [2,3] shape=(-1,); [] shape=(1,1); [4,1,3] shape=(2,6)",
};

/* --- transpose --------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(transpose_attr_table, sp_transpose_attrs, (INTS_OR_NONE, perm));

/* perm as axes in [0, rank), checked; none given: reversed. */
static sp_status transpose_axes(const sp_tensor *x, sp_ints perm, int *axes)
{
    char text[SP_SHAPE_TEXT];
    if (perm.n < 0) {
        for (int i = 0; i < x->rank; i++) axes[i] = x->rank - 1 - i;
        return SP_OK;
    }
    SP_CHECK(perm.n == x->rank, SP_VALUE, "the permutation %s has %d axes, but the tensor has rank %d",
             sp__shape_text(perm.n < SP_RANK_MAX ? perm.n : SP_RANK_MAX, perm.v, text), perm.n, x->rank);
    uint32_t seen = 0;
    for (int i = 0; i < perm.n; i++) {
        SP_TRY(sp__shape_axis(perm.v[i], x->rank, "axis", &axes[i]));
        SP_CHECK(!(seen >> axes[i] & 1), SP_VALUE, "axis %d stands twice in the permutation %s", axes[i],
                 sp__shape_text(perm.n, perm.v, text));
        seen |= 1u << axes[i];
    }
    return SP_OK;
}

static sp_status transpose_infer(const sp_call *c, sp_meta *out)
{
    int axes[SP_RANK_MAX];
    const sp_tensor *x = c->in[0];
    SP_TRY(transpose_axes(x, ((const sp_transpose_attrs *)c->attrs)->perm, axes));
    out->dtype = (sp_dtype)x->dtype;
    out->rank = x->rank;
    for (int i = 0; i < x->rank; i++) out->dims[i] = x->dims[axes[i]];
    return SP_OK;
}

static sp_status transpose_view(const sp_call *c)
{
    int axes[SP_RANK_MAX];
    const sp_tensor *x = c->in[0];
    SP_TRY(transpose_axes(x, ((const sp_transpose_attrs *)c->attrs)->perm, axes));
    int64_t dims[SP_RANK_MAX], strides[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) {
        dims[i] = x->dims[axes[i]];
        strides[i] = x->strides[axes[i]];
    }
    return make_view(c, x->rank, dims, strides, 0);
}

static sp_status transpose_vjp(sp_builder *b, const sp_vjp *v)
{
    int axes[SP_RANK_MAX];
    int64_t back[SP_RANK_MAX];
    SP_TRY(transpose_axes(v->in[0], ((const sp_transpose_attrs *)v->attrs)->perm, axes));
    for (int i = 0; i < v->in[0]->rank; i++) back[axes[i]] = i;
    v->din[0] = sp_transpose(b, v->dout[0], v->in[0]->rank, back);
    return SP_OK;
}

const sp_op sp_op_transpose = {
    .batch = sp__batch_transpose,
    .name = "transpose",
    .shard = "permute",
    .inputs = "x",
    SP_ATTRS(transpose_attr_table, sp_transpose_attrs),
    .infer = transpose_infer,
    .view = transpose_view,
    .vjp = transpose_vjp,
    .mindir = "Transpose",
    .onnx = "Transpose",
    .python =
        "ops.transpose(input, input_perm:perm); ops.transpose(input, dims:perm); ops.Transpose()(input_x, input_perm:perm); "
        "ops.permute(input, axis:perm); Tensor.transpose(*axes:perm); "
        "mint.permute(input, dims:perm)",
    .doc = "The dimensions in another order; reversed when no order is given.",
    .samples = "[2,3] perm=(1,0); [2,3,4] perm=(2,0,1); [2,3]; [] perm=()",
};

/* --- broadcast_to ------------------------------------------------------------------------------------------------ */

static sp_status broadcast_infer(const sp_call *c, sp_meta *out)
{
    const sp_ints shape = ((const sp_shape_attrs *)c->attrs)->shape;
    const sp_tensor *x = c->in[0];
    char from[SP_SHAPE_TEXT], to[SP_SHAPE_TEXT];
    SP_CHECK(shape.n >= x->rank && shape.n <= SP_RANK_MAX, SP_VALUE,
             "a tensor of rank %d cannot be broadcast to a shape of %d dimensions", x->rank, shape.n);
    out->dtype = (sp_dtype)x->dtype;
    out->rank = shape.n;
    for (int i = 0; i < shape.n; i++) {
        int k = i - (shape.n - x->rank);
        int64_t own = k >= 0 ? x->dims[k] : 1, want = shape.v[i];
        if (want == -1 && k >= 0) want = own;
        SP_CHECK(want >= 0 && (own == want || own == 1), SP_VALUE,
                 "shape %s cannot be broadcast to %s: dimension %d is %lld and cannot become %lld",
                 sp__shape_text(x->rank, x->dims, from), sp__shape_text(shape.n, shape.v, to), i, (long long)own,
                 (long long)want);
        out->dims[i] = want;
    }
    return SP_OK;
}

static sp_status broadcast_view(const sp_call *c)
{
    sp_meta m;
    SP_TRY(broadcast_infer(c, &m));
    const sp_tensor *x = c->in[0];
    int64_t strides[SP_RANK_MAX];
    for (int i = 0; i < m.rank; i++) {
        int k = i - (m.rank - x->rank);
        strides[i] = k < 0 || x->dims[k] == 1 ? 0 : x->strides[k];
    }
    return make_view(c, m.rank, m.dims, strides, 0);
}

static sp_status broadcast_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp__unbroadcast(b, v->dout[0], v->in[0]);
    return SP_OK;
}

const sp_op sp_op_broadcast_to = {
    .batch = sp__batch_broadcast_to,
    .name = "broadcast_to",
    .shard = "same; sizes shape",
    .inputs = "x",
    SP_ATTRS(shape_attr_table, sp_shape_attrs),
    .infer = broadcast_infer,
    .view = broadcast_view,
    .vjp = broadcast_vjp,
    .mindir = "BroadcastTo",
    .onnx = "Expand",
    .python = "ops.broadcast_to(input, shape); ops.BroadcastTo(shape)(x); Tensor.broadcast_to(*shape); "
              "mint.broadcast_to(input, shape); Tensor.expand(*size:shape)",
    .doc = "The tensor repeated along dimensions of size 1 (and new ones in front) to the given shape; -1 keeps one.",
    .samples = "[3] shape=(2,3); [2,1] shape=(2,4); [] shape=(3,); [1,3] shape=(-1,3)",
};
