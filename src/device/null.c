/* SPDX-License-Identifier: Apache-2.0 */
/* null.c - a device that computes nothing and has no memory: what is asked of it is checked and counted, results are undefined and read as zeros.
 * Networks larger than this machine can be run through on it, for their shapes, their order and their need of memory.
 *
 * The order of streams is checked by vector clocks: a stream counts its pieces of work, and knows how far it is behind each other one; an event carries
 * what its stream knew. A piece of work must know of the last that wrote its buffers, and, if it writes, of all that have read them since. */
#include "base/plain.h"
#include "device/devices.h"

enum { ALIVE = 0x6e756c6c, STREAMS = 16 };

static const sp_device_host *engine;
static sp_lock lock = SP_LOCK_INIT;

typedef struct null_stream {
    int number; /* 0: the first queue */
    bool open;
    uint64_t knows[STREAMS]; /* pieces of work of each stream that are done before the next one here */
} null_stream;

static null_stream streams[STREAMS] = {{.open = true}};

typedef struct null_event {
    uint64_t knows[STREAMS];
} null_event;

typedef struct null_buffer {
    uint64_t mark;
    size_t bytes;
    int writer;
    uint64_t written, read[STREAMS]; /* the writer's piece of work, and the last of each stream that read it since */
} null_buffer;

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
    *b = (null_buffer){.mark = ALIVE, .bytes = bytes};
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

/* --- the order of streams ----------------------------------------------------------------------------------------- */

static null_stream *stream_of(void *stream) { return stream ? stream : &streams[0]; }

static void begin(null_stream *s)
{
    sp__lock(&lock);
    s->knows[s->number]++;
}

/* Of a piece of work that has begun; with the lock. */
static sp_status ordered(const null_stream *s, null_buffer *b, bool writes)
{
    char text[160];
    int other = b->written > s->knows[b->writer] ? b->writer : -1;
    for (int i = 0; i < STREAMS && writes && other < 0; i++)
        if (b->read[i] > s->knows[i]) other = i;
    if (other >= 0) {
        sp__snprintf(text, sizeof text, "stream %d %s a buffer that stream %d %s, and no event is between them",
                     s->number, writes ? "writes" : "reads", other,
                     other == b->writer && b->written > s->knows[other] ? "writes" : "reads");
        return engine->fail(SP_RUNTIME, text);
    }
    if (writes) {
        memset(b->read, 0, sizeof b->read);
        b->writer = s->number;
        b->written = s->knows[s->number];
    } else {
        b->read[s->number] = s->knows[s->number];
    }
    return SP_OK;
}

static void learn(uint64_t *to, const uint64_t *from)
{
    for (int i = 0; i < STREAMS; i++)
        if (from[i] > to[i]) to[i] = from[i];
}

static sp_status stream_open(void *device, void **out)
{
    (void)device;
    int i = 1;
    sp__lock(&lock);
    while (i < STREAMS && streams[i].open) i++;
    if (i < STREAMS) {
        streams[i].open = true;
        streams[i].number = i; /* its clock goes on where another one of this number stopped */
        *out = &streams[i];
    }
    sp__unlock(&lock);
    return i < STREAMS ? SP_OK : engine->fail(SP_RUNTIME, "16 streams are open already");
}

static void stream_close(void *device, void *stream)
{
    (void)device;
    sp__lock(&lock);
    stream_of(stream)->open = false;
    sp__unlock(&lock);
}

static sp_status stream_wait(void *device, void *stream)
{
    (void)device;
    (void)stream;
    return SP_OK; /* whoever waited knows, but does not work: streams learn by events */
}

static sp_status event_open(void *device, void **out)
{
    (void)device;
    return (*out = sp__alloc_zero(sizeof(null_event))) ? SP_OK : SP_NOMEM;
}

static void event_close(void *device, void *event)
{
    (void)device;
    sp__free(event);
}

static sp_status event_record(void *device, void *event, void *stream)
{
    (void)device;
    null_event *e = event;
    sp__lock(&lock);
    memcpy(e->knows, stream_of(stream)->knows, sizeof e->knows);
    sp__unlock(&lock);
    return SP_OK;
}

static sp_status event_follow(void *device, void *event, void *stream)
{
    (void)device;
    sp__lock(&lock);
    learn(stream_of(stream)->knows, ((null_event *)event)->knows);
    sp__unlock(&lock);
    return SP_OK;
}

static sp_status event_wait(void *device, void *event)
{
    (void)device;
    (void)event;
    return SP_OK;
}

static sp_status event_query(void *device, void *event, bool *done)
{
    (void)device;
    (void)event;
    *done = true;
    return SP_OK;
}

/* --- work --------------------------------------------------------------------------------------------------------- */

static sp_status touch(void *stream, void *buffer, size_t offset, size_t bytes, bool writes)
{
    SP_TRY(inside(buffer, offset, bytes));
    null_stream *s = stream_of(stream);
    begin(s);
    const sp_status status = ordered(s, buffer, writes);
    sp__unlock(&lock);
    return status;
}

static sp_status stream_copy_in(void *device, void *stream, void *buffer, size_t offset, const void *from, size_t bytes)
{
    (void)device;
    (void)from;
    return touch(stream, buffer, offset, bytes, true);
}

static sp_status stream_copy_out(void *device, void *stream, void *buffer, size_t offset, void *to, size_t bytes)
{
    (void)device;
    SP_TRY(touch(stream, buffer, offset, bytes, false));
    memset(to, 0, bytes);
    return SP_OK;
}

static sp_status stream_copy(void *device, void *stream, void *to, size_t to_offset, void *from, size_t from_offset,
                             size_t bytes)
{
    (void)device;
    SP_TRY(touch(stream, from, from_offset, bytes, false));
    return touch(stream, to, to_offset, bytes, true);
}

static sp_status copy_in(void *device, void *buffer, size_t offset, const void *from, size_t bytes)
{
    return stream_copy_in(device, NULL, buffer, offset, from, bytes);
}

static sp_status copy_out(void *device, void *buffer, size_t offset, void *to, size_t bytes)
{
    return stream_copy_out(device, NULL, buffer, offset, to, bytes);
}

static sp_status copy(void *device, void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes)
{
    return stream_copy(device, NULL, to, to_offset, from, from_offset, bytes);
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
    null_stream *s = stream_of(c->stream);
    sp_status status = SP_OK;
    begin(s);
    for (int i = 0; i < c->n_in && status == SP_OK; i++)
        if (c->in[i].rank >= 0) status = ordered(s, c->in[i].buffer, false);
    for (int i = 0; i < c->n_out && status == SP_OK; i++) status = ordered(s, c->out[i].buffer, true);
    sp__unlock(&lock);
    return status;
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
                                          .kernels = kernels,
                                          .stream_open = stream_open,
                                          .stream_close = stream_close,
                                          .stream_copy_in = stream_copy_in,
                                          .stream_copy_out = stream_copy_out,
                                          .stream_copy = stream_copy,
                                          .stream_wait = stream_wait,
                                          .event_open = event_open,
                                          .event_close = event_close,
                                          .event_record = event_record,
                                          .event_follow = event_follow,
                                          .event_wait = event_wait,
                                          .event_query = event_query};
    engine = host;
    return &table;
}
