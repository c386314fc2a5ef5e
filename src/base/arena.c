/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - blocks of growing size, linked, carved from the front. */
#include "base/arena.h"

#include <string.h>

struct sp__arena_block {
    struct sp__arena_block *older;
    _Alignas(16) char bytes[];
};

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

void *sp__arena_alloc(sp__arena *a, size_t bytes)
{
    size_t rounded;
    if (!sp__add_size(bytes, 15, &rounded)) return sp__alloc(SIZE_MAX); /* sets the message */
    rounded &= ~(size_t)15;
    if (!a->block || a->bytes - a->used < rounded) {
        size_t size = a->bytes ? a->bytes * 2 : FIRST_BLOCK;
        if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
        if (size < rounded) size = rounded;
        struct sp__arena_block *b = sp__alloc(sizeof *b + size);
        if (!b) return NULL;
        b->older = a->block;
        a->block = b;
        a->bytes = size;
        a->used = 0;
    }
    char *at = a->block->bytes + a->used;
    a->used += rounded;
    memset(at, 0, bytes);
    return at;
}

char *sp__arena_text(sp__arena *a, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = sp__arena_alloc(a, n);
    if (copy) memcpy(copy, text, n);
    return copy;
}

void sp__arena_free(sp__arena *a)
{
    while (a->block) {
        struct sp__arena_block *gone = a->block;
        a->block = gone->older;
        sp__free(gone);
    }
    *a = (sp__arena){0};
}
