/* SPDX-License-Identifier: Apache-2.0 */
/* op.h - the operator table from outside: find an operator, ask what it takes, apply it.
 *
 * Most programs use the named functions of ops.h; this is the general way in, for bindings, file formats and tools. */
#ifndef SPORE_OP_H
#define SPORE_OP_H

#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_op sp_op;

/* Borrowed lists; whoever keeps attributes copies them. n = -1 stands for Python's None. */
typedef struct sp_ints {
    int n;
    const int64_t *v;
} sp_ints;
typedef struct sp_floats {
    int n;
    const double *v;
} sp_floats;
/* A number that remembers what it was. kind: 'b' bool, 'i' integer, 'f' float (i 0; or the bits of a uint64_t beyond int64_t), 'n' none. */
typedef struct sp_number {
    char kind;
    int64_t i;
    double f;
} sp_number;

#define SP_INT_NONE INT64_MIN /* an integer attribute that was not given */

typedef enum {
    SP_ATTR_INT,    /* int64_t */
    SP_ATTR_FLOAT,  /* double */
    SP_ATTR_BOOL,   /* bool */
    SP_ATTR_DTYPE,  /* sp_dtype, SP_DTYPE_NONE when not given */
    SP_ATTR_INTS,   /* sp_ints */
    SP_ATTR_FLOATS, /* sp_floats */
    SP_ATTR_NUMBER, /* sp_number */
    SP_ATTR_TEXT    /* const char *, NULL when not given */
} sp_attr_type;

/* One attribute: a field of the operator's attribute struct. */
typedef struct sp_attr {
    const char *name;
    sp_attr_type type;
    size_t offset;
    const char *initial; /* default as text: "0", "None", "(1, 1)", "True", "mean"; NULL: must be given */
} sp_attr;

/* The table. Numbers are stable within a process only; files hold names. */
SP_API int sp_op_count(void);
SP_API const sp_op *sp_op_at(int i);
SP_API const sp_op *sp_op_find(const char *name); /* NULL if there is none */
SP_API const char *sp_op_name(const sp_op *op);
SP_API int sp_op_attrs(const sp_op *op, const sp_attr **attrs, size_t *attrs_bytes); /* number of attributes */
/* For people and tools; `spore ops` prints them. Static memory. */
SP_API const char *sp_op_inputs(const sp_op *op); /* "x, weight, bias?": ? may be left out; "xs...": any number */
SP_API int sp_op_results(const sp_op *op);        /* how many; -1: depends on the arguments */
SP_API bool sp_op_takes(const sp_op *op, sp_dtype dtype); /* of the first input */
SP_API const char *sp_op_doc(const sp_op *op);            /* a sentence or two; "" where there is none */
SP_API const char *
sp_op_python(const sp_op *op); /* its faces in Python: "ops.relu(input); Tensor.relu()"; "" for none */

/* Apply an operator. attrs: the operator's attribute struct, or NULL for all defaults. A NULL input stands for an
 * optional one left out. out[] receives *n_out results (room for max_out), each owned by the caller. Computes at once
 * and, when an input has a history and recording is on (grad.h), remembers what the gradient needs. */
SP_API sp_status sp_apply(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in, int max_out,
                          sp_tensor **out, int *n_out);

/* A scope for writing programs as expressions: it owns every tensor made in it and remembers the first failure, after
 * which all further calls do nothing and return NULL. */
typedef struct sp_builder sp_builder;
SP_API sp_status sp_builder_create(sp_builder **out);
SP_API void sp_builder_release(sp_builder *b);
/* Release all tensors of the scope and forget the failure, to use it for the next step. */
SP_API void sp_builder_reset(sp_builder *b);
SP_API sp_status sp_builder_status(const sp_builder *b);
/* Give a tensor to the scope (its reference is taken over); returns it, or NULL after a failure. */
SP_API sp_tensor *sp_builder_take_tensor(sp_builder *b, sp_tensor *t);
/* Apply and return the first result; further ones, if any, belong to the builder too. */
SP_API sp_tensor *sp_builder_apply(sp_builder *b, const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in);
/* Apply by name, with attributes as text: sp_builder_call(b, "reduce_sum", "axis=(1,), keepdims=True", 1, &x). */
SP_API sp_tensor *sp_builder_call(sp_builder *b, const char *op, const char *attrs, int n_in, sp_tensor *const *in);
/* The same two with all results: out has room for max_out. By name, places without a result become NULL. */
SP_API sp_status sp_builder_apply_many(sp_builder *b, const sp_op *op, const void *attrs, int n_in,
                                       sp_tensor *const *in, int max_out, sp_tensor **out, int *n_out);
SP_API sp_status sp_builder_call_many(sp_builder *b, const char *op, const char *attrs, int n_in, sp_tensor *const *in,
                                      int max_out, sp_tensor **out);

#ifdef __cplusplus
}
#endif
#endif
