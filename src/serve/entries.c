/* SPDX-License-Identifier: Apache-2.0 */
/* entries.c - models by name, their versions, and what appears in their folders.
 *
 * A model is a file, whose version is 1, or a folder with numbered folders in it, of which the largest number is served. The watcher looks at
 * them now and then. What is newer is loaded beside the old one, tried out, and put in its place in one step; requests that have the old
 * one keep it until they are done. What cannot be loaded is told once and not tried again before it changes. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/plain.h"
#include "serve/serve_impl.h"

enum { PATH_BYTES = 4096 };

static const char *const endings[] = {".mindir", ".onnx", ".tflite"};

/* --- the disk ------------------------------------------------------------------------------------------------------ */

static bool has_ending(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > strlen(endings[i]) && sp__same_letters(name + n - strlen(endings[i]), endings[i])) return true;
    return false;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* "12" as a version; 0: it is none. */
static int64_t version_number(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    return digits > 0 && digits <= 18 && name[digits] == '\0' ? strtoll(name, NULL, 10) : 0;
}

/* The one model file of a folder. */
static sp_status find_file(const char *folder, char *out)
{
    DIR *d = opendir(folder);
    int n = 0;
    SP_CHECK(d != NULL, errno == ENOMEM ? SP_NOMEM : SP_IO, "%s: %s", folder, sp__strerror(errno));
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        if (entry->d_name[0] == '.' || !has_ending(entry->d_name)) continue;
        n++;
        if (snprintf(out, PATH_BYTES, "%s/%s", folder, entry->d_name) >= PATH_BYTES) n = -1000;
    }
    closedir(d);
    SP_CHECK(n == 1, SP_VALUE, n == 0 ? "%s: holds no model (.mindir, .onnx or .tflite)" : n > 1 ? "%s: holds more than one model; leave one in each version's folder" : "%s: has too long a path", folder);
    return SP_OK;
}

/* The largest number below `below` among the folders in `path`; 0: there is none. */
static int64_t newest_version(const char *path, int64_t below)
{
    DIR *d = opendir(path);
    int64_t newest = 0;
    if (d == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        char inside[PATH_BYTES];
        const int64_t v = version_number(entry->d_name);
        if (v > newest && v < below && snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) < PATH_BYTES && is_folder(inside)) newest = v;
    }
    closedir(d);
    return newest;
}

/* The file of a version: in path/VERSION, whose name may have zeros in front. */
__attribute__((noinline)) /* a path on the stack at a time */ static sp_status find_version(const sp_entry *e, int64_t version, char *file)
{
    char folder[PATH_BYTES];
    DIR *d = opendir(e->path);
    SP_CHECK(d != NULL, errno == ENOMEM ? SP_NOMEM : SP_IO, "%s: %s", e->path, sp__strerror(errno));
    sp_status status = sp__fail(SP_IO, "%s: changes while it is read", e->path);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        if (version_number(entry->d_name) == version && snprintf(folder, sizeof folder, "%s/%s", e->path, entry->d_name) < PATH_BYTES && is_folder(folder))
            status = find_file(folder, file);
    closedir(d);
    return status;
}

/* What there is to serve, the newest below `below`; 0: nothing more. A file, or a folder with nothing but a file, is version 1. */
static int64_t next_version(const sp_entry *e, int64_t below)
{
    const int64_t newest = e->folder ? newest_version(e->path, INT64_MAX) : 0;
    if (newest == 0) return below > 1 ? 1 : 0;
    return below > newest ? newest : newest_version(e->path, below);
}

static sp_status find_model(const sp_entry *e, int64_t version, char *file)
{
    if (e->folder) return newest_version(e->path, INT64_MAX) > 0 ? find_version(e, version, file) : find_file(e->path, file);
    SP_CHECK(snprintf(file, PATH_BYTES, "%s", e->path) < PATH_BYTES, SP_VALUE, "%s: has too long a path", e->path);
    return SP_OK;
}

/* --- entries ------------------------------------------------------------------------------------------------------- */

sp_entry *sp__entry_find(struct sp_server *s, const char *name)
{
    sp__lock(&s->lock);
    sp_entry *e = s->entries;
    sp__unlock(&s->lock);
    while (e != NULL && strcmp(e->name, name) != 0) e = e->next;
    return e;
}

sp_served *sp__entry_take(sp_entry *e, int64_t version)
{
    sp__lock(&e->lock);
    sp_served *m = e->current;
    if (m != NULL && (version == 0 || m->version == version)) sp__served_retain(m);
    else m = NULL;
    sp__unlock(&e->lock);
    return m;
}

