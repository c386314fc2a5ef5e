/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out_shape.c - rules of operators that arrange elements: shapes, parts, joins, order. */
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_out.h"

/* --- shapes ------------------------------------------------------------------------------------------------------ */

static void write_reshape(sp_mindir_out *o)
{
    SP_MINDIR_OUT_GIVE(o, "Reshape", NULL, sp__mindir_out_in(o, 0), sp__mindir_out_sizes(o));
}
static void write_broadcast(sp_mindir_out *o)
{
    SP_MINDIR_OUT_GIVE(o, "BroadcastTo", NULL, sp__mindir_out_in(o, 0), sp__mindir_out_sizes(o));
}

static void write_transpose(sp_mindir_out *o)
{
    sp_ints perm = sp__mindir_out_attr_list(o->node, "perm");
    int64_t turned[SP_RANK_MAX];
    int rank = sp__mindir_out_meta(o, 0)->rank;
    for (int i = 0; i < rank; i++) turned[i] = rank - 1 - i;
    SP_MINDIR_OUT_GIVE(o, "Transpose", NULL, sp__mindir_out_in(o, 0),
                       sp__mindir_out_ints(o, rank, perm.n < 0 ? turned : perm.v));
}

/* The one number that a tensor is full of, before anything is put into it. */
static bool uniform(const sp_value *v, double *number)
{
    if (sp__mindir_out_is(v, &sp_op_full)) {
        sp_attr_type type;
        const sp_number *x = sp__node_attr_at(v->node, "value", &type);
        *number = x->kind == 'f' ? x->f : (double)x->i;
        return sp_dtype_kind(v->meta.dtype) != 'c';
    }
    if (v->origin != SP_VALUE_CONSTANT || !v->constant->count || sp_dtype_kind((sp_dtype)v->constant->dtype) == 'c')
        return false;
    const sp_tensor *t = v->constant;
    size_t bytes = sp_dtype_bytes((sp_dtype)t->dtype);
    for (int64_t i = 0; i < t->count; i++)
        if (memcmp(t->data, t->data + (size_t)i * bytes, bytes) != 0) return false;
    char *ptr[2] = {(char *)number, t->data};
    sp__cast_loop((sp_dtype)t->dtype, SP_DTYPE_F64)(1, ptr, (const int64_t[2]){0}, NULL);
    return true;
}

/* What an operator without operands makes, as a constant. */
static void write_made(sp_mindir_out *o)
{
    sp_tensor *t;
    int count;
    sp_status status = sp_apply(o->node->op, o->node->attrs, 0, NULL, 1, &t, &count);
    if (status != SP_OK) {
        o->model.status = status;
        return;
    }
    sp__mindir_out_tensor(o, t, sp__mindir_out_name(o, o->node->out[0]));
    sp_tensor_release(t);
}

/* A tensor full of one number is a constant, unless its size is free. */
static void write_full(sp_mindir_out *o)
{
    double number = 0;
    if (o->numbers[o->node->id]) {
        sp_mindir_id shape = sp__mindir_out_sizes(o);
        uniform(o->node->out[0], &number);
        SP_MINDIR_OUT_GIVE(o, "FillV2", NULL, shape, sp__mindir_out_scalar(o, sp__mindir_out_result(o)->dtype, number));
        return;
    }
    write_made(o);
}

/* Numbers in a row are a constant, unless how many there are is free. */
static void write_arange(sp_mindir_out *o)
{
    static const char *const names[] = {"start", "end", "step"};
    sp_mindir_id in[4], x;
    if (!o->numbers[o->node->id]) {
        write_made(o);
        return;
    }
    for (int i = 0; i < 3; i++) {
        sp_attr_type type;
        in[i] =
            sp__mindir_out_number(o, names[i], 0, ((const sp_number *)sp__node_attr_at(o->node, names[i], &type))->i);
    }
    in[3] = sp__mindir_out_int(o, 1000000);
    sp_meta m = *sp__mindir_out_result(o);
    m.dtype = SP_DTYPE_I64;
    if (m.dtype == sp__mindir_out_result(o)->dtype) {
        sp__mindir_out_give(o, "Range", NULL, 4, in);
        return;
    }
    x = sp__mindir_out_op(o, "Range", NULL, 4, in, &m);
    SP_MINDIR_OUT_GIVE(o, "Cast", NULL, x,
                       sp__mindir_out_int(o, sp__mindir_out_type_number(sp__mindir_out_result(o)->dtype)));
}

