/* SPDX-License-Identifier: Apache-2.0 */
/* py_transform.c - transforms of data rows and image codecs.
 *
 * A Transform object holds a sp_transform. Columns come as numpy arrays, whose memory is read in place, or as anything
 * that can become an array; results are new numpy arrays. The interpreter lock is released while a row is worked on. */
#include "core.h"
#include "spore/transform.h"

typedef struct py_transform {
    PyObject_HEAD sp_transform *t;
} py_transform;

static PyTypeObject *transform_type;

/* --- making ------------------------------------------------------------------------------------------------------ */

enum { ARGS_MAX = 16, NUMBERS_MAX = 4096 };

/* Numbers from one value: a number, or a sequence of them. They are appended to numbers[*used]. */
static int take_numbers(PyObject *value, int depth, double *numbers, int *used)
{
    enum { LEVELS_MAX = 16 };
    if (!PyList_Check(value) && !PyTuple_Check(value)) {
        if (*used == NUMBERS_MAX) {
            PyErr_SetString(PyExc_ValueError, "too many numbers in the arguments of a transform");
            return -1;
        }
        numbers[*used] = PyFloat_AsDouble(value);
        if (PyErr_Occurred()) return -1;
        (*used)++;
        return 1;
    }
    if (depth == LEVELS_MAX) {
        PyErr_Format(PyExc_TypeError, "lists inside lists, more than %d deep, in the arguments of a transform",
                     LEVELS_MAX);
        return -1;
    }
    int n = 0;
    const Py_ssize_t size = PySequence_Size(value);
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        const int got = item ? take_numbers(item, depth + 1, numbers, used) : -1;
        Py_XDECREF(item);
        if (got < 0) return -1;
        n += got;
    }
    return n;
}

static int take_children(PyObject *list, sp_transform **children, int max)
{
    if (!list || list == Py_None) return 0;
    const Py_ssize_t n = PySequence_Size(list);
    if (n < 0) return -1;
    if (n > max) {
        PyErr_Format(PyExc_ValueError, "%zd transforms are too many, at most %d are possible", n, max);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        if (!item) return -1;
        if (!PyObject_TypeCheck(item, transform_type)) {
            PyErr_Format(PyExc_TypeError, "a list of Transform objects is wanted, but it holds %s",
                         sp__py_type_name(item));
            Py_DECREF(item);
            return -1;
        }
        children[i] = ((py_transform *)item)->t; /* the list keeps it alive */
        Py_DECREF(item);
    }
    return (int)n;
}

int sp__py_transforms(PyObject *list, sp_transform **out, int max) { return take_children(list, out, max); }

static PyObject *transform_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    const char *name;
    PyObject *named = NULL, *list = NULL;
    static char *keywords[] = {"name", "args", "children", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|O!O:Transform", keywords, &name, &PyDict_Type, &named, &list))
        return NULL;
    double *numbers = PyMem_Malloc(NUMBERS_MAX * sizeof *numbers);
    if (!numbers) return sp__py_no_memory();
    sp_transform_arg a[ARGS_MAX];
    sp_transform *children[SP_COLUMNS_MAX], *t = NULL;
    int n_args = 0, used = 0;
    Py_ssize_t at = 0;
    PyObject *key, *value, *result = NULL;
    while (named && PyDict_Next(named, &at, &key, &value)) {
        const char *text = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
        if (!text || n_args == ARGS_MAX) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "arguments are a dict of at most 16 names");
            goto done;
        }
        const double *first = numbers + used;
        const int n = take_numbers(value, 0, numbers, &used);
        if (n < 0) goto done;
        a[n_args++] = (sp_transform_arg){text, n, first};
    }
    const int n_children = take_children(list, children, SP_COLUMNS_MAX);
    if (n_children < 0) goto done;
    const sp_status status = sp_transform_create(name, n_args, a, n_children, children, &t);
    if (status != SP_OK) {
        sp__py_fail(status);
        goto done;
    }
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    result = make(type, 0);
    if (result) ((py_transform *)result)->t = t;
    else sp_transform_release(t);
