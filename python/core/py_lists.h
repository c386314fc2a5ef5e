/* SPDX-License-Identifier: Apache-2.0 */
/* py_lists.h - sequences of Tensors, read and made. */
#ifndef SPORE_PY_LISTS_H
#define SPORE_PY_LISTS_H

#include "core.h"

typedef struct sp_py_list {
    PyObject *fast; /* keeps the items alive */
    sp_tensor **v;
    Py_ssize_t n;
} sp_py_list;

/* Borrowed tensors of a sequence; None becomes NULL where that is allowed. -1 with an exception that calls it `what`. */
int sp__py_list_read(PyObject *o, const char *what, bool none, sp_py_list *out);
void sp__py_list_free(sp_py_list *l);
/* A tuple of Tensors from owned references; NULL entries become None. */
PyObject *sp__py_tuple_take(Py_ssize_t n, sp_tensor **v);

#endif
