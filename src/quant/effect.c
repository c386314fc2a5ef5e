/* SPDX-License-Identifier: Apache-2.0 */
/* effect.c - what quantisation does to the results: each layer alone, all together, and the search for the layers that must stay float. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "quant/quant.h"

/* --- comparisons ------------------------------------------------------------------------------------------------- */

/* Sums over results of two networks. */
typedef struct {
    double off, all, dot, other; /* squares of differences, of the float results, products, squares of the others */
    int64_t n_rows, n_agree;     /* rows of scores, and those with the same largest */
    int64_t n_right, n_right_float, n_labels;
} sums;

static int64_t largest(const float *x, int64_t n)
{
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i] > x[at]) at = i;
    return at;
}

static int64_t whole_at(const sp_tensor *t, int64_t i)
{
    return t->dtype == SP_DTYPE_I64 ? ((const int64_t *)(const void *)t->data)[i]
                                    : ((const int32_t *)(const void *)t->data)[i];
}

/* Of the first result: rows along all but the last axis. */
static void compare_rows(sums *s, const float *a, const float *b, const sp_tensor *t, const sp_tensor *label)
{
    const int64_t n = t->rank > 0 ? t->dims[t->rank - 1] : 1, rows = n > 0 ? t->count / n : 0;
    for (int64_t r = 0; r < rows && n > 1; r++) {
        const int64_t x = largest(a + r * n, n), y = largest(b + r * n, n);
        s->n_rows++;
        s->n_agree += x == y;
        if (!label || label->count != rows) continue;
        s->n_labels++;
        s->n_right_float += x == whole_at(label, r);
        s->n_right += y == whole_at(label, r);
    }
}

static sp_status compare(sums *s, int n, sp_tensor *const *a, sp_tensor *const *b, const sp_tensor *label)
{
    bool first = true;
    for (int k = 0; k < n; k++) {
        if (a[k]->dtype != SP_DTYPE_F32) continue;
        sp_tensor *x, *y;
        SP_TRY(sp_tensor_contiguous(a[k], &x));
        const sp_status status = sp_tensor_contiguous(b[k], &y);
        if (status == SP_OK) {
            const float *p = (const float *)(const void *)x->data, *q = (const float *)(const void *)y->data;
            for (int64_t i = 0; i < x->count; i++) {
                s->off += ((double)p[i] - (double)q[i]) * ((double)p[i] - (double)q[i]);
                s->all += (double)p[i] * (double)p[i];
                s->other += (double)q[i] * (double)q[i];
                s->dot += (double)p[i] * (double)q[i];
            }
            if (first) compare_rows(s, p, q, x, label);
            first = false;
            sp_tensor_release(y);
        }
        sp_tensor_release(x);
        SP_TRY(status);
    }
    return SP_OK;
}

static double relative(const sums *s) { return s->all > 0 ? sqrt(s->off / s->all) : s->off > 0 ? INFINITY : 0; }
static double cosine(const sums *s)
{
    return s->all > 0 && s->other > 0 ? s->dot / sqrt(s->all * s->other) : s->all == s->other ? 1 : 0;
}
static double part(int64_t n, int64_t of) { return of > 0 ? (double)n / (double)of : NAN; }

/* --- plans anew -------------------------------------------------------------------------------------------------- */

static sp_status apply_edit(void *context, sp_quant_recording *r) { return sp__quant_apply(context, r); }

sp_status sp__quant_replan(sp_quantized *q)
{
    sp_quant_recording r;
    sp_status status = SP_OK;
    SP_TRY(sp__quant_record_for(q, q->kept[0], &r));
    for (int n = -1, before = -2; status == SP_OK && n != before;) { /* until no further layer had to stay float */
        before = n;
        status = sp__quant_plan_values(q, &r);
        if (status == SP_OK) status = sp__quant_settle(q);
        n = 0;
        for (int i = 0; i < q->plan->n_layers; i++) n += q->plan->layers[i].kept != NULL;
    }
    sp__quant_recording_free(&r);
    return status;
}

/* --- effects ----------------------------------------------------------------------------------------------------- */

/* The network as it is planned beside the float one, on what was kept. */
static sp_status compare_kept(sp_quantized *q, sp_quant_runner *plain, sums *s)
{
    sp_quant_runner rounded = {.q = q, .edit = apply_edit, .context = q};
    sp_tensor *a[64] = {NULL}, *b[64] = {NULL};
    sp_status status = SP_OK;
    *s = (sums){0};
    for (int k = 0; k < q->n_kept && status == SP_OK; k++) {
        status = sp__quant_run(plain, q->kept[k], a);
        if (status == SP_OK) status = sp__quant_run(&rounded, q->kept[k], b);
        if (status == SP_OK) status = compare(s, q->model->n_outputs, a, b, q->kept_labels[k]);
        sp__quant_release(64, a);
        sp__quant_release(64, b);
    }
    sp__quant_runner_free(&rounded);
    return status;
}

