/* SPDX-License-Identifier: Apache-2.0 */
/* triton_rest.c - Triton's extensions over REST: /v2/repository, /v2/models/NAME/config and /stats, /v2/trace/setting, /v2/logging, shared memory. */
#include <stdio.h>
#include <string.h>

#include "serve/regions.h"
#include "serve/triton.h"

static bool is(const sp_exchange *x, const char *method)
{
    return strcmp(x->method, method) == 0 || (strcmp(method, "GET") == 0 && strcmp(x->method, "HEAD") == 0);
}

static void reply(sp_exchange *x, sp__text *t)
{
    sp__reply_text(x, 200, "application/json", t);
    sp__exchange_reply(x);
}

static bool wants(sp_exchange *x, const char *method)
{
    char text[80];
    if (is(x, method)) return true;
    snprintf(text, sizeof text, "this path is asked for with %s", method);
    sp__route_refuse(x, 405, text);
    return false;
}

/* --- the repository -------------------------------------------------------------------------------------------------- */

static void put_line(void *context, const char *name, const char *version, const char *state, const char *reason)
{
    sp__text *t = context;
    sp__text_put(t, t->used > 1 ? ",{\"name\":" : "{\"name\":");
    sp__json_put_text(t, name, strlen(name));
    if (version[0] != '\0') sp__text_put(t, ",\"version\":\"%s\"", version);
    sp__text_put(t, ",\"state\":\"%s\"", state);
    if (reason[0] != '\0') {
        sp__text_put(t, ",\"reason\":");
        sp__json_put_text(t, reason, strlen(reason));
    }
    sp__text_put(t, "}");
}

/* {"ready": true}, or nothing. */
static sp_status read_ready(const sp_exchange *x, bool *ready)
{
    sp__arena arena = {0};
    sp_json j = sp__json_open(x->body, x->body_bytes);
    const char *key;
    sp_status status = SP_OK;
    *ready = false;
    if (x->body_bytes == 0) return SP_OK;
    for (bool more = false; (status = sp__json_member(&j, &arena, &more, &key)) == SP_OK && more && status == SP_OK;) {
        if (strcmp(key, "ready") == 0) status = sp__json_bool(&j, ready);
        else status = sp__json_fail(&j, "'%.64s' is not known; the request has: ready", key);
        if (status != SP_OK) break;
    }
    if (status == SP_OK) status = sp__json_end(&j);
    sp__arena_free(&arena);
    return status;
}

static void index_models(sp_server *s, sp_exchange *x)
{
    sp__text t = {0};
    bool ready;
    if (!wants(x, "POST")) return;
    if (read_ready(x, &ready) != SP_OK) {
        sp__route_refuse(x, 400, sp_error_message());
        return;
    }
    sp__text_put(&t, "[");
    sp__repository_index(s, ready, put_line, &t);
    sp__text_put(&t, "]\n");
    reply(x, &t);
}

/* A load's configuration, in the arena. Files are the operator's, and are not taken from requests. */
static sp_status read_order(const sp_exchange *x, bool load, sp__arena *arena, const char **config)
{
    sp_json j = sp__json_open(x->body, x->body_bytes);
    const char *key, *name;
    sp_status status = SP_OK;
    for (bool more = false; x->body_bytes > 0 && (status = sp__json_member(&j, arena, &more, &key)) == SP_OK && more;) {
        if (strcmp(key, "parameters") != 0) {
            status = sp__json_fail(&j, "'%.64s' is not known; the request has: parameters", key);
            break;
        }
        for (bool inner = false; (status = sp__json_member(&j, arena, &inner, &name)) == SP_OK && inner;) {
            bool flag = true;
            if (!load && strcmp(name, "unload_dependents") == 0) status = sp__json_bool(&j, &flag); /* there are none */
            else if (load && strcmp(name, "config") == 0) status = sp__json_text(&j, arena, config, NULL);
            else
                status = sp__json_fail(
                    &j, "parameter '%.64s' is not done: clients name no files; those are the server's", name);
            if (status != SP_OK) break;
        }
        if (status != SP_OK) break;
    }
    return status;
}

