/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.c - safetensors files.
 *
 * Layout: number of header bytes (8 bytes, little-endian) | header, JSON, padded with blanks to a multiple of 8 | contents
 *
 *   {"__metadata__": {"format": "pt", ...},                                       texts about the file; may be missing
 *    "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}      from the end of the header
 *
 * - Contents are little-endian and row-major; together they fill the rest of the file without gaps.
 * - We write as the library does: large dtypes first (which aligns all), then by name; keys of the metadata sorted.
 * - MindSpore stores a checksum as "crc_num" in the metadata: the CRC-32, in decimal, of name and contents of each
 *   tensor, in the order of names.
 * - __metadata__ becomes the notes of the bundle and comes from there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/json_error.h"
#include "formats/format_impl.h"
#include "formats/wire.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "contents are stored in the order of this machine");

enum { LENGTH_BYTES = 8, HEADER_MAX = 100 << 20, ALIGN = 8 };

static const char metadata_key[] = "__metadata__", crc_key[] = "crc_num";

/* Small to large, as the library orders them. */
static const struct {
    const char *name;
    sp_dtype dtype;
} dtypes[] = {
    {"BOOL", SP_DTYPE_BOOL}, {"U8", SP_DTYPE_U8},   {"I8", SP_DTYPE_I8},     {"I16", SP_DTYPE_I16},
    {"U16", SP_DTYPE_U16},   {"F16", SP_DTYPE_F16}, {"BF16", SP_DTYPE_BF16}, {"I32", SP_DTYPE_I32},
    {"U32", SP_DTYPE_U32},   {"F32", SP_DTYPE_F32}, {"C64", SP_DTYPE_C64},   {"F64", SP_DTYPE_F64},
    {"I64", SP_DTYPE_I64},   {"U64", SP_DTYPE_U64},
};
enum { N_DTYPES = sizeof dtypes / sizeof dtypes[0] };

static int dtype_order(sp_dtype dtype)
{
    for (int i = 0; i < N_DTYPES; i++)
        if (dtypes[i].dtype == dtype) return i;
    return -1;
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

static uint64_t header_bytes(const sp_source *s)
{
    uint64_t n = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) n = n << 8 | s->data[i];
    return n;
}

static bool probe(const sp_source *s)
{
    if (s->bytes < LENGTH_BYTES + 2 || s->data[LENGTH_BYTES] != '{') return false;
    uint64_t n = header_bytes(s);
    return n >= 2 && n <= HEADER_MAX;
}

static sp_status read_dtype(const json_t *member, sp_dtype *out)
{
    const char *text = json_string_value(member);
    SP_CHECK(text != NULL, SP_FORMAT, "\"dtype\" is missing or no text");
    for (int i = 0; i < N_DTYPES; i++)
        if (strcmp(dtypes[i].name, text) == 0) {
            *out = dtypes[i].dtype;
            return SP_OK;
        }
    char shown[SP_NAME_SHOWN];
    return sp__fail(SP_FORMAT, "dtype %s is not supported", sp__name_shown(text, strlen(text), shown));
}

static sp_status read_shape(const json_t *member, sp_meta *meta)
{
    SP_CHECK(json_is_array(member), SP_FORMAT, "\"shape\" is missing or no list");
    SP_CHECK(json_array_size(member) <= SP_RANK_MAX, SP_FORMAT, "%zu dimensions, at most %d are possible",
             json_array_size(member), SP_RANK_MAX);
    meta->rank = (int)json_array_size(member);
    for (int i = 0; i < meta->rank; i++) {
        const json_t *dim = json_array_get(member, (size_t)i);
        SP_CHECK(json_is_integer(dim) && json_integer_value(dim) >= 0, SP_FORMAT,
                 "dimension %d of \"shape\" is no number from 0 on", i);
        meta->dims[i] = json_integer_value(dim);
    }
    return SP_OK;
}

static sp_status read_offsets(const json_t *member, size_t data_bytes, size_t *begin, size_t *bytes)
{
    const json_t *a = json_array_get(member, 0), *b = json_array_get(member, 1);
    SP_CHECK(json_array_size(member) == 2 && json_is_integer(a) && json_is_integer(b), SP_FORMAT,
             "\"data_offsets\" is missing or not a list of two numbers");
    json_int_t from = json_integer_value(a), to = json_integer_value(b);
    SP_CHECK(from >= 0 && from <= to && (uint64_t)to <= data_bytes, SP_FORMAT,
             "\"data_offsets\" is [%lld, %lld], but there are %zu bytes of contents", (long long)from, (long long)to,
             data_bytes);
    *begin = (size_t)from;
    *bytes = (size_t)(to - from);
    return SP_OK;
}

static sp_status read_entry(const sp_source *s, sp_bundle *bundle, const char *name, const json_t *entry,
                            size_t data_at, size_t *total)
{
    sp_meta meta = {.rank = 0};
    size_t begin = 0, bytes = 0;
    SP_CHECK(json_is_object(entry), SP_FORMAT, "is no object");
    const char *small = json_is_string(json_object_get(entry, "dtype"))
                            ? sp__small_float(json_string_value(json_object_get(entry, "dtype")))
                            : NULL;
    meta.dtype = SP_DTYPE_U8;
    if (small == NULL) SP_TRY(read_dtype(json_object_get(entry, "dtype"), &meta.dtype));
    SP_TRY(read_shape(json_object_get(entry, "shape"), &meta));
    SP_TRY(read_offsets(json_object_get(entry, "data_offsets"), s->bytes - data_at, &begin, &bytes));
    *total += bytes; /* may wrap for a hostile file: then it does not agree with the size either */
    SP_TRY(sp__source_add(s, bundle, name, &meta, s->data + data_at + begin, bytes));
    return small != NULL ? sp__bundle_widen(bundle, name, small) : SP_OK;
}

static sp_status read_notes(sp_bundle *bundle, json_t *metadata)
{
    const char *key;
    json_t *value;
    SP_CHECK(json_is_object(metadata), SP_FORMAT, "__metadata__ is no object");
    json_object_foreach(metadata, key, value)
    {
        char shown[SP_NAME_SHOWN];
        SP_CHECK(json_is_string(value), SP_FORMAT, "__metadata__: '%s' is no text",
                 sp__name_shown(key, strlen(key), shown));
        SP_TRY(sp_bundle_set_note(bundle, key, json_string_value(value)));
    }
    return SP_OK;
}

static sp_status read_header(const sp_source *s, sp_bundle *bundle, json_t *header, size_t data_at)
{
    const char *name;
    json_t *entry;
    size_t total = 0;
    SP_CHECK(json_is_object(header), SP_FORMAT, "the header is no JSON object");
    json_object_foreach(header, name, entry)
    {
        bool notes = strcmp(name, metadata_key) == 0;
        sp_status status = notes ? read_notes(bundle, entry) : read_entry(s, bundle, name, entry, data_at, &total);
        if (status != SP_OK) {
            char shown[SP_NAME_SHOWN];
            if (!notes) sp__error_context("entry '%s'", sp__name_shown(name, strlen(name), shown));
            return status;
        }
    }
    SP_CHECK(total == s->bytes - data_at, SP_FORMAT,
             "the entries have %zu bytes of contents, but the file has %zu: it is cut or damaged", total,
             s->bytes - data_at);
    return SP_OK;
}

/* --- the checksum ------------------------------------------------------------------------------------------------ */

typedef struct {
    const char *name;
    int64_t index;
    int order; /* of the dtype */
} item;

static int by_name(const void *a, const void *b) { return strcmp(((const item *)a)->name, ((const item *)b)->name); }

static int by_dtype(const void *a, const void *b)
{
    int x = ((const item *)a)->order, y = ((const item *)b)->order;
    return x != y ? y - x : by_name(a, b);
}

static sp_status crc_of(const sp_bundle *bundle, item *items, uint32_t *out)
{
    int64_t n = sp_bundle_count(bundle);
    uint32_t crc = 0;
    qsort(items, (size_t)n, sizeof *items, by_name);
    for (int64_t i = 0; i < n; i++) {
        sp_contents v;
        SP_TRY(sp__bundle_contents(bundle, items[i].index, &v));
        crc = (uint32_t)crc32_z(crc, (const Bytef *)items[i].name, strlen(items[i].name));
        crc = sp__contents_crc(&v, 0, v.bytes, crc);
        sp__contents_release(&v);
    }
    *out = crc;
    return SP_OK;
}

/* Caller frees. */
static item *items_of(const sp_bundle *bundle)
{
    int64_t n = sp_bundle_count(bundle);
    item *items = sp__alloc((size_t)(n > 0 ? n : 1) * sizeof *items);
    for (int64_t i = 0; items != NULL && i < n; i++)
        items[i] = (item){sp_bundle_name_at(bundle, i), i, dtype_order(sp_bundle_shape_at(bundle, i, NULL, NULL))};
    return items;
}

static sp_status check_crc(const sp_bundle *bundle)
{
    const char *stored = sp_bundle_note(bundle, crc_key);
    if (stored == NULL) return SP_OK;
    item *items = items_of(bundle);
    if (items == NULL) return SP_NOMEM;
    uint32_t found = 0;
    sp_status status = crc_of(bundle, items, &found);
    sp__free(items);
    SP_TRY(status);
    char text[16];
    snprintf(text, sizeof text, "%lu", (unsigned long)found);
    char shown[SP_NAME_SHOWN];
    SP_CHECK(strcmp(text, stored) == 0, SP_FORMAT, "the CRC check failed: %s found, %s wanted; the file is damaged",
             text, sp__name_shown(stored, strlen(stored), shown));
    return SP_OK;
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    SP_CHECK(s->bytes >= LENGTH_BYTES, SP_FORMAT, "%zu bytes are no safetensors file", s->bytes);
    uint64_t n = header_bytes(s);
    SP_CHECK(n <= s->bytes - LENGTH_BYTES && n <= HEADER_MAX, SP_FORMAT,
             "the header has %llu bytes, but the file has %zu (and a header at most %d)", (unsigned long long)n,
             s->bytes, HEADER_MAX);
    json_error_t error;
    json_t *header;
    const sp_status parsed = sp__json_read(s->data + LENGTH_BYTES, (size_t)n, "the header", &error, &header);
    SP_CHECK(parsed != SP_FORMAT, SP_FORMAT, "byte %d: the header is not correct JSON: %s",
             LENGTH_BYTES + error.position, error.text);
    SP_TRY(parsed);
    sp_status status = read_header(s, bundle, header, LENGTH_BYTES + (size_t)n);
    json_decref(header);
    if (status == SP_OK && (s->options->flags & SP_FILE_CRC)) status = check_crc(bundle);
    return status;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

static sp_status put_text(sp_wire_out *o, const char *text) { return sp__wire_put(o, text, strlen(text)); }

static sp_status put_quoted(sp_wire_out *o, const char *text)
{
    static const char plain[] = "\b\t\n\f\r", letters[] = "btnfr";
    SP_TRY(put_text(o, "\""));
    for (const char *at = text; *at != '\0'; at++) {
        char escape[8];
        const char *found = strchr(plain, *at);
        if (*at == '"' || *at == '\\') snprintf(escape, sizeof escape, "\\%c", *at);
        else if (found != NULL) snprintf(escape, sizeof escape, "\\%c", letters[found - plain]);
        else if ((unsigned char)*at < 0x20) snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*at);
        else snprintf(escape, sizeof escape, "%c", *at);
        SP_TRY(put_text(o, escape));
    }
    return put_text(o, "\"");
}

typedef struct {
    const char *key, *text;
} pair;

static int by_key(const void *a, const void *b) { return strcmp(((const pair *)a)->key, ((const pair *)b)->key); }

/* The notes, with a new checksum when there is one to be written. */
static sp_status put_metadata(sp_wire_out *o, const sp_bundle *bundle, const char *crc)
{
    int64_t n = sp_bundle_note_count(bundle);
    pair *pairs = sp__alloc((size_t)(n + 1) * sizeof *pairs);
    if (pairs == NULL) return SP_NOMEM;
    size_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *key, *text = sp_bundle_note_at(bundle, i, &key);
        if (strcmp(key, crc_key) != 0) pairs[count++] = (pair){key, text}; /* an old one says nothing of new contents */
    }
    if (crc != NULL) pairs[count++] = (pair){crc_key, crc};
    qsort(pairs, count, sizeof *pairs, by_key);
    sp_status status = SP_OK;
    for (size_t i = 0; i < count && status == SP_OK; i++) {
        status = put_text(o, i == 0 ? "\"__metadata__\":{" : ",");
        if (status == SP_OK) status = put_quoted(o, pairs[i].key);
        if (status == SP_OK) status = put_text(o, ":");
        if (status == SP_OK) status = put_quoted(o, pairs[i].text);
    }
    if (status == SP_OK && count > 0) status = put_text(o, "}");
    sp__free(pairs);
    return status;
}

