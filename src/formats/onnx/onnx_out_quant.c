/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_out_quant.c - quantised networks as ONNX: numbers rounded to integers and back, and products with a bias of int32 as Gemm, the form in
 * which readers join "dequantise, compute, quantise" to one operator of integers. */
#include <string.h>

#include "formats/onnx/onnx_out.h"
#include "ir/matmul_geometry.h"
#include "spore/ops_attrs.h"

static const sp_node *made_by(const sp_value *v, const sp_op *op)
{
    const sp_node *n = v->origin == SP_VALUE_NODE ? v->node : NULL;
    return n && n->kind == SP_NODE_OP && n->op == op ? n : NULL;
}

/* A scale or zero point as it meets x. */
static sp_onnx_id beside(sp_onnx_out *o, int i)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0), *m = sp__onnx_out_meta(o, i);
    int64_t axis = sp__onnx_out_int(o, "axis"), dims[SP_RANK_MAX] = {0};
    if (m->rank == 0 || (m->rank == 1 && m->dims[0] == 1)) return sp__onnx_out_reshape(o, o->in[i], 0, dims);
    for (int k = 0; k < x->rank; k++) dims[k] = k == (axis < 0 ? axis + x->rank : axis) ? m->dims[0] : 1;
    return sp__onnx_out_reshape(o, o->in[i], x->rank, dims);
}

static double block_of(const void *block, int64_t i) { return (double)(i / *(const int64_t *)block); }

/* The same with one for each block along the axis. */
static sp_onnx_id spread(sp_onnx_out *o, int i, int64_t block)
{
    const sp_meta *x = sp__onnx_out_meta(o, 0);
    const int64_t axis = sp__onnx_out_int(o, "axis"),
                  n = block > 0 ? sp__onnx_out_fixed(o, 0, (int)(axis < 0 ? axis + x->rank : axis)) : 0;
    if (block == 0) return beside(o, i);
    const sp_onnx_id in[2] = {o->in[i], sp__onnx_out_table(o, SP_DTYPE_I64, 1, &n, block_of, &block)};
    return sp__onnx_out_op(o, "Gather", 2, in, "axis=%lld", (long long)axis);
}

/* x of [low, high] with that scale and zero point, as whole numbers of float32. */
static sp_onnx_id rounded(sp_onnx_out *o, sp_onnx_id scale, sp_onnx_id zero, double low, double high)
{
    sp_onnx_id q = sp__onnx_out_add(o, SP_ONNX_OUT(o, "Round", NULL, sp__onnx_out_div(o, o->in[0], scale)), zero);
    q = SP_ONNX_OUT(o, "Max", NULL, q, sp__onnx_out_number(o, low));
    return SP_ONNX_OUT(o, "Min", NULL, q, sp__onnx_out_number(o, high));
}

/* Integers of 16 and 4 bits, and blocks, are in ONNX since opset 21; before, they are written out. */
static void write_quantize(sp_onnx_out *o)
{
    const sp_dtype dtype = sp__onnx_out_meta(o, 2)->dtype;
    if (sp_dtype_bytes(dtype) > 1 && o->opset < 21) {
        const double low = sp_dtype_kind(dtype) == 'i' ? -32768 : 0;
        o->out[0] = sp__onnx_out_cast(
            o, rounded(o, beside(o, 1), sp__onnx_out_cast(o, beside(o, 2), SP_DTYPE_F32), low, low + 65535), dtype);
    } else if (sp__onnx_out_meta(o, 1)->rank == 0) o->out[0] = sp__onnx_out_op(o, "QuantizeLinear", 3, o->in, NULL);
    else
        o->out[0] = sp__onnx_out_op(o, "QuantizeLinear", 3, o->in, "axis=%lld", (long long)sp__onnx_out_int(o, "axis"));
}

/* A constant of int8 in [-8, 7] as INT4: two elements a byte, the first in the low half. */
static sp_onnx_id packed(sp_onnx_out *o, sp_onnx_id v)
{
    const sp_tensor *t = o->values[v].constant;
    const int8_t *q = (const int8_t *)t->data;
    const int64_t bytes = (t->count + 1) / 2;
    sp_meta *meta = sp__arena_alloc(&o->arena, sizeof *meta);
    sp_tensor *halves;
    sp_status status = meta ? sp_tensor_create_zeros(SP_DTYPE_U8, 1, &bytes, &halves) : SP_NOMEM;
    if (status != SP_OK) return sp__onnx_out_fail(o, status), 0;
    sp__meta_of(t, meta);
    for (int64_t i = 0; i < t->count; i++) ((uint8_t *)halves->data)[i / 2] |= (uint8_t)((q[i] & 15) << (i % 2 * 4));
    sp_onnx_id id = sp__onnx_out_take_tensor(o, halves, NULL);
    if (id) o->values[id].packed = meta;
    return id;
}

