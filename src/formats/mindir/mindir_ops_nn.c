/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops_nn.c - primitives of MindIR that networks are made of: convolutions, pooling, recurrence. */
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_ops.h"

/* --- convolution and pooling ------------------------------------------------------------------------------------- */

/* Numbers for the two spatial axes of one, two or (in the order of the layout) four. */
static sp_status spatial(const sp_mindir_value *v, bool last, int rank, sp_mindir_text *a, const char *name)
{
    int64_t x[8];
    int n;
    if (!v || v->kind == SP_MINDIR_NONE) return SP_OK;
    SP_TRY(sp__mindir_ints(v, 8, x, &n));
    int from = n == rank + 2 ? (last ? 1 : 2) : 0, count = n == rank + 2 ? rank : n;
    SP_CHECK(count == 1 || count == rank, SP_FORMAT, "%s has %d numbers", name, n);
    sp__mindir_put(a, "%s%s=(", a->used ? ", " : "", name);
    for (int i = 0; i < rank; i++) sp__mindir_put(a, "%lld,", (long long)x[from + (count == 1 ? 0 : i)]);
    sp__mindir_put(a, ")");
    return SP_OK;
}

/* The words in the order of their numbers, which files have since 2.3. */
static const char layouts[] = "nchw nhwc", pad_modes[] = "pad same valid";

static sp_status text_of(const sp_mindir_value *v, const char *what, const char *words, const char *initial, char *out,
                         size_t room)
{
    int at;
    snprintf(out, room, "%s", initial);
    if (!v || v->kind == SP_MINDIR_NONE) return SP_OK;
    const sp_mindir_value first = {.kind = SP_MINDIR_INT, .i = 0};
    if (v->kind == SP_MINDIR_TEXT && !strcmp(v->s, words == pad_modes ? "CALCULATED" : "NCDHW"))
        v = &first; /* other words for it */
    SP_TRY(sp__mindir_word(v, what, words, &at));
    for (; at > 0; at--) words += strcspn(words, " ") + 1;
    snprintf(out, room, "%.*s", (int)strcspn(words, " "), words);
    return SP_OK;
}

static sp_status to_channels_first(sp_mindir_call *c, sp_tensor *x, sp_tensor **out)
{
    *out = sp_builder_call(c->b, "transpose", "perm=(0,3,1,2)", 1, &x);
    return sp__builder_status(c->b);
}

static sp_status to_channels_last(sp_mindir_call *c, sp_mindir_value **io)
{
    sp_tensor *x = (*io)->t;
    return sp__mindir_give(c, sp_builder_call(c->b, "transpose", "perm=(0,2,3,1)", 1, &x), io);
}

/* pad_mode, and pads where it says so. */
static sp_status put_pads(sp_mindir_call *c, sp_mindir_text *a, int rank)
{
    char mode[16];
    int64_t pads[8];
    int n;
    SP_TRY(text_of(sp__mindir_attr(c, "pad_mode"), "pad_mode", pad_modes, "valid", mode, sizeof mode));
    sp__mindir_put(a, "%spad_mode=%s", a->used ? ", " : "", mode);
    const sp_mindir_value *v = sp__mindir_attr(c, "pad");
    if (!v) v = sp__mindir_attr(c, "pad_list");
    if (strcmp(mode, "pad") || !v) return SP_OK;
    SP_TRY(sp__mindir_ints(v, 8, pads, &n));
    SP_CHECK(n == 1 || n == 2 * rank, SP_FORMAT, "pad has %d numbers", n);
    sp__mindir_put(a, ", pad=(");
    for (int i = 0; i < n; i++) sp__mindir_put(a, "%lld,", (long long)pads[i]);
    sp__mindir_put(a, ")");
    return SP_OK;
}

/* stride, dilation, pads and groups; of Conv3D they are called strides and dilations. */
static sp_status put_conv(sp_mindir_call *c, sp_mindir_text *a, bool last, int rank)
{
    int64_t group;
    const sp_mindir_value *stride = sp__mindir_attr(c, "strides"), *dilation = sp__mindir_attr(c, "dilations");
    SP_TRY(spatial(stride ? stride : sp__mindir_attr(c, "stride"), last, rank, a, "stride"));
    SP_TRY(spatial(dilation ? dilation : sp__mindir_attr(c, "dilation"), last, rank, a, "dilation"));
    SP_TRY(put_pads(c, a, rank));
    SP_TRY(sp__mindir_int_argument(c, -1, sp__mindir_attr(c, "group") ? "group" : "groups", 1, &group));
    sp__mindir_put(a, ", group=%lld", (long long)group);
    return SP_OK;
}

