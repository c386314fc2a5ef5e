/* SPDX-License-Identifier: Apache-2.0 */
/* passes.c - runs the list, and what several passes use. */
#include "base/parts.h"
#include "base/clock.h"
#include "graph/passes/passes.h"

#include <stdlib.h>

#define SP_PASS(name) &sp_pass_##name,
static const sp_pass *const passes[] = {
#include "graph/passes/passes.def"
};
#undef SP_PASS
/* Builds for finding faults check the graph after every pass; others do when asked to. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { VERIFY_ALWAYS = 0 };
#else
enum { VERIFY_ALWAYS = 1 };
#endif
enum { N_PASSES = sizeof passes / sizeof *passes };
_Static_assert(N_PASSES <= 32, "passes are bits of an unsigned");

/* Is `name` in a list like "fold,share"? Each entry may begin with `sign`; 0: with nothing. */
static bool listed(const char *list, const char *name, char sign)
{
    const size_t n = strlen(name);
    for (const char *at = list; at && *at;) {
        size_t length = strcspn(at, ",");
        const char *word = sign && *at == sign ? at + 1 : at;
        size_t word_length = length - (size_t)(word - at);
        if ((!sign || word != at) && word_length == n && memcmp(word, name, n) == 0) return true;
        at += length + (at[length] == ',');
    }
    return false;
}

static sp_status check_names(const char *list, char sign, const char *where)
{
    for (const char *at = list; at && *at;) {
        size_t length = strcspn(at, ","), skip = sign && *at == sign;
        bool found = length == skip;
        for (int i = 0; i < N_PASSES && !found; i++)
            found = strlen(passes[i]->name) == length - skip && memcmp(passes[i]->name, at + skip, length - skip) == 0;
        SP_CHECK(found, SP_VALUE, "%s: there is no pass named '%.*s'", where, (int)(length - skip), at + skip);
        at += length + (at[length] == ',');
    }
    return SP_OK;
}

sp_status sp__passes_choose(const sp_program_options *options, unsigned *chosen)
{
    const char *off = options ? options->off : NULL, *environment = getenv("SPORE_PASSES");
    SP_TRY(check_names(off, 0, "options.off"));
    SP_TRY(check_names(environment, '-', "SPORE_PASSES"));
    const char *numerics = getenv("SPORE_NUMERICS");
    SP_CHECK(!numerics || strcmp(numerics, "exact") == 0 || strcmp(numerics, "fast") == 0, SP_VALUE,
             "SPORE_NUMERICS is '%s', it must be exact or fast", numerics);
    const bool fast = (options && options->fast) || (numerics && strcmp(numerics, "fast") == 0);
    *chosen = 0;
    for (int i = 0; i < N_PASSES; i++)
        if (!listed(off, passes[i]->name, 0) && !listed(environment, passes[i]->name, '-') &&
            (fast || !passes[i]->fast))
            *chosen |= 1u << i;
    return SP_OK;
}

unsigned sp__passes_planning(unsigned chosen)
{
    unsigned planning = 0;
    for (int i = 0; i < N_PASSES; i++)
        if (chosen >> i & 1) planning |= passes[i]->planning;
    return planning;
}

sp_status sp__passes_run(sp_program *p, unsigned chosen)
{
    const bool verify = VERIFY_ALWAYS || getenv("SPORE_VERIFY");
    p->reports = sp__arena_alloc(&p->arena, N_PASSES * sizeof *p->reports);
    if (!p->reports) return SP_NOMEM;
    sp__results_mark(p->graph);
    for (int i = 0; i < N_PASSES; i++) {
        if (!(chosen >> i & 1) || !passes[i]->run) continue;
        const int64_t start = sp__clock_ns();
        int count = 0;
        sp_status status = passes[i]->run(p->graph, &count);
        if (status == SP_OK && verify) status = sp__graph_verify(p->graph);
        if (status != SP_OK) {
            sp__error_context("pass %s", passes[i]->name);
            return status;
        }
        p->reports[p->n_reports++] =
            (sp_pass_report){passes[i]->name, passes[i]->what, count, (double)(sp__clock_ns() - start) * 1e-3};
        if (SP_HAVE_TEXTS) SP_TRY(sp__save_graphs_step(p, &p->reports[p->n_reports - 1]));
    }
    return SP_OK;
}

