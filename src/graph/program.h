/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - from a function of the IR to something that runs.
 *
 *     sp_program_create    copies the functions that can be reached, closes and optimises them (passes/), and turns each
 *                          into code (code.c): instructions over numbered slots
 *     sp_program_run       the machine (machine.c) runs the code; stretches of it that are plain operators are planned
 *                          for the shapes they meet (plan.c) and run without further decisions
 *
 * A program never changes after it was made, apart from its store of plans, which has a lock: any number of threads may
 * run it at a time. */
#ifndef SPORE_PROGRAM_H
#define SPORE_PROGRAM_H

#include "base/lock.h"
#include "ir/graph_impl.h"

typedef struct sp_code sp_code;
typedef struct sp_segment sp_segment;
typedef struct sp_plan sp_plan;

/* --- values at run time ------------------------------------------------------------------------------------------ */

/* A function with its first arguments bound. Counted; holds older values only, so there are no cycles. */
typedef struct sp_closure sp_closure;

/* What a slot holds: a tensor, a closure, or nothing. */
typedef struct sp_slot_value {
    sp_tensor *tensor;
    sp_closure *closure;
} sp_slot_value;

struct sp_closure {
    atomic_int refs;
    const sp_code *code;
    int n_bound;
    sp_slot_value bound[];
};

/* --- code -------------------------------------------------------------------------------------------------------- */

/* A place for a value, as a number: a slot of the frame (0 .. n_slots), a local of a segment that is run node by node
 * (from n_slots on), an entry of the constants (~k), or none. */
typedef int sp_slot;
#define SP_SLOT_NONE INT32_MAX

/* What plans may do: switched off by name like passes. */
enum {
    SP_PLAN_FUSE = 1,
    SP_PLAN_REUSE = 2,
    SP_PLAN_LANES = 4,
    SP_PLAN_TAIL = 8,
    SP_PLAN_PREPACK = 16,
    SP_PLAN_HEAD = 32,
    SP_PLAN_LAYOUT = 64,
    SP_PLAN_OVERLAP = 128
};

typedef struct sp_instr {
    const sp_node *node; /* NULL: a segment */
    sp_segment *segment;
    int n_in, n_out;
    const sp_slot *in;
    const sp_slot *out; /* SP_SLOT_NONE where nobody uses the result */
    int n_dead;
    const sp_slot *dead; /* not needed from here on */
    bool copy;           /* READ: the variable may change while the value is in use */
} sp_instr;

/* Consecutive operators, reads and stores: planned per shapes of what comes in. */
struct sp_segment {
    int n_nodes;
    sp_node **nodes;
    sp_instr *steps; /* the same, node by node: for recording and for what cannot be planned */
    int n_locals;
    int n_in, n_out; /* of the instruction: values that cross its borders */
    sp_value **in;
    sp_value **out;
    unsigned planning;                 /* SP_PLAN_... */
    sp_lock lock;                      /* of the plans */
    sp_plan *plans;                    /* latest first */
    struct sp_placed_constant *placed; /* constants on devices, for all plans */
    atomic_bool declined;              /* it cannot be planned: its shapes depend on the data */
    bool moves;                        /* some node copies to another device */
};

struct sp_code {
    sp_function *function;
    int n_params, n_slots, n_results, n_constants;
    sp_slot_value *constants;
    int n_instrs;
    sp_instr *instrs;
    const sp_slot *results;
    bool ends_in_call; /* the last instruction is a call whose results are those of the function */
};

struct sp_program {
    atomic_int refs;
    sp_graph *source; /* as recorded; places and texts live in it */
    sp_graph *graph;  /* our own copy, optimised */
    sp__arena arena;  /* code */
    int n_codes;
    sp_code **codes;
    sp_code *entry;
    int n_results; /* -1: only a run tells */
    bool stores;   /* some variable is written */
    struct sp_pass_report *reports;
    int n_reports;
    unsigned planning; /* SP_PLAN_... */
    double create_us;
    char cache_note[160];               /* what the cache on disk did; "": it was off */
    sp_function *function;              /* in the source */
    sp_lock lock;                       /* of `exact` */
    const struct sp_sharding *sharding; /* while it is made; NULL: it is not split over ranks */
    bool sharded;
    char *shard_report; /* NULL: nothing to say */
    char *save_folder;  /* where the graph is written after each pass; NULL: nowhere */
    int save_level, n_saved;
    unsigned save_number;
    sp_program *exact; /* the same without passes, for runs that are recorded: made when first needed */
};

/* --- the parts --------------------------------------------------------------------------------------------------- */

/* A graph of its own with copies of the functions that can be reached from f; its entry is the copy of f. */
sp_status sp__graph_copy(sp_function *f, sp_graph **out);
/* Code for all functions of p->graph. */
sp_status sp__code_make(sp_program *p);
void sp__code_free(sp_program *p);
sp_status sp__machine_run(sp_program *p, int n_args, sp_tensor *const *args, int n_results, sp_tensor **results);
/* Put where a node comes from behind this thread's message. */
void sp__blame(const sp_node *node);

#endif
