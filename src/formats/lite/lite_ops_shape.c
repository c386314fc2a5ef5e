/* SPDX-License-Identifier: Apache-2.0 */
/* lite_ops_shape.c - operators of MindSpore Lite that arrange elements: shapes, parts, padding, looking up. */
#include <string.h>

#include "formats/lite/lite_model.h"

/* The shape is input 1; 0 keeps a dimension of the input, -1 is what is left. */
static sp_status reshape(sp_tflite_call *c)
{
    sp_tflite_ints dims;
    SP_TRY(sp__lite_ints(c, 1, -1, &dims));
    for (int k = 0; k < dims.n && k < sp__tflite_rank(c, 0); k++)
        if (dims.v[k] == 0) dims.v[k] = sp__tflite_dim(c, 0, k);
    SP_CHECK(dims.n <= SP_RANK_MAX, SP_VALUE, "a shape of %d dimensions", dims.n);
    return sp__tflite_return(c, sp_reshape(c->b, c->in[0], dims.n, dims.v));
}

/* Flatten(axis) */
static sp_status flatten(sp_tflite_call *c)
{
    int64_t outer = 1;
    const int64_t axis = sp__lite_int(c, 0);
    SP_CHECK(axis >= 0 && axis <= sp__tflite_rank(c, 0), SP_VALUE, "axis %lld of a tensor of rank %d", (long long)axis,
             sp__tflite_rank(c, 0));
    for (int k = 0; k < axis; k++) outer *= sp__tflite_dim(c, 0, k);
    return sp__tflite_return(c, sp_reshape(c->b, c->in[0], 2, (int64_t[]){outer, -1}));
}

/* Unsqueeze(axis): places in the result. */
static sp_status unsqueeze(sp_tflite_call *c)
{
    sp_tflite_ints list = {.n = 0};
    int64_t dims[SP_RANK_MAX];
    uint32_t fresh = 0;
    SP_TRY(sp__lite_ints(c, 1, 0, &list));
    const int rank = sp__tflite_rank(c, 0), all = rank + list.n;
    int axis = 0;
    SP_CHECK(all <= SP_RANK_MAX, SP_VALUE, "rank %d and %d more", rank, list.n);
    for (int i = 0; i < list.n; i++) {
        SP_TRY(sp__shape_axis(list.v[i], all, "axis", &axis));
        fresh |= 1u << axis;
    }
    int from = 0;
    for (int k = 0; k < all; k++) {
        const bool is_new = fresh >> k & 1;
        SP_CHECK(is_new || from < rank, SP_VALUE, "an axis is named twice");
        dims[k] = is_new ? 1 : sp__tflite_dim(c, 0, from++);
    }
    return sp__tflite_return(c, sp_reshape(c->b, c->in[0], all, dims));
}

static sp_status transpose(sp_tflite_call *c)
{
    sp_tflite_ints perm = {.n = 0};
    const int rank = sp__tflite_rank(c, 0);
    SP_TRY(sp__lite_ints(c, 1, -1, &perm));
    if (perm.n == 0)
        for (perm.n = 0; perm.n < rank; perm.n++) perm.v[perm.n] = rank - 1 - perm.n;
    if (perm.n != rank)
        return sp__tflite_return(
            c, sp_identity(c->b, c->in[0])); /* written for pictures; files have it on what has become flat */
    return sp__tflite_return(c, sp_transpose(c->b, c->in[0], perm.n, perm.v));
}

/* FormatTranspose(src_format dst_format): 0 planes, 1 pictures. */
static sp_status format_transpose(sp_tflite_call *c)
{
    const int64_t from = sp__lite_int(c, 0), to = sp__lite_int(c, 1);
    if (from == to || sp__tflite_rank(c, 0) != 4) return sp__tflite_return(c, sp_identity(c->b, c->in[0]));
    SP_CHECK((from == 0 && to == 1) || (from == 1 && to == 0), SP_DECLINED,
             "a change from layout %lld to %lld is not supported", (long long)from, (long long)to);
    return sp__tflite_return(
        c, sp_transpose(c->b, c->in[0], 4, from == 0 ? (int64_t[]){0, 2, 3, 1} : (int64_t[]){0, 3, 1, 2}));
}

static sp_status size(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp__tflite_scalar(c, SP_DTYPE_I32, (double)sp_tensor_count(c->in[0])));
}