done:
    PyMem_Free(numbers);
    return result;
}

static void transform_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    sp_transform_release(((py_transform *)self)->t);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* --- running ------------------------------------------------------------------------------------------------------ */

/* A column as a tensor: arrays are shared, read-only ones copied. */
static sp_tensor *column(PyObject *o)
{
    if (sp__py_is_tensor(o)) {
        sp_tensor *t = sp__py_tensor(o);
        return t ? sp_tensor_retain(t) : NULL;
    }
    if (!sp__py_is_array(o)) return sp__py_make_tensor(o, SP_DTYPE_NONE);
    sp_tensor *t = sp__py_from_buffer(o, true);
    if (t) return t;
    PyErr_Clear();
    return sp__py_from_buffer(o, false);
}

static PyObject *give_array(sp_tensor *t)
{
    PyObject *o = sp__py_take_tensor(t), *array = o ? sp__py_asnumpy(o) : NULL;
    Py_XDECREF(o);
    return array;
}

/* A result that is still the caller's own array is copied: what a transform gives belongs to nobody else. */
static sp_status own_results(int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    for (int i = 0; i < n_out; i++)
        for (int k = 0; k < n_in; k++) {
            if (!sp_tensor_shares(out[i], in[k])) continue;
            sp_tensor *copy = NULL;
            SP_TRY(sp_tensor_copy(out[i], &copy));
            sp_tensor_release(out[i]);
            out[i] = copy;
            break;
        }
    return SP_OK;
}

static PyObject *give_all(int n, sp_tensor **out)
{
    PyObject *result = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *array = result ? give_array(out[i]) : NULL;
        if (!result) sp_tensor_release(out[i]);
        else if (!array) Py_CLEAR(result);
        else PyTuple_SetItem(result, i, array);
    }
    return result;
}

static PyObject *run(int n, sp_transform *const *list, PyObject *columns, sp_stream *stream)
{
    sp_tensor *in[SP_COLUMNS_MAX], *out[SP_COLUMNS_MAX];
    const Py_ssize_t wanted = PyTuple_Size(columns);
    if (wanted > SP_COLUMNS_MAX) return PyErr_Format(PyExc_ValueError, "%zd columns are too many", wanted);
    int n_in = 0, n_out = 0;
    PyObject *result = NULL;
    for (; n_in < wanted; n_in++) {
        in[n_in] = column(PyTuple_GetItem(columns, n_in));
        if (!in[n_in]) goto done;
    }
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_transform_run_all(n, list, stream, n_in, in, SP_COLUMNS_MAX, out, &n_out);
    if (status == SP_OK) {
        status = own_results(n_in, in, n_out, out);
        if (status != SP_OK)
            for (int i = 0; i < n_out; i++) sp_tensor_release(out[i]);
    }
    Py_END_ALLOW_THREADS if (status != SP_OK) sp__py_fail(status);
    else result = give_all(n_out, out);
done:
    for (int i = 0; i < n_in; i++) sp_tensor_release(in[i]);
    return result;
}

static PyObject *transform_run(PyObject *self, PyObject *args)
{
    PyObject *columns;
    unsigned long long seed = 0, row = 0;
    if (!PyArg_ParseTuple(args, "O!|KK:run", &PyTuple_Type, &columns, &seed, &row)) return NULL;
    sp_stream stream = {.seed = seed, .row = row};
    sp_transform *list[1] = {((py_transform *)self)->t};
    return run(1, list, columns, &stream);
}

static PyObject *run_transforms(PyObject *self, PyObject *args)
{
    PyObject *list, *columns;
    unsigned long long seed = 0, row = 0;
    sp_transform *transforms[SP_COLUMNS_MAX];
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!|KK:run_transforms", &list, &PyTuple_Type, &columns, &seed, &row)) return NULL;
    const int n = take_children(list, transforms, SP_COLUMNS_MAX);
    if (n < 0) return NULL;
    sp_stream stream = {.seed = seed, .row = row};
    return run(n, transforms, columns, &stream);
}

