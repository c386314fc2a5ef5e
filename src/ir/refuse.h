/* SPDX-License-Identifier: Apache-2.0 */
/* refuse.h - the gradient rule of operators without one.
 *
 * Without a rule the gradients of an operator are zero. That must be the truth ("integer result", "piecewise constant"), or what MindSpore
 * gives; where the results change with the inputs it would be a wrong number, so such operators have this rule. */
#ifndef SPORE_REFUSE_H
#define SPORE_REFUSE_H

#include "ir/op_impl.h"

/* Fails, with op->no_vjp as the reason. */
sp_status sp__vjp_refuse(sp_builder *b, const sp_vjp *v);

#endif
