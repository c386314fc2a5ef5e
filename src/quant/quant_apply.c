/* SPDX-License-Identifier: Apache-2.0 */
/* quant_apply.c - a recording edited as the plan says.
 *
 * static    x -> quantize_linear -> bytes -> dequantize_linear -> the users that take bytes; weights are constants of int8 behind a dequantize_linear. Readers
 *           of the file join "dequantise, compute, quantise" to one operator of integers.
 * dynamic   x -> dynamic_quantize_linear -> matmul_i32 with the weight -> cast, times both scales
 * weights   the weight alone is small, and dequantised where it is used */
#include <string.h>

#include "ir/matmul_geometry.h"
#include "ops/ops_impl.h"
#include "quant/quant.h"
#include "spore/ops_attrs.h"

typedef struct {
    const sp_quantized *q;
    const sp_quant_plan *p;
    sp_quant_recording *r;
} walk;

static sp_status put(sp_function *f, sp_node *before, const sp_op *op, const void *attrs, int n_in, sp_value *const *in,
                     sp_value **out)
{
    sp_node *n;
    SP_TRY(sp__node_op(f, before, op, attrs, n_in, in, &n));
    *out = n->out[0];
    return SP_OK;
}

static sp_status constant(walk *w, sp_tensor *t, sp_value **out)
{
    *out = sp__value_constant(w->r->f, t);
    return *out ? SP_OK : SP_NOMEM;
}

static sp_status number(walk *w, sp_dtype dtype, double v, sp_value **out)
{
    sp_tensor *t;
    SP_TRY(sp_tensor_create_f64(dtype, v, &t));
    const sp_status status = constant(w, t, out);
    sp_tensor_release(t);
    return status;
}

static bool is_quantised(const walk *w, const sp_quant_layer *l)
{
    return !l->kept && (w->q->only < 0 || l == &w->p->layers[w->q->only]);
}

static int place_of(const sp_quant_recording *r, const sp_value *v)
{
    for (int i = 0; i < r->n_values; i++)
        if (r->values[i] == v) return i;
    return -1;
}

/* --- weights ----------------------------------------------------------------------------------------------------- */

/* The weight as float again, from its integers. */
static sp_status weight_value(walk *w, sp_node *before, const sp_quant_layer *l, sp_value **out)
{
    const sp_quant_weight *k = &l->weight;
    sp_value *in[3] = {NULL};
    if (k->bits == 16) {
        const sp_dtype to = SP_DTYPE_F32;
        SP_TRY(constant(w, k->q, &in[0]));
        return put(w->r->f, before, &sp_op_cast, &to, 1, in, out);
    }
    const sp_dequantize_linear_attrs attrs = {
        .axis = k->axis < 0 ? 0 : k->axis, .block = k->block, .bits = k->bits == 4 ? 4 : 0};
    SP_TRY(constant(w, k->q, &in[0]));
    SP_TRY(constant(w, k->scale, &in[1]));
    if (k->zero) SP_TRY(constant(w, k->zero, &in[2]));
    return put(w->r->f, before, &sp_op_dequantize_linear, &attrs, 3, in, out);
}

static sp_status bias_value(walk *w, sp_node *before, const sp_quant_layer *l, sp_value **out)
{
    const sp_dequantize_linear_attrs attrs = {0};
    sp_value *in[3] = {NULL};
    sp_tensor *b = l->corrected ? l->corrected : l->b;
    if (!l->bias_q) return b ? constant(w, b, out) : SP_OK;
    SP_TRY(constant(w, l->bias_q, &in[0]));
    SP_TRY(constant(w, l->bias_scale, &in[1]));
    return put(w->r->f, before, &sp_op_dequantize_linear, &attrs, 3, in, out);
}

