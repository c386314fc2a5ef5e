/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - the machine that runs code: frames on a stack of its own, so that the depth of a program's recursion has
 * nothing to do with that of the C stack.
 *
 *   - A tail call takes over the frame of its caller: a loop runs in constant memory.
 *   - A value is released by the instruction that uses it last; arguments of a call are released by the caller when the
 *     callee has them, so that the callee frees them as soon as it is done with them.
 *   - Segments are run by plans. While a gradient is being recorded (here or by whoever called the program) and something
 *     that enters has a history, they are run operator by operator instead, through sp_apply, which records.
 *   - After a failure all frames are unwound and everything they hold is released. */
#include <stdlib.h>

#include "eager/eager.h"
#include "graph/machine.h"
#include "graph/plan.h"
#include "ops/ops_impl.h"
#include "tensor/remote.h"

enum { POLL_TURNS = 64, DEPTH_DEFAULT = 100000 };

static atomic_int depth_limit = DEPTH_DEFAULT;

sp_status sp_program_set_depth(int most)
{
    SP_CHECK(most >= 1, SP_VALUE, "the greatest depth of function calls is %d, it must be 1 at least", most);
    atomic_store(&depth_limit, most);
    return SP_OK;
}

/* --- items ------------------------------------------------------------------------------------------------------- */

sp_slot_value sp__item_retain(sp_slot_value x)
{
    if (x.tensor) sp_tensor_retain(x.tensor);
    if (x.closure) atomic_fetch_add_explicit(&x.closure->refs, 1, memory_order_relaxed);
    return x;
}

/* Closures bind closures: chains of them are released with a list, not by recursion. */
static void closure_release(sp_closure *c)
{
    sp_closure *work = NULL;
    for (;;) {
        if (c && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) {
            c->code = (const sp_code *)(const void *)work; /* dead: the field serves as the link */
            work = c;
        }
        if (!work) return;
        if (work->n_bound == 0) {
            sp_closure *gone = work;
            work = (sp_closure *)(uintptr_t)gone->code;
            sp__free(gone);
            c = NULL;
            continue;
        }
        sp_slot_value last = work->bound[--work->n_bound];
        sp_tensor_release(last.tensor);
        c = last.closure;
    }
}

void sp__item_release(sp_slot_value x)
{
    sp_tensor_release(x.tensor);
    if (x.closure) closure_release(x.closure);
}

/* --- the stacks -------------------------------------------------------------------------------------------------- */

static void *grown(void *block, int *capacity, int needed, size_t size)
{
    int more = *capacity ? *capacity : 32;
    while (more < needed && more < INT32_MAX / 2) more *= 2;
    void *bigger = more >= needed ? sp__realloc(block, (size_t)*capacity * size, (size_t)more * size) : NULL;
    if (bigger) *capacity = more;
    return bigger;
}

static sp_status reserve_items(sp_machine *m, int n)
{
    if (m->n_items + n <= m->items_capacity) return SP_OK;
    sp_slot_value *items = grown(m->items, &m->items_capacity, m->n_items + n, sizeof *items);
    if (!items) return SP_NOMEM;
    m->items = items;
    return SP_OK;
}

static void drop_items(sp_machine *m, int from)
{
    while (m->n_items > from) sp__item_release(m->items[--m->n_items]);
}

static sp_slot_value get(const sp_machine *m, const sp_frame *f, sp_slot slot)
{
    if (slot == SP_SLOT_NONE) return (sp_slot_value){0};
    return slot < 0 ? f->code->constants[~slot] : m->items[f->base + slot];
}

static void put_take(sp_machine *m, const sp_frame *f, sp_slot slot, sp_slot_value x)
{
    if (slot == SP_SLOT_NONE) {
        sp__item_release(x);
        return;
    }
    sp_slot_value old = m->items[f->base + slot];
    m->items[f->base + slot] = x;
    sp__item_release(old);
}

