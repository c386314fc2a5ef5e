/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the dataset cache from inside: the protocol, the memory, the lease. Read this one.
 *
 * A cache is a set of rows under their numbers in a source, 0 .. n-1. The server makes four files without names for it and hands
 * them to every client over its socket (SCM_RIGHTS):
 *
 *   index    n entries, written by the server alone (sealed for others): where a row lies, and how long it is; 0: it is not there
 *   claims   n numbers, written by clients: who makes a row for the cache right now. Wrong numbers cost rows that are kept twice
 *            or not at all, never wrong rows
 *   arena    rows in memory; its size is the most that the cache may have, and is sealed
 *   spill    rows on disk, an unlinked file; only if asked for
 *
 * Reading: a client looks into the index; a row in memory is a tensor over its mapping of the arena, a row on disk is read. No
 * message is sent. Writing: a client takes the claim (compare and swap), writes the row with pwrite into a stretch that the server
 * leased to it, and says COMMIT; the server checks that the stretch is the client's and puts it into the index, which is the
 * moment from which on others see it. So a row is there as a whole or not at all, whoever dies when.
 *
 * A lease ends with the connection: what was not committed is free again, claims are taken back. A client that dies is a closed
 * socket, and so is a server that does. Clients of a dead server still have the files, and what is in them; they get no new leases.
 *
 * The socket is abstract (no file), SOCK_SEQPACKET: a message is a packet, a sp_cache_request or a sp_cache_reply. Both sides look
 * at the other's user (SO_PEERCRED). The server has one thread and never touches rows; every request is checked as if it came from
 * an enemy, and a wrong one ends its connection. */
#ifndef SPORE_CACHE_IMPL_H
#define SPORE_CACHE_IMPL_H

#include "base/lock.h"
#include "spore/cache.h"
#include "tensor/tensor_impl.h"

/* --- the protocol ----------------------------------------------------------------------------------------------------- */

enum {
    SP_CACHE_VERSION = 0x53504331, /* first word of every packet */
    SP_CACHE_DIGEST = 32,
    SP_CACHE_FILES = 4,
    SP_CACHE_PORT = 50052,
    SP_CACHE_PAGE = 4096,       /* leases are multiples of it */
    SP_CACHE_WISH = 4 << 20,    /* what a client asks for */
    SP_CACHE_LARGE = 256 << 10, /* rows from here on have leases of their own */
    SP_CACHE_LIST = 64          /* entries in one reply */
};

typedef enum {
    SP_CACHE_SESSION_CREATE,  /* number: the session */
    SP_CACHE_SESSION_DESTROY, /* session */
    SP_CACHE_CLEAR,           /* session, 0: all */
    SP_CACHE_ENTRIES,         /* a: first entry. number: entries in all; the reply is followed by them */
    SP_CACHE_INFO,            /* the reply is followed by a sp_cache_info */
    SP_CACHE_STOP,
    SP_CACHE_OPEN, /* session, digest, a: rows, b: bytes at most, c: 1 to spill. number: of the client; with the files */
    SP_CACHE_LEASE, /* a: bytes, at least; wish: better so many; b: where the use of the lease before ends, 0: there was none; c: 1 on disk if there is no
                       memory. offset, bytes of the lease; SP_CACHE_FULL if there is no room */
    SP_CACHE_COMMIT,  /* a: row, b: offset, c: bytes. No reply */
    SP_CACHE_GIVE_UP, /* the disk is full. No reply */
    SP_CACHE_FLUSH,   /* a reply when all before it is done */
    SP_CACHE_STAT,    /* session, digest; the reply is followed by sp_cache_figures */
    SP_CACHE_KINDS
} sp_cache_kind;

typedef struct sp_cache_request {
    uint32_t version, kind;
    uint32_t session, wish;
    uint64_t a, b, c;
    uint8_t digest[SP_CACHE_DIGEST];
} sp_cache_request;

typedef enum {
    SP_CACHE_DONE,
    SP_CACHE_FULL,
    SP_CACHE_NO_SESSION,
    SP_CACHE_NO_CACHE,
    SP_CACHE_NO_SPILL,
    SP_CACHE_NO_MEMORY,
    SP_CACHE_OTHER_USER,
    SP_CACHE_WRONG,
    SP_CACHE_CROWDED
} sp_cache_answer;

typedef struct sp_cache_reply {
    uint32_t version, answer; /* a sp_cache_answer */
    uint64_t number;
    uint64_t offset, bytes;
} sp_cache_reply;

/* An entry of the index. Offsets with the highest bit are in the spill file. bytes 0: not there; written last. */
typedef struct sp_cache_place {
    _Atomic uint64_t offset, bytes;
} sp_cache_place;
#define SP_CACHE_ON_DISK ((uint64_t)1 << 63)

/* --- sockets (link.c) -------------------------------------------------------------------------------------------------- */

