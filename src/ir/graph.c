/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - graphs, functions, values and nodes: making, finding, removing. */

#include "base/plain.h"
#include "base/used.h"
#include "ir/constant.h"
#include "ir/graph_impl.h"
#include "tensor/remote.h"

/* What the graph must give back besides its arena; removed nodes keep theirs until the end. */
typedef struct sp_owned {
    struct sp_owned *next;
    sp_tensor *tensor;
    void *block;
    sp_host *host;
} sp_owned;

/* --- lifetime ---------------------------------------------------------------------------------------------------- */

sp_status sp_graph_create(sp_graph **out)
{
    sp_graph *g = sp__alloc_zero(sizeof *g);
    if (!g) return SP_NOMEM;
    atomic_init(&g->refs, 1);
    *out = g;
    return SP_OK;
}

sp_graph *sp_graph_retain(sp_graph *graph)
{
    if (!graph) return NULL;
    atomic_fetch_add_explicit(&graph->refs, 1, memory_order_relaxed);
    return graph;
}

void sp_graph_release(sp_graph *g)
{
    if (!g || atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1) return;
    for (sp_function *f = g->first; f; f = f->next) sp__function_forget_outside(f);
    for (sp_owned *o = g->owned; o; o = o->next) {
        sp_tensor_release(o->tensor);
        sp__free(o->block);
        sp__host_release(o->host);
    }
    sp__graph_forget_known(g);
    sp__free(g->variables);
    sp__free(g->by_handle);
    sp__free(g->constants);
    sp__arena_free(&g->arena);
    sp__free(g);
}

static void symbol_count(sp_value *v, int change)
{
    if (change > 0) sp_graph_retain(v->owner->graph);
    else sp_graph_release(v->owner->graph);
}
__attribute__((constructor)) static void install_hook(void) { sp__symbol_hook = symbol_count; }

/* A record of ownership; false out of memory. Made before the thing is acquired, so that nothing can be lost. */
static sp_owned *own(sp_graph *g)
{
    sp_owned *o = sp__arena_alloc(&g->arena, sizeof *o);
    if (!o) return NULL;
    o->next = g->owned;
    g->owned = o;
    return o;
}

sp_host *sp__host_retain(sp_host *h)
{
    atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
    return h;
}

void sp__host_release(sp_host *h)
{
    if (!h || atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1) return;
    if (h->release) h->release(h->context);
    sp__free(h);
}

/* --- functions and values ---------------------------------------------------------------------------------------- */

sp_function *sp__function_create(sp_graph *g, sp_function *parent, const char *name)
{
    sp_function *f = sp__arena_alloc(&g->arena, sizeof *f);
    char *kept = f ? sp__arena_text(&g->arena, name && *name ? name : "function") : NULL;
    if (!kept) return NULL;
    /* What separates words in the text form cannot be part of a name. */
    for (char *c = kept; *c; c++)
        if (sp__is_space(*c) || strchr("#(){}[],:=\"&%@", *c)) *c = '_';
    f->name = kept;
    f->graph = g;
    f->parent = parent;
    f->id = g->n_functions++;
    if (g->last) g->last->next = f;
    else g->first = f;
    g->last = f;
    if (!g->entry) g->entry = f;
    return f;
}

static sp_value *value_create(sp_function *f, sp_value_origin origin)
{
    sp_value *v = sp__arena_alloc(&f->graph->arena, sizeof *v);
    if (!v) return NULL;
    v->origin = origin;
    v->owner = f;
    v->id = f->graph->next_value++;
    v->meta.rank = -1;
    return v;
}

/* Room for one more in an array of the arena; the old one stays behind, which growth by doubling keeps small. */
static bool grow(sp_graph *g, void ***array, int n, int *capacity)
{
    if (n < *capacity) return true;
    int more = *capacity ? 2 * *capacity : 4;
    void **bigger = sp__arena_alloc(&g->arena, (size_t)more * sizeof *bigger);
    if (!bigger) return false;
    if (n) memcpy(bigger, *array, (size_t)n * sizeof *bigger);
    *array = bigger;
    *capacity = more;
    return true;
}

sp_value *sp__function_add_param(sp_function *f, const sp_meta *meta, bool is_function)
{
    void **params = (void **)f->params;
    if (!grow(f->graph, &params, f->n_params, &f->params_capacity)) return NULL;
    f->params = (sp_value **)params;
    sp_value *v = value_create(f, SP_VALUE_PARAM);
    if (!v) return NULL;
    if (meta) v->meta = *meta;
    v->is_function = is_function;
    v->index = f->n_params;
    f->params[f->n_params++] = v;
    return v;
}

enum { CONSTANTS_REMEMBERED = 64 };

