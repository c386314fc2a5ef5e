/* SPDX-License-Identifier: Apache-2.0 */
/* quant_plan.c - what is quantised: layers with weights, and the values between them that live as bytes.
 *
 * A value is wanted as bytes where a quantised layer takes it. Wanting goes back through operators that only move or pick elements, and through those
 * that compute (sums of branches, averages, activations) where what they take comes from integers, too. So chains from layer to layer are bytes all
 * the way, while what networks compute between them with care (normalisations, softmax, GELU, attention, also when they are written out in
 * small operators) stays float as a whole: none of their operators is in the list. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/matmul_geometry.h"
#include "ops/ops_impl.h"
#include "quant/quant.h"
#include "spore/ops_attrs.h"

static const struct {
    const sp_op *op;
    sp_quant_part part;
} parts[] = {
    {&sp_op_reshape, SP_QUANT_MOVE},
    {&sp_op_transpose, SP_QUANT_MOVE},
    {&sp_op_concat, SP_QUANT_MOVE},
    {&sp_op_slice, SP_QUANT_MOVE},
    {&sp_op_max_pool1d, SP_QUANT_KEEP},
    {&sp_op_max_pool2d, SP_QUANT_KEEP},
    {&sp_op_max_pool3d, SP_QUANT_KEEP},
    {&sp_op_add, SP_QUANT_COMPUTE},
    {&sp_op_relu, SP_QUANT_COMPUTE},
    {&sp_op_relu6, SP_QUANT_COMPUTE},
    {&sp_op_leaky_relu, SP_QUANT_COMPUTE},
    {&sp_op_hardswish, SP_QUANT_COMPUTE},
    {&sp_op_hardsigmoid, SP_QUANT_COMPUTE},
    {&sp_op_sigmoid, SP_QUANT_COMPUTE},
    {&sp_op_silu, SP_QUANT_COMPUTE},
    {&sp_op_mul, SP_QUANT_COMPUTE},
    {&sp_op_avg_pool1d, SP_QUANT_COMPUTE},
    {&sp_op_avg_pool2d, SP_QUANT_COMPUTE},
    {&sp_op_avg_pool3d, SP_QUANT_COMPUTE},
    {&sp_op_adaptive_avg_pool1d, SP_QUANT_COMPUTE},
    {&sp_op_adaptive_avg_pool2d, SP_QUANT_COMPUTE},
    {&sp_op_adaptive_avg_pool3d, SP_QUANT_COMPUTE},
    {&sp_op_reduce_mean, SP_QUANT_COMPUTE},
    {&sp_op_resize, SP_QUANT_COMPUTE},
};

/* --- places ------------------------------------------------------------------------------------------------------ */

/* The number of a value of the recording; -1: a constant, or of another function. */
static int place_of(const sp_quant_recording *r, const sp_value *v)
{
    if (!v) return -1;
    if (v->origin == SP_VALUE_PARAM && v->owner == r->f) return v->index;
    for (int i = r->f->n_params; v->origin == SP_VALUE_NODE && i < r->n_values; i++)
        if (r->values[i] == v) return i;
    return -1;
}

/* The node that alone uses v; NULL: there are more, or none, or it is a result. */
static sp_node *only_user(const sp_quant_recording *r, const sp_value *v)
{
    sp_node *found = NULL;
    if (sp__function_uses(r->f, v) != 1) return NULL;
    for (int k = 0; k < r->n_nodes && !found; k++)
        for (int i = 0; i < r->nodes[k]->n_in; i++)
            if (r->nodes[k]->in[i] == v) found = r->nodes[k];
    return found && found->kind == SP_NODE_OP ? found : NULL;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

/* What the file calls the weight behind a value; NULL: nothing. */
static const char *name_of(const sp_model *m, const sp_value *v, int depth)
{
    if (!v || depth > 8) return NULL;
    if (v->origin == SP_VALUE_CONSTANT)
        return v->mark ? name_of(m, v->mark, depth + 1) : NULL; /* sp__quant_fold_norms says whose it is */
    const sp_node *n = v->origin == SP_VALUE_NODE ? v->node : NULL;
    if (!n) return NULL;
    for (int64_t i = 0; n->kind == SP_NODE_READ && i < sp_bundle_count(m->parameters); i++)
        if (sp_bundle_tensor_at(m->parameters, i) == n->variable->tensor) return sp_bundle_name_at(m->parameters, i);
    for (int i = 0; n->kind == SP_NODE_OP && i < n->n_in; i++) {
        const char *name = name_of(m, n->in[i], depth + 1);
        if (name) return name;
    }
    return NULL;
}

/* "fc1" of "fc1.weight"; of names that a converter made up ("onnx::MatMul_33") nothing. */
static size_t stem_of(const char *name)
{
    static const char *const ends[] = {".weight", ".bias", ".gamma", ".beta", "/weight", "/bias", "/kernel"};
    if (!name || strstr(name, "::")) return 0;
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t k = strlen(ends[i]);
        if (n > k && strcmp(name + n - k, ends[i]) == 0) return n - k;
    }
    return n;
}

