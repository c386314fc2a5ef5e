/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - counters and histograms, and how Prometheus reads them. */
#include "serve/metrics.h"
#include "serve/json.h"
#include "serve/serve_impl.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const int64_t bounds_us[SP_HISTOGRAM_BUCKETS] = {
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000};

void sp__histogram_add_us(sp_histogram *h, int64_t us)
{
    int i = 0;
    while (i < SP_HISTOGRAM_BUCKETS && us > bounds_us[i]) i++;
    atomic_fetch_add_explicit(&h->buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum, us > 0 ? (unsigned long long)us : 0, memory_order_relaxed);
}

/* Bounds are powers of two. */
void sp__histogram_add_rows(sp_histogram *h, int64_t rows)
{
    int i = 0;
    while (i < SP_HISTOGRAM_BUCKETS && rows > (int64_t)1 << i) i++;
    atomic_fetch_add_explicit(&h->buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum, (unsigned long long)rows, memory_order_relaxed);
}

sp_outcome sp__outcome(int http_status)
{
    if (http_status < 400) return SP_OUTCOME_OK;
    if (http_status == 499) return SP_OUTCOME_CANCELLED;
    if (http_status == 503 || http_status == 429) return SP_OUTCOME_REJECTED;
    if (http_status == 504) return SP_OUTCOME_DEADLINE;
    return http_status < 500 ? SP_OUTCOME_INVALID : SP_OUTCOME_FAILED;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

static void head(sp__text *t, const char *name, const char *kind, const char *help)
{
    sp__text_put(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

/* Names of models are written like JSON's texts, which escape what Prometheus wants escaped. */
static void label(sp__text *t, const char *metric, const sp_entry *e)
{
    sp__text_put(t, "%s{model=", metric);
    sp__json_put_text(t, e->name, strlen(e->name));
}

static void histogram(sp__text *t, const char *name, sp_entry *e, const sp_histogram *h, bool seconds)
{
    unsigned long long total = 0;
    for (int i = 0; i <= SP_HISTOGRAM_BUCKETS; i++) {
        total += atomic_load_explicit(&((sp_histogram *)h)->buckets[i], memory_order_relaxed);
        if (!seconds && i < SP_HISTOGRAM_BUCKETS && i > 10) continue;
        sp__text_put(t, "%s_bucket{model=", name);
        sp__json_put_text(t, e->name, strlen(e->name));
        if (i == SP_HISTOGRAM_BUCKETS) sp__text_put(t, ",le=\"+Inf\"} %llu\n", total);
        else if (seconds) sp__text_put(t, ",le=\"%g\"} %llu\n", (double)bounds_us[i] / 1e6, total);
        else sp__text_put(t, ",le=\"%d\"} %llu\n", 1 << i, total);
    }
    const unsigned long long sum = atomic_load_explicit(&((sp_histogram *)h)->sum, memory_order_relaxed);
    sp__text_put(t, "%s_sum{model=", name);
    sp__json_put_text(t, e->name, strlen(e->name));
    if (seconds) sp__text_put(t, "} %.6f\n", (double)sum / 1e6);
    else sp__text_put(t, "} %llu\n", sum);
    sp__text_put(t, "%s_count{model=", name);
    sp__json_put_text(t, e->name, strlen(e->name));
    sp__text_put(t, "} %llu\n", total);
}

static void write_histograms(sp__text *t, sp_entry *first)
{
    static const struct {
        const char *name, *help;
        size_t offset;
        bool seconds;
    } all[] = {
        {"spore_request_seconds", "From the first byte of a request to its answer, of those that ended well.",
         offsetof(sp_entry_metrics, latency), true},
        {"spore_queue_seconds", "Time requests waited for the model.", offsetof(sp_entry_metrics, waiting), true},
        {"spore_run_seconds", "Time of the model's runs.", offsetof(sp_entry_metrics, running), true},
        {"spore_batch_rows", "Rows that were run together.", offsetof(sp_entry_metrics, batches), false}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        head(t, all[k].name, "histogram", all[k].help);
        for (sp_entry *e = first; e != NULL; e = sp__entry_next(e))
            histogram(t, all[k].name, e,
                      (const sp_histogram *)(const void *)((const char *)&e->metrics + all[k].offset), all[k].seconds);
    }
}

static void write_entries(sp__text *t, sp_entry *first)
{
#define X(e, name) name,
    static const char *const outcomes[] = {SP_OUTCOME_LIST(X)};
#undef X
    head(t, "spore_requests_total", "counter", "Requests to models, by how they ended.");
    for (sp_entry *e = first; e != NULL; e = sp__entry_next(e))
        for (int k = 0; k < SP_OUTCOME_COUNT; k++) {
            label(t, "spore_requests_total", e);
            sp__text_put(t, ",outcome=\"%s\"} %llu\n", outcomes[k], atomic_load(&e->metrics.outcomes[k]));
        }
    head(t, "spore_requests_in_flight", "gauge", "Requests to models that are under way.");
    for (sp_entry *e = first; e != NULL; e = sp__entry_next(e)) {
        label(t, "spore_requests_in_flight", e);
        sp__text_put(t, "} %d\n", atomic_load(&e->metrics.in_flight));
    }
    head(t, "spore_queue_depth", "gauge", "Requests that wait for a model, or are in its run.");
    for (sp_entry *e = first; e != NULL; e = sp__entry_next(e)) {
        label(t, "spore_queue_depth", e);
        sp__text_put(t, "} %d\n", atomic_load(&e->n_waiting));
    }
    head(t, "spore_model_version", "gauge", "The version that is served; 0: none.");
    for (sp_entry *e = first; e != NULL; e = sp__entry_next(e)) {
        sp_served *m = sp__entry_take(e, 0);
        label(t, "spore_model_version", e);
        sp__text_put(t, "} %lld\n", m != NULL ? (long long)m->version : 0);
        sp__served_release(m);
    }
    head(t, "spore_model_degraded", "gauge", "Whether a newer version is there that cannot be served.");
    for (sp_entry *e = first; e != NULL; e = sp__entry_next(e)) {
        char why[400];
        sp__entry_degraded(e, why);
        label(t, "spore_model_degraded", e);
        sp__text_put(t, "} %d\n", why[0] != '\0');
    }
    head(t, "spore_model_available", "gauge", "Whether a version of the model is served.");
    for (sp_entry *e = first; e != NULL; e = sp__entry_next(e)) {
        sp_served *m = sp__entry_take(e, 0);
        label(t, "spore_model_available", e);
        sp__text_put(t, "} %d\n", m != NULL);
        sp__served_release(m);
    }
    head(t, "spore_model_loads_total", "counter", "Versions that were loaded, or could not be.");
    for (sp_entry *e = first; e != NULL; e = sp__entry_next(e)) {
        label(t, "spore_model_loads_total", e);
        sp__text_put(t, ",outcome=\"ok\"} %llu\n", atomic_load(&e->metrics.loads));
        label(t, "spore_model_loads_total", e);
        sp__text_put(t, ",outcome=\"failed\"} %llu\n", atomic_load(&e->metrics.load_failures));
    }
    write_histograms(t, first);
}

/* What Prometheus' own clients tell of a process. */
static void write_process(sp__text *t)
{
    struct rusage use;
    struct rlimit files;
    long pages = 0, resident = 0;
    int n_files = -1; /* without the one that counts them */
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%ld %ld", &pages, &resident) != 2) pages = resident = 0;
    if (file != NULL) fclose(file);
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) n_files += e->d_name[0] != '.';
    if (d != NULL) closedir(d);
    if (getrusage(RUSAGE_SELF, &use) == 0) {
        head(t, "process_cpu_seconds_total", "counter", "Processor time of the process.");
        sp__text_put(t, "process_cpu_seconds_total %.6f\n",
                     (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                         (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
    }
    head(t, "process_resident_memory_bytes", "gauge", "Memory of the process that is in use.");
    sp__text_put(t, "process_resident_memory_bytes %lld\n", (long long)resident * sysconf(_SC_PAGESIZE));
    head(t, "process_virtual_memory_bytes", "gauge", "Addresses of the process that are in use.");
    sp__text_put(t, "process_virtual_memory_bytes %lld\n", (long long)pages * sysconf(_SC_PAGESIZE));
    head(t, "process_open_fds", "gauge", "Open file descriptors.");
    sp__text_put(t, "process_open_fds %d\n", n_files > 0 ? n_files : 0);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    head(t, "process_max_fds", "gauge", "File descriptors that may be open.");
    sp__text_put(t, "process_max_fds %llu\n", (unsigned long long)files.rlim_cur);
}

void sp__metrics_write(struct sp_server *s, sp__text *t)
{
    sp_memory_stats memory;
    sp_memory_get(&memory);
    sp_entry *first = sp__entry_first(s);
    head(t, "spore_info", "gauge", "Version of spore.");
    sp__text_put(t, "spore_info{version=\"%s\"} 1\n", sp_version());
    head(t, "spore_ready", "gauge", "Whether all models are there and requests are taken.");
    sp__text_put(t, "spore_ready %d\n", sp__server_ready(s));
    head(t, "spore_connections", "gauge", "Connections that are open.");
    sp__text_put(t, "spore_connections %d\n", sp__net_connections(s->net));
    head(t, "spore_memory_bytes", "gauge", "Memory of tensors and requests.");
    sp__text_put(t, "spore_memory_bytes %zu\n", memory.used_bytes);
    head(t, "spore_responses_total", "counter",
         "HTTP responses of any kind, by the class of their status; gone: nobody was there to take it.");
    for (int i = 0; i < 6; i++) {
        static const char *const classes[6] = {"gone", NULL, "2xx", NULL, "4xx", "5xx"};
        if (classes[i] != NULL)
            sp__text_put(t, "spore_responses_total{class=\"%s\"} %llu\n", classes[i],
                         atomic_load(&s->metrics.responses[i]));
    }
    head(t, "spore_log_lines_dropped_total", "counter",
         "Lines of the log that were not taken in time or could not be written.");
    for (int access = 0; access < 2; access++)
        sp__text_put(t, "spore_log_lines_dropped_total{log=\"%s\"} %llu\n", access ? "access" : "events",
                     sp__log_dropped(s->log, access));
    head(t, "spore_requests_limited_total", "counter", "Requests beyond what one client may ask for.");
    sp__text_put(t, "spore_requests_limited_total %llu\n", atomic_load(&s->metrics.limited));
    if (s->otlp != NULL) {
        head(t, "spore_spans_total", "counter",
             "Spans of traces that the collector took, and those that were dropped.");
        sp__text_put(t, "spore_spans_total{outcome=\"sent\"} %llu\nspore_spans_total{outcome=\"dropped\"} %llu\n",
                     sp__otlp_count(s->otlp, false), sp__otlp_count(s->otlp, true));
    }
    write_process(t);
    write_entries(t, first);
}
