/* SPDX-License-Identifier: Apache-2.0 */
/* py_checkpoint.c - files of tensors for the Python package: lists of (name, Tensor or str) to a file, and files as
 * Bundle objects. File work runs without the interpreter lock. */
#include "core.h"

#include "spore/format.h"

/* --- from Python ------------------------------------------------------------------------------------------------- */

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

static int add_notes(sp_bundle *bundle, PyObject *notes)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(notes, &at, &key, &value)) {
        const char *name = name_of(key, "the key of a note");
        const char *text = name != NULL ? name_of(value, "a note") : NULL;
        if (text == NULL) return -1;
        sp_status status = sp_bundle_set_note(bundle, name, text);
        if (status != SP_OK) {
            sp__py_fail(status);
            return -1;
        }
    }
    return 0;
}

static sp_bundle *make_bundle(PyObject *entries, PyObject *notes)
{
    sp_bundle *bundle;
    sp_status status = sp_bundle_create(&bundle);
    if (status != SP_OK) {
        sp__py_fail(status);
        return NULL;
    }
    int failed = notes != NULL ? add_notes(bundle, notes) : 0;
    for (Py_ssize_t i = 0; !failed && i < PyList_Size(entries); i++)
        failed = add_entry(bundle, PyList_GetItem(entries, i));
    if (!failed) return bundle;
    sp_bundle_release(bundle);
    return NULL;
}

/* --- to Python --------------------------------------------------------------------------------------------------- */

static PyObject *entry_object(const sp_bundle *bundle, int64_t i)
{
    size_t bytes;
    const char *text = sp_bundle_text_at(bundle, i, &bytes);
    if (text != NULL) return PyUnicode_FromStringAndSize(text, (Py_ssize_t)bytes);
    sp_tensor *t;
    Py_BEGIN_ALLOW_THREADS t = sp_bundle_tensor_at(bundle, i);
    Py_END_ALLOW_THREADS return t != NULL ? sp__py_take_tensor(sp_tensor_retain(t)) : sp__py_fail(SP_NOMEM);
}

typedef struct {
    PyObject_HEAD sp_bundle *bundle;
} py_bundle;

static PyTypeObject *bundle_type;

static PyObject *take_bundle(sp_bundle *bundle)
{
    py_bundle *self = (py_bundle *)PyType_GenericAlloc(bundle_type, 0);
    if (self == NULL) sp_bundle_release(bundle);
    else self->bundle = bundle;
    return (PyObject *)self;
}

static void bundle_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    sp_bundle_release(((py_bundle *)self)->bundle);
    PyObject_Free(self);
    Py_DECREF(type);
}

static Py_ssize_t bundle_length(PyObject *self) { return (Py_ssize_t)sp_bundle_count(((py_bundle *)self)->bundle); }

/* False with IndexError when the argument is no index. */
static bool index_of(PyObject *self, PyObject *number, int64_t *out)
{
    long long i = PyLong_AsLongLong(number);
    if (i == -1 && PyErr_Occurred()) return false;
    *out = i;
    if (i >= 0 && i < sp_bundle_count(((py_bundle *)self)->bundle)) return true;
    PyErr_Format(PyExc_IndexError, "entry %lld of a bundle of %zd", i, bundle_length(self));
    return false;
}

