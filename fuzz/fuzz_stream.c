/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_stream.c - any bytes as what clients send on a connection of HTTP/2: to a server in this process, over a socket. The first byte chooses:
 *   'm'  the bytes are those of a gRPC call that stays open: DATA frames of sizes that the second byte gives; messages are cut out of them, each is
 *        answered with itself
 *   'f'  the bytes are frames, behind the client's preface
 * The server answers and closes, or says what is wrong, within seconds; each message that it hands over is whole.
 *
 * With clang: clang -fsanitize=fuzzer,address,undefined ... fuzz/fuzz_stream.c. Without: tests/net/test_fuzz_stream.c. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base.h"
#include "net/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { FRAME = 9, PREFIX = 5, MESSAGE_MAX = 4096, SECONDS = 20 };
enum { DATA = 0, HEADERS = 1, RESET = 3, SETTINGS = 4, GOAWAY = 7, END_STREAM = 1, END_HEADERS = 4 };

static void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_stream: %s\n", what);
    abort();
}

/* --- the server -------------------------------------------------------------------------------------------------- */

static bool stays_open(const char *path) { return strcmp(path, "/s/m") == 0; }

static void handle(void *context, sp_exchange *x)
{
    (void)context;
    sp__free(x->reply.body); /* words for when memory is short, that every exchange begins with */
    x->reply = (sp_net_reply){.status = 200, .type = "application/grpc", .grpc_status = 0};
    if (x->part_of != NULL) { /* a message of a call that stays open */
        const uint8_t *b = x->body;
        must(x->body_bytes >= PREFIX, "a message without its length");
        must(x->body_bytes - PREFIX == ((size_t)b[1] << 24 | (size_t)b[2] << 16 | (size_t)b[3] << 8 | b[4]),
             "a message that is not whole");
    }
    x->reply.body = sp__alloc(x->body_bytes + 1);
    if (x->reply.body != NULL && x->body_bytes > 0) memcpy(x->reply.body, x->body, x->body_bytes);
    x->reply.body_bytes = x->reply.body != NULL ? x->body_bytes : 0;
    sp__exchange_reply(x);
}

static char address[80];

static void end_server(void) { unlink(address); }

static void begin_server(void)
{
    static sp_net *net;
    if (net != NULL) return;
    snprintf(address, sizeof address, "/tmp/fuzz_stream_%d", (int)getpid());
    const sp_net_options o = {.unix_path = address,
                              .max_body_bytes = MESSAGE_MAX,
                              .max_memory_bytes = 64 << 20,
                              .max_connections = 16,
                              .idle_seconds = 60,
                              .receive_seconds = 60,
                              .drain_seconds = 1,
                              .handle = handle,
                              .stays_open = stays_open};
    must(sp__net_create(&o, &net) == SP_OK && sp__net_start(net) == SP_OK, sp_error_message());
    atexit(end_server);
}

/* --- the client -------------------------------------------------------------------------------------------------- */

typedef struct client {
    int fd;
    bool gone;           /* the server has closed */
    uint8_t in[1 << 16]; /* frames that have not come whole */
    size_t n_in;
    size_t data_bytes; /* of replies */
    bool ended;        /* the call, or the connection, was told to be over */
} client;

static void take_frames(client *c)
{
    for (;;) {
        if (c->n_in < FRAME) return;
        const uint8_t *f = c->in;
        const size_t bytes = (size_t)f[0] << 16 | (size_t)f[1] << 8 | f[2];
        must(bytes <= 16384, "a frame that is too long");
        if (c->n_in < FRAME + bytes) return;
        if (f[3] == DATA) c->data_bytes += bytes;
        if (f[3] == RESET || f[3] == GOAWAY || ((f[3] == DATA || f[3] == HEADERS) && (f[4] & END_STREAM)))
            c->ended = true;
        c->n_in -= FRAME + bytes;
        memmove(c->in, c->in + FRAME + bytes, c->n_in);
    }
}

