/* SPDX-License-Identifier: Apache-2.0 */
/* py_device.c - devices, for Python: where Tensors lie, and how they get elsewhere. */
#include "core.h"

#include "spore/device.h"
#include "spore/grad.h"

sp_tensor *sp__py_fetch(PyObject *o, sp_tensor *t)
{
    sp_py_tensor *p = (sp_py_tensor *)o;
    sp_tensor *here = NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp__tensor_here(t, &here);
    Py_END_ALLOW_THREADS if (status != SP_OK) return (sp_tensor *)(void *)sp__py_fail(status);
    sp_tensor_release(p->here);
    p->here = here;
    return here;
}

static const char *name_of(PyObject *o)
{
    if (PyUnicode_Check(o)) return PyUnicode_AsUTF8AndSize(o, NULL);
    PyErr_Format(PyExc_TypeError, "the name of a device must be a str, but got %s", sp__py_type_name(o));
    return NULL;
}

/* NULL is the CPU: *failed tells. */
static sp_device *device_of(PyObject *o, bool *failed)
{
    sp_device *d = NULL;
    const char *name = name_of(o);
    const sp_status status = name ? sp_device_open(name, &d) : SP_OK;
    if (status != SP_OK) sp__py_fail(status);
    *failed = !name || status != SP_OK;
    return d;
}

static sp_tensor *moved_take(sp_tensor *t, sp_device *d)
{
    if (sp_tensor_device(t) == d || t->symbol || sp__recorder || !t->storage) return t;
    sp_tensor *moved = NULL;
    const sp_status status = sp_tensor_to(t, d, &moved);
    if (status == SP_OK) moved->flags |= t->flags & SP_TENSOR_WEAK;
    sp_tensor_release(t);
    return status == SP_OK ? moved : (sp_tensor *)(void *)sp__py_fail(status);
}

sp_tensor *sp__py_place(sp_tensor *t, PyObject *device)
{
    bool failed = false;
    sp_device *d = device == Py_None ? sp_device_default() : device_of(device, &failed);
    if (failed) {
        sp_tensor_release(t);
        return NULL;
    }
    return d || device != Py_None ? moved_take(t, d) : t;
}

sp_tensor *sp__py_place_like(sp_tensor *t, const sp_tensor *like)
{
    sp_device *d = like && like->storage ? sp_tensor_device(like) : sp_device_default();
    return d ? moved_take(t, d) : t;
}

/* The Tensor itself goes there: whoever holds it sees it there. */
static PyObject *tensor_move(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *o, *name;
    bool failed;
    if (!PyArg_ParseTuple(args, "OO:tensor_move", &o, &name)) return NULL;
    sp_tensor *t = sp__py_tensor(o), *moved = NULL;
    sp_device *d = t ? device_of(name, &failed) : NULL;
    if (!t || failed) return NULL;
    const int depth = sp_grad_pause();
    const sp_status status = sp_tensor_to(t, d, &moved);
    sp_grad_resume(depth);
    SP_PY_TRY(status);
    if (moved != t) sp__tensor_rebind(t, moved);
    sp_tensor_release(moved);
    return Py_NewRef(o);
}

static PyObject *tensor_to(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *o, *name;
    bool failed;
    if (!PyArg_ParseTuple(args, "OO:tensor_to", &o, &name)) return NULL;
    sp_tensor *t = sp__py_tensor(o), *moved = NULL;
    sp_device *d = t ? device_of(name, &failed) : NULL;
    if (!t || failed) return NULL;
    SP_PY_TRY(sp_tensor_to(t, d, &moved));
    if (moved == t) {
        sp_tensor_release(moved);
        return Py_NewRef(o);
    }
    return sp__py_take_tensor(moved);
}

static PyObject *tensor_device(PyObject *module, PyObject *o)
{
    (void)module;
    sp_tensor *t = sp__py_tensor(o);
    return t ? PyUnicode_FromString(sp_device_name(sp_tensor_device(t))) : NULL;
}

static PyObject *load(PyObject *module, PyObject *o)
{
    (void)module;
    const char *path = name_of(o);
    if (!path) return NULL;
    SP_PY_TRY(sp_device_load(path));
    Py_RETURN_NONE;
}

static PyObject *names(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    char text[2048];
    sp_device_names(text, sizeof text);
    return PyUnicode_FromString(text);
}

static PyObject *set_default(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_device *d = device_of(o, &failed);
    if (failed) return NULL;
    sp_device_set_default(d);
    Py_RETURN_NONE;
}

static PyObject *get_default(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(sp_device_name(sp_device_default()));
}

static PyObject *wait_for(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_device *d = device_of(o, &failed);
    sp_status status;
    if (failed) return NULL;
    Py_BEGIN_ALLOW_THREADS status = sp_device_wait(d);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    Py_RETURN_NONE;
}

