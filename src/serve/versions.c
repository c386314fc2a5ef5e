/* SPDX-License-Identifier: Apache-2.0 */
/* versions.c - what lies in the folders of models.
 *
 * A model is a file, whose version is 1, or a folder with numbered folders in it, each with one model file. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/plain.h"
#include "serve/serve_impl.h"

enum { PATH_BYTES = SP_SERVE_PATH_BYTES };

static const char *const endings[] = {".mindir", ".onnx", ".tflite", ".ms", ".ensemble"};

static bool has_ending(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > strlen(endings[i]) && sp__same_letters(name + n - strlen(endings[i]), endings[i])) return true;
    return false;
}

bool sp__is_folder(const char *path)
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
    SP_CHECK(n == 1, SP_VALUE,
             n == 0  ? "%s: holds no model (.mindir, .onnx, .tflite, .ms or .ensemble)"
             : n > 1 ? "%s: holds more than one model; leave one in each version's folder"
                     : "%s: has too long a path",
             folder);
    return SP_OK;
}

/* The largest number below `below` among the folders in `path`; 0: there is none. Fails where the folder cannot be read for the moment (no
 * memory, no descriptor), which says nothing about what is in it. */
static sp_status newest_version(const char *path, int64_t below, int64_t *newest)
{
    DIR *d = opendir(path);
    *newest = 0;
    if (d == NULL && (errno == ENOMEM || errno == EMFILE || errno == ENFILE))
        return sp__fail(errno == ENOMEM ? SP_NOMEM : SP_IO, "%s: %s", path, sp__strerror(errno));
    if (d == NULL) return SP_OK;
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        char inside[PATH_BYTES];
        const int64_t v = version_number(entry->d_name);
        if (v > *newest && v < below && snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) < PATH_BYTES &&
            sp__is_folder(inside))
            *newest = v;
    }
    closedir(d);
    return SP_OK;
}

/* The file of a version: in path/VERSION, whose name may have zeros in front. */
__attribute__((noinline)) /* a path on the stack at a time */ static sp_status find_version(const sp_entry *e,
                                                                                            int64_t version, char *file)
{
    char folder[PATH_BYTES];
    DIR *d = opendir(e->path);
    SP_CHECK(d != NULL, errno == ENOMEM ? SP_NOMEM : SP_IO, "%s: %s", e->path, sp__strerror(errno));
    sp_status status = sp__fail(SP_IO, "%s: changes while it is read", e->path);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        if (version_number(entry->d_name) == version &&
            snprintf(folder, sizeof folder, "%s/%s", e->path, entry->d_name) < PATH_BYTES && sp__is_folder(folder))
            status = find_file(folder, file);
    closedir(d);
    return status;
}

/* What there is to serve, the newest below `below`; 0: nothing more. A file, or a folder with nothing but a file, is version 1. */
sp_status sp__versions_next(const sp_entry *e, int64_t below, int64_t *next)
{
    int64_t newest = 0;
    if (e->folder) SP_TRY(newest_version(e->path, INT64_MAX, &newest));
    *next = newest ? newest : 1;
    if (newest != 0 && below <= newest) return newest_version(e->path, below, next);
    if (newest == 0 && below <= 1) *next = 0;
    return SP_OK;
}

sp_status sp__versions_in(const char *path, bool *there)
{
    int64_t newest = 0;
    SP_TRY(newest_version(path, INT64_MAX, &newest));
    *there = newest > 0;
    return SP_OK;
}

sp_status sp__versions_file(const sp_entry *e, int64_t version, char file[SP_SERVE_PATH_BYTES])
{
    int64_t newest = 0;
    if (e->folder) {
        SP_TRY(newest_version(e->path, INT64_MAX, &newest));
        return newest > 0 ? find_version(e, version, file) : find_file(e->path, file);
    }
    SP_CHECK(snprintf(file, PATH_BYTES, "%s", e->path) < PATH_BYTES, SP_VALUE, "%s: has too long a path", e->path);
    return SP_OK;
}

char *sp__model_name(const char *path)
{
    char text[PATH_BYTES];
    snprintf(text, sizeof text, "%s", path);
    for (size_t n = strlen(text); n > 1 && text[n - 1] == '/'; n--) text[n - 1] = '\0';
    const char *slash = strrchr(text, '/');
    char *name = sp__strdup(slash != NULL ? slash + 1 : text);
    if (name == NULL || sp__is_folder(path)) return name;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(name), k = strlen(endings[i]);
        if (n > k && sp__same_letters(name + n - k, endings[i])) name[n - k] = '\0';
    }
    return name;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

sp_status sp__models_in(const char *path, char ***out, int *n_out)
{
    DIR *d = opendir(path);
    char **names = NULL;
    int n = 0;
    SP_CHECK(d != NULL, errno == ENOMEM ? SP_NOMEM : SP_IO, "%s: %s", path, sp__strerror(errno));
    sp_status status = SP_OK;
    for (struct dirent *entry; (entry = readdir(d)) != NULL && status == SP_OK;) {
        char inside[PATH_BYTES];
        if (entry->d_name[0] == '.' || snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) >= PATH_BYTES)
            continue;
        int64_t newest = 0;
        const bool folder = sp__is_folder(inside);
        if (folder && (status = newest_version(inside, INT64_MAX, &newest)) != SP_OK) break;
        if (folder ? newest == 0 : !has_ending(entry->d_name)) continue;
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
