/* SPDX-License-Identifier: Apache-2.0 */
/* py_optim.c - one operator over many rows of operands in one call: the step of an optimizer over all its parameters.
 *
 * A network has hundreds of small parameters. Called from Python one by one, their updates cost more in the interpreter
 * than in arithmetic; here the operands are collected first and the operators then run back to back without it. */
#include "py_faces.h"

#include "base/profile.h"

enum { FEW = 64 }; /* numbers made per call that need no memory of their own */

typedef struct {
    const sp_op *op;
    void *attrs;
    int n_in;
    Py_ssize_t n_rows;
    sp_tensor **in;  /* n_rows times n_in, borrowed from the columns or from made */
    sp_tensor **out; /* n_rows results, for operators that do not write in place */
} batch;

static sp_status batch_run(const batch *b)
{
    sp_tensor *out[SP_OUT_MAX];
    for (Py_ssize_t row = 0; row < b->n_rows; row++) {
        int n_out = 0;
        SP_TRY(sp_apply(b->op, b->attrs, b->n_in, b->in + row * b->n_in, SP_OUT_MAX, out, &n_out));
        for (int k = 0; k < n_out; k++) {
            if (b->out && k == 0) b->out[row] = out[0];
            else sp_tensor_release(out[k]);
        }
    }
    return SP_OK;
}

static int set_attrs(const sp_op *op, PyObject *dict, void *attrs, attr_scratch *scratch)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (dict != Py_None && PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
        int i = 0;
        while (name && i < op->n_attrs && strcmp(op->attrs[i].name, name) != 0) i++;
        if (!name || i == op->n_attrs) {
            PyErr_Format(PyExc_TypeError, "%s: there is no attribute %R", op->name, key);
            return -1;
        }
        if (sp__py_set_attr(op->name, name, &op->attrs[i], value, attrs, scratch) < 0) return -1;
    }
    return 0;
}

static bool is_column(PyObject *o) { return PyTuple_Check(o) || PyList_Check(o); }

/* Rows there are: the length of the columns, which must agree. -1 with an exception. */
static Py_ssize_t count_rows(const sp_op *op, PyObject *columns, int n_in)
{
    Py_ssize_t n_rows = -1;
    for (int i = 0; i < n_in; i++) {
        PyObject *column = PyTuple_GetItem(columns, i);
        if (!is_column(column)) continue;
        Py_ssize_t n = PySequence_Size(column);
        if (n_rows >= 0 && n != n_rows) {
            PyErr_Format(PyExc_ValueError, "%s: %s has %zd entries, but the columns before it have %zd", op->name,
                         sp__op_inputs(op)->names[i], n, n_rows);
            return -1;
        }
        n_rows = n;
    }
    if (n_rows < 0) PyErr_Format(PyExc_TypeError, "%s: at least one column must be a tuple or a list", op->name);
    return n_rows;
}

/* The tensor of one operand; a number becomes a new one, put into made. */
static sp_tensor *operand(PyObject *o, sp_tensor **made)
{
    if (sp__py_is_tensor(o)) return sp__py_tensor(o);
    *made = sp__py_weak_number(o);
    if (!*made && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "apply_each: a Tensor or a number is wanted, but got %s", sp__py_type_name(o));
    return *made;
}

/* Operands of all rows into b->in; kept: tuples that hold what is borrowed. */
static int collect(batch *b, PyObject *columns, PyObject **kept, sp_tensor **made)
{
    for (int i = 0; i < b->n_in; i++) {
        PyObject *column = PyTuple_GetItem(columns, i);
        if (!is_column(column)) {
            sp_tensor *t = operand(column, &made[i]);
            if (!t) return -1;
            for (Py_ssize_t row = 0; row < b->n_rows; row++) b->in[row * b->n_in + i] = t;
            continue;
        }
        kept[i] = PySequence_Tuple(column);
        if (!kept[i]) return -1;
        if (PyTuple_Size(kept[i]) != b->n_rows) {
            PyErr_SetString(PyExc_RuntimeError, "apply_each: a list changed its length during the call");
            return -1;
        }
        for (Py_ssize_t row = 0; row < b->n_rows; row++) {
            sp_tensor *t = operand(PyTuple_GetItem(kept[i], row), &made[b->n_in + row * b->n_in + i]);
            if (!t) return -1;
            b->in[row * b->n_in + i] = t;
        }
    }
    return 0;
}

