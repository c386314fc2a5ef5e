/* SPDX-License-Identifier: Apache-2.0 */
/* py_workers.c - functions of Python in processes of their own: what goes between them and the pipeline.
 *
 * Each process has a channel: a socket for messages of fixed size and a memory file ("memfd") that both have mapped, for
 * the values. They take turns: the pipeline writes the arguments into the memory and sends a call; the process writes the
 * values, or the pickled exception, into the same memory and answers. Whoever needs more room makes the file longer; the
 * other maps it again when a message says so. Nothing has a name in the system, so nothing can be left behind. A process
 * that ends closes its socket, which wakes whoever waits for it.
 *
 * Memory: n cells one behind the other, each a cell_head and its bytes, filled up to 64. */
#include "base/plain.h"
#include "py_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_CALL, MESSAGE_VALUES, MESSAGE_END, MESSAGE_FAILED };

typedef struct message {
    int32_t kind;
    int32_t n_values;    /* cells in the memory */
    int32_t n_in, n_out; /* of a call: columns that go in and come out */
    int64_t epoch, row, id, n_rows;
    uint64_t seed;
    uint64_t bytes, room; /* used, and length of the file */
} message;

typedef struct cell_head {
    int32_t dtype, rank;
    uint64_t bytes;
    int64_t dims[SP_RANK_MAX];
} cell_head;

typedef struct channel {
    int socket, memory;
    char *data;
    size_t room;
    long pid;
    bool busy, dead;
} channel;

typedef struct pool {
    sp_lock lock;
    sp_cond idle;
    atomic_bool stop;
    int n, n_dead;
    channel *channels;
    PyObject *owner; /* a spore.dataset._workers.Pool */
    const char *name;
} pool;

static size_t filled(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* --- memory ------------------------------------------------------------------------------------------------------------- */

static sp_status map_again(channel *c, size_t room)
{
    if (room == c->room) return SP_OK;
    if (c->data) munmap(c->data, c->room);
    c->data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, c->memory, 0);
    if (c->data == MAP_FAILED) c->data = NULL;
    c->room = c->data ? room : 0;
    SP_CHECK(c->data, SP_NOMEM, "out of memory: cannot share %zu bytes with a worker process: %s", room,
             sp__strerror(errno));
    return SP_OK;
}

static sp_status make_room(channel *c, size_t bytes)
{
    if (bytes <= c->room) return SP_OK;
    const size_t page = 64 << 10, room = (bytes + bytes / 4 + page - 1) / page * page;
    SP_CHECK(ftruncate(c->memory, (off_t)room) == 0, SP_NOMEM,
             "out of memory: cannot share %zu bytes with a worker process: %s", room, sp__strerror(errno));
    return map_again(c, room);
}

static size_t cells_bytes(int64_t n, sp_tensor *const *cells)
{
    size_t bytes = 0;
    for (int64_t i = 0; i < n; i++) bytes += sizeof(cell_head) + filled(sp_tensor_bytes(cells[i]));
    return bytes;
}

static sp_status write_cells(channel *c, int64_t n, sp_tensor *const *cells, message *m)
{
    m->bytes = cells_bytes(n, cells);
    SP_TRY(make_room(c, m->bytes));
    m->n_values = (int32_t)n;
    m->room = c->room;
    size_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        sp_tensor *cell = NULL;
        SP_TRY(sp_tensor_contiguous(cells[i], &cell));
        cell_head head = {.dtype = cell->dtype, .rank = cell->rank, .bytes = sp_tensor_bytes(cell)};
        memcpy(head.dims, cell->dims, (size_t)cell->rank * sizeof *head.dims);
        memcpy(c->data + at, &head, sizeof head);
        if (head.bytes) memcpy(c->data + at + sizeof head, cell->data, head.bytes);
        at += sizeof head + filled(head.bytes);
        sp_tensor_release(cell);
    }
    return SP_OK;
}

/* Cell number i of those at *at, which goes on behind it. The other side is ours, but a user's code runs there. */
static sp_status read_cell(const channel *c, const message *m, size_t *at, sp_tensor **out)
{
    cell_head head;
    SP_CHECK(m->bytes <= c->room && *at + sizeof head <= m->bytes, SP_RUNTIME,
             "a worker process has spoiled shared memory");
    memcpy(&head, c->data + *at, sizeof head);
    *at += sizeof head;
    SP_CHECK(head.rank >= 0 && head.rank <= SP_RANK_MAX && head.bytes <= m->bytes - *at, SP_RUNTIME,
             "a worker process has spoiled shared memory");
    SP_TRY(sp_tensor_create_from((sp_dtype)head.dtype, head.rank, head.dims, c->data + *at, out));
    *at += filled(head.bytes);
    return SP_OK;
}

