/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - models of any kind: loaded, compiled, run.
 *
 * A kind of file (model_impl.h) gives one function that applies the model to arguments. Applied to symbols it records a
 * program for their dtypes and shapes; which program serves which sizes is the affair of graph/jit.h. Applied to tensors it computes. The second way is
 * taken when the first one fails with SP_SYMBOL because the contents of an argument decide about shapes, and when gradients are
 * recorded.
 *
 * Weights that nobody changes are worth more as constants than as variables: what is computed from them alone is computed once,
 * and kernels bring them into the form they like. So programs are made with constants first, under a stamp of the weights'
 * storages and versions. When the stamp is another one at a later run, somebody trains the model or loads it anew: from then on
 * its programs read the weights as variables. */
#include <stdio.h>

#include "base/handle.h"
#include "base/parts.h"
#include "base/plain.h"
#include "base/text.h"
#include "base/used.h"
#include "formats/model_impl.h"
#include "graph/jit.h"
#include "ir/constant.h"
#include "ir/op_impl.h"
#include "spore/grad.h"
#include "tensor/mapped.h"

struct sp_model_programs {
    sp_jit *jit;
    sp_derived derived;   /* from the weights as constants; for whoever records */
    atomic_ullong stamp;  /* of the weights that programs hold as constants; 0: of none yet */
    atomic_bool stepwise; /* found to depend on contents */
    atomic_bool thawed;   /* weights were changed */
};

static const sp_model_kind *const kinds[] = {SP_IF_FORMAT(mindir, &sp__model_mindir, ) SP_IF_FORMAT(
    onnx, &sp__model_onnx, ) SP_IF_FORMAT(tflite, &sp__model_tflite, ) SP_IF_FORMAT(lite, &sp__model_lite, ) NULL};
static const sp_file_options no_options = {0};

/* --- loading and releasing --------------------------------------------------------------------------------------- */

sp_model *sp_model_retain(sp_model *m)
{
    if (!m) return NULL;
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void sp_model_release(sp_model *m)
{
    if (m == NULL || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) return;
    if (m->programs != NULL) {
        sp__jit_free(m->programs->jit);
        sp__derived_clear(&m->programs->derived);
        sp__free(m->programs);
    }
    if (m->data != NULL) m->kind->release(m->data);
    sp_bundle_release(m->parameters);
    sp__arena_free(&m->arena);
    sp__free(m);
}

sp_status sp__model_create(const sp_model_kind *kind, sp_model **out)
{
    sp_model *m = sp__alloc_zero(sizeof *m);
    if (m == NULL) return SP_NOMEM;
    atomic_init(&m->refs, 1);
    m->kind = kind;
    m->programs = sp__alloc_zero(sizeof *m->programs);
    sp_status status = m->programs != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK) status = sp__jit_create(&m->programs->jit);
    if (status == SP_OK) status = sp_bundle_create(&m->parameters);
    if (status == SP_OK) *out = m;
    else sp_model_release(m);
    return status;
}

static bool name_is_taken(const sp_model_value *values, int n, int but, const char *name)
{
    for (int i = 0; i < n; i++)
        if (i != but && values[i].name != NULL && strcmp(values[i].name, name) == 0) return true;
    return false;
}

/* Clients ask by name, so each has one of its own: the first keeps what the file says, others of that name get the place among them behind it, as MindSpore Lite does
 * it. What has no name is called `kind`, with its place. */
static sp_status make_unique(sp__arena *arena, const char *kind, sp_model_value *values, int n)
{
    for (int i = 0; i < n; i++) {
        const bool none = values[i].name == NULL || values[i].name[0] == '\0';
        const char *base = none ? kind : values[i].name;
        int place = none ? i : 1;
        if (!none && !name_is_taken(values, i, -1, base)) continue;
        const size_t room = strlen(base) + 16;
        char *name = sp__arena_alloc(arena, room);
        if (name == NULL) return SP_NOMEM;
        do snprintf(name, room, "%s_%d", base, place++);
        while (name_is_taken(values, n, i, name));
        values[i].name = name;
    }
    return SP_OK;
}

