/* SPDX-License-Identifier: Apache-2.0 */
/* far.c - a device for tests: the CPU behind copies. Its memory can be touched while one of its kernels or copies runs and at no other time; work is done
 * by a thread of its own, in order, after delays of random length. So a forgotten copy or wait is a fault or a wrong number, not luck.
 *
 *     SPORE_FAR_DELAY_US=n     the longest delay before a piece of work (default 50; 0: none)
 *     SPORE_FAR_BYTES=n        how much memory it has (default 1 GiB)
 *     SPORE_FAR_DECLINES=op    an operator it has no kernel for
 *     SPORE_FAR_FAILS=op       an operator whose kernel fails, when it runs
 *     SPORE_FAR_LOST=n         the device is lost at its n-th piece of work */
#define _GNU_SOURCE
#include <pthread.h>
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
} memory;

typedef enum { RUN, COPY, COPY_IN, COPY_OUT, FREE } what;

typedef struct work {
    what what;
    sp_device_call call;         /* RUN: with copies of its operands */
    sp_device_operand *operands; /* buffers are memory * here */
    int64_t *sizes;
    memory *to, *from;
    size_t to_offset, from_offset, bytes;
    void *staged; /* COPY_IN */
    void *wanted; /* COPY_OUT */
    struct work *next;
} work;

typedef struct far {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    work *first, **last;
    bool busy;
    uint64_t done;
    size_t used;
    sp_status failed;
    char message[512];
    unsigned dice;
} far;

static const sp_device_host *engine;
static far devices[2];
static long delay_us, lost_at;
static size_t limit;
static const char *declines, *fails;

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static void touch(memory *m, bool may) { mprotect(m->start, m->bytes, may ? PROT_READ | PROT_WRITE : PROT_NONE); }

