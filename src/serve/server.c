/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - the server as a whole: its threads, its options, and jobs on their way. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/handle.h"
#include "base/plain.h"
#include "formats/model_impl.h"
#include "serve/decode.h"
#include "serve/grpc.h"
#include "serve/regions.h"
#include "serve/servable.h"
#include "serve/texts.h"
#include "serve/triton.h"

enum {
    GONE_AFTER_US = 1000000, /* a client that has closed its side is taken to listen for so long */
    REST_US = 300000,        /* a file that was not written for so long is loaded */
    SMALL_BYTES =
        16384 /* of a body or a result: read or written where it is, as waking a worker takes longer than that */
};

/* --- log ----------------------------------------------------------------------------------------------------------- */

static void log_net(void *context, const char *text) { sp__server_log(context, SP_LOG_ERROR, "%s", text); }

/* All models were tried, and one can be served; strict: all can. */
static bool models_ready(struct sp_server *s)
{
    bool some = sp__servables_there(s);
    if (atomic_load(&s->n_setting) > 0) return false;
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
        sp_served *m = sp__entry_take(e, 0);
        some = some || m != NULL;
        const bool counts = m != NULL || (atomic_load(&e->tried) && (!s->o.strict || atomic_load(&e->unloaded)));
        sp__served_release(m);
        if (!counts) return false;
    }
    return some;
}

bool sp__server_ready(struct sp_server *s) { return !sp__net_draining(s->net) && models_ready(s); }

bool sp__server_stopping(const struct sp_server *s) { return sp__net_draining(s->net); }

/* --- jobs ---------------------------------------------------------------------------------------------------------- */

int sp__http_status(sp_status status)
{
    switch (status) {
    case SP_OK: return 200;
    case SP_VALUE:
    case SP_TYPE:
    case SP_INDEX:
    case SP_KEY:
    case SP_FORMAT: return 400;
    case SP_NOMEM: return 503;
    case SP_DECLINED: return 501;
    default: return 500;
    }
}

void sp__job_failed(sp_job *job, sp_status status)
{
    sp_error_capture(status, &job->error);
    job->status = job->fail_status != 0 ? job->fail_status : sp__http_status(status);
}

void sp__job_fail(sp_job *job, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sp__vsnprintf(job->error.message, sizeof job->error.message, format, args);
    va_end(args);
    job->error.status = SP_RUNTIME;
    job->status = status;
}

bool sp__job_abandoned(const sp_job *job, int64_t now_us)
{
    const int state = atomic_load(&job->x->peer_state);
    return state == SP_PEER_GONE ||
           (state == SP_PEER_CLOSED && now_us - atomic_load(&job->x->closed_us) > GONE_AFTER_US);
}

static void push(struct sp_server *s, sp_job *job)
{
    job->next = NULL;
    sp__lock(&s->work_lock);
    *s->end = job;
    s->end = &job->next;
    sp__cond_signal(&s->work);
    sp__unlock(&s->work_lock);
}

/* The job has its result, or will never have one. */
static void uncount(sp_job *job)
{
    if (!job->counted) return;
    atomic_fetch_sub(&job->model->entry->n_waiting, 1);
    job->counted = false;
}

static int64_t count_rows(const sp_job *job);

static void end_one(sp_job *job)
{
    sp_exchange *x = job->x;
    sp_entry *e = job->model->entry;
    uncount(job);
    if (job->status != 0) job->protocol->fail(job);
    const sp_outcome outcome = job->status != 0 ? sp__outcome(job->status) : SP_OUTCOME_OK;
    atomic_fetch_add(&e->metrics.outcomes[outcome], 1);
    const int64_t took_us = sp__net_now_us() - x->began_us;
    if (outcome == SP_OUTCOME_OK) sp__histogram_add_us(&e->metrics.latency, took_us);
    sp__statistics_job(job->model, outcome == SP_OUTCOME_OK, took_us);
    if (outcome == SP_OUTCOME_FAILED)
        sp__server_log(job->server, SP_LOG_ERROR, "model %s version %lld failed: %s", e->name,
                       (long long)job->model->version, job->error.message);
    atomic_fetch_sub(&e->metrics.in_flight, 1);
    sp__texts_release(job);
    sp__regions_leave(job);
    for (int i = 0; job->in != NULL && i < job->model->n_in + job->model->n_out; i++) sp_tensor_release(job->in[i]);
    sp__served_release(job->model);
    sp__arena_free(&job->arena);
    sp__free(job);
    sp__exchange_reply(x);
}

