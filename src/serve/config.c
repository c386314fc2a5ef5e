/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - the configuration file of a server, JSON:
 *
 *     {"port": 8000, "max_batch": 16, "strict": false,
 *      "models": [{"name": "lenet", "path": "models/lenet", "versions": "all", "labels": {"stable": 1}}, {"path": "folder"}]}
 *
 * Settings of the server have the names of the command's options, with _ for -; those of models are sp_model_config_set's. Values are kept as texts, with the line
 * they stand in, so that a file and a command line are checked by the same code. Paths are relative to the file's folder. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/plain.h"
#include "serve/json.h"
#include "serve/serve_impl.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static const char *const settings[] = {SP_SERVE_SETTINGS};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

struct sp_serve_config {
    sp__arena arena;
    char *text;
    const char *path;
    const char *values[N_SETTINGS];
    int lines[N_SETTINGS];
    int n_models, room;
    sp_model_config *models;
};

typedef struct reader {
    sp_serve_config *c;
    sp_json j;
} reader;

static int line_of(const reader *r)
{
    int line = 1;
    for (const char *p = r->j.start; p < r->j.at; p++) line += *p == '\n';
    return line;
}

/* A path as it is meant: relative to where the file lies. */
static const char *beside(reader *r, const char *value)
{
    const char *slash = strrchr(r->c->path, '/');
    if (value[0] == '/' || slash == NULL) return value;
    const size_t folder = (size_t)(slash + 1 - r->c->path), bytes = folder + strlen(value) + 1;
    char *out = sp__arena_alloc(&r->c->arena, bytes);
    if (out != NULL) snprintf(out, bytes, "%.*s%s", (int)folder, r->c->path, value);
    return out;
}

static bool is_path(const char *key)
{
    static const char *const paths[] = {"path", "key_file", "classes", "unix", "cert", "key", "client_ca", "api_keys"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(key, paths[i]) == 0) return true;
    return false;
}

/* --- values -------------------------------------------------------------------------------------------------------- */

/* A text, number, true or false, as a text. */
static sp_status read_plain(reader *r, const char *key, const char **out)
{
    const char kind = sp__json_peek(&r->j);
    const char *from = r->j.at;
    if (kind == '"') return sp__json_text(&r->j, &r->c->arena, out, NULL);
    if (kind != '0' && kind != 't' && kind != 'f')
        return sp__json_fail(&r->j, "%s is not a text, a number, true or false", key);
    SP_TRY(sp__json_skip(&r->j));
    char *copy = sp__arena_alloc(&r->c->arena, (size_t)(r->j.at - from) + 1);
    if (copy == NULL) return SP_NOMEM;
    memcpy(copy, from, (size_t)(r->j.at - from));
    *out = copy;
    return SP_OK;
}

/* [0.5, 1] as "0.5 1". */
static sp_status read_numbers(reader *r, const char *key, const char **out)
{
    sp__text t = {0};
    sp_status status = SP_OK;
    for (bool more = false; (status = sp__json_each(&r->j, '[', &more)) == SP_OK && more;) {
        const char *value = NULL;
        status = read_plain(r, key, &value);
        if (status != SP_OK) break;
        sp__text_put(&t, "%s%s", t.used > 0 ? " " : "", value);
    }
    if (status == SP_OK && t.failed) status = SP_NOMEM;
    if (status == SP_OK) *out = sp__arena_text(&r->c->arena, t.used > 0 ? t.data : "");
    sp__free(t.data);
    return status == SP_OK && *out == NULL ? SP_NOMEM : status;
}

/* [1, 4] as "1,4", {"stable": 1} as "stable=1", ["x:1x4", "x:2x4"] as "x:1x4;x:2x4", {"mean": [0.5, 1]} as "mean=0.5 1". */
static sp_status read_list(reader *r, const char *key, const char **out)
{
    const char open = sp__json_peek(&r->j);
    sp__text t = {0};
    sp_status status = SP_OK;
    for (bool more = false; status == SP_OK;) {
        const char *name = NULL, *value = NULL;
        status = open == '{' ? sp__json_member(&r->j, &r->c->arena, &more, &name) : sp__json_each(&r->j, '[', &more);
        if (status != SP_OK || !more) break;
        status =
            open == '{' && sp__json_peek(&r->j) == '[' ? read_numbers(r, name, &value) : read_plain(r, key, &value);
        if (status != SP_OK) break;
        if (t.used > 0) sp__text_put(&t, strcmp(key, "warm_up") == 0 ? ";" : ",");
        if (name != NULL) sp__text_put(&t, "%s=", name);
        sp__text_put(&t, "%s", value);
    }
    char *text = NULL;
    if (t.used == 0 && status == SP_OK) status = sp__json_fail(&r->j, "%s is empty", key);
    if (status == SP_OK) status = sp__text_take(&t, &text);
    else sp__free(t.data);
    if (status == SP_OK) *out = sp__arena_text(&r->c->arena, text);
    sp__free(text);
    return status == SP_OK && *out == NULL ? SP_NOMEM : status;
}

static sp_status read_value(reader *r, const char *key, const char **out)
{
    const char kind = sp__json_peek(&r->j);
    const bool listed =
        (kind == '[' && (strcmp(key, "versions") == 0 || strcmp(key, "warm_up") == 0)) ||
        (kind == '{' && (strcmp(key, "labels") == 0 || strcmp(key, "preprocess") == 0 || strcmp(key, "state") == 0));
    SP_TRY(listed ? read_list(r, key, out) : read_plain(r, key, out));
    if (is_path(key)) *out = beside(r, *out);
    return *out != NULL ? SP_OK : SP_NOMEM;
}

