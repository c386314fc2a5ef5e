/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_read.c - TensorFlow Lite files as graphs; tflite_file.h says what lies where. Nothing here trusts the file: indices are checked
 * against the lists they point into, and all lists together may not have more entries than the file has bytes, so that tables which are
 * used many times cannot make a small file a large model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/tflite/tflite_model.h"

enum { CUSTOM = 32, DEPTH_MAX = 64 };

typedef struct code {
    int number;
    const char *name; /* as people write it: "CONV_2D", "TFLite_Detection_PostProcess" */
    const sp_tflite_handler *handler;
} code;

typedef struct reader {
    const sp_source *source;
    sp_tflite_file t;
    sp_model *m;
    sp_tflite_model *out;
    uint64_t room; /* entries that may still come */
    int n_codes;
    code *codes;
    int n_unsupported;
    sp__text unsupported;
} reader;

static void *take(reader *r, uint64_t n, size_t bytes)
{
    return sp__arena_alloc(&r->m->arena, (size_t)(n + 1) * bytes);
}

/* A vector of indices into a list of `limit` entries; -1 is a missing one where that may be. */
static sp_status read_indices(reader *r, size_t table, unsigned field, int limit, bool missing, int *n, int **out)
{
    sp_flat_list list;
    SP_TRY(sp__flat_vector(&r->t.f, table, field, 4, &list));
    SP_TRY(sp__tflite_spend(&r->room, list.n));
    if (!(*out = take(r, list.n, sizeof **out))) return SP_NOMEM;
    *n = (int)list.n;
    for (int i = 0; i < *n; i++) {
        int64_t index = 0;
        SP_TRY(sp__flat_int_at(&r->t.f, &list, (uint64_t)i, &index));
        SP_CHECK(index < limit && index >= (missing ? -1 : 0), SP_FORMAT, "byte %zu, field %u: tensor %lld of %d",
                 list.at + 4 * (size_t)i, field, (long long)index, limit);
        (*out)[i] = (int)index;
    }
    return SP_OK;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

static sp_status read_scale(reader *r, size_t table, sp_tflite_tensor *t)
{
    size_t place = 0;
    sp_flat_list scales, zeros;
    uint64_t axis = 0, raw = 0;
    SP_TRY(sp__flat_table(&r->t.f, table, 4, &place));
    if (place == 0) return SP_OK;
    SP_TRY(sp__flat_vector(&r->t.f, place, 2, 4, &scales));
    SP_TRY(sp__flat_vector(&r->t.f, place, 3, 8, &zeros));
    SP_TRY(sp__flat_number(&r->t.f, place, 6, 4, &axis));
    const char kind = t->meta.dtype != SP_DTYPE_NONE ? sp_dtype_kind(t->meta.dtype) : 'f';
    if (scales.n == 0 || (kind != 'i' && kind != 'u')) return SP_OK;
    SP_TRY(sp__tflite_spend(&r->room, scales.n));
    const bool many = scales.n > 1;
    SP_CHECK(!many || (axis < (uint64_t)t->meta.rank && (uint64_t)t->meta.dims[axis] == scales.n), SP_FORMAT,
             "byte %zu: %llu scales along axis %llu", place, (unsigned long long)scales.n, (unsigned long long)axis);
    SP_CHECK(zeros.n == 0 || zeros.n == 1 || zeros.n == scales.n, SP_FORMAT,
             "byte %zu: %llu scales and %llu zero points", place, (unsigned long long)scales.n,
             (unsigned long long)zeros.n);
    float *values = take(r, 2 * scales.n, sizeof *values);
    if (values == NULL) return SP_NOMEM;
    for (uint64_t i = 0; i < scales.n; i++) {
        SP_TRY(sp__flat_get(&r->t.f, scales.at + 4 * (size_t)i, 4, &raw));
        const uint32_t bits = (uint32_t)raw;
        memcpy(&values[i], &bits, sizeof bits);
        if (zeros.n == 0) continue;
        SP_TRY(sp__flat_get(&r->t.f, zeros.at + 8 * (size_t)(zeros.n > 1 ? i : 0), 8, &raw));
        values[scales.n + i] = (float)(int64_t)raw;
    }
    t->scale = (sp_tflite_scale){(int)scales.n, values, values + scales.n, many ? (int)axis : 0};
    return SP_OK;
}

/* "name", in later graphs "graph/name"; with "#2" and so on when it returns. */
static sp_status unique_name(reader *r, const char *scope, const char *name, char out[SP_TFLITE_NAME_MAX])
{
    snprintf(out, SP_TFLITE_NAME_MAX, "%.2000s%.2000s", scope, name);
    for (int k = 2; sp_bundle_find(r->out->tensors, out) >= 0; k++)
        snprintf(out, SP_TFLITE_NAME_MAX, "%.2000s%.2000s#%d", scope, name, k);
    return SP_OK;
}

/* A tensor of no elements is a constant without contents, unless a node makes it: then it replaces this one. */
static sp_status read_empty(reader *r, const char *name, sp_tflite_tensor *t)
{
    bool empty = false;
    for (int k = 0; k < t->meta.rank; k++) {
        if (t->meta.dims[k] < 0) return SP_OK;
        empty = empty || t->meta.dims[k] == 0;
    }
    if (!empty || t->meta.dtype == SP_DTYPE_NONE) return SP_OK;
    sp_tensor *none = NULL;
    SP_TRY(sp_tensor_create(t->meta.dtype, t->meta.rank, t->meta.dims, &none));
    sp_status status = sp_bundle_add(r->out->tensors, name, none);
    sp_tensor_release(none);
    if (status == SP_OK) t->constant = none; /* which the bundle holds */
    return status;
}

/* The contents of a constant. Float ones of the outermost graph are what can be trained: variables of programs. */
__attribute__((noinline)) /* a name on the stack at a time */ static sp_status
read_constant(reader *r, size_t table, const char *scope, sp_tflite_tensor *t)
{
    char full[SP_TFLITE_NAME_MAX];
    bool added = false;
    SP_TRY(unique_name(r, scope, t->name, full));
    SP_TRY(sp__tflite_add(r->source, &r->t, table, &t->meta, (uint64_t)t->type, r->out->tensors, full, &added));
    if (!added) return read_empty(r, full, t);
    t->constant = sp_bundle_tensor_at(r->out->tensors, sp_bundle_find(r->out->tensors, full));
    if (t->constant == NULL) return SP_NOMEM;
    if (sp_dtype_kind(t->meta.dtype) != 'f' || t->meta.rank == 0) return SP_OK;
    sp_graph_variable_mark(t->constant);
    t->parameter = sp_bundle_count(r->m->parameters);
    return sp_bundle_add(r->m->parameters, full, t->constant);
}

static sp_status new_state(reader *r, const char *name, const sp_meta *meta, int8_t start, int *out)
{
    sp_tflite_model *d = r->out;
    if (d->n_states == d->room) {
        int more = d->room == 0 ? 8 : 2 * d->room;
        sp_tflite_state *bigger =
            sp__realloc(d->states, (size_t)d->room * sizeof *bigger, (size_t)more * sizeof *bigger);
        if (bigger == NULL) return SP_NOMEM;
        d->states = bigger;
        d->room = more;
    }
    *out = d->n_states;
    d->states[d->n_states++] = (sp_tflite_state){.name = name, .meta = *meta, .start = start};
    return SP_OK;
}

static sp_status read_tensor_parts(reader *r, size_t table, const char *scope, sp_tflite_tensor *t)
{
    uint64_t type = 0, variable = 0;
    char name[SP_TFLITE_NAME_MAX];
    SP_TRY(sp__tflite_text(&r->t, table, 3, name));
    if (!(t->name = sp__arena_text(&r->m->arena, name))) return SP_NOMEM;
    SP_TRY(sp__flat_number(&r->t.f, table, 1, 1, &type));
    SP_TRY(sp__flat_number(&r->t.f, table, 5, 1, &variable));
    SP_TRY(sp__tflite_shape(&r->t, table, 0, &t->meta));
    t->type = (int)type;
    t->meta.dtype = type == SP_TFLITE_INT4 ? SP_DTYPE_I8 : sp__tflite_dtype(type);
    t->parameter = t->state = -1;
    SP_TRY(read_scale(r, table, t));
    SP_TRY(read_constant(r, table, scope, t));
    if (!variable || t->constant != NULL || t->meta.dtype == SP_DTYPE_NONE) return SP_OK;
    for (int k = 0; k < t->meta.rank; k++) SP_CHECK(t->meta.dims[k] >= 0, SP_FORMAT, "a variable of unknown shape");
    const float zero = t->scale.n == 1 && t->meta.dtype == SP_DTYPE_I8 ? t->scale.zero[0] : 0;
    SP_CHECK(zero >= -128 && zero <= 127, SP_FORMAT, "zero point %g of a variable of int8", (double)zero);
    return new_state(r, t->name, &t->meta, (int8_t)zero, &t->state);
}

static sp_status read_tensor(reader *r, size_t table, int number, const char *scope, sp_tflite_tensor *t)
{
    char shown[SP_NAME_SHOWN];
    sp_status status = read_tensor_parts(r, table, scope, t);
    if (status != SP_OK && t->name != NULL)
        sp__error_context("tensor %d ('%s')", number, sp__name_shown(t->name, strlen(t->name), shown));
    else if (status != SP_OK) sp__error_context("tensor %d", number);
    return status;
}

/* --- operators --------------------------------------------------------------------------------------------------- */

static sp_status read_codes(reader *r)
{
    sp_flat_list list;
    SP_TRY(sp__flat_vector(&r->t.f, r->t.model, 1, 4, &list));
    SP_TRY(sp__tflite_spend(&r->room, list.n));
    if (!(r->codes = take(r, list.n, sizeof *r->codes))) return SP_NOMEM;
    r->n_codes = (int)list.n;
    for (int i = 0; i < r->n_codes; i++) {
        size_t table = 0;
        uint64_t old = 0, number = 0;
        char custom[SP_TFLITE_NAME_MAX], text[32];
        code *c = &r->codes[i];
        SP_TRY(sp__flat_table_at(&r->t.f, &list, (uint64_t)i, &table));
        SP_TRY(sp__flat_number(&r->t.f, table, 0, 1, &old));
        SP_TRY(sp__flat_number(&r->t.f, table, 3, 4, &number));
        SP_TRY(sp__tflite_text(&r->t, table, 1, custom));
        c->number = number > old ? (int)(uint32_t)number : (int)(int8_t)old;
        c->name = c->number == CUSTOM ? sp__arena_text(&r->m->arena, custom) : sp__tflite_op_name(c->number);
        if (c->name == NULL) {
            snprintf(text, sizeof text, "operator %d", c->number);
            c->name = sp__arena_text(&r->m->arena, text);
        }
        if (c->name == NULL) return SP_NOMEM;
        c->handler = sp__tflite_handler_find(c->number, c->number == CUSTOM ? custom : NULL);
    }
    return SP_OK;
}

/* Options as they lie in the file, up to 8 bytes each; what they mean is for the handler to know. */
static sp_status read_options(reader *r, size_t table, sp_tflite_node *n)
{
    size_t options = 0;
    SP_TRY(sp__flat_table(&r->t.f, table, 4, &options));
    if (options == 0) SP_TRY(sp__flat_table(&r->t.f, table, 12, &options));
    for (unsigned k = 0; options != 0 && k < SP_TFLITE_OPTIONS; k++) {
        size_t place = 0;
        SP_TRY(sp__flat_field(&r->t.f, options, k, &place));
        if (place == 0) continue;
        SP_CHECK(place < r->t.f.bytes, SP_FORMAT, "byte %zu, field %u of the options does not lie in the file", place,
                 k);
        const size_t left = r->t.f.bytes - place;
        SP_TRY(sp__flat_get(&r->t.f, place, left < 8 ? (int)left : 8, &n->option[k]));
        n->given |= 1u << k;
    }
    if (options == 0 || n->handler == NULL || n->handler->list < 0) return SP_OK;
    sp_flat_list list;
    SP_TRY(sp__flat_vector(&r->t.f, options, (unsigned)n->handler->list, 4, &list));
    SP_TRY(sp__tflite_spend(&r->room, list.n));
    if (!(n->list = take(r, list.n, sizeof *n->list))) return SP_NOMEM;
    n->n_list = (int)list.n;
    for (int i = 0; i < n->n_list; i++) SP_TRY(sp__flat_int_at(&r->t.f, &list, (uint64_t)i, &n->list[i]));
    return SP_OK;
}

static sp_status read_custom(reader *r, size_t table, sp_tflite_node *n)
{
    sp_flat_list list;
    SP_TRY(sp__flat_vector(&r->t.f, table, 5, 1, &list));
    SP_TRY(sp__tflite_spend(&r->room, list.n));
    uint8_t *copy = take(r, list.n, 1);
    if (copy == NULL) return SP_NOMEM;
    memcpy(copy, r->t.f.data + list.at, (size_t)list.n);
    n->custom = copy;
    n->custom_bytes = (size_t)list.n;
    return SP_OK;
}

/* VAR_HANDLE: one state for all handles of a name. Who reads or writes it says what it is; see type_states. */
static sp_status read_handle(reader *r, size_t table, sp_tflite_node *n)
{
    size_t options = 0;
    char name[SP_TFLITE_NAME_MAX] = "";
    SP_TRY(sp__flat_table(&r->t.f, table, 4, &options));
    if (options != 0) SP_TRY(sp__tflite_text(&r->t, options, 1, name));
    for (int i = 0; i < r->out->n_states; i++)
        if (strcmp(r->out->states[i].name, name) == 0) {
            n->state = i;
            return SP_OK;
        }
    const char *kept = sp__arena_text(&r->m->arena, name);
    return kept != NULL ? new_state(r, kept, &(sp_meta){.dtype = SP_DTYPE_NONE}, 0, &n->state) : SP_NOMEM;
}

int sp__tflite_graphs_of(const sp_tflite_node *n)
{
    return strcmp(n->op, "IF") == 0 || strcmp(n->op, "WHILE") == 0 ? 2 : strcmp(n->op, "CALL_ONCE") == 0 ? 1 : 0;
}

int sp__tflite_graph_of(const sp_tflite_node *n, int k) { return (int)(int32_t)(uint32_t)n->option[k]; }

static sp_status check_graph_options(const reader *r, const sp_tflite_node *n)
{
    for (int k = 0; k < sp__tflite_graphs_of(n); k++) {
        int64_t index = sp__tflite_graph_of(n, k);
        SP_CHECK(index >= 0 && index < r->out->n_graphs, SP_FORMAT, "graph %lld of %d", (long long)index,
                 r->out->n_graphs);
    }
    return SP_OK;
}

static sp_status read_node_parts(reader *r, const sp_tflite_graph *g, size_t table, sp_tflite_node *n)
{
    uint64_t index = 0;
    SP_TRY(sp__flat_number(&r->t.f, table, 0, 4, &index));
    SP_CHECK(index < (uint64_t)r->n_codes, SP_FORMAT, "byte %zu: operator code %llu of %d", table,
             (unsigned long long)index, r->n_codes);
    const code *c = &r->codes[index];
    n->op = c->name;
    n->handler = c->handler;
    n->state = -1;
    SP_TRY(read_indices(r, table, 1, g->n_tensors, true, &n->n_in, &n->in));
    SP_TRY(read_indices(r, table, 2, g->n_tensors, true, &n->n_out, &n->out));
    n->name = n->n_out > 0 && n->out[0] >= 0 ? g->tensors[n->out[0]].name : c->name;
    SP_TRY(read_options(r, table, n));
    if (c->number == CUSTOM) SP_TRY(read_custom(r, table, n));
    if (strcmp(n->op, "VAR_HANDLE") == 0) SP_TRY(read_handle(r, table, n));
    SP_TRY(check_graph_options(r, n));
    const bool silent = strcmp(n->op, "ASSIGN_VARIABLE") == 0 || sp__tflite_graphs_of(n) > 0;
    SP_CHECK(silent || n->handler == NULL || (n->n_out > 0 && n->out[0] >= 0), SP_FORMAT,
             "byte %zu: an operator without results", table);
    for (int i = 0; n->handler != NULL && i < n->handler->needs; i++)
        SP_CHECK(i < n->n_in && n->in[i] >= 0, SP_FORMAT, "byte %zu: input %d is missing", table, i);
    return SP_OK;
}

/* --- graphs ------------------------------------------------------------------------------------------------------ */

/* Which node uses a tensor last: it is let go behind it. */
sp_status sp__tflite_find_dead(sp__arena *arena, sp_tflite_graph *g)
{
    int *last = sp__arena_alloc(arena, ((size_t)g->n_tensors + 1) * sizeof *last);
    if (last == NULL) return SP_NOMEM;
    for (int i = 0; i < g->n_tensors; i++) last[i] = -1;
    for (int i = 0; i < g->n_nodes; i++) {
        const sp_tflite_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0) last[n->in[k]] = i;
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) last[n->out[k]] = i;
    }
    for (int i = 0; i < g->n_outputs; i++) last[g->outputs[i]] = -1;
    for (int i = 0; i < g->n_tensors; i++)
        if (last[i] >= 0 && g->tensors[i].constant == NULL) g->nodes[last[i]].n_dead++;
    for (int i = 0; i < g->n_nodes; i++) {
        if (!(g->nodes[i].dead = sp__arena_alloc(arena, ((size_t)g->nodes[i].n_dead + 1) * sizeof(int))))
            return SP_NOMEM;
        g->nodes[i].n_dead = 0;
    }
    for (int i = 0; i < g->n_tensors; i++) {
        if (last[i] < 0 || g->tensors[i].constant != NULL) continue;
        sp_tflite_node *n = &g->nodes[last[i]];
        n->dead[n->n_dead++] = i;
    }
    return SP_OK;
}

