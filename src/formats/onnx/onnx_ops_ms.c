/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops_ms.c - operators of com.microsoft that optimised and quantised models in the wild use: activations and
 * normalisations with their neighbours fused in, attention, embeddings, and matrices of few bits. onnx_ops_quant.c has the
 * quantised ones. */
#include <math.h>

#include "formats/onnx/onnx_model.h"

/* --- activations ------------------------------------------------------------------------------------------------- */

static sp_status bias_gelu(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0];
    if (sp__onnx_in(c, 1) != NULL) x = sp_add(c->b, x, c->in[1]);
    return sp__onnx_return(c, SP_ONNX_OP1(c, c->node->handler->detail, x, NULL));
}

static sp_status quick_gelu(sp_onnx_call *c)
{
    double alpha = sp__onnx_attr_float(c, "alpha", 1.702);
    return sp__onnx_return(c, sp_mul(c->b, c->in[0], sp_sigmoid(c->b, sp__mul_number(c->b, c->in[0], alpha))));
}

static sp_status bias_softmax(sp_onnx_call *c)
{
    return sp__onnx_return(c, SP_ONNX_OP1(c, "softmax", sp_add(c->b, c->in[0], c->in[1]), "axis=(-1,)"));
}

/* The activation named in the node, applied to the result so far. */
static sp_status activated(sp_onnx_call *c, sp_tensor *x, sp_tensor **out)
{
    static const struct {
        const char *name, *op;
    } plain[] = {{"Relu", "relu"}, {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}};
    const char *name = sp__onnx_attr_text(c, "activation", "");
    const sp_onnx_attr *p = sp__onnx_attr(c, "activation_params");
    double a =
        p != NULL && p->n > 0 && p->floats != NULL ? p->floats[0] : sp__onnx_attr_float(c, "activation_alpha", 0.01);
    double b = p != NULL && p->n > 1 && p->floats != NULL ? p->floats[1] : sp__onnx_attr_float(c, "activation_beta", 0);
    *out = x;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i].name) == 0) *out = SP_ONNX_OP1(c, plain[i].op, x, NULL);
    if (strcmp(name, "LeakyRelu") == 0) *out = SP_ONNX_OP1(c, "leaky_relu", x, "alpha=%.17g", a);
    if (strcmp(name, "Clip") == 0)
        *out = sp_minimum(c->b, sp_maximum(c->b, x, sp__const(c->b, a, x)), sp__const(c->b, b, x));
    if (strcmp(name, "HardSigmoid") == 0) {
        x = sp__add_number(c->b, sp__mul_number(c->b, x, a), b);
        *out = x == NULL ? NULL : sp_minimum(c->b, sp_relu(c->b, x), sp__const(c->b, 1, x));
    }
    SP_CHECK(*out != x || name[0] == '\0' || strcmp(name, "HardSigmoid") == 0, SP_DECLINED,
             "activation '%s' is not supported", name);
    return sp_builder_status(c->b);
}

static sp_status fused_conv(sp_onnx_call *c)
{
    sp_tensor *y = NULL;
    SP_TRY(sp__onnx_again(c, "Conv", c->n_in < 3 ? c->n_in : 3, c->in, 1, &y));
    if (sp__onnx_in(c, 3) != NULL) y = sp_add(c->b, y, c->in[3]);
    SP_TRY(sp_builder_status(c->b));
    return activated(c, y, &c->out[0]);
}

static sp_status fused_gemm(sp_onnx_call *c)
{
    sp_tensor *y = NULL;
    SP_TRY(sp__onnx_again(c, "Gemm", c->n_in, c->in, 1, &y));
    return activated(c, y, &c->out[0]);
}

static sp_status fused_matmul(sp_onnx_call *c)
{
    double alpha = sp__onnx_attr_float(c, "alpha", 1);
    SP_CHECK(!sp__onnx_attr_int(c, "transBatchA", 0) && !sp__onnx_attr_int(c, "transBatchB", 0), SP_DECLINED,
             "transposed batches are not supported");
    sp_tensor *y =
        sp_matmul(c->b, c->in[0], c->in[1], sp__onnx_attr_int(c, "transA", 0) != 0 && sp_tensor_rank(c->in[0]) > 1,
                  sp__onnx_attr_int(c, "transB", 0) != 0 && sp_tensor_rank(c->in[1]) > 1);
    return sp__onnx_return(c, alpha == 1 || y == NULL ? y : sp__mul_number(c->b, y, alpha));
}

