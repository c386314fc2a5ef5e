/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_tokens.c - ONNX operators of language models: positions as rotations, caches, attention with a state or with graphs. */
#include <math.h>

#include "formats/onnx/onnx_model.h"
#include "ir/builder_keep.h"

/* [batch, length, heads * size] as [batch, heads, length, size]. */
static sp_tensor *heads_apart(sp_onnx_call *c, sp_tensor *x, int64_t heads)
{
    const int64_t *d = sp_tensor_dims(x);
    sp_tensor *y = sp_reshape(c->b, x, 4, (int64_t[]){d[0], d[1], heads, d[2] / heads});
    return sp_transpose(c->b, y, 4, (int64_t[]){0, 2, 1, 3});
}

/* --- rotary embedding -------------------------------------------------------------------------------------------- */

/* Pairs of elements (x1, x2) of [batch, length, heads, size] turned by the angles of their positions. */
static sp_tensor *rotate(sp_onnx_call *c, sp_tensor *x, sp_tensor *cosine, sp_tensor *sine, int64_t size,
                         bool interleaved)
{
    const int64_t *d = sp_tensor_dims(x);
    int64_t half = size / 2;
    sp_tensor *turned = sp__take_range(c->b, x, 3, 0, size),
              *rest = size < d[3] ? sp__take_range(c->b, x, 3, size, d[3] - size) : NULL;
    int axis = interleaved ? 4 : 3;
    int64_t apart[5] = {d[0], d[1], d[2], interleaved ? half : 2, interleaved ? 2 : half};
    sp_tensor *pairs = sp_reshape(c->b, turned, 5, apart);
    sp_tensor *x1 = sp__take_range(c->b, pairs, axis, 0, 1), *x2 = sp__take_range(c->b, pairs, axis, 1, 1);
    int64_t angles[5] = {sp_tensor_dims(cosine)[0], sp_tensor_dims(cosine)[1], 1, interleaved ? half : 1,
                         interleaved ? 1 : half};
    sp_tensor *co = sp_reshape(c->b, cosine, 5, angles), *si = sp_reshape(c->b, sine, 5, angles);
    sp_tensor *real = sp_sub(c->b, sp_mul(c->b, co, x1), sp_mul(c->b, si, x2));
    sp_tensor *imaginary = sp_add(c->b, sp_mul(c->b, si, x1), sp_mul(c->b, co, x2));
    sp_tensor *y = sp__concat(c->b, axis, 2, (sp_tensor *[]){real, imaginary});
    y = sp_reshape(c->b, y, 4, (int64_t[]){d[0], d[1], d[2], size});
    return rest != NULL ? sp__concat(c->b, 3, 2, (sp_tensor *[]){y, rest}) : y;
}

/* ONNX has positions last, com.microsoft (detail "ms") second. */
static sp_status rotary_embedding(sp_onnx_call *c)
{
    bool ms = c->node->handler->detail != NULL;
    sp_tensor *x = c->in[0], *cosine = c->in[ms ? 2 : 1], *sine = c->in[ms ? 3 : 2],
              *places = sp__onnx_in(c, ms ? 1 : 3);
    int rank = sp_tensor_rank(x);
    int64_t heads = sp__onnx_attr_int(c, "num_heads", 0), size = sp__onnx_attr_int(c, "rotary_embedding_dim", 0);
    const int64_t *d = sp_tensor_dims(x);
    if (ms && heads == 0 && rank == 3) heads = d[2] / (2 * sp_tensor_dims(cosine)[1]);
    SP_CHECK(rank == 4 || (rank == 3 && heads > 0 && d[2] % heads == 0), SP_VALUE,
             "x must have rank 4, or 3 with num_heads");
    sp_tensor *y = rank == 4 ? sp_transpose(c->b, x, 4, (int64_t[]){0, 2, 1, 3})
                             : sp_reshape(c->b, x, 4, (int64_t[]){d[0], d[1], heads, d[2] / heads});
    SP_TRY(sp_builder_status(c->b));
    if (size == 0) size = sp_tensor_dims(y)[3];
    if (places != NULL && ms && sp_tensor_count(places) == 1) { /* one start for all */
        sp_tensor *steps = sp__positions(c->b, 2, 1, sp_tensor_dims(y)[1]);
        places = sp_add(c->b, sp_reshape(c->b, places, 2, (int64_t[]){1, 1}), steps);
    }
    if (places != NULL) {
        cosine = SP_ONNX_OP2(c, "gather", cosine, places, "axis=0");
        sine = SP_ONNX_OP2(c, "gather", sine, places, "axis=0");
    }
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(sp_tensor_rank(cosine) == 3 && sp_tensor_rank(sine) == 3 && 2 * sp_tensor_dims(cosine)[2] == size &&
                 size <= sp_tensor_dims(y)[3],
             SP_VALUE, "cosines and sines do not fit %lld elements", (long long)size);
    y = rotate(c, y, cosine, sine, size, sp__onnx_attr_int(c, "interleaved", 0) != 0);
    return sp__onnx_return(c,
                           rank == 4 ? sp_transpose(c->b, y, 4, (int64_t[]){0, 2, 1, 3}) : sp_reshape(c->b, y, 3, d));
}

