/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - the caching allocator: alignment, reuse, statistics, limits, faults, threads, fork.
 * What only a cache can show is left out under sanitizers, where blocks are not cached (unless SP_ALLOC_CACHE=1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/plain.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SP_ALLOC_CACHE
#if defined(SANITIZED)
#define SP_ALLOC_CACHE 0
#else
#define SP_ALLOC_CACHE 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
/* A child that ends has not joined the threads of its parent; the sanitizer would count them as leaks. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "report_thread_leaks=0"; }
#endif

static sp_memory_stats stats(void)
{
    sp_memory_stats s;
    sp_memory_get(&s);
    return s;
}

static void blocks_are_aligned_and_apart(void **unused)
{
    (void)unused;
    enum { N = 400 };
    static unsigned char *blocks[N];
    static size_t sizes[N];
    size_t size = 0;
    for (int i = 0; i < N; i++) {
        sizes[i] = size;
        blocks[i] = sp__alloc(size);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        memset(blocks[i], i & 255, size);
        size = i < 200 ? size + 7 : size + size / 20 + 1;
    }
    for (int i = 0; i < N; i++)
        for (size_t j = 0; j < sizes[i]; j += sizes[i] < 4096 ? 1 : 997) assert_int_equal(blocks[i][j], i & 255);
    for (int i = 0; i < N; i++) sp__free(blocks[i]);
    sp__free(NULL);
}

static void zeroed_blocks_are_zero_after_reuse(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {0, 1, 64, 100, 5000, 65536, 65537, 300000, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int round = 0; round < 3; round++) {
            unsigned char *p = sp__alloc_zero(sizes[i]);
            assert_non_null(p);
            for (size_t j = 0; j < sizes[i]; j++)
                if (p[j] != 0) fail_msg("byte %zu of %zu is %d", j, sizes[i], p[j]);
            memset(p, 0xFF, sizes[i]);
            sp__free(p);
        }
    }
}

static void realloc_keeps_contents(void **unused)
{
    (void)unused;
    size_t bytes = 1;
    unsigned char *p = sp__realloc(NULL, 0, bytes);
    assert_non_null(p);
    p[0] = 7;
    while (bytes < 3000000) {
        size_t more = bytes * 3;
        p = sp__realloc(p, bytes, more);
        assert_non_null(p);
        for (size_t i = 0; i < bytes; i++)
            if (p[i] != (unsigned char)(i * 31 + 7)) fail_msg("byte %zu of %zu is lost", i, bytes);
        for (size_t i = bytes; i < more; i++) p[i] = (unsigned char)(i * 31 + 7);
        bytes = more;
    }
    void *same = sp__realloc(p, bytes, bytes / 2);
    assert_ptr_equal(same, p);
    sp__alloc_fail_at(1);
    assert_null(sp__realloc(p, bytes, bytes * 4));
    assert_int_equal(p[bytes - 1], (unsigned char)((bytes - 1) * 31 + 7));
    sp__free(p);
}

static void strdup_copies(void **unused)
{
    (void)unused;
    char *copy = sp__strdup("spore");
    assert_non_null(copy);
    assert_string_equal(copy, "spore");
    sp__free(copy);
}

static void used_and_peak_follow_blocks(void **unused)
{
    (void)unused;
    sp_memory_reset_peak();
    sp_memory_stats before = stats();
    assert_int_equal(before.used_peak, before.used_bytes);
    assert_true(before.reserved_bytes >= before.used_bytes);

    void *small = sp__alloc(1000), *large = sp__alloc(10 << 20);
    sp_memory_stats with = stats();
    size_t grown = with.used_bytes - before.used_bytes;
    assert_in_range(grown, 1000 + (10 << 20), 1000 + (10 << 20) + 16384); /* headers and rounding */
    assert_int_equal(with.n_allocs, before.n_allocs + 2);
    assert_true(with.used_peak >= with.used_bytes);
    assert_true(with.reserved_bytes >= with.used_bytes);
    assert_true(with.reserved_peak >= with.reserved_bytes);

    sp__free(large);
    sp__free(small);
    sp_memory_stats after = stats();
    assert_int_equal(after.used_bytes, before.used_bytes);
    assert_in_range(after.used_peak, with.used_bytes - 65536, with.used_bytes + 65536);
    sp_memory_reset_peak();
    assert_int_equal(stats().used_peak, after.used_bytes);
}

static void trim_gives_everything_back(void **unused)
{
    (void)unused;
    sp_memory_stats before = stats();
    void *blocks[64];
    for (size_t i = 0; i < 64; i++) blocks[i] = sp__alloc(i * i * 100);
    for (size_t i = 0; i < 64; i++) sp__free(blocks[i]);
#if SP_ALLOC_CACHE
    assert_true(stats().reserved_bytes > stats().used_bytes);
#endif
    sp_memory_trim();
    assert_int_equal(stats().used_bytes, before.used_bytes);
    assert_int_equal(stats().reserved_bytes, before.used_bytes);
}

