/* SPDX-License-Identifier: Apache-2.0 */
/* zip_out.c - writing zip archives; the layout is in zip.c. Every member has a zip64 field, so sizes have no limit; dates
 * are fixed, so that equal contents give equal files. */
#include <string.h>
#include <zlib.h>

#include "formats/wire.h"
#include "formats/zip.h"

enum { LOCAL_BYTES = 30, RECORD_BYTES = 46, EXTRA64_LOCAL = 20, EXTRA64_RECORD = 28, ALIGN = 64, VERSION = 45 };
enum { FLAG_UTF8 = 1 << 11, METHOD_DEFLATED = 8, EXTRA_ZIP64 = 1, EXTRA_PADDING = 0x5053 };
static const uint32_t date_1980 = 0x00210000; /* 1 January 1980, 00:00 */

struct sp_zip_out {
    sp_sink *sink;
    uint64_t at;
    uint64_t count;
    sp_wire_out directory;
};

static sp_status put(sp_wire_out *o, uint64_t value, int bytes)
{
    uint8_t data[8];
    for (int i = 0; i < bytes; i++) data[i] = (uint8_t)(value >> (8 * i));
    return sp__wire_put(o, data, (size_t)bytes);
}

sp_status sp__zip_out_create(sp_sink *sink, sp_zip_out **out)
{
    sp_zip_out *zip = sp__alloc_zero(sizeof *zip);
    if (zip == NULL) return SP_NOMEM;
    zip->sink = sink;
    *out = zip;
    return SP_OK;
}

void sp__zip_out_release(sp_zip_out *zip)
{
    if (zip == NULL) return;
    sp__wire_out_free(&zip->directory);
    sp__free(zip);
}

static sp_status emit(sp_zip_out *zip, const void *data, size_t bytes)
{
    zip->at += bytes;
    return sp__sink_write(zip->sink, data, bytes);
}

typedef struct {
    const char *name;
    uint64_t offset, packed, plain;
    uint32_t crc;
    bool deflated;
} member;

/* What local header and record have in common: version to crc (and sizes, which stand in the zip64 field). */
static sp_status put_common(sp_wire_out *o, const member *m, size_t extra_bytes)
{
    SP_TRY(put(o, VERSION, 2));
    SP_TRY(put(o, FLAG_UTF8, 2));
    SP_TRY(put(o, m->deflated ? METHOD_DEFLATED : 0, 2));
    SP_TRY(put(o, date_1980, 4));
    SP_TRY(put(o, m->crc, 4));
    SP_TRY(put(o, UINT32_MAX, 4));
    SP_TRY(put(o, UINT32_MAX, 4));
    SP_TRY(put(o, strlen(m->name), 2));
    return put(o, extra_bytes, 2);
}

static sp_status put_local(sp_zip_out *zip, const member *m, sp_wire_out *o)
{
    /* Bytes of padding field (0, or 4 and more) that bring the contents to a multiple of ALIGN. */
    uint64_t head = zip->at + LOCAL_BYTES + strlen(m->name) + EXTRA64_LOCAL;
    size_t padding = m->deflated ? 0 : (size_t)((ALIGN - head % ALIGN) % ALIGN);
    if (padding > 0 && padding < 4) padding += ALIGN;
    static const uint8_t zeros[2 * ALIGN] = {0};
    SP_TRY(put(o, 0x04034B50, 4));
    SP_TRY(put_common(o, m, EXTRA64_LOCAL + padding));
    SP_TRY(sp__wire_put(o, m->name, strlen(m->name)));
    SP_TRY(put(o, EXTRA_ZIP64, 2));
    SP_TRY(put(o, 16, 2));
    SP_TRY(put(o, m->plain, 8));
    SP_TRY(put(o, m->packed, 8));
    if (padding == 0) return SP_OK;
    SP_TRY(put(o, EXTRA_PADDING, 2));
    SP_TRY(put(o, padding - 4, 2));
    return sp__wire_put(o, zeros, padding - 4);
}

static sp_status put_record(sp_wire_out *o, const member *m)
{
    SP_TRY(put(o, 0x02014B50, 4));
    SP_TRY(put(o, 3 << 8 | VERSION, 2)); /* made by: Unix, for the attributes */
    SP_TRY(put_common(o, m, EXTRA64_RECORD));
    SP_TRY(put(o, 0, 2));                       /* comment */
    SP_TRY(put(o, 0, 2));                       /* disk */
    SP_TRY(put(o, 0, 2));                       /* internal attributes */
    SP_TRY(put(o, (uint64_t)0100644 << 16, 4)); /* a regular file that can be read */
    SP_TRY(put(o, UINT32_MAX, 4));
    SP_TRY(sp__wire_put(o, m->name, strlen(m->name)));
    SP_TRY(put(o, EXTRA_ZIP64, 2));
    SP_TRY(put(o, 24, 2));
    SP_TRY(put(o, m->plain, 8));
    SP_TRY(put(o, m->packed, 8));
    return put(o, m->offset, 8);
}

