/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_model.h - a TensorFlow Lite model in memory, and what the handlers of its operators get.
 *
 * A handler makes the results of one node from its inputs with operators of the table, on tensors (then they are computed) or on
 * symbols (then they are recorded). It does not see two things that the runner looks after:
 *
 * - Layout. The file's pictures are [batch, height, width, channels]; our convolutions want [batch, channels, height, width], "planes".
 *   A value is kept in the form in which it was made and brought into the other one when somebody asks; so a chain of convolutions and
 *   element-wise operators runs on planes all the way.
 * - Quantisation. A tensor of integers may stand for numbers: (q - zero point) * scale. Most handlers (SP_TFLITE_REAL) get the numbers, and
 *   their results are rounded to the scale of the result. Handlers that only move elements (SP_TFLITE_MOVE) get the integers; convolutions
 *   and products multiply the integers and round once, as the interpreter does.
 *
 * MindSpore Lite's models (../lite), whose pictures and integers are the same, are brought into these graphs and run here too. */
#ifndef SPORE_TFLITE_MODEL_H
#define SPORE_TFLITE_MODEL_H

#include "base/arena.h"
#include "base/lock.h"
#include "formats/model_impl.h"
#include "formats/tflite/tflite_file.h"
#include "ops/ops_impl.h"

enum { SP_TFLITE_OPTIONS = 17, SP_TFLITE_LIST = 64 };

/* How a tensor's integers stand for numbers; n 0: they do not. */
typedef struct sp_tflite_scale {
    int n; /* one, or one for each position along axis */
    const float *scale;
    const float *zero;
    int axis;
} sp_tflite_scale;

typedef struct sp_tflite_tensor {
    const char *name; /* unique in its graph */
    int type;         /* TensorType */
    sp_meta meta;     /* dtype SP_DTYPE_NONE for texts and resources */
    sp_tflite_scale scale;
    sp_tensor *constant; /* NULL: computed, or given; owned by the bundle of constants */
    int64_t parameter;   /* entry among the model's parameters, -1: none */
    int state;           /* what it keeps from run to run, -1: nothing */
} sp_tflite_tensor;

typedef struct sp_tflite_handler sp_tflite_handler;

/* A list of numbers that lies elsewhere. */
typedef struct sp_tflite_longs {
    int n;
    const int64_t *v;
} sp_tflite_longs;

typedef struct sp_tflite_node {
    const char *name, *op; /* "CONV_2D" */
    const sp_tflite_handler *handler;
    int n_in, n_out;
    int *in, *out;                      /* tensors of the graph; -1: left out */
    uint32_t given;                     /* bit k: option k is there */
    uint64_t option[SP_TFLITE_OPTIONS]; /* as the file has it */
    int n_list;
    int64_t *list;                /* the option that is a list of numbers, if there is one */
    const sp_tflite_longs *lists; /* of MindSpore Lite's nodes: options that are lists; NULL: it has none */
    size_t custom_bytes;
    const uint8_t *custom;
    int state; /* of VAR_HANDLE */
    int n_dead;
    int *dead; /* tensors that are not needed after it */
} sp_tflite_node;

typedef struct sp_tflite_graph {
    const char *name;
    int n_tensors, n_inputs, n_outputs, n_nodes;
    sp_tflite_tensor *tensors;
    int *inputs, *outputs;
    sp_tflite_node *nodes;
    int walked; /* by the search for graphs that call themselves */
} sp_tflite_graph;

/* What is kept from run to run: a variable of the file, or the state of a recurrent layer. */
typedef struct sp_tflite_state {
    const char *name;
    sp_meta meta;      /* dtype SP_DTYPE_NONE: nobody says */
    int8_t start;      /* each of its bytes at the start */
    sp_tensor *tensor; /* made when the model is first run */
} sp_tflite_state;

typedef struct sp_tflite_model {
    int n_graphs;
    sp_tflite_graph *graphs;
    sp_bundle *tensors; /* constants; large ones are views of the mapped file */
    int n_states, room;
    sp_tflite_state *states;
    bool ready; /* states are made, and graphs that are called once have been */
    sp_lock lock;
} sp_tflite_model;

/* A value while the model runs, in one of two forms or both; see above. Of a resource: neither, but the state. */
typedef struct sp_tflite_value {
    sp_tensor *plain, *planes;
    int state;
} sp_tflite_value;

