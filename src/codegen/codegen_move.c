/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_move.c - elements in other places as generated C: joined, put into a frame, picked. */
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"
#include "ops/ops_impl.h"

/* Inputs one behind the other along an axis, or (stack) along a new one. */
static sp_status concat_write(sp_codegen_out *o, const sp_node *n)
{
    const bool stack = n->op == &sp_op_stack;
    const int rank = n->out[0]->meta.rank;
    int axis;
    int64_t at = 0;
    SP_TRY(sp__shape_axis(sp__codegen_int(n, "axis"), rank, "axis", &axis));
    for (int i = 0; i < n->n_in; i++) {
        const sp_meta *x = &n->in[i]->meta;
        sp_codegen_at in[SP_RANK_MAX], out[SP_RANK_MAX];
        char text[SP_CODEGEN_TEXT];
        int64_t count;
        SP_TRY(sp__shape_count(x->rank, x->dims, &count));
        if (count == 0) continue;
        sp__codegen_line(o, "/* input %d */", i);
        sp__codegen_loops(o, "i", x->rank, x->dims, in);
        for (int k = 0; k < rank; k++) {
            if (stack && k == axis) snprintf(out[k], sizeof out[k], "%d", i);
            else memcpy(out[k], in[stack && k > axis ? k - 1 : k], sizeof out[k]);
        }
        if (!stack && at != 0) {
            sp__codegen_line(o, "const int to = %s + %lld;", in[axis], (long long)at);
            snprintf(out[axis], sizeof out[axis], "to");
        }
        sp__codegen_load(o, n->in[i], in, text, sizeof text);
        sp__codegen_store_result(o, n->out[0], out, text);
        sp__codegen_loops_end(o, x->rank, x->dims);
        at += stack ? 1 : x->dims[axis];
    }
    return SP_OK;
}

/* A frame with something put into a part of it: padding. Steps are positive. */
static sp_status put_check(const sp_node *n)
{
    const sp_ints step = sp__codegen_ints(n, "step");
    for (int i = 0; i < step.n; i++) SP_CHECK(step.v[i] > 0, SP_DECLINED, "slice_put with a negative step");
    SP_CHECK(n->in[0]->meta.rank == n->in[1]->meta.rank, SP_DECLINED, "slice_put of a value that is broadcast");
    return SP_OK;
}

static sp_status put_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *frame = &n->in[0]->meta, *x = &n->in[1]->meta;
    const sp_ints start = sp__codegen_ints(n, "start"), step = sp__codegen_ints(n, "step");
    sp_codegen_at at[SP_RANK_MAX], to[SP_RANK_MAX];
    char text[SP_CODEGEN_TEXT];
    sp__codegen_loops(o, "i", frame->rank, frame->dims, at);
    sp__codegen_load(o, n->in[0], at, text, sizeof text);
    sp__codegen_store_result(o, n->out[0], at, text);
    sp__codegen_loops_end(o, frame->rank, frame->dims);
    sp__codegen_loops(o, "i", x->rank, x->dims, at);
    for (int i = 0; i < x->rank; i++) {
        const int64_t first = i >= start.n     ? 0
                              : start.v[i] < 0 ? start.v[i] + frame->dims[i]
                                               : start.v[i],
                      by = i < step.n ? step.v[i] : 1;
        memcpy(to[i], at[i], sizeof to[i]);
        if (first == 0 && by == 1) continue;
        snprintf(to[i], sizeof to[i], "p%d", i);
        sp__codegen_line(o, "const int p%d = %s * %lld + %lld;", i, at[i], (long long)by, (long long)first);
    }
    sp__codegen_load(o, n->in[1], at, text, sizeof text);
    sp__codegen_store_result(o, n->out[0], to, text);
    sp__codegen_loops_end(o, x->rank, x->dims);
    return SP_OK;
}

/* --- index ------------------------------------------------------------------------------------------------------- */

static sp_status index_check(const sp_node *n)
{
    SP_CHECK(n->n_in == 2, SP_DECLINED, "index by %d tensors", n->n_in - 1);
    return SP_OK;
}

