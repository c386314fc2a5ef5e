/* SPDX-License-Identifier: Apache-2.0 */
/* custom.h - operators of one's own: what the table lacks, with its shapes, kernel and gradient.
 *
 *     static const sp_custom_op swish = {.struct_size = sizeof swish, .name = "my_swish", .inputs = "x", .run = run, .vjp = vjp};
 *     sp_custom_register(&swish, NULL);
 *     y = sp_builder_call(b, "my_swish", NULL, 1, &x);
 *
 * From then on it is an operator like any other of this process: applied, differentiated, recorded into programs, printed and parsed
 * with them, mapped over slices. Files of other formats cannot hold it, and programs with it are not kept on disk (sp_program_cache).
 *
 * Functions of an operator are called by any thread, several at a time. They fail with a status of theirs and a text:
 * return sp_error_raise(&(sp_error){SP_VALUE, "the window must be odd"}). */
#ifndef SPORE_CUSTOM_H
#define SPORE_CUSTOM_H

#include "spore/op.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SP_CUSTOM_MAX = 256, SP_CUSTOM_INPUTS_MAX = 14, SP_CUSTOM_RESULTS_MAX = 8, SP_CUSTOM_ATTRS_MAX = 14 };

/* One application. */
typedef struct sp_custom_call {
    const void *attrs; /* the operator's struct, complete; NULL when it has no attributes */
    int n_in, n_out;
    sp_tensor *const *in;  /* NULL where an optional input is left out */
    sp_tensor *const *out; /* for run: row-major, to be filled */
} sp_custom_call;

/* What a gradient rule gets. */
typedef struct sp_custom_vjp {
    const void *attrs;
    int n_in, n_out;
    sp_tensor *const *in, *const *out; /* of the call, with their values as far as `keep_in` and `keep_out` say */
    sp_tensor *const *dout;            /* NULL: that result does not matter (its gradient is zero) */
    const bool *needs;                 /* needs[i]: din[i] is wanted */
    sp_tensor **din;                   /* to be filled with tensors of the builder; left NULL: zero */
} sp_custom_vjp;

/* An operator. What is zero has its default; everything is copied but the functions. */
typedef struct sp_custom_op {
    uint32_t struct_size;
    const char *name;   /* lower-case letters, digits and _, begun with a letter; not in the table yet */
    const char *inputs; /* "x, weight, bias?": ? may be left out; "xs...": any number, last */
    int n_out;          /* 0 stands for 1 */
    const char *doc;    /* a sentence for `sp_op_doc` */
    /* Attributes are fields of a struct of yours; rows with their default as text, or NULL where one must be given. */
    int n_attrs;
    const sp_attr *attrs;
    size_t attrs_bytes; /* sizeof that struct, at most 512 */
    /* What the first input may be; 0: any. */
    int n_dtypes;
    const sp_dtype *dtypes;
    /* Dtypes and shapes of the results; values of inputs are not known yet. NULL: those of the first input. */
    sp_status (*infer)(const sp_custom_call *c, sp_spec *out);
    /* One of these two. Compute into c->out: inputs are row-major, too, and must not be written. */
    sp_status (*run)(const sp_custom_call *c);
    /* Or say it with operators: out[i] are tensors of the builder. Then gradients follow from theirs, and `infer` and `vjp` are not needed. */
    sp_status (*compose)(sp_builder *b, const sp_custom_call *c, sp_tensor **out);
    /* Gradients, written with the builder, so that they can be differentiated in turn. NULL: to differentiate through the operator is an
     * error, as long as nobody says that it is a constant (sp_grad_detach). */
    sp_status (*vjp)(sp_builder *b, const sp_custom_vjp *v);
    /* Bit i: the rule reads values of in[i], of out[i]; others have a dtype and a shape only, and their memory is free. */
    uint32_t keep_in, keep_out;
} sp_custom_op;

/* Put it into the table, for the rest of the process; *out (may be NULL) is the entry. SP_KEY: the name is taken. */
SP_API sp_status sp_custom_register(const sp_custom_op *op, const sp_op **out);

#ifdef __cplusplus
}
#endif
#endif
