/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out.h - ONNX models being written: values, nodes, and the rules by which operators of the table become them.
 *
 * A value is a number (`ox`), 0 stands for none. Values remember their dtype; sp__ox_op brings the operands of an ONNX operator
 * to a dtype that it takes and the result back, so that rules need not care about small integers and bfloat16. After a failure
 * everything does nothing and gives 0, as with the builder: rules need no checks between calls.
 *
 * A rule is a text (onnx_out_text.c) or a function. There is a table of rules a family of operators: onnx_out_math.c and its
 * like. Operators whose table entry has an ONNX name, no attributes, and no rule are that ONNX operator. */
#ifndef SPORE_ONNX_OUT_H
#define SPORE_ONNX_OUT_H

#include "base/arena.h"
#include "formats/sizes.h"
#include "formats/wire.h"
#include "ir/graph_impl.h"
#include "spore/model.h"

typedef int ox;

typedef struct ox_value {
    const char *name;
    sp_dtype dtype;
    bool is_number; /* no dtype yet: takes that of the operands beside it */
    double number;
    bool is_pair;          /* complex numbers, as pairs of dtype along a last axis: see onnx_out_complex.c */
    sp_tensor *constant;   /* an initializer; owned */
    bool is_parameter;     /* and called as the user calls it */
    const char *scope;     /* of the node that made it */
    bool has_weights;      /* that one took weights */
    const sp_meta *packed; /* the constant holds int4, two a byte, of this shape; NULL: it is as it is */
} ox_value;

typedef struct ox_node {
    const char *op;
    int n_in, n_out;
    ox *in, *out;
    sp_wire_out attrs; /* AttributeProto fields, complete */
    int n_graphs;
    struct ox_graph *graphs[2];
    const char *graph_names[2];
    const char *scope; /* the layer it belongs to, "layer1/conv1" */
    struct ox_node *next;
    struct ox_node *made_before; /* of all nodes of all graphs */
    bool needed;
} ox_node;

typedef struct ox_graph {
    const char *name;
    int n_in, n_out;
    ox *in, *out;
    ox_node *first, *last;
    struct ox_graph *outer;
} ox_graph;

typedef struct ox_out {
    sp__arena arena;
    sp_status status;
    sp_error error;
    int opset;
    int n_values, values_capacity;
    ox_value *values;
    ox_graph *graph;      /* being filled */
    ox_node *nodes;       /* the latest */
    const sp_node *node;  /* being written; */
    const sp_node *other; /* the same one in the recording with other sizes, NULL: there is none */
    ox in[64], out[64];   /* its operands (0: left out) and results, which the rule fills in */
    ox *more_in;          /* where there are more than 64 */
    const sp_model_names *names;
    sp_sizes sizes;         /* what depends on free sizes */
    struct ox_known *known; /* scalars and lists that are there already */
    int counter;
    uint8_t *needed;      /* values that results depend on, once everything is written */
    const char *scope;    /* of the node being written */
    bool has_weights;     /* it takes weights */
    struct ox_walk *walk; /* for sp__ox_find */
    bool placed;          /* the failure names a place of the program */
    const char *prefix;   /* of made-up names; no name of the user begins so */
} ox_out;

/* --- values ------------------------------------------------------------------------------------------------------ */

