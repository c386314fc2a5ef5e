/* SPDX-License-Identifier: Apache-2.0 */
/* entries.c - models by name, and which of their versions are served.
 *
 * Of what lies in a model's folder its settings say what is served: the newest, some of the newest, all, or listed ones. What is new is loaded beside the
 * old, tried out, and takes its place in one step; requests that have the old one keep it until they are done. What cannot be loaded is told once and
 * not tried again before it changes; a version that is served is given up only when it is gone from the disk or another takes its place. */
#include <stdio.h>
#include <string.h>

#include "serve/serve_impl.h"

static sp_entry *from(sp_entry *e)
{
    while (e != NULL && atomic_load(&e->gone)) e = e->next;
    return e;
}

sp_entry *sp__entry_first(struct sp_server *s)
{
    sp__lock(&s->lock);
    sp_entry *e = s->entries; /* entries are put in front and stay */
    sp__unlock(&s->lock);
    return from(e);
}

sp_entry *sp__entry_next(const sp_entry *e) { return from(e->next); }

sp_entry *sp__entry_find(struct sp_server *s, const char *name)
{
    sp_entry *e = sp__entry_first(s);
    while (e != NULL && strcmp(e->name, name) != 0) e = sp__entry_next(e);
    return e;
}

/* The lock is held, or the caller is who loads. */
static sp_served *served_at(const sp_entry *e, int64_t version)
{
    sp_served *m = e->served;
    while (m != NULL && m->version != version) m = m->next;
    return m;
}

sp_served *sp__entry_take(sp_entry *e, int64_t version)
{
    sp__lock(&e->lock);
    sp_served *m = version == 0 ? e->served : served_at(e, version);
    if (m != NULL) sp__served_retain(m);
    sp__unlock(&e->lock);
    return m;
}

int sp__entry_versions(sp_entry *e, int64_t out[SP_SERVE_VERSIONS_MAX])
{
    int n = 0, i = 0;
    sp__lock(&e->lock);
    for (const sp_served *m = e->served; m != NULL && n < SP_SERVE_VERSIONS_MAX; m = m->next) n++;
    for (const sp_served *m = e->served; i < n; m = m->next) out[n - ++i] = m->version;
    sp__unlock(&e->lock);
    return n;
}

static void copy_text(sp_entry *e, const char from_[400], char to[400])
{
    sp__lock(&e->lock);
    memcpy(to, from_, 400);
    sp__unlock(&e->lock);
}

void sp__entry_degraded(sp_entry *e, char out[400]) { copy_text(e, e->degraded, out); }
void sp__entry_unavailable(sp_entry *e, char out[400]) { copy_text(e, e->unavailable, out); }

static void describe(const sp_entry *e, const sp_served *m, double seconds)
{
    char batch[160];
    if (m->max_batch > 1)
        snprintf(batch, sizeof batch, "up to %d rows are run together%s", m->max_batch,
                 m->exact ? "" : ", equal up to rounding");
    else snprintf(batch, sizeof batch, "requests are run one by one: %s", m->why_single);
    sp__server_log(e->server, SP_LOG_INFO, "model %s version %lld is ready, %.2f s (%s); %s", e->name,
                   (long long)m->version, seconds, m->file, batch);
}

static void retire(struct sp_server *s, sp_served *m)
{
    sp__lock(&s->lock);
    m->next = s->retired;
    s->retired = m;
    sp__unlock(&s->lock);
}

bool sp__entries_retire(struct sp_server *s)
{
    sp_served *idle = NULL;
    sp__lock(&s->lock);
    for (sp_served **at = &s->retired, *m; (m = *at) != NULL;) {
        if (atomic_load(&m->refs) == 1) {
            *at = m->next;
            m->next = idle;
            idle = m;
        } else at = &m->next;
    }
    const bool some = s->retired != NULL;
    sp__unlock(&s->lock);
    for (sp_served *next; idle != NULL; idle = next) {
        next = idle->next;
        sp__server_log(s, SP_LOG_INFO, "model %s version %lld is no longer served", idle->entry->name,
                       (long long)idle->version);
        sp__served_release(idle);
    }
    return some;
}

/* --- notes --------------------------------------------------------------------------------------------------------- */

static sp_version_note **note_at(sp_entry *e, int64_t version)
{
    sp_version_note **at = &e->notes;
    while (*at != NULL && (*at)->version != version) at = &(*at)->next;
    return at;
}

/* NULL: no memory for a new one. */
static sp_version_note *note_of(sp_entry *e, int64_t version)
{
    sp_version_note **at = note_at(e, version);
    if (*at == NULL && (*at = sp__alloc_zero(sizeof **at)) != NULL) (*at)->version = version;
    return *at;
}

static void note_forget(sp_entry *e, int64_t version)
{
    sp_version_note **at = note_at(e, version), *n = *at;
    if (n == NULL) return;
    *at = n->next;
    sp__copies_free(n->copies);
    sp__free(n);
}

