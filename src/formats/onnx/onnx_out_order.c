/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_order.c - how reductions, running values, order, counts and random numbers are written to ONNX. */
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "formats/onnx/onnx_out_run.h"

/* --- reductions -------------------------------------------------------------------------------------------------- */

static void write_reduce(sp_onnx_out *o)
{
    static const char *const types[] = {[SP_FAMILY_REDUCE_SUM] = "ReduceSum",   [SP_FAMILY_REDUCE_MEAN] = "ReduceMean",
                                        [SP_FAMILY_REDUCE_PROD] = "ReduceProd", [SP_FAMILY_REDUCE_MAX] = "ReduceMax",
                                        [SP_FAMILY_REDUCE_MIN] = "ReduceMin",   [SP_FAMILY_REDUCE_ALL] = "ReduceMin",
                                        [SP_FAMILY_REDUCE_ANY] = "ReduceMax"};
    const sp_family family = o->node->op->family;
    sp_ints axis = sp__onnx_out_list(o, "axis");
    int n = axis.n <= 0 ? -1 : axis.n;
    bool logical = family == SP_FAMILY_REDUCE_ALL || family == SP_FAMILY_REDUCE_ANY;
    sp_onnx_id x =
        logical ? sp__onnx_out_cast(o, sp__onnx_out_cast(o, o->in[0], SP_DTYPE_BOOL), SP_DTYPE_I32) : o->in[0];
    if (sp__onnx_out_meta(o, 0)->rank == 0) o->out[0] = x;
    else o->out[0] = sp__onnx_out_reduce(o, types[family], x, n, axis.v, sp__onnx_out_int(o, "keepdims"));
}

/* Index first, then value. */
static void write_extreme(sp_onnx_out *o)
{
    bool max = o->node->op == &sp_op_max_with_index;
    int rank = sp__onnx_out_meta(o, 0)->rank, axis = sp__onnx_out_axis(o, "axis", rank);
    int64_t axes[1] = {axis};
    bool keep = sp__onnx_out_int(o, "keepdims");
    if (rank == 0) {
        o->out[0] = sp__onnx_out_whole(o, SP_DTYPE_I64, 0);
        o->out[1] = o->in[0];
        return;
    }
    o->out[0] = sp__onnx_out_op(o, max ? "ArgMax" : "ArgMin", 1, o->in, "axis=%d, keepdims=%d", axis, keep);
    o->out[1] = sp__onnx_out_reduce(o, max ? "ReduceMax" : "ReduceMin", o->in[0], 1, axes, keep);
}

/* --- running values ---------------------------------------------------------------------------------------------- */

static void write_scan_sum(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank, axis = rank ? sp__onnx_out_axis(o, "axis", rank) : 0;
    sp_onnx_id x = rank ? o->in[0] : SP_ONNX_OUT_RESHAPE(o, o->in[0], 1);
    sp_onnx_id y = sp__onnx_out_op(o, "CumSum", 2, (sp_onnx_id[]){x, sp__onnx_out_whole(o, SP_DTYPE_I64, axis)},
                                   "exclusive=%d, reverse=%d", (int)sp__onnx_out_int(o, "exclusive"),
                                   (int)sp__onnx_out_int(o, "reverse"));
    o->out[0] = rank ? y : sp__onnx_out_reshape(o, y, 0, NULL);
}

/* By the definition: all prefixes at once, (.., n, n): element k counts for output i when it is before. */
typedef struct {
    int64_t n;
    bool exclusive, reverse;
} prefix;

static double in_prefix(const void *context, int64_t i)
{
    const prefix *p = context;
    int64_t row = i / p->n, column = i % p->n;
    return p->reverse ? (p->exclusive ? column > row : column >= row) : p->exclusive ? column < row : column <= row;
}

/* (.., 1, n) with the axis last, and a mask (n, n) of what counts. */
static sp_onnx_id prefixes(sp_onnx_out *o, int rank, int axis, sp_onnx_id *mask)
{
    prefix p = {rank ? sp__onnx_out_fixed(o, 0, axis) : 1, sp__onnx_out_int(o, "exclusive"),
                sp__onnx_out_int(o, "reverse")};
    int64_t perm[SP_RANK_MAX];
    for (int k = 0; k < rank; k++) perm[k] = k == rank - 1 ? axis : k < axis ? k : k + 1;
    sp_onnx_id x = rank ? sp__onnx_out_transpose(o, o->in[0], rank, perm) : SP_ONNX_OUT_RESHAPE(o, o->in[0], 1);
    *mask = sp__onnx_out_table(o, SP_DTYPE_BOOL, 2, (int64_t[]){p.n, p.n}, in_prefix, &p);
    return sp__onnx_out_unsqueeze(o, x, -2);
}

