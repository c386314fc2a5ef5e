/* SPDX-License-Identifier: Apache-2.0 */
/* model_override.c - loading a model with another configuration (parameter `config` of RepositoryModelLoad), in Triton's words, as model_config.c writes them.
 *
 * What may be another is how a model is run: max_batch_size, version_policy, the count of instance_group, dynamic_batching's delay and queue. Everything else must be what it
 * is, so that a configuration that was read, edited and sent back is taken, and nothing in it is without effect. */
#include <stdio.h>
#include <string.h>

#include "serve/triton.h"

typedef struct {
    const char *model;
    sp_settings *settings;
    sp__arena *arena;
    sp_json now; /* the configuration as it is; start NULL: no version is served */
    bool delayed;
} override;

static sp_status read_int(sp_json *j, const char *key, int64_t least, int64_t most, int64_t *out)
{
    SP_TRY(sp__json_int(j, out));
    SP_CHECK(*out >= least && *out <= most, SP_VALUE, "%s is %lld, it must be %lld to %lld", key, (long long)*out,
             (long long)least, (long long)most);
    return SP_OK;
}

/* Members that ask for nothing are taken: false, 0, "", [], {}. */
static sp_status nothing(sp_json *j, const char *of, const char *key)
{
    const char *from = j->at;
    char text[8] = "";
    SP_TRY(sp__json_skip(j));
    for (const char *p = from; p < j->at && strlen(text) < sizeof text - 1; p++)
        if (strchr(": \t\r\n", *p) == NULL) text[strlen(text)] = *p;
    static const char *const none[] = {"false", "0", "\"\"", "[]", "{}", "null", "\"0\""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcmp(text, none[i]) == 0) return SP_OK;
    return sp__json_fail(j, "%s: '%.64s' cannot be set by a request", of, key);
}

static sp_status read_policy(sp_json *j, override *o)
{
    sp_status status;
    const char *kind, *key;
    sp_settings *s = o->settings;
    for (bool more = false; (status = sp__json_member(j, o->arena, &more, &kind)) == SP_OK && more;) {
        int64_t n = 0;
        const bool all = strcmp(kind, "all") == 0, latest = strcmp(kind, "latest") == 0;
        SP_CHECK(all || latest || strcmp(kind, "specific") == 0, SP_VALUE,
                 "version_policy is '%.32s', it must be latest, all or specific", kind);
        s->n_versions = 0;
        s->n_newest = latest ? 1 : SP_SERVE_VERSIONS_MAX;
        for (bool inner = false; (status = sp__json_member(j, o->arena, &inner, &key)) == SP_OK && inner;) {
            if (latest && strcmp(key, "num_versions") == 0) {
                SP_TRY(read_int(j, key, 1, SP_SERVE_VERSIONS_MAX, &n));
                s->n_newest = (int)n;
            } else if (!all && !latest && strcmp(key, "versions") == 0) {
                for (bool each = false; (status = sp__json_each(j, '[', &each)) == SP_OK && each;) {
                    SP_CHECK(s->n_versions < SP_SERVE_VERSIONS_MAX, SP_VALUE, "versions lists more than %d",
                             SP_SERVE_VERSIONS_MAX);
                    SP_TRY(read_int(j, key, 1, INT64_MAX, &s->versions[s->n_versions++]));
                }
                SP_TRY(status);
            } else return sp__json_fail(j, "version_policy: '%.64s' is not known", key);
        }
        SP_TRY(status);
        SP_CHECK(all || latest || s->n_versions > 0, SP_VALUE, "version_policy: specific lists no versions");
    }
    return status;
}

static sp_status read_group(sp_json *j, override *o)
{
    sp_status status;
    const char *key, *text;
    int64_t total = 0, count = 1;
    for (bool more = false; (status = sp__json_each(j, '[', &more)) == SP_OK && more; total += count) {
        count = 1;
        for (bool inner = false; (status = sp__json_member(j, o->arena, &inner, &key)) == SP_OK && inner;) {
            if (strcmp(key, "count") == 0) SP_TRY(read_int(j, key, 1, SP_SERVE_INSTANCES_MAX, &count));
            else if (strcmp(key, "name") == 0) SP_TRY(sp__json_text(j, o->arena, &text, NULL));
            else if (strcmp(key, "kind") == 0) {
                SP_TRY(sp__json_text(j, o->arena, &text, NULL));
                SP_CHECK(strcmp(text, "KIND_CPU") == 0 || strcmp(text, "KIND_AUTO") == 0, SP_VALUE,
                         "instance_group: kind is '%.32s', it must be KIND_CPU or KIND_AUTO", text);
            } else SP_TRY(nothing(j, "instance_group", key));
        }
        SP_TRY(status);
    }
    SP_TRY(status);
    SP_CHECK(total <= SP_SERVE_INSTANCES_MAX, SP_VALUE, "instance_group has %lld instances, at most %d are possible",
             (long long)total, SP_SERVE_INSTANCES_MAX);
    if (total > 0) o->settings->n_instances = (int)total;
    return SP_OK;
}

