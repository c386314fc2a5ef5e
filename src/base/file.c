/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - mapping files, and replacing them so that a reader sees the old or the new one, never a part.
 *
 * Replacing: a temporary file in the same folder (rename works inside one file system only), all bytes, fsync, rename,
 * fsync of the folder. The two fsyncs give the order "contents, then name" on disk too, so a power failure leaves one
 * of the two files whole. The temporary name is hidden, short (the target's name may have the maximal length) and made
 * with O_EXCL, so several threads and processes may save side by side; the last rename wins. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/file.h"
#include "base/map_guard.h"
#include "base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WRITE_BYTES = 32 << 20 }; /* read or written by one call of the system */

/* --- reading ----------------------------------------------------------------------------------------------------- */

static int open_retry(const char *path, int flags, mode_t mode)
{
    int fd;
    do fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int64_t nanoseconds(const struct timespec *t) { return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec; }

static sp_status bytes_of(const struct stat *st, size_t *out)
{
    SP_CHECK((uintmax_t)st->st_size <= SIZE_MAX / 2, SP_IO, "its %jd bytes do not fit the address space",
             (intmax_t)st->st_size);
    *out = (size_t)st->st_size;
    return SP_OK;
}

static sp_status map_fd(int fd, sp_map *map)
{
    struct stat st;
    SP_CHECK(fstat(fd, &st) == 0, SP_IO, "its size cannot be told: %s", sp__strerror(errno));
    SP_CHECK(!S_ISDIR(st.st_mode), SP_IO, "is a folder, a file is wanted");
    SP_CHECK(S_ISREG(st.st_mode), SP_IO, "is not a regular file");
    SP_TRY(bytes_of(&st, &map->bytes));
    map->written_ns = nanoseconds(&st.st_mtim);
    map->data = NULL;
    map->guard = NULL;
    if (map->bytes == 0) return SP_OK; /* nothing to map, and mmap refuses a length of 0 */
    void *data = mmap(NULL, map->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    SP_CHECK(data != MAP_FAILED, errno == ENOMEM ? SP_NOMEM : SP_IO, "its %zu bytes cannot be mapped: %s", map->bytes,
             sp__strerror(errno));
    map->data = data;
    return SP_OK;
}

/* --- copies ------------------------------------------------------------------------------------------------------ */

enum { QUIET_NS = 1000000000 }; /* since the last write, where nothing better tells that it was the last */

static _Thread_local sp_file_copy **copies; /* where they are noted; NULL: files are mapped */

void sp__map_copy_begin(sp_file_copy **list) { copies = list; }
void sp__map_copy_end(void) { copies = NULL; }

static sp_stamp stamp_of(const struct stat *st)
{
    return (sp_stamp){(uint64_t)st->st_dev, (uint64_t)st->st_ino, (int64_t)st->st_size, nanoseconds(&st->st_mtim),
                      nanoseconds(&st->st_ctim)};
}

sp_status sp__stamp_read(const char *path, sp_stamp *out)
{
    struct stat st;
    SP_CHECK(stat(path, &st) == 0, SP_IO, "%s: %s", path, sp__strerror(errno));
    *out = stamp_of(&st);
    return SP_OK;
}

bool sp__stamp_equal(const sp_stamp *a, const sp_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes && a->written_ns == b->written_ns &&
           a->changed_ns == b->changed_ns;
}

bool sp__copies_current(const sp_file_copy *list)
{
    struct stat st;
    for (; list != NULL; list = list->next) {
        if (stat(list->path, &st) != 0) return false;
        const sp_stamp now = stamp_of(&st);
        if (!sp__stamp_equal(&now, &list->stamp)) return false;
    }
    return true;
}

void sp__copies_free(sp_file_copy *list)
{
    for (sp_file_copy *next; list != NULL; list = next) {
        next = list->next;
        sp__free(list);
    }
}

/* Has anybody the file open for writing? The system grants a lease for reading only if not. Where it grants none (another's file, some file systems), a
 * file that was written a moment ago is taken for one that is being written. The signal is for a writer that comes while we hold it; by default it
 * does nothing. */
static bool is_written(int fd, const struct stat *st)
{
    struct timespec now;
    if (fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(fd, F_SETLEASE, F_UNLCK);
        return false;
    }
    if (errno == EAGAIN) return true;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t age = nanoseconds(&now) - nanoseconds(&st->st_mtim);
    return age >= 0 && age < QUIET_NS;
}

static sp_status note_copy(const char *path, const struct stat *st)
{
    sp_file_copy *c = sp__alloc(sizeof *c + strlen(path) + 1);
    if (c == NULL) return SP_NOMEM;
    c->stamp = stamp_of(st);
    strcpy(c->path, path);
    c->next = *copies;
    *copies = c;
    return SP_OK;
}

static sp_status read_fd(int fd, uint8_t *out, size_t bytes, off_t place)
{
    for (uint8_t *at = out; bytes > 0;) {
        ssize_t n = pread(fd, at, bytes < WRITE_BYTES ? bytes : WRITE_BYTES, place);
        if (n < 0 && errno == EINTR) continue;
        SP_CHECK(n > 0, SP_IO, "reading stopped at byte %lld: %s", (long long)place,
                 n < 0 ? sp__strerror(errno) : "the file has become shorter since it was opened");
        at += n;
        place += n;
        bytes -= (size_t)n;
    }
    return SP_OK;
}

static sp_status copy_fd(const char *path, int fd, sp_map **out)
{
    struct stat before, after;
    sp_map *map = NULL;
    SP_CHECK(fstat(fd, &before) == 0, SP_IO, "its size cannot be told: %s", sp__strerror(errno));
    SP_CHECK(S_ISREG(before.st_mode), SP_IO,
             S_ISDIR(before.st_mode) ? "is a folder, a file is wanted" : "is not a regular file");
    SP_TRY(note_copy(path, &before));
    SP_CHECK(!is_written(fd, &before), SP_IO, "is being written; it can be read when that is done");
    size_t bytes = 0;
    SP_TRY(bytes_of(&before, &bytes));
    SP_TRY(sp__map_create(bytes, &map));
    sp_status status = read_fd(fd, map->data, map->bytes, 0);
    if (status == SP_OK) {
        const bool same = fstat(fd, &after) == 0 && before.st_size == after.st_size &&
                          nanoseconds(&before.st_mtim) == nanoseconds(&after.st_mtim) && !is_written(fd, &after);
        if (!same) status = sp__fail(SP_IO, "was changed while it was read; it can be read when that is done");
    }
    if (status == SP_OK) *out = map;
    else sp__map_release(map);
    return status;
}

static sp_status open_copy(const char *path, sp_map **out)
{
    const int fd = open_retry(path, O_RDONLY | O_NONBLOCK, 0);
    SP_CHECK(fd >= 0, SP_IO, "cannot be opened: %s", sp__strerror(errno));
    sp_status status = copy_fd(path, fd, out);
    close(fd);
    return status;
}

/* --- maps -------------------------------------------------------------------------------------------------------- */

sp_status sp__map_open(const char *path, sp_map **out)
{
    if (copies != NULL) return open_copy(path, out);
    sp_map *map = sp__alloc(sizeof *map);
    if (map == NULL) return SP_NOMEM;
    /* Without O_NONBLOCK opening a pipe would wait for a writer before we can refuse it. */
    int fd = open_retry(path, O_RDONLY | O_NONBLOCK, 0);
    sp_status status = fd >= 0 ? map_fd(fd, map) : sp__fail(SP_IO, "cannot be opened: %s", sp__strerror(errno));
    if (status == SP_OK && map->data != NULL && (map->guard = sp__guard_add(map->data, map->bytes, path)) == NULL) {
        munmap(map->data, map->bytes);
        status = SP_NOMEM;
    }
    if (status != SP_OK) {
        if (fd >= 0) close(fd);
        sp__free(map);
        return status;
    }
    map->fd = fd;
    atomic_init(&map->refs, 1);
    *out = map;
    return SP_OK;
}

sp_status sp__map_create(size_t bytes, sp_map **out)
{
    sp_map *map = sp__alloc(sizeof *map);
    if (map == NULL) return SP_NOMEM;
    *map = (sp_map){.bytes = bytes, .fd = -1};
    if (bytes > 0 && (map->data = sp__alloc(bytes)) == NULL) {
        sp__free(map);
        return SP_NOMEM;
    }
    atomic_init(&map->refs, 1);
    *out = map;
    return SP_OK;
}

void sp__map_retain(sp_map *map) { atomic_fetch_add_explicit(&map->refs, 1, memory_order_relaxed); }

sp_status sp__map_read(const sp_map *map, const uint8_t *data, size_t bytes, void *out)
{
    if (map->fd < 0) {
        if (bytes > 0) memcpy(out, data, bytes);
        return SP_OK;
    }
    return read_fd(map->fd, out, bytes, (off_t)(data - map->data));
}

sp_status sp__map_check_cut(const sp_map *map)
{
    SP_CHECK(map->guard == NULL || !atomic_load_explicit(&map->guard->cut, memory_order_relaxed), SP_IO,
             "%s: the file was cut while it was mapped; load it again", map->guard->path);
    return SP_OK;
}

sp_status sp__map_check(const sp_map *map)
{
    struct stat st;
    if (map->fd < 0) return SP_OK;
    SP_TRY(sp__map_check_cut(map));
    const bool same =
        fstat(map->fd, &st) == 0 && (uintmax_t)st.st_size == map->bytes && nanoseconds(&st.st_mtim) == map->written_ns;
    SP_CHECK(same, SP_IO, "%s: the file was changed while it was mapped (%zu bytes then, %lld now); load it again",
             map->guard != NULL ? map->guard->path : "(empty)", map->bytes, (long long)st.st_size);
    return SP_OK;
}

void sp__map_touch(const void *data, size_t bytes)
{
    const volatile char *p = data;
    for (size_t i = 0; i < bytes; i += 4096) (void)p[i];
    if (bytes > 0) (void)p[bytes - 1];
}

void sp__map_release(void *context)
{
    sp_map *map = context;
    if (map == NULL || atomic_fetch_sub_explicit(&map->refs, 1, memory_order_acq_rel) != 1) return;
    sp__guard_remove(map->guard); /* before another map can have the address */
    if (map->fd < 0) sp__free(map->data);
    else if (map->data != NULL) munmap(map->data, map->bytes);
    if (map->fd >= 0) close(map->fd);
    sp__free(map);
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

enum { BUFFER_BYTES = 64 << 10, TEMPORARY_TRIES = 100 };

struct sp_replace {
    int fd;
    char *target;    /* what gets replaced, links resolved */
    char *folder;    /* of the target */
    char *temporary; /* name of the new file; empty while it has none */
    bool hasty;
    uint64_t total_bytes;
    uint64_t started; /* of these, on their way to disk */
    size_t buffered;
    uint8_t buffer[BUFFER_BYTES];
};

static void replace_free(sp_replace *r)
{
    sp__free(r->target);
    sp__free(r->folder);
    sp__free(r->temporary);
    sp__free(r);
}

/* The path behind symbolic links: the link stays, its target is replaced. */
static sp_status resolve(const char *path, char **out)
{
    struct stat st;
    const char *found = path;
    char *behind = NULL;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        behind = realpath(path, NULL);
        SP_CHECK(behind != NULL, errno == ENOMEM ? SP_NOMEM : SP_IO, "the link cannot be followed: %s",
                 sp__strerror(errno));
        found = behind;
    }
    sp_status status = SP_OK;
    if (stat(found, &st) == 0) {
        if (S_ISDIR(st.st_mode)) status = sp__fail(SP_IO, "is a folder, a file name is wanted");
        else if (!S_ISREG(st.st_mode)) status = sp__fail(SP_IO, "exists and is not a regular file");
    }
    if (status == SP_OK && (*out = sp__strdup(found)) == NULL) status = SP_NOMEM;
    free(behind);
    return status;
}

static sp_status find_folder(sp_replace *r)
{
    const char *slash = strrchr(r->target, '/');
    r->folder = sp__strdup(slash == NULL ? "." : r->target);
    if (r->folder == NULL) return SP_NOMEM;
    if (slash == r->target) r->folder[1] = '\0';
    else if (slash != NULL) r->folder[slash - r->target] = '\0';
    return SP_OK;
}

/* Put a name into r->temporary that probably nobody has. */
static void name_temporary(sp_replace *r, size_t room)
{
    static _Atomic unsigned counter;
    snprintf(r->temporary, room, "%s/.spore-%ld-%u.tmp", r->folder, (long)getpid(), atomic_fetch_add(&counter, 1));
}

static size_t temporary_room(const sp_replace *r) { return strlen(r->folder) + 64; }

/* A file without a name, where the file system has such: whatever ends this process, the kernel takes its bytes back. It gets
 * its name through /proc, so that must be there. */
static bool make_unnamed(sp_replace *r)
{
    if (access("/proc/self/fd", X_OK) != 0) return false;
    r->fd = open_retry(r->folder, O_TMPFILE | O_WRONLY, 0644);
    return r->fd >= 0;
}

static sp_status make_temporary(sp_replace *r)
{
    r->temporary = sp__alloc(temporary_room(r));
    if (r->temporary == NULL) return SP_NOMEM;
    r->temporary[0] = '\0';
    if (make_unnamed(r)) return SP_OK;
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        name_temporary(r, temporary_room(r));
        r->fd = open_retry(r->temporary, O_WRONLY | O_CREAT | O_EXCL, 0644);
        if (r->fd >= 0) return SP_OK;
        if (errno != EEXIST) break; /* left behind by a process of the same number: take the next */
    }
    sp_status status =
        sp__fail(SP_IO, "a new file cannot be made in the folder %s: %s", r->folder, sp__strerror(errno));
    r->temporary[0] = '\0';
    return status;
}

/* The complete file gets a name, from which it can be renamed: only that replaces a file in one step. */
static int give_name(sp_replace *r)
{
    char open_file[64];
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", r->fd);
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        name_temporary(r, temporary_room(r));
        if (linkat(AT_FDCWD, open_file, AT_FDCWD, r->temporary, AT_SYMLINK_FOLLOW) == 0) return 0;
        if (errno != EEXIST) break;
    }
    r->temporary[0] = '\0';
    return -1;
}

sp_status sp__replace_open(const char *path, sp_replace **out)
{
    SP_CHECK(path[0] != '\0', SP_VALUE, "the file name is empty");
    sp_replace *r = sp__alloc(sizeof *r);
    if (r == NULL) return SP_NOMEM;
    memset(r, 0, offsetof(sp_replace, buffer));
    r->fd = -1;
    sp_status status;
    SP_GOTO(failed, resolve(path, &r->target));
    SP_GOTO(failed, find_folder(r));
    SP_GOTO(failed, make_temporary(r));
    *out = r;
    return SP_OK;
failed:
    replace_free(r);
    return status;
}

void sp__replace_private(sp_replace *r) { (void)fchmod(r->fd, 0600); /* our own new file: cannot fail */ }

void sp__replace_hasty(sp_replace *r) { r->hasty = true; }

static sp_status write_all(sp_replace *r, const uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        size_t piece = bytes < WRITE_BYTES ? bytes : WRITE_BYTES;
        ssize_t n = write(r->fd, data, piece);
        if (n < 0 && errno == EINTR) continue;
        SP_CHECK(n > 0, SP_IO, "writing stopped after %llu bytes: %s", (unsigned long long)r->total_bytes,
                 n < 0 ? sp__strerror(errno) : "no progress");
        data += n;
        bytes -= (size_t)n;
        r->total_bytes += (uint64_t)n;
        /* Let the disk begin while we go on: fsync at the end finds less to do. A hint; what fails, fsync reports. */
        if (r->total_bytes - r->started >= WRITE_BYTES) {
            sync_file_range(r->fd, (off_t)r->started, (off_t)(r->total_bytes - r->started), SYNC_FILE_RANGE_WRITE);
            r->started = r->total_bytes;
        }
    }
    return SP_OK;
}