static void release_dead(sp_machine *m, const sp_frame *f, const sp_instr *i)
{
    for (int k = 0; k < i->n_dead; k++) {
        sp_slot_value *x = &m->items[f->base + i->dead[k]];
        sp_slot_value gone = *x;
        *x = (sp_slot_value){0};
        sp__item_release(gone);
    }
}

/* --- calls ------------------------------------------------------------------------------------------------------- */

/* A frame whose first slots are the n_args items on top of the stack (taken over). */
static sp_status push_frame(sp_machine *m, const sp_code *code, int n_args, const sp_instr *to, sp_tape *tape)
{
    int limit = atomic_load_explicit(&depth_limit, memory_order_relaxed);
    SP_CHECK(m->n_frames < limit, SP_RUNTIME,
             "Exceed function call depth limit %d, (function call depth: %d): function %s calls itself without end, or "
             "deeper than allowed; the limit is max_call_depth",
             limit, m->n_frames + 1, code->function->name);
    SP_CHECK(n_args == code->n_params, SP_TYPE, "function %s takes %d arguments, but got %d", code->function->name,
             code->n_params, n_args);
    SP_TRY(reserve_items(m, code->n_slots - n_args));
    if (m->n_frames == m->frames_capacity) {
        sp_frame *frames = grown(m->frames, &m->frames_capacity, m->n_frames + 1, sizeof *frames);
        if (!frames) return SP_NOMEM;
        m->frames = frames;
    }
    sp_frame *f = &m->frames[m->n_frames++];
    *f = (sp_frame){.code = code, .base = m->n_items - n_args, .to = to, .tape = tape};
    for (int i = n_args; i < code->n_slots; i++) m->items[m->n_items++] = (sp_slot_value){0};
    return SP_OK;
}

/* Bound arguments, then the given ones, on top of the stack. */
static sp_status push_args(sp_machine *m, const sp_frame *f, const sp_closure *c, int n, const sp_slot *slots,
                           int *n_args)
{
    SP_TRY(reserve_items(m, c->n_bound + n));
    for (int i = 0; i < c->n_bound; i++) m->items[m->n_items++] = sp__item_retain(c->bound[i]);
    for (int i = 0; i < n; i++) {
        sp_slot_value x = sp__item_retain(get(m, f, slots[i]));
        m->items[m->n_items++] = x;
    }
    *n_args = c->n_bound + n;
    return SP_OK;
}

static sp_status callee_of(const sp_machine *m, const sp_frame *f, const sp_instr *i, const sp_closure **out)
{
    sp_slot_value x = get(m, f, i->in[0]);
    SP_CHECK(x.closure, SP_TYPE, "a tensor was called as a function in %s", f->code->function->name);
    *out = x.closure;
    return SP_OK;
}

static sp_status call(sp_machine *m, const sp_instr *i)
{
    sp_frame *f = &m->frames[m->n_frames - 1];
    const sp_closure *c = NULL;
    int n_args;
    SP_TRY(callee_of(m, f, i, &c));
    const sp_code *code = c->code;
    SP_TRY(push_args(m, f, c, i->n_in - 1, i->in + 1, &n_args));
    if (f->code->ends_in_call && f->at == f->code->n_instrs) {
        /* Tail call: the arguments move down over the caller's slots, and the callee answers to the caller's caller. */
        const sp_instr *to = f->to;
        sp_tape *tape = f->tape;
        int base = f->base, top = m->n_items - n_args;
        for (int k = base; k < top; k++) {
            sp_slot_value gone = m->items[k];
            m->items[k] = (sp_slot_value){0};
            sp__item_release(gone);
        }
        memmove(m->items + base, m->items + top, (size_t)n_args * sizeof *m->items);
        m->n_items = base + n_args;
        m->n_frames--;
        return push_frame(m, code, n_args, to, tape);
    }
    release_dead(m, f, i);
    return push_frame(m, code, n_args, i, NULL);
}

