/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.c - named tensors and texts in order, found by name through a hash table of indices.
 *
 * The table is open-addressed with linear probing, a power of two of slots, at most half of them used; slot value 0 is
 * free, i + 1 stands for entry i. Entries are never removed, so there are no tombstones.
 *
 * A tensor may wait in its file: files like checkpoints do not align their contents, so these cannot be used where they
 * lie, and copying all of them at once would make opening a large file slow. The copy is made when sp_bundle_tensor_at
 * is first asked for it, once, under a lock: for callers that is reading, which several threads may do. */
#include "formats/bundle.h"
#include "tensor/mapped.h"
#include "tensor/remote.h"

#include <string.h>

#include "base/lock.h"

/* Contents in a file; counted, because bundles made from others share it. */
typedef struct {
    atomic_int refs;
    sp_map *map;
    sp_meta meta;
    size_t n_pieces;
    sp_piece pieces[];
} waiting;

typedef struct {
    char *name;
    uint64_t hash;
    _Atomic(sp_tensor *) tensor; /* NULL while it waits; or */
    waiting *wait;
    char *text;
    size_t text_bytes;
} entry;

typedef struct {
    char *key, *text;
} note;

struct sp_bundle {
    entry *entries;
    int64_t count, capacity;
    int64_t *slots;
    uint64_t n_slots;
    note *notes;
    int64_t n_notes;
    const sp_format *format;
};

static sp_lock filling = SP_LOCK_INIT;

/* --- contents in files ------------------------------------------------------------------------------------------- */

void sp__pieces_join(const sp_piece *pieces, size_t n_pieces, void *out)
{
    /* On one thread: memory is the limit, and waiting for a second one costs more than it brings on a busy machine. */
    char *at = out;
    for (size_t i = 0; i < n_pieces; i++) {
        if (pieces[i].bytes > 0) memcpy(at, pieces[i].data, pieces[i].bytes);
        at += pieces[i].bytes;
    }
}

static void waiting_release(waiting *w)
{
    if (w == NULL || atomic_fetch_sub_explicit(&w->refs, 1, memory_order_acq_rel) != 1) return;
    sp__map_release(w->map);
    sp__free(w);
}

static sp_status read_waiting(const waiting *w, sp_tensor **out)
{
    sp_tensor *t;
    SP_TRY(sp__tensor_from_meta(&w->meta, &t));
    char *to = sp_tensor_data(t);
    sp_status status = SP_OK;
    for (size_t i = 0; i < w->n_pieces && status == SP_OK; i++) {
        status = sp__map_read(w->map, w->pieces[i].data, w->pieces[i].bytes, to);
        to += w->pieces[i].bytes;
    }
    if (status == SP_OK) status = sp__map_check(w->map);
    if (status == SP_OK) *out = t;
    else sp_tensor_release(t);
    return status;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

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
        waiting_release(b->entries[i].wait);
        sp_tensor_release(b->entries[i].tensor);
    }
    for (int64_t i = 0; i < b->n_notes; i++) {
        sp__free(b->notes[i].key);
        sp__free(b->notes[i].text);
    }
    sp__free(b->notes);
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

/* One of tensor, wait (both retained) and text (taken over when it succeeds). */
static sp_status put(sp_bundle *b, const char *name, sp_tensor *tensor, waiting *wait, char *text, size_t text_bytes)
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
    if (wait != NULL) atomic_fetch_add_explicit(&wait->refs, 1, memory_order_relaxed);
    sp_tensor_release(e->tensor);
    waiting_release(e->wait);
    sp__free(e->text);
    e->tensor = tensor;
    e->wait = wait;
    e->text = text;
    e->text_bytes = text_bytes;
    return SP_OK;
}

sp_status sp_bundle_add(sp_bundle *b, const char *name, sp_tensor *tensor)
{
    SP_CHECK(b != NULL && name != NULL && tensor != NULL, SP_VALUE, "bundle, name and tensor must not be NULL");
    if (!sp__tensor_buffer(tensor)) return put(b, name, tensor, NULL, NULL, 0);
    sp_tensor *here = NULL; /* files are written from main memory */
    SP_TRY(sp__tensor_here(tensor, &here));
    const sp_status status = put(b, name, here, NULL, NULL, 0);
    sp_tensor_release(here);
    return status;
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
    sp_status status = put(b, name, NULL, NULL, copy, bytes);
    if (status != SP_OK) sp__free(copy);
    return status;
}