/* --- caches ------------------------------------------------------------------------------------------------------ */

static sp_status tensor_scatter(sp_onnx_call *c)
{
    sp_tensor *cache = c->in[0], *update = c->in[1], *starts = sp__onnx_in(c, 2);
    int rank = sp_tensor_rank(cache), axis = 0;
    SP_TRY(sp__shape_axis(sp__onnx_attr_int(c, "axis", -2), rank, "axis", &axis));
    SP_CHECK(rank == sp_tensor_rank(update) && axis > 0, SP_VALUE, "cache and update do not fit each other");
    int64_t dims[SP_RANK_MAX] = {0}, n = sp_tensor_dims(cache)[axis];
    sp_tensor *at = sp__positions(c->b, rank, axis, sp_tensor_dims(update)[axis]);
    for (int i = 0; i < rank; i++) dims[i] = i == 0 ? -1 : 1;
    if (starts != NULL) at = sp_add(c->b, at, sp_reshape(c->b, sp_cast(c->b, starts, SP_DTYPE_I64), rank, dims));
    if (strcmp(sp__onnx_attr_text(c, "mode", "linear"), "circular") == 0)
        at = SP_ONNX_OP2(c, "floor_mod", at, sp__onnx_scalar(c, SP_DTYPE_I64, (double)n), NULL);
    at = sp_broadcast_to(c->b, at, rank, sp_tensor_dims(update));
    return sp__onnx_return(
        c, sp__onnx_op(c, "scatter_elements", 3, (sp_tensor *[]){cache, at, update}, "axis=%d, reduce=none", axis));
}

static sp_status swiglu(sp_onnx_call *c)
{
    double alpha = sp__onnx_attr_float(c, "alpha", 1);
    sp_tensor *gate = c->in[0];
    gate = sp_mul(c->b, gate, sp_sigmoid(c->b, alpha == 1 ? gate : sp__mul_number(c->b, gate, alpha)));
    return sp__onnx_return(c, sp_mul(c->b, gate, c->in[1]));
}

static sp_status causal_conv(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *w = c->in[1], *past = sp__onnx_in(c, 3);
    SP_CHECK(sp_tensor_rank(x) == 3 && sp_tensor_rank(w) == 3, SP_VALUE, "x and weights must have rank 3");
    const int64_t *d = sp_tensor_dims(x);
    int64_t k = sp_tensor_dims(w)[2];
    SP_CHECK(k >= 1, SP_VALUE, "a kernel without elements");
    if (past == NULL) past = sp__full(c->b, 0, sp_tensor_dtype(x), 3, (int64_t[]){d[0], d[1], k - 1});
    sp_tensor *all = sp__concat(c->b, 2, 2, (sp_tensor *[]){past, x});
    sp_tensor *y = sp__onnx_op(c, "conv1d", 3, (sp_tensor *[]){all, w, sp__onnx_in(c, 2)},
                               "stride=(1,), pad_mode=valid, pad=(0,0,), "
                               "dilation=(1,), group=%lld",
                               (long long)d[1]);
    if (strcmp(sp__onnx_attr_text(c, "activation", "none"), "none") != 0) y = SP_ONNX_OP1(c, "silu", y, NULL);
    if (c->n_out > 1) c->out[1] = sp__take_range(c->b, all, 2, d[2], k - 1);
    return sp__onnx_return(c, y);
}

/* --- attention ---------------------------------------------------------------------------------------------------- */

