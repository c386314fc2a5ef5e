/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - a recording: events in one array under a lock, their texts kept once each.
 *
 * An event costs some hundred nanoseconds: two looks at the clock, the memory in use, a search for its texts. Memory that runs out drops
 * events and fails nothing. What the recording itself takes is not counted as memory in use. */
#include "base/profile.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/plain.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_EVENTS = 1000000, FIRST_EVENTS = 1024, FIRST_TEXTS = 256, KINDS_OF_THREADS = 64 };

typedef struct event {
    uint32_t kind, name, detail, file; /* texts; 0: none */
    int32_t line, thread;
    int64_t begin, ns, self_ns;
    int64_t bytes; /* in use after it */
} event;

atomic_bool sp__profile_flag;

static sp_lock lock = SP_LOCK_INIT; /* all below, up to the next blank line */
static event *events;
static int64_t n_events, room_events, max_events = MAX_EVENTS, n_dropped;
static char **texts;                         /* from 1 on */
static uint32_t n_texts, room_texts, *slots; /* twice the room; 0: free */
static size_t own_bytes;
static uint32_t recording; /* number of the recording: texts of another one are gone */

static _Thread_local int64_t inside_ns;                  /* of events inside the one that is going on */
static _Thread_local uint32_t here_file, here_recording; /* a text, of that recording */
static _Thread_local int here_line;
static _Thread_local const char *label;

int64_t sp_profile_now(void) { return sp__clock_ns(); }

const char *sp__profile_label(void) { return label; }
void sp__profile_set_label(const char *name) { label = name; }

/* --- texts: under the lock --------------------------------------------------------------------------------------- */

static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static uint32_t *slot_of(const char *text)
{
    const uint32_t mask = 2 * room_texts - 1;
    uint32_t at = hash(text) & mask;
    while (slots[at] && strcmp(texts[slots[at]], text) != 0) at = (at + 1) & mask;
    return &slots[at];
}

static bool texts_grow(void)
{
    const uint32_t room = room_texts ? 2 * room_texts : FIRST_TEXTS;
    uint32_t *new_slots = sp__alloc_zero(2 * (size_t)room * sizeof *slots);
    char **bigger = new_slots ? sp__realloc(texts, room_texts * sizeof *texts, room * sizeof *texts) : NULL;
    if (!bigger) {
        sp__free(new_slots);
        return false;
    }
    own_bytes += (room - room_texts) * (sizeof *texts + 2 * sizeof *slots);
    sp__free(slots);
    slots = new_slots;
    texts = bigger;
    room_texts = room;
    for (uint32_t i = 1; i <= n_texts; i++) *slot_of(texts[i]) = i;
    return true;
}

/* The number of a text, 0 for NULL and where there is no memory. */
static uint32_t text_number(const char *text)
{
    if (!text || !*text || (n_texts + 1 >= room_texts && !texts_grow())) return 0;
    uint32_t *slot = slot_of(text);
    if (*slot) return *slot;
    char *copy = sp__strdup(text);
    if (!copy) return 0;
    own_bytes += strlen(text) + 1;
    texts[++n_texts] = copy;
    return *slot = n_texts;
}

static const char *text_of(uint32_t number) { return number ? texts[number] : NULL; }

/* --- recording --------------------------------------------------------------------------------------------------- */

static void forget(void)
{
    for (uint32_t i = 1; i <= n_texts; i++) sp__free(texts[i]);
    sp__free(texts);
    sp__free(slots);
    sp__free(events);
    texts = NULL;
    slots = NULL;
    events = NULL;
    n_texts = room_texts = 0;
    n_events = room_events = n_dropped = 0;
    own_bytes = 0;
    recording++;
}

