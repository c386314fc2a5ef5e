/* SPDX-License-Identifier: Apache-2.0 */
/* scatter.c - values combined into a copy of a tensor at positions that tensors name.
 *
 * index_combine takes positions as `index` does (tensor_scatter_mul, tensor_scatter_max and their like are made of it),
 * scatter_elements takes one position along an axis per element. Both are functions of their inputs: the gradients of
 * products and extrema need x as it was. */
#include "ops/index_plan.h"
#include "ops/kernels.h"

/* --- combinations by dtype --------------------------------------------------------------------------------------- */

#define COMBINE_RUN(D, T, C, LOAD, STORE, name, expr)                                                                  \
    static void name##_##D(int64_t n, char *dst, int64_t stride, const char *src)                                      \
    {                                                                                                                  \
        T *o_ = (T *)(void *)dst;                                                                                      \
        const T *v_ = (const T *)(const void *)src;                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const C x = LOAD(o_[i * stride]), y = LOAD(v_[i]);                                                         \
            o_[i * stride] = STORE(expr);                                                                              \
        }                                                                                                              \
    }
#define COMBINE_ROW(D, T, C, LOAD, STORE, name, expr) [SP_DTYPE_##D] = name##_##D,
#define EVERY(M, ...) SP_EACH_REAL(M, __VA_ARGS__) SP_EACH_BOOL(M, __VA_ARGS__) SP_EACH_COMPLEX(M, __VA_ARGS__)
#define ORDERED(M, ...) SP_EACH_REAL(M, __VA_ARGS__) SP_EACH_BOOL(M, __VA_ARGS__)
EVERY(COMBINE_RUN, add, x + y)
EVERY(COMBINE_RUN, sub, x - y)
EVERY(COMBINE_RUN, mul, x *y)
SP_EACH_FLOAT(COMBINE_RUN, div, x / y)
SP_EACH_COMPLEX(COMBINE_RUN, div, x / y)
SP_EACH_INT(COMBINE_RUN, div, y == 0 ? 0 : x / y)
SP_EACH_BOOL(COMBINE_RUN, div, y == 0 ? 0 : x)
/* A NaN in either operand stays. */
ORDERED(COMBINE_RUN, max, x >= y || x != x ? x : y)
ORDERED(COMBINE_RUN, min, x <= y || x != x ? x : y)

static const sp_combine_fn add_table[SP_DTYPE_COUNT] = {EVERY(COMBINE_ROW, add, )};
static const sp_combine_fn sub_table[SP_DTYPE_COUNT] = {EVERY(COMBINE_ROW, sub, )};
static const sp_combine_fn mul_table[SP_DTYPE_COUNT] = {EVERY(COMBINE_ROW, mul, )};
static const sp_combine_fn div_table[SP_DTYPE_COUNT] = {EVERY(COMBINE_ROW, div, )};
static const sp_combine_fn max_table[SP_DTYPE_COUNT] = {ORDERED(COMBINE_ROW, max, )};
static const sp_combine_fn min_table[SP_DTYPE_COUNT] = {ORDERED(COMBINE_ROW, min, )};

static const struct {
    const char *name;
    const sp_combine_fn *table;
} combinations[] = {{"add", add_table}, {"sub", sub_table}, {"mul", mul_table},
                    {"div", div_table}, {"max", max_table}, {"min", min_table}};

const sp_combine_fn *sp__combine_table(const char *name)
{
    for (size_t i = 0; name && i < sizeof combinations / sizeof *combinations; i++)
        if (strcmp(combinations[i].name, name) == 0) return combinations[i].table;
    return NULL;
}

static sp_status find_combination(const char *name, const sp_combine_fn **table)
{
    *table = sp__combine_table(name);
    SP_CHECK(*table || (name && strcmp(name, "none") == 0), SP_VALUE,
             "reduce is '%s', it must be none, add, sub, mul, div, max or min", name ? name : "None");
    return SP_OK;
}

