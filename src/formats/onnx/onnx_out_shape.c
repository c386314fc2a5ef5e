/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_shape.c - how operators that move elements are written to ONNX.
 *
 * Many of them have no ONNX operator, but where each element comes from does not depend on the contents: the operator itself, run
 * on the numbers of the elements, tells. The model then holds that list and a Gather. */
#include <stdio.h>
#include <string.h>

#include "formats/onnx/onnx_out_run.h"

/* --- shapes ------------------------------------------------------------------------------------------------------ */

/* Sizes that depend on free ones: 0 takes that of the operand at the same place, one may be -1, others are computed. */
static void write_reshape(sp_onnx_out *o)
{
    const sp_value *x = o->node->in[0], *y = o->node->out[0];
    int64_t at[SP_RANK_MAX][SP_TRIALS_MAX], of[SP_TRIALS_MAX];
    int n_open = 0, last = -1;
    bool empty = false; /* a size of 0 would be taken for "as before" */
    for (int k = 0; k < y->meta.rank; k++) {
        at[k][0] = y->meta.dims[k];
        empty |= y->meta.dims[k] == 0;
        if (!sp__onnx_out_open(o, y, k)) {
            for (int i = 1; i < o->sizes.n; i++) at[k][i] = at[k][0];
            continue;
        }
        sp__sizes_result(&o->sizes, o->node, 0, k, at[k]);
        if (k < x->meta.rank) sp__sizes_operand(&o->sizes, o->node, 0, k, of);
        bool same = k < x->meta.rank && !memcmp(of, at[k], (size_t)o->sizes.n * sizeof *of);
        for (int i = 0; same && i < o->sizes.n; i++) at[k][i] = 0;
        n_open += !same;
        if (!same) last = k;
    }
    if (n_open == 1)
        for (int i = 0; i < o->sizes.n; i++) at[last][i] = -1;
    if (!empty) o->out[0] = SP_ONNX_OUT(o, "Reshape", NULL, o->in[0], sp__onnx_out_size_list(o, y->meta.rank, at));
    else if (o->opset >= 14)
        o->out[0] =
            SP_ONNX_OUT(o, "Reshape", "allowzero=1", o->in[0], sp__onnx_out_ints(o, y->meta.rank, y->meta.dims));
    else { /* nothing in, nothing out */ sp_tensor *t;
        sp_status status = sp_tensor_create_zeros(y->meta.dtype, y->meta.rank, y->meta.dims, &t);
        if (status == SP_OK) o->out[0] = sp__onnx_out_take_tensor(o, t, NULL);
        else sp__onnx_out_fail(o, status);
    }
}

static void write_transpose(sp_onnx_out *o)
{
    sp_ints perm = sp__onnx_out_list(o, "perm");
    int rank = sp__onnx_out_meta(o, 0)->rank;
    int64_t p[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) p[i] = perm.n < 0 ? rank - 1 - i : perm.v[i] < 0 ? perm.v[i] + rank : perm.v[i];
    o->out[0] = sp__onnx_out_transpose(o, o->in[0], rank, p);
}

static void write_expand(sp_onnx_out *o)
{
    o->out[0] = SP_ONNX_OUT(o, "Expand", NULL, o->in[0], sp__onnx_out_result_shape(o, 0));
}

/* Start or stop of dimension i, counted from the end where the distance to it is what is fixed, in all recordings. `end`: beyond the last element. */
static void slice_bound(sp_onnx_out *o, const char *name, int i, int64_t end, int64_t *at)
{
    const sp_sizes *s = &o->sizes;
    int64_t size[SP_TRIALS_MAX] = {sp__onnx_out_meta(o, 0)->dims[i]}, from_end[SP_TRIALS_MAX];
    at[0] = sp__onnx_out_list(o, name).v[i];
    if (o->other) {
        sp__sizes_attr(s, o->node, name, i, at);
        sp__sizes_operand(s, o->node, 0, i, size);
    }
    const int n = o->other ? s->n : 1;
    bool whole = true;
    for (int k = 0; k < n; k++) {
        from_end[k] = at[k] - size[k];
        whole = whole && from_end[k] >= 0;
    }
    const bool open = o->other && !sp__sizes_fixed(s, size);
    for (int k = 0; k < n; k++)
        if (whole && (!open || !sp__sizes_fixed(s, at))) at[k] = end;
        else if (open && !sp__sizes_fixed(s, at) && sp__sizes_fixed(s, from_end)) at[k] = from_end[0];
}

