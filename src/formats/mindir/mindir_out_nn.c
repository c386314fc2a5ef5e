/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out_nn.c - rules of what networks are made of: products, convolutions, pooling, normalisation, recurrence.
 *
 * MindSpore's primitives of windows have two spatial axes (Conv2D, MaxPool) or three (Conv3D, MaxPool3D); operands of fewer axes get more
 * of size 1. Batch normalisation and LSTM are several operators here, which are found again by what made their operands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_out.h"

/* "(1,1,2,3,)": numbers of windows with `lead` ones in front. */
static const char *list_text(sp_mindir_out *o, int lead, int n, const int64_t *v)
{
    char text[256] = "(";
    size_t used = 1;
    for (int i = 0; i < lead; i++) used += (size_t)snprintf(text + used, sizeof text - used, "1,");
    for (int i = 0; i < n; i++) used += (size_t)snprintf(text + used, sizeof text - used, "%lld,", (long long)v[i]);
    snprintf(text + used, sizeof text - used, ")");
    return sp__mindir_out_text(o, "%s", text);
}

/* x of rank 2 + n with so many axes of size 1 put behind the channels. */
static sp_mindir_id with_axes(sp_mindir_out *o, sp_mindir_id x, sp_meta *m, int more)
{
    memmove(m->dims + 2 + more, m->dims + 2, (size_t)(m->rank - 2) * sizeof *m->dims);
    m->rank += more;
    for (int i = 0; i < more; i++) {
        m->dims[2 + i] = 1;
        sp_meta now = *m;
        memmove(now.dims + 2, now.dims + 2 + more - 1 - i, (size_t)(m->rank - 2 - (more - 1 - i)) * sizeof *m->dims);
        now.rank = m->rank - (more - 1 - i);
        x = SP_MINDIR_OUT(o, "ExpandDims", NULL, &now, x, sp__mindir_out_int(o, 2));
    }
    return x;
}

/* The result without them again. */
static void give_without(sp_mindir_out *o, sp_mindir_id y, int more)
{
    int64_t axes[2] = {2, 3};
    SP_MINDIR_OUT_GIVE(o, "Squeeze", NULL, y, sp__mindir_out_ints(o, more, axes));
}

/* --- products ---------------------------------------------------------------------------------------------------- */

static void write_matmul(sp_mindir_out *o)
{
    static const char *const flags[] = {"transpose_a", "transpose_b"};
    int x = sp__mindir_out_meta(o, 0)->rank, y = sp__mindir_out_meta(o, 1)->rank;
    bool alike = x == y;
    for (int i = 0; alike && i < x - 2; i++)
        alike = sp__mindir_out_meta(o, 0)->dims[i] == sp__mindir_out_meta(o, 1)->dims[i];
    const char *type = x == 2 && y == 2 ? "MatMul" : x > 2 && alike ? "BatchMatMul" : "MatMulExt";
    sp_mindir_id in[2] = {sp__mindir_out_in(o, 0), sp__mindir_out_in(o, 1)};
    if (strcmp(type, "MatMulExt")) {
        SP_MINDIR_OUT_GIVE(o, type, NULL, in[0], in[1], sp__mindir_out_attr(o, "transpose_a"),
                           sp__mindir_out_attr(o, "transpose_b"));
        return;
    }
    for (int i = 0; i < 2; i++) {
        const sp_meta *m = sp__mindir_out_meta(o, i);
        int64_t perm[SP_RANK_MAX];
        if (!sp__mindir_out_attr_int(o->node, flags[i]) || m->rank < 2) continue;
        for (int k = 0; k < m->rank; k++) perm[k] = k;
        perm[m->rank - 1] = m->rank - 2;
        perm[m->rank - 2] = m->rank - 1;
        in[i] = sp__mindir_out_transpose(o, in[i], m, perm);
    }
    SP_MINDIR_OUT_GIVE(o, type, NULL, in[0], in[1]);
}

/* Products of bytes: in int32, which holds them. */
static sp_mindir_id centred(sp_mindir_out *o, int i)
{
    const sp_node *n = o->node;
    sp_meta meta = *sp__mindir_out_meta(o, i);
    sp_mindir_id x = sp__mindir_out_cast(o, sp__mindir_out_in(o, i), meta, SP_DTYPE_I32);
    if (!n->in[i + 2]) return x;
    meta.dtype = SP_DTYPE_I32;
    return SP_MINDIR_OUT(
        o, "Sub", NULL, &meta, x,
        sp__mindir_out_cast(o, sp__mindir_out_in(o, i + 2), *sp__mindir_out_meta(o, i + 2), SP_DTYPE_I32));
}

static void write_matmul_i32(sp_mindir_out *o)
{
    sp_mindir_id x = centred(o, 0), y = centred(o, 1);
    bool matrices = sp__mindir_out_meta(o, 0)->rank == 2 && sp__mindir_out_meta(o, 1)->rank == 2;
    if (matrices)
        SP_MINDIR_OUT_GIVE(o, "MatMul", NULL, x, y, sp__mindir_out_bool(o, false), sp__mindir_out_bool(o, false));
    else SP_MINDIR_OUT_GIVE(o, "MatMulExt", NULL, x, y);
}

/* --- convolution ------------------------------------------------------------------------------------------------- */

/* Pads of each side of n axes; all 0 unless the mode is "pad". */
static void pads_of(const sp_node *n, int rank, int64_t *pads)
{
    sp_ints pad = sp__mindir_out_attr_list(n, "pad");
    bool own = !strcmp(sp__mindir_out_attr_text(n, "pad_mode"), "pad");
    for (int i = 0; i < 2 * rank; i++)
        pads[i] = !own || pad.n <= 0 ? 0 : pad.n == 1 ? pad.v[0] : pad.n == rank ? pad.v[i / 2] : pad.v[i];
}

