/* SPDX-License-Identifier: Apache-2.0 */
/* eigen.c - eigenvalues and eigenvectors, over all leading dimensions, in double precision whatever the dtype.
 *
 * Symmetric matrices: rotations in the plane of two axes until nothing is left beside the diagonal (Jacobi). Others: to
 * Hessenberg form by reflections, then QR steps with shifts in complex numbers until triangular; eigenvectors of the
 * triangle by substitution, turned back by the unitary matrix that was gathered on the way. */
#include <complex.h>
#include <float.h>

#include "ir/refuse.h"
#include "ops/complex_matrix.h"
#include "ops/kernels.h"
#include "ops/linalg.h"

typedef double complex number;

static size_t square_bytes(const sp_call *c, int64_t matrices, size_t element)
{
    int64_t n = 0;
    return sp__square_check(c->in[0], &n) == SP_OK ? (size_t)(matrices * n * n + n + 1) * element : 0;
}

/* --- eigh -------------------------------------------------------------------------------------------------------- */

static sp_status eigh_infer(const sp_call *c, sp_meta *out)
{
    int64_t n = 0;
    SP_TRY(sp__square_check(c->in[0], &n));
    sp__meta_of(c->in[0], &out[0]);
    sp__meta_of(c->in[0], &out[1]);
    out[0].rank--;
    return SP_OK;
}
static size_t eigh_workspace(const sp_call *c)
{
    return square_bytes(c, 2, sp__complex_matrix(c->in[0]) ? sizeof(number) : sizeof(double));
}

/* a becomes diagonal, v gathers the rotations. */
static void rotate_all(int64_t n, double *a, double *v)
{
    for (int64_t i = 0; i < n * n; i++) v[i] = i / n == i % n;
    for (int sweep = 0; sweep < 60; sweep++) {
        double beside = 0, all = 0;
        for (int64_t i = 0; i < n * n; i++) {
            all += a[i] * a[i];
            if (i / n != i % n) beside += a[i] * a[i];
        }
        if (!(beside > all * 1e-32)) return;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                const double apq = a[p * n + q];
                if (apq == 0) continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)),
                             co = 1 / sqrt(t * t + 1), si = t * co;
                for (int64_t k = 0; k < n; k++) {
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = co * x - si * y;
                    a[k * n + q] = si * x + co * y;
                }
                for (int64_t k = 0; k < n; k++) {
                    const double x = a[p * n + k], y = a[q * n + k], vx = v[k * n + p], vy = v[k * n + q];
                    a[p * n + k] = co * x - si * y;
                    a[q * n + k] = si * x + co * y;
                    v[k * n + p] = co * vx - si * vy;
                    v[k * n + q] = si * vx + co * vy;
                }
            }
    }
}
/* Ascending, each vector with its largest element positive: one answer for each matrix. */
static void arrange(int64_t n, double *a, double *v, double *w)
{
    for (int64_t i = 0; i < n; i++) w[i] = a[i * n + i];
    for (int64_t i = 0; i < n; i++) {
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (w[j] < w[least]) least = j;
        const double keep = w[i];
        w[i] = w[least];
        w[least] = keep;
        double top = 0;
        for (int64_t k = 0; k < n; k++) {
            const double x = v[k * n + i];
            v[k * n + i] = v[k * n + least];
            v[k * n + least] = x;
            if (fabs(v[k * n + i]) > fabs(top) * (1 + 1e-9)) top = v[k * n + i];
        }
        for (int64_t k = 0; top < 0 && k < n; k++) v[k * n + i] = -v[k * n + i];
    }
}
static sp_status eigh_reference(const sp_call *c)
{
    if (sp__complex_matrix(c->in[0])) return sp__complex_eigh(c);
    const int64_t n = c->in[0]->dims[c->in[0]->rank - 1];
    double *a = c->work, *v = a + n * n, *w = v + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__doubles_load(c->in[0], item * n * n, n * n, a);
        for (int64_t i = 0; i < n * n; i++) /* the lower triangle is the matrix */
            if (i / n < i % n) a[i] = a[i % n * n + i / n];
        rotate_all(n, a, v);
        arrange(n, a, v, w);
        sp__doubles_store(c->out[0], item * n, n, w);
        sp__doubles_store(c->out[1], item * n * n, n * n, v);
    }
    return SP_OK;
}
/* V (diag(dw) + F o V^T dV) V^T with F_ij = 1 / (w_j - w_i), made symmetric; equal eigenvalues take no part in F. */
static sp_status eigh_vjp(sp_builder *b, const sp_vjp *v)
{
    SP_CHECK(!sp__complex_matrix(v->in[0]), SP_RUNTIME, "eigh has no gradient for complex matrices");
    sp_tensor *w = v->out[0], *vectors = v->out[1];
    int64_t dims[SP_RANK_MAX];
    memcpy(dims, w->dims, (size_t)w->rank * sizeof *dims);
    dims[w->rank] = dims[w->rank - 1];
    dims[w->rank - 1] = 1;
    sp_tensor *row = sp_reshape(b, w, w->rank + 1, dims), *gap = sp_sub(b, row, sp_swap_axes(b, row, -1, -2));
    sp_tensor *zero = sp__zeros_like(b, gap), *none = SP_APPLY2(b, sp_op_equal, gap, zero);
    sp_tensor *inner = zero;
    if (v->dout[1])
        inner = sp_mul(b, sp_matmul(b, vectors, v->dout[1], true, false),
                       sp_select(b, none, zero, sp_reciprocal(b, sp_select(b, none, sp__add_number(b, zero, 1), gap))));
    if (v->dout[0]) {
        const sp_diag_embed_attrs attrs = {0, -2, -1};
        inner = sp_add(b, inner, sp_builder_apply(b, &sp_op_diag_embed, &attrs, 1, (sp_tensor *const[]){v->dout[0]}));
    }
    sp_tensor *d = sp_matmul(b, sp_matmul(b, vectors, inner, false, false), vectors, false, true);
    v->din[0] = sp__mul_number(b, sp_add(b, d, sp_swap_axes(b, d, -1, -2)), 0.5);
    return SP_OK;
}
const sp_op sp_op_eigh = {
    .batch = sp__batch_trailing,
    .name = "eigh",
    .inputs = "x",
    .n_out = 2,
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX,
    .infer = eigh_infer,
    .reference = eigh_reference,
    .workspace = eigh_workspace,
    .vjp = eigh_vjp,
    .saves = SP_SAVE_OUT(0) | SP_SAVE_OUT(1),
    .mindir = "Eigh",
    .samples = "[1,1]; [2,1,1]",
    .doc =
        "Eigenvalues in ascending order and eigenvectors, as columns, of symmetric matrices, of which the lower triangle is read.",
};

