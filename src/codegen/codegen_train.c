/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_train.c - a step of training as a function: the model, a loss, gradients of the weights that are trained, and what an optimizer makes of
 * them. Everything is recorded as operators, so that it becomes C as inference does; what is stored (weights, moments) lies in RAM. */
#include "codegen/codegen.h"
#include "codegen/codegen_record.h"
#include "formats/model_impl.h"
#include "ops/ops_impl.h"
#include "spore/grad.h"

enum { REPEATS = 3 };

static bool is_chosen(const sp_codegen_options *options, const char *name)
{
    for (int i = 0; i < options->n_train; i++)
        if (strncmp(name, options->train[i], strlen(options->train[i])) == 0) return true;
    return false;
}

sp_status sp__codegen_trained(const sp_model *m, const sp_codegen_options *options, sp_codegen_shared *out)
{
    for (int64_t i = 0; i < sp_bundle_count(m->parameters); i++) {
        sp_tensor *t = sp_bundle_tensor_at(m->parameters, i);
        if (t == NULL || t->dtype != SP_DTYPE_F32 || !is_chosen(options, sp_bundle_name_at(m->parameters, i))) continue;
        SP_CHECK(out->n < SP_CODEGEN_SHARED / 4, SP_DECLINED, "more than %d weights cannot be trained in generated C",
                 SP_CODEGEN_SHARED / 4);
        sp_graph_variable_mark(t);
        out->tensors[out->n++] = sp_tensor_retain(t);
    }
    out->n_weights = out->n;
    SP_CHECK(out->n > 0, SP_KEY, "no float32 weight has a name that begins with '%s'; spore inspect lists the names",
             options->train[0]);
    return SP_OK;
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

/* The spec of labels: a class for each row, or what the first output should be. */
static sp_status label_spec(const sp_codegen_options *options, const sp_meta *out, sp_spec *label)
{
    const char *loss = options->loss != NULL ? options->loss : "cross_entropy";
    SP_CHECK(out->dtype == SP_DTYPE_F32, SP_DECLINED,
             "a model whose first output is %s cannot be trained; it must be float32", sp_dtype_name(out->dtype));
    if (strcmp(loss, "mse") == 0) {
        *label = *out;
        return SP_OK;
    }
    SP_CHECK(strcmp(loss, "cross_entropy") == 0, SP_VALUE, "there is no loss '%s'; there are cross_entropy and mse",
             loss);
    SP_CHECK(out->rank == 2, SP_DECLINED, "cross entropy needs a first output of rows and classes, it has rank %d",
             out->rank);
    *label = (sp_spec){.dtype = SP_DTYPE_I32, .rank = 1, .dims = {out->dims[0]}};
    return SP_OK;
}

static sp_tensor *classes(sp_builder *b, int64_t n)
{
    sp_tensor *t;
    const sp_status status = sp_tensor_create(SP_DTYPE_I32, 2, (const int64_t[]){1, n}, &t);
    if (status != SP_OK) return sp__builder_fail(b, status);
    for (int64_t i = 0; i < n; i++) ((int32_t *)(void *)t->data)[i] = (int32_t)i;
    return sp_builder_take_tensor(b, t);
}

/* Mean over the rows of -log of the probability of the right class. probabilities: the model ends in softmax itself. */
static sp_tensor *cross_entropy(sp_builder *b, sp_tensor *y, sp_tensor *label, bool probabilities)
{
    const int64_t rows = sp_tensor_dims(y)[0], n = sp_tensor_dims(y)[1];
    sp_tensor *right =
        sp_cast(b, sp_equal(b, sp_reshape(b, label, 2, (const int64_t[]){rows, 1}), classes(b, n)), SP_DTYPE_F32);
    sp_tensor *logs = probabilities ? sp_log(b, sp_maximum(b, y, sp__const(b, 1e-30, y)))
                                    : sp_builder_apply(b, &sp_op_log_softmax, NULL, 1, &y);
    return sp__mul_number(b, sp_reduce_sum(b, sp_mul(b, right, logs), 2, (const int64_t[]){0, 1}, false),
                          -1.0 / (double)rows);
}

static sp_tensor *squares(sp_builder *b, sp_tensor *y, sp_tensor *label)
{
    int64_t axes[SP_RANK_MAX];
    for (int i = 0; i < sp_tensor_rank(y); i++) axes[i] = i;
    sp_tensor *sum = sp_reduce_sum(b, sp_square(b, sp_sub(b, y, label)), sp_tensor_rank(y), axes, false);
    return sp__mul_number(b, sum, 1.0 / (double)sp_tensor_count(y));
}

/* --- optimizers -------------------------------------------------------------------------------------------------- */

/* A variable of the optimizer. */
static sp_tensor *keep(sp_builder *b, sp_codegen_shared *shared, int rank, const int64_t *dims, float start)
{
    sp_tensor *t;
    if (b->status != SP_OK) return NULL;
    sp_status status = shared->n < SP_CODEGEN_SHARED ? sp_tensor_create(SP_DTYPE_F32, rank, dims, &t)
                                                     : sp__fail(SP_DECLINED, "too many variables");
    if (status != SP_OK) return sp__builder_fail(b, status);
    for (int64_t i = 0; i < t->count; i++) ((float *)(void *)t->data)[i] = start;
    sp_graph_variable_mark(t);
    shared->tensors[shared->n++] = t;
    return t;
}

static void assign(sp_builder *b, sp_tensor *variable, sp_tensor *value)
{
    (void)sp_builder_apply(b, &sp_op_assign, NULL, 2, (sp_tensor *const[]){variable, value});
}

/* What all weights have in common: the rate, and of Adam its correction. */
typedef struct step {
    sp_tensor *rate;
    char kind; /* s, m, a */
} step;

static sp_status step_begin(sp_builder *b, const sp_codegen_options *options, sp_codegen_shared *shared,
                            sp_tensor *rate, step *s)
{
    const char *name = options->optimizer != NULL ? options->optimizer : "sgd";
    SP_CHECK(strcmp(name, "sgd") == 0 || strcmp(name, "momentum") == 0 || strcmp(name, "adam") == 0, SP_VALUE,
             "there is no optimizer '%s'; there are sgd, momentum and adam", name);
    *s = (step){.rate = rate, .kind = name[0]};
    if (s->kind != 'a') return SP_OK;
    sp_tensor *p1 = keep(b, shared, 0, NULL, 1), *p2 = keep(b, shared, 0, NULL, 1); /* powers of 0.9 and 0.999 */
    SP_TRY(sp__builder_status(b));
    sp_tensor *next1 = sp__mul_number(b, p1, 0.9), *next2 = sp__mul_number(b, p2, 0.999);
    sp_tensor *one = sp__const(b, 1, rate);
    s->rate = sp_div(b, sp_mul(b, rate, sp_sqrt(b, sp_sub(b, one, next2))), sp_sub(b, one, next1));
    assign(b, p1, next1);
    assign(b, p2, next2);
    return sp__builder_status(b);
}

static void update(sp_builder *b, const step *s, sp_codegen_shared *shared, sp_tensor *w, sp_tensor *g)
{
    sp_tensor *by = g;
    if (s->kind == 'm') {
        sp_tensor *m = keep(b, shared, w->rank, w->dims, 0);
        by = sp_add(b, sp__mul_number(b, m, 0.9), g);
        assign(b, m, by);
    } else if (s->kind == 'a') {
        sp_tensor *m = keep(b, shared, w->rank, w->dims, 0), *v = keep(b, shared, w->rank, w->dims, 0);
        sp_tensor *next_m = sp_add(b, sp__mul_number(b, m, 0.9), sp__mul_number(b, g, 0.1));
        sp_tensor *next_v = sp_add(b, sp__mul_number(b, v, 0.999), sp__mul_number(b, sp_square(b, g), 0.001));
        by = sp_div(b, next_m, sp__add_number(b, sp_sqrt(b, next_v), 1e-8));
        assign(b, m, next_m);
        assign(b, v, next_v);
    }
    assign(b, w, sp_sub(b, w, sp_mul(b, by, s->rate)));
}

/* --- the function ------------------------------------------------------------------------------------------------ */

typedef struct recording {
    const sp_model *m; /* with the weights of the recording */
    const sp_codegen_options *options;
    sp_codegen_shared *shared;
    bool probabilities;
} recording;

/* Between begin and end of the function: args are the inputs, labels and rate. */
static sp_status record_body(const recording *r, sp_builder *b, sp_tensor **args, sp_tensor **loss)
{
    const sp_model *m = r->m;
    sp_tensor *results[16] = {NULL}, *grads[SP_CODEGEN_SHARED] = {NULL};
    sp_codegen_shared *shared = r->shared;
    const int n = shared->n_weights;
    sp_grad_begin();
    sp_status status = SP_OK;
    int watched = 0;
    for (; watched < n && status == SP_OK; watched++) status = sp_grad_watch(shared->tensors[watched]);
    if (status == SP_OK) status = m->kind->apply(m, args, results);
    for (int i = 0; i < m->n_outputs; i++)
        if (results[i] != NULL) results[i] = sp_builder_take_tensor(b, results[i]);
    const bool mse = r->options->loss != NULL && strcmp(r->options->loss, "mse") == 0;
    if (status == SP_OK)
        *loss = mse ? squares(b, results[0], args[m->n_inputs])
                    : cross_entropy(b, results[0], args[m->n_inputs], r->probabilities);
    if (status == SP_OK) status = sp__builder_status(b);
    if (status == SP_OK) status = sp_grad_backward(1, loss, NULL, n, shared->tensors, false, grads);
    sp_grad_end();
    for (int i = 0; i < watched; i++) sp_grad_unwatch(shared->tensors[i]);
    step s = {.kind = 0};
    for (int i = 0; i < n; i++)
        if (grads[i] != NULL) grads[i] = sp_builder_take_tensor(b, grads[i]);
    if (status == SP_OK) status = step_begin(b, r->options, shared, args[m->n_inputs + 1], &s);
    for (int i = 0; i < n && status == SP_OK; i++) update(b, &s, shared, shared->tensors[i], grads[i]);
    return status == SP_OK ? sp__builder_status(b) : status;
}

static sp_status record_function(const recording *r, int n, const sp_spec *specs, sp_graph *g, sp_function **out)
{
    sp_tensor *args[18], *loss = NULL;
    sp_function *f;
    sp_builder b;
    SP_TRY(sp_function_begin(g, "train", n, specs, &f, args));
    sp__builder_init(&b);
    sp_status status = record_body(r, &b, args, &loss);
    if (status == SP_OK) status = sp_function_end(f, 1, &loss);
    else sp_function_abandon(f);
    sp__builder_done(&b);
    for (int i = 0; i < n; i++) sp_tensor_release(args[i]);
    *out = f;
    return status;
}

/* What the first output is, and whether softmax makes it: from a recording of the model alone. */
static sp_status look_at_output(const sp_model *m, const sp_codegen_shared *shared, sp_meta *out, bool *softmax)
{
    sp_graph *g;
    sp_function *f;
    sp__arena places = {0};
    const sp_status status = sp__codegen_record(m, shared, &places, &g, &f);
    if (status == SP_OK) {
        const sp_value *v = f->results[0];
        *out = v->meta;
        *softmax = v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_OP && v->node->op == &sp_op_softmax;
        sp_graph_release(g);
    }
    sp__arena_free(&places);
    return status;
}

sp_status sp__codegen_record_step(const sp_model *m, const sp_codegen_options *options, sp_codegen_shared *shared,
                                  sp__arena *places, sp_graph **graph, sp_function **out)
{
    sp_spec specs[18];
    sp_meta result;
    recording r = {.options = options, .shared = shared};
    SP_TRY(look_at_output(m, shared, &result, &r.probabilities));
    for (int i = 0; i < m->n_inputs; i++) specs[i] = m->inputs[i].spec;
    SP_TRY(label_spec(options, &result, &specs[m->n_inputs]));
    specs[m->n_inputs + 1] = (sp_spec){.dtype = SP_DTYPE_F32, .rank = 0};
    sp_bundle *weights;
    SP_TRY(sp__codegen_weights(m, shared, &weights));
    const sp_model frozen = {.kind = m->kind,
                             .data = m->data,
                             .n_inputs = m->n_inputs,
                             .n_outputs = m->n_outputs,
                             .inputs = m->inputs,
                             .outputs = m->outputs,
                             .parameters = weights};
    r.m = &frozen;
    sp_graph *g = NULL;
    sp_status status = sp_graph_create(&g);
    sp__model_places = places;
    if (status == SP_OK) status = record_function(&r, m->n_inputs + 2, specs, g, out);
    sp__model_places = NULL;
    sp_bundle_release(weights);
    if (status == SP_OK) *graph = g;
    else sp_graph_release(g);
    return status;
}

/* --- the test vector --------------------------------------------------------------------------------------------- */

sp_status sp__codegen_step_vector(sp_model *m, sp_codegen *g, sp_codegen_vector *out)
{
    const int n = m->n_inputs + 2;
    uint32_t state = 54321;
    *out = (sp_codegen_vector){.n_in = n, .n_out = 1, .repeats = REPEATS};
    out->in = sp__alloc_zero((size_t)n * sizeof *out->in);
    out->out = sp__alloc_zero(sizeof *out->out);
    const char **names = sp__alloc_zero((size_t)(n + 1) * sizeof *names);
    out->in_names = names;
    if (out->in == NULL || out->out == NULL || names == NULL) return SP_NOMEM;
    out->out_names = names + n;
    for (int i = 0; i < n; i++) {
        const sp_meta *meta = &g->f->params[i]->meta;
        names[i] = i < m->n_inputs ? m->inputs[i].name : i == m->n_inputs ? "label" : "rate";
        SP_TRY(sp__codegen_noise(meta, &state, &out->in[i]));
    }
    names[n] = "loss";
    *(float *)(void *)out->in[n - 1]->data = 0.01f;
    return sp__codegen_repeat(g, n, out->in, REPEATS, &out->out[0]);
}
