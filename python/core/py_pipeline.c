/* SPDX-License-Identifier: Apache-2.0 */
/* py_pipeline.c - data sets of the engine, functions of Python in them, and iterators.
 *
 * Python functions run in the iterator's lane: on the thread that asks for rows, one at a time, in the order of rows.
 * The interpreter lock is given up while rows are waited for and worked on in C, and taken for each such function. An
 * exception travels with the task as its fault, and is raised where its row would have come. */
#include <stdlib.h>

#include "core.h"
#include "spore/pipeline.h"

typedef struct py_pipeline {
    PyObject_HEAD
    sp_dataset *ds;
} py_pipeline;

typedef struct py_iterator {
    PyObject_HEAD
    sp_iterator *it;
    int n_columns;
    bool busy;
} py_iterator;

static PyTypeObject *pipeline_type, *iterator_type;
static PyObject *encode_text, *decode_text; /* of spore.dataset: anything into arrays, characters into texts */

/* --- values ----------------------------------------------------------------------------------------------------------- */

static sp_tensor *encoded(PyObject *o)
{
    PyObject *pair = encode_text ? PyObject_CallFunctionObjArgs(encode_text, o, NULL) : NULL;
    PyObject *array;
    int text;
    sp_tensor *t = NULL;
    if (!encode_text) PyErr_SetString(PyExc_RuntimeError, "spore.dataset has not been imported");
    if (pair && PyArg_ParseTuple(pair, "Op", &array, &text)) {
        t = sp__py_from_buffer(array, false);
        if (t && text) t->dtype = SP_DTYPE_STR; /* characters have four bytes, as uint32 has */
    }
    Py_XDECREF(pair);
    return t;
}

/* A value of a row: arrays are copied, so that no row depends on the interpreter any more. */
static sp_tensor *cell_of(PyObject *o)
{
    if (sp__py_is_array(o)) {
        sp_tensor *t = sp__py_from_buffer(o, false);
        if (t) return t;
        PyErr_Clear();
    }
    return encoded(o);
}

/* The reverse, as an array that the caller may write into; takes the reference over. */
static PyObject *array_of(sp_tensor *t)
{
    if (t->storage && atomic_load_explicit(&t->storage->refs, memory_order_acquire) > 1) {
        sp_tensor *own = NULL;
        const bool text = t->dtype == SP_DTYPE_STR;
        if (text) t->dtype = SP_DTYPE_U32;
        const sp_status status = sp_tensor_copy(t, &own);
        if (text) t->dtype = SP_DTYPE_STR;
        sp_tensor_release(t);
        SP_PY_TRY(status);
        if (text) own->dtype = SP_DTYPE_STR;
        t = own;
    }
    const bool text = t->dtype == SP_DTYPE_STR;
    if (text) t->dtype = SP_DTYPE_U32;
    PyObject *o = sp__py_take_tensor(t), *array = o ? sp__py_asnumpy(o) : NULL;
    Py_XDECREF(o);
    if (!text || !array) return array;
    PyObject *texts = PyObject_CallFunctionObjArgs(decode_text, array, NULL);
    Py_DECREF(array);
    return texts;
}

/* An array for a function of the user; the cell stays the caller's. */
static PyObject *lend(sp_tensor *cell)
{
    sp_tensor *copy = NULL;
    if (cell->dtype == SP_DTYPE_STR) {
        SP_PY_TRY(sp__tensor_alias(cell, &copy));
        return array_of(copy);
    }
    SP_PY_TRY(sp_tensor_copy(cell, &copy));
    return array_of(copy);
}

/* --- functions of Python ------------------------------------------------------------------------------------------------ */

/* Turn the exception into a failure with a fault. */
static sp_status failed(sp_row_call *call)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace && value) PyException_SetTraceback(value, trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *words = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    sp__fail(SP_RUNTIME, "%s: %s", value ? sp__py_type_name(value) : "exception", words ? words : "(no text)");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    call->fault = value;
    return SP_RUNTIME;
}

static void drop_object(void *object)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF((PyObject *)object);
    PyGILState_Release(state);
}

/* The function's answer, a tuple of n values, into cells. */
static int take_values(PyObject *result, int n, sp_tensor **out)
{
    if (!PyTuple_Check(result) || PyTuple_Size(result) != n) {
        if (n == 1 && !PyTuple_Check(result)) {
            out[0] = cell_of(result);
            return out[0] ? 0 : -1;
        }
        PyErr_Format(PyExc_RuntimeError,
                     "the function gives rows of %zd values, but there are %d column names",
                     PyTuple_Check(result) ? PyTuple_Size(result) : (Py_ssize_t)1, n);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        out[i] = cell_of(PyTuple_GetItem(result, i));
        if (out[i]) continue;
        while (i > 0) {
            sp_tensor_release(out[--i]);
            out[i] = NULL;
        }
        return -1;
    }
    return 0;
}

