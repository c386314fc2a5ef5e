/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_scalars.c - the raw record of a row: a MessagePack map from names to numbers and strings.
 *
 * Keys are in alphabetical order and only those of scalar fields; a schema without one has the map {"id": 0}. Numbers take
 * their shortest form: fixint, uint8 to uint64 for values from 0, int8 to int64 below; float32 (ca) when that is exact, else
 * float64 (cb). Older writers always use float64. What is read may be in any order and form; a value may even be of
 * another kind (a decimal text for an integer), as MindSpore's reader allows. Names that the schema lacks are skipped. */
#include "data/mindrecord.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

sp_status sp__mindrecord_buffer_reserve(sp_mindrecord_buffer *b, size_t more)
{
    size_t need;
    SP_CHECK(sp__add_size(b->bytes, more, &need), SP_NOMEM, "out of memory");
    if (need <= b->room) return SP_OK;
    size_t room = need + need / 2 + 256;
    uint8_t *data = b->data == NULL ? sp__alloc(room) : sp__realloc(b->data, b->room, room);
    if (data == NULL) return SP_NOMEM;
    b->data = data;
    b->room = room;
    return SP_OK;
}

void sp__mindrecord_buffer_release(sp_mindrecord_buffer *b)
{
    sp__free(b->data);
    *b = (sp_mindrecord_buffer){NULL, 0, 0};
}

/* --- reading --------------------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *p, *end;
} cursor;

typedef enum { ITEM_INT, ITEM_UINT, ITEM_FLOAT, ITEM_TEXT, ITEM_OTHER } item_kind;

typedef struct item {
    item_kind kind;
    int64_t i;
    uint64_t u;
    double f;
    const char *text;
    size_t bytes;
    const char *other; /* what it is, for messages */
} item;

static sp_status cut(void) { return sp__fail(SP_FORMAT, "the raw record ends inside a value"); }

static sp_status take_big(cursor *c, int bytes, uint64_t *out)
{
    if (c->end - c->p < bytes) return cut();
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v = v << 8 | *c->p++;
    *out = v;
    return SP_OK;
}

static sp_status take_text(cursor *c, uint64_t bytes, item *out)
{
    if ((uint64_t)(c->end - c->p) < bytes) return cut();
    out->kind = ITEM_TEXT;
    out->text = (const char *)c->p;
    out->bytes = (size_t)bytes;
    c->p += bytes;
    return SP_OK;
}

static sp_status take_number(cursor *c, uint8_t tag, item *out)
{
    uint64_t v = 0;
    if (tag >= 0xCC && tag <= 0xCF) {
        SP_TRY(take_big(c, 1 << (tag - 0xCC), &v));
        out->kind = v <= INT64_MAX ? ITEM_INT : ITEM_UINT;
        out->i = (int64_t)v;
        out->u = v;
        return SP_OK;
    }
    if (tag >= 0xD0 && tag <= 0xD3) {
        int bits = 8 << (tag - 0xD0);
        SP_TRY(take_big(c, bits / 8, &v));
        out->kind = ITEM_INT;
        out->i = (int64_t)(v << (64 - bits)) >> (64 - bits);
        return SP_OK;
    }
    out->kind = ITEM_FLOAT;
    SP_TRY(take_big(c, tag == 0xCA ? 4 : 8, &v));
    if (tag == 0xCA) {
        uint32_t bits = (uint32_t)v;
        float f;
        memcpy(&f, &bits, sizeof f);
        out->f = (double)f;
    } else {
        memcpy(&out->f, &v, sizeof out->f);
    }
    return SP_OK;
}

/* One value that is not a collection. Collections are not skipped: no writer puts them here. */
static sp_status take_item(cursor *c, item *out)
{
    if (c->p >= c->end) return cut();
    uint8_t tag = *c->p++;
    uint64_t n = 0;
    if (tag < 0x80 || tag >= 0xE0) {
        out->kind = ITEM_INT;
        out->i = tag < 0x80 ? tag : (int64_t)tag - 256;
        return SP_OK;
    }
    if (tag >= 0xA0 && tag < 0xC0) return take_text(c, tag & 0x1F, out);
    if (tag >= 0xD9 && tag <= 0xDB) {
        SP_TRY(take_big(c, 1 << (tag - 0xD9), &n));
        return take_text(c, n, out);
    }
    if (tag == 0xCA || tag == 0xCB || (tag >= 0xCC && tag <= 0xD3)) return take_number(c, tag, out);
    out->kind = ITEM_OTHER;
    if (tag == 0xC0) out->other = "null";
    else if (tag == 0xC2 || tag == 0xC3) out->other = "a truth value";
    else return sp__fail(SP_FORMAT, "the raw record holds MessagePack type %02x; numbers and strings are known", tag);
    return SP_OK;
}

