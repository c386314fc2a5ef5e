/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - which path means what. Runs on the loop's thread: what is cheap is answered at once, requests to models become jobs. */
#include <stdlib.h>
#include <string.h>

#include "serve/grpc.h"
#include "serve/json.h"
#include "serve/servable.h"
#include "serve/triton.h"

void sp__reply_text(sp_exchange *x, int status, const char *type, sp__text *text)
{
    const size_t bytes = text->used;
    char *body = NULL;
    x->reply.status = status;
    x->reply.type = type;
    if (sp__text_take(text, &body) != SP_OK) {
        sp__exchange_starved(x);
        return;
    }
    sp__free(x->reply.body);
    x->reply.body = (uint8_t *)body;
    x->reply.body_bytes = bytes;
}

void sp__reply_error(sp_exchange *x, int status, const char *text)
{
    sp__text t = {0};
    sp__text_put(&t, "{\"error\":");
    sp__json_put_text(&t, text, strlen(text));
    sp__text_put(&t, "}\n");
    sp__reply_text(x, status, "application/json", &t);
    if (status == 503 || status == 429) x->reply.headers[0] = (sp_net_header){"retry-after", "1"};
}

/* --- paths --------------------------------------------------------------------------------------------------------- */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

bool sp__path_decode(const char *from, size_t bytes, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        char c = from[i];
        if (c == '%') {
            if (i + 2 >= bytes || hex(from[i + 1]) < 0 || hex(from[i + 2]) < 0) return false;
            c = (char)(hex(from[i + 1]) << 4 | hex(from[i + 2]));
            i += 2;
        }
        if (c == '\0' || n + 1 >= room) return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

int64_t sp__path_version(const char *text, size_t bytes)
{
    int64_t v = 0;
    if (bytes == 0 || bytes > 18) return -1;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        v = v * 10 + (text[i] - '0');
    }
    return v;
}

int64_t sp__route_version(sp_server *s, const char *name, const char *text, size_t bytes)
{
    char label[64];
    const int64_t number = sp__path_version(text, bytes);
    sp_entry *e = number >= 0 ? NULL : sp__entry_find(s, name);
    if (e == NULL || !sp__path_decode(text, bytes, label, sizeof label)) return number;
    sp__lock(&e->lock);
    const int64_t labelled = sp__settings_label(&e->settings, label);
    sp__unlock(&e->lock);
    return labelled > 0 ? labelled : -1;
}

sp_served *sp__route_model(sp_server *s, const char *name, int64_t version, int *status, char *why, size_t room)
{
    sp_entry *e = sp__entry_find(s, name);
    if (e == NULL) {
        char all[300] = "";
        for (e = sp__entry_first(s); e != NULL && strlen(all) < 200; e = sp__entry_next(e)) {
            strncat(all, all[0] ? ", '" : "'", sizeof all - strlen(all) - 1);
            strncat(all, e->name, 64);
            strncat(all, "'", sizeof all - strlen(all) - 1);
        }
        *status = 404;
        snprintf(why, room, "there is no model '%s'; there %s: %s", name, strchr(all, ',') != NULL ? "are" : "is",
                 all[0] ? all : "none");
        return NULL;
    }
    sp_served *m = sp__entry_take(e, version), *current = m == NULL ? sp__entry_take(e, 0) : NULL;
    if (m != NULL) return m;
    char reason[400];
    sp__entry_unavailable(e, reason);
    *status = current != NULL ? 404 : 503;
    if (current != NULL)
        snprintf(why, room, "model '%s' has no version %lld; version %lld is served", name, (long long)version,
                 (long long)current->version);
    else if (reason[0] != '\0') snprintf(why, room, "model '%s' is not available: %s", name, reason);
    else snprintf(why, room, "model '%s' is not loaded yet", name);
    sp__served_release(current);
    return NULL;
}

/* --- what is answered at once ---------------------------------------------------------------------------------------- */

static void reply_now(sp_exchange *x, int status, const char *type, sp__text *t)
{
    sp__reply_text(x, status, type, t);
    sp__exchange_reply(x);
}

void sp__route_refuse(sp_exchange *x, int status, const char *text)
{
    sp__reply_error(x, status, text);
    sp__exchange_reply(x);
}

static bool wants(sp_exchange *x, const char *method)
{
    if (strcmp(x->method, method) == 0 || (strcmp(method, "GET") == 0 && strcmp(x->method, "HEAD") == 0)) return true;
    x->reply.headers[0] = (sp_net_header){"allow", method};
    sp__text t = {0};
    sp__text_put(&t, "{\"error\":\"this path is asked for with %s\"}\n", method);
    reply_now(x, 405, "application/json", &t);
    return false;
}

