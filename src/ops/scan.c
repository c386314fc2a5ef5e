/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - running sums, products and extrema along one axis.
 *
 * A row-major tensor is seen as [outer][n][inner]; a line is the n elements that share outer and inner. Lines are
 * independent and run in parallel; inside a line the order is fixed. Sums of float16 to float32 run in double. */
#include <float.h>

#include "base/wide.h"
#include "ops/kernels.h"

SP_ATTR_TABLE(scan_attr_table, sp_scan_attrs, (INT, axis, 0), (BOOL, exclusive, False), (BOOL, reverse, False));

typedef struct {
    const sp_scan_attrs *attrs;
    int64_t n, inner;
    const void *x;
    const int64_t *index;
    void *out;
    int64_t *out_index;
} scan_job;
typedef void (*scan_fn)(void *job, int64_t begin, int64_t end);
enum { LINES = 64 };

/* Axis of a tensor with at least one dimension; a scalar is a line of one. */
static sp_status scan_axis(const sp_tensor *x, int64_t axis, int *out)
{
    *out = 0;
    return x->rank == 0 && (axis == 0 || axis == -1) ? SP_OK : sp__shape_axis(axis, x->rank, "axis", out);
}
static sp_status scan_infer(const sp_call *c, sp_meta *out)
{
    int axis;
    SP_TRY(scan_axis(c->in[0], ((const sp_scan_attrs *)c->attrs)->axis, &axis));
    return sp__infer_same(c, out);
}
static sp_status scan_run(const sp_call *c, scan_fn fn, scan_job *j)
{
    const sp_tensor *x = c->in[0];
    int axis;
    j->attrs = c->attrs;
    SP_TRY(scan_axis(x, j->attrs->axis, &axis));
    j->n = x->rank ? x->dims[axis] : 1;
    j->inner = 1;
    for (int i = axis + 1; i < x->rank; i++) j->inner *= x->dims[i];
    j->x = x->data;
    if (x->count == 0) return SP_OK;
    const int64_t grain = 16384 / j->n, together = j->inner > 1 ? LINES : 4; /* lines that are worked on together */
    return sp__parallel_for(x->count / j->n, grain > together ? grain : together, fn, j);
}
/* First element of a line. */
#define LINE(j, line) ((line) / (j)->inner * (j)->n * (j)->inner + (line) % (j)->inner)

/* --- sums and products -------------------------------------------------------------------------------------------- */

/* Lines [line, line + w), w at most LINES; element 0 of the k-th is `apart` behind that of the one before. They take turns, so that
 * neighbouring columns are read along memory, and additions of rows do not wait for one another. */
