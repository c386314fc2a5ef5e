/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out.h - ONNX models being written: values, nodes, and the rules by which operators of the table become them.
 *
 * A value is a number (`sp_onnx_id`), 0 stands for none. Values remember their dtype; sp__onnx_out_op brings the operands of an ONNX operator
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
#include "ops/ops_impl.h"
#include "spore/model.h"

typedef int sp_onnx_id;

typedef struct sp_onnx_out_value {
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
} sp_onnx_out_value;

typedef struct sp_onnx_out_node {
    const char *op;
    int n_in, n_out;
    sp_onnx_id *in, *out;
    sp_wire_out attrs; /* AttributeProto fields, complete */
    int n_graphs;
    struct sp_onnx_out_graph *graphs[2];
    const char *graph_names[2];
    const char *scope; /* the layer it belongs to, "layer1/conv1" */
    struct sp_onnx_out_node *next;
    struct sp_onnx_out_node *made_before; /* of all nodes of all graphs */
    bool needed;
} sp_onnx_out_node;

typedef struct sp_onnx_out_graph {
    const char *name;
    int n_in, n_out;
    sp_onnx_id *in, *out;
    sp_onnx_out_node *first, *last;
    struct sp_onnx_out_graph *outer;
} sp_onnx_out_graph;

typedef struct sp_onnx_out {
    sp__arena arena;
    sp_status status;
    sp_error error;
    int opset;
    int n_values, values_capacity;
    sp_onnx_out_value *values;
    sp_onnx_out_graph *graph;   /* being filled */
    sp_onnx_out_node *nodes;    /* the latest */
    const sp_node *node;        /* being written; */
    const sp_node *other;       /* the same one in the recording with other sizes, NULL: there is none */
    sp_onnx_id in[64], out[64]; /* its operands (0: left out) and results, which the rule fills in */
    sp_onnx_id *more_in;        /* where there are more than 64 */
    const sp_model_names *names;
    sp_sizes sizes;                  /* what depends on free sizes */
    struct sp_onnx_out_known *known; /* scalars and lists that are there already */
    int counter;
    uint8_t *needed;               /* values that results depend on, once everything is written */
    const char *scope;             /* of the node being written */
    bool has_weights;              /* it takes weights */
    struct sp_onnx_out_walk *walk; /* for sp__onnx_out_find */
    bool placed;                   /* the failure names a place of the program */
    const char *prefix;            /* of made-up names; no name of the user begins so */
} sp_onnx_out;

/* --- values ------------------------------------------------------------------------------------------------------ */

