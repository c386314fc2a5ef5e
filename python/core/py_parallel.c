/* SPDX-License-Identifier: Apache-2.0 */
/* py_parallel.c - the job and its groups, for spore.communication. Exchanges themselves are operators. */
#include "core.h"

#include "spore/graph.h"
#include "spore/parallel.h"
#include "spore/profile.h"

static sp_comm *group_of(const char *name)
{
    sp_comm *c;
    const sp_status status = sp_comm_find(name, &c);
    if (status == SP_OK) return c;
    sp__py_fail(status);
    return NULL;
}

static PyObject *job_join(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_job_join();
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *job_leave(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    sp_job_leave();
    Py_RETURN_NONE;
}

static PyObject *job_abort(PyObject *module, PyObject *args)
{
    (void)module;
    int code;
    const char *why;
    if (!PyArg_ParseTuple(args, "iz:job_abort", &code, &why)) return NULL;
    sp_job_abort(code, why);
    Py_RETURN_NONE;
}

static PyObject *job_launched(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    const char *variable = NULL;
    const int n = sp_job_launched(&variable);
    return Py_BuildValue("(iz)", n, variable);
}

static PyObject *job_transport(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(sp_job_transport());
}

/* (rank, size, local rank, local size, [ranks in the world]) */
static PyObject *comm_info(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    if (!PyArg_ParseTuple(args, "s:comm_info", &name)) return NULL;
    const sp_comm *c = group_of(name);
    if (!c) return NULL;
    const int size = sp_comm_size(c);
    PyObject *ranks = PyList_New(size);
    for (int i = 0; ranks && i < size; i++) {
        PyObject *rank = PyLong_FromLong(sp_comm_ranks(c)[i]);
        if (!rank || PyList_SetItem(ranks, i, rank) < 0) {
            Py_DECREF(ranks);
            return NULL;
        }
    }
    return ranks ? Py_BuildValue("(iiiiN)", sp_comm_rank(c), size, sp_comm_local_rank(c), sp_comm_local_size(c), ranks)
                 : NULL;
}

static PyObject *comm_create(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "sO!:comm_create", &name, &PyList_Type, &list)) return NULL;
    const Py_ssize_t n = PyList_Size(list);
    if (n <= 0 || n > 1 << 20) return PyErr_Format(PyExc_ValueError, "a group of %zd ranks", n);
    int *ranks = PyMem_Malloc((size_t)n * sizeof *ranks);
    if (!ranks) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        const long rank = PyLong_AsLong(PyList_GetItem(list, i));
        ranks[i] = rank > 1 << 20 || rank < 0 ? -1 : (int)rank;
        if (rank == -1 && PyErr_Occurred()) {
            PyMem_Free(ranks);
            return NULL;
        }
    }
    sp_comm *c = NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_comm_create((int)n, ranks, &c);
    if (status == SP_OK) status = sp_comm_name(name, c);
    sp_comm_release(c);
    Py_END_ALLOW_THREADS PyMem_Free(ranks);
    SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *comm_drop(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    if (!PyArg_ParseTuple(args, "s:comm_drop", &name)) return NULL;
    SP_PY_TRY(sp_comm_drop(name));
    Py_RETURN_NONE;
}

static PyObject *comm_barrier(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    if (!PyArg_ParseTuple(args, "s:comm_barrier", &name)) return NULL;
    sp_comm *c = group_of(name);
    if (!c) return NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_comm_run(c, &(sp_exchange){.kind = SP_EXCHANGE_BARRIER});
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    Py_RETURN_NONE;
}