static void describe(sp_entry *e, const sp_served *m, double seconds)
{
    char batch[160];
    if (m->max_batch > 1) snprintf(batch, sizeof batch, "up to %d rows are run together%s", m->max_batch, m->exact ? "" : ", equal up to rounding");
    else snprintf(batch, sizeof batch, "requests are run one by one: %s", m->why_single);
    sp__server_log(e->server, SP_LOG_INFO, "model %s version %lld is ready, %.2f s (%s); %s", e->name, (long long)m->version, seconds, m->file, batch);
}

static void retire(struct sp_server *s, sp_served *m)
{
    if (m == NULL) return;
    sp__lock(&s->lock);
    m->next_retired = s->retired;
    s->retired = m;
    sp__unlock(&s->lock);
}

bool sp__entries_retire(struct sp_server *s)
{
    sp_served *idle = NULL;
    sp__lock(&s->lock);
    for (sp_served **at = &s->retired, *m; (m = *at) != NULL;) {
        if (atomic_load(&m->refs) == 1) {
            *at = m->next_retired;
            m->next_retired = idle;
            idle = m;
        } else at = &m->next_retired;
    }
    const bool some = s->retired != NULL;
    sp__unlock(&s->lock);
    for (sp_served *next; idle != NULL; idle = next) {
        next = idle->next_retired;
        sp__server_log(s, SP_LOG_INFO, "model %s version %lld is no longer served", idle->entry->name, (long long)idle->version);
        sp__served_release(idle);
    }
    return some;
}

/* --- loading ------------------------------------------------------------------------------------------------------- */

static void refusal_free(sp_refusal *r)
{
    sp__copies_free(r->copies);
    sp__free(r);
}

static sp_refusal **refusal_at(sp_entry *e, int64_t version)
{
    sp_refusal **at = &e->refusals;
    while (*at != NULL && (*at)->version != version) at = &(*at)->next;
    return at;
}

static void refusal_forget(sp_entry *e, int64_t version)
{
    sp_refusal **at = refusal_at(e, version), *r = *at;
    if (r == NULL) return;
    *at = r->next;
    refusal_free(r);
}

/* Note why a version cannot be served; it is told later, unless it was told before. What concerns the disk may pass by itself and is not remembered as tried. */
static void refuse(sp_entry *e, int64_t version, sp_status status, sp_copy *take_copies)
{
    sp_refusal **at = refusal_at(e, version), *r = *at;
    sp_error error;
    sp_error_capture(status, &error);
    if (r == NULL && (r = sp__alloc_zero(sizeof *r)) != NULL) {
        r->version = version;
        *at = r;
    }
    if (r == NULL) {
        sp__copies_free(take_copies);
        return;
    }
    sp__copies_free(r->copies);
    r->copies = take_copies;
    if (status == SP_IO || status == SP_NOMEM) {
        sp__copies_free(r->copies);
        r->copies = NULL;
    }
    r->told = r->told && strcmp(r->error.message, error.message) == 0;
    r->error = error;
}

static void switch_to(sp_entry *e, sp_served *m)
{
    sp__lock(&e->lock);
    sp_served *old = e->current;
    e->current = m;
    sp__unlock(&e->lock);
    retire(e->server, old);
}

typedef enum { SERVED, REFUSED, RESTLESS } outcome;

/* Serve this version, if it is not served already. */
static outcome try_version(sp_entry *e, int64_t version)
{
    char file[PATH_BYTES] = "";
    sp_stamp stamp = {0};
    sp_served *m = NULL;
    sp_copy *copies = NULL;
    const sp_served *now = e->current; /* written by this thread alone, or before `added` */
    sp_status status = find_model(e, version, file);
    if (status == SP_OK) status = sp__stamp_read(file, &stamp);
    if (status != SP_OK) {
        refuse(e, version, status, NULL);
        return REFUSED;
    }
    if (now != NULL && now->version == version && strcmp(now->file, file) == 0 && sp__copies_current(now->copies)) return SERVED;
    const sp_refusal *r = *refusal_at(e, version);
    if (r != NULL && r->copies != NULL && sp__copies_current(r->copies)) return REFUSED;
    if (atomic_load(&e->added) && !sp__stamp_equal(&stamp, &e->seen)) { /* somebody may be at it */
        e->seen = stamp;
        return RESTLESS;
    }
    const int64_t began = sp__net_now_us();
    status = sp__served_load(e, version, file, &copies, &m);
    if (sp__server_stopping(e->server)) {
        sp__copies_free(copies);
        sp__served_release(m);
        return RESTLESS;
    }
    atomic_fetch_add(status == SP_OK ? &e->metrics.loads : &e->metrics.load_failures, 1);
    if (status != SP_OK) {
        refuse(e, version, status, copies);
        return REFUSED;
    }
    refusal_forget(e, version);
    switch_to(e, m);
    describe(e, m, (double)(sp__net_now_us() - began) / 1e6);
    return SERVED;
}

