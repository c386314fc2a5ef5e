/* SPDX-License-Identifier: Apache-2.0 */
/* http2_stream.c - calls of gRPC whose messages come and go while the call is open.
 *
 * A message that has come whole becomes an exchange of its own (a part), with the head of the call, and is handed to the handler as any request is. Replies are sent in the
 * order of the messages. A part that fails ends the call. A reply with `more` is not the last one to its message: it is sent, and the part is handed to the handler again.
 *
 * While PARTS_MAX messages are with the handler, or BACKLOG_BYTES of replies are not taken, the client's window stays closed. */
#include <stdio.h>
#include <string.h>

#include "net/http2.h"

enum { PARTS_MAX = 16, BACKLOG_BYTES = 1 << 20, FRAME_BYTES = 5 };

struct sp_http2_call {
    struct evbuffer *out;
    sp_exchange *first, **end; /* parts, by `part_next` */
    int n_parts;
    size_t held;     /* bytes that came and are not yet given back to the client's window */
    bool input_over; /* the client sends nothing more, or nothing more is taken */
    bool over;       /* reply.grpc_status is the end of it */
    bool deferred;   /* nghttp2 waits for output */
    bool leaving;    /* it ends as the server does */
};

/* --- output ---------------------------------------------------------------------------------------------------------- */