static sp_status call_grad(sp_machine *m, const sp_instr *i)
{
    sp_frame *f = &m->frames[m->n_frames - 1];
    const sp_closure *c = NULL;
    const int n_seeds = i->node->grad->n_seeds;
    int n_args, from = m->n_items;
    sp_tape *tape;
    SP_TRY(callee_of(m, f, i, &c));
    const sp_code *code = c->code;
    SP_TRY(push_args(m, f, c, i->n_in - 1, i->in + 1, &n_args));
    /* Positions count the node's own arguments; bound ones come before them. The seeds are last. */
    const int n_bound = c->n_bound;
    SP_TRY(sp__tape_begin(m, i->node, n_args - n_bound - n_seeds, m->items + from + n_bound, n_seeds,
                          m->items + m->n_items - n_seeds, &tape));
    drop_items(m, m->n_items - n_seeds);
    release_dead(m, f, i);
    sp_status status = push_frame(m, code, n_args - n_seeds, i, tape);
    if (status != SP_OK) sp__tape_drop(m, tape);
    return status;
}

static sp_status return_to(sp_machine *m, const sp_instr *to, int n, sp_slot_value *results)
{
    if (!to) {
        m->results = results;
        m->n_results = n;
        return SP_OK;
    }
    sp_frame *f = &m->frames[m->n_frames - 1];
    sp_status status = SP_OK;
    if (n != to->n_out)
        status = sp__fail(SP_RUNTIME, "a function called by %s gave %d results, %d were expected",
                          f->code->function->name, n, to->n_out);
    for (int i = 0; i < n; i++) {
        if (status == SP_OK) put_take(m, f, to->out[i], results[i]);
        else sp__item_release(results[i]);
    }
    sp__free(results);
    return status;
}

/* A constant of the program must not leave it: the caller may write to what it gets. */
static sp_status result_of(const sp_machine *m, const sp_frame *f, sp_slot slot, bool leaves, sp_slot_value *out)
{
    sp_slot_value x = get(m, f, slot);
    if (slot < 0 && leaves && x.tensor) return sp_tensor_copy(x.tensor, &out->tensor);
    *out = sp__item_retain(x);
    return SP_OK;
}

static sp_status finish_frame(sp_machine *m, int n, sp_slot_value *results)
{
    sp_frame f = m->frames[m->n_frames - 1];
    if (f.tape) {
        const int n_all = f.to->n_out;
        sp_slot_value *all = sp__alloc_zero((size_t)(n_all + 1) * sizeof *all);
        sp_status status = SP_NOMEM;
        if (all) {
            const sp_grad_spec *g = f.to->node->grad;
            status = n + g->n_positions + g->n_variables == n_all
                         ? sp__tape_end(m, f.tape, n, results, all)
                         : sp__fail(SP_RUNTIME, "the differentiated function %s gave %d results, %d were expected",
                                    f.code->function->name, n, g->n_results);
        }
        for (int i = 0; i < n; i++) sp__item_release(results[i]);
        sp__free(results);
        if (status != SP_OK) {
            sp__free(all);
            return status;
        }
        sp__tape_drop(m, f.tape);
        results = all;
        n = n_all;
    }
    drop_items(m, f.base);
    m->n_frames--;
    return return_to(m, f.to, n, results);
}

static sp_status return_from(sp_machine *m)
{
    sp_frame *f = &m->frames[m->n_frames - 1];
    const int n = f->code->n_results;
    sp_slot_value *results = sp__alloc_zero((size_t)(n + 1) * sizeof *results);
    if (!results) return SP_NOMEM;
    for (int i = 0; i < n; i++) {
        sp_status status = result_of(m, f, f->code->results[i], m->n_frames == 1, &results[i]);
        if (status != SP_OK) {
            for (int k = 0; k < i; k++) sp__item_release(results[k]);
            sp__free(results);
            return status;
        }
    }
    return finish_frame(m, n, results);
}

/* --- function values --------------------------------------------------------------------------------------------- */

