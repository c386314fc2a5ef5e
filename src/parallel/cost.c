/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - the cost of a program, node by node; cost.h says of what. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "ops/ops_impl.h"
#include "parallel/cost.h"
#include "parallel/shard.h"

/* --- exchanges --------------------------------------------------------------------------------------------------- */

static int kind_of(const sp_op *op)
{
    if (op == &sp_op_all_gather || op == &sp_op_rank_gather) return 1;
    if (op == &sp_op_reduce_scatter || op == &sp_op_rank_scatter) return 2;
    if (op == &sp_op_rank_exchange || op == &sp_op_all_to_all || op == &sp_op_rank_parts) return 3;
    return 0;
}

/* Bytes that a rank sends for a tensor of one byte. */
static double sent_by(int kind, double n) { return kind == 0 ? 2 * (n - 1) / n : kind == 1 ? n - 1 : (n - 1) / n; }

/* Between points x0 * step^i, straight in both directions; beyond the last one in proportion. */
static double between(const double *y, int n, double x, double x0, double step)
{
    double at = x0;
    if (x <= at) return y[0];
    for (int i = 0; i + 1 < n; i++, at *= step)
        if (x <= at * step) return y[i] + (y[i + 1] - y[i]) * (x - at) / (at * step - at);
    return y[n - 1] * x / at;
}

double sp__cost_exchange(const sp_costs *c, const sp_op *op, int n, int hosts, double bytes)
{
    if (n <= 1) return 0;
    const int kind = kind_of(op);
    const double measured = c->ranks > 1 ? c->ranks : 2, moved = bytes * sent_by(kind, n);
    const double *y = c->exchange[kind];
    double ns = between(y, SP_COST_EXCHANGES, moved / sent_by(kind, measured), 4, 8);
    ns += y[0] * ((double)n - measured) / measured; /* every rank speaks to every other one before */
    if (ns < 0) ns = 0;
    if (hosts > 1) ns += 2 * c->link_latency + moved * c->link_byte * (double)n / (double)hosts;
    return ns;
}

/* --- operators --------------------------------------------------------------------------------------------------- */

static double count_of(const sp_meta *m)
{
    double n = 1;
    for (int i = 0; i < m->rank; i++) n *= m->dims[i] < 0 ? 1 : (double)m->dims[i];
    return n;
}

static double bytes_of(const sp_meta *m) { return count_of(m) * (double)sp_dtype_bytes(m->dtype); }

static bool has_letter(const int8_t *axes, int rank, int letter)
{
    for (int i = 0; i < rank; i++)
        if (axes[i] == letter) return true;
    return false;
}

/* Windows of a convolution: of its three tensors, the product of sizes along the window's axes; the largest is the input's. */
static double windows(const sp_meta *a, const sp_meta *b, const sp_meta *c)
{
    double size[3] = {1, 1, 1}, most = 0, all = 1;
    const sp_meta *m[3] = {a, b, c};
    for (int k = 0; k < 3; k++) {
        for (int i = 2; i < m[k]->rank; i++) size[k] *= (double)m[k]->dims[i];
        all *= size[k];
        if (size[k] > most) most = size[k];
    }
    return all / most;
}

/* Multiplications of a product of two or more tensors: its rule has letters that are summed over. 0: it is none. */
static double products_of(const sp_node *n, sp_shard_map *map)
{
    const sp_meta *in[SP_SHARD_OPERANDS], *out[SP_SHARD_OPERANDS];
    if (n->n_in < 2 || n->n_in > SP_SHARD_OPERANDS || n->n_out < 1 || n->n_out > SP_SHARD_OPERANDS || !n->in[0] ||
        !n->in[1] || n->op->loop)
        return 0;
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] ? &n->in[i]->meta : NULL;
    for (int i = 0; i < n->n_out; i++) out[i] = &n->out[i]->meta;
    if (sp__shard_map(n, in, out, map) != SP_OK) return 0;
    double all = 1, last = 0, inner = 0;
    int summed = 0;
    bool window = false;
    for (int l = 0; l < map->n_letters; l++) {
        const bool a = has_letter(map->in[0], in[0]->rank, l), b = has_letter(map->in[1], in[1]->rank, l);
        const bool there = has_letter(map->out[0], out[0]->rank, l);
        if (map->whole[l] && in[0]->rank > 2 && in[1]->rank > 2 && a && b && there) { /* along a window */
            window = true;
            continue;
        }
        const double size = map->size[l] > 0 ? (double)map->size[l] : 1;
        if (!there && a && b) {
            summed++;
            inner = size;
        }
        all *= size;
    }
    if (!summed) return 0;
    if (window && n->n_in <= 3) return all * windows(in[0], in[1], out[0]);
    if (summed == 1 && n->n_in >= 4 &&
        in[2]) { /* attention: two products, the second one over what the first has made */
        last = (double)out[0]->dims[out[0]->rank - 1];
        return all / (last > 0 ? last : 1) + all / inner;
    }
    return all;
}