/* Tell what is new about versions that cannot be served, and keep the state of the newest for those who ask. */
static void tell_refusals(sp_entry *e, int64_t newest_refused)
{
    char text[400] = "";
    bool news = false;
    for (sp_refusal *r = e->refusals; r != NULL; r = r->next) {
        if (r->version == newest_refused)
            snprintf(text, sizeof text, "version %lld cannot be served: %.300s", (long long)r->version, r->error.message);
        if (r->told) continue;
        r->told = news = true;
        sp__server_log(e->server, SP_LOG_ERROR, "model %s: version %lld cannot be served: %s", e->name, (long long)r->version, r->error.message);
    }
    if (news && newest_refused > 0) {
        if (e->current != NULL) sp__server_log(e->server, SP_LOG_ERROR, "model %s: version %lld is served, version %lld should be", e->name, (long long)e->current->version, (long long)newest_refused);
        else sp__server_log(e->server, SP_LOG_ERROR, "model %s: no version can be served", e->name);
    }
    sp__lock(&e->lock);
    memcpy(e->degraded, text, sizeof e->degraded);
    sp__unlock(&e->lock);
}

void sp__entry_degraded(sp_entry *e, char out[400])
{
    sp__lock(&e->lock);
    memcpy(out, e->degraded, sizeof e->degraded);
    sp__unlock(&e->lock);
}

/* Serve the newest version that can be. One that is served is given up for an older one only when it is gone from the disk. *restless: one is not at rest. */
static sp_status entry_load(sp_entry *e, bool *restless)
{
    int64_t newest_refused = 0;
    outcome o = REFUSED;
    bool loaded_is_there = false;
    *restless = false;
    for (int64_t v = INT64_MAX; (v = next_version(e, v)) > 0;) loaded_is_there = loaded_is_there || (e->current != NULL && v == e->current->version);
    for (int64_t v = INT64_MAX; o != SERVED && (v = next_version(e, v)) > 0;) {
        if (loaded_is_there && v < e->current->version) break;
        o = try_version(e, v);
        *restless = *restless || o == RESTLESS;
        if (o == REFUSED && newest_refused == 0) newest_refused = v;
    }
    for (sp_refusal *r = e->refusals, *next; r != NULL; r = next) { /* of versions that are gone */
        next = r->next;
        int64_t v = INT64_MAX;
        while ((v = next_version(e, v)) > r->version) {}
        if (v != r->version) refusal_forget(e, r->version);
    }
    if (e->current != NULL || atomic_load(&e->added)) tell_refusals(e, newest_refused);
    if (e->current != NULL || *restless) return SP_OK;
    const sp_refusal *r = newest_refused > 0 ? *refusal_at(e, newest_refused) : NULL;
    return r != NULL ? sp__fail(r->error.status, "%s", r->error.message) : sp__fail(SP_NOMEM, "out of memory");
}

bool sp__entries_poll(struct sp_server *s)
{
    bool some = false;
    sp__lock(&s->lock);
    sp_entry *e = s->entries;
    sp__unlock(&s->lock);
    for (; e != NULL; e = e->next) {
        bool restless;
        if (!atomic_load(&e->added)) continue; /* sp_server_add_model is at it */
        entry_load(e, &restless);
        some = some || restless;
    }
    return some;
}

static void entry_free(sp_entry *e)
{
    sp__served_release(e->current);
    sp__lock_destroy(&e->lock);
    for (sp_refusal *r = e->refusals, *next; r != NULL; r = next) {
        next = r->next;
        refusal_free(r);
    }
    sp__free(e->name);
    sp__free(e->path);
    sp__free(e);
}

void sp__entries_release(struct sp_server *s)
{
    sp__entries_retire(s);
    for (sp_entry *e = s->entries, *next; e != NULL; e = next) {
        next = e->next;
        entry_free(e);
    }
    s->entries = NULL;
}

