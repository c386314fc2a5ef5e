/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_nn.c - how products, convolutions, pooling, normalisation, recurrence and losses are written to ONNX. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/onnx/onnx_out_run.h"
#include "ir/window.h"
#include "ir/conv_bytes.h"

/* --- products ---------------------------------------------------------------------------------------------------- */

static sp_onnx_id turn_last(sp_onnx_out *o, sp_onnx_id x, int rank)
{
    int64_t perm[SP_RANK_MAX];
    for (int i = 0; i < rank; i++) perm[i] = i;
    if (rank < 2) return x;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return sp__onnx_out_transpose(o, x, rank, perm);
}

static void write_matmul(sp_onnx_out *o)
{
    bool a = sp__onnx_out_int(o, "transpose_a"), b = sp__onnx_out_int(o, "transpose_b");
    int ra = sp__onnx_out_meta(o, 0)->rank, rb = sp__onnx_out_meta(o, 1)->rank;
    sp_dtype d = sp__onnx_out_meta(o, 0)->dtype;
    if ((a || b) && ra == 2 && rb == 2 && (d == SP_DTYPE_F32 || d == SP_DTYPE_F64 || d == SP_DTYPE_F16)) {
        o->out[0] = sp__onnx_out_op(o, "Gemm", 2, o->in, "transA=%d, transB=%d", a, b);
        return;
    }
    sp_onnx_id x = a ? turn_last(o, o->in[0], ra) : o->in[0], y = b ? turn_last(o, o->in[1], rb) : o->in[1];
    o->out[0] = SP_ONNX_OUT(o, "MatMul", NULL, x, y);
}

static void write_matmul_i32(sp_onnx_out *o)
{
    o->out[0] = sp__onnx_out_op(o, "MatMulInteger", o->in[3] ? 4 : o->in[2] ? 3 : 2, o->in, NULL);
}

/* --- windows ----------------------------------------------------------------------------------------------------- */

/* "strides=[..], pads=[..], ..." of a window; ONNX has all paddings before, then all behind. free_same: padding that keeps the size, of a
 * size that is not known. */
static void window_text(const sp__window *w, bool dilation, bool free_same, char *text, size_t room)
{
    size_t used = free_same ? (size_t)snprintf(text, room, "auto_pad='SAME_UPPER', ") : 0;
    int first = SP_SPATIAL - w->n;
    const struct {
        const char *name;
        const int64_t *a, *b;
    } lists[] = {{"kernel_shape", w->kernel, NULL},
                 {"strides", w->stride, NULL},
                 {"pads", w->pad, w->pad_end},
                 {"dilations", w->dilation, NULL}};
    for (int k = 0; k < (dilation ? 4 : 3); k++) {
        if (free_same && k == 2) continue;
        used += (size_t)snprintf(text + used, room - used, "%s%s=[", k ? ", " : "", lists[k].name);
        for (int d = first; d < SP_SPATIAL; d++)
            used += (size_t)snprintf(text + used, room - used, "%lld,", (long long)lists[k].a[d]);
        for (int d = first; lists[k].b && d < SP_SPATIAL; d++)
            used += (size_t)snprintf(text + used, room - used, "%lld,", (long long)lists[k].b[d]);
        used += (size_t)snprintf(text + used, room - used, "]");
    }
}

/* The window of a convolution whose input is (.., in) and kernel (.., kernel). */
static bool conv_window(sp_onnx_out *o, const int64_t *in, const int64_t *kernel, int n, sp__window *w)
{
    const char *name = o->node->op->name;
    sp__window_init(w, n);
    for (int d = 0; d < n; d++) {
        w->in[SP_SPATIAL - n + d] = in[d];
        w->kernel[SP_SPATIAL - n + d] = kernel[d];
    }
    sp_status status = sp__window_list(name, "stride", sp__onnx_out_list(o, "stride"), n, w->stride);
    if (status == SP_OK) status = sp__window_list(name, "dilation", sp__onnx_out_list(o, "dilation"), n, w->dilation);
    if (status == SP_OK)
        status = sp__window_pads(name, sp__onnx_out_text(o, "pad_mode"), sp__onnx_out_list(o, "pad"), w);
    if (status == SP_OK) status = sp__window_outputs(name, false, w);
    if (status != SP_OK) sp__onnx_out_fail(o, status);
    return status == SP_OK;
}

/* Is it padded to keep its size, and is that free? */
static bool is_free_same(const sp_onnx_out *o, int n)
{
    const sp_value *x = o->node->in[0];
    bool open = false;
    for (int k = x->meta.rank - n; k < x->meta.rank; k++) open |= sp__onnx_out_open(o, x, k);
    return open && !strcmp(sp__onnx_out_text(o, "pad_mode"), "same");
}

static void write_conv(sp_onnx_out *o)
{
    sp__window w;
    char text[512];
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    if (!conv_window(o, x->dims + 2, sp__onnx_out_meta(o, 1)->dims + 2, x->rank - 2, &w)) return;
    window_text(&w, true, is_free_same(o, x->rank - 2), text, sizeof text);
    o->out[0] = sp__onnx_out_op(o, "Conv", o->in[2] ? 3 : 2, o->in, "%s, group=%lld", text,
                                (long long)sp__onnx_out_int(o, "group"));
}

/* With a scale as QLinearConv, whose three scales it is the product and quotient of: all of it is the weights'. */
static void write_conv_bytes(sp_onnx_out *o)
{
    sp__window w;
    char text[512];
    const sp_meta *x = sp__onnx_out_meta(o, SP_BYTES_X), *weight = sp__onnx_out_meta(o, SP_BYTES_WEIGHT);
    if (!conv_window(o, x->dims + 2, weight->dims + 2, x->rank - 2, &w)) return;
    window_text(&w, true, is_free_same(o, x->rank - 2), text, sizeof text);
    const long long group = (long long)sp__onnx_out_int(o, "group");
    const sp_onnx_id x_zero = o->in[SP_BYTES_X_ZERO], w_zero = o->in[SP_BYTES_W_ZERO], bias = o->in[SP_BYTES_BIAS],
                     scale = o->in[SP_BYTES_SCALE];
    if (!scale) {
        o->out[0] = sp__onnx_out_op(o, "ConvInteger",
                                    w_zero   ? 4
                                    : x_zero ? 3
                                             : 2,
                                    o->in, "%s, group=%lld", text, group);
        if (!bias) return;
        int64_t dims[SP_RANK_MAX] = {1, -1};
        for (int d = 2; d < x->rank; d++) dims[d] = 1;
        o->out[0] = sp__onnx_out_add(o, o->out[0], sp__onnx_out_reshape(o, bias, x->rank, dims));
        return;
    }
    const sp_onnx_id one = sp__onnx_out_scalar(o, SP_DTYPE_F32, 1), y_zero = o->in[SP_BYTES_ZERO];
    const sp_onnx_id in[] = {o->in[SP_BYTES_X],
                             one,
                             x_zero ? x_zero : sp__onnx_out_scalar(o, x->dtype, 0),
                             o->in[SP_BYTES_WEIGHT],
                             scale,
                             w_zero ? w_zero : sp__onnx_out_scalar(o, weight->dtype, 0),
                             one,
                             y_zero ? y_zero : sp__onnx_out_scalar(o, SP_DTYPE_U8, 0),
                             bias};
    o->out[0] = sp__onnx_out_op(o, "QLinearConv", bias ? 9 : 8, in, "%s, group=%lld", text, group);
}

