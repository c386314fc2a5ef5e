/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - devices: where tensors lie, and who computes with them.
 *
 * The CPU is always there and is written NULL. Others come from shared libraries: a table of functions with a version, handed over by the one
 * function they export, sp_device_plugin. They need this header and nothing of libspore at link time; examples/device has a small one, and
 * docs/inside/adding-a-device.md walks through it.
 *
 *     name.so in the folder spore/devices         beside the library: opened when a device of that name is asked for
 *     SPORE_DEVICES=/path/one.so:/path/two.so     opened when devices are first asked for
 *     sp_device_load(path)                        opened now
 *     SPORE_DEVICE=name[:ordinal]                 where new tensors of Python programs go
 *
 * An operator runs where its inputs are. Inputs on several devices are brought to one by copies, which gradients pass through backwards. What a device
 * has no kernel for is computed on the CPU between copies, and counted: sp_device_declined tells what, how often and how many bytes. */
#ifndef SPORE_DEVICE_H
#define SPORE_DEVICE_H

#include <string.h>

#include "spore/op.h"
#include "spore/status.h"
#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- for programs ------------------------------------------------------------------------------------------------ */

/* An open device. NULL stands for the CPU. Devices stay open as long as the process; a child of fork may not use those of its parent. */
typedef struct sp_device sp_device;

/* Open a library of devices; one that is open already is not opened again. */
SP_API sp_status sp_device_load(const char *path);
/* "far", "far:1" for the second of its kind, "cpu" for NULL. Opened once, then the same one. */
SP_API sp_status sp_device_open(const char *name, sp_device **out);
/* Names of all kinds, as "cpu, null, far"; number of them. */
SP_API int sp_device_names(char *text, size_t bytes);
SP_API const char *sp_device_name(const sp_device *d); /* "cpu", "far", "far:1" */
/* Until all that was asked of it is done; the first failure of it that was not told yet. */
SP_API sp_status sp_device_wait(sp_device *d);

typedef struct sp_device_properties {
    size_t struct_size;
    char title[128];       /* what it calls itself */
    uint64_t memory_bytes; /* 0: unknown */
    int units;             /* that compute side by side; 0: unknown */
    uint32_t dtypes;       /* bit sp_dtype: some kernel takes it */
} sp_device_properties;
SP_API sp_status sp_device_describe(sp_device *d, sp_device_properties *out);

typedef struct sp_device_statistics {
    size_t struct_size;
    uint64_t used_bytes, peak_bytes, kept_bytes; /* in tensors now and at most; kept for the next ones */
    uint64_t kernels;                            /* calls the device did itself */
    uint64_t declined;                           /* calls the CPU did in its place */
    uint64_t copies_in, bytes_in, copies_out, bytes_out;
} sp_device_statistics;
SP_API void sp_device_count(sp_device *d, sp_device_statistics *out);

/* The peak starts again from now. */
SP_API void sp_device_reset_peak(sp_device *d);

/* What it declined, an entry an operator, the one with the most bytes first. Number of all; at most `most` are written. */
typedef struct sp_device_declines {
    const char *op;
    uint64_t calls, bytes;
} sp_device_declines;
SP_API int sp_device_declined(sp_device *d, sp_device_declines *out, int most);
/* Give memory that is kept for later tensors back. */
SP_API void sp_device_trim(sp_device *d);

/* Where a tensor lies; NULL: main memory. */
SP_API sp_device *sp_tensor_device(const sp_tensor *t);
/* The same contents on another device; t itself, retained, if it lies there already. Recorded for gradients, which come back to where t is. */
SP_API sp_status sp_tensor_to(sp_tensor *t, sp_device *d, sp_tensor **out);

/* --- streams ---
 *
 * A device does what it is asked in the order in which it is asked, in its first queue. A stream is another queue beside it. A thread's calls go to the
 * stream that it has set for the device; what one stream makes and another uses is waited for by the one that uses it, without anybody asking: buffers know
 * who used them last. Events are for programs that want to know when. Where a device has one queue only, a stream is another name for it. */
typedef struct sp_stream sp_stream;
typedef struct sp_event sp_event;

