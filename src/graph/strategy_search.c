/* SPDX-License-Identifier: Apache-2.0 */
/* strategy_search.c - the search for strategies: layouts of weights, and the split of data that all ranks give whole.
 *
 * A trial is a copy of the program, gradients and optimizer steps among it, that the pass makes for this rank with the layouts to be tried; its cost
 * (cost.h) is what counts. So a trial prices every exchange that follows from a choice, and whatever is chosen gives the same results.
 * Weights that are used alike (same shape, operator, neighbours) are a family and are split alike.
 *
 *   recursive     for one mesh axis after the other, the most significant first: the cheapest choice of each family, the largest family first,
 *                 twice around
 *   dynamic       families in their order in the program, each with all ways to give the mesh axes to its axes; of what was put together so far the
 *                 best WIDTH are kept
 *   propagation   nothing is searched: what is asked for spreads by the rules of operators */
#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "base/clock.h"
#include "graph/program.h"
#include "graph/strategy_search.h"
#include "ops/ops_impl.h"
#include "parallel/cost.h"
#include "parallel/shard.h"

enum { FAMILIES_MAX = 64, WIDTH = 6, WAYS_MAX = 48 };

typedef struct family {
    const sp_op *op, *before, *after; /* the product, what makes its other operand, what uses its result */
    int slot;
    sp_meta whole;
    double elements; /* of all its weights */
    int count;
} family;

typedef struct search {
    sp_graph *g;
    const sp_sharding *how;
    sp_mesh mesh;
    sp_costs costs;
    int n_families; /* without the data */
    family families[FAMILIES_MAX];
    int n, *family_of; /* weights */
    const sp_tensor **tensors;
    sp_layout *layouts;
    bool data_whole; /* rows of data are to be split here */
    int n_trials;
} search;

/* What was chosen: of each family, then of the data, the axis that each mesh axis splits. */
typedef struct choice {
    int8_t at[FAMILIES_MAX + 1][SP_MESH_MAX];
    double cost;
} choice;

/* --- weights ----------------------------------------------------------------------------------------------------- */

static const sp_node *first_user(const sp_function *f, const sp_value *v, int *slot)
{
    for (const sp_node *n = f->first; n; n = n->next)
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] == v && n->kind == SP_NODE_OP) {
                *slot = i;
                return n;
            }
    return NULL;
}

/* The product that a variable is first used by, behind casts and views of its shape. */
static const sp_node *product_of(const sp_function *f, const sp_value *v, int *slot)
{
    const sp_node *n = first_user(f, v, slot);
    for (int i = 0; n && i < 4 && (n->op == &sp_op_cast || n->op == &sp_op_shard) && n->n_out == 1; i++)
        n = first_user(f, n->out[0], slot);
    double products = 0;
    return n && sp__cost_products(n, &products) == SP_OK && products > 0 ? n : NULL;
}

static const sp_op *maker_of(const sp_value *v)
{
    return v && v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_OP ? v->node->op : NULL;
}

static bool splits_in_any_way(const search *s, const sp_meta *m)
{
    for (int a = 0; a < m->rank; a++)
        for (int k = 0; k < s->mesh.n; k++)
            if (m->dims[a] > 1 && m->dims[a] % s->mesh.size[k] == 0) return true;
    return false;
}

static int family_for(search *s, const family *one)
{
    for (int i = 0; i < s->n_families; i++) {
        const family *f = &s->families[i];
        if (f->op == one->op && f->slot == one->slot && f->before == one->before && f->after == one->after &&
            sp__shape_equal(f->whole.rank, f->whole.dims, one->whole.rank, one->whole.dims))
            return i;
    }
    if (s->n_families == FAMILIES_MAX) return -1;
    s->families[s->n_families] = *one;
    return s->n_families++;
}

static bool asked_for(const sp_tensor *t)
{
    sp_mesh_split split;
    int n;
    int64_t sizes[SP_GRID_MAX], axes[SP_GRID_MAX];
    return sp__split_find(t, &split) || sp__grid_find(t, &n, sizes, axes);
}

