/* SPDX-License-Identifier: Apache-2.0 */
/* server_log.c - lines on their way to the program's log.
 *
 * Whoever has something to tell appends a line to a queue and goes on; one thread takes lines off it and calls the program's function, which
 * may take as long as it likes: a pipe that is not read, a disk that hangs. The queue has a limit of bytes, and what does not fit is dropped and counted.
 * Access lines are dropped first, so that there is room left for errors. How many were dropped is a line of its own, as soon as lines pass
 * again, and a figure at /metrics.
 *
 * The queue belongs to the server and to the thread, whoever lets go of it last: a function that does not return cannot keep the server from ending. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/plain.h"
#include "serve/serve_impl.h"

enum {
    QUEUE_BYTES = 1 << 20,   /* of lines that wait */
    ERROR_BYTES = 128 << 10, /* of these, for errors alone */
    TELL_EVERY_US = 1000000, /* what was dropped is told, at most */
    END_US = 1000000         /* without a line being written: the program's function is taken to hang */
};

typedef struct line {
    struct line *next;
    sp_log_kind kind;
    size_t bytes;
    char text[];
} line;

struct sp_log_queue {
    atomic_int refs;
    void (*write)(void *context, sp_log_kind kind, const char *line);
    void *context;
    bool json;
    pthread_t thread;
    atomic_ullong dropped[2];       /* [1]: access lines */
    atomic_bool telling, tell_lost; /* the line that is written is about dropped ones: its loss is no loss */
    sp_lock lock;                   /* of what follows */
    sp_cond changed;
    line *first, **end;
    size_t bytes;
    uint64_t written; /* lines that the function has returned from */
    bool ending, ended;
};

static void queue_release(sp_log_queue *q)
{
    if (q == NULL || atomic_fetch_sub_explicit(&q->refs, 1, memory_order_acq_rel) != 1) return;
    for (line *l = q->first, *next; l != NULL; l = next) {
        next = l->next;
        sp__free(l);
    }
    sp__lock_destroy(&q->lock);
    sp__free(q);
}

/* Lines that come within that are written together: waking a thread for each would take more of the processors than the lines do. */
static const struct timespec GATHER = {0, 5000000};

/* --- the thread ---------------------------------------------------------------------------------------------------- */

/* A line about dropped ones; false: it could not be written either. */
static bool tell(sp_log_queue *q, sp_log_kind kind, const char *text)
{
    atomic_store(&q->telling, true);
    atomic_store(&q->tell_lost, false);
    q->write(q->context, kind, text);
    atomic_store(&q->telling, false);
    return !atomic_load(&q->tell_lost);
}

/* How many dropped lines were told, where. */
typedef struct told {
    unsigned long long access, events, access_in_events;
} told;

/* Each log has its own losses told in it; those of access lines also among the errors, where whoever keeps the server looks. */
static void tell_dropped(sp_log_queue *q, told *t)
{
    static const char why[] = "they were not taken in time or could not be written";
    const unsigned long long access = atomic_load(&q->dropped[1]), events = atomic_load(&q->dropped[0]);
    char when[32], text[200];
    sp__log_time(when);
    if (q->json) snprintf(text, sizeof text, "{\"time\":\"%s\",\"dropped\":%llu}", when, access - t->access);
    else snprintf(text, sizeof text, "%s dropped %llu lines: %s", when, access - t->access, why);
    if (access > t->access && tell(q, SP_LOG_ACCESS, text)) t->access = access;
    snprintf(text, sizeof text, "%llu lines of the access log were dropped: %s", access - t->access_in_events, why);
    if (access > t->access_in_events && tell(q, SP_LOG_ERROR, text)) t->access_in_events = access;
    snprintf(text, sizeof text, "%llu lines of this log were dropped: %s", events - t->events, why);
    if (events > t->events && tell(q, SP_LOG_ERROR, text)) t->events = events;
}

static line *take(sp_log_queue *q, int64_t tell_us)
{
    while (q->first == NULL && !q->ending)
        if (!sp__cond_wait_until(&q->changed, &q->lock, tell_us * 1000)) break;
    line *l = q->first;
    if (l == NULL) return NULL;
    q->first = l->next;
    if (q->first == NULL) q->end = &q->first;
    q->bytes -= l->bytes;
    return l;
}

