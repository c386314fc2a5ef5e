/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_linalg.c - how operators on matrices are written to ONNX: it has the determinant, the rest is column by column. */
#include <string.h>

#include "formats/onnx/onnx_out_run.h"

enum { COLUMNS_MAX = 256 }; /* written column by column: larger ones would make models of many thousand nodes */

static sp_onnx_id turned(sp_onnx_out *o, sp_onnx_id x, int rank)
{
    int64_t perm[SP_RANK_MAX];
    for (int k = 0; k < rank; k++) perm[k] = k;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return sp__onnx_out_transpose(o, x, rank, perm);
}

static double unit(const void *context, int64_t i)
{
    int64_t n = *(const int64_t *)context;
    return i / n == i % n;
}

static bool few_columns(sp_onnx_out *o, int64_t n)
{
    if (n > COLUMNS_MAX)
        sp__onnx_out_fail(o, sp__fail(SP_DECLINED, "%s of %lld columns is not written to ONNX, at most %d are",
                                      o->node->op->name, (long long)n, COLUMNS_MAX));
    return n <= COLUMNS_MAX;
}

/* Newton's iteration X (2 - A X), which doubles the digits each turn, from a start that always converges. In double precision. */
static void write_inverse(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank;
    int64_t n = sp__onnx_out_fixed(o, 0, rank - 1), rows[1] = {-2}, columns[1] = {-1};
    sp_onnx_id a = sp__onnx_out_cast(o, o->in[0], SP_DTYPE_F64), size = SP_ONNX_OUT(o, "Abs", NULL, a), start[1],
               end[1], out[2];
    sp_onnx_id by_rows =
        sp__onnx_out_reduce(o, "ReduceMax", sp__onnx_out_reduce(o, "ReduceSum", size, 1, columns, true), 1, rows, true);
    sp_onnx_id by_columns =
        sp__onnx_out_reduce(o, "ReduceMax", sp__onnx_out_reduce(o, "ReduceSum", size, 1, rows, true), 1, columns, true);
    sp_onnx_id two = sp__onnx_out_mul(o, sp__onnx_out_table(o, SP_DTYPE_F64, 2, (int64_t[]){n, n}, unit, &n),
                                      sp__onnx_out_number(o, 2));
    start[0] = sp__onnx_out_div(o, turned(o, a, rank), sp__onnx_out_mul(o, by_rows, by_columns));
    sp_onnx_out_graph *body = sp__onnx_out_begin(o, "newton", 3);
    if (!body || !sp__onnx_out_ok(o)) return;
    body->in[0] = sp__onnx_out_value(o, NULL, SP_DTYPE_I64);
    body->in[1] = sp__onnx_out_value(o, NULL, SP_DTYPE_BOOL);
    sp_onnx_id x = body->in[2] = sp__onnx_out_value(o, NULL, SP_DTYPE_F64);
    out[0] = body->in[1];
    out[1] = SP_ONNX_OUT(o, "MatMul", NULL, x, sp__onnx_out_sub(o, two, SP_ONNX_OUT(o, "MatMul", NULL, a, x)));
    sp__onnx_out_end(o, body, 2, out);
    sp__onnx_out_loop(o, sp__onnx_out_whole(o, SP_DTYPE_I64, 80), sp__onnx_out_whole(o, SP_DTYPE_BOOL, 1), 1, start,
                      body, end);
    o->out[0] = sp__onnx_out_cast(o, end[0], sp__onnx_out_result(o, 0)->dtype);
}

static void write_slogdet(sp_onnx_out *o)
{
    sp_onnx_id d = SP_ONNX_OUT(o, "Det", NULL, o->in[0]);
    o->out[0] = SP_ONNX_OUT(o, "Sign", NULL, d);
    o->out[1] = SP_ONNX_OUT(o, "Log", NULL, SP_ONNX_OUT(o, "Abs", NULL, d));
}

/* Part [from, to) along an axis. */
static sp_onnx_id part(sp_onnx_out *o, sp_onnx_id x, int64_t axis, int64_t from, int64_t to)
{
    return sp__onnx_out_slice(o, x, 1, &from, &to, &axis, NULL);
}

