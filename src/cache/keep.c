/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c - a cache as the server has it: files without names, leases of stretches in them, the index.
 *
 * Stretches are given out from the front. What comes back in pages that nobody committed goes to a list of gaps, and its memory to
 * the kernel. Bytes are counted when they are leased, so that no number of clients can have more than the budget. */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static uint64_t pages(uint64_t bytes) { return (bytes + SP_CACHE_PAGE - 1) / SP_CACHE_PAGE * SP_CACHE_PAGE; }

uint64_t sp__rowcache_fixed_bytes(uint64_t n_rows)
{
    return pages(n_rows * sizeof(sp_cache_place)) + pages(n_rows * sizeof(uint32_t));
}

/* --- files without names ------------------------------------------------------------------------------------------------- */

static int memory_file(const char *name, uint64_t bytes)
{
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (bytes > INT64_MAX || ftruncate(fd, (off_t)bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* In the folder, but without a name in it; where the file system cannot do that, the name is there for a moment. */
static int disk_file(const char *folder)
{
    char path[1100];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    if (snprintf(path, sizeof path, "%s/.spore-cache-XXXXXX", folder) >= (int)sizeof path) return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

static void *map_file(int fd, uint64_t bytes)
{
    if (fd < 0 || bytes > SIZE_MAX) return NULL;
    void *at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* --- life ----------------------------------------------------------------------------------------------------------------- */

static sp_status open_files(sp_cache_keep *k, const sp_cache_request *q, const sp_cache_budget *all)
{
    const uint64_t places = pages(k->n_rows * sizeof(sp_cache_place)), marks = pages(k->n_rows * sizeof(uint32_t));
    k->index_fd = memory_file("spore-cache-index", places);
    k->claims_fd = memory_file("spore-cache-claims", marks);
    k->memory.most = pages(k->limit);
    k->memory.fd = memory_file("spore-cache-rows", k->memory.most);
    k->index = map_file(k->index_fd, places);
    k->claims = map_file(k->claims_fd, marks);
    SP_CHECK(k->index && k->claims && k->memory.fd >= 0, SP_NOMEM, "no memory for a cache of %llu rows: %s",
             (unsigned long long)k->n_rows, sp__strerror(errno));
    fcntl(k->index_fd, F_ADD_SEALS,
          F_SEAL_FUTURE_WRITE); /* older kernels cannot; the index is then safe by agreement */
    if (!q->c) return SP_OK;
    k->disk.fd = disk_file(all->folder);
    k->disk.most = INT64_MAX / 2 / SP_CACHE_PAGE * SP_CACHE_PAGE;
    SP_CHECK(k->disk.fd >= 0, SP_IO, "no file for rows in %s: %s", all->folder, sp__strerror(errno));
    return SP_OK;
}

sp_status sp__rowcache_keep_create(const sp_cache_request *q, sp_cache_budget *all, sp_cache_keep **out)
{
    sp_cache_keep *k = sp__alloc_zero(sizeof *k);
    if (!k) return SP_NOMEM;
    const uint64_t fixed = sp__rowcache_fixed_bytes(q->a);
    k->session = q->session;
    memcpy(k->digest, q->digest, sizeof k->digest);
    k->n_rows = q->a;
    k->limit = q->b && q->b < all->most ? q->b : all->most;
    k->index_fd = k->claims_fd = k->memory.fd = k->disk.fd = -1;
    all->used += fixed;
    const sp_status status = open_files(k, q, all);
    if (status == SP_OK) *out = k;
    else sp__rowcache_keep_release(k, all);
    return status;
}

void sp__rowcache_keep_release(sp_cache_keep *k, sp_cache_budget *all)
{
    const int files[SP_CACHE_FILES] = {k->index_fd, k->claims_fd, k->memory.fd, k->disk.fd};
    if (k->index) munmap(k->index, (size_t)pages(k->n_rows * sizeof(sp_cache_place)));
    if (k->claims) munmap(k->claims, (size_t)pages(k->n_rows * sizeof(uint32_t)));
    for (int i = 0; i < SP_CACHE_FILES; i++)
        if (files[i] >= 0) close(files[i]);
    while (k->leases) {
        sp_cache_lease *next = k->leases->next;
        sp__free(k->leases);
        k->leases = next;
    }
    all->used -= sp__rowcache_fixed_bytes(k->n_rows) + k->memory.used;
    all->spilled -= k->disk.used;
    sp__free(k);
}

/* --- stretches -------------------------------------------------------------------------------------------------------------- */

/* A place for `bytes` in a file: a gap, or behind everything. False: there is none. */
static bool find_room(sp_cache_room *room, uint64_t bytes, uint64_t *offset)
{
    for (int i = 0; i < room->n_gaps; i++) {
        sp_cache_gap *gap = &room->gaps[i];
        if (gap->bytes < bytes) continue;
        *offset = gap->offset;
        gap->offset += bytes;
        gap->bytes -= bytes;
        if (gap->bytes == 0) *gap = room->gaps[--room->n_gaps];
        return true;
    }
    if (room->fd < 0 || bytes > room->most - room->top) return false;
    *offset = room->top;
    room->top += bytes;
    return true;
}

static void give_back(sp_cache_room *room, uint64_t offset, uint64_t bytes)
{
    if (bytes == 0) return;
    room->used -= bytes;
    fallocate(room->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
              (off_t)bytes); /* else it is only lost until the cache goes */
    if (offset + bytes == room->top) {
        room->top = offset;
        return;
    }
    const int room_for = (int)(sizeof room->gaps / sizeof *room->gaps);
    int at = room->n_gaps < room_for ? room->n_gaps++ : 0;
    for (int i = 0; at == 0 && i < room->n_gaps && room->n_gaps == room_for; i++)
        if (room->gaps[i].bytes < room->gaps[at].bytes) at = i;
    room->gaps[at] = (sp_cache_gap){offset, bytes};
}

/* Blocks of the disk are taken now, so that a full one shows before the row is written. */
static bool lease_disk(sp_cache_keep *k, sp_cache_budget *all, uint64_t bytes, uint64_t *offset)
{
    if (k->disk.fd < 0 || k->disk_full || (all->most_spilled && bytes > all->most_spilled - all->spilled)) return false;
    if (!find_room(&k->disk, bytes, offset)) return false;
    k->disk.used += bytes;
    all->spilled += bytes;
    if (fallocate(k->disk.fd, 0, (off_t)*offset, (off_t)bytes) == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
        return true;
    all->spilled -= bytes;
    give_back(&k->disk, *offset, bytes);
    return false;
}

/* As much as is wished, or as little as must be; a disk that has not even that is full for good. */
static uint64_t some_disk(sp_cache_keep *k, sp_cache_budget *all, uint64_t wish, uint64_t least, uint64_t *offset)
{
    if (lease_disk(k, all, wish, offset)) return wish;
    if (wish > least && lease_disk(k, all, least, offset)) return least;
    k->disk_full = true;
    return 0;
}

/* Give the pages of a lease behind its first `kept` bytes back. */
static void cut_lease(sp_cache_keep *k, sp_cache_budget *all, sp_cache_lease *lease, uint64_t kept)
{
    const bool disk = (lease->offset & SP_CACHE_ON_DISK) != 0;
    const uint64_t left = lease->bytes - pages(kept);
    give_back(disk ? &k->disk : &k->memory, (lease->offset & ~SP_CACHE_ON_DISK) + pages(kept), left);
    *(disk ? &all->spilled : &all->used) -= left;
    lease->bytes -= left;
}

/* The client says up to where it will use a lease. */
static void end_lease(sp_cache_keep *k, sp_cache_budget *all, uint32_t client, uint64_t end)
{
    for (sp_cache_lease *lease = k->leases; lease; lease = lease->next)
        if (lease->client == client && end > lease->offset && end - lease->offset <= lease->bytes &&
            end - lease->offset >= lease->used) {
            cut_lease(k, all, lease, end - lease->offset);
            return;
        }
}

/* How much memory a new lease can have, of at most `wish`. */
static uint64_t memory_left(const sp_cache_keep *k, const sp_cache_budget *all, uint64_t wish)
{
    if (all->used >= all->most || k->memory.used >= k->limit) return 0;
    uint64_t left = all->most - all->used;
    if (left > k->limit - k->memory.used) left = k->limit - k->memory.used;
    left = left / SP_CACHE_PAGE * SP_CACHE_PAGE;
    return left < wish ? left : wish;
}

sp_cache_answer sp__rowcache_lease(sp_cache_keep *k, sp_cache_budget *all, uint32_t client, const sp_cache_request *q,
                                   sp_cache_reply *r)
{
    const uint64_t least = pages(q->a), wish = pages(q->wish) > least ? pages(q->wish) : least;
    uint64_t offset;
    if (q->a == 0 || q->a > (uint64_t)1 << 40) return SP_CACHE_WRONG;
    if (k->dropped) return SP_CACHE_NO_CACHE;
    if (q->b) end_lease(k, all, client, q->b);
    sp_cache_lease *lease = sp__alloc_zero(sizeof *lease);
    if (!lease) return SP_CACHE_NO_MEMORY;
    uint64_t bytes = memory_left(k, all, wish);
    if (bytes >= least &&
        (find_room(&k->memory, bytes, &offset) || (bytes > least && find_room(&k->memory, bytes = least, &offset)))) {
        k->memory.used += bytes;
        all->used += bytes;
    } else if (q->c && (bytes = some_disk(k, all, wish, least, &offset)) > 0) offset |= SP_CACHE_ON_DISK;
    else {
        sp__free(lease);
        return SP_CACHE_FULL;
    }
    *lease = (sp_cache_lease){.next = k->leases, .offset = offset, .bytes = bytes, .client = client};
    k->leases = lease;
    r->offset = offset;
    r->bytes = bytes;
    return SP_CACHE_DONE;
}

/* Threads of a client may be done in any order; a stretch that none commits stays unused. */
bool sp__rowcache_commit(sp_cache_keep *k, uint32_t client, uint64_t row, uint64_t offset, uint64_t bytes)
{
    if (row >= k->n_rows || bytes == 0) return false;
    sp_cache_lease *lease = k->leases;
    while (lease && (lease->client != client || offset < lease->offset || offset - lease->offset > lease->bytes ||
                     bytes > lease->bytes - (offset - lease->offset)))
        lease = lease->next;
    if (!lease) return false;
    if (offset - lease->offset + bytes > lease->used) lease->used = offset - lease->offset + bytes;
    sp_cache_place *place = &k->index[row];
    if (atomic_load_explicit(&place->bytes, memory_order_relaxed)) return true; /* somebody was faster */
    sp_cache_room *room = offset & SP_CACHE_ON_DISK ? &k->disk : &k->memory;
    room->rows++;
    room->row_bytes += bytes;
    atomic_store_explicit(&place->offset, offset, memory_order_relaxed);
    atomic_store_explicit(&place->bytes, bytes, memory_order_release);
    return true;
}

void sp__rowcache_client_gone(sp_cache_keep *k, sp_cache_budget *all, uint32_t client)
{
    for (sp_cache_lease **at = &k->leases; *at;) {
        sp_cache_lease *lease = *at;
        if (lease->client != client) {
            at = &lease->next;
            continue;
        }
        cut_lease(k, all, lease, lease->used);
        *at = lease->next;
        sp__free(lease);
    }
    for (uint64_t i = 0; i < k->n_rows; i++) {
        uint32_t mine = client;
        if (atomic_load_explicit(&k->claims[i], memory_order_relaxed) == client)
            atomic_compare_exchange_strong(&k->claims[i], &mine, 0);
    }
}

void sp__rowcache_figures(const sp_cache_keep *k, sp_cache_figures *out)
{
    const uint64_t rows = k->memory.rows + k->disk.rows, bytes = k->memory.row_bytes + k->disk.row_bytes;
    *out = (sp_cache_figures){.rows_in_memory = k->memory.rows,
                              .rows_on_disk = k->disk.rows,
                              .bytes_in_memory = k->memory.used,
                              .bytes_on_disk = k->disk.used,
                              .row_bytes = rows ? (bytes / rows ? bytes / rows : 1) : 0};
}
