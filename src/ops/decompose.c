/* SPDX-License-Identifier: Apache-2.0 */
/* decompose.c - matrices as products: Cholesky, QR and singular values, over all leading dimensions.
 *
 * In double precision whatever the dtype. QR reflects columns onto axes (Householder), with the signs that LAPACK has.
 * Singular values come from rotating pairs of columns until all are at right angles (one-sided Jacobi): short, and exact
 * to the last digits also for small singular values. The gradients are composed of products and inverses. */
#include "ops/complex_matrix.h"
#include "ops/kernels.h"
#include "ops/linalg.h"

#define MATRICES .promote = SP_PROMOTE_FLOAT, .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX

typedef struct {
    int64_t m, n, k, items; /* rows, columns, the smaller of both, matrices */
} matrix_shape;

static sp_status matrix_measure(const sp_tensor *x, matrix_shape *s)
{
    char text[SP_SHAPE_TEXT];
    SP_CHECK(x->rank >= 2, SP_VALUE, "a matrix has 2 dimensions or more, but the shape is %s",
             sp__shape_text(x->rank, x->dims, text));
    *s = (matrix_shape){.m = x->dims[x->rank - 2], .n = x->dims[x->rank - 1]};
    s->k = s->m < s->n ? s->m : s->n;
    s->items = sp__matrix_count(x);
    return SP_OK;
}
static size_t element_bytes(const sp_call *c) { return sizeof(double) * (sp__complex_matrix(c->in[0]) ? 2 : 1); }
static sp_status real_only(const sp_vjp *v)
{
    SP_CHECK(!sp__complex_matrix(v->in[0]), SP_RUNTIME, "%s has no gradient for complex matrices", v->op->name);
    return SP_OK;
}
/* The shape of x with other sizes of the matrices; columns -1: vectors. */
static void matrix_meta(const sp_tensor *x, int64_t rows, int64_t columns, sp_meta *out)
{
    sp__meta_of(x, out);
    out->dims[out->rank - 2] = rows;
    out->dims[out->rank - 1] = columns;
    if (columns < 0) out->rank--;
}

