/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - `spore serve`: models behind HTTP and gRPC. */
#define _GNU_SOURCE

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
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "notify.h"
#include "spore/device.h"
#include "spore/runtime.h"
#include "spore/serve.h"
#include "tools.h"

enum { MODELS_MAX = 256 };

static const char help[] =
    "usage: spore serve MODEL ... [options]\n"
    "       spore serve --config FILE [MODEL ...] [options]\n\n"
    "Serves models over HTTP/1.1 and HTTP/2 on one port: the Open Inference Protocol (KServe v2, REST and gRPC) and MindSpore Serving's\n"
    "(REST and gRPC). MODEL is a file (.mindir, .onnx, .tflite, .ms; .ensemble: a chain of them), a folder with versions (1/, 2/, ... each with one model in it; the newest is\n"
    "served, newer ones take over when they appear), or a folder of such files and folders, which come and go. NAME=MODEL gives it another name.\n"
    "A model that cannot be loaded is told to the log and to who asks for it; the others are served.\n\n"
    "  --config FILE          settings and models in JSON, names as here with _ for -; what is given here goes first\n"
    "  --set MODEL.KEY=VALUE  of one model (may be repeated): max_batch, trust_batch, max_delay, max_queue, timeout, instances (runs at a time),\n"
    "                         versions (newest, newest:N, all, or 1,4), labels (stable=1,canary=4), warm_up (shapes: x:1x128;x:8x128), key_file, key_mode,\n"
    "                         preprocess (of pictures: size=224x224,scale=0.00392), classes (file), device, state (h=hn: of sequences), sequence_idle, priorities\n"
    "  --device NAME          run models there (spore doctor lists devices)\n"
    "  --servable NAME:VERSION=SOCKET  pass its requests on to a process that listens there (may be repeated)\n"
    "  --stop-with-stdin      stop when standard input is closed\n"
    "  --check                load and try all models, say what is wrong, and end: 0 if all is well\n"
    "  --strict               end if a model cannot be loaded at the start\n"
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
    "  --lame-duck S          when it is stopped: not ready, but answer for so long, telling clients to go (default: up to 1, while there are connections)\n"
    "  --drain S              then, for what is under way (default 30); what is left gets 503\n"
    "  --api-keys FILE        let in clients with a key of this file alone (lines: NAME SHA256 [MODEL ...]); SIGHUP reads it again\n"
    "  --cors ORIGINS         whose pages may ask from browsers: origins with blanks between, or *\n"
    "  --client-rate N        requests a second of one client; more get 429\n"
    "  --client-requests N    and at once\n"
    "  --otlp URL             send traces to this collector (OTLP: http://HOST:4318)\n"
    "  --model-control WHO    may load and unload models by request: local (default), all, none\n"
    "  --poll S               look for newer versions so often (default 2; 0: never)\n"
    "  --log line|json|none   what is written for every request, to standard output (default line)\n\n"
    "SIGTERM or Ctrl-C stops it: not ready at once, what is under way is answered. A second one ends it at once. SIGHUP reads certificates and\n"
    "the configuration again. systemd is told (Type=notify, WatchdogSec=), and its sockets are taken (LISTEN_FDS).\n\n"
    "examples:\n"
    "  spore serve lenet.mindir\n"
    "  spore serve resnet=resnet50.onnx models/ --port 9000 --max-batch 16\n"
    "  curl localhost:8000/v2/models/lenet\n";

/* --- log ----------------------------------------------------------------------------------------------------------- */

enum { LINE_BYTES = 4200, PATIENCE_MS = 1000, END_US = 400000 };

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
    (void)context;
    const bool access = kind == SP_LOG_ACCESS;
    const int fd = access ? STDOUT_FILENO : STDERR_FILENO;
    char text[LINE_BYTES];
    int n = snprintf(text, sizeof text, "%s%s%s%s\n", streams[fd].cut ? "\n" : "",
                     access ? "" : "spore: serve: ", kind == SP_LOG_ERROR ? "error: " : "", line);
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
        return tool_complain(EXIT_USAGE, "serve: %s is '%s', it must be %s", name, text,
                             step == 1 ? "a whole number" : "0 or larger");
    return 0;
}

