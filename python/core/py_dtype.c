/* SPDX-License-Identifier: Apache-2.0 */
/* py_dtype.c - dtype objects. The C type holds the engine's number; the classes MindSpore shows (Float, Int, ...) are
 * Python subclasses of it in spore/common/dtype.py, which registers one object per dtype here. */
#include "core.h"

typedef struct py_dtype {
    PyObject_HEAD int number; /* sp_dtype, or SP_DTYPE_NONE for types that no tensor has (list_, type_none) */
} py_dtype;

PyTypeObject *sp__py_dtype_type;
static PyObject *objects[SP_DTYPE_COUNT];

static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *kwds)
{
    (void)args, (void)kwds; /* subclasses take what they like in __init__ */
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    py_dtype *self = (py_dtype *)alloc(type, 0);
    if (self) self->number = SP_DTYPE_NONE;
    return (PyObject *)self;
}

static void dtype_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *dtype_number(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(((py_dtype *)self)->number);
}

static PyGetSetDef dtype_getset[] = {{"_number", dtype_number, NULL, "number in the engine, -1 for none", NULL},
                                     {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot dtype_slots[] = {{Py_tp_new, dtype_new},
                                    {Py_tp_dealloc, dtype_dealloc},
                                    {Py_tp_getset, dtype_getset},
                                    {Py_tp_doc, (void *)"A type of elements or values."},
                                    {0, NULL}};
static PyType_Spec dtype_spec = {.name = "spore._core.DType",
                                 .basicsize = sizeof(py_dtype),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 .slots = dtype_slots};

PyObject *sp__py_dtype_object(sp_dtype dtype)
{
    PyObject *o = dtype >= 0 && dtype < SP_DTYPE_COUNT ? objects[dtype] : NULL;
    return o ? o : Py_None;
}

/* _register_dtype(object, name): this object stands for the engine's dtype of that name. */
static PyObject *register_dtype(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *o;
    const char *name;
    int keep = 1;
    if (!PyArg_ParseTuple(args, "O!s|p", sp__py_dtype_type, &o, &name, &keep)) return NULL;
    sp_dtype dtype = sp_dtype_parse(name);
    if (dtype == SP_DTYPE_NONE) return PyErr_Format(PyExc_ValueError, "the engine has no dtype '%s'", name);
    ((py_dtype *)o)->number = dtype;
    if (keep) {
        PyObject *old = objects[dtype];
        objects[dtype] = Py_NewRef(o);
        Py_XDECREF(old);
    }
    Py_RETURN_NONE;
}

static int from_name(const char *name)
{
    /* Python's and numpy's spellings that differ from ours. float is numpy's: 64 bits. */
    static const struct {
        const char *name;
        sp_dtype dtype;
    } also[] = {
        {"float", SP_DTYPE_F64},     {"int", SP_DTYPE_I64},    {"complex", SP_DTYPE_C128}, {"bool_", SP_DTYPE_BOOL},
        {"half", SP_DTYPE_F16},      {"single", SP_DTYPE_F32}, {"double", SP_DTYPE_F64},   {"byte", SP_DTYPE_I8},
        {"short", SP_DTYPE_I16},     {"intc", SP_DTYPE_I32},   {"long", SP_DTYPE_I64},     {"intp", SP_DTYPE_I64},
        {"longlong", SP_DTYPE_I64},  {"ubyte", SP_DTYPE_U8},   {"ushort", SP_DTYPE_U16},   {"uintc", SP_DTYPE_U32},
        {"ulonglong", SP_DTYPE_U64}, {"uintp", SP_DTYPE_U64},  {"cfloat", SP_DTYPE_C64},   {"cdouble", SP_DTYPE_C128},
        {"int_", SP_DTYPE_I64},      {"float_", SP_DTYPE_F64}};
    sp_dtype dtype = sp_dtype_parse(name);
    for (size_t i = 0; dtype == SP_DTYPE_NONE && i < sizeof also / sizeof also[0]; i++)
        if (strcmp(name, also[i].name) == 0) dtype = also[i].dtype;
    return dtype;
}

int sp__py_dtype(PyObject *o)
{
    if (PyObject_TypeCheck(o, sp__py_dtype_type)) {
        int number = ((py_dtype *)o)->number;
        if (number != SP_DTYPE_NONE) return number;
        PyErr_Format(PyExc_TypeError, "dtype must be one that a Tensor can have, but got %R", o);
        return -2;
    }
    if (o == Py_None) return SP_DTYPE_NONE;
    PyObject *name = NULL;
    if (PyUnicode_Check(o)) {
        Py_INCREF(o);
        name = o;
    } else if (PyType_Check(o)) {
        name = PyObject_GetAttrString(o, "__name__"); /* float, numpy.float32 */
    } else {
        name = PyObject_GetAttrString(o, "name"); /* numpy.dtype */
        if (!name || !PyUnicode_Check(name)) {
            PyErr_Clear();
            Py_CLEAR(name);
        }
    }
    int dtype = SP_DTYPE_NONE;
    if (name) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        if (text) dtype = from_name(text);
        else PyErr_Clear();
        Py_DECREF(name);
    }
    if (dtype != SP_DTYPE_NONE) return dtype;
    PyErr_Format(PyExc_TypeError, "dtype must be a spore dtype, but got %R", o);
    return -2;
}

static PyMethodDef functions[] = {
    {"_register_dtype", register_dtype, METH_VARARGS, "Make an object the face of a dtype of the engine."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_dtype(PyObject *module)
{
    sp__py_dtype_type = (PyTypeObject *)PyType_FromSpec(&dtype_spec);
    if (!sp__py_dtype_type) return -1;
    return PyModule_AddObjectRef(module, "DType", (PyObject *)sp__py_dtype_type) < 0
               ? -1
               : PyModule_AddFunctions(module, functions);
}
