/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_kernels.h - kernels of the CPU for operators of the table, with the scratch they need; cpu_kernels.c lists them. */
#ifndef SPORE_CPU_KERNELS_H
#define SPORE_CPU_KERNELS_H

#include "device/device.h"

sp_status sp__cpu_matmul(const sp_call *c);
size_t sp__cpu_matmul_work(const sp_call *c);

#endif
