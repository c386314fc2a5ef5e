/* SPDX-License-Identifier: Apache-2.0 */
/* http1_connection.c - HTTP/1.1 on a connection: one exchange at a time; what the client sends ahead waits in the input.
 *
 *     IDLE -> HEAD -> BODY -> HANDLER -> WRITING -> IDLE, or LINGERING -> closed
 *
 * Lingering: after a refusal the client may still be sending. Closing then would make the system throw our reply away together with what was
 * not read, so input is read and dropped for a short while first. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "net/connection.h"

static const double LINGER_SECONDS = 2;

static void enter(sp_connection *c, int state, double seconds)
{
    c->state = state;
    c->since_us = sp__net_now_us();
    sp__connection_timer(c, seconds);
}

static void refuse(sp_connection *c, int status, const char *text)
{
    c->last = true;
    sp__exchange_refuse(c->x, status, text);
    sp__http1_reply(c->x);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* Each step returns whether to go on with the next; false: wait for more, or the connection is no more. */

static bool begin(sp_connection *c, struct evbuffer *in)
{
    char start[HTTP2_PREFACE_BYTES];
    ev_ssize_t n = evbuffer_copyout(in, start, sizeof start);
    if (n <= 0) {
        if (c->peer_eof) sp__connection_close(c);
        return false;
    }
    if (c->fresh && memcmp(start, HTTP2_PREFACE, (size_t)n) == 0) { /* so far */
        if (n < HTTP2_PREFACE_BYTES) {
            if (c->peer_eof) sp__connection_close(c);
            return false;
        }
        if (sp__http2_start(c)) sp__http2_input(c);
        else sp__connection_close(c);
        return false;
    }
    if (c->fresh && n >= 3 && memcmp(start, "\x16\x03", 2) == 0) {
        sp__net_tell(
            c->net, c->peer,
            "speaks TLS, but this server does not (--cert, --key): it is asked for with http://, not https://");
        sp__connection_close(c);
        return false;
    }
    if (n >= 2 && start[0] == '\r' && start[1] == '\n') { /* some clients put an empty line behind a body */
        evbuffer_drain(in, 2);
        return true;
    }
    c->x = sp__exchange_create(c);
    if (c->x == NULL) {
        sp__connection_close(c);
        return false;
    }
    enter(c, AT_HEAD, c->net->o.receive_seconds);
    sp__connection_used(c);
    return true;
}

static bool read_head(sp_connection *c, struct evbuffer *in)
{
    size_t have = evbuffer_get_length(in), most = have < SP_NET_HEAD_BYTES_MAX ? have : SP_NET_HEAD_BYTES_MAX;
    const char *data = (const char *)evbuffer_pullup(in, (ev_ssize_t)most);
    size_t bytes = data != NULL ? sp__http1_head_bytes(data, most) : 0;
    if (bytes == 0) {
        if (have >= SP_NET_HEAD_BYTES_MAX) refuse(c, 431, "the request's head has more than 16384 bytes");
        else if (c->peer_eof) sp__connection_close(c);
        return false;
    }
    c->fresh = false;
    c->x->head = sp__alloc(bytes + 1);
    if (c->x->head == NULL) {
        refuse(c, 503, "out of memory");
        return false;
    }
    memcpy(c->x->head, data, bytes);
    c->x->head[bytes] = '\0';
    evbuffer_drain(in, bytes);
    int status = sp__http1_head_parse(c->x, bytes, &c->head);
    if (status != 0) {
        refuse(c, status, sp_error_message());
        return false;
    }
    if (c->head.content_length > 0 && (uint64_t)c->head.content_length > c->net->o.max_body_bytes) {
        char text[160];
        snprintf(text, sizeof text, "the request's body has %lld bytes, at most %zu are allowed (--max-body)",
                 (long long)c->head.content_length, c->net->o.max_body_bytes);
        refuse(c, 413, text);
        return false;
    }
    if (c->head.expect_continue && (c->head.chunked || c->head.content_length > 0))
        evbuffer_add_printf(bufferevent_get_output(c->bev), "HTTP/1.1 100 Continue\r\n\r\n");
    c->chunks = (sp_http_chunks){0};
    enter(c, AT_BODY, c->net->o.receive_seconds);
    return true;
}

