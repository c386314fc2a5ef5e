/* SPDX-License-Identifier: Apache-2.0 */
/* http2_connection.c - HTTP/2 on a connection, over nghttp2: every stream is an exchange, many at a time.
 *
 * nghttp2 is fed with what comes in and asked for what is to go out; it calls back from the first alone, so nothing here runs inside of itself. A
 * stream that the client resets makes its exchange gone at once: this is how gRPC cancels. */
#include <stdio.h>
#include <string.h>

#include "net/http2.h"

enum { STREAMS_MAX = 100, WINDOW_BYTES = 1 << 20 };

struct sp_http2 {
    nghttp2_session *session;
    sp_exchange *streams;
    int64_t idle_since_us;
};

/* --- streams ----------------------------------------------------------------------------------------------------- */

static void stream_remove(sp_connection *c, sp_exchange *x)
{
    *(x->stream_prev != NULL ? &x->stream_prev->stream_next : &c->http2->streams) = x->stream_next;
    if (x->stream_next != NULL) x->stream_next->stream_prev = x->stream_prev;
    if (c->http2->streams == NULL) c->http2->idle_since_us = sp__net_now_us();
}

static void stream_add(sp_connection *c, sp_exchange *x)
{
    x->stream_prev = NULL;
    x->stream_next = c->http2->streams;
    if (x->stream_next != NULL) x->stream_next->stream_prev = x;
    c->http2->streams = x;
}

/* The client has gone, or all was said. */
static void stream_end(sp_connection *c, sp_exchange *x)
{
    stream_remove(c, x);
    x->connection = NULL;
    if (x->phase == PHASE_HANDED) {
        sp__exchange_peer(x, SP_PEER_GONE);
        return; /* its reply comes back some time and is dropped */
    }
    if (x->phase == PHASE_CALL) sp__http2_call_release(x);
    if (x->phase == PHASE_READING) x->reply.status = 499;
    sp__exchange_finish(x);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    sp_connection *c = context;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    sp_exchange *x = sp__exchange_create(c);
    if (x != NULL) x->head = sp__alloc(SP_NET_HEAD_BYTES_MAX);
    if (x == NULL || x->head == NULL) {
        sp__free(x);
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* resets this stream */
    }
    x->version = 20;
    x->stream = frame->hd.stream_id;
    x->since_us = x->began_us;
    x->head[0] = '\0';
    stream_add(c, x);
    nghttp2_session_set_stream_user_data(session, x->stream, x);
    sp__connection_used(c);
    return 0;
}

/* While the head is read, `sent` counts what the block holds of it. */
static const char *keep(sp_exchange *x, const uint8_t *text, size_t bytes)
{
    if (bytes + 1 > SP_NET_HEAD_BYTES_MAX - x->sent) return NULL;
    char *at = x->head + x->sent;
    memcpy(at, text, bytes);
    at[bytes] = '\0';
    x->sent += bytes + 1;
    return at;
}

