/* SPDX-License-Identifier: Apache-2.0 */
/* py_graph.c - recording functions, and running programs, for Python.
 *
 * The plain verbs of graph.h; the capture of Python code is written with them in python/spore/graph. A graph and a function are
 * capsules; a program is an object, called often. Code of Python inside a program (print, raise, what cannot be compiled) is
 * a host node: it takes the interpreter lock, and its exception reaches the caller of the program as it was raised. */
#include "eager/eager.h"
#include "ir/written.h"
#include "py_lists.h"
#include "spore/parallel.h"

PyObject *sp__py_symbol_error;

bool sp__py_has_value(const sp_tensor *t)
{
    if (!sp__py_is_recorded(t)) return true;
    if (t->symbol) {
        sp__py_fail(sp__tensor_need_value(t));
    } else {
        PyErr_SetString(
            sp__py_symbol_error,
            "the value of a Parameter is needed while the function is being compiled, but it may change before the "
            "function runs");
    }
    return false;
}

bool sp__py_sizes_known(const sp_tensor *t)
{
    if (!t->symbol || t->count >= 0) return true;
    PyErr_SetString(sp__py_symbol_error, "a dimension of the Tensor is known only when the function runs");
    return false;
}

sp_status sp__py_alias(sp_tensor *t, sp_tensor **out)
{
    *out = NULL;
    if (sp__recorder) SP_TRY(sp__record_read(t, out));
    return *out ? SP_OK : sp__tensor_alias(t, out);
}

/* --- capsules ---------------------------------------------------------------------------------------------------- */

static const char GRAPH[] = "spore.graph", FUNCTION[] = "spore.function";

static void graph_free(PyObject *o) { sp_graph_release(PyCapsule_GetPointer(o, GRAPH)); }
/* A function lives in its graph: the capsule keeps that. */
static void function_free(PyObject *o) { sp_graph_release(((sp_function *)PyCapsule_GetPointer(o, FUNCTION))->graph); }

static PyObject *function_capsule(sp_function *f)
{
    sp_graph_retain(f->graph);
    PyObject *o = PyCapsule_New(f, FUNCTION, function_free);
    if (!o) sp_graph_release(f->graph);
    return o;
}

static sp_graph *graph_of(PyObject *o) { return PyCapsule_GetPointer(o, GRAPH); }
static sp_function *function_of(PyObject *o) { return PyCapsule_GetPointer(o, FUNCTION); }

/* [(dtype, shape), ...] into *out, allocated; their number or -1. */
static Py_ssize_t specs_read(PyObject *o, sp_spec **out)
{
    PyObject *list = PySequence_Tuple(o);
    if (!list) return -1;
    Py_ssize_t n = PyTuple_Size(list);
    sp_spec *specs = PyMem_Calloc((size_t)n + 1, sizeof *specs);
    if (!specs) {
        Py_DECREF(list);
        sp__py_no_memory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *dtype, *shape;
        int d;
        if (!PyArg_ParseTuple(PyTuple_GetItem(list, i), "OO:spec", &dtype, &shape) || (d = sp__py_dtype(dtype)) == -2 ||
            (specs[i].rank = sp__py_ints(shape, specs[i].dims, SP_RANK_MAX, "shape")) < 0) {
            PyMem_Free(specs);
            Py_DECREF(list);
            return -1;
        }
        specs[i].dtype = (sp_dtype)d;
    }
    Py_DECREF(list);
    *out = specs;
    return n;
}

/* --- functions --------------------------------------------------------------------------------------------------- */

static PyObject *graph_create(PyObject *self, PyObject *args)
{
    (void)self;
    int keeps_sources = 0;
    sp_graph *g;
    if (!PyArg_ParseTuple(args, "|p:graph_create", &keeps_sources)) return NULL;
    SP_PY_TRY(sp_graph_create(&g));
    g->keeps_sources = keeps_sources;
    PyObject *o = PyCapsule_New(g, GRAPH, graph_free);
    if (!o) sp_graph_release(g);
    return o;
}

static PyObject *function_begin(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *graph, *list;
    const char *name;
    sp_spec *specs;
    if (!PyArg_ParseTuple(args, "OsO:function_begin", &graph, &name, &list)) return NULL;
    /* A function stands for its graph too. */
    sp_graph *g = PyCapsule_IsValid(graph, FUNCTION) ? function_of(graph)->graph : graph_of(graph);
    Py_ssize_t n = g ? specs_read(list, &specs) : -1;
    if (n < 0) return NULL;
    sp_tensor **params = PyMem_Calloc((size_t)n + 1, sizeof *params);
    sp_function *f = NULL;
    PyObject *capsule = NULL, *tuple = NULL, *result = NULL;
    sp_status status = params ? sp_function_begin(g, name, (int)n, specs, &f, params) : SP_NOMEM;
    if (status != SP_OK) {
        sp__py_fail(status);
        goto done;
    }
    tuple = sp__py_tuple_take(n, params);
    capsule = function_capsule(f);
    if (tuple && capsule) result = PyTuple_Pack(2, capsule, tuple);
    if (!result) sp_function_abandon(f);
done:
    Py_XDECREF(tuple);
    Py_XDECREF(capsule);
    PyMem_Free(params);
    PyMem_Free(specs);
    return result;
}

