/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_header.c - the header of a shard file: JSON to sp_mindrecord_header and back.
 *
 *     {"header_size": 16777216,
 *      "index_fields": [{"index_field": name, "schema_id": 0}, ...] or null,
 *      "page": [page, ...] or null,
 *      "page_size": 33554432,
 *      "compression_size": 0,                       absent in old files
 *      "schema": [{"blob_fields": [name, ...], "desc": "", "schema": {name: {"type": "int32", "shape": [-1]}, ...}}],
 *      "shard_addresses": [base name of every shard], "shard_id": 0,
 *      "statistics": null, "version": "3.0"}
 *
 *     page of blobs   {"page_id": slot, "shard_id": 0, "page_type": "BLOB_DATA", "page_type_id": number of the group,
 *                      "start_row_id": 0, "end_row_id": 5, "row_group_ids": [{"id": 0, "offset": 0}], "page_size": used}
 *     raw page        the same with "RAW_DATA"; row_group_ids lists its groups and where they begin; row ids are 0
 *
 * "page_size" means the room of a page at the top and the bytes used inside a page. MindSpore numbers raw pages (their
 * page_type_id) by the slot of the raw page before plus 1; nobody reads that, but we write it. Everything that another
 * file could contain is checked here, so that the code behind can trust slots, sizes and row numbers: pages lie inside
 * the file, no two in one slot, groups cover rows 0..n without a gap, each group has its raw records in one raw page. */
#include "data/mindrecord.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_error.h"
#include "base/lock.h"

void sp__mindrecord_header_release(sp_mindrecord_header *h)
{
    if (h == NULL) return;
    for (int i = 0; i < h->n_shards; i++) sp__free(h->shard_names[i]);
    sp__free(h->shard_names);
    sp__free(h->groups);
    sp__free(h->raw);
    sp__free(h->statistics);
    sp__mindrecord_schema_release(h->schema);
    sp__free(h);
}

/* Room for one more element of `size` bytes in *array. */
static sp_status grow(void **array, int64_t count, int64_t *room, size_t size)
{
    if (count < *room) return SP_OK;
    int64_t more = *room == 0 ? 16 : *room * 2;
    void *bigger = sp__realloc(*array, (size_t)*room * size, (size_t)more * size);
    if (bigger == NULL) return SP_NOMEM;
    *array = bigger;
    *room = more;
    return SP_OK;
}

sp_status sp__mindrecord_header_add_group(sp_mindrecord_header *h, const sp_mindrecord_group *group)
{
    void *groups = h->groups;
    SP_TRY(grow(&groups, h->n_groups, &h->groups_room, sizeof *h->groups));
    h->groups = groups;
    h->groups[h->n_groups++] = *group;
    return SP_OK;
}

sp_status sp__mindrecord_header_add_raw(sp_mindrecord_header *h, uint64_t slot)
{
    void *raw = h->raw;
    SP_TRY(grow(&raw, h->n_raw, &h->raw_room, sizeof *h->raw));
    h->raw = raw;
    int64_t type_id = h->n_raw == 0 ? 0 : (int64_t)h->raw[h->n_raw - 1].slot + 1;
    h->raw[h->n_raw++] = (sp_mindrecord_raw_page){.slot = slot, .used = 0, .type_id = type_id};
    return SP_OK;
}

/* --- reading JSON: members by name and kind ------------------------------------------------------------------------- */

static sp_status get_member(const json_t *object, const char *name, json_type type, const char *kind, json_t **out)
{
    json_t *member = json_object_get(object, name);
    SP_CHECK(member != NULL, SP_FORMAT, "the header has no '%s'", name);
    SP_CHECK(json_typeof(member) == type, SP_FORMAT, "'%s' in the header is not %s", name, kind);
    *out = member;
    return SP_OK;
}

static sp_status get_count(const json_t *object, const char *name, uint64_t most, uint64_t *out)
{
    json_t *member = NULL;
    SP_TRY(get_member(object, name, JSON_INTEGER, "an integer", &member));
    json_int_t value = json_integer_value(member);
    SP_CHECK(value >= 0 && (uint64_t)value <= most, SP_FORMAT, "'%s' in the header is %lld, 0 to %llu is possible",
             name, (long long)value, (unsigned long long)most);
    *out = (uint64_t)value;
    return SP_OK;
}

