/* SPDX-License-Identifier: Apache-2.0 */
/* combine.c - small compositions of arithmetic and products: scaled sums, interpolation, bounds, sums of many, and the
 * matrix products with an addend. */
#include "ops/kernels.h"

SP_ATTR_TABLE(alpha_attr_table, sp_scaled_attrs, (NUMBER, alpha, 1));
SP_ATTR_TABLE(affine_attr_table, sp_affine_attrs, (NUMBER, beta, 1), (NUMBER, alpha, 1));

/* x times a number that keeps its kind: an integer tensor stays one under an integer factor. */
static sp_tensor *scaled(sp_builder *b, sp_tensor *x, sp_number n)
{
    if (n.kind != 'n' && n.f == 1 && n.kind != 'f') return x;
    if (n.f == 1 && x && sp_dtype_kind((sp_dtype)x->dtype) == 'f') return x;
    sp_tensor *t;
    sp_status status =
        n.kind == 'f' ? sp_tensor_create_f64(SP_DTYPE_F32, n.f, &t) : sp_tensor_create_i64(SP_DTYPE_I64, n.i, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    if (n.kind == 'f' && x && x->dtype == SP_DTYPE_F64) { /* the factor in full precision */
        sp_tensor_release(t);
        return sp__mul_number(b, x, n.f);
    }
    t->flags |= SP_TENSOR_WEAK;
    return sp_mul(b, x, sp_builder_take_tensor(b, t));
}

/* --- scaled sums ------------------------------------------------------------------------------------------------- */

static sp_status add_scaled_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_add(b, c->in[0], scaled(b, c->in[1], ((const sp_scaled_attrs *)c->attrs)->alpha));
    return SP_OK;
}
static sp_status sub_scaled_compose(sp_builder *b, const sp_call *c)
{
    sp_tensor *y = scaled(b, c->in[1], ((const sp_scaled_attrs *)c->attrs)->alpha);
    if (y && y->dtype == SP_DTYPE_BOOL) y = sp_cast(b, y, SP_DTYPE_I64); /* a truth value less another is a number */
    c->out[0] = sp_sub(b, c->in[0], y);
    return SP_OK;
}
const sp_op sp_op_add_scaled = {
    .name = "add_scaled",
    .inputs = "x, y",
    SP_ATTRS(alpha_attr_table, sp_scaled_attrs),
    .compose = add_scaled_compose,
    .python = "mint.add(input, other, *, alpha=1); Tensor.add(other, *, alpha=1)",
    .doc = "x plus alpha times y.",
    .samples = "[2,3] [2,3]; [2,3] [3] alpha=2; [] [4] alpha=0.5",
};
const sp_op sp_op_sub_scaled = {
    .name = "sub_scaled",
    .inputs = "x, y",
    SP_ATTRS(alpha_attr_table, sp_scaled_attrs),
    .compose = sub_scaled_compose,
    .python = "ops.subtract(input, other, *, alpha=1); mint.sub(input, other, *, alpha=1); "
              "Tensor.sub(other, *, alpha=1); "
              "Tensor.subtract(other, *, alpha=1)",
    .doc = "x minus alpha times y; truth values are subtracted as numbers.",
    .samples = "[2,3] [2,3]; [2,3] [3] alpha=2; [] [4] alpha=0.5",
};

static sp_status lerp_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_add(b, c->in[0], sp_mul(b, c->in[2], sp_sub(b, c->in[1], c->in[0])));
    return SP_OK;
}
const sp_op sp_op_lerp = {
    .name = "lerp",
    .inputs = "x, end, weight",
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS,
    .compose = lerp_compose,
    .infer = sp__infer_broadcast,
    .mindir = "Lerp",
    .python = "ops.lerp(input, end, weight); ops.Lerp()(start, end, weight); Tensor.lerp(end, weight); "
              "mint.lerp(input, end, weight)",
    .doc = "x plus weight times (end - x).",
    .samples = "[2,3] [2,3] [2,3]; [2,3] [3] []",
};

