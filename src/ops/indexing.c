/* SPDX-License-Identifier: Apache-2.0 */
/* indexing.c - parts of a tensor, read and written: slices, index tensors, masks, copies.
 *
 * What x[...] means in Python is put together from these: slices and single integers are one `slice` (a view), integer
 * tensors are one `index`, a mask is `nonzero` and `index`. The writing forms (`slice_put`, `index_put`) change x in
 * place, take a value that broadcasts, and have gradients for x and for the value.
 *
 * Index tensors are turned into one list of element offsets first (negative ones wrapped, bounds checked), so that the
 * loops that move data cannot fail. */
#include "ops/index_plan.h"
#include "ops/kernels.h"

/* --- copy -------------------------------------------------------------------------------------------------------- */

static sp_status copy_reference(const sp_call *c) { return sp_tensor_assign(c->out[0], c->in[0]); }
static sp_status copy_vjp(sp_builder *b, const sp_vjp *v)
{
    (void)b;
    v->din[0] = v->dout[0];
    return SP_OK;
}

const sp_op sp_op_copy = {
    .name = "copy",
    .inputs = "x",
    .infer = sp__infer_same,
    .reference = copy_reference,
    .loop = sp__cast_inner,
    .strided = true,
    .vjp = copy_vjp,
    .onnx = "Identity",
    .python = "ops.clone(input); Tensor.copy(); Tensor.clone(); mint.clone(input)",
    .doc = "The same values in memory of their own.",
    .samples = "[2,3]; []",
};

/* --- slice ------------------------------------------------------------------------------------------------------- */

/* Entry i of start, stop and step belongs to dimension i; dimensions without one are taken whole. With a positive step
 * negative numbers count from the end, as in Python. With a negative step they are plain positions, so that stop = -1
 * means "down to the first element": this is what Python's slice.indices() gives. All are clipped to the dimension. */
SP_ATTR_TABLE(slice_attr_table, sp_slice_attrs, (INTS_NEEDED, start), (INTS_NEEDED, stop), (INTS_OR_NONE, step));

/* First element and number of elements of start:stop:step over n elements. */
static void slice_range(int64_t n, int64_t start, int64_t stop, int64_t step, int64_t *first, int64_t *count)
{
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    if (step > 0) {
        if (start < 0) start += n;
        if (stop < 0) stop += n;
    }
    start = start < low ? low : start > high ? high : start;
    stop = stop < low ? low : stop > high ? high : stop;
    const int64_t distance = step > 0 ? stop - start : start - stop;
    const int64_t size = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
    *count = distance > 0 ? (distance - 1) / size + 1 : 0;
    *first = *count > 0 ? start : 0;
}

/* Geometry of the part of x: dims and strides, offset in elements. */
static sp_status slice_resolve(const sp_tensor *x, const sp_slice_attrs *a, int64_t *dims, int64_t *strides,
                               int64_t *offset)
{
    const int n = a->start.n < 0 ? 0 : a->start.n;
    SP_CHECK(n <= x->rank, SP_INDEX, "%d dimensions are sliced, but the tensor has rank %d", n, x->rank);
    SP_CHECK(a->stop.n == n && (a->step.n < 0 || a->step.n == n), SP_VALUE,
             "start has %d entries, stop %d and step %d; they must be equally many", n, a->stop.n, a->step.n);
    *offset = 0;
    for (int i = 0; i < x->rank; i++) {
        dims[i] = x->dims[i];
        strides[i] = x->strides[i];
        if (i >= n) continue;
        const int64_t step = a->step.n < 0 ? 1 : a->step.v[i];
        SP_CHECK(step != 0, SP_VALUE, "the step of dimension %d is 0", i);
        int64_t first;
        slice_range(x->dims[i], a->start.v[i], a->stop.v[i], step, &first, &dims[i]);
        *offset += first * x->strides[i];
        if (dims[i] > 1) strides[i] *= step;
    }
    return SP_OK;
}

static sp_status slice_infer(const sp_call *c, sp_meta *out)
{
    int64_t strides[SP_RANK_MAX], offset;
    out->dtype = (sp_dtype)c->in[0]->dtype;
    out->rank = c->in[0]->rank;
    return slice_resolve(c->in[0], c->attrs, out->dims, strides, &offset);
}

