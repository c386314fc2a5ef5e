/* SPDX-License-Identifier: Apache-2.0 */
/* sort.c - order: sort, the largest k, the median, distinct values, search in sorted rows.
 *
 * Rows are ordered as lists of positions over keys made once per row: unsigned numbers of the dtype's width in the order
 * of the values. NaN comes after every number, as numpy has it; descending order turns the keys over, so that equal
 * values keep their order there too. Short rows are spread over the threads; a row longer than a block is worked on by
 * all threads, block by block, and can be interrupted between blocks. */
#include "ir/refuse.h"
#include "ops/kernels.h"
#include "ops/order.h"
#include "ops/pick.h"

enum { BLOCK = SP__ORDER_BLOCK, AHEAD = 16 };

/* --- keys -------------------------------------------------------------------------------------------------------- */

/* Bits of a float as a number that grows with it. -0 and 0 are equal. */
#define FLOAT_KEY(name, T, U)                                                                                          \
    static uint64_t name(T v)                                                                                          \
    {                                                                                                                  \
        const U top = (U)((U)1 << (8 * sizeof(U) - 1));                                                                \
        if (v != v) return (U) ~(U)0;                                                                                  \
        v += (T)0;                                                                                                     \
        U bits;                                                                                                        \
        memcpy(&bits, &v, sizeof bits);                                                                                \
        return bits & top ? (U)~bits : (U)(bits | top);                                                                \
    }
FLOAT_KEY(key_float, float, uint32_t)
FLOAT_KEY(key_double, double, uint64_t)

#define KEYS(D, T, KEY)                                                                                                \
    static void keys_##D(int64_t n, const char *x, int64_t step, uint64_t *out)                                        \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const T v = *(const T *)(const void *)(x + i * step);                                                      \
            out[i] = KEY;                                                                                              \
        }                                                                                                              \
    }
#define SIGN_BIT(T) (UINT64_C(1) << (8 * sizeof(T) - 1))
#define KEYS_SIGNED(D, T, C, LOAD, STORE, name, expr) KEYS(D, T, ((uint64_t)v & (2 * SIGN_BIT(T) - 1)) ^ SIGN_BIT(T))
#define KEYS_UNSIGNED(D, T, C, LOAD, STORE, name, expr) KEYS(D, T, (uint64_t)v)
#define KEYS_FLOAT(D, T, C, LOAD, STORE, name, expr) KEYS(D, T, key_##C(LOAD(v)))
SP_EACH_SIGNED(KEYS_SIGNED, , )
SP_EACH_UNSIGNED(KEYS_UNSIGNED, , )
SP_EACH_BOOL(KEYS_UNSIGNED, , )
SP_EACH_FLOAT(KEYS_FLOAT, , )

typedef struct {
    void (*make)(int64_t n, const char *x, int64_t step, uint64_t *out);
    int bits; /* keys are below 2^bits */
} key_kind;
#define KEYS_ROW(D, T, C, LOAD, STORE, name, expr) [SP_DTYPE_##D] = {keys_##D, 8 * (int)sizeof(C)},
static const key_kind key_kinds[SP_DTYPE_COUNT] = {SP_EACH_REAL(KEYS_ROW, , ) SP_EACH_BOOL(KEYS_ROW, , )};

/* --- sort and topk ----------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(sort_attr_table, sp_sort_attrs, (INT, axis, -1), (BOOL, descending, False), (DTYPE, indices, int64));
SP_ATTR_TABLE(topk_attr_table, sp_topk_attrs, (INT_NEEDED, k), (INT, axis, -1), (BOOL, largest, True),
              (BOOL, sorted, True), (DTYPE, indices, int64));

static sp_status index_dtype(sp_dtype d)
{
    SP_CHECK(d == SP_DTYPE_I32 || d == SP_DTYPE_I64, SP_TYPE, "indices are asked for as %s, they can be int32 or int64",
             sp_dtype_name(d));
    return SP_OK;
}

static sp_status sort_infer(const sp_call *c, sp_meta *out)
{
    const sp_sort_attrs *a = c->attrs;
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
    const sp_topk_attrs *a = c->attrs;
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

static void store_index(sp_tensor *t, int64_t at, int64_t v)
{
    if (t->dtype == SP_DTYPE_I32) ((int32_t *)(void *)t->data)[at] = (int32_t)v;
    else ((int64_t *)(void *)t->data)[at] = v;
}

static void copy_element(char *dst, const char *src, int64_t size)
{
    switch (size) { /* of a size the compiler knows: one move */
    case 1: *dst = *src; break;
    case 2: memcpy(dst, src, 2); break;
    case 4: memcpy(dst, src, 4); break;
    default: memcpy(dst, src, 8); break;
    }
}