static void write_dequantize(sp_onnx_out *o)
{
    const long long axis = (long long)sp__onnx_out_int(o, "axis"), block = (long long)sp__onnx_out_int(o, "block"),
                    bits = (long long)sp__onnx_out_int(o, "bits");
    const int n = o->in[2] ? 3 : 2;
    const sp_dtype dtype = sp__onnx_out_meta(o, 0)->dtype;
    if (o->opset < 21 && (block > 0 || bits > 0 || sp_dtype_bytes(dtype) == 2)) {
        sp_onnx_id x = o->in[0];
        if (o->in[2])
            x = sp__onnx_out_sub(o, sp__onnx_out_cast(o, x, SP_DTYPE_I32),
                                 sp__onnx_out_cast(o, spread(o, 2, block), SP_DTYPE_I32));
        o->out[0] = sp__onnx_out_mul(o, sp__onnx_out_cast(o, x, SP_DTYPE_F32), spread(o, 1, block));
        return;
    }
    if (bits == 4 && o->in[0] && !o->values[o->in[0]].constant)
        sp__onnx_out_fail(o, sp__fail(SP_DECLINED, "dequantize_linear: only constants are written with 4 bits"));
    if (!sp__onnx_out_ok(o)) return;
    for (int i = 0; i < 3 && bits == 4; i += 2)
        if (o->in[i]) o->in[i] = packed(o, o->in[i]);
    if (block > 0)
        o->out[0] = sp__onnx_out_op(o, "DequantizeLinear", n, o->in, "axis=%lld, block_size=%lld", axis, block);
    else if (sp__onnx_out_meta(o, 1)->rank > 0)
        o->out[0] = sp__onnx_out_op(o, "DequantizeLinear", n, o->in, "axis=%lld", axis);
    else o->out[0] = sp__onnx_out_op(o, "DequantizeLinear", n, o->in, NULL);
}

static void write_dynamic(sp_onnx_out *o)
{
    sp__onnx_out_op_many(o, "DynamicQuantizeLinear", 1, o->in, 3, o->out, NULL);
}

/* A matrix product plus a bias that was quantised to int32. */
static void write_add(sp_onnx_out *o)
{
    const sp_node *n = o->node, *product = made_by(n->in[0], &sp_op_matmul),
                  *bias = made_by(n->in[1], &sp_op_dequantize_linear);
    const bool gemm = product && bias && bias->in[0]->meta.dtype == SP_DTYPE_I32 && product->in[0]->meta.rank == 2 &&
                      product->in[1]->meta.rank == 2;
    if (gemm) {
        const sp_matmul_attrs *a = product->attrs ? product->attrs : product->op->defaults;
        const sp_onnx_id in[3] = {sp__onnx_out_find(o, product->in[0]), sp__onnx_out_find(o, product->in[1]), o->in[1]};
        o->out[0] = sp__onnx_out_op(o, "Gemm", 3, in, "transA=%d, transB=%d", a->transpose_a, a->transpose_b);
    } else o->out[0] = sp__onnx_out_add(o, o->in[0], o->in[1]);
}

static void write_fake(sp_onnx_out *o)
{
    const sp_onnx_id scale = beside(o, 1), zero = beside(o, 2);
    o->out[0] = sp__onnx_out_mul(
        o,
        sp__onnx_out_sub(
            o, rounded(o, scale, zero, (double)sp__onnx_out_int(o, "low"), (double)sp__onnx_out_int(o, "high")), zero),
        scale);
}

const sp_onnx_out_rule sp__onnx_out_quant[] = {
    SP_ONNX_OUT_CODE("quantize_linear", write_quantize),
    SP_ONNX_OUT_CODE("dequantize_linear", write_dequantize),
    SP_ONNX_OUT_CODE("dynamic_quantize_linear", write_dynamic),
    SP_ONNX_OUT_CODE("add", write_add),
    SP_ONNX_OUT_CODE("fake_quantize", write_fake),
    {.op = NULL},
};
