/* SPDX-License-Identifier: Apache-2.0 */
/* tensorflow.c - TensorFlow's checkpoints: <prefix>.index and <prefix>.data-00000-of-0000N.
 *
 * The index is a table of sorted keys, in the layout of LevelDB:
 *
 *   blocks | index block: last key of each block -> handle | footer, 48 bytes: handles of metaindex and index, filled with
 *   zeros, then 57 FB 80 8B 24 75 47 DB
 *   handle  varint offset, varint bytes; behind the block 1 byte compression (0 none, 1 snappy) and 4 bytes CRC-32C
 *   block   entries, then the places of entries without a shared key (4 bytes each) and their number (4 bytes)
 *   entry   varint shared, varint rest, varint value bytes | rest of the key | value
 *
 * Values are protobuf messages: for the empty key a header (1 number of shards, 2 byte order), else an entry: 1 dtype,
 * 2 shape (2 dim (1 size)), 3 shard, 4 offset, 5 bytes, 6 CRC-32C, 7 slices (1 extent (1 start, 2 length; missing: all)).
 * A variable with slices is partitioned: contents are those of other entries, one a slice, whose keys come first in the table. A key is
 *   0 | name, each byte 0 as 0 FF and FF as FF 0 | 0 1 | 1 rank | for each dimension start and length (all: -1) in an ordered code
 * Keras and tf.Module append "/.ATTRIBUTES/VARIABLE_VALUE" to names, which is left out.
 *
 * The graph of objects is a text of its own key: varint bytes, 4 bytes CRC-32C, then a message: 1 node (2 attribute (1 name, 2 full name,
 * 3 key)). A SavedModel keeps variables in lists, "variables/7": there the full name, "sequential/dense/kernel", is the one that says
 * something, and is taken where it tells the members of the list apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format_impl.h"
#include "formats/wire.h"

enum { FOOTER_BYTES = 48, MAGIC_BYTES = 8, BLOCK_TRAILER = 5, SHARDS_MAX = 100000 };
static const uint8_t magic[MAGIC_BYTES] = {0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB};
static const char attribute[] = "/.ATTRIBUTES/VARIABLE_VALUE";
static const char object_graph[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

typedef struct {
    const sp_source *source;
    sp_bundle *bundle;
    const char *stem; /* file name of the prefix, without its folder */
    size_t stem_bytes;
    uint64_t n_shards;
    sp_source *shards;    /* opened when needed */
    struct slice *slices; /* of partitioned variables, in the order of their keys */
    size_t n_slices, slices_room;
    struct listed *listed; /* variables of lists, in the order of their keys */
    size_t n_listed, listed_room;
} reader;

/* --- snappy ------------------------------------------------------------------------------------------------------ */

static sp_status snappy_copy(uint8_t *out, size_t *at, size_t room, uint64_t offset, size_t n)
{
    SP_CHECK(offset > 0 && offset <= *at && n <= room - *at, SP_FORMAT, "a compressed block is damaged");
    for (size_t i = 0; i < n; i++, ++*at) out[*at] = out[*at - offset]; /* may overlap: byte by byte */
    return SP_OK;
}

static sp_status snappy_element(sp_wire *w, uint8_t *out, size_t *at, size_t room)
{
    uint8_t tag = *w->at++;
    size_t extra = (tag & 3) == 0 ? ((tag >> 2) >= 60 ? (size_t)(tag >> 2) - 59 : 0) : (tag & 3) == 3 ? 4 : tag & 3;
    SP_CHECK(sp__wire_left(w) >= extra, SP_FORMAT, "a compressed block is cut");
    uint64_t number = 0;
    for (size_t i = extra; i-- > 0;) number = number << 8 | w->at[i];
    w->at += extra;
    if ((tag & 3) == 1) return snappy_copy(out, at, room, (uint64_t)(tag >> 5) << 8 | number, ((tag >> 2) & 7) + 4u);
    if ((tag & 3) != 0) return snappy_copy(out, at, room, number, (tag >> 2) + 1u);
    uint64_t n = (extra > 0 ? number : tag >> 2) + 1;
    SP_CHECK(n <= sp__wire_left(w) && n <= room - *at, SP_FORMAT, "a compressed block is damaged");
    memcpy(out + *at, w->at, (size_t)n);
    w->at += n;
    *at += (size_t)n;
    return SP_OK;
}

