/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - protobuf's encoding, see wire.h. */
#include "formats/wire.h"

#include <string.h>

#include "formats/bundle.h"

enum {
    VARINT_MAX_BYTES = 10,
    GROUP_DEPTH_MAX = 64 /* groups inside groups of unknown fields; more is an attack, not a file */
};

/* --- reading ----------------------------------------------------------------------------------------------------- */

sp_status sp__wire_varint(sp_wire *w, uint64_t *out)
{
    uint64_t value = 0;
    const uint8_t *p = w->at;
    for (int i = 0; i < VARINT_MAX_BYTES; i++) {
        SP_CHECK(p < w->end, SP_FORMAT, "byte %zu: a number goes past the end of its message", sp__wire_offset(w));
        uint8_t b = *p++;
        SP_CHECK(i < VARINT_MAX_BYTES - 1 || b <= 1, SP_FORMAT, "byte %zu: a number has more than 64 bits",
                 sp__wire_offset(w));
        value |= (uint64_t)(b & 0x7F) << (7 * i);
        if (b < 0x80) {
            w->at = p;
            *out = value;
            return SP_OK;
        }
    }
    return sp__fail(SP_FORMAT, "byte %zu: a number has more than 64 bits", sp__wire_offset(w));
}

sp_status sp__wire_field(sp_wire *w, uint32_t *number, int *type)
{
    size_t offset = sp__wire_offset(w);
    uint64_t key;
    SP_TRY(sp__wire_varint(w, &key));
    SP_CHECK(key >> 3 != 0 && key >> 3 <= 0x1FFFFFFF, SP_FORMAT,
             "byte %zu: field number %llu found, 1 to 536870911 wanted", offset, (unsigned long long)(key >> 3));
    SP_CHECK((key & 7) <= SP_WIRE_FIXED32, SP_FORMAT, "byte %zu: field %llu has type %d, 0 to 5 wanted", offset,
             (unsigned long long)(key >> 3), (int)(key & 7));
    *number = (uint32_t)(key >> 3);
    *type = (int)(key & 7);
    return SP_OK;
}

sp_status sp__wire_bytes(sp_wire *w, sp_wire *contents)
{
    size_t offset = sp__wire_offset(w);
    uint64_t bytes;
    SP_TRY(sp__wire_varint(w, &bytes));
    SP_CHECK(bytes <= sp__wire_left(w), SP_FORMAT, "byte %zu: a field of %llu bytes begins, but only %zu are left",
             offset, (unsigned long long)bytes, sp__wire_left(w));
    contents->file = w->file;
    contents->at = w->at;
    contents->end = w->at + bytes;
    w->at = contents->end;
    return SP_OK;
}

static sp_status skip_fixed(sp_wire *w, size_t bytes)
{
    SP_CHECK(sp__wire_left(w) >= bytes, SP_FORMAT, "byte %zu: a field of %zu bytes begins, but only %zu are left",
             sp__wire_offset(w), bytes, sp__wire_left(w));
    w->at += bytes;
    return SP_OK;
}

/* Up to the matching end; nested groups are counted on a small stack of their numbers. */
static sp_status skip_group(sp_wire *w, uint32_t number)
{
    uint32_t open[GROUP_DEPTH_MAX];
    int depth = 0;
    open[depth++] = number;
    while (depth > 0) {
        size_t offset = sp__wire_offset(w);
        uint32_t inner = 0;
        int type = 0;
        SP_TRY(sp__wire_field(w, &inner, &type));
        if (type == SP_WIRE_GROUP) {
            SP_CHECK(depth < GROUP_DEPTH_MAX, SP_FORMAT, "byte %zu: groups are nested deeper than %d", offset,
                     GROUP_DEPTH_MAX);
            open[depth++] = inner;
        } else if (type == SP_WIRE_GROUP_END) {
            SP_CHECK(open[depth - 1] == inner, SP_FORMAT, "byte %zu: group %u ends where group %u is open", offset,
                     inner, open[depth - 1]);
            depth--;
        } else {
            SP_TRY(sp__wire_skip(w, inner, type));
        }
    }
    return SP_OK;
}