static sp_status bind(sp_machine *m, const sp_frame *f, const sp_instr *i)
{
    const sp_closure *c = NULL;
    SP_TRY(callee_of(m, f, i, &c));
    const int n = c->n_bound + i->n_in - 1;
    sp_closure *bound = sp__alloc(sizeof *bound + (size_t)n * sizeof *bound->bound);
    if (!bound) return SP_NOMEM;
    atomic_init(&bound->refs, 1);
    bound->code = c->code;
    bound->n_bound = n;
    for (int k = 0; k < c->n_bound; k++) bound->bound[k] = sp__item_retain(c->bound[k]);
    for (int k = c->n_bound; k < n; k++) bound->bound[k] = sp__item_retain(get(m, f, i->in[k - c->n_bound + 1]));
    put_take(m, f, i->out[0], (sp_slot_value){.closure = bound});
    return SP_OK;
}

static sp_status truth(const sp_tensor *t, bool *out)
{
    char text[SP_SHAPE_TEXT];
    SP_CHECK(
        t->count == 1, SP_VALUE,
        "The truth value of an array with several elements is ambiguous: a condition must have one element, this one has "
        "shape %s; use .any() or .all()",
        sp__shape_text(t->rank, t->dims, text));
    if (sp__tensor_buffer(t)) {
        sp_tensor *here = NULL;
        SP_TRY(sp__remote->fetch(t, &here));
        const sp_status status = truth(here, out);
        sp_tensor_release(here);
        return status;
    }
    sp_loop_fn convert = sp__cast_loop((sp_dtype)t->dtype, SP_DTYPE_BOOL);
    SP_CHECK(convert, SP_TYPE, "a tensor of dtype %s is no condition", sp_dtype_name((sp_dtype)t->dtype));
    uint8_t is = 0;
    convert(1, (char *const[]){(char *)&is, t->data}, (const int64_t[]){0, 0}, NULL);
    *out = is;
    return SP_OK;
}

static sp_status choose(sp_machine *m, const sp_frame *f, const sp_instr *i)
{
    bool yes = false;
    sp_slot_value cond = get(m, f, i->in[0]);
    SP_CHECK(cond.tensor, SP_TYPE, "a function was used as a condition in %s", f->code->function->name);
    SP_TRY(truth(cond.tensor, &yes));
    put_take(m, f, i->out[0], sp__item_retain(get(m, f, i->in[yes ? 1 : 2])));
    return SP_OK;
}

/* --- nodes one by one -------------------------------------------------------------------------------------------- */

/* A step of a segment finds its values in the frame and, from n_slots on, among the segment's own. */
typedef struct {
    sp_machine *m;
    const sp_frame *f;
    sp_slot_value *locals;
} scope;

static sp_slot_value *spot(const scope *s, sp_slot slot)
{
    const int n = s->f->code->n_slots;
    return slot < n ? &s->m->items[s->f->base + slot] : &s->locals[slot - n];
}

static sp_tensor *tensor_at(const scope *s, sp_slot slot)
{
    if (slot == SP_SLOT_NONE) return NULL;
    return slot < 0 ? s->f->code->constants[~slot].tensor : spot(s, slot)->tensor;
}

static void set_take(const scope *s, sp_slot slot, sp_tensor *t)
{
    if (slot == SP_SLOT_NONE) {
        sp_tensor_release(t);
        return;
    }
    sp_slot_value *x = spot(s, slot), old = *x;
    *x = (sp_slot_value){.tensor = t};
    sp__item_release(old);
}

static sp_status copied(sp_tensor *t, sp_tensor **out)
{
    int n;
    sp_tensor *copy;
    SP_TRY(sp_apply(&sp_op_copy, NULL, 1, &t, 1, &copy, &n)); /* recorded when there is a history */
    *out = copy;
    return SP_OK;
}

