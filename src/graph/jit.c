/* SPDX-License-Identifier: Apache-2.0 */
/* jit.c - programs of a function by the sizes they were made for, or serve.
 *
 * Two locks: `making` is held by the one thread that records and compiles, `lock` for as long as the lists are looked at. What is in the lists changes under both;
 * recordings are read by the maker alone. What was taken out of the lists is released without `lock`. */
#include <stdio.h>

#include "base/lock.h"
#include "graph/jit.h"

/* A program, and the recording it was compiled from. */
typedef struct compiled {
    struct compiled *next;
    sp_program *program;
    sp_graph *graph;
    sp_function *function; /* with open sizes, once it serves several */
    uint64_t which, used;  /* when it was last asked for */
    int n_opened;
    char why[200]; /* it stands beside others; "": it does not */
} compiled;

/* Arguments for which a program is known to be right: they keep theirs when more sizes are opened for others. */
typedef struct known {
    struct known *next;
    compiled *of;
    sp_program *program;
    int n;
    sp_spec specs[];
} known;

struct sp_jit {
    sp_lock making, lock;
    uint64_t stamp, clock;
    compiled *programs;
    known *sizes; /* latest first */
    sp_jit_counts counts;
};

sp_status sp__jit_create(sp_jit **out)
{
    sp_jit *j = sp__alloc_zero(sizeof *j);
    if (j == NULL) return SP_NOMEM;
    sp__lock_init(&j->making);
    sp__lock_init(&j->lock);
    *out = j;
    return SP_OK;
}

static void compiled_free(compiled *c)
{
    if (c == NULL) return;
    sp_program_release(c->program);
    sp_graph_release(c->graph);
    sp__free(c);
}

static void programs_free(compiled *c)
{
    for (compiled *next; c != NULL; c = next) {
        next = c->next;
        compiled_free(c);
    }
}

static void sizes_free(known *k)
{
    for (known *next; k != NULL; k = next) {
        next = k->next;
        sp_program_release(k->program);
        sp__free(k);
    }
}

void sp__jit_free(sp_jit *j)
{
    if (j == NULL) return;
    sizes_free(j->sizes);
    programs_free(j->programs);
    sp__lock_destroy(&j->lock);
    sp__lock_destroy(&j->making);
    sp__free(j);
}

/* --- the lists, with the lock ------------------------------------------------------------------------------------ */

static known *find_sizes(sp_jit *j, const sp_jit_call *call)
{
    for (known **at = &j->sizes, *k; (k = *at) != NULL; at = &k->next) {
        if (k->of->which != call->which || k->n != call->n ||
            memcmp(k->specs, call->specs, (size_t)call->n * sizeof *call->specs) != 0)
            continue;
        *at = k->next;
        k->next = j->sizes;
        return j->sizes = k;
    }
    return NULL;
}

/* Take all sizes of a program out of the list, or (NULL) those that were not asked for longest and are too many; returns them. */
static known *take_sizes(sp_jit *j, const compiled *of)
{
    known *gone = NULL;
    int n = 0;
    for (known **at = &j->sizes, *k; (k = *at) != NULL;) {
        if (of != NULL ? k->of != of : ++n <= SP_JIT_SIZES_MAX) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        k->next = gone;
        gone = k;
        j->counts.n_sizes--;
    }
    return gone;
}

/* The program that was not used for longest, where there are too many. */
static compiled *take_oldest(sp_jit *j)
{
    if (j->counts.n_programs <= SP_JIT_PROGRAMS_MAX) return NULL;
    compiled **oldest = &j->programs;
    for (compiled **at = &j->programs; *at != NULL; at = &(*at)->next)
        if ((*at)->used < (*oldest)->used) oldest = at;
    compiled *gone = *oldest;
    *oldest = gone->next;
    gone->next = NULL;
    j->counts.n_programs--;
    return gone;
}

/* --- finding ----------------------------------------------------------------------------------------------------- */

static bool find(sp_jit *j, const sp_jit_call *call, sp_program **out)
{
    const known *k = NULL;
    sp__lock(&j->lock);
    if (j->stamp == call->stamp && (k = find_sizes(j, call)) != NULL) {
        k->of->used = ++j->clock;
        *out = sp_program_retain(k->program);
    }
    sp__unlock(&j->lock);
    return k != NULL;
}

/* --- making, by one thread --------------------------------------------------------------------------------------- */

/* Programs of another stamp hold what is not so any more. */
static void drop_stale(sp_jit *j, uint64_t stamp)
{
    compiled *programs = NULL;
    known *sizes = NULL;
    sp__lock(&j->lock);
    if (j->stamp != stamp) {
        programs = j->programs;
        sizes = j->sizes;
        j->programs = NULL;
        j->sizes = NULL;
        j->counts.n_programs = j->counts.n_sizes = 0;
        j->stamp = stamp;
    }
    sp__unlock(&j->lock);
    sizes_free(sizes);
    programs_free(programs);
}

/* The sizes are known from now on to be right for c. */
static void add_sizes(sp_jit *j, known *k, compiled *c, sp_program **out)
{
    sp__lock(&j->lock);
    k->of = c;
    k->program = sp_program_retain(c->program);
    k->next = j->sizes;
    j->sizes = k;
    j->counts.n_sizes++;
    c->used = ++j->clock;
    *out = sp_program_retain(k->program);
    known *gone = take_sizes(j, NULL);
    sp__unlock(&j->lock);
    sizes_free(gone);
}

