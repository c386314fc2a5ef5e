/* SPDX-License-Identifier: Apache-2.0 */
/* flat_out.c - see flat_out.h. */
#include "formats/lite/flat_out.h"

#include <string.h>

enum { ALIGN = 16, FIRST_ROOM = 4096 };

/* n more bytes in front, zeroed; NULL after a failure. */
static uint8_t *front(sp_flat_out *o, size_t n)
{
    if (o->status != SP_OK) return NULL;
    if (o->used + n > INT32_MAX) {
        o->status = sp__fail(SP_DECLINED, "the file would have more than 2 GB, which the format does not hold");
        return NULL;
    }
    if (o->room - o->used < n) {
        size_t room = o->room > 0 ? o->room : FIRST_ROOM;
        while (room - o->used < n) room *= 2;
        uint8_t *more = sp__alloc(room);
        if (more == NULL) {
            o->status = SP_NOMEM;
            return NULL;
        }
        if (o->used > 0) memcpy(more + room - o->used, o->data + o->room - o->used, o->used);
        sp__free(o->data);
        o->data = more;
        o->room = room;
    }
    o->used += n;
    memset(o->data + o->room - o->used, 0, n);
    return o->data + o->room - o->used;
}

/* So that what ends after n more bytes begins at a multiple of `align` from the end. */
static void align(sp_flat_out *o, size_t n, size_t to)
{
    const size_t over = (o->used + n) % to;
    if (over != 0) front(o, to - over);
}

static void put_number(uint8_t *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
}

uint32_t sp__flat_put_vector(sp_flat_out *o, const void *data, size_t n, size_t element)
{
    const size_t bytes = n * element;
    align(o, bytes, ALIGN); /* elements begin at a multiple of 16: they can be used where they lie */
    uint8_t *at = front(o, bytes);
    if (at != NULL && bytes > 0) memcpy(at, data, bytes);
    at = front(o, 4);
    if (at != NULL) put_number(at, n, 4);
    return (uint32_t)o->used;
}

uint32_t sp__flat_put_text(sp_flat_out *o, const char *text)
{
    const size_t n = strlen(text);
    align(o, n + 1, 4);
    uint8_t *at = front(o, n + 1);
    if (at != NULL) memcpy(at, text, n);
    at = front(o, 4);
    if (at != NULL) put_number(at, n, 4);
    return (uint32_t)o->used;
}

uint32_t sp__flat_put_refs(sp_flat_out *o, size_t n, const uint32_t *things)
{
    align(o, 4 * n, 4);
    uint8_t *at = front(o, 4 * n + 4);
    if (at == NULL) return 0;
    put_number(at, n, 4);
    for (size_t i = 0; i < n; i++) put_number(at + 4 + 4 * i, o->used - 4 - 4 * i - things[i], 4);
    return (uint32_t)o->used;
}

/* The vtable stands in front of its table. */
uint32_t sp__flat_put_table(sp_flat_out *o, const sp_flat_put fields[SP_FLAT_FIELDS])
{
    size_t places[SP_FLAT_FIELDS] = {0}, bytes = 4;
    int n = 0;
    for (int size = 8; size > 0; size /= 2)
        for (int k = 0; k < SP_FLAT_FIELDS; k++) {
            if (fields[k].bytes != size) continue;
            if (size == 8 && bytes % 8 != 0) bytes += 4;
            places[k] = bytes;
            bytes += (size_t)size;
            if (k >= n) n = k + 1;
        }
    bytes = (bytes + 3) & ~(size_t)3;
    align(o, bytes, 8);
    uint8_t *at = front(o, bytes);
    if (at == NULL) return 0;
    const uint32_t table = (uint32_t)o->used;
    for (int k = 0; k < n; k++) {
        if (fields[k].bytes == 0) continue;
        put_number(at + places[k], fields[k].ref ? table - places[k] - fields[k].value : fields[k].value,
                   fields[k].bytes);
    }
    const size_t head = 4 + 2 * (size_t)n;
    put_number(at, head, 4); /* from the table back to its vtable */
    uint8_t *vtable = front(o, head);
    if (vtable == NULL) return 0;
    put_number(vtable, head, 2);
    put_number(vtable + 2, bytes, 2);
    for (int k = 0; k < n; k++) put_number(vtable + 4 + 2 * k, places[k], 2);
    return table;
}

void sp__flat_put_root(sp_flat_out *o, uint32_t root, const char mark[4])
{
    align(o, 8, ALIGN);
    uint8_t *at = front(o, 8);
    if (at == NULL) return;
    put_number(at, o->used - root, 4);
    memcpy(at + 4, mark, 4);
}
