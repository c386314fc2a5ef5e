/* SPDX-License-Identifier: Apache-2.0 */
/* py_grad.c - recording, backward passes, hooks and custom gradients for Python.
 *
 * These are the plain verbs of grad.h; grad, value_and_grad and their relatives are written with them in
 * python/spore/common/differentiate.py. */
#include "py_lists.h"

#include "base/profile.h"
#include "eager/eager.h"

/* --- recording --------------------------------------------------------------------------------------------------- */

static PyObject *grad_begin(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (!sp_grad_recording()) sp__py_fetched_clear();
    sp_grad_begin();
    Py_RETURN_NONE;
}

static PyObject *grad_end(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    sp_grad_end();
    if (!sp_grad_recording()) sp__py_fetched_clear();
    Py_RETURN_NONE;
}

static PyObject *grad_recording(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(sp_grad_recording());
}

static PyObject *grad_pause(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(sp_grad_pause());
}

static PyObject *grad_resume(PyObject *self, PyObject *depth)
{
    (void)self;
    long d = PyLong_AsLong(depth);
    if (d == -1 && PyErr_Occurred()) return NULL;
    sp_grad_resume((int)d);
    Py_RETURN_NONE;
}

static PyObject *grad_watch(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    if (!t) return NULL;
    SP_PY_TRY(sp_grad_watch(t));
    Py_RETURN_NONE;
}

static PyObject *grad_unwatch(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    if (!t) return NULL;
    sp_grad_unwatch(t);
    Py_RETURN_NONE;
}

static PyObject *grad_tracked(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    return t ? PyBool_FromLong(sp_grad_tracked(t)) : NULL;
}

/* What a tensor holds at this point, to be compared with what it held before: its memory and how often that was written, or in a
 * program the function being recorded and the value. */
static PyObject *grad_contents(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o), *read = NULL;
    if (!t) return NULL;
    if (sp__recorder && !t->symbol) SP_PY_TRY(sp__record_read(t, &read));
    const void *place = t->storage;
    uintptr_t state = t->storage ? atomic_load_explicit(&t->storage->version, memory_order_relaxed) : 0;
    if (t->symbol || read) place = sp__recorder, state = (uintptr_t)(read ? read->symbol : t->symbol);
    sp_tensor_release(read);
    return Py_BuildValue("(KK)", (unsigned long long)(uintptr_t)place, (unsigned long long)state);
}

static PyObject *grad_possible(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    if (!t) return NULL;
    char kind = sp_dtype_kind(sp_tensor_dtype(t));
    return PyBool_FromLong(kind == 'f' || kind == 'c' || kind == 'i' || kind == 'u');
}

static PyObject *grad_detach(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o), *out;
    if (!t) return NULL;
    SP_PY_TRY(sp__py_alias(t, &out));
    return sp__py_take_tensor(out);
}

/* A new handle on the same value to differentiate with respect to: part of the outer history when there is one, a
 * variable of its own when not. */
static PyObject *grad_variable(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o), *out;
    if (!t) return NULL;
    SP_PY_TRY(sp_grad_variable(t, &out));
    return sp__py_take_tensor(out);
}

/* --- backward ---------------------------------------------------------------------------------------------------- */

static PyObject *grad_backward(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    if (n_args != 4 && n_args != 5) {
        PyErr_SetString(
            PyExc_TypeError,
            "grad_backward takes outputs, seeds, targets, create_graph and whether to give reached ones only");
        return NULL;
    }
    if (sp__profile_on()) sp__py_profile_here();
    sp_py_list outputs = {0}, seeds = {0}, targets = {0};
    PyObject *result = NULL;
    sp_tensor **grads = NULL;
    int create = PyObject_IsTrue(args[3]), reached = n_args == 5 ? PyObject_IsTrue(args[4]) : 0;
    if (create < 0 || reached < 0 || sp__py_list_read(args[0], "outputs", false, &outputs) < 0 ||
        (args[1] != Py_None && sp__py_list_read(args[1], "seeds", true, &seeds) < 0) ||
        sp__py_list_read(args[2], "targets", false, &targets) < 0)
        goto done;
    if (seeds.fast && seeds.n != outputs.n) {
        PyErr_Format(PyExc_ValueError, "there are %zd seeds for %zd outputs", seeds.n, outputs.n);
        goto done;
    }
    grads = PyMem_Calloc((size_t)targets.n + 1, sizeof *grads);
    if (!grads) {
        sp__py_no_memory();
        goto done;
    }
    /* The lock is kept: hooks and custom gradients call back, and the operators let go of it themselves when long. */
    sp_status (*pass)(int, sp_tensor *const *, sp_tensor *const *, int, sp_tensor *const *, bool, sp_tensor **) =
        reached ? sp_grad_backward_reached : sp_grad_backward_allow_unused;
    sp_status status = pass((int)outputs.n, outputs.v, seeds.v, (int)targets.n, targets.v, create, grads);
    result = status == SP_OK ? sp__py_tuple_take(targets.n, grads) : PyErr_Occurred() ? NULL : sp__py_fail(status);
done:
    PyMem_Free(grads);
    sp__py_list_free(&outputs);
    sp__py_list_free(&seeds);
    sp__py_list_free(&targets);
    return result;
}

