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
 *   4. it leaves behind no more (where nothing lives on) than a process that was never starved: bytes of the engine, blocks of malloc, files
 *      (and under AddressSanitizer nothing that is lost) */
#ifndef SPORE_TEST_STARVE_H
#define SPORE_TEST_STARVE_H

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fail.h"
#include "base/share.h"
#include "spore/spore.h"

/* Whose malloc is behind ours; ThreadSanitizer keeps its own to itself. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define STARVE_SANITIZED 1
#define BEHIND(name) __interceptor_##name
#elif defined(__SANITIZE_THREAD__)
#define STARVE_SANITIZED 1
#else
#define STARVE_SANITIZED 0
#define BEHIND(name) __libc_##name
#endif

typedef enum { STARVE_ENGINE, STARVE_LIBC } starve_way;
static const char *const starve_names[] = {"engine", "libc"};

/* What malloc that refuses cannot be asked of a piece of work. */
typedef enum {
    STARVE_BOTH,           /* nothing: both ways */
    STARVE_ENGINE_ALONE,   /* the library it uses crashes then */
    STARVE_STARTS_THREADS, /* under AddressSanitizer, which ends the process when a new thread's own allocation fails */
    STARVE_USES_OPENSSL /* its leaks: OpenSSL loses blocks once when its start fails, as starve_again tells from ours */
} starve_limits;

/* A piece of work: makes everything it needs, releases everything, and adds what it computed to *digest. */
typedef struct {
    const char *name;
    sp_status (*run)(uint64_t *digest);
    sp_status (*before)(void); /* done in the process before it is starved; may be NULL */
    starve_limits limits;
} starve_work;

/* --- malloc that refuses ------------------------------------------------------------------------------------------ */

static _Atomic int64_t libc_countdown; /* allocations until they fail; below 0: they do; 0: off */
static _Atomic int64_t libc_failed;

static _Atomic int64_t libc_live; /* blocks that are not freed yet */

#ifdef BEHIND
#define EARLY __attribute__((no_sanitize("address", "undefined"))) /* they are called before a sanitizer has started */
void *BEHIND(malloc)(size_t bytes);
void *BEHIND(calloc)(size_t n, size_t bytes);
void *BEHIND(realloc)(void *block, size_t bytes);
void *BEHIND(memalign)(size_t alignment, size_t bytes);
void BEHIND(free)(void *block);

#pragma GCC visibility push(default) /* the libraries must find them */
EARLY static bool libc_refuses(void)
{
    int64_t n = atomic_load(&libc_countdown);
    while (n > 0)
        if (atomic_compare_exchange_weak(&libc_countdown, &n, n > 1 ? n - 1 : -1)) break;
    if (n != 1 && n >= 0) return false;
    atomic_fetch_add(&libc_failed, 1);
    errno = ENOMEM;
    return true;
}

EARLY static void *libc_count(void *block)
{
    if (block) atomic_fetch_add(&libc_live, 1);
    return block;
}

EARLY void *malloc(size_t bytes) { return libc_refuses() ? NULL : libc_count(BEHIND(malloc)(bytes)); }
EARLY void *calloc(size_t n, size_t bytes) { return libc_refuses() ? NULL : libc_count(BEHIND(calloc)(n, bytes)); }
void *memalign(size_t alignment, size_t bytes);
EARLY void *memalign(size_t alignment, size_t bytes)
{
    return libc_refuses() ? NULL : libc_count(BEHIND(memalign)(alignment, bytes));
}
EARLY void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
EARLY int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    void *block = memalign(alignment, bytes);
    if (block) *out = block;
    return block ? 0 : ENOMEM;
}
EARLY void free(void *block)
{
    if (block) atomic_fetch_sub(&libc_live, 1);
    BEHIND(free)(block);
}
EARLY void *realloc(void *block, size_t bytes)
{
    if (!block) return malloc(bytes);
    if (bytes) return libc_refuses() ? NULL : BEHIND(realloc)(block, bytes);
    free(block);
    return NULL;
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
    bool ended; /* by a signal or a code of its own */
    bool felt;  /* something was refused */
    uint64_t digest;
    size_t used_bytes;
    int64_t live_blocks;
    char text[1500];
    char files[8000]; /* names, each between newlines */
} starve_report;

static starve_report *starve_shared;
static char starve_folder[64]; /* where works write */

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

/* The names of all files below a folder, each between newlines; sockets come and go. */
static void list_files(const char *path, char *out, size_t room)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[400];
        if (e->d_name[0] == '.' && (!e->d_name[1] || !strcmp(e->d_name, ".."))) continue;
        if (e->d_type == DT_SOCK) continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        const size_t n = strlen(out);
        if (e->d_type == DT_DIR) list_files(name, out, room);
        else snprintf(out + n, room - n, "%s%s\n", n ? "" : "\n", e->d_name);
    }
    if (d) closedir(d);
}

