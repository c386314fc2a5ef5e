/* SPDX-License-Identifier: Apache-2.0 */
/* plan_memory.c - offsets in the arena for pieces of memory whose lifetimes are known.
 *
 * Largest first, each at the place that fits it best among those that are free during its whole life: the smallest gap
 * between pieces that live at the same time, else behind the last of them. That takes time with the square of their number;
 * very many are placed in one sweep over the steps instead, each in the smallest hole when its life begins. The lower bound is the largest sum of bytes that
 * are alive in one step; no placement can do with less. */
#include <stdlib.h>

#include "graph/plan.h"

enum { ALIGN = 64, SWEEP_FROM = 3000 };

static size_t aligned(const sp_plan *p, size_t n)
{
    const size_t align = p->align ? p->align : ALIGN;
    return (n + align - 1) / align * align;
}

static int by_bytes(const void *a, const void *b)
{
    const sp_root *x = *(sp_root *const *)a, *y = *(sp_root *const *)b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x < y ? -1 : x > y);
}

static size_t lower_bound(const sp_plan *p, int n, sp_root *const *list, int64_t *change)
{
    memset(change, 0, (size_t)(p->n_steps + 2) * sizeof *change);
    for (int i = 0; i < n; i++) {
        change[list[i]->first] += (int64_t)aligned(p, list[i]->bytes);
        change[list[i]->last + 1] -= (int64_t)aligned(p, list[i]->bytes);
    }
    int64_t alive = 0, most = 0;
    for (int i = 0; i <= p->n_steps; i++) {
        alive += change[i];
        if (alive > most) most = alive;
    }
    return (size_t)most;
}

/* A piece that has its place. Apart from the roots and side by side, because all of them are looked at for every new one. */
typedef struct {
    int first, last;
    size_t offset, end;
} piece;

/* The place for r among pieces sorted by offset: the smallest gap between those that live at some time of its life. */
static size_t best_gap(const sp_root *r, size_t need, int n, const piece *placed)
{
    size_t end = 0, best = SIZE_MAX, best_bytes = SIZE_MAX;
    for (int i = 0; i < n; i++) {
        const piece *p = &placed[i];
        if (p->first > r->last || r->first > p->last) continue;
        if (p->offset >= end + need && p->offset - end < best_bytes) {
            best = end;
            best_bytes = p->offset - end;
        }
        if (p->end > end) end = p->end;
    }
    return best == SIZE_MAX ? end : best;
}

void sp__plan_lifetimes(sp_plan *p)
{
    for (int i = 0; i < p->n_roots; i++) {
        p->roots[i].first = INT32_MAX;
        p->roots[i].last = -1;
    }
    for (int t = 0; t < p->n_turns; t++) {
        const sp_turn *turn = &p->turns[t];
        const int end = turn->end[turn->n_lanes - 1];
        for (int i = turn->first; i < end; i++) {
            const sp_step *s = &p->steps[i];
            /* Lanes run at the same time: what one of their steps touches lives as long as the turn. */
            const int first = turn->n_lanes > 1 ? turn->first : i, last = turn->n_lanes > 1 ? end - 1 : i;
            for (int k = -1; k < sp__step_handles(s); k++) {
                int root = k < 0 ? s->work : sp__step_root(p, s, k);
                if (root < 0) continue;
                sp_root *r = &p->roots[root];
                if (first < r->first) r->first = first;
                if (last > r->last) r->last = last;
            }
        }
    }
}

static sp_status place_by_size(const sp_plan *p, int n, sp_root **list, size_t *arena_bytes)
{
    piece *placed = sp__alloc((size_t)(n + 1) * sizeof *placed);
    if (!placed) return SP_NOMEM;
    qsort(list, (size_t)n, sizeof *list, by_bytes);
    for (int i = 0; i < n; i++) {
        sp_root *r = list[i];
        const size_t need = aligned(p, r->bytes), end = (r->offset = best_gap(r, need, i, placed)) + need;
        if (end > *arena_bytes) *arena_bytes = end;
        int k = i;
        for (; k > 0 && placed[k - 1].offset > r->offset; k--) placed[k] = placed[k - 1];
        placed[k] = (piece){r->first, r->last, r->offset, end};
    }
    sp__free(placed);
    return SP_OK;
}

static int by_first(const void *a, const void *b)
{
    const sp_root *x = *(sp_root *const *)a, *y = *(sp_root *const *)b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : by_bytes(a, b);
}