/* --- slices ------------------------------------------------------------------------------------------------------ */

/* What goes down is taken upwards and turned round. */
static void write_slice(sp_mindir_out *o)
{
    sp_ints start = sp__mindir_out_attr_list(o->node, "start"), stop = sp__mindir_out_attr_list(o->node, "stop"),
            step = sp__mindir_out_attr_list(o->node, "step");
    const sp_meta *x = sp__mindir_out_meta(o, 0), *m = sp__mindir_out_result(o);
    int64_t from[SP_RANK_MAX], to[SP_RANK_MAX], by[SP_RANK_MAX], turned[SP_RANK_MAX];
    int n_turned = 0;
    bool whole = true;
    for (int i = 0; i < start.n; i++) {
        from[i] = start.v[i];
        to[i] = stop.v[i];
        by[i] = step.n < 0 ? 1 : step.v[i];
        if (by[i] < 0) {
            int64_t count = m->dims[i], first = start.v[i] >= x->dims[i] ? x->dims[i] - 1 : start.v[i];
            from[i] = first + (count - 1) * by[i];
            to[i] = first + 1;
            by[i] = -by[i];
            if (count == 0) from[i] = to[i] = 0;
            turned[n_turned++] = i;
        }
        whole &= from[i] == 0 && by[i] == 1 && (to[i] == x->dims[i] || to[i] == INT32_MAX);
    }
    sp_mindir_id in[9] = {sp__mindir_out_in(o, 0)};
    if (n_turned && whole) {
        SP_MINDIR_OUT_GIVE(o, "ReverseV2", NULL, in[0], sp__mindir_out_ints(o, n_turned, turned));
        return;
    }
    in[1] = sp__mindir_out_numbers(o, "start", start.n, from);
    in[2] = sp__mindir_out_numbers(o, "stop", start.n, to);
    in[3] = sp__mindir_out_ints(o, start.n, by);
    for (int i = 4; i < 9; i++) in[i] = sp__mindir_out_int(o, 0);
    if (!n_turned) sp__mindir_out_give(o, "StridedSlice", NULL, 9, in);
    else
        SP_MINDIR_OUT_GIVE(o, "ReverseV2", NULL, sp__mindir_out_op(o, "StridedSlice", NULL, 9, in, m),
                           sp__mindir_out_ints(o, n_turned, turned));
}

/* Of free sizes only whole dimensions can be turned round. */
static bool slice_fits(const sp_node *n)
{
    sp_ints step = sp__mindir_out_attr_list(n, "step"), start = sp__mindir_out_attr_list(n, "start"),
            stop = sp__mindir_out_attr_list(n, "stop");
    for (int i = 0; i < step.n; i++)
        if (step.v[i] < 0 && n->in[0]->meta.dims[i] < 0 && !(step.v[i] == -1 && stop.v[i] == -1 && start.v[i] < 0))
            return false;
    return true;
}

/* --- joins and parts --------------------------------------------------------------------------------------------- */

static void write_split(sp_mindir_out *o)
{
    sp_ints sizes = sp__mindir_out_attr_list(o->node, "sizes");
    bool equal = true;
    for (int i = 1; i < sizes.n; i++) equal &= sizes.v[i] == sizes.v[0];
    sp_mindir_id x = sp__mindir_out_in(o, 0), axis = sp__mindir_out_attr(o, "axis");
    if (equal) SP_MINDIR_OUT_GIVE(o, "Split", NULL, x, axis, sp__mindir_out_int(o, sizes.n));
    else SP_MINDIR_OUT_GIVE(o, "SplitWithSize", NULL, x, sp__mindir_out_ints(o, sizes.n, sizes.v), axis);
}

