/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_sparse.c - sparse constants of ONNX files, made dense.
 *
 *   SparseTensorProto  1 values (TensorProto [n], its name is that of the constant) | 2 indices (int64) | 3 dims
 *
 * Indices are [n], places in the tensor laid out row by row, or [n, rank], one place per dimension. */
#include <string.h>

#include "formats/onnx/onnx_tensor.h"

/* A few bytes can claim any number of zeros: what is made must stand in a relation to what was given, for many small tensors, too. */
enum { DENSE_FREE_BYTES = 64 << 10, DENSE_RATIO = 4096 };

typedef struct parts {
    sp_wire values, indices;
    bool has_values, has_indices;
    sp_meta meta;
} parts;

static sp_status parse(sp_wire w, parts *p)
{
    *p = (parts){0};
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == 1) {
            SP_TRY(sp__wire_take_bytes(&w, "values", type, &p->values));
            p->has_values = true;
        } else if (number == 2) {
            SP_TRY(sp__wire_take_bytes(&w, "indices", type, &p->indices));
            p->has_indices = true;
        } else if (number == 3) SP_TRY(sp__meta_take_dims(&w, type, &p->meta));
        else SP_TRY(sp__wire_skip(&w, number, type));
    }
    SP_CHECK(p->has_values, SP_FORMAT, "a sparse tensor without values");
    return SP_OK;
}

/* Where value i goes, in elements. */
static sp_status place_of(const int64_t *indices, int64_t i, bool rows, const sp_meta *meta, int64_t count,
                          int64_t *out)
{
    int64_t at = rows ? 0 : indices[i];
    for (int d = 0; rows && d < meta->rank; d++) {
        int64_t k = indices[i * meta->rank + d];
        SP_CHECK(k >= 0 && k < meta->dims[d], SP_FORMAT,
                 "index %lld of value %lld is out of range for dimension %d of size %lld", (long long)k, (long long)i,
                 d, (long long)meta->dims[d]);
        at = at * meta->dims[d] + k;
    }
    SP_CHECK(at >= 0 && at < count, SP_FORMAT, "index %lld of value %lld is out of range for %lld elements",
             (long long)at, (long long)i, (long long)count);
    *out = at;
    return SP_OK;
}

static sp_status scatter(const sp_tensor *values, const sp_tensor *indices, const sp_meta *meta, uint8_t *to)
{
    int64_t n = sp_tensor_count(values), count = 1;
    size_t element = sp_dtype_bytes(meta->dtype);
    for (int d = 0; d < meta->rank; d++) count *= meta->dims[d]; /* sp__meta_bytes has found it possible */
    SP_CHECK(sp_tensor_rank(values) == 1, SP_FORMAT, "the values of a sparse tensor have %d dimensions, 1 wanted",
             sp_tensor_rank(values));
    if (indices == NULL) {
        SP_CHECK(n == 0, SP_FORMAT, "%lld values of a sparse tensor have no indices", (long long)n);
        return SP_OK;
    }
    int rank = sp_tensor_rank(indices);
    const int64_t *dims = sp_tensor_dims(indices);
    SP_CHECK(sp_tensor_dtype(indices) == SP_DTYPE_I64 && (rank == 1 || rank == 2) && dims[0] == n &&
                 (rank == 1 || dims[1] == meta->rank),
             SP_FORMAT, "the indices of a sparse tensor must be int64, [%lld] or [%lld, %d]", (long long)n,
             (long long)n, meta->rank);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0;
        SP_TRY(place_of(sp_tensor_data((sp_tensor *)indices), i, rank == 2, meta, count, &at));
        memcpy(to + (size_t)at * element, (const uint8_t *)sp_tensor_data((sp_tensor *)values) + (size_t)i * element,
               element);
    }
    return SP_OK;
}

/* The dense tensor as entry `name`. */
static sp_status add_dense(const sp_source *source, sp_bundle *bundle, const char *name, const sp_meta *meta,
                           const sp_tensor *values, const sp_tensor *indices)
{
    size_t bytes;
    sp_map *map = NULL;
    SP_TRY(sp__meta_bytes(meta, &bytes));
    SP_CHECK(bytes <= DENSE_FREE_BYTES ||
                 bytes / DENSE_RATIO <= (size_t)sp_tensor_count(values) * sp_dtype_bytes(meta->dtype),
             SP_FORMAT, "a sparse tensor of %lld values claims %zu bytes", (long long)sp_tensor_count(values), bytes);
    SP_TRY(sp__map_create(bytes, &map));
    if (bytes > 0) memset(map->data, 0, bytes);
    sp_status status = scatter(values, indices, meta, map->data);
    const sp_source s = {.data = map->data, .bytes = bytes, .map = map, .options = source->options};
    if (status == SP_OK) status = sp__source_add(&s, bundle, name, meta, s.data, bytes);
    sp__map_release(map);
    return status;
}

sp_status sp__onnx_sparse_add(const sp_source *source, sp_bundle *bundle, sp_wire w, const char *as, int64_t *index,
                              int *type)
{
    parts p;
    char shown[SP_NAME_SHOWN];
    sp_bundle *own = NULL;
    int64_t at_values = -1, at_indices = -1;
    int carried = 0;
    SP_TRY(parse(w, &p));
    SP_TRY(sp_bundle_create(&own));
    sp_status status = sp__onnx_tensor_add(source, own, p.values, as, &at_values, &carried);
    if (status == SP_OK && at_values < 0) status = sp__fail(SP_FORMAT, "a sparse tensor of texts");
    if (status == SP_OK && p.has_indices)
        status = sp__onnx_tensor_add(source, own, p.indices, "(indices)", &at_indices, NULL);
    if (status == SP_OK) {
        const char *name = sp_bundle_name_at(own, at_values);
        sp_tensor *values = sp_bundle_tensor_at(own, at_values),
                  *indices = at_indices >= 0 ? sp_bundle_tensor_at(own, at_indices) : NULL;
        status = values == NULL || (at_indices >= 0 && indices == NULL) ? SP_NOMEM : SP_OK;
        if (status == SP_OK) {
            p.meta.dtype = sp_tensor_dtype(values);
            status = add_dense(source, bundle, name, &p.meta, values, indices);
        }
        if (status != SP_OK) sp__error_context("sparse tensor '%s'", sp__name_shown(name, strlen(name), shown));
        else if (index != NULL) *index = sp_bundle_find(bundle, name);
    }
    if (type != NULL) *type = carried;
    sp_bundle_release(own);
    return status;
}