static int by_last(const void *a, const void *b)
{
    const sp_root *x = *(sp_root *const *)a, *y = *(sp_root *const *)b;
    return x->last != y->last ? (x->last < y->last ? -1 : 1) : (x < y ? -1 : x > y);
}

typedef struct {
    size_t offset, bytes;
} hole;

/* Holes are sorted by offset; two that touch are one. There are never more than pieces that have ended, plus one. */
static void give_back(hole *holes, int *n, const sp_root *r, size_t bytes)
{
    int k = 0, end = *n;
    while (k < end) { /* first hole behind r */
        int middle = (k + end) / 2;
        if (holes[middle].offset < r->offset) k = middle + 1;
        else end = middle;
    }
    bool joins_last = k > 0 && holes[k - 1].offset + holes[k - 1].bytes == r->offset;
    bool joins_next = k < *n && r->offset + bytes == holes[k].offset;
    if (joins_last) {
        holes[k - 1].bytes += bytes + (joins_next ? holes[k].bytes : 0);
        if (joins_next) memmove(holes + k, holes + k + 1, (size_t)(--*n - k) * sizeof *holes);
    } else if (joins_next) {
        holes[k].offset -= bytes;
        holes[k].bytes += bytes;
    } else {
        memmove(holes + k + 1, holes + k, (size_t)((*n)++ - k) * sizeof *holes);
        holes[k] = (hole){r->offset, bytes};
    }
}

static size_t take_hole(hole *holes, int *n, size_t need, size_t *arena_bytes)
{
    int best = -1;
    for (int k = 0; k < *n; k++)
        if (holes[k].bytes >= need && (best < 0 || holes[k].bytes < holes[best].bytes)) best = k;
    if (best < 0) { /* at the end, over the last hole if that reaches it */
        bool last = *n && holes[*n - 1].offset + holes[*n - 1].bytes == *arena_bytes;
        size_t offset = last ? holes[--*n].offset : *arena_bytes;
        *arena_bytes = offset + need;
        return offset;
    }
    size_t offset = holes[best].offset;
    holes[best].offset += need;
    holes[best].bytes -= need;
    if (!holes[best].bytes) memmove(holes + best, holes + best + 1, (size_t)(--*n - best) * sizeof *holes);
    return offset;
}

static sp_status place_by_sweep(const sp_plan *p, int n, sp_root **list, sp_root **ending, size_t *arena_bytes)
{
    hole *holes = sp__alloc((size_t)(n + 1) * sizeof *holes);
    if (!holes) return SP_NOMEM;
    memcpy(ending, list, (size_t)n * sizeof *ending);
    qsort(list, (size_t)n, sizeof *list, by_first);
    qsort(ending, (size_t)n, sizeof *ending, by_last);
    int n_holes = 0;
    for (int i = 0, ended = 0; i < n; i++) {
        for (; ended < n && ending[ended]->last < list[i]->first; ended++)
            give_back(holes, &n_holes, ending[ended], aligned(p, ending[ended]->bytes));
        list[i]->offset = take_hole(holes, &n_holes, aligned(p, list[i]->bytes), arena_bytes);
    }
    sp__free(holes);
    return SP_OK;
}

static sp_status place_on(sp_plan *p, const sp_device *d, size_t *arena_bytes, size_t *least_bytes)
{
    size_t n_roots = (size_t)p->n_roots + 1;
    sp_root **list = sp__alloc(2 * n_roots * sizeof *list);
    int64_t *change = sp__alloc((size_t)(p->n_steps + 2) * sizeof *change);
    sp_status status = list && change ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        int n = 0;
        for (int i = 0; i < p->n_roots; i++)
            if (p->roots[i].kind == SP_ROOT_ARENA && p->roots[i].bytes && p->roots[i].last >= 0 &&
                p->roots[i].device == d)
                list[n++] = &p->roots[i];
        *least_bytes = lower_bound(p, n, list, change);
        status = n < SWEEP_FROM ? place_by_size(p, n, list, arena_bytes)
                                : place_by_sweep(p, n, list, list + n_roots, arena_bytes);
    }
    sp__free(list);
    sp__free(change);
    return status;
}

sp_status sp__plan_place(sp_plan *p)
{
    for (int i = 0; i < p->n_places; i++)
        SP_TRY(place_on(p, p->places[i].device, &p->places[i].arena_bytes, &p->places[i].least_bytes));
    return place_on(p, NULL, &p->arena_bytes, &p->least_bytes);
}