static sp_status broadcast_to(sp_tflite_call *c)
{
    sp_tflite_ints dims;
    SP_TRY(sp__lite_ints(c, 1, 0, &dims));
    const int rank = sp__tflite_rank(c, 0);
    for (int k = 0; k < dims.n; k++)
        if (dims.v[k] == -1 && k >= dims.n - rank) dims.v[k] = sp__tflite_dim(c, 0, k - (dims.n - rank));
    return sp__tflite_return(c, sp_broadcast_to(c->b, c->in[0], dims.n, dims.v));
}

/* Inputs: value, shape. */
static sp_status fill(sp_tflite_call *c)
{
    sp_tflite_ints dims;
    SP_TRY(sp__tflite_ints(c, 1, &dims));
    return sp__tflite_return(c, sp_broadcast_to(c->b, sp_reshape(c->b, c->in[0], 0, NULL), dims.n, dims.v));
}

/* ConstantOfShape(data_type value) */
static sp_status constant_of_shape(sp_tflite_call *c)
{
    sp_tflite_ints dims;
    const sp_tflite_longs list = sp__lite_list(c, 1);
    const sp_dtype dtype = sp__lite_dtype((uint64_t)sp__lite_int(c, 0));
    float value = 0;
    SP_CHECK(dtype != SP_DTYPE_NONE && list.n <= 1, SP_FORMAT, "type %lld, %d values", (long long)sp__lite_int(c, 0),
             list.n);
    if (list.n == 1) {
        const uint32_t bits = (uint32_t)list.v[0];
        memcpy(&value, &bits, sizeof bits);
    }
    SP_TRY(sp__tflite_ints(c, 0, &dims));
    return sp__tflite_return(c, sp__full(c->b, (double)value, dtype, dims.n, dims.v));
}

/* Range(d_type start limit delta), or the three as inputs. */
static sp_status range(sp_tflite_call *c)
{
    double v[3] = {(double)sp__lite_int(c, 1), (double)sp__lite_int(c, 2), (double)sp__lite_int(c, 3)};
    sp_dtype dtype = sp__tflite_out_face(c, 0)->meta.dtype;
    for (int i = 0; i < 3 && c->n_in == 3; i++) SP_TRY(sp__tflite_number(c, i, &v[i]));
    if (c->n_in == 3) dtype = sp_tensor_dtype(c->in[0]);
    SP_CHECK(v[2] != 0 && dtype != SP_DTYPE_NONE, SP_VALUE, "a range with a step of %g", v[2]);
    return sp__tflite_return(c, sp__tflite_op(c, "arange", 0, NULL, "start=%.17g, end=%.17g, step=%.17g, dtype=%s",
                                              v[0], v[1], v[2], sp_dtype_name(dtype)));
}

/* --- parts ------------------------------------------------------------------------------------------------------- */

/* SliceFusion(axes): begin and size are inputs, for these axes; none: for all. */
static sp_status slice(sp_tflite_call *c)
{
    sp_tflite_ints begin, count;
    sp_tflite_text from, to;
    int64_t start[SP_RANK_MAX] = {0}, stop[SP_RANK_MAX];
    const sp_tflite_longs axes = sp__lite_list(c, 0);
    const int rank = sp__tflite_rank(c, 0);
    SP_TRY(sp__tflite_ints(c, 1, &begin));
    SP_TRY(sp__tflite_ints(c, 2, &count));
    SP_CHECK(begin.n == count.n && begin.n <= rank && (axes.n == 0 || axes.n >= begin.n), SP_FORMAT,
             "%d starts and %d sizes for rank %d", begin.n, count.n, rank);
    for (int k = 0; k < rank; k++) stop[k] = sp__tflite_dim(c, 0, k);
    for (int i = 0; i < begin.n; i++) {
        int axis = i;
        if (axes.n > 0) SP_TRY(sp__shape_axis(axes.v[i], rank, "axes", &axis));
        const int64_t dim = sp__tflite_dim(c, 0, axis), first = begin.v[i] < 0 ? begin.v[i] + dim : begin.v[i];
        const int64_t end = count.v[i] < 0 || count.v[i] > dim - first ? dim : first + count.v[i];
        SP_CHECK(first >= 0 && first <= end, SP_VALUE, "axis %d: %lld elements from %lld on, there are %lld", axis,
                 (long long)count.v[i], (long long)begin.v[i], (long long)dim);
        start[axis] = first;
        stop[axis] = end;
    }
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "slice", c->in[0], "start=%s, stop=%s",
                                              sp__tflite_list(&from, rank, start), sp__tflite_list(&to, rank, stop)));
}

