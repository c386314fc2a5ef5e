/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - the loop: listening, replies that come back from other threads, and the end. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/plain.h"
#include "net/connection.h"
#include "net/reserve.h"

static const struct timeval REST_AFTER_FAILED_ACCEPT = {0, 100000};
static const double LEAVE_SECONDS = 1, FRESH_SECONDS = 1, LAST_SECONDS = 2;

/* --- making ------------------------------------------------------------------------------------------------------ */

static sp_status copy_texts(sp_net *n)
{
    const char **texts[5] = {&n->o.host, &n->o.unix_path, &n->o.certificate, &n->o.private_key, &n->o.client_ca};
    for (int i = 0; i < 5; i++) {
        if (*texts[i] == NULL) continue;
        n->texts[i] = sp__strdup(*texts[i]);
        if (n->texts[i] == NULL) return SP_NOMEM;
        *texts[i] = n->texts[i];
    }
    return SP_OK;
}

sp_status sp__net_create(const sp_net_options *options, sp_net **out)
{
    sp_net *n = sp__alloc_zero(sizeof *n);
    if (n == NULL) return SP_NOMEM;
    n->o = *options;
    n->done_end = &n->done;
    n->wake_fd = -1;
    atomic_init(&n->n_connections, 0);
    atomic_init(&n->stops, 0);
    atomic_init(&n->reloads, 0);
    atomic_init(&n->phase, NET_RUNNING);
    sp__lock_init(&n->lock);
    sp_status status = copy_texts(n);
    if (status == SP_OK && n->o.certificate != NULL) status = sp__tls_create(&n->o, &n->tls);
    sp__reserve_start();
    n->base = event_base_new();
    n->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (status == SP_OK && (n->base == NULL || n->wake_fd < 0))
        status = sp__fail(sp__memory_is_out() ? SP_NOMEM : SP_RUNTIME, "no event loop could be made: %s",
                          sp__strerror(errno));
    if (status == SP_OK) *out = n;
    else sp__net_release(n);
    return status;
}

void sp__net_release(sp_net *n)
{
    if (n == NULL) return;
    if (n->started && !n->joined) {
        sp__net_stop(n);
        sp__net_stop(n);
        sp__net_wait(n);
    }
    if (n->tcp != NULL) evconnlistener_free(n->tcp);
    if (n->local != NULL) evconnlistener_free(n->local);
    for (int i = 0; i < GIVEN_MAX; i++)
        if (n->given[i] != NULL) evconnlistener_free(n->given[i]);
    struct event *const events[5] = {n->wake, n->again, n->drain, n->tick, n->watch};
    for (int i = 0; i < 5; i++)
        if (events[i] != NULL) event_free(events[i]);
    if (n->base != NULL) event_base_free(n->base);
    if (n->wake_fd >= 0) close(n->wake_fd);
    sp__tls_release(n->tls);
    sp__lock_destroy(&n->lock);
    for (int i = 0; i < 5; i++) sp__free(n->texts[i]);
    sp__free(n);
}

int sp__net_port(const sp_net *n) { return n->port; }
int sp__net_connections(const sp_net *n) { return atomic_load(&((sp_net *)n)->n_connections); }
bool sp__net_leaving(const sp_net *n) { return atomic_load(&((sp_net *)n)->phase) != NET_RUNNING; }
bool sp__net_draining(const sp_net *n) { return sp__net_leaving(n) || atomic_load(&((sp_net *)n)->stops) > 0; }

/* --- listening --------------------------------------------------------------------------------------------------- */

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *address, int bytes, void *context)
{
    sp_net *n = context;
    char host[46] = "", peer[56] = "unix";
    const int one = 1;
    (void)bytes;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *a = (const struct sockaddr_in *)(const void *)address;
        snprintf(peer, sizeof peer, "%s:%d", inet_ntop(AF_INET, &a->sin_addr, host, sizeof host), ntohs(a->sin_port));
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *a = (const struct sockaddr_in6 *)(const void *)address;
        snprintf(peer, sizeof peer, "[%s]:%d", inet_ntop(AF_INET6, &a->sin6_addr, host, sizeof host),
                 ntohs(a->sin6_port));
    }
    const bool tcp = address->sa_family == AF_INET || address->sa_family == AF_INET6;
    (void)l;
    if (tcp) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    sp__connection_open(n, fd, peer, tcp && n->tls != NULL);
}