static sp_status slice_handle(const sp_tensor *x, const sp_slice_attrs *a, sp_tensor **out)
{
    int64_t dims[SP_RANK_MAX], strides[SP_RANK_MAX], offset;
    SP_TRY(slice_resolve(x, a, dims, strides, &offset));
    SP_TRY(sp__tensor_handle((sp_dtype)x->dtype, x->rank, dims, strides, x->storage,
                             x->data + offset * (int64_t)sp_dtype_bytes((sp_dtype)x->dtype), out));
    (*out)->flags |= SP_TENSOR_VIEW;
    return SP_OK;
}

static sp_status slice_view(const sp_call *c) { return slice_handle(c->in[0], c->attrs, &c->out[0]); }

static sp_status slice_vjp(sp_builder *b, const sp_vjp *v)
{
    sp_tensor *zeros = sp__full(b, 0, (sp_dtype)v->dout[0]->dtype, v->in[0]->rank, v->in[0]->dims);
    v->din[0] = sp_builder_apply(b, &sp_op_slice_put, v->attrs, 2, (sp_tensor *const[]){zeros, v->dout[0]});
    return SP_OK;
}

const sp_op sp_op_slice = {
    .batch = sp__batch_slice,
    .name = "slice",
    .shard = "slice",
    .inputs = "x",
    SP_ATTRS(slice_attr_table, sp_slice_attrs),
    .infer = slice_infer,
    .view = slice_view,
    .vjp = slice_vjp,
    .mindir = "StridedSlice",
    .doc = "The part start:stop:step of every dimension, as a view.",
    .samples = "[4,3] start=(1,) stop=(3,); [4,3] start=(0,2) stop=(4,-1) step=(2,-1); [4,3] start=(-2,0) stop=(4,2); "
               "[2,3] start=() stop=()",
};

/* Write `value`, broadcast and converted, over the elements `target` shows. Leading dimensions of size 1 that target
 * does not have are dropped, as numpy does. */
typedef struct {
    char *to;
    size_t size; /* of the element that is repeated */
    _Alignas(16) char element[16];
} fill_job;

#define FILL(T)                                                                                                        \
    {                                                                                                                  \
        T value, *to = (T *)(void *)j->to;                                                                             \
        memcpy(&value, j->element, sizeof value);                                                                      \
        for (int64_t i = begin; i < end; i++) to[i] = value;                                                           \
    }
static void fill_part(void *context, int64_t begin, int64_t end)
{
    const fill_job *j = context;
    switch (j->size) {
    case 1: memset(j->to + begin, j->element[0], (size_t)(end - begin)); break;
    case 2: FILL(uint16_t) break;
    case 4: FILL(uint32_t) break;
    case 8: FILL(uint64_t) break;
    default:
        for (int64_t i = begin; i < end; i++) memcpy(j->to + (size_t)i * j->size, j->element, j->size);
    }
}

/* One element all over a row-major tensor. */
static sp_status fill(const sp_tensor *target, const sp_tensor *value, sp_loop_fn convert)
{
    fill_job j = {.to = target->data, .size = sp_dtype_bytes((sp_dtype)target->dtype)};
    convert(1, (char *[]){j.element, value->data}, (const int64_t[]){16, 16}, NULL);
    return sp__parallel_for(target->count, 1 << 16, fill_part, &j);
}

/* The addresses of the elements that t shows lie in [*from, *to). */
static void reach(const sp_tensor *t, uintptr_t *from, uintptr_t *to)
{
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)t->dtype);
    int64_t low = 0, high = size;
    for (int i = 0; i < t->rank; i++) {
        const int64_t far = (t->dims[i] - 1) * t->strides[i] * size;
        if (far < 0) low += far;
        else high += far;
    }
    *from = (uintptr_t)t->data + (uintptr_t)low;
    *to = (uintptr_t)t->data + (uintptr_t)high;
}

/* In a program all values may lie in one block, so that does not tell. */
static bool may_meet(const sp_tensor *x, const sp_tensor *y)
{
    uintptr_t x_from, x_to, y_from, y_to;
    if (x->count == 0 || y->count == 0) return false;
    reach(x, &x_from, &x_to);
    reach(y, &y_from, &y_to);
    return x_from < y_to && y_from < x_to;
}