static sp_tensor *transposed(sp_builder *b, sp_tensor *x) { return sp_swap_axes(b, x, -1, -2); }
static sp_tensor *product(sp_builder *b, sp_tensor *x, sp_tensor *y) { return sp_matmul(b, x, y, false, false); }
static sp_tensor *inverse(sp_builder *b, sp_tensor *x) { return SP_APPLY1(b, sp_op_matrix_inverse, x); }
/* 1 on the diagonal, and `other` beside it, n x n. */
static sp_tensor *pattern(sp_builder *b, const sp_tensor *like, int64_t n, double below, double on, double above)
{
    const int64_t dims[2] = {n, n};
    sp_tensor *t;
    sp_status status = sp_tensor_create(SP_DTYPE_F64, 2, dims, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    for (int64_t i = 0; i < n * n; i++)
        ((double *)(void *)t->data)[i] = i / n > i % n ? below : i / n < i % n ? above : on;
    return sp_cast(b, sp_builder_take_tensor(b, t), (sp_dtype)like->dtype);
}

/* --- Cholesky ---------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(cholesky_attr_table, sp_cholesky_attrs, (BOOL, upper, False));

static size_t cholesky_workspace(const sp_call *c)
{
    int64_t n = 0;
    return sp__square_check(c->in[0], &n) == SP_OK ? (size_t)(2 * n * n + 1) * element_bytes(c) : 0;
}

/* l from a, both n x n; false when a is not positive definite. */
static bool cholesky_lower(int64_t n, const double *a, double *l)
{
    memset(l, 0, (size_t)(n * n) * sizeof *l);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            if (i == j && !(sum > 0)) return false;
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    return true;
}
/* Equal to its transpose, up to what rounding in the dtype does. */
static bool symmetric(int64_t n, const double *a, sp_dtype dtype)
{
    const double eps = dtype == SP_DTYPE_F64 ? 1e-10 : dtype == SP_DTYPE_F32 ? 1e-4 : 1e-2;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (fabs(a[i * n + j] - a[j * n + i]) > eps * (fabs(a[i * n + i]) + fabs(a[j * n + j]))) return false;
    return true;
}
static sp_status cholesky_reference(const sp_call *c)
{
    int64_t n = 0;
    if (sp__complex_matrix(c->in[0])) return sp__complex_cholesky(c, ((const sp_cholesky_attrs *)c->attrs)->upper);
    SP_TRY(sp__square_check(c->in[0], &n));
    double *a = c->work, *l = a + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__doubles_load(c->in[0], item * n * n, n * n, a);
        SP_CHECK(symmetric(n, a, (sp_dtype)c->in[0]->dtype) && cholesky_lower(n, a, l), SP_RUNTIME,
                 "matrix %lld is not symmetric and positive definite, a Cholesky decomposition needs that",
                 (long long)item);
        for (int64_t i = 0; ((const sp_cholesky_attrs *)c->attrs)->upper && i < n * n; i++) a[i] = l[i % n * n + i / n];
        sp__doubles_store(c->out[0], item * n * n, n * n, ((const sp_cholesky_attrs *)c->attrs)->upper ? a : l);
    }
    return SP_OK;
}
/* dA = L^-T phi(L^T dL) L^-1, made symmetric; phi keeps the lower triangle and half of the diagonal. */
static sp_status cholesky_vjp(sp_builder *b, const sp_vjp *v)
{
    SP_TRY(real_only(v));
    const bool upper = ((const sp_cholesky_attrs *)v->attrs)->upper;
    sp_tensor *l = upper ? transposed(b, v->out[0]) : v->out[0], *dl = upper ? transposed(b, v->dout[0]) : v->dout[0];
    sp_tensor *phi = sp_mul(b, sp_matmul(b, l, dl, true, false),
                            pattern(b, v->in[0], v->in[0]->dims[v->in[0]->rank - 1], 1, 0.5, 0));
    sp_tensor *inv = inverse(b, l), *d = product(b, sp_matmul(b, inv, phi, true, false), inv);
    v->din[0] = sp__mul_number(b, sp_add(b, d, transposed(b, d)), 0.5);
    return SP_OK;
}
const sp_op sp_op_cholesky = {
    .batch = sp__batch_trailing,
    .name = "cholesky",
    .shard = "... i j -> ... i j; i whole, j whole",
    .inputs = "x",
    SP_ATTRS(cholesky_attr_table, sp_cholesky_attrs),
    MATRICES,
    .infer = sp__square_infer,
    .reference = cholesky_reference,
    .workspace = cholesky_workspace,
    .vjp = cholesky_vjp,
    .saves = SP_SAVE_OUT(0),
    .mindir = "Cholesky",
    .doc = "The triangular matrix whose product with its transpose is the given one.",
    .samples = "[1,1]>0; [2,1,1]>0 upper=True",
};

/* --- QR ---------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(qr_attr_table, sp_qr_attrs, (BOOL, complete, False));

static sp_status qr_infer(const sp_call *c, sp_meta *out)
{
    matrix_shape s = {.m = 0};
    SP_TRY(matrix_measure(c->in[0], &s));
    const int64_t width = ((const sp_qr_attrs *)c->attrs)->complete ? s.m : s.k;
    matrix_meta(c->in[0], s.m, width, &out[0]);
    matrix_meta(c->in[0], width, s.n, &out[1]);
    return SP_OK;
}
static size_t qr_workspace(const sp_call *c)
{
    matrix_shape s = {.m = 0};
    if (matrix_measure(c->in[0], &s) != SP_OK) return 0;
    const int64_t width = ((const sp_qr_attrs *)c->attrs)->complete ? s.m : s.k;
    return (size_t)(s.m * s.n + s.m * width + (s.m + 1) * s.k + 1) * element_bytes(c);
}

/* Reflect columns from `from` on of a [m x n]: a -= beta v (v' a), v from row `from` on. */
static void reflect(double *a, int64_t m, int64_t n, int64_t from, int64_t first, const double *v, double beta)
{
    for (int64_t j = first; j < n; j++) {
        double dot = 0;
        for (int64_t i = from; i < m; i++) dot += v[i] * a[i * n + j];
        for (int64_t i = from; i < m; i++) a[i * n + j] -= beta * dot * v[i];
    }
}
/* r becomes upper triangular; q gets the first `width` columns of the product of the reflections. These are kept in `turns`, one behind the other, a
 * vector of m and its factor each, and applied to the columns of the identity from the last one on: no m x m matrix for a tall one of few columns. */