static void refuse(sp_exchange *x, int status, const char *text)
{
    sp__exchange_refuse(x, status, text);
    sp__http2_reply(x);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_bytes,
                     const uint8_t *value, size_t value_bytes, uint8_t flags, void *context)
{
    sp_exchange *x = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags;
    (void)context;
    if (x == NULL || x->phase != PHASE_READING || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    const char *kept_name = keep(x, name, name_bytes), *kept = keep(x, value, value_bytes);
    if (kept_name == NULL || kept == NULL || (name[0] != ':' && x->n_headers == SP_NET_HEADERS_MAX)) {
        refuse(x, 431, "the request's head has more than 16384 bytes or 64 headers");
        return 0;
    }
    if (name[0] != ':') x->headers[x->n_headers++] = (sp_net_header){kept_name, kept};
    else if (strcmp(kept_name, ":method") == 0) x->method = kept;
    else if (strcmp(kept_name, ":path") == 0) {
        char *question = strchr(x->head + (kept - x->head), '?');
        if (question != NULL) *question++ = '\0';
        x->path = kept;
        x->query = question != NULL ? question : "";
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t bytes,
                   void *context)
{
    sp_exchange *x = nghttp2_session_get_stream_user_data(session, stream);
    (void)flags;
    (void)context;
    nghttp2_session_consume_connection(session, bytes);
    if (x != NULL && x->phase == PHASE_CALL) {
        sp__http2_call_data(x, data, bytes);
        return 0;
    }
    nghttp2_session_consume_stream(session, stream, bytes);
    if (x == NULL || x->phase != PHASE_READING) return 0; /* refused already */
    int status = sp__exchange_body(x, data, bytes, -1);
    if (status != 0) refuse(x, status, sp_error_message());
    return 0;
}

/* Is its head that of a gRPC call that stays open? */
static bool stays_open(const sp_exchange *x)
{
    const char *type = sp__exchange_header(x, "content-type");
    return x->net->o.stays_open != NULL && type != NULL && strncmp(type, "application/grpc", 16) == 0 &&
           x->net->o.stays_open(x->path);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
    sp_exchange *x = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    const bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    (void)context;
    if (x != NULL && frame->hd.type == NGHTTP2_HEADERS && x->phase == PHASE_READING && x->body_bytes == 0 &&
        stays_open(x) && !sp__http2_call_begin(x)) {
        refuse(x, 503, "out of memory");
        return 0;
    }
    if (x != NULL && x->phase == PHASE_CALL) {
        if (ends) sp__http2_call_input_over(x);
        return 0;
    }
    if (x == NULL || x->phase != PHASE_READING || !ends) return 0;
    if (x->path[0] != '/') {
        refuse(x, 400, "the request's target is not a path: it must begin with /");
        return 0;
    }
    x->phase = PHASE_HANDED;
    sp__exchange_hand(x);
    return 0;
}

/* A reply that was sent before the request came whole: the rest of it is not wanted. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) &&
        !nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id))
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *context)
{
    sp_exchange *x = nghttp2_session_get_stream_user_data(session, stream);
    (void)code;
    if (x != NULL) stream_end(context, x);
    return 0;
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

nghttp2_nv sp__http2_pair(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

nghttp2_session *sp__http2_session(const sp_connection *c) { return c->http2->session; }

/* gRPC's message: printable characters as they are, others as %XX. */
static void percent(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p && n + 4 < room; p++) {
        if (*p >= 0x20 && *p < 0x7f && *p != '%') out[n++] = (char)*p;
        else n += (size_t)snprintf(out + n, room - n, "%%%02X", *p);
    }
    out[n] = '\0';
}

static int grpc_pairs(const sp_exchange *x, nghttp2_nv *nv, char *code, char *message, size_t room)
{
    snprintf(code, 12, "%d", x->reply.grpc_status);
    nv[0] = sp__http2_pair("grpc-status", code);
    if (x->reply.grpc_message == NULL && x->reply.grpc_status == 0) return 1;
    percent(x->reply.grpc_message != NULL ? x->reply.grpc_message : "out of memory", message, room);
    nv[1] = sp__http2_pair("grpc-message", message);
    return 2;
}

bool sp__http2_trailer(nghttp2_session *session, int32_t stream, const sp_exchange *x)
{
    char code[12], message[3072];
    nghttp2_nv nv[2];
    const int n = grpc_pairs(x, nv, code, message, sizeof message);
    return nghttp2_submit_trailer(session, stream, nv, (size_t)n) == 0;
}

static ssize_t on_read_reply(nghttp2_session *session, int32_t stream, uint8_t *out, size_t room, uint32_t *flags,
                             nghttp2_data_source *source, void *context)
{
    sp_exchange *x = source->ptr;
    size_t left = x->reply.body_bytes - x->sent, n = left < room ? left : room;
    (void)context;
    if (n > 0) memcpy(out, x->reply.body + x->sent, n);
    x->sent += n;
    if (x->sent < x->reply.body_bytes) return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (x->reply.grpc_status >= 0) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        if (!sp__http2_trailer(session, stream, x)) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return (ssize_t)n;
}

/* Write what there is to write; ends the connection when it has nothing more to do. */
static void pump(sp_connection *c)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    while (evbuffer_get_length(out) < BUFFER_BYTES_MAX) {
        const uint8_t *data;
        ssize_t n = nghttp2_session_mem_send(c->http2->session, &data);
        if (n < 0) {
            sp__connection_close(c);
            return;
        }
        if (n == 0) break;
        evbuffer_add(out, data, (size_t)n);
    }
    if (!nghttp2_session_want_read(c->http2->session) && !nghttp2_session_want_write(c->http2->session) &&
        evbuffer_get_length(out) == 0)
        sp__connection_close(c);
}

