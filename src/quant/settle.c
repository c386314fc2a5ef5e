/* SPDX-License-Identifier: Apache-2.0 */
/* settle.c - from what was seen to numbers: scales of groups, integer weights and biases, and sums that int32 holds. */
#include <math.h>
#include <string.h>

#include "ops/ops_impl.h"
#include "quant/quant.h"

/* --- groups ------------------------------------------------------------------------------------------------------ */

static sp_status settle_groups(sp_quantized *q)
{
    sp_quant_plan *p = q->plan;
    const sp_quant_options *o = &q->options;
    for (int i = 0; i < p->n_groups; i++) sp__quant_observer_free(&p->groups[i].seen);
    for (int i = 0; i < p->n_values; i++)
        if (p->values[i].group >= 0) SP_TRY(sp__quant_observer_join(&p->groups[p->values[i].group].seen, &p->seen[i]));
    for (int i = 0; i < p->n_groups; i++) {
        sp_quant_group *g = &p->groups[i];
        if (!g->used) continue;
        SP_TRY(sp__quant_range(&g->seen, o->method, o->percentile, o->activation_bits, o->symmetric, &g->range));
        g->scale = sp__quant_scale_of(g->range, o->activation_bits, o->symmetric);
        g->error = sp__quant_error(&g->seen, &g->scale);
    }
    return SP_OK;
}

/* --- layers ------------------------------------------------------------------------------------------------------ */

enum { BIAS_MOST = 1 << 30 };

/* The least scales of the weights with which every bias stays within half of int32. */
static sp_status least_scales(const sp_quant_layer *l, const sp_tensor *b, float x_scale, float **out)
{
    const int64_t n = l->w->dims[l->channel_axis];
    float *least = sp__alloc((size_t)n * sizeof *least), most = 0;
    if (!least) return SP_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        least[i] =
            b ? (float)(fabs((double)((const float *)(const void *)b->data)[i]) / ((double)x_scale * BIAS_MOST)) : 0;
        most = fmaxf(most, least[i]);
    }
    if (l->weight.axis < 0) least[0] = most;
    *out = least;
    return SP_OK;
}

static sp_status round_bias(sp_quant_layer *l, sp_tensor *b, float x_scale)
{
    const int64_t n = l->w->dims[l->channel_axis];
    sp_tensor_release(l->bias_q);
    sp_tensor_release(l->bias_scale);
    l->bias_q = l->bias_scale = NULL;
    if (!b || (l->kind != SP_QUANT_CONV && !l->gemm)) return SP_OK; /* added as float32 behind the product */
    SP_TRY(sp_tensor_create(SP_DTYPE_I32, 1, &n, &l->bias_q));
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, 1, &n, &l->bias_scale));
    const float *w = (const float *)(const void *)l->weight.scale->data, *x = (const float *)(const void *)b->data;
    for (int64_t i = 0; i < n; i++) {
        const float s = x_scale * w[l->weight.axis < 0 ? 0 : i];
        const double v = s > 0 ? rint((double)x[i] / (double)s) : 0;
        ((float *)(void *)l->bias_scale->data)[i] = s;
        ((int32_t *)(void *)l->bias_q->data)[i] = (int32_t)fmax(-(double)INT32_MAX, fmin((double)INT32_MAX, v));
    }
    return SP_OK;
}

/* The largest sum that a channel can come to, whatever the layer is given. */
static double greatest_sum(const sp_quant_layer *l, const sp_quant_scale *x)
{
    const int64_t n = l->w->dims[l->channel_axis];
    int64_t inner = 1;
    for (int k = l->channel_axis + 1; k < l->w->rank; k++) inner *= l->w->dims[k];
    const double reach = fmax((double)x->most - x->zero, (double)x->zero - x->least);
    double most = 0;
    double *sums = sp__alloc_zero((size_t)n * sizeof *sums);
    if (!sums) return INFINITY;
    const int8_t *q = (const int8_t *)l->weight.q->data;
    for (int64_t i = 0; i < l->weight.q->count; i++) sums[i / inner % n] += fabs((double)q[i]) * reach;
    for (int64_t i = 0; i < n; i++)
        most =
            fmax(most, sums[i] + (l->bias_q ? fabs((double)((const int32_t *)(const void *)l->bias_q->data)[i]) : 0));
    sp__free(sums);
    return most;
}

