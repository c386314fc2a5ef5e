/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops_place.c - TensorFlow Lite operators that reduce, search, look up and scatter; spectra. */
#include <math.h>
#include <string.h>

#include "formats/tflite/tflite_model.h"

/* --- reductions -------------------------------------------------------------------------------------------------- */

static sp_status reduce(sp_tflite_call *c)
{
    sp_tflite_ints axes;
    sp_tflite_text text;
    const int rank = sp__tflite_rank(c, 0);
    const bool keep = sp__tflite_byte(c, 0, 0) != 0;
    uint32_t gone = 0;
    int n = 0, axis;
    SP_TRY(sp__tflite_ints(c, 1, &axes));
    /* Planes without some of their axes are in order when the channels are gone, or both of height and width. */
    for (int i = 0; i < axes.n; i++) {
        SP_TRY(sp__shape_axis(axes.v[i], rank, "axis", &axis));
        gone |= 1u << axis;
    }
    const bool ordered = keep || gone >> 3 & 1 || (gone & 6) == 6;
    if (c->planes && !ordered) {
        c->in[0] = sp__tflite_plain(c, 0);
        if (!c->moves) c->in[0] = sp__tflite_real(c, c->in[0], sp__tflite_in_face(c, 0), false);
        c->planes = false;
    }
    for (int k = 0; k < rank; k++) {
        if (!(gone >> k & 1)) continue;
        SP_TRY(sp__tflite_axis(c, k, rank, &axis));
        axes.v[n++] = axis;
    }
    if (n == 0) return sp__tflite_return(c, sp_identity(c->b, c->in[0]));
    sp_tensor *y = SP_TFLITE_OP1(c, c->node->handler->detail, c->in[0], "axis=%s, keepdims=%s",
                                 sp__tflite_list(&text, n, axes.v), keep ? "True" : "False");
    if (y != NULL && sp_tensor_dtype(y) != sp_tensor_dtype(c->in[0])) y = sp_cast(c->b, y, sp_tensor_dtype(c->in[0]));
    return sp__tflite_return(c, y);
}

static sp_status arg(sp_tflite_call *c)
{
    int64_t at = 0;
    int axis = 0;
    SP_TRY(sp__tflite_one_int(c, 1, &at));
    SP_TRY(sp__shape_axis(at, sp__tflite_rank(c, 0), "axis", &axis));
    const bool wide = sp__tflite_out_face(c, 0)->meta.dtype == SP_DTYPE_I64;
    return sp__tflite_return(
        c, SP_TFLITE_OP1(c, c->node->handler->detail, c->in[0], "axis=%d, dtype=%s", axis, wide ? "int64" : "int32"));
}

static sp_status top_k(sp_tflite_call *c)
{
    int64_t k = 0;
    sp_tensor *both[2] = {NULL};
    SP_TRY(sp__tflite_one_int(c, 1, &k));
    SP_TRY(sp__tflite_op_many(c, "topk", 1, c->in, 2, both, "k=%lld, indices=int32", (long long)k));
    c->out[0] = both[0];
    if (c->n_out > 1) c->out[1] = both[1];
    return sp_builder_status(c->b);
}

/* Exclusive: shifted by one, a zero in front. Backwards: from the end. */
static sp_status cumsum(sp_tflite_call *c)
{
    int64_t at = 0;
    int axis = 0;
    SP_TRY(sp__tflite_one_int(c, 1, &at));
    SP_TRY(sp__shape_axis(at, sp__tflite_rank(c, 0), "axis", &axis));
    sp_tensor *x = c->in[0], *sum = SP_TFLITE_OP1(c, "cumsum", x, "axis=%d", axis);
    if (sp__tflite_byte(c, 1, 0)) { /* all, less what stands before */
        sp_tensor *all = sp_reduce_sum(c->b, x, 1, (int64_t[]){axis}, true);
        sum = sp_add(c->b, sp_sub(c->b, all, sum), x);
    }
    if (sp__tflite_byte(c, 0, 0)) sum = sp_sub(c->b, sum, x);
    if (sum != NULL && sp_tensor_dtype(sum) != sp_tensor_dtype(x)) sum = sp_cast(c->b, sum, sp_tensor_dtype(x));
    return sp__tflite_return(c, sum);
}

/* --- looking up -------------------------------------------------------------------------------------------------- */

static sp_status gather(sp_tflite_call *c)
{
    int axis = 0;
    SP_TRY(sp__shape_axis(sp__tflite_int(c, 0, 0), sp__tflite_rank(c, 0), "axis", &axis));
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "gather", c->in[0], c->in[1], "axis=%d, batch_dims=%lld", axis,
                                              (long long)sp__tflite_int(c, 1, 0)));
}

static sp_status gather_nd(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "gather_nd", c->in[0], c->in[1], NULL));
}

