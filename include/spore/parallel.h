/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - several processes that compute together: the job, groups of its ranks, and what they exchange.
 *
 *     sp_job_join();                                  mpirun -n 4 ./program; alone without a launcher
 *     sp_comm *world = sp_comm_world();
 *     sp_exchange e = {.kind = SP_EXCHANGE_ALL_REDUCE, .dtype = SP_DTYPE_F32, .n = n, .in = g, .out = g};
 *     sp_comm_run(world, &e);
 *
 * All ranks of a group make the same exchanges in the same order. One that does not is told: every exchange begins with a word
 * about itself, and ranks whose words differ fail with both of them. One that does not come within SPORE_COMM_TIMEOUT seconds (600) is
 * named. Sums are taken in the order of ranks, so a job of n ranks gives the same bits every time, on any number of hosts.
 *
 * Bytes are moved by MPI, which is opened at run time: see sp_transport below. */
#ifndef SPORE_PARALLEL_H
#define SPORE_PARALLEL_H

#include "spore/op.h"
#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the job ----------------------------------------------------------------------------------------------------- */

/* Become part of the job that the launcher started, or a job of one rank. Calling it again does nothing. */
SP_API sp_status sp_job_join(void);
SP_API bool sp_job_joined(void);
/* All exchanges are done: leave the job. Ranks that still wait for this one are told. Called at exit, too. */
SP_API void sp_job_leave(void);
/* This rank cannot go on: end all of them, now. `why` is shown once, with the rank. */
SP_API void sp_job_abort(int code, const char *why);
/* What carries the bytes: "one process", "Open MPI 4.1.4". "" before joining. */
SP_API const char *sp_job_transport(void);
/* SPORE_SIMULATE=64 or 64x8: this process is rank 0 of a job of 64 ranks (on 8 hosts) that are not there. Programs are made as for all of them;
 * an exchange gives what it would if all ranks had this one's values. For looking at programs (sp_program_cost), not for results. */
SP_API bool sp_job_simulated(void);
/* What a launcher says, before joining: ranks of the job, 0 if there is none. `out_variable` gets the variable that says so. */
SP_API int sp_job_launched(const char **out_variable);

/* What of MPI is on this machine, a row for each binary interface; `spore doctor` shows it. */
typedef struct sp_mpi_found {
    const char *family;   /* "openmpi", "mpich", "standard": that of MPI 5 */
    const char *packages; /* what to install for it */
    char library[512];    /* path of the MPI that would be opened; "": none was found */
    char version[128];    /* as the library says: "Open MPI v4.1.4" */
    char transport[512];  /* path of our library for it; "": spore was built without */
    bool chosen;          /* it is the launcher's, or opened already */
} sp_mpi_found;
SP_API int sp_job_mpi(sp_mpi_found *out, int max); /* number of rows; the first max are written */

/* --- groups ------------------------------------------------------------------------------------------------------ */

/* Ranks that exchange, numbered from 0. Counted; may be used by several threads, one exchange at a time each. */
typedef struct sp_comm sp_comm;

SP_API sp_comm *sp_comm_world(void); /* all ranks; NULL before sp_job_join. Lives as long as the job */
/* These ranks of the world, in this order. Every one of them calls it, with the same list; others need not. */
SP_API sp_status sp_comm_create(int n, const int *ranks, sp_comm **out);
SP_API sp_comm *sp_comm_retain(sp_comm *c);
SP_API void sp_comm_release(sp_comm *c);
SP_API int sp_comm_rank(const sp_comm *c);
SP_API int sp_comm_size(const sp_comm *c);
SP_API const int *sp_comm_ranks(const sp_comm *c); /* numbers in the world; lives as long as c */
SP_API int sp_comm_local_rank(const sp_comm *c);   /* number among the ranks of c on this host */
SP_API int sp_comm_local_size(const sp_comm *c);

/* Groups by name, for programs: an operator holds a name. Every name that ends in "world_group" stands for the world. */
SP_API sp_status sp_comm_name(const char *name, sp_comm *c); /* keeps a reference; SP_VALUE: the name is taken */
SP_API sp_status sp_comm_find(const char *name,
                              sp_comm **out); /* borrowed until the name is dropped; SP_KEY: no such group */
SP_API sp_status sp_comm_drop(const char *name);