sp_status sp__mindir_run_conv(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *in[3] = {NULL}; /* without a bias */
    char layout[16];
    int rank = !strcmp(rule->op, "conv3d") ? 3 : 2;
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &in[0]));
    SP_TRY(sp__mindir_operand(c, 1, &in[1]));
    const sp_mindir_value *format = sp__mindir_attr(c, "format");
    SP_TRY(text_of(format ? format : sp__mindir_attr(c, "data_format"), "data_format", layouts, "nchw", layout,
                   sizeof layout));
    bool last = !strcmp(layout, "nhwc");
    SP_TRY(put_conv(c, a, last, rank));
    if (last) {
        SP_TRY(to_channels_first(c, in[0], &in[0]));
        SP_TRY(to_channels_first(c, in[1], &in[1]));
    }
    SP_TRY(sp__mindir_apply_text(c, rule->op, a->text, 3, in, out));
    return last ? to_channels_last(c, out) : SP_OK;
}

/* dout, weight, the size of the result, which is an attribute of Conv3DTranspose; of Conv3DBackpropInput the weight comes first. */
sp_status sp__mindir_run_conv_transposed(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *in[2];
    int64_t size[8];
    int n, rank = !strcmp(rule->op, "conv3d_input_grad") ? 3 : 2;
    bool turned = !strcmp(rule->mindir, "Conv3DBackpropInput");
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, turned ? 1 : 0, &in[0]));
    SP_TRY(sp__mindir_operand(c, turned ? 0 : 1, &in[1]));
    SP_TRY(put_conv(c, a, false, rank));
    const sp_mindir_value *v = sp__mindir_argument(c, 2, "input_size");
    SP_CHECK(v, SP_FORMAT, "%s has no size", rule->mindir);
    SP_TRY(sp__mindir_ints(v, 8, size, &n));
    SP_CHECK(n == rank + 2, SP_FORMAT, "the size has %d numbers", n);
    sp__mindir_put(a, ", input_size=(");
    for (int i = 2; i < n; i++) sp__mindir_put(a, "%lld,", (long long)size[i]);
    sp__mindir_put(a, ")");
    return sp__mindir_apply_text(c, rule->op, a->text, 2, in, out);
}

/* dout, x, sizes of the filter. */
sp_status sp__mindir_run_conv_filter(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *in[2];
    int64_t size[4];
    int n;
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 1, &in[0]));
    SP_TRY(sp__mindir_operand(c, 0, &in[1]));
    const sp_mindir_value *v = sp__mindir_argument(c, 2, "filter_sizes");
    SP_CHECK(v, SP_FORMAT, "%s has no size", rule->mindir);
    SP_TRY(sp__mindir_ints(v, 4, size, &n));
    SP_CHECK(n == 4, SP_FORMAT, "the size has %d numbers", n);
    SP_TRY(put_conv(c, a, false, 2));
    sp__mindir_put(a, ", kernel_size=(%lld,%lld)", (long long)size[2], (long long)size[3]);
    return sp__mindir_apply_text(c, rule->op, a->text, 2, in, out);
}

/* x, y, dout, then the window as attributes or (AvgPoolGrad) inputs. */
sp_status sp__mindir_run_pool_grad(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *in[2];
    char mode[16];
    bool max = !strcmp(rule->op, "pool_max_grad");
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &in[0]));
    SP_TRY(sp__mindir_operand(c, 2, &in[1]));
    SP_CHECK(sp_tensor_rank(in[0]) == 4, SP_FORMAT, "pooling of rank %d", sp_tensor_rank(in[0]));
    SP_TRY(spatial(sp__mindir_argument(c, 3, "kernel_size"), false, 2, a, "kernel_size"));
    SP_TRY(spatial(sp__mindir_argument(c, 4, "strides"), false, 2, a, "stride"));
    SP_TRY(text_of(sp__mindir_argument(c, 5, "pad_mode"), "pad_mode", pad_modes, "valid", mode, sizeof mode));
    sp__mindir_put(a, ", pad_mode=%s, spatial=2", mode);
    if (!max)
        sp__mindir_put(a, ", input_size=(%lld,%lld)", (long long)sp_tensor_dims(in[0])[2],
                       (long long)sp_tensor_dims(in[0])[3]);
    return sp__mindir_apply_text(c, rule->op, a->text, max ? 2 : 1, max ? in : in + 1, out);
}

