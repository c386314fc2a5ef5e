/* SPDX-License-Identifier: Apache-2.0 */
/* py_number.c - arithmetic and comparison of Tensors. This is the path of x + y: it makes no Python object but the
 * result. Operators are looked up in the table once, at their first use. */
#include "py_number.h"

/* Of another package, with elements of its own: torch, pandas, jax. */
static bool is_foreign_array(PyObject *o)
{
    PyObject *type = (PyObject *)Py_TYPE(o);
    return !PyUnicode_Check(o) && !PyBytes_Check(o) &&
           (PyObject_HasAttrString(type, "__dlpack__") || PyObject_HasAttrString(type, "__array__"));
}

/* The operand as a tensor: +1 owned in *own if it had to be made. NULL without exception: not ours. */
static sp_tensor *operand(PyObject *o, sp_tensor **own)
{
    *own = NULL;
    if (Py_TYPE(o) == sp__py_tensor_type || sp__py_is_tensor(o)) return sp__py_tensor(o);
    sp_tensor *t = sp__py_weak_number(o);
    if (!t && !PyErr_Occurred() && (PyList_Check(o) || PyTuple_Check(o) || sp__py_is_array(o)))
        t = sp__py_make_tensor(o, SP_DTYPE_NONE);
    if (!t && !PyErr_Occurred() && is_foreign_array(o)) t = sp__py_foreign(o);
    return *own = t;
}

static PyObject *binary(const sp_op **op, const char *name, PyObject *a, PyObject *b)
{
    if (!*op && !(*op = sp__py_op(name))) return NULL;
    sp_tensor *own_a, *own_b = NULL;
    sp_tensor *in[2], *out = NULL;
    in[0] = operand(a, &own_a);
    in[1] = in[0] ? operand(b, &own_b) : NULL;
    if (in[0] && in[1]) out = sp__py_apply(*op, NULL, 2, in);
    sp_tensor_release(own_a);
    sp_tensor_release(own_b);
    if (!out && !PyErr_Occurred()) Py_RETURN_NOTIMPLEMENTED;
    return sp__py_take_tensor(out);
}

static PyObject *unary(const sp_op **op, const char *name, PyObject *a)
{
    if (!*op && !(*op = sp__py_op(name))) return NULL;
    sp_tensor *in = sp__py_tensor(a);
    return in ? sp__py_take_tensor(sp__py_apply(*op, NULL, 1, &in)) : NULL;
}

#define BINARY(function, name)                                                                                         \
    PyObject *sp__py_##function(PyObject *a, PyObject *b)                                                              \
    {                                                                                                                  \
        static const sp_op *op;                                                                                        \
        return binary(&op, name, a, b);                                                                                \
    }
#define UNARY(function, name)                                                                                          \
    PyObject *sp__py_##function(PyObject *a)                                                                           \
    {                                                                                                                  \
        static const sp_op *op;                                                                                        \
        return unary(&op, name, a);                                                                                    \
    }
BINARY(add, "add")
BINARY(sub, "sub")
BINARY(div, "div")
BINARY(floor_div, "floor_div")
BINARY(mod, "floor_mod")
BINARY(matmul, "matmul")
BINARY(and, "bitwise_and")
BINARY(or, "bitwise_or")
BINARY(xor, "bitwise_xor")

/* Python would go on to repeat a str as often as the Tensor, taken for an index, says: that is never meant. */
PyObject *sp__py_mul(PyObject *a, PyObject *b)
{
    static const sp_op *op;
    PyObject *out = binary(&op, "mul", a, b);
    if (out != Py_NotImplemented || !(PyUnicode_Check(a) || PyUnicode_Check(b))) return out;
    Py_DECREF(out);
    return PyErr_Format(PyExc_TypeError, "a Tensor cannot be multiplied by a str: %R", PyUnicode_Check(a) ? a : b);
}

UNARY(neg, "neg")
PyObject *sp__py_abs(PyObject *a)
{
    static const sp_op *real, *of_complex;
    const sp_tensor *t = sp__py_tensor(a);
    if (!t) return NULL;
    return sp_dtype_kind((sp_dtype)t->dtype) == 'c' ? unary(&of_complex, "complex_abs", a) : unary(&real, "abs", a);
}
UNARY(invert, "logical_not")