/* --- index_combine ----------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(combine_attr_table, sp_index_combine_attrs, (INTS_OR_NONE, axes), (TEXT, reduce, "none"));

static sp_status combine_infer(const sp_call *c, sp_meta *out)
{
    const sp_index_combine_attrs *a = c->attrs;
    const sp_combine_fn *table;
    sp_index_plan p;
    SP_TRY(find_combination(a->reduce, &table));
    SP_TRY(sp__index_plan(c->in[0], c->n_in - 2, c->in + 2, a->axes, &p));
    return sp__infer_same(c, out);
}

static sp_status combine_reference(const sp_call *c)
{
    const sp_index_combine_attrs *a = c->attrs;
    const sp_combine_fn *table;
    SP_TRY(find_combination(a->reduce, &table));
    SP_TRY(sp_tensor_assign(c->out[0], c->in[0]));
    return sp__index_write(c->out[0], c->in[1], c->n_in - 2, c->in + 2, a->axes, table);
}

/* An operator over the same positions: lead inputs, then the index tensors. */
static sp_tensor *over(sp_builder *b, const sp_op *op, const void *attrs, int n_lead, sp_tensor *x, sp_tensor *value,
                       const sp_vjp *v)
{
    sp_tensor *in[2 + SP_RANK_MAX] = {x, value};
    for (int i = 2; i < v->n_in; i++) in[n_lead + i - 2] = v->in[i];
    return sp_builder_apply(b, op, attrs, n_lead + v->n_in - 2, in);
}

static sp_status combine_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_index_combine_attrs *a = v->attrs;
    const sp_index_attrs read = {a->axes};
    const sp_index_put_attrs sum = {a->axes, true}, put = {a->axes, false};
    sp_tensor *g = v->dout[0], *x = v->in[0], *value = v->in[1], *out = v->out[0], *dvalue = NULL;
    const char how = a->reduce[0] == 'm' ? (a->reduce[1] == 'u' ? '*' : 'm') : a->reduce[0];
    switch (how) {
    case 'a': /* add */
    case 's': /* sub */
        v->din[0] = g;
        dvalue = over(b, &sp_op_index, &read, 1, g, NULL, v);
        if (how == 's') dvalue = sp_neg(b, dvalue);
        break;
    case 'n': /* none: what was overwritten does not matter */
        v->din[0] = over(b, &sp_op_index_put, &put, 2, SP_APPLY1(b, sp_op_copy, g), sp__const(b, 0, g), v);
        dvalue = over(b, &sp_op_index, &read, 1, g, NULL, v);
        break;
    case '*':
    case 'd': /* factors: the result over the factor is what the others make */
        v->din[0] = over(b, &sp_op_index_combine, a, 2, g, value, v);
        dvalue = sp_div(b, over(b, &sp_op_index, &read, 1, sp_mul(b, g, out), NULL, v), value);
        if (how == 'd') dvalue = sp_neg(b, dvalue);
        break;
    default: { /* extrema: those equal to the result share the gradient */
        sp_dtype dtype = (sp_dtype)g->dtype;
        sp_tensor *x_hit = sp_cast(b, sp_equal(b, x, out), dtype);
        sp_tensor *v_hit = sp_cast(b, sp_equal(b, value, over(b, &sp_op_index, &read, 1, out, NULL, v)), dtype);
        sp_tensor *n = over(b, &sp_op_index_put, &sum, 2, SP_APPLY1(b, sp_op_copy, x_hit), v_hit, v);
        sp_tensor *share = sp_div(b, g, n);
        v->din[0] = sp_mul(b, share, x_hit);
        dvalue = sp_mul(b, over(b, &sp_op_index, &read, 1, share, NULL, v), v_hit);
    }
    }
    if (v->needs[1]) v->din[1] = sp__value_grad(b, dvalue, value);
    return SP_OK;
}

