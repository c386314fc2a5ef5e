/* SPDX-License-Identifier: Apache-2.0 */
/* sort.c - order: sort, the largest k, distinct values, search in sorted rows.
 *
 * Rows are sorted as lists of positions by a merge sort, which is stable, over keys made once per row: unsigned 64-bit
 * numbers in the order of the values. NaN comes after every number, as numpy has it; descending order negates the keys,
 * so that equal values keep their order there too. */
#include <stdlib.h>

#include "ops/kernels.h"

/* --- keys -------------------------------------------------------------------------------------------------------- */

static uint64_t key_signed(int64_t v) { return (uint64_t)v ^ (UINT64_C(1) << 63); }

static uint64_t key_double(double v)
{
    if (v != v) return UINT64_MAX;
    v += 0.0; /* -0 and 0 are equal */
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

#define KEYS_SIGNED(D, T, C, LOAD, STORE, name, expr)                                                                  \
    static void keys_##D(int64_t n, const char *x, int64_t step, uint64_t *out)                                        \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) out[i] = key_signed((int64_t)*(const T *)(const void *)(x + i * step));        \
    }
#define KEYS_UNSIGNED(D, T, C, LOAD, STORE, name, expr)                                                                \
    static void keys_##D(int64_t n, const char *x, int64_t step, uint64_t *out)                                        \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) out[i] = (uint64_t)*(const T *)(const void *)(x + i * step);                   \
    }
#define KEYS_FLOAT(D, T, C, LOAD, STORE, name, expr)                                                                   \
    static void keys_##D(int64_t n, const char *x, int64_t step, uint64_t *out)                                        \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) out[i] = key_double((double)LOAD(*(const T *)(const void *)(x + i * step)));   \
    }
SP_EACH_SIGNED(KEYS_SIGNED, , )
SP_EACH_UNSIGNED(KEYS_UNSIGNED, , )
SP_EACH_BOOL(KEYS_UNSIGNED, , )
SP_EACH_FLOAT(KEYS_FLOAT, , )
#define KEYS_ROW(D, T, C, LOAD, STORE, name, expr) [SP_DTYPE_##D] = keys_##D,
typedef void (*keys_fn)(int64_t n, const char *x, int64_t step, uint64_t *out);
static const keys_fn keys_of[SP_DTYPE_COUNT] = {SP_EACH_REAL(KEYS_ROW, , ) SP_EACH_BOOL(KEYS_ROW, , )};

/* Positions 0..n-1 in the order of their keys, stable. spare has room for n. */
static void sort_positions(int64_t n, const uint64_t *keys, int64_t *at, int64_t *spare)
{
    /* Runs of 16 by insertion, then merged. */
    for (int64_t from = 0; from < n; from += 16) {
        const int64_t to = from + 16 < n ? from + 16 : n;
        for (int64_t i = from; i < to; i++) {
            int64_t k = i;
            for (; k > from && keys[at[k - 1]] > keys[i]; k--) at[k] = at[k - 1];
            at[k] = i;
        }
    }
    int64_t *src = at, *dst = spare;
    for (int64_t width = 16; width < n; width *= 2) {
        for (int64_t from = 0; from < n; from += 2 * width) {
            const int64_t mid = from + width < n ? from + width : n, to = from + 2 * width < n ? from + 2 * width : n;
            int64_t i = from, j = mid, o = from;
            while (i < mid && j < to) dst[o++] = keys[src[j]] < keys[src[i]] ? src[j++] : src[i++];
            memcpy(dst + o, src + i, (size_t)(mid - i) * sizeof *dst);
            o += mid - i;
            memcpy(dst + o, src + j, (size_t)(to - j) * sizeof *dst);
        }
        int64_t *swap = src;
        src = dst;
        dst = swap;
    }
    if (src != at) memcpy(at, src, (size_t)n * sizeof *at);
}

