/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - the pipeline from inside: nodes, plans, tasks.
 *
 * A data set is a tree of nodes (sp_dataset). An iterator makes a tree of plans over it, one a node. Plans decide in
 * which order rows come and never look into them: a plan's `next` hands out tasks, which say how a row is made (from
 * which tasks, by what, under which number) and are not run yet. So shuffling, skipping, sharding, batching and going
 * to a position cost nothing but the moving of pointers, and the order cannot depend on who works when.
 *
 * The iterator keeps a window of tasks that its caller will ask for, and submits them: what each needs is put into
 * queues: one for the workers, one ("lane") for functions that must run on the caller's thread in the order of rows, one
 * ("remote") for functions that wait for other processes, with threads of its own so that no C work waits behind them.
 * A chain of single rows (read, map, map) is one job: it runs back to back on one thread. A batch is run when its rows
 * are there, but each row puts itself into its place in the batch as soon as it is made: while it is in the cache, on the
 * thread that made it, and its memory serves the next row. Whoever waits for a task works on the queues meanwhile.
 *
 * Filters and streams must see rows before the rest can be planned. Their plans keep a small window of their own and
 * return SP_STAGE_WAIT while the first is not done; every plan can be asked again after that.
 *
 * One mutex guards queues and states of tasks. Results of a done task never change. */
#ifndef SPORE_DATA_PIPELINE_H
#define SPORE_DATA_PIPELINE_H

#include <pthread.h>

#include "base/lock.h"
#include "data/row_order.h"
#include "spore/pipeline.h"
#include "tensor/tensor_impl.h"

typedef struct sp_stage sp_stage;
typedef struct sp_task sp_task;

enum { SP_KEPT_MAX = 20 };
typedef enum { SP_STAGE_ROW, SP_STAGE_END, SP_STAGE_WAIT, SP_STAGE_FAIL } sp_stage_result;

typedef struct sp_dataset_kind {
    const char *name;
    /* Begin epoch plan->epoch: the own state is zero, parents are not started. NULL: starts its parents. */
    sp_status (*start)(sp_stage *plan);
    sp_stage_result (*next)(sp_stage *plan, sp_task **out);
    /* Make the row of a task whose inputs are done. NULL: its stage passes on the tasks of its parents. */
    sp_status (*run)(sp_task *task);
    /* Rows of an epoch; -1 unknown. */
    sp_status (*count)(const sp_dataset *ds, int64_t *out);
} sp_dataset_kind;

struct sp_dataset {
    atomic_int refs;
    const sp_dataset_kind *kind;
    int n_parents;
    sp_dataset **parents;
    int n_columns;
    char **columns;
    int64_t n; /* rows of a source, size of a batch or buffer, how often, how many */
    bool drop;
    bool fixed; /* of a shuffle: the same order in all epochs, by a seed of its own */
    uint64_t seed;
    sp_order order;
    sp__mixer mixer;                 /* of a shuffled source */
    sp_row_function function, sizes; /* run is NULL: none */
    sp_row_store store;              /* open is NULL: none */
    int n_transforms;
    sp_transform **transforms;
    int n_in; /* columns of the parent that go in */
    int *in;
    int n_made; /* values that come out of the function or transforms */
    int *from;  /* for each column: a column of the parent, or -1 - k for value k that was made */
    int n_pads;
    sp_padding *pads; /* one a column, column NULL: none */
    int n_files;      /* of a source, for messages: where rows come from */
    char **files;
    int64_t *file_rows;
};

/* A plan: the state of one node in one iterator. The fields that kinds share the use of are explained there. */
struct sp_stage {
    const sp_dataset *node;
    sp_iterator *it;
    sp_stage **parents;
    uint64_t seed;       /* of this place in the tree: for what transforms draw */
    uint64_t order_seed; /* for orders: one below 2^32 is the same in all places */
    int64_t epoch;
    int64_t row;   /* tasks given out in this epoch */
    int64_t at;    /* place in ids, number of the parent that is read, repeats done, ... */
    int64_t limit; /* of a batch: rows it wants now */
    int64_t *ids;
    int64_t n_ids;
    int64_t *
        mixed; /* of a shuffled source: all rows in the order of epoch `n_mixed - 1`, from which the next one's is made */
    int64_t n_mixed;
    sp__twister64 *buffer_draws; /* of a shuffle */
    sp_task **held;              /* shuffle buffer, batch in the making, window of a filter: a ring from `first` */
    int64_t n_held, room, first;
    sp_task *kept[SP_KEPT_MAX]; /* rows that can be given out once more */
    int n_kept;
    bool ended;
    void *opened; /* by node->function.open */
    void *stored; /* by node->store.open */
    int depth;
    atomic_llong rows, nanoseconds;
};

