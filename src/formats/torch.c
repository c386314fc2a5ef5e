/* SPDX-License-Identifier: Apache-2.0 */
/* torch.c - PyTorch's .pt, .pth and .bin files.
 *
 * Two kinds, both around a pickle (pickle.c) in which tensors are views of storages that are named by a key:
 *
 *   zip      <top>/data.pkl, the storages as members <top>/data/<key>, stored as they are; <top>/byteorder
 *   legacy   four pickles: a magic number, 1001, {"little_endian": ...}, the object; a fifth with the list of keys; then
 *            for each key the number of elements (8 bytes) and these
 *
 * A third is read along: a pickle alone, of numpy arrays.
 *
 * Names: dicts, lists and attributes on the way to a tensor, joined with dots. A module that was pickled as a whole gives
 * the names of its state_dict(). When the outermost dict has its weights in a member called "state_dict", "model" or the
 * like, that word is left out. Numbers and texts count only in the outermost dict ("epoch"), not deep inside. */
#include "formats/torch.h"

#include <stdio.h>
#include <string.h>

#include "base/stack.h"
#include "formats/wire.h"
#include "formats/zip.h"

enum { DEPTH_MAX = 64, VISITS_FREE = 1 << 16, PICKLES_OF_LEGACY = 5, KEY_BYTES = 256 };

static const uint8_t legacy_magic[] = {0x80, 0x02, 0x8A, 0x0A, 0x6C, 0xFC, 0x9C, 0x46,
                                       0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, 0x2E};

typedef struct {
    const sp_source *source;
    sp_bundle *bundle;
    sp_torch torch;
    sp__arena arena;
    sp_wire_out path;    /* of the value being visited */
    size_t skip_bytes;   /* of the path, which are left out of names */
    int64_t visits_left; /* values that may still be visited */
} reader;

/* --- entries ----------------------------------------------------------------------------------------------------- */

/* Elements from the first to the last that the tensor reaches; 0: it has none. */
static sp_status reach(const sp_torch_tensor *t, uint64_t *out)
{
    int64_t last = 0, step;
    for (int i = 0; i < t->meta.rank; i++) {
        if (t->meta.dims[i] == 0) {
            *out = 0;
            return SP_OK;
        }
        SP_CHECK(sp__mul_i64(t->meta.dims[i] - 1, t->strides[i], &step) && !__builtin_add_overflow(last, step, &last),
                 SP_FORMAT, "shape and strides reach beyond any memory");
    }
    *out = (uint64_t)last + 1;
    return SP_OK;
}

static bool is_row_major(const sp_torch_tensor *t)
{
    int64_t step = 1;
    for (int i = t->meta.rank - 1; i >= 0; i--) {
        if (t->meta.dims[i] != 1 && t->strides[i] != step) return false;
        step *= t->meta.dims[i]; /* the caller has found that their product fits */
    }
    return true;
}

static sp_status add_codes(reader *r, const char *name, const sp_torch_tensor *t)
{
    size_t element = sp_dtype_bytes(t->meta.dtype), row_major_bytes = 0;
    uint64_t n = 0;
    const sp_source *from = r->source;
    const uint8_t *data = t->data;
    SP_TRY(sp__meta_bytes(&t->meta, &row_major_bytes));
    SP_TRY(reach(t, &n));
    if (t->storage != NULL) {
        from = &t->storage->contents;
        uint64_t have = from->bytes / element;
        SP_CHECK(t->storage->found || n == 0, SP_FORMAT, "storage '%s' is missing", t->storage->key);
        SP_CHECK(t->offset <= have && n <= have - t->offset, SP_FORMAT,
                 "elements %llu to %llu of storage '%s', which has %llu", (unsigned long long)t->offset,
                 (unsigned long long)(t->offset + n), t->storage->key, (unsigned long long)have);
        data = from->data != NULL ? from->data + t->offset * element : (const uint8_t *)"";
    }
    sp_source empty = {.options = r->source->options};
    if (n == 0) return sp__source_add(&empty, r->bundle, name, &t->meta, data, 0);
    if (is_row_major(t)) return sp__source_add(from, r->bundle, name, &t->meta, data, row_major_bytes);
    return sp__source_add_strided(from, r->bundle, name, &t->meta, t->strides, data, (size_t)n * element);
}

