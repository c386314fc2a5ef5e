/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - making data sets: nodes of the tree, their columns, their sizes. */
#include "base/handle.h"
#include "data/pipeline.h"

#include <stdlib.h>

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static void function_release(sp_row_function *f)
{
    if (f->run && f->release) f->release(f->context);
}

sp_dataset *sp_dataset_retain(sp_dataset *ds)
{
    if (ds) atomic_fetch_add_explicit(&ds->refs, 1, memory_order_relaxed);
    return ds;
}

void sp_dataset_release(sp_dataset *ds)
{
    if (!ds || atomic_fetch_sub_explicit(&ds->refs, 1, memory_order_acq_rel) != 1) return;
    for (int i = 0; i < ds->n_parents && ds->parents; i++) sp_dataset_release(ds->parents[i]);
    for (int i = 0; i < ds->n_columns && ds->columns; i++) sp__free(ds->columns[i]);
    for (int i = 0; i < ds->n_transforms && ds->transforms; i++) sp_transform_release(ds->transforms[i]);
    function_release(&ds->function);
    function_release(&ds->sizes);
    if (ds->store.open && ds->store.release) ds->store.release(ds->store.context);
    if (ds->order.release) ds->order.release(ds->order.context);
    sp__free(ds->parents);
    sp__free(ds->columns);
    sp__free(ds->transforms);
    sp__free(ds->in);
    sp__free(ds->from);
    sp__free(ds->pads);
    for (int i = 0; i < ds->n_files; i++) sp__free(ds->files[i]);
    sp__free(ds->files);
    sp__free(ds->file_rows);
    sp__free(ds);
}

sp_status sp_dataset_name_files(sp_dataset *ds, int n, const int64_t *rows, const char *const *files)
{
    SP_HANDLE(ds);
    while (ds->n_parents == 1) ds = ds->parents[0];
    if (ds->n_parents > 0 || ds->function.origin || ds->n_files > 0 || n <= 0) return SP_OK;
    ds->files = sp__alloc_zero((size_t)n * sizeof *ds->files);
    ds->file_rows = sp__alloc_zero((size_t)n * sizeof *ds->file_rows);
    if (!ds->files || !ds->file_rows) return SP_NOMEM;
    for (; ds->n_files < n; ds->n_files++) {
        ds->file_rows[ds->n_files] = rows[ds->n_files];
        ds->files[ds->n_files] = sp__strdup(files[ds->n_files]);
        if (!ds->files[ds->n_files]) return SP_NOMEM;
    }
    return SP_OK;
}

int sp_dataset_column_count(const sp_dataset *ds) { return ds ? ds->n_columns : 0; }
const char *sp_dataset_column(const sp_dataset *ds, int i)
{
    return ds && i >= 0 && i < ds->n_columns ? ds->columns[i] : NULL;
}

int sp_dataset_column_find(const sp_dataset *ds, const char *name)
{
    if (!ds) return -1;
    for (int i = 0; i < ds->n_columns; i++)
        if (strcmp(ds->columns[i], name) == 0) return i;
    return -1;
}

sp_status sp_dataset_count(const sp_dataset *ds, int64_t *out)
{
    SP_HANDLE(ds);
    return ds->kind->count(ds, out);
}

static sp_status node_create(const sp_dataset_kind *kind, int n_parents, sp_dataset *const *parents, sp_dataset **out)
{
    for (int i = 0; i < n_parents; i++)
        SP_CHECK(parents[i], SP_VALUE, "%s: the data set it is made of is NULL", kind->name);
    sp_dataset *ds = sp__alloc_zero(sizeof *ds);
    if (!ds) return SP_NOMEM;
    atomic_init(&ds->refs, 1);
    ds->kind = kind;
    ds->n_parents = n_parents;
    ds->parents = sp__alloc((size_t)n_parents * sizeof *parents);
    if (!ds->parents) {
        sp_dataset_release(ds);
        return SP_NOMEM;
    }
    for (int i = 0; i < n_parents; i++) ds->parents[i] = sp_dataset_retain(parents[i]);
    *out = ds;
    return SP_OK;
}

