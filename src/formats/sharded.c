/* SPDX-License-Identifier: Apache-2.0 */
/* sharded.c - one model in several files beside an index: model.safetensors.index.json, pytorch_model.bin.index.json.
 *
 * Layout of the index, JSON:
 *   {"metadata": {"total_size": 123, ...}, "weight_map": {"name": "model-00001-of-00002.safetensors", ...}}
 *
 * Read: the parts, of any format, in the order in which the map names them first; an entry counts only when it lies in
 * the part that the map says. Written: safetensors parts of at most shard_bytes of contents, in the order of the bundle;
 * the index comes last, so that what it names is complete. */
#include <stdio.h>
#include <string.h>

#include "base/json_error.h"
#include "base/lock.h"
#include "formats/format_impl.h"
#include "formats/wire.h"

enum { INDEX_MAX = 256 << 20, PATH_MAX_BYTES = 4096 };
static const uint64_t shard_default = 5000000000u;
static const char ending[] = ".safetensors.index.json";

/* --- reading ----------------------------------------------------------------------------------------------------- */

static bool probe(const sp_source *s)
{
    static const char mark[] = "\"weight_map\"";
    if (s->bytes < sizeof mark || s->bytes > INDEX_MAX) return false;
    size_t at = 0;
    while (at < s->bytes && at < 64 && strchr(" \t\r\n", (char)s->data[at]) != NULL) at++;
    return at < s->bytes && s->data[at] == '{' && memmem(s->data, s->bytes, mark, sizeof mark - 1) != NULL;
}

static sp_status check_map(json_t *map)
{
    const char *name;
    json_t *file;
    SP_CHECK(json_is_object(map), SP_FORMAT, "\"weight_map\" is missing or no object");
    json_object_foreach(map, name, file)
    {
        char shown[SP_NAME_SHOWN];
        SP_CHECK(json_is_string(file), SP_FORMAT, "\"weight_map\": the file of '%s' is no text",
                 sp__name_shown(name, strlen(name), shown));
    }
    return SP_OK;
}

/* Entries of one part that the map says are there. */
static sp_status add_part(const sp_source *s, sp_bundle *bundle, json_t *map, const char *file)
{
    sp_source part = {0};
    sp_bundle *inside = NULL;
    SP_TRY(sp__source_open_beside(s, file, &part));
    sp_status status = sp_bundle_create(&inside);
    if (status == SP_OK) {
        status = sp__source_read(&part, inside);
        if (status != SP_OK) sp__error_context("its part '%s'", file);
    }
    for (int64_t i = 0; status == SP_OK && i < sp_bundle_count(inside); i++) {
        const char *name = sp_bundle_name_at(inside, i), *where = json_string_value(json_object_get(map, name));
        if (where != NULL && strcmp(where, file) == 0) status = sp_bundle_add_from(bundle, name, inside, i);
    }
    sp_bundle_release(inside);
    sp__source_close(&part);
    return status;
}

static sp_status read_parts(const sp_source *s, sp_bundle *bundle, json_t *map)
{
    SP_TRY(check_map(map));
    json_t *seen = json_object();
    if (seen == NULL) return sp__fail(SP_NOMEM, "out of memory for the names of parts");
    sp_status status = SP_OK;
    const char *name;
    json_t *file;
    json_object_foreach(map, name, file)
    {
        const char *path = json_string_value(file);
        if (json_object_get(seen, path) != NULL) continue;
        if (json_object_set_new(seen, path, json_true()) != 0)
            status = sp__fail(SP_NOMEM, "out of memory for the names of parts");
        else status = add_part(s, bundle, map, path);
        if (status != SP_OK) break;
    }
    json_decref(seen);
    SP_TRY(status);
    json_object_foreach(map, name, file)
    {
        char shown[SP_NAME_SHOWN];
        SP_CHECK(sp_bundle_find(bundle, name) >= 0, SP_FORMAT, "its part '%s' has no entry '%s'",
                 json_string_value(file), sp__name_shown(name, strlen(name), shown));
    }
    return SP_OK;
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    json_error_t error;
    SP_CHECK(s->bytes <= INDEX_MAX, SP_FORMAT, "an index of %zu bytes, at most %d are possible", s->bytes, INDEX_MAX);
    json_t *index;
    const sp_status parsed = sp__json_read(s->data, s->bytes, "the index", &error, &index);
    SP_CHECK(parsed != SP_FORMAT, SP_FORMAT, "byte %d: not correct JSON: %s", error.position, error.text);
    SP_TRY(parsed);
    sp_file_options options = *s->options;
    options.format = NULL; /* parts have formats of their own */
    sp_source inner = *s;
    inner.options = &options;
    sp_status status = read_parts(&inner, bundle, json_object_get(index, "weight_map"));
    json_decref(index);
    return status;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const sp_bundle *bundle;
    int64_t *first; /* entry with which each part begins; one more at the end */
    int64_t n_parts;
    uint64_t total_bytes;
} plan;

static sp_status entry_bytes(const sp_bundle *bundle, int64_t i, size_t *bytes)
{
    sp_meta meta = {.rank = 0};
    const int64_t *dims = NULL;
    meta.dtype = sp_bundle_shape_at(bundle, i, &meta.rank, &dims);
    SP_CHECK(meta.dtype != SP_DTYPE_NONE, SP_VALUE, "entry '%s' is a text, and safetensors files hold tensors only",
             sp_bundle_name_at(bundle, i));
    memcpy(meta.dims, dims, (size_t)meta.rank * sizeof *dims);
    return sp__meta_bytes(&meta, bytes);
}