sp_status sp_profile_start(int64_t max)
{
    SP_CHECK(max >= 0, SP_VALUE, "the number of events must not be negative, but is %lld", (long long)max);
    sp__lock(&lock);
    const bool runs = atomic_load(&sp__profile_flag);
    if (!runs) {
        forget();
        max_events = max ? max : MAX_EVENTS;
        atomic_store(&sp__profile_flag, true);
    }
    sp__unlock(&lock);
    return runs ? sp__fail(SP_RUNTIME, "a recording runs already; sp_profile_stop ends it") : SP_OK;
}

void sp_profile_stop(void) { atomic_store(&sp__profile_flag, false); }

void sp_profile_resume(void) { atomic_store(&sp__profile_flag, true); }

int64_t sp_profile_count(int64_t *out_dropped)
{
    sp__lock(&lock);
    const int64_t n = n_events;
    if (out_dropped) *out_dropped = n_dropped;
    sp__unlock(&lock);
    return n;
}

void sp_profile_here(const char *file, int line)
{
    here_line = line;
    sp__lock(&lock);
    here_file = text_number(file);
    here_recording = recording;
    sp__unlock(&lock);
}

static bool events_grow(void)
{
    int64_t room = room_events ? 2 * room_events : FIRST_EVENTS;
    if (room > max_events) room = max_events;
    if (room <= n_events) return false;
    event *bigger = sp__realloc(events, (size_t)room_events * sizeof *events, (size_t)room * sizeof *events);
    if (!bigger) return false;
    own_bytes += (size_t)(room - room_events) * sizeof *events;
    events = bigger;
    room_events = room;
    return true;
}

static void keep(event e, const char *kind, const char *name, const char *detail, const char *file)
{
    sp_memory_stats memory;
    sp_memory_get(&memory);
    e.thread = (int32_t)syscall(SYS_gettid);
    sp__lock(&lock);
    e.kind = text_number(kind);
    e.name = text_number(name);
    e.detail = text_number(detail);
    if (file) {
        e.file = text_number(file);
    } else if (e.line == 0 && here_recording == recording && here_file) {
        e.file = here_file;
        e.line = here_line;
    }
    e.bytes = memory.used_bytes > own_bytes ? (int64_t)(memory.used_bytes - own_bytes) : 0;
    if (e.kind && e.name && (n_events < room_events || events_grow())) events[n_events++] = e;
    else n_dropped++;
    sp__unlock(&lock);
}

void sp__profile_begin(sp_span *span)
{
    span->before = inside_ns;
    inside_ns = 0;
    span->end = 0;
    span->begin = sp_profile_now();
}

void sp__profile_clock(sp_span *span) { span->end = sp_profile_now(); }

void sp__profile_end(const sp_span *span, const char *kind, const char *name, const char *detail, const char *file,
                     int line)
{
    const int64_t ns = (span->end ? span->end : sp_profile_now()) - span->begin;
    event e = {.begin = span->begin, .ns = ns, .self_ns = ns > inside_ns ? ns - inside_ns : 0, .line = file ? line : 0};
    inside_ns = span->before + ns;
    if (sp__profile_on()) keep(e, kind, name, detail, file);
}

void sp_profile_add(const char *kind, const char *name, int64_t begin_ns, int64_t end_ns)
{
    if (!sp__profile_on()) return;
    event e = {.begin = begin_ns, .ns = end_ns > begin_ns ? end_ns - begin_ns : 0};
    e.self_ns = e.ns;
    keep(e, kind, name, NULL, NULL);
}

/* --- the trace --------------------------------------------------------------------------------------------------- */