/* All rows along the axis: element i of row (pre, post) is element (pre * n + i) * post_count + post. */
typedef struct {
    const sp_tensor *x;
    sp_tensor *values, *indices;
    int64_t n, k, post_count, size;
    bool descending;
    bool middle, numbers_only; /* of the row in order only the middle element is wanted, perhaps of those not NaN */
    char *work;                /* keys, positions and scratch of one row; a block of row_bytes per part */
    size_t row_bytes;
    int64_t rows_per_part;
} order_job;

typedef struct {
    const order_job *j;
    int64_t pre, post;
    const char *x; /* first element; the next is `step` bytes away */
    int64_t step;
    uint64_t *keys;
    int64_t *at;
    void *scratch;
} row_job;

static void row_keys(void *context, int64_t begin, int64_t end)
{
    const row_job *r = context;
    const key_kind *kind = &key_kinds[r->j->x->dtype];
    kind->make(end - begin, r->x + begin * r->step, r->step, r->keys + begin);
    if (!r->j->descending) return;
    const uint64_t top = UINT64_MAX >> (64 - kind->bits);
    for (int64_t i = begin; i < end; i++) r->keys[i] ^= top;
}

static void row_emit(void *context, int64_t begin, int64_t end)
{
    const row_job *r = context;
    const order_job *j = r->j;
    const int64_t *at = r->at, step = r->step, size = j->size, post_count = j->post_count;
    char *values = j->values->data + (r->pre * j->k * post_count + r->post) * size;
    for (int64_t i = begin; i < end; i++) {
        /* A sorted row is read at random: ask early. */
        if (i + AHEAD < end) __builtin_prefetch(r->x + at[i + AHEAD] * step);
        copy_element(values + i * post_count * size, r->x + at[i] * step, size);
    }
    for (int64_t i = begin; i < end; i++) store_index(j->indices, (r->pre * j->k + i) * post_count + r->post, at[i]);
}

/* --- the few best ------------------------------------------------------------------------------------------------ */

enum { FEW = 256 };

static bool worse(const uint64_t *keys, int64_t p, int64_t q)
{
    return keys[p] > keys[q] || (keys[p] == keys[q] && p > q);
}

/* The k first by key of the positions begin to end, or of those that `among` has there: a heap, the worst on top.
 * Returns how many they are. */
static int64_t keep_best(int64_t k, const uint64_t *keys, int64_t begin, int64_t end, const int64_t *among,
                         int64_t *heap)
{
    int64_t n = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t p = among ? among[i] : i;
        int64_t hole;
        if (n < k) {
            for (hole = n++; hole > 0 && worse(keys, p, heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
                heap[hole] = heap[(hole - 1) / 2];
            heap[hole] = p;
            continue;
        }
        if (!worse(keys, heap[0], p)) continue;
        for (hole = 0;;) {
            int64_t child = 2 * hole + 1;
            if (child >= k) break;
            if (child + 1 < k && worse(keys, heap[child + 1], heap[child])) child++;
            if (!worse(keys, heap[child], p)) break;
            heap[hole] = heap[child];
            hole = child;
        }
        heap[hole] = p;
    }
    return n;
}

/* The best of a block, at the block's place in `at`. */
static void row_block_best(void *context, int64_t begin, int64_t end)
{
    const row_job *r = context;
    keep_best(r->j->k, r->keys, begin, end, NULL, r->at + begin);
}

/* at[0..k) = the k first positions, in order. k is small against n. */
static sp_status row_best(row_job *r)
{
    const int64_t n = r->j->n, k = r->j->k;
    SP_TRY(sp__parallel_for(n, BLOCK, row_block_best, r));
    int64_t *at = r->at, candidates = 0;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        const int64_t found = n - begin < k ? n - begin : k;
        memmove(at + candidates, at + begin, (size_t)found * sizeof *at);
        candidates += found;
    }
    int64_t best[FEW];
    keep_best(k, r->keys, 0, candidates, at, best);
    for (int64_t i = 0; i < k; i++) {
        int64_t h = i;
        for (; h > 0 && worse(r->keys, at[h - 1], best[i]); h--) at[h] = at[h - 1];
        at[h] = best[i];
    }
    return SP_OK;
}

