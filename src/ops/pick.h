/* SPDX-License-Identifier: Apache-2.0 */
/* pick.h - one element chosen along an axis: what the positions of extrema and the median share. Defined in stat.c. */
#ifndef SPORE_OPS_PICK_H
#define SPORE_OPS_PICK_H

#include "ops/ops_impl.h"

/* A row-major tensor as lines along an axis; a scalar is one line of one element. */
typedef struct sp__pick {
    int axis;
    int64_t n, inner; /* elements of a line, and how far apart they are */
} sp__pick;

sp_status sp__pick_measure(const sp_tensor *x, int64_t axis, sp__pick *p);
/* Rank and dimensions of the result. An axis without elements is an error: there is nothing to choose. */
sp_status sp__pick_infer(const sp_tensor *x, int64_t axis, bool keepdims, sp_meta *out);
/* din[0]: g goes to the element chosen by index alone. g may be NULL. */
sp_status sp__pick_vjp(sp_builder *b, const sp_vjp *v, int64_t axis, sp_tensor *index, sp_tensor *g);

#endif