/* Move what has come of the body into the exchange. 1: it is whole, 0: not yet, -1: refused. */
static int take_body(sp_connection *c, struct evbuffer *in)
{
    const int64_t length = c->head.content_length;
    while (c->head.chunked ? !c->chunks.done : (int64_t)c->x->body_bytes < length) {
        struct evbuffer_iovec piece;
        size_t skip = 0, bytes, used;
        if (evbuffer_peek(in, -1, NULL, &piece, 1) < 1 || piece.iov_len == 0) return 0;
        if (c->head.chunked) {
            if (!sp__http1_chunk(&c->chunks, piece.iov_base, piece.iov_len, &skip, &bytes, &used)) {
                refuse(c, 400, "the body is not written in chunks as Transfer-Encoding says");
                return -1;
            }
        } else {
            size_t left = (size_t)(length - (int64_t)c->x->body_bytes);
            used = bytes = piece.iov_len < left ? piece.iov_len : left;
        }
        int status = bytes > 0 ? sp__exchange_body(c->x, (const char *)piece.iov_base + skip, bytes, length) : 0;
        evbuffer_drain(in, used);
        if (status != 0) {
            refuse(c, status, sp_error_message());
            return -1;
        }
    }
    return 1;
}

static bool read_body(sp_connection *c, struct evbuffer *in)
{
    int whole = take_body(c, in);
    if (whole == 0 && c->peer_eof) sp__connection_close(c);
    if (whole <= 0) return false;
    enter(c, AT_HANDLER, -1);
    if (c->peer_eof) sp__exchange_peer(c->x, SP_PEER_CLOSED);
    sp__exchange_hand(c->x);
    return false;
}

void sp__http1_input(sp_connection *c)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    bool more = true;
    while (more) {
        switch (c->state) {
        case AT_IDLE: more = begin(c, in); break;
        case AT_HEAD: more = read_head(c, in); break;
        case AT_BODY: more = read_body(c, in); break;
        case AT_LINGERING:
            evbuffer_drain(in, evbuffer_get_length(in));
            if (c->peer_eof) sp__connection_close(c);
            return;
        default:
            if (c->peer_eof && c->x != NULL && evbuffer_get_length(in) == 0) sp__exchange_peer(c->x, SP_PEER_CLOSED);
            return;
        }
    }
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

/* gRPC-Web: what are trailers elsewhere is a last frame of the body. */
static void put_web_end(sp_net_reply *r)
{
    sp__text t = {0};
    char message[512];
    size_t n = 0;
    for (const unsigned char *p = (const unsigned char *)(r->grpc_message != NULL ? r->grpc_message : "");
         *p != '\0' && n + 4 < sizeof message; p++)
        n += (size_t)snprintf(message + n, sizeof message - n, *p >= 0x20 && *p < 0x7f && *p != '%' ? "%c" : "%%%02X",
                              *p);
    message[n] = '\0';
    if (r->body_bytes > 0) sp__text_add(&t, (const char *)r->body, r->body_bytes);
    const size_t at = t.used;
    sp__text_add(&t, "\x80\0\0\0\0", 5);
    sp__text_put(&t, "grpc-status:%d\r\ngrpc-message:%s\r\n", r->grpc_status, message);
    if (t.failed) {
        sp__free(t.data);
        return;
    }
    const size_t bytes = t.used - at - 5;
    for (int i = 0; i < 4; i++) t.data[at + 1 + (size_t)i] = (char)(bytes >> (24 - 8 * i));
    sp__free(r->body);
    r->body = (uint8_t *)t.data;
    r->body_bytes = t.used;
    r->type = "application/grpc-web+proto";
}

