/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out.h - MindIR models being written: values, nodes, and the rules by which operators of the table become primitives.
 *
 * A value is its name in the file (`sp_mindir_id`). After a failure everything goes on and gives names; the failure is in the status of the
 * model, so rules need no checks between calls.
 *
 * A rule is a text (mindir_out_rules.c) or a function. There is a table of rules a family of operators: mindir_out_nn.c and its like.
 * Operators whose table entry has a MindIR name, no attributes, and no rule are that primitive. What has no rule at all is brought
 * to operators that have one before anything is written (mindir_lower.c). */
#ifndef SPORE_MINDIR_OUT_H
#define SPORE_MINDIR_OUT_H

#include "base/arena.h"
#include "formats/mindir/mindir_build.h"
#include "formats/sizes.h"
#include "ir/graph_impl.h"
#include "ops/ops_impl.h"

typedef const char *sp_mindir_id;

typedef struct sp_mindir_out_msg {
    sp_wire_out out;
    sp_status status; /* the first failure: out of memory */
} sp_mindir_out_msg;

typedef struct sp_mindir_out {
    sp_graph *graph;
    sp_function *entry;
    const sp_model_names *names;
    sp__arena arena;
    sp_mindir_out_msg model, primitives, graph_out; /* graph_out: the function being written */
    uint8_t *written;                               /* constants, by id */
    uint8_t *reached;                               /* functions, by id */
    uint8_t *live, *used;                           /* nodes and values, by id: something needs them */
    sp_sizes sizes;                                 /* what depends on free sizes */
    struct sp_mindir_out_number *
        *numbers; /* nodes, by id: numbers in attributes and operands that depend on free sizes; NULL: none */
    struct sp_mindir_out_fused *
        *fused; /* nodes, by id: what the primitive takes instead of the operator's operands; NULL: the same */
    int counter;
    sp_mindir_id monad; /* the constant that effects begin with, NULL: none yet */
    sp_mindir_id state; /* of effects in the function being written, NULL: none yet */
    uint8_t *
        passed; /* functions x variables: what it reads or writes, itself or by what it uses, and is written somewhere */
    bool ordered; /* functions beside the entry have effects: all of them take the state */
    struct known {
        const char *type, *attrs;
        char name[96];
        struct known *next;
    } *known; /* instances of primitives */
    sp_function *fn;
    const sp_node *node;                   /* being written; */
    const struct sp_mindir_out_rule *rule; /* by this rule */
    sp_mindir_outside *outside;            /* NULL: weights are in the model itself */
} sp_mindir_out;

/* --- messages ---------------------------------------------------------------------------------------------------- */

enum {
    SP_MINDIR_OUT_FLOAT = 1,
    SP_MINDIR_OUT_INT64 = 7,
    SP_MINDIR_OUT_STRING = 8,
    SP_MINDIR_OUT_BOOL = 9,
    SP_MINDIR_OUT_TENSORS = 19,
    SP_MINDIR_OUT_TUPLE = 20,
    SP_MINDIR_OUT_UMONAD = 23,
    SP_MINDIR_OUT_NONE = 25
};

void sp__mindir_out_put_number(sp_mindir_out_msg *m, uint32_t field, int64_t v);
void sp__mindir_out_put_bytes(sp_mindir_out_msg *m, uint32_t field, const void *data, size_t bytes);
void sp__mindir_out_put_text(sp_mindir_out_msg *m, uint32_t field, const char *s);
void sp__mindir_out_put_message(sp_mindir_out_msg *m, uint32_t field, sp_mindir_out_msg *inner); /* inner is used up */
void sp__mindir_out_put_fields(sp_mindir_out_msg *m,
                               sp_mindir_out_msg *part); /* what is in part, which is used up, without a head */
void sp__mindir_out_put_tensor(sp_mindir_out_msg *m, uint32_t field, sp_tensor *t, const char *name,
                               const char *ref_key);