static sp_mindir_id add_bias(sp_mindir_out *o, sp_mindir_id y, const sp_meta *m, sp_mindir_id bias, bool last)
{
    if (last) {
        SP_MINDIR_OUT_GIVE(o, "BiasAdd", NULL, y, bias, sp__mindir_out_int(o, 0));
        return "";
    }
    return SP_MINDIR_OUT(o, "BiasAdd", NULL, m, y, bias, sp__mindir_out_int(o, 0));
}

static const char *conv_attrs(sp_mindir_out *o, int lead, const sp_meta *w, bool transposed)
{
    int rank = w->rank - 2;
    int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, pads[6] = {0}, kernel[3] = {1, 1, 1};
    sp__mindir_out_spread(sp__mindir_out_attr_list(o->node, "stride"), rank, 1, stride + lead);
    sp__mindir_out_spread(sp__mindir_out_attr_list(o->node, "dilation"), rank, 1, dilation + lead);
    pads_of(o->node, rank, pads + 2 * lead);
    for (int i = 0; i < rank; i++) kernel[lead + i] = w->dims[2 + i];
    rank += lead;
    const char *mode = sp__mindir_out_attr_text(o->node, "pad_mode"), *upper = !strcmp(mode, "pad")    ? "PAD"
                                                                               : !strcmp(mode, "same") ? "SAME"
                                                                                                       : "VALID";
    long long group = (long long)sp__mindir_out_attr_int(o->node, "group");
    const char *common = sp__mindir_out_text(
        o, "kernel_size=%s, mode=1, out_channel=%lld, pad=%s, groups=%lld, group=%lld", list_text(o, 0, rank, kernel),
        (long long)w->dims[0], list_text(o, 0, 2 * rank, pads), group, group);
    const char *s = list_text(o, 2, rank, stride), *d = list_text(o, 2, rank, dilation);
    const char *flat = sp__mindir_out_text(o, "stride=%s, dilation=%s", list_text(o, rank == 3 ? 0 : 2, rank, stride),
                                           list_text(o, rank == 3 ? 0 : 2, rank, dilation));
    if (transposed) { /* what "same" means is said in numbers */
        const sp_meta *big = sp__mindir_out_result(o), *small = sp__mindir_out_meta(o, 0);
        for (int i = lead; i < rank && !strcmp(mode, "same"); i++) {
            const int axis = 2 + i - lead, reach = (int)(dilation[i] * (kernel[i] - 1) + 1);
            const bool open = big->dims[axis] < 0; /* then the result is `stride` times as large, see mindir_free.c */
            int64_t more = open ? reach - stride[i] : (small->dims[axis] - 1) * stride[i] + reach - big->dims[axis];
            pads[2 * i] = more > 0 ? more / 2 : 0;
            pads[2 * i + 1] = more > 0 ? more - more / 2 : 0;
        }
    }
    common = sp__mindir_out_text(o, "%s, %s, pad_list=%s, pad_mode='%s', format='%s'", common, flat,
                                 list_text(o, 0, 2 * rank, pads), transposed && rank == 2 ? upper : mode,
                                 rank == 3 ? "NCDHW" : "NCHW");
    if (rank == 3) common = sp__mindir_out_text(o, "%s, strides=%s, dilations=%s", common, s, d);
    return common;
}

static void write_conv(sp_mindir_out *o)
{
    sp_meta x = *sp__mindir_out_meta(o, 0), w = *sp__mindir_out_meta(o, 1), m = *sp__mindir_out_result(o);
    int lead = w.rank == 3;
    const char *attrs = conv_attrs(o, lead, &w, false), *type = w.rank == 5 ? "Conv3D" : "Conv2D";
    sp_mindir_id in[2] = {sp__mindir_out_in(o, 0), sp__mindir_out_in(o, 1)},
                 bias = sp__mindir_out_has(o->node, 2) ? sp__mindir_out_in(o, 2) : NULL;
    if (!lead && !bias) {
        sp__mindir_out_give(o, type, attrs, 2, in);
        return;
    }
    if (lead) {
        in[0] = with_axes(o, in[0], &x, 1);
        in[1] = with_axes(o, in[1], &w, 1);
        memmove(m.dims + 3, m.dims + 2, sizeof *m.dims);
        m.dims[2] = 1;
        m.rank = 4;
    }
    sp_mindir_id y = sp__mindir_out_op(o, type, attrs, 2, in, &m);
    if (bias) y = add_bias(o, y, &m, bias, !lead);
    if (lead) give_without(o, y, 1);
}

/* Of three spatial axes the size is an attribute. */
static void write_conv3d_input_grad(sp_mindir_out *o)
{
    const sp_meta *m = sp__mindir_out_result(o), *w = sp__mindir_out_meta(o, 1);
    const char *attrs = conv_attrs(o, 0, w, true), *at = strstr(attrs, "out_channel=");
    attrs = sp__mindir_out_text(
        o, "%.*sin_channel=%lld, output_padding=(0,0,0,0,0,), input_size=%s, out_channel=%lld%s", (int)(at - attrs),
        attrs, (long long)w->dims[0], list_text(o, 0, 5, m->dims), (long long)m->dims[1], at + strcspn(at, ","));
    SP_MINDIR_OUT_GIVE(o, "Conv3DTranspose", attrs, sp__mindir_out_in(o, 0), sp__mindir_out_in(o, 1));
}

