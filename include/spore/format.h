/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - named tensors and texts, and the files that hold them.
 *
 *     sp_bundle *weights;
 *     sp_checkpoint_load("lenet.ckpt", 0, &weights);
 *     int64_t i = sp_bundle_find(weights, "conv1.weight");
 *     if (i >= 0) use(sp_bundle_tensor_at(weights, i));
 *     sp_bundle_release(weights); */
#ifndef SPORE_FORMAT_H
#define SPORE_FORMAT_H

#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An ordered collection of entries. An entry has a unique name and is either a tensor or a text. Names and texts are
 * UTF-8. Not to be changed by one thread while another one uses it. */
typedef struct sp_bundle sp_bundle;

SP_API sp_status sp_bundle_create(sp_bundle **out);
SP_API void sp_bundle_release(sp_bundle *bundle); /* NULL is fine; the tensors are released */
/* Append an entry, or replace the one of that name where it stands. The name is copied, the tensor retained. */
SP_API sp_status sp_bundle_add(sp_bundle *bundle, const char *name, sp_tensor *tensor);
/* text: `bytes` bytes of UTF-8, copied; may contain NUL. */
SP_API sp_status sp_bundle_add_text(sp_bundle *bundle, const char *name, const char *text, size_t bytes);
SP_API int64_t sp_bundle_count(const sp_bundle *bundle);
/* Borrowed: live as long as the entry. i must be in [0, count). */
SP_API const char *sp_bundle_name_at(const sp_bundle *bundle, int64_t i);
SP_API sp_tensor *sp_bundle_tensor_at(const sp_bundle *bundle, int64_t i); /* NULL: the entry is a text */
/* NULL: the entry is a tensor. NUL-terminated; bytes (may be NULL) receives the length without that. */
SP_API const char *sp_bundle_text_at(const sp_bundle *bundle, int64_t i, size_t *bytes);
SP_API int64_t sp_bundle_find(const sp_bundle *bundle, const char *name); /* index, -1 if there is none */

/* Flags of the checkpoint functions. */
enum {
    /* Save: end the file with a CRC-32 of everything before it. Load: compare it when the file has one. */
    SP_CHECKPOINT_CRC = 1,
    /* Save: write rank-0 tensors in the way of MindSpore up to 2.2. Newer ones and spore read both ways. */
    SP_CHECKPOINT_OLD_SCALARS = 2,
    /* Load: copy everything. Otherwise large tensors may be views of the mapped file: private (writing to them does not
     * change the file), read when first touched, and undefined if somebody cuts or overwrites the file in place. Files
     * that are replaced as a whole, as sp_checkpoint_save does, or removed do no harm. */
    SP_CHECKPOINT_COPY = 4
};

/* MindSpore checkpoint (.ckpt). The file at `path` is replaced in one step after everything is on disk; after a failure
 * it is what it was before. The new file can be read by all and written by its owner, as far as the umask allows. */
SP_API sp_status sp_checkpoint_save(const char *path, const sp_bundle *bundle, unsigned flags);
/* Entries come in file order. Left out: hash tables (map parameters) and the state of random operators. */
SP_API sp_status sp_checkpoint_load(const char *path, unsigned flags, sp_bundle **out);
/* The same from memory; nothing refers to `data` afterwards. */
SP_API sp_status sp_checkpoint_parse(const void *data, size_t bytes, unsigned flags, sp_bundle **out);

#ifdef __cplusplus
}
#endif
#endif
