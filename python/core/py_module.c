/* SPDX-License-Identifier: Apache-2.0 */
/* py_module.c - the module itself: its parts, errors, Ctrl-C, and the one place where Python applies an operator. */
#include "core.h"

#include "base/profile.h"

/* Written in a file of its own; the module loads without it. */
int sp__py_add_checkpoint(PyObject *module) __attribute__((weak));

/* --- errors ------------------------------------------------------------------------------------------------------ */

static PyObject *exception_named(const char *name)
{
#define X(type)                                                                                                        \
    if (strcmp(name, #type) == 0) return PyExc_##type
    X(ValueError);
    X(TypeError);
    X(IndexError);
    X(KeyError);
    X(MemoryError);
    X(OSError);
    X(NotImplementedError);
    X(KeyboardInterrupt);
#undef X
    return PyExc_RuntimeError;
}

PyObject *sp__py_message(void)
{
    const char *text = sp_error_message();
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text),
                                "backslashreplace"); /* names of files are any bytes, and messages are printed */
}

PyObject *sp__py_fail(sp_status status)
{
    if (status == SP_SYMBOL && !PyErr_Occurred()) {
        PyErr_SetString(sp__py_symbol_error, sp_error_message());
        return NULL;
    }
    /* A signal handler or a hook that ran inside the call has raised already: that exception tells more. */
    if (!PyErr_Occurred()) {
        PyObject *text = sp__py_message();
        if (text) PyErr_SetObject(exception_named(sp_status_exception(status)), text);
        Py_XDECREF(text);
    }
    return NULL;
}

PyObject *sp__py_no_memory(void)
{
    PyErr_SetString(PyExc_MemoryError, "out of memory");
    return NULL;
}

/* The package that a type is from, when a reader could take the name alone for one of ours or of Python's own. */
static bool package_of(PyTypeObject *type, char *out, size_t bytes)
{
    static const char *const plain[] = {"builtins", "__main__", "spore", "mindspore", "numpy"};
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    const char *utf8 = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
    if (!utf8) PyErr_Clear();
    PyOS_snprintf(out, bytes, "%.*s", utf8 ? (int)strcspn(utf8, ".") : 0, utf8 ? utf8 : "");
    Py_XDECREF(module);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(out, plain[i]) == 0) return false;
    return out[0] != 0;
}

/* Whether lists and tuples lie in each other deeper than that: repr() goes down with them. */
static bool deeper_than(PyObject *o, int levels)
{
    const bool list = PyList_Check(o);
    if (!list && !PyTuple_Check(o)) return false;
    if (levels == 0) return true;
    const Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);
    for (Py_ssize_t i = 0; i < n; i++)
        if (deeper_than(list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i), levels - 1)) return true;
    return false;
}

PyObject *sp__py_shown(PyObject *o)
{
    enum { LEVELS_SHOWN = 32 };
    if (!deeper_than(o, LEVELS_SHOWN)) return PyObject_Repr(o);
    return PyUnicode_FromFormat("a %s of lists inside lists, more than %d deep,", sp__py_type_name(o), LEVELS_SHOWN);
}

const char *sp__py_type_name(PyObject *o)
{
    static _Thread_local char text[120];
    char package[64];
    PyObject *name = PyType_GetName(Py_TYPE(o));
    const char *utf8 = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    if (!utf8) PyErr_Clear();
    bool foreign = package_of(Py_TYPE(o), package, sizeof package);
    PyOS_snprintf(text, sizeof text, "%s%s%s", foreign ? package : "", foreign ? "." : "", utf8 ? utf8 : "object");
    Py_XDECREF(name);
    return text;
}

static void drop(void *object)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF((PyObject *)object);
    PyGILState_Release(state);
}

/* Where the engine holds locks, the interpreter's is not waited for: who has it may be waiting to fork. */
void sp__py_drop(void *object) { sp__section_after(drop, object); }

/* --- Ctrl-C ------------------------------------------------------------------------------------------------------ */

/* Asked every few milliseconds by the thread that runs a long operator. Python delivers signals on its main thread
 * only;
 * elsewhere PyErr_CheckSignals does nothing. */
static bool poll_signals(void)
{
    PyGILState_STATE state = PyGILState_Ensure();
    bool stop = PyErr_CheckSignals() != 0;
    PyGILState_Release(state);
    return stop;
}

/* --- applying operators ------------------------------------------------------------------------------------------- */

