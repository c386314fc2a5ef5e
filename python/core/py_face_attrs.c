/* SPDX-License-Identifier: Apache-2.0 */
/* py_face_attrs.c - Python values to attributes of an operator. */
#include "py_faces.h"

void sp__py_scratch_done(attr_scratch *s)
{
    for (int i = 0; i < s->n_blocks; i++) PyMem_Free(s->blocks[i]);
    for (int i = 0; i < s->n_texts; i++) Py_DECREF(s->texts[i]);
}

static int wrong(const char *op, const char *shown, const char *wanted, PyObject *value)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s: %s must be %s, but got %s", op, shown, wanted, sp__py_type_name(value));
    return -1;
}

static const char *wanted_type(sp_attr_type type)
{
    static const char *const words[] = {[SP_ATTR_INT] = "an int",
                                        [SP_ATTR_FLOAT] = "a float",
                                        [SP_ATTR_BOOL] = "a bool",
                                        [SP_ATTR_DTYPE] = "a dtype",
                                        [SP_ATTR_INTS] = "an int or a tuple of ints",
                                        [SP_ATTR_FLOATS] = "a float or a tuple of floats",
                                        [SP_ATTR_NUMBER] = "a number",
                                        [SP_ATTR_TEXT] = "a str"};
    return words[type];
}

/* The engine writes "not given" as the smallest integer, so that one cannot be given. */
static int set_int(const char *op, const char *shown, PyObject *number, int64_t *field)
{
    int64_t v = PyLong_AsLongLong(number);
    if (v == -1 && PyErr_Occurred()) return -1;
    if (v == SP_INT_NONE) {
        PyErr_Format(PyExc_ValueError, "%s: %s is %lld, which is out of range", op, shown, (long long)v);
        return -1;
    }
    *field = v;
    return 0;
}

static void *block(attr_scratch *s, size_t bytes)
{
    void *b = s->n_blocks < 8 ? PyMem_Malloc(bytes) : NULL;
    if (!b) sp__py_no_memory();
    else s->blocks[s->n_blocks++] = b;
    return b;
}

static int set_ints(const char *op, const char *shown, PyObject *value, sp_ints *field, attr_scratch *s)
{
    Py_ssize_t n = PyTuple_Check(value) ? PyTuple_Size(value) : PyList_Check(value) ? PyList_Size(value) : 1;
    if (sp__py_is_tensor(value)) {
        const sp_tensor *t = ((sp_py_tensor *)value)->t;
        sp_status status = sp__tensor_need_value(t); /* the count of a symbol may be unknown */
        if (status != SP_OK) return sp__py_fail(status), -1;
        n = (Py_ssize_t)t->count;
    } else if (n == 1 && sp__py_is_array(value))
        n = PyObject_Size(value) < 0 ? (PyErr_Clear(), 1) : PyObject_Size(value);
    int64_t *v = s->ints + s->n_ints;
    int room = (int)(sizeof s->ints / sizeof *s->ints) - s->n_ints;
    if (n > room) {
        v = block(s, (size_t)n * sizeof *v);
        if (!v) return -1;
        room = (int)n;
    } else {
        s->n_ints += (int)n;
    }
    char what[96];
    PyOS_snprintf(what, sizeof what, "%s: %s", op, shown);
    int count = sp__py_ints(value, v, room, what);
    if (count < 0) return -1;
    field->n = count;
    field->v = v;
    return 0;
}

static int set_floats(const char *op, const char *shown, PyObject *value, sp_floats *field, attr_scratch *s)
{
    bool list = PyTuple_Check(value) || PyList_Check(value);
    Py_ssize_t n = list ? PySequence_Size(value) : 1;
    double *v = s->floats + s->n_floats;
    if (n > (Py_ssize_t)(sizeof s->floats / sizeof *s->floats) - s->n_floats) {
        v = block(s, (size_t)n * sizeof *v);
        if (!v) return -1;
    } else {
        s->n_floats += (int)n;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = list ? PySequence_GetItem(value, i) : Py_NewRef(value);
        if (!item) return -1;
        v[i] = PyFloat_AsDouble(item);
        Py_DECREF(item);
        if (v[i] == -1.0 && PyErr_Occurred()) return wrong(op, shown, "a float or a tuple of floats", value);
    }
    field->n = (int)n;
    field->v = v;
    return 0;
}