static sp_status get_text(const json_t *object, const char *name, const char **out)
{
    json_t *member = NULL;
    SP_TRY(get_member(object, name, JSON_STRING, "a string", &member));
    *out = json_string_value(member);
    return SP_OK;
}

/* An array, or nothing at all when it is null. */
static sp_status get_array(const json_t *object, const char *name, json_t **out)
{
    *out = json_object_get(object, name);
    if (*out != NULL && json_is_null(*out)) *out = NULL;
    else SP_TRY(get_member(object, name, JSON_ARRAY, "an array", out));
    return SP_OK;
}

/* --- schema ------------------------------------------------------------------------------------------------------- */

static sp_status parse_field(const char *name, const json_t *content, sp_record_field *out)
{
    SP_CHECK(json_is_object(content), SP_FORMAT, "field '%s' has no description", name);
    const char *type = NULL;
    SP_TRY(get_text(content, "type", &type));
    out->name = name;
    out->rank = -1;
    SP_TRY(sp_record_type_parse(type, &out->type));
    const json_t *shape = json_object_get(content, "shape");
    if (shape == NULL) return SP_OK;
    SP_CHECK(json_is_array(shape) && json_array_size(shape) <= SP_RANK_MAX, SP_FORMAT,
             "the shape of field '%s' is not an array of at most %d integers", name, SP_RANK_MAX);
    out->rank = (int)json_array_size(shape);
    for (int i = 0; i < out->rank; i++) {
        const json_t *dim = json_array_get(shape, (size_t)i);
        SP_CHECK(json_is_integer(dim), SP_FORMAT, "the shape of field '%s' holds something else than integers", name);
        out->dims[i] = json_integer_value(dim);
    }
    return SP_OK;
}

/* blob_fields must name the fields that are blobs, in any order: it is the order in the records. */
static sp_status parse_blob_order(const json_t *names, sp_mindrecord_schema *s)
{
    size_t n = names == NULL ? 0 : json_array_size(names);
    SP_CHECK(n == (size_t)s->n_blobs, SP_FORMAT, "the header lists %zu blob fields, the schema has %d", n, s->n_blobs);
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        int field = name == NULL ? -1 : sp__mindrecord_schema_find(s, name);
        SP_CHECK(field >= 0 && sp__mindrecord_is_blob(&s->fields[field]), SP_FORMAT, "blob field %zu, '%s', is none", i,
                 name != NULL ? name : "?");
        s->blobs[i] = field;
        for (size_t k = 0; k < i; k++)
            SP_CHECK(s->blobs[k] != field, SP_FORMAT, "blob field '%s' is there twice", name);
    }
    return SP_OK;
}