/* --- exchanges --------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define SP_EXCHANGE_LIST(X)                                                                                            \
    X(ALL_REDUCE, "all_reduce")         /* out[n] = reduced in[n], on all */                                           \
    X(ALL_GATHER, "all_gather")         /* out[size * n] = everybody's in[n], by rank */                               \
    X(REDUCE_SCATTER, "reduce_scatter") /* out[n] = this rank's part of the reduced in[size * n] */                    \
    X(BROADCAST, "broadcast")           /* out[n] = the root's in[n] */                                                \
    X(REDUCE, "reduce")                 /* out[n] = reduced in[n], on the root; elsewhere out is not written */        \
    X(GATHER, "gather")                 /* out[size * n] = everybody's in[n], on the root */                           \
    X(SCATTER, "scatter")               /* out[n] = this rank's part of the root's in[size * n] */                     \
    X(ALL_TO_ALL, "all_to_all")         /* part i of in goes to rank i, part i of out comes from it */                 \
    X(SEND, "send")                     /* in[n] to rank `root` */                                                     \
    X(RECV, "recv")                     /* out[n] from rank `root` */                                                  \
    X(BARRIER, "barrier")
/* clang-format on */

#define X(name, text) SP_EXCHANGE_##name,
typedef enum { SP_EXCHANGE_LIST(X) SP_EXCHANGE_COUNT } sp_exchange_kind;
#undef X

#define SP_REDUCE_LIST(X)                                                                                              \
    X(SUM, "sum") X(PROD, "prod") X(MAX, "max") X(MIN, "min") X(AND, "and") X(OR, "or") X(MEAN, "avg")
#define X(name, text) SP_REDUCE_##name,
typedef enum { SP_REDUCE_LIST(X) SP_REDUCE_COUNT } sp_reduce;
#undef X

SP_API const char *sp_exchange_name(sp_exchange_kind kind);
SP_API const char *sp_reduce_name(sp_reduce how);
SP_API sp_status sp_reduce_parse(const char *name, sp_reduce *out); /* "sum", "mean", ... */

enum { SP_EXCHANGE_TAG_MAX = 16000 };

typedef struct sp_exchange {
    sp_exchange_kind kind;
    sp_dtype dtype;
    sp_reduce reduce;
    int64_t n;      /* elements, as the list says; of a part for ALL_TO_ALL with equal parts */
    const void *in; /* row-major; may be the same as out where both have the same size */
    void *out;
    int root; /* rank of the group: root, or the other one of SEND and RECV */
    int tag;  /* SEND and RECV, 0 to SP_EXCHANGE_TAG_MAX: a message meets the receiver with its tag */
    const int64_t *n_to, *n_from; /* ALL_TO_ALL with unequal parts, one number a rank; NULL: n each */
    const char *where;            /* what this is, for messages: "train.py:12"; NULL: nothing to say */
} sp_exchange;

SP_API sp_status sp_comm_run(sp_comm *c, const sp_exchange *e);

/* The same, begun and waited for. Memory of the exchange belongs to it in between; the request ends with sp_request_wait, also when it fails. */
typedef struct sp_request sp_request;
SP_API sp_status sp_comm_start(sp_comm *c, const sp_exchange *e, sp_request **out);
SP_API sp_status sp_request_test(sp_request *r, bool *done); /* moves it on; the request stays */
SP_API sp_status sp_request_wait(sp_request *r);

/* --- programs that are split over ranks --------------------------------------------------------------------------- */

/* A program is recorded with the shapes of whole tensors (graph.h), the same one by every rank, gradients and optimizer steps included. Made with
 * sp_program_options.sharding it computes slices: each rank its own, with the exchanges between them that are needed. What it gives is
 * what one process gives, but for the order of sums.
 *
 *     sp_builder_call(b, "shard", "splits=(2, 1), call=1", 1, &x);            the rows of x over two ranks, or groups of them
 *     sp_builder_call(b, "shard", "splits=(1, 2), call=1, operand=1", 1, &w); and the columns of w, crosswise
 *
 * Operators take the layouts of their inputs, by the rules of the table (sp_op.shard); an operator without a rule is computed whole by every
 * rank, sp_program_report says which. Variables get the layout that their first use asks for: every rank keeps its slice, and the contents of
 * rank 0 are everybody's at the start. */
typedef struct sp_sharding {
    uint32_t struct_size;
    int n_args;
    const sp_ints
        *args; /* by argument: slices of each axis, of which a rank gives its own; n = 0: all give the whole */
    /* Results with as many rows as the first argument that is split along them over all ranks give each rank its own rows; all others, and
     * without this all, are whole. */
    bool split_results;
    /* Stages of a pipeline: the ranks are this many rows, the first row being the first stage (0, 1: none). Arguments are split over one row. */
    int stages;
    const char *scheduler; /* "1f1b" (NULL, too) or "gpipe" */
    int search; /* sp_search: for layouts of Parameters, and where arguments are given whole for those of data */
} sp_sharding;

/* How strategies are searched for: not at all; one axis of the grid of ranks after the other, each with the cheapest choice; none but what is
 * asked for, and what follows from it; all axes at once, keeping the best few. Costs are those of sp_costs_measure. */
