/* SPDX-License-Identifier: Apache-2.0 */
/* cache_read.c - an optimised graph from the bytes that cache_graph.c made of it. Nothing in them is taken for granted: they are what a
 * file held. */
#include <string.h>

#include "graph/cache_graph.h"

typedef struct {
    const sp_outer_program *o;
    sp_bytes_in *in;
    sp_graph *g;
    sp_function **functions;
    int n_functions;
    sp_value **values; /* in the order they are made */
    int n_values, capacity;
    sp_value **constants; /* of the recording, taken over when first met */
    sp_value **made;
    int n_made;
    sp_value **inputs; /* of the node at hand */
    int inputs_capacity;
    sp__arena scratch;
} reader;

static sp_status broken(const char *what) { return sp__fail(SP_FORMAT, "%s", what); }

static sp_status get_meta(sp_bytes_in *in, sp_meta *m, bool *is_function, bool *weak)
{
    const uint64_t bits = sp__bytes_get_uint(in);
    const int64_t dtype = sp__bytes_get_int(in), rank = sp__bytes_get_int(in);
    if (in->failed || dtype < 0 || dtype >= SP_DTYPE_COUNT || rank < -1 || rank > SP_RANK_MAX || bits > 3)
        return broken("a geometry is malformed");
    *m = (sp_meta){.dtype = (sp_dtype)dtype, .rank = (int)rank};
    for (int i = 0; i < m->rank; i++)
        if ((m->dims[i] = sp__bytes_get_int(in)) < -1) return broken("a dimension is negative");
    *is_function = bits & 1;
    *weak = bits >> 1;
    return SP_OK;
}

static sp_status keep_value(reader *r, sp_value *v)
{
    if (r->n_values == r->capacity) {
        const int more = r->capacity ? 2 * r->capacity : 256;
        sp_value **bigger = sp__realloc(r->values, (size_t)r->capacity * sizeof *bigger, (size_t)more * sizeof *bigger);
        if (!bigger) return SP_NOMEM;
        r->values = bigger;
        r->capacity = more;
    }
    r->values[r->n_values++] = v;
    return SP_OK;
}

/* A constant of the recording, as sp__graph_copy takes it over. */
static sp_status outer_constant(reader *r, sp_function *f, int k, sp_value **out)
{
    if ((*out = r->constants[k])) return SP_OK;
    const sp_value *from = r->o->constants.things[r->o->first_of[k]];
    sp_value *v = sp__value_constant(f, from->constant);
    if (!v) return SP_NOMEM;
    v->meta = from->meta;
    v->weak = from->weak;
    *out = r->constants[k] = v;
    return SP_OK;
}

static sp_status get_ref(reader *r, sp_function *f, sp_value **out)
{
    const uint64_t ref = sp__bytes_get_uint(r->in), k = ref / SP_REF_KINDS;
    const int kind = (int)(ref % SP_REF_KINDS);
    *out = NULL;
    if (r->in->failed) return broken("it ends too early");
    if (ref == 0) return SP_OK;
    const int ends[SP_REF_KINDS] = {0, r->n_values, r->o->n_distinct, r->n_made, r->n_functions};
    if (k >= (uint64_t)ends[kind]) return broken("a value is not there");
    if (kind == SP_REF_CONSTANT) return outer_constant(r, f, (int)k, out);
    if (kind == SP_REF_FUNCTION) *out = sp__value_function(f, r->functions[k]);
    else *out = kind == SP_REF_MADE ? r->made[k] : r->values[k];
    if (!*out) return SP_NOMEM;
    return kind == SP_REF_VALUE && (*out)->owner != f ? broken("a value belongs to another function") : SP_OK;
}

static sp_status get_list(reader *r, size_t size, int *n, void **out)
{
    const int64_t count = sp__bytes_get_int(r->in);
    *out = NULL;
    *n = -1;
    if (r->in->failed || count < -1 || count > r->in->end - r->in->at) return broken("a list is malformed");
    *n = (int)count;
    if (count > 0 && !(*out = sp__arena_alloc(&r->scratch, (size_t)count * size))) return SP_NOMEM;
    return SP_OK;
}

