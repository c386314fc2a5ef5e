/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - models behind HTTP: the Open Inference Protocol (KServe v2) and MindSpore Serving's, on one port.
 *
 *     sp_server *s;
 *     sp_server_create(NULL, &s);
 *     sp_server_start(s);                                     listens on 127.0.0.1:8000; alive, not ready
 *     sp_server_add_model(s, "lenet", "lenet.mindir");        loads, tries it out; ready when it returns
 *     sp_server_wait(s);                                      until sp_server_stop, then until nothing is under way
 *     sp_server_release(s);
 *
 * A server has one thread for the network, a few that read and write requests, and one for each version of a model, which runs it. Requests
 * that came in while a model was busy are run together, where that gives each what it would have been given alone. docs/guides/serving.md has
 * the protocols, limits and figures that it counts. */
#ifndef SPORE_SERVE_H
#define SPORE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spore/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_server sp_server;

typedef enum { SP_LOG_ERROR, SP_LOG_INFO, SP_LOG_ACCESS } sp_log_kind;

typedef enum {
    SP_SERVER_STOPPING, /* sp_server_stop was called; must return at once */
    SP_SERVER_ALIVE,    /* alive_seconds have passed and the network's thread is well; must return at once */
    SP_SERVER_RELOAD /* sp_server_reload was called, certificates were read again; now models may be given anew (sp_server_set_models) */
} sp_server_event;

/* All members may be zero, which means what stands behind them; start with {0}, or give NULL for the whole. */
typedef struct sp_server_options {
    const char *host; /* "127.0.0.1"; "0.0.0.0" or "::" for everybody */
    int port;         /* 8000; -1: one that is free, see sp_server_port */
    const char *
        unix_path; /* also listen on this socket (or on it alone, with no_tcp); one that nobody answers on is replaced */
    bool no_tcp;
    const char *certificate; /* file (PEM): speak TLS on host and port */
    const char *private_key; /* and its key */
    const char *client_ca;   /* ask clients for certificates of these authorities */
    size_t max_body_bytes;   /* 64 MB, of one request */
    size_t max_memory_bytes; /* 1 GB, of all requests that are being read or answered */
    int max_connections;     /* 1024 */
    int max_queue;           /* 256 requests that wait for a model; more are told to come back */
    int max_batch;           /* 8 rows that are run together; 1: none */
    bool trust_batch;        /* join rows even where trying it out could not show that it changes nothing */
    int64_t max_delay_us;    /* 0: how long a request may wait for others to be run with it */
    double request_seconds;  /* 60, from the first byte of a request to the start of its run */
    double idle_seconds;     /* 75, between requests of a connection */
    double receive_seconds;  /* 20, for the head of a request, and for its body besides what 16 KB/s allow */
    double
        leave_seconds; /* after sp_server_stop: answer new requests, too, telling clients to go elsewhere. 0: 1, or less if no connection is left; below 0: none */
    double drain_seconds; /* 30, after that, for what is under way; what is left then gets 503 */
    double poll_seconds;  /* 2: how often folders and files of models are looked at; below 0: never */
    int n_workers;        /* threads that read and write requests: 2 */
    /* Called with one line without its end, on a thread of its own, one at a time. It may take its time: requests never wait for it. Lines that
     * come too fast for it (1 MB wait) are dropped and counted; a line says how many. If it hangs, the server ends without it, so log_context
     * must live on then. NULL: nobody wants to know. */
    void (*log)(void *context, sp_log_kind kind, const char *line);
    void *log_context;
    bool access_json; /* lines of SP_LOG_ACCESS are JSON */
    bool no_access;   /* there are none of them */
    const char *
        model_control; /* who may load and unload models and change settings by request: "local" (also for NULL): clients on this machine; "all", "none" */
    const char *
        api_keys; /* file of clients' keys, as digests (docs/guides/serving.md): others get 401. NULL: everybody may ask */
    const char *cors;    /* origins whose pages may ask, with blanks between, or "*"; NULL: none */
    double client_rate;  /* requests a second of one client (the name of its key, or its address); 0: any number */
    int client_requests; /* at once; 0: any number */
    const char *otlp;    /* "http://host:4318": send traces to this collector of OpenTelemetry; NULL: none */
    bool strict;         /* a model that cannot be loaded keeps the server from being ready */
    int n_sockets; /* listen on so many sockets that are open already, from descriptor 3 on (systemd's LISTEN_FDS), and on no others but unix_path */
    void (*event)(void *context, sp_server_event event); /* NULL: nobody wants to know */
    void *event_context;
    double alive_seconds; /* 0: no SP_SERVER_ALIVE */
} sp_server_options;

/* A model and how it is served. Members that are zero or NULL mean the server's setting, or what stands behind them. */
typedef struct sp_model_config {
    const char
        *name; /* that of the file without its end, or of the folder; of a folder of models: NULL, each has its own */
    const char
        *path; /* a file, a folder of versions, or a folder of models, which is watched: models in it come and go */
    int max_batch;
    bool trust_batch;
    int64_t max_delay_us; /* -1: none */
    int max_queue;
    double request_seconds;
    int n_instances;      /* runs of it at a time: 1, at most 16 */
    const char *versions; /* "newest" (one), "newest:3", "all", or a list: "1,4" */
    const char *labels;   /* "stable=1,canary=4": names of versions in paths */
    const char
        *warm_up; /* shapes of inputs to run it with before it is ready: "x:1x128,mask:1x128; x:8x128,mask:8x128" */
    const char *key_file; /* the key of encrypted files, as `spore decrypt --key-file` takes it */
    const char *key_mode; /* "AES-GCM" */
    const char *
        preprocess; /* how pictures become an input: "input=x,size=224x224,scale=0.00392,mean=0.485 0.456 0.406,std=0.229 0.224 0.225" (docs/guides/serving.md); NULL: it takes none */
    const char *
        state; /* "h=hn,c=cn": inputs that are outputs of the run before, of requests of one sequence; NULL: it keeps nothing */
    double sequence_idle; /* 60 s, after which a sequence is forgotten */
    int n_priorities;     /* requests may ask for 1 (runs first) to this; 0: they may not */
    const char *classes;  /* file with the names of classes, one a line */
    const char *device;   /* where it runs: a name as sp_device_open takes it; NULL: the default device */
} sp_model_config;

