/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_ops_ext.c - primitives that MindSpore 2.4 and later write for its torch-like functions: views, scalars as operands, operators in place.
 *
 * A view is its contents here. An operator in place gives the new contents, which is what the file goes on with. */
#include <string.h>

#include "base/parts.h"
#include "formats/mindir/mindir_ops.h"
#include "ir/builder_keep.h"

static sp_status op2(sp_mindir_call *c, const char *op, sp_tensor *x, sp_tensor *y, sp_mindir_value **out)
{
    return sp__mindir_apply_text(c, op, "", 2, (sp_tensor *[]){x, y}, out);
}

/* Input k as an axis of x, from 0 on. */
static sp_status axis_of(sp_mindir_call *c, int k, const char *name, const sp_tensor *x, int64_t initial, int *out)
{
    int64_t axis;
    const int rank = sp_tensor_rank(x);
    SP_TRY(sp__mindir_int_argument(c, k, name, initial, &axis));
    SP_CHECK(axis >= -rank && axis < rank, SP_VALUE, "%s %lld is out of range for rank %d", name, (long long)axis,
             rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return SP_OK;
}

/* --- views ------------------------------------------------------------------------------------------------------- */

/* x, dim, dim; or the two dimensions of a matrix. */
static sp_status run_swap(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int a = 0, b = 0;
    int64_t perm[SP_RANK_MAX];
    sp_mindir_text text = {.used = 0};
    SP_TRY(sp__mindir_operand(c, 0, &x));
    const int rank = sp_tensor_rank(x);
    if (!strcmp(rule->mindir, "TExt") && rank < 2) return sp__mindir_give(c, x, out);
    SP_TRY(axis_of(c, 1, "dim0", x, 0, &a));
    SP_TRY(axis_of(c, 2, "dim1", x, 1, &b));
    for (int i = 0; i < rank; i++) perm[i] = i == a ? b : i == b ? a : i;
    sp__mindir_put_list(&text, "perm", rank, perm);
    return sp__mindir_apply_text(c, "transpose", text.text, 1, &x, out);
}

/* x, dim, start, length; of SelectExtView an index, whose dimension goes. */
static sp_status run_narrow(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    const bool select = !strcmp(rule->mindir, "SelectExtView");
    sp_tensor *x;
    int axis = 0, rank_out = 0;
    int64_t start, length = 1, from[SP_RANK_MAX], to[SP_RANK_MAX], dims[SP_RANK_MAX];
    sp_mindir_text text = {.used = 0};
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(axis_of(c, 1, "dim", x, 0, &axis));
    SP_TRY(sp__mindir_int_argument(c, 2, select ? "index" : "start", 0, &start));
    if (!select) SP_TRY(sp__mindir_int_argument(c, 3, "length", 1, &length));
    const int64_t size = sp_tensor_dims(x)[axis];
    if (start < 0) start += size;
    SP_CHECK(size < 0 || (start >= 0 && length >= 0 && start <= size - length), SP_INDEX,
             "%lld elements from %lld on are more than the %lld there are", (long long)length, (long long)start,
             (long long)size);
    for (int i = 0; i <= axis; i++) {
        from[i] = i == axis ? start : 0;
        to[i] = i == axis ? start + length : sp_tensor_dims(x)[i];
    }
    sp__mindir_put_list(&text, "start", axis + 1, from);
    sp__mindir_put_list(&text, "stop", axis + 1, to);
    SP_TRY(sp__mindir_apply_text(c, "slice", text.text, 1, &x, out));
    if (!select) return SP_OK;
    for (int i = 0; i < sp_tensor_rank(x); i++)
        if (i != axis) dims[rank_out++] = sp_tensor_dims(x)[i];
    return sp__mindir_reshape(c, (*out)->t, rank_out, dims, out);
}

/* x of the shape of another. */
static sp_status run_as(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x, *other;
    sp_mindir_text text = {.used = 0};
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_operand(c, 1, &other));
    sp__mindir_put_list(&text, "shape", sp_tensor_rank(other), sp_tensor_dims(other));
    return sp__mindir_apply_text(c, rule->op, text.text, 1, &x, out);
}

