/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_work.c - how rows are made: the bodies of tasks. They run on any thread, their inputs are done. */
#include "data/pipeline.h"
#include "data/transform.h"

static sp_row_call call_of(const sp_task *t)
{
    return (sp_row_call){.epoch = t->epoch,
                         .row = t->row,
                         .id = t->id,
                         .n_rows = t->n_inputs,
                         .seed = sp__mix(t->plan->seed, (uint64_t)t->epoch << 40 | (uint64_t)t->row),
                         .opened = t->plan->opened};
}

/* Call the node's function; all values must be there if it succeeds. */
static sp_status run_function(sp_task *t, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const sp_row_function *f = &t->plan->node->function;
    const sp_status status = f->run(f->context, call, n_in, in, n_out, out);
    t->fault = call->fault;
    t->passed_on = call->fatal;
    SP_TRY(status);
    for (int i = 0; i < n_out && !call->end; i++) SP_CHECK(out[i], SP_RUNTIME, "value %d is missing", i);
    return SP_OK;
}

sp_status sp__work_source(sp_task *t)
{
    sp_row_call call = call_of(t);
    SP_TRY(sp__task_cells(t));
    SP_TRY(run_function(t, &call, 0, NULL, t->n_cells, t->cells));
    t->end = call.end;
    return SP_OK;
}

/* --- map, project, filter, zip ------------------------------------------------------------------------------------------ */

/* The place of the one value that the transforms make in the batch above; NULL: none. */
static sp_tensor *place_of(const sp_task *t)
{
    sp_tensor *place = NULL;
    for (int i = 0; i < t->n_cells && t->room; i++) {
        const sp_tensor *all = t->room[i];
        if (t->plan->node->from[i] != -1 || !all) continue;
        if (sp_tensor_view(all, all->rank - 1, all->dims + 1, all->strides + 1, t->place * all->strides[0], &place) !=
            SP_OK)
            return NULL;
        return place;
    }
    return NULL;
}

static sp_status make_values(sp_task *t, sp_tensor **made)
{
    const sp_dataset *node = t->plan->node;
    sp_tensor *in[SP_COLUMNS_MAX];
    for (int i = 0; i < node->n_in; i++) in[i] = t->inputs[0]->cells[node->in[i]];
    if (node->function.run) {
        sp_row_call call = call_of(t);
        return run_function(t, &call, node->n_in, in, node->n_made, made);
    }
    sp_stream stream = {.seed = t->plan->seed, .row = (uint64_t)t->epoch << 40 | (uint64_t)t->row};
    int n = 0;
    sp_tensor *place = node->n_made == 1 ? place_of(t) : NULL;
    const sp_status status = sp__transform_run_into(node->n_transforms, node->transforms, &stream, node->n_in, in,
                                                    place, SP_COLUMNS_MAX, made, &n);
    sp_tensor_release(place);
    SP_TRY(status);
    if (n == node->n_made) return SP_OK;
    for (int i = 0; i < n; i++) {
        sp_tensor_release(made[i]);
        made[i] = NULL;
    }
    return sp__fail(SP_RUNTIME, "the transforms make %d columns, but %d are named", n, node->n_made);
}

sp_status sp__work_map(sp_task *t)
{
    const sp_dataset *node = t->plan->node;
    sp_tensor *made[SP_COLUMNS_MAX];
    sp_status status = sp__task_cells(t);
    for (int i = 0; i < node->n_made; i++) made[i] = NULL;
    if (status == SP_OK && node->n_made) status = make_values(t, made);
    for (int i = 0; i < t->n_cells && status == SP_OK; i++)
        t->cells[i] =
            sp_tensor_retain(node->from[i] < 0 ? made[-1 - node->from[i]] : t->inputs[0]->cells[node->from[i]]);
    for (int i = 0; i < node->n_made; i++) sp_tensor_release(made[i]);
    return status;
}