static sp_status load_model(const sp_source *s, sp_model **out)
{
    const sp_format *format;
    SP_TRY(sp__source_format(s, &format));
    for (size_t i = 0; kinds[i] != NULL; i++) {
        if (strcmp(kinds[i]->format, format->name) != 0) continue;
        if (sp__used_watched()) sp__used_note(SP_USED_FORMAT, format->name);
        sp_model *m;
        SP_TRY(sp__model_create(kinds[i], &m));
        sp_status status = kinds[i]->load(s, m);
        if (status == SP_FORMAT) sp__source_explain(s, format);
        if (status == SP_OK) status = make_unique(&m->arena, "input", m->inputs, m->n_inputs);
        if (status == SP_OK) status = make_unique(&m->arena, "output", m->outputs, m->n_outputs);
        if (status == SP_OK) *out = m;
        else sp_model_release(m);
        return status;
    }
    return sp__fail(
        SP_FORMAT,
        "the file is a %s, which holds weights alone; a model is needed (MindIR, ONNX, TFLite, MindSpore Lite)",
        format->title);
}

sp_status sp__model_call_format(sp_builder *b, const char *op, int n_in, sp_tensor *const *in, int max_out,
                                sp_tensor **out, const char *format, va_list args)
{
    char text[4096] = "";
    const int n = format ? sp__vsnprintf(text, sizeof text, format, args) : 0;
    if (n < 0 || n >= (int)sizeof text) {
        sp__builder_fail(b, sp__fail(SP_VALUE, "%s: its attributes are too long", op));
        return sp__builder_status(b);
    }
    return sp_builder_call_many(b, op, format ? text : NULL, n_in, in, max_out, out);
}

sp_tensor *sp__model_op(sp_builder *b, const char *op, int n_in, sp_tensor *const *in, const char *format, ...)
{
    sp_tensor *out[SP_OUT_MAX] = {NULL};
    va_list args;
    va_start(args, format);
    const sp_status status = sp__model_call_format(b, op, n_in, in, SP_OUT_MAX, out, format, args);
    va_end(args);
    return status == SP_OK ? out[0] : NULL;
}

sp_status sp__model_op_many(sp_builder *b, const char *op, int n_in, sp_tensor *const *in, int max_out, sp_tensor **out,
                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const sp_status status = sp__model_call_format(b, op, n_in, in, max_out, out, format, args);
    va_end(args);
    return status;
}

sp_status sp_model_load(const char *path, const sp_file_options *options, sp_model **out)
{
    SP_CHECK(path != NULL && out != NULL, SP_VALUE, "path and out must not be NULL");
    sp_source s = {0};
    sp_status status = sp__source_open(path, options != NULL ? options : &no_options, &s);
    if (status == SP_OK) {
        sp_model *m = NULL;
        status = load_model(&s, &m);
        const sp_status file =
            s.map != NULL ? sp__map_check(s.map) : SP_OK; /* the reason of any failure, if it has changed */
        if (file != SP_OK) {
            if (status != SP_OK) m = NULL;
            status = file;
        }
        sp__source_close(&s);
        if (status == SP_OK) *out = m;
        else sp_model_release(m);
    }
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}

sp_status sp_model_load_memory(const void *data, size_t bytes, const sp_file_options *options, sp_model **out)
{
    SP_CHECK(out != NULL && (data != NULL || bytes == 0), SP_VALUE, "data and out must not be NULL");
    sp_source s;
    SP_TRY(sp__source_open_memory(data, bytes, options != NULL ? options : &no_options, &s));
    sp_status status = load_model(&s, out);
    sp__source_close(&s);
    return status;
}

/* --- the face ---------------------------------------------------------------------------------------------------- */

int sp_model_inputs(const sp_model *m) { return m ? m->n_inputs : 0; }
int sp_model_outputs(const sp_model *m) { return m ? m->n_outputs : 0; }
static const sp_model_value *input(const sp_model *m, int i)
{
    return m && i >= 0 && i < m->n_inputs ? &m->inputs[i] : NULL;
}
static const sp_model_value *output(const sp_model *m, int i)
{
    return m && i >= 0 && i < m->n_outputs ? &m->outputs[i] : NULL;
}
static const char *axis_of(const sp_model_value *v, int axis)
{
    return v && axis >= 0 && axis < SP_RANK_MAX ? v->axis_names[axis] : NULL;
}
const char *sp_model_input_name(const sp_model *m, int i) { return input(m, i) ? input(m, i)->name : NULL; }
const char *sp_model_output_name(const sp_model *m, int i) { return output(m, i) ? output(m, i)->name : NULL; }
const sp_spec *sp_model_input_spec(const sp_model *m, int i) { return input(m, i) ? &input(m, i)->spec : NULL; }
const sp_spec *sp_model_output_spec(const sp_model *m, int i) { return output(m, i) ? &output(m, i)->spec : NULL; }
const char *sp_model_input_axis(const sp_model *m, int i, int axis) { return axis_of(input(m, i), axis); }
const char *sp_model_output_axis(const sp_model *m, int i, int axis) { return axis_of(output(m, i), axis); }
const char *sp_model_form(const sp_model *m) { return m ? m->form : NULL; }
const sp_bundle *sp_model_parameters(const sp_model *m) { return m ? m->parameters : NULL; }
int sp_model_nodes(const sp_model *m) { return m ? m->n_nodes : 0; }
const sp_model_node *sp_model_node_at(const sp_model *m, int i)
{
    return m && i >= 0 && i < m->n_nodes ? &m->nodes[i] : NULL;
}