/* Tensors of one dimension each, spread over all of them {indexing}. */
static sp_status run_meshgrid(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[SP_RANK_MAX];
    int64_t all[SP_RANK_MAX], dims[SP_RANK_MAX];
    int n = 0;
    SP_CHECK(c->n_in >= 1, SP_FORMAT, "%s has no inputs", rule->mindir);
    SP_TRY(sp__mindir_operands(c, c->in[0], SP_RANK_MAX, in, &n));
    const sp_mindir_value *v = sp__mindir_argument(c, 1, "indexing"); /* "xy" and "ij", or 1 and 0 */
    int way = 0;
    if (v && v->kind != SP_MINDIR_NONE) SP_TRY(sp__mindir_word(v, "indexing", "ij xy", &way));
    const bool swapped = n > 1 && way == 1;
    sp_mindir_value *list = sp__mindir_value(c, SP_MINDIR_TUPLE, n), *one;
    if (!list) return SP_NOMEM;
    for (int i = 0; i < n; i++) all[swapped && i < 2 ? 1 - i : i] = sp_tensor_count(in[i]);
    for (int i = 0; i < n; i++) {
        sp_mindir_text text = {.used = 0};
        const int at = swapped && i < 2 ? 1 - i : i;
        for (int k = 0; k < n; k++) dims[k] = k == at ? all[k] : 1;
        SP_TRY(sp__mindir_reshape(c, in[i], n, dims, &one));
        sp__mindir_put_list(&text, "shape", n, all);
        SP_TRY(sp__mindir_apply_text(c, "broadcast_to", text.text, 1, &one->t, &list->items[i]));
    }
    *out = list;
    return SP_OK;
}

/* --- new tensors ------------------------------------------------------------------------------------------------- */

/* Like x, of one value: op is where the value is ("0", "1": it is that number; "k": input k). Sizes and dtype are inputs where the primitive has them. */
static sp_status run_filled(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    static const sp_attr dtype = {.name = "dtype", .type = SP_ATTR_DTYPE, .initial = "None"};
    const bool sized = !strncmp(rule->mindir, "New", 3), number = *rule->op == '0' || *rule->op == '1';
    sp_tensor *x, *value;
    int64_t dims[SP_RANK_MAX];
    int n, at = 1 + sized;
    sp_mindir_text text = {.used = 0};
    SP_TRY(sp__mindir_operand(c, 0, &x));
    n = sp_tensor_rank(x);
    for (int i = 0; i < n; i++) dims[i] = sp_tensor_dims(x)[i];
    if (sized) {
        SP_CHECK(c->n_in >= 2, SP_FORMAT, "%s has no size", rule->mindir);
        SP_TRY(sp__mindir_ints(c->in[1], SP_RANK_MAX, dims, &n));
    }
    if (number) {
        SP_TRY(sp_tensor_create_i64(sp_tensor_dtype(x), *rule->op - '0', &value));
        SP_TRY(sp__builder_keep(c->b, &value));
    } else SP_TRY(sp__mindir_operand(c, at++, &value));
    if (c->n_in > at && c->in[at]->kind != SP_MINDIR_NONE && c->in[at]->kind != SP_MINDIR_MONAD)
        SP_TRY(sp__mindir_put_attr(&text, &dtype, c->in[at]));
    else sp__mindir_put(&text, "dtype=%s", sp_dtype_name(sp_tensor_dtype(x)));
    SP_TRY(sp__mindir_apply_text(c, "cast", text.text, 1, &value, out));
    text.used = 0;
    sp__mindir_put_list(&text, "shape", n, dims);
    return sp__mindir_apply_text(c, "broadcast_to", text.text, 1, &(*out)->t, out);
}