/* --- sort and topk ----------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t axis;
    bool descending;
    sp_dtype indices;
} sort_attrs;
static const sp_attr sort_attr_table[] = {SP_ATTR(sort_attrs, axis, INT, "-1"),
                                          SP_ATTR(sort_attrs, descending, BOOL, "False"),
                                          SP_ATTR(sort_attrs, indices, DTYPE, "int64")};
typedef struct {
    int64_t k, axis;
    bool largest, sorted;
    sp_dtype indices;
} topk_attrs;
static const sp_attr topk_attr_table[] = {
    SP_ATTR(topk_attrs, k, INT, NULL), SP_ATTR(topk_attrs, axis, INT, "-1"), SP_ATTR(topk_attrs, largest, BOOL, "True"),
    SP_ATTR(topk_attrs, sorted, BOOL, "True"), SP_ATTR(topk_attrs, indices, DTYPE, "int64")};

static sp_status index_dtype(sp_dtype d)
{
    SP_CHECK(d == SP_DTYPE_I32 || d == SP_DTYPE_I64, SP_TYPE, "indices are asked for as %s, they can be int32 or int64",
             sp_dtype_name(d));
    return SP_OK;
}

static sp_status sort_infer(const sp_call *c, sp_meta *out)
{
    const sort_attrs *a = c->attrs;
    int axis;
    SP_TRY(sp__shape_axis(a->axis, c->in[0]->rank, "axis", &axis));
    SP_TRY(index_dtype(a->indices));
    sp__meta_of(c->in[0], &out[0]);
    sp__meta_of(c->in[0], &out[1]);
    out[1].dtype = a->indices;
    return SP_OK;
}

static sp_status topk_infer(const sp_call *c, sp_meta *out)
{
    const topk_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    int axis;
    SP_TRY(sp__shape_axis(a->axis, x->rank, "dimension", &axis));
    SP_TRY(index_dtype(a->indices));
    const int64_t n = x->rank ? x->dims[axis] : 1;
    SP_CHECK(a->k >= 0 && a->k <= n, SP_VALUE, "k is %lld, it must be in [0, %lld], the size of dimension %d",
             (long long)a->k, (long long)n, axis);
    sp__meta_of(x, &out[0]);
    if (x->rank) out[0].dims[axis] = a->k;
    out[1] = out[0];
    out[1].dtype = a->indices;
    return SP_OK;
}

typedef struct {
    const sp_tensor *x;
    sp_tensor *values, *indices;
    int64_t n, k, post;
    bool descending;
    char *work;         /* (keys, positions, spare) for one row after the other; a block per part */
    int64_t rows_per_part;
} order_job;

/* The k first positions by key without sorting all: a heap of the best k. For k much smaller than n. */
static void heap_positions(int64_t n, int64_t k, const uint64_t *keys, int64_t *heap)
{
#define WORSE(p, q) (keys[p] > keys[q] || (keys[p] == keys[q] && (p) > (q)))
    for (int64_t i = 0; i < n; i++) {
        int64_t hole;
        if (i < k) {
            for (hole = i; hole > 0 && WORSE(i, heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
                heap[hole] = heap[(hole - 1) / 2];
            heap[hole] = i;
            continue;
        }
        if (!WORSE(heap[0], i)) continue;
        for (hole = 0;;) {
            int64_t child = 2 * hole + 1;
            if (child >= k) break;
            if (child + 1 < k && WORSE(heap[child + 1], heap[child])) child++;
            if (!WORSE(heap[child], i)) break;
            heap[hole] = heap[child];
            hole = child;
        }
        heap[hole] = i;
    }
#undef WORSE
}

static void order_rows(void *context, int64_t begin, int64_t end)
{
    const order_job *j = context;
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)j->x->dtype);
    uint64_t *keys = (uint64_t *)(void *)(j->work + (size_t)(begin / j->rows_per_part * j->n * 3) * 8);
    int64_t *at = (int64_t *)(void *)keys + j->n, *spare = at + j->n;
    for (int64_t row = begin; row < end; row++) {
        const int64_t pre = row / j->post, post = row % j->post;
        const char *x = j->x->data + (pre * j->n * j->post + post) * size;
        keys_of[j->x->dtype](j->n, x, j->post * size, keys);
        if (j->descending)
            for (int64_t i = 0; i < j->n; i++) keys[i] = ~keys[i];
        if (j->k <= 256 && j->k * 8 < j->n) {
            heap_positions(j->n, j->k, keys, at);
            /* The heap's positions in order: by key, then by place; k is small. */
            for (int64_t i = 1; i < j->k; i++) {
                const int64_t p = at[i];
                int64_t h = i;
                for (; h > 0; h--) {
                    const int64_t q = at[h - 1];
                    if (keys[q] < keys[p] || (keys[q] == keys[p] && q < p)) break;
                    at[h] = q;
                }
                at[h] = p;
            }
        } else {
            sort_positions(j->n, keys, at, spare);
        }
        for (int64_t i = 0; i < j->k; i++) {
            const int64_t to = (pre * j->k + i) * j->post + post;
            memcpy(j->values->data + to * size, x + at[i] * j->post * size, (size_t)size);
            if (j->indices->dtype == SP_DTYPE_I32) ((int32_t *)(void *)j->indices->data)[to] = (int32_t)at[i];
            else ((int64_t *)(void *)j->indices->data)[to] = at[i];
        }
    }
}

