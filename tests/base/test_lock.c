/* SPDX-License-Identifier: Apache-2.0 */
/* test_lock.c - sections: fork waits for them, whoever is inside finishes, and a child finds every lock free and what it guards whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/lock.h"

#if defined(__SANITIZE_THREAD__)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
#endif

enum { FORKS = 200 };

static sp_lock outer = SP_LOCK_INIT, inner = SP_LOCK_INIT;
static int first, second; /* equal outside of the locks */
static atomic_bool stop;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int in_child(int (*body)(void))
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(20); /* one that waits for a lock is ended by this */
        _exit(body());
    }
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static void add_one(void *context, int64_t begin, int64_t end)
{
    (void)context;
    for (int64_t i = begin; i < end; i++) {
        sp__lock(&inner); /* from the pool, for one who is inside */
        second++;
        sp__unlock(&inner);
    }
}

static void *change(void *unused)
{
    while (!atomic_load(&stop)) {
        sp__lock(&outer);
        first += 64;
        sp__parallel_for(64, 4, add_one, NULL);
        sp__unlock(&outer);
    }
    return unused;
}

static int is_whole(void)
{
    sp__lock(&outer);
    sp__lock(&inner);
    const bool whole = first == second;
    sp__unlock(&inner);
    sp__unlock(&outer);
    return whole ? 0 : 1;
}

static void a_child_finds_locks_free_and_data_whole(void **unused)
{
    (void)unused;
    pthread_t threads[2];
    sp_threads_set(3);
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, change, NULL), 0);
    for (int i = 0; i < FORKS; i++) assert_int_equal(in_child(is_whole), 0);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(is_whole(), 0);
}

static sp_once once = SP_ONCE_INIT;
static atomic_int n_done;
static atomic_bool begun;

static void slowly(void)
{
    atomic_store(&begun, true);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    atomic_fetch_add(&n_done, 1);
}

static void *do_once(void *unused)
{
    sp__once(&once, slowly);
    return unused;
}

static int was_done_once(void)
{
    sp__once(&once, slowly);
    return atomic_load(&n_done) == 1 ? 0 : 1;
}

static void fork_waits_for_what_is_done_once(void **unused)
{
    (void)unused;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, do_once, NULL), 0);
    while (!atomic_load(&begun)) sched_yield();
    assert_int_equal(in_child(was_done_once), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static sp_cond turn;
static int whose;

static void *take_turns(void *unused)
{
    sp__lock(&outer);
    for (int i = 0; i < 1000; i++) {
        while (whose != 1) sp__cond_wait(&turn, &outer);
        whose = 0;
        sp__cond_signal(&turn);
    }
    sp__unlock(&outer);
    return unused;
}

static void conditions_wake_and_end(void **unused)
{
    (void)unused;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take_turns, NULL), 0);
    sp__lock(&outer);
    for (int i = 0; i < 1000; i++) {
        while (whose != 0) sp__cond_wait(&turn, &outer);
        whose = 1;
        sp__cond_broadcast(&turn);
    }
    sp__unlock(&outer);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sp__lock(&outer);
    const int64_t end = now_ns() + 20000000;
    while (sp__cond_wait_until(&turn, &outer, end)) {} /* it may wake for nothing */
    assert_true(now_ns() >= end);
    sp__unlock(&outer);
    assert_false(sp__section_inside());
}

static void *wait_for_ever(void *unused)
{
    sp__lock(&outer);
    while (!atomic_load(&stop)) sp__cond_wait(&turn, &outer);
    sp__unlock(&outer);
    return unused;
}

static void fork_does_not_wait_for_sleepers(void **unused)
{
    (void)unused;
    pthread_t thread;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
    for (int i = 0; i < 20; i++) assert_int_equal(in_child(is_whole), 0);
    sp__lock(&outer);
    atomic_store(&stop, true);
    sp__cond_broadcast(&turn);
    sp__unlock(&outer);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static int n_called;
static void count_call(void *context)
{
    (void)context;
    assert_false(sp__section_inside());
    n_called++;
}

static void calls_are_put_off_until_outside(void **unused)
{
    (void)unused;
    sp__section_after(count_call, NULL);
    assert_int_equal(n_called, 1);
    sp__lock(&outer);
    sp__lock(&inner);
    sp__section_after(count_call, NULL);
    sp__section_after(count_call, NULL);
    sp__unlock(&inner);
    assert_int_equal(n_called, 1);
    sp__unlock(&outer);
    assert_int_equal(n_called, 3);
}

static int uses_its_own_lock(void)
{
    const bool inside = sp__section_inside();
    sp__unlock(&outer);
    return inside && !sp__section_inside() ? is_whole() : 1;
}

static void who_forks_inside_keeps_his_locks(void **unused)
{
    (void)unused;
    sp__lock(&outer);
    const int code = in_child(uses_its_own_lock);
    assert_true(sp__section_inside());
    sp__unlock(&outer);
    assert_int_equal(code, 0);
    assert_int_equal(in_child(is_whole), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_finds_locks_free_and_data_whole),
        cmocka_unit_test(fork_waits_for_what_is_done_once),
        cmocka_unit_test(conditions_wake_and_end),
        cmocka_unit_test(fork_does_not_wait_for_sleepers),
        cmocka_unit_test(calls_are_put_off_until_outside),
        cmocka_unit_test(who_forks_inside_keeps_his_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
