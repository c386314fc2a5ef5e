/* SPDX-License-Identifier: Apache-2.0 */
/* starve.h - run one piece of work while memory runs out.
 *
 * Each attempt is a process of its own, forked before the library did anything: from its n-th allocation on everything is refused,
 * for n = 1, 2, ... until the work no longer notices. Two ways to starve it:
 *   STARVE_ENGINE   sp__alloc refuses, what the engine asks for
 *   STARVE_LIBC     malloc and its like refuse, for the engine, the libraries it uses and the C library alike
 * An attempt holds when
 *   1. it ends, by itself: no signal, no wait for something that will not come
 *   2. the work succeeds with the right result, or fails with SP_NOMEM and a message that speaks of memory
 *   3. with memory back, in the same process, it succeeds with the right result: nothing stays broken
 *   4. it leaves behind no more (where nothing lives on) than a process that was never starved (and under AddressSanitizer nothing that is lost) */
#ifndef SPORE_TEST_STARVE_H
#define SPORE_TEST_STARVE_H

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fail.h"
#include "base/share.h"
#include "spore/spore.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STARVE_SANITIZED 1 /* malloc is the sanitizer's */
#else
#define STARVE_SANITIZED 0
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

typedef enum { STARVE_ENGINE, STARVE_LIBC } starve_way;
static const char *const starve_names[] = {"engine", "libc"};

/* A piece of work: makes everything it needs, releases everything, and adds what it computed to *digest. */
typedef struct {
    const char *name;
    sp_status (*run)(uint64_t *digest);
    sp_status (*before)(void); /* done in the process before it is starved; may be NULL */
    bool engine_alone;         /* not STARVE_LIBC: the library it uses crashes then */
} starve_work;

/* --- malloc that refuses ------------------------------------------------------------------------------------------ */

static _Atomic int64_t libc_countdown; /* allocations until they fail; below 0: they do; 0: off */
static _Atomic int64_t libc_failed;

#if !STARVE_SANITIZED
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

#pragma GCC visibility push(default) /* the libraries must find them */
static bool libc_refuses(void)
{
    int64_t n = atomic_load(&libc_countdown);
    while (n > 0)
        if (atomic_compare_exchange_weak(&libc_countdown, &n, n > 1 ? n - 1 : -1)) break;
    if (n != 1 && n >= 0) return false;
    atomic_fetch_add(&libc_failed, 1);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes) { return libc_refuses() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return libc_refuses() ? NULL : __libc_calloc(n, bytes); }
