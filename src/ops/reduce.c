/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c - sums, means, extrema and truth over axes.
 *
 * The input is seen as [outer dims kept] x [dims reduced]; each output element is the result of one run over its reduced
 * elements in row-major order. Sums of floats add blocks of 128 pairwise, so that the error grows with the logarithm
 * of the length. The order of additions must depend on the shape alone, so the operators that round take row-major inputs
 * (others are copied first): how dimensions merge into runs follows from the strides.
 *
 * Few long runs are cut into blocks along their first dimension, so that all threads have work and an interruption is
 * noticed; the blocks' results are merged by halves. Where the cuts are follows from the shape. */
#include <stdlib.h>

#include "base/scratch.h"
#include "ops/kernels.h"
#include "ops/reduced.h"

SP_ATTR_TABLE(reduce_attr_table, sp_reduce_attrs, (INTS_OR_NONE, axis), (BOOL, keepdims, False));

sp_status sp__axes_mask(sp_ints axes, int rank, uint32_t *mask)
{
    *mask = 0;
    if (axes.n <= 0) {
        *mask = (1u << rank) - 1;
        return SP_OK;
    }
    for (int i = 0; i < axes.n; i++) {
        int axis;
        SP_TRY(sp__shape_axis(axes.v[i], rank, "axis", &axis));
        SP_CHECK(rank == 0 || !(*mask >> axis & 1), SP_VALUE, "axis %lld is given twice", (long long)axes.v[i]);
        *mask |= 1u << axis;
    }
    return SP_OK;
}

sp_status sp__infer_reduced(const sp_tensor *x, sp_ints axis, bool keepdims, sp_meta *out)
{
    uint32_t mask;
    SP_TRY(sp__axes_mask(axis, x->rank, &mask));
    out->dtype = (sp_dtype)x->dtype;
    out->rank = 0;
    for (int i = 0; i < x->rank; i++) {
        if (!(mask >> i & 1)) out->dims[out->rank++] = x->dims[i];
        else if (keepdims) out->dims[out->rank++] = 1;
    }
    return SP_OK;
}

static sp_status reduce_infer(const sp_call *c, sp_meta *out)
{
    const sp_reduce_attrs *a = c->attrs;
    return sp__infer_reduced(c->in[0], a->axis, a->keepdims, out);
}

static sp_status reduce_infer_bool(const sp_call *c, sp_meta *out)
{
    SP_TRY(reduce_infer(c, out));
    out->dtype = SP_DTYPE_BOOL;
    return SP_OK;
}

/* An extremum of nothing does not exist. */
static sp_status extremum_infer(const sp_call *c, sp_meta *out)
{
    uint32_t mask;
    char text[SP_SHAPE_TEXT];
    SP_TRY(sp__axes_mask(((const sp_reduce_attrs *)c->attrs)->axis, c->in[0]->rank, &mask));
    for (int i = 0; i < c->in[0]->rank; i++)
        SP_CHECK(!(mask >> i & 1) || c->in[0]->dims[i] > 0, SP_VALUE,
                 "there is no extremum over axis %d of a tensor of shape %s, it has no elements", i,
                 sp__shape_text(c->in[0]->rank, c->in[0]->dims, text));
    return reduce_infer(c, out);
}

/* --- the walk ---------------------------------------------------------------------------------------------------- */

/* One run: n reduced elements at x, `step` bytes apart, folded into *acc (whatever type the operator uses). */
typedef struct {
    void (*init)(void *acc);
    void (*fold)(void *acc, int64_t n, const char *x, int64_t step);
    void (*store)(const void *acc, char *out, int64_t count);
    /* Many neighbouring outputs at once: acc[j] op= x[j] for a row of n; NULL where not written. */
    void (*fold_row)(void *acc, int64_t n, const char *x, int64_t step);
    size_t acc_bytes;
    void (*merge)(void *acc, const void *other);
} reducer;

typedef struct {
    const reducer *how;
    const sp_tensor *x;
    char *out;
    int64_t out_bytes, n_reduced;
    int n_keep, n_red;
    int64_t keep_dims[SP_RANK_MAX], keep_steps[SP_RANK_MAX];
    int64_t red_dims[SP_RANK_MAX], red_steps[SP_RANK_MAX]; /* last one innermost */
    int64_t outputs, parts;                                /* parts: of the outputs, that can be worked on apart */
    int64_t n_blocks, block;                               /* of the first reduced dimension: how many, and how long */
    char *partial; /* [block][output] accumulators when there is more than one block */
} reduce_job;