static sp_status copy_columns(sp_dataset *ds, int n, const char *const *columns)
{
    SP_CHECK(n >= 1 && n <= SP_COLUMNS_MAX, SP_VALUE, "%s: there must be 1 to %d columns, but got %d", ds->kind->name,
             SP_COLUMNS_MAX, n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            SP_CHECK(strcmp(columns[i], columns[k]) != 0, SP_RUNTIME,
                     "%s: Invalid data, duplicate column %s already exists%s", ds->kind->name, columns[i],
                     ds->kind == &sp__node_zip ? " when zipping datasets" : "");
    ds->columns = sp__alloc_zero((size_t)n * sizeof *ds->columns);
    if (!ds->columns) return SP_NOMEM;
    ds->n_columns = n;
    for (int i = 0; i < n; i++)
        if (!(ds->columns[i] = sp__strdup(columns[i]))) return SP_NOMEM;
    return SP_OK;
}

static sp_status same_columns(sp_dataset *ds)
{
    return copy_columns(ds, ds->parents[0]->n_columns, (const char *const *)ds->parents[0]->columns);
}

/* Places of named columns in a data set. */
static sp_status find_columns(const sp_dataset *ds, const char *who, int n, const char *const *names, int **out)
{
    int *places = sp__alloc((size_t)n * sizeof *places);
    if (!places) return SP_NOMEM;
    for (int i = 0; i < n; i++) {
        places[i] = sp_dataset_column_find(ds, names[i]);
        if (places[i] >= 0) continue;
        char known[512] = "";
        for (int k = 0; k < ds->n_columns; k++) {
            strncat(known, k ? ", " : "", sizeof known - strlen(known) - 1);
            strncat(known, ds->columns[k], sizeof known - strlen(known) - 1);
        }
        sp__free(places);
        if (strcmp(who, "project") == 0)
            return sp__fail(SP_RUNTIME, "project: Invalid column, column name: %s does not exist; the columns are: %s",
                            names[i], known);
        if (strcmp(who, "filter") == 0)
            return sp__fail(SP_RUNTIME,
                            "filter: Invalid parameter, column name: %s does not exist in the dataset columns: %s",
                            names[i], known);
        return sp__fail(SP_RUNTIME,
                        "%s: Invalid parameter, input column name: %s doesn't exist in the dataset columns: %s", who,
                        names[i], known);
    }
    *out = places;
    return SP_OK;
}

/* Hand over, or take back on failure: the end of every constructor. */
static sp_status finish(sp_status status, sp_dataset *ds, sp_dataset **out)
{
    if (status == SP_OK) *out = ds;
    else sp_dataset_release(ds);
    return status;
}

/* --- sources ------------------------------------------------------------------------------------------------------- */

sp_status sp_dataset_from_function(const sp_row_function *read, int64_t count, int n_columns,
                                   const char *const *columns, const sp_order *order, sp_dataset **out)
{
    sp_dataset *ds = NULL;
    sp_status status = node_create(&sp__node_source, 0, NULL, &ds);
    if (status != SP_OK) {
        sp_row_function f = *read;
        function_release(&f);
        if (order && order->release) order->release(order->context);
        return status;
    }
    ds->function = *read;
    if (order) ds->order = *order;
    ds->n = count;
    if (count < 0) status = sp__fail(SP_VALUE, "a source must have 0 rows or more, but got %lld", (long long)count);
    if (status == SP_OK && ds->order.n_shards && (ds->order.shard < 0 || ds->order.shard >= ds->order.n_shards))
        status = sp__fail(SP_VALUE, "shard %d is not one of %d", ds->order.shard, ds->order.n_shards);
    if (status == SP_OK) status = copy_columns(ds, n_columns, columns);
    return finish(status, ds, out);
}

sp_status sp_dataset_from_stream(const sp_row_function *next, int n_columns, const char *const *columns,
                                 sp_dataset **out)
{
    sp_dataset *ds = NULL;
    sp_status status = node_create(&sp__node_stream, 0, NULL, &ds);
    if (status != SP_OK) {
        sp_row_function f = *next;
        function_release(&f);
        return status;
    }
    ds->function = *next;
    return finish(copy_columns(ds, n_columns, columns), ds, out);
}

/* --- map, filter, project ------------------------------------------------------------------------------------------ */

/* A value that is made takes the place of a column of its name; the number of columns that stay. */
static int drop_replaced(int n, const char **names, int *from, int n_named, const char *const *named)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        bool replaced = false;
        for (int k = 0; k < n_named && from[i] >= 0; k++) replaced = replaced || strcmp(names[i], named[k]) == 0;
        if (replaced) continue;
        names[kept] = names[i];
        from[kept++] = from[i];
    }
    return kept;
}

