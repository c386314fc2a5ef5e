/* SPDX-License-Identifier: Apache-2.0 */
/* access_log.c - one line for every exchange, when it is over. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "serve/json.h"
#include "serve/serve_impl.h"

static void put_quoted(sp__text *t, const char *key, const char *text)
{
    sp__text_put(t, ",\"%s\":", key);
    sp__json_put_text(t, text, strlen(text));
}

/* A path that cannot be taken for anything else in a line. */
static void plain(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < room; n++)
        out[n] = text[n] > 0x20 && text[n] < 0x7f && text[n] != '"' ? text[n] : '?';
    out[n] = '\0';
}

void sp__log_time(char out[32])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    snprintf(out, 32, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
             parts.tm_hour, parts.tm_min, parts.tm_sec, (int)(now.tv_nsec / 1000000));
}

/* What is known of requests to models, and what the client calls its request. */
static void put_more(sp_server *s, const sp_exchange *x, sp__text *t, bool json)
{
    const sp_entry *e = x->user;
    const char *id = sp__request_id(x), *trace = sp__trace_parent(x);
    char key[64];
    sp__keys_check(s, x, NULL, key);
    if (json) {
        if (e != NULL) put_quoted(t, "model", e->name);
        if (e != NULL) sp__text_put(t, ",\"version\":\"%lld\"", (long long)x->served_version);
        if (x->served_rows > 0)
            sp__text_put(t, ",\"rows\":%lld,\"queue_ms\":%.3f,\"run_ms\":%.3f", (long long)x->served_rows,
                         (double)x->queue_us / 1e3, (double)x->run_us / 1e3);
        if (key[0] != '\0') put_quoted(t, "key", key);
        if (id != NULL) put_quoted(t, "request_id", id);
        if (trace != NULL) put_quoted(t, "traceparent", trace);
        return;
    }
    if (x->served_rows > 0)
        sp__text_put(t, " rows=%lld queue=%.3f run=%.3f", (long long)x->served_rows, (double)x->queue_us / 1e3,
                     (double)x->run_us / 1e3);
    if (key[0] != '\0') sp__text_put(t, " key=%s", key);
    if (id != NULL) sp__text_put(t, " id=%s", id);
    if (trace != NULL) sp__text_put(t, " trace=%s", trace);
}

void sp__server_finished(void *context, const sp_exchange *x)
{
    sp_server *s = context;
    const int status = x->reply.status;
    sp__limits_finished(x);
    if (s->otlp != NULL) sp__otlp_add(s->otlp, x);
    atomic_fetch_add(&s->metrics.responses[status >= 200 && status < 600 && status != 499 ? status / 100 : 0], 1);
    if (s->log == NULL || s->o.no_access) return;
    char when[32];
    sp__log_time(when);
    const double ms = (double)(sp__net_now_us() - x->began_us) / 1e3;
    const int code = x->reply.grpc_status >= 0 ? x->reply.grpc_status : status;
    sp__text t = {0};
    if (s->o.access_json) {
        sp__text_put(&t, "{\"time\":\"%s\"", when);
        put_quoted(&t, "peer", x->peer);
        put_quoted(&t, "method", x->method);
        put_quoted(&t, "path", x->path);
        sp__text_put(&t, ",\"%s\":%d,\"bytes_in\":%zu,\"bytes_out\":%zu,\"ms\":%.3f",
                     x->reply.grpc_status >= 0 ? "grpc_status" : "status", code, x->body_bytes, x->reply.body_bytes,
                     ms);
        put_more(s, x, &t, true);
        sp__text_put(&t, "}");
    } else {
        char path[512];
        plain(x->path, path, sizeof path);
        sp__text_put(&t, "%s %s \"%s %s\" %s%d %zu %zu %.3f ms", when, x->peer, x->method, path,
                     x->reply.grpc_status >= 0 ? "grpc " : "", code, x->body_bytes, x->reply.body_bytes, ms);
        put_more(s, x, &t, false);
    }
    if (!t.failed) sp__server_log(s, SP_LOG_ACCESS, "%s", t.data);
    sp__free(t.data);
}
