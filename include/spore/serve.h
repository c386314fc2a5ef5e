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

/* All members may be zero, which means what stands behind them; start with {0}, or give NULL for the whole. */
typedef struct sp_server_options {
    const char *host;               /* "127.0.0.1"; "0.0.0.0" or "::" for everybody */
    int port;                       /* 8000; -1: one that is free, see sp_server_port */
    const char *unix_path;          /* also listen on this socket (or on it alone, with no_tcp); one that nobody answers on is replaced */
    bool no_tcp;
    const char *certificate;        /* file (PEM): speak TLS on host and port */
    const char *private_key;        /* and its key */
    const char *client_ca;          /* ask clients for certificates of these authorities */
    size_t max_body_bytes;          /* 64 MB, of one request */
    size_t max_memory_bytes;        /* 1 GB, of all requests that are being read or answered */
    int max_connections;            /* 1024 */
    int max_queue;                  /* 256 requests that wait for a model; more are told to come back */
    int max_batch;                  /* 8 rows that are run together; 1: none */
    bool trust_batch;               /* join rows even where trying it out could not show that it changes nothing */
    int64_t max_delay_us;           /* 0: how long a request may wait for others to be run with it */
    double request_seconds;         /* 60, from the first byte of a request to the start of its run */
    double idle_seconds;            /* 75, between requests of a connection */
    double receive_seconds;         /* 20, for the head of a request, and for its body besides what 16 KB/s allow */
    double drain_seconds;           /* 30, for what is under way when the server stops */
    double poll_seconds;            /* 2: how often folders and files of models are looked at; below 0: never */
    int n_workers;                  /* threads that read and write requests: 2 */
    /* Called with one line without its end, on a thread of its own, one at a time. It may take its time: requests never wait for it. Lines that
     * come too fast for it (1 MB wait) are dropped and counted; a line says how many. If it hangs, the server ends without it, so log_context
     * must live on then. NULL: nobody wants to know. */
    void (*log)(void *context, sp_log_kind kind, const char *line);
    void *log_context;
    bool access_json;               /* lines of SP_LOG_ACCESS are JSON */
} sp_server_options;

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
 * with the model; the server goes on, is not ready, and looks at the file again when that changes. Before or after the start. */
SP_API sp_status sp_server_add_model(sp_server *s, const char *name, const char *path);
/* Every folder in `path` that holds versions, or models themselves, as a model of that name. */
SP_API sp_status sp_server_add_folder(sp_server *s, const char *path);

/* Take no more connections, answer what is under way, and end; the second call, or drain_seconds later: end now. Returns at once and may be
 * called by a signal handler. */
SP_API void sp_server_stop(sp_server *s);
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
