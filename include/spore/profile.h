/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - what runs when, for how long, on which thread and for which line of the user's program: operators, steps of compiled programs,
 * stages of data pipelines. One recording a process; while none runs, it costs a test of a flag.
 *
 *     sp_profile_start(0);
 *     ... work ...
 *     sp_profile_stop();
 *     sp_profile_write("trace.json");     // https://ui.perfetto.dev, chrome://tracing */
#ifndef SPORE_PROFILE_H
#define SPORE_PROFILE_H

#include <stdint.h>

#include "spore/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Forget what was recorded, and record from now on; at most so many events are kept (0: a million), later ones are counted only.
 * SP_RUNTIME: a recording runs already. */
SP_API sp_status sp_profile_start(int64_t max_events);
/* Record no more; what was recorded stays until the next start. */
SP_API void sp_profile_stop(void);
/* Go on after a stop, with what was recorded before. */
SP_API void sp_profile_resume(void);
/* How many events there are; *out_dropped (may be NULL) receives how many found no room. */
SP_API int64_t sp_profile_count(int64_t *out_dropped);

/* Nanoseconds of the clock that events are in. */
SP_API int64_t sp_profile_now(void);
/* An event of the caller's own, on this thread; kind is a word of his choice ("step", "mark"). Nothing happens while none is recorded. */
SP_API void sp_profile_add(const char *kind, const char *name, int64_t begin_ns, int64_t end_ns);
/* The line that operators of this thread belong to from now on; NULL: unknown. */
SP_API void sp_profile_here(const char *file, int line);

/* A trace in JSON (Trace Event Format) for Perfetto and Chrome: an event for each, with its line, the memory in use after it, names of threads. */
SP_API sp_status sp_profile_write(const char *path);

/* What took how long, by kind and name, or by the line of the source, too. `self_ns` leaves out the operators inside of an operator. */
typedef struct sp_profile_row {
    const char *kind, *name;
    const char *file; /* NULL: unknown, or not asked for */
    int line;
    int64_t n, total_ns, self_ns;
} sp_profile_row;
enum { SP_PROFILE_BY_LINE = 1 };
/* Rows with the largest self_ns first, at most `max`; *out_n receives how many were written. Texts live until the next start. */
SP_API sp_status sp_profile_rows(int flags, int max, sp_profile_row *rows, int *out_n);
/* The same as a table for people; freed with sp_text_free. */
SP_API sp_status sp_profile_table(int max, char **out);

#ifdef __cplusplus
}
#endif
#endif