/* --- the file ------------------------------------------------------------------------------------------------------ */

static sp_status read_model(reader *r, sp_model_config *m)
{
    const char *key, *value;
    const char *seen[24];
    int n = 0;
    sp_status status;
    for (bool more = false; (status = sp__json_member(&r->j, &r->c->arena, &more, &key)) == SP_OK && more;) {
        for (int i = 0; i < n; i++)
            if (strcmp(seen[i], key) == 0) return sp__json_fail(&r->j, "%s is given twice", key);
        if (n < 24) seen[n++] = key;
        SP_TRY(read_value(r, key, &value));
        SP_TRY(sp_model_config_set(m, key, value));
    }
    SP_TRY(status);
    if (m->path == NULL) return sp__json_fail(&r->j, "the model that ends here has no path");
    return SP_OK;
}

static sp_status read_models(reader *r)
{
    sp_serve_config *c = r->c;
    sp_status status;
    for (bool more = false; (status = sp__json_each(&r->j, '[', &more)) == SP_OK && more;) {
        if (c->n_models == c->room) {
            const int room = c->room > 0 ? 2 * c->room : 8;
            sp_model_config *all = sp__arena_alloc(&c->arena, (size_t)room * sizeof *all);
            if (all == NULL) return SP_NOMEM;
            if (c->n_models > 0) memcpy(all, c->models, (size_t)c->n_models * sizeof *all);
            c->models = all;
            c->room = room;
        }
        c->models[c->n_models] = (sp_model_config){0};
        SP_TRY(read_model(r, &c->models[c->n_models]));
        c->n_models++;
    }
    return status;
}

static int setting_at(const char *key)
{
    int i = 0;
    while (i < N_SETTINGS && strcmp(key, settings[i]) != 0) i++;
    return i;
}

static sp_status read_file(reader *r)
{
    const char *key;
    sp_status status;
    bool models = false;
    for (bool more = false; (status = sp__json_member(&r->j, &r->c->arena, &more, &key)) == SP_OK && more;) {
        const int i = setting_at(key), line = line_of(r);
        const bool is_models = strcmp(key, "models") == 0;
        if (is_models ? models : i < N_SETTINGS && r->c->values[i] != NULL)
            return sp__json_fail(&r->j, "%s is given twice", key);
        if (is_models) {
            models = true;
            SP_TRY(read_models(r));
            continue;
        }
        if (i == N_SETTINGS) {
            char all[600] = "models";
            for (int k = 0; k < N_SETTINGS; k++)
                snprintf(all + strlen(all), sizeof all - strlen(all), ", %s", settings[k]);
            return sp__json_fail(&r->j, "'%.64s' is no setting; there are: %s", key, all);
        }
        SP_TRY(read_value(r, key, &r->c->values[i]));
        r->c->lines[i] = line;
    }
    SP_TRY(status);
    return sp__json_end(&r->j);
}

static sp_status slurp(const char *path, char **out, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    SP_CHECK(file != NULL, errno == ENOMEM ? SP_NOMEM : SP_IO, "%s cannot be read: %s", path, sp__strerror(errno));
    char *text = sp__alloc(FILE_BYTES_MAX + 1);
    *bytes = text != NULL ? fread(text, 1, FILE_BYTES_MAX + 1, file) : 0;
    const bool failed = ferror(file) != 0;
    fclose(file);
    *out = text;
    if (text == NULL) return SP_NOMEM;
    SP_CHECK(!failed && *bytes <= FILE_BYTES_MAX, SP_IO, "%s cannot be read, or has more than %d bytes", path,
             FILE_BYTES_MAX);
    return SP_OK;
}

sp_status sp_serve_config_load(const char *path, sp_serve_config **out)
{
    SP_CHECK(path != NULL && out != NULL, SP_VALUE, "a path and a place for the result are needed");
    sp_serve_config *c = sp__alloc_zero(sizeof *c);
    size_t bytes = 0;
    if (c == NULL) return SP_NOMEM;
    sp_status status = slurp(path, &c->text, &bytes);
    if (status == SP_OK && (c->path = sp__arena_text(&c->arena, path)) == NULL) status = SP_NOMEM;
    if (status == SP_OK) {
        reader r = {c, sp__json_open(c->text, bytes)};
        status = read_file(&r);
        if (status != SP_OK && status != SP_NOMEM) sp__error_context("%s:%d", path, line_of(&r));
    }
    if (status == SP_OK) *out = c;
    else sp_serve_config_release(c);
    return status;
}

const char *sp_serve_config_get(const sp_serve_config *c, const char *key, int *line)
{
    const int i = setting_at(key);
    if (i == N_SETTINGS || c->values[i] == NULL) return NULL;
    if (line != NULL) *line = c->lines[i];
    return c->values[i];
}

int sp_serve_config_models(const sp_serve_config *c, const sp_model_config **out)
{
    if (!c) return 0;
    *out = c->models;
    return c->n_models;
}

void sp_serve_config_release(sp_serve_config *c)
{
    if (c == NULL) return;
    sp__free(c->text);
    sp__arena_free(&c->arena);
    sp__free(c);
}
