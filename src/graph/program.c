/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - programs from outside: made, run, described. */
#include <stdarg.h>
#include <stdio.h>

#include "base/handle.h"
#include "base/parts.h"
#include "base/clock.h"
#include "base/plain.h"
#include "graph/program_cache.h"
#include "graph/jit.h"
#include "graph/passes/passes.h"
#include "graph/plan.h"
#include "graph/program.h"
#include "graph/strategy_search.h"
#include "parallel/shard.h"
#include "parallel/stage.h"
#include "spore/grad.h"

void sp__blame(const sp_node *node)
{
    if (!node) return;
    const sp_place *p = node->place;
    if (!p) return;
    sp_error e;
    sp_error_capture(SP_RUNTIME, &e);
    if (strstr(e.message, "\n  at ")) return; /* said already, nearer to the fault */
    size_t at = strlen(e.message);
    for (; p && at < sizeof e.message - 1; p = p->up) {
        int n = snprintf(e.message + at, sizeof e.message - at, "\n  at %s:%d, in %s%s%s", p->file ? p->file : "?",
                         p->line, p->function ? p->function : "?", p->text ? ": " : "", p->text ? p->text : "");
        if (n < 0) break;
        at += (size_t)n;
    }
    sp_error_raise(&e);
}

/* This rank's program; strategies are searched for where that is wanted. */
static sp_status split(sp_program *p)
{
    sp_shard_trial found = {0};
    sp__text said = {0};
    sp_status status = SP_OK;
    const bool search = p->sharding->search != SP_SEARCH_NONE;
    if (search) status = sp__strategy_search(p->graph, p->sharding, &found, &said);
    if (status == SP_OK) status = sp__shard_graph(p->graph, p->sharding, search ? &found : NULL, &p->shard_report);
    if (status == SP_OK && said.used) {
        sp__text both = {0};
        sp__text_put(&both, "%s%s", p->shard_report, said.data);
        sp__free(p->shard_report);
        p->shard_report = NULL;
        status = sp__text_take(&both, &p->shard_report);
    }
    sp__free(said.data);
    sp__free((void *)(uintptr_t)found.tensors);
    sp__free((void *)(uintptr_t)found.layouts);
    return status;
}

/* `kept`: for the cache, to follow the constants of f; NULL: not wanted. */
static sp_status optimise(sp_program *p, sp_function *f, unsigned chosen, sp_outer_program *kept)
{
    SP_TRY(sp__graph_copy(f, &p->graph));
    if (kept) SP_TRY(sp__outer_follow(kept, p->graph));
    SP_TRY(sp__graph_close(p->graph));
    SP_CHECK(p->graph->entry->n_params == f->n_params, SP_RUNTIME,
             "function %s uses a value of a function that is not around it: its recording is faulty", f->name);
    if (SP_HAVE_TEXTS) SP_TRY(sp__save_graphs_step(p, NULL));
    if (SP_HAVE_PARALLEL && p->sharding) {
        int count = 0;
        SP_TRY(sp_pass_inline.run(p->graph, &count));
        SP_TRY(split(p));
        if (p->sharding->stages > 1) SP_TRY(sp__stage_graph(p->graph, p->sharding, &p->shard_report));
    }
    return chosen ? sp__passes_run(p, chosen) : SP_OK;
}

/* The optimised graph from the cache, if there is one that can be used. */
static bool read_optimised(sp_program *p, const sp_outer_program *o)
{
    sp_map *map;
    sp_bytes_in bytes;
    if (sp__cache_get("graph", sp__outer_key(o), &map, &bytes, p->cache_note) != SP_OK) return false;
    const bool done = sp__outer_read(o, &bytes, &p->graph) == SP_OK;
    sp__map_release(map);
    snprintf(p->cache_note, sizeof p->cache_note,
             done ? "passes were spared" : "the file of this program is not used: its contents are malformed");
    return done;
}