/* --- normalisation ----------------------------------------------------------------------------------------------- */

/* x, gamma and beta go to the standard's operator; detail: which. */
static sp_status skip_norm(sp_onnx_call *c)
{
    bool simple = strcmp(c->node->handler->detail, "RMSNormalization") == 0;
    sp_tensor *x = sp_add(c->b, c->in[0], c->in[1]), *bias = sp__onnx_in(c, simple ? 3 : 4), *y = NULL;
    if (bias != NULL) x = sp_add(c->b, x, bias);
    SP_TRY(sp_builder_status(c->b));
    sp_tensor *in[3] = {x, c->in[2], simple ? NULL : sp__onnx_in(c, 3)};
    SP_TRY(sp__onnx_again(c, c->node->handler->detail, simple ? 2 : 3, in, 1, &y));
    c->out[0] = y;
    SP_CHECK(c->n_out < 2 || c->node->out[1] < 0, SP_DECLINED, "mean and deviation as results are not supported");
    if (c->n_out > 3) c->out[3] = x;
    return SP_OK;
}

static sp_status simplified_norm(sp_onnx_call *c) { return sp__onnx_again(c, "RMSNormalization", 2, c->in, 1, c->out); }

static sp_tensor *embedded(sp_onnx_call *c, sp_tensor *table, sp_tensor *ids)
{
    return SP_ONNX_OP2(c, "gather", table, ids, "axis=0");
}

static sp_status embed_norm(sp_onnx_call *c)
{
    sp_tensor *ids = c->in[0], *segments = sp__onnx_in(c, 1), *mask = sp__onnx_in(c, 7), *places = sp__onnx_in(c, 8),
              *y = NULL;
    SP_CHECK(sp_tensor_rank(ids) == 2, SP_VALUE, "input_ids must be [batch, length]");
    sp_tensor *x = embedded(c, c->in[2], ids);
    if (places == NULL) places = sp__positions(c->b, 2, 1, sp_tensor_dims(ids)[1]);
    x = sp_add(c->b, x, embedded(c, c->in[3], places));
    if (segments != NULL && sp__onnx_in(c, 4) != NULL) x = sp_add(c->b, x, embedded(c, c->in[4], segments));
    SP_TRY(sp_builder_status(c->b));
    SP_TRY(sp__onnx_again(c, "LayerNormalization", 3, (sp_tensor *[]){x, c->in[5], c->in[6]}, 1, &y));
    c->out[0] = y;
    if (c->n_out > 1)
        c->out[1] = mask != NULL
                        ? sp_cast(c->b, SP_ONNX_OP1(c, "reduce_sum", mask, "axis=(1,), keepdims=False"), SP_DTYPE_I32)
                        : sp__full(c->b, 0, SP_DTYPE_I32, 1, sp_tensor_dims(ids));
    if (c->n_out > 2) c->out[2] = x;
    return sp_builder_status(c->b);
}

/* --- attention --------------------------------------------------------------------------------------------------- */

static sp_tensor *heads_apart(sp_onnx_call *c, sp_tensor *x, int64_t heads)
{
    const int64_t *d = sp_tensor_dims(x);
    if (sp_tensor_rank(x) == 4) return x;
    sp_tensor *y = sp_reshape(c->b, x, 4, (int64_t[]){d[0], d[1], heads, d[2] / heads});
    return sp_transpose(c->b, y, 4, (int64_t[]){0, 2, 1, 3});
}

