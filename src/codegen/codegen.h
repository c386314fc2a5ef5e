/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.h - a recorded function as plain C99: from inside. The public face is spore/codegen.h.
 *
 *     codegen_record.c   a model as a function, weights as constants; its test vector
 *     codegen_train.c    a step of training as a function: forward, backward, update
 *     codegen_compile.c  the function optimised by the passes of graph/
 *     codegen_lower.c    the function's nodes to steps: what is computed together, where it lies
 *     codegen_memory.c   lifetimes of blocks, memory taken over, offsets in the arena (by the planner of graph/plan.h)
 *     codegen_table.c    8-bit functions of one 8-bit value as tables of 256 bytes
 *     codegen_math.c     element-wise operators as C expressions
 *     codegen_write.c    what kernels are written with: loops, indices, loads, stores
 *     codegen_*.c        the kernels, listed in kernels.def
 *     codegen_files.c    model.c, weights.c, model.h, the test program and its build
 *     codegen.c          all of it, and the report
 *
 * Invariants:
 *  1. A step is one C function. It has at most one kernel (a convolution, a product ...), whose result goes through the fused
 *     element-wise nodes, one element at a time, before it is stored: nothing between lies in memory.
 *  2. A value is in memory (it has a view), or it is made where it is used: fused (by one step alone) or cheap (by every step that
 *     uses it; widened bytes less a zero point).
 *  3. A block is a piece of memory: of the arena, the caller's, constant, or kept from run to run. Views of one block share it; they
 *     are handles over a pretended storage, so that operators' own view functions make them.
 *  4. Nothing is decided when the generated code runs: sizes, offsets, which memory is reused, are numbers in its text. */
#ifndef SPORE_CODEGEN_IMPL_H
#define SPORE_CODEGEN_IMPL_H

#include "base/arena.h"
#include "base/text.h"
#include "ir/graph_impl.h"
#include "spore/graph.h"

enum { SP_CODEGEN_TEXT = 512, SP_CODEGEN_ARGS = 24, SP_CODEGEN_LISTED = 64 };

typedef struct sp_codegen sp_codegen;
typedef struct sp_codegen_step sp_codegen_step;
typedef struct sp_codegen_out sp_codegen_out;
typedef struct sp_codegen_shared sp_codegen_shared;
typedef char sp_codegen_at[24]; /* a coordinate: the name of a variable, or "0" */

/* --- memory ------------------------------------------------------------------------------------------------------ */

typedef enum sp_codegen_kind {
    SP_BLOCK_ARENA,
    SP_BLOCK_INPUT,
    SP_BLOCK_OUTPUT,
    SP_BLOCK_CONSTANT,
    SP_BLOCK_STATE
} sp_codegen_kind;

typedef struct sp_codegen_block {
    sp_codegen_kind kind;
    int number;      /* which input, output, constant, state */
    sp_dtype dtype;  /* of its elements */
    sp_dtype stored; /* of constants: what they are stored as, where that is narrower */
    int64_t count;
    size_t bytes;
    int first, last; /* steps */
    size_t offset;   /* in the arena */
    int over;        /* block whose memory it takes, -1: it has its own */
    sp_tensor *
        memory; /* row-major; its storage tells views what they are of. Contents count of constants, and of states at the start */
    bool used; /* some step has it */
} sp_codegen_block;

/* What is known of a value of the function, by its id. */
typedef struct sp_codegen_value {
    sp_tensor *view;     /* NULL: it is not in memory */
    int block;           /* of the view */
    int n_users;         /* distinct nodes that take it */
    const sp_node *user; /* one of them */
    bool result;         /* the function gives it back, or stores it */
    bool fused, cheap;   /* see above */
    int step;            /* that makes it; -1: none */
    sp_value *source;    /* table: what it is looked up for */
    sp_value *table;     /* a constant of 256 elements; NULL: it is computed */
} sp_codegen_value;

/* --- steps ------------------------------------------------------------------------------------------------------- */