static sp_status parse_index_fields(const json_t *fields, sp_mindrecord_schema *s)
{
    size_t n = fields == NULL ? 0 : json_array_size(fields);
    SP_CHECK(n <= (size_t)s->n_fields, SP_FORMAT, "%zu index fields for %d fields", n, s->n_fields);
    const char **names = sp__alloc((n + 1) * sizeof *names);
    if (names == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    for (size_t i = 0; i < n && status == SP_OK; i++)
        status = get_text(json_array_get(fields, i), "index_field", &names[i]);
    if (status == SP_OK) status = sp__mindrecord_schema_set_index(s, names, (int)n);
    sp__free(names);
    return status;
}

static sp_status parse_fields(const json_t *content, const char *description, const char *version,
                              sp_mindrecord_schema **out)
{
    size_t n = json_object_size(content);
    SP_CHECK(n <= SP_MINDRECORD_FIELDS_MAX, SP_FORMAT, "the schema has %zu fields, at most %d are possible", n,
             SP_MINDRECORD_FIELDS_MAX);
    sp_record_field *fields = sp__alloc_zero((n + 1) * sizeof *fields);
    if (fields == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    int i = 0;
    for (void *at = json_object_iter((json_t *)(uintptr_t)content); at != NULL && status == SP_OK;
         at = json_object_iter_next((json_t *)(uintptr_t)content, at))
        status = parse_field(json_object_iter_key(at), json_object_iter_value(at), &fields[i++]);
    if (status == SP_OK) status = sp__mindrecord_schema_create(fields, i, description, version, out);
    sp__free(fields);
    return status;
}

static sp_status parse_schema(const json_t *root, sp_mindrecord_header *h)
{
    const char *version = NULL, *description = "";
    SP_TRY(get_text(root, "version", &version));
    SP_CHECK(strcmp(version, "2.0") == 0 || strcmp(version, "3.0") == 0, SP_FORMAT,
             "version '%s' is not known; 2.0 and 3.0 are", version);
    json_t *schemas = NULL, *content = NULL, *blobs = NULL, *index = NULL;
    SP_TRY(get_array(root, "schema", &schemas));
    SP_CHECK(schemas != NULL && json_array_size(schemas) == 1 && json_is_object(json_array_get(schemas, 0)), SP_FORMAT,
             "the header holds %zu schemas, one is wanted", schemas == NULL ? 0 : json_array_size(schemas));
    const json_t *schema = json_array_get(schemas, 0);
    if (json_object_get(schema, "desc") != NULL) SP_TRY(get_text(schema, "desc", &description));
    SP_TRY(get_member(schema, "schema", JSON_OBJECT, "an object", &content));
    SP_TRY(parse_fields(content, description, version, &h->schema));
    SP_TRY(get_array(schema, "blob_fields", &blobs));
    SP_TRY(parse_blob_order(blobs, h->schema));
    SP_TRY(get_array(root, "index_fields", &index));
    return parse_index_fields(index, h->schema);
}

/* --- shards and pages ------------------------------------------------------------------------------------------------ */

static sp_status parse_shards(const json_t *root, sp_mindrecord_header *h)
{
    json_t *names = NULL;
    SP_TRY(get_array(root, "shard_addresses", &names));
    size_t n = names == NULL ? 0 : json_array_size(names);
    SP_CHECK(n >= 1 && n <= SP_MINDRECORD_SHARDS_MAX, SP_FORMAT, "the header names %zu shards, 1 to %d are possible", n,
             SP_MINDRECORD_SHARDS_MAX);
    uint64_t shard = 0;
    SP_TRY(get_count(root, "shard_id", n - 1, &shard));
    h->shard = (int)shard;
    h->shard_names = sp__alloc_zero(n * sizeof *h->shard_names);
    if (h->shard_names == NULL) return SP_NOMEM;
    h->n_shards = (int)n;
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        SP_CHECK(name != NULL && name[0] != '\0', SP_FORMAT, "shard %zu has no name in the header", i);
        /* Base names only: a file must not send its reader elsewhere. */
        SP_CHECK(strchr(name, '/') == NULL, SP_FORMAT, "shard %zu has a path as its name in the header: '%s'", i, name);
        h->shard_names[i] = sp__strdup(name);
        if (h->shard_names[i] == NULL) return SP_NOMEM;
    }
    return SP_OK;
}

static sp_status check_page_place(const sp_mindrecord_header *h, size_t file_bytes, uint64_t slot, uint64_t used)
{
    uint64_t begin = h->header_bytes + slot * h->page_bytes; /* slot < 2^31, page_bytes <= 2^28: no overflow */
    SP_CHECK(used <= h->page_bytes, SP_FORMAT, "page %llu uses %llu bytes, a page has %llu", (unsigned long long)slot,
             (unsigned long long)used, (unsigned long long)h->page_bytes);
    SP_CHECK(used == 0 || (begin <= file_bytes && used <= file_bytes - begin), SP_FORMAT,
             "page %llu ends at byte %llu, the file has %zu: it is cut", (unsigned long long)slot,
             (unsigned long long)(begin + used), file_bytes);
    return SP_OK;
}

static sp_status parse_page(const json_t *page, size_t file_bytes, sp_mindrecord_header *h)
{
    const uint64_t most = INT32_MAX;
    SP_CHECK(json_is_object(page), SP_FORMAT, "a page in the header is not an object");
    uint64_t slot = 0, used = 0, type_id = 0;
    const char *type = NULL;
    SP_TRY(get_count(page, "page_id", most, &slot));
    SP_TRY(get_count(page, "page_size", SP_MINDRECORD_PAGE_MAX, &used));
    SP_TRY(get_count(page, "page_type_id", most, &type_id));
    SP_TRY(get_text(page, "page_type", &type));
    SP_TRY(check_page_place(h, file_bytes, slot, used));
    if (strcmp(type, "BLOB_DATA") == 0) {
        sp_mindrecord_group g = {.id = (int64_t)type_id, .blob_slot = slot, .blob_used = used, .raw_slot = UINT64_MAX};
        SP_TRY(get_count(page, "start_row_id", INT64_MAX, &g.start_row));
        SP_TRY(get_count(page, "end_row_id", INT64_MAX, &g.end_row));
        return sp__mindrecord_header_add_group(h, &g);
    }
    SP_CHECK(strcmp(type, "RAW_DATA") == 0, SP_FORMAT, "page %llu has the type '%s'; BLOB_DATA and RAW_DATA are known",
             (unsigned long long)slot, type);
    SP_TRY(sp__mindrecord_header_add_raw(h, slot));
    h->raw[h->n_raw - 1].used = used;
    h->raw[h->n_raw - 1].type_id = (int64_t)type_id;
    return SP_OK;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const sp_mindrecord_group *)a)->id, y = ((const sp_mindrecord_group *)b)->id;
    return (x > y) - (x < y);
}