/* dout, weight; the size of what is computed is a third input. */
static void write_conv_input_grad(sp_mindir_out *o)
{
    sp_meta d = *sp__mindir_out_meta(o, 0), w = *sp__mindir_out_meta(o, 1), m = *sp__mindir_out_result(o);
    int lead = w.rank == 3;
    const char *attrs = conv_attrs(o, lead, &w, true);
    sp_mindir_id in[3] = {sp__mindir_out_in(o, 0), sp__mindir_out_in(o, 1), sp__mindir_out_result_size(o, lead)};
    if (lead) {
        in[0] = with_axes(o, in[0], &d, 1);
        in[1] = with_axes(o, in[1], &w, 1);
        memmove(m.dims + 3, m.dims + 2, sizeof *m.dims);
        m.dims[2] = 1;
        m.rank = 4;
    }
    if (lead) give_without(o, sp__mindir_out_op(o, "Conv2DTranspose", attrs, 3, in, &m), 1);
    else sp__mindir_out_give(o, "Conv2DTranspose", attrs, 3, in);
}

static bool all_fixed(const sp_node *n)
{
    if (!sp__mindir_out_floats(n)) return false;
    for (int k = 0; k < n->out[0]->meta.rank; k++)
        if (n->out[0]->meta.dims[k] < 0) return false;
    return true;
}

/* --- pooling ----------------------------------------------------------------------------------------------------- */

typedef struct {
    int rank;
    int64_t kernel[3], stride[3], pads[6];
    bool max, padded, ceil, same;
} window;

static window window_of(const sp_node *n)
{
    window w = {.rank = n->in[0]->meta.rank - 2,
                .max = n->op->family == SP_FAMILY_MAX_POOL,
                .ceil = sp__mindir_out_attr_int(n, "ceil_mode"),
                .same = !strcmp(sp__mindir_out_attr_text(n, "pad_mode"), "same")};
    sp_ints stride = sp__mindir_out_attr_list(n, "stride");
    if (w.rank < 1 || w.rank > 3) return w;
    sp__mindir_out_spread(sp__mindir_out_attr_list(n, "kernel_size"), w.rank, 1, w.kernel);
    sp__mindir_out_spread(stride.n > 0 ? stride : sp__mindir_out_attr_list(n, "kernel_size"), w.rank, 1, w.stride);
    pads_of(n, w.rank, w.pads);
    for (int i = 0; i < 2 * w.rank; i++) w.padded |= w.pads[i] != 0;
    return w;
}

static bool pool_fits(const sp_node *n)
{
    sp_ints dilation = sp__mindir_out_attr_list(n, "dilation");
    for (int i = 0; i < dilation.n; i++)
        if (dilation.v[i] != 1) return false;
    if (!sp__mindir_out_floats(n)) return false;
    int rank = n->in[0]->meta.rank;
    const char *layout = sp__mindir_out_attr_text(n, "data_format");
    return n->op->spatial && rank == 2 + n->op->spatial &&
           (!*layout || !strncmp(layout, "NC", 2)); /* with a batch, channels first */
}

static void pool_2d(sp_mindir_out *o, const window *w, sp_mindir_id x, const sp_meta *m)
{
    int64_t kernel[2] = {w->rank == 1 ? 1 : w->kernel[0], w->kernel[w->rank - 1]},
            stride[2] = {w->rank == 1 ? 1 : w->stride[0], w->stride[w->rank - 1]};
    sp_mindir_id in[5] = {x}, y;
    const char *attrs = NULL;
    if (w->max)
        attrs = sp__mindir_out_text(o, "pad_mode='%s', kernel_size=%s, format='NCHW', strides=%s",
                                    w->same ? "SAME" : "VALID", list_text(o, 2, 2, kernel), list_text(o, 2, 2, stride));
    else {
        in[1] = sp__mindir_out_ints(o, 2, kernel);
        in[2] = sp__mindir_out_ints(o, 2, stride);
        in[3] = sp__mindir_out_int(o, w->same ? 1 : 2);
        in[4] = sp__mindir_out_int(o, 0);
    }
    const char *type = w->max ? "MaxPool" : "AvgPool";
    if (w->rank == 2) {
        sp__mindir_out_give(o, type, attrs, w->max ? 1 : 5, in);
        return;
    }
    y = sp__mindir_out_op(o, type, attrs, w->max ? 1 : 5, in, m);
    give_without(o, y, 1);
}

static void pool_3d(sp_mindir_out *o, const window *w, sp_mindir_id x, const sp_meta *m)
{
    int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, pads[6] = {0};
    int lead = 3 - w->rank;
    for (int i = 0; i < w->rank; i++) {
        kernel[lead + i] = w->kernel[i];
        stride[lead + i] = w->stride[i];
        pads[2 * (lead + i)] = w->pads[2 * i];
        pads[2 * (lead + i) + 1] = w->pads[2 * i + 1];
    }
    const char *mode = w->same ? "SAME" : w->padded || w->ceil ? (w->max ? "CALCULATED" : "PAD") : "VALID";
    const char *attrs = sp__mindir_out_text(
        o,
        "kernel_size=%s, strides=%s, pad_mode='%s', pad_list=%s, format='NCDHW', data_format='NCDHW', ceil_mode=%s%s",
        list_text(o, 2, 3, kernel), list_text(o, 2, 3, stride), mode, list_text(o, 0, 6, pads),
        w->max ? (w->ceil ? "1" : "0") : (w->ceil ? "True" : "False"),
        w->max ? ""
               : sp__mindir_out_text(o, ", count_include_pad=%s, divisor_override=%lld",
                                     sp__mindir_out_attr_int(o->node, "count_include_pad") ? "True" : "False",
                                     (long long)sp__mindir_out_attr_int(o->node, "divisor_override")));
    const char *type = w->max ? "MaxPool3D" : "AvgPool3D";
    if (!lead) sp__mindir_out_give(o, type, attrs, 1, &x);
    else give_without(o, sp__mindir_out_op(o, type, attrs, 1, &x, m), lead);
}