/* Masks as they occur: [batch] lengths, [batch, keys], [batch, queries, keys] with 1 for what may be seen. */
static sp_tensor *mask_bias(sp_onnx_call *c, sp_tensor *mask, int64_t batch, int64_t keys, sp_dtype dtype)
{
    double low = sp__onnx_attr_float(c, "mask_filter_value", -10000);
    int rank = sp_tensor_rank(mask);
    const int64_t *d = sp_tensor_dims(mask);
    sp_tensor *seen = NULL;
    if (rank == 1 && d[0] == batch) {
        sp_tensor *ends = sp_reshape(c->b, sp_cast(c->b, mask, SP_DTYPE_I64), 4, (int64_t[]){batch, 1, 1, 1});
        seen = sp_less(c->b, sp__positions(c->b, 4, 3, keys), ends);
    } else if (rank == 2) seen = sp_reshape(c->b, sp_cast(c->b, mask, SP_DTYPE_BOOL), 4, (int64_t[]){d[0], 1, 1, d[1]});
    else if (rank == 3)
        seen = sp_reshape(c->b, sp_cast(c->b, mask, SP_DTYPE_BOOL), 4, (int64_t[]){d[0], 1, d[1], d[2]});
    else if (rank == 4) seen = sp_cast(c->b, mask, SP_DTYPE_BOOL);
    else
        return sp__builder_fail(c->b, sp__fail(SP_DECLINED, "masks of rank %d and this shape are not supported", rank));
    return sp_select(c->b, seen, sp__onnx_scalar(c, dtype, 0), sp__onnx_scalar(c, dtype, low));
}

typedef struct heads {
    sp_tensor *q, *k, *v; /* [batch, heads, length, size] */
    sp_tensor *mask, *bias;
    bool causal;
} heads;

/* softmax(q k' scale + bias) v as [batch, length, heads * size]. */
static sp_status attend(sp_onnx_call *c, const heads *h, sp_tensor **out)
{
    const int64_t *d = sp_tensor_dims(h->q);
    int64_t keys = sp_tensor_dims(h->k)[2], size = sp_tensor_dims(h->v)[3];
    sp_dtype dtype = sp_tensor_dtype(h->q);
    double scale = sp__onnx_attr_float(c, "scale", 0);
    if (scale == 0) scale = 1 / sqrt((double)d[3]);
    sp_tensor *scores = sp__mul_number(c->b, sp_matmul(c->b, h->q, h->k, false, true), scale);
    double cap = sp__onnx_attr_float(c, "softcap", 0);
    if (cap > 0)
        scores = sp__mul_number(c->b, SP_ONNX_OP1(c, "tanh", sp__mul_number(c->b, scores, 1 / cap), NULL), cap);
    if (h->mask != NULL) scores = sp_add(c->b, scores, mask_bias(c, h->mask, d[0], keys, dtype));
    if (h->bias != NULL) scores = sp_add(c->b, scores, h->bias);
    if (h->causal) {
        sp_tensor *row =
            sp_add(c->b, sp__positions(c->b, 4, 2, d[2]), sp__onnx_scalar(c, SP_DTYPE_I64, (double)(keys - d[2])));
        sp_tensor *seen = sp_less_equal(c->b, sp__positions(c->b, 4, 3, keys), row);
        scores = sp_select(c->b, seen, scores, sp__onnx_scalar(c, dtype, -HUGE_VAL));
    }
    sp_tensor *y = sp_matmul(c->b, SP_ONNX_OP1(c, "softmax", scores, "axis=(-1,)"), h->v, false, false);
    y = sp_transpose(c->b, y, 4, (int64_t[]){0, 2, 1, 3});
    *out = sp_reshape(c->b, y, 3, (int64_t[]){d[0], d[2], d[1] * size});
    return sp_builder_status(c->b);
}