/* What the size asked for has beyond that of the transposed convolution itself, along each axis, in one of the recordings. */
static bool output_padding(sp_onnx_out *o, const sp_node *t, sp__window *w, int64_t *extra)
{
    const sp_meta *y = &t->out[0]->meta, *g = &t->in[0]->meta;
    const int n = g->rank - 2;
    if (!conv_window(o, y->dims + 2, t->in[1]->meta.dims + 2, n, w)) return false;
    for (int d = 0; d < n; d++) {
        const int k = SP_SPATIAL - n + d;
        extra[d] = y->dims[2 + d] - ((g->dims[2 + d] - 1) * w->stride[k] + w->dilation[k] * (w->kernel[k] - 1) + 1 -
                                     w->pad[k] - w->pad_end[k]);
    }
    return true;
}

/* dout spread back: a transposed convolution, cut or filled up to the size asked for. With free sizes what is filled up must be the same for all of them. */
static void write_conv_input_grad(sp_onnx_out *o)
{
    sp__window w, other;
    char text[512], extra[128];
    int64_t more[SP_SPATIAL], again[SP_SPATIAL];
    const int n = sp__onnx_out_meta(o, 0)->rank - 2;
    const sp_node *t = o->node;
    if (!output_padding(o, t, &w, more)) return;
    for (int k = 1; o->other && k < o->sizes.n; k++) {
        t = t->mark;
        if (!output_padding(o, t, &other, again)) return;
        if (memcmp(more, again, (size_t)n * sizeof *more) || memcmp(w.pad, other.pad, sizeof w.pad) ||
            memcmp(w.pad_end, other.pad_end, sizeof w.pad_end)) {
            sp__onnx_out_fail(o,
                              sp__fail(SP_DECLINED,
                                       "%s: its padding depends on sizes that are free in the file, in a way that ONNX "
                                       "cannot say",
                                       o->node->op->name));
            return;
        }
    }
    window_text(&w, true, false, text, sizeof text);
    for (int d = 0, used = 0; d < n; d++)
        used += snprintf(extra + used, sizeof extra - (size_t)used, "%lld,", (long long)more[d]);
    o->out[0] = sp__onnx_out_op(o, "ConvTranspose", 2, o->in, "%s, output_padding=[%s], group=%lld", text, extra,
                                (long long)sp__onnx_out_int(o, "group"));
}

/* The kernel's gradient is a convolution too: x with batch and channels exchanged, dout as its kernel, stride and dilation exchanged. */
static void write_conv_weight_grad(sp_onnx_out *o)
{
    sp__window w;
    const sp_meta *x = sp__onnx_out_meta(o, 0), *g = sp__onnx_out_meta(o, 1), *y = sp__onnx_out_result(o, 0);
    int n = x->rank - 2, rank = x->rank;
    int64_t group = sp__onnx_out_int(o, "group"), N = x->dims[0], C = x->dims[1] / group, K = g->dims[1] / group,
            dims[SP_RANK_MAX], perm[SP_RANK_MAX];
    sp__onnx_out_fix(o, 0);
    sp__onnx_out_fix(o, 1);
    if (!conv_window(o, x->dims + 2, y->dims + 2, n, &w)) return;
    /* x: (N, G, C, ..) -> (C, G N, ..); dout: (N, G, K, ..) -> (G K, N, ..); result: (C, G K, ..) -> (G K, C, ..) */
    sp_onnx_id parts[2];
    for (int i = 0; i < 2; i++) {
        const sp_meta *m = i ? g : x;
        dims[0] = N;
        dims[1] = group;
        dims[2] = i ? K : C;
        for (int d = 0; d < n; d++) dims[3 + d] = m->dims[2 + d];
        sp_onnx_id v = sp__onnx_out_reshape(o, o->in[i], rank + 1, dims);
        for (int k = 0; k < rank + 1; k++) perm[k] = k;
        perm[0] = i ? 1 : 2;
        perm[1] = i ? 2 : 1;
        perm[2] = 0;
        v = sp__onnx_out_transpose(o, v, rank + 1, perm);
        dims[0] = i ? group * K : C;
        dims[1] = i ? N : group * N;
        for (int d = 0; d < n; d++) dims[2 + d] = m->dims[2 + d];
        parts[i] = sp__onnx_out_reshape(o, v, rank, dims);
    }
    sp__window turned = w;
    for (int d = 0; d < SP_SPATIAL; d++) {
        turned.stride[d] = w.dilation[d];
        turned.dilation[d] = w.stride[d];
        turned.kernel[d] = d < SP_SPATIAL - n ? 1 : g->dims[2 + d - (SP_SPATIAL - n)];
    }
    char text[512];
    window_text(&turned, true, false, text, sizeof text);
    sp_onnx_id y0 = sp__onnx_out_op(o, "Conv", 2, parts, "%s, group=%lld", text, (long long)group);
    int64_t from[3] = {0}, to[3], axes[3];
    for (int d = 0; d < n; d++) {
        to[d] = y->dims[2 + d];
        axes[d] = 2 + d;
    }
    y0 = sp__onnx_out_slice(o, y0, n, from, to, axes, NULL); /* rows that a stride left over */
    for (int k = 0; k < rank; k++) perm[k] = k;
    perm[0] = 1;
    perm[1] = 0;
    o->out[0] = sp__onnx_out_transpose(o, y0, rank, perm);
}

/* --- pooling ----------------------------------------------------------------------------------------------------- */

static int spatial_of(const sp_onnx_out *o)
{
    return o->node->op->spatial ? o->node->op->spatial : (int)sp__onnx_out_int(o, "spatial");
}

