/* SPDX-License-Identifier: Apache-2.0 */
/* far.c - a device for tests: the CPU behind copies. Its memory can be touched while one of its kernels or copies runs and at no other time; work is done
 * by threads of its own, one a stream, in order, after delays of random length. So a forgotten copy or wait is a fault or a wrong number, not luck; two
 * streams that meet in a buffer which one of them writes are told.
 *
 *     SPORE_FAR_DELAY_US=n     the longest delay before a piece of work (default 50; 0: none)
 *     SPORE_FAR_COPY_US=n      how long a copy takes at least (default 0)
 *     SPORE_FAR_KERNEL_US=n    how long a kernel takes at least (default 0)
 *     SPORE_FAR_VERSION=1      the table of version 1: one queue, no events
 *     SPORE_FAR_BYTES=n        how much memory it has (default 1 GiB)
 *     SPORE_FAR_DECLINES=op    an operator it has no kernel for
 *     SPORE_FAR_FAILS=op       an operator whose kernel fails, when it runs
 *     SPORE_FAR_LOST=n         the device is lost at its n-th piece of work */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "spore/device.h"

enum { PAGE = 4096 };

typedef struct memory {
    char *start;
    size_t bytes;
    int readers, writers; /* at work now; with the device's lock */
} memory;

typedef enum { RUN, COPY, COPY_IN, COPY_OUT, FREE, RECORD, FOLLOW } what;

typedef struct event {
    uint64_t recorded, come; /* how often */
    double ms;               /* when it came last */
    bool closed;
    int waiting;      /* pieces of work that name it */
    sp_status failed; /* of its queue, when it came */
    char message[512];
} event;

typedef struct work {
    what what;
    sp_device_call call;         /* RUN: with copies of its operands */
    sp_device_operand *operands; /* buffers are memory * here */
    int64_t *sizes;
    memory *to, *from;
    size_t to_offset, from_offset, bytes;
    void *staged;  /* COPY_IN */
    void *wanted;  /* COPY_OUT */
    event *event;  /* RECORD, FOLLOW */
    uint64_t turn; /* of the event */
    struct work *next;
} work;

struct far;
typedef struct queue {
    struct far *device;
    work *first, **last;
    bool busy, closed;
    sp_status failed;
    char message[512];
    unsigned dice;
    struct queue *next;
} queue;

typedef struct far {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    queue first_queue;
    queue *queues; /* all that are open */
    uint64_t done;
    size_t used;
} far;

static const sp_device_host *engine;
static far devices[2];
static long delay_us, copy_us, kernel_us, lost_at;
static size_t limit;
static const char *declines, *fails;

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* Begin to use memory; false: another stream is at it, and one of the two writes. */
static bool touch(far *f, memory *m, bool writes)
{
    pthread_mutex_lock(&f->lock);
    const bool alone = m->writers == 0 && (!writes || m->readers == 0);
    if (m->readers + m->writers == 0) mprotect(m->start, m->bytes, PROT_READ | PROT_WRITE);
    if (writes) m->writers++;
    else m->readers++;
    pthread_mutex_unlock(&f->lock);
    return alone;
}

static void leave(far *f, memory *m, bool wrote)
{
    pthread_mutex_lock(&f->lock);
    if (wrote) m->writers--;
    else m->readers--;
    if (m->readers + m->writers == 0) mprotect(m->start, m->bytes, PROT_NONE);
    pthread_mutex_unlock(&f->lock);
}