static sp_status put_entry(sp_wire_out *o, const sp_bundle *bundle, const item *it, uint64_t *at)
{
    char shown[SP_NAME_SHOWN], text[64];
    sp__name_shown(it->name, strlen(it->name), shown);
    sp_meta meta = {.rank = 0};
    const int64_t *dims = NULL;
    meta.dtype = sp_bundle_shape_at(bundle, it->index, &meta.rank, &dims);
    SP_CHECK(meta.dtype != SP_DTYPE_NONE, SP_VALUE,
             "entry '%s' is a text, and a safetensors file holds tensors only; leave it out, or save as ckpt", shown);
    SP_CHECK(it->order >= 0, SP_TYPE, "entry '%s' has dtype %s, which a safetensors file cannot hold", shown,
             sp_dtype_name(meta.dtype));
    memcpy(meta.dims, dims, (size_t)meta.rank * sizeof *dims);
    size_t bytes;
    SP_TRY(sp__meta_bytes(&meta, &bytes));
    SP_TRY(put_quoted(o, it->name));
    SP_TRY(put_text(o, ":{\"dtype\":\""));
    SP_TRY(put_text(o, dtypes[it->order].name));
    SP_TRY(put_text(o, "\",\"shape\":["));
    for (int i = 0; i < meta.rank; i++) {
        snprintf(text, sizeof text, "%s%lld", i > 0 ? "," : "", (long long)dims[i]);
        SP_TRY(put_text(o, text));
    }
    snprintf(text, sizeof text, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)*at,
             (unsigned long long)(*at + bytes));
    *at += bytes;
    return put_text(o, text);
}

