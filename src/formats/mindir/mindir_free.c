/* SPDX-License-Identifier: Apache-2.0 */
/* mindir_free.c - free sizes of a network being written: what is of another size in a second recording with other inputs gets the size -1,
 * in types and, where MindIR can say so, in attributes. */
#include <string.h>

#include "formats/mindir/mindir_out.h"
#include "formats/twins.h"

static void open_dims(sp_meta *m, const sp_meta *other)
{
    for (int k = 0; k < m->rank; k++)
        if (m->dims[k] != other->dims[k]) m->dims[k] = -1;
}

static sp_status unsaid(const sp_node *n, const char *name)
{
    return sp__fail(SP_DECLINED, "%s: its attribute '%s' depends on free sizes in a way that MindIR cannot say", n->op->name, name);
}

static bool has_size(const sp_value *v, const sp_value *twin, int64_t size, int64_t other, mo_size *out)
{
    for (int k = 0; v && k < v->meta.rank; k++)
        if (v->meta.dims[k] == size && twin->meta.dims[k] == other) {
            *out = (mo_size){v, k};
            return true;
        }
    return false;
}

/* Where a size of the result that is free comes from: an operand, or an argument of the network. */
static bool source_of(const mo_out *o, const sp_node *n, const sp_node *twin, int64_t size, int64_t other, mo_size *out)
{
    const sp_function *f = n->owner, *t = o->names->other;
    for (int i = 0; i < n->n_in; i++)
        if (has_size(n->in[i], twin->in[i], size, other, out)) return true;
    for (int i = 0; f == o->entry && i < f->n_params; i++)
        if (has_size(f->params[i], t->params[i], size, other, out)) return true;
    return false;
}

/* A shape that is an attribute: sizes are numbers, taken from operands, or (one of them) left to be inferred. Operands still have their sizes. */
static sp_status open_shape(mo_out *o, sp_node *n, const sp_node *twin)
{
    const sp_meta *m = &n->out[0]->meta, *t = &twin->out[0]->meta;
    sp_ints shape = sp__mo_attr_list(n, "shape");
    mo_size found, *from = NULL;
    int inferred = -1, n_from = 0, last = -1;
    if (shape.n != m->rank) return unsaid(n, "shape");
    for (int k = 0; k < m->rank && !strcmp(n->op->name, "reshape"); k++)
        if (shape.v[k] == -1) inferred = k;
    for (int k = 0; k < m->rank; k++) {
        int64_t *v = (int64_t *)(uintptr_t)&shape.v[k];
        if (k == inferred) continue;
        if (m->dims[k] == t->dims[k]) {
            *v = m->dims[k];
            continue;
        }
        bool source = source_of(o, n, twin, m->dims[k], t->dims[k], &found);
        if (!source && inferred < 0 && !strcmp(n->op->name, "reshape")) {
            inferred = k;
            *v = -1;
            continue;
        }
        if (!source) return unsaid(n, "shape");
        if (!from && !(from = sp__arena_alloc(&o->arena, SP_RANK_MAX * sizeof *from))) return SP_NOMEM;
        from[k] = found;
        n_from++;
        last = k;
    }
    if (n_from == 1 && inferred < 0 && !strcmp(n->op->name, "reshape")) { /* -1 says the same more simply */
        *(int64_t *)(uintptr_t)&shape.v[last] = -1;
        return SP_OK;
    }
    o->sizes[n->id] = from;
    return SP_OK;
}

/* Sizes in other attributes: a slice that ends with its operand does so at any size, one that starts from the end too. */
static sp_status open_attr(sp_node *n, const sp_node *twin, const char *name)
{
    sp_attr_type type = SP_ATTR_INT;
    const sp_ints *a = sp__mo_attr_at(n, name, &type), *t = sp__mo_attr_at(twin, name, &type);
    sp_ints step = sp__mo_attr_list(n, "step");
    if (!a || type != SP_ATTR_INTS || a->n != t->n) return SP_OK;
    for (int k = 0; k < a->n; k++) {
        int64_t *v = (int64_t *)(uintptr_t)&a->v[k], size = k < n->in[0]->meta.rank ? twin->in[0]->meta.dims[k] : 0;
        if (*v == t->v[k]) continue;
        bool slice = !strcmp(n->op->name, "slice");
        if (slice && !strcmp(name, "stop") && t->v[k] == size) *v = INT32_MAX;
        else if (slice && !strcmp(name, "start") && k < step.n && step.v[k] == -1 && t->v[k] == size - 1) *v = -1; /* turned round as a whole */
        else if (slice && t->v[k] - size == *v - n->in[0]->meta.dims[k] && (k >= step.n || step.v[k] > 0)) *v = t->v[k] - size;
        else return unsaid(n, name);
    }
    return SP_OK;
}

static sp_status open_node(mo_out *o, sp_node *n)
{
    static const char *const names[] = {"start", "stop", "sizes", "size", "output_size", "pads", "input_size", "pad"};
    const sp_node *t = n->mark;
    for (int i = 0; i < n->n_in; i++) {
        const sp_value *x = n->in[i];
        SP_CHECK(!x || x->origin != SP_VALUE_CONSTANT || sp__shape_equal(x->meta.rank, x->meta.dims, t->in[i]->meta.rank, t->in[i]->meta.dims),
                 SP_DECLINED, "%s takes a constant that depends on free sizes, which is not written to MindIR", n->op ? n->op->name : "a call");
    }
    sp_attr_type type;
    if (n->op && sp__mo_attr_at(n, "shape", &type) && type == SP_ATTR_INTS) SP_TRY(open_shape(o, n, t));
    for (size_t k = 0; n->op && k < sizeof names / sizeof *names; k++) SP_TRY(open_attr(n, t, names[k]));
    return SP_OK;
}

sp_status sp__mo_free_sizes(mo_out *o)
{
    SP_TRY(sp__graph_pair(o->graph, o->names->other->graph));
    /* Types last: sizes of operands tell where sizes in attributes come from. The twin of a node is kept where its results are. */
    for (sp_function *f = o->graph->first; f; f = f->next)
        for (sp_node *n = f->first; n; n = n->next) {
            const sp_node *t = n->mark;
            for (int i = 0; i < n->n_out; i++) n->out[i]->mark = t->out[i];
            SP_TRY(open_node(o, n));
        }
    for (sp_function *f = o->graph->first; f; f = f->next) {
        const sp_function *twin = f->mark;
        for (int i = 0; i < f->n_params; i++) open_dims(&f->params[i]->meta, &twin->params[i]->meta);
        for (sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_out; i++) open_dims(&n->out[i]->meta, &((const sp_value *)n->out[i]->mark)->meta);
    }
    return SP_OK;
}
