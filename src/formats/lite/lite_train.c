/* SPDX-License-Identifier: Apache-2.0 */
/* lite_train.c - training models of MindSpore Lite: predictions with the weights of training, the learning rate, files to go on from. */
#include <string.h>

#include "formats/lite/lite_model.h"
#include "spore/lite.h"

static bool is_lite(const sp_model *m) { return m != NULL && strcmp(m->kind->format, "lite") == 0; }

static sp_lite_model *data_of(const sp_model *m) { return m->data; }

bool sp_lite_trains(const sp_model *m) { return is_lite(m) && data_of(m)->trains; }

static sp_status check_training(const sp_model *m)
{
    SP_CHECK(m != NULL, SP_VALUE, "m must not be NULL");
    SP_CHECK(sp_lite_trains(m), SP_VALUE,
             "the model has no optimizer: export it with its training step (converter_lite --trainModel=true)");
    return SP_OK;
}

/* --- predictions ------------------------------------------------------------------------------------------------- */

static bool is_loss(const sp_tflite_node *n, int n_names, const char *const *names)
{
    for (int i = 0; i < n_names; i++)
        if (strstr(n->name, names[i]) != NULL) return true;
    return false;
}

/* While the graph in front of the loss is looked for. */
typedef struct search {
    const sp_tflite_graph *from;
    sp_tflite_graph *to;
    sp__arena *arena;
    int *maker;   /* of tensors: the node that makes it, -1: none */
    bool *after;  /* nodes that are the loss, come after it, or update weights */
    bool *wanted; /* nodes */
    bool *output; /* tensors */
} search;

static void mark_after(search *s, int n_names, const char *const *names)
{
    for (int i = 0; i < s->from->n_tensors; i++) s->maker[i] = -1;
    for (int i = 0; i < s->from->n_nodes; i++) {
        const sp_tflite_node *n = &s->from->nodes[i];
        s->after[i] =
            is_loss(n, n_names, names) || (n->handler->how & SP_TFLITE_RAW && sp__lite_is_update(n->handler->code));
        for (int k = 0; k < n->n_in; k++)
            s->after[i] = s->after[i] || (s->maker[n->in[k]] >= 0 && s->after[s->maker[n->in[k]]]);
        for (int k = 0; k < n->n_out; k++) s->maker[n->out[k]] = i;
    }
}

/* Results: what the loss takes from nodes in front of it; then the nodes that these need. */
static sp_status choose_nodes(search *s, int n_names, const char *const *names)
{
    sp_tflite_graph *g = s->to;
    if (!(g->outputs = sp__arena_alloc(s->arena, ((size_t)s->from->n_tensors + 1) * sizeof(int)))) return SP_NOMEM;
    for (int i = 0; i < s->from->n_nodes; i++) {
        const sp_tflite_node *n = &s->from->nodes[i];
        for (int k = 0; is_loss(n, n_names, names) && k < n->n_in; k++) {
            const int maker = s->maker[n->in[k]];
            if (maker < 0 || s->after[maker] || s->output[n->in[k]]) continue;
            s->output[n->in[k]] = s->wanted[maker] = true;
            g->outputs[g->n_outputs++] = n->in[k];
        }
    }
    SP_CHECK(g->n_outputs > 0, SP_VALUE,
             "no node whose name holds '%s' takes a prediction: name the part of its name that tells the loss",
             names[0]);
    for (int i = s->from->n_nodes - 1; i >= 0; i--) {
        const sp_tflite_node *n = &s->from->nodes[i];
        for (int k = 0; s->wanted[i] && k < n->n_in; k++)
            if (s->maker[n->in[k]] >= 0) s->wanted[s->maker[n->in[k]]] = true;
    }
    return SP_OK;
}