sp_status sp__write_broadcast(const sp_tensor *target, const sp_tensor *value)
{
    sp_tensor *copy = NULL, seen;
    sp_loop_fn convert = sp__cast_loop((sp_dtype)value->dtype, (sp_dtype)target->dtype);
    SP_CHECK(convert, SP_TYPE, "a value of dtype %s cannot be written to a tensor of dtype %s",
             sp_dtype_name((sp_dtype)value->dtype), sp_dtype_name((sp_dtype)target->dtype));
    int lead = 0, rank;
    while (value->rank - lead > target->rank && value->dims[lead] == 1) lead++;
    char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
    int64_t dims[SP_RANK_MAX];
    bool fits = value->rank - lead <= target->rank;
    const int64_t *own = value->dims + lead;
    fits = fits && sp__shape_broadcast(value->rank - lead, own, target->rank, target->dims, &rank, dims) == SP_OK;
    SP_CHECK(fits && sp__shape_equal(rank, dims, target->rank, target->dims), SP_VALUE,
             "a value of shape %s cannot be broadcast to shape %s, the part that is written",
             sp__shape_text(value->rank, value->dims, a), sp__shape_text(target->rank, target->dims, b));
    if (value->count == 1 && target->count > 1 && target->flags & SP_TENSOR_CONTIGUOUS &&
        sp_dtype_bytes((sp_dtype)target->dtype) <= 16)
        return fill(target, value, convert);
    /* Reading and writing the same memory: read all of it before the first write. */
    if (may_meet(target, value)) SP_TRY(sp_tensor_copy(value, &copy));
    seen = copy ? *copy : *value;
    for (int i = 0; i < seen.rank - lead; i++) {
        seen.dims[i] = seen.dims[i + lead];
        seen.strides[i] = seen.strides[i + lead];
    }
    seen.rank = (int8_t)(seen.rank - lead);
    const sp_tensor *operands[2] = {target, &seen};
    sp_loop loop;
    sp__loop_init(&loop, target->rank, target->dims, 2, operands);
    sp_status status = sp__loop_run(&loop, convert, NULL, 4);
    sp_tensor_release(copy);
    return status;
}

/* The gradient of a value that was broadcast to g's shape. */
sp_tensor *sp__value_grad(sp_builder *b, sp_tensor *g, const sp_tensor *value)
{
    if (!g) return NULL;
    int64_t dims[SP_RANK_MAX];
    int lead = value->rank - g->rank;
    if (lead > 0) {
        for (int i = 0; i < value->rank; i++) dims[i] = i < lead ? 1 : g->dims[i - lead];
        g = sp_reshape(b, g, value->rank, dims);
    }
    g = sp__unbroadcast(b, g, value);
    char kind = sp_dtype_kind((sp_dtype)value->dtype);
    return kind != 'b' ? sp_cast(b, g, (sp_dtype)value->dtype) : NULL;
}

static sp_status slice_put_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    int64_t dims[SP_RANK_MAX], strides[SP_RANK_MAX], offset;
    SP_TRY(slice_resolve(x, c->attrs, dims, strides, &offset));
    sp_tensor target =
        sp__tensor_window(x, x->rank, dims, strides, x->data + offset * (int64_t)sp_dtype_bytes((sp_dtype)x->dtype));
    return sp__write_broadcast(&target, c->in[1]);
}

static sp_status slice_put_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[0]) {
        sp_tensor *kept = SP_APPLY1(b, sp_op_copy, v->dout[0]), *zero = sp__const(b, 0, v->dout[0]);
        v->din[0] = sp_builder_apply(b, &sp_op_slice_put, v->attrs, 2, (sp_tensor *const[]){kept, zero});
    }
    if (v->needs[1])
        v->din[1] = sp__value_grad(b, sp_builder_apply(b, &sp_op_slice, v->attrs, 1, &v->dout[0]), v->in[1]);
    return SP_OK;
}

const sp_op sp_op_slice_put = {
    .batch = sp__batch_slice,
    .name = "slice_put",
    .shard = "slice",
    .inputs = "x, value",
    SP_ATTRS(slice_attr_table, sp_slice_attrs),
    .infer = sp__infer_same,
    .reference = slice_put_reference,
    .strided = true,
    .writes = 1,
    .vjp = slice_put_vjp,
    .doc = "Write value, broadcast and converted, over the part of x that slice would give.",
    .samples = "[4,3] [2,3] start=(1,) stop=(3,); [4,3] [1,3] start=(0,2) stop=(4,-1) step=(2,-1); "
               "[4,3] [] start=(-1,0) stop=(4,2); [2,3] [1,1,3] start=() stop=()",
};

/* --- index tensors ----------------------------------------------------------------------------------------------- */

/* axes[k] is the axis of x that index tensor k addresses; None: the first ones. The dimensions of the index tensors,
 * broadcast together, replace the axes: in their place when these are neighbours, else at the front. */
