/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.c - bodies of requests and replies that are compressed: gzip and deflate. */
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/plain.h"
#include "serve/decode.h"

enum { REPLY_BYTES_MIN = 1400 }; /* smaller ones fit a packet as they are */

/* All of it, into a block of its own. status: HTTP's, for failures that have one. */
static sp_status inflate_all(const uint8_t *data, size_t bytes, size_t most, uint8_t **out, size_t *out_bytes,
                             int *status)
{
    z_stream z = {.next_in = (Bytef *)data, .avail_in = (uInt)bytes};
    size_t room = 4 * bytes < 4096 ? 4096 : 4 * bytes;
    int code = Z_OK;
    if (room > most) room = most;
    SP_CHECK(bytes <= UINT_MAX, SP_VALUE, "the compressed body has more than %u bytes", UINT_MAX);
    if (inflateInit2(&z, 15 + 32) != Z_OK) return SP_NOMEM; /* gzip's head or zlib's */
    uint8_t *all = sp__alloc(room + 1);
    do {
        if (all == NULL) break;
        const size_t left = room + 1 - z.total_out;
        z.next_out = all + z.total_out;
        z.avail_out = left > UINT_MAX ? UINT_MAX : (uInt)left;
        code = inflate(&z, Z_NO_FLUSH);
        if (code != Z_OK || z.total_out <= room || room == most) continue;
        const size_t more = room > most / 2 ? most : 2 * room;
        uint8_t *larger = sp__realloc(all, room + 1, more + 1);
        if (larger == NULL) sp__free(all);
        all = larger;
        room = more;
    } while (code == Z_OK && z.total_out <= room && (z.avail_in > 0 || z.avail_out == 0));
    const size_t total = z.total_out;
    inflateEnd(&z);
    if (all == NULL) return SP_NOMEM;
    sp_status result = SP_OK;
    if (total > most) {
        *status = 413;
        result = sp__fail(
            SP_VALUE,
            "the request's body has more than the %zu bytes that are allowed (--max-body) when it is decompressed",
            most);
    } else if (code != Z_STREAM_END || z.avail_in > 0)
        result = sp__fail(SP_VALUE, "the request's body is not what its Content-Encoding says, or is cut");
    if (result != SP_OK) sp__free(all);
    else {
        *out = all;
        *out_bytes = total;
    }
    return result;
}

sp_status sp__decode_encoding(sp_job *job)
{
    sp_exchange *x = job->x;
    const char *encoding = sp__exchange_header(x, "content-encoding");
    uint8_t *plain = NULL;
    size_t bytes = 0;
    if (encoding == NULL || encoding[0] == '\0' || sp__same_letters(encoding, "identity")) return SP_OK;
    if (!sp__same_letters(encoding, "gzip") && !sp__same_letters(encoding, "x-gzip") &&
        !sp__same_letters(encoding, "deflate")) {
        job->fail_status = 415;
        return sp__fail(SP_VALUE,
                        "Content-Encoding '%.32s' is not understood; gzip and deflate are, or send the body as it is",
                        encoding);
    }
    SP_TRY(inflate_all(x->body, x->body_bytes, job->server->o.max_body_bytes, &plain, &bytes, &job->fail_status));
    sp__free(x->body);
    x->body = plain;
    x->body_bytes = bytes;
    return SP_OK;
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

/* Does the client take this encoding? Those with a weight of 0 are named to be left out. */
static bool accepts(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = list; *p != '\0'; p += strcspn(p, ","), p += *p == ',') {
        while (*p == ' ') p++;
        if (!sp__same_letters_n(p, name, n) || (p[n] != '\0' && strchr(" ,;", p[n]) == NULL)) continue;
        const char *q = p + n;
        while (*q == ' ') q++;
        if (*q != ';') return true;
        q = strstr(q, "q=");
        return q == NULL || sp__strtod(q + 2, NULL) > 0;
    }
    return false;
}

void sp__encode_compressed(sp_job *job)
{
    sp_net_reply *r = &job->x->reply;
    const char *list = sp__exchange_header(job->x, "accept-encoding");
    const bool gzip = list != NULL && accepts(list, "gzip");
    int slot = 0;
    while (slot < SP_NET_REPLY_HEADERS && r->headers[slot].name != NULL) slot++;
    if (list == NULL || r->body_bytes < REPLY_BYTES_MIN || r->body_bytes > UINT_MAX / 2 ||
        slot > SP_NET_REPLY_HEADERS - 2 || (!gzip && !accepts(list, "deflate")))
        return;
    z_stream z = {.next_in = r->body, .avail_in = (uInt)r->body_bytes};
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, gzip ? 15 + 16 : 15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return; /* as it is, then */
    const size_t room = deflateBound(&z, (uLong)r->body_bytes);
    uint8_t *out = sp__alloc(room);
    z.next_out = out;
    z.avail_out = (uInt)room;
    const bool done = out != NULL && deflate(&z, Z_FINISH) == Z_STREAM_END;
    const size_t bytes = z.total_out;
    deflateEnd(&z);
    if (!done || bytes >= r->body_bytes) {
        sp__free(out);
        return;
    }
    sp__free(r->body);
    r->body = out;
    r->body_bytes = bytes;
    r->headers[slot] = (sp_net_header){"content-encoding", gzip ? "gzip" : "deflate"};
    r->headers[slot + 1] = (sp_net_header){"vary", "accept-encoding"};
}
