/* SPDX-License-Identifier: Apache-2.0 */
/* models.c - which models there are: those that the program gave, and those in folders that it gave to be watched.
 *
 * All of this is done by one thread at a time (sp__load_begin): the program's, when it gives models, or the watcher. */
#include <stdio.h>
#include <string.h>

#include "serve/serve_impl.h"

void sp__load_begin(struct sp_server *s)
{
    sp__lock(&s->lock);
    while (s->loading) sp__cond_wait(&s->loaded, &s->lock);
    s->loading = true;
    sp__unlock(&s->lock);
}

void sp__load_end(struct sp_server *s)
{
    sp__lock(&s->lock);
    s->loading = false;
    sp__cond_signal(&s->loaded);
    sp__unlock(&s->lock);
}

/* --- one model ------------------------------------------------------------------------------------------------------- */

/* The entry of that name, as it was or new, with these settings; it is loaded later. */
static sp_status entry_for(struct sp_server *s, const char *name, const char *path, const sp_settings *settings,
                           sp_model_folder *of, sp_entry **out)
{
    char *own = name != NULL ? sp__strdup(name) : sp__model_name(path);
    if (own == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    sp__lock(&s->lock);
    sp_entry *e = s->entries;
    sp__unlock(&s->lock);
    while (e != NULL &&
           (strcmp(e->name, own) != 0 || strcmp(e->path, path) != 0 || (!atomic_load(&e->gone) && e->of != of)))
        e = e->next;
    if (e == NULL) {
        status = sp__entry_create(s, own, path, settings, &e);
        if (status == SP_OK) e->of = of;
    } else if (atomic_load(&e->gone) && sp__entry_find(s, own) != NULL) {
        status =
            sp__fail(SP_VALUE, "%s: there is a model '%s' already; give it another name: NAME=%s", path, own, path);
    } else {
        const bool back = atomic_load(&e->gone);
        sp__lock(&e->lock);
        const bool same = memcmp(&e->settings, settings, sizeof *settings) == 0;
        e->settings = *settings;
        e->overridden = false;
        sp__unlock(&e->lock);
        e->generation += !same;
        e->of = of;
        if (back || !same)
            atomic_store(&e->tried, false); /* loaded at once, without waiting whether somebody is at the file */
        if (back) atomic_store(&e->unloaded, false);
        atomic_store(&e->gone, false);
    }
    sp__free(own);
    if (status == SP_OK) *out = e;
    return status;
}

static void give_up(sp_entry *e)
{
    sp__server_log(e->server, SP_LOG_INFO, "model %s is no longer among the models", e->name);
    atomic_store(&e->gone, true);
    sp__entry_unload(e, "it was removed");
}

/* --- folders --------------------------------------------------------------------------------------------------------- */

/* Models of a folder: new ones become entries, those that are gone are given up. */
static sp_status look_into(struct sp_server *s, sp_model_folder *f)
{
    char **paths = NULL;
    int n = 0;
    sp_status status = sp__models_in(f->path, &paths, &n);
    if (status == SP_OK) { /* a folder that cannot be read for a moment has lost nothing */
        for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
            int i = 0;
            while (i < n && strcmp(paths[i], e->path) != 0) i++;
            if (e->of == f && i == n) give_up(e);
        }
        for (int i = 0; i < n; i++) {
            sp_entry *e = NULL;
            char *name = sp__model_name(paths[i]);
            sp_entry *there = name != NULL ? sp__entry_find(s, name) : NULL;
            if (there == NULL) status = entry_for(s, name, paths[i], &f->settings, f, &e);
            if (e != NULL && s->n_setting == 0) atomic_store(&e->tried, true); /* it may be being written */
            if (there != NULL && there->of != f && s->n_setting > 0)
                status = sp__fail(SP_VALUE, "%s: there is a model '%s' already; give it another name: NAME=%s",
                                  paths[i], name, paths[i]);
            sp__free(name);
            if (status != SP_OK) break;
        }
    }
    for (int i = 0; i < n; i++) sp__free(paths[i]);
    sp__free(paths);
    return status;
}

