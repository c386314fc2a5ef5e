/* SPDX-License-Identifier: Apache-2.0 */
/* tflite.c - weights of TensorFlow Lite models.
 *
 * A flatbuffer: a table is a place in the file whose first 4 bytes lead back (signed) to its vtable: bytes of the vtable,
 * bytes of the table, then for each field the place inside the table, 0 when it is missing (2 bytes each). Tables, texts
 * and vectors are named by the distance to them (4 bytes); a vector begins with its length. Little-endian. Byte 4: "TFL3".
 *
 *   Model       0 version | 2 subgraphs | 3 description | 4 buffers
 *   SubGraph    0 tensors | 4 name
 *   Tensor      0 shape | 1 type | 2 buffer | 3 name | 4 quantization
 *   Buffer      0 data | 1 offset | 2 bytes (data beyond 2 GB, behind the flatbuffer)
 *   Quantization  2 scale | 3 zero_point | 6 axis
 *
 * Entries: tensors with contents; of quantised ones also "<name>.scale" and "<name>.zero_point". Those of subgraphs after
 * the first are called "<subgraph>/<name>", a name that returns gets "#2", "#3". */
#include <stdio.h>
#include <string.h>

#include "formats/format_impl.h"

enum { IDENTIFIER_AT = 4, TEXT_MAX = 4096 };

typedef struct {
    const uint8_t *data;
    size_t bytes;
} buffer;

/* --- flatbuffers ------------------------------------------------------------------------------------------------- */

static sp_status get(const buffer *b, size_t at, int n, uint64_t *out)
{
    SP_CHECK(at <= b->bytes && b->bytes - at >= (size_t)n, SP_FORMAT, "byte %zu does not lie in the file", at);
    *out = 0;
    for (int i = n - 1; i >= 0; i--) *out = *out << 8 | b->data[at + (size_t)i];
    return SP_OK;
}

/* Place of a field of the table at `table`; 0: it is missing. */
static sp_status field(const buffer *b, size_t table, unsigned number, size_t *out)
{
    uint64_t back = 0, vtable_bytes = 0, place = 0;
    *out = 0;
    SP_TRY(get(b, table, 4, &back));
    int64_t vtable = (int64_t)table - (int32_t)(uint32_t)back;
    SP_CHECK(vtable >= 0, SP_FORMAT, "byte %zu: a table without its description", table);
    SP_TRY(get(b, (size_t)vtable, 2, &vtable_bytes));
    if (4 + 2 * (uint64_t)number + 2 > vtable_bytes) return SP_OK;
    SP_TRY(get(b, (size_t)vtable + 4 + 2 * number, 2, &place));
    *out = place != 0 ? table + place : 0;
    return SP_OK;
}

/* What the 4 bytes at `at` lead to. */
static sp_status follow(const buffer *b, size_t at, size_t *out)
{
    uint64_t distance = 0;
    SP_TRY(get(b, at, 4, &distance));
    SP_CHECK(distance <= b->bytes - at, SP_FORMAT, "byte %zu leads out of the file", at);
    *out = at + (size_t)distance;
    return SP_OK;
}

/* A vector with elements of `element` bytes; *data 0 and *count 0 when the field is missing. */
static sp_status vector(const buffer *b, size_t table, unsigned number, size_t element, size_t *data, uint64_t *count)
{
    size_t place = 0, at = 0;
    *data = 0;
    *count = 0;
    SP_TRY(field(b, table, number, &place));
    if (place == 0) return SP_OK;
    SP_TRY(follow(b, place, &at));
    SP_TRY(get(b, at, 4, count));
    SP_CHECK(*count <= (b->bytes - at - 4) / element, SP_FORMAT, "byte %zu: a vector of %llu elements leaves the file", at,
             (unsigned long long)*count);
    *data = at + 4;
    return SP_OK;
}

static sp_status number_field(const buffer *b, size_t table, unsigned number, int bytes, uint64_t *out)
{
    size_t place = 0;
    *out = 0;
    SP_TRY(field(b, table, number, &place));
    return place != 0 ? get(b, place, bytes, out) : SP_OK;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const sp_source *source;
    sp_bundle *bundle;
    buffer b;
    size_t buffers;
    uint64_t n_buffers;
} reader;