/* "models/NAME/load" */
static void order(sp_server *s, sp_exchange *x, const char *rest)
{
    char name[256];
    const char *slash = strrchr(rest, '/');
    const bool load = slash != NULL && strcmp(slash, "/load") == 0,
               unload = slash != NULL && strcmp(slash, "/unload") == 0;
    if ((!load && !unload) || !sp__path_decode(rest, (size_t)(slash - rest), name, sizeof name)) {
        sp__route_refuse(
            x, 404,
            "there is no such path; there are /v2/repository/index and /v2/repository/models/NAME/load or /unload");
        return;
    }
    if (!wants(x, "POST")) return;
    sp__arena arena = {0};
    const char *config = NULL;
    if (read_order(x, load, &arena, &config) != SP_OK) sp__route_refuse(x, 400, sp_error_message());
    else sp__repository_order(s, x, name, config, load, false);
    sp__arena_free(&arena);
}

/* --- statistics ------------------------------------------------------------------------------------------------------- */

static void all_statistics(sp_server *s, sp_exchange *x)
{
    sp__text t = {0};
    bool some = false;
    if (!wants(x, "GET")) return;
    sp__text_put(&t, "{\"model_stats\":[");
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
        int64_t versions[SP_SERVE_VERSIONS_MAX];
        const int n = sp__entry_versions(e, versions);
        for (int i = 0; i < n; i++) {
            sp_served *m = sp__entry_take(e, versions[i]);
            if (m == NULL) continue;
            if (some) sp__text_put(&t, ",");
            some = true;
            sp__statistics_json(m, &t);
            sp__served_release(m);
        }
    }
    sp__text_put(&t, "]}\n");
    reply(x, &t);
}

bool sp__triton_rest_model_route(sp_server *s, sp_exchange *x, sp_served *take_model, const char *what)
{
    sp__text t = {0};
    (void)s;
    const bool config = strcmp(what, "/config") == 0;
    if (!config && strcmp(what, "/stats") != 0) return false;
    if (wants(x, "GET")) {
        if (!config) sp__text_put(&t, "{\"model_stats\":[");
        if (config) sp__model_config_json(take_model, &t);
        else sp__statistics_json(take_model, &t);
        if (!config) sp__text_put(&t, "]}\n");
        reply(x, &t);
    }
    sp__served_release(take_model);
    return true;
}

/* --- settings --------------------------------------------------------------------------------------------------------- */

/* A value of a setting as a text: a text, a number, true or false, or the first of a list. "" for null. */
static sp_status read_setting(sp_json *j, sp__arena *a, char out[64])
{
    sp_status status = SP_OK;
    const char kind = sp__json_peek(j);
    out[0] = '\0';
    if (kind == '[') {
        bool first = true;
        for (bool more = false; (status = sp__json_each(j, '[', &more)) == SP_OK && more; first = false) {
            char inner[64];
            SP_TRY(read_setting(j, a, inner));
            if (first) memcpy(out, inner, sizeof inner);
        }
        return status;
    }
    if (kind == '"') {
        const char *text;
        SP_TRY(sp__json_text(j, a, &text, NULL));
        snprintf(out, 64, "%s", text);
        return SP_OK;
    }
    const char *from = j->at;
    SP_TRY(sp__json_skip(j));
    if (kind != 'n') snprintf(out, 64, "%.*s", (int)(j->at - from), from);
    return SP_OK;
}

static sp_status change_settings(sp_server *s, const sp_exchange *x,
                                 sp_status (*set)(sp_server *s, const char *key, const char *value))
{
    sp__arena arena = {0};
    sp_json j = sp__json_open(x->body, x->body_bytes);
    const char *key;
    char value[64];
    sp_status status = SP_OK;
    for (bool more = false; (status = sp__json_member(&j, &arena, &more, &key)) == SP_OK && more;) {
        status = read_setting(&j, &arena, value);
        if (status == SP_OK) status = set(s, key, value);
        if (status != SP_OK) break;
    }
    if (status == SP_OK) status = sp__json_end(&j);
    sp__arena_free(&arena);
    return status;
}

