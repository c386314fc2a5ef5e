/* SPDX-License-Identifier: Apache-2.0 */
/* graph_impl.h - programs as functions of functions, from inside. The public face is spore/graph.h.
 *
 * A graph owns functions; a function has parameters, a list of nodes in program order, and results. A value is made once:
 * by a node, as a parameter, or as a constant, and is used any number of times, also by functions nested in its own (a free
 * variable, until sp__graph_close passes it as an argument).
 *
 * Invariants:
 *  1. Operators are pure here, also those that write in place in eager mode: they give the new value of what they would have
 *     written. Variables (Parameters of a network) are read and stored by READ and STORE nodes alone; these, HOST and CALL
 *     nodes are the effects of a program, and their order in the lists is the order in which they happen. Everything else may
 *     be moved, shared and dropped.
 *  2. A node comes after the nodes that make its inputs. Loops and recursion exist only as calls of functions.
 *  3. A function ends either with results or with a tail call (`tail`), whose results are then its own.
 *  4. Everything but operators' attributes and constants lives in the graph's arena and dies with it. */
#ifndef SPORE_GRAPH_IMPL_H
#define SPORE_GRAPH_IMPL_H

#include "base/arena.h"
#include "ir/op_impl.h"
#include "spore/graph.h"

typedef struct sp_value sp_value;
typedef struct sp_node sp_node;

typedef enum { SP_VALUE_NODE, SP_VALUE_PARAM, SP_VALUE_CONSTANT, SP_VALUE_FUNCTION } sp_value_origin;

struct sp_value {
    sp_value_origin origin;
    bool is_function; /* holds a function at run time, not a tensor */
    bool weak;        /* a Python number: its dtype yields in promotion */
    bool apart;       /* a result of the entry shows it: nothing else may (passes/apart.c) */
    int id;           /* unique in the graph */
    int index;        /* which result of its node, which parameter */
    sp_function *owner;
    sp_node *node;       /* SP_VALUE_NODE */
    sp_tensor *constant; /* SP_VALUE_CONSTANT, owned */
    sp_function *target; /* SP_VALUE_FUNCTION */
    sp_meta meta;        /* rank -1: unknown; a dimension -1: known at run time only */
    void *mark;          /* free for whoever walks the graph; nobody may rely on it between walks */
};

typedef enum {
    SP_NODE_OP,      /* out = op(in) */
    SP_NODE_READ,    /* out[0] = the variable's contents here and now */
    SP_NODE_STORE,   /* the variable becomes in[0] */
    SP_NODE_CALL,    /* out = in[0](in[1..]) */
    SP_NODE_PARTIAL, /* out[0] = in[0] with its first arguments bound to in[1..] */
    SP_NODE_SWITCH,  /* out[0] = in[0] ? in[1] : in[2]; all but in[0] are functions */
    SP_NODE_HOST,    /* out = host(in): code outside the graph */
    SP_NODE_GRAD     /* out = results of in[0](in[1..]), then the gradients asked for; see sp_grad_spec */
} sp_node_kind;

/* Where a node comes from in the user's program. `up`: the place of the call that led here. */
typedef struct sp_place {
    const char *file;
    int line;
    const char *function;
    const char *text;
    const struct sp_place *up;
} sp_place;

/* Code outside the graph. Counted, shared by copies of the node. */
typedef struct sp_host {
    atomic_int refs;
    const char *name; /* shown in texts; lives with the host */
    sp_host_fn run;
    void (*release)(void *context);
    void *context;
    bool pure; /* may be dropped when its results are not used */
} sp_host;

/* A tensor outside the graph that programs read and write: the Parameter of a network. */
typedef struct sp_variable {
    sp_tensor *tensor; /* the handle users hold; owned */
    int id;
    bool written; /* some function of the graph stores to it */
} sp_variable;

/* What a GRAD node differentiates: the sum of the first n_differentiated results (all when -1), times seeds when given. */
typedef struct sp_grad_spec {
    int n_results; /* of the function */
    int n_differentiated;
    int n_seeds;     /* the last inputs of the node are the seeds */
    int n_positions; /* arguments to differentiate by */
    const int *positions;
    int n_variables; /* and variables */
    sp_variable *const *variables;
    bool strict; /* arguments and variables that the results do not depend on are an error, else zeros */
} sp_grad_spec;

struct sp_node {
    sp_node_kind kind;
    int n_in, n_out;
    sp_value **in; /* NULL where an optional input is left out */
    sp_value **out;
    const sp_op *op;       /* OP */
    void *attrs;           /* OP; owned */
    sp_variable *variable; /* READ, STORE */
    sp_host *host;         /* HOST; owned */
    sp_grad_spec *grad;    /* GRAD */
    const sp_place *place;
    sp_function *owner;
    sp_node *prev, *next;
    int id;
    int order;  /* position in its function; sp__function_number sets it */
    void *mark; /* as that of sp_value */
};

