/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_health.c - grpc.health.v1.Health: Check, and Watch, which tells about every change.
 *
 * A call of Watch is told the state, and its exchange waits in the server's list until the state is another one. Everything here is on the loop's thread. */
#include <string.h>

#include "serve/grpc.h"

enum { FIELDS_MAX = 100, SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

/* Field 1 of the request is a service; all of them are in the server's own state. Or it is a model. */
static sp_status find_state(sp_server *s, const sp_exchange *x, int *state)
{
    static const char *const services[] = {"", "inference.GRPCInferenceService", "mindspore.serving.proto.MSService",
                                           "grpc.health.v1.Health"};
    sp_wire w;
    char name[256] = "";
    SP_TRY(sp__grpc_open(x, &w));
    for (int n = 0; sp__wire_more(&w); n++) {
        uint32_t number;
        int type;
        SP_CHECK(n < FIELDS_MAX, SP_FORMAT, "the message has more than %d fields", FIELDS_MAX);
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_text(&w, "the service", type, name, sizeof name));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        if (strcmp(name, services[i]) == 0) {
            *state = sp__server_ready(s) ? SERVING : NOT_SERVING;
            return SP_OK;
        }
    sp_entry *e = sp__entry_find(s, name);
    sp_served *m = e != NULL ? sp__entry_take(e, 0) : NULL;
    *state = e == NULL ? SERVICE_UNKNOWN : m != NULL && !sp__server_stopping(s) ? SERVING : NOT_SERVING;
    sp__served_release(m);
    if (*state == SERVICE_UNKNOWN) (void)sp__fail(SP_KEY, "there is no service and no model '%.100s'", name);
    return SP_OK;
}

static void reply(sp_exchange *x, sp_status status, int state, bool more)
{
    sp_wire_out o = {0};
    if (status == SP_OK) status = sp__grpc_begin(&o);
    if (status == SP_OK) status = sp__wire_put_number(&o, 1, (uint64_t)state);
    if (status == SP_OK) {
        sp__grpc_reply(x, &o);
        x->reply.more = more;
    } else {
        sp__wire_out_free(&o);
        sp__grpc_refuse(x, status == SP_KEY ? 404 : sp__http_status(status), sp_error_message());
    }
    sp__exchange_reply(x);
}

/* Answer, or leave it in the list; true: it was answered. */
static bool watch(sp_server *s, sp_exchange *x)
{
    int state = 0;
    const bool gone = atomic_load(&x->peer_state) == SP_PEER_GONE;
    const sp_status status = gone ? SP_OK : find_state(s, x, &state);
    if (!gone && status == SP_OK && state == x->told && !sp__server_stopping(s)) return false;
    const bool last = sp__server_stopping(s) && x->told == state;
    x->told = state;
    if (gone) sp__exchange_reply(x); /* it is dropped */
    else if (last) {
        sp__grpc_refuse(x, 503, "the server is being stopped");
        sp__exchange_reply(x);
    } else reply(x, status, state, true);
    return true;
}

bool sp__health_look(sp_server *s)
{
    sp_exchange **at = &s->health_watchers;
    while (*at != NULL) {
        sp_exchange *x = *at, *next = x->next;
        if (watch(s, x)) *at = next; /* x is the loop's by now */
        else at = &x->next;
    }
    return s->health_watchers != NULL;
}

bool sp__health_route(sp_server *s, sp_exchange *x)
{
    int state = 0;
    if (strcmp(x->path, "/grpc.health.v1.Health/Check") == 0) {
        sp_status status = find_state(s, x, &state);
        if (status == SP_OK && state == SERVICE_UNKNOWN) status = SP_KEY;
        reply(x, status, state, false);
        return true;
    }
    if (strcmp(x->path, SP_HEALTH_WATCH_PATH) != 0) return false;
    if (watch(s, x)) return true;
    x->next = s->health_watchers;
    s->health_watchers = x;
    sp__net_watch(s->net);
    return true;
}