static sp_status folder_for(struct sp_server *s, const char *path, const sp_settings *settings)
{
    sp_model_folder *f = s->folders;
    while (f != NULL && strcmp(f->path, path) != 0) f = f->next;
    if (f == NULL) {
        f = sp__alloc_zero(sizeof *f);
        if (f == NULL || (f->path = sp__strdup(path)) == NULL) {
            sp__free(f);
            return SP_NOMEM;
        }
        f->next = s->folders;
        s->folders = f;
    }
    f->gone = false;
    f->settings = *settings;
    SP_TRY(look_into(s, f));
    int n = 0;
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
        sp_entry *same;
        if (e->of != f) continue;
        n++;
        e->listed = true;
        SP_TRY(entry_for(s, e->name, e->path, settings, f, &same));
    }
    SP_CHECK(n > 0, SP_VALUE,
             "%s: holds no models: neither files (.mindir, .onnx, .tflite, .ms) nor folders NAME/VERSION", path);
    return SP_OK;
}

/* --- all of them ------------------------------------------------------------------------------------------------------ */

static bool is_folder_of_models(const sp_model_config *c)
{
    bool versions = true; /* also where that cannot be seen now: loading it as a model tells why */
    return c->name == NULL && sp__is_folder(c->path) && sp__versions_in(c->path, &versions) == SP_OK && !versions;
}

/* Those that are listed; failing where a setting is wrong. */
static sp_status list(struct sp_server *s, const sp_model_config *c)
{
    sp_settings settings = {0};
    sp_entry *e = NULL;
    SP_CHECK(c->path != NULL && c->path[0] != '\0', SP_VALUE, "a model has no path");
    sp_status status = sp__settings_read(&s->o, c, &settings);
    if (status != SP_OK) sp__error_context("%s", c->name != NULL ? c->name : c->path);
    SP_TRY(status);
    if (is_folder_of_models(c)) return folder_for(s, c->path, &settings);
    SP_TRY(entry_for(s, c->name, c->path, &settings, NULL, &e));
    SP_CHECK(!e->listed, SP_VALUE, "%s: there is a model '%s' already; give it another name: NAME=%s", c->path, e->name,
             c->path);
    e->listed = true;
    return SP_OK;
}

/* Load what is listed and not served as it should be. Fails with the first reason, after all were tried. */
static sp_status load_listed(struct sp_server *s, bool listed_only)
{
    sp_error first = {.status = SP_OK};
    int n_served = 0;
    for (sp_entry *e = sp__entry_first(s); e != NULL && !sp__server_stopping(s); e = sp__entry_next(e)) {
        bool restless;
        const sp_status status = listed_only && !e->listed ? SP_OK : sp__entry_load(e, &restless);
        n_served += e->served != NULL && (e->listed || !listed_only);
        if (status != SP_OK && first.status == SP_OK) sp_error_capture(status, &first);
    }
    SP_CHECK(!sp__server_stopping(s), SP_RUNTIME, "the server is being stopped");
    if (first.status == SP_OK || (n_served > 0 && !s->o.strict)) { /* else the caller tells */
        for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) sp__entry_tell(e);
        return SP_OK;
    }
    return sp__fail(first.status, "%s", first.message);
}

/* Two of one name are a mistake. */
static sp_status check_names(const sp_model_config *a, const sp_model_config *b)
{
    if (is_folder_of_models(a) || is_folder_of_models(b)) return SP_OK;
    char *x = a->name != NULL ? sp__strdup(a->name) : sp__model_name(a->path),
         *y = b->name != NULL ? sp__strdup(b->name) : sp__model_name(b->path);
    sp_status status = x != NULL && y != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK && strcmp(x, y) == 0)
        status =
            sp__fail(SP_VALUE, "%s: there is a model '%s' already; give it another name: NAME=%s", a->path, x, a->path);
    sp__free(x);
    sp__free(y);
    return status;
}

static sp_status check_settings(const struct sp_server *s, int n, const sp_model_config *models)
{
    for (int i = 0; i < n; i++) {
        sp_settings unused;
        SP_CHECK(models[i].path != NULL, SP_VALUE, "model %d has no path", i);
        const sp_status status = sp__settings_read(&s->o, &models[i], &unused);
        if (status != SP_OK) sp__error_context("%s", models[i].name != NULL ? models[i].name : models[i].path);
        SP_TRY(status);
        for (int k = 0; k < i; k++) SP_TRY(check_names(&models[i], &models[k]));
    }
    return SP_OK;
}

