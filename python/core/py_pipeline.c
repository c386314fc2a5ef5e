/* SPDX-License-Identifier: Apache-2.0 */
/* py_pipeline.c - data sets of the engine, and iterators.
 *
 * The interpreter lock is given up while rows are waited for and worked on in C, and taken for each function of Python
 * (py_rows.c). Its exception is raised where its row would have come. */
#include <stdlib.h>

#include "py_rows.h"

#include "base/profile.h"
#include "spore/cache.h"

typedef struct py_pipeline {
    PyObject_HEAD sp_dataset *ds;
} py_pipeline;

typedef struct py_iterator {
    PyObject_HEAD sp_iterator *it;
    int n_columns;
    bool busy;
} py_iterator;

static PyTypeObject *pipeline_type, *iterator_type;
static PyObject *report,
    *say; /* of spore.dataset: are told about rows that take long, and what else users should know */

/* --- orders ------------------------------------------------------------------------------------------------------------ */

static sp_status order_ids(void *context, uint64_t seed, int64_t epoch, int64_t **ids, int64_t *n)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *array = PyObject_CallFunction(context, "KL", (unsigned long long)seed, (long long)epoch);
    sp_tensor *t = array ? sp__py_from_buffer(array, false) : NULL;
    sp_status status = SP_OK;
    Py_XDECREF(array);
    if (!t) {
        sp_row_call call = {.fault = NULL};
        status = sp__py_row_failed(&call);
        Py_XDECREF((PyObject *)call.fault);
        sp__error_context("the sampler");
    } else if (t->dtype != SP_DTYPE_I64 || t->rank != 1) {
        status = sp__fail(SP_TYPE, "the sampler must give a vector of int64");
    } else {
        *n = t->count;
        *ids = malloc((size_t)(t->count + 1) * sizeof **ids);
        if (*ids) memcpy(*ids, t->data, (size_t)t->count * sizeof **ids);
        else status = SP_NOMEM;
    }
    sp_tensor_release(t);
    PyGILState_Release(state);
    return status;
}

/* mix_ids(ids, seed): permute an int64 array in place, as MindSpore's samplers do. */
static PyObject *mix_ids(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *array;
    unsigned long seed;
    if (!PyArg_ParseTuple(args, "Ok:mix_ids", &array, &seed)) return NULL;
    sp_tensor *t = sp__py_from_buffer(array, true);
    if (!t) return NULL;
    const bool fits = t->dtype == SP_DTYPE_I64 && t->rank == 1 && sp_tensor_is_contiguous(t);
    if (fits) sp_order_mix((uint32_t)seed, (int64_t *)(void *)t->data, t->count);
    sp_tensor_release(t);
    if (!fits) return PyErr_Format(PyExc_TypeError, "mix_ids: a vector of int64 in one piece is wanted");
    Py_RETURN_NONE;
}

/* None, a function of (seed, epoch), or (shuffle, shards, shard, samples). */
static int take_order(PyObject *o, sp_order *out)
{
    *out = (sp_order){.shuffle = false};
    if (!o || o == Py_None) return 0;
    if (PyCallable_Check(o)) {
        out->ids = order_ids;
        out->release = sp__py_drop;
        out->context = Py_NewRef(o);
        return 0;
    }
    int shuffle;
    long long samples;
    if (!PyArg_ParseTuple(o, "piiL", &shuffle, &out->n_shards, &out->shard, &samples)) return -1;
    out->shuffle = shuffle != 0;
    out->n_samples = samples;
    return 0;
}

/* --- making ------------------------------------------------------------------------------------------------------------ */

