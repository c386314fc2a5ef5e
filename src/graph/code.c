/* SPDX-License-Identifier: Apache-2.0 */
/* code.c - functions to instructions.
 *
 * One walk over a function finds where each value is used last, a second makes instructions. Consecutive operators, reads
 * and stores become one segment, which is run by a plan; values that live inside it only get no slot in the frame. Marks
 * of values hold their place while a function is being translated and are cleared after it, because constants and functions
 * belong to several. */
#include "base/parts.h"
#include "graph/plan.h"
#include "graph/program.h"
#include "ops/ops_impl.h"

enum { SEGMENT_LEAST = 2 }; /* a single operator is run by sp_apply as quickly as by a plan */

/* What is known of a value during the walk; its mark points here. */
typedef struct place {
    sp_slot slot;
    int last;     /* instruction-order number of the node that uses it last; n_nodes: it is a result */
    int segment;  /* of the node that makes it, -1: none */
    bool crosses; /* used outside of the segment that makes it */
} place;

typedef struct {
    sp_program *p;
    sp_function *f;
    sp_code *code;
    place *places;
    sp_value **values; /* that have a mark */
    int n_places, capacity;
    int n_locals;
    int *segment_of;  /* by node order, -1: none */
    int *last_store;  /* by variable: order of the node that stores to it last, -1: none */
    int last_outside; /* order of the last node that runs other code, which may store to any variable; -1: none */
} coder;

static void *take(sp_program *p, size_t n, size_t size) { return sp__arena_alloc(&p->arena, (n ? n : 1) * size); }

static bool in_segment(const sp_node *n)
{
    if (n->kind == SP_NODE_READ || n->kind == SP_NODE_STORE) return true;
    if (n->kind != SP_NODE_OP || n->op->compose) return false;
    /* Known inputs and yet an unknown result: only the data tell its shape. */
    bool known = true;
    for (int i = 0; i < n->n_in; i++) known = known && (!n->in[i] || sp__meta_known(&n->in[i]->meta));
    for (int i = 0; known && i < n->n_out; i++)
        if (!sp__meta_known(&n->out[i]->meta)) return false;
    return true;
}

static place *place_of(coder *c, sp_value *v)
{
    if (!v->mark) {
        place *at = &c->places[c->n_places];
        *at = (place){.slot = SP_SLOT_NONE, .last = -1, .segment = -1};
        c->values[c->n_places++] = v;
        v->mark = at;
    }
    return v->mark;
}

static bool is_constant(const sp_value *v) { return v->origin == SP_VALUE_CONSTANT || v->origin == SP_VALUE_FUNCTION; }

static void use(coder *c, sp_value *v, int order, int segment)
{
    place *at = place_of(c, v);
    if (order > at->last) at->last = order;
    if (at->segment < 0 || at->segment != segment) at->crosses = true;
}

static void survey_stores(coder *c)
{
    c->last_outside = -1;
    for (int k = 0; k < c->p->graph->n_variables; k++) c->last_store[k] = -1;
    for (const sp_node *n = c->f->first; n; n = n->next) {
        if (n->kind == SP_NODE_STORE) c->last_store[n->variable->id] = n->order;
        if (n->kind == SP_NODE_CALL || n->kind == SP_NODE_HOST || n->kind == SP_NODE_GRAD) c->last_outside = n->order;
    }
}

/* Number the nodes, cut them into segments, find last uses. */
static sp_status survey(coder *c)
{
    sp_function *f = c->f;
    sp__function_number(f);
    int n_values = f->n_params + f->n_results;
    for (sp_node *n = f->first; n; n = n->next) n_values += n->n_in + n->n_out;
    c->places = sp__alloc((size_t)(n_values + 1) * sizeof *c->places);
    c->values = sp__alloc((size_t)(n_values + 1) * sizeof *c->values);
    c->segment_of = sp__alloc((size_t)(f->n_nodes + 1) * sizeof *c->segment_of);
    c->last_store = sp__alloc((size_t)(c->p->graph->n_variables + 1) * sizeof *c->last_store);
    if (!c->places || !c->values || !c->segment_of || !c->last_store) return SP_NOMEM;
    survey_stores(c);
    int segment = -1;
    for (sp_node *n = f->first; n;) {
        int length = 0;
        sp_node *m = n;
        for (; m && in_segment(m); m = m->next) length++;
        if (length >= SEGMENT_LEAST) {
            segment++;
            for (; n != m; n = n->next) c->segment_of[n->order] = segment;
            continue;
        }
        c->segment_of[n->order] = -1;
        n = n->next;
    }
    for (int i = 0; i < f->n_params; i++) place_of(c, f->params[i]);
    for (sp_node *n = f->first; n; n = n->next) {
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i]) use(c, n->in[i], n->order, c->segment_of[n->order]);
        for (int i = 0; i < n->n_out; i++) place_of(c, n->out[i])->segment = c->segment_of[n->order];
    }
    for (int i = 0; i < f->n_results; i++) use(c, f->results[i], f->n_nodes, -1);
    return SP_OK;
}