void sp__onnx_out_free(sp_onnx_out *o);
void *sp__onnx_out_fail(sp_onnx_out *o, sp_status status); /* remember this thread's message; gives NULL */
bool sp__onnx_out_ok(const sp_onnx_out *o);
sp_onnx_id sp__onnx_out_value(sp_onnx_out *o, const char *name, sp_dtype dtype); /* NULL: a name is made up */
sp_dtype sp__onnx_out_dtype(const sp_onnx_out *o, sp_onnx_id v);
sp_onnx_id sp__onnx_out_number(sp_onnx_out *o, double v);                 /* takes the dtype of what it meets */
sp_onnx_id sp__onnx_out_scalar(sp_onnx_out *o, sp_dtype dtype, double v); /* rank 0 */
sp_onnx_id sp__onnx_out_whole(sp_onnx_out *o, sp_dtype dtype, int64_t v);
sp_onnx_id sp__onnx_out_ints(sp_onnx_out *o, int n, const int64_t *v); /* int64, rank 1 */
#define SP_ONNX_OUT_INTS(o, ...)                                                                                       \
    sp__onnx_out_ints((o), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
sp_onnx_id sp__onnx_out_take_tensor(sp_onnx_out *o, sp_tensor *t, const char *name); /* an initializer */
/* One filled by fn(context, i) for every element. */
sp_onnx_id sp__onnx_out_table(sp_onnx_out *o, sp_dtype dtype, int rank, const int64_t *dims,
                              double (*fn)(const void *context, int64_t i), const void *context);

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* One node with one result; attrs: "axis=1, mode='constant', pads=[0,1], alpha=0.5", a format, or NULL. */
sp_onnx_id sp__onnx_out_op(sp_onnx_out *o, const char *op, int n_in, const sp_onnx_id *in, const char *attrs, ...)
    __attribute__((format(printf, 5, 6)));
void sp__onnx_out_op_many(sp_onnx_out *o, const char *op, int n_in, const sp_onnx_id *in, int n_out, sp_onnx_id *out,
                          const char *attrs, ...) __attribute__((format(printf, 7, 8)));
#define SP_ONNX_OUT(o, op, attrs, ...)                                                                                 \
    sp__onnx_out_op((o), (op), (int)(sizeof((sp_onnx_id[]){__VA_ARGS__}) / sizeof(sp_onnx_id)),                        \
                    (sp_onnx_id[]){__VA_ARGS__}, attrs)
/* If and Loop: the graphs are complete. The results' dtypes are those of the first graph's last n_out outputs. */
void sp__onnx_out_branch(sp_onnx_out *o, sp_onnx_id cond, sp_onnx_out_graph *yes, sp_onnx_out_graph *no, int n_out,
                         sp_onnx_id *out);
void sp__onnx_out_loop(sp_onnx_out *o, sp_onnx_id turns, sp_onnx_id go, int n, const sp_onnx_id *state,
                       sp_onnx_out_graph *body, sp_onnx_id *out);
/* From here on nodes go into a new graph, until sp__onnx_out_end gives back the one around it. */
sp_onnx_out_graph *sp__onnx_out_begin(sp_onnx_out *o, const char *name, int n_in);
void sp__onnx_out_end(sp_onnx_out *o, sp_onnx_out_graph *g, int n_out, const sp_onnx_id *out);

static inline sp_onnx_id sp__onnx_out_add(sp_onnx_out *o, sp_onnx_id x, sp_onnx_id y)
{
    return SP_ONNX_OUT(o, "Add", NULL, x, y);
}
static inline sp_onnx_id sp__onnx_out_sub(sp_onnx_out *o, sp_onnx_id x, sp_onnx_id y)
{
    return SP_ONNX_OUT(o, "Sub", NULL, x, y);
}
static inline sp_onnx_id sp__onnx_out_mul(sp_onnx_out *o, sp_onnx_id x, sp_onnx_id y)
{
    return SP_ONNX_OUT(o, "Mul", NULL, x, y);
}
static inline sp_onnx_id sp__onnx_out_div(sp_onnx_out *o, sp_onnx_id x, sp_onnx_id y)
{
    return SP_ONNX_OUT(o, "Div", NULL, x, y);
}
static inline sp_onnx_id sp__onnx_out_where(sp_onnx_out *o, sp_onnx_id c, sp_onnx_id x, sp_onnx_id y)
{
    return SP_ONNX_OUT(o, "Where", NULL, c, x, y);
}
sp_onnx_id sp__onnx_out_cast(sp_onnx_out *o, sp_onnx_id x, sp_dtype dtype); /* x itself when it is of that dtype */
sp_onnx_id sp__onnx_out_reshape(sp_onnx_out *o, sp_onnx_id x, int n, const int64_t *dims);
#define SP_ONNX_OUT_RESHAPE(o, x, ...)                                                                                 \
    sp__onnx_out_reshape((o), (x), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
sp_onnx_id sp__onnx_out_transpose(sp_onnx_out *o, sp_onnx_id x, int n, const int64_t *perm);
/* Complex numbers: from parts and back (k 0: real), a value that was made as pairs, casts from and to them. */
sp_onnx_id sp__onnx_out_pair(sp_onnx_out *o, sp_onnx_id re, sp_onnx_id im);
sp_onnx_id sp__onnx_out_part(sp_onnx_out *o, sp_onnx_id z, int k);
sp_onnx_id sp__onnx_out_as_pair(sp_onnx_out *o, sp_onnx_id v);
bool sp__onnx_out_is_pair(const sp_onnx_out *o, sp_onnx_id v);
sp_onnx_id sp__onnx_out_cast_pair(sp_onnx_out *o, sp_onnx_id x, sp_dtype dtype);
bool sp__onnx_out_touches_complex(const sp_node *n); /* then the rules of onnx_out_complex.c count, and no others */
/* "ReduceSum" and its like over axes (n -1: all). */
sp_onnx_id sp__onnx_out_reduce(sp_onnx_out *o, const char *op, sp_onnx_id x, int n, const int64_t *axes, bool keep);
sp_onnx_id sp__onnx_out_unsqueeze(sp_onnx_out *o, sp_onnx_id x, int64_t axis);
sp_onnx_id sp__onnx_out_slice(sp_onnx_out *o, sp_onnx_id x, int n, const int64_t *from, const int64_t *to,
                              const int64_t *axes, const int64_t *step);

/* --- the operator being written ---------------------------------------------------------------------------------- */

static inline const sp_meta *sp__onnx_out_meta(const sp_onnx_out *o, int i) { return &o->node->in[i]->meta; }
static inline const sp_meta *sp__onnx_out_result(const sp_onnx_out *o, int i) { return &o->node->out[i]->meta; }
int64_t sp__onnx_out_int(const sp_onnx_out *o, const char *name); /* also of bools and dtypes */
double sp__onnx_out_float(const sp_onnx_out *o, const char *name);
const char *sp__onnx_out_text(const sp_onnx_out *o, const char *name);
sp_ints sp__onnx_out_list(const sp_onnx_out *o, const char *name);       /* n -1: None */
int sp__onnx_out_axis(const sp_onnx_out *o, const char *name, int rank); /* from 0 on */
/* What a value of the recorded function is in the model, for rules that look at what made their operands. */
sp_onnx_id sp__onnx_out_find(sp_onnx_out *o, sp_value *v);
/* A whole number of the node being written as an int64 tensor of one element: a constant, or made of sizes where it depends on free ones. at: what it is in
 * each recording. */
sp_onnx_id sp__onnx_out_size(sp_onnx_out *o, const int64_t *at);
/* A list of n such numbers; at[k]: number k in each recording. */
sp_onnx_id sp__onnx_out_size_list(sp_onnx_out *o, int n, int64_t (*at)[SP_TRIALS_MAX]);
/* The shape of result i, made so. */
sp_onnx_id sp__onnx_out_result_shape(sp_onnx_out *o, int i);
/* Is that dimension of an operand or result free? */
bool sp__onnx_out_open(const sp_onnx_out *o, const sp_value *v, int axis);
/* That dimension of an operand, which must not be free; all of them. */
int64_t sp__onnx_out_fixed(sp_onnx_out *o, int i, int axis);
void sp__onnx_out_fix(sp_onnx_out *o, int i);

/* --- rules ------------------------------------------------------------------------------------------------------- */

typedef struct sp_onnx_out_rule {
    const char *op;
    int since;        /* first opset it is for; of several rules the first that applies is taken */
    const char *text; /* or */
    void (*write)(sp_onnx_out *o);
    const char *unequal; /* why results cannot be compared with ours: random numbers */
} sp_onnx_out_rule;

#define SP_ONNX_OUT_TEXT(name, opset, rule) {.op = name, .since = opset, .text = rule}
#define SP_ONNX_OUT_CODE(name, rule) {.op = name, .write = rule}
#define SP_ONNX_OUT_UNEQUAL(name, rule, why) {.op = name, .write = rule, .unequal = why}

/* Tables, each ended by a NULL name. */
extern const sp_onnx_out_rule sp__onnx_out_math[], sp__onnx_out_train[], sp__onnx_out_shape[], sp__onnx_out_nn[],
    sp__onnx_out_vision[], sp__onnx_out_linalg[], sp__onnx_out_order[], sp__onnx_out_special[], sp__onnx_out_quant[],
    sp__onnx_out_complex[];

const sp_onnx_out_rule *sp__onnx_out_rule(const sp_node *n, int opset); /* NULL: there is none */
void sp__onnx_out_write_text(sp_onnx_out *o, const char *text);

/* --- the model --------------------------------------------------------------------------------------------------- */

/* The same as bytes, weights included. Freed by the caller with sp__wire_out_free. */
sp_status sp__onnx_bytes(sp_function *f, const sp_model_names *names, sp_wire_out *out);
/* Write f to the file. */
sp_status sp__onnx_save(const char *path, sp_function *f, const sp_model_names *names, const sp_file_options *options);

#endif
