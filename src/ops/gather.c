/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c - picking by position: whole slices along an axis, single elements along an axis, by coordinates; and its
 * counterpart one_hot, which marks positions. */
#include "ops/index_plan.h"
#include "ops/kernels.h"

/* --- gather ------------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(gather_attr_table, sp_gather_attrs, (INT, axis, 0), (INT, batch_dims, 0));

/* 0..n-1 as an int64 tensor with n at dimension `at` of `rank`, 1 elsewhere. */
static sp_tensor *positions(sp_builder *b, int64_t n, int at, int rank)
{
    sp_tensor *t;
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) dims[i] = i == at ? n : 1;
    sp_status status = sp_tensor_create(SP_DTYPE_I64, rank, dims, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    for (int64_t i = 0; i < n; i++) ((int64_t *)(void *)t->data)[i] = i;
    return sp_builder_take_tensor(b, t);
}

static sp_status gather_compose(sp_builder *b, const sp_call *c)
{
    const sp_gather_attrs *a = c->attrs;
    sp_tensor *x = c->in[0], *at = c->in[1];
    int axis;
    SP_TRY(sp__shape_axis(a->axis, x->rank, "axis", &axis));
    int64_t batch = a->batch_dims < 0 ? a->batch_dims + at->rank : a->batch_dims;
    SP_CHECK(batch >= 0 && batch <= axis && batch <= at->rank, SP_VALUE,
             "batch_dims is %lld, it must be in [0, %d]: not beyond axis nor the rank of the indices",
             (long long)a->batch_dims, axis < at->rank ? axis : at->rank);
    if (batch == 0) {
        const sp_index_attrs attrs = {{1, (const int64_t[]){axis}}};
        c->out[0] = sp_builder_apply(b, &sp_op_index, &attrs, 2, (sp_tensor *const[]){x, at});
        return SP_OK;
    }
    /* Batches agree: the axis moves behind them, then one index tensor per batch dimension and the given one. */
    int64_t perm[SP_RANK_MAX], back[SP_RANK_MAX];
    int n = 0;
    char tx[SP_SHAPE_TEXT], ti[SP_SHAPE_TEXT];
    for (int i = 0; i < batch; i++) {
        SP_CHECK(x->dims[i] == at->dims[i], SP_VALUE,
                 "the first %lld dimensions of %s and of the indices %s must be equal", (long long)batch,
                 sp__shape_text(x->rank, x->dims, tx), sp__shape_text(at->rank, at->dims, ti));
        perm[n++] = i;
    }
    perm[n++] = axis;
    for (int i = (int)batch; i < x->rank; i++)
        if (i != axis) perm[n++] = i;
    sp_tensor *in[SP_RANK_MAX + 1] = {sp_transpose(b, x, x->rank, perm)};
    for (int i = 0; i < batch; i++) in[1 + i] = positions(b, at->dims[i], i, at->rank);
    in[1 + batch] = at;
    sp_tensor *picked = sp_builder_apply(b, &sp_op_index, NULL, (int)batch + 2, in);
    if (!picked) return SP_OK;
    /* Now [batches, other index dims, x dims between batch and axis, x dims after axis]. */
    const int extra = at->rank - (int)batch, between = axis - (int)batch;
    n = 0;
    for (int i = 0; i < batch; i++) back[n++] = i;
    for (int i = 0; i < between; i++) back[n++] = batch + extra + i;
    for (int i = 0; i < extra; i++) back[n++] = batch + i;
    for (int i = (int)batch + extra + between; i < picked->rank; i++) back[n++] = i;
    c->out[0] = sp_transpose(b, picked, picked->rank, back);
    return SP_OK;
}

const sp_op sp_op_gather = {
    .name = "gather",
    .inputs = "input_params, input_indices",
    SP_ATTRS(gather_attr_table, sp_gather_attrs),
    .compose = gather_compose,
    .mindir = "Gather",
    .onnx = "Gather",
    .doc = "Slices of the first input along an axis, one for each index; the dimensions of the indices stand where "
           "the axis "
           "was. With batch_dims the leading dimensions of both are taken together.",
    .samples = "[4,3] [2]i<4; [4,3] [2,2]i<3 axis=1; [2,4,3] [2,2]i<4 axis=1 batch_dims=1; [2,3,4] [2,2]i<4 axis=2 "
               "batch_dims=1",
};

