/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_out.h - MindIR models being written: values, nodes, and the rules by which operators of the table become primitives.
 *
 * A value is its name in the file (`mo`). After a failure everything goes on and gives names; the failure is in the status of the
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

typedef const char *mo;

typedef struct mo_msg {
    sp_wire_out out;
    sp_status status; /* the first failure: out of memory */
} mo_msg;

typedef struct mo_out {
    sp_graph *graph;
    sp_function *entry;
    const sp_model_names *names;
    sp__arena arena;
    mo_msg model, primitives, graph_out; /* graph_out: the function being written */
    uint8_t *written;                    /* constants, by id */
    uint8_t *reached;                    /* functions, by id */
    uint8_t *live, *used;                /* nodes and values, by id: something needs them */
    sp_sizes sizes;                      /* what depends on free sizes */
    struct mo_number *
        *numbers; /* nodes, by id: numbers in attributes and operands that depend on free sizes; NULL: none */
    struct mo_fused *
        *fused; /* nodes, by id: what the primitive takes instead of the operator's operands; NULL: the same */
    int counter;
    mo monad; /* the constant that effects begin with, NULL: none yet */
    mo state; /* of effects in the function being written, NULL: none yet */
    uint8_t *
        passed; /* functions x variables: what it reads or writes, itself or by what it uses, and is written somewhere */
    bool ordered; /* functions beside the entry have effects: all of them take the state */
    struct known {
        const char *type, *attrs;
        char name[96];
        struct known *next;
    } *known; /* instances of primitives */
    sp_function *fn;
    const sp_node *node;        /* being written; */
    const struct mo_rule *rule; /* by this rule */
    sp_mindir_outside *outside; /* NULL: weights are in the model itself */
} mo_out;

/* --- messages ---------------------------------------------------------------------------------------------------- */

enum {
    MO_FLOAT = 1,
    MO_INT64 = 7,
    MO_STRING = 8,
    MO_BOOL = 9,
    MO_TENSORS = 19,
    MO_TUPLE = 20,
    MO_UMONAD = 23,
    MO_NONE = 25
};

void sp__mo_put_number(mo_msg *m, uint32_t field, int64_t v);
void sp__mo_put_bytes(mo_msg *m, uint32_t field, const void *data, size_t bytes);
void sp__mo_put_text(mo_msg *m, uint32_t field, const char *s);
void sp__mo_put_message(mo_msg *m, uint32_t field, mo_msg *inner); /* inner is used up */
void sp__mo_put_fields(mo_msg *m, mo_msg *part); /* what is in part, which is used up, without a head */
void sp__mo_put_tensor(mo_msg *m, uint32_t field, sp_tensor *t, const char *name, const char *ref_key);
void sp__mo_put_tensor_type(mo_msg *m, uint32_t field, const sp_meta *meta);
void sp__mo_put_value_type(mo_msg *m, const sp_meta *meta); /* of a node's result */
void sp__mo_put_types(mo_msg *m, uint32_t field, const char *name, int n, const sp_meta *const *types);
int sp__mo_data_type(sp_dtype d);   /* TensorProto's number */
int sp__mo_type_number(sp_dtype d); /* MindSpore's own number of a dtype, which operators take as an argument */

/* --- values ------------------------------------------------------------------------------------------------------ */