/* "models/lenet.mindir" as "lenet" */
static char *name_of(const char *path)
{
    char text[PATH_BYTES];
    snprintf(text, sizeof text, "%s", path);
    for (size_t n = strlen(text); n > 1 && text[n - 1] == '/'; n--) text[n - 1] = '\0';
    const char *slash = strrchr(text, '/');
    char *name = sp__strdup(slash != NULL ? slash + 1 : text);
    if (name == NULL || is_folder(path)) return name;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(name), k = strlen(endings[i]);
        if (n > k && sp__same_letters(name + n - k, endings[i])) name[n - k] = '\0';
    }
    return name;
}

static sp_status entry_create(struct sp_server *s, const char *name, const char *path, sp_entry **out)
{
    sp_entry *e = sp__alloc_zero(sizeof *e);
    if (e == NULL) return SP_NOMEM;
    sp__lock_init(&e->lock);
    e->server = s;
    e->name = name != NULL ? sp__strdup(name) : name_of(path);
    e->path = sp__strdup(path);
    e->folder = is_folder(path);
    sp_status status = e->name != NULL && e->path != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK && (e->name[0] == '\0' || strlen(e->name) > 200)) status = sp__fail(SP_VALUE, "%s: the name of a model has 1 to 200 bytes", path);
    if (status == SP_OK && sp__entry_find(s, e->name) != NULL) status = sp__fail(SP_VALUE, "%s: there is a model '%s' already; give it another name: NAME=%s", path, e->name, path);
    if (status == SP_OK) *out = e;
    else entry_free(e);
    return status;
}

sp_status sp_server_add_model(sp_server *s, const char *name, const char *path)
{
    sp_entry *e;
    SP_CHECK(s != NULL && path != NULL, SP_VALUE, "the server and a path are needed");
    SP_TRY(sp__server_check(s));
    SP_TRY(entry_create(s, name, path, &e));
    /* Seen at once, so that the server is not ready before it; without a version until it is loaded. */
    sp__lock(&s->lock);
    e->next = s->entries;
    s->entries = e;
    sp__unlock(&s->lock);
    bool restless;
    sp_status status = entry_load(e, &restless);
    if (status == SP_OK && e->current == NULL) status = sp__fail(SP_RUNTIME, "%s: the server is being stopped", path);
    atomic_store(&e->added, true);
    return status;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Names of what could be models in a folder, in order; freed by the caller. */
static sp_status list_models(const char *path, char ***out, int *n_out)
{
    DIR *d = opendir(path);
    char **names = NULL;
    int n = 0;
    SP_CHECK(d != NULL, errno == ENOMEM ? SP_NOMEM : SP_IO, "%s: %s", path, sp__strerror(errno));
    sp_status status = SP_OK;
    for (struct dirent *entry; (entry = readdir(d)) != NULL && status == SP_OK;) {
        char inside[PATH_BYTES];
        if (entry->d_name[0] == '.' || snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) >= PATH_BYTES) continue;
        if (is_folder(inside) ? newest_version(inside, INT64_MAX) == 0 : !has_ending(entry->d_name)) continue;
        char **more = sp__realloc(names, (size_t)n * sizeof *names, (size_t)(n + 1) * sizeof *names);
        if (more != NULL) names = more;
        if (more == NULL || (names[n] = sp__strdup(inside)) == NULL) status = SP_NOMEM;
        else n++;
    }
    closedir(d);
    if (n > 0) qsort(names, (size_t)n, sizeof *names, by_name);
    *out = names;
    *n_out = n;
    return status;
}

sp_status sp_server_add_folder(sp_server *s, const char *path)
{
    char **names = NULL;
    int n = 0;
    SP_CHECK(s != NULL && path != NULL, SP_VALUE, "the server and a path are needed");
    SP_TRY(sp__server_check(s));
    if (newest_version(path, INT64_MAX) > 0) return sp_server_add_model(s, NULL, path); /* of one model */
    sp_status status = list_models(path, &names, &n);
    if (status == SP_OK && n == 0) status = sp__fail(SP_VALUE, "%s: holds no models: neither files (.mindir, .onnx, .tflite) nor folders NAME/VERSION", path);
    for (int i = 0; i < n && status == SP_OK; i++) status = sp_server_add_model(s, NULL, names[i]);
    for (int i = 0; i < n; i++) sp__free(names[i]);
    sp__free(names);
    return status;
}