static PyObject *function_end(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *results;
    sp_py_list list;
    if (!PyArg_ParseTuple(args, "OO:function_end", &function, &results)) return NULL;
    sp_function *f = function_of(function);
    if (!f || sp__py_list_read(results, "results", false, &list) < 0) return NULL;
    sp_status status = sp_function_end(f, (int)list.n, list.v);
    sp__py_list_free(&list);
    SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *function_end_call(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *callee, *arguments;
    sp_py_list list;
    if (!PyArg_ParseTuple(args, "OOO:function_end_call", &function, &callee, &arguments)) return NULL;
    sp_function *f = function_of(function);
    sp_tensor *c = f ? sp__py_tensor(callee) : NULL;
    if (!c || sp__py_list_read(arguments, "args", false, &list) < 0) return NULL;
    sp_status status = sp_function_end_call(f, c, (int)list.n, list.v);
    sp__py_list_free(&list);
    SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *function_abandon(PyObject *self, PyObject *o)
{
    (void)self;
    sp_function *f = function_of(o);
    if (!f) return NULL;
    sp_function_abandon(f);
    Py_RETURN_NONE;
}

/* Whether what was recorded so far writes to a variable, or to one of the parameters, given as the Tensors that stood for them. */
static PyObject *function_writes(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *params;
    sp_py_list list;
    if (!PyArg_ParseTuple(args, "OO:function_writes", &function, &params)) return NULL;
    sp_function *f = function_of(function);
    if (!f || sp__py_list_read(params, "params", false, &list) < 0) return NULL;
    bool writes = false;
    for (const sp_node *n = f->first; n && !writes; n = n->next) writes = n->kind == SP_NODE_STORE;
    for (Py_ssize_t i = 0; i < list.n && !writes; i++) /* one that is written to stands for the new value */
        writes = !list.v[i]->symbol || list.v[i]->symbol->origin != SP_VALUE_PARAM;
    sp__py_list_free(&list);
    return PyBool_FromLong(writes);
}

static PyObject *function_recording(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    sp_function *f = sp_function_recording();
    if (!f) Py_RETURN_NONE;
    return function_capsule(f);
}

static PyObject *recording(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(sp__recorder != NULL);
}

static PyObject *function_value(PyObject *self, PyObject *o)
{
    (void)self;
    sp_function *f = function_of(o);
    sp_tensor *t;
    if (!f) return NULL;
    SP_PY_TRY(sp_function_value(f, &t));
    return sp__py_take_tensor(t);
}

/* Results as a tuple, or the failure. */
static PyObject *give(sp_status status, Py_ssize_t n, sp_tensor **out)
{
    return status == SP_OK ? sp__py_tuple_take(n, out) : sp__py_fail(status);
}

static PyObject *function_call(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *callee, *arguments, *results, *given = NULL;
    sp_py_list list;
    sp_spec *specs;
    if (!PyArg_ParseTuple(args, "OOO:function_call", &callee, &arguments, &results)) return NULL;
    sp_tensor *c = sp__py_tensor(callee);
    if (!c || sp__py_list_read(arguments, "args", false, &list) < 0) return NULL;
    Py_ssize_t n = specs_read(results, &specs);
    sp_tensor **out = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *out);
    if (out) given = give(sp_function_call(c, (int)list.n, list.v, (int)n, specs, out), n, out);
    else if (n >= 0) sp__py_no_memory();
    PyMem_Free(out);
    if (n >= 0) PyMem_Free(specs);
    sp__py_list_free(&list);
    return given;
}

static PyObject *function_switch(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o[3];
    sp_tensor *t[3], *out;
    if (!PyArg_ParseTuple(args, "OOO:function_switch", &o[0], &o[1], &o[2])) return NULL;
    for (int i = 0; i < 3; i++)
        if (!(t[i] = sp__py_tensor(o[i]))) return NULL;
    SP_PY_TRY(sp_function_switch(t[0], t[1], t[2], &out));
    return sp__py_take_tensor(out);
}

static PyObject *function_grad(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *arguments, *positions, *variables, *seeds, *given = NULL;
    int n_differentiated;
    if (!PyArg_ParseTuple(args, "OOOOiO:function_grad", &function, &arguments, &positions, &variables,
                          &n_differentiated, &seeds))
        return NULL;
    sp_py_list in = {0}, weights = {0}, tangents = {0};
    sp_function *f = function_of(function);
    int64_t at[64];
    int places[64];
    int n_positions = f ? sp__py_ints(positions, at, 64, "positions") : -1;
    if (n_positions < 0 || sp__py_list_read(arguments, "args", false, &in) < 0 ||
        sp__py_list_read(variables, "variables", false, &weights) < 0 ||
        sp__py_list_read(seeds, "seeds", false, &tangents) < 0)
        goto done;
    for (int i = 0; i < n_positions; i++) places[i] = (int)at[i];
    sp_meta none[1];
    int n_results = sp__function_metas(f, 0, none);
    if (n_results < 0) {
        PyErr_SetString(PyExc_RuntimeError, "the results of the function to differentiate are not known yet");
        goto done;
    }
    Py_ssize_t n_all = in.n + tangents.n, n_out = n_results + n_positions + weights.n;
    sp_tensor **all = PyMem_Calloc((size_t)(n_all + n_out) + 1, sizeof *all), **out = all ? all + n_all : NULL;
    sp_variable **places_of = PyMem_Calloc((size_t)weights.n + 1, sizeof *places_of);
    sp_status status = all && places_of ? SP_OK : SP_NOMEM;
    for (Py_ssize_t i = 0; status == SP_OK && i < weights.n; i++)
        if (!(places_of[i] = sp__graph_variable(f->graph, weights.v[i]))) status = SP_NOMEM;
    if (status == SP_OK) {
        for (Py_ssize_t i = 0; i < in.n; i++) all[i] = in.v[i];
        for (Py_ssize_t i = 0; i < tangents.n; i++) all[in.n + i] = tangents.v[i];
        const sp_grad_spec spec = {.n_results = n_results,
                                   .n_differentiated = n_differentiated,
                                   .n_seeds = (int)tangents.n,
                                   .n_positions = n_positions,
                                   .positions = places,
                                   .n_variables = (int)weights.n,
                                   .variables = places_of};
        status = sp__function_grad(f, (int)n_all, all, &spec, out);
    }
    given = give(status, n_out, out);
    PyMem_Free(places_of);
    PyMem_Free(all);
done:
    sp__py_list_free(&in);
    sp__py_list_free(&weights);
    sp__py_list_free(&tangents);
    return given;
}

/* All args are batched, and so are the values of the variables. */
static PyObject *function_batch(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *arguments, *variables, *values, *given = NULL, *flags = NULL, *result = NULL;
    long long size;
    sp_py_list list = {0}, places = {0}, contents = {0};
    char *slow = NULL;
    sp_tensor **out = NULL;
    bool *batched = NULL;
    if (!PyArg_ParseTuple(args, "OLOOO:function_batch", &function, &size, &arguments, &variables, &values)) return NULL;
    sp_function *f = function_of(function);
    if (!f || sp__py_list_read(arguments, "args", false, &list) < 0 ||
        sp__py_list_read(variables, "variables", false, &places) < 0 ||
        sp__py_list_read(values, "values", false, &contents) < 0)
        goto done;
    if (places.n != contents.n) {
        PyErr_SetString(PyExc_ValueError, "there must be one value for every variable");
        goto done;
    }
    const size_t n_out = (size_t)f->n_results;
    out = PyMem_Calloc(n_out + 1, sizeof *out);
    batched = PyMem_Calloc((size_t)list.n + n_out + 1, sizeof *batched);
    if (!out || !batched) {
        sp__py_no_memory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < list.n; i++) batched[i] = true;
    bool *out_batched = batched + list.n;
    const sp_batch_spec spec = {
        .size = size, .batched = batched, .n_variables = (int)places.n, .variables = places.v, .values = contents.v};
    sp_status status = sp_function_batch(f, &spec, (int)list.n, list.v, (int)n_out, out, out_batched, &slow);
    if (status == SP_DECLINED) {
        result = Py_BuildValue("s", sp_error_message());
        goto done;
    }
    given = status == SP_OK || !PyErr_Occurred() ? give(status, (Py_ssize_t)n_out, out) : NULL;
    flags = given ? PyTuple_New((Py_ssize_t)n_out) : NULL;
    for (size_t i = 0; flags && i < n_out; i++) PyTuple_SetItem(flags, (Py_ssize_t)i, PyBool_FromLong(out_batched[i]));
    if (flags) result = Py_BuildValue("OOz", given, flags, slow);
done:
    Py_XDECREF(given);
    Py_XDECREF(flags);
    sp_text_free(slow);
    PyMem_Free(out);
    PyMem_Free(batched);
    sp__py_list_free(&list);
    sp__py_list_free(&places);
    sp__py_list_free(&contents);
    return result;
}

static PyObject *function_will_batch(PyObject *self, PyObject *o)
{
    (void)self;
    sp_function *f = function_of(o);
    if (!f) return NULL;
    sp_function_will_batch(f);
    Py_RETURN_NONE;
}

/* --- code of Python in a program --------------------------------------------------------------------------------- */

/* The exception raised inside a program, until its caller is back in Python. */
static _Thread_local PyObject *raised[3];

static sp_status host_run(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    PyGILState_STATE state = PyGILState_Ensure();
    sp_py_list results = {0};
    PyObject *list = PyList_New(n_in), *answer = NULL;
    sp_status status = SP_RUNTIME;
    for (int i = 0; list && i < n_in; i++) {
        PyObject *o = sp__py_take_tensor(sp_tensor_retain(in[i]));
        if (!o) Py_CLEAR(list);
        else PyList_SetItem(list, i, o);
    }
    if (list) answer = PyObject_CallFunctionObjArgs(context, list, NULL);
    if (answer && (n_out || answer != Py_None) && sp__py_list_read(answer, "results", false, &results) == 0 &&
        results.n != n_out)
        PyErr_Format(PyExc_ValueError, "code of Python in a program gave %zd Tensors, but %d are wanted", results.n,
                     n_out);
    if (PyErr_Occurred()) {
        PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
        sp__fail(SP_RUNTIME, "code of Python in a program raised an exception");
    } else {
        for (int i = 0; i < n_out; i++) out[i] = sp_tensor_retain(results.v[i]);
        status = SP_OK;
    }
    sp__py_list_free(&results);
    Py_XDECREF(answer);
    Py_XDECREF(list);
    PyGILState_Release(state);
    return status;
}

static PyObject *function_host(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    PyObject *callable, *arguments, *results, *given = NULL;
    int pure = 0;
    sp_py_list list;
    sp_spec *specs;
    if (!PyArg_ParseTuple(args, "sOOO|p:function_host", &name, &callable, &arguments, &results, &pure)) return NULL;
    if (sp__py_list_read(arguments, "args", false, &list) < 0) return NULL;
    Py_ssize_t n = specs_read(results, &specs);
    sp_tensor **out = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *out);
    if (out) {
        Py_INCREF(callable);
        sp_status status =
            sp__function_host(name, host_run, sp__py_drop, callable, pure, (int)list.n, list.v, (int)n, specs, out);
        if (status != SP_OK) Py_DECREF(callable);
        given = give(status, n, out);
    } else if (n >= 0) {
        sp__py_no_memory();
    }
    PyMem_Free(out);
    if (n >= 0) PyMem_Free(specs);
    sp__py_list_free(&list);
    return given;
}