static const char *layer_name(sp_quant_plan *p, const sp_model *m, const sp_value *w, const sp_value *b,
                              const sp_op *op)
{
    char text[256], unique[288];
    const char *of_w = name_of(m, w, 0), *of_b = name_of(m, b, 0);
    const size_t n_w = stem_of(of_w), n_b = stem_of(of_b);
    const char *from = n_w > 0 ? of_w : of_b;
    const size_t n = n_w > 0 ? n_w : n_b;
    if (n > 0) snprintf(text, sizeof text, "%.*s", (int)(n < 250 ? n : 250), from);
    else snprintf(text, sizeof text, "%s_%d", op->name, p->n_layers);
    snprintf(unique, sizeof unique, "%s", text);
    for (int k = 2, i = 0; i < p->n_layers; i++)
        if (strcmp(p->layers[i].name, unique) == 0) {
            snprintf(unique, sizeof unique, "%s_%d", text, k++);
            i = -1;
        }
    return sp__arena_text(&p->arena, unique);
}

/* "conv1,block*": does the list name it? */
static bool matches(const char *pattern, size_t n, const char *name)
{
    if (n == 0) return *name == '\0';
    if (*pattern == '*') {
        for (;; name++) {
            if (matches(pattern + 1, n - 1, name)) return true;
            if (*name == '\0') return false;
        }
    }
    return *pattern == *name && matches(pattern + 1, n - 1, name + 1);
}

static bool is_listed(const char *list, const char *name)
{
    while (list && *list) {
        const size_t n = strcspn(list, ",");
        if (matches(list, n, name)) return true;
        list += n + (list[n] == ',');
    }
    return false;
}

/* --- layers ------------------------------------------------------------------------------------------------------ */

/* The bias behind a matrix product: an add of a vector of constants with one number a column. */
static sp_status find_bias(const sp_quant_recording *r, sp_quant_layer *l, const sp_value **value)
{
    const sp_value *y = r->nodes[l->node]->out[0];
    sp_node *add = only_user(r, y);
    const int rank = y->meta.rank;
    *value = NULL;
    if (!add || add->op != &sp_op_add || rank < 1) return SP_OK;
    const sp_value *other = add->in[add->in[0] == y];
    const sp_meta *m = &other->meta;
    if (other == y || m->dtype != SP_DTYPE_F32 || m->rank < 1 || m->rank > rank ||
        m->dims[m->rank - 1] != y->meta.dims[rank - 1])
        return SP_OK;
    for (int k = 0; k < m->rank - 1; k++)
        if (m->dims[k] != 1) return SP_OK;
    SP_TRY(sp__quant_constant(other, &l->b));
    if (!l->b) return SP_OK;
    l->bias_node = add->order;
    l->out = place_of(r, add->out[0]);
    *value = other;
    return SP_OK;
}

/* The number that a node cuts its operand at: maximum (or minimum) with a constant. */
static bool cuts_at(const sp_node *n, const sp_op *op, const sp_value *v, float *at)
{
    if (!n || n->op != op) return false;
    const sp_value *c = n->in[n->in[0] == v];
    if (c->origin != SP_VALUE_CONSTANT || c->constant->count != 1 || c->constant->dtype != SP_DTYPE_F32) return false;
    *at = *(const float *)(const void *)c->constant->data;
    return true;
}