#define SCAN(D, T, ACC, LOAD, STORE, name, start, combine)                                                             \
    static inline void name##_lines_##D(const scan_job *j, int64_t line, int64_t apart, const int w)                   \
    {                                                                                                                  \
        const int64_t step = j->attrs->reverse ? -j->inner : j->inner;                                                 \
        const bool exclusive = j->attrs->exclusive;                                                                    \
        int64_t at = LINE(j, line) + (j->attrs->reverse ? (j->n - 1) * j->inner : 0);                                  \
        ACC all[LINES];                                                                                                \
        for (int k = 0; k < w; k++) all[k] = start;                                                                    \
        for (int64_t i = 0; i < j->n; i++, at += step) {                                                               \
            const T *xs = (const T *)j->x + at;                                                                        \
            T *out = (T *)j->out + at;                                                                                 \
            for (int k = 0; k < w; k++) {                                                                              \
                const ACC x = (ACC)LOAD(xs[k * apart]), acc = all[k];                                                  \
                all[k] = combine;                                                                                      \
                out[k * apart] = STORE(exclusive ? acc : all[k]);                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_##D(void *job, int64_t begin, int64_t end)                                                      \
    {                                                                                                                  \
        const scan_job *j = job;                                                                                       \
        for (int64_t line = begin, w; line < end; line += w) {                                                         \
            const int64_t left = end - line, columns = j->inner - line % j->inner;                                     \
            w = j->inner == 1 ? (left < 4 ? 1 : 4) : left < columns ? left : columns;                                  \
            if (w > LINES) w = LINES;                                                                                  \
            if (j->inner > 1) name##_lines_##D(j, line, 1, (int)w);                                                    \
            else if (w == 4) name##_lines_##D(j, line, j->n, 4);                                                       \
            else name##_lines_##D(j, line, 0, 1);                                                                      \
        }                                                                                                              \
    }
#define TO_F32(x) ((float)(x))
#define TO_F16(x) sp__f32_f16((float)(x))
#define TO_BF16(x) sp__f32_bf16((float)(x))
/* clang-format off */
#define SCANS(name, start, combine)                                                                                    \
    SCAN(F16, sp_f16, double, sp__f16_f32, TO_F16, name, start, combine)                                               \
    SCAN(BF16, sp_bf16, double, sp__bf16_f32, TO_BF16, name, start, combine)                                           \
    SCAN(F32, float, double, SP_KEEP, TO_F32, name, start, combine)                                                    \
    SCAN(F64, double, double, SP_KEEP, SP_KEEP, name, start, combine)                                                  \
    SCAN(C64, sp_c64, sp_c64, SP_KEEP, SP_KEEP, name, start, combine)                                                  \
    SCAN(C128, sp_c128, sp_c128, SP_KEEP, SP_KEEP, name, start, combine)                                               \
    SCAN(I8, int8_t, int64_t, SP_KEEP, (int8_t), name, start, combine)                                                 \
    SCAN(I16, int16_t, int64_t, SP_KEEP, (int16_t), name, start, combine)                                              \
    SCAN(I32, int32_t, int64_t, SP_KEEP, (int32_t), name, start, combine)                                              \
    SCAN(I64, int64_t, int64_t, SP_KEEP, SP_KEEP, name, start, combine)                                                \
    SCAN(U8, uint8_t, uint64_t, SP_KEEP, (uint8_t), name, start, combine)                                              \
    SCAN(U16, uint16_t, uint64_t, SP_KEEP, (uint16_t), name, start, combine)                                           \
    SCAN(U32, uint32_t, uint64_t, SP_KEEP, (uint32_t), name, start, combine)                                           \
    SCAN(U64, uint64_t, uint64_t, SP_KEEP, SP_KEEP, name, start, combine)
/* clang-format on */
#define SCAN_ROW(D, T, C, LOAD, STORE, name, ...) [SP_DTYPE_##D] = name##_##D,
SCANS(scan_sum, 0, acc + x)
SCANS(scan_prod, 1, acc *x)
static const scan_fn sum_scans[SP_DTYPE_COUNT] = {SP_EACH_REAL(SCAN_ROW, scan_sum, )
                                                      SP_EACH_COMPLEX(SCAN_ROW, scan_sum, )};
static const scan_fn prod_scans[SP_DTYPE_COUNT] = {SP_EACH_REAL(SCAN_ROW, scan_prod, )
                                                       SP_EACH_COMPLEX(SCAN_ROW, scan_prod, )};
/* Few long lines of float32, plainly summed: blocks of LONG elements are added up first, then every block runs from the sum of those
 * before it. Four blocks take turns, as lines do above. */
enum { LONG = 8192 };
typedef struct {
    const float *x;
    float *out;
    int64_t n, blocks; /* of a line */
    double *before;    /* [line][block]: sums of the blocks, then of all before them */
} long_job;

static void long_sums(void *job, int64_t begin, int64_t end)
{
    const long_job *j = job;
    for (int64_t b = begin; b < end; b++) {
        const int64_t first = b % j->blocks * LONG, n = j->n - first < LONG ? j->n - first : LONG;
        const float *x = j->x + b / j->blocks * j->n + first;
        double lane[16] = {0}, sum = 0;
        int64_t i = 0;
        for (; i + 16 <= n; i += 16)
            for (int k = 0; k < 16; k++) lane[k] += (double)x[i + k];
        for (; i < n; i++) lane[i % 16] += (double)x[i];
        for (int k = 0; k < 16; k++) sum += lane[k];
        j->before[b] = sum;
    }
}
SP_WIDE(long_sums)

static void long_blocks(void *job, int64_t begin, int64_t end)
{
    const long_job *j = job;
    for (int64_t b = begin, w; b < end; b += w) {
        const int64_t at = b / j->blocks * j->n + b % j->blocks * LONG, whole = j->n / LONG - b % j->blocks;
        const float *x = j->x + at;
        float *out = j->out + at;
        w = whole >= 4 && end - b >= 4 ? 4 : 1;
        double acc[4];
        for (int k = 0; k < w; k++) acc[k] = j->before[b + k];
        if (w == 4) {
            for (int64_t i = 0; i < LONG; i++)
                for (int k = 0; k < 4; k++) out[i + k * LONG] = (float)(acc[k] += (double)x[i + k * LONG]);
            continue;
        }
        const int64_t left = j->n - b % j->blocks * LONG, n = left < LONG ? left : LONG;
        for (int64_t i = 0; i < n; i++) out[i] = (float)(acc[0] += (double)x[i]);
    }
}

/* SP_DECLINED: not such a case. */
static sp_status scan_long(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    const sp_scan_attrs *a = c->attrs;
    int axis;
    SP_TRY(scan_axis(x, a->axis, &axis));
    const int64_t n = x->rank ? x->dims[axis] : 1, lines = n ? x->count / n : 0;
    if (x->dtype != SP_DTYPE_F32 || a->exclusive || a->reverse || axis != x->rank - 1 || n < 8 * LONG || lines > 16)
        return SP_DECLINED;
    long_job j = {.x = (const float *)(const void *)x->data,
                  .out = (float *)(void *)c->out[0]->data,
                  .n = n,
                  .blocks = (n + LONG - 1) / LONG};
    j.before = sp__alloc((size_t)(lines * j.blocks) * sizeof(double));
    if (!j.before) return SP_NOMEM;
    sp_status status = sp__parallel_for(lines * j.blocks, 4, SP_WIDEST(long_sums), &j);
    for (int64_t l = 0; l < lines; l++) {
        double sum = 0;
        for (int64_t b = 0; b < j.blocks; b++) {
            const double own = j.before[l * j.blocks + b];
            j.before[l * j.blocks + b] = sum;
            sum += own;
        }
    }
    if (status == SP_OK) status = sp__parallel_for(lines * j.blocks, 4, long_blocks, &j);
    sp__free(j.before);
    return status;
}

static sp_status scan_sum_reference(const sp_call *c)
{
    const sp_status status = scan_long(c);
    if (status != SP_DECLINED) return status;
    return scan_run(c, sum_scans[c->in[0]->dtype], &(scan_job){.out = c->out[0]->data});
}
static sp_status scan_prod_reference(const sp_call *c)
{
    return scan_run(c, prod_scans[c->in[0]->dtype], &(scan_job){.out = c->out[0]->data});
}

static sp_tensor *scan(sp_builder *b, const sp_op *op, sp_tensor *x, sp_scan_attrs a)
{
    return sp_builder_apply(b, op, &a, 1, &x);
}
/* The transposed running sum runs from the other end. */
static sp_tensor *sum_back(sp_builder *b, sp_tensor *x, sp_scan_attrs a)
{
    a.reverse = !a.reverse;
    return scan(b, &sp_op_scan_sum, x, a);
}

static sp_status scan_sum_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sum_back(b, v->dout[0], *(const sp_scan_attrs *)v->attrs);
    return SP_OK;
}

/* out_i is the product of its elements, so d out_i / d x_k = out_i / x_k. With a zero among them that quotient does not
 * exist: zeros become one in `safe`, and `zeros` counts them per output. An element that is not zero gets its share
 * from outputs without zeros, a zero from those in which it is the only one. */
static sp_status scan_prod_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_scan_attrs a = *(const sp_scan_attrs *)v->attrs;
    sp_tensor *x = v->in[0], *none = sp__const(b, 0, x), *one = sp__const(b, 1, x);
    sp_tensor *zero = sp_equal(b, x, none), *safe = sp_select(b, zero, one, x);
    sp_tensor *flags = sp_cast(b, zero, (sp_dtype)x->dtype);
    sp_tensor *zeros = scan(b, &sp_op_scan_sum, flags, a);
    sp_tensor *gp = sp_mul(b, v->dout[0], scan(b, &sp_op_scan_prod, safe, a));
    sp_tensor *clean = sum_back(b, sp_select(b, sp_equal(b, zeros, none), gp, none), a);
    sp_tensor *single = sum_back(b, sp_select(b, sp_equal(b, zeros, one), gp, none), a);
    sp_scan_attrs inclusive = a;
    inclusive.exclusive = false;
    sp_tensor *first = sp_equal(b, scan(b, &sp_op_scan_sum, flags, inclusive), one);
    v->din[0] = sp_select(b, zero, sp_select(b, first, single, none), sp_div(b, clean, safe));
    return SP_OK;
}

#define SCAN_SAMPLES                                                                                                   \
    "[4]; [2,3,4] axis=1; [3,2] axis=-1 exclusive=True; [3,4] reverse=True; "                                          \
    "[2,5] axis=1 exclusive=True reverse=True; []"
const sp_op sp_op_scan_sum = {
    .batch = sp__batch_axis,
    .name = "scan_sum",
    .shard = "same; axis whole",
    .inputs = "x",
    SP_ATTRS(scan_attr_table, sp_scan_attrs),
    .dtypes = SP_DT_NUMBERS,
    .infer = scan_infer,
    .reference = scan_sum_reference,
    .vjp = scan_sum_vjp,
    .mindir = "CumSum",
    .onnx = "CumSum",
    .python = "ops.CumSum(exclusive=False, reverse=False)(input, axis)",
    .doc = "Running sum along one axis.",
    .samples = SCAN_SAMPLES,
};
const sp_op sp_op_scan_prod = {
    .batch = sp__batch_axis,
    .name = "scan_prod",
    .shard = "same; axis whole",
    .inputs = "x",
    SP_ATTRS(scan_attr_table, sp_scan_attrs),
    .dtypes = SP_DT_NUMBERS,
    .infer = scan_infer,
    .reference = scan_prod_reference,
    .vjp = scan_prod_vjp,
    .saves = SP_SAVE_IN(0),
    .mindir = "CumProd",
    .python = "ops.CumProd(exclusive=False, reverse=False)(x, axis)",
    .doc = "Running product along one axis.",
    .samples = SCAN_SAMPLES,
};

/* --- with a dtype and an optional axis ----------------------------------------------------------------------------- */

SP_ATTR_TABLE(cum_attr_table, sp_cumsum_attrs, (INT_OR_NONE, axis), (DTYPE_OR_NONE, dtype), (BOOL, widen, False));

/* Without an axis the elements are taken in row-major order, as one line. */
static sp_status cum_compose(sp_builder *b, const sp_call *c, const sp_op *op, sp_dtype dtype)
{
    const sp_cumsum_attrs *a = c->attrs;
    sp_tensor *x = c->in[0];
    sp_scan_attrs s = {.axis = a->axis};
    if (a->dtype != SP_DTYPE_NONE) dtype = a->dtype;
    x = sp_cast(b, x, dtype);
    if (a->axis == SP_INT_NONE) {
        x = sp_reshape(b, x, 1, (const int64_t[]){-1});
        s.axis = 0;
    }
    c->out[0] = scan(b, op, x, s);
    return SP_OK;
}
/* The method of Tensor takes int32 for narrower integers; the function keeps them. */
static sp_status cumsum_compose(sp_builder *b, const sp_call *c)
{
    sp_dtype own = (sp_dtype)c->in[0]->dtype;
    const bool narrow = own == SP_DTYPE_BOOL || own == SP_DTYPE_I8 || own == SP_DTYPE_I16 || own == SP_DTYPE_U8;
    if (narrow && ((const sp_cumsum_attrs *)c->attrs)->widen) own = SP_DTYPE_I32;
    return cum_compose(b, c, &sp_op_scan_sum, own == SP_DTYPE_BOOL ? SP_DTYPE_I64 : own);
}
/* Products leave the range of small integers quickly: MindSpore takes int64 for all of them. */
static sp_status cumprod_compose(sp_builder *b, const sp_call *c)
{
    const sp_dtype own = (sp_dtype)c->in[0]->dtype;
    const char kind = sp_dtype_kind(own);
    return cum_compose(b, c, &sp_op_scan_prod, kind == 'f' || kind == 'c' ? own : SP_DTYPE_I64);
}
const sp_op sp_op_cumsum = {
    .name = "cumsum",
    .inputs = "x",
    SP_ATTRS(cum_attr_table, sp_cumsum_attrs),
    .compose = cumsum_compose,
    .python = "ops.cumsum(x, axis, dtype=None); Tensor.cumsum(axis=None, dtype=None, .widen=True); "
              "Tensor.cumsum(dim:axis, *, dtype=None); "
              "mint.cumsum(input, dim:axis, dtype=None)",
    .doc = "Running sum along an axis.",
    .samples = "[2,3] axis=1; [2,3,2] axis=0; [2,3]",
};
const sp_op sp_op_cumprod = {
    .name = "cumprod",
    .inputs = "x",
    SP_ATTRS(cum_attr_table, sp_cumsum_attrs),
    .compose = cumprod_compose,
    .python = "ops.cumprod(input, dim:axis, dtype=None); Tensor.cumprod(dim:axis, dtype=None); "
              "mint.cumprod(input, dim:axis, dtype=None)",
    .doc = "Running product along an axis.",
    .samples = "[2,3] axis=1; [2,3,2] axis=0; [2,3]",
};

/* --- extrema ----------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(axis_attr_table, sp_line_attrs, (INT, axis, 0));

/* Of equal elements the later one counts; once NaN has come it stays. */
#define EXTREMUM(D, T, C, LOAD, STORE, name, better)                                                                   \
    static void name##_##D(void *job, int64_t begin, int64_t end)                                                      \
    {                                                                                                                  \
        const scan_job *j = job;                                                                                       \
        for (int64_t line = begin; line < end; line++) {                                                               \
            int64_t at = LINE(j, line), best = 0;                                                                      \
            C y = LOAD(((const T *)j->x)[at]);                                                                         \
            for (int64_t i = 0; i < j->n; i++, at += j->inner) {                                                       \
                const C x = LOAD(((const T *)j->x)[at]);                                                               \
                if (x != x || (y == y && (better))) y = x, best = i;                                                   \
                ((T *)j->out)[at] = STORE(y);                                                                          \
                j->out_index[at] = best;                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_REAL(EXTREMUM, scan_max, x >= y)
SP_EACH_REAL(EXTREMUM, scan_min, x <= y)
static const scan_fn max_scans[SP_DTYPE_COUNT] = {SP_EACH_REAL(SCAN_ROW, scan_max, )};
static const scan_fn min_scans[SP_DTYPE_COUNT] = {SP_EACH_REAL(SCAN_ROW, scan_min, )};

static sp_status extremum_reference(const sp_call *c, const scan_fn *table)
{
    const sp_scan_attrs a = {.axis = ((const sp_line_attrs *)c->attrs)->axis};
    sp_call call = *c;
    call.attrs = &a;
    return scan_run(&call, table[c->in[0]->dtype],
                    &(scan_job){.out = c->out[0]->data, .out_index = (int64_t *)(void *)c->out[1]->data});
}
static sp_status cummax_reference(const sp_call *c) { return extremum_reference(c, max_scans); }
static sp_status cummin_reference(const sp_call *c) { return extremum_reference(c, min_scans); }
static sp_status extremum_infer(const sp_call *c, sp_meta *out)
{
    int axis;
    SP_TRY(scan_axis(c->in[0], ((const sp_line_attrs *)c->attrs)->axis, &axis));
    SP_TRY(sp__infer_same(c, out));
    out[1] = out[0];
    out[1].dtype = SP_DTYPE_I64;
    return SP_OK;
}

/* Elements of a line picked by index, and its transpose: values added at their index. */
#define MOVE(D, T, C, LOAD, STORE, ...)                                                                                \
    static void take_##D(void *job, int64_t begin, int64_t end)                                                        \
    {                                                                                                                  \
        const scan_job *j = job;                                                                                       \
        for (int64_t line = begin; line < end; line++) {                                                               \
            const int64_t first = LINE(j, line);                                                                       \
            for (int64_t i = 0, at = first; i < j->n; i++, at += j->inner)                                             \
                ((T *)j->out)[at] = ((const T *)j->x)[first + j->index[at] * j->inner];                                \
        }                                                                                                              \
    }                                                                                                                  \
    static void put_##D(void *job, int64_t begin, int64_t end)                                                         \
    {                                                                                                                  \
        const scan_job *j = job;                                                                                       \
        for (int64_t line = begin; line < end; line++) {                                                               \
            const int64_t first = LINE(j, line);                                                                       \
            for (int64_t i = 0, at = first; i < j->n; i++, at += j->inner) ((T *)j->out)[at] = STORE((C)0);            \
            for (int64_t i = 0, at = first; i < j->n; i++, at += j->inner) {                                           \
                T *to = (T *)j->out + first + j->index[at] * j->inner;                                                 \
                *to = STORE((C)(LOAD(*to) + LOAD(((const T *)j->x)[at])));                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
SP_EACH_REAL(MOVE, )
#define TAKE_ROW(D, T, C, LOAD, STORE, ...) [SP_DTYPE_##D] = take_##D,
#define PUT_ROW(D, T, C, LOAD, STORE, ...) [SP_DTYPE_##D] = put_##D,
static const scan_fn take_scans[SP_DTYPE_COUNT] = {SP_EACH_REAL(TAKE_ROW, )};
static const scan_fn put_scans[SP_DTYPE_COUNT] = {SP_EACH_REAL(PUT_ROW, )};

static sp_status move_reference(const sp_call *c, const scan_fn *table)
{
    const sp_scan_attrs a = {.axis = ((const sp_line_attrs *)c->attrs)->axis};
    sp_call call = *c;
    call.attrs = &a;
    const int64_t *index = (const int64_t *)(const void *)c->in[1]->data;
    int axis;
    SP_TRY(scan_axis(c->in[0], a.axis, &axis));
    const int64_t n = c->in[0]->rank ? c->in[0]->dims[axis] : 1;
    for (int64_t i = 0; i < c->in[1]->count; i++)
        SP_CHECK(index[i] >= 0 && index[i] < n, SP_VALUE, "index %lld is out of range for %lld elements",
                 (long long)index[i], (long long)n);
    return scan_run(&call, table[c->in[0]->dtype], &(scan_job){.out = c->out[0]->data, .index = index});
}
static sp_status line_take_reference(const sp_call *c) { return move_reference(c, take_scans); }
static sp_status line_put_reference(const sp_call *c) { return move_reference(c, put_scans); }
static sp_status move_infer(const sp_call *c, sp_meta *out)
{
    char x[SP_SHAPE_TEXT], index[SP_SHAPE_TEXT];
    int axis;
    SP_TRY(scan_axis(c->in[0], ((const sp_line_attrs *)c->attrs)->axis, &axis));
    SP_CHECK(sp__tensor_same_shape(c->in[0], c->in[1]), SP_VALUE, "index has shape %s, it must be that of x, %s",
             sp__shape_text(c->in[1]->rank, c->in[1]->dims, index), sp__shape_text(c->in[0]->rank, c->in[0]->dims, x));
    SP_CHECK(c->in[1]->dtype == SP_DTYPE_I64, SP_TYPE, "index has dtype %s, it must be int64",
             sp_dtype_name((sp_dtype)c->in[1]->dtype));
    return sp__infer_same(c, out);
}
static sp_tensor *move(sp_builder *b, const sp_op *op, sp_tensor *x, sp_tensor *index, const void *attrs)
{
    return sp_builder_apply(b, op, attrs, 2, (sp_tensor *const[]){x, index});
}
static sp_status line_take_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = move(b, &sp_op_line_put, v->dout[0], v->in[1], v->attrs);
    return SP_OK;
}
static sp_status line_put_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = move(b, &sp_op_line_take, v->dout[0], v->in[1], v->attrs);
    return SP_OK;
}
static sp_status extremum_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->dout[0]) v->din[0] = move(b, &sp_op_line_put, v->dout[0], v->out[1], v->attrs);
    return SP_OK;
}
const sp_op sp_op_line_take = {
    .batch = sp__batch_axis,
    .name = "line_take",
    .shard = "same; axis whole",
    .inputs = "x, index",
    SP_ATTRS(axis_attr_table, sp_line_attrs),
    .dtypes = SP_DT_REAL,
    .infer = move_infer,
    .reference = line_take_reference,
    .vjp = line_take_vjp,
    .saves = SP_SAVE_IN(1),
    .doc = "Elements picked by index along an axis, for gradients of running extrema.",
    .samples = "[3,2] [3,2]i<3; [2,3] [2,3]i<3 axis=1",
};
const sp_op sp_op_line_put = {
    .batch = sp__batch_axis,
    .name = "line_put",
    .inputs = "x, index",
    SP_ATTRS(axis_attr_table, sp_line_attrs),
    .dtypes = SP_DT_REAL,
    .infer = move_infer,
    .reference = line_put_reference,
    .vjp = line_put_vjp,
    .saves = SP_SAVE_IN(1),
    .doc = "Values added at their index along an axis, into zeros.",
    .samples = "[3,2] [3,2]i<3; [2,3] [2,3]i<3 axis=1",
};
#define EXTREMA                                                                                                        \
    .promote = SP_PROMOTE_NONE, .dtypes = SP_DT_REAL, .infer = extremum_infer, .vjp = extremum_vjp,                    \
    .saves = SP_SAVE_OUT(1)
const sp_op sp_op_cummax = {
    .batch = sp__batch_axis,
    .name = "cummax",
    .shard = "same; axis whole",
    .inputs = "x",
    .n_out = 2,
    SP_ATTRS(axis_attr_table, sp_line_attrs),
    EXTREMA,
    .reference = cummax_reference,
    .mindir = "Cummax",
    .python = "ops.cummax(input, axis); ops.Cummax(axis)(input); Tensor.cummax(axis); mint.cummax(input, dim:axis)",
    .doc = "Running maximum along an axis and where it is.",
    .samples = "[5]d; [2,4]d axis=1; [3,2]d axis=0",
};
const sp_op sp_op_cummin = {
    .batch = sp__batch_axis,
    .name = "cummin",
    .shard = "same; axis whole",
    .inputs = "x",
    .n_out = 2,
    SP_ATTRS(axis_attr_table, sp_line_attrs),
    EXTREMA,
    .reference = cummin_reference,
    .mindir = "Cummin",
    .python = "mint.cummin(input, dim:axis)",
    .doc = "Running minimum along an axis and where it is.",
    .samples = "[5]d; [2,4]d axis=1; [3,2]d axis=0",
};

/* --- logarithm of a running sum of exponentials --------------------------------------------------------------------- */

#define LOWEST_F16 -65504.0
#define LOWEST_BF16 (-0x1.FEp127)

/* MindSpore's logarithm of an empty sum, which exclusive sums begin with, is the lowest number of the dtype; that of zeros is -inf.
 * While it is summed, the lowest double stands for it. */
static double log_add(double x, double y)
{
    if (x == -DBL_MAX) return y;
    if (x == y) return x == -INFINITY ? x : x + 0.69314718055994531;
    return x > y ? x + log1p(exp(y - x)) : y + log1p(exp(x - y));
}
#define LOG_F16(x) TO_F16((x) == -DBL_MAX ? LOWEST_F16 : (x))
#define LOG_BF16(x) TO_BF16((x) == -DBL_MAX ? LOWEST_BF16 : (x))
#define LOG_F32(x) TO_F32((x) == -DBL_MAX ? (double)-FLT_MAX : (x))
SCAN(F16, sp_f16, double, sp__f16_f32, LOG_F16, scan_logsumexp, -DBL_MAX, log_add(acc, x))
SCAN(BF16, sp_bf16, double, sp__bf16_f32, LOG_BF16, scan_logsumexp, -DBL_MAX, log_add(acc, x))
SCAN(F32, float, double, SP_KEEP, LOG_F32, scan_logsumexp, -DBL_MAX, log_add(acc, x))
SCAN(F64, double, double, SP_KEEP, SP_KEEP, scan_logsumexp, -DBL_MAX, log_add(acc, x))
static const scan_fn logsumexp_scans[SP_DTYPE_COUNT] = {SP_EACH_FLOAT(SCAN_ROW, scan_logsumexp, )};
static sp_status scan_logsumexp_reference(const sp_call *c)
{
    return scan_run(c, logsumexp_scans[c->in[0]->dtype], &(scan_job){.out = c->out[0]->data});
}
/* dx_k = sum over outputs of g_i exp(x_k - out_i), with the maximum taken out of both exponents. */
static sp_status scan_logsumexp_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_scan_attrs a = *(const sp_scan_attrs *)v->attrs;
    sp_tensor *x = v->in[0], *top = x->rank ? sp_reduce_max(b, x, 1, &a.axis, true) : x;
    const double lowest = x->dtype == SP_DTYPE_F16    ? LOWEST_F16
                          : x->dtype == SP_DTYPE_BF16 ? LOWEST_BF16
                          : x->dtype == SP_DTYPE_F32  ? (double)-FLT_MAX
                                                      : -DBL_MAX;
    sp_tensor *empty = sp_less_equal(b, v->out[0], sp__const(b, lowest, x));
    sp_tensor *share = sp_exp(b, sp_sub(b, top, sp_select(b, empty, top, v->out[0])));
    share = sp_select(b, empty, sp__const(b, 0, x), sp_mul(b, v->dout[0], share));
    v->din[0] = sp_mul(b, sp_exp(b, sp_sub(b, x, top)), sum_back(b, share, a));
    return SP_OK;
}
const sp_op sp_op_scan_logsumexp = {
    .batch = sp__batch_axis,
    .name = "scan_logsumexp",
    .shard = "same; axis whole",
    .inputs = "x",
    SP_ATTRS(scan_attr_table, sp_scan_attrs),
    .dtypes = SP_DT_FLOATS,
    .infer = scan_infer,
    .reference = scan_logsumexp_reference,
    .vjp = scan_logsumexp_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_OUT(0),
    .mindir = "CumulativeLogsumexp",
    .python = "ops.logcumsumexp(input, axis); Tensor.logcumsumexp(axis); ops.CumulativeLogsumexp(exclusive=False, "
              "reverse=False)(x, axis)",
    .doc = "The logarithm of the running sum of exponentials.",
    .samples = "[4]; [2,3] axis=1; [2,3] axis=0 reverse=True",
};
