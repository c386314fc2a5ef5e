/* SPDX-License-Identifier: Apache-2.0 */
/* h5_new.c - HDF5 in the layout of libver="latest": objects, groups and chunks that h5.c does not know. Checksums are not compared.
 *
 *   header    "OHDR" | 2 | flags | [times 16] | [limits 4] | bytes of messages (1, 2, 4 or 8) | messages | checksum
 *   message   type 1, bytes 2, flags 1, [order 2], data; type 16: further messages, behind "OCHK"
 *   link      1 | flags | [kind] | [order 8] | [character set] | bytes of the name (1, 2, 4 or 8) | name | address of the object header
 *   heap      "FRHP" ...: blocks of doubling size, rows of `width` of them; "FHIB" lists blocks, "FHDB" holds objects
 *   tree      "BTHD" ...: "BTIN" nodes with children, "BTLF" leaves; a record of links is hash 4, identifier in the heap
 *   chunks    a single one, all side by side, or a table of them ("FAHD", "FADB"); tables that can grow are refused */
#include <string.h>

#include "base/stack.h"
#include "formats/h5.h"

enum { CHUNK_SINGLE = 1, CHUNK_SIDE_BY_SIDE = 2, CHUNK_TABLE = 3 };

/* --- objects ----------------------------------------------------------------------------------------------------- */

static sp_status read_block(const uint8_t *p, const uint8_t *end, bool ordered, sp_h5_object *o, sp_h5_parts *parts)
{
    const ptrdiff_t head = ordered ? 6 : 4;
    while (end - p >= head) {
        unsigned type = p[0];
        size_t n = (size_t)sp__le(p + 1, 2);
        bool shared = p[3] & 2; /* stands elsewhere: types with names of their own */
        p += head;
        SP_CHECK(n <= (size_t)(end - p), SP_FORMAT, "a message of %zu bytes leaves its object header", n);
        if (type == 16) SP_TRY(sp__h5_note_part(p, n, parts));
        else if (!shared) SP_TRY(sp__h5_message(type, p, n, o));
        p += n;
    }
    return SP_OK;
}

sp_status sp__h5_new_object(const sp_h5 *r, uint64_t address, sp_h5_object *o)
{
    const uint8_t *p = NULL;
    SP_TRY(sp__h5_marked(r, address, "OHDR", 16, &p));
    SP_CHECK(p[4] == 2, SP_FORMAT, "address %llu: an object header of version %u", (unsigned long long)address, p[4]);
    unsigned flags = p[5], size = 1u << (flags & 3), at = 6 + (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0);
    bool ordered = flags & 4;
    SP_TRY(sp__h5_at(r, address, at + size, &p));
    uint64_t bytes = sp__le(p + at, (int)size);
    sp_h5_parts parts = {.left = r->source->bytes};
    SP_CHECK(bytes <= r->source->bytes, SP_FORMAT, "an object header of %llu bytes", (unsigned long long)bytes);
    SP_TRY(sp__h5_at(r, address, at + size + bytes, &p));
    SP_TRY(read_block(p + at + size, p + at + size + bytes, ordered, o, &parts));
    while (parts.n > 0) {
        uint64_t n = parts.bytes[--parts.n];
        SP_TRY(sp__h5_marked(r, parts.address[parts.n], "OCHK", n, &p));
        SP_TRY(read_block(p + 4, p + n - 4, ordered, o, &parts));
    }
    return SP_OK;
}

sp_status sp__h5_new_link(const uint8_t *p, size_t n, sp_h5_link *out)
{
    SP_CHECK(n >= 2 && p[0] == 1, SP_FORMAT, "a link of version %u", n > 0 ? p[0] : 0u);
    unsigned flags = p[1], size = 1u << (flags & 3);
    size_t at = 2 + (flags & 8 ? 1 : 0), kind_at = 2;
    at += (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
    SP_CHECK(n >= at + size, SP_FORMAT, "a link is cut");
    uint64_t bytes = sp__le(p + at, (int)size);
    at += size;
    bool hard = !(flags & 8) || p[kind_at] == 0;
    SP_CHECK(bytes <= n - at && (!hard || n - at - bytes >= 8), SP_FORMAT, "a link is cut");
    *out = (sp_h5_link){(const char *)p + at, (size_t)bytes, hard ? sp__le(p + at + bytes, 8) : UINT64_MAX};
    return SP_OK;
}

/* --- links in a heap --------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t root, start, most; /* first block; bytes of the smallest and of the largest block that holds objects */
    unsigned rows, width, id_bytes, offset_bytes, length_bytes;
} heap;

