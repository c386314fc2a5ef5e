/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - nodes of a segment to steps, for known shapes.
 *
 * The nodes are walked once with handles that have geometry and an address that is never followed: each root pretends to
 * lie somewhere of its own, so that the views operators make can be told apart and measured. Inference, views and the choice
 * of kernels are those of eager mode, called here instead of there.
 *
 * What may be overwritten. A set of values is what views make of one value; `last` is the last node that uses any of them.
 *   - An operator that writes in place writes to its input's memory if no other value of its set is used later, and that
 *     memory is the plan's own, or that of a variable the result is stored to before anybody looks at it; else to a copy.
 *   - A value read from a variable is a view of it, unless the variable is stored to before the value's set is done with:
 *     then it is a copy.
 *   - The result of an element-wise operator takes over the memory of an input of the same size that ends there. */
#include <stdlib.h>

#include "base/parts.h"
#include "base/clock.h"
#include "device/blocked.h"
#include "device/devices.h"
#include "graph/program_cache.h"
#include "graph/planner.h"
#include "ops/ops_impl.h"

/* Pretended addresses. Each root begins in the middle of its span, because views reach in both directions; which root a view is of is told by
 * its storage. With 64 bits the spans are far from each other. With 32 bits there is no room for that: all roots have one span, which is
 * nearly all there is, and begin at places of their own in it. */
#if UINTPTR_MAX > UINT32_MAX
#define ROOT_BASE ((uintptr_t)(UINT64_C(1) << 46))
#define ROOT_SPAN ((uintptr_t)(UINT64_C(1) << 40))
#define ROOT_STEP ROOT_SPAN
#else
#define ROOT_BASE ((uintptr_t)1 << 16)
#define ROOT_SPAN (UINTPTR_MAX - 2 * ROOT_BASE + 1)
#define ROOT_STEP ((uintptr_t)64)
#endif

typedef sp_planner planner;
typedef sp_planned known;

static void *take(sp_plan *p, size_t n, size_t size) { return sp__planner_take(p, n, size); }

void *sp__planner_more(sp_plan *p, void *array, int n, int *capacity, size_t size)
{
    if (n < *capacity) return array;
    int bigger = *capacity ? 2 * *capacity : 64;
    void *block = take(p, (size_t)bigger, size);
    if (!block) return NULL;
    if (n) memcpy(block, array, (size_t)n * size);
    *capacity = bigger;
    return block;
}

/* --- roots and handles ------------------------------------------------------------------------------------------- */

static char *root_address(int root) { return (char *)(ROOT_BASE + ROOT_SPAN / 2 + (uintptr_t)root * ROOT_STEP); }

int sp__planner_root(sp_planner *l, sp_root_kind kind, int number, size_t bytes)
{
    sp_plan *p = l->p;
    int capacity = l->roots_capacity;
    sp_root *roots = sp__planner_more(p, p->roots, p->n_roots, &l->roots_capacity, sizeof *roots);
    sp_storage *storages = roots ? sp__planner_more(p, l->storages, p->n_roots, &capacity, sizeof *storages) : NULL;
    if (!storages) return -1;
    p->roots = roots;
    l->storages = storages;
    p->roots[p->n_roots] =
        (sp_root){.kind = kind, .number = number, .bytes = bytes, .first = INT32_MAX, .last = -1, .device = l->device};
    sp_storage *s = &l->storages[p->n_roots];
    atomic_init(&s->refs, 1 << 20);
    s->data = (void *)(ROOT_BASE + (ROOT_STEP == ROOT_SPAN ? (uintptr_t)p->n_roots * ROOT_SPAN : 0));
    s->bytes = ROOT_SPAN;
    return p->n_roots++;
}

int sp__planner_handle(sp_planner *l, const sp_tensor *geometry, int root, int64_t offset)
{
    sp_plan *p = l->p;
    sp_handle *handles = sp__planner_more(p, p->handles, p->n_handles, &l->handles_capacity, sizeof *handles);
    if (!handles) return -1;
    p->handles = handles;
    sp_handle *h = &handles[p->n_handles];
    h->shape = *geometry;
    atomic_init(&h->shape.refs, 1);
    h->shape.node = NULL;
    h->shape.node_index = 0;
    h->shape.seen = 0;
    h->shape.storage = NULL; /* storages move while they are collected: set by view_of() for the time of a call */
    h->shape.data = root_address(root) + offset;
    h->shape.flags = (uint8_t)(geometry->flags & SP_TENSOR_CONTIGUOUS);
    h->root = root;
    h->offset = offset;
    return p->n_handles++;
}

/* New row-major memory in the arena. */
static int add_fresh(planner *l, const sp_meta *m)
{
    sp_tensor t = {.dtype = (int8_t)m->dtype, .rank = (int8_t)m->rank, .flags = SP_TENSOR_CONTIGUOUS};
    if (sp__shape_count(m->rank, m->dims, &t.count) != SP_OK) return -1;
    memcpy(t.dims, m->dims, sizeof t.dims);
    sp__shape_strides(t.rank, t.dims, t.strides);
    int root = sp__planner_root(l, SP_ROOT_ARENA, 0, (size_t)t.count * sp_dtype_bytes(m->dtype));
    return root < 0 ? -1 : sp__planner_handle(l, &t, root, 0);
}

