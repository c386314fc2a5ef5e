/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_plan.c - in which order rows come: the plans of all kinds of nodes, and the table of kinds.
 *
 * Rules for `next`: it gives out a task (a reference), says END for good until the next start, or says WAIT and can be
 * asked again; then nothing that it took from its parents may be lost. */
#include "base/stack.h"
#include "data/pipeline.h"

#include <stdlib.h>

enum { SEE_AHEAD = 64 }; /* rows that a filter or stream has under way */

/* --- the ring of held tasks ------------------------------------------------------------------------------------------ */

static sp_status hold(sp_stage *p, sp_task *task)
{
    if (p->n_held == p->room) {
        const int64_t room = p->room ? p->room * 2 : 16;
        sp_task **ring = sp__alloc((size_t)room * sizeof(sp_task *));
        if (!ring) return SP_NOMEM;
        for (int64_t i = 0; i < p->n_held; i++) ring[i] = p->held[(p->first + i) % p->room];
        sp__free(p->held);
        p->held = ring;
        p->room = room;
        p->first = 0;
    }
    p->held[(p->first + p->n_held++) % p->room] = task;
    return SP_OK;
}

static sp_task *let_go_first(sp_stage *p)
{
    sp_task *task = p->held[p->first];
    p->first = (p->first + 1) % p->room;
    p->n_held--;
    return task;
}

static void let_go_all(sp_stage *p)
{
    while (p->n_held) sp__task_release(let_go_first(p));
    while (p->n_kept) sp__task_release(p->kept[--p->n_kept]);
}

/* Hold what the parent gives; on failure it is released. */
static sp_stage_result take(sp_stage *p, sp_stage *parent)
{
    sp_task *task = NULL;
    const sp_stage_result r = sp__stage_next(parent, &task);
    if (r != SP_STAGE_ROW) return r;
    if (hold(p, task) == SP_OK) return SP_STAGE_ROW;
    sp__task_release(task);
    return SP_STAGE_FAIL;
}

/* --- life ------------------------------------------------------------------------------------------------------------- */

sp_status sp__stage_create(const sp_dataset *ds, sp_iterator *it, uint64_t seed, int depth, int *n, sp_stage **out)
{
    SP_TRY(sp__stack_check());
    sp_stage *p = sp__alloc_zero(sizeof *p);
    if (!p) return SP_NOMEM;
    p->node = ds;
    p->it = it;
    p->depth = depth;
    p->parents = sp__alloc_zero((size_t)(ds->n_parents + 1) * sizeof *p->parents);
    sp_status status = p->parents ? SP_OK : SP_NOMEM;
    for (int i = 0; i < ds->n_parents && status == SP_OK; i++)
        status = sp__stage_create(ds->parents[i], it, seed, depth + 1, n, &p->parents[i]);
    /* Numbered from below: what stands on top of a tree does not change what is random inside. */
    p->seed = sp__mix(seed, (uint64_t)*n);
    if (ds->kind != &sp__node_store)
        ++*n; /* a store draws nothing, and what stands on it draws what it would without */
    p->order_seed = seed <= UINT32_MAX ? seed : p->seed | (uint64_t)1 << 32;
    if (status == SP_OK) *out = p;
    else sp__stage_release(p);
    return status;
}

void sp__stage_release(sp_stage *p)
{
    if (!p) return;
    for (int i = 0; p->parents && i < p->node->n_parents; i++) sp__stage_release(p->parents[i]);
    let_go_all(p);
    sp__free(p->parents);
    sp__free(p->held);
    sp__free(p->mixed);
    sp__free(p->buffer_draws);
    free(p->ids);
    sp__free(p);
}

sp_status sp__stage_start(sp_stage *p, int64_t epoch)
{
    let_go_all(p);
    p->epoch = epoch;
    p->row = p->at = p->limit = 0;
    p->ended = false;
    if (p->node->kind->start) return p->node->kind->start(p);
    for (int i = 0; i < p->node->n_parents; i++) SP_TRY(sp__stage_start(p->parents[i], epoch));
    return SP_OK;
}

static sp_stage_result give_new(sp_stage *p, int64_t n_inputs, sp_task **inputs, sp_task **out)
{
    return sp__task_create(p, n_inputs, inputs, out) == SP_OK ? SP_STAGE_ROW : SP_STAGE_FAIL;
}

