/* SPDX-License-Identifier: Apache-2.0 */
/* plan_run.c - plans kept by the shapes they were made for, and run.
 *
 * A plan is shared and does not change; what a run writes to is in an instance: the arena, handles over it, and calls that
 * point to these handles. A run takes an idle instance or makes one, sets the addresses of what comes from outside, makes
 * the results, and calls the kernels. It takes the lock of its segment twice, whatever the number of nodes. */
#include <stdlib.h>

#include "base/profile.h"
#include "base/clock.h"
#include "base/scratch.h"
#include "device/devices.h"
#include "graph/fused.h"
#include "graph/plan_instance.h"
#include "tensor/tensor_text.h"

enum { PLANS_KEPT = 64, INSTANCES_KEPT = 4, PLANS_READY = 4, POLL_ACTIONS = 256 };

/* What the kernel of a product does to its result. */
typedef struct {
    sp_epilogue epilogue;
    sp_tail tail;
} tail_action;

/* What makes the input of a reduction. */
typedef struct {
    sp_prologue prologue;
    sp_head head;
} head_action;

/* --- instances --------------------------------------------------------------------------------------------------- */

static void instance_free(sp_instance *x)
{
    if (!x) return;
    for (int i = 0; i < x->n_kept; i++) sp__free(x->kept[i].block);
    for (int i = 0; i < x->n_mirrors; i++) sp_tensor_release(x->mirrors[i].there);
    for (int i = 0; x->arenas && i < x->plan->n_places; i++) sp_tensor_release(x->arenas[i]);
    sp__free(x->arena);
    sp__arena_free(&x->memory);
    sp__free(x);
}

void sp__plan_free(sp_plan *p)
{
    if (!p) return;
    while (p->idle) {
        sp_instance *x = p->idle;
        p->idle = x->next;
        instance_free(x);
    }
    sp__plan_unpack(p);
    sp__arena_free(&p->arena);
    sp__free(p);
}

static int border_of(const sp_plan *p, const sp_root *r)
{
    switch (r->kind) {
    case SP_ROOT_ARG: return r->number;
    case SP_ROOT_VARIABLE: return p->n_in + r->number;
    case SP_ROOT_RESULT: return p->n_in + p->n_variables + r->number;
    default: return -1;
    }
}

static sp_status instance_borders(sp_instance *x)
{
    sp_plan *p = x->plan;
    x->n_borders = p->n_in + p->n_variables + p->n_results;
    x->borders = sp__arena_alloc(&x->memory, (size_t)(x->n_borders + 1) * sizeof *x->borders);
    x->results = sp__arena_alloc(&x->memory, (size_t)(p->n_results + 1) * sizeof *x->results);
    if (!x->borders || !x->results) return SP_NOMEM;
    for (int round = 0; round < 2; round++) { /* count, then list */
        for (int i = 0; i < p->n_handles; i++) {
            int b = border_of(p, &p->roots[p->handles[i].root]);
            if (b < 0) continue;
            if (round) x->borders[b].handles[x->borders[b].n] = i;
            x->borders[b].n++;
        }
        for (int b = 0; b < x->n_borders && !round; b++) {
            x->borders[b].handles = sp__arena_alloc(&x->memory, (size_t)(x->borders[b].n + 1) * sizeof(int));
            if (!x->borders[b].handles) return SP_NOMEM;
            x->borders[b].n = 0;
        }
    }
    return SP_OK;
}