/* Python's slices; what ends with the dimension ends with it whatever its size. */
static void write_slice(sp_onnx_out *o)
{
    sp_ints start = sp__onnx_out_list(o, "start"), step = sp__onnx_out_list(o, "step");
    int64_t from[SP_RANK_MAX][SP_TRIALS_MAX], to[SP_RANK_MAX][SP_TRIALS_MAX], by[SP_RANK_MAX], axes[SP_RANK_MAX];
    int n = 0;
    for (int i = 0; i < start.n; i++) {
        const int64_t s = step.n < 0 ? 1 : step.v[i];
        slice_bound(o, "start", i, INT64_MAX, from[n]);
        slice_bound(o, "stop", i, INT64_MAX, to[n]);
        for (int k = 0; s < 0 && k < o->sizes.n; k++) { /* positions, and -1 is before the first */
            const sp_node *t = o->node;
            for (int skip = 0; skip < k; skip++) t = t->mark;
            sp_attr_type type;
            if (((const sp_ints *)sp__node_attr_at(t, "stop", &type))->v[i] < 0) to[n][k] = INT64_MIN + 1;
            if (((const sp_ints *)sp__node_attr_at(t, "start", &type))->v[i] < 0) from[n][k] = INT64_MIN + 1;
        }
        if (from[n][0] == 0 && to[n][0] == INT64_MAX && s == 1 && (!o->other || sp__sizes_fixed(&o->sizes, from[n])))
            continue;
        by[n] = s;
        axes[n++] = i;
    }
    sp_onnx_id in[5] = {o->in[0]};
    if (n) {
        in[1] = sp__onnx_out_size_list(o, n, from);
        in[2] = sp__onnx_out_size_list(o, n, to);
        in[3] = sp__onnx_out_ints(o, n, axes);
        in[4] = sp__onnx_out_ints(o, n, by);
    }
    o->out[0] = n ? sp__onnx_out_op(o, "Slice", 5, in, NULL) : o->in[0];
}

/* --- places that the operator itself tells ----------------------------------------------------------------------- */

/* x flat, picked by a list; place 0 of the list is an added zero. */
static void write_moved(sp_onnx_out *o)
{
    sp_tensor *numbers = sp__onnx_out_iota(o, 0, 1), *map = sp__onnx_out_run(o, &numbers, 1, 0);
    const sp_meta *result = sp__onnx_out_result(o, 0);
    bool zeros = false;
    for (int64_t i = 0; map && i < sp_tensor_count(map); i++) zeros |= ((int64_t *)sp_tensor_data(map))[i] == 0;
    for (int64_t i = 0; map && !zeros && i < sp_tensor_count(map); i++) ((int64_t *)sp_tensor_data(map))[i]--;
    sp_tensor_release(numbers);
    if (!map) return;
    sp_onnx_id flat = SP_ONNX_OUT_RESHAPE(o, o->in[0], -1);
    if (zeros)
        flat = SP_ONNX_OUT(o, "Concat", "axis=0",
                           sp__onnx_out_table(o, result->dtype, 1, (int64_t[]){1}, sp__onnx_out_zero, NULL), flat);
    o->out[0] = SP_ONNX_OUT(o, "Gather", "axis=0", flat, sp__onnx_out_take_tensor(o, map, NULL));
}

/* A list of places as a mask of those that are one, and the places, 0 elsewhere. */
static void split_places(sp_onnx_out *o, const sp_tensor *map, sp_onnx_id *mask, sp_onnx_id *places)
{
    sp_tensor *m = NULL, *p = NULL;
    sp_status status = sp_tensor_create(SP_DTYPE_BOOL, map->rank, map->dims, &m);
    if (status == SP_OK) status = sp_tensor_create(SP_DTYPE_I64, map->rank, map->dims, &p);
    if (status != SP_OK) {
        sp_tensor_release(m);
        sp__onnx_out_fail(o, status);
        return;
    }
    for (int64_t i = 0; i < map->count; i++) {
        int64_t place = ((const int64_t *)(const void *)map->data)[i];
        ((bool *)sp_tensor_data(m))[i] = place >= 0;
        ((int64_t *)sp_tensor_data(p))[i] = place < 0 ? 0 : place;
    }
    *mask = sp__onnx_out_take_tensor(o, m, NULL);
    *places = sp__onnx_out_take_tensor(o, p, NULL);
}

/* The number that a frame consists of. */
static sp_onnx_id frame_number(sp_onnx_out *o, const sp_value *frame)
{
    sp_tensor *one = NULL;
    const int64_t none = 0;
    sp_attr_type type;
    if (frame->origin != SP_VALUE_CONSTANT) {
        const sp_number *v = sp__node_attr_at(frame->node, "value", &type);
        return v->kind == 'f' ? sp__onnx_out_scalar(o, frame->meta.dtype, v->f)
                              : sp__onnx_out_cast(o, sp__onnx_out_whole(o, SP_DTYPE_I64, v->i), frame->meta.dtype);
    }
    sp_status status = sp_tensor_create_from(frame->meta.dtype, 0, &none, frame->constant->data, &one);
    if (status != SP_OK) return sp__onnx_out_fail(o, status), 0;
    return sp__onnx_out_take_tensor(o, one, NULL);
}

