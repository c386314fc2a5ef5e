/* SPDX-License-Identifier: Apache-2.0 */
/* ensemble.c - models in a chain, as one: NAME.ensemble, JSON.
 *
 *     {"inputs": ["image"], "outputs": ["scores"],
 *      "steps": [{"model": "resize.onnx", "inputs": {"x": "image"}, "outputs": {"y": "small"}},
 *                {"model": "net.mindir", "inputs": {"x": "small"}, "outputs": {"output": "scores"}}]}
 *
 * A step's inputs and outputs are the model's names, with the chain's names behind them. A tensor that one step gives is what the next one takes: nothing is copied. Each model
 * runs as it would by itself. Paths are relative to the file; a file that changes makes a new version, as of any model. */
#include <string.h>

#include "formats/model_impl.h"
#include "serve/json.h"
#include "serve/serve_impl.h"

enum { STEPS_MAX = 64, TENSORS_MAX = 256, NAME_BYTES = 128 };

typedef struct step {
    sp_model *model;
    int n_in, n_out;
    int *in, *out; /* the chain's tensors, by number; -1: not wanted */
} step;

typedef struct ensemble {
    int n_steps, n_tensors;
    step steps[STEPS_MAX];
    char names[TENSORS_MAX][NAME_BYTES];
    sp_spec specs[TENSORS_MAX]; /* dtype NONE: not known yet */
    bool made[TENSORS_MAX];     /* by a step, or an input of the whole */
    int last[TENSORS_MAX];      /* the step that takes it last, STEPS_MAX: it is a result */
    int n_in, n_out;
    int in[SP_SERVE_INPUTS_MAX], out[SP_SERVE_INPUTS_MAX];
} ensemble;

/* --- running ------------------------------------------------------------------------------------------------------- */

static sp_status run_step(const step *s, sp_tensor **all)
{
    sp_tensor *in[SP_SERVE_INPUTS_MAX], *out[SP_SERVE_INPUTS_MAX] = {NULL};
    for (int i = 0; i < s->n_in; i++) in[i] = s->in[i] >= 0 ? all[s->in[i]] : NULL;
    SP_TRY(sp_model_run(s->model, s->n_in, in, s->n_out, out));
    for (int i = 0; i < s->n_out; i++) {
        if (s->out[i] >= 0) all[s->out[i]] = out[i];
        else sp_tensor_release(out[i]);
    }
    return SP_OK;
}

static sp_status apply(const sp_model *m, sp_tensor *const *in, sp_tensor **out)
{
    const ensemble *e = m->data;
    sp_tensor *all[TENSORS_MAX] = {NULL};
    sp_status status = SP_OK;
    for (int i = 0; i < e->n_in; i++) {
        if (in[i] == NULL) continue;
        if (in[i]->symbol != NULL) return SP_SYMBOL; /* each model is compiled by itself */
        all[e->in[i]] = sp_tensor_retain(in[i]);
    }
    for (int k = 0; k < e->n_steps && status == SP_OK; k++) {
        status = run_step(&e->steps[k], all);
        if (status != SP_OK) sp__error_context("step %d", k);
        for (int t = 0; t < e->n_tensors; t++)
            if (e->last[t] == k) { /* memory goes as soon as it can */
                sp_tensor_release(all[t]);
                all[t] = NULL;
            }
    }
    for (int i = 0; i < e->n_out && status == SP_OK; i++)
        out[i] = all[e->out[i]] != NULL ? sp_tensor_retain(all[e->out[i]]) : NULL;
    for (int t = 0; t < e->n_tensors; t++) sp_tensor_release(all[t]);
    return status;
}

static void release(void *data)
{
    ensemble *e = data;
    for (int k = 0; k < e->n_steps; k++) sp_model_release(e->steps[k].model);
    sp__free(e);
}

static const sp_model_kind kind = {.format = "ensemble", .release = release, .apply = apply};

/* --- reading ------------------------------------------------------------------------------------------------------- */

typedef struct reader {
    sp_json j;
    sp_model *m;
    ensemble *e;
    const char *path;
} reader;

static int find(const ensemble *e, const char *name)
{
    for (int i = 0; i < e->n_tensors; i++)
        if (strcmp(e->names[i], name) == 0) return i;
    return -1;
}

static sp_status add(ensemble *e, const char *name, int *out)
{
    SP_CHECK(find(e, name) < 0, SP_VALUE, "tensor '%.100s' is made twice", name);
    SP_CHECK(e->n_tensors < TENSORS_MAX && strlen(name) < NAME_BYTES && name[0] != '\0', SP_VALUE,
             "tensor '%.100s': names have 1 to %d bytes, and there are at most %d tensors", name, NAME_BYTES - 1,
             TENSORS_MAX);
    memcpy(e->names[e->n_tensors], name, strlen(name) + 1);
    e->last[e->n_tensors] = -1;
    e->specs[e->n_tensors].dtype = SP_DTYPE_NONE;
    e->made[e->n_tensors] = true;
    *out = e->n_tensors++;
    return SP_OK;
}

