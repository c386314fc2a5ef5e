/* SPDX-License-Identifier: Apache-2.0 */
/* provider.h - kernels from a shared library.
 *
 * The library exports one function, sp_provider_open, and hands over a list of kernels. They come before the engine's own in the list of
 * their operator: the first that takes a call does the work; one that declines, by `takes` or by SP_DECLINED from `run`, hands over to the
 * next, and the operator's reference is last. It needs this header and nothing of libspore at link time. examples/c/providers/twice.c is a small one.
 *
 *     SPORE_PROVIDERS=/path/one.so:/path/two.so     opened when the first kernel is chosen
 *     sp_provider_load(path)                        opened now, before the others that are there
 *
 * What a kernel may rely on: operands are row-major, shapes and dtypes are those the operator's own rules gave, `work` is 64-byte aligned.
 * What it must hold to: `takes` and `workspace` look at geometry only and answer the same for the same geometry; `run` writes all of out[], calls
 * nothing of the engine but the host's functions, and may be called by several threads at once. Structs grow at their end: struct_size tells. */
#ifndef SPORE_PROVIDER_H
#define SPORE_PROVIDER_H

#include <string.h>

#include "spore/op.h"
#include "spore/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SP_PROVIDER_VERSION 1 /* of this interface; another one is not opened */

typedef struct sp_provider_operand {
    sp_dtype dtype;
    int rank; /* -1: an optional input that is left out */
    const int64_t *dims;
    void *data; /* NULL while only geometry is asked about */
} sp_provider_operand;

typedef struct sp_provider_call {
    size_t struct_size;
    const char *op;
    int n_attrs;
    const sp_attr *attr_table; /* names, types and offsets of the attributes */
    const void *attrs;
    int n_in, n_out;
    const sp_provider_operand *in, *out;
    void *work;
} sp_provider_call;

/* Where an attribute is: an int64_t, double, bool, sp_dtype, sp_ints, ... as attr_table says; NULL: there is none of that name. */
static inline const void *sp_provider_attr(const sp_provider_call *c, const char *name)
{
    for (int i = 0; i < c->n_attrs; i++)
        if (strcmp(c->attr_table[i].name, name) == 0) return (const char *)c->attrs + c->attr_table[i].offset;
    return NULL;
}

typedef struct sp_provider_kernel {
    const char *op;
    const char *name;                               /* for people */
    bool (*takes)(const sp_provider_call *c);       /* NULL: every call */
    size_t (*workspace)(const sp_provider_call *c); /* bytes of c->work; NULL: none */
    sp_status (*run)(const sp_provider_call *c);    /* SP_DECLINED: nothing was written, the next one shall do it */
} sp_provider_kernel;

/* What the engine offers. */
typedef struct sp_provider_host {
    size_t struct_size;
    int (*threads)(void);
    /* fn(context, begin, end) for parts of [0, n), on several threads. */
    sp_status (*parallel_for)(int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end),
                              void *context);
    /* Sets the message and returns the status, for `return host->fail(SP_RUNTIME, "...")`. */
    sp_status (*fail)(sp_status status, const char *message);
} sp_provider_host;

typedef struct sp_provider {
    size_t struct_size;
    int version; /* SP_PROVIDER_VERSION */
    const char *name;
    int n_kernels;
    const sp_provider_kernel *kernels; /* best first; lives as long as the process */
} sp_provider;

/* Exported by the library. host lives as long as the process. NULL: it cannot work on this machine (host->fail says why). */
typedef const sp_provider *sp_provider_open_fn(const sp_provider_host *host);

/* Open a library and put its kernels in front. It stays open; one that is open already is not opened again. Programs that are compiled
 * already keep the kernels they have. */
SP_API sp_status sp_provider_load(const char *path);
/* Names of providers, in the order of their kernels, as "name, name"; number of them. */
SP_API int sp_provider_names(char *text, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