static sp_status addcmul_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_add(b, c->in[0], sp_mul(b, c->in[3], sp_mul(b, c->in[1], c->in[2])));
    return SP_OK;
}
static sp_status addcdiv_compose(sp_builder *b, const sp_call *c)
{
    c->out[0] = sp_add(b, c->in[0], sp_mul(b, c->in[3], sp_div(b, c->in[1], c->in[2])));
    return SP_OK;
}
const sp_op sp_op_addcmul = {
    .name = "addcmul",
    .inputs = "x, a, b, value",
    .promote = SP_PROMOTE_ALL,
    .compose = addcmul_compose,
    .infer = sp__infer_broadcast,
    .mindir = "Addcmul",
    .python = "ops.addcmul(input, tensor1, tensor2, value=1); ops.Addcmul()(input_data, x1, x2, value); "
              "Tensor.addcmul(tensor1, tensor2, value=1); mint.addcmul(input, tensor1, tensor2, *, value=1)",
    .doc = "x plus value times a times b.",
    .samples = "[2,3] [2,3] [2,3] []; [2,3] [3] [2,1] []",
};
const sp_op sp_op_addcdiv = {
    .name = "addcdiv",
    .inputs = "x, a, b, value",
    .promote = SP_PROMOTE_FLOAT,
    .dtypes = SP_DT_FLOATS | SP_DT_COMPLEX,
    .compose = addcdiv_compose,
    .infer = sp__infer_broadcast,
    .mindir = "Addcdiv",
    .python = "ops.addcdiv(input, tensor1, tensor2, value=1); ops.Addcdiv()(input_data, x1, x2, value); "
              "Tensor.addcdiv(tensor1, tensor2, value=1); mint.addcdiv(input, tensor1, tensor2, *, value=1)",
    .doc = "x plus value times a over b.",
    .samples = "[2,3] [2,3] [2,3]>0 []; [2,3] [3] [2,1]>0 []",
};

/* --- sums of many ------------------------------------------------------------------------------------------------- */

static sp_status addn_compose(sp_builder *b, const sp_call *c)
{
    SP_CHECK(c->n_in > 0, SP_VALUE, "there must be at least one tensor to add");
    sp_tensor *sum = c->in[0];
    for (int i = 1; i < c->n_in; i++) {
        char first[SP_SHAPE_TEXT], other[SP_SHAPE_TEXT];
        SP_CHECK(sp__tensor_same_shape(c->in[0], c->in[i]), SP_VALUE,
                 "x[%d] has shape %s, but x[0] has %s; "
                 "all must be the same",
                 i, sp__shape_text(c->in[i]->rank, c->in[i]->dims, other),
                 sp__shape_text(c->in[0]->rank, c->in[0]->dims, first));
        sum = sp_add(b, sum, c->in[i]);
    }
    c->out[0] = c->n_in == 1 ? sp_identity(b, sum) : sum;
    return SP_OK;
}
const sp_op sp_op_addn = {
    .name = "addn",
    .inputs = "xs...",
    .promote = SP_PROMOTE_ALL,
    .compose = addn_compose,
    .mindir = "AddN",
    .onnx = "Sum",
    .python = "ops.addn(x); ops.AddN()(x); ops.accumulate_n(x); ops.AccumulateNV2()(x)",
    .doc = "The sum of tensors of one shape.",
    .samples = "[2,3] [2,3] [2,3]; [4]; [] []",
};

/* --- bounds ------------------------------------------------------------------------------------------------------ */

