/* SPDX-License-Identifier: Apache-2.0 */
/* py_number.h - the arithmetic slots of Tensor, for its type. */
#ifndef SPORE_PY_NUMBER_H
#define SPORE_PY_NUMBER_H

#include "core.h"

/* clang-format off */
#define SP_PY_NUMBER_SLOTS(X)                                                                                          \
    X(nb_add, sp__py_add) X(nb_subtract, sp__py_sub) X(nb_multiply, sp__py_mul) X(nb_true_divide, sp__py_div)          \
    X(nb_floor_divide, sp__py_floor_div) X(nb_remainder, sp__py_mod) X(nb_matrix_multiply, sp__py_matmul)              \
    X(nb_and, sp__py_and) X(nb_or, sp__py_or) X(nb_xor, sp__py_xor) X(nb_power, sp__py_pow) X(nb_negative, sp__py_neg) \
    X(nb_positive, sp__py_pos) X(nb_absolute, sp__py_abs) X(nb_invert, sp__py_invert) X(nb_bool, sp__py_bool)          \
    X(nb_int, sp__py_int) X(nb_float, sp__py_float) X(nb_index, sp__py_index)                                          \
    X(nb_inplace_add, sp__py_add) X(nb_inplace_subtract, sp__py_sub) X(nb_inplace_multiply, sp__py_mul)                \
    X(nb_inplace_true_divide, sp__py_div) X(nb_inplace_floor_divide, sp__py_floor_div)                                 \
    X(nb_inplace_remainder, sp__py_mod) /* x += y is x = x + y, as in MindSpore: other names of x do not change */
/* clang-format on */

PyObject *sp__py_add(PyObject *a, PyObject *b);
PyObject *sp__py_sub(PyObject *a, PyObject *b);
PyObject *sp__py_mul(PyObject *a, PyObject *b);
PyObject *sp__py_div(PyObject *a, PyObject *b);
PyObject *sp__py_floor_div(PyObject *a, PyObject *b);
PyObject *sp__py_mod(PyObject *a, PyObject *b);
PyObject *sp__py_matmul(PyObject *a, PyObject *b);
PyObject *sp__py_and(PyObject *a, PyObject *b);
PyObject *sp__py_or(PyObject *a, PyObject *b);
PyObject *sp__py_xor(PyObject *a, PyObject *b);
PyObject *sp__py_pow(PyObject *a, PyObject *b, PyObject *modulo);
PyObject *sp__py_neg(PyObject *a);
PyObject *sp__py_pos(PyObject *a);
PyObject *sp__py_abs(PyObject *a);
PyObject *sp__py_invert(PyObject *a);
PyObject *sp__py_int(PyObject *a);
PyObject *sp__py_float(PyObject *a);
PyObject *sp__py_index(PyObject *a);
int sp__py_bool(PyObject *a);
PyObject *sp__py_richcompare(PyObject *a, PyObject *b, int op);

#endif