static sp_status order(const sp_call *c, int64_t axis_given, int64_t k, bool descending)
{
    const sp_tensor *x = c->in[0];
    int axis;
    SP_TRY(sp__shape_axis(axis_given, x->rank, "axis", &axis));
    order_job j = {.x = x, .values = c->out[0], .indices = c->out[1], .n = x->rank ? x->dims[axis] : 1, .post = 1,
                   .descending = descending};
    j.k = k < 0 ? j.n : k;
    for (int i = axis + 1; i < x->rank; i++) j.post *= x->dims[i];
    if (x->count == 0 || j.k == 0) return SP_OK;
    const int64_t rows = x->count / j.n;
    /* Few parts, so that the scratch stays small: at most 16 of them. */
    j.rows_per_part = (rows + 15) / 16;
    if (j.rows_per_part * j.n < 4096) j.rows_per_part = 4096 / j.n + 1;
    const int64_t parts = (rows + j.rows_per_part - 1) / j.rows_per_part;
    j.work = sp__alloc((size_t)(parts * j.n * 3) * 8);
    if (!j.work) return SP_NOMEM;
    sp_status status = sp__parallel_for(rows, j.rows_per_part, order_rows, &j);
    sp__free(j.work);
    return status;
}

static sp_status sort_reference(const sp_call *c)
{
    const sort_attrs *a = c->attrs;
    return order(c, a->axis, -1, a->descending);
}

static sp_status topk_reference(const sp_call *c)
{
    const topk_attrs *a = c->attrs;
    return order(c, a->axis, a->k, a->largest);
}

/* Both: gradients go back to where the values came from. */
static sp_status order_vjp(sp_builder *b, const sp_vjp *v, int64_t axis)
{
    if (!v->dout[0]) return SP_OK;
    const struct {
        int64_t axis;
        const char *reduce;
    } attrs = {axis, "add"};
    sp_tensor *zeros = sp__full(b, 0, (sp_dtype)v->dout[0]->dtype, v->in[0]->rank, v->in[0]->dims);
    v->din[0] = sp_builder_apply(b, &sp_op_scatter_elements, &attrs, 3,
                                 (sp_tensor *const[]){zeros, v->out[1], v->dout[0]});
    return SP_OK;
}
static sp_status sort_vjp(sp_builder *b, const sp_vjp *v)
{
    return order_vjp(b, v, ((const sort_attrs *)v->attrs)->axis);
}
static sp_status topk_vjp(sp_builder *b, const sp_vjp *v)
{
    return order_vjp(b, v, ((const topk_attrs *)v->attrs)->axis);
}

const sp_op sp_op_sort = {
    .name = "sort", .inputs = "x", .n_out = 2, SP_ATTRS(sort_attr_table, sort_attrs), .dtypes = SP_DT_REAL_BOOL,
    .infer = sort_infer, .reference = sort_reference, .vjp = sort_vjp, .saves = SP_SAVE_OUT(1), .mindir = "Sort",
    .doc = "The elements in order along an axis, and the positions they came from. Stable; NaN counts as largest.",
    .samples = "[2,5]d; [4,3]d axis=0 descending=True; [3]d indices=int32; []",
};

