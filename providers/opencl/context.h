/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - the functions of the device's table, for table.c. */
#ifndef SPORE_OPENCL_CONTEXT_H
#define SPORE_OPENCL_CONTEXT_H

#include "opencl.h"

void ocl_devices_find(void);
int ocl_devices_count(void);
sp_status ocl_open(int ordinal, void **device);
sp_status ocl_describe(void *device, sp_device_properties *out);
sp_status ocl_alloc(void *device, size_t bytes, void **buffer);
void ocl_free(void *device, void *buffer);
sp_status ocl_copy_in(void *device, void *buffer, size_t offset, const void *from, size_t bytes);
sp_status ocl_copy_out(void *device, void *buffer, size_t offset, void *to, size_t bytes);
sp_status ocl_copy(void *device, void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes);
sp_status ocl_wait(void *device);

#endif
