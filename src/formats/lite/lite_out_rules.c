/* SPDX-License-Identifier: Apache-2.0 */
/* lite_out_rules.c - operators of the table as those of MindSpore Lite's files: see lite_out.h. */
#include <string.h>

#include "formats/lite/lite_out.h"
#include "ir/window.h"

typedef struct rule {
    const char *op;
    void (*write)(sp_lite_out *o, const struct rule *r);
    int tag, number; /* of the operator in the file; for the rule */
} rule;

static const sp_lite_fields none;

static int in_plain(sp_lite_out *o, int i) { return sp__lite_out_plain(o, o->node->in[i]); }

static bool is_scalar(const sp_value *v)
{
    for (int k = 0; k < v->meta.rank; k++)
        if (v->meta.dims[k] != 1) return false;
    return true;
}

/* Whether operands are to be taken as pictures: some are there in that form alone, and the others can be. */
static bool in_pictures(const sp_lite_out *o)
{
    bool any = false;
    for (int i = 0; i < o->node->n_in; i++) {
        const sp_value *v = o->node->in[i];
        if (v == NULL || is_scalar(v)) continue;
        if (v->meta.rank != 4) return false;
        any = any || (o->forms[v->id].picture >= 0 && o->forms[v->id].plain < 0);
    }
    return any && o->node->out[0]->meta.rank == 4;
}

/* All operands, element by element. */
static void write_each(sp_lite_out *o, int tag, const sp_lite_fields *f)
{
    int in[4] = {0};
    const bool picture = in_pictures(o);
    if (o->node->n_in > 4) {
        sp__lite_out_refuse(o, "more than four operands");
        return;
    }
    for (int i = 0; i < o->node->n_in; i++)
        in[i] = picture && !is_scalar(o->node->in[i]) ? sp__lite_out_picture(o, o->node->in[i]) : in_plain(o, i);
    sp__lite_out_give(o, tag, f, o->node->n_in, in, picture);
}

static void write_same(sp_lite_out *o, const rule *r) { write_each(o, r->tag, &none); }

static void write_exp(sp_lite_out *o, const rule *r) { write_each(o, r->tag, &(sp_lite_fields){.real = {-1, 1, 0}}); }

static void write_pow(sp_lite_out *o, const rule *r) { write_each(o, r->tag, &(sp_lite_fields){.real = {1, 0}}); }

/* Activation(activation_type alpha min_val max_val approximate) */
static void write_activation(sp_lite_out *o, const rule *r)
{
    sp_lite_fields f = {.number = {r->number}};
    if (strcmp(r->op, "gelu_tanh") == 0) f.number[4] = 1;
    if (r->number == 4 || r->number == 5) f.real[1] = sp__mindir_out_attr_float(o->node, "alpha");
    write_each(o, r->tag, &f);
}

/* Another name of the same value. */
static void write_alias(sp_lite_out *o, const rule *r)
{
    const sp_value *x = o->node->in[0], *y = o->node->out[0];
    (void)r;
    if (o->forms[x->id].picture < 0) in_plain(o, 0);
    o->forms[y->id] = o->forms[x->id];
    if (o->titles[y->id] == NULL) return;
    const int shape = sp__lite_out_ints(o, y->meta.rank, y->meta.dims);
    sp__lite_out_give(o, 119, &none, 2, (int[]){in_plain(o, 0), shape}, false);
    o->forms[y->id].picture = -1;
}

/* ScaleFusion(axis activation_type): of channels, which lie last in pictures. */
static void write_affine(sp_lite_out *o, const rule *r)
{
    const bool picture = o->node->in[0]->meta.rank == 4;
    const int x = picture ? sp__lite_out_picture(o, o->node->in[0]) : in_plain(o, 0);
    const sp_lite_fields f = {.number = {picture ? 3 : 1}};
    sp__lite_out_give(o, r->tag, &f, 3, (int[]){x, in_plain(o, 1), in_plain(o, 2)}, picture);
}

