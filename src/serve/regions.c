/* SPDX-License-Identifier: Apache-2.0 */
/* regions.c - the shared memory extension: regions by name, and tensors in them.
 *
 * Who may register is who may load models (--model-control), from this machine alone. A memfd is taken from the very process that is connected to the Unix socket, and there a
 * file must belong to the client's user, too: over TCP nothing tells whose a client is. Parts of a region count against --max-body, as a body of that size would. */
#include "serve/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"
#include "serve/texts.h"
#include "serve/triton.h"

#ifndef F_GET_SEALS
#define F_GET_SEALS 1034 /* of linux/fcntl.h */
#endif

struct sp_region {
    struct sp_region *next;
    atomic_int refs; /* the list's, and one for every use in a job */
    char name[256], key[300];
    uint64_t offset, bytes;
    int fd;
    bool writable;
};

struct sp_region_use {
    struct sp_region_use *next;
    sp_region *region;
};

static void release(sp_region *r)
{
    if (r == NULL || atomic_fetch_sub(&r->refs, 1) != 1) return;
    close(r->fd);
    sp__free(r);
}

/* --- opening --------------------------------------------------------------------------------------------------------- */

/* A file's name in /dev/shm: one part of a path; semaphores, which lie there, too, are no memory. */
static bool good_name(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n < 255 && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strncmp(name, "sem.", 4) != 0;
}

static sp_status open_path(sp_region *r, const char *path, int flags)
{
    r->writable = true;
    r->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | flags);
    if (r->fd < 0 && errno == EACCES) {
        r->writable = false;
        r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
    }
    if (r->fd >= 0) return SP_OK;
    const int why = errno;
    if (why == ENOENT)
        return sp__fail(
            SP_VALUE,
            "region '%s': there is no shared memory '%s' on the server's machine; create it, then register it", r->name,
            r->key);
    return sp__fail(SP_VALUE, "region '%s': '%s' cannot be opened by the server's user: %s", r->name, r->key,
                    sp__strerror(why));
}

static sp_status open_system(sp_region *r)
{
    char path[320];
    const char *name = r->key[0] == '/' ? r->key + 1 : r->key;
    SP_CHECK(good_name(name), SP_VALUE, "region '%s': key '%s' must be the name of shared memory, as shm_open takes it",
             r->name, r->key);
    snprintf(path, sizeof path, "/dev/shm/%s", name);
    return open_path(r, path, O_NOFOLLOW);
}

/* "memfd:PID:FD" */
static sp_status open_memfd(sp_region *r, const sp_exchange *x)
{
    long long pid = 0, fd = 0;
    int end = 0;
    char path[64];
    SP_CHECK(sscanf(r->key, "memfd:%9lld:%9lld%n", &pid, &fd, &end) == 2 && r->key[end] == '\0' && pid > 0 && fd >= 0,
             SP_VALUE, "region '%s': key '%s' must be memfd:PROCESS:DESCRIPTOR", r->name, r->key);
    SP_CHECK(pid == x->peer_pid, SP_VALUE,
             "region '%s': a memfd is taken over the Unix socket (--unix) alone, and of the process that asks",
             r->name);
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", pid, fd);
    SP_TRY(open_path(r, path, 0));
    SP_CHECK(fcntl(r->fd, F_GET_SEALS) >= 0, SP_VALUE, "region '%s': descriptor %lld of process %lld is no memfd",
             r->name, fd, pid);
    return SP_OK;
}

static sp_status check_file(const sp_region *r, const sp_exchange *x)
{
    struct stat st;
    SP_CHECK(fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode), SP_VALUE, "region '%s': '%s' is no shared memory", r->name,
             r->key);
    SP_CHECK(x->peer_pid == 0 || x->peer_uid == 0 || st.st_uid == x->peer_uid, SP_VALUE,
             "region '%s': '%s' belongs to another user than the client", r->name, r->key);
    const uint64_t size = (uint64_t)st.st_size;
    SP_CHECK(r->bytes <= size && r->offset <= size - r->bytes, SP_VALUE,
             "region '%s': '%s' has %llu bytes, %llu from byte %llu on are wanted", r->name, r->key,
             (unsigned long long)size, (unsigned long long)r->bytes, (unsigned long long)r->offset);
    return SP_OK;
}

