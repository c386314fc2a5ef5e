/* SPDX-License-Identifier: Apache-2.0 */
/* builder_keep.h - for those who look into a tensor right after giving it to a builder. */
#ifndef SPORE_IR_BUILDER_KEEP_H
#define SPORE_IR_BUILDER_KEEP_H

#include "spore/op.h"

/* As sp_builder_take_tensor, but says when it failed; *t is NULL then. */
sp_status sp__builder_keep(sp_builder *b, sp_tensor **t);

#endif
