/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_weights.c - weights of TensorFlow Lite models; tflite_file.h says what lies where.
 *
 * Entries: tensors with contents; of quantised ones also "<name>.scale" and "<name>.zero_point". Those of subgraphs after
 * the first are called "<subgraph>/<name>", a name that returns gets "#2", "#3". */
#include <stdio.h>
#include <string.h>

#include "formats/tflite/tflite_file.h"

/* Names as they are made: too large for the stack. */
typedef struct {
    char scope[SP_TFLITE_NAME_MAX], name[SP_TFLITE_NAME_MAX], full[2 * SP_TFLITE_NAME_MAX], unique[SP_TFLITE_NAME_MAX],
        first[SP_TFLITE_NAME_MAX];
} names;

typedef struct {
    const sp_source *source;
    sp_bundle *bundle;
    sp_tflite_file t;
    names *n;
} reader;

/* A name that is not in the bundle yet. */
static void make_unique(const reader *r, char name[SP_TFLITE_NAME_MAX])
{
    if (sp_bundle_find(r->bundle, name) < 0) return;
    memcpy(r->n->first, name, SP_TFLITE_NAME_MAX);
    for (int k = 2; sp_bundle_find(r->bundle, name) >= 0; k++)
        snprintf(name, SP_TFLITE_NAME_MAX, "%.4000s#%d", r->n->first, k);
}

/* One number a channel (or one for all), if there are any. */
static sp_status add_quantization(const reader *r, const char *name, size_t tensor)
{
    static const struct {
        unsigned field;
        const char *ending;
        sp_dtype dtype;
    } parts[] = {{2, ".scale", SP_DTYPE_F32}, {3, ".zero_point", SP_DTYPE_I64}};
    size_t table = 0;
    SP_TRY(sp__flat_table(&r->t.f, tensor, 4, &table));
    if (table == 0) return SP_OK;
    for (int i = 0; i < 2; i++) {
        sp_flat_list list;
        char full[SP_TFLITE_NAME_MAX];
        SP_TRY(sp__flat_vector(&r->t.f, table, parts[i].field, sp_dtype_bytes(parts[i].dtype), &list));
        if (list.n == 0) continue;
        snprintf(full, sizeof full, "%.4000s%s", name, parts[i].ending);
        make_unique(r, full);
        sp_meta meta = {.dtype = parts[i].dtype, .rank = 1, .dims = {(int64_t)list.n}};
        SP_TRY(sp__source_add(r->source, r->bundle, full, &meta, r->t.f.data + list.at,
                              (size_t)list.n * sp_dtype_bytes(parts[i].dtype)));
    }
    return SP_OK;
}

static sp_status read_tensor(const reader *r, size_t tensor, const char *scope)
{
    uint64_t type = 0;
    char *name = r->n->name, *full = r->n->full, *unique = r->n->unique, shown[SP_NAME_SHOWN];
    bool added = false;
    sp_meta meta = {.rank = 0};
    SP_TRY(sp__flat_number(&r->t.f, tensor, 1, 1, &type));
    SP_TRY(sp__tflite_text(&r->t, tensor, 3, name));
    snprintf(full, sizeof r->n->full, "%s%s", scope, name);
    if (strlen(full) >= SP_TFLITE_NAME_MAX - 64) return sp__fail(SP_FORMAT, "the name of a tensor is too long");
    snprintf(unique, SP_TFLITE_NAME_MAX, "%.4000s", full);
    make_unique(r, unique);
    sp__name_shown(full, strlen(full), shown);
    sp_status status = sp__tflite_shape(&r->t, tensor, 0, &meta);
    if (status == SP_OK) status = sp__tflite_add(r->source, &r->t, tensor, &meta, type, r->bundle, unique, &added);
    if (status == SP_OK && added) status = add_quantization(r, unique, tensor);
    if (status != SP_OK) sp__error_context("tensor '%s'", shown);
    return status;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

static sp_status read_subgraph(const reader *r, size_t graph, uint64_t number)
{
    sp_flat_list tensors;
    char *scope = r->n->scope;
    *scope = '\0';
    if (number > 0) {
        SP_TRY(sp__tflite_text(&r->t, graph, 4, r->n->name));
        snprintf(scope, SP_TFLITE_NAME_MAX, "%.4000s/", r->n->name);
    }
    SP_TRY(sp__flat_vector(&r->t.f, graph, 0, 4, &tensors));
    for (uint64_t i = 0; i < tensors.n; i++) {
        size_t tensor = 0;
        SP_TRY(sp__flat_table_at(&r->t.f, &tensors, i, &tensor));
        SP_TRY(read_tensor(r, tensor, scope));
    }
    return SP_OK;
}

static sp_status read_subgraphs(reader *r, sp_bundle *bundle)
{
    const sp_source *s = r->source;
    size_t graph = 0;
    uint64_t version = 0;
    char text[32];
    SP_TRY(sp__tflite_open(s, &r->t));
    SP_TRY(sp__flat_number(&r->t.f, r->t.model, 0, 4, &version));
    snprintf(text, sizeof text, "%u", (unsigned)version);
    SP_TRY(sp_bundle_set_note(bundle, "version", text));
    for (uint64_t i = 0; i < r->t.graphs.n; i++) {
        SP_TRY(sp__flat_table_at(&r->t.f, &r->t.graphs, i, &graph));
        SP_TRY(read_subgraph(r, graph, i));
    }
    return SP_OK;
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    reader r = {.source = s, .bundle = bundle, .n = sp__alloc(sizeof *r.n)};
    sp_status status = r.n ? read_subgraphs(&r, bundle) : SP_NOMEM;
    sp__free(r.n);
    return status;
}

const sp_format sp__format_tflite = {
    .name = "tflite",
    .title = "TensorFlow Lite model",
    .extensions = ".tflite",
    .probe = sp__tflite_probe,
    .read = read_file,
};
