/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h - what the protocols share on the way from bytes to tensors and back. */
#ifndef SPORE_DECODE_H
#define SPORE_DECODE_H

#include "serve/json.h"
#include "serve/serve_impl.h"

/* Index of an input or output by name; SP_KEY with a message that lists what there is. */
sp_status sp__decode_input(const sp_job *job, const char *name, int *index);
sp_status sp__decode_output(const sp_job *job, const char *name, int *index);
/* Elements of a shape; SP_VALUE: negative, too many dimensions, or more than can be addressed. */
sp_status sp__decode_count(const char *input, int64_t rank, const int64_t *dims, int64_t *count);
/* Input i from `bytes` bytes, which are copied; little-endian, row by row. */
sp_status sp__decode_raw(sp_job *job, int i, sp_dtype dtype, int rank, const int64_t *dims, const void *data,
                         size_t bytes);
/* The same in two steps, for bytes that come from elsewhere: room for so many, which must fit the shape; and are they values of their dtype? */
sp_status sp__decode_room(sp_job *job, int i, sp_dtype dtype, int rank, const int64_t *dims, size_t bytes);
sp_status sp__decode_check(const sp_job *job, int i);
/* Nested JSON arrays as a tensor of the dtype that the model wants; name: the input's, for messages. */
sp_status sp__decode_array(sp_json *j, const char *name, sp_dtype wanted, sp_tensor **out);
/* The deadline that a client asks for, no later than the server's own. */
void sp__decode_timeout(sp_job *job, int64_t us);
/* bodies.c: bodies and replies that are tensors by themselves, told by Content-Type and Accept. *done: it was one of those. */
sp_status sp__decode_typed(sp_job *job, bool *done);
sp_status sp__decode_accept(sp_job *job); /* can the reply have the form that is asked for? */
sp_status sp__encode_typed(sp_job *job, bool *done);
/* encoding.c: a body that is compressed is put in place of its plain one; a reply is compressed where the client takes that and it is worth it. */
sp_status sp__decode_encoding(sp_job *job);
void sp__encode_compressed(sp_job *job);
/* Output i row by row (owned by the caller). */
sp_status sp__encode_plain(const sp_job *job, int i, sp_tensor **out);

#endif