static sp_onnx_id axis_back(sp_onnx_out *o, sp_onnx_id x, int rank, int axis)
{
    int64_t perm[SP_RANK_MAX];
    for (int k = 0; k < rank; k++) perm[k] = k < axis ? k : k == axis ? rank - 1 : k - 1;
    return rank ? sp__onnx_out_transpose(o, x, rank, perm) : sp__onnx_out_reshape(o, x, 0, NULL);
}

static void write_scan_prod(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank, axis = rank ? sp__onnx_out_axis(o, "axis", rank) : 0;
    sp_onnx_id mask, x = prefixes(o, rank, axis, &mask);
    sp_onnx_id each = sp__onnx_out_where(o, mask, x, sp__onnx_out_scalar(o, sp__onnx_out_meta(o, 0)->dtype, 1));
    o->out[0] = axis_back(o, sp__onnx_out_reduce(o, "ReduceProd", each, 1, (int64_t[]){-1}, false), rank, axis);
}

static void write_scan_logsumexp(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank, axis = rank ? sp__onnx_out_axis(o, "axis", rank) : 0;
    int64_t last[1] = {-1};
    sp_onnx_id mask, x = prefixes(o, rank, axis, &mask);
    sp_onnx_id each = sp__onnx_out_where(o, mask, x, sp__onnx_out_scalar(o, sp__onnx_out_meta(o, 0)->dtype, -1e30));
    sp_onnx_id top = sp__onnx_out_reduce(o, "ReduceMax", each, 1, last, true);
    sp_onnx_id sum =
        sp__onnx_out_reduce(o, "ReduceSum", SP_ONNX_OUT(o, "Exp", NULL, sp__onnx_out_sub(o, each, top)), 1, last, true);
    sp_onnx_id y = SP_ONNX_OUT(o, "Squeeze", NULL, sp__onnx_out_add(o, SP_ONNX_OUT(o, "Log", NULL, sum), top),
                               SP_ONNX_OUT_INTS(o, -1));
    o->out[0] = axis_back(o, y, rank, axis);
}

/* Of equal elements the later one counts. */
static void write_cumulative(sp_onnx_out *o)
{
    bool max = o->node->op == &sp_op_cummax;
    int rank = sp__onnx_out_meta(o, 0)->rank, axis = rank ? sp__onnx_out_axis(o, "axis", rank) : 0;
    sp_dtype d = sp__onnx_out_meta(o, 0)->dtype;
    int64_t last[1] = {-1};
    sp_onnx_id mask, x = prefixes(o, rank, axis, &mask);
    bool is_float = sp_dtype_kind(d) == 'f';
    double worst = is_float ? (max ? (double)-INFINITY : (double)INFINITY) : max ? -2147483648.0 : 2147483647.0;
    sp_onnx_id each = sp__onnx_out_where(o, mask, is_float ? x : sp__onnx_out_cast(o, x, SP_DTYPE_I32),
                                         sp__onnx_out_number(o, worst));
    sp_onnx_id best = sp__onnx_out_reduce(o, max ? "ReduceMax" : "ReduceMin", each, 1, last, true);
    sp_onnx_id hit = SP_ONNX_OUT(o, "And", NULL, SP_ONNX_OUT(o, "Equal", NULL, each, best), mask);
    int64_t n = rank ? sp__onnx_out_meta(o, 0)->dims[axis] : 1;
    sp_onnx_id places = sp__onnx_out_where(o, hit, sp__onnx_out_table(o, SP_DTYPE_I64, 1, &n, sp__onnx_out_count, NULL),
                                           sp__onnx_out_whole(o, SP_DTYPE_I64, -1));
    o->out[0] = axis_back(o, SP_ONNX_OUT(o, "Squeeze", NULL, best, SP_ONNX_OUT_INTS(o, -1)), rank, axis);
    o->out[1] = axis_back(o, sp__onnx_out_reduce(o, "ReduceMax", places, 1, last, false), rank, axis);
}

/* --- order ------------------------------------------------------------------------------------------------------- */

