/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_model.c - ONNX models as sp_model: values while running, frames, and the helpers of the handlers. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/stack.h"
#include "formats/onnx/onnx_model.h"
#include "ir/graph_impl.h"

enum { SP_ONNX_AGAIN = 8 };

typedef struct onnx_data {
    sp_onnx_graph *graph; /* in the model's arena */
    sp_bundle *tensors;   /* constants; large ones are views of the mapped file */
    sp_onnx_texts texts;  /* of the file */
} onnx_data;

/* --- values ------------------------------------------------------------------------------------------------------ */

sp_onnx_value *sp__onnx_value_tensor(sp_tensor *t)
{
    sp_onnx_value *v = sp__alloc_zero(sizeof *v);
    if (v == NULL) return NULL;
    v->refs = 1;
    v->tensor = t != NULL ? sp_tensor_retain(t) : NULL;
    return v;
}

sp_onnx_value *sp__onnx_value_typed(sp_tensor *t, int type)
{
    sp_onnx_value *v = sp__onnx_value_tensor(t);
    if (v != NULL) v->type = type;
    return v;
}

sp_onnx_value *sp__onnx_value_sequence(int n)
{
    sp_onnx_value *v = sp__onnx_value_tensor(NULL);
    if (v == NULL) return NULL;
    v->is_sequence = true;
    v->n = n;
    v->items = sp__alloc_zero((size_t)(n > 0 ? n : 1) * sizeof(sp_onnx_value *));
    if (v->items != NULL) return v;
    v->n = 0;
    sp__onnx_value_release(v);
    return NULL;
}

sp_onnx_value *sp__onnx_value_retain(sp_onnx_value *v)
{
    if (v != NULL) v->refs++;
    return v;
}

void sp__onnx_value_release(sp_onnx_value *v)
{
    if (v == NULL || --v->refs > 0) return;
    sp_tensor_release(v->tensor);
    for (int i = 0; i < v->n; i++) sp__onnx_value_release(v->items[i]);
    sp__free(v->items);
    sp__free(v);
}

/* --- running ----------------------------------------------------------------------------------------------------- */

/* Handlers compute with dimensions; those of a symbol may not be known. */
static sp_status check_known(const sp_tensor *t)
{
    for (int k = 0; k < t->rank; k++) SP_CHECK(t->dims[k] >= 0, SP_SYMBOL, "a shape that depends on contents");
    return SP_OK;
}

static sp_status refuse_type(int i, int type)
{
    const sp_onnx_type *t = sp__onnx_type((uint64_t)type);
    return sp__fail(SP_DECLINED, "input %d has elements of type %s, which are not supported here", i,
                    t != NULL ? t->name : "?");
}

/* Where sizes are kept: what is made of a constant with the help of numbers that follow from sizes is recorded, as they are. */
static sp_status keep_sized(sp_onnx_call *c)
{
    const sp_function *f = sp_function_recording();
    sp_tensor *known = NULL, *symbol;
    if (f == NULL || !f->graph->keeps_sizes || c->n_in < 2 || c->in[0] == NULL || c->in[0]->symbol != NULL)
        return SP_OK;
    for (int i = 1; i < c->n_in && known == NULL; i++)
        if (c->in[i] != NULL && c->in[i]->symbol != NULL) SP_TRY(sp__symbol_known(c->in[i], &known));
    if (known == NULL) return SP_OK;
    SP_TRY(sp__constant_symbol(c->in[0], &symbol));
    c->in[0] = sp_builder_take_tensor(c->b, symbol);
    return sp_builder_status(c->b);
}