enum { ACC_MAX = 32, ROW_MAX = 256, BLOCK_MIN = 65536, BLOCKS_MAX = 1024, PARTS_FEW = 16, SCRATCH_MAX = 256 << 10 };

static const char *keep_address(const reduce_job *j, int64_t index)
{
    const char *p = j->x->data;
    for (int i = j->n_keep - 1; i >= 0; i--) {
        p += index % j->keep_dims[i] * j->keep_steps[i];
        index /= j->keep_dims[i];
    }
    return p;
}

/* Calls fold for every innermost run of reduced elements that belongs to the output at p; `dims` has the n_outer others. */
static void each_run(const reduce_job *j, const char *p, void (*fold)(void *, int64_t, const char *, int64_t),
                     void *acc, int64_t n, int64_t step, int n_outer, const int64_t *dims)
{
    int64_t at[SP_RANK_MAX] = {0};
    for (;;) {
        fold(acc, n, p, step);
        int i = n_outer - 1;
        for (; i >= 0; i--) {
            p += j->red_steps[i];
            if (++at[i] < dims[i]) break;
            p -= dims[i] * j->red_steps[i];
            at[i] = 0;
        }
        if (i < 0) return;
    }
}

/* Reduced dimensions of a block; returns how far behind the first element it begins. */
static int64_t block_dims(const reduce_job *j, int64_t block, int64_t *dims)
{
    for (int i = 0; i < j->n_red; i++) dims[i] = j->red_dims[i];
    if (j->n_blocks == 1) return 0;
    const int64_t first = block * j->block;
    dims[0] = j->red_dims[0] - first < j->block ? j->red_dims[0] - first : j->block;
    return first * j->red_steps[0];
}

static void reduce_part(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    const int last = j->n_red - 1;
    _Alignas(16) char one[ACC_MAX];
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t o = unit % j->outputs, dims[SP_RANK_MAX];
        const char *p = keep_address(j, o) + block_dims(j, unit / j->outputs, dims);
        char *acc = j->partial ? j->partial + (size_t)unit * j->how->acc_bytes : one;
        j->how->init(acc);
        if (j->n_reduced > 0) {
            if (last < 0) j->how->fold(acc, 1, p, 0);
            else each_run(j, p, j->how->fold, acc, dims[last], j->red_steps[last], last, dims);
        }
        if (!j->partial) j->how->store(acc, j->out + o * j->out_bytes, j->n_reduced);
    }
}

/* Outputs that lie next to each other in memory (the reduced axes come first): take a row of them at a time. */
static void reduce_rows_part(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    const int64_t width = j->keep_dims[j->n_keep - 1];
    const int64_t per_row = (width + ROW_MAX - 1) / ROW_MAX;
    char *const row = sp__scratch_take(ROW_MAX * ACC_MAX);
    for (int64_t unit = begin; unit < end; unit++) {
        const int64_t part = unit % j->parts, block = unit / j->parts;
        int64_t first = part / per_row * width + part % per_row * ROW_MAX, dims[SP_RANK_MAX];
        int64_t n = width - part % per_row * ROW_MAX;
        if (n > ROW_MAX) n = ROW_MAX;
        const char *p = keep_address(j, first) + block_dims(j, block, dims);
        char *acc = j->partial ? j->partial + (size_t)(block * j->outputs + first) * j->how->acc_bytes : row;
        for (int64_t i = 0; i < n; i++) j->how->init(acc + (size_t)i * j->how->acc_bytes);
        each_run(j, p, j->how->fold_row, acc, n, j->keep_steps[j->n_keep - 1], j->n_red, dims);
        for (int64_t i = 0; !j->partial && i < n; i++)
            j->how->store(acc + (size_t)i * j->how->acc_bytes, j->out + (first + i) * j->out_bytes, j->n_reduced);
    }
    sp__scratch_give(row);
}

