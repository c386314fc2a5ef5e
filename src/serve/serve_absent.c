/* SPDX-License-Identifier: Apache-2.0 */
/* serve_absent.c - stands for src/net and src/serve where the libraries that they need were not there when spore was built. */
#include "base/base.h"
#include "spore/serve.h"

static sp_status absent(void)
{
    return sp__fail(
        SP_DECLINED,
        "this spore was built without serving: install libevent-dev, libnghttp2-dev and libssl-dev (Debian names), then build it again");
}

sp_status sp_server_create(const sp_server_options *options, sp_server **out)
{
    (void)options;
    (void)out;
    return absent();
}

void sp_server_release(sp_server *s) { (void)s; }

sp_status sp_server_start(sp_server *s)
{
    (void)s;
    return absent();
}

int sp_server_port(const sp_server *s)
{
    (void)s;
    return 0;
}

sp_status sp_server_add_model(sp_server *s, const char *name, const char *path)
{
    (void)s;
    (void)name;
    (void)path;
    return absent();
}

sp_status sp_server_add_folder(sp_server *s, const char *path)
{
    (void)s;
    (void)path;
    return absent();
}

sp_status sp_server_set_models(sp_server *s, int n, const sp_model_config *models)
{
    (void)s;
    (void)n;
    (void)models;
    return absent();
}

sp_status sp_model_config_set(sp_model_config *c, const char *key, const char *value)
{
    (void)c;
    (void)key;
    (void)value;
    return absent();
}

sp_status sp_server_add_servable(sp_server *s, const char *name, int64_t version, const char *socket)
{
    (void)s;
    (void)name;
    (void)version;
    (void)socket;
    return absent();
}

sp_status sp_serve_config_load(const char *path, sp_serve_config **out)
{
    (void)path;
    (void)out;
    return absent();
}

void sp_serve_config_release(sp_serve_config *c) { (void)c; }

const char *sp_serve_config_get(const sp_serve_config *c, const char *key, int *line)
{
    (void)c;
    (void)key;
    (void)line;
    return NULL;
}

int sp_serve_config_models(const sp_serve_config *c, const sp_model_config **out)
{
    (void)c;
    (void)out;
    return 0;
}

void sp_server_stop(sp_server *s) { (void)s; }
void sp_server_reload(sp_server *s) { (void)s; }

void sp_server_log(sp_server *s, sp_log_kind kind, const char *line)
{
    (void)s;
    (void)kind;
    (void)line;
}

void sp_server_log_lost(sp_server *s, sp_log_kind kind)
{
    (void)s;
    (void)kind;
}

sp_status sp_server_wait(sp_server *s)
{
    (void)s;
    return absent();
}