/* Small integers that stand for weights: written where they are used. */
static void write_packed(sp_lite_out *o, const rule *r)
{
    (void)r;
    if (!sp__lite_out_is_packed(o->node->out[0]))
        sp__lite_out_refuse(
            o,
            "integers that flow between layers, or scales of blocks: only weights with one scale, or one a channel, are written");
}

static void write_cast(sp_lite_out *o, const rule *r)
{
    const int64_t type = sp__lite_type(o->node->out[0]->meta.dtype);
    sp__lite_out_give(o, r->tag, &none, 2, (int[]){in_plain(o, 0), sp__lite_out_ints(o, 1, &type)}, false);
}

/* --- shapes ------------------------------------------------------------------------------------------------------ */

static void write_reshape(sp_lite_out *o, const rule *r)
{
    const sp_meta *m = &o->node->out[0]->meta;
    sp__lite_out_give(o, r->tag, &none, 2, (int[]){in_plain(o, 0), sp__lite_out_ints(o, m->rank, m->dims)}, false);
}

/* Between planes and pictures nothing is moved. */
static void write_transpose(sp_lite_out *o, const rule *r)
{
    static const int64_t to_picture[] = {0, 2, 3, 1}, to_planes[] = {0, 3, 1, 2};
    const sp_value *x = o->node->in[0], *y = o->node->out[0];
    sp_ints perm = sp__mindir_out_attr_list(o->node, "perm");
    int64_t order[SP_RANK_MAX];
    for (int k = 0; k < x->meta.rank; k++) {
        order[k] = perm.n > 0 ? perm.v[k] : x->meta.rank - 1 - k;
        if (order[k] < 0) order[k] += x->meta.rank;
    }
    const bool four = x->meta.rank == 4;
    if (four && memcmp(order, to_picture, sizeof to_picture) == 0 && o->forms[x->id].picture >= 0 &&
        o->titles[y->id] == NULL) {
        o->forms[y->id].plain = o->forms[x->id].picture;
        return;
    }
    if (four && memcmp(order, to_planes, sizeof to_planes) == 0 && o->titles[y->id] == NULL) {
        o->forms[y->id].picture = in_plain(o, 0);
        return;
    }
    sp__lite_out_give(o, r->tag, &none, 2, (int[]){in_plain(o, 0), sp__lite_out_ints(o, x->meta.rank, order)}, false);
}

static void write_broadcast(sp_lite_out *o, const rule *r)
{
    const sp_meta *m = &o->node->out[0]->meta;
    sp__lite_out_give(o, r->tag, &(sp_lite_fields){.list = {{m->rank, m->dims}}}, 1, (int[]){in_plain(o, 0)}, false);
}

/* ReduceFusion(keep_dims mode reduce_to_end coeff) */
static void write_reduce(sp_lite_out *o, const rule *r)
{
    const int rank = o->node->in[0]->meta.rank;
    const sp_ints axes = sp__mindir_out_attr_list(o->node, "axis");
    int64_t all[SP_RANK_MAX];
    int n = 0;
    for (int k = 0; k < (axes.n > 0 ? axes.n : rank); k++) all[n++] = axes.n > 0 ? axes.v[k] : k;
    const sp_lite_fields f = {.number = {sp__mindir_out_attr_int(o->node, "keepdims"), r->number}, .real = {[3] = 1}};
    sp__lite_out_give(o, r->tag, &f, 2, (int[]){in_plain(o, 0), sp__lite_out_ints(o, n, all)}, false);
}

/* An axis as a list: Softmax(axis). */
static void write_axis_list(sp_lite_out *o, const rule *r)
{
    const sp_ints axes = sp__mindir_out_attr_list(o->node, "axis");
    const int64_t axis = axes.n > 0 ? axes.v[0] : -1;
    if (axes.n > 1) sp__lite_out_refuse(o, "along several axes");
    sp_lite_fields f = {.list = {{1, &axis}}};
    if (r->number) f = (sp_lite_fields){.number = {axis}};
    sp__lite_out_give(o, r->tag, &f, 1, (int[]){in_plain(o, 0)}, false);
}