void sp__mindir_out_put_tensor_type(sp_mindir_out_msg *m, uint32_t field, const sp_meta *meta);
void sp__mindir_out_put_value_type(sp_mindir_out_msg *m, const sp_meta *meta); /* of a node's result */
void sp__mindir_out_put_types(sp_mindir_out_msg *m, uint32_t field, const char *name, int n,
                              const sp_meta *const *types);
int sp__mindir_out_data_type(sp_dtype d);   /* TensorProto's number */
int sp__mindir_out_type_number(sp_dtype d); /* MindSpore's own number of a dtype, which operators take as an argument */

/* --- values ------------------------------------------------------------------------------------------------------ */

const char *sp__mindir_out_text(sp_mindir_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
sp_mindir_id sp__mindir_out_function(sp_mindir_out *o, const sp_function *f);
const sp_value *sp__mindir_out_behind(const sp_value *v); /* what an operator that does nothing passes on */
sp_mindir_id sp__mindir_out_name(sp_mindir_out *o, const sp_value *v);
sp_mindir_id sp__mindir_out_use(sp_mindir_out *o,
                                const sp_value *v);  /* its name; a constant is written where it is first met */
sp_mindir_id sp__mindir_out_fresh(sp_mindir_out *o); /* a new name in the function being written */
sp_mindir_id sp__mindir_out_int(sp_mindir_out *o, int64_t v);
sp_mindir_id sp__mindir_out_bool(sp_mindir_out *o, bool v);
sp_mindir_id sp__mindir_out_float(sp_mindir_out *o, double v);
sp_mindir_id sp__mindir_out_none(sp_mindir_out *o);
sp_mindir_id sp__mindir_out_monad(sp_mindir_out *o);
sp_mindir_id sp__mindir_out_ints(sp_mindir_out *o, int n, const int64_t *v);
#define SP_MINDIR_OUT_INTS(o, ...)                                                                                     \
    sp__mindir_out_ints((o), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
sp_mindir_id sp__mindir_out_scalar(sp_mindir_out *o, sp_dtype dtype, double v);        /* a tensor of rank 0 */
sp_mindir_id sp__mindir_out_tensor(sp_mindir_out *o, sp_tensor *t, sp_mindir_id name); /* name NULL: made up */

sp_mindir_id sp__mindir_out_string(sp_mindir_out *o, const char *s, size_t bytes);

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* One application of a primitive; attrs: "axis=1, mode='same', pads=(0,1), alpha=0.5, on=True" or NULL. Its result is a tensor of type `meta`. */
sp_mindir_id sp__mindir_out_op(sp_mindir_out *o, const char *type, const char *attrs, int n, const sp_mindir_id *in,
                               const sp_meta *meta);
#define SP_MINDIR_OUT(o, type, attrs, meta, ...)                                                                       \
    sp__mindir_out_op((o), (type), (attrs), (int)(sizeof((sp_mindir_id[]){__VA_ARGS__}) / sizeof(sp_mindir_id)),       \
                      (sp_mindir_id[]){__VA_ARGS__}, (meta))
/* The same, giving the results of the operator being written. */
void sp__mindir_out_give(sp_mindir_out *o, const char *type, const char *attrs, int n, const sp_mindir_id *in);
#define SP_MINDIR_OUT_GIVE(o, type, attrs, ...)                                                                        \
    sp__mindir_out_give((o), (type), (attrs), (int)(sizeof((sp_mindir_id[]){__VA_ARGS__}) / sizeof(sp_mindir_id)),     \
                        (sp_mindir_id[]){__VA_ARGS__})
/* A tuple whose items beyond the operator's results (or types given) matter to nobody: the first n of it are the results. */
sp_mindir_id sp__mindir_out_many(sp_mindir_out *o, const char *type, const char *attrs, int n, const sp_mindir_id *in,
                                 int n_out, const sp_meta *const *metas);
sp_mindir_id sp__mindir_out_item(sp_mindir_out *o, sp_mindir_id tuple, int i, const sp_meta *meta,
                                 sp_mindir_id name); /* name NULL: made up */
sp_mindir_id sp__mindir_out_tuple(sp_mindir_out *o, int n, sp_value *const *v);
sp_mindir_id sp__mindir_out_reshape(sp_mindir_out *o, sp_mindir_id x, sp_dtype dtype, int rank, const int64_t *dims);
sp_mindir_id sp__mindir_out_transpose(sp_mindir_out *o, sp_mindir_id x, const sp_meta *meta, const int64_t *perm);
sp_mindir_id sp__mindir_out_cast(sp_mindir_out *o, sp_mindir_id x, sp_meta meta, sp_dtype dtype);
/* A call of a function or function value, or a node without a type: the general form. */
void sp__mindir_out_node(sp_mindir_out *o, const char *what, int n, const sp_mindir_id *in, sp_mindir_id name,
                         sp_mindir_out_msg *type);
sp_mindir_id sp__mindir_out_results(sp_mindir_out *o, const char *what, int n, const sp_mindir_id *in, int n_out,
                                    sp_value *const *out, bool tuple); /* the name of the node */
sp_mindir_id sp__mindir_out_instance(sp_mindir_out *o, const char *type, const char *attrs);
/* The result of f in a form (sp_model_form): its name, and the fields of its ValueInfoProto but for that name. */
sp_status sp__mindir_out_result_of_form(sp_mindir_out *o, const sp_function *f, const char *form, sp_mindir_id *name,
                                        sp_mindir_out_msg *info);

/* --- the operator being written ---------------------------------------------------------------------------------- */

static inline const sp_meta *sp__mindir_out_meta(const sp_mindir_out *o, int i) { return &o->node->in[i]->meta; }
static inline const sp_meta *sp__mindir_out_result(const sp_mindir_out *o) { return &o->node->out[0]->meta; }
static inline bool sp__mindir_out_has(const sp_node *n, int i) { return i < n->n_in && n->in[i]; }
sp_mindir_id sp__mindir_out_in(sp_mindir_out *o, int i);             /* operand i, None where it is left out */
int64_t sp__mindir_out_attr_int(const sp_node *n, const char *name); /* also of bools */
double sp__mindir_out_attr_float(const sp_node *n, const char *name);
const char *sp__mindir_out_attr_text(const sp_node *n, const char *name);
sp_ints sp__mindir_out_attr_list(const sp_node *n, const char *name);  /* n -1: None */
int sp__mindir_out_axis(const sp_node *n, const char *name, int rank); /* from 0 on */
sp_mindir_id sp__mindir_out_attr(sp_mindir_out *o, const char *name);  /* as a constant input */
/* Operand 0 and the result with a dimension more where there is none: primitives that work along an axis need one. */
sp_mindir_id sp__mindir_out_lift(sp_mindir_out *o, sp_meta *m);
void sp__mindir_out_give_lifted(sp_mindir_out *o, const char *type, const char *attrs, int n, const sp_mindir_id *in);
/* Numbers of a window, one an axis, of a list of one or all. */
void sp__mindir_out_spread(sp_ints v, int n, int64_t initial, int64_t *out);
bool sp__mindir_out_is(const sp_value *v, const sp_op *op); /* made by that operator */

/* Element `element` of an attribute (NULL: operand `element`, a constant) that depends on free sizes. */
typedef struct sp_mindir_out_number {
    const char *attr;
    int element;
    sp_size_form form;
    sp_size_source of[3];
    struct sp_mindir_out_number *next;
} sp_mindir_out_number;
/* A list of whole numbers that is an attribute: a constant, or a tuple of numbers of which some depend on free sizes; and one such number. */
sp_mindir_id sp__mindir_out_numbers(sp_mindir_out *o, const char *attr, int n, const int64_t *plain);
sp_mindir_id sp__mindir_out_number(sp_mindir_out *o, const char *attr, int element, int64_t plain);
/* Height and width of the image that is operand 0, the size of `axis` (2 or 3) being such an attribute instead. */
sp_mindir_id sp__mindir_out_image_size(sp_mindir_out *o, const char *attr, int axis);
/* All sizes of the result of a transposed convolution, with `lead` axes of one element before the spatial ones. */
sp_mindir_id sp__mindir_out_result_size(sp_mindir_out *o, int lead);
const sp_mindir_out_number *sp__mindir_out_number_of(const sp_mindir_out *o, const sp_node *n, const char *attr,
                                                     int element); /* NULL: it is fixed */
void sp__mindir_out_size(sp_mindir_out *o, const sp_node *n);      /* the size of a tensor as a value */
/* Operand i as a number that depends on free sizes. */
sp_mindir_id sp__mindir_out_varying(sp_mindir_out *o, const sp_node *n, int i);
/* The attribute `shape`. */
sp_mindir_id sp__mindir_out_sizes(sp_mindir_out *o);

/* --- rules ------------------------------------------------------------------------------------------------------- */

/* Operands of a primitive that stands for several operators: values whose makers need not be written. */
typedef struct sp_mindir_out_fused {
    int n;
    sp_value *in[12];
    double number;
    int64_t size;
} sp_mindir_out_fused;

typedef struct sp_mindir_out_rule {
    const char *op, *text;
    void (*write)(sp_mindir_out *o);
    bool (*takes)(const sp_node *n);                          /* NULL: all of them */
    bool (*fuse)(const sp_node *n, sp_mindir_out_fused *out); /* NULL: its operands as they are */
} sp_mindir_out_rule;

#define SP_MINDIR_OUT_TEXT(name, rule) {.op = name, .text = rule}
#define SP_MINDIR_OUT_TEXT_IF(name, rule, when) {.op = name, .text = rule, .takes = when}
#define SP_MINDIR_OUT_CODE(name, rule) {.op = name, .write = rule}
#define SP_MINDIR_OUT_NEVER(name)                                                                                      \
    {.op = name, .takes = sp__mindir_out_never} /* a primitive that MindSpore's CPU does not run, or not as it should */
#define SP_MINDIR_OUT_CODE_IF(name, rule, when) {.op = name, .write = rule, .takes = when}

/* Tables, each ended by a NULL name. */
extern const sp_mindir_out_rule sp__mindir_out_math[], sp__mindir_out_shape[], sp__mindir_out_place[],
    sp__mindir_out_nn[];

/* Is it code outside the graph that does nothing but fail? */
bool sp__mindir_out_fails(const sp_node *n);
bool sp__mindir_out_never(const sp_node *n);
bool sp__mindir_out_floats(
    const sp_node *n); /* its first operand holds floats: MindSpore's CPU has no kernel for integers */
const sp_mindir_out_rule *sp__mindir_out_rule(const sp_node *n); /* NULL: there is none */
bool sp__mindir_out_writes(const sp_node *n);                    /* by a rule, or being a primitive of its own */
sp_status sp__mindir_out_write(sp_mindir_out *o, const sp_node *n);

/* --- before anything is written ---------------------------------------------------------------------------------- */

/* Nodes without a rule become others that have one; what cannot is told, all at once. */
sp_status sp__mindir_out_lower(sp_function *entry);
/* conv_bytes by operators that MindSpore has: mindir_lower_bytes.c */
sp_status sp__mindir_out_spell_conv_bytes(const sp_node *n, sp_builder *b, sp_tensor *const *in, sp_tensor **out);
void sp__mindir_out_reach(sp_function *f, uint8_t *reached); /* f and what it uses, by id */
/* Sizes that differ in the other recording become -1. */
sp_status sp__mindir_out_free_sizes(sp_mindir_out *o);

#endif
