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
 *     settings.c  how a model is served
 *     versions.c  what lies in the folders of models
 *     entries.c   models by name, their versions
 *     models.c    which models there are: given, found in watched folders, loaded and unloaded by request
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
#include "serve/keys.h"
#include "serve/metrics.h"
#include "spore/model.h"
#include "spore/serve.h"

enum { SP_SERVE_INPUTS_MAX = 64, SP_SERVE_BATCH_MAX = 1024 };

/* --- models -------------------------------------------------------------------------------------------------------- */

enum {
    SP_SERVE_INSTANCES_MAX = 16,
    SP_SERVE_VERSIONS_MAX = 64,
    SP_SERVE_LABELS_MAX = 32,
    SP_SERVE_STATES_MAX = 16,
    SP_SERVE_PATH_BYTES = 4096
};

/* How a model is served: sp_model_config, read, with what it leaves to the server filled in. */
typedef struct sp_settings {
    int max_batch;
    bool trust_batch;
    int64_t max_delay_us;
    int max_queue;
    double request_seconds;
    int n_instances;
    int n_newest;   /* versions that are served, at most */
    int n_versions; /* of these alone; 0: of all */
    int64_t versions[SP_SERVE_VERSIONS_MAX];
    int n_labels;
    struct {
        char name[48];
        int64_t version;
    } labels[SP_SERVE_LABELS_MAX];
    char warm_up[512], key_file[1024], key_mode[16], preprocess[512], classes[1024], state[512], device[64];
    double sequence_idle;
    int n_priorities; /* 0: all requests are alike */
} sp_settings;

/* settings.c */
sp_status sp__settings_read(const sp_server_options *o, const sp_model_config *c, sp_settings *out);
bool sp__settings_want(const sp_settings *s, int64_t version);
int64_t sp__settings_label(const sp_settings *s, const char *label); /* 0: there is none of that name */
/* One set of shapes of `warm_up`, from *at on, which moves behind it: the shape of each of the inputs' names that it holds. False: there is no more. */
typedef struct sp_warm_shape {
    char name[128];
    int rank;
    int64_t dims[SP_RANK_MAX];
} sp_warm_shape;
sp_status sp__settings_warm_up(const char **at, int *n, sp_warm_shape shapes[SP_SERVE_INPUTS_MAX]);
/* The key of a model's files into `bytes`, which the caller wipes. */
sp_status sp__settings_key(const sp_settings *s, unsigned char bytes[64], size_t *n);

enum { SP_STATISTICS_SIZES = 11 }; /* of runs: 1, 2, 4 ... 1024 rows */

typedef struct sp_duration {
    atomic_ullong n, ns;
} sp_duration;

/* What a version did (statistics.c). */
typedef struct sp_statistics {
    sp_duration success, fail, queue, infer; /* of requests */
    sp_duration sizes[SP_STATISTICS_SIZES];  /* of runs with so many rows */
    atomic_ullong rows, runs, last_ms;
} sp_statistics;

/* One version of a model, ready to run. Counted: by its entry while it is the current one, by the list of retired ones after that, and by every job
 * that it has. The last reference is always the entry's or the list's, so that no runner ends itself. */
typedef struct sp_served {
    atomic_int refs;
    struct sp_served *next; /* older, of its entry; or in the list of retired ones */
    struct sp_entry *entry; /* outlives it */
    int64_t version;
    int generation; /* of the entry's settings, which these are */
    sp_settings settings;
    char *file;
    sp_file_copy *copies; /* the files it was read from: its weights are memory of its own, which nobody changes */
    sp_model *model;
    int n_in, n_out;
    /* Rows of different requests can be run together, up to max_batch; 1: they cannot. exact: that showed not one bit of difference. */
    int max_batch;
    bool exact;
    struct sp_preprocess *preprocess; /* of pictures; NULL: it takes none */
    int n_classes;                    /* names of what it tells apart, by index */
    const char **classes;
    char *classes_text; /* they point into it */
    int n_states;       /* outputs that are inputs of a sequence's next request (sequences.c) */
    struct {
        int in, out;
    } states[SP_SERVE_STATES_MAX];
    struct sp_sequence *sequences; /* under lock */
    int n_sequences;
    bool items;             /* it takes or gives texts */
    const char *why_single; /* why max_batch is 1; static */
    /* The queue. */
    sp_lock lock;
    sp_cond more;
    struct sp_job *first, **end;
    bool closing;
    pthread_t runners[SP_SERVE_INSTANCES_MAX];
    int n_runners, n_running;
    bool in_place;      /* a job is run by the thread that decoded it (batcher.c) */
    size_t quick_bytes; /* of inputs that such runs may have; 0: none may */
    int n_too_long;     /* of those runs, that kept others waiting */
    sp_statistics statistics;
} sp_served;

