/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.c - a second stack of every thread. It is mapped when a thread first needs it, its pages come as they are touched,
 * and it goes with the thread. Behind its end lies a page that cannot be touched: a demand beyond it would be a fault of
 * ours, and must not reach anybody's memory. */
#include "base/scratch.h"

#include <pthread.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, GUARD_BYTES = 1 << 16 /* a page of any size */ };

static _Thread_local char *base, *top;
static pthread_key_t key;
static bool have_key;

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = ALIGNMENT }; /* so that the end of a block is found */
#define FORBID(from, bytes) __asan_poison_memory_region(from, bytes)
#define PERMIT(from, bytes) __asan_unpoison_memory_region(from, bytes)
#else
enum { GAP = 0 };
#define FORBID(from, bytes) ((void)(from), (void)(bytes))
#define PERMIT(from, bytes) ((void)(from), (void)(bytes))
#endif

static void unmap(void *start)
{
    PERMIT(start, SP_SCRATCH_BYTES);
    munmap(start, SP_SCRATCH_BYTES + GUARD_BYTES);
    base = top = NULL;
}

__attribute__((constructor)) static void scratch_start(void) { have_key = pthread_key_create(&key, unmap) == 0; }

static bool map(void)
{
    char *start = mmap(NULL, SP_SCRATCH_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return false;
    if (mprotect(start + SP_SCRATCH_BYTES, GUARD_BYTES, PROT_NONE) != 0 || !have_key ||
        pthread_setspecific(key, start) != 0) {
        munmap(start, SP_SCRATCH_BYTES + GUARD_BYTES);
        return false;
    }
    FORBID(start, SP_SCRATCH_BYTES);
    base = top = start;
    return true;
}

sp_status sp__scratch_ready(void)
{
    SP_CHECK(base || map(), SP_NOMEM, "no memory for %d bytes of scratch of a thread", SP_SCRATCH_BYTES);
    return SP_OK;
}

void *sp__scratch_take(size_t bytes)
{
    if (!base && !map()) return NULL; /* nobody asked before; touching it ends as a stack without memory does */
    char *block = top;
    top = block + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
    PERMIT(block, bytes);
    return block;
}

void sp__scratch_give(void *block)
{
    FORBID(block, (size_t)(top - (char *)block));
    top = block;
}

sp_status sp__for(bool parallel, int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end),
                  void *context)
{
    if (n == 0) return SP_OK;
    if (parallel) return sp__parallel_for(n, grain, fn, context);
    SP_TRY(sp__scratch_ready());
    fn(context, 0, n);
    return SP_OK;
}
