/* SPDX-License-Identifier: Apache-2.0 */
/* py_table.c - the operator table as Python data, and applying any entry by name. For tests, documentation and tools.
 * */
#include "py_faces.h"

#include "eager/eager.h"

static const char *const attr_types[] = {
    [SP_ATTR_INT] = "int",   [SP_ATTR_FLOAT] = "float",   [SP_ATTR_BOOL] = "bool",     [SP_ATTR_DTYPE] = "dtype",
    [SP_ATTR_INTS] = "ints", [SP_ATTR_FLOATS] = "floats", [SP_ATTR_NUMBER] = "number", [SP_ATTR_TEXT] = "text"};

static PyObject *attrs_of(const sp_op *op)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < op->n_attrs; i++) {
        PyObject *row = Py_BuildValue("ssz", op->attrs[i].name, attr_types[op->attrs[i].type], op->attrs[i].initial);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *dtypes_of(const sp_op *op)
{
    PyObject *list = PyList_New(0);
    uint32_t allowed = op->dtypes ? op->dtypes : SP_DT_ALL;
    for (int d = 0; list && d < SP_DTYPE_COUNT; d++) {
        if (!(allowed >> d & 1u)) continue;
        PyObject *name = PyUnicode_FromString(sp_dtype_name((sp_dtype)d));
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *op_table(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    static const char *const promotes[] = {"none", "all", "float"};
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < sp_op_count(); i++) {
        const sp_op *op = sp_op_at(i);
        PyObject *attrs = attrs_of(op), *dtypes = dtypes_of(op);
        PyObject *row =
            !attrs || !dtypes
                ? NULL
                : Py_BuildValue("{s:s,s:z,s:i,s:O,s:O,s:s,s:i,s:O,s:z,s:z,s:z,s:z,s:z,s:z}", "name", op->name, "inputs",
                                op->inputs, "n_out", op->n_out ? op->n_out : 1, "attrs", attrs, "dtypes", dtypes,
                                "promote", promotes[op->promote], "writes", (int)op->writes, "vjp",
                                op->vjp || op->compose ? Py_True : Py_False, "no_vjp", op->no_vjp, "mindir", op->mindir,
                                "onnx", op->onnx, "python", op->python, "doc", op->doc, "samples", op->samples);
        Py_XDECREF(attrs);
        Py_XDECREF(dtypes);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* --- apply(name, inputs, attrs=None) ------------------------------------------------------------------------------ */

static int fill_attrs(const sp_op *op, PyObject *dict, void *attrs, attr_scratch *scratch)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
        const sp_attr *attr = NULL;
        for (int i = 0; name && i < op->n_attrs; i++)
            if (strcmp(op->attrs[i].name, name) == 0) attr = &op->attrs[i];
        if (!attr) {
            PyErr_Format(PyExc_TypeError, "%s: there is no attribute %R", op->name, key);
            return -1;
        }
        if (sp__py_set_attr(op->name, name, attr, value, attrs, scratch) < 0) return -1;
    }
    return 0;
}

/* What the operator's inference says of these inputs: [(dtype, shape)], a dimension only the data can tell is -1. None
 * for a
 * composition, and for an operator that promotes and got several dtypes (inference sees the promoted ones). */
static PyObject *inferred(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in)
{
    sp_call c = {.op = op, .attrs = attrs, .n_in = n_in, .in = in, .n_out = op->n_out ? op->n_out : 1};
    if (!op->infer || op->writes) return Py_NewRef(Py_None);
    sp_status status = sp__inputs_check(op, n_in, in);
    if (status != SP_OK) return sp__py_fail(status);
    for (int i = 1; op->promote != SP_PROMOTE_NONE && i < n_in; i++)
        if (in[i] && in[0] && in[i]->dtype != in[0]->dtype) return Py_NewRef(Py_None);
    if (c.n_out < 0) c.n_out = op->count(&c);
    sp_meta *metas = PyMem_Calloc((size_t)c.n_out + 1, sizeof *metas);
    if (!metas) return sp__py_no_memory();
    status = sp__infer(&c, metas);
    PyObject *list = status == SP_OK ? PyList_New(0) : sp__py_fail(status);
    for (int i = 0; list && i < c.n_out; i++) {
        PyObject *shape = PyTuple_New(metas[i].rank);
        for (int k = 0; shape && k < metas[i].rank; k++)
            PyTuple_SetItem(shape, k, PyLong_FromLongLong(metas[i].dims[k]));
        PyObject *row = shape ? Py_BuildValue("ON", sp__py_dtype_object(metas[i].dtype), shape) : NULL;
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    PyMem_Free(metas);
    return list;
}

static PyObject *apply_or_infer(PyObject *args, bool infer_only)
{
    const char *name;
    PyObject *inputs, *dict = Py_None, *result = NULL;
    if (!PyArg_ParseTuple(args, "sO|O:apply", &name, &inputs, &dict)) return NULL;
    if (dict != Py_None && !PyDict_Check(dict))
        return PyErr_Format(PyExc_TypeError, "apply: attrs must be a dict, but got %s", sp__py_type_name(dict));
    const sp_op *op = sp__py_op(name);
    PyObject *sequence = op ? PySequence_Tuple(inputs) : NULL;
    if (!sequence) return NULL;
    Py_ssize_t n = PyTuple_Size(sequence);
    attr_scratch scratch;
    sp__py_scratch_init(&scratch);
    sp_tensor **in = PyMem_Calloc((size_t)n + 1, sizeof *in), **own = PyMem_Calloc((size_t)n + 1, sizeof *own);
    void *attrs = op->n_attrs ? PyMem_Malloc(op->attrs_bytes) : NULL;
    if (!in || !own || (op->n_attrs && !attrs)) {
        sp__py_no_memory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(sequence, i);
        if (o == Py_None) continue;
        if (sp__py_is_tensor(o)) {
            in[i] = sp__py_tensor(o);
        } else {
            own[i] = sp__py_weak_number(o);
            if (!own[i] && !PyErr_Occurred()) own[i] = sp__py_make_tensor(o, SP_DTYPE_NONE);
            in[i] = own[i];
        }
        if (!in[i]) {
            /* Not the constructor's words: the user called an operator. */
            if (PyErr_ExceptionMatches(PyExc_TypeError) && !PyList_Check(o) && !PyTuple_Check(o) &&
                !sp__py_is_array(o)) {
                PyErr_Clear();
                PyErr_Format(PyExc_TypeError, "%s: input %zd must be a Tensor or a number, but got %s", op->name, i,
                             sp__py_type_name(o));
            }
            goto done;
        }
    }
    if (attrs) memcpy(attrs, op->defaults, op->attrs_bytes);
    if (dict != Py_None && fill_attrs(op, dict, attrs, &scratch) < 0) goto done;
    result = infer_only ? inferred(op, attrs, (int)n, in) : sp__py_apply_object(op, attrs, (int)n, in);
done:
    for (Py_ssize_t i = 0; own && i < n; i++) sp_tensor_release(own[i]);
    PyMem_Free(in);
    PyMem_Free(own);
    PyMem_Free(attrs);
    sp__py_scratch_done(&scratch);
    Py_DECREF(sequence);
    return result;
}

static PyObject *apply(PyObject *module, PyObject *args)
{
    (void)module;
    return apply_or_infer(args, false);
}

static PyObject *infer(PyObject *module, PyObject *args)
{
    (void)module;
    return apply_or_infer(args, true);
}

static PyObject *has_op(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!text) return PyErr_Format(PyExc_TypeError, "has_op: a name is wanted, but got %s", sp__py_type_name(name));
    return PyBool_FromLong(sp_op_find(text) != NULL);
}

static PyObject *type_name(PyObject *module, PyObject *value)
{
    (void)module;
    return PyUnicode_FromString(sp__py_type_name(value));
}

static PyMethodDef functions[] = {
    {"type_name", type_name, METH_O,
     "type_name(value)\n--\n\nThe type of a value as messages give it: with its package where that is another one."},
    {"op_table", op_table, METH_NOARGS, "op_table()\n--\n\nEvery operator of the engine as a dict."},
    {"apply", apply, METH_VARARGS,
     "apply(op, inputs, attrs=None)\n--\n\n"
     "Apply an operator by name: inputs a sequence of Tensors, numbers or None, attrs a dict."},
    {"infer", infer, METH_VARARGS,
     "infer(op, inputs, attrs=None)\n--\n\n"
     "Dtypes and shapes of the results without computing them; None for a composition."},
    {"has_op", has_op, METH_O, "has_op(name)\n--\n\nIs there an operator of this name?"},
    {NULL, NULL, 0, NULL}};

int sp__py_add_table(PyObject *module) { return PyModule_AddFunctions(module, functions); }
