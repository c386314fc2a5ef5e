/* SPDX-License-Identifier: Apache-2.0 */
/* keras.c - Keras' own .keras files: a zip archive of metadata.json, config.json (the layers) and model.weights.h5, an HDF5 file, whose
 * contents are the entries (h5.c). The layers are not read: weights go into a net by name and order, as from .weights.h5. */
#include "formats/zip.h"

static const char weights[] = "model.weights.h5";

static bool probe(const sp_source *s)
{
    sp_zip zip = {0};
    if (!sp__zip_probe(s) || sp__zip_open(s, &zip) != SP_OK) return false;
    bool found = sp__zip_find(&zip, weights) != NULL;
    sp__zip_close(&zip);
    return found;
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    sp_zip zip = {0};
    sp_source inside = {0};
    SP_TRY(sp__zip_open(s, &zip));
    const sp_zip_entry *entry = sp__zip_find(&zip, weights);
    sp_status status = entry != NULL ? sp__zip_source(s, entry, &inside)
                                     : sp__fail(SP_FORMAT, "there is no '%s' in the archive", weights);
    if (status == SP_OK) {
        status = sp__format_h5.read(&inside, bundle);
        if (status != SP_OK) sp__error_context("'%s' in the archive", weights);
        sp__source_close(&inside);
    }
    sp__zip_close(&zip);
    return status;
}

const sp_format sp__format_keras = {
    .name = "keras",
    .title = "Keras model",
    .extensions = ".keras",
    .probe = probe,
    .wanted = sp__zip_wanted,
    .read = read_file,
};