static void add_program(sp_jit *j, compiled *c)
{
    sp__lock(&j->lock);
    c->next = j->programs;
    j->programs = c;
    c->used = ++j->clock;
    j->counts.n_programs++;
    compiled *gone = take_oldest(j);
    known *sizes = gone != NULL ? take_sizes(j, gone) : NULL;
    sp__unlock(&j->lock);
    sizes_free(sizes);
    compiled_free(gone);
}

/* c gets the program and the recording of `from`, whose own are then the former ones. */
static void exchange(sp_jit *j, compiled *c, compiled *from)
{
    sp__lock(&j->lock);
    const compiled former = *c;
    c->program = from->program;
    c->graph = from->graph;
    c->function = from->function;
    c->n_opened++;
    from->program = former.program;
    from->graph = former.graph;
    from->function = former.function;
    sp__unlock(&j->lock);
}

static void count(sp_jit *j, uint64_t *number)
{
    sp__lock(&j->lock);
    ++*number;
    sp__unlock(&j->lock);
}

static sp_status compile(sp_jit *j, compiled *c)
{
    SP_TRY(sp_program_create(c->function, NULL, &c->program));
    count(j, &j->counts.n_compiled);
    return SP_OK;
}

/* A program that serves the new recording as it is, or NULL. */
static sp_status find_fitting(sp_jit *j, const compiled *new, compiled **out)
{
    *out = NULL;
    for (compiled *c = j->programs; c != NULL && *out == NULL; c = c->next) {
        if (c->which != new->which) continue;
        const sp_status status = sp__recording_fits(c->function, new->function);
        if (status == SP_OK) *out = c;
        else if (status != SP_DECLINED) return status;
    }
    return SP_OK;
}

/* A program that serves it once more sizes are open, or NULL; then the recording is opened. why: of the latest that does not. */
static sp_status find_openable(sp_jit *j, compiled *new, compiled **out)
{
    *out = NULL;
    for (compiled *c = j->programs; c != NULL && *out == NULL; c = c->next) {
        if (c->which != new->which) continue;
        if (c->n_opened >= SP_JIT_OPENED_MAX) {
            snprintf(new->why, sizeof new->why, "sizes of the other one were opened %d times", SP_JIT_OPENED_MAX);
            continue;
        }
        const sp_status status = sp__recording_open(c->function, new->function);
        if (status == SP_OK) *out = c;
        else if (status != SP_DECLINED) return status;
        else if (new->why[0] == '\0') snprintf(new->why, sizeof new->why, "%s", sp_error_message());
    }
    return SP_OK;
}

/* A program for the recording `new`: *out has it. What `new` then holds is not needed any more; it may have been taken (NULL). */
static sp_status place_recording(sp_jit *j, compiled **new, compiled **out)
{
    SP_TRY(find_fitting(j, *new, out));
    if (*out != NULL) return SP_OK;
    SP_TRY(find_openable(j, *new, out));
    SP_TRY(compile(j, *new));
    if (*out != NULL) {
        exchange(j, *out, *new);
        return SP_OK;
    }
    *out = *new;
    *new = NULL;
    add_program(j, *out);
    return SP_OK;
}

static sp_status make(sp_jit *j, const sp_jit_call *call, sp_program **out)
{
    drop_stale(j, call->stamp);
    compiled *new = sp__alloc_zero(sizeof *new), *c = NULL;
    known *k = sp__alloc_zero(sizeof *k + (size_t)call->n * sizeof *call->specs);
    sp_status status = new != NULL && k != NULL ? SP_OK : SP_NOMEM;
    if (status == SP_OK) {
        new->which = call->which;
        k->n = call->n;
        memcpy(k->specs, call->specs, (size_t)call->n * sizeof *call->specs);
        status = call->record(call->context, call->n, call->specs, &new->graph, &new->function);
    }
    if (status == SP_OK) {
        count(j, &j->counts.n_recorded);
        status = place_recording(j, &new, &c);
    }
    if (status == SP_OK) {
        add_sizes(j, k, c, out);
        k = NULL;
    }
    sp__free(k);
    compiled_free(new);
    return status;
}

sp_status sp__jit_program(sp_jit *j, const sp_jit_call *call, sp_program **out)
{
    if (find(j, call, out)) return SP_OK;
    sp__lock(&j->making);
    const sp_status status =
        find(j, call, out) ? SP_OK : make(j, call, out); /* another thread may have made it meanwhile */
    sp__unlock(&j->making);
    return status;
}

/* --- what there is ----------------------------------------------------------------------------------------------- */

sp_jit_counts sp__jit_count(sp_jit *j)
{
    sp__lock(&j->lock);
    const sp_jit_counts counts = j->counts;
    sp__unlock(&j->lock);
    return counts;
}

sp_status sp__jit_report(sp_jit *j, sp__text *out)
{
    sp_status status = SP_OK;
    sp__lock(&j->making); /* programs stay where they are */
    const sp_jit_counts n = sp__jit_count(j);
    if (n.n_recorded > 1)
        sp__text_put(out, "recorded %llu times, compiled %llu times; %d sets of sizes are known, %d programs at hand\n",
                     (unsigned long long)n.n_recorded, (unsigned long long)n.n_compiled, n.n_sizes, n.n_programs);
    for (const compiled *c = j->programs; c != NULL && status == SP_OK; c = c->next) {
        char *one = NULL;
        status = sp_program_report(c->program, &one);
        if (status == SP_OK && c->why[0] != '\0') sp__text_put(out, "a program of its own: %s\n", c->why);
        if (status == SP_OK) sp__text_put(out, "%s", one);
        sp_text_free(one);
    }
    sp__unlock(&j->making);
    return status;
}
