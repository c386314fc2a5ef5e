/* SPDX-License-Identifier: Apache-2.0 */
/* recording.c - recordings of a model, numbered, with the weights of layers in plain sight. */
#include <string.h>

#include "ops/ops_impl.h"
#include "quant/quant.h"

/* --- constants --------------------------------------------------------------------------------------------------- */

enum { DEPTH_MAX = 32, IN_MAX = 8 };

static sp_status constant_at(const sp_value *v, int depth, sp_tensor **out)
{
    *out = NULL;
    if (v->origin == SP_VALUE_CONSTANT) {
        *out = sp_tensor_retain(v->constant);
        return SP_OK;
    }
    const sp_node *n = v->origin == SP_VALUE_NODE ? v->node : NULL;
    if (!n || depth == DEPTH_MAX) return SP_OK;
    if (n->kind == SP_NODE_READ) {
        if (!n->variable->written) *out = sp_tensor_retain(n->variable->tensor);
        return SP_OK;
    }
    if (n->kind != SP_NODE_OP || n->n_in == 0 || n->n_in > IN_MAX || n->n_out != 1) return SP_OK;
    sp_tensor *in[IN_MAX] = {NULL};
    sp_status status = SP_OK;
    bool all = true;
    int n_out;
    for (int i = 0; i < n->n_in && status == SP_OK && all; i++) {
        if (!n->in[i]) continue;
        status = constant_at(n->in[i], depth + 1, &in[i]);
        all = in[i] != NULL;
    }
    if (status == SP_OK && all) status = sp_apply(n->op, n->attrs, n->n_in, in, 1, out, &n_out);
    for (int i = 0; i < n->n_in; i++) sp_tensor_release(in[i]);
    return status;
}

sp_status sp__quant_constant(const sp_value *v, sp_tensor **out) { return constant_at(v, 0, out); }

/* --- batch norms ------------------------------------------------------------------------------------------------- */

bool sp__quant_is_conv(const sp_op *op) { return op->family == SP_FAMILY_CONV; }

/* w * scale and b * scale + shift, all by channel (the first axis of w). */
static sp_status scale_weights(sp_tensor *const in[4], sp_tensor *out[2])
{
    sp_builder b;
    sp__builder_init(&b);
    int64_t dims[SP_RANK_MAX] = {-1};
    for (int i = 1; i < in[0]->rank; i++) dims[i] = 1;
    sp_tensor *w = sp_mul(&b, in[0], sp_reshape(&b, in[2], in[0]->rank, dims));
    sp_tensor *bias = in[1] ? sp_add(&b, sp_mul(&b, in[1], in[2]), in[3]) : sp_identity(&b, in[3]);
    const sp_status status = sp__builder_status(&b);
    for (int i = 0; i < 2 && status == SP_OK; i++) out[i] = sp_tensor_retain(i ? bias : w);
    sp__builder_done(&b);
    return status;
}

static sp_status fold_norm(sp_function *f, sp_node *n, bool *done)
{
    sp_node *conv = n->in[0]->origin == SP_VALUE_NODE ? n->in[0]->node : NULL, *made;
    *done = false;
    if (!conv || conv->kind != SP_NODE_OP || !sp__quant_is_conv(conv->op) || conv->owner != f ||
        sp__function_uses(f, conv->out[0]) != 1)
        return SP_OK;
    const sp_value *from[4] = {conv->in[1], conv->n_in > 2 ? conv->in[2] : NULL, n->in[1], n->in[2]};
    sp_tensor *in[4] = {NULL}, *folded[2] = {NULL};
    sp_status status = SP_OK;
    bool all = true;
    for (int i = 0; i < 4 && status == SP_OK; i++) {
        if (!from[i]) continue;
        status = sp__quant_constant(from[i], &in[i]);
        all &= in[i] && in[i]->dtype == SP_DTYPE_F32;
    }
    if (status == SP_OK && all) status = scale_weights(in, folded);
    if (status == SP_OK && all) {
        sp_value *args[3] = {conv->in[0], sp__value_constant(f, folded[0]), sp__value_constant(f, folded[1])};
        status = args[1] && args[2] ? sp__node_op(f, n, conv->op, conv->attrs, 3, args, &made) : SP_NOMEM;
        if (status == SP_OK) {
            args[1]->mark = (void *)from[0]; /* whose weights these are */
            made->place = conv->place;
            sp__value_replace(f->graph, n->out[0], made->out[0]);
            sp__node_remove(n);
            sp__node_remove(conv);
            *done = true;
        }
    }
    for (int i = 0; i < 4; i++) sp_tensor_release(in[i]);
    for (int i = 0; i < 2; i++) sp_tensor_release(folded[i]);
    return status;
}