/* Column j of L: what is left of A's column, over the root of its diagonal element. */
static void write_cholesky(sp_onnx_out *o)
{
    int rank = sp__onnx_out_meta(o, 0)->rank;
    int64_t n = sp__onnx_out_fixed(o, 0, rank - 1);
    sp_onnx_id a = sp__onnx_out_cast(o, o->in[0], SP_DTYPE_F64), l = 0;
    if (!few_columns(o, n)) return;
    for (int64_t j = 0; j < n; j++) {
        sp_onnx_id rest = part(o, a, -1, j, j + 1);
        if (l)
            rest =
                sp__onnx_out_sub(o, rest, SP_ONNX_OUT(o, "MatMul", NULL, l, turned(o, part(o, l, -2, j, j + 1), rank)));
        sp_onnx_id scaled = sp__onnx_out_div(o, rest, SP_ONNX_OUT(o, "Sqrt", NULL, part(o, rest, -2, j, j + 1)));
        if (j) { /* nothing above the diagonal */
            sp_onnx_id below = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){n, 1}, sp__onnx_out_count, NULL);
            scaled = sp__onnx_out_where(o, SP_ONNX_OUT(o, "Less", NULL, below, sp__onnx_out_whole(o, SP_DTYPE_I64, j)),
                                        sp__onnx_out_scalar(o, SP_DTYPE_F64, 0), scaled);
        }
        l = l ? SP_ONNX_OUT(o, "Concat", "axis=-1", l, scaled) : scaled;
    }
    l = sp__onnx_out_cast(o, l, sp__onnx_out_result(o, 0)->dtype);
    o->out[0] = sp__onnx_out_int(o, "upper") ? turned(o, l, rank) : l;
}

/* Householder's reflections, with LAPACK's signs: column j onto its axis, away from where it points. */
static void write_qr(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    int rank = x->rank;
    int64_t m = sp__onnx_out_fixed(o, 0, rank - 2), n = sp__onnx_out_fixed(o, 0, rank - 1), k = m < n ? m : n,
            rows[1] = {-2}, kept = sp__onnx_out_int(o, "complete") ? m : k;
    sp_onnx_id r = sp__onnx_out_cast(o, o->in[0], SP_DTYPE_F64), zero = sp__onnx_out_scalar(o, SP_DTYPE_F64, 0),
               one = sp__onnx_out_scalar(o, SP_DTYPE_F64, 1);
    sp_onnx_id q = sp__onnx_out_table(o, SP_DTYPE_F64, 2, (int64_t[]){m, m}, unit, &m),
               places = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){m, 1}, sp__onnx_out_count, NULL);
    if (!few_columns(o, k)) return;
    if (rank > 2)
        q = sp__onnx_out_add(o, q,
                             sp__onnx_out_mul(o, sp__onnx_out_reduce(o, "ReduceSum", r, 2, (int64_t[]){-2, -1}, true),
                                              zero)); /* one a matrix */
    for (int64_t j = 0; j < k && j < m - 1; j++) {
        sp_onnx_id at = sp__onnx_out_whole(o, SP_DTYPE_I64, j), column = part(o, r, -1, j, j + 1);
        column = sp__onnx_out_where(o, SP_ONNX_OUT(o, "Less", NULL, places, at), zero, column);
        sp_onnx_id first = part(o, column, -2, j, j + 1),
                   length = SP_ONNX_OUT(
                       o, "Sqrt", NULL,
                       sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_mul(o, column, column), 1, rows, true));
        sp_onnx_id sign =
            sp__onnx_out_where(o, SP_ONNX_OUT(o, "Less", NULL, first, zero), SP_ONNX_OUT(o, "Neg", NULL, one), one);
        sp_onnx_id v = sp__onnx_out_add(
            o, column,
            sp__onnx_out_where(o, SP_ONNX_OUT(o, "Equal", NULL, places, at), sp__onnx_out_mul(o, sign, length), zero));
        sp_onnx_id dot = sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_mul(o, v, v), 1, rows, true);
        sp_onnx_id scaled =
                       sp__onnx_out_mul(o, v,
                                        sp__onnx_out_where(o, SP_ONNX_OUT(o, "Greater", NULL, dot, zero),
                                                           sp__onnx_out_div(o, sp__onnx_out_number(o, 2), dot), zero)),
                   vt = turned(o, v, rank);
        r = sp__onnx_out_sub(o, r, SP_ONNX_OUT(o, "MatMul", NULL, scaled, SP_ONNX_OUT(o, "MatMul", NULL, vt, r)));
        q = sp__onnx_out_sub(o, q, SP_ONNX_OUT(o, "MatMul", NULL, SP_ONNX_OUT(o, "MatMul", NULL, q, scaled), vt));
    }
    sp_onnx_id upper = SP_ONNX_OUT(o, "LessOrEqual", NULL, places,
                                   sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){1, n}, sp__onnx_out_count, NULL));
    o->out[0] = sp__onnx_out_cast(o, part(o, q, -1, 0, kept), x->dtype);
    o->out[1] = sp__onnx_out_cast(o, part(o, sp__onnx_out_where(o, upper, r, zero), -2, 0, kept), x->dtype);
}

