/* SPDX-License-Identifier: Apache-2.0 */
/* servable.h - servables of MindSpore Serving: methods that other processes run. Their requests are passed on as they are, over Unix sockets that those processes listen on.
 *
 *     request   "SPS1", 1 byte protocol (0 REST, 1 gRPC; 2, between the processes: gRPC with inputs called by their places), 3 bytes 0, u32 bytes of the method's name, u32 0, u64 bytes of the body; name; body
 *     reply     "SPR1", u32 HTTP status, u64 bytes of the body; body (of gRPC: the message, without its frame)
 *
 * Numbers are little-endian. A connection carries one request at a time; a servable has as many connections to a process as it may run requests at once. */
#ifndef SPORE_SERVABLE_H
#define SPORE_SERVABLE_H

#include "serve/serve_impl.h"

typedef struct sp_servable sp_servable;

sp_servable *sp__servable_find(sp_server *s, const char *name,
                               int64_t version); /* 0: the newest; NULL: there is none */
/* Pass the exchange on; it is answered sooner or later. body: what goes to the process, part of x->body. */
void sp__servable_call(sp_servable *v, sp_exchange *x, const char *method, bool grpc);
bool sp__servables_there(const sp_server *s);
void sp__servables_stop(sp_server *s); /* when all exchanges were answered */

void sp__mindspore_grpc_error(sp_exchange *x, int http_status,
                              const char *text); /* mindspore_grpc.c: fill in a failure */

#endif
