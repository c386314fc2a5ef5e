/* SPDX-License-Identifier: Apache-2.0 */
/* systolic.c - a device in one file: an accelerator that multiplies int8 matrices and does nothing else, as an FPGA might, here simulated.
 *
 * It has 64 MiB of memory of its own, reached by copies alone, and a queue: the engine puts descriptors into it, the accelerator's thread takes them out in
 * order. Its array multiplies tiles of 16 x 16 and adds up in int32. Everything else that a program does with tensors that lie here is computed by the
 * CPU between copies; sp_device_declined tells what that was.
 *
 * It needs the headers of spore and nothing else:
 *     cc -shared -fPIC -o systolic.so systolic.c $(pkg-config --cflags spore) -lpthread
 * Then: SPORE_DEVICES=./systolic.so spore doctor, or examples/device/products.c */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spore/device.h>

enum { MEMORY = 64 << 20, LINE = 256, TILE = 16 };

static const sp_device_host *host;

/* --- the hardware: what a driver would talk to --------------------------------------------------------------------- */

typedef struct descriptor {
    enum { WRITE, READ, COPY, MULTIPLY, RELEASE } what;
    size_t a, b, to, bytes; /* places in the accelerator's memory */
    int64_t m, k, n;
    void *host_memory; /* WRITE: taken over; READ: where the contents are wanted */
    struct descriptor *next;
} descriptor;

typedef struct accelerator {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    descriptor *first, **last;
    bool busy;
    uint8_t *memory;
    uint8_t used[MEMORY / LINE]; /* a line that belongs to a buffer: 1, the first of one: 2 */
} accelerator;

static accelerator card;

/* One tile of the result stays in the array while rows of a and columns of b stream by. */
static void multiply(const descriptor *d)
{
    const int8_t *a = (const int8_t *)card.memory + d->a, *b = (const int8_t *)card.memory + d->b;
    int32_t *to = (int32_t *)(void *)(card.memory + d->to);
    for (int64_t i0 = 0; i0 < d->m; i0 += TILE)
        for (int64_t j0 = 0; j0 < d->n; j0 += TILE) {
            int32_t tile[TILE][TILE] = {{0}};
            for (int64_t k = 0; k < d->k; k++)
                for (int64_t i = i0; i < d->m && i < i0 + TILE; i++)
                    for (int64_t j = j0; j < d->n && j < j0 + TILE; j++)
                        tile[i - i0][j - j0] += (int32_t)a[i * d->k + k] * b[k * d->n + j];
            for (int64_t i = i0; i < d->m && i < i0 + TILE; i++)
                for (int64_t j = j0; j < d->n && j < j0 + TILE; j++) to[i * d->n + j] = tile[i - i0][j - j0];
        }
}

static void release(size_t at)
{
    pthread_mutex_lock(&card.lock);
    size_t line = at / LINE;
    do card.used[line++] = 0;
    while (line < MEMORY / LINE && card.used[line] == 1);
    pthread_mutex_unlock(&card.lock);
}

static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&card.lock);
        while (!card.first) pthread_cond_wait(&card.changed, &card.lock);
        descriptor *d = card.first;
        card.first = d->next;
        if (!card.first) card.last = &card.first;
        card.busy = true;
        pthread_mutex_unlock(&card.lock);
        switch (d->what) {
        case WRITE: memcpy(card.memory + d->to, d->host_memory, d->bytes); break;
        case READ: memcpy(d->host_memory, card.memory + d->a, d->bytes); break;
        case COPY: memmove(card.memory + d->to, card.memory + d->a, d->bytes); break;
        case MULTIPLY: multiply(d); break;
        case RELEASE: release(d->to); break;
        }
        if (d->what == WRITE) free(d->host_memory);
        free(d);
        pthread_mutex_lock(&card.lock);
        card.busy = false;
        pthread_cond_broadcast(&card.changed);
        pthread_mutex_unlock(&card.lock);
    }
    return NULL;
}

static sp_status put(descriptor d)
{
    descriptor *own = malloc(sizeof *own);
    if (!own) return SP_NOMEM;
    *own = d;
    pthread_mutex_lock(&card.lock);
    *card.last = own;
    card.last = &own->next;
    pthread_cond_broadcast(&card.changed);
    pthread_mutex_unlock(&card.lock);
    return SP_OK;
}

/* --- the table: what spore asks ------------------------------------------------------------------------------------ */

/* A buffer is a place in the memory, plus one: NULL is no buffer. */
static size_t place(const void *buffer) { return (size_t)((uintptr_t)buffer - 1); }

static int count(void) { return 1; }