static sp_status parent_count(const sp_dataset *ds, int64_t *out) { return sp_dataset_count(ds->parents[0], out); }
static sp_status unknown_count(const sp_dataset *ds, int64_t *out)
{
    (void)ds;
    *out = -1;
    return SP_OK;
}

/* --- sources ---------------------------------------------------------------------------------------------------------- */

/* All rows in the order of an epoch: that of the epoch before, mixed once more by the next seed, as MindSpore does it. Shards of records
 * are mixed from the start each time. */
static sp_status mix(sp_stage *p)
{
    const int64_t count = p->node->n;
    const bool records = p->node->mixer == SP_MIX_MINSTD, afresh = records && p->node->order.n_shards > 1;
    if (!p->mixed) p->mixed = sp__alloc((size_t)(count + 1) * sizeof *p->mixed);
    SP_CHECK(p->mixed, SP_NOMEM, "out of memory for the numbers of %lld rows", (long long)count);
    if (afresh || p->n_mixed == 0 || p->n_mixed > p->epoch + 1) {
        for (int64_t i = 0; i < count; i++) p->mixed[i] = i;
        p->n_mixed = afresh ? p->epoch : 0;
    }
    for (; p->n_mixed <= p->epoch; p->n_mixed++)
        sp__mix_ids(p->node->mixer, (uint32_t)(p->order_seed + (uint64_t)p->n_mixed + records), p->mixed, count);
    return SP_OK;
}

/* Numbers of the rows of an epoch; `all` are the rows in their order, NULL: as they lie. */
static sp_status order_ids(const sp_order *order, const int64_t *all, int64_t count, int64_t **out, int64_t *n)
{
    const bool parts = order->n_shards > 1 && count > 0;
    const int64_t step = parts ? order->n_shards : 1, first = parts ? order->shard : 0,
                  each = (count + step - 1) / step;
    int64_t *ids = malloc((size_t)(each + 1) * sizeof *ids);
    SP_CHECK(ids, SP_NOMEM, "out of memory for the numbers of %lld rows", (long long)each);
    for (int64_t i = 0; i < each; i++) {
        const int64_t at = (i * step + first) % count;
        ids[i] = all ? all[at] : at;
    }
    *out = ids;
    *n = order->n_samples && order->n_samples < each ? order->n_samples : each;
    return SP_OK;
}

static sp_status source_start(sp_stage *p)
{
    const sp_order *order = &p->node->order;
    free(p->ids);
    p->ids = NULL;
    p->n_ids = 0;
    /* Processes that read shards of one data set agree on its order because they build the same tree. */
    if (order->ids) return order->ids(order->context, p->order_seed, p->epoch, &p->ids, &p->n_ids);
    if (order->shuffle) SP_TRY(mix(p));
    return order_ids(order, order->shuffle ? p->mixed : NULL, p->node->n, &p->ids, &p->n_ids);
}

static sp_stage_result source_next(sp_stage *p, sp_task **out)
{
    if (p->row == p->n_ids) return SP_STAGE_END;
    const int64_t id = p->ids[p->row];
    if (id < 0 || id >= p->node->n) {
        sp__fail(SP_RUNTIME, "the sampler gives row %lld, but the source has %lld rows", (long long)id,
                 (long long)p->node->n);
        return SP_STAGE_FAIL;
    }
    const sp_stage_result r = give_new(p, 0, NULL, out);
    if (r == SP_STAGE_ROW) (*out)->id = id;
    return r;
}

static sp_status source_count(const sp_dataset *ds, int64_t *out)
{
    if (!ds->order.ids) {
        int64_t n = ds->n;
        if (ds->order.n_shards > 1) n = (n + ds->order.n_shards - 1) / ds->order.n_shards;
        *out = ds->order.n_samples && ds->order.n_samples < n ? ds->order.n_samples : n;
        return SP_OK;
    }
    int64_t *ids = NULL;
    SP_TRY(ds->order.ids ? ds->order.ids(ds->order.context, 0, 0, &ids, out)
                         : order_ids(&ds->order, NULL, ds->n, &ids, out));
    free(ids);
    return SP_OK;
}

/* Hold a task whose row has to be seen, and see that it gets done; takes it over. */
static sp_status see_to(sp_stage *p, sp_task *task)
{
    const sp_status status = hold(p, task);
    if (status == SP_OK) return sp__task_submit(p->it, task);
    sp__task_release(task);
    return status;
}

