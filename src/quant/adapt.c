/* SPDX-License-Identifier: Apache-2.0 */
/* adapt.c - adaptive rounding: weights become the integers with which a layer's results, not its weights, are nearest to float.
 *
 * For a channel with weights w and integers q of scale s, the mean square error of what the layer gives is e' H e with e = w - s q and H the mean of
 * x x' over everything that the layer takes (for convolutions: over its windows). H is gathered from the float network at work on the data; then each
 * integer in turn takes the value with which the error is least, the others as they are, until none changes. The error never grows.
 *
 * What comes out, s q, is kept as the layer's weights to be rounded (sp_quant_layer.adapted); scales still follow from the weights themselves. */
#include <math.h>
#include <string.h>

#include "ir/window.h"
#include "ops/ops_impl.h"
#include "quant/quant.h"

enum {
    WIDTH_MAX = 8192, /* of H; wider layers are rounded to the nearest */
    SWEEPS = 20,      /* over the weights of a channel, at most */
    ROWS = 512,       /* of windows at a time */
    SAMPLES = 128     /* that H is gathered from, at most */
};
static const size_t MEMORY = (size_t)512 << 20; /* of all H that one pass over the data gathers */

typedef struct sp_quant_products {
    int64_t n, groups; /* H is [groups, n, n] */
    float *h;
    const sp_op *op;
    void *attrs; /* a copy of the node's */
    int64_t rows;
} products;

static void products_free(sp_quant_layer *l)
{
    if (!l->products) return;
    sp__free(l->products->h);
    sp__free(l->products->attrs);
    sp__free(l->products);
    l->products = NULL;
}

/* --- H ------------------------------------------------------------------------------------------------------------- */

/* h += x' x of rows of x. */
static sp_status add_products(float *h, float *x, int64_t rows, int64_t n)
{
    sp_builder b;
    sp_tensor *t;
    SP_TRY(sp_tensor_wrap(SP_DTYPE_F32, 2, (const int64_t[]){rows, n}, NULL, x, NULL, NULL, &t));
    sp__builder_init(&b);
    sp_tensor *sum = sp_matmul(&b, t, t, true, false);
    const sp_status status = sp__builder_status(&b);
    for (int64_t i = 0; status == SP_OK && i < n * n; i++) h[i] += ((const float *)(const void *)sum->data)[i];
    sp__builder_done(&b);
    sp_tensor_release(t);
    return status;
}

/* The window of position p of image b, channels of group g: n numbers in the order of the weights. */
static void take_window(const sp__conv_geometry *c, const float *x, int64_t b, int64_t g, int64_t p, float *out)
{
    const sp__window *w = &c->w;
    const int64_t channels = c->in_channels / c->group, size = sp__window_inputs(w);
    const int64_t at[SP_SPATIAL] = {p / (w->out[1] * w->out[2]), p / w->out[2] % w->out[1], p % w->out[2]};
    for (int64_t k = 0; k < channels; k++) {
        const float *image = x + (b * c->in_channels + g * channels + k) * size;
        for (int64_t tap = 0; tap < sp__window_taps(w); tap++) {
            const int64_t tap_at[SP_SPATIAL] = {tap / (w->kernel[1] * w->kernel[2]), tap / w->kernel[2] % w->kernel[1],
                                                tap % w->kernel[2]};
            int64_t from = 0;
            bool inside = true;
            for (int d = 0; d < SP_SPATIAL; d++) {
                const int64_t i = at[d] * w->stride[d] + tap_at[d] * w->dilation[d] - w->pad[d];
                inside = inside && i >= 0 && i < w->in[d];
                from = from * w->in[d] + i;
            }
            *out++ = inside ? image[from] : 0;
        }
    }
}

static sp_status add_windows(const sp_quant_layer *l, const sp_tensor *x)
{
    products *s = l->products;
    sp__conv_geometry c;
    SP_TRY(sp__conv_measure(s->op->name, x, l->w, s->attrs ? s->attrs : s->op->defaults, &c));
    const int64_t positions = sp__window_positions(&c.w);
    float *rows = sp__alloc((size_t)(ROWS * s->n) * sizeof *rows);
    if (!rows) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int64_t g = 0; g < s->groups && status == SP_OK; g++) {
        int64_t n = 0;
        for (int64_t i = 0; i < c.batch * positions && status == SP_OK; i++) {
            take_window(&c, (const float *)(const void *)x->data, i / positions, g, i % positions, rows + n++ * s->n);
            if (n < ROWS && i + 1 < c.batch * positions) continue;
            status = add_products(s->h + g * s->n * s->n, rows, n, s->n);
            n = 0;
        }
    }
    s->rows += c.batch * positions;
    sp__free(rows);
    return status;
}