/* Let a graph of the node with one input and one output change a tensor. */
static sp_status modify(sp_onnx_call *c, const char *name, sp_tensor **x)
{
    const sp_onnx_attr *a = sp__onnx_attr(c, name);
    sp_onnx_value *arg = NULL, *result = NULL;
    if (a == NULL || a->graph == NULL) return SP_OK;
    SP_CHECK(a->graph->n_inputs == 1 && a->graph->n_outputs == 1, SP_FORMAT, "%s must have one input and one output",
             name);
    if (!(arg = sp__onnx_value_tensor(*x))) return SP_NOMEM;
    sp_status status = sp__onnx_run(a->graph, c->texts, c->caller, c->frame, 1, &arg, &result);
    if (status == SP_OK && (result == NULL || result->tensor == NULL))
        status = sp__fail(SP_TYPE, "%s gives no tensor", name);
    if (status == SP_OK) {
        *x = sp_tensor_retain(result->tensor);
        status = sp__builder_keep(c->b, x);
    }
    sp__onnx_value_release(arg);
    sp__onnx_value_release(result);
    return status;
}

static sp_status flex_attention(sp_onnx_call *c)
{
    sp_tensor *q = c->in[0], *k = c->in[1], *v = c->in[2];
    SP_CHECK(sp_tensor_rank(q) == 4 && sp_tensor_rank(k) == 4 && sp_tensor_rank(v) == 4 && sp_tensor_dims(k)[1] > 0,
             SP_VALUE, "queries, keys and values must have rank 4");
    sp_dtype dtype = sp_tensor_dtype(q), wide = dtype == SP_DTYPE_F64 ? SP_DTYPE_F64 : SP_DTYPE_F32;
    const sp_onnx_attr *precision = sp__onnx_attr(c, "softmax_precision");
    if (precision != NULL && sp__onnx_dtype((uint64_t)precision->i) != SP_DTYPE_NONE)
        wide = sp__onnx_dtype((uint64_t)precision->i);
    int64_t times = sp_tensor_dims(q)[1] / sp_tensor_dims(k)[1];
    double scale = sp__onnx_attr_float(c, "scale", 1 / sqrt((double)sp_tensor_dims(q)[3]));
    k = sp_cast(c->b, sp__onnx_repeat_heads(c, k, times), wide);
    v = sp_cast(c->b, sp__onnx_repeat_heads(c, v, times), wide);
    sp_tensor *scores = sp_matmul(c->b, sp_cast(c->b, q, wide), k, false, true);
    SP_TRY(sp_builder_status(c->b));
    scores = sp__mul_number(c->b, scores, scale);
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(modify(c, "score_mod", &scores));
    sp_tensor *weights = SP_ONNX_OP1(c, "softmax", scores, "axis=(-1,)");
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(modify(c, "prob_mod", &weights));
    return sp__onnx_return(c, sp_cast(c->b, sp_matmul(c->b, weights, v, false, false), dtype));
}

/* The state S of each head is a matrix, changed by every token: S = exp(g) S + k (b (v - S'k))'; the result is S'q. */
typedef struct linear_attention {
    bool gated, delta;
    sp_tensor *q, *k, *v, *decay, *rate, *state; /* [batch, heads, length, size] */
    int64_t times;
    double scale;
} linear_attention;

static sp_tensor *token_of(sp_onnx_call *c, sp_tensor *x, int64_t t) { return sp__take_range(c->b, x, 2, t, 1); }

static sp_tensor *linear_step(sp_onnx_call *c, linear_attention *a, int64_t t)
{
    sp_tensor *k = token_of(c, a->k, t), *v = token_of(c, a->v, t), *q = token_of(c, a->q, t);
    if (a->gated) {
        sp_tensor *g = sp_exp(c->b, token_of(c, a->decay, t));
        a->state = sp_mul(c->b, a->state, sp_transpose(c->b, g, 4, (int64_t[]){0, 1, 3, 2}));
    }
    if (a->delta)
        v = sp_mul(c->b, token_of(c, a->rate, t), sp_sub(c->b, v, sp_matmul(c->b, k, a->state, false, false)));
    a->state = sp_add(c->b, a->state, sp_matmul(c->b, k, v, true, false));
    sp_tensor *read = sp__onnx_repeat_heads(c, a->state, a->times);
    sp_tensor *y = sp_matmul(c->b, q, read, false, false);
    return y != NULL ? sp__mul_number(c->b, y, a->scale) : NULL;
}

