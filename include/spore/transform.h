/* SPDX-License-Identifier: Apache-2.0 */
/* transform.h - transforms of rows of data: images, labels, arrays; and the image codecs.
 *
 * A transform is made once from its name and arguments, and applied to rows from any number of threads. What it draws at
 * random is a function of the stream it is given, so a row's result follows from (seed, row) alone.
 *
 *     sp_transform *resize = NULL;
 *     sp_transform_create("Resize", 1, &(sp_transform_arg){"size", 2, (double[]){224, 224}}, 0, NULL, &resize);
 *     sp_transform_run(resize, NULL, 1, &image, 1, &result, NULL);
 *
 * Images are tensors of height, width and channels (or height and width) unless said otherwise. */
#ifndef SPORE_TRANSFORM_H
#define SPORE_TRANSFORM_H

#include "spore/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Characters of a STR tensor that have this bit are bytes of no text. */
#define SP_BYTE_CHARACTER 0x80000000u

/* Random numbers of one row: Philox with the seed as key over (row, counter). Set seed and row, start counter at 0. */
typedef struct sp_stream {
    uint64_t seed, row, counter;
} sp_stream;

/* One argument: a name and its numbers. Enumerations are numbers too, see below. */
typedef struct sp_transform_arg {
    const char *name;
    int n;
    const double *values;
} sp_transform_arg;

typedef enum {
    SP_INTER_NEAREST,
    SP_INTER_ANTIALIAS,
    SP_INTER_LINEAR,
    SP_INTER_CUBIC,
    SP_INTER_AREA,
    SP_INTER_PILCUBIC
} sp_inter;
typedef enum { SP_BORDER_CONSTANT, SP_BORDER_EDGE, SP_BORDER_REFLECT, SP_BORDER_SYMMETRIC } sp_border;

/* Immutable and counted. */
typedef struct sp_transform sp_transform;

/* A transform of the table by its MindSpore name ("Resize", "RandomCrop", ...). Arguments that are not given have their
 * defaults; an unknown one is an error that lists the known ones. Children are what compound transforms ("Compose",
 * "RandomChoice", ...) apply; they are retained. */
SP_API sp_status sp_transform_create(const char *name, int n_args, const sp_transform_arg *args, int n_children,
                                     sp_transform *const *children, sp_transform **out);
SP_API sp_transform *sp_transform_retain(sp_transform *t);
SP_API void sp_transform_release(sp_transform *t); /* NULL is fine */
SP_API const char *sp_transform_name(const sp_transform *t);
/* Whether it, or a child, draws from the stream. */
SP_API bool sp_transform_is_random(const sp_transform *t);

/* Apply to the columns of a row. out[] receives new references to dense tensors; *n_out (may be NULL) their number.
 * Transforms of one column applied to several treat all alike, with the same random draws. stream may be NULL for
 * transforms that are not random. On failure nothing is given out. */
SP_API sp_status sp_transform_run(const sp_transform *t, sp_stream *stream, int n_in, sp_tensor *const *in, int max_out,
                                  sp_tensor **out, int *n_out);
/* The same for several, one after another; neighbours that can be done in one pass are. */
SP_API sp_status sp_transform_run_all(int n, sp_transform *const *list, sp_stream *stream, int n_in,
                                      sp_tensor *const *in, int max_out, sp_tensor **out, int *n_out);
#define SP_COLUMNS_MAX 256 /* columns of a row */

/* The table: names in order, and whether there is one of that name. */
SP_API int sp_transform_count(void);
SP_API const char *sp_transform_name_at(int i);

/* --- codecs ------------------------------------------------------------------------------------------------------ */

typedef enum { SP_DECODE_UNCHANGED, SP_DECODE_GRAY, SP_DECODE_COLOR } sp_decode_mode;

typedef struct sp_image_info {
    const char *format; /* "JPEG", "PNG", "WebP", "BMP", "GIF"; static memory */
    int64_t height, width;
    int channels; /* in the file */
} sp_image_info;

/* What a file's header says, without decoding. */
SP_API sp_status sp_image_probe(const void *data, size_t bytes, sp_image_info *out);
/* Decode into uint8 of height, width, channels: 3 (RGB) for COLOR, 1 for GRAY, the file's for UNCHANGED, which
 * also keeps 16 bits (uint16). Orientation
 * tags are not applied, alpha is dropped, of an animation the first picture is given. Pictures of more than 2^28
 * pixels are refused before memory is asked for. */
SP_API sp_status sp_image_decode(const void *data, size_t bytes, sp_decode_mode mode, sp_tensor **out);
/* uint8 images of 1 or 3 channels into a uint8 vector. quality from 1 to 100, level from 0 to 9. */
SP_API sp_status sp_image_encode_jpeg(const sp_tensor *image, int quality, sp_tensor **out);
SP_API sp_status sp_image_encode_png(const sp_tensor *image, int level, sp_tensor **out);

#ifdef __cplusplus
}
#endif
#endif
