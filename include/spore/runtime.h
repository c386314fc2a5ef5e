/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - memory use, threads, interruption: what belongs to the process and not to a tensor. */
#ifndef SPORE_RUNTIME_H
#define SPORE_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "spore/status.h"

#ifdef __cplusplus
extern "C" {
#endif

SP_API const char *sp_version(void); /* "0.1.0" */

typedef struct sp_memory_stats {
    size_t used_bytes;     /* handed out now */
    size_t used_peak;      /* most ever handed out since the last reset */
    size_t reserved_bytes; /* taken from the system, handed out or cached */
    size_t reserved_peak;
    uint64_t n_allocs; /* allocations served */
    uint64_t n_system; /* of these, how many went to the system */
} sp_memory_stats;
SP_API void sp_memory_get(sp_memory_stats *out);
SP_API void sp_memory_reset_peak(void);
SP_API void sp_memory_trim(void);                  /* give cached blocks back to the system */
SP_API void sp_memory_set_limit(size_t max_bytes); /* 0: none; beyond it allocation fails with SP_NOMEM */

/* Threads used by one operator: follows affinity mask, cgroup quota, OMP_NUM_THREADS, SPORE_NUM_THREADS until set. */
SP_API int sp_threads(void);
SP_API sp_status sp_threads_set(int n);

/* Called now and then (every few milliseconds) by the thread that runs a long operator; a true answer ends the operator
 * with SP_INTERRUPTED. NULL: never asked. */
SP_API void sp_interrupt_set_poll(bool (*poll)(void));

#ifdef __cplusplus
}
#endif
#endif