void sp__statistics_job(sp_served *m, bool ok, int64_t us);
void sp__statistics_queue(sp_served *m, int64_t us);
void sp__statistics_run(sp_served *m, int n_jobs, int64_t rows, int64_t us);

/* What is known of a version that is not served. */
typedef struct sp_version_note {
    struct sp_version_note *next;
    int64_t version;
    sp_stamp seen; /* of its file; it is loaded once it is found unchanged */
    sp_file_copy *
        copies; /* what was read of it when it was refused: not tried again until that changes. NULL: it is looked at again every time */
    bool told;
    sp_error error; /* why it cannot be served; SP_OK: nothing is known against it */
} sp_version_note;

/* A folder of models that is watched. */
typedef struct sp_model_folder {
    struct sp_model_folder *next;
    char *path;
    sp_settings settings;
    bool gone;
} sp_model_folder;

/* A model by its name; lives as long as the server. */
typedef struct sp_entry {
    struct sp_entry *next;
    struct sp_server *server;
    char *name, *path;
    sp_model_folder *of; /* it was found in; NULL: it was given by itself */
    bool folder;         /* path holds versions, not a model */
    sp_lock lock;        /* of what stands down to unavailable */
    sp_served *served;   /* versions that are served, the newest first; written by who loads alone */
    sp_settings settings;
    sp_settings given;     /* by the program, while a client's order to load has put others in their place */
    bool overridden;       /* it has */
    char degraded[400];    /* why a newer version than the current one is not served; empty: there is none */
    char unavailable[400]; /* why no version is */
    atomic_bool tried;     /* once, at least */
    atomic_bool gone;      /* no longer among the models; as if it were not there */
    atomic_bool unloaded;  /* by request */
    /* Of who loads (sp__load_begin). */
    int generation; /* of settings */
    bool listed;    /* sp_server_set_models: it is among those */
    sp_version_note *notes;
    atomic_int n_waiting; /* jobs that have no result yet */
    sp_entry_metrics metrics;
} sp_entry;

/* served.c */
/* *copies: what was read, also of a failure; the caller's. */
sp_status sp__served_load(sp_entry *e, int64_t version, const char *file, sp_file_copy **copies, sp_served **out);
sp_served *sp__served_retain(sp_served *m);
void sp__served_release(sp_served *m);
/* classes.c: the names that its settings' file has, one a line. */
sp_status sp__served_classes(sp_served *m);
const char *sp__served_kind(const sp_served *m); /* "onnx", ...: for its metadata */

/* versions.c */
bool sp__is_folder(const char *path);
/* Both fail where a folder cannot be read for the moment: what was there is there still, as far as anybody knows. */
sp_status sp__versions_in(const char *path, bool *there); /* does the folder hold numbered folders? */
sp_status sp__versions_next(const sp_entry *e, int64_t below,
                            int64_t *next); /* the newest below `below` that lies on the disk; 0: none */
sp_status sp__versions_file(const sp_entry *e, int64_t version, char file[SP_SERVE_PATH_BYTES]);
char *sp__model_name(const char *path); /* "models/lenet.mindir" as "lenet" */
sp_status sp__models_in(const char *path, char ***out,
                        int *n_out); /* paths of what could be models in a folder, in order; freed by the caller */

/* entries.c */
sp_entry *sp__entry_first(struct sp_server *s); /* those that are gone are left out here and behind it */
sp_entry *sp__entry_next(const sp_entry *e);
sp_entry *sp__entry_find(struct sp_server *s, const char *name); /* NULL: there is none */
/* A version, retained; 0: the newest that is served. NULL: it is not. */
sp_served *sp__entry_take(sp_entry *e, int64_t version);
int sp__entry_versions(sp_entry *e,
                       int64_t out[SP_SERVE_VERSIONS_MAX]); /* that are served, the oldest first; how many */
