/* SPDX-License-Identifier: Apache-2.0 */
/* grpc.c - gRPC's framing, and what its services share. */
#include <stdio.h>
#include <string.h>

#include "formats/bundle.h"
#include "serve/decode.h"
#include "serve/grpc.h"

sp_status sp__grpc_length(const sp_exchange *x)
{
    const uint8_t *b = x->body;
    SP_CHECK(x->body_bytes >= SP_GRPC_PREFIX, SP_FORMAT, "the request has no message");
    const uint32_t bytes = (uint32_t)b[1] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 8 | b[4];
    SP_CHECK(bytes == x->body_bytes - SP_GRPC_PREFIX, SP_FORMAT,
             "the message says that it has %u bytes, but %zu follow", bytes, x->body_bytes - SP_GRPC_PREFIX);
    return SP_OK;
}

sp_status sp__grpc_open(const sp_exchange *x, sp_wire *message)
{
    const char *encoding = sp__exchange_header(x, "grpc-encoding");
    SP_CHECK(
        x->body_bytes < SP_GRPC_PREFIX || x->body[0] == 0, SP_DECLINED,
        "the message is compressed (grpc-encoding '%.32s'); requests to models may be, with gzip or deflate; send it as it is",
        encoding != NULL ? encoding : "identity");
    SP_TRY(sp__grpc_length(x));
    *message = sp__wire_open(x->body + SP_GRPC_PREFIX, x->body_bytes - SP_GRPC_PREFIX);
    return SP_OK;
}

sp_status sp__grpc_begin(sp_wire_out *o) { return sp__wire_put(o, "\0\0\0\0", SP_GRPC_PREFIX); }

bool sp__grpc_stays_open(const char *path)
{
    static const char *const paths[] = {SP_STREAM_INFER_PATH, SP_HEALTH_WATCH_PATH, SP_REFLECTION_PATH,
                                        SP_REFLECTION_OLD_PATH};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(path, paths[i]) == 0) return true;
    return false;
}

void sp__grpc_reply(sp_exchange *x, sp_wire_out *take_message)
{
    const size_t bytes = take_message->bytes - SP_GRPC_PREFIX;
    if (bytes > UINT32_MAX) {
        sp__wire_out_free(take_message);
        sp__grpc_refuse(x, 500, "the reply has more than 4 GB");
        return;
    }
    for (int i = 0; i < 4; i++) take_message->data[1 + i] = (uint8_t)(bytes >> (24 - 8 * i));
    sp__free(x->reply.body); /* room that was kept for an error */
    x->reply = (sp_net_reply){.status = 200,
                              .type = "application/grpc",
                              .body = take_message->data,
                              .body_bytes = take_message->bytes,
                              .grpc_status = 0};
    *take_message = (sp_wire_out){0};
}

void sp__grpc_refuse(sp_exchange *x, int http_status, const char *text)
{
    sp__free(x->reply.body);
    x->reply = (sp_net_reply){.status = 200,
                              .type = "application/grpc",
                              .grpc_status = sp__net_grpc_status(http_status),
                              .grpc_message = sp__strdup(text)};
}

/* "250m": digits and a unit. */
sp_status sp__grpc_timeout(sp_job *job)
{
    static const char units[] = "HMSmun";
    static const double us[] = {3.6e9, 6e7, 1e6, 1e3, 1, 1e-3};
    const char *text = sp__exchange_header(job->x, "grpc-timeout");
    const size_t digits = text != NULL ? strspn(text, "0123456789") : 0;
    double v = 0;
    if (text == NULL) return SP_OK;
    const char *unit = digits > 0 && digits <= 8 && text[digits] != '\0' && text[digits + 1] == '\0'
                           ? strchr(units, text[digits])
                           : NULL;
    SP_CHECK(unit != NULL, SP_VALUE, "grpc-timeout is '%.32s'; it must be up to 8 digits and one of %s", text, units);
    for (size_t i = 0; i < digits; i++) v = v * 10 + (text[i] - '0');
    v *= us[unit - units];
    sp__decode_timeout(job, v < 1 ? 1 : (int64_t)v);
    return SP_OK;
}