static int by_row(const void *a, const void *b)
{
    const sp_mindrecord_group *x = a, *y = b;
    if (x->start_row != y->start_row) return x->start_row < y->start_row ? -1 : 1;
    return (x->end_row > y->end_row) - (x->end_row < y->end_row);
}

static int by_slot(const void *a, const void *b)
{
    uint64_t x = ((const sp_mindrecord_raw_page *)a)->slot, y = ((const sp_mindrecord_raw_page *)b)->slot;
    return (x > y) - (x < y);
}

/* Give every group (sorted by id) the place of its raw records. */
static sp_status place_raw_groups(const json_t *page, uint64_t slot, uint64_t used, sp_mindrecord_header *h)
{
    json_t *ids = NULL;
    SP_TRY(get_array(page, "row_group_ids", &ids));
    for (size_t i = 0; ids != NULL && i < json_array_size(ids); i++) {
        uint64_t id = 0, offset = 0;
        SP_TRY(get_count(json_array_get(ids, i), "id", INT32_MAX, &id));
        SP_TRY(get_count(json_array_get(ids, i), "offset", SP_MINDRECORD_PAGE_MAX, &offset));
        sp_mindrecord_group key = {.id = (int64_t)id};
        sp_mindrecord_group *g =
            h->n_groups == 0 ? NULL : bsearch(&key, h->groups, (size_t)h->n_groups, sizeof *h->groups, by_id);
        /* MindSpore writes an empty list as group 0 at 0: after its writer moved the only group of a page away. */
        if (used == 0 && offset == 0) continue;
        SP_CHECK(g != NULL, SP_FORMAT, "page %llu holds row group %llu, which no page of blobs has",
                 (unsigned long long)slot, (unsigned long long)id);
        SP_CHECK(offset <= used, SP_FORMAT, "row group %llu begins at %llu of page %llu, which uses %llu bytes",
                 (unsigned long long)id, (unsigned long long)offset, (unsigned long long)slot,
                 (unsigned long long)used);
        SP_CHECK(g->raw_slot == UINT64_MAX, SP_FORMAT, "row group %llu is in two pages", (unsigned long long)id);
        g->raw_slot = slot;
        g->raw_at = offset;
    }
    return SP_OK;
}