static sp_status find_weights(search *s)
{
    const sp_function *f = s->g->entry;
    const size_t room = (size_t)s->g->n_variables + 1;
    s->tensors = sp__alloc_zero(room * sizeof *s->tensors);
    s->layouts = sp__alloc_zero(room * sizeof *s->layouts);
    s->family_of = sp__alloc_zero(room * sizeof *s->family_of);
    if (!s->tensors || !s->layouts || !s->family_of) return SP_NOMEM;
    for (const sp_node *n = f->first; n; n = n->next) {
        family one = {.count = 0};
        int slot = 0, other;
        if (n->kind != SP_NODE_READ || n->out[0]->meta.rank < 2 || asked_for(n->variable->tensor)) continue;
        const sp_node *product = product_of(f, n->out[0], &slot);
        if (!product || !splits_in_any_way(s, &n->out[0]->meta)) continue;
        bool met = false;
        for (int i = 0; i < s->n; i++) met |= s->tensors[i] == n->variable->tensor;
        if (met) continue;
        const sp_node *user = first_user(f, product->out[0], &other);
        one = (family){.op = product->op,
                       .before = maker_of(product->in[slot == 0 ? 1 : 0]),
                       .after = user ? user->op : NULL,
                       .slot = slot,
                       .whole = n->out[0]->meta};
        const int at = family_for(s, &one);
        if (at < 0) continue;
        double elements = 1;
        for (int i = 0; i < one.whole.rank; i++) elements *= (double)one.whole.dims[i];
        s->families[at].elements += elements;
        s->families[at].count++;
        s->family_of[s->n] = at;
        s->tensors[s->n++] = n->variable->tensor;
    }
    return SP_OK;
}

/* --- trials ------------------------------------------------------------------------------------------------------ */

static bool divides(const search *s, const sp_meta *m, const int8_t *at)
{
    for (int a = 0; a < m->rank; a++) {
        int64_t parts = 1;
        for (int k = 0; k < s->mesh.n; k++)
            if (at[k] == a) parts *= s->mesh.size[k];
        if (m->dims[a] % parts) return false;
    }
    return true;
}

static void lay_out(search *s, const choice *c, sp_shard_trial *t)
{
    for (int i = 0; i < s->n; i++) {
        s->layouts[i] = sp__layout_whole();
        memcpy(s->layouts[i].at, c->at[s->family_of[i]], sizeof s->layouts[i].at);
    }
    *t = (sp_shard_trial){.n = s->n, .tensors = s->tensors, .layouts = s->layouts};
    for (int k = 0; k < s->mesh.n; k++)
        if (s->data_whole && c->at[s->n_families][k] == 0) t->data |= 1u << k;
}

static sp_status try_choice(search *s, choice *c)
{
    sp_graph *copy;
    sp_shard_trial t;
    sp_cost cost;
    c->cost = 1e300;
    for (int i = 0; i < s->n_families; i++)
        if (!divides(s, &s->families[i].whole, c->at[i])) return SP_OK;
    lay_out(s, c, &t);
    SP_TRY(sp__graph_copy(s->g->entry, &copy));
    s->n_trials++;
    sp_status status = sp__graph_close(copy);
    if (status == SP_OK) status = sp__shard_try(copy, s->how, &t);
    if (status == SP_OK) status = sp__cost_graph(&s->costs, copy, &cost, NULL);
    sp_graph_release(copy);
    if (status == SP_RUNTIME || status == SP_VALUE) return SP_OK; /* such layouts are refused */
    if (status == SP_OK) c->cost = cost.step;
    return status;
}

static sp_status consider(search *s, const choice *base, int which, int mesh_axis, int axis, choice *best)
{
    choice c = *base;
    c.at[which][mesh_axis] = (int8_t)axis;
    SP_TRY(try_choice(s, &c));
    if (c.cost < best->cost) *best = c;
    return SP_OK;
}

