/* SPDX-License-Identifier: Apache-2.0 */
/* streams.c - streams and events, and the order between streams that use the same buffers. */
#include "device/streams.h"

#include "base/clock.h"

/* Streams by number, so that what a thread has set takes a byte for each device: memory of threads is scarce where a library is opened late. */
enum { STREAMS_MAX = UINT8_MAX };
static sp_stream *_Atomic numbered[STREAMS_MAX + 1];          /* 0: none */
static _Thread_local uint8_t set_streams[SP_DEVICES_MAX + 1]; /* numbers of streams, by number of the device */

/* --- events ------------------------------------------------------------------------------------------------------- */

sp_status sp_event_create(sp_device *d, sp_event **out)
{
    if (d) SP_TRY(sp__device_usable(d));
    sp_event *e = sp__alloc_zero(sizeof *e);
    if (!e) return SP_NOMEM;
    atomic_init(&e->refs, 1);
    e->device = d;
    if (d && sp__device_has_streams(d)) {
        const sp_status status = d->table->event_open(d->state, &e->handle);
        if (status != SP_OK) {
            sp__free(e);
            return sp__device_told(d, status);
        }
    }
    *out = e;
    return SP_OK;
}

void sp_event_release(sp_event *e)
{
    if (!e || atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) != 1) return;
    if (e->handle && sp__device_usable(e->device) == SP_OK) e->device->table->event_close(e->device->state, e->handle);
    sp__free(e);
}

static sp_event *event_retain(sp_event *e)
{
    if (e) atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
    return e;
}

static sp_status check_stream(const sp_event *e, const sp_stream *s)
{
    SP_CHECK(!s || s->device == e->device, SP_VALUE, "an event of device %s cannot be in a stream of device %s",
             sp_device_name(e->device), sp_device_name(s->device));
    return e->device ? sp__device_usable(e->device) : SP_OK;
}

sp_status sp_event_record(sp_event *e, sp_stream *s)
{
    SP_CHECK(e, SP_VALUE, "the event is NULL");
    SP_TRY(check_stream(e, s));
    if (!s && e->device) s = sp__stream_now(e->device);
    if (e->handle)
        SP_TRY(sp__device_told(e->device,
                               e->device->table->event_record(e->device->state, e->handle, sp__stream_handle(s))));
    else if (e->device) SP_TRY(sp_device_wait(e->device));
    e->recorded = true;
    e->when_ms = (double)sp__clock_ns() * 1e-6;
    return SP_OK;
}

sp_status sp_event_follow(sp_event *e, sp_stream *s)
{
    SP_CHECK(e, SP_VALUE, "the event is NULL");
    SP_TRY(check_stream(e, s));
    if (!e->recorded || !e->handle) return SP_OK; /* never recorded, or in the one queue that there is */
    if (!s) s = sp__stream_now(e->device);
    return sp__device_told(e->device,
                           e->device->table->event_follow(e->device->state, e->handle, sp__stream_handle(s)));
}

sp_status sp_event_wait(sp_event *e)
{
    SP_CHECK(e, SP_VALUE, "the event is NULL");
    SP_TRY(check_stream(e, NULL));
    if (!e->recorded || !e->device) return SP_OK;
    if (!e->handle) return sp_device_wait(e->device);
    return sp__device_told(e->device, e->device->table->event_wait(e->device->state, e->handle));
}

sp_status sp_event_query(sp_event *e, bool *done)
{
    SP_CHECK(e, SP_VALUE, "the event is NULL");
    SP_TRY(check_stream(e, NULL));
    *done = true;
    if (!e->recorded || !e->handle) return SP_OK;
    return sp__device_told(e->device, e->device->table->event_query(e->device->state, e->handle, done));
}

