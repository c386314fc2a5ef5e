/* SPDX-License-Identifier: Apache-2.0 */
/* shard.h - programs of whole tensors made into programs of slices, from inside. The public face is spore/parallel.h.
 *
 * A program is recorded with the shapes of whole tensors, gradients and optimizer steps among them. Here every rank gets its part of it:
 *
 *  1. The ranks are a mesh whose axes have prime lengths, the first one being the most significant digit of a rank.
 *  2. A layout says of each mesh axis which axis of the tensor it splits, that the tensor is the same along it (WHOLE), or that the values
 *     along it are still to be reduced (PARTIAL). Several mesh axes may split one axis of a tensor, in their order.
 *  3. The rule of an operator (sp_op.shard) names the axes of its inputs and results with letters. A mesh axis is given to a letter; what
 *     has that letter is split there. A letter that a result does not have leaves it partial.
 *  4. Nodes are walked in their order. Each takes the letters of what its inputs are split by, the cheapest choice where they differ; its inputs
 *     are redistributed to that. Operator `shard` forces a layout; what uses its results follows it.
 *  5. An operator without a rule is computed whole by every rank. So are functions that are called, and host code.
 *  6. Tensors that are to be spread (sp_tensor_spread) have the layout of their Parameter, and along mesh axes that this leaves over their
 *     first axis is split. A Parameter that is spread itself is gathered anew by every node that computes with it, but for
 *     its update.
 *  7. Hence every rank's program gives slices of what the recorded one gives, but for the order of sums. All ranks make the same
 *     choices, for they see the same shapes. */
#ifndef SPORE_SHARD_H
#define SPORE_SHARD_H

#include "ir/graph_impl.h"
#include "parallel/parallel_impl.h"

enum { SP_MESH_MAX = SP_GRID_MAX, SP_AT_WHOLE = -1, SP_AT_PARTIAL = -2 };

typedef struct sp_mesh {
    int n, ranks, rank;
    int first; /* rank of the world that is rank 0 of the mesh */
    int size[SP_MESH_MAX];
    int stride[SP_MESH_MAX]; /* ranks between neighbours along the axis */
} sp_mesh;

typedef struct sp_layout {
    int8_t at[SP_MESH_MAX]; /* by mesh axis: the tensor's axis, or SP_AT_... */
    uint8_t reduce;         /* sp_reduce of what is partial; 0 when nothing is */
} sp_layout;

/* --- meshes and layouts: shard_layout.c -------------------------------------------------------------------------- */

sp_status sp__mesh_init(int ranks, int rank, sp_mesh *out);
/* Mesh axes for the dimensions of a grid of ranks: owner[k] is the dimension, -1 for none. Dimensions take the least significant axes, the
 * last one first, so that ranks which are left over repeat the computation. false: the numbers do not fit. */
bool sp__mesh_place(const sp_mesh *m, int n, const int64_t *grid, int *owner);
sp_layout sp__layout_whole(void);
bool sp__layout_equal(const sp_layout *a, const sp_layout *b);
bool sp__layout_is_whole(const sp_layout *a);
/* Slices of an axis, and the number of this rank's. */
int64_t sp__layout_parts(const sp_mesh *m, const sp_layout *l, int axis, int64_t *own);
/* Geometry of this rank's slice. */
void sp__layout_local(const sp_mesh *m, const sp_layout *l, const sp_meta *whole, sp_meta *local);
/* "[2, 1, 4]": slices of each axis, for people. */
const char *sp__layout_text(const sp_mesh *m, const sp_layout *l, int rank, char buf[SP_SHAPE_TEXT]);
/* Name of the group of ranks that differ along these mesh axes (bits), made when new. */
sp_status sp__mesh_group(const sp_mesh *m, unsigned axes, char name[48]);

/* Where redistribution puts its nodes, and what they were. */
typedef struct sp_reshard {
    sp_function *f;
    sp_node *before;   /* NULL: the end of f */
    int n_collectives; /* inserted so far */
    int64_t bytes;     /* that this rank sends for them in a run */
} sp_reshard;

