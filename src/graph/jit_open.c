/* SPDX-License-Identifier: Apache-2.0 */
/* jit_open.c - two recordings of one function for different sizes: are they the same but for these, and what is open then?
 *
 * Functions, parameters and nodes are paired in the order they were recorded in. A pair is of one kind and operator, and has paired inputs, equal constants and
 * equal attributes. The geometry of a value may differ in sizes: these are open (-1), and programs find them out when they plan. An attribute is a number in
 * the IR and has to be equal, with two exceptions, whose shapes can say "what is left" and "as it is": reshape, where one size differs, and broadcast_to, where
 * those that differ are the operand's own. */
#include "graph/jit.h"
#include "ir/constant.h"
#include "ops/ops_impl.h"

typedef struct pairing {
    const sp_value **twin; /* by id of a value of the second recording: the one of the first */
    bool opens;            /* sizes may differ; else only where the first is open */
    bool edits;            /* and the second is opened */
} pairing;

enum { SHARED_BYTES = 4096 };

typedef struct {
    sp_ints shape;
} shape_attrs; /* of reshape and broadcast_to (geometry.c) */

static sp_status differ(const sp_node *n, const char *what)
{
    const sp_place *p = n != NULL ? n->place : NULL;
    const char *op = n != NULL && n->op != NULL ? n->op->name : n != NULL ? "a node" : "a function";
    return sp__fail(SP_DECLINED, "%s has %s with other sizes%s%s", op, what, p && p->text ? ": " : "",
                    p && p->text ? p->text : "");
}

/* --- values ------------------------------------------------------------------------------------------------------ */

static bool same_contents(const sp_tensor *a, const sp_tensor *b)
{
    if (a->dtype != b->dtype || !sp__tensor_same_shape(a, b)) return false;
    if (a->storage == b->storage && a->data == b->data &&
        memcmp(a->strides, b->strides, (size_t)a->rank * sizeof *a->strides) == 0)
        return true;
    if (!(a->flags & b->flags & SP_TENSOR_CONTIGUOUS) || sp_tensor_bytes(a) == 0) return a->count == 0;
    return memcmp(a->data, b->data, sp_tensor_bytes(a)) == 0;
}

/* How often a recording holds one and the same constant depends on addresses (sp__value_constant): contents decide. */
static bool same_value(const pairing *p, const sp_value *a, const sp_value *b)
{
    if (a == NULL || b == NULL) return a == b;
    if (a->origin != b->origin || a->weak != b->weak) return false;
    if (b->origin == SP_VALUE_FUNCTION) return a->target->id == b->target->id;
    if (p->twin[b->id] == a) return true;
    if (b->origin != SP_VALUE_CONSTANT || !same_contents(a->constant, b->constant)) return false;
    p->twin[b->id] = a;
    return true;
}

static bool pair_meta(const pairing *p, const sp_meta *a, sp_meta *b)
{
    if (a->rank < 0 && b->rank < 0) return true;
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (int k = 0; k < a->rank; k++) {
        if (a->dims[k] == b->dims[k] || (a->dims[k] < 0 && !p->opens)) continue;
        if (!p->opens) return false;
        if (p->edits) b->dims[k] = -1;
    }
    return true;
}

