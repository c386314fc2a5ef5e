/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops_shape.c - primitives of MindIR that arrange elements: shapes, slices, splits. */
#include <stdio.h>
#include <string.h>

#include "formats/mindir/mindir_ops.h"

/* --- shapes ------------------------------------------------------------------------------------------------------ */

sp_status sp__mindir_run_shape(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    int rank = sp_tensor_rank(x);
    SP_CHECK(rank >= 0, SP_SYMBOL, "the rank of a tensor is not known before the model runs");
    if (!(*out = sp__mindir_value(c, SP_MINDIR_TUPLE, rank))) return SP_NOMEM;
    for (int i = 0; i < rank; i++) {
        SP_CHECK(sp_tensor_dims(x)[i] >= 0, SP_SYMBOL, "a dimension is not known before the model runs");
        SP_TRY(sp__mindir_number(c, SP_MINDIR_INT, sp_tensor_dims(x)[i], 0, &(*out)->items[i]));
    }
    if (strcmp(rule->mindir, "TensorShape") && strcmp(rule->mindir, "DynamicShape")) return SP_OK;
    sp_tensor *t;
    SP_TRY(sp__mindir_as_tensor(c, *out, &t));
    return sp__mindir_give(c, t, out);
}

sp_status sp__mindir_reshape(sp_mindir_call *c, sp_tensor *x, int rank, const int64_t *dims, sp_mindir_value **out)
{
    sp_mindir_text a = {.used = 0};
    sp__mindir_put(&a, "shape=(");
    for (int i = 0; i < rank; i++) sp__mindir_put(&a, "%lld,", (long long)dims[i]);
    sp__mindir_put(&a, ")");
    return sp__mindir_apply_text(c, "reshape", a.text, 1, &x, out);
}

sp_status sp__mindir_run_expand_dims(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t axis, dims[SP_RANK_MAX];
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, 1, "axis", 0, &axis));
    int rank = sp_tensor_rank(x);
    if (axis < 0) axis += rank + 1;
    SP_CHECK(axis >= 0 && axis <= rank && rank < SP_RANK_MAX, SP_VALUE, "axis %lld is out of range for rank %d",
             (long long)axis, rank);
    for (int i = 0, k = 0; i <= rank; i++) dims[i] = i == axis ? 1 : sp_tensor_dims(x)[k++];
    return sp__mindir_reshape(c, x, rank + 1, dims, out);
}

sp_status sp__mindir_run_squeeze(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t axes[SP_RANK_MAX], dims[SP_RANK_MAX];
    int n = 0, kept = 0;
    bool gone[SP_RANK_MAX] = {false};
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    int rank = sp_tensor_rank(x);
    const sp_mindir_value *v = sp__mindir_argument(c, 1, "axis");
    if (v && v->kind != SP_MINDIR_NONE) SP_TRY(sp__mindir_ints(v, SP_RANK_MAX, axes, &n));
    for (int i = 0; i < n; i++) {
        int64_t at = axes[i] < 0 ? axes[i] + rank : axes[i];
        SP_CHECK(at >= 0 && at < rank, SP_VALUE, "axis %lld cannot be squeezed", (long long)axes[i]);
        gone[at] = sp_tensor_dims(x)[at] ==
                   1; /* mint.squeeze leaves others as they are; ops.squeeze refuses them before a file is written */
    }
    for (int i = 0; i < rank; i++)
        if (n ? !gone[i] : sp_tensor_dims(x)[i] != 1) dims[kept++] = sp_tensor_dims(x)[i];
    return sp__mindir_reshape(c, x, kept, dims, out);
}