/* --- messages ----------------------------------------------------------------------------------------------------------- */

static bool send_message(int socket, const message *m)
{
    ssize_t n;
    do n = send(socket, m, sizeof *m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *m;
}

/* False: the other side is gone. */
static bool receive_message(int socket, message *m)
{
    ssize_t n;
    do n = recv(socket, m, sizeof *m, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *m;
}

/* --- the pipeline's side -------------------------------------------------------------------------------------------------- */

static void pool_free(pool *p)
{
    for (int i = 0; i < p->n && p->channels; i++)
        if (p->channels[i].data) munmap(p->channels[i].data, p->channels[i].room);
    sp__lock_destroy(&p->lock);
    Py_XDECREF(p->owner);
    free(p->channels);
    free(p);
}

static int take_channels(pool *p, PyObject *list)
{
    p->n = (int)PyList_Size(list);
    p->channels = calloc((size_t)p->n + 1, sizeof *p->channels);
    if (!p->channels) {
        sp__py_no_memory();
        return -1;
    }
    for (int i = 0; i < p->n; i++) {
        channel *c = &p->channels[i];
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "iil", &c->socket, &c->memory, &c->pid)) return -1;
    }
    return 0;
}

sp_status sp__py_workers_open(void *context, void **opened)
{
    const sp_py_function *f = context;
    PyGILState_STATE state = PyGILState_Ensure();
    sp_status status = SP_OK;
    pool *p = calloc(1, sizeof *p);
    PyObject *module = p ? PyImport_ImportModule("spore.dataset._workers") : sp__py_no_memory(), *list = NULL;
    if (p) {
        sp__lock_init(&p->lock);
        p->name = f->name;
    }
    if (module) p->owner = PyObject_CallMethod(module, "Pool", "Oiis", f->callable, (int)f->how, f->processes, f->name);
    if (p && p->owner) list = PyObject_GetAttrString(p->owner, "channels");
    if (list && take_channels(p, list) == 0) {
        *opened = p;
    } else {
        sp_row_call call = {.fault = NULL};
        status = sp__py_row_failed(&call);
        Py_XDECREF((PyObject *)call.fault);
        sp__error_context("%s: worker processes cannot be started", f->name);
        if (p) pool_free(p);
    }
    Py_XDECREF(list);
    Py_XDECREF(module);
    PyGILState_Release(state);
    return status;
}

void sp__py_workers_stop(void *opened)
{
    pool *p = opened;
    sp__lock(&p->lock);
    atomic_store(&p->stop, true);
    sp__cond_broadcast(&p->idle);
    sp__unlock(&p->lock);
    for (int i = 0; i < p->n; i++) shutdown(p->channels[i].socket, SHUT_RDWR);
}

void sp__py_workers_close(void *opened)
{
    pool *p = opened;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace; /* this may happen while an exception is on its way */
    PyErr_Fetch(&type, &value, &trace);
    PyObject *done = PyObject_CallMethod(p->owner, "close", NULL);
    if (!done) PyErr_WriteUnraisable(p->owner);
    Py_XDECREF(done);
    pool_free(p);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
}

/* A process that is free, waited for; NULL when there will be none. */
static channel *take_channel(pool *p)
{
    channel *found = NULL;
    sp__lock(&p->lock);
    while (!atomic_load(&p->stop) && !found && p->n_dead < p->n) {
        for (int i = 0; i < p->n && !found; i++)
            if (!p->channels[i].busy && !p->channels[i].dead) found = &p->channels[i];
        if (!found) sp__cond_wait(&p->idle, &p->lock);
    }
    if (found) found->busy = true;
    sp__unlock(&p->lock);
    return found;
}

static void give_channel(pool *p, channel *c, bool dead)
{
    sp__lock(&p->lock);
    c->busy = false;
    if (dead && !c->dead) p->n_dead++;
    c->dead = c->dead || dead;
    if (p->n_dead == p->n) sp__cond_broadcast(&p->idle);
    else sp__cond_signal(&p->idle);
    sp__unlock(&p->lock);
}

