/* SPDX-License-Identifier: Apache-2.0 */
/* backward.c - the backward pass: nodes in descending numbers (grad.c, invariant 1), each once, when all its gradients are there. */
#include <stdlib.h>

#include "base/handle.h"
#include "eager/grad_impl.h"
#include "eager/place.h"

#include "ir/builder_keep.h"
#include "ops/ops_impl.h"

/* What the pass knows of a node: gradients gathered so far. */
typedef struct {
    sp_grad_node *node;
    bool needed;
    bool over; /* a leaf that was visited as soon as its gradient was complete */
    int first_user; /* of a leaf with hooks: number of the first visit that needs it, from 1; it gives the last part of the gradient */
    sp_tensor *one;   /* gradient of the only output */
    sp_tensor **many; /* of several */
} visit;

typedef struct {
    bool strict;   /* a target that is not reached, or only through opaque nodes, is an error */
    visit *visits; /* ascending numbers */
    int n, capacity;
    bool early; /* there are leaves with hooks */
    int *slots; /* hash: node -> index + 1, while collecting */
    int n_slots;
} backward;

static unsigned slot_of(const backward *w, const sp_grad_node *node)
{
    return (unsigned)((uintptr_t)node / 64 * 0x9E3779B1u) & (unsigned)(w->n_slots - 1);
}

static int find_visit(const backward *w, const sp_grad_node *node)
{
    for (unsigned h = slot_of(w, node); w->slots[h]; h = (h + 1) & (unsigned)(w->n_slots - 1))
        if (w->visits[w->slots[h] - 1].node == node) return w->slots[h] - 1;
    return -1;
}

static void index_visits(backward *w)
{
    memset(w->slots, 0, (size_t)w->n_slots * sizeof *w->slots);
    for (int i = 0; i < w->n; i++) {
        unsigned h = slot_of(w, w->visits[i].node);
        while (w->slots[h]) h = (h + 1) & (unsigned)(w->n_slots - 1);
        w->slots[h] = i + 1;
    }
}

static sp_status add_visit(backward *w, sp_grad_node *node)
{
    if (w->n == w->capacity) {
        int more = w->capacity ? 2 * w->capacity : 64;
        visit *v = sp__realloc(w->visits, (size_t)w->capacity * sizeof *v, (size_t)more * sizeof *v);
        if (!v) return SP_NOMEM;
        w->visits = v;
        w->capacity = more;
        sp__free(w->slots);
        w->n_slots = 4 * more;
        w->slots = sp__alloc((size_t)w->n_slots * sizeof *w->slots);
        if (!w->slots) return SP_NOMEM;
        index_visits(w);
    }
    w->visits[w->n] = (visit){.node = node};
    unsigned h = slot_of(w, node);
    while (w->slots[h]) h = (h + 1) & (unsigned)(w->n_slots - 1);
    w->slots[h] = ++w->n;
    return SP_OK;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const visit *)a)->node->number, y = ((const visit *)b)->node->number;
    return x < y ? -1 : x > y;
}

/* Where no gradient goes through, the way ends, unless that is to be told. */
static int n_edges(const backward *w, const sp_grad_node *node) { return node->opaque && !w->strict ? 0 : node->n_in; }

static bool is_leaf(const sp_grad_node *n) { return n->n_in == 0 && !n->op && !n->custom; }

