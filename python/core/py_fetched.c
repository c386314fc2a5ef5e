/* SPDX-License-Identifier: Apache-2.0 */
/* py_fetched.c - values that leave a differentiated function for Python, and Tensors that are made there afterwards.
 *
 * Gradients end where values become numpy arrays or Python numbers. To tell a gradient that is zero by accident from one that is zero,
 * Tensors with a history that are fetched while gradients are recorded are remembered, and a Tensor made from host data after that
 * is opaque (sp_grad_opaque): it depends on them in a way that has no gradient. The passes of Python leave opaque ways out;
 * python/spore/common/fetched.py asks for them when an input is not reached otherwise.
 *
 * What a fetched array (asnumpy) may have become is any array, number or list; what a fetched number (item, float) may have
 * become is a number or list given to Tensor, and as an operand the number itself: other numbers beside a Tensor are constants of
 * the program far more often. What int() and bool() give is constant piece by piece: there is no gradient to lose. */
#include "core.h"

#include "eager/eager.h"

enum { FETCHED_MOST = 16 };
typedef struct {
    sp_tensor *t; /* owned */
    bool number;
    double value;
    PyObject *place;
} fetched_value;

_Thread_local int sp__py_n_fetched;
static _Thread_local fetched_value
    *fetched; /* FETCHED_MOST places, NULL when there is none: memory of threads is scarce */

void sp__py_fetched_clear(void)
{
    while (sp__py_n_fetched > 0) {
        fetched_value *f = &fetched[--sp__py_n_fetched];
        sp_tensor_release(f->t);
        Py_CLEAR(f->place);
    }
    PyMem_Free(fetched);
    fetched = NULL;
}

static PyObject *user_place(void)
{
    PyObject *module = PyImport_ImportModule("spore.common.fetched");
    PyObject *place = module ? PyObject_CallMethod(module, "user_place", NULL) : NULL;
    Py_XDECREF(module);
    return place;
}

/* 0, or -1 with an exception. */
int sp__py_fetched_note(PyObject *o, PyObject *number)
{
    sp_tensor *t = sp_grad_recording() ? sp__py_tensor(o) : NULL;
    if (!t || !t->node || t->symbol || sp__py_n_fetched == FETCHED_MOST) return PyErr_Occurred() ? -1 : 0;
    const char kind = sp_dtype_kind((sp_dtype)t->dtype);
    if (kind != 'f' && kind != 'c') return 0;
    for (int i = 0; i < sp__py_n_fetched; i++)
        if (fetched[i].t->node == t->node && fetched[i].number == (number != NULL)) return 0;
    fetched_value f = {.number = number != NULL,
                       .value = number && PyFloat_Check(number) ? PyFloat_AsDouble(number) : Py_NAN};
    if (!fetched && !(fetched = PyMem_Calloc(FETCHED_MOST, sizeof *fetched))) {
        PyErr_NoMemory();
        return -1;
    }
    if (!(f.place = user_place())) return -1;
    f.t = sp_tensor_retain(t);
    fetched[sp__py_n_fetched++] = f;
    return 0;
}

static bool may_come_from(const fetched_value *f, PyObject *source, bool operand)
{
    const bool is_number = PyFloat_CheckExact(source) || PyLong_Check(source); /* a numpy number is part of an array */
    if (operand && is_number) return f->number && PyFloat_CheckExact(source) && f->value == PyFloat_AsDouble(source);
    return !f->number || is_number || PyList_Check(source) || PyTuple_Check(source);
}

sp_tensor *sp__py_fetched_mark_slow(sp_tensor *t, PyObject *source, bool operand)
{
    sp_tensor *in[FETCHED_MOST];
    int n = 0;
    for (int i = 0; i < sp__py_n_fetched; i++)
        if (may_come_from(&fetched[i], source, operand)) in[n++] = fetched[i].t;
    const sp_status status = sp_grad_opaque("what Python computes", n, in, 1, &t);
    if (status == SP_OK) return t;
    sp_tensor_release(t);
    sp__py_fail(status);
    return NULL;
}

/* (Tensor with the history of what was fetched, place) for each. */
static PyObject *grad_fetched(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < sp__py_n_fetched; i++) {
        PyObject *o = sp__py_take_tensor(sp_tensor_retain(fetched[i].t));
        PyObject *pair = o ? Py_BuildValue("(NO)", o, fetched[i].place) : NULL;
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *grad_any_fetched(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(sp__py_n_fetched > 0);
}

static PyMethodDef methods[] = {
    {"grad_fetched", grad_fetched, METH_NOARGS,
     "grad_fetched()\n--\n\n(Tensor, place) of values with a history that Python took while gradients were recorded."},
    {"grad_any_fetched", grad_any_fetched, METH_NOARGS, "grad_any_fetched()\n--\n\nAre there some?"},
    {NULL, NULL, 0, NULL}};

int sp__py_add_fetched(PyObject *module) { return PyModule_AddFunctions(module, methods); }
