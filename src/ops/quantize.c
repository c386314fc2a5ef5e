/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.c - numbers as small integers: x = (q - zero) * scale, q = round(x / scale) + zero, halves to even, cut to what the integer holds.
 *
 * Scale and zero point are one number, or one for each element of an axis; of dequantize_linear also one for each block of an axis (then the
 * scale has the rank of x). The arithmetic is that of ONNX's QuantizeLinear and DequantizeLinear, operation by operation, in float32.
 * fake_quantize does both and lets gradients pass (straight-through estimator): training sees the rounding. */
#include <math.h>

#include "ir/refuse.h"
#include "ops/kernels.h"

SP_ATTR_TABLE(quantize_attr_table, sp_quantize_linear_attrs, (INT, axis, 1));

SP_ATTR_TABLE(dequantize_attr_table, sp_dequantize_linear_attrs, (INT, axis, 1), (INT, block, 0), (INT, bits, 0));

SP_ATTR_TABLE(fake_attr_table, sp_fake_quantize_attrs, (INT, axis, 1), (INT, low, -128), (INT, high, 127));

/* --- where the scale of an element lies -------------------------------------------------------------------------- */

/* x as outer x axis x inner; block: elements of the axis that share a scale, 0 for one scale in all. */
typedef struct {
    int64_t outer, n, inner, block;
} layout;

static int whole_axis(int64_t axis, int rank) { return (int)(axis < 0 ? axis + rank : axis); }

static sp_status check_scale(const char *op, const sp_tensor *x, const sp_tensor *scale, int64_t axis, int64_t block)
{
    char text[SP_SHAPE_TEXT], text_x[SP_SHAPE_TEXT];
    const int a = whole_axis(axis, x->rank);
    SP_CHECK(scale->dtype == SP_DTYPE_F32, SP_TYPE, "%s: the scale is %s, it must be float32", op,
             sp_dtype_name((sp_dtype)scale->dtype));
    SP_CHECK(block >= 0, SP_VALUE, "%s: block is %lld, it must be a number of elements, or 0", op, (long long)block);
    if (block == 0 && scale->count == 1 && scale->rank <= 1) return SP_OK;
    SP_CHECK(a >= 0 && a < x->rank, SP_VALUE, "%s: axis %lld is out of range for rank %d", op, (long long)axis,
             x->rank);
    bool fits = block == 0 ? scale->rank == 1 && scale->dims[0] == x->dims[a] : scale->rank == x->rank;
    for (int k = 0; fits && block > 0 && k < x->rank; k++)
        fits = scale->dims[k] == (k == a ? (x->dims[k] + block - 1) / block : x->dims[k]);
    sp__shape_text(scale->rank, scale->dims, text);
    sp__shape_text(x->rank, x->dims, text_x);
    SP_CHECK(
        fits, SP_VALUE,
        "%s: the scale has shape %s, it must be one number, or one for each %s along axis %d of x, whose shape is %s",
        op, text, block ? "block" : "element", a, text_x);
    return SP_OK;
}

static sp_status check_zero(const char *op, const sp_tensor *zero, const sp_tensor *scale)
{
    char text[SP_SHAPE_TEXT], want[SP_SHAPE_TEXT];
    if (!zero || (zero->count == 1 && scale->count == 1 && zero->rank <= 1) ||
        sp__shape_equal(zero->rank, zero->dims, scale->rank, scale->dims))
        return SP_OK;
    return sp__fail(SP_VALUE, "%s: the zero point has shape %s, it must be that of the scale, %s", op,
                    sp__shape_text(zero->rank, zero->dims, text), sp__shape_text(scale->rank, scale->dims, want));
}

static layout layout_of(const sp_tensor *x, const sp_tensor *scale, int64_t axis, int64_t block)
{
    layout l = {.outer = 1, .n = 1, .inner = x->count, .block = 0};
    if (block == 0 && scale->count == 1 && scale->rank <= 1) return l;
    const int a = whole_axis(axis, x->rank);
    l.inner = 1;
    for (int k = 0; k < a; k++) l.outer *= x->dims[k];
    for (int k = a + 1; k < x->rank; k++) l.inner *= x->dims[k];
    l.n = x->dims[a];
    l.block = block ? block : 1;
    return l;
}

/* The scale of element i; blocked: scales lie in the shape of x with the axis shortened. */
static int64_t scale_at(const layout *l, bool blocked, int64_t i)
{
    if (l->block == 0) return 0;
    const int64_t k = i / l->inner % l->n;
    if (!blocked) return k;
    return (i / (l->n * l->inner) * ((l->n + l->block - 1) / l->block) + k / l->block) * l->inner + i % l->inner;
}