static void merge_part(void *context, int64_t begin, int64_t end)
{
    const reduce_job *j = context;
    const size_t bytes = j->how->acc_bytes, row = (size_t)j->outputs * bytes;
    for (int64_t o = begin; o < end; o++) {
        char *acc = j->partial + (size_t)o * bytes;
        for (int64_t step = 1; step < j->n_blocks; step *= 2)
            for (int64_t k = 0; k + step < j->n_blocks; k += 2 * step)
                j->how->merge(acc + (size_t)k * row, acc + (size_t)(k + step) * row);
        j->how->store(acc, j->out + o * j->out_bytes, j->n_reduced);
    }
}

/* Few parts with much to do each are cut into blocks. */
static void choose_blocks(reduce_job *j)
{
    j->n_blocks = 1;
    const int64_t each = j->n_reduced * (j->outputs / j->parts), most = each / BLOCK_MIN;
    if (j->parts >= PARTS_FEW || j->n_red == 0 || most < 2) return;
    int64_t n = most < BLOCKS_MAX ? most : BLOCKS_MAX;
    if (n > j->red_dims[0]) n = j->red_dims[0];
    if (n < 2) return;
    j->block = (j->red_dims[0] + n - 1) / n;
    j->n_blocks = (j->red_dims[0] + j->block - 1) / j->block;
}

static sp_status reduce_run(const sp_call *c, const reducer *how)
{
    const sp_reduce_attrs *a = c->attrs;
    const sp_tensor *x = c->in[0];
    uint32_t mask;
    SP_TRY(sp__axes_mask(a->axis, x->rank, &mask));
    reduce_job j = {.how = how, .x = x, .out = c->out[0]->data, .n_reduced = 1};
    j.out_bytes = (int64_t)sp_dtype_bytes((sp_dtype)c->out[0]->dtype);
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)x->dtype);
    for (int i = 0; i < x->rank; i++) {
        bool reduced = mask >> i & 1;
        int *n = reduced ? &j.n_red : &j.n_keep;
        int64_t *dims = reduced ? j.red_dims : j.keep_dims, *steps = reduced ? j.red_steps : j.keep_steps;
        if (reduced) j.n_reduced *= x->dims[i];
        if (x->dims[i] == 1) continue;
        if (*n && steps[*n - 1] == x->dims[i] * x->strides[i] * size) { /* merge with the dimension before */
            dims[*n - 1] *= x->dims[i];
            steps[*n - 1] = x->strides[i] * size;
        } else {
            dims[*n] = x->dims[i];
            steps[*n] = x->strides[i] * size;
            (*n)++;
        }
    }
    j.outputs = c->out[0]->count;
    if (j.outputs == 0) return SP_OK;
    bool rows = how->fold_row && j.n_keep && j.n_red && j.n_reduced > 0 &&
                llabs(j.keep_steps[j.n_keep - 1]) < llabs(j.red_steps[j.n_red - 1]) && j.keep_dims[j.n_keep - 1] >= 8;
    const int64_t width = rows ? j.keep_dims[j.n_keep - 1] : 1;
    j.parts = j.outputs / width * ((width + ROW_MAX - 1) / ROW_MAX);
    choose_blocks(&j);
    const size_t bytes = j.n_blocks > 1 ? (size_t)(j.n_blocks * j.outputs) * how->acc_bytes : 0;
    if (bytes > 0) j.partial = bytes <= SCRATCH_MAX ? sp__scratch_take(bytes) : sp__alloc(bytes);
    if (bytes > 0 && !j.partial) return SP_NOMEM;
    const int64_t work = j.n_reduced > 0 ? j.n_reduced / j.n_blocks : 1; /* elements of an output in a block */
    const int64_t grain = rows ? 65536 / (work * ROW_MAX) : 32768 / work;
    sp_status status =
        sp__parallel_for(j.parts * j.n_blocks, grain > 0 ? grain : 1, rows ? reduce_rows_part : reduce_part, &j);
    if (status == SP_OK && j.partial) status = sp__parallel_for(j.outputs, 64, merge_part, &j);
    if (bytes > 0 && bytes <= SCRATCH_MAX) sp__scratch_give(j.partial);
    else sp__free(j.partial);
    return status;
}

/* --- sums -------------------------------------------------------------------------------------------------------- */