/* Requests to models say everything in their bodies; what stands behind a ? would have no effect. */
static bool lacks_query(sp_exchange *x)
{
    if (x->query[0] == '\0') return true;
    sp__route_refuse(x, 400, "the path takes nothing behind a ?; parameters are in the body");
    return false;
}

static void flag(sp_exchange *x, const char *key, bool value)
{
    sp__text t = {0};
    if (!wants(x, "GET")) return;
    sp__text_put(&t, "{\"%s\":%s}\n", key, value ? "true" : "false");
    reply_now(x, value ? 200 : 503, "application/json", &t);
}

/* A member with what `tell` has to say of each model, if it has something to say of any. */
static void put_reasons(sp_server *s, sp__text *t, const char *key, void (*tell)(sp_entry *e, char out[400]))
{
    bool some = false;
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
        char why[400];
        tell(e, why);
        if (why[0] == '\0') continue;
        if (some) sp__text_put(t, ",");
        else sp__text_put(t, ",\"%s\":{", key);
        some = true;
        sp__json_put_text(t, e->name, strlen(e->name));
        sp__text_put(t, ":");
        sp__json_put_text(t, why, strlen(why));
    }
    if (some) sp__text_put(t, "}");
}

/* Ready, and which models run in an older version than they should, or not at all. */
static void reply_ready(sp_server *s, sp_exchange *x)
{
    const bool ready = sp__server_ready(s);
    sp__text t = {0};
    if (!wants(x, "GET")) return;
    sp__text_put(&t, "{\"ready\":%s", ready ? "true" : "false");
    put_reasons(s, &t, "degraded", sp__entry_degraded);
    put_reasons(s, &t, "unavailable", sp__entry_unavailable);
    sp__text_put(&t, "}\n");
    reply_now(x, ready ? 200 : 503, "application/json", &t);
}

static void reply_server(sp_exchange *x)
{
    sp__text t = {0};
    if (!wants(x, "GET")) return;
    sp__text_put(
        &t,
        "{\"name\":\"spore\",\"version\":\"%s\",\"extensions\":[\"binary_tensor_data\",\"classification\",\"model_repository\",\"model_configuration\",\"statistics\",\"trace\",\"logging\",\"system_shared_memory\",\"sequence\",\"schedule_policy\"]}\n",
        sp_version());
    reply_now(x, 200, "application/json", &t);
}

static void reply_models(sp_server *s, sp_exchange *x)
{
    sp__text t = {0};
    if (!wants(x, "GET")) return;
    sp_entry *e = sp__entry_first(s);
    sp__text_put(&t, "{\"models\":[");
    for (bool first = true; e != NULL; e = sp__entry_next(e), first = false) {
        sp_served *m = sp__entry_take(e, 0);
        sp__text_put(&t, first ? "{\"name\":" : ",{\"name\":");
        sp__json_put_text(&t, e->name, strlen(e->name));
        if (m != NULL) sp__text_put(&t, ",\"version\":\"%lld\",\"ready\":true", (long long)m->version);
        else sp__text_put(&t, ",\"ready\":false");
        char why[400];
        sp__entry_degraded(e, why);
        if (why[0] != '\0') {
            sp__text_put(&t, ",\"degraded\":");
            sp__json_put_text(&t, why, strlen(why));
        }
        sp__entry_unavailable(e, why);
        if (why[0] != '\0') {
            sp__text_put(&t, ",\"unavailable\":");
            sp__json_put_text(&t, why, strlen(why));
        }
        sp__text_put(&t, "}");
        sp__served_release(m);
    }
    sp__text_put(&t, "]}\n");
    reply_now(x, 200, "application/json", &t);
}

static void reply_metrics(sp_server *s, sp_exchange *x)
{
    sp__text t = {0};
    if (!wants(x, "GET")) return;
    sp__metrics_write(s, &t);
    reply_now(x, 200, "text/plain; version=0.0.4; charset=utf-8", &t);
}

