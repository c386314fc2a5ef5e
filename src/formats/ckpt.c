/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt.c - MindSpore checkpoints.
 *
 * Layout: one protobuf message (wire.h), written piece by piece; hence simply a sequence of entries, without magic
 * number, version or index:
 *
 *   file     { 0A <length> entry }  [ "crc_num" <CRC-32 of all before, 10 bytes, big-endian> ]
 *   entry    0A <length> name, UTF-8
 *            12 <length> tensor             (or 1A <length> map: the parts of a hash table)
 *   tensor   { 08 <dimension> }             none: rank 0; one dimension 0 and one element: rank 0 too (up to 2.2)
 *            12 <length> type               "Float32" ..., sp_dtype_text; "str"; "random_op"
 *            1A <length> contents           little-endian, row-major; texts as UTF-32 without a final NUL
 *
 * - Contents above 512 MiB are cut into slices: consecutive entries of equal name, dimensions and type. A name that
 *   returns later, after others, replaces what it had.
 * - The empty text is stored as one NUL character; final NULs do not belong to a text.
 * - Tensors without elements: MindSpore does not write them, and so loses them. We do write them, and it reads them.
 * - A name may end in ".__param_key__" and a number (parameters with a cache): not part of the name.
 * - Entries whose type is "random_op", and maps, are left out: there is nothing here they could belong to.
 *
 * Reading trusts nothing: a window never leaves its parent (wire.h), and memory is taken only after the dimensions have
 * been found to agree with the bytes that are there, so a file cannot ask for more than a few times its own size. */
#include "formats/ckpt.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "formats/format_impl.h"
#include "formats/wire.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "contents are stored in the order of this machine");

enum {
    CHECKPOINT_VALUE = 1, /* field numbers */
    VALUE_TAG = 1,
    VALUE_TENSOR = 2,
    VALUE_MAP = 3,
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_CONTENT = 3,

    CRC_MARK_BYTES = 7,
    CRC_ZERO_BYTES = 6, /* the ten bytes behind the mark hold a 32-bit number */
    CRC_TRAILER_BYTES = CRC_MARK_BYTES + 10
};

static const char crc_mark[CRC_MARK_BYTES + CRC_ZERO_BYTES + 1] = "crc_num\0\0\0\0\0\0";
static const char key_suffix[] = ".__param_key__";

size_t sp__checkpoint_slice_bytes = (size_t)512 << 20;

/* --- reading: one entry ------------------------------------------------------------------------------------------ */

typedef struct {
    bool has_tag, has_tensor, has_map, has_type, has_content;
    sp_wire tag, type, content;
    size_t offset;
    sp_meta meta; /* dims */
} entry;

static bool piece_is(const sp_wire *w, const char *text)
{
    return sp__wire_left(w) == strlen(text) && memcmp(w->at, text, strlen(text)) == 0;
}

static bool same_bytes(const sp_wire *a, const sp_wire *b)
{
    return sp__wire_left(a) == sp__wire_left(b) && memcmp(a->at, b->at, sp__wire_left(a)) == 0;
}

static const char *shown(const sp_wire *w, char out[SP_NAME_SHOWN])
{
    return sp__name_shown((const char *)w->at, sp__wire_left(w), out);
}

static sp_status read_tensor(sp_wire w, entry *e)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        switch (number) {
        case TENSOR_DIMS: SP_TRY(sp__meta_take_dims(&w, type, &e->meta)); break;
        case TENSOR_TYPE:
            SP_TRY(sp__wire_take_bytes(&w, "tensor_type", type, &e->type));
            e->has_type = true;
            break;
        case TENSOR_CONTENT:
            SP_TRY(sp__wire_take_bytes(&w, "tensor_content", type, &e->content));
            e->has_content = true;
            break;
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    e->has_tensor = true;
    return SP_OK;
}

static sp_status read_fields(sp_wire w, entry *e)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire contents;
        SP_TRY(sp__wire_field(&w, &number, &type));
        switch (number) {
        case VALUE_TAG:
            SP_TRY(sp__wire_take_bytes(&w, "tag", type, &e->tag));
            e->has_tag = true;
            break;
        case VALUE_TENSOR:
            SP_TRY(sp__wire_take_bytes(&w, "tensor", type, &contents));
            SP_TRY(read_tensor(contents, e));
            break;
        case VALUE_MAP:
            SP_TRY(sp__wire_expect(&w, "maptensor", type, SP_WIRE_BYTES));
            e->has_map = true;
            /* fall through */
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    return SP_OK;
}