/* Concat(axis), Stack(axis) of any number of operands. */
static void write_join(sp_lite_out *o, const rule *r)
{
    const int n = o->node->n_in;
    int *in = sp__alloc(((size_t)n + 1) * sizeof *in);
    const int rank = o->node->out[0]->meta.rank;
    if (in == NULL) {
        o->status = SP_NOMEM;
        return;
    }
    for (int i = 0; i < n; i++) in[i] = in_plain(o, i);
    sp__lite_out_give(o, r->tag, &(sp_lite_fields){.number = {sp__mindir_out_axis(o->node, "axis", rank)}}, n, in,
                      false);
    sp__free(in);
}

/* StridedSlice: x, begin, end, strides. */
static void write_slice(sp_lite_out *o, const rule *r)
{
    const sp_meta *m = &o->node->in[0]->meta;
    const sp_ints start = sp__mindir_out_attr_list(o->node, "start"), stop = sp__mindir_out_attr_list(o->node, "stop"),
                  step = sp__mindir_out_attr_list(o->node, "step");
    int64_t lists[3][SP_RANK_MAX];
    for (int k = 0; k < m->rank; k++) {
        lists[0][k] = k < start.n ? start.v[k] : 0;
        lists[1][k] = k < stop.n ? stop.v[k] : m->dims[k];
        lists[2][k] = k < step.n ? step.v[k] : 1;
    }
    int in[4] = {in_plain(o, 0)};
    for (int i = 0; i < 3; i++) in[1 + i] = sp__lite_out_ints(o, m->rank, lists[i]);
    sp__lite_out_give(o, r->tag, &none, 4, in, false);
}

static void write_gather(sp_lite_out *o, const rule *r)
{
    const int64_t axis = sp__mindir_out_axis(o->node, "axis", o->node->in[0]->meta.rank);
    if (sp__mindir_out_attr_int(o->node, "batch_dims") != 0) sp__lite_out_refuse(o, "with batch dimensions");
    sp__lite_out_give(o, r->tag, &none, 3, (int[]){in_plain(o, 0), in_plain(o, 1), sp__lite_out_ints(o, 1, &axis)},
                      false);
}

/* PadFusion(paddings padding_mode constant_value) */
static void write_pad(sp_lite_out *o, const rule *r)
{
    const sp_ints pads = sp__mindir_out_attr_list(o->node, "pads");
    const int rank = o->node->in[0]->meta.rank;
    if (pads.n != 2 * rank) sp__lite_out_refuse(o, "pads of some axes alone");
    else
        sp__lite_out_give(o, r->tag, &(sp_lite_fields){.real = {[2] = sp__mindir_out_attr_float(o->node, "value")}}, 2,
                          (int[]){in_plain(o, 0), sp__lite_out_ints(o, pads.n, pads.v)}, false);
}

static void write_tile(sp_lite_out *o, const rule *r)
{
    const sp_ints dims = sp__mindir_out_attr_list(o->node, "dims");
    if (dims.n != o->node->in[0]->meta.rank) sp__lite_out_refuse(o, "to another rank");
    else sp__lite_out_give(o, r->tag, &none, 2, (int[]){in_plain(o, 0), sp__lite_out_ints(o, dims.n, dims.v)}, false);
}

/* --- networks ---------------------------------------------------------------------------------------------------- */

/* MatMulFusion(transpose_a transpose_b activation_type); dense has its weights transposed, and a bias. */
static void write_matmul(sp_lite_out *o, const rule *r)
{
    const bool dense = r->number == 1;
    sp_lite_fields f = {.number = {0, 1}};
    if (!dense)
        f = (sp_lite_fields){.number = {sp__mindir_out_attr_int(o->node, "transpose_a"),
                                        sp__mindir_out_attr_int(o->node, "transpose_b")}};
    int in[3] = {in_plain(o, 0), in_plain(o, 1)}, n = 2;
    if (dense && sp__mindir_out_has(o->node, 2)) in[n++] = in_plain(o, 2);
    sp__lite_out_give(o, r->tag, &f, n, in, false);
}