static void write_pool(sp_mindir_out *o)
{
    window w = window_of(o->node);
    sp_meta x = *sp__mindir_out_meta(o, 0), m = *sp__mindir_out_result(o);
    bool flat = w.rank <= 2 && !w.padded && !w.ceil && !sp__mindir_out_attr_int(o->node, "divisor_override");
    int more = flat ? 2 - w.rank : 3 - w.rank;
    sp_mindir_id in = sp__mindir_out_in(o, 0);
    if (more) {
        in = with_axes(o, in, &x, more);
        memmove(m.dims + 2 + more, m.dims + 2, (size_t)w.rank * sizeof *m.dims);
        for (int i = 0; i < more; i++) m.dims[2 + i] = 1;
        m.rank += more;
    }
    if (flat) pool_2d(o, &w, in, &m);
    else pool_3d(o, &w, in, &m);
}

/* Values, and where in the picture they lie; also with dilation. */
static void write_argmax(sp_mindir_out *o)
{
    window w = window_of(o->node);
    int lead = 2 - w.rank;
    int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, pads[2] = {0, 0}, dilation[2] = {1, 1};
    sp__mindir_out_spread(sp__mindir_out_attr_list(o->node, "dilation"), w.rank, 1, dilation + lead);
    for (int i = 0; i < w.rank; i++) {
        kernel[lead + i] = w.kernel[i];
        stride[lead + i] = w.stride[i];
        pads[lead + i] = w.pads[2 * i];
    }
    const char *attrs = sp__mindir_out_text(
        o, "kernel_size=%s, strides=%s, pads=%s, dilation=%s, ceil_mode=%s, argmax_type=4", list_text(o, 2, 2, kernel),
        list_text(o, 2, 2, stride), list_text(o, 2, 2, pads), list_text(o, 2, 2, dilation), w.ceil ? "True" : "False");
    sp_meta x = *sp__mindir_out_meta(o, 0), y = *sp__mindir_out_result(o);
    sp_mindir_id in = sp__mindir_out_in(o, 0);
    if (lead) {
        in = with_axes(o, in, &x, 1);
        y.dims[3] = y.dims[2];
        y.dims[2] = 1;
        y.rank = 4;
    }
    sp_meta at = y;
    at.dtype = SP_DTYPE_I64;
    const sp_meta *metas[2] = {&y, &at};
    sp_mindir_id both = sp__mindir_out_many(o, "MaxPoolWithArgmaxV2", attrs, 1, &in, 2, metas);
    for (int i = 0; i < o->node->n_out; i++) {
        sp_mindir_id item = sp__mindir_out_item(o, both, i, metas[i],
                                                lead ? NULL : sp__mindir_out_name(o, o->node->out[i])),
                     args[2] = {item, SP_MINDIR_OUT_INTS(o, 2)};
        if (lead)
            sp__mindir_out_results(o, sp__mindir_out_instance(o, "Squeeze", NULL), 2, args, 1, &o->node->out[i], false);
    }
}

/* Padding that is the same on both sides, which is all that it knows. */
static bool argmax_fits(const sp_node *n)
{
    window w = window_of(n);
    if (!sp__mindir_out_floats(n) || w.rank < 1 || w.rank > 2 || w.same || *sp__mindir_out_attr_text(n, "data_format"))
        return false;
    for (int i = 0; i < w.rank; i++)
        if (w.pads[2 * i] != w.pads[2 * i + 1]) return false;
    return true;
}

/* --- normalisation ----------------------------------------------------------------------------------------------- */

static bool number_of(const sp_value *v, double *out)
{
    return v->origin == SP_VALUE_CONSTANT && v->constant->count == 1 && sp_tensor_item_f64(v->constant, out) == SP_OK;
}

/* Of a commutative operator: the operand that `op` makes, and the other one. */
static const sp_node *split_pair(const sp_value *v, const sp_op *pair, const sp_op *op, sp_value **other)
{
    if (!sp__mindir_out_is(v, pair)) return NULL;
    for (int i = 0; i < 2; i++)
        if (sp__mindir_out_is(v->node->in[i], op)) {
            *other = v->node->in[1 - i];
            return v->node->in[i]->node;
        }
    return NULL;
}

/* scale = rsqrt(variance + epsilon) * gamma, shift = beta - mean * scale: x, gamma, beta, mean, variance. */
static bool fuse_batch_norm(const sp_node *n, sp_mindir_out_fused *f)
{
    sp_value *scale = n->in[1], *gamma = NULL, *beta = NULL, *mean;
    const sp_node *root = split_pair(scale, &sp_op_mul, &sp_op_rsqrt, &gamma),
                  *minus = split_pair(n->in[2], &sp_op_add, &sp_op_neg, &beta);
    if (!root || !minus || !sp__mindir_out_is(minus->in[0], &sp_op_mul) || !sp__mindir_out_is(root->in[0], &sp_op_add))
        return false;
    const sp_node *product = minus->in[0]->node, *sum = root->in[0]->node;
    if (product->in[0] == scale) mean = product->in[1];
    else if (product->in[1] == scale) mean = product->in[0];
    else return false;
    int at = number_of(sum->in[1], &f->number) ? 0 : number_of(sum->in[0], &f->number) ? 1 : -1;
    if (at < 0) return false;
    sp_value *all[5] = {n->in[0], gamma, beta, mean, sum->in[at]};
    for (int i = 0; i < 5; i++) {
        if (i && all[i]->meta.rank != 1) return false;
        if (all[i]->meta.dtype != SP_DTYPE_F32) return false;
        f->in[i] = all[i];
    }
    f->n = 5;
    return n->in[0]->meta.rank == 4 || n->in[0]->meta.rank == 2;
}

