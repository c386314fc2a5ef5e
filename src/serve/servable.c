/* SPDX-License-Identifier: Apache-2.0 */
/* servable.c - requests on their way to the processes that run a servable's methods, and back.
 *
 * Every process has CALLS_AT_ONCE threads here, each with a connection of its own. A process that dies breaks its connections: requests that it had fail, those that wait
 * go to others or to the process that is started in its place, on the same path. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/plain.h"
#include "serve/grpc.h"
#include "serve/json.h"
#include "serve/servable.h"

enum {
    CALLS_AT_ONCE = 8,
    SOCKETS_MAX = 64,
    HEAD_BYTES = 24,
    REPLY_BYTES = 16,
    REPLY_BYTES_MAX = 1 << 30,
    AGAIN_MS = 50,
    DYING_US = 300000
};

typedef struct call {
    struct call *next;
    sp_exchange *x;
    bool grpc;
    int64_t deadline_us;
    char method[256];
} call;

typedef struct carrier {
    sp_servable *servable;
    int socket; /* which of its processes */
    int fd;     /* -1: not connected */
    pthread_t thread;
} carrier;

struct sp_servable {
    sp_servable *next;
    sp_server *server;
    char *name;
    int64_t version;
    int n_sockets, n_carriers;
    char *sockets[SOCKETS_MAX];
    atomic_llong broken_us[SOCKETS_MAX]; /* when the process there was last found gone */
    carrier carriers[SOCKETS_MAX * CALLS_AT_ONCE];
    sp_lock lock; /* of what follows */
    sp_cond more;
    call *first, **end;
    int n_waiting;
    bool closing;
};

/* --- replies --------------------------------------------------------------------------------------------------------- */

static void fail(call *c, int status, const char *text)
{
    sp__text t = {0};
    if (c->grpc) sp__mindspore_grpc_error(c->x, status, text);
    else {
        sp__text_put(&t, "{\"error_msg\":");
        sp__json_put_text(&t, text, strlen(text));
        sp__text_put(&t, "}\n");
        sp__reply_text(c->x, status, "application/json", &t);
    }
    sp__exchange_reply(c->x);
    sp__free(c);
}

static void answer(call *c, int status, uint8_t *take_body, size_t bytes)
{
    sp_exchange *x = c->x;
    if (c->grpc) {
        sp_wire_out o = {0};
        sp_status result = sp__grpc_begin(&o);
        if (result == SP_OK && bytes > 0) result = sp__wire_put(&o, take_body, bytes);
        if (result == SP_OK) sp__grpc_reply(x, &o);
        else sp__grpc_refuse(x, 503, "out of memory");
        sp__wire_out_free(&o);
        sp__free(take_body);
    } else {
        sp__free(x->reply.body);
        x->reply.status = status;
        x->reply.type = "application/json";
        x->reply.body = take_body;
        x->reply.body_bytes = bytes;
    }
    sp__exchange_reply(x);
    sp__free(c);
}

/* --- a connection ------------------------------------------------------------------------------------------------------ */

