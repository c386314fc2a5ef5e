/* SPDX-License-Identifier: Apache-2.0 */
/* complex_matrix.c - the kernels of linalg.c, decompose.c, eigen.c and solve.c for complex matrices, in double precision.
 *
 * The ways are those of the real kernels. Two things are added: a reflection takes a column to a real multiple of its axis, so its
 * factor is complex (LAPACK's zlarfg), and a rotation of two columns first turns the second one until their product is real. */
#include <complex.h>
#include <math.h>

#include "ops/complex_matrix.h"
#include "ops/kernels.h"
#include "ops/linalg.h"

typedef double complex number;

bool sp__complex_matrix(const sp_tensor *x) { return x->dtype == SP_DTYPE_C64 || x->dtype == SP_DTYPE_C128; }

void sp__numbers_load(const sp_tensor *x, int64_t at, int64_t n, void *to)
{
    const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)x->dtype);
    sp__cast_loop((sp_dtype)x->dtype, SP_DTYPE_C128)(n, (char *const[]){(char *)to, x->data + at * bytes},
                                                     (const int64_t[]){sizeof(number), bytes}, NULL);
}
void sp__numbers_store(const sp_tensor *out, int64_t at, int64_t n, void *from)
{
    const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)out->dtype);
    sp__cast_loop(SP_DTYPE_C128, (sp_dtype)out->dtype)(n, (char *const[]){out->data + at * bytes, (char *)from},
                                                       (const int64_t[]){bytes, sizeof(number)}, NULL);
}
static void identity(int64_t n, number *m)
{
    for (int64_t i = 0; i < n * n; i++) m[i] = i / n == i % n;
}
/* x* y */
static number product(int64_t n, const number *x, const number *y)
{
    number sum = 0;
    for (int64_t i = 0; i < n; i++) sum += conj(x[i]) * y[i];
    return sum;
}

/* --- inverse and determinant ------------------------------------------------------------------------------------- */

/* a becomes upper triangular; the same steps are done to `other` if there is one. The sign of the permutation, zero without a pivot. */
static int eliminate(int64_t n, number *a, number *other)
{
    int sign = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            if (cabs(a[i * n + k]) > cabs(a[pivot * n + k])) pivot = i;
        if (a[pivot * n + k] == 0) return 0;
        if (pivot != k) sign = -sign;
        for (int64_t j = 0; pivot != k && j < n; j++) {
            const number x = a[k * n + j], y = other ? other[k * n + j] : 0;
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = x;
            if (other) other[k * n + j] = other[pivot * n + j], other[pivot * n + j] = y;
        }
        for (int64_t i = k + 1; i < n; i++) {
            const number f = a[i * n + k] / a[k * n + k];
            for (int64_t j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            for (int64_t j = 0; other && j < n; j++) other[i * n + j] -= f * other[k * n + j];
        }
    }
    return sign;
}
sp_status sp__complex_inverse(const sp_call *c)
{
    int64_t n = 0;
    SP_TRY(sp__square_check(c->in[0], &n));
    number *a = c->work, *inverse = a + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__numbers_load(c->in[0], item * n * n, n * n, a);
        identity(n, inverse);
        SP_CHECK(eliminate(n, a, inverse) != 0, SP_VALUE, "matrix %lld is singular and has no inverse",
                 (long long)item);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = n - 1; i >= 0; i--) {
                number sum = inverse[i * n + j];
                for (int64_t k = i + 1; k < n; k++) sum -= a[i * n + k] * inverse[k * n + j];
                inverse[i * n + j] = sum / a[i * n + i];
            }
        sp__numbers_store(c->out[0], item * n * n, n * n, inverse);
    }
    return SP_OK;
}
/* The determinant, or (two results) its direction and the logarithm of its size. */
sp_status sp__complex_determinant(const sp_call *c)
{
    int64_t n = 0;
    SP_TRY(sp__square_check(c->in[0], &n));
    number *a = c->work;
    for (int64_t item = 0; item < c->out[0]->count; item++) {
        sp__numbers_load(c->in[0], item * n * n, n * n, a);
        number det = eliminate(n, a, NULL), size = det == 0 ? -INFINITY : 0;
        for (int64_t i = 0; i < n && det != 0; i++) {
            const double length = c->n_out == 2 ? cabs(a[i * n + i]) : 1;
            det *= a[i * n + i] / length;
            size += log(length);
        }
        sp__numbers_store(c->out[0], item, 1, &det);
        if (c->n_out == 2) sp__numbers_store(c->out[1], item, 1, &size);
    }
    return SP_OK;
}