/* Caller frees *out. */
static sp_status unpack_snappy(sp_wire w, uint8_t **out, size_t *bytes)
{
    uint64_t n;
    SP_TRY(sp__wire_varint(&w, &n));
    SP_CHECK(n / 256 <= sp__wire_left(&w), SP_FORMAT, "a compressed block claims %llu bytes", (unsigned long long)n);
    uint8_t *plain = sp__alloc((size_t)n);
    if (plain == NULL) return SP_NOMEM;
    size_t at = 0;
    sp_status status = SP_OK;
    while (status == SP_OK && sp__wire_more(&w)) status = snappy_element(&w, plain, &at, (size_t)n);
    if (status == SP_OK && at != n) status = sp__fail(SP_FORMAT, "a compressed block is cut");
    if (status != SP_OK) {
        sp__free(plain);
        return status;
    }
    *out = plain;
    *bytes = (size_t)n;
    return SP_OK;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

typedef sp_status (*entry_fn)(reader *r, const char *key, size_t key_bytes, sp_wire value);

static sp_status read_handle(sp_wire *w, const sp_source *s, sp_wire *block)
{
    uint64_t offset, bytes;
    SP_TRY(sp__wire_varint(w, &offset));
    SP_TRY(sp__wire_varint(w, &bytes));
    SP_CHECK(offset <= s->bytes && s->bytes - offset >= BLOCK_TRAILER && bytes <= s->bytes - offset - BLOCK_TRAILER,
             SP_FORMAT, "a block of %llu bytes at byte %llu does not lie in the file", (unsigned long long)bytes,
             (unsigned long long)offset);
    *block = (sp_wire){s->data, s->data + offset, s->data + offset + bytes};
    return SP_OK;
}

static sp_status read_entries(reader *r, sp_wire w, entry_fn fn)
{
    size_t bytes = sp__wire_left(&w);
    SP_CHECK(bytes >= 4, SP_FORMAT, "a block is too small");
    uint64_t n = 0;
    for (int i = 4; i-- > 0;) n = n << 8 | w.end[i - 4];
    SP_CHECK(n <= (bytes - 4) / 4, SP_FORMAT, "a block claims %llu places", (unsigned long long)n);
    w.end -= 4 + 4 * (size_t)n;
    sp_wire_out key = {0};
    sp_status status = SP_OK;
    while (status == SP_OK && sp__wire_more(&w)) {
        uint64_t shared = 0, rest = 0, n_value = 0;
        SP_GOTO(done, sp__wire_varint(&w, &shared));
        SP_GOTO(done, sp__wire_varint(&w, &rest));
        SP_GOTO(done, sp__wire_varint(&w, &n_value));
        if (shared > key.bytes || rest > sp__wire_left(&w) || n_value > sp__wire_left(&w) - rest) {
            status = sp__fail(SP_FORMAT, "byte %zu: lengths of an entry do not fit", sp__wire_offset(&w));
            break;
        }
        key.bytes = (size_t)shared;
        SP_GOTO(done, sp__wire_put(&key, w.at, (size_t)rest));
        SP_GOTO(done, sp__wire_put(&key, "", 1));
        key.bytes--;
        sp_wire value = {w.file, w.at + rest, w.at + rest + n_value};
        w.at = value.end;
        status = fn(r, (const char *)key.data, key.bytes, value);
    }
done:
    sp__wire_out_free(&key);
    return status;
}

static sp_status read_block(reader *r, sp_wire handle, entry_fn fn)
{
    sp_wire block;
    SP_TRY(read_handle(&handle, r->source, &block));
    uint8_t compression = *block.end;
    SP_CHECK(compression <= 1, SP_FORMAT, "a block is compressed with method %u; 0 (none) and 1 (snappy) are known",
             compression);
    if (compression == 0) return read_entries(r, block, fn);
    uint8_t *plain = NULL;
    size_t bytes = 0;
    SP_TRY(unpack_snappy(block, &plain, &bytes));
    sp_status status = read_entries(r, sp__wire_open(plain, bytes), fn);
    sp__free(plain);
    return status;
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

static sp_dtype dtype_of(uint64_t number)
{
    static const int8_t known[] = {
        [1] = SP_DTYPE_F32 + 1,   [2] = SP_DTYPE_F64 + 1,   [3] = SP_DTYPE_I32 + 1,   [4] = SP_DTYPE_U8 + 1,
        [5] = SP_DTYPE_I16 + 1,   [6] = SP_DTYPE_I8 + 1,    [7] = SP_DTYPE_STR + 1,   [8] = SP_DTYPE_C64 + 1,
        [9] = SP_DTYPE_I64 + 1,   [10] = SP_DTYPE_BOOL + 1, [14] = SP_DTYPE_BF16 + 1, [17] = SP_DTYPE_U16 + 1,
        [18] = SP_DTYPE_C128 + 1, [19] = SP_DTYPE_F16 + 1,  [22] = SP_DTYPE_U32 + 1,  [23] = SP_DTYPE_U64 + 1,
    };
    return number < sizeof known ? (sp_dtype)(known[number] - 1) : SP_DTYPE_NONE;
}

static sp_status read_dim(sp_wire w, sp_meta *meta)
{
    uint64_t size = 0;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_number(&w, "size", type, &size));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    SP_CHECK(meta->rank < SP_RANK_MAX, SP_FORMAT, "more than %d dimensions", SP_RANK_MAX);
    SP_CHECK(size <= INT64_MAX, SP_FORMAT, "dimension %d is negative", meta->rank);
    meta->dims[meta->rank++] = (int64_t)size;
    return SP_OK;
}

static sp_status read_shape(sp_wire w, sp_meta *meta)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire dim;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != 2) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "dim", type, &dim));
        SP_TRY(read_dim(dim, meta));
    }
    return SP_OK;
}