const sp_op sp_op_topk = {
    .name = "topk", .inputs = "x", .n_out = 2, SP_ATTRS(topk_attr_table, topk_attrs), .dtypes = SP_DT_REAL_BOOL,
    .infer = topk_infer, .reference = topk_reference, .vjp = topk_vjp, .saves = SP_SAVE_OUT(1), .mindir = "TopK",
    .onnx = "TopK",
    .doc = "The k largest (or smallest) elements along an axis, in order, and their positions.",
    .samples = "[2,5]d k=2; [4,3]d k=3 axis=0 largest=False; [20]d k=2 indices=int32",
};

/* --- unique ------------------------------------------------------------------------------------------------------ */

typedef struct {
    bool sorted, consecutive;
    sp_dtype indices;
} unique_attrs;
static const sp_attr unique_attr_table[] = {SP_ATTR(unique_attrs, sorted, BOOL, "True"),
                                            SP_ATTR(unique_attrs, consecutive, BOOL, "False"),
                                            SP_ATTR(unique_attrs, indices, DTYPE, "int64")};

static sp_status unique_infer(const sp_call *c, sp_meta *out)
{
    const unique_attrs *a = c->attrs;
    SP_TRY(index_dtype(a->indices));
    out[0] = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype, .rank = 1, .dims = {-1}};
    sp__meta_of(c->in[0], &out[1]);
    out[1].dtype = a->indices;
    out[2] = (sp_meta){.dtype = a->indices, .rank = 1, .dims = {-1}};
    return SP_OK;
}

static void store_index(sp_tensor *t, int64_t at, int64_t v)
{
    if (t->dtype == SP_DTYPE_I32) ((int32_t *)(void *)t->data)[at] = (int32_t)v;
    else ((int64_t *)(void *)t->data)[at] = v;
}

/* group[i]: number of the value of element i; first[g]: its first element. Returns the number of values. */
static int64_t group_values(const unique_attrs *a, int64_t n, const uint64_t *keys, int64_t *at, int64_t *spare,
                            int64_t *group, int64_t *first)
{
    int64_t groups = 0;
    if (a->consecutive) {
        for (int64_t i = 0; i < n; i++) {
            if (i == 0 || keys[i] != keys[i - 1]) first[groups++] = i;
            group[i] = groups - 1;
        }
        return groups;
    }
    sort_positions(n, keys, at, spare);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || keys[at[i]] != keys[at[i - 1]]) first[groups++] = at[i];
        group[at[i]] = groups - 1;
    }
    if (a->sorted) return groups;
    /* In the order of appearance: number the groups anew as their first elements come by. */
    for (int64_t g = 0; g < groups; g++) spare[g] = -1;
    int64_t next = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t *name = &spare[group[i]];
        if (*name < 0) {
            *name = next;
            first[next++] = i;
        }
        group[i] = *name;
    }
    return groups;
}

static sp_status unique_reference(const sp_call *c)
{
    const unique_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    const int64_t n = x->count, size = (int64_t)sp_dtype_bytes((sp_dtype)x->dtype);
    int64_t *work = sp__alloc((size_t)(n > 0 ? n : 1) * 5 * 8);
    if (!work) return SP_NOMEM;
    uint64_t *keys = (uint64_t *)(void *)work;
    int64_t *at = work + n, *spare = at + n, *group = spare + n, *first = group + n;
    keys_of[x->dtype](n, x->data, size, keys);
    const int64_t groups = group_values(a, n, keys, at, spare, group, first);
    sp_status status;
    SP_GOTO(done, sp_tensor_create((sp_dtype)x->dtype, 1, &groups, &c->out[0]));
    SP_GOTO(done, sp_tensor_create_zeros(a->indices, 1, &groups, &c->out[2]));
    for (int64_t g = 0; g < groups; g++) memcpy(c->out[0]->data + g * size, x->data + first[g] * size, (size_t)size);
    memset(at, 0, (size_t)(groups ? groups : 1) * sizeof *at);
    for (int64_t i = 0; i < n; i++) {
        store_index(c->out[1], i, group[i]);
        at[group[i]]++;
    }
    for (int64_t g = 0; g < groups; g++) store_index(c->out[2], g, at[g]);
done:
    sp__free(work);
    return status;
}