static sp_dtype dtype_of(uint64_t number)
{
    static const int8_t known[] = {SP_DTYPE_F32, SP_DTYPE_F16, SP_DTYPE_I32, SP_DTYPE_U8,  SP_DTYPE_I64,  SP_DTYPE_NONE,
                                   SP_DTYPE_BOOL, SP_DTYPE_I16, SP_DTYPE_C64, SP_DTYPE_I8, SP_DTYPE_F64,  SP_DTYPE_C128,
                                   SP_DTYPE_U64, SP_DTYPE_NONE, SP_DTYPE_NONE, SP_DTYPE_U32, SP_DTYPE_U16, SP_DTYPE_NONE,
                                   SP_DTYPE_BF16};
    return number < sizeof known ? (sp_dtype)known[number] : SP_DTYPE_NONE;
}

static sp_status contents_of(const reader *r, uint64_t index, const uint8_t **data, size_t *bytes)
{
    size_t table = 0, at = 0;
    uint64_t count = 0, offset = 0, size = 0;
    *bytes = 0;
    *data = r->b.data;
    SP_CHECK(index < r->n_buffers, SP_FORMAT, "buffer %llu of %llu", (unsigned long long)index,
             (unsigned long long)r->n_buffers);
    SP_TRY(follow(&r->b, r->buffers + 4 * (size_t)index, &table));
    SP_TRY(vector(&r->b, table, 0, 1, &at, &count));
    SP_TRY(number_field(&r->b, table, 1, 8, &offset));
    SP_TRY(number_field(&r->b, table, 2, 8, &size));
    if (offset > 1) { /* 0 and 1: not used */
        SP_CHECK(offset <= r->b.bytes && size <= r->b.bytes - offset, SP_FORMAT, "buffer %llu leaves the file",
                 (unsigned long long)index);
        at = (size_t)offset;
        count = size;
    }
    *data = r->b.data + at;
    *bytes = (size_t)count;
    return SP_OK;
}

static sp_status add(const reader *r, const char *name, const sp_meta *meta, const uint8_t *data, size_t bytes)
{
    char unique[TEXT_MAX];
    snprintf(unique, sizeof unique, "%s", name);
    for (int k = 2; sp_bundle_find(r->bundle, unique) >= 0; k++) snprintf(unique, sizeof unique, "%.4000s#%d", name, k);
    return sp__source_add(r->source, r->bundle, unique, meta, data, bytes);
}

/* One number a channel (or one for all), if there are any. */
static sp_status add_quantization(const reader *r, const char *name, size_t tensor)
{
    static const struct {
        unsigned field;
        const char *ending;
        sp_dtype dtype;
    } parts[] = {{2, ".scale", SP_DTYPE_F32}, {3, ".zero_point", SP_DTYPE_I64}};
    size_t place = 0, table = 0;
    SP_TRY(field(&r->b, tensor, 4, &place));
    if (place == 0) return SP_OK;
    SP_TRY(follow(&r->b, place, &table));
    for (int i = 0; i < 2; i++) {
        size_t at = 0;
        uint64_t count = 0;
        char full[TEXT_MAX];
        SP_TRY(vector(&r->b, table, parts[i].field, sp_dtype_bytes(parts[i].dtype), &at, &count));
        if (count == 0) continue;
        snprintf(full, sizeof full, "%.4000s%s", name, parts[i].ending);
        sp_meta meta = {.dtype = parts[i].dtype, .rank = 1, .dims = {(int64_t)count}};
        SP_TRY(add(r, full, &meta, r->b.data + at, (size_t)count * sp_dtype_bytes(parts[i].dtype)));
    }
    return SP_OK;
}

static sp_status read_name(const reader *r, size_t table, unsigned number, char out[TEXT_MAX])
{
    size_t at = 0;
    uint64_t n = 0;
    SP_TRY(vector(&r->b, table, number, 1, &at, &n));
    const char *text = (const char *)r->b.data + at;
    SP_CHECK(n < TEXT_MAX - 64 && memchr(text, 0, (size_t)n) == NULL && sp__utf8_valid(text, (size_t)n) == n, SP_FORMAT,
             "the name of a tensor is not UTF-8, or too long");
    memcpy(out, text, (size_t)n);
    out[n] = '\0';
    return SP_OK;
}

