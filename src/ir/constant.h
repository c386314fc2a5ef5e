/* SPDX-License-Identifier: Apache-2.0 */
/* constant.h - tensors that become constants of a recording without being copied (sp__value_constant). */
#ifndef SPORE_CONSTANT_H
#define SPORE_CONSTANT_H

#include "tensor/tensor_impl.h"

/* One more flag of a handle, set by whoever records it and sees to it that its contents stay as long as programs hold them. Constants of graphs have it. */
enum { SP_TENSOR_KEPT = 2 * SP_TENSOR_VARIABLE };

#endif