static bool is_batch_norm(const sp_node *n)
{
    sp_mindir_out_fused f;
    return fuse_batch_norm(n, &f);
}

static void write_batch_norm(sp_mindir_out *o)
{
    const sp_mindir_out_fused *f = o->fused[o->node->id];
    const sp_meta *c = &f->in[1]->meta, *metas[5] = {sp__mindir_out_result(o), c, c, c, c};
    sp_mindir_id in[9];
    for (int i = 0; i < 5; i++) in[i] = sp__mindir_out_use(o, f->in[i]);
    in[5] = sp__mindir_out_bool(o, false);
    in[6] = sp__mindir_out_float(o, f->number);
    in[7] = sp__mindir_out_float(o, 0.9);
    in[8] = sp__mindir_out_int(o, 0);
    sp__mindir_out_item(o, sp__mindir_out_many(o, "BatchNorm", NULL, 9, in, 5, metas), 0, metas[0],
                        sp__mindir_out_name(o, o->node->out[0]));
}

/* x * scale + shift along axis 1. */
static void write_affine(sp_mindir_out *o)
{
    const sp_meta *x = sp__mindir_out_meta(o, 0);
    int64_t dims[SP_RANK_MAX];
    sp_mindir_id part[2];
    for (int i = 0; i < x->rank; i++) dims[i] = 1;
    for (int i = 0; i < 2; i++) {
        const sp_meta *m = sp__mindir_out_meta(o, i + 1);
        part[i] = sp__mindir_out_in(o, i + 1);
        if (x->rank <= 2) continue;
        dims[0] = m->dims[0];
        part[i] = sp__mindir_out_reshape(o, part[i], m->dtype, x->rank - 1, dims);
    }
    SP_MINDIR_OUT_GIVE(o, "Add", NULL,
                       SP_MINDIR_OUT(o, "Mul", NULL, sp__mindir_out_result(o), sp__mindir_out_in(o, 0), part[0]),
                       part[1]);
}

/* (x - zero) * scale of weights: small integers stay what they are in the file. Scales of blocks want an axis of their own. */
static bool dequantize_fits(const sp_node *n)
{
    const sp_meta *x = &n->in[0]->meta;
    const int64_t block = sp__mindir_out_attr_int(n, "block");
    return n->in[0]->origin == SP_VALUE_CONSTANT &&
           (block == 0 || (x->rank < SP_RANK_MAX && x->dims[sp__mindir_out_axis(n, "axis", x->rank)] % block == 0));
}

static bool is_zero(const sp_value *v)
{
    if (v->origin != SP_VALUE_CONSTANT) return false;
    const char *bytes = sp_tensor_is_contiguous(v->constant) ? sp_tensor_data(v->constant) : NULL;
    for (size_t i = 0; bytes && i < sp_tensor_bytes(v->constant); i++)
        if (bytes[i]) return false;
    return bytes != NULL;
}

static void write_dequantize(sp_mindir_out *o)
{
    const sp_node *n = o->node;
    const sp_meta *x = sp__mindir_out_meta(o, 0), *s = sp__mindir_out_meta(o, 1);
    const int64_t block = sp__mindir_out_attr_int(n, "block");
    const int axis = s->rank > 0 ? sp__mindir_out_axis(n, "axis", x->rank) : 0;
    sp_meta wide = *x, scale = {.dtype = SP_DTYPE_F32, .rank = x->rank};
    for (int i = 0; i < x->rank; i++)
        scale.dims[i] = block > 0 ? s->dims[i] : i == axis && s->rank > 0 ? s->dims[0] : 1;
    if (block > 0) {
        for (int i = x->rank; i > axis + 1; i--) wide.dims[i] = x->dims[i - 1], scale.dims[i] = s->dims[i - 1];
        wide.rank = scale.rank = x->rank + 1;
        wide.dims[axis] = x->dims[axis] / block;
        wide.dims[axis + 1] = block;
        scale.dims[axis + 1] = 1;
    }
    sp_mindir_id v = sp__mindir_out_in(o, 0), by = sp__mindir_out_in(o, 1);
    if (block > 0) v = sp__mindir_out_reshape(o, v, wide.dtype, wide.rank, wide.dims);
    v = sp__mindir_out_cast(o, v, wide, SP_DTYPE_F32);
    wide.dtype = SP_DTYPE_F32;
    if (s->rank > 0) by = sp__mindir_out_reshape(o, by, SP_DTYPE_F32, scale.rank, scale.dims);
    if (sp__mindir_out_has(n, 2) && !is_zero(n->in[2])) {
        sp_mindir_id zero = sp__mindir_out_cast(o, sp__mindir_out_in(o, 2), *sp__mindir_out_meta(o, 2), SP_DTYPE_F32);
        if (s->rank > 0) zero = sp__mindir_out_reshape(o, zero, SP_DTYPE_F32, scale.rank, scale.dims);
        v = SP_MINDIR_OUT(o, "Sub", NULL, &wide, v, zero);
    }
    if (block == 0) {
        SP_MINDIR_OUT_GIVE(o, "Mul", NULL, v, by);
        return;
    }
    v = SP_MINDIR_OUT(o, "Mul", NULL, &wide, v, by);
    SP_MINDIR_OUT_GIVE(o, "Reshape", NULL, v, sp__mindir_out_ints(o, x->rank, x->dims));
}