/* Pairwise: blocks of 128 are added in eight lanes, block sums by halves. */
#define PAIRWISE(D, T, C, LOAD, STORE, name, ...)                                                                      \
    static C pairwise_##D(int64_t n, const char *x, int64_t step)                                                      \
    {                                                                                                                  \
        if (n > 128) {                                                                                                 \
            int64_t half = n / 2 / 8 * 8;                                                                              \
            return pairwise_##D(half, x, step) + pairwise_##D(n - half, x + half * step, step);                        \
        }                                                                                                              \
        C lane[8] = {0};                                                                                               \
        int64_t i = 0;                                                                                                 \
        if (step == (int64_t)sizeof(T)) {                                                                              \
            const T *v = (const T *)(const void *)x;                                                                   \
            for (; i + 8 <= n; i += 8)                                                                                 \
                for (int k = 0; k < 8; k++) lane[k] += LOAD(v[i + k]);                                                 \
        } else {                                                                                                       \
            for (; i + 8 <= n; i += 8)                                                                                 \
                for (int k = 0; k < 8; k++) lane[k] += LOAD(*(const T *)(const void *)(x + (i + k) * step));           \
        }                                                                                                              \
        for (; i < n; i++) lane[i % 8] += LOAD(*(const T *)(const void *)(x + i * step));                              \
        return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));              \
    }
SP_EACH_REAL(PAIRWISE, , )
SP_EACH_COMPLEX(PAIRWISE, , )

