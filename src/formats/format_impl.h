/* SPDX-License-Identifier: Apache-2.0 */
/* format_impl.h - a format from inside: what it reads from, what it writes to, its entry in the list.
 *
 * Reading: the whole file lies in memory (a private mapping, or a block when it was encrypted or came from memory); a
 * format checks it and adds entries to a bundle with sp__source_add, which decides between a view, a copy now and a
 * copy later. Writing: bytes in order into a sink, which encrypts, counts and replaces the file at the end. */
#ifndef SPORE_FORMAT_IMPL_H
#define SPORE_FORMAT_IMPL_H

#include "formats/bundle.h"
#include "base/file.h"
#include "formats/wire.h"
#include "spore/format.h"
#include "tensor/tensor_impl.h"

/* --- reading ----------------------------------------------------------------------------------------------------- */

typedef struct sp_source {
    const char *path; /* NULL: from memory, without files beside it */
    const uint8_t *data;
    size_t bytes;
    sp_map *map;                    /* what `data` lies in; NULL: everything must be copied */
    const sp_file_options *options; /* never NULL */
} sp_source;

/* Pieces of s (row-major, this machine's byte order) as entry `name`, which is new or replaced. Their bytes together
 * must be those of the shape. Small ones are copied; of large ones the tensor is a view when they are in one piece and
 * aligned, and waits in the file otherwise. */
sp_status sp__source_put(const sp_source *s, sp_bundle *bundle, const char *name, const sp_meta *meta,
                         const sp_piece *pieces, size_t n_pieces);
/* One piece, which must have the bytes of the shape; SP_FORMAT if not, or if there is an entry of that name. */
sp_status
sp__source_add_part(const sp_source *s, const char *location, sp_bundle *bundle, const char *name, const sp_meta *meta,
                    uint64_t offset,
                    uint64_t length); /* the same of a file beside the model, called location; its size is looked at */
sp_status sp__source_add(const sp_source *s, sp_bundle *bundle, const char *name, const sp_meta *meta,
                         const uint8_t *data, size_t bytes);
/* A strided tensor (strides in elements, from 0 on) over [data, data + bytes), which the caller has found large enough;
 * becomes row-major now. The name must be new. */
sp_status sp__source_add_strided(const sp_source *s, sp_bundle *bundle, const char *name, const sp_meta *meta,
                                 const int64_t *strides, const uint8_t *data, size_t bytes);
/* Floats of 8 bits, which have no dtype here: the format (minifloat.h) that a name of safetensors or PyTorch stands for, NULL: none; and their
 * codes, an entry of uint8 without gaps, replaced by the values as bfloat16. */
const char *sp__small_float(const char *name);
sp_status sp__bundle_widen(sp_bundle *bundle, const char *name, const char *format);
/* A note that is a number. */
sp_status sp__bundle_note_number(sp_bundle *bundle, const char *key, uint64_t value);
/* SP_FORMAT when there is an entry of that name. */
sp_status sp__bundle_check_new(const sp_bundle *bundle, const char *name);
/* Another file, named in this one: must lie in the same folder or below; no "..", no absolute names. */
sp_status sp__source_open_beside(const sp_source *s, const char *name, sp_source *out);
/* A file, or a block of memory, decrypted when it is encrypted. Ends with sp__source_close. */
sp_status sp__source_open(const char *path, const sp_file_options *options, sp_source *out);
sp_status sp__source_open_memory(const void *data, size_t bytes, const sp_file_options *options, sp_source *out);
void sp__source_close(sp_source *s);
/* What it holds, by its options or contents. */
sp_status sp__source_format(const sp_source *s, const sp_format **out);
/* SP_FORMAT, saying what reads it, when it is a known kind of file that is none of ours; else SP_OK. */
sp_status sp__source_refuse_foreign(const sp_source *s);
/* After SP_FORMAT from reading it as that format: put the likely reason in front of the message. */
void sp__source_explain(const sp_source *s, const sp_format *format);
/* `wanted` of a protobuf message whose fields have numbers up to `most`. */
uint64_t sp__wire_wanted(const sp_source *s, uint32_t most);
/* The field of dimensions of a protobuf tensor: one number, or packed ones; appended to meta. */
sp_status sp__meta_take_dims(sp_wire *w, int type, sp_meta *meta);
/* bytes = elements of meta * element size; SP_FORMAT with the shape when it is not possible. */
sp_status sp__meta_bytes(const sp_meta *meta, size_t *bytes);

/* --- writing ----------------------------------------------------------------------------------------------------- */

typedef struct sp_sink sp_sink;

sp_status sp__sink_open(const char *path, const sp_file_options *options, uint64_t total_bytes, sp_sink **out);
/* The same into memory, which nothing replaces at the end. */
sp_status sp__sink_open_memory(sp_wire_out *memory, sp_sink **out);
const char *sp__sink_path(const sp_sink *sink);
const sp_file_options *sp__sink_options(const sp_sink *sink);
sp_status sp__sink_write(sp_sink *sink, const void *data, size_t bytes);
/* Bytes [from, from + bytes) of the contents of v. */
uint32_t sp__contents_crc(const sp_contents *v, size_t from, size_t bytes, uint32_t crc);
sp_status sp__sink_write_contents(sp_sink *sink, const sp_contents *v, size_t from, size_t bytes);
sp_status sp__sink_take_commit(sp_sink *sink); /* ends the sink, also on failure */
void sp__sink_abort(sp_sink *sink);            /* NULL is fine */

/* --- the entry --------------------------------------------------------------------------------------------------- */

struct sp_format {
    const char *name;
    const char *title;
    const char *extensions; /* " .pt .pth", the longest possible; used for saving and as a hint */
    /* Do the first bytes (or the last) look like it? Must be cheap and must not fail. */
    bool (*probe)(const sp_source *s);
    sp_status (*read)(const sp_source *s, sp_bundle *bundle);
    sp_status (*write)(sp_sink *sink, const sp_bundle *bundle); /* NULL: cannot be written */
    /* Bytes that the file has at least, by what its first ones say; 0: they do not. May be NULL. Asked when reading has failed. */
    uint64_t (*wanted)(const sp_source *s);
};

#define SP_FORMAT_ENTRY(name) extern const sp_format sp__format_##name;
#include "formats/formats.def"
#undef SP_FORMAT_ENTRY

/* sp_load with the format already known or not, into an existing bundle; for formats made of others. */
sp_status sp__source_read(const sp_source *s, sp_bundle *bundle);

#endif
