/* SPDX-License-Identifier: Apache-2.0 */
/* plan_instance.h - what a run of a plan writes to: an arena, handles over it, calls that point to these handles.
 *
 * plan_run.c keeps instances of its own between runs; plan_bound.c lays one into memory of the caller's. */
#ifndef SPORE_PLAN_INSTANCE_H
#define SPORE_PLAN_INSTANCE_H

#include "graph/plan.h"

typedef struct {
    sp_kernel_fn run;
    sp_call call;
} sp_action;

/* Memory from outside: its address of the last run, and the handles that show it. */
typedef struct {
    sp_storage *storage;
    char *data;
    int n;
    int *handles;
} sp_border;

/* A weight in the form a kernel wants: made when a run finds the weight as the run before left it, so that training never makes it. */
typedef struct {
    int step, variable;
    sp_storage_mark mark;
    void *block; /* NULL: not yet needed */
    bool made;
} sp_kept_weight;

/* A variable's contents on another device, as they were when `mark` was taken. */
typedef struct {
    int variable;
    sp_storage_mark mark;
    sp_tensor *there;
    bool made;
} sp_mirror;

typedef struct sp_instance {
    struct sp_instance *next;
    sp_plan *plan;
    sp_tensor *handles;
    sp_action *actions;
    int n_borders; /* inputs, variables, results */
    sp_border *borders;
    sp_storage storage; /* of the arena */
    void *arena;
    sp_tensor **results;       /* by result root */
    struct sp_request **begun; /* by exchange: what is going on */
    int n_kept;
    sp_kept_weight *kept;
    sp_tensor **arenas; /* by device of the plan */
    int n_mirrors;
    sp_mirror *mirrors;
    sp__arena memory;
    bool warm; /* it has run before */
} sp_instance;

enum { SP_INSTANCE_SLACK = 64 }; /* kernels may read, never use, so much behind the arena */

/* Everything of an instance but its arena, which x->arena has already, in x->memory; x->plan is set, the rest zero. */
sp_status sp__instance_fill(sp_instance *x);
/* What comes from outside has this address from now on: inputs first, then variables, then results. */
void sp__instance_border(sp_instance *x, int number, sp_storage *storage, char *data);
/* Call the kernels. */
sp_status sp__instance_run(sp_instance *x);
/* The plan of a segment for these inputs, found or made; to be released. */
sp_status sp__segment_plan(sp_segment *s, sp_tensor *const *in, sp_plan **out);
void sp__plan_release(sp_plan *p);

#endif