typedef struct sp_codegen_kernel {
    const sp_op *op;
    sp_status (*write)(sp_codegen_out *o, const sp_node *n); /* the body of its function */
    sp_status (*check)(const sp_node *n); /* SP_DECLINED with a message: not in this case; NULL: always */
    size_t (*work)(const sp_node *n);     /* bytes of scratch memory; NULL: none */
    bool whole; /* it writes its results itself: element-wise nodes behind it are steps of their own */
} sp_codegen_kernel;
const sp_codegen_kernel *sp__codegen_kernel(const sp_op *op); /* NULL: not known */
/* Geometry of a value, for the functions that measure operators: row-major, without memory. */
void sp__codegen_geometry(const sp_value *v, sp_tensor *out);
/* Sliding windows: loops over those of an output at coordinates `out`; `in` and `k` receive coordinates in what they slide over and in the window. */
struct sp__window;
void sp__codegen_window(sp_codegen_out *o, const struct sp__window *w, sp_codegen_at *out, sp_codegen_at *in,
                        sp_codegen_at *k);
void sp__codegen_window_end(sp_codegen_out *o, const struct sp__window *w);
/* Windows of pools and their gradients over x, one for each element of y; whether all hold the same number of elements, and how many; loops over one. */
sp_status sp__codegen_pool_measure(const sp_node *n, const sp_meta *x, const sp_meta *y, struct sp__window *w);
bool sp__codegen_pool_even(const sp_node *n, const struct sp__window *w, double *count);
void sp__codegen_pool_window(sp_codegen_out *o, const sp_node *n, const struct sp__window *w, sp_codegen_at *out,
                             sp_codegen_at *in);
void sp__codegen_pool_window_end(sp_codegen_out *o, const sp_node *n, const struct sp__window *w);

/* A block in a step. */
typedef struct sp_codegen_arg {
    int block;
    bool written;
    bool read; /* by the kernel, or in another order than the result is written in */
} sp_codegen_arg;

struct sp_codegen_step {
    const sp_node *kernel; /* NULL: element-wise nodes alone */
    int n_fused;
    const sp_node **fused; /* in order; the last makes `out` */
    sp_value *out;         /* NULL: a copy */
    sp_tensor *from, *to;  /* of a copy */
    int work;              /* block of scratch memory, -1: none */
    int function;          /* its C function among those of g; -1: it is left out */
    int n_args;
    sp_codegen_arg args[SP_CODEGEN_ARGS]; /* blocks, in the order in which the function takes them */
};

/* A variable of the model: kept from run to run. */
typedef struct sp_codegen_state {
    int block;        /* -1: it does not occur */
    sp_value *stored; /* what it becomes at the end of a run; NULL: it stays */
    int copy;         /* the step that stores it */
} sp_codegen_state;

/* Variables of a model that is trained: weights, then what the optimizer keeps. Several functions use them. */
enum { SP_CODEGEN_SHARED = 256 };
struct sp_codegen_shared {
    const char *name; /* prefix: "model" */
    int n, n_weights;
    sp_tensor *tensors[SP_CODEGEN_SHARED]; /* retained */
};

/* A C function; steps whose texts are equal share one. */
typedef struct sp_codegen_function {
    const char *what;  /* "conv2d" */
    char *head, *body; /* "(const float *a0, float *a1)"; what stands in its braces */
} sp_codegen_function;

struct sp_codegen {
    sp__arena memory;          /* steps and lists; views and texts are owned one by one */
    const char *name;          /* prefix of its names, and of its files: "model" */
    char run[80];              /* the C function: "model_run" */
    sp_codegen_shared *shared; /* variables that it has in common with others of the project; NULL: its own */
    bool defines;              /* shared variables are defined in its file */
    sp_program *program;       /* owns the function */
    sp_function *f;            /* optimised */
    int n_values, n_steps, n_blocks, blocks_room;
    sp_codegen_value *values;
    sp_codegen_step *steps;
    sp_codegen_block *blocks;
    int n_constants, n_states;
    sp_codegen_state *states; /* by variable of the graph */
    size_t arena_bytes, least_bytes;
    int n_functions, functions_room;
    sp_codegen_function *functions;
    unsigned helpers; /* of the generated file, by bit: codegen_math.c */
};