static sp_status read_shape(const reader *r, size_t tensor, sp_meta *meta)
{
    size_t at = 0;
    uint64_t rank = 0;
    SP_TRY(vector(&r->b, tensor, 0, 4, &at, &rank));
    SP_CHECK(rank <= SP_RANK_MAX, SP_FORMAT, "%llu dimensions, at most %d are possible", (unsigned long long)rank, SP_RANK_MAX);
    meta->rank = (int)rank;
    for (int i = 0; i < meta->rank; i++) {
        uint64_t dim = 0;
        SP_TRY(get(&r->b, at + 4 * (size_t)i, 4, &dim));
        meta->dims[i] = (int32_t)(uint32_t)dim;
    }
    return SP_OK;
}

static sp_status read_tensor(const reader *r, size_t tensor, const char *scope)
{
    uint64_t type = 0, index = 0;
    const uint8_t *data = NULL;
    size_t bytes = 0;
    char name[TEXT_MAX], full[2 * TEXT_MAX];
    sp_meta meta = {.rank = 0};
    SP_TRY(number_field(&r->b, tensor, 1, 1, &type));
    SP_TRY(number_field(&r->b, tensor, 2, 4, &index));
    SP_TRY(contents_of(r, index, &data, &bytes));
    if (bytes == 0) return SP_OK; /* computed when the model runs */
    SP_TRY(read_name(r, tensor, 3, name));
    snprintf(full, sizeof full, "%s%s", scope, name);
    if (strlen(full) >= TEXT_MAX - 64) return sp__fail(SP_FORMAT, "the name of a tensor is too long");
    meta.dtype = dtype_of(type);
    char shown[SP_NAME_SHOWN];
    sp__name_shown(full, strlen(full), shown);
    SP_CHECK(meta.dtype != SP_DTYPE_NONE, SP_FORMAT, "tensor '%s': type number %llu is not supported", shown,
             (unsigned long long)type);
    sp_status status = read_shape(r, tensor, &meta);
    if (status == SP_OK) status = add(r, full, &meta, data, bytes);
    if (status == SP_OK) status = add_quantization(r, full, tensor);
    if (status != SP_OK) sp__error_context("tensor '%s'", shown);
    return status;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

static bool probe(const sp_source *s)
{
    return s->bytes >= 8 && memcmp(s->data + IDENTIFIER_AT, "TFL3", 4) == 0;
}

static sp_status read_subgraph(const reader *r, size_t graph, uint64_t number)
{
    size_t tensors = 0;
    uint64_t count = 0;
    char scope[TEXT_MAX] = "", name[TEXT_MAX];
    if (number > 0) {
        SP_TRY(read_name(r, graph, 4, name));
        snprintf(scope, sizeof scope, "%.4000s/", name);
    }
    SP_TRY(vector(&r->b, graph, 0, 4, &tensors, &count));
    for (uint64_t i = 0; i < count; i++) {
        size_t tensor = 0;
        SP_TRY(follow(&r->b, tensors + 4 * (size_t)i, &tensor));
        SP_TRY(read_tensor(r, tensor, scope));
    }
    return SP_OK;
}

static sp_status read_file(const sp_source *s, sp_bundle *bundle)
{
    SP_CHECK(probe(s), SP_FORMAT, "is no TensorFlow Lite model: \"TFL3\" is missing");
    reader r = {.source = s, .bundle = bundle, .b = {s->data, s->bytes}};
    size_t model = 0, graphs = 0, graph = 0;
    uint64_t n_graphs = 0, version = 0;
    char text[32];
    SP_TRY(follow(&r.b, 0, &model));
    SP_TRY(number_field(&r.b, model, 0, 4, &version));
    snprintf(text, sizeof text, "%u", (unsigned)version);
    SP_TRY(sp_bundle_set_note(bundle, "version", text));
    SP_TRY(vector(&r.b, model, 4, 4, &r.buffers, &r.n_buffers));
    SP_TRY(vector(&r.b, model, 2, 4, &graphs, &n_graphs));
    for (uint64_t i = 0; i < n_graphs; i++) {
        SP_TRY(follow(&r.b, graphs + 4 * (size_t)i, &graph));
        SP_TRY(read_subgraph(&r, graph, i));
    }
    return SP_OK;
}

const sp_format sp__format_tflite = {
    .name = "tflite",
    .title = "TensorFlow Lite model",
    .extensions = ".tflite",
    .probe = probe,
    .read = read_file,
};
