/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_model.h - an ONNX model in memory, and what the handlers of its operators get.
 *
 * Names are resolved when the file is read: every value of a graph has a slot in a frame. A graph inside another (the branch
 * of an If, the body of a Loop) has a frame of its own; what it uses from outside is copied into it at the start.
 *
 * A handler makes the results of one node from its inputs with operators of the table. It does not know whether these are
 * tensors (then they are computed) or symbols (then they are recorded). Where it needs the contents of an input it asks with
 * sp__onnx_ints and its like, which fail with SP_SYMBOL for a symbol; the model is then run on tensors. */
#ifndef SPORE_ONNX_MODEL_H
#define SPORE_ONNX_MODEL_H

#include "base/arena.h"
#include "formats/model_impl.h"
#include "formats/onnx/onnx_tensor.h"
#include "ops/ops_impl.h"

typedef struct sp_onnx_graph sp_onnx_graph;
typedef struct sp_onnx_node sp_onnx_node;
typedef struct sp_onnx_handler sp_onnx_handler;

/* Texts and their numbers; see onnx_texts.c. */
typedef struct sp_onnx_texts {
    const struct sp_onnx_texts *base; /* of the model, in a table of a run */
    int64_t first, n, room;
    char **list;
    int64_t *places; /* by hash; -1: free */
} sp_onnx_texts;

/* A value while the model runs: a tensor, a sequence, or nothing (an empty optional). Counted. */
typedef struct sp_onnx_value {
    int refs;
    sp_tensor *tensor; /* NULL: a sequence, or nothing */
    int type;          /* what the tensor carries (onnx_tensor.h); 0: elements of its own dtype */
    bool is_sequence;
    int n;
    struct sp_onnx_value **items; /* of a sequence; owned */
} sp_onnx_value;

typedef struct sp_onnx_attr {
    const char *name;
    const char *from; /* in functions: the attribute of the call that it stands for; NULL: none */
    int type;         /* AttributeProto.AttributeType */
    double f;
    int64_t i;
    const char *s;
    int n; /* floats, ints, strings */
    const double *floats;
    const int64_t *ints;
    const char *const *strings;
    sp_tensor *tensor; /* owned by the model's bundle of constants */
    int tensor_type;   /* what it carries */
    sp_onnx_graph *graph;
} sp_onnx_attr;

#define SP_ONNX_NEEDS_ALL 0x80000000u

struct sp_onnx_node {
    const char *name, *op, *domain;
    int n_in, n_out;
    int *in, *out; /* slots; -1: left out */
    int n_attrs;
    sp_onnx_attr *attrs;
    const sp_onnx_handler *handler; /* or */
    sp_onnx_graph *function;        /* a function of the model */
    int opset;
    unsigned needed;          /* bit i: input i must be there; see sp__onnx_needed */
    const sp_onnx_node *norm; /* of a convolution: the normalisation that alone uses its result */
    bool folded;              /* of that normalisation: nothing is left to do when its result is there */
    int n_dead;
    int *dead; /* slots that are not needed after it */
};

struct sp_onnx_graph {
    const char *name;
    int walked;         /* by the search for functions that call themselves */
    int64_t n_expanded; /* nodes, with those of the functions they call and the graphs inside them; then known */
    int n_slots;
    const char **names; /* of slots */
    int n_inputs, n_outputs;
    int *inputs, *outputs;
    int n_nodes;
    sp_onnx_node *nodes;
    int n_constants; /* initializers */
    int *constant_slots;
    sp_tensor **constants; /* owned by the model's bundle of constants */
    int *constant_types;   /* what they carry */
    int64_t *parameter_at; /* of the outermost graph: entry among the model's parameters for a constant, -1: none */
    int n_captured;
    int *captured, *captured_from; /* own slot, slot of the outer graph */
};

/* One application of a node. */
typedef struct sp_onnx_call {
    const sp_onnx_node *node;
    const struct sp_onnx_call *caller; /* of the function that the node is part of; NULL: none */
    sp_onnx_texts *texts;              /* of this run */
    const sp_onnx_graph *graph;        /* that the node is part of */
    sp_onnx_value **frame;             /* of that graph */
    sp_builder *b;                     /* owns what handlers make */
    int opset;
    int n_in, n_out;
    sp_tensor **in;  /* NULL where left out */
    sp_tensor **out; /* to be filled with tensors owned by b */
    int *out_type;   /* what they carry; handlers that are SP_ONNX_TYPED fill it */
    sp_onnx_value **value_in;
    sp_onnx_value **value_out; /* filled by handlers of values; owned by the caller */
} sp_onnx_call;

