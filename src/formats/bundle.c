/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.c - named tensors and texts in order, found by name through a hash table of indices.
 *
 * The table is open-addressed with linear probing, a power of two of slots, at most half of them used; slot value 0 is
 * free, i + 1 stands for entry i. Entries are never removed, so there are no tombstones. */
#include "formats/bundle.h"

#include <string.h>

#include "spore/format.h"

typedef struct {
    char *name;
    uint64_t hash;
    sp_tensor *tensor; /* or */
    char *text;
    size_t text_bytes;
} entry;

struct sp_bundle {
    entry *entries;
    int64_t count, capacity;
    int64_t *slots;
    uint64_t n_slots;
};

/* Length of the UTF-8 character at p (1 to 4), 0 if there is none: overlong forms, surrogates and numbers above 10FFFF
 * are not characters. */
static size_t utf8_char(const uint8_t *p, size_t left)
{
    uint8_t b = p[0];
    size_t n = b < 0x80 ? 1 : b >= 0xC2 && b < 0xE0 ? 2 : b >= 0xE0 && b < 0xF0 ? 3 : b >= 0xF0 && b < 0xF5 ? 4 : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if (b == 0xE0 && p[1] < 0xA0) return 0;
    if (b == 0xED && p[1] > 0x9F) return 0;
    if (b == 0xF0 && p[1] < 0x90) return 0;
    if (b == 0xF4 && p[1] > 0x8F) return 0;
    return n;
}

size_t sp__utf8_valid(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        size_t n = utf8_char((const uint8_t *)text + at, bytes - at);
        if (n == 0) break;
        at += n;
    }
    return at;
}

static uint64_t hash_of(const char *name)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *name != '\0'; name++) h = (h ^ (uint8_t)*name) * 1099511628211u;
    return h ^ h >> 32;
}

sp_status sp_bundle_create(sp_bundle **out)
{
    sp_bundle *b = sp__alloc_zero(sizeof *b);
    if (b == NULL) return SP_NOMEM;
    *out = b;
    return SP_OK;
}

void sp_bundle_release(sp_bundle *b)
{
    if (b == NULL) return;
    for (int64_t i = 0; i < b->count; i++) {
        sp__free(b->entries[i].name);
        sp__free(b->entries[i].text);
        sp_tensor_release(b->entries[i].tensor);
    }
    sp__free(b->entries);
    sp__free(b->slots);
    sp__free(b);
}

/* The slot of that name, or the free one where it belongs. The table is not empty. */
static uint64_t slot_of(const sp_bundle *b, const char *name, uint64_t hash)
{
    uint64_t i = hash & (b->n_slots - 1);
    while (b->slots[i] != 0) {
        const entry *e = &b->entries[b->slots[i] - 1];
        if (e->hash == hash && strcmp(e->name, name) == 0) break;
        i = (i + 1) & (b->n_slots - 1);
    }
    return i;
}

static sp_status grow_entries(sp_bundle *b)
{
    if (b->count < b->capacity) return SP_OK;
    int64_t capacity = b->capacity == 0 ? 16 : b->capacity * 2;
    entry *larger = sp__realloc(b->entries, (size_t)b->count * sizeof *larger, (size_t)capacity * sizeof *larger);
    if (larger == NULL) return SP_NOMEM;
    b->entries = larger;
    b->capacity = capacity;
    return SP_OK;
}

static sp_status grow_slots(sp_bundle *b)
{
    if ((uint64_t)b->count * 2 < b->n_slots) return SP_OK;
    uint64_t n_slots = b->n_slots == 0 ? 32 : b->n_slots * 2;
    int64_t *slots = sp__alloc_zero((size_t)n_slots * sizeof *slots);
    if (slots == NULL) return SP_NOMEM;
    sp__free(b->slots);
    b->slots = slots;
    b->n_slots = n_slots;
    for (int64_t i = 0; i < b->count; i++) slots[slot_of(b, b->entries[i].name, b->entries[i].hash)] = i + 1;
    return SP_OK;
}

/* Either tensor (retained) or text (taken over when it succeeds). */
static sp_status put(sp_bundle *b, const char *name, sp_tensor *tensor, char *text, size_t text_bytes)
{
    size_t name_bytes = strlen(name);
    size_t valid = sp__utf8_valid(name, name_bytes);
    SP_CHECK(valid == name_bytes, SP_VALUE, "the entry name is not UTF-8 at byte %zu of %zu", valid, name_bytes);
    uint64_t hash = hash_of(name);
    SP_TRY(grow_slots(b));
    uint64_t slot = slot_of(b, name, hash);
    if (b->slots[slot] == 0) {
        SP_TRY(grow_entries(b));
        char *copy = sp__strdup(name);
        if (copy == NULL) return SP_NOMEM;
        b->entries[b->count] = (entry){.name = copy, .hash = hash};
        b->slots[slot] = ++b->count;
    }
    entry *e = &b->entries[b->slots[slot] - 1];
    if (tensor != NULL) sp_tensor_retain(tensor);
    sp_tensor_release(e->tensor);
    sp__free(e->text);
    e->tensor = tensor;
    e->text = text;
    e->text_bytes = text_bytes;
    return SP_OK;
}

sp_status sp_bundle_add(sp_bundle *b, const char *name, sp_tensor *tensor)
{
    SP_CHECK(b != NULL && name != NULL && tensor != NULL, SP_VALUE, "bundle, name and tensor must not be NULL");
    return put(b, name, tensor, NULL, 0);
}

sp_status sp_bundle_add_text(sp_bundle *b, const char *name, const char *text, size_t bytes)
{
    SP_CHECK(b != NULL && name != NULL && text != NULL, SP_VALUE, "bundle, name and text must not be NULL");
    size_t valid = sp__utf8_valid(text, bytes);
    SP_CHECK(valid == bytes, SP_VALUE, "the text of entry '%s' is not UTF-8 at byte %zu of %zu", name, valid, bytes);
    size_t room;
    char *copy = sp__alloc(sp__add_size(bytes, 1, &room) ? room : SIZE_MAX);
    if (copy == NULL) return SP_NOMEM;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    sp_status status = put(b, name, NULL, copy, bytes);
    if (status != SP_OK) sp__free(copy);
    return status;
}

int64_t sp_bundle_count(const sp_bundle *b) { return b->count; }
const char *sp_bundle_name_at(const sp_bundle *b, int64_t i) { return b->entries[i].name; }
sp_tensor *sp_bundle_tensor_at(const sp_bundle *b, int64_t i) { return b->entries[i].tensor; }

const char *sp_bundle_text_at(const sp_bundle *b, int64_t i, size_t *bytes)
{
    if (bytes != NULL) *bytes = b->entries[i].text_bytes;
    return b->entries[i].text;
}

int64_t sp_bundle_find(const sp_bundle *b, const char *name)
{
    if (b->n_slots == 0) return -1;
    return b->slots[slot_of(b, name, hash_of(name))] - 1;
}
