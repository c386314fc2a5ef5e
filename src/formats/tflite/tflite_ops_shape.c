/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops_shape.c - TensorFlow Lite operators that arrange elements: shapes, parts, padding, blocks. */
#include "formats/tflite/tflite_model.h"

/* A tensor that is not another one by another name, so that the frame may let go of either. */
static sp_status reshaped(sp_tflite_call *c, int n, const int64_t *dims)
{
    return sp__tflite_return(c, sp_reshape(c->b, c->in[0], n, dims));
}

static sp_status reshape(sp_tflite_call *c)
{
    sp_tflite_ints dims = {.n = 0};
    if (c->n_in > 1 && c->in[1] != NULL) SP_TRY(sp__tflite_ints(c, 1, &dims));
    else {
        SP_CHECK(c->node->n_list <= SP_RANK_MAX, SP_FORMAT, "a shape of %d dimensions", c->node->n_list);
        for (dims.n = 0; dims.n < c->node->n_list; dims.n++) dims.v[dims.n] = c->node->list[dims.n];
        if (dims.n == 1 && dims.v[0] == 0) dims.n = 0; /* an old way to say: a scalar */
    }
    return reshaped(c, dims.n, dims.v);
}

static sp_status squeeze(sp_tflite_call *c)
{
    const int rank = sp__tflite_rank(c, 0);
    int64_t dims[SP_RANK_MAX];
    uint32_t drop = 0;
    int n = 0, axis;
    for (int i = 0; i < c->node->n_list; i++) {
        SP_TRY(sp__shape_axis(c->node->list[i], rank, "squeeze_dims", &axis));
        SP_CHECK(sp__tflite_dim(c, 0, axis) == 1, SP_VALUE, "axis %d has %lld elements", axis,
                 (long long)sp__tflite_dim(c, 0, axis));
        drop |= 1u << axis;
    }
    for (int k = 0; k < rank; k++) {
        bool out = c->node->n_list > 0 ? drop >> k & 1 : sp__tflite_dim(c, 0, k) == 1;
        if (!out) dims[n++] = sp__tflite_dim(c, 0, k);
    }
    return reshaped(c, n, dims);
}

static sp_status expand_dims(sp_tflite_call *c)
{
    const int rank = sp__tflite_rank(c, 0);
    int64_t at = 0, dims[SP_RANK_MAX + 1];
    int axis = 0, n = 0;
    SP_TRY(sp__tflite_one_int(c, 1, &at));
    SP_TRY(sp__shape_axis(at, rank + 1, "axis", &axis));
    SP_CHECK(rank < SP_RANK_MAX, SP_VALUE, "rank %d, one more is not possible", rank);
    for (int k = 0; k <= rank; k++) {
        if (k == axis) dims[n++] = 1;
        if (k < rank) dims[n++] = sp__tflite_dim(c, 0, k);
    }
    return reshaped(c, n, dims);
}

static sp_status transpose(sp_tflite_call *c)
{
    sp_tflite_ints perm;
    SP_TRY(sp__tflite_ints(c, 1, &perm));
    return sp__tflite_return(c, sp_transpose(c->b, c->in[0], perm.n, perm.v));
}

static sp_dtype index_dtype(sp_tflite_call *c, int i)
{
    sp_dtype to = sp__tflite_out_face(c, i)->meta.dtype;
    return to == SP_DTYPE_I64 ? to : SP_DTYPE_I32;
}

static sp_status shape(sp_tflite_call *c)
{
    return sp__tflite_return(
        c, sp__tflite_tensor_ints(c, index_dtype(c, 0), sp__tflite_rank(c, 0), sp_tensor_dims(c->in[0])));
}

static sp_status rank(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp__tflite_scalar(c, SP_DTYPE_I32, sp__tflite_rank(c, 0)));
}

/* --- parts ------------------------------------------------------------------------------------------------------- */

