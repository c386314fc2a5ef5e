/* SPDX-License-Identifier: Apache-2.0 */
/* cache_server.c - the cache server: sessions, clients, requests. One thread waits for packets; rows never pass through it. */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/handle.h"
#include "base/plain.h"

enum {
    CLIENTS_MAX = 1000,
    SESSIONS_MAX = 100000,
    FIRST_CLIENT_MS = 30000,
    FULL_MS = 20,
    LOG_INFO = 1,
    LOG_WARNING = 2
};

struct sp_cache_client {
    sp_cache_client *next;
    int fd;
    uint32_t number;
    sp_cache_keep *keep; /* that it has opened; NULL: none */
};

typedef struct session {
    struct session *next;
    uint32_t id;
} session;

struct sp_cache_server {
    sp_cache_server_options o;
    char *folder;
    int listener, wake[2];
    int n_clients, n_sessions;
    uint32_t last_client;
    sp_cache_client *clients;
    session *sessions;
    sp_cache_keep *keeps;
    sp_cache_budget all;
    struct pollfd *
        polled; /* CLIENTS_MAX + 2 of them, and whose they are: made at the start, so that a server that listens can serve */
    sp_cache_client **polled_clients;
    bool stop;
};

static void tell(const sp_cache_server *s, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void tell(const sp_cache_server *s, int level, const char *format, ...)
{
    char line[512];
    va_list args;
    if (!s->o.log || level < s->o.log_level) return;
    va_start(args, format);
    sp__vsnprintf(line, sizeof line, format, args);
    va_end(args);
    s->o.log(s->o.log_context, level, line);
}

/* --- memory that there is ---------------------------------------------------------------------------------------------------- */

/* A number in a file of the kernel; UINT64_MAX if there is none, or no limit. */
static uint64_t number_in(const char *path)
{
    char text[32] = "";
    FILE *file = fopen(path, "re");
    if (!file) return UINT64_MAX;
    const bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return read && sp__is_digit(text[0]) ? strtoull(text, NULL, 10) : UINT64_MAX;
}

/* Of this machine, or of the container if that has less. */
static uint64_t memory_of_machine(void)
{
    struct sysinfo info;
    uint64_t bytes = sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : (uint64_t)1 << 30;
    const uint64_t limits[2] = {number_in("/sys/fs/cgroup/memory.max"),
                                number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")};
    for (int i = 0; i < 2; i++)
        if (limits[i] < bytes) bytes = limits[i];
    return bytes;
}

/* --- sessions ------------------------------------------------------------------------------------------------------------------ */

static session **find_session(sp_cache_server *s, uint32_t id)
{
    session **at = &s->sessions;
    while (*at && (*at)->id != id) at = &(*at)->next;
    return at;
}

static sp_cache_answer session_create(sp_cache_server *s, uint64_t *id)
{
    uint32_t number = 0;
    if (s->n_sessions >= SESSIONS_MAX) return SP_CACHE_CROWDED;
    session *made = sp__alloc_zero(sizeof *made);
    if (!made) return SP_CACHE_NO_MEMORY;
    while (number == 0 || *find_session(s, number)) {
        if (getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number) continue;
        sp__free(made);
        return SP_CACHE_NO_MEMORY;
    }
    made->id = number;
    made->next = s->sessions;
    s->sessions = made;
    s->n_sessions++;
    *id = number;
    tell(s, LOG_INFO, "session %u made", number);
    return SP_CACHE_DONE;
}

/* Clients that use it keep its files, and get no more leases; it goes with the last of them. */
static void keep_drop(sp_cache_server *s, sp_cache_keep *k)
{
    sp_cache_keep **at = &s->keeps;
    while (*at != k) at = &(*at)->next;
    if (k->n_clients > 0) {
        k->dropped = true;
        return;
    }
    *at = k->next;
    sp__rowcache_keep_release(k, &s->all);
}

static void drop_keeps(sp_cache_server *s, uint32_t session_id)
{
    for (sp_cache_keep *k = s->keeps, *next; k; k = next) {
        next = k->next;
        if (session_id == 0 || k->session == session_id) keep_drop(s, k);
    }
}

static sp_cache_answer session_destroy(sp_cache_server *s, uint32_t id)
{
    session **at = find_session(s, id), *gone = *at;
    if (!gone || id == 0) return SP_CACHE_NO_SESSION;
    *at = gone->next;
    sp__free(gone);
    s->n_sessions--;
    drop_keeps(s, id);
    tell(s, LOG_INFO, "session %u destroyed", id);
    return SP_CACHE_DONE;
}

/* --- caches ---------------------------------------------------------------------------------------------------------------------- */

static sp_cache_keep *find_keep(sp_cache_server *s, uint32_t id, const uint8_t *digest)
{
    for (sp_cache_keep *k = s->keeps; k; k = k->next)
        if (!k->dropped && k->session == id && memcmp(k->digest, digest, SP_CACHE_DIGEST) == 0) return k;
    return NULL;
}

static sp_cache_answer open_keep(sp_cache_server *s, sp_cache_client *c, const sp_cache_request *q)
{
    if (c->keep || q->a > (uint64_t)1 << 40) return SP_CACHE_WRONG;
    if (!*find_session(s, q->session)) return SP_CACHE_NO_SESSION;
    if (q->c && !s->all.folder) return SP_CACHE_NO_SPILL;
    sp_cache_keep *k = find_keep(s, q->session, q->digest);
    if (k && k->n_rows != q->a) return SP_CACHE_WRONG; /* a digest covers the number of rows */
    if (!k) {
        const uint64_t fixed = sp__rowcache_fixed_bytes(q->a);
        if (q->b > s->all.most || s->all.used >= s->all.most || fixed > s->all.most - s->all.used)
            return SP_CACHE_NO_MEMORY;
        if (sp__rowcache_keep_create(q, &s->all, &k) != SP_OK) {
            tell(s, LOG_WARNING, "no cache: %s", sp_error_message());
            return SP_CACHE_NO_MEMORY;
        }
        k->next = s->keeps;
        s->keeps = k;
        tell(s, LOG_INFO, "session %u: a cache for %llu rows", q->session, (unsigned long long)q->a);
    }
    c->keep = k;
    k->n_clients++;
    return SP_CACHE_DONE;
}

static void close_keep(sp_cache_server *s, sp_cache_client *c)
{
    sp_cache_keep *k = c->keep;
    c->keep = NULL;
    if (!k) return;
    sp__rowcache_client_gone(k, &s->all, c->number);
    k->n_clients--;
    if (k->dropped) keep_drop(s, k);
}

/* --- answers ---------------------------------------------------------------------------------------------------------------------- */

static uint32_t short_id(const uint8_t *digest)
{
    uint32_t id;
    memcpy(&id, digest, sizeof id);
    return id ? id : 1;
}

static bool answer_entries(sp_cache_server *s, sp_cache_client *c, const sp_cache_request *q)
{
    struct {
        sp_cache_reply r;
        sp_cache_entry list[SP_CACHE_LIST];
    } out = {.r = {.version = SP_CACHE_VERSION}};
    uint64_t n = 0, sent = 0;
    for (session *at = s->sessions; at; at = at->next) {
        bool some = false;
        for (sp_cache_keep *k = s->keeps; k || !some; k = k ? k->next : NULL) {
            if (k && (k->dropped || k->session != at->id)) continue;
            some = true;
            if (n >= q->a && sent < SP_CACHE_LIST) {
                sp_cache_entry *e = &out.list[sent++];
                e->session = at->id;
                if (k) {
                    e->id = short_id(k->digest);
                    e->n_clients = k->n_clients;
                    sp__rowcache_figures(k, &e->figures);
                }
            }
            n++;
            if (!k) break;
        }
    }
    out.r.number = n;
    return sp__rowcache_send(c->fd, &out, sizeof out.r + (size_t)sent * sizeof *out.list, 0, NULL);
}

static bool answer_info(sp_cache_server *s, sp_cache_client *c)
{
    struct {
        sp_cache_reply r;
        sp_cache_info info;
    } out = {.r = {.version = SP_CACHE_VERSION}};
    out.info = (sp_cache_info){.pid = getpid(),
                               .n_workers = s->o.n_workers,
                               .log_level = s->o.log_level,
                               .n_clients = s->n_clients - 1,
                               .n_sessions = s->n_sessions,
                               .max_bytes = s->all.most,
                               .bytes = s->all.used,
                               .spill_bytes = s->all.spilled};
    if (s->all.folder) snprintf(out.info.spill_folder, sizeof out.info.spill_folder, "%s", s->all.folder);
    return sp__rowcache_send(c->fd, &out, sizeof out, 0, NULL);
}

static bool answer_stat(sp_cache_server *s, sp_cache_client *c, const sp_cache_request *q)
{
    struct {
        sp_cache_reply r;
        sp_cache_figures figures;
    } out = {.r = {.version = SP_CACHE_VERSION}};
    const sp_cache_keep *k = find_keep(s, q->session, q->digest);
    if (!*find_session(s, q->session)) out.r.answer = SP_CACHE_NO_SESSION;
    else if (k) sp__rowcache_figures(k, &out.figures);
    else out.r.answer = SP_CACHE_NO_CACHE;
    return sp__rowcache_send(c->fd, &out, out.r.answer ? sizeof out.r : sizeof out, 0, NULL);
}

static bool answer_open(sp_cache_server *s, sp_cache_client *c, const sp_cache_request *q)
{
    sp_cache_reply r = {.version = SP_CACHE_VERSION, .answer = open_keep(s, c, q), .number = c->number};
    if (r.answer != SP_CACHE_DONE) return sp__rowcache_send(c->fd, &r, sizeof r, 0, NULL) && r.answer != SP_CACHE_WRONG;
    const sp_cache_keep *k = c->keep;
    const int files[SP_CACHE_FILES] = {k->index_fd, k->claims_fd, k->memory.fd, k->disk.fd};
    r.bytes = k->memory.most;
    return sp__rowcache_send(c->fd, &r, sizeof r, k->disk.fd >= 0 ? 4 : 3, files);
}

/* --- clients ----------------------------------------------------------------------------------------------------------------------- */

bool sp__rowcache_server_packet(sp_cache_server *s, sp_cache_client *c, const void *packet, size_t bytes)
{
    sp_cache_request q;
    sp_cache_reply r = {.version = SP_CACHE_VERSION};
    const bool fits = bytes == sizeof q;
    if (fits) memcpy(&q, packet, sizeof q);
    if (!fits || q.version != SP_CACHE_VERSION || q.kind >= SP_CACHE_KINDS) {
        r.answer = SP_CACHE_WRONG;
        sp__rowcache_send(c->fd, &r, sizeof r, 0, NULL);
        return false;
    }
    switch ((sp_cache_kind)q.kind) {
    case SP_CACHE_SESSION_CREATE: r.answer = session_create(s, &r.number); break;
    case SP_CACHE_SESSION_DESTROY: r.answer = session_destroy(s, q.session); break;
    case SP_CACHE_CLEAR:
        if (q.session && !*find_session(s, q.session)) r.answer = SP_CACHE_NO_SESSION;
        else drop_keeps(s, q.session);
        break;
    case SP_CACHE_ENTRIES: return answer_entries(s, c, &q);
    case SP_CACHE_INFO: return answer_info(s, c);
    case SP_CACHE_STAT: return answer_stat(s, c, &q);
    case SP_CACHE_OPEN: return answer_open(s, c, &q);
    case SP_CACHE_STOP: s->stop = true; break;
    case SP_CACHE_LEASE:
        r.answer = c->keep ? sp__rowcache_lease(c->keep, &s->all, c->number, &q, &r) : SP_CACHE_NO_CACHE;
        break;
    case SP_CACHE_COMMIT: return c->keep && sp__rowcache_commit(c->keep, c->number, q.a, q.b, q.c);
    case SP_CACHE_GIVE_UP:
        if (c->keep) c->keep->disk_full = true;
        return c->keep != NULL;
    case SP_CACHE_FLUSH:
    case SP_CACHE_KINDS: break;
    }
    return sp__rowcache_send(c->fd, &r, sizeof r, 0, NULL);
}

sp_cache_client *sp__rowcache_server_client(sp_cache_server *s, int fd)
{
    sp_cache_client *c = sp__alloc_zero(sizeof *c);
    if (!c) return NULL;
    *c =
        (sp_cache_client){.next = s->clients, .fd = fd, .number = ++s->last_client ? s->last_client : ++s->last_client};
    s->clients = c;
    s->n_clients++;
    return c;
}

void sp__rowcache_server_drop(sp_cache_server *s, sp_cache_client *c)
{
    sp_cache_client **at = &s->clients;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    close_keep(s, c);
    close(c->fd);
    sp__free(c);
    s->n_clients--;
    if (s->n_clients == 0 && s->o.until_unused) s->stop = true;
}

static void refuse(int fd, sp_cache_answer why)
{
    const sp_cache_reply r = {.version = SP_CACHE_VERSION, .answer = why};
    sp__rowcache_send(fd, &r, sizeof r, 0, NULL);
    close(fd);
}

static void accept_clients(sp_cache_server *s)
{
    for (;;) {
        struct ucred who = {0};
        socklen_t bytes = sizeof who;
        const int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
            poll(NULL, 0, FULL_MS); /* it stays there to be asked again */
        if (fd < 0) return;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0 || who.uid != geteuid()) {
            tell(s, LOG_WARNING, "a process of user %lu is refused", (unsigned long)who.uid);
            refuse(fd, SP_CACHE_OTHER_USER);
        } else if (s->n_clients >= CLIENTS_MAX) refuse(fd, SP_CACHE_CROWDED);
        else if (!sp__rowcache_server_client(s, fd)) refuse(fd, SP_CACHE_NO_MEMORY);
    }
}

/* A few packets of a client, so that none keeps the others waiting. */
static void serve_client(sp_cache_server *s, sp_cache_client *c)
{
    uint8_t packet[sizeof(sp_cache_request) + 1];
    for (int i = 0; i < 64 && !s->stop; i++) {
        const int64_t got = sp__rowcache_receive(c->fd, packet, sizeof packet, 0, NULL, NULL, 0);
        const bool empty = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (empty) return;
        if (got > 0 && sp__rowcache_server_packet(s, c, packet, (size_t)got)) continue;
        sp__rowcache_server_drop(s, c);
        return;
    }
}

sp_status sp_cache_server_run(sp_cache_server *s)
{
    SP_HANDLE(s);
    struct pollfd *list = s->polled;
    sp_cache_client **who = s->polled_clients;
    sp_status status = SP_OK;
    tell(s, LOG_INFO, "ready, %llu MB of memory at most", (unsigned long long)(s->all.most >> 20));
    while (status == SP_OK && !s->stop) {
        nfds_t n = 2;
        list[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
        list[1] = (struct pollfd){.fd = s->wake[0], .events = POLLIN};
        for (sp_cache_client *c = s->clients; c; c = c->next) {
            who[n] = c;
            list[n++] = (struct pollfd){.fd = c->fd, .events = POLLIN};
        }
        const int ready = poll(list, n, s->o.until_unused && !s->clients ? FIRST_CLIENT_MS : -1);
        if (ready == 0) break; /* who wanted it has died before */
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) status = sp__fail(SP_IO, "cache server: it cannot wait for clients: %s", sp__strerror(errno));
        if (list[1].revents) s->stop = true;
        for (nfds_t i = 2; i < n && status == SP_OK; i++)
            if (list[i].revents) serve_client(s, who[i]);
        if (list[0].revents) accept_clients(s);
    }
    tell(s, LOG_INFO, "stopped");
    return status;
}

void sp_cache_server_stop(sp_cache_server *s)
{
    if (!s) return;
    const char one = 1;
    if (write(s->wake[1], &one, 1) < 0) return; /* full: somebody has said so already */
}

/* --- life ------------------------------------------------------------------------------------------------------------------------------ */

static sp_status check_folder(const char *folder)
{
    struct stat info;
    SP_CHECK(folder[0] == '/', SP_VALUE, "cache server: Spilling directory: %s must be an absolute path", folder);
    SP_CHECK(strlen(folder) < sizeof((sp_cache_info *)0)->spill_folder, SP_VALUE,
             "cache server: the path of the Spilling directory is too long");
    SP_CHECK(stat(folder, &info) == 0 && S_ISDIR(info.st_mode), SP_VALUE,
             "cache server: Spilling directory: %s does not exist, or is no directory", folder);
    SP_CHECK(access(folder, W_OK | X_OK) == 0, SP_VALUE,
             "cache server: Spilling directory: %s cannot be written to: %s", folder, sp__strerror(errno));
    return SP_OK;
}

sp_status sp_cache_server_create(const sp_cache_server_options *options, sp_cache_server **out)
{
    sp_cache_server *s = sp__alloc_zero(sizeof *s);
    sp_status status;
    if (!s) return SP_NOMEM;
    s->listener = s->wake[0] = s->wake[1] = -1;
    if (options) s->o = *options;
    const double ratio = s->o.max_ratio > 0 ? s->o.max_ratio : 0.8;
    s->all.most = s->o.max_bytes ? s->o.max_bytes : (uint64_t)((double)memory_of_machine() * ratio);
    s->all.most_spilled = s->o.max_spill_bytes;
    if (s->o.spill_folder) {
        SP_GOTO(done, check_folder(s->o.spill_folder));
        s->folder = sp__strdup(s->o.spill_folder);
        SP_GOTO(done, s->folder ? SP_OK : SP_NOMEM);
        s->all.folder = s->folder;
    }
    s->polled = sp__alloc((CLIENTS_MAX + 2) * sizeof *s->polled);
    s->polled_clients = sp__alloc((CLIENTS_MAX + 2) * sizeof *s->polled_clients);
    SP_GOTO(done, s->polled && s->polled_clients ? SP_OK : SP_NOMEM);
    SP_GOTO(done, pipe2(s->wake, O_CLOEXEC | O_NONBLOCK) == 0
                      ? SP_OK
                      : sp__fail(SP_IO, "cache server: no pipe: %s", sp__strerror(errno)));
    SP_GOTO(done, sp__rowcache_listen(s->o.address, &s->listener));
    *out = s;
    s = NULL;
done:
    sp_cache_server_release(s);
    return status;
}

void sp_cache_server_release(sp_cache_server *s)
{
    if (!s) return;
    if (s->listener >= 0) close(s->listener); /* a new server may begin before the old one's memory is gone */
    while (s->clients) sp__rowcache_server_drop(s, s->clients);
    while (s->keeps) keep_drop(s, s->keeps);
    while (s->sessions) {
        session *next = s->sessions->next;
        sp__free(s->sessions);
        s->sessions = next;
    }
    for (int i = 0; i < 2; i++)
        if (s->wake[i] >= 0) close(s->wake[i]);
    sp__free(s->polled);
    sp__free(s->polled_clients);
    sp__free(s->folder);
    sp__free(s);
}
