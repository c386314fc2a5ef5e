/* SPDX-License-Identifier: Apache-2.0 */
/* cache_plan.c - order, turns and places of the steps of large plans, kept in the cache.
 *
 * They are looked up by the problem itself: what each step costs, which pieces of memory it reads and writes, how large these are,
 * and the number of threads. Constants do not count: nobody writes to them, and they have places of their own. Equal problems have equal solutions, whatever program they come from. */
#include "graph/program_cache.h"
#include "graph/plan.h"

enum { STEPS_LEAST = 128 }; /* fewer are arranged sooner than a file is opened */

static sp_status put_problem(const sp_plan *p, sp_bytes *b)
{
    SP_TRY(sp__cache_build(b)); /* another one may decide otherwise */
    sp__bytes_uint(b, (uint64_t)sp_threads());
    sp__bytes_uint(b, p->segment->planning & SP_PLAN_LANES);
    int *numbers = sp__alloc(((size_t)p->n_roots + 1) * sizeof *numbers), n = 0;
    if (!numbers) return SP_NOMEM;
    for (int i = 0; i < p->n_roots; i++) {
        numbers[i] = p->roots[i].kind == SP_ROOT_CONSTANT ? -1 : n++;
        if (numbers[i] < 0) continue;
        sp__bytes_uint(b, (uint64_t)p->roots[i].kind);
        sp__bytes_uint(b, p->roots[i].bytes);
    }
    sp__bytes_uint(b, (uint64_t)p->n_steps);
    for (int i = 0; i < p->n_steps; i++) {
        const sp_step *s = &p->steps[i];
        const double cost = sp__step_cost(p, s);
        sp__bytes_put(b, &cost, sizeof cost);
        sp__bytes_int(b, s->work < 0 ? -1 : numbers[s->work]);
        const int counts[] = {s->n_in, s->n_out, s->tail_in, s->tail_out};
        for (int k = 0; k < 4; k++) sp__bytes_uint(b, (uint64_t)counts[k]);
        for (int k = 0; k < sp__step_handles(s); k++) {
            const int root = sp__step_root(p, s, k);
            sp__bytes_int(b, root < 0 ? -1 : numbers[root]);
        }
    }
    sp__free(numbers);
    return b->failed ? SP_NOMEM : SP_OK;
}

static void put_solution(const sp_plan *p, sp_bytes *b)
{
    for (int i = 0; i < p->n_steps; i++) sp__bytes_int(b, p->steps[i].number - i);
    sp__bytes_uint(b, (uint64_t)p->n_turns);
    for (int t = 0; t < p->n_turns; t++) {
        const sp_turn *turn = &p->turns[t];
        sp__bytes_uint(b, (uint64_t)turn->n_lanes);
        for (int k = 0; k < turn->n_lanes; k++) sp__bytes_uint(b, (uint64_t)(turn->end[k] - turn->first));
    }
    for (int i = 0; i < p->n_roots; i++)
        if (p->roots[i].kind == SP_ROOT_ARENA) sp__bytes_uint(b, p->roots[i].offset);
    sp__bytes_uint(b, p->arena_bytes);
    sp__bytes_uint(b, p->least_bytes);
    sp__bytes_uint(b, (uint64_t)p->n_side);
}

/* Every step once, each in its new place. */
static sp_status get_order(sp_plan *p, sp_bytes_in *in, sp_step *steps, bool *taken)
{
    for (int i = 0; i < p->n_steps; i++) {
        const int64_t from = i + sp__bytes_get_int(in);
        if (in->failed || from < 0 || from >= p->n_steps || taken[from]) return SP_DECLINED;
        taken[from] = true;
        steps[i] = p->steps[from];
    }
    return SP_OK;
}

