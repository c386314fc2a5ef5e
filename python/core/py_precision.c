/* SPDX-License-Identifier: Apache-2.0 */
/* py_precision.c - mixed precision from Python: the dtypes in which weights, and the inputs of listed operators, enter operators
 * on this thread. */
#include "core.h"

#include "eager/eager.h"

static PyObject *param_dtype_set(PyObject *self, PyObject *o)
{
    (void)self;
    int dtype = sp__py_dtype(o);
    if (dtype == -2) return NULL;
    if (dtype != SP_DTYPE_NONE && sp_dtype_kind((sp_dtype)dtype) != 'f')
        return PyErr_Format(PyExc_TypeError, "weights cannot be cast to %s, it must be a float type",
                            sp_dtype_name((sp_dtype)dtype));
    sp_dtype before = sp__precision.weights;
    sp__precision.weights = (sp_dtype)dtype;
    return before == SP_DTYPE_NONE ? Py_NewRef(Py_None) : Py_NewRef(sp__py_dtype_object(before));
}

/* Operators by name, looked up once. */
#define LIST_MAX 96
typedef struct {
    const sp_op *op[LIST_MAX];
    int n;
} op_list;
typedef struct {
    op_list low, high;
    sp_dtype half;
} precision_lists;

static int read_list(PyObject *names, op_list *out)
{
    const Py_ssize_t n = PyTuple_Check(names) ? PyTuple_Size(names) : -1;
    if (n < 0 || n > LIST_MAX) {
        PyErr_Format(PyExc_TypeError, "precision_lists takes tuples of at most %d names of operators", LIST_MAX);
        return -1;
    }
    for (out->n = 0; out->n < n; out->n++) {
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, out->n), NULL);
        if (!name || !(out->op[out->n] = sp__py_op(name))) return -1;
    }
    return 0;
}

static void free_lists(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, NULL)); }

static PyObject *make_lists(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *dtype, *low, *high;
    if (!PyArg_ParseTuple(args, "OOO", &dtype, &low, &high)) return NULL;
    int half = sp__py_dtype(dtype);
    if (half == -2) return NULL;
    precision_lists *lists = PyMem_Malloc(sizeof *lists);
    if (!lists) return sp__py_no_memory();
    lists->half = (sp_dtype)half;
    PyObject *made = read_list(low, &lists->low) < 0 || read_list(high, &lists->high) < 0
                         ? NULL
                         : PyCapsule_New(lists, NULL, free_lists);
    if (!made) PyMem_Free(lists);
    return made;
}

static _Thread_local PyObject *lists_in_force; /* owned; sp__precision points into it */

static PyObject *set_lists(PyObject *self, PyObject *capsule)
{
    (void)self;
    const precision_lists *lists = NULL;
    if (capsule != Py_None && !(lists = PyCapsule_GetPointer(capsule, NULL))) return NULL;
    PyObject *before = lists_in_force ? lists_in_force : Py_NewRef(Py_None);
    lists_in_force = lists ? Py_NewRef(capsule) : NULL;
    sp_precision plain = SP_PRECISION_PLAIN;
    plain.weights = sp__precision.weights;
    sp__precision = plain;
    if (lists) {
        sp__precision.half = lists->half;
        sp__precision.low = lists->low.op, sp__precision.n_low = lists->low.n;
        sp__precision.high = lists->high.op, sp__precision.n_high = lists->high.n;
    }
    return before;
}

static PyObject *is_mixed(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(sp__precision.weights != SP_DTYPE_NONE || sp__precision.half != SP_DTYPE_NONE);
}

static PyObject *mark_parameter(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    if (!t) return NULL;
    t->flags |= SP_TENSOR_PARAMETER;
    Py_RETURN_NONE;
}

static PyObject *is_floating(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    return t ? PyBool_FromLong(sp_dtype_kind(sp_tensor_dtype(t)) == 'f') : NULL;
}

static PyMethodDef methods[] = {
    {"param_dtype_set", param_dtype_set, METH_O,
     "Let weights enter operators in a float type (None: their own); returns the one before."},
    {"precision_lists", make_lists, METH_VARARGS,
     "precision_lists(half, low, high): operators that compute in half, or in float32."},
    {"precision_lists_set", set_lists, METH_O,
     "Let precision_lists (None: none) count on this thread; returns those before."},
    {"precision_is_mixed", is_mixed, METH_NOARGS, "Whether weights or inputs of operators are cast on this thread."},
    {"mark_parameter", mark_parameter, METH_O, "Say that a tensor is a weight."},
    {"is_floating", is_floating, METH_O, "Whether a tensor has a real floating-point dtype."},
    {NULL, NULL, 0, NULL},
};

int sp__py_add_precision(PyObject *module) { return PyModule_AddFunctions(module, methods); }
