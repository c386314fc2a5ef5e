/* SPDX-License-Identifier: Apache-2.0 */
/* test_threads.c - the pool covers each range exactly once, whoever calls it, from wherever, and can be interrupted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "base/base.h"

#if defined(__SANITIZE_THREAD__)
/* The child of a process with threads starts threads of its own here; the sanitizer would end it for that. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
#endif

typedef struct {
    int64_t n, grain;
    unsigned char *seen; /* plain bytes: a range handed out twice is a data race, or a count of two */
    atomic_int wrong;
} cover;

static void cover_range(void *context, int64_t begin, int64_t end)
{
    cover *c = context;
    int64_t wanted_end = c->n - begin > c->grain ? begin + c->grain : c->n;
    if (begin % c->grain != 0 || end != wanted_end) atomic_fetch_add(&c->wrong, 1);
    for (int64_t i = begin; i < end; i++) c->seen[i]++;
}

static bool covers_once(int64_t n, int64_t grain)
{
    cover c = {.n = n, .grain = grain, .seen = calloc((size_t)n + 1, 1)};
    bool ok = c.seen != NULL && sp__parallel_for(n, grain, cover_range, &c) == SP_OK && atomic_load(&c.wrong) == 0;
    for (int64_t i = 0; ok && i < n; i++) ok = c.seen[i] == 1;
    free(c.seen);
    return ok;
}

static const int64_t ns[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 1000, 1023, 4097};
static const int64_t grains[] = {1, 2, 3, 7, 16, 64, 1000, 5000, INT64_MAX};
enum { N_NS = sizeof ns / sizeof *ns, N_GRAINS = sizeof grains / sizeof *grains };

static bool covers_all(void)
{
    for (int i = 0; i < N_NS; i++)
        for (int j = 0; j < N_GRAINS; j++)
            if (!covers_once(ns[i], grains[j])) return false;
    return true;
}

static void every_index_exactly_once(void **unused)
{
    (void)unused;
    for (int threads = 1; threads <= 8; threads++) {
        assert_int_equal(sp_threads_set(threads), SP_OK);
        assert_int_equal(sp_threads(), threads);
        assert_true(covers_all());
    }
}

static void many_short_jobs_in_a_row(void **unused)
{
    (void)unused;
    for (int threads = 2; threads <= 3; threads++) {
        sp_threads_set(threads);
        for (int i = 0; i < 3000; i++) assert_true(covers_once(10, 1 + i % 4));
    }
}

typedef struct {
    int n_calls;
    int64_t begin, end;
    pthread_t thread;
} single;

static void note_call(void *context, int64_t begin, int64_t end)
{
    *(single *)context = (single){((single *)context)->n_calls + 1, begin, end, pthread_self()};
}

static void one_chunk_runs_on_the_caller(void **unused)
{
    (void)unused;
    sp_threads_set(4);
    single s = {0};
    assert_int_equal(sp__parallel_for(5, 5, note_call, &s), SP_OK);
    assert_true(s.n_calls == 1 && s.begin == 0 && s.end == 5 && pthread_equal(s.thread, pthread_self()));
    assert_int_equal(sp__parallel_for(0, 5, note_call, &s), SP_OK);
    assert_int_equal(sp__parallel_for(-3, 5, note_call, &s), SP_OK);
    assert_int_equal(s.n_calls, 1);
    assert_int_equal(sp__parallel_for(1, 0, note_call, &s), SP_OK); /* a grain below one counts as one */
    assert_true(s.n_calls == 2 && s.begin == 0 && s.end == 1);
}

enum { SUM_N = 100000, SUM_GRAIN = 1024, SUM_PARTS = (SUM_N + SUM_GRAIN - 1) / SUM_GRAIN };

static void sum_range(void *context, int64_t begin, int64_t end)
{
    float *parts = context;
    float sum = 0;
    for (int64_t i = begin; i < end; i++) sum += 1.0f / (float)(i + 1);
    parts[begin / SUM_GRAIN] = sum;
}

static void sums_do_not_depend_on_threads(void **unused)
{
    (void)unused;
    static float first[SUM_PARTS], parts[SUM_PARTS];
    for (int threads = 1; threads <= 6; threads++) {
        sp_threads_set(threads);
        assert_int_equal(sp__parallel_for(SUM_N, SUM_GRAIN, sum_range, threads == 1 ? first : parts), SP_OK);
        if (threads > 1) assert_memory_equal(first, parts, sizeof first);
    }
}

