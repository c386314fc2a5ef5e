/* SPDX-License-Identifier: Apache-2.0 */
/* py_rows.h - rows of data sets as Python values, and functions of Python that make them. */
#ifndef SPORE_PYTHON_PY_ROWS_H
#define SPORE_PYTHON_PY_ROWS_H

#include "core.h"
#include "spore/pipeline.h"

/* How a function is called. */
typedef enum {
    SP_PY_CALL_ROW,   /* values of a row */
    SP_PY_CALL_BATCH, /* a list for each column, then epoch and number of the batch */
    SP_PY_CALL_READ,  /* the number of the row wanted */
    SP_PY_CALL_NEXT   /* epoch and row; None is the end */
} sp_py_call;

/* A function of Python as one of rows, `name` for messages (a literal). processes > 0: called in so many processes. -1 with an
 * exception. */
int sp__py_row_function(const char *name, PyObject *callable, sp_py_call how, int processes, sp_row_function *out);

/* A cell of a value; NULL with an exception. */
sp_tensor *sp__py_cell(PyObject *o);
/* The reverse, as an array that the caller may write into; takes the reference over. */
PyObject *sp__py_cell_array(sp_tensor *t);
/* The same for a reader of the data set, as an array or a Tensor: texts are always arrays, as MindSpore 2.10 has them; the numbers
 * inside a dict are converted. */
PyObject *sp__py_cell_shown(sp_tensor *t, bool arrays);

/* Arguments for a call, the cells stay the caller's; NULL with an exception. */
PyObject *sp__py_row_arguments(sp_py_call how, const sp_row_call *call, int n_in, sp_tensor *const *in);
/* The function's answer into n cells; -1 with an exception. call->end is set if it says so. */
int sp__py_row_answer(sp_py_call how, PyObject *result, sp_row_call *call, int n, sp_tensor **out);
/* Turn the present exception into a failure with a fault. */
sp_status sp__py_row_failed(sp_row_call *call);
/* Whether an exception says something about a row: all but Ctrl-C and its like do, exit() too. */
bool sp__py_is_fault_of_row(PyObject *exception);
/* The same as sp__py_row_failed for an exception that is given; its reference goes over. */
sp_status sp__py_row_failed_with(sp_row_call *call, PyObject *exception);

/* --- worker processes (py_workers.c) ---------------------------------------------------------------------------------- */

/* sp_row_function's open, stop and close for functions that run in processes; the context is a python_function. */
typedef struct sp_py_function {
    PyObject *callable;
    sp_py_call how;
    int processes;
    const char *name;
} sp_py_function;
sp_status sp__py_workers_open(void *context, void **opened);
void sp__py_workers_stop(void *opened);
void sp__py_workers_close(void *opened);
/* Have a process call the function; waits without the interpreter lock. */
sp_status sp__py_workers_call(sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out);

int sp__py_add_rows(PyObject *module);
int sp__py_add_workers(PyObject *module);
int sp__py_add_cache(PyObject *module);
struct sp_cache *sp__py_cache(PyObject *o); /* borrowed; NULL with an exception if it is none */
/* Say something to who reads the log, on any thread. */
void sp__py_report(const char *text);

#endif
