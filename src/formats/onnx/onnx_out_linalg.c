/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_linalg.c - how operators on matrices are written to ONNX: it has the determinant, the rest is column by column. */
#include <string.h>

#include "formats/onnx/onnx_out_run.h"

enum { COLUMNS_MAX = 256 }; /* written column by column: larger ones would make models of many thousand nodes */

static ox turned(ox_out *o, ox x, int rank)
{
    int64_t perm[SP_RANK_MAX];
    for (int k = 0; k < rank; k++) perm[k] = k;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return sp__ox_transpose(o, x, rank, perm);
}

static double unit(const void *context, int64_t i)
{
    int64_t n = *(const int64_t *)context;
    return i / n == i % n;
}

static bool few_columns(ox_out *o, int64_t n)
{
    if (n > COLUMNS_MAX)
        sp__ox_fail(o, sp__fail(SP_DECLINED, "%s of %lld columns is not written to ONNX, at most %d are",
                                o->node->op->name, (long long)n, COLUMNS_MAX));
    return n <= COLUMNS_MAX;
}

/* Newton's iteration X (2 - A X), which doubles the digits each turn, from a start that always converges. In double precision. */
static void write_inverse(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank;
    int64_t n = sp__ox_fixed(o, 0, rank - 1), rows[1] = {-2}, columns[1] = {-1};
    ox a = sp__ox_cast(o, o->in[0], SP_DTYPE_F64), size = SP_OX(o, "Abs", NULL, a), start[1], end[1], out[2];
    ox by_rows = sp__ox_reduce(o, "ReduceMax", sp__ox_reduce(o, "ReduceSum", size, 1, columns, true), 1, rows, true);
    ox by_columns = sp__ox_reduce(o, "ReduceMax", sp__ox_reduce(o, "ReduceSum", size, 1, rows, true), 1, columns, true);
    ox two = sp__ox_mul(o, sp__ox_table(o, SP_DTYPE_F64, 2, (int64_t[]){n, n}, unit, &n), sp__ox_number(o, 2));
    start[0] = sp__ox_div(o, turned(o, a, rank), sp__ox_mul(o, by_rows, by_columns));
    ox_graph *body = sp__ox_begin(o, "newton", 3);
    if (!body || !sp__ox_ok(o)) return;
    body->in[0] = sp__ox_value(o, NULL, SP_DTYPE_I64);
    body->in[1] = sp__ox_value(o, NULL, SP_DTYPE_BOOL);
    ox x = body->in[2] = sp__ox_value(o, NULL, SP_DTYPE_F64);
    out[0] = body->in[1];
    out[1] = SP_OX(o, "MatMul", NULL, x, sp__ox_sub(o, two, SP_OX(o, "MatMul", NULL, a, x)));
    sp__ox_end(o, body, 2, out);
    sp__ox_loop(o, sp__ox_whole(o, SP_DTYPE_I64, 80), sp__ox_whole(o, SP_DTYPE_BOOL, 1), 1, start, body, end);
    o->out[0] = sp__ox_cast(o, end[0], sp__ox_result(o, 0)->dtype);
}

static void write_slogdet(ox_out *o)
{
    ox d = SP_OX(o, "Det", NULL, o->in[0]);
    o->out[0] = SP_OX(o, "Sign", NULL, d);
    o->out[1] = SP_OX(o, "Log", NULL, SP_OX(o, "Abs", NULL, d));
}

/* Part [from, to) along an axis. */
static ox part(ox_out *o, ox x, int64_t axis, int64_t from, int64_t to)
{
    return sp__ox_slice(o, x, 1, &from, &to, &axis, NULL);
}

/* Column j of L: what is left of A's column, over the root of its diagonal element. */
static void write_cholesky(ox_out *o)
{
    int rank = sp__ox_meta(o, 0)->rank;
    int64_t n = sp__ox_fixed(o, 0, rank - 1);
    ox a = sp__ox_cast(o, o->in[0], SP_DTYPE_F64), l = 0;
    if (!few_columns(o, n)) return;
    for (int64_t j = 0; j < n; j++) {
        ox rest = part(o, a, -1, j, j + 1);
        if (l) rest = sp__ox_sub(o, rest, SP_OX(o, "MatMul", NULL, l, turned(o, part(o, l, -2, j, j + 1), rank)));
        ox scaled = sp__ox_div(o, rest, SP_OX(o, "Sqrt", NULL, part(o, rest, -2, j, j + 1)));
        if (j) { /* nothing above the diagonal */
            ox below = sp__ox_table(o, SP_DTYPE_I64, 2, (int64_t[]){n, 1}, sp__ox_count, NULL);
            scaled = sp__ox_where(o, SP_OX(o, "Less", NULL, below, sp__ox_whole(o, SP_DTYPE_I64, j)),
                                  sp__ox_scalar(o, SP_DTYPE_F64, 0), scaled);
        }
        l = l ? SP_OX(o, "Concat", "axis=-1", l, scaled) : scaled;
    }
    l = sp__ox_cast(o, l, sp__ox_result(o, 0)->dtype);
    o->out[0] = sp__ox_int(o, "upper") ? turned(o, l, rank) : l;
}