static int32_t whole_at(const sp_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case SP_DTYPE_I8: return ((const int8_t *)t->data)[i];
    case SP_DTYPE_U8: return ((const uint8_t *)t->data)[i];
    case SP_DTYPE_I16: return ((const int16_t *)(const void *)t->data)[i];
    case SP_DTYPE_U16: return ((const uint16_t *)(const void *)t->data)[i];
    default: return ((const int32_t *)(const void *)t->data)[i];
    }
}

typedef struct {
    const sp_call *c;
    layout l;
    bool blocked;
    float low, high;
} scale_job;

enum { GRAIN = 4096, SMALL_INTS = SP_DT(I8) | SP_DT(U8) | SP_DT(I16) | SP_DT(U16) };

/* --- quantize_linear --------------------------------------------------------------------------------------------- */

/* Rounded and cut to [low, high]; NaN becomes the lowest. */
static float rounded(float x, float scale, float zero, float low, float high)
{
    float q = rintf(x / scale) + zero;
    q = q > low ? q : low;
    return q < high ? q : high;
}

static void store_whole(sp_tensor *t, int64_t i, float q)
{
    const int32_t v = (int32_t)q;
    if (sp_dtype_bytes((sp_dtype)t->dtype) == 1) ((uint8_t *)t->data)[i] = (uint8_t)v;
    else ((uint16_t *)(void *)t->data)[i] = (uint16_t)v;
}

static void quantize_run(void *context, int64_t begin, int64_t end)
{
    const scale_job *j = context;
    const sp_tensor *scale = j->c->in[1], *zero = j->c->in[2];
    const float *x = (const float *)(const void *)j->c->in[0]->data, *s = (const float *)(const void *)scale->data;
    for (int64_t i = begin; i < end; i++) {
        const int64_t k = scale_at(&j->l, false, i);
        store_whole(j->c->out[0], i, rounded(x[i], s[k], (float)whole_at(zero, k), j->low, j->high));
    }
}

static sp_status quantize_infer(const sp_call *c, sp_meta *out)
{
    const sp_quantize_linear_attrs *a = c->attrs;
    SP_CHECK((unsigned)SMALL_INTS >> c->in[2]->dtype & 1u, SP_TYPE,
             "quantize_linear: the zero point is %s, it must be int8, uint8, int16 or uint16",
             sp_dtype_name((sp_dtype)c->in[2]->dtype));
    SP_TRY(check_scale("quantize_linear", c->in[0], c->in[1], a->axis, 0));
    SP_TRY(check_zero("quantize_linear", c->in[2], c->in[1]));
    SP_TRY(sp__infer_same(c, out));
    out->dtype = (sp_dtype)c->in[2]->dtype;
    return SP_OK;
}

static sp_status quantize_reference(const sp_call *c)
{
    const sp_quantize_linear_attrs *a = c->attrs;
    scale_job j = {.c = c, .l = layout_of(c->in[0], c->in[1], a->axis, 0)};
    const sp_dtype dtype = (sp_dtype)c->in[2]->dtype;
    const int bits = 8 * (int)sp_dtype_bytes(dtype);
    j.low = sp_dtype_kind(dtype) == 'i' ? -(float)(1 << (bits - 1)) : 0;
    j.high = j.low + (float)((1 << bits) - 1);
    return sp__parallel_for(c->in[0]->count, GRAIN, quantize_run, &j);
}

const sp_op sp_op_quantize_linear = {
    .name = "quantize_linear",
    .inputs = "x, scale, zero",
    SP_ATTRS(quantize_attr_table, sp_quantize_linear_attrs),
    .promote = SP_PROMOTE_NONE,
    .dtypes = SP_DT(F32),
    .infer = quantize_infer,
    .reference = quantize_reference,
    .no_vjp = "integer result",
    .doc =
        "x / scale rounded to the nearest integer (halves to even), plus the zero point, cut to what its dtype holds. Scale and zero point: one number, or one for each "
        "element along axis.",
    .samples = "[2,3,4] []f []u; [2,3,4] [3]f [3]u; [2,3] [1]f [1]u axis=0; [2,3] [2]f [2]u axis=-2",
};

/* --- dequantize_linear ------------------------------------------------------------------------------------------- */

static void dequantize_run(void *context, int64_t begin, int64_t end)
{
    const scale_job *j = context;
    const sp_tensor *zero = j->c->in[2];
    const float *s = (const float *)(const void *)j->c->in[1]->data;
    float *out = (float *)(void *)j->c->out[0]->data;
    for (int64_t i = begin; i < end; i++) {
        const int64_t k = scale_at(&j->l, j->blocked, i);
        const int32_t q = whole_at(j->c->in[0], i), z = zero ? whole_at(zero, k) : 0;
        out[i] = (float)(int32_t)((uint32_t)q - (uint32_t)z) * s[k];
    }
}