static sp_status add_constant(coder *c, sp_value *v, place *at)
{
    sp_code *code = c->code;
    sp_slot_value *item = &code->constants[code->n_constants];
    if (v->origin == SP_VALUE_CONSTANT) {
        item->tensor = sp_tensor_retain(v->constant);
    } else {
        item->closure = sp__alloc_zero(sizeof *item->closure);
        if (!item->closure) return SP_NOMEM;
        atomic_init(&item->closure->refs, 1);
        item->closure->code = v->target->mark;
    }
    at->slot = ~code->n_constants++;
    return SP_OK;
}

/* Slots for all that lives in the frame; segments number their locals themselves. */
static sp_status assign_slots(coder *c)
{
    sp_code *code = c->code;
    int n_constants = 0;
    for (int k = 0; k < c->n_places; k++) n_constants += is_constant(c->values[k]);
    if (!(code->constants = take(c->p, (size_t)n_constants, sizeof *code->constants))) return SP_NOMEM;
    for (int i = 0; i < c->f->n_params; i++) place_of(c, c->f->params[i])->slot = code->n_slots++;
    for (int k = 0; k < c->n_places; k++) {
        sp_value *v = c->values[k];
        place *at = v->mark;
        if (is_constant(v)) {
            SP_TRY(add_constant(c, v, at));
        } else {
            SP_CHECK(v->owner == c->f, SP_RUNTIME, "function %s uses a value of %s that was not passed to it",
                     c->f->name, v->owner->name);
            bool wanted = at->last >= 0 && (at->segment < 0 || at->crosses);
            if (v->origin == SP_VALUE_NODE && wanted) at->slot = code->n_slots++;
        }
    }
    return SP_OK;
}

static sp_slot slot_of(const sp_value *v) { return v ? ((place *)v->mark)->slot : SP_SLOT_NONE; }

/* May the variable change while the value read from it is in use? Every effect after the read that could write counts. */
static bool needs_copy(const coder *c, const sp_node *n)
{
    if (!n->variable->written) return false;
    /* What the entry returns is looked at when the program ends; others may hand it to code that writes. */
    if (c->f != c->p->graph->entry) return true;
    return c->last_store[n->variable->id] > n->order || c->last_outside > n->order;
}

/* The list of slots that nobody needs after the node. */
static sp_status list_dead(coder *c, const sp_node *n, sp_instr *instr)
{
    sp_slot *dead = take(c->p, (size_t)(n->n_in), sizeof *dead);
    if (!dead) return SP_NOMEM;
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i] || is_constant(n->in[i])) continue;
        place *at = n->in[i]->mark;
        bool seen = at->last != n->order;
        for (int k = 0; k < i && !seen; k++) seen = n->in[k] == n->in[i];
        if (!seen) dead[instr->n_dead++] = at->slot;
    }
    instr->dead = dead;
    return SP_OK;
}

static sp_status make_instr(coder *c, const sp_node *n, sp_instr *instr)
{
    sp_slot *in = take(c->p, (size_t)n->n_in, sizeof *in), *out = take(c->p, (size_t)n->n_out, sizeof *out);
    if (!in || !out) return SP_NOMEM;
    instr->node = n;
    instr->n_in = n->n_in;
    instr->n_out = n->n_out;
    for (int i = 0; i < n->n_in; i++) in[i] = slot_of(n->in[i]);
    for (int i = 0; i < n->n_out; i++) out[i] = slot_of(n->out[i]);
    instr->in = in;
    instr->out = out;
    if (n->kind == SP_NODE_READ) instr->copy = needs_copy(c, n);
    return list_dead(c, n, instr);
}

/* Values that cross the borders of a segment, each once: marks point to places, so a flag there would do; but a value that
 * comes in is listed at its first use, found by the order of the nodes. */
