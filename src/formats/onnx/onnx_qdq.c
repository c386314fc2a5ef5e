/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_qdq.c - quantised models in the form "dequantise, compute, quantise": where the operator between has a form for integers, the three become one.
 *
 * ONNX Runtime does the same before it runs such a model, and quantised weights are made for it: products are summed in int32 and rounded once,
 * where the plain reading multiplies float32. Only what is computed from bytes and constants is joined, so nothing that could be trained is lost.
 *
 *   DequantizeLinear (x), DequantizeLinear (weights), Conv [Relu] QuantizeLinear    QLinearConv
 *   the same with Gemm, MatMul                                                     QGemm, QLinearMatMul
 *   the same with Gemm, MatMul, but nothing quantised behind them                  QGemm, MatMulIntegerToFloat: results of float32
 *   DequantizeLinear, MaxPool, QuantizeLinear with one scale                       MaxPool of bytes */
#include <string.h>

#include "formats/onnx/onnx_model.h"

typedef struct walk {
    sp__arena *arena;
    sp_onnx_graph *g;
    sp_onnx_node **makers; /* by slot */
    int *uses;             /* by slot */
    sp_tensor **constants; /* by slot; NULL: it is none, or of a carried type */
} walk;

static bool is_op(const sp_onnx_node *n, const char *op)
{
    return n != NULL && n->function == NULL && n->domain[0] == '\0' && strcmp(n->op, op) == 0;
}
static int in_of(const sp_onnx_node *n, int i) { return i < n->n_in ? n->in[i] : -1; }
static sp_tensor *constant_at(const walk *w, int slot) { return slot < 0 ? NULL : w->constants[slot]; }

static const sp_onnx_attr *attr_of(const sp_onnx_node *n, const char *name)
{
    for (int i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0) return &n->attrs[i];
    return NULL;
}

/* Attributes that say more than scale and zero point do. */
static bool is_plain(const sp_onnx_node *n)
{
    static const char *const more[] = {"block_size", "output_dtype", "precision"};
    for (int i = 0; i < 3; i++) {
        const sp_onnx_attr *a = attr_of(n, more[i]);
        if (a != NULL && a->i != 0) return false;
    }
    return true;
}

/* Scale and zero point of a Quantize- or DequantizeLinear: constants, one number each, or (channels > 0) one for each of them along this axis, counted from either end. */
static bool has_scale(const walk *w, const sp_onnx_node *n, int64_t channels, int64_t along, int rank)
{
    const sp_tensor *scale = constant_at(w, in_of(n, 1)), *zero = constant_at(w, in_of(n, 2));
    const sp_onnx_attr *axis = attr_of(n, "axis");
    if (scale == NULL || sp_tensor_dtype(scale) != SP_DTYPE_F32 || (in_of(n, 2) >= 0 && zero == NULL) || !is_plain(n))
        return false;
    const int64_t count = sp_tensor_count(scale);
    if (zero != NULL && sp_tensor_count(zero) != count) return false;
    if (count == 1 && sp_tensor_rank(scale) <= 1) return true;
    const int64_t found = axis != NULL ? axis->i : 1;
    return channels > 0 && count == channels && sp_tensor_rank(scale) == 1 && (found == along || found + rank == along);
}

static bool is_bytes(const sp_tensor *t)
{
    return t != NULL && (sp_tensor_dtype(t) == SP_DTYPE_I8 || sp_tensor_dtype(t) == SP_DTYPE_U8);
}

/* The node that dequantises input i; NULL: it is none. Its zero point tells that these are bytes. */
static const sp_onnx_node *dequantised(const walk *w, const sp_onnx_node *n, int i)
{
    const sp_onnx_node *d = in_of(n, i) >= 0 ? w->makers[in_of(n, i)] : NULL;
    return is_op(d, "DequantizeLinear") && in_of(d, 0) >= 0 && has_scale(w, d, 0, 0, 0) &&
                   is_bytes(constant_at(w, in_of(d, 2)))
               ? d
               : NULL;
}

