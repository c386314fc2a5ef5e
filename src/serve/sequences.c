/* SPDX-License-Identifier: Apache-2.0 */
/* sequences.c - models that keep a state from request to request of a sequence: some of their outputs are inputs of the next run.
 *
 * The setting `state` says which: "h=hn,c=cn" (input=output). A request with sequence_start begins with zeros; one with sequence_end is the last. Requests of one sequence are run
 * one after another, in the order in which they came; those of different sequences may be joined. A request that fails changes no state. A sequence that is not used for
 * sequence_idle seconds is forgotten. */
#include <string.h>

#include "serve/serve_impl.h"

enum { SEQUENCES_MAX = 4096 };

struct sp_sequence {
    struct sp_sequence *next;
    char *id;
    bool busy, over;
    int64_t used_us;
    sp_job *waiting, **end;
    sp_tensor *state[SP_SERVE_STATES_MAX]; /* NULL: zeros */
};

static void drop_state(sp_sequence *q)
{
    for (int k = 0; k < SP_SERVE_STATES_MAX; k++) {
        sp_tensor_release(q->state[k]);
        q->state[k] = NULL;
    }
}

static void free_sequence(sp_sequence *q)
{
    drop_state(q);
    sp__free(q->id);
    sp__free(q);
}

/* --- what the setting says ------------------------------------------------------------------------------------------- */

static int index_of(const sp_served *m, bool input, const char *name, size_t bytes)
{
    const int n = input ? m->n_in : m->n_out;
    for (int i = 0; i < n; i++) {
        const char *have = input ? sp_model_input_name(m->model, i) : sp_model_output_name(m->model, i);
        if (strlen(have) == bytes && memcmp(have, name, bytes) == 0) return i;
    }
    return -1;
}

static sp_status add_state(sp_served *m, const char *text, size_t bytes)
{
    const char *equals = memchr(text, '=', bytes);
    SP_CHECK(equals != NULL, SP_VALUE, "state has '%.*s' where INPUT=OUTPUT is wanted", (int)bytes, text);
    SP_CHECK(m->n_states < SP_SERVE_STATES_MAX, SP_VALUE, "state has more than %d tensors", SP_SERVE_STATES_MAX);
    const size_t left = (size_t)(equals - text), right = bytes - left - 1;
    const int in = index_of(m, true, text, left), out = index_of(m, false, equals + 1, right);
    SP_CHECK(in >= 0, SP_KEY, "state: the model has no input '%.*s'", (int)left, text);
    SP_CHECK(out >= 0, SP_KEY, "state: the model has no output '%.*s'", (int)right, equals + 1);
    const sp_spec *a = sp_model_input_spec(m->model, in), *b = sp_model_output_spec(m->model, out);
    SP_CHECK(a->dtype == b->dtype && (a->rank == b->rank || b->rank < 0) && a->rank >= 0, SP_TYPE,
             "state: input '%.*s' and output '%.*s' are not of one type and number of dimensions", (int)left, text,
             (int)right, equals + 1);
    m->states[m->n_states].in = in;
    m->states[m->n_states++].out = out;
    return SP_OK;
}

sp_status sp__sequences_open(sp_served *m)
{
    for (const char *p = m->settings.state; *p != '\0';) {
        const size_t n = strcspn(p, ",");
        SP_TRY(add_state(m, p, n));
        p += n + (p[n] == ',');
        p += strspn(p, " ");
    }
    SP_CHECK(m->n_states == 0 || !m->items, SP_DECLINED, "state: models with texts have none");
    return SP_OK;
}

void sp__sequences_close(sp_served *m)
{
    for (sp_sequence *q = m->sequences, *next; q != NULL; q = next) {
        next = q->next;
        free_sequence(q);
    }
}

/* --- requests -------------------------------------------------------------------------------------------------------- */

/* Zeros for a state; sizes that are free are the rows of the request. */
static sp_status make_zeros(const sp_job *job, int input, sp_tensor **out)
{
    const sp_spec *s = sp_model_input_spec(job->model->model, input);
    int64_t dims[SP_RANK_MAX], rows = 1;
    for (int i = 0; i < job->model->n_in; i++)
        if (job->in[i] != NULL && sp_tensor_rank(job->in[i]) > 0) {
            rows = sp_tensor_dims(job->in[i])[0];
            break;
        }
    for (int k = 0; k < s->rank; k++) dims[k] = s->dims[k] >= 0 ? s->dims[k] : rows;
    SP_TRY(sp_tensor_create(s->dtype, s->rank, dims, out));
    memset(sp_tensor_data(*out), 0, sp_tensor_bytes(*out));
    return SP_OK;
}

/* Those that nobody has used for long. The lock is held; gives the list of them. */
static sp_sequence *take_idle(sp_served *m, int64_t now)
{
    sp_sequence *idle = NULL;
    for (sp_sequence **at = &m->sequences; *at != NULL;) {
        sp_sequence *q = *at;
        if (!q->busy && (q->over || now - q->used_us > (int64_t)(m->settings.sequence_idle * 1e6))) {
            *at = q->next;
            q->next = idle;
            idle = q;
            m->n_sequences--;
        } else at = &q->next;
    }
    return idle;
}