/* --- Cholesky and triangular systems ----------------------------------------------------------------------------- */

/* l with l l* = a, both n x n; false when a is not Hermitian, up to eps, and positive definite. Of the diagonal the real part counts. */
static bool cholesky_lower(int64_t n, const number *a, number *l, double eps)
{
    memset(l, 0, (size_t)(n * n) * sizeof *l);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            if (i != j && cabs(a[i * n + j] - conj(a[j * n + i])) > eps * (cabs(a[i * n + i]) + cabs(a[j * n + j])))
                return false;
            number sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= l[i * n + k] * conj(l[j * n + k]);
            if (i == j && !(creal(sum) > 0)) return false;
            l[i * n + j] = i == j ? sqrt(creal(sum)) : sum / l[j * n + j];
        }
    return true;
}
sp_status sp__complex_cholesky(const sp_call *c, bool upper)
{
    int64_t n = 0;
    SP_TRY(sp__square_check(c->in[0], &n));
    number *a = c->work, *l = a + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__numbers_load(c->in[0], item * n * n, n * n, a);
        SP_CHECK(cholesky_lower(n, a, l, c->in[0]->dtype == SP_DTYPE_C128 ? 1e-10 : 1e-4), SP_RUNTIME,
                 "matrix %lld is not Hermitian and positive definite, a Cholesky decomposition needs that",
                 (long long)item);
        for (int64_t i = 0; upper && i < n * n; i++) a[i] = conj(l[i % n * n + i / n]);
        sp__numbers_store(c->out[0], item * n * n, n * n, upper ? a : l);
    }
    return SP_OK;
}
sp_status sp__complex_triangular(const sp_call *c, bool upper, bool transpose, bool unit)
{
    const int rank = c->in[0]->rank;
    const int64_t n = c->in[0]->dims[rank - 1], m = c->in[1]->dims[rank - 1];
    const bool from_top = upper == transpose;
    number *a = c->work, *x = a + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__numbers_load(c->in[0], item * n * n, n * n, a);
        sp__numbers_load(c->in[1], item * n * m, n * m, x);
        for (int64_t step = 0; step < n; step++) {
            const int64_t i = from_top ? step : n - 1 - step;
            for (int64_t done = 0; done < step; done++) {
                const int64_t k = from_top ? done : n - 1 - done;
                const number f = transpose ? a[k * n + i] : a[i * n + k];
                for (int64_t j = 0; j < m; j++) x[i * m + j] -= f * x[k * m + j];
            }
            for (int64_t j = 0; !unit && j < m; j++) x[i * m + j] /= a[i * n + i];
        }
        sp__numbers_store(c->out[0], item * n * m, n * m, x);
    }
    return SP_OK;
}

/* --- QR ---------------------------------------------------------------------------------------------------------- */

/* Columns from `first` on of a [m x n]: a -= factor v (v* a), v from row `from` on. */
static void reflect(number *a, int64_t m, int64_t n, int64_t from, int64_t first, const number *v, number factor)
{
    for (int64_t j = first; j < n; j++) {
        number dot = 0;
        for (int64_t i = from; i < m; i++) dot += conj(v[i]) * a[i * n + j];
        for (int64_t i = from; i < m; i++) a[i * n + j] -= factor * dot * v[i];
    }
}
/* r becomes upper triangular with a real diagonal; q gets the first `width` columns of the product of the reflections, as in decompose.c. */
static void qr_split(int64_t m, int64_t n, int64_t width, number *r, number *q, number *turns)
{
    const int64_t n_turns = n < m ? n : m;
    for (int64_t k = 0; k < n_turns; k++) {
        double tail = 0;
        number *v = turns + k * (m + 1), *back = v + m;
        *back = 0;
        for (int64_t i = k + 1; i < m; i++) tail += creal(r[i * n + k] * conj(r[i * n + k]));
        const number x = r[k * n + k];
        if (tail == 0 && cimag(x) == 0) continue;
        const double size = sqrt(creal(x * conj(x)) + tail), to = creal(x) >= 0 ? -size : size;
        for (int64_t i = k; i < m; i++) v[i] = r[i * n + k];
        v[k] = x - to;
        const number factor = 1 / (size * size - to * x); /* one over v* x: takes the column to `to` */
        reflect(r, m, n, k, k, v, factor);
        *back = conj(factor);
        r[k * n + k] = to;
        for (int64_t i = k + 1; i < m; i++) r[i * n + k] = 0;
    }
    for (int64_t i = 0; i < m * width; i++) q[i] = i / width == i % width;
    for (int64_t k = n_turns - 1; k >= 0; k--)
        if (turns[k * (m + 1) + m] != 0) reflect(q, m, width, k, k, turns + k * (m + 1), turns[k * (m + 1) + m]);
}
sp_status sp__complex_qr(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    const int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1], width = c->out[0]->dims[x->rank - 1];
    number *r = c->work, *q = r + m * n, *turns = q + m * width;
    for (int64_t item = 0; item < sp__matrix_count(x); item++) {
        sp__numbers_load(x, item * m * n, m * n, r);
        qr_split(m, n, width, r, q, turns);
        sp__numbers_store(c->out[0], item * m * width, m * width, q);
        sp__numbers_store(c->out[1], item * width * n, width * n, r);
    }
    return SP_OK;
}