static void top(sp_onnx_out *o, sp_onnx_id x, sp_onnx_id k, int axis, bool largest, sp_onnx_id *out)
{
    sp__onnx_out_op_many(o, "TopK", 2, (sp_onnx_id[]){x, k}, 2, out, "axis=%d, largest=%d, sorted=1", axis, largest);
}

static void write_sort(sp_onnx_out *o)
{
    const sp_value *x = o->node->in[0];
    int rank = x->meta.rank, axis = rank ? sp__onnx_out_axis(o, "axis", rank) : 0;
    if (rank == 0) {
        o->out[0] = o->in[0];
        o->out[1] = sp__onnx_out_whole(o, SP_DTYPE_I64, 0);
        return;
    }
    sp_onnx_id k =
        sp__onnx_out_open(o, x, axis)
            ? SP_ONNX_OUT(o, "Gather", NULL, SP_ONNX_OUT(o, "Shape", NULL, o->in[0]), SP_ONNX_OUT_INTS(o, axis))
            : SP_ONNX_OUT_INTS(o, x->meta.dims[axis]);
    top(o, o->in[0], k, axis, sp__onnx_out_int(o, "descending"), o->out);
}

static void write_topk(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank;
    top(o, o->in[0], SP_ONNX_OUT_INTS(o, sp__onnx_out_int(o, "k")), sp__onnx_out_axis(o, "axis", rank),
        sp__onnx_out_int(o, "largest"), o->out);
}

/* The lower of two in the middle. */
static void write_median(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank, axis = rank ? sp__onnx_out_axis(o, "axis", rank) : 0;
    if (rank == 0) {
        o->out[0] = o->in[0];
        o->out[1] = sp__onnx_out_whole(o, SP_DTYPE_I64, 0);
        return;
    }
    if (sp__onnx_out_int(o, "ignore_nan")) {
        sp__onnx_out_fail(o, sp__fail(SP_DECLINED, "a median that passes over NaN has no counterpart in ONNX"));
        return;
    }
    int64_t n = sp__onnx_out_fixed(o, 0, axis);
    sp_onnx_id out[2], at = sp__onnx_out_whole(o, SP_DTYPE_I64, (n - 1) / 2);
    top(o, o->in[0], SP_ONNX_OUT_INTS(o, n), axis, false, out);
    for (int i = 0; i < 2; i++) {
        o->out[i] = sp__onnx_out_op(o, "Gather", 2, (sp_onnx_id[]){out[i], at}, "axis=%d", axis);
        if (sp__onnx_out_int(o, "keepdims")) o->out[i] = sp__onnx_out_unsqueeze(o, o->out[i], axis);
    }
}

static void write_unique(sp_onnx_out *o)
{
    sp_onnx_id out[4], flat = SP_ONNX_OUT_RESHAPE(o, o->in[0], -1);
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    int64_t count = 1;
    for (int k = 0; k < x->rank; k++) count *= x->dims[k];
    if (sp__onnx_out_int(o, "consecutive") || count == 0) {
        /* an element begins a group when it differs from the one before */
        sp__onnx_out_fix(o, 0);
        if (count == 0) {
            o->out[0] = o->in[0];
            o->out[1] = o->out[2] = sp__onnx_out_ints(o, 0, NULL);
            return;
        }
        int64_t zero[1] = {0}, one[1] = {1}, most[1] = {INT64_MAX}, before_last[1] = {-1};
        sp_onnx_id later = sp__onnx_out_slice(o, flat, 1, one, most, zero, NULL),
                   earlier = sp__onnx_out_slice(o, flat, 1, zero, before_last, zero, NULL);
        sp_onnx_id changes = SP_ONNX_OUT(o, "Not", NULL, SP_ONNX_OUT(o, "Equal", NULL, later, earlier));
        sp_onnx_id first = sp__onnx_out_table(o, SP_DTYPE_BOOL, 1, one, sp__onnx_out_zero, NULL);
        sp_onnx_id starts = SP_ONNX_OUT(o, "Concat", "axis=0", SP_ONNX_OUT(o, "Not", NULL, first), changes);
        sp_onnx_id places = SP_ONNX_OUT_RESHAPE(o, SP_ONNX_OUT(o, "NonZero", NULL, starts), -1);
        sp_onnx_id number = SP_ONNX_OUT(o, "CumSum", NULL, sp__onnx_out_cast(o, starts, SP_DTYPE_I64),
                                        sp__onnx_out_whole(o, SP_DTYPE_I64, 0));
        sp_onnx_id next = SP_ONNX_OUT(o, "Concat", "axis=0", sp__onnx_out_slice(o, places, 1, one, most, zero, NULL),
                                      SP_ONNX_OUT_INTS(o, count));
        o->out[0] = SP_ONNX_OUT(o, "Gather", "axis=0", flat, places);
        o->out[1] = sp__onnx_out_reshape(o, sp__onnx_out_sub(o, number, sp__onnx_out_whole(o, SP_DTYPE_I64, 1)),
                                         x->rank, x->dims);
        o->out[2] = sp__onnx_out_sub(o, next, places);
        return;
    }
    sp__onnx_out_op_many(o, "Unique", 1, &flat, 4, out, "sorted=%d", (int)sp__onnx_out_int(o, "sorted"));
    o->out[0] = out[0];
    o->out[1] = SP_ONNX_OUT(o, "Reshape", NULL, out[2], SP_ONNX_OUT(o, "Shape", NULL, o->in[0]));
    o->out[2] = out[3];
}