/* Slices of x along one axis, by their numbers: an embedding. Numbers outside are taken to the nearest slice: there is nobody to tell. */
static sp_status index_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *x = &n->in[0]->meta, *places = &n->in[1]->meta, *out = &n->out[0]->meta;
    const sp_ints axes = sp__codegen_ints(n, "axes");
    sp_codegen_at at[SP_RANK_MAX] = {""}, in[SP_RANK_MAX];
    char text[SP_CODEGEN_TEXT];
    int axis = 0;
    double number;
    if (axes.n > 0) SP_TRY(sp__shape_axis(axes.v[0], x->rank, "axis", &axis));
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    for (int i = 0; i < x->rank; i++)
        memcpy(in[i], at[i < axis ? i : i == axis ? axis : i - 1 + places->rank], sizeof in[i]);
    const long long last = (long long)x->dims[axis] - 1;
    if (sp__codegen_is_number(n->in[1], &number)) {
        const long long fixed = (long long)number < 0 ? (long long)number + last + 1 : (long long)number;
        snprintf(in[axis], sizeof in[axis], "%lld", fixed < 0 ? 0 : fixed > last ? last : fixed);
    } else {
        sp__codegen_load(o, n->in[1], at + axis, text, sizeof text);
        sp__codegen_line(o, "int p = (int)%s;", text);
        sp__codegen_line(o, "p = p < 0 ? p + %lld : p;", last + 1);
        sp__codegen_line(o, "p = p < 0 ? 0 : p > %lld ? %lld : p;", last, last);
        snprintf(in[axis], sizeof in[axis], "p");
    }
    sp__codegen_load(o, n->in[0], in, text, sizeof text);
    sp__codegen_store(o, at, text);
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

/* --- extrema and where they are ---------------------------------------------------------------------------------- */

static sp_status pick_write(sp_codegen_out *o, const sp_node *n)
{
    const sp_meta *x = &n->in[0]->meta, *out = &n->out[0]->meta;
    const bool keep = sp__codegen_bool(n, "keepdims"), floats = sp_dtype_kind(x->dtype) == 'f';
    const char *type = sp__codegen_type(x->dtype), *better = n->op == &sp_op_max_with_index ? ">" : "<";
    sp_codegen_at at[SP_RANK_MAX], in[SP_RANK_MAX] = {""};
    char text[SP_CODEGEN_TEXT];
    int axis = 0;
    const int64_t given = sp__codegen_int(n, "axis");
    if (x->rank > 0) SP_TRY(sp__shape_axis(given == SP_INT_NONE ? 0 : given, x->rank, "axis", &axis));
    sp__codegen_loops(o, "i", out->rank, out->dims, at);
    for (int i = 0; i < x->rank; i++)
        if (i != axis) memcpy(in[i], at[keep || i < axis ? i : i - 1], sizeof in[i]);
    sp__codegen_line(o, "%s top = 0;", type);
    sp__codegen_line(o, "int where = -1;");
    sp__codegen_for(o, "k", x->rank > 0 ? x->dims[axis] : 1, in[axis]);
    sp__codegen_load(o, n->in[0], in, text, sizeof text);
    sp__codegen_line(o, "const %s v = %s;", type, text);
    sp__codegen_line(o, "if (where < 0 || v %s top%s) {", better, floats ? " || (top != top && v == v)" : "");
    sp__codegen_line(o, "    top = v;");
    sp__codegen_line(o, "    where = %s;", in[axis]);
    sp__codegen_line(o, "}");
    sp__codegen_end(o, x->rank > 0 ? x->dims[axis] : 1);
    sp__codegen_store_result(o, n->out[0], at, "where");
    sp__codegen_store_result(o, n->out[1], at, "top");
    sp__codegen_loops_end(o, out->rank, out->dims);
    return SP_OK;
}

const sp_codegen_kernel sp_codegen_kernel_max_with_index = {
    .op = &sp_op_max_with_index, .write = pick_write, .whole = true};
const sp_codegen_kernel sp_codegen_kernel_min_with_index = {
    .op = &sp_op_min_with_index, .write = pick_write, .whole = true};
const sp_codegen_kernel sp_codegen_kernel_concat = {.op = &sp_op_concat, .write = concat_write, .whole = true};
const sp_codegen_kernel sp_codegen_kernel_stack = {.op = &sp_op_stack, .write = concat_write, .whole = true};
const sp_codegen_kernel sp_codegen_kernel_slice_put = {
    .op = &sp_op_slice_put, .write = put_write, .check = put_check, .whole = true};
const sp_codegen_kernel sp_codegen_kernel_index = {.op = &sp_op_index, .write = index_write, .check = index_check};