SP_ATTR_TABLE(index_attr_table, sp_index_attrs, (INTS_OR_NONE, axes));

sp_status sp__index_plan(const sp_tensor *x, int n, sp_tensor *const *indices, sp_ints axes, sp_index_plan *p)
{
    SP_CHECK(n > 0, SP_VALUE, "there are no index tensors");
    SP_CHECK(n <= x->rank, x->rank ? SP_INDEX : SP_VALUE, "there are %d index tensors, but the tensor has rank %d", n,
             x->rank);
    SP_CHECK(axes.n < 0 || axes.n == n, SP_VALUE, "there are %d index tensors, but %d axes", n, axes.n);
    uint32_t mask = 0;
    p->n = n;
    p->b_rank = 0;
    for (int k = 0; k < n; k++) {
        const sp_tensor *t = indices[k];
        char kind = sp_dtype_kind((sp_dtype)t->dtype);
        SP_CHECK(kind == 'i' || kind == 'u', SP_TYPE, "index tensor %d has dtype %s, it must hold integers", k,
                 sp_dtype_name((sp_dtype)t->dtype));
        p->axes[k] = k;
        if (axes.n >= 0) SP_TRY(sp__shape_axis(axes.v[k], x->rank, "axis", &p->axes[k]));
        SP_CHECK(!(mask >> p->axes[k] & 1), SP_VALUE, "axis %d is indexed twice", p->axes[k]);
        mask |= 1u << p->axes[k];
        SP_TRY(sp__shape_broadcast(p->b_rank, p->b_dims, t->rank, t->dims, &p->b_rank, p->b_dims));
    }
    const int first = __builtin_ctz(mask), last = 31 - __builtin_clz(mask);
    p->place = last - first + 1 != n ? 0 : first;
    p->rank = x->rank - n + p->b_rank;
    SP_CHECK(p->rank <= SP_RANK_MAX, SP_VALUE, "the result would have %d dimensions, at most %d are possible", p->rank,
             SP_RANK_MAX);
    int64_t row_major[SP_RANK_MAX];
    sp__shape_strides(x->rank, x->dims, row_major);
    int at = 0;
    p->n_pre = p->n_b = p->n_rest = 1;
    p->rest_rank = 0;
    for (int i = 0; i < x->rank; i++) {
        if (mask >> i & 1) continue;
        if (at == p->place) at += p->b_rank;
        p->dims[at++] = x->dims[i];
        if (i < p->place) {
            p->n_pre *= x->dims[i];
            continue;
        }
        p->n_rest *= x->dims[i];
        int r = p->rest_rank;
        if (x->dims[i] == 1) continue;
        if (r > 0 && p->rest_strides[r - 1] == row_major[i] * x->dims[i]) {
            p->rest_dims[r - 1] *= x->dims[i];
            p->rest_strides[r - 1] = row_major[i];
        } else {
            p->rest_dims[r] = x->dims[i];
            p->rest_strides[r] = row_major[i];
            p->rest_rank++;
        }
    }
    for (int i = 0; i < p->b_rank; i++) {
        p->dims[p->place + i] = p->b_dims[i];
        p->n_b *= p->b_dims[i];
    }
    p->pre_stride = p->place > 0 ? row_major[p->place - 1] : 0;
    return SP_OK;
}

size_t sp__index_offsets_bytes(const sp_index_plan *p)
{
    return (size_t)(p->n_b > 0 ? p->n_b : 1) * 2 * sizeof(int64_t);
}

sp_status sp__index_offsets(const sp_tensor *x, sp_tensor *const *indices, const sp_index_plan *p, int64_t *offsets)
{
    int64_t row_major[SP_RANK_MAX];
    sp__shape_strides(x->rank, x->dims, row_major);
    int64_t *wide = offsets + p->n_b;
    memset(offsets, 0, (size_t)p->n_b * sizeof *offsets);
    for (int k = 0; k < p->n; k++) {
        sp_tensor all = {.dtype = SP_DTYPE_I64, .rank = (int8_t)p->b_rank, .data = (char *)wide};
        memcpy(all.dims, p->b_dims, sizeof all.dims);
        sp__shape_strides(p->b_rank, p->b_dims, all.strides);
        const sp_tensor *operands[2] = {&all, indices[k]};
        sp_loop loop;
        sp__loop_init(&loop, p->b_rank, p->b_dims, 2, operands);
        SP_TRY(sp__loop_run(&loop, sp__cast_loop((sp_dtype)indices[k]->dtype, SP_DTYPE_I64), NULL, 4));
        const int64_t size = x->dims[p->axes[k]], stride = row_major[p->axes[k]];
        for (int64_t i = 0; i < p->n_b; i++) {
            int64_t v = wide[i];
            SP_CHECK(v >= -size && v < size, SP_RUNTIME, "index %lld is out of range for dimension %d of size %lld",
                     (long long)v, p->axes[k], (long long)size);
            offsets[i] += (v < 0 ? v + size : v) * stride;
        }
    }
    return SP_OK;
}