/* x, what it becomes: spread to its shape and of its dtype. */
static sp_status run_copy_into(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x, *from;
    sp_mindir_text text = {.used = 0};
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_operand(c, 1, &from));
    SP_TRY(sp__mindir_call(c, "cast", 1, &from, out, "dtype=%s", sp_dtype_name(sp_tensor_dtype(x))));
    sp__mindir_put_list(&text, "shape", sp_tensor_rank(x), sp_tensor_dims(x));
    return sp__mindir_apply_text(c, "broadcast_to", text.text, 1, &(*out)->t, out);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* x, y, how the quotient is rounded: 1 towards zero, 2 down. */
static sp_status run_div_mode(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[2];
    int64_t mode;
    (void)rule;
    for (int i = 0; i < 2; i++) SP_TRY(sp__mindir_operand(c, i, &in[i]));
    SP_TRY(sp__mindir_int_argument(c, 2, "rounding_mode", 0, &mode));
    SP_CHECK(mode >= 0 && mode <= 2, SP_FORMAT, "a way of rounding is %lld, which is not known", (long long)mode);
    return sp__mindir_call(c, "div_mode", 2, in, out, "rounding_mode=%s",
                           mode == 1   ? "trunc"
                           : mode == 2 ? "floor"
                                       : "None");
}

/* The mean; of integers it is one, cut towards zero. */
static sp_status run_mean(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x, *count;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    const char kind = sp_dtype_kind(sp_tensor_dtype(x));
    if (kind != 'i' && kind != 'u') return sp__mindir_run_text(c, rule, out);
    const sp_mindir_rule sum = {.mindir = rule->mindir, .op = "reduce_sum", .inputs = rule->inputs};
    SP_TRY(sp__mindir_run_text(c, &sum, out));
    const int64_t n = sp_tensor_count((*out)->t);
    SP_CHECK(n >= 0 && sp_tensor_count(x) >= 0, SP_SYMBOL, "a size is not known before the model runs");
    SP_TRY(sp_tensor_create_i64(sp_tensor_dtype(x), n > 0 ? sp_tensor_count(x) / n : 1, &count));
    return op2(c, "trunc_div", (*out)->t, sp_builder_take_tensor(c->b, count), out);
}

/* a x b along an axis of three: what comes next times what comes after that, less the other way round. */
static sp_status run_cross(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    enum { FIRST_OF_THREE = -65530 };
    sp_tensor *in[2], *turned[4];
    int64_t dim;
    (void)rule;
    for (int i = 0; i < 2; i++) SP_TRY(sp__mindir_operand(c, i, &in[i]));
    SP_TRY(sp__mindir_int_argument(c, 2, "dim", FIRST_OF_THREE, &dim));
    for (int i = 0; dim == FIRST_OF_THREE && i < sp_tensor_rank(in[0]); i++)
        if (sp_tensor_dims(in[0])[i] == 3) dim = i;
    for (int i = 0; i < 4; i++) {
        SP_TRY(sp__mindir_call(c, "roll", 1, &in[i % 2], out, "shifts=(%d,), dims=(%lld,)", i == 0 || i == 3 ? -1 : -2,
                               (long long)dim));
        turned[i] = (*out)->t;
    }
    sp_mindir_value *minus;
    SP_TRY(op2(c, "mul", turned[2], turned[3], &minus));
    SP_TRY(op2(c, "mul", turned[0], turned[1], out));
    return op2(c, "sub", (*out)->t, minus->t, out);
}

/* x, offset, axis1, axis2, dtype: the sum of a diagonal. */
static sp_status run_trace(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    static const sp_attr dtype = {.name = "dtype", .type = SP_ATTR_DTYPE, .initial = "None"};
    sp_tensor *x;
    int64_t offset, axis1, axis2;
    sp_mindir_text text = {.used = 0};
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(sp__mindir_int_argument(c, 1, "offset", 0, &offset));
    SP_TRY(sp__mindir_int_argument(c, 2, "axis1", 1, &axis1));
    SP_TRY(sp__mindir_int_argument(c, 3, "axis2", 0, &axis2));
    SP_TRY(sp__mindir_call(c, "diagonal", 1, &x, out, "offset=%lld, dim1=%lld, dim2=%lld", (long long)offset,
                           (long long)axis1, (long long)axis2));
    sp__mindir_put(&text, "axis=(-1,)");
    if (c->n_in > 4 && c->in[4]->kind != SP_MINDIR_NONE) SP_TRY(sp__mindir_put_attr(&text, &dtype, c->in[4]));
    return sp__mindir_apply_text(c, "sum", text.text, 1, &(*out)->t, out);
}

