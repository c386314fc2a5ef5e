/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_random.c - ONNX operators that draw random numbers. The standard leaves the source of them open: ours is the
 * process's generator, or one started with the node's seed. A compiled program would draw the same numbers in each run, so models
 * with these operators are run operator by operator. */
#include <math.h>
#include <stdio.h>

#include "base/plain.h"
#include "formats/onnx/onnx_model.h"
#include "spore/graph.h"
#include "spore/random.h"

static sp_status draw(sp_onnx_call *c, const char *op, sp_dtype dtype, int rank, const int64_t *dims,
                      const char *parameters, sp_tensor **out)
{
    const sp_onnx_attr *seed = sp__onnx_attr(c, "seed");
    sp_generator *own = NULL;
    sp_tensor *state = NULL;
    sp_onnx_text shape;
    int64_t n = 1;
    SP_CHECK(sp_function_recording() == NULL, SP_SYMBOL, "random numbers");
    SP_CHECK(strchr("f", sp_dtype_kind(dtype)) != NULL, SP_TYPE, "random numbers must be floats");
    for (int i = 0; i < rank; i++) {
        SP_CHECK(dims[i] >= 0 && dims[i] < INT32_MAX && n < INT32_MAX, SP_VALUE, "a shape of %lld elements and more",
                 (long long)dims[i]);
        n *= dims[i];
    }
    if (seed != NULL) SP_TRY(sp_generator_create((uint64_t)(seed->i != 0 ? seed->i : (int64_t)seed->f), &own));
    sp_status status = sp_generator_next(own != NULL ? own : sp_generator_default(), n, &state);
    sp_generator_release(own);
    SP_TRY(status);
    state = sp_builder_take_tensor(c->b, state);
    *out = SP_ONNX_OP1(c, op, state, "shape=%s, dtype=%s%s", sp__onnx_list(&shape, rank, dims), sp_dtype_name(dtype),
                       parameters);
    return sp_builder_status(c->b);
}

/* RandomNormal, RandomUniform, and the same in the shape of an input. */
static sp_status random_numbers(sp_onnx_call *c)
{
    const char *op = c->node->handler->detail;
    const sp_onnx_attr *type = sp__onnx_attr(c, "dtype");
    sp_onnx_ints shape = {.n = 0};
    bool found = false, normal = strcmp(op, "random_normal") == 0;
    sp_tensor *like = sp__onnx_in(c, 0);
    char parameters[96];
    if (like == NULL) SP_TRY(sp__onnx_ints_of(c, "shape", -1, &shape, &found));
    SP_CHECK(shape.n <= SP_RANK_MAX, SP_VALUE, "%d dimensions, at most %d are possible", shape.n, SP_RANK_MAX);
    sp_dtype dtype = type != NULL   ? sp__onnx_dtype((uint64_t)type->i)
                     : like != NULL ? sp_tensor_dtype(like)
                                    : SP_DTYPE_F32;
    SP_CHECK(dtype != SP_DTYPE_NONE, SP_DECLINED, "random numbers of this type are not supported");
    sp__snprintf(parameters, sizeof parameters, normal ? ", mean=%.17g, std=%.17g" : ", low=%.17g, high=%.17g",
                 sp__onnx_attr_float(c, normal ? "mean" : "low", 0),
                 sp__onnx_attr_float(c, normal ? "scale" : "high", 1));
    return draw(c, op, dtype, like != NULL ? sp_tensor_rank(like) : shape.n,
                like != NULL ? sp_tensor_dims(like) : shape.v, parameters, &c->out[0]);
}

