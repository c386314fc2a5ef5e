/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - exchanges as requests: begun with words, moved on by whoever asks, waited for with a limit. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plain.h"
#include "base/clock.h"
#include "base/profile.h"
#include "parallel/parallel_impl.h"

static const char *const kind_names[] = {
#define X(name, text) text,
    SP_EXCHANGE_LIST(X)
#undef X
};

const char *sp_exchange_name(sp_exchange_kind kind)
{
    return (unsigned)kind < SP_EXCHANGE_COUNT ? kind_names[kind] : "?";
}

static bool is_message(const sp_exchange *e) { return e->kind == SP_EXCHANGE_SEND || e->kind == SP_EXCHANGE_RECV; }
static bool has_root(const sp_exchange *e)
{
    return is_message(e) || e->kind == SP_EXCHANGE_BROADCAST || e->kind == SP_EXCHANGE_REDUCE ||
           e->kind == SP_EXCHANGE_GATHER || e->kind == SP_EXCHANGE_SCATTER;
}
static bool reduces(const sp_exchange *e)
{
    return e->kind == SP_EXCHANGE_ALL_REDUCE || e->kind == SP_EXCHANGE_REDUCE_SCATTER || e->kind == SP_EXCHANGE_REDUCE;
}

/* --- what is asked for ------------------------------------------------------------------------------------------- */

static sp_status check_parts(const sp_comm *c, const sp_exchange *e)
{
    if (!e->n_to && !e->n_from) return SP_OK;
    SP_CHECK(e->kind == SP_EXCHANGE_ALL_TO_ALL && e->n_to && e->n_from, SP_VALUE,
             "%s: parts of unequal size need both lists of sizes, and all_to_all", kind_names[e->kind]);
    for (int i = 0; i < c->size; i++)
        SP_CHECK(e->n_to[i] >= 0 && e->n_from[i] >= 0, SP_VALUE,
                 "all_to_all: the part for rank %d has %lld elements, the one from it %lld", i, (long long)e->n_to[i],
                 (long long)e->n_from[i]);
    SP_CHECK(e->n_to[c->rank] == e->n_from[c->rank], SP_VALUE,
             "all_to_all: rank %d gives itself %lld elements and takes %lld", c->rank, (long long)e->n_to[c->rank],
             (long long)e->n_from[c->rank]);
    return SP_OK;
}

static sp_status check_exchange(const sp_comm *c, const sp_exchange *e, int64_t *bytes)
{
    SP_CHECK(c && e, SP_VALUE, "an exchange without a group, or a group without one: join the job first (sp_job_join)");
    SP_CHECK((unsigned)e->kind < SP_EXCHANGE_COUNT, SP_VALUE, "exchange %d is unknown", (int)e->kind);
    const char *name = kind_names[e->kind];
    *bytes = 0;
    if (e->kind == SP_EXCHANGE_BARRIER) return SP_OK;
    SP_CHECK((unsigned)e->dtype < SP_DTYPE_COUNT && e->dtype != SP_DTYPE_STR, SP_TYPE,
             "%s: values of this dtype cannot be exchanged", name);
    SP_CHECK(e->n >= 0, SP_VALUE, "%s: %lld elements", name, (long long)e->n);
    int64_t whole;
    SP_CHECK(sp__mul_i64(e->n, (int64_t)sp_dtype_bytes(e->dtype), bytes) && sp__mul_i64(*bytes, c->size, &whole) &&
                 (uint64_t)whole <= SIZE_MAX / 2,
             SP_VALUE, "%s: %lld elements of %d ranks are too many", name, (long long)e->n, c->size);
    if (reduces(e)) SP_TRY(sp__reduce_check(e->dtype, e->reduce));
    if (has_root(e))
        SP_CHECK(e->root >= 0 && e->root < c->size, SP_VALUE, "%s: rank %d is not in the group, which has %d", name,
                 e->root, c->size);
    if (is_message(e)) {
        SP_CHECK(e->root != c->rank, SP_VALUE, "%s: rank %d cannot exchange a message with itself", name, c->rank);
        SP_CHECK(e->tag >= 0 && e->tag <= SP_EXCHANGE_TAG_MAX, SP_VALUE, "%s: tag %d, wanted 0 to %d", name, e->tag,
                 SP_EXCHANGE_TAG_MAX);
    }
    return check_parts(c, e);
}

/* --- one rank ---------------------------------------------------------------------------------------------------- */