/* --- gather_elements --------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(elements_attr_table, sp_gather_elements_attrs, (INT, dim, 0));

static sp_status gather_elements_infer(const sp_call *c, sp_meta *out)
{
    int axis;
    SP_TRY(sp__elements_check(c->in[0], c->in[1], ((const sp_gather_elements_attrs *)c->attrs)->dim, &axis));
    sp__meta_of(c->in[1], out);
    out->dtype = (sp_dtype)c->in[0]->dtype;
    return SP_OK;
}

static size_t gather_elements_workspace(const sp_call *c) { return (size_t)c->in[1]->count * sizeof(int64_t) + 8; }

#define PICK(T)                                                                                                        \
    for (int64_t i = 0; i < n; i++) ((T *)(void *)out)[i] = ((const T *)(const void *)x)[offsets[i]]

static sp_status gather_elements_reference(const sp_call *c)
{
    int axis;
    int64_t *offsets = c->work;
    SP_TRY(sp__elements_check(c->in[0], c->in[1], ((const sp_gather_elements_attrs *)c->attrs)->dim, &axis));
    SP_TRY(sp__elements_offsets(c->in[0], c->in[1], axis, offsets));
    const int64_t n = c->in[1]->count;
    const char *x = c->in[0]->data;
    char *out = c->out[0]->data;
    switch (sp_dtype_bytes((sp_dtype)c->in[0]->dtype)) {
    case 1: PICK(uint8_t); break;
    case 2: PICK(uint16_t); break;
    case 4: PICK(uint32_t); break;
    case 8: PICK(uint64_t); break;
    default: PICK(sp_c128);
    }
    return SP_OK;
}

static sp_status gather_elements_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_scatter_elements_attrs attrs = {((const sp_gather_elements_attrs *)v->attrs)->dim, "add"};
    sp_tensor *zeros = sp__full(b, 0, (sp_dtype)v->dout[0]->dtype, v->in[0]->rank, v->in[0]->dims);
    v->din[0] =
        sp_builder_apply(b, &sp_op_scatter_elements, &attrs, 3, (sp_tensor *const[]){zeros, v->in[1], v->dout[0]});
    return SP_OK;
}

const sp_op sp_op_gather_elements = {
    .batch = sp__batch_axis,
    .name = "gather_elements",
    .shard = "same; dim whole",
    .inputs = "x, index",
    SP_ATTRS(elements_attr_table, sp_gather_elements_attrs),
    .infer = gather_elements_infer,
    .reference = gather_elements_reference,
    .workspace = gather_elements_workspace,
    .vjp = gather_elements_vjp,
    .saves = SP_SAVE_IN(1),
    .mindir = "GatherD",
    .onnx = "GatherElements",
    .python = "ops.gather_elements(input, dim, index); ops.gather_d(x, dim, index); ops.GatherD()(x, dim, index); "
              "Tensor.gather_elements(dim, index); mint.gather(input, dim, index)",
    .doc = "For each element of index the element of x at the same position but for one axis, where index tells it.",
    .samples = "[4,3] [2,3]i<4 dim=0; [4,3] [4,5]i<3 dim=1; [2,3,4] [1,2,2]i<4 dim=-1",
};

/* --- gather_nd --------------------------------------------------------------------------------------------------- */

int sp__coordinates(sp_builder *b, sp_tensor *indices, sp_tensor **out)
{
    const int last = indices->rank - 1;
    const int n = (int)indices->dims[last];
    int64_t start[SP_RANK_MAX] = {0}, stop[SP_RANK_MAX];
    for (int i = 0; i < last; i++) stop[i] = indices->dims[i];
    for (int k = 0; k < n; k++) {
        start[last] = k;
        stop[last] = k + 1;
        const sp_slice_attrs attrs = {{last + 1, start}, {last + 1, stop}, {-1, NULL}};
        out[k] = sp_reshape(b, sp_builder_apply(b, &sp_op_slice, &attrs, 1, &indices), last, indices->dims);
    }
    return n;
}