sp_status sp__bundle_add_waiting(sp_bundle *b, const char *name, const sp_meta *meta, const sp_piece *pieces,
                                 size_t n_pieces, sp_map *map)
{
    waiting *w = sp__alloc(sizeof *w + n_pieces * sizeof *pieces);
    if (w == NULL) return SP_NOMEM;
    atomic_init(&w->refs, 1);
    w->map = map;
    sp__map_retain(map);
    w->meta = *meta;
    w->n_pieces = n_pieces;
    memcpy(w->pieces, pieces, n_pieces * sizeof *pieces);
    sp_status status = put(b, name, NULL, w, NULL, 0);
    waiting_release(w);
    return status;
}

sp_status sp_bundle_add_from(sp_bundle *b, const char *name, const sp_bundle *from, int64_t i)
{
    SP_CHECK(b != NULL && name != NULL && from != NULL, SP_VALUE, "bundle, name and from must not be NULL");
    SP_CHECK(i >= 0 && i < from->count, SP_INDEX, "entry %lld of a bundle of %lld", (long long)i,
             (long long)from->count);
    const entry *e = &from->entries[i];
    if (e->text != NULL) return sp_bundle_add_text(b, name, e->text, e->text_bytes);
    sp_tensor *t = e->tensor;
    return put(b, name, t, t == NULL ? e->wait : NULL, NULL, 0);
}

void sp__bundle_set_format(sp_bundle *b, const sp_format *format) { b->format = format; }
const sp_format *sp_bundle_format(const sp_bundle *b) { return b ? b->format : NULL; }
int64_t sp_bundle_count(const sp_bundle *b) { return b ? b->count : 0; }
static bool has(const sp_bundle *b, int64_t i) { return b && i >= 0 && i < b->count; }
const char *sp_bundle_name_at(const sp_bundle *b, int64_t i) { return has(b, i) ? b->entries[i].name : NULL; }

sp_tensor *sp_bundle_tensor_at(const sp_bundle *b, int64_t i)
{
    if (!has(b, i)) return NULL;
    entry *e = &b->entries[i];
    sp_tensor *t = atomic_load_explicit(&e->tensor, memory_order_acquire);
    if (t != NULL || e->wait == NULL) return t;
    sp__lock(&filling);
    t = e->tensor;
    if (t == NULL && read_waiting(e->wait, &t) == SP_OK) atomic_store_explicit(&e->tensor, t, memory_order_release);
    sp__unlock(&filling);
    return t;
}

bool sp_bundle_waits_at(const sp_bundle *b, int64_t i)
{
    return has(b, i) && b->entries[i].wait != NULL && b->entries[i].tensor == NULL;
}

sp_dtype sp_bundle_shape_at(const sp_bundle *b, int64_t i, int *rank, const int64_t **dims)
{
    if (!has(b, i)) return SP_DTYPE_NONE;
    const entry *e = &b->entries[i];
    const sp_tensor *t = e->tensor;
    if (t == NULL && e->wait == NULL) return SP_DTYPE_NONE;
    if (rank != NULL) *rank = t != NULL ? t->rank : e->wait->meta.rank;
    if (dims != NULL) *dims = t != NULL ? t->dims : e->wait->meta.dims;
    return t != NULL ? (sp_dtype)t->dtype : e->wait->meta.dtype;
}

sp_status sp_bundle_copy_at(const sp_bundle *b, int64_t i, sp_tensor **out)
{
    SP_CHECK(b != NULL && out != NULL, SP_VALUE, "bundle and out must not be NULL");
    SP_CHECK(i >= 0 && i < b->count, SP_INDEX, "entry %lld of a bundle of %lld", (long long)i, (long long)b->count);
    const entry *e = &b->entries[i];
    sp_tensor *t = e->tensor;
    SP_CHECK(t != NULL || e->wait != NULL, SP_TYPE, "entry '%s' is a text, a tensor is wanted", e->name);
    if (t == NULL) return read_waiting(e->wait, out);
    sp_tensor *copy = NULL;
    SP_TRY(sp_tensor_copy(t, &copy));
    sp_status status = sp__storage_check(t->storage);
    if (status == SP_OK) *out = copy;
    else sp_tensor_release(copy);
    return status;
}

sp_status sp__bundle_check(const sp_bundle *b)
{
    for (int64_t i = 0; i < b->count; i++) {
        const entry *e = &b->entries[i];
        const sp_tensor *t = e->tensor;
        if (t != NULL) SP_TRY(sp__storage_check(t->storage));
        else if (e->wait != NULL) SP_TRY(sp__map_check(e->wait->map));
    }
    return SP_OK;
}