/* Texts of a list of str into names[max]; their number or -1. They live as long as the list. */
static int take_names(PyObject *list, const char **names)
{
    if (list == Py_None) return 0;
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    if (n < 0 || n > SP_COLUMNS_MAX) {
        PyErr_Format(PyExc_TypeError, "column names must be a list of at most %d str", SP_COLUMNS_MAX);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        names[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (!names[i]) return -1;
    }
    return (int)n;
}

/* The object around a new data set, or the exception of its failure. */
static PyObject *give(sp_status status, sp_dataset *ds)
{
    SP_PY_TRY(status);
    allocfunc alloc = (allocfunc)PyType_GetSlot(pipeline_type, Py_tp_alloc);
    PyObject *o = alloc(pipeline_type, 0);
    if (o) ((py_pipeline *)o)->ds = ds;
    else sp_dataset_release(ds);
    return o;
}

static sp_dataset *dataset(PyObject *o) { return ((py_pipeline *)o)->ds; }

static int take_arrays(PyObject *list, sp_tensor **out)
{
    const Py_ssize_t n = PyList_Size(list);
    if (n < 0 || n > SP_COLUMNS_MAX) {
        if (n >= 0) PyErr_Format(PyExc_ValueError, "%zd columns are too many", n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        out[i] = sp__py_cell(PyList_GetItem(list, i));
        if (out[i]) continue;
        while (i > 0) sp_tensor_release(out[--i]);
        return -1;
    }
    return (int)n;
}

static PyObject *from_arrays(PyObject *self, PyObject *args)
{
    PyObject *names, *list, *order_object = NULL;
    const char *columns[SP_COLUMNS_MAX];
    sp_tensor *arrays[SP_COLUMNS_MAX];
    sp_order order;
    sp_dataset *ds = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!|O:pipeline_arrays", &names, &PyList_Type, &list, &order_object)) return NULL;
    const int n_names = take_names(names, columns), n = n_names < 0 ? -1 : take_arrays(list, arrays);
    if (n < 0) return NULL;
    if (n != n_names) PyErr_Format(PyExc_ValueError, "%d names for %d columns", n_names, n);
    const bool fine = n == n_names && take_order(order_object, &order) == 0;
    const sp_status status = fine ? sp_dataset_from_arrays(n, arrays, columns, &order, &ds) : SP_OK;
    for (int i = 0; i < n; i++) sp_tensor_release(arrays[i]);
    return fine ? give(status, ds) : NULL;
}

/* Paths of a list of bytes, NULL with an exception. Freed by the caller; they live as long as the list. */
static const char **take_paths(PyObject *list, Py_ssize_t *n)
{
    *n = PyList_Size(list);
    const char **paths = PyMem_Calloc((size_t)*n + 1, sizeof *paths);
    if (!paths) sp__py_no_memory();
    for (Py_ssize_t i = 0; paths && i < *n; i++) {
        if ((paths[i] = PyBytes_AsString(PyList_GetItem(list, i)))) continue;
        PyMem_Free(paths);
        return NULL;
    }
    return paths;
}

static PyObject *from_files(PyObject *self, PyObject *args)
{
    PyObject *list, *names, *array_list, *order_object = NULL, *result = NULL;
    const char *columns[SP_COLUMNS_MAX];
    sp_tensor *arrays[SP_COLUMNS_MAX];
    sp_order order;
    sp_dataset *ds = NULL;
    Py_ssize_t n_paths;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!OO!|O:pipeline_files", &PyList_Type, &list, &names, &PyList_Type, &array_list,
                          &order_object))
        return NULL;
    const char **paths = take_paths(list, &n_paths);
    const int n_names = paths ? take_names(names, columns) : -1, n = n_names < 0 ? -1 : take_arrays(array_list, arrays);
    const int n_files = n_names - n;
    if (n < 0) goto done;
    if (n_files < 1 || n_paths % n_files)
        PyErr_Format(PyExc_ValueError, "%zd paths for %d columns of files", n_paths, n_files);
    else if (take_order(order_object, &order) == 0) {
        const sp_status status =
            sp_dataset_from_files(n_paths / n_files, n_files, paths, n_names, arrays, columns, &order, &ds);
        result = give(status, ds);
    }
    for (int i = 0; i < n; i++) sp_tensor_release(arrays[i]);
done:
    PyMem_Free(paths);
    return result;
}