/* Microseconds with three digits behind the point, from integers. */
static void put_time(sp__text *t, const char *key, int64_t ns)
{
    sp__text_put(t, "\"%s\": %lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
}

static void put_event(sp__text *t, const event *e, int64_t start, int pid)
{
    sp__text_put(t, ",\n{\"ph\": \"X\", \"pid\": %d, \"tid\": %d, ", pid, (int)e->thread);
    put_time(t, "ts", e->begin > start ? e->begin - start : 0);
    sp__text_add(t, ", ", 2);
    put_time(t, "dur", e->ns);
    sp__text_put(t, ", \"cat\": ");
    sp__text_json(t, text_of(e->kind));
    sp__text_put(t, ", \"name\": ");
    sp__text_json(t, text_of(e->name));
    sp__text_put(t, ", \"args\": {\"bytes\": %lld", (long long)e->bytes);
    if (e->detail) {
        sp__text_put(t, ", \"result\": ");
        sp__text_json(t, text_of(e->detail));
    }
    if (e->file) {
        sp__text_put(t, ", \"file\": ");
        sp__text_json(t, text_of(e->file));
        sp__text_put(t, ", \"line\": %d", (int)e->line);
    }
    sp__text_put(t, "}}");
    if (strcmp(text_of(e->kind), SP_PROFILE_WORKER) == 0) return;
    sp__text_put(t, ",\n{\"ph\": \"C\", \"pid\": %d, \"name\": \"memory\", ", pid);
    put_time(t, "ts", e->begin > start ? e->begin - start + e->ns : 0);
    sp__text_put(t, ", \"args\": {\"bytes\": %lld}}", (long long)e->bytes);
}

/* What threads are called: the main one, and others by the first kind of event they have. */
static void put_threads(sp__text *t, int pid)
{
    int32_t seen[KINDS_OF_THREADS];
    int n = 0;
    for (int64_t i = 0; i < n_events && n < KINDS_OF_THREADS; i++) {
        const event *e = &events[i];
        int k = 0;
        while (k < n && seen[k] != e->thread) k++;
        if (k < n) continue;
        seen[n++] = e->thread;
        sp__text_put(
            t, ",\n{\"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"name\": \"thread_name\", \"args\": {\"name\": \"%s\"}}",
            pid, (int)e->thread,
            e->thread == pid                                     ? "main"
            : strcmp(text_of(e->kind), SP_PROFILE_DATA) == 0     ? "data"
            : strcmp(text_of(e->kind), SP_PROFILE_WORKER) == 0   ? "pool"
            : strcmp(text_of(e->kind), SP_PROFILE_EXCHANGE) == 0 ? "exchanges"
                                                                 : "thread");
    }
}

static sp_status write_pieces(sp_replace *file, sp__text *t, int64_t start, int pid)
{
    for (int64_t i = 0; i < n_events; i++) {
        put_event(t, &events[i], start, pid);
        if (t->failed) return SP_NOMEM;
        if (t->used < 65536 && i + 1 < n_events) continue;
        SP_TRY(sp__replace_write(file, t->data, t->used));
        t->used = 0;
    }
    return SP_OK;
}

static sp_status write_all(sp_replace *file)
{
    const int pid = (int)getpid();
    int64_t start = n_events ? events[0].begin : 0;
    for (int64_t i = 1; i < n_events; i++)
        if (events[i].begin < start) start = events[i].begin;
    sp__text t = {0};
    sp__text_put(&t,
                 "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"dropped_events\": %lld}, \"traceEvents\": [\n"
                 "{\"ph\": \"M\", \"pid\": %d, \"name\": \"process_name\", \"args\": {\"name\": \"spore\"}}",
                 (long long)n_dropped, pid);
    put_threads(&t, pid);
    sp_status status = t.failed ? SP_NOMEM : sp__replace_write(file, t.data, t.used);
    t.used = 0;
    if (status == SP_OK) status = write_pieces(file, &t, start, pid);
    sp__free(t.data);
    return status == SP_OK ? sp__replace_write(file, "\n]}\n", 4) : status;
}

sp_status sp_profile_write(const char *path)
{
    SP_CHECK(path, SP_VALUE, "the path of the trace is NULL");
    sp_replace *file = NULL;
    sp_status status = sp__replace_open(path, &file);
    if (status == SP_OK) {
        sp__lock(&lock);
        status = write_all(file);
        sp__unlock(&lock);
        if (status == SP_OK) status = sp__replace_take_commit(file);
        else sp__replace_abort(file);
    }
    if (status != SP_OK) sp__error_context("%s", path);
    return status;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

typedef struct group {
    uint32_t kind, name, file;
    int32_t line;
    int64_t n, ns, self_ns;
} group;

static int by_key(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int by_time(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->self_ns != y->self_ns) return x->self_ns < y->self_ns ? 1 : -1;
    return by_key(a, b);
}

/* Events of one key together, the longest first. Under the lock. */
static int64_t make_groups(bool by_line, group *groups)
{
    for (int64_t i = 0; i < n_events; i++) {
        const event *e = &events[i];
        groups[i] = (group){.kind = e->kind,
                            .name = e->name,
                            .file = by_line ? e->file : 0,
                            .line = by_line ? e->line : 0,
                            .n = 1,
                            .ns = e->ns,
                            .self_ns = e->self_ns};
    }
    qsort(groups, (size_t)n_events, sizeof *groups, by_key);
    int64_t n = 0;
    for (int64_t i = 0; i < n_events; i++) {
        if (n && by_key(&groups[n - 1], &groups[i]) == 0) {
            groups[n - 1].n++;
            groups[n - 1].ns += groups[i].ns;
            groups[n - 1].self_ns += groups[i].self_ns;
        } else {
            groups[n++] = groups[i];
        }
    }
    qsort(groups, (size_t)n, sizeof *groups, by_time);
    return n;
}

sp_status sp_profile_rows(int flags, int max, sp_profile_row *rows, int *out_n)
{
    SP_CHECK(max >= 0 && out_n && (rows || !max), SP_VALUE, "room for %d rows is wanted, but there is none", max);
    sp__lock(&lock);
    group *groups = sp__alloc((size_t)n_events * sizeof *groups);
    if (groups) {
        const int64_t n = make_groups(flags & SP_PROFILE_BY_LINE, groups);
        *out_n = n < max ? (int)n : max;
        for (int i = 0; i < *out_n; i++) {
            const group *g = &groups[i];
            rows[i] = (sp_profile_row){.kind = text_of(g->kind),
                                       .name = text_of(g->name),
                                       .file = text_of(g->file),
                                       .line = g->line,
                                       .n = g->n,
                                       .total_ns = g->ns,
                                       .self_ns = g->self_ns};
        }
    }
    sp__unlock(&lock);
    sp__free(groups);
    return groups ? SP_OK : SP_NOMEM;
}

sp_status sp_profile_table(int max, char **out)
{
    SP_CHECK(max > 0, SP_VALUE, "the number of rows must be above 0, but is %d", max);
    sp_profile_row *rows = sp__alloc((size_t)max * sizeof *rows);
    if (!rows) return SP_NOMEM;
    int n = 0;
    sp__text t = {0};
    sp_status status = sp_profile_rows(0, max, rows, &n);
    sp__text_put(&t, "%-10s %-32s %10s %12s %12s %12s\n", "kind", "name", "count", "self ms", "total ms", "mean us");
    for (int i = 0; status == SP_OK && i < n; i++)
        sp__text_put(&t, "%-10s %-32s %10lld %12.3f %12.3f %12.3f\n", rows[i].kind, rows[i].name, (long long)rows[i].n,
                     (double)rows[i].self_ns * 1e-6, (double)rows[i].total_ns * 1e-6,
                     (double)rows[i].total_ns * 1e-3 / (double)rows[i].n);
    int64_t dropped;
    const int64_t count = sp_profile_count(&dropped);
    sp__text_put(&t, "%lld events%s", (long long)count, dropped ? "" : "\n");
    if (dropped) sp__text_put(&t, ", and %lld for which there was no room\n", (long long)dropped);
    sp__free(rows);
    if (status == SP_OK) return sp__text_take(&t, out);
    sp__free(t.data);
    return status;
}