/* A tensor from outside that a function uses, and the value that stands for it there. */
struct sp_outside {
    struct sp_outside *next;
    sp_value *value;
    sp_tensor *handle;
};

struct sp_function {
    sp_graph *graph;
    sp_function *parent; /* the function it was written in; NULL for one at the top */
    sp_function *next;   /* list of the graph */
    const char *name;
    int id;
    int n_params, params_capacity;
    sp_value **params;
    sp_node *first, *last;
    int n_nodes;
    sp_node *tail; /* CALL that ends the function; then n_results is 0 */
    int n_results;
    sp_value **results;
    bool finished;
    /* While it is being recorded: */
    sp_function *outer; /* what this thread recorded before */
    sp_value **current; /* by variable: what it holds at this point, NULL: unknown */
    int n_current, current_capacity;
    int undo_start; /* changes of handles made before it began */
    bool
        keeps_outside; /* it will be batched: handles from outside are noted, with them the histories that results get */
    struct sp_outside *outside; /* the latest */
    sp_value *value;            /* the function as a value, once asked for */
    void *mark;
};

struct sp_graph {
    atomic_int refs;
    sp__arena arena;
    int n_functions;
    sp_function *first, *last;
    int next_value, next_node;
    int n_variables, variables_capacity;
    sp_variable **variables;
    sp_variable *
        *by_handle;     /* the same, found by handle: twice as many places as variables_capacity, NULL where free */
    sp_function *entry; /* what is run from outside; the first one made unless said otherwise */
    bool
        keeps_sources; /* operators without inputs are recorded, not computed: the sizes of what they make may be free in a file */
    bool keeps_sizes;  /* models record what they compute from sizes, though the sizes are known */
    sp_tensor **known; /* by value: what it holds, where that follows from sizes and was asked for */
    int n_known;
    struct sp_owned *owned;        /* released with the graph */
    struct sp_constant *constants; /* the latest, to find them again */
};

/* Constants up to this size are copied, so that a later write to the tensor cannot change the program; larger ones are
 * shared, as a copy of each weight would double the memory of a network. */
enum { SP_CONSTANT_COPY_BYTES = 1 << 20 };

/* --- making ------------------------------------------------------------------------------------------------------ */

sp_function *sp__function_create(sp_graph *g, sp_function *parent, const char *name);
sp_value *sp__function_add_param(sp_function *f, const sp_meta *meta, bool is_function);
sp_value *sp__value_constant(sp_function *f, sp_tensor *t); /* retained; equal handles give one value */
sp_value *sp__value_function(sp_function *f, sp_function *target);
/* A node at the end of f, its results with unknown geometry. NULL out of memory (message set). */
sp_node *sp__node_append(sp_function *f, sp_node_kind kind, int n_in, sp_value *const *in, int n_out);
/* Before `at` instead. */
sp_node *sp__node_insert(sp_node *at, sp_node_kind kind, int n_in, sp_value *const *in, int n_out);
/* Complete operator node: attributes copied, results inferred. */
sp_status sp__node_op(sp_function *f, sp_node *before, const sp_op *op, const void *attrs, int n_in,
                      sp_value *const *in, sp_node **out);
void sp__node_remove(sp_node *n);
const void *sp__node_attr_at(const sp_node *n, const char *name, sp_attr_type *type); /* NULL: no such attribute */
int sp__function_uses(const sp_function *f, const sp_value *v);            /* as an input of nodes, and as a result */
sp_status sp__node_set_op(sp_node *n, const sp_op *op, const void *attrs); /* attributes are copied */
sp_status sp__node_set_host(sp_node *n, sp_host *host);                    /* retained */
sp_variable *sp__graph_variable(sp_graph *g, sp_tensor *t);                /* found by handle, made when new */
/* Every use of `from` in the function and the ones nested in it becomes `to`. */
void sp__value_replace(sp_graph *g, sp_value *from, sp_value *to);
/* Number nodes by position, in f->n_nodes order. */
void sp__function_number(sp_function *f);
/* Note a handle in f->outside; and let go of all of them: one that is a symbol of the graph would keep it for ever. */
sp_status sp__function_note_outside(sp_function *f, sp_value *v, sp_tensor *t);
void sp__function_forget_outside(sp_function *f);
sp_host *sp__host_retain(sp_host *h);
void sp__host_release(sp_host *h);

/* Results of an operator from the geometry of its inputs, some of which may be unknown: then two different numbers are tried
 * for every unknown dimension, and what comes out equal is known. metas: n_out entries. */
