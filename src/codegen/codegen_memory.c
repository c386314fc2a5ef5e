/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_memory.c - where blocks lie: lifetimes from the steps' arguments, memory that results take over, and offsets in the arena.
 *
 * A result takes over the memory of a block that ends in its step if the step reads that block nowhere but where it then writes: element by
 * element. What a variable becomes is written to the variable itself on the same condition. Offsets are the planner's (graph/plan.h), which
 * reaches the lower bound, the largest sum of what lives at one time, in nearly all networks. */
#include "codegen/codegen.h"
#include "graph/plan.h"

static bool is_elsewhere(const sp_codegen_block *b) { return b->kind != SP_BLOCK_ARENA; }

/* The block whose memory it is in the end. */
static int owner_of(const sp_codegen *g, int block)
{
    while (g->blocks[block].over >= 0) block = g->blocks[block].over;
    return block;
}

static void lifetimes(sp_codegen *g)
{
    for (int i = 0; i < g->n_blocks; i++) {
        g->blocks[i].first = INT32_MAX;
        g->blocks[i].last = -1;
    }
    for (int i = 0; i < g->n_steps; i++)
        for (int k = 0; k < g->steps[i].n_args && g->steps[i].function >= 0; k++) {
            sp_codegen_block *b = &g->blocks[owner_of(g, g->steps[i].args[k].block)];
            if (i < b->first) b->first = i;
            if (i > b->last) b->last = i;
        }
}

/* A block that the result of step i may be written over: -1: none. */
static int ending_input(const sp_codegen *g, int i, const sp_codegen_block *result)
{
    const sp_codegen_step *s = &g->steps[i];
    for (int k = 0; k < s->n_args; k++) {
        const int owner = owner_of(g, s->args[k].block);
        const sp_codegen_block *b = &g->blocks[owner];
        if (s->args[k].written || s->args[k].read || b->kind != SP_BLOCK_ARENA || b->last != i) continue;
        bool twice = false; /* by another argument in the same memory */
        for (int j = 0; j < s->n_args; j++) twice |= j != k && owner_of(g, s->args[j].block) == owner;
        if (!twice && sp_dtype_bytes(b->dtype) == sp_dtype_bytes(result->dtype) &&
            g->blocks[s->args[k].block].count == result->count && b->count == result->count)
            return owner;
    }
    return -1;
}

static void take_over(sp_codegen *g)
{
    for (int i = 0; i < g->n_steps; i++) {
        const sp_codegen_step *s = &g->steps[i];
        if (s->function < 0 || s->out == NULL) continue;
        sp_codegen_block *b = &g->blocks[sp__codegen_value(g, s->out)->block];
        if (b->kind != SP_BLOCK_ARENA || b->over >= 0) continue;
        const int over = ending_input(g, i, b);
        if (over < 0) continue;
        b->over = over;
        if (b->last > g->blocks[over].last) g->blocks[over].last = b->last;
    }
}

/* Whether the value that a variable becomes can be written to it at once: nobody reads it later, nor in another order in that step. */
static bool can_write(const sp_codegen *g, const sp_codegen_state *state, int step)
{
    for (int i = 0; i < g->n_steps; i++) {
        const sp_codegen_step *s = &g->steps[i];
        if (i == state->copy || s->function < 0) continue;
        for (int k = 0; k < s->n_args; k++)
            if (s->args[k].block == state->block && (i > step || (i == step && s->args[k].read) || s->args[k].written))
                return false;
    }
    return true;
}

/* Stores without copies. */
static void write_states(sp_codegen *g)
{
    for (int v = 0; v < g->f->graph->n_variables; v++) {
        const sp_codegen_state *state = &g->states[v];
        if (state->stored == NULL) continue;
        const sp_codegen_value *known = sp__codegen_value(g, state->stored);
        sp_codegen_block *b = &g->blocks[known->block];
        if (b->kind != SP_BLOCK_ARENA || b->over >= 0 || b->count != g->blocks[state->block].count ||
            known->view->count != b->count)
            continue;
        if (!(known->view->flags & SP_TENSOR_CONTIGUOUS) || !can_write(g, state, b->first)) continue;
        b->over = state->block;
        g->steps[state->copy].function = -1;
    }
}

/* Two states of which one is written over where the other copy still reads: stores run at the end, in the order of variables, and read values, not
 * variables, unless a value is a variable's view; that one has to be copied before. */
static sp_status check_stores(const sp_codegen *g)
{
    for (int v = 0; v < g->f->graph->n_variables; v++) {
        const sp_value *stored = g->states[v].stored;
        if (stored == NULL || g->steps[g->states[v].copy].function < 0) continue;
        const int from = owner_of(g, sp__codegen_value(g, stored)->block);
        for (int w = 0; w < v; w++)
            SP_CHECK(g->states[w].stored == NULL || g->states[w].block != from, SP_DECLINED,
                     "a variable of the model takes over the old contents of another that is written, too");
    }
    return SP_OK;
}

static sp_status place(sp_codegen *g)
{
    sp_plan p = {.n_steps = g->n_steps, .align = 4};
    p.roots = sp__alloc_zero((size_t)(g->n_blocks + 1) * sizeof *p.roots);
    if (p.roots == NULL) return SP_NOMEM;
    for (int i = 0; i < g->n_blocks; i++) {
        const sp_codegen_block *b = &g->blocks[i];
        const bool none = is_elsewhere(b) || b->over >= 0 || b->last < 0;
        p.roots[p.n_roots++] = (sp_root){
            .kind = none ? SP_ROOT_CONSTANT : SP_ROOT_ARENA, .bytes = b->bytes, .first = b->first, .last = b->last};
        if (!none && sp_dtype_bytes(b->dtype) > 4) p.align = 8;
    }
    const sp_status status = sp__plan_place(&p);
    for (int i = 0; i < g->n_blocks; i++) g->blocks[i].offset = p.roots[i].offset;
    for (int i = 0; i < g->n_blocks; i++)
        if (g->blocks[i].over >= 0) g->blocks[i].offset = g->blocks[owner_of(g, i)].offset;
    g->arena_bytes = p.arena_bytes;
    g->least_bytes = p.least_bytes;
    sp__free(p.roots);
    return status;
}

sp_status sp__codegen_place(sp_codegen *g)
{
    lifetimes(g);
    write_states(g);
    lifetimes(g);
    take_over(g);
    lifetimes(g);
    SP_TRY(check_stores(g));
    return place(g);
}
