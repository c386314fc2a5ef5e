/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - sockets between clients and servers: addresses, users on the other side, packets with files. */
#include "cache/cache.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/plain.h"

enum { NAME_MAX_BYTES = 40, ANSWER_MS = 60000 };

/* --- addresses --------------------------------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!sp__is_digit(*c)) return false;
    return text[0] != '\0';
}

/* The address as a word: digits of a port, or a name. */
static sp_status word_of(const char *address, const char **out)
{
    static const char standard[] = "50052";
    const char *variable = getenv("MS_CACHE_PORT");
    const bool given = address != NULL, from_variable = !given && variable && variable[0];
    const char *word = given ? address : from_variable ? variable : standard;
    size_t n = 0;
    for (; word[n]; n++)
        SP_CHECK(sp__is_alnum(word[n]) || word[n] == '-', SP_VALUE,
                 "cache server: '%s' is no address; give a number from 1025 to 65535", word);
    SP_CHECK(n > 0 && n < NAME_MAX_BYTES, SP_VALUE, "cache server: an address has 1 to %d characters, but got %zu",
             NAME_MAX_BYTES - 1, n);
    if (is_number(word)) {
        const long port = n < 6 ? strtol(word, NULL, 10) : 0;
        SP_CHECK(port >= 1025 && port <= 65535, SP_VALUE,
                 "cache server: Port must be in range (1025..65535), but got %s%s", word,
                 from_variable ? " (MS_CACHE_PORT)" : "");
    }
    *out = word;
    return SP_OK;
}

sp_status sp__rowcache_address(const char *address, char out[64])
{
    const char *word;
    SP_TRY(word_of(address, &word));
    snprintf(out, 64, "%s %s", is_number(word) ? "port" : "the private address", word);
    return SP_OK;
}

/* An abstract name: the first byte is 0. It holds the user, whose servers are nobody else's. */
static sp_status name_of(const char *address, struct sockaddr_un *out, socklen_t *bytes)
{
    const char *word;
    SP_TRY(word_of(address, &word));
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int n =
        snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "spore-cache-%lu-%s", (unsigned long)geteuid(), word);
    *bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    return SP_OK;
}

sp_status sp__rowcache_listen(const char *address, int *fd)
{
    struct sockaddr_un name;
    socklen_t bytes;
    char where[64];
    SP_TRY(name_of(address, &name, &bytes));
    SP_TRY(sp__rowcache_address(address, where));
    const int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    SP_CHECK(s >= 0, SP_IO, "cache server: no socket: %s", sp__strerror(errno));
    if (bind(s, (const struct sockaddr *)&name, bytes) != 0 || listen(s, 128) != 0) {
        const int reason = errno;
        close(s);
        SP_CHECK(
            reason != EADDRINUSE, SP_VALUE,
            "cache server: there is one already up and running on %s; take another port, or stop it: spore cache stop",
            where);
        return sp__fail(SP_IO, "cache server: it cannot listen on %s: %s", where, sp__strerror(reason));
    }
    *fd = s;
    return SP_OK;
}

static bool same_user(int fd)
{
    struct ucred who;
    socklen_t bytes = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.uid == geteuid();
}

sp_status sp__rowcache_connect(const char *address, int *fd)
{
    struct sockaddr_un name;
    socklen_t bytes;
    char where[64];
    SP_TRY(name_of(address, &name, &bytes));
    SP_TRY(sp__rowcache_address(address, where));
    const int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    SP_CHECK(s >= 0, SP_IO, "cache server: no socket: %s", sp__strerror(errno));
    int done;
    do done = connect(s, (const struct sockaddr *)&name, bytes);
    while (done != 0 && errno == EINTR);
    const int reason = errno;
    if (done == 0 && same_user(s)) {
        *fd = s;
        return SP_OK;
    }
    close(s);
    SP_CHECK(done != 0, SP_IO, "cache server: what answers on %s belongs to another user; take another port", where);
    if (reason == ECONNREFUSED || reason == ENOENT)
        return sp__fail(
            SP_IO,
            "cache server on %s is unreachable. Make sure the server is running: start one with 'spore cache start%s%s' (or 'dataset-cache --start'), "
            "and make a session with 'spore cache session'",
            where, address ? " --port " : "", address ? address : "");
    return sp__fail(SP_IO, "cache server on %s is not reachable: %s", where, sp__strerror(reason));
}

