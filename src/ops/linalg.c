/* SPDX-License-Identifier: Apache-2.0 */
/* linalg.c - inverse and determinant of square matrices, over all leading dimensions. Matrices are factored as P A = L U
 * with partial pivoting, in double precision whatever the dtype. */
#include "ops/complex_matrix.h"
#include "ops/kernels.h"
#include "ops/linalg.h"

sp_status sp__square_check(const sp_tensor *x, int64_t *n)
{
    char text[SP_SHAPE_TEXT];
    SP_CHECK(x->rank >= 2 && x->dims[x->rank - 1] == x->dims[x->rank - 2], SP_VALUE,
             "the last two dimensions must be equal, but the shape is %s", sp__shape_text(x->rank, x->dims, text));
    *n = x->dims[x->rank - 1];
    return SP_OK;
}

sp_status sp__square_infer(const sp_call *c, sp_meta *out)
{
    int64_t n = 0;
    SP_TRY(sp__square_check(c->in[0], &n));
    return sp__infer_same(c, out);
}
static sp_status det_infer(const sp_call *c, sp_meta *out)
{
    int64_t n = 0;
    SP_TRY(sp__square_check(c->in[0], &n));
    SP_TRY(sp__infer_same(c, out));
    out->rank -= 2;
    return SP_OK;
}
static sp_status slogdet_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(det_infer(c, out));
    out[1] = out[0];
    return SP_OK;
}

/* Workspace: the matrix, then a second one (the inverse). */
static size_t lu_workspace(const sp_call *c)
{
    int64_t n = 0;
    if (sp__square_check(c->in[0], &n) != SP_OK) return 0;
    return (size_t)(2 * n * n + 1) * sizeof(double) * (sp__complex_matrix(c->in[0]) ? 2 : 1);
}
sp_tensor *sp__adjoint(sp_builder *b, sp_tensor *x)
{
    sp_tensor *t = sp_swap_axes(b, x, -1, -2);
    return t && sp__complex_matrix(t) ? SP_APPLY1(b, sp_op_conj, t) : t;
}
void sp__doubles_load(const sp_tensor *x, int64_t at, int64_t n, double *to)
{
    const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)x->dtype);
    sp__cast_loop((sp_dtype)x->dtype, SP_DTYPE_F64)(n, (char *const[]){(char *)to, x->data + at * bytes},
                                                    (const int64_t[]){sizeof(double), bytes}, NULL);
}
void sp__doubles_store(sp_tensor *out, int64_t at, int64_t n, double *from)
{
    const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)out->dtype);
    sp__cast_loop(SP_DTYPE_F64, (sp_dtype)out->dtype)(n, (char *const[]){out->data + at * bytes, (char *)from},
                                                      (const int64_t[]){bytes, sizeof(double)}, NULL);
}
static void swap_rows(double *m, int64_t n, int64_t a, int64_t b)
{
    for (int64_t k = 0; a != b && k < n; k++) {
        double t = m[a * n + k];
        m[a * n + k] = m[b * n + k];
        m[b * n + k] = t;
    }
}
/* a becomes upper triangular; the same steps are done to `other` if there is one. Returns the sign of the permutation,
 * zero when a column has no pivot. */
static int eliminate(double *a, int64_t n, double *other)
{
    int sign = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        if (a[pivot * n + k] == 0) return 0;
        if (pivot != k) sign = -sign;
        swap_rows(a, n, k, pivot);
        if (other) swap_rows(other, n, k, pivot);
        for (int64_t i = k + 1; i < n; i++) {
            const double f = a[i * n + k] / a[k * n + k];
            if (f == 0) continue;
            for (int64_t j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            for (int64_t j = 0; other && j < n; j++) other[i * n + j] -= f * other[k * n + j];
        }
    }
    return sign;
}

static sp_status matrix_inverse_reference(const sp_call *c)
{
    int64_t n = 0;
    if (sp__complex_matrix(c->in[0])) return sp__complex_inverse(c);
    SP_TRY(sp__square_check(c->in[0], &n));
    double *a = c->work, *inverse = a + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__doubles_load(c->in[0], item * n * n, n * n, a);
        for (int64_t i = 0; i < n * n; i++) inverse[i] = i / n == i % n;
        SP_CHECK(eliminate(a, n, inverse) != 0, SP_VALUE, "matrix %lld is singular and has no inverse",
                 (long long)item);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = n - 1; i >= 0; i--) {
                double sum = inverse[i * n + j];
                for (int64_t k = i + 1; k < n; k++) sum -= a[i * n + k] * inverse[k * n + j];
                inverse[i * n + j] = sum / a[i * n + i];
            }
        sp__doubles_store(c->out[0], item * n * n, n * n, inverse);
    }
    return SP_OK;
}
/* Y = inv(X): dX = -Y* dY Y*. */
static sp_status matrix_inverse_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *y = sp__adjoint(b, v->out[0]);
    v->din[0] = sp_neg(b, sp_matmul(b, sp_matmul(b, y, v->dout[0], false, false), y, false, false));
    return SP_OK;
}
#define MATRICES .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX, .workspace = lu_workspace
const sp_op sp_op_matrix_inverse = {
    .batch = sp__batch_trailing,
    .name = "matrix_inverse",
    .shard = "... i j -> ... i j; i whole, j whole",
    .inputs = "x",
    MATRICES,
    .infer = sp__square_infer,
    .reference = matrix_inverse_reference,
    .vjp = matrix_inverse_vjp,
    .saves = SP_SAVE_OUT(0),
    .mindir = "MatrixInverse",
    .python = "ops.inverse(input); Tensor.inverse(); mint.inverse(input); mint.linalg.inv(input)",
    .doc = "The inverse of square matrices.",
    .samples = "[3,3]; [2,2,2]",
};

