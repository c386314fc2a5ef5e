/* SPDX-License-Identifier: Apache-2.0 */
/* create.c - tensors from numbers, and writing whole tensors in place. */
#include "ops/index_plan.h"
#include "ops/kernels.h"

/* --- full -------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(full_attr_table, sp_full_attrs, (INTS_NEEDED, shape), (NUMBER, value, 0), (DTYPE, dtype, float32));

static sp_status number_dtype(sp_dtype dtype)
{
    SP_CHECK(dtype != SP_DTYPE_NONE && dtype != SP_DTYPE_STR, SP_TYPE, "dtype is %s, it must be a number type",
             sp_dtype_name(dtype));
    return SP_OK;
}

static sp_status full_infer(const sp_call *c, sp_meta *out)
{
    const sp_full_attrs *a = c->attrs;
    SP_TRY(number_dtype(a->dtype));
    SP_CHECK(a->shape.n >= 0 && a->shape.n <= SP_RANK_MAX, SP_VALUE,
             "the shape has %d dimensions, at most %d are possible", a->shape.n, SP_RANK_MAX);
    out->dtype = a->dtype;
    out->rank = a->shape.n;
    for (int i = 0; i < a->shape.n; i++) {
        SP_CHECK(a->shape.v[i] >= 0, SP_VALUE, "dimension %d of the shape is %lld, it must not be negative", i,
                 (long long)a->shape.v[i]);
        out->dims[i] = a->shape.v[i];
    }
    return SP_OK;
}

static sp_status full_reference(const sp_call *c)
{
    const sp_full_attrs *a = c->attrs;
    sp_tensor *o = c->out[0];
    sp_number v = a->value;
    const bool floats = v.kind == 'f';
    if ((floats ? v.f == 0 && !signbit(v.f) : v.i == 0) || v.kind == 'n') {
        memset(o->data, 0, sp_tensor_bytes(o));
        return SP_OK;
    }
    sp_tensor one = {.dtype = SP_DTYPE_I64, .rank = 0, .count = 1, .data = (char *)&v.i};
    if (floats && v.i != 0) {
        one.dtype = SP_DTYPE_U64;
    } else if (floats) {
        one.dtype = SP_DTYPE_F64;
        one.data = (char *)&v.f;
    }
    return sp__write_broadcast(o, &one);
}

const sp_op sp_op_full = {
    .name = "full",
    .inputs = "",
    SP_ATTRS(full_attr_table, sp_full_attrs),
    .infer = full_infer,
    .reference = full_reference,
    .no_vjp = "it has no inputs",
    .mindir = "FillV2",
    .onnx = "ConstantOfShape",
    .doc = "A tensor of the given shape with one number everywhere.",
    .samples = "shape=(2,3) value=1.5; shape=() value=3 dtype=int32; shape=(0,)",
};

/* --- arange ------------------------------------------------------------------------------------------------------ */

SP_ATTR_TABLE(arange_attr_table, sp_arange_attrs, (NUMBER, start, 0), (NUMBER_NEEDED, end), (NUMBER, step, 1),
              (DTYPE_OR_NONE, dtype));

static bool arange_exact(const sp_arange_attrs *a)
{
    return a->start.kind != 'f' && a->end.kind != 'f' && a->step.kind != 'f';
}

static sp_status arange_infer(const sp_call *c, sp_meta *out)
{
    const sp_arange_attrs *a = c->attrs;
    const bool exact = arange_exact(a);
    out->dtype = a->dtype != SP_DTYPE_NONE ? a->dtype : exact ? SP_DTYPE_I64 : SP_DTYPE_F32;
    SP_TRY(number_dtype(out->dtype));
    out->rank = 1;
    SP_CHECK(exact ? a->step.i != 0 : a->step.f != 0, SP_VALUE, "step is 0, it must not be");
    if (exact) {
        int64_t span;
        SP_CHECK(!__builtin_sub_overflow(a->end.i, a->start.i, &span) && a->step.i != INT64_MIN, SP_VALUE,
                 "the range is too large");
        if (a->step.i < 0) span = -span;
        const int64_t step = a->step.i < 0 ? -a->step.i : a->step.i;
        out->dims[0] = span > 0 ? (span - 1) / step + 1 : 0;
        return SP_OK;
    }
    double n = ceil((a->end.f - a->start.f) / a->step.f);
    SP_CHECK(n < 9e15, SP_VALUE, "a range from %g to %g by %g has too many elements", a->start.f, a->end.f, a->step.f);
    out->dims[0] = n > 0 ? (int64_t)n : 0;
    return SP_OK;
}

