/* SPDX-License-Identifier: Apache-2.0 */
/* triton_grpc.c - Triton's extensions of inference.GRPCInferenceService.
 *
 *   RepositoryIndex         1 repository_name  2 ready;  reply 1* models (1 name  2 version  3 state  4 reason)
 *   RepositoryModelLoad     1 repository_name  2 model_name  3* parameters (1 key  2 value: 3 text), of which `config` is one;  RepositoryModelUnload the same
 *   TraceSetting            1* settings (1 key  2 value: 1* texts)  2 model_name;  reply 1* settings
 *   SystemSharedMemoryRegister  1 name  2 key  3 offset  4 byte_size;  -Unregister and -Status  1 name;  reply of -Status 1* a map of regions
 *   LogSettings             1* settings (1 key  2 value: 1 flag, 2 number or 3 text);  reply 1* settings */
#include <stdio.h>
#include <string.h>

#include "serve/grpc.h"
#include "serve/regions.h"
#include "serve/triton.h"

enum { FIELDS_MAX = 1000 };

typedef sp_status (*read_fn)(sp_wire *w, uint32_t number, int type, void *context);

/* Every field of a message. */
static sp_status each(sp_wire w, read_fn read, void *context)
{
    for (int n = 0; sp__wire_more(&w); n++) {
        uint32_t number;
        int type;
        SP_CHECK(n < FIELDS_MAX, SP_FORMAT, "the message has more than %d fields", FIELDS_MAX);
        SP_TRY(sp__wire_field(&w, &number, &type));
        SP_TRY(read(&w, number, type, context));
    }
    return SP_OK;
}

static sp_status each_of(const sp_exchange *x, read_fn read, void *context)
{
    sp_wire w;
    SP_TRY(sp__grpc_open(x, &w));
    return each(w, read, context);
}

/* --- the repository -------------------------------------------------------------------------------------------------- */

typedef struct {
    sp_wire_out *o;
    sp_status status;
} index_writer;

static sp_status write_line(sp_wire_out *o, const char *name, const char *version, const char *state,
                            const char *reason)
{
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, name));
    SP_TRY(sp__grpc_put_text(o, 2, version));
    SP_TRY(sp__grpc_put_text(o, 3, state));
    SP_TRY(sp__grpc_put_text(o, 4, reason));
    return sp__grpc_end_part(o, 1, at);
}

static void put_line(void *context, const char *name, const char *version, const char *state, const char *reason)
{
    index_writer *w = context;
    if (w->status == SP_OK) w->status = write_line(w->o, name, version, state, reason);
}

static sp_status read_ready(sp_wire *w, uint32_t number, int type, void *context)
{
    uint64_t v;
    if (number != 2) return sp__wire_skip(w, number, type);
    SP_TRY(sp__wire_take_number(w, "ready", type, &v));
    *(bool *)context = v != 0;
    return SP_OK;
}

static sp_status put_index(sp_server *s, const sp_exchange *x, sp_wire_out *o)
{
    bool ready = false;
    index_writer w = {o, SP_OK};
    SP_TRY(each_of(x, read_ready, &ready));
    sp__repository_index(s, ready, put_line, &w);
    return w.status;
}

typedef struct {
    char name[256];
    sp__arena arena;
    const char *config; /* in the arena; NULL: none */
} order;

static sp_status read_text(sp_wire *w, uint32_t number, int type, void *context)
{
    order *o = context;
    if (number == 3) return sp__grpc_read_text(w, "config", type, &o->arena, &o->config);
    return sp__wire_skip(w, number, type);
}

static sp_status read_order(sp_wire *w, uint32_t number, int type, void *context)
{
    order *o = context;
    const char *key;
    sp_wire part, value;
    if (number == 2) return sp__wire_take_text(w, "the model's name", type, o->name, sizeof o->name);
    if (number != 3) return sp__wire_skip(w, number, type);
    SP_TRY(sp__wire_take_bytes(w, "parameters", type, &part));
    SP_TRY(sp__grpc_read_entry(part, "a parameter", &o->arena, &key, &value));
    SP_CHECK(strcmp(key, "config") == 0, SP_DECLINED,
             "parameter '%.64s' is not done: clients name no files; those are the server's", key);
    return each(value, read_text, o);
}

/* unload_dependents comes with every request of some clients; there are none. */
static sp_status read_unload(sp_wire *w, uint32_t number, int type, void *context)
{
    return number == 3 ? sp__wire_skip(w, number, type) : read_order(w, number, type, context);
}

/* --- settings --------------------------------------------------------------------------------------------------------- */