static void nested_range(void *context, int64_t begin, int64_t end)
{
    atomic_int *bad = context;
    for (int64_t i = begin; i < end; i++)
        if (!covers_once(100 + i, 7)) atomic_fetch_add(bad, 1);
}

static void nested_calls_work(void **unused)
{
    (void)unused;
    for (int threads = 1; threads <= 4; threads++) {
        sp_threads_set(threads);
        atomic_int bad = 0;
        assert_int_equal(sp__parallel_for(50, 1, nested_range, &bad), SP_OK);
        assert_int_equal(atomic_load(&bad), 0);
    }
}

/* Counts in *n_wrong the ranges that were not covered once. */
static void *call_often(void *n_wrong)
{
    for (int i = 0; i < 500; i++)
        if (!covers_once(300 + i, 16)) atomic_fetch_add((atomic_int *)n_wrong, 1);
    return NULL;
}

static void concurrent_callers(void **unused)
{
    (void)unused;
    sp_threads_set(3);
    pthread_t threads[4];
    atomic_int n_wrong = 0;
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, call_often, &n_wrong), 0);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&n_wrong), 0);
}

static void count_is_checked(void **unused)
{
    (void)unused;
    sp_threads_set(2);
    assert_int_equal(sp_threads_set(0), SP_VALUE);
    assert_string_equal(sp_error_message(), "number of threads is 0, wanted 1 to 1024");
    assert_int_equal(sp_threads_set(-1), SP_VALUE);
    assert_int_equal(sp_threads_set(1025), SP_VALUE);
    assert_int_equal(sp_threads(), 2);
    assert_int_equal(sp_threads_set(1024), SP_OK);
    sp_threads_set(2);
}

/* --- other threads really take part ------------------------------------------------------------------------------ */

typedef struct {
    atomic_int n_arrived;
    int n_wanted;
} meeting;

/* Returns only when all chunks run at the same time, each on a thread of its own, or after ten seconds. */
static void meet(void *context, int64_t begin, int64_t end)
{
    meeting *m = context;
    (void)begin, (void)end;
    atomic_fetch_add(&m->n_arrived, 1);
    for (int i = 0; i < 10000 && atomic_load(&m->n_arrived) < m->n_wanted; i++) usleep(1000);
}

static void chunks_run_at_the_same_time(void **unused)
{
    (void)unused;
    for (int threads = 2; threads <= 5; threads++) {
        sp_threads_set(threads);
        meeting m = {.n_wanted = threads};
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        assert_int_equal(sp__parallel_for(threads, 1, meet, &m), SP_OK);
        clock_gettime(CLOCK_MONOTONIC, &after);
        assert_true(after.tv_sec - before.tv_sec < 9);
    }
}

