/* SPDX-License-Identifier: Apache-2.0 */
/* h5.h - HDF5 files from inside: what h5.c (the layout that libraries write by default) and h5_new.c (libver="latest") share. */
#ifndef SPORE_H5_H
#define SPORE_H5_H

#include "formats/format_impl.h"
#include "base/byte_order.h"

enum { SP_H5_PATH_BYTES = 1024, SP_H5_FILTERS_MAX = 4, SP_H5_DEPTH_MAX = 32, SP_H5_VISITS_MAX = 1 << 20 };

typedef struct sp_h5 {
    const sp_source *source;
    sp_bundle *bundle;
    uint64_t base;
    int64_t visits;
    uint64_t claimed; /* bytes of what was unpacked, or never written, so far */
    char path[SP_H5_PATH_BYTES];
} sp_h5;

typedef struct sp_h5_link {
    const char *name; /* not terminated */
    size_t bytes;
    uint64_t address; /* of the object header; UINT64_MAX: a link of another kind */
} sp_h5_link;

/* What the messages of one object say. */
typedef struct sp_h5_object {
    bool is_group, has_space, has_type, has_layout;
    uint64_t tree, heap; /* groups of the old kind; of the new: dense links, UINT64_MAX for none */
    bool is_new;         /* a group of the new kind */
    sp_h5_link *links;   /* those in its header; freed by who asked for the object */
    size_t n_links, links_room;
    sp_meta meta;
    bool readable; /* numbers that we have, little-endian */
    size_t element;
    int layout;            /* 0 inside, 1 in one piece, 2 in chunks */
    const uint8_t *inside; /* layout 0 */
    uint64_t address, bytes;
    int n_chunk_dims;
    uint64_t chunk[SP_RANK_MAX];
    int chunk_index;                   /* how chunks are found: 0 a tree of the old kind, else the number in the file */
    uint64_t chunk_packed, chunk_skip; /* of a single chunk that went through filters */
    int n_filters;
    int filters[SP_H5_FILTERS_MAX];
} sp_h5_object;

/* Parts of an object header that are still to be read; the last that was found comes first. */
typedef struct sp_h5_parts {
    int n;
    uint64_t left; /* bytes that may still be named: parts that name each other end there */
    uint64_t address[64], bytes[64];
} sp_h5_parts;
/* A message of type 16 names a further part. */
sp_status sp__h5_note_part(const uint8_t *p, size_t n, sp_h5_parts *parts);

/* n bytes at an address; with a mark of four letters in front. */
sp_status sp__h5_at(const sp_h5 *r, uint64_t address, uint64_t n, const uint8_t **out);
sp_status sp__h5_marked(const sp_h5 *r, uint64_t address, const char *mark, uint64_t n, const uint8_t **out);
/* One message of an object header. */
sp_status sp__h5_message(unsigned type, const uint8_t *p, size_t n, sp_h5_object *o);

/* --- the new layout ---------------------------------------------------------------------------------------------- */

sp_status sp__h5_new_object(const sp_h5 *r, uint64_t address, sp_h5_object *o);
sp_status sp__h5_new_link(const uint8_t *p, size_t n, sp_h5_link *out);
sp_status sp__h5_new_layout(const uint8_t *p, size_t n, sp_h5_object *o);
/* Every link of a group that keeps them in a heap. */
typedef sp_status (*sp_h5_link_fn)(sp_h5 *r, const sp_h5_link *link, int depth);
sp_status sp__h5_dense_links(sp_h5 *r, const sp_h5_object *o, sp_h5_link_fn fn, int depth);
/* Every chunk that was written: where it is, its bytes in the file, filters that were left out, its first element per axis. */
typedef sp_status (*sp_h5_chunk_fn)(sp_h5 *r, const void *context, uint64_t address, uint64_t packed, uint64_t skip,
                                    const uint64_t *start);
sp_status sp__h5_new_chunks(sp_h5 *r, const sp_h5_object *o, uint64_t chunk_bytes, sp_h5_chunk_fn fn,
                            const void *context);

#endif