/* Arguments: the row's values; of a batch: a list for each column, then epoch and number of the batch. */
static PyObject *arguments(const sp_row_call *call, int n_in, sp_tensor *const *in, bool batch)
{
    PyObject *args = PyTuple_New(batch ? n_in + 2 : n_in);
    for (int i = 0; args && i < n_in; i++) {
        PyObject *value = batch ? PyList_New((Py_ssize_t)call->n_rows) : lend(in[i]);
        for (int64_t k = 0; batch && value && k < call->n_rows; k++) {
            PyObject *cell = lend(in[k * n_in + i]);
            if (cell) PyList_SetItem(value, (Py_ssize_t)k, cell);
            else Py_CLEAR(value);
        }
        if (value) PyTuple_SetItem(args, i, value);
        else Py_CLEAR(args);
    }
    if (args && batch) {
        PyTuple_SetItem(args, n_in, PyLong_FromLongLong(call->epoch));
        PyTuple_SetItem(args, n_in + 1, PyLong_FromLongLong(call->row));
    }
    return args;
}

static sp_status call_python(void *context, sp_row_call *call, PyObject *args, int n_out, sp_tensor **out, bool may_end)
{
    PyObject *result = args ? PyObject_CallObject(context, args) : NULL;
    Py_XDECREF(args);
    sp_status status = SP_OK;
    if (may_end && result == Py_None) call->end = true;
    else if (!result || take_values(result, n_out, out) < 0) status = failed(call);
    Py_XDECREF(result);
    return status;
}

static sp_status run_row(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    PyGILState_STATE state = PyGILState_Ensure();
    const sp_status status = call_python(context, call, arguments(call, n_in, in, false), n_out, out, false);
    PyGILState_Release(state);
    return status;
}

static sp_status run_batch(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    PyGILState_STATE state = PyGILState_Ensure();
    const sp_status status = call_python(context, call, arguments(call, n_in, in, true), n_out, out, false);
    PyGILState_Release(state);
    return status;
}

static sp_status run_read(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)n_in;
    (void)in;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *args = Py_BuildValue("(L)", (long long)call->id);
    const sp_status status = call_python(context, call, args, n_out, out, false);
    PyGILState_Release(state);
    return status;
}

/* Streams, and sizes of batches: called with epoch and row. */
static sp_status run_next(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)n_in;
    (void)in;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *args = Py_BuildValue("(LL)", (long long)call->epoch, (long long)call->row);
    const sp_status status = call_python(context, call, args, n_out, out, true);
    PyGILState_Release(state);
    return status;
}

typedef sp_status (*run_function)(void *, sp_row_call *, int, sp_tensor *const *, int, sp_tensor **);

static sp_row_function python_function(const char *name, PyObject *callable, run_function run)
{
    return (sp_row_function){.name = name,
                         .run = run,
                         .release = drop_object,
                         .drop_fault = drop_object,
                         .context = Py_NewRef(callable),
                         .lane = true};
}

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
        status = failed(&call);
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

/* None, a function of (seed, epoch), or (shuffle, shards, shard, samples). */
static int take_order(PyObject *o, sp_order *out)
{
    *out = (sp_order){.shuffle = false};
    if (!o || o == Py_None) return 0;
    if (PyCallable_Check(o)) {
        out->ids = order_ids;
        out->release = drop_object;
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
        out[i] = cell_of(PyList_GetItem(list, i));
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

static PyObject *from_files(PyObject *self, PyObject *args)
{
    PyObject *paths, *names, *list, *order_object = NULL, *result = NULL;
    const char *columns[SP_COLUMNS_MAX];
    sp_tensor *arrays[SP_COLUMNS_MAX];
    sp_order order;
    sp_dataset *ds = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!OO!|O:pipeline_files", &PyList_Type, &paths, &names, &PyList_Type, &list,
                          &order_object))
        return NULL;
    const Py_ssize_t n_files = PyList_Size(paths);
    const char **files = PyMem_Calloc((size_t)n_files + 1, sizeof *files);
    if (!files) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n_files; i++)
        if (!(files[i] = PyBytes_AsString(PyList_GetItem(paths, i)))) goto done;
    const int n_names = take_names(names, columns), n = n_names < 0 ? -1 : take_arrays(list, arrays);
    if (n < 0) goto done;
    if (n + 1 != n_names) PyErr_Format(PyExc_ValueError, "%d names for %d columns", n_names, n + 1);
    else if (take_order(order_object, &order) == 0) {
        const sp_status status = sp_dataset_from_files(n_files, files, n_names, arrays, columns, &order, &ds);
        result = give(status, ds);
    }
    for (int i = 0; i < n; i++) sp_tensor_release(arrays[i]);
