/* SPDX-License-Identifier: Apache-2.0 */
/* cache_graph.c - graphs as bytes: a recorded one to be told apart from others, an optimised one to be kept and read back.
 *
 * Functions, then nodes and values are numbered in the order of a walk from the entry, so that neither addresses nor what else was
 * recorded in the same graph count. What comes from outside is numbered as the recording meets it and never written: variables, host
 * code and places in the source are those of the recording that the bytes are read for, and so are constants, unless a pass made them.
 *
 * Per function: name, parameters, nodes with their inputs and the geometry of their results, results. A value is referred to by one
 * number: 0 for none, else what it is and which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/cache_graph.h"
#include "spore/provider.h"

enum { CONSTANT_BYTES = 64 << 20 }; /* constants to be looked at for a key, all together: more are not for the cache */

/* --- numbers of addresses ---------------------------------------------------------------------------------------- */

static int *numbering_place(const sp_numbering *m, const void *thing)
{
    const uint64_t mask = 2 * (uint64_t)m->capacity - 1;
    uint64_t at = ((uint64_t)(uintptr_t)thing * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (m->places[at] && m->things[m->places[at] - 1] != thing) at = (at + 1) & mask;
    return &m->places[at];
}

static int number_of(const sp_numbering *m, const void *thing) { return m->n ? *numbering_place(m, thing) - 1 : -1; }

static sp_status numbering_grow(sp_numbering *m)
{
    const int more = m->capacity ? 2 * m->capacity : 64;
    const void **things = sp__realloc(m->things, (size_t)m->capacity * sizeof *things, (size_t)more * sizeof *things);
    if (!things) return SP_NOMEM;
    m->things = things;
    int *places = sp__alloc_zero(2 * (size_t)more * sizeof *places);
    if (!places) return SP_NOMEM;
    sp__free(m->places);
    m->places = places;
    m->capacity = more;
    for (int i = 0; i < m->n; i++) *numbering_place(m, things[i]) = i + 1;
    return SP_OK;
}

/* The thing's number, a new one if it has none. */
static sp_status number(sp_numbering *m, const void *thing, int *out)
{
    int known = number_of(m, thing);
    if (known < 0) {
        if (m->n == m->capacity) SP_TRY(numbering_grow(m));
        *numbering_place(m, thing) = m->n + 1;
        m->things[m->n] = thing;
        known = m->n++;
    }
    if (out) *out = known;
    return SP_OK;
}

static void numbering_free(sp_numbering *m)
{
    sp__free(m->things);
    sp__free(m->places);
}

/* --- what is in a recording -------------------------------------------------------------------------------------- */

static sp_status meet(sp_outer_program *o, const sp_value *v)
{
    if (!v) return SP_OK;
    if (v->origin == SP_VALUE_FUNCTION) return number(&o->functions, v->target, NULL);
    return v->origin == SP_VALUE_CONSTANT ? number(&o->constants, v, NULL) : SP_OK;
}

static sp_status survey_function(sp_outer_program *o, const sp_function *f)
{
    if (!f->finished) return SP_DECLINED;
    for (int i = 0; i < f->n_params; i++) SP_TRY(number(&o->values, f->params[i], NULL));
    for (const sp_node *n = f->first; n; n = n->next) {
        for (int i = 0; i < n->n_in; i++) SP_TRY(meet(o, n->in[i]));
        for (int i = 0; i < n->n_out; i++) SP_TRY(number(&o->values, n->out[i], NULL));
        if (n->variable) SP_TRY(number(&o->variables, n->variable->tensor, NULL));
        if (n->host) SP_TRY(number(&o->hosts, n->host, NULL));
        if (n->place) SP_TRY(number(&o->places, n->place, NULL));
        for (int i = 0; n->grad && i < n->grad->n_variables; i++)
            SP_TRY(number(&o->variables, n->grad->variables[i]->tensor, NULL));
    }
    for (int i = 0; i < f->n_results; i++) SP_TRY(meet(o, f->results[i]));
    return SP_OK;
}

/* Functions are met while others are walked, in the order in which sp__graph_copy finds them. */
static sp_status survey(sp_outer_program *o)
{
    SP_TRY(number(&o->functions, o->f, NULL));
    for (int k = 0; k < o->functions.n; k++) SP_TRY(survey_function(o, o->functions.things[k]));
    return SP_OK;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const sp_outer_program *o;
    const sp_numbering *functions, *values; /* of the graph that is written */
    const sp_numbering *constants;          /* whose numbers stand for constants of the recording */
    const int *constant_of;                 /* what these are there; NULL: the same */
    sp_numbering made;                      /* constants that are in none */
    sp_bytes *out;
} writer;

static void put_text(sp_bytes *b, const char *text)
{
    const size_t n = strlen(text);
    sp__bytes_uint(b, n);
    sp__bytes_put(b, text, n);
}

static void put_meta(sp_bytes *b, const sp_value *v)
{
    sp__bytes_uint(b, (uint64_t)v->is_function | (uint64_t)v->weak << 1);
    sp__bytes_int(b, (int64_t)v->meta.dtype);
    sp__bytes_int(b, v->meta.rank);
    for (int i = 0; i < v->meta.rank; i++) sp__bytes_int(b, v->meta.dims[i]);
}

static void put_attr(sp_bytes *b, const sp_attr *a, const void *attrs)
{
    const void *field = (const char *)attrs + a->offset;
    switch (a->type) {
    case SP_ATTR_INT: sp__bytes_int(b, *(const int64_t *)field); break;
    case SP_ATTR_FLOAT: sp__bytes_put(b, field, sizeof(double)); break;
    case SP_ATTR_BOOL: sp__bytes_uint(b, *(const bool *)field); break;
    case SP_ATTR_DTYPE: sp__bytes_int(b, (int64_t)*(const sp_dtype *)field); break;
    case SP_ATTR_INTS: {
        const sp_ints *v = field;
        sp__bytes_int(b, v->n);
        for (int i = 0; i < v->n; i++) sp__bytes_int(b, v->v[i]);
        break;
    }
    case SP_ATTR_FLOATS: {
        const sp_floats *v = field;
        sp__bytes_int(b, v->n);
        if (v->n > 0) sp__bytes_put(b, v->v, (size_t)v->n * sizeof *v->v);
        break;
    }
    case SP_ATTR_NUMBER: {
        const sp_number *v = field;
        sp__bytes_uint(b, (uint8_t)v->kind);
        sp__bytes_int(b, v->i);
        sp__bytes_put(b, &v->f, sizeof v->f);
        break;
    }
    case SP_ATTR_TEXT: {
        const char *text = *(const char *const *)field;
        sp__bytes_uint(b, text != NULL);
        if (text) put_text(b, text);
        break;
    }
    }
}

static sp_status put_ref(writer *w, const sp_value *v)
{
    if (!v) {
        sp__bytes_uint(w->out, 0);
        return SP_OK;
    }
    int kind = SP_REF_VALUE, k;
    if (v->origin == SP_VALUE_FUNCTION) {
        kind = SP_REF_FUNCTION;
        k = number_of(w->functions, v->target);
    } else if (v->origin != SP_VALUE_CONSTANT) {
        k = number_of(w->values, v);
    } else if ((k = number_of(w->constants, v)) >= 0) {
        kind = SP_REF_CONSTANT;
        k = w->o->distinct[w->constant_of ? w->constant_of[k] : k];
    } else {
        kind = SP_REF_MADE;
        k = number_of(&w->made, v);
    }
    if (k < 0) return SP_DECLINED;
    sp__bytes_uint(w->out, (uint64_t)k * SP_REF_KINDS + (uint64_t)kind);
    return SP_OK;
}

static sp_status put_variable(writer *w, const sp_variable *v)
{
    const int k = number_of(&w->o->variables, v->tensor);
    if (k < 0) return SP_DECLINED;
    sp__bytes_uint(w->out, (uint64_t)k);
    return SP_OK;
}

static sp_status put_grad(writer *w, const sp_grad_spec *g)
{
    sp__bytes_int(w->out, g->n_results);
    sp__bytes_int(w->out, g->n_differentiated);
    sp__bytes_int(w->out, g->n_seeds);
    sp__bytes_uint(w->out, g->strict);
    sp__bytes_uint(w->out, (uint64_t)g->n_positions);
    for (int i = 0; i < g->n_positions; i++) sp__bytes_uint(w->out, (uint64_t)g->positions[i]);
    sp__bytes_uint(w->out, (uint64_t)g->n_variables);
    for (int i = 0; i < g->n_variables; i++) SP_TRY(put_variable(w, g->variables[i]));
    return SP_OK;
}

static sp_status put_node(writer *w, const sp_node *n)
{
    sp_bytes *b = w->out;
    sp__bytes_uint(b, (uint64_t)n->kind);
    sp__bytes_uint(b, (uint64_t)n->n_in);
    sp__bytes_uint(b, (uint64_t)n->n_out);
    /* A pass may have left a place that is not the recording's: such a node has none. */
    sp__bytes_uint(b, n->place ? (uint64_t)(number_of(&w->o->places, n->place) + 1) : 0);
    for (int i = 0; i < n->n_in; i++) SP_TRY(put_ref(w, n->in[i]));
    for (int i = 0; i < n->n_out; i++) put_meta(b, n->out[i]);
    if (n->kind == SP_NODE_OP) {
        const int id = sp__op_id(n->op);
        if (id < 0 || sp__op_is_registered(n->op)) return SP_DECLINED;
        sp__bytes_uint(b, (uint64_t)id);
        sp__bytes_uint(b, n->attrs != NULL);
        for (int i = 0; n->attrs && i < n->op->n_attrs; i++) put_attr(b, &n->op->attrs[i], n->attrs);
    }
    if (n->kind == SP_NODE_READ || n->kind == SP_NODE_STORE) SP_TRY(put_variable(w, n->variable));
    if (n->kind == SP_NODE_HOST) {
        const int k = number_of(&w->o->hosts, n->host);
        if (k < 0) return SP_DECLINED;
        sp__bytes_uint(b, (uint64_t)k);
    }
    return n->kind == SP_NODE_GRAD ? put_grad(w, n->grad) : SP_OK;
}

static sp_status put_function(writer *w, const sp_function *f)
{
    sp_bytes *b = w->out;
    sp__bytes_uint(b, (uint64_t)f->n_params);
    for (int i = 0; i < f->n_params; i++) put_meta(b, f->params[i]);
    int n_nodes = 0;
    for (const sp_node *n = f->first; n; n = n->next) n_nodes++;
    sp__bytes_uint(b, (uint64_t)n_nodes);
    for (const sp_node *n = f->first; n; n = n->next) SP_TRY(put_node(w, n));
    sp__bytes_uint(b, f->tail != NULL);
    sp__bytes_uint(b, (uint64_t)f->n_results);
    for (int i = 0; i < f->n_results; i++) SP_TRY(put_ref(w, f->results[i]));
    return SP_OK;
}

static sp_status put_functions(writer *w)
{
    sp__bytes_uint(w->out, (uint64_t)w->functions->n);
    for (int k = 0; k < w->functions->n; k++) put_text(w->out, ((const sp_function *)w->functions->things[k])->name);
    for (int k = 0; k < w->functions->n; k++) SP_TRY(put_function(w, w->functions->things[k]));
    return w->out->failed ? SP_NOMEM : SP_OK;
}

/* --- keys -------------------------------------------------------------------------------------------------------- */

/* What a recording is compiled by. Passes compute with constants, so kernels count; those of other libraries do, too. */
static sp_status put_surroundings(sp_bytes *b, const char *options)
{
    char providers[512];
    SP_TRY(sp__cache_build(b));
    sp__bytes_uint(b, sp__cpu_features());
    put_text(b, options);
    const int n = sp_provider_names(providers, sizeof providers);
    sp__bytes_int(b, n);
    if (n > 0) put_text(b, providers);
    return SP_OK;
}

/* How often a recording holds one and the same constant depends on addresses (sp__value_constant): equal contents count as one here.
 * Not those of large ones, which belong to tensors outside: they are one only if these are. */
static sp_cache_key describe_constant(const sp_value *v, sp_bytes *b)
{
    const sp_tensor *t = v->constant;
    const sp_cache_key contents = sp__cache_digest(t->data, sp_tensor_bytes(t));
    b->n = 0;
    put_meta(b, v);
    sp__bytes_put(b, &contents, sizeof contents);
    return sp__cache_digest(b->data, b->n);
}

static bool may_be_one(const sp_value *a, const sp_value *b)
{
    return sp_tensor_bytes(a->constant) <= SP_CONSTANT_COPY_BYTES || a->constant->data == b->constant->data;
}

static sp_status put_constants(sp_outer_program *o, sp_bytes *b)
{
    size_t total = 0, mask = 63;
    while (mask < 2 * (size_t)o->constants.n) mask = 2 * mask + 1;
    sp_cache_key *keys = sp__alloc((size_t)(o->constants.n + 1) * sizeof *keys);
    int *places = sp__alloc_zero((mask + 1) * sizeof *places);
    sp_bytes one = {0};
    o->distinct = sp__alloc_zero((size_t)(o->constants.n + 1) * sizeof *o->distinct);
    o->first_of = sp__alloc_zero((size_t)(o->constants.n + 1) * sizeof *o->first_of);
    sp_status status = keys && places && o->distinct && o->first_of ? SP_OK : SP_NOMEM;
    for (int k = 0; k < o->constants.n && status == SP_OK; k++) {
        const sp_value *v = o->constants.things[k];
        if (!(v->constant->flags & SP_TENSOR_CONTIGUOUS) || (total += sp_tensor_bytes(v->constant)) > CONSTANT_BYTES) {
            status = SP_DECLINED;
            break;
        }
        keys[k] = describe_constant(v, &one);
        size_t at = (size_t)(keys[k].word[0] & mask);
        while (places[at] && (memcmp(&keys[places[at] - 1], &keys[k], sizeof *keys) != 0 ||
                              !may_be_one(o->constants.things[places[at] - 1], v)))
            at = (at + 1) & mask;
        if (!places[at]) {
            places[at] = k + 1;
            o->distinct[k] = o->n_distinct;
            o->first_of[o->n_distinct++] = k;
            sp__bytes_put(b, &keys[k], sizeof *keys);
        }
        o->distinct[k] = o->distinct[places[at] - 1];
    }
    if (status == SP_OK && one.failed) status = SP_NOMEM;
    sp__free(one.data);
    sp__free(keys);
    sp__free(places);
    return status;
}

static sp_status make_key(sp_outer_program *o, const char *options, sp_bytes *b)
{
    writer w = {.o = o, .functions = &o->functions, .values = &o->values, .constants = &o->constants, .out = b};
    SP_TRY(put_surroundings(b, options));
    SP_TRY(put_constants(o, b));
    sp__bytes_uint(b, (uint64_t)o->variables.n);
    for (int k = 0; k < o->variables.n; k++) {
        const sp_tensor *t = o->variables.things[k];
        sp__bytes_int(b, t->dtype);
        sp__bytes_int(b, t->rank);
        for (int i = 0; i < t->rank; i++) sp__bytes_int(b, t->dims[i]);
    }
    sp__bytes_uint(b, (uint64_t)o->hosts.n);
    for (int k = 0; k < o->hosts.n; k++) sp__bytes_uint(b, ((const sp_host *)o->hosts.things[k])->pure);
    sp__bytes_uint(b, (uint64_t)o->places.n);
    SP_TRY(put_functions(&w));
    o->key = sp__cache_digest(b->data, b->n);
    return SP_OK;
}

sp_status sp__outer_create(sp_function *f, const char *options, sp_outer_program **out)
{
    sp_outer_program *o = sp__alloc_zero(sizeof *o);
    sp_bytes b = {0};
    if (!o) return SP_NOMEM;
    o->f = f;
    sp_status status = survey(o);
    if (status == SP_OK) status = make_key(o, options, &b);
    sp__free(b.data);
    if (status == SP_OK) *out = o;
    else sp__outer_free(o);
    return status;
}

void sp__outer_free(sp_outer_program *o)
{
    if (!o) return;
    sp_numbering *all[] = {&o->functions, &o->values, &o->constants, &o->variables, &o->hosts, &o->places, &o->copies};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) numbering_free(all[i]);
    sp__free(o->distinct);
    sp__free(o->first_of);
    sp__free(o->copy_of);
    sp__free(o);
}

