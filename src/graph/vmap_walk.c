/* SPDX-License-Identifier: Apache-2.0 */
/* vmap_walk.c - a function of one slice walked for all of them; see ops/vmap.h.
 *
 * What is batched is found out before anything is computed, so that a function that cannot be batched is declined as a whole.
 * Values are let go of after their last use: a batch may be large. */
#include "base/handle.h"
#include "eager/eager.h"
#include "ir/graph_impl.h"
#include "ops/kernels.h"

/* A value during the walk. */
typedef struct slot {
    sp_tensor *tensor; /* owned */
    bool batched;
    bool drawn; /* states of random numbers, one per slice, one behind the other */
    bool needed;
    int uses; /* that are still to come */
} slot;

typedef struct walk {
    sp_function *f;
    int64_t size;
    const sp_batch_spec *spec;
    slot *slots; /* by number of the value's mark; 0: none */
    int n_slots;
    sp__text slow;
} walk;

/* --- what is there ----------------------------------------------------------------------------------------------- */

static slot *slot_of(const walk *w, const sp_value *v) { return v && v->mark ? &w->slots[(uintptr_t)v->mark] : NULL; }

static bool is_draw(const sp_node *n)
{
    return n->kind == SP_NODE_HOST && n->n_in == 0 && n->n_out == 1 && strcmp(n->host->name, "random_state") == 0;
}

static void number(walk *w, sp_value *v)
{
    if (!v->mark) v->mark = (void *)(uintptr_t)++w->n_slots;
}

static void clear_marks(const walk *w)
{
    for (int i = 0; i < w->f->n_params; i++) w->f->params[i]->mark = NULL;
    for (const sp_node *n = w->f->first; n; n = n->next)
        for (int i = 0; i < n->n_out; i++) n->out[i]->mark = NULL;
    for (const struct sp_outside *o = w->f->outside; o; o = o->next) o->value->mark = NULL;
}

static sp_status number_values(walk *w)
{
    clear_marks(w);
    for (int i = 0; i < w->f->n_params; i++) number(w, w->f->params[i]);
    for (const sp_node *n = w->f->first; n; n = n->next)
        for (int i = 0; i < n->n_out; i++) number(w, n->out[i]);
    for (const struct sp_outside *o = w->f->outside; o; o = o->next) number(w, o->value);
    w->slots = sp__alloc_zero((size_t)(w->n_slots + 1) * sizeof *w->slots);
    if (!w->slots) return SP_NOMEM;
    for (const struct sp_outside *o = w->f->outside; o; o = o->next) {
        slot *s = slot_of(w, o->value);
        if (!s->tensor) s->tensor = sp_tensor_retain(o->handle);
    }
    return SP_OK;
}

/* The contents of a variable that differs from slice to slice; NULL: it does not. */
static sp_tensor *own_value(const walk *w, const sp_variable *variable)
{
    for (int i = 0; i < w->spec->n_variables; i++)
        if (w->spec->variables[i] == variable->tensor) return w->spec->values[i];
    return NULL;
}

/* Which values are batched; SP_DECLINED where the whole function cannot be. */
static sp_status find_batched(const walk *w)
{
    for (const sp_node *n = w->f->first; n; n = n->next) {
        bool any = false;
        for (int i = 0; i < n->n_in; i++) {
            const slot *s = slot_of(w, n->in[i]);
            any |= s && s->batched;
        }
        any |= (n->kind == SP_NODE_READ || n->kind == SP_NODE_STORE) && own_value(w, n->variable);
        if (n->kind != SP_NODE_OP && n->kind != SP_NODE_READ && (any || n->kind != SP_NODE_STORE) && !is_draw(n)) {
            const bool host = n->kind == SP_NODE_HOST, store = n->kind == SP_NODE_STORE;
            if (!host || any)
                return sp__fail(SP_DECLINED, "%s",
                                host    ? "something of a slice is handed to Python"
                                : store ? "something of a slice is stored in a Parameter"
                                        : "what is computed depends on a Tensor of the run (if, while, for)");
        }
        for (int i = 0; i < n->n_out; i++) {
            slot *s = slot_of(w, n->out[i]);
            s->drawn = is_draw(n);
            s->batched = any || s->drawn;
        }
    }
    SP_CHECK(!w->f->tail, SP_DECLINED, "%s", "what is computed depends on a Tensor of the run (if, while, for)");
    return SP_OK;
}