/* Window of the node over pictures of this size. */
static bool window_of(sp_lite_out *o, const int64_t *in, const int64_t *kernel, bool dilated, sp__window *w)
{
    const sp_node *n = o->node;
    sp__window_init(w, 2);
    for (int k = 0; k < 2; k++) {
        w->in[1 + k] = in[k];
        w->kernel[1 + k] = kernel[k];
    }
    const sp_ints stride = sp__mindir_out_attr_list(n, "stride");
    sp_status status = stride.n > 0 ? sp__window_list(n->op->name, "stride", stride, 2, w->stride) : SP_OK;
    if (stride.n <= 0) memcpy(w->stride + 1, kernel, 2 * sizeof *kernel);
    if (status == SP_OK && dilated)
        status = sp__window_list(n->op->name, "dilation", sp__mindir_out_attr_list(n, "dilation"), 2, w->dilation);
    if (status == SP_OK)
        status = sp__window_pads(n->op->name, sp__mindir_out_attr_text(n, "pad_mode"),
                                 sp__mindir_out_attr_list(n, "pad"), w);
    if (status != SP_OK && o->status == SP_OK) o->status = status;
    return status == SP_OK;
}

/* Conv2DFusion(format kernel_size stride dilation pad_mode pad_list mode group in_channel out_channel activation_type) */
static void write_conv(sp_lite_out *o, const rule *r)
{
    const sp_meta *x = &o->node->in[0]->meta, *w = &o->node->in[1]->meta;
    sp__window win;
    if (!window_of(o, x->dims + 2, w->dims + 2, true, &win)) return;
    const int64_t pads[4] = {win.pad[1], win.pad_end[1], win.pad[2], win.pad_end[2]};
    const sp_lite_fields f = {
        .number = {1, [6] = 1, [7] = sp__mindir_out_attr_int(o->node, "group"), [8] = x->dims[1], [9] = w->dims[0]},
        .list = {[1] = {2, win.kernel + 1}, [2] = {2, win.stride + 1}, [3] = {2, win.dilation + 1}, [5] = {4, pads}}};
    int in[3] = {sp__lite_out_picture(o, o->node->in[0]), sp__lite_out_picture(o, o->node->in[1])}, n = 2;
    if (sp__mindir_out_has(o->node, 2)) in[n++] = in_plain(o, 2);
    sp__lite_out_give(o, r->tag, &f, n, in, true);
}

/* MaxPoolFusion, AvgPoolFusion(kernel_size strides pad pad_mode round_mode format global activation_type) */
static void write_pool(sp_lite_out *o, const rule *r)
{
    const sp_meta *x = &o->node->in[0]->meta;
    const sp_ints size = sp__mindir_out_attr_list(o->node, "kernel_size");
    int64_t kernel[SP_SPATIAL] = {1, 1, 1};
    sp__window win;
    sp_status status = sp__window_list(o->node->op->name, "kernel_size", size, 2, kernel);
    if (status != SP_OK || !window_of(o, x->dims + 2, kernel + 1, false, &win)) {
        if (o->status == SP_OK) o->status = status;
        return;
    }
    const int64_t pads[4] = {win.pad[1], win.pad_end[1], win.pad[2], win.pad_end[2]};
    const bool padded = pads[0] || pads[1] || pads[2] || pads[3];
    if (r->number == 1 && ((padded && sp__mindir_out_attr_int(o->node, "count_include_pad")) ||
                           sp__mindir_out_attr_int(o->node, "divisor_override")))
        sp__lite_out_refuse(o, "with padding that counts");
    const sp_lite_fields f = {.number = {[4] = sp__mindir_out_attr_int(o->node, "ceil_mode"), [5] = 1},
                              .list = {[0] = {2, win.kernel + 1}, [1] = {2, win.stride + 1}, [2] = {4, pads}}};
    sp__lite_out_give(o, r->tag, &f, 1, (int[]){sp__lite_out_picture(o, o->node->in[0])}, true);
}

