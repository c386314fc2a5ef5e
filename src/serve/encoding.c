/* SPDX-License-Identifier: Apache-2.0 */
/* encoding.c - bodies of requests and replies that are compressed: gzip, deflate and zstd; messages of gRPC with gzip and deflate. */
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/plain.h"
#include "serve/decode.h"
#include "serve/grpc.h"
#include "serve/zstd.h"

enum { REPLY_BYTES_MIN = 1400 }; /* smaller ones fit a packet as they are */

static sp_status too_large(size_t most, int *status)
{
    *status = 413;
    return sp__fail(
        SP_VALUE,
        "the request's body has more than the %zu bytes that are allowed (--max-body) when it is decompressed", most);
}

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
    if (total > most) result = too_large(most, status);
    else if (code != Z_STREAM_END || z.avail_in > 0)
        result = sp__fail(SP_VALUE, "the request's body is not what its Content-Encoding says, or is cut");
    if (result != SP_OK) sp__free(all);
    else {
        *out = all;
        *out_bytes = total;
    }
    return result;
}

static bool is_zlib(const char *encoding)
{
    return sp__same_letters(encoding, "gzip") || sp__same_letters(encoding, "x-gzip") ||
           sp__same_letters(encoding, "deflate");
}

static sp_status unknown(const char *header, const char *encoding, const char *known, int *status)
{
    *status = 415;
    return sp__fail(SP_VALUE, "%s '%.32s' is not understood; %s are, or send the body as it is", header, encoding,
                    known);
}

static sp_status unzstd(const uint8_t *data, size_t bytes, size_t most, uint8_t **out, size_t *out_bytes, int *status)
{
    bool large = false;
    if (!sp__zstd_there())
        return unknown("Content-Encoding", "zstd", "gzip and deflate (libzstd is not installed)", status);
    SP_TRY(sp__zstd_unpack(data, bytes, most, out, out_bytes, &large));
    return large ? too_large(most, status) : SP_OK;
}

sp_status sp__decode_encoding(sp_job *job)
{
    sp_exchange *x = job->x;
    const char *encoding = sp__exchange_header(x, "content-encoding");
    const size_t most = job->server->o.max_body_bytes;
    uint8_t *plain = NULL;
    size_t bytes = 0;
    if (encoding == NULL || encoding[0] == '\0' || sp__same_letters(encoding, "identity")) return SP_OK;
    if (is_zlib(encoding)) SP_TRY(inflate_all(x->body, x->body_bytes, most, &plain, &bytes, &job->fail_status));
    else if (sp__same_letters(encoding, "zstd"))
        SP_TRY(unzstd(x->body, x->body_bytes, most, &plain, &bytes, &job->fail_status));
    else return unknown("Content-Encoding", encoding, "gzip, deflate and zstd", &job->fail_status);
    sp__free(x->body);
    x->body = plain;
    x->body_bytes = bytes;
    return SP_OK;
}

static bool is_compressed_message(const sp_exchange *x)
{
    const char *encoding = sp__exchange_header(x, "grpc-encoding");
    return x->body_bytes >= SP_GRPC_PREFIX && x->body[0] == 1 && encoding != NULL && is_zlib(encoding);
}

sp_status sp__grpc_peek(const sp_exchange *x, uint8_t *out, size_t room, size_t *n)
{
    *n = 0;
    if (!is_compressed_message(x)) return SP_OK;
    const size_t bytes = x->body_bytes - SP_GRPC_PREFIX;
    z_stream z = {.next_in = x->body + SP_GRPC_PREFIX,
                  .avail_in = bytes > UINT_MAX ? UINT_MAX : (uInt)bytes,
                  .next_out = out,
                  .avail_out = (uInt)room};
    SP_TRY(sp__grpc_length(x));
    if (inflateInit2(&z, 15 + 32) != Z_OK) return SP_NOMEM;
    const int code = inflate(&z, Z_SYNC_FLUSH);
    *n = z.total_out;
    inflateEnd(&z);
    SP_CHECK((code == Z_OK || code == Z_STREAM_END) && *n > 0, SP_VALUE,
             "the message is not what its grpc-encoding says, or is empty");
    return SP_OK;
}