typedef enum { SP_SEARCH_NONE, SP_SEARCH_RECURSIVE, SP_SEARCH_PROPAGATION, SP_SEARCH_DYNAMIC } sp_search;

/* Measure operators and exchanges of this job on this machine and keep the figures (SPORE_COSTS, else spore/costs in the user's cache folder). All ranks
 * call it. *report is a table, freed with sp_text_free. */
SP_API sp_status sp_costs_measure(char **report);
/* What a run of a program costs this rank, predicted from those figures: time, exchanges, memory, as JSON; freed with sp_text_free. All ranks call it. */
typedef struct sp_program sp_program;
SP_API sp_status sp_program_cost(const sp_program *p, char **json);

/* Is t a slice of a tensor over ranks? *whole (may be NULL) is its geometry as a whole. */
SP_API bool sp_tensor_is_split(const sp_tensor *t, sp_spec *whole);
/* Slices of each axis; false: no program over several ranks uses t. */
SP_API bool sp_tensor_splits(const sp_tensor *t, int64_t splits[SP_RANK_MAX]);
/* The grid of ranks that t is split over, the last dimension counted fastest: sizes, and the axis of t that each dimension splits, -1 for
 * none. Gives the number of dimensions; 0: no program over several ranks uses t. */
enum { SP_GRID_MAX = 12 };
SP_API int sp_tensor_grid(const sp_tensor *t, int64_t sizes[SP_GRID_MAX], int64_t axes[SP_GRID_MAX]);
/* Programs made from now on have t in slices over such a grid, unless one has it already. */
SP_API sp_status sp_tensor_set_grid(sp_tensor *t, int n, const int64_t *sizes, const int64_t *axes);
/* Do other stages of a pipeline have the contents alone? Here are none (NaN). */
SP_API bool sp_tensor_is_elsewhere(const sp_tensor *t);
/* The whole of such a tensor. All ranks call it. */
SP_API sp_status sp_tensor_whole(sp_tensor *t, sp_tensor **out);
/* Let programs of several ranks keep a slice of t on each rank, along its first axis, where they would repeat it: t is a state of the
 * optimizer that belongs to the Parameter `owner`, or this itself, which is then gathered whenever it is used. parts: ranks that share
 * one tensor, -1: all. Only axes that can be divided are. */
SP_API sp_status sp_tensor_spread(sp_tensor *t, const sp_tensor *owner, int parts);
/* t is this rank's slice, along its first axis, of a tensor that each `parts` ranks in a row share: sp_tensor_whole and files take it so. */
SP_API sp_status sp_tensor_mark_slice(sp_tensor *t, int parts);
/* This rank's slice of `whole`, split as `like` is. */
SP_API sp_status sp_tensor_slice_like(const sp_tensor *whole, const sp_tensor *like, sp_tensor **out);

/* --- transports -------------------------------------------------------------------------------------------------- */

/* What moves bytes: a shared library that exports sp_transport_open, one for each binary interface of MPI (providers/mpi). It is chosen by
 * what the launcher has set, or named by SPORE_TRANSPORT. MPI itself is opened before (src/parallel/mpi_library.c). Handles are the library's own; calls come from one thread at a time. Every
 * operation is begun and gives a request, which test ends. Slots are appended, never moved. */
#define SP_TRANSPORT_VERSION 1

typedef struct sp_transport_host {
    size_t struct_size;
    sp_status (*fail)(sp_status status, const char *message);
} sp_transport_host;

typedef struct sp_transport_job {
    size_t struct_size;
    int rank, size;
    void *world;
    const char *name; /* "Open MPI 4.1.4"; lives as long as the process */
} sp_transport_job;

typedef struct sp_transport {
    size_t struct_size;
    int version;
    sp_status (*join)(const sp_transport_host *host, sp_transport_job *out);
    void (*leave)(void);
    void (*abort)(int code);
    sp_status (*group)(int n, const int *ranks, int tag, void **out);
    void (*release)(void *comm);
    sp_status (*send)(void *comm, const void *data, size_t bytes, int to, int tag, void **request);
    sp_status (*recv)(void *comm, void *data, size_t bytes, int from, int tag, void **request);
    sp_status (*broadcast)(void *comm, void *data, size_t bytes, int root, void **request);
    sp_status (*all_gather)(void *comm, const void *in, size_t bytes, void *out, void **request);
    sp_status (*all_to_all)(void *comm, const void *in, size_t bytes, void *out, void **request);
    sp_status (*test)(void *request, bool *done);
    size_t bytes_max; /* of one operation's part */
} sp_transport;

/* Exported by the library; NULL: it cannot work here. */
typedef const sp_transport *sp_transport_open_fn(void);

#ifdef __cplusplus
}
#endif
#endif