/* One application of a node. */
typedef struct sp_tflite_call {
    const sp_tflite_node *node;
    const sp_tflite_graph *graph;
    const struct sp_tflite_run *run;
    sp_tflite_value *frame;
    sp_builder *b; /* owns what handlers make */
    bool moves;    /* inputs and results are elements, not the numbers that they stand for */
    bool planes;   /* of handlers for both layouts: inputs and results are planes */
    int n_in, n_out;
    sp_tensor **in;  /* NULL where left out */
    sp_tensor **out; /* to be filled with tensors owned by b; results are planes when `planes` says so */
} sp_tflite_call;

/* Called in front of a node and behind it; false ends the run. */
typedef bool (*sp_tflite_watch)(void *watcher, bool after, const char *name, const char *type, int n_in,
                                sp_tensor *const *in, int n_out, sp_tensor *const *out);

/* One run of the model. */
typedef struct sp_tflite_run {
    const sp_tflite_model *model;
    const sp_bundle *parameters; /* those to be used; NULL: the constants of the file */
    sp_tflite_watch watch;       /* NULL: nobody watches */
    void *watcher;
} sp_tflite_run;

typedef enum sp_tflite_how {
    SP_TFLITE_REAL = 0, /* numbers in, numbers out */
    SP_TFLITE_MOVE = 1, /* elements as they are: it moves them; scales of inputs and results are the same */
    SP_TFLITE_RAW = 2,  /* it looks after everything itself */
    SP_TFLITE_ANY = 4,  /* together with the first two: element by element, in any layout */
    SP_TFLITE_SAME =
        16, /* together with SP_TFLITE_REAL: elements as they are when inputs and results have the same scale */
    SP_TFLITE_AXES = 8, /* together with the first two: it asks sp__tflite_axis for its axes, so planes will do */
} sp_tflite_how;

struct sp_tflite_handler {
    int code; /* BuiltinOperator; 32: custom, found by name */
    const char *name;
    sp_status (*apply)(sp_tflite_call *c);
    const char *detail; /* for handlers of several operators: the name in our table */
    int how;
    int needs; /* inputs that must be there */
    int list;  /* option that is a list of 4-byte numbers, or a text; -1: none */
};

/* All tables; a table ends with a NULL name. */
extern const sp_tflite_handler sp__tflite_math[], sp__tflite_shape_table[], sp__tflite_nn[], sp__tflite_place[],
    sp__tflite_control[], sp__tflite_rnn[], sp__tflite_boxes[];
const sp_tflite_handler *sp__tflite_handler_find(int code, const char *custom); /* NULL: not supported */
const char *sp__tflite_op_name(int code); /* "CONV_2D"; NULL: a number that nobody has given yet */

/* Read the file: faces and memory of m. All unsupported operators are told in one message. */
sp_status sp__tflite_read(const sp_source *s, sp_model *m, sp_tflite_model *out);
/* Graphs that a node runs: how many, and the number of the k-th. */
int sp__tflite_graphs_of(const sp_tflite_node *n);
int sp__tflite_graph_of(const sp_tflite_node *n, int k);
/* List the model's nodes for tools. */
sp_status sp__tflite_outline(sp_model *m, const sp_tflite_model *d);

/* Run a graph on values, which are borrowed; results are the caller's. */
sp_status sp__tflite_run_graph(const sp_tflite_run *r, const sp_tflite_graph *g, int n_args,
                               const sp_tflite_value *args, sp_tflite_value *results);
sp_tflite_value sp__tflite_value_retain(sp_tflite_value v);
void sp__tflite_value_release(sp_tflite_value *v);

/* What readers of other files than TensorFlow Lite's need to run theirs (../lite): the entries of their kind, and which node uses a tensor last. */
void sp__tflite_release(void *data);
sp_status sp__tflite_reset(const sp_model *m);
sp_status sp__tflite_apply(const sp_model *m, sp_tensor *const *in, sp_tensor **out);
sp_status sp__tflite_apply_watched(const sp_model *m, sp_tensor *const *in, sp_tensor **out, sp_tflite_watch watch,
                                   void *watcher);
sp_status sp__tflite_find_dead(sp__arena *arena, sp_tflite_graph *g);

/* Handlers of several readers: element by element by `detail`, and two with other orders of inputs. */
sp_status sp__tflite_unary(sp_tflite_call *c);
sp_status sp__tflite_prelu(sp_tflite_call *c);
sp_status sp__tflite_fill(sp_tflite_call *c); /* dims, value */
enum { SP_TFLITE_UNSUPPORTED_SHOWN = 40 };
/* For the message about operators that are not supported: its list, and how many there are. */
void sp__tflite_note_unsupported(sp__text *list, int *count, const sp_tflite_node *n);
/* n more of what a file lists; it cannot list more than it has bytes. */
sp_status sp__tflite_spend(uint64_t *room, uint64_t n);

/* --- for handlers ------------------------------------------------------------------------------------------------ */