typedef struct {
    sp_server *server;
    sp_status (*set)(sp_server *s, const char *key, const char *value);
    bool log; /* values of the log: flag, number or text; of tracing: a list of texts */
    char key[64], value[64];
} setting_reader;

static sp_status read_value(sp_wire *w, uint32_t number, int type, void *context)
{
    setting_reader *r = context;
    uint64_t v;
    if (!r->log || number == 3) return sp__wire_take_text(w, "a setting", type, r->value, sizeof r->value);
    SP_TRY(sp__wire_take_number(w, "a setting", type, &v));
    if (number == 1) snprintf(r->value, sizeof r->value, "%s", v != 0 ? "true" : "false");
    else snprintf(r->value, sizeof r->value, "%llu", (unsigned long long)v);
    return SP_OK;
}

static sp_status read_pair(sp_wire *w, uint32_t number, int type, void *context)
{
    setting_reader *r = context;
    sp_wire part;
    if (number == 1) return sp__wire_take_text(w, "the name of a setting", type, r->key, sizeof r->key);
    if (number != 2) return sp__wire_skip(w, number, type);
    SP_TRY(sp__wire_take_bytes(w, "a setting", type, &part));
    /* A flag that is false is an empty message's default, but it is a member of a choice and is written. */
    return each(part, read_value, r);
}

static sp_status read_settings(sp_wire *w, uint32_t number, int type, void *context)
{
    setting_reader *r = context;
    sp_wire part;
    if (number != 1) return sp__wire_skip(w, number, type);
    SP_TRY(sp__wire_take_bytes(w, "settings", type, &part));
    r->key[0] = r->value[0] = '\0';
    SP_TRY(each(part, read_pair, r));
    return r->set(r->server, r->key, r->value);
}

/* kind: 'b' flag, 'n' number, 't' text, 'l' list of texts. */
static sp_status put_setting(sp_wire_out *o, const char *key, char kind, const char *value)
{
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, key));
    const size_t inner = o->bytes;
    if (kind == 'b') SP_TRY(sp__wire_put_number(o, 1, value[0] == 't'));
    else if (kind == 'n') SP_TRY(sp__wire_put_number(o, 2, 0));
    else SP_TRY(sp__grpc_put_bytes(o, kind == 't' ? 3 : 1, value, strlen(value)));
    SP_TRY(sp__grpc_end_part(o, 2, inner));
    return sp__grpc_end_part(o, 1, at);
}

static sp_status put_settings(sp_server *s, const sp_exchange *x, sp_wire_out *o, bool log)
{
    setting_reader r = {.server = s, .set = log ? sp__log_set : sp__trace_set, .log = log};
    const bool changes = x->body_bytes > SP_GRPC_PREFIX;
    const char *why = changes ? sp__control_refusal(s, x) : NULL;
    SP_CHECK(why == NULL, SP_VALUE, "%s", why);
    SP_TRY(each_of(x, read_settings, &r));
    if (log) {
        SP_TRY(put_setting(o, "log_file", 't', ""));
        SP_TRY(put_setting(o, "log_info", 'b', atomic_load(&s->log_info) ? "true" : "false"));
        SP_TRY(put_setting(o, "log_warning", 'b', "true"));
        SP_TRY(put_setting(o, "log_error", 'b', atomic_load(&s->log_error) ? "true" : "false"));
        SP_TRY(put_setting(o, "log_verbose_level", 'n', "0"));
        return put_setting(o, "log_format", 't', "default");
    }
    SP_TRY(put_setting(o, "trace_level", 'l', "OFF"));
    SP_TRY(put_setting(o, "trace_rate", 'l', "1000"));
    SP_TRY(put_setting(o, "trace_count", 'l', "-1"));
    SP_TRY(put_setting(o, "log_frequency", 'l', "0"));
    SP_TRY(put_setting(o, "trace_file", 'l', ""));
    return put_setting(o, "trace_mode", 'l', "triton");
}

/* --- all -------------------------------------------------------------------------------------------------------------- */

static sp_status put_all_statistics(sp_server *s, sp_wire_out *o)
{
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
        int64_t versions[SP_SERVE_VERSIONS_MAX];
        const int n = sp__entry_versions(e, versions);
        for (int i = 0; i < n; i++) {
            sp_served *m = sp__entry_take(e, versions[i]);
            const sp_status status = m != NULL ? sp__statistics_put(m, o, 1) : SP_OK;
            sp__served_release(m);
            SP_TRY(status);
        }
    }
    return SP_OK;
}

/* --- shared memory --------------------------------------------------------------------------------------------------- */

typedef struct {
    char name[256], key[300];
    uint64_t offset, bytes;
} region;