/* Crop(axis offsets): from `axis` on, to the sizes of input 1. */
static sp_status crop(sp_tflite_call *c)
{
    const sp_tflite_longs offsets = sp__lite_list(c, 1);
    sp_tflite_text from, to;
    int64_t start[SP_RANK_MAX] = {0}, stop[SP_RANK_MAX];
    const int rank = sp__tflite_rank(c, 0);
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__lite_int(c, 0), rank, "axis", &axis));
    SP_CHECK(sp__tflite_rank(c, 1) == rank && offsets.n >= 1, SP_FORMAT, "ranks %d and %d, %d offsets", rank,
             sp__tflite_rank(c, 1), offsets.n);
    for (int k = 0; k < rank; k++) {
        const int i = k - axis;
        start[k] = i < 0 ? 0 : offsets.v[offsets.n == 1 ? 0 : i < offsets.n ? i : offsets.n - 1];
        stop[k] = i < 0 ? sp__tflite_dim(c, 0, k) : start[k] + sp__tflite_dim(c, 1, k);
        SP_CHECK(start[k] >= 0 && stop[k] <= sp__tflite_dim(c, 0, k), SP_VALUE,
                 "axis %d: elements %lld to %lld of %lld", k, (long long)start[k], (long long)stop[k],
                 (long long)sp__tflite_dim(c, 0, k));
    }
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "slice", c->in[0], "start=%s, stop=%s",
                                              sp__tflite_list(&from, rank, start), sp__tflite_list(&to, rank, stop)));
}

/* Split(output_num size_splits axis) */
static sp_status split(sp_tflite_call *c)
{
    const sp_tflite_longs sizes = sp__lite_list(c, 1);
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__lite_int(c, 2), sp__tflite_rank(c, 0), "axis", &axis));
    const int64_t all = sp__tflite_dim(c, 0, axis);
    int64_t given = 0, at = 0;
    SP_CHECK(sizes.n == 0 || sizes.n == c->n_out, SP_FORMAT, "%d sizes for %d results", sizes.n, c->n_out);
    SP_CHECK(sizes.n > 0 || all % c->n_out == 0, SP_VALUE, "axis %d with %lld elements cannot be split into %d", axis,
             (long long)all, c->n_out);
    for (int i = 0; i < sizes.n; i++) given += sizes.v[i] > 0 && sizes.v[i] <= all ? sizes.v[i] : 0;
    for (int i = 0; i < c->n_out; i++) {
        const int64_t n = sizes.n == 0 ? all / c->n_out : sizes.v[i] < 0 ? all - given : sizes.v[i];
        SP_CHECK(n >= 0 && n <= all - at, SP_VALUE, "part %d of %lld elements is too large", i, (long long)n);
        c->out[i] = sp__take_range(c->b, c->in[0], axis, at, n);
        at += n;
    }
    return sp_builder_status(c->b);
}

/* --- order and padding ------------------------------------------------------------------------------------------- */

static sp_status reverse(sp_tflite_call *c)
{
    sp_tflite_ints axes;
    sp_tensor *x = c->in[0];
    int axis = 0;
    SP_TRY(sp__lite_ints(c, 1, 0, &axes));
    for (int i = 0; i < axes.n; i++) {
        SP_TRY(sp__shape_axis(axes.v[i], sp__tflite_rank(c, 0), "axis", &axis));
        const int64_t n = sp__tflite_dim(c, 0, axis);
        sp_tensor *at = sp_sub(c->b, sp__tflite_scalar(c, SP_DTYPE_I64, (double)(n - 1)), sp__positions(c->b, 1, 0, n));
        x = SP_TFLITE_OP2(c, "gather", x, at, "axis=%d", axis);
    }
    return sp__tflite_return(c, axes.n > 0 ? x : sp_identity(c->b, x));
}