/* "/v2/models/NAME[/versions/V][/WHAT]", from behind "/v2/models/". */
static void route_kserve_model(sp_server *s, sp_exchange *x, const char *rest)
{
    char name[256], why[600];
    int status = 404;
    int64_t version = 0;
    size_t n = strcspn(rest, "/");
    const char *what = rest + n;
    bool good = sp__path_decode(rest, n, name, sizeof name);
    if (good && strncmp(what, "/versions/", 10) == 0) {
        n = strcspn(what + 10, "/");
        version = good ? sp__route_version(s, name, what + 10, n) : -1;
        what += 10 + n;
        good = version > 0;
    }
    if (!good) {
        sp__route_refuse(x, 400, "the path is not /v2/models/NAME[/versions/NUMBER OR LABEL][/ready or /infer]");
        return;
    }
    const bool ready = strcmp(what, "/ready") == 0, infer = strcmp(what, "/infer") == 0,
               more = strcmp(what, "/config") == 0 || strcmp(what, "/stats") == 0;
    if (strcmp(what, "/trace/setting") == 0 && sp__entry_find(s, name) != NULL) {
        sp__triton_rest_trace(s, x);
        return;
    }
    if (what[0] != '\0' && !ready && !infer && !more) {
        sp__route_refuse(
            x, 404,
            "there is no such path; of a model there are: (nothing), /ready, /infer, /config, /stats, /trace/setting");
        return;
    }
    if (!wants(x, infer ? "POST" : "GET")) return;
    if (infer && !lacks_query(x)) return;
    sp_served *m = sp__route_model(s, name, version, &status, why, sizeof why);
    if (m == NULL) {
        sp__route_refuse(x, status, why);
        return;
    }
    if (more && sp__triton_rest_model_route(s, x, m, what)) return;
    if (infer) {
        sp__job_begin(s, x, m, &sp__protocol_kserve_rest);
        return;
    }
    if (ready) flag(x, "ready", true);
    else {
        sp__text t = {0};
        sp__kserve_metadata(m, &t);
        reply_now(x, 200, "application/json", &t);
    }
    sp__served_release(m);
}

static void reply_v1_models(sp_server *s, sp_exchange *x)
{
    sp__text t = {0};
    if (!wants(x, "GET")) return;
    sp__text_put(&t, "{\"models\":[");
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
        if (t.data[t.used - 1] != '[') sp__text_put(&t, ",");
        sp__json_put_text(&t, e->name, strlen(e->name));
    }
    sp__text_put(&t, "]}\n");
    reply_now(x, 200, "application/json", &t);
}

static void reply_v1_state(sp_server *s, sp_exchange *x, const char *name)
{
    sp__text t = {0};
    char why[600];
    int status = 404;
    sp_entry *e = sp__entry_find(s, name);
    if (!wants(x, "GET")) return;
    if (e != NULL) {
        sp__predict_state(e, &t);
        reply_now(x, 200, "application/json", &t);
        return;
    }
    sp__served_release(sp__route_model(s, name, 0, &status, why, sizeof why));
    sp__route_refuse(x, status, why);
}

/* "/v1/models/NAME[/versions/V or /labels/L][:predict]", from behind "/v1/models/". */
static void route_v1_model(sp_server *s, sp_exchange *x, const char *rest)
{
    char name[256], why[600];
    int status = 404;
    int64_t version = 0;
    const char *colon = strrchr(rest, ':'), *end = colon != NULL ? colon : rest + strlen(rest);
    const size_t n = strcspn(rest, "/:");
    const char *slash = rest[n] == '/' ? rest + n : end;
    bool good = sp__path_decode(rest, n, name, sizeof name);
    const bool numbered = strncmp(slash, "/versions/", 10) == 0, labelled = strncmp(slash, "/labels/", 8) == 0;
    if (good && (numbered || labelled)) {
        const char *from = slash + (numbered ? 10 : 8);
        version = numbered ? sp__path_version(from, (size_t)(end - from))
                           : sp__route_version(s, name, from, (size_t)(end - from));
    } else if (slash != end) good = false;
    if (!good || version < 0 || (colon != NULL && strcmp(colon, ":predict") != 0)) {
        sp__route_refuse(x, 404, "the path is not /v1/models/NAME[/versions/NUMBER or /labels/LABEL][:predict]");
        return;
    }
    if (colon == NULL) {
        reply_v1_state(s, x, name);
        return;
    }
    if (!wants(x, "POST") || !lacks_query(x)) return;
    sp_served *m = sp__route_model(s, name, version, &status, why, sizeof why);
    if (m == NULL) sp__route_refuse(x, status, why);
    else sp__job_begin(s, x, m, &sp__protocol_predict_rest);
}