/* Householder's reflections, with LAPACK's signs: column j onto its axis, away from where it points. */
static void write_qr(ox_out *o)
{
    const sp_meta *x = sp__ox_meta(o, 0);
    int rank = x->rank;
    int64_t m = sp__ox_fixed(o, 0, rank - 2), n = sp__ox_fixed(o, 0, rank - 1), k = m < n ? m : n, rows[1] = {-2},
            kept = sp__ox_int(o, "complete") ? m : k;
    ox r = sp__ox_cast(o, o->in[0], SP_DTYPE_F64), zero = sp__ox_scalar(o, SP_DTYPE_F64, 0),
       one = sp__ox_scalar(o, SP_DTYPE_F64, 1);
    ox q = sp__ox_table(o, SP_DTYPE_F64, 2, (int64_t[]){m, m}, unit, &m),
       places = sp__ox_table(o, SP_DTYPE_I64, 2, (int64_t[]){m, 1}, sp__ox_count, NULL);
    if (!few_columns(o, k)) return;
    if (rank > 2)
        q = sp__ox_add(
            o, q,
            sp__ox_mul(o, sp__ox_reduce(o, "ReduceSum", r, 2, (int64_t[]){-2, -1}, true), zero)); /* one a matrix */
    for (int64_t j = 0; j < k && j < m - 1; j++) {
        ox at = sp__ox_whole(o, SP_DTYPE_I64, j), column = part(o, r, -1, j, j + 1);
        column = sp__ox_where(o, SP_OX(o, "Less", NULL, places, at), zero, column);
        ox first = part(o, column, -2, j, j + 1),
           length = SP_OX(o, "Sqrt", NULL, sp__ox_reduce(o, "ReduceSum", sp__ox_mul(o, column, column), 1, rows, true));
        ox sign = sp__ox_where(o, SP_OX(o, "Less", NULL, first, zero), SP_OX(o, "Neg", NULL, one), one);
        ox v = sp__ox_add(o, column,
                          sp__ox_where(o, SP_OX(o, "Equal", NULL, places, at), sp__ox_mul(o, sign, length), zero));
        ox dot = sp__ox_reduce(o, "ReduceSum", sp__ox_mul(o, v, v), 1, rows, true);
        ox scaled = sp__ox_mul(
               o, v,
               sp__ox_where(o, SP_OX(o, "Greater", NULL, dot, zero), sp__ox_div(o, sp__ox_number(o, 2), dot), zero)),
           vt = turned(o, v, rank);
        r = sp__ox_sub(o, r, SP_OX(o, "MatMul", NULL, scaled, SP_OX(o, "MatMul", NULL, vt, r)));
        q = sp__ox_sub(o, q, SP_OX(o, "MatMul", NULL, SP_OX(o, "MatMul", NULL, q, scaled), vt));
    }
    ox upper =
        SP_OX(o, "LessOrEqual", NULL, places, sp__ox_table(o, SP_DTYPE_I64, 2, (int64_t[]){1, n}, sp__ox_count, NULL));
    o->out[0] = sp__ox_cast(o, part(o, q, -1, 0, kept), x->dtype);
    o->out[1] = sp__ox_cast(o, part(o, sp__ox_where(o, upper, r, zero), -2, 0, kept), x->dtype);
}

/* With a = d (1 + n), d its diagonal and n strictly triangular, the inverse of 1 + n is (1 - n)(1 + n^2)(1 + n^4) ..., as many factors
 * as it takes until the power is nothing. */
