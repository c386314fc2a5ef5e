/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - JSON (RFC 8259) read without building a tree, so that a body of numbers becomes a tensor and nothing else, and written.
 *
 * Strict: no comments, no trailing commas, no NaN, UTF-8 only, at most 64 levels. Failures are SP_FORMAT with the byte where they were found. */
#ifndef SPORE_JSON_H
#define SPORE_JSON_H

#include "base/arena.h"
#include "base/text.h"
#include "spore/tensor.h"

/* --- reading ----------------------------------------------------------------------------------------------------- */

typedef struct sp_json {
    const char *start, *at, *end;
    int depth;
} sp_json;

static inline sp_json sp__json_open(const void *data, size_t bytes)
{
    return (sp_json){data, data, (const char *)data + bytes, 0};
}

/* What comes next: '{' '[' '"' '0' (a number) 't' 'f' 'n', or 0 for the end and for what is none of these. */
char sp__json_peek(sp_json *j);
sp_status sp__json_fail(const sp_json *j, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Walk over an array or object:
 *     for (bool more = false; (status = sp__json_each(&j, '[', &more)) == SP_OK && more;) ... read one value ...
 * more is false before the first, and after the last. */
sp_status sp__json_each(sp_json *j, char open, bool *more);
/* The same for objects, with the key of the member (in the arena); what stands behind it is to be read or skipped. */
sp_status sp__json_member(sp_json *j, sp__arena *a, bool *more, const char **key);

/* A text; may hold NUL. bytes may be NULL: then NUL is refused. */
sp_status sp__json_text(sp_json *j, sp__arena *a, const char **out, size_t *bytes);
sp_status sp__json_bool(sp_json *j, bool *out);
sp_status sp__json_int(sp_json *j, int64_t *out);
sp_status sp__json_skip(sp_json *j);
sp_status sp__json_end(sp_json *j); /* nothing but white space follows */

/* One number, true or false as an element of that dtype at `out`. Integers must be whole and fit. */
sp_status sp__json_element(sp_json *j, sp_dtype dtype, void *out);
/* `count` elements in arrays, nested in any way, row by row. sp__json_shape says how they are nested. */
sp_status sp__json_elements(sp_json *j, sp_dtype dtype, int64_t count, void *out);
/* The shape of nested arrays, from their first elements; j stays where it is. rank 0: no array. Empty arrays and more than SP_RANK_MAX levels fail. */
sp_status sp__json_shape(sp_json j, int *rank, int64_t *dims);

/* --- writing ----------------------------------------------------------------------------------------------------- */

/* A text with its quotes. Bytes that are no UTF-8 become U+FFFD. */
void sp__json_put_text(sp__text *t, const char *text, size_t bytes);
/* Elements with commas between: numbers as short as they can be and still read as the same; null for NaN and infinities. */
void sp__json_put_elements(sp__text *t, sp_dtype dtype, int64_t count, const void *data);
/* The same in nested arrays. */
void sp__json_put_nested(sp__text *t, sp_dtype dtype, int rank, const int64_t *dims, const void *data);

#endif