static sp_status check_groups(const sp_mindrecord_header *h)
{
    uint64_t row = 0;
    for (int64_t i = 0; i < h->n_groups; i++) {
        const sp_mindrecord_group *g = &h->groups[i];
        SP_CHECK(g->start_row == row && g->end_row >= row, SP_FORMAT,
                 "page %llu holds rows %llu to %llu, they should begin at %llu", (unsigned long long)g->blob_slot,
                 (unsigned long long)g->start_row, (unsigned long long)g->end_row, (unsigned long long)row);
        /* Every record has its length in front, so this also bounds what an index of the group can take. */
        SP_CHECK(g->end_row - row <= g->blob_used / SP_MINDRECORD_LENGTH_BYTES, SP_FORMAT,
                 "page %llu with %llu bytes cannot hold %llu rows", (unsigned long long)g->blob_slot,
                 (unsigned long long)g->blob_used, (unsigned long long)(g->end_row - row));
        SP_CHECK(g->raw_slot != UINT64_MAX || g->end_row == row, SP_FORMAT, "row group %lld has no raw records",
                 (long long)g->id);
        row = g->end_row;
    }
    return SP_OK;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static sp_status check_slots(const sp_mindrecord_header *h)
{
    size_t n = (size_t)sp__mindrecord_header_pages(h);
    uint64_t *slots = sp__alloc((n + 1) * sizeof *slots);
    if (slots == NULL) return SP_NOMEM;
    for (int64_t i = 0; i < h->n_groups; i++) slots[i] = h->groups[i].blob_slot;
    for (int64_t i = 0; i < h->n_raw; i++) slots[h->n_groups + i] = h->raw[i].slot;
    qsort(slots, n, sizeof *slots, by_value);
    sp_status status = SP_OK;
    for (size_t i = 1; i < n && status == SP_OK; i++)
        if (slots[i] == slots[i - 1])
            status = sp__fail(SP_FORMAT, "page %llu is there twice", (unsigned long long)slots[i]);
    sp__free(slots);
    return status;
}

static sp_status parse_pages(const json_t *root, size_t file_bytes, sp_mindrecord_header *h)
{
    json_t *pages = NULL;
    SP_TRY(get_array(root, "page", &pages));
    size_t n = pages == NULL ? 0 : json_array_size(pages);
    for (size_t i = 0; i < n; i++) SP_TRY(parse_page(json_array_get(pages, i), file_bytes, h));
    SP_TRY(check_slots(h));
    if (h->n_groups > 0) qsort(h->groups, (size_t)h->n_groups, sizeof *h->groups, by_id);
    for (int64_t i = 1; i < h->n_groups; i++)
        SP_CHECK(h->groups[i].id != h->groups[i - 1].id, SP_FORMAT, "row group %lld is there twice",
                 (long long)h->groups[i].id);
    for (size_t i = 0; i < n; i++) {
        const json_t *page = json_array_get(pages, i);
        if (strcmp(json_string_value(json_object_get(page, "page_type")), "RAW_DATA") != 0) continue;
        uint64_t slot = (uint64_t)json_integer_value(json_object_get(page, "page_id"));
        uint64_t used = (uint64_t)json_integer_value(json_object_get(page, "page_size"));
        SP_TRY(place_raw_groups(page, slot, used, h));
    }
    if (h->n_groups > 0) qsort(h->groups, (size_t)h->n_groups, sizeof *h->groups, by_row);
    if (h->n_raw > 0) qsort(h->raw, (size_t)h->n_raw, sizeof *h->raw, by_slot);
    return check_groups(h);
}

static sp_status parse_root(const json_t *root, size_t file_bytes, sp_mindrecord_header *h)
{
    SP_CHECK(json_is_object(root), SP_FORMAT, "the header is not a JSON object");
    SP_TRY(get_count(root, "header_size", SP_MINDRECORD_HEADER_MAX, &h->header_bytes));
    SP_TRY(get_count(root, "page_size", SP_MINDRECORD_PAGE_MAX, &h->page_bytes));
    if (json_object_get(root, "compression_size") != NULL)
        SP_TRY(get_count(root, "compression_size", INT64_MAX, &h->saved_bytes));
    SP_TRY(parse_schema(root, h));
    SP_TRY(parse_shards(root, h));
    const json_t *statistics = json_object_get(root, "statistics");
    if (statistics != NULL && !json_is_null(statistics)) {
        char *text = sp__json_dump(statistics, JSON_COMPACT | JSON_ENCODE_ANY);
        h->statistics = text == NULL ? NULL : sp__strdup(text);
        free(text);
        if (h->statistics == NULL) return SP_NOMEM;
    }
    return parse_pages(root, file_bytes, h);
}

sp_status sp__mindrecord_header_parse(const uint8_t *file, size_t bytes, sp_mindrecord_header **out)
{
    SP_CHECK(bytes >= SP_MINDRECORD_LENGTH_BYTES, SP_FORMAT,
             "Invalid file, the size of mindrecord file: %zu is smaller than the lower limit: %d", bytes,
             (int)SP_MINDRECORD_LENGTH_BYTES);
    uint64_t length = sp__mindrecord_get64(file);
    SP_CHECK(
        length >= 2 && length <= SP_MINDRECORD_HEADER_MAX, SP_FORMAT,
        "Invalid file, the size of mindrecord file header is larger than the upper limit: this is not a MindRecord file, its header would "
        "have %llu bytes",
        (unsigned long long)length);
    SP_CHECK(length <= bytes - SP_MINDRECORD_LENGTH_BYTES, SP_FORMAT, "the header of %llu bytes is cut after %zu",
             (unsigned long long)length, bytes - SP_MINDRECORD_LENGTH_BYTES);
    sp_mindrecord_header *h = sp__alloc_zero(sizeof *h);
    if (h == NULL) return SP_NOMEM;
    json_error_t error;
    json_t *root;
    sp_status status = sp__json_read(file + SP_MINDRECORD_LENGTH_BYTES, (size_t)length, "the header", &error, &root);
    if (status == SP_FORMAT)
        sp__fail(SP_FORMAT, "the header is not valid JSON: %s at byte %d", error.text, error.position);
    if (status == SP_OK) status = parse_root(root, bytes, h);
    json_decref(root);
    if (status == SP_VALUE || status == SP_KEY || status == SP_TYPE) status = SP_FORMAT; /* what rules of schemas say */
    if (status != SP_OK) {
        sp__mindrecord_header_release(h);
        return status;
    }
    *out = h;
    return SP_OK;
}

/* --- printing -------------------------------------------------------------------------------------------------------- */

/* A header with something missing is no header: every failure is remembered. The value is taken over. */
static void put(int *bad, json_t *object, const char *name, json_t *value)
{
    *bad |= json_object_set_new(object, name, value);
}
static void push(int *bad, json_t *list, json_t *value) { *bad |= json_array_append_new(list, value); }

static json_t *print_field(const sp_record_field *f, int *bad)
{
    json_t *object = json_object();
    if (f->rank >= 0) { /* members are in alphabetical order */
        json_t *shape = json_array();
        for (int i = 0; i < f->rank; i++) push(bad, shape, json_integer(f->dims[i]));
        put(bad, object, "shape", shape);
    }
    put(bad, object, "type", json_string(sp_record_type_name(f->type)));
    return object;
}

static json_t *print_schema(const sp_mindrecord_schema *s, int *bad)
{
    json_t *blobs = json_array(), *fields = json_object(), *object = json_object();
    for (int i = 0; i < s->n_blobs; i++) push(bad, blobs, json_string(s->fields[s->blobs[i]].name));
    for (int i = 0; i < s->n_fields; i++) put(bad, fields, s->fields[i].name, print_field(&s->fields[i], bad));
    put(bad, object, "blob_fields", blobs);
    put(bad, object, "desc", json_string(s->description));
    put(bad, object, "schema", fields);
    json_t *list = json_array();
    push(bad, list, object);
    return list;
}

static json_t *print_index(const sp_mindrecord_schema *s, int *bad)
{
    if (s->n_index == 0) return json_null();
    json_t *list = json_array();
    for (int i = 0; i < s->n_index; i++)
        push(bad, list, json_pack("{s:s, s:i}", "index_field", s->fields[s->index[i]].name, "schema_id", 0));
    return list;
}

static json_t *print_page(const sp_mindrecord_header *h, const char *type, int64_t type_id, uint64_t slot,
                          uint64_t used, uint64_t start, uint64_t end, json_t *groups, int *bad)
{
    /* The parser takes empty lists, MindSpore's writer never makes one. */
    if (json_array_size(groups) == 0) push(bad, groups, json_pack("{s:i, s:i}", "id", 0, "offset", 0));
    return json_pack("{s:I, s:I, s:I, s:s, s:I, s:o, s:i, s:I}", "end_row_id", (json_int_t)end, "page_id",
                     (json_int_t)slot, "page_size", (json_int_t)used, "page_type", type, "page_type_id",
                     (json_int_t)type_id, "row_group_ids", groups, "shard_id", h->shard, "start_row_id",
                     (json_int_t)start);
}

static json_t *print_raw_page(const sp_mindrecord_header *h, const sp_mindrecord_raw_page *r, int *bad)
{
    json_t *groups = json_array();
    for (int64_t i = 0; i < h->n_groups; i++) {
        const sp_mindrecord_group *g = &h->groups[i];
        if (g->raw_slot == r->slot)
            push(bad, groups, json_pack("{s:I, s:I}", "id", (json_int_t)g->id, "offset", (json_int_t)g->raw_at));
    }
    return print_page(h, "RAW_DATA", r->type_id, r->slot, r->used, 0, 0, groups, bad);
}

static int by_blob_slot(const void *a, const void *b)
{
    uint64_t x = ((const sp_mindrecord_group *)a)->blob_slot, y = ((const sp_mindrecord_group *)b)->blob_slot;
    return (x > y) - (x < y);
}

/* Pages in the order of their slots: MindSpore takes the place in the list for the slot. `groups` are in that order. */
static json_t *print_pages(const sp_mindrecord_header *h, const sp_mindrecord_group *groups, int *bad)
{
    if (sp__mindrecord_header_pages(h) == 0) return json_null();
    json_t *list = json_array();
    for (int64_t g = 0, r = 0; g < h->n_groups || r < h->n_raw;) {
        bool blob = r >= h->n_raw || (g < h->n_groups && groups[g].blob_slot < h->raw[r].slot);
        if (blob) {
            const sp_mindrecord_group *p = &groups[g++];
            push(bad, list,
                 print_page(h, "BLOB_DATA", p->id, p->blob_slot, p->blob_used, p->start_row, p->end_row, json_array(),
                            bad));
        } else {
            push(bad, list, print_raw_page(h, &h->raw[r++], bad));
        }
    }
    return list;
}

sp_status sp__mindrecord_header_print(const sp_mindrecord_header *h, char **out, size_t *out_bytes)
{
    sp_mindrecord_group *groups = sp__alloc((size_t)(h->n_groups + 1) * sizeof *groups);
    if (groups == NULL) return SP_NOMEM;
    if (h->n_groups > 0) memcpy(groups, h->groups, (size_t)h->n_groups * sizeof *groups);
    qsort(groups, (size_t)h->n_groups, sizeof *groups, by_blob_slot);
    sp__section_begin();
    json_t *names = json_array(), *root = json_object();
    sp__section_end();
    int bad = 0;
    for (int i = 0; i < h->n_shards; i++) push(&bad, names, json_string(h->shard_names[i]));
    put(&bad, root, "header_size", json_integer((json_int_t)h->header_bytes));
    put(&bad, root, "index_fields", print_index(h->schema, &bad));
    put(&bad, root, "page", print_pages(h, groups, &bad));
    sp__free(groups);
    put(&bad, root, "page_size", json_integer((json_int_t)h->page_bytes));
    if (strcmp(h->schema->version, "3.0") >= 0)
        put(&bad, root, "compression_size", json_integer((json_int_t)h->saved_bytes));
    put(&bad, root, "schema", print_schema(h->schema, &bad));
    put(&bad, root, "shard_addresses", names);
    put(&bad, root, "shard_id", json_integer(h->shard));
    put(&bad, root, "statistics",
        h->statistics == NULL ? json_null()
                              : sp__json_load(h->statistics, strlen(h->statistics), JSON_DECODE_ANY, NULL));
    put(&bad, root, "version", json_string(h->schema->version));
    char *text = bad ? NULL : sp__json_dump(root, JSON_COMPACT);
    json_decref(root);
    SP_CHECK(text != NULL || !sp__memory_is_out(), SP_NOMEM, "out of memory for the header");
    SP_CHECK(text != NULL, SP_VALUE, "the header cannot be written: a name or the description is not UTF-8");
    size_t n = strlen(text);
    *out = sp__strdup(text);
    free(text);
    if (*out == NULL) return SP_NOMEM;
    *out_bytes = n;
    return SP_OK;
}

/* --- notes ----------------------------------------------------------------------------------------------------------- */

void sp__mindrecord_note_print(const sp_mindrecord_group *g, uint64_t raw_used, char *text, size_t room)
{
    snprintf(text, room, "group %lld rows %llu %llu blob %llu %llu raw %llu %llu %llu end\n", (long long)g->id,
             (unsigned long long)g->start_row, (unsigned long long)g->end_row, (unsigned long long)g->blob_slot,
             (unsigned long long)g->blob_used, (unsigned long long)g->raw_slot, (unsigned long long)g->raw_at,
             (unsigned long long)raw_used);
}

bool sp__mindrecord_note_parse(const char *text, sp_mindrecord_group *g, uint64_t *raw_used)
{
    long long id;
    unsigned long long v[7];
    int end = 0;
    int n = sscanf(text, "group %lld rows %llu %llu blob %llu %llu raw %llu %llu %llu end%n", &id, &v[0], &v[1], &v[2],
                   &v[3], &v[4], &v[5], &v[6], &end);
    if (n != 8 || end == 0 || text[end] != '\n') return false;
    *g = (sp_mindrecord_group){.id = id,
                               .start_row = v[0],
                               .end_row = v[1],
                               .blob_slot = v[2],
                               .blob_used = v[3],
                               .raw_slot = v[4],
                               .raw_at = v[5]};
    *raw_used = v[6];
    return true;
}
