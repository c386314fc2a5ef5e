/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c - sections, and fork that waits for them.
 *
 * A thread that enters a section first counts itself in, then looks whether somebody forks; who forks first says so, then looks at the counts.
 * One of the two sees the other. A thread that sees a fork counts itself out again and waits for it to be over. */
#include "base/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

enum { N_COUNTS = 64 };

typedef struct later {
    void (*fn)(void *context);
    void *context;
    struct later *next;
} later;

/* Of threads inside, spread over lines of the cache. */
static struct {
    _Alignas(64) atomic_int n;
} counts[N_COUNTS];
static atomic_uint n_threads; /* that have been inside so far */
static atomic_bool forking;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* held while somebody forks */

/* Read with every lock: the fixed offset of initial-exec saves a call in a shared library. */
static _Thread_local struct {
    int depth; /* of sections in sections */
    bool counted;
    atomic_int *count;
    later *first; /* what was put off */
} self __attribute__((tls_model("initial-exec")));

/* --- sections ---------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void count_find(void)
{
    self.count = &counts[atomic_fetch_add_explicit(&n_threads, 1, memory_order_relaxed) % N_COUNTS].n;
}

static __attribute__((noinline)) void wait_for_fork(void)
{
    atomic_fetch_sub(self.count, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

void sp__section_begin(void)
{
    if (self.depth++ > 0) return;
    if (__builtin_expect(!self.count, 0)) count_find();
    for (;;) {
        atomic_fetch_add(self.count, 1);
        if (__builtin_expect(!atomic_load(&forking), 1)) break;
        wait_for_fork();
    }
    self.counted = true;
}

static __attribute__((noinline)) void run_later(void)
{
    while (self.first) {
        later *l = self.first;
        self.first = l->next;
        l->fn(l->context);
        free(l);
    }
}

void sp__section_end(void)
{
    if (--self.depth > 0) return;
    self.counted = false;
    atomic_fetch_sub_explicit(self.count, 1, memory_order_release);
    if (__builtin_expect(self.first != NULL, 0)) run_later();
}

bool sp__section_inside(void) { return self.depth > 0; }

void sp__section_after(void (*fn)(void *context), void *context)
{
    /* By malloc: it may be the allocator that has nothing left. Without any memory the call cannot be put off. */
    later *l = self.depth > 0 ? malloc(sizeof *l) : NULL;
    if (!l) {
        fn(context);
        return;
    }
    *l = (later){fn, context, NULL};
    later **end = &self.first;
    while (*end) end = &(*end)->next;
    *end = l;
}

/* Whom it works for is counted until all who joined have parted. */
void sp__section_join(void) { self.depth++; }
void sp__section_part(void)
{
    if (--self.depth == 0 && self.first) run_later();
}

/* --- locks ------------------------------------------------------------------------------------------------------- */

void sp__lock_init(sp_lock *lock) { *lock = (sp_lock)SP_LOCK_INIT; }
void sp__lock_destroy(sp_lock *lock) { pthread_mutex_destroy(&lock->mutex); }

void sp__lock(sp_lock *lock)
{
    sp__section_begin();
    pthread_mutex_lock(&lock->mutex);
}

void sp__unlock(sp_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
    sp__section_end();
}

void sp__once_now(sp_once *once, void (*fn)(void))
{
    sp__section_begin();
    pthread_once(&once->once, fn);
    atomic_store_explicit(&once->done, true, memory_order_release);
    sp__section_end();
}

/* --- conditions -------------------------------------------------------------------------------------------------- */

/* Not the system's: theirs take the lock again before one could say that one is inside. */
static long futex(_Atomic uint32_t *word, int what, uint32_t value, const struct timespec *until)
{
#ifdef SYS_futex_time64 /* where the plain call has times of 32 bits */
    const long number = sizeof until->tv_sec > sizeof(long) ? SYS_futex_time64 : SYS_futex;
#else
    const long number = SYS_futex;
#endif
    return syscall(number, word, what | FUTEX_PRIVATE_FLAG, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

static bool sleep_until(sp_cond *cond, sp_lock *lock, const struct timespec *until)
{
    atomic_fetch_add(&cond->n_waiting, 1);
    const uint32_t turn = atomic_load(&cond->turn);
    sp__unlock(lock);
    const long answer = futex(&cond->turn, FUTEX_WAIT_BITSET, turn, until);
    const bool late = answer != 0 && errno == ETIMEDOUT;
    atomic_fetch_sub(&cond->n_waiting, 1);
    sp__lock(lock);
    return !late;
}

void sp__cond_wait(sp_cond *cond, sp_lock *lock) { sleep_until(cond, lock, NULL); }

bool sp__cond_wait_until(sp_cond *cond, sp_lock *lock, int64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    return sleep_until(cond, lock, &until);
}

static void wake(sp_cond *cond, uint32_t most)
{
    atomic_fetch_add(&cond->turn, 1);
    if (atomic_load(&cond->n_waiting)) futex(&cond->turn, FUTEX_WAKE, most, NULL);
}

void sp__cond_signal(sp_cond *cond) { wake(cond, 1); }
void sp__cond_broadcast(sp_cond *cond) { wake(cond, INT_MAX); }

/* --- fork -------------------------------------------------------------------------------------------------------- */

static int own_part(const atomic_int *count) { return self.counted && self.count == count; }

static void wait_for_sections(void)
{
    for (int i = 0; i < N_COUNTS; i++)
        while (atomic_load(&counts[i].n) != own_part(&counts[i].n)) nanosleep(&(struct timespec){0, 20000}, NULL);
}

static void fork_prepare(void)
{
    pthread_mutex_lock(&gate);
    atomic_store(&forking, true);
    wait_for_sections();
    sp__section_join(); /* handlers of others that run between these may use the library */
    sp__threads_fork_prepare();
    sp__memory_fork_prepare();
}

static void fork_end(void)
{
    atomic_store(&forking, false);
    pthread_mutex_unlock(&gate);
    sp__section_part();
}

static void fork_parent(void)
{
    sp__memory_fork_done();
    sp__threads_fork_parent();
    fork_end();
}

static void fork_child(void)
{
    sp__memory_fork_done();
    sp__threads_fork_child();
    /* Threads that were about to wait had counted themselves in; here they do not exist. */
    for (int i = 0; i < N_COUNTS; i++) atomic_store(&counts[i].n, own_part(&counts[i].n));
    fork_end();
}

void sp__fork_start(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }
