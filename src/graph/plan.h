/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - a segment for given shapes: which kernels run, on which handles, in which piece of one block of memory.
 *
 * Everything that depends on shapes alone is decided here once: views, kernels, copies to row-major order, scratch memory,
 * what may be overwritten. Running is then a walk over an array of calls.
 *
 *   plan.c          nodes to steps over handles and roots
 *   plan_layout.c   images in blocks of channels between convolutions
 *   plan_fuse.c     element-wise steps that run together, block by block (fused.h)
 *   plan_tail.c     element-wise steps that products do
 *   plan_head.c    element-wise steps that reductions do
 *   plan_overlap.c  exchanges between ranks that are begun by one step and awaited by another
 *   plan_lanes.c    small steps side by side
 *   plan_memory.c   lifetimes to offsets in the arena
 *   plan_pack.c     constant weights in the form kernels want, one for all plans
 *   plan_place.c    which device a node is for, and the copies between devices
 *   plan_run.c      plans kept by shapes, instances, running
 *
 * A root is a piece of memory, a handle a view of one. Values share roots: a view has that of what it shows, an operator that
 * writes in place that of what it overwrites. */
#ifndef SPORE_PLAN_H
#define SPORE_PLAN_H

#include "base/parts.h"
#include "device/device.h"
#include "graph/program.h"
#include "spore/device.h"

typedef enum {
    SP_ROOT_ARENA,    /* lives from its first step to its last */
    SP_ROOT_ARG,      /* what comes in: known when the plan is run */
    SP_ROOT_VARIABLE, /* the same */
    SP_ROOT_RESULT,   /* memory that is handed out: new in each run */
    SP_ROOT_CONSTANT,
    SP_ROOT_MIRROR /* a variable's contents on another device, brought there again when they have changed */
} sp_root_kind;

typedef struct sp_root {
    sp_root_kind kind;
    int number; /* which argument, variable of the plan, result */
    size_t bytes;
    int first, last;     /* steps */
    size_t offset;       /* in the arena */
    sp_tensor *constant; /* owned by the program */
    sp_device *device;   /* where it lies; NULL: main memory */
} sp_root;

/* A view of a root: geometry, and the distance of its first element from the root's. */
typedef struct sp_handle {
    sp_tensor shape; /* storage and data are set in instances */
    int root;
    int64_t offset;
} sp_handle;

typedef struct sp_fused sp_fused;

typedef struct sp_step {
    const sp_node *node; /* for messages */
    int number;          /* among the steps before they are dealt to lanes */
    sp_kernel_fn run;
    const sp_op *op;
    const void *attrs;
    int n_in, n_out;
    int *handles; /* inputs, then results; -1: left out. What is written is among the results */
    int work;     /* root of its scratch memory, -1: none */
    int exchange; /* number, from 1, of the exchange that it begins or awaits; 0: none, or all of it */
    bool awaits;
    sp_inner_loop loop;                    /* element-wise: what may be fused; fn NULL: not */
    int n_fused;                           /* operators in it, 0: one */
    bool epilogue;                         /* the kernel can have a tail: plan_tail.c */
    int64_t epilogue_run;                  /* elements that it hands over side by side, 0: unknown */
    int64_t (*prologue)(const sp_call *c); /* the kernel can have a head: plan_head.c; NULL: it cannot */
    const sp_fused *tail;                  /* its operands are handles behind the results: those read, those written */
    int tail_in, tail_out;
    bool is_head; /* the tail comes first: it makes the first input */
    int made;     /* head: which of its operands that is */
    int64_t
        room; /* head: elements of a part, which is made in a room and not in the place of the whole; 0: in its place */
    int n_rooms;
    const void *prepared; /* a constant input as the kernel wants it; NULL: as it is */
    const struct sp_blocked_kernel
        *blocked; /* a convolution that could take images in blocks: plan_layout.c; NULL: not */
    size_t (*prepared_bytes)(const sp_call *c); /* of a constant in the form the kernel wants it in; NULL: as it is */
    size_t
        keeps_bytes; /* of a weight: of the form the kernel wants it in, kept between runs that do not change it; 0: none */
    sp_status (*prepare)(const sp_call *c, void *to);
    sp_prepared_form (*prepared_form)(const sp_call *c);
} sp_step;