static sp_status add_tensor(reader *r, const char *name, const sp_torch_tensor *t)
{
    SP_TRY(add_codes(r, name, t));
    return t->small != NULL ? sp__bundle_widen(r->bundle, name, t->small) : SP_OK;
}

static sp_status add_number(reader *r, const char *name, const sp_pickle_value *v)
{
    sp_tensor *t = NULL;
    SP_TRY(sp__bundle_check_new(r->bundle, name));
    SP_TRY(v->kind == SP_PICKLE_FLOAT
               ? sp_tensor_create_f64(SP_DTYPE_F64, v->f, &t)
               : sp_tensor_create_i64(v->kind == SP_PICKLE_BOOL ? SP_DTYPE_BOOL : SP_DTYPE_I64, v->i, &t));
    sp_status status = sp_bundle_add(r->bundle, name, t);
    sp_tensor_release(t);
    return status;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

/* The i-th value inside v; NULL behind the last. */
static sp_pickle_value *inside(const sp_pickle_value *v, size_t i)
{
    if (v->kind == SP_PICKLE_OBJECT) return i == 0 ? v->state : NULL;
    if (v->kind == SP_PICKLE_DICT) return 2 * i + 1 < v->count ? v->items[2 * i + 1] : NULL;
    if (v->kind != SP_PICKLE_LIST && v->kind != SP_PICKLE_TUPLE) return NULL;
    return i < v->count ? v->items[i] : NULL;
}

/* Mark what is a tensor or leads to one, each value once, whatever shares or contains itself. Settings and histories that training
 * frameworks put beside the weights often do both, and need not be walked by name. */
static void mark_tensors(sp_pickle_value *root)
{
    sp_pickle_value *v = root;
    v->seen = true;
    while (v != NULL) {
        sp_pickle_value *item = inside(v, v->next++);
        if (item == NULL) {
            if (v->kind == SP_PICKLE_OTHER) v->wanted = true;
            if (v->wanted && v->from != NULL) v->from->wanted = true;
            v = v->from;
        } else if (item->seen) {
            v->wanted |= item->wanted;
        } else {
            item->seen = true;
            item->from = v;
            v = item;
        }
    }
}

static sp_status visit(reader *r, sp_pickle_value *v, int depth);

/* Visit v under path + "." + key. */
static sp_status visit_member(reader *r, const char *key, size_t key_bytes, sp_pickle_value *v, int depth)
{
    size_t before = r->path.bytes;
    if (memchr(key, 0, key_bytes) != NULL) return SP_OK; /* no name can hold it, and no framework makes it */
    sp_status status = before > 0 ? sp__wire_put(&r->path, ".", 1) : SP_OK;
    if (status == SP_OK) status = sp__wire_put(&r->path, key, key_bytes);
    if (status == SP_OK) status = visit(r, v, depth + 1);
    r->path.bytes = before;
    return status;
}

static sp_status visit_number(reader *r, int64_t key, sp_pickle_value *v, int depth)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%lld", (long long)key);
    return visit_member(r, text, (size_t)n, v, depth);
}

static sp_status visit_dict(reader *r, const sp_pickle_value *dict, int depth)
{
    for (size_t i = 0; i + 1 < dict->count; i += 2) {
        const sp_pickle_value *key = dict->items[i];
        sp_pickle_value *v = dict->items[i + 1];
        if (key->kind == SP_PICKLE_STR) SP_TRY(visit_member(r, key->text, key->bytes, v, depth));
        else if (key->kind == SP_PICKLE_INT) SP_TRY(visit_number(r, key->i, v, depth));
    }
    return SP_OK;
}

/* Attributes of an instance. A module keeps its own and its children's in dicts of these names. */
static sp_status visit_object(reader *r, const sp_pickle_value *object, int depth)
{
    static const char *const parts[] = {"_parameters", "_buffers", "_modules"};
    const sp_pickle_value *state = object->state;
    if (state == NULL || state->kind != SP_PICKLE_DICT) return SP_OK;
    if (sp__pickle_get(state, "_modules") == NULL) return visit_dict(r, state, depth);
    for (int i = 0; i < 3; i++) {
        const sp_pickle_value *part = sp__pickle_get(state, parts[i]);
        if (part != NULL && part->kind == SP_PICKLE_DICT) SP_TRY(visit_dict(r, part, depth));
    }
    return SP_OK;
}

