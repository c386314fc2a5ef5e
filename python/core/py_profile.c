/* SPDX-License-Identifier: Apache-2.0 */
/* py_profile.c - recordings of what runs when, for spore.profiler; the lines of the user's program that operators belong to. */
#include "core.h"

#include "base/profile.h"

static PyObject *package; /* the folder of the package: frames of its files are not the user's */

/* The file of a frame if it is the user's, a new reference; NULL: it is not, or that failed (no exception is left). */
static PyObject *users_file(PyFrameObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *file = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
    Py_XDECREF(code);
    if (file && PyUnicode_Check(file)) {
        const int own = package ? PyUnicode_Tailmatch(file, package, 0, PY_SSIZE_T_MAX, -1) != 0 : 0;
        if (!own && PyUnicode_GetLength(file) > 0 && PyUnicode_ReadChar(file, 0) != '<') return file;
    }
    Py_XDECREF(file);
    return NULL;
}

void sp__py_profile_here(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame && frame != Py_None) {
        PyObject *file = users_file((PyFrameObject *)frame);
        if (file) {
            PyObject *bytes = PyUnicode_AsEncodedString(file, "utf-8", "replace");
            if (bytes) sp_profile_here(PyBytes_AsString(bytes), PyFrame_GetLineNumber((PyFrameObject *)frame));
            Py_XDECREF(bytes);
            Py_DECREF(file);
            break;
        }
        PyObject *back = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Restore(type, value, trace);
}

static PyObject *profile_start(PyObject *module, PyObject *args)
{
    (void)module;
    long long max;
    PyObject *folder;
    if (!PyArg_ParseTuple(args, "LU", &max, &folder)) return NULL;
    const sp_status status = sp_profile_start(max);
    if (status != SP_OK) return sp__py_fail(status);
    Py_INCREF(folder);
    Py_XDECREF(package);
    package = folder;
    Py_RETURN_NONE;
}

static PyObject *profile_stop(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    sp_profile_stop();
    Py_RETURN_NONE;
}

static PyObject *profile_resume(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    sp_profile_resume();
    Py_RETURN_NONE;
}

static PyObject *profile_add(PyObject *module, PyObject *args)
{
    (void)module;
    const char *kind, *name;
    long long begin, end;
    if (!PyArg_ParseTuple(args, "ssLL", &kind, &name, &begin, &end)) return NULL;
    sp_profile_add(kind, name, begin, end);
    Py_RETURN_NONE;
}

static PyObject *profile_count(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int64_t dropped;
    const int64_t n = sp_profile_count(&dropped);
    return Py_BuildValue("LL", (long long)n, (long long)dropped);
}

static PyObject *profile_write(PyObject *module, PyObject *arg)
{
    (void)module;
    PyObject *path = NULL;
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_profile_write(PyBytes_AsString(path));
    Py_END_ALLOW_THREADS Py_DECREF(path);
    if (status != SP_OK) return sp__py_fail(status);
    Py_RETURN_NONE;
}

enum { ROWS_MAX = 4096 };

static PyObject *profile_rows(PyObject *module, PyObject *by_line)
{
    (void)module;
    const int flags = PyObject_IsTrue(by_line) > 0 ? SP_PROFILE_BY_LINE : 0;
    sp_profile_row *rows = PyMem_Malloc(ROWS_MAX * sizeof *rows);
    if (!rows) return PyErr_NoMemory();
    int n = 0;
    const sp_status status = sp_profile_rows(flags, ROWS_MAX, rows, &n);
    PyObject *list = status == SP_OK ? PyList_New(n) : sp__py_fail(status);
    for (int i = 0; list && i < n; i++) {
        PyObject *row = Py_BuildValue("sszLLLL", rows[i].kind, rows[i].name, rows[i].file, (long long)rows[i].line,
                                      (long long)rows[i].n, (long long)rows[i].total_ns, (long long)rows[i].self_ns);
        if (!row || PyList_SetItem(list, i, row) != 0) Py_CLEAR(list);
    }
    PyMem_Free(rows);
    return list;
}

static PyMethodDef functions[] = {
    {"profile_start", profile_start, METH_VARARGS,
     "profile_start(max_events, package)\n--\n\nRecord what runs when; package: the folder whose files are not the user's."},
    {"profile_stop", profile_stop, METH_NOARGS, "profile_stop()\n--\n\nRecord no more."},
    {"profile_resume", profile_resume, METH_NOARGS, "profile_resume()\n--\n\nGo on after a stop."},
    {"profile_add", profile_add, METH_VARARGS,
     "profile_add(kind, name, begin_ns, end_ns)\n--\n\nAn event of one's own."},
    {"profile_count", profile_count, METH_NOARGS,
     "profile_count()\n--\n\nEvents there are, and events for which there was no room."},
    {"profile_write", profile_write, METH_O, "profile_write(path)\n--\n\nThe recording as a trace in JSON."},
    {"profile_rows", profile_rows, METH_O,
     "profile_rows(by_line)\n--\n\n(kind, name, file, line, count, total_ns, self_ns), those that took longest first."},
    {NULL, NULL, 0, NULL},
};

int sp__py_add_profile(PyObject *module) { return PyModule_AddFunctions(module, functions); }