#define SUM(D, T, C, LOAD, STORE, name, ...)                                                                           \
    static void sum_init_##D(void *acc) { *(C *)acc = 0; }                                                             \
    static void sum_fold_##D(void *acc, int64_t n, const char *x, int64_t step)                                        \
    {                                                                                                                  \
        *(C *)acc += pairwise_##D(n, x, step);                                                                         \
    }                                                                                                                  \
    static void sum_row_##D(void *acc, int64_t n, const char *x, int64_t step)                                         \
    {                                                                                                                  \
        C *a = acc;                                                                                                    \
        if (step == (int64_t)sizeof(T)) {                                                                              \
            const T *v = (const T *)(const void *)x;                                                                   \
            for (int64_t i = 0; i < n; i++) a[i] += LOAD(v[i]);                                                        \
        } else {                                                                                                       \
            for (int64_t i = 0; i < n; i++) a[i] += LOAD(*(const T *)(const void *)(x + i * step));                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void sum_merge_##D(void *acc, const void *other) { *(C *)acc += *(const C *)other; }                        \
    static void sum_store_##D(const void *acc, char *out, int64_t count)                                               \
    {                                                                                                                  \
        (void)count;                                                                                                   \
        *(T *)(void *)out = STORE(*(const C *)acc);                                                                    \
    }                                                                                                                  \
    static void mean_store_##D(const void *acc, char *out, int64_t count)                                              \
    {                                                                                                                  \
        *(T *)(void *)out = STORE(*(const C *)acc / (C)count);                                                         \
    }
SP_EACH_FLOAT(SUM, , )
SP_EACH_COMPLEX(SUM, , )
/* Means of integers are taken as floats, so integers have sums only. */
#define INT_SUM(D, T, C, LOAD, STORE, name, ...)                                                                       \
    static void sum_init_##D(void *acc) { *(C *)acc = 0; }                                                             \
    static void sum_fold_##D(void *acc, int64_t n, const char *x, int64_t step)                                        \
    {                                                                                                                  \
        *(C *)acc = STORE(*(C *)acc + pairwise_##D(n, x, step));                                                       \
    }                                                                                                                  \
    static void sum_row_##D(void *acc, int64_t n, const char *x, int64_t step)                                         \
    {                                                                                                                  \
        C *a = acc;                                                                                                    \
        for (int64_t i = 0; i < n; i++) a[i] = STORE(a[i] + LOAD(*(const T *)(const void *)(x + i * step)));           \
    }                                                                                                                  \
    static void sum_merge_##D(void *acc, const void *other) { *(C *)acc = STORE(*(C *)acc + *(const C *)other); }      \
    static void sum_store_##D(const void *acc, char *out, int64_t count)                                               \
    {                                                                                                                  \
        (void)count;                                                                                                   \
        *(T *)(void *)out = *(const C *)acc;                                                                           \
    }
SP_EACH_INT(INT_SUM, , )

#define SUM_ROW(D, T, C, LOAD, STORE, name, ...)                                                                       \
    [SP_DTYPE_##D] = {sum_init_##D, sum_fold_##D, sum_store_##D, sum_row_##D, sizeof(C), sum_merge_##D},
#define MEAN_ROW(D, T, C, LOAD, STORE, name, ...)                                                                      \
    [SP_DTYPE_##D] = {sum_init_##D, sum_fold_##D, mean_store_##D, sum_row_##D, sizeof(C), sum_merge_##D},
static const reducer sum_reducers[SP_DTYPE_COUNT] = {SP_EACH_REAL(SUM_ROW, , ) SP_EACH_COMPLEX(SUM_ROW, , )};
static const reducer mean_reducers[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(MEAN_ROW, , ) SP_EACH_COMPLEX(MEAN_ROW, , )};

static sp_status sum_reference(const sp_call *c) { return reduce_run(c, &sum_reducers[c->in[0]->dtype]); }
static sp_status mean_reference(const sp_call *c) { return reduce_run(c, &mean_reducers[c->in[0]->dtype]); }

/* A reduced gradient with the reduced dimensions put back as 1, ready to broadcast. */
static sp_tensor *restore_dims(sp_builder *b, const sp_vjp *v, sp_tensor *t)
{
    const sp_reduce_attrs *a = v->attrs;
    const sp_tensor *x = v->in[0];
    uint32_t mask;
    if (a->keepdims || sp__axes_mask(a->axis, x->rank, &mask) != SP_OK) return t;
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) dims[i] = mask >> i & 1 ? 1 : x->dims[i];
    return sp_reshape(b, t, x->rank, dims);
}

static sp_status sum_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_broadcast_to(b, restore_dims(b, v, v->dout[0]), v->in[0]->rank, v->in[0]->dims);
    return SP_OK;
}

static sp_status mean_vjp(sp_builder *b, const sp_vjp *v)
{
    double n = v->out[0]->count ? (double)v->in[0]->count / (double)v->out[0]->count : 1;
    SP_TRY(sum_vjp(b, v));
    v->din[0] = sp__mul_number(b, v->din[0], 1 / n);
    return SP_OK;
}

const sp_op sp_op_reduce_sum = {
    .batch = sp__batch_reduce,
    .name = "reduce_sum",
    .family = SP_FAMILY_REDUCE_SUM,
    .shard = "fold; axis sum",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_reduce_attrs),
    .dtypes = SP_DT_NUMBERS,
    .infer = reduce_infer,
    .reference = sum_reference,
    .vjp = sum_vjp,
    .mindir = "ReduceSum",
    .onnx = "ReduceSum",
    .doc = "Sum over axes (all when none are given).",
    .samples =
        "[2,3,4]; [2,3,4] axis=1; [2,3,4] axis=(0,2) keepdims=True; []; [3,300] axis=0; [300,3] axis=0; [4,200] axis=1",
};
const sp_op sp_op_reduce_mean = {
    .batch = sp__batch_reduce,
    .name = "reduce_mean",
    .family = SP_FAMILY_REDUCE_MEAN,
    .shard = "fold; axis mean",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_reduce_attrs),
    .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX,
    .infer = reduce_infer,
    .reference = mean_reference,
    .vjp = mean_vjp,
    .mindir = "ReduceMean",
    .onnx = "ReduceMean",
    .doc = "Mean over axes (all when none are given).",
    .samples = "[2,3,4]; [2,3,4] axis=1; [2,3,4] axis=(0,2) keepdims=True; []",
};

/* --- products ---------------------------------------------------------------------------------------------------- */

#define PROD(D, T, C, LOAD, STORE, name, ...)                                                                          \
    static void prod_init_##D(void *acc) { *(C *)acc = 1; }                                                            \
    static void prod_fold_##D(void *acc, int64_t n, const char *x, int64_t step)                                       \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) *(C *)acc *= LOAD(*(const T *)(const void *)(x + i * step));                   \
    }                                                                                                                  \
    static void prod_merge_##D(void *acc, const void *other) { *(C *)acc *= *(const C *)other; }                       \
    static void prod_store_##D(const void *acc, char *out, int64_t count)                                              \
    {                                                                                                                  \
        (void)count;                                                                                                   \
        *(T *)(void *)out = STORE(*(const C *)acc);                                                                    \
    }
