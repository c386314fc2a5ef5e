/* SPDX-License-Identifier: Apache-2.0 */
/* solve.c - triangular systems, the factors L and U, over all leading dimensions and in double precision whatever the dtype. */
#include "ir/refuse.h"
#include "ops/complex_matrix.h"
#include "ops/kernels.h"
#include "ops/linalg.h"

#define MATRICES .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS
#define ALL_MATRICES .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX

static sp_tensor *turned(sp_builder *b, sp_tensor *x) { return sp_swap_axes(b, x, -1, -2); }
/* The part of a matrix on or below (lower) or above a diagonal. */
static sp_tensor *part(sp_builder *b, sp_tensor *x, bool lower, int64_t diagonal)
{
    const sp_tril_attrs attrs = {diagonal};
    return sp_builder_apply(b, lower ? &sp_op_tril : &sp_op_triu, &attrs, 1, &x);
}

/* --- triangular_solve -------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(triangular_attr_table, sp_triangular_solve_attrs, (BOOL, upper, False), (BOOL, transpose, False),
              (BOOL, unit, False));

static sp_status triangular_infer(const sp_call *c, sp_meta *out)
{
    const sp_tensor *a = c->in[0], *y = c->in[1];
    int64_t n = 0;
    char left[SP_SHAPE_TEXT], right[SP_SHAPE_TEXT];
    SP_TRY(sp__square_check(a, &n));
    SP_CHECK(y->rank == a->rank && sp__shape_equal(a->rank - 1, a->dims, a->rank - 1, y->dims), SP_VALUE,
             "matrices of shape %s do not fit right-hand sides of shape %s: all dimensions but the last must be equal",
             sp__shape_text(a->rank, a->dims, left), sp__shape_text(y->rank, y->dims, right));
    sp__meta_of(y, out);
    return SP_OK;
}
static size_t triangular_workspace(const sp_call *c)
{
    const sp_tensor *a = c->in[0], *y = c->in[1];
    if (a->rank < 2 || y->rank < 2) return 0;
    return (size_t)(a->dims[a->rank - 1] * (a->dims[a->rank - 1] + y->dims[y->rank - 1]) + 1) * sizeof(double) *
           (sp__complex_matrix(a) ? 2 : 1);
}
static sp_status triangular_reference(const sp_call *c)
{
    const sp_triangular_solve_attrs *t = c->attrs;
    if (sp__complex_matrix(c->in[0])) return sp__complex_triangular(c, t->upper, t->transpose, t->unit);
    const int rank = c->in[0]->rank;
    const int64_t n = c->in[0]->dims[rank - 1], m = c->in[1]->dims[rank - 1];
    const bool from_top = t->upper == t->transpose; /* is the first unknown alone in its equation? */
    double *a = c->work, *x = a + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__doubles_load(c->in[0], item * n * n, n * n, a);
        sp__doubles_load(c->in[1], item * n * m, n * m, x);
        for (int64_t step = 0; step < n; step++) {
            const int64_t i = from_top ? step : n - 1 - step;
            for (int64_t done = 0; done < step; done++) {
                const int64_t k = from_top ? done : n - 1 - done;
                const double f = t->transpose ? a[k * n + i] : a[i * n + k];
                for (int64_t j = 0; f != 0 && j < m; j++) x[i * m + j] -= f * x[k * m + j];
            }
            for (int64_t j = 0; !t->unit && j < m; j++) x[i * m + j] /= a[i * n + i];
        }
        sp__doubles_store(c->out[0], item * n * m, n * m, x);
    }
    return SP_OK;
}
static sp_status triangular_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_triangular_solve_attrs *t = v->attrs;
    SP_CHECK(!sp__complex_matrix(v->in[0]), SP_RUNTIME, "triangular_solve has no gradient for complex matrices");
    const sp_triangular_solve_attrs back = {t->upper, !t->transpose, t->unit};
    sp_tensor *dy = sp_builder_apply(b, &sp_op_triangular_solve, &back, 2, (sp_tensor *const[]){v->in[0], v->dout[0]});
    if (v->needs[1]) v->din[1] = dy;
    if (v->needs[0]) {
        sp_tensor *d = sp_neg(b, sp_matmul(b, dy, v->out[0], false, true));
        v->din[0] = part(b, t->transpose ? turned(b, d) : d, !t->upper, t->unit ? (t->upper ? 1 : -1) : 0);
    }
    return SP_OK;
}
const sp_op sp_op_triangular_solve = {
    .batch = sp__batch_trailing,
    .name = "triangular_solve",
    .inputs = "a, y",
    SP_ATTRS(triangular_attr_table, sp_triangular_solve_attrs),
    ALL_MATRICES,
    .infer = triangular_infer,
    .reference = triangular_reference,
    .workspace = triangular_workspace,
    .vjp = triangular_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0),
    .mindir = "SolveTriangular",
    .doc =
        "The x with a x = y, where a is lower (or upper) triangular; what stands on the other side is not read. transpose: with "
        "a turned around; unit: the diagonal counts as ones.",
    .samples = "[2,2](1,2) [2,3]; [2,3,3](1,2) [2,3,1] upper=True; [2,2](1,2) [2,1] transpose=True; "
               "[3,3](1,2) [3,2] upper=True transpose=True unit=True",
};