static bool pool_window(sp_onnx_out *o, const int64_t *in, int n, sp__window *w)
{
    const char *name = o->node->op->name;
    sp_ints stride = sp__onnx_out_list(o, "stride"), dilation = sp__onnx_out_list(o, "dilation");
    sp__window_init(w, n);
    for (int d = 0; d < n; d++) w->in[SP_SPATIAL - n + d] = in[d];
    sp_status status = sp__window_list(name, "kernel_size", sp__onnx_out_list(o, "kernel_size"), n, w->kernel);
    if (status == SP_OK)
        status =
            sp__window_list(name, "stride", stride.n > 0 ? stride : sp__onnx_out_list(o, "kernel_size"), n, w->stride);
    if (status == SP_OK && dilation.n > 0) status = sp__window_list(name, "dilation", dilation, n, w->dilation);
    if (status == SP_OK)
        status = sp__window_pads(name, sp__onnx_out_text(o, "pad_mode"), sp__onnx_out_list(o, "pad"), w);
    if (status == SP_OK) status = sp__window_outputs(name, sp__onnx_out_int(o, "ceil_mode"), w);
    if (status != SP_OK) sp__onnx_out_fail(o, status);
    return status == SP_OK;
}

/* ONNX wants (N, C, ..); one plane less gets one more. */
static sp_onnx_id with_batch(sp_onnx_out *o, sp_onnx_id x, const sp_meta *m, int n)
{
    return m->rank == n + 1 ? sp__onnx_out_unsqueeze(o, x, 0) : x;
}
static sp_onnx_id without_batch(sp_onnx_out *o, sp_onnx_id x, const sp_meta *m, int n)
{
    return m->rank == n + 1 ? SP_ONNX_OUT(o, "Squeeze", NULL, x, SP_ONNX_OUT_INTS(o, 0)) : x;
}

/* Values and, per plane, positions of maxima. */
static void max_pool(sp_onnx_out *o, const sp__window *w, const sp_meta *x, sp_onnx_id *value, sp_onnx_id *place)
{
    char text[512];
    sp_onnx_id out[2];
    int64_t plane = 1;
    window_text(w, true, is_free_same(o, w->n), text, sizeof text);
    for (int d = SP_SPATIAL - w->n; d < SP_SPATIAL; d++) plane *= w->in[d];
    sp__onnx_out_op_many(o, "MaxPool", 1, (sp_onnx_id[]){with_batch(o, o->in[0], x, w->n)}, place ? 2 : 1, out,
                         "%s, ceil_mode=%lld", text, (long long)sp__onnx_out_int(o, "ceil_mode"));
    *value = without_batch(o, out[0], x, w->n);
    if (place)
        *place =
            without_batch(o, SP_ONNX_OUT(o, "Mod", NULL, out[1], sp__onnx_out_whole(o, SP_DTYPE_I64, plane)), x, w->n);
}

static void write_max_pool(sp_onnx_out *o)
{
    sp__window w;
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    int n = spatial_of(o);
    if (o->node->n_out > 1)
        for (int k = x->rank - n; k < x->rank; k++) sp__onnx_out_fixed(o, 0, k);
    if (pool_window(o, x->dims + x->rank - n, n, &w))
        max_pool(o, &w, x, &o->out[0], o->node->n_out > 1 ? &o->out[1] : NULL);
}

static void write_avg_pool(sp_onnx_out *o)
{
    sp__window w;
    char text[512];
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    int n = spatial_of(o);
    int64_t divisor = sp__onnx_out_int(o, "divisor_override");
    if (divisor > 0 || sp__onnx_out_int(o, "ceil_mode")) { /* ONNX Runtime and we count differently at the border */
        o->out[0] = sp__onnx_out_linear(o, n, n);
        return;
    }
    if (!pool_window(o, x->dims + x->rank - n, n, &w)) return;
    window_text(&w, false, is_free_same(o, n), text, sizeof text);
    sp_onnx_id in = with_batch(o, o->in[0], x, n);
    o->out[0] = without_batch(o,
                              sp__onnx_out_op(o, "AveragePool", 1, &in, "%s, count_include_pad=%lld", text,
                                              (long long)sp__onnx_out_int(o, "count_include_pad")),
                              x, n);
}

/* To one element: the mean; else each mean is a column of a matrix. */
static void write_adaptive_avg(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0), *y = sp__onnx_out_result(o, 0);
    int n = spatial_of(o);
    bool one = true;
    int64_t axes[3];
    for (int d = 0; d < n; d++) {
        axes[d] = x->rank - n + d;
        one &= y->dims[axes[d]] == 1;
    }
    o->out[0] = one ? sp__onnx_out_reduce(o, "ReduceMean", o->in[0], n, axes, true) : sp__onnx_out_linear(o, n, n);
}

/* Windows of maxima as lists of places in the plane: (windows, most elements); a short one repeats its first. */
typedef struct {
    int64_t in[SP_SPATIAL], out[SP_SPATIAL], most[SP_SPATIAL];
    bool adaptive;
    sp__window w;
} windows;

static void window_span(const windows *s, int d, int64_t at, int64_t *from, int64_t *step, int64_t *count)
{
    if (s->adaptive) {
        *from = at * s->in[d] / s->out[d];
        *count = ((at + 1) * s->in[d] + s->out[d] - 1) / s->out[d] - *from;
        *step = 1;
        return;
    }
    int64_t begin = at * s->w.stride[d] - s->w.pad[d], dilation = s->w.dilation[d],
            skip = begin < 0 ? (-begin + dilation - 1) / dilation : 0;
    *from = begin + skip * dilation;
    *step = dilation;
    *count = s->w.kernel[d] - skip;
    while (*count > 1 && *from + (*count - 1) * dilation >= s->in[d]) --*count;
}

static double window_place(const void *context, int64_t i)
{
    const windows *s = context;
    int64_t at[SP_SPATIAL], k[SP_SPATIAL], place = 0;
    bool inside = true;
    for (int d = SP_SPATIAL - 1; d >= 0; d--) {
        k[d] = i % s->most[d];
        i /= s->most[d];
    }
    for (int d = SP_SPATIAL - 1; d >= 0; d--) {
        at[d] = i % s->out[d];
        i /= s->out[d];
    }
    for (int pass = 0; pass < 2; pass++) {
        place = 0;
        for (int d = 0; d < SP_SPATIAL; d++) {
            int64_t from, step, count;
            window_span(s, d, at[d], &from, &step, &count);
            if (pass == 0) inside &= k[d] < count;
            place = place * s->in[d] + from + (inside ? k[d] : 0) * step;
        }
    }
    return (double)place;
}

