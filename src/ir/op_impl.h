/* SPDX-License-Identifier: Apache-2.0 */
/* op_impl.h - what an operator is. Everything the engine knows about one stands in its sp_op entry, next to its code
 * in src/ops; ops.def lists the entries. Eager mode, gradients, Python, files and tests read the entry and keep no list
 * of their own. docs/inside/adding-an-operator.md walks through one. */
#ifndef SPORE_OP_IMPL_H
#define SPORE_OP_IMPL_H

#include "base/text.h"
#include "ir/attr_table.h"
#include "spore/op.h"
#include "tensor/tensor_impl.h"

#define SP_IN_MAX 16 /* inputs of a non-variadic operator */
#define SP_OUT_MAX 8 /* outputs of an operator with a fixed number of them */

/* What to do with results as soon as they are final, while they are in cache: what element-wise operators behind a product
 * would do later (bias, activation, residual, scale). fn works on `n_rows` runs of `n` elements of out[0]; run r starts at element
 * start + r * row_step (row-major numbering). Every element is handed over exactly once, in some order, by the thread that
 * finished it. A kernel writes its result first, rounded to out[0]'s dtype, so results are bit for bit those of separate operators. */
typedef struct sp_epilogue {
    void (*fn)(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n);
    void *context;
} sp_epilogue;

/* One application: what inference, kernels and compositions get. */
typedef struct sp_call {
    const sp_op *op;
    const void *attrs; /* never NULL when the operator has attributes: defaults are filled in */
    int n_in, n_out;
    sp_tensor *const *in; /* NULL where an optional input is left out */
    sp_tensor **out;
    void *work; /* scratch of op->workspace() bytes, for the kernel */
    /* Set by plans, NULL otherwise; device/device.h says what the last two are. */
    const sp_epilogue *epilogue;
    const struct sp_prologue *prologue;
    const void *prepared;
    struct sp_request *
        *begun; /* collectives: begin the exchange, put what to wait for here, and do not wait; NULL: do all of it */
} sp_call;

/* What a gradient rule gets. in[i] and out[i] are complete if op->saves has their bit, else geometry without memory. */
typedef struct sp_vjp {
    const sp_op *op;
    const void *attrs;
    int n_in, n_out;
    sp_tensor *const *in;
    sp_tensor *const *out;
    sp_tensor *const *dout; /* NULL: that output does not matter (its gradient is zero) */
    const bool *needs;      /* needs[i]: din[i] is wanted */
    bool again;      /* the gradients will be differentiated themselves: a fused rule without one must not be used */
    sp_tensor **din; /* to be filled; leaving NULL means zero. Made with the builder, which owns them */
} sp_vjp;

/* What a batching rule gets: one application for all slices at once (sp_function_batch). in[i] has the slices along a new first
 * axis where batched[i], else it is the same for all of them; at least one is batched. */
typedef struct sp_batch {
    const sp_op *op;
    const void *attrs;
    void *own_attrs; /* a copy for the rule to change; lists in it are still those of attrs */
    int64_t size;    /* number of slices */
    int n_in, n_out;
    sp_tensor *const *in;
    const bool *batched;
    bool drawn; /* in[0] holds states of random numbers that follow on one another: the first serves for all */
    sp_tensor *
        *out; /* to be filled, each with the slices along its first axis. Made with the builder, which owns them */
} sp_batch;

/* What an operator keeps for its gradient: bits of `saves`. */
#define SP_SAVE_IN(i) (1u << (i))
#define SP_SAVE_OUT(i) (1u << (16 + (i)))
#define SP_SAVE_ALL_IN 0x7FFFu
/* in[i] is kept only if some other input needs a gradient (products). */
#define SP_SAVE_CROSS (1u << 31)

/* How the inputs' dtypes are brought together before inference. */
typedef enum {
    SP_PROMOTE_NONE = 0, /* taken as they are */
    SP_PROMOTE_ALL,      /* all inputs to one dtype by sp_dtype_promote; Python numbers yield inside their kind */
    SP_PROMOTE_FLOAT,    /* the same, and integers become float32 (true division, exp of integers) */
} sp_promote;

/* Sets of dtypes, for .dtypes: what in[0] may be (after promotion). */
#define SP_DT(x) (1u << SP_DTYPE_##x)
#define SP_DT_SIGNED (SP_DT(I8) | SP_DT(I16) | SP_DT(I32) | SP_DT(I64))
#define SP_DT_UNSIGNED (SP_DT(U8) | SP_DT(U16) | SP_DT(U32) | SP_DT(U64))
#define SP_DT_INTS (SP_DT_SIGNED | SP_DT_UNSIGNED)
#define SP_DT_FLOATS (SP_DT(F16) | SP_DT(BF16) | SP_DT(F32) | SP_DT(F64))
#define SP_DT_COMPLEX (SP_DT(C64) | SP_DT(C128))
#define SP_DT_REAL (SP_DT_INTS | SP_DT_FLOATS)
#define SP_DT_REAL_BOOL (SP_DT_REAL | SP_DT(BOOL))
#define SP_DT_NUMBERS (SP_DT_REAL | SP_DT_COMPLEX)
#define SP_DT_ALL (SP_DT_NUMBERS | SP_DT(BOOL))