static sp_status alloc_far(void *device, size_t bytes, void **buffer)
{
    far *f = device;
    memory *m = calloc(1, sizeof *m);
    if (!m) return SP_NOMEM;
    m->bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    pthread_mutex_lock(&f->lock);
    const bool fits = f->used + m->bytes <= limit;
    if (fits) f->used += m->bytes;
    pthread_mutex_unlock(&f->lock);
    m->start = fits ? mmap(NULL, m->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (m->start == MAP_FAILED) {
        free(m);
        return SP_NOMEM;
    }
    *buffer = m;
    return SP_OK;
}

/* --- the queue --------------------------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void pass_us(long us)
{
    if (us > 0) nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

static void put_off(queue *q)
{
    q->dice = q->dice * 1664525u + 1013904223u;
    if (delay_us) pass_us((long)(q->dice >> 8) % (delay_us + 1));
}

static sp_status meeting(void)
{
    return engine->fail(SP_RUNTIME, "two streams use a buffer at the same time, and one of them writes it");
}

static sp_status run_work(far *f, work *w)
{
    sp_device_operand *all = w->operands;
    const int n = w->call.n_in + w->call.n_out;
    bool alone = true;
    if (fails && strcmp(fails, w->call.op) == 0)
        return engine->fail(SP_RUNTIME, "the kernel has failed, as it was asked to");
    memory **kept = malloc((size_t)(n + 1) * sizeof *kept);
    bool *writes = malloc((size_t)(n + 1) * sizeof *writes);
    for (int i = n - 1; i >= 0;
         i--) { /* results first: one may be among the inputs, too, and several may be pieces of one buffer */
        writes[i] = i >= w->call.n_in;
        kept[i] = all[i].rank >= 0 ? all[i].buffer : NULL;
        for (int k = i + 1; k < n && kept[i]; k++)
            if (kept[k] == kept[i]) kept[i] = NULL;
        if (kept[i]) alone &= touch(f, kept[i], writes[i]);
    }
    for (int i = 0; i < n; i++)
        if (all[i].rank >= 0) all[i].buffer = ((memory *)all[i].buffer)->start;
    const double start = now_ms();
    const sp_status status = engine->run_on_cpu(&w->call);
    if (kernel_us) pass_us(kernel_us - (long)((now_ms() - start) * 1e3));
    for (int i = 0; i < n; i++)
        if (kept[i]) leave(f, kept[i], writes[i]);
    free(kept);
    free(writes);
    return status == SP_OK && !alone ? meeting() : status;
}

static sp_status copy_work(far *f, work *w)
{
    bool alone = true;
    const bool two = w->from && w->from != w->to;
    if (w->to) alone &= touch(f, w->to, true);
    if (w->from && (two || !w->to)) alone &= touch(f, w->from, false);
    char *to = w->what == COPY_OUT ? w->wanted : w->to->start + w->to_offset;
    memmove(to, w->what == COPY_IN ? (char *)w->staged : w->from->start + w->from_offset, w->bytes);
    if (w->what != COPY) pass_us(copy_us);
    if (w->to) leave(f, w->to, true);
    if (w->from && (two || !w->to)) leave(f, w->from, false);
    return alone ? SP_OK : meeting();
}

static void event_drop(event *e)
{
    if (e->closed && e->waiting == 0) free(e);
}

/* With the lock. */
static void event_work(far *f, queue *q, work *w)
{
    event *e = w->event;
    if (w->what == RECORD) {
        if (w->turn > e->come) e->come = w->turn;
        e->ms = now_ms();
        e->failed = q->failed;
        memcpy(e->message, q->message, sizeof e->message);
    } else {
        while (e->come < w->turn) pthread_cond_wait(&f->changed, &f->lock);
        if (e->failed != SP_OK && q->failed == SP_OK) { /* what comes behind a failure has failed */
            q->failed = e->failed;
            memcpy(q->message, e->message, sizeof q->message);
        }
    }
    e->waiting--;
    event_drop(e);
}

static sp_status do_work(far *f, work *w)
{
    if (w->what == RUN) return run_work(f, w);
    if (w->what != FREE) return copy_work(f, w);
    munmap(w->to->start, w->to->bytes);
    pthread_mutex_lock(&f->lock);
    f->used -= w->to->bytes;
    pthread_mutex_unlock(&f->lock);
    free(w->to);
    return SP_OK;
}