/* The upper bound wins where the bounds cross. */
static sp_status clamp_compose(sp_builder *b, const sp_call *c)
{
    SP_CHECK(c->in[1] || c->in[2], SP_VALUE, "at least one of min and max must be given");
    sp_tensor *y = c->in[0];
    if (c->in[1]) y = sp_maximum(b, y, c->in[1]);
    if (c->in[2]) y = sp_minimum(b, y, c->in[2]);
    c->out[0] = y;
    return SP_OK;
}
const sp_op sp_op_clamp = {
    .name = "clamp",
    .inputs = "x, min?, max?",
    .promote = SP_PROMOTE_ALL,
    .dtypes = SP_DT_REAL_BOOL,
    .compose = clamp_compose,
    .infer = sp__infer_broadcast,
    .onnx = "Clip",
    .python = "Tensor.clamp(min=None, max=None); Tensor.clip(min=None, max=None); "
              "mint.clamp(input, min=None, max=None)",
    .doc = "Each element kept between min and max.",
    .samples = "[2,3] [](-1.1,-0.9) [](0.9,1.1); "
               "[2,3] [2,3](-2.5,-2.1) [3](2.1,2.5)",
};

/* --- products with an addend ---------------------------------------------------------------------------------------- */

static sp_status ranks(const sp_call *c, int second, int third)
{
    char text[SP_SHAPE_TEXT];
    for (int i = 1; i < 3; i++) {
        const sp_tensor *t = c->in[i];
        const int wanted = i == 1 ? second : third;
        SP_CHECK(t->rank == wanted, SP_VALUE, "%s must have %d dimensions, but its shape is %s",
                 sp__op_inputs(c->op)->names[i], wanted, sp__shape_text(t->rank, t->dims, text));
    }
    return SP_OK;
}
static sp_status affine(sp_builder *b, const sp_call *c, sp_tensor *product)
{
    const sp_affine_attrs *a = c->attrs;
    product = scaled(b, product, a->alpha);
    /* beta = 0 ignores the addend altogether, NaN included; its shape still counts. */
    const bool ignored = a->beta.f == 0 && a->beta.kind != 'n';
    sp_tensor *addend = ignored ? sp__zeros_like(b, c->in[0]) : scaled(b, c->in[0], a->beta);
    c->out[0] = sp_add(b, addend, product);
    return SP_OK;
}
static sp_status addmm_compose(sp_builder *b, const sp_call *c)
{
    SP_TRY(ranks(c, 2, 2));
    return affine(b, c, sp_matmul(b, c->in[1], c->in[2], false, false));
}
static sp_status addmv_compose(sp_builder *b, const sp_call *c)
{
    SP_TRY(ranks(c, 2, 1));
    return affine(b, c, sp_matmul(b, c->in[1], c->in[2], false, false));
}
static sp_status baddbmm_compose(sp_builder *b, const sp_call *c)
{
    const int rank = c->in[1]->rank == 2 ? 2 : 3; /* two matrices are taken, too, as MindSpore takes them */
    SP_TRY(ranks(c, rank, rank));
    return affine(b, c, sp_matmul(b, c->in[1], c->in[2], false, false));
}
static sp_status addbmm_compose(sp_builder *b, const sp_call *c)
{
    SP_TRY(ranks(c, 3, 3));
    return affine(b, c,
                  sp_reduce_sum(b, sp_matmul(b, c->in[1], c->in[2], false, false), 1, (const int64_t[]){0}, false));
}
static sp_tensor *outer_product(sp_builder *b, sp_tensor *x, sp_tensor *y)
{
    return sp_mul(b, sp_reshape(b, x, 2, (const int64_t[]){x->count, 1}),
                  sp_reshape(b, y, 2, (const int64_t[]){1, y->count}));
}
static sp_status addr_compose(sp_builder *b, const sp_call *c)
{
    SP_TRY(ranks(c, 1, 1));
    return affine(b, c, outer_product(b, c->in[1], c->in[2]));
}
#define AFFINE(name_, inputs_, python_, doc_, samples_)                                                                \
    const sp_op sp_op_##name_ = {.name = #name_,                                                                       \
                                 .inputs = inputs_,                                                                    \
                                 SP_ATTRS(affine_attr_table, sp_affine_attrs),                                         \
                                 .promote = SP_PROMOTE_ALL,                                                            \
                                 .dtypes = SP_DT_NUMBERS,                                                              \
                                 .compose = name_##_compose,                                                           \
                                 .python = python_,                                                                    \
                                 .doc = doc_,                                                                          \
                                 .samples = samples_};