SP_API sp_status sp_stream_create(sp_device *d, sp_stream **out); /* NULL: the CPU, whose streams have nothing to do */
SP_API void sp_stream_release(sp_stream *s);                      /* what is under way goes on */
SP_API sp_device *sp_stream_device(const sp_stream *s);
/* This thread's calls on the stream's device go there from now on; returns the one before, NULL for the first queue. `d` says whose, for s may be NULL. */
SP_API sp_stream *sp_stream_set(sp_device *d, sp_stream *s);
/* Until all of it is done; its first failure that was not told yet. */
SP_API sp_status sp_stream_wait(sp_stream *s);
/* Is all of it done? */
SP_API sp_status sp_stream_query(sp_stream *s, bool *done);

SP_API sp_status sp_event_create(sp_device *d, sp_event **out);
SP_API void sp_event_release(sp_event *e);
/* Now, in stream s of the event's device; NULL: in the one that this thread has set. */
SP_API sp_status sp_event_record(sp_event *e, sp_stream *s);
/* What stream s is asked from now on comes behind the event; NULL as above. */
SP_API sp_status sp_event_follow(sp_event *e, sp_stream *s);
SP_API sp_status sp_event_wait(sp_event *e);
SP_API sp_status sp_event_query(sp_event *e, bool *done);
/* Milliseconds between two events that have come. */
SP_API sp_status sp_event_elapsed(sp_event *from, sp_event *to, double *ms);

/* Where operators without inputs put their results, and bindings new tensors; NULL at first, unless SPORE_DEVICE says otherwise. */
SP_API sp_device *sp_device_default(void);
SP_API void sp_device_set_default(sp_device *d);

/* --- for makers of devices --------------------------------------------------------------------------------------- */

/* Of what follows. Structs grow at their end, struct_size tells how far. Devices of version 1 are opened, too: they know nothing of streams and costs, and have
 * one queue. Later ones than this are not opened. */
#define SP_DEVICE_VERSION 2

/* A tensor: element (i, j, ...) is at byte offset + (i * strides[0] + j * strides[1] + ...) * size of its dtype in its buffer. Several tensors may be pieces of
 * one buffer: those of a program are. A result shares bytes with an input only where that is written in place. */
typedef struct sp_device_operand {
    sp_dtype dtype;
    int rank; /* -1: an optional input that is left out */
    const int64_t *dims;
    const int64_t *strides; /* in elements; row-major unless the kernel is `strided`. Results are always row-major */
    void *buffer;           /* what `alloc` gave; NULL while only geometry is asked about */
    size_t offset;
} sp_device_operand;

typedef struct sp_device_call {
    size_t struct_size;
    const char *op;
    int n_attrs;
    const sp_attr *attr_table; /* names, types and offsets of the attributes */
    const void *attrs;
    int n_in, n_out;
    const sp_device_operand *in, *out; /* an input that is written in place is an operand of out, too */
    void *stream;                      /* version 2: what `stream_open` gave; NULL: the first queue */
} sp_device_call;

/* Where an attribute is: an int64_t, double, bool, sp_dtype, sp_ints, ... as attr_table says; NULL: there is none of that name. */
static inline const void *sp_device_attr(const sp_device_call *c, const char *name)
{
    for (int i = 0; i < c->n_attrs; i++)
        if (strcmp(c->attr_table[i].name, name) == 0) return (const char *)c->attrs + c->attr_table[i].offset;
    return NULL;
}

/* The first kernel of the list that takes a call does the work. `takes` looks at geometry only. `run` may return before the work is done: the device
 * does what it is asked in the order in which it was asked, and `copy_out` and `wait` come back when all before them is done. Operands of the call live
 * until `run` returns, buffers until they are freed; `free` of a buffer that is still in use by work under way is the device's to put off. */
typedef struct sp_device_kernel {
    const char *op;   /* "*": any operator, where every shape of the results is known before */
    const char *name; /* for people */
    bool strided;     /* takes inputs that are not row-major */
    bool (*takes)(void *device, const sp_device_call *c); /* NULL: every call */
    sp_status (*run)(void *device,
                     const sp_device_call *c); /* SP_DECLINED: nothing was written, the next one shall do it */
} sp_device_kernel;

