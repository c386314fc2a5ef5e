/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_impl.h - jobs, groups and exchanges from inside. The public face is spore/parallel.h.
 *
 * Invariants:
 *  1. Calls of the transport are made under sp__transport_lock, which nobody keeps while waiting: who waits asks again and again. For
 *     exchanges that were begun and are not waited for yet, a thread asks (background.c).
 *  2. An exchange begins with a word from every rank of the group to every other (sp_word). Words of one rank arrive in their order, so the
 *     k-th word that comes from a rank belongs to the k-th exchange of the group. Only when all agree are data moved.
 *  3. Exchanges of a group move data one after the other, in the order they were begun; messages do so among those between the
 *     same two ranks with the same tag. A word and its data have different tags. Whoever waits for one exchange moves on all.
 *  4. Values are reduced in the order of ranks, in float32 where they are float16 or bfloat16, and rounded once.
 *  5. A group in which an exchange failed is broken: later ones fail with the same words, since ranks may be at different places. */
#ifndef SPORE_PARALLEL_IMPL_H
#define SPORE_PARALLEL_IMPL_H

#include "base/lock.h"
#include "ir/op_impl.h"
#include "spore/parallel.h"

/* --- groups ------------------------------------------------------------------------------------------------------ */

struct sp_comm {
    atomic_int refs;
    void *handle; /* the transport's; NULL with one rank */
    int rank, size;
    int local_rank, local_size;
    uint32_t n_begun; /* exchanges of all ranks, this rank's count; it and what follows belong to exchange.c */
    bool broken;
    sp_error error;       /* why */
    struct sp_comm *next; /* list of all groups, for leaving */
    int ranks[];          /* in the world */
};

extern sp_lock sp__transport_lock;
/* NULL: one process. */
const sp_transport *sp__transport(void);
/* The transport for a launcher's family, with its MPI, opened. */
sp_status sp__transport_find(const char *family, const sp_transport **out);
/* Path of the transport of a family; "" and false: there is none. */
bool sp__transport_path(const char *family, char *out, size_t room);
/* "openmpi", "mpich", "standard" by what is loaded and what the launcher has set; NULL: there is none. */
const char *sp__launcher_family(void);

/* A binary interface of MPI: names of its library, newest last, and what to install. */
typedef struct sp_mpi_family {
    const char *name, *libraries[2], *packages;
} sp_mpi_family;
const sp_mpi_family *sp__mpi_family(const char *name);
/* That of the library which the process has opened already; NULL: none. */
const sp_mpi_family *sp__mpi_loaded(void);
/* The library of a family, its functions visible to all. */
sp_status sp__mpi_open(const sp_mpi_family *family);

/* Seconds an exchange may take, from SPORE_COMM_TIMEOUT. */
int64_t sp__comm_timeout(void);
/* A process that was forked from a rank is none. */
sp_status sp__comm_check(const sp_comm *c);

/* --- words ------------------------------------------------------------------------------------------------------- */

/* What a rank says before an exchange. Small payloads travel in it. */
enum { SP_WORD_MAGIC = 0x73703031, SP_WORD_PAYLOAD = 192 };
typedef struct sp_word {
    uint32_t magic;
    uint32_t number; /* of the exchange in its group */
    uint8_t kind, dtype, reduce;
    uint8_t left; /* the rank leaves the job instead */
    int32_t root;
    int64_t n;
    char where[40];
    unsigned char payload[SP_WORD_PAYLOAD];
} sp_word;

enum { SP_TAG_WORD = 0, SP_TAG_DATA = 1, SP_TAG_USER = 16 };

/* --- exchanges in progress --------------------------------------------------------------------------------------- */

struct sp_request {
    sp_comm *comm;
    sp_exchange e;
    int64_t bytes; /* of e.n elements */
    sp_word mine;
    sp_word *theirs; /* by rank */
    int phase;       /* 0: words; from 1 on the kind's own */
    int64_t at;      /* elements done, for those in pieces */
    int64_t slice;   /* elements of a rank in this piece */
    char *work;      /* room for others' values */
    int n_ops, ops_room;
    void **ops;   /* begun and not yet done */
    int *op_rank; /* whom each is about */
    bool done;
    bool noticed_by_all; /* other ranks fail for the same reason */
    sp_status status;
    sp_error error;
    int64_t begun_ns; /* or waited from */
    int64_t first_ns; /* the first in its row from then on; 0: not yet */
    sp_request *next; /* in the list of those begun */
};

/* Begin the next operations of r, or set r->done. */
sp_status sp__exchange_next(sp_request *r);
/* Messages in pieces that the transport takes; their operations are added to r. */
sp_status sp__request_send(sp_request *r, const void *data, int64_t bytes, int to, int tag);
sp_status sp__request_recv(sp_request *r, void *data, int64_t bytes, int from, int tag);
/* One operation of the transport; called by the macro. */
sp_status sp__request_op(sp_request *r, int rank, sp_status status, void *op);

/* --- in the background ------------------------------------------------------------------------------------------- */

/* Moves on all that were begun as far as they go. *n_left: those that are not done; whether any has moved. */
bool sp__exchanges_move(int *n_left);
/* An exchange was begun: from now on it is moved on while nobody waits for it. */
sp_status sp__background_wake(void);
/* Somebody waits, and moves them on himself; *_end: no more. */
void sp__background_pause(void);
void sp__background_resume(void);
/* An exchange whose data were moved between these times, for the recording of what runs when. */
void sp__background_record(const char *name, int64_t begin_ns, int64_t end_ns);
/* No thread after this. */
void sp__background_end(void);

/* The exchange of an operator: all of it, or its beginning where the call asks for that; and the wait for what was begun. */
sp_status sp__call_exchange(const sp_call *c, sp_comm *comm, const sp_exchange *e);
sp_status sp__call_await(sp_request **begun, bool give_up);

/* --- arithmetic -------------------------------------------------------------------------------------------------- */

/* out[i] = in[0][i] op in[1][i] op ..., the k-th operand at in + k * stride elements. out may be one of them. */
void sp__reduce_ranks(sp_dtype dtype, sp_reduce how, int n_ranks, const void *in, int64_t stride, int64_t n, void *out);
/* SP_TYPE: there is no such reduction of this dtype. */
sp_status sp__reduce_check(sp_dtype dtype, sp_reduce how);

#endif