int sp__planner_like(sp_planner *l, int handle, sp_device *d)
{
    sp_meta m;
    sp__meta_of(&l->p->handles[handle].shape, &m);
    l->device = d;
    const int like = add_fresh(l, &m);
    l->device = NULL;
    return like;
}

static int add_like(planner *l, int handle) { return sp__planner_like(l, handle, sp__plan_place_of(l->p, handle)); }

/* --- steps ------------------------------------------------------------------------------------------------------- */

/* A step at the end; in and out are handles. */
static sp_status add_step(planner *l, const sp_node *node, const sp_op *op, const void *attrs, sp_kernel_fn run,
                          size_t work_bytes, int n_in, const int *in, int n_out, const int *out)
{
    sp_plan *p = l->p;
    sp_step *steps = sp__planner_more(p, p->steps, p->n_steps, &l->steps_capacity, sizeof *steps);
    int *handles = steps ? take(p, (size_t)(n_in + n_out), sizeof *handles) : NULL;
    if (!handles) return SP_NOMEM;
    p->steps = steps;
    for (int i = 0; i < n_in; i++) handles[i] = in[i];
    for (int i = 0; i < n_out; i++) handles[n_in + i] = out[i];
    int work = -1;
    if (work_bytes && (work = sp__planner_root(l, SP_ROOT_ARENA, 0, work_bytes)) < 0) return SP_NOMEM;
    p->steps[p->n_steps] = (sp_step){.node = node,
                                     .run = run,
                                     .op = op,
                                     .attrs = attrs,
                                     .n_in = n_in,
                                     .n_out = n_out,
                                     .handles = handles,
                                     .work = work};
    p->n_steps++;
    return SP_OK;
}

sp_status sp__planner_copy(sp_planner *l, const sp_node *node, int from, int to)
{
    sp_plan *p = l->p;
    if (SP_HAVE_PLUGINS && (sp__plan_place_of(p, from) || sp__plan_place_of(p, to))) {
        p->n_between += sp__plan_place_of(p, from) != sp__plan_place_of(p, to);
        return add_step(l, node, &sp_op_copy, NULL, sp__placed_move, 0, 1, &from, 1, &to);
    }
    p->n_copies++;
    SP_TRY(add_step(l, node, &sp_op_copy, NULL, sp_op_copy.reference, 0, 1, &from, 1, &to));
    sp_tensor *in = &p->handles[from].shape, *out = &p->handles[to].shape;
    p->steps[p->n_steps - 1].loop = sp_op_copy.loop(&(sp_call){.n_in = 1, .n_out = 1, .in = &in, .out = &out});
    return SP_OK;
}

static bool writes_root(const sp_plan *p, const sp_step *s, int root)
{
    const int end = s->n_in + s->n_out;
    for (int k = s->n_in; k < end; k++)
        if (sp__step_root(p, s, k) == root) return true;
    for (int k = end + s->tail_in; k < end + s->tail_in + s->tail_out; k++)
        if (sp__step_root(p, s, k) == root) return true;
    return s->work == root;
}

bool sp__steps_depend(const sp_plan *p, const sp_step *a, const sp_step *b)
{
    for (int k = 0; k < sp__step_handles(a); k++) {
        int root = sp__step_root(p, a, k);
        if (root >= 0 && writes_root(p, b, root)) return true;
    }
    for (int k = 0; k < sp__step_handles(b); k++) {
        int root = sp__step_root(p, b, k);
        if (root >= 0 && writes_root(p, a, root)) return true;
    }
    return false;
}

bool sp__step_can_move(const sp_plan *p, int from, int to)
{
    for (int i = to; i < from; i++)
        if (sp__steps_depend(p, &p->steps[i], &p->steps[from])) return false;
    return true;
}

int *sp__plan_users(const sp_plan *p)
{
    int *users = sp__alloc_zero((size_t)(p->n_roots + 1) * sizeof *users);
    for (int i = 0; users && i < p->n_steps; i++)
        for (int k = 0; k < sp__step_handles(&p->steps[i]); k++) {
            int root = sp__step_root(p, &p->steps[i], k);
            bool seen = root < 0;
            for (int j = 0; j < k && !seen; j++) seen = sp__step_root(p, &p->steps[i], j) == root;
            if (!seen) users[root]++;
        }
    return users;
}

/* --- the walk before: sets, last uses, stores -------------------------------------------------------------------- */

static known *known_of(const planner *l, const sp_value *v) { return sp__planned(l, v); }

static void mark_value(planner *l, sp_value *v, int set)
{
    if (!v || v->mark) return;
    l->values[l->n_values] = (known){.handle = -1, .set = set >= 0 ? set : l->n_sets++};
    l->marked[l->n_values++] = v;
    v->mark = (void *)(intptr_t)l->n_values;
}