/* Pairs before and after of the last axes that the list has. */
static sp_status read_pads(sp_tflite_call *c, int field, int64_t *pads)
{
    sp_tflite_ints list;
    const int rank = sp__tflite_rank(c, 0);
    SP_TRY(sp__lite_ints(c, 1, field, &list));
    SP_CHECK(list.n % 2 == 0 && list.n <= 2 * rank, SP_FORMAT, "%d paddings for rank %d", list.n, rank);
    memset(pads, 0, 2 * SP_RANK_MAX * sizeof *pads);
    for (int k = 0; k < list.n; k++) {
        SP_CHECK(list.v[k] >= 0, SP_VALUE, "paddings must not be negative, %lld was found", (long long)list.v[k]);
        pads[2 * rank - list.n + k] = list.v[k];
    }
    return SP_OK;
}

/* One axis mirrored: REFLECT leaves the edge out, SYMMETRIC repeats it. */
static sp_status mirror(sp_tflite_call *c, sp_tensor **x, int k, int64_t before, int64_t after, int64_t skip)
{
    const int64_t n = sp_tensor_dims(*x)[k], all = before + n + after;
    SP_CHECK(before <= n - skip && after <= n - skip, SP_VALUE,
             "axis %d with %lld elements cannot be mirrored by %lld and %lld", k, (long long)n, (long long)before,
             (long long)after);
    int64_t *at = sp__alloc((size_t)all * sizeof *at);
    sp_tensor *places = NULL;
    if (at == NULL) return SP_NOMEM;
    for (int64_t i = 0; i < all; i++) {
        const int64_t from = i - before;
        at[i] = from < 0 ? -from - 1 + skip : from >= n ? 2 * n - 1 - from - skip : from;
    }
    sp_status status = sp_tensor_create_from(SP_DTYPE_I64, 1, &all, at, &places);
    sp__free(at);
    SP_TRY(status);
    *x = SP_TFLITE_OP2(c, "gather", *x, sp_builder_take_tensor(c->b, places), "axis=%d", k);
    return sp_builder_status(c->b);
}

/* PadFusion(paddings padding_mode constant_value) */
static sp_status pad(sp_tflite_call *c)
{
    int64_t pads[2 * SP_RANK_MAX];
    sp_tflite_text text;
    const int rank = sp__tflite_rank(c, 0);
    const int64_t mode = sp__lite_int(c, 1);
    const sp_tflite_scale *s = &sp__tflite_out_face(c, 0)->scale;
    double value = sp__lite_float(c, 2);
    SP_CHECK(mode >= 0 && mode <= 2, SP_FORMAT, "mode is %lld; it must be 0 (constant), 1 (reflect) or 2 (symmetric)",
             (long long)mode);
    SP_TRY(read_pads(c, 0, pads));
    if (s->n > 0) value = (double)s->zero[0] + value / (double)s->scale[0];
    if (c->n_in > 2 && c->in[2] != NULL) SP_TRY(sp__tflite_number(c, 2, &value));
    if (mode == 0)
        return sp__tflite_return(c, SP_TFLITE_OP1(c, "pad", c->in[0], "pads=%s, value=%.17g",
                                                  sp__tflite_list(&text, 2 * rank, pads), value));
    sp_tensor *x = c->in[0];
    for (int k = 0; k < rank; k++)
        if (pads[2 * k] != 0 || pads[2 * k + 1] != 0)
            SP_TRY(mirror(c, &x, k, pads[2 * k], pads[2 * k + 1], mode == 1 ? 1 : 0));
    return sp__tflite_return(c, sp_identity(c->b, x));
}

/* SpaceToBatchND(block_shape paddings), BatchToSpaceND(block_shape crops): by the handlers of TensorFlow Lite, which take both as inputs. */
static sp_status blocks(sp_tflite_call *c)
{
    const sp_tflite_longs block = sp__lite_list(c, 0), edges = sp__lite_list(c, 1);
    const bool to_batch = strcmp(c->node->handler->detail, "to batch") == 0;
    const sp_tflite_handler *h = sp__tflite_handler_find(to_batch ? 38 : 37, NULL);
    sp_tensor *in[3] = {c->in[0], c->n_in > 1 ? c->in[1] : NULL, c->n_in > 2 ? c->in[2] : NULL};
    if (in[1] == NULL) in[1] = sp__tflite_tensor_ints(c, SP_DTYPE_I64, block.n, block.v);
    if (in[2] == NULL) in[2] = sp__tflite_tensor_ints(c, SP_DTYPE_I64, edges.n, edges.v);
    SP_TRY(sp_builder_status(c->b));
    sp_tflite_call inner = *c;
    inner.in = in;
    inner.n_in = 3;
    return h->apply(&inner);
}