/* --- streams and events: capsules -------------------------------------------------------------------------------- */

#define STREAM "spore.stream"
#define EVENT "spore.event"

static void stream_free(PyObject *o) { sp_stream_release(PyCapsule_GetPointer(o, STREAM)); }

static void event_free(PyObject *o) { sp_event_release(PyCapsule_GetPointer(o, EVENT)); }

static PyObject *stream_create(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_stream *s = NULL;
    sp_device *d = device_of(o, &failed);
    if (failed) return NULL;
    SP_PY_TRY(sp_stream_create(d, &s));
    PyObject *made = PyCapsule_New(s, STREAM, stream_free);
    if (!made) sp_stream_release(s);
    return made;
}

static PyObject *event_create(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_event *e = NULL;
    sp_device *d = device_of(o, &failed);
    if (failed) return NULL;
    SP_PY_TRY(sp_event_create(d, &e));
    PyObject *made = PyCapsule_New(e, EVENT, event_free);
    if (!made) sp_event_release(e);
    return made;
}

/* NULL for None; *failed tells. */
static sp_stream *stream_of(PyObject *o, bool *failed)
{
    sp_stream *s = o == Py_None ? NULL : PyCapsule_GetPointer(o, STREAM);
    *failed = o != Py_None && !s;
    return s;
}

/* Whoever sets a stream keeps it until another one is set. */
static PyObject *stream_set(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *name, *o;
    bool failed;
    if (!PyArg_ParseTuple(args, "OO:stream_set", &name, &o)) return NULL;
    sp_device *d = device_of(name, &failed);
    if (failed) return NULL;
    sp_stream *s = stream_of(o, &failed);
    if (failed) return NULL;
    sp_stream_set(d, s);
    Py_RETURN_NONE;
}