static void qr_split(int64_t m, int64_t n, int64_t width, double *r, double *q, double *turns)
{
    const int64_t n_turns = n < m - 1 ? n : m - 1;
    for (int64_t k = 0; k < n_turns; k++) {
        double tail = 0, *v = turns + k * (m + 1), *beta = v + m;
        for (int64_t i = k + 1; i < m; i++) tail += r[i * n + k] * r[i * n + k];
        *beta = 0;
        if (tail == 0) continue;
        const double x = r[k * n + k], to = -copysign(sqrt(x * x + tail), x);
        for (int64_t i = k; i < m; i++) v[i] = r[i * n + k];
        v[k] = x - to;
        *beta = 2 / (v[k] * v[k] + tail);
        reflect(r, m, n, k, k, v, *beta);
        r[k * n + k] = to;
        for (int64_t i = k + 1; i < m; i++) r[i * n + k] = 0;
    }
    for (int64_t i = 0; i < m * width; i++) q[i] = i / width == i % width;
    for (int64_t k = n_turns - 1; k >= 0; k--)
        if (turns[k * (m + 1) + m] != 0) reflect(q, m, width, k, k, turns + k * (m + 1), turns[k * (m + 1) + m]);
}
static sp_status qr_reference(const sp_call *c)
{
    matrix_shape s = {.m = 0};
    SP_TRY(matrix_measure(c->in[0], &s));
    if (sp__complex_matrix(c->in[0])) return sp__complex_qr(c);
    const int64_t width = ((const sp_qr_attrs *)c->attrs)->complete ? s.m : s.k;
    double *r = c->work, *q = r + s.m * s.n, *turns = q + s.m * width;
    for (int64_t item = 0; item < s.items; item++) {
        sp__doubles_load(c->in[0], item * s.m * s.n, s.m * s.n, r);
        qr_split(s.m, s.n, width, r, q, turns);
        sp__doubles_store(c->out[0], item * s.m * width, s.m * width, q);
        sp__doubles_store(c->out[1], item * width * s.n, width * s.n, r);
    }
    return SP_OK;
}
/* M = R dR' - dQ' Q; dA = (dQ + Q (lower triangle of M, mirrored up)) R^-T. */
static sp_status qr_vjp(sp_builder *b, const sp_vjp *v)
{
    matrix_shape s = {.m = 0};
    SP_TRY(matrix_measure(v->in[0], &s));
    SP_TRY(real_only(v));
    SP_CHECK(s.m >= s.n && (s.m == s.n || !((const sp_qr_attrs *)v->attrs)->complete), SP_RUNTIME,
             "qr of %lld x %lld matrices has no gradient in this mode; it has one for as many rows as columns or more, "
             "in mode 'reduced'",
             (long long)s.m, (long long)s.n);
    sp_tensor *q = v->out[0], *r = v->out[1], *dq = v->dout[0], *dr = v->dout[1];
    sp_tensor *m = NULL;
    if (dr) m = sp_matmul(b, r, dr, false, true);
    if (dq) m = m ? sp_sub(b, m, sp_matmul(b, dq, q, true, false)) : sp_neg(b, sp_matmul(b, dq, q, true, false));
    sp_tensor *low = sp_mul(b, m, pattern(b, v->in[0], s.n, 1, 0, 0)),
              *on = sp_mul(b, m, pattern(b, v->in[0], s.n, 0, 1, 0));
    sp_tensor *d = product(b, q, sp_add(b, on, sp_add(b, low, transposed(b, low))));
    if (dq) d = sp_add(b, d, dq);
    v->din[0] = sp_matmul(b, d, inverse(b, r), false, true);
    return SP_OK;
}
const sp_op sp_op_qr = {
    .batch = sp__batch_trailing,
    .name = "qr",
    .inputs = "x",
    .n_out = 2,
    SP_ATTRS(qr_attr_table, sp_qr_attrs),
    MATRICES,
    .infer = qr_infer,
    .reference = qr_reference,
    .workspace = qr_workspace,
    .vjp = qr_vjp,
    .saves = SP_SAVE_OUT(0) | SP_SAVE_OUT(1),
    .mindir = "Qr",
    .doc = "An orthogonal and an upper triangular matrix whose product is the given one.",
    .samples = "[3,3]; [2,4,2]; [3,3] complete=True",
};