sp_cache_key sp__outer_key(const sp_outer_program *o) { return o->key; }

/* --- the optimised graph ----------------------------------------------------------------------------------------- */

static sp_status follow(sp_outer_program *o, const sp_value *from, const sp_value *to)
{
    int k;
    if (!from || from->origin != SP_VALUE_CONSTANT) return SP_OK;
    SP_TRY(number(&o->copies, to, &k));
    o->copy_of[k] = number_of(&o->constants, from);
    return SP_OK;
}

sp_status sp__outer_follow(sp_outer_program *o, const sp_graph *copy)
{
    o->copy_of = sp__alloc_zero((size_t)(o->constants.n + 1) * sizeof *o->copy_of);
    if (!o->copy_of) return SP_NOMEM;
    const sp_function *to = copy->first;
    for (int k = 0; k < o->functions.n && to; k++, to = to->next) {
        const sp_function *from = o->functions.things[k];
        const sp_node *a = from->first, *b = to->first;
        for (; a && b; a = a->next, b = b->next)
            for (int i = 0; i < a->n_in; i++) SP_TRY(follow(o, a->in[i], b->in[i]));
        for (int i = 0; i < from->n_results; i++) SP_TRY(follow(o, from->results[i], to->results[i]));
    }
    return SP_OK;
}