static sp_status dequantize_infer(const sp_call *c, sp_meta *out)
{
    const sp_dequantize_linear_attrs *a = c->attrs;
    SP_CHECK(!c->in[2] || c->in[2]->dtype == c->in[0]->dtype, SP_TYPE,
             "dequantize_linear: the zero point is %s, it must be %s as x is", sp_dtype_name((sp_dtype)c->in[2]->dtype),
             sp_dtype_name((sp_dtype)c->in[0]->dtype));
    SP_CHECK(a->bits == 0 || a->bits == 4, SP_VALUE,
             "dequantize_linear: bits is %lld, it must be 0 (those of the dtype) or 4", (long long)a->bits);
    SP_TRY(check_scale("dequantize_linear", c->in[0], c->in[1], a->axis, a->block));
    SP_TRY(check_zero("dequantize_linear", c->in[2], c->in[1]));
    SP_TRY(sp__infer_same(c, out));
    out->dtype = SP_DTYPE_F32;
    return SP_OK;
}

static sp_status dequantize_reference(const sp_call *c)
{
    const sp_dequantize_linear_attrs *a = c->attrs;
    scale_job j = {.c = c, .l = layout_of(c->in[0], c->in[1], a->axis, a->block), .blocked = a->block > 0};
    return sp__parallel_for(c->in[0]->count, GRAIN, dequantize_run, &j);
}

const sp_op sp_op_dequantize_linear = {
    .name = "dequantize_linear",
    .inputs = "x, scale, zero?",
    SP_ATTRS(dequantize_attr_table, sp_dequantize_linear_attrs),
    .promote = SP_PROMOTE_NONE,
    .dtypes = SMALL_INTS | SP_DT(I32),
    .infer = dequantize_infer,
    .reference = dequantize_reference,
    .no_vjp = "weights that are integers are not trained: fake_quantize is for that",
    .vjp = sp__vjp_refuse,
    .doc =
        "(x - zero) * scale as float32. Scale and zero point: one number, one for each element along axis, or one for each block of so many of them. bits: 4 when "
        "files shall hold elements of 4 bits, which lie in [-8, 7].",
    .samples =
        "[2,3,4] []f _; [2,3,4] [3]f [3]; [2,3] [2]f _ axis=0; [4,6] [4,2]f [4,2] axis=1, block=3; [5,2] [2,2]f _ axis=0, block=4",
};

/* --- dynamic_quantize_linear ------------------------------------------------------------------------------------- */

static sp_status dynamic_infer(const sp_call *c, sp_meta *out)
{
    SP_TRY(sp__infer_same(c, out));
    out[0].dtype = SP_DTYPE_U8;
    out[1] = (sp_meta){.dtype = SP_DTYPE_F32};
    out[2] = (sp_meta){.dtype = SP_DTYPE_U8};
    return SP_OK;
}

typedef struct {
    const float *x;
    uint8_t *q;
    float scale, zero;
} dynamic_job;

static void dynamic_run(void *context, int64_t begin, int64_t end)
{
    const dynamic_job *j = context;
    for (int64_t i = begin; i < end; i++) j->q[i] = (uint8_t)rounded(j->x[i], j->scale, j->zero, 0, 255);
}

static sp_status dynamic_reference(const sp_call *c)
{
    const sp_tensor *x = c->in[0];
    dynamic_job j = {.x = (const float *)(const void *)x->data, .q = (uint8_t *)c->out[0]->data};
    float low = 0, high = 0;
    for (int64_t i = 0; i < x->count; i++) {
        low = j.x[i] < low ? j.x[i] : low;
        high = j.x[i] > high ? j.x[i] : high;
    }
    j.scale = (high - low) / 255;
    if (j.scale == 0) j.scale = 1;
    j.zero = rintf(-low / j.scale);
    j.zero = j.zero > 0 ? j.zero : 0;
    j.zero = j.zero < 255 ? j.zero : 255;
    *(float *)(void *)c->out[1]->data = j.scale;
    *(uint8_t *)c->out[2]->data = (uint8_t)j.zero;
    return sp__parallel_for(x->count, GRAIN, dynamic_run, &j);
}

const sp_op sp_op_dynamic_quantize_linear = {
    .name = "dynamic_quantize_linear",
    .inputs = "x",
    .n_out = 3,
    .dtypes = SP_DT(F32),
    .infer = dynamic_infer,
    .reference = dynamic_reference,
    .no_vjp = "integers, and a scale that follows from the extrema: fake_quantize has gradients",
    .vjp = sp__vjp_refuse,
    .onnx = "DynamicQuantizeLinear",
    .doc =
        "x as uint8, with the scale and zero point that its own range asks for: the integers, the scale, the zero point.",
    .samples = "[2,3]; []; [4,2,3]>0",
};

/* --- fake_quantize ----------------------------------------------------------------------------------------------- */

