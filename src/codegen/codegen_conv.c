/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_conv.c - convolutions as generated C, of floats and of whole numbers.
 *
 * A convolution of float32 whose input is bytes less a zero point and whose weights and bias are whole numbers (that is how quantised models
 * come here) sums in int32: the sums are the same as long as float32 holds them, 2^24, and exact beyond. */
#include <math.h>
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ir/conv_bytes.h"
#include "ops/ops_impl.h"

typedef struct conv_job {
    sp__conv_geometry g;
    sp_value *x, *w, *bias; /* bias NULL: none */
    sp_value *w_zero;       /* bytes: NULL: 0 */
    bool integers;
    int32_t zero;     /* of x */
    const char *type; /* of the sum */
} conv_job;

void sp__codegen_geometry(const sp_value *v, sp_tensor *t)
{
    *t = (sp_tensor){.dtype = (int8_t)v->meta.dtype, .rank = (int8_t)v->meta.rank};
    memcpy(t->dims, v->meta.dims, sizeof t->dims);
    sp__shape_strides(t->rank, t->dims, t->strides);
}

/* The largest sum that can come about: of |w| by channel times the largest |x|, and the bias. */
static double largest_sum(const conv_job *j)
{
    double low, high;
    (void)sp__codegen_whole(j->w, &low, &high);
    const double w = -low > high ? -low : high,
                 x = (j->x->meta.dtype == SP_DTYPE_I16 ? 32768 : 255) + fabs((double)j->zero);
    double most = x * w * (double)(sp__window_taps(&j->g.w) * (j->g.in_channels / j->g.group));
    if (j->bias != NULL && sp__codegen_whole(j->bias, &low, &high)) most += -low > high ? -low : high;
    return most;
}

/* Sums of whole numbers, if that is what they are. */
static void find_integers(sp_codegen_out *o, conv_job *j)
{
    double low, high;
    sp_value *bytes = sp__codegen_integers(o->g, j->x, &j->zero);
    if (bytes == NULL || !sp__codegen_whole(j->w, &low, &high) || low < -32768 || high > 32767) return;
    if (j->bias != NULL && (!sp__codegen_whole(j->bias, &low, &high) || low < -2147483648.0 || high > 2147483647.0))
        return;
    j->integers = true;
    j->x = bytes;
    j->type = largest_sum(j) < 2147483648.0 ? "int32_t" : "int64_t";
}

/* An element of a constant as it is stored, not widened to the value's dtype. */
static void load_stored(sp_codegen_out *o, sp_value *v, sp_codegen_at *at, char *out, size_t room)
{
    char index[SP_CODEGEN_TEXT];
    double number;
    if (sp__codegen_is_number(v, &number)) sp__snprintf(out, room, "(%lld)", (long long)number);
    else {
        const sp_tensor *view = sp__codegen_view(o->g, v);
        sp__codegen_index(o, view, at, index, sizeof index);
        sp__snprintf(out, room, "%s[%s]", sp__codegen_arg(o, sp__codegen_block_of(o->g, view), false), index);
    }
}

static void sum_start(sp_codegen_out *o, const conv_job *j, sp_codegen_at *at)
{
    char start[SP_CODEGEN_TEXT] = "0";
    if (j->bias != NULL && j->integers) load_stored(o, j->bias, at + 1, start, sizeof start);
    else if (j->bias != NULL) sp__codegen_load(o, j->bias, at + 1, start, sizeof start);
    sp__codegen_line(o, "%s s = (%s)%s;", j->type, j->type, start);
}

/* Whether a window reaches beyond what it slides over. */
static bool is_padded(const sp__window *w, int i)
{
    return w->pad[i] > 0 ||
           (w->out[i] - 1) * w->stride[i] - w->pad[i] + (w->kernel[i] - 1) * w->dilation[i] >= w->in[i];
}

/* "i2 * 2 + k0 - 1" */
static void place_text(const sp__window *w, int i, const char *out, const char *k, char *text, size_t room)
{
    size_t n = (size_t)snprintf(text, room, "%s", out);
    if (w->stride[i] != 1) n += (size_t)snprintf(text + n, room - n, " * %lld", (long long)w->stride[i]);
    if (w->kernel[i] != 1) n += (size_t)snprintf(text + n, room - n, " + %s", k);
    if (w->kernel[i] != 1 && w->dilation[i] != 1)
        n += (size_t)snprintf(text + n, room - n, " * %lld", (long long)w->dilation[i]);
    if (w->pad[i] != 0) snprintf(text + n, room - n, " - %lld", (long long)w->pad[i]);
}

