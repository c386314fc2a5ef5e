/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - how a device offers kernels that are better than the reference.
 *
 * A device gives a list; the first entry for an operator that takes the call does the work. The answer depends on dtypes,
 * shapes and the CPU only, so that every mode of execution takes the same kernel. */
#ifndef SPORE_DEVICE_IMPL_H
#define SPORE_DEVICE_IMPL_H

#include "ir/op_impl.h"

/* What a kernel is given in place of the contents of in[0]: it asks for each part when it gets there, on the thread that will read
 * it, and so finds it in cache. make works out `n_rows` runs of `n` elements, run r from element start + r * row_step on (row-major
 * numbering), and tells where the first of them lies; runs are row_step apart. Every element is asked for exactly once; done says
 * that the part is not needed any more. */
typedef struct sp_prologue {
    const void *(*make)(void *context, int64_t start, int64_t n_rows, int64_t row_step, int64_t n);
    void (*done)(void *context, const void *made);
    void *context;
    int cost; /* of an element, as sp_inner_loop has it: a sixteenth of a nanosecond */
} sp_prologue;

/* All that decides about prepared weights besides the weights and the function that prepares them: calls of one form have the same bytes, whatever their batch. */
typedef struct sp_prepared_form {
    int64_t number[4];
} sp_prepared_form;

struct sp_blocked_kernel;

typedef struct sp_kernel_entry {
    const char *op;
    const char *name; /* for people: "gemm", "depthwise"; NULL: op */
    unsigned cpu;     /* SP_CPU_ features it needs; without them the entry is not in the list */
    uint32_t dtypes;  /* of in[0], SP_DT bits; 0: any */
    sp_kernel_fn run;
    size_t (*workspace)(const sp_call *c); /* NULL: op->workspace */
    bool strided;                          /* takes strided inputs even if the reference does not */
    bool (*takes)(const sp_call *c);       /* NULL: every call. Looks at geometry only, so that plans can ask ahead */
    bool epilogue; /* runs c->epilogue itself; else it runs once, over all of out[0], after the kernel */
    /* Takes c->prologue; NULL: it does not. Tells how many elements the longest part has, 0: parts are not one behind the other. */
    int64_t (*prologue)(const sp_call *c);
    /* The form of a constant in[1] (weights) that the kernel would otherwise make in every call. prepared_bytes: 0 when there
     * is nothing to gain. A call with c->prepared set gives the same bits as one without. */
    size_t (*prepared_bytes)(const sp_call *c);
    sp_status (*prepare)(const sp_call *c,
                         void *to); /* to: 64-byte aligned. Reads in[1]'s contents, of the rest geometry */
    sp_prepared_form (*prepared_form)(
        const sp_call *c); /* NULL: what is prepared serves calls of the same geometry alone */
    sp_inner_loop (*loop)(
        const sp_call *c); /* of an element-wise kernel: run is sp__call_loop with it, and plans may fuse it */
    const struct sp_blocked_kernel
        *blocked; /* the same for images in blocks of channels (blocked.h); NULL: there is none */
} sp_kernel_entry;

/* The kernel for a call, chosen by its geometry. */
typedef struct sp_kernel {
    sp_kernel_fn run;
    size_t (*workspace)(const sp_call *c); /* NULL: none */
    bool strided;                          /* else inputs must be row-major */
    bool epilogue;
    int64_t epilogue_run; /* elements handed over side by side, at least; 0: unknown, tiles of a product */
    int64_t (*prologue)(const sp_call *c);      /* NULL: takes none */
    size_t (*prepared_bytes)(const sp_call *c); /* NULL: prepares nothing */
    sp_status (*prepare)(const sp_call *c, void *to);
    sp_prepared_form (*prepared_form)(const sp_call *c);
    const char *name;                        /* "reference" for the operator's own */
    sp_inner_loop (*loop)(const sp_call *c); /* NULL: not element-wise */
    const struct sp_blocked_kernel *blocked; /* NULL: plain images only */
} sp_kernel;
sp_status sp__kernel_choose(const sp_call *c, sp_kernel *out);
/* Whether there is a kernel other than the reference. */
bool sp__kernel_offered(const sp_call *c);

/* Run a chosen kernel: c->work is in place; the epilogue runs here if the kernel does not do it. */
static inline sp_status sp__kernel_run(const sp_kernel *k, const sp_call *c)
{
    sp_status status = k->run(c);
    if (c->epilogue && !k->epilogue && status == SP_OK && c->out[0]->count)
        c->epilogue->fn(c->epilogue->context, 0, 1, 0, c->out[0]->count);
    return status;
}

/* Best first per operator. */
const sp_kernel_entry *sp__cpu_kernels(int *n);

/* Choose and run: inputs that the kernel cannot take as they are strided are copied for it, it gets its scratch memory, and
 * written inputs are copied back. */
sp_status sp__dispatch(const sp_call *c);

#endif