static sp_status flush(sp_replace *r)
{
    size_t n = r->buffered;
    r->buffered = 0;
    return write_all(r, r->buffer, n);
}

sp_status sp__replace_write(sp_replace *r, const void *data, size_t bytes)
{
    if (bytes > BUFFER_BYTES - r->buffered) SP_TRY(flush(r));
    if (bytes > BUFFER_BYTES) return write_all(r, data, bytes);
    if (bytes > 0) memcpy(r->buffer + r->buffered, data, bytes);
    r->buffered += bytes;
    return SP_OK;
}

static int fsync_retry(int fd)
{
    int result;
    do result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result;
}

static sp_status sync_folder(const sp_replace *r)
{
    int fd = open_retry(r->folder, O_RDONLY | O_DIRECTORY, 0);
    /* A folder that may be written but not read cannot be synced; the new file is in place all the same. */
    if (fd < 0 && errno == EACCES) return SP_OK;
    int result = fd < 0 ? -1 : fsync_retry(fd);
    int reason = errno;
    if (fd >= 0) close(fd);
    /* Some network file systems have no such operation for folders: EINVAL. */
    SP_CHECK(result == 0 || reason == EINVAL, SP_IO, "saved, but the folder %s cannot be synced: %s", r->folder,
             sp__strerror(reason));
    return SP_OK;
}