static sp_status ms_attention(sp_onnx_call *c)
{
    sp_tensor *x = c->in[0], *past = sp__onnx_in(c, 4);
    int64_t n = sp__onnx_attr_int(c, "num_heads", 0);
    sp_onnx_ints sizes;
    bool found = false;
    SP_TRY(sp__onnx_ints_of(c, "qkv_hidden_sizes", -1, &sizes, &found));
    SP_CHECK(sp_tensor_rank(x) == 3 && sp_tensor_rank(c->in[1]) == 2 && n > 0, SP_VALUE,
             "x must be [batch, length, size] and num_heads given");
    int64_t all = sp_tensor_dims(c->in[1])[1], part[3] = {all / 3, all / 3, all / 3};
    for (int i = 0; i < 3 && found && sizes.n == 3; i++) part[i] = sizes.v[i];
    SP_CHECK(part[0] > 0 && part[1] > 0 && part[2] > 0 && part[0] + part[1] + part[2] == all && part[0] % n == 0 &&
                 part[2] % n == 0,
             SP_VALUE, "%lld columns of weights do not fit %lld heads", (long long)all, (long long)n);
    sp_tensor *qkv = sp_matmul(c->b, x, c->in[1], false, false);
    if (sp__onnx_in(c, 2) != NULL) qkv = sp_add(c->b, qkv, c->in[2]);
    SP_TRY(sp_builder_status(c->b));
    heads h = {.q = heads_apart(c, sp__take_range(c->b, qkv, 2, 0, part[0]), n),
               .k = heads_apart(c, sp__take_range(c->b, qkv, 2, part[0], part[1]), n),
               .v = heads_apart(c, sp__take_range(c->b, qkv, 2, part[0] + part[1], part[2]), n),
               .mask = sp__onnx_in(c, 3),
               .bias = sp__onnx_in(c, 5),
               .causal = sp__onnx_attr_int(c, "unidirectional", 0) != 0};
    SP_TRY(sp_builder_status(c->b));
    SP_CHECK(!sp__onnx_attr_int(c, "do_rotary", 0) && sp__onnx_in(c, 6) == NULL, SP_DECLINED,
             "rotation and shared buffers are not supported");
    if (past != NULL) { /* [2, batch, heads, length, size] */
        const int64_t *d = sp_tensor_dims(past);
        sp_tensor *old[2];
        for (int i = 0; i < 2; i++) old[i] = sp_reshape(c->b, sp__take_range(c->b, past, 0, i, 1), 4, d + 1);
        h.k = sp__concat(c->b, 2, 2, (sp_tensor *[]){old[0], h.k});
        h.v = sp__concat(c->b, 2, 2, (sp_tensor *[]){old[1], h.v});
        SP_TRY(sp_builder_status(c->b));
    }
    if (c->n_out > 1) c->out[1] = sp__stack(c->b, 0, 2, (sp_tensor *[]){h.k, h.v});
    return attend(c, &h, &c->out[0]);
}

static sp_status multi_head_attention(sp_onnx_call *c)
{
    sp_tensor *q = c->in[0], *k = sp__onnx_in(c, 1), *v = sp__onnx_in(c, 2), *bias = sp__onnx_in(c, 3);
    int64_t n = sp__onnx_attr_int(c, "num_heads", 0), at = 0;
    SP_CHECK(n > 0 && sp_tensor_rank(q) == 3 && k != NULL && v != NULL, SP_DECLINED,
             "queries, keys and values must be apart, with num_heads");
    sp_tensor *all[3] = {q, k, v};
    for (int i = 0; i < 3; i++) {
        if (bias != NULL && sp_tensor_rank(all[i]) == 3) {
            int64_t size = sp_tensor_dims(all[i])[2];
            SP_CHECK(at + size <= sp_tensor_count(bias), SP_VALUE, "the bias has %lld elements",
                     (long long)sp_tensor_count(bias));
            all[i] = sp_add(c->b, all[i], sp__take_range(c->b, bias, 0, at, size));
            at += size;
            SP_TRY(sp_builder_status(c->b));
        }
        all[i] = heads_apart(c, all[i], n);
    }
    heads h = {.q = all[0],
               .k = all[1],
               .v = all[2],
               .mask = sp__onnx_in(c, 4),
               .bias = sp__onnx_in(c, 5),
               .causal = sp__onnx_attr_int(c, "unidirectional", 0) != 0};
    if (sp__onnx_in(c, 6) != NULL) h.k = sp__concat(c->b, 2, 2, (sp_tensor *[]){c->in[6], h.k});
    if (sp__onnx_in(c, 7) != NULL) h.v = sp__concat(c->b, 2, 2, (sp_tensor *[]){c->in[7], h.v});
    SP_TRY(sp_builder_status(c->b));
    if (c->n_out > 1) c->out[1] = h.k;
    if (c->n_out > 2) c->out[2] = h.v;
    return attend(c, &h, &c->out[0]);
}

/* --- groups of queries ------------------------------------------------------------------------------------------- */

