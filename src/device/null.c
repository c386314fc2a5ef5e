/* SPDX-License-Identifier: Apache-2.0 */
/* null.c - a device that computes nothing and has no memory: what is asked of it is checked and counted, results are undefined and read as zeros.
 * Networks larger than this machine can be run through on it, for their shapes, their order and their need of memory. */
#include "device/devices.h"

static const sp_device_host *engine;

typedef struct null_buffer {
    uint64_t mark;
    size_t bytes;
} null_buffer;

enum { ALIVE = 0x6e756c6c };

static int count(void) { return 1; }

static sp_status open_null(int ordinal, void **device)
{
    static int state;
    (void)ordinal;
    *device = &state;
    return SP_OK;
}

static sp_status describe(void *device, sp_device_properties *out)
{
    (void)device;
    memcpy(out->title, "computes nothing", sizeof "computes nothing");
    out->dtypes = (1u << SP_DTYPE_COUNT) - 1;
    return SP_OK;
}

static sp_status alloc_null(void *device, size_t bytes, void **buffer)
{
    (void)device;
    null_buffer *b = sp__alloc(sizeof *b);
    if (!b) return SP_NOMEM;
    *b = (null_buffer){ALIVE, bytes};
    *buffer = b;
    return SP_OK;
}

static void free_null(void *device, void *buffer)
{
    (void)device;
    ((null_buffer *)buffer)->mark = 0;
    sp__free(buffer);
}

static sp_status inside(const void *buffer, size_t offset, size_t bytes)
{
    const null_buffer *b = buffer;
    if (!b || b->mark != ALIVE) return engine->fail(SP_RUNTIME, "a buffer is used that was given back");
    if (offset > b->bytes || bytes > b->bytes - offset)
        return engine->fail(SP_RUNTIME, "a copy reaches beyond its buffer");
    return SP_OK;
}

static sp_status copy_in(void *device, void *buffer, size_t offset, const void *from, size_t bytes)
{
    (void)device;
    (void)from;
    return inside(buffer, offset, bytes);
}

static sp_status copy_out(void *device, void *buffer, size_t offset, void *to, size_t bytes)
{
    (void)device;
    SP_TRY(inside(buffer, offset, bytes));
    memset(to, 0, bytes);
    return SP_OK;
}

static sp_status copy(void *device, void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes)
{
    (void)device;
    SP_TRY(inside(to, to_offset, bytes));
    return inside(from, from_offset, bytes);
}

static sp_status wait_null(void *device)
{
    (void)device;
    return SP_OK;
}

/* From the first to the last byte that an operand touches. */
static sp_status check(const sp_device_operand *o)
{
    if (o->rank < 0) return SP_OK;
    int64_t low = 0, high = 0;
    for (int i = 0; i < o->rank; i++) {
        if (o->dims[i] == 0) return SP_OK;
        const int64_t reach = (o->dims[i] - 1) * o->strides[i];
        if (reach < 0) low += reach;
        else high += reach;
    }
    const int64_t size = (int64_t)sp_dtype_bytes(o->dtype), first = (int64_t)o->offset + low * size;
    if (first < 0) return engine->fail(SP_RUNTIME, "an operand begins before its buffer");
    return inside(o->buffer, (size_t)first, (size_t)((high - low + 1) * size));
}

static sp_status run(void *device, const sp_device_call *c)
{
    (void)device;
    for (int i = 0; i < c->n_in; i++) SP_TRY(check(&c->in[i]));
    for (int i = 0; i < c->n_out; i++) SP_TRY(check(&c->out[i]));
    return SP_OK;
}

const sp_device_table *sp__null_device(const sp_device_host *host)
{
    static const sp_device_kernel kernels[] = {{.op = "*", .name = "nothing", .strided = true, .run = run}};
    static const sp_device_table table = {.struct_size = sizeof table,
                                          .version = SP_DEVICE_VERSION,
                                          .name = "null",
                                          .count = count,
                                          .open = open_null,
                                          .describe = describe,
                                          .alloc = alloc_null,
                                          .free = free_null,
                                          .copy_in = copy_in,
                                          .copy_out = copy_out,
                                          .copy = copy,
                                          .wait = wait_null,
                                          .n_kernels = 1,
                                          .kernels = kernels};
    engine = host;
    return &table;
}