/* The windows of the node: adaptive when it has an output_size. */
static bool pool_windows(sp_onnx_out *o, int n, windows *s)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    sp_ints size = sp__onnx_out_list(o, "output_size");
    for (int k = x->rank - n; k < x->rank; k++) sp__onnx_out_fixed(o, 0, k);
    s->adaptive = size.n > 0;
    if (!s->adaptive && !pool_window(o, x->dims + x->rank - n, n, &s->w)) return false;
    for (int d = 0; d < SP_SPATIAL; d++) {
        int k = d - (SP_SPATIAL - n);
        s->in[d] = k < 0 ? 1 : x->dims[x->rank - n + k];
        int64_t asked = k < 0 ? 1 : !s->adaptive ? s->w.out[d] : size.v[size.n == 1 ? 0 : k];
        s->out[d] = asked == -1 || asked == SP_INT_NONE ? s->in[d] : asked;
        s->most[d] = 1;
        for (int64_t at = 0; at < s->out[d]; at++) {
            int64_t from, step, count;
            window_span(s, d, at, &from, &step, &count);
            if (count > s->most[d]) s->most[d] = count;
        }
    }
    return sp__onnx_out_ok(o);
}

static int64_t product3(const int64_t *v) { return v[0] * v[1] * v[2]; }

/* Place of the maximum of each window: (planes, windows); x as (planes, elements). */
static sp_onnx_id window_argmax(sp_onnx_out *o, const windows *s, sp_onnx_id flat, sp_onnx_id *value)
{
    int64_t n_out = product3(s->out), n_most = product3(s->most);
    sp_onnx_id places = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){n_out, n_most}, window_place, s);
    sp_onnx_id all = SP_ONNX_OUT(o, "Gather", "axis=1", flat, places); /* planes, windows, elements */
    if (value) *value = sp__onnx_out_reduce(o, "ReduceMax", all, 1, (int64_t[]){2}, false);
    sp_onnx_id best = SP_ONNX_OUT(o, "ArgMax", "axis=2, keepdims=0", all);
    sp_onnx_id base = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){1, n_out}, sp__onnx_out_count, NULL);
    sp_onnx_id number =
        sp__onnx_out_add(o, sp__onnx_out_mul(o, base, sp__onnx_out_whole(o, SP_DTYPE_I64, n_most)), best);
    return SP_ONNX_OUT(o, "Gather", "axis=0", SP_ONNX_OUT_RESHAPE(o, places, -1), number);
}

static void write_adaptive_max(sp_onnx_out *o)
{
    windows s;
    const sp_meta *y = sp__onnx_out_result(o, 0);
    sp_onnx_id value;
    if (!pool_windows(o, spatial_of(o), &s)) return;
    sp__onnx_out_fix(o, 0);
    sp_onnx_id place = window_argmax(o, &s, SP_ONNX_OUT_RESHAPE(o, o->in[0], -1, product3(s.in)), &value);
    o->out[0] = sp__onnx_out_reshape(o, value, y->rank, y->dims);
    o->out[1] = sp__onnx_out_reshape(o, place, y->rank, y->dims);
}

/* dout to where the maxima came from: a row of places times its one-hot matrix. */
static void write_pool_max_grad(sp_onnx_out *o)
{
    windows s;
    const sp_meta *y = sp__onnx_out_result(o, 0);
    if (!pool_windows(o, spatial_of(o), &s)) return;
    sp__onnx_out_fix(o, 0);
    int64_t n_in = product3(s.in), n_out = product3(s.out);
    sp_onnx_id place = window_argmax(o, &s, SP_ONNX_OUT_RESHAPE(o, o->in[0], -1, n_in), NULL);
    sp_onnx_id hit = SP_ONNX_OUT(o, "Equal", NULL, sp__onnx_out_unsqueeze(o, place, 2),
                                 sp__onnx_out_table(o, SP_DTYPE_I64, 1, &n_in, sp__onnx_out_count, NULL));
    sp_onnx_id spread =
        sp__onnx_out_where(o, hit, SP_ONNX_OUT_RESHAPE(o, o->in[1], -1, n_out, 1), sp__onnx_out_scalar(o, y->dtype, 0));
    o->out[0] = sp__onnx_out_reshape(o, sp__onnx_out_reduce(o, "ReduceSum", spread, 1, (int64_t[]){1}, false), y->rank,
                                     y->dims);
}

/* And back: the values that lie where the maxima are. */
static void write_pool_max_pick(sp_onnx_out *o)
{
    windows s;
    const sp_meta *y = sp__onnx_out_result(o, 0);
    if (!pool_windows(o, spatial_of(o), &s)) return;
    sp__onnx_out_fix(o, 0);
    sp_onnx_id place = window_argmax(o, &s, SP_ONNX_OUT_RESHAPE(o, o->in[0], -1, product3(s.in)), NULL);
    sp_onnx_id picked =
        SP_ONNX_OUT(o, "GatherElements", "axis=1", SP_ONNX_OUT_RESHAPE(o, o->in[1], -1, product3(s.in)), place);
    o->out[0] = sp__onnx_out_reshape(o, picked, y->rank, y->dims);
}

static void write_pool_mean_grad(sp_onnx_out *o) { o->out[0] = sp__onnx_out_linear(o, spatial_of(o), spatial_of(o)); }

/* --- softmax ----------------------------------------------------------------------------------------------------- */

/* ONNX has one axis; over several by the definition. */
static void write_softmax(sp_onnx_out *o)
{
    sp_ints axis = sp__onnx_out_list(o, "axis");
    bool log = o->node->op == &sp_op_log_softmax;
    if (sp__onnx_out_meta(o, 0)->rank == 0) sp__onnx_out_write_text(o, log ? "x - x" : "x - x + 1");
    else if (axis.n == 1)
        o->out[0] = sp__onnx_out_op(o, log ? "LogSoftmax" : "Softmax", 1, o->in, "axis=%lld", (long long)axis.v[0]);
    else
        sp__onnx_out_write_text(o, log ? "z = x - max(x, axis); z - Log(sum(Exp(z), axis))"
                                       : "e = Exp(x - max(x, axis)); e / sum(e, axis)");
}

/* --- attention --------------------------------------------------------------------------------------------------- */

static double comes_later(const void *source, int64_t i)
{
    return i % *(const int64_t *)source > i / *(const int64_t *)source;
}

