/* SPDX-License-Identifier: Apache-2.0 */
/* py_runtime.c - memory, threads and errors of the process, for spore.runtime. */
#include "core.h"

#include "base/fail.h"

/* Tests: see base/fail.h. */
static PyObject *memory_fail_from(PyObject *module, PyObject *arg)
{
    (void)module;
    const long long n = PyLong_AsLongLong(arg);
    if (n == -1 && PyErr_Occurred()) return NULL;
    const unsigned long long failed = sp__alloc_failed();
    sp__alloc_fail_from(n);
    return PyLong_FromUnsignedLongLong(failed);
}

static PyObject *memory_stats(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    sp_memory_stats s;
    sp_memory_get(&s);
    return Py_BuildValue("{s:n,s:n,s:n,s:n,s:K,s:K}", "used_bytes", (Py_ssize_t)s.used_bytes, "used_peak",
                         (Py_ssize_t)s.used_peak, "reserved_bytes", (Py_ssize_t)s.reserved_bytes, "reserved_peak",
                         (Py_ssize_t)s.reserved_peak, "n_allocs", (unsigned long long)s.n_allocs, "n_system",
                         (unsigned long long)s.n_system);
}

static PyObject *memory_reset_peak(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    sp_memory_reset_peak();
    Py_RETURN_NONE;
}

static PyObject *memory_trim(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    sp_memory_trim();
    Py_RETURN_NONE;
}

static PyObject *memory_set_limit(PyObject *module, PyObject *bytes)
{
    (void)module;
    size_t n = PyLong_Check(bytes) ? PyLong_AsSize_t(bytes)
                                   : (PyErr_SetString(PyExc_TypeError, "a number of bytes is wanted"), 0);
    if (PyErr_Occurred()) return NULL;
    sp_memory_set_limit(n);
    Py_RETURN_NONE;
}

static PyObject *threads(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLong(sp_threads());
}

static PyObject *threads_set(PyObject *module, PyObject *number)
{
    (void)module;
    long n = PyLong_AsLong(number);
    if (n == -1 && PyErr_Occurred()) return NULL;
    SP_PY_TRY(sp_threads_set(n > 4096 ? 4096 : (int)n));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"memory_stats", memory_stats, METH_NOARGS,
     "memory_stats()\n--\n\nMemory of the engine in bytes, now and at its peak."},
    {"memory_reset_peak", memory_reset_peak, METH_NOARGS, "memory_reset_peak()\n--\n\nPeaks start again from now."},
    {"memory_trim", memory_trim, METH_NOARGS, "memory_trim()\n--\n\nGive cached blocks back to the system."},
    {"memory_set_limit", memory_set_limit, METH_O, "memory_set_limit(bytes)\n--\n\nMost bytes to use; 0 for no limit."},
    {"memory_fail_from", memory_fail_from, METH_O,
     "memory_fail_from(n)\n--\n\nFor tests: the n-th allocation of the engine from now fails, and all behind it; 0: none does. Returns how many failed."},
    {"threads", threads, METH_NOARGS, "threads()\n--\n\nThreads one operator may use."},
    {"threads_set", threads_set, METH_O, "threads_set(n)\n--\n\nSet the number of threads."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_runtime(PyObject *module) { return PyModule_AddFunctions(module, functions); }