/* A message to another rank, or from it: (Tensor, rank of the group, tag, group). */
static PyObject *message(PyObject *args, sp_exchange_kind kind)
{
    PyObject *object;
    int rank, tag;
    const char *name;
    if (!PyArg_ParseTuple(args, "Oiis:message", &object, &rank, &tag, &name)) return NULL;
    sp_tensor *t = sp__py_value(object), *row = NULL;
    sp_comm *c = t ? group_of(name) : NULL;
    if (!c) return NULL;
    if (kind == SP_EXCHANGE_SEND) SP_PY_TRY(sp_tensor_contiguous(t, &row));
    else SP_PY_TRY(sp_tensor_create(sp_tensor_dtype(t), sp_tensor_rank(t), sp_tensor_dims(t), &row));
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_comm_run(c, &(sp_exchange){.kind = kind,
                                                                  .dtype = sp_tensor_dtype(row),
                                                                  .n = sp_tensor_count(row),
                                                                  .in = sp_tensor_data(row),
                                                                  .out = sp_tensor_data(row),
                                                                  .root = rank,
                                                                  .tag = tag});
    Py_END_ALLOW_THREADS if (status == SP_OK && kind == SP_EXCHANGE_RECV) return sp__py_take_tensor(row);
    sp_tensor_release(row);
    SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *comm_send(PyObject *module, PyObject *args) { return (void)module, message(args, SP_EXCHANGE_SEND); }
static PyObject *comm_recv(PyObject *module, PyObject *args) { return (void)module, message(args, SP_EXCHANGE_RECV); }

/* An all_reduce that goes on while Python computes. Nobody waits for one that is dropped: its memory stays its own. */
typedef struct {
    sp_request *request;
    sp_tensor *in, *out;
} begun_exchange;

static const char begun_name[] = "spore.exchange";

/* Of one that was awaited. */
static void begun_free(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, begun_name)); }

static PyObject *comm_begin(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *object;
    const char *op, *name;
    sp_reduce how;
    if (!PyArg_ParseTuple(args, "Oss:comm_begin", &object, &op, &name)) return NULL;
    sp_tensor *t = sp__py_value(object);
    sp_comm *c = t ? group_of(name) : NULL;
    if (!c) return NULL;
    SP_PY_TRY(sp_reduce_parse(op, &how));
    begun_exchange *b = PyMem_Malloc(sizeof *b);
    if (!b) return PyErr_NoMemory();
    *b = (begun_exchange){NULL, NULL, NULL};
    sp_status status = sp_tensor_contiguous(t, &b->in);
    if (status == SP_OK) status = sp_tensor_create(sp_tensor_dtype(t), sp_tensor_rank(t), sp_tensor_dims(t), &b->out);
    if (status == SP_OK) {
        Py_BEGIN_ALLOW_THREADS status = sp_comm_start(c,
                                                      &(sp_exchange){.kind = SP_EXCHANGE_ALL_REDUCE,
                                                                     .dtype = sp_tensor_dtype(b->in),
                                                                     .reduce = how,
                                                                     .n = sp_tensor_count(b->in),
                                                                     .in = sp_tensor_data(b->in),
                                                                     .out = sp_tensor_data(b->out)},
                                                      &b->request);
        Py_END_ALLOW_THREADS
    }
    PyObject *capsule = status == SP_OK ? PyCapsule_New(b, begun_name, NULL) : NULL;
    if (capsule) return capsule;
    if (status != SP_OK) {
        sp_tensor_release(b->in);
        sp_tensor_release(b->out);
        PyMem_Free(b);
        sp__py_fail(status);
    }
    return NULL;
}

static PyObject *comm_await(PyObject *module, PyObject *capsule)
{
    (void)module;
    begun_exchange *b = PyCapsule_GetPointer(capsule, begun_name);
    if (!b) return NULL;
    if (!b->request) return PyErr_Format(PyExc_RuntimeError, "comm_await: the exchange was awaited already");
    sp_status status;
    const int64_t from = sp_profile_now();
    Py_BEGIN_ALLOW_THREADS status = sp_request_wait(b->request);
    Py_END_ALLOW_THREADS b->request = NULL;
    sp_profile_add("operator", "await", from, sp_profile_now());
    sp_tensor *out = b->out;
    if (status == SP_OK) sp_tensor_release(b->in); /* else messages on their way may still use it */
    PyCapsule_SetDestructor(capsule, begun_free);
    SP_PY_TRY(status);
    return sp__py_take_tensor(out);
}