done:
    PyMem_Free(files);
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
    const char *columns[SP_COLUMNS_MAX];
    sp_order order;
    sp_dataset *ds = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OLO|O:pipeline_source", &callable, &count, &names, &order_object)) return NULL;
    const int n = take_names(names, columns);
    if (n < 0 || take_order(order_object, &order) < 0) return NULL;
    const sp_row_function read = python_function("GeneratorDataset", callable, run_read);
    const sp_status status = sp_dataset_from_function(&read, count, n, columns, &order, &ds);
    return give(status, ds);
}

static PyObject *from_stream(PyObject *self, PyObject *args)
{
    PyObject *names, *callable;
    const char *columns[SP_COLUMNS_MAX];
    sp_dataset *ds = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO:pipeline_stream", &callable, &names)) return NULL;
    const int n = take_names(names, columns);
    if (n < 0) return NULL;
    const sp_row_function next = python_function("GeneratorDataset", callable, run_next);
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
        if (!PyObject_TypeCheck(o, pipeline_type)) return PyErr_Format(PyExc_TypeError, "a list of Pipelines is wanted");
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

static PyObject *set_texts(PyObject *self, PyObject *args)
{
    PyObject *encode, *decode;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO:pipeline_texts", &encode, &decode)) return NULL;
    Py_XDECREF(encode_text);
    Py_XDECREF(decode_text);
    encode_text = Py_NewRef(encode);
    decode_text = Py_NewRef(decode);
    Py_RETURN_NONE;
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
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "OOO:map_function", &callable, &in, &named)) return NULL;
    const int n_in = take_names(in, from), n_named = n_in < 0 ? -1 : take_names(named, to);
    if (n_named < 0) return NULL;
    const sp_row_function f = python_function("map", callable, run_row);
    const sp_status status = sp_dataset_map_function(dataset(self), &f, n_in, from, n_named, to, &ds);
    return give(status, ds);
}

static PyObject *filter_rows(PyObject *self, PyObject *args)
{
    PyObject *callable, *in;
    const char *from[SP_COLUMNS_MAX];
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "OO:filter", &callable, &in)) return NULL;
    const int n_in = take_names(in, from);
    if (n_in < 0) return NULL;
    const sp_row_function f = python_function("filter", callable, run_row);
    const sp_status status = sp_dataset_filter(dataset(self), &f, n_in, from, &ds);
    return give(status, ds);
}

/* batch(n, drop, pads=[(column, dims or None, value), ...]) */
static PyObject *batch_rows(PyObject *self, PyObject *args)
{
    long long size;
    int drop;
    PyObject *list = NULL;
    sp_padding pads[SP_COLUMNS_MAX];
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "Lp|O!:batch", &size, &drop, &PyList_Type, &list)) return NULL;
    const Py_ssize_t n = list ? PyList_Size(list) : 0;
    for (Py_ssize_t i = 0; i < n && i < SP_COLUMNS_MAX; i++) {
        PyObject *dims;
        sp_padding *p = &pads[i];
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sOd", &p->column, &dims, &p->value)) return NULL;
        p->rank = dims == Py_None ? -1 : sp__py_ints(dims, p->dims, SP_RANK_MAX, "padded_batch: shape");
        if (dims != Py_None && p->rank < 0) return NULL;
    }
    const sp_status status = sp_dataset_padded_batch(dataset(self), size, drop != 0, (int)n, pads, &ds);
    return give(status, ds);
}