static void fake_run(void *context, int64_t begin, int64_t end)
{
    const scale_job *j = context;
    const float *x = (const float *)(const void *)j->c->in[0]->data,
                *s = (const float *)(const void *)j->c->in[1]->data,
                *z = (const float *)(const void *)j->c->in[2]->data;
    float *out = (float *)(void *)j->c->out[0]->data;
    for (int64_t i = begin; i < end; i++) {
        const int64_t k = scale_at(&j->l, false, i);
        out[i] = (rounded(x[i], s[k], z[k], j->low, j->high) - z[k]) * s[k];
    }
}

static sp_status fake_infer(const sp_call *c, sp_meta *out)
{
    const sp_fake_quantize_attrs *a = c->attrs;
    SP_CHECK(a->low < a->high && a->low >= -32768 && a->high <= 65535, SP_VALUE,
             "fake_quantize: integers from %lld to %lld: they must be two ends of a range in [-32768, 65535]",
             (long long)a->low, (long long)a->high);
    SP_CHECK(c->in[2]->dtype == SP_DTYPE_F32, SP_TYPE, "fake_quantize: the zero point is %s, it must be float32",
             sp_dtype_name((sp_dtype)c->in[2]->dtype));
    SP_TRY(check_scale("fake_quantize", c->in[0], c->in[1], a->axis, 0));
    SP_TRY(check_zero("fake_quantize", c->in[2], c->in[1]));
    return sp__infer_same(c, out);
}

static sp_status fake_reference(const sp_call *c)
{
    const sp_fake_quantize_attrs *a = c->attrs;
    scale_job j = {
        .c = c, .l = layout_of(c->in[0], c->in[1], a->axis, 0), .low = (float)a->low, .high = (float)a->high};
    return sp__parallel_for(c->in[0]->count, GRAIN, fake_run, &j);
}

/* A scale or zero point as it meets x. */
static sp_tensor *beside(sp_builder *b, sp_tensor *t, const sp_tensor *x, int64_t axis)
{
    int64_t dims[SP_RANK_MAX];
    if (sp_tensor_count(t) == 1) return sp_reshape(b, t, 0, NULL);
    for (int k = 0; k < x->rank; k++) dims[k] = k == whole_axis(axis, x->rank) ? -1 : 1;
    return sp_reshape(b, t, x->rank, dims);
}

/* Rounding counts as the identity. Beyond the range the result is the end of it, which moves with scale and zero point. */
static sp_status fake_vjp(sp_builder *b, const sp_vjp *v)
{
    const sp_fake_quantize_attrs *a = v->attrs;
    sp_tensor *x = v->in[0], *g = v->dout[0], *s = beside(b, v->in[1], x, a->axis),
              *z = beside(b, v->in[2], x, a->axis);
    sp_tensor *ratio = sp_div(b, x, s), *q = sp_add(b, sp_round(b, ratio), z);
    SP_TRY(sp__builder_status(b));
    sp_tensor *low = sp__const(b, (double)a->low, q), *high = sp__const(b, (double)a->high, q),
              *none = sp__const(b, 0, q);
    sp_tensor *cut = sp_minimum(b, sp_maximum(b, q, low), high), *inside = sp_equal(b, q, cut);
    if (v->needs[0]) v->din[0] = sp_select(b, inside, g, none);
    if (v->needs[1]) {
        sp_tensor *ds = sp_sub(b, sp_sub(b, cut, z), sp_select(b, inside, ratio, none));
        v->din[1] = sp_reshape(b, sp__unbroadcast(b, sp_mul(b, g, ds), s), v->in[1]->rank, v->in[1]->dims);
    }
    if (v->needs[2]) {
        sp_tensor *dz = sp_select(b, inside, none, sp_neg(b, sp_mul(b, g, s)));
        v->din[2] = sp_reshape(b, sp__unbroadcast(b, dz, z), v->in[2]->rank, v->in[2]->dims);
    }
    return sp__builder_status(b);
}

const sp_op sp_op_fake_quantize = {
    .name = "fake_quantize",
    .inputs = "x, scale, zero",
    SP_ATTRS(fake_attr_table, sp_fake_quantize_attrs),
    .promote = SP_PROMOTE_NONE,
    .dtypes = SP_DT(F32),
    .infer = fake_infer,
    .reference = fake_reference,
    .vjp = fake_vjp,
    .saves = SP_SAVE_IN(0) | SP_SAVE_IN(1) | SP_SAVE_IN(2),
    .doc =
        "x rounded to what integers in [low, high] with that scale and zero point can hold, as float32. Gradients pass where the range holds x (straight-through estimator).",
    .samples = "[2,3,4] []f []f; [2,3] [3]f [3]f; [3,2] [3]f [3]f axis=0, low=-7, high=7",
};