/* MaxPool3D and AvgPool3D: everything is an attribute. */
sp_status sp__mindir_run_pool_3d(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *x;
    int64_t ceil, include, divisor;
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(spatial(sp__mindir_attr(c, "kernel_size"), false, 3, a, "kernel_size"));
    SP_TRY(spatial(sp__mindir_attr(c, "strides"), false, 3, a, "stride"));
    SP_TRY(put_pads(c, a, 3));
    SP_TRY(sp__mindir_int_argument(c, -1, "ceil_mode", 0, &ceil));
    sp__mindir_put(a, ", ceil_mode=%s", ceil ? "True" : "False");
    if (!strcmp(rule->op, "avg_pool3d")) {
        SP_TRY(sp__mindir_int_argument(c, -1, "count_include_pad", 1, &include));
        SP_TRY(sp__mindir_int_argument(c, -1, "divisor_override", 0, &divisor));
        sp__mindir_put(a, ", count_include_pad=%s, divisor_override=%lld", include ? "True" : "False",
                       (long long)divisor);
    }
    return sp__mindir_apply_text(c, rule->op, a->text, 1, &x, out);
}

/* MaxPoolWithArgmaxV2, MaxPool3DWithArgmax: values and where they lie in the picture. */
sp_status sp__mindir_run_pool_argmax(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *x;
    int64_t ceil;
    int rank = !strcmp(rule->op, "max_pool3d_indices") ? 3 : 2;
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(spatial(sp__mindir_attr(c, rank == 3 ? "ksize" : "kernel_size"), false, rank, a, "kernel_size"));
    SP_TRY(spatial(sp__mindir_attr(c, "strides"), false, rank, a, "stride"));
    SP_TRY(spatial(sp__mindir_attr(c, "pads"), false, rank, a, "pad"));
    SP_TRY(spatial(sp__mindir_attr(c, "dilation"), false, rank, a, "dilation"));
    SP_TRY(sp__mindir_int_argument(c, -1, "ceil_mode", 0, &ceil));
    sp__mindir_put(a, ", ceil_mode=%s", ceil ? "True" : "False");
    return sp__mindir_apply_text(c, rule->op, a->text, 1, &x, out);
}

/* Attributes of the primitive, since 2.3 also inputs: x, kernel_size, strides, pad_mode, data_format. */
sp_status sp__mindir_run_pool(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    sp_tensor *x;
    char layout[16], mode[16];
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    const sp_mindir_value *format = sp__mindir_argument(c, 4, "format");
    SP_TRY(text_of(format ? format : sp__mindir_attr(c, "data_format"), "data_format", layouts, "nchw", layout,
                   sizeof layout));
    SP_TRY(text_of(sp__mindir_argument(c, 3, "pad_mode"), "pad_mode", pad_modes, "valid", mode, sizeof mode));
    bool last = !strcmp(layout, "nhwc");
    SP_TRY(spatial(sp__mindir_argument(c, 1, "kernel_size"), last, 2, a, "kernel_size"));
    SP_TRY(spatial(sp__mindir_argument(c, 2, "strides"), last, 2, a, "stride"));
    sp__mindir_put(a, ", pad_mode=%s", mode);
    if (last) SP_TRY(to_channels_first(c, x, &x));
    SP_TRY(sp__mindir_apply_text(c, rule->op, a->text, 1, &x, out));
    return last ? to_channels_last(c, out) : SP_OK;
}

sp_status sp__mindir_run_bias_add(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[2];
    char layout[16];
    int64_t dims[SP_RANK_MAX];
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &in[0]));
    SP_TRY(sp__mindir_operand(c, 1, &in[1]));
    const sp_mindir_value *format = sp__mindir_argument(c, 2, "format");
    SP_TRY(text_of(format ? format : sp__mindir_attr(c, "data_format"), "data_format", layouts, "nchw", layout,
                   sizeof layout));
    int rank = sp_tensor_rank(in[0]);
    if (strcmp(layout, "nhwc") && rank > 2) { /* along axis 1 */
        sp_mindir_text a = {.used = 0};
        dims[0] = sp_tensor_count(in[1]);
        sp__mindir_put(&a, "shape=(%lld,", (long long)dims[0]);
        for (int i = 2; i < rank; i++) sp__mindir_put(&a, "1,");
        sp__mindir_put(&a, ")");
        if (!(in[1] = sp_builder_call(c->b, "reshape", a.text, 1, &in[1]))) return sp__builder_status(c->b);
    }
    return sp__mindir_call(c, "add", 2, in, out, "%s", "");
}

/* --- recurrence ------------------------------------------------------------------------------------------------------ */

/* x, h, c and one row of weights: those for the inputs of each layer and direction, those for the states, then the biases. What follows
 * is left alone, as MindSpore's CPU does. */
typedef struct lstm_row {
    sp_tensor *row;
    int64_t at;
} lstm_row;

static sp_status next_weights(sp_mindir_call *c, lstm_row *r, int64_t rows, int64_t columns, sp_tensor **out)
{
    sp_mindir_value *v;
    const int64_t count = rows * (columns ? columns : 1);
    SP_CHECK(r->at + count <= sp_tensor_count(r->row), SP_FORMAT, "an LSTM has %lld weights, it needs %lld",
             (long long)sp_tensor_count(r->row), (long long)(r->at + count));
    SP_TRY(sp__mindir_call(c, "slice", 1, &r->row, &v, "start=(%lld,), stop=(%lld,)", (long long)r->at,
                           (long long)(r->at + count)));
    r->at += count;
    if (columns) SP_TRY(sp__mindir_reshape(c, v->t, 2, (int64_t[]){rows, columns}, &v));
    *out = v->t;
    return SP_OK;
}