/* --- places ------------------------------------------------------------------------------------------------------ */

/* weight, after the places in it. */
static sp_status run_embedding(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *at, *weight;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &at));
    SP_TRY(sp__mindir_operand(c, 1, &weight));
    SP_CHECK(c->n_in < 4 || c->in[3]->kind == SP_MINDIR_NONE, SP_FORMAT,
             "an embedding whose rows are shortened is not supported");
    return sp__mindir_apply_text(c, "gather", "axis=0", 2, (sp_tensor *[]){weight, at}, out);
}

/* x, dim, places. */
static sp_status run_index_select(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x, *at;
    int axis = 0;
    (void)rule;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(axis_of(c, 1, "dim", x, 0, &axis));
    SP_TRY(sp__mindir_operand(c, 2, &at));
    return sp__mindir_call(c, "gather", 2, (sp_tensor *[]){x, at}, out, "axis=%d", axis);
}

/* x, places by dimension. */
static sp_status run_index(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[SP_RANK_MAX + 1];
    int n = 1;
    SP_TRY(sp__mindir_operand(c, 0, &in[0]));
    SP_CHECK(c->n_in >= 2, SP_FORMAT, "%s has no places", rule->mindir);
    SP_TRY(sp__mindir_operands(c, c->in[1], SP_RANK_MAX + 1, in, &n));
    return sp__mindir_apply_text(c, "index", "", n, in, out);
}

/* x, dim, places, what is put there (a tensor or one number), reduce: 0 replaces, 1 adds. */
static sp_status run_scatter(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *in[3];
    int axis = 0;
    int64_t reduce = !strcmp(rule->op, "add");
    SP_TRY(sp__mindir_operand(c, 0, &in[0]));
    SP_TRY(axis_of(c, 1, "dim", in[0], 0, &axis));
    SP_TRY(sp__mindir_operand(c, 2, &in[1]));
    SP_TRY(sp__mindir_operand(c, 3, &in[2]));
    if (!reduce) SP_TRY(sp__mindir_int_argument(c, 4, "reduce", 0, &reduce));
    SP_CHECK(reduce == 0 || reduce == 1, SP_FORMAT, "a way of reducing is %lld, which is not known", (long long)reduce);
    if (sp_tensor_rank(in[2]) < sp_tensor_rank(in[1])) {
        sp_mindir_text text = {.used = 0};
        SP_TRY(sp__mindir_call(c, "cast", 1, &in[2], out, "dtype=%s", sp_dtype_name(sp_tensor_dtype(in[0]))));
        sp__mindir_put_list(&text, "shape", sp_tensor_rank(in[1]), sp_tensor_dims(in[1]));
        SP_TRY(sp__mindir_apply_text(c, "broadcast_to", text.text, 1, &(*out)->t, out));
        in[2] = (*out)->t;
    }
    return sp__mindir_call(c, "scatter_elements", 3, in, out, "axis=%d, reduce=%s", axis, reduce ? "add" : "none");
}

/* Items of a tuple that an operator gives, in the order that `inputs` says: "01", "1". */
static sp_status run_items(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out, const char *order)
{
    sp_mindir_value *all;
    const int n = (int)strlen(order);
    SP_TRY(sp__mindir_run_text(c, rule, &all));
    SP_CHECK(all->kind == SP_MINDIR_TUPLE, SP_FORMAT, "%s gives one result", rule->mindir);
    if (n == 1) return *out = all->items[order[0] - '0'], SP_OK;
    if (!(*out = sp__mindir_value(c, SP_MINDIR_TUPLE, n))) return SP_NOMEM;
    for (int i = 0; i < n; i++) (*out)->items[i] = all->items[order[i] - '0'];
    return SP_OK;
}
static sp_status run_first_two(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    return run_items(c, rule, out, "01");
}
static sp_status run_turned(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    return run_items(c, rule, out, "10");
}
static sp_status run_second(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    return run_items(c, rule, out, "1");
}