/* The entry for the current path. */
static sp_status visit_leaf(reader *r, const sp_pickle_value *v, int depth)
{
    bool shallow = depth <= 1;
    bool tensor = v->kind == SP_PICKLE_OTHER, text = v->kind == SP_PICKLE_STR;
    bool number = v->kind == SP_PICKLE_INT || v->kind == SP_PICKLE_FLOAT || v->kind == SP_PICKLE_BOOL;
    if (!tensor && !(shallow && (text || number))) return SP_OK;
    SP_TRY(sp__wire_put(&r->path, "", 1)); /* a NUL behind it */
    r->path.bytes--;
    const char *whole = (const char *)r->path.data;
    const char *name = r->path.bytes == 0 ? "tensor" : r->path.bytes > r->skip_bytes ? whole + r->skip_bytes : whole;
    sp_status status = tensor ? add_tensor(r, name, v->other)
                       : text ? sp_bundle_add_text(r->bundle, name, v->text, v->bytes)
                              : add_number(r, name, v);
    char shown[SP_NAME_SHOWN];
    if (status != SP_OK) sp__error_context("tensor '%s'", sp__name_shown(name, strlen(name), shown));
    return status;
}

static sp_status visit_container(reader *r, const sp_pickle_value *v, int depth)
{
    if (v->kind == SP_PICKLE_DICT) return visit_dict(r, v, depth);
    if (v->kind == SP_PICKLE_OBJECT) return visit_object(r, v, depth);
    for (size_t i = 0; i < v->count; i++) SP_TRY(visit_number(r, (int64_t)i, v->items[i], depth));
    return SP_OK;
}

static sp_status visit(reader *r, sp_pickle_value *v, int depth)
{
    bool container = v->kind == SP_PICKLE_DICT || v->kind == SP_PICKLE_OBJECT || v->kind == SP_PICKLE_LIST ||
                     v->kind == SP_PICKLE_TUPLE;
    if (container && (v->open || (depth > 0 && !v->wanted)))
        return SP_OK; /* open: it contains itself; its tensors have names already */
    SP_CHECK(depth < DEPTH_MAX && (!v->wanted || r->visits_left-- > 0), SP_FORMAT,
             "the pickle's containers are nested too deep, or shared too often");
    SP_TRY(sp__stack_check());
    if (!container) return visit_leaf(r, v, depth);
    v->open = true;
    sp_status status = visit_container(r, v, depth);
    v->open = false;
    return status;
}

/* Tensors, not only numbers of numpy. */
static bool holds_tensors(const sp_pickle_value *dict)
{
    for (size_t i = 1; i < dict->count; i += 2) {
        const sp_torch_tensor *t = dict->items[i]->kind == SP_PICKLE_OTHER ? dict->items[i]->other : NULL;
        if (t != NULL && (t->storage != NULL || t->meta.rank > 0)) return true;
    }
    return false;
}

/* The member of the outermost dict that is the model; NULL: the dict is. */
static const char *find_wrapper(const sp_pickle_value *root)
{
    static const char *const words[] = {"state_dict", "model_state_dict", "model_state", "model",  "net",
                                        "network",    "weights",          "params_ema",  "params", "module",
                                        "generator",  "encoder",          NULL};
    if (root->kind != SP_PICKLE_DICT || holds_tensors(root)) return NULL;
    for (int i = 0; words[i] != NULL; i++) {
        const sp_pickle_value *v = sp__pickle_get(root, words[i]);
        bool module = v != NULL && v->kind == SP_PICKLE_OBJECT;
        if (v != NULL && (module || (v->kind == SP_PICKLE_DICT && holds_tensors(v)))) return words[i];
    }
    return NULL;
}

static sp_status add_entries(reader *r, sp_pickle_value *root)
{
    mark_tensors(root);
    const char *wrapper = find_wrapper(root);
    if (wrapper == NULL) return visit(r, root, 0);
    SP_TRY(sp_bundle_set_note(r->bundle, "root", wrapper));
    for (size_t i = 0; i + 1 < root->count; i += 2) {
        const sp_pickle_value *key = root->items[i];
        if (key->kind != SP_PICKLE_STR) continue;
        r->skip_bytes = strcmp(key->text, wrapper) == 0 ? key->bytes + 1 : 0;
        SP_TRY(visit_member(r, key->text, key->bytes, root->items[i + 1], 0));
    }
    return SP_OK;
}

/* --- files ------------------------------------------------------------------------------------------------------- */