/* "/model/NAME[/version/V]:METHOD" of MindSpore Serving, from behind "/model/". */
static void route_mindspore(sp_server *s, sp_exchange *x, const char *rest)
{
    char name[256], why[600];
    int status = 404;
    int64_t version = 0;
    const char *colon = strrchr(rest, ':');
    const char *name_end = colon, *mark = colon;
    for (const char *p = rest; colon != NULL && p < colon; p++)
        if (strncmp(p, "/version/", 9) == 0) mark = p;
    if (mark != colon) {
        name_end = mark;
    }
    const bool good = colon != NULL && sp__path_decode(rest, (size_t)(name_end - rest), name, sizeof name);
    if (good && mark != colon) version = sp__route_version(s, name, mark + 9, (size_t)(colon - mark - 9));
    if (!good || version < 0) {
        sp__route_refuse(x, 400, "the path is not /model/NAME[/version/NUMBER]:METHOD");
        return;
    }
    if (!wants(x, "POST") || !lacks_query(x)) return;
    if (sp__servable_find(s, name, 0) != NULL) {
        char method[256];
        sp_servable *v = sp__servable_find(s, name, version);
        snprintf(why, sizeof why, "servable is not available: '%s' has no version %lld", name, (long long)version);
        if (v == NULL) sp__route_refuse(x, 404, why);
        else if (!sp__path_decode(colon + 1, strlen(colon + 1), method, sizeof method))
            sp__route_refuse(x, 400, "the path is not /model/NAME[/version/NUMBER]:METHOD");
        else sp__servable_call(v, x, method, false);
        return;
    }
    if (strcmp(colon + 1, "predict") != 0) {
        snprintf(why, sizeof why, "method '%.64s' is not available; a model has one, predict", colon + 1);
        sp__route_refuse(x, 404, why);
        return;
    }
    sp_served *m = sp__route_model(s, name, version, &status, why, sizeof why);
    if (m == NULL) sp__route_refuse(x, status, why);
    else sp__job_begin(s, x, m, &sp__protocol_mindspore_rest);
}

static void route_grpc(sp_server *s, sp_exchange *x)
{
    const bool web = strncmp(sp__exchange_header(x, "content-type"), "application/grpc-web", 20) == 0;
    if (x->version != 20 && !web)
        sp__route_refuse(
            x, 400, "gRPC is spoken over HTTP/2 alone; over HTTP/1.1 there is gRPC-Web (application/grpc-web+proto)");
    else if (x->version == 20 && web) sp__route_refuse(x, 400, "gRPC-Web is spoken over HTTP/1.1 alone");
    else if (sp__grpc_stays_open(x->path) && x->part_of == NULL) {
        sp__grpc_refuse(x, 501, "calls that stay open are spoken over HTTP/2 alone");
        sp__exchange_reply(x);
    } else if (!sp__kserve_grpc_route(s, x) && !sp__mindspore_grpc_route(s, x) && !sp__health_route(s, x) &&
               !sp__reflection_route(x)) {
        sp__grpc_refuse(
            x, 501,
            "there is no such service; there are: inference.GRPCInferenceService, mindspore.serving.proto.MSService, grpc.health.v1.Health, grpc.reflection.v1.ServerReflection");
        sp__exchange_reply(x);
    }
}

void sp__server_route(void *context, sp_exchange *x)
{
    sp_server *s = context;
    const char *p = x->path, *type = sp__exchange_header(x, "content-type");
    if (sp__cors_preflight(s, x)) return;
    if (!sp__keys_let_in(s, x)) {
        sp__exchange_refuse(x, 401, "a key is wanted: Authorization: Bearer KEY, or X-API-Key: KEY");
        if (x->reply.grpc_status < 0) x->reply.headers[0] = (sp_net_header){"www-authenticate", "Bearer"};
        sp__exchange_reply(x);
        return;
    }
    if (!sp__limits_let_in(s, x)) return;
    if (type != NULL && strncmp(type, "application/grpc", 16) == 0) route_grpc(s, x);
    else if (sp__triton_rest_route(s, x)) return;
    else if (strncmp(p, "/v2/models/", 11) == 0) route_kserve_model(s, x, p + 11);
    else if (strcmp(p, "/v2/models") == 0) reply_models(s, x);
    else if (strcmp(p, "/") == 0) {
        if (wants(x, "GET")) sp__route_page(x);
    } else if (strcmp(p, "/v2/health/live") == 0) flag(x, "live", true);
    else if (strcmp(p, "/v2/health/ready") == 0) reply_ready(s, x);
    else if (strcmp(p, "/v2") == 0 || strcmp(p, "/v2/") == 0) reply_server(x);
    else if (strcmp(p, "/metrics") == 0) reply_metrics(s, x);
    else if (strcmp(p, "/v1/models") == 0) reply_v1_models(s, x);
    else if (strncmp(p, "/v1/models/", 11) == 0) route_v1_model(s, x, p + 11);
    else if (strcmp(p, "/openapi.json") == 0) {
        if (wants(x, "GET")) sp__route_openapi(x);
    } else if (strncmp(p, "/model/", 7) == 0) route_mindspore(s, x, p + 7);
    else
        sp__route_refuse(
            x, 404,
            "there is no such path; try /v2, /v2/health/ready, /v2/models, /v2/models/NAME, /v1/models/NAME:predict, /model/NAME:predict, /openapi.json, /metrics");
}