static sp_status apply_handler(sp_onnx_call *c)
{
    const sp_onnx_handler *h = c->node->handler;
    SP_CHECK(h != NULL, SP_DECLINED, "operator '%s' is not supported", c->node->op);
    if (h->how == SP_ONNX_VALUES) return h->apply(c);
    for (int i = 0; i < c->n_in; i++) {
        sp_onnx_value *v = c->value_in[i];
        c->in[i] = v != NULL ? v->tensor : NULL;
        SP_CHECK(v == NULL ? !sp__onnx_needs(c->node, i) : v->tensor != NULL, SP_TYPE, "input %d is no tensor", i);
        if (v != NULL && v->type != 0 && h->how == SP_ONNX_PLAIN) return refuse_type(i, v->type);
        if (c->in[i] != NULL) SP_TRY(check_known(c->in[i]));
    }
    SP_TRY(keep_sized(c));
    SP_TRY(h->apply(c));
    int moved = sp__onnx_in_type(c, h->how == SP_ONNX_KEEPS_OTHER);
    for (int i = 0; i < c->n_out; i++) {
        bool keeps =
            h->how == SP_ONNX_KEEPS_ALL || (i == 0 && (h->how == SP_ONNX_KEEPS || h->how == SP_ONNX_KEEPS_OTHER));
        int type = keeps ? moved : h->how == SP_ONNX_TYPED ? c->out_type[i] : 0;
        if (c->out[i] != NULL && !(c->value_out[i] = sp__onnx_value_typed(c->out[i], type))) return SP_NOMEM;
    }
    return SP_OK;
}

static sp_status call_function(sp_onnx_call *c)
{
    const sp_onnx_node *n = c->node;
    SP_CHECK(n->n_in <= n->function->n_inputs && n->n_out <= n->function->n_outputs, SP_FORMAT,
             "%d inputs and %d outputs, function '%s' has %d and %d", n->n_in, n->n_out, n->function->name,
             n->function->n_inputs, n->function->n_outputs);
    sp_onnx_value **results = sp__alloc_zero((size_t)(n->function->n_outputs + 1) * sizeof *results);
    if (results == NULL) return SP_NOMEM;
    sp_status status = sp__onnx_run(n->function, c->texts, c, NULL, n->n_in, c->value_in, results);
    for (int i = 0; i < n->function->n_outputs; i++) {
        if (i < n->n_out) c->value_out[i] = results[i];
        else sp__onnx_value_release(results[i]);
    }
    sp__free(results);
    return status;
}

sp_status sp__onnx_run_node(const sp_onnx_node *n, const sp_onnx_graph *g, sp_onnx_texts *texts,
                            const sp_onnx_call *caller, sp_onnx_value **frame)
{
    /* Loops inside loops that are recorded turn by turn: too many to compile, but they can be run. */
    enum { RECORDED_NODES_MAX = 1 << 20 };
    const sp_function *recording = sp_function_recording();
    SP_CHECK(recording == NULL || recording->graph->next_node < RECORDED_NODES_MAX, SP_SYMBOL, "more than %d nodes",
             RECORDED_NODES_MAX);
    enum { FEW = 16 }; /* also what handlers may look at without asking for n_in */
    void *few[5 * FEW] = {NULL}, **many = NULL;
    int n_all = n->n_in > n->n_out ? n->n_in : n->n_out;
    if (n_all > FEW && !(many = sp__alloc_zero(5 * sizeof(void *) * (size_t)n_all))) return SP_NOMEM;
    void **at = many != NULL ? many : few;
    int room = many != NULL ? n_all : FEW;
    sp_builder b;
    sp__builder_init(&b);
    sp_onnx_call c = {.node = n,
                      .caller = caller,
                      .texts = texts,
                      .graph = g,
                      .frame = frame,
                      .b = &b,
                      .opset = n->opset,
                      .n_in = n->n_in,
                      .n_out = n->n_out,
                      .in = (sp_tensor **)at,
                      .out = (sp_tensor **)(at + room),
                      .value_in = (sp_onnx_value **)(at + 2 * room),
                      .value_out = (sp_onnx_value **)(at + 3 * room),
                      .out_type = (int *)(at + 4 * room)};
    for (int i = 0; i < n->n_in; i++) c.value_in[i] = n->in[i] >= 0 ? frame[n->in[i]] : NULL;
    sp_status status = caller != NULL && n->function == NULL ? sp__onnx_attrs_check(n, &c) : SP_OK;
    const sp_place *before = sp__model_node_enter(n->name, n->op);
    if (status == SP_OK) status = n->function != NULL ? call_function(&c) : apply_handler(&c);
    sp__model_node_leave(before);
    for (int i = 0; i < n->n_out; i++) {
        if (n->out[i] >= 0) frame[n->out[i]] = c.value_out[i];
        else sp__onnx_value_release(c.value_out[i]);
    }
    sp__builder_done(&b);
    sp__free(many);
    char shown[SP_NAME_SHOWN];
    if (status != SP_OK && status != SP_SYMBOL)
        sp__error_context("node '%s' (%s)", sp__name_shown(n->name, strlen(n->name), shown), n->op);
    return status;
}