void sp__values_forward(sp_graph *g)
{
    for (sp_function *f = g->first; f; f = f->next) {
        for (sp_node *n = f->first; n; n = n->next) sp__node_forward(n);
        for (int i = 0; i < f->n_results; i++) f->results[i] = sp__value_forwarded(f->results[i]);
    }
}

void sp__marks_clear(sp_graph *g)
{
    for (sp_function *f = g->first; f; f = f->next) {
        f->mark = NULL;
        for (int i = 0; i < f->n_params; i++) f->params[i]->mark = NULL;
        for (sp_node *n = f->first; n; n = n->next) {
            n->mark = NULL;
            for (int i = 0; i < n->n_in; i++)
                if (n->in[i]) n->in[i]->mark = NULL;
            for (int i = 0; i < n->n_out; i++) n->out[i]->mark = NULL;
        }
        for (int i = 0; i < f->n_results; i++) f->results[i]->mark = NULL;
    }
}

/* What a function mentions may run below it. A callee that is not known here may be any function. */
static bool mark_from(sp_graph *g, sp_value *callee)
{
    while (callee && callee->origin == SP_VALUE_NODE && callee->node->kind == SP_NODE_PARTIAL)
        callee = callee->node->in[0];
    if (callee && callee->origin == SP_VALUE_FUNCTION) {
        bool changed = !callee->target->mark;
        callee->target->mark = callee->target;
        return changed;
    }
    bool changed = false;
    for (sp_function *f = g->first; f; f = f->next) {
        changed = changed || !f->mark;
        f->mark = f;
    }
    return changed;
}

static bool mark_mentioned(sp_value *v)
{
    if (!v || v->origin != SP_VALUE_FUNCTION || v->target->mark) return false;
    v->target->mark = v->target;
    return true;
}

void sp__recorded_mark(sp_graph *g)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (sp_function *f = g->first; f; f = f->next) {
            for (sp_node *n = f->first; n; n = n->next) {
                if (n->kind == SP_NODE_GRAD) changed |= mark_from(g, n->in[0]);
                for (int i = 0; f->mark && i < n->n_in; i++) changed |= mark_mentioned(n->in[i]);
            }
            for (int i = 0; f->mark && i < f->n_results; i++) changed |= mark_mentioned(f->results[i]);
        }
    }
}

/* Functions reached from f are put in front of the list that starts there; marks say who is in it. */
static void reach(sp_function *f, sp_function **list)
{
    if (f->mark) return;
    f->mark = *list ? (void *)*list : (void *)f; /* the end points to itself */
    *list = f;
}

static void reach_value(const sp_value *v, sp_function **list)
{
    if (v && v->origin == SP_VALUE_FUNCTION) reach(v->target, list);
}

void sp__functions_drop(sp_graph *g)
{
    sp_function *list = NULL, *kept = NULL, *last = NULL;
    for (sp_function *f = g->first; f; f = f->next) f->mark = NULL;
    reach(g->entry, &list);
    while (list) {
        sp_function *f = list;
        list = f->mark == f ? NULL : f->mark;
        f->mark = f; /* visited */
        for (const sp_node *n = f->first; n; n = n->next)
            for (int i = 0; i < n->n_in; i++) reach_value(n->in[i], &list);
        for (int i = 0; i < f->n_results; i++) reach_value(f->results[i], &list);
    }
    for (sp_function *f = g->first, *next; f; f = next) {
        next = f->next;
        if (!f->mark) continue; /* its memory goes with the graph's */
        if (last) last->next = f;
        else kept = f;
        last = f;
        f->next = NULL;
    }
    g->first = kept;
    g->last = last;
}
