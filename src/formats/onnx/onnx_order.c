/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_order.c - nodes of a graph in an order in which values are made before they are used.
 *
 * The standard wants files to have that order, but converters of weights put nodes at the end, and runtimes take them. Where the
 * order is right, which one walk over the names tells, nothing is changed. A node also waits for what the graphs in its
 * attributes use; names made inside those are not known outside and wait for nothing. */
#include <string.h>

#include "formats/onnx/onnx_model.h"

enum { DEPTH_MAX = 32 };

typedef struct maker {
    const uint8_t *name;
    size_t bytes;
    int node; /* -1: free */
} maker;

typedef struct order {
    sp__arena *arena;
    int n;
    const sp_wire *nodes;
    size_t room;
    maker *makers;  /* by hash of the name */
    uint8_t *state; /* NEW, OPEN, DONE */
    int *sorted;
    int n_sorted;
} order;

enum { NEW, OPEN, DONE };

static size_t hash_of(const uint8_t *name, size_t bytes)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ name[i]) * 1099511628211u;
    return (size_t)h;
}

static maker *place_of(order *o, sp_wire name)
{
    size_t bytes = sp__wire_left(&name);
    for (size_t i = hash_of(name.at, bytes);; i++) {
        maker *m = &o->makers[i & (o->room - 1)];
        if (m->node < 0 || (m->bytes == bytes && memcmp(m->name, name.at, bytes) == 0)) return m;
    }
}

/* Calls `visit` with the bytes of each field of that number. */
typedef sp_status (*visitor)(order *o, sp_wire inner, int node, int depth);
static sp_status each_field(order *o, sp_wire w, uint32_t wanted, visitor visit, int node, int depth)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if (number == wanted && type == SP_WIRE_BYTES) {
            SP_TRY(sp__wire_take_bytes(&w, "a field of a node", type, &inner));
            SP_TRY(visit(o, inner, node, depth));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status note_maker(order *o, sp_wire name, int node, int depth)
{
    (void)depth;
    if (sp__wire_left(&name) == 0) return SP_OK;
    maker *m = place_of(o, name);
    if (m->node < 0) *m = (maker){name.at, sp__wire_left(&name), node};
    return SP_OK;
}

/* --- what a node waits for: names in its inputs, and in those of the nodes of graphs in its attributes --- */

static sp_status visit_node(order *o, sp_wire w, int node, int depth, visitor use);

static sp_status in_graph(order *o, sp_wire w, int node, int depth, visitor use)
{
    SP_CHECK(depth < DEPTH_MAX, SP_FORMAT, "byte %zu: graphs inside graphs, more than %d deep", sp__wire_offset(&w),
             DEPTH_MAX);
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if ((number == 1 || number == 12) && type == SP_WIRE_BYTES) { /* a node, an output */
            SP_TRY(sp__wire_take_bytes(&w, "a node", type, &inner));
            if (number == 1) SP_TRY(visit_node(o, inner, node, depth + 1, use));
            else SP_TRY(each_field(o, inner, 1, use, node, depth + 1));
        } else SP_TRY(sp__wire_skip(&w, number, type));
    }
    return SP_OK;
}

static sp_status visit_node(order *o, sp_wire w, int node, int depth, visitor use)
{
    while (sp__wire_more(&w)) {
        uint32_t number;
        int type;
        sp_wire inner;
        SP_TRY(sp__wire_field(&w, &number, &type));
        if ((number != 1 && number != 5) || type != SP_WIRE_BYTES) {
            SP_TRY(sp__wire_skip(&w, number, type));
            continue;
        }
        SP_TRY(sp__wire_take_bytes(&w, "a field of a node", type, &inner));
        if (number == 1) SP_TRY(use(o, inner, node, depth));
        while (number == 5 && sp__wire_more(&inner)) { /* an attribute: 6 is a graph */
            uint32_t field;
            sp_wire graph;
            SP_TRY(sp__wire_field(&inner, &field, &type));
            if (field == 6 && type == SP_WIRE_BYTES) {
                SP_TRY(sp__wire_take_bytes(&inner, "g", type, &graph));
                SP_TRY(in_graph(o, graph, node, depth, use));
            } else SP_TRY(sp__wire_skip(&inner, field, type));
        }
    }
    return SP_OK;
}

/* SP_DECLINED: the order is not right. */
static sp_status made_before(order *o, sp_wire name, int node, int depth)
{
    const maker *m = place_of(o, name);
    if (depth > 0 && m->node == node) return SP_OK; /* a value inside has the name of the node's own result */
    return m->node >= node ? SP_DECLINED : SP_OK;
}