/* Fill in the reply's head and queue it; whoever called that pumps. */
void sp__http2_reply(sp_exchange *x)
{
    sp_connection *c = x->connection;
    if (x->part_of != NULL) {
        sp__http2_part_reply(x);
        pump(c);
        return;
    }
    nghttp2_nv nv[SP_NET_REPLY_HEADERS + 8];
    char status[12], length[24], code[12], message[3072];
    size_t n = 0;
    const bool during_input = x->phase == PHASE_READING, grpc = x->reply.grpc_status >= 0;
    const bool body = x->reply.body_bytes > 0 && strcmp(x->method, "HEAD") != 0;
    x->phase = PHASE_REPLYING;
    x->since_us = sp__net_now_us();
    x->sent = 0;
    snprintf(status, sizeof status, "%d", x->reply.status);
    snprintf(length, sizeof length, "%zu", x->reply.body_bytes);
    nv[n++] = sp__http2_pair(":status", status);
    nv[n++] = sp__http2_pair("date", sp__net_date(c->net));
    if (x->reply.type != NULL) nv[n++] = sp__http2_pair("content-type", x->reply.type);
    if (!grpc) nv[n++] = sp__http2_pair("content-length", length);
    for (int i = 0; i < SP_NET_REPLY_HEADERS && x->reply.headers[i].name != NULL; i++)
        nv[n++] = sp__http2_pair(x->reply.headers[i].name, x->reply.headers[i].value);
    if (grpc && !body) n += (size_t)grpc_pairs(x, nv + n, code, message, sizeof message);
    nghttp2_data_provider provider = {.source = {.ptr = x}, .read_callback = on_read_reply};
    if (nghttp2_submit_response(c->http2->session, x->stream, nv, n, body ? &provider : NULL) != 0)
        nghttp2_submit_rst_stream(c->http2->session, NGHTTP2_FLAG_NONE, x->stream, NGHTTP2_INTERNAL_ERROR);
    if (!during_input) pump(c);
}

/* --- the connection ---------------------------------------------------------------------------------------------- */

void sp__http2_input(sp_connection *c)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    c->fresh = false;
    for (struct evbuffer_iovec piece; evbuffer_peek(in, -1, NULL, &piece, 1) >= 1 && piece.iov_len > 0;) {
        ssize_t n = nghttp2_session_mem_recv(c->http2->session, piece.iov_base, piece.iov_len);
        if (n < 0) {
            sp__connection_close(c);
            return;
        }
        evbuffer_drain(in, (size_t)n);
    }
    if (c->peer_eof) sp__connection_close(c);
    else pump(c);
}

void sp__http2_written(sp_connection *c)
{
    if (evbuffer_get_length(bufferevent_get_output(c->bev)) == 0) pump(c);
}