/* All nodes reachable from the outputs, and which of them lead to a target. */
static sp_status collect(backward *w, int n_outputs, sp_tensor *const *outputs, int n_targets,
                         sp_tensor *const *targets)
{
    for (int i = 0; i < n_outputs; i++)
        if (outputs[i]->node && (w->n == 0 || find_visit(w, outputs[i]->node) < 0))
            SP_TRY(add_visit(w, outputs[i]->node));
    for (int i = 0; i < w->n; i++) {
        sp_grad_node *node = w->visits[i].node;
        for (int k = 0; k < n_edges(w, node); k++)
            if (node->edge[k] && find_visit(w, node->edge[k]) < 0) SP_TRY(add_visit(w, node->edge[k]));
    }
    if (!w->n) return SP_OK;
    qsort(w->visits, (size_t)w->n, sizeof *w->visits, by_number);
    index_visits(w);
    for (int i = 0; i < n_targets; i++) {
        int at = targets[i]->node ? find_visit(w, targets[i]->node) : -1;
        if (at >= 0) w->visits[at].needed = true;
    }
    for (int i = 0; i < w->n; i++) {
        visit *v = &w->visits[i];
        for (int k = 0; k < n_edges(w, v->node) && !v->needed; k++)
            v->needed = v->node->edge[k] && w->visits[find_visit(w, v->node->edge[k])].needed;
        w->early |= v->needed && is_leaf(v->node) && v->node->hooks;
    }
    for (int i = 0; w->early && i < w->n; i++) {
        const visit *v = &w->visits[i];
        for (int k = 0; v->needed && k < n_edges(w, v->node); k++) {
            visit *leaf = v->node->edge[k] ? &w->visits[find_visit(w, v->node->edge[k])] : NULL;
            if (leaf && is_leaf(leaf->node) && leaf->node->hooks && !leaf->first_user) leaf->first_user = i + 1;
        }
    }
    return SP_OK;
}

/* Add a gradient (not taken over) to what a node's output has gathered. */
static sp_status gather(visit *v, int index, sp_tensor *grad)
{
    const sp_tensor *like = v->node->out[index];
    sp_tensor **slot = &v->one;
    if (v->node->n_out > 1) {
        if (!v->many) {
            v->many = sp__alloc_zero((size_t)v->node->n_out * sizeof *v->many);
            if (!v->many) return SP_NOMEM;
        }
        slot = &v->many[index];
    }
    char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
    SP_CHECK(sp__tensor_same_shape(grad, like), SP_RUNTIME, "a gradient has shape %s where the value has shape %s",
             sp__shape_text(grad->rank, grad->dims, a), sp__shape_text(like->rank, like->dims, b));
    sp_tensor *sum = NULL, *converted = NULL;
    sp_status status = SP_OK;
    int n;
    if (grad->dtype != like->dtype) {
        const sp_cast_attrs attrs = {(sp_dtype)like->dtype};
        SP_TRY(sp_apply(&sp_op_cast, &attrs, 1, &grad, 1, &converted, &n));
        grad = converted;
    }
    if (*slot) {
        sp_tensor *pair[2] = {*slot, grad};
        status = sp_apply(&sp_op_add, NULL, 2, pair, 1, &sum, &n);
        if (status == SP_OK) {
            sp_tensor_release(*slot);
            *slot = sum;
        }
    } else {
        *slot = sp_tensor_retain(grad);
    }
    sp_tensor_release(converted);
    return status;
}

static _Thread_local bool leaf_hooks_off;

bool sp__grad_leaf_hooks(bool on)
{
    const bool before = !leaf_hooks_off;
    leaf_hooks_off = !on;
    return before;
}

static sp_status run_hooks(visit *v)
{
    if (leaf_hooks_off && v->node->n_in == 0) return SP_OK;
    for (sp_grad_hook_entry *h = v->node->hooks; h; h = h->next) {
        sp_tensor **slot = v->node->n_out > 1 ? (v->many ? &v->many[h->index] : NULL) : &v->one;
        if (!slot || !*slot) continue;
        sp_tensor *replaced = NULL;
        SP_TRY(h->fn(h->context, *slot, &replaced));
        if (replaced) {
            sp_tensor_release(*slot);
            *slot = replaced;
        }
    }
    return SP_OK;
}