static sp_status pair_value(const pairing *p, const sp_node *n, const sp_value *a, sp_value *b)
{
    if (a->is_function != b->is_function || !pair_meta(p, &a->meta, &b->meta))
        return differ(n, "a result of another rank, dtype or size");
    p->twin[b->id] = a;
    return SP_OK;
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

/* The shape that a recorded node asks for: the sizes of its result where they are known, else what it was opened to. */
static bool target_of(const sp_node *n, int64_t *out, int *rank)
{
    const sp_meta *m = &n->out[0]->meta;
    const sp_ints shape = ((const shape_attrs *)n->attrs)->shape;
    const bool known = sp__meta_known(m);
    *rank = known ? m->rank : shape.n;
    for (int k = 0; k < *rank; k++) out[k] = known ? m->dims[k] : shape.v[k];
    return *rank >= 0;
}

/* `to`: a shape for both, in which the size that differs is what is left. */
static bool open_reshape(const int64_t *a, const int64_t *b, int rank, int64_t *to)
{
    int n_open = 0;
    for (int k = 0; k < rank; k++) {
        to[k] = a[k] == b[k] ? b[k] : -1;
        if (to[k] == 0) return false; /* nothing is left of nothing */
        n_open += to[k] < 0;
    }
    return n_open <= 1;
}

/* Dimension k of the result is that of the operand. */
static bool keeps_size(const sp_node *n, int k, int rank, int64_t size)
{
    const sp_meta *in = &n->in[0]->meta;
    const int own = k - (rank - in->rank);
    return in->rank >= 0 && own >= 0 && in->dims[own] == size;
}

static bool open_broadcast(const sp_node *a, const sp_node *b, const int64_t *from, const int64_t *at, int rank,
                           int64_t *to)
{
    for (int k = 0; k < rank; k++) {
        to[k] = from[k] == at[k] ? at[k] : -1;
        if (to[k] >= 0) continue;
        if (!keeps_size(b, k, rank, at[k]) || !(from[k] < 0 || keeps_size(a, k, rank, from[k]))) return false;
    }
    return true;
}

static sp_status pair_shape(const pairing *p, const sp_node *a, sp_node *b)
{
    int64_t from[SP_RANK_MAX], at[SP_RANK_MAX], to[SP_RANK_MAX];
    int rank, other;
    if (!sp__meta_known(&b->out[0]->meta)) return differ(b, "a result whose shape depends on contents,");
    if (!target_of(a, from, &other) || !target_of(b, at, &rank) || rank != other)
        return differ(b, "a result of another rank");
    const bool opened =
        b->op == &sp_op_reshape ? open_reshape(from, at, rank, to) : open_broadcast(a, b, from, at, rank, to);
    for (int k = 0; k < rank && opened && !p->opens; k++)
        if (to[k] < 0 && from[k] >= 0) return differ(b, "another shape");
    if (!opened) return differ(b, "a shape of which more than one size is another,");
    return p->edits ? sp__node_set_op(b, b->op, &(shape_attrs){{.n = rank, .v = to}}) : SP_OK;
}

static sp_status pair_attrs(const pairing *p, const sp_node *a, sp_node *b)
{
    const sp_op *op = b->op;
    const void *x = a->attrs != NULL ? a->attrs : op->defaults, *y = b->attrs != NULL ? b->attrs : op->defaults;
    if (op->n_attrs == 0 || x == y || sp__attrs_equal(op, x, y)) return SP_OK;
    if ((op == &sp_op_reshape || op == &sp_op_broadcast_to) && a->attrs != NULL && b->attrs != NULL)
        return pair_shape(p, a, b);
    return differ(b, "other attributes");
}

/* --- nodes and functions ----------------------------------------------------------------------------------------- */

static bool same_host(const sp_node *a, const sp_node *b)
{
    int x, y;
    if (a->host == NULL || b->host == NULL) return a->host == b->host;
    if (a->host->run == b->host->run && a->host->context == b->host->context) return true;
    return sp__node_is_size(a, &x) && sp__node_is_size(b, &y) && x == y;
}

/* Everything of two nodes but inputs, attributes and geometry. */
static sp_status same_kind(const sp_node *a, const sp_node *b)
{
    if (a->kind != b->kind || a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out)
        return differ(b, "another node in its place");
    if (a->grad != NULL || b->grad != NULL) return differ(b, "a gradient that is taken while it runs,");
    if ((a->variable != NULL ? a->variable->tensor : NULL) != (b->variable != NULL ? b->variable->tensor : NULL))
        return differ(b, "another weight");
    return same_host(a, b) ? SP_OK : differ(b, "code outside the graph");
}

typedef sp_status (*visit)(const pairing *p, const sp_node *a, sp_node *b);

static sp_status visit_kind(const pairing *p, const sp_node *a, sp_node *b)
{
    (void)p;
    return same_kind(a, b);
}

static sp_status visit_attrs(const pairing *p, const sp_node *a, sp_node *b)
{
    return b->op != NULL ? pair_attrs(p, a, b) : SP_OK;
}

static sp_status visit_results(const pairing *p, const sp_node *a, sp_node *b)
{
    for (int i = 0; i < b->n_out; i++) SP_TRY(pair_value(p, b, a->out[i], b->out[i]));
    return SP_OK;
}

/* Large constants that recordings make anew (weights of bytes as numbers) are one for both, and so are what kernels make of them. */
static sp_status share_constant(const pairing *p, const sp_value *a, sp_value *b)
{
    const bool worth =
        p->edits && b != NULL && b->origin == SP_VALUE_CONSTANT && sp_tensor_bytes(b->constant) >= SHARED_BYTES;
    return worth ? sp__value_share(b, a) : SP_OK;
}

static sp_status visit_inputs(const pairing *p, const sp_node *a, sp_node *b)
{
    for (int i = 0; i < b->n_in; i++) {
        if (!same_value(p, a->in[i], b->in[i])) return differ(b, "another input or constant");
        SP_TRY(share_constant(p, a->in[i], b->in[i]));
    }
    return SP_OK;
}

static sp_status each_node(const pairing *p, const sp_graph *x, sp_graph *y, visit fn)
{
    const sp_function *f = x->first;
    for (sp_function *g = y->first; g != NULL; g = g->next, f = f->next) {
        const sp_node *a = f->first;
        for (sp_node *b = g->first; b != NULL; b = b->next, a = a->next)
            SP_TRY(a != NULL ? fn(p, a, b) : differ(b, "more nodes"));
        if (a != NULL) return differ(a, "fewer nodes");
    }
    return SP_OK;
}

static sp_status pair_functions(const sp_graph *x, const sp_graph *y)
{
    const sp_function *f = x->first, *g = y->first;
    for (; f != NULL && g != NULL; f = f->next, g = g->next) {
        const bool same = f->id == g->id && f->n_params == g->n_params && f->n_results == g->n_results &&
                          (f->tail != NULL) == (g->tail != NULL) &&
                          (f->parent != NULL ? f->parent->id : -1) == (g->parent != NULL ? g->parent->id : -1);
        if (!same) return differ(NULL, "other parameters or results");
    }
    return f == g ? SP_OK : differ(NULL, "other functions beside it");
}

static sp_status pair_params(const pairing *p, const sp_graph *x, sp_graph *y)
{
    const sp_function *f = x->first;
    for (sp_function *g = y->first; g != NULL; g = g->next, f = f->next)
        for (int i = 0; i < g->n_params; i++) SP_TRY(pair_value(p, NULL, f->params[i], g->params[i]));
    return SP_OK;
}

static sp_status pair_ends(const pairing *p, const sp_graph *x, const sp_graph *y)
{
    const sp_function *f = x->first;
    for (const sp_function *g = y->first; g != NULL; g = g->next, f = f->next)
        for (int i = 0; i < g->n_results; i++)
            if (!same_value(p, f->results[i], g->results[i])) return differ(NULL, "another result");
    return SP_OK;
}

/* Attributes before geometry: they are opened by what the sizes were. */
static sp_status pair_graphs(const pairing *p, const sp_graph *x, sp_graph *y)
{
    SP_TRY(pair_functions(x, y));
    SP_TRY(each_node(p, x, y, visit_kind));
    SP_TRY(each_node(p, x, y, visit_attrs));
    SP_TRY(pair_params(p, x, y));
    SP_TRY(each_node(p, x, y, visit_results));
    SP_TRY(each_node(p, x, y, visit_inputs));
    return pair_ends(p, x, y);
}

static sp_status pair(const sp_function *base, sp_function *f, bool opens, bool edits)
{
    if (base->id != f->id) return differ(NULL, "another function to begin with");
    pairing p = {
        .twin = sp__alloc_zero(((size_t)f->graph->next_value + 1) * sizeof *p.twin), .opens = opens, .edits = edits};
    if (p.twin == NULL) return SP_NOMEM;
    const sp_status status = pair_graphs(&p, base->graph, f->graph);
    sp__free(p.twin);
    return status;
}

sp_status sp__recording_fits(const sp_function *open, sp_function *f) { return pair(open, f, false, false); }

sp_status sp__recording_open(const sp_function *base, sp_function *f)
{
    SP_TRY(pair(base, f, true, false));
    return pair(base, f, true, true);
}