/* at[0] = the middle one (the lower of two) of a row in order. NaN, which comes last, is the answer unless left out. */
static void row_middle(row_job *r)
{
    const order_job *j = r->j;
    const key_kind *kind = &key_kinds[j->x->dtype];
    const bool floats = sp_dtype_kind((sp_dtype)j->x->dtype) == 'f';
    int64_t numbers = j->n;
    while (floats && numbers > 0 && r->keys[r->at[numbers - 1]] == UINT64_MAX >> (64 - kind->bits)) numbers--;
    int64_t place = (j->n - 1) / 2;
    if (numbers < j->n) place = !j->numbers_only ? j->n - 1 : numbers > 0 ? (numbers - 1) / 2 : 0;
    r->at[0] = r->at[place];
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static sp_status order_row(const order_job *j, int64_t row, char *work)
{
    row_job r = {.j = j, .pre = row / j->post_count, .post = row % j->post_count, .step = j->post_count * j->size};
    r.x = j->x->data + (r.pre * j->n * j->post_count + r.post) * j->size;
    r.keys = (uint64_t *)(void *)work;
    r.at = (int64_t *)(void *)(work + (size_t)j->n * 8);
    r.scratch = work + (size_t)j->n * 16;
    SP_TRY(sp__parallel_for(j->n, BLOCK, row_keys, &r));
    if (j->k <= FEW && j->k * 8 < j->n && !j->middle) SP_TRY(row_best(&r));
    else SP_TRY(sp__order(j->n, r.keys, r.at, r.scratch));
    if (j->middle) row_middle(&r);
    return sp__parallel_for(j->k, BLOCK, row_emit, &r);
}

static void order_rows(void *context, int64_t begin, int64_t end)
{
    const order_job *j = context;
    char *work = j->work + (size_t)(begin / j->rows_per_part) * j->row_bytes;
    for (int64_t row = begin; row < end; row++) (void)order_row(j, row, work); /* one block each: cannot fail */
}

/* The job says what is wanted; k below zero: all. */
static sp_status order(const sp_call *c, int64_t axis, order_job j)
{
    const sp_tensor *x = c->in[0];
    sp__pick line;
    SP_TRY(sp__pick_measure(x, axis, &line));
    j.x = x;
    j.values = c->out[0];
    j.indices = c->out[1];
    j.size = (int64_t)sp_dtype_bytes((sp_dtype)x->dtype);
    j.n = line.n;
    j.post_count = line.inner;
    if (j.k < 0) j.k = j.n;
    if (x->count == 0 || j.k == 0) return SP_OK;
    const int64_t rows = x->count / j.n;
    const bool together = j.n > BLOCK;
    /* Few parts, so that the scratch stays small: at most 16 of them. */
    j.rows_per_part = together ? rows : (rows + 15) / 16;
    if (j.rows_per_part * j.n < 4096) j.rows_per_part = 4096 / j.n + 1;
    const int64_t parts = (rows + j.rows_per_part - 1) / j.rows_per_part;
    size_t bytes;
    SP_CHECK(sp__order_bytes(j.n, key_kinds[x->dtype].bits, &j.row_bytes) &&
                 sp__add_size(j.row_bytes, (size_t)j.n * 16, &j.row_bytes) &&
                 sp__mul_size(j.row_bytes, (size_t)parts, &bytes),
             SP_NOMEM, "a row of %lld elements is too long to be sorted", (long long)j.n);
    j.work = sp__alloc(bytes);
    if (!j.work) return SP_NOMEM;
    sp_status status = SP_OK;
    if (!together) status = sp__parallel_for(rows, j.rows_per_part, order_rows, &j);
    for (int64_t row = 0; together && status == SP_OK && row < rows; row++) status = order_row(&j, row, j.work);
    sp__free(j.work);
    return status;
}

static sp_status sort_reference(const sp_call *c)
{
    const sp_sort_attrs *a = c->attrs;
    return order(c, a->axis, (order_job){.k = -1, .descending = a->descending});
}

static sp_status topk_reference(const sp_call *c)
{
    const sp_topk_attrs *a = c->attrs;
    return order(c, a->axis, (order_job){.k = a->k, .descending = a->largest});
}

/* Both: gradients go back to where the values came from. */
static sp_status order_vjp(sp_builder *b, const sp_vjp *v, int64_t axis)
{
    if (!v->dout[0]) return SP_OK;
    const sp_scatter_elements_attrs attrs = {axis, "add"};
    sp_tensor *zeros = sp__full(b, 0, (sp_dtype)v->dout[0]->dtype, v->in[0]->rank, v->in[0]->dims);
    v->din[0] =
        sp_builder_apply(b, &sp_op_scatter_elements, &attrs, 3, (sp_tensor *const[]){zeros, v->out[1], v->dout[0]});
    return SP_OK;
}
static sp_status sort_vjp(sp_builder *b, const sp_vjp *v)
{
    return order_vjp(b, v, ((const sp_sort_attrs *)v->attrs)->axis);
}
static sp_status topk_vjp(sp_builder *b, const sp_vjp *v)
{
    return order_vjp(b, v, ((const sp_topk_attrs *)v->attrs)->axis);
}

const sp_op sp_op_sort = {
    .batch = sp__batch_axis,
    .name = "sort",
    .shard = "same; axis whole",
    .inputs = "x",
    .n_out = 2,
    SP_ATTRS(sort_attr_table, sp_sort_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .infer = sort_infer,
    .reference = sort_reference,
    .vjp = sort_vjp,
    .saves = SP_SAVE_OUT(1),
    .mindir = "Sort",
    .doc = "The elements in order along an axis, and the positions they came from. Stable; NaN counts as largest.",
    .samples = "[2,5]d; [4,3]d axis=0 descending=True; [3]d indices=int32; []",
};

const sp_op sp_op_topk = {
    .batch = sp__batch_axis,
    .name = "topk",
    .shard = "same; axis whole",
    .inputs = "x",
    .n_out = 2,
    SP_ATTRS(topk_attr_table, sp_topk_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .infer = topk_infer,
    .reference = topk_reference,
    .vjp = topk_vjp,
    .saves = SP_SAVE_OUT(1),
    .mindir = "TopK",
    .onnx = "TopK",
    .doc = "The k largest (or smallest) elements along an axis, in order, and their positions.",
    .samples = "[2,5]d k=2; [4,3]d k=3 axis=0 largest=False; [20]d k=2 indices=int32",
};

/* --- median ------------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(median_attr_table, sp_median_attrs, (INT, axis, -1), (BOOL, keepdims, False), (BOOL, ignore_nan, False));

static sp_status median_infer(const sp_call *c, sp_meta *out)
{
    const sp_median_attrs *a = c->attrs;
    SP_TRY(sp__pick_infer(c->in[0], a->axis, a->keepdims, out));
    out[1] = out[0];
    out[0].dtype = (sp_dtype)c->in[0]->dtype;
    out[1].dtype = SP_DTYPE_I64;
    return SP_OK;
}
static sp_status median_reference(const sp_call *c)
{
    const sp_median_attrs *a = c->attrs;
    return order(c, a->axis, (order_job){.k = 1, .middle = true, .numbers_only = a->ignore_nan});
}
static sp_status median_vjp(sp_builder *b, const sp_vjp *v)
{
    return sp__pick_vjp(b, v, ((const sp_median_attrs *)v->attrs)->axis, v->out[1], v->dout[0]);
}
const sp_op sp_op_median = {
    .batch = sp__batch_axis,
    .name = "median",
    .shard = "fold; axis whole",
    .inputs = "x",
    .n_out = 2,
    SP_ATTRS(median_attr_table, sp_median_attrs),
    .dtypes = SP_DT_REAL,
    .infer = median_infer,
    .reference = median_reference,
    .vjp = median_vjp,
    .saves = SP_SAVE_OUT(1),
    .mindir = "Median",
    .python = "ops.median(input, axis=-1, keepdims=False); Tensor.median(axis=-1, keepdims=False); "
              "Tensor.median(dim:axis=-1, keepdim:keepdims=False); ops.nanmedian(input, axis=-1, keepdims=False, "
              ".ignore_nan=True); "
              "Tensor.nanmedian(axis=-1, keepdims=False, .ignore_nan=True)",
    .doc = "The middle element along an axis (the lower of two) and where it is.",
    .samples = "[5]d; [2,4]d axis=1; [3,2,2]d axis=0 keepdims=True",
};

/* --- unique ------------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(unique_attr_table, sp_unique_attrs, (BOOL, sorted, True), (BOOL, consecutive, False),
              (DTYPE, indices, int64));

static sp_status unique_infer(const sp_call *c, sp_meta *out)
{
    const sp_unique_attrs *a = c->attrs;
    SP_TRY(index_dtype(a->indices));
    out[0] = (sp_meta){.dtype = (sp_dtype)c->in[0]->dtype, .rank = 1, .dims = {-1}};
    sp__meta_of(c->in[0], &out[1]);
    out[1].dtype = a->indices;
    out[2] = (sp_meta){.dtype = a->indices, .rank = 1, .dims = {-1}};
    return SP_OK;
}

/* Elements in groups of equal value. Numbers are given to the places that start something, in order, by blocks: first
 * every block counts its starts, then the counts are summed up, then every block gives out its numbers. */
typedef struct {
    const sp_tensor *x;
    sp_tensor *values, *groups, *counts;
    int64_t n;
    uint64_t *keys;
    int64_t *at;             /* positions in the order of their keys, or as they are */
    int64_t *group;          /* of each element */
    int64_t *start;          /* of each group: its first place in `at`; one more: n */
    int64_t *name, *by_name; /* group to number in the result, and back */
    int64_t *block;          /* starts in a block, then of all blocks before */
    int64_t n_groups;
} unique_job;

static bool starts_group(const unique_job *j, int64_t i)
{
    return i == 0 || j->keys[j->at[i]] != j->keys[j->at[i - 1]];
}
/* The order is stable: the first place of a group has its first element. */
static bool appears_first(const unique_job *j, int64_t i) { return j->at[j->start[j->group[i]]] == i; }

static void unique_keys(void *context, int64_t begin, int64_t end)
{
    const unique_job *j = context;
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)j->x->dtype);
    key_kinds[j->x->dtype].make(end - begin, j->x->data + begin * size, size, j->keys + begin);
    for (int64_t i = begin; i < end; i++) j->at[i] = i;
}
static void count_groups(void *context, int64_t begin, int64_t end)
{
    const unique_job *j = context;
    int64_t n = 0;
    for (int64_t i = begin; i < end; i++) n += starts_group(j, i);
    j->block[begin / BLOCK] = n;
}
static void number_groups(void *context, int64_t begin, int64_t end)
{
    const unique_job *j = context;
    int64_t next = j->block[begin / BLOCK];
    for (int64_t i = begin; i < end; i++) {
        if (starts_group(j, i)) j->start[next++] = i;
        j->group[j->at[i]] = next - 1;
    }
}
static void count_names(void *context, int64_t begin, int64_t end)
{
    const unique_job *j = context;
    int64_t n = 0;
    for (int64_t i = begin; i < end; i++) n += appears_first(j, i);
    j->block[begin / BLOCK] = n;
}
static void number_names(void *context, int64_t begin, int64_t end)
{
    const unique_job *j = context;
    int64_t next = j->block[begin / BLOCK];
    for (int64_t i = begin; i < end; i++)
        if (appears_first(j, i)) {
            j->by_name[next] = j->group[i];
            j->name[j->group[i]] = next++;
        }
}
static void same_names(void *context, int64_t begin, int64_t end)
{
    const unique_job *j = context;
    for (int64_t g = begin; g < end; g++) j->name[g] = j->by_name[g] = g;
}
static void emit_values(void *context, int64_t begin, int64_t end)
{
    const unique_job *j = context;
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)j->x->dtype);
    for (int64_t i = begin; i < end; i++) {
        const int64_t g = j->by_name[i];
        copy_element(j->values->data + i * size, j->x->data + j->at[j->start[g]] * size, size);
        store_index(j->counts, i, j->start[g + 1] - j->start[g]);
    }
}
static void emit_groups(void *context, int64_t begin, int64_t end)
{
    const unique_job *j = context;
    for (int64_t i = begin; i < end; i++) store_index(j->groups, i, j->name[j->group[i]]);
}