/* (whole shape, slices of each axis), or None for a Tensor that no program over several ranks uses. */
static PyObject *tensor_split(PyObject *module, PyObject *object)
{
    (void)module;
    sp_tensor *t = sp__py_value(object);
    sp_spec whole;
    int64_t splits[SP_RANK_MAX];
    if (!t) return NULL;
    if (!sp_tensor_is_split(t, &whole) || !sp_tensor_splits(t, splits)) Py_RETURN_NONE;
    PyObject *shape = PyTuple_New(whole.rank), *parts = PyTuple_New(whole.rank);
    for (int i = 0; shape && parts && i < whole.rank; i++) {
        PyTuple_SetItem(shape, i, PyLong_FromLongLong(whole.dims[i]));
        PyTuple_SetItem(parts, i, PyLong_FromLongLong(splits[i]));
    }
    return Py_BuildValue("(NN)", shape, parts);
}

/* (sizes of the grid, axis that each dimension splits), or None. */
static PyObject *tensor_grid(PyObject *module, PyObject *object)
{
    (void)module;
    sp_tensor *t = sp__py_value(object);
    int64_t sizes[SP_GRID_MAX], axes[SP_GRID_MAX];
    if (!t) return NULL;
    const int n = sp_tensor_grid(t, sizes, axes);
    if (n == 0) Py_RETURN_NONE;
    PyObject *matrix = PyTuple_New(n), *split = PyTuple_New(n);
    for (int i = 0; matrix && split && i < n; i++) {
        PyTuple_SetItem(matrix, i, PyLong_FromLongLong(sizes[i]));
        PyTuple_SetItem(split, i, PyLong_FromLongLong(axes[i]));
    }
    return Py_BuildValue("(NN)", matrix, split);
}

static PyObject *tensor_set_grid(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *object, *matrix, *split;
    int64_t sizes[SP_GRID_MAX], axes[SP_GRID_MAX];
    if (!PyArg_ParseTuple(args, "OO!O!:tensor_set_grid", &object, &PyTuple_Type, &matrix, &PyTuple_Type, &split))
        return NULL;
    sp_tensor *t = sp__py_value(object);
    if (!t) return NULL;
    const Py_ssize_t n = PyTuple_Size(matrix);
    if (n != PyTuple_Size(split) || n > SP_GRID_MAX)
        return PyErr_Format(PyExc_ValueError, "tensor_set_grid: %zd sizes and %zd axes, at most %d", n,
                            PyTuple_Size(split), SP_GRID_MAX);
    for (Py_ssize_t i = 0; i < n; i++) {
        sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(matrix, i));
        axes[i] = PyLong_AsLongLong(PyTuple_GetItem(split, i));
        if (PyErr_Occurred()) return NULL;
    }
    SP_PY_TRY(sp_tensor_set_grid(t, (int)n, sizes, axes));
    Py_RETURN_NONE;
}

static PyObject *tensor_whole(PyObject *module, PyObject *object)
{
    (void)module;
    sp_tensor *t = sp__py_value(object), *out = NULL;
    if (!t) return NULL;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_tensor_whole(t, &out);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    return sp__py_take_tensor(out);
}

static PyObject *tensor_slice_like(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *whole, *like;
    if (!PyArg_ParseTuple(args, "OO:tensor_slice_like", &whole, &like)) return NULL;
    sp_tensor *w = sp__py_value(whole), *l = w ? sp__py_value(like) : NULL, *out = NULL;
    if (!l) return NULL;
    SP_PY_TRY(sp_tensor_slice_like(w, l, &out));
    return sp__py_take_tensor(out);
}

static PyObject *tensor_spread(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *tensor, *owner;
    int parts;
    if (!PyArg_ParseTuple(args, "OOi:tensor_spread", &tensor, &owner, &parts)) return NULL;
    sp_tensor *t = sp__py_value(tensor), *o = t ? sp__py_value(owner) : NULL;
    if (!o) return NULL;
    SP_PY_TRY(sp_tensor_spread(t, o, parts));
    Py_RETURN_NONE;
}

static PyObject *tensor_mark_slice(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *tensor;
    int parts;
    if (!PyArg_ParseTuple(args, "Oi:tensor_mark_slice", &tensor, &parts)) return NULL;
    sp_tensor *t = sp__py_value(tensor);
    if (!t) return NULL;
    SP_PY_TRY(sp_tensor_mark_slice(t, parts));
    Py_RETURN_NONE;
}

