/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_order.c - how reductions, running values, order, counts and random numbers are written to ONNX. */
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "formats/onnx/onnx_out_run.h"

/* --- reductions -------------------------------------------------------------------------------------------------- */

static void write_reduce(ox_out *o)
{
    static const struct {
        const char *op, *onnx;
    } ops[] = {{"reduce_sum", "ReduceSum"}, {"reduce_mean", "ReduceMean"}, {"reduce_prod", "ReduceProd"},
               {"reduce_max", "ReduceMax"}, {"reduce_min", "ReduceMin"},   {"reduce_all", "ReduceMin"},
               {"reduce_any", "ReduceMax"}};
    const char *op = NULL, *name = o->node->op->name;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].op, name)) op = ops[i].onnx;
    sp_ints axis = sp__ox_list(o, "axis");
    int n = axis.n <= 0 ? -1 : axis.n;
    bool logical = !strcmp(name, "reduce_all") || !strcmp(name, "reduce_any");
    ox x = logical ? sp__ox_cast(o, sp__ox_cast(o, o->in[0], SP_DTYPE_BOOL), SP_DTYPE_I32) : o->in[0];
    if (sp__ox_meta(o, 0)->rank == 0) o->out[0] = x;
    else o->out[0] = sp__ox_reduce(o, op, x, n, axis.v, sp__ox_int(o, "keepdims"));
}

/* Index first, then value. */
static void write_extreme(ox_out *o)
{
    bool max = !strcmp(o->node->op->name, "max_with_index");
    int rank = sp__ox_meta(o, 0)->rank, axis = sp__ox_axis(o, "axis", rank);
    int64_t axes[1] = {axis};
    bool keep = sp__ox_int(o, "keepdims");
    if (rank == 0) {
        o->out[0] = sp__ox_whole(o, SP_DTYPE_I64, 0);
        o->out[1] = o->in[0];
        return;
    }
    o->out[0] = sp__ox_op(o, max ? "ArgMax" : "ArgMin", 1, o->in, "axis=%d, keepdims=%d", axis, keep);
    o->out[1] = sp__ox_reduce(o, max ? "ReduceMax" : "ReduceMin", o->in[0], 1, axes, keep);
}

/* --- running values ---------------------------------------------------------------------------------------------- */

