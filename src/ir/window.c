/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - sizes, padding and checks of sliding windows. */
#include "base/plain.h"
#include "ir/window.h"
#include "spore/ops_attrs.h"

enum { LIMIT = 1 << 30 }; /* of kernel, stride, dilation and padding: their products fit 63 bits */

void sp__window_init(sp__window *w, int n)
{
    w->n = n;
    for (int d = 0; d < SP_SPATIAL; d++) {
        w->in[d] = w->out[d] = w->kernel[d] = w->stride[d] = w->dilation[d] = 1;
        w->pad[d] = w->pad_end[d] = 0;
    }
}

sp_status sp__window_list(const char *op, const char *what, sp_ints list, int n, int64_t *out)
{
    int64_t *last = out + SP_SPATIAL - n;
    bool four = list.n == n + 2 && n > 1; /* with batch and channel in front */
    SP_CHECK(list.n == 1 || list.n == n || (four && list.v[0] == 1 && list.v[1] == 1), SP_VALUE,
             "%s: %s must be one number or %d, found %d", op, what, n, list.n < 0 ? 0 : list.n);
    for (int d = 0; d < n; d++) {
        int64_t v = list.n == 1 ? list.v[0] : list.v[four ? d + 2 : d];
        SP_CHECK(v >= 1 && v <= LIMIT, SP_VALUE, "%s: %s must be from 1 to %d, found %lld", op, what, LIMIT,
                 (long long)v);
        last[d] = v;
    }
    return SP_OK;
}

sp_status sp__window_pads(const char *op, const char *mode, sp_ints pad, sp__window *w)
{
    int first = SP_SPATIAL - w->n;
    bool zero = true;
    for (int i = 0; i < pad.n; i++) zero &= pad.v[i] == 0;
    if (!mode || sp__same_letters(mode, "pad")) {
        if (pad.n < 1) return SP_OK;
        SP_CHECK(pad.n == 1 || pad.n == w->n || pad.n == 2 * w->n, SP_VALUE,
                 "%s: pad must be 1, %d or %d numbers, found %d", op, w->n, 2 * w->n, pad.n);
        for (int d = 0; d < w->n; d++) {
            bool two = pad.n == 2 * w->n;
            int64_t before = pad.v[pad.n == 1 ? 0 : two ? 2 * d : d], after = two ? pad.v[2 * d + 1] : before;
            SP_CHECK(before >= 0 && after >= 0 && before <= LIMIT && after <= LIMIT, SP_VALUE,
                     "%s: pad must be from 0 to %d, found %lld and %lld", op, LIMIT, (long long)before,
                     (long long)after);
            w->pad[first + d] = before;
            w->pad_end[first + d] = after;
        }
        return SP_OK;
    }
    SP_CHECK(zero, SP_VALUE, "%s: pad must be 0 when pad_mode is '%s'; pad_mode='pad' uses it", op, mode);
    if (sp__same_letters(mode, "valid")) return SP_OK;
    SP_CHECK(sp__same_letters(mode, "same"), SP_VALUE, "%s: pad_mode must be 'same', 'valid' or 'pad', found '%s'", op,
             mode);
    for (int d = first; d < SP_SPATIAL; d++) {
        int64_t out = (w->in[d] + w->stride[d] - 1) / w->stride[d];
        int64_t total = (out - 1) * w->stride[d] + w->dilation[d] * (w->kernel[d] - 1) + 1 - w->in[d];
        if (total < 0) total = 0;
        w->pad[d] = total / 2;
        w->pad_end[d] = total - total / 2;
    }
    return SP_OK;
}

sp_status sp__window_outputs(const char *op, bool ceil_mode, sp__window *w)
{
    for (int d = SP_SPATIAL - w->n; d < SP_SPATIAL; d++) {
        int64_t reach = w->dilation[d] * (w->kernel[d] - 1) + 1, room = w->in[d] + w->pad[d] + w->pad_end[d] - reach;
        if (ceil_mode) room += w->stride[d] - 1; /* a last window may reach beyond the input, also the only one */
        SP_CHECK(room >= 0, SP_VALUE, "%s: the kernel covers %lld elements, but the input with padding has %lld", op,
                 (long long)reach, (long long)(w->in[d] + w->pad[d] + w->pad_end[d]));
        w->out[d] = room / w->stride[d] + 1;
        /* A window that would begin in the padding behind the input holds nothing. */
        if (ceil_mode && (w->out[d] - 1) * w->stride[d] >= w->in[d] + w->pad[d]) w->out[d]--;
    }
    return SP_OK;
}