/* Status line and headers; how many bytes they have, as snprintf tells it. */
static size_t put_head(const sp_exchange *x, char *out, size_t room)
{
    const sp_connection *c = x->connection;
    const sp_net_reply *r = &x->reply;
    size_t n = (size_t)snprintf(out, room, "HTTP/1.1 %d %s\r\ndate: %s\r\ncontent-length: %zu\r\n", r->status,
                                sp__net_status_text(r->status), sp__net_date(c->net), r->body_bytes);
    const sp_net_header type = {"content-type", r->type};
    for (int i = -1; i < SP_NET_REPLY_HEADERS; i++) {
        const sp_net_header *h = i < 0 ? &type : &r->headers[i];
        if (h->name == NULL) break;
        if (h->value != NULL)
            n += (size_t)snprintf(n < room ? out + n : NULL, n < room ? room - n : 0, "%s: %s\r\n", h->name, h->value);
    }
    const char *end = c->last            ? "connection: close\r\n\r\n"
                      : x->version == 10 ? "connection: keep-alive\r\n\r\n"
                                         : "\r\n";
    return n + (size_t)snprintf(n < room ? out + n : NULL, n < room ? room - n : 0, "%s", end);
}

void sp__http1_reply(sp_exchange *x)
{
    sp_connection *c = x->connection;
    sp_net_reply *r = &x->reply;
    char small[1024], *head = small;
    if (r->grpc_status >= 0) put_web_end(r);
    if (!c->head.keep_alive || sp__net_leaving(c->net)) c->last = true;
    c->state = AT_WRITING;
    const bool with_body = r->body_bytes > 0 && strcmp(x->method, "HEAD") != 0;
    const size_t bytes = put_head(x, head, sizeof small);
    if (bytes >= sizeof small) {
        head = sp__alloc(bytes + 1);
        if (head == NULL) {
            sp__connection_close(c);
            return;
        }
        put_head(x, head, bytes + 1);
    }
    const int sent = sp__connection_send(c, head, bytes, with_body ? r->body : NULL, with_body ? r->body_bytes : 0);
    if (head != small) sp__free(head);
    if (sent == SENT_WHOLE) {
        sp__http1_written(c);
        return;
    }
    if (with_body) r->body = NULL;        /* the buffer has it */
    if (sent == SENT_CUT) c->last = true; /* no memory: the length does not hold, so the connection cannot be used on */
    enter(c, AT_WRITING, c->net->o.receive_seconds + (double)r->body_bytes / BYTES_PER_SECOND_MIN);
}

void sp__http1_written(sp_connection *c)
{
    if (c->state != AT_WRITING || evbuffer_get_length(bufferevent_get_output(c->bev)) > 0) return;
    sp__exchange_finish(c->x);
    c->x = NULL;
    if (c->last) {
        enter(c, AT_LINGERING, LINGER_SECONDS);
        if (!c->tls) shutdown(bufferevent_getfd(c->bev), SHUT_WR);
    } else {
        enter(c, AT_IDLE, c->net->o.idle_seconds);
    }
    sp__http1_input(c); /* the next request may be there already */
}

/* --- end and time ---------------------------------------------------------------------------------------------------------- */

void sp__http1_give_up(sp_connection *c, const char *why)
{
    if (c->state == AT_HANDLER) c->x = sp__exchange_stand_in(c->x);
    if (c->state == AT_IDLE || c->state == AT_LINGERING || c->x == NULL) sp__connection_close(c);
    else if (c->state != AT_WRITING) refuse(c, 503, why);
}

void sp__http1_timeout(sp_connection *c)
{
    if (c->state == AT_BODY) {
        double allowed = c->net->o.receive_seconds + (double)c->x->body_bytes / BYTES_PER_SECOND_MIN;
        double left = allowed - (double)(sp__net_now_us() - c->since_us) / 1e6;
        if (left > 0) sp__connection_timer(c, left + 0.01);
        else refuse(c, 408, "the request's body comes too slowly");
    } else if (c->state == AT_HEAD) {
        refuse(c, 408, "the request's head did not come in time");
    } else {
        sp__connection_close(c);
    }
}