static void write_unstack(sp_mindir_out *o)
{
    sp__mindir_out_give(o, "Unstack",
                        sp__mindir_out_text(o, "axis=%lld, num=%d", (long long)sp__mindir_out_attr_int(o->node, "axis"),
                                            o->node->n_out),
                        1, (sp_mindir_id[]){sp__mindir_out_in(o, 0)});
}

/* Padding: a value put into the middle of one number. */
static bool fuse_pad(const sp_node *n, sp_mindir_out_fused *f)
{
    sp_ints start = sp__mindir_out_attr_list(n, "start"), step = sp__mindir_out_attr_list(n, "step");
    const sp_meta *x = &n->in[0]->meta, *v = &n->in[1]->meta;
    if (x->rank != v->rank || !uniform(n->in[0], &f->number)) return false;
    for (int i = 0; i < x->rank; i++) {
        int64_t from = i < start.n ? start.v[i] : 0;
        if (x->dims[i] < 0 || v->dims[i] < 0) continue; /* looked at in all recordings, mindir_free.c */
        if (from < 0 || from + v->dims[i] > x->dims[i] || (i >= start.n && v->dims[i] != x->dims[i])) return false;
        if (i < step.n && step.v[i] != 1) return false;
        sp_ints stop = sp__mindir_out_attr_list(n, "stop");
        if (i < start.n && stop.v[i] - from != v->dims[i]) return false; /* the value is broadcast */
    }
    f->n = 1;
    f->in[0] = n->in[1];
    return true;
}

static bool is_pad(const sp_node *n)
{
    sp_mindir_out_fused f;
    return fuse_pad(n, &f);
}

static void write_pad(sp_mindir_out *o)
{
    const sp_mindir_out_fused *f = o->fused[o->node->id];
    const sp_ints start = sp__mindir_out_attr_list(o->node, "start"), stop = sp__mindir_out_attr_list(o->node, "stop");
    const sp_meta *x = sp__mindir_out_meta(o, 1), *to = sp__mindir_out_result(o);
    int64_t pads[2 * SP_RANK_MAX] = {0}; /* before and behind each dimension, from the last one on */
    for (int k = 0; k < start.n; k++) {
        const bool open = to->dims[k] < 0 || x->dims[k] < 0;
        int64_t *pad = pads + 2 * (x->rank - 1 - k);
        pad[0] = start.v[k];
        pad[1] = !open ? to->dims[k] - x->dims[k] - pad[0] : stop.v[k] == INT32_MAX ? 0 : -stop.v[k];
    }
    SP_MINDIR_OUT_GIVE(o, "PadV3", "mode='constant', paddings_contiguous=True", sp__mindir_out_use(o, f->in[0]),
                       sp__mindir_out_ints(o, 2 * x->rank, pads), sp__mindir_out_scalar(o, to->dtype, f->number));
}

/* --- order ------------------------------------------------------------------------------------------------------- */

/* Indices are int32 there; we have mostly int64. */
static void give_pair(sp_mindir_out *o, sp_mindir_id pair, const sp_meta *values, const sp_meta *indices,
                      const int64_t *perm)
{
    for (int i = 0; i < 2; i++) {
        const sp_value *v = o->node->out[i];
        sp_meta m = i ? *indices : *values;
        bool last = !perm && m.dtype == v->meta.dtype;
        sp_mindir_id item = sp__mindir_out_item(o, pair, i, &m, last ? sp__mindir_out_name(o, v) : NULL);
        if (last) continue;
        if (perm) {
            sp_mindir_id in[2] = {item, sp__mindir_out_ints(o, m.rank, perm)};
            bool done = m.dtype == v->meta.dtype;
            sp_meta turned = v->meta;
            turned.dtype = m.dtype;
            if (done)
                sp__mindir_out_results(o, sp__mindir_out_instance(o, "Transpose", NULL), 2, in, 1, &o->node->out[i],
                                       false);
            else item = sp__mindir_out_op(o, "Transpose", NULL, 2, in, &turned);
            if (done) continue;
        }
        sp_mindir_id in[2] = {item, sp__mindir_out_int(o, sp__mindir_out_type_number(v->meta.dtype))};
        sp__mindir_out_results(o, sp__mindir_out_instance(o, "Cast", NULL), 2, in, 1, &o->node->out[i], false);
    }
}