static sp_status slice(sp_tflite_call *c)
{
    sp_tflite_ints begin, size;
    sp_tflite_text from, to;
    const int n = sp__tflite_rank(c, 0);
    SP_TRY(sp__tflite_ints(c, 1, &begin));
    SP_TRY(sp__tflite_ints(c, 2, &size));
    SP_CHECK(begin.n == n && size.n == n, SP_FORMAT, "begin and size have %d and %d entries for rank %d", begin.n,
             size.n, n);
    for (int k = 0; k < n; k++) {
        const int64_t dim = sp__tflite_dim(c, 0, k), end = size.v[k] == -1 ? dim : begin.v[k] + size.v[k];
        SP_CHECK(begin.v[k] >= 0 && begin.v[k] <= end && end <= dim, SP_VALUE,
                 "axis %d: %lld elements from %lld on, there are %lld", k, (long long)size.v[k], (long long)begin.v[k],
                 (long long)dim);
        size.v[k] = end;
    }
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "slice", c->in[0], "start=%s, stop=%s",
                                              sp__tflite_list(&from, n, begin.v), sp__tflite_list(&to, n, size.v)));
}

static sp_tensor *backwards(sp_tflite_call *c, sp_tensor *x, int axis)
{
    const int64_t n = x != NULL ? sp_tensor_dims(x)[axis] : 0;
    sp_tensor *at = sp_sub(c->b, sp__tflite_scalar(c, SP_DTYPE_I64, (double)(n - 1)), sp__positions(c->b, 1, 0, n));
    return SP_TFLITE_OP2(c, "gather", x, at, "axis=%d", axis);
}

/* What a strided slice asks for along the axes of its input, and the shape of its result. */
typedef struct stride_plan {
    int64_t begin[SP_RANK_MAX], end[SP_RANK_MAX], step[SP_RANK_MAX];
    int n, n_out;
    int64_t out[2 * SP_RANK_MAX]; /* -1: the size of the next axis that stays, 1: a new one */
} stride_plan;