static sp_status check_fields(const entry *e)
{
    SP_CHECK(e->has_tag, SP_FORMAT, "byte %zu: the entry has no name", e->offset);
    size_t bytes = sp__wire_left(&e->tag);
    SP_CHECK(memchr(e->tag.at, 0, bytes) == NULL, SP_FORMAT, "byte %zu: the name contains a NUL",
             sp__wire_offset(&e->tag));
    size_t valid = sp__utf8_valid((const char *)e->tag.at, bytes);
    SP_CHECK(valid == bytes, SP_FORMAT, "byte %zu: the name is not UTF-8", sp__wire_offset(&e->tag) + valid);
    if (e->has_map && !e->has_tensor) return SP_OK;
    SP_CHECK(e->has_tensor, SP_FORMAT, "byte %zu: the entry has no tensor", e->offset);
    SP_CHECK(e->has_type, SP_FORMAT, "byte %zu: the tensor has no type", e->offset);
    SP_CHECK(e->has_content, SP_FORMAT, "byte %zu: the tensor has no contents", e->offset);
    return SP_OK;
}

static sp_status read_entry(sp_wire w, int64_t index, entry *e)
{
    memset(e, 0, sizeof *e);
    e->offset = sp__wire_offset(&w);
    sp_status status = read_fields(w, e);
    if (status == SP_OK) status = check_fields(e);
    if (status != SP_OK) {
        char name[SP_NAME_SHOWN];
        if (e->has_tag) sp__error_context("entry %lld '%s'", (long long)index, shown(&e->tag, name));
        else sp__error_context("entry %lld", (long long)index);
    }
    return status;
}

/* --- reading: entries joined into values -------------------------------------------------------------------------- */

typedef struct {
    const sp_source *source;
    sp_bundle *bundle;
    entry first; /* of the run of slices being collected */
    bool collecting;
    sp_piece *pieces;
    size_t n_pieces, max_pieces;
    size_t total_bytes;
} reader;

static sp_status finish_text(reader *r, const char *name)
{
    const sp_wire *content = &r->first.content;
    SP_CHECK(r->total_bytes % 4 == 0, SP_FORMAT, "byte %zu: a text has %zu bytes, a multiple of 4 wanted",
             sp__wire_offset(content), r->total_bytes);
    uint8_t *chars = sp__alloc(r->total_bytes);
    if (chars == NULL) return SP_NOMEM;
    sp__pieces_join(r->pieces, r->n_pieces, chars);
    sp_status status = sp__bundle_add_utf32(r->bundle, name, chars, r->total_bytes / 4);
    if (status == SP_FORMAT) sp__error_context("byte %zu", sp__wire_offset(content));
    sp__free(chars);
    return status;
}

static sp_status parse_dtype(const sp_wire *type, sp_dtype *out)
{
    char text[SP_NAME_SHOWN];
    shown(type, text);
    *out = sp_dtype_parse(text);
    SP_CHECK(*out != SP_DTYPE_NONE && *out != SP_DTYPE_STR && sp__wire_left(type) == strlen(text), SP_FORMAT,
             "byte %zu: tensor_type is '%s', a dtype like Float32 wanted", sp__wire_offset(type), text);
    return SP_OK;
}

static sp_status finish_tensor(reader *r, const char *name)
{
    const entry *e = &r->first;
    sp_dtype dtype;
    SP_TRY(parse_dtype(&e->type, &dtype));
    size_t element = sp_dtype_bytes(dtype), wanted;
    sp_meta meta = e->meta;
    meta.dtype = dtype;
    if (meta.rank == 1 && meta.dims[0] == 0 && r->total_bytes == element) meta.rank = 0;
    int64_t count;
    sp_status status = sp__shape_count(meta.rank, meta.dims, &count);
    if (status != SP_OK) {
        sp__error_context("byte %zu", e->offset);
        return SP_FORMAT;
    }
    char shape[SP_SHAPE_TEXT];
    SP_CHECK(sp__mul_size((size_t)count, element, &wanted) && wanted == r->total_bytes, SP_FORMAT,
             "byte %zu: tensor_content has %zu bytes in %zu slice(s), but shape %s of %s wants %lld elements of %zu",
             sp__wire_offset(&e->content), r->total_bytes, r->n_pieces, sp__shape_text(meta.rank, meta.dims, shape),
             sp_dtype_text(dtype), (long long)count, element);
    return sp__source_put(r->source, r->bundle, name, &meta, r->pieces, r->n_pieces);
}