static sp_status alloc_far(void *device, size_t bytes, void **buffer)
{
    far *f = device;
    memory *m = malloc(sizeof *m);
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

static void put_off(far *f)
{
    f->dice = f->dice * 1664525u + 1013904223u;
    const long us = delay_us ? (long)(f->dice >> 8) % (delay_us + 1) : 0;
    if (us) nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

static sp_status run_work(work *w)
{
    sp_device_operand *all = w->operands;
    const int n = w->call.n_in + w->call.n_out;
    if (fails && strcmp(fails, w->call.op) == 0)
        return engine->fail(SP_RUNTIME, "the kernel has failed, as it was asked to");
    for (int i = 0; i < n; i++)
        if (all[i].rank >= 0) touch(all[i].buffer, true);
    memory **kept = malloc((size_t)(n + 1) * sizeof *kept);
    for (int i = 0; i < n; i++) {
        kept[i] = all[i].buffer;
        if (all[i].rank >= 0) all[i].buffer = kept[i]->start;
    }
    const sp_status status = engine->run_on_cpu(&w->call);
    for (int i = 0; i < n; i++)
        if (all[i].rank >= 0) touch(kept[i], false);
    free(kept);
    return status;
}

static sp_status do_work(far *f, work *w)
{
    if (w->what == RUN) return run_work(w);
    if (w->what == FREE) {
        munmap(w->to->start, w->to->bytes);
        pthread_mutex_lock(&f->lock);
        f->used -= w->to->bytes;
        pthread_mutex_unlock(&f->lock);
        free(w->to);
        return SP_OK;
    }
    if (w->what == COPY_OUT) {
        touch(w->from, true);
        memcpy(w->wanted, w->from->start + w->from_offset, w->bytes);
        touch(w->from, false);
        return SP_OK;
    }
    touch(w->to, true);
    if (w->from && w->from != w->to) touch(w->from, true);
    memmove(w->to->start + w->to_offset, w->what == COPY ? w->from->start + w->from_offset : (char *)w->staged,
            w->bytes);
    touch(w->to, false);
    if (w->from) touch(w->from, false);
    return SP_OK;
}

static void work_free(work *w)
{
    free(w->operands);
    free(w->sizes);
    free(w->staged);
    free(w);
}

static void *worker(void *device)
{
    far *f = device;
    for (;;) {
        pthread_mutex_lock(&f->lock);
        while (!f->first) pthread_cond_wait(&f->changed, &f->lock);
        work *w = f->first;
        f->first = w->next;
        if (!f->first) f->last = &f->first;
        f->busy = true;
        const bool lost = lost_at && (long)++f->done >= lost_at;
        pthread_mutex_unlock(&f->lock);
        put_off(f);
        const sp_status status =
            lost && w->what != FREE ? engine->fail(SP_RUNTIME, "the device is lost") : do_work(f, w);
        pthread_mutex_lock(&f->lock);
        if (status != SP_OK && f->failed == SP_OK) {
            f->failed = status;
            snprintf(f->message, sizeof f->message, "%s: %s", w->what == RUN ? w->call.op : "a copy",
                     engine->message());
        }
        f->busy = false;
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->lock);
        work_free(w);
    }
    return NULL;
}

static void enqueue(far *f, work *w)
{
    pthread_mutex_lock(&f->lock);
    w->next = NULL;
    *f->last = w;
    f->last = &w->next;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static sp_status wait_far(void *device)
{
    far *f = device;
    pthread_mutex_lock(&f->lock);
    while (f->first || f->busy) pthread_cond_wait(&f->changed, &f->lock);
    const sp_status status = f->failed;
    char message[sizeof f->message];
    memcpy(message, f->message, sizeof message);
    f->failed = SP_OK;
    pthread_mutex_unlock(&f->lock);
    return status == SP_OK ? SP_OK : engine->fail(status, message);
}

/* --- what the engine asks ---------------------------------------------------------------------------------------- */

static int count(void) { return 2; }

static sp_status open_far(int ordinal, void **device)
{
    far *f = &devices[ordinal];
    pthread_t thread;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->last = &f->first;
    f->dice = (unsigned)ordinal + 1;
    if (pthread_create(&thread, NULL, worker, f) != 0) return engine->fail(SP_RUNTIME, "no thread could be started");
    pthread_detach(thread);
    *device = f;
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
    enqueue(device, w);
}

static sp_status copy_in(void *device, void *buffer, size_t offset, const void *from, size_t bytes)
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
    enqueue(device, w);
    return SP_OK;
}

static sp_status copy_out(void *device, void *buffer, size_t offset, void *to, size_t bytes)
{
    work *w = calloc(1, sizeof *w);
    if (!w) return SP_NOMEM;
    *w = (work){.what = COPY_OUT, .from = buffer, .from_offset = offset, .wanted = to, .bytes = bytes};
    enqueue(device, w);
    return wait_far(device);
}

static sp_status copy(void *device, void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes)
{
    work *w = calloc(1, sizeof *w);
    if (!w) return SP_NOMEM;
    *w = (work){
        .what = COPY, .to = to, .from = from, .to_offset = to_offset, .from_offset = from_offset, .bytes = bytes};
    enqueue(device, w);
    return SP_OK;
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
    enqueue(device, w);
    return later ? SP_OK : wait_far(device);
}

SP_API const sp_device_table *sp_device_plugin(const sp_device_host *host);
const sp_device_table *sp_device_plugin(const sp_device_host *host)
{
    static const sp_device_kernel kernels[] = {{.op = "*", .name = "far", .strided = true, .takes = takes, .run = run}};
    static const sp_device_table table = {.struct_size = sizeof table,
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
                                          .kernels = kernels};
    engine = host;
    delay_us = number_of("SPORE_FAR_DELAY_US", 50);
    lost_at = number_of("SPORE_FAR_LOST", 0);
    limit = (size_t)number_of("SPORE_FAR_BYTES", 1L << 30);
    declines = getenv("SPORE_FAR_DECLINES");
    fails = getenv("SPORE_FAR_FAILS");
    return &table;
}