/* Ids of variables are dense in the graph: found by id, so that networks with many of them are surveyed in one walk. */
static sp_status survey_variables(planner *l)
{
    const sp_segment *s = l->s;
    sp_plan *p = l->p;
    const int n_all = s->nodes[0]->owner->graph->n_variables;
    int n_used = 0;
    for (int i = 0; i < s->n_nodes; i++) n_used += s->nodes[i]->variable != NULL;
    p->variables = take(p, (size_t)n_used, sizeof *p->variables);
    p->stored = take(p, (size_t)n_used, sizeof *p->stored);
    l->variable_of = take(p, (size_t)s->n_nodes, sizeof *l->variable_of);
    l->next_store = take(p, (size_t)s->n_nodes, sizeof *l->next_store);
    l->next_touch = take(p, (size_t)s->n_nodes, sizeof *l->next_touch);
    l->first_touch = take(p, (size_t)n_used, sizeof *l->first_touch);
    int *by_id = sp__alloc((size_t)(n_all + 1) * sizeof *by_id);
    if (!p->variables || !p->stored || !l->variable_of || !l->next_store || !l->next_touch || !l->first_touch ||
        !by_id) {
        sp__free(by_id);
        return SP_NOMEM;
    }
    for (int k = 0; k < n_all; k++) by_id[k] = -1;
    for (int i = 0; i < s->n_nodes; i++) {
        sp_variable *v = s->nodes[i]->variable;
        l->variable_of[i] = -1;
        if (!v) continue;
        if (by_id[v->id] < 0) {
            by_id[v->id] = p->n_variables;
            p->variables[p->n_variables++] = v;
        }
        l->variable_of[i] = by_id[v->id];
        if (s->nodes[i]->kind == SP_NODE_STORE) p->stored[by_id[v->id]] = true;
    }
    for (int k = 0; k < p->n_variables; k++) {
        by_id[k] = s->n_nodes;
        l->first_touch[k] = -1;
    }
    for (int i = s->n_nodes - 1; i >= 0; i--) {
        int k = l->variable_of[i];
        if (k < 0) continue;
        l->next_store[i] = by_id[k];
        l->next_touch[i] = l->first_touch[k];
        l->first_touch[k] = i;
        if (s->nodes[i]->kind == SP_NODE_STORE) by_id[k] = i;
    }
    sp__free(by_id);
    return SP_OK;
}