/* How many elements of the row are less than (or equal to) each value. */
static void write_searchsorted(sp_onnx_out *o)
{
    bool right = sp__onnx_out_int(o, "right"), shared = sp__onnx_out_meta(o, 0)->rank == 1;
    sp_onnx_id values = sp__onnx_out_unsqueeze(o, o->in[1], -1),
               row = shared ? o->in[0] : sp__onnx_out_unsqueeze(o, o->in[0], -2);
    sp_onnx_id less = SP_ONNX_OUT(o, right ? "LessOrEqual" : "Less", NULL, row, values);
    o->out[0] =
        sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_cast(o, less, SP_DTYPE_I64), 1, (int64_t[]){-1}, false);
}

/* --- counts ------------------------------------------------------------------------------------------------------ */

/* As many as the largest number asks for: Range makes the places. */
static void write_bincount(sp_onnx_out *o)
{
    sp_onnx_id x = sp__onnx_out_cast(o, o->in[0], SP_DTYPE_I64), one = sp__onnx_out_whole(o, SP_DTYPE_I64, 1),
               zero = sp__onnx_out_whole(o, SP_DTYPE_I64, 0);
    sp_onnx_id most = sp__onnx_out_add(o, sp__onnx_out_reduce(o, "ReduceMax", x, -1, NULL, false), one);
    sp_onnx_id n =
        SP_ONNX_OUT(o, "Max", NULL, most, sp__onnx_out_whole(o, SP_DTYPE_I64, sp__onnx_out_int(o, "minlength")));
    sp_onnx_id range = SP_ONNX_OUT(o, "Range", NULL, zero, n, one);
    sp_onnx_id hit =
        sp__onnx_out_cast(o, SP_ONNX_OUT(o, "Equal", NULL, sp__onnx_out_unsqueeze(o, x, 1), range), SP_DTYPE_F64);
    if (o->in[1])
        hit = sp__onnx_out_mul(o, hit, sp__onnx_out_unsqueeze(o, sp__onnx_out_cast(o, o->in[1], SP_DTYPE_F64), 1));
    o->out[0] = sp__onnx_out_reduce(o, "ReduceSum", hit, 1, (int64_t[]){0}, false);
}

