/* SPDX-License-Identifier: Apache-2.0 */
/* slow_transport.c - a transport that takes as long as a network would: everything that is begun is over, at the earliest, after its bytes have
 * passed a link, one operation behind the other, and a latency. SPORE_SLOW=us,gigabits; bytes are moved by the real transport, whose file
 * lies where SPORE_SLOW_OVER says. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spore/parallel.h"

static sp_transport table;
static const sp_transport *real;
static double latency_ns, ns_per_byte;
static int n_ranks = 1;
static int64_t link_free;

typedef struct {
    void *inner; /* NULL: over */
    int64_t due;
} box;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static sp_status boxed(sp_status status, void *inner, double bytes, void **out)
{
    if (status != SP_OK) return status;
    box *b = malloc(sizeof *b);
    if (!b) abort();
    const int64_t now = now_ns(), begin = link_free > now ? link_free : now;
    link_free = begin + (int64_t)(bytes * ns_per_byte);
    *b = (box){inner, link_free + (int64_t)latency_ns};
    *out = b;
    return SP_OK;
}

static sp_status join(const sp_transport_host *host, sp_transport_job *out)
{
    const sp_status status = real->join(host, out);
    n_ranks = out->size;
    return status;
}

static sp_status send(void *comm, const void *data, size_t bytes, int to, int tag, void **request)
{
    void *inner = NULL;
    const sp_status status = real->send(comm, data, bytes, to, tag, &inner);
    return boxed(status, inner, (double)bytes, request);
}

static sp_status recv(void *comm, void *data, size_t bytes, int from, int tag, void **request)
{
    void *inner = NULL;
    const sp_status status = real->recv(comm, data, bytes, from, tag, &inner);
    return boxed(status, inner, 0, request);
}

static sp_status broadcast(void *comm, void *data, size_t bytes, int root, void **request)
{
    void *inner = NULL;
    const sp_status status = real->broadcast(comm, data, bytes, root, &inner);
    return boxed(status, inner, (double)bytes, request);
}

static sp_status all_gather(void *comm, const void *in, size_t bytes, void *out, void **request)
{
    void *inner = NULL;
    const sp_status status = real->all_gather(comm, in, bytes, out, &inner);
    return boxed(status, inner, (double)bytes * (n_ranks - 1), request);
}

static sp_status all_to_all(void *comm, const void *in, size_t bytes, void *out, void **request)
{
    void *inner = NULL;
    const sp_status status = real->all_to_all(comm, in, bytes, out, &inner);
    return boxed(status, inner, (double)bytes * (n_ranks - 1), request);
}

static sp_status test(void *request, bool *done)
{
    box *b = request;
    sp_status status = SP_OK;
    *done = false;
    if (b->inner) {
        bool over = false;
        status = real->test(b->inner, &over);
        if (over) b->inner = NULL;
    }
    if (status == SP_OK && (b->inner || now_ns() < b->due)) return SP_OK;
    *done = true;
    free(b);
    return status;
}

SP_API sp_transport_open_fn sp_transport_open;
const sp_transport *sp_transport_open(void)
{
    const char *speed = getenv("SPORE_SLOW"), *over = getenv("SPORE_SLOW_OVER");
    double us = 0, gigabits = 0;
    if (!speed || !over || sscanf(speed, "%lf,%lf", &us, &gigabits) != 2 || gigabits <= 0) {
        fprintf(stderr, "slow_transport: SPORE_SLOW=us,gigabits and SPORE_SLOW_OVER=FILE are wanted\n");
        return NULL;
    }
    void *library = dlopen(over, RTLD_NOW | RTLD_GLOBAL),
         *symbol = library ? dlsym(library, "sp_transport_open") : NULL;
    if (!symbol) {
        fprintf(stderr, "slow_transport: %s\n", dlerror());
        return NULL;
    }
    sp_transport_open_fn *open;
    memcpy(&open, &symbol, sizeof open);
    if (!(real = open())) return NULL;
    latency_ns = us * 1e3;
    ns_per_byte = 8 / gigabits;
    table = *real;
    table.join = join;
    table.send = send;
    table.recv = recv;
    table.broadcast = broadcast;
    table.all_gather = all_gather;
    table.all_to_all = all_to_all;
    table.test = test;
    return &table;
}
