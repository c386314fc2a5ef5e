/* SPDX-License-Identifier: Apache-2.0 */
/* plan_place.c - plans with devices: where each node runs, and the copies between devices.
 *
 * A value has a place, where eager mode would have it, and memory, which may be elsewhere: what a device has no kernel for is computed on the CPU and stays
 * there until somebody needs it on the device. So a copy is made once for all who need it, never for nobody, and a copy back is no copy at all.
 *
 *   - A node belongs where the inputs are that it writes, else where the first of its inputs that is on a device is. What is made of constants alone is
 *     computed where new tensors go, or where the rest is.
 *   - Constants are brought to a device once, for all plans of the segment. Variables that are elsewhere are brought again when they have changed (mirrors).
 *   - What eager mode has on a device may be computed on the CPU, where that spares copies around something that has to be there: plan_cut.c.
 *   - Steps of a device do not take over memory of their inputs, and are not fused: its kernels were not promised to be called like that. */
#include "device/devices.h"
#include "graph/planner.h"
#include "ops/ops_impl.h"
#include "spore/ops_attrs.h"

sp_device *sp__plan_place_of(const sp_plan *p, int handle) { return p->roots[p->handles[handle].root].device; }

/* --- places ------------------------------------------------------------------------------------------------------- */

/* A state of random numbers: smaller than what is made of it, so it does not say where. */
static bool is_drawn(const sp_value *v)
{
    return v->origin == SP_VALUE_NODE && v->node->kind == SP_NODE_HOST &&
           strcmp(v->node->host->name, "random_state") == 0;
}

sp_status sp__planner_places(sp_planner *l, sp_tensor *const *in)
{
    sp_plan *p = l->p;
    const int n = p->n_in + p->n_variables;
    p->home = sp__place_now();
    p->where = sp__planner_take(p, (size_t)n, sizeof *p->where);
    l->nodes = sp__planner_take(p, (size_t)l->s->n_nodes, sizeof *l->nodes);
    if (!p->where || !l->nodes) return SP_NOMEM;
    for (int i = 0; i < n; i++) {
        p->where[i] = sp__tensor_device(i < p->n_in ? in[i] : p->variables[i - p->n_in]->tensor);
        p->roots[i].device = p->where[i]; /* roots of borders come first */
        if (!l->first) l->first = p->where[i];
    }
    for (int i = 0; i < p->n_in; i++) {
        sp__planned(l, l->s->in[i])->place = p->where[i];
        sp__planned(l, l->s->in[i])->anywhere = !p->where[i] && is_drawn(l->s->in[i]);
    }
    for (int i = 0; i < l->s->n_nodes && !l->first; i++) {
        const sp_node *node = l->s->nodes[i];
        if (node->op != &sp_op_device_copy) continue;
        const sp_device_copy_attrs *a = node->attrs;
        SP_TRY(sp_device_open(a->to, &l->first));
    }
    return SP_OK;
}

/* The device of the first input that is on one. Written: of those inputs that the operator writes, which must be on one. Constants do not count: they are
 * wherever they are needed, and it is copies of them that are written. */
static sp_status place_by(const sp_planner *l, const sp_node *n, bool written, sp_device **out, bool *any)
{
    sp_device *d = NULL;
    *any = false;
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i] || (written && !(i < 8 && n->op->writes >> i & 1))) continue;
        if (n->in[i]->origin == SP_VALUE_CONSTANT || sp__planned(l, n->in[i])->anywhere) continue;
        sp_device *own = sp__planned(l, n->in[i])->place;
        if (written && *any && own != d) return SP_DECLINED; /* node by node, which says what is wrong */
        *any = true;
        if (!d) d = own;
    }
    *out = d;
    return SP_OK;
}