/* A dimension of a symbol, as a number that the run tells. */
static PyObject *function_size(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o;
    int axis;
    sp_tensor *out = NULL;
    if (!PyArg_ParseTuple(args, "Oi:function_size", &o, &axis)) return NULL;
    sp_tensor *t = sp__py_tensor(o);
    if (!t) return NULL;
    SP_PY_TRY(sp__function_size(t, axis, &out));
    return sp__py_take_tensor(out);
}

/* --- marks, places, questions ------------------------------------------------------------------------------------ */

static PyObject *function_mark(PyObject *self, PyObject *o)
{
    (void)self;
    sp_function *f = function_of(o);
    if (!f) return NULL;
    sp_mark m = sp__function_mark(f);
    return Py_BuildValue("(Ni)", PyLong_FromVoidPtr(m.last), m.n_undo);
}

static PyObject *function_rollback(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *last;
    sp_mark m;
    if (!PyArg_ParseTuple(args, "O(Oi):function_rollback", &function, &last, &m.n_undo)) return NULL;
    sp_function *f = function_of(function);
    if (!f) return NULL;
    m.last = PyLong_AsVoidPtr(last);
    if (PyErr_Occurred()) return NULL;
    sp__function_rollback(f, m);
    Py_RETURN_NONE;
}

static PyObject *set_place(const sp_place *up, const char *file, int line, const char *function, const char *text)
{
    if (!sp__recorder) Py_RETURN_NONE;
    sp__arena *arena = &sp__recorder->graph->arena;
    sp_place *p = sp__arena_alloc(arena, sizeof *p);
    const char *copy = p ? sp__arena_text(arena, text) : NULL;
    if (!copy) return sp__py_no_memory();
    *p = (sp_place){.file = file, .line = line, .function = function, .text = copy, .up = up};
    sp__place = p;
    Py_RETURN_NONE;
}