sp_status sp__coordinates_check(const sp_tensor *x, const sp_tensor *indices)
{
    SP_CHECK(indices->rank >= 1, SP_VALUE, "indices have no dimensions, the last one must hold coordinates");
    SP_CHECK(indices->dims[indices->rank - 1] >= 1 && indices->dims[indices->rank - 1] <= x->rank, SP_VALUE,
             "the last dimension of the indices is %lld, but the tensor has %d dimensions",
             (long long)indices->dims[indices->rank - 1], x->rank);
    return SP_OK;
}

static sp_status gather_nd_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *in[SP_RANK_MAX + 1] = {c->in[0]};
    SP_TRY(sp__coordinates_check(c->in[0], c->in[1]));
    int n = sp__coordinates(b, c->in[1], in + 1);
    c->out[0] = sp_builder_apply(b, &sp_op_index, NULL, n + 1, in);
    return SP_OK;
}

const sp_op sp_op_gather_nd = {
    .name = "gather_nd",
    .inputs = "input_x, indices",
    .compose = gather_nd_compose,
    .mindir = "GatherNd",
    .onnx = "GatherND",
    .python = "ops.gather_nd(input_x, indices); ops.GatherNd()(input_x, indices); Tensor.gather_nd(indices)",
    .doc = "Elements or slices by coordinates: the last dimension of the indices holds one coordinate tuple.",
    .samples = "[4,3] [2,1]i<4; [4,3] [5,2]i<3; [4,3,2] [2,2,2]i<3",
};

/* scatter by coordinates, the other way round */
SP_ATTR_TABLE(scatter_nd_attr_table, sp_tensor_scatter_attrs, (TEXT, reduce, "none"));

static sp_status tensor_scatter_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *indices = c->in[1], *in[SP_RANK_MAX + 2] = {x, c->in[2]};
    char tu[SP_SHAPE_TEXT], tx[SP_SHAPE_TEXT];
    SP_TRY(sp__coordinates_check(x, indices));
    /* MindSpore asks for updates of exactly this shape: a broadcast would hide mistakes. */
    int64_t dims[2 * SP_RANK_MAX];
    int rank = 0, n = (int)indices->dims[indices->rank - 1];
    for (int i = 0; i < indices->rank - 1; i++) dims[rank++] = indices->dims[i];
    for (int i = n; i < x->rank; i++) dims[rank++] = x->dims[i];
    SP_CHECK(rank <= SP_RANK_MAX && sp__shape_equal(rank, dims, c->in[2]->rank, c->in[2]->dims), SP_VALUE,
             "updates have shape %s, they must have shape %s for these indices",
             sp__shape_text(c->in[2]->rank, c->in[2]->dims, tu),
             sp__shape_text(rank <= SP_RANK_MAX ? rank : SP_RANK_MAX, dims, tx));
    sp__coordinates(b, indices, in + 2);
    const char *reduce = ((const sp_tensor_scatter_attrs *)c->attrs)->reduce;
    const bool sum = reduce && strcmp(reduce, "add") == 0;
    if (sum || (reduce && strcmp(reduce, "none") == 0)) { /* their gradients need neither x nor the result */
        const sp_index_put_attrs put = {{-1, NULL}, sum};
        in[0] = SP_APPLY1(b, sp_op_copy, x);
        c->out[0] = sp_builder_apply(b, &sp_op_index_put, &put, n + 2, in);
        return SP_OK;
    }
    const sp_index_combine_attrs attrs = {{-1, NULL}, reduce};
    c->out[0] = sp_builder_apply(b, &sp_op_index_combine, &attrs, n + 2, in);
    return SP_OK;
}

const sp_op sp_op_tensor_scatter = {
    .name = "tensor_scatter",
    .inputs = "input_x, indices, updates",
    SP_ATTRS(scatter_nd_attr_table, sp_tensor_scatter_attrs),
    .compose = tensor_scatter_compose,
    .mindir = "TensorScatterUpdate",
    .onnx = "ScatterND",
    .doc = "A copy of the first input in which the elements or slices at the given coordinates are combined with "
           "updates.",
    .samples = "[4,3] [2,1]i<4 [2,3] reduce=add; [4,3] [2,2]i<3 [2] reduce=add; [4,3] [1,2]i<3 [1]",
};