static sp_status settle_static(sp_quantized *q, sp_quant_layer *l)
{
    sp_quant_plan *p = q->plan;
    const sp_quant_scale *x = &p->groups[p->values[l->x].group].scale;
    sp_tensor *b = l->corrected ? l->corrected : l->b;
    float *least;
    l->weight.axis = q->options.per_tensor ? -1 : l->channel_axis;
    const int axis = l->weight.axis;
    SP_TRY(least_scales(l, l->kind == SP_QUANT_CONV || l->gemm ? b : NULL, x->scale, &least));
    sp__quant_weight_free(&l->weight);
    const sp_status status = sp__quant_weight_make(l->w, l->adapted, axis, q->options.weight_bits, least, &l->weight);
    sp__free(least);
    SP_TRY(status);
    SP_TRY(round_bias(l, b, x->scale));
    if (greatest_sum(l, x) > (double)INT32_MAX) l->kept = "its sums could leave int32";
    const sp_quant_value *out = &p->values[l->out];
    l->fold_act = false;
    if (l->act_node >= 0 && out->bytes && !l->kept) {
        const sp_quant_group *g = &p->groups[out->group];
        const double low = (double)g->scale.scale * (g->scale.least - g->scale.zero),
                     high = (double)g->scale.scale * (g->scale.most - g->scale.zero);
        l->fold_act =
            low >= (double)l->act_low - 1e-6 * (high - low) && high <= (double)l->act_high + 1e-6 * (high - low);
    }
    return SP_OK;
}

static sp_status as_half(sp_quant_layer *l)
{
    int n;
    const sp_dtype to = SP_DTYPE_F16;
    sp__quant_weight_free(&l->weight);
    l->weight.bits = 16;
    SP_TRY(sp_apply(&sp_op_cast, &to, 1, &l->w, 1, &l->weight.q, &n));
    double off = 0, all = 0;
    sp_tensor *back;
    const sp_dtype single = SP_DTYPE_F32;
    SP_TRY(sp_apply(&sp_op_cast, &single, 1, &l->weight.q, 1, &back, &n));
    const float *x = (const float *)(const void *)l->w->data, *y = (const float *)(const void *)back->data;
    for (int64_t i = 0; i < l->w->count; i++) {
        off += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        all += (double)x[i] * (double)x[i];
    }
    sp_tensor_release(back);
    l->weight.error = all > 0 ? sqrt(off / all) : 0;
    return SP_OK;
}

/* Of 4 bits: blocks lie along the axis that is summed over; convolutions have a scale a channel. */
static sp_status settle_weight(sp_quantized *q, sp_quant_layer *l)
{
    const int bits = q->options.weight_bits;
    if (bits == 16) return as_half(l);
    sp__quant_weight_free(&l->weight);
    if (bits == 4 && l->kind == SP_QUANT_MATMUL)
        return sp__quant_weight_blocks(l->w, l->adapted, 1 - l->channel_axis, q->options.block, bits, &l->weight);
    return sp__quant_weight_make(l->w, l->adapted, q->options.per_tensor ? -1 : l->channel_axis, bits, NULL,
                                 &l->weight);
}

static sp_status settle_layers(sp_quantized *q)
{
    const bool fixed = strcmp(q->options.kind, "static") == 0;
    for (int i = 0; i < q->plan->n_layers; i++) {
        sp_quant_layer *l = &q->plan->layers[i];
        if (l->kept || (fixed && q->plan->values[l->x].group < 0))
            continue; /* not the one that alone is quantised now */
        const sp_status status = fixed ? settle_static(q, l) : settle_weight(q, l);
        if (status != SP_OK) sp__error_context("layer '%s'", l->name);
        SP_TRY(status);
    }
    return SP_OK;
}

sp_status sp__quant_settle(sp_quantized *q)
{
    if (strcmp(q->options.kind, "static") == 0) SP_TRY(settle_groups(q));
    return settle_layers(q);
}
