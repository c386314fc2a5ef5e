/* SPDX-License-Identifier: Apache-2.0 */
/* outside.h - one more flag of handles, for recordings: a constant of the function being recorded that others hold too. An operator that writes to
 * it makes it a variable instead (eager/apply.c). It belongs to the handle, as SP_TENSOR_PARAMETER does. */
#ifndef SPORE_TENSOR_OUTSIDE_H
#define SPORE_TENSOR_OUTSIDE_H

#include "tensor/tensor_impl.h"

#define SP_TENSOR_OUTSIDE 32
_Static_assert((int)SP_TENSOR_VARIABLE < SP_TENSOR_OUTSIDE, "a bit of its own in sp_tensor.flags");

#endif