static sp_status fill_frame(const sp_onnx_graph *g, const sp_bundle *parameters, sp_onnx_value **outer, int n_args,
                            sp_onnx_value *const *args, sp_onnx_value **frame)
{
    SP_CHECK(n_args <= g->n_inputs, SP_FORMAT, "%d arguments for a graph with %d inputs", n_args, g->n_inputs);
    for (int i = 0; i < n_args; i++) frame[g->inputs[i]] = sp__onnx_value_retain(args[i]);
    for (int i = 0; i < g->n_constants; i++) {
        int64_t at = parameters != NULL ? g->parameter_at[i] : -1;
        sp_tensor *t = at >= 0 ? sp_bundle_tensor_at(parameters, at) : g->constants[i];
        if (!(frame[g->constant_slots[i]] = sp__onnx_value_typed(t, g->constant_types[i]))) return SP_NOMEM;
    }
    for (int i = 0; i < g->n_captured; i++) frame[g->captured[i]] = sp__onnx_value_retain(outer[g->captured_from[i]]);
    return SP_OK;
}

/* parameters: those of the model for its outermost graph, NULL for inner ones. */
static sp_status run_graph(const sp_onnx_graph *g, const sp_bundle *parameters, sp_onnx_texts *texts,
                           const sp_onnx_call *caller, sp_onnx_value **outer, int n_args, sp_onnx_value *const *args,
                           sp_onnx_value **results)
{
    SP_TRY(sp__stack_check());
    sp_onnx_value **frame = sp__alloc_zero((size_t)(g->n_slots + 1) * sizeof *frame);
    if (frame == NULL) return SP_NOMEM;
    sp_status status = fill_frame(g, parameters, outer, n_args, args, frame);
    for (int i = 0; i < g->n_nodes && status == SP_OK; i++) {
        const sp_onnx_node *n = &g->nodes[i];
        bool done = n->folded && frame[n->out[0]] != NULL;
        if (!done) status = sp__onnx_run_node(n, g, texts, caller, frame);
        for (int k = 0; k < n->n_dead; k++) {
            sp__onnx_value_release(frame[n->dead[k]]);
            frame[n->dead[k]] = NULL;
        }
    }
    for (int i = 0; i < g->n_outputs && status == SP_OK; i++) results[i] = sp__onnx_value_retain(frame[g->outputs[i]]);
    for (int i = 0; i < g->n_slots; i++) sp__onnx_value_release(frame[i]);
    sp__free(frame);
    return status;
}

sp_status sp__onnx_run(const sp_onnx_graph *g, sp_onnx_texts *texts, const sp_onnx_call *caller, sp_onnx_value **outer,
                       int n_args, sp_onnx_value *const *args, sp_onnx_value **results)
{
    return run_graph(g, NULL, texts, caller, outer, n_args, args, results);
}

/* --- for handlers ------------------------------------------------------------------------------------------------ */

