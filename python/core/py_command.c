/* SPDX-License-Identifier: Apache-2.0 */
/* py_command.c - the command `spore` inside the module: _core.command, in wheels only. A wheel so holds the engine once; its script `spore`
 * (python/command.py) loads this module, without the package, and calls the function. The rest of the process belongs to the command. */
#include "core.h"

#include <signal.h>

#include "spore/runtime.h"

/* Linked in where a wheel is built (SPORE_WHEEL). */
int tool_main(int argc, char **argv, const char *python) __attribute__((weak));

/* Signals as a program of its own has them: Python ignores two, and its handler of Ctrl-C waits for bytecode that is not run any more. What
 * the caller of the process ignores stays ignored. */
static void plain_signals(void)
{
    struct sigaction now;
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN) signal(SIGINT, SIG_DFL);
}

static int run(Py_ssize_t n, char **argv, const char *python)
{
    int code;
    sp_interrupt_set_poll(NULL);
    plain_signals();
    Py_BEGIN_ALLOW_THREADS code = tool_main((int)n, argv, python);
    Py_END_ALLOW_THREADS return code;
}

static PyObject *command(PyObject *module, PyObject *args)
{
    PyObject *python, *list, *words = NULL, *result = NULL;
    char **argv = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O&O!:command", PyUnicode_FSConverter, &python, &PyList_Type, &list)) return NULL;
    const Py_ssize_t n = PyList_Size(list);
    words = PyTuple_New(n);
    argv = PyMem_Calloc((size_t)n + 1, sizeof *argv);
    if (!words || !argv) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *bytes = NULL; /* kept by the tuple while the command runs */
        if (!PyUnicode_FSConverter(PyList_GetItem(list, i), &bytes)) goto done;
        PyTuple_SetItem(words, i, bytes);
        argv[i] = PyBytes_AsString(bytes);
    }
    result = PyLong_FromLong(run(n, argv, PyBytes_AsString(python)));
done:
    PyMem_Free(argv);
    Py_XDECREF(words);
    Py_DECREF(python);
    return result;
}

static PyMethodDef methods[] = {
    {"command", command, METH_VARARGS,
     "command(python, argv): the command `spore` with these words; its exit code. The process should end after it."},
    {NULL, NULL, 0, NULL},
};

int sp__py_add_command(PyObject *module) { return tool_main ? PyModule_AddFunctions(module, methods) : 0; }