/* Settings of the server: the value, and what it is called where it was given ("--port", "serve.json:3: port"). */
static const char *const names[] = {SP_SERVE_SETTINGS};
enum { N_SETTINGS = sizeof names / sizeof *names };

typedef struct {
    char option[N_SETTINGS][32];
    const char *text[N_SETTINGS];
    char where[N_SETTINGS][TOOL_PATH_BYTES / 8];
    bool flags[N_SETTINGS]; /* of those that take no value */
} texts;

static int index_of(const char *name)
{
    int i = 0;
    while (strcmp(names[i], name) != 0) i++;
    return i;
}

static const char *text_of(const texts *t, const char *name) { return t->text[index_of(name)]; }
static bool is_flag(int i) { return strcmp(names[i], "strict") == 0 || strcmp(names[i], "trust_batch") == 0; }

/* What the command line does not say, the file may. */
static void fill_from(texts *t, const sp_serve_config *c, const char *path)
{
    for (int i = 0; i < N_SETTINGS; i++) {
        int line = 0;
        const char *value =
            c != NULL && t->text[i] == NULL && !t->flags[i] ? sp_serve_config_get(c, names[i], &line) : NULL;
        snprintf(t->where[i], sizeof t->where[i], "%s", t->option[i]);
        if (value == NULL) continue;
        t->text[i] = value;
        snprintf(t->where[i], sizeof t->where[i], "%.400s:%d: %s", path, line, names[i]);
    }
}

/* What is not given stays 0, which means the default. */
static int read_numbers(const texts *t, sp_server_options *o)
{
    double port, batch, delay, queue, body, memory, connections, timeout, receive, idle, leave, drain, poll, rate,
        at_once;
    o->no_tcp = text_of(t, "port") != NULL && strcmp(text_of(t, "port"), "none") == 0;
    const struct {
        const char *name;
        double low, high, step, *out;
    } all[] = {{"port", 0, 65535, 1, &port},
               {"max_batch", 1, 1024, 1, &batch},
               {"max_delay", 0, 60000, 1e-3, &delay},
               {"max_queue", 1, 1e6, 1, &queue},
               {"max_body", 0.001, 1 << 20, 1e-6, &body},
               {"max_memory", 0.001, 1 << 24, 1e-6, &memory},
               {"max_connections", 1, 1e6, 1, &connections},
               {"timeout", 0.001, 1e6, 1e-6, &timeout},
               {"receive_timeout", 0.1, 1e6, 1e-6, &receive},
               {"idle_timeout", 0.1, 1e6, 1e-6, &idle},
               {"lame_duck", 0, 1e6, 1e-6, &leave},
               {"drain", 0, 1e6, 1e-6, &drain},
               {"poll", 0, 1e6, 1e-6, &poll},
               {"client_rate", 0.001, 1e6, 1e-6, &rate},
               {"client_requests", 1, 1e6, 1, &at_once}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int k = index_of(all[i].name);
        int code = number(t->where[k], i == 0 && o->no_tcp ? NULL : t->text[k], all[i].low, all[i].high, all[i].step,
                          all[i].out);
        if (code != 0) return code;
    }
    o->port = text_of(t, "port") != NULL && !o->no_tcp && port == 0 ? -1 : (int)port;
    o->max_batch = (int)batch;
    o->max_delay_us = (int64_t)(delay * 1e3);
    o->client_rate = rate;
    o->client_requests = (int)at_once;
    o->max_queue = (int)queue;
    o->max_body_bytes = (size_t)(body * (1 << 20));
    o->max_memory_bytes = (size_t)(memory * (1 << 20));
    o->max_connections = (int)connections;
    o->request_seconds = timeout;
    o->receive_seconds = receive;
    o->idle_seconds = idle;
    o->leave_seconds = text_of(t, "lame_duck") != NULL && leave == 0 ? -1 : leave;
    o->drain_seconds = text_of(t, "drain") != NULL && drain == 0 ? 1e-6 : drain;
    o->poll_seconds = text_of(t, "poll") != NULL && poll == 0 ? -1 : poll;
    return 0;
}