/* --- convolution ------------------------------------------------------------------------------------------------- */

static sp_status begin(const char *op, const char *what, const sp_tensor *t, const sp_conv_attrs *attrs,
                       sp__conv_geometry *g)
{
    char text[SP_SHAPE_TEXT];
    SP_CHECK(t->rank >= 3 && t->rank <= 5, SP_VALUE, "%s: %s must have 3 to 5 dimensions, found shape %s", op, what,
             sp__shape_text(t->rank, t->dims, text));
    int n = t->rank - 2;
    sp__window_init(&g->w, n);
    SP_TRY(sp__window_list(op, "stride", attrs->stride, n, g->w.stride));
    SP_TRY(sp__window_list(op, "dilation", attrs->dilation, n, g->w.dilation));
    g->group = attrs->group;
    SP_CHECK(g->group >= 1, SP_VALUE, "%s: group must be at least 1, found %lld", op, (long long)g->group);
    return SP_OK;
}

static void spatial(const sp_tensor *t, int n, int64_t *out)
{
    for (int d = 0; d < n; d++) out[SP_SPATIAL - n + d] = t->dims[t->rank - n + d];
}

static sp_status check_weight(const char *op, const sp_tensor *t, const sp_tensor *weight, sp__conv_geometry *g)
{
    char text[SP_SHAPE_TEXT], text_t[SP_SHAPE_TEXT];
    SP_CHECK(weight->rank == t->rank, SP_VALUE, "%s: weight must have %d dimensions, found shape %s", op, t->rank,
             sp__shape_text(weight->rank, weight->dims, text));
    spatial(weight, g->w.n, g->w.kernel);
    for (int d = 0; d < SP_SPATIAL; d++)
        SP_CHECK(g->w.kernel[d] >= 1 && g->w.kernel[d] <= LIMIT, SP_VALUE, "%s: weight is empty: shape %s", op,
                 sp__shape_text(weight->rank, weight->dims, text));
    g->out_channels = weight->dims[0];
    SP_CHECK(g->out_channels % g->group == 0, SP_VALUE,
             "%s: %lld output channels (weight %s) are not a multiple of group %lld; the other operand is %s", op,
             (long long)g->out_channels, sp__shape_text(weight->rank, weight->dims, text), (long long)g->group,
             sp__shape_text(t->rank, t->dims, text_t));
    return SP_OK;
}

/* Channels that do not fit: with both shapes, and what to do where the channels stand last. */
static sp_status wrong_channels(const char *op, const sp_tensor *x, const sp_tensor *weight, const sp__conv_geometry *g)
{
    char text[SP_SHAPE_TEXT], text_w[SP_SHAPE_TEXT], groups[64] = "", hint[128] = "";
    const int64_t wanted = weight->dims[1] * g->group;
    if (g->group != 1)
        sp__snprintf(groups, sizeof groups, ": %lld in each of %lld groups", (long long)weight->dims[1],
                     (long long)g->group);
    const bool line = x->rank == 4 && x->dims[2] == 1 && weight->dims[2] == 1; /* conv1d, as an image of one row */
    if (x->dims[x->rank - 1] == wanted)
        sp__snprintf(hint, sizeof hint, "; the last dimension has %lld: the channels come second, as in transpose%s",
                     (long long)wanted,
                     line || x->rank == 3 ? "(0, 2, 1)"
                     : x->rank == 4       ? "(0, 3, 1, 2)"
                                          : "(0, 4, 1, 2, 3)");
    return sp__fail(
        SP_VALUE,
        "%s: the input has %lld channels (dimension 1 of its shape %s), but the weight (shape %s) takes %lld%s%s", op,
        (long long)g->in_channels, sp__shape_text(x->rank, x->dims, text),
        sp__shape_text(weight->rank, weight->dims, text_w), (long long)wanted, groups, hint);
}

sp_status sp__conv_measure(const char *op, const sp_tensor *x, const sp_tensor *weight, const sp_conv_attrs *attrs,
                           sp__conv_geometry *g)
{
    SP_TRY(begin(op, "the input", x, attrs, g));
    g->batch = x->dims[0];
    g->in_channels = x->dims[1];
    spatial(x, g->w.n, g->w.in);
    SP_TRY(check_weight(op, x, weight, g));
    if (weight->dims[1] * g->group != g->in_channels) return wrong_channels(op, x, weight, g);
    SP_TRY(sp__window_pads(op, attrs->pad_mode, attrs->pad, &g->w));
    return sp__window_outputs(op, false, &g->w);
}

