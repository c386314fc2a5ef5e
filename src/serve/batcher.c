/* SPDX-License-Identifier: Apache-2.0 */
/* batcher.c - the queue of a version and the threads that run it, one for each of its instances.
 *
 * The runner takes the oldest job and with it those behind that fit: equal dtypes and shapes but for the first axis, together no more than
 * max_batch rows. Nobody waits while the model is idle, unless max_delay_us asks for it; under load jobs gather while it runs. Numbers
 * of rows that are run together are powers of two, which were compiled when the model was tried out: a job that would make it five
 * waits for the next run.
 *
 * A batch that fails is run again, job by job: the failure is that of the job that caused it.
 *
 * A client that has the server to itself waits for nothing but its answer, and passing its job to the runner and back takes longer than a small model does. So a job that
 * comes while no other is there is run by the thread that has it, the network's loop, if runs of inputs of that size were quick so far. Where two clients
 * or more are at work, jobs go to the runner, which joins them while the loop reads the next. */
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/plain.h"
#include "serve/texts.h"

/* --- joining ------------------------------------------------------------------------------------------------------- */

/* Could b's rows stand below a's? */
static bool fit(const sp_job *a, const sp_job *b)
{
    if (a->rows == 0 || b->rows == 0) return false;
    for (int i = 0; i < a->model->n_in; i++) {
        const sp_tensor *s = a->in[i], *t = b->in[i];
        if (s == NULL || t == NULL || sp_tensor_dtype(s) != sp_tensor_dtype(t) ||
            sp_tensor_rank(s) != sp_tensor_rank(t))
            return false;
        for (int k = 1; k < sp_tensor_rank(s); k++)
            if (sp_tensor_dims(s)[k] != sp_tensor_dims(t)[k]) return false;
    }
    return true;
}

/* Jobs to run now, taken off the queue: the first, and those that fit. n_rows: of the whole. The lock is held, the queue is not empty. */
static sp_job *take_batch(sp_served *m, int *n_jobs, int64_t *n_rows)
{
    sp_job *first = m->first;
    int64_t rows = first->rows, best_rows = rows;
    int count = 1, best = 1;
    for (sp_job *j = first->next; j != NULL && rows < m->max_batch; j = j->next) {
        if (!fit(first, j) || rows + j->rows > m->max_batch) continue;
        rows += j->rows;
        count++;
        if ((rows & (rows - 1)) == 0) {
            best = count;
            best_rows = rows;
        }
    }
    /* The same walk once more, taking `best` of them out. */
    m->first = first->next;
    sp_job **batch_end = &first->next, **at = &m->first;
    rows = first->rows;
    for (int taken = 1; taken < best;) {
        sp_job *j = *at;
        if (!fit(first, j) || rows + j->rows > m->max_batch) {
            at = &j->next;
            continue;
        }
        rows += j->rows;
        *at = j->next;
        *batch_end = j;
        batch_end = &j->next;
        taken++;
    }
    *batch_end = NULL;
    m->end = &m->first;
    while (*m->end != NULL) m->end = &(*m->end)->next;
    *n_jobs = best;
    *n_rows = best_rows;
    return first;
}

static int64_t waiting_rows(const sp_served *m)
{
    int64_t rows = 0;
    for (const sp_job *j = m->first; j != NULL && rows < m->max_batch; j = j->next) rows += j->rows;
    return rows;
}

/* --- running ------------------------------------------------------------------------------------------------------- */

static void finish(sp_job *job)
{
    if (job->status != 0) sp__job_end(job);
    else sp__job_encode(job);
}

enum {
    QUICK_US = 1000,     /* runs up to that may keep the network's loop */
    TOO_LONG_US = 50000, /* one such run may be the system's doing, */
    TOO_LONG_MAX = 5     /* so many mean that the time of this model depends on more than the sizes of its inputs */
};

static size_t input_bytes(const sp_job *job)
{
    size_t bytes = 0;
    for (int i = 0; i < job->model->n_in; i++) bytes += job->in[i] != NULL ? sp_tensor_bytes(job->in[i]) : 0;
    return bytes;
}

/* What a run of one job took, for those that come. */
static void learn(sp_served *m, const sp_job *job, int64_t took_us)
{
    const size_t bytes = input_bytes(job);
    sp__lock(&m->lock);
    if (took_us > TOO_LONG_US && m->in_place) m->n_too_long++;
    if (took_us > QUICK_US && bytes <= m->quick_bytes) m->quick_bytes = 0;
    else if (took_us <= QUICK_US && bytes > m->quick_bytes) m->quick_bytes = bytes;
    sp__unlock(&m->lock);
}

