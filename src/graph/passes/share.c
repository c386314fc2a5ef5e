/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - equal expressions are computed once.
 *
 * A table holds the nodes of one function by operator, attributes and inputs. Small constants with equal contents count as
 * one; a variable read twice is read once if nothing in between could have written to it. Operators that write in place in
 * eager mode are left alone: sharing would cost the copy that they avoid. So are functions below a GRAD node: the gradients
 * of two equal expressions are added up in another order when they are one. */
#include "graph/passes/passes.h"

enum { CONSTANT_BYTES = 64 };

typedef struct {
    sp_node **nodes;
    sp_value **constants;
    size_t mask;
    sp_node **reads; /* those in the table */
    int n_reads;
} table;

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = mix(h, p[i]);
    return h;
}

/* Lists and texts lie behind pointers; only what is in the table of attributes counts. */
static size_t list_of(const sp_attr *a, const void *attrs, const void **data, int *n)
{
    const char *at = (const char *)attrs + a->offset;
    *n = 0;
    *data = NULL;
    switch (a->type) {
    case SP_ATTR_INTS:
        *n = ((const sp_ints *)(const void *)at)->n;
        *data = ((const sp_ints *)(const void *)at)->v;
        return 8;
    case SP_ATTR_FLOATS:
        *n = ((const sp_floats *)(const void *)at)->n;
        *data = ((const sp_floats *)(const void *)at)->v;
        return 8;
    case SP_ATTR_TEXT:
        *data = *(const char *const *)(const void *)at;
        *n = *data ? (int)strlen(*data) : -1;
        return 1;
    default: return 0;
    }
}

static size_t plain_bytes(sp_attr_type type)
{
    switch (type) {
    case SP_ATTR_INT: return sizeof(int64_t);
    case SP_ATTR_FLOAT: return sizeof(double);
    case SP_ATTR_BOOL: return sizeof(bool);
    case SP_ATTR_DTYPE: return sizeof(sp_dtype);
    default: return 0;
    }
}

static bool attr_equal(const sp_attr *a, const void *x, const void *y)
{
    const char *p = (const char *)x + a->offset, *q = (const char *)y + a->offset;
    if (a->type == SP_ATTR_NUMBER) {
        const sp_number *m = (const sp_number *)(const void *)p, *n = (const sp_number *)(const void *)q;
        if (m->kind != n->kind || m->kind == 'n') return m->kind == n->kind;
        return m->i == n->i && (m->kind != 'f' || memcmp(&m->f, &n->f, sizeof m->f) == 0);
    }
    const void *one, *two;
    int n_one, n_two;
    size_t size = list_of(a, x, &one, &n_one);
    if (!size) return memcmp(p, q, plain_bytes(a->type)) == 0;
    list_of(a, y, &two, &n_two);
    return n_one == n_two && (n_one <= 0 || memcmp(one, two, (size_t)n_one * size) == 0);
}

static uint64_t hash_of(const sp_node *n)
{
    uint64_t h = mix((uint64_t)n->kind, (uintptr_t)n->op);
    h = mix(h, (uintptr_t)n->variable);
    for (int i = 0; i < n->n_in; i++) h = mix(h, (uintptr_t)n->in[i]);
    for (int i = 0; n->op && n->attrs && i < n->op->n_attrs; i++) {
        const sp_attr *a = &n->op->attrs[i];
        const void *data;
        int count;
        size_t size = list_of(a, n->attrs, &data, &count);
        if (!size) h = mix_bytes(h, (const char *)n->attrs + a->offset, plain_bytes(a->type));
        else if (count > 0) h = mix_bytes(h, data, (size_t)count * size);
    }
    return h;
}

static bool same(const sp_node *a, const sp_node *b)
{
    if (a->kind != b->kind || a->op != b->op || a->variable != b->variable || a->n_in != b->n_in ||
        a->n_out != b->n_out)
        return false;
    for (int i = 0; i < a->n_in; i++)
        if (a->in[i] != b->in[i]) return false;
    if (!a->op || !a->op->n_attrs) return true;
    if (!a->attrs || !b->attrs) return a->attrs == b->attrs;
    for (int i = 0; i < a->op->n_attrs; i++)
        if (!attr_equal(&a->op->attrs[i], a->attrs, b->attrs)) return false;
    return true;
}

static bool may_share(const sp_node *n)
{
    if (n->kind == SP_NODE_OP) return !n->op->writes && !n->op->collective;
    return n->kind == SP_NODE_READ || n->kind == SP_NODE_PARTIAL || n->kind == SP_NODE_SWITCH;
}