/* Its product and bias made anew; values of the recording then are the new ones. */
static sp_status make_layer(walk *w, const sp_quant_layer *l)
{
    sp_quant_recording *r = w->r;
    sp_node *n = r->nodes[l->node], *end = l->bias_node >= 0 ? r->nodes[l->bias_node] : n;
    sp_value *in[3] = {n->in[0], NULL, NULL}, *bias = NULL, *y;
    SP_TRY(weight_value(w, end, l, &in[1]));
    SP_TRY(bias_value(w, end, l, &bias));
    if (l->kind == SP_QUANT_CONV) in[2] = bias;
    SP_TRY(put(r->f, end, n->op, n->attrs, l->kind == SP_QUANT_CONV ? 3 : 2, in, &y));
    sp_node *product = y->node;
    if (l->kind != SP_QUANT_CONV && bias) SP_TRY(put(r->f, end, &sp_op_add, NULL, 2, (sp_value *const[]){y, bias}, &y));
    sp_value *old = end->out[0];
    if (l->fold_act && w->p->values[l->out].bytes) {
        sp_node *act = r->nodes[l->act_node];
        sp__value_replace(r->f->graph, act->out[0], y);
        sp__node_remove(act);
        if (l->cut_node >= 0) sp__node_remove(r->nodes[l->cut_node]);
        r->values[l->out] = y;
    } else {
        sp__value_replace(r->f->graph, old, y);
        r->values[l->bias_node >= 0 ? place_of(r, old) : l->y] = y;
    }
    if (end != n) sp__node_remove(end);
    sp__node_remove(n);
    r->nodes[l->node] = product;
    return SP_OK;
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

static sp_dtype dtype_of(const walk *w) { return w->q->options.activation_bits == 16 ? SP_DTYPE_I16 : SP_DTYPE_I8; }

/* Is it a node that the plan knows, and not one that was put in since? */
static bool is_planned(const walk *w, const sp_node *n)
{
    return n->order < w->p->n_nodes && w->r->nodes[n->order] == n && w->p->layer_of[n->order] < 0;
}

/* Does that operand of a node take bytes? */
static bool takes_bytes(const walk *w, const sp_node *n, int operand, const sp_value *v)
{
    if (n->kind != SP_NODE_OP) return false;
    for (int i = 0; i < w->p->n_layers && operand == 0; i++) {
        const sp_quant_layer *l = &w->p->layers[i];
        if (is_quantised(w, l) && w->r->values[l->x] == v && n == w->r->nodes[l->node]) return true;
    }
    if (!is_planned(w, n) || w->p->parts[n->order] == SP_QUANT_FLOAT) return false;
    const int out = place_of(w->r, n->out[0]);
    return out >= 0 && w->p->values[out].bytes && w->p->values[out].all;
}

/* Users of v take `as` instead: all of them, or those that compute with integers. */
static void hand_out(walk *w, sp_value *v, sp_value *as, const sp_node *except, bool all)
{
    sp_function *f = w->r->f;
    for (sp_node *n = f->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] == v && n != except && (all || takes_bytes(w, n, i, v))) n->in[i] = as;
    for (int i = 0; i < f->n_results && all; i++)
        if (f->results[i] == v) f->results[i] = as;
}

/* The operator once more, on bytes. */
static sp_status move_bytes(walk *w, sp_node *n, sp_node *before, sp_value **out)
{
    sp_value **in = sp__alloc((size_t)n->n_in * sizeof *in);
    if (!in) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int i = 0; i < n->n_in && status == SP_OK; i++) {
        const sp_node *by =
            n->in[i]->origin == SP_VALUE_NODE ? n->in[i]->node : NULL; /* operands are dequantised ones by now */
        if (by && by->kind == SP_NODE_OP && by->op == &sp_op_dequantize_linear) in[i] = by->in[0];
        else status = sp__fail(SP_RUNTIME, "%s takes an operand that is no bytes", n->op->name);
    }
    if (status == SP_OK) status = put(w->r->f, before, n->op, n->attrs, n->n_in, in, out);
    sp__free(in);
    return status;
}

