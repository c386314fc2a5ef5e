/* SPDX-License-Identifier: Apache-2.0 */
/* flat_out.h - flatbuffers being written, from the end to the front: what something leads to is written before it. A thing is named by its distance
 * from the end. After a failure everything goes on and gives 0; the failure is in `status`. */
#ifndef SPORE_FLAT_OUT_H
#define SPORE_FLAT_OUT_H

#include "base/base.h"

enum { SP_FLAT_FIELDS = 16 };

typedef struct sp_flat_out {
    uint8_t *data; /* the last `used` of `room` bytes */
    size_t used, room;
    sp_status status;
} sp_flat_out;

/* A field of a table; bytes 0: it is missing. ref: it names a thing. */
typedef struct sp_flat_put {
    int bytes;
    bool ref;
    uint64_t value;
} sp_flat_put;

uint32_t sp__flat_put_vector(sp_flat_out *o, const void *data, size_t n, size_t element); /* little-endian elements */
uint32_t sp__flat_put_text(sp_flat_out *o, const char *text);
uint32_t sp__flat_put_refs(sp_flat_out *o, size_t n, const uint32_t *things);
uint32_t sp__flat_put_table(sp_flat_out *o, const sp_flat_put fields[SP_FLAT_FIELDS]);
/* The file: data + room - used on, `used` bytes. */
void sp__flat_put_root(sp_flat_out *o, uint32_t root, const char mark[4]);

#endif
