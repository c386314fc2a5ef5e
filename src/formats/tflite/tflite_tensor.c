/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_tensor.c - contents of tensors: as they lie in the file, sparse ones, integers of 4 bits.
 *
 * A sparse tensor is a tree: a level for each of its dimensions, in the order of traversal, then levels for the dimensions inside of
 * blocks. At a dense level all positions have a branch; at a sparse one, branch p has the positions indices[segments[p]] up to
 * indices[segments[p + 1]]. The leaves are the stored elements, in order. */
#include <string.h>

#include "formats/tflite/tflite_file.h"

enum {
    LEVELS_MAX = 2 * SP_RANK_MAX,
    GROWTH_MAX = 1024
}; /* a filled tensor is at most so many times its stored elements */

/* A vector of positions, of 1, 2 or 4 bytes. */
typedef struct positions {
    size_t at;
    uint64_t n;
    int bytes;
} positions;

typedef struct level {
    int axis;   /* of the tensor */
    bool inner; /* position inside a block */
    bool sparse;
    int64_t size;
    positions segments, indices;
} level;

typedef struct tree {
    const sp_tflite_file *t;
    int n;
    level levels[LEVELS_MAX];
    int rank;
    const int64_t *dims;
    int64_t block[SP_RANK_MAX]; /* size of blocks along an axis */
    int64_t at[SP_RANK_MAX];    /* where the walk is: of the block, times its size, plus inside of it */
    const uint8_t *stored;
    uint64_t n_stored;
    size_t element;
    uint8_t *out;
} tree;

static sp_status read_positions(const sp_tflite_file *t, size_t dimension, unsigned number, positions *out)
{
    static const int widths[] = {0, 4, 2, 1};
    uint64_t kind = 0;
    size_t table = 0;
    sp_flat_list list;
    SP_TRY(sp__flat_number(&t->f, dimension, number, 1, &kind));
    SP_TRY(sp__flat_table(&t->f, dimension, number + 1, &table));
    SP_CHECK(kind >= 1 && kind <= 3 && table != 0, SP_FORMAT,
             "byte %zu: a sparse dimension without its segments or indices", dimension);
    SP_TRY(sp__flat_vector(&t->f, table, 0, (size_t)widths[kind], &list));
    *out = (positions){list.at, list.n, widths[kind]};
    return SP_OK;
}

static sp_status position_at(const tree *w, const positions *p, uint64_t i, int64_t *out)
{
    uint64_t raw = 0;
    SP_CHECK(i < p->n, SP_FORMAT, "byte %zu: position %llu of %llu in a sparse tensor", p->at, (unsigned long long)i,
             (unsigned long long)p->n);
    SP_TRY(sp__flat_get(&w->t->f, p->at + (size_t)i * (size_t)p->bytes, p->bytes, &raw));
    *out = p->bytes == 4 ? (int32_t)(uint32_t)raw : (int64_t)raw;
    return SP_OK;
}

static sp_status read_level(tree *w, size_t dimension, int64_t number, const sp_flat_list *blocks, level *l)
{
    uint64_t format = 0, size = 0;
    int64_t axis = number;
    if (number >= w->rank) SP_TRY(sp__flat_int_at(&w->t->f, blocks, (uint64_t)(number - w->rank), &axis));
    SP_CHECK(axis >= 0 && axis < w->rank, SP_FORMAT, "byte %zu: dimension %lld of a tensor of rank %d", dimension,
             (long long)axis, w->rank);
    SP_TRY(sp__flat_number(&w->t->f, dimension, 0, 1, &format));
    SP_TRY(sp__flat_number(&w->t->f, dimension, 1, 4, &size));
    *l = (level){.axis = (int)axis, .inner = number >= w->rank, .sparse = format == 1, .size = (int32_t)(uint32_t)size};
    if (!l->sparse) return SP_OK;
    SP_TRY(read_positions(w->t, dimension, 2, &l->segments));
    return read_positions(w->t, dimension, 4, &l->indices);
}

/* Levels, and the sizes that they must have: then a walk ends, and stays inside the tensor. */
static sp_status read_tree(tree *w, size_t sparsity)
{
    sp_flat_list order, blocks, dimensions;
    int seen = 0;
    SP_TRY(sp__flat_vector(&w->t->f, sparsity, 0, 4, &order));
    SP_TRY(sp__flat_vector(&w->t->f, sparsity, 1, 4, &blocks));
    SP_TRY(sp__flat_vector(&w->t->f, sparsity, 2, 4, &dimensions));
    SP_CHECK(order.n == dimensions.n && order.n == (uint64_t)w->rank + blocks.n && order.n <= LEVELS_MAX, SP_FORMAT,
             "byte %zu: %llu levels for a sparse tensor of rank %d with %llu blocks", sparsity,
             (unsigned long long)order.n, w->rank, (unsigned long long)blocks.n);
    w->n = (int)order.n;
    for (int i = 0; i < w->n; i++) {
        size_t dimension = 0;
        int64_t number = 0;
        SP_TRY(sp__flat_table_at(&w->t->f, &dimensions, (uint64_t)i, &dimension));
        SP_TRY(sp__flat_int_at(&w->t->f, &order, (uint64_t)i, &number));
        SP_CHECK(number >= 0 && number < w->n && !(seen >> number & 1), SP_FORMAT, "byte %zu: order of traversal",
                 order.at);
        seen |= 1 << number;
        SP_TRY(read_level(w, dimension, number, &blocks, &w->levels[i]));
        if (w->levels[i].inner) {
            SP_CHECK(w->levels[i].size > 0 && w->block[w->levels[i].axis] == 1, SP_FORMAT, "byte %zu: size of a block",
                     dimension);
            w->block[w->levels[i].axis] = w->levels[i].size;
        }
    }
    for (int i = 0; i < w->n; i++) {
        level *l = &w->levels[i];
        if (l->inner) continue;
        SP_CHECK(w->dims[l->axis] % w->block[l->axis] == 0, SP_FORMAT,
                 "axis %d of a sparse tensor is not a number of blocks", l->axis);
        l->size = w->dims[l->axis] / w->block[l->axis];
    }
    return SP_OK;
}

