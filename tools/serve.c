/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - `spore serve`: models behind HTTP and gRPC. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

enum { LINE_BYTES = 4200, PATIENCE_MS = 1000, END_SECONDS = 2 };

static sp_server *serving; /* set before the first line and the first signal */

/* Of standard output and standard error. */
static struct {
    bool stalled; /* nobody took the last line; the next one is not waited for */
    bool cut;     /* a line ended in its middle */
} streams[3];

/* Write all of it. A stream that takes nothing for a while (a pipe that nobody reads, a stopped terminal) loses the line: poll tells whether a write of
 * PIPE_BUF bytes would wait, so that this thread never hangs in one. Not stdio: exit would wait for its lock. */
static bool put(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        const int ready = poll(&p, 1, streams[fd].stalled ? 0 : PATIENCE_MS);
        if (ready < 0 && errno == EINTR) continue;
        streams[fd].stalled = ready == 0;
        if (ready <= 0) return false;
        const ssize_t n = write(fd, text, bytes < PIPE_BUF ? bytes : PIPE_BUF);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        text += n;
        bytes -= (size_t)n;
    }
    return true;
}

static void write_line(void *context, sp_log_kind kind, const char *line)
{
    const bool *quiet = context;
    const bool access = kind == SP_LOG_ACCESS;
    const int fd = access ? STDOUT_FILENO : STDERR_FILENO;
    char text[LINE_BYTES];
    if (access && *quiet) return;
    int n = snprintf(text, sizeof text, "%s%s%s%s\n", streams[fd].cut ? "\n" : "", access ? "" : "spore: serve: ", kind == SP_LOG_ERROR ? "error: " : "", line);
    if (n >= LINE_BYTES) {
        n = LINE_BYTES - 1;
        text[n - 1] = '\n';
    }
    const bool whole = put(fd, text, (size_t)n);
    streams[fd].cut = !whole && (streams[fd].cut || !streams[fd].stalled || n > PIPE_BUF);
    if (!whole) sp_server_log_lost(serving, kind);
}

/* --- numbers --------------------------------------------------------------------------------------------------------- */

/* The value of an option as a number in [low, high], in whole steps; 0 if it is not given. */
static int number(const char *name, const char *text, double low, double high, double step, double *out)
{
    *out = 0;
    int code = tool_number("serve", name, text, low, high, out);
    const double steps = *out / step;
    if (code != 0 || text == NULL) return code;
    if (step == 1 ? steps != (double)(long long)steps : *out > 0 && steps < 1)
        return tool_complain(EXIT_USAGE, "serve: %s is '%s', it must be %s", name, text, step == 1 ? "a whole number" : "0 or larger");
    return 0;
}

typedef struct {
    const char *port, *batch, *delay, *queue, *body, *memory, *connections, *timeout, *receive, *idle, *drain, *poll, *log;
    bool quiet;
} texts;