static sp_status read_graph_parts(reader *r, size_t table, int number, sp_tflite_graph *g)
{
    sp_flat_list tensors, nodes;
    size_t at = 0;
    char *scope = sp__arena_alloc(&r->m->arena, SP_TFLITE_NAME_MAX),
         *name = sp__arena_alloc(&r->m->arena, SP_TFLITE_NAME_MAX);
    if (!scope || !name) return SP_NOMEM;
    SP_TRY(sp__tflite_text(&r->t, table, 4, name));
    g->name = name;
    snprintf(scope, SP_TFLITE_NAME_MAX, number > 0 ? "%.4000s/" : "", name);
    SP_TRY(sp__flat_vector(&r->t.f, table, 0, 4, &tensors));
    SP_TRY(sp__flat_vector(&r->t.f, table, 3, 4, &nodes));
    SP_TRY(sp__tflite_spend(&r->room, tensors.n + nodes.n));
    g->tensors = take(r, tensors.n, sizeof *g->tensors);
    g->nodes = take(r, nodes.n, sizeof *g->nodes);
    if (g->tensors == NULL || g->nodes == NULL) return SP_NOMEM;
    g->n_tensors = (int)tensors.n;
    for (int i = 0; i < g->n_tensors; i++) {
        SP_TRY(sp__flat_table_at(&r->t.f, &tensors, (uint64_t)i, &at));
        SP_TRY(read_tensor(r, at, i, scope, &g->tensors[i]));
    }
    SP_TRY(read_indices(r, table, 1, g->n_tensors, false, &g->n_inputs, &g->inputs));
    SP_TRY(read_indices(r, table, 2, g->n_tensors, false, &g->n_outputs, &g->outputs));
    for (uint64_t i = 0; i < nodes.n; i++) {
        SP_TRY(sp__flat_table_at(&r->t.f, &nodes, i, &at));
        sp_tflite_node *n = &g->nodes[i];
        sp_status status = read_node_parts(r, g, at, n);
        if (status != SP_OK) sp__error_context("operator %d (%s)", (int)i, n->op != NULL ? n->op : "?");
        SP_TRY(status);
        g->n_nodes++;
        if (n->handler == NULL) sp__tflite_note_unsupported(&r->unsupported, &r->n_unsupported, n);
    }
    return sp__tflite_find_dead(&r->m->arena, g);
}

