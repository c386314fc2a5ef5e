/* SPDX-License-Identifier: Apache-2.0 */
/* mindrecord_blobs.c - the blob record of a row: its bytes fields and arrays.
 *
 *     no such field     4 zero bytes
 *     one               its bytes
 *     several           for each: length (8 bytes, big-endian), bytes
 *
 * An array is its elements, row-major; its shape is that of the schema, with -1 found from the number of elements. From
 * version 3.0 on, int32 and int64 arrays are compressed: number of elements (4 bytes, big-endian), a code of 2 bits for
 * each (the first in the high bits of a byte), then the elements in 1, 2, 4 or 8 bytes as the codes 0 to 3 say. */
#include "data/mindrecord.h"

#include <string.h>

/* --- compressed integers ---------------------------------------------------------------------------------------------- */

static size_t codes_bytes(size_t n) { return (n + 3) / 4; }

static unsigned code_of(int64_t v)
{
    if (v == (int8_t)v) return 0;
    if (v == (int16_t)v) return 1;
    return v == (int32_t)v ? 2 : 3;
}

static int64_t element_at(const void *data, size_t i, bool wide)
{
    if (wide) {
        int64_t v;
        memcpy(&v, (const uint8_t *)data + i * sizeof v, sizeof v);
        return v;
    }
    int32_t v;
    memcpy(&v, (const uint8_t *)data + i * sizeof v, sizeof v);
    return v;
}

static uint8_t *put_element(uint8_t *p, int64_t v, unsigned code)
{
    /* Little-endian machine or not: the low bytes first. */
    for (unsigned i = 0; i < 1U << code; i++) *p++ = (uint8_t)((uint64_t)v >> (8 * i));
    return p;
}

/* Room for the worst case must be there. Returns the end. */
static uint8_t *pack(const void *data, size_t n, bool wide, uint8_t *out)
{
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(n >> (24 - 8 * i));
    uint8_t *codes = out + 4;
    uint8_t *p = codes + codes_bytes(n);
    memset(codes, 0, codes_bytes(n));
    for (size_t i = 0; i < n; i++) {
        int64_t v = element_at(data, i, wide);
        unsigned code = code_of(v);
        codes[i / 4] |= (uint8_t)(code << (6 - 2 * (i % 4)));
        p = put_element(p, v, code);
    }
    return p;
}

