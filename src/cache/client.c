/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - a cache in a pipeline: the store of an iterator.
 *
 * Each iterator has a connection of its own. `has` looks into the index and takes the claim for a row that is missing; `get` shows the
 * row where it lies; `put` writes it under the lease. Whatever goes wrong with the server ends the writing, not the reading: what is in
 * the files stays there. */
#include "base/handle.h"
#include "cache/cache.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"

enum { LOOK_EVERY = 32 }; /* rows between two looks at whether the server is there */
static const uint64_t WINDOW = (uint64_t)64 << 20;

typedef struct opened opened;

struct sp_cache {
    atomic_int refs;
    sp_cache_options o;
    char *address;
    atomic_bool told_lost, told_full;
    sp_lock lock;
    bool used; /* digest and tree are set */
    uint8_t digest[SP_CACHE_DIGEST], tree[SP_CACHE_DIGEST];
    opened *open; /* iterators over it */
};

/* A part of the arena that is mapped. It stays as long as a row of it is in use. */
typedef struct window {
    struct window *next;
    uint64_t offset, bytes;
    sp_tensor *memory;
} window;

typedef enum { WRITES, FULL, LOST } opened_state;

struct opened {
    opened *next; /* of the cache */
    int n_users;  /* under its lock: the iterator, and who asks for figures */
    sp_cache *cache;
    int fd, files[SP_CACHE_FILES];
    uint32_t number;
    uint64_t n_rows, arena_bytes;
    const sp_cache_place *index;
    _Atomic uint32_t *claims;
    atomic_int state;
    atomic_uint looked;
    atomic_bool unseen;             /* rows were committed that the server may not have looked at yet */
    sp_lock lock;                   /* of the socket, the lease and the windows */
    uint64_t lease_end, lease_used; /* with SP_CACHE_ON_DISK, or not */
    window *windows;
};

/* --- what is said ----------------------------------------------------------------------------------------------------------------- */

static void say(const sp_cache *cache, const char *text)
{
    if (cache->o.report) cache->o.report(text);
    else fprintf(stderr, "spore: %s\n", text);
}

static void lost(opened *s)
{
    char text[256], where[64];
    atomic_store(&s->state, LOST);
    if (atomic_exchange(&s->cache->told_lost, true) || s->cache->o.strict) return;
    if (sp__rowcache_address(s->cache->address, where) != SP_OK) where[0] = '\0';
    snprintf(text, sizeof text,
             "the cache server on %s has gone: rows that it does not have yet are made anew in every epoch", where);
    say(s->cache, text);
}

static void full(opened *s, const char *why)
{
    char text[320];
    int writes = WRITES;
    if (!atomic_compare_exchange_strong(&s->state, &writes, FULL) || atomic_exchange(&s->cache->told_full, true))
        return;
    snprintf(text, sizeof text, "%s: rows that it does not have yet are made anew in every epoch", why);
    say(s->cache, text);
}

static sp_status need_server(opened *s)
{
    if (atomic_load(&s->state) != LOST || !s->cache->o.strict) return SP_OK;
    return sp__fail(SP_RUNTIME, "the cache server has gone; it must not, by the cache's setting (on_lost='fail')");
}

/* A server says nothing unasked, so that something to be read is its end. */
static void look_for_server(opened *s)
{
    char byte;
    if (atomic_fetch_add_explicit(&s->looked, 1, memory_order_relaxed) % LOOK_EVERY || atomic_load(&s->state) == LOST)
        return;
    sp__lock(&s->lock);
    const ssize_t n = recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    const bool gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    sp__unlock(&s->lock);
    if (gone) lost(s);
}

/* --- life -------------------------------------------------------------------------------------------------------------------------- */

static void close_opened(void *context)
{
    opened *s = context;
    sp_cache *cache = s->cache;
    sp__lock(&cache->lock);
    const bool last = --s->n_users == 0;
    opened **at = &cache->open;
    while (*at && *at != s) at = &(*at)->next;
    if (last && *at) *at = s->next;
    sp__unlock(&cache->lock);
    if (!last) return;
    if (s->fd >= 0) close(s->fd);
    if (s->index) munmap((void *)(uintptr_t)s->index, (size_t)(s->n_rows * sizeof *s->index));
    if (s->claims) munmap((void *)(uintptr_t)s->claims, (size_t)(s->n_rows * sizeof *s->claims));
    while (s->windows) {
        window *next = s->windows->next;
        sp_tensor_release(s->windows->memory);
        sp__free(s->windows);
        s->windows = next;
    }
    for (int i = 0; i < SP_CACHE_FILES; i++)
        if (s->files[i] >= 0) close(s->files[i]);
    sp__lock_destroy(&s->lock);
    sp_cache_release(cache);
    sp__free(s);
}

