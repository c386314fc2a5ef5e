/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - `spore serve`: models behind HTTP and gRPC. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "spore/runtime.h"
#include "spore/serve.h"
#include "tools.h"

enum { MODELS_MAX = 256 };

static const char help[] =
    "usage: spore serve MODEL ... [options]\n\n"
    "Serves models over HTTP/1.1 and HTTP/2 on one port: the Open Inference Protocol (KServe v2, REST and gRPC) and MindSpore Serving's\n"
    "(REST and gRPC). MODEL is a file (.mindir, .onnx, .tflite), a folder with versions (1/, 2/, ... each with one model in it; the newest is\n"
    "served, newer ones take over when they appear), or a folder of such files and folders. NAME=MODEL gives it another name.\n\n"
    "  --host ADDRESS         to listen on (default 127.0.0.1; 0.0.0.0 for everybody)\n"
    "  --port N               (default 8000; 0: one that is free)\n"
    "  --unix PATH            listen on this socket, too; with --port none: on it alone\n"
    "  --cert FILE --key FILE speak TLS with this certificate and key (PEM)\n"
    "  --client-ca FILE       let in clients with a certificate of these authorities alone\n"
    "  --max-batch N          rows of different requests that are run together (default 8; 1: none)\n"
    "  --trust-batch          join them even where trying it out could not show that it changes nothing\n"
    "  --max-delay MS         let requests wait so long for others to be run with (default 0)\n"
    "  --max-queue N          requests that may wait for a model (default 256); more get 503\n"
    "  --max-body MB          of one request (default 64)\n"
    "  --max-memory MB        of all requests (default 1024)\n"
    "  --max-connections N    (default 1024)\n"
    "  --timeout S            a request that has waited so long is answered with 504 (default 60)\n"
    "  --receive-timeout S    for clients that send too slowly (default 20)\n"
    "  --idle-timeout S       for connections that are not used (default 75)\n"
    "  --drain S              for what is under way when the server is stopped (default 30)\n"
    "  --poll S               look for newer versions so often (default 2; 0: never)\n"
    "  --log line|json|none   what is written for every request, to standard output (default line)\n\n"
    "SIGTERM or Ctrl-C stops it: no new connections, what is under way is answered. A second one ends it at once.\n\n"
    "examples:\n"
    "  spore serve lenet.mindir\n"
    "  spore serve resnet=resnet50.onnx models/ --port 9000 --max-batch 16\n"
    "  curl localhost:8000/v2/models/lenet\n";

/* --- log ----------------------------------------------------------------------------------------------------------- */

static void write_line(void *context, sp_log_kind kind, const char *line)
{
    const bool *quiet = context;
    if (kind == SP_LOG_ACCESS) {
        if (*quiet) return;
        printf("%s\n", line);
        fflush(stdout);
    } else {
        fprintf(stderr, "spore: serve: %s%s\n", kind == SP_LOG_ERROR ? "error: " : "", line);
    }
}

/* --- numbers --------------------------------------------------------------------------------------------------------- */

/* The value of an option as a number in [low, high]; what it was before if it is not given. */
static int number(const char *name, const char *text, double low, double high, double *out)
{
    char *end;
    if (text == NULL) return 0;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(v >= low && v <= high))
        return tool_complain(EXIT_USAGE, "serve: %s is '%s', it must be a number from %g to %g", name, text, low, high);
    *out = v;
    return 0;
}

typedef struct {
    const char *port, *batch, *delay, *queue, *body, *memory, *connections, *timeout, *receive, *idle, *drain, *poll, *log;
    bool quiet;
} texts;

static int read_numbers(const texts *t, sp_server_options *o)
{
    double port = 8000, batch = 8, delay = 0, queue = 256, body = 64, memory = 1024, connections = 1024, timeout = 60, receive = 20, idle = 75, drain = 30, poll = 2;
    o->no_tcp = t->port != NULL && strcmp(t->port, "none") == 0;
    const struct {
        const char *name, *text;
        double low, high, *out;
    } all[] = {{"--port", o->no_tcp ? NULL : t->port, 0, 65535, &port}, {"--max-batch", t->batch, 1, 1024, &batch}, {"--max-delay", t->delay, 0, 60000, &delay},
               {"--max-queue", t->queue, 1, 1e6, &queue}, {"--max-body", t->body, 0.001, 1 << 20, &body}, {"--max-memory", t->memory, 0.001, 1 << 24, &memory},
               {"--max-connections", t->connections, 1, 1e6, &connections}, {"--timeout", t->timeout, 0.001, 1e6, &timeout},
               {"--receive-timeout", t->receive, 0.1, 1e6, &receive}, {"--idle-timeout", t->idle, 0.1, 1e6, &idle}, {"--drain", t->drain, 0, 1e6, &drain},
               {"--poll", t->poll, 0, 1e6, &poll}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int code = number(all[i].name, all[i].text, all[i].low, all[i].high, all[i].out);
        if (code != 0) return code;
    }
    o->port = port > 0 ? (int)port : -1;
    o->max_batch = (int)batch;
    o->max_delay_us = (int64_t)(delay * 1e3);
    o->max_queue = (int)queue;
    o->max_body_bytes = (size_t)(body * (1 << 20));
    o->max_memory_bytes = (size_t)(memory * (1 << 20));
    o->max_connections = (int)connections;
    o->request_seconds = timeout;
    o->receive_seconds = receive;
    o->idle_seconds = idle;
    o->drain_seconds = drain > 0 ? drain : 0.001;
    o->poll_seconds = poll > 0 ? poll : -1;
    return 0;
}