/* The same for weights, which are constants; along: the axis that scales may be by, -1 for the last but none. */
static const sp_onnx_node *weights_of(const walk *w, const sp_onnx_node *n, int i, int along)
{
    const sp_onnx_node *d = in_of(n, i) >= 0 ? w->makers[in_of(n, i)] : NULL;
    if (!is_op(d, "DequantizeLinear")) return NULL;
    const sp_tensor *t = constant_at(w, in_of(d, 0));
    if (!is_bytes(t) || sp_tensor_rank(t) < 2 || along >= sp_tensor_rank(t) ||
        !has_scale(w, d, sp_tensor_dims(t)[along], along, sp_tensor_rank(t)))
        return NULL;
    const sp_tensor *zero = constant_at(w, in_of(d, 2));
    return zero == NULL || sp_tensor_dtype(zero) == sp_tensor_dtype(t) ? d : NULL;
}

/* A bias of int32 in units of the product of both scales, zero point none. *slot -1: there is no bias. */
static bool bias_of(const walk *w, const sp_onnx_node *n, const sp_onnx_node *x, const sp_onnx_node *weights, int *slot)
{
    *slot = -1;
    if (in_of(n, 2) < 0) return true;
    const sp_onnx_node *d = w->makers[in_of(n, 2)];
    if (!is_op(d, "DequantizeLinear") || !is_plain(d)) return false;
    const sp_tensor *t = constant_at(w, in_of(d, 0)), *scale = constant_at(w, in_of(d, 1)),
                    *zero = constant_at(w, in_of(d, 2));
    if (t == NULL || sp_tensor_dtype(t) != SP_DTYPE_I32 || sp_tensor_rank(t) != 1 || scale == NULL ||
        sp_tensor_dtype(scale) != SP_DTYPE_F32)
        return false;
    if (in_of(d, 2) >= 0 && (zero == NULL || sp_tensor_dtype(zero) != SP_DTYPE_I32)) return false;
    for (int64_t i = 0; zero != NULL && i < sp_tensor_count(zero); i++)
        if (((const int32_t *)sp_tensor_data((sp_tensor *)zero))[i] != 0) return false;
    const sp_tensor *ws = constant_at(w, in_of(weights, 1));
    const float *own = sp_tensor_data((sp_tensor *)scale), *of_w = sp_tensor_data((sp_tensor *)ws);
    const float of_x = *(const float *)sp_tensor_data(constant_at(w, in_of(x, 1)));
    if (sp_tensor_count(scale) != 1 && sp_tensor_count(scale) != sp_tensor_count(t)) return false;
    for (int64_t i = 0; i < sp_tensor_count(t); i++) {
        const float want = of_x * of_w[sp_tensor_count(ws) > 1 ? i : 0],
                    found = own[sp_tensor_count(scale) > 1 ? i : 0];
        const float off = found > want ? found - want : want - found;
        if (sp_tensor_count(ws) > 1 && i >= sp_tensor_count(ws)) return false;
        if (!(off <= 1e-5f * (want > 0 ? want : -want))) return false;
    }
    *slot = in_of(d, 0);
    return true;
}

/* n becomes `op` on these slots, its result that of q (NULL: its own). */
static sp_status become(walk *w, sp_onnx_node *n, sp_onnx_node *q, const char *domain, const char *op, int opset,
                        int n_in, const int *in)
{
    const sp_onnx_handler *handler = sp__onnx_handler_find(domain, op, opset);
    int *slots = sp__arena_alloc(w->arena, (size_t)n_in * sizeof *slots);
    if (slots == NULL) return SP_NOMEM;
    if (handler == NULL) return SP_OK;
    memcpy(slots, in, (size_t)n_in * sizeof *slots);
    n->op = op;
    n->domain = domain;
    n->opset = opset;
    n->handler = handler;
    n->needed = sp__onnx_needed(handler->name, opset);
    n->in = slots;
    n->n_in = n_in;
    if (q == NULL) return SP_OK;
    n->out[0] = q->out[0];
    w->makers[q->out[0]] = n;
    q->op = ""; /* to be taken out */
    return SP_OK;
}

static bool has_number(const sp_onnx_node *n, const char *name, double value)
{
    const sp_onnx_attr *a = attr_of(n, name);
    return a == NULL || a->f == value;
}

