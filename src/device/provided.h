/* SPDX-License-Identifier: Apache-2.0 */
/* provided.h - kernels of providers as entries of the device's list; include/spore/provider.h says what they are. */
#ifndef SPORE_DEVICE_PROVIDED_H
#define SPORE_DEVICE_PROVIDED_H

#include "device/device.h"

/* The entry that stands for all of an operator's provided kernels, or NULL. Opens what SPORE_PROVIDERS names, the first time. */
const sp_kernel_entry *sp__provider_entry(int op_id);
/* Names of the kernels of an operator, as sp_machine_kernels writes them; number of them. */
int sp__provider_kernels(const sp_op *op, char *text, size_t bytes);
/* cpu_kernels.c: a number for each entry of sp__cpu_kernels, for dispatch.c to chain them by. */
int16_t *sp__cpu_kernel_links(void);
/* dispatch.c: choose and run without providers. */
sp_status sp__dispatch_own(const sp_call *c);

#endif
