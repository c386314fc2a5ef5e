/* SPDX-License-Identifier: Apache-2.0 */
/* py_rows.c - rows as Python values, and calls of Python functions.
 *
 * Functions run in the iterator's lane: on the thread that asks for rows, one at a time, in the order of rows; or, if
 * they are given processes, there (py_workers.c). An exception travels with the row as its fault. */
#include "py_rows.h"

#include <stdlib.h>

/* Of spore.dataset: anything into arrays, characters into texts, dicts for readers of arrays and of Tensors. */
static PyObject *encode_text, *decode_text, *dict_arrays, *dict_tensors;

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

/* Arrays are copied, so that no row depends on the interpreter any more. */
sp_tensor *sp__py_cell(PyObject *o)
{
    if (sp__py_is_array(o)) {
        sp_tensor *t = sp__py_from_buffer(o, false);
        if (t) return t;
        PyErr_Clear();
    }
    return encoded(o);
}

PyObject *sp__py_cell_shown(sp_tensor *t, bool arrays)
{
    if (t->dtype != SP_DTYPE_STR) return arrays ? sp__py_cell_array(t) : sp__py_take_array_tensor(t);
    PyObject *value = sp__py_cell_array(t);
    if (!value || !PyDict_Check(value)) return value;
    PyObject *shown = PyObject_CallFunctionObjArgs(arrays ? dict_arrays : dict_tensors, value, NULL);
    Py_DECREF(value);
    return shown;
}

/* A handle of our own on the characters of a cell: others may hold the cell, and must go on seeing texts. */
static sp_tensor *characters(sp_tensor *t)
{
    sp_tensor *own = NULL;
    const sp_status status = sp__tensor_alias(t, &own);
    sp_tensor_release(t);
    if (status != SP_OK) sp__py_fail(status);
    else own->dtype = SP_DTYPE_U32;
    return own;
}

PyObject *sp__py_cell_array(sp_tensor *t)
{
    const bool text = t->dtype == SP_DTYPE_STR;
    if (text && !(t = characters(t))) return NULL;
    if (t->storage && atomic_load_explicit(&t->storage->refs, memory_order_acquire) > 1) {
        sp_tensor *own = NULL;
        const sp_status status = sp_tensor_copy(t, &own);
        sp_tensor_release(t);
        SP_PY_TRY(status);
        t = own;
    }
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
    if (cell->dtype == SP_DTYPE_STR) SP_PY_TRY(sp__tensor_alias(cell, &copy));
    else SP_PY_TRY(sp_tensor_copy(cell, &copy));
    return sp__py_cell_array(copy);
}

/* --- failures --------------------------------------------------------------------------------------------------------- */

bool sp__py_is_fault_of_row(PyObject *exception)
{
    return PyErr_GivenExceptionMatches(exception, PyExc_Exception) ||
           PyErr_GivenExceptionMatches(exception, PyExc_SystemExit);
}

sp_status sp__py_row_failed_with(sp_row_call *call, PyObject *exception)
{
    PyObject *text = exception ? PyObject_Str(exception) : NULL;
    const char *words = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    /* A lack of memory is no fault of the row: nobody shall pass over it for that. */
    const sp_status status =
        exception && PyErr_GivenExceptionMatches(exception, PyExc_MemoryError) ? SP_NOMEM : SP_RUNTIME;
    sp__fail(status, "%s: %s", exception ? sp__py_type_name(exception) : "exception", words ? words : "(no text)");
    PyErr_Clear();
    Py_XDECREF(text);
    if (exception && !sp__py_is_fault_of_row(exception)) call->fatal = true;
    call->fault = exception;
    return status;
}

sp_status sp__py_row_failed(sp_row_call *call)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace && value) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return sp__py_row_failed_with(call, value);
}

/* --- calls ------------------------------------------------------------------------------------------------------------ */

