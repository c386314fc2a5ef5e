/* SPDX-License-Identifier: Apache-2.0 */
/* py_precision.c - mixed precision from Python: the dtype in which weights enter operators on this thread. */
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
    sp_dtype before = sp__param_dtype;
    sp__param_dtype = (sp_dtype)dtype;
    return before == SP_DTYPE_NONE ? Py_NewRef(Py_None) : Py_NewRef(sp__py_dtype_object(before));
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
    {"param_dtype_set", param_dtype_set, METH_O, "Let weights enter operators in a float type (None: their own); returns the one before."},
    {"mark_parameter", mark_parameter, METH_O, "Say that a tensor is a weight."},
    {"is_floating", is_floating, METH_O, "Whether a tensor has a real floating-point dtype."},
    {NULL, NULL, 0, NULL},
};

int sp__py_add_precision(PyObject *module) { return PyModule_AddFunctions(module, methods); }