static void write_triangular_solve(ox_out *o)
{
    const sp_meta *x = sp__ox_meta(o, 0);
    int rank = x->rank;
    int64_t n = sp__ox_fixed(o, 0, rank - 1), rows[1] = {-1};
    bool transpose = sp__ox_int(o, "transpose"), upper = sp__ox_int(o, "upper");
    ox zero = sp__ox_scalar(o, SP_DTYPE_F64, 0), one = sp__ox_scalar(o, SP_DTYPE_F64, 1),
       a = sp__ox_cast(o, o->in[0], SP_DTYPE_F64);
    ox across = sp__ox_table(o, SP_DTYPE_I64, 2, (int64_t[]){1, n}, sp__ox_count, NULL),
       down = sp__ox_table(o, SP_DTYPE_I64, 2, (int64_t[]){n, 1}, sp__ox_count, NULL);
    ox unit_matrix = sp__ox_table(o, SP_DTYPE_F64, 2, (int64_t[]){n, n}, unit, &n);
    ox inside = upper ? SP_OX(o, "Less", NULL, down, across) : SP_OX(o, "Less", NULL, across, down);
    ox strict = sp__ox_where(o, inside, a, zero);
    ox diagonal = sp__ox_int(o, "unit")
                      ? sp__ox_add(o, sp__ox_mul(o, sp__ox_reduce(o, "ReduceSum", a, 1, rows, true), zero), one)
                      : sp__ox_reduce(o, "ReduceSum", sp__ox_mul(o, a, unit_matrix), 1, rows, true);
    if (transpose) strict = turned(o, strict, rank);
    /* a = d (1 + n) by rows; transposed: (1 + n)^T d, n taken by columns */
    ox power = transpose ? sp__ox_div(o, strict, turned(o, diagonal, rank)) : sp__ox_div(o, strict, diagonal);
    ox inverse = sp__ox_sub(o, unit_matrix, power);
    for (int64_t size = 2; size < n; size *= 2) {
        power = SP_OX(o, "MatMul", NULL, power, power);
        inverse = SP_OX(o, "MatMul", NULL, inverse, sp__ox_add(o, unit_matrix, power));
    }
    ox y = sp__ox_cast(o, o->in[1], SP_DTYPE_F64);
    o->out[0] = transpose ? sp__ox_div(o, SP_OX(o, "MatMul", NULL, inverse, y), diagonal)
                          : SP_OX(o, "MatMul", NULL, inverse, sp__ox_div(o, y, diagonal));
}

/* Column by column: the largest element below comes up, its multiples are taken from the rows below. */
static void write_lu(ox_out *o)
{
    const sp_meta *x = sp__ox_meta(o, 0);
    int rank = x->rank;
    int64_t m = sp__ox_fixed(o, 0, rank - 2), n = sp__ox_fixed(o, 0, rank - 1), k = m < n ? m : n, rows[1] = {-2},
            last[1] = {-1};
    ox a = sp__ox_cast(o, o->in[0], SP_DTYPE_F64), zero = sp__ox_scalar(o, SP_DTYPE_F64, 0), pivots[COLUMNS_MAX],
       minus = sp__ox_scalar(o, SP_DTYPE_F64, -1);
    ox down = sp__ox_table(o, SP_DTYPE_I64, 2, (int64_t[]){m, 1}, sp__ox_count, NULL),
       across = sp__ox_table(o, SP_DTYPE_I64, 2, (int64_t[]){1, n}, sp__ox_count, NULL);
    if (!few_columns(o, k)) return;
    for (int64_t j = 0; j < k; j++) {
        ox at = sp__ox_whole(o, SP_DTYPE_I64, j), above = SP_OX(o, "Less", NULL, down, at),
           is_j = SP_OX(o, "Equal", NULL, down, at);
        ox size = sp__ox_where(o, above, minus, SP_OX(o, "Abs", NULL, part(o, a, -1, j, j + 1)));
        ox p = SP_OX(o, "ArgMax", "axis=-2, keepdims=1", size), is_p = SP_OX(o, "Equal", NULL, down, p);
        ox row_p = sp__ox_reduce(o, "ReduceSum", sp__ox_where(o, is_p, a, zero), 1, rows, true),
           row_j = part(o, a, -2, j, j + 1);
        a = sp__ox_where(o, is_j, row_p, sp__ox_where(o, is_p, row_j, a));
        ox pivot = part(o, row_p, -1, j, j + 1), nothing = SP_OX(o, "Equal", NULL, pivot, zero),
           column = part(o, a, -1, j, j + 1);
        ox safe = sp__ox_where(o, nothing, sp__ox_scalar(o, SP_DTYPE_F64, 1), pivot);
        ox factor = sp__ox_where(o, SP_OX(o, "Greater", NULL, down, at), sp__ox_div(o, column, safe), zero);
        ox behind = sp__ox_where(o, SP_OX(o, "Greater", NULL, across, at), row_p, zero);
        ox less = sp__ox_sub(o, a, sp__ox_mul(o, factor, behind));
        ox here = SP_OX(o, "And", NULL, SP_OX(o, "Equal", NULL, across, at), SP_OX(o, "Greater", NULL, down, at));
        a = sp__ox_where(o, nothing, a, sp__ox_where(o, here, factor, less));
        pivots[j] = SP_OX(o, "Squeeze", NULL, p, sp__ox_ints(o, 1, last));
    }
    o->out[0] = sp__ox_cast(o, a, x->dtype);
    o->out[1] = sp__ox_cast(o, sp__ox_op(o, "Concat", (int)k, pivots, "axis=-1"), SP_DTYPE_I32);
}

const ox_rule sp__ox_linalg[] = {
    SP_OX_CODE("matrix_inverse", write_inverse),
    SP_OX_CODE("slogdet", write_slogdet),
    SP_OX_CODE("cholesky", write_cholesky),
    SP_OX_CODE("qr", write_qr),
    SP_OX_CODE("triangular_solve", write_triangular_solve),
    SP_OX_CODE("lu", write_lu),
    {.op = NULL},
};
