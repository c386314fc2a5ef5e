/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.c - traces of requests, sent to a collector of OpenTelemetry as OTLP over HTTP, in JSON (--otlp http://HOST[:4318][/v1/traces]).
 *
 * A request is a span of kind SERVER, below the caller's where it sent `traceparent`; the time in the queue and the run are spans below that. What is not sampled by the caller is
 * not sent. A thread of its own sends what has gathered every second; requests never wait for it, and what the collector does not take in time is dropped and counted. */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/plain.h"
#include "serve/json.h"
#include "serve/keys.h"
#include "serve/serve_impl.h"

enum { WAITING_BYTES_MAX = 4 << 20, EVERY_MS = 1000, PATIENCE_S = 2 };

struct sp_otlp {
    char host[256], port[8], path[256];
    sp_lock lock;
    sp_cond more;
    sp__text spans; /* JSON objects with commas between */
    int n_spans;
    bool ending;
    atomic_ullong dropped, sent;
    uint64_t random[2];
    pthread_t thread;
    void (*tell)(void *context, const char *text);
    void *context;
    bool told;
};

/* --- sending --------------------------------------------------------------------------------------------------------- */

static int connect_to(const sp_otlp *o)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
    const struct timeval patience = {PATIENCE_S, 0};
    int fd = -1;
    if (getaddrinfo(o->host, o->port, &hints, &all) != 0) return -1;
    for (const struct addrinfo *a = all; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd < 0) continue;
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience); /* connect's, too */
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (connect(fd, a->ai_addr, a->ai_addrlen) == 0) break;
        close(fd);
        fd = -1;
    }
    freeaddrinfo(all);
    return fd;
}

static bool send_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* One request on a connection of its own; was it answered with 2xx? */
static bool post(const sp_otlp *o, const char *spans, size_t bytes)
{
    static const char before[] =
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"spore\"}}]},"
        "\"scopeSpans\":[{\"scope\":{\"name\":\"spore.serve\"},\"spans\":[",
                      after[] = "]}]}]}";
    char head[1024], reply[512];
    const size_t total = sizeof before - 1 + bytes + sizeof after - 1;
    const int n =
        snprintf(head, sizeof head,
                 "POST %s HTTP/1.1\r\nhost: %s:%s\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n"
                 "connection: close\r\n\r\n",
                 o->path, o->host, o->port, total);
    const int fd = connect_to(o);
    if (fd < 0) return false;
    bool good = send_all(fd, head, (size_t)n) && send_all(fd, before, sizeof before - 1) &&
                send_all(fd, spans, bytes) && send_all(fd, after, sizeof after - 1);
    size_t got = 0;
    for (ssize_t more; good && got < 12; got += (size_t)more) {
        more = recv(fd, reply + got, sizeof reply - got, 0);
        if (more < 0 && errno == EINTR) more = 0;
        else if (more <= 0) good = false;
        if (!good) break;
    }
    close(fd);
    return good && memcmp(reply, "HTTP/1.", 7) == 0 && reply[9] == '2';
}

static void *run(void *context)
{
    sp_otlp *o = context;
    sp__lock(&o->lock);
    for (bool last = false; !last;) {
        if (!o->ending) sp__cond_wait_until(&o->more, &o->lock, (sp__net_now_us() + EVERY_MS * 1000) * 1000);
        last = o->ending;
        sp__text spans = o->spans;
        const int n = o->n_spans;
        o->spans = (sp__text){0};
        o->n_spans = 0;
        sp__unlock(&o->lock);
        if (n > 0 && !spans.failed && post(o, spans.data, spans.used)) {
            atomic_fetch_add(&o->sent, (unsigned long long)n);
            o->told = false;
        } else if (n > 0) {
            atomic_fetch_add(&o->dropped, (unsigned long long)n);
            char text[640];
            snprintf(text, sizeof text,
                     "the collector at http://%s:%s%s took no traces (--otlp); they are dropped until it does", o->host,
                     o->port, o->path);
            if (!o->told) o->tell(o->context, text);
            o->told = true;
        }
        sp__free(spans.data);
        sp__lock(&o->lock);
    }
    sp__unlock(&o->lock);
    return NULL;
}