void sp__job_end(sp_job *job)
{
    for (sp_job *next; job != NULL; job = next) {
        next = sp__sequence_leave(job); /* which waited for this one */
        end_one(job);
        if (next == NULL || next->status != 0) continue;
        next->rows = count_rows(next);
        sp__served_submit(next);
        break;
    }
}

/* Rows, if all inputs have the same number of them. */
static int64_t count_rows(const sp_job *job)
{
    int64_t rows = 0;
    for (int i = 0; i < job->model->n_in; i++) {
        const sp_tensor *t = job->in[i];
        if (t == NULL || sp_tensor_rank(t) < 1 || (i > 0 && sp_tensor_dims(t)[0] != rows)) return 0;
        rows = sp_tensor_dims(t)[0];
    }
    return rows;
}

static void work_on(sp_job *job)
{
    if (sp__job_abandoned(job, sp__net_now_us())) {
        sp__job_fail(job, 499, "the client has gone");
        sp__job_end(job);
        return;
    }
    sp_status status = job->encoding ? job->protocol->encode(job) : job->protocol->decode(job);
    if (status != SP_OK) {
        sp__job_failed(job, status);
        if (job->encoding && job->status < 500 && job->fail_status == 0)
            job->status = 500; /* the client is not to blame for our results */
        sp__job_end(job);
    } else if (job->encoding) {
        if (job->x->reply.grpc_status < 0) sp__encode_compressed(job);
        sp__job_end(job);
    } else if ((status = sp__model_check(job->model->model, job->model->n_in, job->in, job->bare)) !=
               SP_OK) { /* before its rows are joined with others */
        sp__job_failed(job, status);
        sp__job_end(job);
    } else {
        bool waits = false;
        if ((status = sp__sequence_enter(job, &waits)) != SP_OK) {
            sp__job_failed(job, status);
            sp__job_end(job);
        } else if (!waits) {
            job->rows = count_rows(job);
            sp__served_submit(job);
        }
    }
}

void sp__job_encode(sp_job *job)
{
    size_t bytes = 0;
    for (int i = 0; i < job->model->n_out; i++) bytes += job->out[i] != NULL ? sp_tensor_bytes(job->out[i]) : 0;
    job->encoding = true;
    if (bytes <= SMALL_BYTES) work_on(job);
    else push(job->server, job);
}

/* May a small body stand for much: is it compressed, or does it name shared memory? */
static bool is_large_inside(const struct sp_server *s, const sp_exchange *x)
{
    return sp__exchange_header(x, "content-encoding") != NULL || sp__exchange_header(x, "grpc-encoding") != NULL ||
           sp__region_asked(s, x);
}