/* --- networks ---------------------------------------------------------------------------------------------------- */

/* x, paddings from the last dimension on; the mode is the rule's. */
static sp_status run_pad_mode(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t pads[2 * SP_RANK_MAX], turned[2 * SP_RANK_MAX] = {0};
    int n;
    sp_mindir_text text = {.used = 0};
    SP_TRY(sp__mindir_operand(c, 0, &x));
    const int rank = sp_tensor_rank(x);
    SP_CHECK(c->n_in >= 2, SP_FORMAT, "%s has no paddings", rule->mindir);
    SP_TRY(sp__mindir_ints(c->in[1], 2 * SP_RANK_MAX, pads, &n));
    SP_CHECK(n % 2 == 0 && n / 2 <= rank, SP_FORMAT, "%d paddings for rank %d", n, rank);
    for (int i = 0; i < n; i++) turned[2 * (rank - 1 - i / 2) + i % 2] = pads[i];
    sp__mindir_put_list(&text, "pads", 2 * rank, turned);
    sp__mindir_put(&text, ", mode=%s", rule->inputs);
    return sp__mindir_apply_text(c, "pad", text.text, 1, &x, out);
}

/* x, sizes (or None), scales (or None), align_corners; the mode is the rule's. */
static sp_status run_upsample(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int64_t size[SP_RANK_MAX], align;
    int n = 0;
    sp_mindir_text text = {.used = 0};
    SP_TRY(sp__mindir_operand(c, 0, &x));
    const int rank = sp_tensor_rank(x);
    const sp_mindir_value *v = sp__mindir_argument(c, 1, "output_size"), *scales = sp__mindir_argument(c, 2, "scales");
    if (v && v->kind != SP_MINDIR_NONE) SP_TRY(sp__mindir_ints(v, SP_RANK_MAX, size, &n));
    for (int i = 0; n == 0 && scales && scales->kind == SP_MINDIR_TUPLE && i < scales->n && i < rank - 2; i++) {
        double times;
        SP_TRY(sp__mindir_real(scales->items[i], "a scale", &times));
        times *= (double)sp_tensor_dims(x)[i + 2];
        SP_CHECK(times >= 0 && times < 9.0e15, SP_FORMAT, "a scale gives %g elements", times);
        size[i] = (int64_t)times;
        if (i == rank - 3) n = rank - 2;
    }
    SP_CHECK(n == rank - 2 && n > 0, SP_FORMAT, "%d sizes for rank %d", n, rank);
    SP_TRY(sp__mindir_int_argument(c, 3, "align_corners", 0, &align));
    sp__mindir_put_list(&text, "size", n, size);
    sp__mindir_put(&text, ", mode=%s, coordinates=%s", rule->inputs,
                   !strcmp(rule->inputs, "nearest") ? "asymmetric"
                   : align                          ? "align_corners"
                                                    : "half_pixel");
    return sp__mindir_apply_text(c, "resize", text.text, 1, &x, out);
}

/* Two halves of x along an axis: the first, times a function (op) of the second; of Swiglu the function is of the first. */
static sp_status run_gated(sp_mindir_call *c, const sp_mindir_rule *rule, sp_mindir_value **out)
{
    sp_tensor *x;
    int axis = 0;
    SP_TRY(sp__mindir_operand(c, 0, &x));
    SP_TRY(axis_of(c, 1, sp__mindir_attr(c, "axis") ? "axis" : "dim", x, -1, &axis));
    const long long half = (long long)sp_tensor_dims(x)[axis] / 2;
    SP_CHECK(half * 2 == sp_tensor_dims(x)[axis], SP_VALUE, "axis %d has %lld elements, which are no two halves", axis,
             (long long)sp_tensor_dims(x)[axis]);
    sp_mindir_value *parts, *gate;
    SP_TRY(sp__mindir_call(c, "split", 1, &x, &parts, "axis=%d, sizes=(%lld,%lld)", axis, half, half));
    const int gated = !strcmp(rule->op, "silu") ? 0 : 1;
    SP_TRY(sp__mindir_apply_text(c, rule->op, "", 1, &parts->items[gated]->t, &gate));
    return op2(c, "mul", parts->items[1 - gated]->t, gate->t, out);
}