void sp__codegen_window(sp_codegen_out *o, const sp__window *w, sp_codegen_at *out, sp_codegen_at *in, sp_codegen_at *k)
{
    for (int d = 0; d < w->n; d++) {
        const int i = SP_SPATIAL - w->n + d;
        char name[24], place[80];
        snprintf(name, sizeof name, "k%d", d);
        sp__codegen_for(o, name, w->kernel[i], k[d]);
        const bool padded = is_padded(w, i);
        if (w->kernel[i] == 1 && w->stride[i] == 1 && !padded) {
            memcpy(in[d], out[d], sizeof in[d]);
            continue;
        }
        snprintf(in[d], sizeof in[d], "y%d", d);
        place_text(w, i, out[d], k[d], place, sizeof place);
        sp__codegen_line(o, "const int %s = %s;", in[d], place);
        if (padded)
            sp__codegen_line(o,
                             w->kernel[i] > 1 ? "if (%s < 0 || %s >= %lld) continue;" : "if (%s >= 0 && %s < %lld) {",
                             in[d], in[d], (long long)w->in[i]);
        if (padded && w->kernel[i] == 1) o->depth++;
    }
}

void sp__codegen_window_end(sp_codegen_out *o, const sp__window *w)
{
    for (int d = w->n - 1; d >= 0; d--) {
        const int i = SP_SPATIAL - w->n + d;
        if (w->kernel[i] > 1 || is_padded(w, i)) sp__codegen_close(o);
    }
}

static void multiply_add(sp_codegen_out *o, const conv_job *j, sp_codegen_at *x_at, sp_codegen_at *w_at)
{
    char x[SP_CODEGEN_TEXT], w[SP_CODEGEN_TEXT];
    if (!j->integers) {
        sp__codegen_load(o, j->x, x_at, x, sizeof x);
        sp__codegen_load(o, j->w, w_at, w, sizeof w);
        sp__codegen_line(o, "s += %s * %s;", x, w);
        return;
    }
    const bool wide = strcmp(j->type, "int64_t") == 0;
    sp__codegen_load(o, j->x, x_at, x, sizeof x);
    load_stored(o, j->w, w_at, w, sizeof w);
    if (j->w_zero != NULL) {
        char zero[SP_CODEGEN_TEXT], both[2 * SP_CODEGEN_TEXT];
        sp__codegen_load(o, j->w_zero,
                         j->w_zero->meta.rank > 0 && j->w_zero->meta.dims[0] > 1 ? w_at : (sp_codegen_at[]){"0"}, zero,
                         sizeof zero);
        sp__snprintf(both, sizeof both, "(%s - %s)", w, zero);
        sp__snprintf(w, sizeof w, "%s", both);
    }
    if (j->zero != 0) sp__codegen_line(o, "s += %s(%s - (%d)) * %s;", wide ? "(int64_t)" : "", x, (int)j->zero, w);
    else sp__codegen_line(o, "s += %s%s * %s;", wide ? "(int64_t)" : "", x, w);
}

/* The loops of one sum; `at` are the coordinates of the result: image, channel, place. */
static void write_sum(sp_codegen_out *o, const conv_job *j, sp_codegen_at *at)
{
    const sp__conv_geometry *g = &j->g;
    const int64_t ic = g->in_channels / g->group, oc = g->out_channels / g->group;
    sp_codegen_at x_at[SP_RANK_MAX], w_at[SP_RANK_MAX];
    sum_start(o, j, at);
    memcpy(x_at[0], at[0], sizeof x_at[0]);
    memcpy(w_at[0], at[1], sizeof w_at[0]);
    const sp_tensor *view = sp__codegen_view(o->g, j->x);
    const bool channels_inside = view->strides[1] == 1 && ic > 1;
    if (channels_inside) sp__codegen_window(o, &g->w, at + 2, x_at + 2, w_at + 2);
    sp__codegen_for(o, "c", ic, w_at[1]);
    if (g->group == 1) memcpy(x_at[1], w_at[1], sizeof x_at[1]);
    else if (ic == 1 && oc == 1) memcpy(x_at[1], at[1], sizeof x_at[1]);
    else {
        snprintf(x_at[1], sizeof x_at[1], "g");
        sp__codegen_line(o, "const int g = %s / %lld * %lld + %s;", at[1], (long long)oc, (long long)ic, w_at[1]);
    }
    if (!channels_inside) sp__codegen_window(o, &g->w, at + 2, x_at + 2, w_at + 2);
    multiply_add(o, j, x_at, w_at);
    if (!channels_inside) sp__codegen_window_end(o, &g->w);
    sp__codegen_end(o, ic);
    if (channels_inside) sp__codegen_window_end(o, &g->w);
}

