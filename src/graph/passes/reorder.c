/* SPDX-License-Identifier: Apache-2.0 */
/* reorder.c - nodes that free more memory than they take run as soon as they can.
 *
 * The order of the program is kept, except that a node is moved up to where it becomes possible if that does not make more
 * memory live: above all the update of a weight, which then runs when its gradient is there and the weight is not needed any
 * more, instead of at the end, when all gradients are alive at once.
 *
 * What uses the result of an exchange between ranks is not moved up, so that other nodes come in between while the exchange goes on (plan_overlap.c):
 * until a node in the order of the program has used it, or the memory of the exchanges that go on is more than IN_FLIGHT_BYTES.
 *
 * A node waits for what it uses; for reads and stores of the same variable in their order; and, if it overwrites something
 * (a variable, or what an operator that writes in place gets), for all earlier uses of it, as else a copy would be needed.
 * Code outside the graph and calls are not passed by reads and stores. */
#include "graph/passes/passes.h"

enum { FEW_BYTES = 256, IN_FLIGHT_BYTES = 64 << 20 };

/* What views make of one value. */
typedef struct {
    int64_t bytes;      /* of the memory; -1: not known */
    int n_uses, n_done; /* nodes that use it; of these, scheduled */
    int users;          /* list of edges, -1: end */
    bool leaves;        /* a result, or no memory of this function's own */
    int flight;         /* the exchange that makes it goes on: its node; -1: none does */
} value_set;

typedef struct {
    int node, next;
} link;

typedef struct {
    sp_function *f;
    int n;
    sp_node **nodes;
    int *waiting; /* by node: how many it waits for */
    int *after;   /* by node: list of those that wait for it */
    link *links;
    int n_links, links_capacity;
    value_set *sets;
    int n_sets;
    int *set_of; /* by value number (mark - 1) */
    int n_values;
    bool *placed;
    int *queue; /* new order */
    int n_queue;
    int *flights; /* exchanges that go on, the oldest first */
    int n_flights;
    int64_t flight_bytes;
    int *landed; /* those that were over before the program used them */
    int n_landed;
} scheduler;

static sp_status add_link(scheduler *s, int *list, int node)
{
    if (s->n_links == s->links_capacity) {
        int more = 2 * s->links_capacity;
        link *bigger = sp__realloc(s->links, (size_t)s->links_capacity * sizeof *bigger, (size_t)more * sizeof *bigger);
        if (!bigger) return SP_NOMEM;
        s->links = bigger;
        s->links_capacity = more;
    }
    s->links[s->n_links] = (link){node, *list};
    *list = s->n_links++;
    return SP_OK;
}

/* `node` waits for `before`. */
static sp_status wait_for(scheduler *s, int node, int before)
{
    if (before < 0 || before == node) return SP_OK;
    SP_TRY(add_link(s, &s->after[before], node));
    s->waiting[node]++;
    return SP_OK;
}

static value_set *set_of(scheduler *s, const sp_value *v) { return &s->sets[s->set_of[(intptr_t)v->mark - 1]]; }

static int64_t bytes_of(const sp_value *v)
{
    int64_t count;
    if (!sp__meta_known(&v->meta) || sp__shape_count(v->meta.rank, v->meta.dims, &count) != SP_OK) return -1;
    return count * (int64_t)sp_dtype_bytes(v->meta.dtype);
}

static void meet(scheduler *s, sp_value *v, int set)
{
    if (!v || v->mark) return;
    if (set < 0) {
        set = s->n_sets++;
        s->sets[set] =
            (value_set){.bytes = bytes_of(v), .users = -1, .leaves = v->origin != SP_VALUE_NODE, .flight = -1};
    }
    s->set_of[s->n_values++] = set;
    v->mark = (void *)(intptr_t)s->n_values;
}

static bool is_barrier(const sp_node *n)
{
    return n->kind == SP_NODE_CALL || n->kind == SP_NODE_GRAD || (n->kind == SP_NODE_HOST && !n->host->pure);
}

/* Everything that uses the set so far goes before `node`, which overwrites it. */
static sp_status wait_for_users(scheduler *s, int node, const value_set *set)
{
    for (int l = set->users; l >= 0; l = s->links[l].next) SP_TRY(wait_for(s, node, s->links[l].node));
    return SP_OK;
}