static void write_attention(sp_onnx_out *o)
{
    const int rank = sp__onnx_out_meta(o, 0)->rank;
    sp_onnx_id scores = SP_ONNX_OUT(o, "MatMul", NULL, o->in[0], turn_last(o, o->in[1], rank));
    scores = sp__onnx_out_mul(o, scores, sp__onnx_out_number(o, sp__onnx_out_float(o, "scale")));
    if (o->in[3]) scores = sp__onnx_out_add(o, scores, o->in[3]);
    if (sp__onnx_out_int(o, "causal")) {
        const int64_t dims[2] = {sp__onnx_out_fixed(o, 0, rank - 2), sp__onnx_out_fixed(o, 1, rank - 2)};
        sp_onnx_id later = sp__onnx_out_table(o, SP_DTYPE_BOOL, 2, dims, comes_later, &dims[1]);
        scores =
            sp__onnx_out_where(o, later, sp__onnx_out_scalar(o, sp__onnx_out_meta(o, 0)->dtype, -INFINITY), scores);
    }
    o->out[0] = SP_ONNX_OUT(o, "MatMul", NULL, SP_ONNX_OUT(o, "Softmax", "axis=-1", scores), o->in[2]);
}

/* --- normalisation ----------------------------------------------------------------------------------------------- */

static int span(int from, int to, int64_t *axes)
{
    for (int i = from; i < to; i++) axes[i - from] = i;
    return to - from;
}

static sp_onnx_id square(sp_onnx_out *o, sp_onnx_id x) { return sp__onnx_out_mul(o, x, x); }
static sp_onnx_id root(sp_onnx_out *o, sp_onnx_id variance, double epsilon)
{
    return SP_ONNX_OUT(o, "Reciprocal", NULL,
                       SP_ONNX_OUT(o, "Sqrt", NULL, sp__onnx_out_add(o, variance, sp__onnx_out_number(o, epsilon))));
}

typedef struct {
    sp_onnx_id mean, variance, scale, h; /* h: normalised */
} moments;

static moments normalise(sp_onnx_out *o, sp_onnx_id x, int n, const int64_t *axes, double epsilon)
{
    moments m;
    m.mean = sp__onnx_out_reduce(o, "ReduceMean", x, n, axes, true);
    sp_onnx_id centred = sp__onnx_out_sub(o, x, m.mean);
    m.variance = sp__onnx_out_reduce(o, "ReduceMean", square(o, centred), n, axes, true);
    m.scale = root(o, m.variance, epsilon);
    m.h = sp__onnx_out_mul(o, centred, m.scale);
    return m;
}

/* Half floats are normalised in float32, as the kernels do. */
static sp_onnx_id widened(sp_onnx_out *o, sp_onnx_id x)
{
    sp_dtype d = sp__onnx_out_dtype(o, x);
    return d == SP_DTYPE_F16 || d == SP_DTYPE_BF16 ? sp__onnx_out_cast(o, x, SP_DTYPE_F32) : x;
}

static void write_layer_norm(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank, first = sp__onnx_out_axis(o, "begin_norm_axis", rank),
        params = sp__onnx_out_axis(o, "begin_params_axis", rank);
    double epsilon = sp__onnx_out_float(o, "epsilon");
    int64_t axes[SP_RANK_MAX];
    sp_onnx_id x = widened(o, o->in[0]), gamma = o->in[1] ? widened(o, o->in[1]) : 0,
               beta = o->in[2] ? widened(o, o->in[2]) : 0;
    moments m = normalise(o, x, span(first, rank, axes), axes, epsilon);
    sp_onnx_id y = m.h;
    if (o->opset >= 17 && gamma && first == params)
        y = sp__onnx_out_op(o, "LayerNormalization", beta ? 3 : 2, (sp_onnx_id[]){x, gamma, beta},
                            "axis=%d, epsilon=%.9ge0", first, epsilon);
    else {
        if (gamma) y = sp__onnx_out_mul(o, y, gamma);
        if (beta) y = sp__onnx_out_add(o, y, beta);
    }
    o->out[0] = y;
    o->out[1] = m.mean;
    o->out[2] = m.variance;
}

/* a = gamma g: dx = scale (a - mean(a) - h mean(a h)); rms: without the first mean. */
static sp_onnx_id norm_slope(sp_onnx_out *o, sp_onnx_id a, sp_onnx_id h, sp_onnx_id scale, int n, const int64_t *axes,
                             bool centred)
{
    sp_onnx_id dot = sp__onnx_out_reduce(o, "ReduceMean", sp__onnx_out_mul(o, a, h), n, axes, true);
    sp_onnx_id d = sp__onnx_out_sub(o, a, sp__onnx_out_mul(o, h, dot));
    if (centred) d = sp__onnx_out_sub(o, d, sp__onnx_out_reduce(o, "ReduceMean", a, n, axes, true));
    return sp__onnx_out_mul(o, scale, d);
}

static void write_layer_norm_grad(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank, first = sp__onnx_out_axis(o, "begin_norm_axis", rank),
        params = sp__onnx_out_axis(o, "begin_params_axis", rank);
    int64_t axes[SP_RANK_MAX], lead[SP_RANK_MAX];
    int n = span(first, rank, axes), n_lead = span(0, params, lead);
    sp_onnx_id x = widened(o, o->in[0]), g = widened(o, o->in[2]);
    moments m = normalise(o, x, n, axes, sp__onnx_out_float(o, "epsilon"));
    o->out[0] = norm_slope(o, o->in[1] ? sp__onnx_out_mul(o, g, widened(o, o->in[1])) : g, m.h, m.scale, n, axes, true);
    o->out[1] = sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_mul(o, g, m.h), n_lead, lead, false);
    o->out[2] = sp__onnx_out_reduce(o, "ReduceSum", g, n_lead, lead, false);
}

static void write_rms_norm(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank, first = rank - sp__onnx_out_meta(o, 1)->rank;
    int64_t axes[SP_RANK_MAX], lead[SP_RANK_MAX];
    int n = span(first, rank, axes);
    bool grad = o->node->n_in == 3;
    sp_onnx_id x = widened(o, o->in[0]), gamma = widened(o, o->in[1]);
    sp_onnx_id scale = root(o, sp__onnx_out_reduce(o, "ReduceMean", square(o, x), n, axes, true),
                            sp__onnx_out_float(o, "epsilon")),
               h = sp__onnx_out_mul(o, x, scale);
    if (!grad) {
        o->out[0] = sp__onnx_out_mul(o, h, gamma);
        o->out[1] = scale;
        return;
    }
    sp_onnx_id g = widened(o, o->in[2]);
    o->out[0] = norm_slope(o, sp__onnx_out_mul(o, g, gamma), h, scale, n, axes, false);
    o->out[1] = sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_mul(o, g, h), span(0, first, lead), lead, false);
}

