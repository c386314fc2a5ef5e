/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_reader.c - a data set of one or more shards, and rows of it.
 *
 * Rows are numbered through: those of shard 0 in their order, then those of shard 1, and so on. Values point into the
 * mapped file wherever they can; compressed arrays are unpacked into the row's own memory. */
#include "base/file.h"
#include "data/mindrecord.h"

#include <string.h>

struct sp_record {
    atomic_int refs;
    int n_shards;
    int64_t n_rows;
    sp_mr_shard *shards;
};

struct sp_record_row {
    sp_record *record;
    int n_columns;
    int *columns;            /* field of each column */
    bool *want;              /* by field */
    bool scalars, blobs;     /* is any of them wanted */
    sp_record_value *fields; /* by field */
    sp_record_value *values; /* by column */
    int64_t *dims;           /* by field, SP_RANK_MAX each */
    sp_mr_buffer scratch;
};

static const sp_mr_schema *schema_of(const sp_record *r) { return r->shards[0].header->schema; }

/* --- opening ------------------------------------------------------------------------------------------------------------ */

sp_record *sp_record_retain(sp_record *r)
{
    atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
    return r;
}

void sp_record_release(sp_record *r)
{
    if (r == NULL || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1) return;
    for (int i = 0; i < r->n_shards; i++) sp__mr_shard_close(&r->shards[i]);
    sp__free(r->shards);
    sp__free(r);
}

static sp_status check_fit(const sp_mr_shard *first, const sp_mr_shard *s)
{
    SP_CHECK(s->header->header_bytes == first->header->header_bytes, SP_FORMAT,
             "%s: a header of %llu bytes, the files before have %llu", s->path,
             (unsigned long long)s->header->header_bytes, (unsigned long long)first->header->header_bytes);
    SP_CHECK(s->header->page_bytes == first->header->page_bytes, SP_FORMAT,
             "%s: pages of %llu bytes, the files before have %llu", s->path, (unsigned long long)s->header->page_bytes,
             (unsigned long long)first->header->page_bytes);
    sp_status status = sp__mr_schema_compare(first->header->schema, s->header->schema);
    if (status != SP_OK) sp__error_context("Invalid file, the metadata of mindrecord file: %s is different from others", s->path);
    return status;
}

static sp_status open_shards(sp_record *r, const char *const *paths, int n_paths, const sp_record_secret *secret)
{
    for (int i = 0; i < n_paths; i++) {
        sp_mr_shard *s = &r->shards[i];
        SP_TRY(sp__mr_shard_open(paths[i], secret, s));
        r->n_shards++;
        SP_TRY(check_fit(&r->shards[0], s));
        s->first_row = (uint64_t)r->n_rows;
        uint64_t rows = sp__mr_header_rows(s->header);
        SP_CHECK(rows <= (uint64_t)(INT64_MAX - r->n_rows), SP_FORMAT, "%s: too many rows", s->path);
        r->n_rows += (int64_t)rows;
    }
    return SP_OK;
}

sp_status sp_record_open_files(const char *const *paths, int n_paths, const sp_record_secret *secret, sp_record **out)
{
    SP_CHECK(n_paths > 0, SP_VALUE, "no file is named");
    for (int i = 0; i < n_paths; i++) SP_CHECK(paths[i] != NULL && paths[i][0] != '\0', SP_VALUE, "a file name is empty");
    sp_record *r = sp__alloc_zero(sizeof *r);
    if (r == NULL) return SP_NOMEM;
    atomic_init(&r->refs, 1);
    r->shards = sp__alloc_zero((size_t)n_paths * sizeof *r->shards);
    sp_status status = r->shards == NULL ? SP_NOMEM : open_shards(r, paths, n_paths, secret);
    if (status != SP_OK) {
        sp_record_release(r);
        return status;
    }
    *out = r;
    return SP_OK;
}

void sp__mr_paths_release(char **paths, int n)
{
    for (int i = 0; paths != NULL && i < n; i++) sp__free(paths[i]);
    sp__free(paths);
}