static sp_status instance_action(sp_instance *x, const sp_step *s, sp_action *out)
{
    const int n = sp__step_handles(s);
    sp_tensor **pointers = sp__arena_alloc(&x->memory, (size_t)(n + 1) * sizeof *pointers);
    if (!pointers) return SP_NOMEM;
    for (int k = 0; k < n; k++) pointers[k] = s->handles[k] < 0 ? NULL : &x->handles[s->handles[k]];
    *out = (sp_action){.run = s->run,
                       .call = {.op = s->op,
                                .attrs = s->attrs,
                                .n_in = s->n_in,
                                .n_out = s->n_out,
                                .in = pointers,
                                .out = pointers + s->n_in,
                                .prepared = s->prepared,
                                .begun = s->exchange ? &x->begun[s->exchange] : NULL,
                                .work = s->work < 0 ? NULL : (char *)x->arena + x->plan->roots[s->work].offset}};
    if (!s->tail) return SP_OK;
    if (s->is_head) {
        head_action *h = sp__arena_alloc(&x->memory, sizeof *h);
        if (!h) return SP_NOMEM;
        h->head.fused = s->tail;
        h->head.operands = pointers + s->n_in + s->n_out;
        h->head.made = s->made;
        h->head.room = s->room;
        h->head.n_rooms = s->n_rooms;
        atomic_init(&h->head.taken, 0);
        h->prologue =
            (sp_prologue){.make = sp__head_make, .done = sp__head_done, .context = &h->head, .cost = s->tail->cost};
        out->call.prologue = &h->prologue;
        return SP_OK;
    }
    tail_action *t = sp__arena_alloc(&x->memory, sizeof *t);
    if (!t) return SP_NOMEM;
    t->tail = (sp_tail){.fused = s->tail, .operands = pointers + s->n_in + s->n_out};
    t->epilogue = (sp_epilogue){.fn = sp__tail_run, .context = &t->tail};
    out->call.epilogue = &t->epilogue;
    return SP_OK;
}

static sp_status instance_weights(sp_instance *x)
{
    const sp_plan *p = x->plan;
    int n = 0;
    for (int i = 0; i < p->n_steps; i++) n += p->steps[i].keeps_bytes > 0;
    if (!(x->kept = sp__arena_alloc(&x->memory, (size_t)(n + 1) * sizeof *x->kept))) return SP_NOMEM;
    for (int i = 0; i < p->n_steps; i++) {
        if (!p->steps[i].keeps_bytes) continue;
        const int variable = p->roots[p->handles[p->steps[i].handles[1]].root].number;
        if (!p->stored[variable]) x->kept[x->n_kept++] = (sp_kept_weight){.step = i, .variable = variable};
    }
    return SP_OK;
}

