/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_shard.c - one open shard file: from a row number to the bytes of its two records.
 *
 * The header tells which rows a group holds, so finding the group is a binary search; inside a group records stand one
 * behind the other, and where each begins is found by walking the group once, when it is first touched. The result, two
 * 32-bit offsets a row, is kept. So opening costs the header only, a first row one page, and no row needs the database.
 * Threads may walk the same group at the same time; the first to finish publishes, the others drop theirs. */
#include "data/mindrecord.h"

#include <string.h>

void sp__mindrecord_shard_close(sp_mindrecord_shard *s)
{
    for (int64_t g = 0; s->offsets != NULL && g < s->header->n_groups; g++)
        sp__free(atomic_load_explicit(&s->offsets[g], memory_order_relaxed));
    sp__free(s->offsets);
    sp__mindrecord_header_release(s->header);
    sp__mindrecord_source_close(&s->source);
    sp__free(s->path);
    memset(s, 0, sizeof *s);
}

static sp_status parse_shard(const char *path, sp_mindrecord_shard *s)
{
    s->path = sp__strdup(path);
    if (s->path == NULL) return SP_NOMEM;
    SP_TRY(sp__mindrecord_header_parse(s->source.data, s->source.bytes, &s->header));
    size_t n = (size_t)s->header->n_groups;
    s->offsets = sp__alloc_zero((n + 1) * sizeof *s->offsets);
    return s->offsets == NULL ? SP_NOMEM : SP_OK;
}

sp_status sp__mindrecord_shard_parse(const char *path, const uint8_t *data, size_t bytes, sp_mindrecord_shard *out)
{
    sp_mindrecord_shard s;
    memset(&s, 0, sizeof s);
    s.source.data = data;
    s.source.bytes = bytes;
    sp_status status = parse_shard(path, &s);
    if (status != SP_OK) {
        sp__mindrecord_shard_close(&s);
        return status;
    }
    *out = s;
    return SP_OK;
}

sp_status sp__mindrecord_shard_open(const char *path, const sp_record_secret *secret, sp_mindrecord_shard *out)
{
    sp_mindrecord_shard s;
    memset(&s, 0, sizeof s);
    sp_status status = sp__mindrecord_source_open(path, secret, &s.source);
    if (status == SP_OK) status = parse_shard(path, &s);
    if (status != SP_OK) {
        sp__mindrecord_shard_close(&s);
        sp__error_context("%s", path);
        return status;
    }
    *out = s;
    return SP_OK;
}

int64_t sp__mindrecord_shard_group(const sp_mindrecord_shard *s, uint64_t row)
{
    int64_t low = 0, high = s->header->n_groups - 1; /* the last group that starts at or before row, and is not empty */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->header->groups[middle].end_row <= row) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* --- a page as a row of records -------------------------------------------------------------------------------------- */

typedef struct page {
    const uint8_t *data;
    uint64_t used;
} page;

static page page_at(const sp_mindrecord_shard *s, uint64_t slot, uint64_t used)
{
    /* The header's parser has seen that the used part lies in the file. */
    return (page){s->source.data + (used == 0 ? 0 : s->header->header_bytes + slot * s->header->page_bytes), used};
}

static page raw_page_of(const sp_mindrecord_shard *s, const sp_mindrecord_group *g)
{
    int64_t low = 0, high = s->header->n_raw - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->header->raw[middle].slot < g->raw_slot) low = middle + 1;
        else high = middle;
    }
    return page_at(s, g->raw_slot, s->header->raw[low].used);
}

/* Length of the record at `at`. Checked at every use, for the file may change under us. */
static sp_status record_length(const page *p, uint64_t at, const char *kind, uint64_t *out)
{
    SP_CHECK(at <= p->used && p->used - at >= SP_MINDRECORD_LENGTH_BYTES, SP_FORMAT,
             "its %s record would begin at %llu of a page that uses %llu bytes", kind, (unsigned long long)at,
             (unsigned long long)p->used);
    uint64_t length = sp__mindrecord_get64(p->data + at);
    SP_CHECK(length <= p->used - at - SP_MINDRECORD_LENGTH_BYTES, SP_FORMAT,
             "its %s record has %llu bytes, %llu are left in the page", kind, (unsigned long long)length,
             (unsigned long long)(p->used - at - SP_MINDRECORD_LENGTH_BYTES));
    *out = length;
    return SP_OK;
}

static sp_status walk_group(const sp_mindrecord_shard *s, const sp_mindrecord_group *g, uint32_t *offsets)
{
    page raw = raw_page_of(s, g), blob = page_at(s, g->blob_slot, g->blob_used);
    uint64_t raw_at = g->raw_at, blob_at = 0;
    for (uint64_t row = g->start_row; row < g->end_row; row++) {
        uint64_t raw_length = 0, blob_length = 0;
        sp_status status = record_length(&raw, raw_at, "raw", &raw_length);
        if (status == SP_OK) status = record_length(&blob, blob_at, "blob", &blob_length);
        if (status != SP_OK) {
            sp__error_context("%s: row %llu", s->path, (unsigned long long)row);
            return status;
        }
        *offsets++ = (uint32_t)raw_at;
        *offsets++ = (uint32_t)blob_at;
        raw_at += SP_MINDRECORD_LENGTH_BYTES + raw_length;
        blob_at += SP_MINDRECORD_LENGTH_BYTES + blob_length;
    }
    return SP_OK;
}

static sp_status group_offsets(const sp_mindrecord_shard *s, int64_t g, const uint32_t **out)
{
    uint32_t *known = atomic_load_explicit(&s->offsets[g], memory_order_acquire);
    if (known == NULL) {
        const sp_mindrecord_group *group = &s->header->groups[g];
        /* The parser has bounded the number of rows by the bytes of the page. */
        uint32_t *mine = sp__alloc((size_t)(group->end_row - group->start_row) * 2 * sizeof *mine);
        if (mine == NULL) return SP_NOMEM;
        sp_status status = walk_group(s, group, mine);
        if (status != SP_OK) {
            sp__free(mine);
            return status;
        }
        if (atomic_compare_exchange_strong_explicit(&s->offsets[g], &known, mine, memory_order_acq_rel,
                                                    memory_order_acquire))
            known = mine;
        else sp__free(mine);
    }
    *out = known;
    return SP_OK;
}

sp_status sp__mindrecord_shard_find(const sp_mindrecord_shard *s, int64_t g, uint64_t row,
                                    sp_mindrecord_record_place *out)
{
    const sp_mindrecord_group *group = &s->header->groups[g];
    const uint32_t *offsets = NULL;
    SP_TRY(group_offsets(s, g, &offsets));
    page raw = raw_page_of(s, group), blob = page_at(s, group->blob_slot, group->blob_used);
    uint64_t raw_length = 0, blob_length = 0;
    offsets += (row - group->start_row) * 2;
    SP_TRY(record_length(&raw, offsets[0], "raw", &raw_length));
    SP_TRY(record_length(&blob, offsets[1], "blob", &blob_length));
    *out = (sp_mindrecord_record_place){.raw = raw.data + offsets[0] + SP_MINDRECORD_LENGTH_BYTES,
                                        .blob = blob.data + offsets[1] + SP_MINDRECORD_LENGTH_BYTES,
                                        .raw_bytes = (size_t)raw_length,
                                        .blob_bytes = (size_t)blob_length,
                                        .raw_at = offsets[0],
                                        .blob_at = offsets[1]};
    return SP_OK;
}