/* Of versions that are gone from the disk; 0: all. */
static void notes_forget_gone(sp_entry *e)
{
    for (sp_version_note *n = e->notes, *next; n != NULL; n = next) {
        next = n->next;
        int64_t v = INT64_MAX;
        do
            if (sp__versions_next(e, v, &v) != SP_OK) return;
        while (v > n->version);
        if (v != n->version) note_forget(e, n->version);
    }
}

/* Note why a version cannot be served; it is told later, unless it was told before. What concerns the disk may pass by itself and is not remembered as tried. */
static void refuse(sp_entry *e, int64_t version, sp_status status, sp_file_copy *take_copies)
{
    sp_error error;
    sp_error_capture(status, &error);
    sp_version_note *n = note_of(e, version);
    if (n == NULL || status == SP_IO || status == SP_NOMEM) {
        sp__copies_free(take_copies);
        take_copies = NULL;
    }
    if (n == NULL) return;
    sp__copies_free(n->copies);
    n->copies = take_copies;
    n->told = n->told && strcmp(n->error.message, error.message) == 0;
    n->error = error;
}

/* --- loading ------------------------------------------------------------------------------------------------------- */

/* Put it in its place among those that are served; one of the same version goes. */
static void take_over(sp_entry *e, sp_served *m)
{
    sp_served **at = &e->served, *old = NULL;
    sp__lock(&e->lock);
    while (*at != NULL && (*at)->version > m->version) at = &(*at)->next;
    if (*at != NULL && (*at)->version == m->version) {
        old = *at;
        m->next = old->next;
    } else m->next = *at;
    *at = m;
    sp__unlock(&e->lock);
    if (old != NULL) retire(e->server, old);
}

typedef enum { SERVED, LOADED, REFUSED, RESTLESS } outcome;

/* Load this version, if it is not served already; LOADED: it was, into *out. */
static outcome try_version(sp_entry *e, int64_t version, sp_served **out, double *seconds)
{
    char file[SP_SERVE_PATH_BYTES] = "";
    sp_stamp stamp = {0};
    sp_file_copy *copies = NULL;
    const sp_served *now = served_at(e, version);
    sp_status status = sp__versions_file(e, version, file);
    if (status == SP_OK) status = sp__stamp_read(file, &stamp);
    if (status != SP_OK) {
        refuse(e, version, status, NULL);
        return REFUSED;
    }
    if (now != NULL && now->generation == e->generation && strcmp(now->file, file) == 0 &&
        sp__copies_current(now->copies))
        return SERVED;
    sp_version_note *n = note_of(e, version);
    if (n != NULL && n->error.status != SP_OK && n->copies != NULL && sp__copies_current(n->copies)) return REFUSED;
    if (n != NULL && atomic_load(&e->tried) && !sp__stamp_equal(&stamp, &n->seen)) { /* somebody may be at it */
        n->seen = stamp;
        return RESTLESS;
    }
    const int64_t began = sp__net_now_us();
    status = sp__served_load(e, version, file, &copies, out);
    *seconds = (double)(sp__net_now_us() - began) / 1e6;
    if (sp__server_stopping(e->server)) {
        sp__copies_free(copies);
        if (status == SP_OK) sp__served_release(*out);
        return RESTLESS;
    }
    atomic_fetch_add(status == SP_OK ? &e->metrics.loads : &e->metrics.load_failures, 1);
    if (status != SP_OK) {
        refuse(e, version, status, copies);
        return REFUSED;
    }
    note_forget(e, version);
    return LOADED;
}

/* Give up those that are served but not among the `n` in kept. */
static void keep_only(sp_entry *e, int n, const int64_t *kept)
{
    sp_served *old = NULL;
    sp__lock(&e->lock);
    for (sp_served **at = &e->served, *m; (m = *at) != NULL;) {
        int i = 0;
        while (i < n && kept[i] != m->version) i++;
        if (i < n) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        m->next = old;
        old = m;
    }
    sp__unlock(&e->lock);
    for (sp_served *next; old != NULL; old = next) {
        next = old->next;
        retire(e->server, old);
    }
}

/* Keep why the newest version cannot be served, for those who ask. */
static void keep_reason(sp_entry *e, int64_t refused)
{
    char text[400] = "";
    const sp_version_note *n = refused > 0 ? *note_at(e, refused) : NULL;
    if (n != NULL)
        snprintf(text, sizeof text, "version %lld cannot be served: %.300s", (long long)refused, n->error.message);
    sp__lock(&e->lock);
    memcpy(e->served != NULL ? e->degraded : e->unavailable, text, sizeof text);
    (e->served != NULL ? e->unavailable : e->degraded)[0] = '\0';
    sp__unlock(&e->lock);
}