static sp_status pass_cells(sp_task *t)
{
    SP_TRY(sp__task_cells(t));
    int n = 0;
    for (int64_t i = 0; i < t->n_inputs; i++)
        for (int k = 0; k < t->inputs[i]->n_cells; k++) t->cells[n++] = sp_tensor_retain(t->inputs[i]->cells[k]);
    return SP_OK;
}

sp_status sp__work_filter(sp_task *t)
{
    const sp_dataset *node = t->plan->node;
    sp_tensor *in[SP_COLUMNS_MAX], *answer = NULL;
    sp_row_call call = call_of(t);
    double yes = 0;
    for (int i = 0; i < node->n_in; i++) in[i] = t->inputs[0]->cells[node->in[i]];
    SP_TRY(run_function(t, &call, node->n_in, in, 1, &answer));
    const sp_status status = sp_tensor_item_f64(answer, &yes);
    sp_tensor_release(answer);
    SP_TRY(status);
    t->keep = yes != 0;
    return pass_cells(t);
}

sp_status sp__work_zip(sp_task *t) { return pass_cells(t); }

/* The row of the first input. */
sp_status sp__work_pass(sp_task *t)
{
    SP_TRY(sp__task_cells(t));
    for (int k = 0; k < t->n_cells; k++) t->cells[k] = sp_tensor_retain(t->inputs[0]->cells[k]);
    return SP_OK;
}

/* From the store, or for it. */
sp_status sp__work_store(sp_task *t)
{
    const sp_row_store *store = &t->plan->node->store;
    if (t->n_inputs) {
        SP_TRY(sp__work_pass(t));
        return store->put(t->plan->stored, t->id, t->n_cells, t->cells);
    }
    SP_TRY(sp__task_cells(t));
    return store->get(t->plan->stored, t->id, t->n_cells, t->cells);
}

/* The first row of a data set, and that of the first data set: columns must be of one type and rank. */
sp_status sp__work_concat(sp_task *t)
{
    for (int k = 0; t->n_inputs == 2 && k < t->plan->node->n_columns; k++) {
        const sp_tensor *a = t->inputs[1]->cells[k], *b = t->inputs[0]->cells[k];
        SP_CHECK(
            a->dtype == b->dtype, SP_RUNTIME,
            "Concat: the data types of the two datasets to be concatenated should be the same, but got: %s and %s (column '%s')",
            sp_dtype_name((sp_dtype)a->dtype), sp_dtype_name((sp_dtype)b->dtype), t->plan->node->columns[k]);
        const int text = a->dtype == SP_DTYPE_STR;
        SP_CHECK(
            a->rank == b->rank, SP_RUNTIME,
            "Concat: the data tensor rank of the two datasets to be concatenated should be the same, but got: %d and %d (column "
            "'%s')",
            a->rank - text, b->rank - text, t->plan->node->columns[k]);
    }
    return sp__work_pass(t);
}

/* --- batches ------------------------------------------------------------------------------------------------------------ */

/* What a row has in a column: `dims` are the row's. */
typedef struct cell_kind {
    int dtype, rank;
    const int64_t *dims;
} cell_kind;

/* Also of a row that lies in the batch already: all of these are alike. */
static cell_kind kind_of(const sp_task *t, int64_t row, int column)
{
    const sp_tensor *cell = t->inputs[row]->cells[column];
    if (cell) return (cell_kind){cell->dtype, cell->rank, cell->dims};
    const sp_tensor *all = t->cells[column];
    return (cell_kind){all->dtype, all->rank - 1, all->dims + 1};
}

static sp_status fail_shapes(const sp_task *t, int column, cell_kind a, cell_kind b)
{
    char one[SP_SHAPE_TEXT], two[SP_SHAPE_TEXT];
    a.rank -= a.dtype == SP_DTYPE_STR; /* the last dimension of texts is their length */
    b.rank -= b.dtype == SP_DTYPE_STR;
    return sp__fail(
        SP_RUNTIME,
        "Cannot batch tensors with different %s in column %d ('%s'): one is %s of shape %s and another %s of shape %s; "
        "make them alike, or use padded_batch",
        a.dtype != b.dtype ? "types" : "shapes", column, t->plan->node->columns[column],
        sp_dtype_name((sp_dtype)a.dtype), sp__shape_text(a.rank, a.dims, one), sp_dtype_name((sp_dtype)b.dtype),
        sp__shape_text(b.rank, b.dims, two));
}

