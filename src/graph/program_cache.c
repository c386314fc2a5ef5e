/* SPDX-License-Identifier: Apache-2.0 */
/* program_cache.c - the files of the cache: found by digest, written in one step, bounded in size.
 *
 * Layout of a file: SIGNATURE (8 bytes), digest it is kept under (16), bytes of the payload (8), digest of the payload (16), all little
 * endian as the machine writes them, then the payload. Its name is the digest in hexadecimal digits and what it holds: `0123...ef.graph`.
 *
 * Writers do not wait for each other: each makes a file of its own and renames it, and two that keep the same thing keep equal bytes.
 * A file is not brought to disk before it gets its name: a power failure may leave a broken one, which its digest tells. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/plain.h"
#include "graph/program_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"

#define SIGNATURE "sporecc1"
enum { HEADER_BYTES = 48, NAME_MOST = 64 };
#define MOST_BYTES ((uint64_t)256 << 20)

static sp_lock lock = SP_LOCK_INIT; /* of what follows */
static char *cache_folder;          /* NULL: off */
static uint64_t cache_most;
static atomic_bool cache_on;

/* --- digests ----------------------------------------------------------------------------------------------------- */

/* The two halves of a product of 128 bits, joined. Not all machines have such products; all must find the same files. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t low = al * bl, cross = ah * bl + (low >> 32), other = al * bh + (uint32_t)cross;
    return (a * b) ^ (ah * bh + (cross >> 32) + (other >> 32));
}

/* Two chains of multiplications over 16 bytes at a time, each of which sees all of them; not meant to withstand people who look
 * for collisions, and 128 bits wide so that none turns up by chance. */
sp_cache_key sp__cache_digest(const void *data, size_t bytes)
{
    const uint64_t k0 = 0xA0761D6478BD642Fu, k1 = 0xE7037ED1A0B428DBu, k2 = 0x8EBC6AF09C88C6E3u,
                   k3 = 0x589965CC75374CC3u;
    const uint8_t *p = data;
    uint64_t a = k0 ^ bytes, b = k1 + bytes, w[2];
    for (size_t left = bytes;; left -= 16, p += 16) {
        const size_t n = left < 16 ? left : 16;
        w[0] = w[1] = 0;
        if (n) memcpy(w, p, n);
        const uint64_t next = fold(a ^ w[0] ^ k2, b ^ w[1] ^ k3);
        b = fold(b + w[0] + k1, a + w[1] + k0) + next;
        a ^= next + (a << 23 | a >> 41);
        if (left <= 16) break;
    }
    return (sp_cache_key){{fold(a ^ k0, b ^ k2) ^ b, fold(b ^ k1, a ^ k3) + a}};
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

void sp__bytes_put(sp_bytes *b, const void *data, size_t bytes)
{
    if (b->failed || !bytes) return;
    if (bytes > b->room - b->n) {
        const size_t more = 2 * b->room + bytes + 4096;
        uint8_t *bigger = sp__realloc(b->data, b->room, more);
        if (!bigger) {
            b->failed = true;
            return;
        }
        b->data = bigger;
        b->room = more;
    }
    memcpy(b->data + b->n, data, bytes);
    b->n += bytes;
}

void sp__bytes_uint(sp_bytes *b, uint64_t v)
{
    uint8_t few[10];
    size_t n = 0;
    for (; v >= 128; v >>= 7) few[n++] = (uint8_t)(v | 128);
    few[n++] = (uint8_t)v;
    sp__bytes_put(b, few, n);
}

const void *sp__bytes_get(sp_bytes_in *b, size_t bytes)
{
    if (b->failed || bytes > (size_t)(b->end - b->at)) {
        b->failed = true;
        return NULL;
    }
    b->at += bytes;
    return b->at - bytes;
}

uint64_t sp__bytes_get_uint(sp_bytes_in *b)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const uint8_t *at = sp__bytes_get(b, 1);
        if (!at) return 0;
        v |= (uint64_t)(*at & 127) << shift;
        if (*at < 128) return v;
    }
    b->failed = true;
    return 0;
}

