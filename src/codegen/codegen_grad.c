/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_grad.c - gradients as generated C: of convolutions (the one by the input is also transposed convolution), pools and softmax. */
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ir/window.h"
#include "ops/ops_impl.h"

/* --- convolution by its input ------------------------------------------------------------------------------------ */

/* The outputs that input `in` reached by tap k: o * stride = in + pad - k * dilation. */
static void open_taps(sp_codegen_out *o, const sp__window *w, sp_codegen_at *in, sp_codegen_at *out, sp_codegen_at *k)
{
    for (int d = 0; d < w->n; d++) {
        const int i = SP_SPATIAL - w->n + d;
        sp__codegen_line(o, "for (int k%d = 0; k%d < %lld; k%d++) {", d, d, (long long)w->kernel[i], d);
        o->depth++;
        snprintf(k[d], sizeof k[d], "k%d", d);
        snprintf(out[d], sizeof out[d], "o%d", d);
        sp__codegen_line(o, "const int q%d = %s + %lld - k%d * %lld, o%d = q%d / %lld;", d, in[d], (long long)w->pad[i],
                         d, (long long)w->dilation[i], d, d, (long long)w->stride[i]);
        sp__codegen_line(o, "if (q%d < 0 || o%d >= %lld || o%d * %lld != q%d) continue;", d, d, (long long)w->out[i], d,
                         (long long)w->stride[i], d);
    }
}

static sp_status input_grad_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *out = &n->out[0]->meta;
    sp__conv_geometry g;
    sp_tensor dout, weight;
    sp_codegen_at at[SP_RANK_MAX], d_at[SP_RANK_MAX], w_at[SP_RANK_MAX];
    char d[SP_CODEGEN_TEXT], w[SP_CODEGEN_TEXT];
    sp__codegen_geometry(n->in[0], &dout);
    sp__codegen_geometry(n->in[1], &weight);
    SP_TRY(sp__conv_measure_input(n->op->name, &dout, &weight, n->attrs, &g));
    const int64_t ic = g.in_channels / g.group, oc = g.out_channels / g.group;
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    sp__codegen_line(o, "%s s = 0;", sp__codegen_type(out->dtype));
    sp__codegen_line(o, "for (int c = 0; c < %lld; c++) {", (long long)oc);
    o->depth++;
    sp__codegen_line(o, "const int m = %s / %lld * %lld + c;", at[1], (long long)ic, (long long)oc);
    memcpy(d_at[0], at[0], sizeof at[0]);
    memcpy(d_at[1], "m", 2);
    memcpy(w_at[0], "m", 2);
    memcpy(w_at[1], "l", 2);
    sp__codegen_line(o, "const int l = %s %% %lld;", at[1], (long long)ic);
    open_taps(o, &g.w, at + 2, d_at + 2, w_at + 2);
    sp__codegen_load(o, n->in[0], d_at, d, sizeof d);
    sp__codegen_load(o, n->in[1], w_at, w, sizeof w);
    sp__codegen_line(o, "s += %s * %s;", d, w);
    for (int i = 0; i < g.w.n + 1; i++) {
        if (i == g.w.n && ic == 1) sp__codegen_line(o, "(void)l;");
        sp__codegen_close(o);
    }
    sp__codegen_store(o, at, "s");
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

/* --- convolution by its weights ---------------------------------------------------------------------------------- */