static int64_t clamp_to(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

/* Axis k of the input from entry i of the lists; i -1: all of it. */
static sp_status stride_axis(sp_tflite_call *c, const sp_tflite_ints *l, int i, stride_plan *p)
{
    const int k = p->n++;
    SP_CHECK(k < sp__tflite_rank(c, 0), SP_FORMAT, "more entries than the input has axes");
    const int64_t dim = sp__tflite_dim(c, 0, k);
    p->begin[k] = 0;
    p->end[k] = dim;
    p->step[k] = 1;
    if (i >= 0) {
        const int64_t step = l[2].v[i], low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
        int64_t from = l[0].v[i], to = l[1].v[i];
        SP_CHECK(step != 0, SP_VALUE, "a step of 0");
        if (sp__tflite_byte(c, 5, 0)) to += from; /* given as an offset */
        const bool shrink = sp__tflite_int(c, 4, 0) >> i & 1;
        if (from < 0) from += dim;
        if (to < 0) to += dim;
        p->step[k] = step;
        p->begin[k] =
            sp__tflite_int(c, 0, 0) >> i & 1 && !shrink ? (step > 0 ? 0 : dim - 1) : clamp_to(from, low, high);
        p->end[k] = sp__tflite_int(c, 1, 0) >> i & 1 ? (step > 0 ? dim : -1) : clamp_to(to, low, high);
        if (shrink) {
            SP_CHECK(from >= 0 && from < dim, SP_VALUE, "element %lld of axis %d, which has %lld", (long long)l[0].v[i],
                     k, (long long)dim);
            p->begin[k] = from;
            p->end[k] = from + 1;
            p->step[k] = 1;
            return SP_OK;
        }
    }
    p->out[p->n_out++] = -1 - k;
    return SP_OK;
}

static sp_status stride_read(sp_tflite_call *c, stride_plan *p)
{
    sp_tflite_ints l[3];
    int added = 0;
    for (int i = 0; i < 3; i++) SP_TRY(sp__tflite_ints(c, 1 + i, &l[i]));
    const int64_t ellipsis = sp__tflite_int(c, 2, 0), fresh = sp__tflite_int(c, 3, 0);
    SP_CHECK(l[0].n == l[1].n && l[0].n == l[2].n && l[0].n <= SP_RANK_MAX, SP_FORMAT,
             "begin, end and strides have %d, %d and %d entries", l[0].n, l[1].n, l[2].n);
    for (int i = 0; i < l[0].n; i++) added += !(ellipsis >> i & 1) && !(fresh >> i & 1);
    for (int i = 0; i < l[0].n; i++) {
        if (ellipsis >> i & 1) {
            int rest = sp__tflite_rank(c, 0) - added;
            while (rest-- > 0) SP_TRY(stride_axis(c, l, -1, p));
            added = sp__tflite_rank(c, 0); /* a second one stands for nothing */
        } else if (fresh >> i & 1) p->out[p->n_out++] = 1;
        else SP_TRY(stride_axis(c, l, i, p));
    }
    while (p->n < sp__tflite_rank(c, 0)) SP_TRY(stride_axis(c, l, -1, p));
    return SP_OK;
}

/* Backwards: turned round first, so that every step is forward. */
static sp_status strided_slice(sp_tflite_call *c)
{
    stride_plan p = {.n = 0};
    sp_tensor *x = c->in[0];
    sp_tflite_text from, to, step;
    SP_TRY(stride_read(c, &p));
    int64_t sizes[SP_RANK_MAX];
    for (int k = 0; k < p.n; k++) {
        const int64_t dim = sp_tensor_dims(x)[k];
        if (p.step[k] < 0) {
            x = backwards(c, x, k);
            p.begin[k] = dim - 1 - p.begin[k];
            p.end[k] = dim - 1 - p.end[k];
            p.step[k] = -p.step[k];
        }
        if (p.end[k] < p.begin[k]) p.end[k] = p.begin[k];
        sizes[k] = (p.end[k] - p.begin[k] + p.step[k] - 1) / p.step[k];
    }
    x = SP_TFLITE_OP1(c, "slice", x, "start=%s, stop=%s, step=%s", sp__tflite_list(&from, p.n, p.begin),
                      sp__tflite_list(&to, p.n, p.end), sp__tflite_list(&step, p.n, p.step));
    SP_CHECK(p.n_out <= SP_RANK_MAX, SP_VALUE, "a result of rank %d", p.n_out);
    for (int k = 0; k < p.n_out; k++)
        if (p.out[k] < 0) p.out[k] = sizes[-1 - p.out[k]];
    return sp__tflite_return(c, sp_reshape(c->b, x, p.n_out, p.out));
}

static sp_status split_at(sp_tflite_call *c, sp_tensor *x, int axis, int n, const int64_t *sizes)
{
    int64_t from = 0;
    SP_CHECK(n <= c->n_out, SP_FORMAT, "%d parts and %d results", n, c->n_out);
    for (int i = 0; i < n; i++) {
        SP_CHECK(sizes[i] >= 0 && sizes[i] <= sp_tensor_dims(x)[axis] - from, SP_VALUE,
                 "part %d of %lld elements is too large", i, (long long)sizes[i]);
        c->out[i] = sp__take_range(c->b, x, axis, from, sizes[i]);
        from += sizes[i];
    }
    return sp_builder_status(c->b);
}

/* Inputs: axis, x. */
static sp_status split(sp_tflite_call *c)
{
    int64_t at = 0, sizes[SP_TFLITE_LIST];
    int axis = 0;
    SP_TRY(sp__tflite_one_int(c, 0, &at));
    SP_TRY(sp__shape_axis(at, sp__tflite_rank(c, 1), "axis", &axis));
    SP_CHECK(c->n_out <= SP_TFLITE_LIST && sp__tflite_dim(c, 1, axis) % c->n_out == 0, SP_VALUE,
             "axis %d with %lld elements cannot be split into %d", axis, (long long)sp__tflite_dim(c, 1, axis),
             c->n_out);
    for (int i = 0; i < c->n_out; i++) sizes[i] = sp__tflite_dim(c, 1, axis) / c->n_out;
    return split_at(c, c->in[1], axis, c->n_out, sizes);
}

/* Inputs: x, sizes (one may be -1: the rest), axis. */
static sp_status split_v(sp_tflite_call *c)
{
    sp_tflite_ints sizes;
    int64_t at = 0, rest;
    int axis = 0, open = -1;
    SP_TRY(sp__tflite_ints(c, 1, &sizes));
    SP_TRY(sp__tflite_one_int(c, 2, &at));
    SP_TRY(sp__shape_axis(at, sp__tflite_rank(c, 0), "axis", &axis));
    rest = sp__tflite_dim(c, 0, axis);
    for (int i = 0; i < sizes.n; i++) {
        if (sizes.v[i] < 0) open = i;
        else rest -= sizes.v[i];
    }
    if (open >= 0) sizes.v[open] = rest;
    SP_CHECK(sizes.n == c->n_out, SP_FORMAT, "%d sizes and %d results", sizes.n, c->n_out);
    return split_at(c, c->in[0], axis, sizes.n, sizes.v);
}

static sp_status concatenation(sp_tflite_call *c)
{
    int axis = 0;
    SP_TRY(sp__tflite_axis(c, sp__tflite_int(c, 0, 0), sp__tflite_rank(c, 0), &axis));
    sp_tensor *y = sp__concat(c->b, axis, c->n_in, c->in);
    return sp__tflite_return(c, c->moves && sp__tflite_out_face(c, 0)->scale.n > 0
                                    ? y
                                    : sp__tflite_activate(c, y, sp__tflite_byte(c, 1, 0)));
}

static sp_status pack(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp__stack(c->b, sp__tflite_int(c, 1, 0), c->n_in, c->in));
}