/* x as (N, groups, channels of a group, pixels), a parameter as (1, groups, channels of a group, 1). */
static void write_group_norm(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    bool grad = o->node->op == &sp_op_group_norm_grad;
    int64_t groups = sp__onnx_out_int(o, "num_groups"), per = x->dims[1] / groups, axes[2] = {2, 3}, dims[SP_RANK_MAX];
    for (int k = 0; k < x->rank; k++) dims[k] = sp__onnx_out_open(o, o->node->in[0], k) ? -1 : x->dims[k];
    sp_onnx_id v = SP_ONNX_OUT_RESHAPE(o, widened(o, o->in[0]), 0, groups, per, -1);
    moments m = normalise(o, v, 2, axes, sp__onnx_out_float(o, "epsilon"));
    sp_onnx_id weight = o->in[1] ? SP_ONNX_OUT_RESHAPE(o, widened(o, o->in[1]), 1, groups, per, 1) : 0;
    if (!grad) {
        sp_onnx_id y = weight ? sp__onnx_out_mul(o, m.h, weight) : m.h;
        if (o->in[2]) y = sp__onnx_out_add(o, y, SP_ONNX_OUT_RESHAPE(o, widened(o, o->in[2]), 1, groups, per, 1));
        o->out[0] = sp__onnx_out_reshape(o, y, x->rank, dims);
        o->out[1] = SP_ONNX_OUT_RESHAPE(o, m.mean, -1, groups);
        o->out[2] = SP_ONNX_OUT_RESHAPE(o, m.variance, -1, groups);
        return;
    }
    sp_onnx_id g = SP_ONNX_OUT_RESHAPE(o, widened(o, o->in[2]), 0, groups, per, -1);
    int64_t others[2] = {0, 3};
    o->out[0] = sp__onnx_out_reshape(
        o, norm_slope(o, weight ? sp__onnx_out_mul(o, g, weight) : g, m.h, m.scale, 2, axes, true), x->rank, dims);
    o->out[1] =
        SP_ONNX_OUT_RESHAPE(o, sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_mul(o, g, m.h), 2, others, false), -1);
    o->out[2] = SP_ONNX_OUT_RESHAPE(o, sp__onnx_out_reduce(o, "ReduceSum", g, 2, others, false), -1);
}

static int but_channels(int rank, int64_t *axes)
{
    int n = 0;
    for (int i = 0; i < rank; i++)
        if (i != 1) axes[n++] = i;
    return n;
}

static sp_onnx_id along_channels(sp_onnx_out *o, sp_onnx_id v, int rank)
{
    int64_t dims[SP_RANK_MAX] = {1, -1, 1, 1, 1, 1, 1, 1};
    return v ? sp__onnx_out_reshape(o, widened(o, v), rank, dims) : 0;
}

static void write_batch_norm_train(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank;
    int64_t axes[SP_RANK_MAX];
    int n = but_channels(rank, axes);
    moments m = normalise(o, widened(o, o->in[0]), n, axes, sp__onnx_out_float(o, "epsilon"));
    sp_onnx_id scale = along_channels(o, o->in[1], rank), bias = along_channels(o, o->in[2], rank), y = m.h;
    if (scale) y = sp__onnx_out_mul(o, y, scale);
    o->out[0] = bias ? sp__onnx_out_add(o, y, bias) : y;
    o->out[1] = SP_ONNX_OUT_RESHAPE(o, m.mean, -1);
    o->out[2] = SP_ONNX_OUT_RESHAPE(o, m.variance, -1);
}

static void write_batch_norm_train_grad(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank;
    int64_t axes[SP_RANK_MAX];
    int n = but_channels(rank, axes);
    sp_onnx_id x = widened(o, o->in[0]), g = widened(o, o->in[4]), weight = along_channels(o, o->in[1], rank);
    sp_onnx_id scale = root(o, along_channels(o, o->in[3], rank), sp__onnx_out_float(o, "epsilon"));
    sp_onnx_id h = sp__onnx_out_mul(o, sp__onnx_out_sub(o, x, along_channels(o, o->in[2], rank)), scale);
    o->out[0] = norm_slope(o, weight ? sp__onnx_out_mul(o, g, weight) : g, h, scale, n, axes, true);
    o->out[1] = sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_mul(o, g, h), n, axes, false);
    o->out[2] = sp__onnx_out_reduce(o, "ReduceSum", g, n, axes, false);
}

/* The operator that made a value, if it is of that name. */
static const sp_node *made_by(const sp_value *v, const sp_op *op)
{
    return v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_OP && v->node->op == op ? v->node : NULL;
}

/* A batch normalisation in use is x scale + shift with scale = gamma / sqrt(variance + epsilon), shift = beta - mean scale; ONNX has it as one
 * operator. */
static bool write_known_batch_norm(sp_onnx_out *o)
{
    sp_value *scale = o->node->in[1], *shift = o->node->in[2];
    const sp_node *by_gamma = made_by(scale, &sp_op_mul), *plus_beta = made_by(shift, &sp_op_add);
    const sp_node *root_of = by_gamma ? made_by(by_gamma->in[0], &sp_op_rsqrt) : NULL,
                  *sum = root_of ? made_by(root_of->in[0], &sp_op_add) : NULL;
    const sp_node *minus = plus_beta ? made_by(plus_beta->in[0], &sp_op_neg) : NULL,
                  *by_mean = minus ? made_by(minus->in[0], &sp_op_mul) : NULL;
    if (!sum || !by_mean || by_mean->in[1] != scale || sum->in[1]->origin != SP_VALUE_CONSTANT ||
        sum->in[1]->constant->count != 1)
        return false;
    sp_dtype d = sp__onnx_out_meta(o, 0)->dtype;
    double epsilon;
    if (d != SP_DTYPE_F32 || by_gamma->in[1]->meta.dtype != d ||
        sp_tensor_item_f64(sum->in[1]->constant, &epsilon) != SP_OK)
        return false;
    o->scope = o->values[o->in[1]].scope; /* the layer of the scale's weights */
    o->has_weights = true;
    sp_onnx_id in[5] = {o->in[0], sp__onnx_out_find(o, by_gamma->in[1]), sp__onnx_out_find(o, plus_beta->in[1]),
                        sp__onnx_out_find(o, by_mean->in[0]), sp__onnx_out_find(o, sum->in[0])};
    o->out[0] = sp__onnx_out_op(o, "BatchNormalization", 5, in, "epsilon=%.9ge0", epsilon);
    return true;
}

static void write_affine(sp_onnx_out *o)
{
    if (!write_known_batch_norm(o))
        sp__onnx_out_write_text(o, "cast(x * rows(cast(scale, x)) + rows(cast(shift, x)), x)");
}