/* Which nodes matter: results and effects, and what these need. */
static void find_needed(const walk *w)
{
    for (int i = 0; i < w->f->n_results; i++) {
        slot *s = slot_of(w, w->f->results[i]);
        if (s) s->needed = true, s->uses++;
    }
    for (const sp_node *n = w->f->last; n; n = n->prev) {
        bool needed = n->kind == SP_NODE_STORE || (n->kind == SP_NODE_HOST && !n->host->pure);
        for (int i = 0; i < n->n_out; i++) needed |= slot_of(w, n->out[i])->needed;
        for (int i = 0; needed && i < n->n_in; i++) {
            slot *s = slot_of(w, n->in[i]);
            if (s) s->needed = true, s->uses++;
        }
        for (int i = 0; i < n->n_out; i++) slot_of(w, n->out[i])->needed = needed;
    }
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static sp_tensor *tensor_of(const walk *w, const sp_value *v, bool *batched)
{
    const slot *s = slot_of(w, v);
    *batched = s && s->batched;
    return s ? s->tensor : v && v->origin == SP_VALUE_CONSTANT ? v->constant : NULL;
}

static void let_go(const walk *w, const sp_value *v)
{
    slot *s = slot_of(w, v);
    if (!s || --s->uses > 0) return;
    sp_tensor_release(s->tensor);
    s->tensor = NULL;
}

static sp_status keep(const walk *w, const sp_node *n, int n_out, sp_tensor *const *out)
{
    for (int i = 0; i < n_out; i++) {
        slot *s = slot_of(w, n->out[i]);
        if (s->uses > 0) s->tensor = sp_tensor_retain(out[i]);
    }
    return SP_OK;
}

static sp_status run_batched(walk *w, sp_builder *b, const sp_batch *v)
{
    sp_batch_rule *rule = v->op->batch ? v->op->batch : v->op->loop ? sp__batch_elementwise : NULL;
    sp_status status = rule ? rule(b, v) : SP_DECLINED;
    if (status != SP_DECLINED) return status;
    sp__text_put(&w->slow, "%s%s", w->slow.used ? " " : "", v->op->name);
    return sp__batch_slices(b, v);
}

/* What the rule made must have the shape of the slices, one by one. */
static sp_status check_shapes(const walk *w, const sp_node *n, sp_tensor *const *out)
{
    char wanted[SP_SHAPE_TEXT], found[SP_SHAPE_TEXT];
    for (int i = 0; i < n->n_out; i++) {
        const sp_meta *m = &n->out[i]->meta;
        bool same =
            out[i] && out[i]->rank == m->rank + 1 && out[i]->dims[0] == w->size && out[i]->dtype == (int)m->dtype;
        for (int k = 0; same && k < m->rank; k++) same = m->dims[k] < 0 || out[i]->dims[k + 1] == m->dims[k];
        if (!same && out[i] && m->rank >= 0)
            return sp__fail(SP_RUNTIME, "%s: its rule for batches gave %s %s for %lld slices %s %s", n->op->name,
                            sp_dtype_name((sp_dtype)out[i]->dtype), sp__shape_text(out[i]->rank, out[i]->dims, found),
                            (long long)w->size, sp_dtype_name(m->dtype), sp__shape_text(m->rank, m->dims, wanted));
    }
    return SP_OK;
}

static sp_status run_op(walk *w, const sp_node *n)
{
    const int n_in = n->n_in, n_out = n->n_out;
    sp_builder b;
    sp__builder_init(&b);
    sp_tensor **in = sp__alloc_zero((size_t)(n_in + n_out + 1) * sizeof *in), **out = in ? in + n_in : NULL;
    bool *batched = sp__alloc_zero((size_t)n_in + 1), any = false;
    void *own_attrs = sp__alloc(n->op->attrs_bytes + 1);
    sp_status status = in && batched && own_attrs ? SP_OK : SP_NOMEM;
    if (own_attrs && n->attrs) memcpy(own_attrs, n->attrs, n->op->attrs_bytes);
    for (int i = 0; status == SP_OK && i < n_in; i++) {
        in[i] = tensor_of(w, n->in[i], &batched[i]);
        any |= batched[i];
    }
    sp_batch v = {.op = n->op,
                  .attrs = n->attrs,
                  .own_attrs = own_attrs,
                  .size = w->size,
                  .n_in = n_in,
                  .n_out = n_out,
                  .in = in,
                  .batched = batched,
                  .out = out};
    const slot *first = n_in ? slot_of(w, n->in[0]) : NULL;
    v.drawn = first && first->drawn;
    if (status == SP_OK) status = any ? run_batched(w, &b, &v) : sp__batch_apply(&b, &v, NULL, in);
    if (status == SP_OK) status = sp__builder_status(&b);
    if (status == SP_OK && any) status = check_shapes(w, n, out);
    if (status == SP_OK) status = keep(w, n, n_out, out);
    sp__builder_done(&b);
    sp__free(own_attrs);
    sp__free(batched);
    sp__free(in);
    return status;
}

/* --- states of random numbers ------------------------------------------------------------------------------------ */

/* A state for every slice: the host's draw, as often. */
typedef struct draws {
    sp_host *host;
    int64_t size;
} draws;

static void draws_release(void *context)
{
    sp__host_release(((draws *)context)->host);
    sp__free(context);
}

static sp_status draws_run(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const draws *d = context;
    const int64_t dims[2] = {d->size, 2};
    (void)n_out;
    SP_TRY(sp_tensor_create(SP_DTYPE_I64, 2, dims, out));
    int64_t *states = (int64_t *)(void *)(*out)->data;
    sp_status status = SP_OK;
    for (int64_t i = 0; status == SP_OK && i < d->size; i++) {
        sp_tensor *one = NULL;
        status = d->host->run(d->host->context, n_in, in, 1, &one);
        if (status == SP_OK) memcpy(states + 2 * i, one->data, 2 * sizeof *states);
        sp_tensor_release(one);
    }
    if (status != SP_OK) {
        sp_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

static sp_status run_draws(const walk *w, const sp_node *n, sp_tensor **out)
{
    draws *d = sp__alloc(sizeof *d);
    if (!d) return SP_NOMEM;
    *d = (draws){sp__host_retain(n->host), w->size};
    if (sp__recorder) {
        const sp_spec spec = {.dtype = SP_DTYPE_I64, .rank = 2, .dims = {w->size, 2}};
        sp_status status = sp__function_host(n->host->name, draws_run, draws_release, d, false, 0, NULL, 1, &spec, out);
        if (status != SP_OK) draws_release(d);
        return status;
    }
    sp_status status = draws_run(d, 0, NULL, 1, out);
    draws_release(d);
    return status;
}

/* --- nodes that are no operators --------------------------------------------------------------------------------- */

/* A host that does what another one does. */
static sp_status forward(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const sp_host *h = context;
    return h->run(h->context, n_in, in, n_out, out);
}
static void forward_release(void *context) { sp__host_release(context); }

static sp_status run_host(const walk *w, const sp_node *n)
{
    const size_t n_in = (size_t)n->n_in, n_out = (size_t)n->n_out;
    sp_tensor **in = sp__alloc_zero((n_in + n_out + 1) * sizeof *in), **out = in + n_in;
    sp_spec *specs = sp__alloc_zero((n_out + 1) * sizeof *specs);
    sp_status status = in && specs ? SP_OK : SP_NOMEM;
    bool batched;
    for (int i = 0; status == SP_OK && i < n->n_in; i++) in[i] = tensor_of(w, n->in[i], &batched);
    for (int i = 0; status == SP_OK && i < n->n_out; i++) specs[i] = n->out[i]->meta;
    if (status == SP_OK && is_draw(n)) {
        status = run_draws(w, n, out);
    } else if (status == SP_OK && !sp__recorder) {
        status = n->host->run(n->host->context, n->n_in, in, n->n_out, out);
    } else if (status == SP_OK) {
        status = sp__function_host(n->host->name, forward, forward_release, sp__host_retain(n->host), n->host->pure,
                                   n->n_in, in, n->n_out, specs, out);
        if (status != SP_OK) sp__host_release(n->host);
    }
    if (status == SP_OK) status = keep(w, n, n->n_out, out);
    for (size_t i = 0; in && i < n_out; i++) sp_tensor_release(out[i]);
    sp__free(specs);
    sp__free(in);
    return status;
}

static bool stores_to(const sp_function *f, const sp_variable *variable)
{
    for (const sp_node *n = f->first; n; n = n->next)
        if (n->kind == SP_NODE_STORE && n->variable == variable) return true;
    return false;
}

/* A variable stands for itself, so that its history is found; for what it held when it is written to later. */
static sp_status run_read(const walk *w, const sp_node *n)
{
    sp_tensor *t = own_value(w, n->variable);
    if (t) return keep(w, n, 1, &t);
    t = n->variable->tensor;
    if (!stores_to(w->f, n->variable)) return keep(w, n, 1, &t);
    sp_builder b;
    sp__builder_init(&b);
    t = SP_APPLY1(&b, sp_op_copy, t);
    sp_status status = t ? keep(w, n, 1, &t) : sp__builder_status(&b);
    sp__builder_done(&b);
    return status;
}

static sp_status run_store(const walk *w, const sp_node *n)
{
    sp_builder b;
    bool batched;
    sp__builder_init(&b);
    sp_builder_apply(&b, &sp_op_assign, NULL, 2,
                     (sp_tensor *const[]){n->variable->tensor, tensor_of(w, n->in[0], &batched)});
    sp_status status = sp__builder_status(&b);
    sp__builder_done(&b);
    return status;
}

static bool is_needed(const walk *w, const sp_node *n)
{
    if (n->kind == SP_NODE_STORE || (n->kind == SP_NODE_HOST && !n->host->pure)) return true;
    for (int i = 0; i < n->n_out; i++)
        if (slot_of(w, n->out[i])->needed) return true;
    return false;
}

static sp_status run_node(walk *w, const sp_node *n)
{
    switch (n->kind) {
    case SP_NODE_OP: return run_op(w, n);
    case SP_NODE_READ: return run_read(w, n);
    case SP_NODE_STORE: return run_store(w, n);
    default: return run_host(w, n);
    }
}

/* --- whole functions --------------------------------------------------------------------------------------------- */

static sp_status begin(walk *w, int n_args, sp_tensor *const *args)
{
    const bool *batched = w->spec->batched;
    SP_TRY(number_values(w));
    for (int i = 0; i < n_args; i++) {
        const sp_value *p = w->f->params[i];
        slot *s = slot_of(w, p);
        SP_CHECK(args[i]->rank == p->meta.rank + batched[i] && (!batched[i] || args[i]->dims[0] == w->size), SP_VALUE,
                 "argument %d does not have %lld slices of rank %d", i, (long long)w->size, p->meta.rank);
        s->tensor = sp_tensor_retain(args[i]);
        s->batched = batched[i];
    }
    SP_TRY(find_batched(w));
    find_needed(w);
    return SP_OK;
}

static sp_status results_of(const walk *w, sp_tensor **out, bool *out_batched)
{
    const sp_function *f = w->f;
    for (int i = 0; i < f->n_results; i++) {
        bool batched;
        sp_tensor *t = tensor_of(w, f->results[i], &batched);
        if (!t) {
            while (i > 0) sp_tensor_release(out[--i]);
            return sp__fail(SP_RUNTIME, "result %d of function %s comes from a function that was not noted", i,
                            f->name);
        }
        out[i] = sp_tensor_retain(t);
        out_batched[i] = batched;
    }
    return SP_OK;
}

void sp_function_will_batch(sp_function *f)
{
    if (f) f->keeps_outside = true;
}

sp_status sp_function_batch(sp_function *f, const sp_batch_spec *spec, int n_args, sp_tensor *const *args, int n_out,
                            sp_tensor **out, bool *out_batched, char **slow)
{
    SP_HANDLE(f);
    SP_CHECK(f->finished, SP_RUNTIME, "function %s is still being recorded", f->name);
    SP_CHECK(n_args == f->n_params, SP_VALUE, "function %s has %d parameters, but got %d arguments", f->name,
             f->n_params, n_args);
    SP_CHECK(f->tail || n_out == f->n_results, SP_VALUE, "function %s has %d results, but %d are asked for", f->name,
             f->n_results, n_out);
    SP_HANDLES(n_args, args);
    SP_CHECK(spec->size > 0, SP_VALUE, "there are %lld slices", (long long)spec->size);
    walk w = {.f = f, .size = spec->size, .spec = spec};
    const sp_place *place = sp__place;
    const sp_precision precision = sp__precision;
    sp__precision = SP_PRECISION_PLAIN; /* the function contains its casts */
    sp_status status = begin(&w, n_args, args);
    for (const sp_node *n = f->first, *next; status == SP_OK && n; n = next) {
        next = n == f->last ? NULL : n->next; /* what is recorded goes elsewhere */
        if (!is_needed(&w, n)) continue;
        if (n->place) sp__place = n->place;
        status = run_node(&w, n);
        for (int i = 0; status == SP_OK && i < n->n_in; i++) let_go(&w, n->in[i]);
    }
    sp__place = place;
    sp__precision = precision;
    if (status == SP_OK) status = results_of(&w, out, out_batched);
    for (int i = 1; w.slots && i <= w.n_slots; i++) sp_tensor_release(w.slots[i].tensor);
    sp__free(w.slots);
    clear_marks(&w);
    if (status == SP_OK && slow && w.slow.used) status = sp__text_take(&w.slow, slow);
    else if (slow && status == SP_OK) *slow = NULL;
    sp__free(w.slow.data);
    sp__function_forget_outside(f);
    return status;
}