/* Is a file as large as it must be for what is mapped of it? Else touching it would end the process. */
static bool large_enough(int fd, uint64_t bytes)
{
    struct stat info;
    return fstat(fd, &info) == 0 && info.st_size >= 0 && (uint64_t)info.st_size >= bytes;
}

static sp_status map_tables(opened *s)
{
    const uint64_t places = s->n_rows * sizeof *s->index, marks = s->n_rows * sizeof *s->claims;
    if (s->n_rows == 0) return SP_OK;
    SP_CHECK(large_enough(s->files[0], places) && large_enough(s->files[1], marks) &&
                 large_enough(s->files[2], s->arena_bytes),
             SP_IO, "the cache server gives files that are too small; are they of one version?");
    void *index = mmap(NULL, (size_t)places, PROT_READ, MAP_SHARED, s->files[0], 0);
    s->index = index == MAP_FAILED ? NULL : index;
    void *claims = mmap(NULL, (size_t)marks, PROT_READ | PROT_WRITE, MAP_SHARED, s->files[1], 0);
    s->claims = claims == MAP_FAILED ? NULL : claims;
    SP_CHECK(s->index && s->claims, SP_NOMEM, "the index of the cache cannot be mapped: %s", sp__strerror(errno));
    return SP_OK;
}

/* Ask for the files. */
static sp_status greet(opened *s, const uint8_t *digest)
{
    const sp_cache_options *o = &s->cache->o;
    sp_cache_request q = {.version = SP_CACHE_VERSION,
                          .kind = SP_CACHE_OPEN,
                          .session = o->session,
                          .a = s->n_rows,
                          .b = o->max_bytes,
                          .c = o->spill};
    sp_cache_reply r;
    int n = 0;
    memcpy(q.digest, digest, sizeof q.digest);
    SP_TRY(sp__rowcache_connect(s->cache->address, &s->fd));
    const bool sent = sp__rowcache_send(s->fd, &q, sizeof q, 0, NULL);
    const int64_t got = sent ? sp__rowcache_receive(s->fd, &r, sizeof r, SP_CACHE_FILES, s->files, &n, 60000) : -1;
    SP_CHECK(got == (int64_t)sizeof r && r.version == SP_CACHE_VERSION, SP_IO,
             "the cache server does not answer; it may have been stopped, or be of another version");
    SP_TRY(sp__rowcache_failed(r.answer, &q));
    SP_CHECK(n >= 3 && (n == 4 || !o->spill), SP_IO, "the cache server gives %d files; are they of one version?", n);
    s->number = (uint32_t)r.number;
    s->arena_bytes = r.bytes;
    return map_tables(s);
}

/* What a node of a data set holds. */
typedef struct kept {
    sp_cache *cache;
    char *key;
} kept;

static sp_status open_store(void *context, const sp_dataset *ds, void **out)
{
    const kept *k = context;
    uint8_t digest[SP_CACHE_DIGEST];
    int64_t n_rows;
    SP_TRY(sp__rowcache_check(ds, &n_rows));
    SP_TRY(sp__rowcache_digest(ds, k->key, digest));
    opened *s = sp__alloc_zero(sizeof *s);
    if (!s) return SP_NOMEM;
    s->cache = sp_cache_retain(k->cache);
    s->n_users = 1;
    s->n_rows = (uint64_t)n_rows;
    s->fd = -1;
    for (int i = 0; i < SP_CACHE_FILES; i++) s->files[i] = -1;
    sp__lock_init(&s->lock);
    const sp_status status = greet(s, digest);
    if (status != SP_OK) {
        close_opened(s);
        return status == SP_NOMEM ? SP_NOMEM : SP_RUNTIME; /* whatever it is, the data set cannot be read */
    }
    sp__lock(&k->cache->lock);
    memcpy(k->cache->digest, digest, sizeof digest);
    k->cache->used = true;
    s->next = k->cache->open;
    k->cache->open = s;
    sp__unlock(&k->cache->lock);
    *out = s;
    return SP_OK;
}

/* --- reading ----------------------------------------------------------------------------------------------------------------------- */