static bool has_both(const sp_node *n) { return sp__mindir_out_has(n, 1) && sp__mindir_out_has(n, 2); }

/* --- matrices ---------------------------------------------------------------------------------------------------- */

static void write_triangular(sp_mindir_out *o)
{
    const sp_node *n = o->node;
    SP_MINDIR_OUT_GIVE(o, "SolveTriangular", NULL, sp__mindir_out_in(o, 0), sp__mindir_out_in(o, 1),
                       sp__mindir_out_int(o, sp__mindir_out_attr_int(n, "transpose")),
                       sp__mindir_out_bool(o, !sp__mindir_out_attr_int(n, "upper")), sp__mindir_out_attr(o, "unit"));
}

/* --- parts of pictures ------------------------------------------------------------------------------------------- */

static void write_roi_align(sp_mindir_out *o)
{
    const sp_node *n = o->node;
    const char *attrs = sp__mindir_out_text(
        o, "pooled_height=%lld, pooled_width=%lld, spatial_scale=%.9ge0, sample_num=%lld, roi_end_mode=%lld",
        (long long)sp__mindir_out_attr_int(n, "pooled_height"), (long long)sp__mindir_out_attr_int(n, "pooled_width"),
        sp__mindir_out_attr_float(n, "spatial_scale"), (long long)sp__mindir_out_attr_int(n, "sample_num"),
        (long long)sp__mindir_out_attr_int(n, "roi_end_mode"));
    sp_mindir_id rois =
        sp__mindir_out_cast(o, sp__mindir_out_in(o, 1), *sp__mindir_out_meta(o, 1), sp__mindir_out_meta(o, 0)->dtype);
    SP_MINDIR_OUT_GIVE(o, "ROIAlign", attrs, sp__mindir_out_in(o, 0), rois);
}

/* MindSpore resizes the last two axes of images by the ratio of sizes. */
static bool resize_fits(const sp_node *n)
{
    const sp_meta *x = &n->in[0]->meta;
    const char *mode = sp__mindir_out_attr_text(n, "mode");
    const double scale = sp__mindir_out_attr_float(n, "scale"), in = (double)sp__mindir_out_attr_int(n, "in_size"),
                 out = (double)sp__mindir_out_attr_int(n, "out_size");
    return x->rank == 4 && sp__mindir_out_axis(n, "axis", 4) >= 2 &&
           (x->dtype == SP_DTYPE_F32 || x->dtype == SP_DTYPE_F16) && !sp__mindir_out_attr_int(n, "transposed") &&
           (!strcmp(mode, "nearest") || !strcmp(mode, "linear")) && (scale == 0 || fabs(scale * out - in) <= 1e-9 * in);
}

static void write_resize(sp_mindir_out *o)
{
    const char *mode = sp__mindir_out_attr_text(o->node, "mode"),
               *places = sp__mindir_out_attr_text(o->node, "coordinates");
    SP_MINDIR_OUT_GIVE(o, !strcmp(mode, "nearest") ? "ResizeNearestNeighborV2" : "ResizeBilinearV2", NULL,
                       sp__mindir_out_in(o, 0),
                       sp__mindir_out_image_size(o, "out_size", sp__mindir_out_axis(o->node, "axis", 4)),
                       sp__mindir_out_bool(o, !strcmp(places, "align_corners")),
                       sp__mindir_out_bool(o, !strcmp(places, "half_pixel")));
}

static void write_crop(sp_mindir_out *o)
{
    const char *attrs =
        sp__mindir_out_text(o, "method='%s', extrapolation_value=%.9ge0", sp__mindir_out_attr_text(o->node, "method"),
                            sp__mindir_out_attr_float(o->node, "extrapolation_value"));
    sp_mindir_id boxes = sp__mindir_out_cast(o, sp__mindir_out_in(o, 1), *sp__mindir_out_meta(o, 1), SP_DTYPE_F32),
                 at = sp__mindir_out_cast(o, sp__mindir_out_in(o, 2), *sp__mindir_out_meta(o, 2), SP_DTYPE_I32);
    SP_MINDIR_OUT_GIVE(o, "CropAndResize", attrs, sp__mindir_out_in(o, 0), boxes, at,
                       sp__mindir_out_attr(o, "crop_size"));
}

/* --- LSTM -------------------------------------------------------------------------------------------------------- */

/* A value reshaped, or NULL. */
static sp_value *unshaped(sp_value *v) { return sp__mindir_out_is(v, &sp_op_reshape) ? v->node->in[0] : NULL; }

/* Elements [from, to) of a row? Gives the row. */
static sp_value *part_of_row(sp_value *v, int64_t from, int64_t *to)
{
    if (sp__mindir_out_is(v, &sp_op_reshape)) v = v->node->in[0];
    if (!sp__mindir_out_is(v, &sp_op_slice) || v->node->in[0]->meta.rank != 1) return NULL;
    sp_ints start = sp__mindir_out_attr_list(v->node, "start"), stop = sp__mindir_out_attr_list(v->node, "stop");
    if (start.n != 1 || start.v[0] != from) return NULL;
    *to = stop.v[0];
    return v->node->in[0];
}

