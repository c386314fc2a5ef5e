/* SPDX-License-Identifier: Apache-2.0 */
/* py_tensor.c - the Tensor type: life, properties, and what does not depend on operators. Arithmetic is in py_number.c,
 * indexing in py_indexing.c, text in py_text.c; everything else on Tensor comes from the operator table (py_faces.c) or
 * from Python. */
#include "core.h"
#include "eager/eager.h"
#include "py_number.h"
#include "spore/grad.h"
#include "spore/parallel.h"
#include <structmember.h>

PyTypeObject *sp__py_tensor_type;

/* --- life -------------------------------------------------------------------------------------------------------- */

PyObject *sp__py_take_tensor(sp_tensor *t)
{
    if (!t) return NULL;
    sp_py_tensor *self = (sp_py_tensor *)PyType_GenericAlloc(sp__py_tensor_type, 0);
    if (!self) {
        sp_tensor_release(t);
        return NULL;
    }
    self->t = t;
    return (PyObject *)self;
}

PyObject *sp__py_take_array_tensor(sp_tensor *t)
{
    PyObject *self = sp__py_take_tensor(t);
    if (self) ((sp_py_tensor *)self)->over_array = true;
    return self;
}

/* Rare cases of sp__py_tensor: no tensor yet, or one whose memory waits for init_data. */
static sp_tensor *tensor_without_memory(PyObject *o)
{
    sp_tensor *t = ((sp_py_tensor *)o)->t;
    if (!t) {
        PyErr_Format(PyExc_RuntimeError, "%s object is not initialised: its __init__ did not call the base class's",
                     sp__py_type_name(o));
        return NULL;
    }
    if (t->dtype == SP_DTYPE_STR) {
        PyErr_SetString(PyExc_TypeError, "operators cannot compute with a Tensor of strings");
        return NULL;
    }
    PyObject *done = PyObject_CallMethod(o, "init_data", NULL);
    if (!done) return NULL;
    Py_DECREF(done);
    if (t->storage) return t;
    PyErr_SetString(PyExc_RuntimeError, "the Tensor has a shape but no contents");
    return NULL;
}

sp_tensor *sp__py_tensor(PyObject *o)
{
    if (!sp__py_is_tensor(o)) {
        PyErr_Format(PyExc_TypeError, "a Tensor is wanted, but got %s", sp__py_type_name(o));
        return NULL;
    }
    sp_tensor *t = ((sp_py_tensor *)o)->t;
    return t && sp__tensor_has_value(t) ? t : tensor_without_memory(o);
}

/* Geometry of self, which may have no memory. */
static sp_tensor *geometry(PyObject *self)
{
    sp_tensor *t = ((sp_py_tensor *)self)->t;
    return t ? t : tensor_without_memory(self);
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kwds)
{
    (void)args, (void)kwds;
    return PyType_GenericAlloc(type, 0);
}

/* Put t into self: at first, or instead of what it shows (then views taken before keep the old memory). */
static void tensor_hold_take(PyObject *self, sp_tensor *t)
{
    sp_py_tensor *p = (sp_py_tensor *)self;
    if (!p->t) {
        p->t = t;
        return;
    }
    /* A Parameter that is a variable now stays one: gradients mean the Parameter, whatever its contents are. */
    if (p->t->flags & SP_TENSOR_PARAMETER && p->t->node && sp__tensor_same_shape(p->t, t)) sp__grad_share(t, p->t);
    sp_tensor *kept = t->node ? sp_tensor_retain(t) : NULL;
    sp__tensor_rebind(p->t, t);
    if (kept) sp__grad_share(p->t, kept);
    sp_tensor_release(kept);
    sp_tensor_release(t);
}

/* --- strings ----------------------------------------------------------------------------------------------------- */

PyObject *sp__py_strings(PyObject *o)
{
    sp_py_tensor *p = (sp_py_tensor *)o;
    if (!p->t || p->t->dtype != SP_DTYPE_STR || !p->dict) return NULL;
    PyObject *array = PyDict_GetItemString(p->dict, "_strings");
    return array ? Py_NewRef(array) : NULL;
}

/* numpy's strings and Python's bytes; a str alone is refused, as MindSpore does. */
static int is_strings(PyObject *o)
{
    if (PyBytes_Check(o)) return 1;
    if (PyUnicode_CheckExact(o)) return 0;
    PyObject *dtype =
        PyObject_HasAttrString(o, "dtype") && !sp__py_is_tensor(o) ? PyObject_GetAttrString(o, "dtype") : NULL;
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    int answer = kind && PyUnicode_Check(kind) &&
                 (PyUnicode_CompareWithASCIIString(kind, "U") == 0 || PyUnicode_CompareWithASCIIString(kind, "S") == 0);
    Py_XDECREF(dtype);
    Py_XDECREF(kind);
    PyErr_Clear();
    return answer;
}