/* --- singular values --------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(svd_attr_table, sp_svd_attrs, (BOOL, full, False));

static sp_status svd_infer(const sp_call *c, sp_meta *out)
{
    matrix_shape s = {.m = 0};
    SP_TRY(matrix_measure(c->in[0], &s));
    const bool full = ((const sp_svd_attrs *)c->attrs)->full;
    matrix_meta(c->in[0], s.k, -1, &out[0]);
    matrix_meta(c->in[0], s.m, full ? s.m : s.k, &out[1]);
    matrix_meta(c->in[0], s.n, full ? s.n : s.k, &out[2]);
    return SP_OK;
}
/* Columns are kept as rows: the long side of the matrix (long x long only where it is completed), the short side, lengths, order. */
static size_t svd_workspace(const sp_call *c)
{
    matrix_shape s = {.m = 0};
    if (matrix_measure(c->in[0], &s) != SP_OK) return 0;
    const int64_t l = s.m + s.n - s.k,
                  wide = ((const sp_svd_attrs *)c->attrs)->full || sp__complex_matrix(c->in[0]) ? l : s.k;
    return (size_t)(2 * l * wide + 2 * s.k * s.k + l * s.k + 2 * s.k + 1) * element_bytes(c);
}

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}
static void rotate(int64_t n, double *x, double *y, double c, double s)
{
    for (int64_t i = 0; i < n; i++) {
        const double a = x[i], b = y[i];
        x[i] = c * a - s * b;
        y[i] = s * a + c * b;
    }
}
/* Rows of u (k of length l) are rotated until they are orthogonal; v (k x k) takes part. False: it did not settle. */
static bool jacobi(int64_t k, int64_t l, double *u, double *v)
{
    for (int64_t i = 0; i < k * k; i++) v[i] = i / k == i % k;
    for (int sweep = 0; sweep < 80; sweep++) {
        bool settled = true;
        for (int64_t p = 0; p < k; p++)
            for (int64_t q = p + 1; q < k; q++) {
                const double a = dot(l, u + p * l, u + p * l), d = dot(l, u + q * l, u + q * l),
                             g = dot(l, u + p * l, u + q * l);
                if (!(fabs(g) > 1e-15 * sqrt(a * d))) continue;
                settled = false;
                const double zeta = (d - a) / (2 * g), t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
                const double c = 1 / sqrt(1 + t * t);
                rotate(l, u + p * l, u + q * l, c, c * t);
                rotate(k, v + p * k, v + q * k, c, c * t);
            }
        if (settled) return true;
    }
    return false;
}
/* Rows `have` to `want` of u (length l) made orthonormal to those before: of the unit vectors the one that fits best. */
static void complete_rows(int64_t have, int64_t want, int64_t l, double *u)
{
    for (int64_t r = have; r < want; r++) {
        double best = -1;
        int64_t axis = 0;
        for (int64_t e = 0; e < l; e++) {
            double left = 1;
            for (int64_t i = 0; i < r; i++) left -= u[i * l + e] * u[i * l + e];
            if (left > best) best = left, axis = e;
        }
        double *row = u + r * l;
        for (int64_t e = 0; e < l; e++) row[e] = e == axis;
        for (int twice = 0; twice < 2; twice++)
            for (int64_t i = 0; i < r; i++) {
                const double f = dot(l, row, u + i * l);
                for (int64_t e = 0; e < l; e++) row[e] -= f * u[i * l + e];
            }
        const double size = sqrt(dot(l, row, row));
        for (int64_t e = 0; e < l; e++) row[e] /= size;
    }
}
typedef struct {
    double *u, *v, *sorted_u, *sorted_v, *sizes, *out;
} svd_work;