/* Weights that were cut from one row, as MindSpore has them: then that row is taken. */
static sp_value *row_of(sp_value *w_ih, sp_value *w_hh, sp_value *bias)
{
    int64_t at = 0;
    sp_value *row = part_of_row(w_ih, 0, &at);
    if (!row || part_of_row(w_hh, at, &at) != row || (bias && part_of_row(bias, at, &at) != row) ||
        at != row->meta.dims[0])
        return NULL;
    return unshaped(row) ? unshaped(row) : row;
}

/* 0: x (time, batch, input), h0, c0; then the row of weights, or 3: w_ih, w_hh, biases. Without a product with weights before it the
 * steps are applied to x as it comes, which is the product with 1. */
static bool fuse_lstm(const sp_node *n, sp_mindir_out_fused *f)
{
    if (strcmp(sp__mindir_out_attr_text(n, "mode"), "lstm") || sp__mindir_out_attr_int(n, "reverse") ||
        sp__mindir_out_has(n, 5))
        return false;
    sp_value *gates = unshaped(n->in[0]), *bias = NULL, *x = NULL, *w = NULL;
    if (sp__mindir_out_is(gates, &sp_op_add) && gates->node->in[1]->meta.rank == 1) {
        bias = gates->node->in[1];
        gates = gates->node->in[0];
    }
    if (sp__mindir_out_is(gates, &sp_op_matmul) && sp__mindir_out_attr_int(gates->node, "transpose_b") &&
        !sp__mindir_out_attr_int(gates->node, "transpose_a") && gates->node->in[1]->meta.rank == 2) {
        x = unshaped(gates->node->in[0]);
        w = gates->node->in[1];
    }
    bool found = x && x->meta.rank == 3 && x->meta.dims[0] == n->in[0]->meta.dims[0] &&
                 x->meta.dims[1] == n->in[0]->meta.dims[1];
    sp_value *h0 = n->in[1], *c0 = n->in[2], *wide_h = unshaped(h0), *wide_c = unshaped(c0);
    if (wide_h && wide_h->meta.rank == 3) h0 = wide_h;
    if (wide_c && wide_c->meta.rank == 3) c0 = wide_c;
    sp_value *all[7] = {found ? x : n->in[0],
                        h0,
                        c0,
                        found ? w : NULL,
                        n->in[3],
                        found ? bias : NULL,
                        sp__mindir_out_has(n, 4) ? n->in[4] : NULL};
    sp_value *row = found && !all[6] ? row_of(w, n->in[3], bias) : NULL;
    f->size = all[0]->meta.dims[2];
    f->number = row ? (bias ? 2 : 1) : 0; /* 2: the row has a bias */
    f->n = row ? 4 : 7;
    memcpy(f->in, all, sizeof all);
    if (row) f->in[3] = row;
    return n->out[0]->meta.dtype == SP_DTYPE_F32;
}

static bool is_lstm(const sp_node *n)
{
    sp_mindir_out_fused f;
    return fuse_lstm(n, &f);
}

/* Weights one after the other: (n, 1, 1). */
static sp_mindir_id weight_row(sp_mindir_out *o, const sp_mindir_out_fused *f, int64_t hidden, bool *bias)
{
    sp_value *w = f->in[3];
    int64_t counts[3] = {4 * hidden * f->size, 4 * hidden * hidden, 4 * hidden}, sum = counts[0] + counts[1];
    sp_mindir_id parts[3];
    const sp_meta vector = {.dtype = SP_DTYPE_F32, .rank = 1, .dims = {4 * hidden}};
    if (w) parts[0] = sp__mindir_out_use(o, w);
    else {
        sp_tensor *t;
        const int64_t dims[2] = {f->size, f->size};
        if (sp_tensor_create_zeros(SP_DTYPE_F32, 2, dims, &t) != SP_OK) {
            o->model.status = SP_NOMEM;
            return "";
        }
        for (int64_t i = 0; i < f->size; i++) ((float *)sp_tensor_data(t))[i * f->size + i] = 1;
        parts[0] = sp__mindir_out_tensor(o, t, NULL);
        sp_tensor_release(t);
    }
    parts[1] = sp__mindir_out_use(o, f->in[4]);
    *bias = f->in[5] || f->in[6];
    if (f->in[5] && f->in[6])
        parts[2] =
            SP_MINDIR_OUT(o, "Add", NULL, &vector, sp__mindir_out_use(o, f->in[5]), sp__mindir_out_use(o, f->in[6]));
    else if (*bias) parts[2] = sp__mindir_out_use(o, f->in[5] ? f->in[5] : f->in[6]);
    int n = *bias ? 3 : 2;
    sp_meta metas[3];
    const sp_meta *types[3];
    for (int i = 0; i < n; i++) {
        metas[i] = (sp_meta){.dtype = SP_DTYPE_F32, .rank = 3, .dims = {counts[i], 1, 1}};
        types[i] = &metas[i];
        parts[i] = SP_MINDIR_OUT(o, "Reshape", NULL, types[i], parts[i], SP_MINDIR_OUT_INTS(o, -1, 1, 1));
    }
    const sp_meta all = {.dtype = SP_DTYPE_F32, .rank = 3, .dims = {sum + (*bias ? counts[2] : 0), 1, 1}};
    return SP_MINDIR_OUT(o, "Concat", NULL, &all, sp__mindir_out_many(o, "MakeTuple", NULL, n, parts, n, types),
                         sp__mindir_out_int(o, 0));
}