/* Number what `count` counts by `number`. */
static sp_status number_blocks(unique_job *j, void (*count)(void *, int64_t, int64_t),
                               void (*number)(void *, int64_t, int64_t))
{
    SP_TRY(sp__parallel_for(j->n, BLOCK, count, j));
    int64_t sum = 0;
    for (int64_t b = 0; b * BLOCK < j->n; b++) {
        const int64_t n = j->block[b];
        j->block[b] = sum;
        sum += n;
    }
    SP_TRY(sp__parallel_for(j->n, BLOCK, number, j));
    j->n_groups = sum;
    return SP_OK;
}

static sp_status unique_run(unique_job *j, const sp_unique_attrs *a, void *scratch)
{
    SP_TRY(sp__parallel_for(j->n, BLOCK, unique_keys, j));
    if (!a->consecutive) SP_TRY(sp__order(j->n, j->keys, j->at, scratch));
    SP_TRY(number_blocks(j, count_groups, number_groups));
    j->start[j->n_groups] = j->n;
    if (a->sorted || a->consecutive) return sp__parallel_for(j->n_groups, BLOCK, same_names, j);
    return number_blocks(j, count_names, number_names);
}

static sp_status unique_reference(const sp_call *c)
{
    const sp_unique_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    const int64_t n = x->count, blocks = n / BLOCK + 1;
    size_t scratch, ints, bytes;
    SP_CHECK(sp__order_bytes(n, key_kinds[x->dtype].bits, &scratch) &&
                 sp__mul_size((size_t)(6 * n + blocks + 1), 8, &ints) && sp__add_size(scratch, ints, &bytes),
             SP_NOMEM, "%lld elements are too many to look for distinct values", (long long)n);
    int64_t *work = sp__alloc(bytes);
    if (!work) return SP_NOMEM;
    unique_job j = {.x = x,
                    .n = n,
                    .keys = (uint64_t *)(void *)work,
                    .at = work + n,
                    .group = work + 2 * n,
                    .name = work + 3 * n,
                    .by_name = work + 4 * n,
                    .start = work + 5 * n,
                    .block = work + 6 * n + 1};
    sp_status status;
    SP_GOTO(done, unique_run(&j, a, (char *)work + ints));
    SP_GOTO(done, sp_tensor_create((sp_dtype)x->dtype, 1, &j.n_groups, &c->out[0]));
    SP_GOTO(done, sp_tensor_create(a->indices, 1, &j.n_groups, &c->out[2]));
    j.values = c->out[0];
    j.groups = c->out[1];
    j.counts = c->out[2];
    SP_GOTO(done, sp__parallel_for(j.n_groups, BLOCK, emit_values, &j));
    SP_GOTO(done, sp__parallel_for(n, BLOCK, emit_groups, &j));
done:
    sp__free(work);
    return status;
}