void sp__entry_tell(sp_entry *e)
{
    bool news = false;
    int64_t newest = 0;
    for (sp_version_note *n = e->notes; n != NULL; n = n->next) {
        if (n->error.status == SP_OK) continue;
        if (n->version > newest) newest = n->version;
        if (n->told) continue;
        n->told = news = true;
        sp__server_log(e->server, SP_LOG_ERROR, "model %s: version %lld cannot be served: %s", e->name,
                       (long long)n->version, n->error.message);
    }
    if (!news) return;
    if (e->served == NULL) sp__server_log(e->server, SP_LOG_ERROR, "model %s: no version can be served", e->name);
    else if (newest >= e->served->version)
        sp__server_log(e->server, SP_LOG_ERROR, "model %s: version %lld is served, version %lld should be", e->name,
                       (long long)e->served->version, (long long)newest);
}

/* The newest versions that can be served, as many as are wanted. *refused: the newest that cannot, 0: none. Fails, with those that are served kept,
 * where it cannot be seen which there are. */
static sp_status load_versions(sp_entry *e, int64_t *refused, bool *restless)
{
    int64_t kept[SP_SERVE_VERSIONS_MAX];
    int n = 0;
    for (int64_t v = INT64_MAX; n < e->settings.n_newest;) {
        sp_served *m = NULL;
        double seconds = 0;
        SP_TRY(sp__versions_next(e, v, &v));
        if (v == 0) break;
        if (!sp__settings_want(&e->settings, v)) continue;
        const outcome o = try_version(e, v, &m, &seconds);
        *restless = *restless || o == RESTLESS;
        if (o == REFUSED && *refused == 0) *refused = v;
        if (o == LOADED) take_over(e, m);
        if (served_at(e, v) != NULL) kept[n++] = v;
        if (n == e->settings.n_newest) keep_only(e, n, kept);
        if (o == LOADED) describe(e, m, seconds);
        if (sp__server_stopping(e->server)) return SP_OK;
    }
    if (n > 0) keep_only(e, n, kept);
    return SP_OK;
}

sp_status sp__entry_load(sp_entry *e, bool *restless)
{
    int64_t refused = 0;
    *restless = false;
    if (atomic_load(&e->unloaded)) return SP_OK;
    e->folder = sp__is_folder(e->path);
    sp_status status = load_versions(e, &refused, restless);
    if (status == SP_OK) notes_forget_gone(e);
    if (e->served != NULL) status = SP_OK; /* what could not be seen is looked at again */
    if (e->served == NULL && !*restless) {
        const sp_version_note *n = refused > 0 ? *note_at(e, refused) : NULL;
        if (n != NULL) status = sp__fail(n->error.status, "%s", n->error.message);
        else if (refused > 0)
            status = sp__fail(SP_NOMEM, "%s: out of memory: version %lld cannot be loaded", e->path,
                              (long long)refused); /* nor noted */
        else if (status == SP_OK)
            status = sp__fail(SP_VALUE, "%s: holds none of the versions that are to be served", e->path);
        if (refused == 0) {
            sp__lock(&e->lock);
            snprintf(e->unavailable, sizeof e->unavailable, "%.390s", sp_error_message());
            sp__unlock(&e->lock);
        }
    }
    if (refused > 0 || e->served != NULL) keep_reason(e, refused);
    atomic_store(&e->tried, true);
    return status;
}

void sp__entry_unload(sp_entry *e, const char *why)
{
    keep_only(e, 0, NULL);
    while (e->notes != NULL) note_forget(e, e->notes->version);
    sp__lock(&e->lock);
    e->degraded[0] = '\0';
    snprintf(e->unavailable, sizeof e->unavailable, "%s", why);
    sp__unlock(&e->lock);
}

/* --- making -------------------------------------------------------------------------------------------------------- */

static void entry_free(sp_entry *e)
{
    for (sp_served *m = e->served, *next; m != NULL; m = next) {
        next = m->next;
        sp__served_release(m);
    }
    sp__lock_destroy(&e->lock);
    while (e->notes != NULL) note_forget(e, e->notes->version);
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

sp_status sp__entry_create(struct sp_server *s, const char *name, const char *path, const sp_settings *settings,
                           sp_entry **out)
{
    sp_entry *e = sp__alloc_zero(sizeof *e);
    if (e == NULL) return SP_NOMEM;
    sp__lock_init(&e->lock);
    e->server = s;
    e->name = name != NULL ? sp__strdup(name) : sp__model_name(path);
    e->path = sp__strdup(path);
    e->folder = sp__is_folder(path);
    e->settings = *settings;
    sp_status status = e->name != NULL && e->path != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK && (e->name[0] == '\0' || strlen(e->name) > 200))
        status = sp__fail(SP_VALUE, "%s: the name of a model has 1 to 200 bytes", path);
    if (status == SP_OK && sp__entry_find(s, e->name) != NULL)
        status =
            sp__fail(SP_VALUE, "%s: there is a model '%s' already; give it another name: NAME=%s", path, e->name, path);
    if (status != SP_OK) {
        entry_free(e);
        return status;
    }
    sp__lock(&s->lock);
    e->next = s->entries;
    s->entries = e;
    sp__unlock(&s->lock);
    *out = e;
    return SP_OK;
}