static sp_status text_to_int(const item *it, int64_t *out)
{
    char digits[32];
    SP_CHECK(it->bytes > 0 && it->bytes < sizeof digits, SP_FORMAT, "a text of %zu bytes, a number is wanted",
             it->bytes);
    memcpy(digits, it->text, it->bytes);
    digits[it->bytes] = '\0';
    char *end;
    errno = 0;
    long long v = strtoll(digits, &end, 10);
    SP_CHECK(errno == 0 && end == digits + it->bytes, SP_FORMAT, "the text '%s', a number is wanted", digits);
    *out = v;
    return SP_OK;
}

static sp_status to_int(const item *it, sp_record_value *out)
{
    SP_CHECK(it->kind != ITEM_UINT, SP_FORMAT, "%llu does not fit 64 bits with a sign", (unsigned long long)it->u);
    if (it->kind == ITEM_TEXT) return text_to_int(it, &out->i);
    if (it->kind == ITEM_FLOAT) {
        SP_CHECK(it->f >= -9223372036854775808.0 && it->f < 9223372036854775808.0 && it->f == (double)(int64_t)it->f,
                 SP_FORMAT, "%g, an integer is wanted", it->f);
        out->i = (int64_t)it->f;
        return SP_OK;
    }
    out->i = it->i;
    return SP_OK;
}

static sp_status to_float(const item *it, sp_record_value *out)
{
    SP_CHECK(it->kind != ITEM_TEXT, SP_FORMAT, "a text of %zu bytes, a number is wanted", it->bytes);
    out->f = it->kind == ITEM_FLOAT ? it->f : it->kind == ITEM_UINT ? (double)it->u : (double)it->i;
    return SP_OK;
}

static sp_status to_value(const item *it, const sp_record_field *f, sp_record_value *out)
{
    SP_CHECK(it->kind != ITEM_OTHER, SP_FORMAT, "%s, %s is wanted", it->other, sp_record_type_name(f->type));
    out->type = f->type;
    out->rank = -1;
    if (f->type == SP_RECORD_INT32 || f->type == SP_RECORD_INT64) return to_int(it, out);
    if (f->type != SP_RECORD_STRING) return to_float(it, out);
    SP_CHECK(it->kind == ITEM_TEXT, SP_FORMAT, "a number, a string is wanted");
    out->data = it->text;
    out->bytes = it->bytes;
    return SP_OK;
}

static sp_status take_map_header(cursor *c, uint64_t *out)
{
    if (c->p >= c->end) return cut();
    uint8_t tag = *c->p++;
    if (tag >= 0x80 && tag < 0x90) {
        *out = tag & 0x0F;
        return SP_OK;
    }
    SP_CHECK(tag == 0xDE || tag == 0xDF, SP_FORMAT, "the raw record is not a MessagePack map but type %02x", tag);
    return take_big(c, tag == 0xDE ? 2 : 4, out);
}

static bool name_is(const sp_record_field *f, const item *key)
{
    return strlen(f->name) == key->bytes && memcmp(f->name, key->text, key->bytes) == 0; /* a key may hold a NUL */
}

/* The field of this name: the one behind the last, when everything is in order. -1: none. */
static int find_key(const sp_mindrecord_schema *s, const item *key, int *next)
{
    for (int step = 0; step < s->n_fields; step++) {
        int i = *next + step < s->n_fields ? *next + step : *next + step - s->n_fields;
        if (sp__mindrecord_is_blob(&s->fields[i]) || !name_is(&s->fields[i], key)) continue;
        *next = i + 1;
        return i;
    }
    return -1;
}