static int set_number(const char *op, const char *shown, PyObject *value, sp_number *field)
{
    PyObject *item = Py_NewRef(value);
    if (!PyLong_Check(value) && !PyFloat_Check(value) && (sp__py_is_tensor(value) || PyObject_CheckBuffer(value))) {
        Py_DECREF(item);
        item = PyObject_CallMethod(value, "item", NULL); /* Tensor or numpy number */
        if (!item) return -1;
    }
    int failed = 0;
    if (PyBool_Check(item)) {
        *field = (sp_number){.kind = 'b', .i = item == Py_True, .f = item == Py_True};
    } else if (PyLong_Check(item)) {
        int overflow;
        long long i = PyLong_AsLongLongAndOverflow(item, &overflow);
        *field = (sp_number){
            .kind = overflow ? 'f' : 'i', .i = overflow ? 0 : i, .f = overflow ? PyFloat_AsDouble(item) : (double)i};
        failed = PyErr_Occurred() != NULL;
        if (overflow > 0 && !failed) {
            field->i = (int64_t)PyLong_AsUnsignedLongLong(item);
            if (PyErr_Occurred()) *field = (sp_number){.kind = 'f', .f = field->f}; /* beyond uint64_t */
            PyErr_Clear();
        }
    } else if (PyFloat_Check(item)) {
        *field = (sp_number){.kind = 'f', .f = PyFloat_AsDouble(item)};
    } else {
        failed = 1;
    }
    Py_DECREF(item);
    return failed ? wrong(op, shown, "a number", value) : 0;
}

int sp__py_set_attr(const char *op, const char *shown, const sp_attr *attr, PyObject *value, void *attrs,
                    attr_scratch *s)
{
    void *field = (char *)attrs + attr->offset;
    const bool none = value == Py_None;
    /* The table, or the face, which has filled attrs in with its own defaults, tells whether None is a value. */
    if (none && !sp__attr_may_miss(attr) && !sp__attr_missing(attr, attrs))
        return wrong(op, shown, wanted_type(attr->type), value);
    switch (attr->type) {
    case SP_ATTR_BOOL:
        if (PyBool_Check(value)) {
            *(bool *)field = value == Py_True;
            return 0;
        }
        if (PyLong_Check(value) && !PyLong_CheckExact(value) &&
            PyObject_HasAttrString(value, "__is_bool__")) { /* mutable(True) */
            *(bool *)field = PyObject_IsTrue(value) == 1;
            return 0;
        }
        if (PyLong_Check(value) || none || PyUnicode_Check(value)) return wrong(op, shown, "a bool", value);
        {
            int truth = strncmp(sp__py_type_name(value), "bool", 4) == 0 || sp__py_is_tensor(value)
                            ? PyObject_IsTrue(value)
                            : -1;
            if (truth < 0) return wrong(op, shown, "a bool", value);
            *(bool *)field = truth;
            return 0;
        }
    case SP_ATTR_INT: {
        if (none) {
            *(int64_t *)field = SP_INT_NONE;
            return 0;
        }
        if (PyBool_Check(value)) return wrong(op, shown, "an int", value);
        if (PyLong_CheckExact(value)) return set_int(op, shown, value, field);
        PyObject *number = PyNumber_Index(value);
        if (!number) return wrong(op, shown, "an int", value);
        int failed = set_int(op, shown, number, field);
        Py_DECREF(number);
        return failed;
    }
    case SP_ATTR_FLOAT: {
        double v = none || PyUnicode_Check(value) ? (PyErr_SetNone(PyExc_TypeError), -1.0) : PyFloat_AsDouble(value);
        if (v == -1.0 && PyErr_Occurred()) return wrong(op, shown, "a float", value);
        *(double *)field = v;
        return 0;
    }
    case SP_ATTR_DTYPE: {
        int dtype = sp__py_dtype(value);
        if (dtype == -2) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "%s: %s must be a dtype, but got %R", op, shown, value);
            return -1;
        }
        *(sp_dtype *)field = (sp_dtype)dtype;
        return 0;
    }
    case SP_ATTR_INTS:
        if (none) {
            *(sp_ints *)field = (sp_ints){.n = -1};
            return 0;
        }
        return set_ints(op, shown, value, field, s);
    case SP_ATTR_FLOATS:
        if (none) {
            *(sp_floats *)field = (sp_floats){.n = -1};
            return 0;
        }
        return set_floats(op, shown, value, field, s);
    case SP_ATTR_NUMBER:
        if (none) {
            *(sp_number *)field = (sp_number){.kind = 'n'};
            return 0;
        }
        return set_number(op, shown, value, field);
    case SP_ATTR_TEXT: {
        if (none) {
            *(const char **)field = NULL;
            return 0;
        }
        if (!PyUnicode_Check(value) || s->n_texts == 8) return wrong(op, shown, "a str", value);
        const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
        if (!text) return -1;
        s->texts[s->n_texts++] = Py_NewRef(value); /* the UTF-8 lives as long as the string */
        *(const char **)field = text;
        return 0;
    }
    }
    PyErr_Format(PyExc_SystemError, "%s: attribute %s has an unknown type", op, attr->name);
    return -1;
}