static sp_status recursive(search *s, choice *best)
{
    int order[FAMILIES_MAX + 1];
    const int n = s->n_families + s->data_whole;
    for (int i = 0; i < s->n_families; i++) { /* the largest first */
        int at = i;
        for (; at > 0 && s->families[order[at - 1]].elements < s->families[i].elements; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    if (s->data_whole) order[s->n_families] = s->n_families;
    for (int k = 0; k < s->mesh.n; k++) {
        if (s->data_whole) SP_TRY(consider(s, best, s->n_families, k, 0, best));
        for (int round = 0; round < 2; round++)
            for (int i = 0; i < n; i++) {
                const bool data = order[i] == s->n_families;
                const choice base = *best;
                const int rank = data ? 1 : s->families[order[i]].whole.rank;
                for (int axis = -1; axis < rank; axis++)
                    if (base.at[order[i]][k] != axis) SP_TRY(consider(s, &base, order[i], k, axis, best));
            }
    }
    return SP_OK;
}

/* Ways to give runs of mesh axes to no axis and to axes of a tensor, in any order of the three runs. */
static int ways_of(const search *s, int rank, int8_t ways[WAYS_MAX][SP_MESH_MAX])
{
    static const int8_t orders[][3] = {{-1, 0, 1}, {-1, 1, 0}, {0, -1, 1}, {0, 1, -1}, {1, -1, 0}, {1, 0, -1}};
    int n = 0;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (int i = 0; i <= s->mesh.n; i++)
            for (int j = i; j <= s->mesh.n && n < WAYS_MAX; j++) {
                bool fits = true, known = false;
                for (int k = 0; k < s->mesh.n; k++) {
                    ways[n][k] = orders[o][k < i ? 0 : k < j ? 1 : 2];
                    fits &= ways[n][k] < rank;
                }
                for (int w = 0; w < n && fits; w++) known |= memcmp(ways[w], ways[n], (size_t)s->mesh.n) == 0;
                n += fits && !known;
            }
    return n;
}

static sp_status dynamic(search *s, choice *best)
{
    int8_t ways[WAYS_MAX][SP_MESH_MAX];
    choice *kept = sp__alloc(2 * WIDTH * sizeof *kept), *next = kept + WIDTH;
    int n_kept = 1;
    sp_status status = SP_OK;
    if (!kept) return SP_NOMEM;
    kept[0] = *best;
    for (int turn = 0; turn < s->n_families + s->data_whole && status == SP_OK; turn++) {
        const int i = s->data_whole ? turn == 0 ? s->n_families : turn - 1 : turn; /* the data first */
        const int n_ways = ways_of(s, i == s->n_families ? 1 : s->families[i].whole.rank, ways);
        int n_next = 0;
        for (int b = 0; b < n_kept && status == SP_OK; b++)
            for (int k = 0; k < n_ways && status == SP_OK; k++) {
                choice c = kept[b];
                memcpy(c.at[i], ways[k], (size_t)s->mesh.n);
                status = try_choice(s, &c);
                if (c.cost >= 1e300) continue;
                int at = n_next < WIDTH ? n_next++ : WIDTH;
                if (at == WIDTH && c.cost >= next[WIDTH - 1].cost) continue;
                if (at == WIDTH) at = WIDTH - 1;
                for (; at > 0 && next[at - 1].cost > c.cost; at--) next[at] = next[at - 1];
                next[at] = c;
            }
        if (n_next == 0) break;
        memcpy(kept, next, (size_t)n_next * sizeof *kept);
        n_kept = n_next;
    }
    if (status == SP_OK && kept[0].cost < best->cost) *best = kept[0];
    sp__free(kept);
    return status;
}

/* --- the search -------------------------------------------------------------------------------------------------- */

static void tell(const search *s, const choice *c, double whole, double ms, sp__text *t)
{
    static const char *const names[] = {"", "recursive programming", "propagation", "dynamic programming"};
    char shape[SP_SHAPE_TEXT], splits[SP_SHAPE_TEXT];
    sp__text_put(t, "  search: %s, %d trials in %.0f ms; predicted step %.3f ms, with no weight split %.3f ms\n",
                 names[s->how->search], s->n_trials, ms, c->cost / 1e6, whole / 1e6);
    for (int i = 0; i < s->n_families; i++) {
        const family *f = &s->families[i];
        sp_layout l = sp__layout_whole();
        memcpy(l.at, c->at[i], sizeof l.at);
        sp__text_put(t, "    %d of shape %s, input %d of %s: slices %s\n", f->count,
                     sp__shape_text(f->whole.rank, f->whole.dims, shape), f->slot, f->op->name,
                     sp__layout_text(&s->mesh, &l, f->whole.rank, splits));
    }
    int64_t rows = 1;
    for (int k = 0; k < s->mesh.n; k++)
        if (s->data_whole && c->at[s->n_families][k] == 0) rows *= s->mesh.size[k];
    if (s->data_whole) sp__text_put(t, "    rows of data: %lld slices\n", (long long)rows);
}

static sp_status find(search *s, sp__text *report, choice *best)
{
    const int64_t start = sp__clock_ns();
    sp_comm *world = sp_comm_world();
    const int row = sp_comm_size(world) / (s->how->stages > 1 ? s->how->stages : 1); /* ranks of a pipeline's stage */
    SP_TRY(sp__mesh_init(row > 0 ? row : 1, sp_comm_rank(world) % (row > 0 ? row : 1), &s->mesh));
    SP_TRY(sp__costs_find(&s->costs));
    SP_TRY(find_weights(s));
    s->data_whole = true;
    for (int i = 0; i < s->how->n_args; i++)
        for (int k = 0; k < s->how->args[i].n; k++) s->data_whole &= s->how->args[i].v[k] <= 1;
    memset(best->at, -1, sizeof best->at);
    SP_TRY(try_choice(s, best));
    const double whole = best->cost;
    if (s->how->search == SP_SEARCH_RECURSIVE) SP_TRY(recursive(s, best));
    else SP_TRY(dynamic(s, best));
    tell(s, best, whole, (double)(sp__clock_ns() - start) * 1e-6, report);
    return SP_OK;
}

/* Propagation starts from what is asked for: a layout of an operator or Parameter, or slices of data. */
static sp_status check_seeds(const sp_graph *g, const sp_sharding *how)
{
    for (int i = 0; i < how->n_args; i++)
        for (int k = 0; k < how->args[i].n; k++)
            if (how->args[i].v[k] > 1) return SP_OK;
    for (const sp_node *n = g->entry->first; n; n = n->next)
        if (n->kind == SP_NODE_OP && n->op == &sp_op_shard) return SP_OK;
    for (int i = 0; i < g->n_variables; i++)
        if (asked_for(g->variables[i]->tensor)) return SP_OK;
    return sp__fail(SP_RUNTIME,
                    "sharding propagation starts from strategies, but no operator, Parameter or data has one: give one "
                    "(shard), or choose the search mode recursive_programming");
}

sp_status sp__strategy_search(sp_graph *g, const sp_sharding *how, sp_shard_trial *out, sp__text *report)
{
    if (how->search == SP_SEARCH_PROPAGATION) return check_seeds(g, how);
    search *s = sp__alloc_zero(sizeof *s);
    choice *best = sp__alloc(sizeof *best);
    sp_status status = s && best ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        s->g = g;
        s->how = how;
        status = find(s, report, best);
    }
    if (status == SP_OK) {
        lay_out(s, best, out);
        s->tensors = NULL; /* handed over */
        s->layouts = NULL;
    }
    if (s) {
        sp__free(s->tensors);
        sp__free(s->layouts);
        sp__free(s->family_of);
    }
    sp__free(s);
    sp__free(best);
    return status;
}

/* --- what a program costs ---------------------------------------------------------------------------------------- */

sp_status sp_program_cost(const sp_program *p, char **json)
{
    sp_costs c;
    sp_cost mine, alone;
    SP_CHECK(p && json, SP_VALUE, "sp_program_cost: a program and room for its text are wanted");
    SP_TRY(sp_job_join());
    SP_TRY(sp__costs_find(&c));
    const sp_comm *world = sp_comm_world();
    sp__text t = {0}, table = {0};
    sp_status status = sp__cost_graph(&c, p->graph, &mine, &table);
    if (status == SP_OK) status = sp__cost_graph(&c, p->source, &alone, NULL);
    if (status == SP_OK) {
        for (int i = 0; i < p->graph->n_variables; i++) {
            const sp_tensor *v = p->graph->variables[i]->tensor;
            mine.variables += (double)v->count * (double)sp_dtype_bytes((sp_dtype)v->dtype);
        }
        sp__text_put(
            &t,
            "{\n  \"ranks\": %d, \"hosts\": %d, \"split\": %s, \"writes\": %s, \"measured_ranks\": %.0f,\n  \"compute_us\": %.3f, \"exchange_us\": "
            "%.3f, \"step_us\": %.3f, \"whole_us\": %.3f,\n  \"sent_bytes\": %.0f, \"variable_bytes\": %.0f, \"peak_bytes\": "
            "%.0f,\n  \"nodes\": %d,\n",
            world->size, sp__cost_hosts(world), p->sharded ? "true" : "false", p->stores ? "true" : "false", c.ranks,
            mine.compute / 1e3, mine.exchange / 1e3, mine.step / 1e3, alone.step / 1e3, mine.sent, mine.variables,
            mine.variables + mine.peak, mine.n_nodes);
        sp__text_put(&t, "%s\n}\n", table.data ? table.data : "");
        status = sp__text_take(&t, json);
    }
    sp__free(table.data);
    return status;
}