static void run_alone(const sp_exchange *e, int64_t bytes)
{
    if (e->kind == SP_EXCHANGE_ALL_TO_ALL && e->n_to) bytes = e->n_to[0] * (int64_t)sp_dtype_bytes(e->dtype);
    if (bytes > 0 && e->out != e->in) memmove(e->out, e->in, (size_t)bytes);
}

/* --- a simulated job --------------------------------------------------------------------------------------------- */

/* As if all ranks had what this one has, and were done with what they reduce: the others' parts are the neutral element. */
static void run_simulated(const sp_comm *c, const sp_exchange *e, int64_t bytes)
{
    char *out = e->out;
    const char *in = e->in;
    if (e->kind == SP_EXCHANGE_SEND || e->kind == SP_EXCHANGE_BARRIER || !out) return;
    if (e->kind == SP_EXCHANGE_RECV) {
        memset(out, 0, (size_t)bytes);
    } else if (e->kind == SP_EXCHANGE_ALL_GATHER || e->kind == SP_EXCHANGE_GATHER) {
        for (int i = c->size - 1; i >= 0; i--)
            if (out + i * bytes != in) memmove(out + i * bytes, in, (size_t)bytes);
    } else if (e->kind == SP_EXCHANGE_ALL_TO_ALL) {
        const int64_t element = (int64_t)sp_dtype_bytes(e->dtype);
        int64_t total = 0;
        for (int i = 0; i < c->size; i++) total += e->n_from ? e->n_from[i] * element : bytes;
        if (out == in) return;
        if (e->n_from) memset(out, 0, (size_t)total);
        else memmove(out, in, (size_t)total);
    } else if (out != in) {
        memmove(out, in, (size_t)bytes);
    }
}

static void run_here(const sp_comm *c, const sp_exchange *e, int64_t bytes)
{
    if (c->size == 1) run_alone(e, bytes);
    else run_simulated(c, e, bytes);
}

/* --- operations of the transport --------------------------------------------------------------------------------- */

sp_status sp__request_op(sp_request *r, int rank, sp_status status, void *op)
{
    if (status != SP_OK) return status;
    if (r->n_ops == r->ops_room) {
        const int room = 2 * r->ops_room;
        void **ops = sp__realloc(r->ops, (size_t)r->ops_room * sizeof *ops, (size_t)room * sizeof *ops);
        if (ops) r->ops = ops;
        int *ranks =
            ops ? sp__realloc(r->op_rank, (size_t)r->ops_room * sizeof *ranks, (size_t)room * sizeof *ranks) : NULL;
        if (!ranks) return SP_NOMEM; /* the operation goes on: its group is broken, and its memory is not given back */
        r->op_rank = ranks;
        r->ops_room = room;
    }
    r->ops[r->n_ops] = op;
    r->op_rank[r->n_ops++] = rank;
    return SP_OK;
}

static sp_status message(sp_request *r, char *data, int64_t bytes, int rank, int tag, bool send)
{
    const sp_transport *t = sp__transport();
    const int64_t most = (int64_t)t->bytes_max;
    for (int64_t at = 0; at < bytes; at += most) {
        const size_t n = (size_t)(bytes - at < most ? bytes - at : most);
        void *op = NULL;
        sp__lock(&sp__transport_lock);
        const sp_status status = send ? t->send(r->comm->handle, data + at, n, rank, tag, &op)
                                      : t->recv(r->comm->handle, data + at, n, rank, tag, &op);
        sp__unlock(&sp__transport_lock);
        SP_TRY(sp__request_op(r, rank, status, op));
    }
    return SP_OK;
}

sp_status sp__request_send(sp_request *r, const void *data, int64_t bytes, int to, int tag)
{
    return message(r, (char *)(uintptr_t)data, bytes, to, tag, true);
}
sp_status sp__request_recv(sp_request *r, void *data, int64_t bytes, int from, int tag)
{
    return message(r, data, bytes, from, tag, false);
}

/* Ask for all that were begun; those that are done are taken off the list. */
static sp_status poll_ops(sp_request *r)
{
    int kept = 0;
    sp_status status = SP_OK;
    sp__lock(&sp__transport_lock);
    for (int i = 0; i < r->n_ops; i++) {
        bool done = false;
        if (status == SP_OK) status = sp__transport()->test(r->ops[i], &done);
        if (done) continue;
        r->ops[kept] = r->ops[i];
        r->op_rank[kept++] = r->op_rank[i];
    }
    r->n_ops = kept;
    sp__unlock(&sp__transport_lock);
    return status;
}

