/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord.h - what the files of MindRecord share: schema, header, pages, records. spore/record.h is the interface.
 *
 * A shard file:
 *     0              length of the header, 8 bytes
 *     8              header, JSON (mindrecord_header.c)
 *     header_bytes   pages: slot p begins at header_bytes + p * page_bytes, its first `used` bytes count
 * Beside it `<name>.db`, an SQLite index (mindrecord_index.c), which MindSpore needs and we do not.
 *
 * A row is cut in two: numbers and strings make its raw record, a MessagePack map (mindrecord_scalars.c); bytes and arrays
 * make its blob record (mindrecord_blobs.c). Records have an 8-byte length in front and stand one behind the other. A
 * row group is what lies in one blob page; the raw records of a group lie together in one raw page, which may hold several
 * groups. Rows are numbered from 0 in every shard, and a group holds consecutive ones.
 *
 * Integers are little-endian, unless said otherwise. */
#ifndef SPORE_MINDRECORD_H
#define SPORE_MINDRECORD_H

#include "base/base.h"
#include "spore/record.h"

enum {
    SP_MINDRECORD_HEADER_MIN = 16 << 10,
    SP_MINDRECORD_HEADER_MAX = 128 << 20,
    SP_MINDRECORD_HEADER_DEFAULT = 16 << 20,
    SP_MINDRECORD_PAGE_MIN = 32 << 10,
    SP_MINDRECORD_PAGE_MAX = 256 << 20,
    SP_MINDRECORD_PAGE_DEFAULT = 32 << 20,
    SP_MINDRECORD_SHARDS_MAX = 1000,
    SP_MINDRECORD_LENGTH_BYTES = 8, /* in front of a record, and of the header */
    SP_MINDRECORD_FIELDS_MAX = 4096
};

static inline uint64_t sp__mindrecord_get64(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | p[i];
    return v;
}
static inline void sp__mindrecord_put64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> (8 * i));
}
static inline uint64_t sp__mindrecord_get64_big(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | p[i];
    return v;
}

/* --- schema (mindrecord_schema.c) ---------------------------------------------------------------------------------- */

typedef struct sp_mindrecord_schema {
    char *description;
    int n_fields;
    sp_record_field *fields; /* alphabetical; names are owned */
    int n_blobs;
    int *blobs; /* numbers of the fields in a blob record, in its order */
    int n_index;
    int *index;    /* numbers of the fields in the index, in its order */
    bool packed;   /* integer arrays are compressed: version 3.0 and one of them exists */
    int n_scalars; /* n_fields - n_blobs */
    char version[8];
} sp_mindrecord_schema;

static inline bool sp__mindrecord_is_blob(const sp_record_field *f)
{
    return f->rank >= 0 || f->type == SP_RECORD_BYTES;
}
static inline bool sp__mindrecord_is_packed(const sp_mindrecord_schema *s, const sp_record_field *f)
{
    return s->packed && f->rank >= 0 && (f->type == SP_RECORD_INT32 || f->type == SP_RECORD_INT64);
}

/* Check the fields (names, types, shapes) and sort them. Index fields are set apart. */
sp_status sp__mindrecord_schema_create(const sp_record_field *fields, int n_fields, const char *description,
                                       const char *version, sp_mindrecord_schema **out);
void sp__mindrecord_schema_release(sp_mindrecord_schema *schema);
int sp__mindrecord_schema_find(const sp_mindrecord_schema *schema, const char *name);
/* names == NULL: all fields that hold one number or string. */
sp_status sp__mindrecord_schema_set_index(sp_mindrecord_schema *schema, const char *const *names, int n_names);
/* SP_FORMAT with the first difference when two files do not fit together. */
sp_status sp__mindrecord_schema_compare(const sp_mindrecord_schema *a, const sp_mindrecord_schema *b);
/* "int32[2,-1]" into text[64]. */
const char *sp__mindrecord_type_text(sp_record_type type, int rank, const int64_t *dims, char *text);