/* Lengths of the rows of u in descending order, and the rows of u (as unit vectors) and v in that order. Returns how many
 * are not zero. */
static int64_t sort_rows(int64_t k, int64_t l, const svd_work *w)
{
    double *sizes = w->sizes, *sorted = w->sizes + k;
    int64_t rank = 0;
    for (int64_t i = 0; i < k; i++) sizes[i] = sqrt(dot(l, w->u + i * l, w->u + i * l));
    for (int64_t r = 0; r < k; r++) {
        int64_t at = 0;
        for (int64_t i = 1; i < k; i++)
            if (sizes[i] > sizes[at]) at = i;
        sorted[r] = sizes[at];
        if (sorted[r] > 1e-290 && sorted[r] > 1e-16 * sorted[0]) {
            rank++;
            for (int64_t e = 0; e < l; e++) w->sorted_u[r * l + e] = w->u[at * l + e] / sorted[r];
        }
        memcpy(w->sorted_v + r * k, w->v + at * k, (size_t)k * sizeof(double));
        sizes[at] = -1;
    }
    return rank;
}
static void store_columns(sp_tensor *out, int64_t item, int64_t rows, int64_t columns, const double *from,
                          double *scratch)
{
    for (int64_t i = 0; i < rows * columns; i++) scratch[i] = from[i % columns * rows + i / columns];
    sp__doubles_store(out, item * rows * columns, rows * columns, scratch);
}
static sp_status svd_reference(const sp_call *c)
{
    matrix_shape s = {.m = 0};
    SP_TRY(matrix_measure(c->in[0], &s));
    const bool tall = s.m >= s.n, full = ((const sp_svd_attrs *)c->attrs)->full;
    if (sp__complex_matrix(c->in[0])) return sp__complex_svd(c, full);
    const int64_t l = tall ? s.m : s.n, k = s.k, wide = full ? l : k;
    svd_work w = {.sorted_u = c->work};
    w.u = w.sorted_u + l * wide;
    w.v = w.u + l * k;
    w.sorted_v = w.v + k * k;
    w.sizes = w.sorted_v + k * k;
    w.out = w.sizes + 2 * k;
    for (int64_t item = 0; item < s.items; item++) {
        sp__doubles_load(c->in[0], item * s.m * s.n, s.m * s.n, tall ? w.out : w.u);
        for (int64_t i = 0; i < s.m * s.n; i++)
            SP_CHECK(isfinite((tall ? w.out : w.u)[i]), SP_VALUE, "matrix %lld has an element that is not finite",
                     (long long)item);
        for (int64_t i = 0; tall && i < k * l; i++) w.u[i] = w.out[i % l * k + i / l];
        SP_CHECK(jacobi(k, l, w.u, w.v), SP_RUNTIME, "the singular values of matrix %lld were not found",
                 (long long)item);
        const int64_t rank = sort_rows(k, l, &w);
        complete_rows(rank, wide, l, w.sorted_u);
        sp__doubles_store(c->out[0], item * k, k, w.sizes + k);
        store_columns(c->out[tall ? 1 : 2], item, l, wide, w.sorted_u, w.out);
        store_columns(c->out[tall ? 2 : 1], item, k, k, w.sorted_v, w.out);
    }
    return SP_OK;
}

