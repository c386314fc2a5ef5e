/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - blocks of growing size, linked, carved from the front. */
#include "base/arena.h"

#include <string.h>

struct sp__arena_block {
    struct sp__arena_block *older;
    bool borrowed; /* it is somebody else's: neither freed nor followed by others */
    _Alignas(16) char bytes[];
};
_Static_assert(sizeof(struct sp__arena_block) <= SP_ARENA_HEAD, "make SP_ARENA_HEAD larger");

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

void *sp__arena_alloc(sp__arena *a, size_t bytes)
{
    size_t rounded;
    if (!sp__add_size(bytes, 15, &rounded)) return sp__alloc(SIZE_MAX); /* sets the message */
    rounded &= ~(size_t)15;
    if (!a->block || a->bytes - a->used < rounded) {
        if (a->block && a->block->borrowed) {
            sp__fail(SP_NOMEM, "the memory of %zu bytes is too small by %zu bytes or more", a->bytes,
                     rounded - (a->bytes - a->used));
            return NULL;
        }
        size_t size = a->bytes ? a->bytes * 2 : FIRST_BLOCK;
        if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
        if (size < rounded) size = rounded;
        struct sp__arena_block *b = sp__alloc(sizeof *b + size);
        if (!b) return NULL;
        b->older = a->block;
        b->borrowed = false;
        a->block = b;
        a->bytes = size;
        a->used = 0;
    }
    char *at = a->block->bytes + a->used;
    a->used += rounded;
    a->given += rounded;
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

void sp__arena_over(sp__arena *a, void *memory, size_t bytes)
{
    struct sp__arena_block *b = memory;
    *b = (struct sp__arena_block){.borrowed = true};
    *a = (sp__arena){.block = b, .bytes = bytes - SP_ARENA_HEAD};
}

void sp__arena_free(sp__arena *a)
{
    if (a->block && a->block->borrowed) a->block = NULL;
    while (a->block) {
        struct sp__arena_block *gone = a->block;
        a->block = gone->older;
        sp__free(gone);
    }
    *a = (sp__arena){0};
}