static sp_status check_versions(const sp_grad_node *n)
{
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        const sp_tensor *t = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        if (!t || !t->storage || sp__grad_version_of(t) == n->version[i]) continue;
        return sp__fail(SP_RUNTIME,
                        "the gradient of %s needs %s %d as it was, but it was changed in place since; "
                        "compute on a copy (x.copy()) or do the in-place change after taking the gradient",
                        n->op->name, i < n->n_in ? "input" : "result", i < n->n_in ? i : i - n->n_in);
    }
    return SP_OK;
}

static sp_status pass_on(backward *w, sp_grad_node *n, sp_tensor *const *din)
{
    for (int i = 0; i < n->n_in; i++) {
        if (!din[i] || !n->edge[i]) continue;
        visit *to = &w->visits[find_visit(w, n->edge[i])];
        if (!to->needed) continue;
        sp_status status = gather(to, n->edge_index[i], din[i]);
        if (status != SP_OK) {
            sp__error_context("gradient of %s, input %d", n->op ? n->op->name : "a custom function", i);
            return status;
        }
    }
    return SP_OK;
}

/* Apply the operator's rule to the gathered gradients. */
static sp_status run_rule(backward *w, visit *v, sp_tensor *const *dout, bool create_graph)
{
    sp_grad_node *n = v->node;
    SP_TRY(check_versions(n));
    sp_tensor *few[2 * SP_IN_MAX], **din = few;
    bool few_needs[SP_IN_MAX], *needs = few_needs;
    void *block = NULL;
    sp_tensor *out[SP_OUT_MAX], **outs = out;
    if (n->n_in > SP_IN_MAX || n->n_out > SP_OUT_MAX) {
        block = sp__alloc((size_t)n->n_in * (sizeof *din + sizeof *needs) + (size_t)n->n_out * sizeof *outs);
        if (!block) return SP_NOMEM;
        din = block;
        outs = din + n->n_in;
        needs = (bool *)(outs + n->n_out);
    }
    for (int i = 0; i < n->n_in; i++) {
        din[i] = NULL;
        needs[i] = n->edge[i] && w->visits[find_visit(w, n->edge[i])].needed;
    }
    sp_builder b;
    sp__builder_init(&b);
    sp_status status = SP_OK;
    sp_tensor *few_in[SP_IN_MAX], **ins = n->packed ? few_in : n->in;
    for (int i = 0; n->packed && i < n->n_in; i++) {
        SP_GOTO(done, sp__grad_unpack(&b, n, i, n->in[i], &ins[i]));
        if (create_graph && ins[i] != n->in[i] && n->edge[i])
            sp__grad_set_history(ins[i], n->edge[i], n->edge_index[i]);
    }
    for (int i = 0; i < n->n_out; i++) {
        SP_GOTO(done, sp__grad_unpack(&b, n, n->n_in + i, n->out[i], &outs[i]));
        /* For gradients of gradients a kept output needs its history: a handle for the time of the rule. */
        if (create_graph && sp__tensor_has_value(outs[i])) {
            sp_tensor *t;
            SP_GOTO(done, sp__tensor_alias(outs[i], &t));
            sp__grad_set_history(t, n, i);
            SP_GOTO(done, sp__builder_keep(&b, &t));
            outs[i] = t;
        }
    }
    const sp_vjp rule = {.op = n->op,
                         .attrs = n->attrs,
                         .n_in = n->n_in,
                         .n_out = n->n_out,
                         .in = ins,
                         .out = outs,
                         .dout = dout,
                         .needs = needs,
                         .again = create_graph,
                         .din = din};
    sp_device *device = NULL;
    for (int i = 0; i < n->n_out && !device; i++) device = sp__tensor_device(dout[i]);
    sp_device *before = device ? sp__place_set(device) : NULL;
    status = n->op->vjp(&b, &rule);
    if (device) sp__place_set(before);
    if (status == SP_OK) status = sp__builder_status(&b);
    if (status == SP_OK) status = pass_on(w, n, din);
    else sp__error_context("gradient of %s", n->op->name);
done:
    sp__builder_done(&b);
    sp__free(block);
    return status;
}