/* The tail of a step, for one instance. */
typedef struct sp_tail {
    const sp_fused *fused;
    sp_tensor *const *operands;
} sp_tail;
void sp__tail_run(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n);

/* The head of a step, for one instance. Rooms are taken by whoever makes a part, and given back: bits of `taken`. */
enum { SP_ROOMS_MAX = 64 };
typedef struct sp_head {
    const sp_fused *fused;
    sp_tensor *const *operands;
    int made, n_rooms;
    int64_t room;
    atomic_ullong taken;
} sp_head;
const void *sp__head_make(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n);
void sp__head_done(void *context, const void *made);

/* Steps run in turns: a turn of one lane one after the other, of several lanes side by side. Lanes lie one behind the other. */
enum { SP_LANES_MAX = 8 };
typedef struct sp_turn {
    int first, n_lanes;
    int end[SP_LANES_MAX]; /* by lane: behind its last step; it begins where the one before ends */
} sp_turn;

static inline int sp__step_handles(const sp_step *s) { return s->n_in + s->n_out + s->tail_in + s->tail_out; }

/* A device of the plan, besides the CPU: it has an arena of its own. */
typedef struct sp_plan_place {
    sp_device *device;
    size_t arena_bytes, least_bytes;
    int n_calls;
} sp_plan_place;

/* What a device has no kernel for: a step of the CPU. Counted with each run. */
typedef struct sp_plan_declined {
    sp_device *device;
    const sp_op *op;
    uint64_t bytes;
} sp_plan_declined;

/* Constants of a segment that were brought to devices. */
typedef struct sp_placed_constant {
    const sp_tensor *of;
    sp_device *device;
    sp_tensor *there;
    struct sp_placed_constant *next;
} sp_placed_constant;

struct sp_plan {
    atomic_int refs;
    struct sp_plan *next;
    const sp_segment *segment;
    sp__arena arena; /* everything below */
    int n_in, n_variables;
    sp_tensor *in; /* geometry the plan was made for: inputs, then variables */
    sp_variable **variables;
    bool *stored; /* by variable */
    int n_roots, n_handles, n_steps, n_results, n_copies;
    sp_root *roots;
    sp_handle *handles;
    sp_step *steps;
    int n_turns;
    sp_turn *turns;
    int *out;     /* handle of each result of the segment */
    size_t align; /* of pieces in the arena; 0: as vectors want it */
    size_t arena_bytes, least_bytes;
    int n_fused, n_reused;     /* operators that are part of a fused step; results that took over an input's memory */
    int n_tails, n_prepared;   /* operators done by products; constants brought into order */
    struct sp_pack_use *packs; /* those constants: plan_pack.c */
    int n_heads;               /* operators done by reductions */
    int n_blocked;             /* convolutions of images in blocks */
    int n_side;                /* steps that run side by side with others */
    int n_begun;               /* exchanges that are awaited by another step than the one that begins them */
    bool placed;               /* made for inputs and variables on devices: */
    sp_device **where;         /* by input, then variable */
    sp_device *home;           /* where nodes without inputs are computed: that of the thread when it was made */
    int n_places, n_declined, n_between; /* the last: copies between devices */
    sp_plan_place *places;
    sp_plan_declined *declined;
    struct sp_instance *idle;
    int n_idle;
    uint64_t runs;
    double make_us;
    atomic_ullong *
        step_ns; /* by step, all warm runs together, then all first runs of an instance, which touch new memory; NULL: not
                             * measured (SPORE_PROFILE is not set) */
    atomic_ullong n_warm, n_cold;
};

typedef struct sp_plan_summary {
    int n_calls, n_copies, n_fused, n_reused, n_side, n_tails, n_prepared, n_heads, n_blocked;
    size_t arena_bytes, least_bytes;
    double make_us;
    uint64_t runs;
    int n_between, n_declined, n_places; /* the last: devices; at most 4 are told of */
    sp_plan_place places[4];
} sp_plan_summary;

/* Run the segment for these inputs; out receives tensors owned by the caller. SP_DECLINED: it cannot be planned, because
 * shapes in it depend on the data. */