static void work_free(work *w)
{
    free(w->operands);
    free(w->sizes);
    free(w->staged);
    free(w);
}

static void *worker(void *mine)
{
    queue *q = mine;
    far *f = q->device;
    pthread_mutex_lock(&f->lock);
    for (;;) {
        while (!q->first && !q->closed) pthread_cond_wait(&f->changed, &f->lock);
        work *w = q->first;
        if (!w) break;
        q->first = w->next;
        if (!q->first) q->last = &q->first;
        q->busy = true;
        if (w->what == RECORD || w->what == FOLLOW) {
            event_work(f, q, w);
        } else {
            const bool lost = lost_at && (long)++f->done >= lost_at;
            pthread_mutex_unlock(&f->lock);
            put_off(q);
            const sp_status status =
                lost && w->what != FREE ? engine->fail(SP_RUNTIME, "the device is lost") : do_work(f, w);
            pthread_mutex_lock(&f->lock);
            if (status != SP_OK && q->failed == SP_OK) {
                q->failed = status;
                snprintf(q->message, sizeof q->message, "%s: %s", w->what == RUN ? w->call.op : "a copy",
                         engine->message());
            }
        }
        q->busy = false;
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->lock);
        work_free(w);
        pthread_mutex_lock(&f->lock);
    }
    for (queue **at = &f->queues; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    free(q);
    return NULL;
}

/* With the lock. */
static void append(queue *q, work *w)
{
    w->next = NULL;
    *q->last = w;
    q->last = &w->next;
    pthread_cond_broadcast(&q->device->changed);
}

static queue *queue_of(far *f, void *stream) { return stream ? stream : &f->first_queue; }

static void enqueue(far *f, void *stream, work *w)
{
    pthread_mutex_lock(&f->lock);
    append(queue_of(f, stream), w);
    pthread_mutex_unlock(&f->lock);
}

/* With the lock, which it gives back. */
static sp_status tell(far *f, sp_status *failed, const char *message)
{
    const sp_status status = *failed;
    char kept[512];
    memcpy(kept, message, sizeof kept);
    *failed = SP_OK;
    pthread_mutex_unlock(&f->lock);
    return status == SP_OK ? SP_OK : engine->fail(status, kept);
}

static sp_status stream_wait(void *device, void *stream)
{
    far *f = device;
    queue *q = queue_of(f, stream);
    pthread_mutex_lock(&f->lock);
    while (q->first || q->busy) pthread_cond_wait(&f->changed, &f->lock);
    return tell(f, &q->failed, q->message);
}

static bool idle(const far *f)
{
    for (const queue *q = f->queues; q; q = q->next)
        if (q->first || q->busy) return false;
    return true;
}

static sp_status wait_far(void *device)
{
    far *f = device;
    pthread_mutex_lock(&f->lock);
    while (!idle(f)) pthread_cond_wait(&f->changed, &f->lock);
    queue *failed = &f->first_queue;
    for (queue *q = f->queues; q; q = q->next)
        if (q->failed != SP_OK) failed = q;
    return tell(f, &failed->failed, failed->message);
}

/* --- what the engine asks ---------------------------------------------------------------------------------------- */

static int count(void) { return 2; }

static sp_status queue_start(far *f, queue *q)
{
    pthread_t thread;
    static unsigned seeds;
    q->device = f;
    q->last = &q->first;
    q->dice = ++seeds;
    pthread_mutex_lock(&f->lock);
    q->next = f->queues;
    f->queues = q;
    pthread_mutex_unlock(&f->lock);
    if (pthread_create(&thread, NULL, worker, q) != 0) return engine->fail(SP_RUNTIME, "no thread could be started");
    pthread_detach(thread);
    return SP_OK;
}

static sp_status open_far(int ordinal, void **device)
{
    far *f = &devices[ordinal];
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    *device = f;
    return queue_start(f, &f->first_queue);
}