static int init_strings(PyObject *self, PyObject *input)
{
    PyObject *make = sp__py_numpy("array"), *array = make ? PyObject_CallFunctionObjArgs(make, input, NULL) : NULL;
    PyObject *shape = array ? PyObject_GetAttrString(array, "shape") : NULL;
    int64_t dims[SP_RANK_MAX];
    int rank = shape ? sp__py_ints(shape, dims, SP_RANK_MAX, "Tensor: shape") : -1;
    int failed = rank < 0;
    if (!failed) {
        sp_tensor *t = NULL;
        sp_status status = sp__tensor_handle(SP_DTYPE_STR, rank, dims, NULL, NULL, NULL, &t);
        failed = status != SP_OK;
        if (failed) sp__py_fail(status);
        else tensor_hold_take(self, t);
    }
    failed = failed || PyObject_SetAttrString(self, "_strings", array) < 0;
    Py_XDECREF(array);
    Py_XDECREF(shape);
    return failed ? -1 : 0;
}

/* --- construction ------------------------------------------------------------------------------------------------ */

/* A Symbol in a shape: what is known of a size that is left open. */
static bool is_open_size(PyObject *o) { return PyObject_HasAttrString(o, "__size_symbol__"); }

/* Does shape declare sizes that only a call knows: None or a Symbol among them, or shape=None written out? -1: error. */
static int declared_open(PyObject *kwds, PyObject *shape)
{
    if (shape == Py_None) return kwds && PyDict_GetItemString(kwds, "shape") != NULL;
    if (!PyTuple_Check(shape) && !PyList_Check(shape)) return 0;
    Py_ssize_t n = PySequence_Size(shape);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(shape, i);
        if (!item) return -1;
        bool open = item == Py_None || (!PyLong_Check(item) && is_open_size(item));
        Py_DECREF(item);
        if (open) return 1;
    }
    return 0;
}

/* A declaration for set_inputs and input_signature: no memory, -1 for sizes left open, whose Symbols are kept as `_sizes`;
 * `_any_rank` when even their number is open. */
static int init_declared(PyObject *self, sp_dtype dtype, PyObject *shape)
{
    int64_t dims[SP_RANK_MAX] = {-1};
    bool symbols = false;
    Py_ssize_t rank = shape == Py_None ? 1 : PySequence_Size(shape);
    if (rank > SP_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "Tensor: shape has %zd elements, at most %d are possible", rank, SP_RANK_MAX);
        return -1;
    }
    for (Py_ssize_t i = 0; shape != Py_None && i < rank; i++) {
        PyObject *item = PySequence_GetItem(shape, i);
        if (!item) return -1;
        const bool symbol = item != Py_None && !PyLong_Check(item) && is_open_size(item);
        dims[i] = item == Py_None || symbol ? -1 : PyLong_AsLongLong(item);
        symbols = symbols || symbol;
        Py_DECREF(item);
        if (PyErr_Occurred()) return -1;
    }
    sp_tensor *t = NULL;
    sp_status status = sp__tensor_handle(dtype, (int)rank, dims, NULL, NULL, NULL, &t);
    if (status != SP_OK) {
        sp__py_fail(status);
        return -1;
    }
    tensor_hold_take(self, t);
    if (symbols && PyObject_SetAttrString(self, "_sizes", shape) < 0) return -1;
    return shape == Py_None ? PyObject_SetAttrString(self, "_any_rank", Py_True) : 0;
}

