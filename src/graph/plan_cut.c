/* SPDX-License-Identifier: Apache-2.0 */
/* plan_cut.c - which nodes of a placed plan the CPU computes although the device could, because that spares copies.
 *
 * A first walk says where each node would be computed, what it would cost the CPU, and which nodes have no choice: those that the device has no kernel
 * for, and those that belong to the CPU. The rest is a minimum cut: on the source's side is the device, on the sink's the CPU. A node on the CPU costs its time,
 * a node on the device nothing, a value whose maker and users are on different sides one copy, however many the users are:
 *
 *     maker -> out (copy), out -> user (infinite)      the maker is on the device, some user on the CPU
 *     user -> in (infinite), in -> maker (copy)        the maker is on the CPU, some user on the device
 *
 * Flow is pushed along shortest paths (Dinic). Nodes that could be on either side stay on the device. */
#include <stdlib.h>

#include "device/devices.h"
#include "graph/planner.h"
#include "ops/ops_impl.h"

enum { DEVICE = 0, CPU = 1 };
#define ENDLESS (INT64_MAX / 4)

typedef struct {
    int to, next; /* next edge of the vertex; the one back is edge ^ 1 */
    int64_t left;
} edge;

typedef struct {
    int n_vertices, n_edges, edges_capacity;
    int *first, *level, *at, *queue;
    edge *edges;
    bool failed;
} network;

static void add_edge(network *g, int from, int to, int64_t capacity)
{
    if (g->n_edges + 2 > g->edges_capacity) {
        const int more = g->edges_capacity ? 2 * g->edges_capacity : 1024;
        edge *edges = sp__realloc(g->edges, (size_t)g->edges_capacity * sizeof *edges, (size_t)more * sizeof *edges);
        if (!edges) g->failed = true;
        if (!edges) return;
        g->edges = edges;
        g->edges_capacity = more;
    }
    g->edges[g->n_edges] = (edge){to, g->first[from], capacity};
    g->first[from] = g->n_edges++;
    g->edges[g->n_edges] = (edge){from, g->first[to], 0};
    g->first[to] = g->n_edges++;
}

/* Distances from the device's side over edges with capacity left. */
static bool levels(network *g)
{
    for (int v = 0; v < g->n_vertices; v++) g->level[v] = -1;
    int n = 0;
    g->level[DEVICE] = 0;
    g->queue[n++] = DEVICE;
    for (int i = 0; i < n; i++)
        for (int e = g->first[g->queue[i]]; e >= 0; e = g->edges[e].next)
            if (g->edges[e].left > 0 && g->level[g->edges[e].to] < 0) {
                g->level[g->edges[e].to] = g->level[g->queue[i]] + 1;
                g->queue[n++] = g->edges[e].to;
            }
    return g->level[CPU] >= 0;
}

/* One path to the CPU's side; without recursion, for programs are long. `queue` has the edges of the path. */
static bool push(network *g)
{
    int depth = 0, v = DEVICE;
    while (v != CPU) {
        int e = g->at[v];
        while (e >= 0 && !(g->edges[e].left > 0 && g->level[g->edges[e].to] == g->level[v] + 1)) e = g->edges[e].next;
        g->at[v] = e;
        if (e >= 0) {
            g->queue[depth++] = e;
            v = g->edges[e].to;
        } else {
            if (depth == 0) return false;
            g->level[v] = -1; /* a dead end */
            v = g->edges[g->queue[--depth] ^ 1].to;
        }
    }
    int64_t most = ENDLESS;
    for (int i = 0; i < depth; i++)
        if (g->edges[g->queue[i]].left < most) most = g->edges[g->queue[i]].left;
    for (int i = 0; i < depth; i++) {
        g->edges[g->queue[i]].left -= most;
        g->edges[g->queue[i] ^ 1].left += most;
    }
    return true;
}

/* Vertices from which capacity is left to the CPU's side get level 1, the others 0. */
static void sides(network *g)
{
    for (int v = 0; v < g->n_vertices; v++) g->level[v] = 0;
    int n = 0;
    g->level[CPU] = 1;
    g->queue[n++] = CPU;
    for (int i = 0; i < n; i++)
        for (int e = g->first[g->queue[i]]; e >= 0; e = g->edges[e].next)
            if (g->edges[e ^ 1].left > 0 && !g->level[g->edges[e].to]) {
                g->level[g->edges[e].to] = 1;
                g->queue[n++] = g->edges[e].to;
            }
}

/* The vertex where a value is made; its own, or that of the value it shows. -1: it is wherever it is needed. */
static int maker(const sp_planner *l, const sp_value *v)
{
    return v->origin == SP_VALUE_CONSTANT ? -1 : sp__planned(l, v)->vertex;
}

static int side_of(sp_device *d) { return d ? DEVICE : CPU; }

