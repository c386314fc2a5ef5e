/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_partial.c - writing one shard file so that a crash costs the page being filled and nothing else.
 *
 * The file grows under the name `<path>.partial`, locked (flock) while its writer lives. At the front stands at once a
 * header that names no page (or, after sp_record_append, the pages copied). When a page of blobs is full, its raw
 * records are written too, and then a note goes into the unused room behind the header: one line of text that says what the
 * group is. A note is short, so it is there as a whole or not at all; sp__mindrecord_partial_reopen makes a header of the notes.
 * At the end the true header replaces front and notes.
 *
 * Blob pages are streamed: 1 MiB in memory, however large the page. The raw records of the open group are kept, for
 * they must stand together in one raw page, and which one is known only when all of them are.
 *
 * Publishing: the old index goes first, then the shard is renamed, then the new index; so at no moment does an index lie
 * beside a shard that it does not belong to. Each rename replaces a whole file or does nothing. */
#include "data/mindrecord_partial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plain.h"

enum { FLUSH_BYTES = 1 << 20, NOTE_BYTES = 256 };

/* --- file ------------------------------------------------------------------------------------------------------------------ */

static sp_status write_at(const sp_mindrecord_partial *p, const void *data, size_t bytes, uint64_t at)
{
    const uint8_t *src = data;
    while (bytes > 0) {
        ssize_t n = pwrite(p->fd, src, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        SP_CHECK(n > 0, SP_IO, "%s: writing at byte %llu failed: %s", p->partial, (unsigned long long)at,
                 n < 0 ? sp__strerror(errno) : "no progress");
        src += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return SP_OK;
}

static uint64_t page_begin(const sp_mindrecord_partial *p, uint64_t slot)
{
    return p->header->header_bytes + slot * p->header->page_bytes;
}

static sp_status set_names(sp_mindrecord_partial *p, const char *path)
{
    p->path = sp__strdup(path);
    p->partial = sp__mindrecord_path(path, ".partial");
    p->partial_db = sp__mindrecord_path(path, ".partial.db");
    return p->path == NULL || p->partial == NULL || p->partial_db == NULL ? SP_NOMEM : SP_OK;
}

/* Open and lock. The file may be renamed by its writer between the two; then what was locked is not it any more. */
static sp_status open_locked(sp_mindrecord_partial *p, bool create)
{
    for (int i = 0; i < 100; i++) {
        do p->fd = open(p->partial, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
        while (p->fd < 0 && errno == EINTR);
        SP_CHECK(p->fd >= 0, SP_IO, "%s: cannot be %s: %s", p->partial, create ? "made" : "opened",
                 sp__strerror(errno));
        SP_CHECK(flock(p->fd, LOCK_EX | LOCK_NB) == 0, SP_IO, "%s: another writer is at work on it", p->partial);
        struct stat ours, named;
        SP_CHECK(fstat(p->fd, &ours) == 0, SP_IO, "%s: %s", p->partial, sp__strerror(errno));
        SP_CHECK(S_ISREG(ours.st_mode), SP_IO, "%s: is not a regular file", p->partial);
        if (stat(p->partial, &named) == 0 && named.st_ino == ours.st_ino && named.st_dev == ours.st_dev) return SP_OK;
        close(p->fd);
        p->fd = -1;
    }
    return sp__fail(SP_IO, "%s: cannot be locked", p->partial);
}

/* Header without notes at the front. */
static sp_status write_header(sp_mindrecord_partial *p)
{
    char *text = NULL;
    size_t n = 0;
    SP_TRY(sp__mindrecord_header_print(p->header, &text, &n));
    sp_status status = SP_OK;
    if (SP_MINDRECORD_LENGTH_BYTES + n > p->header->header_bytes)
        status = sp__fail(SP_VALUE,
                          "%s: the header needs %zu bytes for %lld pages, it has %llu; make the header larger "
                          "(set_header_size) or the pages (set_page_size)",
                          p->path, SP_MINDRECORD_LENGTH_BYTES + n, (long long)sp__mindrecord_header_pages(p->header),
                          (unsigned long long)p->header->header_bytes);
    uint8_t length[SP_MINDRECORD_LENGTH_BYTES];
    sp__mindrecord_put64(length, n);
    if (status == SP_OK) status = write_at(p, length, sizeof length, 0);
    if (status == SP_OK) status = write_at(p, text, n, sizeof length);
    sp__free(text);
    if (status == SP_OK) p->notes_at = SP_MINDRECORD_LENGTH_BYTES + n;
    return status;
}

void sp__mindrecord_partial_close(sp_mindrecord_partial *p, bool remove)
{
    if (p->fd >= 0) {
        if (remove && p->own) {
            unlink(p->partial);
            unlink(p->partial_db);
        }
        close(p->fd);
    }
    sp__mindrecord_header_release(p->header);
    sp__free(p->path);
    sp__free(p->partial);
    sp__free(p->partial_db);
    sp__mindrecord_buffer_release(&p->blob);
    sp__mindrecord_buffer_release(&p->raw);
    memset(p, 0, sizeof *p);
    p->fd = -1;
}

/* --- beginning ------------------------------------------------------------------------------------------------------------- */

static void find_next_slot(sp_mindrecord_partial *p)
{
    p->next_slot = 0;
    p->next_id = 0;
    for (int64_t i = 0; i < p->header->n_groups; i++) {
        const sp_mindrecord_group *g = &p->header->groups[i];
        if (g->blob_slot >= p->next_slot) p->next_slot = g->blob_slot + 1;
        if (g->id >= p->next_id) p->next_id = g->id + 1;
    }
    for (int64_t i = 0; i < p->header->n_raw; i++)
        if (p->header->raw[i].slot >= p->next_slot) p->next_slot = p->header->raw[i].slot + 1;
}

/* What stands behind the front header: groups that were complete when the writer died. Returns their number of rows. */
static sp_status read_notes(sp_mindrecord_header *h, const uint8_t *file, size_t bytes)
{
    size_t at = SP_MINDRECORD_LENGTH_BYTES + (size_t)sp__mindrecord_get64(file);
    size_t end = h->header_bytes < bytes ? (size_t)h->header_bytes : bytes;
    while (at < end) {
        char line[NOTE_BYTES] = {0};
        size_t n = 0;
        while (n < sizeof line - 1 && at + n < end && file[at + n] != '\n') n++;
        if (n == sizeof line - 1 || at + n >= end) break;
        memcpy(line, file + at, n + 1);
        sp_mindrecord_group g;
        uint64_t raw_used = 0;
        if (!sp__mindrecord_note_parse(line, &g, &raw_used) || g.start_row != sp__mindrecord_header_rows(h)) break;
        bool fits = g.blob_used <= h->page_bytes && raw_used <= h->page_bytes && g.raw_at <= raw_used &&
                    g.end_row > g.start_row && g.blob_slot < INT32_MAX && g.raw_slot < INT32_MAX &&
                    h->header_bytes + g.blob_slot * h->page_bytes + g.blob_used <= bytes &&
                    h->header_bytes + g.raw_slot * h->page_bytes + raw_used <= bytes;
        if (!fits) break;
        if (h->n_raw == 0 || h->raw[h->n_raw - 1].slot != g.raw_slot)
            SP_TRY(sp__mindrecord_header_add_raw(h, g.raw_slot));
        h->raw[h->n_raw - 1].used = raw_used;
        SP_TRY(sp__mindrecord_header_add_group(h, &g));
        at += n + 1;
    }
    return SP_OK;
}

static sp_status parse_partial(const char *partial, sp_mindrecord_header **out)
{
    sp_map *map = NULL;
    sp_mindrecord_header *h = NULL;
    SP_TRY(sp__map_open(partial, &map));
    sp_status status = sp__mindrecord_header_parse(map->data, map->bytes, &h);
    if (status == SP_OK) status = read_notes(h, map->data, map->bytes);
    sp__map_release(map);
    if (status != SP_OK) {
        sp__mindrecord_header_release(h);
        return status;
    }
    *out = h;
    return SP_OK;
}

static sp_status refuse_leftover(const sp_mindrecord_partial *p)
{
    sp_mindrecord_header *h = NULL;
    if (parse_partial(p->partial, &h) != SP_OK) return SP_OK; /* nothing in it that could be lost */
    uint64_t rows = sp__mindrecord_header_rows(h);
    sp__mindrecord_header_release(h);
    SP_CHECK(rows == 0, SP_VALUE,
             "%s: holds %llu rows of a writer that died; complete it with `spore record recover`, remove it, or allow "
             "overwriting",
             p->partial, (unsigned long long)rows);
    return SP_OK;
}

static sp_status begin(const char *path, bool overwrite, sp_mindrecord_partial *p)
{
    struct stat there;
    SP_CHECK(stat(path, &there) != 0 || S_ISREG(there.st_mode), SP_IO, "%s: is there and is not a regular file", path);
    SP_TRY(set_names(p, path));
    SP_TRY(open_locked(p, true));
    if (!overwrite) SP_TRY(refuse_leftover(p));
    p->own = true;
    SP_CHECK(ftruncate(p->fd, 0) == 0 && fchmod(p->fd, 0600) == 0, SP_IO, "%s: %s", p->partial, sp__strerror(errno));
    return SP_OK;
}

sp_status sp__mindrecord_partial_create(const char *path, sp_mindrecord_header *take_header, bool overwrite,
                                        sp_mindrecord_partial *out)
{
    sp_mindrecord_partial p = {.fd = -1, .header = take_header};
    sp_status status = begin(path, overwrite, &p);
    if (status == SP_OK) status = write_header(&p);
    if (status != SP_OK) {
        sp__mindrecord_partial_close(&p, true);
        return status;
    }
    *out = p;
    return SP_OK;
}

static sp_status copy_page(sp_mindrecord_partial *p, const sp_mindrecord_shard *shard, uint64_t slot, uint64_t used)
{
    uint64_t at = page_begin(p, slot);
    return used == 0 ? SP_OK : write_at(p, shard->source.data + at, (size_t)used, at);
}

/* Go on with the last group: its page of blobs has room, and its raw records are the last of their page. */
static sp_status resume_group(sp_mindrecord_partial *p, const sp_mindrecord_shard *shard)
{
    sp_mindrecord_header *h = p->header;
    if (h->n_groups == 0 || h->n_raw == 0) return SP_OK;
    sp_mindrecord_group *g = &h->groups[h->n_groups - 1];
    sp_mindrecord_raw_page *raw = &h->raw[h->n_raw - 1];
    bool last = g->raw_slot == raw->slot;
    for (int64_t i = 0; i < h->n_groups - 1; i++)
        if (h->groups[i].raw_slot == raw->slot && h->groups[i].raw_at >= g->raw_at) last = false;
    if (!last) return SP_OK;
    size_t bytes = (size_t)(raw->used - g->raw_at);
    SP_TRY(sp__mindrecord_buffer_reserve(&p->raw, bytes));
    memcpy(p->raw.data, shard->source.data + page_begin(p, raw->slot) + g->raw_at, bytes);
    p->raw.bytes = bytes;
    p->group = *g;
    p->flushed = g->blob_used;
    p->open = true;
    raw->used = g->raw_at;
    h->n_groups--;
    return SP_OK;
}

static sp_status copy_shard(const sp_mindrecord_shard *shard, sp_mindrecord_partial *p)
{
    SP_TRY(sp__mindrecord_header_parse(shard->source.data, shard->source.bytes, &p->header));
    SP_TRY(begin(shard->path, true, p));
    const sp_mindrecord_header *h = p->header;
    for (int64_t i = 0; i < h->n_groups; i++)
        SP_TRY(copy_page(p, shard, h->groups[i].blob_slot, h->groups[i].blob_used));
    for (int64_t i = 0; i < h->n_raw; i++) SP_TRY(copy_page(p, shard, h->raw[i].slot, h->raw[i].used));
    find_next_slot(p);
    p->saved = (int64_t)h->saved_bytes;
    SP_TRY(resume_group(p, shard));
    return write_header(p);
}

sp_status sp__mindrecord_partial_copy(const sp_mindrecord_shard *shard, sp_mindrecord_partial *out)
{
    sp_mindrecord_partial p = {.fd = -1};
    sp_status status = copy_shard(shard, &p);
    if (status != SP_OK) {
        sp__mindrecord_partial_close(&p, true);
        return status;
    }
    *out = p;
    return SP_OK;
}

sp_status sp__mindrecord_partial_reopen(const char *path, sp_mindrecord_partial *out)
{
    sp_mindrecord_partial p = {.fd = -1};
    sp_status status = set_names(&p, path);
    if (status == SP_OK) status = open_locked(&p, false);
    if (status == SP_OK) {
        status = parse_partial(p.partial, &p.header);
        if (status != SP_OK) sp__error_context("%s", p.partial);
    }
    if (status != SP_OK) {
        sp__mindrecord_partial_close(&p, false);
        return status;
    }
    find_next_slot(&p);
    p.saved = (int64_t)p.header->saved_bytes;
    *out = p;
    return SP_OK;
}

/* --- rows ------------------------------------------------------------------------------------------------------------------ */

static sp_status flush_blob(sp_mindrecord_partial *p)
{
    SP_TRY(write_at(p, p->blob.data, p->blob.bytes, page_begin(p, p->group.blob_slot) + p->flushed));
    p->flushed += p->blob.bytes;
    p->blob.bytes = 0;
    return SP_OK;
}

static sp_status write_note(sp_mindrecord_partial *p)
{
    char note[NOTE_BYTES];
    sp__mindrecord_note_print(&p->group, p->header->raw[p->header->n_raw - 1].used, note, sizeof note);
    size_t n = strlen(note);
    /* A page takes more room in the header than its note, so the header will not fit either. */
    SP_CHECK(
        p->notes_at + n <= p->header->header_bytes, SP_VALUE,
        "%s: the header of %llu bytes is full after %lld pages; make the header larger (set_header_size) or the pages "
        "(set_page_size)",
        p->path, (unsigned long long)p->header->header_bytes, (long long)sp__mindrecord_header_pages(p->header));
    SP_TRY(write_at(p, note, n, p->notes_at));
    p->notes_at += n;
    return SP_OK;
}

static sp_status close_group(sp_mindrecord_partial *p)
{
    if (!p->open) return SP_OK;
    sp_mindrecord_header *h = p->header;
    SP_TRY(flush_blob(p));
    if (h->n_raw == 0 || p->raw.bytes > h->page_bytes - h->raw[h->n_raw - 1].used)
        SP_TRY(sp__mindrecord_header_add_raw(h, p->next_slot++));
    sp_mindrecord_raw_page *raw = &h->raw[h->n_raw - 1];
    SP_TRY(write_at(p, p->raw.data, p->raw.bytes, page_begin(p, raw->slot) + raw->used));
    p->group.raw_slot = raw->slot;
    p->group.raw_at = raw->used;
    p->group.blob_used = p->flushed;
    raw->used += p->raw.bytes;
    p->raw.bytes = 0;
    SP_TRY(sp__mindrecord_header_add_group(h, &p->group));
    SP_TRY(write_note(p));
    p->open = false;
    return SP_OK;
}

static void open_group(sp_mindrecord_partial *p)
{
    uint64_t row = sp__mindrecord_header_rows(p->header);
    p->group = (sp_mindrecord_group){.id = p->next_id++, .start_row = row, .end_row = row, .blob_slot = p->next_slot++};
    p->flushed = 0;
    p->open = true;
}

sp_status sp__mindrecord_partial_check_size(const sp_mindrecord_partial *p, size_t raw_bytes, size_t blob_bytes)
{
    uint64_t room = p->header->page_bytes - SP_MINDRECORD_LENGTH_BYTES;
    SP_CHECK(
        raw_bytes <= room && blob_bytes <= room, SP_VALUE,
        "%zu bytes of numbers and strings and %zu of blobs: a page of %llu has room for %llu of either; make the pages "
        "larger (set_page_size)",
        raw_bytes, blob_bytes, (unsigned long long)p->header->page_bytes, (unsigned long long)room);
    return SP_OK;
}

sp_status sp__mindrecord_partial_reserve(sp_mindrecord_partial *p, size_t raw_bytes, size_t blob_bytes)
{
    uint64_t room = p->header->page_bytes;
    size_t raw = raw_bytes + SP_MINDRECORD_LENGTH_BYTES, blob = blob_bytes + SP_MINDRECORD_LENGTH_BYTES;
    if (p->open && (p->flushed + p->blob.bytes + blob > room || p->raw.bytes + raw > room)) SP_TRY(close_group(p));
    if (!p->open) open_group(p);
    return SP_OK;
}

sp_status sp__mindrecord_partial_count_row(sp_mindrecord_partial *p)
{
    p->group.end_row++;
    return p->blob.bytes >= FLUSH_BYTES ? flush_blob(p) : SP_OK;
}

/* --- end -------------------------------------------------------------------------------------------------------------------- */

static sp_status trim(sp_mindrecord_partial *p, uint64_t header_end)
{
    const sp_mindrecord_header *h = p->header;
    uint64_t end = header_end;
    for (int64_t i = 0; i < h->n_groups; i++) {
        uint64_t e = page_begin(p, h->groups[i].blob_slot) + h->groups[i].blob_used;
        if (h->groups[i].blob_used > 0 && e > end) end = e;
    }
    for (int64_t i = 0; i < h->n_raw; i++) {
        uint64_t e = page_begin(p, h->raw[i].slot) + h->raw[i].used;
        if (h->raw[i].used > 0 && e > end) end = e;
    }
    SP_CHECK(ftruncate(p->fd, (off_t)end) == 0, SP_IO, "%s: %s", p->partial, sp__strerror(errno));
    return SP_OK;
}

static sp_status sync_file(int fd, const char *path)
{
    int result;
    do result = fsync(fd);
    while (result != 0 && errno == EINTR);
    SP_CHECK(result == 0, SP_IO, "%s: cannot be brought to disk: %s", path, sp__strerror(errno));
    return SP_OK;
}

static sp_status make_index(sp_mindrecord_partial *p)
{
    sp_mindrecord_shard shard;
    unlink(p->partial_db);
    SP_TRY(sp__mindrecord_shard_open(p->partial, NULL, &shard));
    sp_status status = sp__mindrecord_index_write(&shard, sp__mindrecord_base_name(p->path), p->partial_db);
    sp__mindrecord_shard_close(&shard);
    if (status != SP_OK) {
        sp__error_context("%s", p->path);
        return status;
    }
    int fd = open(p->partial_db, O_RDWR | O_CLOEXEC);
    SP_CHECK(fd >= 0, SP_IO, "%s: %s", p->partial_db, sp__strerror(errno));
    status = fchmod(fd, 0600) == 0 ? sync_file(fd, p->partial_db)
                                   : sp__fail(SP_IO, "%s: %s", p->partial_db, sp__strerror(errno));
    close(fd);
    return status;
}

sp_status sp__mindrecord_partial_finish(sp_mindrecord_partial *p)
{
    static const uint8_t zeros[4096];
    SP_TRY(close_group(p));
    p->header->saved_bytes = p->saved > 0 ? (uint64_t)p->saved : 0;
    uint64_t notes_end = p->notes_at;
    SP_TRY(write_header(p));
    for (uint64_t at = p->notes_at; at < notes_end; at += sizeof zeros)
        SP_TRY(write_at(p, zeros, notes_end - at < sizeof zeros ? (size_t)(notes_end - at) : sizeof zeros, at));
    SP_TRY(trim(p, p->notes_at));
    SP_TRY(sync_file(p->fd, p->partial));
    return make_index(p);
}

/* The names, to disk. Whatever fails here, everything is in place: no memory, a folder that may not be read, a file system
 * that has no such operation. */
static void sync_folder(const char *path)
{
    char *folder = sp__strdup(path);
    if (folder == NULL) return;
    folder[sp__mindrecord_base_name(path) - path] = '\0';
    int fd = open(folder[0] != '\0' ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sp__free(folder);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

sp_status sp__mindrecord_partial_publish(sp_mindrecord_partial *p, bool overwrite, const sp_record_secret *secret)
{
    char *db = sp__mindrecord_path(p->path, ".db");
    if (db == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    if (!overwrite && (access(p->path, F_OK) == 0 || access(db, F_OK) == 0))
        status = sp__fail(SP_VALUE, "appeared while it was being written, and overwriting is not allowed");
    if (status == SP_OK && unlink(db) != 0 && errno != ENOENT)
        status = sp__fail(SP_IO, "the old index cannot be removed: %s", sp__strerror(errno));
    if (status == SP_OK) status = sp__mindrecord_source_publish(p->partial, p->path, secret);
    if (status == SP_OK) status = sp__mindrecord_source_publish(p->partial_db, db, secret);
    sp__free(db);
    if (status == SP_OK) {
        p->own = false;
        sync_folder(p->path);
    }
    if (status != SP_OK) sp__error_context("%s", p->path);
    return status;
}
