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

typedef struct sp_mindir_function sp_mindir_function;

typedef enum {
    SP_MINDIR_NONE,
    SP_MINDIR_INT,
    SP_MINDIR_FLOAT,
    SP_MINDIR_BOOL,
    SP_MINDIR_TEXT,
    SP_MINDIR_DTYPE,
    SP_MINDIR_TENSOR,  /* t; as a type: only meta */
    SP_MINDIR_TUPLE,   /* items; lists too */
    SP_MINDIR_MONAD,   /* order of effects: nothing at run time */
    SP_MINDIR_CLOSURE, /* fn in env, its first arguments bound to items */
    SP_MINDIR_CHOICE,  /* items[0] ? items[1] : items[2], closures; the condition is a symbol */
    SP_MINDIR_SYMBOL   /* t is a symbol that holds a function */
} sp_mindir_kind;

typedef struct sp_mindir_value {
    sp_mindir_kind kind;
    bool is_type; /* a description: kind, meta and items only; numbers are SP_MINDIR_TENSOR with is_number */
    bool is_number;
    bool is_list;   /* SP_MINDIR_TUPLE */
    char sparse;    /* SP_MINDIR_TUPLE: the parts of a sparse tensor, 'C' (CSR) or 'O' (COO), and its shape */
    bool is_weight; /* t is a weight itself, which may be written to */
    int64_t i;
    double f;
    const char *s;
    sp_dtype dtype;
    sp_tensor *t;
    sp_meta *meta;
    int n;
    struct sp_mindir_value **items;
    sp_mindir_function *fn;
    struct sp_mindir_env *env;
} sp_mindir_value;

typedef struct sp_mindir_attr {
    const char *name;
    sp_mindir_value *value;
} sp_mindir_attr;

typedef struct sp_mindir_primitive {
    const char *name, *type; /* of the instance; of the operator */
    int n_attrs;
    sp_mindir_attr *attrs;
    const struct sp_mindir_rule *rule; /* how it is done here; NULL: not at all */
} sp_mindir_primitive;

typedef enum {
    SP_MINDIR_AT_FUNCTION,
    SP_MINDIR_AT_PRIMITIVE,
    SP_MINDIR_AT_VALUE,
    SP_MINDIR_AT_CONSTANT
} sp_mindir_where;

/* What a name stands for. */
typedef struct sp_mindir_name {
    const char *text;
    sp_mindir_where where;
    sp_mindir_function *owner; /* SP_MINDIR_AT_VALUE */
    int slot;                  /* among the owner's values */
    sp_mindir_function *fn;
    sp_mindir_primitive *primitive;
    sp_mindir_value *constant;
} sp_mindir_name;

typedef struct sp_mindir_node {
    const char *name, *type, *scope; /* scope: where it belongs, NULL: not said */
    int n_in;
    const char **in_names;
    const sp_mindir_name **in;
    int n_attrs; /* of the older dialect */
    sp_mindir_attr *attrs;
    sp_mindir_value *shape; /* type of the result, NULL: not said */
    sp_mindir_value *constant;
    sp_mindir_primitive *primitive; /* one of these two */
    const sp_mindir_name *callee;
    int slot;
} sp_mindir_node;

typedef struct sp_mindir_input {
    const char *name;
    sp_mindir_value *type; /* NULL: not said */
    int64_t weight;        /* entry of the weights, -1: an argument */
    int64_t passed;        /* of an argument: the entry of the weights that is passed in it, -1: a value */
} sp_mindir_input;

struct sp_mindir_function {
    const char *name;
    int index;
    int n_inputs, n_args; /* arguments, then weights */
    sp_mindir_input *inputs;
    int n_nodes;
    sp_mindir_node *nodes;
    int n_outputs;
    const char **output_names;
    sp_mindir_value **output_types;
    const sp_mindir_name **outputs;
    sp_mindir_node **node_of_slot; /* slots: inputs, then nodes */
    bool recursive;                /* calls itself, directly or not */
    const sp_mindir_node *tail;    /* the call whose result is the function's, NULL: none */
    uint8_t *after_tail;           /* nodes that wait for it: they order effects and do nothing else */
};

typedef struct sp_mindir_model {
    sp_model *model;
    sp_bundle *weights;
    int n_functions;
    sp_mindir_function *functions; /* the main one first */
    int n_primitives;
    sp_mindir_primitive *primitives;
    int n_names, names_capacity;
    sp_mindir_name *names; /* open addressing */
    uint64_t
        *needs; /* a row of bits for each function F, in needs_words words: bit G: F uses values of G when it runs */
    size_t needs_words;
    int n_tensors, tensors_capacity;
    sp_tensor **tensors; /* constants, owned */
    uint64_t version;
    bool writes; /* some primitive writes to a weight */
} sp_mindir_model;
static inline uint64_t *sp__mindir_needs_row(const sp_mindir_model *m, const sp_mindir_function *f)
{
    return m->needs + (size_t)f->index * m->needs_words;
}

/* --- parsing ----------------------------------------------------------------------------------------------------- */

sp_status sp__mindir_parse(const sp_source *s, sp_model *m, sp_mindir_model *out);
void sp__mindir_free(sp_mindir_model *m);
/* How the tensors that f gives make up its result, as sp_model_form says it; in the arena. */
sp_status sp__mindir_form(const sp_mindir_function *f, sp__arena *arena, const char **out);
/* The list behind sp_model_node_at (mindir_outline.c). */
sp_status sp__mindir_outline(sp_model *m, const sp_mindir_model *mi);
const sp_mindir_name *sp__mindir_find(const sp_mindir_model *m, const char *name);
sp_dtype sp__mindir_dtype(uint64_t number); /* SP_DTYPE_NONE: none of ours */

/* --- operators --------------------------------------------------------------------------------------------------- */

/* One application: inputs and attributes in, a value out. */
typedef struct sp_mindir_call {
    sp__arena *arena;
    sp_builder *b;
    const sp_mindir_primitive *primitive;
    const sp_mindir_node *node;
    int n_in;
    sp_mindir_value **in;
    const sp_mindir_value *type; /* what the file says about the result, or NULL */
} sp_mindir_call;

/* What run.c does itself. */
typedef enum {
    SP_MINDIR_OPERATOR,
    SP_MINDIR_MAKE_TUPLE,
    SP_MINDIR_GET_ITEM,
    SP_MINDIR_FIRST,
    SP_MINDIR_STATE,
    SP_MINDIR_PARTIAL,
    SP_MINDIR_SWITCH,
    SP_MINDIR_SWITCH_LAYER
} sp_mindir_control;

const struct sp_mindir_rule *sp__mindir_rule(sp__arena *arena, const char *type); /* NULL: there is none */
sp_mindir_control sp__mindir_control(const struct sp_mindir_rule *rule);
bool sp__mindir_writes(const struct sp_mindir_rule *rule);       /* to one of its operands */
bool sp__mindir_writes_first(const struct sp_mindir_rule *rule); /* to the first one */
sp_status sp__mindir_apply(sp_mindir_call *c, const struct sp_mindir_rule *rule, sp_mindir_value **out);
sp_mindir_value *sp__mindir_tensor(sp__arena *arena, sp_tensor *t);
/* A tensor for a value that is one, or a number. */
sp_status sp__mindir_as_tensor(sp_mindir_call *c, const sp_mindir_value *v, sp_tensor **out);
const sp_mindir_value *sp__mindir_attr(const sp_mindir_call *c, const char *name);

#endif