static sp_status fill_paths(const char *path, const sp_mr_header *h, char **paths)
{
    /* A shard alone in its set is opened by the name it has now: single files are renamed often. */
    size_t folder = (size_t)(sp__mr_base_name(path) - path);
    for (int i = 0; i < h->n_shards; i++) {
        if (h->n_shards == 1) paths[i] = sp__strdup(path);
        else {
            size_t n = strlen(h->shard_names[i]) + 1;
            paths[i] = sp__alloc(folder + n);
            if (paths[i] != NULL) {
                memcpy(paths[i], path, folder);
                memcpy(paths[i] + folder, h->shard_names[i], n);
            }
        }
        if (paths[i] == NULL) return SP_NOMEM;
    }
    return SP_OK;
}

sp_status sp__mr_paths(const char *path, const sp_record_secret *secret, char ***out, int *out_count)
{
    sp_mr_shard shard;
    SP_CHECK(path != NULL && path[0] != '\0', SP_VALUE, "the file name is empty");
    sp_record_secret quick = secret != NULL ? *secret : (sp_record_secret){0};
    quick.hash = NULL; /* once is enough, when it is opened to stay */
    SP_TRY(sp__mr_shard_open(path, &quick, &shard));
    int n = shard.header->n_shards;
    char **paths = sp__alloc_zero((size_t)n * sizeof *paths);
    sp_status status = paths == NULL ? SP_NOMEM : fill_paths(path, shard.header, paths);
    sp__mr_shard_close(&shard);
    if (status != SP_OK) {
        sp__mr_paths_release(paths, n);
        return status;
    }
    *out = paths;
    *out_count = n;
    return SP_OK;
}

sp_status sp_record_open(const char *path, const sp_record_secret *secret, sp_record **out)
{
    char **paths = NULL;
    int n = 0;
    SP_TRY(sp__mr_paths(path, secret, &paths, &n));
    sp_status status = sp_record_open_files((const char *const *)paths, n, secret, out);
    sp__mr_paths_release(paths, n);
    return status;
}

/* --- description ---------------------------------------------------------------------------------------------------------- */

int64_t sp_record_count(const sp_record *r) { return r->n_rows; }
int sp_record_field_count(const sp_record *r) { return schema_of(r)->n_fields; }
const sp_record_field *sp_record_field_at(const sp_record *r, int i) { return &schema_of(r)->fields[i]; }
int sp_record_field_find(const sp_record *r, const char *name) { return sp__mr_schema_find(schema_of(r), name); }
const char *sp_record_shard_path(const sp_record *r, int shard) { return r->shards[shard].path; }
int64_t sp_record_shard_count(const sp_record *r, int shard)
{
    return (int64_t)sp__mr_header_rows(r->shards[shard].header);
}
int sp_record_index_at(const sp_record *r, int i) { return schema_of(r)->index[i]; }
const sp_mr_shard *sp__mr_record_shard(const sp_record *r, int i) { return &r->shards[i]; }

void sp_record_describe(const sp_record *r, sp_record_info *out)
{
    const sp_mr_header *first = r->shards[0].header;
    *out = (sp_record_info){.version = first->schema->version,
                            .description = first->schema->description,
                            .n_shards = r->n_shards,
                            .n_index = first->schema->n_index,
                            .header_bytes = first->header_bytes,
                            .page_bytes = first->page_bytes,
                            .encrypted = r->shards[0].source.encrypted,
                            .hashed = r->shards[0].source.digest != NULL};
    for (int i = 0; i < r->n_shards; i++) {
        out->n_pages += sp__mr_header_pages(r->shards[i].header);
        out->n_groups += r->shards[i].header->n_groups;
        out->file_bytes += r->shards[i].source.bytes;
    }
}

/* --- rows ------------------------------------------------------------------------------------------------------------------- */

void sp_record_row_release(sp_record_row *row)
{
    if (row == NULL) return;
    sp_record_release(row->record);
    sp__free(row->columns);
    sp__free(row->want);
    sp__free(row->fields);
    sp__free(row->values);
    sp__free(row->dims);
    sp__mr_buffer_release(&row->scratch);
    sp__free(row);
}