static void write_scan_sum(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank, axis = rank ? sp__ox_axis(o, "axis", rank) : 0;
    ox x = rank ? o->in[0] : SP_OX_RESHAPE(o, o->in[0], 1);
    ox y = sp__ox_op(o, "CumSum", 2, (ox[]){x, sp__ox_whole(o, SP_DTYPE_I64, axis)}, "exclusive=%d, reverse=%d",
                     (int)sp__ox_int(o, "exclusive"), (int)sp__ox_int(o, "reverse"));
    o->out[0] = rank ? y : sp__ox_reshape(o, y, 0, NULL);
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
static ox prefixes(ox_out *o, int rank, int axis, ox *mask)
{
    prefix p = {rank ? sp__ox_fixed(o, 0, axis) : 1, sp__ox_int(o, "exclusive"), sp__ox_int(o, "reverse")};
    int64_t perm[SP_RANK_MAX];
    for (int k = 0; k < rank; k++) perm[k] = k == rank - 1 ? axis : k < axis ? k : k + 1;
    ox x = rank ? sp__ox_transpose(o, o->in[0], rank, perm) : SP_OX_RESHAPE(o, o->in[0], 1);
    *mask = sp__ox_table(o, SP_DTYPE_BOOL, 2, (int64_t[]){p.n, p.n}, in_prefix, &p);
    return sp__ox_unsqueeze(o, x, -2);
}

static ox axis_back(ox_out *o, ox x, int rank, int axis)
{
    int64_t perm[SP_RANK_MAX];
    for (int k = 0; k < rank; k++) perm[k] = k < axis ? k : k == axis ? rank - 1 : k - 1;
    return rank ? sp__ox_transpose(o, x, rank, perm) : sp__ox_reshape(o, x, 0, NULL);
}

static void write_scan_prod(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank, axis = rank ? sp__ox_axis(o, "axis", rank) : 0;
    ox mask, x = prefixes(o, rank, axis, &mask);
    ox each = sp__ox_where(o, mask, x, sp__ox_scalar(o, sp__ox_meta(o, 0)->dtype, 1));
    o->out[0] = axis_back(o, sp__ox_reduce(o, "ReduceProd", each, 1, (int64_t[]){-1}, false), rank, axis);
}

static void write_scan_logsumexp(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank, axis = rank ? sp__ox_axis(o, "axis", rank) : 0;
    int64_t last[1] = {-1};
    ox mask, x = prefixes(o, rank, axis, &mask);
    ox each = sp__ox_where(o, mask, x, sp__ox_scalar(o, sp__ox_meta(o, 0)->dtype, -1e30));
    ox top = sp__ox_reduce(o, "ReduceMax", each, 1, last, true);
    ox sum = sp__ox_reduce(o, "ReduceSum", SP_OX(o, "Exp", NULL, sp__ox_sub(o, each, top)), 1, last, true);
    ox y = SP_OX(o, "Squeeze", NULL, sp__ox_add(o, SP_OX(o, "Log", NULL, sum), top), SP_OX_INTS(o, -1));
    o->out[0] = axis_back(o, y, rank, axis);
}

/* Of equal elements the later one counts. */
static void write_cumulative(ox_out *o)
{
    bool max = !strcmp(o->node->op->name, "cummax");
    int rank = sp__ox_meta(o, 0)->rank, axis = rank ? sp__ox_axis(o, "axis", rank) : 0;
    sp_dtype d = sp__ox_meta(o, 0)->dtype;
    int64_t last[1] = {-1};
    ox mask, x = prefixes(o, rank, axis, &mask);
    bool is_float = sp_dtype_kind(d) == 'f';
    double worst = is_float ? (max ? (double)-INFINITY : (double)INFINITY) : max ? -2147483648.0 : 2147483647.0;
    ox each = sp__ox_where(o, mask, is_float ? x : sp__ox_cast(o, x, SP_DTYPE_I32), sp__ox_number(o, worst));
    ox best = sp__ox_reduce(o, max ? "ReduceMax" : "ReduceMin", each, 1, last, true);
    ox hit = SP_OX(o, "And", NULL, SP_OX(o, "Equal", NULL, each, best), mask);
    int64_t n = rank ? sp__ox_meta(o, 0)->dims[axis] : 1;
    ox places = sp__ox_where(o, hit, sp__ox_table(o, SP_DTYPE_I64, 1, &n, sp__ox_count, NULL),
                             sp__ox_whole(o, SP_DTYPE_I64, -1));
    o->out[0] = axis_back(o, SP_OX(o, "Squeeze", NULL, best, SP_OX_INTS(o, -1)), rank, axis);
    o->out[1] = axis_back(o, sp__ox_reduce(o, "ReduceMax", places, 1, last, false), rank, axis);
}

/* --- order ------------------------------------------------------------------------------------------------------- */

static void top(ox_out *o, ox x, ox k, int axis, bool largest, ox *out)
{
    sp__ox_op_many(o, "TopK", 2, (ox[]){x, k}, 2, out, "axis=%d, largest=%d, sorted=1", axis, largest);
}

static void write_sort(ox_out *o)
{
    const sp_value *x = o->node->in[0];
    int rank = x->meta.rank, axis = rank ? sp__ox_axis(o, "axis", rank) : 0;
    if (rank == 0) {
        o->out[0] = o->in[0];
        o->out[1] = sp__ox_whole(o, SP_DTYPE_I64, 0);
        return;
    }
    ox k = sp__ox_open(o, x, axis) ? SP_OX(o, "Gather", NULL, SP_OX(o, "Shape", NULL, o->in[0]), SP_OX_INTS(o, axis))
                                   : SP_OX_INTS(o, x->meta.dims[axis]);
    top(o, o->in[0], k, axis, sp__ox_int(o, "descending"), o->out);
}

static void write_topk(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank;
    top(o, o->in[0], SP_OX_INTS(o, sp__ox_int(o, "k")), sp__ox_axis(o, "axis", rank), sp__ox_int(o, "largest"), o->out);
}

/* The lower of two in the middle. */
static void write_median(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank, axis = rank ? sp__ox_axis(o, "axis", rank) : 0;
    if (rank == 0) {
        o->out[0] = o->in[0];
        o->out[1] = sp__ox_whole(o, SP_DTYPE_I64, 0);
        return;
    }
    if (sp__ox_int(o, "ignore_nan")) {
        sp__ox_fail(o, sp__fail(SP_DECLINED, "a median that passes over NaN has no counterpart in ONNX"));
        return;
    }
    int64_t n = sp__ox_fixed(o, 0, axis);
    ox out[2], at = sp__ox_whole(o, SP_DTYPE_I64, (n - 1) / 2);
    top(o, o->in[0], SP_OX_INTS(o, n), axis, false, out);
    for (int i = 0; i < 2; i++) {
        o->out[i] = sp__ox_op(o, "Gather", 2, (ox[]){out[i], at}, "axis=%d", axis);
        if (sp__ox_int(o, "keepdims")) o->out[i] = sp__ox_unsqueeze(o, o->out[i], axis);
    }
}

static void write_unique(ox_out *o)
{
    ox out[4], flat = SP_OX_RESHAPE(o, o->in[0], -1);
    const sp_meta *x = sp__ox_meta(o, 0);
    int64_t count = 1;
    for (int k = 0; k < x->rank; k++) count *= x->dims[k];
    if (sp__ox_int(o, "consecutive") || count == 0) {
        /* an element begins a group when it differs from the one before */
        sp__ox_fix(o, 0);
        if (count == 0) {
            o->out[0] = o->in[0];
            o->out[1] = o->out[2] = sp__ox_ints(o, 0, NULL);
            return;
        }
        int64_t zero[1] = {0}, one[1] = {1}, most[1] = {INT64_MAX}, before_last[1] = {-1};
        ox later = sp__ox_slice(o, flat, 1, one, most, zero, NULL),
           earlier = sp__ox_slice(o, flat, 1, zero, before_last, zero, NULL);
        ox changes = SP_OX(o, "Not", NULL, SP_OX(o, "Equal", NULL, later, earlier));
        ox first = sp__ox_table(o, SP_DTYPE_BOOL, 1, one, sp__ox_zero, NULL);
        ox starts = SP_OX(o, "Concat", "axis=0", SP_OX(o, "Not", NULL, first), changes);
        ox places = SP_OX_RESHAPE(o, SP_OX(o, "NonZero", NULL, starts), -1);
        ox number = SP_OX(o, "CumSum", NULL, sp__ox_cast(o, starts, SP_DTYPE_I64), sp__ox_whole(o, SP_DTYPE_I64, 0));
        ox next = SP_OX(o, "Concat", "axis=0", sp__ox_slice(o, places, 1, one, most, zero, NULL), SP_OX_INTS(o, count));
        o->out[0] = SP_OX(o, "Gather", "axis=0", flat, places);
        o->out[1] = sp__ox_reshape(o, sp__ox_sub(o, number, sp__ox_whole(o, SP_DTYPE_I64, 1)), x->rank, x->dims);
        o->out[2] = sp__ox_sub(o, next, places);
        return;
    }
    sp__ox_op_many(o, "Unique", 1, &flat, 4, out, "sorted=%d", (int)sp__ox_int(o, "sorted"));
    o->out[0] = out[0];
    o->out[1] = SP_OX(o, "Reshape", NULL, out[2], SP_OX(o, "Shape", NULL, o->in[0]));
    o->out[2] = out[3];
}

/* How many elements of the row are less than (or equal to) each value. */
static void write_searchsorted(ox_out *o)
{
    bool right = sp__ox_int(o, "right"), shared = sp__ox_meta(o, 0)->rank == 1;
    ox values = sp__ox_unsqueeze(o, o->in[1], -1), row = shared ? o->in[0] : sp__ox_unsqueeze(o, o->in[0], -2);
    ox less = SP_OX(o, right ? "LessOrEqual" : "Less", NULL, row, values);
    o->out[0] = sp__ox_reduce(o, "ReduceSum", sp__ox_cast(o, less, SP_DTYPE_I64), 1, (int64_t[]){-1}, false);
}

/* --- counts ------------------------------------------------------------------------------------------------------ */

/* As many as the largest number asks for: Range makes the places. */
static void write_bincount(ox_out *o)
{
    ox x = sp__ox_cast(o, o->in[0], SP_DTYPE_I64), one = sp__ox_whole(o, SP_DTYPE_I64, 1),
       zero = sp__ox_whole(o, SP_DTYPE_I64, 0);
    ox most = sp__ox_add(o, sp__ox_reduce(o, "ReduceMax", x, -1, NULL, false), one);
    ox n = SP_OX(o, "Max", NULL, most, sp__ox_whole(o, SP_DTYPE_I64, sp__ox_int(o, "minlength")));
    ox range = SP_OX(o, "Range", NULL, zero, n, one);
    ox hit = sp__ox_cast(o, SP_OX(o, "Equal", NULL, sp__ox_unsqueeze(o, x, 1), range), SP_DTYPE_F64);
    if (o->in[1]) hit = sp__ox_mul(o, hit, sp__ox_unsqueeze(o, sp__ox_cast(o, o->in[1], SP_DTYPE_F64), 1));
    o->out[0] = sp__ox_reduce(o, "ReduceSum", hit, 1, (int64_t[]){0}, false);
}

static void write_histc(ox_out *o)
{
    double low = sp__ox_float(o, "min"), high = sp__ox_float(o, "max");
    int64_t bins = sp__ox_int(o, "bins");
    ox x = sp__ox_cast(o, SP_OX_RESHAPE(o, o->in[0], -1), SP_DTYPE_F64), from = sp__ox_scalar(o, SP_DTYPE_F64, low),
       to = sp__ox_scalar(o, SP_DTYPE_F64, high);
    if (low == high) {
        from = sp__ox_reduce(o, "ReduceMin", x, -1, NULL, false);
        to = sp__ox_reduce(o, "ReduceMax", x, -1, NULL, false);
        ox one = sp__ox_where(o, SP_OX(o, "Equal", NULL, from, to), sp__ox_scalar(o, SP_DTYPE_F64, 1),
                              sp__ox_scalar(o, SP_DTYPE_F64, 0));
        from = sp__ox_sub(o, from, one);
        to = sp__ox_add(o, to, one);
    }
    ox inside = SP_OX(o, "And", NULL, SP_OX(o, "GreaterOrEqual", NULL, x, from), SP_OX(o, "LessOrEqual", NULL, x, to));
    ox place = SP_OX(
        o, "Floor", NULL,
        sp__ox_mul(o, sp__ox_div(o, sp__ox_sub(o, x, from), sp__ox_sub(o, to, from)), sp__ox_number(o, (double)bins)));
    place =
        sp__ox_cast(o, SP_OX(o, "Min", NULL, place, sp__ox_scalar(o, SP_DTYPE_F64, (double)bins - 1)), SP_DTYPE_I64);
    ox hit = SP_OX(o, "Equal", NULL, sp__ox_unsqueeze(o, place, 1),
                   sp__ox_table(o, SP_DTYPE_I64, 1, &bins, sp__ox_count, NULL));
    hit = sp__ox_cast(o, SP_OX(o, "And", NULL, hit, sp__ox_unsqueeze(o, inside, 1)), SP_DTYPE_I64);
    o->out[0] = sp__ox_reduce(o, "ReduceSum", hit, 1, (int64_t[]){0}, false);
}

/* --- random numbers ---------------------------------------------------------------------------------------------- */

/* ONNX's generators have a seed of their own: numbers of the same distribution, not the same numbers. */
static ox draw(ox_out *o, const char *op, const sp_meta *shape, const char *attrs)
{
    char text[256];
    int used = snprintf(text, sizeof text, "%s, shape=[", attrs);
    for (int k = 0; k < shape->rank; k++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%lld,", (long long)shape->dims[k]);
    if (shape->rank == 0) used += snprintf(text + used, sizeof text - (size_t)used, "1");
    snprintf(text + used, sizeof text - (size_t)used, "]");
    ox v = sp__ox_op(o, op, 0, NULL, "%s", text);
    return shape->rank ? v : sp__ox_reshape(o, v, 0, NULL);
}

static ox uniform(ox_out *o, const sp_meta *shape, double low, double high)
{
    char text[96];
    sp__snprintf(text, sizeof text, "low=%.9ge0, high=%.9ge0", low, high);
    return draw(o, "RandomUniform", shape, text);
}

static void write_random_uniform(ox_out *o)
{
    o->out[0] = uniform(o, sp__ox_result(o, 0), sp__ox_float(o, "low"), sp__ox_float(o, "high"));
}

static void write_random_normal(ox_out *o)
{
    char text[96];
    sp__snprintf(text, sizeof text, "mean=%.9ge0, scale=%.9ge0", sp__ox_float(o, "mean"), sp__ox_float(o, "std"));
    o->out[0] = draw(o, "RandomNormal", sp__ox_result(o, 0), text);
}

static void write_random_int(ox_out *o)
{
    o->out[0] = SP_OX(o, "Floor", NULL,
                      uniform(o, sp__ox_result(o, 0), (double)sp__ox_int(o, "low"), (double)sp__ox_int(o, "high")));
}

static void write_random_bits(ox_out *o)
{
    ox high = SP_OX(o, "Floor", NULL, uniform(o, sp__ox_result(o, 0), 0, 65536)),
       low = SP_OX(o, "Floor", NULL, uniform(o, sp__ox_result(o, 0), 0, 65536));
    ox wide = sp__ox_mul(o, sp__ox_cast(o, high, SP_DTYPE_I64), sp__ox_whole(o, SP_DTYPE_I64, 65536));
    o->out[0] = sp__ox_add(o, wide, sp__ox_cast(o, low, SP_DTYPE_I64));
}

/* Orders of random keys; weighted ones by the logarithm of an exponential, which is a draw without repetition. */
static void write_random_permutation(ox_out *o)
{
    const sp_meta *r = sp__ox_result(o, 0);
    ox out[2];
    if (r->dims[0] == 0) o->out[0] = sp__ox_ints(o, 0, NULL);
    else {
        top(o, uniform(o, r, 0, 1), SP_OX_INTS(o, r->dims[0]), 0, true, out);
        o->out[0] = out[1];
    }
}

static void write_random_multinomial(ox_out *o)
{
    const sp_meta *w = sp__ox_meta(o, 1);
    int64_t n = sp__ox_int(o, "n"), classes = w->dims[w->rank - 1];
    sp_meta keys = {.dtype = SP_DTYPE_F32, .rank = w->rank + 1};
    bool again = sp__ox_int(o, "replacement");
    for (int k = 0; k < w->rank - 1; k++) keys.dims[k] = w->dims[k];
    keys.dims[w->rank - 1] = again ? n : 1;
    keys.dims[w->rank] = classes;
    ox race = sp__ox_div(o, SP_OX(o, "Neg", NULL, SP_OX(o, "Log", NULL, uniform(o, &keys, 1e-7, 1))),
                         sp__ox_unsqueeze(o, sp__ox_cast(o, o->in[1], SP_DTYPE_F32), -2));
    if (again) o->out[0] = SP_OX(o, "ArgMin", "axis=-1, keepdims=0", race);
    else {
        ox out[2];
        top(o, SP_OX(o, "Squeeze", NULL, race, SP_OX_INTS(o, -2)), SP_OX_INTS(o, n), -1, false, out);
        o->out[0] = out[1];
    }
}

#define OTHER_NUMBERS "random numbers: ONNX has generators of its own"

const ox_rule sp__ox_order[] = {
    SP_OX_CODE("reduce_sum", write_reduce),
    SP_OX_CODE("reduce_mean", write_reduce),
    SP_OX_CODE("reduce_prod", write_reduce),
    SP_OX_CODE("reduce_max", write_reduce),
    SP_OX_CODE("reduce_min", write_reduce),
    SP_OX_CODE("reduce_all", write_reduce),
    SP_OX_CODE("reduce_any", write_reduce),
    SP_OX_CODE("max_with_index", write_extreme),
    SP_OX_CODE("min_with_index", write_extreme),
    SP_OX_CODE("scan_sum", write_scan_sum),
    SP_OX_CODE("scan_prod", write_scan_prod),
    SP_OX_CODE("scan_logsumexp", write_scan_logsumexp),
    SP_OX_CODE("cummax", write_cumulative),
    SP_OX_CODE("cummin", write_cumulative),
    SP_OX_CODE("sort", write_sort),
    SP_OX_CODE("topk", write_topk),
    SP_OX_CODE("median", write_median),
    SP_OX_CODE("unique", write_unique),
    SP_OX_CODE("searchsorted", write_searchsorted),
    SP_OX_CODE("bincount", write_bincount),
    SP_OX_CODE("histc", write_histc),
    SP_OX_UNEQUAL("random_uniform", write_random_uniform, OTHER_NUMBERS),
    SP_OX_UNEQUAL("random_normal", write_random_normal, OTHER_NUMBERS),
    SP_OX_UNEQUAL("random_int", write_random_int, OTHER_NUMBERS),
    SP_OX_UNEQUAL("random_bits", write_random_bits, OTHER_NUMBERS),
    SP_OX_UNEQUAL("random_permutation", write_random_permutation, OTHER_NUMBERS),
    SP_OX_UNEQUAL("random_multinomial", write_random_multinomial, OTHER_NUMBERS),
    {.op = NULL},
};