const char *sp__mo_text(mo_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
mo sp__mo_function(mo_out *o, const sp_function *f);
const sp_value *sp__mo_behind(const sp_value *v); /* what an operator that does nothing passes on */
mo sp__mo_name(mo_out *o, const sp_value *v);
mo sp__mo_use(mo_out *o, const sp_value *v); /* its name; a constant is written where it is first met */
mo sp__mo_fresh(mo_out *o);                  /* a new name in the function being written */
mo sp__mo_int(mo_out *o, int64_t v);
mo sp__mo_bool(mo_out *o, bool v);
mo sp__mo_float(mo_out *o, double v);
mo sp__mo_none(mo_out *o);
mo sp__mo_monad(mo_out *o);
mo sp__mo_ints(mo_out *o, int n, const int64_t *v);
#define SP_MO_INTS(o, ...)                                                                                             \
    sp__mo_ints((o), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
mo sp__mo_scalar(mo_out *o, sp_dtype dtype, double v); /* a tensor of rank 0 */
mo sp__mo_tensor(mo_out *o, sp_tensor *t, mo name);    /* name NULL: made up */

mo sp__mo_string(mo_out *o, const char *s, size_t bytes);

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* One application of a primitive; attrs: "axis=1, mode='same', pads=(0,1), alpha=0.5, on=True" or NULL. Its result is a tensor of type `meta`. */
mo sp__mo_op(mo_out *o, const char *type, const char *attrs, int n, const mo *in, const sp_meta *meta);
#define SP_MO(o, type, attrs, meta, ...)                                                                               \
    sp__mo_op((o), (type), (attrs), (int)(sizeof((mo[]){__VA_ARGS__}) / sizeof(mo)), (mo[]){__VA_ARGS__}, (meta))
/* The same, giving the results of the operator being written. */
void sp__mo_give(mo_out *o, const char *type, const char *attrs, int n, const mo *in);
#define SP_MO_GIVE(o, type, attrs, ...)                                                                                \
    sp__mo_give((o), (type), (attrs), (int)(sizeof((mo[]){__VA_ARGS__}) / sizeof(mo)), (mo[]){__VA_ARGS__})
/* A tuple whose items beyond the operator's results (or types given) matter to nobody: the first n of it are the results. */
mo sp__mo_many(mo_out *o, const char *type, const char *attrs, int n, const mo *in, int n_out,
               const sp_meta *const *metas);
mo sp__mo_item(mo_out *o, mo tuple, int i, const sp_meta *meta, mo name); /* name NULL: made up */
mo sp__mo_tuple(mo_out *o, int n, sp_value *const *v);
mo sp__mo_reshape(mo_out *o, mo x, sp_dtype dtype, int rank, const int64_t *dims);
mo sp__mo_transpose(mo_out *o, mo x, const sp_meta *meta, const int64_t *perm);
mo sp__mo_cast(mo_out *o, mo x, sp_meta meta, sp_dtype dtype);
/* A call of a function or function value, or a node without a type: the general form. */
void sp__mo_node(mo_out *o, const char *what, int n, const mo *in, mo name, mo_msg *type);
mo sp__mo_results(mo_out *o, const char *what, int n, const mo *in, int n_out, sp_value *const *out,
                  bool tuple); /* the name of the node */
mo sp__mo_instance(mo_out *o, const char *type, const char *attrs);
/* The result of f in a form (sp_model_form): its name, and the fields of its ValueInfoProto but for that name. */
sp_status sp__mo_result_of_form(mo_out *o, const sp_function *f, const char *form, mo *name, mo_msg *info);

/* --- the operator being written ---------------------------------------------------------------------------------- */

static inline const sp_meta *sp__mo_meta(const mo_out *o, int i) { return &o->node->in[i]->meta; }
static inline const sp_meta *sp__mo_result(const mo_out *o) { return &o->node->out[0]->meta; }
static inline bool sp__mo_has(const sp_node *n, int i) { return i < n->n_in && n->in[i]; }
mo sp__mo_in(mo_out *o, int i);                              /* operand i, None where it is left out */
int64_t sp__mo_attr_int(const sp_node *n, const char *name); /* also of bools */
double sp__mo_attr_float(const sp_node *n, const char *name);
const char *sp__mo_attr_text(const sp_node *n, const char *name);
sp_ints sp__mo_attr_list(const sp_node *n, const char *name);  /* n -1: None */
int sp__mo_axis(const sp_node *n, const char *name, int rank); /* from 0 on */
mo sp__mo_attr(mo_out *o, const char *name);                   /* as a constant input */
/* Operand 0 and the result with a dimension more where there is none: primitives that work along an axis need one. */
mo sp__mo_lift(mo_out *o, sp_meta *m);
void sp__mo_give_lifted(mo_out *o, const char *type, const char *attrs, int n, const mo *in);
/* Numbers of a window, one an axis, of a list of one or all. */
void sp__mo_spread(sp_ints v, int n, int64_t initial, int64_t *out);
bool sp__mo_is(const sp_value *v, const char *op); /* made by that operator */

/* Element `element` of an attribute (NULL: operand `element`, a constant) that depends on free sizes. */
typedef struct mo_number {
    const char *attr;
    int element;
    sp_size_form form;
    sp_size_source of[3];
    struct mo_number *next;
} mo_number;
/* A list of whole numbers that is an attribute: a constant, or a tuple of numbers of which some depend on free sizes; and one such number. */
mo sp__mo_numbers(mo_out *o, const char *attr, int n, const int64_t *plain);
mo sp__mo_number(mo_out *o, const char *attr, int element, int64_t plain);
/* Height and width of the image that is operand 0, the size of `axis` (2 or 3) being such an attribute instead. */
mo sp__mo_image_size(mo_out *o, const char *attr, int axis);
/* All sizes of the result of a transposed convolution, with `lead` axes of one element before the spatial ones. */
mo sp__mo_result_size(mo_out *o, int lead);
const mo_number *sp__mo_number_of(const mo_out *o, const sp_node *n, const char *attr,
                                  int element); /* NULL: it is fixed */
void sp__mo_size(mo_out *o, const sp_node *n);  /* the size of a tensor as a value */
/* Operand i as a number that depends on free sizes. */
mo sp__mo_varying(mo_out *o, const sp_node *n, int i);
/* The attribute `shape`. */
mo sp__mo_sizes(mo_out *o);

/* --- rules ------------------------------------------------------------------------------------------------------- */

/* Operands of a primitive that stands for several operators: values whose makers need not be written. */
typedef struct mo_fused {
    int n;
    sp_value *in[12];
    double number;
    int64_t size;
} mo_fused;

typedef struct mo_rule {
    const char *op, *text;
    void (*write)(mo_out *o);
    bool (*takes)(const sp_node *n);               /* NULL: all of them */
    bool (*fuse)(const sp_node *n, mo_fused *out); /* NULL: its operands as they are */
} mo_rule;

#define SP_MO_TEXT(name, rule) {.op = name, .text = rule}
#define SP_MO_TEXT_IF(name, rule, when) {.op = name, .text = rule, .takes = when}
#define SP_MO_CODE(name, rule) {.op = name, .write = rule}
#define SP_MO_NEVER(name)                                                                                              \
    {.op = name, .takes = sp__mo_never} /* a primitive that MindSpore's CPU does not run, or not as it should */
#define SP_MO_CODE_IF(name, rule, when) {.op = name, .write = rule, .takes = when}

/* Tables, each ended by a NULL name. */
extern const mo_rule sp__mo_math[], sp__mo_shape[], sp__mo_place[], sp__mo_nn[];

/* Is it code outside the graph that does nothing but fail? */
bool sp__mo_fails(const sp_node *n);
bool sp__mo_never(const sp_node *n);
bool sp__mo_floats(const sp_node *n); /* its first operand holds floats: MindSpore's CPU has no kernel for integers */
const mo_rule *sp__mo_rule(const sp_node *n); /* NULL: there is none */
bool sp__mo_writes(const sp_node *n);         /* by a rule, or being a primitive of its own */
sp_status sp__mo_write(mo_out *o, const sp_node *n);

/* --- before anything is written ---------------------------------------------------------------------------------- */

/* Nodes without a rule become others that have one; what cannot is told, all at once. */
sp_status sp__mo_lower(sp_function *entry);
/* conv_bytes by operators that MindSpore has: mindir_lower_bytes.c */
sp_status sp__mo_spell_conv_bytes(const sp_node *n, sp_builder *b, sp_tensor *const *in, sp_tensor **out);
void sp__mo_reach(sp_function *f, uint8_t *reached); /* f and what it uses, by id */
/* Sizes that differ in the other recording become -1. */
sp_status sp__mo_free_sizes(mo_out *o);

#endif