/* pipeline_parts(paths, [file, begin, length], text, column, order) */
static PyObject *from_parts(PyObject *self, PyObject *args)
{
    PyObject *list, *array_list, *order_object = NULL, *result = NULL;
    const char *column;
    sp_tensor *arrays[SP_COLUMNS_MAX];
    sp_order order;
    sp_dataset *ds = NULL;
    Py_ssize_t n_paths;
    int text;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!ps|O:pipeline_parts", &PyList_Type, &list, &PyList_Type, &array_list, &text,
                          &column, &order_object))
        return NULL;
    const char **paths = take_paths(list, &n_paths);
    const int n = paths ? take_arrays(array_list, arrays) : -1;
    if (n >= 0 && n != 3) PyErr_Format(PyExc_ValueError, "three arrays are wanted: file, begin, length");
    else if (n == 3 && take_order(order_object, &order) == 0) {
        const sp_status status =
            sp_dataset_from_parts(n_paths, paths, arrays[0], arrays[1], arrays[2], text != 0, column, &order, &ds);
        result = give(status, ds);
    }
    for (int i = 0; i < n; i++) sp_tensor_release(arrays[i]);
    PyMem_Free(paths);
    return result;
}

static PyObject *from_record(PyObject *self, PyObject *args)
{
    PyObject *reader, *names, *order_object = NULL;
    const char *columns[SP_COLUMNS_MAX];
    sp_order order;
    sp_dataset *ds = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO|O:pipeline_record", &reader, &names, &order_object)) return NULL;
    sp_record *record = sp__py_record(reader);
    const int n = record ? take_names(names, columns) : -1;
    if (n < 0 || take_order(order_object, &order) < 0) return NULL;
    const sp_status status = sp_dataset_from_record(record, n ? columns : NULL, n, &order, &ds);
    return give(status, ds);
}

static PyObject *from_source(PyObject *self, PyObject *args)
{
    PyObject *names, *callable, *order_object = NULL;
    long long count;
    int processes = 0;
    const char *columns[SP_COLUMNS_MAX];
    sp_order order;
    sp_row_function read;
    sp_dataset *ds = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OLO|Oi:pipeline_source", &callable, &count, &names, &order_object, &processes))
        return NULL;
    const int n = take_names(names, columns);
    if (n < 0 || sp__py_row_function("GeneratorDataset", callable, SP_PY_CALL_READ, processes, &read) < 0) return NULL;
    if (take_order(order_object, &order) < 0) {
        read.release(read.context);
        return NULL;
    }
    const sp_status status = sp_dataset_from_function(&read, count, n, columns, &order, &ds);
    return give(status, ds);
}

static PyObject *from_stream(PyObject *self, PyObject *args)
{
    PyObject *names, *callable;
    const char *columns[SP_COLUMNS_MAX];
    sp_row_function next;
    sp_dataset *ds = NULL;
    int buckets = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO|p:pipeline_stream", &callable, &names, &buckets)) return NULL;
    const int n = take_names(names, columns);
    const char *who = buckets ? "bucket_batch_by_length" : "GeneratorDataset"; /* lives as long as the data set */
    if (n < 0 || sp__py_row_function(who, callable, SP_PY_CALL_NEXT, 0, &next) < 0) return NULL;
    const sp_status status = sp_dataset_from_stream(&next, n, columns, &ds);
    return give(status, ds);
}

static PyObject *several(PyObject *list, sp_status (*make)(int, sp_dataset *const *, sp_dataset **))
{
    sp_dataset *sets[SP_COLUMNS_MAX], *ds = NULL;
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    if (n < 1 || n > SP_COLUMNS_MAX) return PyErr_Format(PyExc_TypeError, "a list of data sets is wanted");
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyList_GetItem(list, i);
        if (!PyObject_TypeCheck(o, pipeline_type))
            return PyErr_Format(PyExc_TypeError, "a list of Pipelines is wanted");
        sets[i] = dataset(o);
    }
    const sp_status status = make((int)n, sets, &ds);
    return give(status, ds);
}

static PyObject *zip_all(PyObject *self, PyObject *list)
{
    (void)self;
    return several(list, sp_dataset_zip);
}

static PyObject *concat_all(PyObject *self, PyObject *list)
{
    (void)self;
    return several(list, sp_dataset_concat);
}

/* --- methods ------------------------------------------------------------------------------------------------------------ */