static sp_status ones_like(const sp_tensor *t, sp_tensor **out)
{
    if (sp__tensor_buffer(t)) {
        sp_tensor *meta = NULL, *here = NULL;
        SP_TRY(sp__tensor_meta_only(t, &meta));
        sp_status status = ones_like(meta, &here);
        if (status == SP_OK) status = sp__remote->create_like(t, out);
        if (status == SP_OK && (status = sp_tensor_assign(*out, here)) != SP_OK) sp_tensor_release(*out);
        sp_tensor_release(here);
        sp_tensor_release(meta);
        return status;
    }
    SP_TRY(sp_tensor_create((sp_dtype)t->dtype, t->rank, t->dims, out));
    double one = 1;
    char *ptr[2] = {(*out)->data, (char *)&one};
    const int64_t step[2] = {(int64_t)sp_dtype_bytes((sp_dtype)t->dtype), 0};
    sp__cast_loop(SP_DTYPE_F64, (sp_dtype)t->dtype)(t->count, ptr, step, NULL);
    return SP_OK;
}

static sp_status zeros_like(const sp_tensor *t, sp_tensor **out)
{
    if (!sp__tensor_buffer(t)) return sp_tensor_create_zeros((sp_dtype)t->dtype, t->rank, t->dims, out);
    sp_tensor *here = NULL;
    SP_TRY(sp_tensor_create_zeros((sp_dtype)t->dtype, t->rank, t->dims, &here));
    sp_status status = sp__remote->create_like(t, out);
    if (status == SP_OK && (status = sp_tensor_assign(*out, here)) != SP_OK) sp_tensor_release(*out);
    sp_tensor_release(here);
    return status;
}

/* A function with a gradient of its own gets every gradient, zeros included. */
static sp_status run_custom(backward *w, visit *v, sp_tensor *const *dout)
{
    sp_grad_node *n = v->node;
    size_t total = (size_t)(n->n_in + n->n_out);
    sp_tensor **all = sp__alloc_zero((total ? total : 1) * sizeof *all);
    if (!all) return SP_NOMEM;
    sp_tensor **din = all + n->n_out;
    sp_status status = SP_OK;
    for (int i = 0; i < n->n_out; i++) {
        if (dout[i]) all[i] = sp_tensor_retain(dout[i]);
        else SP_GOTO(done, zeros_like(n->out[i], &all[i]));
    }
    SP_GOTO(done, n->custom(n->custom_context, n->n_out, all, n->n_in, din));
    status = pass_on(w, n, din);
done:
    for (size_t i = 0; i < total; i++) sp_tensor_release(all[i]);
    sp__free(all);
    return status;
}

static void drop_gathered(visit *v)
{
    sp_tensor_release(v->one);
    v->one = NULL;
    for (int k = 0; v->many && k < v->node->n_out; k++) sp_tensor_release(v->many[k]);
    sp__free(v->many);
    v->many = NULL;
}

/* A target beyond code without a gradient. */
static sp_status refuse_opaque(const backward *w, const sp_grad_node *n)
{
    for (int k = 0; k < n_edges(w, n); k++)
        SP_CHECK(
            !n->edge[k] || !w->visits[find_visit(w, n->edge[k])].needed, SP_RUNTIME,
            "%s has no gradient, and the results depend on it: give it one with sp_grad_attach, or take its inputs out of the gradient "
            "with sp_grad_detach",
            n->opaque);
    return SP_OK;
}

