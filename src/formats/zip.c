/* SPDX-License-Identifier: Apache-2.0 */
/* zip.c - zip archives.
 *
 * Layout: members, each behind a local header | directory: one record a member | end record, found from the end of the
 * file; archives beyond 4 GB (or 65,535 members) have a zip64 end record and its locator in front of it.
 *
 *   local header  50 4B 03 04 | version 2 | flags 2 | method 2 | time 4 | crc 4 | packed 4 | plain 4 | name length 2 |
 *                 extra length 2 | name | extra | contents
 *   directory     50 4B 01 02 | made by 2 | version 2 | flags 2 | method 2 | time 4 | crc 4 | packed 4 | plain 4 |
 *                 name length 2 | extra length 2 | comment length 2 | disk 2 | attributes 6 | offset 4 | name | extra | ..
 *   end           50 4B 05 06 | disks 4 | members 2 | members 2 | directory bytes 4 | offset 4 | comment length 2
 *   zip64 end     50 4B 06 06 | size 8 | versions 4 | disks 8 | members 8 | members 8 | bytes 8 | offset 8
 *   locator       50 4B 06 07 | disk 4 | offset of the zip64 end 8 | disks 4
 *   zip64 extra   01 00 | length 2 | those of plain, packed, offset (8 each) that are FFFFFFFF in the record
 *
 * The directory is what counts; of a local header only the two lengths are used. All sizes are checked before use. What
 * a bomb can do is bounded: members must not share bytes, and deflate cannot unpack to more than 1,032 times. */
#include "formats/zip.h"

#include <string.h>
#include <zlib.h>

#include "base/byte_order.h"
#include "formats/wire.h"

enum {
    LOCAL_BYTES = 30,
    RECORD_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    COMMENT_MAX = 65535,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
    FLAG_ENCRYPTED = 1,
    RATIO_MAX = 1032,
    EXTRA_ZIP64 = 1
};

static const uint32_t mark_local = 0x04034B50, mark_record = 0x02014B50, mark_end = 0x06054B50, mark_end64 = 0x06064B50,
                      mark_locator = 0x07064B50;

bool sp__zip_probe(const sp_source *s)
{
    return s->bytes >= END_BYTES && (sp__le(s->data, 4) == mark_local || sp__le(s->data, 4) == mark_end);
}

/* --- the directory ----------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t offset, bytes, count;
} directory;

static sp_status find_end(const sp_source *s, size_t *out)
{
    SP_CHECK(s->bytes >= END_BYTES, SP_FORMAT, "%zu bytes are no zip archive", s->bytes);
    size_t last = s->bytes - END_BYTES, first = last > COMMENT_MAX ? last - COMMENT_MAX : 0;
    for (size_t at = last + 1; at-- > first;)
        if (sp__le(s->data + at, 4) == mark_end && sp__le(s->data + at + 20, 2) == s->bytes - at - END_BYTES) {
            *out = at;
            return SP_OK;
        }
    return sp__fail(SP_FORMAT, "the zip archive has no directory: it is cut");
}

uint64_t sp__zip_wanted(const sp_source *s)
{
    const uint8_t mark[] = {'P', 'K', 3, 4};
    size_t end, n = s->bytes < sizeof mark ? s->bytes : sizeof mark;
    if (memcmp(s->data, mark, n) != 0) return 0;
    return find_end(s, &end) == SP_OK ? 0 : s->bytes + END_BYTES;
}

static sp_status find_directory(const sp_source *s, directory *d)
{
    size_t end = 0;
    SP_TRY(find_end(s, &end));
    const uint8_t *p = s->data + end;
    *d = (directory){sp__le(p + 16, 4), sp__le(p + 12, 4), sp__le(p + 10, 2)};
    if (end >= LOCATOR_BYTES && sp__le(p - LOCATOR_BYTES, 4) == mark_locator) {
        uint64_t at = sp__le(p - LOCATOR_BYTES + 8, 8);
        SP_CHECK(at <= end && end - at >= END64_BYTES && sp__le(s->data + at, 4) == mark_end64, SP_FORMAT,
                 "byte %zu: the zip64 end record is not where it should be", end - LOCATOR_BYTES);
        p = s->data + at;
        *d = (directory){sp__le(p + 48, 8), sp__le(p + 40, 8), sp__le(p + 32, 8)};
    }
    SP_CHECK(d->offset <= end && d->bytes <= end - d->offset, SP_FORMAT,
             "the directory of the zip archive (%llu bytes from byte %llu on) does not lie inside it",
             (unsigned long long)d->bytes, (unsigned long long)d->offset);
    SP_CHECK(d->count <= d->bytes / RECORD_BYTES, SP_FORMAT, "the zip archive claims %llu members in %llu bytes",
             (unsigned long long)d->count, (unsigned long long)d->bytes);
    return SP_OK;
}

/* Replace what is FFFFFFFF by the numbers of the zip64 field. */
static sp_status read_zip64(const uint8_t *extra, size_t bytes, uint64_t *numbers[3])
{
    while (bytes >= 4) {
        size_t id = (size_t)sp__le(extra, 2), n = (size_t)sp__le(extra + 2, 2);
        SP_CHECK(n <= bytes - 4, SP_FORMAT, "an extra field is longer than its room");
        const uint8_t *at = extra + 4, *end = at + n;
        for (int i = 0; id == EXTRA_ZIP64 && i < 3; i++) {
            if (*numbers[i] != UINT32_MAX) continue;
            SP_CHECK(end - at >= 8, SP_FORMAT, "the zip64 field is too short");
            *numbers[i] = sp__le(at, 8);
            at += 8;
        }
        extra += 4 + n;
        bytes -= 4 + n;
    }
    return SP_OK;
}