/* Head and contents of v through deflate, into a block that the caller frees. */
static sp_status deflate_all(const void *head, size_t head_bytes, const sp_contents *v, sp_wire_out *out)
{
    enum { STEP = 1 << 18 };
    z_stream z = {0};
    uint8_t *buffer = sp__alloc(STEP);
    if (buffer == NULL) return SP_NOMEM;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        sp__free(buffer);
        return sp__fail(SP_NOMEM, "out of memory for compressing");
    }
    size_t n = v != NULL ? v->n_pieces : 0;
    sp_status status = SP_OK;
    for (size_t i = 0; i <= n && status == SP_OK; i++) {
        const uint8_t *data = i == 0 ? head : v->pieces[i - 1].data;
        size_t left = i == 0 ? head_bytes : v->pieces[i - 1].bytes;
        do {
            z.next_in = (Bytef *)(uintptr_t)data;
            z.avail_in = (uInt)(left < STEP ? left : STEP);
            data += z.avail_in;
            left -= z.avail_in;
            do {
                z.next_out = buffer;
                z.avail_out = STEP;
                deflate(&z, i == n && left == 0 ? Z_FINISH : Z_NO_FLUSH); /* cannot fail with room to write */
                status = sp__wire_put(out, buffer, STEP - z.avail_out);
            } while (status == SP_OK && z.avail_out == 0);
        } while (status == SP_OK && left > 0);
    }
    deflateEnd(&z);
    sp__free(buffer);
    return status;
}

static sp_status check_name(const char *name)
{
    char shown[SP_NAME_SHOWN];
    bool outside = name[0] == '/' || name[0] == '\0';
    for (const char *at = name; at != NULL && !outside; at = strchr(at, '/')) {
        at += at[0] == '/';
        outside = strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0');
    }
    sp__name_shown(name, strlen(name), shown);
    SP_CHECK(!outside, SP_VALUE, "the name '%s' would lead out of the folder in which somebody unpacks the archive",
             shown);
    SP_CHECK(strlen(name) <= UINT16_MAX, SP_VALUE, "the name '%s' is too long for a zip archive", shown);
    return SP_OK;
}

sp_status sp__zip_out_add(sp_zip_out *zip, const char *name, const void *head, size_t head_bytes, const sp_contents *v,
                          bool deflated)
{
    SP_TRY(check_name(name));
    member m = {.name = name, .offset = zip->at, .deflated = deflated};
    size_t contents = v != NULL ? v->bytes : 0;
    m.plain = m.packed = head_bytes + contents;
    m.crc = (uint32_t)crc32_z(0, head, head_bytes);
    if (v != NULL) m.crc = sp__contents_crc(v, 0, contents, m.crc);
    sp_wire_out local = {0}, packed = {0};
    sp_status status = SP_OK;
    if (deflated) {
        status = deflate_all(head, head_bytes, v, &packed);
        m.packed = packed.bytes;
    }
    if (status == SP_OK) status = put_local(zip, &m, &local);
    if (status == SP_OK) status = emit(zip, local.data, local.bytes);
    if (status == SP_OK) status = emit(zip, deflated ? packed.data : head, deflated ? packed.bytes : head_bytes);
    if (status == SP_OK && !deflated && v != NULL) {
        status = sp__sink_write_contents(zip->sink, v, 0, contents);
        zip->at += contents;
    }
    if (status == SP_OK) status = put_record(&zip->directory, &m);
    zip->count++;
    sp__wire_out_free(&local);
    sp__wire_out_free(&packed);
    return status;
}

sp_status sp__zip_out_finish(sp_zip_out *zip)
{
    uint64_t offset = zip->at;
    sp_wire_out *o = &zip->directory;
    uint64_t bytes = o->bytes;
    SP_TRY(put(o, 0x06064B50, 4)); /* zip64 end: from `versions` on it has 44 bytes */
    SP_TRY(put(o, 44, 8));
    SP_TRY(put(o, VERSION, 2));
    SP_TRY(put(o, VERSION, 2));
    SP_TRY(put(o, 0, 8));
    SP_TRY(put(o, zip->count, 8));
    SP_TRY(put(o, zip->count, 8));
    SP_TRY(put(o, bytes, 8));
    SP_TRY(put(o, offset, 8));
    SP_TRY(put(o, 0x07064B50, 4));
    SP_TRY(put(o, 0, 4));
    SP_TRY(put(o, offset + bytes, 8));
    SP_TRY(put(o, 1, 4));
    SP_TRY(put(o, 0x06054B50, 4));
    SP_TRY(put(o, 0, 4));
    SP_TRY(put(o, zip->count < UINT16_MAX ? zip->count : UINT16_MAX, 2));
    SP_TRY(put(o, zip->count < UINT16_MAX ? zip->count : UINT16_MAX, 2));
    SP_TRY(put(o, bytes < UINT32_MAX ? bytes : UINT32_MAX, 4));
    SP_TRY(put(o, offset < UINT32_MAX ? offset : UINT32_MAX, 4));
    SP_TRY(put(o, 0, 2));
    return emit(zip, o->data, o->bytes);
}
