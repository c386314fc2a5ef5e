/* SPDX-License-Identifier: Apache-2.0 */
/* background.c - the thread that moves exchanges on while the program computes.
 *
 * There is one from the first exchange that is begun and not waited for at once until the job is left. It sleeps while none is going on, and
 * while somebody waits for one: who waits asks more often. It asks at first every few microseconds, then less and less often: on a
 * machine where every processor computes, the thread takes its time from the ranks. */
#include <signal.h>
#include <time.h>

#include "base/fail.h"
#include "base/profile.h"
#include "parallel/parallel_impl.h"

enum { SLEEP_LEAST_NS = 20000, SLEEP_MOST_NS = 500000, RECORDS = 256 };

typedef struct {
    const char *name;
    int64_t begin, end;
} record;

static sp_lock lock = SP_LOCK_INIT; /* of all that follows */
static sp_cond wake;
static pthread_t thread;
static bool running, ending;
static uint64_t n_wakes, n_done; /* exchanges that were begun; those of them that are known to be over */
static int n_waiting;
static record records[RECORDS]; /* of exchanges that are done and not yet in the recording */
static int n_records;
static int64_t last_end;

/* Exchanges may go on side by side; events of a thread do not: each begins where the one before ended, at the earliest. */
static void flush(void)
{
    for (int i = 0; i < n_records; i++) {
        record *r = &records[i];
        if (r->begin < last_end) r->begin = last_end;
        if (r->end <= r->begin) continue;
        sp_profile_add(SP_PROFILE_EXCHANGE, r->name, r->begin, r->end);
        last_end = r->end;
    }
    n_records = 0;
}

static bool has_work(void) { return n_done != n_wakes && n_waiting == 0; }

static void *run(void *unused)
{
    (void)unused;
    long sleep_ns = SLEEP_LEAST_NS;
    sp__lock(&lock);
    while (!ending) {
        flush();
        if (!has_work()) {
            sp__cond_wait(&wake, &lock);
            continue;
        }
        const uint64_t seen = n_wakes;
        int n_left = 0;
        sp__unlock(&lock);
        const bool moved = sp__exchanges_move(&n_left);
        sleep_ns = moved ? SLEEP_LEAST_NS : sleep_ns < SLEEP_MOST_NS ? sleep_ns + sleep_ns / 8 : SLEEP_MOST_NS;
        if (n_left > 0) nanosleep(&(struct timespec){.tv_nsec = sleep_ns}, NULL);
        sp__lock(&lock);
        if (n_left == 0) n_done = seen;
    }
    flush();
    sp__unlock(&lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static int create(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failure = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

sp_status sp__background_wake(void)
{
    int failure = 0;
    sp__lock(&lock);
    n_wakes++;
    if (!running && !ending) {
        failure = create();
        running = failure == 0;
    }
    sp__cond_signal(&wake);
    sp__unlock(&lock);
    return failure ? sp__fail_thread(failure, "exchanges in the background") : SP_OK;
}

void sp__background_pause(void)
{
    sp__lock(&lock);
    n_waiting++;
    sp__unlock(&lock);
}

void sp__background_resume(void)
{
    sp__lock(&lock);
    n_waiting--;
    if (has_work()) sp__cond_signal(&wake);
    sp__unlock(&lock);
}

void sp__background_record(const char *name, int64_t begin_ns, int64_t end_ns)
{
    sp__lock(&lock);
    if (running && n_records < RECORDS) records[n_records++] = (record){name, begin_ns, end_ns};
    sp__cond_signal(&wake);
    sp__unlock(&lock);
}

void sp__background_end(void)
{
    sp__lock(&lock);
    const bool had = running;
    ending = true;
    running = false;
    sp__cond_broadcast(&wake);
    sp__unlock(&lock);
    if (had) pthread_join(thread, NULL);
}
