/* SPDX-License-Identifier: Apache-2.0 */
/* tfrecord.c - TFRecord files and tf.train.Example.
 *
 * A file is a row of records:
 *     length        8 bytes, little-endian
 *     checksum      4 bytes, of the length
 *     data
 *     checksum      4 bytes, of the data
 * A checksum is a CRC-32C, rotated right by 15 and increased by 0xA282EAD8. The data is usually a protobuf message:
 *     Example { 1: Features { 1: entry { 1: name, 2: Feature } ... } }
 *     Feature { 1: { 1: bytes ... } | 2: { 1: float ... } | 3: { 1: varint ... } }     numbers packed or one by one
 * Messages are small and their parts few, so parsing is two passes: one counts, one stores, and memory is taken between. */
#include "base/handle.h"
#include "spore/tfrecord.h"

#include <string.h>

#include "base/base.h"
#include "base/byte_order.h"
#include "base/file.h"
#include "base/lock.h"

/* --- checksums ------------------------------------------------------------------------------------------------------------- */

static uint32_t crc_table[8][256];
static sp_once crc_once = SP_ONCE_INIT;

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (0x82F63B78U & (0U - (crc & 1)));
        crc_table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            crc_table[k][i] = crc_table[k - 1][i] >> 8 ^ crc_table[0][crc_table[k - 1][i] & 0xFF];
}