/* What was committed is in the index when this returns. */
static void flush(opened *s)
{
    const sp_cache_request q = {.version = SP_CACHE_VERSION, .kind = SP_CACHE_FLUSH};
    sp_cache_reply r;
    sp__lock(&s->lock);
    const bool answered = atomic_load(&s->state) == LOST ||
                          (sp__rowcache_send(s->fd, &q, sizeof q, 0, NULL) &&
                           sp__rowcache_receive(s->fd, &r, sizeof r, 0, NULL, NULL, 60000) == (int64_t)sizeof r);
    sp__unlock(&s->lock);
    if (!answered) lost(s);
}

static sp_status has_row(void *context, int64_t id, bool *out)
{
    opened *s = context;
    *out = false;
    look_for_server(s);
    SP_TRY(need_server(s));
    if (id < 0 || (uint64_t)id >= s->n_rows) return SP_OK;
    *out = atomic_load_explicit(&s->index[id].bytes, memory_order_acquire) != 0;
    if (*out || atomic_load(&s->state) != WRITES) return SP_OK;
    uint32_t maker = 0;
    if (atomic_compare_exchange_strong(&s->claims[id], &maker, s->number) || maker != s->number ||
        !atomic_exchange(&s->unseen, false))
        return SP_OK;
    flush(s); /* it may be one of ours */
    *out = atomic_load_explicit(&s->index[id].bytes, memory_order_acquire) != 0;
    return SP_OK;
}

typedef struct mapping {
    void *at;
    size_t bytes;
} mapping;

static void unmap(void *context)
{
    mapping *m = context;
    munmap(m->at, m->bytes);
    sp__free(m);
}

static sp_status map_window(opened *s, uint64_t offset, uint64_t bytes, window **out)
{
    const uint64_t begin = offset / SP_CACHE_PAGE * SP_CACHE_PAGE;
    uint64_t length = offset + bytes - begin;
    if (length < WINDOW) length = WINDOW;
    if (length > s->arena_bytes - begin) length = s->arena_bytes - begin;
    SP_CHECK(length <= SIZE_MAX, SP_NOMEM, "a row of %llu bytes does not fit into the address space",
             (unsigned long long)bytes);
    window *w = sp__alloc_zero(sizeof *w);
    mapping *m = sp__alloc(sizeof *m);
    void *at = w && m ? mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, s->files[2], (off_t)begin) : MAP_FAILED;
    const int64_t dims = (int64_t)length, step = 1;
    sp_status status = at == MAP_FAILED ? SP_NOMEM : SP_OK;
    if (status == SP_OK) {
        *m = (mapping){at, (size_t)length};
        status = sp_tensor_wrap(SP_DTYPE_U8, 1, &dims, &step, at, unmap, m, &w->memory);
        if (status != SP_OK) munmap(at, (size_t)length);
    }
    if (status != SP_OK) {
        sp__free(w);
        sp__free(m);
        return status;
    }
    w->offset = begin;
    w->bytes = length;
    w->next = s->windows;
    s->windows = w;
    *out = w;
    return SP_OK;
}

/* The window that has the row, made if need be; its memory is retained. */
static sp_status find_window(opened *s, uint64_t offset, uint64_t bytes, sp_tensor **memory, uint64_t *begin)
{
    sp_status status = SP_OK;
    sp__lock(&s->lock);
    window *w = s->windows;
    while (w && (offset < w->offset || offset - w->offset > w->bytes || bytes > w->bytes - (offset - w->offset)))
        w = w->next;
    if (!w) status = map_window(s, offset, bytes, &w);
    if (status == SP_OK) {
        *memory = sp_tensor_retain(w->memory);
        *begin = w->offset;
    }
    sp__unlock(&s->lock);
    return status;
}

