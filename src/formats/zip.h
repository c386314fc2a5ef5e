/* SPDX-License-Identifier: Apache-2.0 */
/* zip.h - zip archives, read and written: the shell of .npz files and of PyTorch's. */
#ifndef SPORE_ZIP_H
#define SPORE_ZIP_H

#include "formats/format_impl.h"

/* --- reading ----------------------------------------------------------------------------------------------------- */

typedef struct sp_zip_entry {
    const char *name; /* NUL-terminated copy */
    const uint8_t *data;
    uint64_t packed_bytes; /* in the archive */
    uint64_t bytes;        /* unpacked */
    uint32_t crc;
    bool deflated; /* else stored as it is */
} sp_zip_entry;

typedef struct sp_zip {
    size_t count;
    sp_zip_entry *entries;
    char *names;
    size_t next; /* where the next search begins: members are mostly asked for in their order */
} sp_zip;

bool sp__zip_probe(const sp_source *s);
/* `wanted` of a format that is an archive: it begins as one, but the directory at its end is missing. */
uint64_t sp__zip_wanted(const sp_source *s);
/* All members; refuses encrypted ones, methods other than stored and deflated, members that overlap or leave the
 * archive, and sizes that no compression can reach. */
sp_status sp__zip_open(const sp_source *s, sp_zip *out);
void sp__zip_close(sp_zip *zip);                                 /* zeroed is fine */
const sp_zip_entry *sp__zip_find(sp_zip *zip, const char *name); /* NULL if there is none */
/* The first bytes of a member, at most `room`; as many as there are. */
sp_status sp__zip_peek(const sp_zip_entry *entry, uint8_t *out, size_t room, size_t *bytes);
/* The member as a source: inside s when it is stored, unpacked into memory of its own otherwise. Ends with
 * sp__source_close. With SP_FILE_CRC its checksum is compared; what is unpacked always is. */
sp_status sp__zip_source(const sp_source *s, const sp_zip_entry *entry, sp_source *out);

/* --- writing ----------------------------------------------------------------------------------------------------- */

typedef struct sp_zip_out sp_zip_out;

sp_status sp__zip_out_create(sp_sink *sink, sp_zip_out **out);
/* A member: `head`, then the contents of v (may be NULL). Stored members have their contents aligned to 64 bytes behind
 * the head when the head's length is a multiple of 64. */
sp_status sp__zip_out_add(sp_zip_out *zip, const char *name, const void *head, size_t head_bytes, const sp_contents *v,
                          bool deflate);
sp_status sp__zip_out_finish(sp_zip_out *zip);
void sp__zip_out_release(sp_zip_out *zip); /* NULL is fine */

#endif