sp_status sp__trace_set(sp_server *s, const char *key, const char *value)
{
    static const char *const keys[] = {"trace_level", "trace_file",    "trace_rate",
                                       "trace_count", "log_frequency", "trace_mode"};
    size_t i = 0;
    (void)s;
    while (i < sizeof keys / sizeof *keys && strcmp(key, keys[i]) != 0) i++;
    SP_CHECK(i < sizeof keys / sizeof *keys, SP_KEY, "'%.64s' is no setting of tracing", key);
    SP_CHECK(value[0] == '\0' || (i == 0 && strcmp(value, "OFF") == 0), SP_DECLINED,
             "%s cannot be '%.64s': requests are not traced here; trace_level is OFF", key, value);
    return SP_OK;
}

sp_status sp__log_set(sp_server *s, const char *key, const char *value)
{
    const bool info = strcmp(key, "log_info") == 0, error = strcmp(key, "log_error") == 0;
    const bool yes = strcmp(value, "true") == 0, no = strcmp(value, "false") == 0;
    if (info || error) {
        SP_CHECK(yes || no, SP_VALUE, "%s is '%.64s', it must be true or false", key, value);
        atomic_store(info ? &s->log_info : &s->log_error, yes);
        return SP_OK;
    }
    const char *fixed = strcmp(key, "log_warning") == 0         ? "true"
                        : strcmp(key, "log_verbose_level") == 0 ? "0"
                        : strcmp(key, "log_format") == 0        ? "default"
                        : strcmp(key, "log_file") == 0          ? ""
                                                                : NULL;
    SP_CHECK(fixed != NULL, SP_KEY, "'%.64s' is no setting of the log", key);
    SP_CHECK(strcmp(value, fixed) == 0, SP_DECLINED, "%s cannot be '%.64s', it is '%s' here", key, value, fixed);
    return SP_OK;
}

static void put_trace(sp_server *s, sp__text *t)
{
    (void)s;
    sp__text_put(
        t,
        "{\"trace_level\":[\"OFF\"],\"trace_rate\":\"1000\",\"trace_count\":\"-1\",\"log_frequency\":\"0\",\"trace_file\":\"\",\"trace_mode\":\"triton\"}\n");
}

static void put_log(sp_server *s, sp__text *t)
{
    sp__text_put(
        t,
        "{\"log_file\":\"\",\"log_info\":%s,\"log_warning\":true,\"log_error\":%s,\"log_verbose_level\":0,\"log_format\":\"default\"}\n",
        atomic_load(&s->log_info) ? "true" : "false", atomic_load(&s->log_error) ? "true" : "false");
}

/* GET shows, POST changes and shows. */
static void settings(sp_server *s, sp_exchange *x, void (*put)(sp_server *s, sp__text *t),
                     sp_status (*set)(sp_server *s, const char *key, const char *value))
{
    sp__text t = {0};
    if (is(x, "POST")) {
        const char *why = sp__control_refusal(s, x);
        const sp_status status = why == NULL && x->body_bytes > 0 ? change_settings(s, x, set) : SP_OK;
        if (why != NULL || status != SP_OK) {
            sp__route_refuse(x,
                             why != NULL             ? 403
                             : status == SP_DECLINED ? 400
                                                     : sp__http_status(status),
                             why != NULL ? why : sp_error_message());
            return;
        }
    } else if (!wants(x, "GET")) return;
    put(s, &t);
    reply(x, &t);
}

/* --- shared memory --------------------------------------------------------------------------------------------------- */

static void put_region(void *context, const char *name, const char *key, uint64_t offset, uint64_t bytes)
{
    sp__text *t = context;
    sp__text_put(t, t->used > 1 ? ",{\"name\":" : "{\"name\":");
    sp__json_put_text(t, name, strlen(name));
    sp__text_put(t, ",\"key\":");
    sp__json_put_text(t, key, strlen(key));
    sp__text_put(t, ",\"offset\":%llu,\"byte_size\":%llu}", (unsigned long long)offset, (unsigned long long)bytes);
}