sp_status sp__cost_products(const sp_node *n, double *out)
{
    sp_shard_map *map = sp__alloc(sizeof *map);
    if (!map) return SP_NOMEM;
    *out = products_of(n, map);
    sp__free(map);
    return SP_OK;
}

static double node_cost(const sp_costs *c, const sp_node *n, sp_shard_map *map)
{
    double bytes = 0, elements = 0;
    const double products = products_of(n, map);
    if (products > 0) return c->node + between(c->product, SP_COST_PRODUCTS, products, 1024, 8);
    if (n->op->view) return 0;
    for (int i = 0; i < n->n_out; i++) {
        bytes += bytes_of(&n->out[i]->meta);
        elements += count_of(&n->out[i]->meta);
    }
    if (n->op->loop) return c->node + elements * c->element;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && !n->in[i]->is_function) bytes += bytes_of(&n->in[i]->meta);
    return c->node + bytes * c->byte;
}

/* --- a graph ----------------------------------------------------------------------------------------------------- */

/* The group that a collective names, in an attribute of that name. */
static sp_comm *group_of(const sp_node *n)
{
    sp_comm *comm = NULL;
    for (int i = 0; i < n->op->n_attrs; i++) {
        const sp_attr *a = &n->op->attrs[i];
        const char *name;
        if (a->type != SP_ATTR_TEXT || strcmp(a->name, "group") != 0) continue;
        memcpy(&name, (const char *)n->attrs + a->offset, sizeof name);
        if (sp_comm_find(name, &comm) == SP_OK) return comm;
    }
    return sp_comm_world();
}

/* Ranks of a host come one after the other. */
int sp__cost_hosts(const sp_comm *group)
{
    const int per_host = sp_comm_local_size(sp_comm_world());
    int hosts = 0, last = -1;
    for (int i = 0; i < group->size; i++) {
        const int host = group->ranks[i] / (per_host > 0 ? per_host : 1);
        hosts += host != last;
        last = host;
    }
    return hosts;
}

/* Rows of a table: the same operator with the same sizes, counted. */
typedef struct row {
    const sp_op *op;
    int group, hosts, count;
    double bytes, ns;
} row;

enum { ROWS_MAX = 256 };

static void add_row(row *rows, int *n_rows, row r)
{
    for (int i = 0; i < *n_rows; i++)
        if (rows[i].op == r.op && rows[i].group == r.group && rows[i].hosts == r.hosts &&
            (r.group ? rows[i].bytes == r.bytes : 1)) {
            rows[i].count++;
            rows[i].ns += r.ns;
            if (!r.group) rows[i].bytes += r.bytes;
            return;
        }
    if (*n_rows < ROWS_MAX) rows[(*n_rows)++] = r;
}

static void write_rows(const row *rows, int n_rows, bool exchanges, sp__text *t)
{
    bool first = true;
    for (int i = 0; i < n_rows; i++) {
        const row *r = &rows[i];
        if ((r->group != 0) != exchanges) continue;
        sp__text_put(t, "%s\n    {\"op\": \"%s\", \"count\": %d, ", first ? "" : ",", r->op->name, r->count);
        if (exchanges) sp__text_put(t, "\"ranks\": %d, \"hosts\": %d, ", r->group, r->hosts);
        sp__text_put(t, "\"bytes\": %.0f, \"us\": %.3f}", r->bytes, r->ns / 1e3);
        first = false;
    }
}