static sp_status find_or_make(sp_job *job, sp_sequence **out)
{
    sp_served *m = job->model;
    sp_sequence *q = m->sequences;
    while (q != NULL && (q->over || strcmp(q->id, job->sequence_id) != 0)) q = q->next;
    *out = q;
    if (q != NULL) return SP_OK;
    SP_CHECK(
        job->sequence_start, SP_VALUE,
        "there is no sequence '%.64s': it ended, was not used for %g s (sequence_idle), or the model was loaded anew; "
        "begin one with sequence_start",
        job->sequence_id, m->settings.sequence_idle);
    if (m->n_sequences >= SEQUENCES_MAX) {
        job->fail_status = 503;
        return sp__fail(SP_VALUE, "%d sequences are under way, which is the limit; try again later", SEQUENCES_MAX);
    }
    q = sp__alloc_zero(sizeof *q);
    if (q != NULL) q->id = sp__strdup(job->sequence_id);
    if (q == NULL || q->id == NULL) {
        sp__free(q);
        return SP_NOMEM;
    }
    q->end = &q->waiting;
    q->next = m->sequences;
    m->sequences = q;
    m->n_sequences++;
    *out = q;
    return SP_OK;
}

/* The job has the sequence: give it the state. The lock is held. */
static sp_status give_state(sp_job *job, sp_sequence *q)
{
    const sp_served *m = job->model;
    if (job->sequence_start) drop_state(q);
    for (int k = 0; k < m->n_states; k++) {
        const int i = m->states[k].in;
        if (q->state[k] != NULL) job->in[i] = sp_tensor_retain(q->state[k]);
        else SP_TRY(make_zeros(job, i, &job->in[i]));
    }
    return SP_OK;
}

sp_status sp__sequence_enter(sp_job *job, bool *waits)
{
    sp_served *m = job->model;
    sp_sequence *q = NULL, *idle;
    *waits = false;
    if (job->sequence_id == NULL) {
        SP_CHECK(!job->sequence_start && !job->sequence_end, SP_VALUE,
                 "sequence_start and sequence_end are given without sequence_id");
        return SP_OK;
    }
    for (int k = 0; k < m->n_states; k++)
        SP_CHECK(job->in[m->states[k].in] == NULL, SP_VALUE,
                 "input '%s' is the sequence's state, which the server keeps; it must not be given",
                 sp_model_input_name(m->model, m->states[k].in));
    sp__lock(&m->lock);
    idle = take_idle(m, sp__net_now_us());
    sp_status status = find_or_make(job, &q);
    if (status == SP_OK) {
        job->sequence = q;
        q->used_us = sp__net_now_us();
        if (q->busy) {
            job->next = NULL;
            *q->end = job;
            q->end = &job->next;
            *waits = true;
        } else {
            q->busy = true;
            status = give_state(job, q);
        }
    }
    sp__unlock(&m->lock);
    for (sp_sequence *next; idle != NULL; idle = next) {
        next = idle->next;
        free_sequence(idle);
    }
    return status;
}

/* The state after the job. The lock is held. */
static sp_status keep_state(sp_job *job, sp_sequence *q)
{
    const sp_served *m = job->model;
    sp_tensor *made[SP_SERVE_STATES_MAX] = {NULL};
    sp_status status = SP_OK;
    for (int k = 0; k < m->n_states && status == SP_OK; k++) {
        sp_tensor *t = job->out[m->states[k].out];
        /* Rows of a joined run are a view; a copy does not keep the others' rows. */
        if (t != NULL) status = sp_tensor_copy(t, &made[k]);
    }
    for (int k = 0; k < m->n_states; k++) {
        if (status != SP_OK) sp_tensor_release(made[k]);
        else {
            sp_tensor_release(q->state[k]);
            q->state[k] = made[k];
        }
    }
    return status;
}

sp_job *sp__sequence_leave(sp_job *job)
{
    sp_served *m = job->model;
    sp_sequence *q = job->sequence;
    if (q == NULL) return NULL;
    job->sequence = NULL;
    sp__lock(&m->lock);
    if (job->status == 0 && keep_state(job, q) != SP_OK) q->over = true; /* better none than an old one */
    q->used_us = sp__net_now_us();
    if (job->sequence_end && job->status == 0) q->over = true;
    sp_job *next = q->waiting;
    if (next != NULL) {
        q->waiting = next->next;
        if (q->waiting == NULL) q->end = &q->waiting;
        next->next = NULL;
        if (q->over && !next->sequence_start)
            sp__job_fail(next, 400,
                         "sequence '%.64s' ended with the request before this one; begin one with sequence_start",
                         q->id);
        else {
            q->over = false;
            if (give_state(next, q) != SP_OK) sp__job_failed(next, SP_NOMEM);
        }
    } else q->busy = false;
    sp__unlock(&m->lock);
    return next;
}