static sp_status open_region(sp_region *r, const sp_exchange *x)
{
    SP_CHECK(r->bytes > 0, SP_VALUE, "region '%s' has no bytes (byte_size)", r->name);
    SP_TRY(strncmp(r->key, "memfd:", 6) == 0 ? open_memfd(r, x) : open_system(r));
    return check_file(r, x);
}

/* --- the list -------------------------------------------------------------------------------------------------------- */

/* The caller has the lock. */
static sp_region **find(sp_server *s, const char *name)
{
    sp_region **at = &s->regions;
    while (*at != NULL && strcmp((*at)->name, name) != 0) at = &(*at)->next;
    return at;
}

/* Has its name been taken from the file? Then who registers it again does so for a new one. */
static bool is_stale(const sp_region *r)
{
    struct stat st;
    return strncmp(r->key, "memfd:", 6) != 0 && fstat(r->fd, &st) == 0 && st.st_nlink == 0;
}

static sp_status insert(sp_server *s, sp_region *r)
{
    sp_region *old = NULL;
    sp__lock(&s->lock);
    sp_region **at = find(s, r->name);
    const bool taken = *at != NULL && !is_stale(*at),
               full = *at == NULL && atomic_load(&s->n_regions) >= SP_REGIONS_MAX;
    if (!taken && !full) {
        old = *at;
        r->next = old != NULL ? old->next : NULL;
        *at = r;
        atomic_fetch_add(&s->n_regions, old == NULL);
    }
    sp__unlock(&s->lock);
    release(old);
    SP_CHECK(!taken, SP_VALUE, "region '%s' is registered already; unregister it first", r->name);
    SP_CHECK(!full, SP_VALUE, "region '%s': %d regions are registered already, which is the limit", r->name,
             SP_REGIONS_MAX);
    return SP_OK;
}

const char *sp__region_refusal(const sp_server *s, const sp_exchange *x)
{
    const char *why = sp__control_refusal(s, x);
    if (why != NULL || sp__is_local(x)) return why;
    return "memory is shared with clients on the server's machine alone";
}

sp_status sp__region_register(sp_server *s, const sp_exchange *x, const char *name, const char *key, uint64_t offset,
                              uint64_t bytes)
{
    SP_CHECK(name[0] != '\0' && strlen(name) < sizeof s->regions->name, SP_VALUE,
             "the name of a region has 1 to %zu bytes", sizeof s->regions->name - 1);
    SP_CHECK(strlen(key) < sizeof s->regions->key, SP_VALUE, "region '%s': its key has more than %zu bytes", name,
             sizeof s->regions->key - 1);
    sp_region *r = sp__alloc_zero(sizeof *r);
    if (r == NULL) return SP_NOMEM;
    atomic_init(&r->refs, 1);
    r->offset = offset;
    r->bytes = bytes;
    r->fd = -1;
    memcpy(r->name, name, strlen(name) + 1);
    memcpy(r->key, key, strlen(key) + 1);
    sp_status status = open_region(r, x);
    if (status == SP_OK) status = insert(s, r);
    if (status == SP_OK) return SP_OK;
    if (r->fd >= 0) close(r->fd);
    sp__free(r);
    return status;
}

void sp__region_unregister(sp_server *s, const char *name)
{
    sp_region *gone = NULL;
    sp__lock(&s->lock);
    if (name == NULL || name[0] == '\0') {
        gone = s->regions;
        s->regions = NULL;
        atomic_store(&s->n_regions, 0);
    } else {
        sp_region **at = find(s, name);
        gone = *at;
        if (gone != NULL) {
            *at = gone->next;
            gone->next = NULL;
            atomic_fetch_sub(&s->n_regions, 1);
        }
    }
    sp__unlock(&s->lock);
    for (sp_region *next; gone != NULL; gone = next) {
        next = gone->next;
        release(gone);
    }
}