/* State of a variable during the survey. */
typedef struct {
    int store; /* last one */
    int reads; /* since then: list of nodes */
} variable_state;

/* What has an order of its own during the survey: the last node of its kind. */
typedef struct {
    int barrier;
    int collective; /* ranks make their exchanges in the order of the program */
} last_effects;

static sp_status survey_effects(scheduler *s, int i, variable_state *v, last_effects *last)
{
    const sp_node *n = s->nodes[i];
    int *barrier = &last->barrier;
    if (n->kind == SP_NODE_OP && n->op->collective) {
        SP_TRY(wait_for(s, i, last->collective));
        SP_TRY(wait_for(s, i, *barrier));
        last->collective = i;
        return SP_OK;
    }
    if (n->kind == SP_NODE_READ) {
        SP_TRY(wait_for(s, i, v[n->variable->id].store));
        SP_TRY(wait_for(s, i, *barrier));
        return add_link(s, &v[n->variable->id].reads, i);
    }
    if (n->kind == SP_NODE_STORE) {
        variable_state *w = &v[n->variable->id];
        SP_TRY(wait_for(s, i, w->store));
        SP_TRY(wait_for(s, i, *barrier));
        for (int l = w->reads; l >= 0; l = s->links[l].next) {
            SP_TRY(wait_for(s, i, s->links[l].node));
            SP_TRY(wait_for_users(s, i, set_of(s, s->nodes[s->links[l].node]->out[0])));
        }
        w->store = i;
        w->reads = -1;
        return SP_OK;
    }
    if (!is_barrier(n)) return SP_OK;
    for (int k = 0; k < i; k++) {
        const sp_node *m = s->nodes[k];
        if (k > *barrier && (m->kind == SP_NODE_READ || m->kind == SP_NODE_STORE)) SP_TRY(wait_for(s, i, k));
    }
    SP_TRY(wait_for(s, i, *barrier));
    SP_TRY(wait_for(s, i, last->collective));
    *barrier = i;
    return SP_OK;
}

static sp_status survey_node(scheduler *s, int i)
{
    const sp_node *n = s->nodes[i];
    for (int k = 0; k < n->n_in; k++) {
        sp_value *v = n->in[k];
        if (!v) continue;
        meet(s, v, -1);
        if (v->origin == SP_VALUE_NODE && v->owner == s->f) SP_TRY(wait_for(s, i, v->node->order));
    }
    if (n->kind == SP_NODE_OP && n->op->writes)
        for (int k = 0; k < n->n_in && k < 8; k++)
            if (n->op->writes >> k & 1) SP_TRY(wait_for_users(s, i, set_of(s, n->in[k])));
    for (int k = 0; k < n->n_in; k++) {
        if (!n->in[k]) continue;
        value_set *set = set_of(s, n->in[k]);
        if (set->users >= 0 && s->links[set->users].node == i) continue;
        SP_TRY(add_link(s, &set->users, i));
        set->n_uses++;
    }
    const bool view = n->kind == SP_NODE_OP && n->op->view && n->n_in && n->in[0];
    for (int k = 0; k < n->n_out; k++) {
        meet(s, n->out[k], view ? s->set_of[(intptr_t)n->in[0]->mark - 1] : -1);
        if (n->kind == SP_NODE_READ) set_of(s, n->out[k])->leaves = true; /* the variable's memory */
    }
    return SP_OK;
}

static sp_status survey(scheduler *s)
{
    const int n_variables = s->f->graph->n_variables;
    variable_state *v = sp__alloc((size_t)(n_variables + 1) * sizeof *v);
    if (!v) return SP_NOMEM;
    for (int k = 0; k < n_variables; k++) v[k] = (variable_state){-1, -1};
    last_effects last = {-1, -1};
    sp_status status = SP_OK;
    for (int i = 0; i < s->n; i++) {
        SP_GOTO(done, survey_node(s, i));
        SP_GOTO(done, survey_effects(s, i, v, &last));
    }
    for (int i = 0; i < s->f->n_results; i++)
        if (s->f->results[i]->mark) set_of(s, s->f->results[i])->leaves = true;
done:
    sp__free(v);
    return status;
}