static PyObject *grad_leaf_hooks(PyObject *self, PyObject *on)
{
    (void)self;
    int flag = PyObject_IsTrue(on);
    return flag < 0 ? NULL : PyBool_FromLong(sp__grad_leaf_hooks(flag));
}

static PyObject *grad_spend(PyObject *self, PyObject *list)
{
    (void)self;
    sp_py_list outputs = {0};
    if (sp__py_list_read(list, "outputs", false, &outputs) < 0) return NULL;
    sp_status status = sp_grad_spend((int)outputs.n, outputs.v);
    sp__py_list_free(&outputs);
    return status == SP_OK ? Py_NewRef(Py_None) : sp__py_fail(status);
}

static PyObject *grad_depends(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *list, *target;
    int through = 0;
    if (!PyArg_ParseTuple(args, "OOp:grad_depends", &list, &target, &through)) return NULL;
    sp_py_list outputs = {0};
    sp_tensor *t = sp__py_tensor(target);
    if (!t || sp__py_list_read(list, "outputs", false, &outputs) < 0) return NULL;
    bool answer = false;
    const sp_status status = sp__grad_depends((int)outputs.n, outputs.v, t, through, &answer);
    sp__py_list_free(&outputs);
    return status == SP_OK ? PyBool_FromLong(answer) : sp__py_fail(status);
}

/* What made a tensor: a number for the node, which of its results this is, the operator's name or None, a handle with the history of
 * each input or None for constants. */
static PyObject *grad_node(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    if (!t) return NULL;
    if (!sp_grad_tracked(t)) Py_RETURN_NONE;
    const int n = sp__grad_n_parents(t);
    sp_tensor **parents = PyMem_Calloc((size_t)n + 1, sizeof *parents);
    if (!parents) return sp__py_no_memory();
    sp_status status = SP_OK;
    for (int i = 0; i < n && status == SP_OK; i++) status = sp__grad_parent(t, i, &parents[i]);
    if (status != SP_OK)
        for (int i = 0; i < n; i++) sp_tensor_release(parents[i]);
    PyObject *made = status == SP_OK ? sp__py_tuple_take(n, parents) : sp__py_fail(status);
    PyMem_Free(parents);
    return made ? Py_BuildValue("(KizN)", (unsigned long long)(uintptr_t)t->node, t->node_index, sp__grad_name(t), made)
                : NULL;
}

/* --- hooks and custom gradients ---------------------------------------------------------------------------------- */

/* The exception stays set; this status makes every C layer return without touching it. */
static sp_status python_failed(const char *what) { return sp__fail(SP_RUNTIME, "%s raised an exception", what); }

/* sp__fail lives in base; the message is only seen if the exception is lost. */
static sp_status hook_locked(void *context, sp_tensor *grad, sp_tensor **replaced)
{
    PyObject *g = sp__py_take_tensor(sp_tensor_retain(grad));
    PyObject *r = g ? PyObject_CallFunctionObjArgs((PyObject *)context, g, NULL) : NULL;
    Py_XDECREF(g);
    if (!r) return python_failed("a gradient hook");
    sp_status status = SP_OK;
    if (r != Py_None) {
        if (sp__py_is_tensor(r)) {
            *replaced = sp_tensor_retain(sp__py_tensor(r));
        } else {
            PyErr_Format(PyExc_TypeError, "a gradient hook must return a Tensor or None, but got %s",
                         sp__py_type_name(r));
            status = python_failed("a gradient hook");
        }
    }
    Py_DECREF(r);
    return status;
}