static void *write_lines(void *context)
{
    sp_log_queue *q = context;
    told so_far = {0};
    int64_t tell_us = sp__net_now_us() + TELL_EVERY_US;
    for (bool more = true; more;) {
        sp__lock(&q->lock);
        const bool idle = q->first == NULL && !q->ending;
        line *l = take(q, tell_us);
        const bool gather = idle && l != NULL && l->kind == SP_LOG_ACCESS && !q->ending;
        more = l != NULL || !q->ending;
        sp__unlock(&q->lock);
        if (l != NULL) q->write(q->context, l->kind, l->text);
        sp__free(l);
        if (gather) nanosleep(&GATHER, NULL);
        if (!more || sp__net_now_us() >= tell_us) {
            tell_dropped(q, &so_far);
            tell_us = sp__net_now_us() + TELL_EVERY_US;
        }
        sp__lock(&q->lock);
        q->written++;
        sp__unlock(&q->lock);
    }
    sp__lock(&q->lock);
    q->ended = true;
    sp__cond_broadcast(&q->changed);
    sp__unlock(&q->lock);
    queue_release(q);
    return NULL;
}

/* --- for the server ------------------------------------------------------------------------------------------------ */

sp_status sp__log_create(const sp_server_options *o, sp_log_queue **out)
{
    sp_log_queue *q = sp__alloc_zero(sizeof *q);
    sigset_t all, before;
    if (q == NULL) return SP_NOMEM;
    atomic_init(&q->refs, 2);
    q->write = o->log;
    q->context = o->log_context;
    q->json = o->access_json;
    q->end = &q->first;
    sp__lock_init(&q->lock);
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failure = pthread_create(&q->thread, NULL, write_lines, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        atomic_store(&q->refs, 1);
        queue_release(q);
        return sp__fail(SP_RUNTIME, "no thread for the log: %s", sp__strerror(failure));
    }
    *out = q;
    return SP_OK;
}

void sp__log_end(sp_log_queue *q)
{
    if (q == NULL) return;
    sp__lock(&q->lock);
    q->ending = true;
    sp__cond_broadcast(&q->changed);
    uint64_t seen = q->written;
    for (int64_t until_us = sp__net_now_us() + END_US; !q->ended;) {
        if (sp__cond_wait_until(&q->changed, &q->lock, until_us * 1000) || q->ended) continue;
        if (q->written == seen) break; /* it hangs, and is left behind */
        seen = q->written;
        until_us = sp__net_now_us() + END_US;
    }
    const bool ended = q->ended;
    sp__unlock(&q->lock);
    if (ended) pthread_join(q->thread, NULL);
    else pthread_detach(q->thread);
    queue_release(q);
}

unsigned long long sp__log_dropped(const sp_log_queue *q, bool access)
{
    return q != NULL ? atomic_load(&((sp_log_queue *)q)->dropped[access]) : 0;
}

static void append(sp_log_queue *q, sp_log_kind kind, const char *text)
{
    const size_t bytes = sizeof(line) + strlen(text) + 1;
    line *l = sp__alloc(bytes);
    sp__lock(&q->lock);
    const bool room = l != NULL && q->bytes + bytes <= QUEUE_BYTES - (kind == SP_LOG_ACCESS ? ERROR_BYTES : 0);
    if (room) {
        l->next = NULL;
        l->kind = kind;
        l->bytes = bytes;
        memcpy(l->text, text, bytes - sizeof(line));
        *q->end = l;
        q->end = &l->next;
        q->bytes += bytes;
        sp__cond_signal(&q->changed);
    }
    sp__unlock(&q->lock);
    if (room) return;
    atomic_fetch_add(&q->dropped[kind == SP_LOG_ACCESS], 1);
    sp__free(l);
}

void sp__server_log(struct sp_server *s, sp_log_kind kind, const char *format, ...)
{
    char text[4096];
    va_list args;
    if (s->log == NULL || (kind == SP_LOG_INFO && !atomic_load(&s->log_info)) ||
        (kind == SP_LOG_ERROR && !atomic_load(&s->log_error)))
        return; /* /v2/logging */
    va_start(args, format);
    sp__vsnprintf(text, sizeof text, format, args);
    va_end(args);
    append(s->log, kind, text);
}

void sp_server_log(sp_server *s, sp_log_kind kind, const char *text)
{
    if (s) sp__server_log(s, kind, "%s", text);
}

void sp_server_log_lost(sp_server *s, sp_log_kind kind)
{
    if (!s) return;
    if (s->log == NULL) return;
    if (atomic_load(&s->log->telling)) atomic_store(&s->log->tell_lost, true);
    else atomic_fetch_add(&s->log->dropped[kind == SP_LOG_ACCESS], 1);
}
