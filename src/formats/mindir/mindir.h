/* SPDX-License-Identifier: Apache-2.0 */
/* mindir.h - a MindIR model in memory, from inside: what mindir_parse.c makes of the file, mindir_run.c evaluates with the help
 * of mindir_ops.c.
 *
 * A model is a set of functions. A function has inputs and nodes; a node applies a primitive, a function, or a function value
 * to values that are known by name everywhere in the model: a function may use what another one owns (a free variable).
 * All names are resolved when the file is read. */
#ifndef SPORE_MINDIR_H
#define SPORE_MINDIR_H

#include "formats/model_impl.h"

typedef struct mi_function mi_function;

typedef enum {
    MI_NONE,
    MI_INT,
    MI_FLOAT,
    MI_BOOL,
    MI_TEXT,
    MI_DTYPE,
    MI_TENSOR,  /* t; as a type: only meta */
    MI_TUPLE,   /* items; lists too */
    MI_MONAD,   /* order of effects: nothing at run time */
    MI_CLOSURE, /* fn in env, its first arguments bound to items */
    MI_CHOICE,  /* items[0] ? items[1] : items[2], closures; the condition is a symbol */
    MI_SYMBOL   /* t is a symbol that holds a function */
} mi_kind;

typedef struct mi_value {
    mi_kind kind;
    bool is_type; /* a description: kind, meta and items only; numbers are MI_TENSOR with is_number */
    bool is_number;
    bool is_list;   /* MI_TUPLE */
    char sparse;    /* MI_TUPLE: the parts of a sparse tensor, 'C' (CSR) or 'O' (COO), and its shape */
    bool is_weight; /* t is a weight itself, which may be written to */
    int64_t i;
    double f;
    const char *s;
    sp_dtype dtype;
    sp_tensor *t;
    sp_meta *meta;
    int n;
    struct mi_value **items;
    mi_function *fn;
    struct mi_env *env;
} mi_value;

typedef struct mi_attr {
    const char *name;
    mi_value *value;
} mi_attr;

typedef struct mi_primitive {
    const char *name, *type; /* of the instance; of the operator */
    int n_attrs;
    mi_attr *attrs;
    const struct mi_rule *rule; /* how it is done here; NULL: not at all */
} mi_primitive;

typedef enum { MI_AT_FUNCTION, MI_AT_PRIMITIVE, MI_AT_VALUE, MI_AT_CONSTANT } mi_where;

/* What a name stands for. */
typedef struct mi_name {
    const char *text;
    mi_where where;
    mi_function *owner; /* MI_AT_VALUE */
    int slot;           /* among the owner's values */
    mi_function *fn;
    mi_primitive *primitive;
    mi_value *constant;
} mi_name;

typedef struct mi_node {
    const char *name, *type, *scope; /* scope: where it belongs, NULL: not said */
    int n_in;
    const char **in_names;
    const mi_name **in;
    int n_attrs; /* of the older dialect */
    mi_attr *attrs;
    mi_value *shape; /* type of the result, NULL: not said */
    mi_value *constant;
    mi_primitive *primitive; /* one of these two */
    const mi_name *callee;
    int slot;
} mi_node;

typedef struct mi_input {
    const char *name;
    mi_value *type; /* NULL: not said */
    int64_t weight; /* entry of the weights, -1: an argument */
    int64_t passed; /* of an argument: the entry of the weights that is passed in it, -1: a value */
} mi_input;

struct mi_function {
    const char *name;
    int index;
    int n_inputs, n_args; /* arguments, then weights */
    mi_input *inputs;
    int n_nodes;
    mi_node *nodes;
    int n_outputs;
    const char **output_names;
    mi_value **output_types;
    const mi_name **outputs;
    mi_node **node_of_slot; /* slots: inputs, then nodes */
    bool recursive;         /* calls itself, directly or not */
    const mi_node *tail;    /* the call whose result is the function's, NULL: none */
    uint8_t *after_tail;    /* nodes that wait for it: they order effects and do nothing else */
};

typedef struct mi_model {
    sp_model *model;
    sp_bundle *weights;
    int n_functions;
    mi_function *functions; /* the main one first */
    int n_primitives;
    mi_primitive *primitives;
    int n_names, names_capacity;
    mi_name *names; /* open addressing */
    uint64_t
        *needs; /* a row of bits for each function F, in needs_words words: bit G: F uses values of G when it runs */
    size_t needs_words;
    int n_tensors, tensors_capacity;
    sp_tensor **tensors; /* constants, owned */
    uint64_t version;
    bool writes; /* some primitive writes to a weight */
} mi_model;
static inline uint64_t *sp__mindir_needs_row(const mi_model *m, const mi_function *f)
{
    return m->needs + (size_t)f->index * m->needs_words;
}

/* --- parsing ----------------------------------------------------------------------------------------------------- */

sp_status sp__mindir_parse(const sp_source *s, sp_model *m, mi_model *out);
void sp__mindir_free(mi_model *m);
/* How the tensors that f gives make up its result, as sp_model_form says it; in the arena. */
sp_status sp__mindir_form(const mi_function *f, sp__arena *arena, const char **out);
/* The list behind sp_model_node_at (mindir_outline.c). */
sp_status sp__mindir_outline(sp_model *m, const mi_model *mi);
const mi_name *sp__mindir_find(const mi_model *m, const char *name);
sp_dtype sp__mindir_dtype(uint64_t number); /* SP_DTYPE_NONE: none of ours */

/* --- operators --------------------------------------------------------------------------------------------------- */

/* One application: inputs and attributes in, a value out. */
typedef struct mi_call {
    sp__arena *arena;
    sp_builder *b;
    const mi_primitive *primitive;
    const mi_node *node;
    int n_in;
    mi_value **in;
    const mi_value *type; /* what the file says about the result, or NULL */
} mi_call;

/* What run.c does itself. */
typedef enum {
    MI_OPERATOR,
    MI_MAKE_TUPLE,
    MI_GET_ITEM,
    MI_FIRST,
    MI_STATE,
    MI_PARTIAL,
    MI_SWITCH,
    MI_SWITCH_LAYER
} mi_control;

const struct mi_rule *sp__mindir_rule(sp__arena *arena, const char *type); /* NULL: there is none */
mi_control sp__mindir_control(const struct mi_rule *rule);
bool sp__mindir_writes(const struct mi_rule *rule);       /* to one of its operands */
bool sp__mindir_writes_first(const struct mi_rule *rule); /* to the first one */
sp_status sp__mindir_apply(mi_call *c, const struct mi_rule *rule, mi_value **out);
mi_value *sp__mindir_tensor(sp__arena *arena, sp_tensor *t);
/* A tensor for a value that is one, or a number. */
sp_status sp__mindir_as_tensor(mi_call *c, const mi_value *v, sp_tensor **out);
const mi_value *sp__mindir_attr(const mi_call *c, const char *name);

#endif