/* Layer k of a state, (batch, hidden). */
static sp_status state_of(sp_mindir_call *c, sp_tensor *all, int64_t k, int64_t hidden, sp_tensor **out)
{
    sp_mindir_value *v;
    SP_TRY(sp__mindir_call(c, "slice", 1, &all, &v, "start=(%lld,), stop=(%lld,)", (long long)k, (long long)(k + 1)));
    SP_TRY(sp__mindir_reshape(c, v->t, 2, (int64_t[]){-1, hidden}, &v));
    *out = v->t;
    return SP_OK;
}

enum { LSTM_PARTS_MAX = 64 }; /* layers times directions */

static sp_status join(sp_mindir_call *c, int n, sp_tensor **parts, const char *axis, sp_mindir_value **out)
{
    return n == 1 ? sp__mindir_give(c, parts[0], out) : sp__mindir_apply_text(c, "concat", axis, n, parts, out);
}

sp_status sp__mindir_run_lstm(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[4], *wx[LSTM_PARTS_MAX], *wh[LSTM_PARTS_MAX], *bias[LSTM_PARTS_MAX] = {NULL},
                                                                *last[2][LSTM_PARTS_MAX], *ys[2];
    int64_t input, hidden, layers, both, has_bias;
    sp_mindir_value *v;
    (void)rule;
    for (int i = 0; i < 4; i++) SP_TRY(sp__mindir_operand(c, i, &in[i]));
    SP_TRY(sp__mindir_int_argument(c, -1, "input_size", 0, &input));
    SP_TRY(sp__mindir_int_argument(c, -1, "hidden_size", 0, &hidden));
    SP_TRY(sp__mindir_int_argument(c, -1, "num_layers", 1, &layers));
    SP_TRY(sp__mindir_int_argument(c, -1, "bidirectional", 0, &both));
    SP_TRY(sp__mindir_int_argument(c, -1, "has_bias", 1, &has_bias));
    const int ways = both ? 2 : 1, n = (int)(layers > 0 && layers * ways <= LSTM_PARTS_MAX ? layers * ways : 0);
    SP_CHECK(n > 0 && hidden > 0 && hidden < 1 << 20 && input > 0 && input < 1 << 20, SP_FORMAT,
             "an LSTM of %lld layers and size %lld, %lld", (long long)layers, (long long)input, (long long)hidden);
    SP_TRY(sp__mindir_reshape(c, in[3], 1, (int64_t[]){-1}, &v));
    lstm_row r = {.row = v->t};
    for (int k = 0; k < n; k++) SP_TRY(next_weights(c, &r, 4 * hidden, k < ways ? input : hidden * ways, &wx[k]));
    for (int k = 0; k < n; k++) SP_TRY(next_weights(c, &r, 4 * hidden, hidden, &wh[k]));
    for (int k = 0; k < n && has_bias; k++) SP_TRY(next_weights(c, &r, 4 * hidden, 0, &bias[k]));
    for (int k = 0; k < n; k++) {
        sp_tensor *all[8] = {in[0], NULL, NULL, wx[k], wh[k], bias[k], NULL, NULL};
        for (int i = 1; i < 3; i++) SP_TRY(state_of(c, in[i], k, hidden, &all[i]));
        SP_TRY(sp__mindir_apply_text(c, "rnn_layer", k % ways ? "mode=lstm, reverse=True" : "mode=lstm", 8, all, &v));
        ys[k % ways] = v->items[0]->t;
        for (int i = 0; i < 2; i++) {
            sp_mindir_value *state;
            SP_TRY(sp__mindir_reshape(c, v->items[1 + i]->t, 3, (int64_t[]){1, -1, hidden}, &state));
            last[i][k] = state->t;
        }
        if ((k + 1) % ways) continue;
        SP_TRY(join(c, ways, ys, "axis=2", &v));
        in[0] = v->t;
    }
    if (!(*out = sp__mindir_value(c, SP_MINDIR_TUPLE, 5))) return SP_NOMEM;
    SP_TRY(sp__mindir_give(c, in[0], &(*out)->items[0]));
    for (int i = 0; i < 2; i++) SP_TRY(join(c, n, last[i], "axis=0", &(*out)->items[1 + i]));
    for (int i = 3; i < 5; i++) (*out)->items[i] = (*out)->items[0]; /* kept for the gradient, not for us */
    return SP_OK;
}
