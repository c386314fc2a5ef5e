/* SPDX-License-Identifier: Apache-2.0 */
/* h5.c - weights in HDF5 files, as Keras writes them (.h5, .weights.h5).
 *
 * Here are the structures that HDF5 libraries write by default; those of libver="latest" are in h5_new.c. Numbers are little-endian, addresses
 * have 8 bytes and count from the base address of the superblock.
 *
 *   superblock   89 "HDF" 0D 0A 1A 0A | version 0 or 1 ... | base address | .. | address of the root's object header
 *                version 2 or 3 | bytes of addresses, of lengths | flags | base address | .. | .. | address of the root's object header
 *   header       1 | number of messages 2 | references 4 | bytes 4 | at 16: messages: type 2, bytes 2, flags 1, 3 empty, data
 *   messages     1 dataspace, 3 datatype, 8 layout, 11 filters, 16 continuation (address, bytes), 17 group (tree, heap)
 *   tree         "TREE" | kind (0 group, 1 chunks) | level | entries 2 | neighbours 16 | key, child, key, child ...
 *   names        "SNOD" | .. | entries 2 | 40 bytes each: place of the name in the heap 8, object header 8 ...
 *   heap         "HEAP" | .. | bytes 8 | free 8 | address of the names
 *
 * Entries: datasets of numbers, called by their path ("layers/dense/vars/0"). Texts and other kinds are left out. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/stack.h"
#include "formats/h5.h"

enum { FILTER_DEFLATE = 1, FILTER_SHUFFLE = 2, FILTER_CHECKSUM = 3 };

static const uint8_t magic[8] = {0x89, 'H', 'D', 'F', 0x0D, 0x0A, 0x1A, 0x0A};

/* --- places ------------------------------------------------------------------------------------------------------ */

sp_status sp__h5_at(const sp_h5 *r, uint64_t address, uint64_t n, const uint8_t **out)
{
    uint64_t place;
    SP_CHECK(!__builtin_add_overflow(address, r->base, &place) && place <= r->source->bytes &&
                 n <= r->source->bytes - place,
             SP_FORMAT, "%llu bytes at address %llu do not lie in the file", (unsigned long long)n,
             (unsigned long long)address);
    *out = r->source->data + place;
    return SP_OK;
}