/* What only cuts: ReLU, ReLU6, or maximum and minimum with numbers, in either order. */
static void find_activation(const sp_quant_recording *r, sp_quant_layer *l)
{
    const sp_value *y = r->values[l->out];
    sp_node *act = only_user(r, y);
    l->act_low = -INFINITY;
    l->act_high = INFINITY;
    if (!act) return;
    if (act->op == &sp_op_relu || act->op == &sp_op_relu6) {
        l->act_low = 0;
        if (act->op == &sp_op_relu6) l->act_high = 6;
    } else if (cuts_at(act, &sp_op_maximum, y, &l->act_low)) {
        sp_node *next = only_user(r, act->out[0]);
        if (cuts_at(next, &sp_op_minimum, act->out[0], &l->act_high)) {
            l->cut_node = act->order;
            act = next;
        }
    } else if (cuts_at(act, &sp_op_minimum, y, &l->act_high)) {
        sp_node *next = only_user(r, act->out[0]);
        if (cuts_at(next, &sp_op_maximum, act->out[0], &l->act_low)) {
            l->cut_node = act->order;
            act = next;
        }
    } else return;
    l->act_node = act->order;
    l->out = place_of(r, act->out[0]);
}

static uint64_t work_of(const sp_quant_recording *r, const sp_quant_layer *l)
{
    const sp_meta *y = &r->values[l->y]->meta;
    uint64_t n = 1;
    for (int k = 0; k < y->rank; k++) n *= (uint64_t)y->dims[k];
    return l->kind == SP_QUANT_GATHER ? 0 : n * (uint64_t)(l->w->count / l->w->dims[l->channel_axis]);
}

/* Is it a layer that can be quantised? l->w NULL: no. */
static sp_status layer_at(const sp_quantized *q, const sp_quant_recording *r, int node, sp_quant_layer *l,
                          const sp_value **w, const sp_value **b)
{
    sp_node *n = r->nodes[node];
    const bool conv = n->kind == SP_NODE_OP && sp__quant_is_conv(n->op),
               product = n->kind == SP_NODE_OP && n->op == &sp_op_matmul;
    *l = (sp_quant_layer){.node = node, .bias_node = -1, .act_node = -1, .cut_node = -1, .op = n->op, .effect = NAN};
    *w = *b = NULL;
    if (!conv && !product) return SP_OK;
    if (n->in[0]->meta.dtype != SP_DTYPE_F32 || n->in[1]->meta.rank < 2 || (l->x = place_of(r, n->in[0])) < 0)
        return SP_OK;
    const sp_matmul_attrs *a = product ? n->attrs ? n->attrs : n->op->defaults : NULL;
    if (product && (a->transpose_a || n->in[1]->meta.rank != 2 || n->in[0]->meta.rank < 2)) return SP_OK;
    if (strcmp(q->options.kind, "dynamic") == 0 && !product) return SP_OK;
    SP_TRY(sp__quant_constant(n->in[1], &l->w));
    if (!l->w) return SP_OK;
    sp_tensor *plain;
    SP_TRY(sp_tensor_contiguous(l->w, &plain));
    sp_tensor_release(l->w);
    l->w = plain;
    *w = n->in[1];
    l->kind = conv ? SP_QUANT_CONV : SP_QUANT_MATMUL;
    l->y = l->out = place_of(r, n->out[0]);
    l->channel_axis = conv || a->transpose_b ? 0 : 1;
    if (conv) l->groups = n->in[0]->meta.dims[1] / l->w->dims[1];
    l->y_axis = conv ? 1 : n->out[0]->meta.rank - 1;
    l->gemm = product && n->in[0]->meta.rank == 2;
    if (conv && n->n_in > 2 && n->in[2]) {
        *b = n->in[2];
        SP_TRY(sp__quant_constant(n->in[2], &l->b));
        if (!l->b) l->kept = "its bias is not constant";
    } else if (product) SP_TRY(find_bias(r, l, b));
    if (l->b) {
        SP_TRY(sp_tensor_contiguous(l->b, &plain));
        sp_tensor_release(l->b);
        l->b = plain;
    }
    find_activation(r, l);
    return SP_OK;
}

static void layer_free(sp_quant_layer *l)
{
    sp_tensor_release(l->w);
    sp_tensor_release(l->b);
    sp_tensor_release(l->corrected);
    sp_tensor_release(l->adapted);
    sp_tensor_release(l->bias_q);
    sp_tensor_release(l->bias_scale);
    sp__quant_weight_free(&l->weight);
    sp__free(l->shift);
}

void sp__quant_plan_free(sp_quant_plan *p)
{
    if (!p) return;
    for (int i = 0; i < p->n_layers; i++) layer_free(&p->layers[i]);
    for (int i = 0; i < p->n_groups && p->groups && p->seen; i++) {
        sp__quant_observer_free(&p->groups[i].seen);
        sp__quant_observer_free(&p->seen[i]);
    }
    sp__arena_free(&p->arena);
    sp__free(p);
}