sp_status sp__quant_fold_norms(sp_function *f)
{
    bool done;
    for (sp_node *n = f->first, *next; n; n = next) {
        next = n->next;
        if (n->kind == SP_NODE_OP && n->op == &sp_op_channel_affine) SP_TRY(fold_norm(f, n, &done));
    }
    return SP_OK;
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

void sp__quant_recording_free(sp_quant_recording *r)
{
    sp__free(r->nodes);
    sp__free(r->values);
    sp_graph_release(r->graph);
    *r = (sp_quant_recording){0};
}

static sp_status check_same(const sp_quant_recording *r, const sp_quant_plan *plan)
{
    bool same = r->n_nodes == plan->n_nodes && r->n_values == plan->n_values;
    for (int i = 0; same && i < r->n_nodes; i++) same = plan->ops[i] == r->nodes[i]->op;
    SP_CHECK(
        same, SP_DECLINED,
        "the network consists of other operators for other sizes of its inputs, so that one choice of scales cannot serve all");
    return SP_OK;
}

/* The plan's weights instead of the model's. */
static sp_status put_weights(sp_quant_recording *r, const sp_quant_plan *plan)
{
    for (int i = 0; i < plan->n_layers; i++) {
        const sp_quant_layer *l = &plan->layers[i];
        if (!l->changed) continue;
        sp_node *n = r->nodes[l->node];
        sp_value *w = sp__value_constant(r->f, l->w), *b = l->b ? sp__value_constant(r->f, l->b) : NULL;
        if (!w || (l->b && !b)) return SP_NOMEM;
        n->in[1] = w;
        if (!b) continue;
        if (l->bias_node >= 0) {
            sp_node *sum = r->nodes[l->bias_node];
            sum->in[sum->in[0] == n->out[0]] = b;
        } else if (n->n_in > 2) n->in[2] = b;
    }
    return SP_OK;
}

sp_status sp__quant_number(sp_function *f, const sp_quant_plan *plan, sp_quant_recording *out)
{
    sp_quant_recording r = {.f = f};
    SP_CHECK(!f->tail, SP_DECLINED, "the network ends in a loop or branch, which is not quantised");
    r.n_values = f->n_params;
    for (const sp_node *n = f->first; n; n = n->next) {
        r.n_nodes++;
        r.n_values += n->n_out;
    }
    r.nodes = sp__alloc_zero((size_t)(r.n_nodes + 1) * sizeof *r.nodes);
    r.values = sp__alloc_zero((size_t)(r.n_values + 1) * sizeof *r.values);
    sp_status status = r.nodes && r.values ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        int n_nodes = 0, n_values = 0;
        for (int i = 0; i < f->n_params; i++) r.values[n_values++] = f->params[i];
        for (sp_node *n = f->first; n; n = n->next) {
            n->order = n_nodes;
            r.nodes[n_nodes++] = n;
            for (int i = 0; i < n->n_out; i++) r.values[n_values++] = n->out[i];
        }
        if (plan) status = check_same(&r, plan);
        if (status == SP_OK && plan) status = put_weights(&r, plan);
    }
    if (status == SP_OK) *out = r;
    else sp__quant_recording_free(&r);
    return status;
}

sp_status sp__quant_record(const sp_quantized *q, const sp_spec *specs, sp_quant_recording *out)
{
    const sp_model *m = q->model;
    sp_graph *graph;
    sp_function *f;
    sp_status status = sp__model_record(m, m->n_inputs >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << m->n_inputs) - 1,
                                        m->n_inputs, specs, &graph, &f);
    if (status == SP_SYMBOL)
        return sp__fail(
            SP_DECLINED,
            "shapes inside of the model depend on the contents of tensors, so that it is not one graph, and cannot be quantised");
    SP_TRY(status);
    status = sp__quant_fold_norms(f);
    if (status == SP_OK) status = sp__quant_number(f, q->plan, out);
    if (status == SP_OK) out->graph = graph;
    else sp_graph_release(graph);
    return status;
}

void sp__quant_specs(int n, sp_tensor *const *in, sp_spec *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = (sp_spec){.dtype = (sp_dtype)in[i]->dtype, .rank = in[i]->rank};
        memcpy(out[i].dims, in[i]->dims, sizeof(int64_t) * (size_t)in[i]->rank);
    }
}

void sp__quant_release(int n, sp_tensor **t)
{
    for (int i = 0; i < n; i++) {
        sp_tensor_release(t[i]);
        t[i] = NULL;
    }
}

sp_status sp__quant_record_for(const sp_quantized *q, sp_tensor *const *in, sp_quant_recording *out)
{
    sp_spec *specs = sp__alloc_zero(64 * sizeof *specs);
    if (!specs) return SP_NOMEM;
    sp__quant_specs(q->model->n_inputs, in, specs);
    const sp_status status = sp__quant_record(q, specs, out);
    sp__free(specs);
    return status;
}