static PyObject *map_transforms(PyObject *self, PyObject *args)
{
    PyObject *list, *in, *named;
    struct sp_transform *transforms[SP_COLUMNS_MAX];
    const char *from[SP_COLUMNS_MAX], *to[SP_COLUMNS_MAX];
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "OOO:map", &list, &in, &named)) return NULL;
    const int n = sp__py_transforms(list, transforms, SP_COLUMNS_MAX);
    const int n_in = n < 0 ? -1 : take_names(in, from), n_named = n_in < 0 ? -1 : take_names(named, to);
    if (n_named < 0) return NULL;
    const sp_status status = sp_dataset_map(dataset(self), n, transforms, n_in, from, n_named, to, &ds);
    return give(status, ds);
}

static PyObject *map_function(PyObject *self, PyObject *args)
{
    PyObject *callable, *in, *named;
    const char *from[SP_COLUMNS_MAX], *to[SP_COLUMNS_MAX];
    int processes = 0;
    sp_row_function f;
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "OOO|i:map_function", &callable, &in, &named, &processes)) return NULL;
    const int n_in = take_names(in, from), n_named = n_in < 0 ? -1 : take_names(named, to);
    if (n_named < 0 || sp__py_row_function("map", callable, SP_PY_CALL_ROW, processes, &f) < 0) return NULL;
    const sp_status status = sp_dataset_map_function(dataset(self), &f, n_in, from, n_named, to, &ds);
    return give(status, ds);
}

static PyObject *filter_rows(PyObject *self, PyObject *args)
{
    PyObject *callable, *in;
    const char *from[SP_COLUMNS_MAX];
    sp_row_function f;
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "OO:filter", &callable, &in)) return NULL;
    const int n_in = take_names(in, from);
    if (n_in < 0 || sp__py_row_function("filter", callable, SP_PY_CALL_ROW, 0, &f) < 0) return NULL;
    const sp_status status = sp_dataset_filter(dataset(self), &f, n_in, from, &ds);
    return give(status, ds);
}

/* (column, dims or None, value) of each item; -1: one of them is something else. */
static int take_pads(PyObject *list, Py_ssize_t n, sp_padding *pads)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *dims;
        sp_padding *p = &pads[i];
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sOd", &p->column, &dims, &p->value)) return -1;
        p->rank = dims == Py_None ? -1 : sp__py_ints(dims, p->dims, SP_RANK_MAX, "padded_batch: shape");
        if (dims != Py_None && p->rank < 0) return -1;
    }
    return 0;
}

/* batch(n, drop, pads=[(column, dims or None, value), ...]) */
static PyObject *batch_rows(PyObject *self, PyObject *args)
{
    long long size;
    int drop;
    PyObject *list = NULL, *made = NULL;
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "Lp|O!:batch", &size, &drop, &PyList_Type, &list)) return NULL;
    const Py_ssize_t n = list ? PyList_Size(list) : 0;
    if (n > SP_COLUMNS_MAX)
        return PyErr_Format(PyExc_ValueError, "padded_batch: %zd columns, at most %d are possible", n, SP_COLUMNS_MAX);
    sp_padding *pads = PyMem_Calloc(n > 0 ? (size_t)n : 1, sizeof *pads); /* large for the stack */
    if (!pads) return PyErr_NoMemory();
    if (take_pads(list, n, pads) == 0) {
        const sp_status status = sp_dataset_padded_batch(dataset(self), size, drop != 0, (int)n, pads, &ds);
        made = give(status, ds);
    }
    PyMem_Free(pads);
    return made;
}

/* batch_function(n, drop, function, sizes or None, columns) */
static PyObject *batch_function(PyObject *self, PyObject *args)
{
    long long size;
    int drop, processes = 0;
    PyObject *callable, *sizes, *names;
    const char *columns[SP_COLUMNS_MAX];
    sp_row_function f, s = {.name = NULL};
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "LpOOO|i:batch_function", &size, &drop, &callable, &sizes, &names, &processes))
        return NULL;
    const int n = take_names(names, columns);
    if (n < 0 || sp__py_row_function("batch", callable, SP_PY_CALL_BATCH, processes, &f) < 0) return NULL;
    if (sizes != Py_None && sp__py_row_function("batch_size", sizes, SP_PY_CALL_NEXT, 0, &s) < 0) {
        f.release(f.context);
        return NULL;
    }
    const sp_status status =
        sp_dataset_batch_function(dataset(self), size, drop != 0, &f, s.run ? &s : NULL, n, columns, &ds);
    return give(status, ds);
}