static sp_status index_infer(const sp_call *c, sp_meta *out)
{
    const sp_index_attrs *a = c->attrs;
    sp_index_plan p;
    SP_TRY(sp__index_plan(c->in[0], c->n_in - 1, c->in + 1, a->axes, &p));
    out->dtype = (sp_dtype)c->in[0]->dtype;
    out->rank = p.rank;
    for (int i = 0; i < p.rank; i++) out->dims[i] = p.dims[i];
    return SP_OK;
}

static size_t index_workspace(const sp_call *c)
{
    const sp_index_attrs *a = c->attrs;
    sp_index_plan p;
    return sp__index_plan(c->in[0], c->n_in - 1, c->in + 1, a->axes, &p) == SP_OK ? sp__index_offsets_bytes(&p) : 0;
}

typedef struct {
    const sp_index_plan *plan;
    const int64_t *offsets;
    const char *x;
    char *out;
    size_t bytes; /* of one element */
} index_job;

/* n elements `stride` elements apart to a dense run. */
static void copy_run(char *dst, const char *src, int64_t n, int64_t stride, size_t bytes)
{
    if (stride == 1) {
        memcpy(dst, src, (size_t)n * bytes);
        return;
    }
    for (int64_t i = 0; i < n; i++) memcpy(dst + (size_t)i * bytes, src + i * stride * (int64_t)bytes, bytes);
}

#define PICK_RUN(T)                                                                                                    \
    for (int64_t i = 0; i < n; i++) ((T *)(void *)dst)[i] = ((const T *)(const void *)src)[offsets[i]]

/* Single elements, n of them, from src + offsets. */
static void pick_run(char *dst, const char *src, const int64_t *offsets, int64_t n, size_t bytes)
{
    switch (bytes) {
    case 1: PICK_RUN(uint8_t); break;
    case 2: PICK_RUN(uint16_t); break;
    case 4: PICK_RUN(uint32_t); break;
    case 8: PICK_RUN(uint64_t); break;
    default:
        for (int64_t i = 0; i < n; i++) memcpy(dst + (size_t)i * bytes, src + offsets[i] * (int64_t)bytes, bytes);
    }
}

static void index_elements(void *context, int64_t begin, int64_t end)
{
    const index_job *j = context;
    const sp_index_plan *p = j->plan;
    for (int64_t row = begin, n; row < end; row += n) {
        const int64_t at = row % p->n_b;
        n = p->n_b - at < end - row ? p->n_b - at : end - row;
        pick_run(j->out + (size_t)row * j->bytes, j->x + row / p->n_b * p->pre_stride * (int64_t)j->bytes,
                 j->offsets + at, n, j->bytes);
    }
}

static void index_rows(void *context, int64_t begin, int64_t end)
{
    const index_job *j = context;
    const sp_index_plan *p = j->plan;
    const int64_t size = (int64_t)j->bytes;
    char *dst = j->out + begin * p->n_rest * size;
    const int last = p->rest_rank - 1;
    /* Rows lie anywhere: the next one is asked for while this one is copied. */
    const int64_t ahead =
        p->rest_strides[last] == 1 && p->rest_dims[last] * size <= 8192 ? p->rest_dims[last] * size : 0;
    for (int64_t row = begin; row < end; row++, dst += p->n_rest * size) {
        if (row + 1 < end) {
            const char *next = j->x + ((row + 1) / p->n_b * p->pre_stride + j->offsets[(row + 1) % p->n_b]) * size;
            for (int64_t i = 0; i < ahead; i += 64) __builtin_prefetch(next + i);
        }
        const char *src = j->x + (row / p->n_b * p->pre_stride + j->offsets[row % p->n_b]) * size;
        int64_t at[SP_RANK_MAX] = {0};
        char *to = dst;
        for (int i = 0; i >= 0;) {
            copy_run(to, src, p->rest_dims[last], p->rest_strides[last], j->bytes);
            to += p->rest_dims[last] * size;
            for (i = last - 1; i >= 0; i--) {
                src += p->rest_strides[i] * size;
                if (++at[i] < p->rest_dims[i]) break;
                src -= p->rest_dims[i] * p->rest_strides[i] * size;
                at[i] = 0;
            }
        }
    }
}

