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
#include <strings.h>
#include <sys/stat.h>

#include "serve/serve_impl.h"

enum { PATH_BYTES = 4096 };

static const char *const endings[] = {".mindir", ".onnx", ".tflite"};

/* --- the disk ------------------------------------------------------------------------------------------------------ */

static bool has_ending(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > strlen(endings[i]) && strcasecmp(name + n - strlen(endings[i]), endings[i]) == 0) return true;
    return false;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static sp_status read_stamp(const char *path, sp_file_stamp *out)
{
    struct stat info;
    if (stat(path, &info) != 0) return sp__fail(SP_IO, "%s: %s", path, strerror(errno));
    *out = (sp_file_stamp){(uint64_t)info.st_ino, (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec, (int64_t)info.st_mtim.tv_nsec};
    return SP_OK;
}

static bool same_stamp(const sp_file_stamp *a, const sp_file_stamp *b)
{
    return a->inode == b->inode && a->bytes == b->bytes && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
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
    SP_CHECK(d != NULL, SP_IO, "%s: %s", folder, strerror(errno));
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        if (entry->d_name[0] == '.' || !has_ending(entry->d_name)) continue;
        n++;
        if (snprintf(out, PATH_BYTES, "%s/%s", folder, entry->d_name) >= PATH_BYTES) n = -1000;
    }
    closedir(d);
    SP_CHECK(n == 1, SP_VALUE, n == 0 ? "%s: holds no model (.mindir, .onnx or .tflite)" : n > 1 ? "%s: holds more than one model; leave one in each version's folder" : "%s: has too long a path", folder);
    return SP_OK;
}

/* The largest number among the folders in `path`; 0: there is none. */
static int64_t newest_version(const char *path)
{
    DIR *d = opendir(path);
    int64_t newest = 0;
    if (d == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        char inside[PATH_BYTES];
        const int64_t v = version_number(entry->d_name);
        if (v > newest && snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) < PATH_BYTES && is_folder(inside)) newest = v;
    }
    closedir(d);
    return newest;
}

/* What is to be served of a path now. */
static sp_status find_newest(const sp_entry *e, int64_t *version, char *file)
{
    char folder[PATH_BYTES];
    *version = 1;
    if (!e->folder) {
        SP_CHECK(snprintf(file, PATH_BYTES, "%s", e->path) < PATH_BYTES, SP_VALUE, "%s: has too long a path", e->path);
        return SP_OK;
    }
    *version = newest_version(e->path);
    if (*version == 0) {
        *version = 1;
        return find_file(e->path, file);
    }
    DIR *d = opendir(e->path); /* "007" is a name of 7, too */
    SP_CHECK(d != NULL, SP_IO, "%s: %s", e->path, strerror(errno));
    sp_status status = sp__fail(SP_IO, "%s: changes while it is read", e->path);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        if (version_number(entry->d_name) == *version && snprintf(folder, sizeof folder, "%s/%s", e->path, entry->d_name) < PATH_BYTES)
            status = find_file(folder, file);
    closedir(d);
    return status;
}

/* --- entries ------------------------------------------------------------------------------------------------------- */

sp_entry *sp__entry_find(struct sp_server *s, const char *name)
{
    pthread_mutex_lock(&s->lock);
    sp_entry *e = s->entries;
    pthread_mutex_unlock(&s->lock);
    while (e != NULL && strcmp(e->name, name) != 0) e = e->next;
    return e;
}

sp_served *sp__entry_take(sp_entry *e, int64_t version)
{
    pthread_mutex_lock(&e->lock);
    sp_served *m = e->current;
    if (m != NULL && (version == 0 || m->version == version)) sp__served_retain(m);
    else m = NULL;
    pthread_mutex_unlock(&e->lock);
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
    pthread_mutex_lock(&s->lock);
    m->next_retired = s->retired;
    s->retired = m;
    pthread_mutex_unlock(&s->lock);
}

bool sp__entries_retire(struct sp_server *s)
{
    sp_served *idle = NULL;
    pthread_mutex_lock(&s->lock);
    for (sp_served **at = &s->retired, *m; (m = *at) != NULL;) {
        if (atomic_load(&m->refs) == 1) {
            *at = m->next_retired;
            m->next_retired = idle;
            idle = m;
        } else at = &m->next_retired;
    }
    const bool some = s->retired != NULL;
    pthread_mutex_unlock(&s->lock);
    for (sp_served *next; idle != NULL; idle = next) {
        next = idle->next_retired;
        sp__server_log(s, SP_LOG_INFO, "model %s version %lld is no longer served", idle->entry->name, (long long)idle->version);
        sp__served_release(idle);
    }
    return some;
}