/* Columns after values made from columns `in` got the names `named`. */
static sp_status set_made(sp_dataset *ds, int n_in, const char *const *in, int n_named, const char *const *named)
{
    const sp_dataset *parent = ds->parents[0];
    if (n_named == 0) {
        n_named = n_in;
        named = in;
    }
    const char *names[2 * SP_COLUMNS_MAX];
    SP_CHECK(n_in >= 1 && n_in + parent->n_columns <= SP_COLUMNS_MAX && n_named + parent->n_columns <= SP_COLUMNS_MAX,
             SP_VALUE, "map: too few or too many columns: %d in, %d out, of %d", n_in, n_named, parent->n_columns);
    SP_TRY(find_columns(parent, "map", n_in, in, &ds->in));
    ds->n_in = n_in;
    ds->n_made = n_named;
    ds->from = sp__alloc((size_t)(n_named + parent->n_columns) * sizeof *ds->from);
    if (!ds->from) return SP_NOMEM;
    int n = 0;
    if (n_named == n_in) {
        for (; n < parent->n_columns; n++) {
            names[n] = parent->columns[n];
            ds->from[n] = n;
        }
        for (int i = 0; i < n_in; i++) {
            names[ds->in[i]] = named[i];
            ds->from[ds->in[i]] = -1 - i;
        }
        n = drop_replaced(n, names, ds->from, n_named, named);
    } else {
        for (; n < n_named; n++) {
            names[n] = named[n];
            ds->from[n] = -1 - n;
        }
        for (int i = 0; i < parent->n_columns; i++) {
            bool used = false;
            for (int k = 0; k < n_in; k++) used = used || ds->in[k] == i;
            if (used) continue;
            names[n] = parent->columns[i];
            ds->from[n++] = i;
        }
    }
    return copy_columns(ds, n, names);
}

sp_status sp_dataset_map(sp_dataset *parent, int n, sp_transform *const *transforms, int n_in, const char *const *in,
                         int n_named, const char *const *named, sp_dataset **out)
{
    sp_dataset *ds = NULL;
    sp_status status;
    SP_TRY(node_create(&sp__node_map, 1, &parent, &ds));
    ds->transforms = sp__alloc((size_t)n * sizeof *transforms);
    SP_GOTO(done, ds->transforms ? SP_OK : SP_NOMEM);
    for (int i = 0; i < n; i++)
        if (!transforms[i]) SP_GOTO(done, sp__fail(SP_VALUE, "map: transform %d is NULL", i));
    for (; ds->n_transforms < n; ds->n_transforms++)
        ds->transforms[ds->n_transforms] = sp_transform_retain(transforms[ds->n_transforms]);
    SP_GOTO(done, set_made(ds, n_in, in, n_named, named));
done:
    return finish(status, ds, out);
}

static sp_status with_function(const sp_dataset_kind *kind, sp_dataset *parent, const sp_row_function *function,
                               sp_dataset **out)
{
    const sp_status status = node_create(kind, 1, &parent, out);
    sp_row_function f = *function;
    if (status == SP_OK) (*out)->function = f;
    else function_release(&f);
    return status;
}