void sp__ox_free(ox_out *o);
void *sp__ox_fail(ox_out *o, sp_status status); /* remember this thread's message; gives NULL */
bool sp__ox_ok(const ox_out *o);
ox sp__ox_value(ox_out *o, const char *name, sp_dtype dtype); /* NULL: a name is made up */
sp_dtype sp__ox_dtype(const ox_out *o, ox v);
ox sp__ox_number(ox_out *o, double v);                 /* takes the dtype of what it meets */
ox sp__ox_scalar(ox_out *o, sp_dtype dtype, double v); /* rank 0 */
ox sp__ox_whole(ox_out *o, sp_dtype dtype, int64_t v);
ox sp__ox_ints(ox_out *o, int n, const int64_t *v); /* int64, rank 1 */
#define SP_OX_INTS(o, ...)                                                                                             \
    sp__ox_ints((o), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
ox sp__ox_take_tensor(ox_out *o, sp_tensor *t, const char *name); /* an initializer */
/* One filled by fn(context, i) for every element. */
ox sp__ox_table(ox_out *o, sp_dtype dtype, int rank, const int64_t *dims, double (*fn)(const void *context, int64_t i),
                const void *context);

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* One node with one result; attrs: "axis=1, mode='constant', pads=[0,1], alpha=0.5", a format, or NULL. */
ox sp__ox_op(ox_out *o, const char *op, int n_in, const ox *in, const char *attrs, ...)
    __attribute__((format(printf, 5, 6)));
void sp__ox_op_many(ox_out *o, const char *op, int n_in, const ox *in, int n_out, ox *out, const char *attrs, ...)
    __attribute__((format(printf, 7, 8)));
#define SP_OX(o, op, attrs, ...)                                                                                       \
    sp__ox_op((o), (op), (int)(sizeof((ox[]){__VA_ARGS__}) / sizeof(ox)), (ox[]){__VA_ARGS__}, attrs)
/* If and Loop: the graphs are complete. The results' dtypes are those of the first graph's last n_out outputs. */
void sp__ox_branch(ox_out *o, ox cond, ox_graph *yes, ox_graph *no, int n_out, ox *out);
void sp__ox_loop(ox_out *o, ox turns, ox go, int n, const ox *state, ox_graph *body, ox *out);
/* From here on nodes go into a new graph, until sp__ox_end gives back the one around it. */
ox_graph *sp__ox_begin(ox_out *o, const char *name, int n_in);
void sp__ox_end(ox_out *o, ox_graph *g, int n_out, const ox *out);

static inline ox sp__ox_add(ox_out *o, ox x, ox y) { return SP_OX(o, "Add", NULL, x, y); }
static inline ox sp__ox_sub(ox_out *o, ox x, ox y) { return SP_OX(o, "Sub", NULL, x, y); }
static inline ox sp__ox_mul(ox_out *o, ox x, ox y) { return SP_OX(o, "Mul", NULL, x, y); }
static inline ox sp__ox_div(ox_out *o, ox x, ox y) { return SP_OX(o, "Div", NULL, x, y); }
static inline ox sp__ox_where(ox_out *o, ox c, ox x, ox y) { return SP_OX(o, "Where", NULL, c, x, y); }
ox sp__ox_cast(ox_out *o, ox x, sp_dtype dtype); /* x itself when it is of that dtype */
ox sp__ox_reshape(ox_out *o, ox x, int n, const int64_t *dims);
#define SP_OX_RESHAPE(o, x, ...)                                                                                       \
    sp__ox_reshape((o), (x), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
ox sp__ox_transpose(ox_out *o, ox x, int n, const int64_t *perm);
/* Complex numbers: from parts and back (k 0: real), a value that was made as pairs, casts from and to them. */
ox sp__ox_pair(ox_out *o, ox re, ox im);
ox sp__ox_part(ox_out *o, ox z, int k);
ox sp__ox_as_pair(ox_out *o, ox v);
bool sp__ox_is_pair(const ox_out *o, ox v);
ox sp__ox_cast_pair(ox_out *o, ox x, sp_dtype dtype);
bool sp__ox_touches_complex(const sp_node *n); /* then the rules of onnx_out_complex.c count, and no others */
/* "ReduceSum" and its like over axes (n -1: all). */
ox sp__ox_reduce(ox_out *o, const char *op, ox x, int n, const int64_t *axes, bool keep);
ox sp__ox_unsqueeze(ox_out *o, ox x, int64_t axis);
ox sp__ox_slice(ox_out *o, ox x, int n, const int64_t *from, const int64_t *to, const int64_t *axes,
                const int64_t *step);

/* --- the operator being written ---------------------------------------------------------------------------------- */

static inline const sp_meta *sp__ox_meta(const ox_out *o, int i) { return &o->node->in[i]->meta; }
static inline const sp_meta *sp__ox_result(const ox_out *o, int i) { return &o->node->out[i]->meta; }
int64_t sp__ox_int(const ox_out *o, const char *name); /* also of bools and dtypes */
double sp__ox_float(const ox_out *o, const char *name);
const char *sp__ox_text(const ox_out *o, const char *name);
sp_ints sp__ox_list(const ox_out *o, const char *name);       /* n -1: None */
int sp__ox_axis(const ox_out *o, const char *name, int rank); /* from 0 on */
/* What a value of the recorded function is in the model, for rules that look at what made their operands. */
ox sp__ox_find(ox_out *o, sp_value *v);
/* A whole number of the node being written as an int64 tensor of one element: a constant, or made of sizes where it depends on free ones. at: what it is in
 * each recording. */
ox sp__ox_size(ox_out *o, const int64_t *at);
/* A list of n such numbers; at[k]: number k in each recording. */
ox sp__ox_size_list(ox_out *o, int n, int64_t (*at)[SP_TRIALS_MAX]);
/* The shape of result i, made so. */
ox sp__ox_result_shape(ox_out *o, int i);
/* Is that dimension of an operand or result free? */
bool sp__ox_open(const ox_out *o, const sp_value *v, int axis);
/* That dimension of an operand, which must not be free; all of them. */
int64_t sp__ox_fixed(ox_out *o, int i, int axis);
void sp__ox_fix(ox_out *o, int i);

/* --- rules ------------------------------------------------------------------------------------------------------- */

typedef struct ox_rule {
    const char *op;
    int since;        /* first opset it is for; of several rules the first that applies is taken */
    const char *text; /* or */
    void (*write)(ox_out *o);
    const char *unequal; /* why results cannot be compared with ours: random numbers */
} ox_rule;

#define SP_OX_TEXT(name, opset, rule) {.op = name, .since = opset, .text = rule}
#define SP_OX_CODE(name, rule) {.op = name, .write = rule}
#define SP_OX_UNEQUAL(name, rule, why) {.op = name, .write = rule, .unequal = why}

/* Tables, each ended by a NULL name. */
extern const ox_rule sp__ox_math[], sp__ox_train[], sp__ox_shape[], sp__ox_nn[], sp__ox_vision[], sp__ox_linalg[],
    sp__ox_order[], sp__ox_special[], sp__ox_quant[], sp__ox_complex[];

const ox_rule *sp__ox_rule(const sp_node *n, int opset); /* NULL: there is none */
void sp__ox_write_text(ox_out *o, const char *text);

/* --- the model --------------------------------------------------------------------------------------------------- */

/* The same as bytes, weights included. Freed by the caller with sp__wire_out_free. */
sp_status sp__onnx_bytes(sp_function *f, const sp_model_names *names, sp_wire_out *out);
/* Write f to the file. */
sp_status sp__onnx_save(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options);

#endif