static int read_texts(texts *t, sp_server_options *o)
{
    const char *log = text_of(t, "log");
    for (int i = 0; i < N_SETTINGS; i++) {
        if (!is_flag(i) || t->text[i] == NULL) continue;
        if (strcmp(t->text[i], "true") != 0 && strcmp(t->text[i], "false") != 0)
            return tool_complain(EXIT_USAGE, "serve: %s is '%s', it must be true or false", t->where[i], t->text[i]);
        t->flags[i] = t->text[i][0] == 't';
    }
    o->strict = t->flags[index_of("strict")];
    o->trust_batch = t->flags[index_of("trust_batch")];
    o->host = text_of(t, "host");
    o->unix_path = text_of(t, "unix");
    o->certificate = text_of(t, "cert");
    o->private_key = text_of(t, "key");
    o->client_ca = text_of(t, "client_ca");
    o->model_control = text_of(t, "model_control");
    o->api_keys = text_of(t, "api_keys");
    o->cors = text_of(t, "cors");
    o->otlp = text_of(t, "otlp");
    if (log != NULL && strcmp(log, "line") != 0 && strcmp(log, "json") != 0 && strcmp(log, "none") != 0)
        return tool_complain(EXIT_USAGE, "serve: %s is '%s', it must be line, json or none", t->where[index_of("log")],
                             log);
    o->access_json = log != NULL && strcmp(log, "json") == 0;
    o->no_access = log != NULL && strcmp(log, "none") == 0;
    return read_numbers(t, o);
}

/* Connections need file descriptors: ask for as many as the system allows, and take no more connections than these are enough for. */
static void allow_connections(sp_server_options *o)
{
    enum { OTHERS = 64 }; /* descriptors besides those of connections */
    struct rlimit limit;
    const int wanted = o->max_connections > 0 ? o->max_connections : 1024;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= (rlim_t)wanted + OTHERS) return;
    limit.rlim_cur = limit.rlim_max < (rlim_t)wanted + OTHERS ? limit.rlim_max : (rlim_t)wanted + OTHERS;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= (rlim_t)wanted + OTHERS)
        return;
    o->max_connections = limit.rlim_cur > OTHERS ? (int)(limit.rlim_cur - OTHERS) : 1;
    fprintf(
        stderr,
        "spore: serve: the system allows %llu open files (ulimit -n), which is enough for %d connections, not for %d; LimitNOFILE= of a unit, or ulimit -n before the start, raises it\n",
        (unsigned long long)limit.rlim_cur, o->max_connections, wanted);
}

/* --- models ---------------------------------------------------------------------------------------------------------- */

/* What was asked for, in the order it was given: words of the command line, then the models of the file, changed by --set. */
typedef struct {
    sp_server_options o;
    texts t;
    const char *config, *device;
    const char **set, **servables;
    bool check, stop_with_stdin;
    int n_words;
    const char *words[MODELS_MAX];
    char words_names[MODELS_MAX][201];
} request;

/* NAME=PATH, or PATH; a path with a = in it that is there is meant as it is. */
static int read_word(request *r, int i, sp_model_config *m)
{
    struct stat info;
    const char *word = r->words[i], *equals = strchr(word, '=');
    *m = (sp_model_config){.path = word};
    if (equals == NULL || stat(word, &info) == 0) return 0;
    if (equals == word || (size_t)(equals - word) >= sizeof r->words_names[i])
        return tool_complain(EXIT_USAGE, "serve: '%s' is not NAME=MODEL", word);
    memcpy(r->words_names[i], word, (size_t)(equals - word));
    r->words_names[i][equals - word] = '\0';
    *m = (sp_model_config){.name = r->words_names[i], .path = equals + 1};
    return 0;
}

