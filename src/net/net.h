/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - an HTTP server on one thread: connections, framing, limits and time-outs. What requests mean is not its business.
 *
 * One thread runs libevent's loop and owns all connections. A request that has been read whole becomes an exchange, which is
 * handed to `handle`, on that thread; somebody answers it later, from any thread, with sp__exchange_reply. HTTP/1.1 and HTTP/2 differ in
 * how an exchange comes about and how its reply is written (http1_*.c, http2_*.c), nowhere else.
 *
 * Who owns an exchange: the handler, from `handle` to sp__exchange_reply; the loop before and after. A connection that ends while the
 * handler has one of its exchanges marks it as gone and forgets it; its reply is then dropped. */
#ifndef SPORE_NET_H
#define SPORE_NET_H

#include "base/base.h"

typedef struct sp_net sp_net;

enum { SP_NET_HEADERS_MAX = 64, SP_NET_HEAD_BYTES_MAX = 16384, SP_NET_REPLY_HEADERS = 10 };

typedef struct sp_net_header {
    const char *name; /* lower case */
    const char *value;
} sp_net_header;

/* What the other side of an exchange is up to. */
enum { SP_PEER_HERE = 0, SP_PEER_CLOSED = 1, /* sends nothing more, may still listen */ SP_PEER_GONE = 2 };

typedef struct sp_net_reply {
    int status;
    const char *type; /* Content-Type; lives for ever; NULL: none */
    sp_net_header headers
        [SP_NET_REPLY_HEADERS]; /* further ones, up to the first without name; names in lower case, live for ever */
    char values[4][64];         /* room for values of headers */
    uint8_t *body; /* of sp__alloc, freed by the loop; NULL: none. At first a little room, of sp__exchange_starved */
    size_t body_bytes;
    int grpc_status;    /* -1: not gRPC; else sent in trailers, with the message */
    char *grpc_message; /* of sp__alloc; NULL after a failure: there was no memory for it */
    bool more;          /* of a message of a call that stays open: it is sent, and the exchange is handed over again */
} sp_net_reply;

/* What happens to the whole, told on the loop's thread. */
typedef enum {
    SP_NET_LEAVING, /* sp__net_stop was called. The answer: are there clients that should be given time to go elsewhere? */
    SP_NET_RELOADED, /* sp__net_reload was called, and certificates are those of the files now, or still the old ones, as the log says */
    SP_NET_TICK, /* tick_seconds have passed */
    SP_NET_WATCH /* a tenth of a second after sp__net_watch. The answer: once more? */
} sp_net_event;

typedef struct sp_exchange {
    /* The request; fixed once it is handed over. */
    int version; /* 10, 11 or 20 */
    char *head;  /* block that the texts below point into */
    const char *method;
    const char *path;  /* without query, as sent */
    const char *query; /* "" for none */
    int n_headers;
    sp_net_header headers[SP_NET_HEADERS_MAX];
    uint8_t *body;
    size_t body_bytes;
    char peer[56];
    int64_t peer_pid, peer_uid; /* of a client at the Unix socket; 0: not known */
    int64_t began_us;           /* first byte of it, by sp__net_now_us */
    bool alone;                 /* when it came no other was under way, and the one before it came on this connection */
    bool given_up;              /* the client was told that the server ends; the reply is dropped */
    bool stands_in;             /* for one that was given up: carries that reply, and is not told to `finished` */
    atomic_int peer_state;      /* SP_PEER_... */
    atomic_llong closed_us;     /* when it ceased to be SP_PEER_HERE */
    /* The answer; filled by the handler before sp__exchange_reply. */
    sp_net_reply reply;
    void *user; /* of the handler, as what follows: figures for the log */
    int64_t served_version, served_rows, queue_us, run_us, run_began_us;
    void *client; /* whose limits it counts for */
    int told;     /* the state that a watching client was last told */
    /* The loop's. */
    sp_net *net;
    struct sp_connection *connection; /* NULL: gone */
    struct sp_exchange *next;
    size_t body_room;
    /* HTTP/2's: its stream, what it does there, since when, how much of the reply is sent, and its neighbours on the connection. */
    int32_t stream;
    int phase;
    int64_t since_us;
    size_t sent;
    struct sp_exchange *stream_next, *stream_prev;
    struct sp_http2_call *call;              /* it is a call that stays open */
    struct sp_exchange *part_of, *part_next; /* it is a message of one */
} sp_exchange;

typedef struct sp_net_options {
    const char *host; /* NULL: no TCP */
    int port;         /* 0: one that is free */
    const char *unix_path;
    int n_given; /* sockets that listen already, with descriptors from 3 on, as systemd hands them over */
    const char *certificate, *private_key, *client_ca;
    size_t max_body_bytes, max_memory_bytes;
    int max_connections;
    double idle_seconds, receive_seconds, drain_seconds;
    double
        leave_seconds; /* after sp__net_stop clients are still answered, and told to go, for so long; below 0: a second, or less if no connection is left */
    double tick_seconds; /* 0: no SP_NET_TICK */
    /* A whole request; on the loop's thread, must not block. */
    void (*handle)(void *context, sp_exchange *x);
    /* Is this the path of a gRPC call that stays open, whose messages are exchanges of their own? NULL: none is. */
    bool (*stays_open)(const char *path);
    /* A reply is about to be written; on the loop's thread. May add headers. */
    void (*decorate)(void *context, sp_exchange *x);
    /* An exchange has been answered, or given up; on the loop's thread, just before it is freed. Also for requests that were refused before they
     * could be handled: their method may be "". */
    void (*finished)(void *context, const sp_exchange *x);
    void (*log)(void *context, const char *text); /* what went wrong outside of any exchange */
    bool (*event)(void *context, sp_net_event event);
    void *context;
} sp_net_options;

sp_status sp__net_create(const sp_net_options *options, sp_net **out); /* options are copied, texts too */
/* Bind, and start the thread. */
sp_status sp__net_start(sp_net *n);
int sp__net_port(const sp_net *n);
int sp__net_connections(const sp_net *n);
bool sp__net_draining(const sp_net *n); /* sp__net_stop was called */
/* As sp_server_stop: safe in signal handlers. */
void sp__net_stop(sp_net *n);
/* Read certificates again; existing connections keep theirs. Safe in signal handlers. */
void sp__net_reload(sp_net *n);
void sp__net_watch(sp_net *n); /* on the loop's thread: SP_NET_WATCH soon */
/* Until the thread has ended; it does so when everything was answered after sp__net_stop. */
void sp__net_wait(sp_net *n);
/* Nothing may be with the handler any more. NULL is fine. */
void sp__net_release(sp_net *n);

/* Give an exchange back with its reply filled in. */
void sp__exchange_reply(sp_exchange *x);
/* Fill in an error of ours, in the form that the client's protocol has for it. */
void sp__exchange_refuse(sp_exchange *x, int status, const char *text);
/* Fill in that memory has run out, which needs none. */
void sp__exchange_starved(sp_exchange *x);
const char *sp__exchange_header(const sp_exchange *x, const char *name); /* NULL: there is none */
int64_t sp__net_now_us(void);                                            /* monotonic */
int sp__net_grpc_status(int status);         /* gRPC's code for a failure with HTTP's status */
const char *sp__net_status_text(int status); /* "Not Found" */

#endif