/* Queries or keys [batch, heads, length, size], turned by the angles of their positions. cos, sin: [batch, 1, length, half]. */
static sp_tensor *rotated(sp_onnx_call *c, sp_tensor *x, sp_tensor *cosine, sp_tensor *sine, bool pairs)
{
    if (sp_builder_status(c->b) != SP_OK) return NULL;
    int64_t half = sp_tensor_dims(cosine)[3], size = sp_tensor_dims(x)[3];
    const int64_t *d = sp_tensor_dims(x);
    sp_tensor *part = sp__take_range(c->b, x, 3, 0, 2 * half), *a, *b;
    if (pairs) {
        part = sp_reshape(c->b, part, 5, (int64_t[]){d[0], d[1], d[2], half, 2});
        a = sp_reshape(c->b, sp__take_range(c->b, part, 4, 0, 1), 4, (int64_t[]){d[0], d[1], d[2], half});
        b = sp_reshape(c->b, sp__take_range(c->b, part, 4, 1, 1), 4, (int64_t[]){d[0], d[1], d[2], half});
    } else {
        a = sp__take_range(c->b, part, 3, 0, half);
        b = sp__take_range(c->b, part, 3, half, half);
    }
    sp_tensor *out[3] = {sp_sub(c->b, sp_mul(c->b, a, cosine), sp_mul(c->b, b, sine)),
                         sp_add(c->b, sp_mul(c->b, b, cosine), sp_mul(c->b, a, sine)), NULL};
    sp_tensor *y = pairs ? sp_reshape(c->b, sp__stack(c->b, 4, 2, out), 4, (int64_t[]){d[0], d[1], d[2], 2 * half})
                         : sp__concat(c->b, 3, 2, out);
    if (size == 2 * half) return y;
    return sp__concat(c->b, 3, 2, (sp_tensor *[]){y, sp__take_range(c->b, x, 3, 2 * half, size - 2 * half)});
}

/* How many keys are there before this call; the last inputs say so. Batches of different lengths are taken for a first call alone. */
static sp_status count_past(sp_onnx_call *c, int64_t length, int64_t *past)
{
    sp_tensor *last = sp__onnx_in(c, 5);
    enum { BATCHES_MAX = 1024 };
    double total = 0, *ends;
    int n = 0;
    SP_TRY(sp__onnx_number(sp__onnx_in(c, 6), &total));
    *past = (int64_t)total - length;
    SP_CHECK(*past >= 0, SP_VALUE, "%lld positions in all, but %lld are given", (long long)total, (long long)length);
    if (!(ends = sp__alloc(BATCHES_MAX * sizeof *ends))) return SP_NOMEM;
    sp_status status = sp__onnx_floats(last, BATCHES_MAX, ends, &n);
    for (int i = 1; i < n && *past > 0 && status == SP_OK; i++)
        if (ends[i] != ends[0])
            status = sp__fail(SP_DECLINED, "batches with pasts of different lengths are not supported");
    sp__free(ends);
    return status;
}

/* Earlier keys or values, of which the first `past` count, and the new ones. */
static sp_tensor *with_past(sp_onnx_call *c, sp_tensor *old, int64_t past, sp_tensor *x)
{
    if (old == NULL || past == 0) return x;
    return sp__concat(c->b, 2, 2, (sp_tensor *[]){sp__take_range(c->b, old, 2, 0, past), x});
}

/* As large as the memory that was given, zeros behind. */
static sp_tensor *as_present(sp_onnx_call *c, const sp_tensor *old, sp_tensor *x)
{
    if (old == NULL || x == NULL || sp_tensor_dims(old)[2] <= sp_tensor_dims(x)[2]) return x;
    return SP_ONNX_OP1(c, "pad", x, "pads=(0,0,0,0,0,%lld,0,0)",
                       (long long)(sp_tensor_dims(old)[2] - sp_tensor_dims(x)[2]));
}