sp_status sp__replace_take_commit(sp_replace *r)
{
    sp_status status = flush(r);
    if (status == SP_OK && !r->hasty && fsync_retry(r->fd) != 0)
        status = sp__fail(SP_IO, "%llu bytes cannot be brought to disk: %s", (unsigned long long)r->total_bytes,
                          sp__strerror(errno));
    if (status == SP_OK && r->temporary[0] == '\0' && give_name(r) != 0)
        status = sp__fail(SP_IO, "the new file cannot be put into the folder %s: %s", r->folder, sp__strerror(errno));
    if (status != SP_OK) {
        sp__replace_abort(r);
        return status;
    }
    int closed = close(r->fd);
    r->fd = -1;
    /* EINTR: Linux has closed the file, and fsync has already reported what could go wrong. */
    if (closed != 0 && errno != EINTR) status = sp__fail(SP_IO, "closing failed: %s", sp__strerror(errno));
    else if (rename(r->temporary, r->target) != 0)
        status = sp__fail(SP_IO, "cannot be replaced: %s", sp__strerror(errno));
    if (status != SP_OK) {
        sp__replace_abort(r);
        return status;
    }
    if (!r->hasty) status = sync_folder(r);
    replace_free(r);
    return status;
}

void sp__replace_abort(sp_replace *r)
{
    if (r == NULL) return;
    if (r->fd >= 0) close(r->fd);
    if (r->temporary != NULL && r->temporary[0] != '\0') unlink(r->temporary);
    replace_free(r);
}

sp_status sp__folder_make(const char *path)
{
    char *part = sp__strdup(path);
    if (!part) return SP_NOMEM;
    int failed = 0;
    for (char *at = part + 1; !failed && *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        failed = mkdir(part, 0777) != 0 && errno != EEXIST;
        *at = '/';
    }
    if (!failed) failed = mkdir(part, 0777) != 0 && errno != EEXIST;
    const int reason = errno;
    sp__free(part);
    SP_CHECK(!failed, SP_IO, "the folder %s cannot be made: %s", path, sp__strerror(reason));
    return SP_OK;
}