static sp_status unpack(sp_tflite_call *c)
{
    const int rank = sp__tflite_rank(c, 0);
    int axis = 0, n = 0;
    int64_t dims[SP_RANK_MAX];
    SP_TRY(sp__shape_axis(sp__tflite_int(c, 1, 0), rank, "axis", &axis));
    SP_CHECK(sp__tflite_dim(c, 0, axis) == c->n_out, SP_FORMAT, "axis %d has %lld elements, there are %d results", axis,
             (long long)sp__tflite_dim(c, 0, axis), c->n_out);
    for (int k = 0; k < rank; k++)
        if (k != axis) dims[n++] = sp__tflite_dim(c, 0, k);
    for (int i = 0; i < c->n_out; i++)
        c->out[i] = sp_reshape(c->b, sp__take_range(c->b, c->in[0], axis, i, 1), n, dims);
    return sp_builder_status(c->b);
}

/* --- more elements ----------------------------------------------------------------------------------------------- */

/* Pairs before and after of all axes, in the layout at hand. */
static sp_status read_pads(sp_tflite_call *c, int64_t *pads)
{
    sp_tflite_ints list = {.n = 0};
    const int n = sp__tflite_rank(c, 0);
    SP_TRY(sp__tflite_ints(c, 1, &list));
    SP_CHECK(list.n == 2 * n, SP_FORMAT, "%d paddings for rank %d", list.n, n);
    for (int k = 0; k < n; k++) {
        int axis = 0;
        SP_TRY(sp__tflite_axis(c, k, n, &axis));
        SP_CHECK(list.v[2 * k] >= 0 && list.v[2 * k + 1] >= 0, SP_VALUE, "paddings must not be negative");
        pads[2 * axis] = list.v[2 * k];
        pads[2 * axis + 1] = list.v[2 * k + 1];
    }
    return SP_OK;
}

static sp_status pad(sp_tflite_call *c)
{
    int64_t pads[2 * SP_RANK_MAX];
    sp_tflite_text text;
    const sp_tflite_scale *s = &sp__tflite_out_face(c, 0)->scale;
    double value = s->n > 0 ? (double)s->zero[0] : 0;
    SP_TRY(read_pads(c, pads));
    if (c->n_in > 2 && c->in[2] != NULL) SP_TRY(sp__tflite_number(c, 2, &value));
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "pad", c->in[0], "pads=%s, value=%.17g",
                                              sp__tflite_list(&text, 2 * sp__tflite_rank(c, 0), pads), value));
}

/* REFLECT leaves the edge out, SYMMETRIC repeats it: elements are gathered, axis by axis. */
static sp_status mirror_pad(sp_tflite_call *c)
{
    int64_t pads[2 * SP_RANK_MAX];
    const int64_t mode = sp__tflite_byte(c, 0, 0), skip = mode ? 0 : 1;
    SP_CHECK(mode == 0 || mode == 1, SP_FORMAT, "mode is %lld; it must be 0 (REFLECT) or 1 (SYMMETRIC)",
             (long long)mode);
    sp_tensor *x = c->in[0];
    SP_TRY(read_pads(c, pads));
    for (int k = 0; k < sp__tflite_rank(c, 0); k++) {
        const int64_t n = sp__tflite_dim(c, 0, k), before = pads[2 * k], after = pads[2 * k + 1],
                      all = before + n + after;
        if (before == 0 && after == 0) continue;
        SP_CHECK(before <= n - skip && after <= n - skip, SP_VALUE,
                 "axis %d with %lld elements cannot be mirrored by %lld and %lld", k, (long long)n, (long long)before,
                 (long long)after);
        int64_t *at = sp__alloc((size_t)all * sizeof *at);
        if (at == NULL) return SP_NOMEM;
        for (int64_t i = 0; i < all; i++) {
            int64_t from = i - before;
            at[i] = from < 0 ? -from - 1 + skip : from >= n ? 2 * n - 1 - from - skip : from;
        }
        sp_tensor *places = NULL;
        sp_status status = sp_tensor_create_from(SP_DTYPE_I64, 1, &all, at, &places);
        sp__free(at);
        SP_TRY(status);
        x = SP_TFLITE_OP2(c, "gather", x, sp_builder_take_tensor(c->b, places), "axis=%d", k);
    }
    return sp__tflite_return(c, sp_identity(c->b, x));
}