/* --- spans ----------------------------------------------------------------------------------------------------------- */

/* xorshift128+; the loop's thread's. */
static uint64_t draw(sp_otlp *o)
{
    uint64_t a = o->random[0];
    const uint64_t b = o->random[1];
    o->random[0] = b;
    a ^= a << 23;
    o->random[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return o->random[1] + b;
}

typedef struct span {
    char trace[33], id[17], parent[17];
    const char *name;
    int kind;               /* 1 internal, 2 server */
    int64_t from_us, to_us; /* since 1970 */
} span;

static void put_span(sp__text *t, const span *s)
{
    sp__text_put(t, "%s{\"traceId\":\"%s\",\"spanId\":\"%s\"", t->used > 0 ? "," : "", s->trace, s->id);
    if (s->parent[0] != '\0') sp__text_put(t, ",\"parentSpanId\":\"%s\"", s->parent);
    sp__text_put(t, ",\"name\":");
    sp__json_put_text(t, s->name, strlen(s->name));
    sp__text_put(t, ",\"kind\":%d,\"startTimeUnixNano\":\"%lld000\",\"endTimeUnixNano\":\"%lld000\"", s->kind,
                 (long long)s->from_us, (long long)s->to_us);
}

static void put_text(sp__text *t, bool first, const char *key, const char *value)
{
    sp__text_put(t, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", first ? "" : ",", key);
    sp__json_put_text(t, value, strlen(value));
    sp__text_put(t, "}}");
}

static void put_int(sp__text *t, const char *key, long long value)
{
    sp__text_put(t, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%lld\"}}", key, value);
}

static void put_below(sp_otlp *o, const span *of, const char *name, int64_t from_us, int64_t us)
{
    span s = {.name = name, .kind = 1, .from_us = from_us, .to_us = from_us + us};
    memcpy(s.trace, of->trace, sizeof s.trace);
    memcpy(s.parent, of->id, sizeof s.parent);
    snprintf(s.id, sizeof s.id, "%016llx", (unsigned long long)draw(o));
    put_span(&o->spans, &s);
    sp__text_put(&o->spans, "}");
    o->n_spans++;
}

void sp__otlp_add(sp_otlp *o, const sp_exchange *x)
{
    struct timespec t;
    const char *parent = sp__trace_parent(x);
    const sp_entry *e = x->user;
    span s = {.name = e != NULL ? e->name : x->path, .kind = 2};
    if (parent != NULL && strchr("02468ace", parent[54]) != NULL) return; /* not sampled */
    clock_gettime(CLOCK_REALTIME, &t);
    s.to_us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    const int64_t shift = s.to_us - sp__net_now_us(); /* of the monotonic clock */
    s.from_us = x->began_us + shift;
    sp__lock(&o->lock);
    if (o->spans.used > WAITING_BYTES_MAX) {
        sp__unlock(&o->lock);
        atomic_fetch_add(&o->dropped, 1);
        return;
    }
    if (parent != NULL) {
        memcpy(s.trace, parent + 3, 32);
        memcpy(s.parent, parent + 36, 16);
    } else
        snprintf(s.trace, sizeof s.trace, "%016llx%016llx", (unsigned long long)draw(o), (unsigned long long)draw(o));
    snprintf(s.id, sizeof s.id, "%016llx", (unsigned long long)draw(o));
    put_span(&o->spans, &s);
    sp__text_put(&o->spans, ",\"attributes\":[");
    put_text(&o->spans, true, "http.request.method", x->method);
    put_text(&o->spans, false, "url.path", x->path);
    put_text(&o->spans, false, "client.address", x->peer);
    put_int(&o->spans, x->reply.grpc_status >= 0 ? "rpc.grpc.status_code" : "http.response.status_code",
            x->reply.grpc_status >= 0 ? x->reply.grpc_status : x->reply.status);
    if (e != NULL) put_text(&o->spans, false, "spore.model", e->name);
    if (e != NULL) put_int(&o->spans, "spore.version", (long long)x->served_version);
    if (x->served_rows > 0) put_int(&o->spans, "spore.rows", (long long)x->served_rows);
    const bool failed = x->reply.status >= 500 || x->reply.grpc_status > 0;
    sp__text_put(&o->spans, "],\"status\":{%s}}", failed ? "\"code\":2" : "");
    o->n_spans++;
    if (x->served_rows > 0) {
        put_below(o, &s, "queue", x->run_began_us - x->queue_us + shift, x->queue_us);
        put_below(o, &s, "run", x->run_began_us + shift, x->run_us);
    }
    sp__unlock(&o->lock);
}

/* --- begin and end ----------------------------------------------------------------------------------------------------- */

static sp_status read_url(const char *url, sp_otlp *o)
{
    SP_CHECK(strncmp(url, "http://", 7) == 0, SP_VALUE,
             "--otlp is '%.200s', it must be http://HOST[:PORT][/PATH]; for TLS put a collector in between", url);
    const char *host = url + 7, *slash = host + strcspn(host, "/");
    const char *close_bracket = host[0] == '[' ? memchr(host, ']', (size_t)(slash - host)) : NULL,
               *colon = memchr(close_bracket != NULL ? close_bracket : host, ':',
                               (size_t)(slash - (close_bracket != NULL ? close_bracket : host))),
               *end = colon != NULL ? colon : slash;
    const char *from = close_bracket != NULL ? host + 1 : host, *to = close_bracket != NULL ? close_bracket : end;
    const size_t port = colon != NULL ? (size_t)(slash - colon - 1) : 0;
    SP_CHECK(to > from && (size_t)(to - from) < sizeof o->host && port < sizeof o->port &&
                 strlen(slash) < sizeof o->path &&
                 (colon == NULL || (port > 0 && strspn(colon + 1, "0123456789") == port)) &&
                 strpbrk(url, " \r\n\t\"") == NULL,
             SP_VALUE, "--otlp is '%.200s', it must be http://HOST[:PORT][/PATH]", url);
    memcpy(o->host, from, (size_t)(to - from));
    snprintf(o->port, sizeof o->port, "%.*s", (int)(port > 0 ? port : 4), port > 0 ? colon + 1 : "4318");
    snprintf(o->path, sizeof o->path, "%s", slash[0] == '\0' || strcmp(slash, "/") == 0 ? "/v1/traces" : slash);
    return SP_OK;
}

sp_status sp__otlp_create(const char *url, void (*tell)(void *context, const char *text), void *context, sp_otlp **out)
{
    sp_otlp *o = sp__alloc_zero(sizeof *o);
    if (o == NULL) return SP_NOMEM;
    sp_status status = read_url(url, o);
    if (status == SP_OK) {
        o->tell = tell;
        o->context = context;
        if (getrandom(o->random, sizeof o->random, 0) != (ssize_t)sizeof o->random ||
            (o->random[0] | o->random[1]) == 0)
            o->random[0] = (uint64_t)sp__net_now_us() | 1;
        sp__lock_init(&o->lock);
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        const int failure = pthread_create(&o->thread, NULL, run, o);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (failure != 0) status = sp__fail_thread(failure, "traces");
    }
    if (status == SP_OK) *out = o;
    else sp__free(o);
    return status;
}

void sp__otlp_release(sp_otlp *o)
{
    if (o == NULL) return;
    sp__lock(&o->lock);
    o->ending = true;
    sp__cond_broadcast(&o->more);
    sp__unlock(&o->lock);
    pthread_join(o->thread, NULL);
    sp__lock_destroy(&o->lock);
    sp__free(o->spans.data);
    sp__free(o);
}

unsigned long long sp__otlp_count(const sp_otlp *o, bool dropped)
{
    return o == NULL ? 0 : atomic_load(dropped ? &o->dropped : &o->sent);
}