static sp_status det_reference(const sp_call *c)
{
    int64_t n = 0;
    if (sp__complex_matrix(c->in[0])) return sp__complex_determinant(c);
    SP_TRY(sp__square_check(c->in[0], &n));
    double *a = c->work;
    for (int64_t item = 0; item < c->out[0]->count; item++) {
        sp__doubles_load(c->in[0], item * n * n, n * n, a);
        double det = eliminate(a, n, NULL);
        for (int64_t i = 0; i < n && det != 0; i++) det *= a[i * n + i];
        sp__doubles_store(c->out[0], item, 1, &det);
    }
    return SP_OK;
}
/* A gradient per matrix, as a matrix of one element that broadcasts. */
static sp_tensor *per_matrix(sp_builder *b, sp_tensor *g)
{
    int64_t dims[SP_RANK_MAX + 2];
    if (!g) return NULL; /* the inverse before it failed */
    for (int i = 0; i < g->rank; i++) dims[i] = g->dims[i];
    dims[g->rank] = dims[g->rank + 1] = 1;
    return sp_reshape(b, g, g->rank + 2, dims);
}
static sp_tensor *conjugate(sp_builder *b, sp_tensor *x)
{
    return x && sp__complex_matrix(x) ? SP_APPLY1(b, sp_op_conj, x) : x;
}
/* d det = (det inv(X)^T)*, where the matrix has an inverse. */
static sp_status det_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *inverse = SP_APPLY1(b, sp_op_matrix_inverse, v->in[0]);
    v->din[0] = sp_mul(b, per_matrix(b, sp_mul(b, v->dout[0], conjugate(b, v->out[0]))), sp__adjoint(b, inverse));
    return SP_OK;
}
const sp_op sp_op_det = {
    .batch = sp__batch_trailing,
    .name = "det",
    .shard = "... i j -> ...; i whole, j whole",
    .inputs = "x",
    MATRICES,
    .infer = det_infer,
    .reference = det_reference,
    .vjp = det_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0),
    .mindir = "MatrixDeterminant",
    .onnx = "Det",
    .python = "ops.det(input); ops.matrix_determinant(input); ops.MatrixDeterminant()(x); Tensor.det(); "
              "Tensor.matrix_determinant()",
    .doc = "The determinant of square matrices.",
    .samples = "[3,3]; [2,2,2]",
};

static sp_status slogdet_reference(const sp_call *c)
{
    int64_t n = 0;
    if (sp__complex_matrix(c->in[0])) return sp__complex_determinant(c);
    SP_TRY(sp__square_check(c->in[0], &n));
    double *a = c->work;
    for (int64_t item = 0; item < c->out[0]->count; item++) {
        sp__doubles_load(c->in[0], item * n * n, n * n, a);
        double sign = eliminate(a, n, NULL), size = sign == 0 ? -INFINITY : 0;
        for (int64_t i = 0; i < n && sign != 0; i++) {
            if (a[i * n + i] < 0) sign = -sign;
            size += log(fabs(a[i * n + i]));
        }
        sp__doubles_store(c->out[0], item, 1, &sign);
        sp__doubles_store(c->out[1], item, 1, &size);
    }
    return SP_OK;
}
static sp_status slogdet_vjp(sp_builder *b, const sp_vjp *v)
{
    if (!v->dout[1]) return SP_OK;
    SP_CHECK(!sp__complex_matrix(v->in[0]), SP_RUNTIME,
             "slogdet has no gradient for complex matrices; take that of det");
    sp_tensor *inverse = SP_APPLY1(b, sp_op_matrix_inverse, v->in[0]);
    v->din[0] = sp_mul(b, per_matrix(b, v->dout[1]), sp_swap_axes(b, inverse, -1, -2));
    return SP_OK;
}
const sp_op sp_op_slogdet = {
    .batch = sp__batch_trailing,
    .name = "slogdet",
    .inputs = "x",
    .n_out = 2,
    MATRICES,
    .infer = slogdet_infer,
    .reference = slogdet_reference,
    .vjp = slogdet_vjp,
    .saves = SP_SAVE_IN(0),
    .mindir = "LogMatrixDeterminant",
    .python = "ops.slogdet(input); ops.log_matrix_determinant(input); ops.LogMatrixDeterminant()(x); Tensor.slogdet(); "
              "Tensor.log_matrix_determinant()",
    .doc = "The sign of the determinant of square matrices and the logarithm of its size.",
    .samples = "[3,3]; [2,2,2]",
};
