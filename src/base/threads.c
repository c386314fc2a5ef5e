/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - the thread pool of the process, and interruption of what runs on it.
 *
 * One job at a time: a range [0, n) cut into chunks of `grain`. Each thread has a run of them, handed out by an atomic counter, and helps with the
 * others' runs when its own is through: from operator to operator, and from step to step, a thread mostly works on the same part of the data, which
 * its caches still hold. The caller works too and can finish alone; workers only join. Hence a worker that wakes late, or could not be started, costs speed and nothing
 * else. A second caller, and a call from inside a chunk, find the pool busy and run their chunks themselves: with the
 * same bounds, so results never depend on who ran what.
 *
 * One word, `state`, opens and closes the job:
 *
 *     63      32 31   30     16 15      0
 *     generation open   room     active
 *
 *   - the caller fills `job`, then stores a new generation with open = 1 and room = workers wanted;
 *   - a worker joins by one exchange: open and room > 0 become room - 1, active + 1. Only then may it read `job`;
 *   - the caller clears `open` when chunks have run out, then waits for active = 0. Only then may `job` change.
 *
 * Idle workers look at the generation for some microseconds, then offer the processor to others between looks for some hundreds more (the
 * operators of a network follow each other that fast, and a sleeper takes tens to wake), then sleep on a condition variable. A worker that finds
 * itself on the caller's processor sleeps at once: two threads that take turns there look busy to the system, which leaves them together for
 * milliseconds, while a sleeper is woken on an idle processor. After fork the child has no workers: the pool is made new there and starts them
 * when needed.
 *
 * Interruption is asked for by the caller of the outermost call only, between its chunks: the poll function may belong to
 * an interpreter that other threads must not enter. */
#include "base/parts.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/plain.h"
#include "base/profile.h"
#include "base/scratch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, SPIN_TURNS = 200, POLL_STRIDE_MAX = 64, RUNS_MAX = 64 };
#define YIELD_NS 200000 /* a sleeping thread takes some tens of microseconds to wake, more in a virtual machine */
#define POLL_PERIOD_NS 5000000
#define POLL_CHEAP_NS 250000

#define STATE_ACTIVE UINT64_C(0xFFFF)
#define STATE_ROOM_ONE (UINT64_C(1) << 16)
#define STATE_ROOM (UINT64_C(0x7FFF) << 16)
#define STATE_OPEN (UINT64_C(1) << 31)
#define STATE_GENERATION_ONE (UINT64_C(1) << 32)

typedef void chunk_fn(void *context, int64_t begin, int64_t end);

typedef struct {
    chunk_fn *fn;
    void *context;
    int64_t n, grain;
    bool in_section;   /* its caller holds a lock: those who help count as inside, too */
    const char *label; /* what it is for, in a recording (profile.h) */
    int n_runs;
    struct {
        _Alignas(64) _Atomic int64_t next; /* first chunk nobody has taken */
        int64_t end;
    } run[RUNS_MAX];
} job_type;

static job_type job;
static _Atomic uint64_t state;
static atomic_bool busy;     /* some caller owns the pool */
static atomic_int n_threads; /* 0: not yet determined */
static atomic_int n_cpus;    /* processors this process may run on */
static bool (*_Atomic poll_fn)(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for sleeping, and n_workers */
static pthread_cond_t work_cond = PTHREAD_COND_INITIALIZER, done_cond = PTHREAD_COND_INITIALIZER;
static atomic_int n_sleeping;
static atomic_bool caller_sleeps;
static atomic_int caller_cpu; /* processor on which the latest job was opened */
static int n_workers;
static atomic_int n_numbered; /* workers that have a number */

static _Thread_local bool inside_chunk;
static _Thread_local int64_t last_poll_ns;

/* --- how many threads -------------------------------------------------------------------------------------------- */

static int affinity_count(void)
{
    /* The kernel refuses a mask shorter than its own: ask again with a longer one. */
    for (int n = 1024; n <= 1 << 18; n *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)n);
        if (set == NULL) return 1;
        size_t bytes = CPU_ALLOC_SIZE((size_t)n);
        int answer = sched_getaffinity(0, bytes, set);
        int count = answer == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (answer == 0) return count > 0 ? count : 1;
        if (errno != EINVAL) return 1;
    }
    return 1;
}