static PyObject *tensor_elsewhere(PyObject *module, PyObject *object)
{
    (void)module;
    const sp_tensor *t = sp__py_value(object);
    return t ? PyBool_FromLong(sp_tensor_is_elsewhere(t)) : NULL;
}

static PyObject *costs_measure(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    char *report;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_costs_measure(&report);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    PyObject *text = PyUnicode_FromString(report);
    sp_text_free(report);
    return text;
}

static PyMethodDef functions[] = {
    {"tensor_elsewhere", tensor_elsewhere, METH_O,
     "tensor_elsewhere(tensor)\n--\n\nWhether other stages of a pipeline have the contents alone."},
    {"costs_measure", costs_measure, METH_NOARGS,
     "costs_measure()\n--\n\nMeasure operators and exchanges of this job and keep the figures; a table of them."},
    {"tensor_spread", tensor_spread, METH_VARARGS,
     "tensor_spread(tensor, owner, parts)\n--\n\nLet split programs keep a slice of a Tensor on each rank; owner: its "
     "Parameter, or itself."},
    {"tensor_mark_slice", tensor_mark_slice, METH_VARARGS,
     "tensor_mark_slice(tensor, parts)\n--\n\nThe Tensor is this rank's slice of one that each `parts` ranks share."},
    {"tensor_split", tensor_split, METH_O,
     "tensor_split(tensor)\n--\n\nShape as a whole and slices of each axis, of a Tensor that is split over ranks; else None."},
    {"tensor_grid", tensor_grid, METH_O,
     "tensor_grid(tensor)\n--\n\nSizes of the grid of ranks and the axis that each dimension splits, -1 for none; None: not split."},
    {"tensor_set_grid", tensor_set_grid, METH_VARARGS,
     "tensor_set_grid(tensor, sizes, axes)\n--\n\nPrograms made from now on have the Tensor in slices over this grid of ranks."},
    {"tensor_whole", tensor_whole, METH_O,
     "tensor_whole(tensor)\n--\n\nThe slices of all ranks put together; all ranks call it."},
    {"tensor_slice_like", tensor_slice_like, METH_VARARGS,
     "tensor_slice_like(whole, like)\n--\n\nThis rank's slice of a Tensor, split as another one is."},
    {"comm_send", comm_send, METH_VARARGS, "comm_send(tensor, rank, tag, group)\n--\n\nA Tensor to another rank."},
    {"comm_recv", comm_recv, METH_VARARGS,
     "comm_recv(like, rank, tag, group)\n--\n\nA Tensor from another rank, of this shape and dtype."},
    {"job_join", job_join, METH_NOARGS,
     "job_join()\n--\n\nBecome part of the job that a launcher started, or a job of one rank."},
    {"job_leave", job_leave, METH_NOARGS, "job_leave()\n--\n\nLeave the job."},
    {"job_abort", job_abort, METH_VARARGS, "job_abort(code, why)\n--\n\nEnd all ranks of the job."},
    {"job_launched", job_launched, METH_NOARGS,
     "job_launched()\n--\n\nRanks that a launcher started, and the variable that says so."},
    {"job_transport", job_transport, METH_NOARGS, "job_transport()\n--\n\nWhat carries the bytes between ranks."},
    {"comm_info", comm_info, METH_VARARGS,
     "comm_info(group)\n--\n\n(rank, size, local rank, local size, ranks in the world)"},
    {"comm_create", comm_create, METH_VARARGS, "comm_create(name, ranks)\n--\n\nMake a group; all its ranks call it."},
    {"comm_drop", comm_drop, METH_VARARGS, "comm_drop(name)\n--\n\nForget a group."},
    {"comm_begin", comm_begin, METH_VARARGS,
     "comm_begin(tensor, op, group)\n--\n\nBegin an all_reduce, which goes on meanwhile; what comm_await takes, once."},
    {"comm_await", comm_await, METH_O,
     "comm_await(begun)\n--\n\nThe result of an all_reduce that comm_begin has begun."},
    {"comm_barrier", comm_barrier, METH_VARARGS, "comm_barrier(group)\n--\n\nWait for all ranks of a group."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_parallel(PyObject *module) { return PyModule_AddFunctions(module, functions); }
