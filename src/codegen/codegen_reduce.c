/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_reduce.c - sums, means, extrema and softmax along axes as generated C. */
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ops/ops_impl.h"

/* Which dimensions are reduced, and coordinates: those of the result on the others. */
typedef struct reduction {
    uint32_t mask;
    int64_t count;
    sp_codegen_at in[SP_RANK_MAX];
} reduction;

static sp_status measure(const sp_node *n, reduction *r)
{
    const sp_meta *x = &n->in[0]->meta;
    SP_TRY(sp__axes_mask(sp__codegen_ints(n, "axis"), x->rank, &r->mask));
    r->count = 1;
    for (int i = 0; i < x->rank; i++)
        if (r->mask >> i & 1) r->count *= x->dims[i];
    return SP_OK;
}

static void open_axes(sp_codegen_out *o, const sp_meta *x, reduction *r)
{
    for (int i = 0; i < x->rank; i++) {
        char name[24];
        snprintf(name, sizeof name, "r%d", i);
        if (r->mask >> i & 1) sp__codegen_for(o, name, x->dims[i], r->in[i]);
    }
}

static void close_axes(sp_codegen_out *o, const sp_meta *x, const reduction *r)
{
    for (int i = x->rank - 1; i >= 0; i--)
        if (r->mask >> i & 1) sp__codegen_end(o, x->dims[i]);
}

static void write_take(sp_codegen_out *o, const sp_node *n, const char *x)
{
    const char *type = sp__codegen_type(n->out[0]->meta.dtype);
    const bool floats = sp_dtype_kind(n->out[0]->meta.dtype) == 'f';
    if (n->op == &sp_op_reduce_prod) sp__codegen_line(o, "s *= %s;", x);
    else if (n->op == &sp_op_reduce_sum || n->op == &sp_op_reduce_mean) sp__codegen_line(o, "s += %s;", x);
    else {
        sp__codegen_line(o, "const %s v = %s;", type, x);
        sp__codegen_line(o, "if (none || v %s s%s) s = v;", n->op == &sp_op_reduce_max ? ">" : "<",
                         floats ? " || v != v" : "");
        sp__codegen_line(o, "none = 0;");
    }
}

static sp_status reduce_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *x = &n->in[0]->meta, *out = &n->out[0]->meta;
    const bool keep = sp__codegen_bool(n, "keepdims"),
               extremum = n->op == &sp_op_reduce_max || n->op == &sp_op_reduce_min;
    sp_codegen_at at[SP_RANK_MAX];
    char text[SP_CODEGEN_TEXT], value[96] = "s", number[48];
    reduction r;
    SP_TRY(measure(n, &r));
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    for (int i = 0, k = 0; i < x->rank; i++) {
        if (!(r.mask >> i & 1)) memcpy(r.in[i], at[k], sizeof r.in[i]);
        k += keep || !(r.mask >> i & 1);
    }
    sp__codegen_line(o, "%s s = %d;", sp__codegen_type(out->dtype), n->op == &sp_op_reduce_prod);
    if (extremum) sp__codegen_line(o, "int none = 1;");
    open_axes(o, x, &r);
    sp__codegen_load(o, n->in[0], r.in, text, sizeof text);
    write_take(o, n, text);
    close_axes(o, x, &r);
    sp__codegen_literal(out->dtype, (double)r.count, number, sizeof number);
    if (n->op == &sp_op_reduce_mean) snprintf(value, sizeof value, "s / %s", number);
    sp__codegen_store(o, at, value);
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

static sp_status float_check(const sp_node *n)
{
    SP_CHECK(n->in[0]->meta.dtype == SP_DTYPE_F32, SP_DECLINED, "%s of %s", n->op->name,
             sp_dtype_name(n->in[0]->meta.dtype));
    return SP_OK;
}

static sp_status mean_check(const sp_node *n)
{
    SP_CHECK(sp_dtype_kind(n->in[0]->meta.dtype) == 'f', SP_DECLINED, "%s of %s", n->op->name,
             sp_dtype_name(n->in[0]->meta.dtype));
    return SP_OK;
}

/* The largest element, the sum of exp(x - largest), then each one: exp is computed twice, and nothing between needs memory. */
static sp_status softmax_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *x = &n->in[0]->meta;
    const bool logarithm = n->op == &sp_op_log_softmax;
    char text[SP_CODEGEN_TEXT], value[SP_CODEGEN_TEXT];
    reduction r;
    SP_TRY(measure(n, &r));
    o->g->helpers |= SP_HELPER_EXP;
    for (int i = 0; i < x->rank; i++) {
        char name[24];
        snprintf(name, sizeof name, "i%d", i);
        if (!(r.mask >> i & 1)) sp__codegen_for(o, name, x->dims[i], r.in[i]);
    }
    sp__codegen_line(o, "float m = -INFINITY, s = 0.0f;");
    open_axes(o, x, &r);
    sp__codegen_load(o, n->in[0], r.in, text, sizeof text);
    sp__codegen_line(o, "const float v = %s;", text);
    sp__codegen_line(o, "m = v > m || v != v ? v : m;");
    close_axes(o, x, &r);
    open_axes(o, x, &r);
    sp__codegen_line(o, "s += spore_expf(%s - m);", text);
    close_axes(o, x, &r);
    if (logarithm) sp__codegen_line(o, "s = logf(s);");
    open_axes(o, x, &r);
    sp__snprintf(value, sizeof value, logarithm ? "%s - m - s" : "spore_expf(%s - m) / s", text);
    sp__codegen_store(o, r.in, value);
    close_axes(o, x, &r);
    for (int i = x->rank - 1; i >= 0; i--)
        if (!(r.mask >> i & 1)) sp__codegen_end(o, x->dims[i]);
    return SP_OK;
}

const sp_codegen_kernel sp_codegen_kernel_reduce_sum = {.op = &sp_op_reduce_sum, .write = reduce_write};
const sp_codegen_kernel sp_codegen_kernel_reduce_mean = {
    .op = &sp_op_reduce_mean, .write = reduce_write, .check = mean_check};
const sp_codegen_kernel sp_codegen_kernel_reduce_max = {.op = &sp_op_reduce_max, .write = reduce_write};
const sp_codegen_kernel sp_codegen_kernel_reduce_min = {.op = &sp_op_reduce_min, .write = reduce_write};
const sp_codegen_kernel sp_codegen_kernel_reduce_prod = {.op = &sp_op_reduce_prod, .write = reduce_write};
const sp_codegen_kernel sp_codegen_kernel_softmax = {
    .op = &sp_op_softmax, .write = softmax_write, .check = float_check};
const sp_codegen_kernel sp_codegen_kernel_log_softmax = {
    .op = &sp_op_log_softmax, .write = softmax_write, .check = float_check};