static sp_status index_reference(const sp_call *c)
{
    const sp_index_attrs *a = c->attrs;
    sp_index_plan p;
    SP_TRY(sp__index_plan(c->in[0], c->n_in - 1, c->in + 1, a->axes, &p));
    SP_TRY(sp__index_offsets(c->in[0], c->in + 1, &p, c->work));
    if (c->out[0]->count == 0) return SP_OK;
    index_job job = {.plan = &p,
                     .offsets = c->work,
                     .x = c->in[0]->data,
                     .out = c->out[0]->data,
                     .bytes = sp_dtype_bytes((sp_dtype)c->in[0]->dtype)};
    int64_t grain = 65536 / (p.n_rest * (int64_t)job.bytes + 16) + 1;
    return sp__parallel_for(p.n_pre * p.n_b, grain, p.rest_rank == 0 ? index_elements : index_rows, &job);
}

/* Attributes of index_put start with those of index, so that rules pass them on. */
SP_ATTR_TABLE(index_put_attr_table, sp_index_put_attrs, (INTS_OR_NONE, axes), (BOOL, accumulate, False));

/* index_put or index over the same index tensors: in[0..n_lead) followed by them. */
static sp_tensor *apply_indexed(sp_builder *b, const sp_op *op, const void *attrs, int n_lead, sp_tensor *const *lead,
                                int n, sp_tensor *const *indices)
{
    sp_tensor *in[2 + SP_RANK_MAX];
    for (int i = 0; i < n_lead; i++) in[i] = lead[i];
    for (int i = 0; i < n; i++) in[n_lead + i] = indices[i];
    return sp_builder_apply(b, op, attrs, n_lead + n, in);
}

static sp_status index_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_index_attrs *a = v->attrs;
    const sp_index_put_attrs put = {.axes = a->axes, .accumulate = true};
    sp_tensor *zeros = sp__full(b, 0, (sp_dtype)v->dout[0]->dtype, v->in[0]->rank, v->in[0]->dims);
    v->din[0] =
        apply_indexed(b, &sp_op_index_put, &put, 2, (sp_tensor *const[]){zeros, v->dout[0]}, v->n_in - 1, v->in + 1);
    return SP_OK;
}

const sp_op sp_op_index = {
    .batch = sp__batch_index,
    .name = "index",
    .shard = "index",
    .inputs = "x, indices...",
    SP_ATTRS(index_attr_table, sp_index_attrs),
    .infer = index_infer,
    .reference = index_reference,
    .workspace = index_workspace,
    .vjp = index_vjp,
    .saves = SP_SAVE_ALL_IN & ~SP_SAVE_IN(0),
    .doc = "Elements of x picked by integer tensors that address the given axes, with numpy's rules for broadcasting "
           "and "
           "for the place of the new dimensions. Negative indices count from the end.",
    .samples = "[4,3] [2]i<4 axes=(0,); [4,3,2] [2,2]i<3 axes=(1,); [4,3] [3]i<4 [3]i<3; "
               "[4,3,5] [2,1]i<4 [3]i<5 axes=(0,2); [2,4,3] [2]i<4 [2]i<3 axes=(1,2); [4,3] []i<4",
};

/* --- index_put --------------------------------------------------------------------------------------------------- */

typedef struct {
    const sp_index_plan *plan;
    const int64_t *offsets;
    char *x;
    const char *value;
    size_t bytes;
    sp_combine_fn combine; /* NULL: overwrite */
    int64_t block;         /* elements of a row one unit of work covers */
} put_job;

static void put_run(const put_job *j, char *dst, const char *src, int64_t n, int64_t stride)
{
    if (j->combine) {
        j->combine(n, dst, stride, src);
    } else if (stride == 1) {
        memcpy(dst, src, (size_t)n * j->bytes);
    } else {
        const int64_t step = stride * (int64_t)j->bytes;
        for (int64_t i = 0; i < n; i++) memcpy(dst + i * step, src + (size_t)i * j->bytes, j->bytes);
    }
}

/* A unit is a range of columns of all rows under one leading index: rows that hit the same element are written in their
 * order, whatever the threads. */