/* Turns one behind the other, lanes too. */
static sp_status get_turns(sp_plan *p, sp_bytes_in *in, sp_turn *turns, int *n_turns)
{
    int at = 0;
    *n_turns = sp__bytes_get_index(in, p->n_steps + 1);
    for (int t = 0; t < *n_turns; t++) {
        sp_turn *turn = &turns[t];
        turn->first = at;
        turn->n_lanes = sp__bytes_get_index(in, SP_LANES_MAX + 1);
        if (in->failed || turn->n_lanes < 1) return SP_DECLINED;
        for (int k = 0; k < turn->n_lanes; k++) {
            const int end = turn->first + sp__bytes_get_index(in, p->n_steps - turn->first + 1);
            if (in->failed || end < at) return SP_DECLINED;
            turn->end[k] = at = end;
        }
        if (at == turn->first) return SP_DECLINED;
    }
    return at == p->n_steps ? SP_OK : SP_DECLINED;
}

/* A size; one that this machine cannot have is damage. */
static size_t get_size(sp_bytes_in *in)
{
    const uint64_t n = sp__bytes_get_uint(in);
    in->failed |= n > SIZE_MAX;
    return (size_t)n;
}

static sp_status get_places(const sp_plan *p, sp_bytes_in *in, size_t *offsets, size_t *sums, int *n_side)
{
    for (int i = 0; i < p->n_roots; i++) offsets[i] = p->roots[i].kind == SP_ROOT_ARENA ? get_size(in) : 0;
    sums[0] = get_size(in);
    sums[1] = get_size(in);
    *n_side = sp__bytes_get_index(in, p->n_steps + 1);
    if (in->failed || in->at != in->end || sums[0] < sums[1] || sums[0] > SIZE_MAX / 2) return SP_DECLINED;
    for (int i = 0; i < p->n_roots; i++) {
        if (p->roots[i].kind != SP_ROOT_ARENA || !offsets[i]) continue;
        if (offsets[i] % 64 || offsets[i] > sums[0] || p->roots[i].bytes > sums[0] - offsets[i]) return SP_DECLINED;
    }
    return SP_OK;
}

/* All of it is checked before anything of the plan changes. */
static sp_status get_solution(sp_plan *p, sp_bytes_in *in)
{
    const size_t n = (size_t)p->n_steps + 1;
    sp_step *steps = sp__arena_alloc(&p->arena, n * sizeof *steps);
    sp_turn *turns = sp__arena_alloc(&p->arena, n * sizeof *turns);
    size_t *offsets = sp__alloc(((size_t)p->n_roots + 1) * sizeof *offsets), sums[2];
    bool *taken = sp__alloc_zero(n * sizeof *taken);
    int n_turns = 0, n_side = 0;
    sp_status status = steps && turns && offsets && taken ? SP_OK : SP_NOMEM;
    if (status == SP_OK) status = get_order(p, in, steps, taken);
    if (status == SP_OK) status = get_turns(p, in, turns, &n_turns);
    if (status == SP_OK) status = get_places(p, in, offsets, sums, &n_side);
    if (status == SP_OK) {
        p->steps = steps;
        p->turns = turns;
        p->n_turns = n_turns;
        p->n_side = n_side;
        p->arena_bytes = sums[0];
        p->least_bytes = sums[1];
        for (int i = 0; i < p->n_roots; i++) p->roots[i].offset = offsets[i];
        sp__plan_lifetimes(p);
    }
    sp__free(offsets);
    sp__free(taken);
    return status;
}

sp_status sp__cache_arrange(sp_plan *p, sp_status (*arrange)(sp_plan *p))
{
    char why[SP_CACHE_NOTE];
    sp_bytes problem = {0}, solution = {0};
    if (p->n_steps < STEPS_LEAST) return arrange(p);
    for (int i = 0; i < p->n_steps; i++) p->steps[i].number = i;
    const bool usable = put_problem(p, &problem) == SP_OK;
    const sp_cache_key key = sp__cache_digest(problem.data, problem.n);
    sp__free(problem.data);
    sp_map *map;
    sp_bytes_in in;
    if (usable && sp__cache_get("plan", key, &map, &in, why) == SP_OK) {
        sp_status status = get_solution(p, &in);
        sp__map_release(map);
        if (status != SP_DECLINED) return status;
    }
    SP_TRY(arrange(p));
    why[0] = '\0';
    if (usable) {
        put_solution(p, &solution);
        sp__cache_put("plan", key, &solution, why);
    }
    sp__free(solution.data);
    return SP_OK;
}
