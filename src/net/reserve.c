/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.c - what libevent gets when memory has run out.
 *
 * libevent does not survive a failed allocation everywhere: it crashes, or waits for an event that it never asked for. So it gets a few
 * blocks kept for that case, enough to answer and to close what is open; new connections are refused while any of them is in use.
 * The blocks are pages nobody has touched, and cost nothing, until they are needed. */
#include "net/reserve.h"

#include <event2/event.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/lock.h"

enum { BLOCK_BYTES = 16 << 10, N_BLOCKS = 256 };

static _Alignas(64) char blocks[N_BLOCKS][BLOCK_BYTES];
static bool taken[N_BLOCKS];
static int n_taken;
static sp_lock lock = SP_LOCK_INIT;
static sp_once once = SP_ONCE_INIT;

static bool is_ours(const void *p)
{
    return (const char *)p >= blocks[0] && (const char *)p < blocks[0] + sizeof blocks;
}

static void *take(size_t bytes)
{
    void *found = NULL;
    if (bytes > BLOCK_BYTES) return NULL;
    sp__lock(&lock);
    for (int i = 0; i < N_BLOCKS && found == NULL; i++) {
        if (taken[i]) continue;
        taken[i] = true;
        n_taken++;
        found = blocks[i];
    }
    sp__unlock(&lock);
    return found;
}

static void give(void *p)
{
    sp__lock(&lock);
    taken[((char *)p - blocks[0]) / BLOCK_BYTES] = false;
    n_taken--;
    sp__unlock(&lock);
}

static void *reserve_malloc(size_t bytes)
{
    void *p = malloc(bytes);
    return p != NULL ? p : take(bytes);
}

static void reserve_free(void *p)
{
    if (is_ours(p)) give(p);
    else free(p);
}

static void *reserve_realloc(void *p, size_t bytes)
{
    if (p == NULL) return reserve_malloc(bytes);
    void *more = is_ours(p) ? NULL : realloc(p, bytes);
    if (more != NULL) return more;
    const size_t held = is_ours(p) ? (size_t)BLOCK_BYTES : malloc_usable_size(p);
    more = reserve_malloc(bytes);
    if (more == NULL) return NULL;
    memcpy(more, p, held < bytes ? held : bytes);
    reserve_free(p);
    return more;
}

static void start(void) { event_set_mem_functions(reserve_malloc, reserve_realloc, reserve_free); }

void sp__reserve_start(void) { sp__once(&once, start); }

bool sp__reserve_in_use(void)
{
    sp__lock(&lock);
    const bool in_use = n_taken > 0;
    sp__unlock(&lock);
    return in_use && sp__memory_is_out();
}