/* Length of the name without the key of a cached parameter. */
static size_t name_bytes(const char *name)
{
    const char *found = NULL;
    for (const char *at = name; (at = strstr(at, key_suffix)) != NULL; at++) found = at;
    if (found == NULL) return strlen(name);
    const char *digits = found + sizeof key_suffix - 1;
    if (*digits == '-') digits++;
    size_t n = strspn(digits, "0123456789");
    return n > 0 && digits[n] == '\0' ? (size_t)(found - name) : strlen(name);
}

/* Build what was collected. */
static sp_status finish(reader *r)
{
    if (!r->collecting) return SP_OK;
    r->collecting = false;
    const entry *e = &r->first;
    size_t bytes = sp__wire_left(&e->tag);
    char *name = sp__alloc(bytes + 1);
    if (name == NULL) return SP_NOMEM;
    memcpy(name, e->tag.at, bytes);
    name[bytes] = '\0';
    name[name_bytes(name)] = '\0';
    sp_status status = piece_is(&e->type, "str") ? finish_text(r, name) : finish_tensor(r, name);
    if (status != SP_OK) {
        char text[SP_NAME_SHOWN];
        sp__error_context("entry '%s'", shown(&e->tag, text));
    }
    sp__free(name);
    return status;
}

static sp_status add_piece(reader *r, const sp_wire *content)
{
    if (r->n_pieces == r->max_pieces) {
        size_t max = r->max_pieces == 0 ? 8 : r->max_pieces * 2;
        sp_piece *larger = sp__realloc(r->pieces, r->n_pieces * sizeof *larger, max * sizeof *larger);
        if (larger == NULL) return SP_NOMEM;
        r->pieces = larger;
        r->max_pieces = max;
    }
    r->pieces[r->n_pieces++] = (sp_piece){content->at, sp__wire_left(content)};
    r->total_bytes += sp__wire_left(content); /* cannot overflow: the pieces are disjoint parts of memory */
    return SP_OK;
}

static sp_status collect(reader *r, const entry *e)
{
    if (r->collecting && same_bytes(&r->first.tag, &e->tag)) {
        char name[SP_NAME_SHOWN], here[SP_SHAPE_TEXT], before[SP_SHAPE_TEXT];
        bool same = sp__shape_equal(r->first.meta.rank, r->first.meta.dims, e->meta.rank, e->meta.dims);
        SP_CHECK(same && same_bytes(&r->first.type, &e->type), SP_FORMAT,
                 "entry '%s': byte %zu: slice %zu has shape %s, the first one %s; shapes and types must agree",
                 shown(&e->tag, name), e->offset, r->n_pieces + 1, sp__shape_text(e->meta.rank, e->meta.dims, here),
                 sp__shape_text(r->first.meta.rank, r->first.meta.dims, before));
        return add_piece(r, &e->content);
    }
    SP_TRY(finish(r));
    if (!e->has_tensor || piece_is(&e->type, "random_op")) return SP_OK;
    r->first = *e;
    r->collecting = true;
    r->n_pieces = 0;
    r->total_bytes = 0;
    return add_piece(r, &e->content);
}

static sp_status read_all(reader *r, sp_wire w)
{
    for (int64_t index = 0; sp__wire_more(&w); index++) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != CHECKPOINT_VALUE) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        sp_wire contents;
        entry e;
        SP_TRY(sp__wire_expect(&w, "an entry", type, SP_WIRE_BYTES));
        sp_status status = sp__wire_bytes(&w, &contents);
        if (status != SP_OK) {
            sp__error_context("entry %lld", (long long)index);
            return status;
        }
        SP_TRY(read_entry(contents, index, &e));
        SP_TRY(collect(r, &e));
    }
    return finish(r);
}

/* --- reading: the file ------------------------------------------------------------------------------------------- */