int64_t sp__bytes_get_int(sp_bytes_in *b)
{
    const uint64_t v = sp__bytes_get_uint(b);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

int sp__bytes_get_index(sp_bytes_in *b, int end)
{
    const uint64_t v = sp__bytes_get_uint(b);
    if (end > 0 && v < (uint64_t)end) return (int)v;
    b->failed = true;
    return 0;
}

int sp__bytes_get_count(sp_bytes_in *b)
{
    const uint64_t v = sp__bytes_get_uint(b);
    if (v <= (uint64_t)(b->end - b->at) && v <= INT32_MAX / 2) return (int)v;
    b->failed = true;
    return 0;
}

/* --- the build ---------------------------------------------------------------------------------------------------- */

/* The build id is found among the notes of the object that holds this function. */
static int find_build(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    const uintptr_t here = (uintptr_t)sp_program_create;
    bool ours = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        ours |= p->p_type == PT_LOAD && here - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
    }
    for (int i = 0; ours && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + p->p_vaddr),
                   *end = at + p->p_memsz; /* NOLINT: an address of the loader */
        while (p->p_type == PT_NOTE && end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
            const char *name = at + sizeof *note, *text = name + (note->n_namesz + 3) / 4 * 4;
            if (text > end || end - text < (ptrdiff_t)note->n_descsz) break;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                sp__bytes_put(context, text, note->n_descsz);
                return 1;
            }
            at = text + (note->n_descsz + 3) / 4 * 4;
        }
    }
    return ours;
}

sp_status sp__cache_build(sp_bytes *b)
{
    const size_t before = b->n;
    sp__section_begin(); /* the loader's lock is not known to fork */
    dl_iterate_phdr(find_build, b);
    sp__section_end();
    return b->n == before ? SP_DECLINED : SP_OK;
}

/* --- the folder -------------------------------------------------------------------------------------------------- */

sp_status sp_program_cache(const char *folder, uint64_t most_bytes)
{
    SP_CHECK(!folder || *folder, SP_VALUE,
             "the folder of the compile cache is '', name one; '.' is the one the process runs in");
    char *kept = folder ? sp__strdup(folder) : NULL;
    if (folder && !kept) return SP_NOMEM;
    sp__lock(&lock);
    sp__free(cache_folder);
    cache_folder = kept;
    cache_most = most_bytes ? most_bytes : MOST_BYTES;
    atomic_store(&cache_on, folder != NULL);
    sp__unlock(&lock);
    return SP_OK;
}

bool sp__cache_on(void) { return atomic_load_explicit(&cache_on, memory_order_relaxed); }

/* The file of a digest; folder and path are to be freed. */
static sp_status find_path(const char *kind, sp_cache_key key, char **folder, char **path, uint64_t *most)
{
    sp__lock(&lock);
    *folder = cache_folder ? sp__strdup(cache_folder) : NULL;
    *most = cache_most;
    sp__unlock(&lock);
    const size_t room = *folder ? strlen(*folder) + NAME_MOST : 0;
    *path = *folder ? sp__alloc(room) : NULL;
    if (!*path) return SP_DECLINED; /* switched off meanwhile, or no memory */
    snprintf(*path, room, "%s/%016llx%016llx.%s", *folder, (unsigned long long)key.word[0],
             (unsigned long long)key.word[1], kind);
    return SP_OK;
}

static bool is_ours(const char *name)
{
    const size_t digits = strspn(name, "0123456789abcdef");
    return digits == 32 && (strcmp(name + 32, ".graph") == 0 || strcmp(name + 32, ".plan") == 0);
}

/* --- eviction ---------------------------------------------------------------------------------------------------- */

typedef struct {
    char name[NAME_MOST];
    struct timespec used;
    uint64_t bytes;
} found_file;

