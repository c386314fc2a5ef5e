/* SPDX-License-Identifier: Apache-2.0 */
/* connection.h - what the files of this folder share: the loop and its connections. Everything here belongs to the loop's thread. */
#ifndef SPORE_CONNECTION_H
#define SPORE_CONNECTION_H

#include <sys/stat.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <pthread.h>
#include <time.h>

#include "base/lock.h"
#include "net/http1.h"
#include "net/net.h"

enum {
    BUFFER_BYTES_MAX = 262144,   /* of input that nobody has taken yet, and of output that is made ahead */
    BYTES_PER_SECOND_MIN = 16384 /* slower clients are given up */
};

/* What a connection does; HTTP/2 has no use for those between IDLE and LINGERING. */
enum { AT_IDLE, AT_HEAD, AT_BODY, AT_HANDLER, AT_WRITING, AT_LINGERING };

typedef struct sp_connection {
    sp_net *net;
    struct sp_connection *prev, *next;
    uint64_t number; /* of those that were opened */
    struct bufferevent *bev;
    struct event *timer;
    int state;
    bool fresh; /* nothing was read from it yet */
    bool tls;
    bool peer_eof; /* the client sends nothing more */
    bool last;     /* ends after the reply that is being written */
    char peer[56];
    int64_t peer_pid, peer_uid;
    sp_exchange *x;   /* HTTP/1: the one that is being read, handled or answered */
    int64_t since_us; /* start of the state */
    sp_http_head head;
    sp_http_chunks chunks;
    struct sp_http2 *http2; /* NULL: HTTP/1 */
} sp_connection;

/* What becomes of the server. LEAVING: everything is answered, clients are told to go elsewhere; DRAINING: what is under way is answered, nothing else taken;
 * GIVING_UP: what is left was told so. */
enum { NET_RUNNING, NET_LEAVING, NET_DRAINING, NET_GIVING_UP };
enum { GIVEN_MAX = 8, GIVEN_FIRST = 3 };

struct sp_net {
    sp_net_options o;
    char *texts[5]; /* copies that the options point to */
    bool has_socket_file;
    struct stat socket_file; /* of unix_path, as it was made */
    struct event_base *base;
    struct evconnlistener *tcp, *local, *given[GIVEN_MAX];
    struct event *wake, *again, *drain, *tick, *watch;
    int wake_fd;
    void *tls;                   /* SSL_CTX */
    sp_connection *first, *last; /* longest unused first */
    atomic_int n_connections;
    int n_handed;                   /* exchanges that the handler has */
    uint64_t n_opened, last_number; /* connections so far; the one that the last exchange came on */
    size_t memory_bytes;
    atomic_int stops, reloads;
    int reloads_done;
    atomic_int phase; /* NET_... */
    int64_t told_us;  /* when a client of the wrong kind was last told to the log */
    int port;
    time_t date_second;
    char date[40];
    pthread_t thread, loop; /* the same: as its maker has it, and as it says itself */
    bool started, joined;
    sp_lock lock; /* of done */
    sp_exchange *done, **done_end;
};

/* connection.c */
void sp__connection_open(sp_net *n, evutil_socket_t fd, const char *peer, bool tls);
void sp__connection_close(sp_connection *c);
void sp__connection_timer(sp_connection *c, double seconds); /* from now; below 0: none */
/* Write at once what the socket takes; the rest, and all of it with TLS, waits in the output, which then owns `body`. CUT: there is no memory for that, and the connection is of no more use. */
enum { SENT_WHOLE, SENT_LATER, SENT_CUT };
int sp__connection_send(sp_connection *c, const char *head, size_t head_bytes, uint8_t *body, size_t body_bytes);
void sp__connection_used(sp_connection *c); /* it moves to the end of the list */

/* exchange.c */
sp_exchange *sp__exchange_create(sp_connection *c); /* NULL: no memory */
void sp__exchange_finish(sp_exchange *x);           /* tells `finished`, frees */
void sp__exchange_hand(sp_exchange *x);             /* to the handler */
/* Append to the body. 0, or the HTTP status to refuse the request with. expected: what it will be in the end, as far as that is known. */
int sp__exchange_body(sp_exchange *x, const void *data, size_t bytes, int64_t expected);
void sp__exchange_peer(sp_exchange *x, int state);

/* http1_connection.c */
void sp__http1_input(sp_connection *c);
void sp__http1_reply(sp_exchange *x);
void sp__http1_written(sp_connection *c);
void sp__http1_timeout(sp_connection *c);
void sp__http1_give_up(sp_connection *c, const char *why); /* answer what is left with 503 */

/* http2_connection.c */
enum { HTTP2_PREFACE_BYTES = 24 };
#define HTTP2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
bool sp__http2_start(sp_connection *c);
void sp__http2_input(sp_connection *c);
void sp__http2_reply(sp_exchange *x);
void sp__http2_written(sp_connection *c);
void sp__http2_timeout(sp_connection *c);
void sp__http2_leave(sp_connection *c); /* ask the client to take its next requests elsewhere */
void sp__http2_drain(sp_connection *c); /* take no more requests */
void sp__http2_give_up(sp_connection *c, const char *why);
void sp__http2_release(sp_connection *c);

/* tls.c */
sp_status sp__tls_create(const sp_net_options *o, void **out);
void sp__tls_release(void *tls);
struct bufferevent *sp__tls_accept(void *tls, struct event_base *base, evutil_socket_t fd); /* NULL: no memory */
bool sp__tls_chose_http2(struct bufferevent *bev);
bool sp__tls_was_plain(struct bufferevent *bev); /* the handshake failed, as the client speaks plain HTTP */

/* net.c */
const char *sp__net_date(sp_net *n);                              /* "Sun, 06 Nov 1994 08:49:37 GMT", of this second */
bool sp__net_leaving(const sp_net *n);                            /* or later */
void sp__net_tell(sp_net *n, const char *peer, const char *what); /* to the log, at most once a second */
/* Where an exchange that the handler has is given up: another one that stands in for it on its connection. NULL: no memory, it is merely gone. */
sp_exchange *sp__exchange_stand_in(sp_exchange *x);
void sp__net_check_end(sp_net *n); /* end the loop if it drains and nothing is left */

#endif
