/* SPDX-License-Identifier: Apache-2.0 */
/* complex_matrix.h - kernels for complex matrices; the operators in linalg.c, decompose.c, eigen.c and solve.c call them. Workspaces
 * are twice as large as those of real matrices. */
#ifndef SPORE_OPS_COMPLEX_MATRIX_H
#define SPORE_OPS_COMPLEX_MATRIX_H

#include "ops/ops_impl.h"

bool sp__complex_matrix(const sp_tensor *x);
/* How many matrices there are, also of those without elements: they have results that are not empty (an orthogonal matrix, say). */
static inline int64_t sp__matrix_count(const sp_tensor *x)
{
    int64_t n = 1;
    for (int i = 0; i + 2 < x->rank; i++) n *= x->dims[i];
    return n;
}
/* n elements of a row-major tensor from element `at` on, as complex doubles. */
void sp__numbers_load(const sp_tensor *x, int64_t at, int64_t n, void *to);
void sp__numbers_store(const sp_tensor *out, int64_t at, int64_t n, void *from);

sp_status sp__complex_inverse(const sp_call *c);
sp_status sp__complex_determinant(const sp_call *c); /* with two results: direction and logarithm of the size */
sp_status sp__complex_cholesky(const sp_call *c, bool upper);
sp_status sp__complex_triangular(const sp_call *c, bool upper, bool transpose, bool unit);
sp_status sp__complex_qr(const sp_call *c);
sp_status sp__complex_eigh(const sp_call *c);
sp_status sp__complex_svd(const sp_call *c, bool full);

#endif