/* A vector per matrix along the columns or down the rows. */
static sp_tensor *spread(sp_builder *b, sp_tensor *s, bool down)
{
    int64_t dims[SP_RANK_MAX + 1];
    if (!s) return NULL;
    for (int i = 0; i < s->rank; i++) dims[i] = s->dims[i];
    dims[s->rank] = dims[s->rank - 1];
    dims[down ? s->rank : s->rank - 1] = 1;
    return sp_reshape(b, s, s->rank + 1, dims);
}
/* The part of x (rows x k) that the columns of u leave over. */
static sp_tensor *left_over(sp_builder *b, sp_tensor *x, sp_tensor *u)
{
    return sp_sub(b, x, product(b, u, sp_matmul(b, u, x, true, false)));
}
/* A = U S V'. With E_ij = s_j^2 - s_i^2 (1 on the diagonal) and skew(X) = X - X':
 * dA = U (skew(U'dU)/E S + S skew(V'dV)/E + dS) V' + (1 - U U') dU S^-1 V' + U S^-1 dV' (1 - V V'). */
static sp_status svd_vjp(sp_builder *b, const sp_vjp *v)
{
    matrix_shape s = {.m = 0};
    SP_TRY(matrix_measure(v->in[0], &s));
    SP_TRY(real_only(v));
    const bool vectors = v->dout[1] || v->dout[2];
    SP_CHECK(!vectors || s.m == s.n || !((const sp_svd_attrs *)v->attrs)->full, SP_RUNTIME,
             "the singular vectors of %lld x %lld matrices have no gradient with full_matrices; leave it out",
             (long long)s.m, (long long)s.n);
    const int last = v->in[0]->rank - 1;
    sp_tensor *u = sp__take_range(b, v->out[1], last, 0, s.k), *w = sp__take_range(b, v->out[2], last, 0, s.k);
    sp_tensor *size = v->out[0], *across = spread(b, size, false), *down = spread(b, size, true), *inner = NULL;
    if (v->dout[0]) inner = sp_mul(b, spread(b, v->dout[0], false), pattern(b, v->in[0], s.k, 0, 1, 0));
    if (vectors) {
        sp_tensor *gap =
            sp_add(b, sp_sub(b, sp_square(b, across), sp_square(b, down)), pattern(b, v->in[0], s.k, 0, 1, 0));
        for (int side = 1; side <= 2; side++) {
            if (!v->dout[side]) continue;
            sp_tensor *x = sp_matmul(b, side == 1 ? u : w, v->dout[side], true, false);
            x = sp_div(b, sp_sub(b, x, transposed(b, x)), gap);
            x = sp_mul(b, x, side == 1 ? across : down);
            inner = inner ? sp_add(b, inner, x) : x;
        }
    }
    sp_tensor *d = inner ? sp_matmul(b, product(b, u, inner), w, false, true) : NULL;
    if (v->dout[1] && s.m > s.k)
        d = sp_add(b, d, sp_matmul(b, sp_div(b, left_over(b, v->dout[1], u), across), w, false, true));
    if (v->dout[2] && s.n > s.k)
        d = sp_add(b, d, sp_matmul(b, sp_div(b, u, across), left_over(b, v->dout[2], w), false, true));
    v->din[0] = d;
    return SP_OK;
}
const sp_op sp_op_svd = {
    .batch = sp__batch_trailing,
    .name = "svd",
    .inputs = "x",
    .n_out = 3,
    SP_ATTRS(svd_attr_table, sp_svd_attrs),
    MATRICES,
    .infer = svd_infer,
    .reference = svd_reference,
    .workspace = svd_workspace,
    .vjp = svd_vjp,
    .saves = SP_SAVE_OUT(0) | SP_SAVE_OUT(1) | SP_SAVE_OUT(2),
    .mindir = "Svd",
    .doc = "Singular values in descending order, and the left and right singular vectors as columns.",
    .samples = "[3,3]; [2,4,2]; [2,3]; [3,3] full=True",
};
