/* SPDX-License-Identifier: Apache-2.0 */
/* npz.c - numpy's .npz files: a zip archive with a member `name.npy` for each array. Members of other kinds are no arrays
 * and are left out. Contents are aligned when we write, so that they can be used where they lie. */
#include <string.h>

#include "formats/npy.h"
#include "formats/zip.h"

static const char ending[] = ".npy";

static bool is_array(const sp_zip_entry *e)
{
    size_t n = strlen(e->name);
    return n >= sizeof ending - 1 && strcmp(e->name + n - (sizeof ending - 1), ending) == 0;
}

/* A zip archive whose first member is an array; an empty one counts as well, if it is called .npz. */
static bool probe(const sp_source *s)
{
    sp_zip zip = {0};
    if (!sp__zip_probe(s) || sp__zip_open(s, &zip) != SP_OK) return false;
    size_t n_path = s->path != NULL ? strlen(s->path) : 0;
    bool named = n_path > 4 && strcmp(s->path + n_path - 4, ".npz") == 0;
    bool found = zip.count > 0 ? is_array(&zip.entries[0]) : named;
    sp__zip_close(&zip);
    return found;
}

static sp_status read_member(const sp_source *s, const sp_zip_entry *e, sp_bundle *bundle)
{
    sp_source inside;
    SP_TRY(sp__zip_source(s, e, &inside));
    char *name = sp__strdup(e->name);
    sp_status status = SP_NOMEM;
    if (name != NULL) {
        name[strlen(name) - (sizeof ending - 1)] = '\0';
        status = sp__npy_read(&inside, bundle, name);
    }
    if (status != SP_OK) {
        char shown[SP_NAME_SHOWN];
        sp__error_context("array '%s'", sp__name_shown(e->name, strlen(e->name), shown));
    }
    sp__free(name);
    sp__source_close(&inside);
    return status;
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    sp_zip zip = {0};
    SP_TRY(sp__zip_open(s, &zip));
    sp_status status = SP_OK;
    for (size_t i = 0; i < zip.count && status == SP_OK; i++)
        if (is_array(&zip.entries[i])) status = read_member(s, &zip.entries[i], bundle);
    sp__zip_close(&zip);
    return status;
}

static sp_status write_member(sp_zip_out *zip, const sp_bundle *bundle, int64_t i, bool compress)
{
    const char *name = sp_bundle_name_at(bundle, i);
    size_t bytes;
    const char *text = sp_bundle_text_at(bundle, i, &bytes);
    sp_wire_out head = {0}, file = {0};
    sp_contents v = {.bytes = 0};
    sp_status status = sp__wire_put(&file, name, strlen(name));
    if (status == SP_OK) status = sp__wire_put(&file, ending, sizeof ending);
    if (status == SP_OK && text == NULL) status = sp__bundle_contents(bundle, i, &v);
    if (status == SP_OK)
        status = text != NULL ? sp__npy_put_text(text, bytes, &head) : sp__npy_put_head(&v.meta, &head);
    if (status == SP_OK)
        status =
            sp__zip_out_add(zip, (const char *)file.data, head.data, head.bytes, text == NULL ? &v : NULL, compress);
    sp__contents_release(&v);
    sp__wire_out_free(&head);
    sp__wire_out_free(&file);
    return status;
}

static sp_status write_file(sp_sink *sink, const sp_bundle *bundle)
{
    sp_zip_out *zip = NULL;
    SP_TRY(sp__zip_out_create(sink, &zip));
    bool compress = sp__sink_options(sink)->flags & SP_FILE_COMPRESS;
    sp_status status = SP_OK;
    for (int64_t i = 0; i < sp_bundle_count(bundle) && status == SP_OK; i++)
        status = write_member(zip, bundle, i, compress);
    if (status == SP_OK) status = sp__zip_out_finish(zip);
    sp__zip_out_release(zip);
    return status;
}

const sp_format sp__format_npz = {
    .name = "npz",
    .title = "numpy archive",
    .extensions = ".npz",
    .probe = probe,
    .wanted = sp__zip_wanted,
    .read = read_file,
    .write = write_file,
};