/* Whether the file is entries to its last byte. A trailer is not one: its first letter would begin a kind of field that nobody uses. */
static bool ends_with_an_entry(const uint8_t *data, size_t bytes)
{
    sp_wire w = sp__wire_open(data, bytes);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        if (sp__wire_field(&w, &number, &type) != SP_OK || sp__wire_skip(&w, number, type) != SP_OK) return false;
    }
    return true;
}

/* Cut the trailer off *bytes if there is one, and compare it if asked. Contents of the last entry may look like one. */
static sp_status take_trailer(const uint8_t *data, size_t *bytes, unsigned flags)
{
    if (*bytes < CRC_TRAILER_BYTES) return SP_OK;
    size_t body = *bytes - CRC_TRAILER_BYTES;
    const uint8_t *mark = data + body;
    if (memcmp(mark, crc_mark, CRC_MARK_BYTES + CRC_ZERO_BYTES) != 0 || ends_with_an_entry(data, *bytes)) return SP_OK;
    *bytes = body;
    if (!(flags & SP_FILE_CRC)) return SP_OK;
    const uint8_t *p = mark + CRC_MARK_BYTES + CRC_ZERO_BYTES;
    uint32_t stored = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    uint32_t found = (uint32_t)crc32_z(0, data, body);
    SP_CHECK(stored == found, SP_FORMAT,
             "the CRC check failed: %#lx over %zu bytes found, %#lx wanted; the file is damaged", (unsigned long)found,
             body, (unsigned long)stored);
    return SP_OK;
}