/* A program that takes gradients runs without the lock. */
static sp_status call_hook(void *context, sp_tensor *grad, sp_tensor **replaced)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    sp_status status = hook_locked(context, grad, replaced);
    PyGILState_Release(gil);
    return status;
}

static PyObject *grad_hook_add(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    sp_tensor *t = n_args == 2 ? sp__py_tensor(args[0]) : NULL;
    if (!t)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "grad_hook_add takes a tensor and a function");
    int64_t id;
    Py_INCREF(args[1]);
    sp_status status = sp_grad_hook_add(t, call_hook, sp__py_drop, args[1], &id);
    if (status != SP_OK) {
        Py_DECREF(args[1]);
        return sp__py_fail(status);
    }
    return PyLong_FromLongLong(id);
}

static PyObject *grad_hook_remove(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    sp_tensor *t = n_args == 2 ? sp__py_tensor(args[0]) : NULL;
    if (!t) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "grad_hook_remove takes a tensor and an id");
    long long id = PyLong_AsLongLong(args[1]);
    if (id == -1 && PyErr_Occurred()) return NULL;
    sp_grad_hook_remove(t, id);
    Py_RETURN_NONE;
}

static sp_status custom_locked(void *context, int n_out, sp_tensor *const *dout, int n_in, sp_tensor **din)
{
    PyObject *args = PyTuple_New(n_out);
    for (int i = 0; args && i < n_out; i++) {
        PyObject *g = sp__py_take_tensor(sp_tensor_retain(dout[i]));
        if (!g || PyTuple_SetItem(args, i, g) < 0) Py_CLEAR(args);
    }
    PyObject *r = args ? PyObject_CallObject((PyObject *)context, args) : NULL;
    Py_XDECREF(args);
    if (!r) return python_failed("a custom gradient");
    sp_py_list grads;
    int failed = sp__py_list_read(r, "gradient", true, &grads);
    Py_DECREF(r);
    if (failed) return python_failed("a custom gradient");
    sp_status status = SP_OK;
    if (grads.n != n_in) {
        PyErr_Format(PyExc_TypeError, "a custom gradient must return one value per input: %d are needed, but got %zd",
                     n_in, grads.n);
        status = python_failed("a custom gradient");
    }
    for (int i = 0; status == SP_OK && i < n_in; i++) din[i] = grads.v[i] ? sp_tensor_retain(grads.v[i]) : NULL;
    sp__py_list_free(&grads);
    return status;
}

static sp_status call_custom(void *context, int n_out, sp_tensor *const *dout, int n_in, sp_tensor **din)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    sp_status status = custom_locked(context, n_out, dout, n_in, din);
    PyGILState_Release(gil);
    return status;
}

static PyObject *grad_attach(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    if (n_args != 3) return PyErr_Format(PyExc_TypeError, "grad_attach takes inputs, outputs and a function");
    sp_py_list inputs = {0}, outputs = {0};
    PyObject *result = NULL;
    if (sp__py_list_read(args[0], "inputs", false, &inputs) < 0 ||
        sp__py_list_read(args[1], "outputs", false, &outputs) < 0)
        goto done;
    Py_INCREF(args[2]);
    sp_status status =
        sp_grad_attach((int)inputs.n, inputs.v, (int)outputs.n, outputs.v, call_custom, sp__py_drop, args[2]);
    if (status != SP_OK) {
        Py_DECREF(args[2]);
        sp__py_fail(status);
        goto done;
    }
    result = Py_NewRef(Py_None);
done:
    sp__py_list_free(&inputs);
    sp__py_list_free(&outputs);
    return result;
}

/* --- hooks of saved tensors -------------------------------------------------------------------------------------- */