typedef struct {
    sp_meta meta;
    uint64_t dtype, shard, offset, bytes;
    bool sliced;
} entry;

typedef struct slice {
    uint8_t *key;
    size_t key_bytes;
    entry e;
} slice;

static sp_status parse_entry(sp_wire w, entry *e)
{
    memset(e, 0, sizeof *e);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        switch (number) {
        case 1: SP_TRY(sp__wire_take_number(&w, "dtype", type, &e->dtype)); break;
        case 2:
            SP_TRY(sp__wire_take_bytes(&w, "shape", type, &inner));
            SP_TRY(read_shape(inner, &e->meta));
            break;
        case 3: SP_TRY(sp__wire_take_number(&w, "shard_id", type, &e->shard)); break;
        case 4: SP_TRY(sp__wire_take_number(&w, "offset", type, &e->offset)); break;
        case 5: SP_TRY(sp__wire_take_number(&w, "size", type, &e->bytes)); break;
        case 7: e->sliced = true; /* fall through */
        default: SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    return SP_OK;
}

static sp_status open_shard(reader *r, uint64_t i, const sp_source **out)
{
    SP_CHECK(i < r->n_shards, SP_FORMAT, "lies in shard %llu of %llu", (unsigned long long)i,
             (unsigned long long)r->n_shards);
    sp_source *shard = &r->shards[i];
    if (shard->options == NULL) {
        char name[512];
        int n = snprintf(name, sizeof name, "%.*s.data-%05llu-of-%05llu", (int)r->stem_bytes, r->stem,
                         (unsigned long long)i, (unsigned long long)r->n_shards);
        SP_CHECK(n > 0 && n < (int)sizeof name, SP_VALUE, "the file name is too long");
        SP_TRY(sp__source_open_beside(r->source, name, shard));
    }
    *out = shard;
    return SP_OK;
}

static sp_status find_contents(reader *r, const entry *e, const sp_source **out)
{
    const sp_source *shard = NULL;
    SP_TRY(open_shard(r, e->shard, &shard));
    SP_CHECK(e->offset <= shard->bytes && e->bytes <= shard->bytes - e->offset, SP_FORMAT,
             "%llu bytes at byte %llu of shard %llu, which has %zu", (unsigned long long)e->bytes,
             (unsigned long long)e->offset, (unsigned long long)e->shard, shard->bytes);
    *out = shard;
    return SP_OK;
}

/* --- the graph of objects ---------------------------------------------------------------------------------------- */

/* A variable of a list. */
typedef struct listed {
    char *key;
    char *name;          /* the full name */
    size_t parent_bytes; /* of the key: the path of the list */
    bool shared;         /* another one of the list has the same name */
} listed;

/* Bytes of the path to the list whose member the key is; 0: it is a member of none. */
static size_t list_path(const char *key)
{
    size_t n = strlen(key);
    if (n < sizeof attribute || strcmp(key + n - (sizeof attribute - 1), attribute) != 0) return 0;
    n -= sizeof attribute - 1;
    const size_t end = n;
    while (n > 0 && key[n - 1] >= '0' && key[n - 1] <= '9') n--;
    return n > 1 && n < end && key[n - 1] == '/' ? n - 1 : 0;
}

static int compare_bytes(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const listed *)a)->key, ((const listed *)b)->key);
}