static sp_status choose_columns(sp_record_row *row, const sp_mr_schema *s, const char *const *columns)
{
    for (int i = 0; i < row->n_columns; i++) {
        int field = columns == NULL ? i : sp__mr_schema_find(s, columns[i]);
        SP_CHECK(field >= 0, SP_KEY, "there is no column '%s'", columns[i]);
        row->columns[i] = field;
        row->want[field] = true;
        if (sp__mr_is_blob(&s->fields[field])) row->blobs = true;
        else row->scalars = true;
    }
    return SP_OK;
}

sp_status sp_record_row_create(sp_record *r, const char *const *columns, int n_columns, sp_record_row **out)
{
    const sp_mr_schema *s = schema_of(r);
    if (columns == NULL) n_columns = s->n_fields;
    SP_CHECK(n_columns > 0, SP_VALUE, "no column is named");
    sp_record_row *row = sp__alloc_zero(sizeof *row);
    if (row == NULL) return SP_NOMEM;
    size_t n = (size_t)s->n_fields;
    row->record = sp_record_retain(r);
    row->n_columns = n_columns;
    row->columns = sp__alloc((size_t)n_columns * sizeof *row->columns);
    row->values = sp__alloc_zero((size_t)n_columns * sizeof *row->values);
    row->want = sp__alloc_zero(n * sizeof *row->want);
    row->fields = sp__alloc_zero(n * sizeof *row->fields);
    row->dims = sp__alloc_zero(n * SP_RANK_MAX * sizeof *row->dims);
    bool have = row->columns != NULL && row->values != NULL && row->want != NULL && row->fields != NULL &&
                row->dims != NULL;
    sp_status status = have ? choose_columns(row, s, columns) : SP_NOMEM;
    if (status != SP_OK) {
        sp_record_row_release(row);
        return status;
    }
    *out = row;
    return SP_OK;
}

static const sp_mr_shard *find_shard(const sp_record *r, uint64_t id)
{
    int low = 0, high = r->n_shards - 1; /* the last that begins at or before id: empty ones in front are passed by */
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (r->shards[middle].first_row <= id) low = middle;
        else high = middle - 1;
    }
    return &r->shards[low];
}

static sp_status read_row(const sp_mr_shard *shard, uint64_t local, sp_record_row *row)
{
    const sp_mr_schema *s = shard->header->schema;
    sp_mr_record_place place;
    SP_TRY(sp__mr_shard_find(shard, sp__mr_shard_group(shard, local), local, &place));
    if (row->scalars) SP_TRY(sp__mr_scalars_parse(s, place.raw, place.raw_bytes, row->want, row->fields));
    if (row->blobs)
        SP_TRY(sp__mr_blobs_parse(s, place.blob, place.blob_bytes, row->want, row->fields, row->dims, &row->scratch));
    /* Values point into the file, and are used after this: what is missing of them must be known now. */
    sp__map_touch(place.raw, row->scalars ? place.raw_bytes : 0);
    sp__map_touch(place.blob, row->blobs ? place.blob_bytes : 0);
    return SP_OK;
}

sp_status sp_record_read(const sp_record *r, int64_t id, sp_record_row *row)
{
    SP_CHECK(id >= 0 && id < r->n_rows, SP_INDEX, "row %lld is out of range, there are %lld", (long long)id,
             (long long)r->n_rows);
    SP_CHECK(row->record == r, SP_VALUE, "the row was made for another data set");
    const sp_mr_shard *shard = find_shard(r, (uint64_t)id);
    uint64_t local = (uint64_t)id - shard->first_row;
    sp_status status = read_row(shard, local, row);
    if (shard->source.map != NULL) { /* a file that has changed is the reason of any failure */
        const sp_status file = sp__map_check(shard->source.map);
        if (file != SP_OK) status = file;
    }
    if (status != SP_OK) {
        memset(row->values, 0, (size_t)row->n_columns * sizeof *row->values);
        /* Walking a group names the row itself: it may be another one. */
        if (strncmp(sp_error_message(), shard->path, strlen(shard->path)) != 0)
            sp__error_context("%s: row %lld", shard->path, (long long)local);
        return status;
    }
    for (int i = 0; i < row->n_columns; i++) row->values[i] = row->fields[row->columns[i]];
    return SP_OK;
}

int sp_record_row_count(const sp_record_row *row) { return row->n_columns; }
const sp_record_value *sp_record_row_values(const sp_record_row *row) { return row->values; }