sp_status sp__grpc_decode(sp_job *job)
{
    sp_exchange *x = job->x;
    uint8_t *plain = NULL;
    size_t bytes = 0;
    if (!is_compressed_message(x)) return SP_OK;
    SP_TRY(sp__grpc_length(x));
    SP_TRY(inflate_all(x->body + SP_GRPC_PREFIX, x->body_bytes - SP_GRPC_PREFIX, job->server->o.max_body_bytes, &plain,
                       &bytes, &job->fail_status));
    uint8_t *all = bytes <= UINT32_MAX ? sp__realloc(plain, bytes, bytes + SP_GRPC_PREFIX) : NULL;
    if (all == NULL) {
        sp__free(plain);
        return SP_NOMEM;
    }
    memmove(all + SP_GRPC_PREFIX, all, bytes);
    all[0] = 0;
    for (int i = 0; i < 4; i++) all[1 + i] = (uint8_t)(bytes >> (24 - 8 * i));
    sp__free(x->body);
    x->body = all;
    x->body_bytes = bytes + SP_GRPC_PREFIX;
    return SP_OK;
}

/* --- replies ------------------------------------------------------------------------------------------------------- */

/* How much the client wants this encoding: its weight, 0 where it is not named. */
static double weight(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = list; *p != '\0'; p += strcspn(p, ","), p += *p == ',') {
        while (*p == ' ') p++;
        if (!sp__same_letters_n(p, name, n) || (p[n] != '\0' && strchr(" ,;", p[n]) == NULL)) continue;
        const char *q = p + n, *end = p + strcspn(p, ",");
        while (q < end && *q != '=') q++;
        return q < end ? sp__strtod(q + 1, NULL) : 1;
    }
    return 0;
}

static uint8_t *deflate_all(const uint8_t *data, size_t bytes, bool gzip, size_t *out_bytes)
{
    z_stream z = {.next_in = (Bytef *)data, .avail_in = (uInt)bytes};
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, gzip ? 15 + 16 : 15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return NULL;
    const size_t room = deflateBound(&z, (uLong)bytes);
    uint8_t *out = sp__alloc(room);
    z.next_out = out;
    z.avail_out = (uInt)room;
    const bool done = out != NULL && deflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out < bytes;
    *out_bytes = z.total_out;
    deflateEnd(&z);
    if (done) return out;
    sp__free(out);
    return NULL;
}

/* The encoding that the client wants most; of equal ones the first. NULL: none of ours. */
static const char *choose(const char *list)
{
    static const char *const names[] = {"zstd", "gzip", "deflate"};
    const char *best = NULL;
    double most = 0;
    for (int i = 0; i < 3; i++) {
        const double w = weight(list, names[i]);
        if (w <= most || (i == 0 && !sp__zstd_there())) continue;
        most = w;
        best = names[i];
    }
    return best;
}

void sp__encode_compressed(sp_job *job)
{
    sp_net_reply *r = &job->x->reply;
    const char *list = sp__exchange_header(job->x, "accept-encoding");
    int slot = 0;
    while (slot < SP_NET_REPLY_HEADERS && r->headers[slot].name != NULL) slot++;
    if (list == NULL || r->body_bytes < REPLY_BYTES_MIN || r->body_bytes > UINT_MAX / 2 ||
        slot > SP_NET_REPLY_HEADERS - 2)
        return;
    const char *name = choose(list);
    size_t bytes = 0;
    if (name == NULL) return;
    uint8_t *out = name[0] == 'z' ? sp__zstd_pack(r->body, r->body_bytes, &bytes)
                                  : deflate_all(r->body, r->body_bytes, name[0] == 'g', &bytes);
    if (out == NULL) return; /* as it is, then */
    sp__free(r->body);
    r->body = out;
    r->body_bytes = bytes;
    r->headers[slot] = (sp_net_header){"content-encoding", name};
    r->headers[slot + 1] = (sp_net_header){"vary", "accept-encoding"};
}