/* Values live from the node that makes them to the last one that uses them; views take nothing. */
static double peak_of(const sp_graph *g, const sp_function *f)
{
    int *last = sp__alloc_zero((size_t)(g->next_value + 1) * sizeof *last), at = 0;
    double now = 0, peak = 0;
    if (!last) return -1;
    for (const sp_node *n = f->first; n; n = n->next, at++)
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] && n->in[i]->id < g->next_value) last[n->in[i]->id] = at;
    for (int i = 0; i < f->n_results; i++)
        if (f->results[i]->id < g->next_value) last[f->results[i]->id] = at;
    at = 0;
    for (const sp_node *n = f->first; n; n = n->next, at++) {
        const bool makes = n->kind == SP_NODE_OP && !n->op->view;
        for (int i = 0; makes && i < n->n_out; i++) now += bytes_of(&n->out[i]->meta);
        if (now > peak) peak = now;
        for (int i = 0; i < n->n_in; i++) {
            const sp_value *v = n->in[i];
            if (!v || v->is_function || v->id >= g->next_value || last[v->id] != at) continue;
            last[v->id] = -1; /* once */
            if (v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_OP && !v->node->op->view)
                now -= bytes_of(&v->meta);
        }
        for (int i = 0; makes && i < n->n_out; i++) {
            const sp_value *v = n->out[i];
            if (v->id < g->next_value && last[v->id] == 0) now -= bytes_of(&v->meta); /* unused */
        }
    }
    sp__free(last);
    return peak;
}

/* Exchanges between hosts go on behind what is computed, one after the other, until somebody needs the result (plan_overlap.c). */
typedef struct {
    double now, link; /* when this rank, and the link, have done what there was so far */
    double *ready;    /* by value */
    int n_values;
} timeline;

static double *ready_of(const timeline *t, const sp_value *v)
{
    return v && !v->is_function && v->id < t->n_values ? &t->ready[v->id] : NULL;
}

static void timeline_add(timeline *t, const sp_node *n, double ns, bool link)
{
    double needs = 0;
    for (int i = 0; i < n->n_in; i++) {
        const double *ready = ready_of(t, n->in[i]);
        if (ready && *ready > needs) needs = *ready;
    }
    double done = needs;
    if (!n->op->view) {
        if (needs > t->now) t->now = needs;
        if (link) t->link = done = (t->link > t->now ? t->link : t->now) + ns;
        else t->now = done = t->now + ns;
    }
    for (int i = 0; i < n->n_out; i++)
        if (ready_of(t, n->out[i])) *ready_of(t, n->out[i]) = done;
}

sp_status sp__cost_graph(const sp_costs *c, const sp_graph *g, sp_cost *out, sp__text *table)
{
    sp_shard_map *map = sp__alloc(sizeof *map);
    row *rows = table ? sp__alloc((size_t)ROWS_MAX * sizeof *rows) : NULL;
    int n_rows = 0;
    timeline time = {.n_values = g->next_value,
                     .ready = sp__alloc_zero((size_t)(g->next_value + 1) * sizeof *time.ready)};
    if (!map || (table && !rows) || !time.ready) {
        sp__free(map);
        sp__free(rows);
        sp__free(time.ready);
        return SP_NOMEM;
    }
    *out = (sp_cost){0};
    for (const sp_function *f = g->first; f; f = f->next) /* what is called, once each */
        for (const sp_node *n = f->first; n; n = n->next) {
            if (n->kind == SP_NODE_READ && f == g->entry) continue;
            if (n->kind != SP_NODE_OP) continue;
            row r = {.op = n->op, .count = 1};
            if (n->op->collective) {
                const sp_comm *group = group_of(n);
                r.bytes = bytes_of(&n->in[0]->meta);
                r.group = group ? group->size : 1;
                r.hosts = group ? sp__cost_hosts(group) : 1;
                r.ns = sp__cost_exchange(c, n->op, r.group, r.hosts, r.bytes);
                out->exchange += r.ns;
                out->sent += r.group > 1 ? r.bytes * sent_by(kind_of(n->op), r.group) : 0;
                out->n_exchanges++;
            } else {
                r.ns = node_cost(c, n, map);
                for (int i = 0; i < n->n_out; i++) r.bytes += bytes_of(&n->out[i]->meta);
                out->compute += r.ns;
                out->n_nodes++;
            }
            if (rows) add_row(rows, &n_rows, r);
            if (f == g->entry) timeline_add(&time, n, r.ns, r.hosts > 1);
            else out->step += r.ns;
        }
    out->step += time.now > time.link ? time.now : time.link;
    out->peak = peak_of(g, g->entry);
    if (table) {
        sp__text_put(table, "  \"exchanges\": [");
        write_rows(rows, n_rows, true, table);
        sp__text_put(table, "],\n  \"operators\": [");
        write_rows(rows, n_rows, false, table);
        sp__text_put(table, "]");
    }
    sp__free(map);
    sp__free(rows);
    sp__free(time.ready);
    return out->peak < 0 ? SP_NOMEM : SP_OK;
}