sp_status sp_dataset_map_function(sp_dataset *parent, const sp_row_function *function, int n_in, const char *const *in,
                                  int n_named, const char *const *named, sp_dataset **out)
{
    sp_dataset *ds = NULL;
    SP_TRY(with_function(&sp__node_map, parent, function, &ds));
    return finish(set_made(ds, n_in, in, n_named, named), ds, out);
}

sp_status sp_dataset_filter(sp_dataset *parent, const sp_row_function *function, int n_in, const char *const *in,
                            sp_dataset **out)
{
    sp_dataset *ds = NULL;
    sp_status status;
    SP_TRY(with_function(&sp__node_filter, parent, function, &ds));
    SP_GOTO(done, find_columns(parent, "filter", n_in, in, &ds->in));
    ds->n_in = n_in;
    SP_GOTO(done, same_columns(ds));
done:
    return finish(status, ds, out);
}

sp_status sp_dataset_tolerate(sp_dataset *parent, bool replace, sp_dataset **out)
{
    sp_dataset *ds = NULL;
    sp_status status;
    SP_TRY(node_create(&sp__node_tolerate, 1, &parent, &ds));
    ds->drop = !replace;
    SP_GOTO(done, same_columns(ds));
done:
    return finish(status, ds, out);
}

sp_status sp_dataset_project(sp_dataset *parent, int n, const char *const *columns, const char *const *names,
                             sp_dataset **out)
{
    sp_dataset *ds = NULL;
    sp_status status;
    SP_TRY(node_create(&sp__node_project, 1, &parent, &ds));
    SP_GOTO(done, find_columns(parent, "project", n, columns, &ds->from));
    SP_GOTO(done, copy_columns(ds, n, names ? names : columns));
done:
    return finish(status, ds, out);
}

/* --- batches ------------------------------------------------------------------------------------------------------- */

static sp_status need_positive(const char *who, int64_t n)
{
    SP_CHECK(n >= 1, SP_VALUE, "%s must be at least 1, but got %lld", who, (long long)n);
    return SP_OK;
}

sp_status sp_dataset_batch(sp_dataset *parent, int64_t n, bool drop_remainder, sp_dataset **out)
{
    return sp_dataset_padded_batch(parent, n, drop_remainder, 0, NULL, out);
}

sp_status sp_dataset_padded_batch(sp_dataset *parent, int64_t n, bool drop_remainder, int n_pads,
                                  const sp_padding *pads, sp_dataset **out)
{
    sp_dataset *ds = NULL;
    sp_status status;
    SP_TRY(need_positive("the size of a batch", n));
    SP_TRY(node_create(&sp__node_batch, 1, &parent, &ds));
    ds->n = n;
    ds->drop = drop_remainder;
    SP_GOTO(done, same_columns(ds));
    if (n_pads) {
        ds->pads = sp__alloc_zero((size_t)ds->n_columns * sizeof *ds->pads);
        SP_GOTO(done, ds->pads ? SP_OK : SP_NOMEM);
        ds->n_pads = ds->n_columns;
    }
    for (int i = 0; i < n_pads; i++) {
        int *place = NULL;
        SP_GOTO(done, find_columns(ds, "padded_batch", 1, &pads[i].column, &place));
        ds->pads[*place] = pads[i];
        ds->pads[*place].column = ds->columns[*place];
        sp__free(place);
    }
done:
    return finish(status, ds, out);
}

sp_status sp_dataset_batch_function(sp_dataset *parent, int64_t n, bool drop_remainder, const sp_row_function *function,
                                    const sp_row_function *sizes, int n_columns, const char *const *columns,
                                    sp_dataset **out)
{
    sp_dataset *ds = NULL;
    sp_status status;
    sp_row_function empty = {.name = NULL}, own_sizes = sizes ? *sizes : empty;
    status = with_function(&sp__node_batch_function, parent, function, &ds);
    if (status != SP_OK) {
        function_release(&own_sizes);
        return status;
    }
    ds->sizes = own_sizes;
    ds->n = n;
    ds->drop = drop_remainder;
    if (!sizes) status = need_positive("the size of a batch", n);
    if (status == SP_OK) status = copy_columns(ds, n_columns, columns);
    ds->n_made = n_columns;
    return finish(status, ds, out);
}

