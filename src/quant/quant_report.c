/* SPDX-License-Identifier: Apache-2.0 */
/* quant_report.c - what became of each layer, for people and as JSON. */
#include <math.h>
#include <string.h>

#include "quant/quant.h"

static void put_number(sp__text *t, double v, const char *format)
{
    if (isnan(v)) sp__text_put(t, "%s", format ? "-" : "null");
    else sp__text_put(t, "%.6g", v);
}

static void put_quoted(sp__text *t, const char *s)
{
    sp__text_put(t, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') sp__text_put(t, "\\%c", *s);
        else if ((unsigned char)*s < 32) sp__text_put(t, "\\u%04x", (unsigned char)*s);
        else sp__text_put(t, "%c", *s);
    }
    sp__text_put(t, "\"");
}

static size_t stored_bytes(const sp_quant_layer *l)
{
    if (l->kept || !l->weight.q) return sp_tensor_bytes(l->w);
    const size_t bytes = sp_tensor_bytes(l->weight.q);
    return (l->weight.bits == 4 ? (bytes + 1) / 2 : bytes) + (l->weight.scale ? sp_tensor_bytes(l->weight.scale) : 0);
}

typedef struct {
    const sp_quant_group *x;
    size_t before, after;
} figures;

static figures figures_of(const sp_quantized *q, const sp_quant_layer *l)
{
    const sp_quant_value *v = &q->plan->values[l->x];
    return (figures){.x = v->group >= 0 && !l->kept ? &q->plan->groups[v->group] : NULL,
                     .before = sp_tensor_bytes(l->w),
                     .after = stored_bytes(l)};
}

static void put_json_layer(sp__text *t, const sp_quantized *q, const sp_quant_layer *l)
{
    const figures f = figures_of(q, l);
    sp__text_put(t, "{\"name\": ");
    put_quoted(t, l->name);
    sp__text_put(t, ", \"operator\": \"%s\", \"quantised\": %s, \"kept_float\": ", l->op->name,
                 l->kept ? "false" : "true");
    if (l->kept) put_quoted(t, l->kept);
    else sp__text_put(t, "null");
    sp__text_put(t, ", \"input\": ");
    if (f.x) {
        sp__text_put(t, "{\"low\": %.9g, \"high\": %.9g, \"scale\": %.9g, \"zero_point\": %d, \"error\": %.6g}",
                     (double)f.x->range.low, (double)f.x->range.high, (double)f.x->scale.scale, (int)f.x->scale.zero,
                     f.x->error);
    } else sp__text_put(t, "null");
    sp__text_put(t, ", \"weight_error\": ");
    put_number(t, l->kept ? NAN : l->weight.error, NULL);
    sp__text_put(t, ", \"effect\": ");
    put_number(t, l->effect, NULL);
    sp__text_put(
        t, ", \"weight_bytes\": %zu, \"weight_bytes_before\": %zu, \"multiply_adds\": %llu, \"activation_folded\": %s}",
        f.after, f.before, (unsigned long long)l->multiply_adds, l->fold_act ? "true" : "false");
}

typedef struct {
    size_t before, after;
    int n_quantised;
    uint64_t work, work_quantised;
} totals;

static totals totals_of(const sp_quantized *q)
{
    totals all = {0};
    for (int i = 0; i < q->plan->n_layers; i++) {
        const sp_quant_layer *l = &q->plan->layers[i];
        all.before += sp_tensor_bytes(l->w);
        all.after += stored_bytes(l);
        all.n_quantised += !l->kept;
        all.work += l->multiply_adds;
        all.work_quantised += l->kept ? 0 : l->multiply_adds;
    }
    return all;
}