const sp_onnx_attr *sp__onnx_attr(const sp_onnx_call *c, const char *name)
{
    for (int i = 0; i < c->node->n_attrs; i++) {
        const sp_onnx_attr *a = &c->node->attrs[i];
        if (strcmp(a->name, name) != 0) continue;
        if (a->from == NULL || a->from[0] == '\0') return a;
        return c->caller != NULL ? sp__onnx_attr(c->caller, a->from) : NULL;
    }
    return NULL;
}

int64_t sp__onnx_attr_int(const sp_onnx_call *c, const char *name, int64_t missing)
{
    const sp_onnx_attr *a = sp__onnx_attr(c, name);
    return a != NULL ? a->i : missing;
}

double sp__onnx_attr_float(const sp_onnx_call *c, const char *name, double missing)
{
    const sp_onnx_attr *a = sp__onnx_attr(c, name);
    return a != NULL ? a->f : missing;
}

const char *sp__onnx_attr_text(const sp_onnx_call *c, const char *name, const char *missing)
{
    const sp_onnx_attr *a = sp__onnx_attr(c, name);
    return a != NULL && a->s != NULL ? a->s : missing;
}

/* Contents are asked for: those of a symbol may follow from sizes. */
static sp_status contents(sp_tensor **t)
{
    sp_tensor *known;
    SP_CHECK(*t != NULL, SP_FORMAT, "an input is missing");
    SP_TRY(sp__symbol_known(*t, &known));
    if (known != NULL) *t = known;
    return sp__tensor_need_value(*t);
}

sp_status sp__onnx_floats(sp_tensor *t, int max, double *out, int *n)
{
    SP_TRY(contents(&t));
    SP_CHECK(sp_tensor_count(t) <= max, SP_VALUE, "%lld numbers, at most %d are possible",
             (long long)sp_tensor_count(t), max);
    sp_tensor *wide = NULL;
    SP_TRY(sp_tensor_create(SP_DTYPE_F64, sp_tensor_rank(t), sp_tensor_dims(t), &wide));
    sp_status status = sp_tensor_assign(wide, t);
    *n = (int)sp_tensor_count(t);
    if (status == SP_OK && *n > 0) memcpy(out, sp_tensor_data(wide), sizeof(double) * (size_t)*n);
    sp_tensor_release(wide);
    return status;
}

sp_status sp__onnx_ints(sp_tensor *t, sp_onnx_ints *out)
{
    SP_TRY(contents(&t));
    SP_CHECK(sp_tensor_count(t) <= 64, SP_VALUE, "%lld numbers, at most 64 are possible",
             (long long)sp_tensor_count(t));
    sp_tensor *wide = NULL;
    SP_TRY(sp_tensor_create(SP_DTYPE_I64, sp_tensor_rank(t), sp_tensor_dims(t), &wide));
    sp_status status = sp_tensor_assign(wide, t);
    out->n = (int)sp_tensor_count(t);
    if (status == SP_OK && out->n > 0) memcpy(out->v, sp_tensor_data(wide), sizeof(int64_t) * (size_t)out->n);
    sp_tensor_release(wide);
    return status;
}

sp_status sp__onnx_number(sp_tensor *t, double *out)
{
    int n = 0;
    SP_TRY(sp__onnx_floats(t, 1, out, &n));
    SP_CHECK(n == 1, SP_VALUE, "one number is wanted, there are none");
    return SP_OK;
}

sp_status sp__onnx_ints_of(sp_onnx_call *c, const char *name, int i, sp_onnx_ints *out, bool *found)
{
    const sp_onnx_attr *a = name != NULL ? sp__onnx_attr(c, name) : NULL;
    sp_tensor *t = i >= 0 ? sp__onnx_in(c, i) : NULL;
    *found = a != NULL || t != NULL;
    out->n = 0;
    if (t != NULL) return sp__onnx_ints(t, out);
    if (a == NULL) return SP_OK;
    SP_CHECK(a->n <= 64, SP_VALUE, "attribute '%s' has %d numbers, at most 64 are possible", name, a->n);
    out->n = a->n;
    if (a->n > 0 && a->ints != NULL) memcpy(out->v, a->ints, sizeof(int64_t) * (size_t)a->n);
    return SP_OK;
}