sp_status sp__mindir_run_flatten(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t start = 1, end = -1, dims[SP_RANK_MAX], count = 1;
    int n = 0;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    int rank = sp_tensor_rank(x);
    if (!strcmp(rule->mindir, "FlattenExt")) {
        SP_TRY(sp__mindir_int_argument(c, 1, "start_dim", 0, &start));
        SP_TRY(sp__mindir_int_argument(c, 2, "end_dim", -1, &end));
    }
    if (start < 0) start += rank;
    if (end < 0) end += rank;
    if (rank < 2 && !strcmp(rule->mindir, "Flatten"))
        return sp__mindir_reshape(c, x, 2, (int64_t[]){sp_tensor_count(x), 1}, out);
    for (int i = 0; i < rank; i++) {
        int64_t d = sp_tensor_dims(x)[i];
        if (i < start || i > end) dims[n++] = d;
        else if (i == end) dims[n++] = count * d;
        else count *= d;
    }
    return sp__mindir_reshape(c, x, n, dims, out);
}

void sp__mindir_slice_add(sp_mindir_slice *s, int64_t start, int64_t stop, int64_t step)
{
    s->start[s->n] = start;
    s->stop[s->n] = stop;
    s->step[s->n++] = step;
}

sp_status sp__mindir_slice(sp_mindir_call *c, const char *op, const sp_mindir_slice *s, int n_in, sp_tensor *const *in,
                           sp_mindir_value **out)
{
    sp_mindir_text a = {.used = 0};
    sp__mindir_put_list(&a, "start", s->n, s->start);
    sp__mindir_put_list(&a, "stop", s->n, s->stop);
    sp__mindir_put_list(&a, "step", s->n, s->step);
    return sp__mindir_apply_text(c, op, a.text, n_in, in, out);
}

/* x, begin, end, strides and five masks, whose bit i belongs to entry i. */
sp_status sp__mindir_run_strided_slice(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    static const char *const names[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};
    int64_t spec[3][SP_RANK_MAX], mask[5], dims[SP_RANK_MAX];
    int n[3], rank_out = 0;
    sp_tensor *x;
    sp_mindir_slice s = {.n = 0};
    bool shrink[SP_RANK_MAX] = {false}, fresh[2 * SP_RANK_MAX] = {false};
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_CHECK(c->n_in >= 4, SP_FORMAT, "StridedSlice has %d inputs, it needs 4", c->n_in);
    for (int i = 0; i < 3; i++) SP_TRY(sp__mindir_ints(c->in[i + 1], SP_RANK_MAX, spec[i], &n[i]));
    SP_CHECK(n[0] == n[1] && n[1] == n[2], SP_FORMAT, "begin, end and strides have %d, %d and %d entries", n[0], n[1],
             n[2]);
    for (int i = 0; i < 5; i++) SP_TRY(sp__mindir_int_argument(c, 4 + i, names[i], 0, &mask[i]));
    int rank = sp_tensor_rank(x), axis = 0, specs = 0;
    for (int i = 0; i < n[0]; i++) specs += !(mask[3] >> i & 1) && !(mask[2] >> i & 1);
    SP_CHECK(rank >= 0 && specs <= rank, SP_FORMAT, "%d dimensions are sliced of rank %d", specs, rank);
    int marks = 0; /* of the result before shrinking */
    for (int i = 0; i < n[0]; i++) {
        if (mask[2] >> i & 1) {
            int whole = rank - specs;
            for (int k = 0; k < whole; k++, axis++, marks++) sp__mindir_slice_add(&s, 0, sp_tensor_dims(x)[axis], 1);
            continue;
        }
        if (mask[3] >> i & 1) {
            SP_CHECK(marks < 2 * SP_RANK_MAX, SP_FORMAT, "too many dimensions");
            fresh[marks++] = true;
            continue;
        }
        int64_t size = sp_tensor_dims(x)[axis], by = spec[2][i], from = spec[0][i], to = spec[1][i];
        SP_CHECK(by != 0, SP_FORMAT, "a stride is 0");
        if (by < 0) {
            from = mask[0] >> i & 1 ? size - 1 : from < 0 ? from + size : from;
            to = mask[1] >> i & 1 ? -1 : to < 0 ? (to + size < 0 ? -1 : to + size) : to;
        } else {
            if (mask[0] >> i & 1) from = 0;
            if (mask[1] >> i & 1) to = size;
        }
        if (mask[4] >> i & 1) {
            if (from < 0) from += size;
            by = 1;
            to = from + 1;
            shrink[axis] = true;
        }
        sp__mindir_slice_add(&s, from, to, by);
        axis++;
        marks++;
    }
    SP_TRY(sp__mindir_slice(c, "slice", &s, 1, &x, out));
    if (!mask[3] && !mask[4]) return SP_OK;
    sp_tensor *y = (*out)->t;
    for (int i = 0, at = 0; i < marks || at < rank; i++) {
        SP_CHECK(rank_out < SP_RANK_MAX, SP_FORMAT, "the result has more than %d dimensions", SP_RANK_MAX);
        if (i < marks && fresh[i]) dims[rank_out++] = 1;
        else {
            if (at < rank && !shrink[at]) dims[rank_out++] = sp_tensor_dims(y)[at];
            at++;
        }
    }
    return sp__mindir_reshape(c, y, rank_out, dims, out);
}