/* Eight bytes at a time. */
static uint32_t masked_crc(const uint8_t *p, size_t n)
{
    uint32_t crc = ~0U;
    sp__once(&crc_once, make_crc_table);
    for (; n >= 8; p += 8, n -= 8) {
        uint32_t low = sp__le32(p) ^ crc, high = sp__le32(p + 4);
        crc = crc_table[7][low & 0xFF] ^ crc_table[6][low >> 8 & 0xFF] ^ crc_table[5][low >> 16 & 0xFF] ^
              crc_table[4][low >> 24] ^ crc_table[3][high & 0xFF] ^ crc_table[2][high >> 8 & 0xFF] ^
              crc_table[1][high >> 16 & 0xFF] ^ crc_table[0][high >> 24];
    }
    for (; n > 0; n--) crc = crc >> 8 ^ crc_table[0][(crc ^ *p++) & 0xFF];
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

/* --- records ---------------------------------------------------------------------------------------------------------------- */

struct sp_tfrecord {
    char *path;
    sp_map *map;
    size_t at;
    int64_t row;
};

void sp_tfrecord_release(sp_tfrecord *f)
{
    if (f == NULL) return;
    sp__map_release(f->map);
    sp__free(f->path);
    sp__free(f);
}

sp_status sp_tfrecord_open(const char *path, sp_tfrecord **out)
{
    sp_tfrecord *f = sp__alloc_zero(sizeof *f);
    if (f == NULL) return SP_NOMEM;
    f->path = sp__strdup(path);
    sp_status status = f->path == NULL ? SP_NOMEM : sp__map_open(path, &f->map);
    if (status != SP_OK) {
        if (f->path != NULL) sp__error_context("%s", path);
        sp_tfrecord_release(f);
        return status;
    }
    *out = f;
    return SP_OK;
}

/* The size of the record at f->at. */
static sp_status take_length(const sp_tfrecord *f, size_t *bytes)
{
    const uint8_t *p = f->map->data + f->at;
    const size_t left = f->map->bytes - f->at;
    SP_CHECK(left >= 12, SP_FORMAT, "the file is cut inside its length");
    sp__map_touch(p, 12);
    SP_TRY(sp__map_check(f->map));
    const uint64_t length = sp__le64(p);
    SP_CHECK(masked_crc(p, 8) == sp__le32(p + 8), SP_FORMAT,
             "the checksum of its length is wrong: not a TFRecord file, or damaged");
    SP_CHECK(left - 12 >= 4 && length <= left - 16, SP_FORMAT, "%llu bytes, %zu are left in the file",
             (unsigned long long)length, left - 12);
    *bytes = (size_t)length;
    return SP_OK;
}

static sp_status take_record(sp_tfrecord *f, const uint8_t **data, size_t *bytes)
{
    SP_TRY(take_length(f, bytes));
    const uint8_t *p = f->map->data + f->at + 12;
    const bool whole = masked_crc(p, *bytes) == sp__le32(p + *bytes);
    SP_TRY(sp__map_check(f->map)); /* first: that is why its checksum may be wrong */
    SP_CHECK(whole, SP_FORMAT, "its checksum is wrong: it is damaged");
    *data = p;
    f->at += *bytes + 16;
    return SP_OK;
}

sp_status sp_tfrecord_next(sp_tfrecord *f, const void **data, size_t *bytes)
{
    SP_HANDLE(f);
    const uint8_t *found = NULL;
    size_t n = 0;
    if (f->at < f->map->bytes) {
        sp_status status = take_record(f, &found, &n);
        if (status != SP_OK) {
            sp__error_context("%s: record %lld at byte %zu", f->path, (long long)f->row, f->at);
            return status;
        }
        f->row++;
    }
    *data = found;
    *bytes = n;
    return SP_OK;
}

size_t sp_tfrecord_tell(const sp_tfrecord *f) { return f ? f->at : 0; }

sp_status sp_tfrecord_seek(sp_tfrecord *f, size_t place)
{
    SP_HANDLE(f);
    SP_CHECK(place <= f->map->bytes, SP_VALUE, "%s: place %zu is behind the file's end at %zu", f->path, place,
             f->map->bytes);
    f->at = place;
    return SP_OK;
}

sp_status sp_tfrecord_skip(sp_tfrecord *f, bool *more)
{
    SP_HANDLE(f);
    size_t bytes = 0;
    *more = f->at < f->map->bytes;
    if (!*more) return SP_OK;
    const sp_status status = take_length(f, &bytes);
    if (status != SP_OK) {
        sp__error_context("%s: record %lld at byte %zu", f->path, (long long)f->row, f->at);
        return status;
    }
    f->at += bytes + 16;
    f->row++;
    return SP_OK;
}

/* --- protobuf ---------------------------------------------------------------------------------------------------------------- */

typedef struct part { /* a field of a message */
    uint64_t number;
    int wire; /* 0 varint, 1 eight bytes, 2 bytes, 5 four bytes */
    uint64_t value;
    const uint8_t *data;
    size_t bytes;
} part;

typedef struct cursor {
    const uint8_t *p, *end;
} cursor;

static sp_status take_varint(cursor *c, uint64_t *out)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        SP_CHECK(c->p < c->end, SP_FORMAT, "the message ends inside a number");
        uint8_t byte = *c->p++;
        v |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = v;
            return SP_OK;
        }
    }
    return sp__fail(SP_FORMAT, "a number in the message has more than 10 bytes");
}

static sp_status take_part(cursor *c, part *out)
{
    uint64_t key = 0, n = 0;
    SP_TRY(take_varint(c, &key));
    out->number = key >> 3;
    out->wire = (int)(key & 7);
    if (out->wire == 0) return take_varint(c, &out->value);
    if (out->wire == 2) SP_TRY(take_varint(c, &n));
    else if (out->wire == 1) n = 8;
    else if (out->wire == 5) n = 4;
    else return sp__fail(SP_FORMAT, "the message has a field of wire type %d", out->wire);
    SP_CHECK(n <= (uint64_t)(c->end - c->p), SP_FORMAT, "the message ends inside its field %llu",
             (unsigned long long)out->number);
    out->data = c->p;
    out->bytes = (size_t)n;
    c->p += n;
    return SP_OK;
}

static cursor inside(const part *p) { return (cursor){p->data, p->data + p->bytes}; }