static sp_status find_made(writer *w, const sp_value *v)
{
    if (!v || v->origin != SP_VALUE_CONSTANT || number_of(w->constants, v) >= 0) return SP_OK;
    const sp_tensor *t = v->constant;
    if (!(t->flags & SP_TENSOR_CONTIGUOUS) || sp_tensor_bytes(t) > SP_MADE_BYTES) return SP_DECLINED;
    return number(&w->made, v, NULL);
}

static sp_status survey_written(writer *w, const sp_graph *g, sp_numbering *functions, sp_numbering *values)
{
    for (const sp_function *f = g->first; f; f = f->next) SP_TRY(number(functions, f, NULL));
    for (const sp_function *f = g->first; f; f = f->next) {
        for (int i = 0; i < f->n_params; i++) SP_TRY(number(values, f->params[i], NULL));
        for (const sp_node *n = f->first; n; n = n->next) {
            for (int i = 0; i < n->n_in; i++) SP_TRY(find_made(w, n->in[i]));
            for (int i = 0; i < n->n_out; i++) SP_TRY(number(values, n->out[i], NULL));
        }
        for (int i = 0; i < f->n_results; i++) SP_TRY(find_made(w, f->results[i]));
    }
    return SP_OK;
}

static sp_status put_graph(writer *w, const sp_graph *g)
{
    sp__bytes_uint(w->out, (uint64_t)w->made.n);
    for (int k = 0; k < w->made.n; k++) {
        const sp_value *v = w->made.things[k];
        put_meta(w->out, v);
        sp__bytes_put(w->out, v->constant->data, sp_tensor_bytes(v->constant));
    }
    const int entry = number_of(w->functions, g->entry);
    if (entry < 0) return SP_DECLINED;
    sp__bytes_uint(w->out, (uint64_t)entry);
    return put_functions(w);
}

sp_status sp__outer_write(const sp_outer_program *o, sp_graph *g, sp_bytes *out)
{
    sp_numbering functions = {0}, values = {0};
    writer w = {.o = o,
                .functions = &functions,
                .values = &values,
                .constants = &o->copies,
                .constant_of = o->copy_of,
                .out = out};
    sp_status status = survey_written(&w, g, &functions, &values);
    if (status == SP_OK) status = put_graph(&w, g);
    numbering_free(&functions);
    numbering_free(&values);
    numbering_free(&w.made);
    return status;
}