/* Is the value in `slot` used by nobody else, now or later? Then it may be overwritten. */
static bool is_last(const scope *s, const sp_instr *i, sp_slot slot, const sp_tensor *t)
{
    if (slot < 0 || t->node || !(t->flags & SP_TENSOR_CONTIGUOUS)) return false;
    bool dead = false;
    for (int k = 0; k < i->n_dead && !dead; k++) dead = i->dead[k] == slot;
    for (int k = 0, uses = 0; k < i->n_in; k++)
        if (i->in[k] == slot && ++uses > 1) return false;
    (void)s;
    return dead && atomic_load_explicit(&t->refs, memory_order_acquire) == 1 && t->storage && !t->storage->release &&
           atomic_load_explicit(&t->storage->refs, memory_order_acquire) == 1;
}

static sp_status step_op(const scope *s, const sp_instr *i)
{
    const sp_node *n = i->node;
    sp_tensor *few[SP_IN_MAX + SP_OUT_MAX], **in = few;
    sp_status status = SP_OK;
    int n_in = n->n_in, n_copies = 0, got;
    if (n_in > SP_IN_MAX || n->n_out > SP_OUT_MAX) {
        in = sp__alloc((size_t)(n_in + n->n_out) * sizeof *in);
        if (!in) return SP_NOMEM;
    }
    sp_tensor **out = in + n_in, *copies[8];
    for (int k = 0; k < n_in; k++) in[k] = tensor_at(s, i->in[k]);
    for (int k = 0; k < n_in && k < 8; k++) {
        if (!(n->op->writes >> k & 1) || is_last(s, i, i->in[k], in[k])) continue;
        SP_GOTO(done, copied(in[k], &copies[n_copies]));
        in[k] = copies[n_copies++];
    }
    SP_GOTO(done, sp_apply(n->op, n->attrs, n_in, in, n->n_out, out, &got));
    for (int k = got; k < n->n_out; k++) out[k] = NULL;
    for (int k = 0; k < n->n_out; k++) set_take(s, i->out[k], out[k]);
done:
    for (int k = 0; k < n_copies; k++) sp_tensor_release(copies[k]);
    if (in != few) sp__free(in);
    return status;
}

static sp_status step_read(const scope *s, const sp_instr *i)
{
    sp_tensor *t = sp__tape_variable(s->m, i->node->variable), *value;
    if (i->copy) SP_TRY(copied(t, &value));
    else if (t->node) value = sp_tensor_retain(t); /* its history is what the gradient is taken by */
    else SP_TRY(sp__tensor_alias(t, &value));
    set_take(s, i->out[0], value);
    return SP_OK;
}

static sp_status step_store(const scope *s, const sp_instr *i)
{
    sp_tensor *t = i->node->variable->tensor, *value = tensor_at(s, i->in[0]);
    if (t->data == value->data && t->storage == value->storage) return SP_OK; /* a view of itself: nothing changes */
    SP_TRY(sp_tensor_assign(t, value));
    sp__tensor_wrote(t);
    return SP_OK;
}

/* Results of host code that have no history, of inputs that have one. What the host gave may be shared: the mark goes to handles of this
 * run. On failure the results are released. */
static sp_status hide_from_gradient(const sp_host *host, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    bool any = false;
    for (int k = 0; k < n_in; k++) any |= in[k] && sp_grad_tracked(in[k]);
    sp_status status = SP_OK;
    for (int k = 0; k < n_out && any && status == SP_OK; k++) {
        sp_tensor *own = NULL;
        if (sp_grad_tracked(out[k])) continue; /* computed with operators: differentiated like them */
        status = sp_grad_detach(out[k], &own);
        if (status != SP_OK) break;
        sp_tensor_release(out[k]);
        out[k] = own;
        status = sp__host_opaque(host, n_in, in, 1, &out[k]);
    }
    for (int k = 0; k < n_out && status != SP_OK; k++) sp_tensor_release(out[k]);
    return status;
}