static sp_status find_optimised(sp_program *p, sp_function *f, unsigned chosen)
{
    char options[32];
    sp_outer_program *o;
    snprintf(options, sizeof options, "%x", chosen);
    if (sp__outer_create(f, options, &o) != SP_OK) {
        snprintf(p->cache_note, sizeof p->cache_note,
                 "not used: the program has large constants, or no digest could be made");
        return optimise(p, f, chosen, NULL);
    }
    sp_status status = SP_OK;
    if (!read_optimised(p, o)) {
        sp_bytes bytes = {0};
        status = optimise(p, f, chosen, o);
        char failed[SP_CACHE_NOTE] = "";
        if (status == SP_OK && sp__outer_write(o, p->graph, &bytes) == SP_OK)
            sp__cache_put("graph", sp__outer_key(o), &bytes, failed);
        else snprintf(failed, sizeof failed, "not written: the program holds something that files cannot");
        if (failed[0]) memcpy(p->cache_note, failed, sizeof failed);
        else if (!p->cache_note[0]) snprintf(p->cache_note, sizeof p->cache_note, "written for the next time");
        sp__free(bytes.data);
    }
    sp__outer_free(o);
    return status;
}

static sp_status compile(sp_program *p, sp_function *f, const sp_program_options *options, bool exact)
{
    sp_meta metas[1];
    p->n_results = sp__function_metas(f, 0, metas);
    unsigned chosen = 0;
    if (!exact) SP_TRY(sp__passes_choose(options, &chosen));
    p->planning = sp__passes_planning(chosen);
    if (SP_HAVE_TEXTS && !exact) SP_TRY(sp__save_graphs_begin(p, options));
    p->sharding = options ? options->sharding : NULL;
    p->sharded = p->sharding != NULL;
    /* Spared passes leave nothing to be saved; slices differ from rank to rank. */
    const bool from_cache = SP_HAVE_CACHE && !exact && sp__cache_on() && !p->save_folder && !p->sharded;
    SP_TRY(from_cache ? find_optimised(p, f, chosen) : optimise(p, f, chosen, NULL));
    p->sharding = NULL; /* the caller's */
    for (int i = 0; i < p->graph->n_variables; i++) p->stores |= p->graph->variables[i]->written;
    return sp__code_make(p);
}

static sp_status create(sp_function *f, const sp_program_options *options, bool exact, sp_program **out)
{
    const int64_t start = sp__clock_ns();
    sp_program *p = sp__alloc_zero(sizeof *p);
    if (!p) return SP_NOMEM;
    atomic_init(&p->refs, 1);
    sp__lock_init(&p->lock);
    p->source = sp_graph_retain(f->graph);
    p->function = f;
    sp_status status = compile(p, f, options, exact);
    if (status != SP_OK) {
        sp_program_release(p);
        return status;
    }
    p->create_us = (double)(sp__clock_ns() - start) * 1e-3;
    *out = p;
    return SP_OK;
}

sp_status sp_program_create(sp_function *f, const sp_program_options *options, sp_program **out)
{
    SP_CHECK(f, SP_VALUE, "the function is NULL");
    SP_CHECK(!options || options->struct_size >= offsetof(sp_program_options, save_graphs), SP_VALUE,
             "struct_size of the options is %u, set it to sizeof(sp_program_options)",
             options ? options->struct_size : 0);
    if (!options) return create(f, NULL, false, out);
    sp_program_options own = {.struct_size = sizeof own}; /* callers compiled earlier know fewer */
    memcpy(&own, options, options->struct_size < sizeof own ? options->struct_size : sizeof own);
    return create(f, &own, false, out);
}

