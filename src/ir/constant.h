/* SPDX-License-Identifier: Apache-2.0 */
/* constant.h - tensors that become constants of a recording without being copied (sp__value_constant). */
#ifndef SPORE_CONSTANT_H
#define SPORE_CONSTANT_H

#include "ir/graph_impl.h"

/* One more flag of a handle, set by whoever records it and sees to it that its contents stay as long as programs hold them. Constants that are
 * copies have it. */
enum { SP_TENSOR_KEPT = 2 * SP_TENSOR_VARIABLE };

/* Two constants, perhaps of two graphs, have equal contents: from now on v shows the memory of the other, and its own is given back. */
sp_status sp__value_share(sp_value *v, const sp_value *with);

#endif