static PyObject *project(PyObject *self, PyObject *args)
{
    PyObject *list, *others = Py_None;
    const char *columns[SP_COLUMNS_MAX], *names[SP_COLUMNS_MAX];
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "O|O:project", &list, &others)) return NULL;
    const int n = take_names(list, columns), n_names = n < 0 ? -1 : take_names(others, names);
    if (n_names < 0) return NULL;
    if (n_names && n_names != n) return PyErr_Format(PyExc_ValueError, "%d names for %d columns", n_names, n);
    const sp_status status = sp_dataset_project(dataset(self), n, columns, n_names ? names : NULL, &ds);
    return give(status, ds);
}

static PyObject *shuffle_once(PyObject *self, PyObject *args)
{
    long long n;
    unsigned long long seed;
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "LK:shuffle_once", &n, &seed)) return NULL;
    const sp_status status = sp_dataset_shuffle_once(dataset(self), n, seed, &ds);
    return give(status, ds);
}

static PyObject *tolerate(PyObject *self, PyObject *replace)
{
    sp_dataset *ds = NULL;
    const sp_status status = sp_dataset_tolerate(dataset(self), replace == Py_True, &ds);
    return give(status, ds);
}

#define BY_NUMBER(name)                                                                                                \
    static PyObject *by_##name(PyObject *self, PyObject *number)                                                       \
    {                                                                                                                  \
        sp_dataset *ds = NULL;                                                                                         \
        const long long n = PyLong_AsLongLong(number);                                                                 \
        if (n == -1 && PyErr_Occurred()) return NULL;                                                                  \
        const sp_status status = sp_dataset_##name(dataset(self), n, &ds);                                             \
        return give(status, ds);                                                                                       \
    }
BY_NUMBER(shuffle)
BY_NUMBER(repeat)
BY_NUMBER(skip)
BY_NUMBER(take)

static PyObject *count(PyObject *self, PyObject *unused)
{
    int64_t n = 0;
    (void)unused;
    SP_PY_TRY(sp_dataset_count(dataset(self), &n));
    return PyLong_FromLongLong(n);
}

static PyObject *columns_of(PyObject *self, void *unused)
{
    (void)unused;
    const sp_dataset *ds = dataset(self);
    PyObject *list = PyList_New(sp_dataset_column_count(ds));
    for (int i = 0; list && i < sp_dataset_column_count(ds); i++)
        PyList_SetItem(list, i, PyUnicode_FromString(sp_dataset_column(ds, i)));
    return list;
}

static PyObject *cache_rows(PyObject *self, PyObject *args)
{
    PyObject *o;
    const char *key;
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "Os:cache", &o, &key)) return NULL;
    sp_cache *cache = sp__py_cache(o);
    if (!cache) return NULL;
    const sp_status status = sp_dataset_cache(dataset(self), cache, key, &ds);
    return give(status, ds);
}