static PyObject *results(batch *b)
{
    if (b->op->writes) return Py_NewRef(Py_None);
    PyObject *list = PyTuple_New(b->n_rows);
    for (Py_ssize_t row = 0; list && row < b->n_rows; row++) {
        PyObject *o = sp__py_take_tensor(b->out[row]);
        b->out[row] = NULL;
        if (o) PyTuple_SetItem(list, row, o);
        else Py_CLEAR(list);
    }
    return list;
}

static PyObject *apply_each(PyObject *module, PyObject *args)
{
    (void)module;
    if (sp__profile_on()) sp__py_profile_here();
    const char *name;
    PyObject *columns, *dict = Py_None, *result = NULL;
    if (!PyArg_ParseTuple(args, "sO!|O:apply_each", &name, &PyTuple_Type, &columns, &dict)) return NULL;
    if (dict != Py_None && !PyDict_Check(dict))
        return PyErr_Format(PyExc_TypeError, "apply_each: attrs must be a dict, but got %s", sp__py_type_name(dict));
    const sp_op *op = sp__py_op(name);
    if (!op) return NULL;
    batch b = {.op = op, .n_in = (int)PyTuple_Size(columns)};
    if (b.n_in != sp__op_inputs(op)->n)
        return PyErr_Format(PyExc_TypeError, "%s takes %d inputs, but got %d columns", name, sp__op_inputs(op)->n,
                            b.n_in);
    b.n_rows = count_rows(op, columns, b.n_in);
    if (b.n_rows < 0) return NULL;
    attr_scratch scratch;
    sp__py_scratch_init(&scratch);
    PyObject *kept[SP_IN_MAX] = {NULL};
    const size_t cells = (size_t)b.n_rows * (size_t)b.n_in, n_made = cells + (size_t)b.n_in;
    sp_tensor *few[FEW] = {NULL};
    sp_tensor **made = n_made <= FEW ? few : PyMem_Calloc(n_made, sizeof *made);
    b.in = PyMem_Calloc(cells + 1, sizeof *b.in);
    b.out = op->writes ? NULL : PyMem_Calloc((size_t)b.n_rows + 1, sizeof *b.out);
    b.attrs = op->n_attrs ? PyMem_Malloc(op->attrs_bytes) : NULL;
    if (!made || !b.in || (!op->writes && !b.out) || (op->n_attrs && !b.attrs)) {
        sp__py_no_memory();
        goto done;
    }
    if (b.attrs) memcpy(b.attrs, op->defaults, op->attrs_bytes);
    if (set_attrs(op, dict, b.attrs, &scratch) < 0 || collect(&b, columns, kept, made) < 0) goto done;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = batch_run(&b);
    Py_END_ALLOW_THREADS result = status == SP_OK ? results(&b) : sp__py_fail(status);
done:
    for (size_t i = 0; made && i < n_made; i++) sp_tensor_release(made[i]);
    for (Py_ssize_t i = 0; b.out && i < b.n_rows; i++) sp_tensor_release(b.out[i]);
    for (int i = 0; i < b.n_in; i++) Py_XDECREF(kept[i]);
    if (made != few) PyMem_Free(made);
    PyMem_Free(b.in);
    PyMem_Free(b.out);
    PyMem_Free(b.attrs);
    sp__py_scratch_done(&scratch);
    return result;
}

static PyMethodDef functions[] = {
    {"apply_each", apply_each, METH_VARARGS,
     "apply_each(op, columns, attrs=None)\n--\n\nApply an operator to every row of columns. A column is a tuple or list "
     "with one operand per row, or one operand for all rows. Gives the first result of each row, or None for operators "
     "that write in place."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_optim(PyObject *module) { return PyModule_AddFunctions(module, functions); }