sp_status sp__regions_each(sp_server *s, const char *name, sp_region_line line, void *context)
{
    const bool all = name == NULL || name[0] == '\0';
    bool some = all;
    sp__lock(&s->lock);
    for (const sp_region *r = s->regions; r != NULL; r = r->next) {
        if (!all && strcmp(r->name, name) != 0) continue;
        some = true;
        line(context, r->name, r->key, r->offset, r->bytes);
    }
    sp__unlock(&s->lock);
    SP_CHECK(some, SP_KEY, "there is no region '%.255s'", name);
    return SP_OK;
}

void sp__regions_release(sp_server *s)
{
    for (sp_region *r = s->regions, *next; r != NULL; r = next) {
        next = r->next;
        release(r);
    }
    s->regions = NULL;
}

/* --- requests -------------------------------------------------------------------------------------------------------- */

static bool contains(const uint8_t *data, size_t bytes, const char *text)
{
    const size_t n = strlen(text);
    for (const uint8_t *p = data; bytes >= n && (p = memchr(p, text[0], bytes - n + 1 - (size_t)(p - data))) != NULL;) {
        if (memcmp(p, text, n) == 0) return true;
        if ((size_t)(++p - data) > bytes - n) break;
    }
    return false;
}

bool sp__region_asked(const sp_server *s, const sp_exchange *x)
{
    return atomic_load(&s->n_regions) > 0 && x->body != NULL &&
           contains(x->body, x->body_bytes, "shared_memory_region");
}

sp_status sp__region_parameter(const sp_parameter *p, const char *of, sp_region_words *w, bool *is_one)
{
    static const char *const keys[] = {"shared_memory_region", "shared_memory_byte_size", "shared_memory_offset"};
    int which = 0;
    while (which < 3 && strcmp(p->key, keys[which]) != 0) which++;
    *is_one = which < 3;
    if (!*is_one) return SP_OK;
    w->seen |= 1u << which;
    if (which == 0) {
        SP_CHECK(p->kind == 's', SP_TYPE, "parameter '%s' of %s must be a text", keys[0], of);
        w->name = p->text;
        return SP_OK;
    }
    SP_CHECK(p->kind == 'i' && p->integer >= 0, SP_VALUE, "parameter '%s' of %s must be an integer from 0 on",
             keys[which], of);
    *(which == 1 ? &w->bytes : &w->offset) = p->integer;
    return SP_OK;
}

/* The region, retained by the job, which has the part that is asked for. */
static sp_status use(sp_job *job, const char *of, const sp_region_words *w, sp_region **out)
{
    SP_CHECK((w->seen & 3) == 3, SP_VALUE, "%s has no parameter '%s', which goes with the others of shared memory", of,
             w->seen & 1 ? "shared_memory_byte_size" : "shared_memory_region");
    struct sp_region_use *u = sp__arena_alloc(&job->arena, sizeof *u);
    if (u == NULL) return SP_NOMEM;
    sp__lock(&job->server->lock);
    sp_region *r = *find(job->server, w->name);
    if (r != NULL) atomic_fetch_add(&r->refs, 1);
    sp__unlock(&job->server->lock);
    SP_CHECK(r != NULL, SP_VALUE, "%s: there is no region '%.255s'; register it first", of, w->name);
    u->region = r;
    u->next = job->regions;
    job->regions = u;
    const uint64_t offset = (uint64_t)w->offset, bytes = (uint64_t)w->bytes;
    SP_CHECK(bytes <= r->bytes && offset <= r->bytes - bytes, SP_VALUE,
             "%s: region '%s' has %llu bytes, %llu from byte %llu on are wanted", of, r->name,
             (unsigned long long)r->bytes, (unsigned long long)bytes, (unsigned long long)offset);
    *out = r;
    return SP_OK;
}

