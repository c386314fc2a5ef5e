/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_run.c - iterators: tasks, their queues, threads, the window of rows to come, positions, and the watchdog. */
#include "base/handle.h"
#include "base/plain.h"
#include "base/clock.h"
#include "base/profile.h"
#include "data/pipeline.h"

#include "base/fail.h"
#include "data/transform.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct queue {
    sp_task *first, *last;
} queue;

/* What a thread is doing: written by it, read by whoever looks for rows that take too long. */
typedef struct post {
    sp_iterator *it;
    bool remote;
    _Atomic(const sp_stage *) stage; /* NULL: nothing */
    atomic_llong begin, row, id;
    atomic_bool told;
} post;

struct sp_iterator {
    sp_dataset *ds;
    sp_iterator_plan plan;
    sp_stage *root;
    int n_plans;
    sp_stage **plans; /* all, for statistics */
    pid_t pid;
    int64_t epoch, row;
    bool started; /* root is in this epoch */
    bool ended;   /* root has given all rows of it */
    sp_task **window;
    int64_t n_window, first; /* a ring of plan.n_ahead */
    sp_task *blocker;        /* what a plan said WAIT for */
    void *fault;
    void (*drop_fault)(void *fault);
    double waited;

    sp_lock lock;
    sp_cond work, remote_work, done;
    queue ready;        /* what anybody can run now */
    queue remote, lane; /* in the order of rows, those waiting for their inputs included */
    int64_t n_running;
    size_t bytes;   /* of finished tasks in the window */
    size_t largest; /* row so far: what those under way may become */
    bool seen;      /* a row has been finished */
    bool stop;
    int n_remote; /* threads for functions that wait for other processes */
    int n_threads;
    pthread_t *threads;
    int n_posts;
    post *posts;         /* the caller's, then one a thread */
    atomic_llong looked; /* when somebody last looked at them */
};