sp_status sp__mindrecord_scalars_parse(const sp_mindrecord_schema *s, const uint8_t *record, size_t bytes,
                                       const bool *want, sp_record_value *values)
{
    cursor c = {record, record + bytes};
    uint64_t n = 0;
    SP_TRY(take_map_header(&c, &n));
    int n_found = 0, next = 0;
    uint64_t seen[SP_MINDRECORD_FIELDS_MAX / 64]; /* a field that stands twice must not stand for another */
    memset(seen, 0, ((size_t)s->n_fields + 63) / 64 * sizeof *seen);
    for (uint64_t k = 0; k < n; k++) {
        item key = {.kind = ITEM_OTHER}, value = {.kind = ITEM_OTHER};
        SP_TRY(take_item(&c, &key));
        SP_CHECK(key.kind == ITEM_TEXT, SP_FORMAT, "a key of the raw record is not a string");
        SP_TRY(take_item(&c, &value));
        int i = find_key(s, &key, &next);
        if (i < 0) continue;
        SP_CHECK(!(seen[i / 64] >> (i % 64) & 1), SP_FORMAT, "column '%s' stands twice in the raw record",
                 s->fields[i].name);
        seen[i / 64] |= (uint64_t)1 << (i % 64);
        n_found++;
        if (want != NULL && !want[i]) continue;
        sp_status status = to_value(&value, &s->fields[i], &values[i]);
        if (status != SP_OK) {
            sp__error_context("column '%s'", s->fields[i].name);
            return status;
        }
    }
    SP_CHECK(n_found == s->n_scalars, SP_FORMAT, "the raw record holds %d of %d fields", n_found, s->n_scalars);
    return SP_OK;
}

/* --- writing --------------------------------------------------------------------------------------------------------- */

static uint8_t *put_big(uint8_t *p, uint64_t v, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--) *p++ = (uint8_t)(v >> (8 * i));
    return p;
}

static uint8_t *put_int(uint8_t *p, int64_t v)
{
    if (v >= -32 && v < 128) {
        *p++ = (uint8_t)v;
        return p;
    }
    int log = 0; /* of the number of bytes */
    if (v >= 0) {
        while (log < 3 && (uint64_t)v >> (8 << log) != 0) log++;
        *p++ = (uint8_t)(0xCC + log);
    } else {
        while (log < 3 && v < -(INT64_C(1) << ((8 << log) - 1))) log++;
        *p++ = (uint8_t)(0xD0 + log);
    }
    return put_big(p, (uint64_t)v, 1 << log);
}

static uint8_t *put_float(uint8_t *p, double v)
{
    float single = (float)v;
    uint64_t bits;
    if ((double)single == v) {
        uint32_t bits32;
        memcpy(&bits32, &single, sizeof bits32);
        *p++ = 0xCA;
        return put_big(p, bits32, 4);
    }
    memcpy(&bits, &v, sizeof bits);
    *p++ = 0xCB;
    return put_big(p, bits, 8);
}

static uint8_t *put_text(uint8_t *p, const void *text, size_t bytes)
{
    if (bytes < 32) *p++ = (uint8_t)(0xA0 | bytes);
    else if (bytes < 256) p = put_big(p, 0xD900 | bytes, 2);
    else if (bytes < 65536) p = put_big(p, 0xDA0000 | bytes, 3);
    else p = put_big(p, 0xDB00000000 | bytes, 5);
    if (bytes > 0) memcpy(p, text, bytes);
    return p + bytes;
}

static sp_status print_value(const sp_record_value *v, sp_mindrecord_buffer *out)
{
    size_t text = v->type == SP_RECORD_STRING ? v->bytes : 0;
    SP_TRY(sp__mindrecord_buffer_reserve(out, text + 16));
    uint8_t *p = out->data + out->bytes;
    if (v->type == SP_RECORD_STRING) p = put_text(p, v->data, v->bytes);
    else if (v->type == SP_RECORD_INT32 || v->type == SP_RECORD_INT64) p = put_int(p, v->i);
    else p = put_float(p, v->f);
    out->bytes = (size_t)(p - out->data);
    return SP_OK;
}

sp_status sp__mindrecord_scalars_print(const sp_mindrecord_schema *s, const sp_record_value *values,
                                       sp_mindrecord_buffer *out)
{
    static const uint8_t dummy[] = {0x81, 0xA2, 'i', 'd', 0x00};
    SP_TRY(sp__mindrecord_buffer_reserve(out, sizeof dummy));
    uint8_t *p = out->data + out->bytes;
    if (s->n_scalars == 0) {
        memcpy(p, dummy, sizeof dummy);
        out->bytes += sizeof dummy;
        return SP_OK;
    }
    p = s->n_scalars < 16 ? put_big(p, 0x80U | (unsigned)s->n_scalars, 1)
                          : put_big(p, 0xDE0000U | (unsigned)s->n_scalars, 3);
    out->bytes = (size_t)(p - out->data);
    for (int i = 0; i < s->n_fields; i++) {
        const char *name = s->fields[i].name;
        if (sp__mindrecord_is_blob(&s->fields[i])) continue;
        sp_record_value key = {.type = SP_RECORD_STRING, .rank = -1, .data = name, .bytes = strlen(name)};
        SP_TRY(print_value(&key, out));
        SP_TRY(print_value(&values[i], out));
    }
    return SP_OK;
}