sp_status sp__onnx_again(sp_onnx_call *c, const char *op, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const sp_onnx_handler *h = sp__onnx_handler_find("", op, INT32_MAX);
    SP_CHECK(h != NULL && n_in <= SP_ONNX_AGAIN && n_out <= SP_ONNX_AGAIN, SP_DECLINED,
             "operator '%s' is not supported", op);
    sp_onnx_node node = *c->node; /* the same attributes under another handler */
    sp_tensor *own_in[SP_ONNX_AGAIN] = {NULL}, *own_out[SP_ONNX_AGAIN] = {NULL};
    sp_onnx_value *values[2 * SP_ONNX_AGAIN] = {NULL};
    int types[SP_ONNX_AGAIN] = {0};
    node.handler = h;
    node.norm = NULL;
    for (int i = 0; i < n_in; i++) own_in[i] = in[i];
    sp_onnx_call inner = *c;
    inner.node = &node;
    inner.opset = INT32_MAX;
    inner.n_in = n_in;
    inner.n_out = n_out;
    inner.in = own_in;
    inner.out = own_out;
    inner.out_type = types;
    inner.value_in = values;
    inner.value_out = values + SP_ONNX_AGAIN;
    SP_TRY(h->apply(&inner));
    for (int i = 0; i < n_out; i++) out[i] = own_out[i];
    return sp_builder_status(c->b);
}

const char *sp__onnx_list(sp_onnx_text *t, int n, const int64_t *v)
{
    size_t at = 1;
    t->text[0] = '(';
    for (int i = 0; i < n && i < 64; i++)
        at += (size_t)snprintf(t->text + at, sizeof t->text - at, "%lld,", (long long)v[i]);
    snprintf(t->text + at, sizeof t->text - at, ")");
    return t->text;
}

sp_tensor *sp__onnx_tensor_ints(sp_onnx_call *c, int n, const int64_t *v)
{
    sp_tensor *t = NULL;
    sp_status status = sp_tensor_create_from(SP_DTYPE_I64, 1, (int64_t[]){n}, v, &t);
    return status == SP_OK ? sp_builder_take_tensor(c->b, t) : sp__builder_fail(c->b, status);
}

sp_tensor *sp__onnx_whole(sp_onnx_call *c, int64_t v)
{
    sp_tensor *t = NULL;
    sp_status status = sp_tensor_create_i64(SP_DTYPE_I64, v, &t);
    return status == SP_OK ? sp_builder_take_tensor(c->b, t) : sp__builder_fail(c->b, status);
}

/* --- the kind ---------------------------------------------------------------------------------------------------- */

static void release(void *data)
{
    onnx_data *d = data;
    sp__onnx_texts_free(&d->texts);
    sp_bundle_release(d->tensors);
    sp__free(d);
}

/* The float initializers are what can be trained: variables of programs. */
static sp_status list_parameters(sp_model *m, const onnx_data *d)
{
    sp_onnx_graph *g = d->graph;
    g->parameter_at = sp__arena_alloc(&m->arena, sizeof(int64_t) * (size_t)(g->n_constants + 1));
    if (g->parameter_at == NULL) return SP_NOMEM;
    for (int i = 0; i < g->n_constants; i++) {
        sp_tensor *t = g->constants[i];
        g->parameter_at[i] = -1;
        if (g->constant_types[i] != 0 || sp_dtype_kind(sp_tensor_dtype(t)) != 'f' || sp_tensor_rank(t) == 0) continue;
        sp_graph_variable_mark(t);
        g->parameter_at[i] = sp_bundle_count(m->parameters);
        SP_TRY(sp_bundle_add(m->parameters, g->names[g->constant_slots[i]], t));
    }
    return SP_OK;
}