sp_status sp__planner_device(sp_planner *l, const sp_node *n, sp_device **out)
{
    bool any = false, leaves = false;
    if (n->op->writes) SP_TRY(place_by(l, n, true, out, &any));
    if (!any) SP_TRY(place_by(l, n, false, out, &any));
    for (int i = 0; i < n->n_out; i++) leaves |= l->sets[sp__planned(l, n->out[i])->set].last == l->s->n_nodes;
    if (!any) *out = l->p->home || leaves ? l->p->home : l->first;
    for (int i = 0; i < n->n_out; i++) {
        sp__planned(l, n->out[i])->place = any ? *out : l->p->home;
        sp__planned(l, n->out[i])->anywhere = !any;
    }
    return SP_OK;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

sp_status sp__placed_run(const sp_call *c) { return sp__device_run(sp__tensor_device(c->out[0]), c); }

sp_status sp__placed_move(const sp_call *c) { return sp_tensor_assign(c->out[0], c->in[0]); }

/* A constant on a device: once for the segment. */
static sp_status place_constant(sp_planner *l, const sp_tensor *constant, sp_device *d, const sp_tensor **out)
{
    for (const sp_placed_constant *c = l->s->placed; c; c = c->next)
        if (c->of == constant && c->device == d) {
            *out = c->there;
            return SP_OK;
        }
    sp_placed_constant *c = sp__alloc_zero(sizeof *c);
    if (!c) return SP_NOMEM;
    sp_meta meta;
    sp__meta_of(constant, &meta);
    sp_status status = sp__device_tensor(d, &meta, &c->there);
    if (status == SP_OK) status = sp_tensor_assign(c->there, constant);
    if (status != SP_OK) {
        sp_tensor_release(c->there);
        sp__free(c);
        return status;
    }
    c->of = constant;
    c->device = d;
    c->next = l->s->placed;
    l->s->placed = c;
    *out = c->there;
    return SP_OK;
}

/* The root that has on device d what `root` has in main memory, in the same layout; -1: there is none, a step has to copy. */
static sp_status lasting_root(sp_planner *l, int root, sp_device *d, int *out)
{
    sp_plan *p = l->p;
    const sp_root r = p->roots[root];
    *out = -1;
    if (r.device || !d) return SP_OK;
    if (r.kind == SP_ROOT_CONSTANT && r.constant->flags & SP_TENSOR_CONTIGUOUS) {
        const sp_tensor *there = NULL;
        SP_TRY(place_constant(l, r.constant, d, &there));
        if ((*out = sp__planner_root(l, SP_ROOT_CONSTANT, 0, 0)) < 0) return SP_NOMEM;
        p->roots[*out].constant = (sp_tensor *)(uintptr_t)there;
    } else if (r.kind == SP_ROOT_VARIABLE && !p->stored[r.number] &&
               p->variables[r.number]->tensor->flags & SP_TENSOR_CONTIGUOUS) {
        for (int i = 0; i < p->n_roots && *out < 0; i++)
            if (p->roots[i].kind == SP_ROOT_MIRROR && p->roots[i].number == r.number && p->roots[i].device == d)
                *out = i;
        if (*out < 0 && (*out = sp__planner_root(l, SP_ROOT_MIRROR, r.number, 0)) < 0) return SP_NOMEM;
    }
    if (*out >= 0) p->roots[*out].device = d;
    return SP_OK;
}

static sp_status brought(sp_planner *l, const sp_node *n, int from, sp_device *d, int *out)
{
    int root;
    SP_TRY(lasting_root(l, l->p->handles[from].root, d, &root));
    if (root >= 0) {
        const sp_handle h = l->p->handles[from];
        *out = sp__planner_handle(l, &h.shape, root, h.offset);
        return *out < 0 ? SP_NOMEM : SP_OK;
    }
    if ((*out = sp__planner_like(l, from, d)) < 0) return SP_NOMEM;
    return sp__planner_copy(l, n, from, *out);
}

static sp_status copies_of(sp_planner *l, sp_planned *k, sp_planned_copy ***out)
{
    if (!k->copies && !(k->copies = sp__planner_take(l->p, 1, sizeof *k->copies))) return SP_NOMEM;
    *out = k->copies;
    return SP_OK;
}

sp_status sp__planner_bring(sp_planner *l, const sp_node *n, sp_value *v, sp_device *d, int *out)
{
    SP_TRY(sp__planner_value(l, v, out));
    if (!v || sp__plan_place_of(l->p, *out) == d) return SP_OK;
    sp_planned_copy **list;
    SP_TRY(copies_of(l, sp__planned(l, v), &list));
    for (const sp_planned_copy *c = *list; c; c = c->next)
        if (c->device == d) {
            *out = c->handle;
            return SP_OK;
        }
    sp_planned_copy *c = sp__planner_take(l->p, 1, sizeof *c);
    if (!c) return SP_NOMEM;
    SP_TRY(brought(l, n, *out, d, out));
    *c = (sp_planned_copy){.device = d, .handle = *out, .next = *list};
    *list = c;
    return SP_OK;
}

sp_status sp__planner_moved(sp_planner *l, const sp_node *n)
{
    const sp_device_copy_attrs *a = n->attrs;
    sp_planned *to = sp__planned(l, n->out[0]), *from = sp__planned(l, n->in[0]);
    sp_planned_copy **list;
    int handle;
    SP_TRY(sp_device_open(a->to, &to->place));
    SP_TRY(sp__planner_value(l, n->in[0], &handle));
    SP_TRY(copies_of(l, from, &list));
    to->handle = handle;
    to->copies = list;
    return SP_OK;
}

sp_status sp__planner_declined(sp_planner *l, const sp_call *c, sp_device *d)
{
    sp_plan *p = l->p;
    sp_plan_declined *more =
        sp__planner_more(p, p->declined, p->n_declined, &l->declined_capacity, sizeof *p->declined);
    if (!more) return SP_NOMEM;
    p->declined = more;
    more[p->n_declined] = (sp_plan_declined){.device = d, .op = c->op};
    for (int i = 0; i < c->n_in; i++) more[p->n_declined].bytes += c->in[i] ? sp_tensor_bytes(c->in[i]) : 0;
    for (int i = 0; i < c->n_out; i++) more[p->n_declined].bytes += c->out[i] ? sp_tensor_bytes(c->out[i]) : 0;
    p->n_declined++;
    return SP_OK;
}

/* --- arenas ------------------------------------------------------------------------------------------------------- */

static sp_plan_place *place_for(sp_plan *p, sp_device *d)
{
    int i = 0;
    while (i < p->n_places && p->places[i].device != d) i++;
    if (i == p->n_places) p->places[p->n_places++].device = d;
    return &p->places[i];
}

sp_status sp__plan_arenas(sp_plan *p)
{
    if (p->places) return SP_OK;
    if (!(p->places = sp__planner_take(p, SP_DEVICES_MAX, sizeof *p->places))) return SP_NOMEM;
    for (int i = 0; i < p->n_roots; i++)
        if (p->roots[i].device) place_for(p, p->roots[i].device);
    for (int i = 0; i < p->n_steps; i++)
        if (p->steps[i].run == sp__placed_run)
            place_for(p, sp__plan_place_of(p, p->steps[i].handles[p->steps[i].n_in]))->n_calls++;
    return SP_OK;
}
