/* SPDX-License-Identifier: Apache-2.0 */
/* py_tfrecord.c - TFRecord files for the Python package: _core.TFRecordReader, an iterator of dicts. */
#include "core.h"

#include "spore/tfrecord.h"

typedef struct reader {
    PyObject_HEAD sp_tfrecord *file;
    sp_example *example;
} reader;

static void reader_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    sp_tfrecord_release(((reader *)o)->file);
    sp_example_release(((reader *)o)->example);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(o);
    Py_DECREF(type);
}

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *path;
    if (!PyArg_ParseTuple(args, "S:TFRecordReader", &path)) return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    reader *self = (reader *)alloc(type, 0);
    if (self == NULL) return NULL;
    sp_status status = sp_tfrecord_open(PyBytes_AsString(path), &self->file);
    if (status == SP_OK) status = sp_example_create(&self->example);
    if (status == SP_OK) return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return sp__py_fail(status);
}

static PyObject *texts_object(const sp_feature *f)
{
    PyObject *list = PyList_New((Py_ssize_t)f->count);
    for (size_t i = 0; list != NULL && i < f->count; i++) {
        PyObject *text = PyBytes_FromStringAndSize(f->texts[i], (Py_ssize_t)f->text_bytes[i]);
        if (text == NULL || PyList_SetItem(list, (Py_ssize_t)i, text) != 0) Py_CLEAR(list);
    }
    return list;
}

/* Texts as a list of bytes, numbers as an array. */
static PyObject *feature_object(const sp_feature *f)
{
    if (f->kind == SP_FEATURE_BYTES || f->kind == SP_FEATURE_EMPTY) return texts_object(f);
    bool real = f->kind == SP_FEATURE_FLOAT;
    PyObject *make = sp__py_numpy("frombuffer");
    if (make == NULL) return NULL;
    const char *data = real ? (const char *)f->floats : (const char *)f->ints;
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)(f->count * (real ? 4 : 8)));
    PyObject *array = bytes == NULL ? NULL : PyObject_CallFunction(make, "Os", bytes, real ? "float32" : "int64");
    Py_XDECREF(bytes);
    return array;
}

static PyObject *reader_next(PyObject *o)
{
    reader *self = (reader *)o;
    const void *data = NULL;
    size_t bytes = 0;
    SP_PY_TRY(sp_tfrecord_next(self->file, &data, &bytes));
    if (data == NULL) return NULL; /* the end, without an exception */
    SP_PY_TRY(sp_example_parse(self->example, data, bytes));
    PyObject *row = PyDict_New();
    for (int i = 0; row != NULL && i < sp_example_count(self->example); i++) {
        const sp_feature *f = sp_example_at(self->example, i);
        PyObject *name = PyUnicode_DecodeUTF8(f->name, (Py_ssize_t)f->name_bytes, "surrogateescape");
        PyObject *value = name == NULL ? NULL : feature_object(f);
        if (value == NULL || PyDict_SetItem(row, name, value) != 0) Py_CLEAR(row);
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return row;
}

/* places(): where the records begin, as a list; only lengths are read. */
static PyObject *reader_places(PyObject *o, PyObject *unused)
{
    sp_tfrecord *file = ((reader *)o)->file;
    PyObject *list = PyList_New(0);
    (void)unused;
    while (list) {
        const size_t at = sp_tfrecord_tell(file);
        bool more = false;
        const sp_status status = sp_tfrecord_skip(file, &more);
        if (status == SP_OK && !more) break;
        PyObject *place = status == SP_OK ? PyLong_FromSize_t(at) : sp__py_fail(status);
        if (!place || PyList_Append(list, place) < 0) Py_CLEAR(list);
        Py_XDECREF(place);
    }
    return list;
}

/* read(place): the record there. */
static PyObject *reader_read(PyObject *o, PyObject *place)
{
    const size_t at = PyLong_AsSize_t(place);
    if (at == (size_t)-1 && PyErr_Occurred()) return NULL;
    SP_PY_TRY(sp_tfrecord_seek(((reader *)o)->file, at));
    PyObject *row = reader_next(o);
    if (!row && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "there is no record at this place");
    return row;
}

static PyMethodDef reader_methods[] = {{"places", reader_places, METH_NOARGS, "places(): where the records begin."},
                                       {"read", reader_read, METH_O, "read(place): the record that begins there."},
                                       {NULL, NULL, 0, NULL}};

static PyType_Slot reader_slots[] = {
    {Py_tp_methods, reader_methods},
    {Py_tp_new, reader_new},
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, reader_next},
    {Py_tp_doc,
     "TFRecordReader(path): the tf.train.Example messages of a file, each a dict of features: lists of bytes, or "
     "arrays of float32 or int64."},
    {0, NULL},
};

static PyType_Spec reader_spec = {"spore._core.TFRecordReader", sizeof(reader), 0, Py_TPFLAGS_DEFAULT, reader_slots};

int sp__py_add_tfrecord(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&reader_spec);
    int failed = type == NULL ? -1 : PyModule_AddObjectRef(module, "TFRecordReader", type);
    Py_XDECREF(type);
    return failed;
}