SP_EACH_REAL(PROD, , )
SP_EACH_COMPLEX(PROD, , )
#define PROD_ROW(D, T, C, LOAD, STORE, name, ...)                                                                      \
    [SP_DTYPE_##D] = {prod_init_##D, prod_fold_##D, prod_store_##D, NULL, sizeof(C), prod_merge_##D},
static const reducer prod_reducers[SP_DTYPE_COUNT] = {SP_EACH_REAL(PROD_ROW, , ) SP_EACH_COMPLEX(PROD_ROW, , )};
static sp_status prod_reference(const sp_call *c) { return reduce_run(c, &prod_reducers[c->in[0]->dtype]); }

/* d prod / d x_i is the product of the others. With no zero in the run that is prod / x_i; zeros are replaced by one
 * first, and the cases of one and of several zeros in a run treated apart. */
static sp_status prod_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *x = v->in[0], *zero = sp_equal(b, x, sp__const(b, 0, x));
    sp_tensor *safe = sp_select(b, zero, sp__const(b, 1, x), x);
    sp_tensor *n_zero =
        sp__sum_axes(b, sp_cast(b, zero, (sp_dtype)x->dtype), ((const sp_reduce_attrs *)v->attrs)->axis, true);
    const sp_reduce_attrs keep = {((const sp_reduce_attrs *)v->attrs)->axis, true};
    sp_tensor *others = sp_builder_apply(b, &sp_op_reduce_prod, &keep, 1, &safe);
    sp_tensor *none = sp_equal(b, n_zero, sp__const(b, 0, x)), *one = sp_equal(b, n_zero, sp__const(b, 1, x));
    sp_tensor *inside = sp_logical_or(b, none, sp_logical_and(b, one, zero));
    sp_tensor *slope = sp_select(b, inside, sp_div(b, others, safe), sp__const(b, 0, x));
    v->din[0] = sp_mul(b, restore_dims(b, v, v->dout[0]), slope);
    return SP_OK;
}

const sp_op sp_op_reduce_prod = {
    .batch = sp__batch_reduce,
    .name = "reduce_prod",
    .family = SP_FAMILY_REDUCE_PROD,
    .shard = "fold; axis prod",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_reduce_attrs),
    .dtypes = SP_DT_NUMBERS,
    .infer = reduce_infer,
    .reference = prod_reference,
    .vjp = prod_vjp,
    .saves = SP_SAVE_IN(0),
    .mindir = "ReduceProd",
    .onnx = "ReduceProd",
    .python = "ops.ReduceProd(keep_dims:keepdims=False)(x, axis=())",
    .doc = "Product over axes (all when none are given).",
    .samples = "[2,3,2]; [2,3,4] axis=1; [2,3,4] axis=(0,2) keepdims=True; []",
};

/* --- extrema ----------------------------------------------------------------------------------------------------- */