static sp_status make_bytes(walk *w, int place)
{
    const sp_quant_scale *s = &w->p->groups[w->p->values[place].group].scale;
    sp_value *v = w->r->values[place], *scale, *zero, *q, *back;
    sp_node *by = v->origin == SP_VALUE_NODE ? v->node : NULL, *next = by ? by->next : w->r->f->first;
    const sp_quantize_linear_attrs axis = {0};
    const sp_dequantize_linear_attrs axes = {0};
    SP_TRY(number(w, SP_DTYPE_F32, (double)s->scale, &scale));
    SP_TRY(number(w, dtype_of(w), s->zero, &zero));
    if (by && is_planned(w, by) && w->p->parts[by->order] == SP_QUANT_MOVE && w->p->values[place].all)
        SP_TRY(move_bytes(w, by, next, &q));
    else SP_TRY(put(w->r->f, next, &sp_op_quantize_linear, &axis, 3, (sp_value *const[]){v, scale, zero}, &q));
    SP_TRY(put(w->r->f, next, &sp_op_dequantize_linear, &axes, 3, (sp_value *const[]){q, scale, zero}, &back));
    hand_out(w, v, back, q->node, w->p->values[place].all);
    return SP_OK;
}

/* --- dynamic ----------------------------------------------------------------------------------------------------- */

static sp_status make_dynamic(walk *w, const sp_quant_layer *l)
{
    sp_quant_recording *r = w->r;
    sp_function *f = r->f;
    sp_node *n = r->nodes[l->node], *end = l->bias_node >= 0 ? r->nodes[l->bias_node] : n, *bytes;
    const sp_matmul_attrs *a = n->attrs ? n->attrs : n->op->defaults;
    const sp_dtype to = SP_DTYPE_F32;
    sp_value *weight, *scale, *y, *bias;
    sp_tensor *columns = NULL;
    SP_TRY(sp__node_op(f, end, &sp_op_dynamic_quantize_linear, NULL, 1, &n->in[0], &bytes));
    if (a->transpose_b) { /* [n, k] as [k, n] */
        sp_builder b;
        sp__builder_init(&b);
        sp_tensor *t = sp_transpose(&b, l->weight.q, 2, (int64_t[]){1, 0});
        sp_status status = sp__builder_status(&b);
        if (status == SP_OK) status = sp_tensor_copy(t, &columns);
        sp__builder_done(&b);
        SP_TRY(status);
    } else columns = sp_tensor_retain(l->weight.q);
    const sp_status status = constant(w, columns, &weight);
    sp_tensor_release(columns);
    SP_TRY(status);
    SP_TRY(constant(w, l->weight.scale, &scale));
    SP_TRY(
        put(f, end, &sp_op_matmul_i32, NULL, 4, (sp_value *const[]){bytes->out[0], weight, bytes->out[2], NULL}, &y));
    SP_TRY(put(f, end, &sp_op_cast, &to, 1, &y, &y));
    SP_TRY(put(f, end, &sp_op_mul, NULL, 2, (sp_value *const[]){scale, bytes->out[1]}, &scale));
    SP_TRY(put(f, end, &sp_op_mul, NULL, 2, (sp_value *const[]){y, scale}, &y));
    if (l->bias_node >= 0) {
        SP_TRY(constant(w, l->b, &bias));
        SP_TRY(put(f, end, &sp_op_add, NULL, 2, (sp_value *const[]){y, bias}, &y));
    }
    sp__value_replace(f->graph, end->out[0], y);
    return SP_OK;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

sp_status sp__quant_apply(const sp_quantized *q, sp_quant_recording *r)
{
    walk w = {.q = q, .p = q->plan, .r = r};
    const bool dynamic = strcmp(q->options.kind, "dynamic") == 0;
    for (int i = 0; i < w.p->n_layers; i++)
        if (is_quantised(&w, &w.p->layers[i]))
            SP_TRY(dynamic ? make_dynamic(&w, &w.p->layers[i]) : make_layer(&w, &w.p->layers[i]));
    for (int i = 0; i < r->n_values; i++)
        if (w.p->values[i].bytes) SP_TRY(make_bytes(&w, i));
    return SP_OK;
}