static sp_status visit_node(backward *w, visit *v, int n_targets, sp_tensor *const *targets, bool create_graph,
                            sp_tensor **grads)
{
    sp_grad_node *n = v->node;
    SP_CHECK(
        !n->spent, SP_RUNTIME,
        "Try to backward the graph twice: what %s has kept was given up after the first backward pass; specify retain_graph=True "
        "there, if you want to call again",
        n->op ? n->op->name : "a custom function");
    SP_TRY(run_hooks(v));
    sp_tensor *const *dout = n->n_out > 1 ? v->many : &v->one;
    if (!dout) return SP_OK;
    bool any = false;
    for (int i = 0; i < n->n_out; i++) any |= dout[i] != NULL;
    if (!any) return SP_OK;
    bool wanted = false;
    for (int j = 0; j < n_targets; j++) {
        if (targets[j]->node != n) continue;
        wanted = true;
        if (dout[targets[j]->node_index] && !grads[j]) grads[j] = sp_tensor_retain(dout[targets[j]->node_index]);
    }
    if (wanted && n->variable) return SP_OK;
    if (n->opaque) return refuse_opaque(w, n);
    if (n->custom) return run_custom(w, v, dout);
    return n->op ? run_rule(w, v, dout, create_graph) : SP_OK;
}

/* Hooks of leaves are called as soon as their gradients are complete, not when all others are: what they begin goes on meanwhile. */
static sp_status visit_leaves(backward *w, int i, int n_targets, sp_tensor *const *targets, sp_tensor **grads)
{
    const sp_grad_node *n = w->visits[i].node;
    for (int k = 0; k < n_edges(w, n); k++) {
        visit *leaf = n->edge[k] ? &w->visits[find_visit(w, n->edge[k])] : NULL;
        if (!leaf || leaf->first_user != i + 1 || leaf->over) continue;
        leaf->over = true;
        SP_TRY(visit_node(w, leaf, n_targets, targets, false, grads));
        drop_gathered(leaf);
    }
    return SP_OK;
}

static void drop_all(int n, sp_tensor **grads)
{
    for (int j = 0; j < n; j++) {
        sp_tensor_release(grads[j]);
        grads[j] = NULL;
    }
}

/* What is amiss with targets that no output depends on. */
static sp_status check_reached(const backward *w, int n_targets, sp_tensor *const *targets)
{
    static const char zeros[] = "sp_grad_backward_allow_unused gives zeros for such tensors";
    for (int j = 0; j < n_targets; j++) {
        SP_CHECK(targets[j]->node, SP_VALUE,
                 "tensor %d that the gradient is for has no history: sp_grad_watch it before it is used; %s", j, zeros);
        SP_CHECK(
            w->n > 0, SP_VALUE,
            "no output has a history: compute them between sp_grad_begin and sp_grad_end, from watched tensors, by operators that have "
            "gradients; %s",
            zeros);
        SP_CHECK(find_visit(w, targets[j]->node) >= 0, SP_VALUE,
                 "no output depends on tensor %d that the gradient is for, as far as was recorded; %s", j, zeros);
    }
    return SP_OK;
}