/* Before a run: which weights are as they were. Without memory for another form they are taken as they are. */
static sp_status look_at_weights(sp_instance *x)
{
    const sp_plan *p = x->plan;
    for (int i = 0; i < x->n_kept; i++) {
        sp_kept_weight *k = &x->kept[i];
        sp_call *call = &x->actions[k->step].call;
        const sp_storage_mark now = sp__storage_mark(p->variables[k->variable]->tensor->storage);
        if (!sp__storage_unchanged(k->mark, now)) {
            k->mark = now;
            k->made = false;
            call->prepared = NULL;
        } else if (!k->made) {
            if (!k->block) k->block = sp__alloc(p->steps[k->step].keeps_bytes);
            if (!k->block) continue;
            SP_TRY(p->steps[k->step].prepare(call, k->block));
            k->made = true;
            call->prepared = k->block;
        }
    }
    return SP_OK;
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

/* An arena on each device of the plan, and room for what is mirrored there. */
static sp_status instance_places(sp_instance *x)
{
    const sp_plan *p = x->plan;
    int n = 0;
    for (int i = 0; i < p->n_roots; i++) n += p->roots[i].kind == SP_ROOT_MIRROR;
    x->arenas = sp__arena_alloc(&x->memory, (size_t)(p->n_places + 1) * sizeof *x->arenas);
    x->mirrors = sp__arena_alloc(&x->memory, (size_t)(n + 1) * sizeof *x->mirrors);
    if (!x->arenas || !x->mirrors) return SP_NOMEM;
    for (int i = 0; i < p->n_places; i++) {
        const sp_meta bytes = {
            .dtype = SP_DTYPE_U8, .rank = 1, .dims = {(int64_t)(p->places[i].arena_bytes + SP_INSTANCE_SLACK)}};
        SP_TRY(sp__device_tensor(p->places[i].device, &bytes, &x->arenas[i]));
    }
    for (int i = 0; i < p->n_roots; i++) {
        const sp_root *r = &p->roots[i];
        if (r->kind != SP_ROOT_MIRROR) continue;
        sp_meta meta;
        sp__meta_of(p->variables[r->number]->tensor, &meta);
        sp_mirror *m = &x->mirrors[x->n_mirrors];
        SP_TRY(sp__device_tensor(r->device, &meta, &m->there));
        m->variable = r->number;
        x->n_mirrors++;
    }
    return SP_OK;
}

/* The tensor on a device that has a root's memory; NULL: it comes from outside. */
static const sp_tensor *memory_there(const sp_instance *x, int root)
{
    const sp_plan *p = x->plan;
    const sp_root *r = &p->roots[root];
    int k = 0;
    if (r->kind == SP_ROOT_MIRROR) {
        for (int i = 0; i < root; i++) k += p->roots[i].kind == SP_ROOT_MIRROR;
        return x->mirrors[k].there;
    }
    if (r->kind != SP_ROOT_ARENA) return NULL;
    while (p->places[k].device != r->device) k++;
    return x->arenas[k];
}

/* Before a run: contents that have changed are brought again. */
static sp_status look_at_mirrors(sp_instance *x)
{
    for (int i = 0; i < x->n_mirrors; i++) {
        sp_mirror *m = &x->mirrors[i];
        sp_tensor *t = x->plan->variables[m->variable]->tensor;
        const sp_storage_mark now = sp__storage_mark(t->storage);
        if (m->made && sp__storage_unchanged(m->mark, now)) continue;
        SP_TRY(sp_tensor_assign(m->there, t));
        m->mark = now;
        m->made = true;
    }
    return SP_OK;
}

static void count_declined(const sp_plan *p)
{
    for (int i = 0; i < p->n_declined; i++)
        sp__device_count_declined(p->declined[i].device, p->declined[i].op, p->declined[i].bytes);
}

sp_status sp__instance_fill(sp_instance *x)
{
    sp_plan *p = x->plan;
    atomic_init(&x->storage.refs, 1);
    x->storage.data = x->arena;
    x->storage.bytes = p->arena_bytes;
    x->handles = sp__arena_alloc(&x->memory, (size_t)(p->n_handles + 1) * sizeof *x->handles);
    x->actions = sp__arena_alloc(&x->memory, (size_t)(p->n_steps + 1) * sizeof *x->actions);
    x->begun = sp__arena_alloc(&x->memory, (size_t)(p->n_begun + 1) * sizeof *x->begun);
    if (!x->handles || !x->actions || !x->begun) return SP_NOMEM;
    if (sp__plan_is_placed(p)) SP_TRY(instance_places(x));
    for (int i = 0; i < p->n_handles; i++) {
        const sp_handle *h = &p->handles[i];
        const sp_root *r = &p->roots[h->root];
        sp_tensor *t = &x->handles[i];
        *t = h->shape;
        t->storage = &x->storage;
        t->data = (char *)x->arena + r->offset + h->offset;
        if (r->kind == SP_ROOT_CONSTANT) {
            t->storage = r->constant->storage;
            t->data = r->constant->data + h->offset;
        }
        const sp_tensor *there = r->device ? memory_there(x, h->root) : NULL;
        if (there) {
            t->storage = there->storage;
            t->data = there->data + r->offset + h->offset;
        }
    }
    for (int i = 0; i < p->n_steps; i++) SP_TRY(instance_action(x, &p->steps[i], &x->actions[i]));
    SP_TRY(instance_weights(x));
    return instance_borders(x);
}

static sp_status instance_create(sp_plan *p, sp_instance **out)
{
    sp_instance *x = sp__alloc_zero(sizeof *x);
    if (!x) return SP_NOMEM;
    x->plan = p;
    x->arena = sp__alloc(p->arena_bytes + SP_INSTANCE_SLACK);
    sp_status status = x->arena ? sp__instance_fill(x) : SP_NOMEM;
    if (status == SP_OK) *out = x;
    else instance_free(x);
    return status;
}

/* --- running ----------------------------------------------------------------------------------------------------- */

void sp__instance_border(sp_instance *x, int number, sp_storage *storage, char *data)
{
    sp_border *b = &x->borders[number];
    if (b->data == data && b->storage == storage) return;
    b->data = data;
    b->storage = storage;
    for (int i = 0; i < b->n; i++) {
        sp_tensor *t = &x->handles[b->handles[i]];
        t->storage = storage;
        t->data = data + x->plan->handles[b->handles[i]].offset;
    }
}

static sp_status result_there(const sp_handle *h, const sp_root *r, bool whole, sp_tensor **out)
{
    sp_meta meta = {.dtype = SP_DTYPE_U8, .rank = 1, .dims = {(int64_t)r->bytes}};
    if (whole) sp__meta_of(&h->shape, &meta);
    return sp__device_tensor(r->device, &meta, out);
}

/* Memory for the results: a tensor for each root that leaves, in the shape of the first result that is all of it. */
static sp_status make_results(sp_instance *x, sp_tensor **out)
{
    const sp_plan *p = x->plan;
    const int first = p->n_in + p->n_variables;
    for (int i = 0; i < p->segment->n_out; i++) {
        const sp_handle *h = &p->handles[p->out[i]];
        const sp_root *r = &p->roots[h->root];
        if (r->kind != SP_ROOT_RESULT || x->results[r->number]) continue;
        bool whole =
            h->offset == 0 && (h->shape.flags & SP_TENSOR_CONTIGUOUS) && sp_tensor_bytes(&h->shape) == r->bytes;
        sp_tensor *t;
        const int64_t bytes = (int64_t)r->bytes;
        SP_TRY(r->device ? result_there(h, r, whole, &t)
               : whole   ? sp_tensor_create((sp_dtype)h->shape.dtype, h->shape.rank, h->shape.dims, &t)
                         : sp_tensor_create(SP_DTYPE_U8, 1, &bytes, &t));
        x->results[r->number] = t;
        if (whole) out[i] = sp_tensor_retain(t);
        sp__instance_border(x, first + r->number, t->storage, t->data);
    }
    for (int i = 0; i < p->segment->n_out; i++) {
        if (out[i]) continue;
        const sp_tensor *t = &x->handles[p->out[i]];
        SP_TRY(sp__tensor_handle((sp_dtype)t->dtype, t->rank, t->dims, t->strides, t->storage, t->data, &out[i]));
    }
    return SP_OK;
}

static sp_status step_failed(const sp_step *s, sp_status status)
{
    if (strncmp(sp_error_message(), s->op->name, strlen(s->op->name)) != 0) sp__error_context("%s", s->op->name);
    sp__blame(s->node);
    return status;
}

static const char *step_name(const sp_step *s)
{
    return s->run == sp__fused_run ? "fused" : s->awaits ? "await" : s->op->name;
}

/* A step as an event of the recording, with the line that it was written in. */
static sp_status run_recorded(const sp_plan *p, int i, sp_action *a)
{
    const sp_step *s = &p->steps[i];
    const sp_place *place = s->node ? s->node->place : NULL;
    char text[SP_TENSOR_TEXT];
    sp_span span;
    const char *around = sp__profile_label();
    sp__profile_set_label(step_name(s));
    sp__profile_begin(&span);
    const sp_status status = a->run(&a->call);
    sp__profile_clock(&span);
    sp__profile_set_label(around);
    const bool known = s->n_out && s->handles[s->n_in] >= 0;
    sp__profile_end(&span, SP_PROFILE_PROGRAM, step_name(s),
                    sp__tensor_text(known ? &p->handles[s->handles[s->n_in]].shape : NULL, text),
                    place ? place->file : NULL, place ? place->line : 0);
    return status;
}

static sp_status run_timed(sp_instance *x, int begin, int end)
{
    const sp_plan *p = x->plan;
    for (int i = begin; i < end; i++) {
        sp_action *a = &x->actions[i];
        const int64_t start = sp__clock_ns();
        sp_status status = sp__profile_on() ? run_recorded(p, i, a) : a->run(&a->call);
        if (status != SP_OK) return step_failed(&p->steps[i], status);
        if (p->step_ns)
            atomic_fetch_add_explicit(&p->step_ns[x->warm ? i : p->n_steps + i], (uint64_t)(sp__clock_ns() - start),
                                      memory_order_relaxed);
    }
    return SP_OK;
}

static sp_status run_actions(sp_instance *x, int begin, int end)
{
    const sp_plan *p = x->plan;
    if (p->step_ns || sp__profile_on()) return run_timed(x, begin, end);
    for (int i = begin; i < end; i++) {
        sp_action *a = &x->actions[i];
        if (__builtin_expect(i % POLL_ACTIONS == POLL_ACTIONS - 1, 0)) SP_TRY(sp__interrupt_check());
        sp_status status = a->run(&a->call);
        if (__builtin_expect(status != SP_OK, 0)) return step_failed(&p->steps[i], status);
    }
    return SP_OK;
}

/* Messages belong to threads: those of a lane are kept until all lanes are done. */
typedef struct {
    sp_instance *x;
    const sp_turn *turn;
    sp_status status[SP_LANES_MAX];
    sp_error errors[SP_LANES_MAX];
} lanes_job;

static void run_lane(void *context, int64_t begin, int64_t end)
{
    lanes_job *j = context;
    for (int64_t lane = begin; lane < end; lane++) {
        j->status[lane] = run_actions(j->x, lane ? j->turn->end[lane - 1] : j->turn->first, j->turn->end[lane]);
        if (j->status[lane] != SP_OK) sp_error_capture(j->status[lane], &j->errors[lane]);
    }
}

static sp_status run_lanes(sp_instance *x, const sp_turn *turn)
{
    SP_TRY(sp__scratch_ready());
    lanes_job *job = sp__scratch_take(sizeof *job);
    job->x = x;
    job->turn = turn;
    sp_status status = sp__parallel_for(turn->n_lanes, 1, run_lane, job);
    for (int lane = 0; lane < turn->n_lanes && status == SP_OK; lane++)
        if (job->status[lane] != SP_OK) status = sp_error_raise(&job->errors[lane]);
    sp__scratch_give(job);
    return status;
}

/* The run has failed: nothing may go on in memory that is about to be used for something else. */
static void drop_exchanges(sp_instance *x, sp_status status)
{
    const sp_plan *p = x->plan;
    sp_error why;
    sp_error_capture(status, &why);
    for (int i = 0; i < p->n_steps; i++)
        if (p->steps[i].awaits && x->begun[p->steps[i].exchange])
            p->steps[i].op->await(&x->begun[p->steps[i].exchange], true);
    sp_error_raise(&why);
}

sp_status sp__instance_run(sp_instance *x)
{
    const sp_plan *p = x->plan;
    sp_status status = SP_OK;
    for (int i = 0; i < p->n_turns && status == SP_OK; i++) {
        const sp_turn *turn = &p->turns[i];
        status = turn->n_lanes == 1 ? run_actions(x, turn->first, turn->end[0]) : run_lanes(x, turn);
    }
    if (status != SP_OK && p->n_begun) drop_exchanges(x, status);
    return status;
}

static sp_status instance_run(sp_instance *x, sp_tensor *const *in, sp_tensor **out)
{
    const sp_plan *p = x->plan;
    for (int i = 0; i < p->n_in; i++) sp__instance_border(x, i, in[i]->storage, in[i]->data);
    for (int i = 0; i < p->n_variables; i++)
        sp__instance_border(x, p->n_in + i, p->variables[i]->tensor->storage, p->variables[i]->tensor->data);
    for (int i = 0; i < p->segment->n_out; i++) out[i] = NULL;
    sp_status status = make_results(x, out);
    if (status == SP_OK) status = look_at_weights(x);
    if (sp__plan_is_placed(p) && status == SP_OK) status = look_at_mirrors(x);
    if (sp__plan_is_placed(p)) count_declined(p);
    if (status == SP_OK) {
        status = sp__instance_run(x);
        if (x->plan->step_ns)
            atomic_fetch_add_explicit(x->warm ? &x->plan->n_warm : &x->plan->n_cold, 1, memory_order_relaxed);
        x->warm = true;
        for (int i = 0; i < p->n_variables; i++)
            if (p->stored[i]) sp__tensor_wrote(p->variables[i]->tensor);
    }
    for (int i = 0; i < p->n_results; i++) {
        sp_tensor_release(x->results[i]);
        x->results[i] = NULL;
    }
    for (int i = 0; status != SP_OK && i < p->segment->n_out; i++) {
        sp_tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

/* --- the store of plans ------------------------------------------------------------------------------------------ */

static bool same_geometry(const sp_tensor *a, const sp_tensor *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i] || a->strides[i] != b->strides[i]) return false;
    return true;
}

static bool fits(const sp_plan *p, sp_tensor *const *in)
{
    for (int i = 0; i < p->n_in; i++)
        if (!same_geometry(&p->in[i], in[i])) return false;
    for (int i = 0; i < p->n_variables; i++)
        if (!same_geometry(&p->in[p->n_in + i], p->variables[i]->tensor)) return false;
    return true;
}

/* A placed plan: are its inputs and variables where they were when it was made? */
static bool lies_there(const sp_plan *p, sp_tensor *const *in)
{
    for (int i = 0; i < p->n_in + p->n_variables; i++)
        if (sp__tensor_device(i < p->n_in ? in[i] : p->variables[i - p->n_in]->tensor) != p->where[i]) return false;
    return p->home == sp__place_now();
}

/* The plan for these shapes, moved to the front and held; NULL: there is none. With the lock. */
static sp_plan *find_plan(sp_segment *s, sp_tensor *const *in, bool placed)
{
    for (sp_plan **at = &s->plans; *at; at = &(*at)->next) {
        sp_plan *p = *at;
        if (p->placed != placed || !fits(p, in) || (SP_HAVE_PLUGINS && placed && !lies_there(p, in))) continue;
        *at = p->next;
        p->next = s->plans;
        s->plans = p;
        atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
        return p;
    }
    return NULL;
}

void sp__plan_release(sp_plan *p)
{
    if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1) sp__plan_free(p);
}