/* The shape that a column's cells are brought to: their own, or by padding the largest or the wanted one. */
static sp_status batch_dims(const sp_task *t, int column, int64_t *dims, bool *fill)
{
    const sp_padding *pad = t->plan->node->n_pads ? &t->plan->node->pads[column] : NULL;
    const cell_kind first = kind_of(t, 0, column);
    const bool pads = pad && pad->column, text = first.dtype == SP_DTYPE_STR;
    const int rank = first.rank;
    SP_CHECK(rank < SP_RANK_MAX, SP_RUNTIME, "column '%s' has %d dimensions, a batch of it would have too many",
             t->plan->node->columns[column], rank);
    if (pads && pad->rank >= 0)
        SP_CHECK(
            pad->rank == rank - text, SP_RUNTIME,
            "Invalid pad_info, rank of pad_shape must be equal to rank of specified column '%s', but column rank: %d, "
            "pad_shapes rank:%d",
            t->plan->node->columns[column], rank - text, pad->rank);
    SP_CHECK(!pads || !text || pad->value == 0, SP_RUNTIME,
             "PadEnd: can not pad numeric and string tensors together, but got: %g and column '%s' of strings",
             pad->value, t->plan->node->columns[column]);
    memcpy(dims, first.dims, (size_t)rank * sizeof *dims);
    for (int64_t i = 1; i < t->n_inputs; i++) {
        const cell_kind cell = kind_of(t, i, column);
        if (cell.rank != rank || cell.dtype != first.dtype) return fail_shapes(t, column, first, cell);
        for (int k = 0; k < rank; k++) {
            if (cell.dims[k] == dims[k]) continue;
            if (!pads && !(text && k == rank - 1)) return fail_shapes(t, column, first, cell);
            *fill = true;
            if (cell.dims[k] > dims[k]) dims[k] = cell.dims[k];
        }
    }
    for (int k = 0; pads && pad->rank >= 0 && k < rank - text; k++)
        if (pad->dims[k] >= 0) {
            *fill = *fill || dims[k] != pad->dims[k];
            dims[k] = pad->dims[k];
        }
    return SP_OK;
}

/* Every element of a contiguous tensor becomes `value`. */
static sp_status fill_with(sp_tensor *t, double value)
{
    memset(t->data, 0, sp_tensor_bytes(t));
    if (value == 0 || t->dtype == SP_DTYPE_STR || t->count == 0) return SP_OK;
    sp_tensor *one = NULL;
    SP_TRY(sp_tensor_create_f64((sp_dtype)t->dtype, value, &one));
    const size_t bytes = sp_dtype_bytes((sp_dtype)t->dtype);
    for (int64_t i = 0; i < t->count; i++) memcpy(t->data + (size_t)i * bytes, one->data, bytes);
    sp_tensor_release(one);
    return SP_OK;
}

