/* SPDX-License-Identifier: Apache-2.0 */
/* plan_lanes.c - steps too small to be worth several threads run side by side instead, where they do not depend on each other.
 *
 * Steps are dealt to lanes, one a thread. What depends on a step runs behind it in its lane; what depends on two lanes waits
 * for the end of the turn. Typical are the gradients by weights and by inputs of small layers, and updates of small parameters:
 * they fill a lane while the other goes on with the chain. Which lane computes something does not change it. */
#include <math.h>

#include "graph/fused.h"
#include "ops/ops_impl.h"

enum {
    LOOK_AHEAD = 32,  /* steps considered for a turn */
    SMALL_NS = 60000, /* above this a kernel shares its work among threads by itself */
    SHARE_NS = 4000   /* what it costs to get other threads to work */
};

static double count_of(const sp_plan *p, int handle) { return handle < 0 ? 1 : (double)p->handles[handle].shape.count; }

double sp__step_cost(const sp_plan *p, const sp_step *s)
{
    if (s->op && s->op->collective) return HUGE_VAL; /* alone: ranks make their exchanges in one order */
    double bytes = 0, counts = 1;
    int n_large = 0;
    for (int k = 0; k < sp__step_handles(s); k++) {
        if (s->handles[k] < 0) continue;
        const sp_tensor *t = &p->handles[s->handles[k]].shape;
        bytes += (double)sp_tensor_bytes(t);
        if (t->rank > 1 && n_large++ < 3) counts *= (double)t->count;
    }
    if (s->run == sp__fused_run) {
        const sp_fused *f = s->attrs;
        double n = f->cost / 16.0;
        for (int i = 0; i < f->rank; i++) n *= (double)f->dims[i];
        return n;
    }
    if (s->loop.fn) return (double)p->handles[s->handles[s->n_in]].shape.count * s->loop.cost / 16;
    /* Products: the root of (m k)(k n)(m n) is m n k, with two operations each, some 80 of them in a nanosecond. */
    if (s->op == &sp_op_matmul) return sqrt(counts) / 40 + bytes / 32;
    if (s->op->family >= SP_FAMILY_CONV && s->op->family <= SP_FAMILY_CONV_BYTES) {
        if (s->n_in > 2 &&
            s->n_out == 1) /* what a convolution brings along between its weight and its result may have any rank */
            counts = count_of(p, s->handles[0]) * count_of(p, s->handles[1]) * count_of(p, s->handles[s->n_in]);
        return sqrt(counts) / 10 + bytes / 16;
    }
    return 300 + bytes / 4;
}

/* What the dealer keeps of a step. Roots are folded to a few words of bits: two steps whose bits do not meet do not depend on each
 * other, which is the answer for most pairs; where they do, sp__steps_depend tells. */
enum { SKETCH_WORDS = 4 };
typedef struct {
    double cost;
    uint64_t touches[SKETCH_WORDS], writes[SKETCH_WORDS];
} sketch;

static sketch sketch_step(const sp_plan *p, const sp_step *s)
{
    sketch out = {.cost = sp__step_cost(p, s)};
    const int results = s->n_in + s->n_out;
    for (int k = -1; k < sp__step_handles(s); k++) {
        const int root = k < 0 ? s->work : sp__step_root(p, s, k);
        if (root < 0) continue;
        const uint64_t bit = (uint64_t)1 << root % 64;
        const int word = root / 64 % SKETCH_WORDS;
        out.touches[word] |= bit;
        if (k < 0 || (k >= s->n_in && k < results) || k >= results + s->tail_in) out.writes[word] |= bit;
    }
    return out;
}

typedef struct {
    sp_plan *p;
    const sketch *steps; /* of the window, from `first` on */
    int first, n;        /* window */
    int n_lanes;
    int lane[LOOK_AHEAD]; /* by step of the window; -1: waits for the end of the turn */
    double load[SP_LANES_MAX];
} dealer;

static bool step_depends(const dealer *d, int i, int k)
{
    const sketch *a = &d->steps[i], *b = &d->steps[k];
    uint64_t meet = 0;
    for (int w = 0; w < SKETCH_WORDS; w++) meet |= (a->touches[w] & b->writes[w]) | (a->writes[w] & b->touches[w]);
    if (!meet) return false;
    return sp__steps_depend(d->p, &d->p->steps[d->first + i], &d->p->steps[d->first + k]);
}

/* The lane of a step: that of what it depends on, the emptiest if there is none; -1: it must wait. */
static int lane_for(const dealer *d, int i)
{
    int lane = -1;
    if (d->steps[i].cost > SMALL_NS) return -1;
    for (int k = 0; k < i; k++) {
        if (d->lane[k] == lane && lane >= 0) continue;
        if (!step_depends(d, i, k)) continue;
        if (d->lane[k] < 0 || lane >= 0) return -1;
        lane = d->lane[k];
    }
    if (lane >= 0) return lane;
    lane = 0;
    for (int k = 1; k < d->n_lanes; k++)
        if (d->load[k] < d->load[lane]) lane = k;
    return lane;
}