static unsigned log2_of(uint64_t x)
{
    unsigned n = 0;
    while (x >>= 1) n++;
    return n;
}

static sp_status read_heap(const sp_h5 *r, uint64_t address, heap *out)
{
    const uint8_t *p = NULL;
    SP_TRY(sp__h5_marked(r, address, "FRHP", 146, &p));
    SP_CHECK(sp__le(p + 7, 2) == 0, SP_FORMAT, "a heap of links that went through filters");
    unsigned bits = (unsigned)sp__le(p + 128, 2);
    *out = (heap){.root = sp__le(p + 132, 8),
                  .start = sp__le(p + 112, 8),
                  .most = sp__le(p + 120, 8),
                  .rows = (unsigned)sp__le(p + 140, 2),
                  .width = (unsigned)sp__le(p + 110, 2),
                  .id_bytes = (unsigned)sp__le(p + 5, 2),
                  .offset_bytes = (bits + 7) / 8};
    uint64_t object = sp__le(p + 10, 4);
    SP_CHECK(out->start > 0 && out->most >= out->start && out->most < (uint64_t)1 << 40 && out->width > 0 && bits > 0 &&
                 bits <= 64 && object > 0,
             SP_FORMAT, "address %llu: a heap with impossible sizes", (unsigned long long)address);
    unsigned of_block = (log2_of(out->most) + 7) / 8, of_object = log2_of(object) / 8 + 1;
    out->length_bytes = of_block < of_object ? of_block : of_object;
    SP_CHECK(1 + out->offset_bytes + out->length_bytes <= out->id_bytes, SP_FORMAT,
             "address %llu: a heap with impossible sizes", (unsigned long long)address);
    return SP_OK;
}

/* n bytes at an offset of the heap, which counts through all of its blocks. */
static sp_status find_object(const sp_h5 *r, const heap *h, uint64_t offset, uint64_t n, const uint8_t **out)
{
    uint64_t block = h->root;
    unsigned rows = h->rows, direct = log2_of(h->most) - log2_of(h->start) + 2;
    for (int depth = 0; rows > 0; depth++) {
        const uint8_t *p = NULL;
        unsigned row = 0;
        uint64_t size = h->start, at;
        SP_CHECK(depth < SP_H5_DEPTH_MAX, SP_FORMAT, "a heap is too deep");
        while (row < rows && offset >= size * h->width) {
            offset -= size * h->width;
            size = row == 0 ? size : size * 2;
            row++;
            SP_CHECK(row < 48, SP_FORMAT, "an object lies outside its heap");
        }
        SP_CHECK(row < rows, SP_FORMAT, "an object lies outside its heap");
        at = 13 + h->offset_bytes + 8 * (row * (uint64_t)h->width + offset / size);
        SP_TRY(sp__h5_marked(r, block, "FHIB", at + 8, &p));
        block = sp__le(p + at, 8);
        offset %= size;
        if (row < direct) break;
        rows = log2_of(size) - log2_of(h->start * h->width) + 1;
        SP_CHECK(size >= h->start * h->width, SP_FORMAT, "a heap with impossible sizes");
    }
    uint64_t place;
    SP_CHECK(!__builtin_add_overflow(block, offset, &place), SP_FORMAT, "an object lies outside its heap");
    return sp__h5_at(r, place, n, out);
}

typedef struct {
    const heap *heap;
    uint64_t node_bytes;
    unsigned record, depth;
    sp_h5_link_fn fn;
    int level; /* of groups */
} walk;

static sp_status visit_record(sp_h5 *r, const walk *w, const uint8_t *id)
{
    const heap *h = w->heap;
    const uint8_t *p = NULL;
    sp_h5_link link;
    SP_CHECK((id[0] >> 4 & 3) == 0, SP_FORMAT, "a link that does not lie in a block of its heap");
    uint64_t offset = sp__le(id + 1, (int)(h->offset_bytes > 8 ? 8 : h->offset_bytes)),
             n = sp__le(id + 1 + h->offset_bytes, (int)h->length_bytes);
    SP_TRY(find_object(r, h, offset, n, &p));
    SP_TRY(sp__h5_new_link(p, (size_t)n, &link));
    return w->fn(r, &link, w->level);
}

static unsigned bytes_for(uint64_t n) { return log2_of(n) / 8 + 1; }

