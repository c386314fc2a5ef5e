/* SPDX-License-Identifier: Apache-2.0 */
/* stage_schedule.c - in which order the stages of a pipeline work on micro batches: a simulation with tasks of one length, backward two. */
#include "parallel/stage.h"

typedef struct run {
    int stages, virtual_stages, micros;
    sp_schedule how;
    double *end_forward, *end_backward; /* by task; negative: not done */
    double *free_at;                    /* by rank */
    int *open;                          /* by rank: forward tasks that have not gone back */
} run;

static bool last(const run *r, int v) { return v == r->virtual_stages - 1; }
static int at(const run *r, int v, int m) { return v * r->micros + m; }

/* How many micro batches a rank may have under way. */
static int limit(const run *r, int rank)
{
    const int chunks = r->virtual_stages / r->stages;
    if (r->how == SP_SCHEDULE_GPIPE) return r->virtual_stages * r->micros;
    if (chunks == 1) return r->stages - rank;
    return (r->stages - rank - 1) * 2 + (chunks - 1) * r->stages + 1;
}

/* When what the task needs is there; negative: it is not. */
static double ready(const run *r, int v, int m, bool back)
{
    double t = 0;
    if (!back) {
        if (v > 0) t = r->end_forward[at(r, v - 1, m)];
        return t;
    }
    const double own = r->end_forward[at(r, v, m)];
    const double above = last(r, v + 1) ? r->end_forward[at(r, v + 1, m)] : r->end_backward[at(r, v + 1, m)];
    return own < 0 || above < 0 ? -1 : own > above ? own : above;
}

typedef struct pick {
    int v, m;
    bool back;
    double start;
} pick;

/* Forward tasks of a rank in their order: `stages` micro batches through all its segments, then the next ones. */
static bool next_forward(const run *r, int rank, pick *out)
{
    const int chunks = r->virtual_stages / r->stages;
    for (int base = 0; base < r->micros; base += r->stages)
        for (int c = 0; c < chunks; c++)
            for (int m = base; m < base + r->stages && m < r->micros; m++) {
                const int v = c * r->stages + rank;
                if (r->end_forward[at(r, v, m)] >= 0) continue;
                const double t = ready(r, v, m, false);
                *out = (pick){v, m, false, t};
                return t >= 0;
            }
    return false;
}

static bool next_backward(const run *r, int rank, pick *out)
{
    bool found = false;
    for (int m = 0; m < r->micros; m++)
        for (int v = r->virtual_stages - r->stages + rank; v >= 0; v -= r->stages) {
            if (last(r, v) || r->end_backward[at(r, v, m)] >= 0) continue;
            const double t = ready(r, v, m, true);
            if (t < 0 || (found && t >= out->start)) continue;
            *out = (pick){v, m, true, t};
            found = true;
        }
    return found;
}

static bool forward_left(const run *r, int rank)
{
    for (int v = rank; v < r->virtual_stages; v += r->stages)
        for (int m = 0; m < r->micros; m++)
            if (r->end_forward[at(r, v, m)] < 0) return true;
    return false;
}

/* What a rank would do next. `strict`: within its limit. */
static bool choose(const run *r, int rank, bool strict, pick *out)
{
    pick f, b;
    bool has_f = next_forward(r, rank, &f);
    bool has_b = next_backward(r, rank, &b);
    const double now = r->free_at[rank];
    if (has_f && f.start < now) f.start = now;
    if (has_b && b.start < now) b.start = now;
    if (strict && r->how == SP_SCHEDULE_GPIPE && has_b && forward_left(r, rank)) has_b = false;
    if (strict && has_f && r->open[rank] >= limit(r, rank)) has_f = false;
    if (!has_f && !has_b) return false;
    *out = !has_f || (has_b && b.start <= f.start) ? b : f;
    return true;
}

sp_status sp__stage_schedule(sp_schedule how, int stages, int virtual_stages, int micros, int *forward, int *backward)
{
    const size_t n = (size_t)virtual_stages * (size_t)micros;
    double *block = sp__alloc((2 * n + (size_t)stages) * sizeof *block);
    int *open = sp__alloc_zero((size_t)stages * sizeof *open);
    sp_status status = block && open ? SP_OK : SP_NOMEM;
    run r = {stages, virtual_stages, micros, how, block, block + n, block + 2 * n, open};
    for (size_t i = 0; status == SP_OK && i < 2 * n + (size_t)stages; i++) block[i] = i < 2 * n ? -1 : 0;
    const int n_tasks = (2 * virtual_stages - 1) * micros;
    for (int done = 0; status == SP_OK && done < n_tasks; done++) {
        pick best = {0}, one;
        int rank = -1;
        for (int strict = 1; strict >= 0 && rank < 0; strict--)
            for (int k = 0; k < stages; k++)
                if (choose(&r, k, strict, &one) && (rank < 0 || one.start < best.start)) {
                    best = one;
                    rank = k;
                }
        if (rank < 0) {
            status =
                sp__fail(SP_RUNTIME, "the schedule of a pipeline of %d stages has come to a halt: this is its fault",
                         virtual_stages);
            break;
        }
        const int task = at(&r, best.v, best.m);
        const double end = best.start + (best.back ? 2 : last(&r, best.v) ? 3 : 1);
        (best.back ? r.end_backward : r.end_forward)[task] = end;
        (best.back ? backward : forward)[task] = done + 1;
        if (last(&r, best.v)) backward[task] = done + 1;
        else r.open[rank] += best.back ? -1 : 1;
        r.free_at[rank] = end;
    }
    sp__free(block);
    sp__free(open);
    return status;
}