void sp__job_begin(struct sp_server *s, sp_exchange *x, sp_served *take_model, const sp_protocol *protocol)
{
    sp_entry *e = take_model->entry;
    if (sp__keys_check(s, x, e->name, NULL) != 0) {
        sp__served_release(take_model);
        sp__exchange_refuse(x, 403, "the key that the request shows is not for this model");
        sp__exchange_reply(x);
        return;
    }
    sp_job *job = sp__alloc_zero(sizeof *job);
    if (job == NULL) {
        sp__served_release(take_model);
        sp__exchange_refuse(x, 503, "out of memory"); /* in the words of its protocol */
        sp__exchange_reply(x);
        return;
    }
    job->server = s;
    job->x = x;
    job->model = take_model;
    job->protocol = protocol;
    job->priority = (take_model->settings.n_priorities + 1) / 2;
    job->deadline_us = x->began_us + (int64_t)(take_model->settings.request_seconds * 1e6);
    atomic_fetch_add(&e->metrics.in_flight, 1);
    x->user = e;
    x->served_version = take_model->version;
    job->in = sp__arena_alloc(&job->arena, (size_t)(take_model->n_in + take_model->n_out + 1) * sizeof *job->in);
    if (job->in == NULL) sp__job_failed(job, SP_NOMEM);
    else job->out = job->in + take_model->n_in;
    if (take_model->items && job->in != NULL) {
        job->texts =
            sp__arena_alloc(&job->arena, (size_t)(take_model->n_in + take_model->n_out + 1) * sizeof *job->texts);
        if (job->texts == NULL) sp__job_failed(job, SP_NOMEM);
    }
    if (take_model->items && (protocol == &sp__protocol_predict_rest || protocol == &sp__protocol_mindspore_rest ||
                              protocol == &sp__protocol_mindspore_grpc))
        sp__job_fail(
            job, 501,
            "model '%s' takes or gives texts, which the Open Inference Protocol alone carries (/v2/models/%s/infer)",
            e->name, e->name);
    job->counted = true;
    const int most = take_model->settings.max_queue;
    if (atomic_fetch_add(&e->n_waiting, 1) >= most)
        sp__job_fail(job, 503,
                     "model '%s' has %d requests waiting already, which is the limit (--max-queue); try again later",
                     e->name, most);
    if (job->status != 0) sp__job_end(job);
    else if (x->body_bytes <= SMALL_BYTES && !is_large_inside(s, x)) work_on(job);
    else push(s, job);
}

static void *worker(void *context)
{
    struct sp_server *s = context;
    sp__lock(&s->work_lock);
    for (;;) {
        while (s->first == NULL && !s->ending) sp__cond_wait(&s->work, &s->work_lock);
        sp_job *job = s->first;
        if (job == NULL) break;
        s->first = job->next;
        if (s->first == NULL) s->end = &s->first;
        sp__unlock(&s->work_lock);
        work_on(job);
        sp__lock(&s->work_lock);
    }
    sp__unlock(&s->work_lock);
    return NULL;
}

/* --- what the network tells ------------------------------------------------------------------------------------------- */

static bool on_net(void *context, sp_net_event event)
{
    struct sp_server *s = context;
    if (event == SP_NET_RELOADED) {
        sp__lock(&s->work_lock);
        s->reload = true;
        sp__cond_signal(&s->watch);
        sp__unlock(&s->work_lock);
    } else if (event == SP_NET_WATCH) return sp__health_look(s);
    else if (s->o.event != NULL)
        s->o.event(s->o.event_context, event == SP_NET_TICK ? SP_SERVER_ALIVE : SP_SERVER_STOPPING);
    return models_ready(s); /* who was never ready has no clients to part from */
}

/* --- the watcher of folders ------------------------------------------------------------------------------------------ */

static void *watcher(void *context)
{
    struct sp_server *s = context;
    const int64_t every_us = s->o.poll_seconds > 0 ? (int64_t)(s->o.poll_seconds * 1e6) : 0;
    int64_t next_us = sp__net_now_us() + every_us;
    sp__lock(&s->work_lock);
    while (!s->ending) {
        const bool reload = s->reload,
                   polling = every_us > 0 && sp__net_now_us() >= next_us && !sp__net_draining(s->net);
        s->reload = false;
        s->polling = polling || reload || s->orders != NULL;
        sp__unlock(&s->work_lock);
        sp__repository_work(s);
        if (reload && sp__keys_load(s) != SP_OK)
            sp__server_log(s, SP_LOG_ERROR, "%s; the keys before it stay", sp_error_message());
        if (reload && s->o.event != NULL) s->o.event(s->o.event_context, SP_SERVER_RELOAD);
        if (polling) {
            const bool restless = sp__models_poll(s);
            next_us = sp__net_now_us() + (restless && every_us > REST_US ? REST_US : every_us);
        }
        const bool busy = sp__entries_retire(s);
        int64_t until = busy || every_us == 0 ? sp__net_now_us() + (busy ? 20000 : 1000000) : next_us;
        sp__lock(&s->work_lock);
        s->polling = false;
        if (!s->ending && !s->reload && s->orders == NULL) sp__cond_wait_until(&s->watch, &s->work_lock, until * 1000);
    }
    sp__unlock(&s->work_lock);
    return NULL;
}

