/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - protobuf's encoding, read and written without a schema compiler and without copies.
 *
 * A message is a sequence of fields: a varint holding (number << 3 | type), then by type
 *   0 a varint | 1 eight bytes | 2 a varint length and so many bytes | 5 four bytes | 3 and 4 begin and end of a group
 *
 * A reader is a window on memory that never goes past its end; a nested message is a window inside. Failures are
 * SP_FORMAT with the byte offset in the file in front. */
#ifndef SPORE_WIRE_H
#define SPORE_WIRE_H

#include "base/base.h"

enum {
    SP_WIRE_VARINT = 0,
    SP_WIRE_FIXED64 = 1,
    SP_WIRE_BYTES = 2,
    SP_WIRE_GROUP = 3,
    SP_WIRE_GROUP_END = 4,
    SP_WIRE_FIXED32 = 5
};

/* --- reading ----------------------------------------------------------------------------------------------------- */

typedef struct sp_wire {
    const uint8_t *file; /* where the outermost message starts, for offsets in messages */
    const uint8_t *at;
    const uint8_t *end;
} sp_wire;

static inline sp_wire sp__wire_open(const void *data, size_t bytes)
{
    sp_wire w = {data, data, (const uint8_t *)data + bytes};
    return w;
}
static inline bool sp__wire_more(const sp_wire *w) { return w->at < w->end; }
static inline size_t sp__wire_left(const sp_wire *w) { return (size_t)(w->end - w->at); }
static inline size_t sp__wire_offset(const sp_wire *w) { return (size_t)(w->at - w->file); }

sp_status sp__wire_varint(sp_wire *w, uint64_t *out);
/* Number and type of the next field. */
sp_status sp__wire_field(sp_wire *w, uint32_t *number, int *type);
/* The contents of a field of type SP_WIRE_BYTES as a window; w moves past it. */
sp_status sp__wire_bytes(sp_wire *w, sp_wire *contents);
/* Move past the contents of a field of any type. */
sp_status sp__wire_skip(sp_wire *w, uint32_t number, int type);
/* Fail unless `type` is the wanted one; what: the field's name for the message. */
sp_status sp__wire_expect(const sp_wire *w, const char *what, int type, int wanted);

/* A field of a known kind: its contents, number, or text (UTF-8 without NUL, shorter than
 * room). what: the field's name for messages. */
sp_status sp__wire_take_bytes(sp_wire *w, const char *what, int type, sp_wire *out);
sp_status sp__wire_take_number(sp_wire *w, const char *what, int type, uint64_t *out);
sp_status sp__wire_take_text(sp_wire *w, const char *what, int type, char *out, size_t room);

/* --- writing ----------------------------------------------------------------------------------------------------- */

/* A growing block of bytes. Start with {0}; free with sp__wire_out_free. */
typedef struct sp_wire_out {
    uint8_t *data;
    size_t bytes;
    size_t capacity;
} sp_wire_out;

void sp__wire_out_free(sp_wire_out *o);
size_t sp__wire_varint_bytes(uint64_t value);
sp_status sp__wire_put(sp_wire_out *o, const void *data, size_t bytes);
sp_status sp__wire_put_varint(sp_wire_out *o, uint64_t value);
/* A field of type SP_WIRE_VARINT. */
sp_status sp__wire_put_number(sp_wire_out *o, uint32_t number, uint64_t value);
/* Number, type and length of a field of type SP_WIRE_BYTES; `bytes` bytes of contents must follow. */
sp_status sp__wire_put_head(sp_wire_out *o, uint32_t number, uint64_t bytes);
/* Bytes that sp__wire_put_head takes, plus the contents. */
uint64_t sp__wire_field_bytes(uint32_t number, uint64_t contents);

#endif