static int compare_lists(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    const int order = compare_bytes(x->key, x->parent_bytes, y->key, y->parent_bytes);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static sp_status take_string(sp_wire *w, const char *what, int type, char **out)
{
    sp_wire text;
    SP_TRY(sp__wire_take_bytes(w, what, type, &text));
    const size_t n = sp__wire_left(&text);
    SP_CHECK(sp__utf8_valid((const char *)text.at, n) == n && (n == 0 || memchr(text.at, 0, n) == NULL), SP_FORMAT,
             "%s is no UTF-8", what);
    sp__free(*out);
    *out = sp__alloc(n + 1);
    if (*out == NULL) return SP_NOMEM;
    memcpy(*out, text.at, n);
    (*out)[n] = '\0';
    return SP_OK;
}

static sp_status note_attribute(reader *r, sp_wire w)
{
    listed found = {NULL};
    sp_status status = SP_OK;
    while (status == SP_OK && sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_GOTO(done, sp__wire_field(&w, &number, &type));
        if (number == 2) status = take_string(&w, "full_name", type, &found.name);
        else if (number == 3) status = take_string(&w, "checkpoint_key", type, &found.key);
        else status = sp__wire_skip(&w, number, type);
    }
    if (status != SP_OK || found.key == NULL || found.name == NULL || found.name[0] == '\0') goto done;
    found.parent_bytes = list_path(found.key);
    if (found.parent_bytes == 0) goto done;
    if (r->n_listed == r->listed_room) {
        const size_t room = r->listed_room > 0 ? 2 * r->listed_room : 64;
        listed *more = sp__realloc(r->listed, r->listed_room * sizeof *more, room * sizeof *more);
        if (more == NULL) {
            status = SP_NOMEM;
            goto done;
        }
        r->listed = more;
        r->listed_room = room;
    }
    r->listed[r->n_listed++] = found;
    return SP_OK;
done:
    sp__free(found.key);
    sp__free(found.name);
    return status;
}

/* Every field `wanted` of the message in w, each a message. */
static sp_status each_message(reader *r, sp_wire w, uint32_t wanted, sp_status (*fn)(reader *r, sp_wire w))
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != wanted) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "node", type, &inner));
        SP_TRY(fn(r, inner));
    }
    return SP_OK;
}