static sp_status step_host(const scope *s, const sp_instr *i)
{
    const sp_node *n = i->node;
    sp_tensor **in = sp__alloc_zero((size_t)(n->n_in + n->n_out + 1) * sizeof *in), **out = in + n->n_in;
    if (!in) return SP_NOMEM;
    for (int k = 0; k < n->n_in; k++) in[k] = tensor_at(s, i->in[k]);
    sp_status status = n->host->run(n->host->context, n->n_in, in, n->n_out, out);
    if (status == SP_OK && sp_grad_recording()) status = hide_from_gradient(n->host, n->n_in, in, n->n_out, out);
    for (int k = 0; k < n->n_out && status == SP_OK; k++) set_take(s, i->out[k], out[k]);
    sp__free(in);
    return status;
}

static sp_status step(const scope *s, const sp_instr *i)
{
    sp_status status;
    switch (i->node->kind) {
    case SP_NODE_OP: status = step_op(s, i); break;
    case SP_NODE_READ: status = step_read(s, i); break;
    case SP_NODE_STORE: status = step_store(s, i); break;
    case SP_NODE_HOST: status = step_host(s, i); break;
    default: status = sp__fail(SP_RUNTIME, "a node of kind %d has no place in a segment", (int)i->node->kind);
    }
    if (status != SP_OK) {
        sp__blame(i->node);
        return status;
    }
    for (int k = 0; k < i->n_dead; k++) {
        sp_slot_value *x = spot(s, i->dead[k]), gone = *x;
        *x = (sp_slot_value){0};
        sp__item_release(gone);
    }
    return SP_OK;
}

/* --- segments ---------------------------------------------------------------------------------------------------- */

static sp_status run_steps(sp_machine *m, const sp_frame *f, const sp_segment *g)
{
    scope s = {m, f, NULL};
    if (!(s.locals = sp__alloc_zero((size_t)(g->n_locals + 1) * sizeof *s.locals))) return SP_NOMEM;
    sp_status status = SP_OK;
    for (int k = 0; k < g->n_nodes && status == SP_OK; k++) status = step(&s, &g->steps[k]);
    for (int k = 0; k < g->n_locals; k++) sp__item_release(s.locals[k]);
    sp__free(s.locals);
    return status;
}

/* Must the segment be recorded? Then it has to go through sp_apply. */
static bool recorded(const sp_machine *m, const sp_segment *g, sp_tensor *const *in)
{
    if (sp__grad_depth == 0) return false;
    for (int k = 0; k < g->n_in; k++)
        if (in[k]->node) return true;
    for (int k = 0; k < g->n_nodes; k++)
        if (g->nodes[k]->kind == SP_NODE_READ && sp__tape_variable(m, g->nodes[k]->variable)->node) return true;
    return false;
}

/* Is something of it on a device, or does it go there? */
static bool lies_elsewhere(const sp_machine *m, const sp_segment *g, sp_tensor *const *in)
{
    if (g->moves) return true;
    if (!sp__remote) return false;
    for (int k = 0; k < g->n_in; k++)
        if (sp__tensor_buffer(in[k])) return true;
    for (int k = 0; k < g->n_nodes; k++)
        if (g->nodes[k]->kind == SP_NODE_READ && sp__tensor_buffer(sp__tape_variable(m, g->nodes[k]->variable)))
            return true;
    return false;
}