static sp_status find_contents(const sp_source *s, const directory *d, uint64_t offset, sp_zip_entry *e)
{
    SP_CHECK(offset <= d->offset && d->offset - offset >= LOCAL_BYTES && sp__le(s->data + offset, 4) == mark_local,
             SP_FORMAT, "byte %llu: no local header where the directory says", (unsigned long long)offset);
    const uint8_t *p = s->data + offset;
    uint64_t head = LOCAL_BYTES + sp__le(p + 26, 2) + sp__le(p + 28, 2), left = d->offset - offset;
    SP_CHECK(head <= left && e->packed_bytes <= left - head, SP_FORMAT,
             "byte %llu: %llu bytes of contents do not lie in front of the directory", (unsigned long long)offset,
             (unsigned long long)e->packed_bytes);
    e->data = p + head;
    return SP_OK;
}

static sp_status read_record(const sp_source *s, const directory *d, const uint8_t *p, sp_zip_entry *e)
{
    size_t n_name = (size_t)sp__le(p + 28, 2), n_extra = (size_t)sp__le(p + 30, 2), method = (size_t)sp__le(p + 10, 2);
    uint64_t packed = sp__le(p + 20, 4), plain = sp__le(p + 24, 4), offset = sp__le(p + 42, 4);
    uint64_t *numbers[3] = {&plain, &packed, &offset};
    SP_TRY(read_zip64(p + RECORD_BYTES + n_name, n_extra, numbers));
    SP_CHECK(!(sp__le(p + 8, 2) & FLAG_ENCRYPTED), SP_FORMAT,
             "is encrypted with a zip password, which is not supported");
    SP_CHECK(method == METHOD_STORED || method == METHOD_DEFLATED, SP_FORMAT,
             "is compressed with method %zu; 0 (stored) and 8 (deflated) are supported", method);
    e->deflated = method == METHOD_DEFLATED;
    e->crc = (uint32_t)sp__le(p + 16, 4);
    SP_CHECK(plain <= SIZE_MAX / 2, SP_FORMAT, "has %llu bytes, which do not fit the address space",
             (unsigned long long)plain);
    e->packed_bytes = packed;
    e->bytes = plain;
    SP_CHECK(e->deflated || packed == plain, SP_FORMAT, "is stored, but has sizes %llu and %llu",
             (unsigned long long)packed, (unsigned long long)plain);
    SP_CHECK(plain / RATIO_MAX <= packed, SP_FORMAT, "claims to unpack %llu bytes to %llu, which deflate cannot do",
             (unsigned long long)packed, (unsigned long long)plain);
    return find_contents(s, d, offset, e);
}

static sp_status read_records(const sp_source *s, const directory *d, sp_zip *zip)
{
    const uint8_t *p = s->data + d->offset, *end = p + d->bytes;
    char *names = zip->names;
    uint64_t total = 0;
    for (uint64_t i = 0; i < d->count; i++) {
        SP_CHECK(end - p >= RECORD_BYTES && sp__le(p, 4) == mark_record, SP_FORMAT,
                 "byte %zu: no record of member %llu of the zip archive", (size_t)(p - s->data), (unsigned long long)i);
        size_t n_name = (size_t)sp__le(p + 28, 2),
               n = RECORD_BYTES + n_name + (size_t)(sp__le(p + 30, 2) + sp__le(p + 32, 2));
        SP_CHECK(n <= (size_t)(end - p), SP_FORMAT, "byte %zu: a record of %zu bytes leaves the directory",
                 (size_t)(p - s->data), n);
        sp_zip_entry *e = &zip->entries[zip->count];
        const char *name = (const char *)p + RECORD_BYTES;
        SP_CHECK(memchr(name, 0, n_name) == NULL && sp__utf8_valid(name, n_name) == n_name, SP_FORMAT,
                 "byte %zu: the name of a member is not UTF-8", (size_t)(p - s->data) + RECORD_BYTES);
        memcpy(names, name, n_name);
        names[n_name] = '\0';
        e->name = names;
        names += n_name + 1;
        sp_status status = read_record(s, d, p, e);
        if (status != SP_OK) {
            char shown[SP_NAME_SHOWN];
            sp__error_context("member '%s'", sp__name_shown(e->name, n_name, shown));
            return status;
        }
        total += e->packed_bytes;
        /* Members that share bytes are how a small archive unpacks to a huge one. */
        SP_CHECK(total <= d->offset, SP_FORMAT, "members of the zip archive overlap");
        zip->count++;
        p += n;
    }
    return SP_OK;
}