static sp_status arange_reference(const sp_call *c)
{
    const sp_arange_attrs *a = c->attrs;
    sp_tensor *o = c->out[0];
    const bool exact = arange_exact(a);
    const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)o->dtype);
    sp_loop_fn store = sp__cast_loop(exact ? SP_DTYPE_I64 : SP_DTYPE_F64, (sp_dtype)o->dtype);
    union {
        int64_t i[256];
        double f[256];
    } block;
    for (int64_t from = 0; from < o->count; from += 256) {
        const int64_t n = o->count - from < 256 ? o->count - from : 256;
        for (int64_t k = 0; k < n; k++) {
            if (exact) block.i[k] = a->start.i + (from + k) * a->step.i;
            else block.f[k] = a->start.f + (double)(from + k) * a->step.f;
        }
        char *ptr[2] = {o->data + from * bytes, (char *)&block};
        const int64_t step[2] = {bytes, 8};
        store(n, ptr, step, NULL);
    }
    return SP_OK;
}

const sp_op sp_op_arange = {
    .name = "arange",
    .inputs = "",
    SP_ATTRS(arange_attr_table, sp_arange_attrs),
    .infer = arange_infer,
    .reference = arange_reference,
    .no_vjp = "it has no inputs",
    .mindir = "Range",
    .onnx = "Range",
    .doc = "start, start + step, ... up to but not including end; int64 for whole numbers, else float32.",
    .samples = "end=5; start=1 end=2 step=0.25; start=5 end=0 step=-2 dtype=float16",
};

/* --- linspace ---------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(linspace_attr_table, sp_linspace_attrs, (FLOAT_NEEDED, start), (FLOAT_NEEDED, end), (INT_NEEDED, steps),
              (DTYPE, dtype, float32));

static sp_status linspace_infer(const sp_call *c, sp_meta *out)
{
    const sp_linspace_attrs *a = c->attrs;
    SP_TRY(number_dtype(a->dtype));
    SP_CHECK(a->steps >= 0, SP_VALUE, "steps is %lld, it must not be negative", (long long)a->steps);
    out->dtype = a->dtype;
    out->rank = 1;
    out->dims[0] = a->steps;
    return SP_OK;
}

static sp_status linspace_reference(const sp_call *c)
{
    const sp_linspace_attrs *a = c->attrs;
    sp_tensor *o = c->out[0];
    const int64_t bytes = (int64_t)sp_dtype_bytes((sp_dtype)o->dtype), step[2] = {0, 0};
    sp_loop_fn store = sp__cast_loop(SP_DTYPE_F64, (sp_dtype)o->dtype);
    const double by = a->steps > 1 ? (a->end - a->start) / (double)(a->steps - 1) : 0;
    for (int64_t i = 0; i < o->count; i++) {
        /* From both ends, so that the last one is exactly `end`. */
        const bool near_start = i < a->steps / 2 || a->steps == 1;
        double v = near_start ? a->start + (double)i * by : a->end - (double)(a->steps - 1 - i) * by;
        char *ptr[2] = {o->data + i * bytes, (char *)&v};
        store(1, ptr, step, NULL);
    }
    return SP_OK;
}

const sp_op sp_op_linspace = {
    .name = "linspace",
    .inputs = "",
    SP_ATTRS(linspace_attr_table, sp_linspace_attrs),
    .infer = linspace_infer,
    .reference = linspace_reference,
    .no_vjp = "it has no inputs",
    .mindir = "LinSpace",
    .doc = "steps numbers evenly spaced from start to end, both included.",
    .samples = "start=0 end=1 steps=5; start=2 end=-2 steps=1",
};

/* --- eye --------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(eye_attr_table, sp_eye_attrs, (INT_NEEDED, n), (INT_OR_NONE, m), (DTYPE, dtype, float32));

static sp_status eye_infer(const sp_call *c, sp_meta *out)
{
    const sp_eye_attrs *a = c->attrs;
    SP_TRY(number_dtype(a->dtype));
    const int64_t m = a->m == SP_INT_NONE ? a->n : a->m;
    SP_CHECK(a->n >= 0 && m >= 0, SP_VALUE, "the matrix would have %lld rows and %lld columns, neither may be negative",
             (long long)a->n, (long long)m);
    out->dtype = a->dtype;
    out->rank = 2;
    out->dims[0] = a->n;
    out->dims[1] = m;
    return SP_OK;
}

static sp_status eye_reference(const sp_call *c)
{
    sp_tensor *o = c->out[0];
    double one = 1;
    const int64_t n = o->dims[0] < o->dims[1] ? o->dims[0] : o->dims[1];
    memset(o->data, 0, sp_tensor_bytes(o));
    char *ptr[2] = {o->data, (char *)&one};
    const int64_t step[2] = {(o->dims[1] + 1) * (int64_t)sp_dtype_bytes((sp_dtype)o->dtype), 0};
    if (n) sp__cast_loop(SP_DTYPE_F64, (sp_dtype)o->dtype)(n, ptr, step, NULL);
    return SP_OK;
}

const sp_op sp_op_eye = {
    .name = "eye",
    .inputs = "",
    SP_ATTRS(eye_attr_table, sp_eye_attrs),
    .infer = eye_infer,
    .reference = eye_reference,
    .no_vjp = "it has no inputs",
    .mindir = "Eye",
    .onnx = "EyeLike",
    .doc = "A matrix with ones on the diagonal and zeros elsewhere.",
    .samples = "n=3; n=2 m=4 dtype=int32; n=0",
};

/* --- assign ------------------------------------------------------------------------------------------------------ */