static sp_status weight_grad_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *out = &n->out[0]->meta;
    sp__conv_geometry g;
    sp_tensor x_t, d_t;
    sp_codegen_at at[SP_RANK_MAX], x_at[SP_RANK_MAX], d_at[SP_RANK_MAX];
    char x[SP_CODEGEN_TEXT], d[SP_CODEGEN_TEXT];
    sp__codegen_geometry(n->in[0], &x_t);
    sp__codegen_geometry(n->in[1], &d_t);
    SP_TRY(sp__conv_measure_weight(n->op->name, &x_t, &d_t, n->attrs, &g));
    const int64_t ic = g.in_channels / g.group, oc = g.out_channels / g.group;
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    sp__codegen_line(o, "%s s = 0;", sp__codegen_type(out->dtype));
    sp__codegen_line(o, "const int c = %s / %lld * %lld + %s;", at[0], (long long)oc, (long long)ic, at[1]);
    memcpy(x_at[1], "c", 2);
    memcpy(d_at[1], at[0], sizeof at[0]);
    sp__codegen_for(o, "b", g.batch, x_at[0]);
    memcpy(d_at[0], x_at[0], sizeof x_at[0]);
    for (int k = 0; k < g.w.n; k++) {
        const int i = SP_SPATIAL - g.w.n + k;
        snprintf(d_at[2 + k], sizeof d_at[0], "o%d", k);
        snprintf(x_at[2 + k], sizeof x_at[0], "y%d", k);
        sp__codegen_line(o, "for (int o%d = 0; o%d < %lld; o%d++) {", k, k, (long long)g.w.out[i], k);
        o->depth++;
        sp__codegen_line(o, "const int y%d = o%d * %lld + %s * %lld - %lld;", k, k, (long long)g.w.stride[i], at[2 + k],
                         (long long)g.w.dilation[i], (long long)g.w.pad[i]);
        sp__codegen_line(o, "if (y%d < 0 || y%d >= %lld) continue;", k, k, (long long)g.w.in[i]);
    }
    sp__codegen_load(o, n->in[0], x_at, x, sizeof x);
    sp__codegen_load(o, n->in[1], d_at, d, sizeof d);
    sp__codegen_line(o, "s += %s * %s;", x, d);
    for (int k = 0; k < g.w.n; k++) sp__codegen_close(o);
    sp__codegen_end(o, g.batch);
    if (g.in_channels == 1) sp__codegen_line(o, "(void)c;");
    sp__codegen_store(o, at, "s");
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

/* --- pools ------------------------------------------------------------------------------------------------------- */

static void write_zeros(sp_codegen_out *o, const sp_value *v)
{
    sp_codegen_at at[SP_RANK_MAX];
    sp__codegen_loops(o, "i", v->meta.rank, v->meta.dims, at);
    sp__codegen_store_result(o, v, at, "0");
    sp__codegen_loops_end(o, v->meta.rank, v->meta.dims);
}

static void add_at(sp_codegen_out *o, const sp_value *v, const char *index, const char *value)
{
    const sp_codegen_value *known = sp__codegen_value(o->g, v);
    sp__codegen_line(o, "%s[%s] += %s;", sp__codegen_arg(o, known->block, true), index, value);
}

/* The gradient goes to the first of the largest elements. */
static sp_status max_grad_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *y = &n->in[1]->meta;
    const char *type = sp__codegen_type(y->dtype);
    sp_codegen_at at[SP_RANK_MAX], in[SP_RANK_MAX];
    char x[SP_CODEGEN_TEXT], d[SP_CODEGEN_TEXT], index[SP_CODEGEN_TEXT];
    sp__window w;
    SP_TRY(sp__codegen_pool_measure(n, &n->in[0]->meta, y, &w));
    const int planes = y->rank - w.n;
    write_zeros(o, n->out[0]);
    sp__codegen_loops(o, "i", y->rank, y->dims, at);
    sp__codegen_line(o, "%s s = 0;", type);
    sp__codegen_line(o, "int p = -1;");
    for (int i = 0; i < planes; i++) memcpy(in[i], at[i], sizeof in[i]);
    sp__codegen_pool_window(o, n, &w, at + planes, in + planes);
    sp__codegen_load(o, n->in[0], in, x, sizeof x);
    sp__codegen_index(o, sp__codegen_value(o->g, n->out[0])->view, in, index, sizeof index);
    sp__codegen_line(o, "const %s v = %s;", type, x);
    sp__codegen_line(o, "if (p < 0 || v > s || s != s) {");
    sp__codegen_line(o, "    s = v;");
    sp__codegen_line(o, "    p = %s;", index);
    sp__codegen_line(o, "}");
    sp__codegen_pool_window_end(o, n, &w);
    sp__codegen_load(o, n->in[1], at, d, sizeof d);
    add_at(o, n->out[0], "p", d);
    sp__codegen_loops_end(o, y->rank, y->dims);
    return SP_OK;
}

static sp_status mean_grad_check(const sp_node *n)
{
    sp__window w;
    double count;
    SP_TRY(sp__codegen_pool_measure(n, &n->out[0]->meta, &n->in[0]->meta, &w));
    SP_CHECK(sp__codegen_pool_even(n, &w, &count), SP_DECLINED, "pool_mean_grad with windows of different sizes");
    return SP_OK;
}