/* The name that a model will have, if it is one. */
static bool has_name(const sp_model_config *m, const char *name, size_t bytes)
{
    if (m->name != NULL) return strlen(m->name) == bytes && memcmp(m->name, name, bytes) == 0;
    const char *from = strrchr(m->path, '/'), *end;
    from = from != NULL && from[1] != '\0' ? from + 1 : m->path;
    end = strrchr(from, '.');
    return (strlen(from) == bytes || (end != NULL && (size_t)(end - from) == bytes)) && strncmp(from, name, bytes) == 0;
}

/* --set MODEL.KEY=VALUE */
static int apply_set(const char *word, int n, sp_model_config *models)
{
    char key[32];
    const char *equals = strchr(word, '='), *dot = equals;
    int found = 0;
    while (dot != NULL && dot > word && *dot != '.') dot--;
    if (equals == NULL || dot == word || equals - dot - 1 <= 0 || equals - dot - 1 >= (long)sizeof key)
        return tool_complain(EXIT_USAGE, "serve: --set is '%s', it must be MODEL.KEY=VALUE", word);
    memcpy(key, dot + 1, (size_t)(equals - dot - 1));
    key[equals - dot - 1] = '\0';
    for (char *p = key; *p != '\0'; p++)
        if (*p == '-') *p = '_';
    for (int i = 0; i < n; i++) {
        if (!has_name(&models[i], word, (size_t)(dot - word))) continue;
        found++;
        if (sp_model_config_set(&models[i], key, equals + 1) != SP_OK)
            return tool_complain(EXIT_USAGE, "serve: --set %s: %s", word, sp_error_message());
    }
    return found > 0 ? 0
                     : tool_complain(
                           EXIT_USAGE,
                           "serve: --set %s: no model '%.*s' is given; models of a folder have the folder's settings",
                           word, (int)(dot - word), word);
}

/* --servable NAME:VERSION=SOCKET */
static int add_servable(sp_server *s, const char *word)
{
    char name[201] = "";
    const char *equals = strchr(word, '='), *colon = equals;
    while (colon != NULL && colon > word && *colon != ':') colon--;
    char *end = NULL;
    const long long version = colon != NULL && colon > word ? strtoll(colon + 1, &end, 10) : 0;
    if (version < 1 || end != equals || (size_t)(colon - word) >= sizeof name)
        return tool_complain(EXIT_USAGE, "serve: --servable is '%s', it must be NAME:VERSION=SOCKET", word);
    memcpy(name, word, (size_t)(colon - word));
    return sp_server_add_servable(s, name, version, equals + 1) == SP_OK ? 0 : tool_engine_failed("serve");
}

/* Give the server its models. 0 or an exit code, *told: after a complaint. */
static int give_models(request *r, sp_server *s, const sp_serve_config *c)
{
    const sp_model_config *of_file = NULL;
    const int n_file = c != NULL ? sp_serve_config_models(c, &of_file) : 0, n = r->n_words + n_file;
    sp_model_config *all = calloc((size_t)n + 1, sizeof *all);
    int code = all != NULL ? 0 : tool_complain(EXIT_FAILED, "serve: out of memory");
    for (int i = 0; i < r->n_words && code == 0; i++) code = read_word(r, i, &all[i]);
    if (code == 0 && n_file > 0) memcpy(all + r->n_words, of_file, (size_t)n_file * sizeof *all);
    for (const char **set = r->set; set != NULL && *set != NULL && code == 0; set++) code = apply_set(*set, n, all);
    if (code == 0 && n == 0 && r->servables == NULL)
        code = tool_complain(
            EXIT_USAGE, "serve: there is no model to serve: give one, or list them under \"models\" in %s", r->config);
    if (code == 0 && sp_server_set_models(s, n, all) != SP_OK) code = EXIT_FAILED;
    free(all);
    return code;
}