static PyObject *place_push(PyObject *self, PyObject *args)
{
    (void)self;
    const char *file, *function, *text;
    int line;
    if (!PyArg_ParseTuple(args, "siss:place_push", &file, &line, &function, &text)) return NULL;
    if (!sp__recorder) Py_RETURN_NONE;
    sp__arena *arena = &sp__recorder->graph->arena;
    const char *kept_file = sp__arena_text(arena, file), *kept_function = sp__arena_text(arena, function);
    if (!kept_file || !kept_function) return sp__py_no_memory();
    return set_place(sp__place, kept_file, line, kept_function, text);
}

static PyObject *place_line(PyObject *self, PyObject *args)
{
    (void)self;
    const char *text;
    int line;
    if (!PyArg_ParseTuple(args, "is:place_line", &line, &text)) return NULL;
    if (!sp__place) Py_RETURN_NONE;
    return set_place(sp__place->up, sp__place->file, line, sp__place->function, text);
}

static PyObject *place_pop(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (sp__place) sp__place = sp__place->up;
    Py_RETURN_NONE;
}

static PyObject *is_symbol(PyObject *self, PyObject *o)
{
    (void)self;
    if (!sp__py_is_tensor(o)) Py_RETURN_FALSE;
    sp_tensor *t = ((sp_py_tensor *)o)->t;
    return PyBool_FromLong(t && t->symbol);
}

/* Number of the value that a symbol stands for now: it changes when the Tensor is written to. -1 for other Tensors. */
static PyObject *symbol_id(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_is_tensor(o) ? ((sp_py_tensor *)o)->t : NULL;
    return PyLong_FromLong(t && t->symbol ? t->symbol->id : -1);
}