static sp_status read_names(reader *r, bool inputs)
{
    ensemble *e = r->e;
    sp_status status;
    for (bool more = false; (status = sp__json_each(&r->j, '[', &more)) == SP_OK && more;) {
        const char *name;
        int *n = inputs ? &e->n_in : &e->n_out, *list = inputs ? e->in : e->out;
        SP_TRY(sp__json_text(&r->j, &r->m->arena, &name, NULL));
        SP_CHECK(*n < SP_SERVE_INPUTS_MAX, SP_VALUE, "there are more than %d %s", SP_SERVE_INPUTS_MAX,
                 inputs ? "inputs" : "outputs");
        if (inputs) SP_TRY(add(e, name, &list[*n]));
        else {
            list[*n] = find(e, name);
            SP_CHECK(list[*n] >= 0, SP_KEY, "output '%.100s' is made by no step", name);
            e->last[list[*n]] = STEPS_MAX;
        }
        ++*n;
    }
    return status;
}

static sp_status load_step(reader *r, step *s)
{
    const char *path, *slash = strrchr(r->path, '/');
    SP_TRY(sp__json_text(&r->j, &r->m->arena, &path, NULL));
    const size_t folder = slash != NULL && path[0] != '/' ? (size_t)(slash + 1 - r->path) : 0;
    char *full = sp__arena_alloc(&r->m->arena, folder + strlen(path) + 1);
    if (full == NULL) return SP_NOMEM;
    memcpy(full, r->path, folder);
    memcpy(full + folder, path, strlen(path) + 1);
    SP_TRY(sp_model_load(full, NULL, &s->model));
    r->e->n_steps++; /* from here on it is released with the others */
    s->n_in = sp_model_inputs(s->model);
    s->n_out = sp_model_outputs(s->model);
    SP_CHECK(!sp_model_needs_items(s->model), SP_DECLINED,
             "%s takes or gives texts or sequences, which chains do not carry", full);
    SP_CHECK(s->n_in <= SP_SERVE_INPUTS_MAX && s->n_out <= SP_SERVE_INPUTS_MAX, SP_DECLINED,
             "%s has more than %d inputs or outputs", full, SP_SERVE_INPUTS_MAX);
    s->in = sp__arena_alloc(&r->m->arena, (size_t)(s->n_in + s->n_out) * sizeof *s->in + 1);
    if (s->in == NULL) return SP_NOMEM;
    s->out = s->in + s->n_in;
    for (int i = 0; i < s->n_in + s->n_out; i++) s->in[i] = -1;
    return SP_OK;
}

/* What one step gives must be what the other takes, as far as files say. */
static sp_status connect(ensemble *e, int t, const sp_spec *taken, int k)
{
    sp_spec *given = &e->specs[t];
    if (given->dtype == SP_DTYPE_NONE) { /* an input of the whole: as its first taker has it */
        *given = *taken;
        return SP_OK;
    }
    SP_CHECK(taken->dtype == SP_DTYPE_NONE || taken->dtype == given->dtype, SP_TYPE,
             "tensor '%s' is %s, step %d takes %s", e->names[t], sp_dtype_name(given->dtype), k,
             sp_dtype_name(taken->dtype));
    SP_CHECK(taken->rank < 0 || given->rank < 0 || taken->rank == given->rank, SP_VALUE,
             "tensor '%s' has %d dimensions, step %d takes %d", e->names[t], given->rank, k, taken->rank);
    return SP_OK;
}

static sp_status read_ends(reader *r, step *s, bool inputs)
{
    const char *key, *name;
    sp_status status;
    const int n = inputs ? s->n_in : s->n_out, k = r->e->n_steps - 1;
    for (bool more = false; (status = sp__json_member(&r->j, &r->m->arena, &more, &key)) == SP_OK && more;) {
        int i = 0, t;
        SP_TRY(sp__json_text(&r->j, &r->m->arena, &name, NULL));
        while (i < n && strcmp(inputs ? sp_model_input_name(s->model, i) : sp_model_output_name(s->model, i), key) != 0)
            i++;
        SP_CHECK(i < n, SP_KEY, "the model of step %d has no %s '%.100s'", k, inputs ? "input" : "output", key);
        if (inputs) {
            t = find(r->e, name);
            SP_CHECK(t >= 0, SP_KEY, "tensor '%.100s', which step %d takes, is no input and made by no step before",
                     name, k);
            SP_TRY(connect(r->e, t, sp_model_input_spec(s->model, i), k));
            s->in[i] = t;
            r->e->last[t] = k;
        } else {
            SP_TRY(add(r->e, name, &t));
            r->e->specs[t] = *sp_model_output_spec(s->model, i);
            s->out[i] = t;
        }
    }
    return status;
}