/* {"key": "/name", "offset": 0, "byte_size": 64} */
static sp_status read_region(const sp_exchange *x, sp__arena *a, const char **shm, int64_t *offset, int64_t *bytes)
{
    sp_json j = sp__json_open(x->body, x->body_bytes);
    const char *key;
    sp_status status = SP_OK;
    for (bool more = false; (status = sp__json_member(&j, a, &more, &key)) == SP_OK && more;) {
        if (strcmp(key, "key") == 0) SP_TRY(sp__json_text(&j, a, shm, NULL));
        else if (strcmp(key, "offset") == 0) SP_TRY(sp__json_int(&j, offset));
        else if (strcmp(key, "byte_size") == 0) SP_TRY(sp__json_int(&j, bytes));
        else return sp__json_fail(&j, "'%.64s' is not known; the request has: key, offset, byte_size", key);
    }
    SP_TRY(status);
    SP_TRY(sp__json_end(&j));
    SP_CHECK(*shm != NULL && *offset >= 0 && *bytes >= 0, SP_VALUE,
             "the request must have a key, an offset from 0 on and a byte_size");
    return SP_OK;
}

static sp_status register_region(sp_server *s, const sp_exchange *x, const char *name)
{
    sp__arena arena = {0};
    const char *key = NULL;
    int64_t offset = 0, bytes = -1;
    sp_status status = read_region(x, &arena, &key, &offset, &bytes);
    if (status == SP_OK) status = sp__region_register(s, x, name, key, (uint64_t)offset, (uint64_t)bytes);
    sp__arena_free(&arena);
    return status;
}

/* "[/region/NAME]/status", "/register", "/unregister"; cuda: of devices that there are none of. */
static void shared_memory(sp_server *s, sp_exchange *x, const char *rest, bool cuda)
{
    char name[256] = "";
    sp__text t = {0};
    const char *what = strrchr(rest, '/');
    const bool named = strncmp(rest, "/region/", 8) == 0 && what > rest + 8;
    if (what == NULL ||
        (named ? !sp__path_decode(rest + 8, (size_t)(what - rest - 8), name, sizeof name) : what != rest)) {
        sp__route_refuse(x, 404,
                         "the path is not /v2/systemsharedmemory[/region/NAME]/status, /register or /unregister");
        return;
    }
    const bool shows = strcmp(what, "/status") == 0, takes = strcmp(what, "/register") == 0 && named,
               drops = strcmp(what, "/unregister") == 0;
    if (!shows && !takes && !drops) {
        sp__route_refuse(x, 404, "there is no such path; regions have /status, /register and /unregister");
        return;
    }
    if (!wants(x, shows ? "GET" : "POST")) return;
    const char *why = shows ? NULL : sp__region_refusal(s, x);
    if (why != NULL) {
        sp__route_refuse(x, 403, why);
        return;
    }
    sp_status status = SP_OK;
    sp__text_put(&t, shows ? "[" : "{}");
    if (cuda && takes) status = sp__fail(SP_DECLINED, "there is no CUDA here, whose memory could be shared");
    else if (shows && !cuda) status = sp__regions_each(s, name, put_region, &t);
    else if (takes) status = register_region(s, x, name);
    else if (drops && !cuda) sp__region_unregister(s, name);
    sp__text_put(&t, shows ? "]\n" : "\n");
    if (status == SP_OK) reply(x, &t);
    else {
        sp__free(t.data);
        sp__route_refuse(x, status == SP_KEY ? 404 : sp__http_status(status), sp_error_message());
    }
}

bool sp__triton_rest_route(sp_server *s, sp_exchange *x)
{
    const char *p = x->path;
    if (strncmp(p, "/v2/", 4) != 0) return false;
    p += 4;
    if (strcmp(p, "repository/index") == 0) index_models(s, x);
    else if (strncmp(p, "repository/models/", 18) == 0) order(s, x, p + 18);
    else if (strcmp(p, "models/stats") == 0) all_statistics(s, x);
    else if (strcmp(p, "trace/setting") == 0) settings(s, x, put_trace, sp__trace_set);
    else if (strcmp(p, "logging") == 0) settings(s, x, put_log, sp__log_set);
    else if (strncmp(p, "systemsharedmemory", 18) == 0) shared_memory(s, x, p + 18, false);
    else if (strncmp(p, "cudasharedmemory", 16) == 0) shared_memory(s, x, p + 16, true);
    else return false;
    return true;
}

void sp__triton_rest_trace(sp_server *s, sp_exchange *x) { settings(s, x, put_trace, sp__trace_set); }