static sp_status survey(planner *l)
{
    const sp_segment *s = l->s;
    size_t most = (size_t)s->n_in;
    for (int i = 0; i < s->n_nodes; i++) most += (size_t)(s->nodes[i]->n_in + s->nodes[i]->n_out);
    l->values = sp__alloc((most + 1) * sizeof *l->values);
    l->sets = sp__alloc((most + 1) * sizeof *l->sets);
    l->marked = sp__alloc((most + 1) * sizeof *l->marked);
    if (!l->values || !l->sets || !l->marked) return SP_NOMEM;
    for (int i = 0; i < s->n_in; i++) mark_value(l, s->in[i], -1);
    for (int i = 0; i < s->n_nodes; i++) {
        const sp_node *n = s->nodes[i];
        for (int k = 0; k < n->n_in; k++) mark_value(l, n->in[k], -1);
        int set = n->kind == SP_NODE_OP && n->op->view && n->n_in && n->in[0] ? known_of(l, n->in[0])->set : -1;
        for (int k = 0; k < n->n_out; k++) mark_value(l, n->out[k], set);
    }
    for (int k = 0; k < l->n_sets; k++) l->sets[k].last = -1;
    for (int i = 0; i < s->n_nodes; i++)
        for (int k = 0; k < s->nodes[i]->n_in; k++)
            if (s->nodes[i]->in[k]) l->sets[known_of(l, s->nodes[i]->in[k])->set].last = i;
    for (int i = 0; i < s->n_out; i++) l->sets[known_of(l, s->out[i])->set].last = s->n_nodes;
    return survey_variables(l);
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

sp_status sp__planner_value(sp_planner *l, sp_value *v, int *out)
{
    *out = -1;
    if (!v) return SP_OK;
    known *k = known_of(l, v);
    if (k->handle < 0 && v->origin == SP_VALUE_CONSTANT) {
        int root = sp__planner_root(l, SP_ROOT_CONSTANT, 0, 0);
        if (root < 0 || (k->handle = sp__planner_handle(l, v->constant, root, 0)) < 0) return SP_NOMEM;
        l->p->roots[root].constant = v->constant;
    }
    SP_CHECK(k->handle >= 0, SP_RUNTIME, "a value is used before it is made");
    *out = k->handle;
    return SP_OK;
}

/* The call as the operator's functions see it: tensors[] are copies of the handles with their pretended storages. */
static void fill_call(planner *l, int n, const int *handles, sp_tensor *tensors, sp_tensor **pointers)
{
    for (int i = 0; i < n; i++) {
        pointers[i] = NULL;
        if (handles[i] < 0) continue;
        tensors[i] = l->p->handles[handles[i]].shape;
        tensors[i].storage = &l->storages[l->p->handles[handles[i]].root];
        pointers[i] = &tensors[i];
    }
}

/* Handles for the views an operator made; the tensors are released. */
static sp_status adopt_views(planner *l, const sp_node *n, sp_tensor **out)
{
    sp_status status = SP_OK;
    for (int i = 0; i < n->n_out; i++) {
        if (out[i] && status == SP_OK) {
            int root = (int)(out[i]->storage - l->storages);
            int handle = sp__planner_handle(l, out[i], root, out[i]->data - root_address(root));
            if (handle < 0) status = SP_NOMEM;
            else known_of(l, n->out[i])->handle = handle;
        }
        sp_tensor_release(out[i]);
    }
    return status;
}

/* Is this value of the plan's own memory, of its own size, and used by nobody after this node? */
static bool ends_here(planner *l, const sp_node *n, int input)
{
    if (!n->in[input] || n->in[input]->origin == SP_VALUE_CONSTANT) return false;
    const known *k = known_of(l, n->in[input]);
    if (l->sets[k->set].last != l->node) return false;
    for (int i = 0; i < n->n_in; i++)
        if (i != input && n->in[i] && n->in[i]->origin != SP_VALUE_CONSTANT &&
            l->p->handles[known_of(l, n->in[i])->handle].root == l->p->handles[k->handle].root)
            return false;
    return true;
}

/* May the operator write to a variable's own memory? Its result must be stored there, and until then nobody may look: no
 * other value that shows the variable may be used after this node, no READ may come in between. */
static bool stored_next(planner *l, const sp_node *n, int result, int variable)
{
    const sp_segment *s = l->s;
    int store = l->first_touch[variable];
    while (store >= 0 && store <= l->node) store = l->next_touch[store];
    if (store < 0 || s->nodes[store]->kind != SP_NODE_STORE || s->nodes[store]->in[0] != n->out[result]) return false;
    if (l->sets[known_of(l, n->out[result])->set].last > l->next_store[store]) return false;
    for (int i = l->first_touch[variable]; i >= 0 && i < l->node; i = l->next_touch[i]) {
        if (s->nodes[i]->kind != SP_NODE_READ) continue;
        const known *k = known_of(l, s->nodes[i]->out[0]);
        if (k->handle >= 0 && l->p->roots[l->p->handles[k->handle].root].kind == SP_ROOT_VARIABLE &&
            l->sets[k->set].last > l->node)
            return false;
    }
    return true;
}

/* Values of an operator that writes in place: the inputs' own memory where that is allowed, else copies. */
static sp_status prepare_writes(planner *l, const sp_node *n, int *in)
{
    for (int i = 0, result = 0; i < n->n_in && i < 8; i++) {
        if (!(n->op->writes >> i & 1)) continue;
        const sp_handle *h = &l->p->handles[in[i]];
        const sp_root *r = &l->p->roots[h->root];
        bool own = ends_here(l, n, i) && (h->shape.flags & SP_TENSOR_CONTIGUOUS);
        if (r->kind == SP_ROOT_VARIABLE) own = own && stored_next(l, n, result, r->number);
        else own = own && r->kind == SP_ROOT_ARENA;
        if (!own) {
            int copy = add_like(l, in[i]);
            if (copy < 0) return SP_NOMEM;
            SP_TRY(sp__planner_copy(l, n, in[i], copy));
            in[i] = copy;
        }
        known_of(l, n->out[result])->handle = in[i];
        result++;
    }
    return SP_OK;
}

static sp_status check_call(const sp_call *c)
{
    const sp_op *op = c->op;
    if (op->promote != SP_PROMOTE_NONE)
        for (int i = 0; i < c->n_in; i++) {
            if (!c->in[i]) continue;
            char kind = sp_dtype_kind((sp_dtype)c->in[i]->dtype);
            if (c->in[i]->dtype != c->in[0]->dtype) return SP_DECLINED;
            if (op->promote == SP_PROMOTE_FLOAT && kind != 'f' && kind != 'c') return SP_DECLINED;
        }
    uint32_t allowed = op->dtypes ? op->dtypes : SP_DT_ALL;
    return c->n_in && c->in[0] && !(allowed >> c->in[0]->dtype & 1) ? SP_DECLINED : SP_OK;
}

/* Row-major inputs for a kernel that wants them. */
static sp_status straighten(planner *l, const sp_node *n, int *in)
{
    for (int i = 0; i < n->n_in; i++) {
        if (in[i] < 0 || l->p->handles[in[i]].shape.flags & SP_TENSOR_CONTIGUOUS) continue;
        int copy = add_like(l, in[i]);
        if (copy < 0) return SP_NOMEM;
        SP_TRY(sp__planner_copy(l, n, in[i], copy));
        in[i] = copy;
    }
    return SP_OK;
}

/* The input whose memory the only result of an element-wise operator may take over: it ends here, lies in the arena, and is
 * laid out as the result will be. Element i is read before it is written. -1: none. */
static int reuse_input(planner *l, const sp_node *n, const sp_call *c, const sp_meta *m, const int *in)
{
    if (l->device || !(l->s->planning & SP_PLAN_REUSE) || !n->op->loop || n->n_out != 1) return -1;
    for (int i = 0; i < n->n_in; i++) {
        if (in[i] < 0 || !ends_here(l, n, i)) continue;
        const sp_handle *h = &l->p->handles[in[i]];
        const sp_root *r = &l->p->roots[h->root];
        if (r->kind == SP_ROOT_ARENA && h->offset == 0 && (h->shape.flags & SP_TENSOR_CONTIGUOUS) &&
            sp_tensor_bytes(&h->shape) == r->bytes &&
            sp_dtype_bytes(m->dtype) == sp_dtype_bytes((sp_dtype)c->in[i]->dtype) &&
            sp__shape_equal(m->rank, m->dims, h->shape.rank, h->shape.dims))
            return in[i];
    }
    return -1;
}

static int add_over(planner *l, int handle, sp_dtype dtype)
{
    sp_tensor t = l->p->handles[handle].shape;
    t.dtype = (int8_t)dtype;
    l->p->n_reused++;
    return sp__planner_handle(l, &t, l->p->handles[handle].root, 0);
}

static sp_status fresh_results(planner *l, const sp_node *n, const sp_call *c, sp_meta *metas, const int *in, int *out)
{
    SP_TRY(sp__infer(c, metas));
    for (int i = 0; i < n->n_out; i++) {
        for (int k = 0; k < metas[i].rank; k++)
            if (metas[i].dims[k] < 0) return SP_DECLINED;
        int over = reuse_input(l, n, c, &metas[i], in);
        out[i] = over < 0 ? add_fresh(l, &metas[i]) : add_over(l, over, metas[i].dtype);
        if (out[i] < 0) return SP_NOMEM;
        known_of(l, n->out[i])->handle = out[i];
    }
    return SP_OK;
}

/* Room for the tensors of one call. */
typedef struct {
    int *in, *out;
    sp_tensor *tensors, **pointers;
    sp_meta *metas;
    void *block;
} call_room;

static sp_status room_make(call_room *r, int n_in, int n_out)
{
    size_t n = (size_t)(n_in + n_out) + 1;
    char *at = sp__alloc(n * (sizeof(sp_tensor) + sizeof(sp_tensor *) + sizeof(sp_meta) + sizeof(int)));
    if (!at) return SP_NOMEM;
    r->block = at;
    r->tensors = (sp_tensor *)(void *)at;
    r->metas = (sp_meta *)(void *)(at += n * sizeof(sp_tensor));
    r->pointers = (sp_tensor **)(void *)(at += n * sizeof(sp_meta));
    r->in = (int *)(void *)(at + n * sizeof(sp_tensor *));
    r->out = r->in + n_in;
    return SP_OK;
}

/* Weights that are constants of the program: once in the order that the kernel would bring them into in every run. */
static sp_status prepare_constant(sp_plan *p, sp_step *s)
{
    sp_tensor tensors[SP_IN_MAX + 1], *in[SP_IN_MAX + 1];
    if (!s->prepared_bytes || s->n_in < 2 || s->handles[1] < 0 || s->n_in + s->n_out > SP_IN_MAX + 1) return SP_OK;
    const sp_root *r = &p->roots[p->handles[s->handles[1]].root];
    if (r->kind != SP_ROOT_CONSTANT && r->kind != SP_ROOT_VARIABLE) return SP_OK;
    for (int i = 0; i < s->n_in + s->n_out; i++) {
        in[i] = s->handles[i] < 0 ? NULL : &tensors[i];
        if (in[i]) tensors[i] = p->handles[s->handles[i]].shape;
    }
    const sp_call c = {
        .op = s->op, .attrs = s->attrs, .n_in = s->n_in, .n_out = s->n_out, .in = in, .out = in + s->n_in};
    const size_t bytes = s->prepared_bytes(&c);
    if (!bytes) return SP_OK;
    if (r->kind == SP_ROOT_VARIABLE) { /* instances look whether it stays the same */
        s->keeps_bytes = bytes;
        return SP_OK;
    }
    tensors[1].data = r->constant->data + p->handles[s->handles[1]].offset;
    SP_TRY(sp__plan_pack(p, s, &c, r->constant, bytes));
    p->n_prepared++;
    return SP_OK;
}

/* Inputs that lie along an axis of the result, as broadcasting sees them: [channels, 1, 1]. Kernels see the same numbers. */
static sp_status spread_inputs(planner *l, sp_step *s)
{
    if (!s->loop.fn || !s->op->loop_axis) return SP_OK;
    const int rank = l->p->handles[s->handles[s->n_in]].shape.rank - s->op->loop_axis;
    for (int i = 0; i < s->n_in; i++) {
        const sp_handle h = l->p->handles[s->handles[i]];
        if (h.shape.rank != 1 || rank <= 1) continue;
        sp_tensor t = h.shape;
        t.rank = (int8_t)rank;
        for (int k = 1; k < rank; k++) t.dims[k] = t.strides[k] = 1;
        if ((s->handles[i] = sp__planner_handle(l, &t, h.root, h.offset)) < 0) return SP_NOMEM;
    }
    return SP_OK;
}

/* Inputs on the device, for a call: handles and tensors. */
static sp_status bring_inputs(planner *l, const sp_node *n, sp_device *d, call_room *r)
{
    for (int i = 0; i < n->n_in; i++) SP_TRY(sp__planner_bring(l, n, n->in[i], d, &r->in[i]));
    fill_call(l, n->n_in, r->in, r->tensors, r->pointers);
    return SP_OK;
}

/* Has the device a kernel for the call? It is asked with the inputs as they would come: copies are row-major. */
static sp_status device_takes(planner *l, const sp_node *n, sp_device *d, sp_call *c, call_room *r, bool *takes)
{
    SP_TRY(sp__infer(c, r->metas));
    for (int i = 0; i < n->n_in; i++)
        if (r->in[i] >= 0 && sp__plan_place_of(l->p, r->in[i]) != d) {
            sp__shape_strides(r->tensors[i].rank, r->tensors[i].dims, r->tensors[i].strides);
            r->tensors[i].flags |= SP_TENSOR_CONTIGUOUS;
        }
    for (int i = 0; i < n->n_out; i++) {
        const sp_meta *m = &r->metas[i];
        sp_tensor *t = &r->tensors[n->n_in + i];
        *t = (sp_tensor){.dtype = (int8_t)m->dtype, .rank = (int8_t)m->rank, .flags = SP_TENSOR_CONTIGUOUS};
        for (int k = 0; k < m->rank; k++)
            if (m->dims[k] < 0) return SP_DECLINED;
        SP_TRY(sp__shape_count(m->rank, m->dims, &t->count));
        memcpy(t->dims, m->dims, sizeof t->dims);
        sp__shape_strides(t->rank, t->dims, t->strides);
        c->out[i] = t;
    }
    *takes = sp__device_takes(d, c);
    if (!*takes) SP_TRY(sp__planner_declined(l, c, d));
    for (int i = 0; i < n->n_out; i++) c->out[i] = NULL;
    return SP_OK;
}

/* The rest of a call on device d: a step of its own, with inputs brought there. */
static sp_status plan_there(planner *l, const sp_node *n, sp_device *d, sp_call *c, call_room *r)
{
    SP_TRY(bring_inputs(l, n, d, r));
    if (n->op->writes) {
        SP_TRY(prepare_writes(l, n, r->in));
        for (int i = 0; i < n->n_out; i++) r->out[i] = known_of(l, n->out[i])->handle;
    } else {
        l->device = d;
        const sp_status status = fresh_results(l, n, c, r->metas, r->in, r->out);
        l->device = NULL;
        SP_TRY(status);
    }
    SP_TRY(add_step(l, n, n->op, c->attrs, sp__placed_run, 0, n->n_in, r->in, n->n_out, r->out));
    sp_step there = l->p->steps[l->p->n_steps - 1]; /* as the CPU would have it */
    fill_call(l, n->n_in + n->n_out, r->in, r->tensors, r->pointers);
    if (n->op->loop) there.loop = n->op->loop(c);
    l->nodes[l->node].cpu_ns = sp__step_cost(l->p, &there);
    return SP_OK;
}

static sp_status plan_op(planner *l, const sp_node *n, call_room *r)
{
    sp_device *d = NULL;
    if (sp__plan_is_placed(l->p)) {
        l->nodes[l->node].same = n->op == &sp_op_device_copy;
        if (n->op == &sp_op_device_copy) return sp__planner_moved(l, n);
        SP_TRY(sp__planner_device(l, n, &d));
        const bool fixed = n->op->writes || n->op->collective || (n->op->view && n->n_in > 1);
        l->nodes[l->node].choice = !d ? SP_NODE_ON_CPU : fixed ? SP_NODE_ON_DEVICE : SP_NODE_ON_EITHER;
    }
    for (int i = 0; i < n->n_in; i++) SP_TRY(sp__planner_value(l, n->in[i], &r->in[i]));
    fill_call(l, n->n_in, r->in, r->tensors, r->pointers);
    sp_tensor **results = r->pointers + n->n_in;
    for (int i = 0; i < n->n_out; i++) results[i] = NULL;
    sp_call c = {.op = n->op, .attrs = n->attrs, .n_in = n->n_in, .n_out = n->n_out, .in = r->pointers, .out = results};
    if (!c.attrs && n->op->n_attrs) c.attrs = n->op->defaults;
    SP_TRY(check_call(&c));
    if (n->op->n_out < 0) {
        int count = n->op->count(&c);
        SP_CHECK(count == n->n_out, SP_VALUE, "%s gives %d results here, the program was made for %d", n->op->name,
                 count, n->n_out);
    }
    if (sp__plan_is_placed(l->p) && n->op->view && n->n_in > 1) SP_TRY(bring_inputs(l, n, d, r));
    if (n->op->view && !(SP_HAVE_PLUGINS && n->op == &sp_op_device_copy)) {
        sp_status status = n->op->view(&c);
        if (status == SP_OK && sp__plan_is_placed(l->p)) l->nodes[l->node].same = n->n_in == 1;
        if (status == SP_OK) return adopt_views(l, n, results);
        if (status != SP_DECLINED) return status;
    }
    if (SP_HAVE_PLUGINS && d && !(l->on_cpu && l->on_cpu[l->node])) {
        bool takes = true;
        if (!n->op->writes) SP_TRY(device_takes(l, n, d, &c, r, &takes));
        if (takes) return plan_there(l, n, d, &c, r);
        l->nodes[l->node].choice = SP_NODE_ON_CPU;
    }
    l->n_on_cpu++;
    if (sp__plan_is_placed(l->p)) SP_TRY(bring_inputs(l, n, NULL, r));
    if (n->op->writes) {
        SP_TRY(prepare_writes(l, n, r->in));
        for (int i = 0; i < n->n_out; i++) r->out[i] = known_of(l, n->out[i])->handle;
    } else {
        SP_TRY(fresh_results(l, n, &c, r->metas, r->in, r->out));
    }
    /* The kernel is chosen by what it is called with in eager mode: the inputs as they are. */
    fill_call(l, n->n_in + n->n_out, r->in, r->tensors, r->pointers);
    sp_kernel kernel;
    SP_TRY(sp__kernel_choose(&c, &kernel));
    if (!kernel.strided) {
        SP_TRY(straighten(l, n, r->in));
        fill_call(l, n->n_in + n->n_out, r->in, r->tensors, r->pointers);
    }
    size_t work = kernel.workspace ? kernel.workspace(&c) : 0;
    SP_TRY(add_step(l, n, n->op, c.attrs, kernel.run, work, n->n_in, r->in, n->n_out, r->out));
    if (kernel.loop) l->p->steps[l->p->n_steps - 1].loop = kernel.loop(&c);
    SP_TRY(spread_inputs(l, &l->p->steps[l->p->n_steps - 1]));
    sp_step *s = &l->p->steps[l->p->n_steps - 1];
    s->epilogue = kernel.epilogue;
    s->epilogue_run = kernel.epilogue_run;
    s->prologue = kernel.prologue;
    s->prepared_bytes = kernel.prepared_bytes;
    s->prepare = kernel.prepare;
    s->prepared_form = kernel.prepared_form;
    if (SP_HAVE_BLOCKS && kernel.blocked && kernel.blocked->takes(&c)) s->blocked = kernel.blocked;
    return SP_OK;
}

static int variable_handle(planner *l, int variable)
{
    /* Roots of the inputs come first, then those of the variables: see plan_borders. */
    int root = l->s->n_in + variable;
    return sp__planner_handle(l, l->p->variables[variable]->tensor, root, 0);
}

static sp_status plan_read(planner *l, const sp_node *n)
{
    int handle = variable_handle(l, l->variable_of[l->node]);
    if (handle < 0) return SP_NOMEM;
    known *k = known_of(l, n->out[0]);
    k->handle = handle;
    k->place = sp__plan_place_of(l->p, handle);
    if (l->sets[k->set].last <= l->next_store[l->node]) return SP_OK;
    int copy = add_like(l, handle);
    if (copy < 0) return SP_NOMEM;
    k->handle = copy;
    return sp__planner_copy(l, n, handle, copy);
}

static bool same_view(const sp_handle *a, const sp_handle *b)
{
    return a->root == b->root && a->offset == b->offset && a->shape.dtype == b->shape.dtype &&
           sp__tensor_same_shape(&a->shape, &b->shape) &&
           memcmp(a->shape.strides, b->shape.strides, (size_t)a->shape.rank * sizeof(int64_t)) == 0;
}

static sp_status plan_store(planner *l, const sp_node *n)
{
    int from, to = variable_handle(l, l->variable_of[l->node]);
    if (to < 0) return SP_NOMEM;
    SP_TRY(sp__planner_value(l, n->in[0], &from));
    const sp_handle *a = &l->p->handles[from], *b = &l->p->handles[to];
    if (same_view(a, b)) return SP_OK; /* written in place */
    SP_CHECK(sp__tensor_same_shape(&a->shape, &b->shape), SP_VALUE, "a value of another shape is stored to a variable");
    if (a->root == b->root) { /* part of itself, seen otherwise: through a copy */
        int copy = add_like(l, from);
        if (copy < 0) return SP_NOMEM;
        SP_TRY(sp__planner_copy(l, n, from, copy));
        from = copy;
    }
    return sp__planner_copy(l, n, from, to);
}

static sp_status plan_node(planner *l, const sp_node *n)
{
    if (n->kind == SP_NODE_READ) return plan_read(l, n);
    if (n->kind == SP_NODE_STORE) return plan_store(l, n);
    call_room room;
    SP_TRY(room_make(&room, n->n_in, n->n_out));
    sp_status status = plan_op(l, n, &room);
    sp__free(room.block);
    return status;
}

/* --- borders ----------------------------------------------------------------------------------------------------- */

static sp_status plan_inputs(planner *l, sp_tensor *const *in)
{
    sp_plan *p = l->p;
    const sp_segment *s = l->s;
    p->n_in = s->n_in;
    p->in = take(p, (size_t)(p->n_in + p->n_variables), sizeof *p->in);
    if (!p->in) return SP_NOMEM;
    for (int i = 0; i < p->n_in; i++) {
        p->in[i] = *in[i];
        int root = sp__planner_root(l, SP_ROOT_ARG, i, 0);
        if (root < 0 || (known_of(l, s->in[i])->handle = sp__planner_handle(l, in[i], root, 0)) < 0) return SP_NOMEM;
    }
    for (int i = 0; i < p->n_variables; i++) {
        p->in[p->n_in + i] = *p->variables[i]->tensor;
        if (sp__planner_root(l, SP_ROOT_VARIABLE, i, 0) < 0) return SP_NOMEM;
    }
    return sp__plan_is_placed(p) ? sp__planner_places(l, in) : SP_OK;
}

/* What leaves: memory of the arena becomes memory of its own, constants and variables that change are copied. */
static sp_status plan_outputs(planner *l)
{
    sp_plan *p = l->p;
    const sp_segment *s = l->s;
    p->out = take(p, (size_t)s->n_out, sizeof *p->out);
    if (!p->out) return SP_NOMEM;
    for (int i = 0; i < s->n_out; i++) {
        int handle;
        SP_TRY(sp__plan_is_placed(p) ? sp__planner_bring(l, NULL, s->out[i], known_of(l, s->out[i])->place, &handle)
                                     : sp__planner_value(l, s->out[i], &handle));
        const sp_root *r = &p->roots[p->handles[handle].root];
        if (r->kind == SP_ROOT_CONSTANT || (r->kind == SP_ROOT_VARIABLE && p->variables[r->number]->written)) {
            int copy = add_like(l, handle);
            if (copy < 0) return SP_NOMEM;
            SP_TRY(sp__planner_copy(l, NULL, handle, copy));
            handle = copy;
        }
        p->out[i] = handle;
        sp_root *leaving = &p->roots[p->handles[handle].root];
        if (leaving->kind != SP_ROOT_ARENA) continue;
        leaving->kind = SP_ROOT_RESULT;
        leaving->number = p->n_results++;
    }
    return SP_OK;
}

/* Who runs when and where results lie: what sp__cache_arrange may know. */
static sp_status arrange(sp_plan *p)
{
    if (sp__plan_is_placed(p)) SP_TRY(sp__plan_arenas(p));
    SP_TRY(sp__plan_lanes(p));
    sp__plan_lifetimes(p);
    return sp__plan_place(p);
}

static sp_status walk(planner *l, sp_tensor *const *in)
{
    SP_TRY(survey(l));
    SP_TRY(plan_inputs(l, in));
    for (l->node = 0; l->node < l->s->n_nodes; l->node++) {
        const sp_node *n = l->s->nodes[l->node];
        sp_status status = plan_node(l, n);
        if (status == SP_OK) continue;
        if (status != SP_DECLINED && n->op) sp__error_context("%s", n->op->name);
        if (status != SP_DECLINED) sp__blame(n);
        return status;
    }
    return plan_outputs(l);
}

static sp_status finish(planner *l)
{
    if (SP_HAVE_BLOCKS && l->s->planning & SP_PLAN_LAYOUT) SP_TRY(sp__plan_layout(l->p));
    for (int i = 0; l->s->planning & SP_PLAN_PREPACK && i < l->p->n_steps; i++)
        SP_TRY(prepare_constant(l->p, &l->p->steps[i]));
    if (l->s->planning & SP_PLAN_FUSE) SP_TRY(sp__plan_fuse(l->p));
    if (l->s->planning & SP_PLAN_TAIL) SP_TRY(sp__plan_tails(l->p));
    if (l->s->planning & SP_PLAN_HEAD) SP_TRY(sp__plan_heads(l->p));
    if (l->s->planning & SP_PLAN_OVERLAP && !sp__plan_is_placed(l->p)) SP_TRY(sp__plan_overlap(l->p));
    SP_TRY(SP_HAVE_CACHE && sp__cache_on() && !sp__plan_is_placed(l->p) ? sp__cache_arrange(l->p, arrange)
                                                                        : arrange(l->p));
    if (getenv("SPORE_PROFILE") && !(l->p->step_ns = take(l->p, 2 * (size_t)l->p->n_steps, sizeof *l->p->step_ns)))
        return SP_NOMEM;
    return SP_OK;
}

/* Values carry marks while a plan is made, and constants belong to several segments: one plan at a time. */
static sp_lock planning = SP_LOCK_INIT;

/* on_cpu: room for an answer, where one is wanted; `again`: the plan had better be made with it. */
static sp_status plan_locked(planner *l, sp_tensor *const *in, bool *on_cpu, bool *again)
{
    sp__lock(&planning);
    sp_status status = walk(l, in);
    if (SP_HAVE_PLUGINS && status == SP_OK && on_cpu && l->n_on_cpu) {
        status = sp__plan_arenas(l->p);
        if (status == SP_OK && l->p->n_places == 1) status = sp__plan_cut(l, on_cpu, again);
    }
    if (status == SP_OK && !*again) status = finish(l);
    for (int i = 0; i < l->n_values; i++) l->marked[i]->mark = NULL;
    sp__unlock(&planning);
    return status;
}

static sp_status make(sp_segment *s, sp_tensor *const *in, bool placed, bool *on_cpu, bool first, bool *again,
                      sp_plan **out)
{
    planner l = {.s = s, .p = sp__alloc_zero(sizeof *l.p), .on_cpu = first ? NULL : on_cpu};
    if (!l.p) return SP_NOMEM;
    atomic_init(&l.p->refs, 1);
    l.p->segment = s;
    l.p->placed = placed;
    const sp_status status = plan_locked(&l, in, first ? on_cpu : NULL, again);
    sp__free(l.values);
    sp__free(l.sets);
    sp__free(l.marked);
    if (status != SP_OK || *again) sp__plan_free(l.p);
    else *out = l.p;
    return status;
}

sp_status sp__plan_create(sp_segment *s, sp_tensor *const *in, bool placed, sp_plan **out)
{
    const int64_t start = sp__clock_ns();
    bool again = false, *on_cpu = placed ? sp__alloc_zero((size_t)s->n_nodes + 1) : NULL;
    if (placed && !on_cpu) return SP_NOMEM;
    sp_status status = make(s, in, placed, on_cpu, true, &again, out);
    if (status == SP_OK && again) {
        again = false;
        status = make(s, in, placed, on_cpu, false, &again, out);
    }
    sp__free(on_cpu);
    if (status == SP_OK) (*out)->make_us = (double)(sp__clock_ns() - start) * 1e-3;
    return status;
}