/* context: the tuple (pack, unpack). What is kept is the tuple (unpack, what pack gave). */
static sp_status pack_saved(void *context, sp_tensor *t, void **packed)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *shown = sp__py_take_tensor(sp_tensor_retain(t));
    PyObject *kept = shown ? PyObject_CallFunctionObjArgs(PyTuple_GetItem(context, 0), shown, NULL) : NULL;
    Py_XDECREF(shown);
    *packed = kept ? PyTuple_Pack(2, PyTuple_GetItem(context, 1), kept) : NULL;
    Py_XDECREF(kept);
    sp_status status = *packed ? SP_OK : python_failed("a pack hook");
    PyGILState_Release(gil);
    return status;
}
static sp_status unpack_saved(void *packed, sp_tensor **t)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *r = PyObject_CallFunctionObjArgs(PyTuple_GetItem(packed, 0), PyTuple_GetItem(packed, 1), NULL);
    if (r && !sp__py_is_tensor(r))
        PyErr_Format(PyExc_TypeError, "the output of an unpack hook must be a Tensor, but got %s", sp__py_type_name(r));
    sp_status status = r && sp__py_is_tensor(r) ? SP_OK : python_failed("an unpack hook");
    if (status == SP_OK) *t = sp_tensor_retain(sp__py_tensor(r));
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return status;
}
static PyObject *grad_set_saver(PyObject *self, PyObject *pair)
{
    (void)self;
    if (pair != Py_None && !(PyTuple_Check(pair) && PyTuple_Size(pair) == 2))
        return PyErr_Format(PyExc_TypeError, "grad_set_saver takes (pack, unpack) or None");
    sp_grad_saver saver = {.pack = NULL};
    if (pair != Py_None)
        saver = (sp_grad_saver){
            .pack = pack_saved, .unpack = unpack_saved, .release = sp__py_drop, .context = Py_NewRef(pair)};
    const sp_grad_saver before = sp_grad_set_saver(saver);
    return before.pack ? before.context : Py_NewRef(Py_None); /* the reference is handed over */
}

static PyMethodDef methods[] = {
    {"grad_begin", grad_begin, METH_NOARGS, "Switch recording on; it nests."},
    {"grad_end", grad_end, METH_NOARGS, "End one level of recording."},
    {"grad_recording", grad_recording, METH_NOARGS, "Whether recording is on."},
    {"grad_pause", grad_pause, METH_NOARGS, "Switch recording off; returns what grad_resume needs."},
    {"grad_resume", grad_resume, METH_O, "Undo grad_pause."},
    {"grad_watch", grad_watch, METH_O, "Make a tensor a variable."},
    {"grad_unwatch", grad_unwatch, METH_O, "End one grad_watch."},
    {"grad_tracked", grad_tracked, METH_O, "Whether a tensor has a history."},
    {"grad_possible", grad_possible, METH_O, "Whether a tensor has a dtype that gradients exist for."},
    {"grad_contents", grad_contents, METH_O, "What a tensor holds now, as numbers to compare."},
    {"grad_detach", grad_detach, METH_O, "The same value without history."},
    {"grad_variable", grad_variable, METH_O, "A new handle on a value to differentiate with respect to."},
    {"grad_backward", (PyCFunction)(void (*)(void))grad_backward, METH_FASTCALL,
     "grad_backward(outputs, seeds, targets, create_graph, reached=False): the gradients of the targets; reached: None, not zeros, "
     "for those that the outputs do not depend on."},
    {"grad_leaf_hooks", grad_leaf_hooks, METH_O,
     "Whether backward passes call the hooks of leaves; gives what was set before."},
    {"grad_depends", grad_depends, METH_VARARGS,
     "grad_depends(outputs, target, through_host)\n--\n\nDo outputs depend on it, and if so asked also by what Python computed?"},
    {"grad_spend", grad_spend, METH_O,
     "grad_spend(outputs): refuse further backward passes through what they were computed by."},
    {"grad_node", grad_node, METH_O,
     "What made a tensor: (number, result, name of the operator or None, inputs), or None."},
    {"grad_hook_add", (PyCFunction)(void (*)(void))grad_hook_add, METH_FASTCALL,
     "Call a function with a tensor's gradient."},
    {"grad_hook_remove", (PyCFunction)(void (*)(void))grad_hook_remove, METH_FASTCALL, "Take a hook off again."},
    {"grad_attach", (PyCFunction)(void (*)(void))grad_attach, METH_FASTCALL,
     "grad_attach(inputs, outputs, backward): outputs depend on inputs through backward(*dout)."},
    {"grad_set_saver", grad_set_saver, METH_O,
     "grad_set_saver((pack, unpack) or None): what is kept for gradients goes through these; gives those before."},
    {NULL, NULL, 0, NULL},
};

int sp__py_add_grad(PyObject *module) { return PyModule_AddFunctions(module, methods); }
