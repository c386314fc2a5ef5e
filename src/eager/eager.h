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

/* Mixed precision on this thread. Programs contain their casts: while one runs, none of this is in force. */
typedef struct sp_precision {
    sp_dtype
        weights; /* in which floating-point weights (SP_TENSOR_PARAMETER) enter operators; SP_DTYPE_NONE: as they are */
    sp_dtype half; /* in which float32 enters the operators of `low`; those of `high` get float32 in place of halves */
    const sp_op *const *low, *const *high;
    int n_low, n_high;
} sp_precision;
#define SP_PRECISION_PLAIN ((sp_precision){.weights = SP_DTYPE_NONE, .half = SP_DTYPE_NONE})
extern _Thread_local sp_precision sp__precision;

/* Are these as many inputs as the operator takes, none of them missing or without contents? */
sp_status sp__inputs_check(const sp_op *op, int n_in, sp_tensor *const *in);
/* Give `to` the history of `from`. */
void sp__grad_share(sp_tensor *to, const sp_tensor *from);
/* Bring t's history up to date with recorded writes through other views of its memory; an error where that cannot be. */
sp_status sp__grad_refresh(sp_tensor *t);
/* What made t: the operator's name (NULL: t is a leaf or of a custom function), the number of its inputs, and in *out the i-th of them
 * as a number 0 that has its history; NULL for constants. */
const char *sp__grad_name(const sp_tensor *t);
int sp__grad_n_parents(const sp_tensor *t);
sp_status sp__grad_parent(const sp_tensor *t, int i, sp_tensor **out);
/* Whether one of the outputs depends on t as far as was recorded; through_opaque: also by what has no gradient (sp_grad_opaque). */
sp_status sp__grad_depends(int n_outputs, sp_tensor *const *outputs, const sp_tensor *t, bool through_opaque,
                           bool *out);
/* Whether passes on this thread call the hooks of leaves: not where a pass is a part of another one, which will. Gives what was. */
bool sp__grad_leaf_hooks(bool on);
/* Remember `c` as the history of its outputs. tracked[i]: in[i] has a history. */
sp_status sp__grad_record(const sp_call *c, const bool *tracked);
/* The same for an operator that wrote variables (sp__grad_keeps). These keep their histories: gradients with respect to one mean the
 * variable, not what it was assigned. The results become handles of their own, with histories of their own. */
sp_status sp__grad_record_kept(const sp_call *c, const bool *tracked);
bool sp__grad_keeps(const sp_tensor *t);

#endif