/* A node of the tree with n records; depth 0: a leaf. `most`: records that a node below can have, with all below it. */
static sp_status visit_node(sp_h5 *r, const walk *w, uint64_t address, uint64_t n, unsigned depth)
{
    const uint8_t *p = NULL;
    SP_CHECK(r->visits++ < SP_H5_VISITS_MAX, SP_FORMAT, "a tree of links contains itself");
    SP_TRY(sp__stack_check());
    SP_TRY(sp__h5_marked(r, address, depth > 0 ? "BTIN" : "BTLF", 6 + n * w->record, &p));
    for (uint64_t i = 0; i < n; i++) SP_TRY(visit_record(r, w, p + 6 + i * w->record + 4));
    if (depth == 0) return SP_OK;
    /* Children: address, number of records, and below the lowest level but one the number with all below. */
    uint64_t most = (w->node_bytes - 10) / w->record, total = most;
    unsigned size = bytes_for(most);
    for (unsigned d = 1; d < depth; d++) {
        unsigned child = 8 + size + (d > 1 ? bytes_for(total) : 0);
        SP_CHECK(w->node_bytes > 10 + child, SP_FORMAT, "a tree of links with impossible sizes");
        uint64_t inner = (w->node_bytes - 10 - child) / (w->record + child);
        SP_CHECK(inner < 1 << 20 && total < (uint64_t)1 << 40, SP_FORMAT, "a tree of links with impossible sizes");
        total = (inner + 1) * total + inner;
    }
    unsigned child = 8 + size + (depth > 1 ? bytes_for(total) : 0);
    uint64_t at = 6 + n * w->record;
    SP_TRY(sp__h5_at(r, address, at + (n + 1) * child, &p));
    for (uint64_t i = 0; i <= n; i++)
        SP_TRY(visit_node(r, w, sp__le(p + at + i * child, 8), sp__le(p + at + i * child + 8, (int)size), depth - 1));
    return SP_OK;
}

sp_status sp__h5_dense_links(sp_h5 *r, const sp_h5_object *o, sp_h5_link_fn fn, int depth)
{
    const uint8_t *p = NULL;
    heap h;
    SP_TRY(read_heap(r, o->heap, &h));
    SP_TRY(sp__h5_marked(r, o->tree, "BTHD", 38, &p));
    walk w = {.heap = &h,
              .node_bytes = sp__le(p + 6, 4),
              .record = (unsigned)sp__le(p + 10, 2),
              .depth = (unsigned)sp__le(p + 12, 2),
              .fn = fn,
              .level = depth};
    uint64_t root = sp__le(p + 16, 8), n = sp__le(p + 24, 2);
    SP_CHECK(p[5] == 5 && w.record == 4 + h.id_bytes && w.node_bytes > 10 + w.record && w.depth < SP_H5_DEPTH_MAX,
             SP_FORMAT, "a tree of kind %u where one of links is wanted", p[5]);
    return n == 0 ? SP_OK : visit_node(r, &w, root, n, w.depth);
}

/* --- chunks ------------------------------------------------------------------------------------------------------ */

/* 4 | 2 | flags | number of dimensions, the size of an element being the last | bytes of each | dimensions | index | what it needs | address */
sp_status sp__h5_new_layout(const uint8_t *p, size_t n, sp_h5_object *o)
{
    SP_CHECK(n >= 5 && p[3] >= 1 && p[3] - 1 <= SP_RANK_MAX && p[4] >= 1 && p[4] <= 8, SP_FORMAT, "a layout is cut");
    size_t at = 5 + (size_t)p[3] * p[4];
    SP_CHECK(n >= at + 1, SP_FORMAT, "a layout is cut");
    o->n_chunk_dims = p[3] - 1;
    for (int i = 0; i < o->n_chunk_dims; i++) o->chunk[i] = sp__le(p + 5 + i * p[4], p[4]);
    o->chunk_index = p[at++];
    SP_CHECK(o->chunk_index >= CHUNK_SINGLE && o->chunk_index <= CHUNK_TABLE, SP_FORMAT,
             "chunks of a dataset that can grow; write the file with libver=\"earliest\"");
    if (o->chunk_index == CHUNK_SINGLE && (p[2] & 2)) {
        SP_CHECK(n >= at + 12, SP_FORMAT, "a layout is cut");
        o->chunk_packed = sp__le(p + at, 8);
        o->chunk_skip = sp__le(p + at + 8, 4);
        at += 12;
    }
    at += o->chunk_index == CHUNK_TABLE;
    SP_CHECK(n >= at + 8, SP_FORMAT, "a layout is cut");
    o->address = sp__le(p + at, 8);
    return SP_OK;
}