static sp_status note_node(reader *r, sp_wire w) { return each_message(r, w, 2, note_attribute); }

static sp_status on_object_graph(reader *r, const char *key, size_t key_bytes, sp_wire value)
{
    entry e;
    uint64_t bytes;
    const sp_source *shard = NULL;
    if (key_bytes != sizeof object_graph - 1 || memcmp(key, object_graph, key_bytes) != 0) return SP_OK;
    SP_TRY(parse_entry(value, &e));
    SP_TRY(find_contents(r, &e, &shard));
    sp_wire w = sp__wire_open(shard->data + e.offset, (size_t)e.bytes);
    sp_status status = sp__wire_varint(&w, &bytes);
    if (status == SP_OK && (sp__wire_left(&w) < 4 || bytes != sp__wire_left(&w) - 4))
        status = sp__fail(SP_FORMAT, "a text of %llu bytes lies in %llu", (unsigned long long)bytes,
                          (unsigned long long)e.bytes);
    if (status == SP_OK) {
        w.at += 4;
        status = each_message(r, w, 1, note_node);
    }
    if (status != SP_OK) sp__error_context("the graph of objects");
    return status;
}

static void sort_listed(reader *r)
{
    if (r->n_listed == 0) return;
    qsort(r->listed, r->n_listed, sizeof *r->listed, compare_lists);
    for (size_t i = 1; i < r->n_listed; i++)
        if (compare_lists(&r->listed[i - 1], &r->listed[i]) == 0) r->listed[i - 1].shared = r->listed[i].shared = true;
    qsort(r->listed, r->n_listed, sizeof *r->listed, compare_keys);
}

/* The full name of a list's member, if it serves and no other variable has it; else NULL. */
static const char *full_name(const reader *r, char *key)
{
    const listed wanted = {.key = key};
    const listed *found =
        r->n_listed > 0 ? bsearch(&wanted, r->listed, r->n_listed, sizeof wanted, compare_keys) : NULL;
    return found != NULL && !found->shared && sp_bundle_find(r->bundle, found->name) < 0 ? found->name : NULL;
}

static sp_status add_entry(reader *r, char *name, const entry *e)
{
    const sp_source *shard = NULL;
    SP_TRY(find_contents(r, e, &shard));
    size_t n = strlen(name);
    const char *full = full_name(r, name);
    if (n > sizeof attribute - 1 && strcmp(name + n - (sizeof attribute - 1), attribute) == 0)
        name[n - (sizeof attribute - 1)] = '\0';
    return sp__source_add(shard, r->bundle, full != NULL ? full : name, &e->meta, shard->data + e->offset,
                          (size_t)e->bytes);
}

/* --- partitioned variables --------------------------------------------------------------------------------------- */

static sp_status note_slice(reader *r, const char *key, size_t key_bytes, sp_wire value)
{
    if (r->n_slices == r->slices_room) {
        size_t room = r->slices_room > 0 ? 2 * r->slices_room : 16;
        slice *more = sp__realloc(r->slices, r->slices_room * sizeof *more, room * sizeof *more);
        if (more == NULL) return SP_NOMEM;
        r->slices = more;
        r->slices_room = room;
    }
    slice *s = &r->slices[r->n_slices];
    SP_TRY(parse_entry(value, &s->e));
    s->key = sp__alloc(key_bytes);
    if (s->key == NULL) return SP_NOMEM;
    memcpy(s->key, key, key_bytes);
    s->key_bytes = key_bytes;
    r->n_slices++;
    return SP_OK;
}

static int compare_slices(const void *a, const void *b)
{
    const slice *x = a, *y = b;
    return compare_bytes(x->key, x->key_bytes, y->key, y->key_bytes);
}

/* The ordered code of a signed number: big-endian in n bytes, whose first n bits are turned over; numbers below zero are
 * those of their complement with all bits turned over. */