static sp_status run_backward(bool strict, int n_outputs, sp_tensor *const *outputs, sp_tensor *const *seeds,
                              int n_targets, sp_tensor *const *targets, bool create_graph, sp_tensor **grads)
{
    backward w = {.strict = strict};
    for (int j = 0; j < n_targets; j++) grads[j] = NULL;
    for (int i = 0; i < n_outputs; i++)
        SP_CHECK(outputs[i], SP_VALUE, "output %d is NULL: the expression that should have made it has failed", i);
    for (int j = 0; j < n_targets; j++) SP_CHECK(targets[j], SP_VALUE, "tensor %d that the gradient is for is NULL", j);
    int depth = sp__grad_depth;
    /* With create_graph the rules run as ordinary recorded operators; else nothing is remembered. */
    sp__grad_depth = create_graph ? (depth > 0 ? depth : 1) : 0;
    sp_status status = SP_OK;
    SP_GOTO(done, collect(&w, n_outputs, outputs, n_targets, targets));
    if (strict) SP_GOTO(done, check_reached(&w, n_targets, targets));
    for (int i = 0; i < n_outputs; i++) {
        if (!outputs[i]->node) continue;
        sp_tensor *seed = seeds && seeds[i] ? sp_tensor_retain(seeds[i]) : NULL;
        if (!seed && outputs[i]->count < 0) { /* of a function that is recorded */
            status = sp__fail(SP_SYMBOL,
                              "the gradient of a result needs its shape, which is known only when the function runs");
            goto done;
        }
        if (!seed) SP_GOTO(done, ones_like(outputs[i], &seed));
        status = gather(&w.visits[find_visit(&w, outputs[i]->node)], outputs[i]->node_index, seed);
        sp_tensor_release(seed);
        if (status != SP_OK) {
            sp__error_context("seed of output %d", i);
            goto done;
        }
    }
    for (int i = w.n - 1; i >= 0; i--) {
        visit *v = &w.visits[i];
        if (v->needed && !v->over) SP_GOTO(done, visit_node(&w, v, n_targets, targets, create_graph, grads));
        drop_gathered(v);
        if (w.early && v->needed) SP_GOTO(done, visit_leaves(&w, i, n_targets, targets, grads));
    }
done:
    sp__grad_depth = depth;
    for (int i = 0; i < w.n; i++) drop_gathered(&w.visits[i]);
    sp__free(w.visits);
    sp__free(w.slots);
    if (status != SP_OK) drop_all(n_targets, grads);
    return status;
}

static sp_status fill_with_zeros(int n_targets, sp_tensor *const *targets, sp_tensor **grads)
{
    sp_status status = SP_OK;
    for (int j = 0; j < n_targets && status == SP_OK; j++)
        if (!grads[j]) status = zeros_like(targets[j], &grads[j]);
    if (status != SP_OK) drop_all(n_targets, grads);
    return status;
}

sp_status sp_grad_backward(int n_outputs, sp_tensor *const *outputs, sp_tensor *const *seeds, int n_targets,
                           sp_tensor *const *targets, bool create_graph, sp_tensor **grads)
{
    SP_TRY(run_backward(true, n_outputs, outputs, seeds, n_targets, targets, create_graph, grads));
    return fill_with_zeros(n_targets, targets, grads); /* reached, and yet constant: a rule gave nothing */
}

sp_status sp_grad_backward_allow_unused(int n_outputs, sp_tensor *const *outputs, sp_tensor *const *seeds,
                                        int n_targets, sp_tensor *const *targets, bool create_graph, sp_tensor **grads)
{
    SP_TRY(run_backward(false, n_outputs, outputs, seeds, n_targets, targets, create_graph, grads));
    return fill_with_zeros(n_targets, targets, grads);
}

sp_status sp_grad_backward_reached(int n_outputs, sp_tensor *const *outputs, sp_tensor *const *seeds, int n_targets,
                                   sp_tensor *const *targets, bool create_graph, sp_tensor **grads)
{
    return run_backward(false, n_outputs, outputs, seeds, n_targets, targets, create_graph, grads);
}

sp_status sp_grad_spend(int n_outputs, sp_tensor *const *outputs)
{
    SP_HANDLES(n_outputs, outputs);
    backward w = {.strict = true};
    sp_status status = collect(&w, n_outputs, outputs, 0, NULL);
    for (int i = 0; i < w.n && status == SP_OK; i++) w.visits[i].node->spent = w.visits[i].node->n_in > 0;
    sp__free(w.visits);
    sp__free(w.slots);
    return status;
}

sp_status sp__grad_depends(int n_outputs, sp_tensor *const *outputs, const sp_tensor *t, bool through_opaque, bool *out)
{
    backward w = {.strict = through_opaque};
    *out = false;
    if (!t->node) return SP_OK;
    const sp_status status = collect(&w, n_outputs, outputs, 0, NULL);
    if (status == SP_OK && w.n > 0) *out = find_visit(&w, t->node) >= 0;
    sp__free(w.visits);
    sp__free(w.slots);
    return status;
}