/* --- running ------------------------------------------------------------------------------------------------------- */

static atomic_bool stopping, ending, failed;

static void on_signal(int number_)
{
    if (number_ == SIGHUP) {
        sp_server_reload(serving);
        return;
    }
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

/* Settings of the server itself stay: they cannot change under a running one. */
static void reload(request *r)
{
    sp_serve_config *c = NULL;
    notify_reloading();
    if (r->config == NULL)
        sp_server_log(serving, SP_LOG_INFO, "certificates were read again; there is no configuration file to read");
    else if (sp_serve_config_load(r->config, &c) != SP_OK || give_models(r, serving, c) != 0) {
        char line[LINE_BYTES];
        snprintf(line, sizeof line, "the configuration: %s", sp_error_message());
        sp_server_log(serving, SP_LOG_ERROR, line);
    } else
        sp_server_log(serving, SP_LOG_INFO,
                      "the configuration was read again; settings of the server itself take effect at its next start");
    sp_serve_config_release(c);
    notify("READY=1");
}

static void on_event(void *context, sp_server_event event)
{
    if (event == SP_SERVER_ALIVE) notify("WATCHDOG=1");
    else if (event == SP_SERVER_STOPPING) notify("STOPPING=1");
    else reload(context);
}

static void log_ready(const sp_server_options *o)
{
    char text[LINE_BYTES];
    snprintf(text, sizeof text, "ready on %s://%s:%d", o->certificate != NULL ? "https" : "http",
             o->host != NULL ? o->host : "127.0.0.1", sp_server_port(serving));
    if (!o->no_tcp && sp_server_port(serving) > 0) sp_server_log(serving, SP_LOG_INFO, text);
    if (o->unix_path == NULL) return;
    snprintf(text, sizeof text, "ready on %s", o->unix_path);
    sp_server_log(serving, SP_LOG_INFO, text);
}

typedef struct {
    request *r;
    const sp_serve_config *config;
    int code;
} loading;

/* On a thread of its own: signals and clients are answered meanwhile. */
static void *load_models(void *context)
{
    loading *l = context;
    l->code = give_models(l->r, serving, l->config);
    if (l->code == EXIT_FAILED && atomic_load(&stopping)) l->code = 0;
    else if (l->code == EXIT_FAILED) l->code = tool_engine_failed("serve");
    if (l->code == 0 && !atomic_load(&stopping)) {
        log_ready(&l->r->o);
        notify("READY=1");
    }
    if (l->code != 0) {
        atomic_store(&failed, true);
        sp_server_stop(serving);
        sp_server_stop(serving);
    }
    return NULL;
}

static void take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, last = {.sa_handler = on_alarm};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGALRM, &last, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Whoever started us holds the other end: it closes when that process ends, however it does. */
static void *watch_stdin(void *context)
{
    char unused[64];
    ssize_t n;
    (void)context;
    while ((n = read(STDIN_FILENO, unused, sizeof unused)) > 0 || (n < 0 && errno == EINTR)) {}
    on_signal(SIGTERM);
    return NULL;
}

/* A model that is being loaded keeps nobody waiting. */
static void end_soon(bool on)
{
    const struct itimerval t = {.it_value = {.tv_usec = on ? END_US : 0}};
    setitimer(ITIMER_REAL, &t, NULL);
}

static int serve(request *r, const sp_serve_config *config)
{
    loading l = {.r = r, .config = config};
    pthread_t loader;
    if (sp_server_create(&r->o, &serving) != SP_OK) return tool_engine_failed("serve");
    take_signals();
    l.code = sp_server_start(serving) == SP_OK ? 0 : tool_engine_failed("serve");
    for (const char **servable = r->servables; l.code == 0 && servable != NULL && *servable != NULL; servable++)
        l.code = add_servable(serving, *servable);
    if (l.code == 0) {
        pthread_t watcher;
        if (r->stop_with_stdin && pthread_create(&watcher, NULL, watch_stdin, NULL) == 0) pthread_detach(watcher);
        const int failure = pthread_create(&loader, NULL, load_models, &l);
        if (failure != 0) l.code = tool_complain(EXIT_FAILED, "serve: no thread to load models: %s", strerror(failure));
        else {
            sp_server_wait(serving);
            if (!atomic_load(&failed)) sp_server_log(serving, SP_LOG_INFO, "stopped");
            atomic_store(&ending, true);
            end_soon(true);
            pthread_join(loader, NULL);
        }
    }
    sp_server_release(serving);
    end_soon(false);
    return l.code;
}

/* Everything but listening. */
static int check(request *r, const sp_serve_config *config)
{
    r->o.strict = true;
    r->o.n_sockets = 0;
    if (sp_server_create(&r->o, &serving) != SP_OK) return tool_engine_failed("serve");
    int code = give_models(r, serving, config);
    if (code == EXIT_FAILED) code = tool_engine_failed("serve");
    sp_server_release(serving);
    if (code == 0) puts("all is well");
    return code;
}

static int run(request *r)
{
    sp_serve_config *config = NULL;
    if (r->config != NULL && sp_serve_config_load(r->config, &config) != SP_OK) return tool_engine_failed("serve");
    fill_from(&r->t, config, r->config);
    int code = read_texts(&r->t, &r->o);
    r->o.n_sockets = notify_sockets();
    r->o.alive_seconds = notify_watchdog_seconds();
    if (code == 0 && r->o.n_sockets < 0)
        code = tool_complain(EXIT_USAGE, "serve: LISTEN_FDS is '%s', it must be a number", getenv("LISTEN_FDS"));
    if (code == 0) {
        allow_connections(&r->o);
        code = r->check ? check(r, config) : serve(r, config);
    }
    sp_serve_config_release(config);
    return code;
}

int verb_serve(int argc, char **argv)
{
    static request r;
    bool helped;
    tool_option options[N_SETTINGS + 7];
    r.o = (sp_server_options){.log = write_line, .event = on_event, .event_context = &r};
    for (int i = 0; i < N_SETTINGS; i++) {
        snprintf(r.t.option[i], sizeof r.t.option[i], "--%s", names[i]);
        for (char *p = r.t.option[i]; *p != '\0'; p++)
            if (*p == '_') *p = '-';
        options[i] = is_flag(i) ? (tool_option){r.t.option[i], &r.t.flags[i], NULL, NULL}
                                : (tool_option){r.t.option[i], NULL, &r.t.text[i], NULL};
    }
    options[N_SETTINGS] = (tool_option){"--config", NULL, &r.config, NULL};
    options[N_SETTINGS + 1] = (tool_option){"--set", NULL, NULL, &r.set};
    options[N_SETTINGS + 2] = (tool_option){"--check", &r.check, NULL, NULL};
    options[N_SETTINGS + 3] = (tool_option){"--servable", NULL, NULL, &r.servables};
    options[N_SETTINGS + 4] = (tool_option){"--stop-with-stdin", &r.stop_with_stdin, NULL, NULL};
    options[N_SETTINGS + 5] = (tool_option){"--device", NULL, &r.device, NULL};
    options[N_SETTINGS + 6] = (tool_option){NULL, NULL, NULL, NULL};
    int code = tool_parse(argc, argv, options, help, (const int[]){0, MODELS_MAX}, r.words, &r.n_words, &helped);
    if (code != 0 || helped) return code;
    if (r.n_words == 0 && r.config == NULL && r.servables == NULL)
        return tool_complain(EXIT_USAGE, "serve: 0 arguments given, 1 wanted (try spore serve --help)");
    sp_device *device = NULL;
    if (r.device != NULL && sp_device_open(r.device, &device) != SP_OK) return tool_engine_failed("serve");
    if (r.device != NULL) sp_device_set_default(device);
    return run(&r);
}