/* Inputs: which rows, the table. Rows of integers are given as the numbers that they stand for. */
static sp_status embedding_lookup(sp_tflite_call *c)
{
    const sp_tflite_tensor *face = sp__tflite_in_face(c, 1);
    sp_tensor *rows = SP_TFLITE_OP2(c, "gather", sp__tflite_plain(c, 1), sp__tflite_plain(c, 0), "axis=0");
    if (face->scale.n > 1) { /* a scale for each row */
        int64_t dims[SP_RANK_MAX] = {-1};
        SP_TRY(sp_builder_status(c->b));
        for (int k = 1; k < sp_tensor_rank(rows); k++) dims[k] = 1;
        sp_tensor *scale = SP_TFLITE_OP2(c, "gather", sp__tflite_floats(c, face->scale.n, face->scale.scale),
                                         sp__tflite_plain(c, 0), "axis=0");
        rows = sp_mul(c->b, sp_cast(c->b, rows, SP_DTYPE_F32), sp_reshape(c->b, scale, sp_tensor_rank(rows), dims));
    } else rows = sp__tflite_real(c, rows, face, false);
    return sp__tflite_put(c, 0, sp__tflite_rounded(c, rows, 0), false);
}

/* Inputs: indices, depth, on, off. */
static sp_status one_hot(sp_tflite_call *c)
{
    int64_t depth = 0;
    SP_TRY(sp__tflite_one_int(c, 1, &depth));
    return sp__tflite_return(c, sp__tflite_op(c, "one_hot", 3, (sp_tensor *[]){c->in[0], c->in[2], c->in[3]},
                                              "depth=%lld, axis=%lld", (long long)depth,
                                              (long long)sp__tflite_int(c, 0, 0)));
}

static sp_status where(sp_tflite_call *c)
{
    return sp__tflite_return(c, sp_cast(c->b, SP_TFLITE_OP1(c, "nonzero", c->in[0], NULL), SP_DTYPE_I64));
}

/* In the order of first appearance. */
static sp_status unique(sp_tflite_call *c)
{
    sp_tensor *both[3] = {NULL};
    const bool wide = c->n_out > 1 && sp__tflite_out_face(c, 1)->meta.dtype == SP_DTYPE_I64;
    SP_TRY(sp__tflite_op_many(c, "unique", 1, c->in, 3, both, "sorted=False, indices=%s", wide ? "int64" : "int32"));
    c->out[0] = both[0];
    if (c->n_out > 1) c->out[1] = both[1];
    return sp_builder_status(c->b);
}

static sp_status bucketize(sp_tflite_call *c)
{
    float edges[256];
    SP_CHECK(c->node->n_list <= 256, SP_DECLINED, "%d boundaries, at most 256 are possible", c->node->n_list);
    for (int i = 0; i < c->node->n_list; i++) {
        const uint32_t bits = (uint32_t)c->node->list[i];
        memcpy(&edges[i], &bits, sizeof bits);
    }
    sp_tensor *x = sp_cast(c->b, c->in[0], SP_DTYPE_F32);
    return sp__tflite_return(c, SP_TFLITE_OP2(c, "searchsorted", sp__tflite_floats(c, c->node->n_list, edges), x,
                                              "right=True, dtype=int32"));
}

/* --- scattering -------------------------------------------------------------------------------------------------- */

/* Inputs: indices, updates, shape. Updates for the same place are summed. */
static sp_status scatter_nd(sp_tflite_call *c)
{
    sp_tflite_ints shape;
    SP_TRY(sp__tflite_ints(c, 2, &shape));
    sp_tensor *zeros = sp__full(c->b, 0, sp_tensor_dtype(c->in[1]), shape.n, shape.v);
    return sp__tflite_return(
        c, sp__tflite_op(c, "tensor_scatter", 3, (sp_tensor *[]){zeros, c->in[0], c->in[1]}, "reduce=add"));
}

/* Inputs: indices (a number, a list, or rows of positions), shape, values (one for all, or one each), value elsewhere. */
static sp_status sparse_to_dense(sp_tflite_call *c)
{
    sp_tflite_ints shape;
    SP_TRY(sp__tflite_ints(c, 1, &shape));
    sp_tensor *at = c->in[0], *values = c->in[2];
    const int rank = sp__tflite_rank(c, 0);
    if (rank < 2) at = sp_reshape(c->b, at, 2, (int64_t[]){-1, 1});
    SP_TRY(sp_builder_status(c->b));
    if (sp_tensor_rank(values) == 0) values = sp_broadcast_to(c->b, values, 1, sp_tensor_dims(at));
    sp_tensor *base = sp_broadcast_to(c->b, sp_reshape(c->b, c->in[3], 0, NULL), shape.n, shape.v);
    return sp__tflite_return(c, sp__tflite_op(c, "tensor_scatter", 3, (sp_tensor *[]){base, at, values}, NULL));
}

