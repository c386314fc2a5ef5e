/* SPDX-License-Identifier: Apache-2.0 */
/* planner.h - a plan while it is made: what the walk over the nodes (plan.c) shares with the choice of devices (plan_place.c). */
#ifndef SPORE_PLANNER_H
#define SPORE_PLANNER_H

#include "graph/plan.h"

typedef enum { SP_NODE_ON_DEVICE, SP_NODE_ON_CPU, SP_NODE_ON_EITHER } sp_node_choice;

/* A value's copies on other devices than that of its handle. */
typedef struct sp_planned_copy {
    sp_device *device;
    int handle;
    struct sp_planned_copy *next;
} sp_planned_copy;

/* What the walk knows of a value; its number is in value->mark while the plan is made. */
typedef struct sp_planned {
    int handle; /* -1: not there yet */
    int set;
    sp_device *
        place; /* where eager mode would have it; its handle may be elsewhere: copies are made for those who need them */
    bool anywhere;            /* made of constants and states of random numbers alone: computed where it is needed */
    sp_planned_copy **copies; /* shared by values that are the same on several devices; NULL: none yet */
    int vertex;               /* plan_cut.c */
} sp_planned;

/* What the walk found about a node, for those who look for a better place. */
typedef struct sp_node_place {
    bool same; /* its result is its input, seen otherwise or moved */
    sp_node_choice choice;
    double cpu_ns; /* what it takes there, roughly */
    int vertex;    /* plan_cut.c */
} sp_node_place;

typedef struct sp_value_set {
    int last; /* node that uses it last; n_nodes: it leaves the segment */
} sp_value_set;

typedef struct sp_planner {
    sp_segment *s;
    sp_plan *p;
    sp_storage *storages; /* pretended, by root */
    sp_planned *values;
    sp_value_set *sets;
    int n_values, n_sets;
    sp_value **marked;
    int roots_capacity, handles_capacity, steps_capacity;
    int *next_store;  /* by node: for READ and STORE the next STORE of its variable; n_nodes: none */
    int *variable_of; /* by node: READ, STORE */
    int *first_touch; /* by variable of the plan: first READ or STORE of it */
    int *next_touch;  /* by node: for READ and STORE the next of either of its variable; -1: none */
    int node;
    sp_device *device; /* of new memory */
    sp_device *first;  /* the first device that an input, a variable or a node names */
    int declined_capacity;
    sp_node_place *nodes; /* by node, of placed plans */
    const bool *on_cpu;   /* by node: the CPU computes it although the device could; NULL: none */
    int n_on_cpu;         /* nodes without a choice */
} sp_planner;

static inline sp_planned *sp__planned(const sp_planner *l, const sp_value *v)
{
    return &l->values[(intptr_t)v->mark - 1];
}

/* Zeroed memory that lives as long as the plan; NULL: out of memory. */
static inline void *sp__planner_take(sp_plan *p, size_t n, size_t size)
{
    return sp__arena_alloc(&p->arena, (n ? n : 1) * size);
}

/* Room for one more behind n; NULL: out of memory. */
void *sp__planner_more(sp_plan *p, void *array, int n, int *capacity, size_t size);
int sp__planner_root(sp_planner *l, sp_root_kind kind, int number, size_t bytes);
int sp__planner_handle(sp_planner *l, const sp_tensor *geometry, int root, int64_t offset);
/* New row-major memory of a handle's shape on a device. -1: out of memory. */
int sp__planner_like(sp_planner *l, int handle, sp_device *d);
sp_status sp__planner_copy(sp_planner *l, const sp_node *node, int from, int to);
/* Handle of a value where it was made; -1: there is no value. */
sp_status sp__planner_value(sp_planner *l, sp_value *v, int *out);

/* --- plan_place.c ------------------------------------------------------------------------------------------------- */

/* Devices of inputs and variables; p->n_in, p->n_variables and roots are there. */
sp_status sp__planner_places(sp_planner *l, sp_tensor *const *in);
/* The device to run a node on, and the place of its results. SP_DECLINED: eager mode would refuse it. */
sp_status sp__planner_device(sp_planner *l, const sp_node *n, sp_device **out);
/* Handle of a value on a device: the value's own, a copy that is there already, or a new step that copies. */
sp_status sp__planner_bring(sp_planner *l, const sp_node *n, sp_value *v, sp_device *d, int *out);
/* device_copy: the same value, wherever it is needed. */
sp_status sp__planner_moved(sp_planner *l, const sp_node *n);
/* It has no kernel for this call: the CPU does it. */
sp_status sp__planner_declined(sp_planner *l, const sp_call *c, sp_device *d);
/* Kernels of steps on devices. */
sp_status sp__placed_run(const sp_call *c);
sp_status sp__placed_move(const sp_call *c);
/* Which nodes the CPU had better compute, after a walk without on_cpu: `any` if there are some. */
sp_status sp__plan_cut(sp_planner *l, bool *on_cpu, bool *any);
/* Arenas of the plan's devices: p->places. */
sp_status sp__plan_arenas(sp_plan *p);

#endif