static void limit_refuses_and_says_so(void **unused)
{
    (void)unused;
    sp_memory_trim();
    size_t limit = stats().reserved_bytes + (8 << 20);
    sp_memory_set_limit(limit);
    void *a = sp__alloc(5 << 20);
    assert_non_null(a);
    void *b = sp__alloc(5 << 20);
    assert_null(b);
    char wanted[64];
    sp__snprintf(wanted, sizeof wanted, "the limit is %.2f MB", (double)limit / 1e6);
    assert_non_null(strstr(sp_error_message(), "out of memory: 5.24 MB asked"));
    assert_non_null(strstr(sp_error_message(), wanted));
    /* Freed and cached, `a` stands in the way of a larger block: it must be given back to make room. */
    sp__free(a);
    b = sp__alloc(7 << 20);
    assert_non_null(b);
    assert_true(stats().reserved_bytes <= limit);
    sp__free(b);
    sp_memory_set_limit(0);
    b = sp__alloc(20 << 20);
    assert_non_null(b);
    sp__free(b);
}

static void absurd_requests_fail_cleanly(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {
        SIZE_MAX,     SIZE_MAX - 63,    SIZE_MAX / 2,
#if SIZE_MAX > UINT32_MAX /* a quarter of 32 bits may well be there */
        SIZE_MAX / 4, SIZE_MAX / 4 + 1, (size_t)1 << 61, (size_t)1 << 47,
#endif
    };
    sp_memory_stats before = stats();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sp__fail(SP_VALUE, "old");
        assert_null(sp__alloc(sizes[i]));
        assert_non_null(strstr(sp_error_message(), "out of memory"));
        assert_null(sp__alloc_zero(sizes[i]));
    }
    assert_int_equal(stats().used_bytes, before.used_bytes);
    assert_true(stats().reserved_bytes <= before.reserved_bytes);
}

static void nth_allocation_fails_once(void **unused)
{
    (void)unused;
    for (int64_t n = 1; n <= 5; n++) {
        void *blocks[8];
        sp__alloc_fail_at(n);
        for (int i = 0; i < 8; i++) {
            blocks[i] = sp__alloc(i % 2 ? 100 : 1 << 20);
            assert_int_equal(blocks[i] == NULL, i == n - 1);
        }
        for (int i = 0; i < 8; i++) sp__free(blocks[i]);
    }
    sp__alloc_fail_at(1);
    sp__alloc_fail_at(0);
    void *p = sp__alloc(1);
    assert_non_null(p);
    sp__free(p);
}

#if SP_ALLOC_CACHE
static void freed_block_is_handed_out_again(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 64, 1000, 1025, 40000, 65536, 65537, 1 << 20, 5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *p = sp__alloc(sizes[i]);
        sp__free(p);
        uint64_t n_system = stats().n_system;
        void *q = sp__alloc(sizes[i]);
        assert_ptr_equal(p, q);
        assert_int_equal(stats().n_system, n_system);
        sp__free(q);
    }
}

/* The cache keeps 256 MB or what was in use at most; untouched pages cost nothing here. */
static void cache_is_bounded(void **unused)
{
    (void)unused;
    sp_memory_trim();
    sp_memory_reset_peak();
    for (size_t size = 20 << 20; size < (size_t)120 << 20; size += (size_t)16 << 20) sp__free(sp__alloc(size));
    sp_memory_stats s = stats();
    assert_true(s.used_peak < (size_t)256 << 20);
    assert_in_range(s.reserved_bytes - s.used_bytes, 1, (size_t)260 << 20);
    sp_memory_trim();
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* One turn of a loop as training does it: many sizes alive together, freed in another order. */
static void one_turn(void)
{
    static const size_t sizes[] = {8, 64, 4096, 100, 70000, 1 << 20, 3 << 20, 40000, 256, 9 << 20, 12345, 131072};
    enum { N = sizeof sizes / sizeof *sizes };
    unsigned char *blocks[N * 3];
    for (int i = 0; i < N * 3; i++) {
        size_t size = sizes[i % N];
        blocks[i] = sp__alloc(size);
        for (size_t j = 0; j < size; j += 4096) blocks[i][j] = 1;
        blocks[i][size - 1] = 1;
    }
    for (int i = 0; i < N * 3; i++) sp__free(blocks[(i * 7) % (N * 3)]);
}

static void steady_loop_neither_maps_nor_faults(void **unused)
{
    (void)unused;
#if defined(SANITIZED)
    skip(); /* shadow memory faults on its own */
#endif
    for (int i = 0; i < 20; i++) one_turn();
    long faults_before = faults();
    uint64_t system_before = stats().n_system;
    for (int i = 0; i < 1000; i++) one_turn();
    assert_int_equal(stats().n_system, system_before);
    /* The kernel may still rearrange a page or two into huge ones. */
    assert_in_range(faults() - faults_before, 0, 10);
}
#endif

/* --- threads ----------------------------------------------------------------------------------------------------- */

enum { QUEUE = 64, N_PASSED = 20000 };
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned char *blocks[QUEUE];
    size_t sizes[QUEUE];
    int n_in, n_out;
    bool damaged;
} queue;