enum { LARGE = 32768 }; /* elements from which an operator is worth giving other threads a turn */

static bool is_large(int n, sp_tensor *const *in)
{
    for (int i = 0; i < n; i++)
        if (in[i] && in[i]->count > LARGE) return true;
    return false;
}

static sp_status apply(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in, int max_out, sp_tensor **out,
                       int *n_out)
{
    if (sp__profile_on()) sp__py_profile_here();
    if (n_in && !is_large(n_in, in)) return sp_apply(op, attrs, n_in, in, max_out, out, n_out);
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_apply(op, attrs, n_in, in, max_out, out, n_out);
    Py_END_ALLOW_THREADS return status;
}

sp_tensor *sp__py_apply(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in)
{
    sp_tensor *out = NULL;
    int n_out;
    sp_status status = apply(op, attrs, n_in, in, 1, &out, &n_out);
    if (status == SP_OK) return out;
    sp__py_fail(status);
    return NULL;
}

enum { MANY_OUT = 256 };

PyObject *sp__py_apply_object(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in)
{
    if (op->n_out == 0 || op->n_out == 1) return sp__py_take_tensor(sp__py_apply(op, attrs, n_in, in));
    sp_tensor *few[SP_OUT_MAX], **out = few;
    int max_out = SP_OUT_MAX, n_out = 0;
    if (op->n_out < 0) { /* split, unstack: as many as a dimension has */
        for (int i = 0; i < n_in; i++)
            for (int k = 0; in[i] && k < in[i]->rank; k++)
                if (in[i]->dims[k] > max_out) max_out = in[i]->dims[k] > INT32_MAX ? INT32_MAX : (int)in[i]->dims[k];
        if (n_in > max_out) max_out = n_in;
        out = PyMem_Malloc((size_t)max_out * sizeof *out);
        if (!out) return sp__py_no_memory();
    }
    PyObject *result = NULL;
    sp_status status = apply(op, attrs, n_in, in, max_out, out, &n_out);
    if (status != SP_OK) {
        sp__py_fail(status);
        goto done;
    }
    result = PyTuple_New(n_out);
    for (int i = 0; i < n_out; i++) {
        PyObject *o = result ? sp__py_take_tensor(out[i]) : NULL;
        if (!o) {
            for (int k = i + (result ? 1 : 0); k < n_out; k++) sp_tensor_release(out[k]);
            Py_CLEAR(result);
            break;
        }
        PyTuple_SetItem(result, i, o);
    }
done:
    if (out != few) PyMem_Free(out);
    return result;
}

const sp_op *sp__py_op(const char *name)
{
    const sp_op *op = sp_op_find(name);
    if (!op) PyErr_Format(PyExc_NotImplementedError, "operator '%s' is not in the table of this build", name);
    return op;
}

/* --- the module -------------------------------------------------------------------------------------------------- */

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "spore._core",
    .m_doc = "The engine: tensors, operators, gradients, memory.",
    .m_size = -1, /* one interpreter: the types are process-wide */
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *m = PyModule_Create(&definition);
    if (!m) return NULL;
    if (PyModule_AddStringConstant(m, "__version__", sp_version()) < 0 || sp__py_add_dtype(m) < 0 ||
        sp__py_add_tensor(m) < 0 || sp__py_add_table(m) < 0 || sp__py_add_faces(m) < 0 || sp__py_add_runtime(m) < 0 ||
        sp__py_add_device(m) < 0 || sp__py_add_parallel(m) < 0 || sp__py_add_profile(m) < 0 ||
        sp__py_add_dlpack(m) < 0 || sp__py_add_grad(m) < 0 || sp__py_add_precision(m) < 0 ||
        sp__py_add_fetched(m) < 0 || sp__py_add_optim(m) < 0 || sp__py_add_graph(m) < 0 || sp__py_add_random(m) < 0 ||
        sp__py_add_record(m) < 0 || sp__py_add_tfrecord(m) < 0 || sp__py_add_transform(m) < 0 ||
        sp__py_add_model(m) < 0 || sp__py_add_quantize(m) < 0 || sp__py_add_pipeline(m) < 0 ||
        sp__py_add_command(m) < 0 || (sp__py_add_checkpoint && sp__py_add_checkpoint(m) < 0)) {
        Py_DECREF(m);
        return NULL;
    }
    sp_interrupt_set_poll(poll_signals);
    return m;
}