void sp__http2_timeout(sp_connection *c)
{
    const sp_net_options *o = &c->net->o;
    const int64_t now = sp__net_now_us();
    for (sp_exchange *x = c->http2->streams, *next; x != NULL; x = next) {
        next = x->stream_next;
        if (x->phase == PHASE_CALL) {
            if (sp__http2_call_stalled(x, now))
                nghttp2_submit_rst_stream(c->http2->session, NGHTTP2_FLAG_NONE, x->stream, NGHTTP2_CANCEL);
            continue;
        }
        size_t bytes = x->phase == PHASE_READING ? x->body_bytes : x->reply.body_bytes;
        if (x->phase == PHASE_HANDED ||
            (double)(now - x->since_us) / 1e6 < o->receive_seconds + (double)bytes / BYTES_PER_SECOND_MIN)
            continue;
        if (x->phase == PHASE_READING) refuse(x, 408, "the request does not come in time");
        else nghttp2_submit_rst_stream(c->http2->session, NGHTTP2_FLAG_NONE, x->stream, NGHTTP2_CANCEL);
    }
    if (c->http2->streams == NULL && (double)(now - c->http2->idle_since_us) / 1e6 >= o->idle_seconds) {
        nghttp2_session_terminate_session(c->http2->session, NGHTTP2_NO_ERROR);
        if (evbuffer_get_length(bufferevent_get_output(c->bev)) > 0) { /* does not read, either */
            sp__connection_close(c);
            return;
        }
    }
    sp__connection_timer(c, o->receive_seconds / 4);
    pump(c);
}

void sp__http2_leave(sp_connection *c)
{
    nghttp2_submit_shutdown_notice(c->http2->session);
    pump(c);
}

void sp__http2_give_up(sp_connection *c, const char *why)
{
    for (sp_exchange *x = c->http2->streams, *next; x != NULL; x = next) {
        next = x->stream_next;
        if (x->phase == PHASE_REPLYING) continue;
        if (x->phase == PHASE_CALL) {
            sp__http2_call_end(x, sp__net_grpc_status(503), why);
            continue;
        }
        if (x->phase == PHASE_HANDED) {
            sp_connection *connection = x->connection;
            sp_exchange *y = sp__exchange_stand_in(x);
            stream_remove(connection, x);
            nghttp2_session_set_stream_user_data(c->http2->session, x->stream, y);
            if (y == NULL) continue;
            stream_add(c, y);
            x = y;
        }
        refuse(x, 503, why);
    }
    pump(c);
}

void sp__http2_drain(sp_connection *c)
{
    nghttp2_submit_goaway(c->http2->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(c->http2->session), NGHTTP2_NO_ERROR, NULL, 0);
    for (sp_exchange *x = c->http2->streams; x != NULL; x = x->stream_next)
        if (x->phase == PHASE_CALL) sp__http2_call_leave(x);
    pump(c);
}

void sp__http2_release(sp_connection *c)
{
    nghttp2_session_del(c->http2->session); /* calls nobody back */
    while (c->http2->streams != NULL) stream_end(c, c->http2->streams);
    sp__free(c->http2);
    c->http2 = NULL;
}

static nghttp2_session *make_session(sp_connection *c)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    nghttp2_session *session = NULL;
    if (nghttp2_option_new(&option) != 0) return NULL;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) {
        nghttp2_option_del(option);
        return NULL;
    }
    nghttp2_option_set_no_auto_window_update(option, 1); /* on_data does: calls that stay open are held back */
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    int failed = nghttp2_session_server_new2(&session, callbacks, c, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return failed ? NULL : session;
}

bool sp__http2_start(sp_connection *c)
{
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX},
                                               {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES},
                                               {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, SP_NET_HEAD_BYTES_MAX}};
    c->http2 = sp__alloc_zero(sizeof *c->http2);
    if (c->http2 == NULL) return false;
    c->http2->session = make_session(c);
    c->http2->idle_since_us = sp__net_now_us();
    if (c->http2->session == NULL || nghttp2_submit_settings(c->http2->session, NGHTTP2_FLAG_NONE, settings, 3) != 0 ||
        nghttp2_session_set_local_window_size(c->http2->session, NGHTTP2_FLAG_NONE, 0, 4 * WINDOW_BYTES) != 0) {
        if (c->http2->session != NULL) nghttp2_session_del(c->http2->session);
        sp__free(c->http2);
        c->http2 = NULL;
        return false;
    }
    sp__connection_timer(c, c->net->o.receive_seconds / 4);
    if (sp__net_leaving(c->net)) nghttp2_submit_shutdown_notice(c->http2->session);
    return true;
}