#define BETA_ALPHA "*, beta=1, alpha=1"
AFFINE(addmm, "x, mat1, mat2",
       "ops.addmm(input, mat1, mat2, " BETA_ALPHA "); Tensor.addmm(mat1, mat2, " BETA_ALPHA "); "
       "mint.addmm(input, mat1, "
       "mat2, " BETA_ALPHA ")",
       "beta times x plus alpha times the matrix product.", "[2,3] [2,4] [4,3]; [3] [2,4] [4,3] beta=0.5, alpha=2")
AFFINE(addmv, "x, mat, vec",
       "ops.addmv(input, mat, vec, " BETA_ALPHA "); Tensor.addmv(mat, vec, " BETA_ALPHA "); "
       "mint.addmv(input, mat, vec, "
       "" BETA_ALPHA ")",
       "beta times x plus alpha times the product of matrix and vector.",
       "[2] [2,3] [3]; "
       "[] [2,3] [3] beta=0.5, alpha=2")
AFFINE(baddbmm, "x, batch1, batch2",
       "ops.baddbmm(input, batch1, batch2, beta=1, alpha=1); Tensor.baddbmm(batch1, batch2, " BETA_ALPHA "); "
       "mint.baddbmm(input, batch1, batch2, " BETA_ALPHA ")",
       "beta times x plus alpha times the product of two batches of matrices.",
       "[2,3,2] [2,3,4] [2,4,2]; "
       "[2] [2,3,4] [2,4,2] alpha=2")
AFFINE(addbmm, "x, batch1, batch2",
       "ops.addbmm(input, batch1, batch2, " BETA_ALPHA "); Tensor.addbmm(batch1, batch2, " BETA_ALPHA "); "
       "mint.addbmm(input, batch1, batch2, " BETA_ALPHA ")",
       "beta times x plus alpha times the sum of the products of two batches of matrices.",
       "[3,2] [2,3,4] [2,4,2]; [2] [2,3,4] [2,4,2] alpha=2")
AFFINE(addr, "x, vec1, vec2", "ops.addr(x, vec1, vec2, " BETA_ALPHA "); Tensor.addr(vec1, vec2, beta=1, alpha=1)",
       "beta times x plus alpha times the outer product of two vectors.", "[2,3] [2] [3]; [] [2] [3] beta=2, alpha=3")

static sp_status outer_compose(sp_builder *b, const sp_call *c)
{
    char text[SP_SHAPE_TEXT];
    SP_CHECK(c->in[1]->rank == 1, SP_VALUE, "vec2 must have 1 dimension, but its shape is %s",
             sp__shape_text(c->in[1]->rank, c->in[1]->dims, text));
    sp_tensor *column = c->in[0]->rank == 1 ? c->in[0] : sp_reshape(b, c->in[0], 1, (const int64_t[]){c->in[0]->count});
    c->out[0] = outer_product(b, column, c->in[1]);
    return SP_OK;
}
const sp_op sp_op_outer = {
    .name = "outer",
    .inputs = "x, y",
    .promote = SP_PROMOTE_ALL,
    .compose = outer_compose,
    .mindir = "Ger",
    .python = "ops.outer(input, vec2); ops.ger(input, vec2); ops.Ger()(x1, x2); Tensor.outer(vec2); Tensor.ger(vec2); "
              "mint.outer(input, vec2)",
    .doc = "The outer product of two vectors; an input of more dimensions counts as one row of its elements.",
    .samples = "[2] [3]; [1] [4]; [2,2] [3]",
};