/* Tensor(input_data=None, dtype=None, shape=None, init=None, const_arg=False, device=None) */
static int tensor_init(PyObject *self, PyObject *args, PyObject *kwds)
{
    static char *names[] = {(char *)"input_data",
                            (char *)"dtype",
                            (char *)"shape",
                            (char *)"init",
                            (char *)"const_arg",
                            (char *)"device",
                            NULL};
    PyObject *input = Py_None, *dtype_arg = Py_None, *shape = Py_None, *init = Py_None, *const_arg = Py_False,
             *device = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwds, "|OOOOOO:Tensor", names, &input, &dtype_arg, &shape, &init, &const_arg,
                                     &device))
        return -1;
    if (!PyBool_Check(const_arg)) {
        PyErr_Format(PyExc_TypeError, "Tensor: const_arg must be a bool, but got %s", sp__py_type_name(const_arg));
        return -1;
    }
    if (device != Py_None) {
        const char *name = PyUnicode_Check(device) ? PyUnicode_AsUTF8AndSize(device, NULL) : NULL;
        if (!name) {
            PyErr_Format(PyExc_ValueError, "Tensor: device must be the name of a device or None, but got %R", device);
            return -1;
        }
    }
    if (dtype_arg != Py_None && !PyObject_TypeCheck(dtype_arg, sp__py_dtype_type)) {
        PyErr_Format(PyExc_TypeError, "Tensor: dtype must be a spore dtype like float32, but got %R", dtype_arg);
        return -1;
    }
    int dtype = sp__py_dtype(dtype_arg);
    if (dtype == -2) return -1;
    if (input != Py_None) {
        if (shape != Py_None || init != Py_None) {
            PyErr_Format(PyExc_ValueError, "Tensor: %s must be None when input_data is given, but got %R",
                         shape != Py_None ? "shape" : "init", shape != Py_None ? shape : init);
            return -1;
        }
        if (PyObject_CheckBuffer(input) && is_strings(input)) {
            if (dtype == SP_DTYPE_NONE || dtype == SP_DTYPE_STR) return init_strings(self, input);
            PyErr_Format(PyExc_TypeError, "Tensor: strings cannot have dtype %s", sp_dtype_name((sp_dtype)dtype));
            return -1;
        }
        sp_tensor *t = sp__py_make_tensor(input, (sp_dtype)dtype);
        if (t && (!sp__py_is_tensor(input) || device != Py_None)) t = sp__py_place(t, device);
        if (!t) return -1;
        tensor_hold_take(self, t);
        ((sp_py_tensor *)self)->over_array = (PyObject *)Py_TYPE(self) == (PyObject *)sp__py_tensor_type &&
                                             PyObject_TypeCheck(input, sp__py_tensor_type) &&
                                             ((sp_py_tensor *)input)->over_array &&
                                             (dtype == SP_DTYPE_NONE || ((sp_py_tensor *)input)->t->dtype == t->dtype);
    } else {
        int open = declared_open(kwds, shape);
        if (open < 0) return -1;
        if (open && shape != Py_None && (dtype == SP_DTYPE_NONE || init != Py_None)) {
            PyErr_SetString(
                PyExc_ValueError,
                "Tensor: a shape with open sizes needs a dtype and no init: it declares an input and has no contents");
            return -1;
        }
        if (open && dtype != SP_DTYPE_NONE && init == Py_None) return init_declared(self, (sp_dtype)dtype, shape);
        if (shape == Py_None || dtype == SP_DTYPE_NONE) {
            PyErr_SetString(PyExc_TypeError, "Tensor: give input_data, or shape and dtype (and perhaps init)");
            return -1;
        }
        int64_t dims[SP_RANK_MAX];
        int rank = sp__py_ints(shape, dims, SP_RANK_MAX, "Tensor: shape");
        if (rank < 0) return -1;
        sp_tensor *t = NULL;
        /* With an initializer there is no memory until it runs. */
        sp_status status = init == Py_None ? sp_tensor_create_zeros((sp_dtype)dtype, rank, dims, &t)
                                           : sp__tensor_handle((sp_dtype)dtype, rank, dims, NULL, NULL, NULL, &t);
        if (status != SP_OK) {
            sp__py_fail(status);
            return -1;
        }
        tensor_hold_take(self, t);
        if (init != Py_None && PyObject_SetAttrString(self, "init", init) < 0) return -1;
    }
    if (const_arg == Py_True && PyObject_SetAttrString(self, "const_arg", Py_True) < 0) return -1;
    return 0;
}

static int tensor_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((sp_py_tensor *)self)->dict);
    return 0;
}

static int tensor_clear(PyObject *self)
{
    Py_CLEAR(((sp_py_tensor *)self)->dict);
    return 0;
}