PyObject *sp__py_pow(PyObject *a, PyObject *b, PyObject *modulo)
{
    static const sp_op *op;
    if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return binary(&op, "pow", a, b);
}

PyObject *sp__py_pos(PyObject *a) { return Py_NewRef(a); }

PyObject *sp__py_richcompare(PyObject *a, PyObject *b, int how)
{
    static const char *const names[6] = {[Py_LT] = "less",      [Py_LE] = "less_equal", [Py_EQ] = "equal",
                                         [Py_NE] = "not_equal", [Py_GT] = "greater",    [Py_GE] = "greater_equal"};
    static const sp_op *ops[6];
    if (how == Py_EQ || how == Py_NE) {
        /* Equality with something that is no number is an ordinary answer, so that `x in list` and `x == None` work. */
        bool numeric =
            sp__py_is_tensor(b) || PyLong_Check(b) || PyFloat_Check(b) || PyComplex_Check(b) || sp__py_is_array(b);
        if (!numeric) {
            sp_tensor *t = sp__py_weak_number(b);
            numeric = t != NULL;
            sp_tensor_release(t);
            if (PyErr_Occurred()) PyErr_Clear();
        }
        if (!numeric && is_foreign_array(b)) { /* one without numbers is another thing, not an error */
            sp_tensor *t = sp__py_foreign(b);
            numeric = t != NULL;
            sp_tensor_release(t);
            if (PyErr_Occurred()) PyErr_Clear();
        }
        if (!numeric) return PyBool_FromLong(how == Py_NE);
    }
    return binary(&ops[how], names[how], a, b);
}

/* --- one element as a number ------------------------------------------------------------------------------------- */

static sp_tensor *single(PyObject *a, PyObject *exception)
{
    sp_tensor *t = sp__py_tensor(a);
    if (!t) return NULL;
    if (t->count == 1 || t->count == -1) return sp__py_has_value(t) ? sp__py_here(a, t) : NULL;
    PyErr_Format(exception, "only a Tensor with one element can become a Python number, but this one has %lld",
                 (long long)t->count);
    return NULL;
}

PyObject *sp__py_int(PyObject *a)
{
    sp_tensor *t = single(a, PyExc_ValueError);
    PyObject *item = t ? sp__py_item(t, t->data) : NULL;
    PyObject *number = item ? PyNumber_Long(item) : NULL;
    Py_XDECREF(item);
    return number;
}

PyObject *sp__py_float(PyObject *a)
{
    sp_tensor *t = single(a, PyExc_ValueError);
    PyObject *item = t ? sp__py_item(t, t->data) : NULL;
    PyObject *number = item ? PyNumber_Float(item) : NULL;
    Py_XDECREF(item);
    return sp__py_fetched_number(a, number);
}

PyObject *sp__py_index(PyObject *a)
{
    sp_tensor *t = sp__py_tensor(a);
    if (!t) return NULL;
    char kind = sp_dtype_kind((sp_dtype)t->dtype);
    if (t->count != 1 || (kind != 'i' && kind != 'u' && kind != 'b'))
        return PyErr_Format(PyExc_ValueError,
                            "only an integer Tensor with one element can be an index, "
                            "but this one has %lld of dtype %s",
                            (long long)t->count, sp_dtype_name((sp_dtype)t->dtype));
    if (!sp__py_has_value(t) || !(t = sp__py_here(a, t))) return NULL;
    PyObject *item = sp__py_item(t, t->data);
    if (!item || PyLong_CheckExact(item)) return item;
    PyObject *number = PyLong_FromLong(item == Py_True);
    Py_DECREF(item);
    return number;
}

int sp__py_bool(PyObject *a)
{
    sp_tensor *t = sp__py_tensor(a);
    if (t && t->count > 1) {
        PyErr_Format(
            PyExc_ValueError,
            "the truth of a Tensor with %lld elements is ambiguous: .any() and .all() give one for all, ops.where chooses element by "
            "element (only a Tensor with one element can become a Python number)",
            (long long)t->count);
        return -1;
    }
    t = t ? single(a, PyExc_ValueError) : NULL;
    PyObject *item = t ? sp__py_item(t, t->data) : NULL;
    int truth = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    return truth;
}
