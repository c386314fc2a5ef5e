/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_kernels.c - the list of fast kernels, best first per operator. */
#include "device/cpu/cpu_kernels.h"

static const sp_kernel_entry entries[] = {
    {.op = "matmul", .run = sp__cpu_matmul, .workspace = sp__cpu_matmul_work, .strided = true},
};

const sp_kernel_entry *sp__cpu_kernels(int *n)
{
    *n = (int)(sizeof entries / sizeof *entries);
    return entries;
}