static sp_status leaf(const tree *w, int64_t branch)
{
    int64_t to = 0;
    SP_CHECK(branch >= 0 && (uint64_t)branch < w->n_stored, SP_FORMAT,
             "element %lld of a sparse tensor, %llu are stored", (long long)branch, (unsigned long long)w->n_stored);
    for (int k = 0; k < w->rank; k++) to = to * w->dims[k] + w->at[k];
    memcpy(w->out + (size_t)to * w->element, w->stored + (size_t)branch * w->element, w->element);
    return SP_OK;
}

static sp_status walk(tree *w, int depth, int64_t branch)
{
    if (depth == w->n) return leaf(w, branch);
    const level *l = &w->levels[depth];
    int64_t from = 0, to = l->size, position, step = l->inner ? 1 : w->block[l->axis];
    if (l->sparse) {
        SP_TRY(position_at(w, &l->segments, (uint64_t)branch, &from));
        SP_TRY(position_at(w, &l->segments, (uint64_t)branch + 1, &to));
        /* Segments that do not overlap: so nothing is visited twice. */
        SP_CHECK(from >= 0 && from <= to && (uint64_t)to <= l->indices.n && to - from <= l->size, SP_FORMAT,
                 "byte %zu: segments of a sparse tensor", l->segments.at);
    }
    for (int64_t i = from; i < to; i++) {
        position = i;
        if (l->sparse) SP_TRY(position_at(w, &l->indices, (uint64_t)i, &position));
        SP_CHECK(position >= 0 && position < l->size, SP_FORMAT, "byte %zu: position %lld in a sparse tensor",
                 l->indices.at, (long long)position);
        w->at[l->axis] += position * step;
        sp_status status = walk(w, depth + 1, l->sparse ? i : branch * l->size + i);
        w->at[l->axis] -= position * step;
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status fill_sparse(const sp_tflite_file *t, size_t sparsity, sp_tensor *out, const uint8_t *data,
                             size_t bytes)
{
    tree w = {.t = t,
              .rank = sp_tensor_rank(out),
              .dims = sp_tensor_dims(out),
              .stored = data,
              .element = sp_dtype_bytes(sp_tensor_dtype(out)),
              .out = sp_tensor_data(out)};
    w.n_stored = bytes / w.element;
    for (int i = 0; i < SP_RANK_MAX; i++) w.block[i] = 1;
    memset(w.out, 0, (size_t)sp_tensor_count(out) * w.element);
    SP_TRY(read_tree(&w, sparsity));
    return walk(&w, 0, 0);
}

/* Two to a byte, the lower half first. */
static sp_status fill_int4(sp_tensor *out, const uint8_t *data, size_t bytes)
{
    int64_t n = sp_tensor_count(out);
    int8_t *to = sp_tensor_data(out);
    SP_CHECK((uint64_t)(n + 1) / 2 == bytes, SP_FORMAT, "%zu bytes for %lld integers of 4 bits", bytes, (long long)n);
    for (int64_t i = 0; i < n; i++) {
        int half = data[i / 2] >> (i % 2 ? 4 : 0) & 15;
        to[i] = (int8_t)(half > 7 ? half - 16 : half);
    }
    return SP_OK;
}

sp_status sp__tflite_add(const sp_source *s, const sp_tflite_file *t, size_t tensor, const sp_meta *meta, uint64_t type,
                         sp_bundle *bundle, const char *name, bool *added)
{
    uint64_t index = 0;
    const uint8_t *data = NULL;
    size_t bytes = 0, sparsity = 0, filled = 0;
    sp_meta m = *meta;
    *added = false;
    SP_TRY(sp__flat_number(&t->f, tensor, 2, 4, &index));
    SP_TRY(sp__tflite_contents(t, index, &data, &bytes));
    if (bytes == 0 || type == SP_TFLITE_STRING) return SP_OK;
    m.dtype = type == SP_TFLITE_INT4 ? SP_DTYPE_I8 : sp__tflite_dtype(type);
    SP_CHECK(m.dtype != SP_DTYPE_NONE, SP_DECLINED, "type number %llu is not supported", (unsigned long long)type);
    SP_TRY(sp__flat_table(&t->f, tensor, 6, &sparsity));
    *added = true;
    if (type != SP_TFLITE_INT4 && sparsity == 0) return sp__source_add(s, bundle, name, &m, data, bytes);
    SP_TRY(sp__meta_bytes(&m, &filled));
    SP_CHECK(filled / GROWTH_MAX <= bytes, SP_FORMAT, "%zu bytes for %zu bytes of elements", bytes, filled);
    sp_tensor *out = NULL;
    SP_TRY(sp_tensor_create(m.dtype, m.rank, m.dims, &out));
    sp_status status =
        type == SP_TFLITE_INT4 ? fill_int4(out, data, bytes) : fill_sparse(t, sparsity, out, data, bytes);
    if (status == SP_OK) status = sp_bundle_add(bundle, name, out);
    sp_tensor_release(out);
    return status;
}