/* A stream's tasks must be run to know whether they are rows: those under way are held, and the first is looked at. */
static sp_stage_result stream_next(sp_stage *p, sp_task **out)
{
    const int64_t ahead = p->node->function.lane ? 1 : SEE_AHEAD; /* in the lane nobody works ahead of the caller */
    while (!p->ended && p->n_held < ahead) {
        sp_task *task = NULL;
        if (give_new(p, 0, NULL, &task) != SP_STAGE_ROW || see_to(p, task) != SP_OK) return SP_STAGE_FAIL;
    }
    if (p->n_held == 0) return SP_STAGE_END;
    if (!sp__task_is_done(p->it, p->held[p->first])) return SP_STAGE_WAIT;
    sp_task *task = let_go_first(p);
    if (task->status == SP_OK && task->end) {
        p->ended = true;
        sp__task_release(task);
        let_go_all(p);
        return SP_STAGE_END;
    }
    if (task->status != SP_OK) p->ended = true; /* what comes behind a failure of a stream is anyone's guess */
    *out = task;
    return SP_STAGE_ROW;
}

/* --- one row from one row --------------------------------------------------------------------------------------------- */

static sp_stage_result map_next(sp_stage *p, sp_task **out)
{
    sp_task *task = NULL;
    const sp_stage_result r = sp__stage_next(p->parents[0], &task);
    return r == SP_STAGE_ROW ? give_new(p, 1, &task, out) : r;
}

/* A row that is there needs nothing of its parents but its number. */
static sp_stage_result store_next(sp_stage *p, sp_task **out)
{
    sp_task *task = NULL;
    bool there = false;
    const sp_stage_result r = sp__stage_next(p->parents[0], &task);
    if (r != SP_STAGE_ROW) return r;
    const int64_t id = task->id;
    if (p->node->store.has(p->stored, id, &there) != SP_OK) {
        sp__task_release(task);
        return SP_STAGE_FAIL;
    }
    if (!there) return give_new(p, 1, &task, out);
    sp__task_release(task);
    const sp_stage_result made = give_new(p, 0, NULL, out);
    if (made == SP_STAGE_ROW) (*out)->id = id;
    return made;
}

static sp_stage_result filter_next(sp_stage *p, sp_task **out)
{
    for (;;) {
        while (!p->ended && p->n_held < SEE_AHEAD) {
            sp_task *in = NULL, *task = NULL;
            const sp_stage_result r = sp__stage_next(p->parents[0], &in);
            if (r == SP_STAGE_FAIL) return r;
            if (r == SP_STAGE_WAIT && p->n_held == 0) return r; /* else the first held one can be waited for */
            if (r == SP_STAGE_WAIT) break;
            if (r == SP_STAGE_END) {
                p->ended = true;
                break;
            }
            if (give_new(p, 1, &in, &task) != SP_STAGE_ROW || see_to(p, task) != SP_OK) return SP_STAGE_FAIL;
        }
        if (p->n_held == 0) return SP_STAGE_END;
        if (!sp__task_is_done(p->it, p->held[p->first])) return SP_STAGE_WAIT;
        sp_task *task = let_go_first(p);
        if (task->keep || task->status != SP_OK) {
            *out = task;
            return SP_STAGE_ROW;
        }
        sp__task_release(task);
    }
}

/* Rows that failed in the parent itself are left out; with `drop` not set, rows that came before take their places at the end.
 * held: rows under way; kept: the first good ones; limit: how many are missing */