const sp_op sp_op_index_combine = {
    .batch = sp__batch_index_put,
    .name = "index_combine",
    .inputs = "x, value, indices...",
    SP_ATTRS(combine_attr_table, sp_index_combine_attrs),
    .dtypes = SP_DT_REAL_BOOL,
    .infer = combine_infer,
    .reference = combine_reference,
    .vjp = combine_vjp,
    .saves = SP_SAVE_ALL_IN | SP_SAVE_OUT(0),
    .doc = "A copy of x in which the elements index would give are combined with value: replaced, or the sum, "
           "difference, "
           "product, quotient or extremum of both, one after the other where positions repeat.",
    .samples = "[4,3] [2,3] [2]i<4 reduce=add; [4,3] [3] [2]i<4 reduce=sub; [4,3]>0 [1,3]>0 [1]i<4 reduce=mul; "
               "[4,3]>0 [1,3]>0 [1]i<4 reduce=div; [4,3]d [2]d [1]i<4 [2]i<3 reduce=max; [4,3] [1,3](3,4) [1]i<4 "
               "reduce=max; "
               "[4,3] [1,3](-4,-3) [1]i<4 reduce=min; [4,3] [1,3] [1]i<4",
};

/* --- elements along an axis -------------------------------------------------------------------------------------- */

sp_status sp__elements_check(const sp_tensor *x, const sp_tensor *index, int64_t axis_given, int *axis)
{
    char a[SP_SHAPE_TEXT], t[SP_SHAPE_TEXT], kind = sp_dtype_kind((sp_dtype)index->dtype);
    SP_CHECK(kind == 'i' || kind == 'u', SP_TYPE, "index has dtype %s, it must hold integers",
             sp_dtype_name((sp_dtype)index->dtype));
    SP_CHECK(x->rank == index->rank, SP_VALUE, "index has rank %d, it must have the rank of the tensor, %d",
             index->rank, x->rank);
    SP_TRY(sp__shape_axis(axis_given, x->rank, "axis", axis));
    for (int i = 0; i < x->rank; i++)
        SP_CHECK(i == *axis || index->dims[i] <= x->dims[i], SP_VALUE,
                 "index of shape %s does not fit a tensor of shape %s: dimension %d is larger",
                 sp__shape_text(index->rank, index->dims, t), sp__shape_text(x->rank, x->dims, a), i);
    return SP_OK;
}

sp_status sp__elements_offsets(const sp_tensor *x, const sp_tensor *index, int axis, int64_t *offsets)
{
    int64_t strides[SP_RANK_MAX], at[SP_RANK_MAX] = {0}, base = 0;
    sp__shape_strides(x->rank, x->dims, strides);
    char *ptr[2] = {(char *)offsets, index->data};
    const int64_t step[2] = {sizeof *offsets, (int64_t)sp_dtype_bytes((sp_dtype)index->dtype)};
    sp__cast_loop((sp_dtype)index->dtype, SP_DTYPE_I64)(index->count, ptr, step, NULL);
    const int64_t size = x->rank ? x->dims[axis] : 1, stride = x->rank ? strides[axis] : 0;
    for (int64_t i = 0; i < index->count; i++) {
        int64_t v = offsets[i];
        SP_CHECK(v >= -size && v < size, SP_RUNTIME, "index %lld is out of range for dimension %d of size %lld",
                 (long long)v, axis, (long long)size);
        offsets[i] = base + (v < 0 ? v + size : v) * stride;
        for (int k = index->rank - 1; k >= 0; k--) {
            if (k != axis) base += strides[k];
            if (++at[k] < index->dims[k]) break;
            if (k != axis) base -= index->dims[k] * strides[k];
            at[k] = 0;
        }
    }
    return SP_OK;
}

SP_ATTR_TABLE(elements_attr_table, sp_scatter_elements_attrs, (INT, axis, 0), (TEXT, reduce, "none"));