/* --- one_hot ----------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(one_hot_attr_table, sp_one_hot_attrs, (INT_NEEDED, depth), (INT, axis, -1));

static sp_status one_hot_infer(const sp_call *c, sp_meta *out)
{
    const sp_one_hot_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    char kind = sp_dtype_kind((sp_dtype)x->dtype);
    SP_CHECK(kind == 'i' || kind == 'u', SP_TYPE, "indices have dtype %s, they must be integers",
             sp_dtype_name((sp_dtype)x->dtype));
    SP_CHECK(a->depth >= 0, SP_VALUE, "depth is %lld, it must not be negative", (long long)a->depth);
    SP_CHECK(a->axis >= -1 && a->axis <= x->rank, SP_VALUE, "axis is %lld, it must be in [-1, %d]", (long long)a->axis,
             x->rank);
    SP_CHECK(c->in[1]->count == 1 && c->in[2]->count == 1, SP_VALUE, "on_value and off_value must each be one number");
    SP_CHECK(c->in[1]->dtype == c->in[2]->dtype, SP_TYPE, "on_value has dtype %s and off_value %s, they must be equal",
             sp_dtype_name((sp_dtype)c->in[1]->dtype), sp_dtype_name((sp_dtype)c->in[2]->dtype));
    const int at = a->axis < 0 ? x->rank : (int)a->axis;
    SP_CHECK(x->rank < SP_RANK_MAX, SP_VALUE, "the result would have %d dimensions, at most %d are possible",
             x->rank + 1, SP_RANK_MAX);
    out->dtype = (sp_dtype)c->in[1]->dtype;
    out->rank = x->rank + 1;
    for (int i = 0; i < out->rank; i++) out->dims[i] = i < at ? x->dims[i] : i == at ? a->depth : x->dims[i - 1];
    return SP_OK;
}

/* Positions outside of [0, depth) mark nothing, as in the reference framework. */
static sp_status one_hot_reference(const sp_call *c)
{
    const sp_one_hot_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    sp_tensor *o = c->out[0];
    const int at = a->axis < 0 ? x->rank : (int)a->axis;
    const size_t size = sp_dtype_bytes((sp_dtype)o->dtype);
    int64_t inner = 1;
    for (int i = at; i < x->rank; i++) inner *= x->dims[i];
    SP_TRY(sp__write_broadcast(o, &(sp_tensor){.dtype = o->dtype, .data = c->in[2]->data}));
    sp_loop_fn widen = sp__cast_loop((sp_dtype)x->dtype, SP_DTYPE_I64);
    const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)x->dtype), step[2] = {sizeof(int64_t), bytes};
    int64_t wide[128];
    for (int64_t from = 0; from < x->count; from += 128) {
        const int64_t n = x->count - from < 128 ? x->count - from : 128;
        char *ptr[2] = {(char *)wide, x->data + from * bytes};
        widen(n, ptr, step, NULL);
        for (int64_t i = from; i < from + n; i++) {
            const int64_t v = wide[i - from];
            if (v < 0 || v >= a->depth) continue;
            const int64_t to = (i / inner * a->depth + v) * inner + i % inner;
            memcpy(o->data + (size_t)to * size, c->in[1]->data, size);
        }
    }
    return SP_OK;
}

const sp_op sp_op_one_hot = {
    .batch = sp__batch_one_hot,
    .name = "one_hot",
    .shard = "..., , -> ... d; d whole, none if axis",
    .inputs = "indices, on_value, off_value",
    SP_ATTRS(one_hot_attr_table, sp_one_hot_attrs),
    .infer = one_hot_infer,
    .reference = one_hot_reference,
    .no_vjp = "positions are integers, the two values are constants, as in MindSpore",
    .mindir = "OneHot",
    .onnx = "OneHot",
    .doc = "on_value at the position each index names along a new axis, off_value elsewhere; positions outside mark "
           "nothing.",
    .samples = "[3]i<4 [] [] depth=4; [2,3]i<4 [] [] depth=5 axis=1; []i<2 [] [] depth=2 axis=0",
};
