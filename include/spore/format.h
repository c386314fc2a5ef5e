/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - named tensors and texts, and the files that hold them.
 *
 *     sp_bundle *weights;
 *     sp_load("lenet.ckpt", NULL, &weights);              any format, told by the contents
 *     int64_t i = sp_bundle_find(weights, "conv1.weight");
 *     if (i >= 0) use(sp_bundle_tensor_at(weights, i));
 *     sp_save("lenet.safetensors", weights, NULL);        the format that the name ends in
 *     sp_bundle_release(weights); */
#ifndef SPORE_FORMAT_H
#define SPORE_FORMAT_H

#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- bundles ----------------------------------------------------------------------------------------------------- */

/* An ordered collection of entries, and notes about the whole. An entry has a unique name and is either a tensor or a
 * text; a note is a key and a text (what wrote the file, which version). Names, keys and texts are UTF-8. Not to be
 * changed by one thread while another one uses it. */
typedef struct sp_bundle sp_bundle;

SP_API sp_status sp_bundle_create(sp_bundle **out);
SP_API void sp_bundle_release(sp_bundle *bundle); /* NULL is fine; the tensors are released */
/* Append an entry, or replace the one of that name where it stands. The name is copied, the tensor retained. */
SP_API sp_status sp_bundle_add(sp_bundle *bundle, const char *name, sp_tensor *tensor);
/* text: `bytes` bytes of UTF-8, copied; may contain NUL. */
SP_API sp_status sp_bundle_add_text(sp_bundle *bundle, const char *name, const char *text, size_t bytes);
/* Entry i of another bundle under a name; contents that still wait in their file go on waiting. */
SP_API sp_status sp_bundle_add_from(sp_bundle *bundle, const char *name, const sp_bundle *from, int64_t i);
SP_API int64_t sp_bundle_count(const sp_bundle *bundle);
/* Borrowed: live as long as the entry. i must be in [0, count). */
SP_API const char *sp_bundle_name_at(const sp_bundle *bundle, int64_t i);
/* NULL: the entry is a text; or its contents wait in their file and there is no memory for them, or they cannot be read
 * (sp_error_message; sp_bundle_copy_at gives the status). */
SP_API sp_tensor *sp_bundle_tensor_at(const sp_bundle *bundle, int64_t i);
/* NULL: the entry is a tensor. NUL-terminated; bytes (may be NULL) receives the length without that. */
SP_API const char *sp_bundle_text_at(const sp_bundle *bundle, int64_t i, size_t *bytes);
/* Dtype and shape without touching the contents; SP_DTYPE_NONE for a text. dims (may be NULL) is borrowed. */
SP_API sp_dtype sp_bundle_shape_at(const sp_bundle *bundle, int64_t i, int *rank, const int64_t **dims);
/* Are the contents still in the file, to be copied when sp_bundle_tensor_at is asked for them? */
SP_API bool sp_bundle_waits_at(const sp_bundle *bundle, int64_t i);
/* The tensor once more, in memory of its own. */
SP_API sp_status sp_bundle_copy_at(const sp_bundle *bundle, int64_t i, sp_tensor **out);
SP_API int64_t sp_bundle_find(const sp_bundle *bundle, const char *name); /* index, -1 if there is none */

/* Set a note; NULL removes it. */
SP_API sp_status sp_bundle_set_note(sp_bundle *bundle, const char *key, const char *text);
SP_API const char *sp_bundle_note(const sp_bundle *bundle, const char *key); /* NULL if there is none */
SP_API int64_t sp_bundle_note_count(const sp_bundle *bundle);
SP_API const char *sp_bundle_note_at(const sp_bundle *bundle, int64_t i, const char **key);

/* --- formats ----------------------------------------------------------------------------------------------------- */

/* A kind of file; there is one of each, for ever. */
typedef struct sp_format sp_format;

SP_API int sp_format_count(void);
SP_API const sp_format *sp_format_at(int i);
SP_API const sp_format *sp_format_find(const char *name); /* "ckpt", "safetensors", ...; NULL if there is none */
SP_API const char *sp_format_name(const sp_format *format);
SP_API const char *sp_format_title(const sp_format *format);       /* "MindSpore checkpoint" */
SP_API const char *sp_format_extensions(const sp_format *format);  /* ".pt .pth .bin" */
SP_API bool sp_format_can_write(const sp_format *format);          /* all can be read */
SP_API const sp_format *sp_bundle_format(const sp_bundle *bundle); /* of the file it was loaded from; NULL: none */
/* What a file is, by its contents; SP_FORMAT when it is none of the formats, SP_VALUE when it is encrypted. */
SP_API sp_status sp_format_probe(const char *path, const sp_format **out);

/* --- files ------------------------------------------------------------------------------------------------------- */

enum {
    /* Save: store a CRC-32 (ckpt: behind everything; safetensors: among the notes). Load: compare it when there is
     * one. Other formats: no effect on saving; checksums they have of their own are compared. */
    SP_FILE_CRC = 1,
    /* Save ckpt: write rank-0 tensors in the way of MindSpore up to 2.2. Newer ones and spore read both ways. */
    SP_FILE_OLD_SCALARS = 2,
    /* Load: copy everything now. Otherwise large tensors may be views of the mapped file (private: writing to them does
     * not change the file), or be copied when first asked for; undefined if somebody cuts or overwrites the file in
     * place meanwhile. Files that are replaced as a whole, as sp_save does, or removed do no harm. */
    SP_FILE_COPY = 4,
    /* Save npz: compressed. */
    SP_FILE_COMPRESS = 8
};

/* Called now and then during long work; false ends it with SP_INTERRUPTED. total_bytes is 0 while it is not known. */
typedef bool (*sp_progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);

/* All members may be zero: initialise with {0}, or give NULL for the whole. */
typedef struct sp_file_options {
    const char *format;   /* NULL: loading tells by the contents, saving by the end of the name */
    unsigned flags;       /* SP_FILE_... */
    const void *key;      /* of an encrypted file; NULL: not encrypted */
    size_t key_bytes;     /* 16, 24 or 32; SM4-CBC: 16 */
    const char *key_mode; /* "AES-GCM" (also for NULL), "AES-CBC", "SM4-CBC" */
    sp_progress progress;
    void *progress_context;
    uint64_t shard_bytes; /* save .safetensors.index.json: at most so many in a file; 0: 5 GB */
} sp_file_options;

/* Entries come in file order. A file that names others beside it (a sharded one) is read with all of these. */
SP_API sp_status sp_load(const char *path, const sp_file_options *options, sp_bundle **out);
/* The same from memory; nothing refers to `data` afterwards. */
SP_API sp_status sp_load_memory(const void *data, size_t bytes, const sp_file_options *options, sp_bundle **out);
/* The file at `path` is replaced in one step after everything is on disk; after a failure it is what it was before. The
 * new file can be read by all and written by its owner, as far as the umask allows. */
SP_API sp_status sp_save(const char *path, const sp_bundle *bundle, const sp_file_options *options);

/* Any file (checkpoint or model) into an encrypted one and back, with options->key; `to` is replaced in one step. */
SP_API sp_status sp_file_encrypt(const char *from, const char *to, const sp_file_options *options);
SP_API sp_status sp_file_decrypt(const char *from, const char *to, const sp_file_options *options);
/* The cipher a file is encrypted with, "AES-GCM" ...; NULL in *mode when it is not. */
SP_API sp_status sp_file_cipher(const char *path, const char **mode);

#ifdef __cplusplus
}
#endif
#endif