/* A value inside a frame of one number is Pad. */
static bool write_frame(sp_onnx_out *o)
{
    int64_t pads[2 * SP_RANK_MAX][SP_TRIALS_MAX];
    const sp_value *x = o->node->in[0];
    const int rank = x->meta.rank;
    const sp_sizes one = {.n = 1}; /* of a network whose sizes are all known */
    if (sp_dtype_kind(x->meta.dtype) == 'c' ||
        !sp__sizes_frame(o->other ? &o->sizes : &one, o->node, pads, pads + rank))
        return false;
    o->out[0] = SP_ONNX_OUT(o, "Pad", NULL, sp__onnx_out_cast(o, o->in[1], x->meta.dtype),
                            sp__onnx_out_size_list(o, 2 * rank, pads), frame_number(o, x));
    return true;
}

/* Where the list has a number, that element of the value; elsewhere x. */
static void write_put(sp_onnx_out *o)
{
    if (o->node->op == &sp_op_slice_put && write_frame(o)) return;
    sp_tensor *in[2] = {sp__onnx_out_iota(o, 0, 0), sp__onnx_out_iota(o, 1, 0)};
    bool empty = !in[0] || !in[1] || in[0]->count == 0 || in[1]->count == 0;
    for (int64_t i = 0; !empty && i < in[0]->count; i++) ((int64_t *)sp_tensor_data(in[0]))[i] = -1;
    sp_tensor *map = empty ? NULL : sp__onnx_out_run(o, in, 2, 0);
    sp_onnx_id mask = 0, places = 0;
    if (empty) o->out[0] = o->in[0];
    else if (map) {
        split_places(o, map, &mask, &places);
        sp_onnx_id value = sp__onnx_out_cast(o, SP_ONNX_OUT_RESHAPE(o, o->in[1], -1), sp__onnx_out_meta(o, 0)->dtype);
        o->out[0] = sp__onnx_out_where(o, mask, SP_ONNX_OUT(o, "Gather", "axis=0", value, places), o->in[0]);
    }
    sp_tensor_release(map);
    sp_tensor_release(in[0]);
    sp_tensor_release(in[1]);
}

/* --- index tensors ----------------------------------------------------------------------------------------------- */

/* What index tensors select: axes of x, the tensors' common shape, and where it stands in the result. */
typedef struct {
    int n, axes[SP_RANK_MAX], rank, place, b_rank, result_rank;
    int64_t b_dims[SP_RANK_MAX];
    bool chosen[SP_RANK_MAX];
} selection;

/* Index tensors are operands from `first` on. */
static void select_axes(sp_onnx_out *o, int first, selection *s)
{
    sp_ints axes = sp__onnx_out_list(o, "axes");
    s->n = o->node->n_in - first;
    s->rank = sp__onnx_out_meta(o, 0)->rank;
    s->b_rank = 0;
    for (int i = 0; i < s->n; i++) {
        int64_t a = axes.n < 0 ? i : axes.v[i];
        s->axes[i] = (int)(a < 0 ? a + s->rank : a);
        s->chosen[s->axes[i]] = true;
        int r = sp__onnx_out_meta(o, first + i)->rank;
        if (r > s->b_rank) s->b_rank = r;
    }
    for (int k = 0; k < s->b_rank; k++) s->b_dims[k] = 1;
    bool together = true;
    for (int i = 0; i < s->n; i++) {
        const sp_meta *m = sp__onnx_out_meta(o, first + i);
        for (int k = 0; k < m->rank; k++)
            if (m->dims[k] != 1) s->b_dims[s->b_rank - m->rank + k] = m->dims[k];
        if (i) together &= s->axes[i] == s->axes[i - 1] + 1;
    }
    s->place = together ? s->axes[0] : 0;
    s->result_rank = s->rank - s->n + s->b_rank;
}

/* (..B, n): coordinates of every place. */
static sp_onnx_id coordinates(sp_onnx_out *o, int first, const selection *s)
{
    sp_onnx_id parts[SP_RANK_MAX];
    for (int i = 0; i < s->n; i++) {
        sp_onnx_id v = sp__onnx_out_cast(o, o->in[first + i], SP_DTYPE_I64);
        if (s->n > 1) {
            sp__onnx_out_fix(o, first + i);
            v = SP_ONNX_OUT(o, "Expand", NULL, v, sp__onnx_out_ints(o, s->b_rank, s->b_dims));
        }
        parts[i] = sp__onnx_out_unsqueeze(o, v, -1);
    }
    return s->n > 1 ? sp__onnx_out_op(o, "Concat", s->n, parts, "axis=-1") : parts[0];
}