/* --- header (mindrecord_header.c) ---------------------------------------------------------------------------------- */

typedef struct sp_mindrecord_group {
    int64_t id;
    uint64_t start_row, end_row;
    uint64_t blob_slot, blob_used;
    uint64_t raw_slot, raw_at; /* where its raw records begin */
} sp_mindrecord_group;

typedef struct sp_mindrecord_raw_page {
    uint64_t slot, used;
    int64_t type_id; /* kept as found */
} sp_mindrecord_raw_page;

/* The parts of a header that pages, shards and rows depend on. Groups are in the order of their rows. */
typedef struct sp_mindrecord_header {
    uint64_t header_bytes, page_bytes;
    uint64_t saved_bytes; /* by compression, for information */
    int n_shards, shard;
    char **shard_names; /* base names */
    int64_t n_groups, groups_room;
    sp_mindrecord_group *groups;
    int64_t n_raw, raw_room;
    sp_mindrecord_raw_page *raw; /* in the order of their slots */
    char *statistics;            /* JSON, kept as found; NULL: none */
    sp_mindrecord_schema *schema;
} sp_mindrecord_header;

sp_status sp__mindrecord_header_parse(const uint8_t *file, size_t bytes, sp_mindrecord_header **out);
void sp__mindrecord_header_release(sp_mindrecord_header *header);
static inline int64_t sp__mindrecord_header_pages(const sp_mindrecord_header *h) { return h->n_groups + h->n_raw; }
static inline uint64_t sp__mindrecord_header_rows(const sp_mindrecord_header *h)
{
    return h->n_groups == 0 ? 0 : h->groups[h->n_groups - 1].end_row;
}
/* JSON text, sp__free it. */
sp_status sp__mindrecord_header_print(const sp_mindrecord_header *header, char **out, size_t *out_bytes);
sp_status sp__mindrecord_header_add_group(sp_mindrecord_header *header, const sp_mindrecord_group *group);
sp_status sp__mindrecord_header_add_raw(sp_mindrecord_header *header, uint64_t slot);
/* A group as one line of text and back: what a writer notes after each page, so that a crash loses no earlier one. */
void sp__mindrecord_note_print(const sp_mindrecord_group *group, uint64_t raw_used, char *text, size_t room);
bool sp__mindrecord_note_parse(const char *text, sp_mindrecord_group *group, uint64_t *raw_used);

/* --- records ------------------------------------------------------------------------------------------------------- */

/* A byte buffer that grows. */
typedef struct sp_mindrecord_buffer {
    uint8_t *data;
    size_t bytes, room;
} sp_mindrecord_buffer;

sp_status sp__mindrecord_buffer_reserve(sp_mindrecord_buffer *b, size_t more);
void sp__mindrecord_buffer_release(sp_mindrecord_buffer *b);

/* values: one for each field of the schema. Only those with want[i] (all when NULL) are set; SP_FORMAT names the field. */
sp_status sp__mindrecord_scalars_parse(const sp_mindrecord_schema *schema, const uint8_t *record, size_t bytes,
                                       const bool *want, sp_record_value *values);
sp_status sp__mindrecord_scalars_print(const sp_mindrecord_schema *schema, const sp_record_value *values,
                                       sp_mindrecord_buffer *out);

/* Arrays that are stored compressed are unpacked into `scratch`; dims of array i go to dims + i * SP_RANK_MAX. */
sp_status sp__mindrecord_blobs_parse(const sp_mindrecord_schema *schema, const uint8_t *record, size_t bytes,
                                     const bool *want, sp_record_value *values, int64_t *dims,
                                     sp_mindrecord_buffer *scratch);
/* saved: bytes that compression saved are added, negative when it cost some. */
sp_status sp__mindrecord_blobs_print(const sp_mindrecord_schema *schema, const sp_record_value *values,
                                     sp_mindrecord_buffer *out, int64_t *saved);

/* --- plain contents of a file (mindrecord_source.c) ------------------------------------------------------------------ */