/* The longest unused plan beyond the number kept, taken out of the list; others that were not used lately give up their
 * instances to `idle`: making one again is quick, and arenas are large. With the lock. */
static sp_plan *surplus(sp_segment *s, sp_instance **idle)
{
    int n = 0;
    for (sp_plan **at = &s->plans; *at; at = &(*at)->next) {
        while (++n > PLANS_READY && (*at)->idle) {
            sp_instance *x = (*at)->idle;
            (*at)->idle = x->next;
            (*at)->n_idle--;
            x->next = *idle;
            *idle = x;
            n--;
        }
        if (n > PLANS_KEPT) {
            sp_plan *last = *at;
            *at = NULL; /* they come one at a time: it is the last */
            return last;
        }
    }
    return NULL;
}

static sp_status obtain_plan(sp_segment *s, sp_tensor *const *in, bool placed, sp_plan **out, sp_instance **idle)
{
    sp__lock(&s->lock);
    sp_plan *p = find_plan(s, in, placed);
    if (p) {
        p->runs++;
        if (p->idle && idle) {
            *idle = p->idle;
            p->idle = p->idle->next;
            p->n_idle--;
        }
    }
    sp__unlock(&s->lock);
    if (p) {
        *out = p;
        return SP_OK;
    }
    sp_status status = sp__plan_create(s, in, placed, &p);
    if (status != SP_OK) {
        if (status == SP_DECLINED) s->declined = true;
        return status;
    }
    sp__lock(&s->lock);
    /* Another thread may have made the same meanwhile; two equal plans do no harm. */
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    p->next = s->plans;
    s->plans = p;
    p->runs++;
    sp_instance *tired = NULL;
    sp_plan *gone = surplus(s, &tired);
    sp__unlock(&s->lock);
    sp__plan_release(gone);
    while (tired) {
        sp_instance *x = tired;
        tired = x->next;
        instance_free(x);
    }
    *out = p;
    return SP_OK;
}

