/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c - the network at work on samples: with observers at the values that will be bytes, and with rounding beside the float layers. */
#include <math.h>
#include <string.h>

#include "ops/ops_impl.h"
#include "quant/quant.h"
#include "spore/ops_attrs.h"

enum { PROGRAMS = 8 };

/* --- programs ---------------------------------------------------------------------------------------------------- */

void sp__quant_runner_free(sp_quant_runner *r)
{
    for (int i = 0; i < r->n; i++) sp_program_release(r->programs[i].program);
    sp__free(r->programs);
    r->programs = NULL;
    r->n = 0;
}

static bool same_specs(int n, const sp_spec *a, const sp_spec *b)
{
    for (int i = 0; i < n; i++)
        if (a[i].dtype != b[i].dtype || !sp__shape_equal(a[i].rank, a[i].dims, b[i].rank, b[i].dims)) return false;
    return true;
}

static sp_status program_for(sp_quant_runner *r, const sp_spec *specs, sp_program **out)
{
    const int n = r->q->model->n_inputs;
    for (int i = 0; i < r->n; i++)
        if (same_specs(n, r->programs[i].specs, specs)) {
            *out = r->programs[i].program;
            return SP_OK;
        }
    if (!r->programs && !(r->programs = sp__alloc_zero(PROGRAMS * sizeof *r->programs))) return SP_NOMEM;
    sp_quant_recording recording;
    SP_TRY(sp__quant_record(r->q, specs, &recording));
    sp_program *made = NULL;
    sp_status status = r->edit ? r->edit(r->context, &recording) : SP_OK;
    if (status == SP_OK) status = sp_program_create(recording.f, NULL, &made);
    sp__quant_recording_free(&recording);
    SP_TRY(status);
    if (r->n == PROGRAMS) { /* the oldest goes */
        sp_program_release(r->programs[0].program);
        memmove(r->programs, r->programs + 1, (PROGRAMS - 1) * sizeof *r->programs);
        r->n--;
    }
    r->programs[r->n].program = *out = made;
    memcpy(r->programs[r->n++].specs, specs, (size_t)n * sizeof *specs);
    return SP_OK;
}

sp_status sp__quant_run(sp_quant_runner *r, sp_tensor *const *in, sp_tensor **out)
{
    sp_spec *specs = sp__alloc_zero(64 * sizeof *specs);
    sp_program *program;
    if (!specs) return SP_NOMEM;
    sp__quant_specs(r->q->model->n_inputs, in, specs);
    const sp_status status = program_for(r, specs, &program);
    sp__free(specs);
    SP_TRY(status);
    return sp_program_run(program, r->q->model->n_inputs, in, r->q->model->n_outputs, out);
}

/* --- observers --------------------------------------------------------------------------------------------------- */

static sp_status watch(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const sp_quant_watcher *w = context;
    sp_quant_plan *p = w->q->plan;
    (void)n_in, (void)n_out, (void)out;
    sp_tensor *plain;
    SP_TRY(sp_tensor_contiguous(in[0], &plain));
    const sp_status status = sp__quant_observe(&p->seen[w->place], (const float *)(const void *)plain->data,
                                               plain->count, strcmp(w->q->options.method, "outliers") == 0);
    sp_tensor_release(plain);
    const char *name = p->groups[w->place].name;
    if (status != SP_OK)
        sp__error_context(name ? "what layer '%s' takes" : "a value between layers (%s%d)", name ? name : "number ",
                          w->place);
    return status;
}

/* Host code behind the value that gives nothing. */
sp_status sp__quant_put_watcher(sp_quantized *q, sp_quant_recording *r, sp_node *before, int place, int n_in,
                                sp_value *const *in, sp_host_fn run)
{
    sp_quant_watcher *context = sp__alloc(sizeof *context);
    sp_host *host = sp__alloc_zero(sizeof *host);
    sp_node *n = context && host ? before ? sp__node_insert(before, SP_NODE_HOST, n_in, in, 0)
                                          : sp__node_append(r->f, SP_NODE_HOST, n_in, in, 0)
                                 : NULL;
    if (!n) {
        sp__free(context);
        sp__free(host);
        return SP_NOMEM;
    }
    *context = (sp_quant_watcher){q, place};
    atomic_init(&host->refs, 1);
    host->name = "observer";
    host->run = run;
    host->release = sp__free;
    host->context = context;
    const sp_status status = sp__node_set_host(n, host);
    sp__host_release(host);
    return status;
}

static sp_status put_observers(void *context, sp_quant_recording *r)
{
    sp_quantized *q = context;
    for (int i = 0; i < r->n_values; i++) {
        sp_value *v = r->values[i];
        if (!q->plan->values[i].bytes || sp__quant_is_moved(q->plan, v, i)) continue;
        SP_TRY(sp__quant_put_watcher(q, r, v->origin == SP_VALUE_NODE ? v->node->next : r->f->first, i, 1, &v, watch));
    }
    return SP_OK;
}

/* --- samples ----------------------------------------------------------------------------------------------------- */