static sp_status put_ordered(sp_wire_out *out, int64_t value)
{
    uint64_t x = (uint64_t)(value < 0 ? ~value : value);
    int n = 1;
    while (n < 10 && x >> (7 * n - 1) != 0) n++;
    uint8_t bytes[10] = {0};
    for (int i = 0; i < n && i < 8; i++) bytes[n - 1 - i] = (uint8_t)(x >> 8 * i);
    for (int i = 0; i < n; i++) bytes[i / 8] ^= (uint8_t)(0x80 >> i % 8);
    for (int i = 0; i < n && value < 0; i++) bytes[i] = (uint8_t)~bytes[i];
    return sp__wire_put(out, bytes, (size_t)n);
}

typedef struct {
    int rank;
    int64_t start[SP_RANK_MAX], length[SP_RANK_MAX]; /* length -1: all */
} extents;

static sp_status parse_extent(sp_wire w, extents *x)
{
    uint64_t start = 0, length = UINT64_MAX;
    SP_CHECK(x->rank < SP_RANK_MAX, SP_FORMAT, "more than %d dimensions", SP_RANK_MAX);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_number(&w, "start", type, &start));
        else if (number == 2) SP_TRY(sp__wire_take_number(&w, "length", type, &length));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    x->start[x->rank] = (int64_t)start;
    x->length[x->rank++] = (int64_t)length;
    return SP_OK;
}

static sp_status parse_slice(sp_wire w, extents *x)
{
    x->rank = 0;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != 1) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "extent", type, &inner));
        SP_TRY(parse_extent(inner, x));
    }
    return SP_OK;
}

static sp_status put_key(sp_wire_out *out, const char *name, const extents *x)
{
    uint8_t zero = 0, marks[4] = {0, 1, 1, (uint8_t)x->rank};
    SP_TRY(sp__wire_put(out, &zero, 1));
    for (const char *p = name; *p != '\0'; p++) {
        SP_TRY(sp__wire_put(out, p, 1));
        if ((uint8_t)*p == 0xFF) SP_TRY(sp__wire_put(out, &zero, 1));
    }
    SP_TRY(sp__wire_put(out, marks, 4));
    for (int i = 0; i < x->rank; i++) {
        SP_TRY(put_ordered(out, x->start[i]));
        SP_TRY(put_ordered(out, x->length[i]));
    }
    return SP_OK;
}

/* What is known of the slice, with its lengths made plain. */
static sp_status find_slice(const reader *r, const char *name, const sp_meta *whole, extents *x, const slice **out)
{
    sp_wire_out key = {0};
    SP_CHECK(x->rank == whole->rank, SP_FORMAT, "a slice of %d dimensions for %d", x->rank, whole->rank);
    sp_status status = put_key(&key, name, x);
    slice wanted = {.key = key.data, .key_bytes = key.bytes};
    *out = status == SP_OK && r->n_slices > 0 ? bsearch(&wanted, r->slices, r->n_slices, sizeof wanted, compare_slices)
                                              : NULL;
    sp__wire_out_free(&key);
    SP_TRY(status);
    SP_CHECK(*out != NULL, SP_FORMAT, "one of its slices is missing");
    for (int i = 0; i < x->rank; i++) {
        if (x->length[i] < 0) x->length[i] = whole->dims[i];
        SP_CHECK(x->start[i] >= 0 && x->length[i] >= 0 && x->start[i] <= whole->dims[i] &&
                     x->length[i] <= whole->dims[i] - x->start[i],
                 SP_FORMAT, "a slice of %lld from %lld on in dimension %d of size %lld", (long long)x->length[i],
                 (long long)x->start[i], i, (long long)whole->dims[i]);
    }
    return SP_OK;
}