static void put_back(sp_segment *s, sp_plan *p, sp_instance *x)
{
    sp__lock(&s->lock);
    if (p->n_idle < INSTANCES_KEPT) {
        x->next = p->idle;
        p->idle = x;
        p->n_idle++;
        x = NULL;
    }
    sp__unlock(&s->lock);
    instance_free(x);
}

sp_status sp__segment_plan(sp_segment *s, sp_tensor *const *in, sp_plan **out)
{
    return obtain_plan(s, in, false, out, NULL);
}

static sp_status segment_run(sp_segment *s, sp_tensor *const *in, bool placed, sp_tensor **out)
{
    sp_plan *p;
    sp_instance *x = NULL;
    SP_TRY(obtain_plan(s, in, placed, &p, &x));
    sp_status status = x ? SP_OK : instance_create(p, &x);
    if (status == SP_OK) {
        status = instance_run(x, in, out);
        put_back(s, p, x);
    }
    sp__plan_release(p);
    return status;
}

sp_status sp__segment_run(sp_segment *s, sp_tensor *const *in, sp_tensor **out)
{
    return segment_run(s, in, false, out);
}

sp_status sp__segment_run_placed(sp_segment *s, sp_tensor *const *in, sp_tensor **out)
{
    return segment_run(s, in, true, out);
}