/* Each head of keys and values serves several heads of queries. */
static sp_status group_query_attention(sp_onnx_call *c)
{
    sp_tensor *q = c->in[0], *k = sp__onnx_in(c, 1), *v = sp__onnx_in(c, 2), *old_k = sp__onnx_in(c, 3),
              *old_v = sp__onnx_in(c, 4);
    int64_t n = sp__onnx_attr_int(c, "num_heads", 0), m = sp__onnx_attr_int(c, "kv_num_heads", 0), past = 0;
    SP_CHECK(sp_tensor_rank(q) == 3 && n > 0 && m > 0 && n % m == 0, SP_VALUE, "%lld heads of queries and %lld of keys",
             (long long)n, (long long)m);
    SP_CHECK(sp__onnx_in(c, 11) == NULL && !sp__onnx_attr_int(c, "smooth_softmax", 0) &&
                 sp__onnx_attr_int(c, "local_window_size", -1) < 0,
             SP_DECLINED, "windows, smooth softmax and sinks are not supported");
    int64_t length = sp_tensor_dims(q)[1];
    SP_TRY(count_past(c, length, &past));
    if (k == NULL) { /* all three in one */
        int64_t size = sp_tensor_dims(q)[2] / (n + 2 * m);
        k = sp__take_range(c->b, c->in[0], 2, n * size, m * size);
        v = sp__take_range(c->b, c->in[0], 2, (n + m) * size, m * size);
        q = sp__take_range(c->b, c->in[0], 2, 0, n * size);
    }
    SP_TRY(sp_builder_status(c->b));
    heads h = {.q = heads_apart(c, q, n),
               .k = heads_apart(c, k, m),
               .v = heads_apart(c, v, m),
               .bias = sp__onnx_in(c, 10),
               .causal = true};
    if (sp__onnx_attr_int(c, "do_rotary", 0)) {
        sp_tensor *at = sp__onnx_in(c, 9), *angle[2];
        if (at == NULL)
            at = sp_add(c->b, sp__positions(c->b, 2, 1, length), sp__onnx_scalar(c, SP_DTYPE_I64, (double)past));
        for (int i = 0; i < 2; i++) {
            SP_CHECK(sp__onnx_in(c, 7 + i) != NULL && sp_tensor_rank(c->in[7 + i]) == 2, SP_VALUE,
                     "the tables of cosines and sines are missing");
            angle[i] = SP_ONNX_OP2(c, "gather", c->in[7 + i], at, "axis=0");
            SP_TRY(sp_builder_status(c->b));
            const int64_t *d = sp_tensor_dims(angle[i]);
            angle[i] = sp_reshape(c->b, angle[i], 4, (int64_t[]){d[0], 1, d[1], d[2]});
        }
        bool pairs = sp__onnx_attr_int(c, "rotary_interleaved", 0) != 0;
        h.q = rotated(c, h.q, angle[0], angle[1], pairs);
        h.k = rotated(c, h.k, angle[0], angle[1], pairs);
    }
    h.k = with_past(c, old_k, past, h.k);
    h.v = with_past(c, old_v, past, h.v);
    if (c->n_out > 1) c->out[1] = as_present(c, old_k, h.k);
    if (c->n_out > 2) c->out[2] = as_present(c, old_v, h.v);
    if (n > m) {
        h.k = SP_ONNX_OP1(c, "repeat", h.k, "repeats=%lld, axis=1", (long long)(n / m));
        h.v = SP_ONNX_OP1(c, "repeat", h.v, "repeats=%lld, axis=1", (long long)(n / m));
    }
    SP_TRY(sp_builder_status(c->b));
    return attend(c, &h, &c->out[0]);
}

/* --- matrices of few bits ---------------------------------------------------------------------------------------- */

/* Elements of 2, 4 or 8 bits along the last axis of bytes, lowest bits first, as float32. */
static sp_tensor *unpacked(sp_onnx_call *c, sp_tensor *bytes, int64_t bits)
{
    int rank = sp_tensor_rank(bytes);
    int64_t each = 8 / bits, dims[SP_RANK_MAX];
    sp_tensor *wide = sp_cast(c->b, bytes, SP_DTYPE_I32), *parts[4];
    for (int64_t i = 0; i < each; i++)
        parts[i] = SP_ONNX_OP2(
            c, "bitwise_and",
            SP_ONNX_OP2(c, "bitwise_right_shift", wide, sp__onnx_scalar(c, SP_DTYPE_I32, (double)(i * bits)), NULL),
            sp__onnx_scalar(c, SP_DTYPE_I32, (double)((1 << bits) - 1)), NULL);
    if (sp_builder_status(c->b) != SP_OK) return NULL;
    for (int i = 0; i < rank; i++) dims[i] = sp_tensor_dims(bytes)[i];
    dims[rank - 1] *= each;
    return sp_cast(c->b, sp_reshape(c->b, sp__stack(c->b, rank, (int)each, parts), rank, dims), SP_DTYPE_F32);
}