/* --- eig --------------------------------------------------------------------------------------------------------- */

static sp_status eig_infer(const sp_call *c, sp_meta *out)
{
    int64_t n = 0;
    SP_TRY(sp__square_check(c->in[0], &n));
    sp__meta_of(c->in[0], &out[0]);
    const bool twice = c->in[0]->dtype == SP_DTYPE_F64 || c->in[0]->dtype == SP_DTYPE_C128;
    out[0].dtype = twice ? SP_DTYPE_C128 : SP_DTYPE_C64;
    out[1] = out[0];
    out[0].rank--;
    return SP_OK;
}
static size_t eig_workspace(const sp_call *c) { return square_bytes(c, 3, sizeof(number)); }

/* h becomes Hessenberg, u gathers the reflections: u h u* stays what it was. */
static void hessenberg(int64_t n, number *h, number *u, number *w)
{
    for (int64_t i = 0; i < n * n; i++) u[i] = i / n == i % n;
    for (int64_t k = 0; k + 2 < n; k++) {
        double norm = 0;
        for (int64_t i = k + 1; i < n; i++) norm = hypot(norm, cabs(h[i * n + k]));
        if (norm == 0) continue;
        const number x = h[(k + 1) * n + k], phase = cabs(x) > 0 ? x / cabs(x) : 1;
        double size = 0;
        for (int64_t i = k + 1; i < n; i++) w[i] = h[i * n + k];
        w[k + 1] += phase * norm;
        for (int64_t i = k + 1; i < n; i++) size = hypot(size, cabs(w[i]));
        for (int64_t i = k + 1; i < n; i++) w[i] /= size;
        for (int64_t j = 0; j < n; j++) {
            number sum = 0;
            for (int64_t i = k + 1; i < n; i++) sum += conj(w[i]) * h[i * n + j];
            for (int64_t i = k + 1; i < n; i++) h[i * n + j] -= 2 * w[i] * sum;
        }
        for (int64_t i = 0; i < n; i++) {
            number sum = 0, turn = 0;
            for (int64_t j = k + 1; j < n; j++) sum += h[i * n + j] * w[j], turn += u[i * n + j] * w[j];
            for (int64_t j = k + 1; j < n; j++)
                h[i * n + j] -= 2 * sum * conj(w[j]), u[i * n + j] -= 2 * turn * conj(w[j]);
        }
    }
}
/* One QR step on rows and columns low..high with a shift, by rotations of neighbours. */
static void qr_step(int64_t n, number *h, number *u, int64_t low, int64_t high, number shift, number *turns)
{
    for (int64_t i = low; i <= high; i++) h[i * n + i] -= shift;
    for (int64_t i = low; i < high; i++) {
        const number x = h[i * n + i], y = h[(i + 1) * n + i];
        const double r = hypot(cabs(x), cabs(y));
        const number c = r > 0 ? x / r : 1, s = r > 0 ? y / r : 0;
        turns[2 * i] = c;
        turns[2 * i + 1] = s;
        for (int64_t j = i; j < n; j++) {
            const number a = h[i * n + j], z = h[(i + 1) * n + j];
            h[i * n + j] = conj(c) * a + conj(s) * z;
            h[(i + 1) * n + j] = c * z - s * a;
        }
    }
    for (int64_t j = low; j < high; j++) {
        const number c = turns[2 * j], s = turns[2 * j + 1];
        const int64_t last = j + 2 < high ? j + 2 : high;
        for (int64_t i = 0; i <= last; i++) {
            const number a = h[i * n + j], z = h[i * n + j + 1];
            h[i * n + j] = a * c + z * s;
            h[i * n + j + 1] = z * conj(c) - a * conj(s);
        }
        for (int64_t i = 0; i < n; i++) {
            const number a = u[i * n + j], z = u[i * n + j + 1];
            u[i * n + j] = a * c + z * s;
            u[i * n + j + 1] = z * conj(c) - a * conj(s);
        }
    }
    for (int64_t i = low; i <= high; i++) h[i * n + i] += shift;
}
/* The eigenvalue of the last 2 x 2 block that is nearer to its corner. */
static number wilkinson(const number *h, int64_t n, int64_t k)
{
    const number a = h[(k - 1) * n + k - 1], b = h[(k - 1) * n + k], c = h[k * n + k - 1], d = h[k * n + k];
    const number half = (a - d) / 2, root = csqrt(half * half + b * c);
    const number up = d + half + root, down = d + half - root;
    return cabs(up - d) < cabs(down - d) ? up : down;
}
static bool triangular(int64_t n, number *h, number *u, number *turns)
{
    int64_t high = n - 1, turns_left = 60 * n;
    while (high > 0) {
        int64_t low = high;
        while (low > 0 &&
               cabs(h[low * n + low - 1]) > 1e-16 * (cabs(h[low * n + low]) + cabs(h[(low - 1) * n + low - 1])))
            low--;
        if (low > 0) h[low * n + low - 1] = 0;
        if (low == high) {
            high--;
            continue;
        }
        if (!turns_left--) return false;
        /* Now and then a shift from elsewhere: some matrices are their own next step. */
        qr_step(n, h, u, low, high,
                turns_left % 11 ? wilkinson(h, n, high) : cabs(h[high * n + high - 1]) + h[high * n + high], turns);
    }
    return true;
}
/* Eigenvectors of the triangle, turned by u, of length one, into columns of out. */
static void vectors_of(int64_t n, const number *h, const number *u, number *out, number *x)
{
    double size = 0;
    for (int64_t i = 0; i < n * n; i++) size = fmax(size, cabs(h[i]));
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t i = k + 1; i < n; i++) x[i] = 0;
        x[k] = 1;
        for (int64_t i = k - 1; i >= 0; i--) {
            number sum = 0, gap = h[k * n + k] - h[i * n + i];
            for (int64_t j = i + 1; j <= k; j++) sum += h[i * n + j] * x[j];
            if (cabs(gap) < 1e-16 * size) gap = 1e-16 * size + DBL_MIN;
            x[i] = sum / gap;
        }
        double length = 0;
        for (int64_t i = 0; i < n; i++) {
            number sum = 0;
            for (int64_t j = 0; j <= k; j++) sum += u[i * n + j] * x[j];
            out[i * n + k] = sum;
            length = hypot(length, cabs(sum));
        }
        for (int64_t i = 0; length > 0 && i < n; i++) out[i * n + k] /= length;
    }
}
static sp_status eig_reference(const sp_call *c)
{
    const int64_t n = c->in[0]->dims[c->in[0]->rank - 1];
    number *h = c->work, *u = h + n * n, *out = u + n * n, *row = out + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__numbers_load(c->in[0], item * n * n, n * n, h);
        for (int64_t i = 0; i < n * n; i++)
            SP_CHECK(isfinite(creal(h[i])) && isfinite(cimag(h[i])), SP_VALUE,
                     "matrix %lld has elements that are not finite", (long long)item);
        hessenberg(n, h, u, row);
        SP_CHECK(triangular(n, h, u, out), SP_RUNTIME, "the eigenvalues of matrix %lld did not converge",
                 (long long)item);
        for (int64_t i = 0; i < n; i++) row[i] = h[i * n + i];
        sp__numbers_store(c->out[0], item * n, n, row);
        vectors_of(n, h, u, out, row);
        sp__numbers_store(c->out[1], item * n * n, n * n, out);
    }
    return SP_OK;
}
const sp_op sp_op_eig = {
    .batch = sp__batch_trailing,
    .name = "eig",
    .inputs = "x",
    .n_out = 2,
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX,
    .infer = eig_infer,
    .reference = eig_reference,
    .workspace = eig_workspace,
    .vjp = sp__vjp_refuse,
    .no_vjp =
        "eigenvalues and eigenvectors of general matrices are not differentiated; those of symmetric ones are (eigh)",
    .mindir = "Eig",
    .samples = "[2,2]; [3,3]; [2,2,2]; [1,1]",
    .doc = "Eigenvalues and eigenvectors, as columns of length one, of square matrices: complex numbers.",
};