static void idle_pool_uses_no_cpu(void **unused)
{
    (void)unused;
    sp_threads_set(4);
    assert_true(covers_once(1000, 1));
    usleep(20000); /* they look around for some microseconds before they sleep */
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    usleep(300000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t ns_used = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    assert_in_range(ns_used, 0, 30000000);
}

/* --- interruption ------------------------------------------------------------------------------------------------ */

static atomic_int n_polls, polls_from_others;
static atomic_bool want_stop;
static pthread_t polling_thread;

static bool poll(void)
{
    atomic_fetch_add(&n_polls, 1);
    if (!pthread_equal(pthread_self(), polling_thread)) atomic_fetch_add(&polls_from_others, 1);
    return atomic_load(&want_stop);
}

static void sleep_chunk(void *context, int64_t begin, int64_t end)
{
    atomic_fetch_add((atomic_int *)context, (int)(end - begin));
    usleep(2000);
}

static void poll_ends_a_long_operator(void **unused)
{
    (void)unused;
    polling_thread = pthread_self();
    for (int threads = 1; threads <= 3; threads++) {
        sp_threads_set(threads);
        sp_interrupt_set_poll(poll);
        atomic_int done = 0;
        atomic_store(&want_stop, true);
        assert_int_equal(sp__parallel_for(5000, 1, sleep_chunk, &done), SP_INTERRUPTED);
        assert_non_null(strstr(sp_error_message(), "interrupted"));
        int when_returned = atomic_load(&done);
        assert_in_range(when_returned, 1, 1000);
        usleep(10000);
        assert_int_equal(atomic_load(&done), when_returned); /* nobody works on after the return */

        /* The pool is as good as new. */
        atomic_store(&want_stop, false);
        assert_true(covers_once(5000, 3));
        sp_interrupt_set_poll(NULL);
    }
}

static void poll_is_rare_and_by_the_caller_only(void **unused)
{
    (void)unused;
    polling_thread = pthread_self();
    sp_threads_set(3);
    atomic_store(&want_stop, false);
    atomic_store(&n_polls, 0);
    atomic_store(&polls_from_others, 0);
    sp_interrupt_set_poll(poll);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    atomic_int done = 0, bad = 0;
    assert_int_equal(sp__parallel_for(100, 1, sleep_chunk, &done), SP_OK);
    assert_int_equal(sp__parallel_for(100, 1, nested_range, &bad), SP_OK);
    clock_gettime(CLOCK_MONOTONIC, &after);
    sp_interrupt_set_poll(NULL);
    int64_t ms = (int64_t)(after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    assert_int_equal(atomic_load(&done), 100);
    assert_int_equal(atomic_load(&polls_from_others), 0);
    assert_in_range(atomic_load(&n_polls), 1, ms / 5 + 2);
}

/* --- processes --------------------------------------------------------------------------------------------------- */

static int in_child(int (*body)(const char *), const char *argument)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60); /* a deadlock ends the child with a signal */
        _exit(body(argument));
    }
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static int use_pool(const char *unused)
{
    (void)unused;
    meeting m = {.n_wanted = 3};
    time_t before = time(NULL);
    if (sp__parallel_for(3, 1, meet, &m) != SP_OK) return 1;
    if (time(NULL) - before > 8) return 2; /* the child has no workers */
    return covers_all() ? 0 : 3;
}

static void child_has_its_own_workers(void **unused)
{
    (void)unused;
    sp_threads_set(3);
    for (int i = 0; i < 5; i++) {
        assert_true(covers_once(1000, 1));
        assert_int_equal(in_child(use_pool, NULL), 0);
        assert_true(covers_once(1000, 1));
    }
}

