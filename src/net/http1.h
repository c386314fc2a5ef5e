/* SPDX-License-Identifier: Apache-2.0 */
/* http1.h - HTTP/1.1's syntax (RFC 9112), read strictly: what two programs could understand in two ways is refused. No input or output here. */
#ifndef SPORE_HTTP1_H
#define SPORE_HTTP1_H

#include "net/net.h"

/* What a head says about the message. */
typedef struct sp_http_head {
    int64_t content_length; /* -1: not given */
    bool chunked;
    bool keep_alive;
    bool expect_continue;
} sp_http_head;

/* Bytes of the head that `data` begins with, its empty line included; 0: not whole yet. */
size_t sp__http1_head_bytes(const char *data, size_t bytes);
/* Read a whole head (`bytes` as above) out of x->head, which is changed; fills the request part of x. Returns 0, or the HTTP status to refuse it
 * with; the message is this thread's (sp_error_message). */
int sp__http1_head_parse(sp_exchange *x, size_t bytes, sp_http_head *out);

/* A body in chunks, fed piece by piece. Start with {0}. */
typedef struct sp_http_chunks {
    int state;
    uint64_t left;     /* of the chunk */
    size_t line_bytes; /* of a size line or the trailers so far */
    bool digits;       /* the size line has one */
    bool done;
} sp_http_chunks;
/* Take from `data`: up to *payload_bytes bytes of body begin at data + *skip, and *used bytes of data are done with. With neither body nor end
 * in it, *payload_bytes is 0. False: this is not how chunks are written. */
bool sp__http1_chunk(sp_http_chunks *c, const uint8_t *data, size_t bytes, size_t *skip, size_t *payload_bytes,
                     size_t *used);

#endif