static void run_alone(sp_job *job)
{
    sp_served *m = job->model;
    const int64_t began = sp__net_now_us();
    sp_status status = m->items ? sp__texts_run(job) : sp_model_run(m->model, m->n_in, job->in, m->n_out, job->out);
    const int64_t took_us = sp__net_now_us() - began;
    if (!m->items) learn(m, job, took_us);
    sp__histogram_add_us(&m->entry->metrics.running, took_us);
    sp__histogram_add_rows(&m->entry->metrics.batches, job->rows > 0 ? job->rows : 1);
    sp__statistics_run(m, 1, job->rows > 0 ? job->rows : 1, took_us);
    job->x->served_rows = job->rows > 0 ? job->rows : 1;
    job->x->run_us = took_us;
    job->x->run_began_us = began;
    if (status != SP_OK) {
        int missing = 0;
        while (missing < m->n_in && (job->in[missing] != NULL || (m->items && job->texts[missing] != NULL))) missing++;
        if (missing < m->n_in) { /* the model may do without some inputs, so that this is known only now */
            sp__error_context("input '%s' is missing", sp_model_input_name(m->model, missing));
            status = SP_VALUE;
        }
        sp__job_failed(job, status);
    }
    finish(job);
}

static sp_status join(sp_job *batch, int64_t rows, sp_tensor **in)
{
    for (int i = 0; i < batch->model->n_in; i++) {
        int64_t dims[SP_RANK_MAX];
        memcpy(dims, sp_tensor_dims(batch->in[i]), (size_t)sp_tensor_rank(batch->in[i]) * sizeof *dims);
        dims[0] = rows;
        SP_TRY(sp_tensor_create(sp_tensor_dtype(batch->in[i]), sp_tensor_rank(batch->in[i]), dims, &in[i]));
        char *to = sp_tensor_data(in[i]);
        for (sp_job *j = batch; j != NULL; j = j->next) {
            memcpy(to, sp_tensor_data(j->in[i]), sp_tensor_bytes(j->in[i]));
            to += sp_tensor_bytes(j->in[i]);
        }
    }
    return SP_OK;
}

/* Give each job its rows of the results, as views. */
static sp_status split(sp_job *batch, int64_t rows, sp_tensor **out)
{
    for (int i = 0; i < batch->model->n_out; i++) {
        if (out[i] == NULL) continue;
        sp_tensor *plain = NULL;
        SP_CHECK(sp_tensor_rank(out[i]) > 0 && sp_tensor_dims(out[i])[0] == rows, SP_RUNTIME,
                 "an output has no row for each row of the inputs");
        SP_TRY(sp_tensor_contiguous(out[i], &plain));
        int64_t dims[SP_RANK_MAX], at = 0;
        memcpy(dims, sp_tensor_dims(plain), (size_t)sp_tensor_rank(plain) * sizeof *dims);
        sp_status status = SP_OK;
        for (sp_job *j = batch; j != NULL && status == SP_OK; j = j->next) {
            dims[0] = j->rows;
            sp_tensor_release(j->out[i]);
            j->out[i] = NULL;
            status = sp_tensor_view(plain, sp_tensor_rank(plain), dims, sp_tensor_strides(plain),
                                    at * (sp_tensor_count(plain) / rows), &j->out[i]);
            at += j->rows;
        }
        sp_tensor_release(plain);
        SP_TRY(status);
    }
    return SP_OK;
}

static sp_status run_joined(sp_job *batch, int64_t rows)
{
    sp_served *m = batch->model;
    sp_tensor *in[SP_SERVE_INPUTS_MAX] = {NULL}, **out = sp__alloc_zero((size_t)m->n_out * sizeof *out + 1);
    if (out == NULL) return SP_NOMEM;
    sp_status status = join(batch, rows, in);
    const int64_t began = sp__net_now_us();
    if (status == SP_OK) status = sp_model_run(m->model, m->n_in, in, m->n_out, out);
    if (status == SP_OK) {
        const int64_t took_us = sp__net_now_us() - began;
        int n_jobs = 0;
        for (sp_job *j = batch; j != NULL; j = j->next, n_jobs++) {
            j->x->served_rows = rows;
            j->x->run_us = took_us;
            j->x->run_began_us = began;
        }
        sp__histogram_add_us(&m->entry->metrics.running, took_us);
        sp__histogram_add_rows(&m->entry->metrics.batches, rows);
        sp__statistics_run(m, n_jobs, rows, took_us);
        status = split(batch, rows, out);
    }
    for (int i = 0; i < m->n_in; i++) sp_tensor_release(in[i]);
    for (int i = 0; i < m->n_out; i++) sp_tensor_release(out[i]);
    sp__free(out);
    return status;
}

static void run_batch(sp_job *batch, int n_jobs, int64_t rows)
{
    bool done = n_jobs > 1 && run_joined(batch, rows) == SP_OK;
    for (sp_job *j = batch, *next; j != NULL; j = next) {
        next = j->next;
        if (done) finish(j);
        else {
            for (int i = 0; i < j->model->n_out; i++) { /* what a split left that failed half-way */
                sp_tensor_release(j->out[i]);
                j->out[i] = NULL;
            }
            run_alone(j);
        }
    }
}

/* --- the thread ---------------------------------------------------------------------------------------------------- */