/* Copy src into the corner of a block of shape dims at dst; what does not fit is cut off. */
static void copy_corner(char *dst, const int64_t *dims, const char *src, const int64_t *src_dims, int rank,
                        size_t bytes)
{
    if (rank == 0) {
        memcpy(dst, src, bytes);
        return;
    }
    const int64_t n = dims[0] < src_dims[0] ? dims[0] : src_dims[0];
    size_t dst_step = bytes, src_step = bytes;
    for (int k = 1; k < rank; k++) {
        dst_step *= (size_t)dims[k];
        src_step *= (size_t)src_dims[k];
    }
    if (rank == 1) {
        memcpy(dst, src, (size_t)n * bytes);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        copy_corner(dst + (size_t)i * dst_step, dims + 1, src + (size_t)i * src_step, src_dims + 1, rank - 1, bytes);
}

/* All rows of a column into t->cells; those that are in place already are there. */
static sp_status stack(const sp_task *t, int column)
{
    int64_t dims[SP_RANK_MAX + 1];
    const sp_padding *pad = t->plan->node->n_pads ? &t->plan->node->pads[column] : NULL;
    const cell_kind first = kind_of(t, 0, column);
    bool fill = false;
    dims[0] = t->n_inputs;
    SP_TRY(batch_dims(t, column, dims + 1, &fill));
    if (!t->cells[column]) SP_TRY(sp_tensor_create((sp_dtype)first.dtype, first.rank + 1, dims, &t->cells[column]));
    const sp_tensor *all = t->cells[column];
    sp_status status = fill ? fill_with(t->cells[column], pad && pad->column ? pad->value : 0) : SP_OK;
    const size_t step = sp_tensor_bytes(all) / (size_t)t->n_inputs;
    for (int64_t i = 0; i < t->n_inputs && status == SP_OK; i++) {
        sp_tensor *cell = NULL;
        if (!t->inputs[i]->cells[column]) continue;
        status = sp_tensor_contiguous(t->inputs[i]->cells[column], &cell);
        if (status != SP_OK) break;
        if (fill)
            copy_corner(all->data + (size_t)i * step, dims + 1, cell->data, cell->dims, cell->rank,
                        sp_dtype_bytes((sp_dtype)cell->dtype));
        else memcpy(all->data + (size_t)i * step, cell->data, step);
        sp_tensor_release(cell);
    }
    return status;
}

sp_status sp__work_batch(sp_task *t)
{
    if (!t->cells) SP_TRY(sp__task_cells(t));
    for (int i = 0; i < t->n_cells; i++) SP_TRY(stack(t, i));
    return SP_OK;
}

bool sp__batch_takes_rows(const sp_task *t)
{
    return t->plan->node->kind == &sp__node_batch && t->plan->node->n_pads == 0;
}

void sp__batch_make_room(sp_task *t, const sp_task *row)
{
    int64_t dims[SP_RANK_MAX + 1];
    if (t->cells || sp__task_cells(t) != SP_OK) return;
    dims[0] = t->n_inputs;
    for (int i = 0; i < t->n_cells; i++) {
        const sp_tensor *cell = row->cells[i];
        if (cell->dtype == SP_DTYPE_STR || cell->rank >= SP_RANK_MAX)
            continue; /* how long texts are shows at the end */
        memcpy(dims + 1, cell->dims, (size_t)cell->rank * sizeof *dims);
        if (sp_tensor_create((sp_dtype)cell->dtype, cell->rank + 1, dims, &t->cells[i]) != SP_OK) t->cells[i] = NULL;
    }
}

void sp__batch_place(const sp_task *t, sp_task *row)
{
    for (int i = 0; i < t->n_cells && t->cells; i++) {
        const sp_tensor *all = t->cells[i], *cell = row->cells[i];
        if (!all || cell->dtype != all->dtype || cell->rank != all->rank - 1 || !(cell->flags & SP_TENSOR_CONTIGUOUS))
            continue;
        if (memcmp(cell->dims, all->dims + 1, (size_t)cell->rank * sizeof *cell->dims) != 0) continue;
        const size_t bytes = sp_tensor_bytes(cell);
        char *at = all->data + (size_t)row->place * bytes;
        if (cell->data != at) memcpy(at, cell->data, bytes);
        sp_tensor_release(row->cells[i]);
        row->cells[i] = NULL;
    }
}

sp_status sp__work_batch_function(sp_task *t)
{
    sp_row_call call = call_of(t);
    const int n_columns = t->plan->node->parents[0]->n_columns;
    SP_TRY(sp__task_cells(t));
    sp_tensor **in = sp__alloc((size_t)(t->n_inputs * n_columns) * sizeof *in);
    if (!in) return SP_NOMEM;
    for (int64_t i = 0; i < t->n_inputs; i++)
        for (int k = 0; k < n_columns; k++) in[i * n_columns + k] = t->inputs[i]->cells[k];
    const sp_status status = run_function(t, &call, n_columns, in, t->n_cells, t->cells);
    sp__free(in);
    return status;
}