static sp_status elements_infer(const sp_call *c, sp_meta *out)
{
    const sp_scatter_elements_attrs *a = c->attrs;
    const sp_combine_fn *table;
    int axis;
    char t[SP_SHAPE_TEXT], s[SP_SHAPE_TEXT];
    SP_TRY(find_combination(a->reduce, &table));
    SP_TRY(sp__elements_check(c->in[0], c->in[1], a->axis, &axis));
    SP_CHECK(sp__tensor_same_shape(c->in[1], c->in[2]), SP_VALUE, "index has shape %s and src %s, they must be equal",
             sp__shape_text(c->in[1]->rank, c->in[1]->dims, t), sp__shape_text(c->in[2]->rank, c->in[2]->dims, s));
    SP_CHECK(c->in[0]->dtype == c->in[2]->dtype, SP_TYPE, "the tensor has dtype %s and src %s, they must be equal",
             sp_dtype_name((sp_dtype)c->in[0]->dtype), sp_dtype_name((sp_dtype)c->in[2]->dtype));
    return sp__infer_same(c, out);
}

static size_t elements_workspace(const sp_call *c) { return (size_t)c->in[1]->count * sizeof(int64_t) + 8; }

static sp_status elements_reference(const sp_call *c)
{
    const sp_scatter_elements_attrs *a = c->attrs;
    const sp_combine_fn *table;
    int axis;
    int64_t *offsets = c->work;
    SP_TRY(find_combination(a->reduce, &table));
    SP_TRY(sp__elements_check(c->in[0], c->in[1], a->axis, &axis));
    SP_TRY(sp__elements_offsets(c->in[0], c->in[1], axis, offsets));
    SP_TRY(sp_tensor_assign(c->out[0], c->in[0]));
    const int64_t size = (int64_t)sp_dtype_bytes((sp_dtype)c->in[0]->dtype);
    sp_combine_fn combine = table ? table[c->in[0]->dtype] : NULL;
    SP_CHECK(!table || combine, SP_TYPE, "a tensor of dtype %s cannot be combined by %s",
             sp_dtype_name((sp_dtype)c->in[0]->dtype), a->reduce);
    for (int64_t i = 0; i < c->in[1]->count; i++) {
        char *dst = c->out[0]->data + offsets[i] * size;
        const char *src = c->in[2]->data + i * size;
        if (combine) combine(1, dst, 1, src);
        else memcpy(dst, src, (size_t)size);
    }
    return SP_OK;
}

static sp_status elements_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_scatter_elements_attrs *a = v->attrs;
    const sp_gather_elements_attrs read = {a->axis};
    const bool replaces = strcmp(a->reduce, "none") == 0;
    SP_CHECK(replaces || strcmp(a->reduce, "add") == 0, SP_RUNTIME,
             "scatter_elements has a gradient for reduce none and add, not for %s", a->reduce);
    sp_tensor *g = v->dout[0];
    v->din[0] = g;
    if (v->needs[0] && replaces) {
        sp_tensor *zeros = sp__zeros_like(b, v->in[2]);
        v->din[0] = sp_builder_apply(b, &sp_op_scatter_elements, a, 3,
                                     (sp_tensor *const[]){g, v->in[1], sp_cast(b, zeros, (sp_dtype)g->dtype)});
    }
    sp_tensor *const pick[2] = {g, v->in[1]};
    if (v->needs[2]) v->din[2] = sp_builder_apply(b, &sp_op_gather_elements, &read, 2, pick);
    return SP_OK;
}

const sp_op sp_op_scatter_elements = {
    .batch = sp__batch_axis,
    .name = "scatter_elements",
    .shard = "same; axis whole",
    .inputs = "x, index, src",
    SP_ATTRS(elements_attr_table, sp_scatter_elements_attrs),
    .infer = elements_infer,
    .reference = elements_reference,
    .workspace = elements_workspace,
    .vjp = elements_vjp,
    .saves = SP_SAVE_IN(1),
    .mindir = "TensorScatterElements",
    .onnx = "ScatterElements",
    .doc = "A copy of x in which each element of src replaces, or is combined with, the element at its own position "
           "but for "
           "the axis, where index tells the position.",
    .samples = "[4,3] [2,3]i<4 [2,3] axis=0 reduce=add; [4,3] [4,2]i<3 [4,2] axis=-1 reduce=add; [4,3] [1,3]i<4 [1,3]",
};