/* --- words ------------------------------------------------------------------------------------------------------- */

enum { WORDS_TEXT = 200 };

/* "all_reduce of 12 float32 (sum) at train.py:3" */
static const char *describe(const sp_word *w, char text[WORDS_TEXT])
{
    const sp_exchange e = {.kind = (sp_exchange_kind)w->kind};
    char values[64] = "", how[16] = "", root[32] = "";
    if (w->kind != SP_EXCHANGE_BARRIER) {
        if (w->n < 0) sp__snprintf(values, sizeof values, " of unequal parts of %s", sp_dtype_name((sp_dtype)w->dtype));
        else sp__snprintf(values, sizeof values, " of %lld %s", (long long)w->n, sp_dtype_name((sp_dtype)w->dtype));
    }
    if (reduces(&e)) sp__snprintf(how, sizeof how, " (%s)", sp_reduce_name((sp_reduce)w->reduce));
    if (has_root(&e) && !is_message(&e)) sp__snprintf(root, sizeof root, " with root %d", w->root);
    sp__snprintf(text, WORDS_TEXT, "%s%s%s%s%s%.39s", sp_exchange_name(e.kind), values, how, root,
                 w->where[0] ? " at " : "", w->where);
    return text;
}

static sp_status words_differ(const sp_request *r, int rank, const sp_word *w)
{
    const sp_comm *c = r->comm;
    char mine[WORDS_TEXT], other[WORDS_TEXT];
    describe(&r->mine, mine);
    if (w->left)
        return sp__fail(
            SP_RUNTIME,
            "rank %d has left the job, while rank %d waits for it: %s. All ranks must make the same exchanges.",
            c->ranks[rank], c->ranks[c->rank], mine);
    return sp__fail(
        SP_RUNTIME,
        "ranks do not make the same exchange: number %u of the group is on rank %d %s, on rank %d %s. All ranks of a group must "
        "make the same exchanges in the same order, with the same shapes.",
        r->mine.number, c->ranks[c->rank], mine, c->ranks[rank], describe(w, other));
}

static bool agree(const sp_word *a, const sp_word *b, bool is_a_message)
{
    if (b->magic != SP_WORD_MAGIC || b->left || a->n != b->n || a->dtype != b->dtype) return false;
    return is_a_message ||
           (a->number == b->number && a->kind == b->kind && a->reduce == b->reduce && a->root == b->root);
}

static sp_status check_words(const sp_request *r)
{
    for (int i = 0; i < r->comm->size; i++) {
        if (i == r->comm->rank || (is_message(&r->e) && (i != r->e.root || r->e.kind == SP_EXCHANGE_SEND))) continue;
        SP_CHECK(r->theirs[i].magic == SP_WORD_MAGIC, SP_RUNTIME,
                 "rank %d runs another version of spore: install the same on all hosts", r->comm->ranks[i]);
        if (!agree(&r->mine, &r->theirs[i], is_message(&r->e))) return words_differ(r, i, &r->theirs[i]);
    }
    return SP_OK;
}

static bool fits_word(const sp_exchange *e, int64_t bytes)
{
    return bytes <= SP_WORD_PAYLOAD && (is_message(e) || e->kind == SP_EXCHANGE_ALL_REDUCE ||
                                        e->kind == SP_EXCHANGE_ALL_GATHER || e->kind == SP_EXCHANGE_BROADCAST);
}

static void make_word(sp_request *r)
{
    const sp_exchange *e = &r->e;
    sp_word *w = &r->mine;
    memset(w, 0, sizeof *w);
    *w = (sp_word){.magic = SP_WORD_MAGIC,
                   .kind = (uint8_t)e->kind,
                   .dtype = (uint8_t)e->dtype,
                   .reduce = reduces(e) ? (uint8_t)e->reduce : 0,
                   .root = has_root(e) && !is_message(e) ? e->root : 0,
                   .n = e->n_to                          ? -1
                        : e->kind == SP_EXCHANGE_BARRIER ? 0
                                                         : e->n};
    if (e->kind == SP_EXCHANGE_BARRIER) w->dtype = 0;
    if (e->where) sp__snprintf(w->where, sizeof w->where, "%s", e->where);
    if (fits_word(e, r->bytes) && e->in && r->bytes) memcpy(w->payload, e->in, (size_t)r->bytes);
}