void sp__entry_degraded(sp_entry *e, char out[400]);        /* empty: it is not */
void sp__entry_unavailable(sp_entry *e, char out[400]);     /* empty: it is available, or was not tried yet */
sp_status sp__entry_create(struct sp_server *s, const char *name, const char *path, const sp_settings *settings,
                           sp_entry **out); /* and put among the others */
/* Serve what can be served. Fails only where nothing is. *restless: a version is not at rest, look again soon. The caller has sp__load_begin. */
sp_status sp__entry_load(sp_entry *e, bool *restless);
void sp__entry_tell(sp_entry *e); /* to the log, what is new about versions that cannot be served */
void sp__entry_unload(sp_entry *e, const char *why);
bool sp__entries_retire(struct sp_server *s); /* let go of old versions that have no jobs; true: some still have */
void sp__entries_release(struct sp_server *s);

/* models.c */
/* One thread at a time loads models; no lock is held meanwhile, which fork would wait for. */
void sp__load_begin(struct sp_server *s);
void sp__load_end(struct sp_server *s);
void sp__models_look(
    struct sp_server *s); /* into folders, for models that are new or gone; the caller has sp__load_begin */
bool sp__models_poll(
    struct sp_server
        *s); /* look at folders and files; the watcher's. true: some are not yet at rest, look again soon */
void sp__models_release(struct sp_server *s);

/* --- jobs ---------------------------------------------------------------------------------------------------------- */

typedef struct sp_region sp_region; /* memory shared with clients; regions.h */

/* An output that the client wants, and how. */
typedef struct sp_wanted {
    int index;
    bool binary;
    int64_t classes;   /* KServe: its largest elements, as texts; 0: the tensor */
    sp_region *region; /* goes there, by that name, to that part of it; NULL: into the reply */
    const char *region_name;
    uint64_t region_offset, region_bytes;
} sp_wanted;

typedef struct sp_sequence sp_sequence;
typedef struct sp_client sp_client;
typedef struct sp_otlp sp_otlp;

typedef struct sp_job {
    struct sp_job *next;
    struct sp_server *server;
    sp_exchange *x;
    sp_served *model; /* retained */
    const struct sp_protocol *protocol;
    sp__arena arena;       /* what lives as long as the job */
    sp_item **texts;       /* inputs, then outputs, that are texts; NULL: the model has none */
    sp_tensor **in, **out; /* n_in, n_out of them, NULL until they are there */
    int64_t rows;          /* of all inputs; 0: they are no rows, or not of one number */
    int64_t queued_us, deadline_us;
    bool counted;    /* in the entry's n_waiting */
    bool encoding;   /* the workers' next step with it */
    int status;      /* HTTP status of a failure, 0: none */
    int fail_status; /* that a failing step asks for; 0: what its sp_status means */
    sp_error error;  /* its text */
    /* Of protocols. */
    const char *id;
    bool binary;  /* outputs that say nothing about it are binary */
    int n_wanted; /* 0: all, as `binary` says */
    sp_wanted *wanted;
    const char *sequence_id; /* NULL: it belongs to none */
    bool sequence_start, sequence_end;
    sp_sequence *sequence;         /* it has, or waits for */
    struct sp_region_use *regions; /* that it reads and writes; regions.c */
    uint64_t region_bytes;         /* that were read from them */
    int priority;                  /* 1: runs first */
    bool stream,
        final_wanted; /* KServe over gRPC: a message of a call that stays open; which asks to be told that a reply is the last */
    bool columns;        /* v1: inputs came as whole tensors */
    bool bare;           /* MindSpore: instances came without the axis of rows */
    int64_t n_instances; /* MindSpore: rows of the request; a model of a fixed number of rows may have got more */
} sp_job;

typedef struct sp_protocol {
    const char *name;                 /* for the log and the figures */
    sp_status (*decode)(sp_job *job); /* x->body to in */
    sp_status (*encode)(sp_job *job); /* out to x->reply */
    void (*fail)(sp_job *job);        /* status and error to x->reply */
} sp_protocol;

extern const sp_protocol sp__protocol_kserve_rest, sp__protocol_mindspore_rest, sp__protocol_kserve_grpc,
    sp__protocol_kserve_stream, sp__protocol_mindspore_grpc, sp__protocol_predict_rest;