/* One element is in order. */
static void give_one(sp_mindir_out *o)
{
    sp_mindir_id in[2] = {sp__mindir_out_in(o, 0), sp__mindir_out_ints(o, 0, NULL)};
    sp__mindir_out_results(o, sp__mindir_out_instance(o, "Reshape", NULL), 2, in, 1, &o->node->out[0], false);
    sp_mindir_id zero[2] = {sp__mindir_out_scalar(o, o->node->out[1]->meta.dtype, 0), sp__mindir_out_ints(o, 0, NULL)};
    sp__mindir_out_results(o, sp__mindir_out_instance(o, "Reshape", NULL), 2, zero, 1, &o->node->out[1], false);
}

static void write_sort(sp_mindir_out *o)
{
    sp_meta indices = o->node->out[1]->meta;
    indices.dtype = SP_DTYPE_I32;
    const sp_meta *metas[2] = {&o->node->out[0]->meta, &indices};
    if (metas[0]->rank == 0) {
        give_one(o);
        return;
    }
    const char *attrs =
        sp__mindir_out_text(o, "axis=%lld, descending=%s", (long long)sp__mindir_out_attr_int(o->node, "axis"),
                            sp__mindir_out_attr_int(o->node, "descending") ? "True" : "False");
    sp_mindir_id pair = sp__mindir_out_many(o, "Sort", attrs, 1, (sp_mindir_id[]){sp__mindir_out_in(o, 0)}, 2, metas);
    give_pair(o, pair, metas[0], &indices, NULL);
}

/* TopK works along the last axis and gives the largest. */
static void write_topk(sp_mindir_out *o)
{
    const sp_meta *x = sp__mindir_out_meta(o, 0);
    int axis = sp__mindir_out_axis(o->node, "axis", x->rank), last = x->rank - 1;
    int64_t perm[SP_RANK_MAX];
    for (int i = 0; i <= last; i++) perm[i] = i;
    bool moved = axis != last;
    sp_mindir_id in = sp__mindir_out_in(o, 0);
    if (moved) {
        perm[axis] = last;
        perm[last] = axis;
        in = sp__mindir_out_transpose(o, in, x, perm);
    }
    sp_meta values = o->node->out[0]->meta;
    values.dims[last] = o->node->out[0]->meta.dims[axis];
    values.dims[axis] = o->node->out[0]->meta.dims[last];
    sp_meta indices = values;
    indices.dtype = SP_DTYPE_I32;
    const sp_meta *metas[2] = {&values, &indices};
    sp_mindir_id pair =
        sp__mindir_out_many(o, "TopK", "sorted=True", 2, (sp_mindir_id[]){in, sp__mindir_out_attr(o, "k")}, 2, metas);
    give_pair(o, pair, &values, &indices, moved ? perm : NULL);
}

/* The smallest: the first of all in order. */
static void write_least(sp_mindir_out *o)
{
    const sp_meta *x = sp__mindir_out_meta(o, 0);
    int axis = sp__mindir_out_axis(o->node, "axis", x->rank);
    int64_t from[SP_RANK_MAX] = {0}, to[SP_RANK_MAX], by[SP_RANK_MAX];
    sp_meta indices = *x;
    indices.dtype = SP_DTYPE_I32;
    const sp_meta *metas[2] = {x, &indices};
    sp_mindir_id pair = sp__mindir_out_many(o, "Sort", sp__mindir_out_text(o, "axis=%d, descending=False", axis), 1,
                                            (sp_mindir_id[]){sp__mindir_out_in(o, 0)}, 2, metas);
    for (int i = 0; i < x->rank; i++) {
        to[i] = i == axis ? sp__mindir_out_attr_int(o->node, "k") : x->dims[i];
        by[i] = 1;
    }
    for (int k = 0; k < 2; k++) {
        sp_mindir_id in[9] = {sp__mindir_out_item(o, pair, k, metas[k], NULL), sp__mindir_out_ints(o, x->rank, from),
                              sp__mindir_out_ints(o, x->rank, to), sp__mindir_out_ints(o, x->rank, by)};
        for (int i = 4; i < 9; i++) in[i] = sp__mindir_out_int(o, 0);
        bool as_is = metas[k]->dtype == o->node->out[k]->meta.dtype;
        sp_meta m = o->node->out[k]->meta;
        m.dtype = metas[k]->dtype;
        if (as_is)
            sp__mindir_out_results(o, sp__mindir_out_instance(o, "StridedSlice", NULL), 9, in, 1, &o->node->out[k],
                                   false);
        else {
            sp_mindir_id cast[2] = {sp__mindir_out_op(o, "StridedSlice", NULL, 9, in, &m),
                                    sp__mindir_out_int(o, sp__mindir_out_type_number(o->node->out[k]->meta.dtype))};
            sp__mindir_out_results(o, sp__mindir_out_instance(o, "Cast", NULL), 2, cast, 1, &o->node->out[k], false);
        }
    }
}