/* The operands of a product; NULL: not of bytes. Weights may have a scale for each channel of the result. */
static bool operands_of(const walk *w, const sp_onnx_node *n, const sp_onnx_node **x, const sp_onnx_node **d, int *bias)
{
    const bool conv = is_op(n, "Conv"), gemm = is_op(n, "Gemm");
    const sp_onnx_attr *turned = attr_of(n, "transB");
    *x = dequantised(w, n, 0);
    *d = weights_of(w, n, 1, conv || (gemm && turned != NULL && turned->i != 0) ? 0 : 1);
    if (*x == NULL || *d == NULL) return false;
    if (gemm && (!has_number(n, "alpha", 1) || !has_number(n, "beta", 1))) return false;
    if (is_op(n, "MatMul") && sp_tensor_rank(constant_at(w, in_of(*d, 0))) != 2 &&
        sp_tensor_count(constant_at(w, in_of(*d, 1))) != 1)
        return false;
    return bias_of(w, n, *x, *d, bias);
}

static sp_status join_product(walk *w, sp_onnx_node *n, sp_onnx_node *q)
{
    const bool conv = is_op(n, "Conv"), gemm = is_op(n, "Gemm");
    const sp_onnx_node *x, *d;
    int bias;
    if (!operands_of(w, n, &x, &d, &bias)) return SP_OK;
    const int a[3] = {x->in[0], x->in[1], in_of(x, 2)}, b[3] = {d->in[0], d->in[1], in_of(d, 2)},
              y[2] = {q->in[1], in_of(q, 2)};
    if (conv)
        return become(w, n, q, "", "QLinearConv", 10, bias < 0 ? 8 : 9,
                      (int[]){a[0], a[1], a[2], b[0], b[1], b[2], y[0], y[1], bias});
    if (gemm)
        return become(w, n, q, "com.microsoft", "QGemm", 1, 9,
                      (int[]){a[0], a[1], a[2], b[0], b[1], b[2], bias, y[0], y[1]});
    return become(w, n, q, "", "QLinearMatMul", 10, 8, (int[]){a[0], a[1], a[2], b[0], b[1], b[2], y[0], y[1]});
}

/* With nothing quantised behind it: the sums of int32 become float32. A convolution has no such form. */
static sp_status join_float(walk *w, sp_onnx_node *n)
{
    const sp_onnx_node *x, *d;
    int bias;
    const bool gemm = is_op(n, "Gemm");
    if ((!gemm && !is_op(n, "MatMul")) || n->n_out != 1 || n->out[0] < 0 || !operands_of(w, n, &x, &d, &bias))
        return SP_OK;
    const int a[3] = {x->in[0], x->in[1], in_of(x, 2)}, b[3] = {d->in[0], d->in[1], in_of(d, 2)};
    if (gemm)
        return become(w, n, NULL, "com.microsoft", "QGemm", 1, 7, (int[]){a[0], a[1], a[2], b[0], b[1], b[2], bias});
    return become(w, n, NULL, "com.microsoft", "MatMulIntegerToFloat", 1, 6,
                  (int[]){a[0], b[0], a[1], b[1], a[2], b[2]});
}

static bool same_bytes(const sp_tensor *a, const sp_tensor *b)
{
    return a != NULL && b != NULL && sp_tensor_dtype(a) == sp_tensor_dtype(b) &&
           sp_tensor_bytes(a) == sp_tensor_bytes(b) &&
           memcmp(sp_tensor_data((sp_tensor *)a), sp_tensor_data((sp_tensor *)b), sp_tensor_bytes(a)) == 0;
}

/* Rounding does not change which is the largest. */
static sp_status join_pool(walk *w, sp_onnx_node *n, sp_onnx_node *q)
{
    const sp_onnx_node *x = dequantised(w, n, 0);
    if (x == NULL || n->n_out != 1 || n->opset < 12 ||
        !same_bytes(constant_at(w, x->in[1]), constant_at(w, q->in[1])) ||
        !same_bytes(constant_at(w, in_of(x, 2)), constant_at(w, in_of(q, 2))))
        return SP_OK;
    return become(w, n, q, "", "MaxPool", n->opset, 1, (int[]){x->in[0]});
}

/* ReLU changes nothing where the lowest byte stands for zero. */
static bool is_no_relu(const walk *w, const sp_onnx_node *n, const sp_onnx_node *q)
{
    const sp_tensor *zero = constant_at(w, in_of(q, 2));
    const uint8_t lowest = sp_tensor_dtype(zero) == SP_DTYPE_U8 ? 0 : 0x80;
    return is_op(n, "Relu") && *(const uint8_t *)sp_tensor_data((sp_tensor *)zero) == lowest;
}

