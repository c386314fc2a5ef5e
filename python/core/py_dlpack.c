/* SPDX-License-Identifier: Apache-2.0 */
/* py_dlpack.c - tensors shared with other frameworks through DLPack capsules, both the versioned layout (1.x) and the
 * older one. The structures are the published ABI, written down here because it is small and must never change. */
#include "core.h"

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor dl;
    void *manager;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor dl;
} dl_versioned;

enum { DL_CPU = 1, DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };
enum { DL_READ_ONLY = 1, DL_COPIED = 2 };

static int dl_code(sp_dtype dtype)
{
    if (dtype == SP_DTYPE_BF16) return DL_BFLOAT;
    switch (sp_dtype_kind(dtype)) {
    case 'b': return DL_BOOL;
    case 'i': return DL_INT;
    case 'u': return DL_UINT;
    case 'f': return DL_FLOAT;
    case 'c': return DL_COMPLEX;
    default: return -1;
    }
}

static sp_dtype dl_dtype(const dl_tensor *t)
{
    if (t->lanes != 1) return SP_DTYPE_NONE;
    for (int d = 0; d < SP_DTYPE_COUNT; d++)
        if (dl_code((sp_dtype)d) == t->code && sp_dtype_bytes((sp_dtype)d) * 8 == t->bits) return (sp_dtype)d;
    return SP_DTYPE_NONE;
}

/* --- giving ------------------------------------------------------------------------------------------------------ */

/* One block: whichever structure the consumer asked for, and what it points to. */
typedef struct given {
    union {
        dl_managed old;
        dl_versioned now;
    } u;
    sp_tensor *t;
    int64_t shape[SP_RANK_MAX], strides[SP_RANK_MAX];
} given;

static void given_free(given *g)
{
    sp_tensor_release(g->t);
    sp__free(g); /* not Python's: the consumer may call without the interpreter lock */
}
static void delete_old(dl_managed *m) { given_free(m->manager); }
static void delete_now(dl_versioned *m) { given_free(m->manager); }

static void capsule_gone(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        m->deleter(m);
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
        m->deleter(m);
    } /* else it was used: the consumer calls the deleter */
}

static PyObject *tensor_dlpack(PyObject *module, PyObject *args, PyObject *kwds)
{
    (void)module;
    static char *names[] = {(char *)"",          (char *)"stream", (char *)"max_version",
                            (char *)"dl_device", (char *)"copy",   NULL};
    PyObject *self, *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwds, "O|$OOOO:__dlpack__", names, &self, &stream, &max_version, &device,
                                     &copy))
        return NULL;
    sp_tensor *t = sp__py_tensor(self);
    if (!t) return NULL;
    if (stream != Py_None) {
        PyErr_SetString(PyExc_ValueError, "__dlpack__: stream must be None for a Tensor in main memory");
        return NULL;
    }
    long type = DL_CPU, id = 0, major = 0, minor = 0;
    if (device != Py_None && !PyArg_ParseTuple(device, "ll", &type, &id)) return NULL;
    if (type != DL_CPU) {
        PyErr_Format(PyExc_BufferError, "__dlpack__: the Tensor is in main memory, device type %ld was asked for",
                     type);
        return NULL;
    }
    if (max_version != Py_None && !PyArg_ParseTuple(max_version, "ll", &major, &minor)) return NULL;
    int code = dl_code((sp_dtype)t->dtype);
    if (code < 0)
        return PyErr_Format(PyExc_BufferError, "__dlpack__: dtype %s cannot be shared",
                            sp_dtype_name((sp_dtype)t->dtype));

    given *g = sp__alloc_zero(sizeof *g);
    if (!g) return sp__py_no_memory();
    sp_status status = sp__tensor_need_value(t);
    if (status == SP_OK) status = copy == Py_True ? sp_tensor_copy(t, &g->t) : sp__tensor_alias(t, &g->t);
    if (status != SP_OK) {
        sp__free(g);
        return sp__py_fail(status);
    }
    sp__storage_open(g->t->storage);
    memcpy(g->shape, g->t->dims, sizeof g->shape);
    memcpy(g->strides, g->t->strides, sizeof g->strides);
    const dl_tensor dl = {.data = g->t->count ? g->t->data : NULL,
                          .device_type = DL_CPU,
                          .ndim = g->t->rank,
                          .code = (uint8_t)code,
                          .bits = (uint8_t)(8 * sp_dtype_bytes((sp_dtype)g->t->dtype)),
                          .lanes = 1,
                          .shape = g->shape,
                          .strides = g->strides};
    PyObject *capsule;
    if (major >= 1) {
        g->u.now = (dl_versioned){.major = 1,
                                  .minor = 0,
                                  .manager = g,
                                  .deleter = delete_now,
                                  .flags = copy == Py_True ? DL_COPIED : 0,
                                  .dl = dl};
        capsule = PyCapsule_New(&g->u.now, "dltensor_versioned", capsule_gone);
    } else {
        g->u.old = (dl_managed){.dl = dl, .manager = g, .deleter = delete_old};
        capsule = PyCapsule_New(&g->u.old, "dltensor", capsule_gone);
    }
    if (!capsule) given_free(g);
    return capsule;
}