static sp_stage_result tolerate_next(sp_stage *p, sp_task **out)
{
    for (;;) {
        while (!p->ended && p->n_held < SEE_AHEAD) {
            sp_task *in = NULL;
            const sp_stage_result r = sp__stage_next(p->parents[0], &in);
            if (r == SP_STAGE_FAIL) return r;
            if (r == SP_STAGE_WAIT && p->n_held == 0) return r;
            if (r == SP_STAGE_WAIT) break;
            if (r == SP_STAGE_END) p->ended = true;
            else if (see_to(p, in) != SP_OK) return SP_STAGE_FAIL;
        }
        if (p->n_held == 0) break;
        if (!sp__task_is_done(p->it, p->held[p->first])) return SP_STAGE_WAIT;
        sp_task *task = let_go_first(p);
        if (task->status == SP_OK || task->passed_on) {
            if (task->status == SP_OK && !p->node->drop && p->n_kept < SP_KEPT_MAX) {
                sp__task_retain(task);
                p->kept[p->n_kept++] = task;
            }
            return give_new(p, 1, &task, out);
        }
        p->limit++;
        sp__task_release(task);
    }
    if (p->node->drop || p->at >= p->limit) return SP_STAGE_END;
    if (p->n_kept == 0) {
        sp__fail(SP_RUNTIME, "All data is garbage and cannot be replaced.");
        return SP_STAGE_FAIL;
    }
    sp_task *again = p->kept[p->at++ % p->n_kept];
    sp__task_retain(again);
    return give_new(p, 1, &again, out);
}

static sp_status tolerate_count(const sp_dataset *ds, int64_t *out)
{
    return ds->drop ? unknown_count(ds, out) : parent_count(ds, out);
}

/* --- several rows ----------------------------------------------------------------------------------------------------- */

static sp_status batch_limit(sp_stage *p)
{
    const sp_row_function *sizes = &p->node->sizes;
    p->limit = p->node->n;
    if (!sizes->run) return SP_OK;
    sp_row_call call = {.epoch = p->epoch, .row = p->row};
    sp_tensor *size = NULL;
    const sp_status asked = sizes->run(sizes->context, &call, 0, NULL, 1, &size);
    if (asked != SP_OK) sp__error_context("batch_size of batch %lld", (long long)p->row);
    if (call.fault) sp__iterator_keep_fault(p->it, call.fault, sizes->drop_fault);
    SP_TRY(asked);
    const sp_status status = sp_tensor_item_i64(size, &p->limit);
    sp_tensor_release(size);
    SP_TRY(status);
    SP_CHECK(
        p->limit >= 1, SP_VALUE,
        "Invalid batch_size function, 'batch_size' function should return an integer greater than 0, but got: %lld (batch %lld)",
        (long long)p->limit, (long long)p->row);
    return SP_OK;
}

static sp_stage_result batch_next(sp_stage *p, sp_task **out)
{
    if (p->limit == 0 && batch_limit(p) != SP_OK) return SP_STAGE_FAIL;
    while (p->n_held < p->limit && !p->ended) {
        const sp_stage_result r = take(p, p->parents[0]);
        if (r == SP_STAGE_WAIT || r == SP_STAGE_FAIL) return r;
        p->ended = r == SP_STAGE_END;
    }
    if (p->n_held == 0) return SP_STAGE_END;
    if (p->n_held < p->limit && p->node->drop) {
        let_go_all(p);
        return SP_STAGE_END;
    }
    sp_task **rows = sp__alloc((size_t)p->n_held * sizeof(sp_task *));
    if (!rows) return SP_STAGE_FAIL;
    int64_t n = 0;
    while (p->n_held) rows[n++] = let_go_first(p);
    p->limit = 0;
    const sp_stage_result r = give_new(p, n, rows, out);
    sp__free(rows);
    return r;
}

static sp_status batch_count(const sp_dataset *ds, int64_t *out)
{
    int64_t n = -1;
    if (!ds->sizes.run) SP_TRY(parent_count(ds, &n));
    *out = n < 0 ? -1 : ds->drop ? n / ds->n : (n + ds->n - 1) / ds->n;
    return SP_OK;
}

/* Rows of an epoch if that is known without asking a user's function; -1. */
static sp_status quiet_count(const sp_dataset *ds, int64_t *out)
{
    for (const sp_dataset *at = ds; at; at = at->n_parents ? at->parents[0] : NULL)
        if (at->order.ids || at->n_parents > 1) return unknown_count(ds, out);
    return sp_dataset_count(ds, out);
}

/* One generator for all epochs, of which each uses as many numbers as it has rows. Where their number is not known, every epoch starts one
 * of its own, so that going to an epoch does not need those before it. */