/* What is not given stays 0, which means the default. */
static int read_numbers(const texts *t, sp_server_options *o)
{
    double port, batch, delay, queue, body, memory, connections, timeout, receive, idle, drain, poll;
    o->no_tcp = t->port != NULL && strcmp(t->port, "none") == 0;
    const struct {
        const char *name, *text;
        double low, high, step, *out;
    } all[] = {{"--port", o->no_tcp ? NULL : t->port, 0, 65535, 1, &port}, {"--max-batch", t->batch, 1, 1024, 1, &batch}, {"--max-delay", t->delay, 0, 60000, 1e-3, &delay},
               {"--max-queue", t->queue, 1, 1e6, 1, &queue}, {"--max-body", t->body, 0.001, 1 << 20, 1e-6, &body}, {"--max-memory", t->memory, 0.001, 1 << 24, 1e-6, &memory},
               {"--max-connections", t->connections, 1, 1e6, 1, &connections}, {"--timeout", t->timeout, 0.001, 1e6, 1e-6, &timeout},
               {"--receive-timeout", t->receive, 0.1, 1e6, 1e-6, &receive}, {"--idle-timeout", t->idle, 0.1, 1e6, 1e-6, &idle}, {"--drain", t->drain, 0, 1e6, 1e-6, &drain},
               {"--poll", t->poll, 0, 1e6, 1e-6, &poll}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int code = number(all[i].name, all[i].text, all[i].low, all[i].high, all[i].step, all[i].out);
        if (code != 0) return code;
    }
    o->port = t->port != NULL && !o->no_tcp && port == 0 ? -1 : (int)port;
    o->max_batch = (int)batch;
    o->max_delay_us = (int64_t)(delay * 1e3);
    o->max_queue = (int)queue;
    o->max_body_bytes = (size_t)(body * (1 << 20));
    o->max_memory_bytes = (size_t)(memory * (1 << 20));
    o->max_connections = (int)connections;
    o->request_seconds = timeout;
    o->receive_seconds = receive;
    o->idle_seconds = idle;
    o->drain_seconds = t->drain != NULL && drain == 0 ? 1e-6 : drain;
    o->poll_seconds = t->poll != NULL && poll == 0 ? -1 : poll;
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

static atomic_bool stopping, ending, failed;

static void on_signal(int number_)
{
    (void)number_;
    if (atomic_load(&ending)) _exit(0);
    atomic_store(&stopping, true);
    sp_server_stop(serving);
}

/* Everything was answered, but a model is still being loaded. */
static void on_alarm(int number_)
{
    (void)number_;
    _exit(0);
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
    return status == SP_OK || atomic_load(&stopping) ? 0 : tool_engine_failed("serve");
}

typedef struct {
    const sp_server_options *o;
    int n;
    const char **models;
    int code;
} loading;

static void log_ready(const sp_server_options *o)
{
    char text[LINE_BYTES];
    snprintf(text, sizeof text, "ready on %s://%s:%d", o->certificate != NULL ? "https" : "http", o->host != NULL ? o->host : "127.0.0.1",
             sp_server_port(serving));
    if (!o->no_tcp) sp_server_log(serving, SP_LOG_INFO, text);
    if (o->unix_path == NULL) return;
    snprintf(text, sizeof text, "ready on %s", o->unix_path);
    sp_server_log(serving, SP_LOG_INFO, text);
}

/* On a thread of its own: signals and clients are answered meanwhile. */
static void *load_models(void *context)
{
    loading *l = context;
    for (int i = 0; i < l->n && l->code == 0 && !atomic_load(&stopping); i++) l->code = add(serving, l->models[i]);
    if (l->code == 0 && !atomic_load(&stopping)) log_ready(l->o);
    if (l->code != 0) {
        atomic_store(&failed, true);
        sp_server_stop(serving);
        sp_server_stop(serving);
    }
    return NULL;
}

static int serve(const sp_server_options *o, int n, const char **models)
{
    struct sigaction action = {.sa_handler = on_signal}, last = {.sa_handler = on_alarm};
    loading l = {.o = o, .n = n, .models = models};
    pthread_t loader;
    if (sp_server_create(o, &serving) != SP_OK) return tool_engine_failed("serve");
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGALRM, &last, NULL);
    signal(SIGPIPE, SIG_IGN);
    l.code = sp_server_start(serving) == SP_OK ? 0 : tool_engine_failed("serve");
    if (l.code == 0) {
        const int failure = pthread_create(&loader, NULL, load_models, &l);
        if (failure != 0) l.code = tool_complain(EXIT_FAILED, "serve: no thread to load models: %s", strerror(failure));
        else {
            sp_server_wait(serving);
            if (!atomic_load(&failed)) sp_server_log(serving, SP_LOG_INFO, "stopped");
            atomic_store(&ending, true);
            alarm(END_SECONDS);
            pthread_join(loader, NULL);
        }
    }
    sp_server_release(serving);
    alarm(0);
    return l.code;
}

int verb_serve(int argc, char **argv)
{
    texts t = {0};
    sp_server_options o = {.log = write_line, .log_context = &t.quiet};
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
    allow_connections(o.max_connections > 0 ? o.max_connections : 1024);
    return serve(&o, n, models);
}