/* What programs in graph mode reckon with when they decide where a node runs, beside a device that declines some. */
typedef struct sp_device_costs {
    size_t struct_size;
    double copy_us;       /* of a copy between main memory and the device, however small */
    double copy_gb_per_s; /* and of what it moves */
} sp_device_costs;

/* What the engine offers. */
typedef struct sp_device_host {
    size_t struct_size;
    int (*threads)(void);
    /* fn(context, begin, end) for parts of [0, n), on several threads. */
    sp_status (*parallel_for)(int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end),
                              void *context);
    /* Sets the message and returns the status, for `return host->fail(SP_RUNTIME, "...")`. */
    sp_status (*fail)(sp_status status, const char *message);
    const char *(*message)(void); /* of the calling thread's last failure */
    /* The CPU's own kernel for a call whose buffers are addresses of main memory: for devices that share it, and for tests. */
    sp_status (*run_on_cpu)(const sp_device_call *c);
} sp_device_host;

typedef struct sp_device_table {
    size_t struct_size;
    int version;        /* SP_DEVICE_VERSION when it was compiled */
    const char *name;   /* lower case letters, digits, '_' */
    int (*count)(void); /* how many there are on this machine */
    sp_status (*open)(int ordinal, void **device);
    sp_status (*describe)(void *device, sp_device_properties *out);
    /* SP_NOMEM: the engine gives back what it keeps, and asks again. */
    sp_status (*alloc)(void *device, size_t bytes, void **buffer);
    void (*free)(void *device, void *buffer);
    /* copy_in may return before the copy is done, but not before `from` has been read. */
    sp_status (*copy_in)(void *device, void *buffer, size_t offset, const void *from, size_t bytes);
    sp_status (*copy_out)(void *device, void *buffer, size_t offset, void *to, size_t bytes);
    sp_status (*copy)(void *device, void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes);
    sp_status (*wait)(void *device);
    int n_kernels;
    const sp_device_kernel *kernels; /* best first; lives as long as the process */

    /* Version 2. Any of it may be NULL. */
    void (*costs)(void *device, sp_device_costs *out);

    /* Streams and events: all of the following up to event_query, or none. Streams are NULL where the first queue is meant, and are used by any thread.
     *
     *   - Work of one stream is done in order; work of two in any order, unless an event is between them.
     *   - The functions above without a stream are about the first queue, but for `wait`, which is about all of them.
     *   - A failure of work is told once, with the operator's name, by the next of stream_wait, event_wait or copy_out of its stream, or by `wait`. */
    sp_status (*stream_open)(void *device, void **stream);
    void (*stream_close)(void *device, void *stream); /* what is under way goes on; does not wait */
    sp_status (*stream_copy_in)(void *device, void *stream, void *buffer, size_t offset, const void *from,
                                size_t bytes); /* comes back when `from` has been read */
    sp_status (*stream_copy_out)(void *device, void *stream, void *buffer, size_t offset, void *to,
                                 size_t bytes); /* comes back when it is done */
    sp_status (*stream_copy)(void *device, void *stream, void *to, size_t to_offset, void *from, size_t from_offset,
                             size_t bytes);
    sp_status (*stream_wait)(void *device, void *stream);
    sp_status (*event_open)(void *device, void **event);
    void (*event_close)(void *device, void *event); /* also of one that has not come yet */
    /* All that the stream was asked before; an event that was recorded earlier means the new moment. */
    sp_status (*event_record)(void *device, void *event, void *stream);
    sp_status (*event_follow)(void *device, void *event,
                              void *stream);            /* the stream waits; nothing if never recorded */
    sp_status (*event_wait)(void *device, void *event); /* the caller waits */
    sp_status (*event_query)(void *device, void *event, bool *done);
    /* Optional: milliseconds between two that have come. */
    sp_status (*event_elapsed)(void *device, void *from, void *to, double *ms);
} sp_device_table;

/* Exported by the library as sp_device_plugin. host lives as long as the process. NULL: it cannot work on this machine (host->fail says why). */
typedef const sp_device_table *sp_device_plugin_fn(const sp_device_host *host);

#ifdef __cplusplus
}
#endif
#endif