static sp_status read_graphs(reader *r)
{
    const sp_flat_list *list = &r->t.graphs;
    SP_CHECK(list->n > 0, SP_FORMAT, "the file holds no graph");
    SP_TRY(sp__tflite_spend(&r->room, list->n));
    if (!(r->out->graphs = take(r, list->n, sizeof *r->out->graphs))) return SP_NOMEM;
    r->out->n_graphs = (int)list->n;
    for (int i = 0; i < r->out->n_graphs; i++) {
        size_t table = 0;
        SP_TRY(sp__flat_table_at(&r->t.f, list, (uint64_t)i, &table));
        sp_status status = read_graph_parts(r, table, i, &r->out->graphs[i]);
        if (status != SP_OK) sp__error_context("subgraph %d", i);
        SP_TRY(status);
    }
    return SP_OK;
}

/* Graphs that run each other must not come back to themselves: TensorFlow Lite has no recursion. */
static sp_status check_calls(sp_tflite_model *d, int number, int depth)
{
    sp_tflite_graph *g = &d->graphs[number];
    SP_CHECK(g->walked != 1, SP_FORMAT, "subgraph %d runs itself", number);
    SP_CHECK(depth <= DEPTH_MAX, SP_FORMAT, "subgraphs run each other more than %d deep", DEPTH_MAX);
    if (g->walked == 2) return SP_OK;
    g->walked = 1;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < sp__tflite_graphs_of(&g->nodes[i]); k++)
            SP_TRY(check_calls(d, sp__tflite_graph_of(&g->nodes[i], k), depth + 1));
    g->walked = 2;
    return SP_OK;
}

