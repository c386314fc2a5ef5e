/* SPDX-License-Identifier: Apache-2.0 */
/* http_exchange.c - a request and its reply, from its first byte to its last. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/clock.h"
#include "net/connection.h"

int64_t sp__net_now_us(void) { return sp__clock_ns() / 1000; }

const char *sp__net_status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } texts[] = {{200, "OK"},
                 {204, "No Content"},
                 {304, "Not Modified"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {406, "Not Acceptable"},
                 {408, "Request Timeout"},
                 {413, "Content Too Large"},
                 {415, "Unsupported Media Type"},
                 {417, "Expectation Failed"},
                 {422, "Unprocessable Content"},
                 {429, "Too Many Requests"},
                 {431, "Request Header Fields Too Large"},
                 {499, "Client Closed Request"},
                 {500, "Internal Server Error"},
                 {501, "Not Implemented"},
                 {503, "Service Unavailable"},
                 {504, "Gateway Timeout"},
                 {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].status == status) return texts[i].text;
    return "Unknown";
}

int sp__net_grpc_status(int status)
{
    static const int codes[][2] = {{200, 0}, {400, 3}, {401, 16}, {403, 7},  {404, 5},  {405, 12}, {408, 4}, {413, 8},
                                   {429, 8}, {431, 8}, {499, 1},  {500, 13}, {501, 12}, {503, 14}, {504, 4}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i][0] == status) return codes[i][1];
    return 2; /* unknown */
}

/* Room for them is taken with the exchange: when they are needed there is none. */
static const char starved_words[] = "{\"error\":\"out of memory\"}\n";

sp_exchange *sp__exchange_create(sp_connection *c)
{
    sp_exchange *x = sp__alloc_zero(sizeof *x);
    if (x == NULL) return NULL;
    atomic_init(&x->peer_state, SP_PEER_HERE);
    atomic_init(&x->closed_us, 0);
    memcpy(x->peer, c->peer, sizeof x->peer);
    x->peer_pid = c->peer_pid;
    x->peer_uid = c->peer_uid;
    x->net = c->net;
    x->connection = c;
    x->began_us = sp__net_now_us();
    x->method = x->path = x->query = "";
    x->reply.grpc_status = -1;
    x->reply.body = sp__alloc(sizeof starved_words);
    if (x->reply.body == NULL) {
        sp__free(x);
        return NULL;
    }
    return x;
}

void sp__exchange_starved(sp_exchange *x)
{
    x->reply.status = 503;
    x->reply.type = "application/json";
    x->reply.headers[0] = (sp_net_header){"retry-after", "1"};
    if (x->reply.body == NULL) return;
    memcpy(x->reply.body, starved_words, sizeof starved_words - 1);
    x->reply.body_bytes = sizeof starved_words - 1;
}

void sp__exchange_finish(sp_exchange *x)
{
    sp_net *n = x->net;
    if (n->o.finished != NULL && !x->stands_in) n->o.finished(n->o.context, x);
    n->memory_bytes -= x->body_room;
    sp__free(x->head);
    sp__free(x->body);
    sp__free(x->reply.body);
    sp__free(x->reply.grpc_message);
    sp__free(x);
}

sp_exchange *sp__exchange_stand_in(sp_exchange *x)
{
    const char *type = sp__exchange_header(x, "content-type");
    sp_exchange *y = sp__exchange_create(x->connection);
    x->connection = NULL;
    x->given_up = true;
    sp__exchange_peer(x, SP_PEER_GONE);
    if (y == NULL) return NULL;
    y->stands_in = true;
    y->version = x->version;
    y->stream = x->stream;
    if (type != NULL && strncmp(type, "application/grpc", 16) == 0)
        y->headers[y->n_headers++] = (sp_net_header){"content-type", "application/grpc"};
    return y;
}