/* A file that a process that was never starved does not leave, or NULL. Changes `now`. */
static const char *file_left(char *now, const char *before)
{
    char *rest = NULL, wanted[420];
    for (const char *name = strtok_r(now, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
        snprintf(wanted, sizeof wanted, "\n%s\n", name);
        if (!strstr(before, wanted)) return name;
    }
    return NULL;
}

/* A library may make tables for its errors, once. What is lost is lost each time: how many blocks a third time adds. */
static int64_t starve_again(const starve_work *w, starve_way way, int64_t n)
{
    uint64_t digest = 0;
    int64_t before = 0;
    const int64_t places[] = {n, 1 + n % 61}; /* with the tables made there are fewer allocations */
    for (int i = 0; i < 4; i++) {
        if (i == 2) before = atomic_load(&libc_live);
        starve_from(way, places[i % 2]);
        w->run(&digest);
        starve_end(way);
        w->run(&digest);
        sp_memory_trim();
    }
    return atomic_load(&libc_live) - before;
}

/* What a process may leave behind, and what this one does. `before` it there were this many blocks. */
static int starve_rest(const starve_work *w, starve_way way, int64_t n, int64_t before, const starve_report *right,
                       starve_report *r)
{
    r->used_bytes = used_now();
    list_files(starve_folder, r->files, sizeof r->files);
    sp_memory_trim();
    r->live_blocks = atomic_load(&libc_live) - before;
    if (n == 0) return 0;
    if (!w->before && r->used_bytes > right->used_bytes)
        return starve_say(r, "%zu bytes are left behind", r->used_bytes - right->used_bytes);
    const char *left = file_left(r->files, right->files);
    if (left) return starve_say(r, "the file %s is left behind", left);
    const int64_t more = w->before || r->live_blocks <= right->live_blocks ? 0 : starve_again(w, way, n);
    if (more > 0) return starve_say(r, "%" PRId64 " blocks of malloc are left behind", more);
#if defined(__SANITIZE_ADDRESS__)
    if (way == STARVE_LIBC && w->limits == STARVE_USES_OPENSSL) return 0;
    if (__lsan_do_recoverable_leak_check()) return starve_say(r, "leaks");
#endif
    return 0;
}

/* In the child. n = 0: not starved, to learn what is right. */
static int starve_attempt(const starve_work *w, starve_way way, int64_t n, const starve_report *expected,
                          starve_report *r)
{
    const int64_t before = atomic_load(&libc_live);
    uint64_t right = expected->digest;
    char message[sizeof((sp_error *)0)->message] = "";
    uint64_t digest = 14695981039346656037u;
    if (w->before && w->before() != SP_OK) return starve_say(r, "cannot be prepared: %s", sp_error_message());
    starve_from(way, n);
    sp_status status = w->run(&digest);
    if (status != SP_OK) snprintf(message, sizeof message, "%s", sp_error_message());
    r->felt = starve_end(way) > 0;
    if (n == 0) {
        if (status != SP_OK) return starve_say(r, "fails without cause: %s", message);
        right = digest;
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
    if (starve_rest(w, way, n, before, expected, r)) return r->outcome;
    r->digest = digest;
    return r->outcome = r->felt ? ATTEMPT_FELT : ATTEMPT_FED;
}

/* 0, or what ended the child. */
static int starve_fork(const starve_work *w, starve_way way, int64_t n, const starve_report *right)
{
    memset(starve_shared, 0, sizeof *starve_shared);
    const pid_t child = n && getenv("STARVE_HERE") ? 0 : fork(); /* for a debugger */
    if (child == 0) {
        /* Of the processor, for others may use the machine; the clock is for what waits and never goes on. */
        const rlim_t seconds = STARVE_SANITIZED ? 60 : 20;
        setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 10});
        alarm(6 * (unsigned)seconds);
        starve_attempt(w, way, n, right, starve_shared);
        _exit(0);
    }
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) {}
    starve_shared->ended = state != 0;
    if (WIFSIGNALED(state))
        starve_say(starve_shared,
                   WTERMSIG(state) == SIGALRM   ? "hangs"
                   : WTERMSIG(state) == SIGXCPU ? "computes without end"
                                                : "ends in signal %d",
                   WTERMSIG(state));
    else if (WEXITSTATUS(state) != 0) starve_say(starve_shared, "ends with code %d", WEXITSTATUS(state));
    return starve_shared->outcome;
}

/* All attempts of one kind of work. every: each n, else some of the larger ones. Returns how many did not hold. */
static int starve(const starve_work *w, starve_way way, bool every, int64_t only)
{
#ifdef BEHIND
    if (way == STARVE_LIBC &&
        (w->limits == STARVE_ENGINE_ALONE || (STARVE_SANITIZED && w->limits == STARVE_STARTS_THREADS)))
        return 0;
#else
    if (way == STARVE_LIBC) return 0;
#endif
    if (!starve_shared)
        starve_shared = mmap(NULL, sizeof *starve_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int n_failed = 0, n_attempts = 0, outcome = starve_fork(w, way, 0, &(starve_report){.digest = 0});
    const starve_report right = *starve_shared;
    char first[sizeof starve_shared->text] = "";
    int64_t n = only ? only : 1, n_first = 0;
    if (outcome == ATTEMPT_FAILED) {
        n_failed++;
        memcpy(first, starve_shared->text, sizeof first);
    }
    while (outcome != ATTEMPT_FAILED || n_attempts > 0) {
        outcome = starve_fork(w, way, n, &right);
        n_attempts++;
        if (outcome == ATTEMPT_FAILED) {
            if (only || n_failed < 10 || getenv("STARVE_ALL"))
                printf("  %s: n = %" PRId64 ": %s\n", w->name, n, starve_shared->text);
            if (n_failed++ == 0) {
                n_first = n;
                memcpy(first, starve_shared->text, sizeof first);
            }
        }
        if ((!starve_shared->felt && !starve_shared->ended) || only) break;
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