/* What a handler works on. */
typedef enum sp_onnx_how {
    SP_ONNX_PLAIN,       /* tensors of our dtypes; carried types are refused for it */
    SP_ONNX_VALUES,      /* value_in and value_out */
    SP_ONNX_KEEPS,       /* it only moves elements: the first result carries what the first input does */
    SP_ONNX_KEEPS_ALL,   /* all results do */
    SP_ONNX_KEEPS_OTHER, /* the first result carries what the second input does */
    SP_ONNX_TYPED,       /* it looks after types itself */
} sp_onnx_how;

struct sp_onnx_handler {
    const char *name;
    int since; /* first opset that it is right for */
    sp_status (*apply)(sp_onnx_call *c);
    const char *detail; /* for handlers of several operators: the name in our table ... */
    sp_onnx_how how;
};

/* All tables; a table ends with a NULL name. */
extern const sp_onnx_handler sp__onnx_math[], sp__onnx_shape[], sp__onnx_nn[], sp__onnx_quant[], sp__onnx_control[],
    sp__onnx_composed[], sp__onnx_resize[], sp__onnx_rnn[], sp__onnx_text[], sp__onnx_signal[], sp__onnx_place[],
    sp__onnx_ml[], sp__onnx_train[], sp__onnx_ms[], sp__onnx_cast[], sp__onnx_tokens[], sp__onnx_random[],
    sp__onnx_image[];

/* --- running ----------------------------------------------------------------------------------------------------- */

/* Run a graph: args and results are values; args are borrowed, results owned by the caller. outer: frame of the graph around. */
sp_status sp__onnx_run(const sp_onnx_graph *g, sp_onnx_texts *texts, const sp_onnx_call *caller, sp_onnx_value **outer,
                       int n_args, sp_onnx_value *const *args, sp_onnx_value **results);
/* One node: its results go into the frame. */
sp_status sp__onnx_run_node(const sp_onnx_node *n, const sp_onnx_graph *g, sp_onnx_texts *texts,
                            const sp_onnx_call *caller, sp_onnx_value **frame);
sp_onnx_value *sp__onnx_value_tensor(sp_tensor *t);          /* retained; NULL: no memory */
sp_onnx_value *sp__onnx_value_typed(sp_tensor *t, int type); /* carrying a type */
sp_onnx_value *sp__onnx_value_sequence(int n);               /* items to be filled */
sp_onnx_value *sp__onnx_value_retain(sp_onnx_value *v);
void sp__onnx_value_release(sp_onnx_value *v);

/* Read the file: faces and memory of m, constants into `tensors`. All unsupported nodes are told in one message. */
/* The list behind sp_model_node_at (onnx_outline.c). */
sp_status sp__onnx_outline(sp_model *m, const sp_onnx_graph *g);
sp_status sp__onnx_read(const sp_source *s, sp_model *m, sp_bundle *tensors, sp_onnx_texts *texts, sp_onnx_graph **out);
/* A TypeProto: dtype, shape and kind of a value. */
sp_status sp__onnx_read_type(sp_wire w, sp_model_value *out);
/* The messages of nodes in an order in which every value is made before it is used. Files should have that order; some do not.
 * SP_FORMAT: a cycle. */
sp_status sp__onnx_order(sp__arena *arena, int n, sp_wire *nodes);

/* --- texts ------------------------------------------------------------------------------------------------------- */

void sp__onnx_texts_begin(sp_onnx_texts *t, const sp_onnx_texts *base);
void sp__onnx_texts_free(sp_onnx_texts *t);
/* The number of a text (up to `bytes`, or its end), which is added when it is new. */
sp_status sp__onnx_text_code(sp_onnx_texts *t, const char *text, size_t bytes, int64_t *code);
const char *sp__onnx_text_at(const sp_onnx_texts *t, int64_t code); /* lives as long as the table */

/* --- for handlers ------------------------------------------------------------------------------------------------ */

const sp_onnx_attr *sp__onnx_attr(const sp_onnx_call *c, const char *name); /* NULL: not given */
int64_t sp__onnx_attr_int(const sp_onnx_call *c, const char *name, int64_t missing);
double sp__onnx_attr_float(const sp_onnx_call *c, const char *name, double missing);
const char *sp__onnx_attr_text(const sp_onnx_call *c, const char *name, const char *missing);
static inline sp_tensor *sp__onnx_in(const sp_onnx_call *c, int i) { return i < c->n_in ? c->in[i] : NULL; }

/* What input i carries; 0: elements of its dtype. */
static inline int sp__onnx_in_type(const sp_onnx_call *c, int i)
{
    return i < c->n_in && c->value_in[i] != NULL ? c->value_in[i]->type : 0;
}
/* Numbers brought to a carried type: rounded to what its elements can hold. */
sp_tensor *sp__onnx_to_type(sp_onnx_call *c, sp_tensor *x, int type, bool saturate, const char *mode);

static inline bool sp__onnx_needs(const sp_onnx_node *n, int i)
{
    return n->needed & SP_ONNX_NEEDS_ALL || (i < 31 && n->needed >> i & 1);
}

