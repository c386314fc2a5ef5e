/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer.c - quantisation from outside: options checked, the steps in their order, the result written. */
#include <math.h>
#include <string.h>

#include "ops/ops_impl.h"
#include "quant/quant.h"

/* --- options ----------------------------------------------------------------------------------------------------- */

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

/* What is not as it is by default, and would change nothing. */
static sp_status check_effects(const sp_quant_options *o)
{
    const bool fixed = strcmp(o->kind, "static") == 0;
    const struct {
        const char *option;
        bool idle;
        const char *what;
    } all[] = {
        {"method", !fixed && strcmp(o->method, "minmax") != 0, "kind 'static'"},
        {"bias_correction", !fixed && o->no_bias_correction, "kind 'static'"},
        {"effect_samples", !fixed && o->effect_samples != 0 && o->effect_samples != SP_QUANT_EFFECT_SAMPLES,
         "kind 'static'"},
        {"rounding", strcmp(o->rounding, "nearest") != 0 && o->weight_bits == 16, "weights of 8 bits and fewer"},
        {"percentile", o->percentile != 99.99 && strcmp(o->method, "percentile") != 0, "method 'percentile'"},
        {"block", o->block != 32 && o->weight_bits != 4, "weights of 4 bits"},
        {"per_tensor", o->per_tensor && (o->weight_bits == 4 || o->weight_bits == 16), "weights of 7 or 8 bits"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        SP_CHECK(!all[i].idle, SP_VALUE, "%s is for %s, it would change nothing here", all[i].option, all[i].what);
    return SP_OK;
}

static sp_status check_options(const sp_quant_options *o)
{
    const bool fixed = strcmp(o->kind, "static") == 0, weights = strcmp(o->kind, "weights") == 0;
    SP_CHECK(is_one_of(o->kind, "static", "dynamic", "weights"), SP_VALUE,
             "kind is '%s', it must be static, dynamic or weights", o->kind);
    SP_CHECK(sp__quant_method_known(o->method), SP_VALUE,
             "method is '%s', it must be minmax, average, percentile, outliers, entropy or mse", o->method);
    SP_CHECK(is_one_of(o->rounding, "nearest", "adaptive", "adaptive"), SP_VALUE,
             "rounding is '%s', it must be nearest or adaptive", o->rounding);
    SP_CHECK(o->weight_bits == 8 || (!weights && o->weight_bits == 7) ||
                 (weights && (o->weight_bits == 4 || o->weight_bits == 16)),
             SP_VALUE, "weights of %d bits: they must have 8%s", o->weight_bits,
             weights ? ", 4, or 16 (float16)" : " or 7; kind 'weights' has 8, 4 and 16");
    SP_CHECK(o->activation_bits == 8 || (fixed && o->activation_bits == 16), SP_VALUE,
             "activations of %d bits: they must have 8%s", o->activation_bits, fixed ? " or 16" : "");
    SP_CHECK(o->block >= 16 && o->block <= 4096 && (o->block & (o->block - 1)) == 0, SP_VALUE,
             "blocks of %d weights: it must be a power of two in [16, 4096]", o->block);
    SP_CHECK(o->percentile > 50 && o->percentile <= 100, SP_VALUE, "percentile is %g, it must be in (50, 100]",
             o->percentile);
    SP_CHECK(fixed || (!o->symmetric && !o->equalize && !o->integer_only && !o->target), SP_VALUE,
             "symmetric, equalize, integer_only and target are for kind 'static', and change nothing in '%s'", o->kind);
    if (o->target) SP_TRY(sp__quant_target_check(o->target));
    return check_effects(o);
}

static const char *text_or(sp_quantized *q, const char *text, const char *otherwise)
{
    return text ? sp__arena_text(&q->arena, text) : otherwise;
}

static sp_status take_options(sp_quantized *q, const sp_quant_options *given)
{
    sp_quant_options *o = &q->options;
    if (given) {
        SP_CHECK(given->struct_size == 0 || given->struct_size == sizeof *given, SP_VALUE,
                 "struct_size is %u, it must be that of sp_quant_options, %zu", given->struct_size, sizeof *given);
        *o = *given;
    }
    o->kind = text_or(q, o->kind, "static");
    o->method = text_or(q, o->method, "minmax");
    o->keep = text_or(q, o->keep, "");
    o->rounding = text_or(q, o->rounding, "nearest");
    if (o->target) o->target = text_or(q, o->target, NULL);
    if (!o->kind || !o->method || !o->keep || !o->rounding || (given && given->target && !o->target)) return SP_NOMEM;
    if (o->weight_bits == 0) o->weight_bits = 8;
    if (o->activation_bits == 0) o->activation_bits = 8;
    if (o->block == 0) o->block = 32;
    if (o->percentile == 0) o->percentile = 99.99;
    return check_options(o);
}

/* --- what stands against it -------------------------------------------------------------------------------------- */

static sp_status check_model(const sp_model *m)
{
    SP_CHECK(m->n_inputs <= 64 && m->n_outputs <= 64, SP_DECLINED,
             "the model has %d inputs and %d outputs, at most 64 of each can be quantised", m->n_inputs, m->n_outputs);
    SP_CHECK(!sp_model_needs_items(m), SP_DECLINED, "models that take or give texts or sequences are not quantised");
    return SP_OK;
}

static sp_status check_layers(const sp_quantized *q)
{
    int n = 0;
    for (int i = 0; i < q->plan->n_layers; i++) n += q->plan->layers[i].kept == NULL;
    SP_CHECK(q->plan->n_layers > 0, SP_DECLINED,
             "the model has no layer that can be quantised: %s with constant weights of float32",
             strcmp(q->options.kind, "dynamic") == 0 ? "matrix products" : "convolutions and matrix products");
    SP_CHECK(n > 0, SP_VALUE, "all %d layers are to stay float, so that nothing would be quantised", q->plan->n_layers);
    return SP_OK;
}

/* Operators that compute with float32, all in one message. */
static sp_status check_integers(const sp_quantized *q, const sp_quant_recording *r)
{
    sp__text t = {0};
    int n = 0;
    for (int i = 0; i < r->n_nodes; i++) {
        const sp_node *node = r->nodes[i];
        const sp_quant_plan *p = q->plan;
        if (node->kind == SP_NODE_READ || node->n_out == 0) continue;
        const int layer = p->layer_of[i];
        if (layer >= 0 && !p->layers[layer].kept) continue;
        int out = 0;
        while (out < r->n_values && r->values[out] != node->out[0]) out++;
        if (layer < 0 && node->kind == SP_NODE_OP && p->parts[i] != SP_QUANT_FLOAT && p->values[out].bytes) continue;
        if (node->kind == SP_NODE_OP && node->out[0]->meta.dtype != SP_DTYPE_F32) continue;
        sp_tensor *fixed; /* computed from weights alone: once, not when the network runs */
        SP_TRY(sp__quant_constant(node->out[0], &fixed));
        sp_tensor_release(fixed);
        if (fixed || n++ >= 100) continue;
        sp__text_put(&t, "; %s",
                     layer >= 0                 ? p->layers[layer].name
                     : node->kind == SP_NODE_OP ? node->op->name
                                                : "a loop, branch or host code");
        sp__text_put(&t, layer >= 0 ? " (%s)" : " (node %s%d)", layer >= 0 ? p->layers[layer].kept : "", i);
    }
    if (n == 0) return SP_OK;
    const sp_status status =
        t.failed ? SP_NOMEM : sp__fail(SP_DECLINED, "%d operators would stay float: %s", n, t.data + 2);
    sp__free(t.data);
    return status;
}

static sp_status check_integers_recorded(sp_quantized *q)
{
    sp_quant_recording r;
    SP_TRY(sp__quant_record_for(q, q->kept[0], &r));
    const sp_status status = check_integers(q, &r);
    sp__quant_recording_free(&r);
    return status;
}

/* --- the steps --------------------------------------------------------------------------------------------------- */

static bool is_adaptive(const sp_quantized *q) { return strcmp(q->options.rounding, "adaptive") == 0; }

static sp_status quantize_static(sp_quantized *q, const sp_quant_data *data)
{
    SP_CHECK(data && data->sample, SP_VALUE,
             "static quantisation needs data to calibrate with; kinds 'dynamic' and 'weights' do not");
    SP_TRY(sp__quant_calibrate(q, data));
    SP_TRY(check_layers(q));
    SP_TRY(sp__quant_replan(q));
    if (is_adaptive(q)) {
        SP_TRY(sp__quant_adapt(q, data));
        SP_TRY(sp__quant_replan(q));
    }
    if (!q->options.no_bias_correction) {
        SP_TRY(sp__quant_correct_bias(q));
        SP_TRY(sp__quant_replan(q));
    }
    if (q->options.integer_only) SP_TRY(check_integers_recorded(q));
    if (q->options.effect_samples >= 0 || q->options.target) SP_TRY(sp__quant_measure(q));
    if (q->options.target) SP_TRY(sp__quant_reach_target(q, data));
    return SP_OK;
}

/* What the plan does to a recording that is to be written; the first one makes the plan where no data did. */
static sp_status edit(void *context, sp_function *f)
{
    sp_quantized *q = context;
    sp_quant_recording r;
    SP_TRY(sp__quant_fold_norms(f));
    SP_TRY(sp__quant_number(f, q->plan, &r));
    sp_status status = SP_OK;
    if (!q->plan) {
        status = sp__quant_plan_make(q, &r);
        if (status == SP_OK) status = check_layers(q);
        if (status == SP_OK) status = sp__quant_settle(q);
    }
    if (status == SP_OK) status = sp__quant_apply(q, &r);
    sp__quant_recording_free(&r);
    return status;
}

/* Weights alone, or those of products, rounded by what layers take. */
static sp_status adapt_weights(sp_quantized *q, const sp_quant_data *data)
{
    SP_CHECK(data && data->sample, SP_VALUE, "adaptive rounding needs data: it watches what layers take");
    SP_TRY(sp__quant_plan_from(q, data));
    SP_TRY(check_layers(q));
    SP_TRY(sp__quant_settle(q));
    SP_TRY(sp__quant_adapt(q, data));
    return sp__quant_settle(q);
}

/* Without data: some sizes for what is free, to find the layers. */
static sp_status plan_without_data(sp_quantized *q)
{
    sp_graph *graph;
    sp_function *f;
    SP_TRY(sp__model_record_any(q->model, &graph, &f));
    const sp_status status = edit(q, f);
    sp_graph_release(graph);
    return status;
}

sp_status sp_model_quantize(sp_model *m, const sp_quant_data *data, const sp_quant_options *options, sp_quantized **out)
{
    SP_CHECK(m && out, SP_VALUE, "m and out must not be NULL");
    sp_quantized *q = sp__alloc_zero(sizeof *q);
    if (!q) return SP_NOMEM;
    q->model = sp_model_retain(m);
    q->only = -1;
    q->metric = q->float_metric = q->error = q->cosine = q->agreement = NAN;
    sp_status status = take_options(q, options);
    if (status == SP_OK) status = check_model(m);
    if (status == SP_OK)
        status = strcmp(q->options.kind, "static") == 0 ? quantize_static(q, data)
                 : is_adaptive(q)                       ? adapt_weights(q, data)
                                                        : plan_without_data(q);
    if (status == SP_OK) *out = q;
    else sp_quantized_release(q);
    return status;
}

void sp_quantized_release(sp_quantized *q)
{
    if (!q) return;
    for (int k = 0; k < q->n_kept; k++) {
        for (int i = 0; i < q->model->n_inputs; i++) sp_tensor_release(q->kept[k][i]);
        sp__free(q->kept[k]);
        sp_tensor_release(q->kept_labels[k]);
    }
    sp__free(q->kept);
    sp__free(q->kept_labels);
    sp__quant_plan_free(q->plan);
    sp_model_release(q->model);
    sp__arena_free(&q->arena);
    sp__free(q);
}

sp_status sp_quantized_save(sp_quantized *q, const char *path, int opset, const sp_file_options *options)
{
    SP_CHECK(q && path, SP_VALUE, "q and path must not be NULL");
    SP_TRY(sp__model_check_opset(path, opset, options));
    const bool new = q->options.activation_bits == 16 || q->options.weight_bits == 4;
    return sp__model_convert_edited(q->model, path, opset == 0 && new ? 21 : opset, options, &(sp_model_edit){edit, q});
}