/* --- the table --------------------------------------------------------------------------------------------------- */

#define TEXT(mindir_, op_, inputs_) {.mindir = mindir_, .op = op_, .inputs = inputs_, .run = sp__mindir_run_text}
#define WANTED(mindir_, run_) (SP_WANTS_PRIMITIVE(mindir_) ? run_ : NULL)
#define CODE(mindir_, op_, run_) {.mindir = mindir_, .op = op_, .run = WANTED(mindir_, run_)}
#define WITH(mindir_, op_, inputs_, run_)                                                                              \
    {.mindir = mindir_, .op = op_, .inputs = inputs_, .run = WANTED(mindir_, run_)}
#define INPLACE(mindir_, op_) TEXT("Inplace" mindir_, op_, "_")
#define PADS(n)                                                                                                        \
    WITH("ReflectionPad" n, NULL, "reflect", run_pad_mode), WITH("ReplicationPad" n, NULL, "replicate", run_pad_mode)

const sp_mindir_rule sp__mindir_ext_rules[] = {
    CODE("TransposeExtView", NULL, run_swap),
    CODE("TExt", NULL, run_swap),
    TEXT("TransposeView", "transpose", "_ perm"),
    CODE("SelectExtView", NULL, run_narrow),
    CODE("NarrowView", NULL, run_narrow),
    CODE("Narrow", NULL, run_narrow),
    CODE("ExpandDimsView", NULL, sp__mindir_run_expand_dims),
    TEXT("UnstackExtView", "unstack", "_ axis"),
    TEXT("SplitWithSizeView", "split", "_ sizes axis"),
    CODE("SplitTensorView", NULL, sp__mindir_run_split_tensor),
    CODE("ChunkView", NULL, sp__mindir_run_chunk),
    TEXT("BroadcastToView", "broadcast_to", "_ shape"),
    TEXT("DiagonalView", "diagonal", "_ offset dim1 dim2"),
    TEXT("RealView", "real", "_"),
    TEXT("ImagView", "imag", "_"),
    TEXT("View", "reshape", "_ shape"),
    CODE("ViewAs", "reshape", run_as),
    CODE("ExpandAs", "broadcast_to", run_as),
    TEXT("Clone", "copy", "_"),
    TEXT("Contiguous", "copy", "_"),
    TEXT("Copy", "copy", "_"),
    TEXT("CopyToHost", "copy", "_"),
    TEXT("CopyToDevice", "copy", "_"),
    TEXT("Detach", "stop_gradient", "_"),
    TEXT("ToDtype", "cast", "_ dtype"),
    CODE("Meshgrid", NULL, run_meshgrid),
    TEXT("Repeat", "tile", "_ dims"),

    CODE("NewZeros", "0", run_filled),
    CODE("NewOnes", "1", run_filled),
    CODE("NewFull", "input", run_filled),
    CODE("FullLike", "input", run_filled),
    CODE("InplaceZero", "0", run_filled),
    CODE("InplaceFillScalar", "input", run_filled),
    CODE("InplaceFillTensor", "input", run_filled),
    CODE("InplaceCopy", NULL, run_copy_into),

    TEXT("Inv", "reciprocal", "_"),
    TEXT("Rint", "round", "_"),
    TEXT("AcosExt", "acos", "_"),
    TEXT("AcoshExt", "acosh", "_"),
    TEXT("AsinExt", "asin", "_"),
    TEXT("AsinhExt", "asinh", "_"),
    TEXT("AtanExt", "atan", "_"),
    TEXT("Atan2Ext", "atan2", "_ _"),
    TEXT("Angle", "angle", "_"),
    TEXT("BitwiseNot", "bitwise_not", "_"),
    TEXT("BoolNot", "logical_not", "_"),
    TEXT("IsNegInf", "isneginf", "_"),
    TEXT("LogAddExp", "logaddexp", "_ _"),
    TEXT("LogAddExp2", "logaddexp2", "_ _"),
    TEXT("LerpScalar", "lerp", "_ _ _"),
    TEXT("RemainderTensorTensor", "floor_mod", "_ _"),
    TEXT("RemainderTensorScalar", "floor_mod", "_ _"),
    TEXT("RemainderScalarTensor", "floor_mod", "_ _"),
    TEXT("FmodTensor", "trunc_mod", "_ _"),
    TEXT("FmodScalar", "trunc_mod", "_ _"),
    TEXT("FloorDivScalar", "floor_div", "_ _"),
    TEXT("BitwiseAndScalar", "bitwise_and", "_ _"),
    TEXT("BitwiseOrScalar", "bitwise_or", "_ _"),
    TEXT("BitwiseXorScalar", "bitwise_xor", "_ _"),
    TEXT("XLogYScalarOther", "xlogy", "_ _"),
    TEXT("XLogYScalarSelf", "xlogy", "_ _"),
    CODE("DivMod", NULL, run_div_mode),
    CODE("DivMods", NULL, run_div_mode),
    CODE("AddScalar", "add", sp__mindir_run_add_ext),
    CODE("SubScalar", "sub", sp__mindir_run_add_ext),
    TEXT("AddcmulExt", "addcmul", "_ _ _ _"),
    TEXT("AddcdivExt", "addcdiv", "_ _ _ _"),
    CODE("Cross", NULL, run_cross),

    INPLACE("Exp", "exp"),
    INPLACE("Floor", "floor"),
    INPLACE("Log", "log"),
    INPLACE("SiLU", "silu"),
    INPLACE("Sigmoid", "sigmoid"),
    INPLACE("Sign", "sign"),
    INPLACE("Tanh", "tanh"),
    INPLACE("Erfinv", "erfinv"),
    TEXT("InplaceElu", "elu", "_ alpha"),
    TEXT("InplaceHardtanh", "hardtanh", "_ min_val max_val"),
    TEXT("InplaceThreshold", "threshold", "_ threshold value"),
    CODE("InplaceSubScalar", "sub", sp__mindir_run_add_ext),
    CODE("InplaceDivMod", NULL, run_div_mode),
    CODE("InplaceDivMods", NULL, run_div_mode),
    TEXT("InplaceFloorDivide", "floor_div", "_ _"),
    TEXT("InplaceFloorDivides", "floor_div", "_ _"),
    TEXT("InplaceRemainderTensorTensor", "floor_mod", "_ _"),
    TEXT("InplaceRemainderTensorScalar", "floor_mod", "_ _"),
    CODE("InplaceClampScalar", NULL, sp__mindir_run_clamp),
    CODE("InplaceClampTensor", NULL, sp__mindir_run_clamp),
    CODE("MaskedFillScalar", NULL, sp__mindir_run_masked_fill),
    CODE("InplaceMaskedFillScalar", NULL, sp__mindir_run_masked_fill),
    CODE("InplaceMaskedFillTensor", NULL, sp__mindir_run_masked_fill),
    TEXT("InplaceAddmm", "addmm", "_ _ _ beta alpha"),

    WITH("ReduceMean", "reduce_mean", "_ axis keepdims<keep_dims", run_mean),
    TEXT("LpNorm", "vector_norm", "_ ord<p axis keepdims<keep_dims"),
    TEXT("LinalgVectorNorm", "vector_norm", "_ ord axis keepdims"),
    TEXT("Any", "reduce_any", "_"),
    TEXT("AnyExt", "reduce_any", "_ axis keepdims"),
    TEXT("Nansum", "nansum", "_ axis keepdims dtype"),
    TEXT("Var", "var", "_ axis correction keepdims"),
    TEXT("Std", "std", "_ axis correction keepdims"),
    TEXT("VarMean", "var_mean", "_ axis correction keepdims"),
    TEXT("StdMean", "std_mean", "_ axis correction keepdims"),
    WITH("MaxDim", "max_with_index", "_ axis keepdims", run_turned),
    WITH("MinDim", "min_with_index", "_ axis keepdims", run_turned),
    WITH("MedianDim", "median", "_ axis keepdims", run_first_two),
    TEXT("CumsumExt", "cumsum", "_ axis dtype"),
    TEXT("CumminExt", "cummin", "_ axis"),
    TEXT("TraceExt", "trace", "_"),
    CODE("TraceV2", NULL, run_trace),
    WITH("ArgSort", "sort", "_ axis descending", run_second),
    WITH("Unique", "unique", "_ sorted=False indices=int32", run_first_two),

    TEXT("Dot", "matmul", "_ _"),
    TEXT("Mv", "matmul", "_ _"),
    TEXT("Addmm", "addmm", "_ _ _ beta alpha"),
    TEXT("Addmv", "addmv", "_ _ _ beta alpha"),
    TEXT("Addbmm", "addbmm", "_ _ _ beta alpha"),
    TEXT("Baddbmm", "baddbmm", "_ _ _ beta alpha"),
    TEXT("MatrixInverseExt", "matrix_inverse", "_"),

    CODE("Embedding", NULL, run_embedding),
    CODE("IndexSelect", NULL, run_index_select),
    CODE("Index", NULL, run_index),
    TEXT("GatherNdExt", "gather_nd", "_ _"),
    TEXT("SelectV2", "select", "_ _ _"),
    CODE("Scatter", "", run_scatter),
    CODE("ScatterValue", "", run_scatter),
    CODE("InplaceScatterSrc", "", run_scatter),
    CODE("InplaceScatterValue", "", run_scatter),
    CODE("ScatterAddExt", "add", run_scatter),
    CODE("InplaceScatterAdd", "add", run_scatter),
    TEXT("NonZeroExt", "nonzero", "_"),
    TEXT("TrilExt", "tril", "_ diagonal"),
    TEXT("OneHotExt", "one_hot", "_ depth _ _ axis"),

    TEXT("EluExt", "elu", "_ alpha"),
    TEXT("SeLUExt", "selu", "_"),
    TEXT("MishExt", "mish", "_"),
    TEXT("Hardtanh", "hardtanh", "_ min_val max_val"),
    TEXT("LogSoftmaxExt", "log_softmax", "_ axis"),
    WITH("GLU", "sigmoid", NULL, run_gated),
    WITH("Swiglu", "silu", NULL, run_gated),
    TEXT("L1LossExt", "l1_loss", "_ _ reduction"),
    TEXT("MSELossExt", "mse_loss", "_ _ reduction"),
    TEXT("KLDiv", "kl_div", "_ _ reduction log_target"),
    TEXT("PixelShuffle", "pixel_shuffle", "_ factor"),
    PADS("1D"),
    PADS("2D"),
    PADS("3D"),
    TEXT("AdaptiveAvgPool1D", "adaptive_avg_pool1d", "_ output_size"),
    TEXT("AdaptiveAvgPool3DExt", "adaptive_avg_pool3d", "_ output_size"),
    WITH("UpsampleNearest1D", NULL, "nearest", run_upsample),
    WITH("UpsampleNearest2D", NULL, "nearest", run_upsample),
    WITH("UpsampleNearest3D", NULL, "nearest", run_upsample),
    WITH("UpsampleLinear1D", NULL, "linear", run_upsample),
    WITH("UpsampleBilinear2D", NULL, "linear", run_upsample),
    WITH("UpsampleTrilinear3D", NULL, "linear", run_upsample),
    {.mindir = NULL},
};