static sp_status read_step(reader *r)
{
    ensemble *e = r->e;
    SP_CHECK(e->n_steps < STEPS_MAX, SP_VALUE, "there are more than %d steps", STEPS_MAX);
    step *s = &e->steps[e->n_steps];
    const char *key;
    sp_json inputs = {0}, outputs = {0};
    sp_status status;
    for (bool more = false; (status = sp__json_member(&r->j, &r->m->arena, &more, &key)) == SP_OK && more;) {
        const bool in = strcmp(key, "inputs") == 0, out = strcmp(key, "outputs") == 0;
        if (in || out) {
            *(in ? &inputs : &outputs) = r->j; /* read when the model is there */
            SP_TRY(sp__json_skip(&r->j));
        } else if (strcmp(key, "model") == 0 && s->model == NULL) SP_TRY(load_step(r, s));
        else
            return sp__json_fail(&r->j, "'%.64s' is not known here, or given twice; a step has: model, inputs, outputs",
                                 key);
    }
    SP_TRY(status);
    SP_CHECK(s->model != NULL && inputs.start != NULL && outputs.start != NULL, SP_VALUE,
             "step %d lacks model, inputs or outputs", e->n_steps);
    const sp_json after = r->j;
    r->j = inputs;
    SP_TRY(read_ends(r, s, true));
    r->j = outputs;
    SP_TRY(read_ends(r, s, false));
    r->j = after;
    return SP_OK;
}

static sp_status read_steps(reader *r)
{
    sp_status status;
    for (bool more = false; (status = sp__json_each(&r->j, '[', &more)) == SP_OK && more;) SP_TRY(read_step(r));
    return status;
}

/* Members are read in the order that they need, whatever they stand in. */
static sp_status read_file(reader *r)
{
    static const char *const keys[] = {"inputs", "steps", "outputs"};
    sp_json found[3] = {{0}};
    const char *key;
    sp_status status;
    for (bool more = false; (status = sp__json_member(&r->j, &r->m->arena, &more, &key)) == SP_OK && more;) {
        int i = 0;
        while (i < 3 && strcmp(key, keys[i]) != 0) i++;
        if (i == 3 || found[i].start != NULL)
            return sp__json_fail(&r->j, "'%.64s' is not known, or given twice; there are: inputs, steps, outputs", key);
        found[i] = r->j;
        SP_TRY(sp__json_skip(&r->j));
    }
    SP_TRY(status);
    SP_TRY(sp__json_end(&r->j));
    for (int i = 0; i < 3; i++) SP_CHECK(found[i].start != NULL, SP_VALUE, "the chain has no %s", keys[i]);
    r->j = found[0];
    SP_TRY(read_names(r, true));
    r->j = found[1];
    SP_TRY(read_steps(r));
    r->j = found[2];
    SP_TRY(read_names(r, false));
    SP_CHECK(r->e->n_in > 0 && r->e->n_out > 0 && r->e->n_steps > 0, SP_VALUE,
             "a chain has an input, a step and an output at least");
    return SP_OK;
}

static sp_status make_face(reader *r, bool inputs)
{
    const ensemble *e = r->e;
    const int n = inputs ? e->n_in : e->n_out;
    sp_model_value *values = sp__arena_alloc(&r->m->arena, (size_t)n * sizeof *values);
    if (values == NULL) return SP_NOMEM;
    for (int i = 0; i < n; i++) {
        const int t = inputs ? e->in[i] : e->out[i];
        SP_CHECK(!inputs || e->last[t] >= 0, SP_VALUE, "input '%s' is taken by no step", e->names[t]);
        values[i] = (sp_model_value){.name = e->names[t], .spec = e->specs[t]};
    }
    if (inputs) r->m->inputs = values;
    else r->m->outputs = values;
    *(inputs ? &r->m->n_inputs : &r->m->n_outputs) = n;
    return SP_OK;
}

static sp_status build(reader *r)
{
    r->e = sp__alloc_zero(sizeof *r->e);
    if (r->e == NULL) return SP_NOMEM;
    r->m->data = r->e;
    SP_TRY(read_file(r));
    SP_TRY(make_face(r, true));
    SP_TRY(make_face(r, false));
    return r->m->parameters == NULL ? sp_bundle_create(&r->m->parameters) : SP_OK;
}

bool sp__ensemble_is(const char *path)
{
    const size_t n = strlen(path);
    return n > 9 && strcmp(path + n - 9, ".ensemble") == 0;
}

sp_status sp__ensemble_load(const char *path, sp_model **out)
{
    sp_source s;
    reader r = {.path = path};
    SP_TRY(sp__source_open(path, &(sp_file_options){0}, &s));
    sp_status status = sp__model_create(&kind, &r.m);
    if (status == SP_OK) {
        r.j = sp__json_open(s.data, s.bytes);
        status = build(&r);
    }
    sp__source_close(&s);
    if (status == SP_OK) *out = r.m;
    else sp_model_release(r.m);
    return status;
}