/* Load what is newest, if it is not there already. */
static sp_status entry_load(sp_entry *e)
{
    char file[PATH_BYTES] = "";
    int64_t version;
    sp_file_stamp stamp = {0};
    sp_served *m = NULL;
    SP_TRY(find_newest(e, &version, file));
    SP_TRY(read_stamp(file, &stamp));
    const sp_served *now = e->current; /* written by this thread alone, or before `added` */
    if (now != NULL && now->version == version && same_stamp(&now->stamp, &stamp)) return SP_OK;
    if (e->refused != NULL && strcmp(e->refused, file) == 0 && same_stamp(&e->refused_stamp, &stamp)) return SP_OK;
    const int64_t began = sp__net_now_us();
    sp_status status = sp__served_load(e, version, file, &stamp, &m);
    atomic_fetch_add(status == SP_OK ? &e->metrics.loads : &e->metrics.load_failures, 1);
    sp__free(e->refused);
    e->refused = NULL;
    if (status != SP_OK) {
        e->refused = sp__strdup(file);
        e->refused_stamp = stamp;
        return status;
    }
    pthread_mutex_lock(&e->lock);
    sp_served *old = e->current;
    e->current = m;
    pthread_mutex_unlock(&e->lock);
    retire(e->server, old);
    describe(e, m, (double)(sp__net_now_us() - began) / 1e6);
    return SP_OK;
}

void sp__entries_poll(struct sp_server *s)
{
    pthread_mutex_lock(&s->lock);
    sp_entry *e = s->entries;
    pthread_mutex_unlock(&s->lock);
    for (; e != NULL; e = e->next) {
        if (!atomic_load(&e->added)) continue; /* sp_server_add_model is at it */
        if (entry_load(e) == SP_OK) {
            e->complaint[0] = '\0';
        } else if (strncmp(e->complaint, sp_error_message(), sizeof e->complaint - 1) != 0) { /* once is enough */
            snprintf(e->complaint, sizeof e->complaint, "%s", sp_error_message());
            sp__server_log(s, SP_LOG_ERROR, "model %s: what is newest there cannot be served%s: %s", e->name, e->current != NULL ? ", the old version stays" : "", sp_error_message());
        }
    }
}

static void entry_free(sp_entry *e)
{
    sp__served_release(e->current);
    pthread_mutex_destroy(&e->lock);
    sp__free(e->refused);
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
        if (n > k && strcasecmp(name + n - k, endings[i]) == 0) name[n - k] = '\0';
    }
    return name;
}

static sp_status entry_create(struct sp_server *s, const char *name, const char *path, sp_entry **out)
{
    sp_entry *e = sp__alloc_zero(sizeof *e);
    if (e == NULL) return SP_NOMEM;
    pthread_mutex_init(&e->lock, NULL);
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
    SP_TRY(entry_create(s, name, path, &e));
    /* Seen at once, so that the server is not ready before it; without a version until it is loaded. */
    pthread_mutex_lock(&s->lock);
    e->next = s->entries;
    s->entries = e;
    pthread_mutex_unlock(&s->lock);
    sp_status status = entry_load(e);
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
    SP_CHECK(d != NULL, SP_IO, "%s: %s", path, strerror(errno));
    sp_status status = SP_OK;
    for (struct dirent *entry; (entry = readdir(d)) != NULL && status == SP_OK;) {
        char inside[PATH_BYTES];
        if (entry->d_name[0] == '.' || snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) >= PATH_BYTES) continue;
        if (is_folder(inside) ? newest_version(inside) == 0 : !has_ending(entry->d_name)) continue;
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
    if (newest_version(path) > 0) return sp_server_add_model(s, NULL, path); /* of one model */
    sp_status status = list_models(path, &names, &n);
    if (status == SP_OK && n == 0) status = sp__fail(SP_VALUE, "%s: holds no models: neither files (.mindir, .onnx, .tflite) nor folders NAME/VERSION", path);
    for (int i = 0; i < n && status == SP_OK; i++) status = sp_server_add_model(s, NULL, names[i]);
    for (int i = 0; i < n; i++) sp__free(names[i]);
    sp__free(names);
    return status;
}
