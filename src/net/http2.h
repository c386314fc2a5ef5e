/* SPDX-License-Identifier: Apache-2.0 */
/* http2.h - what the two files of HTTP/2 share: streams as exchanges, and calls of gRPC that stay open (http2_stream.c). */
#ifndef SPORE_HTTP2_H
#define SPORE_HTTP2_H

#include <nghttp2/nghttp2.h>

#include "net/connection.h"

/* Of a stream's exchange. CALL: a call that stays open; its messages are exchanges of their own, which are HANDED and REPLYING. */
enum { PHASE_READING, PHASE_HANDED, PHASE_REPLYING, PHASE_CALL };

typedef struct sp_http2_call sp_http2_call;

/* http2_connection.c */
nghttp2_session *sp__http2_session(const sp_connection *c);
nghttp2_nv sp__http2_pair(const char *name, const char *value);
bool sp__http2_trailer(nghttp2_session *session, int32_t stream,
                       const sp_exchange *x); /* gRPC's status; false: no memory */

/* http2_stream.c. None of these pumps. */
bool sp__http2_call_begin(sp_exchange *x); /* false: no memory */
void sp__http2_call_data(sp_exchange *x, const void *data, size_t bytes);
void sp__http2_call_input_over(sp_exchange *x);
void sp__http2_call_leave(sp_exchange *x); /* answer what was sent, then end */
void sp__http2_call_end(sp_exchange *x, int grpc_status, const char *message);
bool sp__http2_call_stalled(const sp_exchange *x, int64_t now_us);
void sp__http2_call_release(sp_exchange *x);
void sp__http2_part_reply(sp_exchange *y);

#endif