/* The first constant with the same contents, among small ones. */
static sp_value *first_constant(table *t, sp_value *v)
{
    const sp_tensor *c = v->constant;
    const size_t bytes = sp_tensor_bytes(c);
    if (bytes > CONSTANT_BYTES || !(c->flags & SP_TENSOR_CONTIGUOUS)) return v;
    uint64_t h = mix_bytes(mix((uint64_t)c->dtype, (uint64_t)c->rank), c->data, bytes);
    for (size_t at = (size_t)h & t->mask;; at = (at + 1) & t->mask) {
        sp_value *other = t->constants[at];
        if (!other) {
            t->constants[at] = v;
            return v;
        }
        const sp_tensor *d = other->constant;
        if (d->dtype == c->dtype && sp__tensor_same_shape(c, d) && other->weak == v->weak &&
            memcmp(c->data, d->data, bytes) == 0)
            return other;
    }
}

/* Reads from before `n` must not be found after it: marked, they keep their places in the table and match nothing. */
static void forget_reads(table *t, const sp_node *n)
{
    int kept = 0;
    for (int i = 0; i < t->n_reads; i++) {
        sp_node *m = t->reads[i];
        if (n->kind == SP_NODE_STORE ? m->variable == n->variable : m->variable->written) m->mark = m;
        else t->reads[kept++] = m;
    }
    t->n_reads = kept;
}

/* n computes what m does. Results that must stay apart are copied or, where there are several, computed again. */
static sp_status share_with(sp_node *n, sp_node *m, int *count)
{
    if (n->n_out == 1) {
        sp_value *v;
        SP_TRY(sp__value_stand_in(n, m->out[0], &v));
        n->out[0]->mark = v;
    } else {
        for (int i = 0; i < n->n_out; i++)
            if (n->out[i]->apart) return SP_OK;
        for (int i = 0; i < n->n_out; i++) n->out[i]->mark = m->out[i];
    }
    sp__node_remove(n);
    ++*count;
    return SP_OK;
}

static sp_status share_node(table *t, sp_node *n, int *count)
{
    for (int i = 0; i < n->n_in; i++) {
        n->in[i] = sp__value_forwarded(n->in[i]);
        if (n->in[i] && n->in[i]->origin == SP_VALUE_CONSTANT) n->in[i] = first_constant(t, n->in[i]);
    }
    if (n->kind == SP_NODE_STORE || n->kind == SP_NODE_CALL || n->kind == SP_NODE_HOST || n->kind == SP_NODE_GRAD) {
        if (n->kind != SP_NODE_HOST || !n->host->pure) forget_reads(t, n);
        return SP_OK;
    }
    if (!may_share(n)) return SP_OK;
    for (size_t at = (size_t)hash_of(n) & t->mask;; at = (at + 1) & t->mask) {
        sp_node *m = t->nodes[at];
        if (!m) {
            t->nodes[at] = n;
            if (n->kind == SP_NODE_READ) t->reads[t->n_reads++] = n;
            return SP_OK;
        }
        if (!m->mark && same(m, n)) return share_with(n, m, count);
    }
}

static sp_status share_function(sp_function *f, int *count)
{
    size_t uses = 1;
    for (sp_node *n = f->first; n; n = n->next) uses += 1 + (size_t)n->n_in;
    table t = {.mask = 63};
    while (t.mask < 2 * uses) t.mask = 2 * t.mask + 1;
    t.nodes = sp__alloc_zero((t.mask + 1) * sizeof(void *));
    t.constants = sp__alloc_zero((t.mask + 1) * sizeof(void *));
    t.reads = sp__alloc((size_t)(f->n_nodes + 1) * sizeof(void *));
    sp_status status = t.nodes && t.constants && t.reads ? SP_OK : SP_NOMEM;
    for (sp_node *n = f->first, *next; n && status == SP_OK; n = next) {
        next = n->next;
        status = share_node(&t, n, count);
    }
    sp__free(t.nodes);
    sp__free(t.constants);
    sp__free(t.reads);
    return status;
}

static sp_status share_run(sp_graph *g, int *count)
{
    sp__marks_clear(g);
    sp_status status = SP_OK;
    sp__recorded_mark(g);
    for (sp_function *f = g->first; f && status == SP_OK; f = f->next)
        if (!f->mark) status = share_function(f, count);
    if (status == SP_OK) sp__values_forward(g);
    sp__marks_clear(g);
    return status;
}

const sp_pass sp_pass_share = {
    .name = "share",
    .what = "nodes shared",
    .doc = "Equal expressions are computed once.",
    .run = share_run,
};