static sp_status shuffle_start(sp_stage *p)
{
    int64_t rows = -1;
    if (!p->buffer_draws) {
        p->buffer_draws = sp__alloc(sizeof *p->buffer_draws);
        if (!p->buffer_draws) return SP_NOMEM;
        p->buffer_draws->used = INT64_MAX;
    }
    if (!p->node->fixed) SP_TRY(quiet_count(p->node->parents[0], &rows));
    const uint64_t seed = p->node->fixed ? p->node->seed
                          : rows >= 0    ? p->order_seed
                                         : p->order_seed + (uint64_t)p->epoch;
    const int64_t skip = rows >= 0 ? rows * p->epoch : 0;
    if (rows < 0 || p->buffer_draws->used > skip) sp__twister64_start(p->buffer_draws, (uint32_t)seed);
    while (p->buffer_draws->used < skip) sp__twister64_next(p->buffer_draws);
    return sp__stage_start(p->parents[0], p->epoch);
}

static sp_stage_result shuffle_next(sp_stage *p, sp_task **out)
{
    while (p->n_held < p->node->n && !p->ended) {
        const sp_stage_result r = take(p, p->parents[0]);
        if (r == SP_STAGE_WAIT || r == SP_STAGE_FAIL) return r;
        p->ended = r == SP_STAGE_END;
    }
    if (p->n_held == 0) return SP_STAGE_END;
    /* The drawn one goes out, the last takes its place. */
    const int64_t k = (p->first + (int64_t)(sp__twister64_next(p->buffer_draws) % (uint64_t)p->n_held)) % p->room;
    const int64_t last = (p->first + p->n_held - 1) % p->room;
    *out = p->held[k];
    p->held[k] = p->held[last];
    p->n_held--;
    return SP_STAGE_ROW;
}

/* Epochs of the parent in one of the repeat's; those without end have room for as many as anybody will read. */
static int64_t repeats(const sp_dataset *ds) { return ds->n > 0 ? ds->n : (int64_t)1 << 32; }

/* at: repeats begun; limit: whether this one has given a row */
static sp_status repeat_start(sp_stage *p)
{
    p->at = 1;
    return sp__stage_start(p->parents[0], p->epoch * repeats(p->node));
}

static sp_stage_result repeat_next(sp_stage *p, sp_task **out)
{
    for (;;) {
        const sp_stage_result r = sp__stage_next(p->parents[0], out);
        if (r == SP_STAGE_ROW) p->limit = 1;
        if (r != SP_STAGE_END || p->at >= repeats(p->node) || (p->node->n < 0 && !p->limit)) return r;
        p->limit = 0;
        if (sp__stage_start(p->parents[0], p->epoch * repeats(p->node) + p->at++) != SP_OK) return SP_STAGE_FAIL;
    }
}

static sp_status repeat_count(const sp_dataset *ds, int64_t *out)
{
    int64_t n = 0;
    SP_TRY(parent_count(ds, &n));
    SP_CHECK(n < 0 || ds->n < 0 || sp__mul_i64(n, ds->n, &n), SP_VALUE, "repeat: more rows than can be counted");
    *out = n < 0 ? -1 : n;
    return SP_OK;
}

/* at: rows skipped */
static sp_stage_result skip_next(sp_stage *p, sp_task **out)
{
    for (;; p->at++) {
        const sp_stage_result r = sp__stage_next(p->parents[0], out);
        if (r != SP_STAGE_ROW || p->at >= p->node->n) return r;
        sp__task_release(*out);
        *out = NULL;
    }
}

static sp_status skip_count(const sp_dataset *ds, int64_t *out)
{
    int64_t n = 0;
    SP_TRY(parent_count(ds, &n));
    *out = n < 0 ? -1 : n > ds->n ? n - ds->n : 0;
    return SP_OK;
}

/* at: rows taken */
static sp_stage_result take_next(sp_stage *p, sp_task **out)
{
    if (p->at == p->node->n) return SP_STAGE_END;
    const sp_stage_result r = sp__stage_next(p->parents[0], out);
    p->at += r == SP_STAGE_ROW;
    return r;
}

static sp_status take_count(const sp_dataset *ds, int64_t *out)
{
    int64_t n = 0;
    SP_TRY(parent_count(ds, &n));
    *out = n < 0 ? -1 : n < ds->n ? n : ds->n;
    return SP_OK;
}

/* --- several data sets ------------------------------------------------------------------------------------------------ */