static ssize_t on_read_call(nghttp2_session *session, int32_t stream, uint8_t *out, size_t room, uint32_t *flags,
                            nghttp2_data_source *source, void *context)
{
    sp_exchange *x = source->ptr;
    sp_http2_call *call = x->call;
    const int n = evbuffer_remove(call->out, out, room);
    (void)context;
    x->since_us = sp__net_now_us();
    if (n > 0 && (evbuffer_get_length(call->out) > 0 || !call->over)) return n;
    if (!call->over) {
        call->deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    return sp__http2_trailer(session, stream, x) ? n > 0 ? n : 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static void resume(sp_exchange *x)
{
    if (!x->call->deferred) return;
    x->call->deferred = false;
    x->since_us = sp__net_now_us();
    nghttp2_session_resume_data(sp__http2_session(x->connection), x->stream);
}

/* Parts that the handler still has are of no use to anybody. */
static void forget_parts(sp_http2_call *call)
{
    for (sp_exchange *y = call->first, *next; y != NULL; y = next) {
        next = y->part_next;
        y->part_of = NULL;
        y->connection = NULL;
        if (y->phase == PHASE_HANDED) sp__exchange_peer(y, SP_PEER_GONE);
        else sp__exchange_finish(y);
    }
    call->first = NULL;
    call->end = &call->first;
    call->n_parts = 0;
}

void sp__http2_call_end(sp_exchange *x, int grpc_status, const char *message)
{
    sp_http2_call *call = x->call;
    if (call->over) return;
    forget_parts(call);
    call->over = call->input_over = true;
    x->reply.grpc_status = grpc_status;
    if (message != NULL) x->reply.grpc_message = sp__strdup(message);
    resume(x);
}

/* --- messages -------------------------------------------------------------------------------------------------------- */

/* A part with the call's head, which may outlive the call. */
static sp_exchange *make_part(sp_exchange *x)
{
    sp_exchange *y = sp__exchange_create(x->connection);
    if (y != NULL) y->head = sp__alloc(x->sent + 1);
    if (y == NULL || y->head == NULL) {
        if (y != NULL) sp__free(y->reply.body);
        sp__free(y);
        return NULL;
    }
    memcpy(y->head, x->head, x->sent);
    y->version = x->version;
    y->stream = x->stream;
    y->method = y->head + (x->method - x->head);
    y->path = y->head + (x->path - x->head);
    y->n_headers = x->n_headers;
    for (int i = 0; i < x->n_headers; i++)
        y->headers[i] =
            (sp_net_header){y->head + (x->headers[i].name - x->head), y->head + (x->headers[i].value - x->head)};
    y->part_of = x;
    return y;
}

static void hand_part(sp_exchange *x, size_t bytes)
{
    sp_http2_call *call = x->call;
    sp_exchange *y = make_part(x);
    if (y == NULL) {
        sp__http2_call_end(x, sp__net_grpc_status(503), "out of memory");
        return;
    }
    const int status = sp__exchange_body(y, x->body, bytes, (int64_t)bytes);
    memmove(x->body, x->body + bytes, x->body_bytes - bytes);
    x->body_bytes -= bytes;
    if (status != 0) {
        y->connection = NULL;
        y->reply.status = status;
        sp__exchange_finish(y);
        sp__http2_call_end(x, sp__net_grpc_status(status), sp_error_message());
        return;
    }
    y->phase = PHASE_HANDED;
    *call->end = y;
    call->end = &y->part_next;
    call->n_parts++;
    sp__exchange_hand(y);
}

/* Hand over what has come whole, and let the client send on. */
static void cut(sp_exchange *x)
{
    sp_http2_call *call = x->call;
    while (!call->over && call->n_parts < PARTS_MAX && evbuffer_get_length(call->out) < BACKLOG_BYTES &&
           x->body_bytes >= FRAME_BYTES) {
        const uint8_t *b = x->body;
        const size_t bytes = FRAME_BYTES + ((size_t)b[1] << 24 | (size_t)b[2] << 16 | (size_t)b[3] << 8 | b[4]);
        if (bytes > x->net->o.max_body_bytes) {
            char text[128];
            snprintf(text, sizeof text, "a message has %zu bytes, at most %zu are allowed (--max-body)",
                     bytes - FRAME_BYTES, x->net->o.max_body_bytes);
            sp__http2_call_end(x, sp__net_grpc_status(413), text);
            return;
        }
        if (x->body_bytes < bytes) break;
        hand_part(x, bytes);
    }
    if (call->n_parts < PARTS_MAX && evbuffer_get_length(call->out) < BACKLOG_BYTES && call->held > 0) {
        nghttp2_session_consume_stream(sp__http2_session(x->connection), x->stream, call->held);
        call->held = 0;
    }
    if (call->over || !call->input_over || call->n_parts > 0) return;
    if (call->leaving)
        sp__http2_call_end(x, sp__net_grpc_status(503), "the server is being stopped; try again elsewhere");
    else if (x->body_bytes > 0)
        sp__http2_call_end(x, sp__net_grpc_status(400), "the call ends in the middle of a message");
    else sp__http2_call_end(x, 0, NULL);
}

void sp__http2_call_data(sp_exchange *x, const void *data, size_t bytes)
{
    sp_http2_call *call = x->call;
    call->held += bytes;
    x->since_us = sp__net_now_us();
    if (call->over || call->input_over) return;
    const int status = sp__exchange_body(x, data, bytes, -1);
    if (status != 0) sp__http2_call_end(x, sp__net_grpc_status(status), sp_error_message());
    else cut(x);
}

void sp__http2_call_input_over(sp_exchange *x)
{
    x->call->input_over = true;
    cut(x);
}

void sp__http2_call_leave(sp_exchange *x)
{
    if (x->call->over) return;
    x->call->input_over = x->call->leaving = true;
    cut(x);
}

void sp__http2_part_reply(sp_exchange *y)
{
    sp_exchange *x = y->part_of;
    sp_http2_call *call = x->call;
    y->phase = PHASE_REPLYING;
    while (call->first != NULL && call->first->phase == PHASE_REPLYING) {
        sp_exchange *part = call->first;
        sp_net_reply *r = &part->reply;
        if (r->grpc_status == 0 && r->body_bytes > 0) evbuffer_add(call->out, r->body, r->body_bytes);
        if (r->grpc_status == 0 && r->more && !call->leaving) {
            sp__free(r->body);
            *r = (sp_net_reply){.grpc_status = -1, .body = sp__alloc(64)};
            part->phase = PHASE_HANDED;
            sp__exchange_hand(part);
            break;
        }
        call->first = part->part_next;
        if (call->first == NULL) call->end = &call->first;
        call->n_parts--;
        part->part_of = NULL;
        part->connection = NULL;
        const int status = r->grpc_status;
        char *message = status > 0 && r->grpc_message != NULL ? sp__strdup(r->grpc_message) : NULL;
        sp__exchange_finish(part);
        if (status != 0) sp__http2_call_end(x, status > 0 ? status : 2, message);
        sp__free(message);
    }
    cut(x);
    resume(x);
}

/* --- begin and end ------------------------------------------------------------------------------------------------------ */

bool sp__http2_call_begin(sp_exchange *x)
{
    sp_http2_call *call = sp__alloc_zero(sizeof *call);
    nghttp2_nv nv[2] = {sp__http2_pair(":status", "200"), sp__http2_pair("content-type", "application/grpc")};
    nghttp2_data_provider provider = {.source = {.ptr = x}, .read_callback = on_read_call};
    if (call != NULL) call->out = evbuffer_new();
    if (call == NULL || call->out == NULL) {
        sp__free(call);
        return false;
    }
    call->end = &call->first;
    x->call = call;
    x->phase = PHASE_CALL;
    x->stands_in = true; /* for its parts, which are told to `finished` */
    x->reply.status = 200;
    if (nghttp2_submit_response(sp__http2_session(x->connection), x->stream, nv, 2, &provider) == 0) return true;
    sp__http2_call_release(x);
    x->phase = PHASE_READING;
    return false;
}

void sp__http2_call_release(sp_exchange *x)
{
    forget_parts(x->call);
    evbuffer_free(x->call->out);
    sp__free(x->call);
    x->call = NULL;
}

/* Too slow with a message that has begun, or with taking replies. */
bool sp__http2_call_stalled(const sp_exchange *x, int64_t now_us)
{
    const sp_http2_call *call = x->call;
    const size_t waiting = evbuffer_get_length(call->out);
    if (waiting == 0 && (x->body_bytes == 0 || call->n_parts > 0)) return false;
    return (double)(now_us - x->since_us) / 1e6 >= x->net->o.receive_seconds;
}