/* --- eigenvalues of Hermitian matrices ---------------------------------------------------------------------------- */

/* (x, y) <- (co x - si y, si x + co y) where y is turned by phase first; elements `step` apart. */
static void rotate(int64_t n, int64_t step, number *x, number *y, double co, double si, number phase)
{
    for (int64_t k = 0; k < n; k++) {
        const number a = x[k * step], b = y[k * step] * phase;
        x[k * step] = co * a - si * b;
        y[k * step] = si * a + co * b;
    }
}
static bool diagonal_enough(int64_t n, const number *a)
{
    double beside = 0, all = 0;
    for (int64_t i = 0; i < n * n; i++) {
        const double square = creal(a[i] * conj(a[i]));
        all += square;
        if (i / n != i % n) beside += square;
    }
    return !(beside > all * 1e-32);
}
/* a becomes diagonal, v gathers the rotations: its columns are the vectors. */
static void rotate_all(int64_t n, number *a, number *v)
{
    identity(n, v);
    for (int sweep = 0; sweep < 60 && !diagonal_enough(n, a); sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                const double size = cabs(a[p * n + q]);
                if (size == 0) continue;
                const number phase = conj(a[p * n + q]) / size;
                const double theta = creal(a[q * n + q] - a[p * n + p]) / (2 * size);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)),
                             co = 1 / sqrt(t * t + 1);
                rotate(n, n, a + p, a + q, co, t * co, phase);
                rotate(n, 1, a + p * n, a + q * n, co, t * co, conj(phase));
                rotate(n, n, v + p, v + q, co, t * co, phase);
            }
}
/* Ascending, each vector with its largest element real and positive: one answer for each matrix. */
static void arrange(int64_t n, const number *a, number *v, number *w)
{
    for (int64_t i = 0; i < n; i++) w[i] = creal(a[i * n + i]);
    for (int64_t i = 0; i < n; i++) {
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (creal(w[j]) < creal(w[least])) least = j;
        const number keep = w[i];
        w[i] = w[least];
        w[least] = keep;
        number top = 0;
        for (int64_t k = 0; k < n; k++) {
            const number x = v[k * n + i];
            v[k * n + i] = v[k * n + least];
            v[k * n + least] = x;
            if (cabs(v[k * n + i]) > cabs(top) * (1 + 1e-9)) top = v[k * n + i];
        }
        for (int64_t k = 0; top != 0 && k < n; k++) v[k * n + i] *= conj(top) / cabs(top);
    }
}
sp_status sp__complex_eigh(const sp_call *c)
{
    const int64_t n = c->in[0]->dims[c->in[0]->rank - 1];
    number *a = c->work, *v = a + n * n, *w = v + n * n;
    for (int64_t item = 0; n && item < c->in[0]->count / (n * n); item++) {
        sp__numbers_load(c->in[0], item * n * n, n * n, a);
        for (int64_t i = 0; i < n * n; i++) /* the lower triangle is the matrix */
            if (i / n <= i % n) a[i] = i / n == i % n ? creal(a[i]) : conj(a[i % n * n + i / n]);
        rotate_all(n, a, v);
        arrange(n, a, v, w);
        sp__numbers_store(c->out[0], item * n, n, w);
        sp__numbers_store(c->out[1], item * n * n, n * n, v);
    }
    return SP_OK;
}

/* --- singular values --------------------------------------------------------------------------------------------- */