static size_t size_of_turn(int i) { return (size_t)(i % 97) * (size_t)(i % 13) * 61 + 1; }

static void *produce(void *argument)
{
    queue *q = argument;
    for (int i = 0; i < N_PASSED; i++) {
        size_t size = size_of_turn(i);
        unsigned char *p = sp__alloc(size);
        p[0] = p[size - 1] = (unsigned char)i;
        pthread_mutex_lock(&q->lock);
        while (q->n_in - q->n_out == QUEUE) pthread_cond_wait(&q->changed, &q->lock);
        q->blocks[q->n_in % QUEUE] = p;
        q->sizes[q->n_in++ % QUEUE] = size;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
    }
    return NULL;
}

static void *consume(void *argument)
{
    queue *q = argument;
    for (int i = 0; i < N_PASSED; i++) {
        pthread_mutex_lock(&q->lock);
        while (q->n_in == q->n_out) pthread_cond_wait(&q->changed, &q->lock);
        unsigned char *p = q->blocks[q->n_out % QUEUE];
        size_t size = q->sizes[q->n_out++ % QUEUE];
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
        if (p[0] != (unsigned char)i || p[size - 1] != (unsigned char)i) q->damaged = true;
        sp__free(p);
    }
    return NULL;
}

static void blocks_may_be_freed_by_another_thread(void **unused)
{
    (void)unused;
    sp_memory_trim();
    sp_memory_stats before = stats();
    static queue q = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t threads[2];
    assert_int_equal(pthread_create(&threads[0], NULL, produce, &q), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, consume, &q), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(q.damaged);
    sp_memory_stats after = stats();
    assert_int_equal(after.used_bytes, before.used_bytes);
    assert_int_equal(after.n_allocs, before.n_allocs + N_PASSED);
#if SP_ALLOC_CACHE
    assert_true(after.n_system - before.n_system < N_PASSED / 4);
#endif
    /* Both threads have ended, so nothing may be stuck in lists of theirs. */
    sp_memory_trim();
    assert_int_equal(stats().reserved_bytes, stats().used_bytes);
}

static void *churn(void *seed)
{
    uint32_t random = (uint32_t)(uintptr_t)seed;
    unsigned char *held[40] = {NULL};
    for (int i = 0; i < 30000; i++) {
        random = random * 1664525u + 1013904223u;
        unsigned slot = (random >> 8) % 40;
        sp__free(held[slot]);
        size_t size = (random >> 16) % (i % 50 == 0 ? 200000 : 3000) + 1;
        held[slot] = sp__alloc(size);
        held[slot][size - 1] = 1;
    }
    for (int i = 0; i < 40; i++) sp__free(held[i]);
    return NULL;
}

static void many_threads_at_once(void **unused)
{
    (void)unused;
    size_t before = stats().used_bytes;
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < 20; i++) {
        sp_memory_trim();
        stats();
        usleep(1000);
    }
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(stats().used_bytes, before);
}

static atomic_bool stop_holding;

/* Large blocks go through the shared lists: the lock is held most of the time. */
static void *hold_the_lock(void *unused)
{
    while (!atomic_load(&stop_holding)) sp__free(sp__alloc(100000));
    return unused;
}

/* Fork while others hold and release the allocator's lock: a child must never find it locked. */
static void child_allocates_after_fork(void **unused)
{
    (void)unused;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* gcc 12's address sanitizer does not hold its own allocator's lock over a fork: now and then the child waits for it for ever */
#endif
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, hold_the_lock, NULL), 0);
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            alarm(20); /* a deadlock ends the child with a signal */
            for (size_t size = 1; size < 3000000; size = size * 2 + 1) {
                unsigned char *p = sp__alloc(size);
                if (p == NULL) _exit(1);
                memset(p, 1, size);
                sp__free(p);
            }
            sp_memory_trim();
            _exit(0);
        }
        int result;
        assert_int_equal(waitpid(pid, &result, 0), pid);
        assert_true(WIFEXITED(result));
        assert_int_equal(WEXITSTATUS(result), 0);
    }
    atomic_store(&stop_holding, true);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(zeroed_blocks_are_zero_after_reuse),
        cmocka_unit_test(realloc_keeps_contents),
        cmocka_unit_test(strdup_copies),
        cmocka_unit_test(used_and_peak_follow_blocks),
        cmocka_unit_test(trim_gives_everything_back),
        cmocka_unit_test(limit_refuses_and_says_so),
        cmocka_unit_test(absurd_requests_fail_cleanly),
        cmocka_unit_test(nth_allocation_fails_once),
#if SP_ALLOC_CACHE
        cmocka_unit_test(freed_block_is_handed_out_again),
        cmocka_unit_test(cache_is_bounded),
        cmocka_unit_test(steady_loop_neither_maps_nor_faults),
#endif
        cmocka_unit_test(blocks_may_be_freed_by_another_thread),
        cmocka_unit_test(many_threads_at_once),
        cmocka_unit_test(child_allocates_after_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