/* A short list of integers. */
typedef struct sp_onnx_ints {
    int n;
    int64_t v[64];
} sp_onnx_ints;
/* Contents of a tensor of integers or numbers; SP_SYMBOL when it is a symbol. */
sp_status sp__onnx_ints(sp_tensor *t, sp_onnx_ints *out);
sp_status sp__onnx_floats(sp_tensor *t, int max, double *out, int *n);
sp_status sp__onnx_number(sp_tensor *t, double *out);
/* Attribute `name`, or input i, whichever is given; found tells whether one is. */
sp_status sp__onnx_ints_of(sp_onnx_call *c, const char *name, int i, sp_onnx_ints *out, bool *found);

/* Are numbers that follow from the sizes of x to be recorded? And a dimension of it, of shape (1). */
bool sp__onnx_keeps_sizes(const sp_tensor *x);
sp_tensor *sp__onnx_size_symbol(sp_onnx_call *c, sp_tensor *x, int axis);
/* Apply the handler of another operator of the standard, of the newest version, with the attributes of this node. */
sp_status sp__onnx_again(sp_onnx_call *c, const char *op, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out);
const sp_onnx_handler *sp__onnx_handler_find(const char *domain, const char *op, int version); /* NULL: not supported */
/* Inputs that an operator cannot do without, by the name of its handler: bit i for input i, the last one for all that are given. */
/* Nodes that dequantise, compute and quantise become one: onnx_qdq.c */
sp_status sp__onnx_join_quantised(sp__arena *arena, sp_onnx_graph *g);
unsigned sp__onnx_needed(const char *handler, int opset);
/* Attributes of a node with a handler are of the kind they must be, words known ones. Those that stand for attributes of a function's call are
 * looked at when it is called: `call`, else NULL. */
sp_status sp__onnx_attrs_check(const sp_onnx_node *n, const sp_onnx_call *call);
/* An operator of the table by name: its first result, all of them; a number of rank 0. */
#define sp__onnx_op(c, ...) sp__model_op((c)->b, __VA_ARGS__)
#define sp__onnx_op_many(c, ...) sp__model_op_many((c)->b, __VA_ARGS__)
#define sp__onnx_scalar(c, dtype, v) sp_scalar((c)->b, dtype, v)
#define SP_ONNX_OP1(c, op, x, ...) sp__onnx_op((c), (op), 1, (sp_tensor *[]){(x)}, __VA_ARGS__)
#define SP_ONNX_OP2(c, op, x, y, ...) sp__onnx_op((c), (op), 2, (sp_tensor *[]){(x), (y)}, __VA_ARGS__)
/* "(1,2,)" for attributes; room for 64 numbers. */
typedef struct sp_onnx_text {
    char text[64 * 21 + 4];
} sp_onnx_text;
const char *sp__onnx_list(sp_onnx_text *t, int n, const int64_t *v);
/* Kernel (given, or the attribute), strides, dilations and padding (in front and behind, axis by axis) of a node over x. */
typedef struct sp_onnx_window {
    int n; /* spatial dimensions */
    int64_t kernel[SP_RANK_MAX], stride[SP_RANK_MAX], dilation[SP_RANK_MAX];
    int64_t pads[2 * SP_RANK_MAX]; /* before and after, dimension by dimension */
} sp_onnx_window;
sp_status sp__onnx_window_of(sp_onnx_call *c, const sp_tensor *x, const int64_t *kernel, sp_onnx_window *w);
/* A convolution of bytes less their zero points with the window of the node: sums in int32, or with a scale bytes again. What is NULL is left out.
 * *out NULL: it is none that conv_bytes does. onnx_byte_conv.c */
typedef struct sp_onnx_byte_conv {
    sp_tensor *x, *x_zero, *w, *w_zero, *bias, *scale, *y_zero;
} sp_onnx_byte_conv;
sp_status sp__onnx_byte_conv_make(sp_onnx_call *c, const sp_onnx_byte_conv *v, sp_tensor **out);
sp_tensor *sp__onnx_tensor_ints(sp_onnx_call *c, int n, const int64_t *v); /* int64, rank 1 */
/* [batch, heads, length, size] with every head n times in a row. */
sp_tensor *sp__onnx_repeat_heads(sp_onnx_call *c, sp_tensor *x, int64_t n);
/* A list attribute of n numbers; all of them `missing` where it is not given. */
sp_status sp__onnx_ints_or(sp_onnx_call *c, const char *name, int n, int64_t missing, int64_t *out);
sp_status sp__onnx_zeros(sp_onnx_call *c, sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **out);
sp_tensor *sp__onnx_whole(sp_onnx_call *c, int64_t v); /* int64, rank 0: every number a file may hold, exactly */
/* Handler done: one result. */
static inline sp_status sp__onnx_return(sp_onnx_call *c, sp_tensor *t)
{
    c->out[0] = t;
    return sp_builder_status(c->b);
}

#endif