static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    bool ok = fgets(line, size, file) != NULL;
    fclose(file);
    return ok;
}

/* Processors granted by quota per period, rounded up; 0 when there is no quota. */
static int quota_count(double quota, double period)
{
    if (quota <= 0 || period <= 0) return 0;
    double whole = quota / period;
    int count = whole >= THREADS_MAX ? THREADS_MAX : (int)whole;
    return count < whole && count < THREADS_MAX ? count + 1 : count;
}

static int group_quota(const char *mount, const char *group, bool second)
{
    char path[4096], line[128], period_line[128];
    double quota;
    if (second) {
        snprintf(path, sizeof path, "%s%s/cpu.max", mount, group);
        /* "max 100000" has no number in front: no quota */
        if (!read_line(path, line, sizeof line)) return 0;
        char *rest;
        quota = sp__strtod(line, &rest);
        return rest == line ? 0 : quota_count(quota, sp__strtod(rest, NULL));
    }
    snprintf(path, sizeof path, "%s%s/cpu.cfs_quota_us", mount, group);
    if (!read_line(path, line, sizeof line)) return 0;
    snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", mount, group);
    if (!read_line(path, period_line, sizeof period_line)) return 0;
    return quota_count(sp__strtod(line, NULL), sp__strtod(period_line, NULL));
}

/* The smallest quota of a control group and those above it. In a container the path may be the host's and missing here:
 * then only the last step, the root of the mount, answers. */
static int tree_quota(const char *mount, char *group, bool second)
{
    int least = 0;
    for (;;) {
        int count = group_quota(mount, group, second);
        if (count > 0 && (least == 0 || count < least)) least = count;
        char *slash = strrchr(group, '/');
        if (slash == NULL) return least;
        *slash = '\0';
    }
}

static bool list_has(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && memcmp(at, name, n) == 0) return true;
    return false;
}

/* Processors granted by control groups of either version, 0 when not restricted. */
static int cgroup_count(void)
{
    char line[2048];
    int least = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        /* number:controllers:path; version 2 has number 0 and no controllers */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        if (controllers == NULL) continue;
        char *group = strchr(++controllers, ':');
        if (group == NULL) continue;
        *group++ = '\0';
        int count = 0;
        if (*controllers == '\0') {
            count = tree_quota("/sys/fs/cgroup", group, true);
        } else if (list_has(controllers, "cpu")) {
            count = tree_quota("/sys/fs/cgroup/cpu", group, false);
        }
        if (count > 0 && (least == 0 || count < least)) least = count;
    }
    fclose(file);
    return least;
}

/* A count from the environment, 0 when there is none. OpenMP allows a list, one number per level: the first counts. */
static int environment_count(const char *name)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') return 0;
    char *end;
    long n = strtol(text, &end, 10);
    if (end != text && (*end == '\0' || *end == ',' || *end == ' ') && n >= 1 && n <= THREADS_MAX) return (int)n;
    fprintf(stderr, "spore: %s='%s' is ignored: wanted a number from 1 to %d\n", name, text, THREADS_MAX);
    return 0;
}

int sp_threads(void)
{
    if (!SP_HAVE_THREADS) return 1;
    int n = atomic_load_explicit(&n_threads, memory_order_relaxed);
    if (n > 0) return n;
    n = affinity_count();
    atomic_store(&n_cpus, n);
    int quota = cgroup_count();
    if (quota > 0 && quota < n) n = quota;
    int omp = environment_count("OMP_NUM_THREADS");
    if (omp > 0) n = omp;
    int spore = environment_count("SPORE_NUM_THREADS");
    if (spore > 0) n = spore;
    if (n > THREADS_MAX) n = THREADS_MAX;
    int unset = 0; /* somebody may have called sp_threads_set meanwhile: then that counts */
    return atomic_compare_exchange_strong(&n_threads, &unset, n) ? n : unset;
}

sp_status sp_threads_set(int n)
{
    SP_CHECK(n >= 1 && n <= THREADS_MAX, SP_VALUE, "number of threads is %d, wanted 1 to %d", n, THREADS_MAX);
    if (atomic_load(&n_cpus) == 0) atomic_store(&n_cpus, affinity_count());
    atomic_store(&n_threads, n);
    return SP_OK;
}