/* Bytes that a rank moves to bring a tensor from one layout to another. */
double sp__reshard_cost(const sp_mesh *m, const sp_meta *whole, sp_layout from, const sp_layout *to);
/* Do it: *v becomes the new value. `to` has nothing partial, but what `from` has as well. */
sp_status sp__reshard(const sp_mesh *m, sp_reshard *r, const sp_meta *whole, sp_layout from, const sp_layout *to,
                      sp_value **v);
/* One operator with attributes as text. */
sp_status sp__reshard_apply(sp_reshard *r, const sp_op *op, sp_value **v, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* --- rules: shard_rule.c ----------------------------------------------------------------------------------------- */

enum { SP_SHARD_OPERANDS = 64, SP_SHARD_LETTERS = 48 };

/* The rule of an operator for one node. */
typedef struct sp_shard_map {
    int n_in, n_out, n_letters;
    int8_t in[SP_SHARD_OPERANDS][SP_RANK_MAX]; /* letter of each axis, -1: stays whole */
    int8_t out[SP_SHARD_OPERANDS][SP_RANK_MAX];
    int64_t size[SP_SHARD_LETTERS]; /* splits divide it */
    bool whole[SP_SHARD_LETTERS];
    uint8_t reduce[SP_SHARD_LETTERS]; /* how parts are brought together where a result lacks the letter */
} sp_shard_map;

/* in, out: geometry of whole tensors, NULL for inputs left out. SP_DECLINED: there is no rule for this case. */
sp_status sp__shard_map(const sp_node *n, const sp_meta *const *in, const sp_meta *const *out, sp_shard_map *map);
/* Attributes that hold sizes, for slices: the node gets those of its results' slices. */
sp_status sp__shard_attrs(sp_node *n, const sp_meta *const *whole_in, const sp_meta *local_in0,
                          const sp_meta *local_out0);
bool sp__op_has_shard(const sp_op *op);

/* --- tensors that are split: shard_table.c ----------------------------------------------------------------------- */

/* What is known about a tensor that programs of slices use. */
typedef struct sp_mesh_split {
    sp_mesh mesh;
    sp_layout layout;
    sp_layout base; /* what it is gathered to where it is used; differs from layout when it is spread */
    sp_meta whole;
} sp_mesh_split;

/* The group of all ranks of a mesh. */
sp_status sp__mesh_comm(const sp_mesh *m, sp_comm **out);
/* The contents are kept by the ranks of this stage (a pipeline), of so many; the first program that says so is right. Not kept here: the
 * memory is given back. */
sp_status sp__split_home(sp_tensor *t, int stage, int stages, bool kept);
bool sp__split_find(const sp_tensor *t, sp_mesh_split *out);
/* What sp_tensor_spread was told. */
bool sp__spread_find(const sp_tensor *t, const sp_tensor **owner, int *parts);
/* What sp_tensor_set_grid was told. */
bool sp__grid_find(const sp_tensor *t, int *n, int64_t sizes[SP_GRID_MAX], int64_t axes[SP_GRID_MAX]);
/* Rank 0's contents everywhere, then this rank's slice of them; remembered for the handle. All ranks call it. */
sp_status sp__split_make(sp_tensor *t, const sp_mesh *m, const sp_layout *l, const sp_layout *base);

/* --- the pass: shard_pass.c -------------------------------------------------------------------------------------- */

/* Layouts that a search tries: of variables, by handle, and mesh axes along which rows of data are split that arguments give whole. */
typedef struct sp_shard_trial {
    int n;
    const sp_tensor *const *tensors;
    const sp_layout *layouts;
    unsigned data;
} sp_shard_trial;

/* The pass on a copy of the graph: nothing is changed outside of it. */
sp_status sp__shard_try(sp_graph *g, const sp_sharding *how, const sp_shard_trial *trial);

/* Change the graph of a program, whose calls are inlined, to that of this rank. `found`: what a search has
 * chosen, NULL without one. `report` (freed with sp__free) tells what was done. */
sp_status sp__shard_graph(sp_graph *g, const sp_sharding *how, const sp_shard_trial *found, char **report);

#endif