static sp_status read_pickle(reader *r, const uint8_t *data, size_t bytes, size_t *used, sp_pickle_value **out)
{
    sp_pickle_hooks hooks = sp__torch_hooks(&r->torch);
    SP_TRY(sp__pickle_read(data, bytes, &hooks, &r->arena, used, out));
    /* A tensor, or a container of some, takes some fifty bytes; what is shared has a name for each place, but not for millions of them. */
    r->visits_left = VISITS_FREE + (int64_t)(*used / 8);
    return SP_OK;
}

/* The member "<top>/data.pkl"; top_bytes: length of "<top>/". */
static const sp_zip_entry *find_pickle(const sp_zip *zip, size_t *top_bytes)
{
    static const char name[] = "data.pkl";
    for (size_t i = 0; i < zip->count; i++) {
        const char *slash = strrchr(zip->entries[i].name, '/');
        const char *base = slash == NULL ? zip->entries[i].name : slash + 1;
        if (strcmp(base, name) != 0) continue;
        *top_bytes = (size_t)(base - zip->entries[i].name);
        return &zip->entries[i];
    }
    return NULL;
}

static sp_status check_order(reader *r, sp_zip *zip, const char *top, size_t top_bytes)
{
    char name[KEY_BYTES];
    uint8_t text[8];
    size_t n = 0;
    snprintf(name, sizeof name, "%.*sbyteorder", (int)top_bytes, top);
    const sp_zip_entry *e = sp__zip_find(zip, name);
    if (e == NULL) return SP_OK;
    SP_TRY(sp__zip_peek(e, text, sizeof text, &n));
    SP_CHECK(n >= 6 && memcmp(text, "little", 6) == 0, SP_FORMAT,
             "was written on a big-endian machine, which is not "
             "supported");
    return sp_bundle_set_note(r->bundle, "kind", "zip");
}

static sp_status find_storages(reader *r, sp_zip *zip, const char *top, size_t top_bytes)
{
    for (sp_torch_storage *s = r->torch.storages; s != NULL; s = s->next) {
        char name[KEY_BYTES];
        int n = snprintf(name, sizeof name, "%.*sdata/%s", (int)top_bytes, top, s->key);
        const sp_zip_entry *e = n > 0 && n < KEY_BYTES ? sp__zip_find(zip, name) : NULL;
        if (e == NULL) continue; /* an error only when a tensor needs it */
        SP_TRY(sp__zip_source(r->source, e, &s->contents));
        s->found = true;
    }
    return SP_OK;
}

static sp_status read_zip(reader *r)
{
    sp_zip zip = {0};
    sp_source inside = {0};
    sp_pickle_value *root = NULL;
    size_t top_bytes = 0, used = 0;
    SP_TRY(sp__zip_open(r->source, &zip));
    sp_status status;
    const sp_zip_entry *e = find_pickle(&zip, &top_bytes);
    if (e == NULL) {
        status = sp__fail(SP_FORMAT, "the zip archive has no member data.pkl: it is not a file of PyTorch");
        goto done;
    }
    SP_GOTO(done, check_order(r, &zip, e->name, top_bytes));
    SP_GOTO(done, sp__zip_source(r->source, e, &inside));
    SP_GOTO(done, read_pickle(r, inside.data, inside.bytes, &used, &root));
    SP_GOTO(done, find_storages(r, &zip, e->name, top_bytes));
    status = add_entries(r, root);
done:
    sp__source_close(&inside);
    sp__zip_close(&zip);
    return status;
}

static sp_torch_storage *storage_named(const reader *r, const char *key)
{
    sp_torch_storage *s = r->torch.storages;
    while (s != NULL && strcmp(s->key, key) != 0) s = s->next;
    return s;
}