sp_status sp__quant_check_sample(const sp_quantized *q, int64_t i, sp_tensor *const *in)
{
    const sp_model *m = q->model;
    sp_status status = SP_OK;
    for (int k = 0; k < m->n_inputs && status == SP_OK; k++)
        if (!in[k]) status = sp__fail(SP_VALUE, "input '%s' is missing", m->inputs[k].name);
    if (status == SP_OK) status = sp__model_check(m, m->n_inputs, in, false);
    for (int k = 0; k < m->n_inputs && status == SP_OK; k++)
        if (in[k]->count == 0) status = sp__fail(SP_VALUE, "input '%s' has no elements", m->inputs[k].name);
    if (status != SP_OK) sp__error_context("calibration sample %lld", (long long)i);
    return status;
}

/* The first ones are kept, as long as they are small together. */
enum { KEPT_BYTES = 64 << 20 };

static sp_status keep_sample(sp_quantized *q, sp_tensor *const *in, sp_tensor *label, size_t *bytes)
{
    const int n = q->model->n_inputs;
    const int64_t most = q->options.effect_samples > 0 ? q->options.effect_samples : SP_QUANT_EFFECT_SAMPLES;
    size_t size = 0;
    for (int i = 0; i < n; i++) size += sp_tensor_bytes(in[i]);
    if (q->n_kept >= most || (q->n_kept > 0 && *bytes + size > KEPT_BYTES)) return SP_OK;
    if (!q->kept) {
        q->kept = sp__alloc_zero((size_t)most * sizeof *q->kept);
        q->kept_labels = sp__alloc_zero((size_t)most * sizeof *q->kept_labels);
        if (!q->kept || !q->kept_labels) return SP_NOMEM;
    }
    sp_tensor **row = q->kept[q->n_kept] = sp__alloc_zero((size_t)n * sizeof *row);
    if (!row) return SP_NOMEM;
    q->kept_labels[q->n_kept++] = label ? sp_tensor_retain(label) : NULL; /* before what may fail: it is released */
    for (int i = 0; i < n; i++) SP_TRY(sp_tensor_copy(in[i], &row[i]));
    *bytes += size;
    return SP_OK;
}

static sp_status make_plan(sp_quantized *q, sp_tensor *const *in)
{
    sp_quant_recording r;
    SP_TRY(sp__quant_record_for(q, in, &r));
    sp_status status = sp__quant_plan_make(q, &r);
    if (status == SP_OK && q->options.equalize) status = sp__quant_equalize(q, &r);
    sp__quant_recording_free(&r);
    return status;
}

sp_status sp__quant_plan_from(sp_quantized *q, const sp_quant_data *data)
{
    sp_tensor *in[64] = {NULL};
    bool done = false;
    sp_status status = data->sample(data->context, 0, in, NULL, &done);
    if (status == SP_OK && done) status = sp__fail(SP_VALUE, "there is no sample in the data");
    if (status == SP_OK) status = sp__quant_check_sample(q, 0, in);
    if (status == SP_OK) status = make_plan(q, in);
    sp__quant_release(64, in);
    return status;
}

sp_status sp__quant_calibrate(sp_quantized *q, const sp_quant_data *data)
{
    sp_tensor *in[64] = {NULL}, *out[64] = {NULL}, *label = NULL;
    sp_quant_runner runner = {.q = q, .edit = put_observers, .context = q};
    size_t bytes = 0;
    bool done = false;
    sp_status status = SP_OK;
    for (int64_t i = 0; status == SP_OK && !done; i++) {
        status = data->sample(data->context, i, in, &label, &done);
        if (status == SP_OK && !done) status = sp__quant_check_sample(q, i, in);
        if (status == SP_OK && !done && !q->plan) status = make_plan(q, in);
        if (status == SP_OK && !done) status = sp__quant_run(&runner, in, out);
        if (status == SP_OK && !done) status = keep_sample(q, in, label, &bytes);
        if (status == SP_OK && !done) q->n_samples++;
        else if (status != SP_OK && !done) sp__error_context("calibration sample %lld", (long long)i);
        sp__quant_release(64, in);
        sp__quant_release(64, out);
        sp__quant_release(1, &label);
    }
    sp__quant_runner_free(&runner);
    if (status == SP_OK && q->n_samples == 0)
        status = sp__fail(
            SP_VALUE, "there is no sample in the calibration data: at least one is needed, some hundred are better");
    return status;
}

/* --- bias correction --------------------------------------------------------------------------------------------- */

/* in: what the float layer gives, what rounding makes of it. */
static sp_status watch_shift(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const sp_quant_watcher *w = context;
    sp_quant_layer *l = &w->q->plan->layers[w->place];
    (void)n_in, (void)n_out, (void)out;
    sp_tensor *a, *b;
    SP_TRY(sp_tensor_contiguous(in[0], &a));
    const sp_status status = sp_tensor_contiguous(in[1], &b);
    if (status == SP_OK) {
        const float *x = (const float *)(const void *)a->data, *y = (const float *)(const void *)b->data;
        int64_t inner = 1;
        for (int k = l->y_axis + 1; k < a->rank; k++) inner *= a->dims[k];
        const int64_t n = a->dims[l->y_axis];
        for (int64_t i = 0; i < a->count; i++) l->shift[i / inner % n] += (double)x[i] - (double)y[i];
        l->n_shift += a->count / n;
        sp_tensor_release(b);
    }
    sp_tensor_release(a);
    return status;
}