static sp_status make_plan(plan *p, uint64_t limit)
{
    uint64_t in_part = 0;
    for (int64_t i = 0; i < sp_bundle_count(p->bundle); i++) {
        size_t bytes;
        SP_TRY(entry_bytes(p->bundle, i, &bytes));
        if (i == 0 || (in_part > 0 && in_part + bytes > limit)) {
            p->first[p->n_parts++] = i;
            in_part = 0;
        }
        in_part += bytes;
        p->total_bytes += bytes;
    }
    p->first[p->n_parts] = sp_bundle_count(p->bundle);
    return SP_OK;
}

/* Path of part k, and its name without folders. */
static sp_status part_path(const sp_sink *sink, const plan *p, int64_t k, char out[PATH_MAX_BYTES], const char **name)
{
    const char *path = sp__sink_path(sink);
    size_t stem = strlen(path) - (sizeof ending - 1);
    int n = snprintf(out, PATH_MAX_BYTES, "%.*s-%05lld-of-%05lld.safetensors", (int)stem, path, (long long)k + 1,
                     (long long)p->n_parts);
    SP_CHECK(n > 0 && n < PATH_MAX_BYTES, SP_VALUE, "the path is too long");
    const char *slash = strrchr(out, '/');
    *name = slash == NULL ? out : slash + 1;
    return SP_OK;
}

static sp_status write_part(const sp_sink *sink, const plan *p, int64_t k)
{
    char path[PATH_MAX_BYTES];
    const char *name;
    sp_bundle *part;
    SP_TRY(part_path(sink, p, k, path, &name));
    SP_TRY(sp_bundle_create(&part));
    sp_status status = SP_OK;
    for (int64_t i = 0; i < sp_bundle_note_count(p->bundle) && status == SP_OK; i++) {
        const char *key, *text = sp_bundle_note_at(p->bundle, i, &key);
        status = sp_bundle_set_note(part, key, text);
    }
    for (int64_t i = p->first[k]; i < p->first[k + 1] && status == SP_OK; i++)
        status = sp_bundle_add_from(part, sp_bundle_name_at(p->bundle, i), p->bundle, i);
    sp_file_options options = *sp__sink_options(sink);
    options.format = "safetensors";
    if (status == SP_OK) status = sp_save(path, part, &options);
    sp_bundle_release(part);
    return status;
}

static sp_status write_index(sp_sink *sink, const plan *p)
{
    sp__section_begin();
    json_t *map = json_object();
    sp__section_end();
    json_t *index =
        json_pack("{s:{s:I}, s:o}", "metadata", "total_size", (json_int_t)p->total_bytes, "weight_map", map);
    sp_status status = index != NULL ? SP_OK : sp__fail(SP_NOMEM, "out of memory for the index");
    for (int64_t k = 0; k < p->n_parts && status == SP_OK; k++) {
        char path[PATH_MAX_BYTES];
        const char *name = NULL;
        status = part_path(sink, p, k, path, &name);
        for (int64_t i = p->first[k]; i < p->first[k + 1] && status == SP_OK; i++)
            if (json_object_set_new(map, sp_bundle_name_at(p->bundle, i), json_string(name)) != 0)
                status = sp__fail(SP_NOMEM, "out of memory for the index");
    }
    char *text = status == SP_OK ? sp__json_dump(index, JSON_INDENT(2)) : NULL;
    if (status == SP_OK)
        status =
            text != NULL ? sp__sink_write(sink, text, strlen(text)) : sp__fail(SP_NOMEM, "out of memory for the index");
    if (status == SP_OK) status = sp__sink_write(sink, "\n", 1);
    if (text != NULL) {
        json_malloc_t allocate;
        json_free_t release;
        json_get_alloc_funcs(&allocate, &release);
        release(text);
    }
    json_decref(index);
    return status;
}

static sp_status write_file(sp_sink *sink, const sp_bundle *bundle)
{
    const char *path = sp__sink_path(sink);
    size_t n = strlen(path);
    SP_CHECK(n > sizeof ending - 1 && strcmp(path + n - (sizeof ending - 1), ending) == 0, SP_VALUE,
             "the name of an index must end in %s", ending);
    const sp_file_options *options = sp__sink_options(sink);
    plan p = {.bundle = bundle};
    p.first = sp__alloc((size_t)(sp_bundle_count(bundle) + 1) * sizeof *p.first);
    if (p.first == NULL) return SP_NOMEM;
    sp_status status = make_plan(&p, options->shard_bytes > 0 ? options->shard_bytes : shard_default);
    for (int64_t k = 0; k < p.n_parts && status == SP_OK; k++) status = write_part(sink, &p, k);
    if (status == SP_OK) status = write_index(sink, &p);
    sp__free(p.first);
    return status;
}

const sp_format sp__format_sharded = {
    .name = "sharded",
    .title = "index of a sharded model",
    .extensions = ".safetensors.index.json .bin.index.json .index.json",
    .probe = probe,
    .read = read_file,
    .write = write_file,
};