sp_status sp__zip_open(const sp_source *s, sp_zip *out)
{
    directory d = {0, 0, 0};
    SP_TRY(find_directory(s, &d));
    sp_zip zip = {0};
    zip.entries = sp__alloc((size_t)(d.count + 1) * sizeof *zip.entries);
    zip.names = sp__alloc((size_t)d.bytes + 1); /* a name and its NUL take less than its record */
    sp_status status = zip.entries != NULL && zip.names != NULL ? read_records(s, &d, &zip) : SP_NOMEM;
    if (status == SP_OK) *out = zip;
    else sp__zip_close(&zip);
    return status;
}

void sp__zip_close(sp_zip *zip)
{
    sp__free(zip->entries);
    sp__free(zip->names);
    memset(zip, 0, sizeof *zip);
}

const sp_zip_entry *sp__zip_find(sp_zip *zip, const char *name)
{
    for (size_t i = 0; i < zip->count; i++) {
        size_t k = (zip->next + i) % zip->count;
        if (strcmp(zip->entries[k].name, name) != 0) continue;
        zip->next = k + 1;
        return &zip->entries[k];
    }
    return NULL;
}

/* --- contents ---------------------------------------------------------------------------------------------------- */

/* Unpack up to `room` bytes; *bytes: how many came out. */
static sp_status inflate_into(const sp_zip_entry *e, uint8_t *out, size_t room, size_t *bytes)
{
    enum { STEP = 1 << 30 }; /* zlib counts in 32 bits */
    z_stream z = {0};
    SP_CHECK(inflateInit2(&z, -MAX_WBITS) == Z_OK, SP_NOMEM, "out of memory for unpacking");
    const uint8_t *in = e->data;
    uint64_t in_left = e->packed_bytes;
    size_t done = 0;
    int result = Z_OK;
    while (result == Z_OK && done < room) {
        uint64_t n_in = in_left < STEP ? in_left : STEP;
        size_t n_out = room - done < STEP ? room - done : STEP;
        z.next_in = (Bytef *)(uintptr_t)in;
        z.avail_in = (uInt)n_in;
        z.next_out = out + done;
        z.avail_out = (uInt)n_out;
        result = inflate(&z, Z_NO_FLUSH);
        in += n_in - z.avail_in;
        in_left -= n_in - z.avail_in;
        done += n_out - z.avail_out;
        if (result == Z_OK && n_in == z.avail_in && n_out == z.avail_out) break; /* no progress: cut */
    }
    inflateEnd(&z);
    *bytes = done;
    SP_CHECK(result != Z_MEM_ERROR, SP_NOMEM, "out of memory for unpacking");
    SP_CHECK(result == Z_STREAM_END || (result == Z_OK && done == room), SP_FORMAT,
             "the compressed contents are damaged after %zu of %llu bytes", done, (unsigned long long)e->bytes);
    return SP_OK;
}

sp_status sp__zip_peek(const sp_zip_entry *e, uint8_t *out, size_t room, size_t *bytes)
{
    if (room > e->bytes) room = (size_t)e->bytes;
    if (e->deflated) return inflate_into(e, out, room, bytes);
    if (room > 0) memcpy(out, e->data, room);
    *bytes = room;
    return SP_OK;
}

static sp_status check_crc(const sp_zip_entry *e, const uint8_t *data)
{
    uint32_t found = (uint32_t)crc32_z(0, data, (size_t)e->bytes);
    SP_CHECK(found == e->crc, SP_FORMAT, "the CRC check failed: %#lx found, %#lx wanted; the file is damaged",
             (unsigned long)found, (unsigned long)e->crc);
    return SP_OK;
}

sp_status sp__zip_source(const sp_source *s, const sp_zip_entry *e, sp_source *out)
{
    sp_source inside = {.data = e->data, .bytes = (size_t)e->bytes, .map = s->map, .options = s->options};
    sp_status status = SP_OK;
    if (!e->deflated) {
        if (s->options->flags & SP_FILE_CRC) status = check_crc(e, e->data);
        if (status == SP_OK && s->map != NULL) sp__map_retain(s->map);
    } else {
        size_t bytes = 0;
        inside.map = NULL;
        status = sp__map_create((size_t)e->bytes, &inside.map);
        if (status == SP_OK) status = inflate_into(e, inside.map->data, (size_t)e->bytes, &bytes);
        if (status == SP_OK && bytes != e->bytes)
            status = sp__fail(SP_FORMAT, "unpacks to %zu bytes, %llu wanted", bytes, (unsigned long long)e->bytes);
        if (status == SP_OK) status = check_crc(e, inside.map->data);
        if (status == SP_OK) inside.data = inside.map->data;
        else sp__map_release(inside.map);
    }
    if (status == SP_OK) {
        *out = inside;
        return SP_OK;
    }
    char shown[SP_NAME_SHOWN];
    sp__error_context("member '%s'", sp__name_shown(e->name, strlen(e->name), shown));
    return status;
}