enum { SP_TASK_NEW, SP_TASK_WAITING, SP_TASK_QUEUED, SP_TASK_DONE };

struct sp_task {
    atomic_int refs;
    int state;
    int pending;      /* inputs that are not done; plus one while it is being submitted */
    sp_task *above;   /* the task to be told when this is done */
    sp_tensor **room; /* borrowed from `above`, a batch: its cells, if they are there when this begins */
    int64_t place;    /* among the inputs of `above`, -1: it is not an input itself */
    sp_task *next;    /* in a queue; the queue and `above` are counted references */
    sp_stage *plan;
    int64_t epoch, row, id;
    int64_t n_inputs;
    sp_task **inputs; /* owned */
    int n_cells;
    sp_tensor **cells; /* owned: the row; NULL until done. A cell of a row that lies in its batch already is NULL */
    size_t bytes;      /* of the cells */
    bool end;          /* of a stream: there was no row */
    bool keep;         /* of a filter: the row stays */
    bool passed_on;    /* the failure came from an input, or is not of the kind that concerns this row alone */
    sp_status status;
    sp_error *error; /* of a failure */
    void *fault;
    void (*drop_fault)(void *fault);
    sp_task *one; /* room for one input */
};

/* --- tasks (pipeline_run.c) ------------------------------------------------------------------------------------------- */

/* A new task of a plan, numbered with the plan's next row; takes over the inputs, also on failure. */
sp_status sp__task_create(sp_stage *plan, int64_t n_inputs, sp_task **inputs, sp_task **out);
void sp__task_retain(sp_task *task);
void sp__task_release(sp_task *task); /* NULL is fine */
/* See that it gets done. */
sp_status sp__task_submit(sp_iterator *it, sp_task *task);
/* Is it? If not, the iterator will wait for it. */
bool sp__task_is_done(sp_iterator *it, sp_task *task);
/* Planning has failed in a function of the caller: what it left goes to sp_iterator_take_fault. */
void sp__iterator_keep_fault(sp_iterator *it, void *fault, void (*drop_fault)(void *fault));
/* The row's cells, n of the plan's columns; zeroed. */
sp_status sp__task_cells(sp_task *task);
uint64_t sp__mix(uint64_t seed, uint64_t salt);

/* --- plans (pipeline_plan.c) ------------------------------------------------------------------------------------------ */

sp_status sp__stage_create(const sp_dataset *ds, sp_iterator *it, uint64_t seed, int depth, int *n, sp_stage **out);
void sp__stage_release(sp_stage *plan);
sp_status sp__stage_start(sp_stage *plan, int64_t epoch);
static inline sp_stage_result sp__stage_next(sp_stage *plan, sp_task **out)
{
    return plan->node->kind->next(plan, out);
}
/* Row numbers of an epoch by an order; *ids comes from malloc. */

/* --- work (pipeline_work.c) ------------------------------------------------------------------------------------------- */

sp_status sp__work_source(sp_task *task);
sp_status sp__work_map(sp_task *task);
sp_status sp__work_filter(sp_task *task);
sp_status sp__work_batch(sp_task *task);
/* Can rows of this task be put in before all are there? */
bool sp__batch_takes_rows(const sp_task *task);
/* Room for all rows of a batch, for columns of this row's shapes and types. Where there is none, rows stay where they are.
 * Called under the lock; the rest is not. */
void sp__batch_make_room(sp_task *batch, const sp_task *row);
/* Put the row's cells into their places. Those of another shape or type stay: the batch will tell. */
void sp__batch_place(const sp_task *batch, sp_task *row);
sp_status sp__work_batch_function(sp_task *task);
sp_status sp__work_zip(sp_task *task);
sp_status sp__work_pass(sp_task *task);
sp_status sp__work_concat(sp_task *task);
sp_status sp__work_store(sp_task *task);

extern const sp_dataset_kind sp__node_source, sp__node_stream, sp__node_map, sp__node_filter, sp__node_batch,
    sp__node_batch_function, sp__node_shuffle, sp__node_repeat, sp__node_skip, sp__node_take, sp__node_zip,
    sp__node_concat, sp__node_project, sp__node_tolerate, sp__node_store;

#endif
