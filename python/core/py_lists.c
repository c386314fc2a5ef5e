/* SPDX-License-Identifier: Apache-2.0 */
/* py_lists.c - sequences of Tensors. */
#include "py_lists.h"

void sp__py_list_free(sp_py_list *l)
{
    Py_CLEAR(l->fast);
    PyMem_Free(l->v);
    l->v = NULL;
}

int sp__py_list_read(PyObject *o, const char *what, bool none, sp_py_list *out)
{
    *out = (sp_py_list){.fast = PySequence_Tuple(o)};
    if (!out->fast) return -1;
    out->n = PyTuple_Size(out->fast);
    out->v = PyMem_Calloc((size_t)out->n + 1, sizeof *out->v);
    if (!out->v) {
        sp__py_no_memory();
        sp__py_list_free(out);
        return -1;
    }
    for (Py_ssize_t i = 0; i < out->n; i++) {
        PyObject *item = PyTuple_GetItem(out->fast, i);
        if (none && item == Py_None) continue;
        if (!sp__py_is_tensor(item)) {
            PyErr_Format(PyExc_TypeError, "%s[%zd] must be a Tensor, but got %s", what, i, sp__py_type_name(item));
            sp__py_list_free(out);
            return -1;
        }
        out->v[i] = sp__py_tensor(item);
        if (!out->v[i]) {
            sp__py_list_free(out);
            return -1;
        }
    }
    return 0;
}

PyObject *sp__py_tuple_take(Py_ssize_t n, sp_tensor **v)
{
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = v[i] ? sp__py_take_tensor(v[i]) : Py_NewRef(Py_None);
        v[i] = NULL;
        if (!item || !tuple) {
            Py_XDECREF(item);
            Py_CLEAR(tuple);
            continue;
        }
        PyTuple_SetItem(tuple, i, item);
    }
    return tuple;
}