static int64_t get_element(const uint8_t *p, unsigned code)
{
    switch (code) {
    case 0: return (int8_t)p[0];
    case 1: return (int16_t)(p[0] | p[1] << 8);
    case 2: return (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    default: return (int64_t)sp__mindrecord_get64(p);
    }
}

static sp_status unpack(const uint8_t *in, size_t bytes, bool wide, uint8_t *out, size_t n)
{
    const uint8_t *codes = in + 4, *p = codes + codes_bytes(n), *end = in + bytes;
    for (size_t i = 0; i < n; i++) {
        unsigned code = codes[i / 4] >> (6 - 2 * (i % 4)) & 3;
        SP_CHECK(end - p >= (ptrdiff_t)(1 << code), SP_FORMAT, "the compressed array ends at element %zu of %zu", i, n);
        int64_t v = get_element(p, code);
        p += (size_t)1 << code;
        if (wide) {
            memcpy(out + i * 8, &v, 8);
            continue;
        }
        int32_t narrow = (int32_t)v;
        SP_CHECK(narrow == v, SP_FORMAT, "element %zu of the compressed array is %lld, which int32 cannot hold", i,
                 (long long)v);
        memcpy(out + i * 4, &narrow, 4);
    }
    SP_CHECK(p == end, SP_FORMAT, "%td bytes are left behind the compressed array of %zu elements", end - p, n);
    return SP_OK;
}

/* Elements of a compressed array; checked against its bytes, so that n is not out of proportion. */
static sp_status packed_count(const uint8_t *in, size_t bytes, size_t *out)
{
    SP_CHECK(bytes >= 4, SP_FORMAT, "the compressed array has %zu bytes, at least 4 are wanted", bytes);
    size_t n = (size_t)in[0] << 24 | (size_t)in[1] << 16 | (size_t)in[2] << 8 | in[3];
    SP_CHECK(n + codes_bytes(n) <= bytes - 4, SP_FORMAT, "the compressed array names %zu elements and has %zu bytes", n,
             bytes);
    *out = n;
    return SP_OK;
}

/* What an unpacked array takes: the next one is aligned again. */
static size_t unpacked_bytes(const sp_record_field *f, size_t n)
{
    return f->type == SP_RECORD_INT64 ? n * 8 : (n * 4 + 7) & ~(size_t)7;
}

/* --- reading ---------------------------------------------------------------------------------------------------------- */

static sp_status find_shape(const sp_record_field *f, size_t n, int64_t *dims)
{
    size_t known = 1;
    int any = -1;
    for (int i = 0; i < f->rank; i++) {
        dims[i] = f->dims[i];
        if (dims[i] == -1) any = i;
        else if (__builtin_mul_overflow(known, dims[i], &known)) known = SIZE_MAX;
    }
    char text[64];
    if (n == 0 && f->rank > 0) dims[any >= 0 ? any : 0] = 0;
    else if (any >= 0 && n % known == 0) dims[any] = (int64_t)(n / known);
    else
        SP_CHECK(any < 0 && n == known, SP_FORMAT, "%zu elements do not make %s", n,
                 sp__mindrecord_type_text(f->type, f->rank, f->dims, text));
    return SP_OK;
}

static sp_status parse_array(const sp_mindrecord_schema *s, const sp_record_field *f, const uint8_t *data, size_t bytes,
                             sp_record_value *out, int64_t *dims, sp_mindrecord_buffer *scratch)
{
    size_t width = f->type == SP_RECORD_INT32 || f->type == SP_RECORD_FLOAT32 ? 4 : 8;
    size_t n = bytes / width;
    out->data = data;
    if (sp__mindrecord_is_packed(s, f)) {
        SP_TRY(packed_count(data, bytes, &n));
        /* Room was made before (see below): pointers into it stay valid. */
        uint8_t *room = scratch->data + scratch->bytes;
        SP_TRY(unpack(data, bytes, width == 8, room, n));
        scratch->bytes += unpacked_bytes(f, n);
        out->data = room;
    } else {
        SP_CHECK(bytes % width == 0, SP_FORMAT, "%zu bytes are no whole number of %s", bytes,
                 sp_record_type_name(f->type));
    }
    out->bytes = n * width;
    out->rank = f->rank;
    out->dims = dims;
    return find_shape(f, n, dims);
}

/* The piece of blob field k, *at moves behind it. */
static sp_status take_piece(const sp_mindrecord_schema *s, const uint8_t *record, size_t bytes, int k, size_t *at,
                            const uint8_t **out, size_t *out_bytes)
{
    if (s->n_blobs == 1) {
        *out = record;
        *out_bytes = bytes;
        *at = bytes;
        return SP_OK;
    }
    SP_CHECK(bytes - *at >= 8, SP_FORMAT, "the blob record ends in front of its part %d", k);
    uint64_t length = sp__mindrecord_get64_big(record + *at);
    *at += 8;
    SP_CHECK(length <= bytes - *at, SP_FORMAT, "%llu bytes, %zu are left in the blob record",
             (unsigned long long)length, bytes - *at);
    *out = record + *at;
    *out_bytes = (size_t)length;
    *at += (size_t)length;
    return SP_OK;
}

static sp_status parse_piece(const sp_mindrecord_schema *s, int field, const uint8_t *data, size_t bytes,
                             sp_record_value *values, int64_t *dims, sp_mindrecord_buffer *scratch)
{
    const sp_record_field *f = &s->fields[field];
    sp_record_value *v = &values[field];
    v->type = f->type;
    v->rank = -1;
    v->data = data;
    v->bytes = bytes;
    if (f->rank < 0) return SP_OK;
    return parse_array(s, f, data, bytes, v, dims + (ptrdiff_t)field * SP_RANK_MAX, scratch);
}

/* Room for all arrays that will be unpacked, so that none has to move. What is malformed is found by the parse. */
static sp_status make_room(const sp_mindrecord_schema *s, const uint8_t *record, size_t bytes, const bool *want,
                           sp_mindrecord_buffer *scratch)
{
    size_t at = 0, need = 0;
    scratch->bytes = 0;
    for (int k = 0; k < s->n_blobs; k++) {
        const sp_record_field *f = &s->fields[s->blobs[k]];
        const uint8_t *piece = NULL;
        size_t piece_bytes = 0, n = 0;
        if (take_piece(s, record, bytes, k, &at, &piece, &piece_bytes) != SP_OK) break;
        if (!sp__mindrecord_is_packed(s, f) || (want != NULL && !want[s->blobs[k]])) continue;
        if (packed_count(piece, piece_bytes, &n) == SP_OK) need += unpacked_bytes(f, n); /* at most 8 * bytes */
    }
    return sp__mindrecord_buffer_reserve(scratch, need);
}

sp_status sp__mindrecord_blobs_parse(const sp_mindrecord_schema *s, const uint8_t *record, size_t bytes,
                                     const bool *want, sp_record_value *values, int64_t *dims,
                                     sp_mindrecord_buffer *scratch)
{
    if (s->packed) SP_TRY(make_room(s, record, bytes, want, scratch));
    size_t at = 0;
    for (int k = 0; k < s->n_blobs; k++) {
        int field = s->blobs[k];
        const uint8_t *piece = NULL;
        size_t piece_bytes = 0;
        sp_status status = take_piece(s, record, bytes, k, &at, &piece, &piece_bytes);
        if (status == SP_OK && (want == NULL || want[field]))
            status = parse_piece(s, field, piece, piece_bytes, values, dims, scratch);
        if (status != SP_OK) {
            sp__error_context("column '%s'", s->fields[field].name);
            return status;
        }
    }
    SP_CHECK(s->n_blobs == 0 || at == bytes, SP_FORMAT, "%zu bytes are left at the end of the blob record", bytes - at);
    return SP_OK;
}

/* --- writing ---------------------------------------------------------------------------------------------------------- */

static sp_status print_piece(const sp_mindrecord_schema *s, int field, const sp_record_value *v,
                             sp_mindrecord_buffer *out, int64_t *saved)
{
    const sp_record_field *f = &s->fields[field];
    if (!sp__mindrecord_is_packed(s, f)) {
        SP_TRY(sp__mindrecord_buffer_reserve(out, v->bytes));
        if (v->bytes > 0) memcpy(out->data + out->bytes, v->data, v->bytes);
        out->bytes += v->bytes;
        return SP_OK;
    }
    bool wide = f->type == SP_RECORD_INT64;
    size_t n = v->bytes / (wide ? 8 : 4);
    SP_CHECK(n <= UINT32_MAX, SP_VALUE, "column '%s': %zu elements, a compressed array counts with 32 bits", f->name,
             n);
    SP_TRY(sp__mindrecord_buffer_reserve(out, 4 + codes_bytes(n) + v->bytes));
    uint8_t *begin = out->data + out->bytes, *end = pack(v->data, n, wide, begin);
    *saved += (int64_t)v->bytes - (end - begin);
    out->bytes += (size_t)(end - begin);
    return SP_OK;
}

sp_status sp__mindrecord_blobs_print(const sp_mindrecord_schema *s, const sp_record_value *values,
                                     sp_mindrecord_buffer *out, int64_t *saved)
{
    if (s->n_blobs == 0) {
        SP_TRY(sp__mindrecord_buffer_reserve(out, 4));
        memset(out->data + out->bytes, 0, 4);
        out->bytes += 4;
    }
    for (int k = 0; k < s->n_blobs; k++) {
        size_t length_at = out->bytes;
        if (s->n_blobs > 1) {
            SP_TRY(sp__mindrecord_buffer_reserve(out, 8));
            out->bytes += 8;
        }
        size_t begin = out->bytes;
        SP_TRY(print_piece(s, s->blobs[k], &values[s->blobs[k]], out, saved));
        uint64_t length = out->bytes - begin;
        for (int i = 0; s->n_blobs > 1 && i < 8; i++)
            out->data[length_at + (size_t)i] = (uint8_t)(length >> (56 - 8 * i));
    }
    return SP_OK;
}
