/* SPDX-License-Identifier: Apache-2.0 */
/* tfrecord.h - TFRecord files, and the tf.train.Example messages in them.
 *
 *     sp_tfrecord *file;
 *     sp_example *example;
 *     const void *data;
 *     size_t bytes;
 *     sp_tfrecord_open("train.tfrecord", &file);
 *     sp_example_create(&example);
 *     while (sp_tfrecord_next(file, &data, &bytes) == SP_OK && data != NULL) {
 *         sp_example_parse(example, data, bytes);
 *         const sp_feature *label = sp_example_find(example, "label");
 *         if (label != NULL && label->kind == SP_FEATURE_INT64) use(label->ints[0]);
 *     }
 *     sp_example_release(example);
 *     sp_tfrecord_release(file); */
#ifndef SPORE_TFRECORD_H
#define SPORE_TFRECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spore/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open file, and a place in it. One thread at a time. */
typedef struct sp_tfrecord sp_tfrecord;

SP_API sp_status sp_tfrecord_open(const char *path, sp_tfrecord **out);
SP_API void sp_tfrecord_release(sp_tfrecord *file); /* NULL is fine */
/* The next record, its checksums verified. data lives as long as the file; NULL at the end. */
SP_API sp_status sp_tfrecord_next(sp_tfrecord *file, const void **data, size_t *bytes);
/* The place of the next record, and going to one. */
SP_API size_t sp_tfrecord_tell(const sp_tfrecord *file);
SP_API sp_status sp_tfrecord_seek(sp_tfrecord *file, size_t place);
/* Go past the next record without reading it: only the checksum of its length is verified. more = false at the end. */
SP_API sp_status sp_tfrecord_skip(sp_tfrecord *file, bool *more);

typedef enum { SP_FEATURE_EMPTY, SP_FEATURE_BYTES, SP_FEATURE_FLOAT, SP_FEATURE_INT64 } sp_feature_kind;

typedef struct sp_feature {
    const char *name; /* no NUL behind it */
    size_t name_bytes;
    sp_feature_kind kind;
    size_t count; /* values */
    /* One of these, by kind. */
    const float *floats;
    const int64_t *ints;
    const void *const *texts; /* with their sizes */
    const size_t *text_bytes;
} sp_feature;

/* A parsed message; reused from message to message. */
typedef struct sp_example sp_example;

SP_API sp_status sp_example_create(sp_example **out);
SP_API void sp_example_release(sp_example *example); /* NULL is fine */
/* Names and texts point into data; the rest belongs to the example. Both until the next call. SP_FORMAT: malformed. */
SP_API sp_status sp_example_parse(sp_example *example, const void *data, size_t bytes);
SP_API int sp_example_count(const sp_example *example);
SP_API const sp_feature *sp_example_at(const sp_example *example, int i);
SP_API const sp_feature *sp_example_find(const sp_example *example, const char *name); /* NULL: there is none */

#ifdef __cplusplus
}
#endif
#endif
