/* SPDX-License-Identifier: Apache-2.0 */
/* eager.h - run one operator now, and remember it for the gradient. */
#ifndef SPORE_EAGER_H
#define SPORE_EAGER_H

#include "ir/op_impl.h"
#include "spore/grad.h"

/* A value's history: one application of an operator (or a leaf, or a function with its own gradient), what it kept, and
 * edges to the histories of its inputs. Immutable but for hooks; counted; edges point to older nodes only, so there are
 * no cycles and the creation number orders nodes topologically. */
typedef struct sp_grad_node sp_grad_node;

/* Depth of recording on this thread; > 0 means on. */
extern _Thread_local int sp__grad_depth;

/* Remember `c` as the history of its outputs. written: the outputs are inputs that were changed in place. */
sp_status sp__grad_record(const sp_call *c, const bool *tracked);

#endif