static bool probe(const sp_source *s)
{
    /* An entry that begins with a name; nothing surer is to be had. */
    sp_wire w = sp__wire_open(s->data, s->bytes), value, tag;
    uint32_t number;
    int type;
    if (s->bytes >= CRC_TRAILER_BYTES && memcmp(s->data + s->bytes - CRC_TRAILER_BYTES, crc_mark, CRC_MARK_BYTES) == 0)
        return true;
    if (sp__wire_field(&w, &number, &type) != SP_OK || number != CHECKPOINT_VALUE || type != SP_WIRE_BYTES)
        return false;
    if (sp__wire_bytes(&w, &value) != SP_OK || !sp__wire_more(&value)) return false;
    if (sp__wire_field(&value, &number, &type) != SP_OK || type != SP_WIRE_BYTES) return false;
    return sp__wire_bytes(&value, &tag) == SP_OK &&
           (number == VALUE_TAG || number == VALUE_TENSOR || number == VALUE_MAP) && sp__wire_more(&value);
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    SP_CHECK(s->bytes > 0, SP_FORMAT, "the file is empty, entries wanted");
    size_t bytes = s->bytes;
    SP_TRY(take_trailer(s->data, &bytes, s->options->flags));
    if (bytes < s->bytes) SP_TRY(sp_bundle_set_note(bundle, "crc", "yes"));
    reader r = {.source = s, .bundle = bundle};
    sp_status status = read_all(&r, sp__wire_open(s->data, bytes));
    sp__free(r.pieces);
    return status;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

typedef struct {
    sp_sink *sink;
    sp_wire_out head; /* scratch for what stands in front of contents */
    unsigned flags;
    uint32_t crc;
} writer;

static sp_status emit(writer *w, const void *data, size_t bytes)
{
    if (w->flags & SP_FILE_CRC) w->crc = (uint32_t)crc32_z(w->crc, data, bytes);
    return sp__sink_write(w->sink, data, bytes);
}

static sp_status emit_value(writer *w, const sp_contents *v, size_t from, size_t bytes)
{
    if (w->flags & SP_FILE_CRC) w->crc = sp__contents_crc(v, from, bytes, w->crc);
    return sp__sink_write_contents(w->sink, v, from, bytes);
}

/* What stands in front of `bytes` bytes of contents: all lengths follow from theirs. */
static sp_status write_head(writer *w, const char *name, int rank, const int64_t *dims, const char *type, size_t bytes)
{
    uint64_t tensor = sp__wire_field_bytes(TENSOR_TYPE, strlen(type)) + sp__wire_field_bytes(TENSOR_CONTENT, bytes);
    for (int i = 0; i < rank; i++) tensor += 1 + sp__wire_varint_bytes((uint64_t)dims[i]);
    uint64_t value = sp__wire_field_bytes(VALUE_TAG, strlen(name)) + sp__wire_field_bytes(VALUE_TENSOR, tensor);
    sp_wire_out *o = &w->head;
    o->bytes = 0;
    SP_TRY(sp__wire_put_head(o, CHECKPOINT_VALUE, value));
    SP_TRY(sp__wire_put_head(o, VALUE_TAG, strlen(name)));
    SP_TRY(sp__wire_put(o, name, strlen(name)));
    SP_TRY(sp__wire_put_head(o, VALUE_TENSOR, tensor));
    for (int i = 0; i < rank; i++) SP_TRY(sp__wire_put_number(o, TENSOR_DIMS, (uint64_t)dims[i]));
    SP_TRY(sp__wire_put_head(o, TENSOR_TYPE, strlen(type)));
    SP_TRY(sp__wire_put(o, type, strlen(type)));
    SP_TRY(sp__wire_put_head(o, TENSOR_CONTENT, bytes));
    return emit(w, o->data, o->bytes);
}

static sp_status write_text(writer *w, const char *name, const char *text, size_t bytes)
{
    static const int64_t dims[] = {0};
    uint32_t *chars = NULL;
    size_t n = 0;
    SP_TRY(sp__utf32_from(text, bytes, &chars, &n));
    sp_status status = write_head(w, name, 1, dims, "str", n * 4);
    if (status == SP_OK) status = emit(w, chars, n * 4);
    sp__free(chars);
    return status;
}

static sp_status write_slices(writer *w, const char *name, const sp_contents *v)
{
    static const int64_t old_scalar[] = {0};
    bool old = v->meta.rank == 0 && (w->flags & SP_FILE_OLD_SCALARS);
    size_t limit = sp__checkpoint_slice_bytes, at = 0;
    do { /* at least once: no contents are contents too */
        size_t n = v->bytes - at < limit ? v->bytes - at : limit;
        SP_TRY(write_head(w, name, old ? 1 : v->meta.rank, old ? old_scalar : v->meta.dims,
                          sp_dtype_text(v->meta.dtype), n));
        SP_TRY(emit_value(w, v, at, n));
        at += n;
    } while (at < v->bytes);
    return SP_OK;
}

static sp_status write_entry(writer *w, const sp_bundle *bundle, int64_t i)
{
    const char *name = sp_bundle_name_at(bundle, i);
    size_t bytes;
    const char *text = sp_bundle_text_at(bundle, i, &bytes);
    if (text != NULL) return write_text(w, name, text, bytes);
    sp_contents v;
    SP_TRY(sp__bundle_contents(bundle, i, &v));
    sp_status status = write_slices(w, name, &v);
    sp__contents_release(&v);
    return status;
}

static sp_status write_all(writer *w, const sp_bundle *bundle)
{
    for (int64_t i = 0; i < sp_bundle_count(bundle); i++) {
        sp_status status = write_entry(w, bundle, i);
        if (status != SP_OK) {
            char shown_name[SP_NAME_SHOWN];
            const char *name = sp_bundle_name_at(bundle, i);
            sp__error_context("entry '%s'", sp__name_shown(name, strlen(name), shown_name));
            return status;
        }
    }
    if (!(w->flags & SP_FILE_CRC)) return SP_OK;
    uint8_t trailer[CRC_TRAILER_BYTES];
    memcpy(trailer, crc_mark, CRC_MARK_BYTES + CRC_ZERO_BYTES);
    for (int i = 0; i < 4; i++) trailer[CRC_MARK_BYTES + CRC_ZERO_BYTES + i] = (uint8_t)(w->crc >> (24 - 8 * i));
    return sp__sink_write(w->sink, trailer, sizeof trailer);
}

static sp_status write_file(sp_sink *sink, const sp_bundle *bundle)
{
    const sp_file_options *options = sp__sink_options(sink);
    SP_CHECK(options->key == NULL || !(options->flags & SP_FILE_CRC), SP_VALUE,
             "a checksum and a key exclude each other: an encrypted file is protected by its cipher");
    writer w = {.sink = sink, .flags = options->flags};
    sp_status status = write_all(&w, bundle);
    sp__wire_out_free(&w.head);
    return status;
}

static uint64_t wanted(const sp_source *s) { return sp__wire_wanted(s, 15); }

const sp_format sp__format_ckpt = {
    .name = "ckpt",
    .title = "MindSpore checkpoint",
    .extensions = ".ckpt",
    .probe = probe,
    .wanted = wanted,
    .read = read_file,
    .write = write_file,
};