sp_status sp__quant_measure(sp_quantized *q)
{
    sp_quant_runner plain = {.q = q};
    sp_status status = SP_OK;
    sums s;
    for (int i = 0; i < q->plan->n_layers && status == SP_OK; i++) {
        if (q->plan->layers[i].kept) continue;
        q->only = i;
        status = sp__quant_replan(q);
        if (status == SP_OK) status = compare_kept(q, &plain, &s);
        if (status == SP_OK) q->plan->layers[i].effect = relative(&s);
    }
    q->only = -1;
    if (status == SP_OK) status = sp__quant_replan(q);
    if (status == SP_OK) status = compare_kept(q, &plain, &s);
    sp__quant_runner_free(&plain);
    SP_TRY(status);
    q->error = relative(&s);
    q->cosine = cosine(&s);
    q->agreement = part(s.n_agree, s.n_rows);
    return SP_OK;
}

/* --- targets ----------------------------------------------------------------------------------------------------- */

typedef enum { ACCURACY, RELATIVE, AGREEMENT, COSINE, N_METRICS } metric;
static const char *const metric_names[N_METRICS] = {"accuracy", "relative", "agreement", "cosine"};

static sp_status parse_target(const char *text, metric *m, double *least)
{
    const char *at = strstr(text, ">=");
    char *end = NULL;
    for (int i = 0; i < N_METRICS && at; i++)
        if (strlen(metric_names[i]) == (size_t)(at - text) &&
            strncmp(metric_names[i], text, (size_t)(at - text)) == 0) {
            *m = (metric)i;
            *least = sp__strtod(at + 2, &end);
        }
    SP_CHECK(
        end && end != at + 2 && *end == '\0' && *least > 0 && *least <= 1, SP_VALUE,
        "the target is '%s', it must be accuracy, relative, agreement or cosine, then >= and a number in (0, 1]: 'relative>=0.99'",
        text);
    return SP_OK;
}

sp_status sp__quant_target_check(const char *text)
{
    metric m;
    double least;
    return parse_target(text, &m, &least);
}

static double metric_of(metric m, const sums *s)
{
    switch (m) {
    case ACCURACY: return part(s->n_right, s->n_labels);
    case RELATIVE: return s->n_right_float > 0 ? (double)s->n_right / (double)s->n_right_float : NAN;
    case AGREEMENT: return part(s->n_agree, s->n_rows);
    default: return cosine(s);
    }
}

/* Over all data. */
static sp_status evaluate(sp_quantized *q, const sp_quant_data *data, metric m, double *value)
{
    sp_quant_runner plain = {.q = q}, rounded = {.q = q, .edit = apply_edit, .context = q};
    sp_tensor *in[64] = {NULL}, *a[64] = {NULL}, *b[64] = {NULL}, *label = NULL;
    sums s = {0};
    bool done = false;
    sp_status status = SP_OK;
    for (int64_t i = 0; status == SP_OK && !done; i++) {
        status = data->sample(data->context, i, in, &label, &done);
        if (status == SP_OK && !done) status = sp__quant_run(&plain, in, a);
        if (status == SP_OK && !done) status = sp__quant_run(&rounded, in, b);
        if (status == SP_OK && !done) status = compare(&s, q->model->n_outputs, a, b, label);
        sp__quant_release(64, in);
        sp__quant_release(64, a);
        sp__quant_release(64, b);
        sp__quant_release(1, &label);
    }
    sp__quant_runner_free(&plain);
    sp__quant_runner_free(&rounded);
    SP_TRY(status);
    *value = metric_of(m, &s);
    q->float_metric = m == ACCURACY ? part(s.n_right_float, s.n_labels) : 1;
    SP_CHECK(!isnan(*value), SP_VALUE, "the target '%s' needs %s", q->options.target,
             m == ACCURACY || m == RELATIVE ? "labels, one for each row of scores" : "results with rows of scores");
    return SP_OK;
}

/* Layers by effect, the largest first. */
static void rank_layers(const sp_quant_plan *p, int *order, int *n)
{
    *n = 0;
    for (int i = 0; i < p->n_layers; i++) {
        if (p->layers[i].kept) continue;
        int at = (*n)++;
        for (; at > 0 && p->layers[order[at - 1]].effect < p->layers[i].effect; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Keep the first k of the order float, and see. */
static sp_status try_kept(sp_quantized *q, const sp_quant_data *data, metric m, const int *order, int n, int k,
                          double *value)
{
    static const char why[] = "for the target";
    for (int i = 0; i < n; i++) q->plan->layers[order[i]].kept = i < k ? why : NULL;
    SP_TRY(sp__quant_replan(q));
    return evaluate(q, data, m, value);
}

sp_status sp__quant_reach_target(sp_quantized *q, const sp_quant_data *data)
{
    metric m;
    double least, value = NAN;
    int n, *order = sp__alloc(((size_t)q->plan->n_layers + 1) * sizeof *order);
    if (!order) return SP_NOMEM;
    rank_layers(q->plan, order, &n);
    sp_status status = parse_target(q->options.target, &m, &least);
    if (status == SP_OK) status = try_kept(q, data, m, order, n, 0, &value);
    int low = 0, high = n; /* low is too few, high is enough */
    if (status == SP_OK && value < least) {
        while (status == SP_OK && high - low > 1) {
            const int k = (low + high) / 2;
            status = try_kept(q, data, m, order, n, k, &value);
            if (value >= least) high = k;
            else low = k;
        }
        if (status == SP_OK) status = try_kept(q, data, m, order, n, high, &value);
        if (status == SP_OK && value < least)
            status = sp__fail(SP_VALUE, "the target '%s' is not reached: with all layers float it is %.6g",
                              q->options.target, value);
    }
    q->metric = value;
    sp__free(order);
    return status;
}