/* Nodes are placed after what they wait for. The stack is explicit: chains of nodes are as long as files want. */
typedef struct pending {
    int node, n, at;
    int *waits;
} pending;

typedef struct collected {
    order o; /* first: a visitor gets it as such */
    int n, capacity;
    int *waits;
} collected;

static sp_status collect(order *o, sp_wire name, int node, int depth)
{
    collected *c = (collected *)o;
    const maker *m = place_of(o, name);
    if (m->node < 0 || o->state[m->node] == DONE || (depth > 0 && m->node == node)) return SP_OK;
    if (c->n == c->capacity) {
        int more = c->capacity == 0 ? 16 : 2 * c->capacity;
        int *bigger = sp__arena_alloc(o->arena, (size_t)more * sizeof *bigger);
        if (bigger == NULL) return SP_NOMEM;
        if (c->n > 0) memcpy(bigger, c->waits, (size_t)c->n * sizeof *bigger);
        c->waits = bigger;
        c->capacity = more;
    }
    c->waits[c->n++] = m->node;
    return SP_OK;
}

static sp_status open_node(collected *c, int node, pending *p)
{
    c->n = c->capacity = 0;
    c->waits = NULL;
    SP_TRY(visit_node(&c->o, c->o.nodes[node], node, 0, collect));
    *p = (pending){.node = node, .n = c->n, .waits = c->waits};
    c->o.state[node] = OPEN;
    return SP_OK;
}

static sp_status place_nodes(collected *c)
{
    order *o = &c->o;
    pending *stack = sp__arena_alloc(o->arena, (size_t)(o->n + 1) * sizeof *stack);
    if (stack == NULL) return SP_NOMEM;
    for (int first = 0; first < o->n; first++) {
        int depth = 0;
        if (o->state[first] == DONE) continue;
        SP_TRY(open_node(c, first, &stack[depth++]));
        while (depth > 0) {
            pending *p = &stack[depth - 1];
            if (p->at == p->n) {
                o->state[p->node] = DONE;
                o->sorted[o->n_sorted++] = p->node;
                depth--;
                continue;
            }
            int next = p->waits[p->at++];
            SP_CHECK(o->state[next] != OPEN, SP_FORMAT, "nodes %d and %d wait for each other: the graph has a cycle",
                     p->node, next);
            if (o->state[next] == NEW) SP_TRY(open_node(c, next, &stack[depth++]));
        }
    }
    return SP_OK;
}

sp_status sp__onnx_order(sp__arena *arena, int n, sp_wire *nodes)
{
    collected c = {.o = {.arena = arena, .n = n, .nodes = nodes, .room = 64}};
    order *o = &c.o;
    size_t outputs = 0;
    for (int i = 0; i < n; i++) { /* at most one name for two bytes */
        sp_wire w = nodes[i];
        while (sp__wire_more(&w)) {
            uint32_t number;
            int type;
            SP_TRY(sp__wire_field(&w, &number, &type));
            outputs += number == 2;
            SP_TRY(sp__wire_skip(&w, number, type));
        }
    }
    while (o->room < 2 * outputs) o->room *= 2;
    if (!(o->makers = sp__alloc(o->room * sizeof *o->makers))) return SP_NOMEM;
    for (size_t i = 0; i < o->room; i++) o->makers[i].node = -1;
    sp_status status = SP_OK;
    for (int i = 0; i < n && status == SP_OK; i++) status = each_field(o, nodes[i], 2, note_maker, i, 0);
    for (int i = 0; i < n && status == SP_OK; i++) status = visit_node(o, nodes[i], i, 0, made_before);
    if (status == SP_DECLINED) {
        o->state = sp__arena_alloc(arena, (size_t)n + 1);
        o->sorted = sp__arena_alloc(arena, (size_t)(n + 1) * sizeof *o->sorted);
        sp_wire *copy = sp__arena_alloc(arena, (size_t)(n + 1) * sizeof *copy);
        status = o->state != NULL && o->sorted != NULL && copy != NULL ? SP_OK : SP_NOMEM;
        if (status == SP_OK) memset(o->state, NEW, (size_t)n);
        if (status == SP_OK) status = place_nodes(&c);
        if (status == SP_OK) {
            memcpy(copy, nodes, (size_t)n * sizeof *copy);
            for (int i = 0; i < n; i++) nodes[i] = copy[o->sorted[i]];
        }
    }
    sp__free(o->makers);
    return status;
}