PyObject *sp__py_row_arguments(sp_py_call how, const sp_row_call *call, int n_in, sp_tensor *const *in)
{
    if (how == SP_PY_CALL_READ) return Py_BuildValue("(L)", (long long)call->id);
    if (how == SP_PY_CALL_NEXT) return Py_BuildValue("(LL)", (long long)call->epoch, (long long)call->row);
    const bool batch = how == SP_PY_CALL_BATCH;
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

/* A source's row is a tuple of columns, or any sequence that is not itself a value. */
static PyObject *columns_of_row(PyObject *result)
{
    if (PyTuple_Check(result)) return Py_NewRef(result);
    if (!PyList_Check(result)) return PyTuple_Pack(1, result);
    return PyList_AsTuple(result);
}

static int wrong_number(sp_py_call how, Py_ssize_t found, int wanted)
{
    if (how == SP_PY_CALL_READ || how == SP_PY_CALL_NEXT)
        PyErr_Format(
            PyExc_RuntimeError,
            "the 'source' of 'GeneratorDataset' should return same number of NumPy arrays as specified in column_names, "
            "the size of column_names is:%d and number of returned NumPy array is:%zd",
            wanted, found);
    else
        PyErr_Format(
            PyExc_RuntimeError,
            "Invalid columns, the number of columns returned in 'map' operations should match the number of 'output_columns', but "
            "got the number of columns returned in 'map' operations: %zd, the number of 'output_columns': %d",
            found, wanted);
    return -1;
}

static int take_cells(sp_py_call how, PyObject *tuple, int n, sp_tensor **out)
{
    if (PyTuple_Size(tuple) != n) return wrong_number(how, PyTuple_Size(tuple), n);
    for (int i = 0; i < n; i++) {
        out[i] = sp__py_cell(PyTuple_GetItem(tuple, i));
        if (out[i]) continue;
        while (i > 0) {
            sp_tensor_release(out[--i]);
            out[i] = NULL;
        }
        return -1;
    }
    return 0;
}

int sp__py_row_answer(sp_py_call how, PyObject *result, sp_row_call *call, int n, sp_tensor **out)
{
    if (how == SP_PY_CALL_NEXT && result == Py_None) {
        call->end = true;
        return 0;
    }
    const bool source = how == SP_PY_CALL_READ || how == SP_PY_CALL_NEXT;
    if (n == 1 && !PyTuple_Check(result) && !(source && PyList_Check(result))) {
        out[0] = sp__py_cell(result);
        return out[0] ? 0 : -1;
    }
    PyObject *tuple = source                  ? columns_of_row(result)
                      : PyTuple_Check(result) ? Py_NewRef(result)
                                              : PyTuple_Pack(1, result);
    const int taken = tuple ? take_cells(how, tuple, n, out) : -1;
    if (tuple && PyTuple_Size(tuple) != n) call->fatal = true;
    Py_XDECREF(tuple);
    return taken;
}

static sp_status run(void *context, sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    const sp_py_function *f = context;
    if (call->opened) return sp__py_workers_call(call, n_in, in, n_out, out);
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *args = sp__py_row_arguments(f->how, call, n_in, in);
    PyObject *result = args ? PyObject_CallObject(f->callable, args) : NULL;
    sp_status status = SP_OK;
    if (!result || sp__py_row_answer(f->how, result, call, n_out, out) < 0) status = sp__py_row_failed(call);
    Py_XDECREF(args);
    Py_XDECREF(result);
    PyGILState_Release(state);
    return status;
}

static void function_release(void *context)
{
    sp_py_function *f = context;
    sp__py_drop(f->callable);
    free(f);
}

int sp__py_row_function(const char *name, PyObject *callable, sp_py_call how, int processes, sp_row_function *out)
{
    sp_py_function *f = malloc(sizeof *f);
    if (!f) {
        sp__py_no_memory();
        return -1;
    }
    *f = (sp_py_function){.callable = Py_NewRef(callable), .how = how, .processes = processes, .name = name};
    *out = (sp_row_function){.name = name,
                             .run = run,
                             .release = function_release,
                             .drop_fault = sp__py_drop,
                             .context = f,
                             .lane = processes == 0,
                             .n_remote = processes,
                             .open = processes ? sp__py_workers_open : NULL,
                             .stop = sp__py_workers_stop,
                             .close = sp__py_workers_close};
    return 0;
}

/* --- the module -------------------------------------------------------------------------------------------------------- */

static PyObject *set_texts(PyObject *self, PyObject *args)
{
    PyObject *given[4], **kept[4] = {&encode_text, &decode_text, &dict_arrays, &dict_tensors};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOO:pipeline_texts", &given[0], &given[1], &given[2], &given[3])) return NULL;
    for (int i = 0; i < 4; i++) {
        PyObject *before = *kept[i];
        *kept[i] = Py_NewRef(given[i]);
        Py_XDECREF(before);
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"pipeline_texts", set_texts, METH_VARARGS,
     "pipeline_texts(encode, decode, arrays, tensors): how texts become arrays and back, and what readers of arrays and of Tensors "
     "get for dicts."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_rows(PyObject *module) { return PyModule_AddFunctions(module, functions); }