/* A resource is of the dtype and shape that it is read or written with. */
static sp_status type_states_of(sp_tflite_model *d, const sp_tflite_graph *g, int *handles)
{
    for (int i = 0; i < g->n_tensors; i++) handles[i] = -1;
    for (int k = 0; k < g->n_nodes; k++) {
        const sp_tflite_node *n = &g->nodes[k];
        const bool reads = strcmp(n->op, "READ_VARIABLE") == 0, writes = strcmp(n->op, "ASSIGN_VARIABLE") == 0;
        if (n->state >= 0) handles[n->out[0]] = n->state;
        if ((!reads && !writes) || handles[n->in[0]] < 0) continue;
        sp_tflite_state *state = &d->states[handles[n->in[0]]];
        const sp_tflite_tensor *t = &g->tensors[reads ? n->out[0] : n->in[1]];
        for (int a = 0; a < t->meta.rank; a++)
            SP_CHECK(t->meta.dims[a] >= 0, SP_FORMAT, "variable '%s' of unknown shape", state->name);
        if (state->meta.dtype == SP_DTYPE_NONE) state->meta = t->meta;
    }
    return SP_OK;
}

static sp_status type_states(reader *r)
{
    for (int i = 0; i < r->out->n_graphs && r->out->n_states > 0; i++) {
        const sp_tflite_graph *g = &r->out->graphs[i];
        int *handles = take(r, (uint64_t)g->n_tensors, sizeof *handles);
        if (handles == NULL) return SP_NOMEM;
        SP_TRY(type_states_of(r->out, g, handles));
    }
    return SP_OK;
}

