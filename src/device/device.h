/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - how a device offers kernels that are better than the reference.
 *
 * A device gives a list; the first entry for an operator that takes the call does the work. The answer depends on dtypes,
 * shapes and the CPU only, so that every mode of execution takes the same kernel. */
#ifndef SPORE_DEVICE_IMPL_H
#define SPORE_DEVICE_IMPL_H

#include "ir/op_impl.h"

typedef struct sp_kernel_entry {
    const char *op;
    sp_kernel_fn run;
    size_t (*workspace)(const sp_call *c); /* NULL: op->workspace */
    bool strided;                          /* takes strided inputs even if the reference does not */
    bool (*takes)(const sp_call *c);       /* NULL: every call. Looks at geometry only, so that plans can ask ahead */
} sp_kernel_entry;

/* The kernel for a call, chosen by its geometry. */
typedef struct sp_kernel {
    sp_kernel_fn run;
    size_t (*workspace)(const sp_call *c); /* NULL: none */
    bool strided;                          /* else inputs must be row-major */
} sp_kernel;
sp_status sp__kernel_choose(const sp_call *c, sp_kernel *out);

/* Best first per operator. */
const sp_kernel_entry *sp__cpu_kernels(int *n);

/* Choose and run: inputs that the kernel cannot take as they are strided are copied for it, it gets its scratch memory, and
 * written inputs are copied back. */
sp_status sp__dispatch(const sp_call *c);

#endif