/* --- examples ---------------------------------------------------------------------------------------------------------------- */

typedef struct store { /* where values go; counted first */
    size_t n_features, n_floats, n_ints, n_texts;
} store;

struct sp_example {
    store room, used;
    sp_feature *features;
    float *floats;
    int64_t *ints;
    const void **texts;
    size_t *text_bytes;
};

sp_status sp_example_create(sp_example **out)
{
    *out = sp__alloc_zero(sizeof **out);
    return *out == NULL ? SP_NOMEM : SP_OK;
}

void sp_example_release(sp_example *e)
{
    if (e == NULL) return;
    sp__free(e->features);
    sp__free(e->floats);
    sp__free(e->ints);
    sp__free(e->texts);
    sp__free(e->text_bytes);
    sp__free(e);
}

/* One field of a list of values. e == NULL: only count. */
static sp_status take_value(sp_feature_kind kind, const part *p, sp_example *e, store *n)
{
    if (kind == SP_FEATURE_BYTES) {
        SP_CHECK(p->wire == 2, SP_FORMAT, "a text has wire type %d", p->wire);
        if (e != NULL) {
            e->texts[n->n_texts] = p->data;
            e->text_bytes[n->n_texts] = p->bytes;
        }
        n->n_texts++;
        return SP_OK;
    }
    if (kind == SP_FEATURE_FLOAT) {
        SP_CHECK((p->wire == 2 || p->wire == 5) && p->bytes % 4 == 0, SP_FORMAT, "floats have %zu bytes", p->bytes);
        for (size_t i = 0; i < p->bytes / 4; i++, n->n_floats++) {
            uint32_t bits = sp__le32(p->data + i * 4);
            if (e != NULL) memcpy(&e->floats[n->n_floats], &bits, 4);
        }
        return SP_OK;
    }
    if (p->wire == 0) {
        if (e != NULL) e->ints[n->n_ints] = (int64_t)p->value;
        n->n_ints++;
        return SP_OK;
    }
    SP_CHECK(p->wire == 2, SP_FORMAT, "integers have wire type %d", p->wire);
    for (cursor c = inside(p); c.p < c.end; n->n_ints++) {
        uint64_t v = 0;
        SP_TRY(take_varint(&c, &v));
        if (e != NULL) e->ints[n->n_ints] = (int64_t)v;
    }
    return SP_OK;
}

static sp_status take_feature(const part *feature, sp_example *e, store *n, sp_feature *out)
{
    store before = *n;
    for (cursor c = inside(feature); c.p < c.end;) {
        part list = {0};
        SP_TRY(take_part(&c, &list));
        if (list.number < 1 || list.number > 3 || list.wire != 2) continue;
        /* The last kind wins, as for every choice in protobuf. Counting counts all: they are stored for a while. */
        if (e != NULL && out->kind != (sp_feature_kind)list.number)
            *n = (store){n->n_features, before.n_floats, before.n_ints, before.n_texts};
        out->kind = (sp_feature_kind)list.number;
        for (cursor v = inside(&list); v.p < v.end;) {
            part value = {0};
            SP_TRY(take_part(&v, &value));
            if (value.number == 1) SP_TRY(take_value(out->kind, &value, e, n));
        }
    }
    out->count = n->n_floats - before.n_floats + n->n_ints - before.n_ints + n->n_texts - before.n_texts;
    if (e == NULL) return SP_OK;
    if (out->kind == SP_FEATURE_FLOAT) out->floats = e->floats + before.n_floats;
    if (out->kind == SP_FEATURE_INT64) out->ints = e->ints + before.n_ints;
    if (out->kind == SP_FEATURE_BYTES) {
        out->texts = e->texts + before.n_texts;
        out->text_bytes = e->text_bytes + before.n_texts;
    }
    return SP_OK;
}