void sp__plans_free(sp_segment *s)
{
    while (s->plans) {
        sp_plan *p = s->plans;
        s->plans = p->next;
        sp__plan_free(p);
    }
    while (s->placed) {
        sp_placed_constant *c = s->placed;
        s->placed = c->next;
        sp_tensor_release(c->there);
        sp__free(c);
    }
}

int sp__plans_summary(sp_segment *s, int max, sp_plan_summary *out)
{
    int n = 0;
    sp__lock(&s->lock);
    for (const sp_plan *p = s->plans; p && n < max; p = p->next) {
        out[n] = (sp_plan_summary){.n_calls = p->n_steps,
                                   .n_copies = p->n_copies,
                                   .n_fused = p->n_fused,
                                   .n_reused = p->n_reused,
                                   .n_side = p->n_side,
                                   .n_tails = p->n_tails,
                                   .n_prepared = p->n_prepared,
                                   .n_heads = p->n_heads,
                                   .n_blocked = p->n_blocked,
                                   .arena_bytes = p->arena_bytes,
                                   .least_bytes = p->least_bytes,
                                   .make_us = p->make_us,
                                   .runs = p->runs,
                                   .n_between = p->n_between,
                                   .n_declined = p->n_declined,
                                   .n_places = p->n_places < 4 ? p->n_places : 4};
        for (int k = 0; k < out[n].n_places; k++) out[n].places[k] = p->places[k];
        n++;
    }
    sp__unlock(&s->lock);
    return n;
}

