/* SPDX-License-Identifier: Apache-2.0 */
/* repository.c - the model repository extension: which models there are and in which state; loading and unloading by request.
 *
 * What clients can load is what the program gave, and what lies in the folders that it gave: they name no files. Orders are done by the watcher, as everything that
 * loads, and answered when they are done. */
#include <stdio.h>
#include <string.h>

#include "serve/grpc.h"
#include "serve/triton.h"

typedef struct sp_order {
    struct sp_order *next;
    sp_exchange *x;
    bool load, grpc;
    char name[256];
    char *config; /* NULL: none */
} sp_order;

void sp__repository_index(sp_server *s, bool ready_only, sp_index_line line, void *context)
{
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
        int64_t versions[SP_SERVE_VERSIONS_MAX];
        char text[24], reason[400];
        const int n = sp__entry_versions(e, versions);
        for (int i = 0; i < n; i++) {
            snprintf(text, sizeof text, "%lld", (long long)versions[i]);
            line(context, e->name, text, "READY", "");
        }
        sp__entry_unavailable(e, reason);
        if (n == 0 && !ready_only) line(context, e->name, "", reason[0] != '\0' ? "UNAVAILABLE" : "LOADING", reason);
    }
}

bool sp__is_local(const sp_exchange *x)
{
    return strncmp(x->peer, "127.", 4) == 0 || strncmp(x->peer, "[::1]", 5) == 0 || strcmp(x->peer, "unix") == 0;
}

const char *sp__control_refusal(const sp_server *s, const sp_exchange *x)
{
    if (sp__keys_check((sp_server *)s, x, NULL, NULL) != 0)
        return "the key that the request shows is for single models, and changes nothing of the server";
    const char *control = s->o.model_control != NULL ? s->o.model_control : "local";
    if (strcmp(control, "all") == 0 || (strcmp(control, "local") == 0 && sp__is_local(x))) return NULL;
    return strcmp(control, "none") == 0
               ? "models and settings cannot be changed by request (--model-control none)"
               : "models and settings can be changed by clients on the server's machine alone (--model-control local)";
}

void sp__repository_order(sp_server *s, sp_exchange *x, const char *name, const char *config, bool load, bool grpc)
{
    const char *why = sp__control_refusal(s, x);
    sp_order *order = why == NULL ? sp__alloc_zero(sizeof *order) : NULL;
    char *own = order != NULL && config != NULL ? sp__strdup(config) : NULL;
    if (order != NULL && config != NULL && own == NULL) {
        sp__free(order);
        order = NULL;
    }
    if (order == NULL) {
        const int status = why != NULL ? 403 : 503;
        if (grpc) sp__grpc_refuse(x, status, why != NULL ? why : "out of memory");
        else sp__reply_error(x, status, why != NULL ? why : "out of memory");
        sp__exchange_reply(x);
        return;
    }
    *order = (sp_order){.x = x, .load = load, .grpc = grpc, .config = own};
    snprintf(order->name, sizeof order->name, "%s", name);
    sp__lock(&s->work_lock);
    struct sp_order **at = &s->orders;
    while (*at != NULL) at = &(*at)->next;
    *at = order;
    sp__cond_signal(&s->watch);
    sp__unlock(&s->work_lock);
}

static void set_settings(sp_entry *e, const sp_settings *settings, bool overridden)
{
    sp__lock(&e->lock);
    if (overridden && !e->overridden) e->given = e->settings;
    e->overridden = overridden;
    if (memcmp(&e->settings, settings, sizeof *settings) != 0) e->generation++;
    e->settings = *settings;
    sp__unlock(&e->lock);
}

/* Serve it with these settings; where that fails, as before. */
static sp_status load_with(sp_entry *e, const sp_settings *settings)
{
    sp_error error;
    bool restless;
    const bool was = e->overridden;
    const int generation = e->generation;
    sp_settings *before = sp__alloc(sizeof *before);
    if (before == NULL) return SP_NOMEM;
    *before = e->settings;
    set_settings(e, settings, true);
    sp_status status = sp__entry_load(e, &restless);
    if (status == SP_OK && e->degraded[0] != '\0') status = sp__fail(SP_VALUE, "%s", e->degraded);
    if (status == SP_OK && (e->served == NULL || e->served->generation != e->generation))
        status = sp__fail(SP_VALUE, "%s: holds none of the versions that are to be served", e->path);
    if (status != SP_OK) {
        sp_error_capture(status, &error);
        set_settings(e, before, was);
        e->generation = generation;
        sp__entry_load(e, &restless);
        sp_error_raise(&error);
    }
    sp__free(before);
    return status;
}

/* With the configuration that the order has, or again as the program gave it. */
static sp_status load(sp_entry *e, const char *config)
{
    bool restless;
    const bool unloaded = atomic_exchange(&e->unloaded, false);
    atomic_store(&e->tried, false); /* at once */
    if (config == NULL) {
        if (e->overridden) set_settings(e, &e->given, false);
        return sp__entry_load(e, &restless);
    }
    sp_settings *settings = sp__alloc(sizeof *settings);
    sp_status status = settings != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        *settings = e->overridden ? e->given : e->settings;
        status = sp__model_config_override(e, config, settings);
    }
    if (status == SP_OK) status = load_with(e, settings);
    else atomic_store(&e->unloaded, unloaded);
    atomic_store(&e->tried, true);
    sp__free(settings);
    return status;
}

static sp_status do_order(sp_server *s, const sp_order *order)
{
    sp__load_begin(s);
    if (order->load) sp__models_look(s);
    sp_entry *e = sp__entry_find(s, order->name);
    sp_status status = e != NULL ? SP_OK
                                 : sp__fail(SP_KEY, "failed to %s '%s': there is no such model",
                                            order->load ? "load" : "unload", order->name);
    if (status == SP_OK && order->load) {
        status = load(e, order->config);
        if (status != SP_OK) sp__error_context("failed to load '%s'", order->name);
        sp__entry_tell(e);
    } else if (status == SP_OK) {
        atomic_store(&e->unloaded, true);
        sp__entry_unload(e, "unloaded");
        sp__server_log(s, SP_LOG_INFO, "model %s is unloaded by request", e->name);
    }
    sp__load_end(s);
    return status;
}

void sp__repository_work(sp_server *s)
{
    for (;;) {
        sp__lock(&s->work_lock);
        sp_order *order = s->orders;
        if (order != NULL) s->orders = order->next;
        sp__unlock(&s->work_lock);
        if (order == NULL) return;
        const sp_status status = do_order(s, order);
        const int http_status = status == SP_KEY ? 404 : status == SP_NOMEM ? 503 : 400;
        sp_wire_out o = {0};
        if (order->grpc && status == SP_OK && sp__grpc_begin(&o) == SP_OK) sp__grpc_reply(order->x, &o);
        else if (order->grpc) sp__grpc_refuse(order->x, http_status, sp_error_message());
        else if (status == SP_OK) {
            sp__text t = {0};
            sp__text_put(&t, "{}\n");
            sp__reply_text(order->x, 200, "application/json", &t);
        } else sp__reply_error(order->x, http_status, sp_error_message());
        sp__exchange_reply(order->x);
        sp__free(order->config);
        sp__free(order);
    }
}