static int64_t copy_ns(const sp_planner *l, const sp_device_costs *costs, const sp_value *v)
{
    const sp_tensor *t = &l->p->handles[sp__planned(l, v)->handle].shape;
    return (int64_t)(1000 * costs->copy_us + (double)sp_tensor_bytes(t) / costs->copy_gb_per_s);
}

/* Vertices of the two copies of each value; values that device_copy makes share those of its input. */
typedef struct {
    network g;
    sp_device_costs costs;
    int *out, *in; /* by value, 0: not there */
} problem;

static void uses(problem *b, const sp_planner *l, const sp_value *v, int user)
{
    const int from = maker(l, v);
    if (from < 0 || from == user) return;
    const int k = (int)((intptr_t)v->mark - 1);
    if (!b->out[k]) {
        const int64_t cost = copy_ns(l, &b->costs, v);
        b->out[k] = b->g.n_vertices++;
        b->in[k] = b->g.n_vertices++;
        add_edge(&b->g, from, b->out[k], cost);
        add_edge(&b->g, b->in[k], from, cost);
    }
    add_edge(&b->g, b->out[k], user, ENDLESS);
    add_edge(&b->g, user, b->in[k], ENDLESS);
}

static void survey_node(problem *b, sp_planner *l, const sp_node *n, int i)
{
    const sp_node_place *p = &l->nodes[i];
    if (n->kind == SP_NODE_READ) {
        /* What is not written is mirrored; else it is where the variable is. */
        sp_planned *k = sp__planned(l, n->out[0]);
        k->vertex = k->place ? DEVICE : l->p->stored[l->variable_of[i]] ? CPU : -1;
        return;
    }
    if (n->kind == SP_NODE_STORE) {
        uses(b, l, n->in[0], side_of(l->p->where[l->p->n_in + l->variable_of[i]]));
        return;
    }
    if (p->same) { /* a view, or a copy that is made where it is needed */
        for (int k = 0; k < n->n_out; k++) sp__planned(l, n->out[k])->vertex = maker(l, n->in[0]);
        return;
    }
    const bool free = p->choice == SP_NODE_ON_EITHER;
    const int vertex = free ? b->g.n_vertices++ : p->choice == SP_NODE_ON_DEVICE ? DEVICE : CPU;
    if (free) add_edge(&b->g, DEVICE, vertex, (int64_t)p->cpu_ns + 1);
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k]) uses(b, l, n->in[k], vertex);
    for (int k = 0; k < n->n_out; k++) sp__planned(l, n->out[k])->vertex = vertex;
    l->nodes[i].vertex = vertex;
}

static void solve(problem *b, sp_planner *l)
{
    network *g = &b->g;
    for (int i = 0; i < l->s->n_in; i++)
        sp__planned(l, l->s->in[i])->vertex = side_of(sp__planned(l, l->s->in[i])->place);
    for (int i = 0; i < l->s->n_nodes; i++) survey_node(b, l, l->s->nodes[i], i);
    for (int i = 0; i < l->s->n_out; i++)
        uses(b, l, l->s->out[i],
             side_of(l->s->out[i]->origin == SP_VALUE_CONSTANT ? NULL : sp__planned(l, l->s->out[i])->place));
    if (g->failed) return;
    while (levels(g)) {
        memcpy(g->at, g->first, (size_t)g->n_vertices * sizeof *g->at);
        while (push(g)) {}
    }
    sides(g);
}

sp_status sp__plan_cut(sp_planner *l, bool *on_cpu, bool *any)
{
    *any = false;
    const size_t most = (size_t)(l->s->n_nodes + 2 * l->n_values + 8);
    problem b = {.g = {.n_vertices = 2}};
    sp__device_costs(l->p->places[0].device, &b.costs);
    network *g = &b.g;
    g->first = sp__alloc(most * sizeof *g->first);
    g->level = sp__alloc(most * sizeof *g->level);
    g->at = sp__alloc(most * sizeof *g->at);
    g->queue = sp__alloc(most * sizeof *g->queue);
    b.out = sp__alloc_zero((size_t)(l->n_values + 1) * sizeof *b.out);
    b.in = sp__alloc_zero((size_t)(l->n_values + 1) * sizeof *b.in);
    if (g->first && g->level && g->at && g->queue && b.out && b.in) {
        for (size_t i = 0; i < most; i++) g->first[i] = -1;
        solve(&b, l);
    } else {
        g->failed = true;
    }
    for (int i = 0; i < l->s->n_nodes && !g->failed; i++) {
        on_cpu[i] = l->nodes[i].vertex > CPU && g->level[l->nodes[i].vertex] == 1;
        *any |= on_cpu[i];
    }
    sp__free(g->first);
    sp__free(g->level);
    sp__free(g->at);
    sp__free(g->queue);
    sp__free(g->edges);
    sp__free(b.out);
    sp__free(b.in);
    return g->failed ? SP_NOMEM : SP_OK;
}