typedef sp_status (*sp_kernel_fn)(const sp_call *c);

/* What others treat alike: kernels, passes, writers of files. */
typedef enum {
    SP_FAMILY_NONE = 0,
    SP_FAMILY_CONV,
    SP_FAMILY_CONV_INPUT_GRAD,
    SP_FAMILY_CONV_WEIGHT_GRAD,
    SP_FAMILY_CONV_BYTES,
    SP_FAMILY_MAX_POOL,
    SP_FAMILY_MEAN_POOL,
    SP_FAMILY_REDUCE_SUM,
    SP_FAMILY_REDUCE_MEAN,
    SP_FAMILY_REDUCE_PROD,
    SP_FAMILY_REDUCE_MAX,
    SP_FAMILY_REDUCE_MIN,
    SP_FAMILY_REDUCE_ALL,
    SP_FAMILY_REDUCE_ANY,
    SP_FAMILY_REDUCE_NORM,
    SP_FAMILY_LAYER_NORM, /* and its gradient */
} sp_family;

/* What an element-wise kernel does to a run of elements; sp__call_loop calls it with results, then inputs. */
typedef struct sp_inner_loop {
    sp_loop_fn fn; /* NULL: this call has none */
    const void *context;
    int cost; /* as for sp__loop_run */
} sp_inner_loop;

struct sp_op {
    const char *name;   /* of the table, snake case: "reduce_sum" */
    const char *inputs; /* "x, y", "x, weight, bias?" (optional), "xs..." (any number, last) */
    int n_out;          /* 0 stands for 1; -1: count() tells */
    /* SP_ATTRS(table, struct) sets these four. */
    const sp_attr *attrs;
    int n_attrs;
    size_t attrs_bytes;
    const void *defaults; /* the attribute struct with all defaults; NULL for an operator without attributes */
    sp_promote promote;
    uint32_t dtypes; /* of in[0]; 0 stands for SP_DT_ALL */

    /* Dtypes and shapes of the results, from those of the inputs and attributes. A dimension that only the data can
     * tell is -1; then the kernel makes the output itself (c->out[i] is NULL when it is called). */
    sp_status (*infer)(const sp_call *c, sp_meta *out);
    bool open; /* it has such dimensions; from other operators a negative one is a caller's mistake */
    int (*count)(const sp_call *c); /* number of outputs, for n_out = -1 */

    /* Exactly one of these three makes the results, or view first and reference when view declines. */
    sp_status (*view)(const sp_call *c); /* set c->out to views of the inputs, or SP_DECLINED */
    sp_kernel_fn reference;              /* plain kernel into c->out (row-major) */
    /* Other operators; sets c->out to tensors owned by b. With infer besides, a device may offer a kernel that gives the same bits at once:
     * calls that nobody differentiates or records take it. */
    sp_status (*compose)(sp_builder *b, const sp_call *c);

    /* Element-wise operators: the reference does what sp__call_loop does with this. Graph mode fuses such loops, so element i of
     * the results may depend on the elements i of the inputs alone. */
    sp_inner_loop (*loop)(const sp_call *c);
    int loop_axis;   /* of the result: inputs of rank 1 lie along it in the loop; 0: they are broadcast as always */
    bool strided;    /* the kernel takes strided inputs; else it gets row-major ones */
    bool collective; /* other ranks take part: it runs once for every run of the program, in its order, alone */
    /* Collectives whose kernel may begin (sp_call.begun): wait for it, or give it up where that would take long. NULL: they do all of it. */
    sp_status (*await)(struct sp_request **begun, bool give_up);
    uint8_t writes; /* bit i: in[i] is written in place (assign, optimizer steps); out[k] is the k-th such input */
    size_t (*workspace)(const sp_call *c);
    int64_t (*epilogue)(
        const sp_call
            *c); /* the reference runs c->epilogue itself, over runs of so many elements; 0, or NULL: it does not */
    sp_status (*vjp)(sp_builder *b, const sp_vjp *v);
    /* All slices at once; SP_DECLINED: not in this case. Without a rule, and when it declines, slices are taken one after the other.
     * Element-wise operators need none. The rules are in src/ops/vmap.h. */
    sp_status (*batch)(sp_builder *b, const sp_batch *v);
    /* How axes of inputs and results go together, for programs that are split over ranks: "... i k, ... k j -> ... i j"; the words are in
     * src/parallel/shard_rule.c. NULL: element-wise operators have one, others are computed whole by every rank. */
    const char *shard;
    const char *no_vjp; /* reason why there is none: "integer result", "piecewise constant" (then gradients are zero) */
    uint32_t saves;