static void copy_slice(const extents *x, const sp_meta *whole, int axis, const uint8_t **from, uint8_t *to,
                       size_t to_bytes)
{
    /* to: the part of the whole below this axis; to_bytes: its size */
    if (axis == x->rank) {
        memcpy(to, *from, to_bytes);
        *from += to_bytes;
        return;
    }
    size_t step = whole->dims[axis] > 0 ? to_bytes / (size_t)whole->dims[axis] : 0;
    for (int64_t i = 0; i < x->length[axis]; i++)
        copy_slice(x, whole, axis + 1, from, to + (size_t)(x->start[axis] + i) * step, step);
}

/* Each slice of the entry in w: its contents into `to`, or (NULL) their bytes added to *bytes. */
static sp_status each_slice(reader *r, const char *name, const sp_meta *whole, sp_wire w, size_t whole_bytes,
                            uint8_t *to, uint64_t *bytes)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        extents x;
        const slice *s = NULL;
        const sp_source *shard = NULL;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number != 7) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "slice", type, &inner));
        SP_TRY(parse_slice(inner, &x));
        SP_TRY(find_slice(r, name, whole, &x, &s));
        SP_TRY(find_contents(r, &s->e, &shard));
        uint64_t wanted = sp_dtype_bytes(whole->dtype);
        for (int i = 0; i < x.rank; i++) wanted *= (uint64_t)x.length[i]; /* not more than the whole has */
        SP_CHECK(s->e.bytes == wanted && dtype_of(s->e.dtype) == whole->dtype, SP_FORMAT,
                 "a slice has %llu bytes, %llu wanted", (unsigned long long)s->e.bytes, (unsigned long long)wanted);
        const uint8_t *from = shard->data + s->e.offset;
        if (to != NULL && wanted > 0) copy_slice(&x, whole, 0, &from, to, whole_bytes);
        *bytes += wanted;
    }
    return SP_OK;
}

static sp_status add_partitioned(reader *r, const char *name, const entry *e, sp_wire value)
{
    size_t bytes;
    uint64_t given = 0;
    sp_map *map = NULL;
    SP_TRY(sp__meta_bytes(&e->meta, &bytes));
    SP_TRY(each_slice(r, name, &e->meta, value, bytes, NULL, &given));
    SP_CHECK(given == bytes, SP_FORMAT, "is partitioned, and its slices have %llu bytes of %zu",
             (unsigned long long)given, bytes);
    SP_TRY(sp__map_create(bytes, &map));
    if (bytes > 0) memset(map->data, 0, bytes); /* slices that lie one over the other leave gaps */
    sp_status status = each_slice(r, name, &e->meta, value, bytes, map->data, &given);
    const sp_source s = {.data = map->data, .bytes = bytes, .map = map, .options = r->source->options};
    if (status == SP_OK) status = sp__source_add(&s, r->bundle, name, &e->meta, s.data, bytes);
    sp__map_release(map);
    return status;
}

/* --- all entries ------------------------------------------------------------------------------------------------- */

static sp_status on_entry(reader *r, const char *key, size_t key_bytes, sp_wire value)
{
    if (key_bytes > 0 && key[0] == '\0') return note_slice(r, key, key_bytes, value);
    if (key_bytes == 0 || strcmp(key, object_graph) == 0) return SP_OK;
    SP_CHECK(strlen(key) == key_bytes && sp__utf8_valid(key, key_bytes) == key_bytes, SP_FORMAT,
             "the name of a variable is not UTF-8");
    entry e;
    char shown[SP_NAME_SHOWN];
    char *name = sp__strdup(key);
    if (name == NULL) return SP_NOMEM;
    sp_status status = parse_entry(value, &e);
    e.meta.dtype = dtype_of(e.dtype);
    if (status == SP_OK && e.meta.dtype == SP_DTYPE_NONE)
        status = sp__fail(SP_FORMAT, "dtype number %llu is not supported", (unsigned long long)e.dtype);
    /* Texts (layer names, save counters' keys) belong to the program, not to the weights. */
    if (status == SP_OK && e.meta.dtype != SP_DTYPE_STR)
        status = e.sliced ? add_partitioned(r, name, &e, value) : add_entry(r, name, &e);
    if (status != SP_OK) sp__error_context("variable '%s'", sp__name_shown(key, key_bytes, shown));
    sp__free(name);
    return status;
}

