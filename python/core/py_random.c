/* SPDX-License-Identifier: Apache-2.0 */
/* py_random.c - generators of random numbers for Python: a seed and a counter, shared with C.
 *
 * While a program is recorded, drawing a state becomes a node that draws anew each time the program runs. */
#include "core.h"

#include "spore/random.h"

static const char GENERATOR[] = "spore.generator";

static void generator_free(PyObject *o) { sp_generator_release(PyCapsule_GetPointer(o, GENERATOR)); }
static sp_generator *generator_of(PyObject *o) { return PyCapsule_GetPointer(o, GENERATOR); }

static PyObject *capsule(sp_generator *g)
{
    PyObject *o = PyCapsule_New(g, GENERATOR, generator_free);
    if (!o) sp_generator_release(g);
    return o;
}

static PyObject *generator_create(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    sp_generator *g;
    SP_PY_TRY(sp_generator_create(0, &g));
    return capsule(g);
}

static PyObject *generator_default(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return capsule(sp_generator_retain(sp_generator_default()));
}

static PyObject *generator_set(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o;
    unsigned long long seed, offset = 0;
    if (!PyArg_ParseTuple(args, "OK|K:generator_set", &o, &seed, &offset)) return NULL;
    sp_generator *g = generator_of(o);
    if (!g) return NULL;
    const int64_t numbers[2] = {(int64_t)seed, (int64_t)offset}, dims[1] = {2};
    sp_tensor *state;
    sp_generator_seed(g, seed);
    SP_PY_TRY(sp_tensor_create_from(SP_DTYPE_I64, 1, dims, numbers, &state));
    sp_status status = sp_generator_set_state(g, state);
    sp_tensor_release(state);
    SP_PY_TRY(status);
    Py_RETURN_NONE;
}

static PyObject *pair(sp_tensor *state)
{
    const int64_t *v = sp_tensor_data(state);
    PyObject *o = Py_BuildValue("KK", (unsigned long long)v[0], (unsigned long long)v[1]);
    sp_tensor_release(state);
    return o;
}

static PyObject *generator_get(PyObject *self, PyObject *o)
{
    (void)self;
    sp_generator *g = generator_of(o);
    sp_tensor *state;
    if (!g) return NULL;
    SP_PY_TRY(sp_generator_state(g, &state));
    return pair(state);
}

static PyObject *generator_take(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o;
    long long count;
    sp_tensor *state;
    if (!PyArg_ParseTuple(args, "OL:generator_take", &o, &count)) return NULL;
    sp_generator *g = generator_of(o);
    if (!g) return NULL;
    SP_PY_TRY(sp_generator_next(g, count, &state));
    return pair(state);
}

/* --- states for operators ---------------------------------------------------------------------------------------- */

typedef struct {
    sp_generator *generator;
    int64_t count;
} draw;

static void draw_release(void *context)
{
    sp_generator_release(((draw *)context)->generator);
    sp__free(context);
}

static sp_status draw_run(void *context, int n_in, sp_tensor *const *in, int n_out, sp_tensor **out)
{
    (void)n_in, (void)in, (void)n_out;
    const draw *d = context;
    return sp_generator_next(d->generator, d->count, out);
}

static PyObject *generator_state(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *o;
    long long count;
    sp_tensor *state = NULL;
    if (!PyArg_ParseTuple(args, "OL:generator_state", &o, &count)) return NULL;
    sp_generator *g = generator_of(o);
    if (!g) return NULL;
    if (!sp_function_recording()) {
        SP_PY_TRY(sp_generator_next(g, count, &state));
        return sp__py_take_tensor(state);
    }
    static const sp_spec spec = {.dtype = SP_DTYPE_I64, .rank = 1, .dims = {2}};
    draw *d = sp__alloc(sizeof *d);
    if (!d) return sp__py_no_memory();
    *d = (draw){sp_generator_retain(g), count};
    sp_status status = sp_function_host("random_state", draw_run, draw_release, d, 0, NULL, 1, &spec, &state);
    if (status != SP_OK) draw_release(d);
    SP_PY_TRY(status);
    return sp__py_take_tensor(state);
}

static PyObject *initial(PyObject *self, PyObject *args)
{
    (void)self;
    int kind;
    long long count;
    unsigned long long seed;
    double numbers[4] = {0};
    sp_tensor *t;
    if (!PyArg_ParseTuple(args, "iLKdd|dd:initial", &kind, &count, &seed, &numbers[0], &numbers[1], &numbers[2],
                          &numbers[3]))
        return NULL;
    const int64_t dims[1] = {count};
    SP_PY_TRY(sp_tensor_create(SP_DTYPE_F32, 1, dims, &t));
    sp_status status = sp_initial_fill(t, (sp_initial)kind, seed, numbers);
    if (status != SP_OK) sp_tensor_release(t);
    SP_PY_TRY(status);
    return sp__py_take_tensor(t);
}

static PyMethodDef functions[] = {
    {"initial", initial, METH_VARARGS,
     "initial(kind, count, seed, *arguments)\n--\n\nInitial weights: 0 uniform (low, high), 1 normal (mean, deviation), 2 truncated (and low, high)."},
    {"generator_create", generator_create, METH_NOARGS, "generator_create()\n--\n\nA new generator."},
    {"generator_default", generator_default, METH_NOARGS, "generator_default()\n--\n\nThe one of the process."},
    {"generator_set", generator_set, METH_VARARGS,
     "generator_set(generator, seed, offset=0)\n--\n\nContinue from there."},
    {"generator_get", generator_get, METH_O, "generator_get(generator)\n--\n\n(seed, offset)"},
    {"generator_take", generator_take, METH_VARARGS,
     "generator_take(generator, count)\n--\n\n(seed, offset) for `count` numbers; the next one starts behind them."},
    {"generator_state", generator_state, METH_VARARGS,
     "generator_state(generator, count)\n--\n\nThe same as a Tensor for an operator, drawn at run time in a program."},
    {NULL, NULL, 0, NULL}};

int sp__py_add_random(PyObject *module) { return PyModule_AddFunctions(module, functions); }
