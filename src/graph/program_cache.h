/* SPDX-License-Identifier: Apache-2.0 */
/* program_cache.h - what compiling found out, kept in files for later processes.
 *
 * Two things are kept: the graph of a program as its passes leave it (cache_graph.c), and the order and places of the steps of a plan
 * (cache_plan.c). Both are functions of what they are looked up by, which is a digest of everything they are computed from: a graph
 * as it was recorded, with the contents of its constants, the passes that run, the library and the CPU; a list of steps, the memory
 * each touches and what it costs. So there is nothing that could become stale: a changed source, constant or shape is another
 * digest. Functions outside the graph, variables and places in the source are not kept; they are taken from the recording.
 *
 * A file is a header (cache.c) and a payload. It is put in place by one rename, so that readers and other writers see all of it or
 * none; whatever is wrong with one (length, version, digest, sum) means that it is not used and written anew. Nothing that goes wrong
 * here makes a program fail: it is compiled as if there were no cache, and its report says why. */
#ifndef SPORE_CACHE_H
#define SPORE_CACHE_H

#include "base/file.h"
#include "graph/program.h"

typedef struct sp_cache_key {
    uint64_t word[2];
} sp_cache_key;
sp_cache_key sp__cache_digest(const void *data, size_t bytes);

/* --- bytes ------------------------------------------------------------------------------------------------------- */

/* Written one after the other; integers take as many bytes as they need. */
typedef struct sp_bytes {
    uint8_t *data;
    size_t n, room;
    bool failed; /* out of memory; further writes do nothing */
} sp_bytes;
void sp__bytes_put(sp_bytes *b, const void *data, size_t bytes);
void sp__bytes_uint(sp_bytes *b, uint64_t v);
static inline void sp__bytes_int(sp_bytes *b, int64_t v) { sp__bytes_uint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63)); }

/* Read back. What does not fit sets `failed` and gives zeros from then on. */
typedef struct sp_bytes_in {
    const uint8_t *at, *end;
    bool failed;
} sp_bytes_in;
const void *sp__bytes_get(sp_bytes_in *b, size_t bytes); /* NULL: there are not as many */
uint64_t sp__bytes_get_uint(sp_bytes_in *b);
int64_t sp__bytes_get_int(sp_bytes_in *b);
/* A count of things that take at least one byte each, or an index below `end`; anything else fails and gives 0. */
int sp__bytes_get_count(sp_bytes_in *b);
int sp__bytes_get_index(sp_bytes_in *b, int end);

/* Which build of the library this is: keys hold it. SP_DECLINED: nothing tells it from another. */
sp_status sp__cache_build(sp_bytes *b);

/* --- the store --------------------------------------------------------------------------------------------------- */

bool sp__cache_on(void);
/* The payload kept under the digest. SP_DECLINED: there is none that can be used; `why` (room of SP_CACHE_NOTE) says so when
 * there is a file and something is wrong with it, else it is "". `map` is to be released. */
enum { SP_CACHE_NOTE = sizeof((sp_program *)NULL)->cache_note };
sp_status sp__cache_get(const char *kind, sp_cache_key key, sp_map **map, sp_bytes_in *payload, char *why);
/* Keep it; files that were not used for longest go where there are too many bytes. why as above, when it could not be written. */
void sp__cache_put(const char *kind, sp_cache_key key, const sp_bytes *payload, char *why);

/* --- graphs ------------------------------------------------------------------------------------------------------ */

/* A recorded function as the cache sees it: what can be reached from it, and what it takes from outside. */
typedef struct sp_outer_program sp_outer_program;
/* options: whatever else decides about the result. SP_DECLINED: it is not for the cache. */
sp_status sp__outer_create(sp_function *f, const char *options, sp_outer_program **out);
void sp__outer_free(sp_outer_program *o);
sp_cache_key sp__outer_key(const sp_outer_program *o);
/* Right after sp__graph_copy of the same function: which of its constants are which of the recording. */
sp_status sp__outer_follow(sp_outer_program *o, const sp_graph *copy);
/* The graph after the passes as bytes; SP_DECLINED: it holds something that does not belong into files. */
sp_status sp__outer_write(const sp_outer_program *o, sp_graph *g, sp_bytes *out);
/* And back. SP_FORMAT when the bytes are not what sp__outer_write made for this function. */
sp_status sp__outer_read(const sp_outer_program *o, sp_bytes_in *in, sp_graph **out);

/* --- plans ------------------------------------------------------------------------------------------------------- */

/* Order, turns and places of the steps of a plan that is otherwise complete, from the cache if they are there, else by
 * `arrange`, whose result is kept. */
sp_status sp__cache_arrange(sp_plan *p, sp_status (*arrange)(sp_plan *p));

#endif