static sp_status run_segment(sp_machine *m, const sp_frame *f, const sp_instr *i)
{
    sp_segment *g = i->segment;
    sp_tensor *few[32], **in = few, **out;
    if (g->n_in + g->n_out > 32 && !(in = sp__alloc((size_t)(g->n_in + g->n_out) * sizeof *in))) return SP_NOMEM;
    out = in + g->n_in;
    for (int k = 0; k < g->n_in; k++) in[k] = get(m, f, i->in[k]).tensor;
    sp_status status = SP_DECLINED;
    if (!g->declined && !recorded(m, g, in))
        status = SP_HAVE_PLUGINS && lies_elsewhere(m, g, in) ? sp__segment_run_placed(g, in, out)
                                                             : sp__segment_run(g, in, out);
    if (status == SP_DECLINED) {
        status = run_steps(m, f, g);
    } else if (status == SP_OK) {
        for (int k = 0; k < g->n_out; k++) put_take(m, f, i->out[k], (sp_slot_value){.tensor = out[k]});
        release_dead(m, f, i);
    }
    if (in != few) sp__free(in);
    return status;
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

static sp_status turn(sp_machine *m)
{
    sp_frame *f = &m->frames[m->n_frames - 1];
    if (f->at == f->code->n_instrs) return return_from(m);
    const sp_instr *i = &f->code->instrs[f->at++];
    if (i->segment) return run_segment(m, f, i);
    sp_status status;
    switch (i->node->kind) {
    case SP_NODE_CALL: status = call(m, i); break;
    case SP_NODE_GRAD: status = call_grad(m, i); break;
    case SP_NODE_PARTIAL:
        status = bind(m, f, i);
        if (status == SP_OK) release_dead(m, f, i);
        break;
    case SP_NODE_SWITCH:
        status = choose(m, f, i);
        if (status == SP_OK) release_dead(m, f, i);
        break;
    default: return step(&(scope){m, f, NULL}, i);
    }
    if (status != SP_OK) sp__blame(i->node);
    return status;
}

/* Results in memory of a variable are copied: they must not change when it does. */
static sp_status separate(const sp_program *p, sp_tensor **t)
{
    for (int k = 0; k < p->graph->n_variables; k++) {
        const sp_tensor *v = p->graph->variables[k]->tensor;
        if (!(*t)->storage || v->storage != (*t)->storage) continue;
        sp_tensor *copy;
        SP_TRY(copied(*t, &copy));
        sp_tensor_release(*t);
        *t = copy;
        return SP_OK;
    }
    return SP_OK;
}

static sp_status give_results(sp_machine *m, int n_results, sp_tensor **results)
{
    SP_CHECK(m->n_results == n_results, SP_VALUE, "the program gives %d results, but there is room for %d",
             m->n_results, n_results);
    for (int i = 0; i < n_results; i++) {
        SP_CHECK(m->results[i].tensor, SP_TYPE, "result %d of the program is a function, not a tensor", i);
        SP_TRY(separate(m->program, &m->results[i].tensor));
    }
    for (int i = 0; i < n_results; i++) {
        results[i] = m->results[i].tensor;
        m->results[i] = (sp_slot_value){0};
    }
    return SP_OK;
}

sp_status sp__machine_run(sp_program *p, int n_args, sp_tensor *const *args, int n_results, sp_tensor **results)
{
    sp_machine m = {.program = p};
    sp_status status;
    const sp_precision precision = sp__precision;
    sp_function *recorder = sp__recorder;
    sp__precision = SP_PRECISION_PLAIN; /* the program contains its casts */
    sp__recorder = NULL;                /* and computes, whatever else this thread is recording */
    SP_GOTO(done, reserve_items(&m, n_args));
    for (int i = 0; i < n_args; i++) {
        sp_slot_value arg = {.tensor = sp_tensor_retain(args[i])};
        m.items[m.n_items++] = arg;
        /* An argument is a value: a variable passed as one must not change when the program stores to it. */
        if (p->stores) SP_GOTO(done, separate(p, &m.items[m.n_items - 1].tensor));
    }
    SP_GOTO(done, push_frame(&m, p->entry, n_args, NULL, NULL));
    while (m.n_frames && status == SP_OK) {
        if (++m.turns % POLL_TURNS == 0) SP_GOTO(done, sp__interrupt_check());
        status = turn(&m);
    }
    if (status == SP_OK) status = give_results(&m, n_results, results);
done:
    sp__precision = precision;
    sp__recorder = recorder;
    while (m.tape) sp__tape_drop(&m, m.tape);
    drop_items(&m, 0);
    for (int i = 0; i < m.n_results; i++) sp__item_release(m.results[i]);
    sp__free(m.results);
    sp__free(m.items);
    sp__free(m.frames);
    return status;
}