static void write_histc(sp_onnx_out *o)
{
    double low = sp__onnx_out_float(o, "min"), high = sp__onnx_out_float(o, "max");
    int64_t bins = sp__onnx_out_int(o, "bins");
    sp_onnx_id x = sp__onnx_out_cast(o, SP_ONNX_OUT_RESHAPE(o, o->in[0], -1), SP_DTYPE_F64),
               from = sp__onnx_out_scalar(o, SP_DTYPE_F64, low), to = sp__onnx_out_scalar(o, SP_DTYPE_F64, high);
    if (low == high) {
        from = sp__onnx_out_reduce(o, "ReduceMin", x, -1, NULL, false);
        to = sp__onnx_out_reduce(o, "ReduceMax", x, -1, NULL, false);
        sp_onnx_id one =
            sp__onnx_out_where(o, SP_ONNX_OUT(o, "Equal", NULL, from, to), sp__onnx_out_scalar(o, SP_DTYPE_F64, 1),
                               sp__onnx_out_scalar(o, SP_DTYPE_F64, 0));
        from = sp__onnx_out_sub(o, from, one);
        to = sp__onnx_out_add(o, to, one);
    }
    sp_onnx_id inside = SP_ONNX_OUT(o, "And", NULL, SP_ONNX_OUT(o, "GreaterOrEqual", NULL, x, from),
                                    SP_ONNX_OUT(o, "LessOrEqual", NULL, x, to));
    sp_onnx_id place = SP_ONNX_OUT(
        o, "Floor", NULL,
        sp__onnx_out_mul(o, sp__onnx_out_div(o, sp__onnx_out_sub(o, x, from), sp__onnx_out_sub(o, to, from)),
                         sp__onnx_out_number(o, (double)bins)));
    place = sp__onnx_out_cast(
        o, SP_ONNX_OUT(o, "Min", NULL, place, sp__onnx_out_scalar(o, SP_DTYPE_F64, (double)bins - 1)), SP_DTYPE_I64);
    sp_onnx_id hit = SP_ONNX_OUT(o, "Equal", NULL, sp__onnx_out_unsqueeze(o, place, 1),
                                 sp__onnx_out_table(o, SP_DTYPE_I64, 1, &bins, sp__onnx_out_count, NULL));
    hit = sp__onnx_out_cast(o, SP_ONNX_OUT(o, "And", NULL, hit, sp__onnx_out_unsqueeze(o, inside, 1)), SP_DTYPE_I64);
    o->out[0] = sp__onnx_out_reduce(o, "ReduceSum", hit, 1, (int64_t[]){0}, false);
}

/* --- random numbers ---------------------------------------------------------------------------------------------- */