static sp_status put_header(sp_wire_out *o, const sp_bundle *bundle, item *items, bool with_crc)
{
    static const uint8_t length[LENGTH_BYTES] = {0};
    uint64_t at = 0;
    char crc_text[16];
    if (with_crc) {
        uint32_t crc = 0;
        SP_TRY(crc_of(bundle, items, &crc));
        snprintf(crc_text, sizeof crc_text, "%lu", (unsigned long)crc);
    }
    qsort(items, (size_t)sp_bundle_count(bundle), sizeof *items, by_dtype);
    SP_TRY(sp__wire_put(o, length, sizeof length));
    SP_TRY(put_text(o, "{"));
    size_t before = o->bytes;
    SP_TRY(put_metadata(o, bundle, with_crc ? crc_text : NULL));
    for (int64_t i = 0; i < sp_bundle_count(bundle); i++) {
        if (o->bytes > before) SP_TRY(put_text(o, ","));
        SP_TRY(put_entry(o, bundle, &items[i], &at));
    }
    SP_TRY(put_text(o, "}"));
    while (o->bytes % ALIGN != 0) SP_TRY(put_text(o, " "));
    uint64_t n = o->bytes - LENGTH_BYTES;
    SP_CHECK(n <= HEADER_MAX, SP_VALUE, "the names take %llu bytes, more than a safetensors header may have",
             (unsigned long long)n);
    for (int i = 0; i < LENGTH_BYTES; i++) o->data[i] = (uint8_t)(n >> (8 * i));
    return SP_OK;
}