/* server.c */
/* Begin a job for an exchange, which is answered sooner or later; takes the reference to the model. */
void sp__job_begin(struct sp_server *s, sp_exchange *x, sp_served *take_model, const sp_protocol *protocol);
void sp__job_failed(sp_job *job, sp_status status); /* with this thread's message; the status tells what HTTP's is */
void sp__job_fail(sp_job *job, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void sp__job_end(sp_job *job);    /* reply is filled, or job->status set: answer and free */
void sp__job_encode(sp_job *job); /* it has its results: write and answer, here or on a worker */
/* Does nobody want the answer any more? */
bool sp__job_abandoned(const sp_job *job, int64_t now_us);
int sp__http_status(sp_status status);

/* sequences.c */
sp_status sp__sequences_open(sp_served *m); /* what its settings say */
void sp__sequences_close(sp_served *m);
/* Give the job its sequence's state. *waits: another request of the sequence is under way, whose end brings it back. */
sp_status sp__sequence_enter(sp_job *job, bool *waits);
sp_job *
sp__sequence_leave(sp_job *job); /* keeps the state; gives the sequence's next job, which has it, or has failed */
/* ensemble.c */
bool sp__ensemble_is(const char *path);
sp_status sp__ensemble_load(const char *path, sp_model **out);
/* limits.c */
sp_status sp__limits_open(struct sp_server *s);
bool sp__limits_let_in(struct sp_server *s, sp_exchange *x); /* false: it was refused */
void sp__limits_finished(const sp_exchange *x);
/* otlp.c */
sp_status sp__otlp_create(const char *url, void (*tell)(void *context, const char *text), void *context, sp_otlp **out);
void sp__otlp_release(sp_otlp *o); /* what waits is sent first; NULL is fine */
void sp__otlp_add(sp_otlp *o, const sp_exchange *x);
unsigned long long sp__otlp_count(const sp_otlp *o, bool dropped);

/* batcher.c */
sp_status sp__runners_start(sp_served *m);
void sp__runners_stop(sp_served *m); /* when no job refers to it */
void sp__served_submit(sp_job *job); /* decoded */

/* --- the server ---------------------------------------------------------------------------------------------------- */

typedef struct sp_log_queue sp_log_queue;

struct sp_server {
    sp_server_options o;
    char *texts[5];
    sp_net *net;
    sp_client *clients; /* limits.c; NULL: there are no limits */
    sp_otlp *otlp;      /* NULL: no traces */
    pid_t pid;          /* whose it is: a child of fork has neither its threads nor connections of its own */
    bool started;
    sp_lock lock; /* of entries and loading */
    sp_entry *entries;
    bool loading; /* somebody has sp__load_begin */
    sp_cond loaded;
    atomic_int n_setting;          /* sp_server_set_models is under way: not ready */
    sp_model_folder *folders;      /* of who loads */
    sp_key *keys;                  /* of clients; under lock */
    sp_exchange *health_watchers;  /* calls that are told of every change; the loop's thread's */
    struct sp_servable *servables; /* put in front, and stay */
    sp_log_queue *log;             /* NULL: nobody wants to know */
    sp_server_metrics metrics;
    /* Workers and their queue; the watcher of folders sleeps on the same lock. */
    sp_lock work_lock;
    sp_cond work;
    sp_cond watch;
    sp_job *first, **end;
    bool ending;
    bool polling;       /* the watcher is at the disk, and may be loading a model */
    bool reload;        /* the program is to be told */
    sp_region *regions; /* shared with clients; under lock */
    atomic_int n_regions;
    struct sp_order *orders;         /* loading and unloading that clients asked for */
    atomic_bool log_info, log_error; /* lines that are wanted */
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
void sp__server_log(struct sp_server *s, sp_log_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool sp__health_look(struct sp_server *s); /* grpc_health.c: tell watching clients what is new; are there any? */
bool sp__server_ready(struct sp_server *s);
bool sp__server_stopping(const struct sp_server *s);           /* what takes long may as well be left off */
sp_status sp__server_check(const struct sp_server *s);         /* that it is this process's */
void sp__server_route(void *context, sp_exchange *x);          /* routes.c: net's handler */
void sp__server_finished(void *context, const sp_exchange *x); /* access_log.c */

/* Fill x->reply with a text (taken over) or an error. */
void sp__reply_text(sp_exchange *x, int status, const char *type, sp__text *text);
void sp__reply_error(sp_exchange *x, int status, const char *text);

#endif