/* Indexed axes in front, the rest in order. */
static void front_perm(const selection *s, int64_t *perm)
{
    int n = 0;
    for (int i = 0; i < s->n; i++) perm[n++] = s->axes[i];
    for (int k = 0; k < s->rank; k++)
        if (!s->chosen[k]) perm[n++] = k;
}

/* Result (pre, B, post) from and to (B, pre, post). */
static void place_perm(const selection *s, bool back, int64_t *perm)
{
    int n_pre = s->place, rank = s->result_rank;
    for (int i = 0; i < rank; i++) {
        int from = i < n_pre ? s->b_rank + i : i < n_pre + s->b_rank ? i - n_pre : i;
        if (back) perm[from] = i;
        else perm[i] = from;
    }
}

static void write_index(sp_onnx_out *o)
{
    selection s = {0};
    int64_t perm[SP_RANK_MAX];
    select_axes(o, 1, &s);
    if (s.n == 0) o->out[0] = o->in[0];
    else if (s.n == 1)
        o->out[0] =
            sp__onnx_out_op(o, "Gather", 2, (sp_onnx_id[]){o->in[0], sp__onnx_out_cast(o, o->in[1], SP_DTYPE_I64)},
                            "axis=%d", s.axes[0]);
    else {
        front_perm(&s, perm);
        sp_onnx_id x = sp__onnx_out_transpose(o, o->in[0], s.rank, perm);
        sp_onnx_id y = SP_ONNX_OUT(o, "GatherND", NULL, x, coordinates(o, 1, &s));
        place_perm(&s, false, perm);
        o->out[0] = s.place ? sp__onnx_out_transpose(o, y, s.result_rank, perm) : y;
    }
}

/* Values combined into x (flat places, rest) at places (L), without an operator that can: through a mask (L, places). */
static sp_onnx_id combine_masked(sp_onnx_out *o, sp_onnx_id x, sp_onnx_id places, sp_onnx_id values, int64_t n_places,
                                 const char *how)
{
    sp_onnx_id range = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){1, n_places}, sp__onnx_out_count, NULL);
    sp_onnx_id hit = SP_ONNX_OUT(o, "Equal", NULL, sp__onnx_out_unsqueeze(o, places, 1), range); /* L, places */
    sp_dtype d = sp__onnx_out_dtype(o, x);
    bool is_float = sp_dtype_kind(d) == 'f', max = !strcmp(how, "max");
    double least = is_float            ? (double)-INFINITY
                   : d == SP_DTYPE_I64 ? -9.2e18
                                       : -2147483648.0,
           most = is_float            ? (double)INFINITY
                  : d == SP_DTYPE_I64 ? 9.2e18
                                      : 2147483647.0;
    const char *op = !strcmp(how, "add")   ? "ReduceSum"
                     : !strcmp(how, "mul") ? "ReduceProd"
                     : max                 ? "ReduceMax"
                                           : "ReduceMin";
    double start = !strcmp(how, "add") ? 0 : !strcmp(how, "mul") ? 1 : max ? least : most;
    sp_onnx_id spread = sp__onnx_out_where(o, sp__onnx_out_unsqueeze(o, hit, 2), sp__onnx_out_unsqueeze(o, values, 1),
                                           sp__onnx_out_scalar(o, d, start));
    sp_onnx_id all = sp__onnx_out_reduce(o, op, spread, 1, (int64_t[]){0}, false);
    return SP_ONNX_OUT(o,
                       !strcmp(how, "add")   ? "Add"
                       : !strcmp(how, "mul") ? "Mul"
                       : max                 ? "Max"
                                             : "Min",
                       NULL, x, all);
}

static bool can_scatter(const sp_onnx_out *o, const char *how)
{
    return !strcmp(how, "none") || o->opset >= 18 || (o->opset >= 16 && (!strcmp(how, "add") || !strcmp(how, "mul")));
}

/* The dtype in which values are combined: small integers, truth values and half floats are not by ONNX Runtime. */
static sp_dtype combined_as(sp_dtype d, const char *how)
{
    if (!strcmp(how, "none") || d == SP_DTYPE_F64 || d == SP_DTYPE_I64 || d == SP_DTYPE_U64) return d;
    return sp_dtype_kind(d) == 'f' ? SP_DTYPE_F32 : d == SP_DTYPE_U32 ? SP_DTYPE_I64 : SP_DTYPE_I32;
}