/* NaN wins, as in numpy. The flag tells whether acc holds a value yet. Several lanes, so that the loop is vectorised. */
enum { LANES = 32 };
#define EXTREMUM(D, T, C, LOAD, STORE, name, better)                                                                   \
    typedef struct {                                                                                                   \
        C best;                                                                                                        \
        bool any;                                                                                                      \
    } name##_acc_##D;                                                                                                  \
    static inline C name##_of_##D(C x, C y) { return (better) || x != x ? x : y; }                                     \
    static void name##_init_##D(void *acc) { ((name##_acc_##D *)acc)->any = false; }                                   \
    static void name##_fold_##D(void *acc, int64_t n, const char *p, int64_t step)                                     \
    {                                                                                                                  \
        name##_acc_##D *a = acc;                                                                                       \
        C y = a->any ? a->best : LOAD(*(const T *)(const void *)p);                                                    \
        int64_t i = 0;                                                                                                 \
        if (step == (int64_t)sizeof(T) && n >= 2 * LANES) {                                                            \
            const T *v = (const T *)(const void *)p;                                                                   \
            C lane[LANES];                                                                                             \
            for (int k = 0; k < LANES; k++) lane[k] = y;                                                               \
            for (; i + LANES <= n; i += LANES)                                                                         \
                for (int k = 0; k < LANES; k++) lane[k] = name##_of_##D(LOAD(v[i + k]), lane[k]);                      \
            for (int k = 0; k < LANES; k++) y = name##_of_##D(lane[k], y);                                             \
        }                                                                                                              \
        for (; i < n; i++) y = name##_of_##D(LOAD(*(const T *)(const void *)(p + i * step)), y);                       \
        a->best = y;                                                                                                   \
        a->any = true;                                                                                                 \
    }                                                                                                                  \
    static void name##_merge_##D(void *acc, const void *other)                                                         \
    {                                                                                                                  \
        name##_acc_##D *a = acc;                                                                                       \
        a->best = name##_of_##D(((const name##_acc_##D *)other)->best, a->best);                                       \
    }                                                                                                                  \
    static void name##_store_##D(const void *acc, char *out, int64_t count)                                            \
    {                                                                                                                  \
        (void)count;                                                                                                   \
        *(T *)(void *)out = STORE(((const name##_acc_##D *)acc)->best);                                                \
    }
#define EXTREMUM_ROW(D, T, C, LOAD, STORE, name, ...)                                                                  \
    [SP_DTYPE_##                                                                                                       \
        D] = {name##_init_##D, name##_fold_##D, name##_store_##D, NULL, sizeof(name##_acc_##D), name##_merge_##D},
SP_EACH_REAL(EXTREMUM, max, x > y)
SP_EACH_BOOL(EXTREMUM, max, x > y)
SP_EACH_REAL(EXTREMUM, min, x < y)
SP_EACH_BOOL(EXTREMUM, min, x < y)
static const reducer max_reducers[SP_DTYPE_COUNT] = {SP_EACH_REAL(EXTREMUM_ROW, max, )
                                                         SP_EACH_BOOL(EXTREMUM_ROW, max, )};
static const reducer min_reducers[SP_DTYPE_COUNT] = {SP_EACH_REAL(EXTREMUM_ROW, min, )
                                                         SP_EACH_BOOL(EXTREMUM_ROW, min, )};
static sp_status max_reference(const sp_call *c) { return reduce_run(c, &max_reducers[c->in[0]->dtype]); }
static sp_status min_reference(const sp_call *c) { return reduce_run(c, &min_reducers[c->in[0]->dtype]); }

/* The gradient is shared by all elements that equal the extremum, as MindSpore's ReduceMax does. */
static sp_status extremum_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *best = restore_dims(b, v, v->out[0]);
    sp_tensor *hit = sp_cast(b, sp_equal(b, v->in[0], best), (sp_dtype)v->in[0]->dtype);
    sp_tensor *n = sp__sum_axes(b, hit, ((const sp_reduce_attrs *)v->attrs)->axis, true);
    v->din[0] = sp_mul(b, sp_div(b, hit, n), restore_dims(b, v, v->dout[0]));
    return SP_OK;
}

const sp_op sp_op_reduce_max = {
    .batch = sp__batch_reduce,
    .name = "reduce_max",
    .family = SP_FAMILY_REDUCE_MAX,
    .shard = "fold; axis max",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_reduce_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .infer = extremum_infer,
    .reference = max_reference,
    .strided = true,
    .vjp = extremum_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0),
    .mindir = "ReduceMax",
    .onnx = "ReduceMax",
    .python =
        "ops.ReduceMax(keep_dims:keepdims=False)(x, axis=()); ops.reduce_max(x, axis=()); mint.amax(input, dim:axis=(), keepdim:keepdims=False)",
    .doc = "Maximum over axes (all when none are given); NaN if there is one.",
    .samples = "[2,3,4]; [2,3,4] axis=1; [2,3,4] axis=(0,2) keepdims=True; []",
};
const sp_op sp_op_reduce_min = {
    .batch = sp__batch_reduce,
    .name = "reduce_min",
    .family = SP_FAMILY_REDUCE_MIN,
    .shard = "fold; axis min",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_reduce_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .infer = extremum_infer,
    .reference = min_reference,
    .strided = true,
    .vjp = extremum_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0),
    .mindir = "ReduceMin",
    .onnx = "ReduceMin",
    .python =
        "ops.ReduceMin(keep_dims:keepdims=False)(x, axis=()); ops.reduce_min(x, axis=()); mint.amin(input, dim:axis=(), keepdim:keepdims=False)",
    .doc = "Minimum over axes (all when none are given); NaN if there is one.",
    .samples = "[2,3,4]; [2,3,4] axis=1; [2,3,4] axis=(0,2) keepdims=True; []",
};

/* --- truth ------------------------------------------------------------------------------------------------------- */

static void all_init(void *acc) { *(bool *)acc = true; }
static void any_init(void *acc) { *(bool *)acc = false; }
static void all_merge(void *acc, const void *other) { *(bool *)acc = *(bool *)acc && *(const bool *)other; }
static void any_merge(void *acc, const void *other) { *(bool *)acc = *(bool *)acc || *(const bool *)other; }
static void truth_store(const void *acc, char *out, int64_t count)
{
    (void)count;
    *(uint8_t *)out = *(const bool *)acc;
}
#define TRUTH(D, T, C, LOAD, STORE, name, ...)                                                                         \
    static void all_fold_##D(void *acc, int64_t n, const char *x, int64_t step)                                        \
    {                                                                                                                  \
        for (int64_t i = 0; i < n && *(bool *)acc; i++)                                                                \
            *(bool *)acc = LOAD(*(const T *)(const void *)(x + i * step)) != 0;                                        \
    }                                                                                                                  \
    static void any_fold_##D(void *acc, int64_t n, const char *x, int64_t step)                                        \
    {                                                                                                                  \
        for (int64_t i = 0; i < n && !*(bool *)acc; i++)                                                               \
            *(bool *)acc = LOAD(*(const T *)(const void *)(x + i * step)) != 0;                                        \
    }
#define EVERY(M, ...) SP_EACH_BOOL(M, __VA_ARGS__) SP_EACH_REAL(M, __VA_ARGS__) SP_EACH_COMPLEX(M, __VA_ARGS__)
EVERY(TRUTH, , )
#define ALL_ROW(D, T, C, LOAD, STORE, name, ...)                                                                       \
    [SP_DTYPE_##D] = {all_init, all_fold_##D, truth_store, NULL, sizeof(bool), all_merge},
#define ANY_ROW(D, T, C, LOAD, STORE, name, ...)                                                                       \
    [SP_DTYPE_##D] = {any_init, any_fold_##D, truth_store, NULL, sizeof(bool), any_merge},
static const reducer all_reducers[SP_DTYPE_COUNT] = {EVERY(ALL_ROW, , )};
static const reducer any_reducers[SP_DTYPE_COUNT] = {EVERY(ANY_ROW, , )};
static sp_status all_reference(const sp_call *c) { return reduce_run(c, &all_reducers[c->in[0]->dtype]); }
static sp_status any_reference(const sp_call *c) { return reduce_run(c, &any_reducers[c->in[0]->dtype]); }

const sp_op sp_op_reduce_all = {
    .batch = sp__batch_reduce,
    .name = "reduce_all",
    .family = SP_FAMILY_REDUCE_ALL,
    .shard = "fold; axis and",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_reduce_attrs),
    .infer = reduce_infer_bool,
    .reference = all_reference,
    .strided = true,
    .no_vjp = "bool result",
    .mindir = "ReduceAll",
    .python =
        "ops.all(input, axis=None, keep_dims:keepdims=False); ops.ReduceAll(keep_dims:keepdims=False)(x, axis=()); "
        "Tensor.all(axis=None, keep_dims:keepdims=False); Tensor.all(dim:axis=None, keepdim:keepdims=False); "
        "mint.all(input, dim:axis=None, keepdim:keepdims=False)",
    .doc = "Whether all elements over axes are true (not zero).",
    .samples = "[2,3,4]; [2,3,4] axis=1 keepdims=True; []",
};
const sp_op sp_op_reduce_any = {
    .batch = sp__batch_reduce,
    .name = "reduce_any",
    .family = SP_FAMILY_REDUCE_ANY,
    .shard = "fold; axis or",
    .inputs = "x",
    SP_ATTRS(reduce_attr_table, sp_reduce_attrs),
    .infer = reduce_infer_bool,
    .reference = any_reference,
    .strided = true,
    .no_vjp = "bool result",
    .mindir = "ReduceAny",
    .python =
        "ops.any(input, axis=None, keep_dims:keepdims=False); ops.ReduceAny(keep_dims:keepdims=False)(x, axis=()); "
        "Tensor.any(axis=None, keep_dims:keepdims=False); Tensor.any(dim:axis=None, keepdim:keepdims=False); "
        "mint.any(input, dim:axis=None, keepdim:keepdims=False)",
    .doc = "Whether some element over axes is true (not zero).",
    .samples = "[2,3,4]; [2,3,4] axis=1 keepdims=True; []",
};
