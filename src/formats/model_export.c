/* SPDX-License-Identifier: Apache-2.0 */
/* model_export.c - loaded models recorded as functions: written in another format, and their work counted.
 *
 * A free dimension needs a size to be recorded with, and a second one to tell what depends on it. The first axis is mostly a batch, for which
 * any size does, and so are those that are called like one, or that stand second in a state beside it; others are pictures or sentences, and
 * networks take only some sizes of these. What a file does not say is tried: several sizes, and every choice of which axes are batches. */
#include <stdio.h>
#include <string.h>

#include "formats/model_impl.h"
#include "ir/graph_impl.h"

static const int64_t sizes[][2] = {{224, 320}, {64, 96}, {32, 64}, {8, 12}, {16, 32}, {512, 1024}, {16000, 24000}, {3, 5}, {1, 2}};

enum { GUESSES_MAX = 4, BATCH = 2 }; /* axes of which it is tried whether they are batches; the smaller size of these */

static bool is_batch_name(const sp_model *m, uint32_t axis)
{
    for (int i = 0; i < m->n_inputs && axis != 0; i++)
        if (m->inputs[i].spec.rank > 0 && m->inputs[i].spec.dims[0] < 0 && m->inputs[i].axes[0] == axis) return true;
    return false;
}

/* Shapes of the inputs, free dimensions at the chosen size. Bit g of guess: the g-th free dimension beyond the first axis of which nothing is
 * known is a batch. */
static sp_status choose(const sp_model *m, int pair, unsigned guess, int which, sp_spec *out, bool *free_any, int *n_guesses)
{
    int g = 0;
    *free_any = false;
    for (int i = 0; i < m->n_inputs; i++) {
        out[i] = m->inputs[i].spec;
        SP_CHECK(out[i].dtype != SP_DTYPE_NONE && out[i].rank >= 0, SP_DECLINED, "the file does not say of which shape input '%s' is", m->inputs[i].name);
        for (int k = 0; k < out[i].rank; k++) {
            if (out[i].dims[k] >= 0) continue;
            *free_any = true;
            bool batch = k == 0 || is_batch_name(m, m->inputs[i].axes[k]);
            if (!batch && g < GUESSES_MAX) batch = guess >> g++ & 1;
            out[i].dims[k] = batch ? BATCH + which : sizes[pair][which];
        }
    }
    if (n_guesses) *n_guesses = g;
    return SP_OK;
}

typedef struct {
    sp_graph *graph, *other_graph;
    sp_function *f, *other;
} recordings;

static void recordings_free(recordings *r)
{
    sp_graph_release(r->graph);
    sp_graph_release(r->other_graph);
}

static sp_status record_pair(const sp_model *m, int pair, unsigned guess, recordings *r, bool *open, int *n_guesses)
{
    uint64_t all = m->n_inputs >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << m->n_inputs) - 1;
    sp_spec specs[64];
    *r = (recordings){0};
    SP_TRY(choose(m, pair, guess, 0, specs, open, n_guesses));
    sp_status status = sp__model_record(m, all, m->n_inputs, specs, &r->graph, &r->f);
    if (status == SP_OK && *open) {
        status = choose(m, pair, guess, 1, specs, open, n_guesses);
        if (status == SP_OK) status = sp__model_record(m, all, m->n_inputs, specs, &r->other_graph, &r->other);
    }
    if (status != SP_OK) {
        recordings_free(r);
        *r = (recordings){0};
    }
    return status;
}

/* The message of the first sizes is the one that is told: they are the likeliest. */
static sp_status record_twice(const sp_model *m, recordings *r)
{
    bool open = false;
    int n_guesses = 0;
    sp_error first = {0};
    SP_CHECK(m->n_inputs <= 64, SP_DECLINED, "the model has %d inputs, at most 64 are written", m->n_inputs);
    sp_status status = record_pair(m, 0, 0, r, &open, &n_guesses);
    if (status != SP_OK) sp_error_capture(status, &first);
    for (unsigned at = 1; status != SP_OK && open && at < (sizeof sizes / sizeof *sizes) << n_guesses; at++)
        status = record_pair(m, (int)(at >> n_guesses), at & ((1u << n_guesses) - 1), r, &open, &n_guesses);
    if (status != SP_OK) status = sp_error_raise(&first);
    if (status == SP_SYMBOL) {
        sp__error_context("shapes depend on the contents of tensors, so the model is not one graph");
        return SP_DECLINED;
    }
    return status;
}