/* B is [n, blocks, bytes]: rows of the transposed matrix in blocks with a scale and a zero point each. */
static sp_status matmul_bits(sp_onnx_call *c)
{
    int64_t k = sp__onnx_attr_int(c, "K", 0), n = sp__onnx_attr_int(c, "N", 0), bits = sp__onnx_attr_int(c, "bits", 4);
    int64_t block = sp__onnx_attr_int(c, "block_size", 32);
    sp_tensor *packed = c->in[1], *zero = sp__onnx_in(c, 3);
    SP_CHECK((bits == 2 || bits == 4 || bits == 8) && k > 0 && n > 0 && block >= 16, SP_DECLINED,
             "%lld bits in blocks of %lld are not supported", (long long)bits, (long long)block);
    int64_t blocks = (k + block - 1) / block;
    SP_CHECK(sp_tensor_count(packed) == n * blocks * block * bits / 8 && sp_tensor_count(c->in[2]) == n * blocks,
             SP_VALUE, "the matrix has %lld bytes and %lld scales, which do not fit",
             (long long)sp_tensor_count(packed), (long long)sp_tensor_count(c->in[2]));
    SP_CHECK(sp__onnx_in(c, 4) == NULL, SP_DECLINED, "reordered columns (g_idx) are not supported");
    sp_tensor *w = unpacked(c, sp_reshape(c->b, packed, 3, (int64_t[]){n, blocks, block * bits / 8}), bits);
    if (zero != NULL && sp_tensor_dtype(zero) == SP_DTYPE_U8) {
        int64_t row = (blocks * bits + 7) / 8;
        zero = unpacked(c, sp_reshape(c->b, zero, 2, (int64_t[]){n, row}), bits);
        zero = sp__take_range(c->b, zero, 1, 0, blocks);
    }
    zero = zero != NULL ? sp_reshape(c->b, sp_cast(c->b, zero, SP_DTYPE_F32), 3, (int64_t[]){n, blocks, 1})
                        : sp__onnx_scalar(c, SP_DTYPE_F32, (double)(1 << (bits - 1)));
    sp_tensor *scale = sp_reshape(c->b, sp_cast(c->b, c->in[2], SP_DTYPE_F32), 3, (int64_t[]){n, blocks, 1});
    w = sp_mul(c->b, sp_sub(c->b, w, zero), scale);
    w = sp__take_range(c->b, sp_reshape(c->b, w, 2, (int64_t[]){n, blocks * block}), 1, 0, k);
    sp_tensor *y = sp_matmul(c->b, c->in[0], sp_cast(c->b, w, sp_tensor_dtype(c->in[0])), false, true);
    if (sp__onnx_in(c, 5) != NULL) y = sp_add(c->b, y, c->in[5]);
    return sp__onnx_return(c, y);
}

const sp_onnx_handler sp__onnx_ms[] = {
    {"com.microsoft:Gelu", 1, bias_gelu, "gelu", 0},
    {"com.microsoft:BiasGelu", 1, bias_gelu, "gelu", 0},
    {"com.microsoft:FastGelu", 1, bias_gelu, "gelu_tanh", 0},
    {"com.microsoft:QuickGelu", 1, quick_gelu, NULL, 0},
    {"com.microsoft:BiasSoftmax", 1, bias_softmax, NULL, 0},
    {"com.microsoft:FusedConv", 1, fused_conv, NULL, 0},
    {"com.microsoft:FusedGemm", 1, fused_gemm, NULL, 0},
    {"com.microsoft:FusedMatMul", 1, fused_matmul, NULL, 0},
    {"com.microsoft:TransposeMatMul", 1, fused_matmul, NULL, 0},
    {"com.microsoft:SkipLayerNormalization", 1, skip_norm, "LayerNormalization", 0},
    {"com.microsoft:SkipSimplifiedLayerNormalization", 1, skip_norm, "RMSNormalization", 0},
    {"SimplifiedLayerNormalization", 1, simplified_norm, NULL, 0},
    {"com.microsoft:SimplifiedLayerNormalization", 1, simplified_norm, NULL, 0},
    {"com.microsoft:EmbedLayerNormalization", 1, embed_norm, NULL, 0},
    {"com.microsoft:Attention", 1, ms_attention, NULL, 0},
    {"com.microsoft:MultiHeadAttention", 1, multi_head_attention, NULL, 0},
    {"com.microsoft:GroupQueryAttention", 1, group_query_attention, NULL, 0},
    {"com.microsoft:MatMulNBits", 1, matmul_bits, NULL, 0},
    {NULL, 0, NULL, NULL, 0},
};