/* A finished function, optimised: g->program and g->f. */
sp_status sp__codegen_compile(sp_codegen *g, sp_function *f);
/* Results of running g->program `repeats` times on these arguments, each the only one of its run: a vector of them. Variables are then as before. */
sp_status sp__codegen_repeat(sp_codegen *g, int n_in, sp_tensor *const *in, int repeats, sp_tensor **out);
/* Steps and blocks of g->f. All operators that have no kernel are told in one message. */
sp_status sp__codegen_lower(sp_codegen *g);
/* Lifetimes, memory taken over, offsets. */
sp_status sp__codegen_place(sp_codegen *g);
/* Texts of all steps. */
sp_status sp__codegen_functions(sp_codegen *g);
void sp__codegen_free(sp_codegen *g);

int sp__codegen_block_of(const sp_codegen *g, const sp_tensor *view);
/* A new block of that dtype and number of elements; -1 without memory. */
int sp__codegen_add_block(sp_codegen *g, sp_codegen_kind kind, sp_dtype dtype, int64_t count);
/* The constant as a block, once. */
sp_status sp__codegen_constant(sp_codegen *g, sp_value *v);
static inline sp_codegen_value *sp__codegen_value(const sp_codegen *g, const sp_value *v) { return &g->values[v->id]; }
/* Element i of a row-major tensor, as a number. */
double sp__codegen_element(const sp_tensor *t, int64_t i);
/* One number stands for all of its elements. */
bool sp__codegen_is_number(const sp_value *v, double *out);
/* Replace chains from one byte to another by tables. */
sp_status sp__codegen_tables(sp_codegen *g);

/* --- element-wise operators -------------------------------------------------------------------------------------- */

bool sp__codegen_is_math(const sp_node *n);
bool sp__codegen_is_dear(const sp_node *n); /* it calls functions: worth a table */
/* The C expression of a node whose operands are these texts, without brackets around it. */
sp_status sp__codegen_math(sp_codegen_out *o, const sp_node *n, const char *const *operands, char *out, size_t room);
/* Functions that expressions call, as C text. */
enum { SP_HELPER_EXP = 1, SP_HELPER_TANH = 2, SP_HELPER_SIGMOID = 4, SP_HELPER_ROUND = 8 };
void sp__codegen_math_helpers(sp__text *t, unsigned helpers);

/* --- writing a step's function ----------------------------------------------------------------------------------- */

struct sp_codegen_out {
    sp_codegen *g;
    sp_codegen_step *step;
    sp__text text;
    int depth;  /* of blocks */
    int serial; /* of local names */
    sp_status status;
};