/* What the free dimensions are called: alike for all inputs' batches. */
static const char *const *const *name_axes(sp__arena *arena, const sp_model *m)
{
    const char *const **rows = sp__arena_alloc(arena, (size_t)(m->n_inputs + 1) * sizeof *rows);
    for (int i = 0; rows && i < m->n_inputs; i++) {
        const char **row = sp__arena_alloc(arena, SP_RANK_MAX * sizeof *row);
        if (!row) return NULL;
        for (int k = 0; k < m->inputs[i].spec.rank; k++) {
            char name[24];
            snprintf(name, sizeof name, "size_%d", k);
            if (m->inputs[i].spec.dims[k] < 0 && !(row[k] = k == 0 ? "batch" : sp__arena_text(arena, name))) return NULL;
        }
        rows[i] = row;
    }
    return rows;
}

/* Are they called differently? MindIR has one name for all of a tuple. */
static bool outputs_differ(const sp_model *m)
{
    for (int i = 0; i < m->n_outputs; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(m->outputs[i].name, m->outputs[k].name)) return false;
    return true;
}

/* Texts of the user, which files keep as notes: their keys begin so. */
static int list_info(const sp_model *m, const char **keys, const char **texts)
{
    static const char front[] = "user_info.";
    int n = 0;
    for (int64_t i = 0; i < sp_bundle_note_count(m->parameters); i++) {
        const char *key, *text = sp_bundle_note_at(m->parameters, i, &key);
        if (strncmp(key, front, sizeof front - 1) != 0) continue;
        keys[n] = key + sizeof front - 1;
        texts[n++] = text;
    }
    return n;
}

sp_status sp_model_convert(sp_model *m, const char *path, int opset, const sp_file_options *options)
{
    SP_CHECK(m && path, SP_VALUE, "m and path must not be NULL");
    sp__arena arena = {0};
    recordings r = {0};
    int64_t n = sp_bundle_count(m->parameters);
    const char **inputs = sp__arena_alloc(&arena, (size_t)(m->n_inputs + 1) * sizeof *inputs);
    const char **outputs = sp__arena_alloc(&arena, (size_t)(m->n_outputs + 1) * sizeof *outputs);
    const char **names = sp__arena_alloc(&arena, (size_t)(n + 1) * sizeof *names);
    sp_tensor **weights = sp__arena_alloc(&arena, (size_t)(n + 1) * sizeof *weights);
    size_t n_notes = (size_t)sp_bundle_note_count(m->parameters) + 1;
    const char **keys = sp__arena_alloc(&arena, n_notes * sizeof *keys), **texts = sp__arena_alloc(&arena, n_notes * sizeof *texts);
    sp_status status = inputs && outputs && names && weights && keys && texts ? record_twice(m, &r) : SP_NOMEM;
    if (status == SP_OK) {
        for (int i = 0; i < m->n_inputs; i++) inputs[i] = m->inputs[i].name;
        for (int i = 0; i < m->n_outputs; i++) outputs[i] = m->outputs[i].name;
        for (int64_t i = 0; i < n; i++) {
            names[i] = sp_bundle_name_at(m->parameters, i);
            weights[i] = sp_bundle_tensor_at(m->parameters, i);
        }
        const sp_model_names all = {.n_inputs = m->n_inputs, .inputs = inputs, .n_parameters = (int)n, .parameters = weights,
                                    .parameter_names = names, .n_outputs = outputs_differ(m) ? m->n_outputs : 0, .outputs = outputs, .other = r.other,
                                    .axes = name_axes(&arena, m), .opset = opset, .n_info = list_info(m, keys, texts), .info_keys = keys, .info = texts,
                                    .form = m->form};
        status = sp_model_save(path, r.f, &all, options);
        if (status == SP_DECLINED && r.other != NULL) sp__error_context("%s", "the file leaves sizes of inputs open (they can be given: --shape)");
    }
    recordings_free(&r);
    sp__arena_free(&arena);
    return status;
}

