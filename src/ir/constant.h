/* SPDX-License-Identifier: Apache-2.0 */
/* constant.h - tensors that become constants of a recording without being copied (sp__value_constant). */
#ifndef SPORE_CONSTANT_H
#define SPORE_CONSTANT_H

#include "ir/graph_impl.h"

/* Two constants, perhaps of two graphs, have equal contents: from now on v shows the memory of the other, and its own is given back. */
sp_status sp__value_share(sp_value *v, const sp_value *with);

#endif