/* With a = d (1 + n), d its diagonal and n strictly triangular, the inverse of 1 + n is (1 - n)(1 + n^2)(1 + n^4) ..., as many factors
 * as it takes until the power is nothing. */
static void write_triangular_solve(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    int rank = x->rank;
    int64_t n = sp__onnx_out_fixed(o, 0, rank - 1), rows[1] = {-1};
    bool transpose = sp__onnx_out_int(o, "transpose"), upper = sp__onnx_out_int(o, "upper");
    sp_onnx_id zero = sp__onnx_out_scalar(o, SP_DTYPE_F64, 0), one = sp__onnx_out_scalar(o, SP_DTYPE_F64, 1),
               a = sp__onnx_out_cast(o, o->in[0], SP_DTYPE_F64);
    sp_onnx_id across = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){1, n}, sp__onnx_out_count, NULL),
               down = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){n, 1}, sp__onnx_out_count, NULL);
    sp_onnx_id unit_matrix = sp__onnx_out_table(o, SP_DTYPE_F64, 2, (int64_t[]){n, n}, unit, &n);
    sp_onnx_id inside = upper ? SP_ONNX_OUT(o, "Less", NULL, down, across) : SP_ONNX_OUT(o, "Less", NULL, across, down);
    sp_onnx_id strict = sp__onnx_out_where(o, inside, a, zero);
    sp_onnx_id diagonal =
        sp__onnx_out_int(o, "unit")
            ? sp__onnx_out_add(o, sp__onnx_out_mul(o, sp__onnx_out_reduce(o, "ReduceSum", a, 1, rows, true), zero), one)
            : sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_mul(o, a, unit_matrix), 1, rows, true);
    if (transpose) strict = turned(o, strict, rank);
    /* a = d (1 + n) by rows; transposed: (1 + n)^T d, n taken by columns */
    sp_onnx_id power =
        transpose ? sp__onnx_out_div(o, strict, turned(o, diagonal, rank)) : sp__onnx_out_div(o, strict, diagonal);
    sp_onnx_id inverse = sp__onnx_out_sub(o, unit_matrix, power);
    for (int64_t size = 2; size < n; size *= 2) {
        power = SP_ONNX_OUT(o, "MatMul", NULL, power, power);
        inverse = SP_ONNX_OUT(o, "MatMul", NULL, inverse, sp__onnx_out_add(o, unit_matrix, power));
    }
    sp_onnx_id y = sp__onnx_out_cast(o, o->in[1], SP_DTYPE_F64);
    o->out[0] = transpose ? sp__onnx_out_div(o, SP_ONNX_OUT(o, "MatMul", NULL, inverse, y), diagonal)
                          : SP_ONNX_OUT(o, "MatMul", NULL, inverse, sp__onnx_out_div(o, y, diagonal));
}