static inline const sp_tflite_tensor *sp__tflite_in_face(const sp_tflite_call *c, int i)
{
    return i < c->node->n_in && c->node->in[i] >= 0 ? &c->graph->tensors[c->node->in[i]] : NULL;
}
static inline const sp_tflite_tensor *sp__tflite_out_face(const sp_tflite_call *c, int i)
{
    return &c->graph->tensors[c->node->out[i]];
}

/* Input i: its elements, as [.., height, width, channels] or as planes; NULL: left out, or the builder has failed. */
sp_tensor *sp__tflite_plain(sp_tflite_call *c, int i);
sp_tensor *sp__tflite_planes(sp_tflite_call *c, int i);
/* The numbers that the elements x of a tensor stand for, of float32 (float64 where int16 asks for it). */
sp_tensor *sp__tflite_real(sp_tflite_call *c, sp_tensor *x, const sp_tflite_tensor *face, bool planes);
/* Numbers rounded to the scale of result i, if it has one. */
sp_tensor *sp__tflite_rounded(sp_tflite_call *c, sp_tensor *x, int i);
/* Numbers in units of the scale of a tensor, float32, as its elements; a fused activation is applied by cutting. */
sp_tensor *sp__tflite_to_quanta(sp_tflite_call *c, sp_tensor *x, const sp_tflite_tensor *face, int64_t activation);
/* Result i from here: elements, in the layout that is said. */
sp_status sp__tflite_put(sp_tflite_call *c, int i, sp_tensor *t, bool planes);

/* A state from here on; the value is row by row, of its dtype and shape. */
sp_status sp__tflite_write_state(sp_tflite_call *c, const sp_tflite_state *s, sp_tensor *value);

/* Where axis `axis` (negative: from the end) of a tensor of that rank lies in the layout at hand. */
sp_status sp__tflite_axis(const sp_tflite_call *c, int64_t axis, int rank, int *out);
int64_t sp__tflite_int(const sp_tflite_call *c, int option, int64_t missing);
int64_t sp__tflite_byte(const sp_tflite_call *c, int option, int64_t missing);
double sp__tflite_float(const sp_tflite_call *c, int option, double missing);
/* Fused activation (ActivationFunctionType). */
sp_tensor *sp__tflite_activate(sp_tflite_call *c, sp_tensor *x, int64_t kind);

/* A short list of integers. */
typedef struct sp_tflite_ints {
    int n;
    int64_t v[SP_TFLITE_LIST];
} sp_tflite_ints;
/* Contents of input i; SP_SYMBOL when it is a symbol. */
sp_status sp__tflite_ints(sp_tflite_call *c, int i, sp_tflite_ints *out);
sp_status sp__tflite_one_int(sp_tflite_call *c, int i, int64_t *out);
sp_status sp__tflite_number(sp_tflite_call *c, int i, double *out);

/* An operator of the table by name: its first result, all of them; a number of rank 0. */
#define sp__tflite_op(c, ...) sp__model_op((c)->b, __VA_ARGS__)
#define sp__tflite_op_many(c, ...) sp__model_op_many((c)->b, __VA_ARGS__)
#define sp__tflite_scalar(c, dtype, v) sp_scalar((c)->b, dtype, v)
#define SP_TFLITE_OP1(c, op, x, ...) sp__tflite_op((c), (op), 1, (sp_tensor *[]){(x)}, __VA_ARGS__)
#define SP_TFLITE_OP2(c, op, x, y, ...) sp__tflite_op((c), (op), 2, (sp_tensor *[]){(x), (y)}, __VA_ARGS__)
/* "(1,2,)" for attributes. */
typedef struct sp_tflite_text {
    char text[SP_TFLITE_LIST * 21 + 4];
} sp_tflite_text;
const char *sp__tflite_list(sp_tflite_text *t, int n, const int64_t *v);
sp_tensor *sp__tflite_tensor_ints(sp_tflite_call *c, sp_dtype dtype, int n, const int64_t *v); /* rank 1 */
sp_tensor *sp__tflite_floats(sp_tflite_call *c, int n, const float *v);                        /* float32, rank 1 */
/* Handler done: one result. */
static inline sp_status sp__tflite_return(sp_tflite_call *c, sp_tensor *t)
{
    c->out[0] = t;
    return sp_builder_status(c->b);
}
static inline int sp__tflite_rank(const sp_tflite_call *c, int i)
{
    return c->in[i] != NULL ? sp_tensor_rank(c->in[i]) : 0;
}
static inline int64_t sp__tflite_dim(const sp_tflite_call *c, int i, int axis)
{
    return sp_tensor_dims(c->in[i])[axis];
}

#endif