sp_status sp__mindir_run_reverse(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    int64_t axes[SP_RANK_MAX];
    int n;
    sp_tensor *x;
    sp_mindir_slice s = {.n = 0};
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    const sp_mindir_value *v = sp__mindir_argument(c, 1, "axis");
    SP_CHECK(v, SP_FORMAT, "ReverseV2 has no axis");
    SP_TRY(sp__mindir_ints(v, SP_RANK_MAX, axes, &n));
    int rank = sp_tensor_rank(x);
    for (int i = 0; i < rank; i++) {
        bool turned = false;
        for (int k = 0; k < n; k++) turned |= axes[k] == i || axes[k] + rank == i;
        long long size = (long long)sp_tensor_dims(x)[i];
        SP_CHECK(size >= 0, SP_SYMBOL, "a dimension is not known before the model runs");
        sp__mindir_slice_add(&s, turned ? size - 1 : 0, turned ? -1 : size, turned ? -1 : 1);
    }
    return sp__mindir_slice(c, "slice", &s, 1, &x, out);
}

sp_status sp__mindir_run_split(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t axis, number;
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    (void)rule;
    if (!a) return SP_NOMEM;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, 1, "axis", 0, &axis));
    SP_TRY(sp__mindir_int_argument(c, 2, "output_num", 1, &number));
    int rank = sp_tensor_rank(x);
    int64_t at = axis < 0 ? axis + rank : axis;
    SP_CHECK(at >= 0 && at < rank && number > 0 && sp_tensor_dims(x)[at] % number == 0 && number <= 500, SP_VALUE,
             "axis %lld cannot be split into %lld parts", (long long)axis, (long long)number);
    sp__mindir_put(a, "axis=%lld, sizes=(", (long long)axis);
    for (int64_t i = 0; i < number; i++) sp__mindir_put(a, "%lld,", (long long)(sp_tensor_dims(x)[at] / number));
    sp__mindir_put(a, ")");
    return sp__mindir_apply_text(c, "split", a->text, 1, &x, out);
}

/* x[from:to] of dimension `axis`, steps of `by`. */
static sp_status slice_axis(sp_mindir_call *c, sp_tensor *x, int64_t axis, int64_t from, int64_t to, int64_t by,
                            sp_mindir_value **out)
{
    sp_mindir_slice s = {.n = 0};
    int rank = sp_tensor_rank(x);
    if (axis < 0) axis += rank;
    SP_CHECK(axis >= 0 && axis < rank, SP_VALUE, "axis %lld is out of range for rank %d", (long long)axis, rank);
    for (int i = 0; i < axis; i++) sp__mindir_slice_add(&s, 0, sp_tensor_dims(x)[i], 1);
    sp__mindir_slice_add(&s, from, to, by);
    return sp__mindir_slice(c, "slice", &s, 1, &x, out);
}