static sp_status stream_open(void *device, void **stream)
{
    queue *q = calloc(1, sizeof *q);
    if (!q) return SP_NOMEM;
    *stream = q;
    return queue_start(device, q);
}

static void stream_close(void *device, void *stream)
{
    far *f = device;
    pthread_mutex_lock(&f->lock);
    ((queue *)stream)->closed = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static sp_status event_open(void *device, void **out)
{
    (void)device;
    return (*out = calloc(1, sizeof(event))) ? SP_OK : SP_NOMEM;
}

static void event_close(void *device, void *closed)
{
    far *f = device;
    event *e = closed;
    pthread_mutex_lock(&f->lock);
    e->closed = true;
    event_drop(e);
    pthread_mutex_unlock(&f->lock);
}

static sp_status event_enqueue(far *f, event *e, void *stream, what kind)
{
    work *w = calloc(1, sizeof *w);
    if (!w) return SP_NOMEM;
    pthread_mutex_lock(&f->lock);
    *w = (work){.what = kind, .event = e, .turn = kind == RECORD ? ++e->recorded : e->recorded};
    e->waiting++;
    append(queue_of(f, stream), w);
    pthread_mutex_unlock(&f->lock);
    return SP_OK;
}

static sp_status event_record(void *device, void *e, void *stream) { return event_enqueue(device, e, stream, RECORD); }

static sp_status event_follow(void *device, void *e, void *stream) { return event_enqueue(device, e, stream, FOLLOW); }

static sp_status event_wait(void *device, void *waited)
{
    far *f = device;
    event *e = waited;
    pthread_mutex_lock(&f->lock);
    const uint64_t turn = e->recorded;
    while (e->come < turn) pthread_cond_wait(&f->changed, &f->lock);
    return tell(f, &e->failed, e->message);
}

static sp_status event_query(void *device, void *asked, bool *done)
{
    far *f = device;
    const event *e = asked;
    pthread_mutex_lock(&f->lock);
    *done = e->come == e->recorded;
    pthread_mutex_unlock(&f->lock);
    return SP_OK;
}

static sp_status event_elapsed(void *device, void *from, void *to, double *ms)
{
    far *f = device;
    pthread_mutex_lock(&f->lock);
    *ms = ((event *)to)->ms - ((event *)from)->ms;
    pthread_mutex_unlock(&f->lock);
    return SP_OK;
}

static sp_status describe(void *device, sp_device_properties *out)
{
    (void)device;
    snprintf(out->title, sizeof out->title, "the CPU behind copies, for tests");
    out->memory_bytes = limit;
    out->units = engine->threads();
    out->dtypes = (1u << SP_DTYPE_COUNT) - 1;
    return SP_OK;
}

static void free_far(void *device, void *buffer)
{
    work *w = calloc(1, sizeof *w);
    if (!w) return;
    w->what = FREE;
    w->to = buffer;
    enqueue(device, NULL, w);
}

static sp_status stream_copy_in(void *device, void *stream, void *buffer, size_t offset, const void *from, size_t bytes)
{
    work *w = calloc(1, sizeof *w);
    if (!w || !(w->staged = malloc(bytes))) {
        free(w);
        return SP_NOMEM;
    }
    memcpy(w->staged, from, bytes);
    w->what = COPY_IN;
    w->to = buffer;
    w->to_offset = offset;
    w->bytes = bytes;
    enqueue(device, stream, w);
    return SP_OK;
}

static sp_status copy_in(void *device, void *buffer, size_t offset, const void *from, size_t bytes)
{
    return stream_copy_in(device, NULL, buffer, offset, from, bytes);
}

static sp_status stream_copy_out(void *device, void *stream, void *buffer, size_t offset, void *to, size_t bytes)
{
    work *w = calloc(1, sizeof *w);
    if (!w) return SP_NOMEM;
    *w = (work){.what = COPY_OUT, .from = buffer, .from_offset = offset, .wanted = to, .bytes = bytes};
    enqueue(device, stream, w);
    return stream_wait(device, stream);
}

static sp_status copy_out(void *device, void *buffer, size_t offset, void *to, size_t bytes)
{
    return stream_copy_out(device, NULL, buffer, offset, to, bytes);
}

static sp_status stream_copy(void *device, void *stream, void *to, size_t to_offset, void *from, size_t from_offset,
                             size_t bytes)
{
    work *w = calloc(1, sizeof *w);
    if (!w) return SP_NOMEM;
    *w = (work){
        .what = COPY, .to = to, .from = from, .to_offset = to_offset, .from_offset = from_offset, .bytes = bytes};
    enqueue(device, stream, w);
    return SP_OK;
}

static sp_status copy(void *device, void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes)
{
    return stream_copy(device, NULL, to, to_offset, from, from_offset, bytes);
}

static bool takes(void *device, const sp_device_call *c)
{
    (void)device;
    return !declines || strcmp(declines, c->op) != 0;
}

/* Attributes belong to the caller, and may point to lists: a call that has some is waited for. */
static sp_status run(void *device, const sp_device_call *c)
{
    const int n = c->n_in + c->n_out;
    work *w = calloc(1, sizeof *w);
    if (!w) return SP_NOMEM;
    w->what = RUN;
    w->call = *c;
    w->operands = calloc((size_t)n + 1, sizeof *w->operands);
    w->sizes = calloc((size_t)n + 1, 2 * SP_RANK_MAX * sizeof *w->sizes);
    if (!w->operands || !w->sizes) {
        work_free(w);
        return SP_NOMEM;
    }
    for (int i = 0; i < n; i++) {
        sp_device_operand *o = &w->operands[i];
        int64_t *dims = w->sizes + 2 * SP_RANK_MAX * i, *strides = dims + SP_RANK_MAX;
        *o = i < c->n_in ? c->in[i] : c->out[i - c->n_in];
        if (o->rank < 0) continue;
        memcpy(dims, o->dims, (size_t)o->rank * sizeof *dims);
        memcpy(strides, o->strides, (size_t)o->rank * sizeof *strides);
        o->dims = dims;
        o->strides = strides;
    }
    w->call.in = w->operands;
    w->call.out = w->operands + c->n_in;
    const bool later = c->n_attrs == 0;
    enqueue(device, c->stream, w);
    return later ? SP_OK : stream_wait(device, c->stream);
}

SP_API const sp_device_table *sp_device_plugin(const sp_device_host *host);
const sp_device_table *sp_device_plugin(const sp_device_host *host)
{
    static const sp_device_kernel kernels[] = {{.op = "*", .name = "far", .strided = true, .takes = takes, .run = run}};
    static sp_device_table table = {.struct_size = sizeof table,
                                    .version = SP_DEVICE_VERSION,
                                    .name = "far",
                                    .count = count,
                                    .open = open_far,
                                    .describe = describe,
                                    .alloc = alloc_far,
                                    .free = free_far,
                                    .copy_in = copy_in,
                                    .copy_out = copy_out,
                                    .copy = copy,
                                    .wait = wait_far,
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
                                    .event_query = event_query,
                                    .event_elapsed = event_elapsed};
    if (number_of("SPORE_FAR_VERSION", SP_DEVICE_VERSION) == 1) {
        table.version = 1;
        table.struct_size = offsetof(sp_device_table, costs);
    }
    engine = host;
    delay_us = number_of("SPORE_FAR_DELAY_US", 50);
    copy_us = number_of("SPORE_FAR_COPY_US", 0);
    kernel_us = number_of("SPORE_FAR_KERNEL_US", 0);
    lost_at = number_of("SPORE_FAR_LOST", 0);
    limit = (size_t)number_of("SPORE_FAR_BYTES", 1L << 30);
    declines = getenv("SPORE_FAR_DECLINES");
    fails = getenv("SPORE_FAR_FAILS");
    return &table;
}