/* Mostly: no more file descriptors. Trying again at once would do nothing else for as long as that lasts. */
static void on_accept_failed(struct evconnlistener *l, void *context)
{
    sp_net *n = context;
    char text[200];
    snprintf(text, sizeof text, "a connection could not be accepted: %s", sp__strerror(errno));
    if (n->o.log != NULL) n->o.log(n->o.context, text);
    evconnlistener_disable(l);
    event_add(n->again, &REST_AFTER_FAILED_ACCEPT);
}

static void on_again(evutil_socket_t fd, short what, void *context)
{
    sp_net *n = context;
    (void)fd;
    (void)what;
    if (n->tcp != NULL) evconnlistener_enable(n->tcp);
    if (n->local != NULL) evconnlistener_enable(n->local);
    for (int i = 0; i < GIVEN_MAX; i++)
        if (n->given[i] != NULL) evconnlistener_enable(n->given[i]);
}

static sp_status listen_on(sp_net *n, const struct sockaddr *address, socklen_t bytes, struct evconnlistener **out)
{
    const unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
    *out = evconnlistener_new_bind(n->base, on_accept, n, flags, 1024, address, (int)bytes);
    if (*out == NULL) return SP_IO;
    evconnlistener_set_error_cb(*out, on_accept_failed);
    return SP_OK;
}

static const char *what_to_do(int why)
{
    switch (why) {
    case EADDRINUSE:
        return "; another process listens there ('ss -ltnp' tells which): stop it, or choose another with --port";
    case EACCES:
        return "; ports below 1024 are the system's: choose another with --port, or let systemd open it (a .socket unit), or give the program CAP_NET_BIND_SERVICE";
    case EADDRNOTAVAIL:
        return "; no interface of this machine has that address ('ip address' lists them; --host 0.0.0.0: all of them)";
    default: return "";
    }
}

static sp_status listen_tcp(sp_net *n)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *found = NULL;
    char service[16];
    snprintf(service, sizeof service, "%d", n->o.port);
    int failure = getaddrinfo(n->o.host, service, &hints, &found);
    const bool starved = failure == EAI_MEMORY || (failure == EAI_SYSTEM && errno == ENOMEM);
    SP_CHECK(!starved, SP_NOMEM, "out of memory while '%s' is looked up", n->o.host);
    SP_CHECK(failure == 0, SP_VALUE, "'%s' is no address of this machine: %s", n->o.host, sp__gai_strerror(failure));
    sp_status status = listen_on(n, found->ai_addr, found->ai_addrlen, &n->tcp);
    int why = errno;
    freeaddrinfo(found);
    if (status != SP_OK)
        return sp__fail(why == ENOMEM ? SP_NOMEM : SP_IO, "port %d of %s cannot be listened on: %s%s", n->o.port,
                        n->o.host, sp__strerror(why), what_to_do(why));
    struct sockaddr_storage bound;
    socklen_t bytes = sizeof bound;
    if (getsockname(evconnlistener_get_fd(n->tcp), (struct sockaddr *)&bound, &bytes) == 0)
        n->port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&bound)->sin6_port
                                                    : ((struct sockaddr_in *)(void *)&bound)->sin_port);
    return SP_OK;
}

/* Does a process listen there? What refuses is left over from one that was killed. */
static bool is_answered(const struct sockaddr_un *address)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                          0); /* a full queue of connections is an answer, too */
    const bool answered = fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
                          (errno != ECONNREFUSED && errno != ENOENT);
    if (fd >= 0) close(fd);
    return answered;
}

static sp_status listen_local(sp_net *n)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat info;
    SP_CHECK(n->o.unix_path[0] != '\0', SP_VALUE, "the path of the socket is empty");
    SP_CHECK(strlen(n->o.unix_path) < sizeof address.sun_path, SP_VALUE,
             "the path of a socket has at most %zu bytes, '%s' has more", sizeof address.sun_path - 1, n->o.unix_path);
    strcpy(address.sun_path, n->o.unix_path);
    if (lstat(n->o.unix_path, &info) ==
        0) { /* left behind by a server that was killed; anything else is not ours to remove */
        SP_CHECK(S_ISSOCK(info.st_mode), SP_VALUE, "%s is there already and is no socket", n->o.unix_path);
        SP_CHECK(!is_answered(&address), SP_VALUE,
                 "%s cannot be listened on: another process listens there; stop it, or choose another path",
                 n->o.unix_path);
        unlink(n->o.unix_path);
    }
    if (listen_on(n, (const struct sockaddr *)&address, sizeof address, &n->local) != SP_OK) {
        const int why = errno;
        return sp__fail(why == ENOMEM ? SP_NOMEM : SP_IO, "%s cannot be listened on: %s%s", n->o.unix_path,
                        sp__strerror(why),
                        why == ENOENT   ? "; its folder must be there before"
                        : why == EACCES ? "; its folder must be this user's to write to"
                                        : "");
    }
    n->has_socket_file = lstat(n->o.unix_path, &n->socket_file) == 0;
    return SP_OK;
}