/* Sums of neighbouring channels. */
static void write_channel_window(sp_onnx_out *o)
{
    int64_t before = sp__onnx_out_int(o, "before"), after = sp__onnx_out_int(o, "after"),
            channels = sp__onnx_out_fixed(o, 0, 1), pads[2 * SP_RANK_MAX] = {0};
    int rank = sp__onnx_out_meta(o, 0)->rank;
    pads[1] = before;
    pads[rank + 1] = after;
    sp_onnx_id padded = SP_ONNX_OUT(o, "Pad", NULL, o->in[0], sp__onnx_out_ints(o, 2 * rank, pads)), sum = 0;
    for (int64_t k = 0; k <= before + after; k++) {
        sp_onnx_id part =
            sp__onnx_out_slice(o, padded, 1, (int64_t[]){k}, (int64_t[]){k + channels}, (int64_t[]){1}, NULL);
        sum = sum ? sp__onnx_out_add(o, sum, part) : part;
    }
    o->out[0] = sum;
}

/* --- recurrence -------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t hidden, gates;
    const int *order; /* gate k of ONNX is ours number order[k] */
} gates;

static double gate_place(const void *context, int64_t i)
{
    const gates *g = context;
    return (double)(g->order[i / g->hidden] * g->hidden + i % g->hidden);
}

static double gate_matrix(const void *context, int64_t i)
{
    const gates *g = context;
    int64_t n = g->hidden * g->gates;
    return gate_place(context, i / n) == (double)(i % n);
}

/* The products with the input are done: ONNX's own are with a matrix that only brings the gates into order. */
static void write_rnn(sp_onnx_out *o)
{
    static const int lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2}, plain[] = {0};
    const char *mode = sp__onnx_out_text(o, "mode");
    bool is_lstm = !strcmp(mode, "lstm"), is_gru = !strcmp(mode, "gru");
    const sp_meta *gx = sp__onnx_out_meta(o, 0), *h0 = sp__onnx_out_meta(o, 1);
    gates g = {h0->dims[1], is_lstm ? 4 : is_gru ? 3 : 1, is_lstm ? lstm : is_gru ? gru : plain};
    int64_t n = g.hidden * g.gates;
    sp_dtype d = gx->dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32;
    sp_onnx_id order = sp__onnx_out_table(o, SP_DTYPE_I64, 1, &n, gate_place, &g);
    sp_onnx_id w = sp__onnx_out_table(o, d, 3, (int64_t[]){1, n, n}, gate_matrix, &g);
    sp_onnx_id r = sp__onnx_out_unsqueeze(o, SP_ONNX_OUT(o, "Gather", "axis=0", widened(o, o->in[3]), order), 0),
               zeros = sp__onnx_out_table(o, d, 1, &n, sp__onnx_out_zero, NULL);
    sp_onnx_id bias =
        o->in[4] ? SP_ONNX_OUT(o, "Gather", "axis=0", SP_ONNX_OUT_RESHAPE(o, widened(o, o->in[4]), n), order) : zeros;
    bias = sp__onnx_out_unsqueeze(o, SP_ONNX_OUT(o, "Concat", "axis=0", zeros, bias), 0);
    sp_onnx_id lengths =
        o->in[5]
            ? sp__onnx_out_cast(o,
                                SP_ONNX_OUT(o, "Min", NULL, o->in[5], sp__onnx_out_whole(o, SP_DTYPE_I64, gx->dims[0])),
                                SP_DTYPE_I32)
            : 0;
    sp_onnx_id h = sp__onnx_out_unsqueeze(o, widened(o, o->in[1]), 0),
               c = o->in[2] ? sp__onnx_out_unsqueeze(o, widened(o, o->in[2]), 0) : 0, out[3] = {0};
    sp_onnx_id in[7] = {widened(o, o->in[0]), w, r, bias, lengths, h, c};
    char text[160];
    snprintf(text, sizeof text, "hidden_size=%lld, direction='%s'%s%s", (long long)g.hidden,
             sp__onnx_out_int(o, "reverse") ? "reverse" : "forward", is_gru ? ", linear_before_reset=1" : "", "");
    if (is_lstm || is_gru)
        sp__onnx_out_op_many(o, is_lstm ? "LSTM" : "GRU", is_lstm ? 7 : 6, in, is_lstm ? 3 : 2, out, "%s", text);
    else
        sp__onnx_out_op_many(o, "RNN", 6, in, 2, out, "%s, activations=['%s']", text,
                             !strcmp(mode, "rnn_relu") ? "Relu" : "Tanh");
    sp_onnx_id zero = SP_ONNX_OUT_INTS(o, 0);
    o->out[0] = SP_ONNX_OUT(o, "Squeeze", NULL, out[0], SP_ONNX_OUT_INTS(o, 1));
    o->out[1] = SP_ONNX_OUT(o, "Squeeze", NULL, out[1], zero);
    o->out[2] =
        out[2] ? SP_ONNX_OUT(o, "Squeeze", NULL, out[2], zero)
               : sp__onnx_out_table(o, gx->dtype, 2, (int64_t[]){h0->dims[0], h0->dims[1]}, sp__onnx_out_zero, NULL);
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

static void write_nll_terms(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    int axis = x->rank == 1 ? 0 : 1;
    sp_onnx_id target = sp__onnx_out_cast(o, o->in[1], SP_DTYPE_I64), zero = sp__onnx_out_whole(o, SP_DTYPE_I64, 0);
    sp_onnx_id ignored =
        SP_ONNX_OUT(o, "Equal", NULL, target, sp__onnx_out_whole(o, SP_DTYPE_I64, sp__onnx_out_int(o, "ignore_index")));
    sp_onnx_id safe = sp__onnx_out_where(o, ignored, zero, target);
    sp_onnx_id weight =
        o->in[2] ? SP_ONNX_OUT(o, "Gather", "axis=0", o->in[2], safe) : sp__onnx_out_scalar(o, x->dtype, 1);
    sp_onnx_id picked = sp__onnx_out_op(
        o, "GatherElements", 2, (sp_onnx_id[]){o->in[0], sp__onnx_out_unsqueeze(o, safe, axis)}, "axis=%d", axis);
    picked = SP_ONNX_OUT(o, "Squeeze", NULL, picked, sp__onnx_out_ints(o, 1, (int64_t[]){axis}));
    sp_onnx_id none = sp__onnx_out_scalar(o, x->dtype, 0);
    o->out[0] = sp__onnx_out_where(o, ignored, none, SP_ONNX_OUT(o, "Neg", NULL, sp__onnx_out_mul(o, weight, picked)));
    o->out[1] = sp__onnx_out_where(o, ignored, none, weight);
}