/* --- lu ---------------------------------------------------------------------------------------------------------- */

static sp_status lu_infer(const sp_call *c, sp_meta *out)
{
    const sp_tensor *x = c->in[0];
    SP_CHECK(x->rank >= 2, SP_VALUE, "a matrix has 2 dimensions or more, but there are %d", x->rank);
    const int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1];
    sp__meta_of(x, &out[0]);
    sp__meta_of(x, &out[1]);
    out[1].dtype = SP_DTYPE_I32;
    out[1].rank--;
    out[1].dims[out[1].rank - 1] = m < n ? m : n;
    return SP_OK;
}
static size_t lu_workspace(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    return x->rank < 2 ? 0 : (size_t)(x->dims[x->rank - 2] * x->dims[x->rank - 1] + 1) * sizeof(double);
}
/* One matrix, m x n, in place; pivots[k] is the row that row k was exchanged with. */
static void factor(int64_t m, int64_t n, double *a, int32_t *pivots)
{
    for (int64_t k = 0; k < m && k < n; k++) {
        int64_t p = k;
        for (int64_t i = k + 1; i < m; i++)
            if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
        pivots[k] = (int32_t)p;
        for (int64_t j = 0; p != k && j < n; j++) {
            const double t = a[k * n + j];
            a[k * n + j] = a[p * n + j];
            a[p * n + j] = t;
        }
        for (int64_t i = k + 1; a[k * n + k] != 0 && i < m; i++) {
            const double f = a[i * n + k] /= a[k * n + k];
            for (int64_t j = k + 1; f != 0 && j < n; j++) a[i * n + j] -= f * a[k * n + j];
        }
    }
}
static sp_status lu_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    const int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1], k = m < n ? m : n;
    double *a = c->work;
    for (int64_t item = 0; k && item < x->count / (m * n); item++) {
        sp__doubles_load(x, item * m * n, m * n, a);
        factor(m, n, a, (int32_t *)(void *)c->out[1]->data + item * k);
        sp__doubles_store(c->out[0], item * m * n, m * n, a);
    }
    return SP_OK;
}
const sp_op sp_op_lu = {
    .batch = sp__batch_trailing,
    .name = "lu",
    .inputs = "x",
    .n_out = 2,
    MATRICES,
    .infer = lu_infer,
    .reference = lu_reference,
    .workspace = lu_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp = "the factors are used to solve; differentiate ops.matrix_solve instead",
    .mindir = "LU",
    .samples = "[3,3]; [2,2,3]; [3,2]; [1,1]",
    .doc =
        "L without its diagonal of ones and U in one matrix, and for each row the one it was exchanged with, by partial pivoting.",
};