static void put_units(void *context, int64_t begin, int64_t end)
{
    const put_job *j = context;
    const sp_index_plan *p = j->plan;
    const int64_t size = (int64_t)j->bytes, units = (p->n_rest + j->block - 1) / j->block;
    const int last = p->rest_rank - 1;
    for (int64_t u = begin; u < end; u++) {
        const int64_t pre = u / units, from = u % units * j->block;
        const int64_t n = p->n_rest - from < j->block ? p->n_rest - from : j->block;
        for (int64_t row = 0; row < p->n_b; row++) {
            char *dst = j->x + (pre * p->pre_stride + j->offsets[row]) * size;
            const char *src = j->value + (pre * p->n_b + row) * p->n_rest * size;
            if (last <= 0) {
                const int64_t stride = last < 0 ? 1 : p->rest_strides[0];
                put_run(j, dst + from * stride * size, src + from * size, n, stride);
                continue;
            }
            int64_t at[SP_RANK_MAX] = {0};
            for (int i = 0; i >= 0;) {
                put_run(j, dst, src, p->rest_dims[last], p->rest_strides[last]);
                src += p->rest_dims[last] * size;
                for (i = last - 1; i >= 0; i--) {
                    dst += p->rest_strides[i] * size;
                    if (++at[i] < p->rest_dims[i]) break;
                    dst -= p->rest_dims[i] * p->rest_strides[i] * size;
                    at[i] = 0;
                }
            }
        }
    }
}

sp_status sp__index_write(sp_tensor *x, const sp_tensor *value, int n, sp_tensor *const *indices, sp_ints axes,
                          const sp_combine_fn *combine)
{
    sp_index_plan p;
    SP_TRY(sp__index_plan(x, n, indices, axes, &p));
    SP_CHECK(!combine || combine[x->dtype], SP_TYPE, "a tensor of dtype %s cannot be combined in this way",
             sp_dtype_name((sp_dtype)x->dtype));
    int64_t *offsets = sp__alloc(sp__index_offsets_bytes(&p));
    if (!offsets) return SP_NOMEM;
    sp_tensor *all = NULL;
    sp_status status;
    SP_GOTO(done, sp__index_offsets(x, indices, &p, offsets));
    /* The value in x's dtype, row-major, broadcast, in memory of its own unless it is that already. */
    bool ready = value->dtype == x->dtype && value->flags & SP_TENSOR_CONTIGUOUS && value->storage != x->storage &&
                 sp__shape_equal(value->rank, value->dims, p.rank, p.dims);
    if (!ready) {
        SP_GOTO(done, sp_tensor_create((sp_dtype)x->dtype, p.rank, p.dims, &all));
        SP_GOTO(done, sp__write_broadcast(all, value));
        value = all;
    }
    put_job job = {.plan = &p,
                   .offsets = offsets,
                   .x = x->data,
                   .value = value->data,
                   .bytes = sp_dtype_bytes((sp_dtype)x->dtype),
                   .combine = combine ? combine[x->dtype] : NULL};
    job.block = p.rest_rank > 1 || p.n_rest < 256 ? p.n_rest : 128;
    if (value->count) {
        int64_t units = p.n_pre * ((p.n_rest + job.block - 1) / job.block), work = p.n_b * job.block;
        status = sp__parallel_for(units, 32768 / (work + 1) + 1, put_units, &job);
    }
done:
    sp_tensor_release(all);
    sp__free(offsets);
    return status;
}

static sp_status index_put_reference(const sp_call *c)
{
    const sp_index_put_attrs *a = c->attrs;
    return sp__index_write(c->in[0], c->in[1], c->n_in - 2, c->in + 2, a->axes,
                           a->accumulate ? sp__combine_table("add") : NULL);
}

static sp_status index_put_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_index_put_attrs *a = v->attrs;
    const sp_index_attrs read = {.axes = a->axes};
    if (v->needs[0]) {
        v->din[0] = v->dout[0];
        if (!a->accumulate) {
            sp_tensor *kept = SP_APPLY1(b, sp_op_copy, v->dout[0]), *zero = sp__const(b, 0, v->dout[0]);
            v->din[0] =
                apply_indexed(b, &sp_op_index_put, a, 2, (sp_tensor *const[]){kept, zero}, v->n_in - 2, v->in + 2);
        }
    }
    if (v->needs[1])
        v->din[1] =
            sp__value_grad(b, apply_indexed(b, &sp_op_index, &read, 1, &v->dout[0], v->n_in - 2, v->in + 2), v->in[1]);
    return SP_OK;
}