static sp_status read_queue(sp_json *j, override *o)
{
    sp_status status;
    const char *key;
    int64_t n;
    for (bool more = false; (status = sp__json_member(j, o->arena, &more, &key)) == SP_OK && more;) {
        if (strcmp(key, "max_queue_size") == 0) {
            SP_TRY(read_int(j, key, 1, 1 << 20, &n));
            o->settings->max_queue = (int)n;
        } else if (strcmp(key, "default_timeout_microseconds") == 0) {
            SP_TRY(read_int(j, key, 1, INT64_C(86400000000), &n));
            o->settings->request_seconds = (double)n / 1e6;
        } else SP_TRY(nothing(j, "default_queue_policy", key));
    }
    return status;
}

static sp_status read_batching(sp_json *j, override *o)
{
    sp_status status;
    const char *key;
    for (bool more = false; (status = sp__json_member(j, o->arena, &more, &key)) == SP_OK && more;) {
        if (strcmp(key, "max_queue_delay_microseconds") == 0) {
            SP_TRY(read_int(j, key, 0, 60000000, &o->settings->max_delay_us));
            o->delayed = o->settings->max_delay_us > 0;
        } else if (strcmp(key, "default_queue_policy") == 0) SP_TRY(read_queue(j, o));
        else SP_TRY(nothing(j, "dynamic_batching", key));
    }
    return status;
}

/* The value without white space, in the arena. */
static char *plain(sp__arena *a, const char *from, const char *end)
{
    char *out = sp__arena_alloc(a, (size_t)(end - from) + 1);
    size_t n = 0;
    bool text = false;
    while (from < end && strchr(": \t\r\n", *from) != NULL) from++;
    for (const char *p = from; out != NULL && p < end; p++) {
        if (*p == '"' && (p == from || p[-1] != '\\')) text = !text;
        if (text || strchr(" \t\r\n", *p) == NULL) out[n++] = *p;
    }
    return out;
}

/* A member that must be what it is. */
static sp_status same(sp_json *j, override *o, const char *key)
{
    sp_json now = o->now;
    const char *name, *from = j->at;
    sp_status status = SP_OK;
    SP_TRY(sp__json_skip(j));
    const char *wanted = plain(o->arena, from, j->at);
    for (bool more = false;
         now.start != NULL && (status = sp__json_member(&now, o->arena, &more, &name)) == SP_OK && more;) {
        const char *at = now.at;
        SP_TRY(sp__json_skip(&now));
        if (strcmp(name, key) != 0) continue;
        const char *is = plain(o->arena, at, now.at);
        if (is == NULL || wanted == NULL) return SP_NOMEM;
        SP_CHECK(strcmp(is, wanted) == 0, SP_VALUE, "%s of '%s' cannot be changed by a request; it is %.200s", key,
                 o->model, is);
        return SP_OK;
    }
    SP_TRY(status);
    return sp__json_fail(
        j,
        "'%.64s' cannot be set by a request; there are: max_batch_size, version_policy, instance_group, dynamic_batching",
        key);
}

static sp_status read_all(sp_json *j, override *o)
{
    sp_status status;
    const char *key;
    int64_t n;
    for (bool more = false; (status = sp__json_member(j, o->arena, &more, &key)) == SP_OK && more;) {
        if (strcmp(key, "max_batch_size") == 0) {
            SP_TRY(read_int(j, key, 0, SP_SERVE_BATCH_MAX, &n));
            o->settings->max_batch = n > 0 ? (int)n : 1;
        } else if (strcmp(key, "version_policy") == 0) SP_TRY(read_policy(j, o));
        else if (strcmp(key, "instance_group") == 0) SP_TRY(read_group(j, o));
        else if (strcmp(key, "dynamic_batching") == 0) SP_TRY(read_batching(j, o));
        else SP_TRY(same(j, o, key));
    }
    SP_TRY(status);
    SP_TRY(sp__json_end(j));
    if (o->settings->max_batch > 1) return SP_OK;
    SP_CHECK(!o->delayed, SP_VALUE, "max_queue_delay_microseconds has no effect where max_batch_size is 0 or 1");
    o->settings->max_delay_us = 0;
    o->settings->trust_batch = false;
    return SP_OK;
}

sp_status sp__model_config_override(sp_entry *e, const char *config, sp_settings *settings)
{
    sp__arena arena = {0};
    sp__text now = {0};
    sp_served *m = sp__entry_take(e, 0);
    override o = {.model = e->name, .settings = settings, .arena = &arena};
    if (m != NULL) sp__model_config_json(m, &now);
    if (m != NULL && !now.failed) o.now = sp__json_open(now.data, now.used);
    sp__served_release(m);
    sp_json j = sp__json_open(config, strlen(config));
    const sp_status status = read_all(&j, &o);
    if (status != SP_OK) sp__error_context("parameter 'config'");
    sp__free(now.data);
    sp__arena_free(&arena);
    return status;
}
