/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - devices besides the CPU, from inside; include/spore/device.h says what they are.
 *
 *     registry.c   kinds of devices (built in and from libraries) and those that are open
 *     buffer.c     their memory: buffers that are kept for the next tensor, copies, the hooks of tensor/remote.h
 *     offload.c    a call on a device: its own kernel, or the CPU's between copies
 *     streams.c    queues beside the first one, events, and who waits for whom
 *     null.c       a device that computes nothing
 *
 * Functions of a device are called by any thread, without a lock of ours. */
#ifndef SPORE_DEVICES_H
#define SPORE_DEVICES_H

#include <sys/types.h>

#include "base/lock.h"
#include "ir/op_count.h"
#include "ir/op_impl.h"
#include "spore/device.h"
#include "tensor/remote.h"

enum { SP_DEVICES_MAX = 64, SP_BUFFER_CLASSES = 8 * 64 };

struct sp_device {
    const sp_device_table *table; /* as this version has it: what a device of an older one does not know is NULL */
    void *state;
    int number; /* from 1 on: how recorded programs name it */
    pid_t opened_by;
    char name[48];
    const sp_device_kernel *
        *offers; /* kernels for operator i: offers[first_offer[i]] to offers[first_offer[i + 1]], best first */
    uint32_t first_offer[SP_OPS_MAX + 1];
    sp_lock lock;         /* of `kept` */
    sp_lock uses;         /* of those of all its buffers */
    atomic_int n_streams; /* ever made */
    sp_buffer *kept[SP_BUFFER_CLASSES];
    _Atomic uint64_t used, peak, kept_bytes, kernels, declined, copies_in, bytes_in, copies_out, bytes_out;
    _Atomic uint64_t declined_calls[SP_OPS_MAX], declined_bytes[SP_OPS_MAX];
};

/* NULL for 0, the CPU. */
sp_status sp__device_numbered(int64_t number, sp_device **out);
static inline int sp__device_number(const sp_device *d) { return d ? d->number : 0; }

/* Where operators without inputs put their results on this thread: that of the composition or gradient they belong to, else the default. Setting it gives
 * what was, for putting it back; NULL: the default. */
sp_device *sp__place_set(sp_device *d);
sp_device *sp__place_now(void);

/* SP_RUNTIME in a child of the process that opened it. */
sp_status sp__device_usable(const sp_device *d);
/* Put the device's name in front of this thread's message. */
sp_status sp__device_told(const sp_device *d, sp_status status);

/* A row-major tensor of its own, contents undefined. */
sp_status sp__device_tensor(sp_device *d, const sp_meta *meta, sp_tensor **out);
void sp__device_hooks_start(void);

/* Inputs are on d; so are results, unless they are NULL: then the kernel makes them. SP_DECLINED from the first alone: no kernel of the device takes it. */
sp_status sp__device_run_kernel(sp_device *d, const sp_call *c);
sp_status sp__device_run(sp_device *d, const sp_call *c);
/* Has it a kernel for a call of this geometry? Nobody's memory is looked at. */
bool sp__device_takes(sp_device *d, const sp_call *c);
/* The CPU does a call in its place. */
void sp__device_count_declined(sp_device *d, const sp_op *op, uint64_t bytes);
/* For host->run_on_cpu. */
sp_status sp__device_call_on_cpu(const sp_device_call *c);

/* What copies cost, roughly; guessed where the device does not say. */
void sp__device_costs(const sp_device *d, sp_device_costs *out);

extern const sp_device_table *sp__null_device(const sp_device_host *host);

#endif