/* --- looking up -------------------------------------------------------------------------------------------------- */

/* The axis is input 2. */
static sp_status gather(sp_tflite_call *c)
{
    int64_t at = 0;
    int axis = 0;
    if (c->n_in > 2 && c->in[2] != NULL) SP_TRY(sp__tflite_one_int(c, 2, &at));
    SP_TRY(sp__shape_axis(at, sp__tflite_rank(c, 0), "axis", &axis));
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "gather", c->in[0], c->in[1], "axis=%d", axis));
}

/* GatherD: x, axis, indices. */
static sp_status gather_d(sp_tflite_call *c)
{
    int64_t at = 0;
    int axis = 0;
    SP_TRY(sp__tflite_one_int(c, 1, &at));
    SP_TRY(sp__shape_axis(at, sp__tflite_rank(c, 0), "dim", &axis));
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "gather_elements", c->in[0], c->in[2], "dim=%d", axis));
}

/* EmbeddingLookupFusion(max_norm): tables of rows, the last input says which. */
static sp_status embedding_lookup(sp_tflite_call *c)
{
    sp_tensor *table = c->n_in > 2 ? sp__concat(c->b, 0, c->n_in - 1, c->in) : c->in[0];
    SP_CHECK(sp__lite_float(c, 0) == 0, SP_DECLINED, "a limit of the norm of rows (%g) is not supported",
             sp__lite_float(c, 0));
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "gather", table, c->in[c->n_in - 1], "axis=0"));
}

/* OneHot(axis): indices, depth, on and off, which may be one tensor [off, on]. */
static sp_status one_hot(sp_tflite_call *c)
{
    int64_t depth = 0;
    SP_TRY(sp__tflite_one_int(c, 1, &depth));
    sp_tensor *on = c->in[2], *off = c->n_in > 3 ? c->in[3] : NULL;
    if (off == NULL) {
        off = sp_reshape(c->b, sp__take_range(c->b, c->in[2], 0, 0, 1), 0, NULL);
        on = sp_reshape(c->b, sp__take_range(c->b, c->in[2], 0, 1, 1), 0, NULL);
    } else {
        off = sp_reshape(c->b, off, 0, NULL);
        on = sp_reshape(c->b, on, 0, NULL);
    }
    return sp__tflite_return(c,
                             sp__tflite_op(c, "one_hot", 3, (sp_tensor *[]){c->in[0], on, off}, "depth=%lld, axis=%lld",
                                           (long long)depth, (long long)sp__lite_int(c, 0)));
}

/* One input: positions that are not zero; three: a choice. */
static sp_status where(sp_tflite_call *c)
{
    if (c->n_in >= 3)
        return sp__tflite_return(c, sp_select(c->b, sp_cast(c->b, c->in[0], SP_DTYPE_BOOL), c->in[1], c->in[2]));
    sp_tensor *at = SP_TFLITE_OP1(c, "nonzero", c->in[0], NULL);
    return sp__tflite_return(c, sp_cast(c->b, at, SP_DTYPE_I32));
}

/* NonZero: a row for each axis, as ONNX has it. */
static sp_status non_zero(sp_tflite_call *c)
{
    sp_tensor *at = SP_TFLITE_OP1(c, "nonzero", c->in[0], NULL);
    return sp__tflite_return(c, sp_cast(c->b, sp_transpose(c->b, at, 2, (int64_t[]){1, 0}), SP_DTYPE_I32));
}

/* ScatterNd: shape, indices, updates; those for the same place are summed. */
static sp_status scatter_nd(sp_tflite_call *c)
{
    sp_tflite_ints shape;
    SP_TRY(sp__tflite_ints(c, 0, &shape));
    sp_tensor *zeros = sp__full(c->b, 0, sp_tensor_dtype(c->in[2]), shape.n, shape.v);
    return sp__tflite_return(
        c, sp__tflite_op(c, "tensor_scatter", 3, (sp_tensor *[]){zeros, c->in[1], c->in[2]}, "reduce=add"));
}

static sp_status scatter_update(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp__tflite_op(c, "tensor_scatter", 3, c->in, "reduce=%s", c->node->handler->detail));
}

/* Scatter of elements (axis): x, indices, updates. */
static sp_status scatter_elements(sp_tflite_call *c)
{
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__lite_int(c, 0), sp__tflite_rank(c, 0), "axis", &axis));
    return sp__tflite_return(c, sp__tflite_op(c, "scatter_elements", 3, c->in, "axis=%d", axis));
}