/* Would running it now leave no more memory alive than before? A few bytes do not count: a learning rate that is looked up
 * must not hold back the updates that wait for it. */
static bool shrinks(scheduler *s, int i)
{
    const sp_node *n = s->nodes[i];
    if (n->kind == SP_NODE_STORE || n->kind == SP_NODE_READ) return true;
    if (n->kind != SP_NODE_OP) return false;
    int64_t taken = 0, freed = 0;
    if (!n->op->writes && !n->op->view)
        for (int k = 0; k < n->n_out; k++) {
            int64_t bytes = bytes_of(n->out[k]);
            if (bytes < 0) return false;
            taken += bytes;
        }
    for (int k = 0; k < n->n_in; k++) {
        if (!n->in[k]) continue;
        const value_set *set = set_of(s, n->in[k]);
        bool seen = false;
        for (int j = 0; j < k && !seen; j++) seen = n->in[j] && set_of(s, n->in[j]) == set;
        if (!seen && !set->leaves && set->n_done + 1 == set->n_uses && set->bytes > 0) freed += set->bytes;
    }
    return taken <= freed || taken <= FEW_BYTES;
}

/* --- exchanges that go on ---------------------------------------------------------------------------------------- */

static bool is_exchange(const sp_node *n) { return n->kind == SP_NODE_OP && n->op->await; }

static int64_t exchange_bytes(scheduler *s, int i)
{
    const sp_node *n = s->nodes[i];
    int64_t bytes = 0;
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] && set_of(s, n->in[k])->bytes > 0) bytes += set_of(s, n->in[k])->bytes;
    for (int k = 0; k < n->n_out; k++)
        if (set_of(s, n->out[k])->bytes > 0) bytes += set_of(s, n->out[k])->bytes;
    return bytes;
}

/* It does not go on any more. */
static void land(scheduler *s, int i)
{
    int at = 0;
    while (at < s->n_flights && s->flights[at] != i) at++;
    if (at == s->n_flights) return;
    for (s->n_flights--; at < s->n_flights; at++) s->flights[at] = s->flights[at + 1];
    s->flight_bytes -= exchange_bytes(s, i);
    const sp_node *n = s->nodes[i];
    for (int k = 0; k < n->n_out; k++) set_of(s, n->out[k])->flight = -1;
}

static void take_off(scheduler *s, int i)
{
    const sp_node *n = s->nodes[i];
    for (int k = 0; k < n->n_out; k++) set_of(s, n->out[k])->flight = i;
    s->flights[s->n_flights++] = i;
    s->flight_bytes += exchange_bytes(s, i);
    while (s->n_flights > 1 && s->flight_bytes > IN_FLIGHT_BYTES) {
        s->landed[s->n_landed++] = s->flights[0];
        land(s, s->flights[0]);
    }
}

/* The exchange whose result the node needs, beginning with input *k; -1: none. Views look at no contents. */
static int flight_of(scheduler *s, int i, int *k)
{
    const sp_node *n = s->nodes[i];
    if (n->kind == SP_NODE_OP && n->op->view) return -1;
    for (; *k < n->n_in; ++*k)
        if (n->in[*k] && set_of(s, n->in[*k])->flight >= 0) return set_of(s, n->in[*k])->flight;
    return -1;
}

/* --- the new order ----------------------------------------------------------------------------------------------- */

static void place(scheduler *s, int i)
{
    s->placed[i] = true;
    s->queue[s->n_queue++] = i;
    const sp_node *n = s->nodes[i];
    for (int k = 0, flight; (flight = flight_of(s, i, &k)) >= 0;) land(s, flight);
    for (int k = 0; k < n->n_in; k++) {
        bool seen = !n->in[k];
        for (int j = 0; j < k && !seen; j++) seen = n->in[j] && set_of(s, n->in[j]) == set_of(s, n->in[k]);
        if (!seen) set_of(s, n->in[k])->n_done++;
    }
    for (int l = s->after[i]; l >= 0; l = s->links[l].next) s->waiting[s->links[l].node]--;
    if (is_exchange(n)) take_off(s, i);
}