/* Entries are put in front of the list, and are loaded and shown from there: the last is listed first, so that they come in the order they were given. */
sp_status sp_server_set_models(sp_server *s, int n, const sp_model_config *models)
{
    SP_CHECK(s != NULL && (n == 0 || models != NULL), SP_VALUE, "the server and its models are needed");
    SP_TRY(sp__server_check(s));
    SP_TRY(check_settings(s, n, models));
    sp__load_begin(s);
    atomic_fetch_add(&s->n_setting, 1);
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) e->listed = false;
    for (sp_model_folder *f = s->folders; f != NULL; f = f->next) f->gone = true;
    /* What is no longer wanted goes first: another may take its name. */
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) {
        bool wanted = false;
        for (int i = 0; i < n && !wanted; i++) {
            char *name = models[i].name != NULL ? sp__strdup(models[i].name) : sp__model_name(models[i].path);
            wanted = e->of != NULL ? is_folder_of_models(&models[i]) && strcmp(e->of->path, models[i].path) == 0
                                   : name != NULL && strcmp(name, e->name) == 0 && strcmp(models[i].path, e->path) == 0;
            sp__free(name);
        }
        if (!wanted) give_up(e);
    }
    sp_status status = SP_OK;
    for (int i = n - 1; i >= 0 && status == SP_OK; i--) status = list(s, &models[i]);
    if (status == SP_OK) status = load_listed(s, false);
    atomic_fetch_sub(&s->n_setting, 1);
    sp__load_end(s);
    return status;
}

static sp_status add(sp_server *s, const char *name, const char *path)
{
    const sp_model_config c = {.name = name, .path = path};
    SP_CHECK(s != NULL && path != NULL, SP_VALUE, "the server and a path are needed");
    SP_TRY(sp__server_check(s));
    sp__load_begin(s);
    atomic_fetch_add(&s->n_setting, 1);
    char *own = name != NULL ? sp__strdup(name) : sp__model_name(path);
    sp_status status =
        own == NULL ? SP_NOMEM
        : sp__entry_find(s, own) == NULL || is_folder_of_models(&c)
            ? SP_OK
            : sp__fail(SP_VALUE, "%s: there is a model '%s' already; give it another name: NAME=%s", path, own, path);
    sp__free(own);
    for (sp_entry *e = sp__entry_first(s); e != NULL; e = sp__entry_next(e)) e->listed = false;
    if (status == SP_OK) status = list(s, &c);
    if (status == SP_OK) status = load_listed(s, true);
    atomic_fetch_sub(&s->n_setting, 1);
    sp__load_end(s);
    return status;
}

sp_status sp_server_add_model(sp_server *s, const char *name, const char *path)
{
    char *own = name == NULL && path != NULL ? sp__model_name(path)
                                             : NULL; /* with a name it is one model, whatever lies in the folder */
    const sp_status status = add(s, name != NULL ? name : own, path);
    sp__free(own);
    return status;
}

sp_status sp_server_add_folder(sp_server *s, const char *path) { return add(s, NULL, path); }

void sp__models_look(struct sp_server *s)
{
    for (sp_model_folder *f = s->folders; f != NULL; f = f->next)
        if (!f->gone) look_into(s, f);
}

bool sp__models_poll(struct sp_server *s)
{
    bool some = false;
    sp__load_begin(s);
    sp__models_look(s);
    for (sp_entry *e = sp__entry_first(s); e != NULL && !sp__server_stopping(s); e = sp__entry_next(e)) {
        bool restless;
        sp__entry_load(e, &restless);
        sp__entry_tell(e);
        some = some || restless;
    }
    sp__load_end(s);
    return some;
}

void sp__models_release(struct sp_server *s)
{
    for (sp_model_folder *f = s->folders, *next; f != NULL; f = next) {
        next = f->next;
        sp__free(f->path);
        sp__free(f);
    }
    s->folders = NULL;
}