static sp_status bernoulli(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *u = NULL;
    const sp_onnx_attr *type = sp__onnx_attr(c, "dtype");
    sp_dtype dtype = type != NULL ? sp__onnx_dtype((uint64_t)type->i) : sp_tensor_dtype(x);
    SP_CHECK(dtype != SP_DTYPE_NONE, SP_DECLINED, "results of this type are not supported");
    SP_TRY(draw(c, "random_uniform", SP_DTYPE_F32, sp_tensor_rank(x), sp_tensor_dims(x), "", &u));
    return sp__onnx_return(c, sp_cast(c->b, sp_less(c->b, u, sp_cast(c->b, x, SP_DTYPE_F32)), dtype));
}

/* Samples of classes with probabilities softmax(x): the greatest of x plus Gumbel's numbers. */
static sp_status multinomial(sp_onnx_call *c)
{
    sp_tensor *x = sp_cast(c->b, c->in[0], SP_DTYPE_F32), *u = NULL;
    int64_t n = sp__onnx_attr_int(c, "sample_size", 1);
    sp_dtype dtype = sp__onnx_dtype((uint64_t)sp__onnx_attr_int(c, "dtype", 6));
    SP_TRY(sp_builder_status(c->b));
    const int64_t *d = sp_tensor_dims(x);
    SP_CHECK(sp_tensor_rank(x) == 2 && n >= 1 && (dtype == SP_DTYPE_I32 || dtype == SP_DTYPE_I64), SP_VALUE,
             "x must be [batch, classes]");
    SP_TRY(draw(c, "random_uniform", SP_DTYPE_F32, 3, (int64_t[]){d[0], n, d[1]}, ", low=1e-30, high=1", &u));
    sp_tensor *gumbel = sp_neg(c->b, sp_log(c->b, sp_neg(c->b, sp_log(c->b, u))));
    sp_tensor *scores = sp_add(c->b, sp_reshape(c->b, x, 3, (int64_t[]){d[0], 1, d[1]}), gumbel);
    return sp__onnx_return(c, sp_cast(c->b, SP_ONNX_OP1(c, "argmax", scores, "axis=2, keepdims=False"), dtype));
}

/* In inference nothing is dropped. */
static sp_status dropout(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *u = NULL;
    double training = 0, ratio = sp__onnx_attr_float(c, "ratio", 0.5);
    if (sp__onnx_in(c, 2) != NULL) SP_TRY(sp__onnx_number(c->in[2], &training));
    if (training != 0 && sp__onnx_in(c, 1) != NULL) SP_TRY(sp__onnx_number(c->in[1], &ratio));
    SP_CHECK(ratio >= 0 && ratio <= 1, SP_VALUE, "a ratio of %g, it must be 0 to 1", ratio);
    if (training == 0 || ratio == 0) {
        c->out[0] = sp_identity(c->b, x);
        if (c->n_out > 1) c->out[1] = sp__full(c->b, 1, SP_DTYPE_BOOL, sp_tensor_rank(x), sp_tensor_dims(x));
        return sp_builder_status(c->b);
    }
    SP_TRY(draw(c, "random_uniform", SP_DTYPE_F32, sp_tensor_rank(x), sp_tensor_dims(x), "", &u));
    sp_tensor *keep = sp_greater_equal(c->b, u, sp__onnx_scalar(c, SP_DTYPE_F32, ratio));
    c->out[0] =
        sp_select(c->b, keep, sp__mul_number(c->b, x, ratio < 1 ? 1 / (1 - ratio) : 0), sp__zeros_like(c->b, x));
    if (c->n_out > 1) c->out[1] = keep;
    return sp_builder_status(c->b);
}

const sp_onnx_handler sp__onnx_random[] = {
    {"RandomNormal", 1, random_numbers, "random_normal", 0},
    {"RandomUniform", 1, random_numbers, "random_uniform", 0},
    {"RandomNormalLike", 1, random_numbers, "random_normal", 0},
    {"RandomUniformLike", 1, random_numbers, "random_uniform", 0},
    {"Bernoulli", 15, bernoulli, NULL, 0},
    {"Multinomial", 7, multinomial, NULL, 0},
    {"Dropout", 1, dropout, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