sp_status sp__wire_skip(sp_wire *w, uint32_t number, int type)
{
    uint64_t ignored;
    sp_wire contents;
    switch (type) {
    case SP_WIRE_VARINT: return sp__wire_varint(w, &ignored);
    case SP_WIRE_FIXED64: return skip_fixed(w, 8);
    case SP_WIRE_BYTES: return sp__wire_bytes(w, &contents);
    case SP_WIRE_GROUP: return skip_group(w, number);
    case SP_WIRE_FIXED32: return skip_fixed(w, 4);
    default: return sp__fail(SP_FORMAT, "byte %zu: group %u ends, but none is open", sp__wire_offset(w), number);
    }
}

sp_status sp__wire_expect(const sp_wire *w, const char *what, int type, int wanted)
{
    static const char *const names[] = {"a number", "eight bytes",        "bytes",
                                        "a group",  "the end of a group", "four bytes"};
    SP_CHECK(type == wanted, SP_FORMAT, "byte %zu: %s is stored as %s, %s wanted", sp__wire_offset(w), what,
             names[type], names[wanted]);
    return SP_OK;
}

sp_status sp__wire_take_bytes(sp_wire *w, const char *what, int type, sp_wire *out)
{
    SP_TRY(sp__wire_expect(w, what, type, SP_WIRE_BYTES));
    return sp__wire_bytes(w, out);
}

sp_status sp__wire_take_number(sp_wire *w, const char *what, int type, uint64_t *out)
{
    SP_TRY(sp__wire_expect(w, what, type, SP_WIRE_VARINT));
    return sp__wire_varint(w, out);
}

sp_status sp__wire_take_text(sp_wire *w, const char *what, int type, char *out, size_t room)
{
    sp_wire text = *w;
    SP_TRY(sp__wire_take_bytes(w, what, type, &text));
    size_t n = sp__wire_left(&text);
    SP_CHECK(n < room && memchr(text.at, 0, n) == NULL && sp__utf8_valid((const char *)text.at, n) == n, SP_FORMAT,
             "byte %zu: %s is no text, or longer than %zu bytes", sp__wire_offset(&text), what, room - 1);
    memcpy(out, text.at, n);
    out[n] = '\0';
    return SP_OK;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

void sp__wire_out_free(sp_wire_out *o)
{
    sp__free(o->data);
    memset(o, 0, sizeof *o);
}

size_t sp__wire_varint_bytes(uint64_t value)
{
    size_t n = 1;
    for (; value >= 0x80; value >>= 7) n++;
    return n;
}

sp_status sp__wire_put(sp_wire_out *o, const void *data, size_t bytes)
{
    if (bytes > o->capacity - o->bytes) {
        size_t wanted;
        if (!sp__add_size(o->bytes, bytes, &wanted) || !sp__mul_size(wanted, 2, &wanted)) wanted = SIZE_MAX;
        uint8_t *larger = sp__realloc(o->data, o->bytes, wanted);
        if (larger == NULL) return SP_NOMEM;
        o->data = larger;
        o->capacity = wanted;
    }
    if (bytes > 0) memcpy(o->data + o->bytes, data, bytes);
    o->bytes += bytes;
    return SP_OK;
}

sp_status sp__wire_put_varint(sp_wire_out *o, uint64_t value)
{
    uint8_t bytes[VARINT_MAX_BYTES];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    return sp__wire_put(o, bytes, n);
}

sp_status sp__wire_put_number(sp_wire_out *o, uint32_t number, uint64_t value)
{
    SP_TRY(sp__wire_put_varint(o, (uint64_t)number << 3 | SP_WIRE_VARINT));
    return sp__wire_put_varint(o, value);
}

sp_status sp__wire_put_head(sp_wire_out *o, uint32_t number, uint64_t bytes)
{
    SP_TRY(sp__wire_put_varint(o, (uint64_t)number << 3 | SP_WIRE_BYTES));
    return sp__wire_put_varint(o, bytes);
}

uint64_t sp__wire_field_bytes(uint32_t number, uint64_t contents)
{
    return sp__wire_varint_bytes((uint64_t)number << 3) + sp__wire_varint_bytes(contents) + contents;
}