static sp_status join(walk *w, sp_onnx_node *q)
{
    if (!is_op(q, "QuantizeLinear") || in_of(q, 0) < 0 || q->n_out != 1 || q->out[0] < 0) return SP_OK;
    if (!has_scale(w, q, 0, 0, 0) || !is_bytes(constant_at(w, in_of(q, 2)))) return SP_OK;
    sp_onnx_node *n = w->makers[q->in[0]], *relu = NULL;
    if (n == NULL || w->uses[q->in[0]] != 1) return SP_OK;
    if (is_no_relu(w, n, q) && in_of(n, 0) >= 0 && w->uses[n->in[0]] == 1) {
        relu = n;
        n = w->makers[n->in[0]];
    }
    if (n == NULL || n->n_out != 1) return SP_OK;
    if (is_op(n, "Conv") || is_op(n, "Gemm") || is_op(n, "MatMul")) SP_TRY(join_product(w, n, q));
    else if (is_op(n, "MaxPool") && relu == NULL) SP_TRY(join_pool(w, n, q));
    if (relu != NULL && q->op[0] == '\0') relu->op = "";
    return SP_OK;
}

static void count_uses(walk *w)
{
    memset(w->uses, 0, (size_t)w->g->n_slots * sizeof *w->uses);
    for (int i = 0; i < w->g->n_nodes; i++) {
        const sp_onnx_node *n = &w->g->nodes[i];
        for (int k = 0; k < n->n_in && n->op[0] != '\0'; k++)
            if (n->in[k] >= 0) w->uses[n->in[k]]++;
        for (int a = 0; a < n->n_attrs; a++)
            for (int k = 0; n->attrs[a].graph != NULL && k < n->attrs[a].graph->n_captured; k++)
                w->uses[n->attrs[a].graph->captured_from[k]]++;
    }
    for (int i = 0; i < w->g->n_outputs; i++) w->uses[w->g->outputs[i]]++;
}

/* What was joined, and what dequantised for it alone. */
static void take_out(walk *w)
{
    sp_onnx_graph *g = w->g;
    int kept = 0;
    count_uses(w);
    for (int i = 0; i < g->n_nodes; i++) {
        const sp_onnx_node *n = &g->nodes[i];
        if (n->op[0] == '\0' ||
            (is_op(n, "DequantizeLinear") && n->n_out == 1 && n->out[0] >= 0 && w->uses[n->out[0]] == 0))
            continue;
        if (kept != i) g->nodes[kept] = *n;
        kept++;
    }
    g->n_nodes = kept;
}

sp_status sp__onnx_join_quantised(sp__arena *arena, sp_onnx_graph *g)
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        n += is_op(&g->nodes[i], "QuantizeLinear") || is_op(&g->nodes[i], "DequantizeLinear");
    if (n == 0 || g->n_slots == 0) return SP_OK;
    const size_t slots = (size_t)g->n_slots;
    walk w = {.arena = arena,
              .g = g,
              .makers = sp__arena_alloc(arena, slots * sizeof *w.makers),
              .uses = sp__arena_alloc(arena, slots * sizeof *w.uses),
              .constants = sp__arena_alloc(arena, slots * sizeof *w.constants)};
    if (w.makers == NULL || w.uses == NULL || w.constants == NULL) return SP_NOMEM;
    memset(w.makers, 0, slots * sizeof *w.makers);
    memset(w.constants, 0, slots * sizeof *w.constants);
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_out; k++)
            if (g->nodes[i].out[k] >= 0) w.makers[g->nodes[i].out[k]] = &g->nodes[i];
    for (int i = 0; i < g->n_constants; i++)
        if (g->constants[i] != NULL && g->constant_types[i] == 0 && sp_tensor_is_contiguous(g->constants[i]))
            w.constants[g->constant_slots[i]] = g->constants[i];
    for (int i = 0; i < g->n_inputs; i++) w.constants[g->inputs[i]] = NULL; /* a value that the caller may replace */
    count_uses(&w);
    for (int i = 0; i < g->n_nodes; i++) SP_TRY(join(&w, &g->nodes[i]));
    for (int i = 0; i < g->n_nodes; i++) SP_TRY(join_float(&w, &g->nodes[i]));
    take_out(&w);
    return SP_OK;
}