sp_status sp__h5_marked(const sp_h5 *r, uint64_t address, const char *mark, uint64_t n, const uint8_t **out)
{
    SP_TRY(sp__h5_at(r, address, n, out));
    SP_CHECK(memcmp(*out, mark, 4) == 0, SP_FORMAT, "address %llu: \"%s\" is missing", (unsigned long long)address,
             mark);
    return SP_OK;
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

static sp_status read_space(const uint8_t *p, size_t n, sp_h5_object *o)
{
    SP_CHECK(n >= 4 && (p[0] == 1 || p[0] == 2), SP_FORMAT, "a dataspace of version %u", n > 0 ? p[0] : 0u);
    size_t head = p[0] == 1 ? 8 : 4, rank = p[1];
    SP_CHECK(rank <= SP_RANK_MAX, SP_FORMAT, "%zu dimensions, at most %d are possible", rank, SP_RANK_MAX);
    SP_CHECK(n >= head + 8 * rank, SP_FORMAT, "a dataspace is cut");
    o->meta.rank = (int)rank;
    for (size_t i = 0; i < rank; i++) {
        uint64_t dim = sp__le(p + head + 8 * i, 8);
        SP_CHECK(dim <= INT64_MAX, SP_FORMAT, "dimension %zu is too large", i);
        o->meta.dims[i] = (int64_t)dim;
    }
    o->has_space = true;
    return SP_OK;
}

static sp_status read_type(const uint8_t *p, size_t n, sp_h5_object *o)
{
    static const sp_dtype ints[2][4] = {{SP_DTYPE_U8, SP_DTYPE_U16, SP_DTYPE_U32, SP_DTYPE_U64},
                                        {SP_DTYPE_I8, SP_DTYPE_I16, SP_DTYPE_I32, SP_DTYPE_I64}};
    SP_CHECK(n >= 8, SP_FORMAT, "a datatype is cut");
    int kind = p[0] & 15, little = !(p[1] & 1), is_signed = p[1] >> 3 & 1;
    uint64_t bytes = sp__le(p + 4, 4);
    o->element = (size_t)bytes;
    o->has_type = true;
    int size = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
    o->readable = little && size >= 0 && (kind == 0 || (kind == 1 && size > 0) || (kind == 8 && size == 0));
    if (!o->readable) return SP_OK;
    if (kind == 0) o->meta.dtype = ints[is_signed][size];
    else if (kind == 8) o->meta.dtype = SP_DTYPE_BOOL; /* an enumeration of one byte: how h5py stores bools */
    else o->meta.dtype = size == 1 ? SP_DTYPE_F16 : size == 2 ? SP_DTYPE_F32 : SP_DTYPE_F64;
    return SP_OK;
}

static sp_status read_layout(const uint8_t *p, size_t n, sp_h5_object *o)
{
    SP_CHECK(n >= 2 && (p[0] == 3 || p[0] == 4), SP_FORMAT,
             "layout version %u is not supported; write the file with libver=\"earliest\"", n > 0 ? p[0] : 0u);
    o->layout = p[1];
    o->has_layout = true;
    SP_CHECK(o->layout <= 2, SP_FORMAT, "layout class %d is not known", o->layout);
    if (o->layout == 0) {
        SP_CHECK(n >= 4 && n - 4 >= sp__le(p + 2, 2), SP_FORMAT, "compact contents are cut");
        o->inside = p + 4;
        o->bytes = sp__le(p + 2, 2);
    } else if (o->layout == 1) {
        SP_CHECK(n >= 18, SP_FORMAT, "a layout is cut");
        o->address = sp__le(p + 2, 8);
        o->bytes = sp__le(p + 10, 8);
    } else if (p[0] == 4) {
        return sp__h5_new_layout(p, n, o);
    } else {
        SP_CHECK(n >= 11 && p[2] >= 1 && p[2] - 1 <= SP_RANK_MAX && n >= 11 + 4 * (size_t)p[2], SP_FORMAT,
                 "a layout is cut");
        o->n_chunk_dims = p[2] - 1; /* the last one is the size of an element */
        o->address = sp__le(p + 3, 8);
        for (int i = 0; i < o->n_chunk_dims; i++) o->chunk[i] = sp__le(p + 11 + 4 * i, 4);
    }
    return SP_OK;
}

static sp_status read_filters(const uint8_t *p, size_t n, sp_h5_object *o)
{
    SP_CHECK(n >= 2 && (p[0] == 1 || p[0] == 2), SP_FORMAT, "filters of version %u", n > 0 ? p[0] : 0u);
    bool old = p[0] == 1;
    size_t place = old ? 8 : 2;
    SP_CHECK(p[1] <= SP_H5_FILTERS_MAX, SP_FORMAT, "%u filters", p[1]);
    for (int i = 0; i < p[1]; i++) {
        SP_CHECK(n >= place + 6, SP_FORMAT, "the description of filters is cut");
        int id = (int)sp__le(p + place, 2);
        bool named = old || id >= 256;
        SP_CHECK(n >= place + (named ? 8 : 6), SP_FORMAT, "the description of filters is cut");
        size_t n_name = named ? (size_t)sp__le(p + place + 2, 2) : 0;
        size_t n_values = (size_t)sp__le(p + place + (named ? 6 : 4), 2);
        place += (named ? 8 : 6) + (old ? (n_name + 7) / 8 * 8 : n_name) + 4 * (n_values + (old && n_values % 2));
        SP_CHECK(place <= n, SP_FORMAT, "the description of filters is cut");
        SP_CHECK(id == FILTER_DEFLATE || id == FILTER_SHUFFLE || id == FILTER_CHECKSUM, SP_FORMAT,
                 "compressed with filter %d; 1 (gzip), 2 (shuffle) and 3 (checksum) are supported", id);
        o->filters[o->n_filters++] = id;
    }
    return SP_OK;
}

static sp_status add_link(const uint8_t *p, size_t n, sp_h5_object *o)
{
    if (o->n_links == o->links_room) {
        size_t room = o->links_room > 0 ? 2 * o->links_room : 8;
        sp_h5_link *more = sp__realloc(o->links, o->links_room * sizeof *more, room * sizeof *more);
        if (more == NULL) return SP_NOMEM;
        o->links = more;
        o->links_room = room;
    }
    o->is_group = o->is_new = true;
    return sp__h5_new_link(p, n, &o->links[o->n_links++]);
}

/* Where the links of a group are that does not have them in its header. */
static sp_status read_link_info(const uint8_t *p, size_t n, sp_h5_object *o)
{
    size_t at = n >= 2 && (p[1] & 1) ? 10 : 2; /* a counter in front */
    SP_CHECK(n >= at + 16 && p[0] == 0, SP_FORMAT, "a group is cut");
    o->is_group = o->is_new = true;
    o->heap = sp__le(p + at, 8);
    o->tree = sp__le(p + at + 8, 8);
    return SP_OK;
}

sp_status sp__h5_message(unsigned type, const uint8_t *p, size_t n, sp_h5_object *o)
{
    switch (type) {
    case 1: return read_space(p, n, o);
    case 3: return read_type(p, n, o);
    case 8: return read_layout(p, n, o);
    case 11: return read_filters(p, n, o);
    case 17:
        SP_CHECK(n >= 16, SP_FORMAT, "a group is cut");
        o->is_group = true;
        o->tree = sp__le(p, 8);
        o->heap = sp__le(p + 8, 8);
        return SP_OK;
    case 2: return read_link_info(p, n, o);
    case 6: return add_link(p, n, o);
    default: return SP_OK;
    }
}

sp_status sp__h5_note_part(const uint8_t *p, size_t n, sp_h5_parts *parts)
{
    uint64_t bytes = n >= 16 ? sp__le(p + 8, 8) : 0;
    SP_CHECK(bytes >= 8 && bytes <= parts->left && parts->n < 64, SP_FORMAT,
             "an object header of too many parts, or of one of %llu bytes", (unsigned long long)bytes);
    parts->left -= bytes;
    parts->address[parts->n] = sp__le(p, 8);
    parts->bytes[parts->n++] = bytes;
    return SP_OK;
}

/* Messages of one part; further parts are remembered and read after it. */
static sp_status read_messages(const sp_h5 *r, uint64_t address, uint64_t bytes, sp_h5_object *o, sp_h5_parts *parts,
                               int *left)
{
    const uint8_t *p = NULL;
    SP_TRY(sp__h5_at(r, address, bytes, &p));
    const uint8_t *end = p + bytes;
    while (end - p >= 8 && *left > 0) {
        unsigned type = (unsigned)sp__le(p, 2);
        size_t n = (size_t)sp__le(p + 2, 2);
        SP_CHECK(n <= (size_t)(end - p) - 8, SP_FORMAT, "a message of %zu bytes leaves its object header", n);
        if (type == 16) SP_TRY(sp__h5_note_part(p + 8, n, parts));
        else SP_TRY(sp__h5_message(type, p + 8, n, o));
        p += 8 + n;
        --*left;
    }
    return SP_OK;
}

static sp_status read_object(const sp_h5 *r, uint64_t address, sp_h5_object *o)
{
    const uint8_t *p = NULL;
    memset(o, 0, sizeof *o);
    o->heap = o->tree = UINT64_MAX;
    SP_TRY(sp__h5_at(r, address, 16, &p));
    if (memcmp(p, "OHDR", 4) == 0) return sp__h5_new_object(r, address, o);
    SP_CHECK(p[0] == 1, SP_FORMAT, "address %llu: no object header", (unsigned long long)address);
    int left = (int)sp__le(p + 2, 2);
    sp_h5_parts parts = {.n = 1, .left = r->source->bytes, .address = {address + 16}, .bytes = {sp__le(p + 8, 4)}};
    while (parts.n > 0 && left > 0) {
        parts.n--;
        SP_TRY(read_messages(r, parts.address[parts.n], parts.bytes[parts.n], o, &parts, &left));
    }
    return SP_OK;
}

/* --- contents ---------------------------------------------------------------------------------------------------- */

static void unshuffle(uint8_t *data, const uint8_t *from, size_t bytes, size_t element)
{
    size_t n = bytes / element;
    for (size_t k = 0; k < element; k++)
        for (size_t i = 0; i < n; i++) data[i * element + k] = from[k * n + i];
    memcpy(data + n * element, from + n * element, bytes - n * element);
}

/* Undo the filters of a chunk of `bytes` plain bytes, into `out`. `spare` has as much room. */
static sp_status unfilter(const sp_h5_object *o, const uint8_t *data, uint64_t packed, uint64_t skip, uint8_t *out,
                          uint8_t *spare, size_t bytes)
{
    const uint8_t *from = data;
    size_t n = (size_t)packed;
    for (int i = o->n_filters; i-- > 0;) {
        if (skip >> i & 1) continue;
        if (o->filters[i] == FILTER_CHECKSUM) {
            SP_CHECK(n >= 4, SP_FORMAT, "a chunk is cut");
            n -= 4;
            continue;
        }
        uint8_t *to = from == out ? spare : out;
        if (o->filters[i] == FILTER_DEFLATE) {
            uLongf room = bytes;
            const int result = uncompress(to, &room, from, (uLong)n);
            SP_CHECK(result != Z_MEM_ERROR, SP_NOMEM, "out of memory for unpacking");
            SP_CHECK(result == Z_OK && room == bytes, SP_FORMAT, "a compressed chunk is damaged");
            n = bytes;
        } else {
            SP_CHECK(n == bytes, SP_FORMAT, "a chunk of %zu bytes, %zu wanted", n, bytes);
            unshuffle(to, from, n, o->element);
        }
        from = to;
    }
    SP_CHECK(n == bytes, SP_FORMAT, "a chunk of %zu bytes, %zu wanted", n, bytes);
    if (from != out) memcpy(out, from, bytes);
    return SP_OK;
}

typedef struct {
    const sp_h5_object *o;
    uint8_t *whole;         /* the dataset */
    uint8_t *plain, *spare; /* one chunk */
    size_t chunk_bytes;
} assembly;

/* Rows of a chunk that begins at `start` into the whole; what hangs over the edge is left out. */
static void place_chunk(const assembly *a, const uint64_t *start, int axis, size_t from, size_t to)
{
    const sp_meta *m = &a->o->meta;
    uint64_t n = a->o->chunk[axis], room = (uint64_t)m->dims[axis] - start[axis];
    if (n > room) n = room;
    if (axis == m->rank - 1) {
        memcpy(a->whole + (to + (size_t)start[axis]) * a->o->element, a->plain + from * a->o->element,
               (size_t)n * a->o->element);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        place_chunk(a, start, axis + 1, (from + (size_t)i) * (size_t)a->o->chunk[axis + 1],
                    (to + (size_t)(start[axis] + i)) * (size_t)m->dims[axis + 1]);
}

/* One chunk of the file into the dataset. */
static sp_status put_chunk(sp_h5 *r, const void *context, uint64_t address, uint64_t packed, uint64_t skip,
                           const uint64_t *start)
{
    const assembly *a = context;
    const uint8_t *data = NULL;
    for (int k = 0; k < a->o->meta.rank; k++)
        SP_CHECK(start[k] < (uint64_t)a->o->meta.dims[k], SP_FORMAT, "a chunk lies outside its dataset");
    SP_TRY(sp__h5_at(r, address, packed, &data));
    SP_TRY(unfilter(a->o, data, packed, skip, a->plain, a->spare, a->chunk_bytes));
    place_chunk(a, start, 0, 0, 0);
    return SP_OK;
}

static sp_status read_chunks(sp_h5 *r, const assembly *a, uint64_t node, int depth)
{
    const uint8_t *p = NULL;
    int rank = a->o->meta.rank;
    size_t key = 8 + 8 * ((size_t)rank + 1), step = key + 8;
    SP_CHECK(depth < SP_H5_DEPTH_MAX && r->visits++ < SP_H5_VISITS_MAX, SP_FORMAT, "the tree of chunks is too deep");
    SP_TRY(sp__stack_check());
    SP_TRY(sp__h5_marked(r, node, "TREE", 24, &p));
    size_t n = (size_t)sp__le(p + 6, 2);
    int level = p[5];
    SP_CHECK(p[4] == 1, SP_FORMAT, "a tree of groups where one of chunks is wanted");
    SP_TRY(sp__h5_at(r, node, 24 + n * step, &p));
    for (size_t i = 0; i < n; i++) {
        const uint8_t *entry = p + 24 + i * step;
        uint64_t packed = sp__le(entry, 4), skip = sp__le(entry + 4, 4), child = sp__le(entry + key, 8),
                 start[SP_RANK_MAX];
        if (level > 0) {
            SP_TRY(read_chunks(r, a, child, depth + 1));
            continue;
        }
        for (int k = 0; k < rank; k++) start[k] = sp__le(entry + 8 + 8 * k, 8);
        SP_TRY(put_chunk(r, a, child, packed, skip, start));
    }
    return SP_OK;
}

/* What a file of this size can unpack to, all datasets together: deflate reaches 1,032 times. */
static sp_status claim(sp_h5 *r, size_t bytes)
{
    uint64_t most = 1100 * (uint64_t)r->source->bytes;
    SP_CHECK(bytes <= most && r->claimed <= most - bytes, SP_FORMAT,
             "claims %zu bytes, more than a file of %zu can hold", bytes, r->source->bytes);
    r->claimed += bytes;
    return SP_OK;
}

static sp_status add_chunked(sp_h5 *r, const sp_h5_object *o)
{
    size_t bytes = 0, chunk = o->element;
    SP_TRY(sp__meta_bytes(&o->meta, &bytes));
    SP_CHECK(o->n_chunk_dims == o->meta.rank && o->meta.rank > 0, SP_FORMAT, "chunks of %d dimensions for %d",
             o->n_chunk_dims, o->meta.rank);
    for (int i = 0; i < o->meta.rank; i++)
        SP_CHECK(o->chunk[i] > 0 && !__builtin_mul_overflow(chunk, o->chunk[i], &chunk), SP_FORMAT,
                 "chunks of no size");
    SP_CHECK(chunk / 1100 <= r->source->bytes, SP_FORMAT, "claims chunks of %zu bytes", chunk);
    SP_TRY(claim(r, bytes));
    sp_map *map = NULL;
    SP_TRY(sp__map_create(bytes, &map));
    assembly a = {.o = o, .whole = map->data, .chunk_bytes = chunk};
    a.plain = sp__alloc(chunk);
    a.spare = sp__alloc(chunk);
    sp_status status = a.plain != NULL && a.spare != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK && bytes > 0) {
        memset(map->data, 0, bytes); /* chunks that were never written */
        if (o->address != UINT64_MAX)
            status =
                o->chunk_index > 0 ? sp__h5_new_chunks(r, o, chunk, put_chunk, &a) : read_chunks(r, &a, o->address, 0);
    }
    sp_source s = {.data = map->data, .bytes = bytes, .map = map, .options = r->source->options};
    if (status == SP_OK) status = sp__source_add(&s, r->bundle, r->path, &o->meta, s.data, bytes);
    sp__free(a.plain);
    sp__free(a.spare);
    sp__map_release(map);
    return status;
}

static sp_status add_dataset(sp_h5 *r, const sp_h5_object *o)
{
    if (!o->readable || !o->has_space || !o->has_layout) return SP_OK;
    if (o->layout == 2) return add_chunked(r, o);
    const uint8_t *data = o->inside;
    if (o->layout == 1 && o->address == UINT64_MAX) { /* nothing was ever written: zeros */
        sp_tensor *t = NULL;
        size_t bytes;
        SP_TRY(sp__meta_bytes(&o->meta, &bytes));
        SP_TRY(claim(r, bytes));
        SP_TRY(sp__bundle_check_new(r->bundle, r->path));
        SP_TRY(sp_tensor_create_zeros(o->meta.dtype, o->meta.rank, o->meta.dims, &t));
        sp_status status = sp_bundle_add(r->bundle, r->path, t);
        sp_tensor_release(t);
        return status;
    }
    if (o->layout == 1) SP_TRY(sp__h5_at(r, o->address, o->bytes, &data));
    return sp__source_add(r->source, r->bundle, r->path, &o->meta, data, (size_t)o->bytes);
}

/* --- groups ------------------------------------------------------------------------------------------------------ */

static sp_status visit(sp_h5 *r, uint64_t address, int depth);

/* A member of a group, called `name`. */
static sp_status visit_named(sp_h5 *r, const char *name, size_t n, uint64_t address, int depth)
{
    size_t before = strlen(r->path);
    SP_CHECK(n > 0 && before + n + 2 < SP_H5_PATH_BYTES && memchr(name, '\0', n) == NULL &&
                 sp__utf8_valid(name, n) == n,
             SP_FORMAT, "a name is not UTF-8, or too long");
    snprintf(r->path + before, SP_H5_PATH_BYTES - before, "%s%.*s", before > 0 ? "/" : "", (int)n, name);
    sp_status status = visit(r, address, depth + 1);
    r->path[before] = '\0';
    return status;
}

/* The same, its name from the heap. */
static sp_status visit_member(sp_h5 *r, const uint8_t *names, uint64_t n_names, const uint8_t *entry, int depth)
{
    uint64_t place = sp__le(entry, 8), address = sp__le(entry + 8, 8);
    SP_CHECK(place < n_names, SP_FORMAT, "a name lies outside its heap");
    const char *name = (const char *)names + place;
    size_t n = strnlen(name, (size_t)(n_names - place));
    SP_CHECK(n < n_names - place, SP_FORMAT, "a name is cut");
    return visit_named(r, name, n, address, depth);
}

static sp_status visit_link(sp_h5 *r, const sp_h5_link *link, int depth)
{
    return link->address == UINT64_MAX ? SP_OK : visit_named(r, link->name, link->bytes, link->address, depth);
}

static sp_status visit_links(sp_h5 *r, const sp_h5_object *o, int depth)
{
    for (size_t i = 0; i < o->n_links; i++) SP_TRY(visit_link(r, &o->links[i], depth));
    return o->heap == UINT64_MAX ? SP_OK : sp__h5_dense_links(r, o, visit_link, depth);
}

static sp_status visit_tree(sp_h5 *r, uint64_t node, const uint8_t *names, uint64_t n_names, int depth)
{
    const uint8_t *p = NULL;
    SP_CHECK(depth < SP_H5_DEPTH_MAX && r->visits++ < SP_H5_VISITS_MAX, SP_FORMAT,
             "groups are nested too deep or contain themselves");
    SP_TRY(sp__stack_check());
    SP_TRY(sp__h5_at(r, node, 8, &p));
    if (memcmp(p, "SNOD", 4) == 0) {
        size_t n = (size_t)sp__le(p + 6, 2);
        SP_TRY(sp__h5_at(r, node, 8 + 40 * n, &p));
        for (size_t i = 0; i < n; i++) SP_TRY(visit_member(r, names, n_names, p + 8 + 40 * i, depth));
        return SP_OK;
    }
    SP_TRY(sp__h5_marked(r, node, "TREE", 24, &p));
    size_t n = (size_t)sp__le(p + 6, 2);
    SP_TRY(sp__h5_at(r, node, 24 + 8 + 16 * n, &p));
    for (size_t i = 0; i < n; i++) SP_TRY(visit_tree(r, sp__le(p + 24 + 8 + 16 * i, 8), names, n_names, depth + 1));
    return SP_OK;
}

static sp_status visit(sp_h5 *r, uint64_t address, int depth)
{
    sp_h5_object o;
    const uint8_t *heap = NULL, *names = NULL;
    SP_CHECK(depth < SP_H5_DEPTH_MAX && r->visits++ < SP_H5_VISITS_MAX, SP_FORMAT,
             "groups are nested too deep or contain themselves");
    SP_TRY(sp__stack_check());
    sp_status status = read_object(r, address, &o);
    if (status == SP_OK && !o.is_group) status = add_dataset(r, &o);
    if (status != SP_OK) {
        char shown[SP_NAME_SHOWN];
        sp__error_context("'%s'", sp__name_shown(r->path, strlen(r->path), shown));
    }
    if (status == SP_OK && o.is_new) status = visit_links(r, &o, depth);
    sp__free(o.links);
    if (status != SP_OK || !o.is_group || o.is_new) return status;
    SP_TRY(sp__h5_marked(r, o.heap, "HEAP", 32, &heap));
    uint64_t n_names = sp__le(heap + 8, 8);
    SP_TRY(sp__h5_at(r, sp__le(heap + 24, 8), n_names, &names));
    return visit_tree(r, o.tree, names, n_names, depth);
}

static bool probe(const sp_source *s) { return s->bytes >= 96 && memcmp(s->data, magic, sizeof magic) == 0; }

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    SP_CHECK(probe(s), SP_FORMAT, "is no HDF5 file");
    const uint8_t *d = s->data;
    bool new = d[8] == 2 || d[8] == 3;
    SP_CHECK(d[8] <= 3, SP_FORMAT, "superblock version %u is not supported; write the file with libver=\"earliest\"",
             d[8]);
    const uint8_t *sizes = d + (new ? 9 : 13);
    SP_CHECK(sizes[0] == 8 && sizes[1] == 8, SP_FORMAT, "addresses of %u bytes, 8 wanted", sizes[0]);
    sp_h5 r = {.source = s, .bundle = bundle};
    size_t place = new ? 12 : d[8] == 0 ? 24 : 28;
    r.base = sp__le(d + place, 8);
    return visit(&r, sp__le(d + place + (new ? 24 : 40), 8), 0);
}

/* The superblock knows where the file ends; where it does depends on the version. */
static uint64_t wanted(const sp_source *s)
{
    if (s->bytes < 96) return memcmp(s->data, magic, s->bytes < sizeof magic ? s->bytes : sizeof magic) == 0 ? 96 : 0;
    uint64_t end = 0;
    size_t at = s->data[8] == 0 ? 40 : s->data[8] == 1 ? 44 : 28;
    for (size_t i = 8; i-- > 0;) end = end << 8 | s->data[at + i];
    return end < (1ULL << 48) ? end : 0;
}

const sp_format sp__format_h5 = {
    .name = "h5",
    .title = "HDF5 file",
    .extensions = ".h5 .hdf5",
    .probe = probe,
    .wanted = wanted,
    .read = read_file,
};