sp_status sp__segment_run(sp_segment *s, sp_tensor *const *in, sp_tensor **out);
/* The same where some input or variable is on a device, or a node copies to one. */
sp_status sp__segment_run_placed(sp_segment *s, sp_tensor *const *in, sp_tensor **out);
void sp__plans_free(sp_segment *s);
int sp__plans_summary(sp_segment *s, int max, sp_plan_summary *out);
/* Which kernels the latest plan calls, most expensive or else most frequent first; returns how many there are, at most max. */
typedef struct sp_kernel_count {
    const char *name;
    int n;
    double us; /* of a run, on average; 0 unless SPORE_PROFILE is set */
} sp_kernel_count;
int sp__plans_kernels(sp_segment *s, int max, sp_kernel_count *out);
/* The dearest steps of the latest plan, dearest first; returns how many there are, at most max; 0 unless SPORE_PROFILE is set. */
typedef struct sp_step_cost {
    const char *name;
    int n_fused;           /* operators in it, 0: one */
    double us;             /* of a run, on average */
    sp_tensor shape;       /* geometry of its first result */
    const sp_place *place; /* NULL: unknown */
} sp_step_cost;
int sp__plans_dearest(sp_segment *s, int max, sp_step_cost *out);

/* Made for devices? A build without plug-ins has no such plans, and no code for them. */
static inline bool sp__plan_is_placed(const sp_plan *p) { return SP_HAVE_PLUGINS && p->placed; }
sp_status sp__plan_create(sp_segment *s, sp_tensor *const *in, bool placed, sp_plan **out);
/* Which devices a placed plan is for. */
sp_device *sp__plan_place_of(const sp_plan *p, int handle);
void sp__plan_free(sp_plan *p);
/* Constant weights of a step in the form its kernel wants: s->prepared. Plans for other sizes that want the same form have the same memory. `c` is the
 * call, with the weights' contents. */
sp_status sp__plan_pack(sp_plan *p, sp_step *s, const sp_call *c, const sp_tensor *constant, size_t bytes);
void sp__plan_unpack(sp_plan *p);
/* How many blocks of such weights there are in the process, and how often one was made. */
void sp__packs_count(int64_t *n_blocks, uint64_t *n_made);
/* Root of the k-th handle of a step; -1: left out. */
static inline int sp__step_root(const sp_plan *p, const sp_step *s, int k)
{
    return s->handles[k] < 0 ? -1 : p->handles[s->handles[k]].root;
}
/* Does one of them write what the other touches? Then their order counts. */
bool sp__steps_depend(const sp_plan *p, const sp_step *a, const sp_step *b);
/* May the step at `from` run before those at `to` and behind it? */
bool sp__step_can_move(const sp_plan *p, int from, int to);
/* By root: how many steps touch it. To be freed; NULL: out of memory. */
int *sp__plan_users(const sp_plan *p);
/* Images in blocks of channels. */
sp_status sp__plan_layout(sp_plan *p);
/* Element-wise steps become one. */
sp_status sp__plan_fuse(sp_plan *p);
/* May it be part of a fused step? Alone, for a tail: the step at i as a fused one; SP_DECLINED: its runs are too short. */
bool sp__step_fusible(const sp_plan *p, const sp_step *s);
sp_status sp__step_fuse(sp_plan *p, int i, sp_step *out);
/* Fused steps behind products become their tails. */
sp_status sp__plan_tails(sp_plan *p);
/* Fused steps in front of reductions become their heads. */
sp_status sp__plan_heads(sp_plan *p);
/* Exchanges are begun where they stand and awaited where their results are needed, or their memory is. */
sp_status sp__plan_overlap(sp_plan *p);
/* Turns of all steps, in an order that may change; with several lanes where the plan may have them. */
sp_status sp__plan_lanes(sp_plan *p);
/* Time of a step on one thread, roughly, in nanoseconds: it decides about lanes, never about results. */
double sp__step_cost(const sp_plan *p, const sp_step *s);
/* First and last step of every root, from the turns. */
void sp__plan_lifetimes(sp_plan *p);
/* Offsets of all roots of kind ARENA; fills arena_bytes and least_bytes. */
sp_status sp__plan_place(sp_plan *p);

#endif