/* One value for one tensor used many times: looked up by handle and version among the latest. */
typedef struct sp_constant {
    const sp_tensor *handle;
    const void *data;
    unsigned version;
    sp_value *value;
} sp_constant;

sp_value *sp__value_constant(sp_function *f, sp_tensor *t)
{
    sp_graph *g = f->graph;
    unsigned version = t->storage ? atomic_load_explicit(&t->storage->version, memory_order_relaxed) : 0;
    if (!g->constants && !(g->constants = sp__alloc_zero(CONSTANTS_REMEMBERED * sizeof *g->constants))) return NULL;
    sp_constant *slot = &g->constants[(uintptr_t)t / 64 % CONSTANTS_REMEMBERED];
    /* A kept handle cannot be another tensor at the same address: the slot's value owns a reference to it. */
    if (slot->handle == t && slot->data == t->data && slot->version == version) return slot->value;
    sp_owned *o = own(g), *keep = own(g);
    sp_value *v = o && keep ? value_create(g->first, SP_VALUE_CONSTANT) : NULL;
    if (!v) return NULL;
    const bool remote = sp__tensor_buffer(t) != NULL; /* passes look into constants: in main memory */
    const bool shared = remote ? false
                               : t->flags & SP_TENSOR_KEPT || sp_tensor_bytes(t) > SP_CONSTANT_COPY_BYTES ||
                                     !(t->flags & SP_TENSOR_CONTIGUOUS);
    if (!shared) {
        if ((remote ? sp__tensor_here(t, &o->tensor) : sp_tensor_copy(t, &o->tensor)) != SP_OK) return NULL;
    } else if (sp__tensor_alias(t, &o->tensor) != SP_OK) {
        return NULL;
    }
    keep->tensor = sp_tensor_retain(t);
    if (!shared || t->flags & SP_TENSOR_KEPT) o->tensor->flags |= SP_TENSOR_KEPT; /* copies of the graph share it */
    v->constant = o->tensor;
    v->weak = t->flags & SP_TENSOR_WEAK;
    sp__meta_of(t, &v->meta);
    *slot = (sp_constant){t, t->data, version, v};
    return v;
}

sp_status sp__value_share(sp_value *v, const sp_value *with)
{
    sp_tensor *same;
    if (v->constant->storage == with->constant->storage) return SP_OK;
    SP_TRY(sp__tensor_alias(with->constant, &same));
    same->flags |= with->constant->flags & SP_TENSOR_KEPT;
    sp_owned *o = v->owner->graph->owned;
    while (o->tensor != v->constant) o = o->next; /* every constant is owned */
    o->tensor = same;
    sp_tensor_release(v->constant);
    v->constant = same;
    return SP_OK;
}

sp_status sp__function_note_outside(sp_function *f, sp_value *v, sp_tensor *t)
{
    if (f->outside && f->outside->handle == t && f->outside->value == v) return SP_OK;
    struct sp_outside *note = sp__arena_alloc(&f->graph->arena, sizeof *note);
    if (!note) return SP_NOMEM;
    *note = (struct sp_outside){f->outside, v, sp_tensor_retain(t)};
    f->outside = note;
    return SP_OK;
}

void sp__function_forget_outside(sp_function *f)
{
    for (struct sp_outside *o = f->outside; o; o = o->next) sp_tensor_release(o->handle);
    f->outside = NULL;
}

sp_value *sp__value_function(sp_function *f, sp_function *target)
{
    if (target->value) return target->value;
    sp_value *v = value_create(f->graph->first, SP_VALUE_FUNCTION);
    if (!v) return NULL;
    v->is_function = true;
    v->target = target;
    v->meta = (sp_meta){.dtype = SP_DTYPE_BOOL};
    return target->value = v;
}

/* The place of a handle among by_handle: the one that has it, else the free one where it belongs. */
static sp_variable **variable_place(const sp_graph *g, const sp_tensor *t)
{
    const uint64_t n = 2 * (uint64_t)g->variables_capacity; /* a power of two, never more than half of it taken */
    uint64_t at = ((uint64_t)(uintptr_t)t * 0x9E3779B97F4A7C15u >> 32) & (n - 1);
    while (g->by_handle[at] && g->by_handle[at]->tensor != t) at = (at + 1) & (n - 1);
    return &g->by_handle[at];
}

static sp_status more_variables(sp_graph *g)
{
    const int more = g->variables_capacity ? 2 * g->variables_capacity : 16;
    sp_variable **places = sp__alloc_zero(2 * (size_t)more * sizeof *places);
    if (!places) return SP_NOMEM;
    sp_variable **list =
        sp__realloc(g->variables, (size_t)g->variables_capacity * sizeof *list, (size_t)more * sizeof *list);
    if (!list) {
        sp__free(places);
        return SP_NOMEM;
    }
    sp__free(g->by_handle);
    g->variables = list;
    g->by_handle = places;
    g->variables_capacity = more;
    for (int i = 0; i < g->n_variables; i++) *variable_place(g, list[i]->tensor) = list[i];
    return SP_OK;
}