/* --- packets ------------------------------------------------------------------------------------------------------------ */

bool sp__rowcache_send(int fd, const void *packet, size_t bytes, int n, const int *files)
{
    char room[CMSG_SPACE(SP_CACHE_FILES * sizeof(int))];
    struct iovec part = {.iov_base = (void *)(uintptr_t)packet, .iov_len = bytes};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    memset(room, 0, sizeof room);
    if (n > 0) {
        m.msg_control = room;
        m.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&m);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
        memcpy(CMSG_DATA(head), files, (size_t)n * sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(fd, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)bytes;
}

/* Files of a message that came; those there is no room for are closed. */
static int take_files(struct msghdr *m, int n, int *files)
{
    int taken = 0;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(m); head; head = CMSG_NXTHDR(m, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
        const size_t came = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < came; i++) {
            int one;
            memcpy(&one, CMSG_DATA(head) + i * sizeof one, sizeof one);
            if (taken < n) files[taken++] = one;
            else close(one);
        }
    }
    return taken;
}

int64_t sp__rowcache_receive(int fd, void *packet, size_t room, int n, int *files, int *n_files, int wait)
{
    char control[CMSG_SPACE(16 * sizeof(int))];
    struct iovec part = {.iov_base = packet, .iov_len = room};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t got;
    int ready;
    do ready = wait == 0 ? 1 : poll(&p, 1, wait);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0) return -1;
    do got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0) return -1;
    const int taken = take_files(&m, n, files);
    if (n_files) *n_files = taken;
    return m.msg_flags & MSG_TRUNC ? -1 : (int64_t)got;
}

sp_status sp__rowcache_failed(uint32_t answer, const sp_cache_request *q)
{
    switch ((sp_cache_answer)answer) {
    case SP_CACHE_DONE: return SP_OK;
    case SP_CACHE_NO_SESSION:
        return sp__fail(SP_RUNTIME,
                        "Session id %u not found; make one with 'spore cache session' (or 'dataset-cache -g')",
                        q->session);
    case SP_CACHE_NO_CACHE:
        return sp__fail(SP_RUNTIME,
                        "the cache was not found: it has been dropped, with its session or by 'spore cache clear'");
    case SP_CACHE_NO_SPILL:
        return sp__fail(
            SP_RUNTIME,
            "the cache server is not set up with spill support; start it with a folder for it: spore cache start --spill FOLDER");
    case SP_CACHE_FULL:
    case SP_CACHE_NO_MEMORY:
        return sp__fail(
            SP_RUNTIME,
            "Out of memory: the cache server has no memory left; destroy some sessions, or start it with a larger --memory");
    case SP_CACHE_OTHER_USER: return sp__fail(SP_RUNTIME, "the cache server belongs to another user");
    case SP_CACHE_CROWDED: return sp__fail(SP_RUNTIME, "the cache server has as many clients as it can have");
    case SP_CACHE_WRONG: break;
    }
    return sp__fail(SP_RUNTIME, "the cache server does not understand this program; are they of one version?");
}

sp_status sp__rowcache_ask(int fd, const sp_cache_request *q, sp_cache_reply *r, void *to, size_t room, size_t *more)
{
    union {
        sp_cache_reply reply;
        uint8_t bytes[sizeof(sp_cache_reply) + SP_CACHE_LIST * sizeof(sp_cache_entry)];
    } in;
    const bool sent = sp__rowcache_send(fd, q, sizeof *q, 0, NULL);
    const int64_t got = sent ? sp__rowcache_receive(fd, &in, sizeof in, 0, NULL, NULL, ANSWER_MS) : -1;
    SP_CHECK(got >= (int64_t)sizeof in.reply, SP_IO, "the cache server does not answer; it may have been stopped");
    SP_CHECK(in.reply.version == SP_CACHE_VERSION, SP_IO,
             "the cache server does not understand this program; are they of one version?");
    *r = in.reply;
    const size_t rest = (size_t)got - sizeof in.reply;
    SP_CHECK(rest <= room, SP_IO, "the cache server answers %zu bytes where %zu are expected; are they of one version?",
             rest, room);
    if (rest) memcpy(to, in.bytes + sizeof in.reply, rest);
    if (more) *more = rest;
    return sp__rowcache_failed(r->answer, q);
}