/* Sockets that whoever started us opened. They stay open there, and what waits in them is for who comes after us. */
static sp_status listen_given(sp_net *n)
{
    SP_CHECK(n->o.n_given <= GIVEN_MAX, SP_VALUE, "%d sockets are handed over (LISTEN_FDS), at most %d are taken",
             n->o.n_given, GIVEN_MAX);
    for (int i = 0; i < n->o.n_given; i++) {
        const int fd = GIVEN_FIRST + i;
        struct sockaddr_storage bound;
        socklen_t bytes = sizeof bound;
        int listens = 0;
        socklen_t int_bytes = sizeof listens;
        SP_CHECK(
            getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &int_bytes) == 0 && listens, SP_VALUE,
            "descriptor %d, which was handed over (LISTEN_FDS), is no socket that listens; in a .socket unit use ListenStream= with Accept=no",
            fd);
        evutil_make_socket_nonblocking(fd);
        evutil_make_socket_closeonexec(fd);
        n->given[i] = evconnlistener_new(n->base, on_accept, n, LEV_OPT_CLOSE_ON_FREE, 0, fd);
        SP_CHECK(n->given[i] != NULL, SP_NOMEM, "out of memory");
        evconnlistener_set_error_cb(n->given[i], on_accept_failed);
        if (n->port == 0 && getsockname(fd, (struct sockaddr *)&bound, &bytes) == 0 && bound.ss_family != AF_UNIX)
            n->port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&bound)->sin6_port
                                                        : ((struct sockaddr_in *)(void *)&bound)->sin_port);
    }
    return SP_OK;
}

/* Unless another one stands in its place. */
static void remove_socket(const sp_net *n)
{
    struct stat now;
    if (n->has_socket_file && lstat(n->o.unix_path, &now) == 0 && now.st_ino == n->socket_file.st_ino &&
        now.st_dev == n->socket_file.st_dev)
        unlink(n->o.unix_path);
}

const char *sp__net_date(sp_net *n)
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const time_t now = time(NULL);
    struct tm t;
    if (now == n->date_second || gmtime_r(&now, &t) == NULL) return n->date;
    n->date_second = now;
    /* Not strftime, which would speak the program's language. */
    snprintf(n->date, sizeof n->date, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[t.tm_wday % 7], t.tm_mday % 100,
             months[t.tm_mon % 12], (t.tm_year + 1900) % 10000, t.tm_hour % 100, t.tm_min % 100, t.tm_sec % 100);
    return n->date;
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

static void begin_drain(sp_net *n);

void sp__net_check_end(sp_net *n)
{
    const int phase = atomic_load(&n->phase);
    if (phase == NET_RUNNING || atomic_load(&n->n_connections) > 0 || n->n_handed > 0) return;
    if (phase >= NET_DRAINING) event_base_loopbreak(n->base);
    else if (n->o.leave_seconds < 0) begin_drain(n);
}

void sp__net_tell(sp_net *n, const char *peer, const char *what)
{
    const int64_t now = sp__net_now_us();
    char text[256];
    if (n->o.log == NULL || (n->told_us != 0 && now - n->told_us < 1000000)) return;
    n->told_us = now;
    snprintf(text, sizeof text, "%s %s", peer, what);
    n->o.log(n->o.context, text);
}

static void answer(sp_net *n)
{
    sp__lock(&n->lock);
    sp_exchange *x = n->done;
    n->done = NULL;
    n->done_end = &n->done;
    sp__unlock(&n->lock);
    for (sp_exchange *next; x != NULL; x = next) {
        next = x->next;
        n->n_handed--;
        if (x->connection == NULL) {
            x->reply.status = x->given_up ? 503 : 499;
            sp__exchange_finish(x);
            continue;
        }
        if (n->o.decorate != NULL) n->o.decorate(n->o.context, x);
        if (x->connection->http2 != NULL) sp__http2_reply(x);
        else sp__http1_reply(x);
    }
}