/* --- order --------------------------------------------------------------------------------------------------------- */

static sp_status pass_on(const sp_dataset_kind *kind, sp_dataset *parent, int64_t n, int64_t least, sp_dataset **out)
{
    sp_dataset *ds = NULL;
    SP_CHECK(n >= least, SP_VALUE, "%s: the number must be at least %lld, but got %lld", kind->name, (long long)least,
             (long long)n);
    SP_TRY(node_create(kind, 1, &parent, &ds));
    ds->n = n;
    return finish(same_columns(ds), ds, out);
}

sp_status sp_dataset_shuffle(sp_dataset *ds, int64_t n, sp_dataset **out)
{
    SP_HANDLE(ds);
    return pass_on(&sp__node_shuffle, ds, n, 1, out);
}

sp_status sp_dataset_shuffle_once(sp_dataset *ds, int64_t n, uint64_t seed, sp_dataset **out)
{
    SP_HANDLE(ds);
    SP_TRY(pass_on(&sp__node_shuffle, ds, n, 1, out));
    (*out)->fixed = true;
    (*out)->seed = seed;
    return SP_OK;
}

sp_status sp_dataset_repeat(sp_dataset *ds, int64_t n, sp_dataset **out)
{
    SP_HANDLE(ds);
    return pass_on(&sp__node_repeat, ds, n, n == -1 ? -1 : 1, out);
}
sp_status sp_dataset_skip(sp_dataset *ds, int64_t n, sp_dataset **out)
{
    SP_HANDLE(ds);
    return pass_on(&sp__node_skip, ds, n, 0, out);
}
sp_status sp_dataset_take(sp_dataset *ds, int64_t n, sp_dataset **out)
{
    SP_HANDLE(ds);
    return pass_on(&sp__node_take, ds, n, 0, out);
}

sp_status sp_dataset_zip(int n, sp_dataset *const *list, sp_dataset **out)
{
    const char *names[SP_COLUMNS_MAX];
    int n_columns = 0;
    SP_HANDLES(n, list);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < list[i]->n_columns; k++) {
            SP_CHECK(n_columns < SP_COLUMNS_MAX, SP_VALUE, "zip: more than %d columns", SP_COLUMNS_MAX);
            names[n_columns++] = list[i]->columns[k];
        }
    sp_dataset *ds = NULL;
    SP_TRY(node_create(&sp__node_zip, n, list, &ds));
    return finish(copy_columns(ds, n_columns, names), ds, out);
}

sp_status sp_dataset_concat(int n, sp_dataset *const *list, sp_dataset **out)
{
    SP_CHECK(n >= 1, SP_VALUE, "concat: there is no data set");
    SP_HANDLES(n, list);
    for (int i = 1; i < n; i++) {
        SP_CHECK(
            list[i]->n_columns == list[0]->n_columns, SP_RUNTIME,
            "concat: Invalid columns, 'column name' or 'column order' of concat datasets should be the same, but data set %d has "
            "%d columns, but the first has %d",
            i, list[i]->n_columns, list[0]->n_columns);
        for (int k = 0; k < list[0]->n_columns; k++)
            SP_CHECK(strcmp(list[i]->columns[k], list[0]->columns[k]) == 0, SP_RUNTIME,
                     "concat: column %d of data set %d is called '%s', but '%s' in the first; rename it", k, i,
                     list[i]->columns[k], list[0]->columns[k]);
    }
    sp_dataset *ds = NULL;
    SP_TRY(node_create(&sp__node_concat, n, list, &ds));
    return finish(same_columns(ds), ds, out);
}

sp_status sp_dataset_store(sp_dataset *parent, const sp_row_store *store, sp_dataset **out)
{
    sp_dataset *ds = NULL;
    const sp_status status = node_create(&sp__node_store, 1, &parent, &ds);
    if (status != SP_OK) {
        if (store->release) store->release(store->context);
        return status;
    }
    ds->store = *store;
    return finish(same_columns(ds), ds, out);
}