void *realloc(void *block, size_t bytes) { return bytes && libc_refuses() ? NULL : __libc_realloc(block, bytes); }
void *memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes) { return libc_refuses() ? NULL : __libc_memalign(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    void *block = memalign(alignment, bytes);
    if (block) *out = block;
    return block ? 0 : ENOMEM;
}
#pragma GCC visibility pop
#endif

static void starve_from(starve_way way, int64_t n)
{
    sp__alloc_fail_from(way == STARVE_ENGINE ? n : 0);
    atomic_store(&libc_failed, 0);
    atomic_store(&libc_countdown, way == STARVE_LIBC ? n : 0);
}

static uint64_t starve_end(starve_way way)
{
    const uint64_t failed = way == STARVE_ENGINE ? sp__alloc_failed() : (uint64_t)atomic_load(&libc_failed);
    starve_from(way, 0);
    return failed;
}

/* --- attempts ------------------------------------------------------------------------------------------------------ */

enum { ATTEMPT_FED = 1, ATTEMPT_FELT, ATTEMPT_FAILED };

/* What a child found, in memory shared with the parent. */
typedef struct {
    int outcome;
    uint64_t digest;
    size_t used_bytes;
    char text[1500];
} starve_report;

static starve_report *starve_shared;

static int starve_say(starve_report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int starve_say(starve_report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    return r->outcome = ATTEMPT_FAILED;
}

static bool speaks_of_memory(const char *message)
{
    return strstr(message, "memory") && !strstr(message, "damaged") && !strstr(message, "malformed");
}

static size_t used_now(void)
{
    sp_memory_stats stats;
    sp_memory_get(&stats);
    return stats.used_bytes;
}

/* In the child. n = 0: not starved, to learn what is right. */
static int starve_attempt(const starve_work *w, starve_way way, int64_t n, uint64_t right, size_t used, starve_report *r)
{
    char message[sizeof((sp_error *)0)->message] = "";
    uint64_t digest = 14695981039346656037u;
    if (w->before && w->before() != SP_OK) return starve_say(r, "cannot be prepared: %s", sp_error_message());
    starve_from(way, n);
    sp_status status = w->run(&digest);
    if (status != SP_OK) snprintf(message, sizeof message, "%s", sp_error_message());
    const uint64_t failed = starve_end(way);
    if (n == 0) {
        if (status != SP_OK) return starve_say(r, "fails without cause: %s", message);
        right = digest;
        used = SIZE_MAX;
    } else if (status != SP_OK && status != SP_NOMEM) {
        return starve_say(r, "status %s, not out of memory: %s", sp_status_text(status), message);
    } else if (status == SP_NOMEM && !speaks_of_memory(message)) {
        return starve_say(r, "the message does not speak of memory: %s", message);
    } else if (status == SP_OK && digest != right) {
        return starve_say(r, "succeeds with a wrong result");
    }
    digest = 14695981039346656037u;
    status = w->run(&digest);
    if (status != SP_OK) return starve_say(r, "with memory back: %s", sp_error_message());
    if (digest != right) return starve_say(r, "with memory back: a wrong result");
    r->used_bytes = used_now();
    if (r->used_bytes > used && !w->before) return starve_say(r, "%zu bytes are left behind", r->used_bytes - used);
#if defined(__SANITIZE_ADDRESS__)
    if (__lsan_do_recoverable_leak_check()) return starve_say(r, "leaks");
#endif
    r->digest = digest;
    return r->outcome = failed ? ATTEMPT_FELT : ATTEMPT_FED;
}

/* 0, or what ended the child. */
static int starve_fork(const starve_work *w, starve_way way, int64_t n, uint64_t right, size_t used)
{
    memset(starve_shared, 0, sizeof *starve_shared);
    const pid_t child = n && getenv("STARVE_HERE") ? 0 : fork(); /* for a debugger */
    if (child == 0) {
        alarm(STARVE_SANITIZED ? 60 : 20);
        starve_attempt(w, way, n, right, used, starve_shared);
        _exit(0);
    }
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) {}
    if (WIFSIGNALED(state)) starve_say(starve_shared, WTERMSIG(state) == SIGALRM ? "hangs" : "ends in signal %d", WTERMSIG(state));
    else if (WEXITSTATUS(state) != 0) starve_say(starve_shared, "ends with code %d", WEXITSTATUS(state));
    return starve_shared->outcome;
}

/* All attempts of one kind of work. every: each n, else some of the larger ones. Returns how many did not hold. */
static int starve(const starve_work *w, starve_way way, bool every, int64_t only)
{
    if (way == STARVE_LIBC && (STARVE_SANITIZED || w->engine_alone)) return 0;
    if (!starve_shared) starve_shared = mmap(NULL, sizeof *starve_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int n_failed = 0, n_attempts = 0, outcome = starve_fork(w, way, 0, 0, 0);
    const uint64_t right = starve_shared->digest;
    const size_t used = starve_shared->used_bytes;
    char first[sizeof starve_shared->text] = "";
    int64_t n = only ? only : 1, n_first = 0;
    if (outcome == ATTEMPT_FAILED) {
        n_failed++;
        memcpy(first, starve_shared->text, sizeof first);
    }
    while (outcome != ATTEMPT_FAILED || n_attempts > 0) {
        outcome = starve_fork(w, way, n, right, used);
        n_attempts++;
        if (outcome == ATTEMPT_FAILED) {
            if (only || getenv("STARVE_ALL")) printf("  %s: n = %" PRId64 ": %s\n", w->name, n, starve_shared->text);
            if (n_failed++ == 0) {
                n_first = n;
                memcpy(first, starve_shared->text, sizeof first);
            }
        }
        if (outcome == ATTEMPT_FED || only) break;
        n += every || n < 5 ? 1 : n / 3 * share(); /* quick: the first, then further and further apart */
        if (n > 2000000) break;
    }
    printf("%-22s %-6s %6d attempts, %5d failed", w->name, starve_names[way], n_attempts, n_failed);
    if (n_failed) printf("; n = %" PRId64 ": %s", n_first, first);
    printf("\n");
    fflush(stdout);
    return n_failed;
}

#endif
