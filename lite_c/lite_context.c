/* SPDX-License-Identifier: Apache-2.0 */
/* lite_context.c - contexts and devices of MindSpore Lite's C interface. */
#include <stdlib.h>
#include <string.h>

#include "lite_c.h"

MSContextHandle MSContextCreate(void)
{
    lite_context *c = calloc(1, sizeof *c);
    if (c != NULL) c->threads = 2;
    return c;
}

void MSContextDestroy(MSContextHandle *context)
{
    if (context == NULL || *context == NULL) return;
    lite_context *c = *context;
    for (size_t i = 0; i < c->n_devices; i++) {
        MSDeviceInfoHandle device = c->devices[i];
        MSDeviceInfoDestroy(&device);
    }
    free(c->devices);
    free(c->cores);
    free(c);
    *context = NULL;
}

void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num)
{
    if (context != NULL) ((lite_context *)context)->threads = thread_num;
}

int32_t MSContextGetThreadNum(const MSContextHandle context)
{
    return context != NULL ? ((const lite_context *)context)->threads : 0;
}

void MSContextSetThreadAffinityMode(MSContextHandle context, int mode)
{
    if (context != NULL) ((lite_context *)context)->affinity = mode;
}

int MSContextGetThreadAffinityMode(const MSContextHandle context)
{
    return context != NULL ? ((const lite_context *)context)->affinity : -1;
}

void MSContextSetThreadAffinityCoreList(MSContextHandle context, const int32_t *core_list, size_t core_num)
{
    lite_context *c = context;
    int32_t *copy = c != NULL && core_list != NULL && core_num < 1024 ? malloc((core_num + 1) * sizeof *copy) : NULL;
    if (copy == NULL) return;
    memcpy(copy, core_list, core_num * sizeof *copy);
    free(c->cores);
    c->cores = copy;
    c->n_cores = core_num;
}

const int32_t *MSContextGetThreadAffinityCoreList(const MSContextHandle context, size_t *core_num)
{
    const lite_context *c = context;
    if (c == NULL || core_num == NULL) return NULL;
    *core_num = c->n_cores;
    return c->cores;
}

void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel)
{
    if (context != NULL) ((lite_context *)context)->parallel = is_parallel;
}

bool MSContextGetEnableParallel(const MSContextHandle context)
{
    return context != NULL && ((const lite_context *)context)->parallel;
}

void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info)
{
    lite_context *c = context;
    if (c == NULL || device_info == NULL) return;
    lite_device **more = realloc(c->devices, (c->n_devices + 1) * sizeof *more);
    if (more == NULL) return;
    c->devices = more;
    c->devices[c->n_devices++] = device_info;
}

/* --- devices ----------------------------------------------------------------------------------------------------- */

MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type)
{
    lite_device *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->type = device_type;
    d->frequency = 3;
    d->provider = lite_text("");
    d->device = lite_text("");
    return d;
}

void MSDeviceInfoDestroy(MSDeviceInfoHandle *device_info)
{
    if (device_info == NULL || *device_info == NULL) return;
    lite_device *d = *device_info;
    free(d->provider);
    free(d->device);
    free(d);
    *device_info = NULL;
}

static void set_text(char **to, const char *text)
{
    char *copy = text != NULL ? lite_text(text) : NULL;
    if (copy == NULL) return;
    free(*to);
    *to = copy;
}

void MSDeviceInfoSetProvider(MSDeviceInfoHandle device_info, const char *provider)
{
    if (device_info != NULL) set_text(&((lite_device *)device_info)->provider, provider);
}

const char *MSDeviceInfoGetProvider(const MSDeviceInfoHandle device_info)
{
    return device_info != NULL ? ((const lite_device *)device_info)->provider : NULL;
}

void MSDeviceInfoSetProviderDevice(MSDeviceInfoHandle device_info, const char *device)
{
    if (device_info != NULL) set_text(&((lite_device *)device_info)->device, device);
}

const char *MSDeviceInfoGetProviderDevice(const MSDeviceInfoHandle device_info)
{
    return device_info != NULL ? ((const lite_device *)device_info)->device : NULL;
}

MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info)
{
    return device_info != NULL ? ((const lite_device *)device_info)->type : kMSDeviceTypeInvalid;
}

void MSDeviceInfoSetEnableFP16(MSDeviceInfoHandle device_info, bool is_fp16)
{
    if (device_info != NULL) ((lite_device *)device_info)->fp16 = is_fp16;
}

bool MSDeviceInfoGetEnableFP16(const MSDeviceInfoHandle device_info)
{
    return device_info != NULL && ((const lite_device *)device_info)->fp16;
}

void MSDeviceInfoSetFrequency(MSDeviceInfoHandle device_info, int frequency)
{
    if (device_info != NULL) ((lite_device *)device_info)->frequency = frequency;
}

int MSDeviceInfoGetFrequency(const MSDeviceInfoHandle device_info)
{
    return device_info != NULL ? ((const lite_device *)device_info)->frequency : -1;
}