static void close_all(sp_net *n)
{
    for (sp_connection *c = n->first, *next; c != NULL; c = next) {
        next = c->next;
        sp__connection_close(c);
    }
}

static void start_timer(sp_net *n, double seconds)
{
    const time_t whole = (time_t)seconds;
    struct timeval t = {whole, (suseconds_t)((seconds - (double)whole) * 1e6)};
    event_add(n->drain, &t);
}

/* Take the connections that wait in the queue: closing the socket would reset them, and their clients may have sent requests already. New ones are dropped
 * meanwhile, so that they are refused, which clients can tell from a lost request. */
static void stop_listening(sp_net *n, struct evconnlistener *l, bool tcp)
{
    struct sock_filter none[] = {{.code = BPF_RET | BPF_K, .k = 0}};
    const struct sock_fprog drop = {.len = 1, .filter = none};
    const int fd = evconnlistener_get_fd(l);
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    if (tcp) setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &drop, sizeof drop);
    for (int client; (client = accept4(fd, (struct sockaddr *)&address, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;
         bytes = sizeof address)
        on_accept(l, client, (struct sockaddr *)&address, (int)bytes, n);
    evconnlistener_free(l);
}

/* Nothing new is taken. A connection that no request came on yet may be one whose request is on its way. */
static void begin_drain(sp_net *n)
{
    atomic_store(&n->phase, NET_DRAINING);
    if (n->local != NULL) {
        remove_socket(n);
        stop_listening(n, n->local, false);
    }
    if (n->tcp != NULL) stop_listening(n, n->tcp, true);
    n->tcp = n->local = NULL;
    for (int i = 0; i < GIVEN_MAX; i++) {
        if (n->given[i] != NULL) evconnlistener_free(n->given[i]);
        n->given[i] = NULL;
    }
    event_del(n->again);
    start_timer(n, n->o.drain_seconds);
    for (sp_connection *c = n->first, *next; c != NULL; c = next) {
        next = c->next;
        if (c->http2 != NULL) sp__http2_drain(c);
        else if (c->state == AT_IDLE && !c->fresh) sp__connection_close(c);
        else if (c->state == AT_IDLE)
            sp__connection_timer(c, n->o.drain_seconds < FRESH_SECONDS ? n->o.drain_seconds : FRESH_SECONDS);
    }
}

static void begin_leave(sp_net *n)
{
    const bool wanted = n->o.event == NULL || n->o.event(n->o.context, SP_NET_LEAVING);
    const bool until_none = n->o.leave_seconds < 0;
    if (!wanted || n->o.leave_seconds == 0 || (until_none && atomic_load(&n->n_connections) == 0 && n->n_handed == 0)) {
        begin_drain(n);
        return;
    }
    atomic_store(&n->phase, NET_LEAVING);
    start_timer(n, until_none ? LEAVE_SECONDS : n->o.leave_seconds);
    for (sp_connection *c = n->first, *next; c != NULL; c = next) {
        next = c->next;
        if (c->http2 != NULL) sp__http2_leave(c);
    }
}

/* The time for what is under way is over: those who wait are told so. */
static void give_up(sp_net *n)
{
    int left = 0;
    char text[160];
    atomic_store(&n->phase, NET_GIVING_UP);
    start_timer(n, LAST_SECONDS);
    for (sp_connection *c = n->first, *next; c != NULL; c = next) {
        next = c->next;
        left += c->http2 != NULL || c->state != AT_IDLE;
        if (c->http2 != NULL)
            sp__http2_give_up(
                c,
                "the server is being stopped, and the time to answer what was under way is over; try again elsewhere");
        else
            sp__http1_give_up(
                c,
                "the server is being stopped, and the time to answer what was under way is over; try again elsewhere");
    }
    sp__snprintf(text, sizeof text, "%d connections still waited after %g s (--drain); they were answered with 503",
                 left, n->o.drain_seconds);
    if (left > 0 && n->o.log != NULL) n->o.log(n->o.context, text);
}

static void on_drain_timer(evutil_socket_t fd, short what, void *context)
{
    sp_net *n = context;
    const int phase = atomic_load(&n->phase);
    (void)fd;
    (void)what;
    if (phase == NET_LEAVING) begin_drain(n);
    else if (phase == NET_DRAINING) give_up(n);
    else close_all(n);
    sp__net_check_end(n);
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
    sp_net *n = context;
    (void)fd;
    (void)what;
    n->o.event(n->o.context, SP_NET_TICK);
}

void sp__net_watch(sp_net *n)
{
    const struct timeval soon = {0, 100000};
    if (!event_pending(n->watch, EV_TIMEOUT, NULL)) event_add(n->watch, &soon);
}

static void on_watch(evutil_socket_t fd, short what, void *context)
{
    sp_net *n = context;
    (void)fd;
    (void)what;
    if (n->o.event(n->o.context, SP_NET_WATCH)) sp__net_watch(n);
}

static void reload(sp_net *n, int reloads)
{
    void *tls = NULL;
    n->reloads_done = reloads;
    if (n->tls != NULL) {
        const sp_status status = sp__tls_create(&n->o, &tls);
        if (status == SP_OK) {
            sp__tls_release(n->tls); /* connections hold on to it */
            n->tls = tls;
        }
        if (n->o.log != NULL && status != SP_OK) {
            char text[600];
            snprintf(text, sizeof text, "%.500s; the certificate before it stays", sp_error_message());
            n->o.log(n->o.context, text);
        }
    }
    if (n->o.event != NULL) n->o.event(n->o.context, SP_NET_RELOADED);
}

static void on_wake(evutil_socket_t fd, short what, void *context)
{
    sp_net *n = context;
    uint64_t count;
    (void)what;
    while (read(fd, &count, sizeof count) > 0) {}
    answer(n);
    const int stops = atomic_load(&n->stops), reloads = atomic_load(&n->reloads);
    if (reloads != n->reloads_done && stops == 0) reload(n, reloads);
    if (stops > 0 && atomic_load(&n->phase) == NET_RUNNING) begin_leave(n);
    if (stops > 1) {
        if (atomic_load(&n->phase) == NET_LEAVING) begin_drain(n);
        close_all(n);
    }
    sp__net_check_end(n);
}

static void *run(void *context)
{
    sp_net *n = context;
    n->loop = pthread_self();
    event_base_loop(n->base, EVLOOP_NO_EXIT_ON_EMPTY);
    close_all(n);
    return NULL;
}

sp_status sp__net_start(sp_net *n)
{
    SP_CHECK(!n->started, SP_RUNTIME, "the server runs already");
    if (n->o.host != NULL) SP_TRY(listen_tcp(n));
    if (n->o.unix_path != NULL) SP_TRY(listen_local(n));
    SP_TRY(listen_given(n));
    n->wake = event_new(n->base, n->wake_fd, EV_READ | EV_PERSIST, on_wake, n);
    n->again = event_new(n->base, -1, 0, on_again, n);
    n->drain = event_new(n->base, -1, 0, on_drain_timer, n);
    n->tick = event_new(n->base, -1, EV_PERSIST, on_tick, n);
    n->watch = event_new(n->base, -1, 0, on_watch, n);
    SP_CHECK(n->wake != NULL && n->again != NULL && n->drain != NULL && n->tick != NULL && n->watch != NULL &&
                 event_add(n->wake, NULL) == 0,
             SP_NOMEM, "out of memory");
    if (n->o.tick_seconds > 0 && n->o.event != NULL) {
        struct timeval every = {(time_t)n->o.tick_seconds,
                                (suseconds_t)((n->o.tick_seconds - (double)(time_t)n->o.tick_seconds) * 1e6)};
        event_add(n->tick, &every);
    }
    /* Signals are for the program's own threads. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&n->thread, NULL, run, n);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) return sp__fail_thread(failure, "the network");
    n->started = true;
    return SP_OK;
}

static void count_and_wake(sp_net *n, atomic_int *counter)
{
    uint64_t one = 1;
    int saved = errno;
    atomic_fetch_add(counter, 1);
    while (write(n->wake_fd, &one, sizeof one) < 0 && errno == EINTR) {}
    errno = saved;
}

void sp__net_stop(sp_net *n) { count_and_wake(n, &n->stops); }
void sp__net_reload(sp_net *n) { count_and_wake(n, &n->reloads); }

void sp__net_wait(sp_net *n)
{
    if (!n->started || n->joined) return;
    pthread_join(n->thread, NULL);
    n->joined = true;
}