/* A name that no layer has keeps nothing: it was meant for another one. */
static sp_status check_kept(const sp_quant_plan *p, const char *list)
{
    char layers[512];
    size_t used = 0;
    for (int i = 0; i < p->n_layers && used < sizeof layers; i++)
        used += (size_t)snprintf(layers + used, sizeof layers - used, "%s%s", i ? ", " : "", p->layers[i].name);
    while (list && *list) {
        const size_t n = strcspn(list, ",");
        bool found = false;
        for (int i = 0; i < p->n_layers && !found; i++) found = matches(list, n, p->layers[i].name);
        SP_CHECK(found, SP_VALUE, "keep names '%.*s', which no layer is called; layers that can be quantised: %s%s",
                 (int)(n < 100 ? n : 100), list, p->n_layers ? layers : "none", used >= sizeof layers ? "..." : "");
        list += n + (list[n] == ',');
    }
    return SP_OK;
}

static sp_status find_layers(sp_quantized *q, sp_quant_plan *p, const sp_quant_recording *r)
{
    for (int i = 0; i < r->n_nodes; i++) {
        sp_quant_layer l;
        const sp_value *w, *b;
        sp_status status = layer_at(q, r, i, &l, &w, &b);
        if (status == SP_OK && l.w && !(l.name = layer_name(p, q->model, w, b, l.op))) status = SP_NOMEM;
        if (status != SP_OK || !l.w) {
            layer_free(&l);
            SP_TRY(status);
            continue;
        }
        if (is_listed(q->options.keep, l.name)) l.kept = "named by the caller";
        l.multiply_adds = work_of(r, &l);
        const int nodes[4] = {l.node, l.bias_node, l.act_node, l.cut_node};
        for (int k = 0; k < 4; k++)
            if (nodes[k] >= 0) p->layer_of[nodes[k]] = p->n_layers;
        p->layers[p->n_layers++] = l;
    }
    return check_kept(p, q->options.keep);
}

/* --- operators between layers ------------------------------------------------------------------------------------ */

/* A product of branches is a gate (squeeze and excitation, swish) if one of them is a sigmoid. */
static bool is_gate(const sp_node *n)
{
    for (int i = 0; i < 2; i++) {
        const sp_node *by = n->in[i]->origin == SP_VALUE_NODE ? n->in[i]->node : NULL;
        if (by && by->kind == SP_NODE_OP && (by->op == &sp_op_sigmoid || by->op == &sp_op_hardsigmoid)) return true;
    }
    return false;
}

static sp_quant_part part_of(const sp_quant_recording *r, const sp_node *n)
{
    sp_quant_part part = SP_QUANT_FLOAT;
    if (n->kind != SP_NODE_OP || n->n_out != 1) return SP_QUANT_FLOAT;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].op == n->op) part = parts[i].part;
    for (int i = 0; i < n->n_in && part != SP_QUANT_FLOAT; i++)
        if (!n->in[i] || place_of(r, n->in[i]) < 0 || n->in[i]->meta.dtype != SP_DTYPE_F32) part = SP_QUANT_FLOAT;
    if (n->op == &sp_op_mul && part != SP_QUANT_FLOAT && !is_gate(n)) part = SP_QUANT_FLOAT;
    /* Means of images are averages; means of the last axis belong to normalisations. */
    if (n->op == &sp_op_reduce_mean && n->in[0]->meta.rank < 3) part = SP_QUANT_FLOAT;
    return part;
}

sp_status sp__quant_plan_make(sp_quantized *q, const sp_quant_recording *r)
{
    sp_quant_plan *p = q->plan = sp__alloc_zero(sizeof *p);
    if (!p) return SP_NOMEM;
    p->n_nodes = r->n_nodes;
    p->n_values = r->n_values;
    p->n_groups = r->n_values;
    const size_t nodes = (size_t)r->n_nodes + 1, values = (size_t)r->n_values + 1;
    p->ops = sp__arena_alloc(&p->arena, nodes * sizeof *p->ops);
    p->parts = sp__arena_alloc(&p->arena, nodes * sizeof *p->parts);
    p->layer_of = sp__arena_alloc(&p->arena, nodes * sizeof *p->layer_of);
    p->layers = sp__arena_alloc(&p->arena, nodes * sizeof *p->layers);
    p->values = sp__arena_alloc(&p->arena, values * sizeof *p->values);
    p->groups = sp__arena_alloc(&p->arena, values * sizeof *p->groups);
    p->seen = sp__arena_alloc(&p->arena, values * sizeof *p->seen);
    if (!p->ops || !p->parts || !p->layer_of || !p->layers || !p->values || !p->groups || !p->seen) return SP_NOMEM;
    memset(p->groups, 0, values * sizeof *p->groups);
    memset(p->seen, 0, values * sizeof *p->seen);
    for (int i = 0; i < r->n_nodes; i++) {
        p->ops[i] = r->nodes[i]->op;
        p->parts[i] = part_of(r, r->nodes[i]);
        p->layer_of[i] = -1;
    }
    SP_TRY(find_layers(q, p, r));
    return sp__quant_plan_values(q, r);
}