sp_status sp__bundle_contents(const sp_bundle *b, int64_t i, sp_contents *out)
{
    const entry *e = &b->entries[i];
    sp_tensor *t = e->tensor;
    memset(out, 0, sizeof *out);
    if (t == NULL) {
        out->meta = e->wait->meta;
        out->pieces = e->wait->pieces;
        out->n_pieces = e->wait->n_pieces;
        for (size_t k = 0; k < out->n_pieces; k++) out->bytes += out->pieces[k].bytes;
        return SP_OK;
    }
    SP_CHECK(t->dtype != SP_DTYPE_STR, SP_TYPE, "a tensor of strings cannot be stored");
    SP_CHECK(sp_tensor_data(t) != NULL || sp_tensor_count(t) == 0, SP_VALUE, "the tensor has no memory");
    SP_TRY(sp_tensor_contiguous(t, &out->whole));
    out->meta = (sp_meta){.dtype = (sp_dtype)t->dtype, .rank = t->rank};
    memcpy(out->meta.dims, t->dims, (size_t)t->rank * sizeof *t->dims);
    out->bytes = sp_tensor_bytes(out->whole);
    out->only = (sp_piece){sp_tensor_data(out->whole), out->bytes};
    out->pieces = &out->only;
    out->n_pieces = 1;
    return SP_OK;
}

void sp__contents_release(sp_contents *v)
{
    sp_tensor_release(v->whole);
    v->whole = NULL;
}

const char *sp_bundle_text_at(const sp_bundle *b, int64_t i, size_t *bytes)
{
    if (!has(b, i)) return NULL;
    if (bytes != NULL) *bytes = b->entries[i].text_bytes;
    return b->entries[i].text;
}

int64_t sp_bundle_find(const sp_bundle *b, const char *name)
{
    if (!b || b->n_slots == 0) return -1;
    return b->slots[slot_of(b, name, hash_of(name))] - 1;
}

/* --- notes ------------------------------------------------------------------------------------------------------- */

static int64_t find_note(const sp_bundle *b, const char *key)
{
    for (int64_t i = 0; i < b->n_notes; i++)
        if (strcmp(b->notes[i].key, key) == 0) return i;
    return -1;
}

static sp_status add_note(sp_bundle *b, const char *key, char *text)
{
    size_t bytes = (size_t)b->n_notes * sizeof *b->notes;
    note *larger = sp__realloc(b->notes, bytes, bytes + sizeof *larger);
    if (larger == NULL) return SP_NOMEM;
    b->notes = larger;
    char *copy = sp__strdup(key);
    if (copy == NULL) return SP_NOMEM;
    b->notes[b->n_notes++] = (note){copy, text};
    return SP_OK;
}

sp_status sp_bundle_set_note(sp_bundle *b, const char *key, const char *text)
{
    SP_CHECK(b != NULL && key != NULL, SP_VALUE, "bundle and key must not be NULL");
    int64_t i = find_note(b, key);
    if (text == NULL) {
        if (i < 0) return SP_OK;
        sp__free(b->notes[i].key);
        sp__free(b->notes[i].text);
        memmove(&b->notes[i], &b->notes[i + 1], (size_t)(--b->n_notes - i) * sizeof *b->notes);
        return SP_OK;
    }
    SP_CHECK(sp__utf8_valid(key, strlen(key)) == strlen(key), SP_VALUE, "the key of a note is not UTF-8");
    SP_CHECK(sp__utf8_valid(text, strlen(text)) == strlen(text), SP_VALUE, "the note '%s' is not UTF-8", key);
    char *copy = sp__strdup(text);
    if (copy == NULL) return SP_NOMEM;
    if (i < 0) {
        sp_status status = add_note(b, key, copy);
        if (status != SP_OK) sp__free(copy);
        return status;
    }
    sp__free(b->notes[i].text);
    b->notes[i].text = copy;
    return SP_OK;
}

const char *sp_bundle_note(const sp_bundle *b, const char *key)
{
    if (!b) return NULL;
    int64_t i = find_note(b, key);
    return i < 0 ? NULL : b->notes[i].text;
}

int64_t sp_bundle_note_count(const sp_bundle *b) { return b ? b->n_notes : 0; }

const char *sp_bundle_note_at(const sp_bundle *b, int64_t i, const char **key)
{
    if (!b || i < 0 || i >= b->n_notes) return NULL;
    if (key != NULL) *key = b->notes[i].key;
    return b->notes[i].text;
}
