/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h - what bundle.c shares with the formats. */
#ifndef SPORE_BUNDLE_H
#define SPORE_BUNDLE_H

#include "base/file.h"
#include "spore/format.h"
#include "tensor/tensor_impl.h"

/* Number of leading bytes that are whole UTF-8 characters: equal to `bytes` when all of the text is. */
size_t sp__utf8_valid(const char *text, size_t bytes);

/* The character c at `at`; 1 to 4 bytes, which is the answer. */
size_t sp__utf8_put(char *at, uint32_t c);
/* n characters of UTF-32 (little-endian, any alignment) as a text entry; NULs at the end do not belong to it. SP_FORMAT
 * when one of them does not exist. */
sp_status sp__bundle_add_utf32(sp_bundle *bundle, const char *name, const uint8_t *chars, size_t n);
/* Valid UTF-8 as UTF-32, at least one character (NUL for the empty text); the caller frees *out. */
sp_status sp__utf32_from(const char *text, size_t bytes, uint32_t **out, size_t *n);

/* A name for messages: printable, and short enough to leave room for what went wrong. */
#define SP_NAME_SHOWN 96
const char *sp__name_shown(const char *name, size_t bytes, char out[SP_NAME_SHOWN]);

/* A run of bytes in memory. */
typedef struct sp_piece {
    const uint8_t *data;
    size_t bytes;
} sp_piece;

/* One after the other into `out`. */
void sp__pieces_join(const sp_piece *pieces, size_t n_pieces, void *out);

/* Append or replace an entry whose contents are pieces of a map, to be copied when asked for. Their bytes together must
 * be those of the shape; bools must be 0 or 1. The map is retained, the pieces are copied. */
sp_status sp__bundle_add_waiting(sp_bundle *bundle, const char *name, const sp_meta *meta, const sp_piece *pieces,
                                 size_t n_pieces, sp_map *map);

void sp__bundle_set_format(sp_bundle *bundle, const sp_format *format);

/* An entry's contents in order, without making a tensor of what waits in its file. */
typedef struct sp_contents {
    sp_meta meta;
    size_t bytes;
    const sp_piece *pieces;
    size_t n_pieces;
    sp_piece only;    /* pieces[0] of a tensor in memory */
    sp_tensor *whole; /* row-major, kept while the value is in use */
} sp_contents;

/* Are the files behind its tensors still what they were when they were opened? SP_IO if not. */
sp_status sp__bundle_check(const sp_bundle *bundle);
/* Entry i must be a tensor. Ends with sp__contents_release. */
sp_status sp__bundle_contents(const sp_bundle *bundle, int64_t i, sp_contents *out);
void sp__contents_release(sp_contents *v);

#endif