void sp__exchange_hand(sp_exchange *x)
{
    sp_net *n = x->net;
    x->alone = n->n_handed == 0 && (x->connection->number == n->last_number || atomic_load(&n->n_connections) == 1);
    n->last_number = x->connection->number;
    n->n_handed++;
    x->net->o.handle(x->net->o.context, x);
}

int sp__exchange_body(sp_exchange *x, const void *data, size_t bytes, int64_t expected)
{
    sp_net *n = x->net;
    size_t need = x->body_bytes + bytes;
    if (need > n->o.max_body_bytes) {
        (void)sp__fail(SP_VALUE, "the request's body has more than the %zu bytes that are allowed (--max-body)",
                       n->o.max_body_bytes);
        return 413;
    }
    if (need > x->body_room) {
        /* A length that was promised is not trusted with more than what has come already, so that promises cost no memory. */
        size_t room = 2 * need < 16384 ? 16384 : 2 * need;
        if (expected >= 0 && room > (size_t)expected) room = (size_t)expected;
        if (room > n->o.max_body_bytes) room = n->o.max_body_bytes;
        if (room < need) room = need;
        if (n->memory_bytes - x->body_room + room > n->o.max_memory_bytes) {
            (void)sp__fail(SP_NOMEM, "requests take all of the %zu bytes that are allowed for them; try again later",
                           n->o.max_memory_bytes);
            return 503;
        }
        uint8_t *more = x->body != NULL ? sp__realloc(x->body, x->body_room, room) : sp__alloc(room);
        if (more == NULL) return 503;
        n->memory_bytes += room - x->body_room;
        x->body = more;
        x->body_room = room;
    }
    memcpy(x->body + x->body_bytes, data, bytes);
    x->body_bytes = need;
    return 0;
}

void sp__exchange_refuse(sp_exchange *x, int status, const char *text)
{
    sp__text t = {0};
    sp__text_put(&t, "{\"error\":\"%s\"}\n", text); /* texts of this folder need no escapes */
    x->reply = (sp_net_reply){.status = status, .type = "application/json", .grpc_status = -1, .body = x->reply.body};
    size_t bytes = t.used;
    char *body;
    if (sp__text_take(&t, &body) == SP_OK) {
        sp__free(x->reply.body);
        x->reply.body = (uint8_t *)body;
        x->reply.body_bytes = bytes;
    } else sp__exchange_starved(x);
    const char *type = sp__exchange_header(x, "content-type");
    if (x->version == 20 && type != NULL &&
        strncmp(type, "application/grpc", 16) == 0) { /* whose clients look at nothing else */
        sp__free(x->reply.body);
        x->reply = (sp_net_reply){.status = 200,
                                  .type = "application/grpc",
                                  .grpc_status = sp__net_grpc_status(status),
                                  .grpc_message = sp__strdup(text)};
    } else if (status == 503) x->reply.headers[0] = (sp_net_header){"retry-after", "1"};
}

void sp__exchange_peer(sp_exchange *x, int state)
{
    if (atomic_load(&x->peer_state) >= state) return;
    atomic_store(&x->closed_us, sp__net_now_us());
    atomic_store(&x->peer_state, state);
}

const char *sp__exchange_header(const sp_exchange *x, const char *name)
{
    for (int i = 0; i < x->n_headers; i++)
        if (strcmp(x->headers[i].name, name) == 0) return x->headers[i].value;
    return NULL;
}

void sp__exchange_reply(sp_exchange *x)
{
    sp_net *n = x->net;
    sp__lock(&n->lock);
    bool empty = n->done == NULL;
    x->next = NULL;
    *n->done_end = x;
    n->done_end = &x->next;
    /* Inside the lock: once it is free the loop may take x, find nothing left to do, and end. */
    if (empty && pthread_equal(pthread_self(), n->loop)) event_active(n->wake, EV_READ, 0);
    else if (empty) {
        uint64_t one = 1;
        while (write(n->wake_fd, &one, sizeof one) < 0 && errno == EINTR) {}
    }
    sp__unlock(&n->lock);
}
