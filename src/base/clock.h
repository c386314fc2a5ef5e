/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the one clock that durations are measured with. */
#ifndef SPORE_CLOCK_H
#define SPORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment in the past; it never goes back, and stands while the machine sleeps. */
static inline int64_t sp__clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