/* x with values (shape of the index's result, broadcast) combined at the places: through (B, rest). */
static void scatter_at(sp_onnx_out *o, int first, sp_onnx_id value, const char *how)
{
    selection s = {0};
    int64_t perm[SP_RANK_MAX], inverse[SP_RANK_MAX], dims[SP_RANK_MAX], n_places = 1, n_rest = 1, lead = 0;
    int n = 0;
    select_axes(o, first, &s);
    for (int k = 0; k < s.rank; k++) sp__onnx_out_fixed(o, 0, k);
    const sp_meta *x = sp__onnx_out_meta(o, 0), *v = sp__onnx_out_meta(o, 1);
    sp_dtype d = combined_as(x->dtype, how);
    if (!strcmp(how, "div") && sp_dtype_kind(x->dtype) != 'f') {
        sp__onnx_out_fail(
            o, sp__fail(SP_DECLINED, "division of integers at places that tensors name has no counterpart in ONNX"));
        return;
    }
    value = sp__onnx_out_cast(o, value, d);
    o->in[0] = sp__onnx_out_cast(o, o->in[0], d);
    if (!strcmp(how, "sub")) value = SP_ONNX_OUT(o, "Neg", NULL, value), how = "add";
    if (!strcmp(how, "div")) value = sp__onnx_out_div(o, sp__onnx_out_scalar(o, d, 1), value), how = "mul";
    for (int k = 0; k < s.place; k++) dims[n++] = x->dims[k];
    for (int k = 0; k < s.b_rank; k++) dims[n++] = s.b_dims[k];
    for (int k = 0, passed = 0; k < s.rank; k++) {
        if (s.chosen[k]) n_places *= x->dims[k];
        else n_rest *= x->dims[k];
        if (!s.chosen[k] && passed++ >= s.place) dims[n++] = x->dims[k];
    }
    while (v->rank - lead > s.result_rank) lead++;
    if (lead) value = sp__onnx_out_reshape(o, value, v->rank - (int)lead, v->dims + lead);
    value = SP_ONNX_OUT(o, "Expand", NULL, value, sp__onnx_out_ints(o, s.result_rank, dims));
    place_perm(&s, true, perm);
    if (s.place) value = sp__onnx_out_transpose(o, value, s.result_rank, perm);
    front_perm(&s, perm);
    for (int k = 0; k < s.rank; k++) inverse[perm[k]] = k;
    sp_onnx_id moved = sp__onnx_out_transpose(o, o->in[0], s.rank, perm), where = coordinates(o, first, &s), y;
    if (can_scatter(o, how))
        y = sp__onnx_out_op(o, "ScatterND", 3, (sp_onnx_id[]){moved, where, value},
                            strcmp(how, "none") ? "reduction='%s'" : NULL, how);
    else {
        int64_t n_values = 1, strides[SP_RANK_MAX] = {0}, sizes[SP_RANK_MAX] = {0}, back[SP_RANK_MAX];
        for (int k = 0; k < s.b_rank; k++) n_values *= s.b_dims[k];
        for (int i = s.n - 1, step = 1; i >= 0; step *= (int)x->dims[s.axes[i--]]) {
            strides[i] = step;
            sizes[i] = x->dims[s.axes[i]];
        }
        for (int k = 0; k < s.rank; k++) back[k] = x->dims[perm[k]];
        sp_onnx_id size = sp__onnx_out_ints(o, s.n, sizes),
                   negative = SP_ONNX_OUT(o, "Less", NULL, where, sp__onnx_out_whole(o, SP_DTYPE_I64, 0));
        where = sp__onnx_out_where(o, negative, sp__onnx_out_add(o, where, size), where);
        sp_onnx_id flat = sp__onnx_out_reduce(
            o, "ReduceSum", sp__onnx_out_mul(o, where, sp__onnx_out_ints(o, s.n, strides)), 1, (int64_t[]){-1}, false);
        y = combine_masked(o, SP_ONNX_OUT_RESHAPE(o, moved, n_places, n_rest), SP_ONNX_OUT_RESHAPE(o, flat, n_values),
                           SP_ONNX_OUT_RESHAPE(o, value, n_values, n_rest), n_places, how);
        y = sp__onnx_out_reshape(o, y, s.rank, back);
    }
    o->out[0] = sp__onnx_out_transpose(o, y, s.rank, inverse);
}

static void write_index_put(sp_onnx_out *o)
{
    scatter_at(o, 2, sp__onnx_out_cast(o, o->in[1], sp__onnx_out_meta(o, 0)->dtype),
               sp__onnx_out_int(o, "accumulate") ? "add" : "none");
}