/* The name for messages, "port 50052" or "private server x"; NULL is the default. Fails for what is no address. */
sp_status sp__rowcache_address(const char *address, char out[64]);
sp_status sp__rowcache_listen(const char *address, int *fd);
/* SP_IO with a text that says how to start one. */
sp_status sp__rowcache_connect(const char *address, int *fd);
/* Packets, with files or without (n 0); false: the other side is gone, or sent something else. */
bool sp__rowcache_send(int fd, const void *packet, size_t bytes, int n, const int *files);
/* Bytes received, -1; wait in milliseconds, -1: for ever. Files that were sent are in files[0..n-1], else closed. */
int64_t sp__rowcache_receive(int fd, void *packet, size_t room, int n, int *files, int *n_files, int wait);
/* Ask and get the answer; `more` bytes may follow it into `to`. The failure of the answer is the status. */
sp_status sp__rowcache_ask(int fd, const sp_cache_request *q, sp_cache_reply *r, void *to, size_t room, size_t *more);
sp_status sp__rowcache_failed(uint32_t answer, const sp_cache_request *q);

/* --- rows kept, on the server's side (keep.c) --------------------------------------------------------------------------- */

/* A stretch that belongs to one client until it is committed. */
typedef struct sp_cache_lease {
    struct sp_cache_lease *next;
    uint64_t offset, bytes; /* offset with SP_CACHE_ON_DISK, or not */
    uint64_t used;          /* up to here there are rows */
    uint32_t client;
} sp_cache_lease;

/* A stretch that was given back. */
typedef struct sp_cache_gap {
    uint64_t offset, bytes;
} sp_cache_gap;

typedef struct sp_cache_room {
    int fd;             /* -1: none */
    uint64_t top, most; /* given out up to here; size of the file */
    uint64_t used, rows, row_bytes;
    sp_cache_gap gaps[64]; /* a full list forgets the smallest */
    int n_gaps;
} sp_cache_room;

typedef struct sp_cache_keep {
    struct sp_cache_keep *next;
    uint32_t session;
    uint8_t digest[SP_CACHE_DIGEST];
    uint64_t n_rows, limit;
    int index_fd, claims_fd;
    sp_cache_place *index;
    _Atomic uint32_t *claims;
    sp_cache_room memory, disk;
    sp_cache_lease *leases;
    uint32_t n_clients;
    bool disk_full, dropped;
} sp_cache_keep;

/* What all caches have together. */
typedef struct sp_cache_budget {
    uint64_t most, used, most_spilled, spilled;
    const char *folder;
} sp_cache_budget;

uint64_t sp__rowcache_fixed_bytes(uint64_t n_rows); /* of index and claims */
sp_status sp__rowcache_keep_create(const sp_cache_request *q, sp_cache_budget *all, sp_cache_keep **out);
void sp__rowcache_keep_release(sp_cache_keep *k, sp_cache_budget *all);
sp_cache_answer sp__rowcache_lease(sp_cache_keep *k, sp_cache_budget *all, uint32_t client, const sp_cache_request *q,
                                   sp_cache_reply *r);
/* False: it is not the client's to commit. */
bool sp__rowcache_commit(sp_cache_keep *k, uint32_t client, uint64_t row, uint64_t offset, uint64_t bytes);
void sp__rowcache_client_gone(sp_cache_keep *k, sp_cache_budget *all, uint32_t client);
void sp__rowcache_figures(const sp_cache_keep *k, sp_cache_figures *out);

/* --- the server (server.c) ------------------------------------------------------------------------------------------------ */

/* One packet of a client that has no files to be sent, as the loop does it: for tests and fuzzers. False: the connection ends. */
typedef struct sp_cache_client sp_cache_client;
sp_cache_client *sp__rowcache_server_client(sp_cache_server *s, int fd);
bool sp__rowcache_server_packet(sp_cache_server *s, sp_cache_client *c, const void *packet, size_t bytes);
void sp__rowcache_server_drop(sp_cache_server *s, sp_cache_client *c);

/* --- rows as bytes (row.c) ------------------------------------------------------------------------------------------------ */

/* Bytes of a row: a head (count, then dtype, rank and dims of each cell), then the cells, each aligned to 64. */
uint64_t sp__rowcache_row_bytes(int n, sp_tensor *const *cells);
sp_status sp__rowcache_row_write(int fd, uint64_t offset, int n, sp_tensor *const *cells);
/* Cells over the bytes of a row that belong to storage. SP_FORMAT: it is no row of n cells. */
sp_status sp__rowcache_row_read(const uint8_t *data, uint64_t bytes, sp_storage *storage, int n, sp_tensor **cells);

/* What the rows of ds are made of, and how. */
sp_status sp__rowcache_digest(const sp_dataset *ds, const char *key, uint8_t out[SP_CACHE_DIGEST]);
/* The same without looking at files: of one tree it is always the same. */
sp_status sp__rowcache_tree_digest(const sp_dataset *ds, const char *key, uint8_t out[SP_CACHE_DIGEST]);
/* Can rows of ds be kept under their numbers? *n_rows of its source. */
sp_status sp__rowcache_check(const sp_dataset *ds, int64_t *n_rows);

#endif