static void tensor_dealloc(PyObject *self)
{
    sp_py_tensor *p = (sp_py_tensor *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (p->weakrefs) PyObject_ClearWeakRefs(self);
    Py_CLEAR(p->dict);
    sp_tensor_release(p->t);
    sp_tensor_release(p->here);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* --- properties -------------------------------------------------------------------------------------------------- */

static PyObject *get_shape(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    sp_spec whole;
    if (t && sp_function_recording() && sp_tensor_is_split(t, &whole)) { /* programs are written for whole tensors */
        PyObject *shape = PyTuple_New(whole.rank);
        for (int i = 0; shape && i < whole.rank; i++) PyTuple_SetItem(shape, i, PyLong_FromLongLong(whole.dims[i]));
        return shape;
    }
    return t && sp__py_sizes_known(t) ? sp__py_shape(t) : NULL;
}
static PyObject *get_dtype(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    return t ? Py_NewRef(sp__py_dtype_object((sp_dtype)t->dtype)) : NULL;
}
static PyObject *get_size(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    return t && sp__py_sizes_known(t) ? PyLong_FromLongLong(t->count) : NULL;
}
static PyObject *get_ndim(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    return t ? PyLong_FromLong(t->rank) : NULL;
}
static PyObject *get_itemsize(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    return t ? PyLong_FromSize_t(sp_dtype_bytes((sp_dtype)t->dtype)) : NULL;
}
static PyObject *get_nbytes(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    return t && sp__py_sizes_known(t) ? PyLong_FromSize_t(sp_tensor_bytes(t)) : NULL;
}
static PyObject *get_strides(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    if (!t) return NULL;
    PyObject *strides = PyTuple_New(t->rank);
    for (int i = 0; strides && i < t->rank; i++)
        PyTuple_SetItem(strides, i, PyLong_FromLongLong(t->strides[i] * (int64_t)sp_dtype_bytes((sp_dtype)t->dtype)));
    return strides;
}
static PyObject *get_has_memory(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    return t ? PyBool_FromLong(sp__tensor_has_value(t)) : NULL;
}
static PyObject *get_tracked(PyObject *self, void *c)
{
    (void)c;
    sp_tensor *t = geometry(self);
    return t ? PyBool_FromLong(sp_grad_tracked(t)) : NULL;
}

static PyGetSetDef tensor_getset[] = {
    {"shape", get_shape, NULL, "Length of every dimension, a tuple.", NULL},
    {"dtype", get_dtype, NULL, "Type of the elements.", NULL},
    {"size", get_size, NULL, "Number of elements.", NULL},
    {"ndim", get_ndim, NULL, "Number of dimensions.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of one element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"strides", get_strides, NULL, "Bytes from one element to the next along every dimension.", NULL},
    {"_has_memory", get_has_memory, NULL, "False while an initializer has not run.", NULL},
    {"_tracked", get_tracked, NULL, "True when gradients can be asked for through this tensor.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* --- conversion to Python ---------------------------------------------------------------------------------------- */

static PyObject *tensor_asnumpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return sp__py_fetched_note(self, NULL) < 0 ? NULL : sp__py_asnumpy(self);
}

/* __array__(dtype=None, copy=None) */
static PyObject *tensor_array(PyObject *self, PyObject *args, PyObject *kwds)
{
    static char *names[] = {(char *)"dtype", (char *)"copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwds, "|OO:__array__", names, &dtype, &copy)) return NULL;
    PyObject *array = sp__py_fetched_note(self, NULL) < 0 ? NULL : sp__py_asnumpy(self);
    if (!array) return NULL;
    PyObject *other = NULL;
    if (dtype != Py_None) {
        PyObject *have = PyObject_GetAttrString(array, "dtype");
        int same = have ? PyObject_RichCompareBool(have, dtype, Py_EQ) : -1;
        Py_XDECREF(have);
        if (same < 0) goto failed;
        if (!same && copy == Py_False) {
            PyErr_Format(PyExc_ValueError, "the Tensor cannot become an array of dtype %R without a copy", dtype);
            goto failed;
        }
        if (!same) {
            other = PyObject_CallMethod(array, "astype", "O", dtype);
            Py_DECREF(array);
            return other;
        }
    }
    if (copy != Py_True) return array;
    other = PyObject_CallMethod(array, "copy", NULL);
failed:
    Py_DECREF(array);
    return other;
}

static PyObject *nested_list(const sp_tensor *t, int axis, const char *at)
{
    if (axis == t->rank) return sp__py_item(t, at);
    PyObject *list = PyList_New((Py_ssize_t)t->dims[axis]);
    const int64_t step = t->strides[axis] * (int64_t)sp_dtype_bytes((sp_dtype)t->dtype);
    for (int64_t i = 0; list && i < t->dims[axis]; i++) {
        PyObject *item = nested_list(t, axis + 1, at + i * step);
        if (!item) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

static PyObject *tensor_tolist(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *strings = sp__py_strings(self);
    if (strings) {
        PyObject *list = PyObject_CallMethod(strings, "tolist", NULL);
        Py_DECREF(strings);
        return list;
    }
    sp_tensor *t = sp__py_value(self);
    return t && sp__py_fetched_note(self, NULL) == 0 ? nested_list(t, 0, t->data) : NULL;
}

static PyObject *tensor_item(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *strings = sp__py_strings(self);
    if (strings) {
        PyObject *item = PyObject_CallMethod(strings, "item", NULL);
        Py_DECREF(strings);
        return item;
    }
    sp_tensor *t = sp__py_tensor(self);
    if (!t) return NULL;
    if (t->count != 1)
        return PyErr_Format(PyExc_ValueError, "the Tensor should have only one element, but got %lld",
                            (long long)t->count);
    t = sp__py_has_value(t) ? sp__py_here(self, t) : NULL;
    return t ? sp__py_fetched_number(self, sp__py_item(t, t->data)) : NULL;
}

/* --- buffer protocol --------------------------------------------------------------------------------------------- */

typedef struct export_shape {
    sp_tensor *alias; /* keeps the memory, whatever the Tensor shows later */
    Py_ssize_t shape[SP_RANK_MAX], strides[SP_RANK_MAX];
} export_shape;

static const char *formats[SP_DTYPE_COUNT] = {
    [SP_DTYPE_BOOL] = "?", [SP_DTYPE_U8] = "B",  [SP_DTYPE_U16] = "H",  [SP_DTYPE_U32] = "I",  [SP_DTYPE_U64] = "L",
    [SP_DTYPE_I8] = "b",   [SP_DTYPE_I16] = "h", [SP_DTYPE_I32] = "i",  [SP_DTYPE_I64] = "l",  [SP_DTYPE_F16] = "e",
    [SP_DTYPE_F32] = "f",  [SP_DTYPE_F64] = "d", [SP_DTYPE_C64] = "Zf", [SP_DTYPE_C128] = "Zd"};

static int tensor_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    view->obj = NULL;
    sp_tensor *t = sp__py_value(self);
    if (!t || sp__py_fetched_note(self, NULL) < 0) return -1;
    const char *format = formats[t->dtype];
    if (!format) {
        PyErr_Format(PyExc_BufferError, "elements of dtype %s cannot be shown as a buffer",
                     sp_dtype_name((sp_dtype)t->dtype));
        return -1;
    }
    bool plain = (flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
    if ((plain || (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS ||
         (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS) &&
        !(t->flags & SP_TENSOR_CONTIGUOUS)) {
        PyErr_SetString(PyExc_BufferError, "the Tensor is a strided view: call contiguous() first");
        return -1;
    }
    export_shape *e = PyMem_Malloc(sizeof *e);
    if (!e || sp__tensor_alias(t, &e->alias) != SP_OK) {
        PyMem_Free(e);
        sp__py_no_memory();
        return -1;
    }
    if (e->alias->storage) sp__storage_lend(e->alias->storage);
    const Py_ssize_t bytes = (Py_ssize_t)sp_dtype_bytes((sp_dtype)t->dtype);
    for (int i = 0; i < t->rank; i++) {
        e->shape[i] = (Py_ssize_t)t->dims[i];
        e->strides[i] = (Py_ssize_t)t->strides[i] * bytes;
    }
    view->buf = t->data;
    view->obj = Py_NewRef(self);
    view->len = (Py_ssize_t)t->count * bytes;
    view->itemsize = bytes;
    view->readonly = 0;
    view->ndim = t->rank;
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)format : NULL;
    view->shape = flags & PyBUF_ND ? e->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? e->strides : NULL;
    view->suboffsets = NULL;
    view->internal = e;
    return 0;
}

static void tensor_releasebuffer(PyObject *self, Py_buffer *view)
{
    (void)self;
    export_shape *e = view->internal;
    if (e->alias->storage) sp__storage_return(e->alias->storage);
    sp_tensor_release(e->alias);
    PyMem_Free(e);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static PyObject *tensor_is_contiguous(PyObject *self, PyObject *unused)
{
    (void)unused;
    sp_tensor *t = geometry(self);
    return t ? PyBool_FromLong(sp_tensor_is_contiguous(t)) : NULL;
}

static PyObject *tensor_data_ptr(PyObject *self, PyObject *unused)
{
    (void)unused;
    sp_tensor *t = sp__py_tensor(self);
    if (t) sp__storage_open(t->storage);
    return t ? PyLong_FromVoidPtr(t->data) : NULL;
}

static PyObject *tensor_base(PyObject *self, PyObject *unused)
{
    (void)unused;
    sp_tensor *t = sp__py_tensor(self);
    if (!t) return NULL;
    if (!t->base || t->base->storage != t->storage || t->base->dtype != t->dtype) return Py_NewRef(self);
    return sp__py_take_tensor(sp_tensor_retain(t->base));
}
static PyObject *tensor_storage_offset(PyObject *self, PyObject *unused)
{
    (void)unused;
    sp_tensor *t = sp__py_value(self);
    if (!t) return NULL;
    return PyLong_FromLongLong((t->data - (char *)t->storage->data) / (int64_t)sp_dtype_bytes((sp_dtype)t->dtype));
}

static PyObject *tensor_get_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    sp_tensor *t = sp__py_value(self), *plain = NULL;
    if (!t) return NULL;
    SP_PY_TRY(sp_tensor_contiguous(t, &plain));
    PyObject *bytes = PyBytes_FromStringAndSize(plain->data, (Py_ssize_t)sp_tensor_bytes(plain));
    sp_tensor_release(plain);
    return bytes;
}

/* Same contents in memory of its own, no history. */
static PyObject *tensor_plain_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    sp_tensor *t = sp__py_tensor(self), *copy = NULL;
    if (!t) return NULL;
    if (sp__py_is_recorded(t)) {
        static const sp_op *op;
        if (!op && !(op = sp__py_op("copy"))) return NULL;
        return sp__py_take_tensor(sp__py_apply(op, NULL, 1, &t));
    }
    SP_PY_TRY(sp_tensor_copy(t, &copy));
    return sp__py_take_tensor(copy);
}

/* While a program is recorded, writing is an operator like any other. */
static PyObject *write_recorded(PyObject *self, sp_tensor *t, sp_tensor *from)
{
    static const sp_op *assign;
    if (!assign && !(assign = sp__py_op("assign"))) return NULL;
    sp_tensor *in[2] = {t, from};
    sp_tensor *out = sp__py_apply(assign, NULL, 2, in);
    if (!out) return NULL;
    sp_tensor_release(out);
    return Py_NewRef(self);
}

/* _rebind(other): show what other shows, in place of what was here. */
static PyObject *tensor_rebind(PyObject *self, PyObject *other)
{
    sp_tensor *from = sp__py_tensor(other), *alias = NULL;
    if (!from) return NULL;
    sp_tensor *t = ((sp_py_tensor *)self)->t;
    if (t && t->storage && sp__py_is_recorded(t)) return write_recorded(self, t, from);
    SP_PY_TRY(sp__tensor_alias(from, &alias));
    if (!(alias = sp__py_place_like(alias, t))) return NULL; /* a Tensor stays on its device */
    tensor_hold_take(self, alias);
    return Py_NewRef(self);
}

/* _alias(): another Tensor on the same memory, without history. */
static PyObject *tensor_alias(PyObject *self, PyObject *unused)
{
    (void)unused;
    sp_tensor *t = sp__py_tensor(self), *alias = NULL;
    if (!t) return NULL;
    SP_PY_TRY(sp__py_alias(t, &alias));
    return sp__py_take_tensor(alias);
}

/* _write(value): copy value's numbers into this memory (same shape, converted). */
static PyObject *tensor_write(PyObject *self, PyObject *value)
{
    sp_tensor *t = sp__py_tensor(self);
    sp_tensor *from = t ? sp__py_tensor(value) : NULL;
    if (!from) return NULL;
    if (sp__py_is_recorded(t) || sp__py_is_recorded(from)) return write_recorded(self, t, from);
    SP_PY_TRY(sp_tensor_assign(t, from));
    sp__tensor_wrote(t);
    return Py_NewRef(self);
}

/* _shares(other): do both show the same block of memory? */
static PyObject *tensor_shares(PyObject *self, PyObject *other)
{
    sp_tensor *a = sp__py_tensor(self), *b = a ? sp__py_tensor(other) : NULL;
    return b ? PyBool_FromLong(sp_tensor_shares(a, b)) : NULL;
}

static PyObject *tensor_from_numpy(PyObject *unused, PyObject *array)
{
    (void)unused;
    if (!sp__py_is_array(array))
        return PyErr_Format(PyExc_TypeError, "from_numpy: a numpy array is wanted, but got %s",
                            sp__py_type_name(array));
    PyObject *flags = PyObject_GetAttrString(array, "flags");
    PyObject *writeable = flags ? PyObject_GetAttrString(flags, "writeable") : NULL;
    int may_write = writeable ? PyObject_IsTrue(writeable) : -1;
    Py_XDECREF(flags);
    Py_XDECREF(writeable);
    if (may_write < 0) return NULL;
    /* What must not be written to is copied: the Tensor may be. */
    return sp__py_take_array_tensor(sp__py_fetched_mark(sp__py_from_buffer(array, may_write > 0), array, false));
}

static PyMethodDef tensor_methods[] = {
    {"asnumpy", tensor_asnumpy, METH_NOARGS,
     "asnumpy($self)\n--\n\n"
     "A numpy array on the same memory (bfloat16: a float32 copy).\n\n"
     "Examples:\n"
     "    >>> from spore import Tensor\n"
     "    >>> x = Tensor([1.0, 2.0])\n"
     "    >>> x.asnumpy()[0] = 5\n"
     "    >>> print(x)\n"
     "    [5. 2.]\n"},
    {"numpy", tensor_asnumpy, METH_NOARGS,
     "numpy($self)\n--\n\n"
     "The same as asnumpy().\n\n"
     "Examples:\n"
     "    >>> from spore import Tensor\n"
     "    >>> Tensor([1, 2]).numpy().tolist()\n"
     "    [1, 2]\n"},
    {"__array__", (PyCFunction)(void (*)(void))tensor_array, METH_VARARGS | METH_KEYWORDS,
     "__array__($self, dtype=None, copy=None)\n--\n\nFor numpy."},
    {"tolist", tensor_tolist, METH_NOARGS,
     "tolist($self)\n--\n\n"
     "Nested lists of Python numbers.\n\n"
     "Examples:\n"
     "    >>> from spore import Tensor\n"
     "    >>> Tensor([[1, 2], [3, 4]]).tolist()\n"
     "    [[1, 2], [3, 4]]\n"},
    {"item", tensor_item, METH_NOARGS,
     "item($self)\n--\n\n"
     "The only element as a Python number.\n\n"
     "Examples:\n"
     "    >>> from spore import Tensor\n"
     "    >>> Tensor([2.5]).item()\n"
     "    2.5\n"},
    {"is_contiguous", tensor_is_contiguous, METH_NOARGS,
     "is_contiguous($self)\n--\n\n"
     "Are the elements in row-major order?\n\n"
     "Examples:\n"
     "    >>> from spore import Tensor\n"
     "    >>> x = Tensor([[1, 2], [3, 4]])\n"
     "    >>> x.is_contiguous(), x.T.is_contiguous()\n"
     "    (True, False)\n"},
    {"data_ptr", tensor_data_ptr, METH_NOARGS,
     "data_ptr($self)\n--\n\n"
     "Address of the first element.\n\n"
     "Examples:\n"
     "    >>> from spore import Tensor\n"
     "    >>> x = Tensor([1.0, 2.0])\n"
     "    >>> x[1:].data_ptr() - x.data_ptr()\n"
     "    4\n"},
    {"_base", tensor_base, METH_NOARGS,
     "_base($self)\n--\n\nOf a view: the Tensor whose memory it shows; else the Tensor itself."},
    {"storage_offset", tensor_storage_offset, METH_NOARGS,
     "storage_offset($self)\n--\n\n"
     "Elements between the start of the memory block and the first element.\n\n"
     "Examples:\n"
     "    >>> from spore import Tensor\n"
     "    >>> Tensor([1.0, 2.0, 3.0])[2:].storage_offset()\n"
     "    2\n"},
    {"get_bytes", tensor_get_bytes, METH_NOARGS,
     "get_bytes($self)\n--\n\n"
     "The elements in row-major order as bytes.\n\n"
     "Examples:\n"
     "    >>> from spore import Tensor, uint8\n"
     "    >>> list(Tensor([1, 2], uint8).get_bytes())\n"
     "    [1, 2]\n"},
    {"from_numpy", tensor_from_numpy, METH_O | METH_STATIC,
     "from_numpy(array)\n--\n\n"
     "A Tensor on the array's memory.\n\n"
     "Examples:\n"
     "    >>> import numpy as np\n"
     "    >>> from spore import Tensor\n"
     "    >>> a = np.array([1.0, 2.0])\n"
     "    >>> x = Tensor.from_numpy(a)\n"
     "    >>> a[0] = 5\n"
     "    >>> print(x)\n"
     "    [5. 2.]\n"},
    {"_plain_copy", tensor_plain_copy, METH_NOARGS, NULL},
    {"_rebind", tensor_rebind, METH_O, NULL},
    {"_alias", tensor_alias, METH_NOARGS, NULL},
    {"_write", tensor_write, METH_O, NULL},
    {"_shares", tensor_shares, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

/* --- protocol ---------------------------------------------------------------------------------------------------- */

static Py_ssize_t tensor_length(PyObject *self)
{
    sp_tensor *t = geometry(self);
    if (!t) return -1;
    if (t->rank == 0) {
        PyErr_SetString(PyExc_TypeError, "a Tensor without dimensions has no len()");
        return -1;
    }
    return sp__py_sizes_known(t) ? (Py_ssize_t)t->dims[0] : -1;
}

static PyObject *tensor_iter(PyObject *self)
{
    sp_tensor *t = geometry(self);
    if (!t) return NULL;
    if (t->rank == 0) {
        PyErr_SetString(PyExc_TypeError, "a Tensor without dimensions cannot be iterated over");
        return NULL;
    }
    return sp__py_sizes_known(t) ? PySeqIter_New(self) : NULL;
}

static PyObject *tensor_seq_item(PyObject *self, Py_ssize_t i)
{
    sp_tensor *t = sp__py_tensor(self);
    if (!t) return NULL;
    if (t->rank && i >= (Py_ssize_t)t->dims[0]) { /* ends every iteration, so it must be cheap */
        PyErr_SetNone(PyExc_IndexError);
        return NULL;
    }
    PyObject *index = PyLong_FromSsize_t(i);
    PyObject *item = index ? sp__py_get_item(self, index) : NULL;
    Py_XDECREF(index);
    return item;
}

static Py_hash_t tensor_hash(PyObject *self)
{
    return (Py_hash_t)(intptr_t)self; /* id(self), which an aligned address never has as -1 */
}

static bool has_open_size(const sp_tensor *t)
{
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] < 0) return true;
    return false;
}

/* numpy.array2string(self.asnumpy(), separator=", ") */
static PyObject *values_as_numpy(PyObject *self)
{
    PyObject *numpy = PyImport_ImportModule("numpy"), *text = NULL;
    PyObject *function = numpy ? PyObject_GetAttrString(numpy, "array2string") : NULL;
    PyObject *array = function ? sp__py_asnumpy(self) : NULL;
    PyObject *args = array ? PyTuple_Pack(1, array) : NULL,
             *kwargs = args ? Py_BuildValue("{s:s}", "separator", ", ") : NULL;
    if (kwargs) text = PyObject_Call(function, args, kwargs);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_XDECREF(array);
    Py_XDECREF(function);
    Py_XDECREF(numpy);
    return text;
}

static PyObject *tensor_repr(PyObject *self)
{
    PyObject *strings = sp__py_strings(self);
    if (strings) {
        Py_DECREF(strings);
        return PyObject_CallMethod(self, "_string_repr", NULL);
    }
    sp_tensor *t = ((sp_py_tensor *)self)->t;
    if (!t || !has_open_size(t))
        t = sp__py_tensor(self); /* a description of inputs, Tensor(shape=[3, None]), is shown as it is */
    if (!t) return NULL;
    if (!t->symbol && t->count >= 0 && !(t = sp__py_here(self, t))) return NULL;
    if (!((sp_py_tensor *)self)->over_array || t->symbol || t->count < 0) return sp__py_repr(t, NULL);
    PyObject *values = values_as_numpy(self);
    const char *text = values ? PyUnicode_AsUTF8AndSize(values, NULL) : NULL;
    PyObject *result = text ? sp__py_repr(t, text) : NULL;
    Py_XDECREF(values);
    return result;
}

static PyMemberDef tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(sp_py_tensor, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(sp_py_tensor, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

/* What other frameworks' Tensors have is named with what it is called here (spore._moves); the rest is Python's. */
static PyObject *tensor_getattro(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    const char *letters =
        found || !PyErr_ExceptionMatches(PyExc_AttributeError) ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);
    if (!letters || letters[0] == '_') return found;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *module = PyImport_ImportModule("spore._moves");
    PyObject *hint = module ? PyObject_CallMethod(module, "absent", "sO", "Tensor", name) : NULL;
    Py_XDECREF(module);
    if (hint && PyUnicode_GetLength(hint) > 0) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'%U", sp__py_type_name(self), name, hint);
    } else PyErr_Restore(type, value, trace);
    Py_XDECREF(hint);
    return NULL;
}

static PyType_Slot tensor_slots[] = {
    {Py_tp_getattro, tensor_getattro},
    {Py_tp_new, tensor_new},
    {Py_tp_init, tensor_init},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_traverse, tensor_traverse},
    {Py_tp_clear, tensor_clear},
    {Py_tp_members, tensor_members},
    {Py_tp_getset, tensor_getset},
    {Py_tp_methods, tensor_methods},
    {Py_tp_hash, tensor_hash},
    {Py_tp_repr, tensor_repr},
    {Py_tp_iter, tensor_iter},
    {Py_bf_getbuffer, tensor_getbuffer},
    {Py_bf_releasebuffer, tensor_releasebuffer},
    {Py_sq_length, tensor_length},
    {Py_sq_item, tensor_seq_item},
    {Py_mp_length, tensor_length},
    {Py_mp_subscript, sp__py_get_item},
    {Py_mp_ass_subscript, sp__py_set_item},
    {Py_tp_richcompare, sp__py_richcompare},
#define X(slot, function) {Py_##slot, function},
    SP_PY_NUMBER_SLOTS(X)
#undef X
        {Py_tp_doc,
         (void *)"Tensor(input_data=None, dtype=None, shape=None, init=None, const_arg=False, device=None)\n--\n\n"
                 "An array of numbers of one dtype that operators compute with.\n\n"
                 "Examples:\n"
                 "    >>> from spore import Tensor, float32\n"
                 "    >>> x = Tensor([[1, 2], [3, 4]], float32)\n"
                 "    >>> x.shape, x.dtype\n"
                 "    ((2, 2), mindspore.float32)\n"
                 "    >>> print(x @ x + 1)\n"
                 "    [[ 8. 11.]\n"
                 "     [16. 23.]]\n"},
    {0, NULL}};

static PyType_Spec tensor_spec = {.name = "spore.common.tensor.Tensor",
                                  .basicsize = sizeof(sp_py_tensor),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                  .slots = tensor_slots};

/* tensor_restore(tensor, dtype, shape, bytes): contents for a Tensor made by __new__ alone, as unpickling does. */
static PyObject *tensor_restore(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *self, *shape;
    const char *name, *data;
    Py_ssize_t n_bytes;
    if (!PyArg_ParseTuple(args, "O!sOy#:tensor_restore", sp__py_tensor_type, &self, &name, &shape, &data, &n_bytes))
        return NULL;
    sp_dtype dtype = sp_dtype_parse(name);
    if (dtype == SP_DTYPE_NONE) return PyErr_Format(PyExc_ValueError, "there is no dtype '%s'", name);
    int64_t dims[SP_RANK_MAX];
    int rank = sp__py_ints(shape, dims, SP_RANK_MAX, "shape");
    if (rank < 0) return NULL;
    sp_tensor *t = NULL;
    SP_PY_TRY(sp_tensor_create(dtype, rank, dims, &t));
    if (sp_tensor_bytes(t) != (size_t)n_bytes) {
        size_t wanted = sp_tensor_bytes(t);
        sp_tensor_release(t);
        return PyErr_Format(PyExc_ValueError, "the contents have %zd bytes, shape and dtype need %zd", n_bytes,
                            (Py_ssize_t)wanted);
    }
    memcpy(t->data, data, (size_t)n_bytes);
    tensor_hold_take(self, t);
    Py_RETURN_NONE;
}

/* long_long_arrays(): from now on arrays of 64-bit integers have numpy's type 'longlong', as those of MindSpore. It is no other
 * dtype, but repr() writes it out. Called once, before Tensors become arrays. */
static PyObject *long_long_arrays(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    formats[SP_DTYPE_I64] = "q";
    formats[SP_DTYPE_U64] = "Q";
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"long_long_arrays", long_long_arrays, METH_NOARGS,
     "long_long_arrays()\n--\n\nFrom now on arrays of 64-bit integers have numpy's type 'longlong', as those of MindSpore."},
    {"tensor_restore", tensor_restore, METH_VARARGS,
     "tensor_restore(tensor, dtype, shape, data)\n--\n\nGive a new Tensor its contents from bytes."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_tensor(PyObject *module)
{
    sp__py_tensor_type = (PyTypeObject *)PyType_FromSpec(&tensor_spec);
    if (!sp__py_tensor_type) return -1;
    /* Messages of the interpreter say 'Tensor' then, as for a class written in Python. */
    PyObject *name = PyUnicode_FromString("Tensor");
    int failed = !name || PyObject_SetAttrString((PyObject *)sp__py_tensor_type, "__name__", name) < 0;
    Py_XDECREF(name);
    if (failed) return -1;
    return PyModule_AddObjectRef(module, "Tensor", (PyObject *)sp__py_tensor_type) < 0
               ? -1
               : PyModule_AddFunctions(module, functions);
}