static int longest(const dealer *d)
{
    int lane = 0;
    for (int k = 1; k < d->n_lanes; k++)
        if (d->load[k] > d->load[lane]) lane = k;
    return lane;
}

/* Steps at the end of the longest lane have nobody beside them: they need not belong to the turn. */
static void trim(dealer *d)
{
    for (int i = d->n - 1; i >= 0; i--) {
        int lane = d->lane[i], top = longest(d);
        if (lane != top) {
            if (lane >= 0) return;
            continue;
        }
        double second = 0;
        for (int k = 0; k < d->n_lanes; k++)
            if (k != top && d->load[k] > second) second = d->load[k];
        if (d->load[top] - d->steps[i].cost < second) return;
        d->load[top] -= d->steps[i].cost;
        d->lane[i] = -1;
    }
}

/* Deal the window; does it pay? */
static bool deal(dealer *d)
{
    double sum = 0;
    for (int i = 0; i < d->n; i++) sum += d->steps[i].cost > SMALL_NS ? 0 : d->steps[i].cost;
    if (sum < 2 * SHARE_NS) return false;
    for (int k = 0; k < d->n_lanes; k++) d->load[k] = 0;
    for (int i = 0; i < d->n; i++) {
        d->lane[i] = lane_for(d, i);
        if (d->lane[i] >= 0) d->load[d->lane[i]] += d->steps[i].cost;
    }
    trim(d);
    sum = 0;
    for (int k = 0; k < d->n_lanes; k++) sum += d->load[k];
    return sum - d->load[longest(d)] > SHARE_NS;
}

/* Steps of the window in their new order: lane after lane, then those that wait. */
typedef struct {
    sp_step steps[LOOK_AHEAD];
    sketch sketches[LOOK_AHEAD];
} order;

static void rearrange(const dealer *d, sketch *kept, sp_turn *turn, order *o)
{
    int at = 0;
    turn->first = d->first;
    turn->n_lanes = d->n_lanes;
    for (int lane = 0; lane <= d->n_lanes; lane++) {
        for (int i = 0; i < d->n; i++) {
            if (d->lane[i] != (lane == d->n_lanes ? -1 : lane)) continue;
            o->steps[at] = d->p->steps[d->first + i];
            o->sketches[at++] = d->steps[i];
        }
        if (lane < d->n_lanes) turn->end[lane] = d->first + at;
    }
    memcpy(&d->p->steps[d->first], o->steps, (size_t)at * sizeof *o->steps);
    memcpy(kept, o->sketches, (size_t)at * sizeof *kept);
}

static void add_alone(sp_plan *p, int step)
{
    sp_turn *last = p->n_turns ? &p->turns[p->n_turns - 1] : NULL;
    if (last && last->n_lanes == 1) last->end[0] = step + 1;
    else p->turns[p->n_turns++] = (sp_turn){.first = step, .n_lanes = 1, .end = {step + 1}};
}

sp_status sp__plan_lanes(sp_plan *p)
{
    const bool several =
        p->segment->planning & SP_PLAN_LANES && !sp__plan_is_placed(p); /* queues of devices want one order */
    p->turns = sp__arena_alloc(&p->arena, (size_t)(p->n_steps + 1) * sizeof *p->turns);
    sketch *sketches = sp__alloc((size_t)(p->n_steps + 1) * sizeof *sketches);
    order *o = sp__alloc(sizeof *o);
    if (!p->turns || !sketches || !o) {
        sp__free(sketches);
        sp__free(o);
        return SP_NOMEM;
    }
    for (int i = 0; i < p->n_steps; i++) sketches[i] = sketch_step(p, &p->steps[i]);
    const int n_threads = sp_threads() < SP_LANES_MAX ? sp_threads() : SP_LANES_MAX;
    for (int i = 0; i < p->n_steps;) {
        dealer d = {.p = p, .steps = sketches + i, .first = i, .n_lanes = n_threads};
        d.n = p->n_steps - i < LOOK_AHEAD ? p->n_steps - i : LOOK_AHEAD;
        if (!several || n_threads == 1 || sketches[i].cost > SMALL_NS || !deal(&d) || d.lane[0] < 0) {
            add_alone(p, i++);
            continue;
        }
        sp_turn *turn = &p->turns[p->n_turns++];
        rearrange(&d, sketches + i, turn, o);
        p->n_side += turn->end[turn->n_lanes - 1] - i;
        i = turn->end[turn->n_lanes - 1];
    }
    sp__free(sketches);
    sp__free(o);
    return SP_OK;
}