typedef struct {
    const sp_h5_object *o;
    uint64_t n, bytes; /* chunks, bytes of one */
    uint64_t across[SP_RANK_MAX];
    sp_h5_chunk_fn fn;
    const void *context;
} grid;

static sp_status give_chunk(sp_h5 *r, const grid *g, uint64_t i, uint64_t address, uint64_t packed, uint64_t skip)
{
    uint64_t start[SP_RANK_MAX];
    if (address == UINT64_MAX) return SP_OK; /* never written */
    for (int k = g->o->meta.rank; k-- > 0; i /= g->across[k]) start[k] = i % g->across[k] * g->o->chunk[k];
    return g->fn(r, g->context, address, packed, skip, start);
}

/* Entries [from, from + n) of a table, at `p`. */
static sp_status give_entries(sp_h5 *r, const grid *g, const uint8_t *p, unsigned entry, uint64_t from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++, p += entry) {
        bool filtered = entry > 8;
        uint64_t packed = filtered ? sp__le(p + 8, (int)entry - 12) : g->bytes;
        SP_TRY(give_chunk(r, g, from + i, sp__le(p, 8), packed, filtered ? sp__le(p + entry - 4, 4) : 0));
    }
    return SP_OK;
}

static sp_status table_chunks(sp_h5 *r, const grid *g)
{
    const uint8_t *p = NULL;
    SP_TRY(sp__h5_marked(r, g->o->address, "FAHD", 28, &p));
    unsigned entry = p[6], bits = p[7];
    uint64_t n = sp__le(p + 8, 8), block = sp__le(p + 16, 8);
    SP_CHECK((entry == 8 || (entry > 12 && entry <= 20)) && bits < 32 && n == g->n, SP_FORMAT,
             "a table of %llu chunks, %llu wanted", (unsigned long long)n, (unsigned long long)g->n);
    uint64_t page = (uint64_t)1 << bits, at = 14;
    if (block == UINT64_MAX) return SP_OK;
    if (n <= page) {
        SP_TRY(sp__h5_marked(r, block, "FADB", at + n * entry, &p));
        return give_entries(r, g, p + at, entry, 0, n);
    }
    /* In pages, each with a checksum; a bit tells whether it was ever written. */
    uint64_t pages = (n + page - 1) / page, marks = (pages + 7) / 8;
    SP_TRY(sp__h5_marked(r, block, "FADB", at + marks, &p));
    const uint8_t *written = p + at;
    at += marks + 4;
    for (uint64_t i = 0; i < pages; i++) {
        uint64_t here = n - i * page < page ? n - i * page : page;
        if (written[i / 8] >> (7 - i % 8) & 1) {
            SP_TRY(sp__h5_at(r, block, at + here * entry, &p));
            SP_TRY(give_entries(r, g, p + at, entry, i * page, here));
        }
        at += page * entry + 4;
    }
    return SP_OK;
}

sp_status sp__h5_new_chunks(sp_h5 *r, const sp_h5_object *o, uint64_t chunk_bytes, sp_h5_chunk_fn fn,
                            const void *context)
{
    grid g = {.o = o, .n = 1, .bytes = chunk_bytes, .fn = fn, .context = context};
    for (int k = 0; k < o->meta.rank; k++) {
        g.across[k] = ((uint64_t)o->meta.dims[k] + o->chunk[k] - 1) / o->chunk[k];
        SP_CHECK(!__builtin_mul_overflow(g.n, g.across[k], &g.n) && g.n <= r->source->bytes, SP_FORMAT,
                 "more chunks than the file has bytes");
    }
    if (g.n == 0) return SP_OK;
    if (o->chunk_index == CHUNK_TABLE) return table_chunks(r, &g);
    SP_CHECK(o->chunk_index == CHUNK_SIDE_BY_SIDE || g.n == 1, SP_FORMAT, "one chunk where %llu are wanted",
             (unsigned long long)g.n);
    for (uint64_t i = 0; i < g.n; i++)
        SP_TRY(give_chunk(r, &g, i, o->address + i * chunk_bytes, o->chunk_packed > 0 ? o->chunk_packed : chunk_bytes,
                          o->chunk_skip));
    return SP_OK;
}