static sp_status check_finite(const float *x, int64_t n)
{
    int64_t n_odd = 0;
    for (int64_t i = 0; i < n; i++) n_odd += !isfinite(x[i]);
    SP_CHECK(n_odd == 0, SP_VALUE, "%lld of %lld numbers are NaN or infinite", (long long)n_odd, (long long)n);
    return SP_OK;
}

static sp_status watch(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const sp_quant_watcher *w = context;
    const sp_quant_layer *l = &w->q->plan->layers[w->place];
    (void)n_in, (void)n_out, (void)out;
    sp_tensor *x;
    SP_TRY(sp_tensor_contiguous(in[0], &x));
    sp_status status = check_finite((const float *)(const void *)x->data, x->count);
    if (status != SP_OK) {
        /* told below */
    } else if (l->kind == SP_QUANT_CONV) {
        status = add_windows(l, x);
    } else if (x->count > 0) {
        const int64_t n = l->products->n;
        status = add_products(l->products->h, (float *)(void *)x->data, x->count / n, n);
        l->products->rows += x->count / n;
    }
    sp_tensor_release(x);
    if (status != SP_OK) sp__error_context("what layer '%s' takes", l->name);
    return status;
}

static sp_status put_watchers(void *context, sp_quant_recording *r)
{
    sp_quantized *q = context;
    for (int i = 0; i < q->plan->n_layers; i++) {
        sp_quant_layer *l = &q->plan->layers[i];
        if (!l->products) continue;
        sp_node *n = r->nodes[l->node];
        if (!l->products->op) {
            SP_TRY(sp__attrs_copy(n->op, n->attrs, &l->products->attrs));
            l->products->op = n->op;
        }
        SP_TRY(sp__quant_put_watcher(q, r, n, i, 1, &n->in[0], watch));
    }
    return SP_OK;
}

/* Width of H of a layer, and how many there are; false: it is rounded to the nearest. */
static bool measure(const sp_quant_layer *l, int64_t *n, int64_t *groups)
{
    *n = l->w->count / l->w->dims[l->channel_axis];
    *groups = 1;
    if (l->kind == SP_QUANT_CONV) *groups = l->groups;
    return !l->kept && l->kind != SP_QUANT_GATHER && l->weight.q && *n > 0 && *n <= WIDTH_MAX;
}

/* Room for layers from *next on, as many as memory allows; false: there are no more. */
static sp_status choose(sp_quant_plan *p, int *next, bool *any)
{
    size_t used = 0;
    *any = false;
    for (; *next < p->n_layers; (*next)++) {
        sp_quant_layer *l = &p->layers[*next];
        int64_t n, groups;
        if (!measure(l, &n, &groups)) continue;
        const size_t bytes = (size_t)(groups * n * n) * sizeof(float);
        if (*any && used + bytes > MEMORY) return SP_OK;
        if (!(l->products = sp__alloc_zero(sizeof *l->products))) return SP_NOMEM;
        l->products->n = n;
        l->products->groups = groups;
        if (!(l->products->h = sp__alloc_zero(bytes))) return SP_NOMEM;
        used += bytes;
        *any = true;
    }
    return SP_OK;
}

static sp_status gather(sp_quantized *q, const sp_quant_data *data)
{
    sp_tensor *in[64] = {NULL}, *out[64] = {NULL};
    sp_quant_runner runner = {.q = q, .edit = put_watchers, .context = q};
    sp_status status = SP_OK;
    bool done = false;
    for (int64_t i = 0; status == SP_OK && !done && i < SAMPLES; i++) {
        status = data->sample(data->context, i, in, NULL, &done);
        if (status == SP_OK && !done) status = sp__quant_check_sample(q, i, in);
        if (status == SP_OK && !done) status = sp__quant_run(&runner, in, out);
        sp__quant_release(64, in);
        sp__quant_release(64, out);
    }
    sp__quant_runner_free(&runner);
    return status;
}

/* --- rounding ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const sp_quant_layer *l;
    float *adapted;
    int most;
    atomic_bool no_memory;
} rounding;

/* Where weight i of channel c lies, and its scale. */
static int64_t place(const sp_quant_layer *l, int64_t c, int64_t i)
{
    return l->channel_axis == 0 ? c * l->products->n + i : i * l->w->dims[1] + c;
}