static void put_json(sp__text *t, const sp_quantized *q, const int *order)
{
    const totals all = totals_of(q);
    const struct {
        const char *name;
        double v;
    } numbers[] = {{"error", q->error},
                   {"cosine", q->cosine},
                   {"agreement", q->agreement},
                   {"metric", q->metric},
                   {"float_metric", q->float_metric}};
    sp__text_put(
        t,
        "{\"kind\": \"%s\", \"method\": \"%s\", \"rounding\": \"%s\", \"weight_bits\": %d, \"activation_bits\": %d, \"samples\": %lld, ",
        q->options.kind, q->options.method, q->options.rounding, q->options.weight_bits, q->options.activation_bits,
        (long long)q->n_samples);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sp__text_put(t, "\"%s\": ", numbers[i].name);
        put_number(t, numbers[i].v, NULL);
        sp__text_put(t, ", ");
    }
    sp__text_put(
        t,
        "\"layers_quantised\": %d, \"weight_bytes\": %zu, \"weight_bytes_before\": %zu, \"multiply_adds\": %llu, \"multiply_adds_quantised\": %llu, \"layers\": [",
        all.n_quantised, all.after, all.before, (unsigned long long)all.work, (unsigned long long)all.work_quantised);
    for (int i = 0; i < q->plan->n_layers; i++) {
        sp__text_put(t, i ? ",\n  " : "\n  ");
        put_json_layer(t, q, &q->plan->layers[order[i]]);
    }
    sp__text_put(t, "]}\n");
}

static void put_table(sp__text *t, const sp_quantized *q, const int *order)
{
    const totals all = totals_of(q);
    sp__text_put(t, "%d of %d layers are quantised (%s); their weights take %zu instead of %zu bytes\n",
                 all.n_quantised, q->plan->n_layers, q->options.kind, all.after, all.before);
    if (q->n_samples > 0) sp__text_put(t, "%lld samples, ranges by %s\n", (long long)q->n_samples, q->options.method);
    if (!isnan(q->error)) {
        sp__text_put(t, "results beside float: relative error %.4g, cosine %.6f", q->error, q->cosine);
        if (!isnan(q->agreement)) sp__text_put(t, ", the same largest score in %.4g %%", 100 * q->agreement);
        sp__text_put(t, " (%d samples)\n", q->n_kept);
    }
    if (!isnan(q->metric)) sp__text_put(t, "target %s: %.6g\n", q->options.target, q->metric);
    sp__text_put(t, "\n%-32s %-8s %11s %11s %8s %8s %9s  %s\n", "layer", "operator", "input low", "high", "error",
                 "weights", "effect", "");
    for (int i = 0; i < q->plan->n_layers; i++) {
        const sp_quant_layer *l = &q->plan->layers[order[i]];
        const figures f = figures_of(q, l);
        sp__text_put(t, "%-32.32s %-8s ", l->name, l->op->name);
        if (f.x) sp__text_put(t, "%11.4g %11.4g %8.2g ", (double)f.x->range.low, (double)f.x->range.high, f.x->error);
        else sp__text_put(t, "%11s %11s %8s ", "-", "-", "-");
        if (!l->kept) sp__text_put(t, "%8.2g ", l->weight.error);
        else sp__text_put(t, "%8s ", "-");
        if (isnan(l->effect)) sp__text_put(t, "%9s  ", "-");
        else sp__text_put(t, "%9.2g  ", l->effect);
        sp__text_put(t, "%s%s\n", l->kept ? "stays float: " : "", l->kept ? l->kept : "");
    }
    sp__text_put(
        t,
        "\nlow, high: what the layer takes lies between; error, weights: relative error of rounding it, and its weights; effect: relative change of the\n"
        "results when this layer alone is quantised\n");
}

/* Those with the largest effects first, then in the order of the network. */
static void rank(const sp_quant_plan *p, int *order)
{
    for (int i = 0; i < p->n_layers; i++) {
        int at = i;
        const double e = isnan(p->layers[i].effect) ? -1 : p->layers[i].effect;
        for (; at > 0; at--) {
            const double before = isnan(p->layers[order[at - 1]].effect) ? -1 : p->layers[order[at - 1]].effect;
            if (before >= e) break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

sp_status sp_quantized_report(const sp_quantized *q, bool json, char **out)
{
    sp__text t = {0};
    SP_CHECK(q && out, SP_VALUE, "q and out must not be NULL");
    SP_CHECK(q->plan, SP_VALUE, "nothing is known about the layers yet: save the model first");
    int *order = sp__alloc(((size_t)q->plan->n_layers + 1) * sizeof *order);
    if (!order) return SP_NOMEM;
    rank(q->plan, order);
    if (json) put_json(&t, q, order);
    else put_table(&t, q, order);
    sp__free(order);
    return sp__text_take(&t, out);
}
