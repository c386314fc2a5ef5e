/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_malloc.c - for LD_PRELOAD: from the REFUSE_FROM-th allocation of the process on, malloc and its like return NULL. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes);

static _Atomic int64_t count;
static int64_t from; /* 0: never */

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("REFUSE_FROM");
    from = text ? atoll(text) : 0;
}

static bool refuses(void)
{
    if (from == 0 || atomic_fetch_add(&count, 1) + 1 < from) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes) { return refuses() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return refuses() ? NULL : __libc_calloc(n, bytes); }
void *realloc(void *block, size_t bytes) { return bytes && refuses() ? NULL : __libc_realloc(block, bytes); }
void *memalign(size_t alignment, size_t bytes) { return refuses() ? NULL : __libc_memalign(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    void *block = memalign(alignment, bytes);
    if (block) *out = block;
    return block ? 0 : ENOMEM;
}