/* --- fields -------------------------------------------------------------------------------------------------------- */

sp_status sp__grpc_put_bytes(sp_wire_out *o, uint32_t number, const void *data, size_t bytes)
{
    SP_TRY(sp__wire_put_head(o, number, bytes));
    return bytes > 0 ? sp__wire_put(o, data, bytes) : SP_OK;
}

sp_status sp__grpc_put_text(sp_wire_out *o, uint32_t number, const char *text)
{
    return text[0] ? sp__grpc_put_bytes(o, number, text, strlen(text)) : SP_OK;
}

sp_status sp__grpc_put_message(sp_wire_out *o, uint32_t number, sp_wire_out *take_contents)
{
    sp_status status = sp__grpc_put_bytes(o, number, take_contents->data, take_contents->bytes);
    sp__wire_out_free(take_contents);
    *take_contents = (sp_wire_out){0};
    return status;
}

sp_status sp__grpc_end_part(sp_wire_out *o, uint32_t number, size_t at)
{
    uint8_t head[24];
    const size_t bytes = o->bytes - at;
    SP_TRY(sp__wire_put_head(o, number, bytes)); /* behind it at first */
    const size_t n = o->bytes - at - bytes;
    memcpy(head, o->data + at + bytes, n);
    memmove(o->data + at + n, o->data + at, bytes);
    memcpy(o->data + at, head, n);
    return SP_OK;
}

sp_status sp__grpc_put_dims(sp_wire_out *o, uint32_t number, int rank, const int64_t *dims)
{
    uint64_t bytes = 0;
    if (rank <= 0) return SP_OK;
    for (int k = 0; k < rank; k++) bytes += sp__wire_varint_bytes((uint64_t)dims[k]);
    SP_TRY(sp__wire_put_head(o, number, bytes));
    for (int k = 0; k < rank; k++) SP_TRY(sp__wire_put_varint(o, (uint64_t)dims[k]));
    return SP_OK;
}

sp_status sp__grpc_read_dims(sp_wire *w, int type, int64_t *rank, int64_t *dims)
{
    sp_wire packed = *w;
    uint64_t v;
    if (type == SP_WIRE_BYTES) SP_TRY(sp__wire_bytes(w, &packed));
    else {
        SP_TRY(sp__wire_take_number(w, "shape", type, &v));
        if (*rank < SP_RANK_MAX) dims[*rank] = (int64_t)v;
        ++*rank;
        return SP_OK;
    }
    for (; sp__wire_more(&packed); ++*rank) {
        SP_TRY(sp__wire_varint(&packed, &v));
        if (*rank < SP_RANK_MAX) dims[*rank] = (int64_t)v;
    }
    return SP_OK;
}

sp_status sp__grpc_read_text(sp_wire *w, const char *what, int type, sp__arena *a, const char **out)
{
    sp_wire text = *w;
    SP_TRY(sp__wire_take_bytes(w, what, type, &text));
    const size_t n = sp__wire_left(&text);
    SP_CHECK(memchr(text.at, 0, n) == NULL && sp__utf8_valid((const char *)text.at, n) == n, SP_FORMAT,
             "byte %zu: %s is no text", sp__wire_offset(&text), what);
    char *copy = sp__arena_alloc(a, n + 1);
    if (copy == NULL) return SP_NOMEM;
    memcpy(copy, text.at, n);
    *out = copy;
    return SP_OK;
}

sp_status sp__grpc_read_entry(sp_wire w, const char *what, sp__arena *a, const char **key, sp_wire *value)
{
    *key = "";
    *value = (sp_wire){0};
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__grpc_read_text(&w, what, type, a, key));
        else if (number == 2) SP_TRY(sp__wire_take_bytes(&w, what, type, value));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}