static sp_status tile(sp_tflite_call *c)
{
    sp_tflite_ints times;
    sp_tflite_text text;
    SP_TRY(sp__tflite_ints(c, 1, &times));
    return sp__tflite_return(c,
                             SP_TFLITE_OP1(c, "tile", c->in[0], "dims=%s", sp__tflite_list(&text, times.n, times.v)));
}

/* Inputs: shape, value. */
sp_status sp__tflite_fill(sp_tflite_call *c)
{
    sp_tflite_ints dims;
    SP_TRY(sp__tflite_ints(c, 0, &dims));
    return sp__tflite_return(c, sp_broadcast_to(c->b, sp_reshape(c->b, c->in[1], 0, NULL), dims.n, dims.v));
}

/* Inputs: start, limit, delta. */
static sp_status range(sp_tflite_call *c)
{
    double v[3];
    for (int i = 0; i < 3; i++) SP_TRY(sp__tflite_number(c, i, &v[i]));
    SP_CHECK(v[2] != 0, SP_VALUE, "a step of 0");
    return sp__tflite_return(c, sp__tflite_op(c, "arange", 0, NULL, "start=%.17g, end=%.17g, step=%.17g, dtype=%s",
                                              v[0], v[1], v[2], sp_dtype_name(sp_tensor_dtype(c->in[0]))));
}

static sp_status broadcast_to(sp_tflite_call *c)
{
    sp_tflite_ints dims;
    SP_TRY(sp__tflite_ints(c, 1, &dims));
    return sp__tflite_return(c, sp_broadcast_to(c->b, c->in[0], dims.n, dims.v));
}

/* The shape that two shapes broadcast to. */
static sp_status broadcast_args(sp_tflite_call *c)
{
    sp_tflite_ints x, y, z;
    SP_TRY(sp__tflite_ints(c, 0, &x));
    SP_TRY(sp__tflite_ints(c, 1, &y));
    z.n = x.n > y.n ? x.n : y.n;
    for (int k = 0; k < z.n; k++) {
        int64_t p = k < z.n - x.n ? 1 : x.v[k - (z.n - x.n)], q = k < z.n - y.n ? 1 : y.v[k - (z.n - y.n)];
        SP_CHECK(p == q || p == 1 || q == 1, SP_VALUE, "%lld and %lld elements do not go together", (long long)p,
                 (long long)q);
        z.v[k] = p == 1 ? q : p;
    }
    return sp__tflite_return(c, sp__tflite_tensor_ints(c, index_dtype(c, 0), z.n, z.v));
}

/* --- order and blocks -------------------------------------------------------------------------------------------- */

static sp_status reverse(sp_tflite_call *c)
{
    sp_tflite_ints axes;
    sp_tensor *x = c->in[0];
    int axis = 0;
    SP_TRY(sp__tflite_ints(c, 1, &axes));
    for (int i = 0; i < axes.n; i++) {
        SP_TRY(sp__shape_axis(axes.v[i], sp__tflite_rank(c, 0), "axis", &axis));
        x = backwards(c, x, axis);
    }
    return sp__tflite_return(c, axes.n > 0 ? x : sp_identity(c->b, x));
}

