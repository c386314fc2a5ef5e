/* SPDX-License-Identifier: Apache-2.0 */
/* dropout.c - dropping elements at random, as a function of a random state (see spore/random.h). */
#include "ops/nn.h"

SP_ATTR_TABLE(dropout_attr_table, sp_dropout_attrs, (FLOAT, keep_prob, 0.5), (INT, shared, 0));

/* Kept where a uniform number is below keep_prob; scaled so that the mean stays. */
static sp_status dropout_compose(sp_builder *b, const sp_call *c)
{
    const sp_dropout_attrs *a = c->attrs;
    sp_tensor *x = c->in[0];
    SP_CHECK(a->keep_prob >= 0 && a->keep_prob <= 1, SP_VALUE, "keep_prob is %g, it must be between 0 and 1",
             a->keep_prob);
    SP_CHECK(a->shared >= 0 && a->shared <= x->rank, SP_VALUE, "shared is %lld, but x has rank %d",
             (long long)a->shared, x->rank);
    int64_t dims[SP_RANK_MAX];
    for (int i = 0; i < x->rank; i++) dims[i] = i < x->rank - a->shared ? x->dims[i] : 1;
    const sp_random_uniform_attrs uniform = {{x->rank, dims}, 0, 1, SP_DTYPE_F32};
    sp_tensor *u = sp_builder_apply(b, &sp_op_random_uniform, &uniform, 1, &c->in[1]);
    sp_tensor *kept = sp_cast(b, sp_less(b, u, sp__const(b, a->keep_prob, u)), (sp_dtype)x->dtype);
    if (!kept) return SP_OK;
    if (a->shared) kept = sp_broadcast_to(b, kept, x->rank, x->dims);
    c->out[0] = a->keep_prob > 0 ? sp_mul(b, x, sp__mul_number(b, kept, 1 / a->keep_prob)) : sp_mul(b, x, kept);
    c->out[1] = kept;
    return SP_OK;
}
const sp_op sp_op_dropout = {
    .name = "dropout",
    .inputs = "x, state",
    .n_out = 2,
    SP_ATTRS(dropout_attr_table, sp_dropout_attrs),
    .dtypes = SP_DT_FLOATS,
    .compose = dropout_compose,
    .mindir = "Dropout",
    .onnx = "Dropout",
    .doc =
        "Zero elements at random and scale the others by 1 / keep_prob; the second result is 1 where an element was kept.",
    .samples = "[2,3] [2]i<99 keep_prob=0.7; [2,3,4] [2]i<99 shared=1",
};
