/* SPDX-License-Identifier: Apache-2.0 */
/* core.h - what the files of the Python module share: the Tensor object, errors, conversions.
 *
 * The module is plain C on the limited API of Python 3.11, so one binary serves every later version. One C type holds a
 * sp_tensor; the Python package adds methods to it by assignment, and Parameter is a Python subclass. Results of
 * operators are instances of the C type itself: no Python code runs to make them. */
#ifndef SPORE_PYTHON_CORE_H
#define SPORE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/lock.h"
#include "ir/graph_impl.h"
#include "tensor/remote.h"

/* Type slots hold functions as void pointers: fine on every system that has dlsym, but not in ISO C. */
#pragma GCC diagnostic ignored "-Wpedantic"

typedef struct sp_py_tensor {
    PyObject_HEAD sp_tensor *t; /* owned; NULL only between __new__ and __init__ */
    PyObject *dict;
    PyObject *weakrefs;
    sp_tensor *here; /* of a Tensor on a device: what was last fetched of it */
    bool over_array; /* made over a numpy array: its repr shows the values as numpy does */
} sp_py_tensor;

extern PyTypeObject *sp__py_tensor_type; /* spore.Tensor */
extern PyTypeObject *sp__py_dtype_type;  /* base of dtype objects */

/* --- wrap and unwrap --------------------------------------------------------------------------------------------- */

/* New Tensor object around t, whose reference is taken over (also on failure). NULL t gives NULL. */
PyObject *sp__py_take_tensor(sp_tensor *t);
PyObject *sp__py_take_array_tensor(sp_tensor *t); /* the same for a tensor made over a numpy array */
/* The tensor inside o, borrowed. NULL with TypeError if o is no Tensor; a Tensor whose initializer has not run is
 * initialised first. */
sp_tensor *sp__py_tensor(PyObject *o);
static inline bool sp__py_is_tensor(PyObject *o)
{
    return Py_TYPE(o) == sp__py_tensor_type || PyType_IsSubtype(Py_TYPE(o), sp__py_tensor_type);
}

/* Is t part of a program that is being recorded on this thread, so that only operators may touch it? */
static inline bool sp__py_is_recorded(const sp_tensor *t)
{
    return t->symbol || (sp__recorder && t->flags & (SP_TENSOR_PARAMETER | SP_TENSOR_VARIABLE));
}
/* False, with SymbolError, when the contents of t are not known now: asked before memory is read. */
bool sp__py_has_value(const sp_tensor *t);
/* Whether all dimensions are numbers; sets SymbolError for a symbol with open ones, whose sizes only a run tells. */
bool sp__py_sizes_known(const sp_tensor *t);
/* Another handle on the same value, without history; of a Parameter, while recording, what it holds when the program gets
 * there. */
sp_status sp__py_alias(sp_tensor *t, sp_tensor **out);
extern PyObject *sp__py_symbol_error; /* spore._core.SymbolError, a RuntimeError */
/* t, the tensor inside o, in main memory: itself, or a copy of what is on a device. Borrowed; NULL with an exception. */
sp_tensor *sp__py_fetch(PyObject *o, sp_tensor *t);
static inline sp_tensor *sp__py_here(PyObject *o, sp_tensor *t)
{
    return sp__tensor_buffer(t) ? sp__py_fetch(o, t) : t;
}
/* t, taken over, on the device of that name, or, for None, where new Tensors go; NULL with an exception. */
sp_tensor *sp__py_place(sp_tensor *t, PyObject *device);
/* t, taken over, where `like` lies, or, if that has no memory yet, where new Tensors go; NULL with an exception. */
sp_tensor *sp__py_place_like(sp_tensor *t, const sp_tensor *like);
/* The tensor inside o, borrowed, to read its memory; NULL with an exception. */
static inline sp_tensor *sp__py_value(PyObject *o)
{
    sp_tensor *t = sp__py_tensor(o);
    return t && sp__py_has_value(t) ? sp__py_here(o, t) : NULL;
}

/* A Tensor of strings has geometry but no memory of the engine; its strings are a numpy array kept with the object. New
 * reference to it, or NULL without exception when o holds numbers. */
PyObject *sp__py_strings(PyObject *o);

/* The message of this thread as a str; NULL with an exception. */
PyObject *sp__py_message(void);
/* Raise the Python exception of a failed call (message of this thread). Always returns NULL. */
PyObject *sp__py_fail(sp_status status);
/* MemoryError with words, where Python's own PyErr_NoMemory has none; returns NULL. */
PyObject *sp__py_no_memory(void);
#define SP_PY_TRY(expr)                                                                                                \
    do {                                                                                                               \
        sp_status s_ = (expr);                                                                                         \
        if (s_ != SP_OK) return sp__py_fail(s_);                                                                       \
    } while (0)

/* Give back a reference, on any thread, with or without the interpreter's lock. */
void sp__py_drop(void *object);

/* Name of the object's type, for messages; valid until the next call on this thread. */
const char *sp__py_type_name(PyObject *o);
/* repr(o) for a message; of lists inside lists without end only their type. A new reference, never NULL for want of depth. */
PyObject *sp__py_shown(PyObject *o);

/* --- values that leave differentiated functions (py_fetched.c) ---------------------------------------------------- */