const sp_op sp_op_unique = {
    .name = "unique",
    .inputs = "x",
    .n_out = 3,
    SP_ATTRS(unique_attr_table, sp_unique_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .infer = unique_infer,
    .open = true,
    .reference = unique_reference,
    .vjp = sp__vjp_refuse,
    .no_vjp = "the choice of values is not continuous",
    .mindir = "Unique",
    .onnx = "Unique",
    .doc = "The distinct values, sorted or in the order they appear (or of neighbours only), for each element the "
           "number of its value, and how often each value occurs.",
    .samples = "[5]i<3; [2,4]i<4 sorted=False; [6]i<2 consecutive=True indices=int32; [0]",
};

/* --- searchsorted ------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(search_attr_table, sp_searchsorted_attrs, (BOOL, right, False), (DTYPE, dtype, int64));

static sp_status search_infer(const sp_call *c, sp_meta *out)
{
    const sp_searchsorted_attrs *a = c->attrs;
    const sp_tensor *rows = c->in[0], *v = c->in[1];
    char tr[SP_SHAPE_TEXT], tv[SP_SHAPE_TEXT];
    SP_TRY(index_dtype(a->dtype));
    SP_CHECK(rows->rank >= 1, SP_VALUE, "the sorted sequence has no dimensions");
    bool fits = rows->rank == 1 || rows->rank == v->rank;
    for (int i = 0; fits && rows->rank > 1 && i < rows->rank - 1; i++) fits = rows->dims[i] == v->dims[i];
    SP_CHECK(fits, SP_VALUE,
             "sorted sequences of shape %s and values of shape %s must agree in all dimensions but "
             "the last",
             sp__shape_text(rows->rank, rows->dims, tr), sp__shape_text(v->rank, v->dims, tv));
    sp__meta_of(v, out);
    out->dtype = a->dtype;
    return SP_OK;
}

static void search_values(void *context, int64_t begin, int64_t end)
{
    const sp_call *c = context;
    const sp_searchsorted_attrs *a = c->attrs;
    const sp_tensor *rows = c->in[0], *v = c->in[1];
    const int64_t n = rows->dims[rows->rank - 1], size = (int64_t)sp_dtype_bytes((sp_dtype)rows->dtype);
    const int64_t per_row = rows->rank == 1 ? v->count : v->dims[v->rank - 1];
    const key_kind *kind = &key_kinds[rows->dtype];
    for (int64_t i = begin; i < end; i++) {
        const char *row = rows->data + (rows->rank == 1 ? 0 : i / per_row * n) * size;
        uint64_t want, key;
        kind->make(1, v->data + i * size, 0, &want);
        int64_t low = 0, high = n;
        while (low < high) {
            const int64_t mid = low + (high - low) / 2;
            kind->make(1, row + mid * size, 0, &key);
            if (key < want || (a->right && key == want)) low = mid + 1;
            else high = mid;
        }
        store_index(c->out[0], i, low);
    }
}

static sp_status search_reference(const sp_call *c)
{
    sp_call call = *c;
    return sp__parallel_for(c->in[1]->count, 1024, search_values, &call);
}

const sp_op sp_op_searchsorted = {
    .batch = sp__batch_searchsorted,
    .name = "searchsorted",
    .inputs = "sorted_sequence, values",
    SP_ATTRS(search_attr_table, sp_searchsorted_attrs),
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT_REAL,
    .infer = search_infer,
    .reference = search_reference,
    .no_vjp = "integer result",
    .mindir = "SearchSorted",
    .doc = "Where each value would be put into a sorted row so that it stays sorted: before equal ones, or after them.",
    .samples = "[4]d [3]; [2,4]d [2,3] right=True; [4]d [2,2] dtype=int32",
};