const sp_op sp_op_index_put = {
    .batch = sp__batch_index_put,
    .name = "index_put",
    .shard = "index",
    .inputs = "x, value, indices...",
    SP_ATTRS(index_put_attr_table, sp_index_put_attrs),
    .infer = sp__infer_same,
    .reference = index_put_reference,
    .writes = 1,
    .vjp = index_put_vjp,
    .saves = SP_SAVE_ALL_IN & ~(SP_SAVE_IN(0) | SP_SAVE_IN(1)),
    .doc = "Write value, broadcast and converted, over the elements index would give, or add it to them. Of several "
           "writes "
           "to one element the last one stays; sums count all of them.",
    .samples = "[4,3] [2,3] [2]i<4 axes=(0,) accumulate=True; [4,3,5] [2,3,1] [2,1]i<4 [3]i<5 axes=(0,2) "
               "accumulate=True; "
               "[4,3] [] []i<4; [4,3] [1,3] [1]i<4 axes=(0,)",
};

/* --- nonzero, masked_select -------------------------------------------------------------------------------------- */

static sp_status nonzero_infer(const sp_call *c, sp_meta *out)
{
    out->dtype = SP_DTYPE_I64;
    out->rank = 2;
    out->dims[0] = -1;
    out->dims[1] = c->in[0]->rank;
    return SP_OK;
}

static sp_status nonzero_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    sp_tensor *truth = NULL;
    sp_status status = SP_OK;
    const sp_tensor *seen = x;
    if (x->dtype != SP_DTYPE_BOOL) {
        SP_TRY(sp_tensor_create(SP_DTYPE_BOOL, x->rank, x->dims, &truth));
        SP_GOTO(done, sp_tensor_assign(truth, x));
        seen = truth;
    }
    const uint8_t *flags = (const uint8_t *)seen->data;
    int64_t n = 0;
    for (int64_t i = 0; i < seen->count; i++) n += flags[i] != 0;
    SP_GOTO(done, sp_tensor_create(SP_DTYPE_I64, 2, (const int64_t[]){n, x->rank}, &c->out[0]));
    int64_t *out = (int64_t *)(void *)c->out[0]->data;
    int64_t at[SP_RANK_MAX] = {0};
    const int last = x->rank - 1;
    for (int64_t i = 0; i < seen->count; i++) {
        if (flags[i]) {
            memcpy(out, at, (size_t)x->rank * sizeof *out);
            out += x->rank;
        }
        for (int k = last; k >= 0 && ++at[k] == x->dims[k]; k--) at[k] = 0;
    }
done:
    sp_tensor_release(truth);
    return status;
}

const sp_op sp_op_nonzero = {
    .name = "nonzero",
    .inputs = "x",
    .infer = nonzero_infer,
    .open = true,
    .reference = nonzero_reference,
    .no_vjp = "integer result",
    .mindir = "NonZero",
    .doc = "The positions of all elements that are not zero, one row each, in row-major order.",
    .samples = "[2,3]b; [3]; []",
};

static sp_status masked_select_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *x = c->in[0], *mask = c->in[1];
    SP_CHECK(mask->dtype == SP_DTYPE_BOOL, SP_TYPE, "mask has dtype %s, it must be bool",
             sp_dtype_name((sp_dtype)mask->dtype));
    int rank;
    int64_t dims[SP_RANK_MAX];
    SP_TRY(sp__shape_broadcast(x->rank, x->dims, mask->rank, mask->dims, &rank, dims));
    x = sp_reshape(b, sp_broadcast_to(b, x, rank, dims), 1, (const int64_t[]){-1});
    mask = sp_reshape(b, sp_broadcast_to(b, mask, rank, dims), 1, (const int64_t[]){-1});
    sp_tensor *where = sp_reshape(b, SP_APPLY1(b, sp_op_nonzero, mask), 1, (const int64_t[]){-1});
    c->out[0] = SP_APPLY2(b, sp_op_index, x, where);
    return SP_OK;
}

const sp_op sp_op_masked_select = {
    .name = "masked_select",
    .inputs = "x, mask",
    .compose = masked_select_compose,
    .mindir = "MaskedSelect",
    .python = "ops.masked_select(input, mask); ops.MaskedSelect()(x, mask); Tensor.masked_select(mask); "
              "mint.masked_select(input, mask)",
    .doc = "The elements where the mask is true, as a list; both are broadcast together.",
    .samples = "[2,3] [2,3]b; [2,1] [3]b",
};