static sp_status make_segment(coder *c, sp_node *first, int length, sp_instr *instr)
{
    sp_segment *s = take(c->p, 1, sizeof *s);
    if (!s) return SP_NOMEM;
    int most_in = 0, most_out = 0;
    sp_node *n = first;
    for (int k = 0; k < length; k++, n = n->next) {
        most_in += n->n_in;
        most_out += n->n_out;
    }
    s->planning = c->p->planning;
    s->n_nodes = length;
    s->nodes = take(c->p, (size_t)length, sizeof *s->nodes);
    s->steps = take(c->p, (size_t)length, sizeof *s->steps);
    s->in = take(c->p, (size_t)most_in, sizeof *s->in);
    s->out = take(c->p, (size_t)most_out, sizeof *s->out);
    sp_slot *in = take(c->p, (size_t)most_in, sizeof *in), *out = take(c->p, (size_t)most_out, sizeof *out);
    sp_slot *dead = take(c->p, (size_t)most_in, sizeof *dead);
    if (!s->nodes || !s->steps || !s->in || !s->out || !in || !out || !dead) return SP_NOMEM;
    const int number = c->segment_of[first->order], end = first->order + length;
    n = first;
    for (int k = 0; k < length; k++, n = n->next) {
        s->nodes[k] = n;
        s->moves |= SP_HAVE_PLUGINS && n->op == &sp_op_device_copy;
        for (int i = 0; i < n->n_out; i++) {
            place *at = n->out[i]->mark;
            if (at->last < 0) continue;
            if (at->slot == SP_SLOT_NONE) {
                at->slot = c->code->n_slots + s->n_locals++; /* n_slots is final by now */
            } else {
                s->out[s->n_out] = n->out[i];
                out[s->n_out++] = at->slot;
            }
        }
        SP_TRY(make_instr(c, n, &s->steps[k]));
        for (int i = 0; i < n->n_in; i++) {
            sp_value *v = n->in[i];
            if (!v || is_constant(v)) continue;
            place *at = v->mark;
            if (at->segment == number || !at->crosses) continue;
            bool seen = false;
            for (int j = s->n_in - 1; j >= 0 && !seen; j--) seen = s->in[j] == v;
            if (seen) continue;
            s->in[s->n_in] = v;
            in[s->n_in++] = at->slot;
            if (at->last < end) dead[instr->n_dead++] = at->slot;
        }
    }
    instr->segment = s;
    instr->n_in = s->n_in;
    instr->n_out = s->n_out;
    instr->in = in;
    instr->out = out;
    instr->dead = dead;
    sp__lock_init(&s->lock);
    return SP_OK;
}

static sp_status make_code(coder *c)
{
    sp_code *code = c->code;
    sp_function *f = c->f;
    SP_TRY(survey(c));
    SP_TRY(assign_slots(c));
    if (!(code->instrs = take(c->p, (size_t)f->n_nodes, sizeof *code->instrs))) return SP_NOMEM;
    for (sp_node *n = f->first; n;) {
        sp_instr *instr = &code->instrs[code->n_instrs];
        int segment = c->segment_of[n->order], length = 0;
        if (segment < 0) {
            SP_TRY(make_instr(c, n, instr));
            n = n->next;
        } else {
            sp_node *first = n;
            for (; n && c->segment_of[n->order] == segment; n = n->next) length++;
            SP_TRY(make_segment(c, first, length, instr));
        }
        code->n_instrs++;
    }
    sp_slot *results = take(c->p, (size_t)f->n_results, sizeof *results);
    if (!results) return SP_NOMEM;
    for (int i = 0; i < f->n_results; i++) results[i] = slot_of(f->results[i]);
    code->results = results;
    code->n_results = f->n_results;
    code->n_params = f->n_params;
    code->ends_in_call = f->tail != NULL;
    return SP_OK;
}

static sp_status code_function(sp_program *p, sp_function *f)
{
    coder c = {.p = p, .f = f, .code = f->mark};
    sp_status status = make_code(&c);
    for (int k = 0; k < c.n_places; k++) c.values[k]->mark = NULL;
    sp__free(c.places);
    sp__free(c.values);
    sp__free(c.segment_of);
    sp__free(c.last_store);
    return status;
}

static void clear_marks(const sp_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i]) n->in[i]->mark = NULL;
    for (int i = 0; i < n->n_out; i++) n->out[i]->mark = NULL;
}

sp_status sp__code_make(sp_program *p)
{
    sp_graph *g = p->graph;
    p->codes = take(p, (size_t)g->n_functions, sizeof *p->codes);
    if (!p->codes) return SP_NOMEM;
    for (sp_function *f = g->first; f; f = f->next) {
        for (sp_node *n = f->first; n; n = n->next) clear_marks(n);
        for (int i = 0; i < f->n_results; i++) f->results[i]->mark = NULL;
        for (int i = 0; i < f->n_params; i++) f->params[i]->mark = NULL;
        sp_code *code = take(p, 1, sizeof *code);
        if (!code) return SP_NOMEM;
        code->function = f;
        f->mark = code;
        p->codes[p->n_codes++] = code;
    }
    for (sp_function *f = g->first; f; f = f->next) SP_TRY(code_function(p, f));
    p->entry = g->entry->mark;
    return SP_OK;
}

void sp__code_free(sp_program *p)
{
    for (int k = 0; k < p->n_codes; k++) {
        sp_code *code = p->codes[k];
        for (int i = 0; i < code->n_constants; i++) {
            sp_tensor_release(code->constants[i].tensor);
            sp__free(code->constants[i].closure); /* nothing is bound */
        }
        for (int i = 0; i < code->n_instrs; i++) {
            sp_segment *s = code->instrs[i].segment;
            if (!s) continue;
            sp__plans_free(s);
            sp__lock_destroy(&s->lock);
        }
    }
}