static sp_status load(const sp_source *s, sp_model *m)
{
    onnx_data *d = sp__alloc_zero(sizeof *d);
    if (d == NULL) return SP_NOMEM;
    m->data = d;
    SP_TRY(sp_bundle_create(&d->tensors));
    sp__onnx_texts_begin(&d->texts, NULL);
    SP_TRY(sp__onnx_read(s, m, d->tensors, &d->texts, &d->graph));
    SP_TRY(list_parameters(m, d));
    return sp__onnx_outline(m, d->graph);
}

/* --- arguments and results --------------------------------------------------------------------------------------- */

/* Numbers for a type that is carried are rounded to what it can hold. */
static sp_status value_of_tensor(sp_tensor *t, int type, sp_onnx_value **out)
{
    sp_builder b;
    sp_onnx_call c = {.b = &b};
    sp__builder_init(&b);
    sp_tensor *x = type > 0 ? sp__onnx_to_type(&c, t, type, true, "nearest") : t;
    sp_status status = sp_builder_status(&b);
    if (status == SP_OK && !(*out = sp__onnx_value_typed(x, type))) status = SP_NOMEM;
    sp__builder_done(&b);
    return status;
}

static sp_status run_values(const sp_model *m, sp_onnx_texts *texts, sp_onnx_value *const *args,
                            sp_onnx_value **results)
{
    const onnx_data *d = m->data;
    return run_graph(d->graph, m->parameters, texts, NULL, NULL, m->n_inputs, args, results);
}

static sp_status apply(const sp_model *m, sp_tensor *const *in, sp_tensor **out)
{
    const onnx_data *d = m->data;
    sp_onnx_value **args = sp__alloc_zero((size_t)(m->n_inputs + m->n_outputs + 1) * sizeof *args),
                  **results = args + m->n_inputs;
    if (args == NULL) return SP_NOMEM;
    sp_onnx_texts texts;
    sp__onnx_texts_begin(&texts, &d->texts);
    sp_status status = SP_OK;
    for (int i = 0; i < m->n_inputs && status == SP_OK; i++)
        if (in[i] != NULL) status = value_of_tensor(in[i], m->inputs[i].type, &args[i]);
    if (status == SP_OK) status = run_values(m, &texts, args, results);
    for (int i = 0; i < m->n_outputs && status == SP_OK; i++)
        if (results[i] != NULL && (results[i]->is_sequence || results[i]->type == SP_ONNX_STRING))
            status = sp__fail(SP_TYPE, "output '%s' is %s, though the file calls it a tensor of numbers",
                              m->outputs[i].name, results[i]->is_sequence ? "a sequence" : "a tensor of texts");
    for (int i = 0; i < m->n_outputs && status == SP_OK; i++)
        out[i] = results[i] != NULL && results[i]->tensor != NULL ? sp_tensor_retain(results[i]->tensor) : NULL;
    for (int i = 0; i < m->n_inputs + m->n_outputs; i++) sp__onnx_value_release(args[i]);
    sp__onnx_texts_free(&texts);
    sp__free(args);
    return status;
}

static sp_status texts_to_value(const sp_item *item, sp_onnx_texts *texts, sp_onnx_value **out)
{
    sp_tensor *t = NULL;
    SP_TRY(sp_tensor_create(SP_DTYPE_I64, item->spec.rank, item->spec.dims, &t));
    sp_status status = SP_OK;
    for (int64_t i = 0; i < item->n_texts && status == SP_OK; i++)
        status = sp__onnx_text_code(texts, item->texts[i], strlen(item->texts[i]), (int64_t *)sp_tensor_data(t) + i);
    if (status == SP_OK && !(*out = sp__onnx_value_typed(t, SP_ONNX_STRING))) status = SP_NOMEM;
    sp_tensor_release(t);
    return status;
}