sp_program *sp_program_retain(sp_program *p)
{
    if (!p) return NULL;
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void sp_program_release(sp_program *p)
{
    if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    sp_program_release(p->exact);
    sp__lock_destroy(&p->lock);
    sp__code_free(p);
    sp__arena_free(&p->arena);
    sp_graph_release(p->graph);
    sp_graph_release(p->source);
    sp__free(p->save_folder);
    sp__free(p->shard_report);
    sp__free(p);
}

/* A parameter with a known dtype and known dimensions takes nothing else: kernels and shapes were chosen for it. */
static sp_status check_argument(const sp_function *f, int i, const sp_tensor *t)
{
    const sp_meta *m = &f->params[i]->meta;
    char found[SP_SHAPE_TEXT], wanted[SP_SHAPE_TEXT];
    if (f->params[i]->is_function || m->rank < 0) return SP_OK;
    bool same = t->dtype == (int)m->dtype && t->rank == m->rank;
    for (int k = 0; same && k < m->rank; k++) same = m->dims[k] < 0 || m->dims[k] == t->dims[k];
    SP_CHECK(same, SP_TYPE, "argument %d of program %s is %s %s, it was compiled for %s %s (-1: any)", i, f->name,
             sp_dtype_name((sp_dtype)t->dtype), sp__shape_text(t->rank, t->dims, found), sp_dtype_name(m->dtype),
             sp__shape_text(m->rank, m->dims, wanted));
    return SP_OK;
}

/* Inside an eager gradient the run becomes part of the history, which must be that of eager mode, node by node: shared or
 * fused nodes would add up gradients in another order. */
static bool is_recorded(const sp_program *p, int n_args, sp_tensor *const *args)
{
    if (!sp_grad_recording()) return false;
    for (int i = 0; i < n_args; i++)
        if (sp_grad_tracked(args[i])) return true;
    for (int i = 0; i < p->graph->n_variables; i++)
        if (sp_grad_tracked(p->graph->variables[i]->tensor)) return true;
    return false;
}

static sp_status exact_twin(sp_program *p, sp_program **out)
{
    sp_status status = SP_OK;
    sp__lock(&p->lock);
    if (!p->exact) status = create(p->function, NULL, true, &p->exact);
    *out = p->exact;
    sp__unlock(&p->lock);
    return status;
}

sp_status sp_program_run(sp_program *p, int n_args, sp_tensor *const *args, int n_results, sp_tensor **results)
{
    SP_HANDLE(p);
    const sp_function *f = p->entry->function;
    SP_CHECK(n_args == f->n_params, SP_TYPE, "program %s takes %d arguments, but got %d", f->name, f->n_params, n_args);
    for (int i = 0; i < n_args; i++) {
        SP_CHECK(args[i], SP_VALUE, "argument %d of program %s is NULL", i, f->name);
        SP_CHECK(args[i]->storage || args[i]->count == 0, SP_VALUE,
                 "argument %d of program %s has no contents: programs run on tensors, not on symbols", i, f->name);
        SP_TRY(check_argument(f, i, args[i]));
    }
    if (is_recorded(p, n_args, args)) {
        SP_CHECK(!p->sharded, SP_RUNTIME,
                 "program %s is split over ranks: compile the function that takes its gradient, not the one inside it",
                 f->name);
        SP_TRY(exact_twin(p, &p));
    }
    return sp__machine_run(p, n_args, args, n_results, results);
}

int sp_program_results(const sp_program *p) { return p ? p->n_results : 0; }

/* --- the report -------------------------------------------------------------------------------------------------- */

typedef struct {
    char *data;
    size_t n, capacity;
    bool failed;
} text;

static void say(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(text *t, const char *format, ...)
{
    for (int round = 0; round < 2 && !t->failed; round++) {
        va_list args;
        va_start(args, format);
        int n = sp__vsnprintf(t->data + t->n, t->capacity - t->n, format, args);
        va_end(args);
        if (n >= 0 && (size_t)n < t->capacity - t->n) {
            t->n += (size_t)n;
            return;
        }
        size_t more = 2 * t->capacity + (size_t)(n > 0 ? n : 0) + 1;
        char *bigger = sp__realloc(t->data, t->capacity, more);
        t->failed = !bigger;
        if (bigger) {
            t->data = bigger;
            t->capacity = more;
        }
    }
}

static void say_plans(text *t, sp_segment *s)
{
    sp_plan_summary plans[8];
    int n = sp__plans_summary(s, 8, plans);
    for (int i = 0; i < n; i++)
        say(t,
            "    plan %d: %d kernel calls, %d copies, %d operators fused, %d done by products, %d by reductions, %d convolutions in blocks, %d in place, %d side by side, arena %zu bytes (lower bound %zu), made in "
            "%.0f us, run %llu times\n",
            i, plans[i].n_calls, plans[i].n_copies, plans[i].n_fused, plans[i].n_tails, plans[i].n_heads,
            plans[i].n_blocked, plans[i].n_reused, plans[i].n_side, plans[i].arena_bytes, plans[i].least_bytes,
            plans[i].make_us, (unsigned long long)plans[i].runs);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < plans[i].n_places; k++) {
            const sp_plan_place *d = &plans[i].places[k];
            say(t,
                "    plan %d on %s: %d kernel calls, arena %zu bytes (lower bound %zu); %d copies between devices, %d calls by the CPU for want of a kernel\n",
                i, sp_device_name(d->device), d->n_calls, d->arena_bytes, d->least_bytes, plans[i].n_between,
                plans[i].n_declined);
        }
}

static void say_kernels(text *t, sp_segment *s)
{
    sp_kernel_count counts[64];
    int n = sp__plans_kernels(s, 64, counts);
    if (n && counts[0].us > 0) {
        for (int i = 0; i < n; i++)
            say(t, "      %-28s %6d calls %12.1f us\n", counts[i].name, counts[i].n, counts[i].us);
        return;
    }
    for (int i = 0; i < n && i < 12; i++) say(t, "%s%s %d", i ? ", " : "      ", counts[i].name, counts[i].n);
    if (n) say(t, "%s\n", n > 12 ? ", ..." : "");
}

static void say_dearest(text *t, sp_segment *s)
{
    sp_step_cost steps[12];
    char shape[SP_SHAPE_TEXT];
    int n = sp__plans_dearest(s, 12, steps);
    if (n) say(t, "      dearest steps:\n");
    for (int i = 0; i < n; i++) {
        const sp_step_cost *c = &steps[i];
        say(t, "      %10.1f us  %s", c->us, c->name);
        if (c->n_fused) say(t, " (%d operators)", c->n_fused);
        say(t, " -> %s %s", sp_dtype_name((sp_dtype)c->shape.dtype),
            sp__shape_text(c->shape.rank, c->shape.dims, shape));
        if (c->place && c->place->file) say(t, "  %s:%d", c->place->file, c->place->line);
        if (c->place && c->place->text) say(t, ": %s", c->place->text);
        say(t, "\n");
    }
}

sp_status sp_program_report(const sp_program *p, char **out)
{
    SP_HANDLE(p);
    text t = {.data = sp__alloc(1024), .capacity = 1024};
    if (!t.data) return SP_NOMEM;
    say(&t, "program %s: %d functions, made in %.0f us\n", p->entry->function->name, p->n_codes, p->create_us);
    if (p->cache_note[0]) say(&t, "  compile cache: %s\n", p->cache_note);
    if (p->shard_report) say(&t, "%s", p->shard_report);
    for (int i = 0; i < p->n_reports; i++)
        say(&t, "  pass %-12s %6.0f us  %s: %d\n", p->reports[i].name, p->reports[i].us, p->reports[i].what,
            p->reports[i].count);
    for (int k = 0; k < p->n_codes; k++) {
        const sp_code *code = p->codes[k];
        say(&t, "  function %s: %d nodes, %d instructions\n", code->function->name, code->function->n_nodes,
            code->n_instrs);
        for (int i = 0; i < code->n_instrs; i++)
            if (code->instrs[i].segment) {
                say(&t, "    segment of %d nodes%s\n", code->instrs[i].segment->n_nodes,
                    code->instrs[i].segment->declined ? ", run node by node: shapes depend on data" : "");
                say_plans(&t, code->instrs[i].segment);
                say_kernels(&t, code->instrs[i].segment);
                say_dearest(&t, code->instrs[i].segment);
            }
    }
    if (t.failed) {
        sp__free(t.data);
        return SP_NOMEM;
    }
    *out = t.data;
    return SP_OK;
}

void sp__program_memory(const sp_program *p, size_t *arena, size_t *least)
{
    *arena = *least = 0;
    for (int k = 0; k < p->n_codes; k++)
        for (int i = 0; i < p->codes[k]->n_instrs; i++) {
            sp_plan_summary plan;
            if (!p->codes[k]->instrs[i].segment || sp__plans_summary(p->codes[k]->instrs[i].segment, 1, &plan) < 1)
                continue;
            *arena += plan.arena_bytes;
            *least += plan.least_bytes;
        }
}