sp_variable *sp__graph_variable(sp_graph *g, sp_tensor *t)
{
    sp_variable **place = g->n_variables ? variable_place(g, t) : NULL;
    if (place && *place) return *place;
    if (g->n_variables == g->variables_capacity && more_variables(g) != SP_OK) return NULL;
    sp_owned *o = own(g);
    sp_variable *v = o ? sp__arena_alloc(&g->arena, sizeof *v) : NULL;
    if (!v) return NULL;
    o->tensor = sp_tensor_retain(t);
    v->tensor = t;
    v->id = g->n_variables;
    g->variables[g->n_variables++] = v;
    *variable_place(g, t) = v;
    return v;
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* More than any network has. Functions that call each other twice, forty deep, would otherwise fill the memory when they are inlined,
 * and so would loops that are unrolled inside each other. */
enum { NODES_MAX = 1 << 22 };

static sp_node *node_create(sp_function *f, sp_node_kind kind, int n_in, sp_value *const *in, int n_out)
{
    sp_graph *g = f->graph;
    if (g->next_node >= NODES_MAX) {
        sp__fail(
            SP_NOMEM,
            "the program has more than %d nodes: functions call each other too often, or loops are unrolled too far",
            NODES_MAX);
        return NULL;
    }
    sp_node *n = sp__arena_alloc(&g->arena, sizeof *n);
    if (!n) return NULL;
    n->in = sp__arena_alloc(&g->arena, (size_t)(n_in + n_out + 1) * sizeof *n->in);
    if (!n->in) return NULL;
    n->out = n->in + n_in;
    n->kind = kind;
    n->n_in = n_in;
    n->n_out = n_out;
    n->owner = f;
    n->place = sp__place;
    n->id = g->next_node++;
    for (int i = 0; i < n_in; i++) n->in[i] = in[i];
    for (int i = 0; i < n_out; i++) {
        sp_value *v = value_create(f, SP_VALUE_NODE);
        if (!v) return NULL;
        v->node = n;
        v->index = i;
        n->out[i] = v;
    }
    return n;
}

static void link_before(sp_function *f, sp_node *n, sp_node *at)
{
    n->next = at;
    n->prev = at ? at->prev : f->last;
    if (n->prev) n->prev->next = n;
    else f->first = n;
    if (at) at->prev = n;
    else f->last = n;
    f->n_nodes++;
}

sp_node *sp__node_append(sp_function *f, sp_node_kind kind, int n_in, sp_value *const *in, int n_out)
{
    sp_node *n = node_create(f, kind, n_in, in, n_out);
    if (n) link_before(f, n, NULL);
    return n;
}

sp_node *sp__node_insert(sp_node *at, sp_node_kind kind, int n_in, sp_value *const *in, int n_out)
{
    sp_node *n = node_create(at->owner, kind, n_in, in, n_out);
    if (!n) return NULL;
    n->place = at->place;
    link_before(at->owner, n, at);
    return n;
}

void sp__node_remove(sp_node *n)
{
    sp_function *f = n->owner;
    if (n->prev) n->prev->next = n->next;
    else f->first = n->next;
    if (n->next) n->next->prev = n->prev;
    else f->last = n->prev;
    if (f->tail == n) f->tail = NULL;
    f->n_nodes--;
}

sp_status sp__node_set_op(sp_node *n, const sp_op *op, const void *attrs)
{
    sp_owned *o = own(n->owner->graph);
    if (!o) return SP_NOMEM;
    if (sp__used_watched()) sp__used_note(SP_USED_OPERATOR, op->name);
    n->op = op;
    SP_TRY(sp__attrs_copy(op, attrs, &o->block));
    n->attrs = o->block;
    return SP_OK;
}

sp_status sp__node_set_host(sp_node *n, sp_host *host)
{
    sp_owned *o = own(n->owner->graph);
    if (!o) return SP_NOMEM;
    n->host = o->host = sp__host_retain(host);
    return SP_OK;
}

sp_status sp__node_op(sp_function *f, sp_node *before, const sp_op *op, const void *attrs, int n_in,
                      sp_value *const *in, sp_node **out)
{
    int n_out = op->n_out > 0 ? op->n_out : 1;
    const sp_meta *metas[SP_IN_MAX], **metas_of = metas;
    sp_meta few[SP_OUT_MAX], *results = few;
    void *block = NULL;
    sp_status status = SP_OK;
    if (!attrs && op->n_attrs) attrs = op->defaults;
    if (n_in > SP_IN_MAX) {
        if (!(block = sp__alloc((size_t)n_in * sizeof *metas_of))) return SP_NOMEM;
        metas_of = block;
    }
    for (int i = 0; i < n_in; i++) metas_of[i] = in[i] ? &in[i]->meta : NULL;
    if (op->n_out < 0) SP_GOTO(done, sp__infer_count(op, attrs, n_in, metas_of, &n_out));
    if (n_out > SP_OUT_MAX && !(results = sp__alloc((size_t)n_out * sizeof *results))) {
        results = few;
        status = SP_NOMEM;
        goto done;
    }
    SP_GOTO(done, sp__infer_open(op, attrs, n_in, metas_of, n_out, results));
    sp_node *n =
        before ? sp__node_insert(before, SP_NODE_OP, n_in, in, n_out) : sp__node_append(f, SP_NODE_OP, n_in, in, n_out);
    if (!n) {
        status = SP_NOMEM;
        goto done;
    }
    SP_GOTO(done, sp__node_set_op(n, op, attrs));
    for (int i = 0; i < n_out; i++) n->out[i]->meta = results[i];
    *out = n;
done:
    if (results != few) sp__free(results);
    sp__free(block);
    return status;
}

/* --- over the lists ---------------------------------------------------------------------------------------------- */

void sp__value_replace(sp_graph *g, sp_value *from, sp_value *to)
{
    for (sp_function *f = g->first; f; f = f->next) {
        for (sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i] == from) n->in[i] = to;
        for (int i = 0; i < f->n_results; i++)
            if (f->results[i] == from) f->results[i] = to;
    }
}