static sp_status open_card(int ordinal, void **device)
{
    pthread_t thread;
    (void)ordinal;
    pthread_mutex_init(&card.lock, NULL);
    pthread_cond_init(&card.changed, NULL);
    card.last = &card.first;
    card.memory = malloc(MEMORY);
    if (!card.memory || pthread_create(&thread, NULL, work, NULL) != 0)
        return host->fail(SP_RUNTIME, "the simulated card did not start");
    pthread_detach(thread);
    *device = &card;
    return SP_OK;
}

static sp_status describe(void *device, sp_device_properties *out)
{
    (void)device;
    snprintf(out->title, sizeof out->title, "simulated array of %d x %d int8 multipliers", TILE, TILE);
    out->memory_bytes = MEMORY;
    out->units = TILE * TILE;
    out->dtypes = 1u << SP_DTYPE_I8;
    return SP_OK;
}

/* The first run of free lines that is long enough. */
static sp_status alloc_lines(void *device, size_t bytes, void **buffer)
{
    (void)device;
    const size_t wanted = (bytes + LINE - 1) / LINE;
    size_t run = 0;
    pthread_mutex_lock(&card.lock);
    for (size_t i = 0; i < MEMORY / LINE && run < wanted; i++) {
        run = card.used[i] ? 0 : run + 1;
        if (run < wanted) continue;
        const size_t first = i + 1 - wanted;
        memset(card.used + first, 1, wanted);
        card.used[first] = 2;
        *buffer = (void *)(uintptr_t)(first * LINE + 1);
    }
    pthread_mutex_unlock(&card.lock);
    return run >= wanted ? SP_OK : SP_NOMEM;
}

static void free_lines(void *device, void *buffer)
{
    (void)device;
    (void)put((descriptor){.what = RELEASE, .to = place(buffer)});
}

static sp_status copy_in(void *device, void *buffer, size_t offset, const void *from, size_t bytes)
{
    (void)device;
    void *staged = malloc(bytes);
    if (!staged) return SP_NOMEM;
    memcpy(staged, from, bytes);
    return put((descriptor){.what = WRITE, .to = place(buffer) + offset, .host_memory = staged, .bytes = bytes});
}

static sp_status wait_card(void *device)
{
    (void)device;
    pthread_mutex_lock(&card.lock);
    while (card.first || card.busy) pthread_cond_wait(&card.changed, &card.lock);
    pthread_mutex_unlock(&card.lock);
    return SP_OK;
}

static sp_status copy_out(void *device, void *buffer, size_t offset, void *to, size_t bytes)
{
    const sp_status status =
        put((descriptor){.what = READ, .a = place(buffer) + offset, .host_memory = to, .bytes = bytes});
    return status == SP_OK ? wait_card(device) : status;
}

static sp_status copy(void *device, void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes)
{
    (void)device;
    return put((descriptor){.what = COPY, .a = place(from) + from_offset, .to = place(to) + to_offset, .bytes = bytes});
}

/* --- its one kernel ------------------------------------------------------------------------------------------------ */

/* Plain products of two int8 matrices: no batches, no zero points. */
static bool takes(void *device, const sp_device_call *c)
{
    (void)device;
    const sp_device_operand *a = &c->in[0], *b = &c->in[1];
    return a->dtype == SP_DTYPE_I8 && b->dtype == SP_DTYPE_I8 && a->rank == 2 && b->rank == 2 && c->in[2].rank < 0 &&
           c->in[3].rank < 0;
}

static sp_status run(void *device, const sp_device_call *c)
{
    (void)device;
    const sp_device_operand *a = &c->in[0], *b = &c->in[1], *to = &c->out[0];
    return put((descriptor){.what = MULTIPLY,
                            .a = place(a->buffer) + a->offset,
                            .b = place(b->buffer) + b->offset,
                            .to = place(to->buffer) + to->offset,
                            .m = a->dims[0],
                            .k = a->dims[1],
                            .n = b->dims[1]});
}

SP_API const sp_device_table *sp_device_plugin(const sp_device_host *given);
const sp_device_table *sp_device_plugin(const sp_device_host *given)
{
    static const sp_device_kernel kernels[] = {{.op = "matmul_i32", .name = "systolic", .takes = takes, .run = run}};
    static const sp_device_table table = {.struct_size = sizeof table,
                                          .version = SP_DEVICE_VERSION,
                                          .name = "systolic",
                                          .count = count,
                                          .open = open_card,
                                          .describe = describe,
                                          .alloc = alloc_lines,
                                          .free = free_lines,
                                          .copy_in = copy_in,
                                          .copy_out = copy_out,
                                          .copy = copy,
                                          .wait = wait_card,
                                          .n_kernels = sizeof kernels / sizeof *kernels,
                                          .kernels = kernels};
    host = given;
    return &table;
}