/* --- making, starting, ending ---------------------------------------------------------------------------------------- */

static void set_defaults(sp_server_options *o)
{
    if (o->host == NULL) o->host = "127.0.0.1";
    if (o->port == 0) o->port = 8000;
    if (o->max_memory_bytes == 0)
        o->max_memory_bytes = o->max_body_bytes > (size_t)1 << 30 ? o->max_body_bytes : (size_t)1 << 30;
    if (o->max_body_bytes == 0)
        o->max_body_bytes = o->max_memory_bytes < (size_t)64 << 20 ? o->max_memory_bytes : (size_t)64 << 20;
    if (o->max_connections == 0) o->max_connections = 1024;
    if (o->max_queue == 0) o->max_queue = 256;
    if (o->max_batch == 0) o->max_batch = 8;
    if (o->request_seconds == 0) o->request_seconds = 60;
    if (o->idle_seconds == 0) o->idle_seconds = 75;
    if (o->receive_seconds == 0) o->receive_seconds = 20;
    if (o->drain_seconds == 0) o->drain_seconds = 30;
    if (o->poll_seconds == 0) o->poll_seconds = 2;
    if (o->n_workers == 0) o->n_workers = 2;
}

/* What would be without effect is a mistake, and where it concerns who is let in, a dangerous one. Before defaults are set: 0 and NULL are not given. */
static sp_status check_effects(const sp_server_options *o)
{
    const struct {
        const char *text, *name;
    } texts[] = {{o->host, "host (--host)"},
                 {o->unix_path, "unix_path (--unix)"},
                 {o->certificate, "certificate (--cert)"},
                 {o->private_key, "private_key (--key)"},
                 {o->client_ca, "client_ca (--client-ca)"},
                 {o->api_keys, "api_keys (--api-keys)"},
                 {o->cors, "cors (--cors)"},
                 {o->otlp, "otlp (--otlp)"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        SP_CHECK(texts[i].text == NULL || texts[i].text[0] != '\0', SP_VALUE, "%s is empty", texts[i].name);
    SP_CHECK(o->certificate != NULL || o->private_key == NULL, SP_VALUE,
             "a private key (--key) is given without a certificate (--cert): nothing would be encrypted");
    SP_CHECK(
        o->certificate != NULL || o->client_ca == NULL, SP_VALUE,
        "authorities of clients (--client-ca) are given without a certificate (--cert): nothing would be encrypted and everybody let in");
    SP_CHECK(o->certificate == NULL || o->private_key != NULL, SP_VALUE,
             "a certificate (--cert) needs its private key (--key)");
    SP_CHECK(!o->no_tcp || o->unix_path != NULL, SP_VALUE, "neither a port nor a socket to listen on");
    SP_CHECK(!o->no_tcp || (o->host == NULL && o->port == 0), SP_VALUE,
             "an address or port (--host, --port) is given with no_tcp (--port none)");
    SP_CHECK(!o->no_tcp || o->certificate == NULL, SP_VALUE,
             "TLS (--cert) is for host and port alone, which no_tcp (--port none) turns off; the socket is plain");
    SP_CHECK(
        o->max_batch != 1 || (o->max_delay_us == 0 && !o->trust_batch), SP_VALUE,
        "waiting for others (--max-delay) or joining on trust (--trust-batch) has no effect where no requests are joined (--max-batch 1)");
    SP_CHECK(o->max_body_bytes == 0 || o->max_memory_bytes == 0 || o->max_body_bytes <= o->max_memory_bytes, SP_VALUE,
             "a request may have %zu bytes (--max-body), but all together no more than %zu (--max-memory)",
             o->max_body_bytes, o->max_memory_bytes);
    SP_CHECK(o->n_sockets == 0 || (o->host == NULL && o->port == 0 && !o->no_tcp), SP_VALUE,
             "sockets are handed over (LISTEN_FDS), so that an address or port (--host, --port) has no effect");
    SP_CHECK(o->event != NULL || o->alive_seconds == 0, SP_VALUE, "alive_seconds is set, but nobody is told");
    SP_CHECK(o->log != NULL || !o->access_json, SP_VALUE, "access_json is set, but there is no log");
    return SP_OK;
}

static sp_status check_options(const sp_server_options *o)
{
    SP_CHECK(o->port >= -1 && o->port <= 65535, SP_VALUE,
             "port %d is none; ports are 1 to 65535, -1 for one that is free", o->port);
    SP_CHECK(o->max_connections > 0 && o->max_queue > 0, SP_VALUE,
             "at least one connection and one waiting request are needed");
    SP_CHECK(o->max_batch >= 1 && o->max_batch <= SP_SERVE_BATCH_MAX, SP_VALUE, "max_batch is %d, it must be 1 to %d",
             o->max_batch, SP_SERVE_BATCH_MAX);
    const char *control = o->model_control != NULL ? o->model_control : "local";
    SP_CHECK(strcmp(control, "local") == 0 || strcmp(control, "all") == 0 || strcmp(control, "none") == 0, SP_VALUE,
             "model_control (--model-control) is '%.32s', it must be local, all or none", control);
    SP_CHECK(o->n_workers >= 1 && o->n_workers <= 64, SP_VALUE, "n_workers is %d, it must be 1 to 64", o->n_workers);
    SP_CHECK(o->request_seconds > 0 && o->idle_seconds > 0 && o->receive_seconds > 0 && o->drain_seconds >= 0 &&
                 o->max_delay_us >= 0,
             SP_VALUE, "times must not be negative");
    return SP_OK;
}

static void make_locks(struct sp_server *s)
{
    sp__lock_init(&s->lock);
    sp__lock_init(&s->work_lock);
}

sp_status sp_server_create(const sp_server_options *options, sp_server **out)
{
    SP_CHECK(out != NULL, SP_VALUE, "out must not be NULL");
    sp_server *s = sp__alloc_zero(sizeof *s);
    if (s == NULL) return SP_NOMEM;
    make_locks(s);
    s->pid = getpid();
    s->end = &s->first;
    if (options != NULL) s->o = *options;
    atomic_init(&s->log_info, true);
    atomic_init(&s->log_error, true);
    sp_status status = check_effects(&s->o);
    set_defaults(&s->o);
    if (status == SP_OK) status = check_options(&s->o);
    const sp_net_options net = {.host = s->o.no_tcp || s->o.n_sockets > 0 ? NULL : s->o.host,
                                .port = s->o.port > 0 ? s->o.port : 0,
                                .unix_path = s->o.unix_path,
                                .certificate = s->o.certificate,
                                .private_key = s->o.private_key,
                                .client_ca = s->o.client_ca,
                                .max_body_bytes = s->o.max_body_bytes,
                                .max_memory_bytes = s->o.max_memory_bytes,
                                .max_connections = s->o.max_connections,
                                .idle_seconds = s->o.idle_seconds,
                                .receive_seconds = s->o.receive_seconds,
                                .drain_seconds = s->o.drain_seconds,
                                .leave_seconds = s->o.leave_seconds == 0  ? -1
                                                 : s->o.leave_seconds < 0 ? 0
                                                                          : s->o.leave_seconds,
                                .n_given = s->o.n_sockets,
                                .tick_seconds = s->o.alive_seconds,
                                .event = on_net,
                                .handle = sp__server_route,
                                .stays_open = sp__grpc_stays_open,
                                .decorate = sp__server_decorate,
                                .finished = sp__server_finished,
                                .log = log_net,
                                .context = s};
    if (status == SP_OK) status = sp__keys_load(s);
    if (status == SP_OK && s->o.log != NULL) status = sp__log_create(&s->o, &s->log);
    if (status == SP_OK) status = sp__limits_open(s);
    if (status == SP_OK && s->o.otlp != NULL) status = sp__otlp_create(s->o.otlp, log_net, s, &s->otlp);
    if (status == SP_OK) status = sp__net_create(&net, &s->net);
    if (status == SP_OK) *out = s;
    else sp_server_release(s);
    return status;
}

static bool is_ours(const struct sp_server *s) { return s->pid == getpid(); }

sp_status sp__server_check(const struct sp_server *s)
{
    SP_CHECK(is_ours(s), SP_RUNTIME, "a server cannot be used in a forked process; create another one there");
    return SP_OK;
}

sp_status sp_server_start(sp_server *s)
{
    SP_HANDLE(s);
    sigset_t all, before;
    SP_TRY(sp__server_check(s));
    SP_CHECK(!s->started, SP_RUNTIME, "the server was started already");
    SP_TRY(sp__net_start(s->net));
    s->started = true;
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = 0;
    while (s->n_threads < s->o.n_workers && failure == 0) {
        failure = pthread_create(&s->threads[s->n_threads], NULL, worker, s);
        if (failure == 0) s->n_threads++;
    }
    if (failure == 0) failure = pthread_create(&s->watcher, NULL, watcher, s);
    s->watching = failure == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0 ? SP_OK : sp__fail_thread(failure, "the server");
}

int sp_server_port(const sp_server *s) { return s ? sp__net_port(s->net) : 0; }
void sp_server_stop(sp_server *s)
{
    if (!s) return;
    if (is_ours(s)) sp__net_stop(s->net);
}

void sp_server_reload(sp_server *s)
{
    if (!s) return;
    if (is_ours(s)) sp__net_reload(s->net);
}

static void join_watcher(struct sp_server *s)
{
    pthread_join(s->watcher, NULL);
    s->watching = false;
}

sp_status sp_server_wait(sp_server *s)
{
    SP_HANDLE(s);
    SP_TRY(sp__server_check(s));
    sp__net_wait(s->net); /* every job has been answered by then */
    sp__lock(&s->work_lock);
    s->ending = true;
    sp__cond_broadcast(&s->work);
    sp__cond_broadcast(&s->watch);
    const bool polling = s->polling;
    sp__unlock(&s->work_lock);
    for (int i = 0; i < s->n_threads; i++) pthread_join(s->threads[i], NULL);
    s->n_threads = 0;
    if (s->watching && !polling)
        join_watcher(s); /* a model that is being loaded keeps nobody waiting but sp_server_release */
    return SP_OK;
}

void sp_server_release(sp_server *s)
{
    if (s == NULL) return;
    if (!is_ours(s))
        return; /* its event loop is shared with the parent: taking it down here would take down that one */
    if (s->started) {
        sp__net_stop(s->net);
        sp__net_stop(s->net);
        sp_server_wait(s);
    }
    if (s->watching) join_watcher(s);
    sp__servables_stop(s);
    sp__regions_release(s);
    sp__entries_release(s);
    sp__models_release(s);
    sp__keys_release(s);
    sp__net_release(s->net);
    sp__otlp_release(s->otlp);
    sp__free(s->clients);
    sp__log_end(s->log);
    sp__lock_destroy(&s->work_lock);
    sp__lock_destroy(&s->lock);
    sp__free(s);
}