/* A row on disk, or where no more can be mapped, is copied. */
static sp_status read_row(int fd, uint64_t offset, uint64_t bytes, int n, sp_tensor **cells)
{
    sp_tensor *memory = NULL;
    const int64_t dims = (int64_t)bytes;
    uint64_t done = 0;
    SP_TRY(sp_tensor_create(SP_DTYPE_U8, 1, &dims, &memory));
    sp_status status = SP_OK;
    while (done < bytes && status == SP_OK) {
        const ssize_t got = pread(fd, memory->data + done, (size_t)(bytes - done), (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            status = sp__fail(SP_IO, "a row cannot be read from the cache: %s",
                              got < 0 ? sp__strerror(errno) : "the file is too short");
        else done += (uint64_t)got;
    }
    if (status == SP_OK)
        status = sp__rowcache_row_read((const uint8_t *)memory->data, bytes, memory->storage, n, cells);
    sp_tensor_release(memory);
    return status;
}

static sp_status get_row(void *context, int64_t id, int n, sp_tensor **cells)
{
    opened *s = context;
    sp_tensor *memory = NULL;
    uint64_t begin = 0;
    const uint64_t bytes = atomic_load_explicit(&s->index[id].bytes, memory_order_acquire);
    const uint64_t offset = atomic_load_explicit(&s->index[id].offset, memory_order_relaxed),
                   at = offset & ~SP_CACHE_ON_DISK;
    if (offset & SP_CACHE_ON_DISK) return read_row(s->files[3], at, bytes, n, cells);
    SP_CHECK(at <= s->arena_bytes && bytes <= s->arena_bytes - at, SP_FORMAT,
             "a row in the cache lies outside of it; drop it with 'spore cache clear'");
    if (find_window(s, at, bytes, &memory, &begin) != SP_OK) return read_row(s->files[2], at, bytes, n, cells);
    const sp_status status =
        sp__rowcache_row_read((const uint8_t *)memory->data + (at - begin), bytes, memory->storage, n, cells);
    sp_tensor_release(memory);
    return status;
}

/* --- writing ------------------------------------------------------------------------------------------------------------------------ */

/* A new lease, under the lock; the one before is used up to lease_used. What the server answers, or -1: it has gone. */
static int new_lease(opened *s, uint64_t bytes)
{
    const sp_cache_request q = {.version = SP_CACHE_VERSION,
                                .kind = SP_CACHE_LEASE,
                                .a = bytes,
                                .b = s->lease_used,
                                .c = s->files[3] >= 0,
                                .wish = bytes >= SP_CACHE_LARGE ? 0 : SP_CACHE_WISH};
    sp_cache_reply r;
    const bool sent = sp__rowcache_send(s->fd, &q, sizeof q, 0, NULL);
    if (!sent || sp__rowcache_receive(s->fd, &r, sizeof r, 0, NULL, NULL, 60000) != (int64_t)sizeof r) return -1;
    if (r.answer != SP_CACHE_DONE) return (int)r.answer;
    s->lease_used = r.offset;
    s->lease_end = r.offset + r.bytes;
    return SP_CACHE_DONE;
}

static bool take_room(opened *s, uint64_t bytes, uint64_t *offset)
{
    int answer = SP_CACHE_DONE;
    sp__lock(&s->lock);
    const bool writes = atomic_load(&s->state) == WRITES,
               fits = s->lease_end > s->lease_used && bytes <= s->lease_end - s->lease_used;
    if (writes && !fits) answer = new_lease(s, bytes);
    if (writes && answer == SP_CACHE_DONE) {
        *offset = s->lease_used;
        s->lease_used += bytes;
    }
    sp__unlock(&s->lock);
    if (answer < 0) lost(s);
    else if (answer != SP_CACHE_DONE)
        full(s, answer == SP_CACHE_NO_CACHE ? "the cache has been dropped" : "the cache is full");
    return writes && answer == SP_CACHE_DONE;
}

static void commit(opened *s, uint64_t id, uint64_t offset, uint64_t bytes)
{
    const sp_cache_request q = {.version = SP_CACHE_VERSION, .kind = SP_CACHE_COMMIT, .a = id, .b = offset, .c = bytes};
    sp__lock(&s->lock);
    const bool sent = sp__rowcache_send(s->fd, &q, sizeof q, 0, NULL);
    sp__unlock(&s->lock);
    atomic_store(&s->unseen, true);
    if (!sent) lost(s);
}

static void give_up_disk(opened *s)
{
    const sp_cache_request q = {.version = SP_CACHE_VERSION, .kind = SP_CACHE_GIVE_UP};
    sp__lock(&s->lock);
    sp__rowcache_send(s->fd, &q, sizeof q, 0, NULL);
    sp__unlock(&s->lock);
}

/* The row has been made in any case: what the cache cannot take is no failure of it. */
static sp_status put_row(void *context, int64_t id, int n, sp_tensor *const *cells)
{
    opened *s = context;
    uint64_t offset;
    if (id < 0 || (uint64_t)id >= s->n_rows || atomic_load(&s->state) != WRITES) return need_server(s);
    if (atomic_load(&s->claims[id]) != s->number || atomic_load_explicit(&s->index[id].bytes, memory_order_relaxed))
        return SP_OK;
    const uint64_t bytes = sp__rowcache_row_bytes(n, cells);
    if (!take_room(s, bytes, &offset)) return need_server(s);
    const bool disk = (offset & SP_CACHE_ON_DISK) != 0;
    if (sp__rowcache_row_write(s->files[disk ? 3 : 2], offset & ~SP_CACHE_ON_DISK, n, cells) != SP_OK) {
        if (disk) give_up_disk(s);
        full(s, sp_error_message());
        return SP_OK;
    }
    commit(s, (uint64_t)id, offset, bytes);
    return need_server(s);
}

/* --- caches -------------------------------------------------------------------------------------------------------------------------- */

sp_status sp_cache_create(const sp_cache_options *options, sp_cache **out)
{
    char where[64];
    SP_TRY(sp__rowcache_address(options->address, where));
    sp_cache *cache = sp__alloc_zero(sizeof *cache);
    if (!cache) return SP_NOMEM;
    atomic_init(&cache->refs, 1);
    cache->o = *options;
    sp__lock_init(&cache->lock);
    if (options->address && !(cache->address = sp__strdup(options->address))) {
        sp_cache_release(cache);
        return SP_NOMEM;
    }
    cache->o.address = cache->address;
    *out = cache;
    return SP_OK;
}

sp_cache *sp_cache_retain(sp_cache *cache)
{
    if (!cache) return NULL;
    atomic_fetch_add_explicit(&cache->refs, 1, memory_order_relaxed);
    return cache;
}

void sp_cache_release(sp_cache *cache)
{
    if (!cache || atomic_fetch_sub_explicit(&cache->refs, 1, memory_order_acq_rel) != 1) return;
    sp__free(cache->address);
    sp__lock_destroy(&cache->lock);
    sp__free(cache);
}

static void release_kept(void *context)
{
    kept *k = context;
    sp_cache_release(k->cache);
    sp__free(k->key);
    sp__free(k);
}

sp_status sp_dataset_cache(sp_dataset *ds, sp_cache *cache, const char *key, sp_dataset **out)
{
    SP_HANDLE(ds);
    SP_HANDLE(cache);
    static const uint8_t none[SP_CACHE_DIGEST];
    uint8_t tree[SP_CACHE_DIGEST];
    int64_t n_rows;
    SP_TRY(sp__rowcache_check(ds, &n_rows));
    SP_TRY(sp__rowcache_tree_digest(ds, key, tree));
    sp__lock(&cache->lock);
    const bool same = memcmp(cache->tree, none, sizeof none) == 0 || memcmp(cache->tree, tree, sizeof tree) == 0;
    memcpy(cache->tree, tree, sizeof tree);
    sp__unlock(&cache->lock);
    SP_CHECK(
        same, SP_RUNTIME,
        "Cannot re-use a cache for a different tree! Make another DatasetCache for it; the session may be the same.");
    kept *k = sp__alloc_zero(sizeof *k);
    if (!k) return SP_NOMEM;
    k->cache = sp_cache_retain(cache);
    if (key && !(k->key = sp__strdup(key))) {
        release_kept(k);
        return SP_NOMEM;
    }
    const sp_row_store store = {.open = open_store,
                                .has = has_row,
                                .get = get_row,
                                .put = put_row,
                                .close = close_opened,
                                .release = release_kept,
                                .context = k};
    return sp_dataset_store(ds, &store, out);
}

/* Iterators stay while they are asked, whoever closes them meanwhile: the list is gone through from the front until none is unseen. */
static void flush_all(sp_cache *cache)
{
    for (bool more = true; more;) {
        more = false;
        sp__lock(&cache->lock);
        opened *s = cache->open;
        while (s && !atomic_exchange(&s->unseen, false)) s = s->next;
        if (s) s->n_users++;
        sp__unlock(&cache->lock);
        if (!s) continue;
        flush(s);
        close_opened(s);
        more = true;
    }
}

sp_status sp_cache_stat(sp_cache *cache, sp_cache_figures *out)
{
    SP_HANDLE(cache);
    sp_cache_request q = {.version = SP_CACHE_VERSION, .kind = SP_CACHE_STAT, .session = cache->o.session};
    sp_cache_reply r;
    size_t more = 0;
    int fd;
    flush_all(cache);
    sp__lock(&cache->lock);
    const bool used = cache->used;
    memcpy(q.digest, cache->digest, sizeof q.digest);
    sp__unlock(&cache->lock);
    SP_CHECK(used, SP_RUNTIME, "GetStat called but the cache is not in use yet: read from the data set first");
    SP_TRY(sp__rowcache_connect(cache->address, &fd));
    sp_status status = sp__rowcache_ask(fd, &q, &r, out, sizeof *out, &more);
    close(fd);
    if (status == SP_OK && more != sizeof *out)
        status = sp__fail(SP_IO, "the cache server does not understand this program; are they of one version?");
    return status;
}