/* How the process ended: words of its owner. */
static sp_status fail_ended(pool *p, const channel *c)
{
    if (atomic_load(&p->stop)) return sp__fail(SP_RUNTIME, "the iterator has been closed");
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *text = PyObject_CallMethod(p->owner, "ending", "l", c->pid);
    const char *words = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    const sp_status status =
        sp__fail(SP_RUNTIME, "worker process %ld has ended%s while it worked on this row", c->pid, words ? words : "");
    PyErr_Clear();
    Py_XDECREF(text);
    PyGILState_Release(state);
    return status;
}

/* The exception that the process has pickled. */
static sp_status fail_raised(pool *p, const channel *c, const message *m, sp_row_call *call)
{
    SP_CHECK(m->bytes <= c->room, SP_RUNTIME, "a worker process has spoiled shared memory");
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *exception = PyObject_CallMethod(p->owner, "exception", "y#l", c->data, (Py_ssize_t)m->bytes, c->pid);
    if (exception) call->fatal = false;
    const sp_status status = exception ? sp__py_row_failed_with(call, exception) : sp__py_row_failed(call);
    PyGILState_Release(state);
    return status;
}

static sp_status read_values(const channel *c, const message *m, int n_out, sp_tensor **out)
{
    size_t at = 0;
    sp_status status =
        m->n_values == n_out ? SP_OK : sp__fail(SP_RUNTIME, "a worker process has spoiled shared memory");
    for (int i = 0; i < n_out && status == SP_OK; i++) status = read_cell(c, m, &at, &out[i]);
    for (int i = 0; i < n_out && status != SP_OK; i++) {
        sp_tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

sp_status sp__py_workers_call(sp_row_call *call, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    pool *p = call->opened;
    channel *c = take_channel(p);
    call->fatal = true; /* but for exceptions of the function, what goes wrong has nothing to do with the row */
    if (!c)
        return sp__fail(SP_RUNTIME,
                        atomic_load(&p->stop) ? "the iterator has been closed" : "all %d worker processes have ended",
                        p->n);
    message m = {.kind = MESSAGE_CALL,
                 .n_in = n_in,
                 .n_out = n_out,
                 .epoch = call->epoch,
                 .row = call->row,
                 .id = call->id,
                 .n_rows = call->n_rows,
                 .seed = call->seed};
    sp_status status = write_cells(c, call->n_rows * n_in, in, &m); /* of a source, n_in is 0 */
    bool dead = false;
    if (status == SP_OK) {
        dead = !send_message(c->socket, &m) || !receive_message(c->socket, &m);
        if (dead) status = fail_ended(p, c);
        else status = map_again(c, m.room);
    }
    if (status == SP_OK) {
        if (m.kind == MESSAGE_END) call->end = true;
        else if (m.kind == MESSAGE_FAILED) status = fail_raised(p, c, &m, call);
        else status = read_values(c, &m, n_out, out);
    }
    give_channel(p, c, dead);
    return status;
}

/* --- the process's side --------------------------------------------------------------------------------------------------- */

/* What a call needs of Python, for one process. */
typedef struct server {
    channel c;
    sp_py_call how;
    PyObject *function, *prepare, *pack;
} server;

static PyObject *call_function(server *s, const message *m)
{
    const int64_t n = m->n_values;
    sp_tensor **in = calloc((size_t)n + 1, sizeof *in);
    size_t at = 0;
    sp_status status = in ? SP_OK : sp__fail(SP_NOMEM, "out of memory");
    for (int64_t i = 0; i < n && status == SP_OK; i++) status = read_cell(&s->c, m, &at, &in[i]);
    PyObject *args = NULL, *result = NULL;
    const sp_row_call call = {.epoch = m->epoch, .row = m->row, .id = m->id, .n_rows = m->n_rows};
    if (status == SP_OK) args = sp__py_row_arguments(s->how, &call, m->n_in, in);
    else sp__py_fail(status);
    PyObject *ready = args ? PyObject_CallFunction(s->prepare, "K", (unsigned long long)m->seed) : NULL;
    if (ready) result = PyObject_CallObject(s->function, args);
    Py_XDECREF(ready);
    Py_XDECREF(args);
    for (int64_t i = 0; i < n && in; i++) sp_tensor_release(in[i]);
    free(in);
    return result;
}

/* The exception at hand becomes the answer. */
static int answer_failure(server *s, message *m)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace && value) PyException_SetTraceback(value, trace);
    PyObject *packed = PyObject_CallFunctionObjArgs(s->pack, value ? value : Py_None, NULL);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    char *bytes = NULL;
    Py_ssize_t n = 0;
    if (!packed || PyBytes_AsStringAndSize(packed, &bytes, &n) < 0) {
        Py_XDECREF(packed);
        return -1;
    }
    const sp_status status = make_room(&s->c, (size_t)n);
    if (status == SP_OK) memcpy(s->c.data, bytes, (size_t)n);
    Py_DECREF(packed);
    m->kind = MESSAGE_FAILED;
    m->bytes = (uint64_t)n;
    m->room = s->c.room;
    if (status != SP_OK) sp__py_fail(status);
    return status == SP_OK ? 0 : -1;
}

