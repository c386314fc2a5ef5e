/* SPDX-License-Identifier: Apache-2.0 */
/* close.c - closure conversion: values a function uses but does not own become parameters of it.
 *
 * What a function needs from outside is what its nodes use directly, and what the functions it mentions need, unless it owns
 * that value itself. The sets grow until they stand still, so that functions may mention each other in any way. Then every
 * function gets its set as its first parameters, and every mention of it becomes a PARTIAL that binds them; a direct call gets
 * them as arguments. Constants and functions are not values of anyone's frame and stay as they are. */
#include "ir/graph_impl.h"

typedef struct {
    sp_value **v;      /* outer values, in order of discovery */
    sp_value **inside; /* the parameter that stands for each */
    int n, capacity;
} free_set;

static bool is_local(const sp_value *v) { return v->origin == SP_VALUE_NODE || v->origin == SP_VALUE_PARAM; }

static int find(const free_set *s, const sp_value *v)
{
    for (int i = 0; i < s->n; i++)
        if (s->v[i] == v) return i;
    return -1;
}

static sp_status need(sp_function *f, free_set *s, sp_value *v, bool *grew)
{
    if (v->owner == f || find(s, v) >= 0) return SP_OK;
    if (s->n == s->capacity) {
        int more = s->capacity ? 2 * s->capacity : 8;
        sp_value **bigger = sp__realloc(s->v, (size_t)s->capacity * sizeof *bigger, (size_t)more * sizeof *bigger);
        if (!bigger) return SP_NOMEM;
        s->v = bigger;
        s->capacity = more;
    }
    s->v[s->n++] = v;
    *grew = true;
    return SP_OK;
}

static sp_status need_use(sp_function *f, free_set *sets, sp_value *v, bool *grew)
{
    if (!v) return SP_OK;
    if (is_local(v)) return need(f, &sets[f->id], v, grew);
    if (v->origin != SP_VALUE_FUNCTION) return SP_OK;
    const free_set *theirs = &sets[v->target->id];
    for (int i = 0; i < theirs->n; i++) SP_TRY(need(f, &sets[f->id], theirs->v[i], grew));
    return SP_OK;
}

static sp_status collect(sp_graph *g, free_set *sets)
{
    bool grew = true;
    while (grew) {
        grew = false;
        for (sp_function *f = g->first; f; f = f->next) {
            for (sp_node *n = f->first; n; n = n->next)
                for (int i = 0; i < n->n_in; i++) SP_TRY(need_use(f, sets, n->in[i], &grew));
            for (int i = 0; i < f->n_results; i++) SP_TRY(need_use(f, sets, f->results[i], &grew));
        }
    }
    return SP_OK;
}

/* The set as parameters in front of the function's own. */
static sp_status add_params(sp_function *f, free_set *s)
{
    if (!s->n) return SP_OK;
    int own = f->n_params;
    sp_value **params = sp__arena_alloc(&f->graph->arena, (size_t)(own + s->n) * sizeof *params);
    s->inside = sp__alloc((size_t)s->n * sizeof *s->inside);
    if (!params || !s->inside) return SP_NOMEM;
    for (int i = 0; i < s->n; i++) {
        sp_value *p = sp__function_add_param(f, &s->v[i]->meta, s->v[i]->is_function);
        if (!p) return SP_NOMEM;
        p->weak = s->v[i]->weak;
        s->inside[i] = params[i] = p;
    }
    for (int i = 0; i < own; i++) params[s->n + i] = f->params[i];
    f->params = params;
    f->n_params = f->params_capacity = own + s->n;
    for (int i = 0; i < f->n_params; i++) params[i]->index = i;
    return SP_OK;
}

static sp_value *inside_of(const sp_function *f, const free_set *sets, sp_value *v)
{
    if (v->owner == f) return v;
    int at = find(&sets[f->id], v);
    return at < 0 ? v : sets[f->id].inside[at];
}

