/* SPDX-License-Identifier: Apache-2.0 */
/* py_cache.c - the dataset cache for the Python package: _core.Cache, which a Pipeline takes, and questions to servers. */
#include "py_rows.h"

#include <stdlib.h>
#include <unistd.h>

#include "spore/cache.h"

typedef struct py_cache {
    PyObject_HEAD sp_cache *cache;
} py_cache;

static PyTypeObject *cache_type;

/* On any thread. */
static void tell(const char *text) { sp__py_report(text); }

static PyObject *cache_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"address", "session", "max_bytes", "spill", "strict", NULL};
    sp_cache_options o = {.report = tell};
    unsigned long session;
    unsigned long long bytes;
    int spill, strict;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "zkKpp:Cache", keywords, &o.address, &session, &bytes, &spill,
                                     &strict))
        return NULL;
    o.session = (uint32_t)session;
    o.max_bytes = bytes;
    o.spill = spill != 0;
    o.strict = strict != 0;
    sp_cache *cache = NULL;
    SP_PY_TRY(sp_cache_create(&o, &cache));
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    py_cache *self = (py_cache *)alloc(type, 0);
    if (self) self->cache = cache;
    else sp_cache_release(cache);
    return (PyObject *)self;
}

static void cache_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    sp_cache_release(((py_cache *)o)->cache);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

/* All that can go wrong with a server is a RuntimeError, as in MindSpore. */
static PyObject *failed(sp_status status) { return sp__py_fail(status == SP_NOMEM ? status : SP_RUNTIME); }

static PyObject *cache_stat(PyObject *o, PyObject *unused)
{
    sp_cache_figures f;
    sp_status status;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS status = sp_cache_stat(((py_cache *)o)->cache, &f);
    Py_END_ALLOW_THREADS if (status != SP_OK) return failed(status);
    return Py_BuildValue("KKK", (unsigned long long)f.row_bytes, (unsigned long long)f.rows_in_memory,
                         (unsigned long long)f.rows_on_disk);
}

sp_cache *sp__py_cache(PyObject *o)
{
    if (PyObject_TypeCheck(o, cache_type)) return ((py_cache *)o)->cache;
    PyErr_SetString(PyExc_TypeError, "a Cache is wanted");
    return NULL;
}

static PyMethodDef cache_methods[] = {
    {"stat", cache_stat, METH_NOARGS, "stat(): bytes of a row, rows in memory, rows on disk."}, {NULL, NULL, 0, NULL}};
static PyType_Slot cache_slots[] = {{Py_tp_doc, "Cache(address, session, max_bytes, spill, strict)"},
                                    {Py_tp_new, (void *)cache_new},
                                    {Py_tp_dealloc, (void *)cache_dealloc},
                                    {Py_tp_methods, cache_methods},
                                    {0, NULL}};
static PyType_Spec cache_spec = {
    .name = "spore._core.Cache", .basicsize = sizeof(py_cache), .flags = Py_TPFLAGS_DEFAULT, .slots = cache_slots};

static PyObject *session_create(PyObject *self, PyObject *args)
{
    const char *address;
    uint32_t id = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "z:cache_session", &address)) return NULL;
    const sp_status status = sp_cache_session_create(address, &id);
    return status == SP_OK ? PyLong_FromUnsignedLong(id) : failed(status);
}

static void unlink_capsule(PyObject *capsule)
{
    int *fd = PyCapsule_GetPointer(capsule, "spore.cache_link");
    if (!fd) return;
    close(*fd);
    free(fd);
}

/* cache_link(address): a connection that does nothing but be there; a private server lives as long as one is. */
static PyObject *link_to(PyObject *self, PyObject *args)
{
    const char *address;
    (void)self;
    if (!PyArg_ParseTuple(args, "z:cache_link", &address)) return NULL;
    int *fd = malloc(sizeof *fd);
    if (!fd) return sp__py_no_memory();
    const sp_status status = sp_cache_link(address, fd);
    PyObject *capsule = status == SP_OK ? PyCapsule_New(fd, "spore.cache_link", unlink_capsule) : failed(status);
    if (status == SP_OK && !capsule) close(*fd);
    if (!capsule) free(fd);
    return capsule;
}

static PyMethodDef functions[] = {
    {"cache_session", session_create, METH_VARARGS, "cache_session(address): a new session of a cache server."},
    {"cache_link", link_to, METH_VARARGS, "cache_link(address): a connection that keeps a private server alive."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_cache(PyObject *module)
{
    cache_type = (PyTypeObject *)PyType_FromSpec(&cache_spec);
    if (!cache_type || PyModule_AddObjectRef(module, "Cache", (PyObject *)cache_type) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