const sp_op sp_op_unique = {
    .name = "unique", .inputs = "x", .n_out = 3, SP_ATTRS(unique_attr_table, unique_attrs), .dtypes = SP_DT_REAL_BOOL,
    .infer = unique_infer, .reference = unique_reference, .no_vjp = "the choice of values is not continuous",
    .mindir = "Unique",
    .onnx = "Unique",
    .doc = "The distinct values, sorted or in the order they appear (or of neighbours only), for each element the "
           "number of its value, and how often each value occurs.",
    .samples = "[5]i<3; [2,4]i<4 sorted=False; [6]i<2 consecutive=True indices=int32; [0]",
};

/* --- searchsorted ------------------------------------------------------------------------------------------------ */

typedef struct {
    bool right;
    sp_dtype dtype;
} search_attrs;
static const sp_attr search_attr_table[] = {SP_ATTR(search_attrs, right, BOOL, "False"),
                                            SP_ATTR(search_attrs, dtype, DTYPE, "int64")};

static sp_status search_infer(const sp_call *c, sp_meta *out)
{
    const search_attrs *a = c->attrs;
    const sp_tensor *rows = c->in[0], *v = c->in[1];
    char tr[SP_SHAPE_TEXT], tv[SP_SHAPE_TEXT];
    SP_TRY(index_dtype(a->dtype));
    SP_CHECK(rows->rank >= 1, SP_VALUE, "the sorted sequence has no dimensions");
    bool fits = rows->rank == 1 || rows->rank == v->rank;
    for (int i = 0; fits && rows->rank > 1 && i < rows->rank - 1; i++) fits = rows->dims[i] == v->dims[i];
    SP_CHECK(fits, SP_VALUE, "sorted sequences of shape %s and values of shape %s must agree in all dimensions but "
                             "the last",
             sp__shape_text(rows->rank, rows->dims, tr), sp__shape_text(v->rank, v->dims, tv));
    sp__meta_of(v, out);
    out->dtype = a->dtype;
    return SP_OK;
}

static sp_status search_reference(const sp_call *c)
{
    const search_attrs *a = c->attrs;
    const sp_tensor *rows = c->in[0], *v = c->in[1];
    const int64_t n = rows->dims[rows->rank - 1], size = (int64_t)sp_dtype_bytes((sp_dtype)rows->dtype);
    const int64_t per_row = rows->rank == 1 ? v->count : v->dims[v->rank - 1];
    keys_fn keys = keys_of[rows->dtype];
    for (int64_t i = 0; i < v->count; i++) {
        const char *row = rows->data + (rows->rank == 1 ? 0 : i / per_row * n) * size;
        uint64_t want, key;
        keys(1, v->data + i * size, 0, &want);
        int64_t low = 0, high = n;
        while (low < high) {
            const int64_t mid = low + (high - low) / 2;
            keys(1, row + mid * size, 0, &key);
            if (key < want || (a->right && key == want)) low = mid + 1;
            else high = mid;
        }
        store_index(c->out[0], i, low);
    }
    return SP_OK;
}

const sp_op sp_op_searchsorted = {
    .name = "searchsorted", .inputs = "sorted_sequence, values", SP_ATTRS(search_attr_table, search_attrs),
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT_REAL, .infer = search_infer, .reference = search_reference, .no_vjp = "integer result",
    .mindir = "SearchSorted",
    .doc = "Where each value would be put into a sorted row so that it stays sorted: before equal ones, or after them.",
    .samples = "[4]d [3]; [2,4]d [2,3] right=True; [4]d [2,2] dtype=int32",
};