static PyObject *stream_wait(PyObject *module, PyObject *o)
{
    (void)module;
    sp_stream *s = PyCapsule_GetPointer(o, STREAM);
    sp_status status;
    if (!s) return NULL;
    Py_BEGIN_ALLOW_THREADS status = sp_stream_wait(s);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *stream_query(PyObject *module, PyObject *o)
{
    (void)module;
    sp_stream *s = PyCapsule_GetPointer(o, STREAM);
    bool done = false;
    sp_status status;
    if (!s) return NULL;
    Py_BEGIN_ALLOW_THREADS status = sp_stream_query(s, &done);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    return PyBool_FromLong(done);
}

static PyObject *event_in(PyObject *args, const char *format, sp_status (*act)(sp_event *, sp_stream *))
{
    PyObject *event, *stream;
    bool failed;
    if (!PyArg_ParseTuple(args, format, &event, &stream)) return NULL;
    sp_event *e = PyCapsule_GetPointer(event, EVENT);
    if (!e) return NULL;
    sp_stream *s = stream_of(stream, &failed);
    sp_status status;
    if (failed) return NULL;
    Py_BEGIN_ALLOW_THREADS status = act(e, s);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *event_record(PyObject *module, PyObject *args)
{
    (void)module;
    return event_in(args, "OO:event_record", sp_event_record);
}

static PyObject *event_follow(PyObject *module, PyObject *args)
{
    (void)module;
    return event_in(args, "OO:event_follow", sp_event_follow);
}

static PyObject *event_wait(PyObject *module, PyObject *o)
{
    (void)module;
    sp_event *e = PyCapsule_GetPointer(o, EVENT);
    sp_status status;
    if (!e) return NULL;
    Py_BEGIN_ALLOW_THREADS status = sp_event_wait(e);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *event_query(PyObject *module, PyObject *o)
{
    (void)module;
    sp_event *e = PyCapsule_GetPointer(o, EVENT);
    bool done = false;
    if (!e) return NULL;
    SP_PY_TRY(sp_event_query(e, &done));
    return PyBool_FromLong(done);
}

static PyObject *event_elapsed(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *from, *to;
    double ms = 0;
    if (!PyArg_ParseTuple(args, "OO:event_elapsed", &from, &to)) return NULL;
    sp_event *a = PyCapsule_GetPointer(from, EVENT), *b = a ? PyCapsule_GetPointer(to, EVENT) : NULL;
    if (!b) return NULL;
    SP_PY_TRY(sp_event_elapsed(a, b, &ms));
    return PyFloat_FromDouble(ms);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static PyObject *trim(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_device *d = device_of(o, &failed);
    if (failed) return NULL;
    sp_device_trim(d);
    Py_RETURN_NONE;
}

static PyObject *reset_peak(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_device *d = device_of(o, &failed);
    if (failed) return NULL;
    sp_device_reset_peak(d);
    Py_RETURN_NONE;
}

static PyObject *describe(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_device *d = device_of(o, &failed);
    if (failed) return NULL;
    sp_device_properties p;
    SP_PY_TRY(sp_device_describe(d, &p));
    return Py_BuildValue("{s:s,s:s,s:K,s:i}", "name", sp_device_name(d), "title", p.title, "memory_bytes",
                         (unsigned long long)p.memory_bytes, "units", p.units);
}

static PyObject *statistics(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_device *d = device_of(o, &failed);
    if (failed) return NULL;
    sp_device_statistics s;
    sp_device_count(d, &s);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "used_bytes", (unsigned long long)s.used_bytes,
                         "peak_bytes", (unsigned long long)s.peak_bytes, "kept_bytes", (unsigned long long)s.kept_bytes,
                         "kernels", (unsigned long long)s.kernels, "declined", (unsigned long long)s.declined,
                         "copies_in", (unsigned long long)s.copies_in, "bytes_in", (unsigned long long)s.bytes_in,
                         "copies_out", (unsigned long long)s.copies_out, "bytes_out", (unsigned long long)s.bytes_out);
}

static PyObject *declined(PyObject *module, PyObject *o)
{
    (void)module;
    bool failed;
    sp_device *d = device_of(o, &failed);
    if (failed) return NULL;
    enum { MOST = 64 };
    sp_device_declines found[MOST];
    const int n = sp_device_declined(d, found, MOST);
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n && i < MOST; i++) {
        PyObject *row =
            Py_BuildValue("(sKK)", found[i].op, (unsigned long long)found[i].calls, (unsigned long long)found[i].bytes);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"device_load", load, METH_O, "device_load(path)\n--\n\nOpen a library of devices."},
    {"device_names", names, METH_NOARGS, "device_names()\n--\n\nKinds of devices, as a text."},
    {"device_set_default", set_default, METH_O, "device_set_default(name)\n--\n\nWhere new Tensors go."},
    {"device_default", get_default, METH_NOARGS, "device_default()\n--\n\nWhere new Tensors go."},
    {"device_wait", wait_for, METH_O, "device_wait(name)\n--\n\nUntil the device has done all that was asked of it."},
    {"stream_create", stream_create, METH_O, "stream_create(name)\n--\n\nOne more queue of a device."},
    {"stream_set", stream_set, METH_VARARGS,
     "stream_set(name, stream)\n--\n\nWhere this thread's calls on a device go; None: its first queue."},
    {"stream_wait", stream_wait, METH_O, "stream_wait(stream)\n--\n\nUntil all of it is done."},
    {"stream_query", stream_query, METH_O, "stream_query(stream)\n--\n\nIs all of it done?"},
    {"event_create", event_create, METH_O,
     "event_create(name)\n--\n\nA moment in a stream of a device, to be recorded."},
    {"event_record", event_record, METH_VARARGS,
     "event_record(event, stream)\n--\n\nNow, in a stream; None: in the one this thread has set."},
    {"event_follow", event_follow, METH_VARARGS,
     "event_follow(event, stream)\n--\n\nWhat the stream is asked from now on comes behind the event."},
    {"event_wait", event_wait, METH_O, "event_wait(event)\n--\n\nUntil it has come."},
    {"event_query", event_query, METH_O, "event_query(event)\n--\n\nHas it come?"},
    {"event_elapsed", event_elapsed, METH_VARARGS,
     "event_elapsed(start, end)\n--\n\nMilliseconds between two events that have come."},
    {"device_trim", trim, METH_O,
     "device_trim(name)\n--\n\nGive memory that is kept for later Tensors back to the device."},
    {"device_describe", describe, METH_O, "device_describe(name)\n--\n\nProperties of a device."},
    {"device_reset_peak", reset_peak, METH_O,
     "device_reset_peak(name)\n--\n\nLet the peak of a device's memory start again."},
    {"device_statistics", statistics, METH_O, "device_statistics(name)\n--\n\nMemory, kernels and copies of a device."},
    {"device_declined", declined, METH_O,
     "device_declined(name)\n--\n\n(operator, calls, bytes) of what the CPU computed in its place."},
    {"tensor_to", tensor_to, METH_VARARGS, "tensor_to(tensor, name)\n--\n\nThe Tensor on a device."},
    {"tensor_move", tensor_move, METH_VARARGS,
     "tensor_move(tensor, name)\n--\n\nLet the Tensor itself lie on a device."},
    {"tensor_device", tensor_device, METH_O, "tensor_device(tensor)\n--\n\nName of the device a Tensor lies on."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_device(PyObject *module) { return PyModule_AddFunctions(module, functions); }