/* --- taking ------------------------------------------------------------------------------------------------------ */

static void give_back_old(void *context)
{
    dl_managed *m = context;
    PyGILState_STATE state = PyGILState_Ensure(); /* a producer in Python needs it */
    if (m->deleter) m->deleter(m);
    PyGILState_Release(state);
}
static void give_back_now(void *context)
{
    dl_versioned *m = context;
    PyGILState_STATE state = PyGILState_Ensure();
    if (m->deleter) m->deleter(m);
    PyGILState_Release(state);
}
static void taken_old(void *context) { sp__section_after(give_back_old, context); }
static void taken_now(void *context) { sp__section_after(give_back_now, context); }

static sp_tensor *take(const dl_tensor *dl, void (*release)(void *), void *context)
{
    sp_dtype dtype = dl_dtype(dl);
    sp_tensor *t = NULL;
    if (dl->device_type != DL_CPU) {
        PyErr_Format(PyExc_BufferError, "from_dlpack: the memory is on device type %d, only main memory can be shared",
                     (int)dl->device_type);
    } else if (dtype == SP_DTYPE_NONE) {
        PyErr_Format(PyExc_BufferError,
                     "from_dlpack: elements of type code %d with %d bits and %d lanes have no dtype here", dl->code,
                     dl->bits, dl->lanes);
    } else if (dl->ndim < 0 || dl->ndim > SP_RANK_MAX) {
        PyErr_Format(PyExc_BufferError, "from_dlpack: %d dimensions, at most %d are possible", (int)dl->ndim,
                     SP_RANK_MAX);
    } else {
        sp_status status = sp_tensor_wrap(dtype, dl->ndim, dl->shape, dl->strides, (char *)dl->data + dl->byte_offset,
                                          release, context, &t);
        if (status != SP_OK) sp__py_fail(status);
    }
    return t;
}

static PyObject *from_capsule(PyObject *capsule)
{
    sp_tensor *t = NULL;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (m->major > 1)
            return PyErr_Format(PyExc_BufferError, "from_dlpack: version %d.%d is newer than 1", (int)m->major,
                                (int)m->minor);
        t = take(&m->dl, taken_now, m);
        if (t && PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0) return NULL;
        if (t && m->flags & DL_READ_ONLY) { /* writing in place must not reach the owner */
            sp_tensor *copy = NULL;
            sp_status status = sp_tensor_copy(t, &copy);
            sp_tensor_release(t);
            if (status != SP_OK) return sp__py_fail(status);
            t = copy;
        }
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
        t = take(&m->dl, taken_old, m);
        if (t && PyCapsule_SetName(capsule, "used_dltensor") < 0) return NULL;
    } else {
        PyErr_SetString(PyExc_ValueError, "from_dlpack: the capsule holds no DLPack tensor, or was used before");
    }
    return sp__py_take_tensor(t);
}

static PyObject *from_dlpack(PyObject *module, PyObject *source)
{
    (void)module;
    if (PyCapsule_CheckExact(source)) return from_capsule(source);
    PyObject *method = PyObject_GetAttrString(source, "__dlpack__");
    if (!method) {
        PyErr_Clear();
        return PyErr_Format(PyExc_TypeError,
                            "from_dlpack: an object with __dlpack__ or a capsule is wanted, but got %s",
                            sp__py_type_name(source));
    }
    PyObject *none = PyTuple_New(0), *kwds = Py_BuildValue("{s:(ii)}", "max_version", 1, 0);
    PyObject *capsule = none && kwds ? PyObject_Call(method, none, kwds) : NULL;
    if (!capsule && none && kwds && PyErr_ExceptionMatches(PyExc_TypeError)) { /* a producer from before version 1 */
        PyErr_Clear();
        capsule = PyObject_Call(method, none, NULL);
    }
    Py_XDECREF(none);
    Py_XDECREF(kwds);
    Py_DECREF(method);
    if (!capsule) return NULL;
    PyObject *result = from_capsule(capsule);
    Py_DECREF(capsule);
    return result;
}

static PyMethodDef functions[] = {
    {"to_dlpack", (PyCFunction)(void (*)(void))tensor_dlpack, METH_VARARGS | METH_KEYWORDS,
     "to_dlpack(tensor, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A DLPack capsule on the Tensor's memory."},
    {"from_dlpack", from_dlpack, METH_O,
     "from_dlpack(source)\n--\n\nA Tensor on the memory of an object with __dlpack__."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_dlpack(PyObject *module) { return PyModule_AddFunctions(module, functions); }