static sp_status take_entry(const part *entry, sp_example *e, store *n)
{
    sp_feature f = {0};
    for (cursor c = inside(entry); c.p < c.end;) {
        part p = {0};
        SP_TRY(take_part(&c, &p));
        if (p.number == 1 && p.wire == 2) {
            f.name = (const char *)p.data;
            f.name_bytes = p.bytes;
        } else if (p.number == 2 && p.wire == 2) {
            SP_TRY(take_feature(&p, e, n, &f));
        }
    }
    if (f.name == NULL) f.name = "";
    if (e != NULL) e->features[n->n_features] = f;
    n->n_features++;
    return SP_OK;
}

static sp_status walk(const void *data, size_t bytes, sp_example *e, store *n)
{
    *n = (store){0, 0, 0, 0};
    for (cursor c = {data, (const uint8_t *)data + bytes}; c.p < c.end;) {
        part features = {0};
        SP_TRY(take_part(&c, &features));
        if (features.number != 1 || features.wire != 2) continue;
        for (cursor f = inside(&features); f.p < f.end;) {
            part entry = {0};
            SP_TRY(take_part(&f, &entry));
            if (entry.number == 1 && entry.wire == 2) SP_TRY(take_entry(&entry, e, n));
        }
    }
    return SP_OK;
}

/* A block for `need` elements instead of the old one, which goes: contents are not kept. NULL: no memory. */
static void *renew(void *old, size_t need, size_t size)
{
    sp__free(old);
    return sp__alloc(need * size); /* need is at most the bytes of the message */
}

static sp_status make_room(sp_example *e, const store *need)
{
    store *room = &e->room;
    if (need->n_features > room->n_features) e->features = renew(e->features, need->n_features, sizeof *e->features);
    if (need->n_floats > room->n_floats) e->floats = renew(e->floats, need->n_floats, sizeof *e->floats);
    if (need->n_ints > room->n_ints) e->ints = renew(e->ints, need->n_ints, sizeof *e->ints);
    if (need->n_texts > room->n_texts) {
        e->texts = renew(e->texts, need->n_texts, sizeof *e->texts);
        e->text_bytes = renew(e->text_bytes, need->n_texts, sizeof *e->text_bytes);
    }
    bool have = (e->features != NULL || need->n_features == 0) && (e->floats != NULL || need->n_floats == 0) &&
                (e->ints != NULL || need->n_ints == 0) &&
                ((e->texts != NULL && e->text_bytes != NULL) || need->n_texts == 0);
    if (!have) *room = (store){0, 0, 0, 0}; /* all blocks are made anew next time */
    else {
        if (need->n_features > room->n_features) room->n_features = need->n_features;
        if (need->n_floats > room->n_floats) room->n_floats = need->n_floats;
        if (need->n_ints > room->n_ints) room->n_ints = need->n_ints;
        if (need->n_texts > room->n_texts) room->n_texts = need->n_texts;
    }
    return have ? SP_OK : SP_NOMEM;
}

sp_status sp_example_parse(sp_example *e, const void *data, size_t bytes)
{
    SP_HANDLE(e);
    store need;
    e->used = (store){0, 0, 0, 0};
    SP_TRY(walk(data, bytes, NULL, &need));
    SP_TRY(make_room(e, &need));
    return walk(data, bytes, e, &e->used);
}

int sp_example_count(const sp_example *e) { return e ? (int)e->used.n_features : 0; }
const sp_feature *sp_example_at(const sp_example *e, int i)
{
    return i >= 0 && i < sp_example_count(e) ? &e->features[i] : NULL;
}

const sp_feature *sp_example_find(const sp_example *e, const char *name)
{
    if (!e) return NULL;
    size_t n = strlen(name);
    for (size_t i = e->used.n_features; i > 0; i--) { /* of two with one name the last counts */
        const sp_feature *f = &e->features[i - 1];
        if (f->name_bytes == n && memcmp(f->name, name, n) == 0) return f;
    }
    return NULL;
}