const char *sp__codegen_type(sp_dtype dtype); /* "float"; NULL: C99 has none */
/* A line of the body. */
void sp__codegen_line(sp_codegen_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "for (int NAME = 0; NAME < n; NAME++) {"; nothing for one turn. coordinate receives NAME, or "0". */
void sp__codegen_for(sp_codegen_out *o, const char *name, int64_t n, char coordinate[24]);
void sp__codegen_end(sp_codegen_out *o, int64_t n); /* of sp__codegen_for */
void sp__codegen_close(sp_codegen_out *o);          /* "}" */
/* Name of the block in the function: a pointer to its first element. */
const char *sp__codegen_arg(sp_codegen_out *o, int block, bool write);
/* "3 + i0 * 12 + i1": the distance of an element from the first of its block. at: coordinates by dimension. */
void sp__codegen_index(const sp_codegen_out *o, const sp_tensor *view, sp_codegen_at *at, char *out, size_t room);
/* An element of a value: in memory, a number, or cheap. */
void sp__codegen_load(sp_codegen_out *o, sp_value *v, sp_codegen_at *at, char *out, size_t room);
/* The same by its index in the block, for kernels that have strides of their own; the view, and what is done to it. */
sp_tensor *sp__codegen_view(const sp_codegen *g, const sp_value *v);
void sp__codegen_load_index(sp_codegen_out *o, sp_value *v, const char *index, char *out, size_t room);
/* The kernel's result at these coordinates is `value`: through the fused nodes, and into memory. */
void sp__codegen_store(sp_codegen_out *o, sp_codegen_at *at, const char *value);
/* Result i of a kernel that is `whole`. */
void sp__codegen_store_result(sp_codegen_out *o, const sp_value *v, sp_codegen_at *at, const char *value);
void sp__codegen_literal(sp_dtype dtype, double value, char *out, size_t room);
/* Loops over all dimensions of a shape, and their ends. */
void sp__codegen_loops(sp_codegen_out *o, const char *prefix, int rank, const int64_t *dims, sp_codegen_at *at);
void sp__codegen_loops_end(sp_codegen_out *o, int rank, const int64_t *dims);

/* A value that is bytes (or 16 bits) less a whole number: the bytes' value, and the number; NULL: it is something else. */
sp_value *sp__codegen_integers(const sp_codegen *g, const sp_value *v, int32_t *zero);
/* Whether the contents of a constant are whole numbers, and the largest and the sum of their sizes. */
bool sp__codegen_whole(const sp_value *v, double *low, double *high);

/* --- files ------------------------------------------------------------------------------------------------------- */

/* Arguments and results of a run, for the test program; results are what the engine computed. */
typedef struct sp_codegen_vector {
    int n_in, n_out;
    sp_tensor **in, **out;
    const char *const *in_names, *const *out_names; /* in the model's file */
    int repeats; /* runs, each of which gives one element of the only result; 0: one run */
} sp_codegen_vector;

/* What is written for one target. */
typedef struct sp_codegen_machine {
    const char *name, *doc;
    const char *compiler, *flags; /* of the Makefile */
    const char *machine;          /* options of qemu that run it; NULL: the host itself does */
    const char *start; /* start-up code and linker script: a family of targets; NULL: an operating system's */
    unsigned long long flash, flash_bytes, ram, ram_bytes; /* of that machine */
} sp_codegen_machine;
extern const sp_codegen_machine sp__codegen_targets[]; /* ends with a NULL name; the first is the default */

typedef struct sp_codegen_project {
    const char *folder;
    const sp_codegen_machine *target;
    int n_models;
    sp_codegen *models;
    sp_codegen_vector *vectors;
    const char **sources; /* where the models come from, for comments */
    char trained[80];     /* name of the step of training; "": none */
    sp_codegen_shared *shared;
    size_t arena_bytes; /* the largest of them */
} sp_codegen_project;

/* Numbers that look like noise, the same on every machine. */
sp_status sp__codegen_noise(const sp_spec *s, uint32_t *state, sp_tensor **out);
bool sp__codegen_is_shared(const sp_codegen_shared *shared, const sp_tensor *t);
/* All files of the project; those that are there are replaced. */
sp_status sp__codegen_files(const sp_codegen_project *p);
/* The file `name` of the folder. */
sp_status sp__codegen_save(const sp_codegen_project *p, const char *name, sp__text *text);
/* Start-up code and linker script of targets without an operating system, the test program and the Makefile. */
sp_status sp__codegen_board(const sp_codegen_project *p);
void sp__codegen_array(sp__text *t, const sp_tensor *contents, sp_dtype stored);

/* Attributes by name. */
int64_t sp__codegen_int(const sp_node *n, const char *name);
double sp__codegen_number(const sp_node *n, const char *name);
const char *sp__codegen_text(const sp_node *n, const char *name);
bool sp__codegen_bool(const sp_node *n, const char *name);
sp_ints sp__codegen_ints(const sp_node *n, const char *name);

#endif
