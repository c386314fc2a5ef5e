/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - how much one client may ask for: requests a second (--client-rate) and at once (--client-requests). A client is the name of its key or, without keys, its
 * address. Everything here is on the loop's thread.
 *
 * A bucket holds up to a second's tokens (one at least), and gets rate of them a second; a request takes one. Clients that are known no longer than that are forgotten when
 * others need the room: their bucket would be full again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "serve/serve_impl.h"

enum { CLIENTS_MAX = 8192, PROBES = 16 };

struct sp_client {
    char name[64]; /* "": free */
    int at_once;
    double tokens;
    int64_t seen_us;
};

sp_status sp__limits_open(sp_server *s)
{
    if (s->o.client_rate <= 0 && s->o.client_requests <= 0) return SP_OK;
    s->clients = sp__alloc_zero(CLIENTS_MAX * sizeof *s->clients);
    return s->clients != NULL ? SP_OK : SP_NOMEM;
}

static void name_of(sp_server *s, const sp_exchange *x, char name[64])
{
    sp__keys_check(s, x, NULL, name);
    if (name[0] != '\0') return;
    snprintf(name, 64, "%s", x->peer);
    char *colon = strrchr(name, ':'); /* the port */
    if (colon != NULL) *colon = '\0';
    if (name[0] == '\0') snprintf(name, 64, "local");
}

static double burst(const sp_server *s) { return s->o.client_rate > 1 ? s->o.client_rate : 1; }

static void refill(const sp_server *s, sp_client *c, int64_t now)
{
    c->tokens = fmin(burst(s), c->tokens + (double)(now - c->seen_us) / 1e6 * s->o.client_rate);
    c->seen_us = now;
}

/* Nothing would be lost if it were forgotten. */
static bool idle(const sp_server *s, const sp_client *c, int64_t now)
{
    return c->name[0] == '\0' ||
           (c->at_once == 0 && c->tokens + (double)(now - c->seen_us) / 1e6 * s->o.client_rate >= burst(s));
}

/* NULL: there is no room; then it is let in, as a limit is there to keep the server for the others. */
static sp_client *find(sp_server *s, const char *name, int64_t now)
{
    uint64_t hash = 1469598103934665603u;
    sp_client *free_one = NULL;
    for (const char *p = name; *p != '\0'; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    for (int k = 0; k < PROBES; k++) {
        sp_client *c = &s->clients[(hash + (uint64_t)k) % CLIENTS_MAX];
        if (strcmp(c->name, name) == 0) return c;
        if (free_one == NULL && idle(s, c, now)) free_one = c;
    }
    if (free_one == NULL) return NULL;
    *free_one = (sp_client){.tokens = burst(s), .seen_us = now};
    snprintf(free_one->name, sizeof free_one->name, "%s", name);
    return free_one;
}

bool sp__limits_let_in(sp_server *s, sp_exchange *x)
{
    char name[64], text[160];
    double wait = 1;
    if (s->clients == NULL || strncmp(x->path, "/v2/health/", 11) == 0 || strncmp(x->path, "/grpc.health.", 13) == 0 ||
        x->client != NULL)
        return true;
    const int64_t now = sp__net_now_us();
    name_of(s, x, name);
    sp_client *c = find(s, name, now);
    if (c == NULL) return true;
    refill(s, c, now);
    if (s->o.client_requests > 0 && c->at_once >= s->o.client_requests)
        snprintf(text, sizeof text, "%d requests of this client are under way, which is the limit (--client-requests)",
                 c->at_once);
    else if (s->o.client_rate > 0 && c->tokens < 1) {
        wait = ceil((1 - c->tokens) / s->o.client_rate);
        sp__snprintf(text, sizeof text,
                     "this client asks more often than %g times a second, which is the limit (--client-rate)",
                     s->o.client_rate);
    } else {
        c->tokens -= 1;
        c->at_once++;
        x->client = c;
        return true;
    }
    atomic_fetch_add(&s->metrics.limited, 1);
    sp__exchange_refuse(x, 429, text);
    if (x->reply.grpc_status < 0) {
        snprintf(x->reply.values[0], sizeof x->reply.values[0], "%lld", (long long)wait);
        x->reply.headers[0] = (sp_net_header){"retry-after", x->reply.values[0]};
    }
    sp__exchange_reply(x);
    return false;
}

void sp__limits_finished(const sp_exchange *x)
{
    sp_client *c = x->client;
    if (c != NULL && c->at_once > 0) c->at_once--;
}