/* Column by column: the largest element below comes up, its multiples are taken from the rows below. */
static void write_lu(sp_onnx_out *o)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    int rank = x->rank;
    int64_t m = sp__onnx_out_fixed(o, 0, rank - 2), n = sp__onnx_out_fixed(o, 0, rank - 1), k = m < n ? m : n,
            rows[1] = {-2}, last[1] = {-1};
    sp_onnx_id a = sp__onnx_out_cast(o, o->in[0], SP_DTYPE_F64), zero = sp__onnx_out_scalar(o, SP_DTYPE_F64, 0),
               pivots[COLUMNS_MAX], minus = sp__onnx_out_scalar(o, SP_DTYPE_F64, -1);
    sp_onnx_id down = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){m, 1}, sp__onnx_out_count, NULL),
               across = sp__onnx_out_table(o, SP_DTYPE_I64, 2, (int64_t[]){1, n}, sp__onnx_out_count, NULL);
    if (!few_columns(o, k)) return;
    for (int64_t j = 0; j < k; j++) {
        sp_onnx_id at = sp__onnx_out_whole(o, SP_DTYPE_I64, j), above = SP_ONNX_OUT(o, "Less", NULL, down, at),
                   is_j = SP_ONNX_OUT(o, "Equal", NULL, down, at);
        sp_onnx_id size = sp__onnx_out_where(o, above, minus, SP_ONNX_OUT(o, "Abs", NULL, part(o, a, -1, j, j + 1)));
        sp_onnx_id p = SP_ONNX_OUT(o, "ArgMax", "axis=-2, keepdims=1", size),
                   is_p = SP_ONNX_OUT(o, "Equal", NULL, down, p);
        sp_onnx_id row_p = sp__onnx_out_reduce(o, "ReduceSum", sp__onnx_out_where(o, is_p, a, zero), 1, rows, true),
                   row_j = part(o, a, -2, j, j + 1);
        a = sp__onnx_out_where(o, is_j, row_p, sp__onnx_out_where(o, is_p, row_j, a));
        sp_onnx_id pivot = part(o, row_p, -1, j, j + 1), nothing = SP_ONNX_OUT(o, "Equal", NULL, pivot, zero),
                   column = part(o, a, -1, j, j + 1);
        sp_onnx_id safe = sp__onnx_out_where(o, nothing, sp__onnx_out_scalar(o, SP_DTYPE_F64, 1), pivot);
        sp_onnx_id factor =
            sp__onnx_out_where(o, SP_ONNX_OUT(o, "Greater", NULL, down, at), sp__onnx_out_div(o, column, safe), zero);
        sp_onnx_id behind = sp__onnx_out_where(o, SP_ONNX_OUT(o, "Greater", NULL, across, at), row_p, zero);
        sp_onnx_id less = sp__onnx_out_sub(o, a, sp__onnx_out_mul(o, factor, behind));
        sp_onnx_id here = SP_ONNX_OUT(o, "And", NULL, SP_ONNX_OUT(o, "Equal", NULL, across, at),
                                      SP_ONNX_OUT(o, "Greater", NULL, down, at));
        a = sp__onnx_out_where(o, nothing, a, sp__onnx_out_where(o, here, factor, less));
        pivots[j] = SP_ONNX_OUT(o, "Squeeze", NULL, p, sp__onnx_out_ints(o, 1, last));
    }
    o->out[0] = sp__onnx_out_cast(o, a, x->dtype);
    o->out[1] = sp__onnx_out_cast(o, sp__onnx_out_op(o, "Concat", (int)k, pivots, "axis=-1"), SP_DTYPE_I32);
}

const sp_onnx_out_rule sp__onnx_out_linalg[] = {
    SP_ONNX_OUT_CODE("matrix_inverse", write_inverse),
    SP_ONNX_OUT_CODE("slogdet", write_slogdet),
    SP_ONNX_OUT_CODE("cholesky", write_cholesky),
    SP_ONNX_OUT_CODE("qr", write_qr),
    SP_ONNX_OUT_CODE("triangular_solve", write_triangular_solve),
    SP_ONNX_OUT_CODE("lu", write_lu),
    {.op = NULL},
};