static sp_status on_header(reader *r, const char *key, size_t key_bytes, sp_wire w)
{
    (void)key;
    uint64_t order = 0;
    if (key_bytes != 0) return SP_OK;
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) SP_TRY(sp__wire_take_number(&w, "num_shards", type, &r->n_shards));
        else if (number == 2) SP_TRY(sp__wire_take_number(&w, "endianness", type, &order));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    SP_CHECK(order == 0, SP_FORMAT, "was written on a big-endian machine, which is not supported");
    SP_CHECK(r->n_shards <= SHARDS_MAX, SP_FORMAT, "claims %llu shards", (unsigned long long)r->n_shards);
    return SP_OK;
}

/* Entries of the index block: handles of the others. */
static sp_status header_of_block(reader *r, const char *key, size_t key_bytes, sp_wire handle)
{
    (void)key, (void)key_bytes;
    return r->n_shards == 0 ? read_block(r, handle, on_header) : SP_OK;
}

static sp_status object_graph_of_block(reader *r, const char *key, size_t key_bytes, sp_wire handle)
{
    (void)key, (void)key_bytes;
    return read_block(r, handle, on_object_graph);
}

static sp_status entries_of_block(reader *r, const char *key, size_t key_bytes, sp_wire handle)
{
    (void)key, (void)key_bytes;
    return read_block(r, handle, on_entry);
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

static bool probe(const sp_source *s)
{
    return s->bytes >= FOOTER_BYTES && memcmp(s->data + s->bytes - MAGIC_BYTES, magic, MAGIC_BYTES) == 0;
}

static sp_status read_table(reader *r)
{
    const sp_source *s = r->source;
    sp_wire footer = {s->data, s->data + s->bytes - FOOTER_BYTES, s->data + s->bytes - MAGIC_BYTES}, ignored;
    SP_TRY(read_handle(&footer, s, &ignored));
    SP_TRY(read_block(r, footer, header_of_block));
    SP_CHECK(r->n_shards > 0, SP_FORMAT, "has no header");
    r->shards = sp__alloc_zero((size_t)r->n_shards * sizeof *r->shards);
    if (r->shards == NULL) return SP_NOMEM;
    SP_TRY(read_block(r, footer, object_graph_of_block));
    sort_listed(r);
    return read_block(r, footer, entries_of_block);
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    static const char ending[] = ".index";
    SP_CHECK(probe(s), SP_FORMAT, "is no index of a TensorFlow checkpoint: its end is missing");
    reader r = {.source = s, .bundle = bundle, .stem = ""};
    if (s->path != NULL) {
        const char *slash = strrchr(s->path, '/');
        r.stem = slash == NULL ? s->path : slash + 1;
        r.stem_bytes = strlen(r.stem);
        if (r.stem_bytes > sizeof ending - 1 && strcmp(r.stem + r.stem_bytes - (sizeof ending - 1), ending) == 0)
            r.stem_bytes -= sizeof ending - 1;
    }
    sp_status status = read_table(&r);
    for (uint64_t i = 0; r.shards != NULL && i < r.n_shards; i++) sp__source_close(&r.shards[i]);
    sp__free(r.shards);
    for (size_t i = 0; i < r.n_slices; i++) sp__free(r.slices[i].key);
    sp__free(r.slices);
    for (size_t i = 0; i < r.n_listed; i++) {
        sp__free(r.listed[i].key);
        sp__free(r.listed[i].name);
    }
    sp__free(r.listed);
    return status;
}

const sp_format sp__format_tensorflow = {
    .name = "tensorflow",
    .title = "TensorFlow checkpoint",
    .extensions = ".index",
    .probe = probe,
    .read = read_file,
};
