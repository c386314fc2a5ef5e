/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - the statistics extension: what a version did, and how long it took.
 *
 *   ModelStatistics  1 name  2 version  3 last_inference (ms since 1970)  4 inference_count (rows)  5 execution_count (runs)  6 inference_stats  7* batch_stats
 *   inference_stats  1 success  2 fail  3 queue  4 compute_input  5 compute_infer  6 compute_output, each 1 count  2 ns
 *   batch_stats      1 batch_size  2 compute_input  3 compute_infer  4 compute_output
 * Reading and writing requests is no part of a run here, so that compute_input and compute_output count requests and take no time. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "serve/grpc.h"
#include "serve/triton.h"

static unsigned long long value(const atomic_ullong *counter)
{
    return atomic_load_explicit((atomic_ullong *)counter, memory_order_relaxed);
}

static void add(atomic_ullong *counter, unsigned long long n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static void duration_add(sp_duration *d, int64_t us)
{
    add(&d->n, 1);
    add(&d->ns, us > 0 ? (unsigned long long)us * 1000 : 0);
}

void sp__statistics_job(sp_served *m, bool ok, int64_t us)
{
    duration_add(ok ? &m->statistics.success : &m->statistics.fail, us);
}
void sp__statistics_queue(sp_served *m, int64_t us) { duration_add(&m->statistics.queue, us); }

void sp__statistics_run(sp_served *m, int n_jobs, int64_t rows, int64_t us)
{
    struct timespec now;
    int i = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    atomic_store_explicit(&m->statistics.last_ms,
                          (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000,
                          memory_order_relaxed);
    add(&m->statistics.rows, (unsigned long long)rows);
    add(&m->statistics.runs, 1);
    add(&m->statistics.infer.n, (unsigned long long)n_jobs);
    add(&m->statistics.infer.ns, us > 0 ? (unsigned long long)us * 1000 : 0);
    while (i + 1 < SP_STATISTICS_SIZES && rows > (int64_t)1 << i) i++;
    if (rows == (int64_t)1 << i) duration_add(&m->statistics.sizes[i], us);
}

/* --- written ------------------------------------------------------------------------------------------------------- */

static void put_duration(sp__text *t, const char *key, unsigned long long n, unsigned long long ns)
{
    sp__text_put(t, ",\"%s\":{\"count\":%llu,\"ns\":%llu}", key, n, ns);
}

void sp__statistics_json(const sp_served *m, sp__text *t)
{
    const sp_statistics *s = &m->statistics;
    sp__text_put(t, "{\"name\":");
    sp__json_put_text(t, m->entry->name, strlen(m->entry->name));
    sp__text_put(
        t,
        ",\"version\":\"%lld\",\"last_inference\":%llu,\"inference_count\":%llu,\"execution_count\":%llu,\"inference_stats\":{\"success\":{\"count\":%llu,\"ns\":%llu}",
        (long long)m->version, value(&s->last_ms), value(&s->rows), value(&s->runs), value(&s->success.n),
        value(&s->success.ns));
    put_duration(t, "fail", value(&s->fail.n), value(&s->fail.ns));
    put_duration(t, "queue", value(&s->queue.n), value(&s->queue.ns));
    put_duration(t, "compute_input", value(&s->infer.n), 0);
    put_duration(t, "compute_infer", value(&s->infer.n), value(&s->infer.ns));
    put_duration(t, "compute_output", value(&s->infer.n), 0);
    put_duration(t, "cache_hit", 0, 0);
    put_duration(t, "cache_miss", 0, 0);
    sp__text_put(t, "},\"response_stats\":{},\"batch_stats\":[");
    for (int i = 0, some = 0; i < SP_STATISTICS_SIZES; i++) {
        const unsigned long long n = value(&s->sizes[i].n);
        if (n == 0) continue;
        sp__text_put(t, "%s{\"batch_size\":%d", some++ ? "," : "", 1 << i);
        put_duration(t, "compute_input", n, 0);
        put_duration(t, "compute_infer", n, value(&s->sizes[i].ns));
        put_duration(t, "compute_output", n, 0);
        sp__text_put(t, "}");
    }
    sp__text_put(t, "],\"memory_usage\":[]}");
}

static sp_status wire_duration(sp_wire_out *o, uint32_t field, unsigned long long n, unsigned long long ns)
{
    const size_t at = o->bytes;
    SP_TRY(sp__wire_put_number(o, 1, n));
    SP_TRY(sp__wire_put_number(o, 2, ns));
    return sp__grpc_end_part(o, field, at);
}

static sp_status wire_durations(sp_wire_out *o, uint32_t field, const sp_statistics *s)
{
    const size_t at = o->bytes;
    SP_TRY(wire_duration(o, 1, value(&s->success.n), value(&s->success.ns)));
    SP_TRY(wire_duration(o, 2, value(&s->fail.n), value(&s->fail.ns)));
    SP_TRY(wire_duration(o, 3, value(&s->queue.n), value(&s->queue.ns)));
    SP_TRY(wire_duration(o, 4, value(&s->infer.n), 0));
    SP_TRY(wire_duration(o, 5, value(&s->infer.n), value(&s->infer.ns)));
    SP_TRY(wire_duration(o, 6, value(&s->infer.n), 0));
    return sp__grpc_end_part(o, field, at);
}

sp_status sp__statistics_put(const sp_served *m, sp_wire_out *o, uint32_t field)
{
    const sp_statistics *s = &m->statistics;
    const size_t at = o->bytes;
    char version[24];
    snprintf(version, sizeof version, "%lld", (long long)m->version);
    SP_TRY(sp__grpc_put_text(o, 1, m->entry->name));
    SP_TRY(sp__grpc_put_text(o, 2, version));
    SP_TRY(sp__wire_put_number(o, 3, value(&s->last_ms)));
    SP_TRY(sp__wire_put_number(o, 4, value(&s->rows)));
    SP_TRY(sp__wire_put_number(o, 5, value(&s->runs)));
    SP_TRY(wire_durations(o, 6, s));
    for (int i = 0; i < SP_STATISTICS_SIZES; i++) {
        const unsigned long long n = value(&s->sizes[i].n);
        const size_t inner = o->bytes;
        if (n == 0) continue;
        SP_TRY(sp__wire_put_number(o, 1, 1u << i));
        SP_TRY(wire_duration(o, 2, n, 0));
        SP_TRY(wire_duration(o, 3, n, value(&s->sizes[i].ns)));
        SP_TRY(wire_duration(o, 4, n, 0));
        SP_TRY(sp__grpc_end_part(o, 7, inner));
    }
    return sp__grpc_end_part(o, field, at);
}