static sp_stage_result zip_next(sp_stage *p, sp_task **out)
{
    while (!p->ended && p->n_held < p->node->n_parents) {
        const sp_stage_result r = take(p, p->parents[p->n_held]);
        if (r == SP_STAGE_WAIT || r == SP_STAGE_FAIL) return r;
        p->ended = r == SP_STAGE_END;
    }
    if (p->ended) {
        let_go_all(p);
        return SP_STAGE_END;
    }
    sp_task *rows[SP_COLUMNS_MAX]; /* every data set has a column at least */
    int n = 0;
    while (p->n_held) rows[n++] = let_go_first(p);
    return give_new(p, n, rows, out);
}

static sp_status zip_count(const sp_dataset *ds, int64_t *out)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < ds->n_parents; i++) {
        int64_t n = 0;
        SP_TRY(sp_dataset_count(ds->parents[i], &n));
        least = n < least ? n : least; /* unknown is -1 and wins */
    }
    *out = least;
    return SP_OK;
}

/* The first row of a data set: of the first one as a copy, so that the row stays as it is; of the others compared with it. */
static sp_stage_result concat_first(sp_stage *p, sp_task *task, sp_task **out)
{
    sp_task *first = p->held[p->first], *rows[2] = {task ? task : first, first};
    p->limit = 1;
    sp__task_retain(first);
    if (task && first->status == SP_OK) return give_new(p, 2, rows, out);
    if (task) sp__task_release(first);
    return give_new(p, 1, rows, out);
}

/* at: number of the data set; limit: whether it has given a row; held: the first row of all; ended: whether that has been given
 * out. It is waited for: a task that others are told to make must not be submitted, and one that is made can be given to several. */
static sp_stage_result concat_next(sp_stage *p, sp_task **out)
{
    for (; p->at < p->node->n_parents; p->at++, p->limit = 0) {
        if (p->n_held && !sp__task_is_done(p->it, p->held[p->first])) return SP_STAGE_WAIT;
        if (p->n_held && !p->ended) {
            p->ended = true;
            return concat_first(p, NULL, out);
        }
        sp_task *task = NULL;
        const sp_stage_result r = sp__stage_next(p->parents[p->at], &task);
        if (r == SP_STAGE_END) continue;
        if (r != SP_STAGE_ROW || p->limit) {
            *out = task;
            return r;
        }
        if (p->n_held) return concat_first(p, task, out);
        if (see_to(p, task) != SP_OK) return SP_STAGE_FAIL;
        return concat_next(p, out);
    }
    return SP_STAGE_END;
}

static sp_status concat_count(const sp_dataset *ds, int64_t *out)
{
    int64_t sum = 0;
    for (int i = 0; i < ds->n_parents; i++) {
        int64_t n = 0;
        SP_TRY(sp_dataset_count(ds->parents[i], &n));
        sum = n < 0 || sum < 0 ? -1 : sum + n;
    }
    *out = sum;
    return SP_OK;
}

/* --- the kinds -------------------------------------------------------------------------------------------------------- */

#define KIND(k, text, start_, next_, run_, count_)                                                                     \
    const sp_dataset_kind sp__node_##k = {.name = text, .start = start_, .next = next_, .run = run_, .count = count_}
KIND(source, "source", source_start, source_next, sp__work_source, source_count);
KIND(stream, "stream", NULL, stream_next, sp__work_source, unknown_count);
KIND(map, "map", NULL, map_next, sp__work_map, parent_count);
KIND(project, "project", NULL, map_next, sp__work_map, parent_count);
KIND(filter, "filter", NULL, filter_next, sp__work_filter, unknown_count);
KIND(batch, "batch", NULL, batch_next, sp__work_batch, batch_count);
KIND(batch_function, "batch", NULL, batch_next, sp__work_batch_function, batch_count);
KIND(zip, "zip", NULL, zip_next, sp__work_zip, zip_count);
KIND(shuffle, "shuffle", shuffle_start, shuffle_next, NULL, parent_count);
KIND(repeat, "repeat", repeat_start, repeat_next, NULL, repeat_count);
KIND(skip, "skip", NULL, skip_next, NULL, skip_count);
KIND(take, "take", NULL, take_next, NULL, take_count);
KIND(concat, "concat", NULL, concat_next, sp__work_concat, concat_count);
KIND(tolerate, "tolerate", NULL, tolerate_next, sp__work_pass, tolerate_count);
KIND(store, "cache", NULL, store_next, sp__work_store, parent_count);