/* name_files([(rows, path as bytes), ...]) */
static PyObject *name_files(PyObject *self, PyObject *list)
{
    const Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
    int64_t *rows = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *rows);
    const char **files = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *files);
    bool fine = rows && files;
    if (!fine) n < 0 ? PyErr_SetString(PyExc_TypeError, "name_files wants a list") : (void)sp__py_no_memory();
    for (Py_ssize_t i = 0; i < n && fine; i++) {
        long long count;
        fine = PyArg_ParseTuple(PyList_GetItem(list, i), "Ly:name_files", &count, &files[i]);
        if (fine) rows[i] = count;
    }
    const sp_status status = fine ? sp_dataset_name_files(dataset(self), (int)n, rows, files) : SP_OK;
    PyMem_Free(rows);
    PyMem_Free(files);
    if (!fine) return NULL;
    SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static void pipeline_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    sp_dataset_release(dataset(self));
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef pipeline_methods[] = {
    {"map", map_transforms, METH_VARARGS, "map(transforms, in, named)"},
    {"cache", cache_rows, METH_VARARGS,
     "cache(cache, key): the rows, kept by a server under the tree's digest and the key."},
    {"name_files", name_files, METH_O,
     "name_files([(rows, path), ...]): where the rows of a source come from, for messages."},
    {"map_function", map_function, METH_VARARGS, "map_function(function, in, named, processes=0)"},
    {"filter", filter_rows, METH_VARARGS, "filter(function, in)"},
    {"tolerate", tolerate, METH_O, "tolerate(replace): without rows that fail in it."},
    {"batch", batch_rows, METH_VARARGS, "batch(n, drop_remainder, pads=[])"},
    {"batch_function", batch_function, METH_VARARGS,
     "batch_function(n, drop_remainder, function, sizes, columns, processes=0)"},
    {"project", project, METH_VARARGS, "project(columns, names=None)"},
    {"shuffle", by_shuffle, METH_O, "shuffle(n)"},
    {"shuffle_once", shuffle_once, METH_VARARGS, "shuffle_once(n, seed): the same order in every epoch."},
    {"repeat", by_repeat, METH_O, "repeat(n)"},
    {"skip", by_skip, METH_O, "skip(n)"},
    {"take", by_take, METH_O, "take(n)"},
    {"count", count, METH_NOARGS, "count(): rows of an epoch, -1 if only reading tells."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef pipeline_getset[] = {{"columns", columns_of, NULL, "Names of the columns.", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot pipeline_slots[] = {{Py_tp_doc, "A data set of the engine: rows, and how they are made."},
                                       {Py_tp_dealloc, (void *)pipeline_dealloc},
                                       {Py_tp_methods, pipeline_methods},
                                       {Py_tp_getset, pipeline_getset},
                                       {0, NULL}};
static PyType_Spec pipeline_spec = {.name = "spore._core.Pipeline",
                                    .basicsize = sizeof(py_pipeline),
                                    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    .slots = pipeline_slots};

/* --- iterators ------------------------------------------------------------------------------------------------------------ */

static void tell(PyObject *whom, const char *text)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *done = whom ? PyObject_CallFunction(whom, "s", text) : NULL;
    if (!done) PyErr_Clear();
    Py_XDECREF(done);
    PyGILState_Release(state);
}

static void tell_slow(const char *text) { tell(report, text); }
void sp__py_report(const char *text) { tell(say, text); }

static PyObject *set_report(PyObject *self, PyObject *args)
{
    PyObject *slow, *other;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO:pipeline_report", &slow, &other)) return NULL;
    Py_XDECREF(report);
    Py_XDECREF(say);
    report = Py_NewRef(slow);
    say = Py_NewRef(other);
    Py_RETURN_NONE;
}

static PyObject *iterator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *o;
    unsigned long long seed = 0;
    long long epoch = 0, ahead = 0, budget = 0;
    double slow = 0;
    int workers = 0;
    static char *keywords[] = {"pipeline", "workers", "seed", "epoch", "ahead", "budget", "slow", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|iKLLLd:PipelineIterator", keywords, pipeline_type, &o, &workers,
                                     &seed, &epoch, &ahead, &budget, &slow))
        return NULL;
    const sp_iterator_plan plan = {.n_workers = workers,
                                   .seed = seed,
                                   .first_epoch = epoch,
                                   .n_ahead = ahead,
                                   .budget = (size_t)budget,
                                   .slow = slow,
                                   .report = tell_slow};
    sp_iterator *it = NULL;
    SP_PY_TRY(sp_iterator_create(dataset(o), &plan, &it));
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    py_iterator *self = (py_iterator *)alloc(type, 0);
    if (self) {
        self->it = it;
        self->n_columns = sp_dataset_column_count(dataset(o));
    } else {
        sp_iterator_release(it);
    }
    return (PyObject *)self;
}

static PyObject *iterator_close(PyObject *o, PyObject *unused)
{
    py_iterator *self = (py_iterator *)o;
    sp_iterator *it = self->it;
    (void)unused;
    if (self->busy) return PyErr_Format(PyExc_RuntimeError, "the iterator is being read from, it cannot be closed now");
    self->it = NULL;
    Py_BEGIN_ALLOW_THREADS sp_iterator_release(it);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static void iterator_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    sp_iterator *it = ((py_iterator *)o)->it;
    Py_BEGIN_ALLOW_THREADS sp_iterator_release(it);
    Py_END_ALLOW_THREADS((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

/* Begin a call that gives up the interpreter lock: NULL with an exception when it may not be made. */
static sp_iterator *enter(py_iterator *self)
{
    if (!self->it) PyErr_SetString(PyExc_RuntimeError, "the iterator has been closed");
    else if (self->busy)
        PyErr_SetString(PyExc_RuntimeError,
                        "the iterator is being read from by another thread or by a function of its own "
                        "pipeline");
    else {
        self->busy = true;
        return self->it;
    }
    return NULL;
}

/* What is wrong with a row is a RuntimeError, as in MindSpore, whatever it is; exceptions of Python functions are its cause. Ctrl-C
 * passes, and a lack of memory, which is nothing of the row, is a MemoryError. */
static PyObject *raise_failure(py_iterator *self, sp_status status)
{
    PyObject *cause = sp_iterator_take_fault(self->it);
    if (!cause) return sp__py_fail(status == SP_NOMEM || status == SP_INTERRUPTED ? status : SP_RUNTIME);
    if (!sp__py_is_fault_of_row(cause)) {
        PyErr_SetObject((PyObject *)Py_TYPE(cause), cause);
        Py_DECREF(cause);
        return NULL;
    }
    PyObject *text = sp__py_message();
    if (text)
        PyErr_Format(status == SP_NOMEM ? PyExc_MemoryError : PyExc_RuntimeError,
                     "Exception thrown from user defined Python function in dataset. %U", text);
    Py_XDECREF(text);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyException_SetCause(value, cause);
    PyErr_Restore(type, value, trace);
    return NULL;
}

/* next(numpy): a list of arrays or Tensors; None at the end of an epoch. */
static PyObject *iterator_next(PyObject *o, PyObject *numpy)
{
    py_iterator *self = (py_iterator *)o;
    sp_tensor *row[SP_COLUMNS_MAX];
    bool more = false;
    sp_status status;
    sp_iterator *it = enter(self);
    if (!it) return NULL;
    if (sp__profile_on()) sp__py_profile_here();
    Py_BEGIN_ALLOW_THREADS status = sp_iterator_next(it, row, &more);
    Py_END_ALLOW_THREADS self->busy = false;
    if (status == SP_INTERRUPTED && PyErr_Occurred()) return NULL;
    if (status != SP_OK) return raise_failure(self, status);
    if (!more) Py_RETURN_NONE;
    PyObject *list = PyList_New(self->n_columns);
    const int arrays = PyObject_IsTrue(numpy);
    for (int i = 0; i < self->n_columns; i++) {
        if (!list) {
            sp_tensor_release(row[i]);
            continue;
        }
        sp_tensor *own = row[i];
        if (!arrays && own->storage && own->dtype != SP_DTYPE_STR && atomic_load(&own->storage->refs) > 1) {
            /* A view into a source: whoever writes into the Tensor must not write into the data set. */
            sp_tensor *copy = NULL;
            const sp_status copied = sp_tensor_copy(own, &copy);
            sp_tensor_release(own);
            own = copied == SP_OK ? copy : NULL;
            if (copied != SP_OK) sp__py_fail(copied);
        }
        PyObject *value = own ? sp__py_cell_shown(own, arrays) : NULL;
        if (value) PyList_SetItem(list, i, value);
        else Py_CLEAR(list);
    }
    return list;
}

static PyObject *iterator_tell(PyObject *o, PyObject *unused)
{
    py_iterator *self = (py_iterator *)o;
    int64_t epoch, row;
    (void)unused;
    sp_iterator *it = enter(self);
    if (!it) return NULL;
    sp_iterator_tell(it, &epoch, &row);
    self->busy = false;
    return Py_BuildValue("LL", (long long)epoch, (long long)row);
}

static PyObject *iterator_seek(PyObject *o, PyObject *args)
{
    py_iterator *self = (py_iterator *)o;
    long long epoch, row;
    sp_status status;
    if (!PyArg_ParseTuple(args, "LL:seek", &epoch, &row)) return NULL;
    sp_iterator *it = enter(self);
    if (!it) return NULL;
    Py_BEGIN_ALLOW_THREADS status = sp_iterator_seek(it, epoch, row);
    Py_END_ALLOW_THREADS self->busy = false;
    if (status == SP_INTERRUPTED && PyErr_Occurred()) return NULL;
    if (status != SP_OK) return raise_failure(self, status);
    Py_RETURN_NONE;
}

static PyObject *iterator_stats(PyObject *o, PyObject *unused)
{
    py_iterator *self = (py_iterator *)o;
    (void)unused;
    sp_iterator *it = enter(self);
    if (!it) return NULL;
    sp_iterator_stats all;
    sp_iterator_describe(it, &all);
    const int n = sp_iterator_stages(it);
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        sp_stage_stats s;
        sp_iterator_stage(it, i, &s);
        PyList_SetItem(list, i, Py_BuildValue("(siLd)", s.name, s.depth, (long long)s.rows, s.seconds));
    }
    self->busy = false;
    return list ? Py_BuildValue("(NLLd)", list, (long long)all.ahead, (long long)all.bytes, all.waited) : NULL;
}

static PyMethodDef iterator_methods[] = {
    {"next", iterator_next, METH_O, "next(numpy): the next row as a list; None once at the end of an epoch."},
    {"tell", iterator_tell, METH_NOARGS, "tell(): epoch and rows given out in it."},
    {"seek", iterator_seek, METH_VARARGS, "seek(epoch, row): go there."},
    {"stats", iterator_stats, METH_NOARGS,
     "stats(): [(name, depth, rows, seconds)], rows ahead, bytes, seconds waited."},
    {"close", iterator_close, METH_NOARGS, "close(): end its threads."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot iterator_slots[] = {
    {Py_tp_doc, "PipelineIterator(pipeline, workers, seed, epoch, ahead, budget, slow)"},
    {Py_tp_new, (void *)iterator_new},
    {Py_tp_dealloc, (void *)iterator_dealloc},
    {Py_tp_methods, iterator_methods},
    {0, NULL}};
static PyType_Spec iterator_spec = {.name = "spore._core.PipelineIterator",
                                    .basicsize = sizeof(py_iterator),
                                    .flags = Py_TPFLAGS_DEFAULT,
                                    .slots = iterator_slots};

static PyMethodDef functions[] = {
    {"pipeline_arrays", from_arrays, METH_VARARGS, "pipeline_arrays(columns, arrays, order=None)"},
    {"pipeline_files", from_files, METH_VARARGS, "pipeline_files(paths, columns, arrays, order=None)"},
    {"pipeline_parts", from_parts, METH_VARARGS,
     "pipeline_parts(paths, [file, begin, length], text, column, order=None)"},
    {"mix_ids", mix_ids, METH_VARARGS,
     "mix_ids(ids, seed)\n--\n\nPermute an int64 array in place, as MindSpore's samplers do."},
    {"pipeline_record", from_record, METH_VARARGS, "pipeline_record(reader, columns, order=None)"},
    {"pipeline_source", from_source, METH_VARARGS,
     "pipeline_source(function of a row's number, count, columns, order=None, processes=0)"},
    {"pipeline_stream", from_stream, METH_VARARGS,
     "pipeline_stream(function of epoch and row, columns, buckets=False)"},
    {"pipeline_zip", zip_all, METH_O, "pipeline_zip(list)"},
    {"pipeline_concat", concat_all, METH_O, "pipeline_concat(list)"},
    {"pipeline_report", set_report, METH_VARARGS,
     "pipeline_report(slow, other): functions of a text; one is told about rows that take long, the other what else users should know."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_pipeline(PyObject *module)
{
    pipeline_type = (PyTypeObject *)PyType_FromSpec(&pipeline_spec);
    iterator_type = (PyTypeObject *)PyType_FromSpec(&iterator_spec);
    if (!pipeline_type || !iterator_type || PyModule_AddObjectRef(module, "Pipeline", (PyObject *)pipeline_type) < 0 ||
        PyModule_AddObjectRef(module, "PipelineIterator", (PyObject *)iterator_type) < 0)
        return -1;
    if (sp__py_add_rows(module) < 0 || sp__py_add_workers(module) < 0 || sp__py_add_cache(module) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