static sp_status measure(const sp_node *n, sp__conv_geometry *g)
{
    sp_tensor x, w;
    sp__codegen_geometry(n->in[0], &x);
    sp__codegen_geometry(n->in[1], &w);
    return sp__conv_measure(n->op->name, &x, &w, n->attrs, g);
}

static sp_status conv_write(sp_codegen_out *o, const sp_node *n)
{
    conv_job j = {.x = n->in[0], .w = n->in[1], .bias = n->in[2], .type = sp__codegen_type(n->out[0]->meta.dtype)};
    const sp_meta *out = &n->out[0]->meta;
    sp_codegen_at at[SP_RANK_MAX];
    char value[64];
    SP_TRY(measure(n, &j.g));
    find_integers(o, &j);
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    write_sum(o, &j, at);
    snprintf(value, sizeof value, j.integers ? "(%s)s" : "s", sp__codegen_type(out->dtype));
    sp__codegen_store(o, at, value);
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

static sp_status bytes_check(const sp_node *n)
{
    double zero;
    for (int i = SP_BYTES_X_ZERO; i < SP_BYTES_INPUTS; i++)
        SP_CHECK(n->in[i] == NULL || n->in[i]->origin == SP_VALUE_CONSTANT, SP_DECLINED,
                 "conv_bytes whose scales or zero points are computed");
    SP_CHECK(n->in[SP_BYTES_X_ZERO] == NULL || sp__codegen_is_number(n->in[SP_BYTES_X_ZERO], &zero), SP_DECLINED,
             "conv_bytes with several zero points of x");
    return SP_OK;
}

static void write_rounding(sp_codegen_out *o, const sp_node *n, sp_codegen_at *at)
{
    const sp_value *zero_value = n->in[SP_BYTES_ZERO];
    const sp_dtype dtype = n->out[0]->meta.dtype;
    double zero = 0;
    char scale[SP_CODEGEN_TEXT], low[48], high[48];
    if (zero_value != NULL) (void)sp__codegen_is_number(zero_value, &zero);
    const sp__bytes_range range = sp__bytes_range_of(dtype, (int32_t)zero);
    const bool one = sp__codegen_value(o->g, n->in[SP_BYTES_SCALE])->view->count == 1;
    sp__codegen_load(o, n->in[SP_BYTES_SCALE], one ? (sp_codegen_at[]){"0"} : at + 1, scale, sizeof scale);
    sp__codegen_literal(SP_DTYPE_F32, (double)range.low, low, sizeof low);
    sp__codegen_literal(SP_DTYPE_F32, (double)range.high, high, sizeof high);
    o->g->helpers |= SP_HELPER_ROUND;
    sp__codegen_line(o, "float q = (float)s * %s;", scale);
    sp__codegen_line(o, "q = q > %s ? q : %s;", low, low);
    sp__codegen_line(o, "q = q < %s ? q : %s;", high, high);
    char value[64];
    snprintf(value, sizeof value, "(%s)((int)spore_roundf(q) + (%d))", sp__codegen_type(dtype), (int)range.zero);
    sp__codegen_store(o, at, value);
}

static sp_status bytes_write(sp_codegen_out *o, const sp_node *n)
{
    conv_job j = {.x = n->in[SP_BYTES_X],
                  .w = n->in[SP_BYTES_WEIGHT],
                  .bias = n->in[SP_BYTES_BIAS],
                  .integers = true,
                  .type = "int32_t"};
    const sp_meta *out = &n->out[0]->meta;
    sp_codegen_at at[SP_RANK_MAX];
    double number;
    SP_TRY(measure(n, &j.g));
    if (n->in[SP_BYTES_X_ZERO] != NULL && sp__codegen_is_number(n->in[SP_BYTES_X_ZERO], &number))
        j.zero = (int32_t)number;
    if (n->in[SP_BYTES_W_ZERO] != NULL && !(sp__codegen_is_number(n->in[SP_BYTES_W_ZERO], &number) && number == 0))
        j.w_zero = n->in[SP_BYTES_W_ZERO];
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    write_sum(o, &j, at);
    if (n->in[SP_BYTES_SCALE] != NULL) write_rounding(o, n, at);
    else sp__codegen_store(o, at, "s");
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

const sp_codegen_kernel sp_codegen_kernel_conv1d = {.op = &sp_op_conv1d, .write = conv_write};
const sp_codegen_kernel sp_codegen_kernel_conv2d = {.op = &sp_op_conv2d, .write = conv_write};
const sp_codegen_kernel sp_codegen_kernel_conv3d = {.op = &sp_op_conv3d, .write = conv_write};
const sp_codegen_kernel sp_codegen_kernel_conv_bytes = {
    .op = &sp_op_conv_bytes, .write = bytes_write, .check = bytes_check};