/* The first lengths[b] elements of row b turned round: element i comes from lengths[b] - 1 - i. */
static sp_status reverse_sequence(sp_tflite_call *c)
{
    int along = 0, batch = 0, rank = sp__tflite_rank(c, 0);
    SP_TRY(sp__shape_axis(sp__tflite_int(c, 0, 0), rank, "seq_dim", &along));
    SP_TRY(sp__shape_axis(sp__tflite_int(c, 1, 0), rank, "batch_dim", &batch));
    int64_t dims[SP_RANK_MAX];
    for (int k = 0; k < rank; k++) dims[k] = k == batch ? -1 : 1;
    sp_tensor *at = sp__positions(c->b, rank, along, sp__tflite_dim(c, 0, along));
    sp_tensor *lengths = sp_reshape(c->b, sp_cast(c->b, c->in[1], SP_DTYPE_I64), rank, dims);
    sp_tensor *turned = sp__add_number(c->b, sp_sub(c->b, lengths, at), -1);
    at = sp_select(c->b, sp_less(c->b, at, lengths), turned, at);
    at = sp_broadcast_to(c->b, at, rank, sp_tensor_dims(c->in[0]));
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "gather_elements", c->in[0], at, "dim=%d", along));
}

static sp_status depth_blocks(sp_tflite_call *c)
{
    const int64_t s = sp__tflite_int(c, 0, 0);
    const bool to_depth = c->node->handler->code == 26;
    SP_CHECK(sp__tflite_rank(c, 0) == 4 && s > 0, SP_FORMAT, "rank %d, blocks of %lld", sp__tflite_rank(c, 0),
             (long long)s);
    const int64_t *d = sp_tensor_dims(c->in[0]);
    SP_CHECK(to_depth ? d[1] % s == 0 && d[2] % s == 0 : d[3] % (s * s) == 0, SP_VALUE,
             "the shape is no multiple of blocks of %lld", (long long)s);
    if (to_depth) {
        sp_tensor *x = sp_reshape(c->b, c->in[0], 6, (int64_t[]){d[0], d[1] / s, s, d[2] / s, s, d[3]});
        x = sp_transpose(c->b, x, 6, (int64_t[]){0, 1, 3, 2, 4, 5});
        return sp__tflite_return(c, sp_reshape(c->b, x, 4, (int64_t[]){d[0], d[1] / s, d[2] / s, d[3] * s * s}));
    }
    sp_tensor *x = sp_reshape(c->b, c->in[0], 6, (int64_t[]){d[0], d[1], d[2], s, s, d[3] / (s * s)});
    x = sp_transpose(c->b, x, 6, (int64_t[]){0, 1, 3, 2, 4, 5});
    return sp__tflite_return(c, sp_reshape(c->b, x, 4, (int64_t[]){d[0], d[1] * s, d[2] * s, d[3] / (s * s)}));
}

/* Inputs: x, block shape, paddings or crops. */
static sp_status space_to_batch(sp_tflite_call *c)
{
    sp_tflite_ints block, pads;
    SP_TRY(sp__tflite_ints(c, 1, &block));
    SP_TRY(sp__tflite_ints(c, 2, &pads));
    const int n = block.n, rank = sp__tflite_rank(c, 0);
    SP_CHECK(n >= 1 && pads.n == 2 * n && rank > n && rank + n <= SP_RANK_MAX, SP_FORMAT,
             "%d block sizes and %d paddings for rank %d", n, pads.n, rank);
    int64_t all[2 * SP_RANK_MAX] = {0}, parts[SP_RANK_MAX], perm[SP_RANK_MAX], dims[SP_RANK_MAX];
    sp_tflite_text text;
    for (int k = 0; k < 2 * n; k++) {
        SP_CHECK(pads.v[k] >= 0, SP_VALUE, "paddings must not be negative");
        all[2 + k] = pads.v[k];
    }
    const sp_tflite_scale *s = &sp__tflite_out_face(c, 0)->scale;
    sp_tensor *x = SP_TFLITE_OP1(c, "pad", c->in[0], "pads=%s, value=%.17g", sp__tflite_list(&text, 2 * rank, all),
                                 s->n > 0 ? (double)s->zero[0] : 0);
    SP_TRY(sp_builder_status(c->b));
    int at = 0, p = 0;
    parts[at++] = dims[0] = sp_tensor_dims(x)[0];
    for (int k = 0; k < n; k++) {
        const int64_t d = sp_tensor_dims(x)[k + 1], b = block.v[k];
        SP_CHECK(b > 0 && d % b == 0, SP_VALUE, "axis %d with %lld elements in blocks of %lld", k + 1, (long long)d,
                 (long long)b);
        perm[p++] = at + 1;
        dims[k + 1] = parts[at++] = d / b;
        parts[at++] = b;
        dims[0] *= b;
    }
    perm[p++] = 0;
    for (int k = 0; k < n; k++) perm[p++] = 1 + 2 * k;
    for (int k = n + 1; k < rank; k++) {
        perm[p++] = at;
        dims[k] = parts[at++] = sp_tensor_dims(x)[k];
    }
    return sp__tflite_return(
        c, sp_reshape(c->b, sp_transpose(c->b, sp_reshape(c->b, x, at, parts), at, perm), rank, dims));
}