static void write_index_combine(sp_onnx_out *o)
{
    scatter_at(o, 2, sp__onnx_out_cast(o, o->in[1], sp__onnx_out_meta(o, 0)->dtype), sp__onnx_out_text(o, "reduce"));
}

static void write_gather_elements(sp_onnx_out *o)
{
    const char *attr = o->node->op == &sp_op_line_take ? "axis" : "dim";
    int rank = sp__onnx_out_meta(o, 0)->rank;
    sp_onnx_id index = sp__onnx_out_cast(o, o->in[1], SP_DTYPE_I64);
    if (rank == 0) o->out[0] = o->in[0];
    else
        o->out[0] = sp__onnx_out_op(o, "GatherElements", 2, (sp_onnx_id[]){o->in[0], index}, "axis=%d",
                                    sp__onnx_out_axis(o, attr, rank));
}

/* Number in a row-major tensor of the place that element i of the index has, but for the axis. */
typedef struct {
    const sp_meta *x, *index;
    int axis;
} elements;

static double element_base(const void *context, int64_t i)
{
    const elements *e = context;
    int64_t place = 0, stride = 1;
    for (int k = e->x->rank - 1; k >= 0; k--) {
        int64_t at = i % e->index->dims[k];
        i /= e->index->dims[k];
        if (k != e->axis) place += at * stride;
        stride *= e->x->dims[k];
    }
    return (double)place;
}

static void scatter_elements(sp_onnx_out *o, sp_onnx_id x, sp_onnx_id index, sp_onnx_id src, const sp_meta *xm,
                             const sp_meta *im, int axis, const char *how)
{
    sp_dtype d = combined_as(xm->dtype, how);
    index = sp__onnx_out_cast(o, index, SP_DTYPE_I64);
    x = sp__onnx_out_cast(o, x, d);
    src = sp__onnx_out_cast(o, src, d);
    if (can_scatter(o, how)) {
        o->out[0] = sp__onnx_out_op(o, "ScatterElements", 3, (sp_onnx_id[]){x, index, src},
                                    strcmp(how, "none") ? "axis=%d, reduction='%s'" : "axis=%d", axis, how);
        return;
    }
    elements e = {xm, im, axis};
    int64_t stride = 1, count = 1;
    for (int k = 0; k < xm->rank; k++) count *= xm->dims[k];
    for (int k = axis + 1; k < xm->rank; k++) stride *= xm->dims[k];
    sp_onnx_id negative = SP_ONNX_OUT(o, "Less", NULL, index, sp__onnx_out_whole(o, SP_DTYPE_I64, 0));
    index = sp__onnx_out_where(o, negative,
                               sp__onnx_out_add(o, index, sp__onnx_out_whole(o, SP_DTYPE_I64, xm->dims[axis])), index);
    sp_onnx_id base = sp__onnx_out_table(o, SP_DTYPE_I64, im->rank, im->dims, element_base, &e);
    sp_onnx_id places =
        sp__onnx_out_add(o, sp__onnx_out_mul(o, index, sp__onnx_out_whole(o, SP_DTYPE_I64, stride)), base);
    sp_onnx_id y = combine_masked(o, SP_ONNX_OUT_RESHAPE(o, x, count, 1), SP_ONNX_OUT_RESHAPE(o, places, -1),
                                  SP_ONNX_OUT_RESHAPE(o, src, -1, 1), count, how);
    o->out[0] = sp__onnx_out_reshape(o, y, xm->rank, xm->dims);
}

static void write_scatter_elements(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    if (!can_scatter(o, sp__onnx_out_text(o, "reduce"))) sp__onnx_out_fix(o, 0), sp__onnx_out_fix(o, 1);
    if (x->rank == 0) {
        sp__onnx_out_fail(o, sp__fail(SP_DECLINED, "scattering into a scalar has no counterpart in ONNX"));
        return;
    }
    scatter_elements(o, o->in[0], o->in[1], sp__onnx_out_cast(o, o->in[2], x->dtype), x, sp__onnx_out_meta(o, 1),
                     sp__onnx_out_axis(o, "axis", x->rank), sp__onnx_out_text(o, "reduce"));
}

/* Values added at their index, into nothing. */
static void write_line_put(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    sp__onnx_out_fix(o, 0);
    sp_onnx_id zeros = sp__onnx_out_table(o, x->dtype, x->rank, x->dims, sp__onnx_out_zero, NULL);
    scatter_elements(o, zeros, o->in[1], o->in[0], x, sp__onnx_out_meta(o, 1), sp__onnx_out_axis(o, "axis", x->rank),
                     "add");
}

/* --- the rest ---------------------------------------------------------------------------------------------------- */