const char *sp__model_scope(sp__arena *arena, const char *name)
{
    const char *last = name != NULL ? strrchr(name, '/') : NULL;
    char *scope = sp__arena_alloc(arena, last != NULL ? (size_t)(last - name) + 2 : 1), *at = scope;
    if (scope == NULL || last == NULL) return scope;
    for (const char *p = name; p < last;) {
        size_t n = strcspn(p, "/");
        const char *dash = memchr(p, '-', n);
        bool plain = (n == 7 && strncmp(p, "Default", 7) == 0) || n == 0;
        size_t kept =
            dash != NULL && dash > p ? (size_t)(dash - p) : n; /* "conv1-Conv2d": the class says nothing new */
        if (!plain) {
            if (at > scope) *at++ = '/';
            memcpy(at, p, kept);
            at += kept;
        }
        p += n + (p[n] == '/');
    }
    *at = '\0';
    return scope;
}

sp_status sp_model_reset(sp_model *m)
{
    SP_CHECK(m != NULL, SP_VALUE, "m must not be NULL");
    return m->kind->reset != NULL ? m->kind->reset(m) : SP_OK;
}

sp_status sp_model_set_parameter(sp_model *m, const char *name, sp_tensor *tensor)
{
    SP_HANDLE(m);
    SP_HANDLE(tensor);
    int64_t i = sp_bundle_find(m->parameters, name);
    int rank;
    const int64_t *dims;
    SP_CHECK(i >= 0, SP_KEY, "the model has no weight '%s'", name);
    SP_CHECK(sp__jit_count(m->programs->jit).n_recorded == 0, SP_RUNTIME,
             "weight '%s' cannot be replaced after the model was run", name);
    sp_dtype dtype = sp_bundle_shape_at(m->parameters, i, &rank, &dims);
    bool fits = dtype == sp_tensor_dtype(tensor) && rank == sp_tensor_rank(tensor);
    for (int k = 0; k < rank && fits; k++) fits = dims[k] == sp_tensor_dims(tensor)[k];
    SP_CHECK(fits, SP_VALUE, "the tensor for weight '%s' has another dtype or shape", name);
    sp_graph_variable_mark(tensor);
    return sp_bundle_add(m->parameters, name, tensor);
}

sp_status sp_model_set_device(sp_model *m, sp_device *d)
{
    SP_HANDLE(m);
    SP_CHECK(sp__jit_count(m->programs->jit).n_recorded == 0, SP_RUNTIME,
             "the device of a model cannot be changed after the model was run");
    for (int64_t i = 0; i < sp_bundle_count(m->parameters); i++) {
        sp_tensor *t = sp_bundle_tensor_at(m->parameters, i), *moved = NULL;
        if (t == NULL) continue;
        SP_TRY(sp_tensor_to(t, d, &moved));
        if (moved != t) sp_graph_variable_mark(moved);
        const sp_status status =
            moved != t ? sp_bundle_add(m->parameters, sp_bundle_name_at(m->parameters, i), moved) : SP_OK;
        sp_tensor_release(moved);
        SP_TRY(status);
    }
    m->device = d;
    return SP_OK;
}