/* Read what is there; wait for something if asked to. */
static void receive(client *c, bool wait)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    const int ready = poll(&p, 1, wait ? SECONDS * 1000 : 0);
    must(ready > 0 || !wait, "the server neither answers nor closes");
    if (ready <= 0) return;
    const ssize_t n = recv(c->fd, c->in + c->n_in, sizeof c->in - c->n_in, 0);
    if (n <= 0) c->gone = true;
    else c->n_in += (size_t)n;
    take_frames(c);
}

static void transmit(client *c, const void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes && !c->gone;) {
        const ssize_t n = send(c->fd, (const char *)data + at, bytes - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) at += (size_t)n;
        else {
            struct pollfd p = {.fd = c->fd, .events = POLLIN | POLLOUT};
            must(poll(&p, 1, SECONDS * 1000) > 0, "the server takes nothing any more");
            if (p.revents & POLLIN) receive(c, false);
            else if (p.revents & (POLLERR | POLLHUP)) c->gone = true;
        }
    }
}

static void transmit_frame(client *c, int type, int flags, const void *data, size_t bytes)
{
    const uint8_t head[FRAME] = {
        (uint8_t)(bytes >> 16), (uint8_t)(bytes >> 8), (uint8_t)bytes, (uint8_t)type, (uint8_t)flags, 0, 0, 0,
        type != SETTINGS};
    transmit(c, head, FRAME);
    transmit(c, data, bytes);
}

static void begin_client(client *c)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", address);
    c->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    must(c->fd >= 0 && connect(c->fd, (struct sockaddr *)&to, sizeof to) == 0, "no connection");
    transmit(c, preface, sizeof preface - 1);
}

static size_t put_header(uint8_t *out, const char *name, const char *value)
{
    const size_t n = strlen(name), m = strlen(value);
    out[0] = 0; /* literal, not indexed */
    out[1] = (uint8_t)n;
    memcpy(out + 2, name, n);
    out[2 + n] = (uint8_t)m;
    memcpy(out + 3 + n, value, m);
    return 3 + n + m;
}

/* How many bytes of whole messages there are, before one that is too long; *fine: they end with a message. */
static size_t whole_messages(const uint8_t *b, size_t bytes, bool *fine)
{
    size_t at = 0;
    while (bytes - at >= PREFIX) {
        const size_t n =
            PREFIX + ((size_t)b[at + 1] << 24 | (size_t)b[at + 2] << 16 | (size_t)b[at + 3] << 8 | b[at + 4]);
        if (n > MESSAGE_MAX || n > bytes - at) break;
        at += n;
    }
    *fine = at == bytes;
    return at;
}

static void fuzz_messages(client *c, size_t piece, const uint8_t *data, size_t bytes)
{
    uint8_t head[256];
    bool fine;
    size_t n = put_header(head, ":method", "POST");
    n += put_header(head + n, ":scheme", "http");
    n += put_header(head + n, ":path", "/s/m");
    n += put_header(head + n, ":authority", "x");
    n += put_header(head + n, "content-type", "application/grpc");
    n += put_header(head + n, "te", "trailers");
    transmit_frame(c, SETTINGS, 0, NULL, 0);
    transmit_frame(c, HEADERS, END_HEADERS, head, n);
    for (size_t at = 0; at < bytes;) {
        const size_t k = bytes - at < piece ? bytes - at : piece;
        transmit_frame(c, DATA, 0, data + at, k);
        at += k;
    }
    transmit_frame(c, DATA, END_STREAM, NULL, 0);
    while (!c->ended && !c->gone) receive(c, true);
    const size_t wanted = whole_messages(data, bytes, &fine);
    must(!fine || c->data_bytes == wanted, "messages that were not answered");
    must(c->data_bytes <= wanted, "more is answered than was sent");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static client clean, c;
    if (bytes < 2 || bytes > 30000 || (data[0] != 'm' && data[0] != 'f'))
        return 0; /* beyond 64 K the client's window would close */
    begin_server();
    c = clean;
    begin_client(&c);
    if (data[0] == 'm') fuzz_messages(&c, (size_t)data[1] + 1, data + 2, bytes - 2);
    else transmit(&c, data + 1, bytes - 1);
    shutdown(c.fd, SHUT_WR);
    while (!c.gone) receive(&c, true);
    close(c.fd);
    return 0;
}
