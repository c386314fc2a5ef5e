/* SPDX-License-Identifier: Apache-2.0 */
/* regions.h - memory that clients share with the server (Triton's shared memory extension): inputs are read from it, outputs written into it.
 *
 * A region is a file of /dev/shm, or a memfd of the client. It is read and written by pread and pwrite, never mapped: where a client cuts it short, these fail, and a mapping
 * would end the server with SIGBUS. The server keeps the file open, so that a name that vanishes harms no request. */
#ifndef SPORE_REGIONS_H
#define SPORE_REGIONS_H

#include "serve/decode.h"
#include "serve/kserve_parameters.h"

enum { SP_REGIONS_MAX = 256 };

/* May this client register regions, and take them away? Else why it may not, for an answer of 403. */
const char *sp__region_refusal(const sp_server *s, const sp_exchange *x);
/* key: "/name" of /dev/shm, or "memfd:PID:FD" of a client at the Unix socket. */
sp_status sp__region_register(sp_server *s, const sp_exchange *x, const char *name, const char *key, uint64_t offset,
                              uint64_t bytes);
/* NULL or "": all. One that is not there is as good as taken away. */
void sp__region_unregister(sp_server *s, const char *name);
typedef void (*sp_region_line)(void *context, const char *name, const char *key, uint64_t offset, uint64_t bytes);
/* name NULL or "": all; SP_KEY: there is none of that name. */
sp_status sp__regions_each(sp_server *s, const char *name, sp_region_line line, void *context);
void sp__regions_release(sp_server *s);

/* Does a request speak of regions? Those are read by workers, as the loop's thread has no time for that. */
bool sp__region_asked(const sp_server *s, const sp_exchange *x);

/* The parameters of an input or output that name a part of a region. */
struct sp_region_words {
    const char *name;
    int64_t offset, bytes;
    unsigned seen; /* 1: region, 2: byte_size, 4: offset */
};

/* *is_one: p was one of them. of: "input 'x'", for messages. */
sp_status sp__region_parameter(const sp_parameter *p, const char *of, sp_region_words *w, bool *is_one);
static inline bool sp__region_given(const sp_region_words *w) { return w->seen != 0; }
/* Input i from there. */
sp_status sp__region_take_input(sp_job *job, int i, sp_dtype dtype, int rank, const int64_t *dims,
                                const sp_region_words *w);
/* An output is to go there; retained until sp__regions_leave. */
sp_status sp__region_want_output(sp_job *job, const char *name, const sp_region_words *w, sp_wanted *out);
/* Output `name` into it. */
sp_status sp__region_put(sp_job *job, const sp_wanted *w, const char *name, const void *data, size_t bytes);
void sp__regions_leave(sp_job *job); /* the job is done with its regions */

#endif