static bool write_all(int fd, const void *data, size_t bytes)
{
    for (const char *p = data; bytes > 0;) {
        const ssize_t n = send(fd, p, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *data, size_t bytes)
{
    for (char *p = data; bytes > 0;) {
        const ssize_t n = recv(fd, p, bytes, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool connected(carrier *c)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = c->servable->sockets[c->socket];
    char probe;
    /* Gone since the last request, or about to go: a process that ends closes its sockets one by one. */
    const bool dying = sp__net_now_us() - atomic_load(&c->servable->broken_us[c->socket]) < DYING_US;
    if (c->fd >= 0 && (dying || recv(c->fd, &probe, 1, MSG_PEEK | MSG_DONTWAIT) == 0)) {
        close(c->fd);
        c->fd = -1;
    }
    if (c->fd >= 0 || dying) return c->fd >= 0;
    memcpy(address.sun_path, path, strlen(path) + 1); /* its length was checked */
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) c->fd = fd;
    else if (fd >= 0) close(fd);
    return c->fd >= 0;
}

static void put_number(uint8_t *out, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) out[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_number(const uint8_t *in, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)in[i] << (8 * i);
    return v;
}

/* One request there and back. False: the process has gone, or does not answer in time. */
static bool carry(carrier *k, call *c, int *status, uint8_t **body, size_t *bytes)
{
    uint8_t head[HEAD_BYTES] = "SPS1";
    const size_t skip = c->grpc ? SP_GRPC_PREFIX : 0;
    const int64_t left_us = c->deadline_us - sp__net_now_us();
    const struct timeval wait = {left_us > 0 ? left_us / 1000000 + 1 : 1, 0};
    setsockopt(k->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(k->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    head[4] = c->grpc;
    put_number(head + 8, strlen(c->method), 4);
    put_number(head + 16, c->x->body_bytes - skip, 8);
    if (!write_all(k->fd, head, sizeof head) || !write_all(k->fd, c->method, strlen(c->method))) return false;
    if (c->x->body_bytes > skip && !write_all(k->fd, c->x->body + skip, c->x->body_bytes - skip)) return false;
    uint8_t reply[REPLY_BYTES];
    if (!read_all(k->fd, reply, sizeof reply) || memcmp(reply, "SPR1", 4) != 0) return false;
    *status = (int)get_number(reply + 4, 4);
    const uint64_t n = get_number(reply + 8, 8);
    if (n > REPLY_BYTES_MAX || *status < 200 || *status > 599) return false;
    *body = sp__alloc((size_t)n + 1);
    *bytes = (size_t)n;
    return *body != NULL && read_all(k->fd, *body, (size_t)n);
}

/* --- threads ------------------------------------------------------------------------------------------------------------- */

static call *take(sp_servable *v)
{
    sp__lock(&v->lock);
    while (v->first == NULL && !v->closing) sp__cond_wait(&v->more, &v->lock);
    call *c = v->first;
    if (c != NULL) {
        v->first = c->next;
        v->n_waiting--;
        if (v->first == NULL) v->end = &v->first;
    }
    sp__unlock(&v->lock);
    return c;
}

/* To the queue again, in front: this process is not there, another may be. */
static void give_back(sp_servable *v, call *c)
{
    sp__lock(&v->lock);
    c->next = v->first;
    if (v->first == NULL) v->end = &c->next;
    v->first = c;
    v->n_waiting++;
    sp__cond_signal(&v->more);
    sp__unlock(&v->lock);
}

static void *run(void *context)
{
    carrier *k = context;
    sp_servable *v = k->servable;
    for (call *c; (c = take(v)) != NULL;) {
        uint8_t *body = NULL;
        size_t bytes = 0;
        int status = 0;
        if (atomic_load(&c->x->peer_state) == SP_PEER_GONE) fail(c, 499, "the client has gone");
        else if (sp__net_now_us() > c->deadline_us)
            fail(c, connected(k) ? 504 : 503,
                 connected(k) ? "the request waited too long, the servable is too busy"
                              : "servable is not available: no process runs it");
        else if (!connected(k)) {
            const struct timespec rest = {0, AGAIN_MS * 1000000L};
            give_back(v, c);
            nanosleep(&rest, NULL);
        } else if (carry(k, c, &status, &body, &bytes)) answer(c, status, body, bytes);
        else {
            sp__free(body);
            close(k->fd);
            k->fd = -1;
            atomic_store(&v->broken_us[k->socket], sp__net_now_us());
            const bool late = sp__net_now_us() > c->deadline_us;
            sp__server_log(v->server, SP_LOG_ERROR, "servable %s version %lld: %s", v->name, (long long)v->version,
                           late ? "a request took longer than it may" : "the process that ran a request has gone");
            fail(c, late ? 504 : 503,
                 late ? "Predict Failed: the request took longer than it may"
                      : "servable is not available: the process that ran the request has gone");
        }
    }
    if (k->fd >= 0) close(k->fd);
    return NULL;
}

void sp__servable_call(sp_servable *v, sp_exchange *x, const char *method, bool grpc)
{
    const bool allowed = sp__keys_check(v->server, x, v->name, NULL) == 0;
    call *c = allowed ? sp__alloc_zero(sizeof *c) : NULL;
    if (!allowed) {
        sp__exchange_refuse(x, 403, "the key that the request shows is not for this servable");
        sp__exchange_reply(x);
        return;
    }
    if (c == NULL) {
        sp__exchange_refuse(x, 503, "out of memory");
        sp__exchange_reply(x);
        return;
    }
    c->x = x;
    c->grpc = grpc;
    c->deadline_us = x->began_us + (int64_t)(v->server->o.request_seconds * 1e6);
    snprintf(c->method, sizeof c->method, "%s", method);
    sp__lock(&v->lock);
    const bool full = v->n_waiting >= v->server->o.max_queue;
    if (!full) {
        *v->end = c;
        v->end = &c->next;
        v->n_waiting++;
        sp__cond_signal(&v->more);
    }
    sp__unlock(&v->lock);
    if (!full) return;
    char text[120];
    snprintf(text, sizeof text, "Predict Failed: enqueued requests count exceeds the limit %d", v->server->o.max_queue);
    fail(c, 503, text);
}

/* --- making ---------------------------------------------------------------------------------------------------------------- */

sp_servable *sp__servable_find(sp_server *s, const char *name, int64_t version)
{
    sp_servable *found = NULL;
    sp__lock(&s->lock);
    for (sp_servable *v = s->servables; v != NULL; v = v->next)
        if (strcmp(v->name, name) == 0 &&
            (version == 0 ? found == NULL || v->version > found->version : v->version == version))
            found = v;
    sp__unlock(&s->lock);
    return found; /* they stay */
}

bool sp__servables_there(const sp_server *s) { return s->servables != NULL; }

static sp_status make(sp_server *s, const char *name, int64_t version, sp_servable **out)
{
    sp_servable *v = sp__alloc_zero(sizeof *v);
    if (v == NULL) return SP_NOMEM;
    v->server = s;
    v->version = version;
    for (int i = 0; i < SOCKETS_MAX; i++) atomic_init(&v->broken_us[i], -DYING_US);
    v->end = &v->first;
    v->name = sp__strdup(name);
    if (v->name == NULL) {
        sp__free(v);
        return SP_NOMEM;
    }
    sp__lock_init(&v->lock);
    sp__lock(&s->lock);
    v->next = s->servables;
    s->servables = v;
    sp__unlock(&s->lock);
    *out = v;
    return SP_OK;
}

static sp_status add_carriers(sp_servable *v)
{
    sigset_t all, before;
    int failure = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < CALLS_AT_ONCE && failure == 0; i++) {
        carrier *k = &v->carriers[v->n_carriers];
        *k = (carrier){.servable = v, .socket = v->n_sockets - 1, .fd = -1};
        failure = pthread_create(&k->thread, NULL, run, k);
        v->n_carriers += failure == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0 ? SP_OK : sp__fail_thread(failure, "the servable");
}

sp_status sp_server_add_servable(sp_server *s, const char *name, int64_t version, const char *socket)
{
    struct sockaddr_un address;
    SP_CHECK(s != NULL && name != NULL && socket != NULL, SP_VALUE, "the server, a name and a socket are needed");
    SP_TRY(sp__server_check(s));
    SP_CHECK(name[0] != '\0' && strlen(name) <= 200 && version > 0, SP_VALUE,
             "a servable has a name of 1 to 200 bytes and a version from 1 on");
    SP_CHECK(socket[0] != '\0' && strlen(socket) < sizeof address.sun_path, SP_VALUE,
             "the path of a socket has 1 to %zu bytes, '%s' has not", sizeof address.sun_path - 1, socket);
    SP_CHECK(sp__entry_find(s, name) == NULL, SP_VALUE, "there is a model '%s' already", name);
    sp_servable *v = sp__servable_find(s, name, version);
    if (v == NULL) SP_TRY(make(s, name, version, &v));
    SP_CHECK(v->n_sockets < SOCKETS_MAX, SP_VALUE, "servable '%s' has %d processes already, which is the limit", name,
             SOCKETS_MAX);
    v->sockets[v->n_sockets] = sp__strdup(socket);
    if (v->sockets[v->n_sockets] == NULL) return SP_NOMEM;
    v->n_sockets++;
    return add_carriers(v);
}

void sp__servables_stop(sp_server *s)
{
    for (sp_servable *v = s->servables, *next; v != NULL; v = next) {
        next = v->next;
        sp__lock(&v->lock);
        v->closing = true;
        sp__cond_broadcast(&v->more);
        sp__unlock(&v->lock);
        for (int i = 0; i < v->n_carriers; i++) pthread_join(v->carriers[i].thread, NULL);
        for (int i = 0; i < v->n_sockets; i++) sp__free(v->sockets[i]);
        sp__lock_destroy(&v->lock);
        sp__free(v->name);
        sp__free(v);
    }
    s->servables = NULL;
}