static void write_lstm(sp_mindir_out *o)
{
    const sp_mindir_out_fused *f = o->fused[o->node->id];
    const sp_meta *y = sp__mindir_out_result(o);
    int64_t hidden = y->dims[2];
    bool bias = f->number == 2;
    sp_mindir_id in[4] = {sp__mindir_out_use(o, f->in[0])};
    sp_meta state = {.dtype = SP_DTYPE_F32, .rank = 3, .dims = {1, y->dims[1], hidden}};
    const sp_meta nothing = {.dtype = SP_DTYPE_F32, .rank = 2, .dims = {1, 1}};
    for (int i = 1; i < 3; i++) {
        in[i] = sp__mindir_out_use(o, f->in[i]);
        if (f->in[i]->meta.rank == 2)
            in[i] = SP_MINDIR_OUT(o, "ExpandDims", NULL, &state, in[i], sp__mindir_out_int(o, 0));
    }
    in[3] = f->n == 4 ? sp__mindir_out_use(o, f->in[3]) : weight_row(o, f, hidden, &bias);
    const char *attrs = sp__mindir_out_text(
        o,
        "dropout=0.0, proj_size=0, has_bias=%s, num_layers=1, hidden_size=%lld, bidirectional=False, input_size=%lld",
        bias ? "True" : "False", (long long)hidden, (long long)f->size);
    const sp_meta *metas[5] = {y, &state, &state, &nothing, &nothing};
    sp_mindir_id all = sp__mindir_out_many(o, "LSTM", attrs, 4, in, 5, metas);
    sp__mindir_out_item(o, all, 0, y, sp__mindir_out_name(o, o->node->out[0]));
    for (int i = 1; i < 3; i++) {
        if (!o->used[o->node->out[i]->id]) continue;
        sp_mindir_id item[2] = {sp__mindir_out_item(o, all, i, &state, NULL), SP_MINDIR_OUT_INTS(o, 0)};
        sp__mindir_out_results(o, sp__mindir_out_instance(o, "Squeeze", NULL), 2, item, 1, &o->node->out[i], false);
    }
}

const sp_mindir_out_rule sp__mindir_out_nn[] = {
    SP_MINDIR_OUT_CODE("matmul", write_matmul),
    SP_MINDIR_OUT_CODE("matmul_i32", write_matmul_i32),
    SP_MINDIR_OUT_CODE_IF("conv1d", write_conv, sp__mindir_out_floats),
    SP_MINDIR_OUT_CODE_IF("conv2d", write_conv, sp__mindir_out_floats),
    SP_MINDIR_OUT_CODE_IF("conv3d", write_conv, sp__mindir_out_floats),
    SP_MINDIR_OUT_CODE_IF("conv1d_input_grad", write_conv_input_grad, sp__mindir_out_floats),
    SP_MINDIR_OUT_CODE_IF("conv2d_input_grad", write_conv_input_grad, sp__mindir_out_floats),
    SP_MINDIR_OUT_CODE_IF("conv3d_input_grad", write_conv3d_input_grad, all_fixed),
    SP_MINDIR_OUT_CODE_IF("max_pool2d_indices", write_argmax, argmax_fits),
    SP_MINDIR_OUT_CODE_IF("max_pool1d_indices", write_argmax, argmax_fits),
    SP_MINDIR_OUT_CODE_IF("max_pool1d", write_pool, pool_fits),
    SP_MINDIR_OUT_CODE_IF("max_pool2d", write_pool, pool_fits),
    SP_MINDIR_OUT_CODE_IF("max_pool3d", write_pool, pool_fits),
    SP_MINDIR_OUT_CODE_IF("avg_pool1d", write_pool, pool_fits),
    SP_MINDIR_OUT_CODE_IF("avg_pool2d", write_pool, pool_fits),
    SP_MINDIR_OUT_CODE_IF("avg_pool3d", write_pool, pool_fits),
    SP_MINDIR_OUT_CODE_IF("max_pool2d", write_argmax, argmax_fits),
    SP_MINDIR_OUT_CODE_IF("max_pool1d", write_argmax, argmax_fits), /* with dilation */
    SP_MINDIR_OUT_TEXT("cholesky", "Cholesky(x, upper)"),
    SP_MINDIR_OUT_TEXT("qr", "Qr(x, complete)"),
    SP_MINDIR_OUT_TEXT("svd", "Svd(x, full, True)"),
    SP_MINDIR_OUT_CODE("triangular_solve", write_triangular),
    SP_MINDIR_OUT_CODE("roi_align", write_roi_align),
    SP_MINDIR_OUT_CODE("crop_and_resize", write_crop),
    SP_MINDIR_OUT_CODE_IF("resample_axis", write_resize, resize_fits),
    SP_MINDIR_OUT_TEXT("matrix_inverse", "MatrixInverse(x){adjoint=False}"),
    SP_MINDIR_OUT_TEXT("eigh", "Eigh(x){compute_eigenvectors=True, lower=True}"),
    SP_MINDIR_OUT_TEXT("eig", "Eig(x, True)"),
    SP_MINDIR_OUT_NEVER("lu"),
    {.op = "channel_affine", .write = write_batch_norm, .takes = is_batch_norm, .fuse = fuse_batch_norm},
    SP_MINDIR_OUT_CODE("channel_affine", write_affine),
    SP_MINDIR_OUT_CODE_IF("dequantize_linear", write_dequantize, dequantize_fits),
    SP_MINDIR_OUT_TEXT_IF("layer_norm", "LayerNorm(x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon)",
                          has_both),
    {.op = "rnn_scan", .write = write_lstm, .takes = is_lstm, .fuse = fuse_lstm},
    {.op = NULL},
};