/* batch_function(n, drop, function, sizes or None, columns) */
static PyObject *batch_function(PyObject *self, PyObject *args)
{
    long long size;
    int drop;
    PyObject *callable, *sizes, *names;
    const char *columns[SP_COLUMNS_MAX];
    sp_dataset *ds = NULL;
    if (!PyArg_ParseTuple(args, "LpOOO:batch_function", &size, &drop, &callable, &sizes, &names)) return NULL;
    const int n = take_names(names, columns);
    if (n < 0) return NULL;
    const sp_row_function f = python_function("batch", callable, run_batch);
    sp_row_function s = {.name = NULL};
    if (sizes != Py_None) s = python_function("batch_size", sizes, run_next);
    const sp_status status = sp_dataset_batch_function(dataset(self), size, drop != 0, &f, s.run ? &s : NULL, n,
                                                       columns, &ds);
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

static void pipeline_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    sp_dataset_release(dataset(self));
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef pipeline_methods[] = {
    {"map", map_transforms, METH_VARARGS, "map(transforms, in, named)"},
    {"map_function", map_function, METH_VARARGS, "map_function(function, in, named)"},
    {"filter", filter_rows, METH_VARARGS, "filter(function, in)"},
    {"batch", batch_rows, METH_VARARGS, "batch(n, drop_remainder, pads=[])"},
    {"batch_function", batch_function, METH_VARARGS, "batch_function(n, drop_remainder, function, sizes, columns)"},
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

static PyObject *iterator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *o;
    unsigned long long seed = 0;
    long long epoch = 0, ahead = 0, budget = 0;
    int workers = 0;
    static char *keywords[] = {"pipeline", "workers", "seed", "epoch", "ahead", "budget", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|iKLLL:PipelineIterator", keywords, pipeline_type, &o, &workers,
                                     &seed, &epoch, &ahead, &budget))
        return NULL;
    const sp_iterator_plan plan = {
        .n_workers = workers, .seed = seed, .first_epoch = epoch, .n_ahead = ahead, .budget = (size_t)budget};
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
    Py_BEGIN_ALLOW_THREADS
    sp_iterator_release(it);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static void iterator_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    sp_iterator *it = ((py_iterator *)o)->it;
    Py_BEGIN_ALLOW_THREADS
    sp_iterator_release(it);
    Py_END_ALLOW_THREADS
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

/* Begin a call that gives up the interpreter lock: NULL with an exception when it may not be made. */
static sp_iterator *enter(py_iterator *self)
{
    if (!self->it) PyErr_SetString(PyExc_RuntimeError, "the iterator has been closed");
    else if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "the iterator is being read from by another thread or by a function of its own "
                                            "pipeline");
    else {
        self->busy = true;
        return self->it;
    }
    return NULL;
}

/* Exceptions of Python functions are the cause of a RuntimeError that names the row; those that end a program pass. */
static PyObject *raise_failure(py_iterator *self, sp_status status)
{
    PyObject *cause = sp_iterator_take_fault(self->it);
    if (!cause) return sp__py_fail(status);
    if (!PyErr_GivenExceptionMatches(cause, PyExc_Exception)) {
        PyErr_SetObject((PyObject *)Py_TYPE(cause), cause);
        Py_DECREF(cause);
        return NULL;
    }
    PyErr_Format(PyExc_RuntimeError, "Exception thrown from user defined Python function in dataset. %s",
                 sp_error_message());
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyException_SetCause(value, cause);
    PyErr_Restore(type, value, trace);
    return NULL;
}

/* A Tensor of a cell. Texts have no memory in the engine: they are made from their array. */
static PyObject *tensor_of(sp_tensor *t)
{
    if (t->dtype != SP_DTYPE_STR) return sp__py_take_tensor(t);
    PyObject *array = array_of(t);
    PyObject *o = array ? PyObject_CallFunctionObjArgs((PyObject *)sp__py_tensor_type, array, NULL) : NULL;
    Py_XDECREF(array);
    return o;
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
    Py_BEGIN_ALLOW_THREADS
    status = sp_iterator_next(it, row, &more);
    Py_END_ALLOW_THREADS
    self->busy = false;
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
        PyObject *value = !own ? NULL : arrays ? array_of(own) : tensor_of(own);
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
    Py_BEGIN_ALLOW_THREADS
    status = sp_iterator_seek(it, epoch, row);
    Py_END_ALLOW_THREADS
    self->busy = false;
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
    {"stats", iterator_stats, METH_NOARGS, "stats(): [(name, depth, rows, seconds)], rows ahead, bytes, seconds waited."},
    {"close", iterator_close, METH_NOARGS, "close(): end its threads."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot iterator_slots[] = {{Py_tp_doc, "PipelineIterator(pipeline, workers, seed, epoch, ahead, budget)"},
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
    {"pipeline_record", from_record, METH_VARARGS, "pipeline_record(reader, columns, order=None)"},
    {"pipeline_source", from_source, METH_VARARGS, "pipeline_source(function of a row's number, count, columns, order=None)"},
    {"pipeline_stream", from_stream, METH_VARARGS, "pipeline_stream(function of epoch and row, columns)"},
    {"pipeline_zip", zip_all, METH_O, "pipeline_zip(list)"},
    {"pipeline_concat", concat_all, METH_O, "pipeline_concat(list)"},
    {"pipeline_texts", set_texts, METH_VARARGS, "pipeline_texts(encode, decode): how texts become arrays and back."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_pipeline(PyObject *module)
{
    pipeline_type = (PyTypeObject *)PyType_FromSpec(&pipeline_spec);
    iterator_type = (PyTypeObject *)PyType_FromSpec(&iterator_spec);
    if (!pipeline_type || !iterator_type ||
        PyModule_AddObjectRef(module, "Pipeline", (PyObject *)pipeline_type) < 0 ||
        PyModule_AddObjectRef(module, "PipelineIterator", (PyObject *)iterator_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