static sp_status read_region(sp_wire *w, uint32_t number, int type, void *context)
{
    region *r = context;
    if (number == 1) return sp__wire_take_text(w, "the region's name", type, r->name, sizeof r->name);
    if (number == 2) return sp__wire_take_text(w, "the region's key", type, r->key, sizeof r->key);
    if (number == 3) return sp__wire_take_number(w, "offset", type, &r->offset);
    if (number == 4) return sp__wire_take_number(w, "byte_size", type, &r->bytes);
    return sp__wire_skip(w, number, type);
}

/* An entry of the map: 1 key  2 value (1 name  2 key  3 offset  4 byte_size). */
static sp_status write_region(sp_wire_out *o, const char *name, const char *key, uint64_t offset, uint64_t bytes)
{
    const size_t at = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, name));
    const size_t inner = o->bytes;
    SP_TRY(sp__grpc_put_text(o, 1, name));
    SP_TRY(sp__grpc_put_text(o, 2, key));
    SP_TRY(sp__wire_put_number(o, 3, offset));
    SP_TRY(sp__wire_put_number(o, 4, bytes));
    SP_TRY(sp__grpc_end_part(o, 2, inner));
    return sp__grpc_end_part(o, 1, at);
}

static void put_region(void *context, const char *name, const char *key, uint64_t offset, uint64_t bytes)
{
    index_writer *w = context;
    if (w->status == SP_OK) w->status = write_region(w->o, name, key, offset, bytes);
}

static sp_status no_cuda(const char *method)
{
    SP_CHECK(strcmp(method, "CudaSharedMemoryRegister") != 0, SP_DECLINED,
             "there is no CUDA here, whose memory could be shared");
    return SP_OK;
}

/* *why: it may not. */
static sp_status answer_shared_memory(sp_server *s, const sp_exchange *x, const char *what, sp_wire_out *o,
                                      const char **why)
{
    region r = {.name = ""};
    const bool shows = strcmp(what, "Status") == 0;
    *why = shows ? NULL : sp__region_refusal(s, x);
    if (*why != NULL) return sp__fail(SP_VALUE, "%s", *why);
    SP_TRY(each_of(x, read_region, &r));
    if (shows) {
        index_writer w = {o, SP_OK};
        SP_TRY(sp__regions_each(s, r.name, put_region, &w));
        return w.status;
    }
    if (strcmp(what, "Register") == 0) return sp__region_register(s, x, r.name, r.key, r.offset, r.bytes);
    SP_CHECK(strcmp(what, "Unregister") == 0, SP_DECLINED, "there is no method 'SystemSharedMemory%.64s'", what);
    sp__region_unregister(s, r.name);
    return SP_OK;
}

/* --- all of it -------------------------------------------------------------------------------------------------------- */

bool sp__triton_grpc_route(sp_server *s, sp_exchange *x, const char *method)
{
    sp_wire_out o = {0};
    const char *why = NULL;
    const bool load = strcmp(method, "RepositoryModelLoad") == 0;
    sp_status status = sp__grpc_begin(&o);
    if (load || strcmp(method, "RepositoryModelUnload") == 0) {
        order asked = {.name = ""};
        if (status == SP_OK) status = each_of(x, load ? read_order : read_unload, &asked);
        if (status == SP_OK) {
            sp__wire_out_free(&o);
            sp__repository_order(s, x, asked.name, asked.config, load, true);
        }
        sp__arena_free(&asked.arena);
        if (status == SP_OK) return true;
    } else if (strcmp(method, "RepositoryIndex") == 0) {
        if (status == SP_OK) status = put_index(s, x, &o);
    } else if (strcmp(method, "ModelStatistics") == 0) {
        if (status == SP_OK) status = put_all_statistics(s, &o);
    } else if (strcmp(method, "TraceSetting") == 0 || strcmp(method, "LogSettings") == 0) {
        if (status == SP_OK) status = put_settings(s, x, &o, method[0] == 'L');
    } else if (strncmp(method, "SystemSharedMemory", 18) == 0) {
        if (status == SP_OK) status = answer_shared_memory(s, x, method + 18, &o, &why);
    } else if (strncmp(method, "CudaSharedMemory", 16) == 0) {
        if (status == SP_OK) status = no_cuda(method);
    } else {
        sp__wire_out_free(&o);
        return false;
    }
    if (status == SP_OK) sp__grpc_reply(x, &o);
    else {
        sp__wire_out_free(&o);
        sp__grpc_refuse(x, why != NULL ? 403 : status == SP_KEY ? 404 : sp__http_status(status), sp_error_message());
    }
    sp__exchange_reply(x);
    return true;
}