static int by_use(const void *a, const void *b)
{
    const found_file *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* All files of the cache; `out` is to be freed. What cannot be looked at does not count. */
static int list_files(DIR *dir, found_file **out, uint64_t *total)
{
    int n = 0, room = 0;
    *out = NULL;
    *total = 0;
    for (const struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        if (!is_ours(e->d_name) || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        if (n == room) {
            const int more = room ? 2 * room : 64;
            found_file *bigger = sp__realloc(*out, (size_t)room * sizeof **out, (size_t)more * sizeof **out);
            if (!bigger) break;
            *out = bigger;
            room = more;
        }
        found_file *f = &(*out)[n++];
        *f = (found_file){.used = st.st_mtim, .bytes = (uint64_t)st.st_size};
        memcpy(f->name, e->d_name, strlen(e->d_name) + 1); /* is_ours: short */
        *total += f->bytes;
    }
    return n;
}

/* Those used longest ago go, down to three quarters of what is allowed, so that not every further file asks again. */
static void evict(const char *folder, uint64_t most)
{
    DIR *dir = opendir(folder);
    if (!dir) return;
    found_file *files;
    uint64_t total;
    const int n = list_files(dir, &files, &total);
    if (total > most) {
        qsort(files, (size_t)n, sizeof *files, by_use);
        for (int i = 0; i < n && total > most / 4 * 3; i++)
            if (unlinkat(dirfd(dir), files[i].name, 0) == 0 || errno == ENOENT) total -= files[i].bytes;
    }
    sp__free(files);
    closedir(dir);
}

/* --- files ------------------------------------------------------------------------------------------------------- */

/* What is wrong with the file; NULL: nothing. */
static const char *check_file(const sp_map *map, sp_cache_key key, sp_bytes_in *payload)
{
    uint64_t bytes;
    sp_cache_key kept, sum;
    if (map->bytes < HEADER_BYTES) return "it is too short";
    if (memcmp(map->data, SIGNATURE, 8) != 0) return "it is of another version, or no such file";
    memcpy(&kept, map->data + 8, sizeof kept);
    memcpy(&bytes, map->data + 24, sizeof bytes);
    memcpy(&sum, map->data + 32, sizeof sum);
    if (memcmp(&kept, &key, sizeof key) != 0) return "it belongs to something else";
    if (bytes != map->bytes - HEADER_BYTES) return "its length is wrong";
    const sp_cache_key found = sp__cache_digest(map->data + HEADER_BYTES, (size_t)bytes);
    if (memcmp(&found, &sum, sizeof sum) != 0) return "its contents are damaged";
    *payload = (sp_bytes_in){map->data + HEADER_BYTES, map->data + map->bytes, false};
    return NULL;
}

/* The whole file in memory of our own: a mapping would end the process if somebody cut the file while it is read. */
static sp_status read_file(const char *path, sp_map **out)
{
    sp_map *map = NULL, *copy = NULL;
    SP_TRY(sp__map_open(path, &map));
    sp_status status = sp__map_create(map->bytes, &copy);
    if (status == SP_OK && map->bytes) status = sp__map_read(map, map->data, map->bytes, copy->data);
    sp__map_release(map);
    if (status == SP_OK) *out = copy;
    else sp__map_release(copy);
    return status;
}

sp_status sp__cache_get(const char *kind, sp_cache_key key, sp_map **map, sp_bytes_in *payload, char *why)
{
    char *folder, *path;
    uint64_t most;
    why[0] = '\0';
    sp_status status = find_path(kind, key, &folder, &path, &most);
    if (status == SP_OK && access(path, F_OK) != 0) status = SP_DECLINED;
    else if (status == SP_OK && read_file(path, map) != SP_OK) {
        snprintf(why, SP_CACHE_NOTE, "the file %s cannot be read", strrchr(path, '/') + 1);
        status = SP_DECLINED;
    } else if (status == SP_OK) {
        const char *wrong = check_file(*map, key, payload);
        if (wrong) {
            snprintf(why, SP_CACHE_NOTE, "the file %s is not used: %s", strrchr(path, '/') + 1, wrong);
            sp__map_release(*map);
            status = SP_DECLINED;
        } else {
            (void)utimensat(AT_FDCWD, path, NULL, 0); /* used now; where that is not allowed it goes a little earlier */
        }
    }
    sp__free(path);
    sp__free(folder);
    return status;
}

static sp_status write_file(const char *path, sp_cache_key key, const sp_bytes *payload)
{
    uint8_t header[HEADER_BYTES];
    const uint64_t bytes = payload->n;
    const sp_cache_key sum = sp__cache_digest(payload->data, payload->n);
    memcpy(header, SIGNATURE, 8);
    memcpy(header + 8, &key, sizeof key);
    memcpy(header + 24, &bytes, sizeof bytes);
    memcpy(header + 32, &sum, sizeof sum);
    sp_replace *r;
    SP_TRY(sp__replace_open(path, &r));
    sp__replace_hasty(r);
    sp_status status = sp__replace_write(r, header, sizeof header);
    if (status == SP_OK) status = sp__replace_write(r, payload->data, payload->n);
    if (status == SP_OK) return sp__replace_take_commit(r);
    sp__replace_abort(r);
    return status;
}

void sp__cache_put(const char *kind, sp_cache_key key, const sp_bytes *payload, char *why)
{
    char *folder, *path;
    uint64_t most;
    if (payload->failed || find_path(kind, key, &folder, &path, &most) != SP_OK) return;
    sp_status status = SP_OK;
    if (payload->n + HEADER_BYTES > most)
        snprintf(why, SP_CACHE_NOTE, "not written: %zu bytes are more than the cache may hold", payload->n);
    else status = sp__folder_make(folder);
    if (status == SP_OK && !why[0]) status = write_file(path, key, payload);
    if (status == SP_OK && !why[0]) evict(folder, most);
    if (status != SP_OK) {
        sp_error e;
        sp_error_capture(status, &e);
        snprintf(why, SP_CACHE_NOTE, "not written: %.120s", e.message);
    }
    sp__free(path);
    sp__free(folder);
}