/* --- a configuration file: JSON, as docs/guides/serving.md describes it ---------------------------------------------- */

typedef struct sp_serve_config sp_serve_config;

/* Settings of servers in such a file, by name; what they mean is for the program to say, as for `spore serve`, whose options they are. */
#define SP_SERVE_SETTINGS                                                                                              \
    "host", "port", "unix", "cert", "key", "client_ca", "max_batch", "trust_batch", "max_delay", "max_queue",          \
        "max_body", "max_memory", "max_connections", "timeout", "receive_timeout", "idle_timeout", "lame_duck",        \
        "drain", "poll", "log", "strict", "model_control", "api_keys", "cors", "client_rate", "client_requests",       \
        "otlp"

/* Fails with the line where something is wrong: JSON's rules, names of settings, values of models' settings. */
SP_API sp_status sp_serve_config_load(const char *path, sp_serve_config **out);
SP_API void sp_serve_config_release(sp_serve_config *c); /* NULL is fine */
/* A setting of the server as a text, and the line it stands in (NULL: not wanted). Paths are relative to the file's folder. NULL: it is not given. Borrowed. */
SP_API const char *sp_serve_config_get(const sp_serve_config *c, const char *key, int *line);
/* The models in it. Borrowed. */
SP_API int sp_serve_config_models(const sp_serve_config *c, const sp_model_config **out);

/* --- a server -------------------------------------------------------------------------------------------------------- */

/* SP_DECLINED where spore was built without what it needs for the network; the message says what to install. Options are copied. */
SP_API sp_status sp_server_create(const sp_server_options *options, sp_server **out);
/* Stops it at once if it runs. NULL is fine. */
SP_API void sp_server_release(sp_server *s);

/* Listen. From here on the server is alive; it is ready once models were added and all of them run. */
SP_API sp_status sp_server_start(sp_server *s);
SP_API int sp_server_port(const sp_server *s); /* that it listens on; 0: none */

/* Serve the file (MindIR, ONNX or TFLite) or, from a folder, the versions in it: path/1/any.mindir, path/2/... The newest is served and, where
 * a newer one appears, that one after it was loaded beside and tried out; what fails to load is told to the log and an older one is served. A
 * file that was changed counts as newer; weights are read into memory, so that a change harms nothing before that. name: NULL for the name of the file without its end, or of the folder. Fails with what is wrong
 * with the model; the server goes on with its others, tells the reason to who asks for it, and looks at the file again when that changes. Before or after the start. */
SP_API sp_status sp_server_add_model(sp_server *s, const char *name, const char *path);
/* Every folder in `path` that holds versions, or models themselves, as a model of that name; those that appear or are removed later come and go. Fails as sp_server_set_models. */
SP_API sp_status sp_server_add_folder(sp_server *s, const char *path);
/* These are the models from now on: new ones are loaded, those that are not among them are given up, those whose settings changed are loaded anew while the old ones serve.
 * Fails, changing nothing, where a setting is wrong; else, with the first reason, if no model can be served at all or, with `strict`, one of them cannot.
 * The server is ready when all of them were tried. Texts are copied. */
SP_API sp_status sp_server_set_models(sp_server *s, int n, const sp_model_config *models);
/* The same settings read by name, as the configuration file and the command line have them: "max_batch" "16". SP_KEY: there is no such setting. The text must live on. */
SP_API sp_status sp_model_config_set(sp_model_config *c, const char *key, const char *value);

/* A servable of MindSpore Serving, whose methods another process runs: requests to it, over REST and gRPC, are passed on over the Unix socket that the process listens on. Called
 * again for further processes and versions. Python's spore.serving starts such processes. */
SP_API sp_status sp_server_add_servable(sp_server *s, const char *name, int64_t version, const char *socket);

/* Not ready from now on. For leave_seconds clients are answered and told to go; then no more connections are taken, and what is under way is answered; the second call, or
 * drain_seconds later: end now. Returns at once and may be called by a signal handler. */
SP_API void sp_server_stop(sp_server *s);
/* Read certificates again, then SP_SERVER_RELOAD. Returns at once and may be called by a signal handler. */
SP_API void sp_server_reload(sp_server *s);
/* Wait for the end of it. A model that is being loaded in place of another is waited for by sp_server_release. */
SP_API sp_status sp_server_wait(sp_server *s);

/* A line of the program's own, in its turn. Returns at once. */
SP_API void sp_server_log(sp_server *s, sp_log_kind kind, const char *line);
/* For `log`: it could not write the line of that kind. Counted with those that were dropped. */
SP_API void sp_server_log_lost(sp_server *s, sp_log_kind kind);

#ifdef __cplusplus
}
#endif
#endif
