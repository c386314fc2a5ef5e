/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h - queues of a device beside its first one, and who used a buffer last.
 *
 * Every piece of work is put between sp__work_begin and sp__work_end with the buffers it touches. As long as no stream of the device was made, both do
 * nothing. Then a buffer remembers who wrote it last and who has read it since; work of another stream waits for the event behind that:
 *
 *   - a reader waits for the writer, a writer for the writer and the readers;
 *   - work of a stream is followed by an event of its own, which its buffers share; the first queue, which has most of the work, is waited for as it is when
 *     somebody asks, or as it was when the buffer's tensor was released: its next one, in another stream, need not wait for what was asked since. */
#ifndef SPORE_STREAMS_H
#define SPORE_STREAMS_H

#include "device/devices.h"

struct sp_stream {
    atomic_int refs;
    sp_device *device; /* NULL: the CPU */
    void *handle;      /* NULL: the device has one queue */
    uint64_t id;       /* never used again; the first queue is 0 */
    uint8_t number;    /* among those that are there now, from 1 on */
};

struct sp_event {
    atomic_int refs;
    sp_device *device;
    void *handle; /* NULL: the device has no events: it is waited for as a whole */
    bool recorded;
    double when_ms; /* without a handle */
};

static inline bool sp__device_has_streams(const sp_device *d) { return d->table->stream_open != NULL; }

/* This thread's; NULL: the first queue. */
sp_stream *sp__stream_now(const sp_device *d);
static inline void *sp__stream_handle(const sp_stream *s) { return s ? s->handle : NULL; }
static inline uint64_t sp__stream_id(const sp_stream *s) { return s && s->handle ? s->id : 0; }

/* Let this thread's stream wait for whoever uses the buffers. Written ones come last. */
sp_status sp__work_begin(sp_device *d, int n, sp_buffer *const *buffers, int n_written);
void sp__work_end(sp_device *d, int n, sp_buffer *const *buffers, int n_written);
/* Its tensor is released, and it is kept for the next one. */
void sp__buffer_rests(sp_buffer *b);
/* Before the device frees it: the first queue waits for all who use it. */
void sp__buffer_last_use(sp_buffer *b);

#endif