static sp_status write_file(sp_sink *sink, const sp_bundle *bundle)
{
    SP_CHECK(sp__sink_options(sink)->key == NULL, SP_VALUE, "safetensors files cannot be encrypted; save as ckpt");
    item *items = items_of(bundle);
    if (items == NULL) return SP_NOMEM;
    sp_wire_out head = {0};
    sp_status status = put_header(&head, bundle, items, sp__sink_options(sink)->flags & SP_FILE_CRC);
    if (status == SP_OK) status = sp__sink_write(sink, head.data, head.bytes);
    for (int64_t i = 0; i < sp_bundle_count(bundle) && status == SP_OK; i++) {
        sp_contents v;
        status = sp__bundle_contents(bundle, items[i].index, &v);
        if (status == SP_OK) {
            status = sp__sink_write_contents(sink, &v, 0, v.bytes);
            sp__contents_release(&v);
        }
    }
    sp__wire_out_free(&head);
    sp__free(items);
    return status;
}

/* The header; then the largest offset in it. */
static uint64_t wanted(const sp_source *s)
{
    uint64_t n = s->bytes >= LENGTH_BYTES ? header_bytes(s) : 0, last = 0;
    if (!probe(s)) return s->bytes <= LENGTH_BYTES ? LENGTH_BYTES + 2 : 0;
    if (n > s->bytes - LENGTH_BYTES) return LENGTH_BYTES + n;
    json_t *header = sp__json_load((const char *)s->data + LENGTH_BYTES, (size_t)n, 0, NULL);
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry)
    {
        json_int_t to = json_integer_value(json_array_get(json_object_get(entry, "data_offsets"), 1));
        if (to > 0 && (uint64_t)to > last) last = (uint64_t)to;
    }
    json_decref(header);
    return LENGTH_BYTES + n + last;
}

const sp_format sp__format_safetensors = {
    .name = "safetensors",
    .title = "safetensors",
    .extensions = ".safetensors",
    .probe = probe,
    .wanted = wanted,
    .read = read_file,
    .write = write_file,
};
