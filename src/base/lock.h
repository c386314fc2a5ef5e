/* SPDX-License-Identifier: Apache-2.0 */
/* lock.h - locks, conditions and things done once, such that a child of fork finds none of them taken.
 *
 * A child has the thread that forked and no other: a lock held by another thread at that moment would stay locked there for ever, and what it
 * guards would stay half changed. So fork waits until no other thread is inside a section, and keeps all out until it is done. A section is
 * the time from taking the first sp_lock to giving back the last one, a function under sp__once, and what lies between sp__section_begin and
 * sp__section_end. Locks need not be known one by one, need no order for fork's sake, and none can be forgotten: scripts/check-source
 * lets nothing outside of this folder use those of the system.
 *
 * Rules
 *   1. Inside of a section nobody waits for what the forking thread may hold: no lock of others (an interpreter's, above all), no user's
 *      function that takes one. The poll for interruption is not asked there; sp__section_after puts off what must be called.
 *   2. Inside of a section nobody forks. (One who does gets his child, with his own locks in their state.)
 *   3. sp__cond_wait leaves the section, provided that its lock is the only one held.
 *   4. Threads of the pool that help a caller who is inside count as inside with him.
 *
 * It costs two atomic additions a section, on a cache line that few threads share. */
#ifndef SPORE_LOCK_H
#define SPORE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct sp_lock {
    pthread_mutex_t mutex;
} sp_lock;
#define SP_LOCK_INIT {PTHREAD_MUTEX_INITIALIZER}

void sp__lock_init(sp_lock *lock);
void sp__lock_destroy(sp_lock *lock);
void sp__lock(sp_lock *lock);
void sp__unlock(sp_lock *lock);

/* Zero is a condition nobody waits for. What it is about changes under the lock that is waited with. */
typedef struct sp_cond {
    _Atomic uint32_t turn, n_waiting;
} sp_cond;

void sp__cond_wait(sp_cond *cond, sp_lock *lock);
/* False: until_ns (of the monotonic clock) is past. */
bool sp__cond_wait_until(sp_cond *cond, sp_lock *lock, int64_t until_ns);
void sp__cond_signal(sp_cond *cond);    /* one of those who wait, at least */
void sp__cond_broadcast(sp_cond *cond); /* all of them */

typedef struct sp_once {
    atomic_bool done;
    pthread_once_t once;
} sp_once;
#define SP_ONCE_INIT {false, PTHREAD_ONCE_INIT}

void sp__once_now(sp_once *once, void (*fn)(void));
static inline void sp__once(sp_once *once, void (*fn)(void))
{
    if (!atomic_load_explicit(&once->done, memory_order_acquire)) sp__once_now(once, fn);
}

/* Around libraries that have locks of their own. May be nested. */
void sp__section_begin(void);
void sp__section_end(void);
bool sp__section_inside(void);
/* fn(context) now, or, inside of a section, as soon as this thread is outside. */
void sp__section_after(void (*fn)(void *context), void *context);

/* For the pool: this thread works for one who is inside, and does so no more. */
void sp__section_join(void);
void sp__section_part(void);

/* Called once, by the allocator when the library is loaded: whatever is linked of the library has that. */
void sp__fork_start(void);
/* What pool and allocator do around fork, called from here in one order: sections, pool, allocator; and back. */
void sp__threads_fork_prepare(void);
void sp__threads_fork_parent(void);
void sp__threads_fork_child(void);
void sp__memory_fork_prepare(void);
void sp__memory_fork_done(void);

#endif