/* A direct call hands the callee's set over as arguments: n gets a longer list of inputs. */
static sp_status extend_call(sp_node *n, const free_set *sets)
{
    const free_set *theirs = &sets[n->in[0]->target->id];
    sp_value **in = sp__arena_alloc(&n->owner->graph->arena, (size_t)(n->n_in + theirs->n) * sizeof *in);
    if (!in) return SP_NOMEM;
    in[0] = n->in[0];
    for (int i = 0; i < theirs->n; i++) in[1 + i] = inside_of(n->owner, sets, theirs->v[i]);
    for (int i = 1; i < n->n_in; i++) in[theirs->n + i] = n->in[i];
    n->in = in;
    n->n_in += theirs->n;
    if (n->grad) {
        int *positions =
            sp__arena_alloc(&n->owner->graph->arena, (size_t)(n->grad->n_positions + 1) * sizeof *positions);
        if (!positions) return SP_NOMEM;
        for (int i = 0; i < n->grad->n_positions; i++) positions[i] = n->grad->positions[i] + theirs->n;
        n->grad->positions = positions;
    }
    return SP_OK;
}

/* A function mentioned as a value: bound to its set where it is mentioned. */
static sp_status bind_mention(sp_function *f, sp_node *at, const free_set *sets, sp_value **slot)
{
    sp_value *v = *slot;
    if (!v || v->origin != SP_VALUE_FUNCTION || !sets[v->target->id].n) return SP_OK;
    const free_set *theirs = &sets[v->target->id];
    sp_value **in = sp__alloc((size_t)(theirs->n + 1) * sizeof *in);
    if (!in) return SP_NOMEM;
    in[0] = v;
    for (int i = 0; i < theirs->n; i++) in[1 + i] = inside_of(f, sets, theirs->v[i]);
    sp_node *p = at ? sp__node_insert(at, SP_NODE_PARTIAL, theirs->n + 1, in, 1)
                    : sp__node_append(f, SP_NODE_PARTIAL, theirs->n + 1, in, 1);
    sp__free(in);
    if (!p) return SP_NOMEM;
    p->out[0]->is_function = true;
    p->out[0]->meta = v->meta;
    *slot = p->out[0];
    return SP_OK;
}

static sp_status rewrite(sp_function *f, const free_set *sets)
{
    for (sp_node *n = f->first; n; n = n->next) {
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] && is_local(n->in[i])) n->in[i] = inside_of(f, sets, n->in[i]);
        bool calls = n->kind == SP_NODE_CALL || n->kind == SP_NODE_GRAD || n->kind == SP_NODE_PARTIAL;
        bool direct = calls && n->in[0]->origin == SP_VALUE_FUNCTION;
        for (int i = direct ? 1 : 0; i < n->n_in; i++) SP_TRY(bind_mention(f, n, sets, &n->in[i]));
        if (direct && sets[n->in[0]->target->id].n) SP_TRY(extend_call(n, sets));
    }
    for (int i = 0; i < f->n_results; i++) {
        if (is_local(f->results[i])) f->results[i] = inside_of(f, sets, f->results[i]);
        SP_TRY(bind_mention(f, NULL, sets, &f->results[i]));
    }
    return SP_OK;
}

sp_status sp__graph_close(sp_graph *g)
{
    free_set *sets = sp__alloc_zero((size_t)g->n_functions * sizeof *sets);
    if (!sets) return SP_NOMEM;
    sp_status status;
    SP_GOTO(done, collect(g, sets));
    for (sp_function *f = g->first; f; f = f->next) SP_GOTO(done, add_params(f, &sets[f->id]));
    for (sp_function *f = g->first; f; f = f->next) SP_GOTO(done, rewrite(f, sets));
done:
    for (int i = 0; i < g->n_functions; i++) {
        sp__free(sets[i].v);
        sp__free(sets[i].inside);
    }
    sp__free(sets);
    return status;
}