uint64_t sp__mix(uint64_t seed, uint64_t salt)
{
    uint64_t x = seed + (salt + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* --- tasks ------------------------------------------------------------------------------------------------------------ */

void sp__task_retain(sp_task *t) { atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed); }

static void release_inputs(sp_task *t)
{
    for (int64_t i = 0; i < t->n_inputs; i++) sp__task_release(t->inputs[i]);
    if (t->inputs != &t->one) sp__free(t->inputs);
    t->n_inputs = 0;
    t->inputs = NULL;
}

void sp__task_release(sp_task *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    release_inputs(t);
    for (int i = 0; i < t->n_cells && t->cells; i++) sp_tensor_release(t->cells[i]);
    sp__free(t->cells);
    if (t->fault && t->drop_fault) t->drop_fault(t->fault);
    free(t->error);
    sp__free(t);
}

sp_status sp__task_create(sp_stage *plan, int64_t n_inputs, sp_task **inputs, sp_task **out)
{
    sp_task *t = sp__alloc_zero(sizeof *t);
    if (t && n_inputs > 1 && !(t->inputs = sp__alloc((size_t)n_inputs * sizeof(sp_task *)))) {
        sp__free(t);
        t = NULL;
    }
    if (!t) {
        for (int64_t i = 0; i < n_inputs; i++) sp__task_release(inputs[i]);
        return SP_NOMEM;
    }
    if (n_inputs <= 1) t->inputs = &t->one;
    atomic_init(&t->refs, 1);
    t->plan = plan;
    t->epoch = plan->epoch;
    t->row = plan->row++;
    t->id = n_inputs ? inputs[0]->id : -1;
    t->n_inputs = n_inputs;
    for (int64_t i = 0; i < n_inputs; i++) t->inputs[i] = inputs[i];
    *out = t;
    return SP_OK;
}

sp_status sp__task_cells(sp_task *t)
{
    t->n_cells = t->plan->node->n_columns;
    t->cells = sp__alloc_zero((size_t)t->n_cells * sizeof *t->cells);
    return t->cells ? SP_OK : SP_NOMEM;
}

static bool is_remote(const sp_task *t) { return t->plan->opened != NULL; }
static bool in_lane(const sp_task *t)
{
    const sp_row_function *f = &t->plan->node->function;
    return f->run && (f->lane || (f->n_remote && !is_remote(t)));
}
static bool is_cheap(const sp_task *t)
{
    return t->n_inputs == 0 && t->plan->node->function.run && t->plan->node->function.cheap;
}

/* The failure of an input becomes the task's own. */
static void inherit_failure(sp_task *t, sp_task *from)
{
    t->status = from->status;
    t->passed_on = true;
    t->error = from->error;
    t->fault = from->fault;
    t->drop_fault = from->drop_fault;
    from->error = NULL;
    from->fault = NULL;
}

static const char *stage_name(const sp_stage *p)
{
    const sp_dataset *node = p->node;
    return node->function.run && node->function.name ? node->function.name : node->kind->name;
}

/* The file that a row comes from, "" if unknown; `place` gets where in it. */
static void find_file(const sp_task *t, char *file, size_t room, const char **place)
{
    const sp_stage *p = t->plan;
    file[0] = '\0';
    *place = "";
    if (t->id < 0) return;
    while (p->node->n_parents == 1) p = p->parents[0];
    const sp_dataset *source = p->node;
    int64_t id = t->id;
    if (source->function.origin) source->function.origin(source->function.context, id, file, room);
    for (int i = 0; i < source->n_files && file[0] == '\0'; id -= source->file_rows[i++])
        if (id < source->file_rows[i]) snprintf(file, room, "%s", source->files[i]);
    char *cut = strrchr(file, SP_ORIGIN_PLACE);
    if (!cut) return;
    *cut = '\0';
    *place = cut + 1;
}

/* The row of the source, and its file if there is one. */
static void name_source(const sp_task *t, char *text, size_t room)
{
    char file[400];
    const char *place;
    find_file(t, file, sizeof file, &place);
    snprintf(text, room, " (row %lld of the source%s%s%s%s)", (long long)t->id, file[0] ? ": " : "", file,
             place[0] ? ", " : "", place);
}

/* Which operation of a map has failed, and with what file: messages begin with its name, as MindSpore has them. */
static void failed_operation(const sp_task *t, char *words, size_t room)
{
    char file[400];
    const sp_dataset *node = t->plan->node;
    const char *text = node->function.run ? "PyFunc:" : sp_error_message(), *place;
    size_t n = strcspn(text, ": ");
    if (!n || n >= 48 || text[n] != ':') return;
    if (strncmp(text, "BoundingBox:", 12) == 0) /* words that several transforms share */
        for (int i = 0; i < node->n_transforms; i++) {
            const char *found = strstr(text, node->transforms[i]->op->name);
            if (found && found > text) n = strlen(text = node->transforms[i]->op->name);
        }
    find_file(t, file, sizeof file, &place);
    snprintf(words, room, "map operation: [%.*s] failed. %s%s%s", (int)n, text,
             file[0] ? "The corresponding data file is: " : "", file, file[0] ? ". " : "");
}

/* Which row has failed, where it comes from, and in which column. */
static void name_row(const sp_task *t, char *text, size_t room)
{
    const sp_dataset *node = t->plan->node;
    char source[512] = "";
    if (t->id >= 0) name_source(t, source, sizeof source);
    const bool one = node->n_transforms && node->n_in == 1;
    snprintf(text, room, "%s, row %lld%s%s%s%s", stage_name(t->plan), (long long)t->row, source,
             one ? ", column '" : "", one ? node->parents[0]->columns[node->in[0]] : "", one ? "'" : "");
}

static void keep_failure(sp_task *t, sp_status status)
{
    char operation[560] = "", row[700];
    if (t->plan->node->kind == &sp__node_map) failed_operation(t, operation, sizeof operation);
    name_row(t, row, sizeof row);
    if (operation[0] &&
        !t->plan->node->function.run) { /* the words of the transform come first, as MindSpore has them */
        char words[sizeof((sp_error *)0)->message];
        snprintf(words, sizeof words, "%s", sp_error_message());
        sp__fail(status, "%s%.400s (%s)", operation, words, row);
    } else sp__error_context("%s%s", operation, row);
    t->status = status;
    if (status == SP_NOMEM) t->passed_on = true;
    t->error = malloc(sizeof *t->error);
    if (t->error) sp_error_capture(status, t->error);
    t->drop_fault = t->plan->node->function.drop_fault;
}

/* --- the watchdog: who has nothing to do looks at what the others do ------------------------------------------------------ */

static void post_begin(post *at, const sp_task *t, int64_t begin)
{
    atomic_store_explicit(&at->begin, begin, memory_order_relaxed);
    atomic_store_explicit(&at->row, t->row, memory_order_relaxed);
    atomic_store_explicit(&at->id, t->id, memory_order_relaxed);
    atomic_store_explicit(&at->told, false, memory_order_relaxed);
    atomic_store_explicit(&at->stage, t->plan, memory_order_release);
}

static void report_slow(sp_iterator *it, post *at)
{
    char text[256], source[64] = "";
    const sp_stage *stage = atomic_load_explicit(&at->stage, memory_order_acquire);
    const double seconds = (double)(sp__clock_ns() - atomic_load_explicit(&at->begin, memory_order_relaxed)) * 1e-9;
    if (!stage || seconds < it->plan.slow || atomic_exchange(&at->told, true)) return;
    const long long id = atomic_load(&at->id);
    if (id >= 0) snprintf(source, sizeof source, " (row %lld of the source)", id);
    sp__snprintf(text, sizeof text, "data pipeline: %s has been working on row %lld%s for %.1f s%s", stage_name(stage),
                 (long long)atomic_load(&at->row), source, seconds, stage->opened ? ", in a worker process" : "");
    if (it->plan.report) it->plan.report(text);
    else fprintf(stderr, "spore: %s\n", text);
}

/* Called without the lock, often; looks a few times in the time that counts as slow. */
static void look_around(sp_iterator *it)
{
    long long before = atomic_load_explicit(&it->looked, memory_order_relaxed);
    const int64_t at = sp__clock_ns();
    if (it->plan.slow <= 0 || (double)(at - before) * 1e-9 < it->plan.slow / 4) return;
    if (!atomic_compare_exchange_strong(&it->looked, &before, at)) return;
    for (int i = 0; i < it->n_posts; i++) report_slow(it, &it->posts[i]);
}

static int64_t in_milliseconds(int64_t n) { return sp__clock_ns() + n * 1000000; }

/* Run a task and the chain below it that belongs to the same job. */
static void run_job(post *at, sp_task *t)
{
    for (int64_t i = 0; i < t->n_inputs; i++)
        if (t->inputs[i]->state != SP_TASK_DONE) {
            run_job(at, t->inputs[i]);
            t->inputs[i]->state = SP_TASK_DONE; /* nobody else looks at a task inside of a job */
        }
    for (int64_t i = 0; i < t->n_inputs && t->status == SP_OK; i++)
        if (t->inputs[i]->status != SP_OK) inherit_failure(t, t->inputs[i]);
    if (t->status == SP_OK) {
        const int64_t begin = sp__clock_ns();
        const bool recorded = sp__profile_on();
        sp_span span;
        if (recorded) sp__profile_begin(&span);
        post_begin(at, t, begin);
        const sp_status status = t->plan->node->kind->run(t);
        if (recorded) sp__profile_end(&span, SP_PROFILE_DATA, stage_name(t->plan), NULL, "", 0);
        atomic_store_explicit(&at->stage, NULL, memory_order_release);
        atomic_fetch_add_explicit(&t->plan->nanoseconds, sp__clock_ns() - begin, memory_order_relaxed);
        atomic_fetch_add_explicit(&t->plan->rows, 1, memory_order_relaxed);
        if (status != SP_OK) keep_failure(t, status);
    }
    release_inputs(t);
    for (int i = 0; i < t->n_cells && t->status == SP_OK; i++)
        if (t->cells[i]) t->bytes += sp_tensor_bytes(t->cells[i]);
}

/* --- queues: all under the lock ----------------------------------------------------------------------------------------- */

static void push_last(queue *q, sp_task *t)
{
    t->next = NULL;
    if (q->last) q->last->next = t;
    else q->first = t;
    q->last = t;
}

static void push_first(queue *q, sp_task *t)
{
    t->next = q->first;
    q->first = t;
    if (!q->last) q->last = t;
}

/* The first that has what it needs; NULL: none. */
static sp_task *pop_ready(queue *q)
{
    sp_task *before = NULL, *t = q->first;
    while (t && t->pending) {
        before = t;
        t = t->next;
    }
    if (!t) return NULL;
    if (before) before->next = t->next;
    else q->first = t->next;
    if (q->last == t) q->last = before;
    return t;
}

static sp_task *pop_first(queue *q)
{
    sp_task *t = q->first;
    q->first = t->next;
    if (!q->first) q->last = NULL;
    return t;
}

static void submit(sp_iterator *it, sp_task *t);

/* See to what the job `top` needs of `t`'s inputs: part of the job, or a job of its own. */
static void link_inputs(sp_iterator *it, sp_task *top, sp_task *t)
{
    for (int64_t i = 0; i < t->n_inputs; i++) {
        sp_task *in = t->inputs[i];
        if (in->state == SP_TASK_DONE) continue;
        if (in_lane(in) == in_lane(t) && is_remote(in) == is_remote(t) && (t->n_inputs == 1 || is_cheap(in))) {
            link_inputs(it, top, in);
            continue;
        }
        in->above = top;
        in->place = t == top ? i : -1;
        sp__task_retain(top);
        top->pending++;
        submit(it, in);
    }
}

static void submit(sp_iterator *it, sp_task *t)
{
    t->state = SP_TASK_WAITING;
    t->pending = 1;
    link_inputs(it, t, t);
    t->pending--;
    if (in_lane(t)) {
        sp__task_retain(t);
        push_last(&it->lane, t);
    } else if (is_remote(t)) {
        sp__task_retain(t);
        push_last(&it->remote, t);
        if (t->pending == 0) sp__cond_signal(&it->remote_work);
    } else if (t->pending == 0) {
        sp__task_retain(t);
        push_last(&it->ready, t);
        sp__cond_signal(&it->work);
    }
}

sp_status sp__task_submit(sp_iterator *it, sp_task *t)
{
    sp__lock(&it->lock);
    if (t->state == SP_TASK_NEW) submit(it, t);
    sp__unlock(&it->lock);
    return SP_OK;
}

bool sp__task_is_done(sp_iterator *it, sp_task *t)
{
    sp__lock(&it->lock);
    const bool done = t->state == SP_TASK_DONE;
    sp__unlock(&it->lock);
    if (!done) it->blocker = t;
    return done;
}

/* A job that can be run: from the lane (if asked for) or for anybody. NULL: none now. */
static sp_task *find_job(sp_iterator *it, bool lane)
{
    if (lane && it->lane.first && it->lane.first->pending == 0) return pop_first(&it->lane);
    return it->ready.first ? pop_first(&it->ready) : NULL;
}

static void tell_above(sp_iterator *it, sp_task *t)
{
    sp_task *above = t->above;
    t->above = NULL;
    if (!above) return;
    const bool ready = --above->pending == 0;
    if (ready && is_remote(above)) sp__cond_signal(&it->remote_work);
    if (ready && !in_lane(above) && !is_remote(above)) {
        push_first(&it->ready, above); /* the reference goes over to the queue */
        sp__cond_signal(&it->work);
        return;
    }
    sp__task_release(above);
}

/* A finished row goes into its batch, if it can. */
static void place_row(sp_iterator *it, sp_task *t)
{
    sp_task *batch = t->above;
    t->room = NULL;
    if (!batch || t->place < 0 || t->status != SP_OK || t->end || !sp__batch_takes_rows(batch)) return;
    sp__lock(&it->lock);
    sp__batch_make_room(batch, t);
    sp__unlock(&it->lock);
    sp__batch_place(batch, t);
}

/* Run a job that was taken from a queue. The lock is given up meanwhile. */
static void do_job(sp_iterator *it, post *at, sp_task *t)
{
    it->n_running++;
    if (t->above && t->place >= 0 && sp__batch_takes_rows(t->above)) t->room = t->above->cells;
    sp__unlock(&it->lock);
    /* Only the queue knows it: nobody wants the row any more. */
    const bool wanted = atomic_load_explicit(&t->refs, memory_order_acquire) > 1;
    if (wanted) {
        run_job(at, t);
        place_row(it, t);
    }
    sp__lock(&it->lock);
    it->n_running--;
    t->state = SP_TASK_DONE;
    tell_above(it, t);
    sp__cond_broadcast(&it->done);
    sp__unlock(&it->lock);
    sp__task_release(t);
    sp__lock(&it->lock);
}

static void idle(sp_iterator *it, sp_cond *work)
{
    if (it->plan.slow <= 0) {
        sp__cond_wait(work, &it->lock);
        return;
    }
    const double ms = it->plan.slow * 250;
    if (sp__cond_wait_until(work, &it->lock, in_milliseconds(ms < 20 ? 20 : ms > 5000 ? 5000 : (int64_t)ms))) return;
    sp__unlock(&it->lock);
    look_around(it);
    sp__lock(&it->lock);
}

static void *worker(void *context)
{
    post *at = context;
    sp_iterator *it = at->it;
    sp__lock(&it->lock);
    while (!it->stop) {
        sp_task *t = at->remote ? pop_ready(&it->remote) : find_job(it, false);
        if (t) do_job(it, at, t);
        else idle(it, at->remote ? &it->remote_work : &it->work);
    }
    sp__unlock(&it->lock);
    return NULL;
}

/* Work until the task is done. Where there is nothing to work on and `ahead` is not NULL, it may submit more; it says
 * whether it did. */
static sp_status wait_for(sp_iterator *it, sp_task *t, sp_status (*ahead)(sp_iterator *it, bool *more))
{
    sp_status status = SP_OK;
    const int64_t begin = sp__clock_ns();
    sp__lock(&it->lock);
    while (t->state != SP_TASK_DONE && status == SP_OK) {
        sp_task *job = find_job(it, true);
        if (job) {
            do_job(it, it->posts, job);
            continue;
        }
        if (ahead) {
            bool more = false;
            sp__unlock(&it->lock);
            status = ahead(it, &more);
            sp__lock(&it->lock);
            if (more || status != SP_OK || t->state == SP_TASK_DONE) continue;
        }
        if (sp__cond_wait_until(&it->done, &it->lock, in_milliseconds(50))) continue;
        sp__unlock(&it->lock);
        look_around(it);
        status = sp__interrupt_check();
        sp__lock(&it->lock);
    }
    sp__unlock(&it->lock);
    it->waited += (double)(sp__clock_ns() - begin) * 1e-9;
    return status;
}

/* Forget everything that is under way. Jobs that run are waited for. */
static void drain(sp_iterator *it)
{
    queue old[3];
    sp__lock(&it->lock);
    old[0] = it->ready;
    old[1] = it->lane;
    old[2] = it->remote;
    it->ready = it->lane = it->remote = (queue){NULL, NULL};
    while (it->n_running) sp__cond_wait(&it->done, &it->lock);
    /* What ran may have made others ready that were waiting outside of the queues. */
    while (it->ready.first) push_last(&old[0], pop_first(&it->ready));
    while (it->remote.first) push_last(&old[2], pop_first(&it->remote));
    sp__unlock(&it->lock);
    for (int i = 0; i < 3; i++)
        while (old[i].first) {
            sp_task *t = pop_first(&old[i]);
            if (t->above) sp__task_release(t->above);
            t->above = NULL;
            sp__task_release(t);
        }
    while (it->n_window) {
        sp__task_release(it->window[it->first]);
        it->first = (it->first + 1) % it->plan.n_ahead;
        it->n_window--;
    }
    it->bytes = 0;
}

/* --- iterators ------------------------------------------------------------------------------------------------------- */

/* Stages of a tree: more than random numbers are drawn for, as stores draw none. */
static int count_plans(const sp_stage *p)
{
    int n = 1;
    for (int i = 0; i < p->node->n_parents; i++) n += count_plans(p->parents[i]);
    return n;
}

static void list_plans(sp_iterator *it, sp_stage *p)
{
    it->plans[it->n_plans++] = p;
    for (int i = 0; i < p->node->n_parents; i++) list_plans(it, p->parents[i]);
}

/* What functions want to have per iterator. Processes are forked here: before there are threads. */
static sp_status open_functions(sp_iterator *it)
{
    for (int i = 0; i < it->n_plans && it->plan.n_workers > 0; i++) {
        const sp_row_function *f = &it->plans[i]->node->function;
        if (!f->open) continue;
        SP_TRY(f->open(f->context, &it->plans[i]->opened));
        it->n_remote += f->n_remote;
    }
    return SP_OK;
}

/* Stores come last: processes that were forked for functions have nothing of them. */
static sp_status open_stores(sp_iterator *it)
{
    for (int i = 0; i < it->n_plans; i++) {
        const sp_dataset *node = it->plans[i]->node;
        if (node->store.open) SP_TRY(node->store.open(node->store.context, node->parents[0], &it->plans[i]->stored));
    }
    return SP_OK;
}

static void close_stores(sp_iterator *it)
{
    for (int i = 0; i < it->n_plans; i++)
        if (it->plans[i]->stored) it->plans[i]->node->store.close(it->plans[i]->stored);
}

/* Calls under way return; new ones fail. */
static void stop_functions(sp_iterator *it)
{
    for (int i = 0; i < it->n_plans; i++)
        if (it->plans[i]->opened) it->plans[i]->node->function.stop(it->plans[i]->opened);
}

static void close_functions(sp_iterator *it)
{
    for (int i = 0; i < it->n_plans; i++) {
        if (it->plans[i]->opened) it->plans[i]->node->function.close(it->plans[i]->opened);
        it->plans[i]->opened = NULL;
    }
}

static sp_status start_threads(sp_iterator *it)
{
    const int n = it->plan.n_workers + it->n_remote;
    it->threads = sp__alloc((size_t)(n + 1) * sizeof *it->threads);
    it->posts = sp__alloc_zero((size_t)(n + 1) * sizeof *it->posts);
    if (!it->threads || !it->posts) return SP_NOMEM;
    it->n_posts = n + 1;
    for (; it->n_threads < n; it->n_threads++) {
        post *at = &it->posts[it->n_threads + 1];
        at->it = it;
        at->remote = it->n_threads >= it->plan.n_workers;
        const int refused = pthread_create(&it->threads[it->n_threads], NULL, worker, at);
        if (refused) return sp__fail_thread(refused, "the data pipeline");
    }
    return SP_OK;
}

sp_status sp_iterator_create(sp_dataset *ds, const sp_iterator_plan *plan, sp_iterator **out)
{
    SP_HANDLE(ds);
    sp_iterator *it = sp__alloc_zero(sizeof *it);
    sp_status status = SP_OK;
    int n = 0;
    if (!it) return SP_NOMEM;
    it->ds = sp_dataset_retain(ds);
    if (plan) it->plan = *plan;
    if (it->plan.n_ahead < 1) it->plan.n_ahead = 16;
    if (it->plan.budget == 0) it->plan.budget = (size_t)256 << 20;
    it->epoch = it->plan.first_epoch;
    it->pid = getpid();
    sp__lock_init(&it->lock);
    SP_GOTO(done, sp__stage_create(ds, it, it->plan.seed, 0, &n, &it->root));
    it->plans = sp__alloc((size_t)count_plans(it->root) * sizeof *it->plans);
    it->window = sp__alloc((size_t)it->plan.n_ahead * sizeof *it->window);
    SP_GOTO(done, it->plans && it->window ? SP_OK : SP_NOMEM);
    list_plans(it, it->root);
    SP_GOTO(done, open_functions(it));
    SP_GOTO(done, open_stores(it));
    SP_GOTO(done, start_threads(it));
    *out = it;
    it = NULL;
done:
    sp_iterator_release(it);
    return status;
}

void sp_iterator_release(sp_iterator *it)
{
    if (!it) return;
    if (it->pid != getpid()) return; /* a fork: threads and maybe the lock are the parent's, nothing can be undone */
    sp__lock(&it->lock);
    it->stop = true;
    sp__cond_broadcast(&it->work);
    sp__cond_broadcast(&it->remote_work);
    sp__unlock(&it->lock);
    stop_functions(it);
    for (int i = 0; i < it->n_threads; i++) pthread_join(it->threads[i], NULL);
    drain(it);
    close_functions(it);
    close_stores(it);
    sp__stage_release(it->root);
    if (it->fault && it->drop_fault) it->drop_fault(it->fault);
    sp__free(it->plans);
    sp__free(it->window);
    sp__free(it->threads);
    sp__free(it->posts);
    sp__lock_destroy(&it->lock);
    sp_dataset_release(it->ds);
    sp__free(it);
}

static sp_status ensure_started(sp_iterator *it)
{
    SP_CHECK(it->pid == getpid(), SP_RUNTIME,
             "an iterator over a data set cannot be used in a forked process; create another one there");
    if (it->started) return SP_OK;
    drain(it);
    SP_TRY(sp__stage_start(it->root, it->epoch));
    it->started = true;
    it->ended = false;
    return SP_OK;
}

/* The next planned task; NULL at the end. Waits where planning has to see rows, if it may. */
static sp_status next_task(sp_iterator *it, bool may_wait, sp_task **out)
{
    *out = NULL;
    for (;;) {
        it->blocker = NULL;
        switch (sp__stage_next(it->root, out)) {
        case SP_STAGE_ROW: return SP_OK;
        case SP_STAGE_END: it->ended = true; return SP_OK;
        case SP_STAGE_FAIL: return sp__fail_status() == SP_NOMEM ? SP_NOMEM : SP_RUNTIME;
        case SP_STAGE_WAIT: break;
        }
        if (!may_wait) return SP_OK;
        SP_TRY(wait_for(it, it->blocker, NULL));
    }
}

/* Is there memory for one more row? Rows under way count as the largest so far. Before there is one, only as many are begun as
 * there are threads, and none while these have enough to do: nothing shall be in the way of the first. */
static bool has_room(sp_iterator *it)
{
    size_t held = 0;
    int64_t under_way = 0, to_do = 0;
    it->bytes = 0;
    sp__lock(&it->lock);
    for (int64_t i = 0; i < it->n_window; i++) {
        const sp_task *t = it->window[(it->first + i) % it->plan.n_ahead];
        if (t->state != SP_TASK_DONE) {
            under_way++;
            to_do += t->pending > 1 ? t->pending : 1; /* of a batch, the rows that are missing */
            continue;
        }
        it->seen = true;
        it->bytes += t->bytes;
        if (t->bytes > it->largest) it->largest = t->bytes;
    }
    sp__unlock(&it->lock);
    held = it->bytes + (size_t)under_way * it->largest;
    return it->n_window == 0 ||
           (held < it->plan.budget && (it->seen || (it->n_window <= it->n_threads && to_do <= it->n_threads)));
}

static sp_status fill_window(sp_iterator *it)
{
    while (!it->ended && it->n_window < it->plan.n_ahead && has_room(it)) {
        sp_task *t;
        SP_TRY(next_task(it, it->n_window == 0, &t));
        if (!t) return SP_OK;
        it->window[(it->first + it->n_window++) % it->plan.n_ahead] = t;
        SP_TRY(sp__task_submit(it, t));
    }
    return SP_OK;
}

static sp_status plan_more(sp_iterator *it, bool *more)
{
    const int64_t before = it->n_window;
    SP_TRY(fill_window(it));
    *more = it->n_window > before;
    return SP_OK;
}

void sp__iterator_keep_fault(sp_iterator *it, void *fault, void (*drop_fault)(void *fault))
{
    if (it->fault && it->drop_fault) it->drop_fault(it->fault);
    it->fault = fault;
    it->drop_fault = drop_fault;
}

static sp_status give_out(sp_iterator *it, sp_task *t, sp_tensor **row)
{
    if (t->status == SP_OK) {
        for (int i = 0; i < t->n_cells; i++) {
            row[i] = t->cells[i];
            t->cells[i] = NULL;
        }
        return SP_OK;
    }
    sp__iterator_keep_fault(it, t->fault, t->drop_fault);
    t->fault = NULL;
    return t->error ? sp_error_raise(t->error) : sp__fail(SP_NOMEM, "out of memory");
}

static sp_status next_row(sp_iterator *it, sp_tensor **row, bool *more)
{
    SP_TRY(ensure_started(it));
    SP_TRY(fill_window(it));
    if (it->n_window == 0) {
        it->started = false;
        it->epoch++;
        it->row = 0;
        *more = false;
        return SP_OK;
    }
    sp_task *t = it->window[it->first];
    SP_TRY(wait_for(it, t, plan_more));
    it->first = (it->first + 1) % it->plan.n_ahead;
    it->n_window--;
    it->row++;
    const sp_status status = give_out(it, t, row);
    sp__task_release(t);
    *more = true;
    return status;
}

sp_status sp_iterator_next(sp_iterator *it, sp_tensor **row, bool *more)
{
    SP_HANDLE(it);
    if (!sp__profile_on()) return next_row(it, row, more);
    sp_span span;
    sp__profile_begin(&span);
    const sp_status status = next_row(it, row, more);
    sp__profile_end(&span, SP_PROFILE_DATA, "wait for a row", NULL, NULL, 0);
    return status;
}

void *sp_iterator_take_fault(sp_iterator *it)
{
    if (!it) return NULL;
    void *fault = it->fault;
    it->fault = NULL;
    return fault;
}

void sp_iterator_tell(const sp_iterator *it, int64_t *epoch, int64_t *row)
{
    if (!it) return;
    *epoch = it->epoch;
    *row = it->row;
}

sp_status sp_iterator_seek(sp_iterator *it, int64_t epoch, int64_t row)
{
    SP_HANDLE(it);
    SP_CHECK(epoch >= 0 && row >= 0, SP_VALUE, "a position is an epoch and a row of 0 or more, but got %lld and %lld",
             (long long)epoch, (long long)row);
    it->started = false;
    it->epoch = epoch;
    SP_TRY(ensure_started(it));
    for (it->row = 0; it->row < row; it->row++) {
        sp_task *t;
        SP_TRY(next_task(it, true, &t));
        SP_CHECK(t, SP_VALUE, "the position is behind row %lld, but the epoch has %lld rows", (long long)row,
                 (long long)it->row);
        sp__task_release(t);
    }
    return SP_OK;
}

/* --- statistics -------------------------------------------------------------------------------------------------------- */

int sp_iterator_stages(const sp_iterator *it) { return it ? it->n_plans : 0; }

void sp_iterator_stage(const sp_iterator *it, int i, sp_stage_stats *out)
{
    if (i < 0 || i >= sp_iterator_stages(it)) return;
    const sp_stage *p = it->plans[i];
    *out = (sp_stage_stats){
        .name = stage_name(p), .depth = p->depth, .rows = p->rows, .seconds = (double)p->nanoseconds * 1e-9};
    /* A row that is only passed on costs nothing that could be told. */
    if (!p->node->kind->run || p->node->kind == &sp__node_concat || p->node->kind == &sp__node_tolerate) out->rows = -1;
}

void sp_iterator_describe(sp_iterator *it, sp_iterator_stats *out)
{
    if (!it) return;
    *out = (sp_iterator_stats){.ahead = it->n_window, .bytes = it->bytes, .waited = it->waited};
}