extern _Thread_local int sp__py_n_fetched;
/* Tensor o's contents go to Python, as an array or list (number NULL) or as this number; 0, or -1 with an exception. */
int sp__py_fetched_note(PyObject *o, PyObject *number);
/* The same for a number that is given on: it, or NULL with an exception. */
static inline PyObject *sp__py_fetched_number(PyObject *o, PyObject *number)
{
    if (number && sp__py_fetched_note(o, number) < 0) Py_CLEAR(number);
    return number;
}
/* Nothing is recorded any more. */
void sp__py_fetched_clear(void);
/* t was made from `source`, an operand or what Tensor was given: the same t, which may have a history now; NULL with an exception. */
sp_tensor *sp__py_fetched_mark_slow(sp_tensor *t, PyObject *source, bool operand);
static inline sp_tensor *sp__py_fetched_mark(sp_tensor *t, PyObject *source, bool operand)
{
    return t && sp__py_n_fetched ? sp__py_fetched_mark_slow(t, source, operand) : t;
}

/* --- conversions ------------------------------------------------------------------------------------------------- */

/* A tensor from numbers, bools, lists, arrays, Tensors (shared), owned by the caller; NULL with an exception. dtype
 * NONE: MindSpore's default for the value (int64, float32, the array's own). */
sp_tensor *sp__py_make_tensor(PyObject *o, sp_dtype dtype);
/* A Tensor of another package's array; NULL without an exception where it is none. */
sp_tensor *sp__py_foreign(PyObject *o);
/* The same from an object with the buffer protocol; share: keep its memory instead of copying. */
sp_tensor *sp__py_from_buffer(PyObject *o, bool share);
/* A rank-0 tensor that yields in promotion, from a Python or numpy number. NULL without exception if o is none. */
sp_tensor *sp__py_weak_number(PyObject *o);
/* Dtype objects, names, Python and numpy types; -2 with an exception when it is none. None gives SP_DTYPE_NONE. */
int sp__py_dtype(PyObject *o);
PyObject *sp__py_dtype_object(sp_dtype dtype); /* borrowed */
PyObject *sp__py_shape(const sp_tensor *t);    /* new tuple */
/* Integers from an int, tuple, list or one-dimensional Tensor or array into v[max]; their number, or -1 with an
 * exception that calls the value `what`. */
int sp__py_ints(PyObject *o, int64_t *v, int max, const char *what);
/* True for a numpy array (without importing numpy: nobody can have one otherwise). */
bool sp__py_is_array(PyObject *o);
/* numpy's attribute `name`, borrowed and kept; imports numpy the first time. */
PyObject *sp__py_numpy(const char *name);
PyObject *sp__py_asnumpy(PyObject *self);                     /* new reference */
PyObject *sp__py_item(const sp_tensor *t, const char *where); /* Python number at address `where` */

/* --- operators --------------------------------------------------------------------------------------------------- */

/* Apply with one result, releasing the interpreter lock when the operands are large. Owned; NULL with an exception. */
sp_tensor *sp__py_apply(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in);
/* The same with any number of results: a Tensor, or a tuple of them. */
PyObject *sp__py_apply_object(const sp_op *op, const void *attrs, int n_in, sp_tensor *const *in);
/* Entry of the table, NULL with NotImplementedError. */
const sp_op *sp__py_op(const char *name);

/* x[index] and x[index] = value. */
PyObject *sp__py_get_item(PyObject *self, PyObject *index);
int sp__py_set_item(PyObject *self, PyObject *index, PyObject *value);

PyObject *sp__py_repr(const sp_tensor *t, const char *values); /* values: their text, NULL: the usual one */

/* --- parts of the module: each adds its names, -1 with an exception ----------------------------------------------- */
int sp__py_add_dtype(PyObject *module);
int sp__py_add_tensor(PyObject *module);
int sp__py_add_faces(PyObject *module);
int sp__py_add_table(PyObject *module);
int sp__py_add_runtime(PyObject *module);
int sp__py_add_device(PyObject *module);
int sp__py_add_parallel(PyObject *module);
int sp__py_add_profile(PyObject *module); /* recordings of what runs when, py_profile.c */
/* The line of the user's program that Python is in is what operators of this thread belong to. */
void sp__py_profile_here(void);
int sp__py_add_dlpack(PyObject *module);
int sp__py_add_grad(PyObject *module);       /* recording and gradients, py_grad.c */
int sp__py_add_precision(PyObject *module);  /* mixed precision, py_precision.c */
int sp__py_add_fetched(PyObject *module);    /* values that leave differentiated functions, py_fetched.c */
int sp__py_add_optim(PyObject *module);      /* steps of optimizers, py_optim.c */
int sp__py_add_graph(PyObject *module);      /* recording and running programs, py_graph.c */
int sp__py_add_random(PyObject *module);     /* generators, py_random.c */
int sp__py_add_model(PyObject *module);      /* networks from files, py_model.c */
int sp__py_add_command(PyObject *module);    /* the command of a wheel, py_command.c */
int sp__py_add_checkpoint(PyObject *module); /* checkpoint files, py_checkpoint.c */
int sp__py_add_quantize(PyObject *module);   /* networks of small integers, py_quantize.c */
int sp__py_add_record(PyObject *module);     /* MindRecord files, py_record.c */
int sp__py_add_tfrecord(PyObject *module);   /* TFRecord files, py_tfrecord.c */
int sp__py_add_transform(PyObject *module);  /* transforms of data and image codecs, py_transform.c */
int sp__py_add_pipeline(PyObject *module);   /* data sets and their iterators, py_pipeline.c */

struct sp_model *sp__py_model(PyObject *o); /* behind a Model, borrowed; NULL with TypeError */

/* What py_pipeline.c needs of others: the files behind a RecordReader and the engine's objects of a list of Transforms
 * (their number, or -1), all borrowed. NULL or -1 with an exception. */
struct sp_record *sp__py_record(PyObject *o);
struct sp_transform;
int sp__py_transforms(PyObject *list, struct sp_transform **out, int max);

#endif