static sp_status vanished(sp_job *job, const char *of, const sp_region *r, const char *why)
{
    job->fail_status = 400;
    return sp__fail(SP_VALUE, "%s: region '%s' cannot be used any more: %s", of, r->name, why);
}

static sp_status read_all(sp_job *job, const char *of, const sp_region *r, uint64_t offset, uint8_t *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(r->fd, to + done, bytes - done, (off_t)(r->offset + offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return vanished(job, of, r, sp__strerror(errno));
        if (n == 0) return vanished(job, of, r, "it is shorter than it was when it was registered");
        done += (size_t)n;
    }
    return SP_OK;
}

sp_status sp__region_take_input(sp_job *job, int i, sp_dtype dtype, int rank, const int64_t *dims,
                                const sp_region_words *w)
{
    char of[120];
    sp_region *r = NULL;
    snprintf(of, sizeof of, "input '%.100s'", sp_model_input_name(job->model->model, i));
    SP_TRY(use(job, of, w, &r));
    const size_t bytes = (size_t)w->bytes, most = job->server->o.max_body_bytes;
    if (bytes > most || job->region_bytes > most - bytes) {
        job->fail_status = 413;
        return sp__fail(SP_VALUE,
                        "the request's shared memory has more than the %zu bytes that are allowed (--max-body)", most);
    }
    job->region_bytes += bytes;
    if (dtype == SP_DTYPE_STR) {
        uint8_t *texts = sp__arena_alloc(&job->arena, bytes + 1);
        if (texts == NULL) return SP_NOMEM;
        SP_TRY(read_all(job, of, r, (uint64_t)w->offset, texts, bytes));
        return sp__texts_from_binary(job, i, rank, dims, texts, bytes);
    }
    SP_TRY(sp__decode_room(job, i, dtype, rank, dims, bytes));
    SP_TRY(read_all(job, of, r, (uint64_t)w->offset, sp_tensor_data(job->in[i]), bytes));
    return sp__decode_check(job, i);
}

sp_status sp__region_want_output(sp_job *job, const char *name, const sp_region_words *w, sp_wanted *out)
{
    char of[120];
    snprintf(of, sizeof of, "output '%.100s'", name);
    SP_TRY(use(job, of, w, &out->region));
    SP_CHECK(out->region->writable, SP_VALUE, "%s: region '%s' may not be written by the server's user", of,
             out->region->name);
    SP_CHECK(out->classes == 0, SP_VALUE, "%s asks for classes, which are not written into shared memory", of);
    out->region_name = w->name;
    out->region_offset = (uint64_t)w->offset;
    out->region_bytes = (uint64_t)w->bytes;
    return SP_OK;
}

sp_status sp__region_put(sp_job *job, const sp_wanted *w, const char *name, const void *data, size_t bytes)
{
    char of[120];
    struct stat st;
    const sp_region *r = w->region;
    const uint64_t at = r->offset + w->region_offset;
    snprintf(of, sizeof of, "output '%.100s'", name);
    if (bytes > w->region_bytes) {
        job->fail_status = 400;
        return sp__fail(SP_VALUE, "%s has %zu bytes, shared_memory_byte_size is %llu", of, bytes,
                        (unsigned long long)w->region_bytes);
    }
    if (fstat(r->fd, &st) != 0 || (uint64_t)st.st_size < at + bytes)
        return vanished(job, of, r, "it is shorter than it was when it was registered"); /* and would grow again */
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pwrite(r->fd, (const char *)data + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return vanished(job, of, r, sp__strerror(n < 0 ? errno : ENOSPC));
        done += (size_t)n;
    }
    return SP_OK;
}

void sp__regions_leave(sp_job *job)
{
    for (struct sp_region_use *u = job->regions; u != NULL; u = u->next) release(u->region);
    job->regions = NULL;
}