static PyObject *bundle_names(PyObject *self, PyObject *unused)
{
    (void)unused;
    const sp_bundle *b = ((py_bundle *)self)->bundle;
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list != NULL && i < sp_bundle_count(b); i++) {
        PyObject *name = PyUnicode_FromString(sp_bundle_name_at(b, i));
        if (name == NULL || PyList_Append(list, name) != 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *bundle_value(PyObject *self, PyObject *number)
{
    int64_t i;
    return index_of(self, number, &i) ? entry_object(((py_bundle *)self)->bundle, i) : NULL;
}

static PyObject *bundle_waits(PyObject *self, PyObject *number)
{
    int64_t i;
    if (!index_of(self, number, &i)) return NULL;
    return PyBool_FromLong(sp_bundle_waits_at(((py_bundle *)self)->bundle, i));
}

static PyObject *bundle_copy(PyObject *self, PyObject *number)
{
    int64_t i;
    if (!index_of(self, number, &i)) return NULL;
    sp_tensor *t = NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_bundle_copy_at(((py_bundle *)self)->bundle, i, &t);
    Py_END_ALLOW_THREADS return status == SP_OK ? sp__py_take_tensor(t) : sp__py_fail(status);
}

static PyObject *bundle_shape(PyObject *self, PyObject *number)
{
    int64_t i;
    if (!index_of(self, number, &i)) return NULL;
    int rank = 0;
    const int64_t *dims = NULL;
    sp_dtype dtype = sp_bundle_shape_at(((py_bundle *)self)->bundle, i, &rank, &dims);
    if (dtype == SP_DTYPE_NONE) Py_RETURN_NONE;
    PyObject *shape = PyTuple_New(rank);
    for (int k = 0; shape != NULL && k < rank; k++) {
        PyObject *n = PyLong_FromLongLong(dims[k]);
        if (n == NULL || PyTuple_SetItem(shape, k, n) != 0) Py_CLEAR(shape);
    }
    return shape != NULL ? Py_BuildValue("(sN)", sp_dtype_name(dtype), shape) : NULL;
}

static PyObject *bundle_notes(PyObject *self, PyObject *unused)
{
    (void)unused;
    const sp_bundle *b = ((py_bundle *)self)->bundle;
    PyObject *dict = PyDict_New();
    for (int64_t i = 0; dict != NULL && i < sp_bundle_note_count(b); i++) {
        const char *key, *text = sp_bundle_note_at(b, i, &key);
        PyObject *value = PyUnicode_FromString(text);
        if (value == NULL || PyDict_SetItemString(dict, key, value) != 0) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *bundle_format(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyUnicode_FromString(sp_format_name(sp_bundle_format(((py_bundle *)self)->bundle)));
}

static PyMethodDef bundle_methods[] = {
    {"names", bundle_names, METH_NOARGS, "names(): of all entries, in order."},
    {"value", bundle_value, METH_O, "value(i): Tensor or str; read from the file now, if it waits there."},
    {"waits", bundle_waits, METH_O, "waits(i): are its contents still in the file, to be read when asked for?"},
    {"copy", bundle_copy, METH_O, "copy(i): the Tensor once more, in memory of its own."},
    {"shape", bundle_shape, METH_O, "shape(i): (dtype name, shape) without reading the contents; None for a str."},
    {"format", bundle_format, METH_NOARGS, "format(): name of the format of the file."},
    {"notes", bundle_notes, METH_NOARGS, "notes(): what the file says about itself, a dict of str."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot bundle_slots[] = {
    {Py_tp_dealloc, bundle_dealloc},
    {Py_tp_methods, bundle_methods},
    {Py_sq_length, bundle_length},
    {Py_tp_doc, "Named tensors and texts, perhaps still in their file."},
    {0, NULL},
};

static PyType_Spec bundle_spec = {.name = "spore._core.Bundle",
                                  .basicsize = sizeof(py_bundle),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = bundle_slots};

/* --- functions --------------------------------------------------------------------------------------------------- */

/* Arguments that loading and saving share, as the options of the engine; key: bytes or None. */
static int set_key(sp_file_options *options, PyObject *key, const char *mode)
{
    if (key == Py_None) return 0;
    char *bytes;
    Py_ssize_t n;
    if (PyBytes_AsStringAndSize(key, &bytes, &n) != 0) return -1;
    options->key = bytes;
    options->key_bytes = (size_t)n;
    options->key_mode = mode;
    return 0;
}

static PyObject *file_save(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path_object, *entries, *notes, *key = Py_None;
    const char *mode = NULL;
    sp_file_options options = {0};
    int crc;
    if (!PyArg_ParseTuple(args, "O&O!O!zp|Oz:file_save", PyUnicode_FSConverter, &path_object, &PyList_Type, &entries,
                          &PyDict_Type, &notes, &options.format, &crc, &key, &mode))
        return NULL;
    options.flags = crc ? SP_FILE_CRC : 0;
    sp_bundle *bundle = set_key(&options, key, mode) == 0 ? make_bundle(entries, notes) : NULL;
    sp_status status = SP_OK;
    if (bundle != NULL) {
        const char *path = PyBytes_AsString(path_object);
        Py_BEGIN_ALLOW_THREADS status = sp_save(path, bundle, &options);
        Py_END_ALLOW_THREADS
    }
    sp_bundle_release(bundle);
    Py_DECREF(path_object);
    if (bundle == NULL) return NULL;
    if (status != SP_OK) return sp__py_fail(status);
    Py_RETURN_NONE;
}

static PyObject *file_load(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path_object, *key = Py_None;
    const char *mode = NULL;
    sp_file_options options = {0};
    int crc;
    if (!PyArg_ParseTuple(args, "O&zp|Oz:file_load", PyUnicode_FSConverter, &path_object, &options.format, &crc, &key,
                          &mode))
        return NULL;
    options.flags = crc ? SP_FILE_CRC : 0;
    if (set_key(&options, key, mode) != 0) {
        Py_DECREF(path_object);
        return NULL;
    }
    const char *path = PyBytes_AsString(path_object);
    sp_bundle *bundle = NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_load(path, &options, &bundle);
    Py_END_ALLOW_THREADS Py_DECREF(path_object);
    return status == SP_OK ? take_bundle(bundle) : sp__py_fail(status);
}

static PyObject *file_format(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path_object;
    if (!PyArg_ParseTuple(args, "O&:file_format", PyUnicode_FSConverter, &path_object)) return NULL;
    const sp_format *format = NULL;
    sp_status status = sp_format_probe(PyBytes_AsString(path_object), &format);
    Py_DECREF(path_object);
    return status == SP_OK ? PyUnicode_FromString(sp_format_name(format)) : sp__py_fail(status);
}

/* Snapshot: the values cannot change any more, whatever is done to the tensors meanwhile. */
static PyObject *copy_entries(const sp_bundle *from)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list != NULL && i < sp_bundle_count(from); i++) {
        sp_tensor *t = NULL;
        sp_status status = SP_OK;
        if (sp_bundle_text_at(from, i, NULL) == NULL) {
            Py_BEGIN_ALLOW_THREADS status = sp_bundle_copy_at(from, i, &t);
            Py_END_ALLOW_THREADS
        }
        PyObject *value = status != SP_OK ? sp__py_fail(status)
                          : t != NULL     ? sp__py_take_tensor(t)
                                          : entry_object(from, i);
        PyObject *entry = value != NULL ? Py_BuildValue("(sN)", sp_bundle_name_at(from, i), value) : NULL;
        if (entry == NULL || PyList_Append(list, entry) != 0) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *file_snapshot(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *entries;
    if (!PyArg_ParseTuple(args, "O!:file_snapshot", &PyList_Type, &entries)) return NULL;
    sp_bundle *from = make_bundle(entries, NULL);
    if (from == NULL) return NULL;
    PyObject *list = copy_entries(from);
    sp_bundle_release(from);
    return list;
}

static PyMethodDef functions[] = {
    {"file_save", file_save, METH_VARARGS,
     "file_save(path, entries, notes, format, crc, key=None, mode=None): write a list of (name, Tensor or str), replacing "
     "the file in one step; format None: by the end of the name."},
    {"file_load", file_load, METH_VARARGS,
     "file_load(path, format, crc, key=None, mode=None): a Bundle; format None: by the contents; crc: verify the checksum "
     "if there is one."},
    {"file_format", file_format, METH_VARARGS, "file_format(path): name of the format, by the contents."},
    {"file_snapshot", file_snapshot, METH_VARARGS,
     "file_snapshot(entries): the same list with the tensors copied, to be saved later."},
    {NULL, NULL, 0, NULL},
};

int sp__py_add_checkpoint(PyObject *module)
{
    bundle_type = (PyTypeObject *)PyType_FromSpec(&bundle_spec);
    if (bundle_type == NULL || PyModule_AddObjectRef(module, "Bundle", (PyObject *)bundle_type) != 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