typedef struct sp_mindrecord_source {
    const uint8_t *data;
    size_t bytes;          /* without a digest at the end */
    const uint8_t *digest; /* NULL: there is none */
    size_t digest_bytes;
    bool encrypted;
    struct sp_map *map; /* the file */
    uint8_t *plain;     /* decrypted contents, when it was encrypted */
} sp_mindrecord_source;

sp_status sp__mindrecord_source_open(const char *path, const sp_record_secret *secret, sp_mindrecord_source *out);
void sp__mindrecord_source_close(sp_mindrecord_source *source);
/* Does the digest at the end agree? hash NULL: by any algorithm of its size. SP_VALUE when not. */
sp_status sp__mindrecord_source_verify(const sp_mindrecord_source *source, const char *hash);
/* Write contents with digest and encryption as the secret asks (NULL: plain) to `path` in one step. Mode 0600. */
sp_status sp__mindrecord_source_save(const char *path, const uint8_t *data, size_t bytes,
                                     const sp_record_secret *secret);
/* The same for a file of ours at `plain`, which ends up at path; it is moved when nothing is to be added. */
sp_status sp__mindrecord_source_publish(const char *plain, const char *path, const sp_record_secret *secret);

/* --- one shard (mindrecord_shard.c) ---------------------------------------------------------------------------------- */

typedef struct sp_mindrecord_record_place { /* both records of a row, without their lengths */
    const uint8_t *raw, *blob;
    size_t raw_bytes, blob_bytes;
    uint64_t raw_at, blob_at; /* of the length fields, in their pages */
} sp_mindrecord_record_place;

typedef struct sp_mindrecord_shard {
    char *path;
    sp_mindrecord_source source;
    sp_mindrecord_header *header;
    uint64_t first_row;           /* in the data set */
    _Atomic(uint32_t *) *offsets; /* for each group, once touched: two for each row, raw and blob */
} sp_mindrecord_shard;

sp_status sp__mindrecord_shard_open(const char *path, const sp_record_secret *secret, sp_mindrecord_shard *out);
/* The same from plain contents in memory, which must stay there. path is for messages. */
sp_status sp__mindrecord_shard_parse(const char *path, const uint8_t *data, size_t bytes, sp_mindrecord_shard *out);
void sp__mindrecord_shard_close(sp_mindrecord_shard *shard);
/* Where row `row` of group g is; g in range, row in [start_row, end_row). */
sp_status sp__mindrecord_shard_find(const sp_mindrecord_shard *shard, int64_t g, uint64_t row,
                                    sp_mindrecord_record_place *out);
/* The group that holds a row of the shard. */
int64_t sp__mindrecord_shard_group(const sp_mindrecord_shard *shard, uint64_t row);

/* --- index (mindrecord_index.c) --------------------------------------------------------------------------------------- */

/* Write the database of a shard to db_path, which must not exist. */
sp_status sp__mindrecord_index_write(const sp_mindrecord_shard *shard, const char *name, const char *db_path);
/* Compare a database with the pages; problems are reported as sp_record_check does. */
typedef void (*sp_mindrecord_report)(void *context, const char *text);
sp_status sp__mindrecord_index_check(const sp_mindrecord_shard *shard, const char *name, const char *db_path,
                                     const sp_record_secret *secret, sp_mindrecord_report report, void *context);

/* --- data sets (mindrecord_reader.c) ------------------------------------------------------------------------------------ */

/* The paths of all shards of the data set that `path` belongs to. */
sp_status sp__mindrecord_paths(const char *path, const sp_record_secret *secret, char ***out, int *out_count);
void sp__mindrecord_paths_release(char **paths, int n);
const sp_mindrecord_shard *sp__mindrecord_record_shard(const sp_record *record, int i);

/* "folder/name" + suffix; sp__free it, NULL when there is no memory. */
char *sp__mindrecord_path(const char *path, const char *suffix);
/* Behind the last slash. */
const char *sp__mindrecord_base_name(const char *path);

#endif