/* --- values ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const sp_quantized *q;
    const sp_quant_recording *r;
    sp_quant_plan *p;
} walk;

static bool is_quantised(const walk *w, const sp_quant_layer *l)
{
    return !l->kept && (w->q->only < 0 || l == &w->p->layers[w->q->only]);
}

/* Does it come from integers, or from something that has a form for them? */
static bool comes_from_bytes(const walk *w, int place)
{
    const sp_value *v = w->r->values[place];
    if (v->origin != SP_VALUE_NODE) return true; /* an input: rounded once for all */
    const int node = v->node->order, layer = w->p->layer_of[node];
    if (layer >= 0) return is_quantised(w, &w->p->layers[layer]) && w->p->layers[layer].out == place;
    return w->p->parts[node] != SP_QUANT_FLOAT;
}

static void want(const walk *w, int place)
{
    sp_quant_value *v = &w->p->values[place];
    const sp_value *value = w->r->values[place];
    if (v->bytes) return;
    v->bytes = true;
    const sp_node *n = value->origin == SP_VALUE_NODE ? value->node : NULL;
    if (!n) return;
    if (w->p->layer_of[n->order] >= 0) {
        v->all = is_quantised(w, &w->p->layers[w->p->layer_of[n->order]]);
        return;
    }
    const sp_quant_part part = w->p->parts[n->order];
    if (part == SP_QUANT_FLOAT) return;
    if (part == SP_QUANT_COMPUTE)
        for (int i = 0; i < n->n_in; i++)
            if (!comes_from_bytes(w, place_of(w->r, n->in[i]))) return;
    v->all = true;
    for (int i = 0; i < n->n_in; i++) want(w, place_of(w->r, n->in[i]));
}

static int root_of(const int *parent, int i)
{
    while (parent[i] != i) i = parent[i];
    return i;
}

static void join_groups(const walk *w, int *parent)
{
    for (int i = 0; i < w->r->n_values; i++) parent[i] = i;
    for (int k = 0; k < w->r->n_nodes; k++) {
        const sp_node *n = w->r->nodes[k];
        const sp_quant_part part = w->p->parts[k];
        if ((part != SP_QUANT_MOVE && part != SP_QUANT_KEEP) || w->p->layer_of[k] >= 0) continue;
        const int out = place_of(w->r, n->out[0]);
        if (!w->p->values[out].bytes || !w->p->values[out].all) continue;
        for (int i = 0; i < n->n_in; i++) {
            const int a = root_of(parent, place_of(w->r, n->in[i])), b = root_of(parent, out);
            parent[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (int i = 0; i < w->r->n_values; i++) {
        w->p->values[i].group = w->p->values[i].bytes ? root_of(parent, i) : -1;
        if (w->p->values[i].group >= 0) w->p->groups[w->p->values[i].group].used = true;
    }
}

sp_status sp__quant_plan_values(const sp_quantized *q, const sp_quant_recording *r)
{
    walk w = {q, r, q->plan};
    memset(w.p->values, 0, (size_t)(r->n_values + 1) * sizeof *w.p->values);
    for (int i = 0; i < r->n_values; i++) w.p->groups[i].used = false;
    int *parent = sp__alloc((size_t)(r->n_values + 1) * sizeof *parent);
    if (!parent) return SP_NOMEM;
    for (int i = 0; i < w.p->n_layers && strcmp(q->options.kind, "static") == 0; i++) {
        const sp_quant_layer *l = &w.p->layers[i];
        if (!is_quantised(&w, l)) continue;
        want(&w, l->x);
        if (l->kind == SP_QUANT_CONV) want(&w, l->out); /* a convolution of integers gives integers */
        if (!w.p->groups[l->x].name) w.p->groups[l->x].name = l->name;
    }
    join_groups(&w, parent);
    sp__free(parent);
    return SP_OK;
}