static sp_status item_to_value(const sp_item *item, int type, sp_onnx_texts *texts, sp_onnx_value **out)
{
    if (item->tensor != NULL) return value_of_tensor(item->tensor, type > 0 ? type : 0, out);
    if (item->texts != NULL) return texts_to_value(item, texts, out);
    sp_onnx_value *list = sp__onnx_value_sequence(item->n);
    sp_status status = list != NULL ? SP_OK : SP_NOMEM;
    for (int i = 0; i < item->n && status == SP_OK; i++)
        if (item->items[i] != NULL) status = item_to_value(item->items[i], 0, texts, &list->items[i]);
    if (status == SP_OK) *out = list;
    else sp__onnx_value_release(list);
    return status;
}

static sp_status texts_to_item(sp_tensor *codes, const sp_onnx_texts *texts, sp_item **out)
{
    sp_tensor *rows = NULL;
    SP_TRY(sp_tensor_contiguous(codes, &rows));
    int64_t n = sp_tensor_count(rows);
    const char **list = sp__alloc((size_t)(n + 1) * sizeof *list);
    for (int64_t i = 0; list != NULL && i < n; i++)
        list[i] = sp__onnx_text_at(texts, ((const int64_t *)sp_tensor_data(rows))[i]);
    sp_status status =
        list != NULL ? sp_item_create_texts(sp_tensor_rank(rows), sp_tensor_dims(rows), list, out) : SP_NOMEM;
    sp__free(list);
    sp_tensor_release(rows);
    return status;
}

/* NULL for what is not there. */
static sp_status value_to_item(const sp_onnx_value *v, const sp_onnx_texts *texts, sp_item **out)
{
    *out = NULL;
    if (v == NULL || (v->tensor == NULL && !v->is_sequence)) return SP_OK;
    if (v->tensor != NULL && v->type == SP_ONNX_STRING) return texts_to_item(v->tensor, texts, out);
    if (v->tensor != NULL) return sp_item_create_tensor(v->tensor, out);
    sp_item **items = sp__alloc_zero((size_t)(v->n + 1) * sizeof *items);
    sp_status status = items != NULL ? SP_OK : SP_NOMEM;
    for (int i = 0; i < v->n && status == SP_OK; i++) status = value_to_item(v->items[i], texts, &items[i]);
    if (status == SP_OK) status = sp_item_create_list(v->n, items, out);
    for (int i = 0; items != NULL && i < v->n; i++) sp_item_release(items[i]);
    sp__free(items);
    return status;
}

static sp_status apply_items(const sp_model *m, sp_item *const *in, sp_item **out)
{
    const onnx_data *d = m->data;
    sp_onnx_value **args = sp__alloc_zero((size_t)(m->n_inputs + m->n_outputs + 1) * sizeof *args),
                  **results = args + m->n_inputs;
    if (args == NULL) return SP_NOMEM;
    sp_onnx_texts texts;
    sp__onnx_texts_begin(&texts, &d->texts);
    sp_status status = SP_OK;
    for (int i = 0; i < m->n_inputs && status == SP_OK; i++)
        if (in[i] != NULL) status = item_to_value(in[i], m->inputs[i].type, &texts, &args[i]);
    if (status == SP_OK) status = run_values(m, &texts, args, results);
    for (int i = 0; i < m->n_outputs && status == SP_OK; i++) status = value_to_item(results[i], &texts, &out[i]);
    for (int i = 0; i < m->n_outputs && status != SP_OK; i++) {
        sp_item_release(out[i]);
        out[i] = NULL;
    }
    for (int i = 0; i < m->n_inputs + m->n_outputs; i++) sp__onnx_value_release(args[i]);
    sp__onnx_texts_free(&texts);
    sp__free(args);
    return status;
}

const sp_model_kind sp__model_onnx = {
    .format = "onnx", .load = load, .release = release, .apply = apply, .apply_items = apply_items, .freezes = true};