static sp_status begin_words(sp_request *r)
{
    const sp_comm *c = r->comm;
    const int tag = is_message(&r->e) ? SP_TAG_USER + 2 * r->e.tag : SP_TAG_WORD;
    for (int i = 0; i < c->size; i++) {
        if (i == c->rank || (is_message(&r->e) && i != r->e.root)) continue;
        if (r->e.kind != SP_EXCHANGE_SEND) SP_TRY(sp__request_recv(r, &r->theirs[i], sizeof r->theirs[i], i, tag));
        if (r->e.kind != SP_EXCHANGE_RECV) SP_TRY(sp__request_send(r, &r->mine, sizeof r->mine, i, tag));
    }
    return SP_OK;
}

/* The words have brought the values. */
static sp_status finish_by_words(sp_request *r)
{
    const sp_exchange *e = &r->e;
    const sp_comm *c = r->comm;
    const size_t bytes = (size_t)r->bytes;
    r->done = true;
    if (!bytes || e->kind == SP_EXCHANGE_SEND) return SP_OK;
    r->theirs[c->rank] = r->mine;
    if (e->kind == SP_EXCHANGE_BROADCAST || e->kind == SP_EXCHANGE_RECV) {
        memcpy(e->out, r->theirs[e->root].payload, bytes);
        return SP_OK;
    }
    char *all = e->kind == SP_EXCHANGE_ALL_GATHER ? e->out : (r->work = sp__alloc(bytes * (size_t)c->size));
    if (!all) return SP_NOMEM;
    for (int i = 0; i < c->size; i++) memcpy(all + (size_t)i * bytes, r->theirs[i].payload, bytes);
    if (e->kind == SP_EXCHANGE_ALL_REDUCE) sp__reduce_ranks(e->dtype, e->reduce, c->size, all, e->n, e->n, e->out);
    return SP_OK;
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

static sp_lock lock = SP_LOCK_INIT; /* of all requests, and of what groups know about theirs */
static sp_request *begun;           /* and not yet done, the oldest first */

static void request_free(sp_request *r)
{
    sp__free(r->work);
    sp__free(r->theirs);
    sp__free(r->ops);
    sp__free(r->op_rank);
    sp_comm_release(r->comm);
    sp__free(r);
}

/* Under the lock. */
static void break_group(sp_request *r, sp_status status)
{
    r->status = status;
    r->done = true;
    sp_error_capture(status, &r->error);
    if (!r->comm->broken) r->comm->error = r->error;
    r->comm->broken = true;
}

/* Moves the request on as far as it goes without waiting. Under the lock. Whether it has moved. */
static bool step(sp_request *r)
{
    bool moved = false;
    if (!r->first_ns) r->first_ns = sp__clock_ns();
    while (!r->done) {
        const int n_ops = r->n_ops;
        sp_status status = poll_ops(r);
        moved |= r->n_ops != n_ops;
        if (status == SP_OK && r->n_ops > 0) return moved;
        moved = true;
        if (status == SP_OK && r->phase == 0) {
            status = check_words(r);
            r->noticed_by_all = status != SP_OK;
        }
        if (status == SP_OK) {
            r->phase++;
            status = r->phase == 1 && fits_word(&r->e, r->bytes) ? finish_by_words(r) : sp__exchange_next(r);
        }
        if (status != SP_OK) {
            sp__error_context("%s%s%s", sp_exchange_name(r->e.kind), r->e.where ? " at " : "",
                              r->e.where ? r->e.where : "");
            break_group(r, status);
        }
    }
    if (sp__profile_on()) sp__background_record(sp_exchange_name(r->e.kind), r->first_ns, sp__clock_ns());
    return moved;
}

/* Data of both could be taken for one another's. */
static bool in_one_row(const sp_request *a, const sp_request *b)
{
    if (a->comm != b->comm || is_message(&a->e) != is_message(&b->e)) return false;
    return !is_message(&a->e) || (a->e.kind == b->e.kind && a->e.root == b->e.root && a->e.tag == b->e.tag);
}

static bool is_first_in_row(const sp_request *r)
{
    const sp_request *q = begun;
    while (q != r && !in_one_row(q, r)) q = q->next;
    return q == r;
}

/* Moves on those that were begun, until `until` is done (NULL: all of them). Under the lock. Whether any has moved. */
static bool move_until(const sp_request *until)
{
    bool moved = false;
    for (sp_request **p = &begun; *p && !(until && until->done);) {
        sp_request *q = *p;
        if (q->comm->broken) {
            sp_error_raise(&q->comm->error);
            break_group(q, q->comm->error.status);
        } else if (is_first_in_row(q)) {
            moved |= step(q);
        }
        if (q->done) *p = q->next;
        else p = &q->next;
    }
    return moved;
}

/* Moves on all that were begun, not r alone: another rank may wait for those before it comes to r. Whether r is done. */
static bool advance(const sp_request *r)
{
    if (r->comm->size == 1) return true;
    sp__lock(&lock);
    move_until(r);
    const bool done = r->done;
    sp__unlock(&lock);
    return done;
}

bool sp__exchanges_move(int *n_left)
{
    sp__lock(&lock);
    const bool moved = move_until(NULL);
    *n_left = 0;
    for (const sp_request *r = begun; r; r = r->next) ++*n_left;
    sp__unlock(&lock);
    return moved;
}

static sp_status request_create(sp_comm *c, const sp_exchange *e, int64_t bytes, sp_request **out)
{
    sp_request *r = sp__alloc_zero(sizeof *r);
    if (!r) return SP_NOMEM;
    r->comm = sp_comm_retain(c);
    r->e = *e;
    r->bytes = bytes;
    r->ops_room = 2 * c->size + 4;
    r->theirs = sp__alloc_zero((size_t)c->size * sizeof *r->theirs);
    r->ops = sp__alloc((size_t)r->ops_room * sizeof *r->ops);
    r->op_rank = sp__alloc((size_t)r->ops_room * sizeof *r->op_rank);
    if (!r->theirs || !r->ops || !r->op_rank) {
        request_free(r);
        return SP_NOMEM;
    }
    *out = r;
    return SP_OK;
}

/* The request takes its place in the row; its word goes out while nobody else's can. */
static sp_status begin(sp_request *r)
{
    sp_comm *c = r->comm;
    make_word(r);
    sp__lock(&lock);
    if (c->broken) {
        sp__unlock(&lock);
        sp_error_raise(&c->error);
        sp__error_context("%s after a failed exchange", sp_exchange_name(r->e.kind));
        return c->error.status;
    }
    if (!is_message(&r->e)) r->mine.number = ++c->n_begun;
    r->begun_ns = sp__clock_ns();
    const sp_status status = begin_words(r);
    if (status == SP_OK) {
        sp_request **end = &begun;
        while (*end) end = &(*end)->next;
        *end = r;
    } else {
        break_group(r, status);
    }
    sp__unlock(&lock);
    return status;
}

/* Given up: nobody else moves it on. */
static void give_up(sp_request *r, sp_status status)
{
    sp__lock(&lock);
    break_group(r, status);
    for (sp_request **p = &begun; *p; p = &(*p)->next)
        if (*p == r) {
            *p = r->next;
            break;
        }
    sp__unlock(&lock);
}

/* What every rank of the group notices is told by the first one of those that have come. The others hold back a moment: the job is about to end. */
static void let_the_first_speak(const sp_request *r)
{
    const sp_comm *c = r->comm;
    int first = 0;
    while (first < c->rank && (r->theirs[first].magic != SP_WORD_MAGIC || r->theirs[first].left)) first++;
    for (int i = 0; first < c->rank && i < 100 && sp__interrupt_check() == SP_OK; i++)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static sp_status start(sp_comm *c, const sp_exchange *e, sp_request **out)
{
    int64_t bytes;
    SP_TRY(check_exchange(c, e, &bytes));
    SP_TRY(sp__comm_check(c));
    sp_request *r;
    SP_TRY(request_create(c, e, bytes, &r));
    if (c->size == 1 || sp_job_simulated()) {
        run_here(c, e, bytes);
        r->done = true;
    } else {
        const sp_status status = begin(r);
        if (status != SP_OK) {
            if (r->n_ops == 0) request_free(r); /* else messages on their way still use it: the job ends with them */
            return status;
        }
        advance(r);
    }
    *out = r;
    return SP_OK;
}

sp_status sp_comm_start(sp_comm *c, const sp_exchange *e, sp_request **out)
{
    SP_CHECK(out, SP_VALUE, "sp_comm_start: out is NULL");
    SP_TRY(start(c, e, out));
    if (c->size > 1 && !sp_job_simulated())
        sp__background_wake(); /* without it, exchanges move on when one is waited for */
    return SP_OK;
}

enum { RANKS_TEXT = 200 };

static void add_rank(char *text, size_t *used, int rank)
{
    if (*used >= RANKS_TEXT) return;
    *used += (size_t)sp__snprintf(text + *used, RANKS_TEXT - *used, "%s%d", *used ? ", " : "", rank);
}

static sp_status too_late(const sp_request *r)
{
    const sp_comm *c = r->comm;
    char text[WORDS_TEXT], ranks[RANKS_TEXT] = "";
    size_t used = 0;
    int last = -1;
    for (int i = 0; i < r->n_ops; i++) {
        if (r->op_rank[i] < 0 || r->op_rank[i] == last) continue;
        last = r->op_rank[i];
        add_rank(ranks, &used, c->ranks[last]);
    }
    const bool known = used > 0; /* MPI's own collectives do not tell */
    for (int i = 0; i < c->size && !known; i++)
        if (i != c->rank) add_rank(ranks, &used, c->ranks[i]);
    return sp__fail(SP_RUNTIME, "rank %d has waited %lld s: %s. %s%s; SPORE_COMM_TIMEOUT sets the limit in seconds",
                    c->ranks[c->rank], (long long)((sp__clock_ns() - r->begun_ns) / 1000000000),
                    describe(&r->mine, text),
                    r->phase == 0 ? "Not come: rank "
                    : known       ? "It stalled while data were moved, with rank "
                                  : "All have come, and it stalled while data were moved: the network, or one of rank ",
                    ranks);
}

sp_status sp_request_test(sp_request *r, bool *done)
{
    SP_CHECK(r && done, SP_VALUE, "sp_request_test: the request or done is NULL");
    *done = advance(r);
    return SP_OK;
}

/* Between two questions: at first none, then the processor is offered to others, then a sleep. */
static void pause_between(int turn)
{
    if (turn > 20000) {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    } else if (turn > 200) {
        sched_yield();
    }
}

sp_status sp_request_wait(sp_request *r)
{
    SP_CHECK(r, SP_VALUE, "sp_request_wait: the request is NULL");
    const int64_t limit = sp__comm_timeout() * 1000000000;
    const bool alone = r->comm->size == 1 || advance(r);
    if (!alone) {
        r->begun_ns = sp__clock_ns(); /* what this rank computed meanwhile is no waiting */
        sp__background_pause();
    }
    for (int turn = 0; !advance(r); turn++) {
        pause_between(turn);
        if (turn % 256 != 255) continue;
        sp_status status = sp__interrupt_check();
        if (status == SP_OK && limit > 0 && sp__clock_ns() - r->begun_ns > limit) {
            status = too_late(r);
            r->noticed_by_all = true;
        }
        if (status != SP_OK) give_up(r, status);
    }
    if (!alone) sp__background_resume();
    const sp_status status = r->status;
    if (status != SP_OK) {
        if (r->noticed_by_all && !is_message(&r->e)) let_the_first_speak(r);
        sp_error_raise(&r->error);
    }
    if (r->n_ops == 0) request_free(r);
    return status;
}

sp_status sp_comm_run(sp_comm *c, const sp_exchange *e)
{
    int64_t bytes;
    SP_TRY(check_exchange(c, e, &bytes));
    if (c->size == 1 || sp_job_simulated()) {
        run_here(c, e, bytes);
        return SP_OK;
    }
    sp_request *r;
    SP_TRY(start(c, e, &r));
    return sp_request_wait(r);
}

/* --- operators --------------------------------------------------------------------------------------------------- */

sp_status sp__call_exchange(const sp_call *c, sp_comm *comm, const sp_exchange *e)
{
    return c->begun ? sp_comm_start(comm, e, c->begun) : sp_comm_run(comm, e);
}

/* A second for what is nearly over. Then nobody moves it on: its group is broken. */
static void drop(sp_request *r)
{
    enum { TURNS = 1000, TURN_NS = 1000000 };
    for (int turn = 0; turn < TURNS && !advance(r); turn++) nanosleep(&(struct timespec){.tv_nsec = TURN_NS}, NULL);
    if (!advance(r)) give_up(r, sp__fail(SP_RUNTIME, "the program that has begun it has failed"));
    if (r->n_ops == 0) request_free(r);
}

sp_status sp__call_await(sp_request **begun_here, bool give_it_up)
{
    sp_request *r = *begun_here;
    *begun_here = NULL;
    if (!r) return SP_OK;
    if (!give_it_up) return sp_request_wait(r);
    drop(r);
    return SP_OK;
}