/* --- work -------------------------------------------------------------------------------------------------------- */

static uint64_t count(const sp_meta *m, int from)
{
    uint64_t n = 1;
    for (int k = from; k < m->rank; k++) n *= m->dims[k] > 0 ? (uint64_t)m->dims[k] : 1;
    return n;
}

/* Of one node: every element of the result (or of what a gradient goes through) needs so many. */
static uint64_t node_work(const sp_node *n)
{
    const char *op = n->op->name;
    if (!strcmp(op, "matmul")) {
        const sp_meta *x = &n->in[0]->meta;
        bool turned = *(const bool *)n->attrs && x->rank > 1;
        return count(&n->out[0]->meta, 0) * (uint64_t)(x->rank ? x->dims[turned ? x->rank - 2 : x->rank - 1] : 1);
    }
    if (!strncmp(op, "conv", 4) && strstr(op, "_weight_grad")) return count(&n->in[1]->meta, 0) * count(&n->out[0]->meta, 1);
    if (!strncmp(op, "conv", 4) && strstr(op, "_input_grad")) return count(&n->in[0]->meta, 0) * count(&n->in[1]->meta, 1);
    if (!strncmp(op, "conv", 4)) return count(&n->out[0]->meta, 0) * count(&n->in[1]->meta, 1);
    if (!strcmp(op, "rnn_scan")) return count(&n->in[0]->meta, 0) * (uint64_t)n->in[1]->meta.dims[1];
    return 0;
}

/* f and what it calls; a function that is already being counted is a loop. */
static uint64_t function_work(const sp_function *f, uint8_t *active)
{
    uint64_t sum = 0;
    active[f->id] = 1;
    for (const sp_node *n = f->first; n; n = n->next) {
        if (n->kind == SP_NODE_OP) sum += node_work(n);
        uint64_t most = 0, all = 0;
        for (int i = 0; i < n->n_in; i++) {
            if (!n->in[i] || n->in[i]->origin != SP_VALUE_FUNCTION || active[n->in[i]->target->id]) continue;
            uint64_t one = function_work(n->in[i]->target, active);
            most = one > most ? one : most;
            all += one;
        }
        sum += n->kind == SP_NODE_SWITCH ? most : all;
    }
    active[f->id] = 0;
    return sum;
}

sp_status sp_model_work(sp_model *m, const sp_spec *inputs, uint64_t *multiply_adds)
{
    sp_spec specs[64];
    sp_graph *g;
    sp_function *f;
    bool open;
    SP_CHECK(m->n_inputs < 64, SP_DECLINED, "the model has %d inputs, at most 63 are counted", m->n_inputs);
    if (inputs) memcpy(specs, inputs, (size_t)m->n_inputs * sizeof *specs);
    int n_guesses = 0;
    sp_status status = SP_OK;
    for (size_t at = 0, n = sizeof sizes / sizeof *sizes; at < n << n_guesses; at++) { /* the smallest sizes first */
        if (!inputs) SP_TRY(choose(m, (int)(n - 1 - (at >> n_guesses)), at & ((1u << n_guesses) - 1), 0, specs, &open, &n_guesses));
        for (int i = 0; !inputs && i < m->n_inputs; i++)
            for (int k = 0; k < specs[i].rank; k++)
                if (m->inputs[i].spec.dims[k] < 0 && specs[i].dims[k] == BATCH) specs[i].dims[k] = 1;
        status = sp__model_record(m, ((uint64_t)1 << m->n_inputs) - 1, m->n_inputs, specs, &g, &f);
        if (status == SP_OK || inputs || !open) break;
    }
    SP_TRY(status);
    uint8_t *active = sp__alloc_zero((size_t)g->n_functions + 1);
    *multiply_adds = active ? function_work(f, active) : 0;
    status = active ? SP_OK : SP_NOMEM;
    sp__free(active);
    sp_graph_release(g);
    return status;
}
