/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - what the server counts, and shows at /metrics in Prometheus' text format. Counters only go up; all are written by any thread. */
#ifndef SPORE_METRICS_H
#define SPORE_METRICS_H

#include "base/text.h"

/* How a request to a model ended: label of the counter, and what it means. */
/* clang-format off */
#define SP_OUTCOME_LIST(X)                                                \
    X(OK, "ok")                                                           \
    X(INVALID, "invalid")     /* the client's mistake: 4xx */             \
    X(REJECTED, "rejected")   /* no room in the queue or in memory: 503 */ \
    X(DEADLINE, "deadline")   /* its time was over before its turn: 504 */ \
    X(CANCELLED, "cancelled") /* the client had gone */                   \
    X(FAILED, "failed")       /* the model's or our mistake: 500 */
/* clang-format on */

#define X(e, name) SP_OUTCOME_##e,
typedef enum { SP_OUTCOME_LIST(X) SP_OUTCOME_COUNT } sp_outcome;
#undef X

enum { SP_HISTOGRAM_BUCKETS = 16 };

typedef struct sp_histogram {
    atomic_ullong buckets[SP_HISTOGRAM_BUCKETS + 1]; /* not summed up; the last: beyond all bounds */
    atomic_ullong sum;                               /* microseconds, or what is counted */
} sp_histogram;

/* Of a model. */
typedef struct sp_entry_metrics {
    atomic_ullong outcomes[SP_OUTCOME_COUNT];
    atomic_int in_flight;
    sp_histogram latency; /* from its first byte to its answer, of those that ended well */
    sp_histogram waiting; /* in the queue */
    sp_histogram running; /* of a batch */
    sp_histogram batches; /* rows of a run */
    atomic_ullong loads, load_failures;
} sp_entry_metrics;

/* Of the whole. */
typedef struct sp_server_metrics {
    atomic_ullong limited;      /* requests beyond what a client may ask for */
    atomic_ullong responses[6]; /* by the first digit of their status; [0]: nobody was there to take it */
} sp_server_metrics;

void sp__histogram_add_us(sp_histogram *h, int64_t us);
void sp__histogram_add_rows(sp_histogram *h, int64_t rows);
sp_outcome sp__outcome(int http_status);

struct sp_server;
void sp__metrics_write(struct sp_server *s, sp__text *out);

#endif