/* --- interruption ------------------------------------------------------------------------------------------------ */

void sp_interrupt_set_poll(bool (*poll)(void)) { atomic_store(&poll_fn, poll); }

/* Counts the caller's chunks so that the clock is read for cheap ones only now and then. */
typedef struct {
    bool (*poll)(void); /* NULL: do not ask */
    int stride, left;   /* chunks between two looks at the clock, and until the next */
    int64_t looked_ns;
} poller;

static poller poller_start(void)
{
    /* Inside of a section the interpreter is not waited for: the thread that has it may be waiting to fork. */
    return (poller){.poll = inside_chunk || sp__section_inside() ? NULL
                                                                 : atomic_load_explicit(&poll_fn, memory_order_acquire),
                    .stride = 1,
                    .left = 1};
}

static bool interrupted(poller *p)
{
    if (p->poll == NULL || --p->left > 0) return false;
    int64_t now = sp__clock_ns();
    if (p->looked_ns != 0) {
        if (now - p->looked_ns < POLL_CHEAP_NS && p->stride < POLL_STRIDE_MAX) p->stride *= 2;
        else if (now - p->looked_ns > 4 * POLL_CHEAP_NS && p->stride > 1) p->stride /= 2;
    }
    p->looked_ns = now;
    p->left = p->stride;
    if (now - last_poll_ns < POLL_PERIOD_NS) return false;
    last_poll_ns = now;
    return p->poll();
}

static sp_status fail_interrupted(void)
{
    return sp__fail(SP_INTERRUPTED, "interrupted while an operator was running");
}

sp_status sp__interrupt_check(void)
{
    poller p = poller_start();
    return interrupted(&p) ? fail_interrupted() : SP_OK;
}

/* --- workers ----------------------------------------------------------------------------------------------------- */

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Looking at a word helps only when the thread that changes it runs meanwhile. */
static int spin_turns(void)
{
    return atomic_load_explicit(&n_threads, memory_order_relaxed) <= atomic_load_explicit(&n_cpus, memory_order_relaxed)
               ? SPIN_TURNS
               : 0;
}

/* Look at the state until (state & mask) differs from `seen`, for as long as a sleep would cost; false: it still is the same.
 * A worker gives up at once where it would be in the caller's way. */
static bool watch(uint64_t mask, uint64_t seen, bool worker)
{
    int turns = spin_turns();
    if (turns == 0) return (atomic_load(&state) & mask) != seen;
    for (; turns > 0; turns--) {
        if ((atomic_load_explicit(&state, memory_order_relaxed) & mask) != seen) return true;
        relax();
    }
    for (int64_t end = sp__clock_ns() + YIELD_NS; sp__clock_ns() < end; sched_yield()) {
        if ((atomic_load_explicit(&state, memory_order_relaxed) & mask) != seen) return true;
        if (worker && sched_getcpu() == atomic_load_explicit(&caller_cpu, memory_order_relaxed)) return false;
    }
    return false;
}

static inline void run_chunk(chunk_fn *fn, void *context, int64_t n, int64_t grain, int64_t k)
{
    int64_t begin = k * grain;
    fn(context, begin, n - begin < grain ? n : begin + grain);
}

/* The next chunk for the thread of this number, -1: none is left. It has been through `turn` runs, its own first. */
static int64_t chunk_take(int number, int64_t *turn)
{
    for (; *turn < job.n_runs; ++*turn) {
        const int64_t i = (number + *turn) % job.n_runs;
        if (atomic_load_explicit(&job.run[i].next, memory_order_relaxed) >= job.run[i].end) continue;
        const int64_t k = atomic_fetch_add_explicit(&job.run[i].next, 1, memory_order_relaxed);
        if (k < job.run[i].end) return k;
    }
    return -1;
}

static void chunks_lay_out(int64_t n_chunks, int threads)
{
    job.n_runs = threads < RUNS_MAX ? threads : RUNS_MAX;
    for (int i = 0; i < job.n_runs; i++) {
        atomic_store_explicit(&job.run[i].next, n_chunks * i / job.n_runs, memory_order_relaxed);
        job.run[i].end = n_chunks * (i + 1) / job.n_runs;
    }
}

