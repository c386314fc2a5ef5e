/* SPDX-License-Identifier: Apache-2.0 */
/* py_checkpoint.c - checkpoint files for the Python package: lists of (name, Tensor or str) to a file and back. File
 * work runs without the interpreter lock. */
#include "core.h"

#include "spore/format.h"

/* The bytes of a str as UTF-8, borrowed from it. */
static const char *utf8(PyObject *text, const char *what, Py_ssize_t *bytes)
{
    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "%s must be str, but got %R", what, (PyObject *)Py_TYPE(text));
        return NULL;
    }
    return PyUnicode_AsUTF8AndSize(text, bytes);
}

/* A name: no NUL, which a C string cannot hold. */
static const char *name_of(PyObject *text, const char *what)
{
    Py_ssize_t bytes;
    const char *name = utf8(text, what, &bytes);
    if (name != NULL && strlen(name) != (size_t)bytes) {
        PyErr_Format(PyExc_ValueError, "%s %R contains a NUL character", what, text);
        return NULL;
    }
    return name;
}

static int add_entry(sp_bundle *bundle, PyObject *entry)
{
    if (!PyTuple_Check(entry) || PyTuple_Size(entry) != 2) {
        PyErr_Format(PyExc_TypeError, "an entry must be a tuple (name, value), but got %R", entry);
        return -1;
    }
    const char *name = name_of(PyTuple_GetItem(entry, 0), "the name of an entry");
    if (name == NULL) return -1;
    PyObject *value = PyTuple_GetItem(entry, 1);
    sp_status status;
    if (PyUnicode_Check(value)) {
        Py_ssize_t bytes;
        const char *text = utf8(value, "a text", &bytes);
        if (text == NULL) return -1;
        status = sp_bundle_add_text(bundle, name, text, (size_t)bytes);
    } else {
        sp_tensor *t = sp__py_tensor(value);
        if (t == NULL) return -1;
        status = sp_bundle_add(bundle, name, t);
    }
    if (status != SP_OK) sp__py_fail(status);
    return status == SP_OK ? 0 : -1;
}

static sp_bundle *make_bundle(PyObject *entries)
{
    sp_bundle *bundle;
    sp_status status = sp_bundle_create(&bundle);
    if (status != SP_OK) {
        sp__py_fail(status);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(entries); i++)
        if (add_entry(bundle, PyList_GetItem(entries, i)) != 0) {
            sp_bundle_release(bundle);
            return NULL;
        }
    return bundle;
}

static PyObject *checkpoint_save(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path_object, *entries;
    int crc;
    if (!PyArg_ParseTuple(args, "O&O!p:checkpoint_save", PyUnicode_FSConverter, &path_object, &PyList_Type, &entries,
                          &crc))
        return NULL;
    sp_bundle *bundle = make_bundle(entries);
    sp_status status = SP_OK;
    if (bundle != NULL) {
        const char *path = PyBytes_AsString(path_object);
        Py_BEGIN_ALLOW_THREADS
        status = sp_checkpoint_save(path, bundle, crc ? SP_CHECKPOINT_CRC : 0);
        Py_END_ALLOW_THREADS
    }
    sp_bundle_release(bundle);
    Py_DECREF(path_object);
    if (bundle == NULL) return NULL;
    if (status != SP_OK) return sp__py_fail(status);
    Py_RETURN_NONE;
}

/* Snapshot: the values cannot change any more, whatever is done to the tensors meanwhile. */
static sp_status copy_bundle(const sp_bundle *from, sp_bundle *to)
{
    for (int64_t i = 0; i < sp_bundle_count(from); i++) {
        const char *name = sp_bundle_name_at(from, i);
        size_t bytes;
        const char *text = sp_bundle_text_at(from, i, &bytes);
        if (text != NULL) {
            SP_TRY(sp_bundle_add_text(to, name, text, bytes));
            continue;
        }
        sp_tensor *copy;
        SP_TRY(sp_tensor_copy(sp_bundle_tensor_at(from, i), &copy));
        sp_status status = sp_bundle_add(to, name, copy);
        sp_tensor_release(copy);
        SP_TRY(status);
    }
    return SP_OK;
}

static PyObject *entry_object(const sp_bundle *bundle, int64_t i)
{
    size_t bytes;
    const char *text = sp_bundle_text_at(bundle, i, &bytes);
    PyObject *value = text != NULL ? PyUnicode_FromStringAndSize(text, (Py_ssize_t)bytes)
                                   : sp__py_take_tensor(sp_tensor_retain(sp_bundle_tensor_at(bundle, i)));
    if (value == NULL) return NULL;
    return Py_BuildValue("(sN)", sp_bundle_name_at(bundle, i), value);
}

static PyObject *bundle_list(const sp_bundle *bundle)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list != NULL && i < sp_bundle_count(bundle); i++) {
        PyObject *entry = entry_object(bundle, i);
        if (entry == NULL || PyList_Append(list, entry) != 0) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *checkpoint_load(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path_object;
    int crc;
    if (!PyArg_ParseTuple(args, "O&p:checkpoint_load", PyUnicode_FSConverter, &path_object, &crc)) return NULL;
    const char *path = PyBytes_AsString(path_object);
    sp_bundle *bundle = NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS
    status = sp_checkpoint_load(path, crc ? SP_CHECKPOINT_CRC : 0, &bundle);
    Py_END_ALLOW_THREADS
    Py_DECREF(path_object);
    if (status != SP_OK) return sp__py_fail(status);
    PyObject *list = bundle_list(bundle);
    sp_bundle_release(bundle);
    return list;
}

static PyObject *checkpoint_copy(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *entries;
    if (!PyArg_ParseTuple(args, "O!:checkpoint_copy", &PyList_Type, &entries)) return NULL;
    sp_bundle *from = make_bundle(entries), *to = NULL;
    if (from == NULL) return NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS
    status = sp_bundle_create(&to);
    if (status == SP_OK) status = copy_bundle(from, to);
    Py_END_ALLOW_THREADS
    PyObject *list = status == SP_OK ? bundle_list(to) : sp__py_fail(status);
    sp_bundle_release(from);
    sp_bundle_release(to);
    return list;
}

static PyMethodDef functions[] = {
    {"checkpoint_save", checkpoint_save, METH_VARARGS,
     "checkpoint_save(path, entries, crc): write a list of (name, Tensor or str), replacing the file in one step."},
    {"checkpoint_load", checkpoint_load, METH_VARARGS,
     "checkpoint_load(path, crc): the list of (name, Tensor or str) in the file; crc: verify its checksum if any."},
    {"checkpoint_copy", checkpoint_copy, METH_VARARGS,
     "checkpoint_copy(entries): the same list with the tensors copied, to be saved later."},
    {NULL, NULL, 0, NULL},
};

int sp__py_add_checkpoint(PyObject *module) { return PyModule_AddFunctions(module, functions); }