    sp_family family;
    uint8_t spatial;    /* dimensions that its windows slide over, 1 to 3; 0: none, or the attribute `spatial` tells */
    bool numbers_alone; /* Python: may be called with numbers and no Tensor; programs compute sizes so */
    bool truths_alone;  /* Python: may be called with two bools, conditions that are known */

    const char *mindir; /* name in MindIR, "Softmax" */
    const char *onnx;   /* name in ONNX, "Softmax" */
    const char
        *python;     /* faces, see docs/inside/adding-an-operator.md: "ops.relu(input); Tensor.relu(); ops.ReLU()(x)" */
    const char *doc; /* one or two sentences for the generated documentation */
    const char *samples; /* inputs for the tests that walk the table, see tests/ops/samples.md */
};

/* Number of the entry in the table, for side tables; -1 if it is not in it. Implemented by src/ops/table.c. */
int sp__op_id(const sp_op *op);
/* One of the program's own (custom.h): its number is that of this process alone. */
bool sp__op_is_registered(const sp_op *op);

/* --- inputs of an operator, parsed from .inputs once ------------------------------------------------------------- */
typedef struct sp_inputs {
    int n;             /* names; the variadic one counts as one */
    bool variadic;     /* the last takes any number */
    uint32_t optional; /* bits */
    char names[SP_IN_MAX][24];
} sp_inputs;
const sp_inputs *sp__op_inputs(const sp_op *op);
void sp__op_parse_inputs(const sp_op *op, sp_inputs *out);

/* --- attributes -------------------------------------------------------------------------------------------------- */
const sp_attr *sp__attr_find(const sp_op *op, const char *name, size_t n); /* n: length of the name; NULL: none */
/* A deep copy in one block, to be freed with sp__free. NULL attrs gives NULL. */
sp_status sp__attrs_copy(const sp_op *op, const void *attrs, void **out);
/* Set one field from text ("3", "(1, 2)", "None", "mean"). Lists and strings are kept in *keep. */
typedef struct sp_attr_text {
    void *blocks[32];
    int n_blocks;
} sp_attr_text;
sp_status sp__attr_parse(const sp_op *op, const sp_attr *attr, const char *text, void *attrs, sp_attr_text *keep);
/* "axis=1, keepdims=True" over defaults. */
sp_status sp__attrs_parse(const sp_op *op, const char *text, void *attrs, sp_attr_text *keep);
void sp__attr_text_free(sp_attr_text *keep);
/* "axis=(1,), keepdims=True": what differs from the defaults, as sp__attrs_parse reads it. */
void sp__attrs_print(sp__text *t, const sp_op *op, const void *attrs);
bool sp__attrs_equal(const sp_op *op, const void *x, const void *y);
size_t sp__attr_bytes(const sp_attr *a); /* of the field; 0: there is no such type */
/* The field says "not given": None, NULL, SP_INT_NONE. */
bool sp__attr_missing(const sp_attr *a, const void *attrs);
/* Kernels know what that means: the default is None. */
bool sp__attr_may_miss(const sp_attr *a);
/* Attributes that are not given, though kernels want a value, get their defaults, in a copy in `room`; one without a default is
 * an error. */
enum { SP_ATTRS_ROOM = 512 };
sp_status sp__attrs_complete(const sp_op *op, const void **attrs, void *room, size_t room_bytes);

/* --- builder ----------------------------------------------------------------------------------------------------- */
struct sp_builder {
    sp_status status;
    sp_error error; /* the first failure, so that later successes on this thread cannot overwrite its text */
    int n, capacity;
    sp_tensor **owned;
    sp_tensor *few[16];
};
void sp__builder_init(sp_builder *b); /* for a builder on the stack */
void sp__builder_done(sp_builder *b); /* releases what it owns */
/* Remember a failure (its message is this thread's). Returns NULL. */
void *sp__builder_fail(sp_builder *b, sp_status status);
/* Status, with the remembered message put back as this thread's. */
sp_status sp__builder_status(sp_builder *b);

/* --- inference used by many -------------------------------------------------------------------------------------- */
/* The operator's own inference, checked: ranks and dimensions that a tensor can have, -1 only from an operator that is open. */
sp_status sp__infer(const sp_call *c, sp_meta *out);
sp_status sp__infer_same(const sp_call *c, sp_meta *out);           /* dtype and shape of in[0] */
sp_status sp__infer_broadcast(const sp_call *c, sp_meta *out);      /* all inputs broadcast; dtype of in[0] */
sp_status sp__infer_broadcast_bool(const sp_call *c, sp_meta *out); /* the same, dtype bool */
sp_status sp__infer_same_bool(const sp_call *c, sp_meta *out);
static inline void sp__meta_of(const sp_tensor *t, sp_meta *m)
{
    m->dtype = (sp_dtype)t->dtype;
    m->rank = t->rank;
    for (int i = 0; i < t->rank; i++) m->dims[i] = t->dims[i];
}

/* Kernel helper: one strided loop over outputs then inputs of a call, all broadcast to out[0]. */
sp_status sp__call_loop(const sp_call *c, sp_loop_fn fn, const void *context, int cost);

#endif