static float scale_of(const sp_quant_layer *l, int64_t c, int64_t i)
{
    const sp_quant_weight *w = &l->weight;
    const float *s = (const float *)(const void *)w->scale->data;
    if (w->block == 0) return s[w->axis < 0 ? 0 : c];
    return l->channel_axis == 0 ? s[c * w->scale->dims[1] + i / w->block] : s[i / w->block * w->scale->dims[1] + c];
}

/* One channel: work has room for 4 n numbers. */
static void round_channel(const rounding *r, int64_t c, float *work)
{
    const sp_quant_layer *l = r->l;
    const int64_t n = l->products->n, per_group = l->w->dims[l->channel_axis] / l->products->groups;
    const float *h = l->products->h + c / per_group * n * n;
    float *q = work, *s = work + n, *slope = work + 2 * n, *e = work + 3 * n;
    double damp = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = place(l, c, i);
        s[i] = scale_of(l, c, i);
        q[i] = (float)((const int8_t *)l->weight.q->data)[at];
        e[i] = ((const float *)(const void *)l->w->data)[at] - s[i] * q[i];
        damp += 0.01 * (double)h[i * n + i] / (double)n;
    }
    memset(slope, 0, (size_t)n * sizeof *slope); /* H e */
    for (int64_t i = 0; i < n; i++) {
        const float *row = h + i * n;
        for (int64_t k = 0; k < n; k++) slope[k] += row[k] * e[i];
        slope[i] += (float)damp * e[i];
    }
    bool changed = damp > 0;
    for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {
        changed = false;
        for (int64_t i = 0; i < n; i++) {
            const float bend = h[i * n + i] + (float)damp;
            float best = rintf(q[i] + slope[i] / (bend * s[i]));
            best = fminf(fmaxf(best, (float)-r->most), (float)r->most);
            const float d = s[i] * (best - q[i]), gain = 2 * d * slope[i] - d * d * bend;
            if (!(gain > 1e-6f * d * d * bend)) continue; /* also where nothing changes */
            const float *row = h + i * n;
            for (int64_t k = 0; k < n; k++) slope[k] -= row[k] * d;
            slope[i] -= (float)damp * d;
            q[i] = best;
            changed = true;
        }
    }
    for (int64_t i = 0; i < n; i++) r->adapted[place(l, c, i)] = s[i] * q[i];
}

static void round_channels(void *context, int64_t begin, int64_t end)
{
    rounding *r = context;
    float *work = sp__alloc((size_t)(4 * r->l->products->n) * sizeof *work);
    if (!work) {
        atomic_store(&r->no_memory, true);
        return;
    }
    for (int64_t c = begin; c < end; c++) round_channel(r, c, work);
    sp__free(work);
}

static sp_status adapt_layer(sp_quant_layer *l)
{
    products *s = l->products;
    if (s->rows == 0) return SP_OK;
    for (int64_t i = 0; i < s->groups * s->n * s->n; i++) s->h[i] /= (float)s->rows;
    sp_tensor *adapted;
    SP_TRY(sp_tensor_create(SP_DTYPE_F32, l->w->rank, l->w->dims, &adapted));
    rounding r = {.l = l, .adapted = (float *)(void *)adapted->data, .most = (1 << (l->weight.bits - 1)) - 1};
    sp_status status = sp__parallel_for(l->w->dims[l->channel_axis], 1, round_channels, &r);
    if (status == SP_OK && atomic_load(&r.no_memory)) status = SP_NOMEM;
    if (status != SP_OK) {
        sp_tensor_release(adapted);
        return status;
    }
    sp_tensor_release(l->adapted);
    l->adapted = adapted;
    return SP_OK;
}

sp_status sp__quant_adapt(sp_quantized *q, const sp_quant_data *data)
{
    sp_status status = SP_OK;
    bool any = true;
    for (int next = 0; status == SP_OK && any;) {
        const int first = next;
        status = choose(q->plan, &next, &any);
        if (status == SP_OK && any) status = gather(q, data);
        for (int i = first; i < q->plan->n_layers; i++) {
            sp_quant_layer *l = &q->plan->layers[i];
            if (status == SP_OK && l->products) status = adapt_layer(l);
            products_free(l);
        }
    }
    return status;
}
