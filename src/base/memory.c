/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - the caching allocator behind sp__alloc.
 *
 * A network asks for the same sizes over and over. Blocks are therefore kept after sp__free and handed out again without
 * a system call, a page fault or, for small ones, a lock.
 *
 *   block    a header of 64 bytes, then the caller's bytes (so both are 64-byte aligned); the header holds size and links.
 *   classes  capacities in steps of 64 bytes up to 1 KB, then eight steps per power of two (at most 12.5 % unused).
 *   small    up to 64 KB: malloc'ed; each thread keeps a short list per class; overflow and refill move half a list at a
 *            time from and to the shared lists.
 *   large    above: mapped pages, shared lists only; from 2 MB on aligned to huge pages and advised to use them.
 *
 * Invariants
 *   1. A block is in exactly one place: with a caller, in one thread's list, or in one shared list.
 *   2. Shared lists, `cached_bytes` and the registry of threads change only under `lock`; a thread's lists only by itself.
 *   3. `reserved` counts every block between system_take and system_give, so used <= reserved, and the limit, which is
 *      tested where `reserved` grows, holds for all memory of the library.
 *   4. Bytes in shared lists never exceed max(peak of use, CACHE_MIN_BYTES): beyond, the longest unused class is emptied.
 *   5. Counters of a thread are written by it alone and read by anybody, hence relaxed atomics without read-modify-write.
 *
 * The peak is exact for large blocks. For small ones each thread reports its use in steps of PUBLISH_BYTES.
 *
 * Under AddressSanitizer and ThreadSanitizer nothing is cached, so that they see each misuse; SP_ALLOC_CACHE=1 forces
 * the cache on, to test the cache itself. After fork the child keeps the shared lists and the lists of the forking thread;
 * those of threads that do not exist there are lost to it, a few MB at most. */
#include "base/fail.h"
#include "base/lock.h"
#include "base/plain.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define TSAN 1
#endif

#ifndef SP_ALLOC_CACHE
#if defined(ASAN) || defined(TSAN)
#define SP_ALLOC_CACHE 0
#else
#define SP_ALLOC_CACHE 1
#endif
#endif

/* Without the cache the header of a used block is poisoned: writing in front of a block is reported like writing behind. */
#if defined(ASAN) && !SP_ALLOC_CACHE
#include <sanitizer/asan_interface.h>
#define HEADER_HIDE(b) ASAN_POISON_MEMORY_REGION((b), sizeof *(b))
#define HEADER_SHOW(b) ASAN_UNPOISON_MEMORY_REGION((b), sizeof *(b))
#else
#define HEADER_HIDE(b) ((void)(b))
#define HEADER_SHOW(b) ((void)(b))
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define ADD(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)

enum {
    ALIGN = 64,
    N_FINE = 16,                        /* classes of 64, 128, ... 1024 bytes */
    N_SMALL = 64,                       /* classes up to SMALL_MAX */
    N_CLASSES = N_FINE + (62 - 10) * 8, /* eight per power of two from 2^10 to 2^62 */
    SMALL_MAX = 64 << 10,
    HUGE_PAGE = 2 << 20,
    THREAD_CLASS_BYTES = 64 << 10, /* what a thread keeps of one class: this much, */
    THREAD_CLASS_MAX = 64,         /* not more blocks than this, */
    THREAD_CLASS_MIN = 4,          /* nor fewer than this */
    PUBLISH_BYTES = 64 << 10
};
#define CACHE_MIN_BYTES ((size_t)256 << 20)
#define REQUEST_MAX ((size_t)PTRDIFF_MAX / 2)

typedef struct block {
    struct block *next; /* in a list */
    size_t capacity;    /* bytes for the caller */
    size_t total_bytes; /* bytes from the system, header included */
    unsigned class_index;
    bool mapped; /* from mmap, else from malloc */
} __attribute__((aligned(ALIGN))) block;
_Static_assert(sizeof(block) == ALIGN, "the caller's bytes start one alignment after the header");