/* written_handles(): Tensors around the handles that were there before the function being recorded and that it wrote to. */
static PyObject *written_handles(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    PyObject *list = PyList_New(0);
    sp_tensor *t;
    for (int i = 0; list && sp__recorder && (t = sp__function_written(sp__recorder, i)) != NULL; i++) {
        PyObject *one = sp__py_take_tensor(sp_tensor_retain(t));
        if (!one || PyList_Append(list, one) < 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* handle_id(tensor): the same number for all Tensor objects around one handle. */
static PyObject *handle_id(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    return t ? PyLong_FromVoidPtr(t) : NULL;
}

/* handle_value(tensor): another handle on what it stands for now. */
static PyObject *handle_value(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o), *made = NULL;
    if (!t) return NULL;
    const sp_status status = t->symbol ? sp__symbol_create(t->symbol, &made) : sp__tensor_alias(t, &made);
    return status == SP_OK ? sp__py_take_tensor(made) : sp__py_fail(status);
}

/* handle_is_parameter(tensor): whether it is a Parameter, or the symbol of one that is differentiated. */
static PyObject *handle_is_parameter(PyObject *self, PyObject *o)
{
    (void)self;
    const sp_tensor *t = sp__py_tensor(o);
    return t ? PyBool_FromLong(t->flags & SP_TENSOR_PARAMETER) : NULL;
}

/* handle_twin(tensor): the same, with its history. */
static PyObject *handle_twin(PyObject *self, PyObject *o)
{
    PyObject *made = handle_value(self, o);
    if (made) sp__grad_share(sp__py_tensor(made), sp__py_tensor(o));
    return made;
}

/* handle_set(tensor, value): the handle stands for the value of another one until the function being recorded ends. */
static PyObject *handle_set(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o, *value;
    if (!PyArg_ParseTuple(args, "OO", &o, &value)) return NULL;
    sp_tensor *t = sp__py_tensor(o), *v = t ? sp__py_tensor(value) : NULL;
    if (!v) return NULL;
    const sp_status status = sp__symbol_rebind(t, v);
    if (status != SP_OK) return sp__py_fail(status);
    Py_RETURN_NONE;
}

/* Is v one of the node's inputs, and may what the node gives share its memory when everything is computed at once? */
static bool shown_by(const sp_value *v, const sp_node *n)
{
    for (int i = 0; i < n->n_in && n->kind == SP_NODE_OP && n->op->view; i++)
        if (n->in[i] == v) return true;
    return false;
}

/* Whether plain Python would let a write to this Tensor be seen through another one: it is a view, there are views of it, or it
 * came out of a call, which may have given back what it got. */
static PyObject *symbol_shared(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_is_tensor(o) ? ((sp_py_tensor *)o)->t : NULL;
    const sp_value *v = t ? t->symbol : NULL;
    if (!v) Py_RETURN_FALSE;
    if (v->origin == SP_VALUE_NODE &&
        (v->node->kind == SP_NODE_CALL || (v->node->kind == SP_NODE_OP && v->node->op->view)))
        Py_RETURN_TRUE;
    for (const sp_function *f = sp__recorder; f; f = f->parent)
        for (const sp_node *n = f->first; n; n = n->next)
            if (shown_by(v, n)) Py_RETURN_TRUE;
    Py_RETURN_FALSE;
}

/* True for what a program reads each time it runs: symbols and, while recording, Parameters. */
static PyObject *is_recorded(PyObject *self, PyObject *o)
{
    (void)self;
    if (!sp__py_is_tensor(o)) Py_RETURN_FALSE;
    sp_tensor *t = ((sp_py_tensor *)o)->t;
    return PyBool_FromLong(t && sp__py_is_recorded(t));
}

/* Shape with -1 for dimensions that are known at run time only. */
static PyObject *symbol_shape(PyObject *self, PyObject *o)
{
    (void)self;
    if (!sp__py_is_tensor(o))
        return PyErr_Format(PyExc_TypeError, "a Tensor is wanted, but got %s", sp__py_type_name(o));
    return sp__py_shape(((sp_py_tensor *)o)->t);
}

/* Does some function of the graph store to this Parameter? */
static PyObject *graph_writes(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *capsule, *o;
    if (!PyArg_ParseTuple(args, "OO:graph_writes", &capsule, &o)) return NULL;
    const sp_graph *g = graph_of(capsule);
    const sp_tensor *t = g ? sp__py_tensor(o) : NULL;
    if (!t) return NULL;
    for (int i = 0; i < g->n_variables; i++)
        if (g->variables[i]->tensor == t) return PyBool_FromLong(g->variables[i]->written);
    Py_RETURN_FALSE;
}

/* outside_mark(tensor, on): whether it is a constant of a recording that others hold too. */
static PyObject *outside_mark(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o;
    int on;
    if (!PyArg_ParseTuple(args, "Op", &o, &on)) return NULL;
    sp_tensor *t = sp__py_is_tensor(o) ? ((sp_py_tensor *)o)->t : NULL;
    if (t && on) t->flags |= SP_TENSOR_OUTSIDE;
    else if (t) t->flags &= (uint8_t)~SP_TENSOR_OUTSIDE;
    Py_RETURN_NONE;
}

static PyObject *variable_mark(PyObject *self, PyObject *o)
{
    (void)self;
    sp_tensor *t = sp__py_tensor(o);
    if (!t) return NULL;
    sp_graph_variable_mark(t);
    Py_RETURN_NONE;
}

/* text by address: the call that sets it is the other argument, and C may look at either first. */
static PyObject *take_text(sp_status status, char *const *text_at)
{
    if (status != SP_OK) return sp__py_fail(status);
    char *text = *text_at;
    PyObject *o = PyUnicode_FromString(text);
    sp_text_free(text);
    return o;
}

/* Of a graph, or of the graph a function belongs to. */
static PyObject *graph_text(PyObject *self, PyObject *o)
{
    (void)self;
    sp_graph *g = PyCapsule_IsValid(o, FUNCTION) ? function_of(o)->graph : graph_of(o);
    char *text = NULL;
    return g ? take_text(sp_graph_text(g, &text), &text) : NULL;
}

/* The handle_id of each variable of a graph, or of the graph a function belongs to, in their order. */
static PyObject *graph_variables(PyObject *self, PyObject *o)
{
    (void)self;
    sp_graph *g = PyCapsule_IsValid(o, FUNCTION) ? function_of(o)->graph : graph_of(o);
    PyObject *list = g ? PyList_New(g->n_variables) : NULL;
    for (int i = 0; list && i < g->n_variables; i++) {
        PyObject *id = PyLong_FromVoidPtr(g->variables[i]->tensor);
        if (!id || PyList_SetItem(list, i, id) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *graph_parse(PyObject *self, PyObject *text)
{
    (void)self;
    sp_graph *g;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    if (!utf8) return NULL;
    SP_PY_TRY(sp_graph_parse(utf8, &g));
    PyObject *o = PyCapsule_New(g, GRAPH, graph_free);
    if (!o) sp_graph_release(g);
    return o;
}

static PyObject *graph_dot(PyObject *self, PyObject *o)
{
    (void)self;
    sp_graph *g = graph_of(o);
    char *text = NULL;
    return g ? take_text(sp_graph_dot(g, &text), &text) : NULL;
}

/* --- programs ---------------------------------------------------------------------------------------------------- */

typedef struct py_program {
    PyObject_HEAD sp_program *p;
} py_program;

static PyTypeObject *program_type;

static void program_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    sp_program_release(((py_program *)self)->p);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* Slices of the axes of arguments, a tuple for each, into one block; NULL with an exception. */
static sp_ints *read_splits(PyObject *list, int *n_args)
{
    const Py_ssize_t n = PySequence_Size(list);
    if (n < 0) return NULL;
    sp_ints *out = PyMem_Calloc((size_t)n + 1, sizeof *out + SP_RANK_MAX * sizeof(int64_t));
    if (!out) return (sp_ints *)PyErr_NoMemory();
    int64_t *numbers = (int64_t *)(void *)(out + n + 1);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PySequence_GetItem(list, i);
        const Py_ssize_t rank = one ? PySequence_Size(one) : -1;
        out[i] = (sp_ints){(int)rank, numbers + i * SP_RANK_MAX};
        for (Py_ssize_t k = 0; k < rank && k < SP_RANK_MAX; k++) {
            PyObject *number = PySequence_GetItem(one, k);
            numbers[i * SP_RANK_MAX + k] = number ? PyLong_AsLongLong(number) : -1;
            Py_XDECREF(number);
        }
        Py_XDECREF(one);
        if (rank > SP_RANK_MAX) PyErr_Format(PyExc_ValueError, "an argument is split along %zd axes", rank);
        if (!PyErr_Occurred()) continue;
        PyMem_Free(out);
        return NULL;
    }
    *n_args = (int)n;
    return out;
}

static PyObject *program_create(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *function, *folder = NULL, *splits = NULL;
    sp_program_options options = {.struct_size = sizeof options};
    sp_sharding sharding = {.struct_size = sizeof sharding};
    sp_ints *list = NULL;
    int fast = 0, split_results = 0;
    if (!PyArg_ParseTuple(args, "O|zpO&iOpizi:program_create", &function, &options.off, &fast, PyUnicode_FSConverter,
                          &folder, &options.save_level, &splits, &split_results, &sharding.stages, &sharding.scheduler,
                          &sharding.search))
        return NULL;
    sp_function *f = function_of(function);
    options.fast = fast;
    options.save_graphs = folder && options.save_level ? PyBytes_AsString(folder) : NULL;
    if (f && splits) {
        if (!(list = read_splits(splits, &sharding.n_args))) f = NULL;
        sharding.args = list;
        sharding.split_results = split_results;
        options.sharding = &sharding;
    }
    sp_program *p = NULL;
    sp_status status = SP_OK;
    if (f && splits) { /* other ranks take part */
        Py_BEGIN_ALLOW_THREADS status = sp_program_create(f, &options, &p);
        Py_END_ALLOW_THREADS
    } else if (f) {
        status = sp_program_create(f, &options, &p);
    }
    Py_XDECREF(folder);
    PyMem_Free(list);
    if (!f) return NULL;
    SP_PY_TRY(status);
    allocfunc alloc = PyType_GetSlot(program_type, Py_tp_alloc);
    py_program *o = (py_program *)alloc(program_type, 0);
    if (!o) sp_program_release(p);
    else o->p = p;
    return (PyObject *)o;
}

static PyObject *program_cost(PyObject *self, PyObject *object)
{
    (void)self;
    if (!PyObject_TypeCheck(object, program_type))
        return PyErr_Format(PyExc_TypeError, "program_cost: a program is wanted");
    char *json;
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_program_cost(((py_program *)object)->p, &json);
    Py_END_ALLOW_THREADS SP_PY_TRY(status);
    PyObject *text = PyUnicode_FromString(json);
    sp_text_free(json);
    return text;
}

static PyObject *program_cache(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *folder = NULL;
    unsigned long long most = 0;
    if (!PyArg_ParseTuple(args, "O&|K:program_cache", PyUnicode_FSConverter, &folder, &most)) return NULL;
    const sp_status status = sp_program_cache(PyBytes_AsString(folder)[0] ? PyBytes_AsString(folder) : NULL, most);
    Py_DECREF(folder);
    SP_PY_TRY(status);
    Py_RETURN_NONE;
}

enum { FEW = 32 };

static PyObject *program_run(PyObject *self, PyObject *args)
{
    sp_program *p = ((py_program *)self)->p;
    sp_py_list list;
    int n_out = sp_program_results(p);
    if (n_out < 0) return PyErr_Format(PyExc_RuntimeError, "the number of results of the program is not known");
    if (sp__py_list_read(args, "args", false, &list) < 0) return NULL;
    sp_tensor *few[FEW] = {NULL}, **out = n_out <= FEW ? few : PyMem_Calloc((size_t)n_out, sizeof *out);
    if (!out) {
        sp__py_list_free(&list);
        return sp__py_no_memory();
    }
    sp_status status;
    Py_BEGIN_ALLOW_THREADS status = sp_program_run(p, (int)list.n, list.v, n_out, out);
    Py_END_ALLOW_THREADS if (status != SP_OK && raised[0])
    {
        PyErr_Restore(raised[0], raised[1], raised[2]);
        raised[0] = raised[1] = raised[2] = NULL;
    }
    PyObject *given = give(status, n_out, out);
    if (out != few) PyMem_Free(out);
    sp__py_list_free(&list);
    return given;
}

static PyObject *program_report(PyObject *self, PyObject *unused)
{
    (void)unused;
    char *text = NULL;
    return take_text(sp_program_report(((py_program *)self)->p, &text), &text);
}

static PyMethodDef program_methods[] = {
    {"run", program_run, METH_O, "run(tensors)\n--\n\nRun with the given arguments; a tuple of Tensors."},
    {"report", program_report, METH_NOARGS, "report()\n--\n\nWhat the passes did and what the plan needs."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot program_slots[] = {
    {Py_tp_dealloc, program_dealloc}, {Py_tp_methods, program_methods}, {Py_tp_doc, "A compiled function."}, {0, NULL}};
static PyType_Spec program_spec = {.name = "spore._core.Program",
                                   .basicsize = sizeof(py_program),
                                   .flags = Py_TPFLAGS_DEFAULT,
                                   .slots = program_slots};

static PyMethodDef functions[] = {
    {"graph_create", graph_create, METH_VARARGS,
     "graph_create(keeps_sources=False)\n--\n\nA new graph; keeps_sources: operators without inputs are recorded in it."},
    {"graph_writes", graph_writes, METH_VARARGS, "graph_writes(graph, parameter)\n--\n\nDoes the graph store to it?"},
    {"graph_text", graph_text, METH_O, "graph_text(graph)\n--\n\nThe graph as text."},
    {"graph_variables", graph_variables, METH_O,
     "graph_variables(graph)\n--\n\nThe handle_id of each of its variables."},
    {"graph_parse", graph_parse, METH_O, "graph_parse(text)\n--\n\nThe graph that graph_text described."},
    {"graph_dot", graph_dot, METH_O, "graph_dot(graph)\n--\n\nThe graph as a drawing for Graphviz."},
    {"function_begin", function_begin, METH_VARARGS,
     "function_begin(graph, name, specs)\n--\n\nStart recording; gives (function, parameters)."},
    {"function_end", function_end, METH_VARARGS, "function_end(function, results)\n--\n\nFinish with results."},
    {"function_end_call", function_end_call, METH_VARARGS,
     "function_end_call(function, callee, args)\n--\n\nFinish with a call whose results are the function's."},
    {"function_abandon", function_abandon, METH_O, "function_abandon(function)\n--\n\nGive up recording."},
    {"function_writes", function_writes, METH_VARARGS,
     "function_writes(function, params)\n--\n\nHas a variable, or one of these parameters, been written to while recording?"},
    {"function_recording", function_recording, METH_NOARGS, "function_recording()\n--\n\nInnermost function, or None."},
    {"recording", recording, METH_NOARGS, "recording()\n--\n\nIs a function being recorded on this thread?"},
    {"function_value", function_value, METH_O, "function_value(function)\n--\n\nThe function as a value."},
    {"function_call", function_call, METH_VARARGS, "function_call(callee, args, specs)\n--\n\nCall a function value."},
    {"function_switch", function_switch, METH_VARARGS,
     "function_switch(cond, yes, no)\n--\n\nChoose a function value."},
    {"function_will_batch", function_will_batch, METH_O,
     "function_will_batch(function)\n--\n\nWhile it is recorded: function_batch will be called."},
    {"function_batch", function_batch, METH_VARARGS,
     "function_batch(function, size, args, variables, values)\n--\n\n(results, whether each is batched, names of operators that ran slice by slice); "
     "a text when it cannot be done."},
    {"function_grad", function_grad, METH_VARARGS,
     "function_grad(function, args, positions, variables, n_differentiated, seeds)\n--\n\nResults, then gradients."},
    {"function_size", function_size, METH_VARARGS,
     "function_size(tensor, axis)\n--\n\nThe size of a dimension of a symbol, as a symbol: a whole number that the run tells."},
    {"function_host", function_host, METH_VARARGS,
     "function_host(name, callable, args, specs, pure=False)\n--\n\nCode of Python, run each time the program gets there."},
    {"function_mark", function_mark, METH_O, "function_mark(function)\n--\n\nA point to come back to."},
    {"function_rollback", function_rollback, METH_VARARGS,
     "function_rollback(function, mark)\n--\n\nForget what came after."},
    {"place_push", place_push, METH_VARARGS,
     "place_push(file, line, function, text)\n--\n\nEnter a frame of the source."},
    {"place_line", place_line, METH_VARARGS, "place_line(line, text)\n--\n\nThe line that is recorded now."},
    {"place_pop", place_pop, METH_NOARGS, "place_pop()\n--\n\nLeave the frame."},
    {"is_symbol", is_symbol, METH_O, "is_symbol(o)\n--\n\nIs it a Tensor without a value yet?"},
    {"symbol_id", symbol_id, METH_O, "symbol_id(o)\n--\n\nNumber of the value a symbol stands for now, or -1."},
    {"written_handles", written_handles, METH_NOARGS,
     "written_handles()\n--\n\nTensors from before this function that it wrote to."},
    {"handle_id", handle_id, METH_O, "handle_id(tensor)\n--\n\nThe same for all objects around one Tensor."},
    {"handle_value", handle_value, METH_O, "handle_value(tensor)\n--\n\nAnother Tensor of the same value."},
    {"handle_is_parameter", handle_is_parameter, METH_O,
     "handle_is_parameter(tensor)\n--\n\nIs it a Parameter, or the symbol of one?"},
    {"handle_twin", handle_twin, METH_O, "handle_twin(tensor)\n--\n\nAnother Tensor of the same value and history."},
    {"handle_set", handle_set, METH_VARARGS,
     "handle_set(tensor, value)\n--\n\nGive it another value, until the function ends."},
    {"symbol_shared", symbol_shared, METH_O,
     "symbol_shared(o)\n--\n\nMay other Tensors share its memory in eager mode?"},
    {"is_recorded", is_recorded, METH_O, "is_recorded(o)\n--\n\nIs it a symbol or, while recording, a Parameter?"},
    {"symbol_shape", symbol_shape, METH_O, "symbol_shape(tensor)\n--\n\nShape, -1 where known at run time only."},
    {"outside_mark", outside_mark, METH_VARARGS,
     "outside_mark(tensor, on)\n--\n\nWhen a recording writes it, it becomes a variable, and the write fails."},
    {"variable_mark", variable_mark, METH_O,
     "variable_mark(tensor)\n--\n\nPrograms read and write it like a Parameter."},
    {"program_cost", program_cost, METH_O,
     "program_cost(program)\n--\n\nWhat a run costs this rank, predicted, as JSON."},
    {"program_create", program_create, METH_VARARGS,
     "program_create(function, off=None, fast=False, save_graphs='', save_level=0, splits=None, split_results=False, stages=1, scheduler=None, search=0)\n--"
     "\n\nCompile; with splits, for this rank's slices."},
    {"program_cache", program_cache, METH_VARARGS,
     "program_cache(folder, most_bytes=0)\n--\n\nKeep compiled programs there; '': do not."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_graph(PyObject *module)
{
    sp__py_symbol_error = PyErr_NewException("spore._core.SymbolError", PyExc_RuntimeError, NULL);
    if (!sp__py_symbol_error || PyModule_AddObjectRef(module, "SymbolError", sp__py_symbol_error) < 0) return -1;
    program_type = (PyTypeObject *)PyType_FromSpec(&program_spec);
    if (!program_type || PyModule_AddObjectRef(module, "Program", (PyObject *)program_type) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
