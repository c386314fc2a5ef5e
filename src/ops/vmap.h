/* SPDX-License-Identifier: Apache-2.0 */
/* vmap.h - functions of one slice applied to many at once: the engine of vmap.
 *
 * A function recorded for one slice is walked node by node (src/graph/vmap_walk.c). Every value is known to be batched or not; a batched
 * one carries its slices along a new first axis. A node without batched inputs runs once, as it is. A node with some is handed to its
 * operator's rule (sp_op.batch), which applies operators to whole batches: with sp_apply, so that the walk computes, records into
 * a graph, or leaves a history for gradients, whatever is wanted where it happens. Gradients need no rules of their own: a
 * function's gradient is nodes like any other.
 *
 * The rules go by family:
 *   elementwise  inputs are lined up behind the slices; operators with an inner loop have this rule without asking
 *   axes         attributes that name an axis count one more
 *   trailing     the operator treats leading dimensions as a batch already
 *   fold         slices join the batch dimension that the operator has (images, rows of a loss)
 *   products, windows, norms, places: what joins where depends on which inputs are batched
 *
 * Without a rule, or when it declines, slices are taken one after the other and stacked, for that node alone. */
#ifndef SPORE_VMAP_H
#define SPORE_VMAP_H

#include "ir/op_impl.h"

typedef sp_status sp_batch_rule(sp_builder *b, const sp_batch *v);

sp_batch_rule sp__batch_elementwise; /* broadcast; rank-1 inputs of a loop_axis operator lie along their axis */
sp_batch_rule sp__batch_slices;      /* one after the other */

/* vmap_axes.c */
sp_batch_rule sp__batch_axis;     /* attributes axis, dim, dim1, dim2; all inputs of equal rank */
sp_batch_rule sp__batch_diagonal; /* the same; what is written has one dimension less */
sp_batch_rule sp__batch_reduce;   /* attribute axis: a list, none for all */
sp_batch_rule sp__batch_trailing; /* at least two trailing dimensions are its own */
sp_batch_rule sp__batch_reshape, sp__batch_transpose, sp__batch_broadcast_to, sp__batch_slice, sp__batch_region;
sp_batch_rule sp__batch_searchsorted, sp__batch_random;

/* vmap_places.c */
sp_batch_rule sp__batch_index, sp__batch_index_put, sp__batch_one_hot;

/* vmap_products.c */
sp_batch_rule sp__batch_matmul, sp__batch_conv, sp__batch_conv_input_grad, sp__batch_conv_weight_grad;

/* vmap_fold.c */
sp_batch_rule sp__batch_fold;      /* all inputs have the batch dimension first */
sp_batch_rule sp__batch_fold_rows; /* inputs after the second are shared by all rows */
sp_batch_rule sp__batch_channels;  /* axis 1 is of channels, the inputs of rank 1 hold a number for each */

/* vmap_norms.c */
sp_batch_rule sp__batch_layer_norm, sp__batch_layer_norm_grad, sp__batch_rms_norm, sp__batch_rms_norm_grad;
sp_batch_rule sp__batch_group_norm, sp__batch_group_norm_grad;

/* --- for rules --------------------------------------------------------------------------------------------------- */

/* Rank of a slice of in[i]. */
static inline int sp__batch_rank(const sp_batch *v, int i) { return v->in[i]->rank - v->batched[i]; }
/* Dimensions of a slice of in[i]. */
static inline const int64_t *sp__batch_dims(const sp_batch *v, int i) { return v->in[i]->dims + v->batched[i]; }
/* in[i] as a batch: repeated (by strides) when it is not one. */
sp_tensor *sp__batch_spread(sp_builder *b, const sp_batch *v, int i);
/* in[i] with slices of that rank, ones put in front of their dimensions; unbatched ones need none and stay as they are. */
sp_tensor *sp__batch_lift(sp_builder *b, const sp_batch *v, int i, int rank);
/* Both: a batch of slices of that rank. */
sp_tensor *sp__batch_fill(sp_builder *b, const sp_batch *v, int i, int rank);
/* Apply v's own operator. attrs NULL: with v's. What it writes to in place is copied first. */
sp_status sp__batch_apply(sp_builder *b, const sp_batch *v, const void *attrs, sp_tensor *const *in);
/* x with dims[first .. first + n) as one dimension; and x with dimension `at` as (outer, dims / outer). */
sp_tensor *sp__batch_merge(sp_builder *b, sp_tensor *x, int first, int n);
sp_tensor *sp__batch_unmerge(sp_builder *b, sp_tensor *x, int at, int64_t outer);
/* x with axis `from` moved to `to`. */
sp_tensor *sp__batch_move(sp_builder *b, sp_tensor *x, int from, int to);
/* A field of own_attrs by name; NULL if the operator has none. */
void *sp__batch_field(const sp_batch *v, const char *name);

#endif