static sp_status get_text(reader *r, const char **out)
{
    const int n = sp__bytes_get_count(r->in);
    const char *from = sp__bytes_get(r->in, (size_t)n);
    char *text = from ? sp__arena_alloc(&r->scratch, (size_t)n + 1) : NULL;
    if (!from || memchr(from, 0, (size_t)n)) return broken("a text is malformed");
    if (!text) return SP_NOMEM;
    memcpy(text, from, (size_t)n);
    *out = text;
    return SP_OK;
}

static sp_status get_plain(sp_bytes_in *in, size_t bytes, void *field)
{
    const void *from = sp__bytes_get(in, bytes);
    if (!from) return broken("it ends too early");
    memcpy(field, from, bytes);
    return SP_OK;
}

static sp_status get_attr(reader *r, const sp_attr *a, void *attrs)
{
    void *field = (char *)attrs + a->offset, *list = NULL;
    sp_bytes_in *in = r->in;
    switch (a->type) {
    case SP_ATTR_INT: *(int64_t *)field = sp__bytes_get_int(in); break;
    case SP_ATTR_FLOAT: return get_plain(in, sizeof(double), field);
    case SP_ATTR_BOOL: *(bool *)field = sp__bytes_get_uint(in) != 0; break;
    case SP_ATTR_DTYPE: {
        const int64_t dtype = sp__bytes_get_int(in);
        if (dtype != (int64_t)SP_DTYPE_NONE && (dtype < 0 || dtype >= SP_DTYPE_COUNT))
            return broken("a dtype is unknown");
        *(sp_dtype *)field = (sp_dtype)dtype;
        break;
    }
    case SP_ATTR_INTS:
        SP_TRY(get_list(r, sizeof(int64_t), &((sp_ints *)field)->n, &list));
        for (int i = 0; i < ((sp_ints *)field)->n; i++) ((int64_t *)list)[i] = sp__bytes_get_int(in);
        ((sp_ints *)field)->v = list;
        break;
    case SP_ATTR_FLOATS:
        SP_TRY(get_list(r, sizeof(double), &((sp_floats *)field)->n, &list));
        if (list) SP_TRY(get_plain(in, (size_t)((sp_floats *)field)->n * sizeof(double), list));
        ((sp_floats *)field)->v = list;
        break;
    case SP_ATTR_NUMBER: {
        sp_number *v = field;
        v->kind = (char)sp__bytes_get_uint(in);
        v->i = sp__bytes_get_int(in);
        SP_TRY(get_plain(in, sizeof v->f, &v->f));
        if (!v->kind || !strchr("nbif", v->kind)) return broken("a number is of an unknown kind");
        break;
    }
    case SP_ATTR_TEXT:
        *(const char **)field = NULL;
        if (sp__bytes_get_uint(in)) SP_TRY(get_text(r, (const char **)field));
        break;
    }
    return in->failed ? broken("it ends too early") : SP_OK;
}

/* Inputs that the operator is written for: none that it needs is missing, none is too many. */
static bool inputs_fit(const sp_op *op, const sp_node *n)
{
    const sp_inputs *wanted = sp__op_inputs(op);
    if (n->n_in > wanted->n && !wanted->variadic) return false;
    for (int i = 0; i < wanted->n - wanted->variadic; i++)
        if (!(wanted->optional >> i & 1) && (i >= n->n_in || !n->in[i])) return false;
    return op->n_out < 0 || n->n_out == (op->n_out ? op->n_out : 1);
}

static sp_status get_op(reader *r, sp_node *n)
{
    const int id = sp__bytes_get_index(r->in, sp_op_count());
    const sp_op *op = r->in->failed ? NULL : sp_op_at(id);
    if (!op || !inputs_fit(op, n)) return broken("an operator does not fit its inputs");
    void *attrs = NULL;
    if (sp__bytes_get_uint(r->in)) {
        if (!op->n_attrs) return broken("an operator has no attributes");
        if (!(attrs = sp__arena_alloc(&r->scratch, op->attrs_bytes))) return SP_NOMEM;
        memcpy(attrs, op->defaults, op->attrs_bytes);
        for (int i = 0; i < op->n_attrs; i++) SP_TRY(get_attr(r, &op->attrs[i], attrs));
    }
    return sp__node_set_op(n, op, attrs);
}