/* Beside each float layer the same with rounded weights and rounded operand. */
static sp_status put_shifts(void *context, sp_quant_recording *r)
{
    sp_quantized *q = context;
    sp_quant_plan *p = q->plan;
    for (int i = 0; i < p->n_layers; i++) {
        const sp_quant_layer *l = &p->layers[i];
        if (l->kept) continue;
        const sp_quant_scale *s = &p->groups[p->values[l->x].group].scale;
        sp_node *n = r->nodes[l->node], *made;
        sp_tensor *numbers[2] = {NULL}, *w = NULL;
        sp_value *in[3] = {n->in[0], NULL, NULL}, *parts[5] = {NULL};
        sp_status status = sp_tensor_create_f64(SP_DTYPE_F32, (double)s->scale, &numbers[0]);
        if (status == SP_OK)
            status = sp_tensor_create_f64(q->options.activation_bits == 16 ? SP_DTYPE_I16 : SP_DTYPE_I8, s->zero,
                                          &numbers[1]);
        sp_tensor *dequantised[3] = {l->weight.q, l->weight.scale, l->weight.zero};
        const sp_dequantize_linear_attrs along = {.axis = l->weight.axis < 0 ? 0 : l->weight.axis};
        int n_made;
        if (status == SP_OK) status = sp_apply(&sp_op_dequantize_linear, &along, 3, dequantised, 1, &w, &n_made);
        if (status == SP_OK) {
            parts[0] = sp__value_constant(r->f, numbers[0]);
            parts[1] = sp__value_constant(r->f, numbers[1]);
            in[1] = sp__value_constant(r->f, w);
            if (!parts[0] || !parts[1] || !in[1]) status = SP_NOMEM;
        }
        sp_node *next = n->next;
        if (status == SP_OK)
            status = sp__node_op(r->f, next, &sp_op_quantize_linear, NULL, 3,
                                 (sp_value *const[]){in[0], parts[0], parts[1]}, &made);
        if (status == SP_OK)
            status = sp__node_op(r->f, next, &sp_op_dequantize_linear, NULL, 3,
                                 (sp_value *const[]){made->out[0], parts[0], parts[1]}, &made);
        if (status == SP_OK) {
            in[0] = made->out[0];
            in[2] = n->n_in > 2 ? n->in[2] : NULL;
            status = sp__node_op(r->f, next, n->op, n->attrs, n->n_in, in, &made);
        }
        if (status == SP_OK)
            status = sp__quant_put_watcher(q, r, next, i, 2, (sp_value *const[]){n->out[0], made->out[0]}, watch_shift);
        sp_tensor_release(numbers[0]);
        sp_tensor_release(numbers[1]);
        sp_tensor_release(w);
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status correct_layer(sp_quant_layer *l)
{
    const int64_t n = l->w->dims[l->channel_axis];
    sp_tensor *b;
    if (l->n_shift == 0 || (!l->b && l->kind != SP_QUANT_CONV))
        return SP_OK; /* a product without a bias gets none: its place in the graph is not known */
    SP_TRY(sp_tensor_create_zeros(SP_DTYPE_F32, l->b ? l->b->rank : 1, l->b ? l->b->dims : &n, &b));
    for (int64_t i = 0; i < n; i++) {
        const double old = l->b ? (double)((const float *)(const void *)l->b->data)[i] : 0;
        ((float *)(void *)b->data)[i] = (float)(old + l->shift[i] / (double)l->n_shift);
    }
    sp_tensor_release(l->corrected);
    l->corrected = b;
    return SP_OK;
}

sp_status sp__quant_correct_bias(sp_quantized *q)
{
    sp_quant_plan *p = q->plan;
    sp_quant_runner runner = {.q = q, .edit = put_shifts, .context = q};
    sp_tensor *out[64] = {NULL};
    sp_status status = SP_OK;
    for (int i = 0; i < p->n_layers && status == SP_OK; i++) {
        sp_quant_layer *l = &p->layers[i];
        if (l->kept) continue;
        l->shift = sp__alloc_zero((size_t)l->w->dims[l->channel_axis] * sizeof *l->shift);
        l->n_shift = 0;
        if (!l->shift) status = SP_NOMEM;
    }
    for (int k = 0; k < q->n_kept && status == SP_OK; k++) {
        status = sp__quant_run(&runner, q->kept[k], out);
        sp__quant_release(64, out);
    }
    sp__quant_runner_free(&runner);
    for (int i = 0; i < p->n_layers && status == SP_OK; i++) status = correct_layer(&p->layers[i]);
    for (int i = 0; i < p->n_layers; i++) {
        sp__free(p->layers[i].shift);
        p->layers[i].shift = NULL;
    }
    return status;
}