/* ONNX's generators have a seed of their own: numbers of the same distribution, not the same numbers. */
static sp_onnx_id draw(sp_onnx_out *o, const char *op, const sp_meta *shape, const char *attrs)
{
    char text[256];
    int used = snprintf(text, sizeof text, "%s, shape=[", attrs);
    for (int k = 0; k < shape->rank; k++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%lld,", (long long)shape->dims[k]);
    if (shape->rank == 0) used += snprintf(text + used, sizeof text - (size_t)used, "1");
    snprintf(text + used, sizeof text - (size_t)used, "]");
    sp_onnx_id v = sp__onnx_out_op(o, op, 0, NULL, "%s", text);
    return shape->rank ? v : sp__onnx_out_reshape(o, v, 0, NULL);
}

static sp_onnx_id uniform(sp_onnx_out *o, const sp_meta *shape, double low, double high)
{
    char text[96];
    sp__snprintf(text, sizeof text, "low=%.9ge0, high=%.9ge0", low, high);
    return draw(o, "RandomUniform", shape, text);
}

static void write_random_uniform(sp_onnx_out *o)
{
    o->out[0] = uniform(o, sp__onnx_out_result(o, 0), sp__onnx_out_float(o, "low"), sp__onnx_out_float(o, "high"));
}

static void write_random_normal(sp_onnx_out *o)
{
    char text[96];
    sp__snprintf(text, sizeof text, "mean=%.9ge0, scale=%.9ge0", sp__onnx_out_float(o, "mean"),
                 sp__onnx_out_float(o, "std"));
    o->out[0] = draw(o, "RandomNormal", sp__onnx_out_result(o, 0), text);
}

static void write_random_int(sp_onnx_out *o)
{
    o->out[0] = SP_ONNX_OUT(
        o, "Floor", NULL,
        uniform(o, sp__onnx_out_result(o, 0), (double)sp__onnx_out_int(o, "low"), (double)sp__onnx_out_int(o, "high")));
}

static void write_random_bits(sp_onnx_out *o)
{
    sp_onnx_id high = SP_ONNX_OUT(o, "Floor", NULL, uniform(o, sp__onnx_out_result(o, 0), 0, 65536)),
               low = SP_ONNX_OUT(o, "Floor", NULL, uniform(o, sp__onnx_out_result(o, 0), 0, 65536));
    sp_onnx_id wide =
        sp__onnx_out_mul(o, sp__onnx_out_cast(o, high, SP_DTYPE_I64), sp__onnx_out_whole(o, SP_DTYPE_I64, 65536));
    o->out[0] = sp__onnx_out_add(o, wide, sp__onnx_out_cast(o, low, SP_DTYPE_I64));
}

/* Orders of random keys; weighted ones by the logarithm of an exponential, which is a draw without repetition. */
static void write_random_permutation(sp_onnx_out *o)
{
    const sp_meta *r = sp__onnx_out_result(o, 0);
    sp_onnx_id out[2];
    if (r->dims[0] == 0) o->out[0] = sp__onnx_out_ints(o, 0, NULL);
    else {
        top(o, uniform(o, r, 0, 1), SP_ONNX_OUT_INTS(o, r->dims[0]), 0, true, out);
        o->out[0] = out[1];
    }
}

static void write_random_multinomial(sp_onnx_out *o)
{
    const sp_meta *w = sp__onnx_out_meta(o, 1);
    int64_t n = sp__onnx_out_int(o, "n"), classes = w->dims[w->rank - 1];
    sp_meta keys = {.dtype = SP_DTYPE_F32, .rank = w->rank + 1};
    bool again = sp__onnx_out_int(o, "replacement");
    for (int k = 0; k < w->rank - 1; k++) keys.dims[k] = w->dims[k];
    keys.dims[w->rank - 1] = again ? n : 1;
    keys.dims[w->rank] = classes;
    sp_onnx_id race =
        sp__onnx_out_div(o, SP_ONNX_OUT(o, "Neg", NULL, SP_ONNX_OUT(o, "Log", NULL, uniform(o, &keys, 1e-7, 1))),
                         sp__onnx_out_unsqueeze(o, sp__onnx_out_cast(o, o->in[1], SP_DTYPE_F32), -2));
    if (again) o->out[0] = SP_ONNX_OUT(o, "ArgMin", "axis=-1, keepdims=0", race);
    else {
        sp_onnx_id out[2];
        top(o, SP_ONNX_OUT(o, "Squeeze", NULL, race, SP_ONNX_OUT_INTS(o, -2)), SP_ONNX_OUT_INTS(o, n), -1, false, out);
        o->out[0] = out[1];
    }
}

#define OTHER_NUMBERS "random numbers: ONNX has generators of its own"

const sp_onnx_out_rule sp__onnx_out_order[] = {
    SP_ONNX_OUT_CODE("reduce_sum", write_reduce),
    SP_ONNX_OUT_CODE("reduce_mean", write_reduce),
    SP_ONNX_OUT_CODE("reduce_prod", write_reduce),
    SP_ONNX_OUT_CODE("reduce_max", write_reduce),
    SP_ONNX_OUT_CODE("reduce_min", write_reduce),
    SP_ONNX_OUT_CODE("reduce_all", write_reduce),
    SP_ONNX_OUT_CODE("reduce_any", write_reduce),
    SP_ONNX_OUT_CODE("max_with_index", write_extreme),
    SP_ONNX_OUT_CODE("min_with_index", write_extreme),
    SP_ONNX_OUT_CODE("scan_sum", write_scan_sum),
    SP_ONNX_OUT_CODE("scan_prod", write_scan_prod),
    SP_ONNX_OUT_CODE("scan_logsumexp", write_scan_logsumexp),
    SP_ONNX_OUT_CODE("cummax", write_cumulative),
    SP_ONNX_OUT_CODE("cummin", write_cumulative),
    SP_ONNX_OUT_CODE("sort", write_sort),
    SP_ONNX_OUT_CODE("topk", write_topk),
    SP_ONNX_OUT_CODE("median", write_median),
    SP_ONNX_OUT_CODE("unique", write_unique),
    SP_ONNX_OUT_CODE("searchsorted", write_searchsorted),
    SP_ONNX_OUT_CODE("bincount", write_bincount),
    SP_ONNX_OUT_CODE("histc", write_histc),
    SP_ONNX_OUT_UNEQUAL("random_uniform", write_random_uniform, OTHER_NUMBERS),
    SP_ONNX_OUT_UNEQUAL("random_normal", write_random_normal, OTHER_NUMBERS),
    SP_ONNX_OUT_UNEQUAL("random_int", write_random_int, OTHER_NUMBERS),
    SP_ONNX_OUT_UNEQUAL("random_bits", write_random_bits, OTHER_NUMBERS),
    SP_ONNX_OUT_UNEQUAL("random_permutation", write_random_permutation, OTHER_NUMBERS),
    SP_ONNX_OUT_UNEQUAL("random_multinomial", write_random_multinomial, OTHER_NUMBERS),
    {.op = NULL},
};
