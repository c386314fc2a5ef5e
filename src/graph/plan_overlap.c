/* SPDX-License-Identifier: Apache-2.0 */
/* plan_overlap.c - exchanges between ranks go on while the program computes.
 *
 * The step of an exchange begins it; another one, in front of the first step that needs its result or would overwrite its memory, waits for
 * it. Both have the same handles, so that memory lives from one to the other and nothing passes them. What would be awaited at once stays one
 * step. passes/reorder.c has put other steps in between. */
#include "graph/plan.h"
#include "ops/ops_impl.h"

typedef struct {
    sp_plan *p;
    sp_step *steps; /* the new ones */
    int n;
    int *begun; /* of these, those not yet awaited, the oldest first */
    int n_begun;
} writer;

static sp_status await(const sp_call *c) { return c->op->await(c->begun, false); }

static void await_at(writer *w, int k)
{
    sp_step *s = &w->steps[w->begun[k]];
    if (w->begun[k] == w->n - 1) {
        s->exchange = 0; /* nothing in between */
    } else {
        s->exchange = ++w->p->n_begun;
        w->steps[w->n] = *s;
        w->steps[w->n].run = await;
        w->steps[w->n].awaits = true;
        w->n++;
    }
    w->n_begun--;
    for (; k < w->n_begun; k++) w->begun[k] = w->begun[k + 1];
}

static void add(writer *w, const sp_step *s)
{
    for (int k = 0; k < w->n_begun;) {
        if (sp__steps_depend(w->p, &w->steps[w->begun[k]], s)) await_at(w, k);
        else k++;
    }
    w->steps[w->n++] = *s;
    if (s->op && s->op->await) w->begun[w->n_begun++] = w->n - 1;
}

static int count_exchanges(const sp_plan *p)
{
    int n = 0;
    for (int i = 0; i < p->n_steps; i++) n += p->steps[i].op && p->steps[i].op->await;
    return n;
}

sp_status sp__plan_overlap(sp_plan *p)
{
    const int n = count_exchanges(p);
    if (!n) return SP_OK;
    writer w = {.p = p};
    w.steps = sp__arena_alloc(&p->arena, (size_t)(p->n_steps + n) * sizeof *w.steps);
    w.begun = sp__alloc((size_t)n * sizeof *w.begun);
    if (!w.steps || !w.begun) {
        sp__free(w.begun);
        return SP_NOMEM;
    }
    for (int i = 0; i < p->n_steps; i++) add(&w, &p->steps[i]);
    while (w.n_begun) await_at(&w, 0);
    p->steps = w.steps;
    p->n_steps = w.n;
    sp__free(w.begun);
    return SP_OK;
}