static void chunks_drop(void)
{
    for (int i = 0; i < job.n_runs; i++) atomic_store_explicit(&job.run[i].next, job.run[i].end, memory_order_relaxed);
}

static bool job_join(void)
{
    uint64_t seen = atomic_load_explicit(&state, memory_order_relaxed);
    while ((seen & STATE_OPEN) && (seen & STATE_ROOM))
        if (atomic_compare_exchange_weak_explicit(&state, &seen, seen - STATE_ROOM_ONE + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

static void job_leave(void)
{
    uint64_t after = atomic_fetch_sub(&state, 1) - 1;
    if ((after & (STATE_OPEN | STATE_ACTIVE)) == 0 && atomic_load(&caller_sleeps)) {
        pthread_mutex_lock(&lock);
        pthread_cond_signal(&done_cond);
        pthread_mutex_unlock(&lock);
    }
}

static uint32_t generation(void) { return (uint32_t)(atomic_load(&state) >> 32); }

/* Return when the generation is no longer `seen`. */
static void wait_for_job(uint32_t seen)
{
    if (watch(~UINT64_C(0) << 32, (uint64_t)seen << 32, true)) return;
    pthread_mutex_lock(&lock);
    /* First counted, then looked: the caller first publishes, then looks at the count. One of the two sees the other. */
    atomic_fetch_add(&n_sleeping, 1);
    while (generation() == seen) pthread_cond_wait(&work_cond, &lock);
    atomic_fetch_sub(&n_sleeping, 1);
    pthread_mutex_unlock(&lock);
}

static void *worker_main(void *first_seen)
{
    uint32_t seen = (uint32_t)(uintptr_t)first_seen;
    const int number = 1 + atomic_fetch_add(&n_numbered, 1);
    inside_chunk = true;                /* all it ever runs is chunks: calls from them are nested */
    if (sp__scratch_ready() != SP_OK) { /* then there is one less, and the others take its chunks */
        pthread_mutex_lock(&lock);
        n_workers--;
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    for (;;) {
        wait_for_job(seen);
        seen = generation();
        if (!job_join()) continue;
        const bool in_section = job.in_section, timed = sp__profile_on();
        const char *label = job.label;
        sp_span span;
        if (timed) sp__profile_begin(&span);
        if (in_section) sp__section_join();
        for (int64_t k, turn = 0; (k = chunk_take(number, &turn)) >= 0;)
            run_chunk(job.fn, job.context, job.n, job.grain, k);
        if (timed) sp__profile_clock(&span);
        job_leave();
        if (in_section) sp__section_part();
        if (timed) sp__profile_end(&span, SP_PROFILE_WORKER, label ? label : "work", NULL, NULL, 0);
    }
    return NULL;
}

/* Have at least `wanted` workers, or as many as the system allows. The caller owns the pool. */
static void workers_start(int wanted)
{
    pthread_mutex_lock(&lock);
    if (n_workers < wanted) {
        /* Signals are for the program's own threads, above all the one that handles Ctrl-C. Not those that an instruction raises: blocked, they
         * would end the process past every handler, and a crash report (Python's faulthandler, say) would be empty. */
        static const int raised[] = {SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGTRAP, SIGSYS};
        sigset_t blocked, old;
        sigfillset(&blocked);
        for (size_t i = 0; i < sizeof raised / sizeof *raised; i++) sigdelset(&blocked, raised[i]);
        pthread_sigmask(SIG_SETMASK, &blocked, &old);
        pthread_attr_t attributes;
        if (pthread_attr_init(&attributes) == 0) {
            pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
            void *seen = (void *)(uintptr_t)generation();
            pthread_t thread;
            while (n_workers < wanted && pthread_create(&thread, &attributes, worker_main, seen) == 0) n_workers++;
            pthread_attr_destroy(&attributes);
        }
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_mutex_unlock(&lock);
}

static void job_open(uint64_t room)
{
    uint64_t next = (atomic_load_explicit(&state, memory_order_relaxed) >> 32) + 1;
    atomic_store_explicit(&caller_cpu, sched_getcpu(), memory_order_relaxed);
    atomic_store(&state, next << 32 | STATE_OPEN | room * STATE_ROOM_ONE);
    int sleeping = atomic_load(&n_sleeping);
    if (sleeping == 0) return;
    pthread_mutex_lock(&lock);
    for (uint64_t i = 0; i < room && i < (uint64_t)sleeping; i++) pthread_cond_signal(&work_cond);
    pthread_mutex_unlock(&lock);
}

static void job_close(void)
{
    uint64_t after = atomic_fetch_and(&state, ~STATE_OPEN);
    while ((after & STATE_ACTIVE) && watch(STATE_ACTIVE, after & STATE_ACTIVE, false)) after = atomic_load(&state);
    if ((atomic_load(&state) & STATE_ACTIVE) == 0) return;
    pthread_mutex_lock(&lock);
    atomic_store(&caller_sleeps, true);
    while (atomic_load(&state) & STATE_ACTIVE) pthread_cond_wait(&done_cond, &lock);
    atomic_store(&caller_sleeps, false);
    pthread_mutex_unlock(&lock);
}

/* --- parallel_for ------------------------------------------------------------------------------------------------ */

static sp_status run_alone(int64_t n, int64_t grain, int64_t n_chunks, chunk_fn *fn, void *context)
{
    poller p = poller_start();
    bool was_inside = inside_chunk, stop = false;
    for (int64_t k = 0; k < n_chunks && !stop; k++) {
        inside_chunk = true;
        run_chunk(fn, context, n, grain, k);
        inside_chunk = was_inside;
        stop = interrupted(&p);
    }
    return stop ? fail_interrupted() : SP_OK;
}

static sp_status run_shared(int64_t n, int64_t grain, int64_t n_chunks, int helpers, chunk_fn *fn, void *context)
{
    workers_start(helpers);
    job.fn = fn;
    job.context = context;
    job.n = n;
    job.grain = grain;
    job.in_section = sp__section_inside();
    job.label = sp__profile_label();
    chunks_lay_out(n_chunks, helpers + 1);
    job_open((uint64_t)helpers);

    poller p = poller_start();
    bool stop = false;
    for (int64_t k, turn = 0; !stop && (k = chunk_take(0, &turn)) >= 0;) {
        inside_chunk = true;
        run_chunk(fn, context, n, grain, k);
        inside_chunk = false;
        stop = interrupted(&p);
    }
    if (stop) chunks_drop();
    job_close();
    return stop ? fail_interrupted() : SP_OK;
}

sp_status sp__parallel_for(int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end),
                           void *context)
{
    if (n <= 0) return SP_OK;
    SP_TRY(sp__scratch_ready());
    if (grain < 1) grain = 1;
    if (n <= grain) {
        fn(context, 0, n);
        return SP_OK;
    }
    int64_t n_chunks = (n - 1) / grain + 1;
    int threads = inside_chunk || !SP_HAVE_THREADS ? 1 : sp_threads();
    if (!SP_HAVE_THREADS || threads == 1 || atomic_exchange_explicit(&busy, true, memory_order_acquire))
        return run_alone(n, grain, n_chunks, fn, context);
    int helpers = threads - 1 < n_chunks - 1 ? threads - 1 : (int)(n_chunks - 1);
    sp_status status = run_shared(n, grain, n_chunks, helpers, fn, context);
    atomic_store_explicit(&busy, false, memory_order_release);
    return status;
}

/* --- fork -------------------------------------------------------------------------------------------------------- */

void sp__threads_fork_prepare(void) { pthread_mutex_lock(&lock); }
void sp__threads_fork_parent(void) { pthread_mutex_unlock(&lock); }

void sp__threads_fork_child(void)
{
    pthread_mutex_unlock(&lock);
    /* Sleepers of the parent are recorded in the conditions; here nobody sleeps, and nobody will signal for them. */
    static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
    work_cond = fresh;
    done_cond = fresh;
    n_workers = 0;
    atomic_store(&n_numbered, 0);
    atomic_store(&n_sleeping, 0);
    atomic_store(&caller_sleeps, false);
    atomic_store(&state, 0);
    atomic_store(&busy, false);
}
