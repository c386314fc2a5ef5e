/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - what `spore cache` and MindSpore's command for it share. */
#ifndef SPORE_TOOLS_CACHE_H
#define SPORE_TOOLS_CACHE_H

#include <sys/types.h>

#include "spore/cache.h"
#include "tools.h"

/* A server in a process of its own, or in this one until it ends. */
typedef struct cache_start {
    sp_cache_server_options o;
    const char *log; /* file for its lines; NULL: standard error, and none of a daemon */
    bool foreground;
} cache_start;
/* 0 when it serves, with its process id; else what went wrong is in sp_error_message() or in failure[]. */
int cache_daemon(cache_start *start, pid_t *pid, char failure[512]);
/* Half of the processors, as MindSpore has it. */
int cache_workers(void);

int tool_cache_admin(int argc, char **argv); /* the command under MindSpore's names for it */

#endif