/* --- faces ------------------------------------------------------------------------------------------------------- */

static sp_status read_face(reader *r, size_t table, const sp_tflite_tensor *t, bool input, sp_model_value *out)
{
    sp_meta open = {.rank = -1};
    SP_CHECK(t->meta.dtype != SP_DTYPE_NONE, SP_DECLINED, "%s '%s' holds texts or resources, which are not supported",
             input ? "input" : "output", t->name);
    SP_TRY(sp__tflite_shape(&r->t, table, 7, &open));
    const bool signed_shape = open.rank == t->meta.rank && open.rank > 0;
    out->name = t->name;
    out->spec.dtype = t->meta.dtype;
    out->spec.rank = t->meta.rank;
    for (int k = 0; k < t->meta.rank; k++) {
        int64_t dim = signed_shape ? open.dims[k] : t->meta.dims[k];
        out->spec.dims[k] = dim < 0 || (signed_shape && open.dims[k] < 0) ? -1 : dim;
    }
    return SP_OK;
}

static sp_status read_faces(reader *r)
{
    const sp_tflite_graph *g = &r->out->graphs[0];
    sp_flat_list tensors;
    size_t graph = 0, at = 0;
    sp_model *m = r->m;
    SP_TRY(sp__flat_table_at(&r->t.f, &r->t.graphs, 0, &graph));
    SP_TRY(sp__flat_vector(&r->t.f, graph, 0, 4, &tensors));
    m->inputs = take(r, (uint64_t)g->n_inputs, sizeof *m->inputs);
    m->outputs = take(r, (uint64_t)g->n_outputs, sizeof *m->outputs);
    if (m->inputs == NULL || m->outputs == NULL) return SP_NOMEM;
    SP_CHECK(g->n_outputs > 0, SP_FORMAT, "the model has no outputs");
    for (int i = 0; i < g->n_inputs + g->n_outputs; i++) {
        const bool input = i < g->n_inputs;
        const int tensor = input ? g->inputs[i] : g->outputs[i - g->n_inputs];
        SP_TRY(sp__flat_table_at(&r->t.f, &tensors, (uint64_t)tensor, &at));
        SP_TRY(read_face(r, at, &g->tensors[tensor], input, input ? &m->inputs[i] : &m->outputs[i - g->n_inputs]));
    }
    m->n_inputs = g->n_inputs;
    m->n_outputs = g->n_outputs;
    return SP_OK;
}

sp_status sp__tflite_read(const sp_source *s, sp_model *m, sp_tflite_model *out)
{
    reader r = {.source = s, .m = m, .out = out, .room = s->bytes};
    SP_TRY(sp__tflite_open(s, &r.t));
    sp_status status = read_codes(&r);
    if (status == SP_OK) status = read_graphs(&r);
    if (status == SP_OK && r.n_unsupported > 0)
        status = sp__fail(SP_DECLINED, "%d nodes use operators that are not supported: %s%s", r.n_unsupported,
                          r.unsupported.data != NULL ? r.unsupported.data : "",
                          r.n_unsupported > SP_TFLITE_UNSUPPORTED_SHOWN ? ", and more" : "");
    for (int i = 0; i < out->n_graphs && status == SP_OK; i++) status = check_calls(out, i, 0);
    if (status == SP_OK) status = type_states(&r);
    if (status == SP_OK) status = read_faces(&r);
    sp__free(r.unsupported.data);
    return status;
}