static void write_nll_terms_grad(sp_onnx_out *o)
{
    const sp_meta *y = sp__onnx_out_result(o, 0);
    int axis = (int)sp__onnx_out_int(o, "axis");
    int64_t dims[SP_RANK_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
    dims[axis] = sp__onnx_out_int(o, "classes");
    sp_onnx_id target = sp__onnx_out_unsqueeze(o, sp__onnx_out_cast(o, o->in[1], SP_DTYPE_I64), axis),
               none = sp__onnx_out_scalar(o, y->dtype, 0);
    sp_onnx_id hit = SP_ONNX_OUT(o, "Equal", NULL, target,
                                 sp__onnx_out_table(o, SP_DTYPE_I64, y->rank, dims, sp__onnx_out_count, NULL));
    sp_onnx_id ignored =
        SP_ONNX_OUT(o, "Equal", NULL, target, sp__onnx_out_whole(o, SP_DTYPE_I64, sp__onnx_out_int(o, "ignore_index")));
    sp_onnx_id g = SP_ONNX_OUT(o, "Neg", NULL, sp__onnx_out_unsqueeze(o, o->in[0], axis));
    if (o->in[2]) g = sp__onnx_out_mul(o, g, sp__onnx_out_reshape(o, o->in[2], y->rank, dims));
    o->out[0] = sp__onnx_out_where(o, SP_ONNX_OUT(o, "And", NULL, hit, SP_ONNX_OUT(o, "Not", NULL, ignored)), g, none);
}

static void write_entropy(sp_onnx_out *o)
{
    sp_onnx_id p = SP_ONNX_OUT(o, "LogSoftmax", "axis=1", o->in[0]);
    o->out[0] =
        SP_ONNX_OUT(o, "Neg", NULL,
                    sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_mul(o, o->in[1], p), 1, (int64_t[]){1}, false));
    o->out[1] = sp__onnx_out_sub(o, SP_ONNX_OUT(o, "Exp", NULL, p), o->in[1]);
}

const sp_onnx_out_rule sp__onnx_out_nn[] = {
    SP_ONNX_OUT_CODE("matmul", write_matmul),
    SP_ONNX_OUT_CODE("matmul_i32", write_matmul_i32),
    SP_ONNX_OUT_CODE("conv_bytes", write_conv_bytes),
    SP_ONNX_OUT_CODE("conv1d", write_conv),
    SP_ONNX_OUT_CODE("conv2d", write_conv),
    SP_ONNX_OUT_CODE("conv3d", write_conv),
    SP_ONNX_OUT_CODE("conv1d_input_grad", write_conv_input_grad),
    SP_ONNX_OUT_CODE("conv2d_input_grad", write_conv_input_grad),
    SP_ONNX_OUT_CODE("conv3d_input_grad", write_conv_input_grad),
    SP_ONNX_OUT_CODE("conv1d_weight_grad", write_conv_weight_grad),
    SP_ONNX_OUT_CODE("conv2d_weight_grad", write_conv_weight_grad),
    SP_ONNX_OUT_CODE("conv3d_weight_grad", write_conv_weight_grad),
    SP_ONNX_OUT_CODE("max_pool1d", write_max_pool),
    SP_ONNX_OUT_CODE("max_pool2d", write_max_pool),
    SP_ONNX_OUT_CODE("max_pool3d", write_max_pool),
    SP_ONNX_OUT_CODE("max_pool1d_indices", write_max_pool),
    SP_ONNX_OUT_CODE("max_pool2d_indices", write_max_pool),
    SP_ONNX_OUT_CODE("max_pool3d_indices", write_max_pool),
    SP_ONNX_OUT_CODE("avg_pool1d", write_avg_pool),
    SP_ONNX_OUT_CODE("avg_pool2d", write_avg_pool),
    SP_ONNX_OUT_CODE("avg_pool3d", write_avg_pool),
    SP_ONNX_OUT_CODE("adaptive_avg_pool1d", write_adaptive_avg),
    SP_ONNX_OUT_CODE("adaptive_avg_pool2d", write_adaptive_avg),
    SP_ONNX_OUT_CODE("adaptive_avg_pool3d", write_adaptive_avg),
    SP_ONNX_OUT_CODE("adaptive_max_pool1d", write_adaptive_max),
    SP_ONNX_OUT_CODE("adaptive_max_pool2d", write_adaptive_max),
    SP_ONNX_OUT_CODE("adaptive_max_pool3d", write_adaptive_max),
    SP_ONNX_OUT_CODE("pool_max_grad", write_pool_max_grad),
    SP_ONNX_OUT_CODE("pool_max_pick", write_pool_max_pick),
    SP_ONNX_OUT_CODE("pool_mean_grad", write_pool_mean_grad),
    SP_ONNX_OUT_CODE("softmax", write_softmax),
    SP_ONNX_OUT_CODE("log_softmax", write_softmax),
    SP_ONNX_OUT_TEXT("softmax_grad", 0, "y * (dout - sum(y * dout, axis))"),
    SP_ONNX_OUT_TEXT("log_softmax_grad", 0, "dout - Exp(y) * sum(dout, axis)"),
    SP_ONNX_OUT_CODE("layer_norm", write_layer_norm),
    SP_ONNX_OUT_CODE("layer_norm_grad", write_layer_norm_grad),
    SP_ONNX_OUT_CODE("rms_norm", write_rms_norm),
    SP_ONNX_OUT_CODE("rms_norm_grad", write_rms_norm),
    SP_ONNX_OUT_CODE("group_norm", write_group_norm),
    SP_ONNX_OUT_CODE("group_norm_grad", write_group_norm),
    SP_ONNX_OUT_CODE("channel_affine", write_affine),
    SP_ONNX_OUT_CODE("batch_norm_train", write_batch_norm_train),
    SP_ONNX_OUT_CODE("batch_norm_train_grad", write_batch_norm_train_grad),
    SP_ONNX_OUT_CODE("channel_window_sum", write_channel_window),
    SP_ONNX_OUT_CODE("rnn_scan", write_rnn),
    SP_ONNX_OUT_CODE("attention", write_attention),
    SP_ONNX_OUT_CODE("nll_terms", write_nll_terms),
    SP_ONNX_OUT_CODE("nll_terms_grad", write_nll_terms_grad),
    SP_ONNX_OUT_CODE("softmax_cross_entropy", write_entropy),
    {.op = NULL},
};