static sp_status check_outputs(const char *op, const sp_tensor *dout, sp__conv_geometry *g)
{
    int64_t found[SP_SPATIAL] = {1, 1, 1};
    spatial(dout, g->w.n, found);
    SP_TRY(sp__window_outputs(op, false, &g->w));
    char text[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    int first = SP_SPATIAL - g->w.n;
    SP_CHECK(sp__shape_equal(g->w.n, found + first, g->w.n, g->w.out + first), SP_VALUE,
             "%s: the convolution makes spatial dimensions %s, but the gradient has %s", op,
             sp__shape_text(g->w.n, g->w.out + first, wanted), sp__shape_text(g->w.n, found + first, text));
    return SP_OK;
}

sp_status sp__conv_measure_input(const char *op, const sp_tensor *dout, const sp_tensor *weight,
                                 const sp_conv_attrs *attrs, sp__conv_geometry *g)
{
    SP_TRY(begin(op, "the gradient", dout, attrs, g));
    int n = g->w.n, first = SP_SPATIAL - n;
    g->batch = dout->dims[0];
    SP_TRY(check_weight(op, dout, weight, g));
    SP_CHECK(dout->dims[1] == g->out_channels, SP_VALUE, "%s: the gradient has %lld channels, but weight makes %lld",
             op, (long long)dout->dims[1], (long long)g->out_channels);
    g->in_channels = weight->dims[1] * g->group;
    if (attrs->input_size.n > 0) {
        SP_CHECK(attrs->input_size.n == n, SP_VALUE, "%s: input_size must be %d numbers, found %d", op, n,
                 attrs->input_size.n);
        for (int d = 0; d < n; d++) {
            SP_CHECK(attrs->input_size.v[d] >= 1, SP_VALUE, "%s: input_size must be positive, found %lld", op,
                     (long long)attrs->input_size.v[d]);
            g->w.in[first + d] = attrs->input_size.v[d];
        }
        SP_TRY(sp__window_pads(op, attrs->pad_mode, attrs->pad, &g->w));
    } else { /* the smallest input that gives this output */
        bool same = attrs->pad_mode && sp__same_letters(attrs->pad_mode, "same");
        if (!same) SP_TRY(sp__window_pads(op, attrs->pad_mode, attrs->pad, &g->w));
        spatial(dout, n, g->w.out);
        for (int d = first; d < SP_SPATIAL; d++)
            g->w.in[d] = same ? g->w.out[d] * g->w.stride[d]
                              : (g->w.out[d] - 1) * g->w.stride[d] + g->w.dilation[d] * (g->w.kernel[d] - 1) + 1 -
                                    g->w.pad[d] - g->w.pad_end[d];
        if (same) SP_TRY(sp__window_pads(op, attrs->pad_mode, attrs->pad, &g->w));
        for (int d = first; d < SP_SPATIAL; d++)
            SP_CHECK(g->w.in[d] >= 1, SP_VALUE, "%s: padding leaves nothing of the result", op);
    }
    return check_outputs(op, dout, g);
}

sp_status sp__conv_measure_weight(const char *op, const sp_tensor *x, const sp_tensor *dout, const sp_conv_attrs *attrs,
                                  sp__conv_geometry *g)
{
    SP_TRY(begin(op, "the input", x, attrs, g));
    int n = g->w.n;
    SP_CHECK(dout->rank == x->rank && dout->dims[0] == x->dims[0], SP_VALUE,
             "%s: input and gradient must have the same number of dimensions and the same batch", op);
    g->batch = x->dims[0];
    g->in_channels = x->dims[1];
    g->out_channels = dout->dims[1];
    SP_CHECK(g->in_channels % g->group == 0 && g->out_channels % g->group == 0, SP_VALUE,
             "%s: %lld and %lld channels are not multiples of group %lld", op, (long long)g->in_channels,
             (long long)g->out_channels, (long long)g->group);
    spatial(x, n, g->w.in);
    SP_TRY(sp__window_list(op, "kernel_size", attrs->kernel_size, n, g->w.kernel));
    SP_TRY(sp__window_pads(op, attrs->pad_mode, attrs->pad, &g->w));
    return check_outputs(op, dout, g);
}