static sp_status get_variable(reader *r, sp_variable **out)
{
    const int k = sp__bytes_get_index(r->in, r->o->variables.n);
    if (r->in->failed) return broken("a variable is not there");
    /* The sp_numbering knows tensors of the recording as things that are not changed; graphs own them. */
    *out = sp__graph_variable(r->g, (sp_tensor *)(uintptr_t)r->o->variables.things[k]);
    return *out ? SP_OK : SP_NOMEM;
}

static sp_status get_grad(reader *r, sp_node *n)
{
    sp_grad_spec *g = sp__arena_alloc(&r->g->arena, sizeof *g);
    if (!g) return SP_NOMEM;
    g->n_results = (int)sp__bytes_get_int(r->in);
    g->n_differentiated = (int)sp__bytes_get_int(r->in);
    g->n_seeds = (int)sp__bytes_get_int(r->in);
    g->strict = sp__bytes_get_index(r->in, 2);
    g->n_positions = sp__bytes_get_count(r->in);
    if (r->in->failed || g->n_results < 0 || g->n_results > n->n_out || g->n_differentiated < -1 ||
        g->n_differentiated > g->n_results || g->n_seeds < 0)
        return broken("a gradient is malformed");
    int *positions = sp__arena_alloc(&r->g->arena, (size_t)(g->n_positions + 1) * sizeof *positions);
    if (!positions) return SP_NOMEM;
    for (int i = 0; i < g->n_positions; i++) positions[i] = sp__bytes_get_index(r->in, INT32_MAX);
    g->n_variables = sp__bytes_get_count(r->in);
    sp_variable **variables = sp__arena_alloc(&r->g->arena, (size_t)(g->n_variables + 1) * sizeof(void *));
    if (!variables) return SP_NOMEM;
    for (int i = 0; i < g->n_variables; i++) SP_TRY(get_variable(r, &variables[i]));
    g->positions = positions;
    g->variables = variables;
    n->grad = g;
    return SP_OK;
}

static sp_status get_payload(reader *r, sp_node *n)
{
    switch (n->kind) {
    case SP_NODE_OP: return get_op(r, n);
    case SP_NODE_READ: return get_variable(r, &n->variable);
    case SP_NODE_STORE:
        SP_TRY(get_variable(r, &n->variable));
        n->variable->written = true;
        return SP_OK;
    case SP_NODE_HOST: {
        const int k = sp__bytes_get_index(r->in, r->o->hosts.n);
        if (r->in->failed) return broken("host code is not there");
        return sp__node_set_host(n, (sp_host *)(uintptr_t)r->o->hosts.things[k]); /* counted, as variables are */
    }
    case SP_NODE_GRAD: return get_grad(r, n);
    default: return SP_OK;
    }
}

static sp_status get_node(reader *r, sp_function *f)
{
    const int kind = sp__bytes_get_index(r->in, SP_NODE_GRAD + 1);
    const int n_in = sp__bytes_get_count(r->in), n_out = sp__bytes_get_count(r->in);
    const int place = sp__bytes_get_index(r->in, r->o->places.n + 1);
    if (r->in->failed) return broken("a node is malformed");
    if (n_in > r->inputs_capacity) {
        if (!(r->inputs = sp__arena_alloc(&r->scratch, 2 * (size_t)n_in * sizeof *r->inputs))) return SP_NOMEM;
        r->inputs_capacity = 2 * n_in;
    }
    for (int i = 0; i < n_in; i++) SP_TRY(get_ref(r, f, &r->inputs[i]));
    sp_node *n = sp__node_append(f, (sp_node_kind)kind, n_in, r->inputs, n_out);
    if (!n) return SP_NOMEM;
    n->place = place ? r->o->places.things[place - 1] : NULL;
    for (int i = 0; i < n_out; i++) {
        SP_TRY(get_meta(r->in, &n->out[i]->meta, &n->out[i]->is_function, &n->out[i]->weak));
        SP_TRY(keep_value(r, n->out[i]));
    }
    return get_payload(r, n);
}