static void write_nonzero(sp_onnx_out *o)
{
    sp_onnx_id found = SP_ONNX_OUT(o, "NonZero", NULL, o->in[0]);
    int rank = sp__onnx_out_meta(o, 0)->rank;
    if (rank == 0) { /* ONNX gives a scalar one coordinate, we none */
        sp_onnx_id one = SP_ONNX_OUT(o, "NonZero", NULL, SP_ONNX_OUT_RESHAPE(o, o->in[0], 1));
        o->out[0] = sp__onnx_out_slice(o, sp__onnx_out_transpose(o, one, 2, (int64_t[]){1, 0}), 1, (int64_t[]){0},
                                       (int64_t[]){0}, (int64_t[]){1}, NULL);
    } else o->out[0] = sp__onnx_out_transpose(o, found, 2, (int64_t[]){1, 0});
}

static void write_concat(sp_onnx_out *o)
{
    int n = o->node->n_in;
    o->out[0] = sp__onnx_out_op(o, "Concat", n, n > 64 ? o->more_in : o->in, "axis=%d",
                                sp__onnx_out_axis(o, "axis", sp__onnx_out_result(o, 0)->rank));
}

static void write_split(sp_onnx_out *o)
{
    sp_ints sizes = sp__onnx_out_list(o, "sizes");
    int axis = sp__onnx_out_axis(o, "axis", sp__onnx_out_meta(o, 0)->rank);
    if (o->node->n_out == 1) o->out[0] = o->in[0];
    else
        sp__onnx_out_op_many(o, "Split", 2, (sp_onnx_id[]){o->in[0], sp__onnx_out_ints(o, sizes.n, sizes.v)},
                             o->node->n_out, o->out, "axis=%d", axis);
}

static void write_unstack(sp_onnx_out *o)
{
    int axis = sp__onnx_out_axis(o, "axis", sp__onnx_out_meta(o, 0)->rank);
    for (int i = 0; i < o->node->n_out; i++)
        o->out[i] = sp__onnx_out_op(o, "Gather", 2, (sp_onnx_id[]){o->in[0], sp__onnx_out_whole(o, SP_DTYPE_I64, i)},
                                    "axis=%d", axis);
}

typedef struct {
    int64_t rows, columns, diagonal;
    bool upper;
} triangle;

static double in_triangle(const void *context, int64_t i)
{
    const triangle *t = context;
    int64_t distance = i % t->columns - i / t->columns;
    return t->upper ? distance >= t->diagonal : distance <= t->diagonal;
}

static void write_triangle(sp_onnx_out *o)
{
    bool upper = o->node->op == &sp_op_triu;
    int rank = sp__onnx_out_meta(o, 0)->rank;
    if (o->opset >= 14) {
        o->out[0] = sp__onnx_out_op(
            o, "Trilu", 2,
            (sp_onnx_id[]){o->in[0], sp__onnx_out_whole(o, SP_DTYPE_I64, sp__onnx_out_int(o, "diagonal"))}, "upper=%d",
            upper);
        return;
    }
    triangle t = {sp__onnx_out_fixed(o, 0, rank - 2), sp__onnx_out_fixed(o, 0, rank - 1),
                  sp__onnx_out_int(o, "diagonal"), upper};
    sp_onnx_id mask = sp__onnx_out_table(o, SP_DTYPE_BOOL, 2, (int64_t[]){t.rows, t.columns}, in_triangle, &t);
    o->out[0] = sp__onnx_out_where(o, mask, o->in[0], sp__onnx_out_scalar(o, sp__onnx_out_meta(o, 0)->dtype, 0));
}

static void write_full(sp_onnx_out *o)
{
    const sp_meta *m = sp__onnx_out_result(o, 0);
    sp_onnx_id value = sp_dtype_kind(m->dtype) == 'f' ? sp__onnx_out_scalar(o, m->dtype, sp__onnx_out_float(o, "value"))
                                                      : sp__onnx_out_whole(o, m->dtype, sp__onnx_out_int(o, "value"));
    int64_t at[SP_TRIALS_MAX];
    if (o->other && sp__sizes_attr(&o->sizes, o->node, "value", 0, at) &&
        !sp__sizes_fixed(&o->sizes, at)) /* the number itself is a size */
        value = sp__onnx_out_cast(
            o, SP_ONNX_OUT(o, "Reshape", NULL, sp__onnx_out_size(o, at), sp__onnx_out_ints(o, 0, at)), m->dtype);
    o->out[0] = m->rank ? SP_ONNX_OUT(o, "Expand", NULL, value, sp__onnx_out_result_shape(o, 0)) : value;
}

