/* SPDX-License-Identifier: Apache-2.0 */
/* reflection.c - gRPC's server reflection: clients like grpcurl ask which services there are and for the descriptors of their messages.
 *
 *   ServerReflectionRequest   1 host  3 file_by_filename  4 file_containing_symbol  5 file_containing_extension  6 all_extension_numbers_of_type  7 list_services
 *   ServerReflectionResponse  1 valid_host  2 original_request  4 file_descriptor_response (1* bytes)  6 list_services_response (1* (1 name))  7 error_response (1 code  2 text) */
#include <string.h>

#include "serve/descriptors.h"
#include "serve/grpc.h"

enum { FIELDS_MAX = 100, NOT_FOUND = 5, INVALID = 3 };

typedef struct question {
    uint32_t kind;
    char host[256], text[512];
} question;

static sp_status read_question(const sp_exchange *x, sp_wire *whole, question *q)
{
    sp_wire w;
    SP_TRY(sp__grpc_open(x, &w));
    *whole = w;
    for (int n = 0; sp__wire_more(&w); n++) {
        uint32_t number;
        int type;
        SP_CHECK(n < FIELDS_MAX, SP_FORMAT, "the message has more than %d fields", FIELDS_MAX);
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_text(&w, "host", type, q->host, sizeof q->host));
        else if (number == 5) {
            sp_wire part;
            SP_TRY(sp__wire_take_bytes(&w, "an extension", type, &part));
            q->kind = number;
        } else if (number >= 3 && number <= 7) {
            SP_TRY(sp__wire_take_text(&w, "what is asked for", type, q->text, sizeof q->text));
            q->kind = number;
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

/* Is it among the symbols of a file, which stand in lines? */
static bool has_symbol(const sp_descriptor *d, const char *symbol)
{
    const size_t n = strlen(symbol);
    for (const char *p = d->symbols; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n')
        if (n > 0 && strncmp(p, symbol, n) == 0 && p[n] == '\n') return true;
    return false;
}

static const sp_descriptor *find(const question *q)
{
    for (int i = 0; i < sp__n_descriptors; i++) {
        const sp_descriptor *d = &sp__descriptors[i];
        if (q->kind == 3 ? strcmp(d->name, q->text) == 0 : q->kind == 4 && has_symbol(d, q->text)) return d;
    }
    return NULL;
}

static sp_status put_services(sp_wire_out *o)
{
    const size_t at = o->bytes;
    for (int i = 0; i < sp__n_descriptors; i++) {
        const size_t inner = o->bytes;
        SP_TRY(sp__grpc_put_text(o, 1, sp__descriptors[i].service));
        SP_TRY(sp__grpc_end_part(o, 1, inner));
    }
    return sp__grpc_end_part(o, 6, at);
}

static sp_status put_error(sp_wire_out *o, uint64_t code, const char *text)
{
    const size_t at = o->bytes;
    SP_TRY(sp__wire_put_number(o, 1, code));
    SP_TRY(sp__grpc_put_text(o, 2, text));
    return sp__grpc_end_part(o, 7, at);
}

sp_status sp__reflection_answer(const sp_exchange *x, sp_wire_out *o)
{
    question q = {0};
    sp_wire whole;
    SP_TRY(read_question(x, &whole, &q));
    SP_TRY(sp__grpc_begin(o));
    SP_TRY(sp__grpc_put_text(o, 1, q.host));
    SP_TRY(sp__grpc_put_bytes(o, 2, whole.at, sp__wire_left(&whole)));
    if (q.kind == 7) return put_services(o);
    if (q.kind == 0) return put_error(o, INVALID, "nothing is asked for");
    const sp_descriptor *d = find(&q);
    if (d == NULL)
        return put_error(o, NOT_FOUND, q.kind < 5 ? "there is no such file or symbol" : "there are no extensions");
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_bytes(o, 1, d->data, d->bytes));
    return sp__grpc_end_part(o, 4, at);
}

bool sp__reflection_route(sp_exchange *x)
{
    sp_wire_out o = {0};
    if (strcmp(x->path, SP_REFLECTION_PATH) != 0 && strcmp(x->path, SP_REFLECTION_OLD_PATH) != 0) return false;
    const sp_status status = sp__reflection_answer(x, &o);
    if (status == SP_OK) sp__grpc_reply(x, &o);
    else {
        sp__wire_out_free(&o);
        sp__grpc_refuse(x, sp__http_status(status), sp_error_message());
    }
    sp__exchange_reply(x);
    return true;
}
