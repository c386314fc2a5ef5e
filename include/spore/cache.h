/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - rows of data sets kept for several epochs and several jobs, by a server on the same machine.
 *
 *     uint32_t session;
 *     sp_cache *cache;
 *     sp_cache_session_create(NULL, &session);                         `spore cache start` has been called before
 *     sp_cache_create(&(sp_cache_options){.session = session}, &cache);
 *     sp_dataset_cache(decoded, cache, "decoded, version 3", &cached); then shuffle, augment, batch on top of it
 *
 * Rows are kept under their number in the source, in memory that the server hands to its clients: they are read in place. What
 * a cache holds is told by a digest of the tree below it, of its files and of `key`; another tree, or a changed file, is another
 * cache. Rows come as they would without a cache, in the same order; random transforms belong on top of it.
 * Nothing of it has a name in the file system: whatever is killed, the kernel takes memory, sockets and spilled rows back. */
#ifndef SPORE_CACHE_H
#define SPORE_CACHE_H

#include "spore/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a server is: a number of 1025 to 65535 as text, as MindSpore has ports (no port of the network is used), or the name of a
 * private one. NULL: MS_CACHE_PORT, or 50052. Users do not see each other's servers. */

/* --- in a pipeline --------------------------------------------------------------------------------------------------- */

typedef struct sp_cache sp_cache; /* counted */

typedef struct sp_cache_options {
    const char *address;
    uint32_t session;   /* from sp_cache_session_create */
    uint64_t max_bytes; /* of memory for this cache; 0: as much as the server gives */
    bool spill;         /* rows that do not fit go to the server's folder for it */
    bool strict;        /* a server that goes away is a failure; else rows are made anew, which is said once */
    void (*report)(const char *text); /* says it, on any thread; NULL: standard error */
} sp_cache_options;

SP_API sp_status sp_cache_create(const sp_cache_options *options, sp_cache **out);
SP_API sp_cache *sp_cache_retain(sp_cache *cache);
SP_API void sp_cache_release(sp_cache *cache); /* NULL is fine */
/* The rows of ds, kept. key: what the digest cannot know, such as what functions of the caller do; may be NULL. */
SP_API sp_status sp_dataset_cache(sp_dataset *ds, sp_cache *cache, const char *key, sp_dataset **out);

typedef struct sp_cache_figures {
    uint64_t rows_in_memory, rows_on_disk, bytes_in_memory, bytes_on_disk;
    uint64_t row_bytes; /* of a row, on average */
} sp_cache_figures;
/* SP_RUNTIME before it was read from. */
SP_API sp_status sp_cache_stat(sp_cache *cache, sp_cache_figures *out);

/* --- administration -------------------------------------------------------------------------------------------------- */

SP_API sp_status sp_cache_session_create(const char *address, uint32_t *out);
SP_API sp_status sp_cache_session_destroy(const char *address, uint32_t session);
/* Drop the rows, keep the sessions; session 0: of all. */
SP_API sp_status sp_cache_clear(const char *address, uint32_t session);
/* A connection that does nothing but be there, to be closed; a server with until_unused stays for it. */
SP_API sp_status sp_cache_link(const char *address, int *fd);
/* Returns when the server has gone. */
SP_API sp_status sp_cache_stop(const char *address);

typedef struct sp_cache_entry {
    uint32_t session, id; /* id 0: a session without caches */
    uint32_t n_clients;
    sp_cache_figures figures;
} sp_cache_entry;
/* Sessions and caches; *list comes from malloc. */
SP_API sp_status sp_cache_list(const char *address, sp_cache_entry **list, int *n);

typedef struct sp_cache_info {
    int64_t pid;
    int n_workers, log_level; /* as given at the start */
    int n_clients, n_sessions;
    uint64_t max_bytes, bytes, spill_bytes;
    char spill_folder[1024]; /* empty: none */
} sp_cache_info;
SP_API sp_status sp_cache_describe(const char *address, sp_cache_info *out);

/* --- the server ------------------------------------------------------------------------------------------------------ */

typedef struct sp_cache_server sp_cache_server;

typedef struct sp_cache_server_options {
    const char *address;
    uint64_t max_bytes;       /* of all caches together; 0: max_ratio of the memory that this process may use */
    double max_ratio;         /* 0: 0.8 */
    const char *spill_folder; /* NULL: none */
    uint64_t max_spill_bytes; /* 0: as much as there is */
    int n_workers, log_level; /* told to who asks; clients move the bytes, so there are no workers */
    bool until_unused;        /* end when the last client has gone */
    void (*log)(void *context, int level,
                const char *line); /* levels as MindSpore's: 0 debug, 1 info, 2 warning, 3 error */
    void *log_context;
} sp_cache_server_options;

/* It listens from here on. SP_VALUE if there is one at the address already. */
SP_API sp_status sp_cache_server_create(const sp_cache_server_options *options, sp_cache_server **out);
/* Serve on this thread, until sp_cache_server_stop or a client says so. */
SP_API sp_status sp_cache_server_run(sp_cache_server *s);
SP_API void sp_cache_server_stop(sp_cache_server *s);    /* from any thread or a signal handler */
SP_API void sp_cache_server_release(sp_cache_server *s); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