static sp_status triangle(sp_tflite_call *c)
{
    int64_t k = 0;
    if (c->n_in > 1) SP_TRY(sp__tflite_one_int(c, 1, &k));
    return sp__tflite_return(c, SP_TFLITE_OP1(c, c->node->handler->detail, c->in[0], "diagonal=%lld", (long long)k));
}

/* Element i of the result is where the permutation has i. */
static sp_status invert_permutation(sp_tflite_call *c)
{
    sp_tensor *both[2] = {NULL};
    SP_TRY(sp__tflite_op_many(c, "sort", 1, c->in, 2, both, "axis=0"));
    return sp__tflite_return(c, sp_cast(c->b, both[1], sp_tensor_dtype(c->in[0])));
}

/* Inputs: start, end, how many. */
static sp_status lin_space(sp_tflite_call *c)
{
    double from = 0, to = 0;
    int64_t n = 0;
    SP_TRY(sp__tflite_number(c, 0, &from));
    SP_TRY(sp__tflite_number(c, 1, &to));
    SP_TRY(sp__tflite_one_int(c, 2, &n));
    return sp__tflite_return(c,
                             sp__tflite_op(c, "linspace", 0, NULL, "start=%.17g, end=%.17g, steps=%lld, dtype=float32",
                                           from, to, (long long)n));
}

#define MOVE SP_TFLITE_MOVE
const sp_tflite_handler sp__lite_shape_table[] = {
    {119, "Reshape", reshape, NULL, MOVE, 1, -1},
    {61, "Flatten", flatten, NULL, MOVE, 1, -1},
    {62, "FlattenGrad", reshape, NULL, MOVE, 2, -1},
    {165, "Unsqueeze", unsqueeze, NULL, MOVE, 1, -1},
    {162, "Transpose", transpose, NULL, MOVE, 1, -1},
    {209, "FormatTranspose", format_transpose, NULL, MOVE, 1, -1},
    {175, "Size", size, NULL, MOVE, 1, -1},
    {27, "BroadcastTo", broadcast_to, NULL, MOVE, 1, -1},
    {66, "Fill", fill, NULL, MOVE, 2, -1},
    {221, "FillV2", sp__tflite_fill, NULL, MOVE, 2, -1},
    {38, "ConstantOfShape", constant_of_shape, NULL, MOVE, 1, -1},
    {115, "Range", range, NULL, MOVE, 1, -1},
    {135, "SliceFusion", slice, NULL, MOVE, 3, -1},
    {39, "Crop", crop, NULL, MOVE, 2, -1},
    {145, "Split", split, NULL, MOVE, 1, -1},
    {122, "ReverseV2", reverse, NULL, MOVE, 1, -1},
    {107, "PadFusion", pad, NULL, MOVE, 1, -1},
    {141, "SpaceToBatchND", blocks, "to batch", MOVE, 1, -1},
    {140, "SpaceToBatch", blocks, "to batch", MOVE, 1, -1},
    {22, "BatchToSpaceND", blocks, "to space", MOVE, 1, -1},
    {21, "BatchToSpace", blocks, "to space", MOVE, 1, -1},
    {69, "Gather", gather, NULL, MOVE, 2, -1},
    {210, "GatherD", gather_d, NULL, MOVE, 3, -1},
    {54, "EmbeddingLookupFusion", embedding_lookup, NULL, SP_TFLITE_REAL, 2, -1},
    {105, "OneHot", one_hot, NULL, MOVE, 3, -1},
    {168, "Where", where, NULL, MOVE, 1, -1},
    {173, "NonZero", non_zero, NULL, MOVE, 1, -1},
    {128, "ScatterNd", scatter_nd, NULL, MOVE, 3, -1},
    {171, "ScatterNdUpdate", scatter_update, "none", MOVE, 3, -1},
    {213, "TensorScatterAdd", scatter_update, "add", MOVE, 3, -1},
    {217, "ScatterElements", scatter_elements, NULL, MOVE, 3, -1},
    {218, "Triu", triangle, "triu", MOVE, 1, -1},
    {219, "Tril", triangle, "tril", MOVE, 1, -1},
    {174, "InvertPermutation", invert_permutation, NULL, MOVE, 1, -1},
    {181, "LinSpace", lin_space, NULL, MOVE, 3, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