enum { SEGMENTS_FREE = 1 << 20, SEGMENTS_RATIO = 1024 };

/* Rows with the same number together; detail: how. Numbers of SEGMENT_SUM are sorted, the last tells how many there are. */
static sp_status segments(sp_tflite_call *c)
{
    int64_t n = 0, dims[SP_RANK_MAX];
    double start = 0;
    const char *how = c->node->handler->detail;
    const sp_dtype dtype = sp_tensor_dtype(c->in[0]);
    const bool real = sp_dtype_kind(dtype) == 'f';
    if (c->node->handler->code == 125) {
        sp_tensor *most = SP_TFLITE_OP1(c, "reduce_max", c->in[1], NULL);
        SP_TRY(sp_builder_status(c->b));
        SP_TRY(sp__tensor_need_value(most));
        c->in[2] = most;
        c->n_in = 3;
        SP_TRY(sp__tflite_one_int(c, 2, &n));
        n++;
    } else SP_TRY(sp__tflite_one_int(c, 2, &n));
    SP_CHECK(n >= 0 && sp__tflite_rank(c, 0) > 0, SP_VALUE, "%lld segments of rank %d", (long long)n,
             sp__tflite_rank(c, 0));
    if (strcmp(how, "mul") == 0) start = 1;
    if (strcmp(how, "max") == 0) start = real ? -3.4028234663852886e38 : -2147483648.0;
    if (strcmp(how, "min") == 0) start = real ? 3.4028234663852886e38 : 2147483647.0;
    memcpy(dims, sp_tensor_dims(c->in[0]), sizeof(int64_t) * (size_t)sp__tflite_rank(c, 0));
    /* One damaged number would ask for any amount of memory. */
    int64_t rows = dims[0], most = rows > SEGMENTS_FREE / SEGMENTS_RATIO ? rows * SEGMENTS_RATIO : SEGMENTS_FREE;
    SP_CHECK(n <= most, SP_VALUE, "%lld segments of %lld rows; at most %lld are possible", (long long)n,
             (long long)rows, (long long)most);
    dims[0] = n;
    sp_tensor *base = sp__full(c->b, start, dtype, sp__tflite_rank(c, 0), dims),
              *at = sp_reshape(c->b, c->in[1], 2, (int64_t[]){-1, 1});
    return sp__tflite_return(
        c, sp__tflite_op(c, "tensor_scatter", 3, (sp_tensor *[]){base, at, c->in[0]}, "reduce=%s", how));
}

/* --- matrices and spectra ---------------------------------------------------------------------------------------- */

static sp_status matrix_diag(sp_tflite_call *c)
{
    return sp__tflite_return(c, SP_TFLITE_OP1(c, "diag_embed", c->in[0], NULL));
}

static sp_status matrix_set_diag(sp_tflite_call *c)
{
    const int rank = sp__tflite_rank(c, 0);
    SP_CHECK(rank >= 2 && sp__tflite_rank(c, 1) == rank - 1, SP_FORMAT, "ranks %d and %d", rank, sp__tflite_rank(c, 1));
    const int64_t rows = sp__tflite_dim(c, 0, rank - 2), columns = sp__tflite_dim(c, 0, rank - 1),
                  n = sp__tflite_dim(c, 1, rank - 2);
    sp_tensor *on =
        sp_equal(c->b, sp__positions(c->b, rank, rank - 2, rows), sp__positions(c->b, rank, rank - 1, columns));
    /* The diagonal along the last axis, as long as that one. */
    int64_t dims[SP_RANK_MAX], pads[2 * SP_RANK_MAX] = {0};
    sp_tflite_text text;
    memcpy(dims, sp_tensor_dims(c->in[1]), sizeof(int64_t) * (size_t)(rank - 1));
    pads[2 * (rank - 2) + 1] = columns - n;
    SP_CHECK(n <= columns && n <= rows, SP_VALUE, "a diagonal of %lld elements", (long long)n);
    sp_tensor *line = SP_TFLITE_OP1(c, "pad", c->in[1], "pads=%s", sp__tflite_list(&text, 2 * (rank - 1), pads));
    dims[rank - 2] = 1;
    dims[rank - 1] = columns;
    return sp__tflite_return(c, sp_select(c->b, on, sp_reshape(c->b, line, rank, dims), c->in[0]));
}