sp_status sp_event_elapsed(sp_event *from, sp_event *to, double *ms)
{
    SP_CHECK(from && to && from->device == to->device, SP_VALUE, "the time between events needs two of one device");
    SP_CHECK(from->recorded && to->recorded, SP_RUNTIME, "the time between events that were not recorded");
    SP_TRY(check_stream(from, NULL));
    if (from->handle) {
        const sp_device *d = from->device;
        SP_CHECK(d->table->event_elapsed, SP_RUNTIME, "device %s does not tell the time between its events", d->name);
        return sp__device_told(d, d->table->event_elapsed(d->state, from->handle, to->handle, ms));
    }
    *ms = to->when_ms - from->when_ms;
    return SP_OK;
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

/* Work of the first queue is noted from now on; the stream comes behind all that was there before. */
static sp_status open_stream(sp_device *d, sp_stream *s)
{
    static atomic_ullong ids;
    void *event = NULL;
    s->id = atomic_fetch_add(&ids, 1) + 1;
    atomic_fetch_add(&d->n_streams, 1);
    sp_status status = d->table->stream_open(d->state, &s->handle);
    if (status == SP_OK) status = d->table->event_open(d->state, &event);
    if (status == SP_OK) status = d->table->event_record(d->state, event, NULL);
    if (status == SP_OK) status = d->table->event_follow(d->state, event, s->handle);
    if (event) d->table->event_close(d->state, event);
    return sp__device_told(d, status);
}

static bool take_number(sp_stream *s)
{
    for (int i = 1; i <= STREAMS_MAX; i++) {
        sp_stream *none = NULL;
        if (!atomic_compare_exchange_strong(&numbered[i], &none, s)) continue;
        s->number = (uint8_t)i;
        return true;
    }
    return false;
}

sp_status sp_stream_create(sp_device *d, sp_stream **out)
{
    if (d) SP_TRY(sp__device_usable(d));
    sp_stream *s = sp__alloc_zero(sizeof *s);
    if (!s) return SP_NOMEM;
    atomic_init(&s->refs, 1);
    s->device = d;
    if (!take_number(s)) {
        sp__free(s);
        return sp__fail(SP_VALUE, "%d streams are there, there is room for no more: release some", STREAMS_MAX);
    }
    sp_status status = d && sp__device_has_streams(d) ? open_stream(d, s) : SP_OK;
    if (status == SP_OK) *out = s;
    else sp_stream_release(s);
    return status;
}

void sp_stream_release(sp_stream *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
    /* n_streams stays: buffers go on knowing what was done in it. */
    if (s->handle && sp__device_usable(s->device) == SP_OK) s->device->table->stream_close(s->device->state, s->handle);
    atomic_store_explicit(&numbered[s->number], NULL, memory_order_release);
    sp__free(s);
}

sp_device *sp_stream_device(const sp_stream *s) { return s ? s->device : NULL; }

/* One that was released since is none. */
sp_stream *sp__stream_now(const sp_device *d)
{
    const uint8_t number = set_streams[d->number];
    sp_stream *s = number ? atomic_load_explicit(&numbered[number], memory_order_acquire) : NULL;
    return s && s->device == d ? s : NULL;
}

sp_stream *sp_stream_set(sp_device *d, sp_stream *s)
{
    if (!d) return NULL;
    sp_stream *before = sp__stream_now(d);
    set_streams[d->number] = s && s->device == d ? s->number : 0;
    return before;
}

sp_status sp_stream_wait(sp_stream *s)
{
    SP_CHECK(s, SP_VALUE, "the stream is NULL");
    sp_device *d = s->device;
    if (!d) return SP_OK;
    SP_TRY(sp__device_usable(d));
    if (!s->handle) return sp_device_wait(d);
    return sp__device_told(d, d->table->stream_wait(d->state, s->handle));
}

sp_status sp_stream_query(sp_stream *s, bool *done)
{
    SP_CHECK(s, SP_VALUE, "the stream is NULL");
    *done = true;
    if (!s->device) return SP_OK;
    if (!s->handle) return sp_device_wait(s->device);
    sp_event *e = NULL;
    SP_TRY(sp_event_create(s->device, &e));
    sp_status status = sp_event_record(e, s);
    if (status == SP_OK) status = sp_event_query(e, done);
    sp_event_release(e);
    return status;
}

/* --- who used a buffer -------------------------------------------------------------------------------------------- */

static void use_clear(sp_buffer_use *u)
{
    sp_event_release(u->event);
    *u = (sp_buffer_use){0};
}

/* Let the queue `to` wait for a use in another one. */
static sp_status follow(sp_device *d, const sp_buffer_use *u, const sp_stream *to)
{
    if (!u->used || u->queue == sp__stream_id(to)) return SP_OK;
    void *event = u->event ? u->event->handle : NULL;
    if (event) return d->table->event_follow(d->state, event, sp__stream_handle(to));
    SP_TRY(d->table->event_open(d->state, &event)); /* the first queue, as it is now */
    sp_status status = d->table->event_record(d->state, event, NULL);
    if (status == SP_OK) status = d->table->event_follow(d->state, event, sp__stream_handle(to));
    d->table->event_close(d->state, event);
    return status;
}

static sp_status meet(sp_device *d, const sp_buffer *b, bool writes, const sp_stream *to)
{
    SP_TRY(follow(d, &b->writer, to));
    for (int i = 0; writes && i < SP_BUFFER_READERS; i++) SP_TRY(follow(d, &b->readers[i], to));
    return SP_OK;
}

sp_status sp__work_begin(sp_device *d, int n, sp_buffer *const *buffers, int n_written)
{
    if (atomic_load_explicit(&d->n_streams, memory_order_acquire) == 0) return SP_OK;
    const sp_stream *to = sp__stream_now(d);
    sp_status status = SP_OK;
    sp__lock(&d->uses);
    for (int i = 0; i < n && status == SP_OK; i++)
        if (buffers[i]) status = meet(d, buffers[i], i >= n - n_written, to);
    sp__unlock(&d->uses);
    return sp__device_told(d, status);
}

/* The reader's place: its own from before, a free one, or the last, whose reader has to be done first. */
static sp_buffer_use *reader_place(sp_device *d, sp_buffer *b, const sp_stream *by)
{
    for (int i = 0; i < SP_BUFFER_READERS; i++)
        if (!b->readers[i].used || b->readers[i].queue == sp__stream_id(by)) return &b->readers[i];
    sp_buffer_use *last = &b->readers[SP_BUFFER_READERS - 1];
    if (last->event) (void)d->table->event_wait(d->state, last->event->handle);
    else (void)d->table->stream_wait(d->state, NULL);
    return last;
}

void sp__work_end(sp_device *d, int n, sp_buffer *const *buffers, int n_written)
{
    if (atomic_load_explicit(&d->n_streams, memory_order_acquire) == 0) return;
    sp_stream *by = sp__stream_now(d);
    sp_event *e = NULL;
    if (sp__stream_handle(by) && (sp_event_create(d, &e) != SP_OK || sp_event_record(e, by) != SP_OK)) {
        sp_event_release(e);
        e = NULL;
        (void)d->table->stream_wait(d->state, by->handle); /* without memory for an event: it is done then */
    }
    sp__lock(&d->uses);
    for (int i = 0; i < n; i++) {
        sp_buffer *b = buffers[i];
        if (!b) continue;
        const bool writes = i >= n - n_written;
        sp_buffer_use *u = writes ? &b->writer : reader_place(d, b, by);
        for (int k = 0; writes && k < SP_BUFFER_READERS; k++) use_clear(&b->readers[k]);
        use_clear(u);
        if (e || !sp__stream_handle(by))
            *u = (sp_buffer_use){.used = true, .queue = sp__stream_id(by), .event = event_retain(e)};
    }
    sp__unlock(&d->uses);
    sp_event_release(e);
}

void sp__buffer_rests(sp_buffer *b)
{
    sp_device *d = b->device;
    sp_event *e = NULL;
    if (atomic_load_explicit(&d->n_streams, memory_order_acquire) == 0 || sp__device_usable(d) != SP_OK) return;
    sp__lock(&d->uses);
    for (int i = -1; i < SP_BUFFER_READERS; i++) {
        sp_buffer_use *u = i < 0 ? &b->writer : &b->readers[i];
        if (!u->used || u->event) continue; /* without memory for an event it is waited for later, and longer */
        if (!e && (sp_event_create(d, &e) != SP_OK || d->table->event_record(d->state, e->handle, NULL) != SP_OK))
            break;
        u->event = event_retain(e);
    }
    sp__unlock(&d->uses);
    sp_event_release(e);
}

void sp__buffer_last_use(sp_buffer *b)
{
    sp_device *d = b->device;
    if (atomic_load_explicit(&d->n_streams, memory_order_acquire) == 0) return;
    sp__lock(&d->uses);
    if (sp__device_usable(d) == SP_OK) (void)meet(d, b, true, NULL);
    use_clear(&b->writer);
    for (int i = 0; i < SP_BUFFER_READERS; i++) use_clear(&b->readers[i]);
    sp__unlock(&d->uses);
}