void sp__function_number(sp_function *f)
{
    int i = 0;
    for (sp_node *n = f->first; n; n = n->next) n->order = i++;
}

/* --- functions, from outside ------------------------------------------------------------------------------------- */

sp_function *sp_graph_entry(const sp_graph *g) { return g ? g->entry : NULL; }

static bool is_abandoned(const sp_function *f) { return f->finished && !f->results && !f->tail; }

sp_status sp_graph_set_entry(sp_graph *g, sp_function *f)
{
    SP_CHECK(g && f, SP_VALUE, "the graph and the function must not be NULL");
    SP_CHECK(f->graph == g, SP_VALUE, "function %s belongs to another graph, so it cannot be the entry of this one",
             f->name);
    SP_CHECK(f->finished && !is_abandoned(f), SP_RUNTIME,
             "function %s cannot be the entry: it is %s; end it with sp_function_end first", f->name,
             f->finished ? "abandoned" : "still being recorded");
    SP_CHECK(
        !f->parent, SP_VALUE,
        "function %s cannot be the entry: it was begun inside of %s, whose symbols it may use; begin it on its own",
        f->name, f->parent->name);
    g->entry = f;
    return SP_OK;
}

static sp_function *not_abandoned(sp_function *f)
{
    while (f && is_abandoned(f)) f = f->next;
    return f;
}

int sp_graph_functions(const sp_graph *g)
{
    int n = 0;
    for (const sp_function *f = g ? not_abandoned(g->first) : NULL; f; f = not_abandoned(f->next)) n++;
    return n;
}

sp_function *sp_graph_function_at(const sp_graph *g, int i)
{
    sp_function *f = g && i >= 0 ? not_abandoned(g->first) : NULL;
    while (f && i--) f = not_abandoned(f->next);
    return f;
}

sp_function *sp_graph_function_find(const sp_graph *g, const char *name)
{
    sp_function *f = g && name ? not_abandoned(g->first) : NULL;
    while (f && strcmp(f->name, name) != 0) f = not_abandoned(f->next);
    return f;
}

const char *sp_function_name(const sp_function *f) { return f ? f->name : ""; }
int sp_function_params(const sp_function *f) { return f ? f->n_params : 0; }
int sp_function_results(const sp_function *f) { return f && f->finished && f->results ? f->n_results : -1; }

int sp__function_uses(const sp_function *f, const sp_value *v)
{
    int n = 0;
    for (const sp_node *m = f->first; m; m = m->next)
        for (int i = 0; i < m->n_in; i++) n += m->in[i] == v;
    for (int i = 0; i < f->n_results; i++) n += f->results[i] == v;
    return n;
}

const void *sp__node_attr_at(const sp_node *n, const char *name, sp_attr_type *type)
{
    const sp_attr *a = sp__attr_find(n->op, name, strlen(name));
    if (!a) return NULL;
    *type = a->type;
    return (const char *)n->attrs + a->offset;
}