static sp_status same_shape(const sp_call *c)
{
    char a[SP_SHAPE_TEXT], t[SP_SHAPE_TEXT];
    const sp_tensor *x = c->in[0], *value = c->in[1];
    SP_CHECK(sp__tensor_same_shape(x, value), SP_VALUE,
             "a value of shape %s cannot be written to a variable of shape %s",
             sp__shape_text(value->rank, value->dims, t), sp__shape_text(x->rank, x->dims, a));
    return SP_OK;
}

static sp_status assign_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(same_shape(c));
    return sp__infer_same(c, out);
}

static sp_status assign_reference(const sp_call *c)
{
    SP_TRY(same_shape(c));
    return sp__write_broadcast(c->in[0], c->in[1]);
}

static sp_status assign_vjp(sp_builder *b, const sp_vjp *v)
{
    if (v->needs[1]) v->din[1] = sp__value_grad(b, v->dout[0], v->in[1]);
    return SP_OK;
}

const sp_op sp_op_assign = {
    .batch = sp__batch_elementwise,
    .name = "assign",
    .shard = "same",
    .inputs = "variable, value",
    .infer = assign_infer,
    .reference = assign_reference,
    .strided = true,
    .writes = 1,
    .vjp = assign_vjp,
    .mindir = "Assign",
    .python = "ops.assign(variable, value); ops.Assign()(variable, value)",
    .doc = "Write the value, converted, over the variable.",
    .samples = "[2,3] [2,3]; [] []",
};

/* variable += value in the variable's dtype. */
static sp_status accumulate(const sp_call *c, const char *how)
{
    SP_TRY(same_shape(c));
    const sp_tensor *x = c->in[0];
    const sp_combine_fn combine = sp__combine_table(how)[x->dtype];
    sp_tensor *value;
    SP_TRY(sp_tensor_create((sp_dtype)x->dtype, x->rank, x->dims, &value));
    sp_status status = sp__write_broadcast(value, c->in[1]);
    if (status == SP_OK) combine(x->count, x->data, 1, value->data);
    sp_tensor_release(value);
    return status;
}
static sp_status assign_add_reference(const sp_call *c) { return accumulate(c, "add"); }
static sp_status assign_sub_reference(const sp_call *c) { return accumulate(c, "sub"); }

static sp_status assign_add_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = v->dout[0];
    if (v->needs[1]) v->din[1] = sp__value_grad(b, v->dout[0], v->in[1]);
    return SP_OK;
}

static sp_status assign_sub_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = v->dout[0];
    if (v->needs[1]) v->din[1] = sp__value_grad(b, sp_neg(b, v->dout[0]), v->in[1]);
    return SP_OK;
}

const sp_op sp_op_assign_add = {
    .batch = sp__batch_elementwise,
    .name = "assign_add",
    .shard = "same",
    .inputs = "variable, value",
    .infer = assign_infer,
    .reference = assign_add_reference,
    .writes = 1,
    .vjp = assign_add_vjp,
    .mindir = "AssignAdd",
    .python = "ops.assign_add(variable, value); ops.AssignAdd()(variable, value)",
    .doc = "Add the value to the variable in place.",
    .samples = "[2,3] [2,3]; [] []",
};

const sp_op sp_op_assign_sub = {
    .batch = sp__batch_elementwise,
    .name = "assign_sub",
    .shard = "same",
    .inputs = "variable, value",
    .infer = assign_infer,
    .reference = assign_sub_reference,
    .writes = 1,
    .vjp = assign_sub_vjp,
    .mindir = "AssignSub",
    .python = "ops.assign_sub(variable, value); ops.AssignSub()(variable, value)",
    .doc = "Subtract the value from the variable in place.",
    .samples = "[2,3] [2,3]; [] []",
};