static sp_status copy_nodes(search *s)
{
    sp_tflite_graph *g = s->to;
    g->nodes = sp__arena_alloc(s->arena, ((size_t)s->from->n_nodes + 1) * sizeof *g->nodes);
    g->inputs = sp__arena_alloc(s->arena, ((size_t)s->from->n_inputs + 1) * sizeof *g->inputs);
    if (g->nodes == NULL || g->inputs == NULL) return SP_NOMEM;
    for (int i = 0; i < s->from->n_nodes; i++) {
        if (!s->wanted[i]) continue;
        g->nodes[g->n_nodes] = s->from->nodes[i];
        g->nodes[g->n_nodes++].n_dead = 0;
    }
    for (int i = 0; i < s->from->n_inputs; i++) {
        bool used = false;
        for (int k = 0; k < g->n_nodes && !used; k++)
            for (int j = 0; j < g->nodes[k].n_in && !used; j++) used = g->nodes[k].in[j] == s->from->inputs[i];
        if (used) g->inputs[g->n_inputs++] = s->from->inputs[i];
    }
    return sp__tflite_find_dead(s->arena, g);
}

static sp_status cut_graph(const sp_tflite_graph *from, sp__arena *arena, int n_names, const char *const *names,
                           sp_tflite_graph *to)
{
    search s = {.from = from, .to = to, .arena = arena};
    *to = (sp_tflite_graph){.name = from->name, .n_tensors = from->n_tensors, .tensors = from->tensors};
    s.maker = sp__arena_alloc(arena, ((size_t)from->n_tensors + 1) * sizeof *s.maker);
    s.output = sp__arena_alloc(arena, (size_t)from->n_tensors + 1);
    s.after = sp__arena_alloc(arena, (size_t)from->n_nodes + 1);
    s.wanted = sp__arena_alloc(arena, (size_t)from->n_nodes + 1);
    if (!s.maker || !s.output || !s.after || !s.wanted) return SP_NOMEM;
    mark_after(&s, n_names, names);
    SP_TRY(choose_nodes(&s, n_names, names));
    return copy_nodes(&s);
}

static void release(void *data)
{
    sp_lite_model *d = data;
    sp_model *base = d->base;
    sp__tflite_release(d);
    sp_model_release(base);
}

/* Weights are those of the training model, read at each run. */
static const sp_model_kind evaluation = {
    .format = "lite", .release = release, .apply = sp__tflite_apply, .reset = sp__tflite_reset};

static sp_status fill_evaluation(sp_model *m, int n, const char *const *names, sp_model *out)
{
    sp_lite_model *d = sp__alloc_zero(sizeof *d);
    if (d == NULL) return SP_NOMEM;
    out->data = d;
    sp__lock_init(&d->runs.lock);
    d->base = sp_model_retain(m);
    d->runs.n_graphs = 1;
    if (!(d->runs.graphs = sp__arena_alloc(&out->arena, sizeof *d->runs.graphs))) return SP_NOMEM;
    SP_TRY(cut_graph(&data_of(m)->runs.graphs[0], &out->arena, n, names, &d->runs.graphs[0]));
    for (int64_t i = 0; i < sp_bundle_count(m->parameters); i++)
        SP_TRY(
            sp_bundle_add(out->parameters, sp_bundle_name_at(m->parameters, i), sp_bundle_tensor_at(m->parameters, i)));
    SP_TRY(sp__lite_faces(out, &d->runs.graphs[0]));
    return sp__tflite_outline(out, &d->runs);
}

sp_status sp_lite_evaluation(sp_model *m, int n, const char *const *loss_names, sp_model **out)
{
    static const char *const usual[] = {"loss_fct", "_loss_fn", "SigmoidCrossEntropy"};
    SP_CHECK(out != NULL && n >= 0 && (n == 0 || loss_names != NULL), SP_VALUE,
             "out must not be NULL, and there must be as many names as told");
    SP_TRY(check_training(m));
    sp_model *made = NULL;
    SP_TRY(sp__model_create(&evaluation, &made));
    sp_status status = fill_evaluation(m, n > 0 ? n : 3, n > 0 ? loss_names : usual, made);
    if (status == SP_OK) *out = made;
    else sp_model_release(made);
    return status;
}

/* --- the learning rate ------------------------------------------------------------------------------------------- */

/* Which input of an optimizer is the rate; -1: it has none. */
static int rate_input(int tag)
{
    return tag == SP_LITE_ADAM                                   ? 5
           : tag == SP_LITE_ADAM_WEIGHT_DECAY                    ? 3
           : tag == SP_LITE_APPLY_MOMENTUM || tag == SP_LITE_SGD ? 2
                                                                 : -1;
}