static bool takes_largest(const sp_node *n) { return sp__mindir_out_attr_int(n, "largest"); }

static void write_scan(sp_mindir_out *o)
{
    sp_meta m;
    sp_mindir_id in[4] = {sp__mindir_out_lift(o, &m), sp__mindir_out_attr(o, "axis"),
                          sp__mindir_out_attr(o, "exclusive"), sp__mindir_out_attr(o, "reverse")};
    sp__mindir_out_give_lifted(o, o->node->op->mindir, NULL, 4, in);
}

static void write_cummax(sp_mindir_out *o)
{
    bool max = o->node->op == &sp_op_cummax;
    const sp_meta *metas[2] = {&o->node->out[0]->meta, &o->node->out[1]->meta};
    sp_meta indices = *metas[1];
    indices.dtype = max ? SP_DTYPE_I64 : SP_DTYPE_I32;
    metas[1] = &indices;
    sp_mindir_id pair =
        sp__mindir_out_many(o, max ? "Cummax" : "Cummin", NULL, 2,
                            (sp_mindir_id[]){sp__mindir_out_in(o, 0), sp__mindir_out_attr(o, "axis")}, 2, metas);
    give_pair(o, pair, metas[0], &indices, NULL);
}

const sp_mindir_out_rule sp__mindir_out_shape[] = {
    SP_MINDIR_OUT_CODE("reshape", write_reshape),
    SP_MINDIR_OUT_CODE("transpose", write_transpose),
    SP_MINDIR_OUT_CODE("broadcast_to", write_broadcast),
    SP_MINDIR_OUT_CODE("full", write_full),
    SP_MINDIR_OUT_CODE("arange", write_arange),
    SP_MINDIR_OUT_CODE("eye", write_made),
    SP_MINDIR_OUT_CODE("linspace", write_made),
    SP_MINDIR_OUT_CODE_IF("slice", write_slice, slice_fits),
    SP_MINDIR_OUT_TEXT("concat", "Concat(*, axis)"),
    SP_MINDIR_OUT_TEXT("stack", "Stack(*){axis}"),
    SP_MINDIR_OUT_CODE("unstack", write_unstack),
    SP_MINDIR_OUT_CODE("split", write_split),
    {.op = "slice_put", .write = write_pad, .takes = is_pad, .fuse = fuse_pad},
    SP_MINDIR_OUT_CODE("sort", write_sort),
    SP_MINDIR_OUT_CODE_IF("topk", write_topk, takes_largest),
    SP_MINDIR_OUT_CODE("topk", write_least),
    SP_MINDIR_OUT_CODE("scan_sum", write_scan),
    SP_MINDIR_OUT_CODE("scan_prod", write_scan),
    SP_MINDIR_OUT_CODE("cummax", write_cummax),
    SP_MINDIR_OUT_CODE("cummin", write_cummax),
    SP_MINDIR_OUT_TEXT("tril", "Tril(input){diagonal}"),
    SP_MINDIR_OUT_TEXT("triu", "Triu(input, diagonal)"),
    SP_MINDIR_OUT_TEXT("diagonal", "Diagonal(input, offset, dim1, dim2)"),
    {.op = NULL},
};