/* A number of arange as a scalar of the file. */
static sp_onnx_id arange_number(sp_onnx_out *o, const char *name)
{
    int64_t at[SP_TRIALS_MAX] = {sp__onnx_out_int(o, name)};
    if (o->other) sp__sizes_attr(&o->sizes, o->node, name, 0, at);
    return SP_ONNX_OUT(o, "Reshape", NULL, sp__onnx_out_size(o, at), sp__onnx_out_ints(o, 0, at));
}

/* What an operator without operands makes, as a constant. */
static void write_made(sp_onnx_out *o)
{
    int n_made;
    sp_tensor *t;
    sp_status status = sp_apply(o->node->op, o->node->attrs, 0, NULL, 1, &t, &n_made);
    if (status == SP_OK) o->out[0] = sp__onnx_out_take_tensor(o, t, NULL);
    else sp__onnx_out_fail(o, status);
}

/* Whole numbers are counted; others are there already. */
static void write_arange(sp_onnx_out *o)
{
    int64_t at[SP_TRIALS_MAX];
    if (o->other && sp__sizes_attr(&o->sizes, o->node, "start", 0, at) &&
        sp__sizes_attr(&o->sizes, o->node, "end", 0, at) && sp__sizes_attr(&o->sizes, o->node, "step", 0, at)) {
        o->out[0] = sp__onnx_out_cast(
            o,
            SP_ONNX_OUT(o, "Range", NULL, arange_number(o, "start"), arange_number(o, "end"), arange_number(o, "step")),
            sp__onnx_out_result(o, 0)->dtype);
        return;
    }
    if (sp__onnx_out_open(o, o->node->out[0], 0)) {
        sp__onnx_out_fail(
            o, sp__fail(SP_DECLINED,
                        "arange: floats whose number depends on sizes that are free in the file are not written"));
        return;
    }
    write_made(o);
}

static void write_one_hot(sp_onnx_out *o)
{
    int64_t depth = sp__onnx_out_int(o, "depth");
    int rank = sp__onnx_out_result(o, 0)->rank, axis = sp__onnx_out_axis(o, "axis", rank);
    int64_t dims[SP_RANK_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
    dims[axis] = depth;
    sp_onnx_id range = sp__onnx_out_table(o, SP_DTYPE_I64, rank, dims, sp__onnx_out_count, NULL);
    sp_onnx_id hit = SP_ONNX_OUT(o, "Equal", NULL,
                                 sp__onnx_out_unsqueeze(o, sp__onnx_out_cast(o, o->in[0], SP_DTYPE_I64), axis), range);
    o->out[0] = sp__onnx_out_where(o, hit, o->in[1], o->in[2]);
}

const sp_onnx_out_rule sp__onnx_out_shape[] = {
    SP_ONNX_OUT_CODE("reshape", write_reshape),
    SP_ONNX_OUT_CODE("transpose", write_transpose),
    SP_ONNX_OUT_CODE("broadcast_to", write_expand),
    SP_ONNX_OUT_CODE("slice", write_slice),
    SP_ONNX_OUT_CODE("slice_put", write_put),
    SP_ONNX_OUT_CODE("region_get", write_moved),
    SP_ONNX_OUT_CODE("region_put", write_put),
    SP_ONNX_OUT_CODE("diagonal", write_moved),
    SP_ONNX_OUT_CODE("diagonal_put", write_put),
    SP_ONNX_OUT_CODE("unfold", write_moved),
    SP_ONNX_OUT_CODE("index", write_index),
    SP_ONNX_OUT_CODE("index_put", write_index_put),
    SP_ONNX_OUT_CODE("index_combine", write_index_combine),
    SP_ONNX_OUT_CODE("gather_elements", write_gather_elements),
    SP_ONNX_OUT_CODE("line_take", write_gather_elements),
    SP_ONNX_OUT_CODE("line_put", write_line_put),
    SP_ONNX_OUT_CODE("scatter_elements", write_scatter_elements),
    SP_ONNX_OUT_CODE("nonzero", write_nonzero),
    SP_ONNX_OUT_CODE("concat", write_concat),
    SP_ONNX_OUT_CODE("split", write_split),
    SP_ONNX_OUT_CODE("unstack", write_unstack),
    SP_ONNX_OUT_CODE("tril", write_triangle),
    SP_ONNX_OUT_CODE("triu", write_triangle),
    SP_ONNX_OUT_CODE("full", write_full),
    SP_ONNX_OUT_CODE("arange", write_arange),
    SP_ONNX_OUT_CODE("eye", write_made),
    SP_ONNX_OUT_CODE("linspace", write_made),
    SP_ONNX_OUT_CODE("one_hot", write_one_hot),
    {.op = NULL},
};