/* x, begin, size (-1: to the end). */
sp_status sp__mindir_run_slice(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_mindir_slice s = {.n = 0};
    int64_t from[SP_RANK_MAX], size[SP_RANK_MAX];
    int n, m;
    sp_tensor *x;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_CHECK(c->n_in >= 3, SP_FORMAT, "%s has %d inputs, it needs 3", rule->mindir, c->n_in);
    SP_TRY(sp__mindir_ints(c->in[1], SP_RANK_MAX, from, &n));
    SP_TRY(sp__mindir_ints(c->in[2], SP_RANK_MAX, size, &m));
    SP_CHECK(n == m && n == sp_tensor_rank(x), SP_FORMAT, "begin and size have %d and %d entries", n, m);
    for (int i = 0; i < n; i++)
        sp__mindir_slice_add(&s, from[i], size[i] < 0 ? sp_tensor_dims(x)[i] : from[i] + size[i], 1);
    return sp__mindir_slice(c, "slice", &s, 1, &x, out);
}

/* x, dim, start, end, step. */
sp_status sp__mindir_run_slice_ext(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t axis, from, to, by;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, 1, "dim", 0, &axis));
    SP_TRY(sp__mindir_int_argument(c, 2, "start", 0, &from));
    SP_TRY(sp__mindir_int_argument(c, 3, "end", INT32_MAX, &to));
    SP_TRY(sp__mindir_int_argument(c, 4, "step", 1, &by));
    return slice_axis(c, x, axis, from, to, by, out);
}

/* Parts of so many each along an axis, the last one of what is left. */
static sp_status split_parts(sp_mindir_call *c, sp_tensor *x, int64_t axis, int64_t size, sp_mindir_value **out)
{
    sp_mindir_text *a = sp__arena_alloc(c->arena, sizeof *a);
    int rank = sp_tensor_rank(x);
    int64_t at = axis < 0 ? axis + rank : axis;
    if (!a) return SP_NOMEM;
    SP_CHECK(at >= 0 && at < rank && size > 0 && sp_tensor_dims(x)[at] / size <= 500, SP_VALUE,
             "axis %lld cannot be split into parts of %lld", (long long)axis, (long long)size);
    sp__mindir_put(a, "axis=%lld, sizes=(", (long long)axis);
    for (int64_t left = sp_tensor_dims(x)[at]; left > 0; left -= size)
        sp__mindir_put(a, "%lld,", (long long)(left < size ? left : size));
    sp__mindir_put(a, ")");
    return sp__mindir_apply_text(c, "split", a->text, 1, &x, out);
}

/* x, size of a part, dim. */
sp_status sp__mindir_run_split_tensor(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t size, axis;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, 1, "split_size", 1, &size));
    SP_TRY(sp__mindir_int_argument(c, 2, "dim", 0, &axis));
    return split_parts(c, x, axis, size, out);
}

/* x, number of parts, dim. */
sp_status sp__mindir_run_chunk(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t chunks, axis;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, 1, "chunks", 1, &chunks));
    SP_TRY(sp__mindir_int_argument(c, 2, "dim", 0, &axis));
    int64_t at = axis < 0 ? axis + sp_tensor_rank(x) : axis;
    SP_CHECK(chunks > 0 && at >= 0 && at < sp_tensor_rank(x), SP_VALUE, "axis %lld cannot be split into %lld parts",
             (long long)axis, (long long)chunks);
    return split_parts(c, x, axis, (sp_tensor_dims(x)[at] + chunks - 1) / chunks, out);
}

/* x, least, most, each of which may be None. */
sp_status sp__mindir_run_clamp(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *pair[2];
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &pair[0]));
    SP_TRY(sp__mindir_give(c, pair[0], out));
    for (int i = 1; i < 3 && i < c->n_in; i++) {
        if (c->in[i]->kind == SP_MINDIR_NONE) continue;
        SP_TRY(sp__mindir_operand(c, i, &pair[1]));
        pair[0] = (*out)->t;
        SP_TRY(sp__mindir_apply_text(c, i == 1 ? "maximum" : "minimum", "", 2, pair, out));
    }
    return SP_OK;
}