/* Take out and end what nobody waits for any more, and what waited too long. The lock is held. */
static sp_job *take_expired(sp_served *m)
{
    sp_job *expired = NULL;
    const int64_t now = sp__net_now_us();
    sp_job **at = &m->first;
    while (*at != NULL) {
        sp_job *j = *at;
        const bool late = now > j->deadline_us;
        if (late || sp__job_abandoned(j, now)) {
            if (late)
                sp__job_fail(j, 504, "the request waited for %.3f s and its time is over; the model is too busy",
                             (double)(now - j->x->began_us) / 1e6);
            else sp__job_fail(j, 499, "the client has gone");
            *at = j->next;
            j->next = expired;
            expired = j;
        } else at = &j->next;
    }
    m->end = at;
    return expired;
}

static void end_all(sp_job *jobs)
{
    for (sp_job *next; jobs != NULL; jobs = next) {
        next = jobs->next;
        sp__job_end(jobs);
    }
}

/* Wait for a job and, if that is wanted, for others to join it. False: the end. The lock is held. */
static bool await_jobs(sp_served *m, int64_t max_delay_us)
{
    while (m->in_place || (m->first == NULL && !m->closing)) sp__cond_wait(&m->more, &m->lock);
    if (m->first == NULL) return false;
    while (max_delay_us > 0 && m->max_batch > 1 && m->first != NULL && m->first->rows > 0 && !m->closing &&
           waiting_rows(m) < m->max_batch) {
        if (!sp__cond_wait_until(&m->more, &m->lock, (m->first->queued_us + max_delay_us) * 1000)) break;
    }
    return true;
}

static void note_waited(sp_job *job, int64_t waited_us)
{
    sp__histogram_add_us(&job->model->entry->metrics.waiting, waited_us);
    sp__statistics_queue(job->model, waited_us);
    job->x->queue_us = waited_us;
}

static void *run(void *context)
{
    sp_served *m = context;
    const int64_t delay = m->settings.max_delay_us;
    sp__lock(&m->lock);
    while (await_jobs(m, delay)) {
        int n_jobs = 0;
        int64_t rows = 0;
        sp_job *expired = take_expired(m), *batch = m->first != NULL ? take_batch(m, &n_jobs, &rows) : NULL;
        m->n_running++;
        sp__unlock(&m->lock);
        end_all(expired);
        const int64_t now = sp__net_now_us();
        for (sp_job *j = batch; j != NULL; j = j->next) note_waited(j, now - j->queued_us);
        if (batch != NULL) run_batch(batch, n_jobs, rows);
        sp__lock(&m->lock);
        m->n_running--;
    }
    sp__unlock(&m->lock);
    return NULL;
}

/* The lock is held. */
static bool may_run_in_place(const sp_served *m, const sp_job *job)
{
    const bool waits_for_others = m->settings.max_delay_us > 0 && m->max_batch > 1;
    return job->x->alone && m->quick_bytes > 0 && m->n_too_long < TOO_LONG_MAX && !waits_for_others &&
           m->first == NULL && m->n_running == 0 && !m->in_place && !m->closing && input_bytes(job) <= m->quick_bytes;
}

static void run_in_place(sp_job *job)
{
    sp_served *m = sp__served_retain(job->model); /* which may be the job's alone */
    note_waited(job, 0);
    run_alone(job);
    sp__lock(&m->lock);
    m->in_place = false;
    if (m->first != NULL || m->closing) sp__cond_broadcast(&m->more);
    sp__unlock(&m->lock);
    sp__served_release(m);
}

void sp__served_submit(sp_job *job)
{
    sp_served *m = job->model;
    job->queued_us = sp__net_now_us();
    job->next = NULL;
    sp__lock(&m->lock);
    if (may_run_in_place(m, job)) {
        m->in_place = true;
        sp__unlock(&m->lock);
        run_in_place(job);
        return;
    }
    sp_job **at = m->end;
    if (m->settings.n_priorities > 0)
        for (at = &m->first; *at != NULL && (*at)->priority <= job->priority; at = &(*at)->next) {}
    job->next = *at;
    *at = job;
    if (job->next == NULL) m->end = &job->next;
    sp__cond_signal(&m->more);
    sp__unlock(&m->lock);
}

sp_status sp__runners_start(sp_served *m)
{
    while (m->n_runners < m->settings.n_instances) {
        const int failure = pthread_create(&m->runners[m->n_runners], NULL, run, m);
        if (failure != 0) return sp__fail_thread(failure, "the model");
        m->n_runners++;
    }
    return SP_OK;
}

void sp__runners_stop(sp_served *m)
{
    if (m->n_runners == 0) return;
    sp__lock(&m->lock);
    m->closing = true;
    sp__cond_broadcast(&m->more);
    sp__unlock(&m->lock);
    for (int i = 0; i < m->n_runners; i++) pthread_join(m->runners[i], NULL);
    m->n_runners = 0;
}
