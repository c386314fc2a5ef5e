/* SPDX-License-Identifier: Apache-2.0 */
/* linalg.h - what the operators on matrices share: they compute in double whatever the dtype. Defined in linalg.c. */
#ifndef SPORE_OPS_LINALG_H
#define SPORE_OPS_LINALG_H

#include "ops/ops_impl.h"

/* The last two dimensions must be equal; *n is their size. */
sp_status sp__square_check(const sp_tensor *x, int64_t *n);
sp_status sp__square_infer(const sp_call *c, sp_meta *out); /* such matrices give others like them */
/* n elements of a row-major tensor from element `at` on, converted. */
void sp__doubles_load(const sp_tensor *x, int64_t at, int64_t n, double *to);
void sp__doubles_store(sp_tensor *out, int64_t at, int64_t n, double *from);

/* The transpose, of complex matrices the conjugate one: what stands in gradients where real matrices have the transpose. */
sp_tensor *sp__adjoint(sp_builder *b, sp_tensor *x);

#endif
