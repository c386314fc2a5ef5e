/* SPDX-License-Identifier: Apache-2.0 */
/* flatbuffer.h - flatbuffers, read in place with every distance and length checked.
 *
 * A table is a place in the file whose first 4 bytes lead back (signed) to its vtable: bytes of the vtable, bytes of the table, then
 * for each field the place inside the table, 0 when it is missing (2 bytes each). Tables, texts and vectors are named by the distance
 * to them (4 bytes); a vector begins with its length. Little-endian. */
#ifndef SPORE_FLATBUFFER_H
#define SPORE_FLATBUFFER_H

#include "formats/format_impl.h"

typedef struct sp_flat {
    const uint8_t *data;
    size_t bytes;
} sp_flat;

/* A vector: place of its first element and their number. A missing one is {0, 0}. */
typedef struct sp_flat_list {
    size_t at;
    uint64_t n;
} sp_flat_list;

/* n bytes at `at` as a number. */
sp_status sp__flat_get(const sp_flat *f, size_t at, int n, uint64_t *out);
/* Place of a field of the table at `table`; 0: it is missing. */
sp_status sp__flat_field(const sp_flat *f, size_t table, unsigned number, size_t *out);
/* What the 4 bytes at `at` lead to. */
sp_status sp__flat_follow(const sp_flat *f, size_t at, size_t *out);
/* A vector with elements of `element` bytes, which all lie in the file. */
sp_status sp__flat_vector(const sp_flat *f, size_t table, unsigned number, size_t element, sp_flat_list *out);
/* The table in a field; 0: it is missing. */
sp_status sp__flat_table(const sp_flat *f, size_t table, unsigned number, size_t *out);
/* The i-th table of a vector of tables. */
sp_status sp__flat_table_at(const sp_flat *f, const sp_flat_list *list, uint64_t i, size_t *out);
/* A number of so many bytes; 0 when it is missing. */
sp_status sp__flat_number(const sp_flat *f, size_t table, unsigned number, int bytes, uint64_t *out);
/* Elements of vectors of signed 32-bit numbers; the index is the caller's to check. */
sp_status sp__flat_int_at(const sp_flat *f, const sp_flat_list *list, uint64_t i, int64_t *out);

#endif