/* Cut or filled up with zeros to `n` along an axis. */
static sp_tensor *fit(sp_tflite_call *c, sp_tensor *x, int axis, int64_t n)
{
    int64_t pads[2 * SP_RANK_MAX] = {0};
    sp_tflite_text text;
    if (x == NULL) return NULL;
    const int64_t have = sp_tensor_dims(x)[axis];
    if (have > n) return sp__take_range(c->b, x, axis, 0, n);
    if (have == n) return x;
    pads[2 * axis + 1] = n - have;
    return SP_TFLITE_OP1(c, "pad", x, "pads=%s", sp__tflite_list(&text, 2 * sp_tensor_rank(x), pads));
}

/* Along the last two axes; of the last one, the half that tells all. */
static sp_status rfft_2d(sp_tflite_call *c)
{
    sp_tflite_ints size;
    const int rank = sp__tflite_rank(c, 0);
    SP_TRY(sp__tflite_ints(c, 1, &size));
    SP_CHECK(rank >= 2 && size.n == 2 && size.v[0] > 0 && size.v[1] > 0, SP_FORMAT, "a spectrum of rank %d", rank);
    sp_tensor *x = fit(c, fit(c, c->in[0], rank - 1, size.v[1]), rank - 2, size.v[0]);
    x = sp_cast(c->b, x, SP_DTYPE_C64);
    x = sp__take_range(c->b, SP_TFLITE_OP1(c, "fft", x, "axis=-1"), rank - 1, 0, size.v[1] / 2 + 1);
    if (size.v[0] > 1) x = SP_TFLITE_OP1(c, "fft", x, "axis=-2");
    return sp__tflite_return(c, x);
}

#define LESS_AXES (SP_TFLITE_REAL | SP_TFLITE_AXES)
const sp_tflite_handler sp__tflite_place[] = {
    {40, "MEAN", reduce, "reduce_mean", LESS_AXES, 2, -1},
    {74, "SUM", reduce, "reduce_sum", LESS_AXES, 2, -1},
    {81, "REDUCE_PROD", reduce, "reduce_prod", LESS_AXES, 2, -1},
    {82, "REDUCE_MAX", reduce, "reduce_max", LESS_AXES | SP_TFLITE_SAME, 2, -1},
    {89, "REDUCE_MIN", reduce, "reduce_min", LESS_AXES | SP_TFLITE_SAME, 2, -1},
    {91, "REDUCE_ANY", reduce, "reduce_any", LESS_AXES, 2, -1},
    {140, "REDUCE_ALL", reduce, "reduce_all", LESS_AXES, 2, -1},
    {56, "ARG_MAX", arg, "argmax", SP_TFLITE_MOVE, 2, -1},
    {79, "ARG_MIN", arg, "argmin", SP_TFLITE_MOVE, 2, -1},
    {48, "TOPK_V2", top_k, NULL, SP_TFLITE_MOVE, 2, -1},
    {128, "CUMSUM", cumsum, NULL, SP_TFLITE_REAL, 2, -1},
    {36, "GATHER", gather, NULL, SP_TFLITE_MOVE, 2, -1},
    {107, "GATHER_ND", gather_nd, NULL, SP_TFLITE_MOVE, 2, -1},
    {7, "EMBEDDING_LOOKUP", embedding_lookup, NULL, SP_TFLITE_RAW, 2, -1},
    {85, "ONE_HOT", one_hot, NULL, SP_TFLITE_MOVE, 4, -1},
    {109, "WHERE", where, NULL, SP_TFLITE_MOVE, 1, -1},
    {103, "UNIQUE", unique, NULL, SP_TFLITE_MOVE, 1, -1},
    {147, "BUCKETIZE", bucketize, NULL, SP_TFLITE_MOVE, 1, 0},
    {122, "SCATTER_ND", scatter_nd, NULL, SP_TFLITE_MOVE, 3, -1},
    {68, "SPARSE_TO_DENSE", sparse_to_dense, NULL, SP_TFLITE_MOVE, 4, -1},
    {125, "SEGMENT_SUM", segments, "add", SP_TFLITE_MOVE, 2, -1},
    {155, "UNSORTED_SEGMENT_SUM", segments, "add", SP_TFLITE_MOVE, 3, -1},
    {153, "UNSORTED_SEGMENT_PROD", segments, "mul", SP_TFLITE_MOVE, 3, -1},
    {154, "UNSORTED_SEGMENT_MAX", segments, "max", SP_TFLITE_MOVE, 3, -1},
    {157, "UNSORTED_SEGMENT_MIN", segments, "min", SP_TFLITE_MOVE, 3, -1},
    {113, "MATRIX_DIAG", matrix_diag, NULL, SP_TFLITE_MOVE, 1, -1},
    {115, "MATRIX_SET_DIAG", matrix_set_diag, NULL, SP_TFLITE_MOVE, 2, -1},
    {131, "RFFT2D", rfft_2d, NULL, SP_TFLITE_REAL, 2, -1},
    {0, NULL, NULL, NULL, 0, 0, -1},
};