/* The k-th rate of the model; NULL: there are no more. */
static sp_tensor *rate_at(const sp_model *m, int k)
{
    if (!sp_lite_trains(m)) return NULL;
    const sp_tflite_graph *g = &data_of(m)->runs.graphs[0];
    for (int i = 0; i < g->n_nodes; i++) {
        const sp_tflite_node *n = &g->nodes[i];
        const int input = n->handler->how & SP_TFLITE_RAW ? rate_input(n->handler->code) : -1;
        if (input < 0 || g->tensors[n->in[input]].parameter < 0 || k-- > 0) continue;
        return g->tensors[n->in[input]].constant;
    }
    return NULL;
}

float sp_lite_learning_rate(const sp_model *m)
{
    sp_tensor *t = rate_at(m, 0);
    return t != NULL && sp_tensor_count(t) == 1 ? *(const float *)sp_tensor_data(t) : 0;
}

sp_status sp_lite_set_learning_rate(sp_model *m, float rate)
{
    SP_TRY(check_training(m));
    SP_CHECK(rate_at(m, 0) != NULL, SP_VALUE, "the optimizer of the model has no learning rate that could be set");
    for (int k = 0; rate_at(m, k) != NULL; k++) {
        sp_tensor *new_rate = NULL, *old = rate_at(m, k);
        SP_TRY(sp_tensor_create_f64(SP_DTYPE_F32, (double)rate, &new_rate));
        sp_status status = sp_tensor_assign(old, new_rate);
        sp_tensor_release(new_rate);
        SP_TRY(status);
    }
    return SP_OK;
}

/* --- files ------------------------------------------------------------------------------------------------------- */

/* Contents of parameters where they lie in the file. */
static sp_status put_weights(const sp_model *m, uint8_t *file)
{
    const sp_lite_model *d = data_of(m);
    const sp_tflite_graph *g = &d->runs.graphs[0];
    for (int i = 0; i < g->n_tensors; i++) {
        const sp_tflite_tensor *t = &g->tensors[i];
        if (t->parameter < 0 || d->places[i] == 0) continue;
        sp_tensor *rows = NULL;
        SP_TRY(sp_tensor_contiguous(sp_bundle_tensor_at(m->parameters, t->parameter), &rows));
        memcpy(file + d->places[i], sp_tensor_data(rows), sp_tensor_bytes(rows));
        sp_tensor_release(rows);
    }
    return SP_OK;
}

sp_status sp_lite_save(const sp_model *m, const char *path, const sp_file_options *options)
{
    static const sp_file_options none = {0};
    SP_CHECK(path != NULL, SP_VALUE, "path must not be NULL");
    SP_TRY(check_training(m));
    const sp_lite_model *d = data_of(m);
    uint8_t *file = sp__alloc(d->file_bytes);
    sp_sink *sink = NULL;
    if (file == NULL) return SP_NOMEM;
    memcpy(file, d->file, d->file_bytes);
    sp_status status = put_weights(m, file);
    if (status == SP_OK) status = sp__sink_open(path, options != NULL ? options : &none, d->file_bytes, &sink);
    if (status == SP_OK) {
        status = sp__sink_write(sink, file, d->file_bytes);
        if (status == SP_OK) status = sp__sink_take_commit(sink);
        else sp__sink_abort(sink);
    }
    sp__free(file);
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}

/* --- watched runs ------------------------------------------------------------------------------------------------ */

sp_status sp_lite_run_watched(sp_model *m, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out,
                              sp_lite_watch watch, void *context)
{
    SP_CHECK(is_lite(m) && watch != NULL, SP_VALUE, "a model of MindSpore Lite and a function are needed");
    SP_CHECK(n_in == m->n_inputs && n_out == m->n_outputs, SP_VALUE,
             "the model has %d inputs and %d outputs, but %d and %d were given", m->n_inputs, m->n_outputs, n_in,
             n_out);
    SP_TRY(sp__model_check(m, n_in, in, m->other_sizes));
    for (int i = 0; i < n_out; i++) out[i] = NULL;
    return sp__tflite_apply_watched(m, in, out, watch, context);
}