static int by_count(const void *a, const void *b)
{
    const sp_kernel_count *x = a, *y = b;
    return x->us != y->us ? (x->us < y->us ? 1 : -1) : y->n - x->n;
}

/* What a step takes on average, of first runs only where there are no others; 0: not known. */
static double step_us(const sp_plan *p, int i)
{
    const bool warm = p->step_ns && p->n_warm;
    const unsigned long long n = !p->step_ns ? 0 : warm ? p->n_warm : p->n_cold;
    return n ? (double)p->step_ns[warm ? i : p->n_steps + i] * 1e-3 / (double)n : 0;
}

int sp__plans_kernels(sp_segment *s, int max, sp_kernel_count *out)
{
    int n = 0;
    sp__lock(&s->lock);
    const sp_plan *p = s->plans;
    for (int i = 0; p && i < p->n_steps; i++) {
        const char *name = step_name(&p->steps[i]);
        int k = 0;
        while (k < n && strcmp(out[k].name, name) != 0) k++;
        if (k == max) continue;
        if (k == n) out[n++] = (sp_kernel_count){.name = name};
        out[k].n++;
        out[k].us += step_us(p, i);
    }
    sp__unlock(&s->lock);
    qsort(out, (size_t)n, sizeof *out, by_count);
    return n;
}

int sp__plans_dearest(sp_segment *s, int max, sp_step_cost *out)
{
    int n = 0;
    sp__lock(&s->lock);
    const sp_plan *p = s->plans;
    for (int i = 0; p && p->step_ns && i < p->n_steps; i++) {
        const sp_step *step = &p->steps[i];
        const double us = step_us(p, i);
        int k = n; /* where it belongs: behind those that took as long */
        while (k > 0 && out[k - 1].us < us) k--;
        if (k == max) continue;
        memmove(&out[k + 1], &out[k], (size_t)((n < max ? n : max - 1) - k) * sizeof *out);
        out[k] = (sp_step_cost){.name = step_name(step),
                                .n_fused = step->n_fused,
                                .us = us,
                                .place = step->node ? step->node->place : NULL};
        if (step->n_out && step->handles[step->n_in] >= 0) out[k].shape = p->handles[step->handles[step->n_in]].shape;
        if (n < max) n++;
    }
    sp__unlock(&s->lock);
    return n;
}
