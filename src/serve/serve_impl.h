/* SPDX-License-Identifier: Apache-2.0 */
/* serve_impl.h - the parts of the server and the way of a request through them.
 *
 *     net's loop --handle--> route --job--> workers: decode --> queue of the model --> its runner: joins, runs, splits
 *          ^                                                                                   |
 *          +---------------- reply <------- workers: encode <----------------------------------+
 *
 * (Small bodies are decoded on the loop's thread, and small results encoded on the runner's: waking a worker would take longer.)
 *
 * A job belongs to whoever works on it; there is no other state of a request. What cannot be answered at once on the loop's thread
 * becomes a job: reading a large body must not keep others waiting. Each step may end it early, with a failure that the protocol puts
 * into its own words (sp__job_fail).
 *
 *     entries.c   models by name, their versions, what appears in their folders
 *     served.c    one version: loaded, tried out, counted
 *     batcher.c   its queue and its runner
 *     kserve_*.c mindspore_*.c   protocols: bytes to tensors and back */
#ifndef SPORE_SERVE_IMPL_H
#define SPORE_SERVE_IMPL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/text.h"
#include "net/net.h"
#include "serve/metrics.h"
#include "spore/model.h"
#include "spore/serve.h"

enum { SP_SERVE_INPUTS_MAX = 64, SP_SERVE_BATCH_MAX = 1024 };

/* --- models -------------------------------------------------------------------------------------------------------- */

/* One version of a model, ready to run. Counted: by its entry while it is the current one, by the list of retired ones after that, and by every job
 * that it has. The last reference is always the entry's or the list's, so that no runner ends itself. */
typedef struct sp_served {
    atomic_int refs;
    struct sp_served *next_retired;
    struct sp_entry *entry; /* outlives it */
    int64_t version;
    char *file;
    sp_copy *copies; /* the files it was read from: its weights are memory of its own, which nobody changes */
    sp_model *model;
    int n_in, n_out;
    /* Rows of different requests can be run together, up to max_batch; 1: they cannot. exact: that showed not one bit of difference. */
    int max_batch;
    bool exact;
    const char *why_single; /* why max_batch is 1; static */
    /* The queue. */
    sp_lock lock;
    sp_cond more;
    struct sp_job *first, **end;
    bool closing;
    pthread_t runner;
    bool running;
} sp_served;

/* A version that cannot be served, and why. */
typedef struct sp_refusal {
    struct sp_refusal *next;
    int64_t version;
    sp_copy *copies; /* what was read of it: not tried again until that changes. NULL: it is looked at again every time */
    bool told;
    sp_error error;
} sp_refusal;

/* A model by its name; lives as long as the server. */
typedef struct sp_entry {
    struct sp_entry *next;
    struct sp_server *server;
    char *name, *path;
    bool folder;         /* path holds versions, not a model */
    sp_lock lock; /* of current and degraded */
    sp_served *current;  /* NULL: none yet */
    char degraded[400];  /* why a newer version than the current one is not served; empty: there is none */
    atomic_bool added;   /* sp_server_add_model has done with it; what follows belongs to the watcher from then on */
    sp_refusal *refusals;
    sp_stamp seen;       /* of the file that would be loaded next; it is loaded once it is found unchanged */
    atomic_int n_waiting; /* jobs that have no result yet */
    sp_entry_metrics metrics;
} sp_entry;

/* served.c */
/* *copies: what was read, also of a failure; the caller's. */
sp_status sp__served_load(sp_entry *e, int64_t version, const char *file, sp_copy **copies, sp_served **out);
sp_served *sp__served_retain(sp_served *m);
void sp__served_release(sp_served *m);
const char *sp__served_kind(const sp_served *m); /* "onnx", ...: for its metadata */

/* entries.c */
sp_entry *sp__entry_find(struct sp_server *s, const char *name); /* NULL: there is none */
/* The current version, retained; version 0: any, else that one alone. NULL: not loaded. */
sp_served *sp__entry_take(sp_entry *e, int64_t version);
void sp__entry_degraded(sp_entry *e, char out[400]); /* empty: it is not */
bool sp__entries_poll(struct sp_server *s);   /* look for newer versions, load them; the watcher's. true: some are not yet at rest, look again soon */
bool sp__entries_retire(struct sp_server *s); /* let go of old versions that have no jobs; true: some still have */
void sp__entries_release(struct sp_server *s);

/* --- jobs ---------------------------------------------------------------------------------------------------------- */

/* An output that the client wants, and how. */
typedef struct sp_wanted {
    int index;
    bool binary;
    int64_t classes; /* KServe: its largest elements, as texts; 0: the tensor */
} sp_wanted;

