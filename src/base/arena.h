/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory that is given out piece by piece and freed as a whole: nodes of graphs, parse trees. */
#ifndef SPORE_ARENA_H
#define SPORE_ARENA_H

#include "base/base.h"

typedef struct sp__arena {
    struct sp__arena_block *block; /* newest first */
    size_t used, bytes;            /* of the newest */
    size_t given;                  /* by all of them */
} sp__arena;

/* Zeroed, aligned for any type; NULL with a message when there is none. An arena starts as {0}. */
void *sp__arena_alloc(sp__arena *a, size_t bytes);
char *sp__arena_text(sp__arena *a, const char *text);
void sp__arena_free(sp__arena *a);

/* An arena over memory of somebody else, which lives longer: it gives out that and no more. Such memory must be aligned to
 * 16 bytes and have SP_ARENA_HEAD bytes besides those that are given out. */
enum { SP_ARENA_HEAD = 32 };
void sp__arena_over(sp__arena *a, void *memory, size_t bytes);

#endif