static sp_status mean_grad_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *y = &n->in[0]->meta;
    sp_codegen_at at[SP_RANK_MAX], in[SP_RANK_MAX];
    char d[SP_CODEGEN_TEXT], index[SP_CODEGEN_TEXT], number[48];
    double count;
    sp__window w;
    SP_TRY(sp__codegen_pool_measure(n, &n->out[0]->meta, y, &w));
    (void)sp__codegen_pool_even(n, &w, &count);
    const int planes = y->rank - w.n;
    sp__codegen_literal(y->dtype, count, number, sizeof number);
    write_zeros(o, n->out[0]);
    sp__codegen_loops(o, "i", y->rank, y->dims, at);
    sp__codegen_load(o, n->in[0], at, d, sizeof d);
    sp__codegen_line(o, "const %s share = %s / %s;", sp__codegen_type(y->dtype), d, number);
    for (int i = 0; i < planes; i++) memcpy(in[i], at[i], sizeof in[i]);
    sp__codegen_pool_window(o, n, &w, at + planes, in + planes);
    sp__codegen_index(o, sp__codegen_value(o->g, n->out[0])->view, in, index, sizeof index);
    add_at(o, n->out[0], index, "share");
    sp__codegen_pool_window_end(o, n, &w);
    sp__codegen_loops_end(o, y->rank, y->dims);
    return SP_OK;
}

/* --- softmax ----------------------------------------------------------------------------------------------------- */

static sp_status softmax_grad_check(const sp_node *n)
{
    SP_CHECK(n->in[0]->meta.dtype == SP_DTYPE_F32 && sp__codegen_ints(n, "axis").n == 1, SP_DECLINED,
             "%s along several axes, or of another dtype than float32", n->op->name);
    return SP_OK;
}

/* Of softmax y (d - sum y d), of its logarithm d - exp(y) sum d. */
static sp_status softmax_grad_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *y = &n->in[0]->meta;
    const bool logarithm = n->op == &sp_op_log_softmax_grad;
    sp_codegen_at at[SP_RANK_MAX];
    char v[SP_CODEGEN_TEXT], d[SP_CODEGEN_TEXT], value[3 * SP_CODEGEN_TEXT];
    int axis;
    SP_TRY(sp__shape_axis(sp__codegen_ints(n, "axis").v[0], y->rank, "axis", &axis));
    if (logarithm) o->g->helpers |= SP_HELPER_EXP;
    for (int i = 0; i < y->rank; i++) {
        char name[24];
        snprintf(name, sizeof name, "i%d", i);
        if (i != axis) sp__codegen_for(o, name, y->dims[i], at[i]);
    }
    sp__codegen_line(o, "float s = 0.0f;");
    for (int pass = 0; pass < 2; pass++) {
        sp__codegen_for(o, "r", y->dims[axis], at[axis]);
        sp__codegen_load(o, n->in[0], at, v, sizeof v);
        sp__codegen_load(o, n->in[1], at, d, sizeof d);
        if (pass == 0 && logarithm) sp__codegen_line(o, "s += %s;", d);
        if (pass == 0 && !logarithm) sp__codegen_line(o, "s += %s * %s;", v, d);
        sp__snprintf(value, sizeof value, logarithm ? "%s - spore_expf(%s) * s" : "%s * (%s - s)", logarithm ? d : v,
                     logarithm ? v : d);
        if (pass == 1) sp__codegen_store(o, at, value);
        sp__codegen_end(o, y->dims[axis]);
    }
    for (int i = y->rank - 1; i >= 0; i--)
        if (i != axis) sp__codegen_end(o, y->dims[i]);
    return SP_OK;
}

#define KERNEL(name, ...) const sp_codegen_kernel sp_codegen_kernel_##name = {.op = &sp_op_##name, __VA_ARGS__}
KERNEL(conv1d_input_grad, .write = input_grad_write);
KERNEL(conv2d_input_grad, .write = input_grad_write);
KERNEL(conv3d_input_grad, .write = input_grad_write);
KERNEL(conv1d_weight_grad, .write = weight_grad_write);
KERNEL(conv2d_weight_grad, .write = weight_grad_write);
KERNEL(conv3d_weight_grad, .write = weight_grad_write);
KERNEL(pool_max_grad, .write = max_grad_write, .whole = true);
KERNEL(pool_mean_grad, .write = mean_grad_write, .check = mean_grad_check, .whole = true);
KERNEL(softmax_grad, .write = softmax_grad_write, .check = softmax_grad_check);
KERNEL(log_softmax_grad, .write = softmax_grad_write, .check = softmax_grad_check);