/* Contents of the storages one after the other, from byte `at` on, in the order of the keys. */
static sp_status find_legacy_storages(reader *r, const sp_pickle_value *keys, size_t at)
{
    const sp_source *s = r->source;
    SP_CHECK(keys->kind == SP_PICKLE_LIST, SP_FORMAT, "the list of storages is no list");
    for (size_t i = 0; i < keys->count; i++) {
        SP_CHECK(keys->items[i]->kind == SP_PICKLE_STR, SP_FORMAT, "the key of storage %zu is no text", i);
        const char *key = keys->items[i]->text;
        sp_torch_storage *storage = storage_named(r, key);
        SP_CHECK(storage != NULL, SP_FORMAT, "storage '%s' belongs to no tensor", key);
        uint64_t count = 0;
        size_t element = sp_dtype_bytes(storage->dtype);
        SP_CHECK(s->bytes - at >= 8, SP_FORMAT, "byte %zu: cut in front of storage '%s'", at, key);
        for (int k = 7; k >= 0; k--) count = count << 8 | s->data[at + (size_t)k];
        at += 8;
        SP_CHECK(count <= (s->bytes - at) / element, SP_FORMAT,
                 "byte %zu: storage '%s' has %llu elements of %zu bytes, but only %zu bytes are left", at, key,
                 (unsigned long long)count, element, s->bytes - at);
        storage->contents =
            (sp_source){.data = s->data + at, .bytes = (size_t)count * element, .map = s->map, .options = s->options};
        if (s->map != NULL && !storage->found) sp__map_retain(s->map);
        storage->found = true;
        at += (size_t)count * element;
    }
    return SP_OK;
}

static sp_status read_legacy(reader *r)
{
    const sp_source *s = r->source;
    sp_pickle_value *parts[PICKLES_OF_LEGACY] = {NULL};
    size_t at = 0;
    for (int i = 0; i < PICKLES_OF_LEGACY; i++) {
        size_t used = 0;
        sp_status status = read_pickle(r, s->data + at, s->bytes - at, &used, &parts[i]);
        if (status != SP_OK) {
            sp__error_context("pickle %d, from byte %zu on", i + 1, at);
            return status;
        }
        at += used;
    }
    const sp_pickle_value *little = parts[2]->kind == SP_PICKLE_DICT ? sp__pickle_get(parts[2], "little_endian") : NULL;
    SP_CHECK(little == NULL || little->kind != SP_PICKLE_BOOL || little->i, SP_FORMAT,
             "was written on a big-endian machine, which is not supported");
    SP_TRY(sp_bundle_set_note(r->bundle, "kind", "legacy"));
    SP_TRY(find_legacy_storages(r, parts[4], at));
    return add_entries(r, parts[3]);
}

static sp_status read_alone(reader *r)
{
    sp_pickle_value *root = NULL;
    size_t used = 0;
    SP_TRY(read_pickle(r, r->source->data, r->source->bytes, &used, &root));
    SP_TRY(sp_bundle_set_note(r->bundle, "kind", "pickle"));
    return add_entries(r, root);
}

static bool is_legacy(const sp_source *s)
{
    return s->bytes >= sizeof legacy_magic && memcmp(s->data, legacy_magic, sizeof legacy_magic) == 0;
}

static bool probe(const sp_source *s)
{
    if (is_legacy(s)) return true;
    if (s->bytes > 4 && s->data[0] == 0x80 && s->data[1] >= 2 && s->data[1] <= 5 && s->data[s->bytes - 1] == '.')
        return true;
    sp_zip zip = {0};
    size_t top;
    if (!sp__zip_probe(s) || sp__zip_open(s, &zip) != SP_OK) return false;
    bool found = find_pickle(&zip, &top) != NULL;
    sp__zip_close(&zip);
    return found;
}

static sp_status read_with(const sp_source *s, sp_bundle *bundle, sp_status (*read)(reader *r))
{
    reader r = {.source = s, .bundle = bundle};
    sp_status status = read(&r);
    if (status == SP_OK && sp_bundle_count(bundle) == 0) status = sp__fail(SP_FORMAT, "there is no tensor in it");
    for (sp_torch_storage *storage = r.torch.storages; storage != NULL; storage = storage->next)
        if (storage->found) sp__source_close(&storage->contents);
    sp__wire_out_free(&r.path);
    sp__arena_free(&r.arena);
    return status;
}

sp_status sp__torch_read_pickle(const sp_source *s, sp_bundle *bundle) { return read_with(s, bundle, read_alone); }

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    enum { TAR_MARK = 257 };
    SP_CHECK(s->bytes < TAR_MARK + 5 || memcmp(s->data + TAR_MARK, "ustar", 5) != 0, SP_FORMAT,
             "is a tar archive, as PyTorch before 0.1.10 wrote them; load and save it with a newer one");
    return read_with(s, bundle, sp__zip_probe(s) ? read_zip : is_legacy(s) ? read_legacy : read_alone);
}

const sp_format sp__format_torch = {
    .name = "torch",
    .title = "PyTorch file",
    .extensions = ".pt .pth .bin .pkl .pickle",
    .probe = probe,
    .wanted = sp__zip_wanted,
    .read = read_file,
};