/* Rows of u (k of length l) are rotated until they are orthogonal; v (k x k) takes part. False: it did not settle. */
static bool jacobi(int64_t k, int64_t l, number *u, number *v)
{
    identity(k, v);
    for (int sweep = 0; sweep < 80; sweep++) {
        bool settled = true;
        for (int64_t p = 0; p < k; p++)
            for (int64_t q = p + 1; q < k; q++) {
                const double a = creal(product(l, u + p * l, u + p * l)), d = creal(product(l, u + q * l, u + q * l));
                const number g = product(l, u + p * l, u + q * l);
                const double size = cabs(g);
                if (!(size > 1e-15 * sqrt(a * d))) continue;
                settled = false;
                const double zeta = (d - a) / (2 * size), t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
                const double co = 1 / sqrt(1 + t * t);
                rotate(l, 1, u + p * l, u + q * l, co, co * t, conj(g) / size);
                rotate(k, 1, v + p * k, v + q * k, co, co * t, conj(g) / size);
            }
        if (settled) return true;
    }
    return false;
}
/* Rows `have` to `want` of u (length l) made orthonormal to those before: of the unit vectors the one that fits best. */
static void complete_rows(int64_t have, int64_t want, int64_t l, number *u)
{
    for (int64_t r = have; r < want; r++) {
        double best = -1;
        int64_t axis = 0;
        for (int64_t e = 0; e < l; e++) {
            double left = 1;
            for (int64_t i = 0; i < r; i++) left -= creal(u[i * l + e] * conj(u[i * l + e]));
            if (left > best) best = left, axis = e;
        }
        number *row = u + r * l;
        for (int64_t e = 0; e < l; e++) row[e] = e == axis;
        for (int twice = 0; twice < 2; twice++)
            for (int64_t i = 0; i < r; i++) {
                const number f = product(l, u + i * l, row);
                for (int64_t e = 0; e < l; e++) row[e] -= f * u[i * l + e];
            }
        const double size = sqrt(creal(product(l, row, row)));
        for (int64_t e = 0; e < l; e++) row[e] /= size;
    }
}
/* Lengths of the rows of u, descending, into sizes[k..]; rows of u as unit vectors and of v in that order. How many are not zero. */
static int64_t sort_rows(int64_t k, int64_t l, const number *u, const number *v, number *sorted_u, number *sorted_v,
                         number *sizes)
{
    int64_t rank = 0;
    for (int64_t i = 0; i < k; i++) sizes[i] = sqrt(creal(product(l, u + i * l, u + i * l)));
    for (int64_t r = 0; r < k; r++) {
        int64_t at = 0;
        for (int64_t i = 1; i < k; i++)
            if (creal(sizes[i]) > creal(sizes[at])) at = i;
        const double size = creal(sizes[k + r] = sizes[at]);
        if (size > 1e-290 && size > 1e-16 * creal(sizes[k])) {
            rank++;
            for (int64_t e = 0; e < l; e++) sorted_u[r * l + e] = u[at * l + e] / size;
        }
        memcpy(sorted_v + r * k, v + at * k, (size_t)k * sizeof *v);
        sizes[at] = -1;
    }
    return rank;
}
static void store_columns(const sp_tensor *out, int64_t item, int64_t rows, int64_t columns, const number *from,
                          number *scratch)
{
    for (int64_t i = 0; i < rows * columns; i++) scratch[i] = from[i % columns * rows + i / columns];
    sp__numbers_store(out, item * rows * columns, rows * columns, scratch);
}
/* A tall matrix is A = U S V*: its columns, kept as rows, are rotated. A wide one is handled as A*, with U and V exchanged. */
sp_status sp__complex_svd(const sp_call *c, bool full)
{
    const sp_tensor *x = c->in[0];
    const int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1], k = m < n ? m : n, l = m < n ? n : m;
    const bool tall = m >= n;
    number *sorted_u = c->work, *u = sorted_u + l * l, *v = u + l * k, *sorted_v = v + k * k, *sizes = sorted_v + k * k;
    number *out = sizes + 2 * k;
    for (int64_t item = 0; item < sp__matrix_count(x); item++) {
        sp__numbers_load(x, item * m * n, m * n, out);
        for (int64_t i = 0; i < m * n; i++)
            SP_CHECK(isfinite(creal(out[i])) && isfinite(cimag(out[i])), SP_VALUE,
                     "matrix %lld has an element that is not finite", (long long)item);
        for (int64_t i = 0; i < k * l; i++) u[i] = tall ? out[i % l * k + i / l] : conj(out[i]);
        SP_CHECK(jacobi(k, l, u, v), SP_RUNTIME, "the singular values of matrix %lld were not found", (long long)item);
        const int64_t rank = sort_rows(k, l, u, v, sorted_u, sorted_v, sizes), wide = full ? l : k;
        complete_rows(rank, wide, l, sorted_u);
        sp__numbers_store(c->out[0], item * k, k, sizes + k);
        store_columns(c->out[tall ? 1 : 2], item, l, wide, sorted_u, out);
        store_columns(c->out[tall ? 2 : 1], item, k, k, sorted_v, out);
    }
    return SP_OK;
}
