/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - recording of what runs when; include/spore/profile.h is its face. */
#ifndef SPORE_BASE_PROFILE_H
#define SPORE_BASE_PROFILE_H

#include "base/base.h"
#include "spore/profile.h"

/* Kinds of the engine's own events. */
#define SP_PROFILE_OPERATOR "operator"
#define SP_PROFILE_PROGRAM "program"   /* a step of a compiled program */
#define SP_PROFILE_DATA "data"         /* a stage of a data pipeline at work on a row */
#define SP_PROFILE_WORKER "worker"     /* a thread of the pool that helps */
#define SP_PROFILE_EXCHANGE "exchange" /* data that move between ranks, whatever computes meanwhile */

extern atomic_bool sp__profile_flag;
/* Relaxed: who sees it late misses an event. */
static inline bool sp__profile_on(void)
{
    return __builtin_expect(atomic_load_explicit(&sp__profile_flag, memory_order_relaxed), 0);
}

/* An event that is going on. Those of a thread lie inside of each other. */
typedef struct sp_span {
    int64_t begin, end; /* nanoseconds; end 0: not yet */
    int64_t before;     /* what events inside of the one around this took before it */
} sp_span;
void sp__profile_begin(sp_span *span);
/* It ended now, whenever sp__profile_end is called. */
void sp__profile_clock(sp_span *span);
/* file NULL: the line of sp_profile_here; "": none. detail may be NULL. */
void sp__profile_end(const sp_span *span, const char *kind, const char *name, const char *detail, const char *file,
                     int line);

/* What the pool works for, as threads that help call it. */
const char *sp__profile_label(void);
void sp__profile_set_label(const char *name);

#endif