sp_status sp__infer_open(const sp_op *op, const void *attrs, int n_in, const sp_meta *const *in, int n_out,
                         sp_meta *metas);
/* Number of results of an operator whose inputs tell it. */
sp_status sp__infer_count(const sp_op *op, const void *attrs, int n_in, const sp_meta *const *in, int *n_out);
static inline bool sp__meta_known(const sp_meta *m)
{
    if (m->rank < 0) return false;
    for (int i = 0; i < m->rank; i++)
        if (m->dims[i] < 0) return false;
    return true;
}

/* --- recording --------------------------------------------------------------------------------------------------- */

/* The function that operators on symbols are recorded into on this thread; NULL: none, everything is computed. */
extern _Thread_local sp_function *sp__recorder;
/* Is this what specs of a caller can be? what: "parameter", for the message. */
sp_status sp__specs_check(const char *what, int n, const sp_spec *specs);
/* The place given to nodes that are made now. */
extern _Thread_local const sp_place *sp__place;

/* Called by sp_apply for every input while something is recorded: *symbol receives a symbol (owned) that stands for a
 * variable's present contents, NULL when t is none. History and flags are those of t. */
sp_status sp__record_read(sp_tensor *t, sp_tensor **symbol);
/* Must this call become a node? True when an input is a symbol. */
bool sp__must_record(const sp_call *c);
/* Whether a tensor is one that programs read and store to: a Parameter, or one that was marked. */
bool sp__is_variable(const sp_tensor *t);
/* Append the node; c->out receives symbols. originals: the inputs as the caller gave them; for operators that write in
 * place these handles are what is returned, with their new values. */
sp_status sp__record(sp_call *c, sp_tensor *const *originals);
/* A node of an operator without inputs, which sp_apply would compute at once. */
sp_status sp__record_source(const sp_op *op, const void *attrs, sp_tensor **out);
/* A symbol for a value, and the value behind a tensor in f: its symbol, a READ of a variable, or a constant. */
sp_status sp__symbol_create(sp_value *v, sp_tensor **out);
sp_status sp__value_of(sp_function *f, sp_tensor *t, sp_value **out);

/* A point to come back to: nodes recorded and handles changed after it are forgotten and restored. */
typedef struct sp_mark {
    sp_node *last;
    int n_undo;
} sp_mark;
sp_mark sp__function_mark(const sp_function *f);
void sp__function_rollback(sp_function *f, sp_mark mark);
/* Results of a function, through its tail calls: their number, -1 when it cannot be told; metas has room for max. */
int sp__function_metas(const sp_function *f, int max, sp_meta *metas);
/* The general form of sp_function_host; pure: it may be dropped or moved like an operator. */
sp_status sp__function_host(const char *name, sp_host_fn run, void (*release)(void *context), void *context, bool pure,
                            int n_in, sp_tensor *const *in, int n_out, const sp_spec *specs, sp_tensor **out);
/* The size of dimension `axis` of a symbol, a whole number (int64, rank 0) that the run tells: host code by this name. */
#define SP_HOST_SIZE "size"
sp_status sp__function_size(sp_tensor *t, int axis, sp_tensor **out);
/* What a symbol holds, where that follows from sizes alone and the graph keeps them; else NULL. Belongs to the graph. */
sp_status sp__symbol_known(const sp_tensor *t, sp_tensor **out);
sp_status sp__value_known(sp_value *v, sp_tensor **out);
void sp__graph_forget_known(sp_graph *g);
/* A constant of the function that is being recorded, as a symbol: what is made of it is recorded. */
sp_status sp__constant_symbol(sp_tensor *t, sp_tensor **out);
bool sp__node_is_size(const sp_node *n, int *axis);
/* sp_graph_text; brief: of constants the beginning, for people. */
sp_status sp__graph_print(const sp_graph *g, bool brief, char **out);
/* Gradients end at what host code gave without one, loudly (sp_grad_opaque). */
sp_status sp__host_opaque(const sp_host *host, int n_in, sp_tensor *const *in, int n_out, sp_tensor *const *out);
/* The general form of sp_function_grad; spec is copied. */
sp_status sp__function_grad(sp_function *callee, int n_args, sp_tensor *const *args, const sp_grad_spec *spec,
                            sp_tensor **out);

/* --- over whole graphs ------------------------------------------------------------------------------------------- */

/* Free variables become parameters (closure conversion), so that every function can be run alone. */
sp_status sp__graph_close(sp_graph *g);
/* The invariants, checked; the message names function and node. Debug builds run it after every pass. */
sp_status sp__graph_verify(const sp_graph *g);

#endif