sp_status sp_model_set_input_shape(sp_model *m, const char *name, int rank, const int64_t *dims)
{
    SP_HANDLE(m);
    char given[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    SP_CHECK(name != NULL && rank >= 0 && rank <= SP_RANK_MAX, SP_VALUE, "a name and 0 to %d dimensions are needed",
             SP_RANK_MAX);
    for (int i = 0; i < m->n_inputs; i++) {
        sp_spec *s = &m->inputs[i].spec;
        if (strcmp(m->inputs[i].name, name) != 0) continue;
        bool fits = s->rank < 0 || s->rank == rank;
        fits = fits || (m->kind->any_size && !m->sized);
        for (int k = 0; k < rank && fits; k++)
            fits = dims[k] >= 0 &&
                   ((m->kind->any_size && !m->sized) || s->rank < 0 || s->dims[k] < 0 || s->dims[k] == dims[k]);
        SP_CHECK(fits, SP_VALUE, "input '%s' cannot have the shape %s: the file says %s (-1: any)", name,
                 sp__shape_text(rank, dims, given), sp__shape_text(s->rank < 0 ? 0 : s->rank, s->dims, wanted));
        s->rank = rank;
        for (int k = 0; k < rank; k++) s->dims[k] = dims[k];
        return SP_OK;
    }
    return sp__fail(SP_KEY, "the model has no input '%s'", name);
}

/* --- running ----------------------------------------------------------------------------------------------------- */

static bool has_sizes(const sp_spec *s, const sp_tensor *t)
{
    if (s->rank < 0) return true;
    bool fits = sp_tensor_rank(t) == s->rank;
    for (int k = 0; k < s->rank && fits; k++)
        fits = s->dims[k] < 0 || sp_tensor_dims(t)[k] < 0 || sp_tensor_dims(t)[k] == s->dims[k];
    return fits;
}

static sp_status check_dtype(const sp_model_value *face, const sp_tensor *t)
{
    SP_CHECK(sp_tensor_dtype(t) == face->spec.dtype, SP_TYPE, "input '%s' is %s, it must be %s", face->name,
             sp_dtype_name(sp_tensor_dtype(t)), sp_dtype_name(face->spec.dtype));
    return SP_OK;
}

static sp_status check_argument(const sp_model_value *face, const sp_tensor *t, bool any_size)
{
    char found[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    const sp_spec *s = &face->spec;
    if (s->dtype == SP_DTYPE_NONE) return SP_OK;
    SP_TRY(check_dtype(face, t));
    SP_CHECK(any_size || has_sizes(s, t), SP_VALUE, "input '%s' has shape %s, it must have %s (-1: any)", face->name,
             sp__shape_text(sp_tensor_rank(t), sp_tensor_dims(t), found), sp__shape_text(s->rank, s->dims, wanted));
    return SP_OK;
}

/* Where a name of a dimension stands first: input, axis and the size it has there. */
typedef struct axis_place {
    uint32_t name;
    int input, axis;
    int64_t size;
} axis_place;

enum { AXIS_NAMES_MAX = 64 }; /* that are looked after; files have a handful */

/* Dimensions that the file calls by one name are of one size. */
static sp_status check_names(const sp_model *m, int n_in, sp_tensor *const *in)
{
    axis_place seen[AXIS_NAMES_MAX];
    int n = 0;
    for (int i = 0; i < n_in; i++) {
        const sp_model_value *face = &m->inputs[i];
        for (int k = 0; in[i] != NULL && k < face->spec.rank && k < sp_tensor_rank(in[i]); k++) {
            const uint32_t name = face->spec.dims[k] < 0 ? face->axes[k] : 0;
            const int64_t size = sp_tensor_dims(in[i])[k];
            if (name == 0 || size < 0) continue;
            const axis_place *p = seen;
            while (p < seen + n && p->name != name) p++;
            if (p == seen + n && n < AXIS_NAMES_MAX) seen[n++] = (axis_place){name, i, k, size};
            else if (p < seen + n)
                SP_CHECK(
                    p->size == size, SP_VALUE,
                    "input '%s' has dimension %d of %lld, it must be %lld: the file calls it by the name of dimension %d of input '%s'",
                    face->name, k, (long long)size, (long long)p->size, p->axis, m->inputs[p->input].name);
        }
    }
    return SP_OK;
}

static sp_status check_arguments(const sp_model *m, int n_in, sp_tensor *const *in, int n_out)
{
    SP_CHECK(n_in == m->n_inputs && n_out == m->n_outputs, SP_VALUE,
             "the model has %d inputs and %d outputs, but %d and %d were given", m->n_inputs, m->n_outputs, n_in,
             n_out);
    const bool any_size = m->other_sizes && !(m->sized && sp_function_recording() != NULL);
    for (int i = 0; i < n_in; i++)
        if (in[i] != NULL) SP_TRY(check_argument(&m->inputs[i], in[i], any_size));
    return any_size ? SP_OK : check_names(m, n_in, in);
}

sp_status sp__model_check(const sp_model *m, int n_in, sp_tensor *const *in, bool any_rows)
{
    for (int i = 0; i < n_in; i++) {
        sp_model_value face = m->inputs[i];
        if (any_rows && face.spec.rank > 0) face.spec.dims[0] = -1;
        if (in[i] != NULL) SP_TRY(check_argument(&face, in[i], false));
    }
    return check_names(m, n_in, in);
}

sp_status sp_model_allow_sizes(sp_model *m)
{
    SP_CHECK(m != NULL, SP_VALUE, "m must not be NULL");
    SP_CHECK(m->kind->any_size, SP_DECLINED, "files of the kind %s declare the shapes that they take", m->kind->format);
    m->other_sizes = true;
    return SP_OK;
}

/* What tells whether weights are still those of a program; never 0. */
static uint64_t weights_stamp(const sp_model *m)
{
    uint64_t stamp = 1469598103934665603u;
    for (int64_t i = 0; i < sp_bundle_count(m->parameters); i++) {
        const sp_tensor *t = sp_bundle_tensor_at(m->parameters, i);
        const uint64_t version =
            t != NULL && t->storage != NULL ? atomic_load_explicit(&t->storage->version, memory_order_relaxed) : 0;
        stamp = (stamp ^ (uint64_t)(uintptr_t)(t != NULL ? t->storage : NULL)) * 1099511628211u + version;
    }
    return stamp | 1;
}

sp_status sp__model_frozen_weights(const sp_model *m, sp_bundle **out)
{
    SP_TRY(sp_bundle_create(out));
    for (int64_t i = 0; i < sp_bundle_count(m->parameters); i++) {
        const sp_tensor *t = sp_bundle_tensor_at(m->parameters, i);
        sp_tensor *same = NULL;
        sp_status status = t != NULL ? sp__tensor_alias(t, &same) : SP_NOMEM;
        if (status == SP_OK) status = sp_bundle_add(*out, sp_bundle_name_at(m->parameters, i), same);
        sp_tensor_release(same);
        if (status != SP_OK) {
            sp_bundle_release(*out);
            return status;
        }
    }
    return SP_OK;
}

sp_status sp__model_freeze(sp_model *m)
{
    sp_bundle *weights;
    SP_TRY(sp__model_frozen_weights(m, &weights));
    sp_bundle_release(m->parameters);
    m->parameters = weights;
    return SP_OK;
}

static sp_status record_in(const sp_model *m, bool keeps_sizes, uint64_t given, int n, const sp_spec *specs,
                           sp_graph **graph, sp_function **out)
{
    sp_graph *g = NULL;
    sp_function *f = NULL;
    sp_tensor *params[64], *args[64] = {NULL}, **results;
    sp_status status;
    int n_params = 0;
    results = sp__alloc_zero((size_t)m->n_outputs * sizeof *results + 1);
    if (results == NULL) return SP_NOMEM;
    SP_GOTO(done, sp_graph_create(&g));
    g->keeps_sources = g->keeps_sizes = keeps_sizes;
    SP_GOTO(done, sp_function_begin(g, "model", n, specs, &f, params));
    for (int i = 0; i < m->n_inputs; i++)
        if (given >> i & 1) args[i] = params[n_params++];
    status = m->kind->apply(m, args, results);
    for (int i = 0; i < m->n_outputs && status == SP_OK; i++)
        if (results[i] == NULL) status = sp__fail(SP_SYMBOL, "a result that is not there");
    if (status == SP_OK) status = sp_function_end(f, m->n_outputs, results);
    else sp_function_abandon(f);
    for (int i = 0; i < n_params; i++) sp_tensor_release(params[i]);
done:
    for (int i = 0; i < m->n_outputs; i++) sp_tensor_release(results[i]);
    sp__free(results);
    if (status == SP_OK) {
        *graph = g;
        *out = f;
    } else sp_graph_release(g);
    return status;
}

sp_status sp__model_record(const sp_model *m, uint64_t given, int n, const sp_spec *specs, sp_graph **graph,
                           sp_function **out)
{
    return record_in(m, false, given, n, specs, graph, out);
}

sp_status sp__model_record_sizes(const sp_model *m, uint64_t given, int n, const sp_spec *specs, sp_graph **graph,
                                 sp_function **out)
{
    return record_in(m, true, given, n, specs, graph, out);
}

/* What a program is recorded from. */
typedef struct recording {
    const sp_model *m;
    uint64_t given; /* bit i: argument i is there */
    bool frozen;    /* with the weights as constants */
} recording;

static sp_status record(const void *context, int n, const sp_spec *specs, sp_graph **graph, sp_function **out)
{
    const recording *r = context;
    const sp_model *m = r->m;
    if (!r->frozen) {
        sp__derived_clear(&m->programs->derived);
        return sp__model_record(m, r->given, n, specs, graph, out);
    }
    sp_bundle *weights;
    SP_TRY(sp__model_frozen_weights(m, &weights));
    for (int64_t i = 0; i < sp_bundle_count(weights); i++) {
        sp_tensor *t = sp_bundle_tensor_at(weights, i);
        if (t != NULL) t->flags |= SP_TENSOR_KEPT; /* the stamp tells when they change */
    }
    const sp_model frozen = {.kind = m->kind,
                             .data = m->data,
                             .n_inputs = m->n_inputs,
                             .n_outputs = m->n_outputs,
                             .inputs = m->inputs,
                             .outputs = m->outputs,
                             .parameters = weights};
    sp__derived_begin(&m->programs->derived);
    const sp_status status = sp__model_record(&frozen, r->given, n, specs, graph, out);
    sp__derived_end();
    sp_bundle_release(weights);
    return status;
}

/* The stamp of the weights as constants; 0: programs read them, because somebody changes them or the kind has it so. */
static uint64_t stamp_now(sp_model *m)
{
    struct sp_model_programs *p = m->programs;
    if (!m->kind->freezes || atomic_load(&p->thawed)) return 0;
    const uint64_t stamp = weights_stamp(m);
    unsigned long long first = 0;
    if (atomic_compare_exchange_strong(&p->stamp, &first, stamp) || first == stamp) return stamp;
    atomic_store(&p->thawed, true); /* for good */
    return 0;
}

/* The program for these arguments, found or made; NULL: there is none, and there will be none. */
static sp_status program_for(sp_model *m, uint64_t given, int n, const sp_spec *specs, sp_program **out)
{
    *out = NULL;
    if (atomic_load(&m->programs->stepwise)) return SP_OK;
    const uint64_t stamp = stamp_now(m);
    const recording r = {.m = m, .given = given, .frozen = stamp != 0};
    const sp_jit_call call = {.which = given, .stamp = stamp, .n = n, .specs = specs, .record = record, .context = &r};
    const sp_status status = sp__jit_program(m->programs->jit, &call, out);
    if (status != SP_SYMBOL) return status;
    atomic_store(&m->programs->stepwise, true);
    return SP_OK;
}

sp_status sp_model_report(sp_model *m, char **out)
{
    SP_HANDLE(m);
    sp__text text = {0};
    if (m->programs->stepwise)
        sp__text_put(&text, "run operator by operator: shapes depend on the contents of arguments\n");
    else if (sp__jit_count(m->programs->jit).n_recorded == 0) sp__text_put(&text, "not run yet\n");
    const sp_status status = sp__jit_report(m->programs->jit, &text);
    const sp_status taken = sp__text_take(&text, out);
    if (taken == SP_OK && status != SP_OK) {
        sp_text_free(*out);
        *out = NULL;
    }
    return status != SP_OK ? status : taken;
}

/* Texts and sequences are no tensors: there is another call for them. */
static const sp_model_value *no_tensor(const sp_model *m)
{
    for (int i = 0; i < m->n_inputs + m->n_outputs; i++) {
        const sp_model_value *v = i < m->n_inputs ? &m->inputs[i] : &m->outputs[i - m->n_inputs];
        if (v->spec.dtype == SP_DTYPE_STR || v->type < 0) return v;
    }
    return NULL;
}

bool sp_model_needs_items(const sp_model *m) { return m && no_tensor(m) != NULL; }

static sp_status check_item(const sp_model_value *face, const sp_item *item)
{
    bool list = item->n >= 0, texts = item->texts != NULL;
    const char *given = list ? "a list" : texts ? "texts" : "a tensor of numbers";
    SP_CHECK(face->type >= 0 || list, SP_TYPE, "input '%s' is a sequence, but %s was given", face->name, given);
    SP_CHECK(face->type < 0 || !list, SP_TYPE, "input '%s' is a tensor, but a list was given", face->name);
    SP_CHECK(list || (face->spec.dtype == SP_DTYPE_STR) == texts || face->spec.dtype == SP_DTYPE_NONE, SP_TYPE,
             "input '%s' takes %s, but %s was given", face->name, texts ? "numbers" : "texts", given);
    return item->tensor != NULL ? check_argument(face, item->tensor, false) : SP_OK;
}

sp_status sp_model_run_items(sp_model *m, int n_in, sp_item *const *in, int n_out, sp_item **out)
{
    SP_HANDLE(m);
    SP_CHECK(n_in == m->n_inputs && n_out == m->n_outputs, SP_VALUE,
             "the model has %d inputs and %d outputs, but %d and %d were given", m->n_inputs, m->n_outputs, n_in,
             n_out);
    SP_CHECK(m->kind->apply_items != NULL, SP_DECLINED, "models of this kind take and give tensors alone");
    for (int i = 0; i < n_in; i++)
        if (in[i] != NULL) SP_TRY(check_item(&m->inputs[i], in[i]));
    for (int i = 0; i < n_out; i++) out[i] = NULL;
    return m->kind->apply_items(m, in, out);
}

sp_status sp__model_check_files(const sp_model *m)
{
    const void *last = NULL; /* mostly all are in one file */
    for (int64_t i = 0; i < sp_bundle_count(m->parameters); i++) {
        const sp_tensor *t = sp_bundle_waits_at(m->parameters, i) ? NULL : sp_bundle_tensor_at(m->parameters, i);
        if (t == NULL || !sp__storage_is_mapped(t->storage) || t->storage->context == last) continue;
        SP_TRY(sp__storage_check(t->storage));
        if (atomic_load(&t->storage->version) == 0) last = t->storage->context;
    }
    return SP_OK;
}

static sp_status run_tensors(sp_model *m, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    SP_TRY(check_arguments(m, n_in, in, n_out));
    const sp_model_value *odd = no_tensor(m);
    SP_CHECK(odd == NULL, SP_TYPE, "'%s' is %s, no tensor of numbers: use sp_model_run_items",
             odd != NULL ? odd->name : "", odd != NULL && odd->type < 0 ? "a sequence" : "a tensor of texts");
    sp_spec specs[64];
    sp_tensor *args[64];
    uint64_t given = 0;
    int n = 0;
    bool direct = n_in > 64 || sp_function_recording() != NULL || sp_grad_recording() || m->programs->stepwise;
    for (int i = 0; i < n_in && !direct; i++) {
        if (in[i] == NULL) continue;
        direct = m->sized && !has_sizes(&m->inputs[i].spec, in[i]);
        given |= (uint64_t)1 << i;
        specs[n] = (sp_spec){.dtype = sp_tensor_dtype(in[i]), .rank = sp_tensor_rank(in[i])}; /* zero behind the rank */
        memcpy(specs[n].dims, sp_tensor_dims(in[i]), (size_t)specs[n].rank * sizeof(int64_t));
        args[n++] = in[i];
    }
    sp_program *program = NULL;
    if (!direct) SP_TRY(program_for(m, given, n, specs, &program));
    if (program == NULL) {
        for (int i = 0; i < n_out; i++) out[i] = NULL;
        return m->kind->apply(m, in, out);
    }
    sp_status status = sp_program_run(program, n, args, n_out, out);
    sp_program_release(program);
    return status;
}

/* The same on the model's device: arguments in, results out. */
static sp_status run_there(sp_model *m, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    sp_tensor **there = sp__alloc_zero((size_t)(n_in + 1) * sizeof *there);
    if (there == NULL) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int i = 0; i < n_in && status == SP_OK; i++)
        if (in[i] != NULL) status = sp_tensor_to(in[i], m->device, &there[i]);
    if (status == SP_OK) status = run_tensors(m, n_in, there, n_out, out);
    for (int i = 0; i < n_out && status == SP_OK; i++) {
        sp_tensor *here = NULL;
        if (out[i] == NULL) continue;
        status = sp_tensor_to(out[i], NULL, &here);
        sp_tensor_release(out[i]);
        out[i] = here;
        for (int k = 0; k < n_out && status != SP_OK; k++) {
            sp_tensor_release(out[k]);
            out[k] = NULL;
        }
    }
    for (int i = 0; i < n_in; i++) sp_tensor_release(there[i]);
    sp__free(there);
    return status;
}

sp_status sp_model_run(sp_model *m, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    SP_HANDLE(m);
    SP_TRY(sp__model_check_files(m));
    SP_TRY(m->device != NULL ? run_there(m, n_in, in, n_out, out) : run_tensors(m, n_in, in, n_out, out));
    sp_status status = sp__model_check_files(m);
    for (int i = 0; i < n_out && status != SP_OK; i++) {
        sp_tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* Zeros of all inputs, and how many bytes they are. */
sp_status sp__model_zeros(const sp_model *m, const sp_spec *inputs, sp_spec *specs, sp_tensor **in, size_t *bytes)
{
    SP_CHECK(m->n_inputs <= SP_MODEL_ENDS_MAX && m->n_outputs <= SP_MODEL_ENDS_MAX && no_tensor(m) == NULL, SP_DECLINED,
             "the model has more than %d inputs or outputs, or some that are no tensors", SP_MODEL_ENDS_MAX);
    if (inputs != NULL) SP_TRY(sp__specs_check("input", m->n_inputs, inputs));
    for (int i = 0; i < m->n_inputs; i++) {
        const sp_spec *s = inputs != NULL ? &inputs[i] : &m->inputs[i].spec;
        SP_CHECK(s->rank >= 0 && s->dtype >= 0 && s->dtype != SP_DTYPE_STR, SP_DECLINED,
                 "input '%s' is no tensor of a known rank", m->inputs[i].name);
        specs[i] = (sp_spec){.dtype = s->dtype, .rank = s->rank};
        for (int k = 0; k < s->rank; k++) specs[i].dims[k] = s->dims[k] < 0 ? 1 : s->dims[k];
        SP_TRY(sp_tensor_create(s->dtype, s->rank, specs[i].dims, &in[i]));
        if (sp_tensor_bytes(in[i]) > 0) memset(sp_tensor_data(in[i]), 0, sp_tensor_bytes(in[i]));
        *bytes += sp_tensor_bytes(in[i]);
    }
    return SP_OK;
}

sp_status sp__model_program(sp_model *m, const sp_spec *specs, sp_program **out)
{
    const uint64_t all = m->n_inputs >= SP_MODEL_ENDS_MAX ? ~(uint64_t)0 : ((uint64_t)1 << m->n_inputs) - 1;
    SP_TRY(program_for(m, all, m->n_inputs, specs, out));
    SP_CHECK(*out != NULL, SP_DECLINED,
             "the model is run operator by operator: shapes depend on the contents of arguments");
    return SP_OK;
}

static sp_status measure_run(sp_model *m, const sp_spec *specs, sp_tensor **in, sp_model_sizes *out)
{
    sp_program *program = NULL;
    sp_tensor *results[64] = {NULL};
    SP_TRY(sp__model_program(m, specs, &program));
    const sp_status status = sp_program_run(program, m->n_inputs, in, m->n_outputs, results);
    if (status == SP_OK) sp__program_memory(program, &out->arena, &out->least);
    for (int i = 0; i < m->n_outputs; i++) {
        if (results[i] != NULL) out->outputs += sp_tensor_bytes(results[i]);
        sp_tensor_release(results[i]);
    }
    sp_program_release(program);
    return status;
}

sp_status sp_model_memory(sp_model *m, const sp_spec *inputs, sp_model_sizes *out)
{
    sp_spec specs[64];
    sp_tensor *in[SP_MODEL_ENDS_MAX] = {NULL};
    SP_CHECK(m != NULL && out != NULL, SP_VALUE, "m and out must not be NULL");
    *out = (sp_model_sizes){.weights = 0};
    for (int64_t i = 0; i < sp_bundle_count(m->parameters); i++) {
        int rank;
        const int64_t *dims;
        int64_t count = 1;
        const sp_dtype dtype = sp_bundle_shape_at(m->parameters, i, &rank, &dims);
        for (int k = 0; k < rank; k++) count *= dims[k];
        out->weights += (size_t)count * sp_dtype_bytes(dtype);
    }
    sp_status status = sp__model_zeros(m, inputs, specs, in, &out->inputs);
    if (status == SP_OK) status = measure_run(m, specs, in, out);
    for (int i = 0; i < SP_MODEL_ENDS_MAX; i++) sp_tensor_release(in[i]);
    const sp_status reset = status == SP_OK ? sp_model_reset(m) : SP_OK; /* what the run has left in states */
    return status == SP_OK ? reset : status;
}