typedef struct {
    block *head;
    int count, max;
} block_list;

/* One per thread that allocates; found by others through the registry for its counters. */
typedef struct thread_cache {
    block_list lists[N_SMALL];
    _Atomic int64_t used; /* bytes handed out minus taken back by this thread; negative for a consumer */
    _Atomic uint64_t n_allocs;
    int64_t published; /* part of `used` that small_used already holds */
    struct thread_cache *prev, *next;
} thread_cache;

static struct {
    block *head;
    uint64_t last_use; /* tick of the last touch: what to give up first */
} shared[N_CLASSES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t cached_bytes; /* in shared lists */
static uint64_t tick;
static thread_cache *registry;
static pthread_key_t thread_key;
static bool have_thread_key;
static size_t page_bytes = 4096;

static _Atomic int64_t small_used;  /* published by threads, approximate while they run: for the peak */
static _Atomic int64_t direct_used; /* large blocks, and those of threads without lists: exact */
static _Atomic int64_t ended_used;  /* what finished threads had counted */
static _Atomic int64_t used_peak;
static _Atomic uint64_t direct_allocs; /* as direct_used, and those of finished threads */
static _Atomic size_t reserved, reserved_peak, limit_bytes;
static _Atomic uint64_t n_system;
static _Atomic int64_t fail_countdown; /* tests: allocations until one fails; below 0: every one does */
static _Atomic bool fail_lasts;        /* from that one on, not once */
static _Atomic uint64_t n_injected;

/* Read on every call: the fixed offset of initial-exec saves a call in a shared library. */
static _Thread_local thread_cache *own __attribute__((tls_model("initial-exec")));
static _Thread_local bool thread_finished __attribute__((tls_model("initial-exec")));

/* --- size classes ------------------------------------------------------------------------------------------------ */

static unsigned class_of(size_t bytes)
{
    if (bytes <= ALIGN * N_FINE) return bytes == 0 ? 0 : (unsigned)((bytes - 1) / ALIGN);
    size_t last = bytes - 1;
    unsigned power = 63 - (unsigned)__builtin_clzll(last);
    return N_FINE + (power - 10) * 8 + (unsigned)(last >> (power - 3) & 7);
}

static size_t class_capacity(unsigned index)
{
    if (index < N_FINE) return (size_t)(index + 1) * ALIGN;
    unsigned power = (index - N_FINE) / 8 + 10;
    return (size_t)((index - N_FINE) % 8 + 9) << (power - 3);
}

static int thread_class_max(unsigned index)
{
    size_t n = THREAD_CLASS_BYTES / class_capacity(index);
    return n > THREAD_CLASS_MAX ? THREAD_CLASS_MAX : n < THREAD_CLASS_MIN ? THREAD_CLASS_MIN : (int)n;
}

/* --- counters ---------------------------------------------------------------------------------------------------- */

static void raise_to_i64(_Atomic int64_t *peak, int64_t value)
{
    int64_t seen = LOAD(peak);
    while (seen < value && !atomic_compare_exchange_weak(peak, &seen, value)) {}
}

static void raise_to_size(_Atomic size_t *peak, size_t value)
{
    size_t seen = LOAD(peak);
    while (seen < value && !atomic_compare_exchange_weak(peak, &seen, value)) {}
}

static void publish(thread_cache *t)
{
    int64_t now = LOAD(&t->used), change = now - t->published;
    int64_t all = ADD(&small_used, change) + change;
    t->published = now;
    raise_to_i64(&used_peak, all + LOAD(&direct_used));
}

static inline void count_small(thread_cache *t, int64_t bytes)
{
    int64_t now = LOAD(&t->used) + bytes;
    STORE(&t->used, now);
    if (UNLIKELY(now - t->published > PUBLISH_BYTES || t->published - now > PUBLISH_BYTES)) publish(t);
}

static void count_direct(int64_t bytes)
{
    int64_t all = ADD(&direct_used, bytes) + bytes;
    if (bytes > 0) {
        ADD(&direct_allocs, 1);
        raise_to_i64(&used_peak, all + LOAD(&small_used));
    }
}

/* Exact but for what other threads do meanwhile. */
static size_t used_now(uint64_t *n_allocs)
{
    pthread_mutex_lock(&lock);
    int64_t used = LOAD(&direct_used) + LOAD(&ended_used);
    uint64_t n = LOAD(&direct_allocs);
    for (const thread_cache *t = registry; t != NULL; t = t->next) {
        used += LOAD(&t->used);
        n += LOAD(&t->n_allocs);
    }
    pthread_mutex_unlock(&lock);
    *n_allocs = n;
    return used > 0 ? (size_t)used : 0;
}

/* --- the system -------------------------------------------------------------------------------------------------- */

static void *map_pages(size_t bytes)
{
    size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : page_bytes;
    size_t slack = align - page_bytes;
    char *start = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t front = (align - (uintptr_t)start % align) % align;
    if (slack != 0) {
        if (front != 0) munmap(start, front);
        if (slack != front) munmap(start + front + bytes, slack - front);
#if defined(MADV_HUGEPAGE)
        madvise(start + front, bytes, MADV_HUGEPAGE); /* advice only: an old kernel may decline */
#endif
    }
    return start + front;
}

/* A new block, or NULL when the limit or the system refuses. */
static block *system_take(unsigned index, size_t asked)
{
    size_t capacity = SP_ALLOC_CACHE ? class_capacity(index) : asked;
    bool mapped = SP_ALLOC_CACHE && capacity > SMALL_MAX;
    size_t total = capacity + sizeof(block);
    if (mapped) total = (total + page_bytes - 1) / page_bytes * page_bytes;
    /* Sanitizers end the process on sizes they cannot serve, where the system would return NULL. */
    if (!SP_ALLOC_CACHE && total >> (sizeof total == 8 ? 38 : 31) != 0) return NULL;

    /* Claimed before it is taken, so that two threads cannot pass the limit together. */
    size_t limit = LOAD(&limit_bytes), before = LOAD(&reserved);
    do {
        if (limit != 0 && (before > limit || total > limit - before)) return NULL;
    } while (!atomic_compare_exchange_weak(&reserved, &before, before + total));
    void *memory = NULL;
    if (mapped) memory = map_pages(total);
    else if (posix_memalign(&memory, ALIGN, total) != 0) memory = NULL;
    if (memory == NULL) {
        atomic_fetch_sub(&reserved, total);
        return NULL;
    }
    raise_to_size(&reserved_peak, before + total);
    ADD(&n_system, 1);
    block *b = memory;
    *b = (block){.capacity = capacity, .total_bytes = total, .class_index = index, .mapped = mapped};
    return b;
}

static void system_give(block *b)
{
    size_t total = b->total_bytes;
    if (b->mapped) munmap(b, total);
    else free(b);
    atomic_fetch_sub(&reserved, total);
}

static void system_give_list(block *b)
{
    while (b != NULL) {
        block *next = b->next;
        system_give(b);
        b = next;
    }
}

/* --- shared lists; the caller holds `lock` ----------------------------------------------------------------------- */

static void shared_put(block *b)
{
    unsigned i = b->class_index;
    b->next = shared[i].head;
    shared[i].head = b;
    shared[i].last_use = ++tick;
    cached_bytes += b->total_bytes;
}

static block *shared_get(unsigned i)
{
    block *b = shared[i].head;
    if (b == NULL) return NULL;
    shared[i].head = b->next;
    shared[i].last_use = ++tick;
    cached_bytes -= b->total_bytes;
    return b;
}

/* Take out what exceeds the bound, longest unused class first; the caller gives the list back without the lock. */
static block *shared_excess(void)
{
    int64_t peak = LOAD(&used_peak);
    size_t bound = peak > (int64_t)CACHE_MIN_BYTES ? (size_t)peak : CACHE_MIN_BYTES;
    block *out = NULL;
    while (cached_bytes > bound) {
        unsigned oldest = N_CLASSES;
        for (unsigned i = 0; i < N_CLASSES; i++)
            if (shared[i].head != NULL && (oldest == N_CLASSES || shared[i].last_use < shared[oldest].last_use))
                oldest = i;
        if (oldest == N_CLASSES) break;
        while (cached_bytes > bound && shared[oldest].head != NULL) {
            block *b = shared[oldest].head;
            shared[oldest].head = b->next;
            cached_bytes -= b->total_bytes;
            b->next = out;
            out = b;
        }
    }
    return out;
}

/* --- lists of a thread ------------------------------------------------------------------------------------------- */

static void thread_flush(thread_cache *t, unsigned index, int n_keep)
{
    block_list *list = &t->lists[index];
    pthread_mutex_lock(&lock);
    while (list->count > n_keep) {
        block *b = list->head;
        list->head = b->next;
        list->count--;
        shared_put(b);
    }
    block *excess = shared_excess();
    pthread_mutex_unlock(&lock);
    system_give_list(excess);
}

static void thread_end(void *cache)
{
    thread_cache *t = cache;
    own = NULL;
    thread_finished = true; /* destructors that run later still free: directly */
    for (unsigned i = 0; i < N_SMALL; i++)
        if (t->lists[i].count > 0) thread_flush(t, i, 0);
    pthread_mutex_lock(&lock);
    publish(t);
    ADD(&ended_used, LOAD(&t->used));
    ADD(&direct_allocs, LOAD(&t->n_allocs));
    if (t->prev != NULL) t->prev->next = t->next;
    else registry = t->next;
    if (t->next != NULL) t->next->prev = t->prev;
    pthread_mutex_unlock(&lock);
    free(t);
}

/* The lists of this thread; NULL when it ends, or has no memory for them. */
static thread_cache *thread_lists(void)
{
    if (own != NULL || !SP_ALLOC_CACHE || thread_finished || !have_thread_key) return own;
    thread_cache *t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    for (unsigned i = 0; i < N_SMALL; i++) t->lists[i].max = thread_class_max(i);
    if (pthread_setspecific(thread_key, t) != 0) {
        free(t);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    t->next = registry;
    if (registry != NULL) registry->prev = t;
    registry = t;
    pthread_mutex_unlock(&lock);
    own = t;
    return t;
}

void sp__memory_fork_prepare(void) { pthread_mutex_lock(&lock); }
void sp__memory_fork_done(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void memory_start(void)
{
    long page = sysconf(_SC_PAGESIZE);
    if (page > 0) page_bytes = (size_t)page;
    have_thread_key = pthread_key_create(&thread_key, thread_end) == 0;
    sp__fork_start();
}

/* --- allocate ---------------------------------------------------------------------------------------------------- */

/* "5242880 bytes", from a million on "5.00 MB". */
static const char *amount(size_t bytes, char out[32])
{
    static const char *const units[] = {"MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    double shown = (double)bytes / 1e6;
    for (; shown >= 1000 && unit < 4; unit++) shown /= 1000;
    if (bytes < 1000000) snprintf(out, 32, "%zu bytes", bytes);
    else sp__snprintf(out, 32, "%.*f %s", shown < 10 ? 2 : shown < 100 ? 1 : 0, shown, units[unit]);
    return out;
}

static void *fail(size_t bytes, const char *why)
{
    uint64_t n_allocs;
    size_t used = used_now(&n_allocs), limit = LOAD(&limit_bytes);
    char asked[32], now[32], most[32];
    if (limit != 0)
        sp__fail(SP_NOMEM, "out of memory%s: %s asked, %s in use, the limit is %s", why, amount(bytes, asked),
                 amount(used, now), amount(limit, most));
    else
        sp__fail(SP_NOMEM, "out of memory%s: %s asked, %s in use, no limit is set: the system refuses", why,
                 amount(bytes, asked), amount(used, now));
    return NULL;
}

/* True when this allocation is one that tests want to fail. */
static bool inject(void)
{
    int64_t n = LOAD(&fail_countdown);
    while (n > 0)
        if (atomic_compare_exchange_weak(&fail_countdown, &n, n > 1 ? n - 1 : LOAD(&fail_lasts) ? -1 : 0)) break;
    if (n != 1 && n >= 0) return false;
    ADD(&n_injected, 1);
    return true;
}

static block *system_take_or_trim(unsigned index, size_t bytes)
{
    block *b = system_take(index, bytes);
    if (b == NULL) {
        sp_memory_trim();
        b = system_take(index, bytes);
    }
    return b;
}

/* Refill half of a thread's list from the shared one and return one block more; NULL when there is none. */
static block *small_refill(thread_cache *t, unsigned index)
{
    int n = t == NULL ? 0 : t->lists[index].max / 2;
    pthread_mutex_lock(&lock);
    block *b = shared_get(index);
    for (int i = 0; b != NULL && i < n; i++) {
        block *extra = shared_get(index);
        if (extra == NULL) break;
        extra->next = t->lists[index].head;
        t->lists[index].head = extra;
        t->lists[index].count++;
    }
    pthread_mutex_unlock(&lock);
    return b;
}

static block *large_reuse(unsigned index)
{
    block *b = NULL;
    pthread_mutex_lock(&lock);
    /* A block up to a quarter larger is better than new pages when sizes vary a little. */
    for (unsigned i = index; b == NULL && i <= index + 2 && i < N_CLASSES; i++) b = shared_get(i);
    pthread_mutex_unlock(&lock);
    return b;
}

/* Everything but the hit in a thread's list. *fresh tells that the system has zeroed the memory. */
static __attribute__((noinline)) void *alloc_slow(size_t bytes, bool *fresh)
{
    if (bytes > REQUEST_MAX) return fail(bytes, "");
    unsigned index = class_of(bytes);
    bool small = index < N_SMALL;
    thread_cache *t = small ? thread_lists() : NULL;
    block *b = NULL;
    if (SP_ALLOC_CACHE) b = small ? small_refill(t, index) : large_reuse(index);
    if (b == NULL) {
        b = system_take_or_trim(index, bytes);
        if (b == NULL) return fail(bytes, "");
        *fresh = b->mapped;
    }
    if (t != NULL) {
        STORE(&t->n_allocs, LOAD(&t->n_allocs) + 1);
        count_small(t, (int64_t)b->total_bytes);
    } else {
        count_direct((int64_t)b->total_bytes);
    }
    HEADER_HIDE(b);
    return b + 1;
}

static inline void *alloc(size_t bytes, bool *fresh)
{
    *fresh = false;
    if (UNLIKELY(LOAD(&fail_countdown) != 0) && inject()) return fail(bytes, " (injected)");
    thread_cache *t = own;
    if (LIKELY(bytes <= SMALL_MAX && t != NULL)) {
        block_list *list = &t->lists[class_of(bytes)];
        block *b = list->head;
        if (LIKELY(b != NULL)) {
            list->head = b->next;
            list->count--;
            STORE(&t->n_allocs, LOAD(&t->n_allocs) + 1);
            count_small(t, (int64_t)b->total_bytes);
            return b + 1;
        }
    }
    return alloc_slow(bytes, fresh);
}

void *sp__alloc(size_t bytes)
{
    bool fresh;
    return alloc(bytes, &fresh);
}

void *sp__alloc_zero(size_t bytes)
{
    bool fresh;
    void *memory = alloc(bytes, &fresh);
    if (memory != NULL && !fresh) memset(memory, 0, bytes);
    return memory;
}

static __attribute__((noinline)) void free_slow(block *b)
{
    unsigned index = b->class_index;
    thread_cache *t = index < N_SMALL ? thread_lists() : NULL;
    if (t != NULL) {
        block_list *list = &t->lists[index];
        b->next = list->head;
        list->head = b;
        list->count++;
        count_small(t, -(int64_t)b->total_bytes);
        if (list->count > list->max) thread_flush(t, index, list->max / 2);
        return;
    }
    count_direct(-(int64_t)b->total_bytes);
    if (!SP_ALLOC_CACHE) {
        system_give(b);
        return;
    }
    pthread_mutex_lock(&lock);
    shared_put(b);
    block *excess = shared_excess();
    pthread_mutex_unlock(&lock);
    system_give_list(excess);
}

void sp__free(void *memory)
{
    if (memory == NULL) return;
    block *b = (block *)memory - 1;
    HEADER_SHOW(b);
    thread_cache *t = own;
    if (LIKELY(t != NULL && b->class_index < N_SMALL)) {
        block_list *list = &t->lists[b->class_index];
        if (LIKELY(list->count < list->max)) {
            b->next = list->head;
            list->head = b;
            list->count++;
            count_small(t, -(int64_t)b->total_bytes);
            return;
        }
    }
    free_slow(b);
}

void *sp__realloc(void *memory, size_t old_bytes, size_t bytes)
{
    if (memory == NULL) return sp__alloc(bytes);
    block *b = (block *)memory - 1;
    HEADER_SHOW(b);
    size_t capacity = b->capacity;
    HEADER_HIDE(b);
    if (bytes <= capacity) return memory;
    void *larger = sp__alloc(bytes);
    if (larger == NULL) return NULL;
    memcpy(larger, memory, old_bytes < bytes ? old_bytes : bytes);
    sp__free(memory);
    return larger;
}

char *sp__strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = sp__alloc(bytes);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

static void fail_set(int64_t n, bool lasts)
{
    atomic_store(&n_injected, 0);
    atomic_store(&fail_lasts, lasts);
    atomic_store(&fail_countdown, n > 0 ? n : 0);
}

void sp__alloc_fail_at(int64_t n) { fail_set(n, false); }
void sp__alloc_fail_from(int64_t n) { fail_set(n, true); }
bool sp__memory_is_out(void)
{
    enum { PROBE_BYTES = 32 << 10 };
    void *ours = sp__alloc(PROBE_BYTES), *probe = malloc(PROBE_BYTES);
    const bool out = ours == NULL || probe == NULL;
    free(probe);
    sp__free(ours);
    return out;
}

uint64_t sp__alloc_failed(void) { return LOAD(&n_injected); }

/* --- public ------------------------------------------------------------------------------------------------------ */

void sp_memory_get(sp_memory_stats *out)
{
    out->used_bytes = used_now(&out->n_allocs);
    out->reserved_bytes = LOAD(&reserved);
    out->reserved_peak = LOAD(&reserved_peak);
    out->n_system = LOAD(&n_system);
    raise_to_i64(&used_peak, (int64_t)out->used_bytes); /* what was once shown is not taken back */
    out->used_peak = (size_t)LOAD(&used_peak);
}

void sp_memory_reset_peak(void)
{
    uint64_t n_allocs;
    STORE(&used_peak, (int64_t)used_now(&n_allocs));
    STORE(&reserved_peak, LOAD(&reserved));
}

void sp_memory_trim(void)
{
    block *all = NULL;
    if (own != NULL)
        for (unsigned i = 0; i < N_SMALL; i++)
            if (own->lists[i].count > 0) thread_flush(own, i, 0);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < N_CLASSES; i++)
        while (shared[i].head != NULL) {
            block *b = shared_get(i);
            b->next = all;
            all = b;
        }
    pthread_mutex_unlock(&lock);
    system_give_list(all);
#if defined(__GLIBC__) && SP_ALLOC_CACHE
    malloc_trim(0);
#endif
}

void sp_memory_set_limit(size_t max_bytes)
{
    STORE(&limit_bytes, max_bytes);
    /* Cached blocks are handed out without asking: what remains cached must fit as well. */
    if (max_bytes != 0 && LOAD(&reserved) > max_bytes) sp_memory_trim();
}
