/* SPDX-License-Identifier: Apache-2.0 */
/* connection.c - connections of any protocol: their start, events, and end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net/connection.h"
#include "net/reserve.h"

/* --- the list ---------------------------------------------------------------------------------------------------- */

static void list_remove(sp_connection *c)
{
    *(c->prev != NULL ? &c->prev->next : &c->net->first) = c->next;
    *(c->next != NULL ? &c->next->prev : &c->net->last) = c->prev;
}

static void list_append(sp_connection *c)
{
    c->prev = c->net->last;
    c->next = NULL;
    *(c->prev != NULL ? &c->prev->next : &c->net->first) = c;
    c->net->last = c;
}

void sp__connection_used(sp_connection *c)
{
    list_remove(c);
    list_append(c);
}

void sp__connection_timer(sp_connection *c, double seconds)
{
    struct timeval t = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
    if (seconds < 0) event_del(c->timer);
    else event_add(c->timer, &t);
}

static void free_body(const void *data, size_t bytes, void *context)
{
    (void)data;
    (void)bytes;
    sp__free(context);
}

int sp__connection_send(sp_connection *c, const char *head, size_t head_bytes, uint8_t *body, size_t body_bytes)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    size_t sent = 0;
    if (!c->tls && evbuffer_get_length(out) == 0) {
        struct iovec pieces[2] = {{(void *)head, head_bytes}, {body, body_bytes}};
        const struct msghdr message = {.msg_iov = pieces, .msg_iovlen = body_bytes > 0 ? 2 : 1};
        const ssize_t n = sendmsg(bufferevent_getfd(c->bev), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) sent = (size_t)n;
        if (sent == head_bytes + body_bytes) return SENT_WHOLE;
    }
    bool whole = true;
    if (sent < head_bytes) whole = evbuffer_add(out, head + sent, head_bytes - sent) == 0;
    const size_t of_body = sent > head_bytes ? sent - head_bytes : 0;
    if (body_bytes > 0 &&
        !(whole && evbuffer_add_reference(out, body + of_body, body_bytes - of_body, free_body, body) == 0)) {
        sp__free(body);
        whole = false;
    }
    return whole ? SENT_LATER : SENT_CUT;
}

/* A reply without memory, and without anything of HTTP's; the connection ends with it. */
static void say_at_once(evutil_socket_t fd, const char *status, const char *why)
{
    char text[320];
    const int bytes = snprintf(
        text, sizeof text,
        "HTTP/1.1 %s\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: %zu\r\n\r\n{\"error\":\"%s\"}\n",
        status, strlen(why) + 13, why);
    if (send(fd, text, (size_t)bytes, MSG_NOSIGNAL) < 0) errno = 0; /* it is closed in any case */
}

/* --- events ------------------------------------------------------------------------------------------------------ */

static void input(sp_connection *c)
{
    if (c->http2 != NULL) sp__http2_input(c);
    else sp__http1_input(c);
}

static void on_read(struct bufferevent *bev, void *context)
{
    (void)bev;
    input(context);
}

static void on_write(struct bufferevent *bev, void *context)
{
    sp_connection *c = context;
    (void)bev;
    if (c->http2 != NULL) sp__http2_written(c);
    else sp__http1_written(c);
}

static void on_event(struct bufferevent *bev, short what, void *context)
{
    sp_connection *c = context;
    if (what & BEV_EVENT_CONNECTED) { /* TLS: the handshake is over */
        if (sp__tls_chose_http2(bev) && !sp__http2_start(c)) sp__connection_close(c);
        return;
    }
    if (what & BEV_EVENT_ERROR) {
        if (c->tls && sp__tls_was_plain(bev)) {
            sp__net_tell(c->net, c->peer,
                         "speaks plain HTTP, but this server speaks TLS: it is asked for with https://, not http://");
            say_at_once(bufferevent_getfd(bev), "400 Bad Request",
                        "this port speaks TLS: ask with https://, not http://");
        }
        sp__connection_close(c);
    } else if (what & BEV_EVENT_EOF) {
        c->peer_eof = true;
        input(c);
    }
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    sp_connection *c = context;
    (void)fd;
    (void)what;
    if (c->http2 != NULL) sp__http2_timeout(c);
    else sp__http1_timeout(c);
}

/* --- start and end ----------------------------------------------------------------------------------------------- */

/* At the limit, whoever has not used its connection for longest makes room, if it waits for nothing. */
static bool make_room(sp_net *n)
{
    for (sp_connection *c = n->first; c != NULL; c = c->next) {
        if (c->state != AT_IDLE || c->fresh || c->http2 != NULL) continue;
        sp__connection_close(c);
        return true;
    }
    return false;
}

/* Without reading what it wants. */
static void turn_away(evutil_socket_t fd, bool tls, const char *why)
{
    if (!tls) say_at_once(fd, "503 Service Unavailable", why);
    close(fd);
}

/* Whose process is at a Unix socket. */
static void identify(sp_connection *c, evutil_socket_t fd)
{
    struct ucred who;
    socklen_t bytes = sizeof who;
    if (strcmp(c->peer, "unix") != 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0) return;
    c->peer_pid = who.pid;
    c->peer_uid = who.uid;
}

void sp__connection_open(sp_net *n, evutil_socket_t fd, const char *peer, bool tls)
{
    if (atomic_load(&n->n_connections) >= n->o.max_connections && !make_room(n)) {
        turn_away(fd, tls, "there are too many connections; try again later");
        return;
    }
    if (sp__reserve_in_use()) {
        turn_away(fd, tls, "out of memory");
        return;
    }
    sp_connection *c = sp__alloc_zero(sizeof *c);
    struct bufferevent *bev = NULL;
    if (c != NULL)
        bev = tls ? sp__tls_accept(n->tls, n->base, fd) : bufferevent_socket_new(n->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (bev != NULL) c->timer = event_new(n->base, -1, 0, on_timer, c);
    if (c == NULL || bev == NULL || c->timer == NULL) {
        if (bev != NULL) bufferevent_free(bev);
        else close(fd);
        sp__free(c);
        return;
    }
    c->net = n;
    c->number = ++n->n_opened;
    c->bev = bev;
    c->tls = tls;
    c->fresh = true;
    snprintf(c->peer, sizeof c->peer, "%s", peer);
    identify(c, fd);
    list_append(c);
    atomic_fetch_add(&n->n_connections, 1);
    bufferevent_setcb(bev, on_read, on_write, on_event, c);
    bufferevent_setwatermark(bev, EV_READ, 0, BUFFER_BYTES_MAX);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    sp__connection_timer(c, n->o.receive_seconds);
}

void sp__connection_close(sp_connection *c)
{
    sp_net *n = c->net;
    if (c->x != NULL && c->state == AT_HANDLER) {
        c->x->connection = NULL;
        sp__exchange_peer(c->x, SP_PEER_GONE);
    } else if (c->x != NULL) {
        c->x->connection = NULL;
        if (c->x->reply.status == 0) c->x->reply.status = 499;
        sp__exchange_finish(c->x);
    }
    if (c->http2 != NULL) sp__http2_release(c);
    list_remove(c);
    event_free(c->timer);
    bufferevent_free(c->bev);
    atomic_fetch_sub(&n->n_connections, 1);
    sp__free(c);
    sp__net_check_end(n);
}