/* Connections need file descriptors: ask for as many as the system allows, and tell if that is not enough. */
static void allow_connections(int wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= (rlim_t)wanted + 64) return;
    limit.rlim_cur = limit.rlim_max < (rlim_t)wanted + 64 ? limit.rlim_max : (rlim_t)wanted + 64;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < (rlim_t)wanted + 64)
        fprintf(stderr, "spore: serve: the system allows %llu open files, which is less than %d connections need (ulimit -n)\n", (unsigned long long)limit.rlim_cur, wanted);
}

/* --- running ------------------------------------------------------------------------------------------------------- */

static sp_server *volatile serving; /* for the handler */

static void on_signal(int number_)
{
    sp_server *s = serving;
    (void)number_;
    if (s != NULL) sp_server_stop(s);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* NAME=PATH, or PATH; a path with a = in it that is there is meant as it is. */
static int add(sp_server *s, const char *word)
{
    struct stat info;
    const char *equals = strchr(word, '=');
    char name[201] = "";
    if (equals != NULL && stat(word, &info) != 0) {
        if (equals == word || (size_t)(equals - word) >= sizeof name) return tool_complain(EXIT_USAGE, "serve: '%s' is not NAME=MODEL", word);
        memcpy(name, word, (size_t)(equals - word));
        word = equals + 1;
    }
    sp_status status = name[0] == '\0' && is_folder(word) ? sp_server_add_folder(s, word) : sp_server_add_model(s, name[0] ? name : NULL, word);
    return status == SP_OK ? 0 : tool_engine_failed("serve");
}

static int serve(const sp_server_options *o, int n, const char **models)
{
    struct sigaction action = {.sa_handler = on_signal};
    sp_server *s;
    if (sp_server_create(o, &s) != SP_OK) return tool_engine_failed("serve");
    serving = s;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    int code = sp_server_start(s) == SP_OK ? 0 : tool_engine_failed("serve");
    for (int i = 0; i < n && code == 0; i++) code = add(s, models[i]);
    if (code == 0) {
        const char *scheme = o->certificate != NULL ? "https" : "http";
        if (!o->no_tcp) fprintf(stderr, "spore: serve: ready on %s://%s:%d\n", scheme, o->host, sp_server_port(s));
        if (o->unix_path != NULL) fprintf(stderr, "spore: serve: ready on %s\n", o->unix_path);
        sp_server_wait(s);
        fprintf(stderr, "spore: serve: stopped\n");
    }
    serving = NULL;
    sp_server_release(s);
    return code;
}

int verb_serve(int argc, char **argv)
{
    texts t = {0};
    sp_server_options o = {.host = "127.0.0.1", .log = write_line, .log_context = &t.quiet};
    bool helped;
    const char *models[MODELS_MAX];
    const tool_option options[] = {{"--host", NULL, &o.host, NULL}, {"--port", NULL, &t.port, NULL}, {"--unix", NULL, &o.unix_path, NULL},
                                   {"--cert", NULL, &o.certificate, NULL}, {"--key", NULL, &o.private_key, NULL}, {"--client-ca", NULL, &o.client_ca, NULL},
                                   {"--max-batch", NULL, &t.batch, NULL}, {"--trust-batch", &o.trust_batch, NULL, NULL}, {"--max-delay", NULL, &t.delay, NULL},
                                   {"--max-queue", NULL, &t.queue, NULL}, {"--max-body", NULL, &t.body, NULL}, {"--max-memory", NULL, &t.memory, NULL},
                                   {"--max-connections", NULL, &t.connections, NULL}, {"--timeout", NULL, &t.timeout, NULL},
                                   {"--receive-timeout", NULL, &t.receive, NULL}, {"--idle-timeout", NULL, &t.idle, NULL}, {"--drain", NULL, &t.drain, NULL},
                                   {"--poll", NULL, &t.poll, NULL}, {"--log", NULL, &t.log, NULL}, {NULL, NULL, NULL, NULL}};
    int n, code = tool_parse(argc, argv, options, help, (const int[]){1, MODELS_MAX}, models, &n, &helped);
    if (code != 0 || helped) return code;
    code = read_numbers(&t, &o);
    if (code != 0) return code;
    if (t.log != NULL && strcmp(t.log, "line") != 0 && strcmp(t.log, "json") != 0 && strcmp(t.log, "none") != 0)
        return tool_complain(EXIT_USAGE, "serve: --log is '%s', it must be line, json or none", t.log);
    o.access_json = t.log != NULL && strcmp(t.log, "json") == 0;
    t.quiet = t.log != NULL && strcmp(t.log, "none") == 0;
    allow_connections(o.max_connections);
    return serve(&o, n, models);
}