static sp_status batch_to_space(sp_tflite_call *c)
{
    sp_tflite_ints block, crops;
    SP_TRY(sp__tflite_ints(c, 1, &block));
    SP_TRY(sp__tflite_ints(c, 2, &crops));
    const int n = block.n, rank = sp__tflite_rank(c, 0);
    SP_CHECK(n >= 1 && crops.n == 2 * n && rank > n && rank + n <= SP_RANK_MAX, SP_FORMAT,
             "%d block sizes and %d crops for rank %d", n, crops.n, rank);
    int64_t parts[SP_RANK_MAX], perm[SP_RANK_MAX], dims[SP_RANK_MAX], from[SP_RANK_MAX] = {0}, to[SP_RANK_MAX],
                                                                      product = 1;
    const int64_t *d = sp_tensor_dims(c->in[0]);
    sp_tflite_text first, last;
    for (int k = 0; k < n; k++) {
        SP_CHECK(block.v[k] > 0, SP_VALUE, "blocks of %lld", (long long)block.v[k]);
        parts[k] = block.v[k];
        product *= block.v[k];
        SP_CHECK(product <= d[0], SP_VALUE, "a batch of %lld for more blocks", (long long)d[0]);
    }
    SP_CHECK(d[0] % product == 0, SP_VALUE, "a batch of %lld for %lld blocks", (long long)d[0], (long long)product);
    for (int k = 0; k < rank; k++) parts[n + k] = k == 0 ? d[0] / product : d[k];
    int p = 0;
    perm[p++] = n;
    dims[0] = d[0] / product;
    for (int k = 0; k < n; k++) {
        perm[p++] = n + 1 + k;
        perm[p++] = k;
        dims[k + 1] = d[k + 1] * block.v[k];
        from[k + 1] = crops.v[2 * k];
        to[k + 1] = dims[k + 1] - crops.v[2 * k + 1];
        SP_CHECK(crops.v[2 * k] >= 0 && crops.v[2 * k + 1] >= 0 && from[k + 1] <= to[k + 1], SP_VALUE,
                 "crops of axis %d", k + 1);
    }
    to[0] = dims[0];
    for (int k = n + 1; k < rank; k++) {
        perm[p++] = n + k;
        to[k] = dims[k] = d[k];
    }
    sp_tensor *x = sp_transpose(c->b, sp_reshape(c->b, c->in[0], rank + n, parts), rank + n, perm);
    x = sp_reshape(c->b, x, rank, dims);
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "slice", x, "start=%s, stop=%s", sp__tflite_list(&first, rank, from),
                                              sp__tflite_list(&last, rank, to)));
}

/* Inputs: x, update, where it begins. */
static sp_status dynamic_update_slice(sp_tflite_call *c)
{
    const int rank = sp__tflite_rank(c, 0);
    sp_tensor *x = c->in[0], *update = c->in[1], *at = sp_cast(c->b, c->in[2], SP_DTYPE_I64);
    SP_CHECK(sp__tflite_rank(c, 1) == rank && sp_tensor_count(c->in[2]) == rank, SP_FORMAT, "ranks do not fit");
    if (rank == 0) return sp__tflite_return(c, sp_identity(c->b, update));
    /* Element (i, j, ..) is from the update where it lies in all ranges; positions outside are clamped and not used. */
    sp_tensor *inside = NULL, *from = update;
    for (int k = 0; k < rank; k++) {
        const int64_t room = sp__tflite_dim(c, 0, k) - sp__tflite_dim(c, 1, k), n = sp__tflite_dim(c, 1, k);
        SP_CHECK(room >= 0 && n > 0, SP_VALUE, "axis %d: an update of %lld elements for %lld", k, (long long)n,
                 (long long)sp__tflite_dim(c, 0, k));
        sp_tensor *start = sp_reshape(c->b, sp__take_range(c->b, at, 0, k, 1), 0, NULL);
        start = sp_minimum(c->b, sp_maximum(c->b, start, sp__const(c->b, 0, at)),
                           sp__tflite_scalar(c, SP_DTYPE_I64, (double)room));
        sp_tensor *place = sp_sub(c->b, sp__positions(c->b, rank, k, sp__tflite_dim(c, 0, k)), start);
        sp_tensor *zero = sp__tflite_scalar(c, SP_DTYPE_I64, 0),
                  *most = sp__tflite_scalar(c, SP_DTYPE_I64, (double)(n - 1));
        sp_tensor *here = sp_logical_and(c->b, sp_greater_equal(c->b, place, zero), sp_less_equal(c->b, place, most));
        inside = inside == NULL ? here : sp_logical_and(c->b, inside, here);
        place = sp_reshape(c->b, sp_minimum(c->b, sp_maximum(c->b, place, zero), most), 1, (int64_t[]){-1});
        from = SP_TFLITE_OP2(c, "gather", from, place, "axis=%d", k);
    }
    return sp__tflite_return(c, sp_select(c->b, inside, from, x));
}