static sp_status get_function(reader *r, sp_function *f)
{
    const int n_params = sp__bytes_get_count(r->in);
    for (int i = 0; i < n_params; i++) {
        sp_meta m;
        bool is_function, weak;
        SP_TRY(get_meta(r->in, &m, &is_function, &weak));
        sp_value *p = sp__function_add_param(f, &m, is_function);
        if (!p) return SP_NOMEM;
        p->weak = weak;
        SP_TRY(keep_value(r, p));
    }
    const int n_nodes = sp__bytes_get_count(r->in);
    for (int i = 0; i < n_nodes; i++) SP_TRY(get_node(r, f));
    if (sp__bytes_get_uint(r->in)) f->tail = f->last;
    f->n_results = sp__bytes_get_count(r->in);
    if (r->in->failed || (f->tail && f->tail->kind != SP_NODE_CALL)) return broken("a function does not end as one");
    f->results = sp__arena_alloc(&r->g->arena, (size_t)(f->n_results + 1) * sizeof *f->results);
    if (!f->results) return SP_NOMEM;
    for (int i = 0; i < f->n_results; i++) SP_TRY(get_ref(r, f, &f->results[i]));
    f->finished = true;
    return SP_OK;
}

/* Constants that passes made. They need a function to belong to: the first. */
static sp_status get_made(reader *r, const sp_meta *m, bool weak, sp_function *f)
{
    sp_tensor *t;
    SP_TRY(sp_tensor_create(m->dtype, m->rank, m->dims, &t));
    sp_status status = get_plain(r->in, sp_tensor_bytes(t), t->data);
    if (status == SP_OK && weak) t->flags |= SP_TENSOR_WEAK;
    sp_value *v = status == SP_OK ? sp__value_constant(f, t) : NULL;
    sp_tensor_release(t);
    if (status == SP_OK && !v) return SP_NOMEM;
    if (v) r->made[r->n_made++] = v;
    return status;
}

/* Made constants come first in the bytes, functions are created before anything refers to them. */
static sp_status get_graph(reader *r)
{
    const int n_made = sp__bytes_get_count(r->in);
    sp_bytes_in made = *r->in;
    r->made = sp__arena_alloc(&r->scratch, (size_t)(n_made + 1) * sizeof *r->made);
    r->constants = sp__arena_alloc(&r->scratch, (size_t)(r->o->constants.n + 1) * sizeof *r->constants);
    if (!r->made || !r->constants) return SP_NOMEM;
    for (int k = 0; k < n_made; k++) { /* skipped: read below */
        sp_meta m;
        bool is_function, weak;
        int64_t count;
        SP_TRY(get_meta(r->in, &m, &is_function, &weak));
        if (!sp__meta_known(&m) || sp__shape_count(m.rank, m.dims, &count) != SP_OK || count > SP_MADE_BYTES)
            return broken("a constant is malformed");
        sp__bytes_get(r->in, (size_t)count * sp_dtype_bytes(m.dtype));
    }
    const uint64_t entry = sp__bytes_get_uint(r->in);
    r->n_functions = sp__bytes_get_count(r->in);
    if (r->in->failed || entry >= (uint64_t)r->n_functions) return broken("there is no entry");
    r->functions = sp__arena_alloc(&r->scratch, (size_t)r->n_functions * sizeof *r->functions);
    if (!r->functions) return SP_NOMEM;
    for (int k = 0; k < r->n_functions; k++) {
        const char *name = NULL;
        SP_TRY(get_text(r, &name));
        if (!(r->functions[k] = sp__function_create(r->g, NULL, name))) return SP_NOMEM;
    }
    r->g->entry = r->functions[entry];
    sp_bytes_in *rest = r->in;
    r->in = &made;
    for (int k = 0; k < n_made; k++) {
        sp_meta m;
        bool is_function, weak;
        SP_TRY(get_meta(r->in, &m, &is_function, &weak));
        SP_TRY(get_made(r, &m, weak, r->functions[0]));
    }
    r->in = rest;
    for (int k = 0; k < r->n_functions; k++) SP_TRY(get_function(r, r->functions[k]));
    if (r->in->failed || r->in->at != r->in->end) return broken("there are bytes behind the end");
    return sp__graph_verify(r->g);
}

sp_status sp__outer_read(const sp_outer_program *o, sp_bytes_in *in, sp_graph **out)
{
    reader r = {.o = o, .in = in};
    SP_TRY(sp_graph_create(&r.g));
    sp_status status = get_graph(&r);
    if (status == SP_OK && r.g->entry->n_params != o->f->n_params) status = broken("the entry takes other arguments");
    sp__free(r.values);
    sp__arena_free(&r.scratch);
    if (status == SP_OK) *out = r.g;
    else sp_graph_release(r.g);
    return status;
}