static PyObject *transform_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(sp_transform_name(((py_transform *)self)->t));
}

static PyObject *transform_random(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(sp_transform_is_random(((py_transform *)self)->t));
}

static PyMethodDef transform_methods[] = {
    {"run", transform_run, METH_VARARGS, "run(columns, seed=0, row=0): the columns, a tuple, as it makes them."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef transform_getset[] = {{"name", transform_name, NULL, "Its name in the table.", NULL},
                                         {"random", transform_random, NULL, "Whether it draws random numbers.", NULL},
                                         {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot transform_slots[] = {
    {Py_tp_doc, "Transform(name, args={}, children=[]): a transform of the engine."},
    {Py_tp_new, (void *)transform_new},
    {Py_tp_dealloc, (void *)transform_dealloc},
    {Py_tp_methods, transform_methods},
    {Py_tp_getset, transform_getset},
    {0, NULL}};
static PyType_Spec transform_spec = {.name = "spore._core.Transform",
                                     .basicsize = sizeof(py_transform),
                                     .flags = Py_TPFLAGS_DEFAULT,
                                     .slots = transform_slots};

/* --- codecs ------------------------------------------------------------------------------------------------------- */

static PyObject *image_decode(PyObject *self, PyObject *args)
{
    Py_buffer data;
    int mode = SP_DECODE_COLOR;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*|i:image_decode", &data, &mode)) return NULL;
    sp_tensor *image = NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_image_decode(data.buf, (size_t)data.len, (sp_decode_mode)mode, &image);
    Py_END_ALLOW_THREADS PyBuffer_Release(&data);
    SP_PY_TRY(status);
    return give_array(image);
}

static PyObject *image_probe(PyObject *self, PyObject *args)
{
    Py_buffer data;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*:image_probe", &data)) return NULL;
    sp_image_info info;
    const sp_status status = sp_image_probe(data.buf, (size_t)data.len, &info);
    PyBuffer_Release(&data);
    SP_PY_TRY(status);
    return Py_BuildValue("sLLi", info.format, (long long)info.height, (long long)info.width, info.channels);
}

static PyObject *image_encode(PyObject *self, PyObject *args)
{
    PyObject *array;
    const char *format;
    int level;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOi:image_encode", &format, &array, &level)) return NULL;
    sp_tensor *image = column(array), *bytes = NULL;
    if (!image) return NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = strcmp(format, "jpeg") == 0 ? sp_image_encode_jpeg(image, level, &bytes)
                                                                : sp_image_encode_png(image, level, &bytes);
    Py_END_ALLOW_THREADS sp_tensor_release(image);
    SP_PY_TRY(status);
    return give_array(bytes);
}

static PyObject *transform_names(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < sp_transform_count(); i++) {
        PyObject *name = PyUnicode_FromString(sp_transform_name_at(i));
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"run_transforms", run_transforms, METH_VARARGS,
     "run_transforms(transforms, columns, seed=0, row=0): the columns after all of them."},
    {"image_decode", image_decode, METH_VARARGS, "image_decode(data, mode=2): a picture file as an array."},
    {"image_probe", image_probe, METH_VARARGS,
     "image_probe(data): format, height, width and channels of a picture file."},
    {"image_encode", image_encode, METH_VARARGS,
     "image_encode('jpeg' or 'png', image, level): a picture file's bytes."},
    {"transform_names", transform_names, METH_NOARGS, "transform_names(): what the engine has."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_transform(PyObject *module)
{
    transform_type = (PyTypeObject *)PyType_FromSpec(&transform_spec);
    if (!transform_type || PyModule_AddObjectRef(module, "Transform", (PyObject *)transform_type) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