const sp_tflite_handler sp__tflite_shape_table[] = {
    {22, "RESHAPE", reshape, NULL, SP_TFLITE_MOVE, 1, 0},
    {43, "SQUEEZE", squeeze, NULL, SP_TFLITE_MOVE, 1, 0},
    {70, "EXPAND_DIMS", expand_dims, NULL, SP_TFLITE_MOVE, 2, -1},
    {39, "TRANSPOSE", transpose, NULL, SP_TFLITE_MOVE, 2, -1},
    {77, "SHAPE", shape, NULL, SP_TFLITE_MOVE, 1, -1},
    {110, "RANK", rank, NULL, SP_TFLITE_MOVE, 1, -1},
    {65, "SLICE", slice, NULL, SP_TFLITE_MOVE, 3, -1},
    {45, "STRIDED_SLICE", strided_slice, NULL, SP_TFLITE_MOVE, 4, -1},
    {49, "SPLIT", split, NULL, SP_TFLITE_MOVE, 2, -1},
    {102, "SPLIT_V", split_v, NULL, SP_TFLITE_MOVE, 3, -1},
    {2, "CONCATENATION", concatenation, NULL, SP_TFLITE_REAL | SP_TFLITE_AXES | SP_TFLITE_SAME, 1, -1},
    {83, "PACK", pack, NULL, SP_TFLITE_REAL | SP_TFLITE_SAME, 1, -1},
    {88, "UNPACK", unpack, NULL, SP_TFLITE_MOVE, 1, -1},
    {34, "PAD", pad, NULL, SP_TFLITE_MOVE | SP_TFLITE_AXES, 2, -1},
    {60, "PADV2", pad, NULL, SP_TFLITE_MOVE | SP_TFLITE_AXES, 3, -1},
    {100, "MIRROR_PAD", mirror_pad, NULL, SP_TFLITE_MOVE | SP_TFLITE_AXES, 2, -1},
    {69, "TILE", tile, NULL, SP_TFLITE_MOVE, 2, -1},
    {94, "FILL", sp__tflite_fill, NULL, SP_TFLITE_MOVE, 2, -1},
    {96, "RANGE", range, NULL, SP_TFLITE_MOVE, 3, -1},
    {130, "BROADCAST_TO", broadcast_to, NULL, SP_TFLITE_MOVE, 2, -1},
    {145, "BROADCAST_ARGS", broadcast_args, NULL, SP_TFLITE_MOVE, 2, -1},
    {105, "REVERSE_V2", reverse, NULL, SP_TFLITE_MOVE, 2, -1},
    {112, "REVERSE_SEQUENCE", reverse_sequence, NULL, SP_TFLITE_MOVE, 2, -1},
    {26, "SPACE_TO_DEPTH", depth_blocks, NULL, SP_TFLITE_MOVE, 1, -1},
    {5, "DEPTH_TO_SPACE", depth_blocks, NULL, SP_TFLITE_MOVE, 1, -1},
    {38, "SPACE_TO_BATCH_ND", space_to_batch, NULL, SP_TFLITE_MOVE, 3, -1},
    {37, "BATCH_TO_SPACE_ND", batch_to_space, NULL, SP_TFLITE_MOVE, 3, -1},
    {151, "DYNAMIC_UPDATE_SLICE", dynamic_update_slice, NULL, SP_TFLITE_MOVE, 3, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
