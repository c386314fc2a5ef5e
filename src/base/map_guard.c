/* SPDX-License-Identifier: Apache-2.0 */
/* map_guard.c - a file that is cut while it is mapped raises SIGBUS where a page is touched that is no longer there, and that ends the process.
 *
 * Weights are mapped so that opening a file of 1 GB takes a millisecond, and kernels read them anywhere: no check before a read can be in time. So a
 * handler of SIGBUS puts zeros in the place of what is missing of one of our maps, says so in one line, and marks the map; whoever used it looks at
 * the mark afterwards (sp__map_check) and fails. What was considered instead: reading everything (slow to open, twice the memory of processes that share a
 * file), userfaultfd (a privilege on many systems), a lock on the file (advisory: nobody asks for it).
 *
 * The handler is a guest in the process: it is set with the first map that a program opens, once, and whatever is not a page of our maps goes to the handler
 * that was there before, or to what the system does without one. A handler that is set after ours and does not pass signals on wins.
 *
 * The table is made of blocks that are never freed; slots are taken by one exchange, so that neither the handler nor a child after fork meets a lock. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/map_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK_GUARDS = 128 };

typedef struct block {
    sp_guard guards[BLOCK_GUARDS];
    _Atomic(struct block *) next;
} block;

static block first_block;
static struct sigaction before;
static uintptr_t page_bytes;

/* --- the handler --------------------------------------------------------------------------------------------------- */

static sp_guard *find(uintptr_t at)
{
    for (block *b = &first_block; b != NULL; b = atomic_load(&b->next))
        for (int i = 0; i < BLOCK_GUARDS; i++)
            if (at >= atomic_load(&b->guards[i].start) && at < atomic_load(&b->guards[i].end)) return &b->guards[i];
    return NULL;
}

static void say_cut(const sp_guard *g)
{
    static const char head[] = "spore: ",
                      tail[] =
                          " was cut while it was mapped; zeros are read in place of what is missing: load it again\n";
    char line[sizeof head + SP_GUARD_PATH + sizeof tail];
    size_t n = sizeof head - 1, path = strlen(g->path);
    memcpy(line, head, n);
    memcpy(line + n, g->path, path);
    n += path;
    memcpy(line + n, tail, sizeof tail - 1);
    if (write(STDERR_FILENO, line, n + sizeof tail - 1) < 0) return; /* nobody reads it */
}

/* As it would have been without us. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction != NULL) before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(number);
    else signal(number, SIG_DFL); /* the instruction is run again, and ends the process where it is */
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    const uintptr_t at = (uintptr_t)info->si_addr, page = at & ~(page_bytes - 1);
    sp_guard *g = info->si_code > 0 ? find(at) : NULL; /* not one that a process sent */
    const uintptr_t end = g != NULL ? (atomic_load(&g->end) + page_bytes - 1) & ~(page_bytes - 1) : 0;
    /* What is behind a missing page is missing, too. */
    if (g == NULL || mmap((void *)page, end - page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                          0) == MAP_FAILED)
        pass_on(number, info, context);
    else if (!atomic_exchange(&g->cut, true)) say_cut(g);
    errno = saved;
}

static void install(void)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    ours.sa_sigaction = on_bus_error;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, NULL, &before); /* first: a signal may come at once */
    sigaction(SIGBUS, &ours, NULL);
}

/* --- the table ----------------------------------------------------------------------------------------------------- */

static sp_guard *take_slot(void)
{
    for (block *b = &first_block;;) {
        for (int i = 0; i < BLOCK_GUARDS; i++)
            if (!atomic_load_explicit(&b->guards[i].taken, memory_order_relaxed) &&
                !atomic_exchange(&b->guards[i].taken, true))
                return &b->guards[i];
        block *next = atomic_load(&b->next), *none = NULL;
        if (next == NULL) {
            next = sp__alloc_zero(sizeof *next);
            if (next == NULL) return NULL;
            if (!atomic_compare_exchange_strong(&b->next, &none, next)) {
                sp__free(next);
                next = none;
            }
        }
        b = next;
    }
}

sp_guard *sp__guard_add(void *data, size_t bytes, const char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const size_t n = strlen(path), from = n < SP_GUARD_PATH ? 0 : n - SP_GUARD_PATH + 1;
    pthread_once(&once, install);
    sp_guard *g = take_slot();
    if (g == NULL) return NULL;
    memcpy(g->path, path + from, n - from + 1);
    atomic_store(&g->cut, false);
    atomic_store(&g->end, (uintptr_t)data + bytes);
    atomic_store(&g->start, (uintptr_t)data);
    return g;
}

void sp__guard_remove(sp_guard *g)
{
    if (g == NULL) return;
    atomic_store(&g->end, 0);
    atomic_store(&g->start, 0);
    atomic_store(&g->taken, false);
}
