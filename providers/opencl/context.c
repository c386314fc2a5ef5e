/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - devices of all platforms, their memory, copies and waiting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"

enum { DEVICES_MAX = 16, FILL_BYTES = 16, STAGED_MOST = 4 << 20 };

static cl_device_id found[DEVICES_MAX];
static cl_platform_id found_on[DEVICES_MAX];
static int n_found;

/* --- which there are --------------------------------------------------------------------------------------------- */

/* GPUs and accelerators first, of all platforms: opencl:0 is what a program most likely wants. */
void ocl_devices_find(void)
{
    static const cl_device_type order[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
    cl_platform_id platforms[DEVICES_MAX];
    cl_uint n = 0;
    n_found = 0;
    ocl_signals *kept = ocl_signals_keep();
    if (cl.clGetPlatformIDs(DEVICES_MAX, platforms, &n) != CL_SUCCESS) n = 0;
    if (n > DEVICES_MAX) n = DEVICES_MAX;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (cl_uint p = 0; p < n; p++) {
            cl_device_id ids[DEVICES_MAX];
            cl_uint here = 0;
            if (cl.clGetDeviceIDs(platforms[p], order[k], DEVICES_MAX, ids, &here) != CL_SUCCESS) continue;
            for (cl_uint i = 0; i < here && i < DEVICES_MAX && n_found < DEVICES_MAX; i++) {
                found_on[n_found] = platforms[p];
                found[n_found++] = ids[i];
            }
        }
    ocl_signals_put_back(kept);
}

int ocl_devices_count(void) { return n_found; }

static void device_text(cl_device_id id, cl_device_info what, char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    if (cl.clGetDeviceInfo(id, what, bytes - 1, out, &used) != CL_SUCCESS) out[0] = '\0';
    out[used < bytes ? used : bytes - 1] = '\0';
}

static void identify(ocl_device *d)
{
    char platform[128] = "", name[128], version[128], driver[128];
    size_t used = 0;
    if (cl.clGetPlatformInfo(d->platform, CL_PLATFORM_VERSION, sizeof platform - 1, platform, &used) != CL_SUCCESS)
        platform[0] = '\0';
    device_text(d->id, CL_DEVICE_NAME, name, sizeof name);
    device_text(d->id, CL_DEVICE_VERSION, version, sizeof version);
    device_text(d->id, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(d->identity, sizeof d->identity, "%s|%s|%s|%s", platform, name, version, driver);
}

sp_status ocl_open(int ordinal, void **device)
{
    ocl_device *d = calloc(1, sizeof *d);
    if (!d) return SP_NOMEM;
    cl_device_type type = 0;
    cl_device_fp_config wide = 0;
    cl_int code;
    d->platform = found_on[ordinal];
    d->id = found[ordinal];
    cl.clGetDeviceInfo(d->id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    d->cpu = type & CL_DEVICE_TYPE_CPU;
    d->has_double =
        cl.clGetDeviceInfo(d->id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof wide, &wide, NULL) == CL_SUCCESS && wide;
    size_t most = 1;
    cl.clGetDeviceInfo(d->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    const char *tiles = getenv("SPORE_OPENCL_GROUPS"); /* "gpu": kernels as for a GPU, for tests of those */
    if (tiles && strcmp(tiles, "gpu") == 0) d->cpu = false;
    d->group = d->cpu ? 1 : most < 128 ? most : 128;
    while (d->group & (d->group - 1)) d->group &= d->group - 1; /* sums over a group go by halves */
    identify(d);
    pthread_mutex_init(&d->lock, NULL);
    const cl_context_properties wanted[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)d->platform, 0};
    d->context = cl.clCreateContext(wanted, 1, &d->id, NULL, NULL, &code);
    if (code == CL_SUCCESS) d->queue = cl.clCreateCommandQueue(d->context, d->id, 0, &code);
    const cl_int none[4] = {0};
    if (code == CL_SUCCESS)
        d->fault =
            cl.clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof none, (void *)none, &code);
    if (code != CL_SUCCESS) {
        free(d);
        return ocl_fail("clCreateContext", code);
    }
    *device = d;
    return SP_OK;
}

sp_status ocl_describe(void *device, sp_device_properties *out)
{
    ocl_device *d = device;
    cl_ulong bytes = 0;
    cl_uint units = 0;
    device_text(d->id, CL_DEVICE_NAME, out->title, sizeof out->title);
    cl.clGetDeviceInfo(d->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    cl.clGetDeviceInfo(d->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    out->memory_bytes = bytes;
    out->units = (int)units;
    out->dtypes = 0;
    for (int i = 0; i < SP_DTYPE_COUNT; i++)
        if (ocl_computes(d, (sp_dtype)i)) out->dtypes |= 1u << i;
    return SP_OK;
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

sp_status ocl_alloc(void *device, size_t bytes, void **buffer)
{
    ocl_device *d = device;
    cl_int code;
    cl_mem memory = cl.clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == CL_INVALID_BUFFER_SIZE) return SP_NOMEM;
    if (code != CL_SUCCESS) return ocl_fail("clCreateBuffer", code);
    *buffer = memory;
    return SP_OK;
}

/* OpenCL itself keeps it until commands that use it are done. */
void ocl_free(void *device, void *buffer)
{
    (void)device;
    cl.clReleaseMemObject(buffer);
}

sp_status ocl_scratch_get(ocl_device *d, int number, size_t bytes, cl_mem *out)
{
    ocl_scratch *s = &d->scratch[number];
    pthread_mutex_lock(&d->lock);
    sp_status status = SP_OK;
    if (s->bytes < bytes) {
        void *memory = NULL;
        status = ocl_alloc(d, bytes, &memory);
        if (status == SP_OK) {
            if (s->memory) cl.clReleaseMemObject(s->memory);
            *s = (ocl_scratch){memory, bytes};
        }
    }
    *out = s->memory;
    pthread_mutex_unlock(&d->lock);
    return status;
}

/* --- copies ------------------------------------------------------------------------------------------------------ */

static void CL_CALLBACK staged_done(cl_event event, cl_int status, void *memory)
{
    (void)status;
    free(memory);
    cl.clReleaseEvent(event);
}

/* A number is a fill, whose pattern is read at once; some megabytes go through memory of our own, so that the caller need not wait for what the queue
 * has before. */
sp_status ocl_copy_in(void *device, void *buffer, size_t offset, const void *from, size_t bytes)
{
    ocl_device *d = device;
    if (bytes <= FILL_BYTES && (bytes & (bytes - 1)) == 0 && offset % bytes == 0) {
        OCL_TRY(cl.clEnqueueFillBuffer(d->queue, buffer, from, bytes, offset, bytes, 0, NULL, NULL));
        return SP_OK;
    }
    void *staged = bytes <= STAGED_MOST ? malloc(bytes) : NULL;
    if (!staged) {
        OCL_TRY(cl.clEnqueueWriteBuffer(d->queue, buffer, CL_TRUE, offset, bytes, from, 0, NULL, NULL));
        return SP_OK;
    }
    cl_event event = NULL;
    memcpy(staged, from, bytes);
    const cl_int code = cl.clEnqueueWriteBuffer(d->queue, buffer, CL_FALSE, offset, bytes, staged, 0, NULL, &event);
    if (code != CL_SUCCESS) {
        free(staged);
        return ocl_fail("clEnqueueWriteBuffer", code);
    }
    if (cl.clSetEventCallback(event, CL_COMPLETE, staged_done, staged) != CL_SUCCESS) {
        cl.clFinish(d->queue);
        free(staged);
        cl.clReleaseEvent(event);
    }
    OCL_TRY(cl.clFlush(d->queue));
    return SP_OK;
}

/* What kernels have found wrong since the last time. */
static sp_status faults(ocl_device *d)
{
    pthread_mutex_lock(&d->lock);
    const bool possible = d->fault_possible;
    d->fault_possible = false;
    pthread_mutex_unlock(&d->lock);
    if (!possible) return SP_OK;
    cl_int fault[4], none[4] = {0};
    OCL_TRY(cl.clEnqueueReadBuffer(d->queue, d->fault, CL_TRUE, 0, sizeof fault, fault, 0, NULL, NULL));
    if (!fault[0]) return SP_OK;
    OCL_TRY(cl.clEnqueueWriteBuffer(d->queue, d->fault, CL_TRUE, 0, sizeof none, none, 0, NULL, NULL));
    return ocl_failf(SP_INDEX, "%s: index %d is out of range for %d elements",
                     fault[0] == 1   ? "index"
                     : fault[0] == 2 ? "index_put"
                                     : "nll_terms",
                     (int)fault[1], (int)fault[2]);
}

sp_status ocl_copy_out(void *device, void *buffer, size_t offset, void *to, size_t bytes)
{
    ocl_device *d = device;
    OCL_TRY(cl.clEnqueueReadBuffer(d->queue, buffer, CL_TRUE, offset, bytes, to, 0, NULL, NULL));
    return faults(d);
}

sp_status ocl_copy(void *device, void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes)
{
    ocl_device *d = device;
    if (to == from && to_offset == from_offset) return SP_OK;
    OCL_TRY(cl.clEnqueueCopyBuffer(d->queue, from, to, from_offset, to_offset, bytes, 0, NULL, NULL));
    return SP_OK;
}

sp_status ocl_wait(void *device)
{
    ocl_device *d = device;
    OCL_TRY(cl.clFinish(d->queue));
    return faults(d);
}
