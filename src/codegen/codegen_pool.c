/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_pool.c - maxima and means over windows as generated C. */
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ir/window.h"
#include "ops/ops_impl.h"

static bool is_max(const sp_op *op) { return op->family == SP_FAMILY_MAX_POOL; }
static bool is_adaptive(const sp_node *n)
{
    return sp__attr_find(n->op, "kernel_size", sizeof "kernel_size" - 1) == NULL ||
           sp__codegen_ints(n, "output_size").n > 0;
}

/* Spatial dimensions: an attribute of gradients. */
static int spatial_of(const sp_node *n) { return n->op->spatial ? n->op->spatial : (int)sp__codegen_int(n, "spatial"); }

/* Windows over x, one for each element of y. */
sp_status sp__codegen_pool_measure(const sp_node *n, const sp_meta *x, const sp_meta *y, sp__window *w)
{
    const char *name = n->op->name;
    const int spatial = spatial_of(n), first = SP_SPATIAL - spatial;
    SP_CHECK(spatial >= 1 && spatial <= SP_SPATIAL, SP_DECLINED, "%s over %d dimensions", name, spatial);
    sp__window_init(w, spatial);
    for (int d = 0; d < spatial; d++) w->in[first + d] = x->dims[x->rank - spatial + d];
    for (int d = 0; d < spatial; d++) w->out[first + d] = y->dims[y->rank - spatial + d];
    if (is_adaptive(n)) return SP_OK;
    const sp_ints kernel = sp__codegen_ints(n, "kernel_size"), stride = sp__codegen_ints(n, "stride");
    SP_TRY(sp__window_list(name, "kernel_size", kernel, spatial, w->kernel));
    SP_TRY(sp__window_list(name, "stride", stride.n > 0 ? stride : kernel, spatial, w->stride));
    if (is_max(n->op)) SP_TRY(sp__window_list(name, "dilation", sp__codegen_ints(n, "dilation"), spatial, w->dilation));
    return sp__window_pads(name, sp__codegen_text(n, "pad_mode"), sp__codegen_ints(n, "pad"), w);
}

/* Of an adaptive window: from floor(o * in / out) to ceil((o + 1) * in / out). */
static void adaptive_loops(sp_codegen_out *o, const sp__window *w, sp_codegen_at *out, sp_codegen_at *in)
{
    for (int d = 0; d < w->n; d++) {
        const int i = SP_SPATIAL - w->n + d;
        snprintf(in[d], sizeof in[d], "y%d", d);
        sp__codegen_line(o, "const int e%d = ((%s + 1) * %lld + %lld) / %lld;", d, out[d], (long long)w->in[i],
                         (long long)w->out[i] - 1, (long long)w->out[i]);
        sp__codegen_line(o, "for (int y%d = %s * %lld / %lld; y%d < e%d; y%d++) {", d, out[d], (long long)w->in[i],
                         (long long)w->out[i], d, d, d);
        o->depth++;
    }
}

bool sp__codegen_pool_even(const sp_node *n, const sp__window *w, double *count)
{
    const int64_t divisor = sp__codegen_int(n, "divisor_override");
    *count = 1;
    if (is_adaptive(n)) {
        for (int d = 0; d < SP_SPATIAL; d++) {
            if (w->in[d] % w->out[d] != 0) return false;
            *count *= (double)(w->in[d] / w->out[d]);
        }
        return true;
    }
    *count = (double)sp__window_taps(w);
    if (divisor != 0 && divisor != SP_INT_NONE) {
        *count = (double)divisor;
        return true;
    }
    for (int d = 0; d < SP_SPATIAL; d++) {
        const int64_t end = (w->out[d] - 1) * w->stride[d] - w->pad[d] + w->kernel[d];
        if (sp__codegen_bool(n, "count_include_pad") ? end > w->in[d] + w->pad_end[d] : w->pad[d] > 0 || end > w->in[d])
            return false;
    }
    return true;
}

/* Windows that reach into the padding count what they hold; with the padding, what of it was asked for. */
static sp_status pool_check(const sp_node *n)
{
    sp__window w;
    double count;
    SP_TRY(sp__codegen_pool_measure(n, &n->in[0]->meta, &n->out[0]->meta, &w));
    SP_CHECK(is_max(n->op) || !sp__codegen_bool(n, "count_include_pad") || sp__codegen_pool_even(n, &w, &count),
             SP_DECLINED, "%s whose windows count padding and reach beyond it", n->op->name);
    return SP_OK;
}

void sp__codegen_pool_window(sp_codegen_out *o, const sp_node *n, const sp__window *w, sp_codegen_at *out,
                             sp_codegen_at *in)
{
    sp_codegen_at k[SP_SPATIAL];
    if (is_adaptive(n)) adaptive_loops(o, w, out, in);
    else sp__codegen_window(o, w, out, in, k);
}

void sp__codegen_pool_window_end(sp_codegen_out *o, const sp_node *n, const sp__window *w)
{
    if (!is_adaptive(n)) sp__codegen_window_end(o, w);
    else
        for (int d = 0; d < w->n; d++) sp__codegen_close(o);
}

static void write_max(sp_codegen_out *o, const char *type, const char *x, bool floats)
{
    sp__codegen_line(o, "const %s v = %s;", type, x);
    sp__codegen_line(o, floats ? "if (none || v > s || s != s) s = v;" : "if (none || v > s) s = v;");
    sp__codegen_line(o, "none = 0;");
}

static sp_status pool_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *out = &n->out[0]->meta;
    const char *type = sp__codegen_type(out->dtype);
    const bool max = is_max(n->op), floats = sp_dtype_kind(out->dtype) == 'f';
    sp_codegen_at at[SP_RANK_MAX], in[SP_RANK_MAX];
    char x[SP_CODEGEN_TEXT], value[96], number[48];
    double count;
    sp__window w;
    SP_TRY(sp__codegen_pool_measure(n, &n->in[0]->meta, &n->out[0]->meta, &w));
    const bool even = sp__codegen_pool_even(n, &w, &count);
    const int planes = out->rank - w.n;
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    sp__codegen_line(o, "%s s = 0;", type);
    if (max) sp__codegen_line(o, "int none = 1;");
    if (!max && !even) sp__codegen_line(o, "int held = 0;");
    for (int i = 0; i < planes; i++) memcpy(in[i], at[i], sizeof in[i]);
    sp__codegen_pool_window(o, n, &w, at + planes, in + planes);
    sp__codegen_load(o, n->in[0], in, x, sizeof x);
    if (max) write_max(o, type, x, floats);
    else sp__codegen_line(o, "s += %s;", x);
    if (!max && !even) sp__codegen_line(o, "held++;");
    sp__codegen_pool_window_end(o, n, &w);
    sp__codegen_literal(out->dtype, count, number, sizeof number);
    if (max) snprintf(value, sizeof value, "s");
    else if (even) snprintf(value, sizeof value, "s / %s", number);
    else snprintf(value, sizeof value, "s / (%s)held", type);
    sp__codegen_store(o, at, value);
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

#define POOL(name)                                                                                                     \
    const sp_codegen_kernel sp_codegen_kernel_##name = {.op = &sp_op_##name, .write = pool_write, .check = pool_check}
POOL(max_pool1d);
POOL(max_pool2d);
POOL(max_pool3d);
POOL(avg_pool1d);
POOL(avg_pool2d);
POOL(avg_pool3d);
POOL(adaptive_avg_pool1d);
POOL(adaptive_avg_pool2d);
POOL(adaptive_avg_pool3d);
POOL(adaptive_max_pool1d);
POOL(adaptive_max_pool2d);
POOL(adaptive_max_pool3d);