/* Those of a list that have become possible, in the order of the program; `next` comes anyway. */
static int place_possible(scheduler *s, int list, int next)
{
    int moved = 0;
    for (int l = list; l >= 0; l = s->links[l].next) {
        const int m = s->links[l].node;
        int k = 0;
        if (s->placed[m] || s->waiting[m] > 0 || m == next || flight_of(s, m, &k) >= 0 || !shrinks(s, m)) continue;
        place(s, m);
        moved++;
    }
    return moved;
}

static int schedule(scheduler *s)
{
    int moved = 0;
    for (int i = 0; i < s->n; i++) /* reads of what nobody has stored to yet take nothing and wait for nothing */
        if (s->nodes[i]->kind == SP_NODE_READ && !s->waiting[i]) place(s, i);
    for (int i = -1; i < s->n; i++) {
        int from = i < 0 ? 0 : s->n_queue; /* first what the reads made possible */
        if (i >= 0 && s->placed[i]) continue;
        if (i >= 0) place(s, i);
        /* What waited for the nodes placed just now may have become possible, and what waited for the end of an exchange. */
        while (from < s->n_queue || s->n_landed > 0) {
            if (from < s->n_queue) {
                moved += place_possible(s, s->after[s->queue[from++]], i + 1);
                continue;
            }
            const sp_node *n = s->nodes[s->landed[--s->n_landed]];
            for (int k = 0; k < n->n_out; k++) moved += place_possible(s, set_of(s, n->out[k])->users, i + 1);
        }
    }
    return moved;
}

static void relink(scheduler *s)
{
    sp_node *last = NULL;
    for (int k = 0; k < s->n; k++) {
        sp_node *n = s->nodes[s->queue[k]];
        n->prev = last;
        n->next = NULL;
        if (last) last->next = n;
        else s->f->first = n;
        last = n;
    }
    s->f->last = last;
}

static sp_status order_function(sp_function *f, int *count)
{
    scheduler s = {.f = f};
    size_t uses = (size_t)f->n_params + 1;
    sp__function_number(f);
    for (sp_node *n = f->first; n; n = n->next) {
        uses += (size_t)(n->n_in + n->n_out);
        s.n++;
    }
    const size_t n = (size_t)s.n + 1;
    s.links_capacity = (int)(4 * uses) + 64;
    s.nodes = sp__alloc(n * sizeof *s.nodes);
    s.waiting = sp__alloc_zero(n * sizeof *s.waiting);
    s.after = sp__alloc(n * sizeof *s.after);
    s.placed = sp__alloc_zero(n * sizeof *s.placed);
    s.queue = sp__alloc(n * sizeof *s.queue);
    s.flights = sp__alloc(n * sizeof *s.flights);
    s.landed = sp__alloc(n * sizeof *s.landed);
    s.sets = sp__alloc(uses * sizeof *s.sets);
    s.set_of = sp__alloc(uses * sizeof *s.set_of);
    s.links = sp__alloc((size_t)s.links_capacity * sizeof *s.links);
    sp_status status = SP_NOMEM;
    if (!s.nodes || !s.waiting || !s.after || !s.placed || !s.queue || !s.flights || !s.landed || !s.sets ||
        !s.set_of || !s.links)
        goto done;
    int i = 0;
    for (sp_node *m = f->first; m; m = m->next) {
        s.after[i] = -1;
        s.nodes[i++] = m;
    }
    SP_GOTO(done, survey(&s));
    *count += schedule(&s);
    relink(&s);
done:
    sp__free(s.nodes);
    sp__free(s.waiting);
    sp__free(s.after);
    sp__free(s.placed);
    sp__free(s.queue);
    sp__free(s.flights);
    sp__free(s.landed);
    sp__free(s.sets);
    sp__free(s.set_of);
    sp__free(s.links);
    return status;
}

static sp_status order_run(sp_graph *g, int *count)
{
    sp_status status = SP_OK;
    sp__marks_clear(g);
    for (sp_function *f = g->first; f && status == SP_OK; f = f->next) {
        /* Histories are walked in the order they were made: below a GRAD node it must stay. */
        sp__recorded_mark(g);
        bool recorded = f->mark != NULL;
        if (!recorded) status = order_function(f, count);
        sp__marks_clear(g); /* constants are met by several functions */
    }
    return status;
}

const sp_pass sp_pass_order = {
    .name = "order",
    .what = "nodes moved up",
    .doc = "Nodes that free more memory than they take run as soon as they can.",
    .run = order_run,
};
