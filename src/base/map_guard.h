/* SPDX-License-Identifier: Apache-2.0 */
/* map_guard.h - maps of files that may be cut while they are mapped. */
#ifndef SPORE_MAP_GUARD_H
#define SPORE_MAP_GUARD_H

#include "base/base.h"

enum { SP_GUARD_PATH = 192 };

/* A map that is looked after. A slot of a table, so that the handler of a signal can look through it. */
typedef struct sp_guard {
    atomic_bool taken;
    atomic_uintptr_t start, end; /* 0: nothing yet */
    atomic_bool cut;             /* a part of it was not there when it was touched, and zeros are there instead */
    char path[SP_GUARD_PATH];    /* its end, where it is longer */
} sp_guard;

/* Look after [data, data + bytes) of that file; NULL: no memory. */
sp_guard *sp__guard_add(void *data, size_t bytes, const char *path);
/* The map is gone. NULL is fine. */
void sp__guard_remove(sp_guard *g);

#endif