static sp_status linear_attend(sp_onnx_call *c)
{
    int64_t q_heads = sp__onnx_attr_int(c, "q_num_heads", 0), heads = sp__onnx_attr_int(c, "kv_num_heads", 0);
    const char *rule = sp__onnx_attr_text(c, "update_rule", "gated_delta");
    sp_tensor *q = c->in[0], *k = c->in[1], *v = c->in[2], *past = sp__onnx_in(c, 3), *decay = sp__onnx_in(c, 4),
              *rate = sp__onnx_in(c, 5);
    SP_CHECK(q_heads > 0 && heads > 0 && q_heads % heads == 0, SP_VALUE,
             "q_num_heads must be a multiple of kv_num_heads");
    SP_CHECK(sp_tensor_rank(q) == 3 && sp_tensor_rank(k) == 3 && sp_tensor_rank(v) == 3 &&
                 sp_tensor_dims(q)[2] % q_heads == 0 && sp_tensor_dims(k)[2] % heads == 0 &&
                 sp_tensor_dims(v)[2] % heads == 0,
             SP_VALUE, "queries, keys and values must be [batch, length, heads * size]");
    linear_attention a = {
        .gated = strncmp(rule, "gated", 5) == 0, .delta = strstr(rule, "delta") != NULL, .times = q_heads / heads};
    SP_CHECK((!a.gated || decay != NULL) && (!a.delta || rate != NULL), SP_VALUE,
             "update_rule '%s' needs decay or beta", rule);
    int64_t batch = sp_tensor_dims(q)[0], length = sp_tensor_dims(q)[1], size = sp_tensor_dims(k)[2] / heads;
    int64_t out_size = sp_tensor_dims(v)[2] / heads;
    sp_dtype dtype = sp_tensor_dtype(q), state_dtype = past != NULL ? sp_tensor_dtype(past) : dtype;
    a.q = heads_apart(c, sp_cast(c->b, q, SP_DTYPE_F32), q_heads);
    a.k = heads_apart(c, sp_cast(c->b, k, SP_DTYPE_F32), heads);
    a.v = heads_apart(c, sp_cast(c->b, v, SP_DTYPE_F32), heads);
    if (a.gated) a.decay = heads_apart(c, sp_cast(c->b, decay, SP_DTYPE_F32), heads);
    if (a.delta) a.rate = heads_apart(c, sp_cast(c->b, rate, SP_DTYPE_F32), sp_tensor_dims(rate)[2]);
    a.state = past != NULL ? sp_cast(c->b, past, SP_DTYPE_F32)
                           : sp__full(c->b, 0, SP_DTYPE_F32, 4, (int64_t[]){batch, heads, size, out_size});
    a.scale = sp__onnx_attr_float(c, "scale", 0);
    if (a.scale == 0) a.scale = 1 / sqrt((double)size);
    SP_CHECK(length > 0 && length < INT32_MAX, SP_VALUE, "a length of %lld", (long long)length);
    sp_tensor **parts = sp__alloc_zero((size_t)length * sizeof *parts), *y = NULL;
    if (parts == NULL) return SP_NOMEM;
    for (int64_t t = 0; t < length; t++) parts[t] = linear_step(c, &a, t);
    sp_status status = sp_builder_status(c->b);
    if (status == SP_OK) y = sp__concat(c->b, 2, (int)length, parts);
    sp__free(parts);
    SP_TRY(status);
    y = sp_transpose(c->b, y, 4, (int64_t[]){0, 2, 1, 3});
    y = sp_reshape(c->b, y, 3, (int64_t[]){batch, length, q_heads * out_size});
    if (c->n_out > 1) c->out[1] = sp_cast(c->b, a.state, state_dtype);
    return sp__onnx_return(c, sp_cast(c->b, y, dtype));
}

const sp_onnx_handler sp__onnx_tokens[] = {
    {"RotaryEmbedding", 23, rotary_embedding, NULL, 0},
    {"com.microsoft:RotaryEmbedding", 1, rotary_embedding, "ms", 0},
    {"TensorScatter", 24, tensor_scatter, NULL, SP_ONNX_KEEPS},
    {"SwiGLU", 28, swiglu, NULL, 0},
    {"CausalConvWithState", 27, causal_conv, NULL, 0},
    {"ai.onnx.preview:FlexAttention", 1, flex_attention, NULL, 0},
    {"LinearAttention", 27, linear_attend, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
