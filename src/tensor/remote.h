/* SPDX-License-Identifier: Apache-2.0 */
/* remote.h - tensors whose memory is a device's.
 *
 * The storage of such a tensor stands for a buffer of the device. Its `data` is the start of a range of addresses that nobody may touch, as long as the
 * buffer: views are made by arithmetic on addresses as everywhere, and the distance from the start is the offset in the buffer. Who forgets to ask where a
 * tensor lies gets a fault at once, not a wrong number.
 * src/device sets the hooks; whoever reads or writes memory of tensors goes through operators, or asks sp__tensor_need_value before. */
#ifndef SPORE_REMOTE_H
#define SPORE_REMOTE_H

#include "tensor/tensor_impl.h"

struct sp_device;

/* Somebody's last work with a buffer: device/streams.h. */
typedef struct sp_buffer_use {
    bool used;
    uint64_t queue;         /* 0: the device's first one */
    struct sp_event *event; /* behind that work; NULL: the queue as it is when somebody asks */
} sp_buffer_use;
enum { SP_BUFFER_READERS = 4 };

typedef struct sp_buffer {
    struct sp_device *device;
    void *handle; /* the device's own name for it */
    char *range;
    size_t bytes;                                     /* of the buffer and of the range */
    struct sp_buffer *next;                           /* kept for the next tensor of its size */
    sp_buffer_use writer, readers[SP_BUFFER_READERS]; /* since it was written */
} sp_buffer;

typedef struct sp_remote_hooks {
    void (*release)(sp_buffer *b);
    const char *(*name)(const struct sp_device *d);
    sp_status (*assign)(sp_tensor *dst, const sp_tensor *src); /* same shape; one of them at least is remote */
    sp_status (*fetch)(const sp_tensor *t, sp_tensor **out);   /* a row-major copy in main memory */
    /* A tensor of one value where results without inputs go on this thread; *t NULL: that is main memory. */
    sp_status (*full)(double value, sp_dtype dtype, int rank, const int64_t *dims, sp_tensor **t);
    sp_status (*create_like)(const sp_tensor *t, sp_tensor **out); /* row-major, on t's device, contents undefined */
} sp_remote_hooks;
extern const sp_remote_hooks *sp__remote; /* NULL until a device is opened */

void sp__buffer_release(void *buffer); /* of storages: tells what they are */

static inline sp_buffer *sp__storage_buffer(const sp_storage *s)
{
    return s != NULL && s->release == sp__buffer_release ? s->context : NULL;
}
static inline sp_buffer *sp__tensor_buffer(const sp_tensor *t)
{
    return t != NULL ? sp__storage_buffer(t->storage) : NULL;
}
static inline struct sp_device *sp__tensor_device(const sp_tensor *t)
{
    const sp_buffer *b = sp__tensor_buffer(t);
    return b ? b->device : NULL;
}
/* t itself, retained, or a copy of it in main memory. */
sp_status sp__tensor_here(sp_tensor *t, sp_tensor **out);

#endif
