/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - a graph of its own for each program, so that passes change nothing that others see: the recorded graph can be
 * printed, compiled once more with other options, and compiled by two threads at a time.
 *
 * Two walks: the first makes functions, parameters and nodes, the second connects them, because a nested function may use
 * values of the one around it that are made later in the list. */
#include "graph/program.h"

typedef struct {
    sp_graph *from, *to;
    sp_value **values; /* by id in `from` */
    sp_function **functions;
    sp_function **reached; /* in the order they were found */
    int n_reached;
} copier;

static void reach(copier *c, sp_function *f)
{
    if (c->functions[f->id]) return;
    c->functions[f->id] = f;
    c->reached[c->n_reached++] = f;
}

static void reach_value(copier *c, const sp_value *v)
{
    if (v && v->origin == SP_VALUE_FUNCTION) reach(c, v->target);
}

static void reach_all(copier *c, sp_function *entry)
{
    reach(c, entry);
    for (int k = 0; k < c->n_reached; k++) {
        sp_function *f = c->reached[k];
        for (sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++) reach_value(c, n->in[i]);
        for (int i = 0; i < f->n_results; i++) reach_value(c, f->results[i]);
    }
}

static sp_status copy_payload(copier *c, const sp_node *n, sp_node *m)
{
    m->place = n->place;
    if (n->op) SP_TRY(sp__node_set_op(m, n->op, n->attrs));
    if (n->host) SP_TRY(sp__node_set_host(m, n->host));
    if (n->variable) {
        if (!(m->variable = sp__graph_variable(c->to, n->variable->tensor))) return SP_NOMEM;
        m->variable->written |= n->kind == SP_NODE_STORE;
    }
    if (!n->grad) return SP_OK;
    const sp_grad_spec *g = n->grad;
    sp_grad_spec *copy = sp__arena_alloc(&c->to->arena, sizeof *copy);
    int *positions = sp__arena_alloc(&c->to->arena, (size_t)(g->n_positions + 1) * sizeof *positions);
    sp_variable **variables = sp__arena_alloc(&c->to->arena, (size_t)(g->n_variables + 1) * sizeof(void *));
    if (!copy || !positions || !variables) return SP_NOMEM;
    *copy = *g;
    for (int i = 0; i < g->n_positions; i++) positions[i] = g->positions[i];
    for (int i = 0; i < g->n_variables; i++)
        if (!(variables[i] = sp__graph_variable(c->to, g->variables[i]->tensor))) return SP_NOMEM;
    copy->positions = positions;
    copy->variables = variables;
    m->grad = copy;
    return SP_OK;
}

static void copy_value(copier *c, const sp_value *v, sp_value *to)
{
    to->meta = v->meta;
    to->is_function = v->is_function;
    to->weak = v->weak;
    c->values[v->id] = to;
}

/* The function and its nodes, with inputs left open. */
static sp_status copy_body(copier *c, sp_function *f)
{
    sp_function *to = c->functions[f->id];
    for (int i = 0; i < f->n_params; i++) {
        sp_value *p = sp__function_add_param(to, &f->params[i]->meta, f->params[i]->is_function);
        if (!p) return SP_NOMEM;
        copy_value(c, f->params[i], p);
    }
    for (sp_node *n = f->first; n; n = n->next) {
        /* The old inputs for now: connect() replaces every one of them. */
        sp_node *m = sp__node_append(to, n->kind, n->n_in, n->in, n->n_out);
        if (!m) return SP_NOMEM;
        for (int i = 0; i < n->n_out; i++) copy_value(c, n->out[i], m->out[i]);
        SP_TRY(copy_payload(c, n, m));
        if (f->tail == n) to->tail = m;
    }
    to->finished = f->finished;
    return SP_OK;
}

static sp_status connected(copier *c, sp_function *f, sp_value *v, sp_value **out)
{
    *out = NULL;
    if (!v) return SP_OK;
    if (!c->values[v->id] && v->origin == SP_VALUE_CONSTANT) {
        sp_value *k = sp__value_constant(f, v->constant);
        if (!k) return SP_NOMEM;
        copy_value(c, v, k);
    }
    if (!c->values[v->id] && v->origin == SP_VALUE_FUNCTION) {
        sp_value *k = sp__value_function(f, c->functions[v->target->id]);
        if (!k) return SP_NOMEM;
        c->values[v->id] = k;
    }
    SP_CHECK(c->values[v->id], SP_RUNTIME, "function %s uses value %d of %s, which is not part of the program", f->name,
             v->id, v->owner ? v->owner->name : "no function");
    *out = c->values[v->id];
    return SP_OK;
}

static sp_status connect(copier *c, sp_function *f)
{
    sp_function *to = c->functions[f->id];
    for (sp_node *n = to->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++) SP_TRY(connected(c, to, n->in[i], &n->in[i]));
    to->results = sp__arena_alloc(&c->to->arena, (size_t)(f->n_results + 1) * sizeof *to->results);
    if (!to->results) return SP_NOMEM;
    to->n_results = f->n_results;
    for (int i = 0; i < f->n_results; i++) SP_TRY(connected(c, to, f->results[i], &to->results[i]));
    return SP_OK;
}

static sp_status copy_functions(copier *c, sp_function *entry)
{
    reach_all(c, entry);
    for (int k = 0; k < c->n_reached; k++) {
        const sp_function *f = c->reached[k];
        SP_CHECK(f->finished, SP_VALUE, "function %s is not finished: end its recording before the program is made",
                 f->name);
        c->functions[f->id] = sp__function_create(c->to, NULL, f->name);
        if (!c->functions[f->id]) return SP_NOMEM;
    }
    for (int k = 0; k < c->n_reached; k++) {
        const sp_function *parent = c->reached[k]->parent;
        if (parent) c->functions[c->reached[k]->id]->parent = c->functions[parent->id];
    }
    for (int k = 0; k < c->n_reached; k++) SP_TRY(copy_body(c, c->reached[k]));
    for (int k = 0; k < c->n_reached; k++) SP_TRY(connect(c, c->reached[k]));
    c->to->entry = c->functions[entry->id];
    return SP_OK;
}

sp_status sp__graph_copy(sp_function *f, sp_graph **out)
{
    copier c = {.from = f->graph};
    sp_status status = SP_NOMEM;
    SP_TRY(sp_graph_create(&c.to));
    size_t n = (size_t)c.from->n_functions + 1;
    c.values = sp__alloc_zero(((size_t)c.from->next_value + 1) * sizeof *c.values);
    c.functions = sp__alloc_zero(2 * n * sizeof *c.functions);
    if (!c.values || !c.functions) goto done;
    c.reached = c.functions + n;
    SP_GOTO(done, copy_functions(&c, f));
    *out = c.to;
    c.to = NULL;
done:
    sp__free(c.values);
    sp__free(c.functions);
    sp_graph_release(c.to);
    return status;
}