static int answer(server *s, message *m)
{
    sp_tensor *out[SP_COLUMNS_MAX] = {NULL};
    sp_row_call call = {.end = false};
    PyObject *result = m->n_out <= SP_COLUMNS_MAX ? call_function(s, m) : NULL;
    const int taken = result ? sp__py_row_answer(s->how, result, &call, m->n_out, out) : -1;
    Py_XDECREF(result);
    if (taken < 0) return answer_failure(s, m);
    m->kind = call.end ? MESSAGE_END : MESSAGE_VALUES;
    const int n = call.end ? 0 : m->n_out;
    const sp_status status = write_cells(&s->c, n, out, m);
    for (int i = 0; i < n; i++) sp_tensor_release(out[i]);
    if (status == SP_OK) return 0;
    sp__py_fail(status);
    return answer_failure(s, m);
}

/* worker_serve(socket, memory, how, function, prepare, pack): answer calls until the other side is gone. */
static PyObject *serve(PyObject *self, PyObject *args)
{
    server s = {.how = SP_PY_CALL_ROW};
    int how;
    (void)self;
    if (!PyArg_ParseTuple(args, "iiiOOO:worker_serve", &s.c.socket, &s.c.memory, &how, &s.function, &s.prepare,
                          &s.pack))
        return NULL;
    s.how = (sp_py_call)how;
    for (;;) {
        message m;
        bool more;
        Py_BEGIN_ALLOW_THREADS more = receive_message(s.c.socket, &m);
        Py_END_ALLOW_THREADS if (!more) break;
        const sp_status status = map_again(&s.c, m.room);
        if (status != SP_OK) {
            sp__py_fail(status);
            if (answer_failure(&s, &m) < 0) return NULL;
        } else if (answer(&s, &m) < 0) {
            return NULL;
        }
        if (!send_message(s.c.socket, &m)) break;
    }
    if (s.c.data) munmap(s.c.data, s.c.room);
    Py_RETURN_NONE;
}

/* die_with_parent(pipe, signal): be killed when the last writer of the pipe is gone, which is when the parent ends however
 * it ends; and, if `signal`, when the thread that made this process ends. */
static PyObject *die_with_parent(PyObject *self, PyObject *args)
{
    int pipe, by_signal;
    (void)self;
    if (!PyArg_ParseTuple(args, "ip:die_with_parent", &pipe, &by_signal)) return NULL;
    if (by_signal) prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* F_SETSIG needs _GNU_SOURCE, as memfd does; the kernel sends the signal when the pipe becomes readable: at its end. */
    if (fcntl(pipe, F_SETOWN, getpid()) < 0 || fcntl(pipe, F_SETSIG, SIGKILL) < 0 ||
        fcntl(pipe, F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    char c;
    if (read(pipe, &c, 1) != 0) Py_RETURN_NONE;
    PyErr_SetNone(PyExc_SystemExit); /* it ended before this was set up */
    return NULL;
}

static PyMethodDef functions[] = {
    {"worker_serve", serve, METH_VARARGS, "worker_serve(socket, memory, how, function, prepare, pack)"},
    {"die_with_parent", die_with_parent, METH_VARARGS, "die_with_parent(pipe, signal)"},
    {NULL, NULL, 0, NULL}};

int sp__py_add_workers(PyObject *module) { return PyModule_AddFunctions(module, functions); }