typedef struct sp_job {
    struct sp_job *next;
    struct sp_server *server;
    sp_exchange *x;
    sp_served *model; /* retained */
    const struct sp_protocol *protocol;
    sp__arena arena;  /* what lives as long as the job */
    sp_tensor **in, **out; /* n_in, n_out of them, NULL until they are there */
    int64_t rows;     /* of all inputs; 0: they are no rows, or not of one number */
    int64_t queued_us, deadline_us;
    bool counted;     /* in the entry's n_waiting */
    bool encoding;    /* the workers' next step with it */
    int status;       /* HTTP status of a failure, 0: none */
    sp_error error;   /* its text */
    /* Of protocols. */
    const char *id;
    bool binary;      /* outputs that say nothing about it are binary */
    int n_wanted;     /* 0: all, as `binary` says */
    sp_wanted *wanted;
    bool bare;        /* MindSpore: instances came without the axis of rows */
    int64_t n_instances; /* MindSpore: rows of the request; a model of a fixed number of rows may have got more */
} sp_job;

typedef struct sp_protocol {
    const char *name; /* for the log and the figures */
    sp_status (*decode)(sp_job *job); /* x->body to in */
    sp_status (*encode)(sp_job *job); /* out to x->reply */
    void (*fail)(sp_job *job);        /* status and error to x->reply */
} sp_protocol;

extern const sp_protocol sp__protocol_kserve_rest, sp__protocol_mindspore_rest, sp__protocol_kserve_grpc, sp__protocol_mindspore_grpc;

/* server.c */
/* Begin a job for an exchange, which is answered sooner or later; takes the reference to the model. */
void sp__job_begin(struct sp_server *s, sp_exchange *x, sp_served *take_model, const sp_protocol *protocol);
void sp__job_failed(sp_job *job, sp_status status);                 /* with this thread's message; the status tells what HTTP's is */
void sp__job_fail(sp_job *job, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void sp__job_end(sp_job *job);                                      /* reply is filled, or job->status set: answer and free */
void sp__job_encode(sp_job *job);                                   /* it has its results: write and answer, here or on a worker */
/* Does nobody want the answer any more? */
bool sp__job_abandoned(const sp_job *job, int64_t now_us);
int sp__http_status(sp_status status);

/* batcher.c */
sp_status sp__runner_start(sp_served *m);
void sp__runner_stop(sp_served *m);  /* when no job refers to it */
void sp__served_submit(sp_job *job); /* decoded */

/* --- the server ---------------------------------------------------------------------------------------------------- */

typedef struct sp_log_queue sp_log_queue;

struct sp_server {
    sp_server_options o;
    char *texts[5];
    sp_net *net;
    pid_t pid; /* whose it is: a child of fork has neither its threads nor connections of its own */
    bool started;
    sp_lock lock; /* of entries */
    sp_entry *entries;
    sp_log_queue *log; /* NULL: nobody wants to know */
    sp_server_metrics metrics;
    /* Workers and their queue; the watcher of folders sleeps on the same lock. */
    sp_lock work_lock;
    sp_cond work;
    sp_cond watch;
    sp_job *first, **end;
    bool ending;
    bool polling; /* the watcher is at the disk, and may be loading a model */
    int n_threads;
    pthread_t threads[64];
    pthread_t watcher;
    bool watching;
    sp_served *retired; /* versions that others have replaced, until their last job is done; the watcher's */
};

/* server_log.c: lines never keep anybody waiting; what the program cannot take in time is dropped and counted. */
sp_status sp__log_create(const sp_server_options *o, sp_log_queue **out);
void sp__log_end(sp_log_queue *q); /* what waits is written first, unless the program's function hangs */
unsigned long long sp__log_dropped(const sp_log_queue *q, bool access);
void sp__log_time(char out[32]); /* access_log.c: now, as lines begin with it */
void sp__server_log(struct sp_server *s, sp_log_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool sp__server_ready(struct sp_server *s);
bool sp__server_stopping(const struct sp_server *s); /* what takes long may as well be left off */
sp_status sp__server_check(const struct sp_server *s); /* that it is this process's */
void sp__server_route(void *context, sp_exchange *x); /* routes.c: net's handler */
void sp__server_finished(void *context, const sp_exchange *x); /* access_log.c */

/* Fill x->reply with a text (taken over) or an error. */
void sp__reply_text(sp_exchange *x, int status, const char *type, sp__text *text);
void sp__reply_error(sp_exchange *x, int status, const char *text);

#endif