/* The pool is busy with another thread's job at the moment of the fork; that job does not exist in the child. */
static void child_of_a_busy_pool(void **unused)
{
    (void)unused;
    sp_threads_set(3);
    pthread_t other;
    atomic_int n_wrong = 0;
    assert_int_equal(pthread_create(&other, NULL, call_often, &n_wrong), 0);
    for (int i = 0; i < 5; i++) assert_int_equal(in_child(use_pool, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(atomic_load(&n_wrong), 0);
}

/* The number a new process chooses with these variables, NULL: unset. */
static int threads_with(const char *omp, const char *spore)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (omp == NULL) unsetenv("OMP_NUM_THREADS");
        else setenv("OMP_NUM_THREADS", omp, 1);
        if (spore == NULL) unsetenv("SPORE_NUM_THREADS");
        else setenv("SPORE_NUM_THREADS", spore, 1);
        start_again("print");
        _exit(255);
    }
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static void environment_chooses_the_count(void **unused)
{
    (void)unused;
    int plain = threads_with(NULL, NULL);
    assert_in_range(plain, 1, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(threads_with("3", NULL), 3);
    assert_int_equal(threads_with("5,2", NULL), 5);
    assert_int_equal(threads_with("3", "7"), 7);
    assert_int_equal(threads_with(NULL, "1"), 1);
    assert_int_equal(threads_with("0", NULL), plain);
    assert_int_equal(threads_with("many", "-4"), plain);
    assert_int_equal(threads_with("3", ""), 3);
}

/* --- how many threads work, in a process that is restricted before it starts --------------------------------------- */

static _Thread_local bool counted;
static void count_me(void *context, int64_t begin, int64_t end)
{
    (void)begin, (void)end;
    if (!counted) atomic_fetch_add((atomic_int *)context, 1);
    counted = true;
    usleep(500); /* long enough for everybody to come */
}

/* Different threads that took part in some jobs. */
static int threads_at_work(void)
{
    atomic_int n = 0;
    for (int i = 0; i < 5; i++)
        if (sp__parallel_for(64, 1, count_me, &n) != SP_OK) return 200;
    return atomic_load(&n);
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    if (file == NULL) return false;
    bool ok = fputs(text, file) >= 0;
    return fclose(file) == 0 && ok;
}

/* A group whose quota is one processor, with this process in it. Its folder, to be removed later, is written to `folder`. */
static bool join_quota(char *folder, size_t bytes)
{
    static const struct {
        const char *mount, *file, *text;
    } versions[] = {{"/sys/fs/cgroup", "cpu.max", "100000 100000"},
                    {"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000"}};
    for (int v = 0; v < 2; v++) {
        char path[256];
        snprintf(folder, bytes, "%s/spore-test-%d", versions[v].mount, (int)getppid());
        snprintf(path, sizeof path, "%s/%s", folder, versions[v].file);
        if (mkdir(folder, 0755) != 0) continue;
        bool set = access(path, W_OK) == 0 && write_text(path, versions[v].text);
        snprintf(path, sizeof path, "%s/cgroup.procs", folder);
        if (set && write_text(path, "0")) return true;
        rmdir(folder);
    }
    return false;
}

/* Where groups may not be made: a name space in which the files say so. */
static bool pretend_quota(void)
{
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/sys/fs/cgroup", "tmpfs", 0, NULL) != 0)
        return false;
    mkdir("/sys/fs/cgroup/cpu", 0755);
    return write_text("/sys/fs/cgroup/cpu.max", "100000 100000\n") &&
           write_text("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n") &&
           write_text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
}

typedef enum { FREE, ONE_BY_VARIABLE, ONE_BY_MASK, ONE_BY_QUOTA, ONE_BY_FILES } restriction;
enum { NOT_ALLOWED = 201 };

static int at_work_under(restriction how)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char folder[128];
        unsetenv("SPORE_NUM_THREADS");
        unsetenv("OMP_NUM_THREADS");
        if (how == ONE_BY_VARIABLE) setenv("OMP_NUM_THREADS", "1", 1);
        if (how == ONE_BY_MASK) {
            cpu_set_t all, one;
            if (sched_getaffinity(0, sizeof all, &all) != 0) _exit(NOT_ALLOWED);
            int last = 0;
            for (int i = 0; i < CPU_SETSIZE; i++)
                if (CPU_ISSET(i, &all)) last = i;
            CPU_ZERO(&one);
            CPU_SET(last, &one);
            if (sched_setaffinity(0, sizeof one, &one) != 0) _exit(NOT_ALLOWED);
        }
        if (how == ONE_BY_QUOTA && !join_quota(folder, sizeof folder)) _exit(NOT_ALLOWED);
        if (how == ONE_BY_FILES && !pretend_quota()) _exit(NOT_ALLOWED);
        start_again("work");
        _exit(255);
    }
    int result;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    char folder[128];
    snprintf(folder, sizeof folder, "/sys/fs/cgroup/spore-test-%d", (int)getpid());
    rmdir(folder);
    snprintf(folder, sizeof folder, "/sys/fs/cgroup/cpu/spore-test-%d", (int)getpid());
    rmdir(folder);
    return WEXITSTATUS(result);
}

static void one_worker_where_one_is_granted(void **unused)
{
    (void)unused;
    int plain = at_work_under(FREE);
    assert_in_range(plain, 1, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(at_work_under(ONE_BY_VARIABLE), 1);
    assert_int_equal(at_work_under(ONE_BY_MASK), 1);
    for (restriction how = ONE_BY_QUOTA; how <= ONE_BY_FILES; how++) {
        int n = at_work_under(how);
        if (n == NOT_ALLOWED)
            print_message("%s: not allowed here\n", how == ONE_BY_QUOTA ? "a control group" : "a name space");
        else assert_int_equal(n, 1);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) return sp_threads();
    if (argc == 2 && strcmp(argv[1], "work") == 0) return threads_at_work();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_chooses_the_count),
        cmocka_unit_test(one_worker_where_one_is_granted),
        cmocka_unit_test(count_is_checked),
        cmocka_unit_test(every_index_exactly_once),
        cmocka_unit_test(many_short_jobs_in_a_row),
        cmocka_unit_test(one_chunk_runs_on_the_caller),
        cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(nested_calls_work),
        cmocka_unit_test(concurrent_callers),
        cmocka_unit_test(chunks_run_at_the_same_time),
        cmocka_unit_test(idle_pool_uses_no_cpu),
        cmocka_unit_test(poll_ends_a_long_operator),
        cmocka_unit_test(poll_is_rare_and_by_the_caller_only),
        cmocka_unit_test(child_has_its_own_workers),
        cmocka_unit_test(child_of_a_busy_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
