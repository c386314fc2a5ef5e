/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - how a device offers kernels that are better than the reference.
 *
 * A device gives a list; the first entry for an operator that does not answer SP_DECLINED has done the work. The answer
 * may depend on dtypes, shapes and the CPU only, so that every mode of execution takes the same kernel. */
#ifndef SPORE_DEVICE_IMPL_H
#define SPORE_DEVICE_IMPL_H

#include "ir/op_impl.h"

typedef struct sp_kernel_entry {
    const char *op;
    sp_kernel_fn run;
    size_t (*workspace)(const sp_call *c); /* NULL: op->workspace */
    bool strided;                          /* takes strided inputs even if the reference does not */
} sp_kernel_entry;

/* Best first per operator. */
const sp_kernel_entry *sp__cpu_kernels(int *n);

/* Run the first kernel that takes the call. Inputs that it cannot take as they are strided are copied for it. */
sp_status sp__dispatch(const sp_call *c);
/* Run one kernel: copies inputs to row-major where `strided` is false, gives it its scratch memory, and copies written
 * inputs back. */
sp_status sp__kernel_run(const sp_call *call, sp_kernel_fn fn, bool strided, size_t (*workspace)(const sp_call *));

#endif