/* LayerNormFusion(begin_norm_axis epsilon elementwise_affine begin_params_axis) */
static void write_layer_norm(sp_lite_out *o, const rule *r)
{
    if (!sp__mindir_out_has(o->node, 1) || !sp__mindir_out_has(o->node, 2)) {
        sp__lite_out_refuse(o, "without scale or shift");
        return;
    }
    const int rank = o->node->in[0]->meta.rank;
    const sp_lite_fields f = {.number = {sp__mindir_out_axis(o->node, "begin_norm_axis", rank), [2] = 1,
                                         [3] = sp__mindir_out_axis(o->node, "begin_params_axis", rank)},
                              .real = {[1] = sp__mindir_out_attr_float(o->node, "epsilon")}};
    sp__lite_out_give(o, r->tag, &f, 3, (int[]){in_plain(o, 0), in_plain(o, 1), in_plain(o, 2)}, false);
}

#define EACH(name, tag) {name, write_same, tag, 0}
#define ACT(name, number) {name, write_activation, 2, number}
static const rule rules[] = {
    EACH("abs", 1),
    EACH("log", 79),
    EACH("sqrt", 146),
    EACH("rsqrt", 126),
    EACH("sin", 133),
    EACH("cos", 37),
    EACH("neg", 101),
    EACH("floor", 63),
    EACH("ceil", 29),
    EACH("round", 125),
    EACH("square", 148),
    EACH("erf", 178),
    EACH("reciprocal", 116),
    EACH("log1p", 212),
    EACH("logical_not", 82),
    EACH("isfinite", 180),
    EACH("add", 5),
    EACH("sub", 152),
    EACH("mul", 99),
    EACH("div", 47),
    EACH("maximum", 90),
    EACH("minimum", 96),
    EACH("floor_div", 64),
    EACH("floor_mod", 65),
    EACH("trunc_mod", 98),
    EACH("squared_difference", 149),
    EACH("equal", 53),
    EACH("not_equal", 103),
    EACH("less", 77),
    EACH("less_equal", 78),
    EACH("greater", 71),
    EACH("greater_equal", 72),
    EACH("logical_and", 81),
    EACH("logical_or", 83),
    EACH("select", 170),
    {"exp", write_exp, 55, 0},
    {"pow", write_pow, 110, 0},
    ACT("relu", 1),
    ACT("sigmoid", 2),
    ACT("relu6", 3),
    ACT("elu", 4),
    ACT("leaky_relu", 5),
    ACT("softsign", 8),
    ACT("softplus", 9),
    ACT("tanh", 10),
    ACT("selu", 11),
    ACT("hardswish", 12),
    ACT("hardsigmoid", 13),
    ACT("sign", 17),
    ACT("silu", 18),
    ACT("gelu", 19),
    ACT("gelu_tanh", 19),
    ACT("fast_gelu", 20),
    {"identity", write_alias, 0, 0},
    {"copy", write_alias, 0, 0},
    {"stop_gradient", write_alias, 0, 0},
    {"cast", write_cast, 28, 0},
    {"reshape", write_reshape, 119, 0},
    {"transpose", write_transpose, 162, 0},
    {"broadcast_to", write_broadcast, 27, 0},
    {"reduce_mean", write_reduce, 118, 0},
    {"reduce_max", write_reduce, 118, 1},
    {"reduce_min", write_reduce, 118, 2},
    {"reduce_prod", write_reduce, 118, 3},
    {"reduce_sum", write_reduce, 118, 4},
    {"softmax", write_axis_list, 138, 0},
    {"log_softmax", write_axis_list, 189, 1},
    {"concat", write_join, 31, 0},
    {"stack", write_join, 150, 0},
    {"slice", write_slice, 151, 0},
    {"gather", write_gather, 69, 0},
    {"pad", write_pad, 107, 0},
    {"tile", write_tile, 160, 0},
    {"matmul", write_matmul, 89, 0},
    {"dense", write_matmul, 89, 1},
    {"conv2d", write_conv, 35, 0},
    {"max_pool2d", write_pool, 92, 0},
    {"avg_pool2d", write_pool, 17, 1},
    {"layer_norm", write_layer_norm, 75, 0},
    {"channel_affine", write_affine, 127, 0},
    {"dequantize_linear", write_packed, 0, 0},
};

bool sp__lite_out_rule(sp_lite_out *o, const sp_node *n)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].op, n->op->name) != 0) continue;
        rules[i].write(o, &rules[i]);
        return true;
    }
    return false;
}
